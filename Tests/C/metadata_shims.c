/*
 * Runs the unpacking of a PNG's texts and profiles under the sanitizers, without Swift around it:
 *
 *     cc -g -fsanitize=address,undefined -ISources/CPNG/include Tests/C/metadata_shims.c Sources/CPNG/png_metadata.c \
 *        -lpng -o metadata_shims
 *     ./metadata_shims $(find Tests/Fixtures/metadata -name "*.png")
 *
 * Each packed chunk is unpacked whole, cut at every byte, and with random bytes changed, from memory of exactly the
 * right size and under limits large and small.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CPNG.h"

enum { FLIPS = 1000, LARGE = 1 << 20 };

static int unpacked; /* how many chunks gave data */

static uint32_t next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Reads every byte, so that a byte outside the block is detected. */
static void unpack(sddp_packed_kind kind, const uint8_t *packed, size_t size, size_t limit)
{
    void *made = NULL;
    size_t count = 0;
    unsigned sum = 0;
    if (sddp_unpack(kind, packed, size, limit, &made, &count) != SDDP_OK) return;
    if (count > limit) abort();
    for (size_t i = 0; i < count; i++) sum += ((uint8_t *)made)[i];
    unpacked += count > 0 && sum > 0;
    free(made);
}

static void unpack_damaged(sddp_packed_kind kind, const uint8_t *packed, size_t size, int flips, size_t limit)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (copy == NULL) abort();
    memcpy(copy, packed, size);
    for (int i = 0; i < flips && size > 0; i++) copy[next_random() % size] = (uint8_t)next_random();
    unpack(kind, copy, size, limit);
    free(copy);
}

static void check_chunk(sddp_packed_kind kind, const uint8_t *packed, size_t size)
{
    for (size_t count = 0; count <= size; count += 1 + count / 50) unpack_damaged(kind, packed, count, 0, LARGE);
    for (size_t limit = 0; limit < 600; limit += 7) unpack_damaged(kind, packed, size, 0, limit);
    for (int i = 0; i < FLIPS && size < 10000; i++) unpack_damaged(kind, packed, size, 1 + i % 4, LARGE);
    unpack_damaged(kind, packed, size, 0, SIZE_MAX);
}

static void check(const char *path)
{
    static uint8_t bytes[LARGE];
    FILE *file = fopen(path, "rb");
    if (file == NULL) abort();
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t at = 8; at + 12 <= size;) {
        const size_t length = (size_t)bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
        const uint8_t *data = bytes + at + 8, *name = memchr(data, 0, size - at - 8);
        if (length > size - at - 12) break;
        if (name != NULL && name + 2 <= data + length) {
            const size_t rest = (size_t)(data + length - (name + 2));
            if (memcmp(bytes + at + 4, "zTXt", 4) == 0) check_chunk(SDDP_TEXT, name + 2, rest);
            if (memcmp(bytes + at + 4, "iCCP", 4) == 0) {
                check_chunk(SDDP_COLOUR_PROFILE, name + 2, rest);
                check_chunk(SDDP_GREY_PROFILE, name + 2, rest);
            }
        }
        at += length + 12;
    }
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) check(paths[i]);
    printf("%d files, unpacked %d times\n", count - 1, unpacked);
    return unpacked < 100;
}

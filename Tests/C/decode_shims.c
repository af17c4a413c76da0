/*
 * The decoders' C parts under the sanitizers, without Swift around them:
 *
 *     cc -g -fsanitize=address,undefined -ISources/CJPEG/include -ISources/CPNG/include \
 *        Tests/C/decode_shims.c Sources/CJPEG/jpeg_decode.c Sources/CPNG/png_decode.c -ljpeg -lpng \
 *        -o decode_shims
 *     ./decode_shims $(find Tests/Fixtures -name "*.jpg" -o -name "*.png")
 *
 * A file with a .pam beside it must give those pixels, any other must fail. Then each is decoded cut at
 * every byte, and with random bytes changed, by the same two decoders and into memory of just the right
 * size. After that the whole file must come out as before.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"
#include "CPNG.h"

enum { FLIPS = 3000, MOST_PIXELS = 1 << 20 };

struct file {
    uint8_t *bytes;
    size_t size;
};

static sddj_decoder *jpeg;
static sddp_decoder *png;

static struct file read_file(const char *path)
{
    struct file file = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return file;
    fseek(stream, 0, SEEK_END);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.bytes = malloc(file.size + 1);
    if (file.bytes == NULL || fread(file.bytes, 1, file.size, stream) != file.size) abort();
    fclose(stream);
    return file;
}

/* The pixels, to be freed, and how many bytes; NULL after an error. */
static uint8_t *decode(const uint8_t *bytes, size_t size, size_t *pixel_bytes)
{
    const int is_png = size > 0 && bytes[0] == 0x89;
    sddj_header jpeg_header;
    sddp_header png_header;
    uint64_t width, height;
    if (is_png) {
        if (sddp_start(png, bytes, size, &png_header) != SDDP_OK) return NULL;
        width = png_header.width, height = png_header.height;
    } else {
        if (sddj_start(jpeg, bytes, size, &jpeg_header) != SDDJ_OK) return NULL;
        width = jpeg_header.width, height = jpeg_header.height;
    }
    if (width * height > MOST_PIXELS) return NULL; /* with the picture open: the next start must end it */
    *pixel_bytes = width * height * 4;
    uint8_t *pixels = malloc(*pixel_bytes);
    if (pixels == NULL) abort();
    const int failed = is_png ? sddp_decode(png, pixels, width * 4, false) != SDDP_OK
                              : sddj_decode(jpeg, pixels, width * 4, SDDJ_RGBA) != SDDJ_OK;
    if (!failed) return pixels;
    free(pixels);
    return NULL;
}

/* Whether a whole file gives what it must. */
static int is_right(const struct file *file, const struct file *expected)
{
    size_t size = 0;
    uint8_t *pixels = decode(file->bytes, file->size, &size);
    int right = (pixels != NULL) == (expected->bytes != NULL);
    if (right && pixels != NULL) {
        right = expected->size > size && memcmp(expected->bytes + expected->size - size, pixels, size) == 0;
    }
    free(pixels);
    return right;
}

static uint32_t next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* In memory of its exact size, so that a read past the end is seen. */
static void decode_damaged(const struct file *file, size_t size, int flips)
{
    uint8_t *copy = malloc(size ? size : 1);
    size_t unused;
    if (copy == NULL) abort();
    memcpy(copy, file->bytes, size);
    for (int i = 0; i < flips; i++) copy[next_random() % size] = (uint8_t)next_random();
    free(decode(copy, size, &unused));
    free(copy);
}

static int check(const char *path)
{
    char other[1024];
    snprintf(other, sizeof other, "%.*s.pam", (int)(strlen(path) - 4), path);
    struct file file = read_file(path);
    struct file expected = read_file(other);
    int right = file.bytes != NULL && is_right(&file, &expected);
    if (file.bytes != NULL) {
        for (size_t size = 0; size < file.size; size++) decode_damaged(&file, size, 0);
        for (int i = 0; i < FLIPS; i++) decode_damaged(&file, file.size, 1 + i % 8);
        right = right && is_right(&file, &expected);
    }
    if (!right) fprintf(stderr, "%s: wrong\n", path);
    free(file.bytes);
    free(expected.bytes);
    return right;
}

int main(int count, char **paths)
{
    int wrong = count < 2;
    jpeg = sddj_create();
    png = sddp_create();
    if (jpeg == NULL || png == NULL) return 1;
    for (int i = 1; i < count; i++) wrong += !check(paths[i]);
    sddj_destroy(jpeg);
    sddp_destroy(png);
    printf("%d files, %d wrong\n", count - 1, wrong);
    return wrong != 0;
}

/*
 * Runs the decoders' C parts under the sanitizers, without Swift around them:
 *
 *     cc -g -fsanitize=address,undefined -ISources/CJPEG/include -ISources/CPNG/include \
 *        Tests/C/decode_shims.c Sources/CJPEG/jpeg_*.c Sources/CPNG/png_*.c -ljpeg -lpng -o decode_shims
 *     ./decode_shims $(find Tests/Fixtures/{facts,jpeg,png} -name "*.jpg" -o -name "*.png")
 *
 * A file with a .pam beside it must give those pixels, and any other file must fail. Then each file is decoded cut at
 * every byte, and with random bytes changed, by the same two decoders and into memory of just the right size: strictly
 * or leniently, with previews between two pieces. After that the whole file must come out as before, also in two
 * pieces, wherever they meet.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"
#include "CPNG.h"
#include "../../Sources/CSystem/work_clock.h"

enum { FLIPS = 3000, MOST_PIXELS = 1 << 20 };

struct file {
    uint8_t *bytes;
    size_t size;
};

/* A way to feed a picture: all at once, or `first` bytes, a look at the result so far, and then the rest. */
struct way {
    size_t first;
    bool is_lenient;
};

static sddj_decoder *jpeg;
static sddp_decoder *png;

static void *take(size_t size, size_t *taken)
{
    *taken = size;
    return malloc(size);
}

static void give_back(void *memory, size_t taken)
{
    (void)taken;
    free(memory);
}

static const sddj_memory memory = {take, give_back};

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

/* Decodes a picture in two pieces or as a whole, and takes previews in between into memory of exactly the right size.
   Returns the pixels, which the caller frees, and their size in bytes; NULL after an error. */
static uint8_t *decode_jpeg(const uint8_t *bytes, size_t size, struct way way, size_t *pixel_bytes)
{
    const sddj_rules rules = {.max_scans = 500, .is_lenient = way.is_lenient, .memory = memory};
    sddj_header header;
    uint8_t *pixels = NULL;
    sddj_open(jpeg, &rules);
    for (int piece = way.first > 0 ? 0 : 1; piece < 2; piece++) {
        sddj_give(jpeg, bytes, piece == 0 ? way.first : size, piece == 1);
        if (pixels == NULL) {
            const sddj_status status = sddj_read_header(jpeg, &header);
            if (status == SDDJ_NEEDS_MORE) continue;
            /* Leaves a picture that is too large open: the next one must end it. */
            if (status != SDDJ_OK || (uint64_t)header.width * header.height > MOST_PIXELS) return NULL;
            *pixel_bytes = (size_t)header.width * header.height * 4;
            pixels = malloc(*pixel_bytes);
            if (pixels == NULL) abort();
        }
        const sddj_status status = sddj_decode(jpeg, pixels, (size_t)header.width * 4, SDDJ_RGBA);
        if (sddj_rows(jpeg) > header.height) abort();
        if (status == SDDJ_OK) return pixels;
        if (status != SDDJ_NEEDS_MORE) break;
        uint8_t *preview = malloc(*pixel_bytes);
        if (preview == NULL) abort();
        /* Taken twice, as for a subscriber that joins late. */
        if (sddj_preview(jpeg, preview, (size_t)header.width * 4) == SDDJ_OK) {
            sddj_preview(jpeg, preview, (size_t)header.width * 4);
        }
        if (sddj_rows(jpeg) > header.height) abort();
        free(preview);
    }
    free(pixels);
    return NULL;
}

static uint8_t *decode_png(const uint8_t *bytes, size_t size, struct way way, size_t *pixel_bytes)
{
    sddp_header header;
    uint8_t *pixels = NULL;
    sddp_open(png, 0, 0);
    for (int piece = way.first > 0 ? 0 : 1; piece < 2; piece++) {
        sddp_give(png, bytes, piece == 0 ? way.first : size, piece == 1);
        if (pixels == NULL) {
            const sddp_status status = sddp_read_header(png, &header);
            if (status == SDDP_NEEDS_MORE) continue;
            if (status != SDDP_OK || (uint64_t)header.width * header.height > MOST_PIXELS) return NULL;
            *pixel_bytes = (size_t)header.width * header.height * 4;
            pixels = calloc(1, *pixel_bytes);
            if (pixels == NULL) abort();
        }
        const sddp_status status = sddp_decode(png, pixels, (size_t)header.width * 4, SDDP_RGBA);
        /* A preview, or lenient reading, relies on these counts. */
        if (sddp_rows(png) > header.height || sddp_passes(png) > 7) abort();
        if (status == SDDP_OK) return pixels;
        if (status != SDDP_NEEDS_MORE) break;
    }
    free(pixels);
    return NULL;
}

/* Decodes at an eighth of the size, row by row, only to exercise memory access. */
static void take_row(void *context, const uint8_t *row)
{
    *(uint32_t *)context += row[0];
}

static uint32_t decode_small(const uint8_t *bytes, size_t size, bool drops_scans)
{
    const sddj_rules rules = {.max_scans = 500, .is_lenient = true, .drops_scans = drops_scans, .memory = memory};
    sddj_header header;
    uint32_t width, height, sum = 0;
    sddj_open(jpeg, &rules);
    sddj_give(jpeg, bytes, size, true);
    if (sddj_read_header(jpeg, &header) != SDDJ_OK || (uint64_t)header.width * header.height > MOST_PIXELS) return 0;
    if (sddj_scale(jpeg, 1, &width, &height) == SDDJ_OK) sddj_decode_rows(jpeg, take_row, &sum);
    return sddj_is_partial(jpeg) || sddj_warning_count(jpeg) > 0 ? 0 : sum;
}

static uint8_t *decode(const uint8_t *bytes, size_t size, struct way way, size_t *pixel_bytes)
{
    const int is_png = size > 0 && bytes[0] == 0x89;
    if (!is_png && sddj_is_regular(bytes, size)) decode_small(bytes, size, true);
    if (!is_png) decode_small(bytes, size, false);
    return is_png ? decode_png(bytes, size, way, pixel_bytes) : decode_jpeg(bytes, size, way, pixel_bytes);
}

/* Whether a whole file gives the expected pixels, given at once or in two pieces. */
static int is_right(const struct file *file, const struct file *expected, size_t first)
{
    size_t size = 0;
    uint8_t *pixels = decode(file->bytes, file->size, (struct way){first, false}, &size);
    /* Scans that an eighth of the size does not need change nothing there. */
    if (sddj_is_regular(file->bytes, file->size) &&
        decode_small(file->bytes, file->size, true) != decode_small(file->bytes, file->size, false)) {
        free(pixels);
        return 0;
    }
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

/* The copy has the exact size, so that a read past the end is detected. */
static void decode_damaged(const struct file *file, size_t size, int flips)
{
    uint8_t *copy = malloc(size ? size : 1);
    size_t unused;
    if (copy == NULL) abort();
    memcpy(copy, file->bytes, size);
    for (int i = 0; i < flips; i++) copy[next_random() % size] = (uint8_t)next_random();
    const struct way way = {size > 0 ? next_random() % size : 0, next_random() % 2 == 0};
    free(decode(copy, size, way, &unused));
    free(copy);
}

static int check(const char *path)
{
    char other[1024];
    snprintf(other, sizeof other, "%.*s.pam", (int)(strlen(path) - 4), path);
    struct file file = read_file(path);
    struct file expected = read_file(other);
    int right = file.bytes != NULL && is_right(&file, &expected, 0);
    if (file.bytes != NULL) {
        for (size_t size = 0; size < file.size; size++) decode_damaged(&file, size, 0);
        for (int i = 0; i < FLIPS; i++) decode_damaged(&file, file.size, 1 + i % 8);
        for (size_t first = 0; first < file.size; first++) right = right && is_right(&file, &expected, first);
    }
    if (!right) fprintf(stderr, "%s: wrong\n", path);
    free(file.bytes);
    free(expected.bytes);
    return right;
}

/* A thread that was held up for an hour has not worked for an hour, and goes on. */
static int check_clock(void)
{
    sddsys_work_clock clock = sddsys_work_clock_make(5000000, 0);
    int goes_on = 1;
    sddsys_work_begins(&clock);
    clock.began -= (int64_t)3600 * 1000000;
    for (int i = 0; i < 1000; i++) goes_on = goes_on && sddsys_may_go_on(&clock);
    sddsys_work_rests(&clock);
    if (!goes_on || clock.left < 4000000) printf("a thread that was held up has no time left: %lld us\n", (long long)clock.left);
    return goes_on && clock.left >= 4000000;
}

int main(int count, char **paths)
{
    int wrong = count < 2 || !check_clock();
    jpeg = sddj_create();
    png = sddp_create();
    if (jpeg == NULL || png == NULL) return 1;
    for (int i = 1; i < count; i++) wrong += !check(paths[i]);
    sddj_destroy(jpeg);
    sddp_destroy(png);
    printf("%d files, %d wrong\n", count - 1, wrong);
    return wrong != 0;
}

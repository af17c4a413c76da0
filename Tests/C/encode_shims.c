/*
 * Runs the encoders' C parts under the sanitizers, without Swift around them:
 *
 *     cc -g -fsanitize=address,undefined -ISources/CJPEG/include -ISources/CPNG/include \
 *        Tests/C/encode_shims.c Sources/CJPEG/jpeg_*.c Sources/CPNG/png_*.c -ljpeg -lpng -o encode_shims
 *     ./encode_shims
 *
 * Pictures of several sizes, in each layout, are encoded from memory of exactly the right size. The result is decoded
 * again: a PNG gives the same pixels, a JPEG pixels near them. Then the output is refused at every offset, and too many
 * and too few rows are given; after each of these the same encoder still produces the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"
#include "CPNG.h"
#include "plain_check.h"

static sddj_encoder *jpeg;
static sddp_encoder *png;
static sddj_decoder *jpeg_decoder;
static sddp_decoder *png_decoder;

/* The destination of the encoded bytes. */
struct sink {
    uint8_t *bytes;
    size_t count;
    size_t most; /* bytes after which it refuses more */
};

static bool take(void *context, const uint8_t *bytes, size_t count)
{
    struct sink *sink = context;
    if (sink->count + count > sink->most) return false;
    sink->bytes = realloc(sink->bytes, sink->count + count);
    if (sink->bytes == NULL) abort();
    memcpy(sink->bytes + sink->count, bytes, count);
    sink->count += count;
    return true;
}

/* ---------------------------------------------------------------------------------- pictures */

static const size_t channels_of[] = {4, 4, 3, 1}; /* indexed by layout, which is the same for both libraries */

/* Rows whose stride is greater than their length, except for the last one. */
struct rows {
    uint8_t *first;
    uint32_t width, height;
    size_t channels, stride;
};

/* Values rise and fall without a jump, so that a JPEG of quality 100 comes close. The colour is the same everywhere. */
static uint8_t sample(uint32_t x, uint32_t y, size_t channel)
{
    const uint32_t place = (x * 2 + y * 3) % 256;
    return (uint8_t)((place < 128 ? place : 255 - place) + channel * 30);
}

static struct rows make_rows(uint32_t width, uint32_t height, int layout)
{
    struct rows rows = {NULL, width, height, channels_of[layout], width * channels_of[layout] + 5};
    const size_t size = rows.stride * (height - 1) + width * rows.channels;
    rows.first = malloc(size);
    if (rows.first == NULL) abort();
    for (uint32_t y = 0; y < height; y++) {
        for (size_t i = 0; i < width * rows.channels; i++) {
            rows.first[y * rows.stride + i] = sample((uint32_t)(i / rows.channels), y, i % rows.channels);
        }
    }
    return rows;
}

/* Returns the pixel as RGBA, whatever its layout. */
static void pixel_at(const struct rows *rows, int layout, bool has_alpha, uint32_t x, uint32_t y, uint8_t rgba[4])
{
    const uint8_t *p = rows->first + y * rows->stride + x * rows->channels;
    const bool is_bgr = layout == 1;
    rgba[0] = rows->channels == 1 ? p[0] : p[is_bgr ? 2 : 0];
    rgba[1] = rows->channels == 1 ? p[0] : p[1];
    rgba[2] = rows->channels == 1 ? p[0] : p[is_bgr ? 0 : 2];
    rgba[3] = has_alpha ? p[3] : 255;
}

/* ------------------------------------------------------------------------------------- JPEG */

static void *take_memory(size_t size, size_t *taken)
{
    *taken = size;
    return malloc(size);
}

static void give_back(void *memory, size_t taken)
{
    (void)taken;
    free(memory);
}

static sddj_encoded encode_jpeg(const struct rows *rows, const sddj_picture *picture, struct sink *sink, uint32_t count)
{
    sddj_encoded status = sddj_encode_start(jpeg, picture, take, sink);
    if (status == SDDJ_ENCODED) status = sddj_encode_rows(jpeg, rows->first, rows->stride, count / 2);
    if (status == SDDJ_ENCODED) {
        status = sddj_encode_rows(jpeg, rows->first + count / 2 * rows->stride, rows->stride, count - count / 2);
    }
    const sddj_encoded finished = sddj_encode_finish(jpeg);
    return status == SDDJ_ENCODED ? finished : status;
}

static void check_jpeg(const struct sink *sink, const struct rows *rows, int layout, int most)
{
    const sddj_rules rules = {.max_scans = 500, .memory = {take_memory, give_back}};
    sddj_header header;
    sddj_open(jpeg_decoder, &rules);
    sddj_give(jpeg_decoder, sink->bytes, sink->count, true);
    CHECK(sddj_read_header(jpeg_decoder, &header) == SDDJ_OK);
    CHECK(header.width == rows->width && header.height == rows->height);
    CHECK((header.colours == SDDJ_GREY) == (layout == SDDJ_Y));
    uint8_t *pixels = malloc((size_t)rows->width * rows->height * 4), wanted[4];
    if (pixels == NULL) abort();
    CHECK(sddj_decode(jpeg_decoder, pixels, (size_t)rows->width * 4, SDDJ_RGBA) == SDDJ_OK);
    for (uint32_t y = 0; y < rows->height; y++) {
        for (uint32_t x = 0; x < rows->width; x++) {
            pixel_at(rows, layout, false, x, y, wanted);
            for (int c = 0; c < 4; c++) {
                CHECK(abs(pixels[(y * rows->width + x) * 4 + (uint32_t)c] - wanted[c]) <= most);
            }
        }
    }
    free(pixels);
    sddj_end(jpeg_decoder);
}

static void try_jpeg(const struct rows *rows, const sddj_picture *picture)
{
    struct sink whole = {NULL, 0, SIZE_MAX};
    CHECK(encode_jpeg(rows, picture, &whole, rows->height) == SDDJ_ENCODED);
    if (picture->quality == 100) check_jpeg(&whole, rows, picture->layout, 4);
    struct sink other = {NULL, 0, 0};
    CHECK(encode_jpeg(rows, picture, &other, rows->height) == SDDJ_NOT_TAKEN);
    other.most = whole.count - 1;
    CHECK(encode_jpeg(rows, picture, &other, rows->height) == SDDJ_NOT_TAKEN);
    other.most = SIZE_MAX;
    CHECK(encode_jpeg(rows, picture, &other, rows->height - 1) == SDDJ_ENCODE_FAILED);
    CHECK(sddj_encode_start(jpeg, picture, take, &other) == SDDJ_ENCODED);
    CHECK(sddj_encode_rows(jpeg, rows->first, rows->stride, rows->height + 1) == SDDJ_ENCODE_FAILED);
    CHECK(sddj_encode_rows(jpeg, rows->first, rows->stride, 1) == SDDJ_ENCODE_FAILED);
    CHECK(sddj_encode_finish(jpeg) == SDDJ_ENCODE_FAILED);
    CHECK(sddj_encode_start(jpeg, picture, take, &other) == SDDJ_ENCODED); /* left open: the next start must end it */
    other.count = 0;
    CHECK(encode_jpeg(rows, picture, &other, rows->height) == SDDJ_ENCODED);
    CHECK(other.count == whole.count && memcmp(other.bytes, whole.bytes, whole.count) == 0);
    free(whole.bytes);
    free(other.bytes);
}

/* -------------------------------------------------------------------------------------- PNG */

static sddp_encoded encode_png(const struct rows *rows, const sddp_picture *picture, struct sink *sink, uint32_t count)
{
    sddp_encoded status = sddp_encode_start(png, picture, take, sink);
    if (status == SDDP_ENCODED) status = sddp_encode_rows(png, rows->first, rows->stride, count / 2);
    if (status == SDDP_ENCODED) {
        status = sddp_encode_rows(png, rows->first + count / 2 * rows->stride, rows->stride, count - count / 2);
    }
    const sddp_encoded finished = sddp_encode_finish(png);
    return status == SDDP_ENCODED ? finished : status;
}

static void check_png(const struct sink *sink, const struct rows *rows, const sddp_picture *picture)
{
    sddp_header header;
    sddp_open(png_decoder, 0, 0);
    sddp_give(png_decoder, sink->bytes, sink->count, true);
    CHECK(sddp_read_header(png_decoder, &header) == SDDP_OK);
    CHECK(header.width == rows->width && header.height == rows->height);
    uint8_t *pixels = malloc((size_t)rows->width * rows->height * 4), wanted[4];
    if (pixels == NULL) abort();
    CHECK(sddp_decode(png_decoder, pixels, (size_t)rows->width * 4, SDDP_RGBA) == SDDP_OK);
    for (uint32_t y = 0; y < rows->height; y++) {
        for (uint32_t x = 0; x < rows->width; x++) {
            pixel_at(rows, picture->layout, rows->channels == 4 && !picture->drops_alpha, x, y, wanted);
            CHECK(memcmp(pixels + (y * rows->width + x) * 4, wanted, 4) == 0);
        }
    }
    free(pixels);
    sddp_end(png_decoder);
}

static void try_png(const struct rows *rows, const sddp_picture *picture)
{
    struct sink whole = {NULL, 0, SIZE_MAX};
    CHECK(encode_png(rows, picture, &whole, rows->height) == SDDP_ENCODED);
    check_png(&whole, rows, picture);
    struct sink other = {NULL, 0, 0};
    for (; other.most < whole.count; other.most += 1 + other.most / 8) {
        other.count = 0;
        CHECK(encode_png(rows, picture, &other, rows->height) == SDDP_NOT_TAKEN);
    }
    other.most = SIZE_MAX;
    CHECK(encode_png(rows, picture, &other, rows->height - 1) == SDDP_ENCODE_FAILED);
    CHECK(sddp_encode_start(png, picture, take, &other) == SDDP_ENCODED);
    CHECK(sddp_encode_rows(png, rows->first, rows->stride, rows->height + 1) == SDDP_ENCODE_FAILED);
    CHECK(sddp_encode_rows(png, rows->first, rows->stride, 1) == SDDP_ENCODE_FAILED);
    CHECK(sddp_encode_finish(png) == SDDP_ENCODE_FAILED);
    CHECK(sddp_encode_start(png, picture, take, &other) == SDDP_ENCODED);
    other.count = 0;
    CHECK(encode_png(rows, picture, &other, rows->height) == SDDP_ENCODED);
    CHECK(other.count == whole.count && memcmp(other.bytes, whole.bytes, whole.count) == 0);
    free(whole.bytes);
    free(other.bytes);
}

/* ---------------------------------------------------------------------------------- all pictures */

static int try_size(uint32_t width, uint32_t height, int variants)
{
    int count = 0;
    for (int layout = 0; layout < 4; layout++) {
        struct rows rows = make_rows(width, height, layout);
        for (int variant = 0; variant < variants; variant++) {
            const sddj_picture picture = {
                .width = width, .height = height, .layout = (sddj_layout)layout,
                .quality = variant % 4 == 1 ? 1 : variant % 4 == 2 ? 50 : 100,
                .chroma = (sddj_chroma)(variant % 3), .is_progressive = variant % 2 == 1,
            };
            try_jpeg(&rows, &picture);
        }
        for (int drops = 0; drops < 2; drops++) {
            const sddp_picture picture = {
                .width = width, .height = height, .layout = (sddp_layout)layout, .drops_alpha = drops == 1,
            };
            try_png(&rows, &picture);
        }
        free(rows.first);
        count += variants + 2;
    }
    return count;
}

static void try_what_cannot_be(void)
{
    static const uint32_t sizes[][2] = {{0, 1}, {1, 0}, {65501, 1}, {1, 65501}, {UINT32_MAX, UINT32_MAX}};
    struct sink sink = {NULL, 0, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const sddj_picture picture = {
            .width = sizes[i][0], .height = sizes[i][1], .layout = SDDJ_RGBA, .quality = 90,
        };
        const sddj_encoded status = sddj_encode_start(jpeg, &picture, take, &sink);
        CHECK(status == (i < 2 ? SDDJ_ENCODE_FAILED : SDDJ_ENCODE_TOO_LARGE));
        CHECK(sddj_encode_finish(jpeg) == SDDJ_ENCODE_FAILED);
        if (i == 2 || i == 3) continue;
        const sddp_picture other = {.width = sizes[i][0], .height = sizes[i][1], .layout = SDDP_RGBA};
        CHECK(sddp_encode_start(png, &other, take, &sink) == SDDP_ENCODE_FAILED);
        CHECK(sddp_encode_finish(png) == SDDP_ENCODE_FAILED);
    }
    free(sink.bytes);
}

int main(void)
{
    static const uint32_t sizes[][2] = {{1, 1}, {1, 17}, {17, 1}, {3, 2}, {16, 16}, {37, 29}};
    int count = 0;
    jpeg = sddj_encoder_create();
    png = sddp_encoder_create();
    jpeg_decoder = sddj_create();
    png_decoder = sddp_create();
    CHECK(jpeg != NULL && png != NULL && jpeg_decoder != NULL && png_decoder != NULL);
    CHECK(sddj_encode_finish(jpeg) == SDDJ_ENCODE_FAILED && sddp_encode_finish(png) == SDDP_ENCODE_FAILED);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        count += try_size(sizes[i][0], sizes[i][1], 12);
    count += try_size(65500, 2, 1) + try_size(2, 65500, 1); /* as large as a JPEG can be */
    try_what_cannot_be();
    sddj_encoder_destroy(jpeg);
    sddj_encoder_destroy(NULL);
    sddp_encoder_destroy(png);
    sddp_encoder_destroy(NULL);
    sddj_destroy(jpeg_decoder);
    sddp_destroy(png_decoder);
    printf("%d pictures encoded\n", count);
    return 0;
}

#include "CPNG.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "../CSystem/work_clock.h"

struct sddp_decoder {
    png_structp png; /* NULL if no picture is open */
    png_infop info;
    jmp_buf escape;
    sddp_status status;
    sddsys_work_clock clock;

    /* Input so far, set by sddp_give(), and how much of it libpng has been shown. */
    const uint8_t *bytes;
    size_t size;
    bool is_last;
    size_t at;
    size_t to_skip;       /* rest of a chunk that is skipped; it may not have arrived yet */
    size_t chunk_left;    /* rest of an IDAT chunk, including its checksum */
    bool saw_pixels;      /* the first IDAT chunk has been found */
    bool saw_last_pixels; /* another chunk has been found after the IDAT chunks */

    /* Destination of the pixels. */
    uint8_t *pixels;
    size_t stride;
    sddp_layout layout;
    void (*take)(void *context, const uint8_t *row);
    void *context;
    bool is_interlaced;
    uint32_t rows;
    uint32_t passes;
    bool has_ended; /* libpng has read the IEND chunk */
    bool no_memory;
    bool is_empty; /* the header has a width or height of 0 */
    char message[192];
};

/* ------------------------------------------------------------------------------------- errors */

static _Noreturn void leave(sddp_decoder *d, sddp_status status)
{
    d->status = status;
    longjmp(d->escape, 1);
}

static sddp_status status_of_error(const sddp_decoder *d)
{
    if (d->no_memory) return SDDP_NO_MEMORY;
    if (d->is_empty) return SDDP_ZERO_PIXELS;
    if (strstr(d->message, "unhandled critical chunk") != NULL) return SDDP_UNSUPPORTED;
    return SDDP_CORRUPT;
}

static _Noreturn void on_error(png_structp png, png_const_charp message)
{
    sddp_decoder *d = png_get_error_ptr(png);
    snprintf(d->message, sizeof d->message, "%s", message);
    leave(d, status_of_error(d));
}

static bool is_one_of(const char *message, const char *const list[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(message, list[i]) == 0) return true;
    }
    return false;
}

/* libpng 1.6 tells warnings apart only by their text. Most are about chunks that do not affect our pixels. */
static void on_warning(png_structp png, png_const_charp message)
{
    static const char *const empty[] = { "Image width is zero in IHDR", "Image height is zero in IHDR" };
    /* libpng drops a damaged tRNS chunk; the zlib checksum of the pixels does not match. */
    static const char *const loss[] = { "tRNS: CRC error", "Truncated compressed data in IDAT" };
    sddp_decoder *d = png_get_error_ptr(png);
    if (is_one_of(message, empty, sizeof empty / sizeof *empty)) {
        d->is_empty = true; /* libpng reports the error next */
    } else if (is_one_of(message, loss, sizeof loss / sizeof *loss)) {
        png_error(png, message);
    }
}

/* ------------------------------------------------------------------------------ memory */

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL) ((sddp_decoder *)png_get_mem_ptr(png))->no_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

/* ----------------------------------------------------------------------------- feeding libpng */

/* Sizes of the parts of a chunk (PNG, Third Edition, section 5.3), and of the largest chunk besides IDAT that is
   read. */
enum { CHUNK_HEAD = 8, CHUNK_SUM = 4, MOST_OF_A_TABLE = 1024 };

static bool is_named(const uint8_t *head, const char *name) { return memcmp(head + 4, name, 4) == 0; }

static bool is_letter(uint8_t byte) { return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z'); }

/* Whether these bytes can be the head of a chunk. */
static bool is_head(const uint8_t *head, size_t length)
{
    return is_letter(head[4]) && is_letter(head[5]) && is_letter(head[6]) && is_letter(head[7]) &&
           length <= PNG_UINT_31_MAX;
}

/* Whether a chunk does not affect our pixels: texts, profiles, gamma, the frames of an animation. Such chunks are
   skipped without being unpacked or kept. */
static bool is_passed_over(const uint8_t *head, size_t length)
{
    const bool is_ancillary = (head[4] & 0x20) != 0;
    return is_head(head, length) && is_ancillary && (!is_named(head, "tRNS") || length > MOST_OF_A_TABLE);
}

/* Refuses an IDAT chunk after another chunk that follows IDAT chunks. They must be consecutive (PNG, Third
   Edition, section 5.6), but libpng's progressive reader accepts them anywhere. */
static _Noreturn void refuse_late_pixels(sddp_decoder *d) { png_error(d->png, "pixels in two places"); }

/* Fails on a chunk that libpng would wait for in vain, or refuse once it is complete. */
static _Noreturn void refuse(sddp_decoder *d, const uint8_t *head, size_t length)
{
    /* libpng reports what is wrong with the head. */
    if (!is_head(head, length)) png_process_data(d->png, d->info, (png_bytep)(uintptr_t)head, CHUNK_HEAD);
    if (is_named(head, "IHDR") || is_named(head, "PLTE") || is_named(head, "IEND")) png_error(d->png, "chunk too long");
    png_error(d->png, "unhandled critical chunk");
}

/* Whether the whole chunk at `at` has arrived. libpng keeps input that it cannot use yet, and copies all of it
   each time more arrives; so only IDAT chunks are shown to it in part. */
static bool is_whole(const sddp_decoder *d, size_t at, size_t length)
{
    return d->size - at >= CHUNK_HEAD + length + CHUNK_SUM;
}

/* Returns the end of the bytes to show libpng next, from d->at on: the next chunk that is skipped, the first IDAT
   chunk if pixels are not wanted yet, or the end of the usable input. */
static size_t end_of_run(sddp_decoder *d, bool wants_pixels)
{
    size_t at = d->at;
    if (at == 0) {
        if (d->size < CHUNK_HEAD && !d->is_last) return 0;
        at = d->size < CHUNK_HEAD ? d->size : CHUNK_HEAD; /* the signature comes first */
    }
    for (;;) {
        const size_t rest = d->size - at;
        if (d->chunk_left > 0) {
            const size_t step = d->chunk_left < rest ? d->chunk_left : rest;
            at += step;
            d->chunk_left -= step;
            if (d->chunk_left > 0) return at;
            continue;
        }
        if (rest < CHUNK_HEAD) return at;
        const uint8_t *head = d->bytes + at;
        const size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
        const bool has_pixels = is_named(head, "IDAT") && length <= PNG_UINT_31_MAX;
        if (has_pixels && d->saw_last_pixels) {
            if (at == d->at) refuse_late_pixels(d);
            return at; /* libpng reads the bytes before this chunk first */
        }
        if (d->saw_pixels && !has_pixels) d->saw_last_pixels = true;
        if (has_pixels) {
            d->saw_pixels = true;
            if (!wants_pixels) return at;
            at += CHUNK_HEAD;
            d->chunk_left = length + CHUNK_SUM;
        } else if (is_passed_over(head, length)) {
            if (at == d->at) d->to_skip = CHUNK_HEAD + length + CHUNK_SUM;
            return at;
        } else if (!is_head(head, length) || length > MOST_OF_A_TABLE) {
            if (at == d->at) refuse(d, head, length);
            return at; /* libpng reads the bytes before this chunk first */
        } else if (is_whole(d, at, length)) {
            at += CHUNK_HEAD + length + CHUNK_SUM;
        } else {
            return at;
        }
    }
}

/* Shows libpng the input that has arrived. */
static void show(sddp_decoder *d, bool wants_pixels)
{
    while (!d->has_ended) {
        const size_t skipped = d->to_skip < d->size - d->at ? d->to_skip : d->size - d->at;
        d->at += skipped;
        d->to_skip -= skipped;
        if (d->to_skip > 0) return;
        const size_t end = end_of_run(d, wants_pixels);
        if (end > d->at) {
            const size_t from = d->at;
            d->at = end;
            /* libpng takes a non-const pointer, but does not write through it. */
            png_process_data(d->png, d->info, (png_bytep)(uintptr_t)(d->bytes + from), end - from);
        } else if (d->to_skip == 0) {
            return;
        }
    }
}

static void keep_time(sddp_decoder *d)
{
    if (sddsys_may_go_on(&d->clock)) return;
    snprintf(d->message, sizeof d->message, "decoding takes too long for its size");
    leave(d, SDDP_TOO_SLOW);
}

/* ------------------------------------------------------------------------------ header and pixels */

static void on_info(png_structp png, png_infop info);
static void on_row(png_structp png, png_bytep row, png_uint_32 y, int pass);

static void on_end(png_structp png, png_infop info)
{
    (void)info;
    ((sddp_decoder *)png_get_progressive_ptr(png))->has_ended = true;
}

__attribute__((noinline)) static void create(sddp_decoder *d)
{
    d->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, d, on_error, on_warning, d, allocate, release);
    /* This fails without memory, or if the loaded libpng is of another release series than the headers. */
    if (d->png == NULL) leave(d, d->no_memory ? SDDP_NO_MEMORY : SDDP_UNSUPPORTED);
    d->info = png_create_info_struct(d->png);
    if (d->info == NULL) leave(d, SDDP_NO_MEMORY);

    /* The caller limits the number of pixels. The two limits on other chunks back up is_passed_over(). */
    png_set_user_limits(d->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(d->png, 8 * 1024 * 1024);
    png_set_chunk_cache_max(d->png, 128);
    png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_progressive_read_fn(d->png, d, on_info, on_row, on_end);
}

/* Returns false if more bytes are needed. */
__attribute__((noinline)) static bool read_header(sddp_decoder *d, sddp_header *header)
{
    show(d, false);
    if (!d->saw_pixels) {
        if (d->has_ended) png_error(d->png, "no pixels");
        return false;
    }
    header->width = png_get_image_width(d->png, d->info);
    header->height = png_get_image_height(d->png, d->info);
    if (header->width == 0) png_error(d->png, "pixels before the header");
    d->is_interlaced = png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE;
    header->is_interlaced = d->is_interlaced;
    const int kind = png_get_color_type(d->png, d->info);
    header->is_grey = (kind & PNG_COLOR_MASK_COLOR) == 0;
    header->has_alpha = (kind & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(d->png, d->info, PNG_INFO_tRNS) != 0;
    return true;
}

static size_t bytes_of(sddp_layout layout)
{
    switch (layout) {
    case SDDP_GREY: return 1;
    case SDDP_RGB: return 3;
    case SDDP_RGBA16: return 8;
    default: return 4;
    }
}

static void ask_for_layout(png_structp png, sddp_layout layout)
{
    const bool is_deep = layout == SDDP_RGBA16;
    png_set_expand(png); /* expands palettes, samples of less than 8 bits, and tRNS */
    if (is_deep)
        png_set_expand_16(png); /* multiplies 8-bit samples by 257 */
    else
        png_set_scale_16(png);
    if (layout != SDDP_GREY) png_set_gray_to_rgb(png);
    if (bytes_of(layout) >= 4) {
        png_set_add_alpha(png, is_deep ? 0xffff : 0xff, PNG_FILLER_AFTER); /* only for pixels without alpha */
    }
    if (layout == SDDP_BGRA) png_set_bgr(png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (is_deep) png_set_swap(png);
#endif
}

/* Called when libpng reaches the pixels. */
static void on_info(png_structp png, png_infop info)
{
    sddp_decoder *d = png_get_progressive_ptr(png);
    ask_for_layout(png, d->layout);
    /* A palette index out of range gives black either way; searching for the highest index costs time. */
    png_set_check_for_invalid_index(png, 0);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)png_get_image_width(png, info) * bytes_of(d->layout)) {
        png_error(png, "rows of an unexpected size"); /* a mismatch would overrun the caller's memory */
    }
}

/* Called for each row that is new or refined; `row` is NULL if a pass adds nothing to it. */
static void on_row(png_structp png, png_bytep row, png_uint_32 y, int pass)
{
    sddp_decoder *d = png_get_progressive_ptr(png);
    d->passes = (uint32_t)pass;
    if (row != NULL) {
        keep_time(d);
        if (d->take != NULL) {
            d->take(d->context, row);
        } else {
            png_progressive_combine_row(png, d->pixels + (size_t)y * d->stride, row);
        }
    }
    if (!d->is_interlaced || pass == 6) d->rows = y + 1;
}

/* Returns false if more bytes are needed. */
__attribute__((noinline)) static bool decode(sddp_decoder *d)
{
    show(d, true);
    if (!d->has_ended) return false;
    const bool is_whole = d->is_interlaced ? png_get_current_pass_number(d->png) >= 7
                                           : d->rows == png_get_image_height(d->png, d->info);
    if (!is_whole) png_error(d->png, "Not enough image data"); /* libpng's progressive reader does not check this */
    if (d->is_interlaced) d->passes = 7;
    return true;
}

/* ------------------------------------------------------------------ entry points, calling setjmp */

/* Runs `call` inside libpng and turns its result into a status. After an error the picture is over. */
#define GUARD(d, call) \
    do { \
        if ((d)->png == NULL) return (d)->status == SDDP_OK ? SDDP_CORRUPT : (d)->status; \
        sddsys_work_begins(&(d)->clock); \
        if (setjmp((d)->escape) == 0) \
            (d)->status = (call) ? SDDP_OK : (d)->is_last ? SDDP_TRUNCATED : SDDP_NEEDS_MORE; \
        sddsys_work_rests(&(d)->clock); \
        if ((d)->status != SDDP_OK && (d)->status != SDDP_NEEDS_MORE) sddp_end(d); \
        return (d)->status; \
    } while (0)

sddp_decoder *sddp_create(void) { return calloc(1, sizeof(sddp_decoder)); }

void sddp_destroy(sddp_decoder *d)
{
    if (d == NULL) return;
    sddp_end(d);
    free(d);
}

void sddp_open(sddp_decoder *d, int64_t max_microseconds, int64_t microseconds_per_mib)
{
    sddp_end(d);
    memset(d, 0, sizeof *d);
    d->clock = sddsys_work_clock_make(max_microseconds, microseconds_per_mib);
    if (setjmp(d->escape) == 0) create(d);
    if (d->status != SDDP_OK) sddp_end(d);
}

void sddp_give(sddp_decoder *d, const void *bytes, size_t size, bool is_last)
{
    if (d->is_last || size < d->size) return;
    sddsys_work_grows(&d->clock, size - d->size);
    d->bytes = bytes;
    d->size = size;
    d->is_last = is_last;
}

sddp_status sddp_read_header(sddp_decoder *d, sddp_header *header) { GUARD(d, read_header(d, header)); }

sddp_status sddp_decode(sddp_decoder *d, void *pixels, size_t stride, sddp_layout layout)
{
    d->pixels = pixels;
    d->stride = stride;
    d->layout = layout;
    GUARD(d, decode(d));
}

sddp_status sddp_decode_rows(sddp_decoder *d, sddp_layout layout, sddp_take_row take, void *context)
{
    d->layout = layout;
    d->take = take;
    d->context = context;
    if (d->is_interlaced) return SDDP_UNSUPPORTED;
    GUARD(d, decode(d));
}

uint32_t sddp_rows(const sddp_decoder *d) { return d->rows; }

uint32_t sddp_passes(const sddp_decoder *d) { return d->passes; }

/* Needs no setjmp: libpng raises no errors while it frees memory. */
void sddp_end(sddp_decoder *d)
{
    png_destroy_read_struct(&d->png, &d->info, NULL); /* sets both to NULL, and accepts NULL */
}

const char *sddp_message(const sddp_decoder *d) { return d->message; }

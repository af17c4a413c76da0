#include "CPNG.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct sddp_decoder {
    png_structp png;
    png_infop info;
    const uint8_t *next;
    size_t left;
    uint8_t *row; /* for rows that nobody else has memory for */
    jmp_buf escape;
    sddp_status status;
    bool source_ended; /* libpng asked for more than there is */
    bool no_memory;
    bool is_empty;     /* the header has a 0 for a side */
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
    if (d->source_ended) return SDDP_TRUNCATED;
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

/* libpng (1.6) tells by text alone. Most warnings are about chunks that change no pixel of ours. */
static void on_warning(png_structp png, png_const_charp message)
{
    static const char *const empty[] = {"Image width is zero in IHDR", "Image height is zero in IHDR"};
    /* The chunk with the transparency is dropped; zlib's sum over the pixels does not fit. */
    static const char *const loss[] = {"tRNS: CRC error", "IDAT: incorrect data check"};
    sddp_decoder *d = png_get_error_ptr(png);
    if (is_one_of(message, empty, sizeof empty / sizeof *empty)) {
        d->is_empty = true; /* the error follows */
    } else if (is_one_of(message, loss, sizeof loss / sizeof *loss)) {
        png_error(png, message);
    }
}

/* ------------------------------------------------------------------------------ memory and source */

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

static void read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    sddp_decoder *d = png_get_io_ptr(png);
    if (size > d->left) {
        d->source_ended = true;
        png_error(png, "the data ends too early");
    }
    memcpy(bytes, d->next, size);
    d->next += size;
    d->left -= size;
}

/* ------------------------------------------------------------------------------ header and pixels */

__attribute__((noinline)) static void start(sddp_decoder *d, sddp_header *header)
{
    d->png = png_create_read_struct_2(
        PNG_LIBPNG_VER_STRING, d, on_error, on_warning, d, allocate, release);
    /* Without memory, or when the libpng that is loaded is of another series than the headers. */
    if (d->png == NULL) leave(d, d->no_memory ? SDDP_NO_MEMORY : SDDP_UNSUPPORTED);
    d->info = png_create_info_struct(d->png);
    if (d->info == NULL) leave(d, SDDP_NO_MEMORY);

    /* The limit on pixels is the caller's. Of all chunks only IHDR, PLTE, tRNS, IDAT and IEND are looked
       at: the others (texts, profiles, gamma) change nothing here, and are passed over unpacked and
       unkept. The two limits on them stand behind that. */
    png_set_user_limits(d->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(d->png, 8 * 1024 * 1024);
    png_set_chunk_cache_max(d->png, 128);
    png_set_keep_unknown_chunks(d->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);

    png_set_read_fn(d->png, d, read_bytes);
    png_read_info(d->png, d->info);
    header->width = png_get_image_width(d->png, d->info);
    header->height = png_get_image_height(d->png, d->info);
    header->is_interlaced = png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE;
}

/* How often each row is to be read. */
static int begin(sddp_decoder *d, bool is_bgra)
{
    const png_structp png = d->png;
    png_set_expand(png); /* palettes, less than 8 bits, tRNS */
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER); /* where there is none */
    if (is_bgra) png_set_bgr(png);
    /* An index past the palette gives black either way; looking for the highest one costs time. */
    png_set_check_for_invalid_index(png, 0);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, d->info);
    if (png_get_rowbytes(png, d->info) != (size_t)png_get_image_width(png, d->info) * 4) {
        png_error(png, "rows of an unexpected size"); /* the caller's memory is at stake */
    }
    return passes;
}

__attribute__((noinline)) static void decode(sddp_decoder *d, uint8_t *pixels, size_t stride, bool is_bgra)
{
    const png_structp png = d->png;
    const png_uint_32 height = png_get_image_height(png, d->info);
    const int passes = begin(d, is_bgra);
    for (int pass = 0; pass < passes; pass++) {
        uint8_t *row = pixels;
        for (png_uint_32 y = 0; y < height; y++, row += stride) png_read_row(png, row, NULL);
    }
    png_read_end(png, NULL);
}

__attribute__((noinline)) static void decode_rows(sddp_decoder *d, sddp_take_row take, void *context)
{
    const png_structp png = d->png;
    const png_uint_32 height = png_get_image_height(png, d->info);
    if (begin(d, false) != 1) png_error(png, "rows of an interlaced picture");
    d->row = png_malloc(png, png_get_rowbytes(png, d->info));
    for (png_uint_32 y = 0; y < height; y++) {
        png_read_row(png, d->row, NULL);
        take(context, d->row);
    }
    png_read_end(png, NULL);
}

/* ------------------------------------------------------------------- outside: the setjmp halves */

sddp_decoder *sddp_create(void)
{
    return calloc(1, sizeof(sddp_decoder));
}

void sddp_destroy(sddp_decoder *d)
{
    if (d == NULL) return;
    sddp_end(d);
    free(d);
}

sddp_status sddp_start(sddp_decoder *d, const void *bytes, size_t size, sddp_header *header)
{
    sddp_end(d);
    d->next = bytes;
    d->left = size;
    d->source_ended = false;
    d->no_memory = false;
    d->is_empty = false;
    d->message[0] = '\0';
    d->status = SDDP_OK;
    if (setjmp(d->escape) == 0) start(d, header);
    if (d->status != SDDP_OK) sddp_end(d);
    return d->status;
}

sddp_status sddp_decode(sddp_decoder *d, void *pixels, size_t stride, bool is_bgra)
{
    if (setjmp(d->escape) == 0) decode(d, pixels, stride, is_bgra);
    sddp_end(d);
    return d->status;
}

sddp_status sddp_decode_rows(sddp_decoder *d, sddp_take_row take, void *context)
{
    if (setjmp(d->escape) == 0) decode_rows(d, take, context);
    sddp_end(d);
    return d->status;
}

/* Needs no setjmp: libpng's way of giving memory back has no errors. */
void sddp_end(sddp_decoder *d)
{
    free(d->row);
    d->row = NULL;
    png_destroy_read_struct(&d->png, &d->info, NULL); /* sets both to NULL, and takes NULL */
}

const char *sddp_message(const sddp_decoder *d)
{
    return d->message;
}

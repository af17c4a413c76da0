#include "CPNGEncoder.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct sddp_encoder {
    png_structp png;
    png_infop info;
    uint32_t rows_left;
    sddp_take_bytes take;
    void *context;
    jmp_buf escape;
    sddp_encoded status;
    bool no_memory;
};

/* ------------------------------------------------------------------------------------- errors */

static _Noreturn void leave(sddp_encoder *e, sddp_encoded status)
{
    e->status = status;
    longjmp(e->escape, 1);
}

static _Noreturn void on_error(png_structp png, png_const_charp message)
{
    sddp_encoder *e = png_get_error_ptr(png);
    (void)message;
    leave(e, e->no_memory ? SDDP_ENCODE_NO_MEMORY : SDDP_ENCODE_FAILED);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* -------------------------------------------------------------------------- memory and output */

static png_voidp allocate(png_structp png, png_alloc_size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL) ((sddp_encoder *)png_get_mem_ptr(png))->no_memory = true;
    return memory;
}

static void release(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void pass_bytes_on(png_structp png, png_bytep bytes, size_t count)
{
    sddp_encoder *e = png_get_io_ptr(png);
    if (!e->take(e->context, bytes, count)) leave(e, SDDP_NOT_TAKEN);
}

static void do_nothing(png_structp png) { (void)png; }

/* ------------------------------------------------------------------------------------ profiles */

/* The bytes before the tags (ICC.1:2022, 7.2 and 7.3). */
enum { PROFILE_HEAD = 132 };

static bool has_good_tags(const uint8_t *profile, uint32_t size)
{
    const uint32_t count = png_get_uint_32(profile + 128);
    if (count > (size - PROFILE_HEAD) / 12) return false;
    const uint8_t *tag = profile + PROFILE_HEAD;
    for (uint32_t i = 0; i < count; i++, tag += 12) {
        const uint32_t begin = png_get_uint_32(tag + 4);
        if (begin > size || png_get_uint_32(tag + 8) > size - begin) return false;
    }
    return true;
}

static bool names(const uint8_t *place, const char *name) { return memcmp(place, name, 4) == 0; }

/* Whether libpng takes the profile when it reads such a picture: by size, version, rendering intent, colour space,
   class, and the space that it converts to. From 1.6.47 on png_set_iCCP() writes what readers drop. */
static bool is_readable(const uint8_t *profile, size_t size, bool is_grey)
{
    if (size < PROFILE_HEAD || size > PNG_UINT_31_MAX || png_get_uint_32(profile) != size) return false;
    if (profile[8] > 3 && size % 4 != 0) return false;
    if (png_get_uint_32(profile + 64) >= 0xffff || !names(profile + 36, "acsp")) return false;
    if (!names(profile + 16, is_grey ? "GRAY" : "RGB ")) return false;
    if (names(profile + 12, "abst") || names(profile + 12, "link")) return false;
    if (!names(profile + 20, "XYZ ") && !names(profile + 20, "Lab ")) return false;
    return has_good_tags(profile, (uint32_t)size);
}

/* ------------------------------------------------------------------------------------- pixels */

static int colour_type(const sddp_picture *picture)
{
    switch (picture->layout) {
    case SDDP_GREY: return PNG_COLOR_TYPE_GRAY;
    case SDDP_RGB: return PNG_COLOR_TYPE_RGB;
    default: return picture->drops_alpha ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
    }
}

static void write_chunk(png_structp png, const sddp_chunk *chunk)
{
    const png_byte name[5] = { (png_byte)(chunk->name >> 24), (png_byte)(chunk->name >> 16),
                               (png_byte)(chunk->name >> 8), (png_byte)chunk->name, 0 };
    png_write_chunk(png, name, chunk->data, chunk->size);
}

__attribute__((noinline)) static void start(sddp_encoder *e, const sddp_picture *picture)
{
    const bool has_four = picture->layout != SDDP_RGB && picture->layout != SDDP_GREY;
    const bool is_deep = picture->layout == SDDP_RGBA16;
    e->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, e, on_error, on_warning, e, allocate, release);
    /* This fails without memory, or if the loaded libpng is of another release series than the headers. */
    if (e->png == NULL) leave(e, e->no_memory ? SDDP_ENCODE_NO_MEMORY : SDDP_ENCODE_FAILED);
    e->info = png_create_info_struct(e->png);
    if (e->info == NULL) leave(e, SDDP_ENCODE_NO_MEMORY);

    /* libpng limits a side to 1,000,000 pixels by default, as a protection against untrusted input. */
    png_set_user_limits(e->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_buffer_size(e->png, 64 * 1024); /* size of an IDAT chunk */
    png_set_write_fn(e->png, e, pass_bytes_on, do_nothing);
    png_set_IHDR(e->png, e->info, picture->width, picture->height, is_deep ? 16 : 8, colour_type(picture),
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* libpng warns of a profile that it refuses; this is told below. */
    png_set_benign_errors(e->png, 1);
    if (picture->profile_size > 0) {
        const bool is_grey = colour_type(picture) == PNG_COLOR_TYPE_GRAY;
        if (!is_readable(picture->profile, picture->profile_size, is_grey)) leave(e, SDDP_PROFILE_REFUSED);
        png_set_iCCP(e->png, e->info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, picture->profile,
                     (png_uint_32)picture->profile_size);
        if (png_get_valid(e->png, e->info, PNG_INFO_iCCP) == 0) leave(e, SDDP_PROFILE_REFUSED);
    }
    png_write_info(e->png, e->info);
    for (size_t i = 0; i < picture->chunk_count; i++) write_chunk(e->png, &picture->chunks[i]);
    if (picture->layout == SDDP_BGRA) png_set_bgr(e->png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (is_deep) png_set_swap(e->png);
#endif
    if (has_four && picture->drops_alpha) png_set_filler(e->png, 0, PNG_FILLER_AFTER);
    e->rows_left = picture->height;
}

__attribute__((noinline)) static void write_rows(sddp_encoder *e, const uint8_t *first, size_t stride, uint32_t count)
{
    if (count > e->rows_left) leave(e, SDDP_ENCODE_FAILED);
    for (uint32_t y = 0; y < count; y++) png_write_row(e->png, first + y * stride);
    e->rows_left -= count;
}

__attribute__((noinline)) static void finish(sddp_encoder *e)
{
    if (e->rows_left > 0) leave(e, SDDP_ENCODE_FAILED);
    png_write_end(e->png, e->info);
}

/* ------------------------------------------------------------------ entry points, calling setjmp */

sddp_encoder *sddp_encoder_create(void) { return calloc(1, sizeof(sddp_encoder)); }

/* Needs no setjmp: libpng raises no errors while it frees memory. Sets both pointers to NULL, and accepts NULL. */
static void end(sddp_encoder *e) { png_destroy_write_struct(&e->png, &e->info); }

void sddp_encoder_destroy(sddp_encoder *e)
{
    if (e == NULL) return;
    end(e);
    free(e);
}

sddp_encoded sddp_encode_start(sddp_encoder *e, const sddp_picture *picture, sddp_take_bytes take, void *context)
{
    end(e);
    e->take = take;
    e->context = context;
    e->no_memory = false;
    e->status = SDDP_ENCODED;
    if (setjmp(e->escape) == 0) start(e, picture);
    if (e->status != SDDP_ENCODED) end(e);
    return e->status;
}

sddp_encoded sddp_encode_rows(sddp_encoder *e, const void *first, size_t stride, uint32_t count)
{
    if (e->png == NULL) return SDDP_ENCODE_FAILED;
    if (setjmp(e->escape) == 0) write_rows(e, first, stride, count);
    if (e->status != SDDP_ENCODED) end(e);
    return e->status;
}

sddp_encoded sddp_encode_finish(sddp_encoder *e)
{
    if (e->png == NULL) return SDDP_ENCODE_FAILED;
    if (setjmp(e->escape) == 0) finish(e);
    end(e);
    return e->status;
}

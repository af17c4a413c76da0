/* The calls of libpng that decode a PNG to RGBA8, for the programs that compare libsdd with libpng itself. */
#ifndef PNG_RGBA8_H
#define PNG_RGBA8_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct png_bytes {
    const uint8_t *next, *end;
};

struct rgba8 {
    uint8_t *pixels; /* from malloc(), without gaps between rows; belongs to the caller, also after a failure */
    int width, height;
};

static inline void take_png_bytes(png_structp png, png_bytep target, size_t size)
{
    struct png_bytes *bytes = png_get_io_ptr(png);
    if ((size_t)(bytes->end - bytes->next) < size) png_error(png, "the file is cut");
    memcpy(target, bytes->next, size);
    bytes->next += size;
}

static inline void ignore_png_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Leaves by longjmp() if the file is damaged, or if there is no memory. */
static inline void read_rgba8(png_structp png, png_infop info, struct rgba8 *picture)
{
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    picture->width = (int)png_get_image_width(png, info);
    picture->height = (int)png_get_image_height(png, info);
    const size_t stride = (size_t)picture->width * 4;
    picture->pixels = malloc(stride * (size_t)picture->height);
    if (!picture->pixels) png_error(png, "no memory");
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < picture->height; y++) png_read_row(png, picture->pixels + (size_t)y * stride, NULL);
    }
    png_read_end(png, NULL);
}

/* Returns 0, or -1 if the file is damaged or there is no memory. */
static inline int png_to_rgba8(const uint8_t *file, size_t size, struct rgba8 *picture)
{
    struct png_bytes bytes = { file, file + size };
    volatile int status = -1;
    png_infop info = NULL;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, ignore_png_warning);
    *picture = (struct rgba8){ NULL, 0, 0 };
    if (png) info = png_create_info_struct(png);
    if (info && setjmp(png_jmpbuf(png)) == 0) {
        png_set_read_fn(png, &bytes, take_png_bytes);
        read_rgba8(png, info, picture);
        status = 0;
    }
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

#endif

/* Decodes PNG to RGBA8 with libpng. */
#include "baseline.h"
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct reading {
    const uint8_t *next, *end;
};

static void read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    struct reading *reading = png_get_io_ptr(png);
    if ((size_t)(reading->end - reading->next) < size) png_error(png, "the file is cut");
    memcpy(bytes, reading->next, size);
    reading->next += size;
}

static void ignore_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Leaves by longjmp() if the file is damaged. */
static void decode(png_structp png, png_infop info, struct picture *picture)
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
    if (!picture->pixels) give_up("no memory");
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < picture->height; y++) png_read_row(png, picture->pixels + (size_t)y * stride, NULL);
    }
    png_read_end(png, NULL);
}

int decode_png(const struct body *body, struct picture *picture)
{
    struct reading reading = { body->bytes, body->bytes + body->size };
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) give_up("no memory");
    volatile int status = -1;
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_read_fn(png, &reading, read_bytes);
        decode(png, info, picture);
        status = 0;
    }
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

/* Decodes JPEG to RGBA8 with libjpeg, also to a smaller size. */
#include "baseline.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h> /* requires stdio.h */
#include "jpeg_errors.h"

enum { ROWS = 16 };

/* Reused for all pictures of a thread. */
struct jpeg_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_errors errors;
    struct reducer *reducer;
    uint8_t *rows; /* of a picture that is reduced */
};

struct jpeg_decoder *make_jpeg_decoder(void)
{
    struct jpeg_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) give_up("no memory");
    decoder->jpeg.err = set_up_jpeg_errors(&decoder->errors);
    jpeg_create_decompress(&decoder->jpeg);
    return decoder;
}

void free_jpeg_decoder(struct jpeg_decoder *decoder)
{
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder);
}

/* Sets the size to fit into largest_side, and lets libjpeg reduce the picture to an eighth, a quarter or a half. */
static void choose_size(struct jpeg_decompress_struct *jpeg, struct picture *picture)
{
    const double width = jpeg->image_width, height = jpeg->image_height;
    const double scale = arguments.largest_side / (width > height ? width : height);
    if (arguments.largest_side == 0 || scale >= 1) return;
    picture->width = (int)fmax(1, round(width * scale));
    picture->height = (int)fmax(1, round(height * scale));
    jpeg->scale_denom = 8;
    for (jpeg->scale_num = 1; jpeg->scale_num < 8; jpeg->scale_num *= 2) {
        jpeg_calc_output_dimensions(jpeg);
        if ((int)jpeg->output_width >= picture->width && (int)jpeg->output_height >= picture->height) return;
    }
}

static void read_rows(struct jpeg_decompress_struct *jpeg, uint8_t *pixels)
{
    const size_t stride = (size_t)jpeg->output_width * 4;
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW rows[ROWS];
        const JDIMENSION left = jpeg->output_height - jpeg->output_scanline;
        for (JDIMENSION i = 0; i < ROWS && i < left; i++) rows[i] = pixels + (jpeg->output_scanline + i) * stride;
        jpeg_read_scanlines(jpeg, rows, left < ROWS ? left : ROWS);
    }
}

static void reduce_rows(struct jpeg_decoder *decoder, struct picture *picture)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const size_t stride = (size_t)jpeg->output_width * 4;
    decoder->reducer = make_reducer((int)jpeg->output_width, (int)jpeg->output_height, picture);
    decoder->rows = malloc(stride * ROWS);
    if (!decoder->rows) give_up("no memory");
    JSAMPROW rows[ROWS];
    for (int i = 0; i < ROWS; i++) rows[i] = decoder->rows + (size_t)i * stride;
    while (jpeg->output_scanline < jpeg->output_height) {
        const JDIMENSION count = jpeg_read_scanlines(jpeg, rows, ROWS);
        for (JDIMENSION i = 0; i < count; i++) reduce_row(decoder->reducer, rows[i]);
    }
}

int decode_jpeg(struct jpeg_decoder *decoder, const struct body *body, struct picture *picture)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    volatile int status = -1;
    if (setjmp(decoder->errors.failed)) {
        jpeg_abort_decompress(jpeg);
    } else {
        jpeg_mem_src(jpeg, body->bytes, body->size);
        jpeg_read_header(jpeg, TRUE);
        jpeg->out_color_space = JCS_EXT_RGBA;
        choose_size(jpeg, picture);
        jpeg_start_decompress(jpeg);
        const int width = (int)jpeg->output_width, height = (int)jpeg->output_height;
        if (picture->width == 0) *picture = (struct picture){ NULL, width, height };
        if (picture->width == width && picture->height == height) {
            picture->pixels = malloc((size_t)width * (size_t)height * 4);
            if (!picture->pixels) give_up("no memory");
            read_rows(jpeg, picture->pixels);
        } else {
            reduce_rows(decoder, picture);
        }
        jpeg_finish_decompress(jpeg);
        status = jpeg->err->num_warnings == 0 ? 0 : -1;
    }
    free_reducer(decoder->reducer);
    free(decoder->rows);
    decoder->reducer = NULL;
    decoder->rows = NULL;
    return status;
}

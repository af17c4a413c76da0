/*
 * gif_encode.h - writes GIFs: each frame whole, with a table of its own colours.
 */
#ifndef GIF_ENCODE_H
#define GIF_ENCODE_H

#include "lzw.h"
#include "palette.h"

#include "coder.h"

struct encoder {
    struct bytes out;
    struct lzw_writer lzw;
    struct table table;
    unsigned char *pixels, *indices; /* of one frame, in rows without padding */
    int width, height;
    size_t control; /* where the settings of the last frame are; 0: there is none */
};

static void put_screen(struct encoder *encoder, const sdd_coder_frame *first)
{
    bytes_put(&encoder->out, "GIF89a", 6);
    bytes_put_number(&encoder->out, encoder->width);
    bytes_put_number(&encoder->out, encoder->height);
    bytes_put(&encoder->out, "\x70\0\0", 3); /* 8 bits a colour, no table */
    if (first->frame_count > 1 && first->loop_count != 1) {
        bytes_put(&encoder->out,
                  "!\xff\x0b"
                  "NETSCAPE2.0\3\1",
                  16);
        /* GIF counts repetitions. */
        bytes_put_number(&encoder->out,
                         first->loop_count > 65536 ? 65535 : first->loop_count - (first->loop_count > 0));
        bytes_put(&encoder->out, "", 1);
    }
}

/* Puts what stands in front of the pixels of a frame. */
static void put_description(struct encoder *encoder, const sdd_coder_frame *frame, int bits)
{
    const struct table *table = &encoder->table;
    const int is_clear = table->transparent >= 0;
    const unsigned char flags = (unsigned char)(1 << 2 | is_clear);
    const unsigned char index[] = { (unsigned char)(is_clear ? table->transparent : 0), 0 };
    const unsigned char shape = (unsigned char)(0x80 | (bits - 1));
    const int64_t longest = INT64_C(655350000); /* microseconds */
    const int64_t shown = frame->duration_us < longest ? frame->duration_us : longest;
    /* The last frame must not shine through. */
    if (is_clear && encoder->control > 0 && !encoder->out.has_failed)
        encoder->out.start[encoder->control] = (unsigned char)((encoder->out.start[encoder->control] & 3) | 2 << 2);
    bytes_put(&encoder->out, "!\xf9\4", 3);
    encoder->control = encoder->out.size;
    bytes_put(&encoder->out, &flags, 1);
    bytes_put_number(&encoder->out, (int)((shown + 5000) / 10000));
    bytes_put(&encoder->out, index, 2);
    bytes_put(&encoder->out, ",\0\0\0\0", 5);
    bytes_put_number(&encoder->out, encoder->width);
    bytes_put_number(&encoder->out, encoder->height);
    bytes_put(&encoder->out, &shape, 1);
    bytes_put(&encoder->out, table->colours, (size_t)3 << bits);
}

static sdd_status put_frame(struct encoder *encoder, const sdd_coder_frame *frame)
{
    size_t row = (size_t)encoder->width * 4;
    int bits = 1;
    if (frame->width != encoder->width || frame->height != encoder->height) return SDD_ERROR_UNSUPPORTED;
    for (int32_t y = 0; y < encoder->height; y++)
        memcpy(encoder->pixels + (size_t)y * row, (const uint8_t *)frame->pixels + (size_t)y * frame->stride, row);
    memset(encoder->table.colours, 0, sizeof encoder->table.colours);
    if (!palette_choose(encoder->pixels, encoder->width, encoder->height, &encoder->table, encoder->indices))
        return SDD_ERROR_NO_RESOURCES;
    while (1 << bits < encoder->table.count) bits++;
    put_description(encoder, frame, bits);
    lzw_write(&encoder->lzw, &encoder->out, encoder->indices, (size_t)encoder->width * (size_t)encoder->height,
              bits > 1 ? bits : 2);
    return SDD_OK;
}

/* Begins with the first frame. Returns NULL without memory. */
static struct encoder *encoder_begin(const sdd_coder_frame *first)
{
    struct encoder *encoder = calloc(1, sizeof *encoder);
    size_t pixels = (size_t)first->width * (size_t)first->height;
    if (encoder == NULL) return NULL;
    encoder->width = first->width;
    encoder->height = first->height;
    encoder->pixels = malloc(pixels * 4);
    encoder->indices = malloc(pixels);
    put_screen(encoder, first);
    return encoder;
}

static void encoder_free(struct encoder *encoder)
{
    if (encoder == NULL) return;
    free(encoder->out.start);
    free(encoder->pixels);
    free(encoder->indices);
    free(encoder);
}

/* Encodes all frames that `next` gives. */
static sdd_status gif_encode_frames(sdd_coder_next_fn next, void *source, int32_t quality, sdd_coder_write_fn write,
                                    void *context, void *user_data)
{
    struct encoder *encoder = NULL;
    sdd_status status = SDD_OK;
    (void)quality;
    (void)user_data;
    while (status == SDD_OK) {
        sdd_coder_frame frame;
        status = take_frame(next, source, &frame);
        if (status != SDD_OK) break;
        if (frame.width > 65535 || frame.height > 65535) status = SDD_ERROR_UNSUPPORTED;
        if (status == SDD_OK && encoder == NULL) {
            encoder = encoder_begin(&frame);
            if (encoder == NULL || encoder->pixels == NULL || encoder->indices == NULL) status = SDD_ERROR_NO_RESOURCES;
        }
        if (status == SDD_OK) status = put_frame(encoder, &frame);
    }
    if (status == SDD_ERROR_NOT_FOUND && encoder != NULL) {
        bytes_put(&encoder->out, ";", 1);
        status = encoder->out.has_failed ? SDD_ERROR_NO_RESOURCES
                                         : write(context, encoder->out.start, encoder->out.size);
    }
    encoder_free(encoder);
    return status;
}

#endif

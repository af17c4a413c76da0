#include "CJPEGEncoder.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct sddj_encoder {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf escape;
    sddj_encoded status;
    bool is_open; /* `jpeg` may own memory and accepts rows */
    sddj_take_bytes take;
    void *context;
    JOCTET bytes[64 * 1024]; /* output buffer */
};

/* ------------------------------------------------------------------------------------- errors */

static _Noreturn void leave(sddj_encoder *e, sddj_encoded status)
{
    e->status = status;
    longjmp(e->escape, 1);
}

static _Noreturn void on_error(j_common_ptr jpeg)
{
    switch (jpeg->err->msg_code) {
    case JERR_OUT_OF_MEMORY: leave(jpeg->client_data, SDDJ_ENCODE_NO_MEMORY);
    case JERR_IMAGE_TOO_BIG:
    case JERR_WIDTH_OVERFLOW: leave(jpeg->client_data, SDDJ_ENCODE_TOO_LARGE);
    default: leave(jpeg->client_data, SDDJ_ENCODE_FAILED);
    }
}

static void on_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

static void print_nothing(j_common_ptr jpeg) { (void)jpeg; }

/* ------------------------------------------------------------------------------------- output */

static void empty(sddj_encoder *e)
{
    e->destination.next_output_byte = e->bytes;
    e->destination.free_in_buffer = sizeof e->bytes;
}

static void begin_bytes(j_compress_ptr jpeg) { empty(jpeg->client_data); }

/* libjpeg expects the whole buffer to be written, whatever free_in_buffer says. */
static boolean pass_bytes_on(j_compress_ptr jpeg)
{
    sddj_encoder *e = jpeg->client_data;
    if (!e->take(e->context, e->bytes, sizeof e->bytes)) leave(e, SDDJ_NOT_TAKEN);
    empty(e);
    return TRUE;
}

static void end_bytes(j_compress_ptr jpeg)
{
    sddj_encoder *e = jpeg->client_data;
    const size_t count = sizeof e->bytes - e->destination.free_in_buffer;
    if (count > 0 && !e->take(e->context, e->bytes, count)) leave(e, SDDJ_NOT_TAKEN);
}

/* ------------------------------------------------------------------------------------- pixels */

static void describe(struct jpeg_compress_struct *jpeg, sddj_layout layout)
{
    static const J_COLOR_SPACE spaces[] = {
        [SDDJ_RGBA] = JCS_EXT_RGBX,
        [SDDJ_BGRA] = JCS_EXT_BGRX,
        [SDDJ_RGB] = JCS_EXT_RGB,
        [SDDJ_Y] = JCS_GRAYSCALE,
    };
    static const int components[] = { [SDDJ_RGBA] = 4, [SDDJ_BGRA] = 4, [SDDJ_RGB] = 3, [SDDJ_Y] = 1 };
    jpeg->in_color_space = spaces[layout];
    jpeg->input_components = components[layout];
}

/* Writes a note in as many segments as it takes. */
static void write_note(struct jpeg_compress_struct *jpeg, const uint8_t *note, size_t size)
{
    static const char name[] = "libsdd colour";
    enum { MOST_OF_A_SEGMENT = 65533 - sizeof name };
    while (size > 0) {
        const size_t count = size < MOST_OF_A_SEGMENT ? size : MOST_OF_A_SEGMENT;
        jpeg_write_m_header(jpeg, JPEG_APP0 + 2, (unsigned)(sizeof name + count));
        for (size_t i = 0; i < sizeof name; i++) jpeg_write_m_byte(jpeg, name[i]);
        for (size_t i = 0; i < count; i++) jpeg_write_m_byte(jpeg, note[i]);
        note += count;
        size -= count;
    }
}

__attribute__((noinline)) static void start(sddj_encoder *e, const sddj_picture *picture)
{
    struct jpeg_compress_struct *jpeg = &e->jpeg;
    jpeg_create_compress(jpeg);
    jpeg->dest = &e->destination;
    jpeg->image_width = picture->width;
    jpeg->image_height = picture->height;
    describe(jpeg, picture->layout);
    jpeg_set_defaults(jpeg);
    /* Baseline JPEG has 8-bit quantization tables; not all decoders support others. */
    jpeg_set_quality(jpeg, picture->quality, TRUE);
    if (jpeg->num_components == 3) {
        jpeg->comp_info[0].h_samp_factor = picture->chroma == SDDJ_CHROMA_444 ? 1 : 2;
        jpeg->comp_info[0].v_samp_factor = picture->chroma == SDDJ_CHROMA_420 ? 2 : 1;
    }
    if (picture->is_progressive) jpeg_simple_progression(jpeg);
    jpeg_start_compress(jpeg, TRUE);
    if (picture->profile_size > 0) {
        jpeg_write_icc_profile(jpeg, picture->profile, (unsigned)picture->profile_size);
    }
    write_note(jpeg, picture->note, picture->note_size);
}

__attribute__((noinline)) static void write_rows(sddj_encoder *e, const uint8_t *first, size_t stride, uint32_t count)
{
    struct jpeg_compress_struct *jpeg = &e->jpeg;
    if (count > jpeg->image_height - jpeg->next_scanline) leave(e, SDDJ_ENCODE_FAILED);
    for (uint32_t y = 0; y < count; y++) {
        JSAMPROW row = (JSAMPROW)(first + y * stride); /* libjpeg only reads the row */
        if (jpeg_write_scanlines(jpeg, &row, 1) != 1) leave(e, SDDJ_ENCODE_FAILED);
    }
}

__attribute__((noinline)) static void finish(sddj_encoder *e) { jpeg_finish_compress(&e->jpeg); }

/* ------------------------------------------------------------------ entry points, calling setjmp */

sddj_encoder *sddj_encoder_create(void)
{
    sddj_encoder *e = calloc(1, sizeof *e);
    if (e == NULL) return NULL;
    e->jpeg.err = jpeg_std_error(&e->errors);
    e->jpeg.client_data = e;
    e->errors.error_exit = on_error;
    e->errors.emit_message = on_message;
    e->errors.output_message = print_nothing;
    e->destination.init_destination = begin_bytes;
    e->destination.empty_output_buffer = pass_bytes_on;
    e->destination.term_destination = end_bytes;
    return e;
}

/* Needs no setjmp: libjpeg raises no errors while it frees memory. */
static void end(sddj_encoder *e)
{
    if (e->is_open) jpeg_destroy_compress(&e->jpeg);
    e->is_open = false;
}

void sddj_encoder_destroy(sddj_encoder *e)
{
    if (e == NULL) return;
    end(e);
    free(e);
}

sddj_encoded sddj_encode_start(sddj_encoder *e, const sddj_picture *picture, sddj_take_bytes take, void *context)
{
    end(e);
    e->take = take;
    e->context = context;
    e->status = SDDJ_ENCODED;
    e->is_open = true;
    if (setjmp(e->escape) == 0) start(e, picture);
    if (e->status != SDDJ_ENCODED) end(e);
    return e->status;
}

sddj_encoded sddj_encode_rows(sddj_encoder *e, const void *first, size_t stride, uint32_t count)
{
    if (!e->is_open) return SDDJ_ENCODE_FAILED;
    if (setjmp(e->escape) == 0) write_rows(e, first, stride, count);
    if (e->status != SDDJ_ENCODED) end(e);
    return e->status;
}

sddj_encoded sddj_encode_finish(sddj_encoder *e)
{
    if (!e->is_open) return SDDJ_ENCODE_FAILED;
    if (setjmp(e->escape) == 0) finish(e);
    end(e);
    return e->status;
}

/*
 * Decodes a progressive JPEG while it arrives: a preview after each scan, at most one in 100 ms, as libsdd does by
 * default, and the whole picture at the end. libjpeg keeps the coefficients, so nothing is decoded twice but the last
 * steps from coefficients to pixels.
 */
#define _POSIX_C_SOURCE 200809L
#include "baseline.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <jpeglib.h> /* requires stdio.h */
#include "jpeg_errors.h"

static const double PREVIEW_INTERVAL = 0.1;

struct preview_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_errors errors;
    struct jpeg_source_mgr source;
    enum { HEADER, START, SCANS, WHOLE, DAMAGED } state;
    size_t used;    /* bytes that libjpeg has taken */
    size_t to_skip; /* bytes that libjpeg wants to skip and that have not arrived */
    int scans_shown;
    double last_preview;
    uint8_t *pixels;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void ignore(j_decompress_ptr jpeg) { (void)jpeg; }

/* Suspends libjpeg until more has arrived. */
static boolean suspend(j_decompress_ptr jpeg)
{
    (void)jpeg;
    return FALSE;
}

static void skip(j_decompress_ptr jpeg, long count)
{
    struct preview_decoder *decoder = (struct preview_decoder *)jpeg;
    if (count <= 0) return;
    const size_t here = decoder->source.bytes_in_buffer, now = (size_t)count < here ? (size_t)count : here;
    decoder->source.next_input_byte += now;
    decoder->source.bytes_in_buffer -= now;
    decoder->to_skip += (size_t)count - now;
}

struct preview_decoder *make_preview_decoder(void)
{
    struct preview_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) give_up("no memory");
    decoder->jpeg.err = set_up_jpeg_errors(&decoder->errors);
    jpeg_create_decompress(&decoder->jpeg);
    decoder->source = (struct jpeg_source_mgr){ .init_source = ignore,
                                                .fill_input_buffer = suspend,
                                                .skip_input_data = skip,
                                                .resync_to_restart = jpeg_resync_to_restart,
                                                .term_source = ignore };
    decoder->jpeg.src = &decoder->source;
    return decoder;
}

/* Makes pixels from the coefficients that have arrived, up to and including a scan. */
static void show(struct preview_decoder *decoder, int scan)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const size_t stride = (size_t)jpeg->output_width * 4;
    jpeg_start_output(jpeg, scan);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = decoder->pixels + jpeg->output_scanline * stride;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_output(jpeg);
    decoder->scans_shown = scan;
}

/*
 * Makes a preview if a scan is complete that has not been shown, and the last preview is old enough. A scan counts as
 * complete when the next one has begun, because jpeg_finish_output() reads up to there.
 */
static void show_if_due(struct preview_decoder *decoder)
{
    const int complete = decoder->jpeg.input_scan_number - 1;
    if (complete <= decoder->scans_shown || seconds() - decoder->last_preview < PREVIEW_INTERVAL) return;
    show(decoder, complete);
    decoder->last_preview = seconds();
    count_preview();
}

static void begin(struct preview_decoder *decoder)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (decoder->state == HEADER && jpeg_read_header(jpeg, TRUE) == JPEG_HEADER_OK) {
        jpeg->buffered_image = TRUE;
        jpeg->out_color_space = JCS_EXT_RGBA;
        decoder->state = START;
    }
    if (decoder->state == START && jpeg_start_decompress(jpeg)) {
        decoder->pixels = malloc((size_t)jpeg->output_width * jpeg->output_height * 4);
        if (!decoder->pixels) give_up("no memory");
        decoder->state = SCANS;
    }
}

void feed_preview_decoder(struct preview_decoder *decoder, const uint8_t *bytes, size_t size)
{
    if (decoder->state == WHOLE || decoder->state == DAMAGED) return;
    if (setjmp(decoder->errors.failed)) {
        decoder->state = DAMAGED;
        return;
    }
    const size_t left = size - decoder->used, skipped = decoder->to_skip < left ? decoder->to_skip : left;
    decoder->to_skip -= skipped;
    decoder->source.next_input_byte = bytes + decoder->used + skipped;
    decoder->source.bytes_in_buffer = left - skipped;
    begin(decoder);
    while (decoder->state == SCANS) {
        const int step = jpeg_consume_input(&decoder->jpeg);
        if (step == JPEG_SUSPENDED) break;
        if (step == JPEG_REACHED_EOI)
            decoder->state = WHOLE;
        else
            show_if_due(decoder);
    }
    decoder->used = size - decoder->source.bytes_in_buffer;
}

int finish_preview_decoder(struct preview_decoder *decoder, struct picture *picture)
{
    volatile int status = -1;
    if (decoder->state == WHOLE && setjmp(decoder->errors.failed) == 0) {
        show(decoder, decoder->jpeg.input_scan_number);
        *picture = (struct picture){ decoder->pixels, (int)decoder->jpeg.output_width,
                                     (int)decoder->jpeg.output_height };
        decoder->pixels = NULL;
        status = decoder->jpeg.err->num_warnings == 0 ? 0 : -1;
    }
    free(decoder->pixels);
    jpeg_destroy_decompress(&decoder->jpeg);
    free(decoder);
    return status;
}

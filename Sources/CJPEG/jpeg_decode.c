#include "CJPEG.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

/* A progressive JPEG has about ten scans, and each costs a walk over all its coefficients. */
enum { MAX_SCANS = 500 };

/* libjpeg hands out one group of rows at a time: as many as the highest vertical sampling factor. */
enum { ROWS_AT_A_TIME = MAX_SAMP_FACTOR };

struct sddj_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    sddj_status status;
    sddj_colours colours;
    bool is_open;        /* `jpeg` may own memory */
    bool source_ended;   /* libjpeg asked for more than there is */
    bool bytes_skipped;  /* bytes that belong to no marker and no scan were passed over */
    int32_t warnings;
    char message[JMSG_LENGTH_MAX];
};

/* ------------------------------------------------------------------------------------- errors */

static _Noreturn void leave(sddj_decoder *d, sddj_status status)
{
    d->status = status;
    longjmp(d->escape, 1);
}

static _Noreturn void leave_saying(sddj_decoder *d, sddj_status status, const char *message)
{
    snprintf(d->message, sizeof d->message, "%s", message);
    leave(d, status);
}

static sddj_status status_of_error(const sddj_decoder *d)
{
    const int code = d->errors.msg_code;
    if (code == JERR_OUT_OF_MEMORY) return SDDJ_NO_MEMORY;
    /* Past the end libjpeg reads our made-up marker: whatever it finds wrong there comes of the cut. */
    if (d->source_ended) return SDDJ_TRUNCATED;
    switch (code) {
    case JERR_EMPTY_IMAGE: /* also said of 0 components, which is nonsense rather than an empty picture */
        return d->jpeg.image_width == 0 || d->jpeg.image_height == 0 ? SDDJ_ZERO_PIXELS : SDDJ_CORRUPT;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
    case JERR_WIDTH_OVERFLOW:
        return SDDJ_UNSUPPORTED;
    default:
        return SDDJ_CORRUPT;
    }
}

static _Noreturn void on_error(j_common_ptr jpeg)
{
    sddj_decoder *d = jpeg->client_data;
    jpeg->err->format_message(jpeg, d->message);
    leave(d, status_of_error(d));
}

/* Warnings: the ones by which pixels are lost end the picture at once, no work is wasted on the rest. */
static void on_message(j_common_ptr jpeg, int level)
{
    sddj_decoder *d = jpeg->client_data;
    if (level >= 0) return; /* a trace */
    d->warnings++;
    switch (jpeg->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
        on_error(jpeg);
    case JWRN_EXTRANEOUS_DATA:
        d->bytes_skipped = true;
        break;
    default:
        break;
    }
}

static void print_nothing(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void count_scans(j_common_ptr jpeg)
{
    if (((j_decompress_ptr)jpeg)->input_scan_number > MAX_SCANS) {
        leave_saying(jpeg->client_data, SDDJ_TOO_MANY_SCANS, "more than 500 scans");
    }
}

/* ------------------------------------------------------------------- the source: bytes in memory */

static void do_nothing(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

/* Only called past the end. An end-of-image marker lets libjpeg finish in good order; it warns of data
   that it misses, and the flag tells why. */
static boolean make_up_an_end(j_decompress_ptr jpeg)
{
    static const JOCTET end_of_image[2] = {0xff, JPEG_EOI};
    sddj_decoder *d = jpeg->client_data;
    d->source_ended = true;
    d->source.next_input_byte = end_of_image;
    d->source.bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void skip(j_decompress_ptr jpeg, long count)
{
    struct jpeg_source_mgr *source = jpeg->src;
    if (count <= 0) return;
    const size_t step = (size_t)count < source->bytes_in_buffer ? (size_t)count : source->bytes_in_buffer;
    source->next_input_byte += step;
    source->bytes_in_buffer -= step;
}

/* ------------------------------------------------------------------------------------- header */

static bool colours_of(J_COLOR_SPACE stored, sddj_colours *colours)
{
    switch (stored) {
    case JCS_GRAYSCALE:
        *colours = SDDJ_GREY;
        return true;
    case JCS_RGB:
    case JCS_YCbCr:
        *colours = SDDJ_COLOUR;
        return true;
    case JCS_CMYK:
    case JCS_YCCK:
        *colours = SDDJ_INKS;
        return true;
    default:
        return false;
    }
}

__attribute__((noinline)) static void start(sddj_decoder *d, sddj_header *header)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    /* A new object for each picture, which costs less than a microsecond. In one that is used again, the
       quantization and Huffman tables of one picture serve the next that lacks its own, and what comes
       out depends on what was decoded before. */
    jpeg_create_decompress(jpeg);
    jpeg->src = &d->source;
    jpeg->progress = &d->progress;
    jpeg_read_header(jpeg, TRUE);

    /* Whether libjpeg does these depends on how the system's was built. */
    if (jpeg->data_precision != 8) leave_saying(d, SDDJ_UNSUPPORTED, "samples of other than 8 bits");
    if (jpeg->arith_code) leave_saying(d, SDDJ_UNSUPPORTED, "arithmetic coding");
    if (!colours_of(jpeg->jpeg_color_space, &d->colours)) {
        leave_saying(d, SDDJ_UNSUPPORTED, "unknown kind of colours");
    }
    header->width = jpeg->image_width;
    header->height = jpeg->image_height;
    header->colours = d->colours;
}

/* ------------------------------------------------------------------------------------- pixels */

/* Of a picture in several scans libjpeg takes what there is. A component without any is always a loss.
   Bits that never came may be the encoder's choice, but not where bytes were skipped or the end is missing:
   there a scan was lost. */
static void check_scans(sddj_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;
    const bool in_doubt = d->source_ended || d->bytes_skipped;
    for (int component = 0; component < jpeg->num_components; component++) {
        /* Set when the component's first scan begins. */
        bool came = jpeg->comp_info[component].quant_table != NULL;
        for (int bit = 0; came && in_doubt && jpeg->progressive_mode && bit < DCTSIZE2; bit++) {
            came = jpeg->coef_bits[component][bit] == 0;
        }
        if (!came) leave_saying(d, d->source_ended ? SDDJ_TRUNCATED : SDDJ_CORRUPT, "a scan is missing");
    }
}

/* Inks to light, in place. A CMYK JPEG holds 255 minus each ink, as Photoshop writes it: so browsers and
   Pillow take every one, with Adobe's marker or without. */
static void cmyk_to_rgba(uint8_t *row, size_t width)
{
    for (size_t x = 0; x < width; x++, row += 4) {
        const unsigned light = row[3];
        for (int channel = 0; channel < 3; channel++) {
            const unsigned product = (255u - row[channel]) * light + 128;
            row[channel] = (uint8_t)(light - ((product + (product >> 8)) >> 8)); /* product / 255, rounded */
        }
        row[3] = 0xff;
    }
}

/* What libjpeg is to write: other layouts it cannot, or would write more than the caller has room for. */
static J_COLOR_SPACE output_for(sddj_decoder *d, sddj_layout layout)
{
    if (layout == SDDJ_RGBA) return d->colours == SDDJ_INKS ? JCS_CMYK : JCS_EXT_RGBA;
    if (layout == SDDJ_BGRA && d->colours != SDDJ_INKS) return JCS_EXT_BGRA;
    if (layout == SDDJ_RGB && d->colours != SDDJ_INKS) return JCS_EXT_RGB;
    if (layout == SDDJ_Y && d->colours == SDDJ_GREY) return JCS_GRAYSCALE;
    leave_saying(d, SDDJ_UNSUPPORTED, "not a layout for these colours");
}

static void begin(sddj_decoder *d, sddj_layout layout)
{
    d->jpeg.out_color_space = output_for(d, layout);
    jpeg_start_decompress(&d->jpeg); /* with several scans, this reads them all */
    if (jpeg_has_multiple_scans(&d->jpeg)) check_scans(d);
}

/* The next rows, to `first` and below: how many, at least one. */
static JDIMENSION read_rows(sddj_decoder *d, uint8_t *first, size_t stride)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    JSAMPROW rows[ROWS_AT_A_TIME];
    const JDIMENSION left = jpeg->output_height - jpeg->output_scanline;
    const JDIMENSION wanted = left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME;
    for (JDIMENSION y = 0; y < wanted; y++) rows[y] = first + y * stride;

    const JDIMENSION got = jpeg_read_scanlines(jpeg, rows, wanted);
    if (got == 0) leave_saying(d, SDDJ_CORRUPT, "no rows"); /* a source that never waits: cannot be */
    const bool is_cmyk = jpeg->out_color_space == JCS_CMYK;
    for (JDIMENSION y = 0; is_cmyk && y < got; y++) cmyk_to_rgba(rows[y], jpeg->output_width);
    return got;
}

/* No jpeg_finish_decompress(): what follows the last row changes no pixel. */
__attribute__((noinline)) static void decode(sddj_decoder *d, uint8_t *pixels, size_t stride, sddj_layout layout)
{
    begin(d, layout);
    while (d->jpeg.output_scanline < d->jpeg.output_height) {
        read_rows(d, pixels + d->jpeg.output_scanline * stride, stride);
    }
}

__attribute__((noinline)) static void decode_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    begin(d, SDDJ_RGBA);
    const size_t stride = (size_t)jpeg->output_width * 4;
    /* libjpeg's own, so that it goes with the picture. */
    uint8_t *rows = jpeg->mem->alloc_large((j_common_ptr)jpeg, JPOOL_IMAGE, stride * ROWS_AT_A_TIME);
    while (jpeg->output_scanline < jpeg->output_height) {
        const JDIMENSION got = read_rows(d, rows, stride);
        for (JDIMENSION y = 0; y < got; y++) take(context, rows + y * stride);
    }
}

__attribute__((noinline)) static void scale(sddj_decoder *d, uint32_t eighths)
{
    d->jpeg.scale_num = eighths;
    d->jpeg.scale_denom = 8;
    jpeg_calc_output_dimensions(&d->jpeg);
}

/* ------------------------------------------------------------------- outside: the setjmp halves */

sddj_decoder *sddj_create(void)
{
    sddj_decoder *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->jpeg.client_data = d;
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    d->errors.output_message = print_nothing;
    d->source.init_source = do_nothing;
    d->source.fill_input_buffer = make_up_an_end;
    d->source.skip_input_data = skip;
    d->source.resync_to_restart = jpeg_resync_to_restart;
    d->source.term_source = do_nothing;
    d->progress.progress_monitor = count_scans;
    return d;
}

void sddj_destroy(sddj_decoder *d)
{
    if (d == NULL) return;
    sddj_end(d);
    free(d);
}

sddj_status sddj_start(sddj_decoder *d, const void *bytes, size_t size, sddj_header *header)
{
    sddj_end(d);
    d->source.next_input_byte = bytes;
    d->source.bytes_in_buffer = size;
    d->source_ended = false;
    d->bytes_skipped = false;
    d->warnings = 0;
    d->message[0] = '\0';
    d->status = SDDJ_OK;
    d->is_open = true;
    if (setjmp(d->escape) == 0) start(d, header);
    if (d->status != SDDJ_OK) sddj_end(d);
    return d->status;
}

sddj_status sddj_decode(sddj_decoder *d, void *pixels, size_t stride, sddj_layout layout)
{
    if (setjmp(d->escape) == 0) decode(d, pixels, stride, layout);
    sddj_end(d);
    return d->status;
}

sddj_status sddj_scale(sddj_decoder *d, uint32_t eighths, uint32_t *width, uint32_t *height)
{
    if (setjmp(d->escape) == 0) scale(d, eighths);
    if (d->status != SDDJ_OK) sddj_end(d);
    *width = d->jpeg.output_width;
    *height = d->jpeg.output_height;
    return d->status;
}

sddj_status sddj_decode_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    if (setjmp(d->escape) == 0) decode_rows(d, take, context);
    sddj_end(d);
    return d->status;
}

/* Needs no setjmp: libjpeg's way of giving memory back has no errors. */
void sddj_end(sddj_decoder *d)
{
    if (!d->is_open) return;
    d->is_open = false;
    jpeg_destroy_decompress(&d->jpeg);
}

const char *sddj_message(const sddj_decoder *d)
{
    return d->message;
}

int32_t sddj_warning_count(const sddj_decoder *d)
{
    return d->warnings;
}

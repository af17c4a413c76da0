/*
 * jpeg_decode.c - turns the bytes of a JPEG into pixels as they arrive.
 */
#include "jpeg_decoder.h"

#include <stdlib.h>
#include <string.h>

/* libjpeg outputs one group of rows at a time: as many as the highest vertical sampling factor. */
enum { ROWS_AT_A_TIME = MAX_SAMP_FACTOR };

/* ------------------------------------------------------------------------------------- errors */

static _Noreturn void leave(sddj_decoder *d, sddj_status status)
{
    d->status = status;
    longjmp(d->escape, 1);
}

_Noreturn void sddj_leave(sddj_decoder *d, sddj_status status, const char *message)
{
    snprintf(d->message, sizeof d->message, "%s", message);
    leave(d, status);
}

static sddj_status status_of_error(const sddj_decoder *d)
{
    const int code = d->errors.msg_code;
    if (code == JERR_OUT_OF_MEMORY) return SDDJ_NO_MEMORY;
    /* Past the end libjpeg reads the inserted end-of-image marker: any error there is caused by the truncation. */
    if (d->source_ended) return SDDJ_TRUNCATED;
    switch (code) {
    /* libjpeg also gives this for 0 components, which is invalid data rather than an empty picture */
    case JERR_EMPTY_IMAGE:
        return d->jpeg.image_width == 0 || d->jpeg.image_height == 0 ? SDDJ_ZERO_PIXELS : SDDJ_CORRUPT;
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_IMAGE_TOO_BIG:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
    case JERR_WIDTH_OVERFLOW: return SDDJ_UNSUPPORTED;
    default: return SDDJ_CORRUPT;
    }
}

static _Noreturn void on_error(j_common_ptr jpeg)
{
    sddj_decoder *d = jpeg->client_data;
    jpeg->err->format_message(jpeg, d->message);
    if (jpeg->err->msg_code == JERR_CANT_SUSPEND && !d->is_last) {
        /* Damaged data can lead libjpeg past the end of an arithmetic-coded scan that was found to be complete. */
        d->must_begin_again = true;
        leave(d, SDDJ_NEEDS_MORE);
    }
    leave(d, status_of_error(d));
}

/* Handles a loss of pixels: an error, unless the rules are lenient. Then the scans of a picture with several scans
   that arrived are kept; and a picture with one scan goes on with what libjpeg makes of the damage, up to the end of
   its data. */
static void lose(sddj_decoder *d)
{
    const bool goes_on = d->stage == STAGE_SCANS || (d->stage == STAGE_ROWS && !d->source_ended);
    if (!d->rules.is_lenient || !goes_on) on_error((j_common_ptr)&d->jpeg);
    if (d->stage == STAGE_ROWS && !d->is_partial) d->good_rows = d->rows;
    d->is_partial = true;
}

/* Whether the bytes that libjpeg passed over before a marker may have been a scan. An arithmetic decoder may
   finish before the last bytes of its scan; a scan whose marker is lost has more bytes than that in its header
   alone. */
static bool is_loss_of_bytes(const sddj_decoder *d)
{
    enum { MOST_LEFT_BY_ARITHMETIC = 8 };
    return !d->jpeg.arith_code || d->errors.msg_parm.i[0] > MOST_LEFT_BY_ARITHMETIC;
}

/* Handles libjpeg's warnings. One that means lost pixels fails the picture at once, so that no work is wasted on
   the rest. */
static void on_message(j_common_ptr jpeg, int level)
{
    sddj_decoder *d = jpeg->client_data;
    if (level >= 0) return; /* a trace message */
    d->warnings++;
    switch (jpeg->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC: lose(d); break;
    case JWRN_EXTRANEOUS_DATA:
        if (is_loss_of_bytes(d)) d->bytes_skipped = true;
        break;
    default: break;
    }
}

static void print_nothing(j_common_ptr jpeg) { (void)jpeg; }

static void keep_time(sddj_decoder *d)
{
    if (!sddsys_may_go_on(&d->clock)) sddj_leave(d, SDDJ_TOO_SLOW, "decoding takes too long for its size");
}

/* ------------------------------------------------------------------------------------- header */

static bool colours_of(J_COLOR_SPACE stored, sddj_colours *colours)
{
    switch (stored) {
    case JCS_GRAYSCALE: *colours = SDDJ_GREY; return true;
    case JCS_RGB:
    case JCS_YCbCr: *colours = SDDJ_COLOUR; return true;
    case JCS_CMYK:
    case JCS_YCCK: *colours = SDDJ_INKS; return true;
    default: return false;
    }
}

__attribute__((noinline)) static void create(sddj_decoder *d)
{
    /* Each picture gets a new object, which costs less than a microsecond. In a reused object the quantization and
       Huffman tables of one picture would serve the next one that lacks its own, and the output would depend on
       what was decoded before. */
    jpeg_create_decompress(&d->jpeg);
    sddj_manage_coefficients(d);
    d->jpeg.src = &d->source;
}

/* libjpeg-turbo 3 reads lossless pictures, which it cannot scale; older ones refuse them. Instead of blocks they have
   single pixels. Their scan headers prove nothing: others may have the same numbers, which libjpeg ignores there. */
static bool is_lossless(const struct jpeg_decompress_struct *jpeg)
{
#if JPEG_LIB_VERSION >= 70
    return jpeg->min_DCT_v_scaled_size < DCTSIZE;
#else
    return jpeg->min_DCT_scaled_size < DCTSIZE;
#endif
}

/* Returns false if more bytes are needed. */
__attribute__((noinline)) static bool read_header(sddj_decoder *d, sddj_header *header)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    if (jpeg_read_header(jpeg, TRUE) == JPEG_SUSPENDED) return false;

    /* Whether libjpeg supports these depends on how the system's library was built. */
    if (jpeg->data_precision != 8) sddj_leave(d, SDDJ_UNSUPPORTED, "samples of other than 8 bits");
    if (is_lossless(jpeg)) sddj_leave(d, SDDJ_UNSUPPORTED, "a lossless JPEG");
    if (!colours_of(jpeg->jpeg_color_space, &d->colours)) {
        sddj_leave(d, SDDJ_UNSUPPORTED, "unknown kind of colours");
    }
    d->frame.count = jpeg->num_components;
    for (int i = 0; i < jpeg->num_components; i++) d->frame.ids[i] = jpeg->comp_info[i].component_id;
    header->width = jpeg->image_width;
    header->height = jpeg->image_height;
    header->colours = d->colours;
    header->has_scans = jpeg_has_multiple_scans(jpeg);
    sddj_scan_begins(d);
    d->stage = STAGE_READY;
    return true;
}

static void need_all(sddj_decoder *d)
{
    d->needs_all = true;
    for (int i = 0; i < MAX_COMPONENTS; i++) d->needed[i] = UINT64_MAX;
}

__attribute__((noinline)) static void scale(sddj_decoder *d, uint32_t eighths)
{
    d->jpeg.scale_num = eighths;
    d->jpeg.scale_denom = 8;
    jpeg_calc_output_dimensions(&d->jpeg);
    if (!d->jpeg.progressive_mode || eighths == 8) return;
    sddj_find_needed(d);
    d->needs_all = false;
    if (d->is_last && !(d->rules.drops_scans && sddj_drop_scans(d))) {
        need_all(d);
    } else {
        sddj_show(d, (size_t)(d->source.next_input_byte - d->bytes));
    }
}

/* ------------------------------------------------------------------------------------- scans */

static bool finish_preview(sddj_decoder *d)
{
    if (d->is_showing && !jpeg_finish_output(&d->jpeg)) return false;
    d->is_showing = false;
    return true;
}

/* Reads scans up to the last one that is needed. Returns false if more bytes are needed. */
static bool read_scans(sddj_decoder *d)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    while (!d->is_complete && !jpeg_input_complete(jpeg)) {
        if (!sddj_may_consume(d)) return false;
        const int did = jpeg_consume_input(jpeg);
        if (did == JPEG_SUSPENDED) return false;
        if (did == JPEG_REACHED_SOS) sddj_scan_begins(d);
        if ((uint32_t)jpeg->input_scan_number > d->rules.max_scans) {
            snprintf(d->message, sizeof d->message, "more than %u scans", (unsigned)d->rules.max_scans);
            leave(d, SDDJ_TOO_MANY_SCANS);
        }
        keep_time(d);
        if (did != JPEG_SCAN_COMPLETED) continue;
        d->is_in_scan = false;
        d->scans = jpeg->input_scan_number;
        d->has_detail = sddj_has_detail(d);
        d->is_complete = !d->needs_all && sddj_has_needed(d);
        /* A marker that libjpeg has already read counts as unread input. */
        d->used = d->source_ended ? d->size : (size_t)(d->source.next_input_byte - d->bytes);
        if (jpeg->unread_marker != 0 && d->used >= 2) d->used -= 2;
    }
    if (!finish_preview(d)) return false;
    if (!d->is_complete) sddj_check_scans(d);
    /* Smoothing would guess what unread scans contain; the output size does not need them. */
    jpeg->do_block_smoothing = !d->is_complete;
    return jpeg_start_output(jpeg, jpeg->input_scan_number);
}

/* ------------------------------------------------------------------------------------- pixels */

/* Converts CMYK to RGBA in place. A CMYK JPEG holds 255 minus each ink, as Photoshop writes it: browsers and
   Pillow read every CMYK JPEG that way, with or without Adobe's marker. */
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

/* Returns libjpeg's output colour space for a layout. Other combinations fail: libjpeg cannot write them, or would
   write more than the caller's memory holds. */
static J_COLOR_SPACE output_for(sddj_decoder *d, sddj_layout layout)
{
    if (layout == SDDJ_RGBA) return d->colours == SDDJ_INKS ? JCS_CMYK : JCS_EXT_RGBA;
    if (layout == SDDJ_BGRA && d->colours != SDDJ_INKS) return JCS_EXT_BGRA;
    if (layout == SDDJ_RGB && d->colours != SDDJ_INKS) return JCS_EXT_RGB;
    if (layout == SDDJ_Y && d->colours == SDDJ_GREY) return JCS_GRAYSCALE;
    sddj_leave(d, SDDJ_UNSUPPORTED, "not a layout for these colours");
}

/* Decodes up to the point where rows can be written. Returns false if more bytes are needed. */
__attribute__((noinline)) static bool begin(sddj_decoder *d, sddj_layout layout)
{
    if (d->stage == STAGE_READY) {
        if (!sddj_may_consume(d)) return false;
        d->jpeg.out_color_space = output_for(d, layout);
        d->jpeg.buffered_image = jpeg_has_multiple_scans(&d->jpeg);
        if (!jpeg_start_decompress(&d->jpeg)) return false;
        d->stage = d->jpeg.buffered_image ? STAGE_SCANS : STAGE_ROWS;
    }
    if (d->stage == STAGE_SCANS) {
        if (!read_scans(d)) return false;
        d->stage = STAGE_ROWS;
    }
    return d->stage == STAGE_ROWS;
}

/* Reads the next rows into `first` and the rows after it. Returns how many; 0 means that more bytes are needed. */
static JDIMENSION read_rows(sddj_decoder *d, uint8_t *first, size_t stride)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    JSAMPROW rows[ROWS_AT_A_TIME];
    const JDIMENSION left = jpeg->output_height - jpeg->output_scanline;
    const JDIMENSION wanted = left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME;
    for (JDIMENSION y = 0; y < wanted; y++) rows[y] = first + y * stride;

    keep_time(d);
    const JDIMENSION got = jpeg_read_scanlines(jpeg, rows, wanted);
    /* cannot happen: there is no more input to wait for */
    if (got == 0 && d->is_last) sddj_leave(d, SDDJ_CORRUPT, "no rows");
    const bool is_cmyk = jpeg->out_color_space == JCS_CMYK && !d->rules.keeps_inks;
    for (JDIMENSION y = 0; is_cmyk && y < got; y++) cmyk_to_rgba(rows[y], jpeg->output_width);
    return got;
}

static bool write_rows(sddj_decoder *d, uint8_t *pixels, size_t stride)
{
    while (d->jpeg.output_scanline < d->jpeg.output_height) {
        if (read_rows(d, pixels + d->jpeg.output_scanline * stride, stride) == 0) return false;
        if (!d->is_showing) d->rows = d->jpeg.output_scanline;
    }
    return true;
}

static bool give_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    const size_t stride = (size_t)jpeg->output_width * 4;
    if (d->row_group == NULL) {
        d->row_group = jpeg->mem->alloc_large((j_common_ptr)jpeg, JPOOL_IMAGE, stride * ROWS_AT_A_TIME);
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        const JDIMENSION got = read_rows(d, d->row_group, stride);
        if (got == 0) return false;
        for (JDIMENSION y = 0; y < got; y++) take(context, d->row_group + y * stride);
        if (!d->is_showing) d->rows = jpeg->output_scanline;
    }
    return true;
}

/* jpeg_finish_decompress() is not called: data after the last row changes no pixel. */
__attribute__((noinline)) static bool decode(sddj_decoder *d, uint8_t *pixels, size_t stride, sddj_layout layout)
{
    return begin(d, layout) && write_rows(d, pixels, stride);
}

__attribute__((noinline)) static bool decode_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    return begin(d, SDDJ_RGBA) && give_rows(d, take, context);
}

/* Begins an output pass for a preview. The first scan is shown while it arrives, so that little work is left when
   it is complete. Later scans are shown once they are complete and the next one has begun; libjpeg would wait for
   that anyway. libjpeg cannot suspend in arithmetic coding, so there the first scan is treated like the others.

   Block smoothing takes as long as the rest of an output pass. It makes up for detail that has not come; once every
   component has some, it moves pixels away from the final picture (decision 0034). */
static bool begin_preview(sddj_decoder *d)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    if (d->stage != STAGE_SCANS) return false;
    if (d->is_showing && jpeg->output_scanline < jpeg->output_height) return true;
    if (!finish_preview(d)) return false;
    const bool shows_whole_scan = d->shown > 0 || jpeg->arith_code;
    if (shows_whole_scan && (d->scans < d->shown || d->scans == 0 || jpeg->input_scan_number <= d->scans)) return false;
    jpeg->do_block_smoothing = !d->has_detail;
    d->shown = d->scans > 0 ? d->scans : 1;
    d->is_showing = true;
    d->final_rows = sddj_final_rows(d);
    return jpeg_start_output(jpeg, d->shown);
}

__attribute__((noinline)) static bool preview(sddj_decoder *d, uint8_t *pixels, size_t stride)
{
    if (pixels == NULL || !begin_preview(d) || !write_rows(d, pixels, stride)) return false;
    finish_preview(d); /* if more bytes are needed, a later call finishes it */
    return true;
}

__attribute__((noinline)) static bool preview_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    if (!begin_preview(d) || !give_rows(d, take, context)) return false;
    finish_preview(d);
    return true;
}

/* ------------------------------------------------------------------ entry points, calling setjmp */

/* Runs `call` inside libjpeg and turns its result into a status. After an error the picture is over. */
#define GUARD(d, call) \
    do { \
        if ((d)->stage == STAGE_CLOSED) return (d)->status == SDDJ_OK ? SDDJ_CORRUPT : (d)->status; \
        if ((d)->must_begin_again) return (d)->status = (d)->is_last ? SDDJ_CORRUPT : SDDJ_NEEDS_MORE; \
        sddsys_work_begins(&(d)->clock); \
        if (setjmp((d)->escape) == 0) (d)->status = (call) ? SDDJ_OK : SDDJ_NEEDS_MORE; \
        sddsys_work_rests(&(d)->clock); \
        if ((d)->status != SDDJ_OK && (d)->status != SDDJ_NEEDS_MORE) sddj_end(d); \
        return (d)->status; \
    } while (0)

sddj_decoder *sddj_create(void)
{
    sddj_decoder *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->jpeg.client_data = d;
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    d->errors.output_message = print_nothing;
    sddj_make_source(d);
    return d;
}

void sddj_destroy(sddj_decoder *d)
{
    if (d == NULL) return;
    sddj_end(d);
    free(d);
}

void sddj_open(sddj_decoder *d, const sddj_rules *rules)
{
    sddj_end(d);
    d->rules = *rules;
    d->clock = sddsys_work_clock_make(rules->max_microseconds, rules->microseconds_per_mib);
    d->bytes = NULL;
    d->source.next_input_byte = NULL;
    d->source.bytes_in_buffer = 0;
    d->size = d->used = d->to_skip = d->gap_count = d->next_gap = 0;
    d->is_last = d->source_ended = d->is_complete = d->is_showing = d->bytes_skipped = d->is_partial = false;
    d->is_in_scan = d->must_begin_again = d->has_detail = false;
    d->searched = 0;
    d->shown = d->scans = 0;
    d->rows = d->good_rows = d->final_rows = 0;
    d->gaps = NULL;
    d->array_count = 0;
    d->means_only = 0;
    d->coefficients = NULL;
    d->row_group = NULL;
    d->warnings = 0;
    d->message[0] = '\0';
    d->status = SDDJ_OK;
    need_all(d);
    d->stage = STAGE_HEADER;
    if (setjmp(d->escape) == 0) create(d);
    if (d->status != SDDJ_OK) sddj_end(d);
}

void sddj_give(sddj_decoder *d, const void *bytes, size_t size, bool is_last)
{
    if (d->is_last || size < d->size) return;
    size_t at = d->bytes == NULL ? 0 : (size_t)(d->source.next_input_byte - d->bytes);
    const size_t skipped = d->to_skip < size - at ? d->to_skip : size - at;
    at += skipped;
    d->to_skip -= skipped;
    sddsys_work_grows(&d->clock, size - d->size);
    d->bytes = bytes;
    d->size = size;
    d->is_last = is_last;
    sddj_show(d, at);
}

sddj_status sddj_read_header(sddj_decoder *d, sddj_header *header) { GUARD(d, read_header(d, header)); }

sddj_status sddj_scale(sddj_decoder *d, uint32_t eighths, uint32_t *width, uint32_t *height)
{
    if (setjmp(d->escape) == 0) {
        d->status = SDDJ_OK;
        if (d->stage == STAGE_READY) scale(d, eighths);
    }
    if (d->status != SDDJ_OK) sddj_end(d);
    *width = d->jpeg.output_width;
    *height = d->jpeg.output_height;
    return d->status;
}

sddj_status sddj_begin(sddj_decoder *d, sddj_layout layout) { GUARD(d, begin(d, layout)); }

sddj_status sddj_decode(sddj_decoder *d, void *pixels, size_t stride, sddj_layout layout)
{
    GUARD(d, decode(d, pixels, stride, layout));
}

sddj_status sddj_decode_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    GUARD(d, decode_rows(d, take, context));
}

sddj_status sddj_preview(sddj_decoder *d, void *pixels, size_t stride) { GUARD(d, preview(d, pixels, stride)); }

sddj_status sddj_preview_rows(sddj_decoder *d, sddj_take_row take, void *context)
{
    GUARD(d, preview_rows(d, take, context));
}

uint32_t sddj_rows(const sddj_decoder *d) { return d->rows; }

uint32_t sddj_good_rows(const sddj_decoder *d)
{
    return d->is_partial && !d->jpeg.buffered_image ? d->good_rows : d->rows;
}

uint32_t sddj_scans(const sddj_decoder *d) { return (uint32_t)d->scans; }

uint32_t sddj_final_preview_rows(const sddj_decoder *d) { return d->final_rows; }

bool sddj_is_ended(const sddj_decoder *d, const void *bytes, size_t size)
{
    return !d->is_complete || sddj_has_end(d, bytes, size);
}

bool sddj_is_partial(const sddj_decoder *d) { return d->is_partial; }

/* Needs no setjmp: libjpeg raises no errors while it frees memory. */
void sddj_end(sddj_decoder *d)
{
    if (d->stage == STAGE_CLOSED) return;
    d->stage = STAGE_CLOSED;
    jpeg_destroy_decompress(&d->jpeg);
    sddj_free_coefficients(d);
}

const char *sddj_message(const sddj_decoder *d) { return d->message; }

int32_t sddj_warning_count(const sddj_decoder *d) { return d->warnings; }

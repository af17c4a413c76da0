/*
 * jpeg_source.c - libjpeg's data source: the bytes in memory so far, without the scans that are left out.
 */
#include "jpeg_decoder.h"

static void do_nothing(j_decompress_ptr jpeg) { (void)jpeg; }

/* Shows libjpeg the bytes from `at` up to the next gap, or up to the end of the input so far. */
void sddj_show(sddj_decoder *d, size_t at)
{
    const size_t end = d->next_gap < d->gap_count ? d->gaps[d->next_gap].start : d->size;
    d->source.next_input_byte = d->bytes + at;
    d->source.bytes_in_buffer = end - at;
}

/* libjpeg does not report truncated arithmetic coding: a scan may end before its last bit, and the decoder then
   reads zeros. So the first missing byte counts as the loss. */
static void lose_end_of_scan(sddj_decoder *d)
{
    if (!d->is_in_scan || !d->jpeg.arith_code) return;
    if (!d->rules.is_lenient || d->stage != STAGE_SCANS) sddj_leave(d, SDDJ_TRUNCATED, "the data ends within a scan");
    d->is_partial = true;
}

/* Called by libjpeg when it has used all bytes it was shown. FALSE makes libjpeg suspend and go back to where it
   can resume. Past the end of the body an end-of-image marker lets libjpeg finish in order; it warns about the
   data that it misses, and source_ended tells why. */
static boolean show_more(j_decompress_ptr jpeg)
{
    static const JOCTET end_of_image[2] = { 0xff, JPEG_EOI };
    sddj_decoder *d = jpeg->client_data;
    if (!d->is_last) return FALSE;
    while (!d->source_ended && d->next_gap < d->gap_count) {
        sddj_show(d, d->gaps[d->next_gap++].end);
        if (d->source.bytes_in_buffer > 0) return TRUE;
    }
    d->source_ended = true;
    lose_end_of_scan(d);
    d->source.next_input_byte = end_of_image;
    d->source.bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void skip(j_decompress_ptr jpeg, long count)
{
    sddj_decoder *d = jpeg->client_data;
    if (count <= 0) return;
    const size_t step = (size_t)count < d->source.bytes_in_buffer ? (size_t)count : d->source.bytes_in_buffer;
    d->source.next_input_byte += step;
    d->source.bytes_in_buffer -= step;
    if (!d->is_last) d->to_skip += (size_t)count - step;
}

void sddj_make_source(sddj_decoder *d)
{
    d->source.init_source = do_nothing;
    d->source.fill_input_buffer = show_more;
    d->source.skip_input_data = skip;
    d->source.resync_to_restart = jpeg_resync_to_restart;
    d->source.term_source = do_nothing;
}

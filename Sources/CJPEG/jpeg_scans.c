/*
 * jpeg_scans.c - finds where scans end, and which scans of a progressive picture its output size needs (ITU-T T.81,
 * annexes A, B and G).
 *
 * libjpeg makes a smaller picture from a part of the coefficients: at one eighth, from the first one of each block.
 * Scans that carry none of those need not be read.
 */
#include "jpeg_decoder.h"

#include <string.h>

/* T.81, figure A.6: position of the k-th coefficient of a scan in its block, by rows of 8. */
/* clang-format off */
static const uint8_t natural_order[DCTSIZE2] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63 };
/* clang-format on */

/* ------------------------------------------------------------------------------ coefficients */

static int block_size(const jpeg_component_info *component)
{
#if JPEG_LIB_VERSION >= 70
    return component->DCT_h_scaled_size > component->DCT_v_scaled_size ? component->DCT_h_scaled_size
                                                                       : component->DCT_v_scaled_size;
#else
    return component->DCT_scaled_size;
#endif
}

/* libjpeg makes a block with a side of 1, 3, 5, 6 or 7 pixels from as many rows and columns of coefficients; its
   transforms for 2 and 4 use more of them. */
static uint64_t needed_for(int side)
{
    if (side == 2 || side == 4 || side >= DCTSIZE) return UINT64_MAX;
    uint64_t needed = 0;
    for (int k = 0; k < DCTSIZE2; k++) {
        const bool is_used = natural_order[k] / DCTSIZE < side && natural_order[k] % DCTSIZE < side;
        needed |= (uint64_t)is_used << k;
    }
    return needed;
}

void sddj_find_needed(sddj_decoder *d)
{
    for (int i = 0; i < d->jpeg.num_components; i++) d->needed[i] = needed_for(block_size(&d->jpeg.comp_info[i]));
}

bool sddj_lacks_needed(const sddj_decoder *d, int component)
{
    if (!d->jpeg.progressive_mode) return false;
    for (int k = 0; k < DCTSIZE2; k++) {
        if ((d->needed[component] >> k & 1) != 0 && d->jpeg.coef_bits[component][k] != 0) return true;
    }
    return false;
}

bool sddj_has_needed(const sddj_decoder *d)
{
    for (int i = 0; i < d->jpeg.num_components; i++) {
        /* libjpeg sets the table when the component's first scan begins. */
        if (d->jpeg.comp_info[i].quant_table == NULL || sddj_lacks_needed(d, i)) return false;
    }
    return true;
}

bool sddj_has_detail(const sddj_decoder *d)
{
    for (int i = 0; d->jpeg.progressive_mode && i < d->jpeg.num_components; i++) {
        if (d->jpeg.coef_bits[i][1] < 0) return false;
    }
    return true;
}

/* libjpeg accepts a picture with several scans although some are missing. A component without any scan is always a
   loss. Bits that never came may be the encoder's choice; but where bytes were skipped or the end is missing, a
   scan was lost. */
void sddj_check_scans(sddj_decoder *d)
{
    const bool in_doubt = d->source_ended || d->bytes_skipped;
    for (int component = 0; component < d->jpeg.num_components; component++) {
        const bool came = d->jpeg.comp_info[component].quant_table != NULL;
        if (came && !(in_doubt && sddj_lacks_needed(d, component))) continue;
        if (!d->rules.is_lenient) {
            sddj_leave(d, d->source_ended ? SDDJ_TRUNCATED : SDDJ_CORRUPT, "a scan is missing");
        }
        d->is_partial = true;
    }
}

/* ------------------------------------------------------------------------------------- scans */

enum { MOST_SCANS = 500 };

struct scan {
    sddj_gap place;      /* from the scan's SOS marker to the marker after its data */
    uint32_t components; /* one bit per component */
    uint64_t band;
    bool refines;
};

/* Returns the end of the entropy-coded data that continues at `at`: the next marker, or `size`. */
static size_t end_of_data(const uint8_t *bytes, size_t size, size_t at)
{
    while (at < size) {
        const uint8_t *found = memchr(bytes + at, 0xff, size - at);
        if (found == NULL) break;
        at = (size_t)(found - bytes);
        if (size - at < 2) break;
        const uint8_t next = bytes[at + 1];
        if (next != 0 && next != 0xff && (next < 0xd0 || next > 0xd7)) return at;
        at += next == 0xff ? 1 : 2;
    }
    return size;
}

void sddj_scan_begins(sddj_decoder *d)
{
    d->is_in_scan = true;
    if (!d->source_ended) d->searched = (size_t)(d->source.next_input_byte - d->bytes);
}

bool sddj_may_consume(sddj_decoder *d)
{
    if (!d->jpeg.arith_code || !d->is_in_scan || d->is_last) return true;
    d->searched = end_of_data(d->bytes, d->size, d->searched);
    if (d->searched < d->size) return true;
    /* If the last byte is FF, the next search begins there, since its second byte has not arrived. */
    if (d->searched > 0 && d->bytes[d->searched - 1] == 0xff) d->searched--;
    return false;
}

/* In a sequential picture each component has one scan. Once the last of these scans has begun, the rows of blocks
   that it has delivered do not change any more. */
uint32_t sddj_final_rows(const sddj_decoder *d)
{
    const struct jpeg_decompress_struct *jpeg = &d->jpeg;
    if (jpeg->progressive_mode) return jpeg->output_height;
    for (int i = 0; i < jpeg->num_components; i++) {
        if (jpeg->comp_info[i].quant_table == NULL) return 0;
    }
#if JPEG_LIB_VERSION >= 70
    const uint64_t block = (uint64_t)jpeg->min_DCT_v_scaled_size;
#else
    const uint64_t block = (uint64_t)jpeg->min_DCT_scaled_size;
#endif
    const uint64_t highest = (uint64_t)jpeg->max_v_samp_factor;
    const uint64_t rows = jpeg->input_iMCU_row * block * highest;
    if (rows >= jpeg->output_height) return jpeg->output_height;
    /* Upsampling a component to several rows also uses the row below. */
    return rows < highest ? 0 : (uint32_t)(rows - highest);
}

static uint64_t band_of(unsigned first, unsigned last) { return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first); }

/* Parses a scan header (B.2.3). Returns false if it is invalid. */
static bool read_scan(const struct sddj_frame *frame, const uint8_t *segment, size_t length, struct scan *scan)
{
    const unsigned count = length > 2 ? segment[2] : 0;
    if (count < 1 || count > MAX_COMPS_IN_SCAN || length != 6 + 2 * (size_t)count) return false;
    scan->components = 0;
    for (unsigned i = 0; i < count; i++) {
        int found = -1;
        for (int c = 0; c < frame->count; c++) {
            if (frame->ids[c] == segment[3 + 2 * i]) found = c;
        }
        if (found < 0) return false;
        scan->components |= 1u << found;
    }
    const uint8_t *rest = segment + 3 + 2 * count;
    if (rest[0] > rest[1] || rest[1] >= DCTSIZE2) return false;
    scan->band = band_of(rest[0], rest[1]);
    scan->refines = rest[2] >> 4 != 0;
    return true;
}

/* Finds the scans after `at`, where the data of another scan may still continue, up to the end marker. Returns
   their number, or -1 if this is not a regular sequence of scans. */
__attribute__((noinline)) static int find_scans(const struct sddj_frame *frame, const uint8_t *bytes, size_t size,
                                                size_t at, struct scan *scans)
{
    int count = 0;
    at = end_of_data(bytes, size, at);
    while (size - at >= 2) {
        const uint8_t code = bytes[at + 1];
        if (bytes[at] != 0xff) return -1;
        if (code == 0xff) {
            at++;
            continue;
        }
        if (code == JPEG_EOI) return count;
        if (size - at < 4) return -1;
        const bool is_coding = code == 0xc4 || code == 0xcc; /* DHT or DAC */
        const bool is_table = is_coding || code == 0xdb || code == 0xdd || (code >= 0xe0 && code <= 0xef) ||
                              code == 0xfe;
        const size_t length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if ((!is_table && code != 0xda) || length < 2 || size - at - 2 < length) return -1;
        const size_t start = at;
        at += 2 + length;
        if (is_table) continue;
        if (count == MOST_SCANS || !read_scan(frame, bytes + start + 2, length, &scans[count])) return -1;
        at = end_of_data(bytes, size, at);
        scans[count].place = (sddj_gap){ start, at };
        count++;
    }
    return -1;
}

bool sddj_has_end(const sddj_decoder *d, const uint8_t *bytes, size_t size)
{
    struct scan scans[MOST_SCANS];
    const int count = find_scans(&d->frame, bytes, size, d->used < size ? d->used : size, scans);
    return count >= 0 && d->scans + count <= MOST_SCANS + 1;
}

/* Reads the header of a progressive frame (B.2.2). Returns false if it is invalid. */
static bool read_frame(const uint8_t *segment, size_t length, struct sddj_frame *frame)
{
    frame->count = length > 7 ? segment[7] : 0;
    if (frame->count < 1 || frame->count > MAX_COMPONENTS || length != 8 + 3 * (size_t)frame->count) return false;
    for (int i = 0; i < frame->count; i++) frame->ids[i] = segment[8 + 3 * i];
    return true;
}

__attribute__((cold)) bool sddj_is_regular(const void *body, size_t size)
{
    const uint8_t *bytes = body;
    struct sddj_frame frame = { .count = 0 };
    size_t at = 2; /* after the marker that begins the picture */
    while (at < size && size - at >= 4) {
        const uint8_t code = bytes[at + 1];
        const size_t length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        if (bytes[at] != 0xff) return false;
        if (code == 0xff) {
            at++;
            continue;
        }
        if (code < 0xc0 || (code >= 0xd0 && code <= 0xd9) || length < 2 || size - at - 2 < length) return false;
        const uint8_t *segment = bytes + at + 2;
        at += 2 + length;
        if (code == 0xc2 || code == 0xca) { /* SOF2 and SOF10 */
            if (frame.count > 0 || !read_frame(segment, length, &frame)) return false;
        } else if (code == 0xda) {
            struct scan scans[MOST_SCANS];
            return frame.count > 0 && find_scans(&frame, bytes, size, at, scans) >= 0;
        }
    }
    return false;
}

static bool is_wanted(const struct scan *scan, const uint64_t *needed)
{
    for (int c = 0; c < MAX_COMPONENTS; c++) {
        if ((scan->components >> c & 1) != 0 && (scan->band & needed[c]) != 0) return true;
    }
    return false;
}

bool sddj_drop_scans(sddj_decoder *d)
{
    struct scan scans[MOST_SCANS];
    const int count = find_scans(&d->frame, d->bytes, d->size, (size_t)(d->source.next_input_byte - d->bytes), scans);
    if (count < 0) return false;
    if (count == 0) return true;
    /* A refining scan is coded relative to all earlier scans of its band, so those are needed, too. */
    uint64_t needed[MAX_COMPONENTS];
    memcpy(needed, d->needed, sizeof needed);
    for (bool grew = true; grew;) {
        grew = false;
        for (int i = 0; i < count; i++) {
            if (!scans[i].refines || !is_wanted(&scans[i], needed)) continue;
            for (int c = 0; c < MAX_COMPONENTS; c++) {
                if ((scans[i].components >> c & 1) == 0 || (scans[i].band & ~needed[c]) == 0) continue;
                needed[c] |= scans[i].band;
                grew = true;
            }
        }
    }
    for (int c = 0; c < d->frame.count; c++) {
        if (needed[c] == 1) d->means_only |= 1u << c;
    }
    d->gaps = d->jpeg.mem->alloc_small((j_common_ptr)&d->jpeg, JPOOL_IMAGE, sizeof *d->gaps * (size_t)count);
    for (int i = 0; i < count; i++) {
        if (!is_wanted(&scans[i], needed)) d->gaps[d->gap_count++] = scans[i].place;
    }
    return true;
}

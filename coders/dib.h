/*
 * dib.h - device-independent bitmaps, which BMP and ICO files have: a header, perhaps masks and a palette, and rows of
 * pixels, the lowest first. Used by bmp.c and ico.c, without any library.
 *
 * What the headers mean is Microsoft's documentation of BITMAPINFOHEADER and its successors, and IBM's of the bitmaps of
 * OS/2. Where files differ from it, a picture is what browsers show.
 */
#ifndef DIB_H
#define DIB_H

#include "coder.h"

enum dib_compression {
    DIB_RGB = 0,
    DIB_RLE8 = 1,
    DIB_RLE4 = 2,
    DIB_BITFIELDS = 3,
    DIB_ALPHA_BITFIELDS = 6,
    DIB_RLE24 = 24 /* 4 in the files of OS/2, which is another compression in those of Windows */
};

/* The bits of a pixel that belong to one channel. */
struct dib_channel {
    uint32_t mask;
    int shift, count; /* count 0: the channel is missing */
};

struct dib {
    const unsigned char *bytes; /* the whole file */
    size_t size;
    size_t rows; /* position of the pixels */
    int32_t width, height;
    int is_top_down, is_icon;
    int bits; /* of a pixel */
    enum dib_compression compression;
    struct dib_channel channels[4]; /* red, green, blue, alpha; for pixels of 16 bits and more */
    unsigned char palette[256][4];  /* as pixels; black where the file has none */
    const unsigned char *profile;   /* of the colours; NULL: there is none */
    size_t profile_size;
    int is_srgb; /* the header says so */
};

static inline uint32_t dib_16(const unsigned char *bytes) { return bytes[0] | (uint32_t)bytes[1] << 8; }
static inline uint32_t dib_32(const unsigned char *bytes) { return dib_16(bytes) | dib_16(bytes + 2) << 16; }

/* -------------------------------------------------------------------------------------- header */

static inline int dib_is_header(uint32_t length) { return length == 12 || (length >= 16 && length <= 124); }

/* Whether a header is one of OS/2: shorter ones than the 64 bytes are allowed, but for those of Windows. */
static inline int dib_is_of_os2(uint32_t length)
{
    return length <= 64 && length != 40 && length != 52 && length != 56;
}

static inline sdd_status dib_set_channel(struct dib *dib, int number, uint32_t mask)
{
    struct dib_channel *channel = &dib->channels[number];
    if (dib->bits < 32) mask &= ((uint32_t)1 << dib->bits) - 1;
    channel->mask = mask;
    channel->shift = channel->count = 0;
    if (mask == 0) return SDD_OK;
    while ((mask >> channel->shift & 1) == 0) channel->shift++;
    for (uint32_t rest = mask >> channel->shift; rest != 0; rest >>= 1, channel->count++)
        if ((rest & 1) == 0) return SDD_DETAIL_IMAGE_CORRUPT; /* the bits of a channel are beside each other */
    for (int other = 0; other < number; other++)
        if (dib->channels[other].mask & mask) return SDD_DETAIL_IMAGE_CORRUPT;
    return SDD_OK;
}

/* Sets the channels of pixels of 16 bits and more. The masks are in the header, or behind one of 40 bytes, which is the
   same place. */
static inline sdd_status dib_set_channels(struct dib *dib, size_t header, uint32_t length)
{
    static const uint32_t of_16[3] = { 0x7c00, 0x03e0, 0x001f }, of_others[3] = { 0xff0000, 0x00ff00, 0x0000ff };
    const uint32_t *usual = dib->bits == 16 ? of_16 : of_others;
    const unsigned char *masks = dib->bytes + header + 40;
    int has_masks = dib->compression == DIB_BITFIELDS || dib->compression == DIB_ALPHA_BITFIELDS;
    int has_alpha = dib->compression == DIB_ALPHA_BITFIELDS || (has_masks && length >= 56) ||
                    (length >= 108 && dib->bits == 32);
    uint32_t alpha = 0;
    if (has_masks && dib->size - header < (has_alpha ? 56 : 52)) return SDD_ERROR_INCOMPLETE;
    for (int i = 0; i < 3; i++) {
        sdd_status status = dib_set_channel(dib, i, has_masks ? dib_32(masks + i * 4) : usual[i]);
        if (status != SDD_OK) return status;
    }
    if (has_alpha)
        alpha = dib_32(masks + 12);
    else if (dib->is_icon && dib->bits == 32)
        alpha = 0xff000000;
    return dib_set_channel(dib, 3, alpha);
}

/* Reads the palette, as far as the file has one, and returns the position behind it. */
static inline size_t dib_read_palette(struct dib *dib, size_t at, size_t entry, uint32_t count)
{
    for (int i = 0; i < 256; i++) dib->palette[i][3] = 255;
    for (uint32_t i = 0; i < count; i++, at += entry) {
        if (dib->size - at < entry) return dib->size;
        if (dib->rows != 0 && dib->rows < at + entry) return dib->rows;
        for (int c = 0; c < 3; c++) dib->palette[i][c] = dib->bytes[at + (size_t)(2 - c)];
    }
    return at;
}

static inline sdd_status dib_set_format(struct dib *dib, uint32_t compression, uint32_t length)
{
    int is_of_os2 = dib_is_of_os2(length) || (compression == 4 && dib->bits == 24) ||
                    (compression == 3 && dib->bits == 1);
    int fits;
    switch (compression) {
    case DIB_RGB:
        fits = dib->bits == 1 || dib->bits == 2 || dib->bits == 4 || dib->bits == 8 || dib->bits == 16 ||
               dib->bits == 24 || dib->bits == 32;
        break;
    case DIB_RLE8: fits = dib->bits == 8; break;
    case DIB_RLE4: fits = dib->bits == 4; break;
    case 4:
        if (!is_of_os2) return SDD_DETAIL_IMAGE_UNSUPPORTED; /* a JPEG, for printers */
        compression = DIB_RLE24;
        fits = dib->bits == 24;
        break;
    case DIB_BITFIELDS:
        if (is_of_os2) return SDD_DETAIL_IMAGE_UNSUPPORTED; /* a fax, by Huffman's codes */
        fits = dib->bits == 16 || dib->bits == 32;
        break;
    case DIB_ALPHA_BITFIELDS: fits = dib->bits == 16 || dib->bits == 32; break;
    default: return SDD_DETAIL_IMAGE_UNSUPPORTED;
    }
    dib->compression = (enum dib_compression)compression;
    return fits ? SDD_OK : SDD_DETAIL_IMAGE_CORRUPT;
}

/* Reads the kind of colours, bV4CSType, which headers of 108 bytes and more have: sRGB by its name or as the colours of
   Windows, or a profile, whose place counts from the header on (PROFILE_EMBEDDED, 124 bytes). One that is not all there
   is none. As in Chromium, endpoints and gammas (LCS_CALIBRATED_RGB) say nothing, nor does the path of a profile
   (PROFILE_LINKED). */
static inline void dib_read_colours(struct dib *dib, size_t at, const unsigned char *header, uint32_t length)
{
    uint32_t kind = length >= 108 ? dib_32(header + 56) : 0;
    size_t place = dib_32(header + 112), size = dib_32(header + 116), most = dib->size - at;
    dib->is_srgb = kind == 0x73524742 || kind == 0x57696e20;
    if (kind != 0x4d424544 || place == 0 || place > most || size > most - place) return;
    dib->profile = dib->bytes + at + place;
    dib->profile_size = size;
}

/*
 * Reads the header at a position, the masks and the palette. `bytes`, `size` and `is_icon` are set. `rows` is the
 * position of the pixels; 0: they follow what was read.
 */
static inline sdd_status dib_read_header(struct dib *dib, size_t at, int64_t max_pixels)
{
    unsigned char header[124] = { 0 }; /* what a short header leaves out is 0 */
    int64_t width, height;
    uint32_t length, used;
    size_t behind;
    sdd_status status;
    if (dib->size < at || dib->size - at < 4) return SDD_ERROR_INCOMPLETE;
    length = dib_32(dib->bytes + at);
    if (!dib_is_header(length)) return SDD_DETAIL_IMAGE_CORRUPT;
    if (dib->size - at < length) return SDD_ERROR_INCOMPLETE;
    memcpy(header, dib->bytes + at, length);
    if (length == 12) {
        width = dib_16(header + 4), height = dib_16(header + 6);
        dib->bits = (int)dib_16(header + 10);
    } else {
        width = (int32_t)dib_32(header + 4), height = (int32_t)dib_32(header + 8);
        dib->bits = (int)dib_16(header + 14);
    }
    dib->is_top_down = height < 0;
    if (height < 0) height = -height;
    if (dib->is_icon) height /= 2; /* the mask lies behind the picture */
    status = check_size(width, height, max_pixels);
    if (status == SDD_OK) status = dib_set_format(dib, length == 12 ? DIB_RGB : dib_32(header + 16), length);
    if (status != SDD_OK) return status;
    dib->width = (int32_t)width, dib->height = (int32_t)height;
    dib_read_colours(dib, at, header, length);

    behind = at + length;
    if (dib->bits >= 16) {
        status = dib_set_channels(dib, at, length);
        if (status != SDD_OK) return status;
        if (length == 40 && dib->compression == DIB_BITFIELDS) behind += 12;
        if (length == 40 && dib->compression == DIB_ALPHA_BITFIELDS) behind += 16;
        if (behind > dib->size) return SDD_ERROR_INCOMPLETE;
    }
    /* A palette of pixels that need none is a proposal for screens with few colours. */
    used = dib_32(header + 32);
    if (dib->bits < 16) {
        if (used == 0 || used > (uint32_t)1 << dib->bits) used = (uint32_t)1 << dib->bits;
        behind = dib_read_palette(dib, behind, length == 12 ? 3 : 4, used);
    } else if (used > 0 && dib->rows == 0) {
        behind = used > (dib->size - behind) / 4 ? dib->size : behind + (size_t)used * 4;
    }
    if (dib->rows == 0) dib->rows = behind;
    return dib->rows < at + length ? SDD_DETAIL_IMAGE_CORRUPT : SDD_OK;
}

/* -------------------------------------------------------------------------------------- pixels */

/* The row of the canvas that a row of the file is. */
static inline unsigned char *dib_row(const struct dib *dib, unsigned char *canvas, int32_t y)
{
    size_t row = (size_t)(dib->is_top_down ? y : dib->height - 1 - y);
    return canvas + row * (size_t)dib->width * 4;
}

static inline unsigned char dib_value(const struct dib_channel *channel, uint32_t pixel)
{
    uint32_t value = (pixel & channel->mask) >> channel->shift;
    uint32_t most = channel->mask >> channel->shift;
    if (channel->count >= 8) return (unsigned char)(value >> (channel->count - 8));
    return channel->count == 0 ? 0 : (unsigned char)((value * 255 + most / 2) / most);
}

static inline void dib_fill_row(const struct dib *dib, const unsigned char *row, unsigned char *out)
{
    int has_alpha = dib->channels[3].count > 0;
    for (int32_t x = 0; x < dib->width; x++, out += 4) {
        uint32_t pixel;
        if (dib->bits < 16) {
            int64_t bit = (int64_t)x * dib->bits;
            unsigned index = (unsigned)row[bit / 8] >> (8 - dib->bits - bit % 8) & ((1u << dib->bits) - 1);
            memcpy(out, dib->palette[index], 4);
            continue;
        }
        if (dib->bits == 24) {
            out[0] = row[x * 3 + 2], out[1] = row[x * 3 + 1], out[2] = row[x * 3], out[3] = 255;
            continue;
        }
        pixel = dib->bits == 16 ? dib_16(row + (size_t)x * 2) : dib_32(row + (size_t)x * 4);
        for (int c = 0; c < 3; c++) out[c] = dib_value(&dib->channels[c], pixel);
        out[3] = has_alpha ? dib_value(&dib->channels[3], pixel) : 255;
    }
}

/* Bytes of a row, and of a row with what fills it up to a multiple of 4. */
static inline size_t dib_row_bytes(int32_t width, int bits) { return ((size_t)width * (size_t)bits + 7) / 8; }
static inline size_t dib_row_stride(int32_t width, int bits) { return (dib_row_bytes(width, bits) + 3) / 4 * 4; }

static inline sdd_status dib_fill_rows(const struct dib *dib, unsigned char *canvas)
{
    size_t bytes = dib_row_bytes(dib->width, dib->bits), stride = dib_row_stride(dib->width, dib->bits);
    size_t at = dib->rows;
    for (int32_t y = 0; y < dib->height; y++, at += stride) {
        if (dib->size < at || dib->size - at < bytes) return SDD_ERROR_INCOMPLETE;
        dib_fill_row(dib, dib->bytes + at, dib_row(dib, canvas, y));
    }
    return SDD_OK;
}

/* Draws a run of compressed pixels, as far as it lies in the row. `from`: the indexes or colours of a literal run, or
   the one that is repeated. */
static inline void dib_fill_run(const struct dib *dib, unsigned char *canvas, int32_t x, int32_t y, int count,
                                const unsigned char *from, int is_literal)
{
    unsigned char *out;
    if (y >= dib->height) return;
    if (count > dib->width - x) count = dib->width - x;
    out = dib_row(dib, canvas, y) + (size_t)x * 4;
    for (int i = 0; i < count; i++, out += 4) {
        int place = is_literal ? i : 0;
        if (dib->compression == DIB_RLE24) {
            const unsigned char *colour = from + place * 3;
            out[0] = colour[2], out[1] = colour[1], out[2] = colour[0], out[3] = 255;
        } else if (dib->compression == DIB_RLE4) {
            int pair = from[is_literal ? i / 2 : 0];
            memcpy(out, dib->palette[i % 2 ? pair & 15 : pair >> 4], 4);
        } else {
            memcpy(out, dib->palette[from[place]], 4);
        }
    }
}

/* Decompresses runs. Pixels that the file skips stay transparent. The end may be missing behind the last row. */
static inline sdd_status dib_fill_runs(const struct dib *dib, unsigned char *canvas)
{
    const unsigned char *at = dib->bytes + dib->rows, *end = dib->bytes + dib->size;
    size_t colour = dib->compression == DIB_RLE24 ? 3 : 1;
    int32_t x = 0, y = 0;
    for (;;) {
        int is_whole = y >= dib->height || (y == dib->height - 1 && x >= dib->width);
        int count, code;
        if (end - at < 2) return is_whole ? SDD_OK : SDD_ERROR_INCOMPLETE;
        count = at[0], code = at[1];
        if (count > 0) {
            if ((size_t)(end - at) < 1 + colour) return is_whole ? SDD_OK : SDD_ERROR_INCOMPLETE;
            dib_fill_run(dib, canvas, x, y, count, at + 1, 0);
            x = x > dib->width - count ? dib->width : x + count;
            at += 1 + colour;
            continue;
        }
        at += 2;
        if (code == 0) {
            x = 0;
            if (y < dib->height) y++;
        } else if (code == 1) {
            return SDD_OK;
        } else if (code == 2) {
            if (end - at < 2) return is_whole ? SDD_OK : SDD_ERROR_INCOMPLETE;
            x = x > dib->width - at[0] ? dib->width : x + at[0];
            y = y > dib->height - at[1] ? dib->height : y + at[1];
            at += 2;
        } else {
            size_t bytes = dib->compression == DIB_RLE4 ? (size_t)(code + 1) / 2 : (size_t)code * colour;
            if ((size_t)(end - at) < bytes) return is_whole ? SDD_OK : SDD_ERROR_INCOMPLETE;
            dib_fill_run(dib, canvas, x, y, code, at, 1);
            x = x > dib->width - code ? dib->width : x + code;
            at += bytes;
            if (bytes % 2 && at < end) at++; /* to a multiple of 2 */
        }
    }
}

/* Whether a pixel of an alpha channel is not 0. Writers that know of none leave zeros: then all are made opaque. */
static inline int dib_settle_alpha(const struct dib *dib, unsigned char *canvas)
{
    size_t pixels = (size_t)dib->width * (size_t)dib->height;
    for (size_t i = 0; i < pixels; i++)
        if (canvas[i * 4 + 3] != 0) return 1;
    for (size_t i = 0; i < pixels; i++) canvas[i * 4 + 3] = 255;
    return 0;
}

/* Fills the canvas, width times height pixels of red, green, blue and alpha that are 0, and says whether the alpha is
   the file's. */
static inline sdd_status dib_fill(const struct dib *dib, unsigned char *canvas, int *has_alpha)
{
    int has_runs = dib->compression == DIB_RLE8 || dib->compression == DIB_RLE4 || dib->compression == DIB_RLE24;
    sdd_status status = has_runs ? dib_fill_runs(dib, canvas) : dib_fill_rows(dib, canvas);
    *has_alpha = has_runs || (status == SDD_OK && dib->channels[3].count > 0 && dib_settle_alpha(dib, canvas));
    return status;
}

#endif

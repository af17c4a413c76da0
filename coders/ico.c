/*
 * ico: ICO and CUR, the icons and cursors of Windows: pages send them as favicons. The largest picture of a file is
 * shown, as in browsers; one that is scaled down is made from the smallest that is large enough, since each was drawn for
 * its size. Pictures are bitmaps with a mask, or PNGs, which libpng decodes. Package libsdd-coder-bmp.
 */
#include "dib.h"

#include <png.h>

struct entry {
    size_t at, end; /* as the directory says; the file may end before */
    int32_t width, height;
    int bits; /* of a pixel */
    int is_png;
};

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    int32_t wanted_side;
    struct entry largest, chosen;
    struct dib dib; /* of the entry that was read last, if it is a bitmap */
    unsigned char *canvas;
};

/* A directory begins with 0, the type, 1 or 2, and the number of its entries. Of the first entry, a byte is unused, and
   its picture lies behind the directory. */
static int32_t ico_can_decode(const void *given, size_t size, void *user_data)
{
    const unsigned char *bytes = given;
    (void)user_data;
    if ((size > 0 && bytes[0] != 0) || (size > 1 && bytes[1] != 0) || (size > 2 && bytes[2] != 1 && bytes[2] != 2) ||
        (size > 3 && bytes[3] != 0))
        return 0;
    if (size < 22) return -1;
    return dib_16(bytes + 4) > 0 && (bytes[9] == 0 || bytes[9] == 255) && dib_32(bytes + 14) > 0 &&
           dib_32(bytes + 18) >= 6 + 16 * dib_16(bytes + 4);
}

static sdd_status ico_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    decoder->wanted_side = task->wanted_side;
    *out = decoder;
    return SDD_OK;
}

/* ---- the directory */

enum { SHORTEST = 33 }; /* bytes of a PNG with its header */

static uint32_t number_of_png(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Reads what the picture of an entry says of itself. What the directory says of sizes is often wrong, and has one byte
   for a side. */
static sdd_status read_entry(struct decoder *decoder, uint32_t index, struct entry *entry)
{
    const struct body *body = &decoder->body;
    const unsigned char *directory = body->bytes + 6 + (size_t)index * 16;
    static const int channels[7] = { 1, 0, 3, 1, 2, 0, 4 };
    sdd_status status;
    entry->at = dib_32(directory + 12);
    entry->end = entry->at + dib_32(directory + 8);
    if (entry->at > body->size || body->size - entry->at < SHORTEST) return SDD_ERROR_INCOMPLETE;
    entry->is_png = memcmp(body->bytes + entry->at, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) == 0;
    if (entry->is_png) {
        const unsigned char *header = body->bytes + entry->at + 16;
        uint32_t width = number_of_png(header), height = number_of_png(header + 4);
        status = check_size(width, height, decoder->max_pixels);
        if (status != SDD_OK) return status;
        entry->width = (int32_t)width, entry->height = (int32_t)height;
        entry->bits = header[9] < 7 ? header[8] * channels[header[9]] : 0;
        return SDD_OK;
    }
    decoder->dib = (struct dib){ .bytes = body->bytes, .size = body->size, .is_icon = 1 };
    status = dib_read_header(&decoder->dib, entry->at, decoder->max_pixels);
    entry->width = decoder->dib.width, entry->height = decoder->dib.height, entry->bits = decoder->dib.bits;
    return status;
}

static int64_t area_of(const struct entry *entry) { return (int64_t)entry->width * entry->height; }

/* Whether a picture may stand for the largest where both sides of the result are at least `side`. */
static int is_enough(const struct entry *entry, const struct entry *largest, int32_t side)
{
    return entry->width >= side && entry->height >= side &&
           (int64_t)entry->width * largest->height == (int64_t)entry->height * largest->width;
}

/* Of equally large pictures, one with more bits is better. */
static int is_better(int64_t by, const struct entry *entry, const struct entry *best)
{
    return by > 0 || (by == 0 && entry->bits > best->bits);
}

/* Chooses the pictures. One that cannot be read is passed over, if another can; one that the file has not got is an
   error, since the file may have been cut. */
static sdd_status choose(struct decoder *decoder)
{
    const struct body *body = &decoder->body;
    struct entry entry, *largest = &decoder->largest, *chosen = &decoder->chosen;
    sdd_status status, first = SDD_DETAIL_IMAGE_CORRUPT;
    size_t count;
    if (chosen->width > 0) return SDD_OK; /* for the estimate */
    if (!body->is_whole || body->size < 6) return SDD_ERROR_INCOMPLETE;
    count = dib_16(body->bytes + 4);
    if (count > (body->size - 6) / 16) count = (body->size - 6) / 16;
    for (uint32_t i = 0; i < count; i++) {
        status = read_entry(decoder, i, &entry);
        if (status == SDD_ERROR_INCOMPLETE) return status;
        if (i == 0) first = status;
        if (status == SDD_OK && is_better(area_of(&entry) - area_of(largest), &entry, largest)) *largest = entry;
    }
    if (largest->width == 0) return body->size < 22 ? SDD_ERROR_INCOMPLETE : first;
    *chosen = *largest;
    for (uint32_t i = 0; i < count && decoder->wanted_side > 0; i++)
        if (read_entry(decoder, i, &entry) == SDD_OK && is_enough(&entry, largest, decoder->wanted_side) &&
            is_better(area_of(chosen) - area_of(&entry), &entry, chosen))
            *chosen = entry;
    return SDD_OK;
}

/* libpng takes less than half a megabyte beside a PNG's pixels, and 8 for the chunks that it unpacks. */
static sdd_status ico_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status = choose(decoder);
    (void)user_data;
    if (status != SDD_OK) return status;
    return fill_estimate(estimate, &decoder->body, decoder->largest.width, decoder->largest.height, 0,
                         (double)area_of(&decoder->chosen) * 4 + (decoder->chosen.is_png ? 1e6 : 4096));
}

/* ---- pictures */

struct png_bytes {
    const unsigned char *at, *end;
};

static void give_png_bytes(png_structp png, png_bytep out, size_t size)
{
    struct png_bytes *bytes = png_get_io_ptr(png);
    if (size > (size_t)(bytes->end - bytes->at)) png_error(png, "the end");
    memcpy(out, bytes->at, size);
    bytes->at += size;
}

static void on_png_error(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void on_png_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

/* Reads the colours as they are stored, 16 bits a channel rounded to 8. libpng's simplified interface would take those of
   16 bits for linear light, and apply gAMA. */
__attribute__((noinline)) static int read_png_rows(const struct decoder *decoder, png_structp png, png_infop info)
{
    const size_t row = (size_t)decoder->chosen.width * 4;
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* all but those that make pixels */
    png_read_info(png, info);
    if (png_get_image_width(png, info) != (png_uint_32)decoder->chosen.width ||
        png_get_image_height(png, info) != (png_uint_32)decoder->chosen.height)
        return 0;
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != row) return 0;
    for (; passes > 0; passes--)
        for (int32_t y = 0; y < decoder->chosen.height; y++) png_read_row(png, decoder->canvas + (size_t)y * row, NULL);
    return 1;
}

/* Returns 0 if libpng has left by longjmp. */
static int read_png(const struct decoder *decoder, png_structp png, png_infop info)
{
    if (setjmp(png_jmpbuf(png)) != 0) return 0;
    return read_png_rows(decoder, png, info);
}

static sdd_status decode_png(const struct decoder *decoder)
{
    const struct entry *entry = &decoder->chosen;
    struct png_bytes bytes;
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    png_structp png;
    png_infop info;
    if (entry->end > decoder->body.size || entry->end < entry->at) return SDD_ERROR_INCOMPLETE;
    bytes = (struct png_bytes){ decoder->body.bytes + entry->at, decoder->body.bytes + entry->end };
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, on_png_error, on_png_warning);
    info = png != NULL ? png_create_info_struct(png) : NULL;
    if (info != NULL) {
        png_set_read_fn(png, &bytes, give_png_bytes);
        status = read_png(decoder, png, info) ? SDD_OK : SDD_ERROR_BAD_IMAGE_DATA;
    }
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

/* A bitmap without an alpha channel has a mask of a bit for each pixel behind it: 1 is transparent. Some have none. */
static sdd_status decode_bitmap(struct decoder *decoder)
{
    struct dib *dib = &decoder->dib;
    size_t stride = dib_row_stride(decoder->chosen.width, 1), at;
    int has_alpha;
    sdd_status status;
    *dib = (struct dib){ .bytes = decoder->body.bytes, .size = decoder->body.size, .is_icon = 1 };
    status = dib_read_header(dib, decoder->chosen.at, decoder->max_pixels);
    if (status == SDD_OK) status = dib_fill(dib, decoder->canvas, &has_alpha);
    if (status != SDD_OK || has_alpha) return status;
    at = dib->rows + dib_row_stride(dib->width, dib->bits) * (size_t)dib->height;
    for (int32_t y = 0; y < dib->height; y++, at += stride) {
        unsigned char *row = dib_row(dib, decoder->canvas, y);
        if (at >= decoder->chosen.end) return SDD_OK;
        if (dib->size < at || dib->size - at < dib_row_bytes(dib->width, 1)) return SDD_ERROR_INCOMPLETE;
        for (int32_t x = 0; x < dib->width; x++)
            if (dib->bytes[at + (size_t)x / 8] >> (7 - x % 8) & 1) memset(row + (size_t)x * 4, 0, 4);
    }
    return SDD_OK;
}

static sdd_status ico_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status;
    (void)user_data;
    if (decoder->canvas != NULL) return SDD_ERROR_NOT_FOUND;
    status = choose(decoder);
    if (status != SDD_OK) return status;
    decoder->canvas = calloc((size_t)area_of(&decoder->chosen), 4);
    if (decoder->canvas == NULL) return SDD_ERROR_NO_RESOURCES;
    status = decoder->chosen.is_png ? decode_png(decoder) : decode_bitmap(decoder);
    if (status != SDD_OK) return status;
    fill_frame(frame, decoder->canvas, decoder->chosen.width, decoder->chosen.height);
    frame->picture_width = decoder->largest.width;
    frame->picture_height = decoder->largest.height;
    return SDD_OK;
}

static void ico_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    free(decoder->canvas);
    body_free(&decoder->body);
    free(decoder);
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "ico",
        .mime_type = "image/x-icon",
        .format = SDD_IMAGE_FORMAT_ICO,
        .can_decode = ico_can_decode,
        .open = ico_open,
        .feed = body_feed,
        .next = ico_next,
        .close = ico_close,
        .estimate = ico_estimate,
    };
    return &coder;
}

/*
 * gif: GIF (GIF89a, 1990), still and animated pictures, each frame composed onto the previous ones. It needs no library.
 * Package libsdd-coder-gif.
 *
 * Where files break the rules, it follows Chromium: a first frame that is larger than the screen makes the screen larger,
 * a colour that is in no table is black, and pixels too many are ignored.
 */
#include "gif_encode.h"

struct rectangle {
    int left, top, right, bottom; /* right and bottom are exclusive */
};

enum disposal { DISPOSAL_KEEP = 1, DISPOSAL_CLEAR = 2, DISPOSAL_PREVIOUS = 3 };

/* A frame as its blocks state it. */
struct gif_frame {
    int left, top, width, height;
    int is_interlaced, is_empty;
    const unsigned char *table; /* its own colours, at 3 bytes; NULL if it has none */
    int colours;
    size_t data; /* where its pixels begin, with the size of a literal; 0: the body ends before that */
    enum disposal disposal;
    int delay;       /* in hundredths of a second */
    int transparent; /* -1: none */
};

struct decoder {
    struct body body; /* first: body_feed() */
    size_t at;        /* the block that is read next */
    int64_t max_pixels;
    int keeps_rest; /* SDD_DAMAGE_KEEP_REST */
    int is_damaged; /* the blocks end too early, or there is none where one should be */
    int32_t width, height, frame_count, loop_count, next;
    const unsigned char *table; /* the colours of frames that have none of their own */
    int colours;
    uint32_t *canvas;   /* pixels as bytes: red, green, blue, alpha */
    uint32_t *previous; /* what a frame has covered that is to be removed again; NULL if none is */
    size_t covered;     /* pixels that `previous` needs at most */
    unsigned char *line;
    enum disposal disposal; /* disposal of the last frame, in this area: */
    struct rectangle drawn;
    struct lzw_reader lzw;
};

static int32_t gif_can_decode(const void *bytes, size_t size, void *user_data)
{
    int32_t is_first = begins_with(bytes, size, "GIF87a", 6);
    (void)user_data;
    return is_first != 0 ? is_first : begins_with(bytes, size, "GIF89a", 6);
}

static sdd_status gif_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    decoder->keeps_rest = keeps_rest(task);
    *out = decoder;
    return SDD_OK;
}

/* ---- blocks */

static int number(const unsigned char *bytes) { return bytes[0] | bytes[1] << 8; }

/* Returns the number of colours of a table from its flags. */
static int colours_of(unsigned char flags) { return flags & 0x80 ? 2 << (flags & 7) : 0; }

/* Returns the position after a block's parts; each begins with its length, and the last is empty. 0: the bytes end. */
static size_t behind_parts(const struct body *body, size_t at)
{
    while (at < body->size && body->bytes[at] != 0) at += 1 + (size_t)body->bytes[at];
    return at < body->size ? at + 1 : 0;
}

static void read_loops(struct decoder *decoder, size_t at)
{
    static const unsigned char netscape[] = "\xff\x0bNETSCAPE2.0\x03\x01", animexts[] = "\xff\x0b"
                                                                                        "ANIMEXTS1.0\x03\x01";
    const size_t length = sizeof netscape - 1;
    const struct body *body = &decoder->body;
    if (body->size - at < length + 2) return;
    if (memcmp(body->bytes + at, netscape, length) == 0 || memcmp(body->bytes + at, animexts, length) == 0) {
        int again = number(body->bytes + at + length);
        decoder->loop_count = again == 0 ? 0 : again + 1; /* GIF counts repetitions, libsdd counts runs */
    }
}

/* Reads a block with the settings of the next frame. Returns 0 if it is another block. */
static int read_control(const struct body *body, size_t at, struct gif_frame *frame)
{
    const unsigned char *block = body->bytes + at;
    int disposal;
    if (body->size - at < 7 || block[0] != 0xf9 || block[1] < 4) return 0;
    disposal = block[2] >> 2 & 7;
    /* Some writers use 4 for 3. */
    frame->disposal = disposal == 4 ? DISPOSAL_PREVIOUS : disposal < 4 ? (enum disposal)disposal : DISPOSAL_KEEP;
    frame->transparent = block[2] & 1 ? block[5] : -1;
    frame->delay = number(block + 3);
    return 1;
}

/* Reads what is in front of the pixels of a frame, from its separator on. Returns the position of the next block; 0: the
   bytes end. */
static size_t read_description(const struct body *body, size_t at, struct gif_frame *frame)
{
    const unsigned char *block = body->bytes + at;
    if (body->size - at < 10) return 0;
    frame->is_empty = number(block + 5) == 0 || number(block + 7) == 0;
    frame->left = number(block + 1);
    frame->top = number(block + 3);
    frame->width = number(block + 5);
    frame->height = number(block + 7);
    frame->is_interlaced = (block[9] & 0x40) != 0;
    frame->colours = colours_of(block[9]);
    frame->table = frame->colours > 0 ? block + 10 : NULL;
    at += 10 + 3 * (size_t)frame->colours;
    if (at >= body->size) return 0;
    frame->data = at;
    return behind_parts(body, at + 1);
}

/* Reads the blocks up to the end of the next frame, and none of its pixels. Returns SDD_OK; SDD_ERROR_NOT_FOUND after
   the last frame; SDD_ERROR_INCOMPLETE: the body ends before the frame does; SDD_ERROR_BAD_IMAGE_DATA: no block begins
   where one should. */
static sdd_status read_blocks(struct decoder *decoder, struct gif_frame *frame)
{
    static const struct gif_frame empty = { .transparent = -1, .disposal = DISPOSAL_KEEP };
    const struct body *body = &decoder->body;
    int has_begun = 0; /* whether the settings of a frame have been read */
    *frame = empty;
    /* Some writers leave out the last byte. */
    while (decoder->at < body->size && body->bytes[decoder->at] != ';') {
        size_t at = decoder->at;
        int is_frame = body->bytes[at] == ',';
        if (!is_frame && body->bytes[at] != '!') return SDD_ERROR_BAD_IMAGE_DATA;
        if (is_frame) {
            at = read_description(body, at, frame);
        } else {
            read_loops(decoder, at + 1);
            has_begun |= read_control(body, at + 1, frame);
            at = behind_parts(body, at + 2);
        }
        /* Nothing is lost of a frame without pixels. */
        if (at == 0 && frame->is_empty) at = body->size;
        if (at == 0) return SDD_ERROR_INCOMPLETE;
        decoder->at = at;
        if (is_frame) return SDD_OK;
    }
    return has_begun && decoder->at >= body->size ? SDD_ERROR_INCOMPLETE : SDD_ERROR_NOT_FOUND;
}

static int smaller(int one, int other) { return one < other ? one : other; }

/* Returns the part of a frame that lies on the canvas. */
static struct rectangle area_of(const struct decoder *decoder, const struct gif_frame *frame)
{
    struct rectangle area;
    area.left = smaller(frame->left, decoder->width);
    area.top = smaller(frame->top, decoder->height);
    area.right = smaller(frame->left + frame->width, decoder->width);
    area.bottom = smaller(frame->top + frame->height, decoder->height);
    return area;
}

static size_t pixels_of(const struct rectangle *area)
{
    return (size_t)(area->right - area->left) * (size_t)(area->bottom - area->top);
}

/* The first frame may be larger than the screen. */
static sdd_status choose_size(struct decoder *decoder, const struct gif_frame *first)
{
    int right = first->left + first->width, bottom = first->top + first->height;
    decoder->width = number(decoder->body.bytes + 6);
    decoder->height = number(decoder->body.bytes + 8);
    if (decoder->width < right) decoder->width = right;
    if (decoder->height < bottom) decoder->height = bottom;
    return check_size(decoder->width, decoder->height, decoder->max_pixels);
}

/* Counts the frames, whose number a GIF does not state. Of a cut body that is to be kept, the frames that are whole
   count, or else the first. */
static sdd_status count_frames(struct decoder *decoder)
{
    struct gif_frame frame;
    sdd_status status, size_status;
    size_t begin = decoder->at;
    while ((status = read_blocks(decoder, &frame)) == SDD_OK || (status == SDD_ERROR_INCOMPLETE && frame.data != 0)) {
        struct rectangle area;
        if (status != SDD_OK && (!decoder->keeps_rest || decoder->frame_count > 0)) break;
        size_status = decoder->frame_count == 0 ? choose_size(decoder, &frame) : SDD_OK;
        if (size_status != SDD_OK) return size_status;
        area = area_of(decoder, &frame);
        if (frame.disposal == DISPOSAL_PREVIOUS && pixels_of(&area) > decoder->covered)
            decoder->covered = pixels_of(&area);
        if (decoder->frame_count < INT32_MAX) decoder->frame_count++;
        if (status != SDD_OK) break;
    }
    decoder->at = begin;
    decoder->is_damaged = status != SDD_ERROR_NOT_FOUND;
    if (decoder->is_damaged && !decoder->keeps_rest) return status;
    return decoder->frame_count > 0 ? SDD_OK : SDD_ERROR_INCOMPLETE;
}

/* Reads the size and the number of frames. */
static sdd_status begin(struct decoder *decoder)
{
    const struct body *body = &decoder->body;
    if (body->size < 13) return SDD_ERROR_INCOMPLETE;
    decoder->colours = colours_of(body->bytes[10]);
    decoder->table = body->bytes + 13;
    decoder->at = 13 + 3 * (size_t)decoder->colours;
    decoder->loop_count = 1;
    if (decoder->at > body->size) return SDD_ERROR_INCOMPLETE;
    return count_frames(decoder);
}

static sdd_status gif_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    status = begin(decoder);
    if (status != SDD_OK) return status;
    return fill_estimate(estimate, &decoder->body, decoder->width, decoder->height, 4,
                         (double)decoder->covered * 4 + 1e6);
}

static sdd_status take_memory(struct decoder *decoder)
{
    size_t pixels = (size_t)decoder->width * (size_t)decoder->height;
    decoder->canvas = calloc(pixels, sizeof *decoder->canvas); /* transparent */
    decoder->line = malloc(65536);
    if (decoder->covered > 0) decoder->previous = malloc(decoder->covered * sizeof *decoder->previous);
    return decoder->canvas == NULL || decoder->line == NULL || (decoder->covered > 0 && decoder->previous == NULL)
               ? SDD_ERROR_NO_RESOURCES
               : SDD_OK;
}

/* ---- composing frames */

/* Copies the pixels of the last frame's area to `previous`, or back. */
static void copy_area(struct decoder *decoder, int is_back)
{
    const struct rectangle *drawn = &decoder->drawn;
    size_t width = (size_t)(drawn->right - drawn->left);
    for (int y = drawn->top; y < drawn->bottom && width > 0; y++) {
        uint32_t *row = decoder->canvas + (size_t)y * (size_t)decoder->width + drawn->left;
        uint32_t *kept = decoder->previous + (size_t)(y - drawn->top) * width;
        memcpy(is_back ? row : kept, is_back ? kept : row, width * sizeof *row);
    }
}

/* Disposes of the last frame before the next is drawn. "Background" means transparent, as in browsers. */
static void dispose(struct decoder *decoder)
{
    if (decoder->disposal == DISPOSAL_PREVIOUS) {
        copy_area(decoder, 1);
    } else if (decoder->disposal == DISPOSAL_CLEAR) {
        for (int y = decoder->drawn.top; y < decoder->drawn.bottom; y++)
            for (int x = decoder->drawn.left; x < decoder->drawn.right; x++)
                decoder->canvas[(size_t)y * (size_t)decoder->width + (size_t)x] = 0;
    }
    decoder->disposal = DISPOSAL_KEEP;
}

/* The colours of a frame as pixels. A transparent pixel leaves the canvas unchanged. */
struct palette {
    uint32_t pixels[256];
    int transparent;
};

static void fill_palette(struct palette *palette, const struct decoder *decoder, const struct gif_frame *frame)
{
    const unsigned char *table = frame->table != NULL ? frame->table : decoder->table;
    int colours = frame->table != NULL ? frame->colours : decoder->colours;
    palette->transparent = frame->transparent;
    for (int i = 0; i < 256; i++) {
        unsigned char pixel[4] = { 0, 0, 0, 255 };
        if (i < colours) memcpy(pixel, table + 3 * i, 3);
        memcpy(&palette->pixels[i], pixel, sizeof pixel);
    }
}

/* Draws the first pixels of a line of the frame, as far as they lie on the canvas. */
static void draw_line(struct decoder *decoder, const struct palette *palette, int y, int count)
{
    uint32_t *target;
    if (y >= decoder->height) return;
    target = decoder->canvas + (size_t)y * (size_t)decoder->width + decoder->drawn.left;
    count = smaller(count, decoder->drawn.right - decoder->drawn.left);
    for (int x = 0; x < count; x++)
        if (decoder->line[x] != palette->transparent) target[x] = palette->pixels[decoder->line[x]];
}

/* The order of the rows. */
struct pass {
    int first, step;
};
static const struct pass interlaced[] = { { 0, 8 }, { 4, 8 }, { 2, 4 }, { 1, 2 } }, plain[] = { { 0, 1 } };

/* Draws the pixels of a frame. `rows` becomes the number of rows from the frame's top that are there. */
static sdd_status draw_pixels(struct decoder *decoder, const struct gif_frame *frame, int *rows)
{
    struct palette palette;
    const struct pass *passes = frame->is_interlaced ? interlaced : plain;
    int count = frame->is_interlaced ? 4 : 1;
    *rows = 0;
    if (frame->data == 0) return SDD_ERROR_INCOMPLETE;
    if (lzw_begin(&decoder->lzw, decoder->body.bytes, decoder->body.size, frame->data) != 0)
        return SDD_ERROR_BAD_IMAGE_DATA;
    fill_palette(&palette, decoder, frame);
    for (int pass = 0; pass < count; pass++) {
        for (int y = passes[pass].first; y < frame->height; y += passes[pass].step) {
            int got = lzw_read(&decoder->lzw, decoder->line, frame->width);
            draw_line(decoder, &palette, frame->top + y, got);
            if (got < frame->width) {
                *rows = pass == count - 1 ? y : smaller(y, 1);
                return decoder->lzw.is_bad ? SDD_ERROR_BAD_IMAGE_DATA : SDD_ERROR_INCOMPLETE;
            }
        }
    }
    *rows = frame->height;
    return SDD_OK;
}

static sdd_status draw(struct decoder *decoder, const struct gif_frame *frame, int *rows)
{
    *rows = frame->height;
    /* A frame may be larger than the picture, and all of it has to be decompressed. */
    if ((int64_t)frame->width * frame->height > decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    decoder->drawn = area_of(decoder, frame);
    decoder->disposal = frame->disposal;
    if (frame->disposal == DISPOSAL_PREVIOUS) copy_area(decoder, 0);
    return frame->is_empty ? SDD_OK : draw_pixels(decoder, frame, rows);
}

/* ---- frames */

/* Whether what there is of a damaged frame is shown. `rows`, of the frame, become those of the picture. */
static int is_kept(const struct decoder *decoder, const struct gif_frame *frame, sdd_status status, int *rows)
{
    int is_damage = status == SDD_ERROR_INCOMPLETE || status == SDD_ERROR_BAD_IMAGE_DATA;
    if (!decoder->keeps_rest || !is_damage || (*rows == 0 && decoder->next == 0)) return 0;
    *rows = smaller(frame->top + *rows, decoder->height);
    return 1;
}

static sdd_status gif_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    struct gif_frame read;
    sdd_status status = SDD_OK;
    int rows = 0;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (decoder->frame_count == 0) status = begin(decoder);
    if (status == SDD_OK && decoder->canvas == NULL) status = take_memory(decoder);
    if (status != SDD_OK) return status;
    if (decoder->next == decoder->frame_count)
        return decoder->at < decoder->body.size ? SDD_ERROR_NOT_FOUND : SDD_ERROR_INCOMPLETE;
    dispose(decoder);
    read_blocks(decoder, &read); /* count_frames() has found the frame; its pixels tell whether it is cut */
    status = draw(decoder, &read, &rows);
    if (status != SDD_OK && !is_kept(decoder, &read, status, &rows)) return status;
    fill_frame(frame, decoder->canvas, decoder->width, decoder->height);
    if (status != SDD_OK) {
        frame->good_rows = rows;
    } else if (decoder->is_damaged) {
        frame->good_rows = decoder->height;
    }
    decoder->next++;
    frame->frame_count = decoder->frame_count;
    frame->loop_count = decoder->loop_count;
    frame->duration_us = (int64_t)read.delay * 10000; /* hundredths of a second */
    return SDD_OK;
}

static void gif_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    free(decoder->canvas);
    free(decoder->previous);
    free(decoder->line);
    body_free(&decoder->body);
    free(decoder);
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "gif",
        .mime_type = "image/gif",
        .format = SDD_IMAGE_FORMAT_GIF,
        .can_decode = gif_can_decode,
        .open = gif_open,
        .feed = body_feed,
        .next = gif_next,
        .close = gif_close,
        .estimate = gif_estimate,
        .encode_frames = gif_encode_frames,
    };
    return &coder;
}

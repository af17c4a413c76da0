/*
 * gif: GIF by giflib: still and animated pictures, each frame composed onto the previous ones. Package
 * libsdd-coder-gif.
 */
#include "coder.h"

#include <gif_lib.h>

struct rectangle {
    int left, top, right, bottom; /* right and bottom are exclusive */
};

struct decoder {
    struct body body; /* first: body_feed() */
    size_t read;      /* bytes that giflib has read */
    int64_t max_pixels;
    GifFileType *gif; /* NULL before the estimate */
    int32_t width, height, frame_count, loop_count;
    uint32_t *canvas;   /* pixels as bytes: red, green, blue, alpha */
    uint32_t *previous; /* what a frame has covered that is to be removed again; NULL if none is */
    size_t covered;     /* pixels that `previous` needs at most */
    GifPixelType *line;
    int disposal; /* disposal of the last frame, in this area: */
    struct rectangle drawn;
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
    *out = decoder;
    return SDD_OK;
}

/* ---- counting frames, whose number a GIF does not state: walks its blocks without decompressing them */

/* Returns the position after a block's parts; each begins with its length, and the last is empty. 0: the bytes end. */
static size_t behind_parts(const struct body *body, size_t at)
{
    while (at < body->size && body->bytes[at] != 0) at += 1 + (size_t)body->bytes[at];
    return at < body->size ? at + 1 : 0;
}

/* Returns the size of a colour table from its flags, at 3 bytes a colour. */
static size_t table_size(unsigned char flags) { return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0; }

static void read_loops(struct decoder *decoder, size_t at)
{
    static const unsigned char name[] = "\xff\x0bNETSCAPE2.0\x03\x01";
    const struct body *body = &decoder->body;
    if (body->size - at > sizeof name + 1 && memcmp(body->bytes + at, name, sizeof name - 1) == 0) {
        const unsigned char *count = body->bytes + at + sizeof name - 1;
        int again = count[0] | count[1] << 8;
        decoder->loop_count = again == 0 ? 0 : again + 1; /* GIF counts repetitions, libsdd counts runs */
    }
}

/* Returns the area of a frame, whose descriptor the bytes are, as far as it lies on the canvas. */
static size_t area_of(const struct decoder *decoder, const unsigned char *bytes)
{
    int64_t sides[2];
    for (int i = 0; i < 2; i++) {
        int64_t begin = bytes[i * 2 + 1] | bytes[i * 2 + 2] << 8,
                end = begin + (bytes[i * 2 + 5] | bytes[i * 2 + 6] << 8);
        int64_t limit = i == 0 ? decoder->width : decoder->height;
        sides[i] = (end < limit ? end : limit) - begin;
        if (sides[i] <= 0) return 0;
    }
    return (size_t)(sides[0] * sides[1]);
}

/* Reads a block with the settings of the next frame. Returns its disposal; `before` for another block. */
static int disposal_of(const struct body *body, size_t at, int before)
{
    return body->size - at > 4 && body->bytes[at + 1] == GRAPHICS_EXT_FUNC_CODE ? body->bytes[at + 3] >> 2 & 7 : before;
}

/* A cut file is an error, except that the last byte may be missing, as some writers leave it out. */
static sdd_status count_frames(struct decoder *decoder)
{
    const struct body *body = &decoder->body;
    size_t at = 13;
    int disposal = 0;
    if (body->size < at) return SDD_ERROR_INCOMPLETE;
    at += table_size(body->bytes[10]);
    decoder->loop_count = 1;
    while (at < body->size && body->bytes[at] != ';') {
        if (body->bytes[at] == '!') {
            read_loops(decoder, at + 1);
            disposal = disposal_of(body, at, disposal);
            at = behind_parts(body, at + 2);
        } else if (body->bytes[at] == ',') {
            size_t area;
            if (body->size - at < 10) return SDD_ERROR_INCOMPLETE;
            area = disposal == DISPOSE_PREVIOUS ? area_of(decoder, body->bytes + at) : 0;
            if (area > decoder->covered) decoder->covered = area;
            disposal = 0;
            at = behind_parts(body, at + 11 + table_size(body->bytes[at + 9]));
            if (at != 0 && decoder->frame_count < INT32_MAX) decoder->frame_count++;
        } else {
            return SDD_ERROR_BAD_IMAGE_DATA;
        }
        if (at == 0) return SDD_ERROR_INCOMPLETE;
    }
    return decoder->frame_count > 0 ? SDD_OK : SDD_ERROR_INCOMPLETE;
}

/* ---- giflib */

static int read_body(GifFileType *gif, GifByteType *target, int wanted)
{
    struct decoder *decoder = gif->UserData;
    size_t left = decoder->body.size - decoder->read, count = wanted < 0 ? 0 : (size_t)wanted;
    if (count > left) count = left;
    if (count > 0) memcpy(target, decoder->body.bytes + decoder->read, count);
    decoder->read += count;
    return (int)count;
}

static sdd_status status_of(int error)
{
    switch (error) {
    case D_GIF_ERR_READ_FAILED:
    case D_GIF_ERR_EOF_TOO_SOON: return SDD_ERROR_INCOMPLETE;
    case D_GIF_ERR_NOT_ENOUGH_MEM: return SDD_ERROR_NO_RESOURCES;
    default: return SDD_ERROR_BAD_IMAGE_DATA;
    }
}

/* Reads the size and the number of frames. */
static sdd_status begin(struct decoder *decoder)
{
    int error = 0;
    sdd_status status;
    decoder->gif = DGifOpen(decoder, read_body, &error);
    if (decoder->gif == NULL) return status_of(error);
    decoder->width = decoder->gif->SWidth; /* at most 65,535 */
    decoder->height = decoder->gif->SHeight;
    status = check_size(decoder->width, decoder->height, decoder->max_pixels);
    return status == SDD_OK ? count_frames(decoder) : status;
}

/* The memory of a decoder is that of gif_next() and take_memory(), and what giflib keeps: a table of codes, and two of
   colours. */
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
    for (int y = drawn->top; y < drawn->bottom; y++) {
        uint32_t *row = decoder->canvas + (size_t)y * (size_t)decoder->width + drawn->left;
        uint32_t *kept = decoder->previous + (size_t)(y - drawn->top) * width;
        memcpy(is_back ? row : kept, is_back ? kept : row, width * sizeof *row);
    }
}

/* Disposes of the last frame before the next is drawn. "Background" means transparent, as in browsers. */
static void dispose(struct decoder *decoder)
{
    if (decoder->disposal == DISPOSE_PREVIOUS) {
        copy_area(decoder, 1);
    } else if (decoder->disposal == DISPOSE_BACKGROUND) {
        for (int y = decoder->drawn.top; y < decoder->drawn.bottom; y++)
            for (int x = decoder->drawn.left; x < decoder->drawn.right; x++)
                decoder->canvas[(size_t)y * (size_t)decoder->width + (size_t)x] = 0;
    }
    decoder->disposal = DISPOSAL_UNSPECIFIED;
}

/* Keeps what the frame that begins will cover. */
static sdd_status keep_area(struct decoder *decoder)
{
    size_t width = (size_t)(decoder->drawn.right - decoder->drawn.left);
    size_t height = (size_t)(decoder->drawn.bottom - decoder->drawn.top);
    if (width == 0 || height == 0) return SDD_OK;
    if (width * height > decoder->covered) return SDD_ERROR_BAD_IMAGE_DATA; /* giflib has read other blocks */
    copy_area(decoder, 0);
    return SDD_OK;
}

static int smaller(int one, int other) { return one < other ? one : other; }

/* The colours of a frame as pixels. A pixel that is transparent, or whose colour is not in the table, leaves the canvas
   unchanged. */
struct palette {
    uint32_t pixels[256];
    unsigned char is_drawn[256];
};

static void fill_palette(struct palette *palette, const ColorMapObject *colours, int transparent)
{
    memset(palette->is_drawn, 0, sizeof palette->is_drawn);
    for (int i = 0; i < colours->ColorCount && i < 256; i++) {
        const GifColorType *colour = &colours->Colors[i];
        const unsigned char pixel[4] = { colour->Red, colour->Green, colour->Blue, 255 };
        memcpy(&palette->pixels[i], pixel, sizeof pixel);
        palette->is_drawn[i] = i != transparent;
    }
}

/* Draws a line of the frame, as far as it lies on the canvas. */
static void draw_line(struct decoder *decoder, const struct palette *palette, int y)
{
    uint32_t *target = decoder->canvas + (size_t)y * (size_t)decoder->width + decoder->drawn.left;
    int count = decoder->drawn.right - decoder->drawn.left;
    for (int x = 0; x < count; x++) {
        GifPixelType index = decoder->line[x];
        if (palette->is_drawn[index]) target[x] = palette->pixels[index];
    }
}

static sdd_status draw(struct decoder *decoder, const GraphicsControlBlock *control)
{
    static const struct {
        int first, step;
    } passes[] = { { 0, 8 }, { 4, 8 }, { 2, 4 }, { 1, 2 }, { 0, 1 } };
    struct palette palette;
    const GifImageDesc *frame = &decoder->gif->Image;
    const ColorMapObject *colours = frame->ColorMap != NULL ? frame->ColorMap : decoder->gif->SColorMap;
    if (frame->Left < 0 || frame->Top < 0 || frame->Width <= 0 || frame->Height <= 0 || frame->Width > 65535 ||
        colours == NULL)
        return SDD_ERROR_BAD_IMAGE_DATA;
    /* A frame may be larger than the picture, and all of it has to be decompressed. */
    if ((int64_t)frame->Width * frame->Height > decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    decoder->drawn.left = smaller(frame->Left, decoder->width);
    decoder->drawn.top = smaller(frame->Top, decoder->height);
    decoder->drawn.right = smaller(frame->Left + frame->Width, decoder->width);
    decoder->drawn.bottom = smaller(frame->Top + frame->Height, decoder->height);
    if (control->DisposalMode == DISPOSE_PREVIOUS) {
        sdd_status status = keep_area(decoder);
        if (status != SDD_OK) return status;
    }
    decoder->disposal = control->DisposalMode;
    fill_palette(&palette, colours, control->TransparentColor);
    for (int pass = frame->Interlace ? 0 : 4; pass < (frame->Interlace ? 4 : 5); pass++) {
        for (int y = passes[pass].first; y < frame->Height; y += passes[pass].step) {
            if (DGifGetLine(decoder->gif, decoder->line, frame->Width) == GIF_ERROR)
                return status_of(decoder->gif->Error);
            if (frame->Top + y < decoder->height) draw_line(decoder, &palette, frame->Top + y);
        }
    }
    return SDD_OK;
}

/* Frees what giflib keeps of each frame: a file may have hundreds of thousands. */
static void forget_frames(GifFileType *gif)
{
    GifFreeSavedImages(gif);
    gif->SavedImages = NULL;
    gif->ImageCount = 0;
}

/* Reads the next frame, with the blocks in front of it, and draws it onto the canvas. */
static sdd_status read_frame(struct decoder *decoder, GraphicsControlBlock *control)
{
    GifRecordType type;
    sdd_status status;
    for (;;) {
        if (DGifGetRecordType(decoder->gif, &type) == GIF_ERROR) return status_of(decoder->gif->Error);
        if (type == TERMINATE_RECORD_TYPE) return SDD_ERROR_NOT_FOUND;
        if (type == IMAGE_DESC_RECORD_TYPE) {
            if (DGifGetImageDesc(decoder->gif) == GIF_ERROR) return status_of(decoder->gif->Error);
            status = draw(decoder, control);
            forget_frames(decoder->gif);
            return status;
        }
        if (type == EXTENSION_RECORD_TYPE) {
            int code;
            GifByteType *block;
            if (DGifGetExtension(decoder->gif, &code, &block) == GIF_ERROR) return status_of(decoder->gif->Error);
            if (code == GRAPHICS_EXT_FUNC_CODE && block != NULL) DGifExtensionToGCB(block[0], block + 1, control);
            while (block != NULL)
                if (DGifGetExtensionNext(decoder->gif, &block) == GIF_ERROR) return status_of(decoder->gif->Error);
        }
    }
}

static sdd_status gif_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    GraphicsControlBlock control = { DISPOSAL_UNSPECIFIED, false, 0, NO_TRANSPARENT_COLOR };
    sdd_status status = SDD_OK;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (decoder->gif == NULL) status = begin(decoder);
    if (status == SDD_OK && decoder->canvas == NULL) status = take_memory(decoder);
    if (status != SDD_OK) return status;
    dispose(decoder);
    status = read_frame(decoder, &control);
    if (status != SDD_OK) return status;
    fill_frame(frame, decoder->canvas, decoder->width, decoder->height);
    frame->frame_count = decoder->frame_count;
    frame->loop_count = decoder->loop_count;
    frame->duration_us = (int64_t)control.DelayTime * 10000; /* hundredths of a second */
    return SDD_OK;
}

static void gif_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    if (decoder->gif != NULL) DGifCloseFile(decoder->gif, NULL);
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
    };
    return &coder;
}

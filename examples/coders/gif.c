/* cc -std=c99 -O2 -shared -fPIC gif.c $(pkg-config --cflags --libs sdd) -lgif -o gif.so
 *
 * gif: a coder for GIF, with giflib: still and animated pictures, with each frame composed onto the previous ones. Load
 * it with sdd_coder_load().
 */
#include "body.h"

#include <gif_lib.h>
#include <sdd/sdd.h>

struct rectangle {
    int left, top, right, bottom; /* right and bottom are exclusive */
};

struct decoder {
    struct body body;
    size_t read; /* bytes that giflib has read */
    int64_t max_pixels;
    GifFileType *gif; /* NULL before the first frame */
    int32_t width, height, frame_count, loop_count;
    uint32_t *canvas;   /* pixels as bytes: red, green, blue, alpha */
    uint32_t *previous; /* the canvas before the last frame, if it must be restored; else NULL */
    GifPixelType *line;
    int disposal; /* disposal of the last frame, in this area: */
    struct rectangle drawn;
};

static int32_t gif_can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    if (sdd_image_sniff(bytes, size) == SDD_IMAGE_FORMAT_GIF) return 1;
    return size < 6 ? -1 : 0;
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

static sdd_status gif_feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)user_data;
    return body_add(&((struct decoder *)decoder)->body, bytes, size, is_last);
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

/* A cut file is an error, except that the last byte may be missing, as some writers leave it out. */
static sdd_status count_frames(struct decoder *decoder)
{
    const struct body *body = &decoder->body;
    size_t at = 13;
    if (body->size < at) return SDD_ERROR_INCOMPLETE;
    at += table_size(body->bytes[10]);
    decoder->loop_count = 1;
    while (at < body->size && body->bytes[at] != ';') {
        if (body->bytes[at] == '!') {
            read_loops(decoder, at + 1);
            at = behind_parts(body, at + 2);
        } else if (body->bytes[at] == ',') {
            if (body->size - at < 10) return SDD_ERROR_INCOMPLETE;
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

static sdd_status begin(struct decoder *decoder)
{
    int error = 0;
    size_t pixels;
    sdd_status status = count_frames(decoder);
    if (status != SDD_OK) return status;
    decoder->gif = DGifOpen(decoder, read_body, &error);
    if (decoder->gif == NULL) return status_of(error);
    decoder->width = decoder->gif->SWidth; /* at most 65,535 */
    decoder->height = decoder->gif->SHeight;
    if (decoder->width <= 0 || decoder->height <= 0) return SDD_DETAIL_IMAGE_ZERO_PIXELS;
    if ((int64_t)decoder->width * decoder->height > decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    pixels = (size_t)decoder->width * (size_t)decoder->height;
    decoder->canvas = calloc(pixels, sizeof *decoder->canvas); /* transparent */
    decoder->line = malloc(65536);
    return decoder->canvas == NULL || decoder->line == NULL ? SDD_ERROR_NO_RESOURCES : SDD_OK;
}

/* ---- composing frames */

static size_t canvas_bytes(const struct decoder *decoder)
{
    return (size_t)decoder->width * (size_t)decoder->height * sizeof *decoder->canvas;
}

/* Disposes of the last frame before the next is drawn. "Background" means transparent, as in browsers. */
static void dispose(struct decoder *decoder)
{
    if (decoder->disposal == DISPOSE_PREVIOUS && decoder->previous != NULL) {
        memcpy(decoder->canvas, decoder->previous, canvas_bytes(decoder));
    } else if (decoder->disposal == DISPOSE_BACKGROUND) {
        for (int y = decoder->drawn.top; y < decoder->drawn.bottom; y++)
            for (int x = decoder->drawn.left; x < decoder->drawn.right; x++)
                decoder->canvas[(size_t)y * (size_t)decoder->width + (size_t)x] = 0;
    }
    decoder->disposal = DISPOSAL_UNSPECIFIED;
}

static sdd_status keep_canvas(struct decoder *decoder)
{
    if (decoder->previous == NULL) decoder->previous = malloc(canvas_bytes(decoder));
    if (decoder->previous == NULL) return SDD_ERROR_NO_RESOURCES;
    memcpy(decoder->previous, decoder->canvas, canvas_bytes(decoder));
    return SDD_OK;
}

static int smaller(int one, int other) { return one < other ? one : other; }

/* Draws a line of the frame, as far as it lies on the canvas. A pixel that is transparent, or whose colour is not in
   the table, leaves the canvas unchanged. */
static void draw_line(struct decoder *decoder, const ColorMapObject *colours, int transparent, int y)
{
    uint32_t *target = decoder->canvas + (size_t)y * (size_t)decoder->width;
    for (int x = decoder->drawn.left; x < decoder->drawn.right; x++) {
        int index = decoder->line[x - decoder->drawn.left];
        if (index != transparent && index < colours->ColorCount) {
            const GifColorType *colour = &colours->Colors[index];
            const unsigned char pixel[4] = { colour->Red, colour->Green, colour->Blue, 255 };
            memcpy(&target[x], pixel, sizeof pixel);
        }
    }
}

static sdd_status draw(struct decoder *decoder, const GraphicsControlBlock *control)
{
    static const struct {
        int first, step;
    } passes[] = { { 0, 8 }, { 4, 8 }, { 2, 4 }, { 1, 2 }, { 0, 1 } };
    const GifImageDesc *frame = &decoder->gif->Image;
    const ColorMapObject *colours = frame->ColorMap != NULL ? frame->ColorMap : decoder->gif->SColorMap;
    if (frame->Left < 0 || frame->Top < 0 || frame->Width <= 0 || frame->Height <= 0 || frame->Width > 65535 ||
        colours == NULL)
        return SDD_ERROR_BAD_IMAGE_DATA;
    decoder->drawn.left = smaller(frame->Left, decoder->width);
    decoder->drawn.top = smaller(frame->Top, decoder->height);
    decoder->drawn.right = smaller(frame->Left + frame->Width, decoder->width);
    decoder->drawn.bottom = smaller(frame->Top + frame->Height, decoder->height);
    if (control->DisposalMode == DISPOSE_PREVIOUS) {
        sdd_status status = keep_canvas(decoder);
        if (status != SDD_OK) return status;
    }
    decoder->disposal = control->DisposalMode;
    for (int pass = frame->Interlace ? 0 : 4; pass < (frame->Interlace ? 4 : 5); pass++) {
        for (int y = passes[pass].first; y < frame->Height; y += passes[pass].step) {
            if (DGifGetLine(decoder->gif, decoder->line, frame->Width) == GIF_ERROR)
                return status_of(decoder->gif->Error);
            if (frame->Top + y < decoder->height)
                draw_line(decoder, colours, control->TransparentColor, frame->Top + y);
        }
    }
    return SDD_OK;
}

/* Reads the next frame, with the blocks in front of it, and draws it onto the canvas. */
static sdd_status read_frame(struct decoder *decoder, GraphicsControlBlock *control)
{
    GifRecordType type;
    for (;;) {
        if (DGifGetRecordType(decoder->gif, &type) == GIF_ERROR) return status_of(decoder->gif->Error);
        if (type == TERMINATE_RECORD_TYPE) return SDD_ERROR_NOT_FOUND;
        if (type == IMAGE_DESC_RECORD_TYPE) {
            if (DGifGetImageDesc(decoder->gif) == GIF_ERROR) return status_of(decoder->gif->Error);
            return draw(decoder, control);
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
    if (status != SDD_OK) return status;
    dispose(decoder);
    status = read_frame(decoder, &control);
    if (status != SDD_OK) return status;
    frame->pixels = decoder->canvas;
    frame->stride = (size_t)decoder->width * 4;
    frame->width = decoder->width;
    frame->height = decoder->height;
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
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

const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "gif",
        .mime_type = "image/gif",
        .format = SDD_IMAGE_FORMAT_GIF,
        .can_decode = gif_can_decode,
        .open = gif_open,
        .feed = gif_feed,
        .next = gif_next,
        .close = gif_close,
    };
    return &coder;
}

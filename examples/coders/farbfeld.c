/* cc -std=c99 -O2 -shared -fPIC farbfeld.c $(pkg-config --cflags sdd) -o farbfeld.so
 *
 * farbfeld: a coder for farbfeld, the simplest format there is: "farbfeld", width and height as 32-bit numbers, then for
 * each pixel red, green, blue and alpha as 16-bit numbers, all with the highest byte first. Load it with
 * sdd_process_load_coder_wait(). The coders of the formats of the web are in the folder coders/.
 */
#include <sdd/sdd.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 16, MY_FORMAT = SDD_IMAGE_FORMAT_APPLICATION + 1 };

struct decoder {
    int64_t max_pixels;
    const uint8_t *body; /* libsdd's, valid until `close`, since this coder has no `preview` */
    size_t size;
    uint8_t *pixels;
};

static int32_t can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    if (memcmp(bytes, "farbfeld", size < 8 ? size : 8) != 0) return 0;
    return size < 8 ? -1 : 1;
}

static sdd_status open_one(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    *out = decoder;
    return SDD_OK;
}

static sdd_status feed(void *given, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    if (!is_last) return SDD_ERROR_UNSUPPORTED;
    decoder->body = bytes;
    decoder->size = size;
    return SDD_OK;
}

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Reads and checks the size that the header states. */
static sdd_status read_size(const struct decoder *decoder, int32_t *width, int32_t *height)
{
    uint32_t stated_width, stated_height;
    if (decoder->size < HEADER) return SDD_ERROR_INCOMPLETE;
    stated_width = number(decoder->body + 8);
    stated_height = number(decoder->body + 12);
    if (stated_width == 0 || stated_height == 0) return SDD_DETAIL_IMAGE_ZERO_PIXELS;
    if (stated_width > INT32_MAX || stated_height > INT32_MAX ||
        (uint64_t)stated_width * stated_height > (uint64_t)decoder->max_pixels)
        return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    *width = (int32_t)stated_width;
    *height = (int32_t)stated_height;
    return SDD_OK;
}

/* The library decodes the picture only when there is room for the pixels that `next` will take. */
static sdd_status estimate(void *given, sdd_coder_estimate *out, void *user_data)
{
    sdd_status status = read_size(given, &out->width, &out->height);
    (void)user_data;
    if (status != SDD_OK) return status;
    out->decode_bytes = (int64_t)out->width * out->height * 4;
    return SDD_OK;
}

static sdd_status next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status;
    size_t channels;
    (void)user_data;
    if (decoder->pixels != NULL) return SDD_ERROR_NOT_FOUND; /* there is one frame */
    status = read_size(decoder, &frame->width, &frame->height);
    if (status != SDD_OK) return status;
    channels = (size_t)frame->width * (size_t)frame->height * 4;
    if ((decoder->size - HEADER) / 2 < channels) return SDD_ERROR_INCOMPLETE;
    decoder->pixels = malloc(channels);
    if (decoder->pixels == NULL) return SDD_ERROR_NO_RESOURCES;
    for (size_t i = 0; i < channels; i++) decoder->pixels[i] = decoder->body[HEADER + 2 * i]; /* the high byte */
    frame->pixels = decoder->pixels;
    frame->stride = (size_t)frame->width * 4;
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
    return SDD_OK;
}

static void close_one(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    free(decoder->pixels);
    free(decoder);
}

const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "farbfeld",
        .mime_type = "image/x-farbfeld",
        .format = MY_FORMAT,
        .can_decode = can_decode,
        .open = open_one,
        .feed = feed,
        .next = next,
        .close = close_one,
        .estimate = estimate,
    };
    return &coder;
}

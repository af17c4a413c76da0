/* cc -std=c99 -O2 -shared -fPIC webp.c $(pkg-config --cflags --libs sdd libwebp libwebpdemux) -o webp.so
 *
 * webp: a coder for WebP, with libwebp: decodes still and animated pictures, and encodes. Load it with
 * sdd_coder_load().
 */
#include "body.h"

#include <limits.h>
#include <sdd/sdd.h>
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

struct decoder {
    struct body body;
    int64_t max_pixels;
    int32_t wanted_side;
    uint8_t *still;          /* pixels of a still picture */
    WebPAnimDecoder *frames; /* libwebp's decoder of an animated one, which composes frames */
    int32_t width, height, picture_width, picture_height, frame_count, loop_count;
    int shown_until; /* milliseconds since the first frame */
    int is_begun, is_done;
};

static int32_t webp_can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    if (sdd_image_sniff(bytes, size) == SDD_IMAGE_FORMAT_WEBP) return 1;
    return size < 12 ? -1 : 0;
}

static sdd_status webp_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    decoder->wanted_side = task->wanted_side;
    *out = decoder;
    return SDD_OK;
}

static sdd_status webp_feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)user_data;
    return body_add(&((struct decoder *)decoder)->body, bytes, size, is_last);
}

/* Returns the error for a body that libwebp refuses: cut or damaged. Its header states the length of the file. */
static sdd_status what_is_wrong(const struct decoder *decoder)
{
    const unsigned char *size = decoder->body.bytes + 4;
    uint64_t length;
    if (decoder->body.size < 12) return SDD_ERROR_INCOMPLETE;
    length = 8 + (size[0] | (uint64_t)size[1] << 8 | (uint64_t)size[2] << 16 | (uint64_t)size[3] << 24);
    return decoder->body.size < length ? SDD_ERROR_INCOMPLETE : SDD_ERROR_BAD_IMAGE_DATA;
}

/* Chooses the size of a still picture: the smallest one allowed, since libwebp scales while it decodes. */
static void choose_size(struct decoder *decoder)
{
    int64_t width = decoder->picture_width, height = decoder->picture_height, side = decoder->wanted_side;
    if (side > 0 && side < width && side < height) {
        decoder->width = (int32_t)(width < height ? side : (width * side + height - 1) / height);
        decoder->height = (int32_t)(width < height ? (height * side + width - 1) / width : side);
    }
}

static sdd_status decode_still(struct decoder *decoder)
{
    WebPDecoderConfig config;
    VP8StatusCode status;
    size_t size;
    if (!WebPInitDecoderConfig(&config)) return SDD_ERROR_UNSUPPORTED;
    choose_size(decoder);
    size = (size_t)decoder->width * (size_t)decoder->height * 4; /* at most 16,383 x 16,383 pixels */
    decoder->still = malloc(size);
    if (decoder->still == NULL) return SDD_ERROR_NO_RESOURCES;
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = decoder->still;
    config.output.u.RGBA.stride = decoder->width * 4;
    config.output.u.RGBA.size = size;
    config.options.use_scaling = decoder->width != decoder->picture_width || decoder->height != decoder->picture_height;
    config.options.scaled_width = decoder->width;
    config.options.scaled_height = decoder->height;
    status = WebPDecode(decoder->body.bytes, decoder->body.size, &config);
    WebPFreeDecBuffer(&config.output);
    if (status == VP8_STATUS_OUT_OF_MEMORY) return SDD_ERROR_NO_RESOURCES;
    return status == VP8_STATUS_OK ? SDD_OK : what_is_wrong(decoder);
}

static sdd_status open_frames(struct decoder *decoder)
{
    WebPData data = { decoder->body.bytes, decoder->body.size };
    WebPAnimInfo info;
    decoder->frames = WebPAnimDecoderNew(&data, NULL); /* RGBA, one thread */
    if (decoder->frames == NULL) return what_is_wrong(decoder);
    if (!WebPAnimDecoderGetInfo(decoder->frames, &info) || info.canvas_width != (uint32_t)decoder->width ||
        info.canvas_height != (uint32_t)decoder->height || info.frame_count == 0 || info.frame_count > INT32_MAX)
        return SDD_ERROR_BAD_IMAGE_DATA;
    decoder->frame_count = (int32_t)info.frame_count;
    decoder->loop_count = info.loop_count > INT32_MAX ? 0 : (int32_t)info.loop_count;
    return SDD_OK;
}

/* Reads the sizes, and allocates memory only after they have been checked. */
static sdd_status begin(struct decoder *decoder)
{
    WebPBitstreamFeatures features;
    VP8StatusCode status = WebPGetFeatures(decoder->body.bytes, decoder->body.size, &features);
    if (status != VP8_STATUS_OK)
        return status == VP8_STATUS_NOT_ENOUGH_DATA ? SDD_ERROR_INCOMPLETE : SDD_ERROR_BAD_IMAGE_DATA;
    if (features.width <= 0 || features.height <= 0) return SDD_ERROR_BAD_IMAGE_DATA;
    if ((int64_t)features.width * features.height > decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    decoder->width = decoder->picture_width = features.width;
    decoder->height = decoder->picture_height = features.height;
    decoder->is_begun = 1;
    return features.has_animation ? open_frames(decoder) : decode_still(decoder);
}

static sdd_status webp_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (!decoder->is_begun) {
        sdd_status status = begin(decoder);
        if (status != SDD_OK) return status;
    }
    if (decoder->is_done) return SDD_ERROR_NOT_FOUND;
    if (decoder->frames != NULL) {
        uint8_t *pixels;
        int shown_until;
        if (!WebPAnimDecoderHasMoreFrames(decoder->frames)) return SDD_ERROR_NOT_FOUND;
        if (!WebPAnimDecoderGetNext(decoder->frames, &pixels, &shown_until)) return SDD_ERROR_BAD_IMAGE_DATA;
        frame->pixels = pixels;
        if (shown_until > decoder->shown_until)
            frame->duration_us = ((int64_t)shown_until - decoder->shown_until) * 1000;
        decoder->shown_until = shown_until;
    } else {
        frame->pixels = decoder->still;
        decoder->is_done = 1;
    }
    frame->stride = (size_t)decoder->width * 4;
    frame->width = decoder->width;
    frame->height = decoder->height;
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
    frame->picture_width = decoder->picture_width;
    frame->picture_height = decoder->picture_height;
    frame->frame_count = decoder->frame_count;
    frame->loop_count = decoder->loop_count;
    return SDD_OK;
}

static void webp_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    WebPAnimDecoderDelete(decoder->frames);
    free(decoder->still);
    body_free(&decoder->body);
    free(decoder);
}

/* Encodes; lossless at quality 100. */
static sdd_status webp_encode(const sdd_coder_frame *picture, int32_t quality, sdd_coder_write_fn write, void *context,
                              void *user_data)
{
    uint8_t *made = NULL;
    sdd_status status;
    size_t size;
    (void)user_data;
    if (picture->width > WEBP_MAX_DIMENSION || picture->height > WEBP_MAX_DIMENSION || picture->stride > INT_MAX)
        return SDD_ERROR_UNSUPPORTED;
    size = quality >= 100
               ? WebPEncodeLosslessRGBA(picture->pixels, picture->width, picture->height, (int)picture->stride, &made)
               : WebPEncodeRGBA(picture->pixels, picture->width, picture->height, (int)picture->stride, (float)quality,
                                &made);
    if (size == 0) return SDD_ERROR_NO_RESOURCES;
    status = write(context, made, size);
    WebPFree(made);
    return status;
}

const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "webp",
        .mime_type = "image/webp",
        .format = SDD_IMAGE_FORMAT_WEBP,
        .can_decode = webp_can_decode,
        .open = webp_open,
        .feed = webp_feed,
        .next = webp_next,
        .close = webp_close,
        .encode = webp_encode,
    };
    return &coder;
}

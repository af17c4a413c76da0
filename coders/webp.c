/*
 * webp: WebP by libwebp: still and animated pictures, previews of still ones, encoding. Package libsdd-coder-webp.
 */
#include "coder.h"

#include <limits.h>
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
#include <webp/mux.h>

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    int32_t wanted_side;
    WebPBitstreamFeatures features;
    WebPDecoderConfig config;
    WebPIDecoder *rows;      /* decoder of a still picture that is still arriving */
    uint8_t *still;          /* pixels of a still picture */
    WebPAnimDecoder *frames; /* libwebp's decoder of an animated one, which composes frames */
    int32_t width, height, picture_width, picture_height, frame_count, loop_count, orientation;
    int shown_until; /* milliseconds since the first frame */
    int is_begun, is_done, keeps_rest;
    int32_t good_rows; /* of a damaged body that is kept; 0: it is whole */
    uint8_t *whole;    /* the chunks of a cut animation that are whole, as a file; NULL if it was not cut */
};

static int32_t webp_can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    if (size < 12) return begins_with(bytes, size < 4 ? size : 4, "RIFF", 4) == 0 ? 0 : -1;
    return memcmp(bytes, "RIFF", 4) == 0 && memcmp((const char *)bytes + 8, "WEBP", 4) == 0;
}

static sdd_status webp_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    decoder->wanted_side = task->wanted_side;
    decoder->keeps_rest = keeps_rest(task);
    *out = decoder;
    return SDD_OK;
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

/* Chooses the size of a still picture: the smallest one allowed, since libwebp scales while it decodes. That mixes the
   colours of what is transparent with the others. */
static void choose_size(struct decoder *decoder)
{
    int64_t width = decoder->picture_width, height = decoder->picture_height, side = decoder->wanted_side;
    if (!decoder->features.has_animation && !decoder->features.has_alpha && side > 0 && side < width && side < height) {
        decoder->width = (int32_t)(width < height ? side : (width * side + height - 1) / height);
        decoder->height = (int32_t)(width < height ? (height * side + width - 1) / width : side);
    }
}

/* Takes memory for a still picture, and makes libwebp write to it. */
static sdd_status prepare_still(struct decoder *decoder)
{
    WebPDecoderConfig *config = &decoder->config;
    size_t size;
    if (!WebPInitDecoderConfig(config)) return SDD_ERROR_UNSUPPORTED;
    choose_size(decoder);
    size = (size_t)decoder->width * (size_t)decoder->height * 4; /* at most 16,383 x 16,383 pixels */
    free(decoder->still);                                        /* a preview may have failed after this */
    decoder->still = malloc(size);
    if (decoder->still == NULL) return SDD_ERROR_NO_RESOURCES;
    config->output.colorspace = MODE_RGBA;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = decoder->still;
    config->output.u.RGBA.stride = decoder->width * 4;
    config->output.u.RGBA.size = size;
    config->options.use_scaling = decoder->width != decoder->picture_width ||
                                  decoder->height != decoder->picture_height;
    config->options.scaled_width = decoder->width;
    config->options.scaled_height = decoder->height;
    return SDD_OK;
}

/* Decodes a still picture, or the rest of one that has been decoded while it arrived. */
static sdd_status decode_still(struct decoder *decoder)
{
    VP8StatusCode status = decoder->rows != NULL
                               ? WebPIUpdate(decoder->rows, decoder->body.bytes, decoder->body.size)
                               : WebPDecode(decoder->body.bytes, decoder->body.size, &decoder->config);
    if (status == VP8_STATUS_OUT_OF_MEMORY) return SDD_ERROR_NO_RESOURCES;
    return status == VP8_STATUS_OK ? SDD_OK : what_is_wrong(decoder);
}

/* Keeps the rows of a damaged still picture that libwebp gives out. */
static sdd_status keep_rows(struct decoder *decoder)
{
    size_t row = (size_t)decoder->width * 4;
    int rows = 0;
    if (decoder->rows == NULL) {
        decoder->rows = WebPIDecode(NULL, 0, &decoder->config);
        if (decoder->rows == NULL) return SDD_ERROR_NO_RESOURCES;
        WebPIUpdate(decoder->rows, decoder->body.bytes, decoder->body.size);
    }
    if (WebPIDecGetRGB(decoder->rows, &rows, NULL, NULL, NULL) == NULL || rows <= 0) return what_is_wrong(decoder);
    memset(decoder->still + row * (size_t)rows, 0, row * (size_t)(decoder->height - rows));
    decoder->good_rows = rows;
    return SDD_OK;
}

/* ---- the Exif orientation, which a WebP has behind its pixels */

static uint32_t number(const uint8_t *bytes, int count, int is_little)
{
    uint32_t made = 0;
    for (int i = 0; i < count; i++) made = made << 8 | bytes[is_little ? count - 1 - i : i];
    return made;
}

/* Returns the orientation of a TIFF structure (CIPA DC-008, 4.6.4, tag 0x0112); 1 if it has none. */
static int32_t orientation_of(const uint8_t *bytes, size_t size)
{
    size_t at, count;
    int is_little;
    if (size >= 6 && memcmp(bytes, "Exif\0\0", 6) == 0) bytes += 6, size -= 6;
    if (size < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) return 1;
    is_little = bytes[0] == 'I';
    at = number(bytes + 4, 4, is_little);
    if (at > size || size - at < 2) return 1;
    count = number(bytes + at, 2, is_little);
    for (at += 2; count > 0 && size - at >= 12; count--, at += 12) {
        uint32_t value = number(bytes + at + 8, 2, is_little);
        if (number(bytes + at, 2, is_little) == 0x0112 && number(bytes + at + 2, 2, is_little) == 3)
            return value >= 1 && value <= 8 ? (int32_t)value : 1;
    }
    return 1;
}

/* Whether the extended header announces an Exif chunk. */
static int has_exif(const struct body *body)
{
    return body->size > 20 && memcmp(body->bytes + 12, "VP8X", 4) == 0 && (body->bytes[20] & 0x08);
}

static void read_orientation(struct decoder *decoder)
{
    const WebPData data = { decoder->body.bytes, decoder->body.size };
    WebPChunkIterator chunk;
    WebPDemuxer *demuxer = has_exif(&decoder->body) ? WebPDemux(&data) : NULL;
    if (demuxer == NULL) return;
    if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) {
        decoder->orientation = orientation_of(chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    WebPDemuxDelete(demuxer);
}

/* ---- frames */

/* Makes a file of the chunks of a cut animation that are whole. */
static sdd_status keep_chunks(struct decoder *decoder, WebPData *data)
{
    const struct body *body = &decoder->body;
    size_t at = 12;
    while (body->size - at >= 8) {
        size_t size = number(body->bytes + at + 4, 4, 1);
        size += 8 + (size & 1); /* each chunk begins at an even place */
        if (size > body->size - at) break;
        at += size;
    }
    decoder->whole = malloc(at);
    if (decoder->whole == NULL) return SDD_ERROR_NO_RESOURCES;
    memcpy(decoder->whole, body->bytes, at);
    for (int i = 0; i < 4; i++) decoder->whole[4 + i] = (uint8_t)((at - 8) >> 8 * i);
    data->bytes = decoder->whole;
    data->size = at;
    decoder->good_rows = decoder->height;
    return SDD_OK;
}

static sdd_status open_frames(struct decoder *decoder)
{
    WebPData data = { decoder->body.bytes, decoder->body.size };
    WebPAnimInfo info;
    decoder->frames = WebPAnimDecoderNew(&data, NULL); /* RGBA, one thread */
    if (decoder->frames == NULL && decoder->keeps_rest && data.size > 12) {
        sdd_status status = keep_chunks(decoder, &data);
        if (status != SDD_OK) return status;
        decoder->frames = WebPAnimDecoderNew(&data, NULL);
    }
    if (decoder->frames == NULL) return what_is_wrong(decoder);
    if (!WebPAnimDecoderGetInfo(decoder->frames, &info) || info.canvas_width != (uint32_t)decoder->width ||
        info.canvas_height != (uint32_t)decoder->height || info.frame_count == 0 || info.frame_count > INT32_MAX)
        return SDD_ERROR_BAD_IMAGE_DATA;
    decoder->frame_count = (int32_t)info.frame_count;
    decoder->loop_count = info.loop_count > INT32_MAX ? 0 : (int32_t)info.loop_count;
    return SDD_OK;
}

/* Reads the sizes. */
static sdd_status read_features(struct decoder *decoder)
{
    WebPBitstreamFeatures *features = &decoder->features;
    VP8StatusCode status = WebPGetFeatures(decoder->body.bytes, decoder->body.size, features);
    if (status != VP8_STATUS_OK)
        return status == VP8_STATUS_NOT_ENOUGH_DATA ? SDD_ERROR_INCOMPLETE : SDD_ERROR_BAD_IMAGE_DATA;
    decoder->width = decoder->picture_width = features->width;
    decoder->height = decoder->picture_height = features->height;
    return check_size(features->width, features->height, decoder->max_pixels);
}

/* Decodes the whole body, or opens it if it is animated. */
static sdd_status begin(struct decoder *decoder)
{
    sdd_status status = SDD_OK;
    decoder->is_begun = 1;
    if (decoder->rows == NULL) {
        status = read_features(decoder);
        if (status != SDD_OK) return status;
        status = decoder->features.has_animation ? open_frames(decoder) : prepare_still(decoder);
    }
    if (status == SDD_OK && decoder->frames == NULL) {
        status = decode_still(decoder);
        if (status != SDD_OK && status != SDD_ERROR_NO_RESOURCES && decoder->keeps_rest) status = keep_rows(decoder);
    }
    if (status == SDD_OK) read_orientation(decoder);
    return status;
}

/* With libwebp 1.2, a lossy picture took 4 bytes a pixel, those of the result; with transparency 1.4 bytes more; a
   lossless one 4.2 more, and 8 bytes and one of these for an animation, which has two canvases. What is decoded to a
   smaller size has a smaller result. The demultiplexer of animations keeps up to 4 bytes for each of the body, and a cut one is
   copied. */
static sdd_status webp_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    double result, more = 1.5, extra = 1.5e6;
    sdd_status status = read_features(decoder);
    (void)user_data;
    if (status != SDD_OK) return status;
    choose_size(decoder);
    result = 4.05 * decoder->width * decoder->height;
    if (!decoder->features.has_alpha) more = 0;
    if (decoder->features.format != 1) more = 4.3; /* lossless; 0: undefined or mixed */
    if (decoder->features.has_animation) {
        more = 8.6;
        extra += (decoder->keeps_rest ? 5.0 : 4.0) * (double)decoder->body.size;
    }
    return fill_estimate(estimate, &decoder->body, decoder->picture_width, decoder->picture_height, more,
                         result + extra);
}

/* Gives out the colour profile, which follows the extended header (RFC 9649, 2.7.1.4). */
static void describe_profile(const struct body *body, sdd_coder_frame *frame)
{
    enum { EXTENDED_HEADER = 30, CHUNK_HEAD = 8 };
    const uint8_t *chunk = body->bytes + EXTENDED_HEADER;
    size_t size;
    if (body->size < EXTENDED_HEADER + CHUNK_HEAD || memcmp(body->bytes + 12, "VP8X", 4) != 0 ||
        !(body->bytes[20] & 0x20) || memcmp(chunk, "ICCP", 4) != 0)
        return;
    size = number(chunk + 4, 4, 1);
    if (size > body->size - EXTENDED_HEADER - CHUNK_HEAD) return;
    fill_profile(frame, chunk + CHUNK_HEAD, size, 0);
}

static void describe(const struct decoder *decoder, sdd_coder_frame *frame, const void *pixels)
{
    fill_frame(frame, pixels, decoder->width, decoder->height);
    frame->picture_width = decoder->picture_width;
    frame->picture_height = decoder->picture_height;
    frame->frame_count = decoder->frame_count;
    frame->loop_count = decoder->loop_count;
    frame->orientation = decoder->orientation;
    describe_profile(&decoder->body, frame);
    frame->good_rows = decoder->good_rows;
}

static sdd_status webp_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    uint8_t *pixels;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (!decoder->is_begun) {
        sdd_status status = begin(decoder);
        if (status != SDD_OK) return status;
    }
    if (decoder->is_done) return SDD_ERROR_NOT_FOUND;
    pixels = decoder->still;
    if (decoder->frames != NULL) {
        int shown_until;
        if (!WebPAnimDecoderHasMoreFrames(decoder->frames)) return SDD_ERROR_NOT_FOUND;
        if (!WebPAnimDecoderGetNext(decoder->frames, &pixels, &shown_until)) return SDD_ERROR_BAD_IMAGE_DATA;
        if (shown_until > decoder->shown_until)
            frame->duration_us = ((int64_t)shown_until - decoder->shown_until) * 1000;
        decoder->shown_until = shown_until;
    } else {
        decoder->is_done = 1;
    }
    describe(decoder, frame, pixels);
    return SDD_OK;
}

/* Rows are valid as soon as libwebp gives them out. The number of an animation's frames, and the Exif orientation, are
   known at the end of the body only. */
static sdd_status webp_preview(void *given, sdd_coder_preview *preview, void *user_data)
{
    struct decoder *decoder = given;
    VP8StatusCode made;
    (void)user_data;
    if (decoder->rows == NULL) {
        sdd_status status = read_features(decoder);
        if (status != SDD_OK) return status;
        if (decoder->features.has_animation || has_exif(&decoder->body)) return SDD_ERROR_UNSUPPORTED;
        status = prepare_still(decoder);
        if (status != SDD_OK) return status;
        decoder->rows = WebPIDecode(NULL, 0, &decoder->config);
        if (decoder->rows == NULL) return SDD_ERROR_NO_RESOURCES;
    }
    made = WebPIUpdate(decoder->rows, decoder->body.bytes, decoder->body.size);
    if (made == VP8_STATUS_OUT_OF_MEMORY) return SDD_ERROR_NO_RESOURCES;
    if (made != VP8_STATUS_OK && made != VP8_STATUS_SUSPENDED) return SDD_ERROR_BAD_IMAGE_DATA;
    if (WebPIDecGetRGB(decoder->rows, &preview->good_rows, NULL, NULL, NULL) == NULL) preview->good_rows = 0;
    describe(decoder, &preview->frame, decoder->still);
    return SDD_OK;
}

static void webp_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    WebPAnimDecoderDelete(decoder->frames);
    WebPIDelete(decoder->rows);
    free(decoder->still);
    free(decoder->whole);
    body_free(&decoder->body);
    free(decoder);
}

/* Writes an encoded picture together with its colour profile. */
static sdd_status write_with_profile(const sdd_coder_frame *picture, const uint8_t *made, size_t size,
                                     sdd_coder_write_fn write, void *context)
{
    const WebPData image = { made, size }, profile = { picture->icc_profile, picture->icc_profile_size };
    WebPData whole = { NULL, 0 };
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    WebPMux *mux = WebPMuxNew();
    if (mux != NULL && WebPMuxSetImage(mux, &image, 0) == WEBP_MUX_OK &&
        WebPMuxSetChunk(mux, "ICCP", &profile, 0) == WEBP_MUX_OK && WebPMuxAssemble(mux, &whole) == WEBP_MUX_OK)
        status = write(context, whole.bytes, whole.size);
    WebPDataClear(&whole);
    WebPMuxDelete(mux);
    return status;
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
    status = picture->icc_profile_size > 0 ? write_with_profile(picture, made, size, write, context)
                                           : write(context, made, size);
    WebPFree(made);
    return status;
}

/* Adds a frame that begins at so many milliseconds. */
static sdd_status add_frame(WebPAnimEncoder *encoder, const WebPConfig *config, const sdd_coder_frame *frame, int begin)
{
    WebPPicture picture;
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    if (frame->stride > INT_MAX || !WebPPictureInit(&picture)) return SDD_ERROR_UNSUPPORTED;
    picture.use_argb = 1;
    picture.width = frame->width;
    picture.height = frame->height;
    if (WebPPictureImportRGBA(&picture, frame->pixels, (int)frame->stride))
        status = WebPAnimEncoderAdd(encoder, &picture, begin, config) ? SDD_OK : SDD_ERROR_UNSUPPORTED;
    WebPPictureFree(&picture);
    return status;
}

/* Begins an animation with its first frame. Returns NULL if it is too large, or without memory. */
static WebPAnimEncoder *begin_frames(const sdd_coder_frame *first, WebPConfig *config, int32_t quality)
{
    WebPAnimEncoderOptions options;
    if (first->width > WEBP_MAX_DIMENSION || first->height > WEBP_MAX_DIMENSION || first->loop_count > 65535 ||
        !WebPAnimEncoderOptionsInit(&options) || !WebPConfigInit(config))
        return NULL;
    options.anim_params.loop_count = first->loop_count;
    config->quality = (float)(quality >= 100 ? 75 : quality); /* of a lossless frame: how hard it is tried */
    config->lossless = config->exact = quality >= 100;
    return WebPAnimEncoderNew(first->width, first->height, &options);
}

/* Encodes an animation; lossless at quality 100. Frames that are equal become one. */
static sdd_status webp_encode_frames(sdd_coder_next_fn next, void *source, int32_t quality, sdd_coder_write_fn write,
                                     void *context, void *user_data)
{
    WebPAnimEncoder *encoder = NULL;
    WebPConfig config;
    WebPData made;
    sdd_status status = SDD_OK;
    int64_t shown_until = 0; /* microseconds */
    (void)user_data;
    WebPDataInit(&made);
    while (status == SDD_OK) {
        sdd_coder_frame frame;
        status = take_frame(next, source, &frame);
        if (status != SDD_OK) break;
        if (encoder == NULL) encoder = begin_frames(&frame, &config, quality);
        if (encoder == NULL || shown_until / 1000 > INT_MAX) {
            status = SDD_ERROR_UNSUPPORTED;
        } else {
            status = add_frame(encoder, &config, &frame, (int)(shown_until / 1000));
            shown_until += frame.duration_us < (int64_t)INT_MAX * 1000 ? frame.duration_us : (int64_t)INT_MAX * 1000;
        }
    }
    if (status == SDD_ERROR_NOT_FOUND && encoder != NULL && shown_until / 1000 <= INT_MAX) {
        status = WebPAnimEncoderAdd(encoder, NULL, (int)(shown_until / 1000), NULL) &&
                         WebPAnimEncoderAssemble(encoder, &made)
                     ? write(context, made.bytes, made.size)
                     : SDD_ERROR_UNSUPPORTED;
    }
    WebPDataClear(&made);
    WebPAnimEncoderDelete(encoder);
    return status;
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "webp",
        .mime_type = "image/webp",
        .format = SDD_IMAGE_FORMAT_WEBP,
        .can_decode = webp_can_decode,
        .open = webp_open,
        .feed = body_feed,
        .next = webp_next,
        .close = webp_close,
        .encode = webp_encode,
        .preview = webp_preview,
        .estimate = webp_estimate,
        .encode_frames = webp_encode_frames,
    };
    return &coder;
}

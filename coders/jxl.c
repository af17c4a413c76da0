/*
 * jxl: JPEG XL by libjxl: still pictures and animations, previews of still ones, encoding. Package libsdd-coder-jxl.
 */
#include "codestream.h"

#include <jxl/decode.h>
#include <jxl/encode.h>
#include <jxl/version.h>

enum { MOST_FRAMES = 10001, MOST_OF_A_PROFILE = 8 << 20 }; /* one frame more than libsdd decodes; bytes */

static const JxlPixelFormat rgba8 = { 4, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0 };

struct decoder {
    struct body body; /* first: body_feed() */
    size_t read;      /* bytes of the body that libjxl needs no more */
    int64_t max_pixels;
    JxlDecoder *jxl; /* NULL before the first frame or preview; decodes on this thread alone */
    JxlBasicInfo info;
    uint8_t *pixels;
    uint8_t *profile; /* of the pixels */
    size_t profile_size;
    int32_t primaries, transfer; /* code points of ITU-T H.273, in place of a profile; 0: none */
    int64_t duration_us;
    int32_t frame_count, shown;                   /* shown: frames that have been given out */
    int has_info, has_failed, is_closed, is_full; /* is_full: the preview has shown the whole picture */
    int keeps_rest, is_cut;                       /* is_cut: the body ends too early, and is kept */
    int is_layered;                               /* the first frame is not the last */
};

static int32_t jxl_can_decode(const void *bytes, size_t size, void *user_data)
{
    int32_t is_codestream = begins_with(bytes, size, "\xff\x0a", 2);
    (void)user_data;
    return is_codestream != 0 ? is_codestream : begins_with(bytes, size, "\0\0\0\x0cJXL \r\n\x87\n", 12);
}

static sdd_status jxl_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    decoder->keeps_rest = keeps_rest(task);
    *out = decoder;
    return SDD_OK;
}

/* ---- reading */

static sdd_status create(struct decoder *decoder)
{
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME | JXL_DEC_FULL_IMAGE;
    decoder->jxl = JxlDecoderCreate(NULL);
    if (decoder->jxl == NULL) return SDD_ERROR_NO_RESOURCES;
    if (JxlDecoderSubscribeEvents(decoder->jxl, events) != JXL_DEC_SUCCESS ||
        JxlDecoderSetKeepOrientation(decoder->jxl, JXL_TRUE) != JXL_DEC_SUCCESS || /* libsdd turns the picture */
        JxlDecoderSetUnpremultiplyAlpha(decoder->jxl, JXL_TRUE) != JXL_DEC_SUCCESS)
        return SDD_ERROR_UNSUPPORTED;
    return SDD_OK;
}

/* Tells libjxl that no more input comes, unless what there is of a cut body is kept: it would be an error then, after
   which libjxl gives nothing. */
static void close_input(const struct decoder *decoder, JxlDecoder *jxl)
{
    if (decoder->body.is_whole && !decoder->keeps_rest) JxlDecoderCloseInput(jxl);
}

/* Passes the rest of the body to libjxl: of a whole body only once, since it stays where it is. */
static void give_input(struct decoder *decoder)
{
    if (decoder->is_closed) return;
    JxlDecoderSetInput(decoder->jxl, decoder->body.bytes + decoder->read, decoder->body.size - decoder->read);
    close_input(decoder, decoder->jxl);
    decoder->is_closed = decoder->body.is_whole;
}

/* Ends the use of the body, which may move before more of it comes. */
static void take_input_back(struct decoder *decoder)
{
    decoder->read = decoder->body.size - JxlDecoderReleaseInput(decoder->jxl);
}

static sdd_status read_info(struct decoder *decoder)
{
    if (JxlDecoderGetBasicInfo(decoder->jxl, &decoder->info) != JXL_DEC_SUCCESS) return SDD_ERROR_BAD_IMAGE_DATA;
    decoder->has_info = 1;
    return check_size(decoder->info.xsize, decoder->info.ysize, decoder->max_pixels);
}

/* Asks for sRGB where the picture's own colours are those of an ICC profile: libjxl gives the pixels of a lossy picture
   in linear light then. Of a lossless one it gives those that are stored, whatever it is asked for. */
static sdd_status choose_colours(struct decoder *decoder)
{
    JxlColorEncoding colours;
    int is_grey = decoder->info.num_color_channels == 1;
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    JxlDecoderStatus has_own = JxlDecoderGetColorAsEncodedProfile(decoder->jxl, &rgba8,
                                                                  JXL_COLOR_PROFILE_TARGET_ORIGINAL, NULL);
#else
    JxlDecoderStatus has_own = JxlDecoderGetColorAsEncodedProfile(decoder->jxl, JXL_COLOR_PROFILE_TARGET_ORIGINAL,
                                                                  NULL);
#endif
    if (has_own == JXL_DEC_SUCCESS || decoder->info.uses_original_profile) return SDD_OK;
    JxlColorEncodingSetToSRGB(&colours, is_grey ? JXL_TRUE : JXL_FALSE);
    return JxlDecoderSetPreferredColorProfile(decoder->jxl, &colours) == JXL_DEC_SUCCESS ? SDD_OK
                                                                                         : SDD_ERROR_BAD_IMAGE_DATA;
}

/* Reads the code points of the colours that libjxl gives, if they have some. */
static int read_code_points(struct decoder *decoder)
{
    JxlColorEncoding colours;
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    if (JxlDecoderGetColorAsEncodedProfile(decoder->jxl, &rgba8, JXL_COLOR_PROFILE_TARGET_DATA, &colours) !=
        JXL_DEC_SUCCESS)
        return 0;
#else
    if (JxlDecoderGetColorAsEncodedProfile(decoder->jxl, JXL_COLOR_PROFILE_TARGET_DATA, &colours) != JXL_DEC_SUCCESS)
        return 0;
#endif
    if (colours.transfer_function == JXL_TRANSFER_FUNCTION_GAMMA ||
        colours.transfer_function == JXL_TRANSFER_FUNCTION_UNKNOWN)
        return 0;
    if (colours.color_space == JXL_COLOR_SPACE_GRAY && colours.white_point == JXL_WHITE_POINT_D65) {
        decoder->primaries = 1;
    } else if (colours.color_space != JXL_COLOR_SPACE_RGB || colours.primaries == JXL_PRIMARIES_CUSTOM) {
        return 0;
    } else if (colours.white_point == JXL_WHITE_POINT_D65) {
        decoder->primaries = colours.primaries == JXL_PRIMARIES_P3 ? 12 : (int32_t)colours.primaries;
    } else if (colours.white_point == JXL_WHITE_POINT_DCI && colours.primaries == JXL_PRIMARIES_P3) {
        decoder->primaries = 11;
    } else {
        return 0;
    }
    decoder->transfer = (int32_t)colours.transfer_function; /* numbered as there */
    return 1;
}

/* Keeps the profile of the colours that libjxl gives, which it makes itself if the file has none. */
static sdd_status read_profile(struct decoder *decoder)
{
    size_t size = 0;
    int has_profile;
    if (read_code_points(decoder)) return SDD_OK;
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    has_profile = JxlDecoderGetICCProfileSize(decoder->jxl, &rgba8, JXL_COLOR_PROFILE_TARGET_DATA, &size) ==
                  JXL_DEC_SUCCESS;
#else
    has_profile = JxlDecoderGetICCProfileSize(decoder->jxl, JXL_COLOR_PROFILE_TARGET_DATA, &size) == JXL_DEC_SUCCESS;
#endif
    if (!has_profile || size == 0 || size > MOST_OF_A_PROFILE || decoder->profile != NULL) return SDD_OK;
    decoder->profile = malloc(size);
    if (decoder->profile == NULL) return SDD_ERROR_NO_RESOURCES;
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
    has_profile = JxlDecoderGetColorAsICCProfile(decoder->jxl, &rgba8, JXL_COLOR_PROFILE_TARGET_DATA, decoder->profile,
                                                 size) == JXL_DEC_SUCCESS;
#else
    has_profile = JxlDecoderGetColorAsICCProfile(decoder->jxl, JXL_COLOR_PROFILE_TARGET_DATA, decoder->profile, size) ==
                  JXL_DEC_SUCCESS;
#endif
    if (has_profile) decoder->profile_size = size;
    return SDD_OK;
}

static sdd_status give_memory(struct decoder *decoder)
{
    size_t size = (size_t)decoder->info.xsize * decoder->info.ysize * 4, needed = 0;
    if (JxlDecoderImageOutBufferSize(decoder->jxl, &rgba8, &needed) != JXL_DEC_SUCCESS || needed != size)
        return SDD_ERROR_BAD_IMAGE_DATA;
    if (decoder->pixels == NULL) decoder->pixels = calloc(1, size);
    if (decoder->pixels == NULL) return SDD_ERROR_NO_RESOURCES;
    return JxlDecoderSetImageOutBuffer(decoder->jxl, &rgba8, decoder->pixels, size) == JXL_DEC_SUCCESS
               ? SDD_OK
               : SDD_ERROR_BAD_IMAGE_DATA;
}

/* Reads how long the frame that begins is shown. */
static void read_duration(struct decoder *decoder)
{
    const JxlAnimationHeader *clock = &decoder->info.animation;
    JxlFrameHeader header;
    decoder->duration_us = 0;
    if (!decoder->info.have_animation || clock->tps_numerator == 0 ||
        JxlDecoderGetFrameHeader(decoder->jxl, &header) != JXL_DEC_SUCCESS)
        return;
    decoder->duration_us = (int64_t)((double)header.duration * clock->tps_denominator / clock->tps_numerator * 1e6 +
                                     0.5);
}

/* Decodes up to the end of the next frame. SDD_ERROR_INCOMPLETE: the bytes so far end before it. */
static sdd_status decode_frame(struct decoder *decoder)
{
    sdd_status status = SDD_OK;
    /* After an error libjxl must not be called again. */
    if (decoder->has_failed) return SDD_ERROR_BAD_IMAGE_DATA;
    while (status == SDD_OK) {
        switch (JxlDecoderProcessInput(decoder->jxl)) {
        case JXL_DEC_BASIC_INFO: status = read_info(decoder); break;
        case JXL_DEC_COLOR_ENCODING:
            status = choose_colours(decoder);
            if (status == SDD_OK) status = read_profile(decoder);
            break;
        case JXL_DEC_FRAME: read_duration(decoder); break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: status = give_memory(decoder); break;
        case JXL_DEC_FULL_IMAGE: return SDD_OK;
        case JXL_DEC_SUCCESS: return SDD_ERROR_NOT_FOUND;
        case JXL_DEC_NEED_MORE_INPUT: return SDD_ERROR_INCOMPLETE;
        default: status = SDD_ERROR_BAD_IMAGE_DATA;
        }
    }
    decoder->has_failed = 1;
    return status;
}

/* ---- what a file states, without decoding it: the layers and frames by their headers */

struct outline {
    JxlBasicInfo info;
    double layer;                /* pixels of the largest layer */
    int32_t frame_count, layers; /* so far, at most MOST_FRAMES */
    int has_info, is_last;       /* is_last: no layer follows the first */
    int has_last;                /* the last layer has begun */
};

static void read_layer(JxlDecoder *jxl, struct outline *outline)
{
    JxlFrameHeader header;
    double size;
    if (JxlDecoderGetFrameHeader(jxl, &header) != JXL_DEC_SUCCESS) return;
    size = (double)header.layer_info.xsize * header.layer_info.ysize;
    if (size > outline->layer) outline->layer = size;
    if (outline->layers++ == 0) outline->is_last = header.is_last;
    if (header.is_last) outline->has_last = 1;
    if (header.duration > 0 || header.is_last) outline->frame_count++;
}

/* Reads the outline of the bytes so far, for a body that is still arriving up to the first layer. */
static sdd_status read_outline(const struct decoder *decoder, struct outline *outline)
{
    const struct body *body = &decoder->body;
    JxlDecoder *jxl = JxlDecoderCreate(NULL);
    sdd_status status = SDD_OK;
    memset(outline, 0, sizeof *outline);
    if (jxl == NULL) return SDD_ERROR_NO_RESOURCES;
    if (JxlDecoderSubscribeEvents(jxl, JXL_DEC_BASIC_INFO | JXL_DEC_FRAME) != JXL_DEC_SUCCESS ||
        JxlDecoderSetCoalescing(jxl, JXL_FALSE) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(jxl, body->bytes, body->size) != JXL_DEC_SUCCESS)
        status = SDD_ERROR_NO_RESOURCES;
    else
        close_input(decoder, jxl);
    while (status == SDD_OK && outline->layers < MOST_FRAMES) {
        JxlDecoderStatus event = JxlDecoderProcessInput(jxl);
        if (event == JXL_DEC_SUCCESS) {
            if (!outline->has_last) status = SDD_ERROR_INCOMPLETE;
            break;
        }
        if (event == JXL_DEC_BASIC_INFO)
            outline->has_info = JxlDecoderGetBasicInfo(jxl, &outline->info) == JXL_DEC_SUCCESS;
        if (event == JXL_DEC_FRAME) read_layer(jxl, outline);
        if (event == JXL_DEC_FRAME && !body->is_whole) break;
        if (event == JXL_DEC_NEED_MORE_INPUT) status = SDD_ERROR_INCOMPLETE;
        if (event == JXL_DEC_ERROR) status = SDD_ERROR_BAD_IMAGE_DATA;
    }
    JxlDecoderDestroy(jxl);
    return status;
}

/* Of a cut animation that is kept, the frames before the last that has begun are whole. */
static void count_frames(struct decoder *decoder, const struct outline *outline, int is_cut)
{
    decoder->frame_count = outline->info.have_animation ? outline->frame_count : 0;
    decoder->is_cut = is_cut && decoder->keeps_rest;
    if (decoder->is_cut && decoder->frame_count > 1) decoder->frame_count--;
}

/* With libjxl 0.7, pictures of 1 to 16 million pixels took 6 to 8.5 bytes a pixel if they were coded by blocks, but 17
   to 31 otherwise; and with transparency, or another extra channel, 43. Layers that are blended are kept, too. */
static sdd_status jxl_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    struct outline outline;
    double each, layer, canvas;
    int is_cut;
    sdd_status status = read_outline(decoder, &outline);
    (void)user_data;
    if (outline.has_info) {
        sdd_status checked = check_size(outline.info.xsize, outline.info.ysize, decoder->max_pixels);
        if (checked != SDD_OK) return checked;
    }
    /* Of a body that ends too early, or is damaged behind its first layer, there may be something to show. */
    is_cut = status == SDD_ERROR_INCOMPLETE && decoder->body.is_whole && outline.layers > 0;
    if (is_cut && (decoder->keeps_rest || !outline.info.have_animation)) status = SDD_OK;
    if (status != SDD_OK) return status;
    if (outline.layer > (double)decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    decoder->is_layered = !outline.is_last;
    count_frames(decoder, &outline, is_cut);
    canvas = (double)outline.info.xsize * outline.info.ysize;
    layer = outline.layer > canvas ? outline.layer : canvas;
    each = outline.info.uses_original_profile && outline.info.num_color_channels == 1 ? 12 : 28;
    if (outline.is_last && outline.info.num_extra_channels == 0 && is_coded_by_blocks(&decoder->body)) each = 6;
    each += 12.5 * outline.info.num_extra_channels;
    if (decoder->is_layered) each += 12 + 4.0 * outline.info.num_extra_channels;
    return fill_estimate(estimate, &decoder->body, outline.info.xsize, outline.info.ysize, 4, layer * each + 10e6);
}

/* ---- frames */

static void describe(const struct decoder *decoder, sdd_coder_frame *frame)
{
    fill_frame(frame, decoder->pixels, (int32_t)decoder->info.xsize, (int32_t)decoder->info.ysize);
    frame->orientation = (int32_t)decoder->info.orientation; /* numbered as in Exif */
    frame->frame_count = decoder->frame_count;
    frame->duration_us = decoder->duration_us;
    fill_profile(frame, decoder->profile, decoder->profile_size, decoder->info.num_color_channels == 1);
    frame->primaries = decoder->primaries;
    frame->transfer = decoder->transfer;
    if (decoder->info.have_animation && decoder->info.animation.num_loops <= INT32_MAX)
        frame->loop_count = (int32_t)decoder->info.animation.num_loops;
    if (decoder->is_cut) frame->good_rows = (int32_t)decoder->info.ysize;
}

static sdd_status jxl_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status = SDD_OK;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (decoder->jxl == NULL) status = create(decoder);
    if (status != SDD_OK) return status;
    if (decoder->is_full) {
        decoder->is_full = 0;
        describe(decoder, frame);
        return SDD_OK;
    }
    if (decoder->is_cut && decoder->shown > 0 && decoder->shown >= decoder->frame_count) return SDD_ERROR_NOT_FOUND;
    give_input(decoder);
    status = decode_frame(decoder);
    if (status == SDD_ERROR_INCOMPLETE && decoder->keeps_rest && decoder->shown == 0 && decoder->pixels != NULL &&
        JxlDecoderFlushImage(decoder->jxl) == JXL_DEC_SUCCESS) {
        decoder->is_cut = 1; /* all rows show something */
        status = SDD_OK;
    }
    if (status == SDD_OK && decoder->info.have_animation && decoder->frame_count == 0) {
        struct outline outline;
        status = read_outline(decoder, &outline);
        count_frames(decoder, &outline, status == SDD_ERROR_INCOMPLETE);
        if (decoder->is_cut) status = SDD_OK;
    }
    if (status == SDD_OK) decoder->shown++;
    if (status == SDD_OK) describe(decoder, frame);
    return status;
}

/* Shows a still picture as far as it has come: all of it, with as much detail as there is. */
static sdd_status jxl_preview(void *given, sdd_coder_preview *preview, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status = SDD_OK;
    (void)user_data;
    if (decoder->is_layered)
        return SDD_ERROR_UNSUPPORTED; /* it may take more than was estimated from its first layer */
    if (decoder->jxl == NULL) status = create(decoder);
    if (status != SDD_OK) return status;
    if (!decoder->is_full) {
        give_input(decoder);
        status = decode_frame(decoder);
        decoder->is_full = status == SDD_OK;
    }
    if (status != SDD_OK && status != SDD_ERROR_INCOMPLETE) return status;
    if (decoder->info.have_animation) {
        take_input_back(decoder);
        return SDD_ERROR_UNSUPPORTED;
    }
    if (status == SDD_ERROR_INCOMPLETE && decoder->pixels != NULL) {
        preview->is_refined = 1;
        status = JxlDecoderFlushImage(decoder->jxl) == JXL_DEC_SUCCESS ? SDD_OK : SDD_ERROR_INCOMPLETE;
    }
    take_input_back(decoder);
    if (status == SDD_OK) {
        preview->good_rows = (int32_t)decoder->info.ysize;
        describe(decoder, &preview->frame);
    } else if (status == SDD_ERROR_INCOMPLETE && decoder->has_info) {
        preview->frame.picture_width = (int32_t)decoder->info.xsize;
        preview->frame.picture_height = (int32_t)decoder->info.ysize;
        preview->frame.orientation = (int32_t)decoder->info.orientation;
        status = SDD_OK;
    }
    return status;
}

static void jxl_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    if (decoder->jxl != NULL) JxlDecoderDestroy(decoder->jxl);
    free(decoder->pixels);
    free(decoder->profile);
    body_free(&decoder->body);
    free(decoder);
}

/* ---- encoding */

/* Returns libjxl's distance for a quality of 1 to 99, as its own tools choose it: 0.1 to 25, 1 hardly visible. */
static float distance_of(int32_t quality)
{
    float q = (float)quality;
    return quality >= 30 ? 0.1f + (100 - q) * 0.09f : 53.0f / 3000 * q * q - 23.0f / 20 * q + 25;
}

/* Says what the colours are: those of a profile, of code points, or sRGB. */
static JxlEncoderStatus set_colours(JxlEncoder *encoder, const sdd_coder_frame *picture)
{
    JxlColorEncoding colours;
    if (picture->icc_profile_size > 0)
        return JxlEncoderSetICCProfile(encoder, picture->icc_profile, picture->icc_profile_size);
    JxlColorEncodingSetToSRGB(&colours, JXL_FALSE);
    /* libjxl numbers them as ITU-T H.273 does, but Display P3. */
    if (picture->primaries == 9) colours.primaries = JXL_PRIMARIES_2100;
    if (picture->primaries == 11 || picture->primaries == 12) colours.primaries = JXL_PRIMARIES_P3;
    if (picture->primaries == 11) colours.white_point = JXL_WHITE_POINT_DCI;
    if (picture->transfer == 8 || picture->transfer == 16 || picture->transfer == 18)
        colours.transfer_function = (JxlTransferFunction)picture->transfer;
    if (picture->transfer == 1 || picture->transfer == 6 || picture->transfer == 14 || picture->transfer == 15)
        colours.transfer_function = JXL_TRANSFER_FUNCTION_709;
    return JxlEncoderSetColorEncoding(encoder, &colours);
}

/* Describes RGBA8, lossless at quality 100. Returns the settings of the frame; NULL on an error. */
static JxlEncoderFrameSettings *prepare(JxlEncoder *encoder, const sdd_coder_frame *picture, int32_t quality)
{
    JxlEncoderFrameSettings *settings = JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlBasicInfo info;
    int is_good;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)picture->width;
    info.ysize = (uint32_t)picture->height;
    info.bits_per_sample = info.alpha_bits = 8;
    info.num_color_channels = 3;
    info.num_extra_channels = 1;
    info.uses_original_profile = quality >= 100;
    is_good = settings != NULL && JxlEncoderSetBasicInfo(encoder, &info) == JXL_ENC_SUCCESS &&
              set_colours(encoder, picture) == JXL_ENC_SUCCESS &&
              JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 3) == JXL_ENC_SUCCESS &&
              (quality >= 100 ? JxlEncoderSetFrameLossless(settings, JXL_TRUE)
                              : JxlEncoderSetFrameDistance(settings, distance_of(quality))) == JXL_ENC_SUCCESS;
    return is_good ? settings : NULL;
}

/* Rows without padding, as libjxl takes them. Returns `picture`'s own if they are; else memory for `free`. */
static const void *packed(const sdd_coder_frame *picture, uint8_t **copy)
{
    size_t row = (size_t)picture->width * 4;
    if (picture->stride == row) return picture->pixels;
    *copy = malloc(row * (size_t)picture->height);
    for (int32_t y = 0; *copy != NULL && y < picture->height; y++)
        memcpy(*copy + (size_t)y * row, (const uint8_t *)picture->pixels + (size_t)y * picture->stride, row);
    return *copy;
}

static sdd_status jxl_encode(const sdd_coder_frame *picture, int32_t quality, sdd_coder_write_fn write, void *context,
                             void *user_data)
{
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    JxlEncoderFrameSettings *settings = encoder != NULL ? prepare(encoder, picture, quality) : NULL;
    uint8_t piece[16384], *copy = NULL;
    const void *pixels = packed(picture, &copy);
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    (void)user_data;
    if (settings != NULL && pixels != NULL &&
        JxlEncoderAddImageFrame(settings, &rgba8, pixels, (size_t)picture->width * 4 * (size_t)picture->height) ==
            JXL_ENC_SUCCESS) {
        JxlEncoderStatus made = JXL_ENC_NEED_MORE_OUTPUT;
        JxlEncoderCloseInput(encoder);
        status = SDD_OK;
        while (status == SDD_OK && made == JXL_ENC_NEED_MORE_OUTPUT) {
            uint8_t *next = piece;
            size_t left = sizeof piece;
            made = JxlEncoderProcessOutput(encoder, &next, &left);
            status = made == JXL_ENC_ERROR ? SDD_ERROR_UNSUPPORTED : write(context, piece, sizeof piece - left);
        }
    }
    free(copy);
    if (encoder != NULL) JxlEncoderDestroy(encoder);
    return status;
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "jxl",
        .mime_type = "image/jxl",
        .format = SDD_IMAGE_FORMAT_JXL,
        .can_decode = jxl_can_decode,
        .open = jxl_open,
        .feed = body_feed,
        .next = jxl_next,
        .close = jxl_close,
        .encode = jxl_encode,
        .preview = jxl_preview,
        .estimate = jxl_estimate,
    };
    return &coder;
}

/*
 * avif: AVIF by libavif: still pictures and sequences, encoding. Package libsdd-coder-avif.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "av1.h"

#include <avif/avif.h>
#include <dlfcn.h>
#if defined(__has_include) && __has_include(<dav1d/dav1d.h>)
#include <dav1d/dav1d.h>
#endif

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    avifDecoder *avif; /* NULL before the estimate */
    avifRGBImage rgb;
    uint8_t *pixels;
    int keeps_rest, is_cut; /* is_cut: a sequence that ends too early, and is kept */
    int32_t frame_count, shown;
};

static int32_t avif_can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    return has_brand(bytes, size, "avifavis");
}

static sdd_status avif_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    decoder->keeps_rest = keeps_rest(task);
    *out = decoder;
    return SDD_OK;
}

static sdd_status status_of(avifResult result)
{
    switch (result) {
    case AVIF_RESULT_OK: return SDD_OK;
    case AVIF_RESULT_NO_IMAGES_REMAINING: return SDD_ERROR_NOT_FOUND;
    case AVIF_RESULT_TRUNCATED_DATA: return SDD_ERROR_INCOMPLETE;
    case AVIF_RESULT_OUT_OF_MEMORY: return SDD_ERROR_NO_RESOURCES;
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
    case AVIF_RESULT_UNSUPPORTED_DEPTH: return SDD_ERROR_UNSUPPORTED;
    default: return SDD_ERROR_BAD_IMAGE_DATA;
    }
}

/* Counts the frames of a sequence; of one that is kept, those whose data is there, but at least one. */
static void count_frames(struct decoder *decoder)
{
    avifExtent extent;
    decoder->frame_count = decoder->avif->imageCount;
    if (!decoder->keeps_rest || decoder->frame_count == 1) return;
    for (int32_t i = 0; i < decoder->frame_count; i++) {
        if (avifDecoderNthImageMaxExtent(decoder->avif, (uint32_t)i, &extent) == AVIF_RESULT_OK &&
            extent.offset <= decoder->body.size && extent.size <= decoder->body.size - extent.offset)
            continue;
        decoder->is_cut = 1;
        decoder->frame_count = i > 0 ? i : 1;
        return;
    }
}

/* Opens the decoder: libavif reads the sizes, which are checked before any pixel is decoded. */
static sdd_status begin(struct decoder *decoder)
{
    sdd_status status;
    avifDecoder *avif;
    if (has_endless_places(span_of(decoder->body.bytes, decoder->body.size), 0)) return SDD_ERROR_BAD_IMAGE_DATA;
    avif = avifDecoderCreate();
    if (avif == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->avif = avif;
    avif->maxThreads = 1; /* libsdd has several decode threads */
    avif->ignoreXMP = AVIF_TRUE;
    avif->ignoreExif = AVIF_TRUE;
    avif->imageDimensionLimit = 0; /* the limit on pixels holds; what is long and low is no attack */
    /* Browsers show files without these properties, or with invalid ones, all the same. */
    avif->strictFlags &= ~(avifStrictFlags)(AVIF_STRICT_PIXI_REQUIRED | AVIF_STRICT_CLAP_VALID);
    status = status_of(avifDecoderSetIOMemory(avif, decoder->body.bytes, decoder->body.size));
    /* libavif refuses a file that is shorter than its samples, unless it does not know its size. */
    if (status == SDD_OK && decoder->keeps_rest) avif->io->sizeHint = 0;
    if (status == SDD_OK) status = status_of(avifDecoderParse(avif));
    if (status != SDD_OK) return status;
    if (avif->imageCount < 1) return SDD_ERROR_BAD_IMAGE_DATA;
    count_frames(decoder);
    status = check_size(avif->image->width, avif->image->height, decoder->max_pixels);
    /* Parsing takes no memory for pixels, and a limit would make it fail as if the file were damaged. */
    if (status == SDD_OK && decoder->max_pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT)
        avif->imageSizeLimit = (uint32_t)decoder->max_pixels;
    return status;
}

/* ---- memory */

/* Returns the bytes of each pixel in the planes of a picture, those of its transparency included. */
static double plane_bytes(const avifDecoder *avif)
{
    double planes = avif->alphaPresent ? 1 : 0;
    switch (avif->image->yuvFormat) {
    case AVIF_PIXEL_FORMAT_YUV400: planes += 1; break;
    case AVIF_PIXEL_FORMAT_YUV420: planes += 1.5; break;
    case AVIF_PIXEL_FORMAT_YUV422: planes += 2; break;
    default: planes += 3; break;
    }
    return avif->image->depth > 8 ? 2 * planes : planes;
}

/* Adds up the pictures in all items of a file that the decoder needs: tiles, layers and frames that are never shown.
   `largest` becomes the pixels of the largest. */
static double pixels_of(const struct items *items, double *largest)
{
    double pixels = 0;
    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->items[i];
        double size = (double)item->width * item->height;
        if (!item->is_used) continue;
        if (size > *largest) *largest = size;
        if (item->type == BOX('a', 'v', '0', '1')) {
            size = size * count_av1_frames(item) + 2e5; /* each has a decoder of its own */
        }
        pixels += size;
    }
    return pixels;
}

/* With libavif 0.11 and dav1d 1.0, still pictures of 1 to 64 million pixels took 4 bytes a pixel for the result, the
   planes once, and 0.4 to 0.8 bytes more; grids have the planes of each tile and of the whole. In a sequence the AV1
   decoder keeps up to 8 frames beside the one that it makes. */
static sdd_status avif_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    const struct body *body = &decoder->body;
    struct items items;
    double pixels, largest, stated;
    sdd_status status;
    (void)user_data;
    if (!body->is_whole) return SDD_ERROR_INCOMPLETE;
    status = begin(decoder);
    if (status != SDD_OK) return status;
    largest = stated = (double)decoder->avif->image->width * decoder->avif->image->height;
    pixels = 10 * stated;
    status = items_read(&items, body, decoder->keeps_rest);
    if (status == SDD_OK && decoder->avif->imageCount == 1 && memcmp(body->bytes + 8, "avis", 4) != 0)
        pixels = pixels_of(&items, &largest);
    items_free(&items);
    if (status != SDD_OK && status != SDD_ERROR_NOT_FOUND) return status;
    if (largest > (double)decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    /* No frame of the stream is larger than the file states, or else dav1d refuses it. */
    if (largest < decoder->avif->imageSizeLimit) decoder->avif->imageSizeLimit = (uint32_t)largest;
    status = status_of(avifDecoderReset(decoder->avif));
    if (status != SDD_OK) return status;
    return fill_estimate(estimate, &decoder->body, decoder->avif->image->width, decoder->avif->image->height, 5,
                         pixels * plane_bytes(decoder->avif) + 3e6);
}

static sdd_status take_memory(struct decoder *decoder)
{
    const avifImage *image = decoder->avif->image;
    decoder->pixels = calloc((size_t)image->width * 4, image->height);
    return decoder->pixels == NULL ? SDD_ERROR_NO_RESOURCES : SDD_OK;
}

/* ---- frames */

/* Returns the Exif orientation for AVIF's two properties: rotation to the left by quarters, then mirroring. */
static int32_t orientation_of(const avifImage *image)
{
    static const int32_t turned[4] = { 1, 8, 3, 6 };
    static const int32_t upside_down[4] = { 4, 5, 2, 7 }; /* then top and bottom are exchanged */
    static const int32_t mirrored[4] = { 2, 7, 4, 5 };    /* then left and right are */
    int turn = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
#if AVIF_VERSION >= 1000000
    int axis = image->imir.axis;
#else
    int axis = image->imir.mode;
#endif
    if (!(image->transformFlags & AVIF_TRANSFORM_IMIR)) return turned[turn];
    return axis == 0 ? upside_down[turn] : mirrored[turn];
}

/* A profile comes before code points, as in browsers. */
static void describe_colours(const avifImage *image, sdd_coder_frame *frame)
{
    fill_profile(frame, image->icc.data, image->icc.size, image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400);
    if (frame->icc_profile != NULL || image->colorPrimaries > 255 || image->transferCharacteristics > 255) return;
    frame->primaries = image->colorPrimaries;
    frame->transfer = image->transferCharacteristics;
}

/* Reads from the body, behind whose end the rest seems to be still on its way: libavif then decodes the tiles of a grid
   that are there. */
static avifResult read_what_is_there(struct avifIO *io, uint32_t flags, uint64_t offset, size_t size, avifROData *out)
{
    const struct body *body = io->data;
    if (flags != 0) return AVIF_RESULT_IO_ERROR;
    if (offset > body->size || size > body->size - offset) return AVIF_RESULT_WAITING_ON_IO;
    out->data = body->bytes + offset;
    out->size = size;
    return AVIF_RESULT_OK;
}

/* Decodes a still picture that may be cut, and says how many rows of it there are. */
static sdd_status decode_rest(struct decoder *decoder, uint32_t *rows)
{
    avifDecoder *avif = decoder->avif;
    avifResult result;
    avif->io->read = read_what_is_there;
    avif->io->data = &decoder->body;
    avif->allowIncremental = AVIF_TRUE;
    result = avifDecoderNextImage(avif);
    if (result != AVIF_RESULT_WAITING_ON_IO) return status_of(result);
    *rows = avifDecoderDecodedRowCount(avif);
    decoder->is_cut = 1;
    return *rows > 0 ? SDD_OK : SDD_ERROR_INCOMPLETE;
}

/* Converts the first rows; the others are not there, and stay empty. */
static sdd_status convert(struct decoder *decoder, const avifImage *image, uint32_t rows)
{
    const avifCropRect rect = { 0, 0, image->width, rows };
    avifImage *part = avifImageCreateEmpty();
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    if (part != NULL) status = status_of(avifImageSetViewRect(part, image, &rect));
    if (status == SDD_OK) {
        avifRGBImageSetDefaults(&decoder->rgb, part);
        decoder->rgb.depth = 8;
        decoder->rgb.format = AVIF_RGB_FORMAT_RGBA;
        decoder->rgb.pixels = decoder->pixels;
        decoder->rgb.rowBytes = image->width * 4;
        status = status_of(avifImageYUVToRGB(part, &decoder->rgb));
    }
    if (part != NULL) avifImageDestroy(part);
    return status;
}

static sdd_status avif_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    const avifImage *image;
    uint32_t width, height, rows;
    sdd_status status = SDD_OK;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (decoder->avif == NULL) {
        sdd_coder_estimate estimate; /* a program that asks for none; the sizes must be checked all the same */
        status = avif_estimate(decoder, &estimate, NULL);
    }
    if (status == SDD_OK && decoder->pixels == NULL) status = take_memory(decoder);
    if (status != SDD_OK) return status;
    if (decoder->is_cut && decoder->shown == decoder->frame_count) return SDD_ERROR_NOT_FOUND;
    image = decoder->avif->image;
    width = image->width;
    rows = height = image->height;
    if (decoder->keeps_rest && decoder->frame_count == 1 && !decoder->is_cut && decoder->shown == 0)
        status = decode_rest(decoder, &rows);
    else
        status = status_of(avifDecoderNextImage(decoder->avif));
    if (status != SDD_OK) return status;
    image = decoder->avif->image;
    if (image->width != width || image->height != height) /* differs from the header, or from the previous frame */
        return SDD_ERROR_BAD_IMAGE_DATA;
    status = convert(decoder, image, rows);
    if (status != SDD_OK) return status;
    fill_frame(frame, decoder->pixels, (int32_t)width, (int32_t)height);
    frame->orientation = orientation_of(image);
    describe_colours(image, frame);
    frame->frame_count = decoder->frame_count;
    /* The colours of the last row also depend on the next one, if rows share them. */
    if (rows < height && image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420) rows--;
    if (decoder->is_cut) frame->good_rows = (int32_t)rows;
    decoder->shown++;
    if (decoder->avif->imageTiming.duration > 0 && decoder->avif->imageTiming.duration < 1e6)
        frame->duration_us = (int64_t)(decoder->avif->imageTiming.duration * 1e6 + 0.5);
#if AVIF_VERSION >= 1000000
    /* Of a still picture libavif 1.0 states -2 (unknown) here, libavif 1.2 states 0. */
    if (decoder->avif->imageCount > 1 && decoder->avif->repetitionCount >= 0 &&
        decoder->avif->repetitionCount < INT32_MAX)
        frame->loop_count = decoder->avif->repetitionCount + 1;
#endif
    return SDD_OK;
}

static void avif_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    if (decoder->avif != NULL) avifDecoderDestroy(decoder->avif);
    free(decoder->pixels);
    body_free(&decoder->body);
    free(decoder);
}

/* ---- encoding */

static int is_opaque(const sdd_coder_frame *picture)
{
    for (int32_t y = 0; y < picture->height; y++) {
        const uint8_t *row = (const uint8_t *)picture->pixels + (size_t)y * picture->stride;
        for (int32_t x = 0; x < picture->width; x++)
            if (row[(size_t)x * 4 + 3] != 255) return 0;
    }
    return 1;
}

/* Sets the quality: 1 to 99, or 100 for lossless. */
static void set_quality(avifEncoder *encoder, int32_t quality)
{
#if AVIF_VERSION >= 1000000
    encoder->quality = encoder->qualityAlpha = quality;
#else
    int quantizer = (100 - quality) * AVIF_QUANTIZER_WORST_QUALITY / 100;
    encoder->minQuantizer = encoder->maxQuantizer = quantizer;
    encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = quantizer;
#endif
}

/* Says what the colours are; sRGB if nothing else is stated. */
static sdd_status set_colours(avifImage *image, const sdd_coder_frame *picture)
{
    image->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    image->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    if (picture->primaries > 0) image->colorPrimaries = (avifColorPrimaries)picture->primaries;
    if (picture->transfer > 0) image->transferCharacteristics = (avifTransferCharacteristics)picture->transfer;
    if (picture->icc_profile_size == 0) return SDD_OK;
#if AVIF_VERSION >= 1000000
    return status_of(avifImageSetProfileICC(image, picture->icc_profile, picture->icc_profile_size));
#else
    avifImageSetProfileICC(image, picture->icc_profile, picture->icc_profile_size);
    return image->icc.size > 0 ? SDD_OK : SDD_ERROR_NO_RESOURCES;
#endif
}

/* Encodes; lossless at quality 100. */
static sdd_status avif_encode(const sdd_coder_frame *picture, int32_t quality, sdd_coder_write_fn write, void *context,
                              void *user_data)
{
    avifImage *image = avifImageCreate(picture->width, picture->height, 8,
                                       quality >= 90 ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420);
    avifEncoder *encoder = avifEncoderCreate();
    avifRWData made = AVIF_DATA_EMPTY;
    avifRGBImage rgb;
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    (void)user_data;
    if (image != NULL && encoder != NULL) {
        image->yuvRange = AVIF_RANGE_FULL;
        image->matrixCoefficients = quality >= 100 ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
        avifRGBImageSetDefaults(&rgb, image);
        rgb.depth = 8;
        rgb.format = AVIF_RGB_FORMAT_RGBA;
        rgb.ignoreAlpha = is_opaque(picture);
        rgb.pixels = (uint8_t *)(uintptr_t)picture->pixels; /* only read */
        rgb.rowBytes = (uint32_t)picture->stride;
        encoder->maxThreads = 1;
        encoder->speed = 8; /* of 0 to 10 */
        set_quality(encoder, quality);
        status = set_colours(image, picture);
        if (status == SDD_OK) status = status_of(avifImageRGBToYUV(image, &rgb));
        if (status == SDD_OK) status = status_of(avifEncoderWrite(encoder, image, &made));
        if (status == SDD_OK) status = write(context, made.data, made.size);
    }
    avifRWDataFree(&made);
    if (encoder != NULL) avifEncoderDestroy(encoder);
    if (image != NULL) avifImageDestroy(image);
    return status;
}

/* ---- silence */

/* dav1d writes a line to standard error for each damaged stream, and libavif has no setting for that. libavif finds
   this function before dav1d's, because this object comes first among those that dlopen(3) has loaded for it. */
#ifdef DAV1D_ERR /* its header is there */
CODER_EXPORT void dav1d_default_settings(Dav1dSettings *settings);
void dav1d_default_settings(Dav1dSettings *settings)
{
    void (*own)(Dav1dSettings *) = NULL;
    *(void **)&own = dlsym(RTLD_NEXT, "dav1d_default_settings");
    memset(settings, 0, sizeof *settings);
    if (own != NULL) own(settings);
    settings->logger.callback = NULL;
}
#endif

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "avif",
        .mime_type = "image/avif",
        .format = SDD_IMAGE_FORMAT_AVIF,
        .can_decode = avif_can_decode,
        .open = avif_open,
        .feed = body_feed,
        .next = avif_next,
        .close = avif_close,
        .encode = avif_encode,
        .estimate = avif_estimate,
    };
    return &coder;
}

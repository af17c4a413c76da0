/*
 * icc: no pictures, but pixels with a colour profile, which become sRGB by lcms2: profiles with tables, and of four
 * inks. Package libsdd-icc. libsdd makes the bodies itself: the name "libsdd pixels" with its NUL; width, height, 1 for
 * inks or 0, and the size of the profile, each as 4 bytes with the highest first; the profile (ICC.1); and the pixels,
 * 4 bytes each: RGBA8, or four inks of which 255 is none, as a JPEG of Adobe's has them.
 */
#include "coder.h"

#include <lcms2.h>

enum { HEAD = 14 + 4 * 4, MOST_OF_A_PROFILE = 8 << 20 };

/* A conversion, and what it is for. */
struct conversion {
    cmsContext context;
    cmsHTRANSFORM transform;
    uint8_t *profile;
    size_t profile_size;
    int has_inks;
};

/* The conversion of the last picture, for the next one with the same profile: lcms2 takes some 20 ms to prepare tables,
   by which a pixel takes 30 ns instead of 200. A thread takes it out while it uses it. */
static struct conversion *kept;

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    int32_t width, height;
    int has_inks, is_done;
    const uint8_t *profile, *pixels;
    size_t profile_size;
    uint8_t *made;
};

/* No body from outside is pixels. */
static int32_t icc_can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)bytes;
    (void)size;
    (void)user_data;
    return 0;
}

static sdd_status icc_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    *out = decoder;
    return SDD_OK;
}

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static sdd_status read_head(struct decoder *decoder)
{
    const uint8_t *bytes = decoder->body.bytes;
    uint64_t width, height, profile, size = decoder->body.size;
    sdd_status status;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (size < HEAD || memcmp(bytes, "libsdd pixels", 14) != 0) return SDD_ERROR_BAD_IMAGE_DATA;
    width = number(bytes + 14);
    height = number(bytes + 18);
    decoder->has_inks = number(bytes + 22) == 1;
    profile = number(bytes + 26);
    if (width > INT32_MAX || height > INT32_MAX) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    status = check_size((int64_t)width, (int64_t)height, decoder->max_pixels);
    if (status != SDD_OK) return status;
    if (profile > MOST_OF_A_PROFILE || size - HEAD < profile || size - HEAD - profile != width * height * 4)
        return SDD_ERROR_BAD_IMAGE_DATA;
    decoder->width = (int32_t)width;
    decoder->height = (int32_t)height;
    decoder->profile = bytes + HEAD;
    decoder->profile_size = (size_t)profile;
    decoder->pixels = decoder->profile + profile;
    return SDD_OK;
}

/* With lcms2 2.14, conversions took the result, and 2 to 6 MB for the tables. */
static sdd_status icc_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status = read_head(decoder);
    (void)user_data;
    if (status != SDD_OK) return status;
    return fill_estimate(estimate, &decoder->body, decoder->width, decoder->height, 4,
                         8e6 + 2.0 * (double)decoder->profile_size);
}

static void say_nothing(cmsContext context, cmsUInt32Number code, const char *text)
{
    (void)context;
    (void)code;
    (void)text;
}

static void conversion_free(struct conversion *conversion)
{
    if (conversion == NULL) return;
    if (conversion->transform != NULL) cmsDeleteTransform(conversion->transform);
    if (conversion->context != NULL) cmsDeleteContext(conversion->context);
    free(conversion->profile);
    free(conversion);
}

/* Removes tables of another kind (D2B0 and so on), which browsers do not read, and lcms2 would prefer: a few kilobytes
   of these can name one step a million times. */
static void leave_out_floats(cmsHPROFILE profile)
{
    static const cmsTagSignature tags[] = { cmsSigDToB0Tag, cmsSigDToB1Tag, cmsSigDToB2Tag, cmsSigDToB3Tag };
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (cmsIsTag(profile, tags[i])) (void)cmsWriteTag(profile, tags[i], NULL);
}

/* Makes the transform, as browsers do it: by the table for perception, without compensation of the black point, which
   lcms2 leaves out between profiles of the second version. White that is not white, as of old film, stays so. */
static cmsHTRANSFORM make_transform(const struct conversion *conversion)
{
    cmsContext context = conversion->context;
    cmsHPROFILE own = cmsOpenProfileFromMemTHR(context, conversion->profile, (cmsUInt32Number)conversion->profile_size);
    cmsHPROFILE srgb = cmsCreate_sRGBProfileTHR(context);
    cmsHTRANSFORM transform = NULL;
    cmsColorSpaceSignature space = own != NULL ? cmsGetColorSpace(own) : (cmsColorSpaceSignature)0;
    cmsUInt32Number flags = cmsFLAGS_NOWHITEONWHITEFIXUP, from = TYPE_CMYK_8_REV;
    if (!conversion->has_inks) {
        flags |= cmsFLAGS_COPY_ALPHA;
        from = TYPE_RGBA_8;
    }
    if (own != NULL) {
        leave_out_floats(own);
        cmsSetProfileVersion(own, 2.4);
    }
    if (srgb != NULL) cmsSetProfileVersion(srgb, 2.4);
    if (srgb != NULL && space == (conversion->has_inks ? cmsSigCmykData : cmsSigRgbData))
        transform = cmsCreateTransformTHR(context, own, from, srgb, TYPE_RGBA_8, INTENT_PERCEPTUAL, flags);
    if (own != NULL) cmsCloseProfile(own);
    if (srgb != NULL) cmsCloseProfile(srgb);
    return transform;
}

/* Returns a conversion without its transform. */
static struct conversion *conversion_new(const struct decoder *decoder)
{
    struct conversion *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->context = cmsCreateContext(NULL, NULL);
    made->profile = malloc(decoder->profile_size + 1);
    if (made->context == NULL || made->profile == NULL) {
        conversion_free(made);
        return NULL;
    }
    cmsSetLogErrorHandlerTHR(made->context, say_nothing);
    memcpy(made->profile, decoder->profile, decoder->profile_size);
    made->profile_size = decoder->profile_size;
    made->has_inks = decoder->has_inks;
    return made;
}

/* Takes the kept conversion if it is for this profile, or makes one. */
static sdd_status take_conversion(const struct decoder *decoder, struct conversion **out)
{
    struct conversion *conversion = __atomic_exchange_n(&kept, NULL, __ATOMIC_ACQ_REL);
    if (conversion != NULL &&
        (conversion->has_inks != decoder->has_inks || conversion->profile_size != decoder->profile_size ||
         memcmp(conversion->profile, decoder->profile, decoder->profile_size) != 0)) {
        conversion_free(conversion);
        conversion = NULL;
    }
    if (conversion == NULL) conversion = conversion_new(decoder);
    if (conversion == NULL) return SDD_ERROR_NO_RESOURCES;
    if (conversion->transform == NULL) conversion->transform = make_transform(conversion);
    if (conversion->transform == NULL) {
        conversion_free(conversion);
        return SDD_ERROR_BAD_IMAGE_DATA;
    }
    *out = conversion;
    return SDD_OK;
}

static sdd_status convert(struct decoder *decoder)
{
    size_t row = (size_t)decoder->width * 4;
    struct conversion *conversion = NULL;
    sdd_status status = take_conversion(decoder, &conversion);
    if (status != SDD_OK) return status;
    decoder->made = malloc(row * (size_t)decoder->height);
    for (int32_t y = 0; decoder->made != NULL && y < decoder->height; y++) {
        uint8_t *to = decoder->made + (size_t)y * row;
        if (decoder->has_inks) memset(to, 0xff, row); /* for alpha, which lcms2 leaves alone */
        cmsDoTransform(conversion->transform, decoder->pixels + (size_t)y * row, to, (cmsUInt32Number)decoder->width);
    }
    conversion_free(__atomic_exchange_n(&kept, conversion, __ATOMIC_ACQ_REL));
    return decoder->made == NULL ? SDD_ERROR_NO_RESOURCES : SDD_OK;
}

static sdd_status icc_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status;
    (void)user_data;
    if (decoder->is_done) return SDD_ERROR_NOT_FOUND;
    status = read_head(decoder);
    if (status == SDD_OK) status = convert(decoder);
    if (status != SDD_OK) return status;
    decoder->is_done = 1;
    fill_frame(frame, decoder->made, decoder->width, decoder->height);
    return SDD_OK;
}

static void icc_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    free(decoder->made);
    body_free(&decoder->body);
    free(decoder);
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "icc",
        .format = SDD_IMAGE_FORMAT_ICC,
        .can_decode = icc_can_decode,
        .open = icc_open,
        .feed = body_feed,
        .next = icc_next,
        .close = icc_close,
        .estimate = icc_estimate,
    };
    return &coder;
}

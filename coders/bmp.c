/*
 * bmp: BMP of Windows and OS/2. Package libsdd-coder-bmp.
 */
#include "dib.h"

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    struct dib dib;
    unsigned char *canvas;
};

/* The file's header of 14 bytes, of which only "BM" is fixed, and the length of the bitmap's. */
static int32_t bmp_can_decode(const void *bytes, size_t size, void *user_data)
{
    int32_t is_first = begins_with(bytes, size, "BM", 2);
    (void)user_data;
    if (is_first != 1) return is_first;
    return size < 18 ? -1 : dib_is_header(dib_32((const unsigned char *)bytes + 14));
}

static sdd_status bmp_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    *out = decoder;
    return SDD_OK;
}

static sdd_status begin(struct decoder *decoder)
{
    struct dib *dib = &decoder->dib;
    if (!decoder->body.is_whole || decoder->body.size < 14) return SDD_ERROR_INCOMPLETE;
    dib->bytes = decoder->body.bytes;
    dib->size = decoder->body.size;
    dib->rows = dib_32(dib->bytes + 10);
    return dib_read_header(dib, 14, decoder->max_pixels);
}

static sdd_status bmp_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status = begin(decoder);
    (void)user_data;
    if (status != SDD_OK) return status;
    return fill_estimate(estimate, &decoder->body, decoder->dib.width, decoder->dib.height, 4, 4096);
}

static sdd_status bmp_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    int has_alpha;
    sdd_status status;
    (void)user_data;
    if (decoder->canvas != NULL) return SDD_ERROR_NOT_FOUND;
    status = begin(decoder);
    if (status != SDD_OK) return status;
    decoder->canvas = calloc((size_t)decoder->dib.width * (size_t)decoder->dib.height, 4);
    if (decoder->canvas == NULL) return SDD_ERROR_NO_RESOURCES;
    status = dib_fill(&decoder->dib, decoder->canvas, &has_alpha);
    if (status != SDD_OK) return status;
    fill_frame(frame, decoder->canvas, decoder->dib.width, decoder->dib.height);
    fill_profile(frame, decoder->dib.profile, decoder->dib.profile_size, 0);
    if (decoder->dib.is_srgb) frame->primaries = 1, frame->transfer = 13; /* ITU-T H.273 */
    return SDD_OK;
}

static void bmp_close(void *given, void *user_data)
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
        .name = "bmp",
        .mime_type = "image/bmp",
        .format = SDD_IMAGE_FORMAT_BMP,
        .can_decode = bmp_can_decode,
        .open = bmp_open,
        .feed = body_feed,
        .next = bmp_next,
        .close = bmp_close,
        .estimate = bmp_estimate,
    };
    return &coder;
}

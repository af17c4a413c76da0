/*
 * heif: HEIF with HEVC (HEIC) by libheif: the primary picture. Package libsdd-coder-heif.
 */
#include "hevc.h"

#include <libheif/heif.h>

struct decoder {
    struct body body; /* first: body_feed() */
    int64_t max_pixels;
    struct heif_context *heif;
    struct heif_image_handle *handle;
    struct heif_image *image;
    void *profile;
    int is_begun, is_done, is_grey;
};

static int32_t heif_can_decode(const void *bytes, size_t size, void *user_data)
{
    int32_t is_avif = has_brand(bytes, size, "avifavis");
    (void)user_data;
    /* The brands of HEVC (ISO/IEC 23008-12, annex B), and "mif1" alone. */
    if (is_avif != 0) return is_avif < 0 ? -1 : 0;
    return has_brand(bytes, size, "heicheixheimheishevchevxhevmhevsmif1msf1");
}

static sdd_status heif_open(const sdd_coder_task *task, void **out, void *user_data)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    (void)user_data;
    if (decoder == NULL) return SDD_ERROR_NO_RESOURCES;
    decoder->max_pixels = task->max_pixels;
    *out = decoder;
    return SDD_OK;
}

static sdd_status status_of(struct heif_error error)
{
    if (error.code == heif_error_Ok) return SDD_OK;
    if (error.subcode == heif_suberror_End_of_data) return SDD_ERROR_INCOMPLETE;
    if (error.subcode == heif_suberror_Security_limit_exceeded) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    switch (error.code) {
    case heif_error_Memory_allocation_error: return SDD_ERROR_NO_RESOURCES;
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature: return SDD_ERROR_UNSUPPORTED;
    default: return SDD_ERROR_BAD_IMAGE_DATA;
    }
}

enum { LONGEST_SIDE = 65535 };

/* libheif refuses sides from its limit on. */
static void limit_sides(const struct decoder *decoder, uint32_t longest)
{
    heif_context_set_maximum_image_size_limit(decoder->heif, (int)longest + 1);
}

static sdd_status begin(struct decoder *decoder)
{
    struct heif_error error;
    decoder->is_begun = 1;
    if (has_endless_places(span_of(decoder->body.bytes, decoder->body.size), 0)) return SDD_ERROR_BAD_IMAGE_DATA;
    decoder->heif = heif_context_alloc();
    if (decoder->heif == NULL) return SDD_ERROR_NO_RESOURCES;
    /* libheif's limit is for each side, so that it says little of the area, which is checked here and by the estimate.
       Parsing takes no memory for pixels. */
    limit_sides(decoder, LONGEST_SIDE);
    heif_context_set_max_decoding_threads(decoder->heif, 0); /* this thread alone; libsdd has several */
    error = heif_context_read_from_memory_without_copy(decoder->heif, decoder->body.bytes, decoder->body.size, NULL);
    if (error.code != heif_error_Ok) return status_of(error);
    error = heif_context_get_primary_image_handle(decoder->heif, &decoder->handle);
    if (error.code != heif_error_Ok) return status_of(error);
    return check_size(heif_image_handle_get_width(decoder->handle), heif_image_handle_get_height(decoder->handle),
                      decoder->max_pixels);
}

/* ---- memory */

/* What libheif decodes for the primary picture. */
struct content {
    struct hevc hevc;
    double canvas, tile;    /* pixels of the largest picture that is put together, or decoded */
    uint32_t width, height; /* of the largest */
    uint32_t side;          /* the longest of all */
    unsigned pictures;      /* pictures in one item */
    int has_planes;         /* there are planes of transparency, or the like */
};

static sdd_status read_item(struct content *content, struct item *item, int is_primary)
{
    struct hevc hevc = { 0 };
    double size;
    widen_canvas(item);
    if (item->type == BOX('h', 'v', 'c', '1')) {
        read_stream(&hevc, item);
        if (hevc.width > item->width) item->width = hevc.width;
        if (hevc.height > item->height) item->height = hevc.height;
        if (hevc.depth > content->hevc.depth) content->hevc.depth = hevc.depth;
        if (hevc.chroma > content->hevc.chroma) content->hevc.chroma = hevc.chroma;
        if (hevc.pictures > content->pictures) content->pictures = hevc.pictures;
    } else if (item->type != BOX('g', 'r', 'i', 'd') && item->type != BOX('i', 'o', 'v', 'l') &&
               item->type != BOX('i', 'd', 'e', 'n')) {
        return is_primary ? SDD_ERROR_UNSUPPORTED : SDD_OK; /* another codec, whose sizes are unknown here */
    }
    if (item->width > content->side) content->side = item->width;
    if (item->height > content->side) content->side = item->height;
    size = (double)item->width * item->height;
    if (size > content->canvas) {
        content->canvas = size;
        content->width = item->width;
        content->height = item->height;
    }
    if (item->type == BOX('h', 'v', 'c', '1') && size > content->tile) content->tile = size;
    return SDD_OK;
}

static sdd_status read_content(struct content *content, const struct body *body)
{
    struct items items;
    sdd_status status = items_read(&items, body, 0);
    memset(content, 0, sizeof *content);
    content->pictures = 1;
    content->hevc.depth = 8;
    for (size_t i = 0; status == SDD_OK && i < items.count; i++) {
        if (!items.items[i].is_used) continue;
        status = read_item(content, &items.items[i], &items.items[i] == items.primary);
        content->has_planes |= items.items[i].is_plane;
    }
    items_free(&items);
    return status == SDD_ERROR_NOT_FOUND ? SDD_ERROR_BAD_IMAGE_DATA : status;
}

/* With libheif 1.15 and libde265 1.0, pictures of 1 to 16 million pixels took 7 to 9.5 bytes a pixel in 4:2:0: 4 for
   the result, the planes of 1.5 in each library, and again where libheif turns or crops the picture, and what the
   blocks of the stream need; with transparency 2.5 more. Samples of more than 8 bits are converted by way of 8 bytes a
   pixel. The sizes are those that the streams state, if the file states smaller ones. */
static sdd_status heif_estimate(void *given, sdd_coder_estimate *estimate, void *user_data)
{
    static const double planes_of[4] = { 1, 1.5, 2, 3 };
    struct decoder *decoder = given;
    struct content content;
    double planes, canvas, width, height;
    sdd_status status;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    status = begin(decoder);
    if (status == SDD_OK) status = read_content(&content, &decoder->body);
    if (status != SDD_OK) return status;
    if (content.canvas > (double)decoder->max_pixels) return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    if (content.side > LONGEST_SIDE) return SDD_ERROR_UNSUPPORTED;
    /* From here on libheif refuses larger pictures than those that have been counted. */
    limit_sides(decoder, content.side);
    decoder->is_grey = content.hevc.chroma == 0;
    planes = planes_of[content.hevc.chroma] * (content.hevc.depth > 8 ? 2 : 1);
    canvas = 4 + 2 * planes + (content.hevc.depth > 8 ? 8 : 0) + (content.has_planes ? planes + 1 : 0);
    width = heif_image_handle_get_width(decoder->handle);
    height = heif_image_handle_get_height(decoder->handle);
    if (content.canvas > (width + 64) * (height + 64)) { /* more than the padding of a stream: the file lies */
        status = check_size(content.width, content.height, decoder->max_pixels);
        if (status != SDD_OK) return status;
        width = content.width;
        height = content.height;
    }
    return fill_estimate(estimate, &decoder->body, (int64_t)width, (int64_t)height, 0,
                         content.canvas * canvas + content.tile * (planes * content.pictures + 1.5) +
                             3.0 * (double)decoder->body.size + 3e6);
}

/* ---- the picture */

/* Decodes to RGBA8. libheif turns, mirrors and crops the picture as its properties say. */
static sdd_status decode(struct decoder *decoder)
{
    struct heif_decoding_options *options = heif_decoding_options_alloc();
    struct heif_error error;
    if (options == NULL) return SDD_ERROR_NO_RESOURCES;
    options->convert_hdr_to_8bit = 1;
    error = heif_decode_image(decoder->handle, &decoder->image, heif_colorspace_RGB, heif_chroma_interleaved_RGBA,
                              options);
    heif_decoding_options_free(options);
    return status_of(error);
}

/* Gives out a profile, or code points. */
static sdd_status describe_colours(struct decoder *decoder, sdd_coder_frame *frame)
{
    struct heif_color_profile_nclx *points = NULL;
    size_t size;
    switch (heif_image_handle_get_color_profile_type(decoder->handle)) {
    case heif_color_profile_type_nclx:
        if (heif_image_handle_get_nclx_color_profile(decoder->handle, &points).code != heif_error_Ok) return SDD_OK;
        frame->primaries = (int32_t)points->color_primaries & 0xff;
        frame->transfer = (int32_t)points->transfer_characteristics & 0xff;
        heif_nclx_color_profile_free(points);
        return SDD_OK;
    case heif_color_profile_type_rICC:
    case heif_color_profile_type_prof: break;
    default: return SDD_OK;
    }
    size = heif_image_handle_get_raw_color_profile_size(decoder->handle);
    if (size == 0) return SDD_OK;
    decoder->profile = malloc(size);
    if (decoder->profile == NULL) return SDD_ERROR_NO_RESOURCES;
    if (heif_image_handle_get_raw_color_profile(decoder->handle, decoder->profile).code != heif_error_Ok) return SDD_OK;
    fill_profile(frame, decoder->profile, size, decoder->is_grey);
    return SDD_OK;
}

static sdd_status heif_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    struct decoder *decoder = given;
    sdd_status status = SDD_OK;
    int stride = 0, width, height;
    const uint8_t *pixels;
    (void)user_data;
    if (!decoder->body.is_whole) return SDD_ERROR_INCOMPLETE;
    if (decoder->is_done) return SDD_ERROR_NOT_FOUND;
    decoder->is_done = 1;
    if (!decoder->is_begun) {
        sdd_coder_estimate estimate; /* a program that asks for none; the sizes must be checked all the same */
        status = heif_estimate(decoder, &estimate, NULL);
    }
    if (status == SDD_OK) status = decode(decoder);
    if (status != SDD_OK) return status;
    pixels = heif_image_get_plane_readonly(decoder->image, heif_channel_interleaved, &stride);
    width = heif_image_get_width(decoder->image, heif_channel_interleaved);
    height = heif_image_get_height(decoder->image, heif_channel_interleaved);
    status = check_size(width, height, decoder->max_pixels);
    if (status != SDD_OK) return status;
    if (pixels == NULL || stride < width * 4) return SDD_ERROR_BAD_IMAGE_DATA;
    fill_frame(frame, pixels, width, height);
    frame->stride = (size_t)stride;
    if (heif_image_handle_is_premultiplied_alpha(decoder->handle))
        frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED;
    return describe_colours(decoder, frame);
}

static void heif_close(void *given, void *user_data)
{
    struct decoder *decoder = given;
    (void)user_data;
    free(decoder->profile);
    if (decoder->image != NULL) heif_image_release(decoder->image);
    if (decoder->handle != NULL) heif_image_handle_release(decoder->handle);
    if (decoder->heif != NULL) heif_context_free(decoder->heif);
    body_free(&decoder->body);
    free(decoder);
}

/* ---- threads */

/* libheif has libde265 start a worker thread for each picture, and has no setting for that. A process that decodes for
   isolation has no threads, and libde265 then waits for one that it could not start. There this function is found before
   libde265's, also by a plugin of libheif that is linked with it (Debian 13), because libsdd loads this object first and
   for all others; without workers libde265 decodes on the calling thread. The result is libde265's DE265_OK. */
CODER_EXPORT int de265_start_worker_threads(void *decoder, int count);
int de265_start_worker_threads(void *decoder, int count)
{
    (void)decoder;
    (void)count;
    return 0;
}

CODER_EXPORT const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    static const sdd_coder coder = {
        .struct_size = sizeof coder,
        .name = "heif",
        .mime_type = "image/heic",
        .format = SDD_IMAGE_FORMAT_HEIF,
        .can_decode = heif_can_decode,
        .open = heif_open,
        .feed = body_feed,
        .next = heif_next,
        .close = heif_close,
        .estimate = heif_estimate,
    };
    if (heif_init(NULL).code != heif_error_Ok) return NULL; /* loads its decoders */
    return heif_have_decoder_for_format(heif_compression_HEVC) ? &coder : NULL;
}

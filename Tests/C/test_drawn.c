/* A coder that draws: it is told the size that is wanted, and gives frames of it. */
#include "toy_coder.h"

/* A coder that draws: every picture has 40 x 30 pixels of its own, and the frame the size that was set, less a fault. */
static struct {
    atomic_int estimates, resizes, nexts;
    _Atomic int32_t width, height, less;
    _Atomic sdd_status refusal;
} drawn;

static int32_t drawn_can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    return size < 4 ? -1 : memcmp(bytes, "DRAW", 4) == 0;
}

static sdd_status drawn_open(const sdd_coder_task *task, void **out, void *user_data)
{
    (void)task, (void)user_data;
    drawn.width = 40;
    drawn.height = 30;
    *out = calloc(1, 1 << 22);
    return *out != NULL ? SDD_OK : SDD_ERROR_NO_RESOURCES;
}

static sdd_status drawn_feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    return SDD_OK;
}

static sdd_status drawn_estimate(void *decoder, sdd_coder_estimate *estimate, void *user_data)
{
    (void)decoder, (void)user_data;
    CHECK(drawn.nexts == 0 && drawn.estimates == drawn.resizes);
    drawn.estimates++;
    estimate->width = 40, estimate->height = 30;
    estimate->decode_bytes = 4 * (int64_t)drawn.width * drawn.height;
    return SDD_OK;
}

static sdd_status drawn_resize(void *decoder, int32_t width, int32_t height, void *user_data)
{
    (void)decoder, (void)user_data;
    CHECK(drawn.estimates == 1 && drawn.resizes == 0);
    drawn.resizes++;
    drawn.width = width;
    drawn.height = height;
    return drawn.refusal;
}

static sdd_status drawn_next(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    (void)user_data;
    CHECK(drawn.resizes == 1 && drawn.estimates == 2);
    drawn.nexts++;
    /* A row that is as wide as the frame is numbered from its left; each row is the same. */
    for (int32_t x = 0; x < drawn.width; x++) ((uint8_t *)decoder)[x] = (uint8_t)x;
    frame->pixels = decoder;
    frame->width = drawn.width - drawn.less, frame->height = drawn.height;
    frame->stride = (size_t)drawn.width;
    frame->pixel_format = SDD_PIXEL_FORMAT_GREY8;
    frame->picture_width = 40, frame->picture_height = 30;
    return SDD_OK;
}

static void drawn_close(void *decoder, void *user_data)
{
    (void)user_data;
    free(decoder);
}

static void draw(sdd_downloader *downloader, record *r, int32_t width, int32_t height, sdd_fit fit, int32_t enlarges)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.target_width = width, options.target_height = height;
    options.fit = fit, options.allow_enlarging = enlarges;
    options.pixel_format = SDD_PIXEL_FORMAT_GREY8;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    drawn.estimates = drawn.resizes = drawn.nexts = 0;
    toy_fetch(downloader, r, (const uint8_t *)"DRAW", 4);
}

/* Checks a picture that has the pixels of the frame from a column on, and was not scaled. */
static void check_drawn(const record *r, int width, int height, int first)
{
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK(image_info(r->image).stored_width == 40 && image_info(r->image).stored_height == 30);
    CHECK_EQUAL(sdd_image_width(r->image), width);
    CHECK_EQUAL(sdd_image_height(r->image), height);
    for (int x = 0; x < width; x++) CHECK_EQUAL(sdd_image_pixels(r->image)[x], (first + x) % 256);
}

static sdd_coder drawing_coder(void)
{
    sdd_coder coder = SDD_CODER_INIT;
    coder.name = "drawn", coder.format = TOY_FORMAT;
    coder.can_decode = drawn_can_decode, coder.open = drawn_open, coder.feed = drawn_feed;
    coder.estimate = drawn_estimate, coder.resize = drawn_resize;
    coder.next = drawn_next, coder.close = drawn_close;
    return coder;
}

CASE(a_coder_draws_at_the_size_that_is_wanted)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_coder coder = drawing_coder();
    OWNED_DOWNLOADER downloader = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    draw(downloader, &r, 0, 0, 0, 0);
    check_drawn(&r, 40, 30, 0);
    draw(downloader, &r, 20, 0, 0, 0);
    check_drawn(&r, 20, 15, 0);
    draw(downloader, &r, 400, 0, 0, 0);
    check_drawn(&r, 40, 30, 0);
    draw(downloader, &r, 200, 200, 0, 1);
    check_drawn(&r, 200, 150, 0);
    draw(downloader, &r, 60, 90, SDD_FIT_STRETCH, 1);
    check_drawn(&r, 60, 90, 0);
    draw(downloader, &r, 120, 120, SDD_FIT_FILL, 1);
    check_drawn(&r, 120, 120, 20);
    CHECK(drawn.width == 160 && drawn.height == 120);
}

CASE(a_coder_draws_another_size_or_none)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_coder coder = drawing_coder();
    OWNED_DOWNLOADER downloader = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    /* A frame that is smaller than what was set is a fault. */
    drawn.less = 9;
    draw(downloader, &r, 200, 200, 0, 1);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CODER);
    drawn.less = 0;
    drawn.refusal = SDD_ERROR_UNSUPPORTED;
    draw(downloader, &r, 20, 0, 0, 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNSUPPORTED);
    CHECK_EQUAL(drawn.nexts, 0);
    drawn.refusal = SDD_OK;
    /* With a decoder that draws there is an estimate. */
    coder.estimate = NULL;
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(sdd_last_error_message(), "sdd_coder.estimate") != NULL);
}

/* The limit on pixels is one on those that are drawn. */
CASE(a_drawn_picture_may_be_smaller_than_the_limit)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_coder coder = drawing_coder();
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    limits.max_pixels = 400;
    config.limits = &limits;
    OWNED_DOWNLOADER downloader = toy_downloader_with(&config);
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    draw(downloader, &r, 20, 0, 0, 0);
    check_drawn(&r, 20, 15, 0);
    draw(downloader, &r, 0, 0, 0, 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS);
    CHECK(drawn.resizes == 0 && drawn.nexts == 0);
}

int main(void) { return run_cases(); }

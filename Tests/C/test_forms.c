/* Decode options: pixel formats, orientation, background; by request and by downloader. */
#include "record.h"
#include "pixels.h"

/* Compares pixels with a file beside facts/orientation.png, which is 13 x 19 when upright. */
static void check_pixels(sdd_image *image, const char *name, size_t header)
{
    size_t size, stride = sdd_image_stride(image), at = 0;
    uint8_t *expected = fixture(name, &size);
    int height = sdd_image_height(image);
    CHECK(image != NULL && height > 0 && (size - header) % (size_t)height == 0);
    size_t row = (size - header) / (size_t)height;
    CHECK(row <= stride);
    for (int y = 0; y < height; y++, at += row)
        CHECK(memcmp(expected + header + at, sdd_image_pixels(image) + (size_t)y * stride, row) == 0);
    free(expected);
}

/* Returns the size of a PAM's header, which ends with ENDHDR and a line end. */
static size_t pam_header(const char *name)
{
    size_t size;
    uint8_t *bytes = fixture(name, &size);
    const char *end = strstr((const char *)bytes, "ENDHDR\n");
    CHECK(end != NULL);
    size_t header = (size_t)(end + 7 - (const char *)bytes);
    free(bytes);
    return header;
}

static const struct { int32_t format, keeps; const char *file; int has_header; } forms[] = {
    { 0, 0, "facts/orientation.upright.pam", 1 },
    { SDD_PIXEL_FORMAT_RGBA8, 0, "facts/orientation.upright.pam", 1 },
    { SDD_PIXEL_FORMAT_RGBA8, 1, "facts/orientation.pam", 1 },
    { SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED, 0, "facts/orientation.rgba8-premultiplied", 0 },
    { SDD_PIXEL_FORMAT_BGRA8, 0, "facts/orientation.bgra8", 0 },
    { SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED, 0, "facts/orientation.bgra8-premultiplied", 0 },
    { SDD_PIXEL_FORMAT_RGB8, 0, "facts/orientation.rgb8", 0 },
    { SDD_PIXEL_FORMAT_GREY8, 0, "facts/orientation.grey8", 0 },
};
enum { FORMS = sizeof forms / sizeof *forms };

static sdd_decode_options options_of(int form)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.pixel_format = forms[form].format;
    options.keep_orientation = forms[form].keeps;
    options.background = 0x336699;
    return options;
}

static void check_form(sdd_image *image, int form)
{
    CHECK_EQUAL(sdd_image_width(image), forms[form].keeps ? 19 : 13);
    CHECK_EQUAL(sdd_image_height(image), forms[form].keeps ? 13 : 19);
    CHECK_EQUAL(sdd_image_pixel_format(image), forms[form].format ? forms[form].format : SDD_PIXEL_FORMAT_RGBA8);
    check_pixels(image, forms[form].file, forms[form].has_header ? pam_header(forms[form].file) : 0);
}

/* X39: all requests run at once, over one transfer. */
CASE(x39_z15_each_request_has_its_own)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record records[FORMS];
    for (int i = 0; i < FORMS; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_decode_options options = options_of(i);
        sdd_download_request request = record_request(&records[i], at("/hold/forms?file=facts/orientation.png"));
        request.decode = &options; /* the library copies it */
        submit(downloader, &request);
    }
    wait_for_requests("/hold/forms", 1);
    release("forms");
    for (int i = 0; i < FORMS; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        check_form(records[i].image, i);
        CHECK(sdd_image_bytes(records[i].image) == records[i].bytes);
    }
    CHECK_EQUAL(requests_of("/hold/forms"), 1);
    CHECK(records[0].image == records[1].image); /* equal options share one image */
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    CHECK_EQUAL(statistics.images_decoded, 1);
    for (int i = 0; i < FORMS; i++) record_clear(&records[i]);
}

CASE(z15_the_downloaders_options_apply_to_the_others)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    const char *url = at("/file/facts/orientation.png");
    for (int i = 0; i < FORMS; i++) {
        sdd_decode_options options = options_of(i);
        OWNED_IMAGE image = NULL;
        CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
        CHECK_STATUS(sdd_get(downloader, url, 0, -1, &image, NULL, NULL), SDD_OK);
        check_form(image, i);
    }
    /* A request's own options replace the downloader's; NULL options restore the default. */
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options options = options_of(2);
    sdd_download_request request = record_request(&r, url);
    request.decode = &options;
    fetch_as(downloader, &r, request);
    check_form(r.image, 2);
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, NULL), SDD_OK);
    fetch(downloader, &r, url, 0);
    check_form(r.image, 0);
}

/* Z11: sizes refer to the upright picture; one body serves all requests. */
CASE(z11_each_request_has_its_size)
{
    static const struct { int32_t fit, width, height; int64_t bytes; int made_width, made_height; } sizes[] = {
        { SDD_FIT_INSIDE, 0, 0, 0, 13, 19 }, { SDD_FIT_INSIDE, 50, 50, 0, 13, 19 },
        { SDD_FIT_INSIDE, 10, 10, 0, 7, 10 }, { SDD_FIT_INSIDE, 5, 0, 0, 5, 7 }, { SDD_FIT_FILL, 10, 10, 0, 10, 10 },
        { SDD_FIT_FILL, 50, 4, 0, 13, 4 }, { SDD_FIT_STRETCH, 1, 50, 0, 1, 19 }, { SDD_FIT_STRETCH, 2, 3, 0, 2, 3 },
        { SDD_FIT_INSIDE, 1, 1, 13 * 19 * 4, 13, 19 }, { SDD_FIT_INSIDE, 1, 1, 13 * 19 * 4 - 1, 12, 17 },
    };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    static const char *const names[] = { "facts/orientation.png", "png/rgba8-interlaced.png" };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    for (int name = 0; name < 2; name++) {
        record records[SIZES];
        const char *url = atf("/hold/sizes%d?file=%s", name, names[name]);
        for (int i = 0; i < SIZES; i++) {
            records[i] = (record)RECORD_INIT;
            sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
            /* The second picture is not turned upright, so width and height are swapped. */
            options.fit = sizes[i].fit;
            options.target_width = name ? sizes[i].height : sizes[i].width;
            options.target_height = name ? sizes[i].width : sizes[i].height;
            options.scale_down_limit_bytes = sizes[i].bytes;
            sdd_download_request request = record_request(&records[i], url);
            request.decode = &options;
            submit(downloader, &request);
        }
        orderf("/release/sizes%d", name);
        for (int i = 0; i < SIZES; i++) {
            record_wait(&records[i]);
            CHECK_ENDED(&records[i], SDD_OK, 0);
            int width = sdd_image_width(records[i].image), height = sdd_image_height(records[i].image);
            int made = name ? height : width, other = name ? width : height;
            /* The limit is computed from the width first: 18 x 12 for the picture that lies on its side. */
            int is_limited = name && i == SIZES - 1;
            CHECK_EQUAL(made, is_limited ? 12 : sizes[i].made_width);
            CHECK_EQUAL(other, is_limited ? 18 : sizes[i].made_height);
        }
        for (int i = 0; i < SIZES; i++) record_clear(&records[i]);
    }
}

/* O8, C9: a limit of 60 MiB, as in SDWebImage, which no picture here reaches, and a small one. */
CASE(o8_c9_large_pictures_are_scaled_down)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.scale_down_limit_bytes = 60 << 20;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    fetch(downloader, &r, at("/file/facts/orientation.png"), 0);
    CHECK(sdd_image_width(r.image) == 13 && sdd_image_height(r.image) == 19);
    record_clear(&r);
    options.scale_down_limit_bytes = 100 * 4;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    fetch(downloader, &r, at("/file/facts/orientation.png"), 0);
    CHECK(sdd_image_width(r.image) == 8 && sdd_image_height(r.image) == 11);
}

CASE(o9_x44_pixels_are_decoded_when_they_are_asked_for)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    fetch(NULL, &r, at("/file/facts/orientation-6.jpg"), SDD_OPTION_AVOID_DECODE_IMAGE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.image != NULL && sdd_image_bytes(r.image) != NULL);
    CHECK_STATUS(sdd_image_get_info(r.image, &info), SDD_OK);
    CHECK_EQUAL(info.pixels_size, 0);
    CHECK_EQUAL(info.orientation, 6);
    CHECK_EQUAL(sdd_image_width(r.image), info.stored_height);
    CHECK_STATUS(sdd_image_decode_pixels(r.image), SDD_OK);
    const uint8_t *pixels = sdd_image_pixels(r.image);
    CHECK(pixels != NULL && pixels == sdd_image_pixels(r.image));
    CHECK_EQUAL(sdd_image_stride(r.image), (size_t)sdd_image_width(r.image) * 4);
    CHECK_STATUS(sdd_image_get_info(r.image, &info), SDD_OK);
    CHECK(info.pixels_size != 0);
    record_clear(&r);
    /* The header is valid, but a scan is missing. */
    fetch(NULL, &r, at("/file/jpeg/bad/scan-missing.jpg"), SDD_OPTION_AVOID_DECODE_IMAGE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_image_pixels(r.image) == NULL);
    CHECK_EQUAL(sdd_image_stride(r.image), 0);
    CHECK_STATUS(sdd_image_decode_pixels(r.image), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK(last_detail() == SDD_DETAIL_IMAGE_CORRUPT || last_detail() == SDD_DETAIL_IMAGE_TRUNCATED);
    CHECK_STATUS(sdd_image_decode_pixels(NULL), SDD_ERROR_INVALID_ARGUMENT);
}

/* A JPEG whose frame is sequential is decoded as one, whatever numbers its scan has: libjpeg and browsers ignore them.
   Those of a lossless JPEG, which is of another kind of frame, may be the same. */
CASE(x39_the_numbers_of_a_sequential_scan)
{
    static const uint8_t numbers[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 5, 0 }, { 0, 255, 0 }, { 0, 63, 0x11 } };
    size_t size;
    uint8_t *bytes = fixture("jpeg/baseline-420.jpg", &size);
    OWNED_IMAGE expected = NULL;
    CHECK_STATUS(sdd_image_decode(bytes, size, NULL, &expected), SDD_OK);
    uint8_t *scan = bytes;
    while (scan[0] != 0xff || scan[1] != 0xda) scan++;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        OWNED_IMAGE image = NULL;
        memcpy(scan + scan[3] - 1, numbers[i], 3); /* the last bytes of the header */
        CHECK_STATUS(sdd_image_decode(bytes, size, NULL, &image), SDD_OK);
        CHECK(same_rows(image, expected, sdd_image_height(expected)));
    }
    free(bytes);
}

int main(void) { return run_cases(); }

/* Encodes images as JPEG and PNG, within limits. Rows B10 and I16 of the contract. */
#include "record.h"
#include "pixels.h"

#include <errno.h>
#include <fcntl.h>

static sdd_bytes *encoded(sdd_image *image, const sdd_encode_options *options)
{
    sdd_bytes *bytes = NULL;
    CHECK_STATUS(sdd_image_encode(image, options, &bytes), SDD_OK);
    CHECK(bytes != NULL && sdd_bytes_size(bytes) > 0);
    return bytes;
}

static void check_is_file(sdd_bytes *bytes, const char *name)
{
    size_t size;
    uint8_t *expected = fixture(name, &size);
    CHECK_EQUAL(sdd_bytes_size(bytes), size);
    CHECK(memcmp(sdd_bytes_data(bytes), expected, size) == 0);
    free(expected);
}

static sdd_image_info facts_of(sdd_bytes *bytes)
{
    sdd_image_info facts = SDD_IMAGE_INFO_INIT;
    CHECK_STATUS(sdd_image_probe(sdd_bytes_data(bytes), sdd_bytes_size(bytes), &facts), SDD_OK);
    return facts;
}

CASE(b10_a_jpeg_equals_that_of_cjpeg)
{
    sdd_image *opaque = image_of("encoded/opaque.pam"), *glass = image_of("encoded/glass.pam");
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    OWNED_BYTES bytes = encoded(opaque, NULL); /* quality 90, and JPEG, since nothing is transparent */
    check_is_file(bytes, "encoded/opaque-90.jpg");
    sdd_bytes_release(bytes);
    options.quality = 90;
    options.chroma = SDD_CHROMA_444;
    bytes = encoded(opaque, &options);
    check_is_file(bytes, "encoded/opaque-90-444.jpg");
    sdd_bytes_release(bytes);
    options = (sdd_encode_options)SDD_ENCODE_OPTIONS_INIT;
    options.format = SDD_IMAGE_FORMAT_JPEG;
    options.quality = 60;
    options.progressive = 1;
    bytes = encoded(opaque, &options);
    check_is_file(bytes, "encoded/opaque-60-progressive.jpg");
    sdd_bytes_release(bytes);
    options.quality = 80;
    options.progressive = 0;
    options.background = 0x336699;
    bytes = encoded(glass, &options);
    check_is_file(bytes, "encoded/glass-80.jpg");
    sdd_image_release(opaque);
    sdd_image_release(glass);
}

/* The PNG goes through a file and the library's own decoder, which is compared with Pillow elsewhere. */
CASE(b10_i16_a_png_keeps_every_pixel)
{
    char path[600], url[700];
    snprintf(path, sizeof path, "%s/glass.png", setting("SDD_TEST_FOLDER"));
    snprintf(url, sizeof url, "file://%s", path);
    int file = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    sdd_image *image = image_of("encoded/glass.pam");
    sdd_bytes *bytes = encoded(image, NULL);
    CHECK_EQUAL(write(file, sdd_bytes_data(bytes), sdd_bytes_size(bytes)), sdd_bytes_size(bytes));
    CHECK_EQUAL(facts_of(bytes).format, SDD_IMAGE_FORMAT_PNG);
    CHECK_EQUAL(facts_of(bytes).channels, 4);
    sdd_bytes_release(bytes);
    sdd_image_release(image);
    close(file);

    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.allow_file_urls = 1;
    sdd_downloader *downloader = make_downloader(&config);
    CHECK_STATUS(sdd_get(downloader, url, 0, 30000, &image, NULL, NULL), SDD_OK);
    check_image(image, "encoded/glass.pam");
    sdd_image_release(image);
    destroy(downloader);
    unlink(path);
}

CASE(b10_a_picture_is_scaled_to_fit)
{
    OWNED_IMAGE image = image_of("encoded/opaque.pam");
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    options.max_width = 20;
    options.max_height = 20;
    sdd_bytes *bytes = encoded(image, &options);
    sdd_image_info facts = facts_of(bytes);
    /* 16 is 29 * 20 / 37, rounded. */
    CHECK(facts.format == SDD_IMAGE_FORMAT_JPEG && facts.stored_width == 20 && facts.stored_height == 16);
    sdd_bytes_release(bytes);

    options = (sdd_encode_options)SDD_ENCODE_OPTIONS_INIT;
    options.max_bytes = 1000;
    bytes = encoded(image, &options);
    facts = facts_of(bytes);
    CHECK(sdd_bytes_size(bytes) <= 1000 && facts.stored_width == 37 && facts.stored_height == 29);
    sdd_bytes_release(bytes);
    options.format = SDD_IMAGE_FORMAT_PNG;
    bytes = encoded(image, &options);
    facts = facts_of(bytes);
    CHECK(sdd_bytes_size(bytes) <= 1000 && facts.stored_width < 37 && facts.stored_width > 10);
    CHECK_EQUAL(facts.channels, 3);
    sdd_bytes_release(bytes);

    for (int32_t format = SDD_IMAGE_FORMAT_JPEG; format <= SDD_IMAGE_FORMAT_PNG; format++) {
        options.format = format;
        options.max_bytes = 40;
        bytes = (sdd_bytes *)1;
        CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_ERROR_DOES_NOT_FIT);
        CHECK(bytes == NULL);
    }
}

int main(void) { return run_cases(); }

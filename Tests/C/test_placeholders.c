/* Makes ThumbHashes of images, and images of them. */
#include "record.h"
#include "pixels.h"

/* The hash that the first implementation makes of encoded/opaque.pam. */
static const uint8_t known[21] = { 33,  232, 5,   85,  148, 115, 119, 135, 112, 119, 119,
                                   119, 119, 103, 119, 119, 112, 116, 7,   232, 136 };

CASE(a_picture_has_the_hash_of_the_first_implementation)
{
    OWNED_IMAGE image = image_of("encoded/opaque.pam");
    OWNED_BYTES hash = NULL;
    CHECK_STATUS(sdd_image_thumbhash(image, &hash), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(hash), sizeof known);
    CHECK(memcmp(sdd_bytes_data(hash), known, sizeof known) == 0);
}

CASE(a_hash_becomes_a_small_picture)
{
    OWNED_IMAGE made = NULL;
    OWNED_BYTES again = NULL;
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    CHECK_STATUS(sdd_image_from_thumbhash(known, sizeof known, &made), SDD_OK);
    CHECK_EQUAL(sdd_image_width(made), 32);
    CHECK_EQUAL(sdd_image_height(made), 23);
    CHECK_EQUAL(sdd_image_pixel_format(made), SDD_PIXEL_FORMAT_RGBA8);
    CHECK(sdd_image_bytes(made) == NULL);
    CHECK_STATUS(sdd_image_get_info(made, &info), SDD_OK);
    CHECK_EQUAL(info.format, 0);
    for (int i = 0; i < 32 * 23; i++) CHECK_EQUAL(sdd_image_pixels(made)[i * 4 + 3], 255);
    /* The picture of a hash has the same waves, so that its hash says the same of the constant colour. */
    CHECK_STATUS(sdd_image_thumbhash(made, &again), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(again), sizeof known);
    CHECK(abs((sdd_bytes_data(again)[0] & 63) - (known[0] & 63)) <= 1);
}

CASE(a_picture_that_cannot_be_decoded_has_no_hash)
{
    sdd_bytes *hash = (sdd_bytes *)1;
    sdd_image *image = (sdd_image *)1, *none = NULL;
    CHECK_STATUS(sdd_image_thumbhash(none, &hash), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(hash == NULL);
    for (size_t size = 0; size < sizeof known; size++) {
        CHECK_STATUS(sdd_image_from_thumbhash(known, size, &image), SDD_ERROR_BAD_IMAGE_DATA);
        CHECK(image == NULL);
    }
}

int main(void) { return run_cases(); }

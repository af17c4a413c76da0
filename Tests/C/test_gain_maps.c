/* Finds and decodes the gain map of metadata/gain-map.jpg, whose index Pillow has written. */
#include "record.h"
#include "pixels.h"

static sdd_image *picture(size_t cut, const sdd_decode_options *options)
{
    size_t size;
    uint8_t *bytes = fixture("metadata/gain-map.jpg", &size);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_decode(bytes, size - cut, options, &image), SDD_OK);
    free(bytes);
    return image;
}

CASE(a_gain_map_is_described)
{
    OWNED_IMAGE image = picture(0, NULL);
    sdd_gain_map_info info = SDD_GAIN_MAP_INFO_INIT;
    CHECK_STATUS(sdd_image_get_gain_map_info(image, &info), SDD_OK);
    CHECK_EQUAL(info.kind, SDD_GAIN_MAP_ULTRA_HDR);
    CHECK_EQUAL(info.is_base_hdr, 0);
    for (int i = 0; i < 3; i++) {
        CHECK(info.min_boost[i] == 0 && info.max_boost[i] == 2.5 && info.gamma[i] == 1);
        CHECK(info.offset_sdr[i] == 1.0 / 64 && info.offset_hdr[i] == 1.0 / 64);
    }
    CHECK(info.capacity_min == 0 && info.capacity_max == 2.5);
    CHECK_EQUAL(info.offset + info.size, sdd_bytes_size(sdd_image_bytes(image)));
    CHECK_EQUAL(sdd_image_sniff(sdd_bytes_data(sdd_image_bytes(image)) + info.offset, info.size), SDD_IMAGE_FORMAT_JPEG);
}

CASE(a_gain_map_is_decoded)
{
    OWNED_IMAGE image = picture(0, NULL);
    OWNED_IMAGE map = NULL;
    CHECK_STATUS(sdd_image_gain_map(image, &map), SDD_OK);
    CHECK_EQUAL(sdd_image_width(image), 24);
    CHECK_EQUAL(sdd_image_width(map), 12);
    CHECK_EQUAL(sdd_image_height(map), 8);
    CHECK_EQUAL(sdd_image_pixel_format(map), SDD_PIXEL_FORMAT_RGBA8);
    CHECK(sdd_image_bytes(map) == NULL && sdd_image_pixels(map) != NULL);
}

CASE(what_is_no_whole_picture_has_no_gain_map)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_gain_map_info info = SDD_GAIN_MAP_INFO_INIT;
    sdd_image *map = (sdd_image *)1;
    sdd_failure failure;
    /* The last byte of the map is cut off: Pillow's picture announces none, and none is found. */
    OWNED_IMAGE cut = picture(1, NULL);
    info.kind = 7;
    CHECK_STATUS(sdd_image_get_gain_map_info(cut, &info), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(info.kind, 0);
    CHECK_EQUAL(info.struct_size, sizeof info);
    CHECK_STATUS(sdd_image_gain_map(cut, &map), SDD_ERROR_NOT_FOUND);
    CHECK(map == NULL);
    CHECK_STATUS(sdd_last_error(&failure), SDD_ERROR_NOT_FOUND);
    CHECK_TEXT(failure.message, "sdd_image_gain_map: image: it has no gain map.");
    /* A map is that of the stored picture, also if it is decoded to another size. */
    options.target_width = 8;
    OWNED_IMAGE small = picture(0, &options);
    CHECK_STATUS(sdd_image_get_gain_map_info(small, &info), SDD_OK);
}

int main(void) { return run_cases(); }

/* Finds and decodes the gain maps of metadata/gain-map.avif and gain-map.heic, of libavif and libheif. Arguments: the
   files. make_gain_maps.py says what they are: those maps have slopes, red from left to right, green from top to bottom. */
#include "checks.h"

#include <string.h>

static sdd_image *decoded(const unsigned char *bytes, size_t size, int keeps_orientation)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.keep_orientation = keeps_orientation;
    CHECK(sdd_image_decode(bytes, size, &options, &image) == SDD_OK);
    return image;
}

/* Decodes a map and checks its size, and one channel: the first half along its slope is darker than the second. */
static void check_map(sdd_image *image, int32_t width, int32_t height, int channel, int is_along_x, int is_falling)
{
    sdd_image *map = NULL;
    int64_t halves[2] = { 0, 0 };
    CHECK(sdd_image_gain_map(image, &map) == SDD_OK);
    CHECK(sdd_image_width(map) == width && sdd_image_height(map) == height);
    CHECK(sdd_image_pixel_format(map) == SDD_PIXEL_FORMAT_RGBA8 && sdd_image_bytes(map) == NULL);
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            const unsigned char *row = sdd_image_pixels(map);
            row += (size_t)y * sdd_image_stride(map);
            halves[is_along_x ? x >= width / 2 : y >= height / 2] += row[4 * x + channel];
        }
    CHECK(is_falling ? halves[0] > halves[1] * 11 / 10 : halves[1] > halves[0] * 11 / 10);
    sdd_image_release(map);
}

static void check_avif(const unsigned char *bytes, size_t size)
{
    sdd_gain_map_info info = SDD_GAIN_MAP_INFO_INIT;
    sdd_image *upright = decoded(bytes, size, 0), *stored = decoded(bytes, size, 1);
    CHECK(sdd_image_get_gain_map_info(upright, &info) == SDD_OK);
    CHECK(info.kind == SDD_GAIN_MAP_ISO && !info.is_base_hdr);
    CHECK(info.max_boost[2] == 2.5 && info.gamma[1] == 1 && info.offset_hdr[0] == 1.0 / 64 && info.capacity_max == 2.5);
    CHECK(info.size > 0 && info.offset > 0 && info.offset + info.size <= size);
    CHECK(sdd_image_width(upright) == 16 && sdd_image_width(stored) == 24);
    check_map(stored, 12, 8, 0, 1, 0);
    check_map(stored, 12, 8, 1, 0, 0);
    /* Turned to the left: left is what was above, below is what was on the left. */
    check_map(upright, 8, 12, 0, 0, 1);
    check_map(upright, 8, 12, 1, 1, 0);
    sdd_image_release(upright);
    sdd_image_release(stored);
}

static void check_heic(const unsigned char *bytes, size_t size)
{
    sdd_gain_map_info info = SDD_GAIN_MAP_INFO_INIT;
    sdd_image *image = decoded(bytes, size, 0);
    CHECK(sdd_image_get_gain_map_info(image, &info) == SDD_OK);
    CHECK(info.kind == SDD_GAIN_MAP_APPLE && info.max_boost[0] == 2 && info.gamma[0] == 0 && info.size > 0);
    CHECK(sdd_image_width(image) == 96);
    check_map(image, 64, 64, 0, 1, 0);
    check_map(image, 64, 64, 1, 0, 0);
    sdd_image_release(image);
}

/* Spoils the data of the map: the picture stays good. */
static void check_damage(unsigned char *bytes, size_t size)
{
    sdd_gain_map_info info = SDD_GAIN_MAP_INFO_INIT;
    sdd_image *image = decoded(bytes, size, 0), *map = NULL;
    CHECK(sdd_image_get_gain_map_info(image, &info) == SDD_OK);
    sdd_image_release(image);
    memset(bytes + info.offset, 0xff, info.size);
    image = decoded(bytes, size, 0);
    CHECK(sdd_image_gain_map(image, &map) == SDD_ERROR_BAD_IMAGE_DATA && map == NULL);
    sdd_image_release(image);
}

int main(int count, char **files)
{
    static unsigned char bytes[1 << 16];
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(files[i], "rb");
        size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        CHECK(size > 0);
        if (strstr(files[i], ".avif") != NULL)
            check_avif(bytes, size);
        else
            check_heic(bytes, size);
        check_damage(bytes, size);
        fclose(file);
    }
    return 0;
}

/* Checks the functions of examples/gtk/sdd_gtk.h: a texture shares the pixels of its image, and keeps them. */
#include <server.h>

#include "../../examples/gtk/sdd_gtk.h"

static int64_t images(void)
{
    sdd_process_statistics statistics = SDD_PROCESS_STATISTICS_INIT;
    CHECK_STATUS(sdd_process_get_statistics(&statistics), SDD_OK);
    return statistics.images;
}

static sdd_image *decoded(sdd_pixel_format pixel_format)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    size_t size = 0;
    uint8_t *bytes = fixture("png/rgb8.png", &size);
    options.pixel_format = pixel_format;
    CHECK_STATUS(sdd_image_decode(bytes, size, &options, &image), SDD_OK);
    free(bytes);
    return image;
}

CASE(bytes_share_pixels)
{
    sdd_image *image = decoded(SDD_PIXEL_FORMAT_RGBA8);
    const uint8_t *pixels = sdd_image_pixels(image);
    GBytes *bytes = sdd_gtk_bytes(image);
    gsize size = 0;
    CHECK(g_bytes_get_data(bytes, &size) == pixels);
    CHECK_EQUAL(size, 19 * 13 * 4);
    sdd_image_release(image);
    CHECK_EQUAL(images(), 1);
    CHECK(((const uint8_t *)g_bytes_get_data(bytes, NULL))[size - 1] == 255);
    g_bytes_unref(bytes);
    CHECK_EQUAL(images(), 0);
}

CASE(textures_have_the_same_colours)
{
    static const sdd_pixel_format formats[] = { SDD_PIXEL_FORMAT_RGBA8, SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED,
        SDD_PIXEL_FORMAT_BGRA8, SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED, SDD_PIXEL_FORMAT_RGB8,
        SDD_PIXEL_FORMAT_RGBA16, SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED };
    guchar expected[19 * 13 * 4], drawn[19 * 13 * 4];
    sdd_image *image;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        GdkTexture *texture;
        image = decoded(formats[i]);
        texture = sdd_gtk_texture(image);
        sdd_image_release(image);
        CHECK_EQUAL(images(), 1);
        gdk_texture_download(texture, i == 0 ? expected : drawn, 19 * 4);
        if (i > 0 && memcmp(expected, drawn, sizeof drawn) != 0) FAIL("format %d has other colours", formats[i]);
        g_object_unref(texture);
        CHECK_EQUAL(images(), 0);
    }
    image = decoded(SDD_PIXEL_FORMAT_GREY8);
    CHECK(sdd_gtk_texture(image) == NULL && sdd_gtk_texture(NULL) == NULL);
    sdd_image_release(image);
}

int main(void) { return run_cases(); }

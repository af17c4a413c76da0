/*
 * pixels.h - makes images from the fixtures' pixels, and compares images with them.
 */
#ifndef PIXELS_H
#define PIXELS_H

#include "server.h"

/* Returns the pixels of a PAM of this folder, RGBA without padding. The caller frees them. */
static inline uint8_t *pam_pixels(const char *name, int *width, int *height)
{
    size_t size;
    int offset = 0;
    uint8_t *pam = fixture(name, &size);
    CHECK(sscanf((char *)pam, "P7 WIDTH %d HEIGHT %d DEPTH 4 MAXVAL 255 TUPLTYPE RGB_ALPHA ENDHDR%n", width, height,
                 &offset) == 2);
    CHECK(offset > 0);
    size_t count = (size_t)*width * (size_t)*height * 4;
    CHECK_EQUAL(size, (size_t)offset + 1 + count);
    uint8_t *pixels = malloc(count);
    memcpy(pixels, pam + offset + 1, count);
    free(pam);
    return pixels;
}

static inline sdd_image *image_of(const char *pam)
{
    int width, height;
    uint8_t *pixels = pam_pixels(pam, &width, &height);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_create(width, height, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    free(pixels);
    return image;
}

static inline void check_image(sdd_image *image, const char *pam)
{
    int width, height;
    uint8_t *pixels = pam_pixels(pam, &width, &height);
    CHECK_EQUAL(sdd_image_width(image), width);
    CHECK_EQUAL(sdd_image_height(image), height);
    CHECK_EQUAL(sdd_image_pixel_format(image), SDD_PIXEL_FORMAT_RGBA8);
    for (int y = 0; y < height; y++)
        CHECK(memcmp(sdd_image_pixels(image) + (size_t)y * sdd_image_stride(image), pixels + y * width * 4,
                     (size_t)width * 4) == 0);
    free(pixels);
}

/* Whether the first rows of two images of four bytes a pixel are the same. */
static inline int same_rows(sdd_image *a, sdd_image *b, int rows)
{
    size_t bytes = (size_t)sdd_image_width(a) * 4;
    for (int y = 0; y < rows; y++)
        if (memcmp(sdd_image_pixels(a) + (size_t)y * sdd_image_stride(a),
                   sdd_image_pixels(b) + (size_t)y * sdd_image_stride(b), bytes) != 0)
            return 0;
    return 1;
}

/* Whether two images have the same pixels, in all planes; rows may have different lengths. */
static inline int same_planes(sdd_image *a, sdd_image *b)
{
    static const int bytes[] = { 0, 4, 4, 4, 4, 3, 1, 8, 8, 1 }; /* of a pixel, by format */
    const sdd_pixel_format format = sdd_image_pixel_format(a);
    const int rows = sdd_image_height(a) * (format == SDD_PIXEL_FORMAT_RGB8_PLANAR ? 3 : 1);
    CHECK(format > 0 && format == sdd_image_pixel_format(b));
    CHECK(sdd_image_width(a) == sdd_image_width(b) && sdd_image_height(a) == sdd_image_height(b));
    for (int y = 0; y < rows; y++)
        if (memcmp(sdd_image_pixels(a) + (size_t)y * sdd_image_stride(a),
                   sdd_image_pixels(b) + (size_t)y * sdd_image_stride(b),
                   (size_t)sdd_image_width(a) * (size_t)bytes[format]) != 0)
            return 0;
    return 1;
}

/* Whether an image of four bytes a pixel has nothing but zeros from a row on. */
static inline int is_empty_from(sdd_image *image, int row)
{
    for (int y = row; y < sdd_image_height(image); y++)
        for (int x = 0; x < sdd_image_width(image) * 4; x++)
            if (sdd_image_pixels(image)[(size_t)y * sdd_image_stride(image) + (size_t)x]) return 0;
    return 1;
}

#endif

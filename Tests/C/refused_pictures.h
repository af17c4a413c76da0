/*
 * refused_pictures.h - makes each call on pictures and bytes fail; a part of test_refusals.c.
 */
#ifndef REFUSED_PICTURES_H
#define REFUSED_PICTURES_H

#include "refusals.h"
#include "toy_coder.h"

static sdd_image *image;

static const void *volatile hidden_null; /* volatile, so that no compiler sees that it is NULL */
#define NIL ((void *)(uintptr_t)hidden_null)

/* ----------------------------------------------------------------------------------- pictures */

static void pictures(void)
{
    sdd_image *made = image;
    sdd_image_text text = SDD_IMAGE_TEXT_INIT;
    sdd_gain_map_info gains = SDD_GAIN_MAP_INFO_INIT;
    const void *data;
    size_t size;
    GIVES(0, sdd_image_frame_duration_us, (image, 1), "index: 1 is not below 1, the number of frames");
    GIVES(0, sdd_image_frame_duration_us, (image, -1), "index: -1 ");
    REFUSES(sdd_image_frame, (image, 0, NULL), INVALID, "frame: NULL");
    REFUSES(sdd_image_frame, (image, 7, &made), SDD_ERROR_NOT_FOUND, "index: 7 is not below 1");
    REFUSES(sdd_image_metadata, (image, 1, NULL, &size), INVALID, "data: NULL");
    REFUSES(sdd_image_metadata, (image, 1, &data, NULL), INVALID, "size: NULL");
    REFUSES(sdd_image_metadata, (image, 1, &data, &size), SDD_ERROR_NOT_FOUND, "kind: ");
    REFUSES(sdd_image_get_gain_map_info, (image, NULL), INVALID, "info: NULL");
    REFUSES(sdd_image_get_gain_map_info, (image, &gains), SDD_ERROR_NOT_FOUND, "image: it has no gain map");
    REFUSES(sdd_image_gain_map, (image, NULL), INVALID, "map: NULL");
    REFUSES(sdd_image_gain_map, (image, &made), SDD_ERROR_NOT_FOUND, "image: it has no gain map");
    REFUSES(sdd_image_text_at, (image, 0, NULL), INVALID, "text: NULL");
    REFUSES(sdd_image_text_at, (image, SIZE_MAX, &text), SDD_ERROR_NOT_FOUND, "index: 18446744073709551615 is not below 0");
}

static void bytes_and_decoding(void)
{
    sdd_image *made = NULL;
    sdd_image_info facts = SDD_IMAGE_INFO_INIT;
    GIVES(0, sdd_bytes_create, (NULL, 3), "data: NULL is allowed with a size of 0 alone, and it is 3");
    GIVES(0, sdd_bytes_create, ("", SIZE_MAX), "size: 18446744073709551615 ");
    GIVES(0, sdd_image_sniff, (NULL, 3), "bytes: NULL");
    REFUSES(sdd_image_probe, (NULL, 3, &facts), INVALID, "bytes: NULL");
    REFUSES(sdd_image_probe, ("", 0, NULL), INVALID, "info: NULL");
    REFUSES(sdd_image_probe, ("\xff", SIZE_MAX, &facts), INVALID, "size: ");
    REFUSES(sdd_image_decode, (NULL, 3, NULL, &made), INVALID, "bytes: NULL");
    REFUSES(sdd_image_decode, ("x", SIZE_MAX, NULL, &made), INVALID, "size: ");
    REFUSES_AS_REQUEST(sdd_image_decode, (NULL, 0, NULL, &made), SDD_ERROR_BAD_IMAGE_DATA, "empty");
    REFUSES(sdd_image_probe, ("\x89PNG", 4, &facts), SDD_ERROR_INCOMPLETE, "size: 4 bytes end before");
    REFUSES(sdd_image_probe, ("no picture", 10, &facts), SDD_ERROR_BAD_IMAGE_DATA, "bytes: they do not begin");
    REFUSES_AS_REQUEST(sdd_image_decode, ("no picture", 10, NULL, &made), SDD_ERROR_BAD_IMAGE_DATA,
                       "The body does not begin as a JPEG or PNG does");
    CHECK(made == NULL);
}

static void encoding_and_transforms(void)
{
    static const uint8_t pixels[16], row[65504];
    sdd_image *made = NULL;
    sdd_bytes *bytes = NULL;
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_transform crop = SDD_TRANSFORM_INIT;
    char text[4] = "old";
    options.max_bytes = 1;
    REFUSES(sdd_image_encode, (image, &options, &bytes), SDD_ERROR_DOES_NOT_FIT, "sdd_encode_options.max_bytes: ");
    options.max_bytes = 0;
    options.format = TOY_FORMAT;
    REFUSES(sdd_image_encode, (image, &options, &bytes), SDD_ERROR_UNSUPPORTED, "sdd_encode_options.format: ");
    OWNED_IMAGE wide = NULL;
    CHECK_STATUS(sdd_image_create(65501, 1, SDD_PIXEL_FORMAT_GREY8, row, 0, &wide), SDD_OK);
    options.format = SDD_IMAGE_FORMAT_JPEG;
    REFUSES_AS_REQUEST(sdd_image_encode, (wide, &options, &bytes), SDD_ERROR_DOES_NOT_FIT, "image: it has more pixels");
    REFUSES(sdd_image_create, (0, 2, 1, pixels, 0, &made), INVALID, "width: 0 is not at least 1");
    REFUSES(sdd_image_create, (2, -7, 1, pixels, 0, &made), INVALID, "height: -7 ");
    REFUSES(sdd_image_create, (2, 2, SDD_PIXEL_FORMAT_RGBA8, pixels, 7, &made), INVALID,
            "stride: 7 is not 0, or at least the 8 bytes of a row");
    sdd_animation_frame frames[2] = { SDD_ANIMATION_FRAME_INIT, SDD_ANIMATION_FRAME_INIT };
    frames[0].image = image, frames[1].image = wide;
    REFUSES(sdd_image_create_animation, (NULL, 1, 0, &made), INVALID, "frames: NULL");
    REFUSES(sdd_image_create_animation, (frames, 0, 0, &made), INVALID, "count: 0 is not 1 to 10000");
    REFUSES(sdd_image_create_animation, (frames, 10001, 0, &made), INVALID, "count: 10001 is not 1 to 10000");
    REFUSES(sdd_image_create_animation, (frames, 1, -1, &made), INVALID, "loop_count: -1 is not at least 0");
    REFUSES(sdd_image_create_animation, (frames, 2, 0, &made), INVALID, "sdd_animation_frame.image: its size is 65501 x 1");
    crop.kind = SDD_TRANSFORM_CROP;
    crop.x = 100;
    crop.width = crop.height = 1;
    REFUSES(sdd_image_transform, (image, NULL, 1, &made), INVALID, "list: NULL");
    REFUSES(sdd_image_transform, (image, &crop, 257, &made), INVALID, "count: 257 is not 0 to 256");
    REFUSES(sdd_image_transform, (image, &crop, 1, &made), SDD_ERROR_DOES_NOT_FIT, "list: a crop");
    REFUSES(sdd_transform_key, (NULL, 1, text, sizeof text, NULL), INVALID, "list: NULL");
    REFUSES(sdd_transform_key, (&crop, 1, NULL, 1, NULL), INVALID, "buffer: NULL");
    REFUSES(sdd_transform_key, (&crop, 1, text, 4, NULL), SDD_ERROR_BUFFER_TOO_SMALL, "capacity: 4 is too little for ");
    REFUSES(sdd_image_thumbhash, (image, NIL), INVALID, "out: NULL");
    REFUSES(sdd_image_from_thumbhash, (NULL, 3, &made), INVALID, "hash: NULL");
    REFUSES(sdd_image_from_thumbhash, ("", 0, &made), SDD_ERROR_BAD_IMAGE_DATA, "hash: its 0 bytes are no ThumbHash");
    REFUSES(sdd_image_from_thumbhash, (pixels, 16, &made), SDD_ERROR_BAD_IMAGE_DATA, "hash: its 16 bytes are no ThumbHash");
    CHECK(made == NULL && bytes == NULL);
    CHECK_TEXT(text, "old");
}

#endif

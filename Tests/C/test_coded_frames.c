/* Coders of the application and frames: the animations that they encode, and frames that are damaged. */
#include "server.h"
#include "toy_coder.h"

/* Writes what it is given of an animation: of each frame its first pixel, its milliseconds, and the two counts. */
static sdd_status list_frames(
    sdd_coder_next_fn next, void *source, int32_t quality, sdd_coder_write_fn write, void *context, void *user_data)
{
    sdd_coder_frame frame = { .struct_size = sizeof frame };
    sdd_status status;
    CHECK(((toy *)user_data)->freed == 0 && next(NULL, &frame) == SDD_ERROR_INVALID_ARGUMENT);
    if (quality == 3) return SDD_ERROR_BAD_IMAGE_DATA;
    while ((status = next(source, &frame)) == SDD_OK) {
        char line[80];
        const uint8_t *pixels = (const uint8_t *)frame.pixels;
        CHECK(frame.struct_size == sizeof frame && frame.pixel_format == SDD_PIXEL_FORMAT_RGBA8);
        snprintf(line, sizeof line, "%dx%d %d,%d,%d,%d %d ms %d %d\n", frame.width, frame.height, pixels[0], pixels[1],
                 pixels[2], pixels[3], (int)(frame.duration_us / 1000), frame.frame_count, frame.loop_count);
        CHECK_STATUS(write(context, line, strlen(line)), SDD_OK);
    }
    if (status != SDD_ERROR_NOT_FOUND) return status;
    for (int i = 0; i < quality; i++) CHECK_STATUS(write(context, "+", 1), SDD_OK);
    return SDD_OK;
}

static void check_listed(sdd_image *image, const sdd_encode_options *options, const char *expected, int quality)
{
    sdd_bytes *bytes = NULL;
    CHECK_STATUS(sdd_image_encode(image, options, &bytes), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(bytes), strlen(expected) + (size_t)quality);
    CHECK(memcmp(sdd_bytes_data(bytes), expected, strlen(expected)) == 0);
    sdd_bytes_release(bytes);
}

CASE(b18_a_coder_of_the_process_encodes_animations)
{
    static const uint8_t red[8] = { 255, 0, 0, 255, 1, 2, 3, 4 }, grey[2] = { 77, 78 };
    toy own = { .name = "lists" };
    sdd_coder coder = toy_coder(&own);
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_animation_frame frames[2] = { SDD_ANIMATION_FRAME_INIT, SDD_ANIMATION_FRAME_INIT };
    sdd_image *moving = NULL;
    sdd_bytes *bytes = NULL;
    CHECK_STATUS(sdd_image_create(2, 1, SDD_PIXEL_FORMAT_RGBA8, red, 0, &frames[0].image), SDD_OK);
    CHECK_STATUS(sdd_image_create(2, 1, SDD_PIXEL_FORMAT_GREY8, grey, 0, &frames[1].image), SDD_OK);
    frames[0].duration_us = 40000, frames[1].duration_us = 7000;
    CHECK_STATUS(sdd_image_create_animation(frames, 2, 5, &moving), SDD_OK);
    coder.encode_frames = list_frames;
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    options.format = TOY_FORMAT;
    options.quality = 8;
    options.animated = 1;
    check_listed(moving, &options, "2x1 255,0,0,255 40 ms 2 5\n2x1 77,77,77,255 7 ms 2 5\n", 8);
    /* Without the option, and for a still picture, there is one frame. */
    options.animated = 0;
    check_listed(moving, &options, "2x1 255,0,0,255 0 ms 1 1\n", 8);
    options.animated = 1;
    check_listed(frames[1].image, &options, "2x1 77,77,77,255 0 ms 1 1\n", 8);
    /* The quality that fits, a smaller size, and failures. */
    options.quality = 50;
    options.max_bytes = 26 + 26 + 9;
    check_listed(moving, &options, "2x1 255,0,0,255 40 ms 2 5\n2x1 77,77,77,255 7 ms 2 5\n", 9);
    options.max_bytes = 0;
    options.quality = 1;
    options.max_width = 1;
    CHECK_STATUS(sdd_image_encode(moving, &options, &bytes), SDD_OK);
    CHECK(memcmp(sdd_bytes_data(bytes), "1x1 ", 4) == 0);
    sdd_bytes_release(bytes);
    options.quality = 3;
    CHECK_STATUS(sdd_image_encode(moving, &options, &bytes), SDD_ERROR_UNSUPPORTED);
    CHECK_STATUS(sdd_process_remove_coder("lists"), SDD_OK);
    CHECK_STATUS(sdd_image_encode(moving, &options, &bytes), SDD_ERROR_UNSUPPORTED);
    CHECK(bytes == NULL && own.freed == 1);
    sdd_image_release(moving);
    sdd_image_release(frames[0].image);
    sdd_image_release(frames[1].image);
}

/* The second of three frames lacks its last row; the third is drawn on it. */
static sdd_status next_damaged(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    const int index = ((toy_decoder *)decoder)->frame;
    const sdd_status status = toy_next(decoder, frame, user_data);
    if (index == 1) frame->good_rows = 1;
    return status;
}

static void check_damaged(sdd_image *image)
{
    CHECK(image_info(image).frame_count == 3 && image_info(image).is_partial == 0);
    for (int turn = 0; turn < 6; turn++) {
        const int index = turn < 3 ? turn : 5 - turn;
        OWNED_IMAGE frame = NULL;
        CHECK_STATUS(sdd_image_frame(image, index, &frame), SDD_OK);
        CHECK_EQUAL(image_info(frame).is_partial, index > 0);
        CHECK(index == 0 || image_info(frame).good_rows == 0);
    }
}

/* Where the rest of a damaged picture is kept, frames tell that they are of it; elsewhere they are errors. */
CASE(b19_damaged_frames_of_a_coder)
{
    static const uint8_t body[8 + 3 * 8] = { 'T', 'O', 'Y', '!', 1, 2, 3, 0 };
    toy own = { .name = "damaged" };
    sdd_coder coder = toy_coder(&own);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL, *frame = NULL;
    coder.next = next_damaged;
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    options.damage = SDD_DAMAGE_KEEP_REST;
    CHECK_STATUS(sdd_image_decode(body, sizeof body, &options, &image), SDD_OK);
    check_damaged(image);
    sdd_image_release(image);
    sdd_downloader *downloader = toy_downloader();
    toy_body.bytes = body;
    toy_body.size = sizeof body;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    CHECK_STATUS(sdd_get(downloader, "toy:body", SDD_OPTION_PRELOAD_ALL_FRAMES, -1, &image, NULL, NULL), SDD_OK);
    check_damaged(image);
    sdd_image_release(image);
    destroy(downloader);
    CHECK_STATUS(sdd_image_decode(body, sizeof body, NULL, &image), SDD_OK);
    CHECK_STATUS(sdd_image_frame(image, 0, &frame), SDD_OK);
    sdd_image_release(frame);
    CHECK_STATUS(sdd_image_frame(image, 1, &frame), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK_STATUS(sdd_image_frame(image, 2, &frame), SDD_ERROR_BAD_IMAGE_DATA);
    sdd_image_release(image);
    CHECK_STATUS(sdd_process_remove_coder("damaged"), SDD_OK);
    CHECK_EQUAL(own.freed, 1);
}

int main(void) { return run_cases(); }

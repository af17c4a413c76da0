/* Animated pictures: their frames, in order and out of order, on demand or with the picture. Rows O10, O11, B19. */
#include "record.h"
#include "pixels.h"
#include "png_making.h"

#include <pthread.h>

static sdd_image *get(sdd_downloader *downloader, const char *name, uint64_t options)
{
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_get(downloader, atf("/file/%s", name), options, -1, &image, NULL, NULL), SDD_OK);
    return image;
}

/* Compares a frame with a file that has the pixels of all frames in a row. */
static void check_frame(sdd_image *image, int index, const uint8_t *expected)
{
    OWNED_IMAGE frame = NULL;
    CHECK_STATUS(sdd_image_frame(image, index, &frame), SDD_OK);
    size_t row = (size_t)sdd_image_width(frame) * 4, height = (size_t)sdd_image_height(frame);
    CHECK(sdd_image_width(frame) == 14 && height == 11 && sdd_image_stride(frame) >= row);
    for (size_t y = 0; y < height; y++)
        CHECK(memcmp(sdd_image_pixels(frame) + y * sdd_image_stride(frame),
                     expected + ((size_t)index * height + y) * row, row) == 0);
    CHECK(image_info(frame).frame_count == 1 && sdd_image_bytes(frame) == NULL);
    CHECK(image_info(frame).format == SDD_IMAGE_FORMAT_PNG);
}

static const struct { const char *name; int frames, loops; } animations[] = {
    { "every-operation", 19, 3 }, { "translucent", 19, 0 }, { "interlaced", 16, 0 }, { "palette", 4, 0 },
    { "apart", 2, 0 }, { "delays", 8, INT32_MAX }, { "pillow", 7, 1 },
};
enum { ANIMATIONS = sizeof animations / sizeof *animations };

CASE(b19_frames_in_any_order)
{
    static const uint64_t options[] = { 0, SDD_OPTION_PRELOAD_ALL_FRAMES };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    for (int i = 0; i < ANIMATIONS; i++) {
        char name[64];
        size_t size;
        snprintf(name, sizeof name, "frames/%s.frames", animations[i].name);
        uint8_t *expected = fixture(name, &size);
        snprintf(name, sizeof name, "frames/%s.png", animations[i].name);
        for (int kind = 0; kind < 2; kind++) {
            sdd_image *image = get(downloader, name, options[kind]);
            int count = image_info(image).frame_count;
            CHECK_EQUAL(count, animations[i].frames);
            CHECK_EQUAL(image_info(image).loop_count, animations[i].loops);
            for (int index = 0; index < count; index++) check_frame(image, index, expected);
            for (int turn = 0; turn < scaled(200); turn++) check_frame(image, turn * 7919 % count, expected);
            sdd_image_release(image);
        }
        free(expected);
    }
}

CASE(b19_how_long_they_are_shown)
{
    static const int64_t expected[] = { 100000, 0, 0, 10000, 33333, 65535000000, 1000000, 7000 };
    OWNED_IMAGE image = get(NULL, "frames/delays.png", 0);
    for (int i = 0; i < 8; i++) CHECK_EQUAL(sdd_image_frame_duration_us(image, i), expected[i]);
    CHECK_EQUAL(sdd_image_frame_duration_us(image, 8), 0);
    CHECK_EQUAL(sdd_image_frame_duration_us(image, -1), 0);
    CHECK_EQUAL(sdd_image_frame_duration_us(image, INT32_MAX), 0);
}

CASE(frames_outlive_their_picture)
{
    sdd_image *image = get(NULL, "frames/pillow.png", 0), *frame = NULL;
    size_t size;
    uint8_t *expected = fixture("frames/pillow.frames", &size);
    CHECK_STATUS(sdd_image_frame(image, 6, &frame), SDD_OK);
    sdd_image_release(image);
    CHECK(memcmp(sdd_image_pixels(frame), expected + 6 * 14 * 11 * 4, 14 * 11 * 4) == 0);
    sdd_image_release(frame);
    free(expected);
}

CASE(frames_have_the_pictures_form)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.pixel_format = SDD_PIXEL_FORMAT_GREY8;
    options.target_width = 7;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    sdd_image *image = get(downloader, "frames/every-operation.png", 0), *frame = NULL;
    for (int i = 0; i < 19; i++) {
        CHECK_STATUS(sdd_image_frame(image, i, &frame), SDD_OK);
        CHECK_EQUAL(sdd_image_pixel_format(frame), SDD_PIXEL_FORMAT_GREY8);
        CHECK(sdd_image_width(frame) == 7 && sdd_image_height(frame) == sdd_image_height(image));
        if (i == 0) CHECK(memcmp(sdd_image_pixels(frame), sdd_image_pixels(image), 7 * 6) == 0);
        sdd_image_release(frame);
    }
    sdd_image_release(image);
}

/* Returns an animation that says what its colours are. The caller frees it. */
static uint8_t *with_gamma(const char *name, size_t *size)
{
    enum { HEAD = 8 + 25, GAMMA = 12 + 4 };
    uint8_t *file = fixture(name, size), *made = malloc(*size + GAMMA), gamma[4];
    put32(gamma, 55555); /* 1 / 1.8 */
    memcpy(made, file, HEAD);
    memcpy(put_chunk(made + HEAD, "gAMA", -1, gamma, 4), file + HEAD, *size - HEAD);
    *size += GAMMA;
    free(file);
    return made;
}

/* Also where the picture is scaled or converted with 16 bits a channel. */
CASE(b19_the_first_frame_is_the_picture)
{
    static const char *const names[] = { "frames/rgba16.png", "frames/translucent.png", "frames/apart.png" };
    static const int32_t sides[] = { 0, 7, 40 };
    for (int i = 0; i < 3 * 3 * 9 * 2; i++) {
        size_t size;
        uint8_t *bytes = with_gamma(names[i % 3], &size);
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        OWNED_IMAGE image = NULL;
        OWNED_IMAGE frame = NULL;
        options.target_width = sides[i / 3 % 3];
        options.allow_enlarging = 1;
        options.pixel_format = i / 9 % 9 + 1;
        options.colour = i / 81 ? SDD_COLOUR_SRGB : SDD_COLOUR_AS_STORED;
        CHECK_STATUS(sdd_image_decode(bytes, size, &options, &image), SDD_OK);
        CHECK_STATUS(sdd_image_frame(image, 0, &frame), SDD_OK);
        CHECK_EQUAL(image_info(image).is_converted, i / 81);
        if (!same_planes(frame, image)) FAIL("%s, %d wide, format %d", names[i % 3], options.target_width, options.pixel_format);
        free(bytes);
    }
}

/* ------------------------------------------------------------------------------------- threads */

static struct player { sdd_image *image; const uint8_t *expected; int seed; } players[4];

static void *play(void *argument)
{
    const struct player *player = (const struct player *)argument;
    for (int turn = 0; turn < scaled(200); turn++)
        check_frame(player->image, (player->seed + turn * (turn % 3 ? 1 : 7919)) % 19, player->expected);
    return NULL;
}

CASE(b19_several_threads_at_a_time)
{
    pthread_t threads[4];
    size_t size;
    uint8_t *expected = fixture("frames/every-operation.frames", &size);
    sdd_image *image = get(NULL, "frames/every-operation.png", 0);
    for (int i = 0; i < 4; i++) {
        players[i] = (struct player){ image, expected, i };
        CHECK(pthread_create(&threads[i], NULL, play, &players[i]) == 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    sdd_image_release(image);
    free(expected);
}

/* ------------------------------------------------------- a still picture that is none of the frames */

static void check_hidden(sdd_image *image, int frames, const uint8_t *expected)
{
    size_t row = (size_t)sdd_image_width(image) * 4;
    CHECK_EQUAL(image_info(image).frame_count, frames);
    CHECK(image_info(image).is_partial == 0 && image_info(image).good_rows == 11);
    CHECK(sdd_image_width(image) == 14 && sdd_image_height(image) == 11);
    for (size_t y = 0; y < 11; y++)
        CHECK(memcmp(sdd_image_pixels(image) + y * sdd_image_stride(image), expected + y * row, row) == 0);
    sdd_image_release(image);
}

CASE(b19_an_animation_hides_its_still_picture)
{
    size_t size, encoded_size;
    uint8_t *expected = fixture("frames/apart.frames", &size), *encoded = fixture("frames/apart.png", &encoded_size);
    static const struct { uint64_t options; int frames; } ways[] = {
        { 0, 2 }, { SDD_OPTION_PRELOAD_ALL_FRAMES, 2 }, { SDD_OPTION_DECODE_FIRST_FRAME_ONLY, 1 },
        { SDD_OPTION_AVOID_DECODE_IMAGE, 2 },
    };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        check_hidden(get(downloader, "frames/apart.png", ways[i].options), ways[i].frames, expected);

    /* The application's own memory has the frame, too. */
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    static uint8_t own[14 * 11 * 4];
    sdd_image *image = NULL;
    options.pixels = own, options.pixels_size = sizeof own;
    CHECK_STATUS(sdd_image_decode(encoded, encoded_size, &options, &image), SDD_OK);
    CHECK(sdd_image_pixels(image) == own);
    check_hidden(image, 2, expected);

    /* The still picture, if it is asked for. */
    sdd_decode_options still = SDD_DECODE_OPTIONS_INIT;
    still.still = 1;
    CHECK_STATUS(sdd_image_decode(encoded, encoded_size, &still, &image), SDD_OK);
    CHECK(image_info(image).frame_count == 1 && memcmp(sdd_image_pixels(image), expected, 14 * 4) != 0);
    sdd_image_release(image);
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &still), SDD_OK);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        image = get(downloader, "frames/apart.png", ways[i].options);
        CHECK(image_info(image).frame_count == 1 && memcmp(sdd_image_pixels(image), expected, 14 * 4) != 0);
        sdd_image_release(image);
    }
    still.still = 2;
    CHECK_STATUS(sdd_image_decode(encoded, encoded_size, &still, &image), SDD_ERROR_INVALID_ARGUMENT);
    free(expected);
    free(encoded);
}

/* ------------------------------------------------------------------------- animations that are made */

/* Frames are shared with the animation, and outlive their own images; PNGs keep them exactly. */
CASE(b19_an_application_makes_animations)
{
    enum { FRAMES = 5 };
    static uint8_t pixels[FRAMES][6 * 4 * 4], own[6 * 4 * 4];
    sdd_animation_frame frames[FRAMES];
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_decode_options lent = SDD_DECODE_OPTIONS_INIT;
    sdd_image *moving = NULL, *frame = NULL, *again = NULL;
    sdd_bytes *bytes = NULL, *png = NULL;
    for (int i = 0; i < FRAMES; i++) {
        for (size_t at = 0; at < sizeof *pixels; at++) pixels[i][at] = (uint8_t)(at * 7 + (size_t)i * (at % 5 == 0 ? 11 : 0));
        frames[i] = (sdd_animation_frame){ sizeof *frames, NULL, i * 40000 };
        CHECK_STATUS(sdd_image_create(6, 4, SDD_PIXEL_FORMAT_RGBA8, pixels[i], 0, &frames[i].image), SDD_OK);
    }
    /* One of them lies in memory that was lent for it alone. */
    CHECK_STATUS(sdd_image_encode(frames[2].image, &options, &png), SDD_OK);
    lent.pixels = own, lent.pixels_size = sizeof own;
    sdd_image_release(frames[2].image);
    CHECK_STATUS(sdd_image_decode(sdd_bytes_data(png), sdd_bytes_size(png), &lent, &frames[2].image), SDD_OK);
    sdd_bytes_release(png);
    CHECK_STATUS(sdd_image_create_animation(frames, FRAMES, 3, &moving), SDD_OK);
    CHECK(sdd_image_pixels(moving) == sdd_image_pixels(frames[0].image));
    for (int i = 0; i < FRAMES; i++) sdd_image_release(frames[i].image);
    memset(own, 0, sizeof own);
    options.animated = 1;
    CHECK_STATUS(sdd_image_encode(moving, &options, &bytes), SDD_OK);
    CHECK_STATUS(sdd_image_decode(sdd_bytes_data(bytes), sdd_bytes_size(bytes), NULL, &again), SDD_OK);
    sdd_bytes_release(bytes);
    /* The shared cache has it when the program ends, and the leak sanitizer is to find all of it there. */
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = "an animation", item.image = moving, item.levels = SDD_CACHE_MEMORY;
    CHECK_STATUS(sdd_cache_put_wait(NULL, &item), SDD_OK);
    sdd_image *both[] = { moving, again };
    for (int k = 0; k < 2; k++) {
        CHECK(image_info(both[k]).frame_count == FRAMES && image_info(both[k]).loop_count == 3);
        for (int i = 0; i < FRAMES; i++) {
            CHECK_EQUAL(sdd_image_frame_duration_us(both[k], i), i * 40000);
            CHECK_STATUS(sdd_image_frame(both[k], i, &frame), SDD_OK);
            CHECK(memcmp(sdd_image_pixels(frame), pixels[i], sizeof *pixels) == 0);
            sdd_image_release(frame);
        }
        sdd_image_release(both[k]);
    }
    /* Fewer frames: a still picture. */
    CHECK_STATUS(sdd_image_create(6, 4, SDD_PIXEL_FORMAT_RGBA8, pixels[0], 0, &frames[0].image), SDD_OK);
    CHECK_STATUS(sdd_image_create_animation(frames, 1, 3, &moving), SDD_OK);
    CHECK(image_info(moving).frame_count == 1 && image_info(moving).loop_count == 1);
    sdd_image_release(moving);
    sdd_image_release(frames[0].image);
}

/* ----------------------------------------------------------------------------- still pictures */

static void check_still(sdd_image *image)
{
    sdd_image *frame = NULL;
    CHECK(image_info(image).frame_count == 1 && image_info(image).loop_count == 1);
    CHECK_EQUAL(sdd_image_frame_duration_us(image, 0), 0);
    CHECK_STATUS(sdd_image_frame(image, 0, &frame), SDD_OK);
    CHECK(frame == image);
    sdd_image_release(frame);
    CHECK_STATUS(sdd_image_frame(image, 1, &frame), SDD_ERROR_NOT_FOUND);
    CHECK(frame == NULL);
    sdd_image_release(image);
}

CASE(o10_still_pictures)
{
    static const char *const names[] = { "png/rgb8.png", "jpeg/grey.jpg", "frames/bad/number-gap.png" };
    for (int i = 0; i < 3; i++) {
        check_still(get(NULL, names[i], 0));
        check_still(get(NULL, names[i], SDD_OPTION_PRELOAD_ALL_FRAMES));
    }
    check_still(get(NULL, "frames/pillow.png", SDD_OPTION_DECODE_FIRST_FRAME_ONLY));
    check_still(get(NULL, "frames/pillow.png", SDD_OPTION_DECODE_FIRST_FRAME_ONLY | SDD_OPTION_PRELOAD_ALL_FRAMES));
}

CASE(b19_damaged_frames)
{
    sdd_image *image = get(NULL, "frames/bad/damaged-crc-2.png", 0), *frame;
    CHECK_EQUAL(image_info(image).frame_count, 3);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(sdd_image_frame(image, i, &frame), SDD_OK);
        sdd_image_release(frame);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(sdd_image_frame(image, 2, &frame), SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CORRUPT);
        CHECK(frame == NULL);
    }
    sdd_image_release(image);
    /* O11: all frames or none. */
    check_still(get(NULL, "frames/bad/damaged-crc-2.png", SDD_OPTION_PRELOAD_ALL_FRAMES));
}

/* 7 frames of 154 pixels each count. */
CASE(o11_all_frames_count_against_the_limit)
{
    record r = RECORD_INIT;
    for (int i = 0; i < 2; i++) {
        sdd_limits limits = SDD_LIMITS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
        limits.max_pixels = 7 * 154 - i;
        OWNED_DOWNLOADER downloader = make_downloader(&config);
        fetch(downloader, &r, at("/file/frames/pillow.png"), SDD_OPTION_PRELOAD_ALL_FRAMES);
        CHECK_ENDED(&r, i ? SDD_ERROR_BAD_IMAGE_DATA : SDD_OK, i ? SDD_DETAIL_IMAGE_TOO_MANY_FRAMES : 0);
        CHECK_EQUAL(r.error_class, i ? SDD_CLASS_LIMIT : SDD_CLASS_NONE);
        fetch(downloader, &r, at("/file/frames/pillow.png"), 0);
        CHECK_ENDED(&r, SDD_OK, 0);
        record_clear(&r);
    }
}

/* All requests share one transfer. */
CASE(o10_o11_each_request_gets_its_own_frames)
{
    static const uint64_t options[] = { 0, SDD_OPTION_DECODE_FIRST_FRAME_ONLY, SDD_OPTION_PRELOAD_ALL_FRAMES };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record records[3];
    for (int i = 0; i < 3; i++) {
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], at("/hold/frames?file=frames/pillow.png"), options[i]);
    }
    wait_for_requests("/hold/frames", 1);
    release("frames");
    for (int i = 0; i < 3; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        CHECK_EQUAL(image_info(records[i].image).frame_count, i == 1 ? 1 : 7);
        record_clear(&records[i]);
    }
    CHECK_EQUAL(requests_of("/hold/frames"), 1);
}

/* --------------------------------------------------------------------------------------- facts */

CASE(facts_of_an_image)
{
    sdd_image *image = get(NULL, "frames/delays.png", 0), *frame = NULL;
    sdd_image_info facts = SDD_IMAGE_INFO_INIT, probed = SDD_IMAGE_INFO_INIT;
    sdd_bytes *bytes = sdd_image_bytes(image);
    CHECK_STATUS(sdd_image_get_info(image, &facts), SDD_OK);
    CHECK_STATUS(sdd_image_probe(sdd_bytes_data(bytes), sdd_bytes_size(bytes), &probed), SDD_OK);
    CHECK(memcmp(&facts, &probed, offsetof(sdd_image_info, pixels_size)) == 0 && facts.frame_count == 8);
    CHECK(probed.pixels_size == 0 && probed.good_rows == 0 && facts.pixels_size != 0);
    CHECK_EQUAL(facts.good_rows, sdd_image_height(image));
    CHECK_STATUS(sdd_image_frame(image, 1, &frame), SDD_OK);
    CHECK_STATUS(sdd_image_get_info(frame, &facts), SDD_OK);
    CHECK(facts.frame_count == 1 && facts.loop_count == 1 && facts.struct_size == sizeof facts);
    CHECK_STATUS(sdd_image_get_info(NULL, &facts), SDD_ERROR_INVALID_ARGUMENT);
    sdd_image_info *volatile none = NULL;
    CHECK_STATUS(sdd_image_get_info(image, none), SDD_ERROR_INVALID_ARGUMENT);
    facts.struct_size = 0;
    CHECK_STATUS(sdd_image_get_info(image, &facts), SDD_ERROR_INVALID_ARGUMENT);
    sdd_image_release(frame);
    sdd_image_release(image);
}

int main(void) { return run_cases(); }

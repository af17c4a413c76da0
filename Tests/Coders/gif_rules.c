/* GIFs that are made here byte by byte, and what the library shows of them: files that break the rules, and damaged ones
   without and with SDD_DAMAGE_KEEP_REST. */
#include "checks.h"

#include <string.h>

/* ---- writing a GIF */

static unsigned char file[1 << 20];
static size_t size;

static void put(const char *bytes, size_t count)
{
    memcpy(file + size, bytes, count);
    size += count;
}
#define PUT(bytes) put(bytes, sizeof(bytes) - 1)

static void put_number(int number)
{
    file[size++] = (unsigned char)number;
    file[size++] = (unsigned char)(number >> 8);
}

/* Begins a file. Its colours are black, red, green and blue. */
static void begin(int width, int height, int has_colours)
{
    size = 0;
    PUT("GIF89a");
    put_number(width);
    put_number(height);
    if (has_colours)
        PUT("\x81\0\0" "\0\0\0" "\xff\0\0" "\0\xff\0" "\0\0\xff");
    else
        PUT("\0\0\0");
}

/* Puts the settings of a frame; a transparent colour below 0 is none. */
static void put_control(int disposal, int delay, int transparent)
{
    PUT("!\xf9\4");
    file[size++] = (unsigned char)(disposal << 2 | (transparent >= 0));
    put_number(delay);
    file[size++] = (unsigned char)(transparent >= 0 ? transparent : 0);
    file[size++] = 0;
}

static void put_frame(int left, int top, int width, int height, int flags)
{
    PUT(",");
    put_number(left);
    put_number(top);
    put_number(width);
    put_number(height);
    file[size++] = (unsigned char)flags;
}

enum { CLEAR = 4, END = 5 }; /* with literals of 2 bits */

/* Puts codes of 3 bits. With a clear code before every second one they stay that short. */
static void put_codes(const int *codes, int count)
{
    unsigned bits = 0;
    int waiting = 0;
    size_t length = 0;
    unsigned char part[255];
    file[size++] = 2;
    for (int i = 0; i < count; i++) {
        bits |= (unsigned)codes[i] << waiting;
        for (waiting += 3; waiting >= 8; waiting -= 8, bits >>= 8) part[length++] = (unsigned char)bits;
        if (i == count - 1 && waiting > 0) part[length++] = (unsigned char)bits;
        if (length > 250 || (i == count - 1 && length > 0)) {
            file[size++] = (unsigned char)length;
            put((const char *)part, length);
            length = 0;
        }
    }
    file[size++] = 0;
}

/* Puts so many pixels of one colour, and the end. */
static void put_pixels(int colour, int count)
{
    int *codes = malloc(sizeof *codes * (2 * (size_t)count + 2)), made = 0;
    for (int i = 0; i < count; i++) {
        codes[made++] = CLEAR;
        codes[made++] = colour;
    }
    codes[made++] = END;
    put_codes(codes, made);
    free(codes);
}

/* ---- reading it */

static sdd_image *decoded(sdd_damage_mode damage)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.damage = damage;
    return sdd_image_decode(file, size, &options, &image) == SDD_OK ? image : NULL;
}

static sdd_detail refusal(sdd_damage_mode damage)
{
    sdd_failure failure;
    CHECK(decoded(damage) == NULL && sdd_last_error(&failure) != SDD_OK);
    return failure.detail;
}

static sdd_image_info info_of(sdd_image *image)
{
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    CHECK(sdd_image_get_info(image, &info) == SDD_OK);
    return info;
}

static const uint32_t BLACK = 0x000000ff, RED = 0xff0000ff, GREEN = 0x00ff00ff, BLUE = 0x0000ffff, CLEARED = 0;

static uint32_t pixel(sdd_image *image, int x, int y)
{
    const uint8_t *at = sdd_image_pixels(image) + (size_t)y * sdd_image_stride(image) + 4 * (size_t)x;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void is_of_size(sdd_image *image, int width, int height)
{
    CHECK(image != NULL && sdd_image_width(image) == width && sdd_image_height(image) == height);
}

/* A first frame that is larger than the screen makes it larger; later ones do not. */
static void sizes(void)
{
    static const int screens[][2] = { { 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 2 } };
    sdd_image *image, *frame = NULL;
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        begin(screens[i][0], screens[i][1], 1);
        put_frame(1, 0, 2, 2, 0);
        put_pixels(1, 4);
        put_frame(0, 0, 5, 4, 0);
        put_pixels(2, 20);
        PUT(";");
        image = decoded(SDD_DAMAGE_REFUSE);
        is_of_size(image, 3, 2);
        CHECK(info_of(image).stored_width == 3 && info_of(image).frame_count == 2);
        CHECK(pixel(image, 0, 0) == CLEARED && pixel(image, 1, 0) == RED && pixel(image, 2, 1) == RED);
        CHECK(sdd_image_frame(image, 1, &frame) == SDD_OK);
        is_of_size(frame, 3, 2);
        CHECK(pixel(frame, 0, 0) == GREEN && pixel(frame, 2, 1) == GREEN);
        sdd_image_release(frame);
        sdd_image_release(image);
    }
    begin(0, 0, 1);
    put_frame(0, 0, 0, 0, 0);
    put_pixels(1, 0);
    CHECK(refusal(SDD_DAMAGE_KEEP_REST) == SDD_DETAIL_IMAGE_ZERO_PIXELS);
    begin(65535, 1, 1);
    put_frame(65535, 65535, 65535, 65535, 0);
    put_pixels(1, 1);
    CHECK(refusal(SDD_DAMAGE_KEEP_REST) == SDD_DETAIL_IMAGE_TOO_MANY_PIXELS);
}

/* A frame without pixels shows nothing, whatever else it lacks. */
static void empty_frames(void)
{
    sdd_image *image;
    for (int sides = 0; sides < 3; sides++) {
        for (int is_cut = 0; is_cut < 2; is_cut++) {
            begin(2, 1, 1);
            put_frame(0, 0, sides & 1, sides >> 1, is_cut ? 0x80 : 0);
            if (!is_cut) put_pixels(1, 0);
            PUT(";");
            image = decoded(SDD_DAMAGE_REFUSE);
            is_of_size(image, 2, 1);
            CHECK(pixel(image, 0, 0) == CLEARED && pixel(image, 1, 0) == CLEARED && !info_of(image).is_partial);
            sdd_image_release(image);
        }
    }
}

/* A colour that is in no table is black. */
static void colours(void)
{
    sdd_image *image;
    for (int has_colours = 0; has_colours < 2; has_colours++) {
        begin(2, 1, has_colours);
        put_frame(0, 0, 2, 1, 0);
        put_codes((const int[]){ CLEAR, 3, CLEAR, 0, END }, 5);
        image = decoded(SDD_DAMAGE_REFUSE);
        is_of_size(image, 2, 1);
        CHECK(pixel(image, 0, 0) == (has_colours ? BLUE : BLACK) && pixel(image, 1, 0) == BLACK);
        sdd_image_release(image);
    }
    begin(3, 1, 1);
    put_control(0, 0, 3); /* the transparent colour is not in the frame's own table of two colours */
    put_frame(0, 0, 3, 1, 0x80);
    PUT("\1\2\3\4\5\6");
    put_codes((const int[]){ CLEAR, 1, CLEAR, 2, CLEAR, 3, END }, 7);
    image = decoded(SDD_DAMAGE_REFUSE);
    CHECK(pixel(image, 0, 0) == 0x040506ff && pixel(image, 1, 0) == BLACK && pixel(image, 2, 0) == CLEARED);
    sdd_image_release(image);
}

/* Codes: none before the first, literals of 1 bit, more pixels than there is room for, a full table. */
static void codes(void)
{
    sdd_image *image;
    begin(4, 1, 1);
    put_frame(0, 0, 4, 1, 0);
    put_codes((const int[]){ 1, 1, CLEAR, 2, 2, CLEAR, 3, 3, 3, END }, 10);
    image = decoded(SDD_DAMAGE_REFUSE);
    CHECK(pixel(image, 0, 0) == RED && pixel(image, 1, 0) == RED && pixel(image, 3, 0) == GREEN);
    CHECK(!info_of(image).is_partial);
    sdd_image_release(image);

    begin(2, 1, 1);
    put_frame(0, 0, 2, 1, 0);
    PUT("\1\1\x16\0;"); /* of 2 bits: clear, 1 and 1 */
    image = decoded(SDD_DAMAGE_REFUSE);
    CHECK(image != NULL && pixel(image, 0, 0) == RED && pixel(image, 1, 0) == RED);
    sdd_image_release(image);

    /* Codes of 12 bits when the table is full: the pixels are those of literals, so nothing is defined any more. */
    begin(100, 50, 1);
    put_frame(0, 0, 100, 50, 0);
    {
        uint32_t bits = 0;
        int waiting = 0, width = 3, next = 6, length = 0, is_first = 1;
        unsigned char part[255];
        file[size++] = 2;
        for (int i = 0; i < 5000; i++) {
            bits |= (uint32_t)(1 + i % 3) << waiting;
            waiting += width;
            if (!is_first && next < 4096 && ++next == 1 << width && width < 12) width++;
            is_first = 0;
            for (; waiting >= 8; waiting -= 8, bits >>= 8) {
                part[length++] = (unsigned char)bits;
                if (length < 255) continue;
                file[size++] = 255;
                put((const char *)part, 255);
                length = 0;
            }
        }
        part[length++] = (unsigned char)bits;
        file[size++] = (unsigned char)length;
        put((const char *)part, (size_t)length);
        PUT("\0;");
    }
    image = decoded(SDD_DAMAGE_REFUSE);
    is_of_size(image, 100, 50);
    for (int i = 0; i < 5000; i++)
        CHECK(pixel(image, i % 100, i / 100) == (i % 3 == 0 ? RED : i % 3 == 1 ? GREEN : BLUE));
    sdd_image_release(image);
}

/* Disposal 4 is that of 3; loops of both extensions. */
static void animation(void)
{
    sdd_image *image, *frame = NULL;
    begin(2, 1, 1);
    PUT("!\xff\x0b" "ANIMEXTS1.0\3\1\2\0\0");
    put_control(1, 5, -1);
    put_frame(0, 0, 2, 1, 0);
    put_pixels(1, 2);
    put_control(4, 6, -1);
    put_frame(0, 0, 1, 1, 0);
    put_pixels(2, 1);
    put_control(0, 7, 3);
    put_frame(1, 0, 1, 1, 0);
    put_pixels(3, 1);
    PUT(";");
    image = decoded(SDD_DAMAGE_REFUSE);
    CHECK(info_of(image).frame_count == 3 && info_of(image).loop_count == 3);
    CHECK(sdd_image_frame(image, 2, &frame) == SDD_OK && sdd_image_frame_duration_us(image, 2) == 70000);
    CHECK(pixel(frame, 0, 0) == RED && pixel(frame, 1, 0) == RED);
    sdd_image_release(frame);
    sdd_image_release(image);
}

/* Checks a damaged picture of red rows: refused, or kept as far as it goes. */
static void is_damaged(sdd_detail detail, int frames, int good_rows, int rows)
{
    sdd_image *image;
    CHECK(refusal(SDD_DAMAGE_REFUSE) == detail);
    image = decoded(SDD_DAMAGE_KEEP_REST);
    CHECK(image != NULL && info_of(image).is_partial && info_of(image).frame_count == frames);
    CHECK(info_of(image).good_rows == good_rows);
    for (int y = 0; y < sdd_image_height(image); y++) CHECK(pixel(image, 0, y) == (y < rows ? RED : CLEARED));
    sdd_image_release(image);
}

static void put_red_frame(int flags, int pixels)
{
    begin(2, 8, 1);
    put_frame(0, 0, 2, 8, flags);
    put_pixels(1, pixels);
}

static void missing_pixels(void)
{
    sdd_image *image;
    /* Too few pixels: the data ends in order, or the body does. */
    put_red_frame(0, 7);
    PUT(";");
    is_damaged(SDD_DETAIL_IMAGE_TRUNCATED, 1, 3, 4);
    put_red_frame(0, 16);
    size -= 5;
    is_damaged(SDD_DETAIL_IMAGE_TRUNCATED, 1, 6, 6);
    /* Of an interlaced frame the first rows are there, and some below. */
    put_red_frame(0x40, 8);
    PUT(";");
    CHECK(refusal(SDD_DAMAGE_REFUSE) == SDD_DETAIL_IMAGE_TRUNCATED);
    image = decoded(SDD_DAMAGE_KEEP_REST);
    CHECK(image != NULL && info_of(image).good_rows == 1 && pixel(image, 1, 0) == RED && pixel(image, 1, 1) == CLEARED);
    CHECK(pixel(image, 1, 2) == RED && pixel(image, 1, 6) == RED);
    sdd_image_release(image);
    put_red_frame(0x40, 12);
    image = decoded(SDD_DAMAGE_KEEP_REST);
    CHECK(image != NULL && info_of(image).good_rows == 5);
    sdd_image_release(image);
}

static void damaged_codes_and_ends(void)
{
    sdd_image *image;
    /* A code that is not defined. */
    begin(2, 2, 1);
    put_frame(0, 0, 2, 2, 0);
    put_codes((const int[]){ CLEAR, 1, CLEAR, 1, CLEAR, 7, CLEAR, 1, END }, 9);
    is_damaged(SDD_DETAIL_IMAGE_CORRUPT, 1, 1, 1);
    /* Nothing that is good: literals of too many bits, no pixel, no frame. */
    put_red_frame(0, 16);
    file[13 + 12 + 10] = 9;
    CHECK(refusal(SDD_DAMAGE_KEEP_REST) == SDD_DETAIL_IMAGE_CORRUPT);
    put_red_frame(0, 1);
    CHECK(refusal(SDD_DAMAGE_KEEP_REST) == SDD_DETAIL_IMAGE_TRUNCATED);
    begin(2, 8, 1);
    PUT(";");
    CHECK(refusal(SDD_DAMAGE_KEEP_REST) == SDD_DETAIL_IMAGE_TRUNCATED);
    /* What comes behind the last frame: the end may be missing; something else may not be there. */
    put_red_frame(0, 16);
    image = decoded(SDD_DAMAGE_REFUSE);
    CHECK(image != NULL && !info_of(image).is_partial && info_of(image).good_rows == 8);
    sdd_image_release(image);
    PUT("x");
    is_damaged(SDD_DETAIL_IMAGE_CORRUPT, 1, 8, 8);
    size--;
    PUT("!\xfe\5");
    is_damaged(SDD_DETAIL_IMAGE_TRUNCATED, 1, 8, 8);
}

static void damaged_animations(void)
{
    size_t whole;
    sdd_image *image, *frame = NULL;
    /* Of an animation the frames that are whole remain, and one that does not decode shows what it has. */
    put_red_frame(0, 16);
    put_frame(0, 0, 1, 1, 0);
    put_codes((const int[]){ CLEAR, 7, END }, 3);
    put_frame(1, 0, 1, 1, 0);
    put_pixels(2, 1);
    whole = size;
    put_frame(0, 0, 2, 8, 0);
    put_pixels(3, 16);
    size -= 3;
    is_damaged(SDD_DETAIL_IMAGE_TRUNCATED, 3, 8, 8);
    image = decoded(SDD_DAMAGE_KEEP_REST);
    CHECK(sdd_image_frame(image, 1, &frame) == SDD_OK && pixel(frame, 0, 0) == RED);
    sdd_image_release(frame);
    CHECK(sdd_image_frame(image, 2, &frame) == SDD_OK && pixel(frame, 0, 0) == RED && pixel(frame, 1, 0) == GREEN);
    sdd_image_release(frame);
    CHECK(sdd_image_frame(image, 3, &frame) == SDD_ERROR_NOT_FOUND);
    sdd_image_release(image);
    size = whole;
    image = decoded(SDD_DAMAGE_REFUSE);
    CHECK(image != NULL && sdd_image_frame(image, 1, &frame) == SDD_ERROR_BAD_IMAGE_DATA);
    sdd_image_release(image);
}

int main(void)
{
    sizes();
    empty_frames();
    colours();
    codes();
    animation();
    missing_pixels();
    damaged_codes_and_ends();
    damaged_animations();
    return 0;
}

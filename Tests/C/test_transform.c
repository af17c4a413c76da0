/* Images from the application's own pixels, and images made from images: by kind, in chains, and with an application's
 * function. Row B15 of the contract. */
#include "record.h"
#include "pixels.h"

#define T(...) { .struct_size = sizeof(sdd_transform), __VA_ARGS__ }

/* A NULL for arguments that the header does not allow to be NULL. */
static void *none;

static sdd_image *transformed(sdd_image *image, const sdd_transform *list, size_t count)
{
    sdd_image *made = NULL;
    CHECK_STATUS(sdd_image_transform(image, list, count, &made), SDD_OK);
    CHECK(made != NULL);
    return made;
}

CASE(b15_pixels_move_as_pillow_moves_them)
{
    static const struct { sdd_transform transform; const char *pam, *key; } all[] = {
        { T(.kind = SDD_TRANSFORM_FLIP, .flip = SDD_FLIP_HORIZONTAL), "flip-horizontal", "flip(horizontal)" },
        { T(.kind = SDD_TRANSFORM_FLIP, .flip = SDD_FLIP_VERTICAL), "flip-vertical", "flip(vertical)" },
        { T(.kind = SDD_TRANSFORM_FLIP, .flip = SDD_FLIP_VERTICAL | SDD_FLIP_HORIZONTAL), "rotate-180", "flip(both)" },
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 90), "rotate-90", "rotate(90)" },
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 180), "rotate-180", "rotate(180)" },
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 270), "rotate-270", "rotate(270)" },
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 180, .keep_size = 1), "rotate-180", "rotate(180,keep)" },
        { T(.kind = SDD_TRANSFORM_CROP, .x = 3, .y = 2, .width = 5, .height = 4), "crop", "crop(3,2,5,4)" },
        { T(.kind = SDD_TRANSFORM_RESIZE, .width = 13, .height = 99), "picture", "resize(13,99,inside)" },
    };
    OWNED_IMAGE image = image_of("transformed/picture.pam");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[100], key[100];
        size_t length = 0;
        snprintf(name, sizeof name, "transformed/%s.pam", all[i].pam);
        OWNED_IMAGE made = transformed(image, &all[i].transform, 1);
        check_image(made, name);
        CHECK(sdd_image_bytes(made) == NULL && image_info(made).format == 0);
        CHECK_STATUS(sdd_transform_key(&all[i].transform, 1, key, sizeof key, &length), SDD_OK);
        CHECK_TEXT(key, all[i].key);
        CHECK_EQUAL(length, strlen(all[i].key));
    }
    check_image(image, "transformed/picture.pam");
}

CASE(b15_sizes_and_corners)
{
    static const sdd_transform list[] = {
        T(.kind = SDD_TRANSFORM_RESIZE, .width = 4, .height = 4, .fit = SDD_FIT_FILL),
        T(.kind = SDD_TRANSFORM_ROUND_CORNERS, .radius = 2),
        T(.kind = SDD_TRANSFORM_ROUND_CORNERS, .radius = 1000000, .corners = SDD_CORNER_BOTTOM_RIGHT),
    };
    /* Computed by hand: see the Swift tests. */
    static const uint8_t alphas[16] = { 97, 234, 234, 97, 234, 255, 255, 234, 234, 255, 255, 234, 97, 234, 234, 97 };
    uint8_t white[9 * 7 * 3];
    char key[100];
    OWNED_IMAGE image = NULL;
    memset(white, 255, sizeof white);
    CHECK_STATUS(sdd_image_create(9, 7, SDD_PIXEL_FORMAT_RGB8, white, 0, &image), SDD_OK);
    sdd_image *made = transformed(image, list, 2);
    CHECK(sdd_image_width(made) == 4 && sdd_image_height(made) == 4);
    CHECK_EQUAL(sdd_image_pixel_format(made), SDD_PIXEL_FORMAT_RGBA8);
    for (int i = 0; i < 16; i++) {
        const uint8_t *pixel = sdd_image_pixels(made) + (size_t)(i / 4) * sdd_image_stride(made) + i % 4 * 4;
        CHECK(pixel[0] == 255 && pixel[1] == 255 && pixel[2] == 255);
        CHECK_EQUAL(pixel[3], alphas[i]);
    }
    sdd_image_release(made);
    made = transformed(image, list + 2, 1);
    CHECK(sdd_image_pixels(made)[3] == 255 && sdd_image_pixels(made)[6 * sdd_image_stride(made) + 8 * 4 + 3] == 0);
    sdd_image_release(made);
    CHECK_STATUS(sdd_transform_key(list, 3, key, sizeof key, NULL), SDD_OK);
    CHECK_TEXT(key, "resize(4,4,fill)-round(2,15)-round(1000000,8)");
}

/* Also with keep_size, where nothing is cut off: colours under transparent pixels stay, and so does the format. */
CASE(b15_quarter_turns_only_move_pixels)
{
    static const uint8_t square[4 * 4] = { 1, 2, 3, 0, 4, 5, 6, 255, 7, 8, 9, 0, 10, 11, 12, 255 };
    static const uint8_t turned[4 * 4] = { 7, 8, 9, 0, 1, 2, 3, 0, 10, 11, 12, 255, 4, 5, 6, 255 };
    const sdd_transform quarter = T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 90, .keep_size = 1);
    const sdd_transform half = T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 180, .keep_size = 1);
    OWNED_IMAGE image = NULL;
    OWNED_IMAGE planes = NULL;
    CHECK_STATUS(sdd_image_create(2, 2, SDD_PIXEL_FORMAT_RGBA8, square, 0, &image), SDD_OK);
    CHECK_STATUS(sdd_image_create(3, 1, SDD_PIXEL_FORMAT_RGB8_PLANAR, square, 0, &planes), SDD_OK);
    OWNED_IMAGE made = transformed(image, &quarter, 1);
    CHECK(memcmp(sdd_image_pixels(made), turned, sizeof turned) == 0);
    OWNED_IMAGE opposite = transformed(planes, &half, 1);
    CHECK_EQUAL(sdd_image_pixel_format(opposite), SDD_PIXEL_FORMAT_RGB8_PLANAR);
    CHECK(memcmp(sdd_image_pixels(opposite), "\3\2\1\5\4\0\7\xff\6", 9) == 0);
    OWNED_IMAGE cut = transformed(planes, &quarter, 1); /* two of its pixels are outside */
    CHECK_EQUAL(sdd_image_pixel_format(cut), SDD_PIXEL_FORMAT_RGBA8);
}

/* What the Swift tests show of pixels is here shown of the fields: each reaches its transform. */
CASE(b15_angles_borders_tints_and_blurs)
{
    static const struct { sdd_transform transform; const char *key; int width, height; uint8_t first[4]; } all[] = {
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 45), "rotate(45)", 29, 29, { 0, 0, 0, 0 } },
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = -0.5, .keep_size = 1), "rotate(359.5,keep)", 20, 20, { 200, 100, 50, 0 } },
        { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 360), "rotate(0)", 20, 20, { 200, 100, 50, 255 } },
        { T(.kind = SDD_TRANSFORM_BORDER, .border = 1, .colour = 0xff010203), "border(1,ff010203,0,15)", 20, 20, { 1, 2, 3, 255 } },
        { T(.kind = SDD_TRANSFORM_BORDER, .border = 1, .colour = 0x10203, .radius = 4, .corners = SDD_CORNER_TOP_LEFT),
          "border(1,00010203,4,1)", 20, 20, { 200, 100, 50, 255 } },
        { T(.kind = SDD_TRANSFORM_TINT, .colour = 0xff010203), "tint(ff010203)", 20, 20, { 1, 2, 3, 255 } },
        { T(.kind = SDD_TRANSFORM_BLUR, .radius = 3), "blur(3)", 20, 20, { 200, 100, 50, 255 } },
    };
    uint8_t plain[20 * 20 * 4];
    for (size_t i = 0; i < sizeof plain; i += 4) memcpy(plain + i, (uint8_t[]) { 200, 100, 50, 255 }, 4);
    OWNED_IMAGE image = NULL;
    CHECK_STATUS(sdd_image_create(20, 20, SDD_PIXEL_FORMAT_RGBA8, plain, 0, &image), SDD_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char key[100];
        OWNED_IMAGE made = transformed(image, &all[i].transform, 1);
        const uint8_t *pixel = sdd_image_pixels(made);
        CHECK_STATUS(sdd_transform_key(&all[i].transform, 1, key, sizeof key, NULL), SDD_OK);
        CHECK_TEXT(key, all[i].key);
        CHECK(sdd_image_width(made) == all[i].width && sdd_image_height(made) == all[i].height);
        if (all[i].first[3] > 0) CHECK(memcmp(pixel, all[i].first, 4) == 0);
        else CHECK(pixel[3] < 255);
    }
}

/* An image made from a downloaded picture has no bytes, but keeps its format. */
CASE(b15_a_downloaded_picture)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_get(downloader, at("/file/facts/grey.jpg"), 0, 30000, &image, NULL, NULL), SDD_OK);
    sdd_image *same = transformed(image, NULL, 0);
    CHECK(same == image);
    sdd_image_release(same);
    const sdd_transform turn = T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 90);
    OWNED_IMAGE made = transformed(image, &turn, 1);
    CHECK(sdd_image_width(made) == sdd_image_height(image) && sdd_image_height(made) == sdd_image_width(image));
    CHECK(sdd_image_bytes(image) != NULL && sdd_image_bytes(made) == NULL);
    CHECK_EQUAL(image_info(made).format, SDD_IMAGE_FORMAT_JPEG);
    sdd_image_release(image);
    CHECK(sdd_image_pixels(made)[3] == 255);
}

/* ------------------------------------------------------------------ the application's functions */

typedef struct calls {
    int count;
    sdd_image *kept;
} calls;

static sdd_image *invert(sdd_image *image, void *user_data)
{
    int width = sdd_image_width(image), height = sdd_image_height(image);
    uint8_t *pixels = malloc((size_t)width * (size_t)height * 4);
    sdd_image *made = NULL;
    CHECK_EQUAL(sdd_image_pixel_format(image), SDD_PIXEL_FORMAT_RGBA8);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * 4; x++)
            pixels[y * width * 4 + x] = 255 - sdd_image_pixels(image)[(size_t)y * sdd_image_stride(image) + (size_t)x];
    CHECK_STATUS(sdd_image_create(width, height, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &made), SDD_OK);
    free(pixels);
    ((calls *)user_data)->count++;
    return made;
}

static sdd_image *keep(sdd_image *image, void *user_data)
{
    ((calls *)user_data)->kept = sdd_image_retain(image);
    return sdd_image_retain(image);
}

static sdd_image *fail(sdd_image *image, void *user_data)
{
    CHECK(image != NULL && sdd_image_bytes(image) == NULL);
    ((calls *)user_data)->count++;
    return NULL;
}

static sdd_image *never(sdd_image *image, void *user_data)
{
    (void)image, (void)user_data;
    FAIL("called after a failure");
}

CASE(b15_functions_of_the_application)
{
    calls seen = { 0, NULL };
    sdd_transform twice[] = {
        T(.kind = SDD_TRANSFORM_CALLBACK, .key = "invert", .callback = invert, .user_data = &seen),
        T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 90),
        T(.kind = SDD_TRANSFORM_CALLBACK, .key = "keep", .callback = keep, .user_data = &seen),
        T(.kind = SDD_TRANSFORM_CALLBACK, .key = "invert", .callback = invert, .user_data = &seen),
    };
    char key[100];
    OWNED_IMAGE image = image_of("transformed/picture.pam");
    sdd_image *made = transformed(image, twice, 4);
    check_image(made, "transformed/rotate-90.pam");
    CHECK_EQUAL(seen.count, 2);
    CHECK(seen.kept != NULL && sdd_image_width(seen.kept) == 7);
    CHECK(sdd_image_pixels(seen.kept)[0] == 255 - sdd_image_pixels(made)[0]);
    CHECK_STATUS(sdd_transform_key(twice, 4, key, sizeof key, NULL), SDD_OK);
    CHECK_TEXT(key, "invert-rotate(90)-keep-invert");
    sdd_image_release(seen.kept);
    sdd_image_release(made);

    twice[1] = (sdd_transform)T(.kind = SDD_TRANSFORM_CALLBACK, .key = "fail", .callback = fail, .user_data = &seen);
    twice[2].callback = never;
    made = (sdd_image *)1;
    CHECK_STATUS(sdd_image_transform(image, twice, 4, &made), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK(made == NULL);
    CHECK_EQUAL(seen.count, 4);
}

/* ------------------------------------------------------------------------------- bad arguments */

CASE(keys_fit_their_buffers)
{
    const sdd_transform list[] = { T(.kind = SDD_TRANSFORM_ROTATE, .degrees = 90) };
    char *key = malloc(11); /* "rotate(90)" and a NUL */
    size_t length = 0;
    CHECK_STATUS(sdd_transform_key(list, 1, NULL, 0, &length), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_EQUAL(length, 10);
    CHECK_STATUS(sdd_transform_key(list, 1, key, 10, &length), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_STATUS(sdd_transform_key(list, 1, key, 11, NULL), SDD_OK);
    CHECK_TEXT(key, "rotate(90)");
    CHECK_STATUS(sdd_transform_key(NULL, 0, key, 1, &length), SDD_OK);
    CHECK(length == 0 && key[0] == 0);
    CHECK_STATUS(sdd_transform_key(list, 1, NULL, 11, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_transform_key(NULL, 1, key, 11, NULL), SDD_ERROR_INVALID_ARGUMENT);
    free(key);
}

CASE(images_of_the_applications_pixels)
{
    /* Three rows of two grey pixels, five bytes apart; the last row ends where the memory ends. */
    uint8_t *rows = malloc(12);
    memcpy(rows, "\1\2___\3\4___\5\6", 12);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_create(2, 3, SDD_PIXEL_FORMAT_GREY8, rows, 5, &image), SDD_OK);
    free(rows);
    CHECK(sdd_image_width(image) == 2 && sdd_image_height(image) == 3);
    CHECK_EQUAL(sdd_image_pixel_format(image), SDD_PIXEL_FORMAT_GREY8);
    CHECK(image_info(image).format == 0 && sdd_image_bytes(image) == NULL);
    for (int i = 0; i < 6; i++)
        CHECK_EQUAL(sdd_image_pixels(image)[(size_t)(i / 2) * sdd_image_stride(image) + (size_t)(i % 2)], i + 1);
    sdd_image_release(image);

    uint8_t pixel[8] = { 0 };
    image = (sdd_image *)1;
    CHECK_STATUS(sdd_image_create(0, 1, 1, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(image == NULL);
    CHECK_STATUS(sdd_image_create(1, 0, 1, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(-1, 1, 1, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, INT32_MIN, 1, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 1, 0, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 1, 1000, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 1, 1, none, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 1, 1, pixel, 3, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 2, 1, pixel, SIZE_MAX, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 4, 1, pixel, SIZE_MAX / 4, &image), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(1, 1, 1, pixel, 0, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_create(INT32_MAX, INT32_MAX, 1, pixel, 0, &image), SDD_ERROR_INVALID_ARGUMENT);
}

int main(void) { return run_cases(); }

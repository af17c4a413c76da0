/* Compares pictures whose profiles have tables, or are of four inks, with what they are in sRGB.
   Arguments: "installed" or "missing", for the coder of such profiles, and the folder of the pictures. */
#include "checks.h"

#include <string.h>

/* Little CMS prepares tables, and the expected pixels were made without them. */
enum { MOST_LEVELS = 3 };

static int wrong;

#define EXPECT(condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
            fprintf(stderr, __VA_ARGS__); \
            fprintf(stderr, "\n"); \
            wrong++; \
        } \
    } while (0)

static unsigned char *content(const char *folder, const char *name, size_t *size)
{
    char path[2000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    unsigned char *bytes = malloc(1 << 20);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

/* The largest difference of an image from the pixels of a PAM file. */
static int difference(sdd_image *image, const unsigned char *pam, size_t size)
{
    size_t count = (size_t)sdd_image_width(image) * (size_t)sdd_image_height(image) * 4;
    const unsigned char *pixels = sdd_image_pixels(image), *expected = pam + size - count;
    int most = 0;
    if (!pixels || size < count) return 255;
    for (size_t i = 0; i < count; i++) {
        int apart = abs(pixels[i] - expected[i]);
        if (apart > most) most = apart;
    }
    return most;
}

static sdd_image *fetched(sdd_downloader *downloader, const char *url, const sdd_decode_options *options)
{
    sdd_image *image = NULL;
    if (sdd_downloader_set_decode_options(downloader, options) != SDD_OK) return NULL;
    sdd_status status = sdd_get(downloader, url, 0, -1, &image, NULL, NULL);
    EXPECT(status == SDD_OK, "%s: %s", url, sdd_status_name(status));
    return image;
}

static void check_kind(sdd_image *image, const char *what, sdd_colour_kind kind, const char *name, int is_converted)
{
    sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
    EXPECT(sdd_image_get_colour(image, &colour) == SDD_OK, "%s", what);
    EXPECT(colour.kind == kind && strcmp(colour.name, name) == 0, "%s: kind %d, \"%s\"", what, colour.kind, colour.name);
    EXPECT(colour.is_converted == is_converted, "%s: converted: %d", what, colour.is_converted);
    EXPECT(colour.icc_profile_size > 0, "%s: no profile", what);
}

static void check_picture(const char *folder, const char *name, const char *pam, sdd_colour_kind kind,
                          const char *called, int is_installed)
{
    size_t size, expected_size;
    unsigned char *bytes = content(folder, name, &size), *expected = content(folder, pam, &expected_size);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL, *stored = NULL;
    char url[2000];
    EXPECT(sdd_image_decode(bytes, size, NULL, &stored) == SDD_OK, "%s", name);
    check_kind(stored, name, kind, called, 0);
    options.colour = SDD_COLOUR_SRGB;
    EXPECT(sdd_image_decode(bytes, size, &options, &image) == SDD_OK, "%s", name);
    check_kind(image, name, kind, called, is_installed);
    if (is_installed)
        EXPECT(difference(image, expected, expected_size) <= MOST_LEVELS, "%s: by %d", name,
              difference(image, expected, expected_size));
    else
        EXPECT(memcmp(sdd_image_pixels(image), sdd_image_pixels(stored), sdd_image_stride(image)) == 0, "%s", name);
    /* In processes of their own it is the same, and so it is when scaled. */
    sdd_downloader *here = downloader_of(SDD_DECODE_IN_PROCESS), *there = downloader_of(SDD_DECODE_ISOLATED);
    snprintf(url, sizeof url, "file://%s/%s", folder, name);
    for (int32_t side = 0; side <= 10; side += 10) {
        for (sdd_pixel_format format = SDD_PIXEL_FORMAT_RGBA8; format <= SDD_PIXEL_FORMAT_RGB8_PLANAR; format++) {
            options.target_width = side;
            options.pixel_format = format;
            sdd_image *a = fetched(here, url, &options), *b = fetched(there, url, &options);
            sdd_image_info info = SDD_IMAGE_INFO_INIT;
            if (!a || !b) continue;
            sdd_image_get_info(a, &info);
            EXPECT(memcmp(sdd_image_pixels(a), sdd_image_pixels(b), info.pixels_size) == 0, "%s, isolated", name);
            EXPECT(sdd_image_pixel_format(a) == format, "%s: format %d", name, sdd_image_pixel_format(a));
            if (side == 0 && format == SDD_PIXEL_FORMAT_RGBA8)
                EXPECT(memcmp(sdd_image_pixels(a), sdd_image_pixels(image), info.pixels_size) == 0, "%s", name);
            check_kind(b, name, kind, called, is_installed);
            sdd_image_release(a);
            sdd_image_release(b);
        }
    }
    EXPECT(sdd_downloader_destroy(here) == SDD_OK && sdd_downloader_destroy(there) == SDD_OK, "destroy");
    sdd_image_release(image);
    sdd_image_release(stored);
    free(bytes);
    free(expected);
}

/* Rows that are missing are zeros, not what the profile makes of no ink, or of all. */
static void check_cut(const char *folder, const char *name, size_t cut)
{
    size_t size;
    unsigned char *bytes = content(folder, name, &size);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.colour = SDD_COLOUR_SRGB;
    options.damage = SDD_DAMAGE_KEEP_REST;
    EXPECT(sdd_image_decode(bytes, size - cut, &options, &image) == SDD_OK, "%s, cut", name);
    const unsigned char *pixels = sdd_image_pixels(image);
    size_t stride = sdd_image_stride(image);
    int32_t height = sdd_image_height(image);
    for (size_t i = 0; pixels && i < stride; i++)
        EXPECT(pixels[(size_t)(height - 1) * stride + i] == 0, "%s, cut: %d", name, pixels[(size_t)(height - 1) * stride + i]);
    EXPECT(pixels && pixels[3] == 255, "%s, cut: nothing of it", name);
    sdd_image_release(image);
    free(bytes);
}

/* Whatever its profile is, a picture is decoded. */
static void check_damage(const char *folder, const char *name)
{
    size_t size;
    unsigned char *bytes = content(folder, name, &size);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    unsigned random = 1;
    options.colour = SDD_COLOUR_SRGB;
    const int rounds = getenv("SDD_TEST_LONG") ? 300 : 60;
    for (int round = 0; round < rounds; round++) {
        size_t at[4];
        unsigned char before[4];
        sdd_image *image = NULL;
        for (int i = 0; i < 4; i++) {
            random = random * 1103515245 + 12345;
            at[i] = 60 + random / 65536 % (round % 2 ? 300 : 8000); /* within the segments of the profile */
            before[i] = bytes[at[i]];
            bytes[at[i]] = (unsigned char)(random >> 24);
        }
        sdd_status status = sdd_image_decode(bytes, size, &options, &image);
        EXPECT(status == SDD_OK || status == SDD_ERROR_BAD_IMAGE_DATA, "%s: %s", name, sdd_status_name(status));
        sdd_image_release(image);
        for (int i = 3; i >= 0; i--) bytes[at[i]] = before[i];
    }
    free(bytes);
}

int main(int count, char **arguments)
{
    if (count != 3) return 2;
    int is_installed = strcmp(arguments[1], "installed") == 0;
    const char *folder = arguments[2];
    check_picture(folder, "film.png", "film.pam", SDD_COLOUR_KIND_TABLES, "faded film", is_installed);
    check_picture(folder, "film-floats.png", "film-floats.pam", SDD_COLOUR_KIND_TABLES, "faded film", is_installed);
    check_picture(folder, "film-jpeg.jpg", "film-jpeg.pam", SDD_COLOUR_KIND_TABLES, "faded film", is_installed);
    check_picture(folder, "inks.jpg", "inks.pam", SDD_COLOUR_KIND_INKS, "a press", is_installed);
    check_cut(folder, "inks.jpg", 150);
    check_damage(folder, "film-jpeg.jpg");
    check_damage(folder, "inks.jpg");
    return wrong > 0;
}

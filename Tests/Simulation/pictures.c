/* pictures.c - see pictures.h. */
#include "pictures.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

/* A costly picture is large enough to be shown while it arrives. */
enum { COSTLY_SIZE = 3000 };

struct body bodies[PICTURES];
int draws_at_once;

int width_of(int picture) { return FIRST_WIDTH + picture; }
static uint8_t level_of(int picture) { return (uint8_t)(picture * 15 + 7); }
static int is_costly(int picture) { return picture % 4 >= 2; }

void make_pictures(void)
{
    for (int i = 0; i < PICTURES; i++) {
        if (is_costly(i)) {
            bodies[i].size = COSTLY_SIZE;
            bodies[i].bytes = malloc(COSTLY_SIZE);
            memset(bodies[i].bytes, 'a' + i, COSTLY_SIZE);
            memcpy(bodies[i].bytes, "SIM!", 4);
            bodies[i].bytes[4] = (uint8_t)i;
            continue;
        }
        uint8_t pixels[64 * HEIGHT * 3];
        sdd_image *image = NULL;
        sdd_bytes *bytes = NULL;
        sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
        memset(pixels, level_of(i), sizeof pixels);
        options.format = i % 4 == 1 ? SDD_IMAGE_FORMAT_JPEG : SDD_IMAGE_FORMAT_PNG;
        options.quality = 95;
        if (sdd_image_create(width_of(i), HEIGHT, SDD_PIXEL_FORMAT_RGB8, pixels, (size_t)width_of(i) * 3, &image) != SDD_OK
            || sdd_image_encode(image, &options, &bytes) != SDD_OK)
            abort();
        bodies[i].size = sdd_bytes_size(bytes);
        bodies[i].bytes = malloc(bodies[i].size);
        memcpy(bodies[i].bytes, sdd_bytes_data(bytes), bodies[i].size);
        sdd_bytes_release(bytes);
        sdd_image_release(image);
    }
}

void check_picture(sdd_image *image, const struct place *place)
{
    int width = sdd_image_width(image);
    const uint8_t *pixels = sdd_image_pixels(image);
    EXPECT(width > 0 && width <= width_of(place->picture), "picture %d has a width of %d", place->picture, width);
    if (pixels == NULL) return; /* no memory for it, or no time */
    int off = pixels[0] - level_of(place->picture);
    EXPECT(off >= -3 && off <= 3, "picture %d has the pixels of another: %d, and not %d", place->picture, pixels[0],
           level_of(place->picture));
}

void check_bytes(sdd_bytes *bytes, const struct place *place)
{
    EXPECT(sdd_bytes_size(bytes) == bodies[place->picture].size
               && memcmp(sdd_bytes_data(bytes), bodies[place->picture].bytes, bodies[place->picture].size) == 0,
           "the body of picture %d has %zu bytes, and not its own %zu", place->picture, sdd_bytes_size(bytes),
           bodies[place->picture].size);
}

sdd_bytes *body_of(int picture)
{
    sdd_bytes *made = sdd_bytes_create(bodies[picture].bytes, bodies[picture].size);
    EXPECT(made != NULL, "there are no bytes for a body");
    return made;
}

/* ---- a coder whose pictures cost time and memory */

struct decoder { int picture, has_given; size_t fed; uint8_t *pixels; };

static int32_t costly_can_decode(const void *bytes, size_t size, void *unused)
{
    (void)unused;
    if (memcmp(bytes, "SIM!", size < 4 ? size : 4) != 0) return 0;
    return size < 4 ? -1 : 1;
}

static sdd_status costly_open(const sdd_coder_task *task, void **out, void *unused)
{
    (void)task, (void)unused;
    *out = calloc(1, sizeof(struct decoder));
    return SDD_OK;
}

static sdd_status costly_feed(void *given, const void *bytes, size_t size, int32_t is_last, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->fed <= 4 && decoder->fed + size > 4) decoder->picture = ((const uint8_t *)bytes)[4 - decoder->fed] % PICTURES;
    decoder->fed += size;
    return is_last && decoder->fed < COSTLY_SIZE ? SDD_ERROR_INCOMPLETE : SDD_OK;
}

static sdd_status costly_estimate(void *given, sdd_coder_estimate *estimate, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->fed <= 4) return SDD_ERROR_INCOMPLETE;
    estimate->width = width_of(decoder->picture);
    estimate->height = HEIGHT;
    estimate->decode_bytes = (int64_t)(1 + decoder->picture / 4 * 5) << 20;
    return SDD_OK;
}

static void draw(struct decoder *decoder, sdd_coder_frame *frame)
{
    int width = width_of(decoder->picture);
    if (!draws_at_once) sleep_until(virtual_now() + (1 + decoder->picture * 5) * MILLISECOND);
    free(decoder->pixels);
    decoder->pixels = malloc((size_t)width * HEIGHT * 4);
    memset(decoder->pixels, level_of(decoder->picture), (size_t)width * HEIGHT * 4);
    for (int i = 0; i < width * HEIGHT; i++) decoder->pixels[4 * i + 3] = 255;
    frame->pixels = decoder->pixels;
    frame->stride = (size_t)width * 4;
    frame->width = width;
    frame->height = HEIGHT;
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
}

static sdd_status costly_next(void *given, sdd_coder_frame *frame, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->has_given) return SDD_ERROR_NOT_FOUND;
    if (decoder->fed < COSTLY_SIZE) return SDD_ERROR_INCOMPLETE;
    decoder->has_given = 1;
    draw(decoder, frame);
    return SDD_OK;
}

static sdd_status costly_preview(void *given, sdd_coder_preview *preview, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->fed <= 4) return SDD_ERROR_INCOMPLETE;
    preview->good_rows = 1 + (int32_t)(decoder->fed * (HEIGHT - 1) / COSTLY_SIZE);
    draw(decoder, &preview->frame);
    return SDD_OK;
}

static void costly_close(void *given, void *unused)
{
    (void)unused;
    free(((struct decoder *)given)->pixels);
    free(given);
}

const sdd_coder *costly_coder(void)
{
    static sdd_coder coder = SDD_CODER_INIT;
    coder.name = "costly";
    coder.format = SDD_IMAGE_FORMAT_APPLICATION + 3;
    coder.can_decode = costly_can_decode;
    coder.open = costly_open;
    coder.feed = costly_feed;
    coder.estimate = costly_estimate;
    coder.next = costly_next;
    coder.preview = costly_preview;
    coder.close = costly_close;
    return &coder;
}

/* What pictures say of their colours, conversion to sRGB, and what caches and encoders keep of it. */
#include "loads.h"
#include "png_making.h"

static const struct picture {
    const char *name;
    sdd_colour_kind kind;
    const char *called;
    int is_converted, has_profile;
    int32_t primaries, transfer, gamma, chromaticities[8];
} pictures[] = {
    { "display-p3.jpg", SDD_COLOUR_KIND_MATRIX, "Display P3", 1, 1, 0, 0, 0, { 0 } },
    { "adobe-rgb.jpg", SDD_COLOUR_KIND_MATRIX, "Adobe RGB (1998)", 1, 1, 0, 0, 0, { 0 } },
    { "glass.png", SDD_COLOUR_KIND_MATRIX, "Display P3", 1, 1, 0, 0, 0, { 0 } },
    { "grey.jpg", SDD_COLOUR_KIND_GREY, "dot gain 20%", 1, 1, 0, 0, 0, { 0 } },
    /* Its profile is another: the code points count. */
    { "cicp-p3.png", SDD_COLOUR_KIND_MATRIX, "Display P3", 1, 1, 12, 13, 0, { 0 } },
    { "gama-chrm.png", SDD_COLOUR_KIND_MATRIX, "gamma 1.8", 1, 0, 0, 0, 55556,
      { 31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000 } },
    { "srgb.png", SDD_COLOUR_KIND_SRGB, "sRGB", 0, 1, 0, 0, 0, { 0 } },
    { "cicp-pq.png", SDD_COLOUR_KIND_HDR, "BT.2020", 0, 0, 9, 16, 0, { 0 } },
    { "tables.png", SDD_COLOUR_KIND_TABLES, "", 0, 1, 0, 0, 0, { 0 } },
    { "unstated.png", SDD_COLOUR_KIND_UNSTATED, "", 0, 0, 0, 0, 0, { 0 } },
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

static const struct picture *const display_p3 = &pictures[0];

/* ------------------------------------------------------------------------------------------ checks */

static sdd_image_colour colour_of(sdd_image *image)
{
    sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
    CHECK_STATUS(sdd_image_get_colour(image, &colour), SDD_OK);
    CHECK_EQUAL(colour.struct_size, sizeof colour);
    return colour;
}

/* Returns the path of a fixture in its folder. Valid until the next call. */
static const char *file_of(const struct picture *p)
{
    static char path[100];
    snprintf(path, sizeof path, "colour/%s", p->name);
    return path;
}

/* Finds the profile in a JPEG: one segment APP2 that begins with "ICC_PROFILE", a NUL, and "1 of 1". */
static const uint8_t *profile_in_jpeg(const uint8_t *file, size_t size, size_t *length)
{
    static const uint8_t begin[] = "ICC_PROFILE\0\1\1";
    for (size_t i = 2; i + 18 < size; i++)
        if (file[i] == 0xff && file[i + 1] == 0xe2 && memcmp(file + i + 4, begin, 14) == 0) {
            *length = (size_t)(file[i + 2] << 8 | file[i + 3]) - 16;
            return file + i + 18;
        }
    return NULL;
}

/* Checks the bytes of a profile: against the file, if it is a JPEG, where they lie as they are. */
static void check_profile(const sdd_image_colour *colour, const struct picture *p)
{
    CHECK((colour->icc_profile != NULL) == p->has_profile && (colour->icc_profile_size > 0) == p->has_profile);
    if (!p->has_profile) return;
    CHECK(colour->icc_profile_size > 128);
    CHECK_EQUAL(get32(colour->icc_profile), colour->icc_profile_size);
    CHECK(memcmp((const char *)colour->icc_profile + 36, "acsp", 4) == 0);
    if (strstr(p->name, ".jpg") == NULL) return;
    size_t size, length = 0;
    uint8_t *file = fixture(file_of(p), &size);
    const uint8_t *profile = profile_in_jpeg(file, size, &length);
    CHECK(profile != NULL);
    CHECK_EQUAL(length, colour->icc_profile_size);
    CHECK(memcmp(profile, colour->icc_profile, length) == 0);
    free(file);
}

static void check_facts(sdd_image *image, const struct picture *p, int is_converted)
{
    sdd_image_colour colour = colour_of(image);
    sdd_image_info info = image_info(image);
    if (colour.kind != p->kind) FAIL("%s: the kind is %d, not %d", p->name, (int)colour.kind, (int)p->kind);
    CHECK_TEXT(colour.name, p->called);
    CHECK_EQUAL(colour.is_converted, is_converted);
    CHECK_EQUAL(colour.primaries, p->primaries);
    CHECK_EQUAL(colour.transfer, p->transfer);
    CHECK_EQUAL(colour.gamma, p->gamma);
    for (int i = 0; i < 8; i++) CHECK_EQUAL(colour.chromaticities[i], p->chromaticities[i]);
    check_profile(&colour, p);
    CHECK_EQUAL(info.colour_kind, p->kind);
    CHECK_EQUAL(info.is_converted, is_converted);
}

/* Checks that an image is in sRGB, as lcms2 converts it: no channel differs by more than 1. */
static void check_in_srgb(sdd_image *image, const struct picture *p)
{
    char path[100];
    int width, height;
    snprintf(path, sizeof path, "colour/%.*s.pam", (int)strcspn(p->name, "."), p->name);
    uint8_t *expected = pam_pixels(path, &width, &height);
    CHECK(sdd_image_width(image) == width && sdd_image_height(image) == height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * 4; x++) {
            int level = sdd_image_pixels(image)[(size_t)y * sdd_image_stride(image) + (size_t)x];
            if (abs(level - expected[y * width * 4 + x]) > 1) FAIL("%s: row %d, byte %d is %d", p->name, y, x, level);
        }
    free(expected);
}

static sdd_decode_options in_colours(sdd_colour colour, int32_t side)
{
    sdd_decode_options decode = inside(side);
    decode.colour = colour;
    return decode;
}

static sdd_image *decoded(const struct picture *p, sdd_colour colour, int32_t side)
{
    sdd_image *image = NULL;
    sdd_decode_options decode = in_colours(colour, side);
    OWNED_BYTES file = fixture_bytes(file_of(p));
    CHECK_STATUS(sdd_image_decode(sdd_bytes_data(file), sdd_bytes_size(file), &decode, &image), SDD_OK);
    return image;
}

static int same_pixels(sdd_image *a, sdd_image *b)
{
    CHECK(sdd_image_width(a) == sdd_image_width(b) && sdd_image_height(a) == sdd_image_height(b));
    return same_rows(a, b, sdd_image_height(a));
}

/* Checks an image against one that sdd_image_decode() makes. */
static void check_as_decoded(sdd_image *image, const struct picture *p, sdd_colour colour, int32_t side)
{
    OWNED_IMAGE expected = decoded(p, colour, side);
    CHECK(same_pixels(image, expected));
    check_facts(image, p, colour == SDD_COLOUR_SRGB && p->is_converted);
}

/* ---------------------------------------------------------------------------------------- decoding */

CASE(a_picture_says_what_its_colours_are)
{
    for (int i = 0; i < PICTURES; i++) {
        const struct picture *p = &pictures[i];
        OWNED_IMAGE plain = decoded(p, SDD_COLOUR_DEFAULT, 0);
        OWNED_IMAGE stored = decoded(p, SDD_COLOUR_AS_STORED, 0);
        OWNED_IMAGE converted = decoded(p, SDD_COLOUR_SRGB, 0);
        OWNED_IMAGE small = decoded(p, SDD_COLOUR_SRGB, 7);
        check_facts(plain, p, 0);
        check_facts(stored, p, 0);
        check_facts(converted, p, p->is_converted);
        check_facts(small, p, p->is_converted);
        CHECK(same_pixels(plain, stored));
        CHECK_EQUAL(same_pixels(stored, converted), !p->is_converted);
        check_in_srgb(converted, p);
    }
}

/* The PNGs of one picture differ only in what they say. */
CASE(stored_colours_are_those_of_the_file)
{
    for (int i = 0; i < PICTURES; i++) {
        if (strstr(pictures[i].name, ".jpg") || strcmp(pictures[i].name, "glass.png") == 0) continue;
        OWNED_IMAGE stored = decoded(&pictures[i], SDD_COLOUR_AS_STORED, 0);
        check_image(stored, "colour/unstated.pam");
    }
}

CASE(the_profile_is_also_metadata)
{
    OWNED_IMAGE image = decoded(display_p3, SDD_COLOUR_SRGB, 0);
    sdd_image_colour colour = colour_of(image);
    const void *data = NULL;
    size_t size = 0;
    CHECK_STATUS(sdd_image_metadata(image, SDD_METADATA_ICC, &data, &size), SDD_OK);
    CHECK(size == colour.icc_profile_size && memcmp(data, colour.icc_profile, size) == 0);
}

/* Pixels that an application has made say nothing. */
CASE(made_pixels_say_nothing)
{
    static const struct picture nothing = { .name = "made", .called = "" };
    static const uint8_t pixel[4];
    OWNED_IMAGE image = NULL;
    CHECK_STATUS(sdd_image_create(1, 1, SDD_PIXEL_FORMAT_RGBA8, pixel, 0, &image), SDD_OK);
    check_facts(image, &nothing, 0);
}

CASE(what_is_made_of_a_picture_says_the_same)
{
    sdd_transform flip = SDD_TRANSFORM_INIT;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    for (sdd_colour colour = SDD_COLOUR_AS_STORED; colour <= SDD_COLOUR_SRGB; colour++) {
        OWNED_IMAGE image = decoded(display_p3, colour, 0);
        OWNED_IMAGE made = NULL;
        OWNED_IMAGE moving = NULL;
        sdd_animation_frame frames[] = { { sizeof *frames, image, 0 }, { sizeof *frames, image, 0 } };
        CHECK_STATUS(sdd_image_transform(image, &flip, 1, &made), SDD_OK);
        CHECK_STATUS(sdd_image_create_animation(frames, 2, 0, &moving), SDD_OK);
        check_facts(made, display_p3, colour == SDD_COLOUR_SRGB);
        check_facts(moving, display_p3, colour == SDD_COLOUR_SRGB);
    }
}

/* An animated PNG of which gAMA says that its numbers are light. */
CASE(frames_are_converted)
{
    static const uint8_t linear[4] = { 0, 1, 0x86, 0xa0 }; /* 100000 */
    size_t size;
    uint8_t *plain = moving_png(6, 5, 3, &size), *file = malloc(size + 16);
    memcpy(file, plain, PNG_HEAD);
    uint8_t *end = put_chunk(file + PNG_HEAD, "gAMA", -1, linear, sizeof linear);
    memcpy(end, plain + PNG_HEAD, size - PNG_HEAD);
    size += (size_t)(end - file) - PNG_HEAD;
    sdd_decode_options decode = in_colours(SDD_COLOUR_SRGB, 0);
    OWNED_IMAGE stored = NULL;
    OWNED_IMAGE converted = NULL;
    CHECK_STATUS(sdd_image_decode(file, size, NULL, &stored), SDD_OK);
    CHECK_STATUS(sdd_image_decode(file, size, &decode, &converted), SDD_OK);
    CHECK_EQUAL(image_info(converted).frame_count, 3);
    CHECK_TEXT(colour_of(converted).name, "gamma 1.0");
    for (int i = 0; i < 3; i++) {
        OWNED_IMAGE frame = NULL;
        OWNED_IMAGE stored_frame = NULL;
        CHECK_STATUS(sdd_image_frame(converted, i, &frame), SDD_OK);
        CHECK_STATUS(sdd_image_frame(stored, i, &stored_frame), SDD_OK);
        sdd_image_colour colour = colour_of(frame);
        CHECK(colour.kind == SDD_COLOUR_KIND_MATRIX && colour.is_converted == 1 && colour.gamma == 100000);
        CHECK(image_info(frame).is_converted == 1 && image_info(stored_frame).is_converted == 0);
        CHECK_EQUAL(colour_of(stored_frame).kind, SDD_COLOUR_KIND_MATRIX);
        /* The moving picture is made of equal frames, all as its first one. */
        CHECK(same_pixels(frame, converted) && same_pixels(stored_frame, stored) && !same_pixels(frame, stored));
    }
    free(plain);
    free(file);
}

/* ---------------------------------------------------------------------------------------- encoding */

static sdd_image *encoded_again(sdd_image *image, sdd_image_format format, const sdd_decode_options *decode)
{
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *again = NULL;
    OWNED_BYTES bytes = NULL;
    options.format = format;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    CHECK_STATUS(sdd_image_decode(sdd_bytes_data(bytes), sdd_bytes_size(bytes), decode, &again), SDD_OK);
    return again;
}

/* Pixels as stored are encoded with what says what they are; converted ones say nothing, as sRGB may. */
CASE(an_encoded_picture_says_what_it_is)
{
    sdd_decode_options decode = in_colours(SDD_COLOUR_SRGB, 0);
    for (sdd_image_format format = SDD_IMAGE_FORMAT_JPEG; format <= SDD_IMAGE_FORMAT_PNG; format++) {
        OWNED_IMAGE stored = decoded(display_p3, SDD_COLOUR_AS_STORED, 0);
        OWNED_IMAGE converted = decoded(display_p3, SDD_COLOUR_SRGB, 0);
        OWNED_IMAGE of_stored = encoded_again(stored, format, NULL);
        OWNED_IMAGE of_converted = encoded_again(converted, format, &decode);
        OWNED_IMAGE in_srgb = encoded_again(stored, format, &decode);
        sdd_image_colour said = colour_of(of_converted);
        check_facts(of_stored, display_p3, 0);
        check_facts(in_srgb, display_p3, 1);
        CHECK(said.kind == SDD_COLOUR_KIND_UNSTATED && said.icc_profile == NULL);
        if (format == SDD_IMAGE_FORMAT_PNG)
            CHECK(same_pixels(of_stored, stored) && same_pixels(of_converted, converted) &&
                  same_pixels(in_srgb, converted));
    }
}

/* ------------------------------------------------------------------------------ downloads and loads */

static void download(sdd_downloader *downloader, record *r, const char *url, const sdd_decode_options *decode)
{
    sdd_download_request request = record_request(r, url);
    request.decode = decode;
    fetch_as(downloader, r, request);
    CHECK_ENDED(r, SDD_OK, 0);
}

static const char *url_of(const struct picture *p) { return atf("/file/%s", file_of(p)); }

CASE(a_download_is_as_stored_unless_asked)
{
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_decode_options converted = in_colours(SDD_COLOUR_SRGB, 0), small = in_colours(SDD_COLOUR_SRGB, 9);
    for (int i = 0; i < PICTURES; i++) {
        const struct picture *p = &pictures[i];
        OWNED_RECORD r = RECORD_INIT;
        download(downloader, &r, url_of(p), NULL);
        check_as_decoded(r.image, p, SDD_COLOUR_AS_STORED, 0);
        download(downloader, &r, url_of(p), &converted);
        check_as_decoded(r.image, p, SDD_COLOUR_SRGB, 0);
        download(downloader, &r, url_of(p), &small);
        check_as_decoded(r.image, p, SDD_COLOUR_SRGB, 9);
    }
    /* The downloader's own options may ask for it. */
    OWNED_RECORD r = RECORD_INIT;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &converted), SDD_OK);
    download(downloader, &r, url_of(display_p3), NULL);
    check_as_decoded(r.image, display_p3, SDD_COLOUR_SRGB, 0);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
}

/* Requests of both kinds share a transfer. */
CASE(one_transfer_gives_both)
{
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_decode_options converted = in_colours(SDD_COLOUR_SRGB, 0);
    OWNED_RECORD first = RECORD_INIT;
    OWNED_RECORD second = RECORD_INIT;
    const char *url = atf("/hold/colours?file=%s", file_of(display_p3));
    sdd_download_request request = record_request(&first, url);
    submit(downloader, &request);
    request.decode = &converted;
    request.user_data = &second;
    submit(downloader, &request);
    release("colours");
    record_wait(&first);
    record_wait(&second);
    CHECK_ENDED(&first, SDD_OK, 0);
    CHECK_ENDED(&second, SDD_OK, 0);
    check_as_decoded(first.image, display_p3, SDD_COLOUR_AS_STORED, 0);
    check_as_decoded(second.image, display_p3, SDD_COLOUR_SRGB, 0);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
}

static void load_picture(loader_in_folder *l, record *r, const struct picture *p, const sdd_decode_options *decode,
                         sdd_origin origin)
{
    sdd_load_request request = record_load(r, url_of(p), 0);
    request.decode = decode;
    load_from(l, &request, origin);
}

CASE(a_load_is_in_srgb_from_each_level)
{
    for (int i = 0; i < PICTURES; i++) {
        const struct picture *p = &pictures[i];
        OWNED_LOADER l = open_loader();
        OWNED_RECORD r = RECORD_INIT;
        load_picture(&l, &r, p, NULL, SDD_ORIGIN_NETWORK);
        check_as_decoded(r.image, p, SDD_COLOUR_SRGB, 0);
        load_picture(&l, &r, p, NULL, SDD_ORIGIN_MEMORY);
        check_as_decoded(r.image, p, SDD_COLOUR_SRGB, 0);
        leave_to_disk(&l);
        load_picture(&l, &r, p, NULL, SDD_ORIGIN_DISK);
        check_as_decoded(r.image, p, SDD_COLOUR_SRGB, 0);
    }
}

/* A thumbnail is stored as it was made; it still says what the picture was. */
CASE(a_stored_thumbnail_keeps_what_it_was)
{
    for (int i = 0; i < PICTURES; i++) {
        const struct picture *p = &pictures[i];
        sdd_decode_options decode = in_colours(SDD_COLOUR_DEFAULT, 8);
        OWNED_LOADER l = open_loader();
        OWNED_RECORD made = RECORD_INIT;
        OWNED_RECORD r = RECORD_INIT;
        load_picture(&l, &made, p, &decode, SDD_ORIGIN_NETWORK);
        check_as_decoded(made.image, p, SDD_COLOUR_SRGB, 8);
        load_picture(&l, &r, p, &decode, SDD_ORIGIN_MEMORY);
        check_as_decoded(r.image, p, SDD_COLOUR_SRGB, 8);
        leave_to_disk(&l);
        load_picture(&l, &r, p, &decode, SDD_ORIGIN_DISK);
        check_facts(r.image, p, p->is_converted);
        if (strstr(p->name, ".png")) CHECK(same_pixels(r.image, made.image));
    }
}

static void read_what_another_stored(const char *folder, const char *url)
{
    sdd_decode_options decode = in_colours(SDD_COLOUR_DEFAULT, 8);
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_load_request request;
    OWNED_RECORD r = RECORD_INIT;
    sdd_loader *loader = NULL;
    config.cache = cache_at(folder);
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    request = record_load(&r, url, SDD_OPTION_FROM_CACHE_ONLY);
    request.decode = &decode;
    CHECK(sdd_loader_submit(loader, &request) != 0);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_DISK);
    check_facts(r.image, display_p3, 1);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(config.cache), SDD_OK);
}

CASE(another_cache_reads_it_too)
{
    sdd_decode_options decode = in_colours(SDD_COLOUR_DEFAULT, 8);
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    load_picture(&l, &r, display_p3, &decode, SDD_ORIGIN_NETWORK);
    leave_to_disk(&l);
    read_what_another_stored(l.cache.folder, url_of(display_p3));
}

CASE(pictures_as_stored_have_keys_of_their_own)
{
    sdd_decode_options stored = in_colours(SDD_COLOUR_AS_STORED, 8), converted = in_colours(SDD_COLOUR_SRGB, 8);
    sdd_decode_options plain = inside(8), whole = in_colours(SDD_COLOUR_AS_STORED, 0);
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = url_of(display_p3);
    CHECK_TEXT(key_of(l.cache.cache, url, &converted, NULL, 0), key_of(l.cache.cache, url, &plain, NULL, 0));
    CHECK(strcmp(key_of(l.cache.cache, url, &stored, NULL, 0), key_of(l.cache.cache, url, &plain, NULL, 0)) != 0);
    /* An original is stored once: each form is decoded from it. */
    CHECK_TEXT(key_of(l.cache.cache, url, &whole, NULL, 0), url);
    load_picture(&l, &r, display_p3, &plain, SDD_ORIGIN_NETWORK);
    load_picture(&l, &r, display_p3, &stored, SDD_ORIGIN_DISK); /* from the original */
    check_as_decoded(r.image, display_p3, SDD_COLOUR_AS_STORED, 8);
    load_picture(&l, &r, display_p3, &stored, SDD_ORIGIN_MEMORY);
    check_as_decoded(r.image, display_p3, SDD_COLOUR_AS_STORED, 8);
    load_picture(&l, &r, display_p3, &plain, SDD_ORIGIN_MEMORY);
    check_as_decoded(r.image, display_p3, SDD_COLOUR_SRGB, 8);
    leave_to_disk(&l);
    load_picture(&l, &r, display_p3, &stored, SDD_ORIGIN_DISK);
    check_facts(r.image, display_p3, 0);
    load_picture(&l, &r, display_p3, &plain, SDD_ORIGIN_DISK);
    check_facts(r.image, display_p3, 1);
    load_picture(&l, &r, display_p3, &whole, SDD_ORIGIN_DISK);
    check_as_decoded(r.image, display_p3, SDD_COLOUR_AS_STORED, 0);
}

/* A cache query finds what loads have stored, in sRGB unless it asks otherwise. */
CASE(a_cache_query_is_like_a_load)
{
    sdd_decode_options stored = in_colours(SDD_COLOUR_AS_STORED, 0);
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    load_picture(&l, &r, display_p3, NULL, SDD_ORIGIN_NETWORK);
    OWNED_IMAGE in_memory = find_image(l.cache.cache, url_of(display_p3), NULL, SDD_ORIGIN_MEMORY);
    check_as_decoded(in_memory, display_p3, SDD_COLOUR_SRGB, 0);
    leave_to_disk(&l);
    OWNED_IMAGE as_stored = find_image(l.cache.cache, url_of(display_p3), &stored, SDD_ORIGIN_DISK);
    check_as_decoded(as_stored, display_p3, SDD_COLOUR_AS_STORED, 0);
    leave_to_disk(&l);
    OWNED_IMAGE on_disk = find_image(l.cache.cache, url_of(display_p3), NULL, SDD_ORIGIN_DISK);
    check_as_decoded(on_disk, display_p3, SDD_COLOUR_SRGB, 0);
}


/* ----------------------------------------------------------------------------------------- refusals */

CASE(colours_that_do_not_exist_are_refused)
{
    static const sdd_colour wrong[] = { -1, 3, INT32_MAX, INT32_MIN };
    OWNED_BYTES file = fixture_bytes(file_of(display_p3));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sdd_decode_options decode = in_colours(wrong[i], 0);
        sdd_image *image = NULL;
        char number[20];
        snprintf(number, sizeof number, ": %d ", (int)wrong[i]);
        CHECK_STATUS(sdd_image_decode(sdd_bytes_data(file), sdd_bytes_size(file), &decode, &image),
                     SDD_ERROR_INVALID_ARGUMENT);
        const char *told = sdd_last_error_message();
        CHECK(image == NULL && strstr(told, "sdd_decode_options.colour") != NULL && strstr(told, number) != NULL);
    }
}

CASE(arguments_are_checked)
{
    OWNED_IMAGE image = decoded(display_p3, SDD_COLOUR_SRGB, 0);
    sdd_image_colour colour = SDD_IMAGE_COLOUR_INIT;
    CHECK_STATUS(sdd_image_get_colour(NULL, &colour), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(sdd_last_error_message(), "image: NULL") != NULL);
    CHECK_EQUAL(colour.kind, 0);
    CHECK_STATUS(sdd_image_get_colour(image, (void *)(uintptr_t)strtol("0", NULL, 10)), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(strstr(sdd_last_error_message(), "colour: NULL") != NULL);
}

/* A program that was compiled for a smaller struct gets the fields that it has, and no byte more. */
CASE(every_size_of_the_struct_is_filled)
{
    OWNED_IMAGE image = decoded(&pictures[5], SDD_COLOUR_SRGB, 0);
    sdd_image_colour whole = colour_of(image);
    for (size_t size = 0; size <= sizeof whole; size += sizeof size) {
        union {
            sdd_image_colour colour;
            uint8_t bytes[sizeof(sdd_image_colour) + 8];
        } room;
        memset(&room, 0xa5, sizeof room);
        room.colour.struct_size = size;
        sdd_status status = sdd_image_get_colour(image, &room.colour);
        CHECK_STATUS(status, size < sizeof size ? SDD_ERROR_INVALID_ARGUMENT : SDD_OK);
        for (size_t i = sizeof size; i < size; i++) CHECK_EQUAL(room.bytes[i], ((uint8_t *)&whole)[i]);
        for (size_t i = size < sizeof size ? sizeof size : size; i < sizeof room; i++)
            CHECK_EQUAL(room.bytes[i], 0xa5);
    }
}

int main(void) { return run_cases(); }

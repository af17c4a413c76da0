/* The process counts all living images, bytes and prefetch lists from their creation to their end; and transforms that
   enlarge pictures. */
#include "loads.h"

static sdd_process_statistics living(void)
{
    sdd_process_statistics now = SDD_PROCESS_STATISTICS_INIT;
    CHECK_STATUS(sdd_process_get_statistics(&now), SDD_OK);
    return now;
}

static sdd_process_statistics before; /* the counts at the start of the test */

/* Returns how many more objects live than at the start. The library may hold the last reference for a moment longer. */
static int extra(void)
{
    sdd_process_statistics now = living();
    return (int)(now.images - before.images + now.pixel_bytes - before.pixel_bytes + now.bytes_objects
                 - before.bytes_objects + now.bytes_bytes - before.bytes_bytes + now.prefetch_lists);
}

CASE(images_and_bytes_are_counted)
{
    static const uint8_t pixels[10 * 6 * 4];
    before = living();
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_create(10, 6, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    sdd_process_statistics now = living();
    CHECK_EQUAL(now.images, before.images + 1);
    CHECK(now.pixel_bytes >= before.pixel_bytes + 10 * 6 * 4 && now.bytes_objects == before.bytes_objects);
    CHECK(sdd_image_retain(image) == image); /* this returns the same image */
    CHECK_EQUAL(living().images, before.images + 1);
    sdd_image_release(image);
    sdd_bytes *bytes = NULL, *own = sdd_bytes_create(pixels, 100), *empty = sdd_bytes_create(NULL, 0);
    CHECK_STATUS(sdd_image_encode(image, NULL, &bytes), SDD_OK);
    now = living();
    CHECK_EQUAL(now.bytes_objects, before.bytes_objects + 3);
    CHECK(now.bytes_bytes >= before.bytes_bytes + 100 + (int64_t)sdd_bytes_size(bytes));
    sdd_image_release(image);
    CHECK(living().images == before.images && living().pixel_bytes == before.pixel_bytes);
    sdd_bytes_release(bytes), sdd_bytes_release(own), sdd_bytes_release(empty);
    CHECK_EQUAL(extra(), 0);
    sdd_process_statistics partly = { .struct_size = offsetof(sdd_process_statistics, pixel_bytes), .pixel_bytes = -7 };
    CHECK_STATUS(sdd_process_get_statistics(&partly), SDD_OK);
    CHECK(partly.images == before.images && partly.pixel_bytes == -7);
    partly.struct_size = 1;
    CHECK_STATUS(sdd_process_get_statistics(&partly), SDD_ERROR_INVALID_ARGUMENT);
    sdd_process_statistics *volatile none = NULL;
    CHECK_STATUS(sdd_process_get_statistics(none), SDD_ERROR_INVALID_ARGUMENT);
}

/* Images and bytes of downloads, of a cache's memory, and of a held result live until their last holder releases
   them. */
CASE(loads_leave_nothing_behind)
{
    record r = RECORD_INIT;
    before = living();
    fetch(NULL, &r, at("/file/png/rgb8.png?warm"), 0); /* by the shared downloader */
    record_clear(&r);
    CHECK(settles(extra, 0)); /* a thread of the library may hold the picture and its bytes for a moment longer */
    loader_in_folder l = open_loader();
    load(&l, &r, at("/file/png/rgb8.png?living"), SDD_OPTION_WAIT_STORE_CACHE);
    CHECK(living().images > before.images);
    record_clear(&r);
    CHECK(living().images > before.images); /* the cache's memory holds it */
    CHECK_STATUS(sdd_cache_trim_memory(l.cache.cache, SDD_TRIM_ALL), SDD_OK);
    for (int i = 0; i < 20; i++) load(&l, &r, atf("/file/png/rgb8.png?living%d", i), i % 2 ? SDD_OPTION_BYTES_ONLY : 0);
    load(&l, &r, at("/cut"), 0);
    record_clear(&r);
    close_loader(&l);
    if (!settles(extra, 0)) {
        sdd_process_statistics now = living();
        FAIL("%lld images, %lld of pixels, %lld bytes, %lld of bytes are left", (long long)(now.images - before.images),
             (long long)(now.pixel_bytes - before.pixel_bytes), (long long)(now.bytes_objects - before.bytes_objects),
             (long long)(now.bytes_bytes - before.bytes_bytes));
    }
}

static int lists(void) { return (int)living().prefetch_lists; }

CASE(lists_are_counted)
{
    loader_in_folder l = open_loader(), other = open_loader();
    const char *urls[] = { at("/hold/lists?file=png/rgb8.png") };
    sdd_token tokens[3];
    CHECK_EQUAL(lists(), 0);
    for (int i = 0; i < 3; i++) {
        sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
        list.urls = urls;
        list.count = 1;
        tokens[i] = sdd_prefetch(i == 2 ? other.loader : l.loader, &list);
        CHECK(tokens[i] != 0);
        CHECK_EQUAL(lists(), i + 1);
    }
    CHECK_STATUS(sdd_cancel(tokens[0]), SDD_OK);
    CHECK(settles(lists, 2));
    release("lists");
    CHECK(settles(lists, 0));
    close_loader(&l);
    close_loader(&other);
}

/* ---------------------------------------------------------------------------------------- transforms */

static sdd_transform resize(int32_t width, int32_t height, int32_t fit, int32_t enlarges)
{
    sdd_transform made = SDD_TRANSFORM_INIT;
    made.kind = SDD_TRANSFORM_RESIZE;
    made.width = width;
    made.height = height;
    made.fit = fit;
    made.allow_enlarging = enlarges;
    return made;
}

CASE(a_transform_may_enlarge)
{
    size_t size;
    uint8_t *file = fixture("png/rgb8.png", &size);
    sdd_image *image = NULL, *made = NULL, *expected = NULL;
    CHECK_STATUS(sdd_image_decode(file, size, NULL, &image), SDD_OK);
    static const int32_t fits[] = { SDD_FIT_INSIDE, SDD_FIT_FILL, SDD_FIT_STRETCH };
    for (int i = 0; i < 3; i++) {
        sdd_transform list = resize(50, 41, fits[i], 1);
        sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
        decode.target_width = 50, decode.target_height = 41, decode.fit = fits[i], decode.allow_enlarging = 1;
        CHECK_STATUS(sdd_image_transform(image, &list, 1, &made), SDD_OK);
        CHECK_STATUS(sdd_image_decode(file, size, &decode, &expected), SDD_OK);
        CHECK_EQUAL(sdd_image_width(made), sdd_image_width(expected));
        CHECK_EQUAL(sdd_image_height(made), sdd_image_height(expected));
        CHECK(sdd_image_width(made) > sdd_image_width(image));
        for (int y = 0; y < sdd_image_height(made); y++)
            CHECK(memcmp(sdd_image_pixels(made) + (size_t)y * sdd_image_stride(made),
                         sdd_image_pixels(expected) + (size_t)y * sdd_image_stride(expected),
                         (size_t)sdd_image_width(made) * 4) == 0);
        sdd_image_release(made), sdd_image_release(expected);
        /* Without allow_enlarging nothing becomes larger. */
        list.allow_enlarging = 0;
        CHECK_STATUS(sdd_image_transform(image, &list, 1, &made), SDD_OK);
        CHECK(sdd_image_width(made) <= sdd_image_width(image) && sdd_image_height(made) <= sdd_image_height(image));
        sdd_image_release(made);
    }
    sdd_transform bad[] = { resize(1, 1, 0, 2), resize(1, 1, 0, -1) };
    CHECK_STATUS(sdd_image_transform(image, &bad[0], 1, &made), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_image_transform(image, &bad[1], 1, &made), SDD_ERROR_INVALID_ARGUMENT);
    sdd_transform huge = resize(INT32_MAX, 0, SDD_FIT_FILL, 1);
    sdd_status status = sdd_image_transform(image, &huge, 1, &made);
    CHECK(made == NULL && (status == SDD_ERROR_DOES_NOT_FIT || status == SDD_ERROR_NO_RESOURCES));
    sdd_image_release(image);
    free(file);

    char key[100];
    sdd_transform list = resize(100, 80, SDD_FIT_FILL, 1);
    CHECK_STATUS(sdd_transform_key(&list, 1, key, sizeof key, NULL), SDD_OK);
    CHECK_TEXT(key, "resize(100,80,fill,enlarge)");
    list.allow_enlarging = 0;
    CHECK_STATUS(sdd_transform_key(&list, 1, key, sizeof key, NULL), SDD_OK);
    CHECK_TEXT(key, "resize(100,80,fill)");
}

/* A picture of a few bytes must not be enlarged beyond the limits for large pictures. */
CASE(limits_hold_for_enlarged_pictures)
{
    static const struct { int64_t pixels, bytes; int32_t side, detail; } cases[] = {
        { 10000, 0, 100, 0 }, { 10000, 0, 101, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS }, { 0, 200000, 200, 0 },
        { 0, 100000, 200, SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY }, { 0, 0, 11000, SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY },
    };
    record r = RECORD_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sdd_limits limits = SDD_LIMITS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
        limits.max_pixels = cases[i].pixels;
        limits.max_decode_bytes = cases[i].bytes;
        OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
        sdd_transform list = resize(cases[i].side, cases[i].side, SDD_FIT_STRETCH, 1);
        sdd_load_request request = record_load(&r, atf("/file/png/rgb8.png?large%zu", i), 0);
        request.transforms = &list;
        request.transform_count = 1;
        pictures_are_transformed = 1;
        load_as(&l, &r, &request);
        CHECK_ENDED(&r, cases[i].detail ? SDD_ERROR_BAD_IMAGE_DATA : SDD_OK, cases[i].detail);
        if (!cases[i].detail) CHECK_EQUAL(sdd_image_width(r.image), cases[i].side);
        record_clear(&r);
    }
}

int main(void) { return run_cases(); }

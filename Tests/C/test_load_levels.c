/* The levels where loads look for pictures and store them: rows B6, B7, B9, B13, B31, M20, M24. */
#include "loads.h"

#include <stdatomic.h>

/* Two pictures with different heights when they fit into 5 x 5, so that the test can tell which entry was found. */
#define ORIGINAL "png/rgb8.png" /* 19 x 13: 5 x 3 */
#define RESULT "jpeg/baseline-444.jpg" /* 37 x 29: 5 x 4 */

static const int32_t levels[] = { SDD_CACHE_NONE, SDD_CACHE_MEMORY, SDD_CACHE_DISK, SDD_CACHE_ALL };
enum { LEVELS = 4 };

/* Returns the levels as sdd_cache_contains_wait() tells them. */
static sdd_cache_levels bits_of(sdd_cache_levels given) { return given == SDD_CACHE_NONE ? 0 : given; }

static int has(int32_t given, int32_t level) { return given != SDD_CACHE_NONE && (given & level) != 0; }

static sdd_image *decoded(const char *name, const sdd_decode_options *decode)
{
    size_t size;
    uint8_t *file = fixture(name, &size);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_decode(file, size, decode, &image), SDD_OK);
    free(file);
    return image;
}

/* Stores a picture under a key on exactly those levels. */
static void lay(sdd_cache *cache, const char *key, const char *name, const sdd_decode_options *decode, int32_t on)
{
    if (on == SDD_CACHE_NONE) return;
    sdd_image *image = decoded(name, decode);
    sdd_bytes *bytes = decode ? NULL : sdd_bytes_retain(sdd_image_bytes(image));
    sdd_cache_item item = item_of(key, image, bytes, on);
    CHECK_STATUS(sdd_cache_put_wait(cache, &item), SDD_OK);
    sdd_image_release(image);
    sdd_bytes_release(bytes);
    CHECK_EQUAL(sdd_cache_contains_wait(cache, key, SDD_CACHE_ALL), on);
}

/* Returns a load that changes nothing: it does not download, and stores nothing. */
static sdd_load_request looking(record *r, const char *url)
{
    sdd_load_request request = record_load(r, url, SDD_OPTION_FROM_CACHE_ONLY);
    request.store = request.original_store = SDD_CACHE_NONE;
    return request;
}

static void check_found(loader_in_folder *l, const sdd_load_request *request, int32_t origin, int height)
{
    record *r = request->user_data;
    load_as(l, r, request);
    if (origin == SDD_ORIGIN_NETWORK) {
        CHECK_ENDED(r, SDD_ERROR_NOT_CACHED, 0);
    } else {
        CHECK_ENDED(r, SDD_OK, 0);
        CHECK_EQUAL(r->origin, origin);
        CHECK_EQUAL(sdd_image_height(r->image), height);
    }
    record_clear(r);
}

/* The original is on `there`, and the load looks for it on each set of levels. */
CASE(b9_where_an_original_is_looked_for)
{
    OWNED_LOADER l = open_loader();
    for (int there = 0; there < LEVELS; there++) {
        char url[100];
        snprintf(url, sizeof url, "http://host.example/%d/a.png", there);
        lay(l.cache.cache, url, ORIGINAL, NULL, levels[there]);
        for (int query = 0; query < LEVELS; query++) {
            record r = RECORD_INIT;
            sdd_load_request request = looking(&r, url);
            request.query = levels[query];
            int32_t origin = has(levels[query], SDD_CACHE_MEMORY) && has(levels[there], SDD_CACHE_MEMORY)
                                 ? SDD_ORIGIN_MEMORY
                             : has(levels[query], SDD_CACHE_DISK) && has(levels[there], SDD_CACHE_DISK)
                                 ? SDD_ORIGIN_DISK
                                 : SDD_ORIGIN_NETWORK;
            check_found(&l, &request, origin, 13);
        }
        CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), bits_of(levels[there]));
    }
}

/* Result and original are on any levels, and the load looks on any levels: first for the result in memory, then on
   disk, then for the original in memory, then on disk. */
static void look_for_thumbnail(loader_in_folder *l, const char *url, int32_t result, int32_t original)
{
    sdd_decode_options decode = inside(5);
    for (int i = 0; i < LEVELS * LEVELS; i++) {
        record r = RECORD_INIT;
        sdd_load_request request = looking(&r, url);
        int32_t query = request.query = levels[i / LEVELS], first = request.original_query = levels[i % LEVELS];
        request.decode = &decode;
        if (has(query, SDD_CACHE_MEMORY) && has(result, SDD_CACHE_MEMORY))
            check_found(l, &request, SDD_ORIGIN_MEMORY, 4);
        else if (has(query, SDD_CACHE_DISK) && has(result, SDD_CACHE_DISK))
            check_found(l, &request, SDD_ORIGIN_DISK, 4);
        else if (has(first, SDD_CACHE_MEMORY) && has(original, SDD_CACHE_MEMORY))
            check_found(l, &request, SDD_ORIGIN_MEMORY, 3);
        else if (has(first, SDD_CACHE_DISK) && has(original, SDD_CACHE_DISK))
            check_found(l, &request, SDD_ORIGIN_DISK, 3);
        else
            check_found(l, &request, SDD_ORIGIN_NETWORK, 0);
    }
}

CASE(b6_b7_b9_where_a_thumbnail_is_looked_for)
{
    OWNED_LOADER l = open_loader();
    sdd_decode_options decode = inside(5);
    for (int i = 0; i < LEVELS * LEVELS; i++) {
        char url[100];
        snprintf(url, sizeof url, "http://host.example/%d/b.png", i);
        int32_t result = levels[i / LEVELS], original = levels[i % LEVELS];
        lay(l.cache.cache, key_of(l.cache.cache, url, &decode, NULL, 0), RESULT, &decode, result);
        lay(l.cache.cache, url, ORIGINAL, NULL, original);
        look_for_thumbnail(&l, url, result, original);
    }
}

/* A download is stored on exactly the requested levels. */
CASE(b9_m20_where_downloads_are_stored)
{
    OWNED_LOADER l = open_loader();
    sdd_decode_options decode = inside(5);
    sdd_cache *cache = l.cache.cache;
    for (int i = 0; i < LEVELS * LEVELS; i++) {
        OWNED_RECORD r = RECORD_INIT;
        int32_t store = levels[i / LEVELS], original = levels[i % LEVELS];
        const char *url = atf("/file/" ORIGINAL "?store-%d", i), *plain = atf("/file/" ORIGINAL "?plain-%d", i);
        sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
        request.decode = &decode;
        request.store = store;
        request.original_store = original;
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        record_clear(&r);
        CHECK_EQUAL(sdd_cache_contains_wait(cache, key_of(cache, url, &decode, NULL, 0), SDD_CACHE_ALL),
                    bits_of(store));
        CHECK_EQUAL(sdd_cache_contains_wait(cache, url, SDD_CACHE_ALL), bits_of(original));
        /* For the original itself `store` applies, not `original_store`. */
        request.url = plain;
        request.decode = NULL;
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        CHECK_EQUAL(sdd_cache_contains_wait(cache, plain, SDD_CACHE_ALL), bits_of(store));
    }
}

/* By default the original is stored on disk, the thumbnail in memory and on disk, and a picture as it came in both,
   written once. */
CASE(m20_one_write_for_each)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(5);
    get_from(&l, &r, at("/file/" ORIGINAL "?m20"), SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 1);
    sdd_load_request request = record_load(&r, at("/file/" ORIGINAL "?m20-small"), SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 3);
    /* A thumbnail of the cached original is written; the original is not written again. */
    request.url = at("/file/" ORIGINAL "?m20");
    load_from(&l, &request, SDD_ORIGIN_DISK);
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 4);
    CHECK_EQUAL(hits("/file/" ORIGINAL "?m20"), 1);
}

/* The original is stored with the bytes as they came, whatever form was requested. */
CASE(b7_the_original_is_as_it_came)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(5);
    const char *url = at("/file/" ORIGINAL "?b7");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    size_t size, stored;
    uint8_t *file = fixture(ORIGINAL, &size);
    int32_t descriptor = -1;
    int64_t length = 0;
    CHECK_STATUS(sdd_cache_open_wait(l.cache.cache, url, &descriptor, &length), SDD_OK);
    close(descriptor);
    uint8_t *bytes = read_whole(path_of(l.cache.cache, url), &stored);
    CHECK(length == (int64_t)size && stored >= size && memcmp(bytes, file, size) == 0);
    free(bytes);
    free(file);
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    check_image(r.image, "png/rgb8.pam");
    CHECK_EQUAL(hits("/file/" ORIGINAL "?b7"), 1);
}

CASE(b31_originals_have_a_cache_of_their_own)
{
    OWNED_CACHE originals = open_default();
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.original_cache = originals.cache;
    OWNED_LOADER l = open_loader_over(config, NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(5);
    const char *url = at("/file/" ORIGINAL "?b31"), *plain = at("/file/" ORIGINAL "?b31-plain");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    const char *key = key_of(l.cache.cache, url, &decode, NULL, 0);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, key, SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), 0);
    CHECK_EQUAL(sdd_cache_contains_wait(originals.cache, url, SDD_CACHE_ALL), SDD_CACHE_DISK);
    CHECK_EQUAL(sdd_cache_contains_wait(originals.cache, key, SDD_CACHE_ALL), 0);
    /* Another size is made from the original there; a picture as it came is stored in the first cache. */
    decode = inside(8);
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(r.image), 8);
    get_from(&l, &r, plain, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, plain, SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_EQUAL(sdd_cache_contains_wait(originals.cache, plain, SDD_CACHE_ALL), 0);
}

static struct {
    int images, bytes, calls;
    char keys[4][300];
} served;

/* Appends a mark to the bytes for the disk: a mark in front of them would make them undecodable. */
static sdd_bytes *marking(sdd_image *image, sdd_bytes *bytes, const char *key, void *user_data)
{
    CHECK(user_data == &served && served.calls < 4);
    snprintf(served.keys[served.calls++], sizeof served.keys[0], "%s", key);
    served.images += image != NULL;
    served.bytes += bytes != NULL;
    if (bytes == NULL) return NULL;
    size_t size = sdd_bytes_size(bytes);
    uint8_t *marked = malloc(size + 4);
    memcpy(marked, sdd_bytes_data(bytes), size);
    memcpy(marked + size, "mark", 4);
    sdd_bytes *made = sdd_bytes_create(marked, size + 4);
    free(marked);
    return made;
}

/* The serializer is asked for the original and for the thumbnail; its bytes are what a lookup finds. */
CASE(b13_the_serializer_is_asked_for_both)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.serializer = marking;
    cache.user_data = &served;
    loader_in_folder l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, cache);
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(5);
    const char *url = at("/file/" ORIGINAL "?b13"), *plain = at("/file/" ORIGINAL "?b13-plain");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    const char *key = key_of(l.cache.cache, url, &decode, NULL, 0);
    CHECK_EQUAL(served.calls, 2);
    int first = strcmp(served.keys[0], url) == 0 ? 0 : 1;
    CHECK_TEXT(served.keys[first], url);
    CHECK_TEXT(served.keys[1 - first], key);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_DISK), SDD_CACHE_DISK);
    get_from(&l, &r, plain, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(served.calls, 3);
    CHECK_TEXT(served.keys[2], plain);
    size_t size = sdd_bytes_size(r.bytes);
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, plain, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), size + 4);
    check_image(r.image, "png/rgb8.pam");
    close_loader(&l);
}

/* A transformed picture has an entry of its own, and is not transformed again. */
CASE(m24_b15_transformed_pictures_are_stored)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transform rotation = SDD_TRANSFORM_INIT;
    const char *url = at("/file/" ORIGINAL "?m24");
    rotation.kind = SDD_TRANSFORM_ROTATE;
    rotation.degrees = 90;
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.transforms = &rotation;
    request.transform_count = 1;
    static const int32_t origins[] = { SDD_ORIGIN_NETWORK, SDD_ORIGIN_MEMORY, SDD_ORIGIN_DISK, SDD_ORIGIN_MEMORY };
    uint8_t first[4] = { 0 };
    pictures_are_transformed = 1;
    for (int i = 0; i < 4; i++) {
        if (i == 2) leave_to_disk(&l);
        load_from(&l, &request, origins[i]);
        CHECK(sdd_image_width(r.image) == 13 && sdd_image_height(r.image) == 19);
        if (i == 0) memcpy(first, sdd_image_pixels(r.image), 4);
        CHECK(memcmp(first, sdd_image_pixels(r.image), 4) == 0);
        record_clear(&r);
    }
    pictures_are_transformed = 0;
    const char *key = key_of(l.cache.cache, url, NULL, &rotation, 1);
    CHECK(strstr(key, "-Transform({rotate(90)}).png?m24") != NULL);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, key, SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_CACHE_DISK);
    /* The top left pixel of the rotated picture was at the bottom left. */
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    CHECK(memcmp(sdd_image_pixels(r.image) + 12 * sdd_image_stride(r.image), first, 4) == 0);
    CHECK_EQUAL(hits("/file/" ORIGINAL "?m24"), 1);
}

/* A load of bytes alone stores them on disk under the original's key, and no picture in memory. */
CASE(z13_bytes_only)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/ok?size=1000&z13"), *picture = at("/file/" ORIGINAL "?z13");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_BYTES_ONLY);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK(r.image == NULL && sdd_bytes_size(r.bytes) == 1000);
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK(r.image == NULL && is_pattern(sdd_bytes_data(r.bytes), 1000, "/ok?size=1000&z13"));
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_CACHE_DISK);
    CHECK_EQUAL(hits("/ok?size=1000&z13"), 1);
    /* A load of the picture finds the stored bytes, and a load of bytes finds those of the picture. */
    request.url = picture;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    get_from(&l, &r, picture, 0, SDD_ORIGIN_DISK);
    check_image(r.image, "png/rgb8.pam");
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(hits("/file/" ORIGINAL "?z13"), 1);
    /* The application can also open the file without a copy. */
    int32_t descriptor = -1;
    int64_t size = 0;
    CHECK_STATUS(sdd_cache_open_wait(l.cache.cache, url, &descriptor, &size), SDD_OK);
    uint8_t bytes[1000];
    CHECK(size == 1000 && read(descriptor, bytes, sizeof bytes) == 1000);
    CHECK(is_pattern(bytes, 1000, "/ok?size=1000&z13"));
    close(descriptor);
}

/* Pixels in the caller's memory have no key: the load looks for the original and stores it, but not the picture. */
CASE(z15_pixels_in_the_callers_memory_are_not_stored)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    static uint8_t pixels[19 * 13 * 4];
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    const char *url = at("/file/" ORIGINAL "?z15");
    decode.pixels = pixels;
    decode.pixels_size = sizeof pixels;
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK(sdd_image_pixels(r.image) == pixels);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_CACHE_DISK);
    record_clear(&r);
    memset(pixels, 0, sizeof pixels);
    load_from(&l, &request, SDD_ORIGIN_DISK);
    check_image(r.image, "png/rgb8.pam");
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 1);
    CHECK_EQUAL(hits("/file/" ORIGINAL "?z15"), 1);
}

/* An animation in any form is the same from the disk: a scaled one is made of its original again. */
CASE(b7_an_animation_stays_one)
{
    OWNED_LOADER l = open_loader();
    sdd_transform flip = SDD_TRANSFORM_INIT;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_HORIZONTAL;
    for (int i = 0; i < 8; i++) {
        char url[300];
        snprintf(url, sizeof url, "%s?form=%d", at("/file/frames/palette.png"), i);
        sdd_decode_options decode = i & 1 ? inside(5) : (sdd_decode_options)SDD_DECODE_OPTIONS_INIT;
        sdd_load_request request = SDD_LOAD_REQUEST_INIT;
        sdd_result *results[2];
        decode.still = (i & 4) != 0;
        request.url = url;
        request.options = SDD_OPTION_WAIT_STORE_CACHE;
        request.decode = &decode;
        request.transforms = &flip;
        request.transform_count = i & 2 ? 1 : 0;
        for (int from_disk = 0; from_disk < 2; from_disk++) {
            sdd_result **result = &results[from_disk];
            CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, result), SDD_OK);
            CHECK_EQUAL((*result)->origin, from_disk ? SDD_ORIGIN_DISK : SDD_ORIGIN_NETWORK);
            CHECK_EQUAL((*result)->is_transformed, i >= 6);
            CHECK((image_info((*result)->image).frame_count > 1) == (i < 4));
            CHECK_EQUAL(sdd_image_width((*result)->image), sdd_image_width(results[0]->image));
            leave_to_disk(&l);
        }
        CHECK(same_rows(results[0]->image, results[1]->image, sdd_image_height(results[0]->image)));
        for (int from_disk = 0; from_disk < 2; from_disk++) sdd_result_release(results[from_disk]);
    }
}

/* A damaged picture on disk is downloaded again and replaced. */
CASE(z12_a_damaged_picture_is_downloaded_again)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/" ORIGINAL "?z12");
    put_text(l.cache.cache, url, "<p>no picture</p>");
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
}

/* ----------------------------------------------------------------------------------- loads in a row */

static atomic_int crowd_begun, crowd_ended;

static void crowd_completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_EQUAL(result->failure.status, SDD_OK);
    CHECK(result->image != NULL);
    atomic_fetch_add(&crowd_ended, 1);
}

static int count_of_crowd(void) { return atomic_load(&crowd_begun) - atomic_load(&crowd_ended); }

/* Loads of one URL that arrive while it is downloaded, decoded and stored find the picture that the first of them has
   made: whoever finds the original looks in memory again. */
CASE(m10_a_hot_url_is_decoded_once)
{
    enum { URLS = 40, AFTER = 10, MOST = 400 };
    OWNED_LOADER l = open_loader();
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    char url[200];
    for (int i = 0; i < URLS; i++) {
        snprintf(url, sizeof url, "%s", atf("/file/jpeg/progressive-420.jpg?hot-%d", i));
        crowd_begun = crowd_ended = 0;
        for (int n = 0, after = 0; n < MOST && after < AFTER; n++) {
            sdd_load_request request = SDD_LOAD_REQUEST_INIT;
            request.url = url;
            request.completed = crowd_completed;
            atomic_fetch_add(&crowd_begun, 1);
            CHECK(sdd_loader_submit(l.loader, &request) != 0);
            if (atomic_load(&crowd_ended) > 0) after++;
        }
        if (!settles(count_of_crowd, 0)) FAIL("%d loads have not ended", count_of_crowd());
        CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_MEMORY), SDD_CACHE_MEMORY);
    }
    CHECK_STATUS(sdd_downloader_get_statistics(l.downloader, &statistics), SDD_OK);
    printf("    %d pictures, transfers: %lld, decoded: %lld\n", URLS, (long long)statistics.transfers_started,
           (long long)statistics.images_decoded);
    /* A load may look everywhere just before the picture is stored, and begin just after the transfer has ended: then
       it makes a transfer of its own. What is found on disk is never decoded again. */
    CHECK(statistics.images_decoded <= statistics.transfers_started);
    CHECK(statistics.transfers_started <= URLS + URLS / 10);
}

/* RFC 3986 section 6.2.2.1: scheme and host are the same in any case. */
CASE(scheme_and_host_are_the_same_in_any_case)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *given = at("/file/png/rgb8.png?case");
    char other[300];
    snprintf(other, sizeof other, "HTTP%s", given + 4);
    get_from(&l, &r, given, 0, SDD_ORIGIN_NETWORK);
    get_from(&l, &r, other, 0, SDD_ORIGIN_MEMORY);
    CHECK(r.token != 0 && sdd_cache_contains_wait(l.cache.cache, given, SDD_CACHE_ALL) == SDD_CACHE_ALL);
    /* A cache's keys of URLs are made alike. */
    char first[300], second[300];
    CHECK_STATUS(sdd_cache_key(l.cache.cache, "HTTPS://Host.Example/A", NULL, NULL, 0, first, sizeof first, NULL), SDD_OK);
    CHECK_STATUS(sdd_cache_key(l.cache.cache, "https://host.example/A", NULL, NULL, 0, second, sizeof second, NULL), SDD_OK);
    CHECK(strcmp(first, second) == 0 && strcmp(first, "https://host.example/A") == 0);
}

int main(void) { return run_cases(); }

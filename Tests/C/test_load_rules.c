/* Rules for what loads store and deliver, which are the same for every source of a picture: rows B6, B9, B15, B19, B31,
   I4, M20, Z12. */
#include "loads.h"
#include "pixels.h"

#define PICTURE "jpeg/baseline-444.jpg" /* 37 x 29 */
#define MOVING "frames/palette.png" /* 14 x 11, 4 frames */

static int is_same(sdd_image *a, sdd_image *b)
{
    size_t row = (size_t)sdd_image_width(a) * 4;
    if (sdd_image_width(a) != sdd_image_width(b) || sdd_image_height(a) != sdd_image_height(b)) return 0;
    for (int y = 0; y < sdd_image_height(a); y++)
        if (memcmp(sdd_image_pixels(a) + (size_t)y * sdd_image_stride(a),
                   sdd_image_pixels(b) + (size_t)y * sdd_image_stride(b), row) != 0)
            return 0;
    return 1;
}

static void forget_memory(sdd_cache *cache) { CHECK_STATUS(sdd_cache_trim_memory(cache, SDD_TRIM_ALL), SDD_OK); }

static void put_on(sdd_cache *cache, const char *url, const char *name, int32_t levels)
{
    sdd_cache_item item = item_of(url, fixture_image(name), NULL, levels);
    CHECK_STATUS(sdd_cache_put_wait(cache, &item), SDD_OK);
    sdd_image_release(item.image);
}

/* Waits for a load of a picture 9 pixels wide, whose callbacks are left out. */
static void wait_for_load(loader_in_folder *l, const sdd_load_request *given, sdd_origin origin)
{
    sdd_load_request request = *given;
    sdd_result *result = NULL;
    request.progress = NULL;
    request.completed = NULL;
    request.user_data = NULL;
    request.user_data_free = NULL;
    CHECK_STATUS(sdd_loader_submit_wait(l->loader, &request, -1, &result), SDD_OK);
    CHECK_EQUAL(result->origin, origin);
    CHECK_EQUAL(sdd_image_width(result->image), 9);
    sdd_result_release(result);
}

/* A thumbnail made from an original on disk is stored like one of a download, so that the next start finds it. */
CASE(m20_a_thumbnail_of_a_stored_original_is_stored)
{
    static const int32_t levels[] = { SDD_CACHE_DEFAULT, SDD_CACHE_ALL, SDD_CACHE_MEMORY, SDD_CACHE_DISK, SDD_CACHE_NONE };
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < 5; i++) {
            OWNED_LOADER l = open_loader();
            sdd_cache *cache = l.cache.cache;
            OWNED_RECORD r = RECORD_INIT;
            sdd_decode_options decode = inside(9);
            int32_t stored = levels[i] == SDD_CACHE_NONE ? 0 : levels[i] == SDD_CACHE_DEFAULT ? SDD_CACHE_ALL : levels[i];
            put_on(cache, "http://host.example/a.jpg", PICTURE, SDD_CACHE_DISK);
            sdd_load_request request = record_load(&r, "http://host.example/a.jpg",
                                                   SDD_OPTION_FROM_CACHE_ONLY | SDD_OPTION_WAIT_STORE_CACHE);
            request.decode = &decode;
            request.store = levels[i];
            /* The second time the calling thread waits. */
            if (way == 0) load_from(&l, &request, SDD_ORIGIN_DISK);
            else wait_for_load(&l, &request, SDD_ORIGIN_DISK);
            char key[300];
            snprintf(key, sizeof key, "%s", key_of(cache, request.url, &decode, NULL, 0));
            CHECK_EQUAL(sdd_cache_contains_wait(cache, key, SDD_CACHE_ALL), stored);
            /* After a restart and without the original the thumbnail is still there, unchanged. */
            forget_memory(cache);
            CHECK_STATUS(sdd_cache_remove_wait(cache, request.url, SDD_CACHE_ALL), SDD_OK);
            record_clear(&r);
            if (stored & SDD_CACHE_DISK) {
                load_from(&l, &request, SDD_ORIGIN_DISK);
                CHECK_EQUAL(sdd_image_width(r.image), 9);
                CHECK_EQUAL(counts_of(cache).entries_written, 2);
            }
        }
    }
}

/* The thumbnail is stored also by a refresh for which the server has nothing newer. */
CASE(m20_a_refresh_stores_the_thumbnail_too)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(9);
    const char *url = atf("/file/" PICTURE "?refreshed");
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    sdd_load_request request = record_load(&r, url, SDD_OPTION_REFRESH_CACHED);
    request.decode = &decode;
    load_as(&l, &r, &request);
    CHECK_STATUS(r.error, SDD_ERROR_NOT_MODIFIED);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, key_of(l.cache.cache, url, &decode, NULL, 0), SDD_CACHE_DISK),
                SDD_CACHE_DISK);
}

/* If original_store includes MEMORY, the original is in memory, undecoded until it is requested; other sizes are made
   from it. */
CASE(b9_originals_in_memory)
{
    static const int32_t levels[] = { SDD_CACHE_MEMORY, SDD_CACHE_ALL };
    for (int i = 0; i < 2; i++) {
        OWNED_LOADER l = open_loader();
        OWNED_RECORD r = RECORD_INIT;
        sdd_decode_options decode = inside(9), other = inside(20);
        OWNED_IMAGE expected = fixture_image(PICTURE);
        char url[200];
        snprintf(url, sizeof url, "%s", atf("/file/" PICTURE "?memory-%d", i));
        sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
        request.decode = &decode;
        request.original_store = levels[i];
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), levels[i]);
        request = record_load(&r, url, SDD_OPTION_FROM_CACHE_ONLY);
        request.decode = &other;
        request.original_query = SDD_CACHE_MEMORY;
        load_from(&l, &request, SDD_ORIGIN_MEMORY);
        CHECK_EQUAL(sdd_image_width(r.image), 20);
        get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_MEMORY);
        CHECK(is_same(r.image, expected));
        get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_MEMORY);
        CHECK(is_same(r.image, expected) && sdd_image_bytes(r.image) != NULL);
    }
}

/* An image that only memory has, with all frames or as a still picture, also serves a load that wants the first frame
   alone. */
CASE(b19_the_first_frame_of_an_image_in_memory)
{
    static const char *const names[] = { PICTURE, MOVING, "png/rgba8.png" };
    OWNED_LOADER l = open_loader();
    for (int i = 0; i < 3; i++) {
        OWNED_RECORD r = RECORD_INIT;
        char url[100];
        snprintf(url, sizeof url, "http://host.example/%d/first.png", i);
        put_on(l.cache.cache, url, names[i], SDD_CACHE_MEMORY);
        OWNED_IMAGE expected = fixture_image(names[i]);
        get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY | SDD_OPTION_DECODE_FIRST_FRAME_ONLY, SDD_ORIGIN_MEMORY);
        CHECK_EQUAL(image_info(r.image).frame_count, 1);
        CHECK(is_same(r.image, expected) && sdd_image_bytes(r.image) != NULL);
        get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_MEMORY);
        CHECK_EQUAL(image_info(r.image).frame_count, image_info(expected).frame_count);
    }
}

/* A file's extension comes from the URL's path, in which letters and digits may be escaped; no other escape is
   undone. */
CASE(i4_the_extension_of_an_escaped_path)
{
    static const char *const names[][2] = {
        { "http://host.example/a.%6Ap%67", ".jpg" },      { "http://host.example/a.p%6eg?b.gif", ".png" },
        { "http://host.example/a%2Ejpg", "" },            { "http://host.example/a.%2e%2e", ".%2e%2e" },
        { "http://host.example/a.j%2fpg", ".jpg" },       { "http://host.example/a.jp%00g", ".jpg" },
        { "http://host.example/a.jp%", ".jp%" },          { "http://host.example/a.%4", ".%4" },
        { "http://host.example/a.%4Gif", ".%4Gif" },      { "not a URL.%6Apg", ".%6Apg" },
        { "http://host.example/a.%25%36%41pg", ".%256Apg" },
    };
    OWNED_CACHE c = open_default();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put(c.cache, names[i][0], NULL, fixture_bytes("png/rgb8.png"));
        const char *name = name_of(path_of(c.cache, names[i][0]));
        if (strcmp(name + 32, names[i][1]) != 0) FAIL("%s is in %s", names[i][0], name);
        CHECK_EQUAL(sdd_cache_contains_wait(c.cache, names[i][0], SDD_CACHE_DISK), SDD_CACHE_DISK);
    }
}

static void check_bytes(const record *r, const uint8_t *file, size_t size)
{
    sdd_bytes *own = sdd_image_bytes(r->image);
    CHECK((own == NULL) == (file == NULL) && (r->bytes == NULL) == (file == NULL));
    if (file == NULL) return;
    CHECK(sdd_bytes_size(own) == size && memcmp(sdd_bytes_data(own), file, size) == 0);
    CHECK(sdd_bytes_size(r->bytes) == size && memcmp(sdd_bytes_data(r->bytes), file, size) == 0);
}

/* Checks that a scaled picture with bit 12 comes with the bytes of its own entry on disk. */
static void check_entry(loader_in_folder *l, const record *r, const char *key)
{
    size_t size;
    uint8_t *file = read_whole(path_of(l->cache.cache, key), &size);
    CHECK(sdd_image_bytes(r->image) == NULL && r->bytes != NULL && size > sdd_bytes_size(r->bytes));
    CHECK(memcmp(file, sdd_bytes_data(r->bytes), sdd_bytes_size(r->bytes)) == 0);
    free(file);
}

/* The rule holds for pictures from the network, from memory, from disk, and made from the original on disk: a
   picture as stored has its bytes, with or without bit 12; a scaled one has none, except those of its own entry with
   that bit. */
CASE(b12_bytes_by_one_rule)
{
    static const uint64_t bits[] = { 0, SDD_OPTION_QUERY_MEMORY_DATA };
    size_t size;
    uint8_t *file = fixture(PICTURE, &size);
    sdd_decode_options small = inside(9);
    for (int i = 0; i < 4; i++) {
        OWNED_LOADER l = open_loader();
        OWNED_RECORD r = RECORD_INIT;
        const sdd_decode_options *decode = i < 2 ? NULL : &small;
        const uint8_t *expected = i < 2 ? file : NULL;
        char url[200], key[300];
        snprintf(url, sizeof url, "%s", atf("/file/" PICTURE "?bytes-%d", i));
        snprintf(key, sizeof key, "%s", key_of(l.cache.cache, url, decode, NULL, 0));
        sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE | bits[i % 2]);
        request.decode = decode;
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        check_bytes(&r, expected, size);
        load_from(&l, &request, SDD_ORIGIN_MEMORY);
        if (i == 3) check_entry(&l, &r, key);
        else check_bytes(&r, expected, size);
        record_clear(&r);
        forget_memory(l.cache.cache);
        load_from(&l, &request, SDD_ORIGIN_DISK);
        if (i == 3) check_entry(&l, &r, key);
        else check_bytes(&r, expected, size);
        if (decode) {
            CHECK_STATUS(sdd_cache_remove_wait(l.cache.cache, key, SDD_CACHE_ALL), SDD_OK);
            load_from(&l, &request, SDD_ORIGIN_DISK);
            check_bytes(&r, NULL, 0);
        }
    }
    free(file);
}

/* What only some request for the URL would get is nobody else's picture: a part of the body, a picture with a status that
   not all accept. Such a load neither fills caches nor is answered by them, and its failure bars no other. */
CASE(z12_only_the_whole_picture_is_stored)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *part = at("/ranged?size=1000&z12"), *refused = at("/status/404?file=png/rgb8.png&z12");
    const sdd_header range = { "Range", "bytes=900-" };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    transfer.headers = &range;
    transfer.header_count = 1;
    sdd_load_request request = record_load(&r, part, SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_BYTES_ONLY);
    request.transfer = &transfer;
    for (int i = 0; i < 2; i++) {
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        CHECK_EQUAL(sdd_bytes_size(r.bytes), 100);
        CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, part, SDD_CACHE_ALL), 0);
    }
    request.options = 0; /* 100 bytes are no picture */
    load_as(&l, &r, &request);
    CHECK_EQUAL(r.error, SDD_ERROR_BAD_IMAGE_DATA);
    get_from(&l, &r, part, SDD_OPTION_BYTES_ONLY, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), 1000);
    request.options = SDD_OPTION_BYTES_ONLY;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), 100);

    transfer = (sdd_transfer_options)SDD_TRANSFER_OPTIONS_INIT;
    transfer.accepted_status_codes = "*";
    request.url = refused;
    request.options = SDD_OPTION_WAIT_STORE_CACHE;
    for (int i = 0; i < 2; i++) load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load(&l, &r, refused, 0);
    CHECK_EQUAL(r.error, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
}

/* A transformed picture has rows as the decode options say, in every format. */
CASE(b15_transforms_and_rows_that_are_aligned)
{
    OWNED_LOADER l = open_loader();
    sdd_transform flip = SDD_TRANSFORM_INIT;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_HORIZONTAL;
    for (int format = SDD_PIXEL_FORMAT_RGBA8; format <= SDD_PIXEL_FORMAT_RGB8_PLANAR; format++) {
        OWNED_RECORD r = RECORD_INIT;
        OWNED_RECORD plain = RECORD_INIT;
        OWNED_IMAGE flipped = NULL;
        sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
        sdd_load_request request = record_load(&plain, at("/file/" PICTURE), 0);
        decode.pixel_format = format;
        request.decode = &decode;
        load_as(&l, &plain, &request);
        CHECK_STATUS(sdd_image_transform(plain.image, &flip, 1, &flipped), SDD_OK);
        decode.row_alignment = 64;
        request = record_load(&r, at("/file/" PICTURE), 0);
        request.decode = &decode;
        request.transforms = &flip;
        request.transform_count = 1;
        load_as(&l, &r, &request);
        CHECK(sdd_image_stride(r.image) % 64 == 0 && same_planes(r.image, flipped));
    }
}

static sdd_image *make_nothing(sdd_image *image, void *user_data)
{
    (void)image, (void)user_data;
    return NULL;
}

/* The picture of a transform that fails is downloaded once, and stored. */
CASE(a_failed_transform_leaves_the_original)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transform transforms[2] = { SDD_TRANSFORM_INIT, SDD_TRANSFORM_INIT };
    transforms[0].kind = SDD_TRANSFORM_CROP;
    transforms[0].x = 500;
    transforms[0].width = transforms[0].height = 5;
    transforms[1].kind = SDD_TRANSFORM_CALLBACK;
    transforms[1].callback = make_nothing;
    transforms[1].key = "nothing";
    sdd_load_request request = record_load(&r, at("/file/" PICTURE "?failed-transform"), 0);
    request.transform_count = 1;
    for (int i = 0; i < 4; i++) {
        request.transforms = &transforms[i % 2];
        load_as(&l, &r, &request);
        CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRANSFORM);
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    }
    CHECK_EQUAL(hits("/file/" PICTURE "?failed-transform"), 1);
    get_from(&l, &r, request.url, 0, SDD_ORIGIN_DISK);
}

/* A picture that its form leaves as it is, is on disk once: as the original. */
CASE(a_form_that_changes_nothing_is_stored_once)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options large = inside(2000);
    sdd_load_request request = record_load(&r, at("/file/" PICTURE "?large"), SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &large;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    leave_to_disk(&l);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 1);
    request.options |= SDD_OPTION_QUERY_MEMORY_DATA;
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK(sdd_image_width(r.image) == 37 && r.bytes != NULL);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 1);
    /* A smaller picture takes the place of one that was made smaller. */
    sdd_decode_options small = inside(30);
    request.decode = &small;
    request.url = in_turns("smaller", "/file/" PICTURE, "/file/png/rgb8.png");
    request.options = SDD_OPTION_WAIT_STORE_CACHE;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    request.options |= SDD_OPTION_FROM_LOADER_ONLY;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    leave_to_disk(&l);
    request.options = 0;
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(r.image), 19);
}

int main(void) { return run_cases(); }

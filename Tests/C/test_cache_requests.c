/* Asynchronous stores and queries: each has a token and ends once, whatever is cancelled or destroyed meanwhile. */
#include "caches.h"

/* Returns a query whose end goes to `r`. */
static sdd_cache_query_options record_query(record *r, const char *key, int32_t wants)
{
    sdd_cache_query_options query = query_of(key, SDD_CACHE_DEFAULT, wants);
    query.completed = record_completed;
    query.user_data = r;
    query.user_data_free = record_freed;
    return query;
}

static sdd_token submit_query(sdd_downloader *downloader, sdd_cache *cache, const sdd_cache_query_options *query)
{
    sdd_token token = sdd_cache_query(cache, downloader, query);
    CHECK(token != 0);
    return token;
}

static void look_for(sdd_downloader *downloader, sdd_cache *cache, record *r, const char *key, int32_t wants)
{
    record_clear(r);
    sdd_cache_query_options query = record_query(r, key, wants);
    sdd_token token = submit_query(downloader, cache, &query);
    record_wait(r);
    CHECK(r->token == token && r->http_status == 0 && r->response == NULL);
}

/* ------------------------------------------------------------------------------------------ queries */

/* Returns whether the bytes of the record, or their absence, are those of the picture. */
static int has_bytes(const record *r, sdd_bytes *picture)
{
    return r->bytes != NULL && sdd_bytes_size(r->bytes) == sdd_bytes_size(picture)
           && memcmp(sdd_bytes_data(r->bytes), sdd_bytes_data(picture), sdd_bytes_size(picture)) == 0;
}

CASE(a_query_gives_the_same_warm_as_cold)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.no_live_images = 1; /* the delivering thread may still have the last result's image */
    OWNED_CACHE c = open_cache(config);
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_bytes *picture = fixture_bytes("jpeg/baseline-420.jpg");
    sdd_cache_item item = item_of(KEY, NULL, picture, SDD_CACHE_ALL);
    item.extended = text_bytes("the application's");
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    for (int is_small = 0; is_small < 2; is_small++) {
        sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
        decode.target_width = is_small ? 10 : 0;
        for (int32_t wants = SDD_WANT_IMAGE; wants <= SDD_WANT_BOTH; wants++) {
            CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
            for (int is_warm = 0; is_warm < 2; is_warm++) {
                sdd_cache_query_options query = record_query(&r, KEY, wants);
                query.decode = &decode;
                record_clear(&r);
                submit_query(downloader, c.cache, &query);
                record_wait(&r);
                CHECK_ENDED(&r, SDD_OK, 0);
                int expects_image = wants != SDD_WANT_BYTES, expects_bytes = wants != SDD_WANT_IMAGE;
                CHECK_EQUAL(r.image != NULL, expects_image);
                /* A picture as it is stored has its bytes, and a scaled one has none. */
                CHECK_EQUAL(has_bytes(&r, picture), expects_bytes || !is_small);
                CHECK_EQUAL(r.bytes != NULL, expects_bytes || !is_small);
                CHECK_EQUAL(r.extended != NULL, expects_bytes);
                if (expects_image) CHECK_EQUAL(r.origin, is_warm ? SDD_ORIGIN_MEMORY : SDD_ORIGIN_DISK);
            }
        }
    }
    sdd_bytes_release(picture);
    sdd_bytes_release(item.extended);
}

CASE(a_query_ends_with_the_cached_entry)
{
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_cache_item item = item_of(KEY, fixture_image("png/rgb8.png"), NULL, SDD_CACHE_ALL);
    item.extended = text_bytes("the host's");
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    look_for(downloader, c.cache, &r, KEY, SDD_WANT_IMAGE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.origin == SDD_ORIGIN_MEMORY && r.image == item.image);
    look_for(downloader, c.cache, &r, KEY, SDD_WANT_BYTES);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.origin == SDD_ORIGIN_DISK && r.image == NULL && r.bytes != NULL && is_text(r.extended, "the host's"));
    sdd_bytes_release(item.extended);
    sdd_image_release(item.image);
    record_clear(&r);
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
    look_for(downloader, c.cache, &r, KEY, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_DISK);
    check_image(r.image, "png/rgb8.pam");
    look_for(downloader, c.cache, &r, "missing", SDD_WANT_BOTH);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    put_text(c.cache, "text", "no picture");
    look_for(downloader, c.cache, &r, "text", SDD_WANT_IMAGE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
}

CASE(no_callback_comes_inside_the_call)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    OWNED_CACHE c = open_default();
    OWNED_RECORD r = RECORD_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    sdd_cache_item item = item_of(KEY, fixture_image("png/rgb8.png"), NULL, SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    sdd_cache_query_options query = record_query(&r, KEY, SDD_WANT_IMAGE);
    submit_query(downloader, c.cache, &query);
    CHECK(record_is_open(&r));
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.freed_count == 1 && pthread_equal(r.thread, pthread_self()));
    sdd_image_release(item.image);
}

enum { QUERIES = 60 };

CASE(equal_queries_share_the_decoding)
{
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    record records[QUERIES];
    put(c.cache, KEY, NULL, fixture_bytes("large/baseline.jpg"));
    for (int i = 0; i < QUERIES; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_cache_query_options query = record_query(&records[i], KEY, SDD_WANT_IMAGE);
        submit_query(downloader, c.cache, &query);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    for (int i = 0; i < QUERIES; i++) {
        CHECK_ENDED(&records[i], SDD_OK, 0);
        CHECK(records[i].image == records[0].image && records[i].freed_count == 1);
    }
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    CHECK(statistics.images_decoded == 1 && statistics.transfers_started == 0);
    for (int i = 0; i < QUERIES; i++) record_clear(&records[i]);
}

CASE(a_cancelled_query_ends_once)
{
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_BYTES picture = fixture_bytes("large/baseline.jpg");
    for (int i = 0; i < scaled(200); i++) {
        OWNED_RECORD r = RECORD_INIT;
        if (i % 20 == 0) {
            put(c.cache, KEY, NULL, sdd_bytes_retain(picture));
            CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
        }
        sdd_cache_query_options query = record_query(&r, i % 3 ? KEY : "missing", SDD_WANT_IMAGE);
        sdd_token token = submit_query(downloader, c.cache, &query);
        sdd_status status = sdd_cancel(token);
        CHECK(status == SDD_OK || status == SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        CHECK(r.completed_count == 1 && r.freed_count == 1);
        if (status == SDD_OK)
            CHECK(r.error == SDD_ERROR_CANCELLED
                  && (r.detail == SDD_DETAIL_CANCELLED_CACHE || r.detail == SDD_DETAIL_CANCELLED_DECODING));
        else
            CHECK_ENDED(&r, i % 3 ? SDD_OK : SDD_ERROR_NOT_CACHED, 0);
        CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
    }
}

/* ------------------------------------------------------------------------------------------- stores */

CASE(a_store_is_found_at_once_and_ends_on_disk)
{
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_ALL, SDD_WANT_BOTH);
    bodies_go_elsewhere = 1;
    for (int i = 0; i < 20; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_cache_item item = item_of(KEY, fixture_image("png/rgb8.png"), NULL, SDD_CACHE_ALL);
        item.completed = record_completed;
        item.user_data = &r;
        item.user_data_free = record_freed;
        sdd_token token = sdd_cache_put(c.cache, downloader, &item);
        CHECK(token != 0 && is_in_memory(c.cache, KEY));
        CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_ALL);
        CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(r.token == token && access(path_of(c.cache, KEY), F_OK) == 0);
        sdd_image_release(item.image);
        CHECK_STATUS(sdd_cache_remove_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_OK);
        CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), 0);
    }
    bodies_go_elsewhere = 0;
}

/* Stores and removals take effect in the order of the calls: the last call wins. */
CASE(stores_and_removals_keep_their_order)
{
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    char text[32];
    for (int i = 0; i < scaled(300); i++) {
        snprintf(text, sizeof text, "text %d", i);
        sdd_bytes *bytes = text_bytes(text);
        sdd_cache_item item = item_of(KEY, NULL, bytes, SDD_CACHE_DISK);
        CHECK(sdd_cache_put(c.cache, downloader, &item) != 0);
        sdd_bytes_release(bytes);
        if (i % 7 == 0) check_text(c.cache, KEY, text);
        if (i % 5 == 0) {
            CHECK_STATUS(sdd_cache_remove_wait(c.cache, KEY, SDD_CACHE_DISK), SDD_OK);
            check_text(c.cache, KEY, NULL);
        }
    }
    sdd_bytes *last = text_bytes("last");
    sdd_cache_item item = item_of(KEY, NULL, last, SDD_CACHE_DISK);
    CHECK(sdd_cache_put(c.cache, downloader, &item) != 0);
    sdd_bytes_release(last);
    CHECK_STATUS(sdd_cache_destroy(c.cache), SDD_OK); /* destroying it writes all accepted stores */
    c.cache = cache_at(c.folder);
    check_text(c.cache, KEY, "last");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
}

/* -------------------------------------------------------------------------- destroyed while in use */

CASE(every_query_ends_though_its_cache_is_destroyed)
{
    for (int round = 0; round < scaled(20); round++) {
        cache_in_folder c = open_default();
        OWNED_DOWNLOADER downloader = make_downloader(NULL);
        record records[QUERIES];
        put(c.cache, KEY, NULL, fixture_bytes("large/baseline.jpg"));
        for (int i = 0; i < QUERIES; i++) {
            records[i] = (record)RECORD_INIT;
            sdd_cache_query_options query = record_query(&records[i], i % 4 ? KEY : "missing", SDD_WANT_IMAGE);
            submit_query(downloader, c.cache, &query);
        }
        close_cache(&c);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        for (int i = 0; i < QUERIES; i++) {
            CHECK(records[i].completed_count == 1 && records[i].freed_count == 1);
            if (records[i].error != SDD_ERROR_NOT_CACHED) CHECK_ENDED(&records[i], i % 4 ? SDD_OK : -1, 0);
            record_clear(&records[i]);
        }
    }
}

CASE(every_query_ends_though_its_downloader_is_destroyed)
{
    for (int round = 0; round < scaled(20); round++) {
        OWNED_CACHE c = open_default();
        sdd_downloader *downloader = make_downloader(NULL);
        record records[QUERIES];
        put(c.cache, KEY, NULL, fixture_bytes("large/baseline.jpg"));
        for (int i = 0; i < QUERIES; i++) {
            records[i] = (record)RECORD_INIT;
            sdd_cache_query_options query = record_query(&records[i], KEY, SDD_WANT_IMAGE);
            submit_query(downloader, c.cache, &query);
        }
        destroy(downloader);
        for (int i = 0; i < QUERIES; i++) {
            CHECK(records[i].completed_count == 1 && records[i].freed_count == 1);
            if (records[i].error != SDD_ERROR_CANCELLED) CHECK_ENDED(&records[i], SDD_OK, 0);
            record_clear(&records[i]);
        }
    }
}

CASE(nothing_is_left_of_a_cache)
{
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_ALL, SDD_WANT_IMAGE);
    int threads = count_threads(), descriptors = count_descriptors();
    for (int i = 0; i < 5; i++) {
        OWNED_CACHE c = open_default();
        put(c.cache, KEY, fixture_image("png/rgb8.png"), NULL);
        CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_OK);
    }
    CHECK_NOTHING_LEFT(threads, descriptors);
}

/* ---------------------------------------------------------------------------------- the HTTP cache */

CASE(a_fresh_response_needs_no_network)
{
    const char *path = "/file/png/rgb8.png?header=Cache-Control:%20max-age=600";
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    OWNED_CACHE c = open_default();
    OWNED_RECORD r = RECORD_INIT;
    config.cache = c.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    fetch(downloader, &r, at(path), SDD_OPTION_USE_HTTP_CACHE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    CHECK(sdd_cache_contains_wait(c.cache, at(path), SDD_CACHE_DISK) == SDD_CACHE_DISK);
    fetch(downloader, &r, at(path), SDD_OPTION_USE_HTTP_CACHE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_HTTP_FRESH);
    check_image(r.image, "png/rgb8.pam");
    CHECK(r.http_status == 200 && requests_of("/file/png/rgb8.png") == 1);
    fetch(downloader, &r, at(path), SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_IGNORE_CACHED_RESPONSE);
    CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
    CHECK_STATUS(sdd_downloader_set_offline(downloader, 1), SDD_OK);
    fetch(downloader, &r, at("/ok/never-asked"), SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(requests_of("/ok/never-asked"), 0);
    fetch(downloader, &r, at("/ok/asked"), SDD_OPTION_BYTES_ONLY); /* other requests work as before */
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_downloader_set_offline(downloader, 0), SDD_OK);
}

static void start_and_count(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request;
    ++*(int *)user_data;
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void cancel_nothing(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

/* What the HTTP cache does not keep is not in it: the body for a sink, and what a transport of the application fetches.
   So where only the cache may answer, the network is not asked for them. */
CASE(u1_x27_d27_what_is_not_kept_is_not_cached)
{
    enum { MEMORY, SINK, TRANSPORT, WAYS };
    int started = 0;
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_header only = { "Cache-Control", "only-if-cached" };
    transport.scheme = "archive";
    transport.start = start_and_count;
    transport.cancel = cancel_nothing;
    transport.user_data = &started;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    for (int i = 0; i < WAYS * 3; i++) {
        int way = i % WAYS, is_offline = i / WAYS == 1, is_barred = i / WAYS > 0;
        sdd_transfer_options options = SDD_TRANSFER_OPTIONS_INIT;
        const char *url = way == TRANSPORT ? "archive:x" : atf("/ok/barred?size=9&%d", i);
        sdd_download_request request = record_request(&r, url);
        request.options = SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY;
        request.sink = way == SINK ? SDD_SINK_DISCARD : SDD_SINK_MEMORY;
        request.transfer = &options;
        options.headers = &only;
        options.header_count = is_barred && !is_offline;
        CHECK_STATUS(sdd_downloader_set_offline(downloader, is_offline), SDD_OK);
        bodies_go_elsewhere = way == SINK;
        fetch_as(downloader, &r, request);
        bodies_go_elsewhere = 0;
        CHECK_ENDED(&r, is_barred ? SDD_ERROR_NOT_CACHED : SDD_OK, 0);
        record_clear(&r);
    }
    CHECK(started == 1 && requests_of("/ok/barred") == 2);
}

/* Ends with the range's bytes, or without them, in `r`. */
static void ask_for_range(sdd_downloader *downloader, record *r, const char *path, const char *range)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    record_clear(r);
    request.url = at(path);
    request.range = range;
    request.options = SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    record_wait(r);
}

CASE(u6_a_range_needs_no_network)
{
    const char *path = "/file/png/rgb8.png?header=Cache-Control:%20max-age=600";
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    OWNED_CACHE c = open_default();
    OWNED_RECORD r = RECORD_INIT;
    OWNED_BYTES whole = fixture_bytes("png/rgb8.png");
    const size_t size = sdd_bytes_size(whole);
    config.cache = c.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    long asked = requests_of("/file/png/rgb8.png");
    fetch(downloader, &r, at(path), SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    ask_for_range(downloader, &r, path, "1-8");
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.http_status == 206 && r.origin == SDD_ORIGIN_HTTP_FRESH && sdd_bytes_size(r.bytes) == 8);
    CHECK(memcmp(sdd_bytes_data(r.bytes), sdd_bytes_data(whole) + 1, 8) == 0);
    ask_for_range(downloader, &r, path, "-8");
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(memcmp(sdd_bytes_data(r.bytes), sdd_bytes_data(whole) + size - 8, 8) == 0);
    CHECK_STATUS(sdd_downloader_set_offline(downloader, 1), SDD_OK);
    ask_for_range(downloader, &r, path, "999999999-");
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(requests_of("/file/png/rgb8.png"), asked + 1);
}

/* What is ignored must be there: the option uses the HTTP cache by itself. */
CASE(o3_the_option_alone_uses_the_http_cache)
{
    OWNED_CACHE c = open_default();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = c.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?o3&header=Cache-Control:%20max-age=600");
    fetch(downloader, &r, url, SDD_OPTION_IGNORE_CACHED_RESPONSE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    fetch(downloader, &r, url, SDD_OPTION_IGNORE_CACHED_RESPONSE);
    CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
}

/* A cache in a downloader's config may be destroyed before the downloader. */
CASE(a_downloader_works_without_its_destroyed_cache)
{
    const char *path = "/file/png/rgb8.png?header=Cache-Control:%20max-age=600&gone";
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    cache_in_folder c = open_default();
    OWNED_RECORD r = RECORD_INIT;
    config.cache = c.cache;
    config.http_cache = 1;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    fetch(downloader, &r, at(path), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    close_cache(&c);
    fetch(downloader, &r, at(path), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_NETWORK);
}

/* The cache of a downloader and requests with and without the bit: nothing is stored or found without it. */
CASE(x32_without_the_bit_nothing_is_kept)
{
    static const char path[] = "/ok/kept?size=1000&header=Cache-Control:%20max-age=600";
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    OWNED_CACHE c = open_default();
    OWNED_RECORD r = RECORD_INIT;
    config.cache = c.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    static const struct { uint64_t options; int32_t origin; int requests; } all[] = {
        { 0, SDD_ORIGIN_NETWORK, 1 },
        { SDD_OPTION_USE_HTTP_CACHE, SDD_ORIGIN_NETWORK, 2 },
        { SDD_OPTION_USE_HTTP_CACHE, SDD_ORIGIN_HTTP_FRESH, 2 },
        { 0, SDD_ORIGIN_NETWORK, 3 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fetch(downloader, &r, at(path), all[i].options | SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, all[i].origin);
        CHECK_EQUAL(requests_of("/ok/kept"), all[i].requests);
        CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
        CHECK_EQUAL(sdd_cache_contains_wait(c.cache, at(path), SDD_CACHE_ALL), i == 0 ? 0 : SDD_CACHE_DISK);
    }
}

/* X16: by a validator where the server has one, else by the bytes. X37: the same end as 1002, others are delivered. */
CASE(x16_x37_what_is_the_same_is_not_delivered)
{
    static const char validated[] = "/tagged?size=1000&header=Cache-Control:%20no-cache";
    static const char compared[] = "/turns/bytes?reply=%2Fok%3Ftext%3Done%26header%3DCache-Control%3A%2520max-age%3D0"
                                   "&reply=%2Fok%3Ftext%3Done%26header%3DCache-Control%3A%2520max-age%3D0"
                                   "&reply=%2Fok%3Ftext%3Dtwo%26header%3DCache-Control%3A%2520max-age%3D0";
    uint64_t uses = SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY;
    uint64_t ignores = uses | SDD_OPTION_IGNORE_CACHED_RESPONSE;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    OWNED_CACHE c = open_default();
    OWNED_RECORD r = RECORD_INIT;
    config.cache = c.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (int i = 0; i < 2; i++) {
        const char *path = i ? compared : validated;
        fetch(downloader, &r, at(path), uses);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
        fetch(downloader, &r, at(path), ignores);
        CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
        CHECK_EQUAL(r.error, 1002);
        CHECK(r.bytes == NULL && r.completed_count == 1);
    }
    CHECK_EQUAL(requests_of("/tagged"), 2);
    CHECK_EQUAL(requests_of("/turns/bytes"), 2);
    fetch(downloader, &r, at(compared), ignores);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) == 3 && memcmp(sdd_bytes_data(r.bytes), "two", 3) == 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_NETWORK);
}

int main(void) { return run_cases(); }

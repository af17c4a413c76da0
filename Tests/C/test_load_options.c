/* Every option bit of a load: the table of section 1.8, M28. Refreshes are in test_load_refresh.c, failed URLs in
   test_load_failed.c, WaitStoreCache in test_load.c. */
#include "loads.h"

#define PICTURE "/file/png/rgb8.png"

/* ---------------------------------------------------------------------------------------------- unknown bits */

/* ------------------------------------------------------------------------------------ bits of the download */

static sdd_priority priority_of(loader_in_folder *l, const char *name, sdd_priority priority)
{
    record r = RECORD_INIT;
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    sdd_load_request request = record_load(&r, atf("/hold/%s", name), 0);
    request.priority = priority;
    sdd_token token = submit_load(l, &request);
    char path[100];
    snprintf(path, sizeof path, "/hold/%s", name);
    wait_for_requests(path, 1);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&r);
    record_clear(&r);
    return info.priority;
}

CASE(m28_priorities)
{
    OWNED_LOADER l = open_loader();
    CHECK_EQUAL(priority_of(&l, "normal", SDD_PRIORITY_DEFAULT), SDD_PRIORITY_NORMAL);
    CHECK_EQUAL(priority_of(&l, "low", SDD_PRIORITY_LOW), SDD_PRIORITY_LOW);
    CHECK_EQUAL(priority_of(&l, "high", SDD_PRIORITY_HIGH), SDD_PRIORITY_HIGH);
    CHECK_EQUAL(priority_of(&l, "highest", SDD_PRIORITY_VERY_HIGH), SDD_PRIORITY_VERY_HIGH);
}

typedef struct shown {
    record r;
    int previews, facts;
} shown;

static void note_preview(const sdd_result *result, void *user_data)
{
    shown *s = user_data;
    pthread_mutex_lock(&s->r.lock);
    CHECK(s->r.completed_count == 0 && result->is_terminal == 0 && result->image != NULL);
    CHECK_EQUAL(image_info(result->image).is_preview, 1);
    s->previews++;
    pthread_cond_broadcast(&s->r.changed);
    pthread_mutex_unlock(&s->r.lock);
}

static void note_facts(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    shown *s = user_data;
    pthread_mutex_lock(&s->r.lock);
    CHECK(token != 0 && s->r.completed_count == 0 && s->previews == 0);
    CHECK(facts->stored_width == 320 && facts->stored_height == 240);
    s->facts++;
    pthread_mutex_unlock(&s->r.lock);
}

/* Previews are delivered while the body arrives, and are never stored. Row M19. */
CASE(m19_previews_are_passed_on_and_not_stored)
{
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    groups.callbacks.min_preview_interval_ms = -1;
    groups.limits.download_timeout_ms = 100000;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    shown s = { .r = RECORD_INIT };
    const char *url = at("/steps/m19?at=9000&file=large/rows.png");
    sdd_load_request request = record_load(&s.r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.preview = note_preview;
    request.facts = note_facts;
    submit_load(&l, &request);
    pthread_mutex_lock(&s.r.lock);
    while (s.previews == 0) pthread_cond_wait(&s.r.changed, &s.r.lock);
    pthread_mutex_unlock(&s.r.lock);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), 0);
    release("m19.1");
    record_wait(&s.r);
    CHECK_ENDED(&s.r, SDD_OK, 0);
    CHECK(s.facts == 1 && image_info(s.r.image).is_preview == 0);
    record_clear(&s.r);
    /* A cached picture has no previews. */
    s.previews = 0;
    load_as(&l, &s.r, &request);
    CHECK(s.r.origin == SDD_ORIGIN_MEMORY && s.previews == 0 && image_info(s.r.image).is_preview == 0);
    record_clear(&s.r);
}

/* In the background a running load pauses without the bit, and continues with it. */
CASE(m28_continue_in_background)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD without = RECORD_INIT, with = RECORD_INIT;
    sdd_load_request request = record_load(&without, at("/hold/b-without?after=10&file=large/rows.png"), 0);
    submit_load(&l, &request);
    request = record_load(&with, at("/hold/b-with?after=10&file=large/rows.png"), SDD_OPTION_CONTINUE_IN_BACKGROUND);
    submit_load(&l, &request);
    record_wait_received(&without, 10);
    record_wait_received(&with, 10);
    CHECK_STATUS(sdd_downloader_enter_background(l.downloader, -1), SDD_OK);
    release("b-without");
    release("b-with");
    record_wait(&with);
    CHECK_ENDED(&with, SDD_OK, 0);
    CHECK(record_is_open(&without));
    CHECK_STATUS(sdd_downloader_enter_foreground(l.downloader), SDD_OK);
    record_wait(&without);
    CHECK_ENDED(&without, SDD_OK, 0);
}

CASE(m28_cookies)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    cookie.name = "who";
    cookie.value = "me";
    cookie.domain = "127.0.0.1";
    CHECK_STATUS(sdd_downloader_set_cookie(l.downloader, &cookie), SDD_OK);
    for (int i = 0; i < 2; i++) {
        uint64_t options = SDD_OPTION_BYTES_ONLY | (i ? SDD_OPTION_HANDLE_COOKIES : 0);
        sdd_load_request request = record_load(&r, atf("/echo?cookies-%d", i), options);
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        CHECK_EQUAL(echoes(&r, "Cookie: who=me"), i);
    }
}

CASE(m28_certificates)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = address_at("SDD_TEST_TLS_SELF_SIGNED", "/png/rgb8.png");
    load(&l, &r, url, 0);
    CHECK_EQUAL(r.error, SDD_ERROR_TLS);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    get_from(&l, &r, url, SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES, SDD_ORIGIN_NETWORK);
}

/* Lazy decoding works from the network and from the disk. */
CASE(m28_decoding)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at(PICTURE "?lazy"), *animated = at("/file/facts/animated.png?frames");
    get_from(&l, &r, url, SDD_OPTION_AVOID_DECODE_IMAGE | SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(image_info(r.image).pixels_size, 0);
    check_image(r.image, "png/rgb8.pam");
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, SDD_OPTION_AVOID_DECODE_IMAGE, SDD_ORIGIN_DISK);
    CHECK_EQUAL(image_info(r.image).pixels_size, 0);
    get_from(&l, &r, animated, 0, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(image_info(r.image).frame_count, 3);
    get_from(&l, &r, animated, SDD_OPTION_PRELOAD_ALL_FRAMES, SDD_ORIGIN_DISK);
    CHECK_EQUAL(image_info(r.image).frame_count, 3);
    get_from(&l, &r, animated, SDD_OPTION_DECODE_FIRST_FRAME_ONLY, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(image_info(r.image).frame_count, 1);
    CHECK_EQUAL(hits("/file/facts/animated.png?frames"), 1);
}

/* Keys that sdd_cache_key() does not give: those of the options about frames. */
CASE(o10_a_key_names_the_frames)
{
    static const struct { sdd_options option; const char *form; } rows[] = {
        { SDD_OPTION_DECODE_FIRST_FRAME_ONLY, "first" },
        { SDD_OPTION_PRELOAD_ALL_FRAMES, "preload" },
    };
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 2; i++) {
        char key[300];
        snprintf(key, sizeof key, "%s-Form({%s}).png", at("/file/frames/palette"), rows[i].form);
        get_from(&l, &r, at("/file/frames/palette.png"), rows[i].option, i ? SDD_ORIGIN_DISK : SDD_ORIGIN_NETWORK);
        CHECK(is_in_memory(l.cache.cache, key));
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
        record_clear(&r);
    }
}

/* Whether rows are missing is known once the pixels are decoded. Then the image is like one that was decoded at once. */
CASE(o9_m19_a_partial_image_is_told_late)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options lenient = SDD_DECODE_OPTIONS_INIT;
    sdd_load_request request = record_load(&r, at("/file/png/bad/too-few-rows.png"), SDD_OPTION_AVOID_DECODE_IMAGE);
    lenient.damage = SDD_DAMAGE_KEEP_REST;
    request.decode = &lenient;
    const char *key = key_of(l.cache.cache, request.url, &lenient, NULL, 0);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(image_info(r.image).is_partial, 0);
    CHECK(is_in_memory(l.cache.cache, key));
    CHECK_STATUS(sdd_image_decode_pixels(r.image), SDD_OK);
    CHECK_EQUAL(image_info(r.image).is_partial, 1);
    CHECK(image_info(r.image).good_rows < sdd_image_height(r.image));
    CHECK(!is_in_memory(l.cache.cache, key));
    sdd_cache_item item = item_of("another", r.image, NULL, SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_put_wait(l.cache.cache, &item), SDD_ERROR_INVALID_ARGUMENT);
}

/* Animated pictures are not transformed unless the bit is set. */
CASE(m28_transform_animated_images)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transform rotation = SDD_TRANSFORM_INIT;
    rotation.kind = SDD_TRANSFORM_ROTATE;
    rotation.degrees = 90;
    pictures_are_transformed = 1;
    for (int i = 0; i < 2; i++) {
        sdd_load_request request = record_load(
            &r, atf("/file/facts/animated.png?turn-%d", i), i ? SDD_OPTION_TRANSFORM_ANIMATED_IMAGE : 0);
        request.transforms = &rotation;
        request.transform_count = 1;
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        CHECK_EQUAL(image_info(r.image).frame_count, i ? 1 : 3);
        CHECK_EQUAL(sdd_image_width(r.image), i ? 8 : 12);
    }
    pictures_are_transformed = 0;
}

/* ----------------------------------------------------------------------------------- bits of the cache */

CASE(bit_12_the_bytes_too)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(5);
    const char *url = at(PICTURE "?bit12");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    request.options = SDD_OPTION_QUERY_MEMORY_DATA;
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    CHECK(r.bytes != NULL && sdd_bytes_size(r.bytes) > 8);
    /* The bytes are those of the thumbnail's entry on disk. */
    size_t size;
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    uint8_t *file = read_whole(path_of(l.cache.cache, key_of(l.cache.cache, url, &decode, NULL, 0)), &size);
    CHECK(size > sdd_bytes_size(r.bytes) && memcmp(file, sdd_bytes_data(r.bytes), sdd_bytes_size(r.bytes)) == 0);
    free(file);
}

/* Waits for a load that never goes to the network. No event is delivered. */
static void check_cached(loader_in_folder *l, const char *url, sdd_options options, sdd_origin origin, int has_bytes)
{
    sdd_event event = SDD_EVENT_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_result *result = NULL;
    size_t count = 1;
    request.url = url;
    request.options = options | SDD_OPTION_FROM_CACHE_ONLY;
    CHECK_STATUS(sdd_loader_submit_wait(l->loader, &request, -1, &result), SDD_OK);
    CHECK_EQUAL(result->is_terminal, 1);
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK_EQUAL(result->origin, origin);
    check_image(result->image, "png/rgb8.pam");
    if (has_bytes) CHECK(result->bytes != NULL);
    sdd_result_release(result);
    CHECK_STATUS(sdd_downloader_drain(l->downloader, &event, 1, &count), SDD_OK);
    CHECK_EQUAL(count, 0);
}

CASE(bits_13_and_14_on_the_calling_thread)
{
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    const char *url = at(PICTURE "?sync");
    put(l.cache.cache, url, NULL, fixture_bytes("png/rgb8.png"));
    check_cached(&l, url, 0, SDD_ORIGIN_DISK, 1);
    put(l.cache.cache, url, fixture_image("png/rgb8.png"), NULL);
    check_cached(&l, url, 0, SDD_ORIGIN_MEMORY, 0);
    check_cached(&l, url, SDD_OPTION_QUERY_MEMORY_DATA, SDD_ORIGIN_MEMORY, 1);
    CHECK_EQUAL(hits(PICTURE "?sync"), 0);
    /* Memory is always asked during the call: the event is queued when sdd_load() returns. */
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 0;
    sdd_token token = sdd_load(l.loader, url, 0, NULL, NULL, &l);
    CHECK_STATUS(sdd_downloader_drain(l.downloader, &event, 1, &count), SDD_OK);
    CHECK(count == 1 && event.token == token && event.kind == SDD_EVENT_COMPLETED);
    CHECK_STATUS(event.result->failure.status, SDD_OK);
    CHECK_EQUAL(event.result->origin, SDD_ORIGIN_MEMORY);
    /* A cache miss ends later. */
    token = sdd_load(l.loader, at("/hold/sync?file=png/rgb8.png"), 0, NULL, NULL, &l);
    CHECK_STATUS(sdd_downloader_drain(l.downloader, &event, 1, &count), SDD_OK);
    CHECK_EQUAL(count, 0);
    release("sync");
    CHECK_STATUS(sdd_downloader_wait(l.downloader, &event, 1, -1, &count), SDD_OK);
    CHECK(event.token == token && event.result->failure.status == SDD_OK && event.result->origin == SDD_ORIGIN_NETWORK);
}

CASE(bit_14_bytes_alone)
{
    OWNED_LOADER l = open_loader();
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_result *result = NULL;
    request.url = at(PICTURE "?sync-bytes");
    request.options = SDD_OPTION_FROM_CACHE_ONLY | SDD_OPTION_BYTES_ONLY;
    put(l.cache.cache, request.url, NULL, fixture_bytes("png/rgb8.png"));
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &result), SDD_OK);
    CHECK(result->origin == SDD_ORIGIN_DISK && result->image == NULL && result->bytes != NULL);
    CHECK_EQUAL(hits(PICTURE "?sync-bytes"), 0);
    sdd_result_release(result);
}

CASE(bits_15_and_16_cache_or_network_alone)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = in_turns("bit16", PICTURE, "/file/jpeg/baseline-444.jpg");
    load(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(requests_of("/turns/bit16"), 0);
    get_from(&l, &r, url, SDD_OPTION_FROM_LOADER_ONLY | SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_MEMORY);
    get_from(&l, &r, url, SDD_OPTION_FROM_LOADER_ONLY | SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(requests_of("/turns/bit16"), 2);
    /* The download replaces the stored entry. */
    get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(sdd_image_width(r.image), 37);
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(r.image), 37);
    /* With both bits the load has no source. */
    load(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY | SDD_OPTION_FROM_LOADER_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
}

/* With the HTTP cache its entry is the answer, as for a downloader that is offline. */
CASE(bit_15_asks_the_http_cache)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const uint64_t options = SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_FROM_CACHE_ONLY;
    for (int i = 0; i < 2; i++) {
        const char *url = atf(PICTURE "?bit15&header=Cache-Control:%%20max-age=%d", i ? 1000 : 0);
        sdd_load_request request = record_load(&r, at("/status/404?bit15"), options);
        load(&l, &r, url, options);
        CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
        get_from(&l, &r, url, SDD_OPTION_USE_HTTP_CACHE, SDD_ORIGIN_NETWORK);
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
        get_from(&l, &r, url, options, i ? SDD_ORIGIN_HTTP_FRESH : SDD_ORIGIN_HTTP_STALE);
        request.alternatives = &url;
        request.alternative_count = 1;
        load_from(&l, &request, i ? SDD_ORIGIN_HTTP_FRESH : SDD_ORIGIN_HTTP_STALE);
        CHECK(sdd_image_width(r.image) == 19 && r.progress_count == 0);
        CHECK(hits(url + strlen(at(""))) == 1);
    }
    CHECK_EQUAL(hits("/status/404?bit15"), 0);
}

int main(void) { return run_cases(); }

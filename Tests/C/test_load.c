/* A load from the cache to the network and back: rows M1 to M26. */
#include "loads.h"

static void m8_the_cache_is_asked_first(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?m8");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_NETWORK);
    CHECK(r.http_status == 200 && r.bytes != NULL);
    check_image(r.image, "png/rgb8.pam");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(r.progress_count, 0);
    record_clear(&r);
    CHECK_STATUS(sdd_cache_trim_memory(l.cache.cache, SDD_TRIM_ALL), SDD_OK);
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_DISK);
    check_image(r.image, "png/rgb8.pam");
    CHECK_EQUAL(hits("/file/png/rgb8.png?m8"), 1);
    /* What is found on disk may still be on its way there. */
    CHECK_STATUS(sdd_cache_flush(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 1);
    record_clear(&r);
    close_loader(&l);
}

static void m11_nothing_cached(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    load(&l, &r, at("/file/png/rgb8.png?m11"), SDD_LOAD_FROM_CACHE_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m11"), 0);
    close_loader(&l);
}

static void m5_failed_urls_are_blocked(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    const char *url = at("/status/404?m5");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 1);
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
    CHECK_EQUAL(hits("/status/404?m5"), 1);
    load(&l, &r, url, SDD_LOAD_RETRY_FAILED);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(hits("/status/404?m5"), 2);
    CHECK_STATUS(sdd_loader_remove_failed_url(l.loader, url), SDD_OK);
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    close_loader(&l);
}

static void b6_a_thumbnail_is_made_of_the_cached_original(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?b6");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    decode.target_width = decode.target_height = 5;
    sdd_image_request request = record_load(&r, url, SDD_LOAD_WAIT_STORE_CACHE);
    request.decode = &decode;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_DISK);
    CHECK(sdd_image_width(r.image) <= 5);
    load_as(&l, &r, &request);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(hits("/file/png/rgb8.png?b6"), 1);
    record_clear(&r);
    close_loader(&l);
}

typedef struct seen {
    sem_t called;
    int count;
    int32_t origin, finished;
    sdd_status error;
} seen;

static record *refreshed;
static seen cached = { .count = 0 };

static void note_cached(const sdd_result *result, void *user_data)
{
    CHECK(user_data == refreshed && result->image != NULL);
    cached.count++;
    cached.origin = result->origin;
    cached.finished = result->finished;
}

static void m12_a_refresh_shows_what_there_is(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    refreshed = &r;
    const char *url = at("/file/png/rgb8.png?m12");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    sdd_image_request request = record_load(&r, url, SDD_LOAD_REFRESH_CACHED);
    request.cached = note_cached;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
    CHECK(cached.count == 1 && cached.origin == SDD_ORIGIN_MEMORY && cached.finished == 0);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m12"), 2);
    close_loader(&l);
}

static void z14_alternatives_are_tried_in_their_order(void)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    const char *others[] = { at("/html?alt"), at("/file/png/rgb8.png?alt"), at("/ok?alt") };
    sdd_image_request request = record_load(&r, at("/status/410?alt"), 0);
    request.alternatives = others;
    request.alternative_count = 3;
    request.progress = NULL; /* which begins anew with each of them */
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_image(r.image, "png/rgb8.pam");
    CHECK_EQUAL(hits("/ok?alt"), 0);
    load_as(&l, &r, &request);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_MEMORY);
    record_clear(&r);
    close_loader(&l);
}

int main(void)
{
    start_watchdog();
    RUN(m8_the_cache_is_asked_first);
    RUN(m11_nothing_cached);
    RUN(m5_failed_urls_are_blocked);
    RUN(b6_a_thumbnail_is_made_of_the_cached_original);
    RUN(m12_a_refresh_shows_what_there_is);
    RUN(z14_alternatives_are_tried_in_their_order);
    return 0;
}

/* Loads from the cache to the network and back: rows M1 to M11, M17, M20 to M22, M26, B22, Z4 and Z7. */
#include "loads.h"

#include <poll.h>

CASE(m1_the_shared_loader)
{
    sdd_loader *shared = sdd_loader_shared();
    const char *url = at("/file/png/rgb8.png?m1");
    CHECK(shared != NULL && sdd_loader_shared() == shared);
    for (int i = 0; i < 2; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_load_request request = record_load(&r, url, 0);
        CHECK(sdd_loader_submit(i ? shared : NULL, &request) != 0);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, i ? SDD_ORIGIN_MEMORY : SDD_ORIGIN_NETWORK);
    }
    CHECK_EQUAL(sdd_cache_contains_wait(NULL, url, SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m1"), 1);
    CHECK_STATUS(sdd_loader_destroy(shared), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_loader_destroy(NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(sdd_loader_running_count(NULL), 0);
}

/* Each loader has its own cache and its own list of failed URLs. */
CASE(m2_f1_loaders_are_separate)
{
    loader_in_folder a = open_loader(), b = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?m2"), *missing = at("/status/404?m2");
    CHECK(a.loader != b.loader && a.loader != sdd_loader_shared());
    get_from(&a, &r, url, 0, SDD_ORIGIN_NETWORK);
    get_from(&b, &r, url, 0, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m2"), 2);
    load(&a, &r, missing, 0);
    CHECK_EQUAL(sdd_loader_is_blocked(a.loader, missing), 1);
    CHECK_EQUAL(sdd_loader_is_blocked(b.loader, missing), 0);
    close_loader(&a);
    close_loader(&b);
}

/* Two loaders share a downloader and a cache, and the second finds what the first has stored. */
CASE(m2_any_cache_and_any_downloader)
{
    OWNED_LOADER a = open_loader();
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *other = NULL, *bare = NULL;
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?m2-shared");
    config.downloader = a.downloader;
    config.cache = a.cache.cache;
    CHECK_STATUS(sdd_loader_create(&config, &other), SDD_OK);
    config.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&config, &bare), SDD_OK);
    get_from(&a, &r, url, 0, SDD_ORIGIN_NETWORK);
    loader_in_folder b = { other, a.downloader, a.cache }, c = { bare, a.downloader, a.cache };
    get_from(&b, &r, url, 0, SDD_ORIGIN_MEMORY);
    get_from(&c, &r, url, 0, SDD_ORIGIN_NETWORK);
    get_from(&c, &r, url, 0, SDD_ORIGIN_NETWORK);
    load(&c, &r, url, SDD_OPTION_FROM_CACHE_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m2-shared"), 3);
    CHECK_STATUS(sdd_loader_destroy(other), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(bare), SDD_OK);
}

/* A load of a bad URL has a token, and ends outside the submitting call; a second load ends in the same way. */
CASE(m3_m4_m6_a_bad_url_ends_with_1000)
{
    /* URLs that were actually tried are blocked the second time. */
    static const struct { const char *url; int32_t detail, is_tried; } bad[] = {
        { NULL, SDD_DETAIL_URL_NULL, 0 },
        { "", SDD_DETAIL_URL_EMPTY, 0 },
        { "picture.png", SDD_DETAIL_URL_MALFORMED, 0 },
        { "http://\xff/", SDD_DETAIL_URL_NOT_UTF8, 0 },
        { "ftp://127.0.0.1/a.png", SDD_DETAIL_URL_SCHEME, 0 },
        { "file:///etc/passwd", SDD_DETAIL_URL_SCHEME, 0 },
        { "data:nothing", SDD_DETAIL_URL_MALFORMED, 0 },
        { "http://[::1", SDD_DETAIL_URL_MALFORMED, 1 },
        { "data:,", SDD_DETAIL_IMAGE_EMPTY, 1 },
    };
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    for (size_t i = 0; i < 2 * sizeof bad / sizeof *bad; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_load_request request = record_load(&r, bad[i / 2].url, 0);
        int is_blocked = bad[i / 2].is_tried && i % 2;
        sdd_token token = submit_load(&l, &request);
        CHECK_EQUAL(r.completed_count, 0);
        while (r.freed_count == 0) CHECK_STATUS(sdd_downloader_wait(l.downloader, NULL, 0, -1, NULL), SDD_OK);
        CHECK_ENDED(&r, is_blocked ? SDD_ERROR_BLOCKED : bad[i / 2].detail / 100, is_blocked ? 0 : bad[i / 2].detail);
        CHECK(r.token == token && pthread_equal(r.thread, pthread_self()));
        CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
    }
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
}

CASE(m6_m7_one_token_and_a_count)
{
    OWNED_LOADER l = open_loader();
    record r[3] = { RECORD_INIT, RECORD_INIT, RECORD_INIT };
    sdd_token tokens[3];
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    for (int i = 0; i < 3; i++) {
        sdd_load_request request = record_load(&r[i], atf("/hold/m7-%d?file=png/rgb8.png", i), 0);
        tokens[i] = submit_load(&l, &request);
    }
    CHECK(tokens[0] != tokens[1] && tokens[1] != tokens[2] && tokens[0] != tokens[2]);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 3);
    wait_for_requests("/hold/m7-0", 1);
    release("m7-0");
    record_wait(&r[0]);
    CHECK_ENDED(&r[0], SDD_OK, 0);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 2);
    CHECK_STATUS(sdd_loader_cancel_all(l.loader), SDD_OK);
    for (int i = 1; i < 3; i++) {
        record_wait(&r[i]);
        CHECK_EQUAL(r[i].error, SDD_ERROR_CANCELLED);
    }
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    for (int i = 0; i < 3; i++) record_clear(&r[i]);
}

CASE(m8_m10_m20_the_cache_is_asked_first)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?m8");
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    CHECK(r.http_status == 200 && r.bytes != NULL && r.metrics.attempts == 1);
    CHECK(r.progress_count > 0 && r.first_received == 0 && r.first_expected == -1);
    check_image(r.image, "png/rgb8.pam");
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    CHECK(r.progress_count == 0 && r.http_status == 0 && r.response == NULL && r.metrics.attempts == 0);
    check_image(r.image, "png/rgb8.pam");
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(r.progress_count, 0);
    check_image(r.image, "png/rgb8.pam");
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m8"), 1);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 1);
}

CASE(m11_nothing_cached)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    load(&l, &r, at("/file/png/rgb8.png?m11"), SDD_OPTION_FROM_CACHE_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(hits("/file/png/rgb8.png?m11"), 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, at("/file/png/rgb8.png?m11")), 0);
}

/* A failed load ends with the error and the server's response, and stores nothing. */
CASE(m17_other_errors)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    static const struct { const char *path; sdd_status error; int32_t detail, status; } bad[] = {
        { "/status/403?m17", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0, 403 },
        { "/html?m17", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT, 200 },
        { "/empty?m17", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY, 200 },
        { "/cut?m17&file=png/rgb8.png", SDD_ERROR_TRUNCATED_BODY, 0, 200 },
        { "/redirect-loop?m17", SDD_ERROR_TOO_MANY_REDIRECTS, 0, 302 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        load(&l, &r, at(bad[i].path), 0);
        CHECK_ENDED(&r, bad[i].error, bad[i].detail);
        CHECK_EQUAL(r.http_status, bad[i].status);
        CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, at(bad[i].path), SDD_CACHE_ALL), 0);
    }
}

static sem_t entered, may_go_on;

static sdd_bytes *slow_serializer(sdd_image *image, sdd_bytes *bytes, const char *key, void *user_data)
{
    (void)image, (void)key, (void)user_data;
    sem_post(&entered);
    take(&may_go_on);
    return sdd_bytes_retain(bytes);
}

/* The load has ended before its entry is written to disk; with the bit it ends only after that. */
CASE(m21_b5_with_the_bit_the_end_waits_for_the_disk)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.serializer = slow_serializer;
    sem_init(&entered, 0, 0);
    sem_init(&may_go_on, 0, 0);
    loader_in_folder l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, cache);
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?m21"), *other = at("/file/png/rgb8.png?m21-wait");
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(r.metrics.store_us, 0);
    record_clear(&r);
    take(&entered);
    sem_post(&may_go_on);
    sdd_load_request request = record_load(&r, other, SDD_OPTION_WAIT_STORE_CACHE);
    sdd_token token = submit_load(&l, &request);
    take(&entered);
    CHECK(record_is_open(&r));
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 1);
    sem_post(&may_go_on);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.token == token && r.metrics.store_us > 0 && r.metrics.total_us >= r.metrics.store_us);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 2);
    close_loader(&l);
}

/* The key is the URL as it is, except that braces are escaped. */
CASE(m22_m25_the_key_is_the_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?m22=a%20b&%7B");
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    CHECK_TEXT(key_of(l.cache.cache, url, NULL, NULL, 0), url);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_STATUS(sdd_cache_remove_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_OK);
    record_clear(&r);
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
}

/* The end of a load is an event of its downloader: here it waits until it is taken. */
CASE(m26_ends_are_delivered_by_the_downloader)
{
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        sdd_token token = sdd_load(l.loader, at("/file/png/rgb8.png?m26"), 0, NULL, NULL, &l);
        CHECK(token != 0);
        CHECK_STATUS(sdd_downloader_wait(l.downloader, &event, 1, -1, &count), SDD_OK);
        CHECK(count == 1 && event.kind == SDD_EVENT_COMPLETED && event.token == token && event.user_data == &l);
        CHECK_STATUS(event.result->failure.status, SDD_OK);
        CHECK_EQUAL(event.result->origin, i ? SDD_ORIGIN_MEMORY : SDD_ORIGIN_NETWORK);
        check_image(event.result->image, "png/rgb8.pam");
    }
}

/* Equal loads share one transfer, one file of the original, and one of each size, however many join while it runs. */
CASE(b22_z4_equal_work_is_shared)
{
    enum { COUNT = 12 };
    OWNED_LOADER l = open_loader();
    record r[COUNT];
    sdd_decode_options decode[3] = { SDD_DECODE_OPTIONS_INIT, inside(5), inside(8) };
    const char *url = at("/hold/b22?file=png/rgb8.png");
    for (int i = 0; i < COUNT; i++) {
        r[i] = (record)RECORD_INIT;
        sdd_load_request request = record_load(&r[i], url, SDD_OPTION_WAIT_STORE_CACHE);
        request.decode = &decode[i % 3];
        if (i == 1) wait_for_requests("/hold/b22", 1);
        submit_load(&l, &request);
    }
    /* Disk lookups run in order, so when this load has ended, the earlier ones have joined the transfer. */
    OWNED_RECORD last = RECORD_INIT;
    load(&l, &last, at("/file/png/rgb8.png?b22"), 0);
    release("b22");
    for (int i = 0; i < COUNT; i++) {
        record_wait(&r[i]);
        CHECK_ENDED(&r[i], SDD_OK, 0);
        static const int widths[] = { 19, 5, 8 };
        CHECK_EQUAL(sdd_image_width(r[i].image), widths[i % 3]);
        record_clear(&r[i]);
    }
    CHECK_EQUAL(requests_of("/hold/b22"), 1);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 3 + 1);
}

CASE(z7_there_are_two_attempts)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    get_from(&l, &r, in_turns("z7", "/status/503", "/file/png/rgb8.png"), 0, SDD_ORIGIN_NETWORK);
    CHECK(r.metrics.attempts == 2 && requests_of("/turns/z7") == 2);
    get_from(&l, &r, in_turns("z7-cut", "/cut?file=png/rgb8.png", "/file/png/rgb8.png"), 0, SDD_ORIGIN_NETWORK);
    CHECK(r.metrics.attempts == 2 && requests_of("/turns/z7-cut") == 2);
    load(&l, &r, at("/status/503?z7"), 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK(r.metrics.attempts == 2 && hits("/status/503?z7") == 2);
    /* There is no second attempt where it would not help, or is not wanted. */
    load(&l, &r, at("/status/404?z7"), 0);
    CHECK(r.metrics.attempts == 1 && hits("/status/404?z7") == 1);
    sdd_load_request request = record_load(&r, in_turns("z7-one", "/status/503", "/file/png/rgb8.png"), 0);
    request.transfer = &transfer;
    transfer.max_attempts = 1;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(requests_of("/turns/z7-one"), 1);
    request.url = at("/status/503?z7-four");
    transfer.max_attempts = 4;
    load_as(&l, &r, &request);
    CHECK_EQUAL(hits("/status/503?z7-four"), 4);
}

int main(void)
{
    start_watchdog();
    tries_again = 1;
    return run_cases();
}

/* SDD_OPTION_REFRESH_CACHED: the load delivers the cached image, asks the server, and ends once. Rows M12 to M15, M28,
   U1 to U5, E3. */
#include "loads.h"

#define OLD "/file/png/rgb8.png"        /* 19 x 13 */
#define NEW "/file/jpeg/baseline-444.jpg" /* 37 x 29 */

/* The arguments of the `cached` callback; the record is that of the load. */
typedef struct refresh {
    record r;
    int count, width;
    int32_t origin;
} refresh;

static void note_cached(const sdd_result *result, void *user_data)
{
    refresh *f = user_data;
    pthread_mutex_lock(&f->r.lock);
    CHECK(f->r.completed_count == 0 && f->count++ == 0);
    CHECK(result->is_terminal == 0 && result->image != NULL && result->token != 0 && result->url != NULL);
    CHECK_STATUS(result->failure.status, SDD_OK);
    f->origin = result->origin;
    f->width = sdd_image_width(result->image);
    pthread_mutex_unlock(&f->r.lock);
}

static sdd_load_request refreshing(refresh *f, const char *url)
{
    record_clear(&f->r);
    f->count = 0;
    sdd_load_request request = record_load(&f->r, url, SDD_OPTION_REFRESH_CACHED);
    request.cached = note_cached;
    return request;
}

/* Runs a refresh and checks its end, and that the cached image had this width and origin. Width 0 means that there is
   none. */
static void check_refresh(
    loader_in_folder *l, refresh *f, const sdd_load_request *request, sdd_status error, int32_t origin, int width)
{
    load_as(l, &f->r, request);
    if (f->r.error != error)
        FAIL("%s: %s \"%s\", not %s", f->r.url, sdd_status_name(f->r.error), f->r.message, sdd_status_name(error));
    CHECK_EQUAL(f->count, width > 0);
    if (width == 0) return;
    CHECK_EQUAL(f->origin, origin);
    CHECK_EQUAL(f->width, width);
}

/* Loads the old picture and stores it. */
static void get_old(loader_in_folder *l, refresh *f, const char *url)
{
    get_from(l, &f->r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_image_width(f->r.image), 19);
    record_clear(&f->r);
}

/* The entry has a validator, so the server answers 304 without a body. */
CASE(m12_m13_u2_u4_a_304_ends_it)
{
    OWNED_LOADER l = open_loader();
    refresh f = { .r = RECORD_INIT };
    const char *url = at("/tagged?file=png/rgb8.png&m13");
    get_old(&l, &f, url);
    sdd_load_request request = refreshing(&f, url);
    check_refresh(&l, &f, &request, SDD_ERROR_NOT_MODIFIED, SDD_ORIGIN_MEMORY, 19);
    CHECK_EQUAL(f.r.metrics.response_body_bytes, 0);
    CHECK(f.r.http_status == 304 && strstr(f.r.message, "status 304"));
    CHECK_EQUAL(f.r.retryable, 0);
    CHECK_EQUAL(hits("/tagged?file=png/rgb8.png&m13"), 2);
    /* With the image only on disk, the cached image comes from there. */
    record_clear(&f.r);
    leave_to_disk(&l);
    request = refreshing(&f, url);
    check_refresh(&l, &f, &request, SDD_ERROR_NOT_MODIFIED, SDD_ORIGIN_DISK, 19);
    /* The URL does not count as failed, and nothing was lost. */
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    get_from(&l, &f.r, url, 0, SDD_ORIGIN_MEMORY);
    record_clear(&f.r);
    leave_to_disk(&l);
    get_from(&l, &f.r, url, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(hits("/tagged?file=png/rgb8.png&m13"), 3);
    record_clear(&f.r);
}

/* Without validators the whole body is downloaded and compared. */
CASE(m13_u4_the_same_bytes_end_it)
{
    OWNED_LOADER l = open_loader();
    refresh f = { .r = RECORD_INIT };
    get_old(&l, &f, at(OLD "?m13-bytes"));
    for (int i = 0; i < 2; i++) {
        sdd_load_request request = refreshing(&f, at(OLD "?m13-bytes"));
        check_refresh(&l, &f, &request, SDD_ERROR_NOT_MODIFIED, i ? SDD_ORIGIN_DISK : SDD_ORIGIN_MEMORY, 19);
        CHECK_EQUAL(f.r.http_status, 200);
        CHECK_EQUAL(hits(OLD "?m13-bytes"), 2 + i);
        leave_to_disk(&l);
    }
    record_clear(&f.r);
}

/* The load ends with the new picture, which is in the cache on all levels. */
static void check_changed(loader_in_folder *l, const char *url)
{
    refresh f = { .r = RECORD_INIT };
    get_old(l, &f, url);
    sdd_load_request request = refreshing(&f, url);
    request.options |= SDD_OPTION_WAIT_STORE_CACHE;
    check_refresh(l, &f, &request, SDD_OK, SDD_ORIGIN_MEMORY, 19);
    CHECK(f.r.origin == SDD_ORIGIN_NETWORK && sdd_image_width(f.r.image) == 37);
    get_from(l, &f.r, url, 0, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(sdd_image_width(f.r.image), 37);
    record_clear(&f.r);
    leave_to_disk(l);
    get_from(l, &f.r, url, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(f.r.image), 37);
    record_clear(&f.r);
}

/* A cache without a disk has no bytes to compare, and no validator. */
CASE(m13_without_a_disk_what_arrives_ends_it)
{
    sdd_cache_config memory = SDD_CACHE_CONFIG_INIT;
    memory.levels = SDD_CACHE_MEMORY;
    OWNED_LOADER l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, memory);
    refresh f = { .r = RECORD_INIT };
    const char *url = at("/tagged?file=png/rgb8.png&no-disk");
    get_old(&l, &f, url);
    sdd_load_request request = refreshing(&f, url);
    check_refresh(&l, &f, &request, SDD_OK, SDD_ORIGIN_MEMORY, 19);
    CHECK(f.r.origin == SDD_ORIGIN_NETWORK && sdd_image_width(f.r.image) == 19);
    record_clear(&f.r);
}

CASE(m14_a_new_picture_ends_it)
{
    OWNED_LOADER l = open_loader();
    check_changed(&l, in_turns("m14", OLD, NEW));
    check_changed(&l, in_turns("m14-tags", "/tagged?file=png/rgb8.png", "/tagged?etag=\"v2\"&file=jpeg/baseline-444.jpg"));
    /* The server answers with another entity tag, and then without one. */
    check_changed(&l, in_turns("m14-gone", "/tagged?file=png/rgb8.png", NEW));
    CHECK_EQUAL(requests_of("/turns/m14"), 2);
}

/* If the refresh fails, the load ends with that error, and the cached image stays. */
CASE(m15_errors_keep_the_cached_image)
{
    static const struct { const char *name, *then; sdd_status error; } bad[] = {
        { "m15-500", "/status/500", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "m15-404", "/status/404", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "m15-cut", "/cut?file=jpeg/baseline-444.jpg", SDD_ERROR_TRUNCATED_BODY },
        { "m15-html", "/html", SDD_ERROR_BAD_IMAGE_DATA },
        { "m15-head", "/garbage", SDD_ERROR_PROTOCOL },
    };
    OWNED_LOADER l = open_loader();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refresh f = { .r = RECORD_INIT };
        const char *url = in_turns(bad[i].name, OLD, bad[i].then);
        get_old(&l, &f, url);
        sdd_load_request request = refreshing(&f, url);
        check_refresh(&l, &f, &request, bad[i].error, SDD_ORIGIN_MEMORY, 19);
        CHECK(f.r.image == NULL);
        CHECK_STATUS(sdd_loader_remove_all_failed_urls(l.loader), SDD_OK);
        get_from(&l, &f.r, url, 0, SDD_ORIGIN_MEMORY);
        record_clear(&f.r);
        leave_to_disk(&l);
        get_from(&l, &f.r, url, 0, SDD_ORIGIN_DISK);
        CHECK_EQUAL(sdd_image_width(f.r.image), 19);
        record_clear(&f.r);
    }
}

/* Alternatives cannot tell whether the cached image is current, so they are not asked. */
CASE(m15_alternatives_are_not_asked)
{
    OWNED_LOADER l = open_loader();
    refresh f = { .r = RECORD_INIT };
    const char *url = in_turns("m15-alt", OLD, "/status/404"), *other = at(NEW "?m15-alt");
    get_old(&l, &f, url);
    sdd_load_request request = refreshing(&f, url);
    request.alternatives = &other;
    request.alternative_count = 1;
    check_refresh(&l, &f, &request, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_ORIGIN_MEMORY, 19);
    CHECK_EQUAL(hits(NEW "?m15-alt"), 0);
    /* Without a cached image the alternatives are asked. */
    request = refreshing(&f, at("/status/404?m15-alt"));
    request.alternatives = &other;
    request.alternative_count = 1;
    check_refresh(&l, &f, &request, SDD_OK, 0, 0);
    CHECK_EQUAL(sdd_image_width(f.r.image), 37);
    record_clear(&f.r);
}

/* Without a cached image there is no `cached` callback, and the load ends like any other. */
CASE(m12_nothing_to_refresh)
{
    OWNED_LOADER l = open_loader();
    refresh f = { .r = RECORD_INIT };
    sdd_load_request request = refreshing(&f, at(OLD "?m12-none"));
    check_refresh(&l, &f, &request, SDD_OK, 0, 0);
    CHECK(f.r.origin == SDD_ORIGIN_NETWORK && f.r.progress_count > 0);
    /* With bit 15 the server is not asked: the load ends with the cached image. */
    request = refreshing(&f, at(OLD "?m12-none"));
    request.options |= SDD_OPTION_FROM_CACHE_ONLY;
    check_refresh(&l, &f, &request, SDD_OK, 0, 0);
    CHECK_EQUAL(f.r.origin, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(hits(OLD "?m12-none"), 1);
    /* With bit 16 the cache is not asked. */
    request = refreshing(&f, at(OLD "?m12-none"));
    request.options |= SDD_OPTION_FROM_LOADER_ONLY;
    load_as(&l, &f.r, &request);
    CHECK_EQUAL(f.count, 0);
    CHECK_EQUAL(hits(OLD "?m12-none"), 2);
    record_clear(&f.r);
}

/* The cached thumbnail is delivered, and the server is asked for its original. */
CASE(b6_a_thumbnail_is_refreshed)
{
    OWNED_LOADER l = open_loader();
    refresh f = { .r = RECORD_INIT };
    sdd_decode_options decode = inside(5);
    const char *same = at("/tagged?file=png/rgb8.png&b6"), *changed = in_turns("b6", OLD, NEW);
    for (int i = 0; i < 2; i++) {
        sdd_load_request request = record_load(&f.r, i ? changed : same, SDD_OPTION_WAIT_STORE_CACHE);
        request.decode = &decode;
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        request = refreshing(&f, i ? changed : same);
        request.decode = &decode;
        request.options |= SDD_OPTION_WAIT_STORE_CACHE;
        check_refresh(&l, &f, &request, i ? SDD_OK : SDD_ERROR_NOT_MODIFIED, SDD_ORIGIN_MEMORY, 5);
    }
    /* The new picture is 37 x 29, so its thumbnail on disk is 5 x 4; the original is replaced, too. */
    CHECK_EQUAL(sdd_image_height(f.r.image), 4);
    record_clear(&f.r);
    leave_to_disk(&l);
    sdd_load_request request = record_load(&f.r, changed, 0);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_height(f.r.image), 4);
    get_from(&l, &f.r, changed, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(f.r.image), 37);
    CHECK(hits("/tagged?file=png/rgb8.png&b6") == 2 && requests_of("/turns/b6") == 2);
    record_clear(&f.r);
}

/* All refreshes of one URL share a transfer; each gets the cached image and the end. */
CASE(b22_refreshes_are_shared)
{
    enum { COUNT = 5 };
    OWNED_LOADER l = open_loader();
    refresh f[COUNT];
    const char *url = in_turns("b22-refresh", OLD, "/hold/b22-refresh?file=jpeg/baseline-444.jpg");
    refresh first = { .r = RECORD_INIT };
    get_old(&l, &first, url);
    for (int i = 0; i < COUNT; i++) {
        f[i] = (refresh){ .r = RECORD_INIT };
        sdd_load_request request = refreshing(&f[i], url);
        submit_load(&l, &request);
    }
    wait_for_requests("/turns/b22-refresh", 2);
    release("b22-refresh");
    for (int i = 0; i < COUNT; i++) {
        record_wait(&f[i].r);
        CHECK_ENDED(&f[i].r, SDD_OK, 0);
        CHECK(f[i].count == 1 && f[i].width == 19 && sdd_image_width(f[i].r.image) == 37);
        record_clear(&f[i].r);
    }
    CHECK_EQUAL(requests_of("/turns/b22-refresh"), 2);
}

/* During a refresh no preview of the new picture is shown over the old one. */
static void no_preview(const sdd_result *result, void *user_data)
{
    (void)result, (void)user_data;
    FAIL("a preview");
}

CASE(m28_no_previews_over_a_cached_image)
{
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    groups.callbacks.min_preview_interval_ms = -1;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    refresh f = { .r = RECORD_INIT };
    const char *url = in_turns("m28", OLD, "/steps/m28?at=4000,8000&file=large/rows.png");
    get_old(&l, &f, url);
    release("m28.1");
    release("m28.2");
    sdd_load_request request = refreshing(&f, url);
    request.preview = no_preview;
    check_refresh(&l, &f, &request, SDD_OK, SDD_ORIGIN_MEMORY, 19);
    CHECK_EQUAL(sdd_image_width(f.r.image), 320);
    record_clear(&f.r);
}

/* SDD_EVENT_CACHED comes first, then SDD_EVENT_COMPLETED, each with its own result. */
CASE(m12_drained_events)
{
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    const char *url = in_turns("m12-drain", OLD, NEW);
    static const int kinds[][2] = { { SDD_EVENT_COMPLETED }, { SDD_EVENT_CACHED, SDD_EVENT_COMPLETED } };
    for (int i = 0; i < 2; i++) {
        sdd_token token = sdd_load(l.loader, url, SDD_OPTION_REFRESH_CACHED, NULL, NULL, &l);
        for (int k = 0; k <= i; k++) {
            sdd_event event = SDD_EVENT_INIT;
            size_t count = 0;
            CHECK_STATUS(sdd_downloader_wait(l.downloader, &event, 1, -1, &count), SDD_OK);
            CHECK(count == 1 && event.token == token && event.user_data == &l &&
                  event.result->failure.status == SDD_OK);
            CHECK_EQUAL(event.kind, kinds[i][k]);
            CHECK_EQUAL(event.result->is_terminal, event.kind == SDD_EVENT_COMPLETED);
            CHECK(event.result->token == token);
            CHECK_EQUAL(sdd_image_width(event.result->image), k ? 37 : 19);
            CHECK_EQUAL(event.result->origin, i && !k ? SDD_ORIGIN_MEMORY : SDD_ORIGIN_NETWORK);
        }
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    }
}

/* By default loads ignore HTTP's rules on freshness. */
CASE(u1_u5_loads_ignore_http_freshness)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    static const char *const fields[] = { "no-cache", "no-store", "max-age=0", "private", "max-age=100000" };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *url = atf(OLD "?u5&header=Cache-Control:%%20%s", fields[i]);
        get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
        record_clear(&r);
        leave_to_disk(&l);
        get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    }
}

/* With USE_HTTP_CACHE loads follow HTTP's rules; one file serves both. */
CASE(u1_u2_u3_http_rules_by_option)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *fresh = at(OLD "?u2&header=Cache-Control:%20max-age=1000");
    const char *stale = at("/tagged?file=png/rgb8.png&u3&header=Cache-Control:%20max-age=0");
    sdd_load_request request = record_load(&r, fresh, SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_USE_HTTP_CACHE);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load_from(&l, &request, SDD_ORIGIN_HTTP_FRESH);
    request.url = stale;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load_from(&l, &request, SDD_ORIGIN_HTTP_REVALIDATED);
    CHECK_EQUAL(r.http_status, 200);
    check_image(r.image, "png/rgb8.pam");
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 2);
    CHECK(hits(OLD "?u2&header=Cache-Control:%20max-age=1000") == 1);
}

/* HTTP's rules do not apply to the cached picture: the server is asked, however fresh it is. */
CASE(m12_a_fresh_picture_is_asked_for)
{
    OWNED_LOADER l = open_loader();
    refresh f = { .r = RECORD_INIT };
    const char *url = in_turns("m12-fresh", OLD "?header=Cache-Control:%20max-age=1000", NEW);
    get_old(&l, &f, url);
    CHECK_STATUS(sdd_downloader_set_offline(l.downloader, 1), SDD_OK); /* such a load uses the network all the same */
    sdd_load_request request = refreshing(&f, url);
    check_refresh(&l, &f, &request, SDD_OK, SDD_ORIGIN_MEMORY, 19);
    CHECK_EQUAL(sdd_image_width(f.r.image), 37);
    record_clear(&f.r);
}

/* With the HTTP cache its entry is shown, fresh or stale, and the server is asked about it. */
CASE(m12_m15_the_entry_of_the_http_cache_is_shown)
{
    static const struct { const char *name, *first, *then; sdd_status end; int32_t origin; } ways[] = {
        { "http-304", "/tagged?file=png/rgb8.png&header=Cache-Control:%20max-age=1000", "/tagged?file=png/rgb8.png",
          SDD_ERROR_NOT_MODIFIED, SDD_ORIGIN_HTTP_FRESH },
        { "http-new", OLD "?header=Cache-Control:%20max-age=0", NEW, SDD_OK, SDD_ORIGIN_HTTP_STALE },
        { "http-500", OLD "?header=Cache-Control:%20max-age=0", "/status/500",
          SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_ORIGIN_HTTP_STALE },
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        OWNED_LOADER l = open_loader();
        refresh f = { .r = RECORD_INIT };
        const char *url = in_turns(ways[i].name, ways[i].first, ways[i].then);
        get_from(&l, &f.r, url, SDD_OPTION_USE_HTTP_CACHE, SDD_ORIGIN_NETWORK);
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
        sdd_load_request request = refreshing(&f, url);
        request.options |= SDD_OPTION_USE_HTTP_CACHE;
        CHECK_STATUS(sdd_downloader_set_offline(l.downloader, 1), SDD_OK);
        check_refresh(&l, &f, &request, SDD_OK, ways[i].origin, 19); /* nobody can be asked */
        CHECK(f.r.origin == ways[i].origin && sdd_image_width(f.r.image) == 19);
        CHECK_STATUS(sdd_downloader_set_offline(l.downloader, 0), SDD_OK);
        f.count = 0;
        check_refresh(&l, &f, &request, ways[i].end, ways[i].origin, 19);
        CHECK_EQUAL(f.r.http_status, i == 0 ? 304 : i == 1 ? 200 : 500);
        if (i == 1) CHECK_EQUAL(sdd_image_width(f.r.image), 37);
        record_clear(&f.r);
    }
}

/* A 304 whose header fields cannot be stored leaves the entry that it has confirmed. */
CASE(a_confirmed_entry_stays_on_a_full_disk)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/tagged?file=large/rows.png&full&header=Cache-Control:%20max-age=0");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_USE_HTTP_CACHE);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    struct rlimit old = forbid_large_files();
    for (int i = 0; i < 2; i++) load_from(&l, &request, SDD_ORIGIN_HTTP_REVALIDATED);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_ERROR_CACHE);
}

int main(void) { return run_cases(); }

/* Sources of pictures: alternatives, files, data: URLs, the application's transports. Rows B16, M27. */
#include "loads.h"

#define PICTURE "/file/png/rgb8.png"

/* The result of a load with its list of source errors. */
typedef struct sources {
    record r;
    size_t count;
    struct { char url[300]; sdd_status error; int32_t detail, http_status, retryable; int has_url, has_message; } of[8];
} sources;

static void note_sources(const sdd_result *result, void *user_data)
{
    sources *s = user_data;
    s->count = result->source_count;
    CHECK(s->count <= 8 && (s->count > 0) == (result->sources != NULL));
    for (size_t i = 0; i < s->count; i++) {
        const sdd_outcome *error = &result->sources[i];
        CHECK_EQUAL(error->origin, SDD_ORIGIN_NONE);
        s->of[i].has_url = error->url != NULL;
        s->of[i].has_message = strlen(error->failure.message) > 10;
        snprintf(s->of[i].url, sizeof s->of[i].url, "%s", error->url ? error->url : "");
        s->of[i].error = error->failure.status;
        s->of[i].detail = error->failure.detail;
        s->of[i].http_status = error->failure.http_status;
        s->of[i].retryable = error->failure.retryable;
    }
    record_completed(result, user_data);
}

static sdd_load_request with_sources(sources *s, const char *url, const char *const *others, size_t count)
{
    record_clear(&s->r);
    s->count = 99;
    sdd_load_request request = record_load(&s->r, url, 0);
    request.completed = note_sources;
    request.alternatives = others;
    request.alternative_count = count;
    return request;
}

static void check_source(const sources *s, size_t i, const char *url, sdd_status error, int32_t status)
{
    CHECK(i < s->count);
    CHECK_TEXT(s->of[i].url, url);
    if (s->of[i].error != error) FAIL("source %zu: %s", i, sdd_status_name(s->of[i].error));
    CHECK_EQUAL(s->of[i].http_status, status);
    CHECK(s->of[i].has_message);
    if (s->of[i].detail) CHECK_EQUAL(s->of[i].detail / 100, error);
}

/* Sources are tried in order until one gives a picture, which is stored under the first URL. */
CASE(the_first_success_wins)
{
    OWNED_LOADER l = open_loader();
    sources s = { .r = RECORD_INIT };
    const char *url = at("/status/410?alt"), *others[] = { at("/html?alt"), at(PICTURE "?alt"), at("/ok?alt") };
    sdd_load_request request = with_sources(&s, url, others, 3);
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_OK, 0);
    CHECK(s.r.origin == SDD_ORIGIN_NETWORK && s.r.http_status == 200);
    CHECK_TEXT(s.r.url, url);
    check_image(s.r.image, "png/rgb8.pam");
    CHECK_EQUAL(s.count, 2);
    check_source(&s, 0, url, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 410);
    check_source(&s, 1, others[0], SDD_ERROR_BAD_IMAGE_DATA, 200);
    CHECK_EQUAL(s.of[1].detail, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK_EQUAL(hits("/ok?alt"), 0);
    /* The next load finds it under the first URL, which is not blocked: its load has ended well. */
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, others[1], SDD_CACHE_ALL), 0);
    load_as(&l, &s.r, &request);
    CHECK_EQUAL(s.r.origin, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(s.count, 0);
    CHECK(!sdd_loader_is_blocked(l.loader, url) && !sdd_loader_is_blocked(l.loader, others[1]));
    record_clear(&s.r);
}

/* The load ends with the last source's error; the errors of all sources are listed. */
CASE(all_sources_fail)
{
    OWNED_LOADER l = open_loader();
    sources s = { .r = RECORD_INIT };
    const char *url = at("/status/404?all"), *others[] = { NULL, "nonsense", at("/reset?all"), at("/status/503?all") };
    sdd_load_request request = with_sources(&s, url, others, 4);
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(s.r.http_status, 503);
    CHECK_EQUAL(s.count, 5);
    check_source(&s, 0, url, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 404);
    CHECK(s.of[1].error == SDD_ERROR_INVALID_URL && s.of[1].detail == SDD_DETAIL_URL_NULL);
    CHECK(s.of[2].error == SDD_ERROR_INVALID_URL && s.of[2].detail == SDD_DETAIL_URL_MALFORMED);
    check_source(&s, 3, others[2], SDD_ERROR_CONNECTION_LOST, 0);
    check_source(&s, 4, others[3], SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 503);
    CHECK(!s.of[0].retryable && s.of[3].retryable && s.of[4].retryable);
    CHECK_EQUAL(hits("/status/503?all"), 2);
    record_clear(&s.r);
}

/* A picture from an alternative is stored for loads, but is not a response for the first URL: the HTTP cache does not
   serve it. */
CASE(an_alternative_is_no_http_response_of_the_first_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *others[] = { at("/ok?size=1000&header=Cache-Control:%20max-age=600") };
    sdd_load_request request = record_load(&r, at("/status/404?alternative"), SDD_OPTION_BYTES_ONLY);
    request.options |= SDD_OPTION_WAIT_STORE_CACHE;
    request.alternatives = others;
    request.alternative_count = 1;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 1);
    request.alternatives = NULL;
    request.alternative_count = 0;
    request.options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_RETRY_FAILED | SDD_OPTION_USE_HTTP_CACHE;
    CHECK_STATUS(sdd_downloader_set_offline(l.downloader, 1), SDD_OK);
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
}

/* Without alternatives the list would only repeat the result, so it is empty. */
CASE(one_source)
{
    OWNED_LOADER l = open_loader();
    sources s = { .r = RECORD_INIT };
    sdd_load_request request = with_sources(&s, at("/status/404?one"), NULL, 0);
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(s.count, 0);
    request = with_sources(&s, at(PICTURE "?one"), NULL, 0);
    load_as(&l, &s.r, &request);
    CHECK_EQUAL(s.count, 0);
    request = with_sources(&s, at(PICTURE "?one-2"), NULL, 0);
    request.options = SDD_OPTION_FROM_CACHE_ONLY;
    load_as(&l, &s.r, &request);
    CHECK_EQUAL(s.count, 0);
    record_clear(&s.r);
}

/* Blocked and bad URLs are skipped, and the other sources are tried as usual. */
CASE(blocked_sources_are_skipped)
{
    OWNED_LOADER l = open_loader();
    sources s = { .r = RECORD_INIT };
    const char *bad = at("/status/404?pass"), *good = at(PICTURE "?pass");
    load(&l, &s.r, bad, 0);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_load_request request = with_sources(&s, bad, &good, 1);
    request.transfer = &transfer;
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_OK, 0);
    CHECK_EQUAL(s.count, 1);
    check_source(&s, 0, bad, SDD_ERROR_BLOCKED, 404);
    CHECK_EQUAL(hits("/status/404?pass"), 1);
    /* The first URL is NULL, so the picture is not stored. */
    request = with_sources(&s, NULL, &good, 1);
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_OK, 0);
    CHECK(!s.r.has_url && !s.of[0].has_url);
    CHECK_EQUAL(s.of[0].detail, SDD_DETAIL_URL_NULL);
    CHECK_EQUAL(hits(PICTURE "?pass"), 2);
    /* The load's other options apply to every source. */
    const char *silent = at("/silence?pass");
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    request = with_sources(&s, "nonsense", &silent, 1);
    request.transfer = reset(&transfer);
    request.priority = SDD_PRIORITY_HIGH;
    transfer.total_timeout_ms = 300;
    sdd_token token = submit_load(&l, &request);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK_EQUAL(info.priority, SDD_PRIORITY_HIGH);
    record_wait(&s.r);
    CHECK_ENDED(&s.r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL);
    record_clear(&s.r);
    /* If all sources are blocked, the load ends at once. */
    const char *both[] = { bad };
    request = with_sources(&s, at("/status/404?pass-2"), both, 1);
    load_as(&l, &s.r, &request);
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_ERROR_BLOCKED, 0);
    record_clear(&s.r);
}

/* A file is read again whenever memory does not have it: it is on a disk already. */
CASE(b16_files_where_they_are_allowed)
{
    config_groups groups;
    sdd_downloader_config config = quick_retries(&groups);
    groups.network.allow_file_urls = 1;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    OWNED_RECORD r = RECORD_INIT;
    char folder[300], url[700];
    CHECK(realpath(setting("SDD_TEST_FIXTURES"), folder) != NULL);
    snprintf(url, sizeof url, "file://%s/png/rgb8.png", folder);
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    check_image(r.image, "png/rgb8.pam");
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_ALL), SDD_CACHE_MEMORY);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 0);
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    /* A missing file is not tried twice, but the next source is tried. */
    sources s = { .r = RECORD_INIT };
    const char *good = url;
    sdd_load_request request = with_sources(&s, "file:///nowhere/at/all.png", &good, 1);
    load_as(&l, &s.r, &request);
    CHECK_ENDED(&s.r, SDD_OK, 0);
    check_source(&s, 0, "file:///nowhere/at/all.png", SDD_ERROR_FILE_NOT_READABLE, 0);
    record_clear(&s.r);
}

/* A PNG of one grey pixel of value 128. */
#define PIXEL \
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

CASE(b16_data_urls)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    get_from(&l, &r, PIXEL, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK(sdd_image_width(r.image) == 1 && sdd_image_height(r.image) == 1);
    CHECK_EQUAL(sdd_image_pixels(r.image)[0], 128);
    get_from(&l, &r, PIXEL, 0, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(counts_of(l.cache.cache).entries_written, 0);
    /* A data: URL can also be an alternative. */
    const char *other = PIXEL;
    sdd_load_request request = record_load(&r, at("/status/404?data"), 0);
    request.alternatives = &other;
    request.alternative_count = 1;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_image_width(r.image), 1);
}

/* --------------------------------------------------------------------------- an application's transport */

static int started;
static sdd_status answer;

static void start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)user_data;
    started++;
    if (answer != SDD_OK) {
        CHECK_STATUS(sdd_transfer_finish(transfer, answer, "There is no such picture."), SDD_OK);
        return;
    }
    size_t size;
    uint8_t *file = fixture("png/rgb8.png", &size);
    CHECK(strncmp(request->url, "archive://pictures/", 19) == 0);
    CHECK_STATUS(sdd_transfer_respond(transfer, 200, NULL, 0, (int64_t)size), SDD_OK);
    CHECK_STATUS(sdd_transfer_write(transfer, file, size), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
    free(file);
}

static void cancel(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
    FAIL("a cancel");
}

/* Pictures from the application's transport are stored like those from HTTP. */
CASE(b16_m27_transports_of_the_application)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    const char *url = "archive://pictures/a.png";
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    transport.scheme = "archive";
    transport.start = start;
    transport.cancel = cancel;
    CHECK_STATUS(sdd_downloader_add_transport(l.downloader, &transport), SDD_OK);
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    check_image(r.image, "png/rgb8.pam");
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(started, 1);
    answer = SDD_ERROR_CONNECTION_LOST;
    load(&l, &r, "archive://pictures/b.png", 0);
    CHECK_ENDED(&r, SDD_ERROR_CONNECTION_LOST, 0);
    CHECK_EQUAL(started, 3); /* two attempts */
}

int main(void) { return run_cases(); }

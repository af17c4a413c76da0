/* Mistakes that a caller can make: each has its own error code, nothing crashes, and nothing is sent. */
#include "every_call.h"
#include "record.h"
#include "server.h"

/* A NULL that the compiler cannot see, for arguments that must not be NULL. */
static void *volatile none = NULL;

/* -------------------------------------------------------------------------------------- pointers */

/* Arguments that may be NULL. Those that may not are in test_refusals.c. */
CASE(null_never_crashes)
{
    sdd_bytes *empty = sdd_bytes_create(NULL, 0);
    CHECK(empty != NULL && sdd_bytes_size(empty) == 0);
    sdd_bytes_release(empty);
    CHECK_STATUS(sdd_set_header(NULL, "X-None", NULL), SDD_OK);
    CHECK_STATUS(sdd_get_header(NULL, "Accept", NULL, 10, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_get_header(NULL, "Accept", NULL, 0, NULL), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_EQUAL(sdd_download(NULL, NULL, 0, NULL, NULL, NULL), 0);
    CHECK_STATUS(sdd_get(NULL, NULL, 0, 1000, NULL, NULL, NULL), SDD_ERROR_INVALID_URL);
    CHECK_STATUS(sdd_downloader_cancel_all(NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    CHECK_EQUAL(sdd_downloader_event_fd(NULL), -1);
    CHECK_STATUS(sdd_downloader_dispatch(NULL, 0, NULL), SDD_ERROR_WRONG_DELIVERY);
    CHECK_STATUS(sdd_downloader_drain(NULL, none, 0, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_wait(NULL, NULL, 0, 0, NULL), SDD_ERROR_WRONG_DELIVERY);
    CHECK(sdd_image_retain(NULL) == NULL && sdd_bytes_retain(NULL) == NULL && sdd_response_retain(NULL) == NULL);
    sdd_image_release(NULL);
    sdd_bytes_release(NULL);
    sdd_response_release(NULL);
    sdd_cookies_release(NULL);
    CHECK(sdd_downloader_shared() != NULL && sdd_downloader_shared() == sdd_downloader_shared());
    CHECK_STATUS(sdd_downloader_destroy(sdd_downloader_shared()), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(NULL, 6), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(NULL, INT32_MIN), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_credential(NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_modifiers(NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_observer(NULL, NULL, NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_log(NULL, SDD_LOG_DEBUG, NULL, NULL, NULL), SDD_OK);
}

/* ------------------------------------------------------------------------------------------ URLs */

CASE(every_bad_url_has_its_detail)
{
    static const struct { const char *url; int32_t detail; } all[] = {
        { NULL, SDD_DETAIL_URL_NULL }, { "", SDD_DETAIL_URL_EMPTY },
        { "no-scheme.example/x", SDD_DETAIL_URL_MALFORMED }, { "/path", SDD_DETAIL_URL_MALFORMED },
        { "//127.0.0.1/x", SDD_DETAIL_URL_MALFORMED }, { "://127.0.0.1/x", SDD_DETAIL_URL_MALFORMED },
        { "http", SDD_DETAIL_URL_MALFORMED }, { "http:", SDD_DETAIL_URL_MALFORMED },
        { "http:/127.0.0.1/x", SDD_DETAIL_URL_MALFORMED }, { "http://", SDD_DETAIL_URL_MALFORMED },
        { "http:///x", SDD_DETAIL_URL_MALFORMED }, { "http://?x", SDD_DETAIL_URL_MALFORMED },
        { " http://127.0.0.1/", SDD_DETAIL_URL_MALFORMED }, { "http://127.0.0.1/a b", SDD_DETAIL_URL_MALFORMED },
        { "http://127.0.0.1/a\r\nX: y", SDD_DETAIL_URL_MALFORMED }, { "http://127.0.0.1/\t", SDD_DETAIL_URL_MALFORMED },
        { "http://127.0.0.1/\x7f", SDD_DETAIL_URL_MALFORMED }, { "http://127.0.0.1:99999/", SDD_DETAIL_URL_MALFORMED },
        { "http://127.0.0.1:x/", SDD_DETAIL_URL_MALFORMED }, { "http://[::1/", SDD_DETAIL_URL_MALFORMED },
        { "http://b\xc3\xbc" "cher.example/", SDD_DETAIL_URL_MALFORMED },
        { "http://127.0.0.1/\xff", SDD_DETAIL_URL_NOT_UTF8 }, { "http://127.0.0.1/\xc0\x80", SDD_DETAIL_URL_NOT_UTF8 },
        { "\xed\xa0\x80", SDD_DETAIL_URL_NOT_UTF8 },
        { "ftp://127.0.0.1/x", SDD_DETAIL_URL_SCHEME }, { "gopher://127.0.0.1/", SDD_DETAIL_URL_SCHEME },
        { "data:image/png;base64,A", SDD_DETAIL_URL_MALFORMED }, { "javascript:alert(1)", SDD_DETAIL_URL_SCHEME },
        { "file:///etc/passwd", SDD_DETAIL_URL_SCHEME }, { "httpss://127.0.0.1/", SDD_DETAIL_URL_SCHEME },
    };
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        record_clear(&r);
        record_submit(NULL, &r, all[i].url, 0);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, all[i].detail);
        CHECK_EQUAL(r.http_status, 0);
        int is_readable = all[i].url && all[i].detail != SDD_DETAIL_URL_NOT_UTF8;
        CHECK_EQUAL(r.has_url, is_readable);
        if (is_readable) CHECK_TEXT(r.url, all[i].url);
    }
}

CASE(a_url_has_a_longest_length)
{
    static const size_t lengths[] = { 65536, 65537, 9 << 20 };
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        char *url = malloc(lengths[i] + 1);
        memset(url, 'a', lengths[i]);
        memcpy(url, at("/ok?"), strlen(at("/ok?")));
        url[lengths[i]] = 0;
        fetch(NULL, &r, url, SDD_OPTION_BYTES_ONLY);
        free(url);
        if (i == 0) {
            CHECK(r.error != SDD_ERROR_INVALID_URL);
        } else {
            CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_TOO_LONG);
            CHECK(!r.has_url);
        }
    }
}

/* --------------------------------------------------------------------------------------- headers */

static const struct { const char *name, *value; } bad_headers[] = {
    { "", "v" }, { "X Y", "v" }, { "X:", "v" }, { "X\r\nY", "v" }, { "X\nY", "v" }, { "X\x01", "v" }, { "X\x7f", "v" },
    { "X\xc3\xbc", "v" }, { "X(Y)", "v" }, { "X\t", "v" }, { "X", "a\r\nY: b" }, { "X", "a\nb" }, { "X", "a\rb" },
    { "X", "\r" }, { "X", "\x01" }, { "X", "\x7f" }, { "X", "\xff" }, { "X", "\xc0\x80" },
};
enum { BAD_HEADERS = sizeof bad_headers / sizeof *bad_headers };

CASE(bad_headers_are_refused_at_the_call)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    char *longest = calloc(1, (1 << 20) + 1);
    memset(longest, 'a', 1 << 20);
    for (size_t i = 0; i < BAD_HEADERS; i++)
        CHECK_STATUS(sdd_set_header(downloader, bad_headers[i].name, bad_headers[i].value), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_header(downloader, longest, "v"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_header(downloader, "X", longest), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_get_header(downloader, "X", NULL, 0, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_get_header(downloader, "X Y", NULL, 0, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_header(downloader, "X-Tab", "a\tb"), SDD_OK);
    fetch(downloader, &r, at("/ok?after=bad-headers"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    free(longest);
}

/* ------------------------------------------------------------------------------ a request's fields */

CASE(bad_fields_of_a_request_end_it_before_anything_is_sent)
{
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/ok/never-sent");
    for (size_t i = 0; i < BAD_HEADERS + 3; i++) {
        sdd_header headers[2] = { { "X-Good", "good" }, { NULL, NULL } };
        record_clear(&r);
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&r, url);
        request.transfer = &transfer;
        transfer.headers = headers;
        transfer.header_count = 2;
        if (i < BAD_HEADERS) headers[1] = (sdd_header){ bad_headers[i].name, bad_headers[i].value };
        if (i == BAD_HEADERS + 1) transfer.headers = NULL;
        if (i == BAD_HEADERS + 2) transfer.header_count = SIZE_MAX;
        submit(NULL, &request);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_BAD_HEADER);
    }
    static const char *const methods[] = { "", "GE T", "GET\r\n", "G\xff", "GET /x HTTP/1.1\r\nX: y" };
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        record_clear(&r);
        sdd_download_request request = record_request(&r, url);
        request.method = methods[i];
        submit(NULL, &request);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_BAD_METHOD);
    }
    for (int i = 0; i < 4; i++) {
        static const struct { const char *method; const void *body; size_t size; } bodies[] = {
            { "POST", NULL, 5 }, { NULL, "body", 4 }, { "HEAD", "body", 4 }, { "POST", "body", SIZE_MAX },
        };
        record_clear(&r);
        sdd_download_request request = record_request(&r, url);
        request.method = bodies[i].method;
        request.body = bodies[i].body;
        request.body_size = bodies[i].size;
        submit(NULL, &request);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_BAD_BODY);
    }
    CHECK_EQUAL(requests_of("/ok/never-sent"), 0);
}

/* ---------------------------------------------------------------------------- tokens and handles */

CASE(an_ended_request_stays_ended)
{
    sdd_downloader *downloader = make_downloader(NULL), *made_up = (sdd_downloader *)(uintptr_t)0x7ff0;
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cancel(r.token), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cancel(r.token + 1000000), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cancel(UINT64_MAX), SDD_ERROR_NOT_FOUND);
    destroy(downloader);
    for (int i = 0; i < 2; i++, downloader = made_up) every_call_gives(downloader, r.token, SDD_ERROR_CLOSED);
    CHECK_EQUAL(r.freed_count, 1);
}

CASE(a_destroyed_cache_stays_destroyed)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *cache = NULL, *made_up = (sdd_cache *)(uintptr_t)0x7ff0;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    config.levels = SDD_CACHE_MEMORY;
    CHECK_STATUS(sdd_cache_create(&config, &cache), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    every_cache_call_gives(downloader, cache, SDD_ERROR_CLOSED);
    every_cache_call_gives(NULL, made_up, SDD_ERROR_CLOSED);
    /* A handle of one kind is not valid as another kind. */
    every_cache_call_gives(NULL, (sdd_cache *)downloader, SDD_ERROR_CLOSED);
}

/* ------------------------------------------------------------------------------------------ loads */

CASE(a_destroyed_loader_stays_destroyed)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *loader = NULL, *made_up = (sdd_loader *)(uintptr_t)0x7ff0;
    sdd_downloader *downloader = make_downloader(NULL);
    config.downloader = downloader;
    config.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    /* A handle of one kind is not valid as another kind. */
    every_load_gives((sdd_loader *)downloader, SDD_ERROR_CLOSED);
    every_call_gives((sdd_downloader *)loader, 1, SDD_ERROR_CLOSED);
    every_cache_call_gives(NULL, (sdd_cache *)loader, SDD_ERROR_CLOSED);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    every_load_gives(loader, SDD_ERROR_CLOSED);
    every_load_gives(made_up, SDD_ERROR_CLOSED);
    /* The downloader and the cache of a loader must be alive. */
    destroy(downloader);
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_ERROR_CLOSED);
    config.downloader = NULL;
    config.no_cache = 0;
    config.cache = (sdd_cache *)downloader;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_ERROR_CLOSED);
    config.cache = NULL;
    config.original_cache = (sdd_cache *)downloader;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_ERROR_CLOSED);
    CHECK(loader == NULL);
}

int main(void) { return run_cases(); }

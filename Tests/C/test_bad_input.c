/* Mistakes that a caller can make: each has its own error code, nothing crashes, and nothing is sent. */
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
        { "no-scheme.example/x", SDD_DETAIL_URL_MALFORMED }, { "http://127.0.0.1/a\r\nX: y", SDD_DETAIL_URL_MALFORMED },
        { "http://[::1/", SDD_DETAIL_URL_MALFORMED }, { "http://\xc3\xbc@h/", SDD_DETAIL_URL_MALFORMED },
        { "http://127.0.0.1/\xff", SDD_DETAIL_URL_NOT_UTF8 }, { "data:,\xff", SDD_DETAIL_URL_NOT_UTF8 },
        { "data:image/png;base64,A", SDD_DETAIL_URL_MALFORMED },
        { "javascript:alert(1)", SDD_DETAIL_URL_SCHEME }, { "file:///etc/passwd", SDD_DETAIL_URL_SCHEME },
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

int main(void) { return run_cases(); }

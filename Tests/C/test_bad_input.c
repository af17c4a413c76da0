/* Mistakes that a caller can make: each has its own error code, nothing crashes, and nothing is sent. */
#include "every_call.h"
#include "record.h"
#include "server.h"

#include <math.h>
#include <stddef.h>

/* A NULL that the compiler cannot see, for arguments that must not be NULL. */
static void *volatile none = NULL;

static void ignore(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
}

/* -------------------------------------------------------------------------------------- pointers */

static void null_never_crashes(void)
{
    size_t count = 7;
    CHECK_STATUS(sdd_downloader_create(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_destroy(NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_header(NULL, none, "value"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_header(NULL, none, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_header(NULL, "X-None", NULL), SDD_OK);
    CHECK_STATUS(sdd_get_header(NULL, none, NULL, 0, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_get_header(NULL, "Accept", NULL, 10, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_get_header(NULL, "Accept", NULL, 0, NULL), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_EQUAL(sdd_download(NULL, NULL, 0, NULL, NULL, NULL), 0);
    CHECK_REFUSED(sdd_downloader_submit(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cancel(0), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_cancel_all(NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    CHECK_EQUAL(sdd_downloader_event_fd(NULL), -1);
    CHECK_STATUS(sdd_downloader_dispatch(NULL, 0, NULL), SDD_ERROR_WRONG_DELIVERY);
    CHECK_STATUS(sdd_downloader_drain(NULL, none, 1, &count), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_drain(NULL, none, 0, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_wait(NULL, NULL, 0, 0, NULL), SDD_ERROR_WRONG_DELIVERY);
    CHECK_EQUAL(count, 7);
    CHECK(sdd_image_retain(NULL) == NULL && sdd_image_pixels(NULL) == NULL && sdd_image_bytes(NULL) == NULL);
    CHECK(sdd_image_width(NULL) == 0 && sdd_image_height(NULL) == 0 && sdd_image_stride(NULL) == 0);
    CHECK(sdd_image_pixel_format(NULL) == 0 && image_info(NULL).format == 0);
    CHECK(sdd_bytes_retain(NULL) == NULL && sdd_bytes_data(NULL) == NULL && sdd_bytes_size(NULL) == 0);
    sdd_image_release(NULL);
    sdd_bytes_release(NULL);
    CHECK(sdd_downloader_shared() != NULL && sdd_downloader_shared() == sdd_downloader_shared());
    CHECK_STATUS(sdd_downloader_destroy(sdd_downloader_shared()), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(NULL, 6), SDD_OK);
}

static void null_never_crashes_functions_of_0_2_0(void)
{
    sdd_cookie cookie = SDD_COOKIE_INIT;
    sdd_bytes *empty = sdd_bytes_create(NULL, 0);
    CHECK(empty != NULL && sdd_bytes_size(empty) == 0);
    sdd_bytes_release(empty);
    CHECK(sdd_bytes_create(none, 5) == NULL);
    CHECK(sdd_response_retain(NULL) == NULL && sdd_response_url(NULL) == NULL && sdd_response_status(NULL) == 0);
    CHECK(sdd_response_mime_type(NULL) == NULL && sdd_response_header(NULL, "X") == NULL);
    CHECK_EQUAL(sdd_response_header_count(NULL), 0);
    CHECK_STATUS(sdd_response_header_at(NULL, 0, NULL, NULL), SDD_ERROR_INVALID_ARGUMENT);
    sdd_response_release(NULL);
    CHECK(sdd_draft_url(NULL) == NULL && sdd_draft_method(NULL) == NULL && sdd_draft_header(NULL, "X") == NULL);
    CHECK_STATUS(sdd_draft_set_url(NULL, "http://127.0.0.1/"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_draft_set_method(NULL, "GET"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_draft_set_header(NULL, "X", "y"), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_draft_set_body(NULL, "x", 1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_close(NULL, SDD_CLOSE_CANCEL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_get_config(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_get_statistics(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_token_get_info(1, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_token_get_url(1, NULL, 5, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_token_get_response(1, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_get_cookies(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cookies_at(NULL, 0, &cookie), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(sdd_cookies_count(NULL), 0);
    sdd_cookies_release(NULL);
    CHECK_STATUS(sdd_downloader_add_transport(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_add_coder(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_transfer_write(1, none, 1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_transfer_respond(1, 200, none, 1, -1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_credential(NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_modifiers(NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_observer(NULL, NULL, NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_log(NULL, SDD_LOG_DEBUG, NULL, NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_get(NULL, NULL, 0, 1000, NULL, NULL, NULL), SDD_ERROR_INVALID_URL);
}

/* ------------------------------------------------------------------------------------------ URLs */

static void every_bad_url_has_its_detail(void)
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
    record r = RECORD_INIT;
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
    record_clear(&r);
}

static void a_url_has_a_longest_length(void)
{
    static const size_t lengths[] = { 65536, 65537, 9 << 20 };
    record r = RECORD_INIT;
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
    record_clear(&r);
}

/* --------------------------------------------------------------------------------------- headers */

static const struct { const char *name, *value; } bad_headers[] = {
    { "", "v" }, { "X Y", "v" }, { "X:", "v" }, { "X\r\nY", "v" }, { "X\nY", "v" }, { "X\x01", "v" }, { "X\x7f", "v" },
    { "X\xc3\xbc", "v" }, { "X(Y)", "v" }, { "X\t", "v" }, { "X", "a\r\nY: b" }, { "X", "a\nb" }, { "X", "a\rb" },
    { "X", "\r" }, { "X", "\x01" }, { "X", "\x7f" }, { "X", "\xff" }, { "X", "\xc0\x80" },
};
enum { BAD_HEADERS = sizeof bad_headers / sizeof *bad_headers };

static void bad_headers_are_refused_at_the_call(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    record r = RECORD_INIT;
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
    record_clear(&r);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------ a request's fields */

static void bad_fields_of_a_request_end_it_before_anything_is_sent(void)
{
    record r = RECORD_INIT;
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
    record_clear(&r);
}

/* --------------------------------------------------------------------------------------- structs */

static void structs_of_other_sizes(void)
{
    struct { sdd_download_request known; uint64_t unknown[2]; } request = { .unknown = { 0, 0 } };
    struct { sdd_downloader_config known; uint64_t unknown[2]; } config = { .unknown = { 0, 0 } };
    size_t through_completed = offsetof(sdd_download_request, completed) + sizeof request.known.completed;
    sdd_downloader *downloader = NULL;

    config.known.struct_size = sizeof config;
    request.known.url = at("/ok");
    request.known.options = SDD_OPTION_BYTES_ONLY;
    request.known.completed = ignore;
    static const struct { int fits; uint64_t unknown; } sizes[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 2, 1 } };
    for (int i = 0; i < 4; i++) {
        request.known.struct_size = sizes[i].fits == 0   ? through_completed - 1
                                    : sizes[i].fits == 1 ? through_completed
                                                         : sizeof request;
        request.unknown[0] = 0;
        request.unknown[1] = sizes[i].unknown << 63;
        sdd_token token = sdd_downloader_submit(NULL, &request.known);
        sdd_status expected = i == 0 ? SDD_ERROR_INVALID_ARGUMENT : i == 3 ? SDD_ERROR_UNSUPPORTED : SDD_OK;
        CHECK_EQUAL(token != 0, expected == SDD_OK);
        if (token == 0) CHECK_STATUS(sdd_last_error(NULL), expected);
    }
    request.known.struct_size = SIZE_MAX;
    CHECK_EQUAL(sdd_downloader_submit(NULL, &request.known), 0);
    CHECK(sdd_last_error(NULL) == SDD_ERROR_UNSUPPORTED || sdd_last_error(NULL) == SDD_ERROR_INVALID_ARGUMENT);
    request.known.struct_size = sizeof request.known;
    request.known.completed = NULL;
    CHECK_REFUSED(sdd_downloader_submit(NULL, &request.known), SDD_ERROR_INVALID_ARGUMENT);

    CHECK_STATUS(sdd_downloader_create(&config.known, &downloader), SDD_OK);
    destroy(downloader);
    config.unknown[1] = 1;
    CHECK_STATUS(sdd_downloader_create(&config.known, &downloader), SDD_ERROR_UNSUPPORTED);
    CHECK(downloader == NULL);
    config.unknown[1] = 0;
    config.known.struct_size = 2 * sizeof(size_t);
    CHECK_STATUS(sdd_downloader_create(&config.known, &downloader), SDD_OK);
    destroy(downloader);
    config.known.struct_size = sizeof(size_t) - 1;
    CHECK_STATUS(sdd_downloader_create(&config.known, &downloader), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
}

/* C gives a struct a size that is a multiple of its alignment. Any other size may cut a pointer in two, and the library
 * would follow the half it sees: all bytes of these structs after struct_size are 0xff. */
static void sizes_that_cut_a_field_in_two_are_refused(void)
{
    static union { size_t struct_size; unsigned char bytes[4096]; } given;
    sdd_downloader *downloader = NULL;
    sdd_cache *cache = NULL;
    sdd_loader *loader = NULL;
    sdd_batch *batch = NULL;
    for (size_t size = 1; size < sizeof given - sizeof(void *); size++) {
        if (size % _Alignof(sdd_download_request) == 0) continue;
        memset(&given, 0xff, sizeof given);
        given.struct_size = size;
        CHECK_STATUS(sdd_downloader_create((void *)&given, &downloader), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_cache_create((void *)&given, &cache), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_loader_create((void *)&given, &loader), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_batch_create((void *)&given, &batch), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_REFUSED(sdd_downloader_submit(NULL, (void *)&given), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_REFUSED(sdd_loader_submit(NULL, (void *)&given), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_set_decode_options(NULL, (void *)&given), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_get_statistics(NULL, (void *)&given), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_get_config(NULL, (void *)&given), SDD_ERROR_INVALID_ARGUMENT);
        CHECK(given.bytes[sizeof(size_t)] == 0xff && given.bytes[sizeof given - 1] == 0xff);
    }
    CHECK(downloader == NULL && cache == NULL && loader == NULL && batch == NULL);
}

static void limits_below_zero_are_refused(void)
{
    sdd_downloader *downloader = NULL;
#define REFUSED(field, number) \
    do { \
        config_groups groups; \
        sdd_downloader_config config = config_over(&groups); \
        field = number; \
        CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT); \
        CHECK(downloader == NULL); \
    } while (0)
    REFUSED(config.delivery, -1);
    REFUSED(config.delivery, 2);
    REFUSED(config.max_concurrent_downloads, -1);
    REFUSED(config.max_concurrent_downloads, INT32_MIN);
    REFUSED(groups.limits.download_timeout_ms, -1);
    REFUSED(groups.limits.download_timeout_ms, INT64_MIN);
    REFUSED(groups.limits.max_body_bytes, -1);
    REFUSED(groups.limits.max_pixels, -1);
    REFUSED(groups.network.max_redirects, -1);
    REFUSED(config.decode_threads, -1);
    REFUSED(groups.limits.decode_time_ms, -2);
    REFUSED(groups.limits.decode_time_ms_per_mib, -1);
    REFUSED(groups.limits.max_decode_bytes, -2);
    REFUSED(groups.limits.max_scans, -1);
    REFUSED(groups.callbacks.min_preview_scans, -1);
    REFUSED(groups.callbacks.min_preview_interval_ms, -2);
    REFUSED(groups.callbacks.min_preview_bytes, -1);
    REFUSED(config.http_cache, 2);
    REFUSED(config.resume, -1);
    REFUSED(groups.retry.max_attempts, -1);
    REFUSED(groups.retry.max_attempts, 1001);
    REFUSED(groups.retry.budget, -2);
    REFUSED(groups.retry.budget, INT32_MAX);
    REFUSED(groups.retry.delay_ms, -1);
    REFUSED(groups.retry.delay_ms, INT64_MAX);
    REFUSED(groups.retry.max_delay_ms, -1);
    REFUSED(groups.retry.max_delay_ms, INT64_MAX);
    REFUSED(config.min_host_interval_ms, -1);
    REFUSED(config.min_host_interval_ms, INT64_MAX);
    REFUSED(groups.limits.max_decode_ratio, -2);
    REFUSED(groups.network.allow_file_urls, -1);
    REFUSED(groups.network.ca_file, "");
    REFUSED(config.max_concurrent_per_host, -1);
    REFUSED(config.reserved_urgent_slots, -1);
    REFUSED(config.reserved_urgent_slots, 6); /* of 6 slots in all */
    REFUSED(config.execution_order, 2);
    REFUSED(config.ageing_ms, -1);
    REFUSED(groups.limits.queue_timeout_ms, -1);
    REFUSED(groups.limits.connect_timeout_ms, -1);
    REFUSED(groups.limits.first_byte_timeout_ms, INT64_MIN);
    REFUSED(groups.limits.total_timeout_ms, -1);
    REFUSED(groups.callbacks.min_progress_fraction, -0.1);
    REFUSED(groups.callbacks.min_progress_fraction, 1.1);
    REFUSED(groups.callbacks.min_progress_fraction, NAN);
    REFUSED(groups.callbacks.min_progress_interval_ms, -1);
    REFUSED(config.accepted_status_codes, "everything");
    REFUSED(config.accepted_content_types, "pictures");
    REFUSED(groups.limits.max_header_bytes, -1);
    REFUSED(groups.limits.max_header_count, -1);
    REFUSED(groups.network.allow_downgrade, -1);
    REFUSED(groups.network.address_policy, 2);
    REFUSED(groups.network.ip_version, 5);
    REFUSED(groups.network.proxy_mode, 2);
    REFUSED(groups.network.http_version, 12);
    REFUSED(groups.network.min_tls_version, 14);
    REFUSED(groups.network.tcp_keepalive_ms, -2);
    REFUSED(groups.network.dns_cache_ms, -2);
    REFUSED(groups.network.resolve_count, 1);
    REFUSED(groups.network.max_connections, -1);
    REFUSED(groups.network.max_connections_per_host, -1);
    REFUSED(groups.network.max_idle_connections, -1);
    REFUSED(groups.network.receive_buffer_bytes, 1023);
    REFUSED(groups.network.receive_buffer_bytes, 524289);
    REFUSED(groups.network.proxy, "");
    REFUSED(groups.network.network_interface, "a\nb");
    REFUSED(groups.network.unix_socket_path, "");
    REFUSED(groups.network.cookie_file, "");
    for (int i = 0; i < 2; i++) {
        /* A proxy or a Unix socket would bypass the address policy. */
        sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
        sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
        config.network = &network;
        network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
        if (i == 0) network.proxy = "http://127.0.0.1:1";
        if (i == 1) network.unix_socket_path = "/run/x";
        CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
    }
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(NULL, 0), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(NULL, INT32_MIN), SDD_ERROR_INVALID_ARGUMENT);
}

/* ---------------------------------------------------------------------------- tokens and handles */

static void an_ended_request_stays_ended(void)
{
    sdd_downloader *downloader = make_downloader(NULL), *made_up = (sdd_downloader *)(uintptr_t)0x7ff0;
    record r = RECORD_INIT;
    fetch(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cancel(r.token), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cancel(r.token + 1000000), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cancel(UINT64_MAX), SDD_ERROR_NOT_FOUND);
    destroy(downloader);
    for (int i = 0; i < 2; i++, downloader = made_up) every_call_gives(downloader, r.token, SDD_ERROR_CLOSED);
    CHECK_EQUAL(r.freed_count, 1);
    record_clear(&r);
}

static void a_destroyed_cache_stays_destroyed(void)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *cache = NULL, *made_up = (sdd_cache *)(uintptr_t)0x7ff0;
    sdd_downloader *downloader = make_downloader(NULL);
    config.levels = SDD_CACHE_MEMORY;
    CHECK_STATUS(sdd_cache_create(&config, &cache), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    every_cache_call_gives(downloader, cache, SDD_ERROR_CLOSED);
    every_cache_call_gives(NULL, made_up, SDD_ERROR_CLOSED);
    /* A handle of one kind is not valid as another kind. */
    every_cache_call_gives(NULL, (sdd_cache *)downloader, SDD_ERROR_CLOSED);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------------------ loads */

static void a_destroyed_loader_stays_destroyed(void)
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

static void bad_fields_of_a_loader(void)
{
    sdd_loader *loader = (sdd_loader *)&loader;
    CHECK_STATUS(sdd_loader_create(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_loader_remove_failed_url(NULL, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(sdd_loader_is_blocked(NULL, none), 0);
#undef REFUSED
#define REFUSED(field, number) \
    do { \
        sdd_loader_config config = SDD_LOADER_CONFIG_INIT; \
        config.user_data_free = never_sdd_user_data_free_fn; \
        config.field = number; \
        CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_ERROR_INVALID_ARGUMENT); \
        CHECK(loader == NULL); \
    } while (0)
    REFUSED(fail_policy, -1);
    REFUSED(fail_policy, 3);
    REFUSED(no_cache, 2);
    REFUSED(no_cache, -1);
    REFUSED(struct_size, sizeof(size_t) - 1);
}

/* Without a usable callback the call returns 0 and the reason. */
static void fields_of_a_load_that_are_refused(void)
{
    static const char *const urls[65] = { "http://127.0.0.1/" };
    static const sdd_transform no_transform = SDD_TRANSFORM_INIT;
    char *too_long = calloc(1, 65538);
    memset(too_long, 'a', 65537);
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *loader = NULL;
    config.downloader = downloader;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    CHECK_REFUSED(sdd_loader_submit(loader, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(sdd_load(loader, "http://127.0.0.1/", 0, NULL, NULL, NULL), 0);
#undef REFUSED
#define REFUSED(field, ...) \
    do { \
        sdd_load_request request = SDD_LOAD_REQUEST_INIT; \
        request.url = "http://127.0.0.1/"; \
        request.completed = never_sdd_result_fn; \
        request.user_data_free = never_sdd_user_data_free_fn; \
        request.field = __VA_ARGS__; \
        CHECK_REFUSED(sdd_loader_submit(loader, &request), SDD_ERROR_INVALID_ARGUMENT); \
    } while (0)
    REFUSED(completed, NULL);
    REFUSED(query, 5);
    REFUSED(query, -2);
    REFUSED(store, 5);
    REFUSED(store, INT32_MIN);
    REFUSED(original_query, INT32_MAX);
    REFUSED(original_store, -2);
    REFUSED(cache_key, "");
    REFUSED(cache_key, "\xff");
    REFUSED(cache_key, too_long);
    REFUSED(alternative_count, 1);
    REFUSED(alternatives, urls, request.alternative_count = 65);
    REFUSED(alternatives, urls, request.alternative_count = SIZE_MAX);
    REFUSED(transform_count, 1);
    REFUSED(transforms, &no_transform, request.transform_count = 1);
    REFUSED(transforms, &no_transform, request.transform_count = 257);
    REFUSED(struct_size, offsetof(sdd_load_request, completed));
    free(too_long);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    destroy(downloader);
}

/* A bad value for the picture or the download ends the load, with the same codes as for a download. */
static void fields_that_end_a_load(void)
{
    static uint8_t pixels[4];
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *loader = NULL;
    config.downloader = downloader;
    config.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_transform flip = SDD_TRANSFORM_INIT;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
#define ENDS(number, change) \
    do { \
        record r = RECORD_INIT; \
        sdd_load_request request = SDD_LOAD_REQUEST_INIT; \
        request.url = at("/ok?never"); \
        request.completed = record_completed; \
        request.user_data = &r; \
        request.user_data_free = record_freed; \
        decode = (sdd_decode_options)SDD_DECODE_OPTIONS_INIT; \
        transfer = (sdd_transfer_options)SDD_TRANSFER_OPTIONS_INIT; \
        request.decode = &decode; \
        request.transfer = &transfer; \
        change; \
        CHECK(sdd_loader_submit(loader, &request) != 0); \
        record_wait(&r); \
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, number); \
        record_clear(&r); \
    } while (0)
    ENDS(SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS, request.options = 1ull << 40);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, request.priority = 6);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, request.priority = -1);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, transfer.connect_timeout_ms = -2);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, transfer.max_attempts = 1001);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, transfer.total_timeout_ms = -2);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, transfer.total_timeout_ms = INT64_MIN);
    ENDS(SDD_DETAIL_OPERATION_BAD_NUMBER, transfer.total_timeout_ms = INT64_MAX);
    ENDS(SDD_DETAIL_OPERATION_BAD_INTEGRITY, request.integrity = "nonsense");
    ENDS(SDD_DETAIL_OPERATION_BAD_ACCEPT, transfer.accepted_status_codes = "all");
    ENDS(SDD_DETAIL_OPERATION_BAD_DECODE, decode.fit = 9);
    ENDS(SDD_DETAIL_OPERATION_BAD_DECODE, decode.target_width = -1);
    ENDS(SDD_DETAIL_OPERATION_BAD_DECODE, decode.pixels = pixels; decode.pixels_size = 4; request.transforms = &flip;
         request.transform_count = 1);
    CHECK_EQUAL(requests_of("/ok?never"), 0);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    destroy(downloader);
}

int main(void)
{
    start_watchdog();
    RUN(null_never_crashes);
    RUN(null_never_crashes_functions_of_0_2_0);
    RUN(every_bad_url_has_its_detail);
    RUN(a_url_has_a_longest_length);
    RUN(bad_headers_are_refused_at_the_call);
    RUN(bad_fields_of_a_request_end_it_before_anything_is_sent);
    RUN(structs_of_other_sizes);
    RUN(sizes_that_cut_a_field_in_two_are_refused);
    RUN(limits_below_zero_are_refused);
    RUN(an_ended_request_stays_ended);
    RUN(a_destroyed_cache_stays_destroyed);
    RUN(a_destroyed_loader_stays_destroyed);
    RUN(bad_fields_of_a_loader);
    RUN(fields_of_a_load_that_are_refused);
    RUN(fields_that_end_a_load);
    return 0;
}

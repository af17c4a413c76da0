/* Fields of a request and of its result: referrer, range, timeouts, accepted statuses and types, credentials; response,
   metrics, metrics. The names begin with rows of the contract. */
#include "record.h"
#include "server.h"

#include <poll.h>

static sdd_download_request request_of(const char *url)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    return request;
}

/* Checks that a request ends because of a bad field, before anything is sent. */
static void check_refused(sdd_downloader *downloader, sdd_download_request request, int32_t detail)
{
    OWNED_RECORD r = RECORD_INIT;
    request.url = at("/ok/never-sent");
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, detail);
    CHECK(r.stage == SDD_STAGE_SUBMIT && r.metrics.attempts == 0 && r.http_status == 0 && r.response == NULL);
    CHECK_EQUAL(requests_of("/ok/never-sent"), 0);
}

/* ---------------------------------------------------------------------------------- referrer, range */

CASE(d32_the_referrer_is_a_header)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/echo?referrer"));
    request.transfer = &transfer;
    fetch_request(NULL, &r, request);
    CHECK(!echoes(&r, "Referer:"));
    transfer.referrer = "https://example.org/page";
    fetch_request(NULL, &r, request);
    CHECK(echoes(&r, "Referer: https://example.org/page\r\n"));
    /* `headers` take precedence. */
    sdd_header headers[] = { { "referer", "https://example.org/other" } };
    transfer.headers = headers;
    transfer.header_count = 1;
    fetch_request(NULL, &r, request);
    CHECK(echoes(&r, "Referer: https://example.org/other\r\n") && !echoes(&r, "Referer: https://example.org/page"));
    headers[0].value = NULL;
    fetch_request(NULL, &r, request);
    CHECK(!echoes(&r, "Referer:"));
    request = request_of(NULL);
    request.transfer = reset(&transfer);
    transfer.referrer = "a\r\nX: y";
    check_refused(NULL, request, SDD_DETAIL_OPERATION_BAD_HEADER);
}

CASE(d32_a_range_gives_a_part)
{
    static const struct { const char *range; size_t from, to; /* of 100; from the end if `to` is 0 */ } parts[] = {
        { "0-9", 0, 10 }, { "10-", 10, SIZE_MAX }, { "-5", 5, 0 }, { "7-7", 7, 8 }, { "3-100000", 3, SIZE_MAX },
    };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    char value[60];
    size_t size;
    uint8_t *whole = fixture("png/rgb8.png", &size);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sdd_download_request request = request_of(address_at("SDD_TEST_TLS", "/png/rgb8.png"));
        request.range = parts[i].range;
        size_t from = parts[i].to ? parts[i].from : size - parts[i].from;
        size_t to = parts[i].to && parts[i].to < size ? parts[i].to : size;
        fetch_request(downloader, &r, request);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.http_status, 206);
        CHECK_EQUAL(sdd_bytes_size(r.bytes), to - from);
        CHECK(memcmp(sdd_bytes_data(r.bytes), whole + from, to - from) == 0);
        snprintf(value, sizeof value, "bytes %zu-%zu/%zu", from, to - 1, size);
        CHECK_TEXT(sdd_response_header(r.response, "content-range"), value);
        request.url = at("/echo");
        fetch_request(downloader, &r, request);
        snprintf(value, sizeof value, "Range: bytes=%s\r\n", parts[i].range);
        CHECK(echoes(&r, value));
    }
    free(whole);
    static const char *const bad[] = {
        "", "-", "a-b", "5-3", "0-1,3-4", "0 - 1", " 0-1", "0-1 ", "1", "--5", "0-1\r\nX: y", "bytes=0-1", "+1-2",
        "99999999999999999999-", "0x1-0x2", "1-2-3",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sdd_download_request request = request_of(NULL);
        request.range = bad[i];
        check_refused(downloader, request, SDD_DETAIL_OPERATION_BAD_RANGE);
    }
}

/* ------------------------------------------------------------------------------------ time limits */

/* Opens a port of 127.0.0.1 that neither accepts nor refuses connections, because its backlog is full. */
static int full_port(int *port, int *client)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int listener = loopback_socket(&address, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 0) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    *client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(*client, (struct sockaddr *)&address, size) == 0);
    *port = ntohs(address.sin_port);
    return listener;
}

/* Checks that a request for this URL ends by its limit. */
static void check_limit(sdd_downloader *downloader, const char *url, sdd_transfer_options transfer, sdd_detail detail,
                        sdd_stage stage, int64_t limit)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_download_request request = request_of(url);
    request.transfer = &transfer;
    int64_t start = milliseconds_now();
    fetch_request(downloader, &r, request);
    int64_t time = milliseconds_now() - start;
    CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, detail);
    CHECK(r.error_class == SDD_CLASS_TIMEOUT && r.stage == stage && r.retryable == 1);
    if (time < limit - 5) FAIL("a limit of %lld ms was over after %lld", (long long)limit, (long long)time);
}

CASE(d9_z6_each_stage_has_its_limit)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    char url[100];
    int port, client, listener = full_port(&port, &client);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x.png", port);

#define LIMITS(...) (sdd_transfer_options){ .struct_size = sizeof(sdd_transfer_options), __VA_ARGS__ }
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    check_limit(downloader, at("/ok/never"), LIMITS(.queue_timeout_ms = 120), SDD_DETAIL_TIMEOUT_QUEUE,
                SDD_STAGE_QUEUE, 120);
    CHECK_EQUAL(transfers_of(downloader), 0);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    CHECK_EQUAL(requests_of("/ok/never"), 0);
    check_limit(downloader, url, LIMITS(.connect_timeout_ms = 150), SDD_DETAIL_TIMEOUT_CONNECT, SDD_STAGE_CONNECT, 150);
    check_limit(downloader, at("/silence"), LIMITS(.first_byte_timeout_ms = 130), SDD_DETAIL_TIMEOUT_FIRST_BYTE,
                SDD_STAGE_RESPONSE, 130);
    check_limit(downloader, at("/stall?size=1000&after=100"), LIMITS(.download_timeout_ms = 140),
                SDD_DETAIL_TIMEOUT_STALL, SDD_STAGE_BODY, 140);
    /* The body is never silent and never ends. */
    check_limit(downloader, at("/trickle?size=100000&every=10"),
                LIMITS(.total_timeout_ms = 160, .download_timeout_ms = 5000), SDD_DETAIL_TIMEOUT_TOTAL,
                SDD_STAGE_BODY, 160);
    check_limit(downloader, at("/silence"), LIMITS(.total_timeout_ms = 110), SDD_DETAIL_TIMEOUT_TOTAL,
                SDD_STAGE_RESPONSE, 110);

    /* A request within its limits is not affected. */
    record r = RECORD_INIT;
    sdd_transfer_options transfer =
        LIMITS(.queue_timeout_ms = 5000, .connect_timeout_ms = 5000, .first_byte_timeout_ms = 5000,
               .download_timeout_ms = 2000, .total_timeout_ms = 20000);
    sdd_download_request request = request_of(at("/trickle?size=30&every=20&delay=200"));
    request.transfer = &transfer;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    close(listener);
    close(client);
}

/* The config sets each limit for all requests; SDD_NO_LIMIT removes it for one. */
CASE(z6_a_request_may_have_no_limit)
{
    enum { QUEUE, CONNECT, FIRST_BYTE, STALL, TOTAL, LIMITS };
    static const int32_t details[LIMITS] = {
        SDD_DETAIL_TIMEOUT_QUEUE, SDD_DETAIL_TIMEOUT_CONNECT, SDD_DETAIL_TIMEOUT_FIRST_BYTE, SDD_DETAIL_TIMEOUT_STALL,
        SDD_DETAIL_TIMEOUT_TOTAL,
    };
    int port, client, listener = full_port(&port, &client);
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x.png", port);
    for (int limit = 0; limit < LIMITS; limit++) {
        sdd_limits limits = SDD_LIMITS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
        if (limit == QUEUE) limits.queue_timeout_ms = 150;
        if (limit == CONNECT) limits.connect_timeout_ms = 150;
        if (limit == FIRST_BYTE) limits.first_byte_timeout_ms = 150;
        if (limit == STALL) limits.download_timeout_ms = 150, limits.connect_timeout_ms = 10000;
        if (limit == TOTAL) limits.total_timeout_ms = 150;
        OWNED_DOWNLOADER downloader = make_downloader(&config);
        OWNED_RECORD with = RECORD_INIT, without = RECORD_INIT;
        /* The request would end by itself after twice the time, except for the connect, which never ends. */
        const char *path = limit == CONNECT ? url : atf("/ok?delay=400&none%d", limit);
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&without, path);
        request.transfer = &transfer;
        request.options = SDD_OPTION_BYTES_ONLY;
        transfer.queue_timeout_ms = limit == QUEUE ? SDD_NO_LIMIT : 0;
        transfer.connect_timeout_ms = limit == CONNECT ? SDD_NO_LIMIT : 0;
        transfer.first_byte_timeout_ms = limit == FIRST_BYTE ? SDD_NO_LIMIT : 0;
        transfer.download_timeout_ms = limit == STALL ? SDD_NO_LIMIT : 0;
        transfer.total_timeout_ms = limit == TOTAL ? SDD_NO_LIMIT : 0;
        if (limit == QUEUE) CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        sdd_token token = submit(downloader, &request);
        record_submit(downloader, &with, path, SDD_OPTION_BYTES_ONLY);
        record_wait(&with);
        CHECK_ENDED(&with, SDD_ERROR_TIMEOUT, details[limit]);
        CHECK(record_is_open(&without));
        if (limit == QUEUE) CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
        if (limit == CONNECT) CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&without);
        CHECK_STATUS(without.error, limit == CONNECT ? SDD_ERROR_CANCELLED : SDD_OK);
    }
    close(listener);
    close(client);
}

/* Z4: each request that shares a transfer keeps its own total limit; a different stall limit needs another transfer. */
CASE(z4_z6_sharing_and_limits)
{
    OWNED_RECORD patient = RECORD_INIT, hasty = RECORD_INIT, other = RECORD_INIT;
    record_submit(NULL, &patient, at("/hold/limits"), SDD_OPTION_BYTES_ONLY);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = record_request(&hasty, at("/hold/limits"));
    request.transfer = &transfer;
    request.options = SDD_OPTION_BYTES_ONLY;
    transfer.total_timeout_ms = 100;
    fetch_as(NULL, &hasty, request);
    CHECK_ENDED(&hasty, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL);
    CHECK(record_is_open(&patient));
    CHECK_EQUAL(requests_of("/hold/limits"), 1);
    request = record_request(&other, at("/hold/limits"));
    request.transfer = reset(&transfer);
    request.options = SDD_OPTION_BYTES_ONLY;
    transfer.first_byte_timeout_ms = 60000;
    submit(NULL, &request);
    wait_for_requests("/hold/limits", 2);
    release("limits");
    record_wait(&patient);
    record_wait(&other);
    CHECK_ENDED(&patient, SDD_OK, 0);
    CHECK_ENDED(&other, SDD_OK, 0);
}

/* ---------------------------------------------------------------------- accepted statuses and types */

CASE(g8_g9_x22_x23_accepted_statuses_and_types)
{
    static const struct { const char *path, *statuses, *types; sdd_status error; } all[] = {
        { "/status/404", NULL, NULL, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "/status/404", "404", NULL, SDD_OK },
        { "/status/404", "*", NULL, SDD_OK },
        { "/status/304", NULL, NULL, SDD_ERROR_NOT_MODIFIED },
        { "/status/304", "*", "*", SDD_ERROR_NOT_MODIFIED },
        { "/ok?size=10", "404", NULL, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "/html", NULL, "image/png", SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE },
        { "/file/png/rgb8.png", NULL, "image/png", SDD_OK },
        { "/ok?type=IMAGE/Png;%20charset=x", NULL, "image/png", SDD_OK },
        /* The status is checked first. */
        { "/status/404", NULL, "image/png", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "/status/404", "*", "image/png", SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE },
    };
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = request_of(at(all[i].path));
        request.transfer = &transfer;
        transfer.accepted_status_codes = all[i].statuses;
        transfer.accepted_content_types = all[i].types;
        fetch_request(NULL, &r, request);
        if (r.error != all[i].error) FAIL("row %zu, %s: %s", i, all[i].path, sdd_status_name(r.error));
        CHECK(r.detail == 0 && r.http_status != 0 && r.response != NULL);
        if (r.error != SDD_OK) CHECK(r.error_class == SDD_CLASS_RESPONSE && r.stage == SDD_STAGE_RESPONSE);
    }
    /* The config's lists apply to all requests; a request's own replace them. */
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.accepted_status_codes = "404";
    config.accepted_content_types = "text/html";
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    fetch(downloader, &r, at("/status/404"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    fetch(downloader, &r, at("/html"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/ok"));
    request.transfer = &transfer;
    transfer.accepted_status_codes = "200";
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, 0);
    transfer.accepted_content_types = "*";
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
}

CASE(x22_a_refused_body_is_not_read)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(NULL, &r, at("/stall?status=404&size=1000000&after=1000"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/endless?type=text/plain"));
    request.transfer = &transfer;
    transfer.accepted_content_types = "image/*";
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, 0);
}

/* Z4: requests share a transfer, and each is checked by its own lists. */
CASE(z4_g8_requests_that_share_are_checked_separately)
{
    static const struct { const char *statuses, *types; sdd_status error; } all[] = {
        { NULL, NULL, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "404", NULL, SDD_OK },
        { "404", "image/*", SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE },
        { "*", "text/html", SDD_OK },
    };
    record records[4];
    for (int i = 0; i < 4; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&records[i], at("/status/404?delay=150&judges"));
        request.transfer = &transfer;
        request.options = SDD_OPTION_BYTES_ONLY;
        transfer.accepted_status_codes = all[i].statuses;
        transfer.accepted_content_types = all[i].types;
        submit(NULL, &request);
    }
    for (int i = 0; i < 4; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], all[i].error, 0);
        CHECK_EQUAL(records[i].http_status, 404);
        record_clear(&records[i]);
    }
    CHECK_EQUAL(requests_of("/status/404?delay=150%26judges"), 1);
}

/* --------------------------------------------------------------------------------- credentials */

static sdd_downloader *tls_downloader(void)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    return make_downloader(&config);
}

CASE(h9_h10_a_password_answers_a_challenge)
{
    OWNED_DOWNLOADER downloader = tls_downloader();
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(address_at("SDD_TEST_TLS", "/private"));
    request.transfer = &transfer;
    /* H12: without a credential the request ends with the server's 401. */
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(r.http_status, 401);
    credential.username = "user";
    credential.password = "secret";
    transfer.credential = &credential;
    static const uint64_t schemes[] = { 0, SDD_AUTH_BASIC, SDD_AUTH_BASIC | SDD_AUTH_DIGEST };
    for (int i = 0; i < 3; i++) {
        credential.schemes = schemes[i];
        fetch_request(downloader, &r, request);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.http_status, 200);
        CHECK(memcmp(sdd_bytes_data(r.bytes), "\x89PNG", 4) == 0);
    }
    /* The server's scheme is not among the allowed ones. */
    credential.schemes = SDD_AUTH_DIGEST;
    fetch_request(downloader, &r, request);
    CHECK_EQUAL(r.http_status, 401);
    credential.schemes = 0;
    credential.password = "wrong";
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(r.http_status, 401);
    /* An earlier login does not help a request without a credential. */
    transfer.credential = NULL;
    fetch_request(downloader, &r, request);
    CHECK_EQUAL(r.http_status, 401);
    credential = (sdd_credential)SDD_CREDENTIAL_INIT;
    credential.client_certificate = "/nonexistent/client.pem";
    transfer.credential = &credential;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_CLIENT_CERTIFICATE);
}

CASE(h9_h14_a_bearer_token_stays_with_its_host)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_credential credential = SDD_CREDENTIAL_INIT, other = SDD_CREDENTIAL_INIT;
    credential.bearer_token = "abc.def";
    other.bearer_token = "own";
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/echo?bearer"));
    request.transfer = &transfer;
    transfer.credential = &credential;
    fetch_request(downloader, &r, request);
    CHECK(echoes(&r, "Authorization: Bearer abc.def\r\n"));
    /* The token is not sent to another port, nor again when the redirects come back. */
    char url[600];
    snprintf(url, sizeof url, "%s%s%s", at("/redirect?to="), address_at("SDD_TEST_SERVER_2", "/redirect%3Fto="),
             at("/echo"));
    request.url = url;
    fetch_request(downloader, &r, request);
    CHECK(echoes(&r, "GET /echo HTTP/1.1\r\n") && !echoes(&r, "Authorization"));

    /* The downloader's credential serves requests without one; it can be changed and removed. */
    CHECK_STATUS(sdd_downloader_set_credential(downloader, &credential), SDD_OK);
    fetch(downloader, &r, at("/echo?1"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "Authorization: Bearer abc.def\r\n"));
    request.url = at("/echo?2");
    transfer.credential = &other;
    fetch_request(downloader, &r, request);
    CHECK(echoes(&r, "Authorization: Bearer own\r\n"));
    /* A credential with no field set removes it: for one request, and for all. */
    sdd_credential nothing = SDD_CREDENTIAL_INIT;
    request.url = at("/echo?empty");
    transfer.credential = &nothing;
    fetch_request(downloader, &r, request);
    CHECK(!echoes(&r, "Authorization"));
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(sdd_downloader_set_credential(downloader, &credential), SDD_OK);
        CHECK_STATUS(sdd_downloader_set_credential(downloader, i ? &nothing : NULL), SDD_OK);
        fetch(downloader, &r, at("/echo?3"), SDD_OPTION_BYTES_ONLY);
        CHECK(!echoes(&r, "Authorization"));
    }
    destroy(downloader);

    /* The config can have a credential, too. */
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.credential = &credential;
    downloader = make_downloader(&config);
    fetch(downloader, &r, at("/echo?4"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "Authorization: Bearer abc.def\r\n"));
}

/* --------------------------------------------------------------------------------- the response */

CASE(k4_a_response_has_url_status_type_and_fields)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r,
          at("/redirect?to=/ok?type=Image/PNG;%2520x=y%26header=X-Two:%2520a%26header=x-two:%2520b"
             "%26header=X-Space:%2520%2520v%2520w%2520%2520%26header=X-Empty:"),
          SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    sdd_response *response = sdd_response_retain(r.response);
    record_clear(&r);
    destroy(downloader);

    /* The response outlives the request and the downloader. */
    CHECK(strncmp(sdd_response_url(response), at("/ok?type="), strlen(at("/ok?type="))) == 0);
    CHECK_EQUAL(sdd_response_status(response), 200);
    CHECK_TEXT(sdd_response_mime_type(response), "image/png");
    CHECK_TEXT(sdd_response_header(response, "CONTENT-type"), "Image/PNG; x=y");
    CHECK_TEXT(sdd_response_header(response, "content-length"), "64");
    CHECK_TEXT(sdd_response_header(response, "X-TWO"), "a");
    CHECK_TEXT(sdd_response_header(response, "x-space"), "v w");
    CHECK_TEXT(sdd_response_header(response, "x-empty"), "");
    CHECK(sdd_response_header(response, "x-none") == NULL && sdd_response_header(response, "") == NULL);
    CHECK(sdd_response_header(response, "Location") == NULL);
    const char *volatile none = NULL;
    CHECK(sdd_response_header(response, none) == NULL);

    size_t count = sdd_response_header_count(response), twos = 0;
    CHECK(count >= 6);
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL, *value = NULL;
        CHECK_STATUS(sdd_response_header_at(response, i, &name, &value), SDD_OK);
        CHECK(name != NULL && value != NULL && *name != 0 && strchr(name, ':') == NULL);
        if (strcmp(name, "X-Two") == 0) CHECK(twos++ == 0 && strcmp(value, "a") == 0);
        if (strcmp(name, "x-two") == 0) CHECK(twos++ == 1 && strcmp(value, "b") == 0);
        CHECK_STATUS(sdd_response_header_at(response, i, NULL, NULL), SDD_OK);
    }
    CHECK_EQUAL(twos, 2);
    CHECK_STATUS(sdd_response_header_at(response, count, NULL, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_response_header_at(response, SIZE_MAX, NULL, NULL), SDD_ERROR_NOT_FOUND);
    sdd_response_release(response);

    /* Errors have a response, too; it may have no type; and there is none if none arrived. */
    fetch(NULL, &r, at("/status/404?header=X-Why:%20gone"), 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(sdd_response_status(r.response), 404);
    CHECK_TEXT(sdd_response_header(r.response, "X-Why"), "gone");
    fetch(NULL, &r, at("/status/204"), SDD_OPTION_BYTES_ONLY);
    CHECK_TEXT(sdd_response_mime_type(r.response), "");
    fetch(NULL, &r, at("/cut?size=1000"), SDD_OPTION_BYTES_ONLY);
    CHECK_EQUAL(sdd_response_status(r.response), 200);
    fetch(NULL, &r, at("/reset"), SDD_OPTION_BYTES_ONLY);
    CHECK(r.response == NULL);
}

CASE(k5_z21_metrics_and_timings)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    int port = atoi(strrchr(setting("SDD_TEST_SERVER"), ':') + 1);
    for (int i = 0; i < 3; i++) {
        const char *path = i < 2 ? atf("/ok?size=10000&metrics%d&delay=20", i) : at("/redirect-chain/3?size=10000");
        fetch(downloader, &r, path, SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.metrics.http_version, 11);
        CHECK_EQUAL(r.metrics.connection_reused, i > 0);
        CHECK_EQUAL(r.metrics.redirects, i == 2 ? 3 : 0);
        CHECK_EQUAL(r.metrics.attempts, 1);
        CHECK_EQUAL(r.metrics.remote_port, port);
        CHECK_TEXT(r.remote_address, "127.0.0.1");
        CHECK_EQUAL(r.metrics.response_body_bytes, 10000);
        CHECK_EQUAL(r.metrics.body_bytes, 10000);
        CHECK(r.metrics.request_bytes > 50 && r.metrics.response_header_bytes > 20);
        CHECK(i == 0 ? r.metrics.connect_us > 0 : r.metrics.connect_us == 0);
        CHECK(r.metrics.tls_us == 0 && r.metrics.transfer_us > 0 && r.metrics.decode_us == 0);
        CHECK(r.metrics.total_us >= r.metrics.queue_us + r.metrics.transfer_us);
        if (i < 2) CHECK(r.metrics.first_byte_us >= 15000 && r.metrics.transfer_us >= r.metrics.first_byte_us);
    }
    fetch(downloader, &r, at("/gzip?size=10000"), SDD_OPTION_BYTES_ONLY);
    CHECK_EQUAL(r.metrics.body_bytes, 10000);
    CHECK(r.metrics.response_body_bytes > 0 && r.metrics.response_body_bytes != 10000);
    fetch(downloader, &r, at("/file/png/rgb16.png"), 0);
    CHECK(r.metrics.decode_us > 0);
    CHECK(r.metrics.total_us >= r.metrics.queue_us + r.metrics.transfer_us + r.metrics.decode_us);

    /* Time in the queue counts as queue time, not as network time. */
    record held = RECORD_INIT;
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(downloader, 1), SDD_OK);
    record_submit(downloader, &held, at("/ok?delay=100&metrics"), SDD_OPTION_BYTES_ONLY);
    fetch(downloader, &r, at("/ok?queued"), SDD_OPTION_BYTES_ONLY);
    CHECK(r.metrics.queue_us >= 80000 && r.metrics.transfer_us < r.metrics.total_us - 80000);
    record_wait(&held);
    record_clear(&held);
    /* A request that was never tried has no metrics. */
    fetch(downloader, &r, "nonsense", 0);
    CHECK(r.metrics.attempts == 0 && r.metrics.remote_port == 0 && r.metrics.http_version == 0);
    CHECK_TEXT(r.remote_address, "");
    destroy(downloader);

    downloader = tls_downloader();
    static const struct { const char *variable; int version; } versions[] = {
        { "SDD_TEST_TLS", 20 }, { "SDD_TEST_TLS_HTTP1", 11 },
    };
    for (int i = 0; i < 2; i++) {
        fetch(downloader, &r, address_at(versions[i].variable, "/png/rgb8.png"), 0);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.metrics.http_version, versions[i].version);
        CHECK(r.metrics.tls_us > 0 && r.metrics.connect_us > 0 && r.metrics.redirects == 0);
    }
    destroy(downloader);
}

static int64_t largest_expected; /* of the counts before the last one, which has the size of the whole */

static void note_expected(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)token, (void)url, (void)user_data;
    if (received != expected && expected > largest_expected) largest_expected = expected;
}

/* The size that is told is that of the body as it is handed out; -1 where nothing, or that of the packed one, is known.
   In a body that waits in its middle the first count after the response is seen. */
CASE(x21_the_size_that_is_announced)
{
    static const struct { const char *name, *framing; int64_t expected; } all[] = {
        { "with-length", "length", 1000 }, { "in-chunks", "chunked", -1 }, { "till-closed", "close", -1 },
    };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        record_clear(&r);
        const char *url = atf("/hold/%s?size=1000&after=500&framing=%s", all[i].name, all[i].framing);
        sdd_token token = record_submit(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
        record_wait_received(&r, 500);
        sdd_token_info info = SDD_TOKEN_INFO_INIT;
        CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
        CHECK_EQUAL(info.expected_bytes, all[i].expected);
        CHECK_EQUAL(r.last_expected, all[i].expected);
        release(all[i].name);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(sdd_bytes_size(r.bytes), 1000);
    }
    /* Packed: Content-Length is that of what is sent, and says nothing of what is handed out. */
    record_clear(&r);
    largest_expected = -2;
    sdd_download_request request = record_request(&r, at("/gzip?size=100000"));
    request.options = SDD_OPTION_BYTES_ONLY;
    request.progress = note_expected;
    submit(downloader, &request);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), 100000);
    CHECK_EQUAL(largest_expected, -1);
    /* A length below zero is no HTTP (RFC 9110, section 8.6). */
    fetch(downloader, &r, at("/ok?size=0&framing=close&header=Content-Length:%20-5"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(r.error, SDD_ERROR_PROTOCOL);
}

int main(void) { return run_cases(); }

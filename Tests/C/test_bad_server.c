/* Faults of a server: each has its own error code and message, and ends a request once. */
#include "record.h"
#include "server.h"

#include <errno.h>

/* A path on the fault server, and the expected result of a request for it. */
struct row {
    const char *path;
    sdd_status error;
    int32_t detail;
    int bytes_only;
};

static void check_rows(sdd_downloader *downloader, const struct row *rows, size_t count)
{
    record *records = calloc(count, sizeof *records);
    for (size_t i = 0; i < count; i++) {
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], at(rows[i].path), rows[i].bytes_only ? SDD_OPTION_BYTES_ONLY : 0);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    for (size_t i = 0; i < count; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], rows[i].error, rows[i].detail);
        record_clear(&records[i]);
    }
    free(records);
}
#define CHECK_ROWS(downloader, rows) check_rows(downloader, rows, sizeof rows / sizeof *rows)

CASE(broken_answers)
{
    static const struct row rows[] = {
        { "/cut?size=1000", SDD_ERROR_TRUNCATED_BODY, 0, 1 },
        { "/cut?size=1000&after=0", SDD_ERROR_TRUNCATED_BODY, 0, 1 },
        { "/cut?file=png/rgb8.png", SDD_ERROR_TRUNCATED_BODY, 0, 0 },
        { "/cut-chunked?size=1000", SDD_ERROR_TRUNCATED_BODY, 0, 1 },
        { "/cut-head", SDD_ERROR_CONNECTION_LOST, 0, 1 },
        { "/reset", SDD_ERROR_CONNECTION_LOST, 0, 1 },
        { "/garbage", SDD_ERROR_PROTOCOL, 0, 1 },
        { "/http09?size=1000", SDD_ERROR_PROTOCOL, 0, 1 },
        { "/bad-chunk", SDD_ERROR_PROTOCOL, 0, 1 },
        { "/header-flood", SDD_ERROR_HEADERS_TOO_LARGE, 0, 1 },
        { "/gzip-corrupt?size=1000", SDD_ERROR_CONTENT_ENCODING, 0, 1 },
        { "/gzip-corrupt?where=checksum&size=1000", SDD_ERROR_CONTENT_ENCODING, 0, 1 },
        { "/gzip-corrupt?where=magic&size=1000", SDD_ERROR_CONTENT_ENCODING, 0, 1 },
        { "/redirect-loop", SDD_ERROR_TOO_MANY_REDIRECTS, 0, 1 },
        { "/redirect-chain/11", SDD_ERROR_TOO_MANY_REDIRECTS, 0, 1 },
        { "/redirect?to=file:///etc/passwd", SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_SCHEME, 1 },
        { "/redirect?to=ftp://127.0.0.1/x", SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_SCHEME, 1 },
        { "/redirect?to=gopher://127.0.0.1:1/x", SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_SCHEME, 1 },
        { "/redirect?to=http://%5B::1/x", SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_MALFORMED, 1 },
    };
    CHECK_ROWS(NULL, rows);
}

CASE(a_reset_within_the_body)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(NULL, &r, at("/reset?size=100000&after=1000"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_CONNECTION_LOST, 0);
}

/* The framing is sound, so that only the compressed data shows the fault. */
CASE(a_packed_body_that_ends_too_early)
{
    static const int drops[] = { 1, 8, 12, 500 };
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 4; i++) {
        fetch(NULL, &r, atf("/gzip-cut?size=1000&drop=%d", drops[i]), SDD_OPTION_BYTES_ONLY);
        if (r.error != SDD_ERROR_TRUNCATED_BODY) CHECK_ENDED(&r, SDD_ERROR_CONTENT_ENCODING, 0);
    }
}

CASE(bodies_without_end)
{
    static const struct row rows[] = {
        { "/endless", SDD_ERROR_BODY_TOO_LARGE, 0, 1 },
        { "/endless-close", SDD_ERROR_BODY_TOO_LARGE, 0, 1 },
        { "/announce", SDD_ERROR_BODY_TOO_LARGE, 0, 1 },
        { "/ok?size=100001", SDD_ERROR_BODY_TOO_LARGE, 0, 1 },
        { "/ok?size=100001&framing=chunked", SDD_ERROR_BODY_TOO_LARGE, 0, 1 },
        { "/gzip-bomb?size=10000000", SDD_ERROR_BODY_TOO_LARGE, 0, 1 },
        { "/ok?size=100000&framing=chunked", SDD_OK, 0, 1 },
        { "/gzip?size=99900", SDD_OK, 0, 1 },
    };
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.max_body_bytes = 100000;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    CHECK_ROWS(downloader, rows);
}

CASE(error_statuses_give_no_picture)
{
    static const int statuses[] = { 400, 401, 403, 404, 410, 429, 500, 502, 503, 300, 999 };
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        fetch(NULL, &r, atf("/status/%d", statuses[i]), 0);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
        CHECK_EQUAL(r.http_status, statuses[i]);
        CHECK_EQUAL(r.curl_code, 0);
    }
    fetch(NULL, &r, at("/status/304"), 0);
    CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
    CHECK_EQUAL(r.http_status, 304);
    fetch(NULL, &r, at("/status/204"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY);
    CHECK_EQUAL(r.http_status, 204);
}

CASE(bodies_that_are_not_pictures)
{
    static const struct row rows[] = {
        { "/html", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT, 0 },
        { "/empty", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY, 0 },
        { "/ok?text=x", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT, 0 },
        { "/file/png/bad/zero-width.png", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_ZERO_PIXELS, 0 },
        { "/file/png/bad/zero-height.png", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_ZERO_PIXELS, 0 },
        { "/file/jpeg/bad/zero-width.jpg", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_ZERO_PIXELS, 0 },
        { "/file/png/bad/huge.png", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS, 0 },
        { "/file/jpeg/bad/huge.jpg", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS, 0 },
        { "/file/png/bad/idat-wrong-crc.png", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CORRUPT, 0 },
        { "/file/png/bad/idat-apart.png", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CORRUPT, 0 },
        { "/file/jpeg/bad/arithmetic-cut.jpg", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRUNCATED, 0 },
        { "/file/jpeg/bad/lossless.jpg", SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNSUPPORTED, 0 },
    };
    CHECK_ROWS(NULL, rows);
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    OWNED_RECORD r = RECORD_INIT;
    limits.max_pixels = 19 * 13 - 1;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS);
}

CASE(files_only_where_they_are_allowed)
{
    static const char *const names[] = { "png/rgb8.png", "jpeg/baseline-420.jpg" };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.allow_file_urls = 1;
    sdd_downloader *downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    char path[1000], url[1010];
    snprintf(path, sizeof path, "%s/cut", setting("SDD_TEST_FOLDER"));
    snprintf(url, sizeof url, "file://%s", path);
    for (int i = 0; i < 2; i++) {
        size_t size;
        uint8_t *bytes = fixture(names[i], &size);
        for (int part = 1; part <= 3; part++) {
            FILE *file = fopen(path, "wb");
            CHECK(file && fwrite(bytes, 1, size * (size_t)part / 3, file) == size * (size_t)part / 3);
            fclose(file);
            fetch(downloader, &r, url, 0);
            if (part == 3)
                CHECK_ENDED(&r, SDD_OK, 0);
            else
                CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRUNCATED);
            CHECK_EQUAL(r.http_status, 0);
        }
        free(bytes);
    }
    fetch(NULL, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    CHECK(unlink(path) == 0);
    fetch(downloader, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_FILE_NOT_READABLE, 0);
    fetch(downloader, &r, atf("/redirect?to=file://%s/", setting("SDD_TEST_FIXTURES")), 0);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_SCHEME);
    destroy(downloader);
}

/* ----------------------------------------------------------------------------------- connections */

/* Binds a port of 127.0.0.1 that stays reserved while the socket is open. */
static int hold_port(int *port, int listens)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int descriptor = loopback_socket(&address, 0);
    CHECK(bind(descriptor, (struct sockaddr *)&address, size) == 0);
    CHECK(!listens || listen(descriptor, 5) == 0);
    CHECK(getsockname(descriptor, (struct sockaddr *)&address, &size) == 0);
    *port = ntohs(address.sin_port);
    return descriptor;
}

CASE(unreachable_hosts)
{
    OWNED_RECORD r = RECORD_INIT;
    char url[100];
    int port, descriptor = hold_port(&port, 0);
    fetch(NULL, &r, "http://name.invalid/x.png", 0);
    CHECK_ENDED(&r, SDD_ERROR_RESOLVE, 0);
    CHECK_EQUAL(r.curl_code, 6);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/x.png", port);
    fetch(NULL, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_CONNECT, 0);
    CHECK_EQUAL(r.curl_code, 7);
    CHECK_EQUAL(r.system_error, ECONNREFUSED);
    close(descriptor);
}

CASE(silence_has_a_limit)
{
    static const struct row rows[] = {
        { "/silence", SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_STALL, 1 },
        { "/stall?size=1000", SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_STALL, 1 },
        { "/announce?size=1000", SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_STALL, 1 },
        /* It takes four times as long as the limit, but is never silent for long. */
        { "/trickle?size=40&every=50", SDD_OK, 0, 1 },
    };
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.download_timeout_ms = 500;
    config.max_concurrent_downloads = 20;
    sdd_downloader *downloader = make_downloader(&config);
    CHECK_ROWS(downloader, rows);
    /* The kernel accepts the connection, but no TLS handshake follows. */
    OWNED_RECORD r = RECORD_INIT;
    char url[100];
    int port, descriptor = hold_port(&port, 1);
    snprintf(url, sizeof url, "https://127.0.0.1:%d/x.png", port);
    fetch(downloader, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_CONNECT);
    close(descriptor);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------------------- TLS */

CASE(certificates_are_checked)
{
    static const struct { const char *variable; int32_t detail; } all[] = {
        { "SDD_TEST_TLS_EXPIRED", SDD_DETAIL_TLS_EXPIRED },
        { "SDD_TEST_TLS_WRONG_HOST", SDD_DETAIL_TLS_WRONG_HOST },
        { "SDD_TEST_TLS_SELF_SIGNED", SDD_DETAIL_TLS_SELF_SIGNED },
    };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    sdd_downloader *downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        const char *url = address_at(all[i].variable, "/png/rgb8.png");
        fetch(downloader, &r, url, 0);
        CHECK_ENDED(&r, SDD_ERROR_TLS, all[i].detail);
        CHECK(r.curl_code != 0 && r.http_status == 0);
        fetch(downloader, &r, url, SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES);
        CHECK_ENDED(&r, SDD_OK, 0);
        /* Accepting the certificate once does not affect the next request. */
        fetch(downloader, &r, url, 0);
        CHECK_ENDED(&r, SDD_ERROR_TLS, all[i].detail);
    }
    fetch(downloader, &r, address_at("SDD_TEST_TLS", "/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    fetch(downloader, &r, address_at("SDD_TEST_TLS", "/to-http"), 0);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_DOWNGRADE);
    fetch(NULL, &r, address_at("SDD_TEST_TLS", "/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_UNKNOWN_ISSUER);
    fetch(NULL, &r, address_at("SDD_TEST_TLS_NONE", "/"), 0);
    CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_HANDSHAKE);
    destroy(downloader);
    network.ca_file = "/nonexistent/ca.pem";
    downloader = make_downloader(&config);
    fetch(downloader, &r, address_at("SDD_TEST_TLS", "/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_CA_FILE);
    destroy(downloader);
    /* OpenSSL takes a directory that is not there for an empty one. */
    network.ca_file = NULL;
    network.ca_path = "/nonexistent";
    downloader = make_downloader(&config);
    fetch(downloader, &r, address_at("SDD_TEST_TLS", "/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_CA_FILE);
    destroy(downloader);
}

int main(void) { return run_cases(); }

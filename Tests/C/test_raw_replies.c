/*
 * Replies of a server, byte for byte, and the result of a request for each: status, detail, message, body. Each is
 * requested on a fresh downloader, on one with a used connection, and behind a redirect; and bad replies alternate with
 * good ones, because nothing that libcurl keeps of one response may affect the next.
 */
#include "caches.h"
#include "raw_replies.h"
#include "raw_server.h"

/* Names of files in encodings that are older than UTF-8. */
static const char latin_1[] = "HTTP/1.1 302 Found\r\nLocation: /caf\xe9/\xdf/\xfc?x\r\nContent-Length: 0\r\n\r\n";

static raw_reply reply_of(int number)
{
    if (number == row_count) return (raw_reply){ latin_1, sizeof latin_1 - 1, 0 };
    const struct row *row = &rows[number];
    return (raw_reply){ row->reply, row->size, row->closes };
}

static int wrong_rows;

/* Reports a wrong row and continues with the next. */
#define WRONG(...) \
    do { \
        fprintf(stderr, __VA_ARGS__); \
        wrong_rows++; \
        return; \
    } while (0)

static void check_row(const struct row *row, const char *way, record *r)
{
    if (row->or_error && r->error == row->or_error) return;
    if (r->error != row->error || r->detail != row->detail)
        WRONG("\"%s\" %s: %s %d \"%s\", not %s %d\n", row->name, way, sdd_status_name(r->error), (int)r->detail,
             r->message, sdd_status_name(row->error), (int)row->detail);
    if (row->says && strstr(r->message, row->says) == NULL && !(row->or_says && strstr(r->message, row->or_says)))
        WRONG("\"%s\" %s says \"%s\", and not \"%s\"\n", row->name, way, r->message, row->says);
    if (row->status && r->http_status != row->status)
        WRONG("\"%s\" %s has the status %d\n", row->name, way, (int)r->http_status);
    if (row->error != SDD_OK) return;
    if (row->or_body && sdd_bytes_size(r->bytes) == strlen(row->or_body) &&
        memcmp(sdd_bytes_data(r->bytes), row->or_body, strlen(row->or_body)) == 0)
        return;
    if (sdd_bytes_size(r->bytes) != row->body_size ||
        (row->body_size && memcmp(sdd_bytes_data(r->bytes), row->body, row->body_size) != 0))
        WRONG("\"%s\" %s has %zu bytes: \"%.*s\"\n", row->name, way, sdd_bytes_size(r->bytes),
             (int)sdd_bytes_size(r->bytes), (const char *)sdd_bytes_data(r->bytes));
}

static void ask(sdd_downloader *downloader, record *r, const struct row *row, const char *url)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.method = row->method;
    fetch_request(downloader, r, request);
}

static void ask_good(sdd_downloader *downloader, record *r)
{
    fetch(downloader, r, raw_url("/good"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r->bytes) == 4 && memcmp(sdd_bytes_data(r->bytes), "good", 4) == 0);
}

CASE(on_a_fresh_downloader)
{
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < row_count; i++) {
        OWNED_DOWNLOADER downloader = make_downloader(NULL);
        ask(downloader, &r, &rows[i], raw_url("/raw/%d", i));
        check_row(&rows[i], "on a fresh downloader", &r);
    }
}

CASE(on_a_used_connection)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < row_count; i++) {
        ask_good(downloader, &r);
        ask(downloader, &r, &rows[i], raw_url("/raw/%d", i));
        check_row(&rows[i], "on a used downloader", &r);
    }
    ask_good(downloader, &r);
    destroy(downloader);
}

CASE(behind_a_redirect)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < row_count; i++) {
        ask(downloader, &r, &rows[i], raw_url("/to/%d", i));
        check_row(&rows[i], "behind a redirect", &r);
    }
    ask_good(downloader, &r);
    destroy(downloader);
}

static int row_named(const char *name)
{
    for (int i = 0; i < row_count; i++)
        if (strcmp(rows[i].name, name) == 0) return i;
    FAIL("there is no row \"%s\"", name);
}

/* libcurl 7.88 joins a first header line that begins with white space to a line of the response before. */
CASE(good_and_bad_by_turns)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    int number = row_named("a fold before any field");
    for (int turn = 0; turn < 20 + scaled(80); turn++) {
        ask_good(downloader, &r);
        ask(downloader, &r, &rows[number], raw_url("/%s/%d", turn % 2 ? "to" : "raw", number));
        check_row(&rows[number], "by turns", &r);
    }
    destroy(downloader);
}

/* Bytes behind a reply, such as the body of a HEAD, are not the reply to the next request. Behind a proxy it may be for
   another host. */
CASE(bytes_that_answer_no_request)
{
    static const char evil[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    static const struct row first[] = {
        { "a body with a length", .method = "GET" }, { "HEAD", .method = "HEAD" }, { "204", .method = "DELETE" },
    };
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        current_case = first[i].name;
        const char *url = i == 2 ? raw_url("/raw/%d", row_named("204")) : raw_url("/good");
        ask(downloader, &r, &first[i], url);
        CHECK_ENDED(&r, SDD_OK, 0);
        for (int j = 0; j < RAW_CONNECTIONS; j++)
            if (raw_server.connections[j].descriptor >= 0) raw_write(&raw_server.connections[j], evil, sizeof evil - 1);
        ask_good(downloader, &r);
        ask_good(downloader, &r);
    }
    destroy(downloader);
}

/* A cache delivers a body with an unknown coding as it came, with its Content-Encoding field. */
CASE(an_unknown_coding_from_a_cache)
{
    cache_in_folder c = open_default();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = c.cache;
    sdd_downloader *downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    const char *url = raw_url("/raw/%d", row_named("a coding that nobody knows, to be kept"));
    for (int i = 0; i < 2; i++) {
        fetch(downloader, &r, url, SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, i ? SDD_ORIGIN_HTTP_FRESH : SDD_ORIGIN_NETWORK);
        CHECK(sdd_bytes_size(r.bytes) == 2 && memcmp(sdd_bytes_data(r.bytes), "ok", 2) == 0);
        CHECK_TEXT(sdd_response_header(r.response, "Content-Encoding"), "x-what");
    }
    destroy(downloader);
    close_cache(&c);
}

/* The decoder decides whether the body is a picture, whatever Content-Encoding says. */
CASE(a_picture_in_an_unknown_coding)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(NULL, &r, at("/file/png/rgb8.png?header=Content-Encoding:%20x-what"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    fetch(NULL, &r, at("/cut?file=png/rgb8.png&header=Content-Encoding:%20x-what"), 0);
    CHECK_ENDED(&r, SDD_ERROR_TRUNCATED_BODY, 0);
    fetch(NULL, &r, at("/html?header=Content-Encoding:%20x-what"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
}

CASE(bytes_of_a_location_are_those_that_are_asked_for)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = raw_url("/raw/%d", row_count);
    request.transfer = &transfer;
    transfer.redirects = SDD_REDIRECT_REFUSE;
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_UNWANTED);
    CHECK(strcasestr(r.message, "/caf%e9/%df/%fc,") != NULL); /* libcurl from 8.16 writes %E9 */
}

int main(void)
{
    start_watchdog();
    raw_server_start(reply_of);
    run_cases();
    raw_server_stop();
    CHECK_EQUAL(wrong_rows, 0);
    return 0;
}

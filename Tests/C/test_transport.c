/* An application's transport in place of the network: its requests, its answers, and its end. The names begin with rows
   of the contract. */
#include "record.h"
#include "server.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>

/* ---------------------------------------------------------------------------- a transport of the test's */

enum { MOST = 64 };

/* A transport with a record of its calls. */
typedef struct plug {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int started, cancelled, raised, freed;
    sdd_downloader *downloader;
    sdd_transfer transfers[MOST];
    int32_t priorities[MOST]; /* at the start, and then each new one */
    char url[300], method[20], header[100], body[100];
    size_t body_size;
    atomic_int busy;    /* set during a call: calls must not overlap */
    char elsewhere[16]; /* the name of a thread other than sdd-net that called a function */
    void (*answer)(struct plug *plug, sdd_transfer transfer, const char *url);
} plug;

#define PLUG_INIT { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static void enter(plug *p)
{
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    CHECK_EQUAL(atomic_exchange(&p->busy, 1), 0);
    pthread_mutex_lock(&p->lock);
    if (strcmp(name, "sdd-net") != 0) snprintf(p->elsewhere, sizeof p->elsewhere, "%s", name);
}

static void leave(plug *p)
{
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    CHECK_EQUAL(atomic_exchange(&p->busy, 0), 1);
}

static int index_of(const plug *p, sdd_transfer transfer)
{
    for (int i = 0; i < p->started && i < MOST; i++)
        if (p->transfers[i] == transfer) return i;
    FAIL("transfer %llu was never started", (unsigned long long)transfer);
}

static void plug_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    plug *p = user_data;
    enter(p);
    CHECK(transfer != 0 && request->struct_size == sizeof *request);
    p->transfers[p->started % MOST] = transfer;
    p->priorities[p->started++ % MOST] = request->priority;
    snprintf(p->url, sizeof p->url, "%s", request->url);
    snprintf(p->method, sizeof p->method, "%s", request->method);
    p->header[0] = 0;
    for (size_t i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, "X-Test") == 0)
            snprintf(p->header, sizeof p->header, "%s", request->headers[i].value);
    p->body_size = request->body_size;
    if (request->body_size && request->body_size < sizeof p->body) memcpy(p->body, request->body, request->body_size);
    void (*answer)(plug *, sdd_transfer, const char *) = p->answer;
    leave(p);
    if (answer) answer(p, transfer, request->url);
}

static void plug_cancel(sdd_transfer transfer, void *user_data)
{
    plug *p = user_data;
    enter(p);
    CHECK(p->transfers[index_of(p, transfer)] == transfer);
    p->cancelled++;
    leave(p);
}

static void plug_set_priority(sdd_transfer transfer, int32_t priority, void *user_data)
{
    plug *p = user_data;
    enter(p);
    p->priorities[index_of(p, transfer)] = priority;
    p->raised++;
    leave(p);
}

static void plug_free(void *user_data)
{
    plug *p = user_data;
    pthread_mutex_lock(&p->lock);
    CHECK_EQUAL(p->freed, 0);
    p->freed++;
    pthread_mutex_unlock(&p->lock);
}

static sdd_transport transport_of(const char *scheme, plug *p)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = scheme;
    transport.start = plug_start;
    transport.cancel = plug_cancel;
    transport.set_priority = plug_set_priority;
    transport.user_data = p;
    transport.user_data_free = plug_free;
    return transport;
}

static void add(sdd_downloader *downloader, const char *scheme, plug *p)
{
    sdd_transport transport = transport_of(scheme, p);
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
}

static sdd_downloader *downloader_with(plug *p)
{
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.max_body_bytes = 100000;
    config.decode_threads = 2;
    sdd_downloader *downloader = make_downloader(&config);
    add(downloader, "archive", p);
    return downloader;
}

#define WAIT_UNTIL(p, condition) \
    do { \
        pthread_mutex_lock(&(p)->lock); \
        while (!(condition)) pthread_cond_wait(&(p)->changed, &(p)->lock); \
        pthread_mutex_unlock(&(p)->lock); \
    } while (0)

/* Waits until `count` transfers were started and returns the last one. */
static sdd_transfer started(plug *p, int count)
{
    WAIT_UNTIL(p, p->started >= count);
    return p->transfers[count - 1];
}

/* -------------------------------------------------------------------------------------- answers */

static int is_over(sdd_status status) { return status == SDD_ERROR_NOT_FOUND; }

/* Answers with the whole picture inside `start`. */
static void answer_picture(plug *p, sdd_transfer transfer, const char *url)
{
    static const sdd_header headers[] = { { "Content-Type", "Image/PNG; x=y" }, { "X-From", "archive" } };
    size_t size;
    uint8_t *bytes = fixture("png/rgb8.png", &size);
    (void)p, (void)url;
    CHECK_STATUS(sdd_transfer_respond(transfer, 200, headers, 2, (int64_t)size), SDD_OK);
    CHECK_STATUS(sdd_transfer_write(transfer, bytes, size), SDD_OK);
    free(bytes);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
    /* The transfer is over; the downloader may be destroyed by now. */
    CHECK(is_over(sdd_transfer_finish(transfer, SDD_OK, NULL)));
    CHECK(is_over(sdd_transfer_write(transfer, "x", 1)));
    CHECK(is_over(sdd_transfer_respond(transfer, 200, NULL, 0, -1)));
}

CASE(d27_answers_inside_start)
{
    plug p = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    p.answer = answer_picture;
    sdd_downloader *downloader = downloader_with(&p);
    fetch(downloader, &r, "archive:some/picture", 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_image_width(r.image) == 19 && sdd_image_pixels(r.image)[3] == 255);
    CHECK_EQUAL(r.http_status, 200);
    CHECK_TEXT(sdd_response_url(r.response), "archive:some/picture");
    CHECK_TEXT(sdd_response_mime_type(r.response), "image/png");
    CHECK_TEXT(sdd_response_header(r.response, "x-from"), "archive");
    CHECK_EQUAL(sdd_response_header_count(r.response), 2);
    CHECK(r.first_expected == -1 && r.last_received == r.last_expected && r.metrics.attempts == 1);
    CHECK_EQUAL(r.metrics.body_bytes, r.last_received);
    CHECK_TEXT(p.url, "archive:some/picture");
    CHECK_TEXT(p.method, "GET");

    /* The transport gets the fields of the request; schemes are case-insensitive. */
    sdd_header headers[] = { { "X-Test", "value" } };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.url = "ARCHIVE://host/path?query";
    request.method = "POST";
    request.body = "body";
    request.body_size = 4;
    transfer.headers = headers;
    transfer.header_count = 1;
    request.priority = SDD_PRIORITY_VERY_HIGH;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_TEXT(p.method, "POST");
    CHECK_TEXT(p.header, "value");
    CHECK(p.body_size == 4 && memcmp(p.body, "body", 4) == 0);
    CHECK_EQUAL(p.priorities[1], SDD_PRIORITY_VERY_HIGH);
    CHECK(p.started == 2 && p.cancelled == 0);
    destroy(downloader);
    CHECK_EQUAL(p.freed, 1);
}

/* The answer comes from this thread in pieces, each of which makes progress. */
CASE(d27_answers_from_another_thread_in_pieces)
{
    plug p = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    char piece[1000];
    sdd_downloader *downloader = downloader_with(&p);
    for (int announced = 0; announced < 2; announced++) {
        record_clear(&r);
        sdd_token token = record_submit(downloader, &r, "archive:pieces", SDD_OPTION_BYTES_ONLY);
        sdd_transfer transfer = started(&p, announced + 1);
        if (announced) CHECK_STATUS(sdd_transfer_respond(transfer, 200, NULL, 0, 10000), SDD_OK);
        for (int i = 0; i < 10; i++) {
            memset(piece, 'a' + i, sizeof piece);
            CHECK_STATUS(sdd_transfer_write(transfer, piece, sizeof piece), SDD_OK);
            CHECK_STATUS(sdd_transfer_write(transfer, NULL, 0), SDD_OK);
            memset(piece, '#', sizeof piece); /* it was copied */
            record_wait_received(&r, 1000 * (i + 1));
        }
        sdd_token_info info = SDD_TOKEN_INFO_INIT;
        CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
        CHECK(info.state == SDD_STATE_RUNNING && info.http_status == 200 && info.received_bytes == 10000);
        CHECK_EQUAL(info.expected_bytes, announced ? 10000 : -1);
        CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(r.progress_count >= 10 && r.last_received == 10000 && sdd_bytes_size(r.bytes) == 10000);
        for (int i = 0; i < 10000; i++) CHECK_EQUAL(sdd_bytes_data(r.bytes)[i], 'a' + i / 1000);
    }
    /* Without a response and data the result is an empty body with status 200. */
    record_clear(&r);
    record_submit(downloader, &r, "archive:empty", SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_transfer_finish(started(&p, 3), SDD_OK, NULL), SDD_OK);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.http_status == 200 && sdd_bytes_size(r.bytes) == 0 && sdd_response_header_count(r.response) == 0);
    CHECK_EQUAL(p.cancelled, 0);
    destroy(downloader);
    CHECK_EQUAL(p.freed, 1);
}

CASE(d27_answers_that_are_refused)
{
    plug p = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = downloader_with(&p);
    record_submit(downloader, &r, "archive:refused", SDD_OPTION_BYTES_ONLY);
    sdd_transfer transfer = started(&p, 1);
    /* A second response, and calls after the end. */
    CHECK_STATUS(sdd_transfer_respond(transfer, 200, NULL, 0, -1), SDD_OK);
    CHECK_STATUS(sdd_transfer_respond(transfer, 200, NULL, 0, -1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_transfer_write(transfer, "good", 4), SDD_OK);
    CHECK_STATUS(sdd_transfer_respond(transfer, 200, NULL, 0, -1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) == 4 && memcmp(sdd_bytes_data(r.bytes), "good", 4) == 0);
}

CASE(e10_d27_errors_keep_their_class)
{
    plug p = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    int count = 0;
    OWNED_DOWNLOADER downloader = downloader_with(&p);
    for (sdd_status error = 2999; error <= 3017; error++) {
        int is_class = error >= SDD_ERROR_TRANSPORT && error <= SDD_ERROR_SINK;
        record_clear(&r);
        record_submit(downloader, &r, "archive:error", SDD_OPTION_BYTES_ONLY);
        const char *message = error % 2 ? "The archive is on fire." : NULL;
        CHECK_STATUS(sdd_transfer_finish(started(&p, ++count), error, message), SDD_OK);
        record_wait(&r);
        CHECK_STATUS(r.error, is_class ? error : SDD_ERROR_TRANSPORT);
        CHECK(r.response == NULL && r.http_status == 0);
        if (message) CHECK_TEXT(r.message, message);
    }
    /* The transport fails after a part of the body. */
    record_clear(&r);
    record_submit(downloader, &r, "archive:error", SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_transfer_write(started(&p, ++count), "part", 4), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(started(&p, count), SDD_ERROR_CONNECTION_LOST, NULL), SDD_OK);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_CONNECTION_LOST, 0);
    CHECK(r.http_status == 200 && r.stage == SDD_STAGE_BODY && r.retryable == 1);
    CHECK_EQUAL(p.cancelled, 0);
}

/* The status is checked, and the body of a bad one is not read; 0 is not a status. */
CASE(g8_d27_statuses_are_judged)
{
    plug p = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = downloader_with(&p);
    record_submit(downloader, &r, "archive:missing", SDD_OPTION_BYTES_ONLY);
    sdd_transfer transfer = started(&p, 1);
    CHECK_STATUS(sdd_transfer_respond(transfer, 404, NULL, 0, -1), SDD_OK);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(r.http_status, 404);
    WAIT_UNTIL(&p, p.cancelled == 1);
    CHECK_STATUS(sdd_transfer_write(transfer, "x", 1), SDD_ERROR_NOT_FOUND);
    record_clear(&r);
    record_submit(downloader, &r, "archive:none", SDD_OPTION_BYTES_ONLY);
    transfer = started(&p, 2);
    CHECK_STATUS(sdd_transfer_respond(transfer, 0, NULL, 0, 1), SDD_OK);
    CHECK_STATUS(sdd_transfer_write(transfer, "x", 1), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.http_status == 0 && sdd_response_status(r.response) == 0 && p.cancelled == 1);
}

/* A part is what was asked for with a range, and else an error, as over HTTP. */
CASE(d27_a_part_is_asked_for)
{
    plug p = PLUG_INIT;
    sdd_downloader *downloader = downloader_with(&p);
    OWNED_RECORD r = RECORD_INIT;
    for (int asks = 0; asks < 2; asks++) {
        sdd_download_request request = record_request(&r, "archive:part");
        request.options = SDD_OPTION_BYTES_ONLY;
        request.range = asks ? "0-1" : NULL;
        submit(downloader, &request);
        sdd_transfer transfer = started(&p, asks + 1);
        CHECK_STATUS(sdd_transfer_respond(transfer, 206, NULL, 0, -1), asks ? SDD_OK : SDD_ERROR_PROTOCOL);
        CHECK_STATUS(sdd_transfer_write(transfer, "ab", 2), asks ? SDD_OK : SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), asks ? SDD_OK : SDD_ERROR_NOT_FOUND);
        record_wait(&r);
        CHECK_ENDED(&r, asks ? SDD_OK : SDD_ERROR_PROTOCOL, 0);
        CHECK_EQUAL(r.http_status, 206);
        record_clear(&r);
    }
    destroy(downloader);
    CHECK_EQUAL(p.cancelled, 0);
}

/* ------------------------------------------------------------------------------- limits, cancels */

CASE(x10_d27_cancel_is_called_once)
{
    plug p = PLUG_INIT;
    OWNED_RECORD first = RECORD_INIT, second = RECORD_INIT;
    sdd_downloader *downloader = downloader_with(&p);
    /* `cancel` is called when the last request leaves. */
    sdd_token one = record_submit(downloader, &first, "archive:shared", SDD_OPTION_BYTES_ONLY);
    sdd_token two = record_submit(downloader, &second, "archive:shared", SDD_OPTION_BYTES_ONLY);
    sdd_transfer transfer = started(&p, 1);
    CHECK_STATUS(sdd_cancel(one), SDD_OK);
    record_wait(&first);
    CHECK_STATUS(sdd_transfer_write(transfer, "still wanted", 12), SDD_OK);
    CHECK_EQUAL(p.cancelled, 0);
    CHECK_STATUS(sdd_cancel(two), SDD_OK);
    record_wait(&second);
    CHECK_ENDED(&second, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    WAIT_UNTIL(&p, p.cancelled == 1);
    CHECK_STATUS(sdd_transfer_write(transfer, "x", 1), SDD_ERROR_NOT_FOUND);
    /* `cancel` is called for all running transfers at the end. */
    record_clear(&first);
    record_clear(&second);
    record_submit(downloader, &first, "archive:one", SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &second, "archive:two", SDD_OPTION_BYTES_ONLY);
    WAIT_UNTIL(&p, p.started == 3);
    transfer = p.transfers[2];
    destroy(downloader);
    CHECK(p.cancelled == 3 && p.freed == 1);
    CHECK_ENDED(&first, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    CHECK_STATUS(sdd_transfer_write(transfer, "x", 1), SDD_ERROR_NOT_FOUND);
}

CASE(r2_d27_priorities_are_passed_on)
{
    plug p = PLUG_INIT, plain = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT, joiner = RECORD_INIT;
    sdd_downloader *downloader = downloader_with(&p);
    sdd_download_request request = record_request(&r, "archive:priority");
    request.options = SDD_OPTION_BYTES_ONLY;
    request.priority = SDD_PRIORITY_LOW;
    sdd_token token = submit(downloader, &request);
    sdd_transfer transfer = started(&p, 1);
    CHECK_EQUAL(p.priorities[0], SDD_PRIORITY_LOW);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_VERY_HIGH), SDD_OK);
    WAIT_UNTIL(&p, p.raised == 1 && p.priorities[0] == SDD_PRIORITY_VERY_HIGH);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_LOW), SDD_OK);
    request.priority = SDD_PRIORITY_HIGH;
    request.user_data = &joiner;
    submit(downloader, &request);
    WAIT_UNTIL(&p, p.priorities[0] == SDD_PRIORITY_HIGH);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
    record_wait(&r);
    record_wait(&joiner);

    /* Without set_priority the change is not reported. */
    sdd_transport transport = transport_of("plain", &plain);
    transport.set_priority = NULL;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    record_clear(&r);
    record_clear(&joiner);
    token = record_submit(downloader, &r, "plain:priority", SDD_OPTION_BYTES_ONLY);
    transfer = started(&plain, 1);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_VERY_HIGH), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    destroy(downloader);
    CHECK(plain.raised == 0 && plain.freed == 1 && p.freed == 1);
}

/* The functions are called on sdd-net alone, except for transfers that are left at the end. Bytes that end a transfer
   call none. */
CASE(d27_its_functions_are_called_on_sdd_net)
{
    static char piece[100001];
    enum { TOO_LARGE, NOT_WRITABLE, AT_THE_END, WAYS };
    int full = open("/dev/full", O_WRONLY);
    for (int way = 0; way < WAYS; way++) {
        int at_the_end = way == AT_THE_END;
        plug p = PLUG_INIT;
        OWNED_RECORD r = RECORD_INIT;
        sdd_downloader *downloader = downloader_with(&p);
        sdd_download_request request = record_request(&r, "archive:where");
        request.options = SDD_OPTION_BYTES_ONLY;
        request.sink = way == NOT_WRITABLE ? SDD_SINK_FD : 0;
        request.sink_fd = full;
        sdd_token token = submit(downloader, &request);
        sdd_transfer transfer = started(&p, 1);
        CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_HIGH), SDD_OK);
        WAIT_UNTIL(&p, p.raised == 1);
        if (!at_the_end) {
            sdd_status status = way == TOO_LARGE ? SDD_ERROR_BODY_TOO_LARGE : SDD_ERROR_SINK;
            CHECK_STATUS(sdd_transfer_write(transfer, piece, way == TOO_LARGE ? sizeof piece : 5), status);
            record_wait(&r);
            CHECK_ENDED(&r, status, r.detail);
            CHECK_STATUS(sdd_transfer_write(transfer, piece, 1), SDD_ERROR_NOT_FOUND);
        }
        destroy(downloader);
        if (p.elsewhere[0] && !at_the_end) FAIL("called on %s", p.elsewhere);
        CHECK(p.cancelled == at_the_end && p.freed == 1);
    }
    close(full);
}

/* --------------------------------------------------------------------------------------- adding */

static void answer_own_name(plug *p, sdd_transfer transfer, const char *url)
{
    char text[320];
    int length = snprintf(text, sizeof text, "%p %s", (void *)p, url);
    CHECK_STATUS(sdd_transfer_write(transfer, text, (size_t)length), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void check_answered_by(sdd_downloader *downloader, const char *url, plug *p)
{
    char text[320];
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    int length = snprintf(text, sizeof text, "%p %s", (void *)p, url);
    CHECK(sdd_bytes_size(r.bytes) == (size_t)length && memcmp(sdd_bytes_data(r.bytes), text, (size_t)length) == 0);
}

/* A transport may also replace libcurl; of several the last one is asked. Each is freed when the downloader has ended,
   not before. */
CASE(d27_b16_the_last_one_added_is_asked)
{
    plug first = PLUG_INIT, second = PLUG_INIT, web = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    first.answer = second.answer = web.answer = answer_own_name;
    sdd_downloader *downloader = make_downloader(NULL);
    add(downloader, "x-1.a+b", &first);
    check_answered_by(downloader, "x-1.a+b:some", &first);
    add(downloader, "X-1.A+B", &second);
    check_answered_by(downloader, "x-1.a+b:some", &second);
    fetch(downloader, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    CHECK(is_pattern(sdd_bytes_data(r.bytes), 10, "/ok?size=10"));
    add(downloader, "http", &web);
    check_answered_by(downloader, "http://example.org/picture", &web);
    check_answered_by(downloader, "x-1.a+b:some", &second);
    /* The rules for http URLs still apply. */
    fetch(downloader, &r, "http://", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_MALFORMED);
    fetch(downloader, &r, "x-1.a+b:", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_MALFORMED);
    /* A transport belongs to one downloader: others do not know it. */
    fetch(NULL, &r, "x-1.a+b:some", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    fetch(NULL, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(first.freed == 0 && second.freed == 0 && web.freed == 0);
    destroy(downloader);
    CHECK(first.freed == 1 && second.freed == 1 && web.freed == 1);
}

/* ------------------------------------------------------------------------------------------- can_load */

/* The calls of can_load, for all transports of the test. */
static struct { pthread_mutex_t lock; int asked; char url[300]; pthread_t thread; } asked = {
    .lock = PTHREAD_MUTEX_INITIALIZER
};

static void was_asked(const char *url)
{
    pthread_mutex_lock(&asked.lock);
    asked.asked++;
    asked.thread = pthread_self();
    snprintf(asked.url, sizeof asked.url, "%s", url);
    pthread_mutex_unlock(&asked.lock);
}

/* Accepts only URLs of cats. */
static int32_t takes_cats(const char *url, void *user_data)
{
    CHECK(user_data != NULL);
    was_asked(url);
    return strstr(url, "cat") != NULL;
}

/* Any value but 1 means no. */
static int32_t takes_none(const char *url, void *user_data)
{
    (void)user_data;
    was_asked(url);
    return 2;
}

/* No lock is held: can_load may call the library. */
static int32_t calls_back(const char *url, void *user_data)
{
    plug *p = user_data;
    CHECK_STATUS(sdd_set_header(p->downloader, "X-Test", "from can_load"), SDD_OK);
    CHECK(transfers_of(p->downloader) >= 0);
    return takes_cats(url, user_data);
}

static void add_deciding(
    sdd_downloader *downloader, const char *scheme, plug *p, int32_t (*can_load)(const char *, void *))
{
    sdd_transport transport = transport_of(scheme, p);
    transport.can_load = can_load;
    p->answer = answer_own_name;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
}

CASE(m27_b16_can_load_selects_a_transport)
{
    plug all = PLUG_INIT, cats = PLUG_INIT, web = PLUG_INIT, park = PLUG_INIT, none = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    all.answer = answer_own_name;
    add(downloader, "zoo", &all);
    add_deciding(downloader, "zoo", &cats, takes_cats);
    add_deciding(downloader, "zoo", &none, takes_none);
    /* The newest transport is asked first; a URL that it rejects goes to the next. */
    check_answered_by(downloader, "zoo:cat", &cats);
    CHECK_EQUAL(asked.asked, 2);
    CHECK_TEXT(asked.url, "zoo:cat");
    CHECK(pthread_equal(asked.thread, pthread_self()));
    check_answered_by(downloader, "zoo:dog", &all);
    CHECK_EQUAL(asked.asked, 4);
    fetch(downloader, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(asked.asked, 4);
    /* Rejected URLs go to the library if it has their scheme; otherwise they are an error. */
    add_deciding(downloader, "http", &web, takes_cats);
    check_answered_by(downloader, "http://cat.example/", &web);
    fetch(downloader, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    CHECK(is_pattern(sdd_bytes_data(r.bytes), 10, "/ok?size=10"));
    add_deciding(downloader, "park", &park, takes_cats);
    fetch(downloader, &r, "park:dog", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    CHECK_EQUAL(r.stage, SDD_STAGE_SUBMIT);
    CHECK_TEXT(r.url, "park:dog");
    CHECK_EQUAL(asked.asked, 7); /* once for each URL and transport, also where none takes it */
    CHECK_EQUAL(none.started, 0);
    destroy(downloader);
    CHECK(all.freed == 1 && cats.freed == 1 && web.freed == 1 && park.freed == 1 && none.freed == 1);
}

CASE(m27_b16_a_transport_of_any_scheme)
{
    static const char *const others[] = { "dogs:x", "file:///etc/hostname", "javascript:x" };
    plug p = PLUG_INIT, zoo = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    p.downloader = downloader;
    add_deciding(downloader, "*", &p, calls_back);
    check_answered_by(downloader, "http://cat.example/", &p);
    check_answered_by(downloader, "x-zoo:cat", &p);
    check_answered_by(downloader, "file:///cat.png", &p);
    check_answered_by(downloader, "data:,cat", &p);
    fetch(downloader, &r, "data:,dog", SDD_OPTION_BYTES_ONLY);
    CHECK(sdd_bytes_size(r.bytes) == 3 && memcmp(sdd_bytes_data(r.bytes), "dog", 3) == 0);
    fetch(downloader, &r, at("/echo"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "X-Test: from can_load"));
    for (int i = 0; i < 3; i++) {
        fetch(downloader, &r, others[i], SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    }
    fetch(downloader, &r, "no scheme: cat", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_MALFORMED);
    fetch(downloader, &r, "1zoo:cat", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    /* A transport for the scheme itself that is added later is asked first. */
    zoo.answer = answer_own_name;
    add(downloader, "x-zoo", &zoo);
    check_answered_by(downloader, "x-zoo:cat", &zoo);
    destroy(downloader);
    CHECK(p.freed == 1 && zoo.freed == 1);
}

/* A redirect from the network does not lead to a transport: its schemes are only for the application's own URLs. */
CASE(d29_d27_no_redirect_leads_to_a_transport)
{
    plug p = PLUG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    p.answer = answer_own_name;
    OWNED_DOWNLOADER downloader = downloader_with(&p);
    fetch(downloader, &r, at("/redirect?to=archive:secret"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_SCHEME);
    CHECK_EQUAL(p.started, 0);
}

/* -------------------------------------------------------------------------------- many transfers */

static atomic_int ends;

static void count_end(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(result->bytes), 100);
    atomic_fetch_add(&ends, 1);
}

static void start_instantly(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    static const char body[100];
    (void)request, (void)user_data;
    CHECK_STATUS(sdd_transfer_respond(transfer, 200, NULL, 0, sizeof body), SDD_OK);
    CHECK_STATUS(sdd_transfer_write(transfer, body, sizeof body), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void cancel_nothing(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

static void many(int count)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    char url[40];
    transport.scheme = "instant";
    transport.start = start_instantly;
    transport.cancel = cancel_nothing;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    ends = 0;
    for (int i = 0; i < count; i++) {
        snprintf(url, sizeof url, "instant:%d", i);
        CHECK(sdd_download(downloader, url, SDD_OPTION_BYTES_ONLY, NULL, count_end, NULL) != 0);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends, count);
}

CASE(z1_a_hundred_thousand_leave_nothing)
{
    int threads = count_threads(), descriptors = count_descriptors(), count = scaled(100000);
    many(count);
    malloc_trim(0);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    many(count);
    CHECK_NOTHING_LEFT(threads, descriptors);
    malloc_trim(0);
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    /* The allowance is half a byte a request, so none may leave anything. */
    if (after > before + (size_t)count / 2 + 8192) FAIL("%zu bytes, %zu before", after, before);
}

/* A transfer's id identifies its downloader, however many there are, and is not one of its tokens. */
CASE(d27_a_transfer_is_of_its_own_downloader)
{
    plug first = PLUG_INIT, p;
    OWNED_RECORD waits = RECORD_INIT, r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = downloader_with(&first);
    sdd_token token = record_submit(downloader, &waits, "archive:waits", SDD_OPTION_BYTES_ONLY);
    sdd_transfer waiting = started(&first, 1), last = waiting;
    for (int i = 0; i < 70; i++) { /* ids repeat after some 64 downloaders */
        p = (plug)PLUG_INIT;
        sdd_downloader *other = downloader_with(&p);
        sdd_token asked = record_submit(other, &r, i % 2 ? "archive:odd" : "archive:even", SDD_OPTION_BYTES_ONLY);
        sdd_transfer transfer = started(&p, 1);
        CHECK(transfer != last && transfer != waiting && transfer != asked && waiting != token);
        CHECK_STATUS(sdd_cancel(transfer), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_transfer_write(asked, "x", 1), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_transfer_write(transfer, &i, sizeof i), SDD_OK);
        CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(sdd_bytes_size(r.bytes) == sizeof i && memcmp(sdd_bytes_data(r.bytes), &i, sizeof i) == 0);
        record_clear(&r);
        destroy(other);
        CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_ERROR_NOT_FOUND);
        last = transfer;
    }
    CHECK_STATUS(sdd_transfer_finish(waiting, SDD_OK, NULL), SDD_OK);
    record_wait(&waits);
    CHECK_ENDED(&waits, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(waits.bytes), 0);
}

/* --------------------------------------------------------------------------------------- previews */

static sem_t previews;

static void count_preview(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK(image_info(result->image).is_preview);
    CHECK(sem_post(&previews) == 0);
}

/* Sends half of a picture at once. */
static void answer_half(plug *p, sdd_transfer transfer, const char *url)
{
    size_t size;
    uint8_t *bytes = fixture("large/progressive.jpg", &size);
    (void)p, (void)url;
    CHECK_STATUS(sdd_transfer_write(transfer, bytes, size / 2), SDD_OK);
    free(bytes);
}

/* What came before the library asked for previews is shown, although nothing more comes before it was. */
CASE(o1_d27_a_body_is_shown_while_the_transport_is_silent)
{
    CHECK(sem_init(&previews, 0, 0) == 0);
    for (int turn = 1; turn <= scaled(60); turn++) {
        plug p = PLUG_INIT;
        record r = RECORD_INIT;
        size_t size;
        uint8_t *bytes = fixture("large/progressive.jpg", &size);
        p.answer = answer_half;
        sdd_downloader *downloader = downloader_with(&p);
        sdd_download_request request = record_request(&r, "archive:picture");
        request.preview = count_preview;
        submit(downloader, &request);
        take(&previews);
        sdd_transfer transfer = started(&p, 1);
        CHECK_STATUS(sdd_transfer_write(transfer, bytes + size / 2, size - size / 2), SDD_OK);
        CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        record_clear(&r);
        destroy(downloader);
        free(bytes);
        while (sem_trywait(&previews) == 0) {}
    }
    CHECK(sem_destroy(&previews) == 0);
}

int main(void)
{
    start_watchdog();
    destroy(make_downloader(NULL));
    return run_cases();
}

/* HTTP/2 without TLS, to a server that is known to speak it, as frames show it: requests share a connection, and their
   streams have weights (RFC 7540, sections 5.3.2, 6.2, 6.3), when they begin and when they change. The server is a socket
   of this program's that speaks just enough of it. */
#include "record.h"
#include "server.h"

#include <dlfcn.h>
#include <poll.h>

enum { PREFACE = 24, FRAME = 9, HEADERS = 1, PRIORITY = 2, SETTINGS = 4, PING = 6, HAS_PRIORITY = 0x20, IS_PADDED = 8 };

static void read_all(int descriptor, uint8_t *bytes, size_t size)
{
    for (size_t filled = 0; filled < size;) {
        ssize_t count = read(descriptor, bytes + filled, size - filled);
        if (count <= 0) FAIL("the client has gone");
        filled += (size_t)count;
    }
}

static void send_ping(int descriptor)
{
    static const uint8_t ping[FRAME + 8] = { 0, 0, 8, PING, 0, 0, 0, 0, 0 };
    CHECK(write(descriptor, ping, sizeof ping) == sizeof ping);
}

/* Reads frames up to the next that says a weight, 1 to 256, and gives that. libcurl tells a new weight with whatever it
   sends next: each answer to a ping is followed by another ping. */
static int next_weight(int descriptor, int kind)
{
    static uint8_t payload[1 << 16];
    if (kind == PRIORITY) send_ping(descriptor);
    for (;;) {
        uint8_t head[FRAME];
        read_all(descriptor, head, FRAME);
        size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        CHECK(size <= sizeof payload);
        read_all(descriptor, payload, size);
        if (head[3] == PING) send_ping(descriptor);
        if (head[3] != kind) continue;
        const uint8_t *priority = payload;
        if (kind == HEADERS) {
            if (!(head[4] & HAS_PRIORITY)) return 16; /* RFC 7540, section 5.3.5 */
            if (head[4] & IS_PADDED) priority++;
        } else {
            CHECK_EQUAL(head[8], 1); /* the stream */
        }
        return priority[4] + 1;
    }
}

static int listening(int *port)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int listener = loopback_socket(&address, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 32) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    *port = ntohs(address.sin_port);
    return listener;
}

/* Takes a connection, and answers the preface of HTTP/2 (RFC 9113, section 3.4) with settings. */
static int accept_http2(int listener)
{
    static const uint8_t settings[FRAME] = { 0, 0, 0, SETTINGS, 0, 0, 0, 0, 0 };
    uint8_t preface[PREFACE];
    int connection = accept(listener, NULL, NULL);
    CHECK(connection >= 0);
    read_all(connection, preface, PREFACE);
    CHECK(memcmp(preface, "PRI * HTTP/2.0\r\n", 16) == 0);
    CHECK(write(connection, settings, FRAME) == FRAME);
    return connection;
}

/* libnghttp2 of Debian 13, 1.64, sends weights; that of sid, 1.70, does not any more, since RFC 9113 has deprecated
   them. */
static int weights_are_sent(void)
{
    typedef struct { int age, version; } information;
    information *(*ask)(int) = NULL;
    *(void **)&ask = dlsym(RTLD_DEFAULT, "nghttp2_version");
    return ask == NULL || ask(0) == NULL || ask(0)->version < 0x014600;
}

CASE(x17_a_stream_has_the_weight_of_its_priority)
{
    if (!weights_are_sent()) {
        puts("skip weights of streams: libnghttp2 sends none");
        return;
    }
    static const struct { int32_t priority; int weight; } all[] = {
        { SDD_PRIORITY_VERY_LOW, 2 }, { SDD_PRIORITY_LOW, 8 }, { SDD_PRIORITY_NORMAL, 16 },
        { SDD_PRIORITY_HIGH, 64 }, { SDD_PRIORITY_VERY_HIGH, 256 },
    };
    enum { COUNT = sizeof all / sizeof *all };
    config_groups groups;
    sdd_downloader_config config = config_over(&groups);
    groups.network.http_version = SDD_HTTP_2_PRIOR_KNOWLEDGE;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    int port, listener = listening(&port);
    for (int i = 0; i < COUNT; i++) {
        char url[64];
        OWNED_RECORD r = RECORD_INIT;
        snprintf(url, sizeof url, "http://127.0.0.1:%d/%d", port, i);
        sdd_download_request request = record_request(&r, url);
        request.options = SDD_OPTION_BYTES_ONLY;
        request.priority = all[i].priority;
        sdd_token token = submit(downloader, &request);
        int connection = accept_http2(listener);
        CHECK_EQUAL(next_weight(connection, HEADERS), all[i].weight);
        int other = (i + 2) % COUNT;
        CHECK_STATUS(sdd_set_priority(token, all[other].priority), SDD_OK);
        CHECK_EQUAL(next_weight(connection, PRIORITY), all[other].weight);
        /* A request that only lost its connection would be sent again. */
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&r);
        CHECK(r.error != SDD_OK);
        close(connection);
    }
    close(listener);
}

/* libcurl 7.88 breaks a connection of this sort as soon as it is used a second time (curl's pull request 10643). */
static int connections_are_shared(void) { return libcurl_version() >= 0x080000; }

/* libcurl 8.13 to 8.15 shares no connection before the first response has come. */
static int unanswered_connections_are_shared(void)
{
    return connections_are_shared() && (libcurl_version() < 0x080d00 || libcurl_version() >= 0x081000);
}

static void begin(sdd_downloader *downloader, record *r, int port, int number)
{
    char url[64];
    *r = (record)RECORD_INIT;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%d", port, number);
    sdd_download_request request = record_request(r, url);
    request.options = SDD_OPTION_BYTES_ONLY;
    submit(downloader, &request);
}

/* A burst must wait for its first connection, since others would be opened before that one can be shared. */
CASE(requests_that_begin_together_share_a_connection)
{
    enum { COUNT = 20 };
    config_groups groups;
    sdd_downloader_config config = config_over(&groups);
    groups.network.http_version = SDD_HTTP_2_PRIOR_KNOWLEDGE;
    config.max_concurrent_downloads = config.max_concurrent_per_host = COUNT;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    int port, listener = listening(&port), connections[COUNT];
    int count = unanswered_connections_are_shared() ? 1 : COUNT;
    record all[COUNT];
    for (int i = 0; i < COUNT; i++) begin(downloader, &all[i], port, i);
    for (int i = 0; i < COUNT; i++) {
        if (i < count) connections[i] = accept_http2(listener);
        next_weight(connections[i < count ? i : 0], HEADERS);
    }
    struct pollfd other = { .fd = listener, .events = POLLIN };
    CHECK_EQUAL(poll(&other, 1, 0), 0);
    CHECK_STATUS(sdd_downloader_cancel_all(downloader), SDD_OK);
    for (int i = 0; i < COUNT; i++) {
        record_wait(&all[i]);
        record_clear(&all[i]);
    }
    for (int i = 0; i < count; i++) close(connections[i]);
    close(listener);
}

static void answer_and_wait(int connection, uint8_t stream, record *r)
{
    enum { END_STREAM = 1, END_HEADERS = 4, STATUS_204 = 0x89 };
    const uint8_t answer[FRAME + 1] = { 0, 0, 1, HEADERS, END_STREAM | END_HEADERS, 0, 0, 0, stream, STATUS_204 };
    CHECK(write(connection, answer, sizeof answer) == sizeof answer);
    record_wait(r);
    CHECK_STATUS(r->error, SDD_OK);
    CHECK_EQUAL(r->http_status, 204);
    record_clear(r);
}

/* Reads up to the end of the connection, which must be one of frames. */
static void read_frames(int connection)
{
    uint8_t head[FRAME];
    static uint8_t payload[1 << 14];
    while (read(connection, head, 1) == 1) {
        read_all(connection, head + 1, FRAME - 1);
        size_t size = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        CHECK(size <= sizeof payload);
        read_all(connection, payload, size);
    }
}

CASE(a_second_request_breaks_no_connection)
{
    config_groups groups;
    sdd_downloader_config config = config_over(&groups);
    groups.network.http_version = SDD_HTTP_2_PRIOR_KNOWLEDGE;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    int port, listener = listening(&port);
    record r;
    begin(downloader, &r, port, 1);
    int connection = accept_http2(listener);
    next_weight(connection, HEADERS);
    answer_and_wait(connection, 1, &r);
    begin(downloader, &r, port, 2);
    if (connections_are_shared()) {
        next_weight(connection, HEADERS);
        answer_and_wait(connection, 3, &r);
    } else {
        int other = accept_http2(listener);
        next_weight(other, HEADERS);
        read_frames(connection);
        answer_and_wait(other, 1, &r);
        close(other);
    }
    close(connection);
    close(listener);
}

int main(void) { return run_cases(); }

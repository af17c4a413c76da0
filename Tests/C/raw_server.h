/*
 * raw_server.h - a server inside the test program that writes the raw replies of a table, right or wrong, and counts
 * the requests that it has read. One thread serves all connections, one request at a time.
 *
 *     /good     a good reply; the connection stays open
 *     /raw/N    reply N of the table
 *     /to/N     a redirect to /raw/N; the connection stays open
 *     /drop     no answer: the connection is closed
 *     /first    a good reply to the first request of a connection; later ones are dropped
 *     /among/N  a good reply once N such requests have come, so that there are N connections
 */
#ifndef RAW_SERVER_H
#define RAW_SERVER_H

#include "server.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>

typedef struct raw_reply {
    const char *bytes;
    size_t size;
    int closes; /* the server closes the connection after the reply */
} raw_reply;

enum { RAW_CONNECTIONS = 64, RAW_REQUEST_BYTES = 16384 };

typedef struct raw_connection {
    int descriptor; /* -1 if the slot is free */
    int waits;      /* it waits for other requests of /among/N */
    int requests;   /* so far */
    size_t filled;
    char text[RAW_REQUEST_BYTES];
} raw_connection;

static struct raw_server {
    int listener, port;
    pthread_t thread;
    raw_reply (*reply)(int number);
    int raw_requests; /* requests of /raw/N so far; atomic */
    int dropped;      /* requests of /drop so far; atomic */
    raw_connection connections[RAW_CONNECTIONS];
} raw_server;

static inline void raw_close(raw_connection *c)
{
    shutdown(c->descriptor, SHUT_WR);
    /* If bytes stayed unread, close() would reset the connection and drop the end of the reply. */
    while (recv(c->descriptor, c->text, sizeof c->text, MSG_DONTWAIT) > 0) {}
    close(c->descriptor);
    c->descriptor = -1;
}

/* The client may be gone: it need not read a reply that it rejects. */
static inline void raw_write(raw_connection *c, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = send(c->descriptor, bytes, size, MSG_NOSIGNAL);
        if (count <= 0) return;
        bytes += count;
        size -= (size_t)count;
    }
}

static const char raw_good[] = "HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 4\r\n\r\ngood";

static inline void raw_answer_among(raw_connection *c, int count)
{
    int waiting = 0;
    c->waits = 1;
    for (int i = 0; i < RAW_CONNECTIONS; i++) waiting += raw_server.connections[i].waits;
    for (int i = 0; i < RAW_CONNECTIONS && waiting >= count; i++)
        if (raw_server.connections[i].waits) {
            raw_server.connections[i].waits = 0;
            raw_write(&raw_server.connections[i], raw_good, sizeof raw_good - 1);
        }
}

static inline void raw_answer(raw_connection *c)
{
    char text[200];
    const char *path = strchr(c->text, ' ');
    CHECK(path != NULL);
    path++;
    c->requests++;
    if (strncmp(path, "/raw/", 5) == 0) {
        raw_reply reply = raw_server.reply(atoi(path + 5));
        __atomic_add_fetch(&raw_server.raw_requests, 1, __ATOMIC_SEQ_CST);
        raw_write(c, reply.bytes, reply.size);
        if (reply.closes) raw_close(c);
    } else if (strncmp(path, "/to/", 4) == 0) {
        int length = snprintf(text, sizeof text,
            "HTTP/1.1 302 Found\r\nLocation: /raw/%d\r\nContent-Length: 0\r\n\r\n", atoi(path + 4));
        raw_write(c, text, (size_t)length);
    } else if (strncmp(path, "/among/", 7) == 0) {
        raw_answer_among(c, atoi(path + 7));
    } else if (strncmp(path, "/drop", 5) == 0 || (strncmp(path, "/first", 6) == 0 && c->requests > 1)) {
        __atomic_add_fetch(&raw_server.dropped, 1, __ATOMIC_SEQ_CST);
        raw_close(c);
    } else {
        raw_write(c, raw_good, sizeof raw_good - 1);
    }
}

/* Returns the size of one request's header and body, or 0 while they are incomplete. */
static inline size_t raw_request_size(raw_connection *c)
{
    c->text[c->filled] = 0;
    char *end = strstr(c->text, "\r\n\r\n");
    if (end == NULL) return 0;
    const char *length = strcasestr(c->text, "\r\nContent-Length:");
    size_t size = (size_t)(end + 4 - c->text) + (length && length < end ? strtoul(length + 17, NULL, 10) : 0);
    CHECK(size < sizeof c->text);
    return size <= c->filled ? size : 0;
}

static inline void raw_read(raw_connection *c)
{
    ssize_t count = recv(c->descriptor, c->text + c->filled, sizeof c->text - 1 - c->filled, 0);
    if (count <= 0) return raw_close(c);
    c->filled += (size_t)count;
    for (size_t size; c->descriptor >= 0 && (size = raw_request_size(c)) > 0;) {
        raw_answer(c);
        if (c->descriptor < 0) return;
        memmove(c->text, c->text + size, c->filled - size);
        c->filled -= size;
    }
}

static inline void raw_accept(void)
{
    int descriptor = accept4(raw_server.listener, NULL, NULL, SOCK_CLOEXEC), yes = 1;
    if (descriptor < 0) return;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    for (int i = 0; i < RAW_CONNECTIONS; i++)
        if (raw_server.connections[i].descriptor < 0) {
            raw_server.connections[i].descriptor = descriptor;
            raw_server.connections[i].filled = 0;
            raw_server.connections[i].waits = 0;
            raw_server.connections[i].requests = 0;
            return;
        }
    FAIL("more than %d connections", RAW_CONNECTIONS);
}

static inline void *raw_serve(void *nothing)
{
    struct pollfd waiting[RAW_CONNECTIONS + 1];
    for (;;) {
        for (int i = 0; i < RAW_CONNECTIONS; i++)
            waiting[i] = (struct pollfd){ raw_server.connections[i].descriptor, POLLIN, 0 };
        waiting[RAW_CONNECTIONS] = (struct pollfd){ raw_server.listener, POLLIN, 0 };
        if (poll(waiting, RAW_CONNECTIONS + 1, -1) < 0) continue;
        if (waiting[RAW_CONNECTIONS].revents & (POLLHUP | POLLERR)) return nothing;
        for (int i = 0; i < RAW_CONNECTIONS; i++)
            if (waiting[i].revents) raw_read(&raw_server.connections[i]);
        if (waiting[RAW_CONNECTIONS].revents) raw_accept();
    }
}

static inline void raw_server_start(raw_reply (*reply)(int number))
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    raw_server.reply = reply;
    for (int i = 0; i < RAW_CONNECTIONS; i++) raw_server.connections[i].descriptor = -1;
    raw_server.listener = loopback_socket(&address, 0);
    CHECK(bind(raw_server.listener, (struct sockaddr *)&address, size) == 0);
    CHECK(listen(raw_server.listener, 64) == 0);
    CHECK(getsockname(raw_server.listener, (struct sockaddr *)&address, &size) == 0);
    raw_server.port = ntohs(address.sin_port);
    CHECK(pthread_create(&raw_server.thread, NULL, raw_serve, NULL) == 0);
}

static inline void raw_server_stop(void)
{
    shutdown(raw_server.listener, SHUT_RDWR);
    CHECK(pthread_join(raw_server.thread, NULL) == 0);
    for (int i = 0; i < RAW_CONNECTIONS; i++)
        if (raw_server.connections[i].descriptor >= 0) raw_close(&raw_server.connections[i]);
    close(raw_server.listener);
}

/* Returns a URL on this server, valid until 16 more calls. */
__attribute__((format(printf, 1, 2))) static inline const char *raw_url(const char *format, ...)
{
    static char made[16][128];
    static unsigned turn;
    char *place = made[turn++ % 16];
    int begun = snprintf(place, sizeof made[0], "http://127.0.0.1:%d", raw_server.port);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place + begun, sizeof made[0] - (size_t)begun, format, arguments);
    va_end(arguments);
    return place;
}

static inline int raw_requests(void) { return __atomic_load_n(&raw_server.raw_requests, __ATOMIC_SEQ_CST); }

#endif

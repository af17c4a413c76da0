/*
 * relay - passes TCP connections on 127.0.0.1 to another port, later or more slowly, as a longer path would.
 *
 *     bench-relay PORT TARGET_PORT ROUND_TRIP_MS [BYTES_A_SECOND]
 *
 * Bytes leave half a round trip after they came, in both directions. The first bytes of the client wait for a whole
 * round trip more, because a real client would have waited for the handshake, and here the relay accepts at once. The
 * rate is that of each connection, from server to client. It runs until it gets a signal, or the standard input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 512, CAPACITY = 1 << 20, PIECE = 65536, SLOW_PIECE = 4096 };

/* Bytes that have been read together, and the time at which they leave. */
struct piece {
    struct piece *next;
    double due;
    size_t size, sent;
    uint8_t bytes[];
};

/* One direction of a connection. */
struct direction {
    int from, to, has_ended, is_closed;
    double busy_until; /* when the bytes that were taken so far have left, at the rate */
    size_t held;
    struct piece *first, *last;
};

struct connection {
    struct direction request, response;
    int has_sent;
};

static struct {
    struct sockaddr_in target;
    double half_trip, rate; /* seconds; bytes a second, 0: any */
    struct connection *connections[MOST_CONNECTIONS];
    int count;
} relay;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int can_read(const struct direction *direction)
{
    const size_t most = relay.rate > 0 ? PIECE : CAPACITY;
    return !direction->has_ended && !direction->is_closed && direction->held < most;
}

/* Reads what has arrived. Returns -1 if the connection is broken. */
static int take(struct connection *connection, struct direction *direction, double now)
{
    static uint8_t bytes[PIECE];
    const int is_response = direction == &connection->response, is_slow = is_response && relay.rate > 0;
    const ssize_t size = recv(direction->from, bytes, is_slow ? SLOW_PIECE : PIECE, MSG_DONTWAIT);
    if (size < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (size == 0) {
        direction->has_ended = 1;
        return 0;
    }
    struct piece *piece = malloc(sizeof *piece + (size_t)size);
    if (!piece) fail("bench-relay");
    double due = now + relay.half_trip;
    if (!is_response && !connection->has_sent) {
        connection->has_sent = 1;
        direction->busy_until = due + 2 * relay.half_trip;
    }
    if (due < direction->busy_until) due = direction->busy_until;
    if (is_slow) direction->busy_until = due + (double)size / relay.rate;
    *piece = (struct piece){ .due = due, .size = (size_t)size };
    memcpy(piece->bytes, bytes, (size_t)size);
    if (direction->first)
        direction->last->next = piece;
    else
        direction->first = piece;
    direction->last = piece;
    direction->held += (size_t)size;
    return 0;
}

/* Sends what is due. Returns -1 if the connection is broken. */
static int pass_on(struct direction *direction, double now)
{
    struct piece *piece;
    while ((piece = direction->first) && piece->due <= now) {
        const ssize_t sent = send(direction->to, piece->bytes + piece->sent, piece->size - piece->sent,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
        piece->sent += (size_t)sent;
        direction->held -= (size_t)sent;
        if (piece->sent < piece->size) return 0;
        direction->first = piece->next;
        free(piece);
    }
    if (!piece && direction->has_ended && !direction->is_closed) {
        shutdown(direction->to, SHUT_WR);
        direction->is_closed = 1;
    }
    return 0;
}

static void accept_one(int listener)
{
    const int client = accept(listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct connection *connection = calloc(1, sizeof *connection);
    if (client < 0 || server < 0 || !connection) fail("bench-relay");
    if (connect(server, (struct sockaddr *)&relay.target, sizeof relay.target)) fail("bench-relay: the target");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connection->request.from = connection->response.to = client;
    connection->request.to = connection->response.from = server;
    relay.connections[relay.count++] = connection;
}

static void remove_connection(int index)
{
    struct connection *connection = relay.connections[index];
    close(connection->request.from);
    close(connection->request.to);
    struct direction *directions[] = { &connection->request, &connection->response };
    for (int i = 0; i < 2; i++) {
        for (struct piece *piece; (piece = directions[i]->first); free(piece)) directions[i]->first = piece->next;
    }
    free(connection);
    relay.connections[index] = relay.connections[--relay.count];
}

/* Returns what to wait for at the source of a direction, and notes the time of its next piece. */
static struct pollfd wanted(const struct direction *direction, const struct direction *opposite, double now,
                            double *next)
{
    const struct piece *piece = direction->first;
    if (piece && piece->due > now && piece->due < *next) *next = piece->due;
    short events = can_read(direction) ? POLLIN : 0;
    /* This descriptor is also the one that the opposite direction writes to. */
    if (opposite->first && opposite->first->due <= now) events |= POLLOUT;
    return (struct pollfd){ events ? direction->from : -1, events, 0 };
}

/* Waits for something to do, at most until the next piece is due. */
static void wait_for_work(struct pollfd *polls, int listener)
{
    const double now = seconds();
    double next = now + 60;
    polls[0] = (struct pollfd){ listener, relay.count < MOST_CONNECTIONS ? POLLIN : 0, 0 };
    polls[1] = (struct pollfd){ STDIN_FILENO, POLLIN, 0 };
    for (int i = 0; i < relay.count; i++) {
        struct connection *connection = relay.connections[i];
        polls[2 + 2 * i] = wanted(&connection->request, &connection->response, now, &next);
        polls[3 + 2 * i] = wanted(&connection->response, &connection->request, now, &next);
    }
    const double left = next - now;
    const struct timespec patience = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };
    if (ppoll(polls, (nfds_t)(2 + 2 * relay.count), &patience, NULL) < 0 && errno != EINTR) fail("bench-relay");
}

static int is_over(const struct connection *connection)
{
    return connection->request.is_closed && connection->response.is_closed;
}

/* Does what the last wait has found. Returns -1 if the connection is broken or has ended. */
static int serve(struct connection *connection, const struct pollfd *polls, double now)
{
    const short readable = POLLIN | POLLHUP | POLLERR;
    if (polls[0].revents & readable && can_read(&connection->request) && take(connection, &connection->request, now))
        return -1;
    if (polls[1].revents & readable && can_read(&connection->response) && take(connection, &connection->response, now))
        return -1;
    if (pass_on(&connection->request, now) || pass_on(&connection->response, now)) return -1;
    return is_over(connection) ? -1 : 0;
}

static int listen_on(uint16_t port)
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    const struct sockaddr_in address = { AF_INET, htons(port), { htonl(INADDR_LOOPBACK) }, { 0 } };
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (const struct sockaddr *)&address, sizeof address) || listen(listener, MOST_CONNECTIONS))
        fail("bench-relay: the port");
    return listener;
}

int main(int argc, char **argv)
{
    static struct pollfd polls[2 + 2 * MOST_CONNECTIONS];
    if (argc < 4) return fprintf(stderr, "usage: bench-relay PORT TARGET_PORT ROUND_TRIP_MS [BYTES_A_SECOND]\n"), 2;
    relay.target = (struct sockaddr_in){ AF_INET, htons((uint16_t)atoi(argv[2])), { htonl(INADDR_LOOPBACK) }, { 0 } };
    relay.half_trip = atof(argv[3]) / 2000;
    relay.rate = argc > 4 ? atof(argv[4]) : 0;
    const int listener = listen_on((uint16_t)atoi(argv[1]));
    for (;;) {
        wait_for_work(polls, listener);
        const double now = seconds();
        char byte;
        if (polls[1].revents && read(STDIN_FILENO, &byte, 1) <= 0) return 0;
        const int known = relay.count; /* `polls` has nothing about connections that are accepted now */
        if (polls[0].revents & POLLIN) accept_one(listener);
        for (int i = known - 1; i >= 0; i--) {
            if (serve(relay.connections[i], &polls[2 + 2 * i], now)) remove_connection(i);
        }
    }
}

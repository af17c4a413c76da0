/*
 * paced.h - a picture server in this process, which sends each picture as slowly as its path says, or up to a gate, and
 * records when it last sent something, so that a test can tell a slow library from a slow server.
 *
 *     /png/WIDTH/HEIGHT/MS/PAD/NAME    a black PNG of one bit a pixel, stored without compression, with PAD bytes in a
 *                                      chunk before its pixels; sent in pieces over MS milliseconds
 *     /flat/WIDTH/HEIGHT/MS/PAD/NAME   the same picture, compressed as well as possible
 *     /gate/WIDTH/HEIGHT/MS/PAD/NAME   like /png, but its last third is sent after gate_set(1)
 *     /scans/WIDTH/HEIGHT/MS/PAD/NAME  like /gate, but a grey JPEG with a scan for each component
 */
#ifndef PACED_H
#define PACED_H

#include "jpeg_making.h"
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

/* ------------------------------------------------------------------------------------ pictures */

typedef struct encoded {
    uint8_t *bytes;
    size_t size, room;
    uint32_t bits, bit_count; /* bits of the deflate stream that do not fill a byte yet */
} encoded;

static inline void put(encoded *e, const void *bytes, size_t size)
{
    if (e->size + size > e->room) {
        e->room = (e->size + size) * 2;
        e->bytes = realloc(e->bytes, e->room);
    }
    memcpy(e->bytes + e->size, bytes, size);
    e->size += size;
}

static inline void put_byte(encoded *e, int byte)
{
    uint8_t b = (uint8_t)byte;
    put(e, &b, 1);
}

static inline void put_number(encoded *e, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) put_byte(e, (int)(number >> shift));
}

static uint32_t crc_table[256];

static inline void make_crc_table(void)
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t c = n;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        crc_table[n] = c;
    }
}

/* Ends the chunk whose data begins at `start`; its length and type are in front of that. */
static inline void end_chunk(encoded *e, size_t start)
{
    uint32_t crc = 0xffffffffu;
    size_t length = e->size - start;
    for (int i = 0; i < 4; i++) e->bytes[start - 8 + (size_t)i] = (uint8_t)(length >> (24 - 8 * i));
    for (size_t i = start - 4; i < e->size; i++) crc = crc_table[(crc ^ e->bytes[i]) & 0xff] ^ crc >> 8;
    put_number(e, ~crc);
}

static inline size_t begin_chunk(encoded *e, const char *type)
{
    put_number(e, 0);
    put(e, type, 4);
    return e->size;
}

/* Appends bits to a deflate stream, the lowest bit first. */
static inline void put_bits(encoded *e, uint32_t bits, int count)
{
    e->bits |= bits << e->bit_count;
    for (e->bit_count += (uint32_t)count; e->bit_count >= 8; e->bit_count -= 8, e->bits >>= 8) put_byte(e, (int)(e->bits & 0xff));
}

/* Appends `size` zero bytes in fixed codes (RFC 1951 section 3.2.6): one literal, then copies of the 258 bytes
   before. */
static inline void put_zeros_packed(encoded *e, size_t size)
{
    put_bits(e, 1 | 1 << 1, 3);
    put_bits(e, 0x0c, 8); /* the literal 0 is 00110000, from its highest bit on */
    size_t left = size - 1;
    for (; left >= 258; left -= 258) put_bits(e, 0xa3, 8), put_bits(e, 0, 5); /* length 285 is 11000101, distance 1 */
    for (; left > 0; left--) put_bits(e, 0x0c, 8);
    put_bits(e, 0, 7);
    if (e->bit_count) put_bits(e, 0, 8 - (int)e->bit_count);
}

static inline void put_zeros_stored(encoded *e, size_t size)
{
    static const uint8_t zeros[65535];
    while (size > 0) {
        size_t part = size < sizeof zeros ? size : sizeof zeros;
        size -= part;
        put_byte(e, size == 0);
        put_byte(e, (int)(part & 0xff)), put_byte(e, (int)(part >> 8));
        put_byte(e, (int)(~part & 0xff)), put_byte(e, (int)(~part >> 8 & 0xff));
        put(e, zeros, part);
    }
}

/* Makes a black PNG of one bit a pixel. */
static inline encoded make_png(int width, int height, size_t pad, int is_packed)
{
    encoded e = { 0 };
    put(&e, "\x89PNG\r\n\x1a\n", 8);
    size_t chunk = begin_chunk(&e, "IHDR");
    put_number(&e, (uint32_t)width), put_number(&e, (uint32_t)height);
    put(&e, "\1\0\0\0", 5);
    end_chunk(&e, chunk);
    if (pad > 0) {
        uint8_t *filling = calloc(1, pad);
        chunk = begin_chunk(&e, "paDd");
        put(&e, filling, pad);
        end_chunk(&e, chunk);
        free(filling);
    }
    chunk = begin_chunk(&e, "IDAT");
    put(&e, "\x78\x01", 2);
    size_t size = (size_t)height * (1 + ((size_t)width + 7) / 8);
    if (is_packed)
        put_zeros_packed(&e, size);
    else
        put_zeros_stored(&e, size);
    put_number(&e, (uint32_t)(size % 65521) << 16 | 1); /* Adler-32 of zeros */
    end_chunk(&e, chunk);
    end_chunk(&e, begin_chunk(&e, "IEND"));
    return e;
}

/* -------------------------------------------------------------------------------------- the server */

static struct {
    int listener, port;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int is_open, connections; /* state of the gate; number of threads */
    int held;                 /* bodies that wait at the gate */
    long sent;                /* bodies that were sent completely */
    atomic_llong last_sent;   /* milliseconds of the monotonic clock */
} paced = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static inline long long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static inline void gate_set(int is_open)
{
    pthread_mutex_lock(&paced.lock);
    paced.is_open = is_open;
    pthread_cond_broadcast(&paced.changed);
    pthread_mutex_unlock(&paced.lock);
}

static inline int send_all(int connection, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = send(connection, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        atomic_store(&paced.last_sent, milliseconds());
        bytes += count, size -= (size_t)count;
    }
    return 1;
}

/* Waits for so many milliseconds, or until the client closes the connection. */
static inline int passes(int connection, int ms)
{
    struct pollfd watched = { connection, POLLRDHUP, 0 };
    int count = poll(&watched, 1, ms);
    atomic_store(&paced.last_sent, milliseconds());
    return count == 0 || (count < 0 && errno == EINTR);
}

/* Waits until so many bodies wait at the gate. */
static inline void wait_for_held(int count)
{
    pthread_mutex_lock(&paced.lock);
    while (paced.held < count) pthread_cond_wait(&paced.changed, &paced.lock);
    pthread_mutex_unlock(&paced.lock);
}

static inline int send_paced(int connection, const encoded *e, int ms, int is_gated)
{
    enum { PIECES = 12 };
    char head[200];
    int length = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: %zu\r\n\r\n", e->size);
    if (!send_all(connection, (uint8_t *)head, (size_t)length)) return 0;
    for (int piece = 0; piece < PIECES; piece++) {
        size_t from = e->size * (size_t)piece / PIECES, to = e->size * (size_t)(piece + 1) / PIECES;
        if (ms > 0 && !passes(connection, ms / PIECES)) return 0;
        if (is_gated && piece == PIECES * 2 / 3) {
            pthread_mutex_lock(&paced.lock);
            paced.held++;
            pthread_cond_broadcast(&paced.changed);
            while (!paced.is_open) pthread_cond_wait(&paced.changed, &paced.lock);
            paced.held--;
            pthread_mutex_unlock(&paced.lock);
        }
        if (!send_all(connection, e->bytes + from, to - from)) return 0;
    }
    return 1;
}

static inline int serve(int connection)
{
    char text[4096], kind[16];
    size_t filled = 0;
    int width, height, ms;
    size_t pad;
    do {
        ssize_t count = recv(connection, text + filled, sizeof text - 1 - filled, 0);
        if (count <= 0) return 0;
        filled += (size_t)count;
        text[filled] = 0;
    } while (strstr(text, "\r\n\r\n") == NULL);
    if (sscanf(text, "GET /%15[a-z]/%d/%d/%d/%zu/", kind, &width, &height, &ms, &pad) != 5) FAIL("asked for: %s", text);
    int is_jpeg = strcmp(kind, "scans") == 0;
    encoded e = { 0 };
    if (is_jpeg)
        e.bytes = grey_jpeg(width, height, 1, pad, &e.size);
    else
        e = make_png(width, height, pad, strcmp(kind, "flat") == 0);
    int is_sent = send_paced(connection, &e, ms, is_jpeg || strcmp(kind, "gate") == 0);
    free(e.bytes);
    pthread_mutex_lock(&paced.lock);
    paced.sent += is_sent;
    pthread_cond_broadcast(&paced.changed);
    pthread_mutex_unlock(&paced.lock);
    return is_sent;
}

static inline void *connection_thread(void *context)
{
    int connection = (int)(intptr_t)context;
    while (serve(connection)) {}
    close(connection);
    pthread_mutex_lock(&paced.lock);
    paced.connections--;
    pthread_cond_broadcast(&paced.changed);
    pthread_mutex_unlock(&paced.lock);
    return NULL;
}

static inline void *accept_thread(void *context)
{
    (void)context;
    for (int connection; (connection = accept4(paced.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        pthread_t thread;
        pthread_mutex_lock(&paced.lock);
        paced.connections++;
        pthread_mutex_unlock(&paced.lock);
        CHECK(pthread_create(&thread, NULL, connection_thread, (void *)(intptr_t)connection) == 0);
        pthread_detach(thread);
    }
    return NULL;
}

static inline void start_paced(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    make_crc_table();
    paced.listener = loopback_socket(&address, 0);
    CHECK(bind(paced.listener, (struct sockaddr *)&address, size) == 0 && listen(paced.listener, 200) == 0);
    CHECK(getsockname(paced.listener, (struct sockaddr *)&address, &size) == 0);
    paced.port = ntohs(address.sin_port);
    atomic_store(&paced.last_sent, milliseconds());
    CHECK(pthread_create(&paced.thread, NULL, accept_thread, NULL) == 0);
}

/* Waits for the server's threads. Call it when all downloaders are destroyed. */
static inline void stop_paced(void)
{
    shutdown(paced.listener, SHUT_RDWR);
    pthread_join(paced.thread, NULL);
    close(paced.listener);
    pthread_mutex_lock(&paced.lock);
    while (paced.connections > 0) pthread_cond_wait(&paced.changed, &paced.lock);
    pthread_mutex_unlock(&paced.lock);
}

/* Waits until `count` more bodies than `before` have been sent. */
static inline void wait_for_sent(long before, long count)
{
    pthread_mutex_lock(&paced.lock);
    while (paced.sent < before + count) pthread_cond_wait(&paced.changed, &paced.lock);
    pthread_mutex_unlock(&paced.lock);
}

static inline long sent_so_far(void)
{
    pthread_mutex_lock(&paced.lock);
    long sent = paced.sent;
    pthread_mutex_unlock(&paced.lock);
    return sent;
}

/* Returns a URL on this server. Valid until 16 more calls on this thread. */
static inline const char *paced_url(const char *kind, int width, int height, int ms, size_t pad, int name)
{
    static __thread char made[16][160];
    static __thread unsigned turn;
    char *place = made[turn++ % 16];
    snprintf(place, sizeof made[0], "http://127.0.0.1:%d/%s/%d/%d/%d/%zu/%d", paced.port, kind, width, height, ms, pad, name);
    return place;
}

#endif

/* sinks.c - see sinks.h. */
#define _GNU_SOURCE
#include "sinks.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum { MOST_SINKS = 64, CAPACITY = 4096, MOST_BYTES = 2 * CAPACITY };

static struct sink {
    int reading, is_complete;
    struct place place;
    int64_t slow_until;
    size_t count;
    pthread_t reader;
    uint8_t bytes[MOST_BYTES];
} sinks[MOST_SINKS];
static int sink_count;

void begin_sinks(void) { sink_count = 0; }

/* Reads until the library has closed its end. */
static void *read_slowly(void *context)
{
    struct sink *sink = context;
    pthread_setname_np(pthread_self(), "reader");
    sleep_until(sink->slow_until);
    for (;;) {
        struct pollfd entry = { sink->reading, POLLIN, 0 };
        poll(&entry, 1, -1);
        ssize_t size = read(sink->reading, sink->bytes + sink->count, sizeof sink->bytes - sink->count);
        if (size <= 0) break;
        sink->count += (size_t)size;
    }
    close(sink->reading);
    return NULL;
}

struct sink *open_sink(struct chance *chance, int is_quick, int32_t *writing)
{
    static const uint8_t filling[CAPACITY];
    int ends[2];
    if (sink_count == MOST_SINKS || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return NULL;
    struct sink *sink = &sinks[sink_count++];
    memset(sink, 0, sizeof *sink);
    sink->reading = ends[0];
    sink->slow_until = virtual_now() + below(chance, one_in(chance, 4) && !is_quick ? 20000 : 500) * MILLISECOND;
    EXPECT(fcntl(ends[1], F_SETPIPE_SZ, CAPACITY) == CAPACITY && write(ends[1], filling, CAPACITY) == CAPACITY,
           "there is no full pipe");
    *writing = ends[1];
    if (pthread_create(&sink->reader, NULL, read_slowly, sink) == 0) return sink;
    sink->reader = 0;
    close(ends[0]);
    close(ends[1]);
    return NULL;
}

void check_sink(struct sink *sink, int64_t size, const struct place *place)
{
    sink->is_complete = 1;
    sink->place = *place;
    tell("%d bytes have gone into a pipe", (int)size);
}

void end_sinks(void)
{
    for (int i = 0; i < sink_count; i++) {
        struct sink *sink = &sinks[i];
        if (sink->reader == 0) continue;
        pthread_join(sink->reader, NULL);
        if (!sink->is_complete) continue;
        sdd_bytes *bytes = sdd_bytes_create(sink->bytes + CAPACITY, sink->count - CAPACITY);
        check_bytes(bytes, &sink->place);
        sdd_bytes_release(bytes);
    }
}

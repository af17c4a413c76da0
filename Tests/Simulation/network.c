/* network.c - see network.h. Its own lock is one that the scheduler knows. */
#define _GNU_SOURCE
#include "network.h"

#include <pthread.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fake_curl.h"
#include "report.h"

enum { MOST_TRANSFERS = 4096, MOST_DOWNLOADERS = 4 };

/* How a host answers; the letter is part of the URL. */
static const struct { char letter; const char *name; } tempers[TEMPERS] = {
    { 'o', "that answers" }, { 'h', "that names a validator" }, { 's', "that is slow" }, { 'c', "that is cut off" },
    { 'm', "that is missing" }, { 'r', "that is busy at first" }, { 'l', "with a wrong length" },
    { 'n', "that never comes" }, { 'f', "that goes on after its end" }, { 'u', "that cannot be reached" },
    { 'd', "that pauses in the middle" }, { 'b', "that is busy, then gone or silent" },
};

struct transfer {
    sdd_transfer id;
    int downloader, is_live;
    int is_inside; /* `start` answers, and not the thread */
    int is_told; /* the library is being told something, which may end it */
    struct place place;
    char validator[16];
    size_t sent;
    int64_t first; /* of the bytes that are wanted */
    int64_t next; /* when something happens; -1: never */
    int has_head;
    struct easy *easy; /* of libcurl, in place of `id` */
};

static struct transfer transfers[MOST_TRANSFERS];
static int count;
static struct chance chance;
static int is_calm, is_quiet_network, ends;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct { int most, most_per_host; int64_t background_since; } users[MOST_DOWNLOADERS];

/* ---- URLs */

void write_url(char *out, size_t size, const struct place *place)
{
    snprintf(out, size, "http://host%d.example/%c/%d", place->host, place->temper, place->picture);
}

struct place read_url(const char *url)
{
    struct place place = { 0, 0, 'o' };
    if (sscanf(url, "http://host%d.example/%c/%d", &place.host, &place.temper, &place.picture) != 3)
        WRONG("the transport is asked for %s", url);
    return place;
}

const char *temper_name(char temper)
{
    for (int i = 0; i < TEMPERS; i++)
        if (tempers[i].letter == temper) return tempers[i].name;
    return "";
}

/* ---- answers */

static int64_t soon(void)
{
    if (is_calm || is_quiet_network) return virtual_now() + MILLISECOND;
    return virtual_now() + below(&chance, one_in(&chance, 8) ? 4000 : 60) * MILLISECOND;
}

static void finish(struct transfer *transfer, sdd_status status)
{
    sdd_transfer id = transfer->id;
    struct easy *easy = transfer->easy;
    transfer->is_live = 0;
    transfer->next = -1;
    pthread_mutex_unlock(&lock);
    if (easy) easy_finish(easy, status);
    else sdd_transfer_finish(id, status, NULL);
    pthread_mutex_lock(&lock);
}

static void respond(struct transfer *transfer, int status, const sdd_header *fields, size_t field_count, int64_t size)
{
    sdd_transfer id = transfer->id;
    struct easy *easy = transfer->easy;
    transfer->has_head = transfer->is_told = 1;
    pthread_mutex_unlock(&lock);
    int is_over = easy ? !easy_respond(easy, status, fields, field_count, size)
                       : sdd_transfer_respond(id, status, fields, field_count, size) != SDD_OK;
    pthread_mutex_lock(&lock);
    transfer->is_told = 0;
    if (is_over) transfer->is_live = 0;
}

static void send_some(struct transfer *transfer, size_t most)
{
    const uint8_t *bytes = bodies[transfer->place.picture].bytes + transfer->sent;
    size_t left = bodies[transfer->place.picture].size - transfer->sent, size = left < most ? left : most;
    sdd_transfer id = transfer->id;
    struct easy *easy = transfer->easy;
    transfer->is_told = 1;
    if (easy == NULL) transfer->sent += size; /* an end that the library tells at once may look at it */
    pthread_mutex_unlock(&lock);
    int is_taken = easy ? easy_write(easy, bytes, size) : sdd_transfer_write(id, bytes, size) == SDD_OK;
    pthread_mutex_lock(&lock);
    transfer->is_told = 0;
    int64_t since = users[transfer->downloader].background_since;
    EXPECT(!easy || is_taken <= 0 || since <= 0 || virtual_now() < since + 6 * SECOND,
           "a body goes on in the background, when the time for that is over");
    if (easy && is_taken > 0) transfer->sent += size;
    if (is_taken == 0) transfer->is_live = 0; /* ended by the library: too long, or cancelled */
}

/* An answer without a body. */
static void respond_alone(struct transfer *transfer, int status, const sdd_header *fields, size_t field_count, int64_t size)
{
    respond(transfer, status, fields, field_count, size);
    if (transfer->is_live) finish(transfer, SDD_OK);
}

/* What is missing of a body that was cut off. */
static void send_rest(struct transfer *transfer, const char *tag, int64_t size)
{
    char range[60];
    snprintf(range, sizeof range, "bytes %d-%d/%d", (int)transfer->first, (int)size - 1, (int)size);
    const sdd_header fields[] = { { "ETag", tag }, { "Content-Range", range } };
    transfer->sent = (size_t)transfer->first;
    respond(transfer, 206, fields, 2, size - transfer->first);
}

/* The first step: the header, or what comes in its place. */
static void answer_first(struct transfer *transfer, char temper)
{
    static const sdd_header plain[] = { { "Content-Type", "image/png" } };
    char tag[16];
    int64_t size = (int64_t)bodies[transfer->place.picture].size;
    snprintf(tag, sizeof tag, "\"%d\"", transfer->place.picture);
    const sdd_header named[] = { { "ETag", tag }, { "Cache-Control", transfer->place.picture % 2 ? "max-age=60" : "no-cache" } };
    switch (temper) {
    case 'n': transfer->next = -1; return;
    case 'u': finish(transfer, SDD_ERROR_CONNECT); return;
    case 'm': respond_alone(transfer, 404, NULL, 0, 0); return;
    case 'h':
        if (strcmp(transfer->validator, tag) == 0) respond_alone(transfer, 304, named, 2, -1);
        else if (transfer->first > 0 && transfer->first < size) send_rest(transfer, tag, size);
        else respond(transfer, 200, named, 2, size);
        break;
    case 'r':
        if (one_in(&chance, 2)) respond_alone(transfer, 503, NULL, 0, 0);
        else respond(transfer, 200, plain, 1, size);
        break;
    case 'b': /* once busy, then not there at all, so that the end has no response */
        if (one_in(&chance, 2)) respond_alone(transfer, 503, NULL, 0, 0);
        else if (one_in(&chance, 2)) finish(transfer, SDD_ERROR_CONNECT);
        else transfer->next = -1;
        return;
    case 'l': respond(transfer, 200, plain, 1, size + (transfer->easy || one_in(&chance, 2) ? 7 : -7)); break;
    default: respond(transfer, 200, plain, 1, one_in(&chance, 3) ? -1 : size);
    }
    if (transfer->is_live) transfer->next = soon();
}

/* One more step of an answer. Called with the lock, which is not held while the library is called. */
static void answer(struct transfer *transfer)
{
    char temper = transfer->place.temper;
    size_t size = bodies[transfer->place.picture].size;
    if (is_calm && temper != 'm') temper = temper == 'h' ? 'h' : 'o';
    if (temper != 'o' && temper != 'h') report->network_faults++;
    if (!transfer->has_head) {
        answer_first(transfer, temper);
        return;
    }
    if (temper == 'c' && transfer->sent > size / 2) {
        finish(transfer, SDD_ERROR_CONNECTION_LOST);
        return;
    }
    if (transfer->sent < size) {
        send_some(transfer, temper == 's' ? 1 + size / 8 : temper == 'd' ? 1 + size / 2 : 1 + size / 5 + below(&chance, (uint32_t)size * 2));
        if (!transfer->is_live) return;
        int64_t pause = is_calm ? 0 : temper == 's' ? SECOND : temper == 'd' ? 9 * SECOND : 0;
        transfer->next = pause ? virtual_now() + pause : soon();
        if (transfer->sent < size || one_in(&chance, 2)) return;
    }
    sdd_transfer id = transfer->id;
    finish(transfer, temper == 'l' && transfer->easy ? SDD_ERROR_TRUNCATED_BODY : SDD_OK);
    if (temper != 'f' || transfer->easy) return;
    pthread_mutex_unlock(&lock);
    EXPECT(sdd_transfer_write(id, "more", 4) == SDD_ERROR_NOT_FOUND, "a transfer takes bytes after its end");
    EXPECT(sdd_transfer_finish(id, SDD_OK, NULL) == SDD_ERROR_NOT_FOUND, "a transfer ends twice");
    pthread_mutex_lock(&lock);
}

static struct timespec at(int64_t time) { return (struct timespec){ time / SECOND, time % SECOND }; }

/* The thread of the hosts. */
static void *serve(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "hosts");
    pthread_mutex_lock(&lock);
    while (!ends) {
        struct transfer *next = NULL;
        for (int i = 0; i < count; i++) {
            struct transfer *at = &transfers[i];
            if (!at->is_live || at->is_inside || at->easy || at->next < 0) continue;
            if (next == NULL || at->next < next->next) next = at;
        }
        if (next && next->next <= virtual_now()) {
            answer(next);
        } else if (next) {
            struct timespec until = at(next->next);
            pthread_cond_timedwait(&changed, &lock, &until);
        } else {
            pthread_cond_wait(&changed, &lock);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- the transport; its functions run on sdd-net */

static struct transfer *live_transfer(sdd_transfer id)
{
    for (int i = count - 1; i >= 0; i--)
        if (transfers[i].id == id && transfers[i].is_live) return &transfers[i];
    return NULL;
}

static void check_limits(const struct transfer *added)
{
    int all = 0, of_host = 0, most = users[added->downloader].most, most_per_host = users[added->downloader].most_per_host;
    for (int i = 0; i < count; i++) {
        if (!transfers[i].is_live || transfers[i].is_told || transfers[i].downloader != added->downloader) continue;
        all++;
        of_host += transfers[i].place.host == added->place.host;
    }
    EXPECT(all <= most, "%d transfers at a time, and %d are allowed", all, most);
    EXPECT(of_host <= most_per_host, "%d transfers at a time to a host, and %d are allowed", of_host, most_per_host);
}

/* Called with the lock. */
static struct transfer *begin(const char *url, int downloader)
{
    if (count == MOST_TRANSFERS) found(FOUND_HARNESS, "more than %d transfers", MOST_TRANSFERS);
    struct transfer *transfer = &transfers[count++];
    memset(transfer, 0, sizeof *transfer);
    transfer->downloader = downloader;
    transfer->place = read_url(url);
    transfer->is_live = 1;
    transfer->next = soon();
    report->transfers++;
    tell("the transfer of %s begins", url);
    return transfer;
}

static void read_field(struct transfer *transfer, const char *name, const char *value)
{
    if (strcasecmp(name, "If-None-Match") == 0) snprintf(transfer->validator, sizeof transfer->validator, "%s", value);
    if (strcasecmp(name, "Range") == 0) sscanf(value, "bytes=%" SCNd64, &transfer->first);
}

static void started(sdd_transfer id, const sdd_transfer_request *request, void *user)
{
    pthread_mutex_lock(&lock);
    struct transfer *transfer = begin(request->url, (int)(intptr_t)user);
    transfer->id = id;
    for (size_t i = 0; i < request->header_count; i++) read_field(transfer, request->headers[i].name, request->headers[i].value);
    reached(1, (uint32_t)transfer->place.temper, transfer->validator[0] != 0, 0);
    check_limits(transfer);
    transfer->is_inside = one_in(&chance, 8);
    while (transfer->is_inside && transfer->is_live && transfer->next >= 0) answer(transfer);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void cancelled(sdd_transfer id, void *user)
{
    (void)user;
    pthread_mutex_lock(&lock);
    struct transfer *transfer = live_transfer(id);
    if (transfer) {
        transfer->is_live = 0;
        tell("the transfer of picture %d is cancelled", transfer->place.picture);
        reached(2, transfer->has_head != 0, transfer->sent > 0, 0);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- transfers of libcurl: they are answered on sdd-net, when it has slept until then */

void begin_by_curl(struct easy *easy, int downloader, const char *url, const struct curl_slist *fields)
{
    pthread_mutex_lock(&lock);
    struct transfer *transfer = begin(url, downloader);
    transfer->easy = easy;
    for (; fields; fields = fields->next) {
        char name[40], value[100];
        if (sscanf(fields->data, "%39[^:]: %99[^\n]", name, value) == 2) read_field(transfer, name, value);
    }
    reached(2, (uint32_t)transfer->place.temper, transfer->validator[0] != 0, transfer->first > 0);
    check_limits(transfer);
    pthread_mutex_unlock(&lock);
}

int64_t next_by_curl(const void *multi)
{
    int64_t next = -1;
    for (int i = 0; i < count; i++) {
        const struct transfer *transfer = &transfers[i];
        if (!transfer->is_live || !transfer->easy || multi_of(transfer->easy) != multi || is_paused(transfer->easy)) continue;
        if (transfer->next >= 0 && (next < 0 || transfer->next < next)) next = transfer->next;
    }
    return next;
}

void answer_by_curl(const void *multi)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct transfer *transfer = &transfers[i];
        if (!transfer->is_live || !transfer->easy || multi_of(transfer->easy) != multi) continue;
        while (transfer->is_live && !is_paused(transfer->easy) && transfer->next >= 0 && transfer->next <= virtual_now())
            answer(transfer);
    }
    pthread_mutex_unlock(&lock);
}

void end_by_curl(const struct easy *easy)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        if (transfers[i].easy == easy && transfers[i].is_live) transfers[i].is_live = 0;
    pthread_mutex_unlock(&lock);
}

/* ---- what a downloader has of it */

void put_in_background(int number, int64_t since) { users[number].background_since = since; }

void set_limits(int number, int most, int most_per_host)
{
    users[number].background_since = 0;
    users[number].most = most;
    users[number].most_per_host = most_per_host;
}

void add_transport(sdd_downloader *downloader, int number)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "http";
    transport.start = started;
    transport.cancel = cancelled;
    transport.user_data = (void *)(intptr_t)number;
    EXPECT(sdd_downloader_add_transport(downloader, &transport) == SDD_OK, "a transport is refused");
}

void start_network(uint64_t seed, int is_quiet_one)
{
    pthread_condattr_t attributes;
    chance.state = seed;
    count = is_calm = ends = 0;
    is_quiet_network = draws_at_once = is_quiet_one;
    pthread_mutex_init(&lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_create(&thread, NULL, serve, NULL);
}

void calm_network(void)
{
    pthread_mutex_lock(&lock);
    is_calm = 1;
    for (int i = 0; i < count; i++)
        if (transfers[i].is_live && transfers[i].next > 0) transfers[i].next = virtual_now();
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    look_at_descriptors();
}

void end_network(void)
{
    pthread_mutex_lock(&lock);
    ends = 1;
    for (int i = 0; i < count; i++)
        if (transfers[i].is_live) WRONG("a transfer is live when all downloaders have ended");
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

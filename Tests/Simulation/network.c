/* network.c - see network.h. Its own lock is one that the scheduler knows. */
#define _GNU_SOURCE
#include "network.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* A costly picture is large enough to be shown while it arrives. */
enum { MOST_TRANSFERS = 4096, MOST_DOWNLOADERS = 4, COSTLY_SIZE = 3000 };

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
    int64_t next; /* when something happens; -1: never */
    int has_head;
};

static struct { uint8_t *bytes; size_t size; } bodies[PICTURES];
static struct transfer transfers[MOST_TRANSFERS];
static int count;
static struct chance chance;
static int is_calm, is_quiet_network, ends;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct { int most, most_per_host; } users[MOST_DOWNLOADERS];

/* ---- pictures */

int width_of(int picture) { return FIRST_WIDTH + picture; }
static uint8_t level_of(int picture) { return (uint8_t)(picture * 15 + 7); }
static int is_costly(int picture) { return picture % 4 >= 2; }

void make_pictures(void)
{
    for (int i = 0; i < PICTURES; i++) {
        if (is_costly(i)) {
            bodies[i].size = COSTLY_SIZE;
            bodies[i].bytes = malloc(COSTLY_SIZE);
            memset(bodies[i].bytes, 'a' + i, COSTLY_SIZE);
            memcpy(bodies[i].bytes, "SIM!", 4);
            bodies[i].bytes[4] = (uint8_t)i;
            continue;
        }
        uint8_t pixels[64 * HEIGHT * 3];
        sdd_image *image = NULL;
        sdd_bytes *bytes = NULL;
        sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
        memset(pixels, level_of(i), sizeof pixels);
        options.format = i % 4 == 1 ? SDD_IMAGE_FORMAT_JPEG : SDD_IMAGE_FORMAT_PNG;
        options.quality = 95;
        if (sdd_image_create(width_of(i), HEIGHT, SDD_PIXEL_FORMAT_RGB8, pixels, (size_t)width_of(i) * 3, &image) != SDD_OK
            || sdd_image_encode(image, &options, &bytes) != SDD_OK)
            abort();
        bodies[i].size = sdd_bytes_size(bytes);
        bodies[i].bytes = malloc(bodies[i].size);
        memcpy(bodies[i].bytes, sdd_bytes_data(bytes), bodies[i].size);
        sdd_bytes_release(bytes);
        sdd_image_release(image);
    }
}

void check_picture(sdd_image *image, const struct place *place)
{
    int width = sdd_image_width(image);
    const uint8_t *pixels = sdd_image_pixels(image);
    EXPECT(width > 0 && width <= width_of(place->picture), "picture %d has a width of %d", place->picture, width);
    if (pixels == NULL) return; /* no memory for it, or no time */
    int off = pixels[0] - level_of(place->picture);
    EXPECT(off >= -3 && off <= 3, "picture %d has the pixels of another: %d, and not %d", place->picture, pixels[0],
           level_of(place->picture));
}

void check_bytes(sdd_bytes *bytes, const struct place *place)
{
    EXPECT(sdd_bytes_size(bytes) == bodies[place->picture].size
               && memcmp(sdd_bytes_data(bytes), bodies[place->picture].bytes, bodies[place->picture].size) == 0,
           "the body of picture %d has %zu bytes, and not its own %zu", place->picture, sdd_bytes_size(bytes),
           bodies[place->picture].size);
}

sdd_bytes *body_of(int picture)
{
    sdd_bytes *made = sdd_bytes_create(bodies[picture].bytes, bodies[picture].size);
    EXPECT(made != NULL, "there are no bytes for a body");
    return made;
}

/* ---- a coder whose pictures cost time and memory */

struct decoder { int picture, has_given; size_t fed; uint8_t *pixels; };

static int32_t costly_can_decode(const void *bytes, size_t size, void *unused)
{
    (void)unused;
    if (memcmp(bytes, "SIM!", size < 4 ? size : 4) != 0) return 0;
    return size < 4 ? -1 : 1;
}

static sdd_status costly_open(const sdd_coder_task *task, void **out, void *unused)
{
    (void)task, (void)unused;
    *out = calloc(1, sizeof(struct decoder));
    return SDD_OK;
}

static sdd_status costly_feed(void *given, const void *bytes, size_t size, int32_t is_last, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->fed <= 4 && decoder->fed + size > 4) decoder->picture = ((const uint8_t *)bytes)[4 - decoder->fed] % PICTURES;
    decoder->fed += size;
    return is_last && decoder->fed < COSTLY_SIZE ? SDD_ERROR_INCOMPLETE : SDD_OK;
}

static sdd_status costly_estimate(void *given, sdd_coder_estimate *estimate, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->fed <= 4) return SDD_ERROR_INCOMPLETE;
    estimate->width = width_of(decoder->picture);
    estimate->height = HEIGHT;
    estimate->decode_bytes = (int64_t)(1 + decoder->picture / 4 * 5) << 20;
    return SDD_OK;
}

static void draw(struct decoder *decoder, sdd_coder_frame *frame)
{
    int width = width_of(decoder->picture);
    if (!is_quiet_network) sleep_until(virtual_now() + (1 + decoder->picture * 5) * MILLISECOND);
    free(decoder->pixels);
    decoder->pixels = malloc((size_t)width * HEIGHT * 4);
    memset(decoder->pixels, level_of(decoder->picture), (size_t)width * HEIGHT * 4);
    for (int i = 0; i < width * HEIGHT; i++) decoder->pixels[4 * i + 3] = 255;
    frame->pixels = decoder->pixels;
    frame->stride = (size_t)width * 4;
    frame->width = width;
    frame->height = HEIGHT;
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
}

static sdd_status costly_next(void *given, sdd_coder_frame *frame, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->has_given) return SDD_ERROR_NOT_FOUND;
    if (decoder->fed < COSTLY_SIZE) return SDD_ERROR_INCOMPLETE;
    decoder->has_given = 1;
    draw(decoder, frame);
    return SDD_OK;
}

static sdd_status costly_preview(void *given, sdd_coder_preview *preview, void *unused)
{
    struct decoder *decoder = given;
    (void)unused;
    if (decoder->fed <= 4) return SDD_ERROR_INCOMPLETE;
    preview->good_rows = 1 + (int32_t)(decoder->fed * (HEIGHT - 1) / COSTLY_SIZE);
    draw(decoder, &preview->frame);
    return SDD_OK;
}

static void costly_close(void *given, void *unused)
{
    (void)unused;
    free(((struct decoder *)given)->pixels);
    free(given);
}

const sdd_coder *costly_coder(void)
{
    static sdd_coder coder = SDD_CODER_INIT;
    coder.name = "costly";
    coder.format = SDD_IMAGE_FORMAT_APPLICATION + 3;
    coder.can_decode = costly_can_decode;
    coder.open = costly_open;
    coder.feed = costly_feed;
    coder.estimate = costly_estimate;
    coder.next = costly_next;
    coder.preview = costly_preview;
    coder.close = costly_close;
    return &coder;
}

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
    transfer->is_live = 0;
    transfer->next = -1;
    pthread_mutex_unlock(&lock);
    sdd_transfer_finish(id, status, NULL);
    pthread_mutex_lock(&lock);
}

static void respond(struct transfer *transfer, int status, const sdd_header *fields, size_t field_count, int64_t size)
{
    sdd_transfer id = transfer->id;
    transfer->has_head = transfer->is_told = 1;
    pthread_mutex_unlock(&lock);
    int is_over = sdd_transfer_respond(id, status, fields, field_count, size) != SDD_OK;
    pthread_mutex_lock(&lock);
    transfer->is_told = 0;
    if (is_over) transfer->is_live = 0;
}

static void send_some(struct transfer *transfer, size_t most)
{
    const uint8_t *bytes = bodies[transfer->place.picture].bytes + transfer->sent;
    size_t left = bodies[transfer->place.picture].size - transfer->sent, size = left < most ? left : most;
    sdd_transfer id = transfer->id;
    transfer->sent += size;
    transfer->is_told = 1;
    pthread_mutex_unlock(&lock);
    int is_over = sdd_transfer_write(id, bytes, size) != SDD_OK; /* ended by the library: too long, or cancelled */
    pthread_mutex_lock(&lock);
    transfer->is_told = 0;
    if (is_over) transfer->is_live = 0;
}

/* An answer without a body. */
static void respond_alone(struct transfer *transfer, int status, const sdd_header *fields, size_t field_count, int64_t size)
{
    respond(transfer, status, fields, field_count, size);
    if (transfer->is_live) finish(transfer, SDD_OK);
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
    case 'l': respond(transfer, 200, plain, 1, size + (one_in(&chance, 2) ? 7 : -7)); break;
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
    finish(transfer, SDD_OK);
    if (temper != 'f') return;
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
        for (int i = 0; i < count; i++)
            if (transfers[i].is_live && !transfers[i].is_inside && transfers[i].next >= 0 && (next == NULL || transfers[i].next < next->next)) next = &transfers[i];
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

static void started(sdd_transfer id, const sdd_transfer_request *request, void *user)
{
    pthread_mutex_lock(&lock);
    if (count == MOST_TRANSFERS) found(FOUND_HARNESS, "more than %d transfers", MOST_TRANSFERS);
    struct transfer *transfer = &transfers[count++];
    memset(transfer, 0, sizeof *transfer);
    transfer->id = id;
    transfer->downloader = (int)(intptr_t)user;
    transfer->place = read_url(request->url);
    transfer->is_live = 1;
    for (size_t i = 0; i < request->header_count; i++)
        if (strcmp(request->headers[i].name, "If-None-Match") == 0)
            snprintf(transfer->validator, sizeof transfer->validator, "%s", request->headers[i].value);
    transfer->next = soon();
    report->transfers++;
    tell("the transfer of %s begins", request->url);
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

void add_transport(sdd_downloader *downloader, int number, int most, int most_per_host)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    users[number].most = most;
    users[number].most_per_host = most_per_host;
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
    is_quiet_network = is_quiet_one;
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

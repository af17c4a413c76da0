/* calls.c - see calls.h. Callbacks run on threads of the library's, or where a caller takes the events. */
#define _GNU_SOURCE
#include "calls.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"
#include "report.h"
#include "sinks.h"

/* Longer than any work of a quiet story takes, and shorter than what a lost wake-up takes until something else wakes. */
enum { SOON = 4 };

struct site sites[SITES];
struct place urls[URLS];
struct call calls[MOST_CALLS];
int call_count, is_quiet, is_hoarding, is_away, is_ending, is_storing, is_syncing;
__thread int depth;

static int open_calls;
static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static sdd_image *held_image; /* one picture that the application keeps for longer */

/* ---- what must hold */

static struct call *new_call(enum call_kind kind, int site, struct chance *chance)
{
    if (call_count == MOST_CALLS) return NULL;
    struct call *call = &calls[call_count];
    memset(call, 0, sizeof *call);
    call->number = call_count++;
    call->kind = kind;
    call->site = site;
    call->place = choose_url(chance, site);
    call->chance.state = ((uint64_t)below(chance, UINT32_MAX) << 32) + (uint64_t)call->number;
    call->is_submitting = 1;
    call->submitter = running();
    call->began = virtual_now();
    open_calls++;
    report->calls++;
    return call;
}

static void close_call(void)
{
    pthread_mutex_lock(&room);
    open_calls--;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&room);
}

static void submitted(struct call *call, sdd_token token)
{
    call->is_submitting = 0;
    if (token == 0) {
        EXPECT(!call->completed && !call->freed, "call %d was refused, and had a callback", call->number);
        close_call();
        return;
    }
    call->is_accepted = 1;
    call->token = token;
}

/* Checks that a callback of this call may still come. */
static void hear_any(struct call *call, const char *what)
{
    EXPECT(!call->completed, "%s of call %d came after its end", what, call->number);
    EXPECT(!call->freed, "%s of call %d came after its data were freed", what, call->number);
    EXPECT(!sites[call->site].is_destroyed, "%s of call %d came after its downloader's end", what, call->number);
    if (call->is_submitting && call->submitter == running() && depth == 0)
        WRONG("%s of call %d came inside the submitting call", what, call->number);
}

/* The same for a callback that is not its end. */
static void hear(struct call *call, const char *what)
{
    hear_any(call, what);
    EXPECT(!call->cancelled_inside, "%s of call %d came after a callback had cancelled it", what, call->number);
}

void expect_soon(int64_t began, const char *what, int number)
{
    int64_t took = virtual_now() - began;
    EXPECT(!is_quiet || is_syncing || took < SOON * SECOND, "%s %d takes %d ms, and nothing is slow", what, number, (int)(took / MILLISECOND));
}

void expect_soon_of(const struct site *site, int64_t began, const char *what, int number)
{
    if (!site->is_slow) expect_soon(began, what, number);
}

struct place choose_url(struct chance *chance, int site)
{
    if (is_hoarding) return (struct place){ (int)below(chance, 10 * HOSTS), (int)below(chance, PICTURES), 'h' };
    if (sites[site].is_slow) return urls[URLS - SLOW_URLS + below(chance, SLOW_URLS)];
    return urls[below(chance, is_quiet ? URLS - SLOW_URLS : URLS)];
}

/* A call may end as cancelled before sdd_cancel() has returned. */
static void check_cancelled(const struct call *call)
{
    EXPECT(!call->was_cancelled || !call->completed || call->status == SDD_ERROR_CANCELLED,
           "call %d was cancelled, and ends with %s", call->number, sdd_status_name(call->status));
}

static int cancel(struct call *call)
{
    if (sdd_cancel(call->token) != SDD_OK) return 0;
    call->was_cancelled = 1;
    check_cancelled(call);
    return 1;
}

/* In the background no transfer ends for its silence: those that go on there have three seconds. */
static void check_silence(const struct call *call, const sdd_result *result)
{
    int64_t since = sites[call->site].background_since, time = call->began + result->metrics->total_us * 1000;
    EXPECT(since <= 0 || time < since + 6 * SECOND || result->failure.detail != SDD_DETAIL_TIMEOUT_STALL,
           "call %d has waited too long for its host, and is in the background", call->number);
}

static void ended(struct call *call, sdd_status status)
{
    hear_any(call, "the end");
    expect_soon_of(&sites[call->site], call->began, "call", call->number);
    call->completed = 1;
    tell("call %d ends: %s", call->number, sdd_status_name(status));
    reached(3, (uint32_t)call->kind, (uint32_t)-status, (uint32_t)call->place.temper);
    call->status = status;
    check_cancelled(call);
}

static void freed(void *user_data)
{
    struct call *call = user_data;
    EXPECT(call->completed, "the data of call %d were freed before its end", call->number);
    EXPECT(!call->freed, "the data of call %d were freed twice", call->number);
    EXPECT(!sites[call->site].is_destroyed, "the data of call %d were freed after its downloader's end", call->number);
    call->freed = 1;
    close_call();
}

/* ---- calls inside callbacks */

void get_one(struct chance *chance, int site)
{
    char url[80];
    struct place place = choose_url(chance, site);
    sdd_image *image = NULL;
    write_url(url, sizeof url, &place);
    tell("gets picture %d of host %d, %s, and waits for it", place.picture, place.host, temper_name(place.temper));
    int64_t began = virtual_now();
    sdd_status status = sdd_get(sites[site].downloader, url, 0, one_in(chance, 3) ? (int64_t)below(chance, 3000) : -1, &image, NULL, NULL);
    expect_soon_of(&sites[site], began, "the wait for picture", place.picture);
    tell("has picture %d: %s", place.picture, sdd_status_name(status));
    reached(4, (uint32_t)-status, (uint32_t)place.temper, (uint32_t)depth);
    if (image) check_picture(image, &place);
    sdd_image_release(image);
}

void cancel_one(struct chance *chance)
{
    if (call_count == 0) return;
    struct call *call = &calls[below(chance, (uint32_t)call_count)];
    if (call->token == 0) return;
    tell("cancels call %d", call->number);
    cancel(call);
}

static void interfere(struct call *call, struct chance *chance)
{
    if (depth > 2) return;
    depth++;
    switch (below(chance, 16)) {
    case 0: get_one(chance, call->site); break;
    case 1: cancel_one(chance); break;
    case 2: submit(chance, call->site); break;
    case 3:
        if (call->token && !call->completed) {
            tell("cancels call %d in its own callback", call->number);
            call->cancelled_inside |= cancel(call);
        }
        break;
    case 4: sdd_set_priority(call->token, (sdd_priority)below(chance, 5)); break;
    case 5: if (!is_quiet) sleep_until(virtual_now() + below(chance, 200) * MILLISECOND); break;
    case 6: if (sites[call->site].delivers_itself) sdd_downloader_dispatch(sites[call->site].downloader, 1 + below(chance, 4), NULL); break;
    default: break;
    }
    depth--;
}

/* ---- callbacks */

static void check_result(const struct call *call, const sdd_result *result)
{
    if (result->failure.status != SDD_OK) {
        EXPECT(result->image == NULL && result->bytes == NULL, "call %d failed, and has a picture", call->number);
        EXPECT(result->failure.message[0] != 0, "call %d failed without a sentence", call->number);
        EXPECT(result->failure.status != SDD_ERROR_CONNECT || result->response == NULL,
               "call %d has reached no host, and has a response", call->number);
        EXPECT(result->failure.status != SDD_ERROR_BAD_IMAGE_DATA || strchr("lcf", call->place.temper),
               "call %d has no picture, and its host has sent one", call->number);
        check_silence(call, result);
        return;
    }
    reached(5, (uint32_t)result->origin, (uint32_t)call->kind, (uint32_t)call->place.temper);
    if (call->sink) return check_sink(call->sink, result->metrics->body_bytes, &call->place);
    if (call->wants_bytes) EXPECT(result->bytes && !result->image, "call %d wanted bytes, and has none", call->number);
    else EXPECT(result->image != NULL, "call %d succeeds without a picture", call->number);
    struct place place = call->place;
    if (call->has_own_key && result->image && sdd_image_width(result->image) == width_of(swapped(place.picture)))
        place.picture = swapped(place.picture);
    if (result->image) check_picture(result->image, &place);
    if (call->wants_bytes) check_bytes(result->bytes, &place);
}

static void on_completed(const sdd_result *result, void *user_data)
{
    struct call *call = user_data;
    EXPECT(result->is_terminal, "call %d ends with a result that is no end", call->number);
    check_result(call, result);
    ended(call, result->failure.status);
    if (result->image && one_in(&call->chance, 12)) {
        sdd_image *old = held_image;
        held_image = sdd_image_retain(result->image);
        sdd_image_release(old);
    }
    interfere(call, &call->chance);
}

static void on_cached(const sdd_result *result, void *user_data)
{
    struct call *call = user_data;
    hear(call, "the cached picture");
    check_result(call, result);
    interfere(call, &call->chance);
}

static void on_preview(const sdd_result *result, void *user_data)
{
    struct call *call = user_data;
    hear(call, "a preview");
    EXPECT(!result->is_terminal && result->image, "call %d has a preview without a picture", call->number);
    if (call->place.picture % 4 >= 2) check_picture(result->image, &call->place);
    interfere(call, &call->chance);
}

static void on_facts(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    struct call *call = user_data;
    (void)token;
    hear(call, "the facts");
    int width = width_of(call->place.picture);
    EXPECT(facts->stored_width == width || (call->kind == LOAD && facts->stored_width < width), "call %d is told a width of %d", call->number, (int)facts->stored_width);
    interfere(call, &call->chance);
}

static void on_progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct call *call = user_data;
    (void)url, (void)expected;
    hear(call, "progress");
    EXPECT(received >= 0 && (call->token == 0 || token == call->token), "call %d has progress of another", call->number);
    interfere(call, &call->chance);
}

static void on_list_progress(sdd_token token, size_t finished, size_t skipped, size_t total, void *user_data)
{
    struct call *call = user_data;
    (void)token;
    hear(call, "the progress of the list");
    EXPECT(total == call->listed && finished <= total && skipped <= finished && finished >= call->finished,
           "list %d has progress from %zu to %zu of %zu", call->number, call->finished, finished, total);
    call->finished = finished;
    interfere(call, &call->chance);
}

static void on_each(sdd_token token, size_t index, const sdd_result *result, void *user_data)
{
    struct call *call = user_data;
    (void)token, (void)result;
    hear(call, "an outcome of the list");
    EXPECT(index < call->listed, "list %d tells of number %zu of %zu", call->number, index, call->listed);
    interfere(call, &call->chance);
}

static void on_list(const sdd_prefetch_report *told, void *user_data)
{
    struct call *call = user_data;
    ended(call, told->status);
    EXPECT(told->finished + told->cancelled == told->total && (told->status != SDD_OK || told->finished == told->total),
           "list %d ends, and %zu of %zu have ended, %zu were cancelled", call->number, told->finished, told->total,
           told->cancelled);
    interfere(call, &call->chance);
}

/* ---- submitting */

static sdd_options some_options(struct chance *chance, int is_load)
{
    sdd_options options = 0;
    if (one_in(chance, 4)) options |= SDD_OPTION_USE_HTTP_CACHE;
    if (one_in(chance, 8)) options |= SDD_OPTION_RESUME;
    if (one_in(chance, 8)) options |= SDD_OPTION_AVOID_DECODE_IMAGE;
    if (one_in(chance, 8)) options |= SDD_OPTION_CONTINUE_IN_BACKGROUND;
    if (!is_load) return options;
    if (one_in(chance, 8)) options |= SDD_OPTION_REFRESH_CACHED;
    if (one_in(chance, 8)) options |= SDD_OPTION_FROM_LOADER_ONLY;
    else if (one_in(chance, 10)) options |= SDD_OPTION_FROM_CACHE_ONLY;
    if (!is_hoarding && one_in(chance, 8)) options |= SDD_OPTION_WAIT_STORE_CACHE;
    if (one_in(chance, 8)) options |= SDD_OPTION_RETRY_FAILED;
    return options;
}

static void tell_submitted(const struct call *call, const char *does, sdd_options options, sdd_priority priority)
{
    static const struct { sdd_options bit; const char *name; } names[] = {
        { SDD_OPTION_USE_HTTP_CACHE, "the HTTP cache" }, { SDD_OPTION_RESUME, "resuming" },
        { SDD_OPTION_AVOID_DECODE_IMAGE, "decoding later" }, { SDD_OPTION_REFRESH_CACHED, "refreshing" },
        { SDD_OPTION_FROM_LOADER_ONLY, "no cache" }, { SDD_OPTION_FROM_CACHE_ONLY, "only the cache" },
        { SDD_OPTION_WAIT_STORE_CACHE, "waiting for the disk" }, { SDD_OPTION_RETRY_FAILED, "retrying failed ones" },
        { SDD_OPTION_BYTES_ONLY, "bytes only" }, { SDD_OPTION_CONTINUE_IN_BACKGROUND, "also in the background" },
    };
    char with[300] = "";
    if (!tells_story) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (options & names[i].bit) snprintf(with + strlen(with), sizeof with - strlen(with), ", %s", names[i].name);
    tell("call %d: %s picture %d of host %d, %s, priority %d%s", call->number, does, call->place.picture, call->place.host,
         temper_name(call->place.temper), (int)priority, with);
}

static void submit_download(struct chance *chance, int site)
{
    char url[80];
    struct call *call = new_call(DOWNLOAD, site, chance);
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    if (call == NULL) return;
    write_url(url, sizeof url, &call->place);
    int has_sink = one_in(chance, 16);
    call->wants_bytes = !has_sink && one_in(chance, 6);
    decode.target_width = 4;
    request.url = url;
    request.options = has_sink ? 0 : some_options(chance, 0) | (call->wants_bytes ? SDD_OPTION_BYTES_ONLY : 0);
    request.priority = (sdd_priority)below(chance, 6);
    request.decode = one_in(chance, 4) && !call->wants_bytes && !has_sink ? &decode : NULL;
    request.completed = on_completed;
    request.progress = one_in(chance, 3) ? on_progress : NULL;
    request.preview = one_in(chance, 3) && !call->wants_bytes && !has_sink ? on_preview : NULL;
    request.facts = one_in(chance, 4) && !has_sink ? on_facts : NULL;
    if (has_sink && (call->sink = open_sink(chance, is_quiet, &request.sink_fd))) request.sink = SDD_SINK_FD;
    request.user_data = call;
    request.user_data_free = freed;
    tell_submitted(call, "downloads", request.options, request.priority);
    submitted(call, sdd_downloader_submit(sites[site].downloader, &request));
    if (call->sink) close(request.sink_fd); /* the library has its own */
}

static void submit_load(struct chance *chance, int site, const struct place *place, int has_own_key)
{
    char url[80], key[16];
    struct call *call = new_call(LOAD, site, chance);
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    if (call == NULL) return;
    if (place) call->place = *place;
    write_url(url, sizeof url, &call->place);
    decode.target_width = 4;
    request.url = url;
    request.options = some_options(chance, 1);
    request.priority = (sdd_priority)below(chance, 6);
    call->has_own_key = has_own_key;
    request.decode = one_in(chance, 3) && !call->has_own_key ? &decode : NULL;
    snprintf(key, sizeof key, "swapped-%d", call->place.picture);
    if (call->has_own_key) request.cache_key = key;
    request.completed = on_completed;
    request.progress = one_in(chance, 3) ? on_progress : NULL;
    request.preview = one_in(chance, 4) ? on_preview : NULL;
    request.facts = one_in(chance, 4) && !call->has_own_key ? on_facts : NULL;
    request.cached = request.options & SDD_OPTION_REFRESH_CACHED ? on_cached : NULL;
    request.user_data = call;
    request.user_data_free = freed;
    tell_submitted(call, "loads", request.options, request.priority);
    submitted(call, sdd_loader_submit(sites[site].loader, &request));
}

/* One picture under a key of its own, which gets another picture meanwhile, and then as it is. */
static void load_under_two_keys(struct chance *chance, int site)
{
    struct place place = choose_url(chance, site);
    submit_load(chance, site, &place, 1);
    store_swapped(sites[site].cache, sites[site].downloader, place.picture);
    submit_load(chance, site, &place, 0);
}

static void submit_list(struct chance *chance, int site)
{
    char texts[6][80];
    const char *listed[6];
    struct call *call = new_call(LIST, site, chance);
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    if (call == NULL) return;
    list.count = call->listed = below(chance, 7);
    for (size_t i = 0; i < list.count; i++) {
        struct place place = choose_url(chance, site);
        write_url(texts[i], sizeof texts[i], &place);
        listed[i] = texts[i];
    }
    list.urls = listed;
    list.to = (sdd_prefetch_target)below(chance, 2);
    if (is_hoarding) list.to = SDD_PREFETCH_MEMORY; /* who waits for the disk may queue more */
    list.completed = on_list;
    list.progress = on_list_progress;
    list.each = one_in(chance, 2) ? on_each : NULL;
    list.user_data = call;
    list.user_data_free = freed;
    tell("call %d: prefetches %zu pictures", call->number, list.count);
    submitted(call, sdd_prefetch(sites[site].loader, &list));
}

void submit(struct chance *chance, int site)
{
    switch (below(chance, 5)) {
    case 0: case 1: submit_download(chance, site); break;
    case 2: case 3:
        if (!is_hoarding && one_in(chance, 8)) load_under_two_keys(chance, site);
        else submit_load(chance, site, NULL, one_in(chance, 6));
        break;
    default: submit_list(chance, site); break;
    }
}

/* ---- all calls */

void begin_calls(void)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&room, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    call_count = open_calls = 0;
}

int has_open_calls(void) { return open_calls > 0; }

void await_all_calls(void)
{
    struct timespec until = { (virtual_now() + (is_quiet && !is_syncing ? SOON : 3600) * SECOND) / SECOND, 0 };
    pthread_mutex_lock(&room);
    while (open_calls > 0)
        if (pthread_cond_timedwait(&changed, &room, &until) != 0 && open_calls > 0) {
            char numbers[200] = "";
            for (int i = 0; i < call_count; i++)
                if (calls[i].is_accepted && !calls[i].freed && strlen(numbers) < 150) sprintf(numbers + strlen(numbers), " %d", i);
            WRONG("long after the last fault %d calls have not ended:%s", open_calls, numbers);
        }
    pthread_mutex_unlock(&room);
}

void end_calls(void)
{
    sdd_image_release(held_image);
    held_image = NULL;
}

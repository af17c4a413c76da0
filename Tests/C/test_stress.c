/* Uses everything at once: eight threads and several downloaders, which come and go; every kind of response; joins,
   cancels, priorities, suspending, background, new headers and rules, on any thread. A model knows how each request may
   end. These rules must hold (row Z1 of the contract):

   - each accepted request has one terminal callback, then one user_data_free; nothing comes for a request of a
     downloader whose destruction has returned; no progress comes after the end, nor after a cancel in a callback;
   - the model allows the end, which is a cancelled result if sdd_cancel() succeeded;
   - bodies of successful requests are right;
   - every transfer that is reported as started is also reported as stopped;
   - nothing is left: no thread, no descriptor, no memory.

   This is the simulation's ground (Tests/Simulation), with real sockets, all threads at a time, and the sanitizers.

   SDD_STRESS is the number of requests, and SDD_TEST_SEED repeats a run by its printed seed. */
#include "record.h"
#include "server.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>

enum { THREADS = 8, SLOTS = 4, RECENT = 64 };

/* ---------------------------------------------------------------------------------------- chance */

static uint64_t seed;

/* splitmix64; the index of a turn determines all its choices. */
static uint32_t chance(uint64_t *state, uint32_t below)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

/* --------------------------------------------------------------------------------------- the model */

struct call;

/* One downloader, from its creation to the end of the round, with everything that was ever done to all of its
   requests. */
typedef struct site {
    sdd_downloader *downloader;
    int32_t delivery;
    int drains;
    atomic_int cancels_all, goes_to_background, closes, ends; /* the call has begun */
    atomic_int destroyed;                                     /* the call has returned */
    atomic_long starts, stops;
    _Atomic(struct call *) recent[RECENT];
    pthread_mutex_t drained; /* held while its records are read, if it `drains` */
    int descriptor;          /* its event descriptor, if it `drains` */
    pthread_t taker;
    struct site *next;
} site;

/* One request. */
typedef struct call {
    site *site;
    char target[64]; /* target on the server, after redirects, which seeds the body's pattern; "" for pictures */
    size_t size;
    sdd_status expected; /* unless something happens to it */
    int has_limit, has_modifiers;
    _Atomic(sdd_token) token; /* set when it is known */
    atomic_int may_be_cancelled, was_cancelled, is_silenced;
    atomic_int completed, freed, let_go;
    sdd_status error;
    int32_t detail;
    struct call *next;
} call;

static _Atomic(site *) slots[SLOTS];
static _Atomic(site *) all_sites;
static _Atomic(call *) all_calls;
static atomic_int open_calls, accepted_calls, good_calls, cancelled_calls, joined_calls, made_sites;
static int most_open, threads_before, descriptors_before;
static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;

/* Whether the request may have ended in this way. */
static int is_possible(const call *c, sdd_status error, int32_t detail)
{
    const site *s = c->site;
    switch (detail) {
    case SDD_DETAIL_OPERATION_CLOSED: return s->closes || s->ends;
    case SDD_DETAIL_CANCELLED_BACKGROUND: return s->goes_to_background;
    case SDD_DETAIL_CANCELLED_WAITING:
    case SDD_DETAIL_CANCELLED_SENDING:
    case SDD_DETAIL_CANCELLED_DECODING: return c->may_be_cancelled || s->cancels_all || s->closes || s->ends;
    case SDD_DETAIL_TIMEOUT_TOTAL:
    case SDD_DETAIL_TIMEOUT_QUEUE: return c->has_limit;
    default: return error == c->expected;
    }
}

/* -------------------------------------------------------------------------------------- callbacks */

static void submit_one(site *s, uint64_t *state);
static void end_inside(site *s, uint64_t *state);

static void progressed(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    call *c = user_data;
    uint64_t state = seed ^ token;
    CHECK(c->completed == 0 && !c->site->destroyed && !c->is_silenced);
    CHECK(url != NULL && (expected < 0 || received <= expected));
    if (chance(&state, 50) != 0) return;
    atomic_store(&c->may_be_cancelled, 1);
    if (sdd_cancel(token) != SDD_OK) return;
    CHECK_EQUAL(atomic_fetch_add(&c->was_cancelled, 1), 0);
    atomic_store(&c->is_silenced, 1);
}

static void check_good(const call *c, const sdd_result *result)
{
    atomic_fetch_add(&good_calls, 1);
    if (c->target[0]) {
        CHECK(result->image == NULL);
        CHECK_EQUAL(sdd_bytes_size(result->bytes), c->size);
        if (!is_pattern(sdd_bytes_data(result->bytes), c->size, c->target)) FAIL("wrong bytes from %s", result->url);
    } else {
        CHECK(sdd_image_width(result->image) == 19 && sdd_image_height(result->image) == 13);
    }
}

static void ended(call *c, const sdd_result *result)
{
    check_result(result);
    CHECK(!c->site->destroyed && c->freed == 0);
    CHECK_EQUAL(atomic_fetch_add(&c->completed, 1), 0);
    c->error = result->failure.status;
    c->detail = result->failure.detail;
    if (!is_possible(c, result->failure.status, result->failure.detail))
        FAIL("%s: %s %d, curl %d, errno %d, reused %d, %lld bytes of header: %s", result->url,
             sdd_status_name(result->failure.status), (int)result->failure.detail, (int)result->failure.curl_code,
             (int)result->failure.system_error, (int)result->metrics->connection_reused,
             (long long)result->metrics->response_header_bytes, result->failure.message);
    if (result->failure.status == SDD_ERROR_CANCELLED) atomic_fetch_add(&cancelled_calls, 1);
    if (result->failure.status == SDD_OK) check_good(c, result);
}

static void completed(const sdd_result *result, void *user_data)
{
    call *c = user_data;
    uint64_t state = seed ^ result->token << 20;
    ended(c, result);
    CHECK(sdd_cancel(result->token) != SDD_OK);
    if (chance(&state, 20) == 0) submit_one(c->site, &state);
    if (chance(&state, 5000) == 0) end_inside(c->site, &state);
}

static void freed(void *user_data)
{
    call *c = user_data;
    CHECK(!c->site->destroyed);
    CHECK_EQUAL(c->completed, 1);
    CHECK_EQUAL(atomic_fetch_add(&c->freed, 1), 0);
    pthread_mutex_lock(&room_lock);
    atomic_fetch_sub(&open_calls, 1);
    pthread_cond_broadcast(&room);
    pthread_mutex_unlock(&room_lock);
}

static void observed(const sdd_notice *notice, void *user_data)
{
    site *s = user_data;
    CHECK(!s->destroyed);
    if (notice->kind == SDD_EVENT_START) atomic_fetch_add(&s->starts, 1);
    if (notice->kind == SDD_EVENT_STOP) atomic_fetch_add(&s->stops, 1);
    CHECK(s->stops <= s->starts);
}

static sdd_bytes *same_bytes(sdd_bytes *body, sdd_response *response, void *user_data)
{
    const call *c = user_data;
    CHECK(response != NULL && c->let_go == 0);
    return sdd_bytes_retain(body);
}

static void let_go(void *user_data)
{
    call *c = user_data;
    CHECK_EQUAL(atomic_fetch_add(&c->let_go, 1), 0);
}

/* --------------------------------------------------------------------------------------- requests */

/* Chooses a URL and the expected result. There are few variants of each kind, so that equal requests share. */
static const char *choose(call *c, uint64_t *state, uint64_t *options)
{
    uint32_t kind = chance(state, 100), sort = chance(state, 40);
    c->size = 100 + sort * 997;
    *options |= SDD_OPTION_BYTES_ONLY;
    if (kind < 55) {
        snprintf(c->target, sizeof c->target, "/ok?size=%zu%s", c->size, sort % 3 ? "" : "&framing=chunked");
        return at(c->target);
    }
    if (kind < 65) {
        snprintf(c->target, sizeof c->target, "/ok?size=%zu", c->size);
        return atf("/redirect?to=%s", c->target);
    }
    if (kind < 70) {
        snprintf(c->target, sizeof c->target, "/gzip?size=%zu", c->size);
        return at(c->target);
    }
    if (kind < 80) {
        *options &= ~(uint64_t)SDD_OPTION_BYTES_ONLY;
        return atf("/file/png/rgb8.png?%u", sort % 10);
    }
    c->expected = kind < 86   ? SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE
                  : kind < 90 ? SDD_ERROR_CONNECTION_LOST
                  : kind < 94 ? SDD_ERROR_TRUNCATED_BODY
                  : kind < 96 ? SDD_ERROR_BAD_IMAGE_DATA
                  : kind < 98 ? SDD_ERROR_INVALID_URL
                              : SDD_ERROR_TIMEOUT;
    switch (c->expected) {
    case SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: return atf("/status/404?%u", sort);
    case SDD_ERROR_CONNECTION_LOST: return atf("/reset?%u", sort);
    case SDD_ERROR_TRUNCATED_BODY: return atf("/cut?size=%zu", c->size);
    case SDD_ERROR_BAD_IMAGE_DATA: *options = 0; return at("/html");
    case SDD_ERROR_INVALID_URL: return "nonsense";
    default: c->has_limit = 1; return atf("/silence?%u", sort);
    }
}

static sdd_download_request fill(
    call *c, uint64_t *state, const sdd_modifiers *modifiers, sdd_transfer_options *transfer)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = reset(transfer);
    uint64_t options = chance(state, 3) == 0 ? SDD_OPTION_CONTINUE_IN_BACKGROUND : 0;
    request.url = choose(c, state, &options);
    request.options = options | (c->target[0] && chance(state, 4) == 0 ? SDD_OPTION_HANDLE_COOKIES : 0);
    request.priority = (int32_t)chance(state, 6);
    request.progress = chance(state, 2) ? progressed : NULL;
    request.completed = completed;
    request.user_data = c;
    request.user_data_free = freed;
    if (c->has_limit) transfer->total_timeout_ms = 1 + chance(state, 100);
    if (!c->has_limit && chance(state, 50) == 0) {
        c->has_limit = 1;
        transfer->queue_timeout_ms = 1 + chance(state, 50);
        transfer->total_timeout_ms = 1 + chance(state, 200);
    }
    c->has_modifiers = chance(state, 20) == 0;
    if (c->has_modifiers) transfer->modifiers = modifiers;
    return request;
}

static void submit_one(site *s, uint64_t *state)
{
    call *c = calloc(1, sizeof *c);
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    c->site = s;
    modifiers.body_transform = same_bytes;
    modifiers.user_data = c;
    modifiers.user_data_free = let_go;
    sdd_transfer_options transfer;
    sdd_download_request request = fill(c, state, &modifiers, &transfer);
    c->next = atomic_load(&all_calls);
    while (!atomic_compare_exchange_weak(&all_calls, &c->next, c)) continue;
    atomic_fetch_add(&open_calls, 1);
    sdd_token token = sdd_downloader_submit(s->downloader, &request);
    if (token == 0) {
        /* The downloader is already destroyed. */
        CHECK(sdd_last_error(NULL) == SDD_ERROR_CLOSED && s->ends && c->completed == 0 && c->freed == 0 &&
              c->let_go == 0);
        atomic_store(&c->may_be_cancelled, -1);
        atomic_fetch_sub(&open_calls, 1);
        return;
    }
    atomic_fetch_add(&accepted_calls, 1);
    atomic_store(&c->token, token);
    atomic_store(&s->recent[chance(state, RECENT)], c);
}

/* ------------------------------------------------------------------------------------ downloaders */

/* Takes the events of a downloader with SDD_DELIVERY_APPLICATION by dispatching, until it is destroyed. */
static void *dispatch_events(void *user_data)
{
    site *s = user_data;
    sdd_status status;
    do status = sdd_downloader_wait(s->downloader, NULL, 20, -1, NULL);
    while (status == SDD_OK || status == SDD_ERROR_BUSY);
    CHECK_STATUS(status, SDD_ERROR_CLOSED);
    return NULL;
}

/* Takes the events as records. Borrowed data is valid until another call takes events or destroys the downloader: hence
   the lock. */
static void *drain_events(void *user_data)
{
    site *s = user_data;
    struct pollfd watched = { .fd = s->descriptor, .events = POLLIN };
    sdd_status status;
    do {
        sdd_event events[5] = { SDD_EVENT_INIT, SDD_EVENT_INIT, SDD_EVENT_INIT, SDD_EVENT_INIT, SDD_EVENT_INIT };
        size_t count = 0;
        poll(&watched, 1, 20); /* destroying the downloader does not wake this poll */
        pthread_mutex_lock(&s->drained);
        status = sdd_downloader_drain(s->downloader, events, 5, &count);
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == SDD_EVENT_COMPLETED) ended(events[i].user_data, events[i].result);
            if (events[i].kind >= SDD_EVENT_START) observed(events[i].notice, events[i].user_data);
        }
        pthread_mutex_unlock(&s->drained);
    } while (status == SDD_OK || status == SDD_ERROR_BUSY);
    CHECK_STATUS(status, SDD_ERROR_CLOSED);
    close(s->descriptor);
    return NULL;
}

static site *make_site(uint64_t *state)
{
    site *s = calloc(1, sizeof *s);
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .callbacks = &callbacks };
    s->delivery = (int32_t)chance(state, 2) ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD;
    s->drains = s->delivery == SDD_DELIVERY_APPLICATION && chance(state, 2);
    config.delivery = s->delivery;
    config.max_concurrent_downloads = 2 + (int32_t)chance(state, 30);
    config.max_concurrent_per_host = config.max_concurrent_downloads;
    config.reserved_urgent_slots = (int32_t)chance(state, 2);
    config.execution_order = (int32_t)chance(state, 2);
    config.ageing_ms = chance(state, 2) ? 20 : 0;
    config.decode_threads = 2;
    callbacks.min_progress_fraction = chance(state, 2) ? 0.3 : 0;
    s->downloader = make_downloader(&config);
    if (chance(state, 2)) CHECK_STATUS(sdd_downloader_set_observer(s->downloader, observed, s, NULL), SDD_OK);
    s->next = atomic_load(&all_sites);
    while (!atomic_compare_exchange_weak(&all_sites, &s->next, s)) continue;
    pthread_mutex_init(&s->drained, NULL);
    if (s->drains) s->descriptor = fcntl(sdd_downloader_event_fd(s->downloader), F_DUPFD_CLOEXEC, 0);
    if (s->delivery == SDD_DELIVERY_APPLICATION)
        pthread_create(&s->taker, NULL, s->drains ? drain_events : dispatch_events, s);
    atomic_fetch_add(&made_sites, 1);
    return s;
}

/* Ends a downloader with requests in every state, while other threads use it. Returns whether this call ended it. */
static int end(site *s, uint64_t *state)
{
    uint32_t kind = chance(state, 4);
    if (kind < 2) {
        atomic_store(&s->closes, 1);
        sdd_status status = sdd_downloader_close(s->downloader, kind == 0 ? SDD_CLOSE_CANCEL : SDD_CLOSE_DRAIN);
        CHECK(status == SDD_OK || (status == SDD_ERROR_CLOSED && s->ends));
    }
    /* This may fail, because another thread takes events or ends the downloader. */
    if (kind == 1 && !s->drains) sdd_downloader_idle_wait(s->downloader, chance(state, 20));
    if (atomic_exchange(&s->ends, 1)) return 0; /* another thread ends it */
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(s->downloader, &statistics), SDD_OK);
    atomic_fetch_add(&joined_calls, (int)statistics.requests_joined);
    if (s->drains) pthread_mutex_lock(&s->drained);
    CHECK_STATUS(sdd_downloader_destroy(s->downloader), SDD_OK);
    if (s->drains) pthread_mutex_unlock(&s->drained);
    return 1;
}

/* Puts a new downloader in place of an old one and ends the old one. */
static void replace(int slot, uint64_t *state)
{
    site *old = atomic_exchange(&slots[slot], make_site(state));
    if (end(old, state)) atomic_store(&old->destroyed, 1);
}

/* Replaces a downloader in one of its own callbacks. Ending another one there could wait for one that waits for this
   one. */
static void end_inside(site *s, uint64_t *state)
{
    for (int slot = 0; slot < SLOTS; slot++) {
        if (atomic_load(&slots[slot]) != s) continue;
        site *old = atomic_exchange(&slots[slot], make_site(state));
        if (old != s) return; /* replaced meanwhile: it ends with the round */
        end(s, state);
        return;
    }
}

/* ---------------------------------------------------------------------------------------- actions */

static void let_all_go_on(void)
{
    for (int i = 0; i < SLOTS; i++) {
        site *s = atomic_load(&slots[i]);
        sdd_downloader_resume(s->downloader);
        sdd_downloader_enter_foreground(s->downloader);
    }
}

static void do_to_a_call(site *s, uint64_t *state)
{
    call *c = atomic_load(&s->recent[chance(state, RECENT)]);
    sdd_token token = c ? atomic_load(&c->token) : 0;
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    sdd_response *response = NULL;
    sdd_status status = SDD_OK;
    char url[200];
    switch (c ? chance(state, 5) : 5) {
    case 0:
    case 1:
        atomic_store(&c->may_be_cancelled, 1);
        status = sdd_cancel(token);
        if (status == SDD_OK) CHECK_EQUAL(atomic_fetch_add(&c->was_cancelled, 1), 0);
        break;
    case 2: status = sdd_set_priority(token, 1 + (int32_t)chance(state, 5)); break;
    case 3:
        status = sdd_token_get_info(token, &info);
        if (status == SDD_OK) CHECK(info.state >= 1 && info.state <= 4 && info.effective_priority >= info.priority);
        break;
    case 4:
        status = sdd_token_get_url(token, url, sizeof url, NULL);
        if (sdd_token_get_response(token, &response) == SDD_OK) CHECK(sdd_response_status(response) >= 200);
        sdd_response_release(response);
        break;
    default: break;
    }
    CHECK(status == SDD_OK || status == SDD_ERROR_NOT_FOUND);
}

/* Waits for a request that shares with others. Other threads may suspend or end the downloader meanwhile. */
static void get_one(site *s)
{
    sdd_bytes *bytes = NULL;
    sdd_status status = sdd_get(s->downloader, at("/ok?size=2094"), SDD_OPTION_BYTES_ONLY, 30, NULL, &bytes, NULL);
    CHECK((status == SDD_OK) == (bytes != NULL));
    if (bytes) CHECK(sdd_bytes_size(bytes) == 2094 && is_pattern(sdd_bytes_data(bytes), 2094, "/ok?size=2094"));
    sdd_bytes_release(bytes);
    if (status == SDD_ERROR_INVALID_DOWNLOAD_OPERATION) CHECK(s->closes || s->ends);
    else if (status == SDD_ERROR_CLOSED) CHECK(s->ends);
    else if (status == SDD_ERROR_CANCELLED) CHECK(s->closes || s->ends || s->cancels_all || s->goes_to_background);
    else CHECK(status == SDD_OK || status == SDD_ERROR_TIMEOUT);
}

static void do_to_a_site(site *s, uint64_t *state)
{
    static const char *const values[] = { "one", "two", NULL };
    sdd_statistics t = SDD_STATISTICS_INIT;
    sdd_status status = SDD_OK;
    switch (chance(state, 13)) {
    case 0: status = sdd_downloader_suspend(s->downloader); break;
    case 1:
    case 2: status = sdd_downloader_resume(s->downloader); break;
    case 3:
        atomic_store(&s->goes_to_background, 1);
        status = sdd_downloader_enter_background(s->downloader, (int64_t)chance(state, 5) - 1);
        break;
    case 4:
    case 5: status = sdd_downloader_enter_foreground(s->downloader); break;
    case 6: status = sdd_set_header(s->downloader, "X-Stress", values[chance(state, 3)]); break;
    case 7: status = sdd_downloader_set_max_concurrent_downloads(s->downloader, 1 + (int32_t)chance(state, 30)); break;
    case 8: status = sdd_downloader_set_execution_order(s->downloader, (int32_t)chance(state, 2)); break;
    case 9: status = sdd_downloader_set_max_concurrent_per_host(s->downloader, 1 + (int32_t)chance(state, 30)); break;
    case 10:
        status = sdd_downloader_get_statistics(s->downloader, &t);
        CHECK(t.requests_succeeded + t.requests_failed + t.requests_cancelled <= t.requests);
        CHECK(t.transfers_succeeded <= t.transfers_started && t.waiting >= 0 && t.running >= 0 && t.decoding >= 0);
        break;
    case 11: get_one(s); return;
    default:
        if (chance(state, 20) != 0) break;
        atomic_store(&s->cancels_all, 1);
        status = sdd_downloader_cancel_all(s->downloader);
    }
    CHECK(status == SDD_OK || (status == SDD_ERROR_CLOSED && s->ends));
}

/* Waits until at most so many calls are open, and resumes everything that is suspended. */
static void wait_for_room(int most)
{
    pthread_mutex_lock(&room_lock);
    while (open_calls > most) {
        struct timespec soon;
        pthread_mutex_unlock(&room_lock);
        let_all_go_on();
        pthread_mutex_lock(&room_lock);
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec++;
        if (open_calls > most) pthread_cond_timedwait(&room, &room_lock, &soon);
    }
    pthread_mutex_unlock(&room_lock);
}

static atomic_ullong turn;

static void *act(void *count)
{
    uint64_t state = seed + atomic_fetch_add(&turn, 1) * 1000003;
    for (intptr_t i = 0; i < (intptr_t)count; i++) {
        int slot = (int)chance(&state, SLOTS);
        site *s = atomic_load(&slots[slot]);
        submit_one(s, &state);
        if (chance(&state, 4) == 0) do_to_a_call(s, &state);
        if (chance(&state, 30) == 0) do_to_a_site(s, &state);
        if (chance(&state, 3000) == 0) replace(slot, &state);
        wait_for_room(most_open);
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------- rounds */

/* Checks the state of a call at the end. */
static void check_call(const call *c)
{
    if (c->may_be_cancelled < 0) { /* refused */
        CHECK(c->completed == 0 && c->freed == 0 && c->let_go == 0);
        return;
    }
    CHECK(c->completed == 1 && c->freed == 1);
    CHECK_EQUAL(c->let_go, c->has_modifiers);
    if (c->was_cancelled && (c->error != SDD_ERROR_CANCELLED || c->detail == SDD_DETAIL_CANCELLED_BACKGROUND))
        FAIL("cancelled, and ended with %s %d", sdd_status_name(c->error), (int)c->detail);
}

static void round_of(int requests)
{
    pthread_t threads[THREADS];
    uint64_t state = seed + atomic_fetch_add(&turn, 1) * 1000003;
    all_calls = NULL;
    all_sites = NULL;
    for (int i = 0; i < SLOTS; i++) slots[i] = make_site(&state);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, act, (void *)(intptr_t)(requests / THREADS));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    /* Downloaders end with requests in every state; callbacks may still make others. */
    for (int ended = 0; !ended;) {
        ended = 1;
        for (site *s = atomic_load(&all_sites); s; s = s->next)
            if (!s->ends) end(s, &state), ended = 0;
    }
    wait_for_room(0);
    /* A downloader that a callback destroyed may still be ending; it frees no more user data. */
    for (site *s = all_sites; s; s = s->next)
        if (s->delivery == SDD_DELIVERY_APPLICATION) pthread_join(s->taker, NULL);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    for (site *s = all_sites, *next; s; s = next) {
        next = s->next;
        CHECK_EQUAL(s->starts, s->stops);
        free(s);
    }
    for (call *c = all_calls, *next; c; c = next) {
        next = c->next;
        check_call(c);
        free(c);
    }
}

int main(void)
{
    start_watchdog();
    current_case = "stress";
    const char *given = getenv("SDD_TEST_SEED"), *wanted = getenv("SDD_STRESS");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);

    int requests = wanted ? atoi(wanted) : scaled(40000);
    destroy(make_downloader(NULL)); /* everything that stays from the first thread on is there now */
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    most_open = THREADS * scaled(100);
    round_of(requests / 4);
    malloc_trim(0);
    size_t memory = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < 3; i++) round_of(requests / 4);
    malloc_trim(0);
    size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (now > memory + (256 << 10)) FAIL("%zu bytes more than after the first round (%zu)", now - memory, memory);
    printf("%d requests to %d downloaders, %d joined others, %d good, %d cancelled\n", accepted_calls, made_sites,
           joined_calls, good_calls, cancelled_calls);
    CHECK(good_calls > 0 && cancelled_calls > 0 && joined_calls > 0);
    return 0;
}

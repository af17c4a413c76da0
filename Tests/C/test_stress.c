/* Everything at once: eight threads, four downloaders, every kind of answer, cancels from anywhere. What must
   hold at the end: each accepted request had one terminal callback and one user_data_free, every body that came
   as good was the right one, and nothing is left: no thread, no descriptor, no memory. */
#include "record.h"
#include "server.h"

#include <malloc.h>
#include <stdatomic.h>

enum { THREADS = 8, DOWNLOADERS = 4 };

/* ---------------------------------------------------------------------------------------- chance */

static uint64_t seed;

/* splitmix64: the number of a turn says what happens in it. */
static uint32_t chance(uint64_t *state, uint32_t below)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

/* -------------------------------------------------------------------------------------- requests */

typedef struct call {
    char target[64]; /* on the server, after redirects: what the body's pattern is made of; "" for pictures */
    size_t size;
    sdd_status expected;
    sdd_downloader *downloader;
    atomic_int completed, freed, may_be_cancelled;
    struct call *next;
} call;

static sdd_downloader *downloaders[DOWNLOADERS];
static _Atomic(call *) all_calls;
static atomic_int open_calls, accepted_calls, good_calls, cancelled_calls;
static atomic_int is_ending; /* the downloaders are being destroyed */
static atomic_ullong turn;
static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;

static void submit_one(uint64_t *state, int depth);

static void progressed(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    call *c = user_data;
    uint64_t state = seed ^ token;
    CHECK(c->completed == 0 && url != NULL && (expected < 0 || received <= expected));
    if (chance(&state, 50) != 0) return;
    atomic_store(&c->may_be_cancelled, 1);
    sdd_cancel(c->downloader, token);
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

static void completed(const sdd_result *result, void *user_data)
{
    call *c = user_data;
    uint64_t state = seed ^ result->token << 20;
    CHECK(atomic_fetch_add(&c->completed, 1) == 0 && c->freed == 0);
    check_result(result);
    if (result->error == SDD_ERROR_CANCELLED) {
        CHECK(c->may_be_cancelled || is_ending);
        atomic_fetch_add(&cancelled_calls, 1);
    } else if (result->error != c->expected) {
        FAIL("%s: %s", result->url, result->message);
    } else if (result->error == SDD_OK) {
        check_good(c, result);
    }
    CHECK(sdd_cancel(c->downloader, result->token) != SDD_OK);
    if (chance(&state, 20) == 0) submit_one(&state, 1);
}

static void freed(void *user_data)
{
    call *c = user_data;
    CHECK(c->completed == 1 && atomic_fetch_add(&c->freed, 1) == 0);
    pthread_mutex_lock(&room_lock);
    atomic_fetch_sub(&open_calls, 1);
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&room_lock);
}

/* What is asked for, and what must come of it. Few sorts of each, so that equal requests meet. */
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
                              : SDD_ERROR_CANCELLED;
    switch (c->expected) {
    case SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE: return atf("/status/404?%u", sort);
    case SDD_ERROR_CONNECTION_LOST: return atf("/reset?%u", sort);
    case SDD_ERROR_TRUNCATED_BODY: return atf("/cut?size=%zu", c->size);
    case SDD_ERROR_BAD_IMAGE_DATA: *options = 0; return at("/html");
    case SDD_ERROR_INVALID_URL: return "nonsense";
    default: atomic_store(&c->may_be_cancelled, 1); return atf("/silence?%u", sort);
    }
}

static void submit_one(uint64_t *state, int depth)
{
    call *c = calloc(1, sizeof *c);
    uint64_t options = chance(state, 3) == 0 ? SDD_OPTION_HIGH_PRIORITY : 0;
    c->downloader = downloaders[chance(state, DOWNLOADERS)];
    sdd_request request = SDD_REQUEST_INIT;
    request.url = choose(c, state, &options);
    request.options = options;
    request.progress = chance(state, 2) ? progressed : NULL;
    request.completed = completed;
    request.user_data = c;
    request.user_data_free = freed;
    uint32_t cancels = c->expected == SDD_ERROR_CANCELLED ? 0 : chance(state, 12);
    if (cancels == 0) atomic_store(&c->may_be_cancelled, 1);
    c->next = atomic_load(&all_calls);
    while (!atomic_compare_exchange_weak(&all_calls, &c->next, c)) continue;
    atomic_fetch_add(&open_calls, 1);
    atomic_fetch_add(&accepted_calls, 1);
    sdd_status status;
    sdd_token token = sdd_download_request(c->downloader, &request, &status);
    if (token == 0) {
        /* A callback during the end, of a downloader that is still there to one that is not. */
        CHECK(depth == 1 && status == SDD_ERROR_CLOSED && c->completed == 0);
        atomic_fetch_sub(&accepted_calls, 1);
        atomic_store(&c->completed, 1);
        freed(c);
        return;
    }
    if (cancels == 0) sdd_cancel(c->downloader, token);
    if (chance(state, 500) == 0) sdd_set_max_concurrent_downloads(c->downloader, 1 + (int32_t)chance(state, 30));
}

/* --------------------------------------------------------------------------------------- threads */

static void *submit_many(void *count)
{
    uint64_t state = seed + atomic_fetch_add(&turn, 1) * 1000003;
    int most = THREADS * scaled(100);
    for (intptr_t i = 0; i < (intptr_t)count; i++) {
        submit_one(&state, 0);
        pthread_mutex_lock(&room_lock);
        while (open_calls > most) pthread_cond_wait(&room, &room_lock);
        pthread_mutex_unlock(&room_lock);
    }
    return NULL;
}

/* Takes the events of a host-driven downloader, until it is destroyed. */
static void *take_events(void *downloader)
{
    sdd_status status;
    do status = sdd_wait(downloader, NULL, 20, -1, NULL);
    while (status == SDD_OK || status == SDD_ERROR_BUSY);
    CHECK_STATUS(status, SDD_ERROR_CLOSED);
    return NULL;
}

static void round_of(int requests)
{
    pthread_t submitters[THREADS], takers[DOWNLOADERS];
    all_calls = NULL;
    is_ending = 0;
    for (int i = 0; i < DOWNLOADERS; i++) {
        sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
        config.delivery = i % 2 ? SDD_DELIVERY_HOST : SDD_DELIVERY_THREAD;
        config.max_concurrent_downloads = 2 + 6 * i;
        config.decode_threads = 2;
        downloaders[i] = make_downloader(&config);
        if (i % 2) pthread_create(&takers[i], NULL, take_events, downloaders[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&submitters[i], NULL, submit_many, (void *)(intptr_t)(requests / THREADS));
    for (int i = 0; i < THREADS; i++) pthread_join(submitters[i], NULL);
    /* With requests in every state. */
    is_ending = 1;
    for (int i = 0; i < DOWNLOADERS; i++) destroy(downloaders[i]);
    for (int i = 1; i < DOWNLOADERS; i += 2) pthread_join(takers[i], NULL);
    CHECK_EQUAL(open_calls, 0);
    for (call *c = all_calls, *next; c; c = next) {
        next = c->next;
        CHECK(c->completed == 1 && c->freed == 1);
        free(c);
    }
}

int main(void)
{
    start_watchdog();
    current_case = "stress";
    const char *given = getenv("SDD_TEST_SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);

    int requests = scaled(20000), threads = count_threads(), descriptors = count_descriptors();
    round_of(requests / 4);
    CHECK_NOTHING_LEFT(threads, descriptors);
    malloc_trim(0);
    size_t memory = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < 3; i++) round_of(requests / 4);
    CHECK_NOTHING_LEFT(threads, descriptors);
    size_t now = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (now > memory + (256 << 10)) FAIL("%zu bytes more than after the first round (%zu)", now - memory, memory);
    printf("%d requests, %d good, %d cancelled\n", accepted_calls, good_calls, cancelled_calls);
    CHECK(good_calls > 0 && cancelled_calls > 0);
    return 0;
}

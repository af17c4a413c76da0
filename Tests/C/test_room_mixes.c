/* Memory for decoding in random mixes: sizes, paces of the server, budgets from 8 MiB, decode threads, deliveries,
   calls that block inside callbacks, forms of pixels, previews, cancels and priorities, without any time limit of a
   request. Every request ends. A mix hangs if none of its requests has ended, and its server has sent nothing, for
   longer than any work of the library takes.

   SDD_MIXES is the number of mixes (with SDD_TEST_LONG=1: 4000, less with tools); SDD_TEST_SEED repeats a run by its printed seed. */
#include "record.h"
#include "paced.h"

enum { LANES = 6, MOST = 20 };

static uint64_t seed;

/* splitmix64 */
static uint32_t chance(uint64_t *state, uint32_t below)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

/* One downloader and its requests. */
typedef struct mix {
    uint64_t state; /* used only by the thread that makes the mix */
    uint64_t number;
    sdd_downloader *downloader;
    int is_host, accepted, ended;
    sdd_token tokens[MOST];
    pthread_mutex_t lock;
    pthread_cond_t changed;
} mix;

typedef struct call {
    mix *m;
    int index, width, may_be_cancelled, wants_bytes, is_small;
    atomic_int shown;
} call;

static atomic_llong last_end;
static atomic_int ended_calls, blocked_calls, cancelled_calls, shown_calls, batches;

static void note_end(void)
{
    atomic_store(&last_end, milliseconds());
    atomic_fetch_add(&ended_calls, 1);
}

/* --------------------------------------------------------------------------------------- requests */

static const int sides[] = { 40, 200, 500, 900, 1400 };

/* There are few URLs, so that equal requests share. */
static const char *choose(uint64_t *state, int *width)
{
    int side = sides[chance(state, 5)];
    *width = side;
    size_t pad = chance(state, 4) == 0 ? chance(state, 8) << 18 : 0;
    int ms = chance(state, 2) == 0 ? (int)chance(state, 8) * 25 : 0;
    return paced_url(chance(state, 6) ? "png" : "flat", side, side, ms, pad, (int)chance(state, 6));
}

static void get_one(mix *m, uint64_t *state)
{
    sdd_image *image = NULL;
    int width;
    const char *url = choose(state, &width);
    atomic_fetch_add(&blocked_calls, 1);
    CHECK_STATUS(sdd_get(m->downloader, url, 0, -1, &image, NULL, NULL), SDD_OK);
    CHECK_EQUAL(sdd_image_width(image), width);
    sdd_image_release(image);
    note_end();
}

static void take_a_batch(mix *m, uint64_t *state)
{
    const char *urls[5];
    int widths[5];
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch *batch = NULL;
    for (int i = 0; i < 5; i++) urls[i] = choose(state, &widths[i]);
    config.downloader = m->downloader;
    config.urls = urls;
    config.count = 5;
    config.look_ahead = 1 + (int32_t)chance(state, 5);
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    for (int taken = 0; taken < 5; taken++) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        size_t count = 0;
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
        CHECK_STATUS(item.result->failure.status, SDD_OK);
        CHECK_EQUAL(sdd_image_width(item.result->image), widths[item.index]);
        sdd_result_release(item.result);
        note_end();
    }
    atomic_fetch_add(&batches, 1);
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
}

static void block_sometimes(mix *m, uint64_t *state)
{
    uint32_t kind = chance(state, 12);
    if (kind < 3) get_one(m, state);
    if (kind == 3) take_a_batch(m, state);
}

/* -------------------------------------------------------------------------------------- callbacks */

static void shown(const sdd_result *result, void *user_data)
{
    call *c = user_data;
    uint64_t state = seed ^ result->token << 8;
    CHECK(image_info(result->image).is_preview && image_info(result->image).good_rows >= atomic_load(&c->shown));
    atomic_store(&c->shown, image_info(result->image).good_rows);
    atomic_fetch_add(&shown_calls, 1);
    if (chance(&state, 4) == 0) block_sometimes(c->m, &state);
}

static void check_end(const call *c, const sdd_result *result)
{
    if (result->failure.status == SDD_ERROR_CANCELLED) {
        CHECK(c->may_be_cancelled);
        atomic_fetch_add(&cancelled_calls, 1);
        return;
    }
    if (result->failure.status != SDD_OK)
        FAIL("%s: %s %d: %s", result->url, sdd_status_name(result->failure.status), (int)result->failure.detail,
             result->failure.message);
    if (c->wants_bytes) {
        CHECK(result->bytes != NULL && result->image == NULL);
        return;
    }
    CHECK_EQUAL(sdd_image_width(result->image), c->is_small && c->width > 50 ? 50 : c->width);
    CHECK_EQUAL(image_info(result->image).good_rows, sdd_image_height(result->image));
}

static void completed(const sdd_result *result, void *user_data)
{
    call *c = user_data;
    mix *m = c->m;
    uint64_t state = seed ^ result->token << 20;
    check_end(c, result);
    /* A lazy picture is decoded here, if at all. */
    if (result->image && chance(&state, 2)) CHECK(sdd_image_pixels(result->image) != NULL);
    block_sometimes(m, &state);
    note_end();
    pthread_mutex_lock(&m->lock);
    m->ended++;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    free(c);
}

/* ---------------------------------------------------------------------------------------- one mix */

static void submit_one(mix *m, int index)
{
    call *c = calloc(1, sizeof *c);
    uint64_t *state = &m->state;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    c->m = m;
    c->index = index;
    /* Any request may be the cancelled one: its callback may run before the choice is known. */
    c->may_be_cancelled = 1;
    request.url = choose(state, &c->width);
    request.priority = (int32_t)chance(state, 6);
    uint32_t kind = chance(state, 12);
    if (kind == 0) request.options |= SDD_OPTION_AVOID_DECODE_IMAGE;
    if (kind == 1) request.options |= SDD_OPTION_STOP_WHEN_COMPLETE;
    if (kind == 2) request.options |= SDD_OPTION_BYTES_ONLY, c->wants_bytes = 1;
    if (kind >= 8) request.preview = shown;
    if (kind == 3 || kind == 8) options.target_width = 50, c->is_small = 1;
    if (chance(state, 3) == 0) options.pixel_format = 1 + (int32_t)chance(state, 9);
    request.decode = &options;
    request.completed = completed;
    request.user_data = c;
    m->tokens[index] = sdd_downloader_submit(m->downloader, &request);
    CHECK(m->tokens[index] != 0);
}

static void interfere(mix *m, int count)
{
    for (int turn = 0; turn < 6; turn++) {
        sdd_token token = m->tokens[chance(&m->state, (uint32_t)count)];
        switch (chance(&m->state, 5)) {
        case 0: sdd_cancel(token); break;
        case 1: sdd_set_priority(token, (int32_t)chance(&m->state, 6)); break;
        case 2: CHECK_STATUS(sdd_process_set_decode_memory_limit((8 + (int64_t)chance(&m->state, 60)) << 20), SDD_OK); break;
        case 3: get_one(m, &m->state); break;
        default:
            if (m->is_host) sdd_downloader_dispatch(m->downloader, 1 + chance(&m->state, 4), NULL);
        }
    }
}

static void run_mix(mix *m)
{
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .callbacks = &callbacks };
    config.network = &network;
    config.limits = &limits;
    m->is_host = chance(&m->state, 2) != 0;
    config.delivery = m->is_host ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD;
    config.decode_threads = 1 + (int32_t)chance(&m->state, 8);
    config.max_concurrent_downloads = config.max_concurrent_per_host = 1 + (int32_t)chance(&m->state, 8);
    network.max_connections = chance(&m->state, 4) == 0 ? 1 + (int32_t)chance(&m->state, 3) : 0;
    callbacks.min_preview_interval_ms = -1;
    limits.decode_time_ms = -1;
    limits.low_speed_time_ms = -1;
    limits.download_timeout_ms = INT32_MAX;
    m->downloader = make_downloader(&config);
    CHECK_STATUS(sdd_process_set_decode_memory_limit((8 + (int64_t)chance(&m->state, 60)) << 20), SDD_OK);
    int count = 2 + (int)chance(&m->state, MOST - 2);
    for (int i = 0; i < count; i++) submit_one(m, i);
    interfere(m, count);
    if (m->is_host) CHECK_STATUS(sdd_downloader_idle_wait(m->downloader, -1), SDD_OK);
    pthread_mutex_lock(&m->lock);
    while (m->ended < count) pthread_cond_wait(&m->changed, &m->lock);
    pthread_mutex_unlock(&m->lock);
    destroy(m->downloader);
}

/* ------------------------------------------------------------------------------------------ lanes */

static atomic_int next_mix;
static int lanes_left;
static pthread_mutex_t lanes_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t lanes_changed = PTHREAD_COND_INITIALIZER;
static int mixes;

static void *lane(void *context)
{
    (void)context;
    for (int i; (i = atomic_fetch_add(&next_mix, 1)) < mixes;) {
        mix m = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
        m.number = (uint64_t)i;
        m.state = seed + m.number * 7919;
        run_mix(&m);
    }
    pthread_mutex_lock(&lanes_lock);
    lanes_left--;
    pthread_cond_broadcast(&lanes_changed);
    pthread_mutex_unlock(&lanes_lock);
    return NULL;
}

/* Ends the test if no request has ended, and the server has sent nothing, for longer than any work of the library
   takes. */
static void *look_for_hangs(void *context)
{
    const char *seconds = getenv("SDD_TEST_SECONDS");
    long long longest = (seconds ? atoll(seconds) : 120) * 500;
    (void)context;
    pthread_mutex_lock(&lanes_lock);
    while (lanes_left > 0) {
        struct timespec second;
        clock_gettime(CLOCK_REALTIME, &second);
        second.tv_sec++;
        pthread_cond_timedwait(&lanes_changed, &lanes_lock, &second);
        long long sent = atomic_load(&paced.last_sent), ended = atomic_load(&last_end);
        long long last = sent > ended ? sent : ended;
        if (milliseconds() - last > longest)
            FAIL("a mix hangs: nothing was sent, and nothing ended, for %lld ms. SDD_TEST_SEED=%llu, mixes up to %d",
                 milliseconds() - last, (unsigned long long)seed, atomic_load(&next_mix));
    }
    pthread_mutex_unlock(&lanes_lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[LANES], watcher;
    const char *given = getenv("SDD_TEST_SEED"), *count = getenv("SDD_MIXES");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)milliseconds();
    int is_long = getenv("SDD_TEST_LONG") != NULL;
    mixes = count ? atoi(count) : scaled(is_long ? 4000 : 300);
    current_case = "every request ends";
    printf("SDD_TEST_SEED=%llu, %d mixes\n", (unsigned long long)seed, mixes);
    fflush(stdout);
    start_paced();
    int threads_before = count_threads(), descriptors = count_descriptors();
    atomic_store(&last_end, milliseconds());
    lanes_left = LANES;
    CHECK(pthread_create(&watcher, NULL, look_for_hangs, NULL) == 0);
    for (int i = 0; i < LANES; i++) CHECK(pthread_create(&threads[i], NULL, lane, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < LANES; i++) pthread_join(threads[i], NULL);
    pthread_join(watcher, NULL);
    printf("%d ends, %d calls that blocked, %d batches, %d cancelled, %d previews\n", ended_calls, blocked_calls, batches,
           cancelled_calls, shown_calls);
    CHECK(ended_calls > 0 && blocked_calls > 0);
    CHECK_NOTHING_LEFT(threads_before, descriptors);
    stop_paced();
    return 0;
}

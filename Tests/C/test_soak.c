/* Runs many loads of every kind through one loader for a long time: with eight threads, small caches that are cleared
   meanwhile, rules that change, and cancels at any time. Row Z1 of the contract, for loads:

   - each has one terminal callback, then one user_data_free, in the order that load_model.h defines;
   - pictures come in the requested form, however many loads share a key;
   - at the end no request is running, the downloader's counts add up, and nothing is left;
   - memory does not grow: after the last tenth of the loads, with no request running, it is within 5 % of the value
     after the first tenth.

   Stories of the simulation (Tests/Simulation) are short: here it is the long time that finds something.

   SDD_SOAK is the number of loads; memory is checked from 20,000 on: `make soak`. SDD_TEST_SEED repeats a run by its
   printed seed. */
#include "load_model.h"

#include <malloc.h>

/* From how many loads on the run must have had every kind of end, and its memory is judged. In fewer loads, some kinds
   are missing by chance. */
enum { THREADS = 8, PLACES = 400, KINDS_JUDGED_FROM = 4000, MEMORY_JUDGED_FROM = 20000 };

/* The data of one load, used again and again, so that this program's own memory does not grow. */
typedef struct place {
    tracked tracked;
    uint64_t luck; /* random state of its callbacks */
    long cancels_before;
    _Atomic(sdd_token) token;   /* of the current or last load */
    atomic_int may_be_cancelled; /* a cancel was tried, perhaps for the previous load */
    struct place *next;
} place;

/* A sanitizer's own records make memory grow. */
#if defined(__SANITIZE_ADDRESS__) || HAS_THREAD_SANITIZER
static const int is_our_own_memory = 0;
#else
static const int is_our_own_memory = 1;
#endif

static uint64_t seed;
static long total;
static loader_in_folder l;
static place places[PLACES], *free_places;
static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;
static atomic_long submitted, cancels_begun, cancels_done; /* the last two count all loads */
/* Used only by the delivering thread, until all loads have ended. */
static long good, cancelled, failed, by_origin[SDD_ORIGIN_HTTP_STALE + 1], told_cached, previewed, freed_loads;

static place *take_place(void)
{
    pthread_mutex_lock(&room_lock);
    while (free_places == NULL) pthread_cond_wait(&room, &room_lock);
    place *p = free_places;
    free_places = p->next;
    pthread_mutex_unlock(&room_lock);
    return p;
}

static void give_place(place *p)
{
    pthread_mutex_lock(&room_lock);
    p->next = free_places;
    free_places = p;
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&room_lock);
}

/* ---------------------------------------------------------------------------------------- memory */

static double resident[10], allocated[10]; /* KB, after each tenth of the loads */

/* Measures the process's resident memory when nothing is running, and what malloc has handed out of it. */
static void sample_memory(int tenth)
{
    char line[200];
    CHECK_STATUS(sdd_downloader_set_min_host_interval(l.downloader, 0), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    malloc_trim(0); /* excludes what glibc keeps for later */
    struct mallinfo2 heap = mallinfo2();
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL) FAIL("there is no /proc/self/smaps_rollup");
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "Rss:", 4) == 0) resident[tenth] = (double)atol(line + 4);
    fclose(file);
    allocated[tenth] = (double)(heap.uordblks + heap.hblkhd) / 1024;
}

static void print_tenths(const char *what, double *tenths)
{
    printf("MB %s, after each tenth of the loads:", what);
    for (int i = 0; i < 10; i++) printf(" %.2f", tenths[i] / 1024);
    printf("\n");
    fflush(stdout);
}

static void check_memory(void)
{
    print_tenths("resident", resident);
    print_tenths("allocated", allocated);
    if (total < MEMORY_JUDGED_FROM || !is_our_own_memory) return;
    if (resident[9] > resident[0] * 1.05)
        FAIL("memory has grown: %.0f KB, then %.0f KB", resident[0], resident[9]);
}

/* ------------------------------------------------------------------------------------- callbacks */

/* Cancels now and then, at a point after which nothing more may be delivered. */
static void perhaps_cancel(place *p, sdd_token token)
{
    if (chance(&p->luck, 60) != 0) return;
    if (sdd_cancel(token) == SDD_OK) p->tracked.is_silenced = 1;
}

static void progressed(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    place *p = user_data;
    CHECK(url != NULL);
    track_progress(&p->tracked, received, expected);
    perhaps_cancel(p, token);
}

static void learned(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    place *p = user_data;
    track_facts(&p->tracked, facts);
    perhaps_cancel(p, token);
}

static void seen_preview(const sdd_result *result, void *user_data)
{
    place *p = user_data;
    previewed++;
    track_preview(&p->tracked, result);
    perhaps_cancel(p, result->token);
}

static void seen_cached(const sdd_result *result, void *user_data)
{
    place *p = user_data;
    told_cached++;
    track_cached(&p->tracked, result);
    perhaps_cancel(p, result->token);
}

static void ended(const sdd_result *result, void *user_data)
{
    place *p = user_data;
    p->tracked.may_be_cancelled = p->may_be_cancelled || cancels_begun != p->cancels_before;
    track_end(&p->tracked, result);
    CHECK(sdd_cancel(result->token) != SDD_OK);
    if (result->failure.status == SDD_OK) {
        CHECK(result->origin > SDD_ORIGIN_NONE && result->origin <= SDD_ORIGIN_HTTP_STALE);
        by_origin[result->origin]++;
        good++;
    } else if (result->failure.status == SDD_ERROR_CANCELLED) {
        cancelled++;
    } else {
        failed++;
    }
}

static void let_go(void *user_data)
{
    place *p = user_data;
    track_freed(&p->tracked);
    freed_loads++;
    give_place(p);
}

/* --------------------------------------------------------------------------- the threads' work */

static void submit_one(uint64_t *state)
{
    place *p = take_place();
    chosen c;
    p->tracked = (tracked){ .token = 0 };
    p->luck = *state;
    atomic_store(&p->may_be_cancelled, 0);
    p->cancels_before = atomic_load(&cancels_done);
    choose_load(&p->tracked, &c, state);
    c.request.progress = chance(state, 2) ? progressed : NULL;
    c.request.completed = ended;
    c.request.preview = c.has_previews ? seen_preview : NULL;
    c.request.facts = learned;
    c.request.cached = c.request.options & SDD_OPTION_REFRESH_CACHED ? seen_cached : NULL;
    c.request.user_data = p;
    c.request.user_data_free = let_go;
    if (c.request.priority == 0) c.request.priority = (int32_t)chance(state, 6);
    atomic_fetch_add(&submitted, 1);
    sdd_token token = sdd_loader_submit(l.loader, &c.request);
    CHECK(token != 0);
    /* The load may have ended already, and another load may use this place: then the token is unknown. */
    atomic_store(&p->token, token);
}

static void do_to_a_load(uint64_t *state)
{
    place *p = &places[chance(state, PLACES)];
    sdd_token token = atomic_load(&p->token);
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    if (token == 0) return;
    switch (chance(state, 3)) {
    case 0:
        atomic_store(&p->may_be_cancelled, 1);
        sdd_cancel(token);
        break;
    case 1: sdd_set_priority(token, 1 + (int32_t)chance(state, 5)); break;
    default: sdd_token_get_info(token, &info);
    }
}

static void do_to_the_loader(uint64_t *state)
{
    sdd_status status = SDD_OK;
    switch (chance(state, 14)) {
    case 0: status = sdd_downloader_set_max_concurrent_downloads(l.downloader, 2 + (int32_t)chance(state, 12)); break;
    case 1: status = sdd_downloader_set_max_concurrent_per_host(l.downloader, 2 + (int32_t)chance(state, 12)); break;
    case 2: status = sdd_downloader_set_execution_order(l.downloader, (int32_t)chance(state, 2)); break;
    case 3: status = sdd_downloader_set_min_host_interval(l.downloader, chance(state, 8) == 0); break;
    case 4: status = sdd_set_header(l.downloader, "X-Soak", chance(state, 2) ? "yes" : NULL); break;
    case 5: status = sdd_cache_trim_memory(l.cache.cache, SDD_TRIM_HALF + (int32_t)chance(state, 2)); break;
    case 6: status = sdd_cache_trim_disk_wait(l.cache.cache); break;
    case 7:
        if (chance(state, 4) == 0) status = sdd_cache_clear_wait(l.cache.cache, 1 + (int32_t)chance(state, 3));
        break;
    case 8: status = sdd_loader_remove_all_failed_urls(l.loader); break;
    case 9: status = sdd_loader_remove_failed_url(l.loader, atf("/reset?%u", chance(state, 12))); break;
    case 10: sdd_loader_is_blocked(l.loader, atf("/status/404?%u", chance(state, 12))); break;
    case 11: CHECK(sdd_loader_running_count(l.loader) <= PLACES); break;
    case 12:
        status = sdd_downloader_suspend(l.downloader);
        CHECK_STATUS(sdd_downloader_resume(l.downloader), SDD_OK);
        break;
    default:
        if (chance(state, 10) != 0) break;
        atomic_fetch_add(&cancels_begun, 1);
        status = sdd_loader_cancel_all(l.loader);
        atomic_fetch_add(&cancels_done, 1);
    }
    CHECK_STATUS(status, SDD_OK);
}

/* Runs one thread's part of a tenth of the loads. */
static void *act(void *argument)
{
    long number = (intptr_t)argument, mine = total / 10 / THREADS;
    uint64_t state = seed + (uint64_t)number * 1000003;
    for (long i = 0; i < mine; i++) {
        submit_one(&state);
        if (chance(&state, 10) == 0) do_to_a_load(&state);
        if (chance(&state, 50) == 0) do_to_the_loader(&state);
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------- the run */

static void open_all(void)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    sdd_callback_options downloader_callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_retry_options downloader_retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config downloader = SDD_DOWNLOADER_CONFIG_INIT;
    downloader.callbacks = &downloader_callbacks;
    downloader.retry = &downloader_retry;
    sdd_loader_config loader = SDD_LOADER_CONFIG_INIT;
    cache.max_memory_cost = 64 << 10;
    cache.max_disk_bytes = 256 << 10;
    downloader_retry.delay_ms = 2;
    downloader.decode_threads = 2;
    downloader_callbacks.min_preview_interval_ms = -1;
    l.cache = open_cache(cache);
    l.downloader = make_downloader(&downloader);
    loader.downloader = l.downloader;
    loader.cache = l.cache.cache;
    CHECK_STATUS(sdd_loader_create(&loader, &l.loader), SDD_OK);
    for (int i = 0; i < PLACES; i++) give_place(&places[i]);
}

static void check_the_end(void)
{
    sdd_statistics s = SDD_STATISTICS_INIT;
    long count = submitted;
    CHECK_EQUAL(freed_loads, count);
    CHECK_EQUAL(good + cancelled + failed, count);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    CHECK_STATUS(sdd_downloader_get_statistics(l.downloader, &s), SDD_OK);
    CHECK_EQUAL(s.requests, count);
    CHECK_EQUAL(s.requests_succeeded, good);
    CHECK_EQUAL(s.requests_cancelled, cancelled);
    CHECK_EQUAL(s.requests_failed, failed);
    CHECK(s.waiting == 0 && s.running == 0 && s.decoding == 0);
    printf("%ld loads: %ld good (%ld network, %ld memory, %ld disk, %ld HTTP cache), %ld cancelled, %ld failed, "
           "%ld told of the cache, %ld previews; %lld transfers\n",
           count, good, by_origin[SDD_ORIGIN_NETWORK], by_origin[SDD_ORIGIN_MEMORY], by_origin[SDD_ORIGIN_DISK],
           by_origin[SDD_ORIGIN_HTTP_FRESH] + by_origin[SDD_ORIGIN_HTTP_REVALIDATED] + by_origin[SDD_ORIGIN_HTTP_STALE],
           cancelled, failed, told_cached, previewed, (long long)s.transfers_started);
    CHECK(good && failed);
    if (total >= KINDS_JUDGED_FROM)
        CHECK(by_origin[SDD_ORIGIN_NETWORK] && by_origin[SDD_ORIGIN_MEMORY] && by_origin[SDD_ORIGIN_DISK] &&
              cancelled && told_cached);
    CHECK(previewed > 0 || total < MEMORY_JUDGED_FROM);
}

int main(void)
{
    const char *wanted = getenv("SDD_SOAK");
    pthread_t threads[THREADS];
    start_watchdog();
    pictures_are_transformed = 1;
    current_case = "soak";
    /* Otherwise glibc raises the threshold to the largest block it has freed and keeps that much for each thread, so
       that the process's size would depend on chance. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    seed = seed_of_the_run();
    tries_again = 1;
    total = wanted ? atol(wanted) : scaled(4000);
    total -= total % (10 * THREADS);
    destroy(make_downloader(NULL)); /* everything that stays from the first thread on is there now */
    int threads_before = count_threads(), descriptors_before = count_descriptors();
    open_all();
    int64_t start = milliseconds_now();
    for (int tenth = 0; tenth < 10; tenth++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, act, (void *)(intptr_t)(tenth * THREADS + i));
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        sample_memory(tenth);
    }
    check_the_end();
    printf("%lld ms\n", (long long)(milliseconds_now() - start));
    check_memory();
    close_loader(&l);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    return 0;
}

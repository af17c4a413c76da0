/* Waiting loads hold no descriptor: thousands of queued loads leave the program its descriptors, all of them succeed
   under a limit just above what six transfers need, and none keeps another process from downloading. */
#include "loads.h"

#include <sys/resource.h>

enum { RUNNING = 6 };

/* Counts the ends of many requests and keeps nothing else of them. */
typedef struct ends {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int succeeded, failed, freed;
    sdd_status first_error;
    int32_t first_errno;
} ends;

#define ENDS_INIT { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, SDD_OK, 0 }

static void ended(const sdd_result *result, void *user_data)
{
    ends *e = user_data;
    pthread_mutex_lock(&e->lock);
    if (result->failure.status == SDD_OK) {
        e->succeeded++;
    } else {
        if (e->failed++ == 0) e->first_error = result->failure.status, e->first_errno = result->failure.system_error;
    }
    pthread_mutex_unlock(&e->lock);
}

static void freed(void *user_data)
{
    ends *e = user_data;
    pthread_mutex_lock(&e->lock);
    e->freed++;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void wait_for_ends(ends *e, int count)
{
    pthread_mutex_lock(&e->lock);
    while (e->freed < count) pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static void submit_bytes(loader_in_folder *l, ends *e, const char *url)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY;
    request.completed = ended;
    request.user_data = e;
    request.user_data_free = freed;
    submit_load(l, &request);
}

static void submit_cached(loader_in_folder *l, ends *e, const char *url)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE;
    request.completed = ended;
    request.user_data = e;
    request.user_data_free = freed;
    CHECK(sdd_downloader_submit(l->downloader, &request) != 0);
}

/* Opens a loader whose downloader has the same cache. It waits for other processes as long as necessary. */
static loader_in_folder open_at(const char *folder)
{
    loader_in_folder l;
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.directory = folder;
    cache.share_wait_ms = 3600000;
    snprintf(l.cache.folder, sizeof l.cache.folder, "%s", folder);
    l.cache.cache = make_cache(&cache);
    config_groups groups;
    sdd_downloader_config downloader = quick_retries(&groups);
    downloader.max_concurrent_downloads = RUNNING;
    downloader.cache = l.cache.cache;
    tries_again = 1;
    l.downloader = make_downloader(&downloader);
    sdd_loader_config loader = SDD_LOADER_CONFIG_INIT;
    loader.downloader = l.downloader;
    loader.cache = l.cache.cache;
    CHECK_STATUS(sdd_loader_create(&loader, &l.loader), SDD_OK);
    return l;
}

static loader_in_folder open_one(void) { return open_at(new_folder()); }

static int64_t waiting_in(sdd_downloader *downloader)
{
    sdd_statistics counts = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &counts), SDD_OK);
    return counts.waiting;
}

CASE(waiting_loads_hold_no_descriptor)
{
    int count = scaled(2000), before = count_descriptors();
    order("/reset-stats");
    OWNED_LOADER l = open_one();
    ends e = ENDS_INIT;
    for (int i = 0; i < count; i++) {
        const char *url = atf("/hold/descriptors?size=500&n=%d", i);
        if (i % 2) submit_bytes(&l, &e, url); else submit_cached(&l, &e, url);
    }
    int expected = count > RUNNING ? RUNNING : count;
    wait_for_requests("/hold/descriptors", expected);
    while (waiting_in(l.downloader) < count - RUNNING) sched_yield();
    int held = count_descriptors() - before;
    printf("%d loads, %d of them running: %d descriptors\n", count, expected, held);
    if (held > 40) FAIL("%d descriptors for %d waiting loads", held, count - RUNNING);
    CHECK_STATUS(sdd_downloader_cancel_all(l.downloader), SDD_OK);
    wait_for_ends(&e, count);
    release("descriptors");
}

/* Half of them are loads, half are requests with the HTTP cache, each for its own URL. */
CASE(no_load_fails_for_lack_of_descriptors)
{
    struct rlimit old, small;
    int count = scaled(10000);
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    small = old;
    small.rlim_cur = 64;
    OWNED_LOADER l = open_one();
    ends e = ENDS_INIT;
    int before = count_descriptors();
    CHECK(setrlimit(RLIMIT_NOFILE, &small) == 0);
    for (int i = 0; i < count; i++) {
        const char *url = atf("/ok?size=200&header=Cache-Control:%%20max-age=600&n=%d", i);
        if (i % 2) submit_bytes(&l, &e, url); else submit_cached(&l, &e, url);
    }
    wait_for_ends(&e, count);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    if (e.failed)
        FAIL("%d of %d failed, the first with %s (%s)", e.failed, count, sdd_status_name(e.first_error),
             strerror(e.first_errno));
    CHECK_EQUAL(e.succeeded, count);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    sdd_cache_statistics counts = counts_of(l.cache.cache);
    CHECK_EQUAL(counts.errors, 0);
    printf("%d requests under a limit of 64 descriptors, %d of them open at the start\n", count, before);
}

/* A second cache on the same folder stands for another process. */
CASE(waiting_loads_do_not_block_another_process)
{
    OWNED_LOADER l = open_one();
    ends waiting = ENDS_INIT;
    order("/reset-stats");
    for (int i = 0; i < RUNNING; i++) submit_bytes(&l, &waiting, atf("/hold/first?size=500&n=%d", i));
    wait_for_requests("/hold/first", RUNNING);
    char wanted[2][1024];
    for (int i = 0; i < 2; i++)
        snprintf(wanted[i], sizeof wanted[i], "%s",
                 atf("/ok?size=500&header=Cache-Control:%%20max-age=600&wanted=%d", i));
    submit_bytes(&l, &waiting, wanted[0]);
    submit_cached(&l, &waiting, wanted[1]);
    while (waiting_in(l.downloader) < 2) sched_yield();
    loader_in_folder other = open_at(l.cache.folder);
    ends quick = ENDS_INIT;
    submit_bytes(&other, &quick, wanted[0]);
    submit_cached(&other, &quick, wanted[1]);
    wait_for_ends(&quick, 2);
    CHECK_EQUAL(quick.succeeded, 2);
    CHECK_STATUS(sdd_cache_flush_wait(other.cache.cache, -1), SDD_OK);
    /* A URL that the other one has downloaded meanwhile is not fetched again. */
    release("first");
    wait_for_ends(&waiting, RUNNING + 2);
    CHECK_EQUAL(waiting.succeeded, RUNNING + 2);
    CHECK_EQUAL(requests_of("/ok"), 2);
    CHECK_STATUS(sdd_loader_destroy(other.loader), SDD_OK);
    destroy(other.downloader);
    CHECK_STATUS(sdd_cache_destroy(other.cache.cache), SDD_OK);
}

int main(void) { return run_cases(); }

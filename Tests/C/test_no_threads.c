/* A system without free threads or descriptors: no downloader or cache is made then, and nothing is left behind; an
   existing downloader ends its requests with an error, and works again when there are some. */
#include "record.h"
#include "server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>

/* -------------------------------------------------------------------- a pthread_create that can fail */

static atomic_int creations;   /* calls since the count began */
static atomic_int failing;     /* the call that fails; 0 for none */
static atomic_int fails_after; /* all later calls fail, too */

int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
    void *restrict argument)
{
    typedef int (*function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static function real;
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    int number = atomic_fetch_add(&creations, 1) + 1;
    if (failing && (number == failing || (fails_after && number > failing))) return EAGAIN;
    return real(thread, attributes, start, argument);
}

static sdd_downloader_config config_of(int delivery)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = delivery;
    config.decode_threads = 3;
    return config;
}

static int threads_before, descriptors_before;

/* Each creation of a thread fails, once alone and once with all that follow. */
static void no_thread_no_downloader(void)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        sdd_downloader_config config = config_of(delivery);
        creations = failing = 0;
        destroy(make_downloader(&config));
        int needed = creations;
        CHECK(needed >= 4);
        CHECK_NOTHING_LEFT(threads_before, descriptors_before);
        for (int i = 0; i < 2 * needed; i++) {
            sdd_downloader *downloader = (sdd_downloader *)&config;
            creations = 0;
            failing = i / 2 + 1;
            fails_after = i % 2;
            CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_NO_RESOURCES);
            CHECK(downloader == NULL);
            CHECK_NOTHING_LEFT(threads_before, descriptors_before);
        }
        failing = 0;
        destroy(make_downloader(&config));
        CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    }
}

/* A cache has its own threads; its folder stays unchanged. */
static void no_thread_no_cache(void)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *cache = NULL;
    config.directory = address_at("SDD_TEST_FOLDER", "/no-threads");
    creations = failing = 0;
    CHECK_STATUS(sdd_cache_create(&config, &cache), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    int needed = creations;
    CHECK(needed >= 1);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    for (int i = 0; i < 2 * needed; i++) {
        cache = (sdd_cache *)&config;
        creations = 0;
        failing = i / 2 + 1;
        fails_after = i % 2;
        CHECK_STATUS(sdd_cache_create(&config, &cache), SDD_ERROR_NO_RESOURCES);
        CHECK(cache == NULL && last_detail() == 0);
        CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    }
    creations = 0;
    failing = fails_after = 1;
    CHECK(sdd_cache_shared() == NULL);
    CHECK_STATUS(sdd_cache_clear_wait(NULL, SDD_CACHE_ALL), SDD_ERROR_NO_RESOURCES);
    failing = 0;
    CHECK_STATUS(sdd_cache_create(&config, &cache), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* libcurl from 8.20 on keeps a pool of threads, and waits for one up to the connect timeout. */
static int lookups_wait_for_threads(void) { return libcurl_version() >= 0x081400; }

/* libcurl looks names up on a thread: without one it is not the name that is wrong. */
static void no_thread_for_a_name(void)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    creations = 0;
    failing = fails_after = 1;
    fetch(downloader, &r, "http://images.invalid/a.png", SDD_OPTION_BYTES_ONLY);
    failing = 0;
    CHECK(creations > 0);
    if (lookups_wait_for_threads()) {
        CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_CONNECT);
    } else {
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_NO_TRANSFER);
        CHECK_EQUAL(r.system_error, EAGAIN);
    }
    fetch(downloader, &r, "http://images.invalid/a.png", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_RESOLVE, 0);
}

/* The first use of the shared downloader may be the one that fails: it reports that, and the next use works. */
static void no_thread_for_the_shared_downloader(void)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_download_request request = record_request(&r, at("/ok"));
    creations = 0;
    failing = fails_after = 1;
    CHECK(sdd_downloader_shared() == NULL);
    CHECK_REFUSED(sdd_downloader_submit(NULL, &request), SDD_ERROR_NO_RESOURCES);
    CHECK_STATUS(sdd_set_header(NULL, "X", "y"), SDD_ERROR_NO_RESOURCES);
    CHECK_EQUAL(sdd_downloader_event_fd(NULL), -1);
    failing = 0;
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    fetch(NULL, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* ------------------------------------------------------------------------------------ descriptors */

/* Limits the process's descriptors to `more` beyond the lowest free one. Returns the old limit. */
static struct rlimit allow_descriptors(int more)
{
    struct rlimit old, limit;
    int lowest = dup(0);
    close(lowest);
    CHECK(lowest >= 0 && getrlimit(RLIMIT_NOFILE, &old) == 0);
    limit = old;
    limit.rlim_cur = (rlim_t)(lowest + more);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    return old;
}

static int is_open(record *r)
{
    pthread_mutex_lock(&r->lock);
    int open = r->freed_count == 0;
    pthread_mutex_unlock(&r->lock);
    return open;
}

/* Checks that a new downloader works: while one transfer waits and the network thread sleeps, a new request, a cancel
   and the end reach it. */
static void check_works(sdd_downloader *downloader, int turn)
{
    OWNED_RECORD held = RECORD_INIT, r = RECORD_INIT;
    char path[50];
    record_submit(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, 10000), SDD_OK);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    snprintf(path, sizeof path, "/hold/descriptors?%d", turn);
    sdd_token token = record_submit(downloader, &held, at(path), SDD_OPTION_BYTES_ONLY);
    wait_for_requests(path, 1);
    record_submit(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    while (is_open(&r) && is_open(&held)) sdd_downloader_idle_wait(downloader, 10);
    if (!is_open(&held)) FAIL("the network thread did not wake: %s", held.message);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    destroy(downloader);
}

static void no_descriptor_no_downloader(void)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        sdd_limits limits = SDD_LIMITS_INIT;
        sdd_downloader_config config = config_of(delivery);
        sdd_status status = SDD_ERROR_NO_RESOURCES;
        int more = 0;
        limits.download_timeout_ms = 4000;
        config.limits = &limits;
        for (; status != SDD_OK; more++) {
            sdd_downloader *downloader = (sdd_downloader *)&config;
            CHECK(more < 20);
            struct rlimit old = allow_descriptors(more);
            status = sdd_downloader_create(&config, &downloader);
            setrlimit(RLIMIT_NOFILE, &old);
            if (status != SDD_OK) {
                CHECK_STATUS(status, SDD_ERROR_NO_RESOURCES);
                CHECK(downloader == NULL);
            } else {
                check_works(downloader, delivery);
            }
            CHECK_NOTHING_LEFT(threads_before, descriptors_before);
        }
        CHECK(more > 1);
    }
}

/* A downloader at work runs out of descriptors: each request ends, and later ones find some again. */
static void descriptors_run_out(void)
{
    enum { REQUESTS = 60 };
    sdd_downloader_config config = config_of(SDD_DELIVERY_THREAD);
    config.max_concurrent_downloads = config.max_concurrent_per_host = 30;
    sdd_downloader *downloader = make_downloader(&config);
    record records[REQUESTS];
    int failed = 0;
    struct rlimit old = allow_descriptors(10);
    for (int i = 0; i < REQUESTS; i++) {
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], atf("/ok?delay=20&%d", i), SDD_OPTION_BYTES_ONLY);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    setrlimit(RLIMIT_NOFILE, &old);
    for (int i = 0; i < REQUESTS; i++) {
        CHECK_EQUAL(records[i].freed_count, 1);
        if (records[i].error != SDD_OK) {
            failed++;
            CHECK_ENDED(&records[i], SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_NO_TRANSFER);
        }
        record_clear(&records[i]);
    }
    CHECK(failed > 0 && failed < REQUESTS);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/ok?again"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* A name cannot be looked up without a descriptor, for /etc/hosts and the like: it is not the name that is wrong. */
static void no_descriptor_for_a_name(void)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    struct rlimit old = allow_descriptors(0);
    fetch(downloader, &r, "http://images.invalid/a.png", SDD_OPTION_BYTES_ONLY);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_NO_TRANSFER);
    CHECK_EQUAL(r.system_error, EMFILE);
    fetch(downloader, &r, "http://images.invalid/a.png", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_RESOLVE, 0);
}

int main(void)
{
    start_watchdog();
    destroy(make_downloader(NULL));
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    RUN(no_thread_no_downloader);
    RUN(no_thread_for_the_shared_downloader);
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    RUN(no_thread_no_cache);
    RUN(no_thread_for_a_name);
    RUN(no_descriptor_for_a_name);
    RUN(no_descriptor_no_downloader);
    RUN(descriptors_run_out);
    return 0;
}

/* Runs downloads that each go wrong in a random way, or not at all: resets, bodies that are cut, that stall, that are
   longer than announced, damaged chunks and gzip data, invalid heads, and servers that recover at the second attempt.
   Goal G3: no wrong byte is delivered as success, no cut body is in a cache, and every request gets its end.

   SDD_FAULTY_DOWNLOADS is the number of downloads: 500, or 10,000 with SDD_TEST_LONG=1; SDD_TEST_SEED repeats a run by
   its printed seed. A body that is too long closes its connection, because the rest would be read as the next reply. */
#include "caches.h"

#include <stdatomic.h>

enum { AT_ONCE = 48 };

/* One way a body goes wrong, and the ends it may have. */
typedef struct fault {
    const char *path;   /* %zu: the size, then %u: a unique number, then %u: the offset of the fault */
    int may_succeed;    /* a retry may bring the whole body */
    sdd_status errors[4];
} fault;

static const fault all_faults[] = {
    { "/ok?size=%zu&n=%u&x=%u", 1, { 0 } },
    { "/ok?size=%zu&framing=chunked&n=%u&x=%u", 1, { 0 } },
    { "/ok?size=%zu&framing=close&n=%u&x=%u", 1, { 0 } },
    { "/gzip?size=%zu&n=%u&x=%u", 1, { 0 } },
    { "/ranged?size=%zu&n=%u&x=%u", 1, { 0 } },
    { "/reset?size=%zu&n=%u&after=%u", 0, { SDD_ERROR_CONNECTION_LOST, SDD_ERROR_TRUNCATED_BODY } },
    { "/cut?size=%zu&n=%u&after=%u", 0, { SDD_ERROR_TRUNCATED_BODY, SDD_ERROR_CONNECTION_LOST } },
    { "/cut-chunked?size=%zu&n=%u&after=%u", 0, { SDD_ERROR_TRUNCATED_BODY, SDD_ERROR_CONNECTION_LOST } },
    { "/cut-head?size=%zu&n=%u&x=%u", 0, { SDD_ERROR_CONNECTION_LOST, SDD_ERROR_PROTOCOL, SDD_ERROR_TRUNCATED_BODY } },
    { "/bad-chunk?size=%zu&n=%u&x=%u", 0,
      { SDD_ERROR_PROTOCOL, SDD_ERROR_TRUNCATED_BODY, SDD_ERROR_CONNECTION_LOST, SDD_ERROR_TRANSPORT } },
    { "/garbage?size=%zu&n=%u&x=%u", 0, { SDD_ERROR_PROTOCOL, SDD_ERROR_CONNECTION_LOST } },
    { "/http09?size=%zu&n=%u&x=%u", 0, { SDD_ERROR_PROTOCOL, SDD_ERROR_CONNECTION_LOST } },
    { "/stall?size=%zu&n=%u&after=%u", 0, { SDD_ERROR_TIMEOUT } },
    { "/overrun?size=%zu&close&n=%u&extra=%u", 1, { SDD_ERROR_PROTOCOL, SDD_ERROR_CONNECTION_LOST } },
    { "/gzip-corrupt?size=%zu&where=block&n=%u&x=%u", 0, { SDD_ERROR_CONTENT_ENCODING } },
    { "/gzip-corrupt?size=%zu&where=checksum&n=%u&x=%u", 0, { SDD_ERROR_CONTENT_ENCODING } },
    { "/gzip-corrupt?size=%zu&where=magic&n=%u&x=%u", 0, { SDD_ERROR_CONTENT_ENCODING } },
    { "/gzip-cut?size=%zu&n=%u&x=%u", 0, { SDD_ERROR_CONTENT_ENCODING, SDD_ERROR_TRUNCATED_BODY } },
    { "/recover?size=%zu&n=%u&by=reset&fails=1&after=%u", 1, { SDD_ERROR_CONNECTION_LOST, SDD_ERROR_TRUNCATED_BODY } },
    { "/recover?size=%zu&n=%u&by=cut&fails=1&after=%u", 1, { SDD_ERROR_TRUNCATED_BODY, SDD_ERROR_CONNECTION_LOST } },
    { "/ranged?size=%zu&n=%u&cuts=%u", 0, { SDD_ERROR_TRUNCATED_BODY, SDD_ERROR_CONNECTION_LOST } },
};
enum { FAULTS = sizeof all_faults / sizeof *all_faults };

typedef struct download {
    const fault *fault;
    char target[160], address[300];
    size_t size;
    int is_resumed;
    atomic_int completed, freed;
    sdd_status error;
} download;

static uint64_t state;
static uint32_t chance(uint32_t below)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int under_way, good, failed;

/* -------------------------------------------------------------------------------------- one download */

static int may_end_with(const download *d, sdd_status error)
{
    if (error == SDD_OK) return d->fault->may_succeed || d->is_resumed;
    for (int i = 0; i < 4 && d->fault->errors[i]; i++)
        if (d->fault->errors[i] == error) return 1;
    return 0;
}

static void check_bytes(const download *d, sdd_bytes *bytes, const char *where)
{
    if (sdd_bytes_size(bytes) != d->size || !is_pattern(sdd_bytes_data(bytes), d->size, d->target))
        FAIL("%s: wrong bytes in %s: %zu of %zu", d->address, where, sdd_bytes_size(bytes), d->size);
}

static void completed(const sdd_result *result, void *user_data)
{
    download *d = user_data;
    check_result(result);
    CHECK_EQUAL(atomic_fetch_add(&d->completed, 1), 0);
    d->error = result->failure.status;
    if (!may_end_with(d, result->failure.status))
        FAIL("%s: %s %d, curl %d: %s", d->address, sdd_status_name(result->failure.status), (int)result->failure.detail,
             (int)result->failure.curl_code, result->failure.message);
    if (result->failure.status == SDD_OK) check_bytes(d, result->bytes, "the result");
}

static void freed(void *user_data)
{
    download *d = user_data;
    CHECK_EQUAL(d->completed, 1);
    CHECK_EQUAL(atomic_fetch_add(&d->freed, 1), 0);
    pthread_mutex_lock(&lock);
    under_way--;
    if (d->error == SDD_OK) good++;
    else failed++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Every reply allows caching; a cut body must not be cached all the same. */
static void choose(download *d, unsigned number)
{
    d->fault = &all_faults[chance(FAULTS)];
    d->size = 100 + chance(20000);
    unsigned where = 1 + chance((uint32_t)d->size - 1);
    snprintf(d->target, sizeof d->target, d->fault->path, d->size, number, where);
    strcat(d->target, "&header=Cache-Control:%20max-age=600");
    snprintf(d->address, sizeof d->address, "%s", at(d->target));
    d->is_resumed = chance(3) == 0;
}

static void begin(sdd_downloader *downloader, download *d)
{
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.url = d->address;
    request.options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE | (d->is_resumed ? SDD_OPTION_RESUME : 0);
    request.completed = completed;
    request.user_data = d;
    request.user_data_free = freed;
    transfer.max_attempts = 1 + (int32_t)chance(3);
    if (strncmp(d->target, "/stall", 6) == 0) transfer.download_timeout_ms = 50 + chance(50);
    pthread_mutex_lock(&lock);
    while (under_way >= AT_ONCE) pthread_cond_wait(&changed, &lock);
    under_way++;
    pthread_mutex_unlock(&lock);
    submit(downloader, &request);
}

/* ------------------------------------------------------------------------ the content of the cache */

static int kept;

/* The server is not asked: the result comes from the cache and must be whole. */
static void check_kept(sdd_downloader *downloader, const download *d)
{
    OWNED_BYTES bytes = NULL;
    sdd_status status = sdd_get(downloader, d->address, SDD_OPTION_BYTES_ONLY | SDD_OPTION_USE_HTTP_CACHE, -1, NULL,
                                &bytes, NULL);
    if (status == SDD_OK) {
        check_bytes(d, bytes, "the cache");
        CHECK(d->error == SDD_OK);
        kept++;
    }
}

static void no_wrong_byte(int count)
{
    cache_in_folder cache = open_default();
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .retry = &retry };
    config.cache = cache.cache;
    config.http_cache = 1;
    config.max_concurrent_per_host = config.max_concurrent_downloads = 16;
    retry.delay_ms = 1;
    sdd_downloader *downloader = make_downloader(&config);
    download *all = calloc((size_t)count, sizeof *all);
    for (int i = 0; i < count; i++) {
        choose(&all[i], (unsigned)i);
        begin(downloader, &all[i]);
    }
    pthread_mutex_lock(&lock);
    while (under_way > 0) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < count; i++) CHECK(all[i].completed == 1 && all[i].freed == 1);
    CHECK_STATUS(sdd_cache_flush_wait(cache.cache, -1), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_offline(downloader, 1), SDD_OK);
    for (int i = 0; i < count; i++) check_kept(downloader, &all[i]);
    destroy(downloader);
    close_cache(&cache);
    free(all);
    printf("%d downloads: %d good, %d failed; %d in the cache\n", count, good, failed, kept);
    CHECK(good > 0 && failed > 0 && kept > 0);
}

int main(void)
{
    start_watchdog();
    current_case = "faulty downloads";
    tries_again = 1;
    const char *given = getenv("SDD_TEST_SEED"), *wanted = getenv("SDD_FAULTY_DOWNLOADS");
    state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    printf("seed %llu\n", (unsigned long long)state);
    fflush(stdout);
    no_wrong_byte(wanted ? atoi(wanted) : getenv("SDD_TEST_LONG") ? 10000 : scaled(500));
    return 0;
}

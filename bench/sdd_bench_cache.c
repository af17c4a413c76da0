/*
 * W9 and W9d of sdd-bench: a list of URLs from a warm cache, in one of the four ways that an application can use;
 * and the loads of any workload.
 *
 *     --by get     sdd_cache_query_wait() on --threads threads: the key's entry, whether or not it is fresh
 *     --by query   sdd_cache_query(): the same on the library's threads
 *     --by http    sdd_downloader_submit() with SDD_OPTION_USE_HTTP_CACHE: if it is fresh by the rules of RFC 9111
 *     --by load    sdd_loader_submit(): as --by query, and missing pictures from the network
 */
#include "sdd_bench.h"
#include <pthread.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    sdd_cache *cache;
    char **urls;
    size_t next, count;
} work = { .lock = PTHREAD_MUTEX_INITIALIZER };

static sdd_cache_query_options query_for(const char *url)
{
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    query.key = url;
    query.wants = arguments.bytes_only ? SDD_WANT_BYTES : SDD_WANT_IMAGE;
    query.levels = SDD_CACHE_DISK; /* each picture is queried once, so memory need not keep it */
    return query;
}

/* Thread: one of --threads. */
static void *get_some(void *unused)
{
    pthread_mutex_lock(&work.lock);
    while (work.next < work.count) {
        const char *url = work.urls[work.next++];
        pthread_mutex_unlock(&work.lock);
        sdd_cache_query_options query = query_for(url);
        sdd_result *result = NULL;
        sdd_status status = sdd_cache_query_wait(work.cache, &query, &result);
        pthread_mutex_lock(&work.lock);
        if (status == SDD_OK)
            count_ok(result->image, result->bytes);
        else
            count_failed(url, sdd_last_error_message());
        pthread_mutex_unlock(&work.lock);
        sdd_result_release(result);
        pthread_mutex_lock(&work.lock);
    }
    pthread_mutex_unlock(&work.lock);
    return unused;
}

static void get_all(void)
{
    pthread_t others[64];
    int started = 0;
    while (started < arguments.threads - 1 && started < 64 &&
           pthread_create(&others[started], NULL, get_some, NULL) == 0)
        started++;
    get_some(NULL);
    while (started > 0) pthread_join(others[--started], NULL);
}

static void query_all(sdd_downloader *downloader)
{
    for (size_t i = 0; i < work.count; i++) {
        sdd_cache_query_options query = query_for(work.urls[i]);
        query.completed = completed;
        sdd_cache_query(work.cache, downloader, &query);
    }
    sdd_downloader_idle_wait(downloader, -1);
}

static void request_all(sdd_downloader *downloader)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.options = (uint64_t)SDD_OPTION_USE_HTTP_CACHE;
    if (arguments.bytes_only) request.options |= (uint64_t)SDD_OPTION_BYTES_ONLY;
    request.completed = completed;
    for (size_t i = 0; i < work.count; i++) {
        request.url = work.urls[i];
        sdd_downloader_submit(downloader, &request);
    }
    sdd_downloader_idle_wait(downloader, -1);
}

void load_all(sdd_downloader *downloader, sdd_cache *cache, char **urls, size_t count)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_loader *loader = NULL;
    config.downloader = downloader;
    config.cache = cache;
    config.no_cache = cache == NULL;
    if (sdd_loader_create(&config, &loader) != SDD_OK) {
        count_failed(NULL, "no loader");
        return;
    }
    request.options = arguments.bytes_only ? SDD_OPTION_BYTES_ONLY : 0;
    decode.target_width = decode.target_height = 512;
    request.decode = strcmp(arguments.workload, "W4") ? NULL : &decode;
    request.query = request.store = SDD_CACHE_DISK; /* each picture is loaded once, so memory need not keep it */
    request.completed = completed;
    for (size_t i = 0; i < count; i++) {
        request.url = urls[i];
        sdd_loader_submit(loader, &request);
    }
    sdd_downloader_idle_wait(downloader, -1);
    sdd_loader_destroy(loader);
}

void take_from_cache(sdd_downloader *downloader, sdd_cache *cache, char **urls, size_t count)
{
    work.cache = cache;
    work.urls = urls;
    work.count = count;
    if (!strcmp(arguments.by, "query"))
        query_all(downloader);
    else if (!strcmp(arguments.by, "http"))
        request_all(downloader);
    else if (!strcmp(arguments.by, "load"))
        load_all(downloader, cache, urls, count);
    else
        get_all();
}

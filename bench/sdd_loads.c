/*
 * sdd_loads - measures the cost of a load in the library itself, over a transport that responds at once with a picture
 * of one pixel, so that the figures contain hardly any network and decoding. Prints one line of JSON.
 *
 *     build/sdd-loads MODE DIR [loads, default 10000]
 *
 * The modes: `download` (downloads, for comparison), `plain` (loads without a cache), `cold` (loads of a cache that has
 * nothing, and stores nothing), `store` (such loads that store), `disk` and `memory` (loads that find their picture on
 * that level), `cancel` (loads that are cancelled while they are downloaded or wait for that). DIR is for the cache; it
 * must be empty.
 */
#define _POSIX_C_SOURCE 200809L
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const unsigned char picture[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00,
    0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0x0f, 0x00, 0x01, 0x01, 0x01, 0x00,
    0xb1, 0x38, 0xf6, 0x14, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

static sdd_downloader *downloader;
static sdd_cache *cache;
static sdd_loader *loader;

static void check(sdd_status status, const char *what)
{
    if (status == SDD_OK) return;
    fprintf(stderr, "sdd-loads: %s: %s\n", what, sdd_last_error_message());
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Thread: sdd-net. */
static void start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)user_data;
    if (strncmp(request->url, "never:", 6) == 0) return;
    sdd_transfer_write(transfer, picture, sizeof picture);
    sdd_transfer_finish(transfer, SDD_OK, NULL);
}

static void cancel(sdd_transfer transfer, void *user_data)
{
    (void)transfer;
    (void)user_data;
}

static long ok, cancelled, other;
static int32_t expected_origin;

/* Thread: the callback thread. */
static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->failure.status == SDD_ERROR_CANCELLED)
        cancelled++;
    else if (result->failure.status == SDD_OK && result->image && result->origin == expected_origin)
        ok++;
    else
        other++;
}

static void open_all(const char *directory)
{
    const char *schemes[] = { "instant", "never" };
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    cache_config.directory = directory;
    check(sdd_downloader_create(NULL, &downloader), "sdd_downloader_create");
    check(sdd_cache_create(&cache_config, &cache), directory);
    for (int i = 0; i < 2; i++) {
        sdd_transport transport = SDD_TRANSPORT_INIT;
        transport.scheme = schemes[i];
        transport.start = start;
        transport.cancel = cancel;
        check(sdd_downloader_add_transport(downloader, &transport), "sdd_downloader_add_transport");
    }
    config.downloader = downloader;
    config.cache = cache;
    check(sdd_loader_create(&config, &loader), "sdd_loader_create");
}

/* ---- the modes */

/* Loads of the mode `cancel`, of which a few are being downloaded, and the others wait. */
static sdd_token *to_cancel;
static size_t to_cancel_count;

typedef void begin_fn(const char *url, int is_first);

static sdd_token load(const char *url, int32_t query, int32_t store)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.completed = completed;
    request.query = query;
    request.store = request.original_store = store;
    sdd_token token = sdd_loader_submit(loader, &request);
    if (!token) check(SDD_ERROR_INVALID_ARGUMENT, url);
    return token;
}

static void begin_download(const char *url, int is_first)
{
    (void)is_first;
    sdd_download(downloader, url, 0, NULL, completed, NULL);
}

static void begin_plain(const char *url, int is_first)
{
    (void)is_first;
    load(url, SDD_CACHE_NONE, SDD_CACHE_NONE);
}

static void begin_cold(const char *url, int is_first)
{
    (void)is_first;
    load(url, SDD_CACHE_ALL, SDD_CACHE_NONE);
}

static void begin_store(const char *url, int is_first)
{
    (void)is_first;
    load(url, SDD_CACHE_ALL, SDD_CACHE_ALL);
}

static void begin_disk(const char *url, int is_first)
{
    if (is_first)
        load(url, SDD_CACHE_NONE, SDD_CACHE_DISK);
    else
        load(url, SDD_CACHE_DISK, SDD_CACHE_NONE);
}

static void begin_memory(const char *url, int is_first)
{
    if (is_first)
        load(url, SDD_CACHE_NONE, SDD_CACHE_MEMORY);
    else
        load(url, SDD_CACHE_ALL, SDD_CACHE_NONE);
}

static void begin_cancel(const char *url, int is_first)
{
    sdd_token token = load(url, SDD_CACHE_NONE, SDD_CACHE_NONE);
    if (!is_first) to_cancel[to_cancel_count++] = token;
}

/* Loads before the measurement. */
enum { FIRST = 500 };

static const struct mode {
    const char *name, *scheme;
    begin_fn *begin;
    int repeats; /* the loads that are measured find what the first ones have stored */
    int32_t origin;
} modes[] = {
    { "download", "instant", begin_download, 0, SDD_ORIGIN_NETWORK },
    { "plain", "instant", begin_plain, 0, SDD_ORIGIN_NETWORK },
    { "cold", "instant", begin_cold, 0, SDD_ORIGIN_NETWORK },
    { "store", "instant", begin_store, 0, SDD_ORIGIN_NETWORK },
    { "disk", "instant", begin_disk, 1, SDD_ORIGIN_DISK },
    { "memory", "instant", begin_memory, 1, SDD_ORIGIN_MEMORY },
    { "cancel", "never", begin_cancel, 0, SDD_ORIGIN_NETWORK },
};

static void run(const struct mode *mode, long count, int is_first)
{
    const char *scheme = is_first ? "instant" : mode->scheme;
    char url[64];
    for (long i = 0; i < count; i++) {
        snprintf(url, sizeof url, "%s:%ld", scheme, is_first ? i : mode->repeats ? i % FIRST : FIRST + i);
        mode->begin(url, is_first);
        /* Loads of the same URL would share a lookup. */
        if (mode->repeats && i % FIRST == FIRST - 1)
            check(sdd_downloader_idle_wait(downloader, -1), "sdd_downloader_idle_wait");
    }
    for (size_t i = 0; i < to_cancel_count; i++) sdd_cancel(to_cancel[i]);
    check(sdd_downloader_idle_wait(downloader, -1), "sdd_downloader_idle_wait");
    check(sdd_cache_flush_wait(cache, -1), "sdd_cache_flush_wait");
}

int main(int argc, char **argv)
{
    const struct mode *mode = modes;
    size_t left = sizeof modes / sizeof *modes;
    while (argc > 2 && left > 0 && strcmp(mode->name, argv[1]) != 0) mode++, left--;
    if (argc < 3 || left == 0) {
        fprintf(stderr, "usage: sdd-loads download|plain|cold|store|disk|memory|cancel DIR [loads]\n");
        return 2;
    }
    long count = argc > 3 ? strtol(argv[3], NULL, 10) : 10000;
    to_cancel = calloc((size_t)count, sizeof *to_cancel);
    open_all(argv[2]);
    expected_origin = SDD_ORIGIN_NETWORK;
    run(mode, FIRST, 1); /* also pays for one-time initialisation */
    ok = 0;
    expected_origin = mode->origin;
    double cpu = cpu_seconds();
    run(mode, count, 0);
    cpu = cpu_seconds() - cpu;
    check(sdd_loader_destroy(loader), "sdd_loader_destroy");
    check(sdd_downloader_destroy(downloader), "sdd_downloader_destroy");
    check(sdd_cache_destroy(cache), "sdd_cache_destroy");
    free(to_cancel);
    printf("{\"mode\":\"%s\",\"loads\":%ld,\"load_cpu_us\":%.3f}\n", mode->name, count, cpu / (double)count * 1e6);
    return (mode->begin == begin_cancel ? cancelled : ok) == count && other == 0 ? 0 : 1;
}

/* cc -std=c99 -O2 cache.c $(pkg-config --cflags --libs sdd) -o cache
 *
 * cache: downloads a picture twice with the HTTP cache, and prints where it came from; then makes a thumbnail of it
 * from the cache, without the network. At last it stores bytes with a note of its own, and finds both again.
 *
 *     cache DIRECTORY URL
 *
 * DIRECTORY is made if it does not exist. Its entries stay for the next run, and other programs may use it at the same
 * time. Exit status 0: success.
 */
#include <inttypes.h>
#include <sdd/sdd.h>
#include <stdio.h>

static const char *origin_name(sdd_origin origin)
{
    switch (origin) {
    case SDD_ORIGIN_MEMORY: return "memory";
    case SDD_ORIGIN_DISK: return "disk";
    case SDD_ORIGIN_HTTP_FRESH: return "HTTP cache, fresh";
    case SDD_ORIGIN_HTTP_REVALIDATED: return "HTTP cache, revalidated";
    case SDD_ORIGIN_HTTP_STALE: return "HTTP cache, stale";
    default: return "network";
    }
}

/* Runs on a thread of the library; main waits until it has returned. */
static void completed(const sdd_result *result, void *user_data)
{
    int *failed = user_data;
    *failed = result->failure.status != SDD_OK;
    if (*failed)
        printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
    else
        printf("%s: %d x %d from: %s\n", result->url, (int)sdd_image_width(result->image),
               (int)sdd_image_height(result->image), origin_name(result->origin));
}

static int download(sdd_downloader *downloader, const char *url)
{
    int failed = 1;
    if (sdd_download(downloader, url, SDD_OPTION_USE_HTTP_CACHE, NULL, completed, &failed) == 0 ||
        sdd_downloader_idle_wait(downloader, -1) != SDD_OK)
        return 1;
    return failed;
}

/* The first query makes the thumbnail from the original on disk; later ones find it under its own key. */
static int show_thumbnail(sdd_cache *cache, const char *url)
{
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    char key[2048];
    sdd_result *result = NULL;

    decode.target_width = decode.target_height = 100;
    /* The key of the original is made from its URL: it is the URL itself if the cache's config has no filter. */
    sdd_status status = sdd_cache_key(cache, url, NULL, NULL, 0, key, sizeof key, NULL);
    query.key = key;
    query.decode = &decode;
    if (status == SDD_OK) status = sdd_cache_query_wait(cache, &query, &result);
    if (status != SDD_OK) {
        printf("thumbnail: %s\n", sdd_last_error_message());
        sdd_result_release(result); /* there is one also for a miss */
        return 1;
    }
    printf("thumbnail: %d x %d from: %s\n", (int)sdd_image_width(result->image), (int)sdd_image_height(result->image),
           origin_name(result->origin));
    sdd_result_release(result); /* and with it the image */
    return 0;
}

/* An entry may have any bytes, and beside them data of the application's own. */
static int keep_note(sdd_cache *cache)
{
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_result *result = NULL;

    item.key = query.key = "greeting";
    item.bytes = sdd_bytes_create("hello", 5);
    item.extended = sdd_bytes_create("stored by cache.c", 17);
    query.wants = SDD_WANT_BYTES;
    sdd_status status = sdd_cache_put_wait(cache, &item); /* waits until it is on disk */
    sdd_bytes_release(item.bytes);                        /* the cache retains both as long as it needs them */
    sdd_bytes_release(item.extended);
    if (status == SDD_OK) status = sdd_cache_query_wait(cache, &query, &result);
    if (status != SDD_OK)
        printf("note: %s\n", sdd_last_error_message());
    else
        printf("%.*s, %.*s\n", (int)sdd_bytes_size(result->bytes), (const char *)sdd_bytes_data(result->bytes),
               (int)sdd_bytes_size(result->extended), (const char *)sdd_bytes_data(result->extended));
    sdd_result_release(result);
    return status != SDD_OK;
}

static void print_statistics(sdd_cache *cache)
{
    sdd_cache_statistics statistics = SDD_CACHE_STATISTICS_INIT;
    if (sdd_cache_get_statistics_wait(cache, &statistics) == SDD_OK)
        printf("on disk: %" PRId64 " entries, %" PRId64 " bytes; in memory: %" PRId64 " pictures\n"
               "HTTP: %" PRId64 " fresh, %" PRId64 " revalidated, %" PRId64 " missed\n",
               statistics.disk_count, statistics.disk_bytes, statistics.memory_count, statistics.http_fresh,
               statistics.http_revalidated, statistics.http_misses);
}

int main(int argc, char **argv)
{
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    sdd_cache *cache = NULL;
    sdd_failure failure;
    int failed = 1;

    if (argc != 3) {
        fprintf(stderr, "usage: cache DIRECTORY URL\n");
        return 2;
    }
    cache_config.directory = argv[1];
    if (sdd_cache_create(&cache_config, &cache) != SDD_OK) {
        sdd_last_error(&failure);
        fprintf(stderr, "cache: %s: %s (detail %d)\n", argv[1], failure.message, (int)failure.detail);
        return 1;
    }
    config.cache = cache;
    if (sdd_downloader_create(&config, &downloader) == SDD_OK) {
        failed = download(downloader, argv[2]) || download(downloader, argv[2]) || show_thumbnail(cache, argv[2]) ||
                 keep_note(cache);
        sdd_downloader_destroy(downloader);
    }
    print_statistics(cache);
    if (sdd_cache_destroy(cache) != SDD_OK) /* writes all entries that are not on disk yet */
        failed = 1;
    return failed;
}

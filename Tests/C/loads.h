/*
 * loads.h - for the programs that test loads: a loader over its own downloader and cache, loads in one line, and what
 * the server has seen of them.
 */
#ifndef LOADS_H
#define LOADS_H

#include "caches.h"

#define OWNED_LOADER OWNED(close_loader) loader_in_folder

/* A loader with its downloader and cache; close_loader() closes all of it. */
typedef struct loader_in_folder {
    sdd_loader *loader;
    sdd_downloader *downloader;
    cache_in_folder cache;
} loader_in_folder;

/* Returns a config whose retries come at once. */
static inline sdd_downloader_config quick_retries(config_groups *groups)
{
    sdd_downloader_config config = config_over(groups);
    groups->retry.delay_ms = 1;
    return config;
}

/* Opens a loader. If `downloader` is NULL, it has quick retries. */
static inline loader_in_folder open_loader_of(
    sdd_loader_config config, const sdd_downloader_config *downloader, sdd_cache_config cache)
{
    loader_in_folder l;
    config_groups groups;
    sdd_downloader_config standard = quick_retries(&groups);
    tries_again = 1;
    cache.no_live_images = 1; /* a thread of the library may hold an image for a moment longer */
    l.cache = open_cache(cache);
    l.downloader = make_downloader(downloader ? downloader : &standard);
    config.downloader = l.downloader;
    config.cache = l.cache.cache;
    CHECK_STATUS(sdd_loader_create(&config, &l.loader), SDD_OK);
    CHECK(l.loader != NULL);
    return l;
}

static inline loader_in_folder open_loader_over(sdd_loader_config config, const sdd_downloader_config *downloader)
{
    return open_loader_of(config, downloader, (sdd_cache_config)SDD_CACHE_CONFIG_INIT);
}

static inline loader_in_folder open_loader(void)
{
    return open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL);
}

static inline void close_loader(loader_in_folder *l)
{
    CHECK_STATUS(sdd_loader_destroy(l->loader), SDD_OK);
    destroy(l->downloader);
    close_cache(&l->cache);
}

/* Returns a load request whose callbacks go to `r`. */
static inline sdd_load_request record_load(record *r, const char *url, uint64_t options)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.options = options;
    request.progress = record_progress;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    return request;
}

static inline sdd_token submit_load(loader_in_folder *l, const sdd_load_request *request)
{
    sdd_token token = sdd_loader_submit(l->loader, request);
    if (token == 0) FAIL("not submitted: %s", sdd_last_error_message());
    return token;
}

/* Submits a load and waits for its end. */
static inline void load_as(loader_in_folder *l, record *r, const sdd_load_request *request)
{
    record_clear(r);
    sdd_token token = submit_load(l, request);
    record_wait(r);
    CHECK(r->token == token);
}

static inline void load(loader_in_folder *l, record *r, const char *url, uint64_t options)
{
    sdd_load_request request = record_load(r, url, options);
    load_as(l, r, &request);
}

/* Submits a load and checks that it succeeds and comes from `origin`. */
static inline void load_from(loader_in_folder *l, const sdd_load_request *request, int32_t origin)
{
    record *r = request->user_data;
    load_as(l, r, request);
    CHECK_ENDED(r, SDD_OK, 0);
    if (r->origin != origin) FAIL("%s comes from %d, not %d", r->url, (int)r->origin, (int)origin);
}

static inline void get_from(loader_in_folder *l, record *r, const char *url, uint64_t options, int32_t origin)
{
    sdd_load_request request = record_load(r, url, options);
    load_from(l, &request, origin);
}

/* Submits a list to prefetch, and waits until all of it has been told. */
static inline void prefetch_all(loader_in_folder *l, const char *const *urls, size_t count,
                                sdd_prefetch_each_fn each, sdd_prefetch_completed_fn completed)
{
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    list.urls = urls;
    list.count = count;
    list.each = each;
    list.completed = completed;
    CHECK(sdd_prefetch(l->loader, &list) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(l->downloader, -1), SDD_OK);
}

/* Waits until all entries are on disk, and then empties the memory level. */
static inline void leave_to_disk(loader_in_folder *l)
{
    CHECK_STATUS(sdd_cache_flush_wait(l->cache.cache, -1), SDD_OK);
    CHECK_STATUS(sdd_cache_trim_memory(l->cache.cache, SDD_TRIM_ALL), SDD_OK);
}

/* Returns decode options that fit a picture into a square. */
static inline sdd_decode_options inside(int32_t side)
{
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    decode.target_width = decode.target_height = side;
    return decode;
}

/* Returns the key of a URL in the form that `decode` and `transforms` give. Valid until four more calls. */
static inline const char *key_of(
    sdd_cache *cache, const char *url, const sdd_decode_options *decode, const sdd_transform *transforms, size_t count)
{
    static char made[4][2048];
    static unsigned turn;
    char *place = made[turn++ % 4];
    CHECK_STATUS(sdd_cache_key(cache, url, decode, transforms, count, place, sizeof made[0], NULL), SDD_OK);
    return place;
}

/* ---------------------------------------------------------------------------------------- the server */

static inline char *add_escaped(char *end, const char *text)
{
    for (; *text; text++) end += sprintf(end, strchr("?&=%+ \"", *text) ? "%%%02X" : "%c", (unsigned char)*text);
    return end;
}

/* Returns how often the server was asked for a path or, with a query, for exactly that target. */
static inline long hits(const char *target)
{
    char path[2000] = "/count?path=";
    add_escaped(path + strlen(path), target);
    return order(path);
}

/* Waits until the server was asked for a target once. */
static inline void wait_for_hit(const char *target)
{
    char path[2000] = "/wait?path=";
    add_escaped(path + strlen(path), target);
    order(path);
}

/* Returns a URL of /turns/NAME: the first request gets `first`, all later ones `then`. Valid as long as a result of
   at(). */
static inline const char *in_turns(const char *name, const char *first, const char *then)
{
    char path[900];
    char *end = path + snprintf(path, sizeof path, "/turns/%s?reply=", name);
    end = add_escaped(end, first);
    end += sprintf(end, "&reply=");
    add_escaped(end, then);
    return at(path);
}

#endif

/*
 * loads.h - for the programs on loads: a loader over a downloader and a cache of its own, loads in one line, and what the
 * server has seen of them.
 */
#ifndef LOADS_H
#define LOADS_H

#include "caches.h"

/* A loader with all that it is made of, which close_loader() takes down. */
typedef struct loader_in_folder {
    sdd_loader *loader;
    sdd_downloader *downloader;
    cache_in_folder cache;
} loader_in_folder;

static inline loader_in_folder open_loader_over(sdd_loader_config config, const sdd_downloader_config *downloader)
{
    loader_in_folder l;
    l.cache = open_default();
    l.downloader = make_downloader(downloader);
    config.downloader = l.downloader;
    config.cache = l.cache.cache;
    CHECK_STATUS(sdd_loader_create(&config, &l.loader), SDD_OK);
    CHECK(l.loader != NULL);
    return l;
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

/* A load whose callbacks go to `r`. */
static inline sdd_image_request record_load(record *r, const char *url, uint64_t options)
{
    sdd_image_request request = SDD_IMAGE_REQUEST_INIT;
    request.url = url;
    request.options = options;
    request.progress = record_progress;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    return request;
}

static inline sdd_token submit_load(loader_in_folder *l, const sdd_image_request *request)
{
    sdd_status status = -1;
    sdd_token token = sdd_load_request(l->loader, request, &status);
    CHECK_STATUS(status, SDD_OK);
    CHECK(token != 0);
    return token;
}

/* Loads, and waits for the end. */
static inline void load_as(loader_in_folder *l, record *r, const sdd_image_request *request)
{
    record_clear(r);
    sdd_token token = submit_load(l, request);
    record_wait(r);
    CHECK(r->token == token);
}

static inline void load(loader_in_folder *l, record *r, const char *url, uint64_t options)
{
    sdd_image_request request = record_load(r, url, options);
    load_as(l, r, &request);
}

/* How often the server was asked for a path, or, with a query, for that very target. */
static inline long hits(const char *target)
{
    char path[2000] = "/count?path=";
    char *end = path + strlen(path);
    for (const char *c = target; *c; c++)
        end += sprintf(end, strchr("?&=%+", *c) ? "%%%02X" : "%c", (unsigned char)*c);
    return order(path);
}

#endif

/* Declarations that the parts of sdd-bench share. */
#ifndef SDD_BENCH_H
#define SDD_BENCH_H

#include <sdd/sdd.h>

typedef struct arguments {
    const char *workload, *urls, *ca_file, *cache, *by;
    int inflight, threads, network_threads, verify, drain, bytes_only, sink, prefill, load, is_isolated;
} arguments_t;

extern arguments_t arguments;

/* Counts the result of a URL; image and bytes are borrowed, and either may be NULL. One thread at a time. */
void count_ok(sdd_image *image, sdd_bytes *bytes);
void count_failed(const char *url, const char *message);

/* Counts a terminal event; user_data is not used. One thread at a time. */
void completed(const sdd_result *result, void *user_data);

/* Loads all URLs with a loader over both; cache NULL: without a cache. Returns when all have ended. */
void load_all(sdd_downloader *downloader, sdd_cache *cache, char **urls, size_t count);

/* Reads all URLs from --cache, without a network. */
void take_from_cache(sdd_downloader *downloader, sdd_cache *cache, char **urls, size_t count);

#endif

/*
 * sdd/loader.h - Loaders: a cache in front of a downloader, a list of URLs that failed,
 * prefetching.
 *
 * NULL stands for the shared loader in every call.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         printf("%s\n", result->failure.status == SDD_OK ? "loaded" : result->failure.message);
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         return sdd_downloader_idle_wait(NULL, 30000) != SDD_OK;
 *     }
 *
 * It prints: loaded
 */
#ifndef SDD_LOADER_H
#define SDD_LOADER_H

#include "entry.h"
#include "request.h"

SDD_BEGIN_DECLS

/* ---------------------------------------------------------------------------------------- loads */

/*
 * A load looks in a cache, downloads the picture if it is missing, decodes to size, transforms,
 * stores, and ends once. Most programs need only this call:
 *
 *     sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *
 * A loader combines a downloader and a cache. The shared loader uses the shared downloader and the
 * shared cache. Loads that want the same of a stage share it. The stages are:
 *
 * 1. The cache: memory, then disk, then the original on disk, from which the picture is made.
 *    sdd_result.origin is then SDD_ORIGIN_MEMORY or _DISK.
 * 2. The failed URLs (below): if none of the load's URLs may be tried, SDD_ERROR_BLOCKED.
 * 3. should_download. If nothing may be fetched: SDD_ERROR_NOT_CACHED.
 * 4. The download, with up to two attempts (sdd_transfer_options.max_attempts), then the
 *    alternative URLs. Of several processes that load a URL into one directory, one downloads it;
 *    the others wait (share_wait_ms) and find it.
 * 5. Decoding to the wanted size and form, and transforms, on decode threads.
 * 6. Storing: the original's bytes, also if a transform fails, and the picture made from them. A
 *    picture made from a cached original is stored by the same rules; one that its size and form
 *    leave as it is, is not stored beside its original.
 *
 * A cached picture is valid for as long as the cache keeps it (max_disk_age_ms), whatever HTTP's
 * rules say, as in SDWebImage. With SDD_OPTION_USE_HTTP_CACHE, or http_cache of the downloader,
 * HTTP's rules apply instead: stage 1 is left to the HTTP cache, which keeps encoded bytes only.
 * SDD_OPTION_REFRESH_CACHED shows the cached picture and asks the server meanwhile.
 *
 * One token stands for all stages, and the loader's downloader delivers the events. sdd_cancel(),
 * sdd_set_priority() and the like affect only that load, not others that share a stage with it.
 * Requests with an identity have cache entries of their own: see IDENTITY in cache.h.
 *
 * BYTES. A picture as it is stored has its encoded bytes, in sdd_result.bytes and
 * sdd_image_bytes(), wherever it comes from. A scaled or transformed picture has none, and no
 * metadata, wherever it comes from; only with SDD_OPTION_QUERY_MEMORY_DATA has sdd_result.bytes its
 * encoded bytes, if they are on disk. To get the original, load without size and transforms, or
 * with SDD_OPTION_BYTES_ONLY.
 *
 * FAILED URLS. A loader remembers up to 4096 URLs that failed for a reason that will last: the
 * status, the picture or the URL, not the connection. Such a URL is blocked for 1 second, and after
 * each further failure for twice as long, up to 5 minutes; after status 404 and 410, from 1 minute
 * up to 1 hour; with a Retry-After (RFC 9110 section 10.2.3) at least for that time, which counts
 * up to a day. A success unblocks it, also by an alternative, and so does a server that confirms
 * the picture. A block bars the network, never the cache: a cached picture is delivered, and is the
 * result of SDD_OPTION_REFRESH_CACHED. A failure blocks only loads of the same identity (see
 * IDENTITY in cache.h). It does not block loads with other values of header fields that Vary names,
 * or that accept the status, or decode in another way. Failures of one load's own conditions are
 * not remembered: integrity, expected_bytes, accepted_content_types, and accepted_status_codes that
 * exclude a success (200 to 299).
 */

/**
 * A load with all its settings. Begin with SDD_LOAD_REQUEST_INIT and set `url` and `completed`. It
 * is copied, with everything that it points to.
 */
typedef struct sdd_load_request {
    size_t struct_size;
    const char *SDD_NULLABLE url; /* as for sdd_download(), including data: URLs */
    sdd_options options;          /* SDD_OPTION_ bits marked L */
    sdd_priority priority;        /* one of SDD_PRIORITY_ */

    /* Cache levels: for the picture in the wanted form, and for its original if that is another.
       SDD_CACHE_NONE: no level. */
    sdd_cache_levels query; /* default SDD_CACHE_ALL */
    /* Default SDD_CACHE_ALL. A scaled or transformed picture is written to disk as sdd_cache_item
       says for an image without bytes; but a scaled one that is animated is not, and is made from
       its original again. */
    sdd_cache_levels store;
    sdd_cache_levels original_query; /* default SDD_CACHE_DISK */
    /* Default SDD_CACHE_DISK. In memory the original is stored undecoded, as with
       SDD_OPTION_AVOID_DECODE_IMAGE, unless a load wanted it decoded; one in a format of the
       application's coders is stored there only then. */
    sdd_cache_levels original_store;
    /* The key in the cache; NULL: made from `url`, see sdd_cache_key(). What a request modifier
       makes of the URL changes neither the key nor the failed URLs; only the HTTP cache has its
       entries under the URL that is sent. */
    const char *SDD_NULLABLE cache_key;

    /* NULL: as the downloader's config says. */
    const sdd_transfer_options *SDD_NULLABLE transfer;
    /* NULL: the downloader's, see sdd_downloader_set_decode_options(). With `pixels` or an
       allocator only the original is looked for in the cache and stored, not the picture itself. */
    const sdd_decode_options *SDD_NULLABLE decode;
    /* The transform_count transforms, as for sdd_image_transform(). The result has a cache entry of
       its own, named by their keys. Not with `pixels` or an allocator of sdd_decode_options. */
    const sdd_transform *SDD_NULLABLE transforms;
    size_t transform_count;
    /* The alternative_count URLs of the same picture, tried in order if `url` fails. The first
       success ends the load and is stored as `url`. sdd_result.sources lists the failures. */
    const char *SDD_NULLABLE const *SDD_NULLABLE alternatives;
    size_t alternative_count; /* at most 64 */

    /* Callbacks. Those of a call that waits must be NULL, and user_data_free too. */

    /* Required, except with SDD_DELIVERY_APPLICATION and sdd_downloader_drain(). */
    sdd_result_fn SDD_NULLABLE completed;
    /* Progress of the download; not called for a cached picture. Starts again, with (0, -1), for
       each attempt and each alternative. */
    sdd_progress_fn SDD_NULLABLE progress;
    /* As sdd_download_request.preview. Previews are neither stored nor transformed. */
    sdd_result_fn SDD_NULLABLE preview;
    sdd_facts_fn SDD_NULLABLE facts;
    /* Only with SDD_OPTION_REFRESH_CACHED: called once with the cached picture, before the terminal
       callback; sdd_result.is_terminal is 0. Not with SDD_OPTION_FROM_CACHE_ONLY. */
    sdd_result_fn SDD_NULLABLE cached;
    void *SDD_NULLABLE user_data; /* of all callbacks */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;

    /* The body that must come, as in sdd_download_request. Only what is downloaded is checked: a
       picture in a cache is taken as it is, except with SDD_OPTION_FROM_LOADER_ONLY. */

    const char *SDD_NULLABLE integrity;
    int64_t expected_bytes;
} sdd_load_request;

#define SDD_LOAD_REQUEST_INIT \
    { sizeof(sdd_load_request), NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, 0, \
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/** The failures that a loader remembers: sdd_loader_config.fail_policy. */
typedef int32_t sdd_fail_policy;

SDD_ENUM(sdd_fail_policy) {
    SDD_FAIL_POLICY_BACK_OFF = 0, /* lasting ones, for a time: see FAILED URLS at the top */
    /* For ever, as in SDWebImage 5: SDD_ERROR_INVALID_URL, _BAD_IMAGE_DATA, and the 3000s except
       _RESOLVE, _CONNECT, _TIMEOUT, _CONNECTION_LOST, _TRUNCATED_BODY and _PROXY. */
    SDD_FAIL_POLICY_SDWEBIMAGE = 1,
    SDD_FAIL_POLICY_NONE = 2 /* no failure */
};

/**
 * Decides whether a URL that is not cached may be downloaded.
 *
 * @param url The load's URL. Borrowed until the callback returns.
 * @param user_data The loader's.
 * @return 1 to go on; 0 ends the load with SDD_ERROR_NOT_CACHED.
 * Thread: any that calls the library, or one of its own. Be quick; sdd_ functions that do not wait
 *     may be called.
 */
typedef int32_t (*sdd_should_download_fn)(const char *SDD_NONNULL url,
                                          void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** Whether a URL that failed is blocked: the result of an sdd_should_block_fn. */
typedef int32_t sdd_block_choice;

SDD_ENUM(sdd_block_choice) {
    SDD_BLOCK_BY_POLICY = 0, /* as the loader's fail_policy says */
    SDD_BLOCK = 1,
    SDD_DO_NOT_BLOCK = 2
};

/**
 * Decides whether a URL that has just failed is blocked, in place of the loader's fail_policy.
 *
 * @param url The URL that failed: the load's, or one of its alternatives. Borrowed until the
 *     callback returns.
 * @param failure Borrowed until the callback returns.
 * @param user_data The loader's.
 * @return One of SDD_BLOCK_BY_POLICY, SDD_BLOCK, SDD_DO_NOT_BLOCK.
 * Thread: as sdd_should_download_fn.
 */
typedef sdd_block_choice (*sdd_should_block_fn)(const char *SDD_NONNULL url,
                                                const sdd_failure *SDD_NONNULL failure,
                                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Inspects a load before anything else is done, and may change it: SDWebImage's options processor.
 *
 * @param request A copy of the submitted request, in the library's size. Data that the callback
 *     makes it point to must stay valid until the submitting call has returned. Changes to
 *     user_data, user_data_free and `completed` are ignored.
 * @param user_data The loader's.
 * Thread: the submitting one, inside the submitting call.
 */
typedef void (*sdd_options_processor_fn)(sdd_load_request *SDD_NONNULL request,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** The configuration of a loader. Begin with SDD_LOADER_CONFIG_INIT. */
typedef struct sdd_loader_config {
    size_t struct_size;
    /* NULL: the shared one. May be destroyed after the loader or before; in that case loads end
       with SDD_ERROR_CANCELLED. */
    sdd_downloader *SDD_NULLABLE downloader;
    /* NULL: the shared one. A destroyed cache has nothing and keeps nothing. */
    sdd_cache *SDD_NULLABLE cache;
    /* For the originals of scaled or transformed pictures; NULL: `cache`. */
    sdd_cache *SDD_NULLABLE original_cache;
    int32_t no_cache;    /* 1: no cache at all */
    sdd_fail_policy fail_policy; /* one of SDD_FAIL_POLICY_ */
    sdd_should_download_fn SDD_NULLABLE should_download;
    sdd_should_block_fn SDD_NULLABLE should_block_failed_url;
    sdd_options_processor_fn SDD_NULLABLE options_processor;
    void *SDD_NULLABLE user_data; /* passed to all three callbacks */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_loader_config;

#define SDD_LOADER_CONFIG_INIT \
    { sizeof(sdd_loader_config), NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Creates a loader. It has no thread of its own.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle: destroy it with sdd_loader_destroy(). NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED or _FORKED:
 *     the downloader or a cache is dead; SDD_ERROR_NO_RESOURCES.
 * Thread: any.
 */
SDD_API sdd_status sdd_loader_create(const sdd_loader_config *SDD_NULLABLE config,
                                     sdd_loader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels all loads of the loader, and ends it. Its loads end with SDD_ERROR_CANCELLED; the
 * downloader delivers that, perhaps after this call has returned. None of the loader's callbacks
 * begins later for a load, except one that another thread is just about to make.
 *
 * @param loader Dead from now on. NULL and the shared loader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if already destroyed; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_loader_destroy(sdd_loader *SDD_NULLABLE loader);

/**
 * Returns the shared loader, which NULL stands for. It uses the shared downloader and the shared
 * cache, or no cache if that cannot be created. It cannot be destroyed.
 *
 * @return Its handle; NULL if it cannot be created. The child of a fork has another one.
 * Thread: any. Lifetime: as long as the process.
 */
SDD_API sdd_loader *SDD_NULLABLE sdd_loader_shared(void);

/**
 * Loads a picture from the cache or the network. Returns at once; `completed` is called exactly
 * once, later.
 *
 * @param loader NULL: the shared one.
 * @param url As for sdd_download().
 * @param options SDD_OPTION_ bits marked L.
 * @param progress, completed, user_data As for sdd_download().
 * @return The token. 0, and nothing will be called: as for sdd_download().
 * Thread: any.
 */
SDD_API sdd_token sdd_load(sdd_loader *SDD_NULLABLE loader, const char *SDD_NULLABLE url,
                           sdd_options options, sdd_progress_fn SDD_NULLABLE progress,
                           sdd_result_fn SDD_NULLABLE completed, void *SDD_NULLABLE user_data);

/**
 * Submits a load with all its settings. Otherwise as sdd_load().
 *
 * @param request Copied.
 * @return The token. 0: nothing will be called, not even user_data_free. sdd_last_error() says why:
 *     as for sdd_downloader_submit(), and SDD_ERROR_INVALID_ARGUMENT for invalid levels,
 *     alternatives, transforms or a key.
 * Thread: any.
 */
SDD_API sdd_token sdd_loader_submit(sdd_loader *SDD_NULLABLE loader,
                                    const sdd_load_request *SDD_NONNULL request);

/**
 * Submits a load and WAITS for its end. Works in both delivery modes and inside callbacks, since it
 * delivers no events. With SDD_OPTION_FROM_CACHE_ONLY it waits for the disk alone. With
 * SDD_OPTION_REFRESH_CACHED it waits for the server; if the picture has not changed
 * (SDD_ERROR_NOT_MODIFIED), or the refresh fails, image and bytes are those of the cache.
 *
 * @param loader NULL: the shared one.
 * @param request As for sdd_loader_submit(), but without callbacks.
 * @param timeout_ms, out As for sdd_downloader_submit_wait().
 * @return As for sdd_downloader_submit_wait().
 * Thread: any, but not sdd-net and decode threads (see the rules in sdd.h).
 */
SDD_API sdd_status sdd_loader_submit_wait(sdd_loader *SDD_NULLABLE loader,
                                          const sdd_load_request *SDD_NONNULL request,
                                          int64_t timeout_ms,
                                          sdd_result *SDD_NULLABLE *SDD_NULLABLE out);

/**
 * Returns the number of loads that have not ended, or 0 for a dead handle.
 * Thread: any.
 */
SDD_API int64_t sdd_loader_running_count(sdd_loader *SDD_NULLABLE loader);

/**
 * Cancels every load of a loader, as sdd_cancel() would. Other requests of its downloader go on.
 *
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_loader_cancel_all(sdd_loader *SDD_NULLABLE loader);

/**
 * Removes a URL from the failed ones, for all identities.
 *
 * @return SDD_OK, also if it was not among them; SDD_ERROR_INVALID_ARGUMENT for NULL;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_loader_remove_failed_url(sdd_loader *SDD_NULLABLE loader,
                                                const char *SDD_NONNULL url);

/** Removes all failed URLs. Otherwise as sdd_loader_remove_failed_url(). */
SDD_API sdd_status sdd_loader_remove_all_failed_urls(sdd_loader *SDD_NULLABLE loader);

/**
 * Returns 1 if a URL is blocked at this moment for any identity; else 0, also for NULL or a dead
 * handle.
 * Thread: any.
 */
SDD_API int32_t sdd_loader_is_blocked(sdd_loader *SDD_NULLABLE loader, const char *SDD_NONNULL url);

/* ---------------------------------------------------------------------------------- prefetching */

/** Where a prefetch list puts its pictures: sdd_prefetch_list.to. */
typedef int32_t sdd_prefetch_target;

SDD_ENUM(sdd_prefetch_target) {
    SDD_PREFETCH_MEMORY = 0, /* decoded in memory, and the bytes on disk */
    /* Bytes on disk, not decoded; also kept if they are no picture. Implies
       SDD_OPTION_WAIT_STORE_CACHE; a URL whose bytes could not be stored has failed, with
       SDD_ERROR_CACHE. */
    SDD_PREFETCH_DISK = 1
};

/** The progress of a prefetch list, or its outcome. Filled by the library. */
typedef struct sdd_prefetch_report {
    size_t struct_size;
    sdd_token token;
    /* SDD_OK: all URLs have ended, with or without success. SDD_ERROR_CANCELLED: the list was
       cancelled. */
    sdd_status status;
    size_t total;     /* URLs in the list */
    size_t finished;  /* URLs that have ended, including failed ones */
    size_t skipped;   /* URLs that failed */
    /* URLs that had not ended when the list was cancelled. In the end finished + cancelled is
       total. */
    size_t cancelled;
    /* The `total` outcomes, in the order of the URLs; SDD_ERROR_CANCELLED for one that had not
       ended. NULL for an empty list, and until the list has ended. */
    const sdd_outcome *SDD_NULLABLE outcomes;
} sdd_prefetch_report;

/**
 * Reports that one URL of a list has ended.
 *
 * @param token The list's token.
 * @param index Index of the URL in the list, from 0.
 * @param result Borrowed until the callback returns. Its token is the list's; its image and bytes
 *     are NULL, since they are in the cache.
 * @param user_data The list's own.
 * Thread: as sdd_result_fn.
 */
typedef void (*sdd_prefetch_each_fn)(sdd_token token, size_t index,
                                     const sdd_result *SDD_NONNULL result,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Reports the progress of a list, after each URL.
 *
 * @param token The list's token.
 * @param finished URLs that have ended, including failed ones.
 * @param skipped URLs that failed.
 * @param total URLs in the list.
 * @param user_data The list's own.
 * Thread: as sdd_result_fn.
 */
typedef void (*sdd_prefetch_progress_fn)(sdd_token token, size_t finished, size_t skipped,
                                         size_t total, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Reports that a list has ended. Called once for each accepted list, as its last callback.
 *
 * @param report Borrowed until the callback returns, with the outcomes in it.
 * @param user_data The list's own.
 * Thread: as sdd_result_fn.
 */
typedef void (*sdd_prefetch_completed_fn)(const sdd_prefetch_report *SDD_NONNULL report,
                                  void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** A list of URLs to load ahead of time. Begin with SDD_PREFETCH_LIST_INIT. */
typedef struct sdd_prefetch_list {
    size_t struct_size;
    /* The `count` URLs, copied. An invalid one fails alone, with SDD_ERROR_INVALID_URL; one that
       occurs twice is loaded twice. */
    const char *SDD_NULLABLE const *SDD_NULLABLE urls;
    size_t count;           /* at most 1,048,576; 0: the list ends at once, with SDD_OK */
    sdd_options options;    /* SDD_OPTION_ bits marked P, for each load */
    sdd_priority priority;  /* one of SDD_PRIORITY_; default SDD_PRIORITY_VERY_LOW */
    sdd_prefetch_target to; /* one of SDD_PREFETCH_ */
    const sdd_transfer_options *SDD_NULLABLE transfer; /* NULL: as the downloader's config says */
    /* The form of the pictures in memory; later loads find them only if they ask for the same.
       Without `pixels`. NULL: the downloader's, see sdd_downloader_set_decode_options(). */
    const sdd_decode_options *SDD_NULLABLE decode;
    sdd_prefetch_completed_fn SDD_NULLABLE completed;
    sdd_prefetch_progress_fn SDD_NULLABLE progress;
    sdd_prefetch_each_fn SDD_NULLABLE each;
    void *SDD_NULLABLE user_data; /* of all callbacks */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_prefetch_list;

#define SDD_PREFETCH_LIST_INIT \
    { sizeof(sdd_prefetch_list), NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Starts loading a list. The loader's downloader delivers the events: `each` for a URL that ends,
 * then `progress`, unless `each` has dispatched later ones; at last `completed`, once.
 *
 * All lists of a loader together load at most 3 URLs at once, earlier lists first. Each is a load
 * with the list's priority, until sdd_set_priority() changes it. A load joins running transfers of
 * other loads and downloads, and is then as urgent as those. The application's options_processor
 * sees each load as it begins, on any thread. URLs already in memory are counted inside the call.
 *
 * sdd_loader_cancel_all() and sdd_loader_destroy() cancel all lists of a loader.
 * sdd_downloader_cancel_all() of its downloader ends the loads under way, and the lists go on with
 * the next URLs.
 *
 * @param loader NULL: the shared one.
 * @param list Copied, with everything it points to.
 * @return The token of the list, for sdd_cancel() and the like. 0: nothing will be called, not even
 *     user_data_free. sdd_last_error() says why: SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED;
 *     SDD_ERROR_CLOSED: the loader, or its downloader, was destroyed; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_token sdd_prefetch(sdd_loader *SDD_NULLABLE loader,
                               const sdd_prefetch_list *SDD_NONNULL list);

/**
 * Changes how many URLs of prefetch lists are loaded at once. Raising it starts more at once;
 * lowering it stops none.
 *
 * @param loader NULL: the shared one.
 * @param count At least 1; initially 3.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for 0 or less; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_loader_set_max_concurrent_prefetches(sdd_loader *SDD_NULLABLE loader,
                                                            int32_t count);

SDD_END_DECLS

#endif /* SDD_LOADER_H */

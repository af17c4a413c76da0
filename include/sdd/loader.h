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
 *         printf("%s\n", result->error == SDD_OK ? "loaded" : result->message);
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         return sdd_wait_idle(NULL, 30000) != SDD_OK;
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
 * A load asks a cache, goes to the network only for what that does not have, decodes to size,
 * transforms, stores, and ends once. It is what most programs want:
 *
 * sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *
 * A loader joins a downloader and a cache. NULL stands for the shared loader, over the shared
 * downloader and the shared cache. The stages, each shared by all loads that want the same of it:
 *
 * 1. A URL that has failed lately ends with SDD_ERROR_BLOCKED: see "FAILED URLS" below. 2. The
 * cache: memory, the disk, the original on disk, of which it is made. sdd_result.origin is then
 * _MEMORY or _DISK. 3. should_download. If nothing may be fetched: SDD_ERROR_NOT_CACHED. 4. The
 * download, of two attempts where that helps (sdd_retry_options.max_attempts), then of
 * alternative URLs. Of several processes that load a URL into one directory one downloads it; the
 * others wait (share_wait_ms), and find it. 5. Decoding to the size and form that is wanted, and
 * transforms, on decode threads. 6. What came goes to the cache: the original's bytes, and what was
 * made of them. What is made of an original that the cache had is stored by the same rules.
 *
 * What the cache has is good for as long as the cache keeps it (max_disk_age_ms), whatever HTTP
 * says, as in SDWebImage. With SDD_OPTION_USE_HTTP_CACHE, or http_cache of the downloader, HTTP's
 * rules count instead: stage 2 is left to the HTTP cache, which keeps encoded bytes alone.
 * SDD_OPTION_REFRESH_CACHED shows what there is, and asks the server meanwhile.
 *
 * One token stands for all stages. It is one of the loader's downloader: sdd_cancel(),
 * sdd_set_priority(), sdd_token_get_info() and the like take it there, and events are delivered
 * there. (Between two stages, while the host is being asked or something is being stored, there is
 * no request to be told of: SDD_ERROR_NOT_FOUND.) What a load of another form, or with another
 * token, wants is never touched by them. Requests that say who they are have entries of their own
 * in the cache: see "WHO ASKS" there.
 *
 * BYTES. A picture as it is stored has its encoded bytes, in sdd_result.bytes and
 * sdd_image_bytes(), wherever it comes from: the network, memory or the disk. One that is made to a
 * size, or with transforms, has none, and no metadata, wherever it comes from; only with
 * SDD_OPTION_QUERY_MEMORY_DATA are sdd_result.bytes what the cache has on disk of it, if it has it.
 * What the picture is made of is had by a load without size and transforms, or of
 * SDD_OPTION_BYTES_ONLY.
 *
 * FAILED URLS. A loader remembers up to 4096 URLs that have failed for a reason that will last: the
 * status, the picture, the address, not the connection. They are blocked for 1 second, and each
 * time they fail again for twice as long, up to 5 minutes; with status 404 and 410 from 1 minute to
 * 1 hour; where the server says Retry-After, for as long (RFC 9110 section 10.2.3), at most a day.
 * Any success ends it. A failure is that of the URL for who asked: another caller, or one with
 * other headers where the response's Vary names them, is let through. So is who accepts the status
 * that came, or reads pictures in another way. What only this load did not take is not remembered:
 * integrity, expected_bytes, accepted_content_types, and accepted_status_codes that leave out a
 * success (200 to 299).
 */

/**
 * A picture that is wanted of a loader. Begin with SDD_LOAD_REQUEST_INIT, set `url` and
 * `completed`. Everything in it is copied by sdd_loader_submit(). Since: 0.2.0.
 */
typedef struct sdd_load_request {
    size_t struct_size;
    const char *SDD_NULLABLE url; /* as for sdd_download(); also "data:" (RFC 2397) */
    uint64_t options;             /* SDD_OPTION_ bits */
    /* Of the download; not called for what the cache has. Begins anew, with (0, -1), with each
       attempt and each alternative */
    sdd_progress_fn SDD_NULLABLE progress;
    /* May be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain() */
    sdd_completed_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    /* NULL: the downloader's, see sdd_downloader_set_decode_options(). With `pixels` or an
       allocator the picture itself is neither looked for in the cache nor stored there, but its
       original is */
    const sdd_decode_options *SDD_NULLABLE decode;
    /* transform_count of them, as for sdd_image_transform(); their user_data must stay good until
       the load has ended. What they make has an entry of its own in the cache, by their keys. Not
       with `pixels` */
    const sdd_transform *SDD_NULLABLE transforms;
    size_t transform_count;
    /* alternative_count URLs of the same picture, tried in this order when `url` has failed; the
       first success wins, and is stored as `url`. sdd_result.sources tells of the others */
    const char *SDD_NULLABLE const *SDD_NULLABLE alternatives;
    size_t alternative_count; /* at most 64 */
    /* What the picture is called in the cache; NULL: what the cache's filter makes of `url`, see
       sdd_cache_key() */
    const char *SDD_NULLABLE cache_key;

    /* Levels of the cache, each one of SDD_CACHE_: for the picture in the form that is wanted, and
       for its original, where that is another. SDD_CACHE_NONE: not at all. */
    int32_t query; /* default SDD_CACHE_ALL */
    /* Default SDD_CACHE_ALL. To disk goes, of a smaller or transformed picture, what sdd_cache_item
       says of an image without bytes */
    int32_t store;
    int32_t original_query; /* default SDD_CACHE_DISK */
    /* Default SDD_CACHE_DISK. In memory the original is as it would be with
       SDD_OPTION_AVOID_DECODE_IMAGE, unless somebody wanted it decoded; one of a format of the
       application's is there only then */
    int32_t original_store;
    int32_t priority; /* one of SDD_PRIORITY_; 0: as `options` say */
    int32_t reserved; /* 0 */
    /* Of all stages together, but for waiting for the disk at the end; 0 as the downloader has it,
       SDD_NO_TIMEOUT none */
    int64_t total_timeout_ms;
    /* What else the download is to have: its headers, credential, time limits, modifiers,
       integrity, max_attempts (0: 2, or the downloader's if that is more). Its `options` must be 0:
       those of the load count. Not looked at: url, method, body, range, priority, sink,
       total_timeout_ms, decode, callbacks and user_data. NULL: nothing else */
    const sdd_download_request *SDD_NULLABLE download;
    /* With SDD_OPTION_PROGRESSIVE_LOAD: as sdd_download_request.preview */
    sdd_completed_fn SDD_NULLABLE preview;
    sdd_facts_fn SDD_NULLABLE facts;
    /* With SDD_OPTION_REFRESH_CACHED: called once with what the cache has, before the terminal
       callback; sdd_result.finished is 0 */
    sdd_completed_fn SDD_NULLABLE cached;
} sdd_load_request;

#define SDD_LOAD_REQUEST_INIT \
    { sizeof(sdd_load_request), NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, \
      0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/** Which failures a loader remembers: sdd_loader_config.fail_policy. Since: 0.2.0. */
enum {
    SDD_FAIL_POLICY_BACK_OFF = 0, /* those that last, for a time: see "FAILED URLS" above */
    /* For ever, as SDWebImage 5: SDD_ERROR_INVALID_URL and _BAD_IMAGE_DATA, and of the 3000s all
       but _RESOLVE, _CONNECT, _TIMEOUT, _CONNECTION_LOST, _TRUNCATED_BODY and _PROXY */
    SDD_FAIL_POLICY_SDWEBIMAGE = 1,
    SDD_FAIL_POLICY_NONE = 2 /* none */
};

/**
 * Asked whether a URL that the cache does not have may be downloaded.
 *
 * @param url Of the load. Borrowed until the callback returns.
 * @param user_data The loader's.
 * @return 1 to go on; 0: the load ends with SDD_ERROR_NOT_CACHED.
 * Thread: any of the library's, or the submitting one. Be quick; any sdd_ function that does not
 *     wait may be called.
 */
typedef int32_t (*sdd_should_download_fn)(const char *SDD_NONNULL url,
                                          void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Asked whether a URL that has just failed is to be remembered as failed, in place of the loader's
 * fail_policy.
 *
 * @param url The one that failed: of the load, or one of its alternatives. Borrowed until the
 *     callback returns.
 * @param error, detail, http_status As in sdd_result.
 * @param user_data The loader's.
 * @return 1 to block it, 0 not to, -1 as the fail_policy says.
 * Thread: as sdd_should_download_fn.
 */
typedef int32_t (*sdd_should_block_fn)(const char *SDD_NONNULL url, sdd_status error,
                                       int32_t detail, int32_t http_status,
                                       void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Looks at a load before anything else does, and may change it: the options processor of
 * SDWebImage.
 *
 * @param request A copy of what was submitted, of the size that the library knows. What it is made
 *     to point to must stay good until the submitting call has returned. user_data, user_data_free
 *     and `completed` stay as they were.
 * @param user_data The loader's.
 * Thread: the submitting one, inside the submitting call.
 */
typedef void (*sdd_options_processor_fn)(sdd_load_request *SDD_NONNULL request,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** How a loader is to be. Begin with SDD_LOADER_CONFIG_INIT. Since: 0.2.0. */
typedef struct sdd_loader_config {
    size_t struct_size;
    /* NULL: the shared one. To be destroyed after the loader, or before: loads then end with
       SDD_ERROR_CANCELLED */
    sdd_downloader *SDD_NULLABLE downloader;
    /* NULL: the shared one. A destroyed one has nothing, and keeps nothing */
    sdd_cache *SDD_NULLABLE cache;
    /* For originals of what is wanted in another form; NULL: `cache` */
    sdd_cache *SDD_NULLABLE original_cache;
    int32_t no_cache;    /* 1: no cache at all */
    int32_t fail_policy; /* one of SDD_FAIL_POLICY_ */
    sdd_should_download_fn SDD_NULLABLE should_download;
    sdd_should_block_fn SDD_NULLABLE should_block_failed_url;
    sdd_options_processor_fn SDD_NULLABLE options_processor;
    void *SDD_NULLABLE user_data; /* of all three */
    /* Called once, on any thread, when user_data is of no use any more; never if
       sdd_loader_create() failed */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
} sdd_loader_config;

#define SDD_LOADER_CONFIG_INIT \
    { sizeof(sdd_loader_config), NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Makes a loader. It has no thread of its own.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_loader_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED or _FORKED:
 *     the downloader or a cache is dead; SDD_ERROR_NO_RESOURCES.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_create(const sdd_loader_config *SDD_NULLABLE config,
                                     sdd_loader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what the loader has under way, and ends it. Its loads end with SDD_ERROR_CANCELLED, where
 * and when its downloader delivers: perhaps after this call has returned.
 *
 * @param loader Dead from now on. NULL and the shared loader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_destroy(sdd_loader *SDD_NULLABLE loader);

/**
 * The shared loader, which NULL stands for in every call: over the shared downloader and the shared
 * cache, or no cache where that cannot be made. It cannot be destroyed.
 *
 * @return Its handle; NULL if it cannot be made, and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.2.0.
 */
SDD_API sdd_loader *SDD_NULLABLE sdd_loader_shared(void);

/**
 * Loads a picture: from the cache, or from the network. Returns at once; `completed` is called
 * exactly once, later.
 *
 * @param loader NULL: the shared one.
 * @param url As for sdd_download().
 * @param options SDD_OPTION_ bits.
 * @param progress, completed, user_data As for sdd_download().
 * @return The token, one of the loader's downloader. 0, and nothing will be called: as for
 *     sdd_download().
 * Thread: any; with SDD_OPTION_QUERY_MEMORY_DATA_SYNC and _DISK_DATA_SYNC it WAITS for the disk.
 *     Since: 0.2.0.
 */
SDD_API sdd_token sdd_load(sdd_loader *SDD_NULLABLE loader, const char *SDD_NULLABLE url,
                           uint64_t options, sdd_progress_fn SDD_NULLABLE progress,
                           sdd_completed_fn SDD_NULLABLE completed, void *SDD_NULLABLE user_data);

/**
 * Loads a picture with everything a load can have. Otherwise as sdd_load().
 *
 * @param request Copied, with all that it points to.
 * @param status Receives SDD_OK with a token, and with 0 the reason: as for
 *     sdd_downloader_submit(), and SDD_ERROR_INVALID_ARGUMENT for levels, alternatives, transforms
 *     or a key that cannot be. May be NULL.
 * @return The token, or 0: then nothing will be called, user_data_free neither.
 * Thread: as sdd_load(). Since: 0.2.0.
 */
SDD_API sdd_token sdd_loader_submit(sdd_loader *SDD_NULLABLE loader,
                                    const sdd_load_request *SDD_NONNULL request,
                                    sdd_status *SDD_NULLABLE status);

/**
 * How many loads have not ended; 0 for a dead handle. While that is more than 0, the loader is
 * running.
 *
 * Thread: any. Since: 0.2.0.
 */
SDD_API int64_t sdd_loader_running_count(sdd_loader *SDD_NULLABLE loader);

/**
 * Cancels every load of a loader that is under way, as sdd_cancel() would; other requests of its
 * downloader go on.
 *
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_cancel_all(sdd_loader *SDD_NULLABLE loader);

/**
 * Takes a URL from those that have failed, whoever asked for it.
 *
 * @return SDD_OK, also if it was none; SDD_ERROR_INVALID_ARGUMENT for NULL; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_remove_failed_url(sdd_loader *SDD_NULLABLE loader,
                                                const char *SDD_NONNULL url);

/** Takes all of them. Otherwise as sdd_loader_remove_failed_url(). Since: 0.2.0. */
SDD_API sdd_status sdd_loader_remove_all_failed_urls(sdd_loader *SDD_NULLABLE loader);

/**
 * Whether a URL is blocked at this moment for anybody who has asked for it: 1 or 0; 0 for NULL or a
 * dead handle.
 *
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_loader_is_blocked(sdd_loader *SDD_NULLABLE loader, const char *SDD_NONNULL url);

/* ---------------------------------------------------------------------------------- prefetching */

/** Where the URLs of a list are to be: sdd_prefetch_list.to. Since: 0.2.0. */
enum {
    SDD_PREFETCH_MEMORY = 0, /* decoded, in memory, and the bytes on disk */
    SDD_PREFETCH_DISK = 1 /* the bytes on disk, not decoded: what is no picture is kept as well */
};

/** What one URL of a list came to; as in sdd_result. Filled by the library. Since: 0.2.0. */
typedef struct sdd_prefetch_outcome {
    /* SDD_OK, or why it is not there; SDD_ERROR_CANCELLED: the list was cancelled before */
    sdd_status error;
    int32_t detail;      /* one of SDD_DETAIL_ */
    int32_t http_status; /* 0 if there was no response */
    int32_t origin;      /* one of SDD_ORIGIN_: from a cache, it was there already */
} sdd_prefetch_outcome;

/** How far a list has come, or what it came to. Filled by the library. Since: 0.2.0. */
typedef struct sdd_prefetch_report {
    size_t struct_size;
    sdd_token token;
    /* SDD_OK: all URLs have ended, however they did; SDD_ERROR_CANCELLED: the list was cancelled */
    sdd_status error;
    int32_t reserved; /* 0 */
    size_t total;     /* URLs */
    size_t finished;  /* URLs that have ended, those that failed included */
    size_t skipped;   /* URLs that failed */
    /* URLs that had not ended when the list was cancelled: in the end finished + cancelled is total
     */
    size_t cancelled;
    /* `total` of them, in the order of the URLs; NULL for a list without URLs, and as long as it
       has not ended */
    const sdd_prefetch_outcome *SDD_NULLABLE outcomes;
    size_t outcome_size; /* bytes from one to the next: a later version may have longer ones */
} sdd_prefetch_report;

/**
 * One URL of a list has ended.
 *
 * @param token The list's.
 * @param index Of the URL in the list, from 0.
 * @param result Borrowed until the callback returns. Its token is the list's, its image and bytes
 *     are NULL: they are where they were wanted.
 * @param user_data The list's own.
 * Thread: as sdd_completed_fn. Since: 0.2.0.
 */
typedef void (*sdd_prefetch_each_fn)(sdd_token token, size_t index,
                                     const sdd_result *SDD_NONNULL result,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * How far a list has come, after each URL.
 *
 * @param token The list's.
 * @param finished URLs that have ended, those that failed included.
 * @param skipped URLs that failed.
 * @param total URLs of the list.
 * @param user_data The list's own.
 * Thread: as sdd_completed_fn. Since: 0.2.0.
 */
typedef void (*sdd_prefetch_progress_fn)(sdd_token token, size_t finished, size_t skipped,
                                         size_t total, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * A list has ended: once for each that was accepted, after all else of it.
 *
 * @param report Borrowed until the callback returns, with the outcomes in it.
 * @param user_data The list's own.
 * Thread: as sdd_completed_fn. Since: 0.2.0.
 */
typedef void (*sdd_prefetched_fn)(const sdd_prefetch_report *SDD_NONNULL report,
                                  void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** URLs to load ahead of time. Begin with SDD_PREFETCH_LIST_INIT. Since: 0.2.0. */
typedef struct sdd_prefetch_list {
    size_t struct_size;
    /* `count` of them, copied. One that is no URL fails alone, with SDD_ERROR_INVALID_URL; one that
       comes twice is asked for twice */
    const char *SDD_NULLABLE const *SDD_NULLABLE urls;
    size_t count;     /* at most 1,048,576; 0: the list ends at once, with SDD_OK */
    uint64_t options; /* of each load: SDD_OPTION_ bits of lists */
    int32_t to;       /* one of SDD_PREFETCH_ */
    int32_t reserved; /* 0 */
    /* How the images in memory are to be: what is loaded later must ask for the same to find them.
       Without `pixels`. NULL: the downloader's, see sdd_downloader_set_decode_options() */
    const sdd_decode_options *SDD_NULLABLE decode;
    sdd_prefetch_each_fn SDD_NULLABLE each;
    sdd_prefetch_progress_fn SDD_NULLABLE progress;
    sdd_prefetched_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    /* Called once, after the end, if a token was returned */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_prefetch_list;

#define SDD_PREFETCH_LIST_INIT \
    { sizeof(sdd_prefetch_list), NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Begins to load a list. The callbacks run, or the events are drained, where the loader's
 * downloader delivers: `each` and then `progress` for each URL that ends, in the order in which
 * they end; `completed` once, as the last.
 *
 * Not thread-hungry and not in the way: at most 3 URLs at once over all lists of a loader, those of
 * the list that came first before the others; each a load with SDD_PRIORITY_VERY_LOW, until
 * sdd_set_priority() says otherwise. It shares what other loads and downloads have under way, and
 * then is as urgent as those. The host's options_processor sees each load as it begins, on
 * whichever thread that is. What is in memory already is counted off inside the call.
 *
 * sdd_loader_cancel_all() and sdd_loader_destroy() cancel all lists of a loader. The
 * sdd_downloader_cancel_all() of its downloader ends the loads of lists that are under way, and the
 * lists go on with the next.
 *
 * @param loader NULL: the shared one.
 * @param list Copied, with all that it points to.
 * @param status Receives SDD_OK with a token, and with 0 the reason: SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED: the loader, or its downloader, was destroyed;
 *     SDD_ERROR_FORKED. May be NULL.
 * @return A token of the list, for sdd_cancel() and the like; 0: nothing will be called,
 *     user_data_free neither.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_prefetch(sdd_loader *SDD_NULLABLE loader,
                               const sdd_prefetch_list *SDD_NONNULL list,
                               sdd_status *SDD_NULLABLE status);

/**
 * Changes how many URLs of lists may be loaded at once. Raising it begins more at once; lowering it
 * stops none.
 *
 * @param loader NULL: the shared one.
 * @param count At least 1; 3 at first.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for 0 or less; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_set_max_concurrent_prefetches(sdd_loader *SDD_NULLABLE loader,
                                                            int32_t count);

SDD_END_DECLS

#endif /* SDD_LOADER_H */

/*
 * sdd/event.h - Events: results taken on a thread of the application, observers that follow every
 * transfer, logs and statistics.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         printf("%s\n", sdd_status_name(result->failure.status));
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
 *         sdd_downloader *downloader = NULL;
 *         config.delivery = SDD_DELIVERY_APPLICATION;
 *         if (sdd_downloader_create(&config, &downloader) != SDD_OK) return 1;
 *         sdd_download(downloader, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         sdd_downloader_idle_wait(downloader, 30000);
 *         return sdd_downloader_destroy(downloader) != SDD_OK;
 *     }
 *
 * It prints: SDD_OK
 */
#ifndef SDD_EVENT_H
#define SDD_EVENT_H

#include "loader.h"
#include "result.h"

SDD_BEGIN_DECLS

/* --------------------------------------------------------------------------- observers and logs */

/** Log levels of sdd_downloader_set_log(). */
typedef int32_t sdd_log_level;

SDD_ENUM(sdd_log_level) {
    SDD_LOG_NONE = 0,
    /* Something was lost: the cookie file cannot be written; an entry of a cache cannot, told with
       the first failure, and then once a minute with their number, in the log of each downloader
       that uses the cache. */
    SDD_LOG_ERROR = 1,
    /* Something is less safe or less good than it should be: an unverified certificate. */
    SDD_LOG_WARNING = 2,
    SDD_LOG_INFO = 3, /* one line for each failed transfer, and each response not accepted */
    SDD_LOG_DEBUG = 4 /* one line for each start and end of a transfer, and each redirect */
};

/** Kinds of sdd_event and sdd_notice. */
typedef int32_t sdd_event_kind;

SDD_ENUM(sdd_event_kind) {
    /* Kinds of a request. */
    SDD_EVENT_COMPLETED = 1, /* it has ended: the terminal event, with `result` */
    SDD_EVENT_PROGRESS = 2,  /* received_bytes and expected_bytes have grown */
    SDD_EVENT_FACTS = 3,     /* as sdd_download_request.facts: `info` */
    SDD_EVENT_PREVIEW = 4,   /* as sdd_download_request.preview: `result` */
    SDD_EVENT_CACHED = 5,    /* as sdd_load_request.cached: `result` */

    /* Kinds of a prefetch list. */

    /* A URL has ended: `result` and `index` as for sdd_prefetch_list.each, and in `prefetch` how
       far the list is. */
    SDD_EVENT_PREFETCHED = 6,
    SDD_EVENT_PREFETCH_COMPLETED = 7, /* the list has ended: `prefetch` */

    /* Notices, see sdd_downloader_set_observer() and sdd_downloader_set_log(): `notice`. */
    SDD_EVENT_START = 10,
    SDD_EVENT_RESPONSE = 11,
    SDD_EVENT_FINISH = 12,
    SDD_EVENT_STOP = 13,
    SDD_EVENT_RETRY = 14,
    SDD_EVENT_LOG = 15
};

/** A notice about a transfer, or a log message; SDWebImage's notifications. */
typedef struct sdd_notice {
    size_t struct_size;
    sdd_event_kind kind;  /* SDD_EVENT_START, _RESPONSE, _STOP, _FINISH, _RETRY or _LOG */
    sdd_log_level level;  /* log messages: one of SDD_LOG_ */
    /* Number of the transfer; requests that share a transfer share it, and each attempt has
       another. 0 for a log message about no transfer. */
    uint64_t transfer;
    sdd_token token; /* the first request of the transfer */
    /* The transfer's URL, without user and password. NULL for a log message about no transfer, or
       about one that no request waits for any more. */
    const char *SDD_NULLABLE url;
    int64_t time_us; /* CLOCK_MONOTONIC */
    /* For _STOP and _RETRY the reason why the transfer failed; from _RESPONSE on with the HTTP
       status. For a log message its message is the line, and all else 0. */
    sdd_failure failure;
    int32_t attempt;  /* number of the attempt, from 1; 0 for a log message about no transfer */
    int64_t delay_us; /* for _RETRY: from now until the next attempt may begin */
} sdd_notice;

/**
 * Receives notices about transfers, or log messages.
 *
 * @param notice Borrowed until the callback returns.
 * @param user_data That of sdd_downloader_set_observer() or sdd_downloader_set_log().
 * Thread: as sdd_result_fn, in one order with its events.
 */
typedef void (*sdd_observer_fn)(const sdd_notice *SDD_NONNULL notice,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Sets the observer of every transfer of a downloader. It receives START, RESPONSE (valid or not),
 * FINISH (the body came without error) and, last, STOP (the transfer is over, for whatever reason).
 * RETRY follows STOP if the transfer failed and will be retried. Initially there is no observer.
 *
 * @param downloader NULL: the shared one.
 * @param observer NULL: none. After the call has returned, at most one call of the previous
 *     observer is still running on another thread.
 * @param user_data_free Called once, on any thread, when user_data is no longer used: after the
 *     observer was replaced or the downloader has ended. Not called if this call fails or observer
 *     is NULL. May be NULL.
 * @return SDD_OK; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_observer(sdd_downloader *SDD_NULLABLE downloader,
                                               sdd_observer_fn SDD_NULLABLE observer,
                                               void *SDD_NULLABLE user_data,
                                               sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/**
 * Sets the observer of log messages up to a level: notices of kind SDD_EVENT_LOG. Initially there
 * is none, unless SDD_LOG=error, warning, info or debug is in the environment when the process
 * creates its first downloader: then every downloader without an observer of its own writes lines
 * up to that level to standard error (docs/debugging.md). At SDD_LOG_WARNING the first callback
 * that keeps its thread for over a second is reported.
 *
 * @param level One of SDD_LOG_. At SDD_LOG_NONE no message is made.
 * @param observer, user_data, user_data_free As for sdd_downloader_set_observer(); it may be the
 *     same observer.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another level; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_log(sdd_downloader *SDD_NULLABLE downloader,
                                          sdd_log_level level,
                                          sdd_observer_fn SDD_NULLABLE observer,
                                          void *SDD_NULLABLE user_data,
                                          sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/* ----------------------------------------------------------------------------------- statistics */

/**
 * Counts of a downloader since its creation, and its current state. Filled by the library.
 */
typedef struct sdd_statistics {
    size_t struct_size;
    int64_t requests;        /* accepted requests */
    int64_t requests_joined; /* accepted requests that joined an existing transfer */
    int64_t requests_succeeded;
    int64_t requests_failed;
    int64_t requests_cancelled;
    int64_t transfers_started;
    int64_t transfers_succeeded; /* transfers whose body arrived whole, whatever became of it */
    /* This and the bytes below, as in sdd_metrics: of transfers that ended by themselves, or whose
       response was refused for its status; nothing of those that were cancelled or out of time. */
    int64_t connections_opened;
    int64_t request_bytes;
    int64_t response_header_bytes;
    int64_t response_body_bytes;
    int64_t body_bytes;
    int64_t images_decoded;
    int64_t decode_us; /* time that decode threads have spent decoding */
    int64_t waiting;   /* now: transfers in the queue */
    int64_t running;   /* now: transfers on the network */
    int64_t decoding;  /* now: transfers being decoded, or waiting for it */

    /* Memory, now. In addition the process keeps up to 36 MiB for reuse while requests are under
       way. */

    /* Bodies on the network, as far as they have arrived, without those that go to a sink. */
    int64_t receiving_bytes;
    int64_t waiting_bytes; /* bodies that wait for a decode thread or for room for their pictures */
    /* Bodies and image memory of results whose callback has not begun or whose event was not taken.
       Memory that several results share counts for each. */
    int64_t undelivered_bytes;
    /* Pictures being decoded or not yet delivered, including those in undelivered_bytes, see
       sdd_process_set_decode_memory_limit(). */
    int64_t decode_memory_bytes;
} sdd_statistics;

#define SDD_STATISTICS_INIT \
    { sizeof(sdd_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Reads the statistics of a downloader.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *     SDD_ERROR_NO_RESOURCES.
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_get_statistics(sdd_downloader *SDD_NULLABLE downloader,
                                                 sdd_statistics *SDD_NONNULL statistics);

/**
 * Objects that exist in the process now, whichever code made or holds them: to find references that
 * are never released. Filled by the library.
 */
typedef struct sdd_process_statistics {
    size_t struct_size;
    /* Images: those that the application holds, those in caches and results, previews. */
    int64_t images;
    /* Bytes of their pixels, and of the pixels of pictures that are being decoded; without pixels
       in memory that a request lent (sdd_decode_options.pixels, an sdd_tensor). */
    int64_t pixel_bytes;
    /* Byte buffers: bodies, encoded pictures, sdd_bytes_create(), header fields. */
    int64_t bytes_objects;
    int64_t bytes_bytes;    /* bytes that they hold, without mapped files */
    int64_t prefetch_lists; /* lists of all loaders of the process that have not ended */
} sdd_process_statistics;

#define SDD_PROCESS_STATISTICS_INIT \
    { sizeof(sdd_process_statistics), 0, 0, 0, 0, 0 }

/**
 * Reads the counts of objects in the process, at little cost.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. In the child of a fork, objects inherited from the parent count.
 */
SDD_API sdd_status sdd_process_get_statistics(sdd_process_statistics *SDD_NONNULL statistics);

/* --------------------------------------------------------------------------------------- events */

/** An event, filled by sdd_downloader_drain() or sdd_downloader_wait(). */
typedef struct sdd_event {
    size_t struct_size;
    sdd_event_kind kind; /* one of SDD_EVENT_ */
    sdd_token token;
    void *SDD_NULLABLE user_data; /* the request's; the observer's for a notice */
    /* For SDD_EVENT_PROGRESS, as in sdd_progress_fn. */
    int64_t received_bytes;
    int64_t expected_bytes;

    /* NULL where the kind has none. Borrowed, with all that they have, until the next
       sdd_downloader_drain(), _dispatch(), _wait(), _idle_wait() or _destroy() of the same
       downloader: retain the result's image, bytes or response to keep them longer. That call also
       runs user_data_free. */

    const sdd_result *SDD_NULLABLE result;
    const sdd_image_info *SDD_NULLABLE info;
    const sdd_prefetch_report *SDD_NULLABLE prefetch;
    const sdd_notice *SDD_NULLABLE notice;
    size_t index; /* for SDD_EVENT_PREFETCHED */
} sdd_event;

#define SDD_EVENT_INIT \
    { sizeof(sdd_event), 0, 0, NULL, 0, 0, NULL, NULL, NULL, NULL, 0 }

/**
 * Returns a descriptor that is readable while events wait: for poll, epoll, GLib, libuv, asyncio.
 * It is level-triggered, non-blocking and close-on-exec. Only watch it; the library reads and
 * writes it.
 *
 * @param downloader NULL: the shared one.
 * @return The descriptor, an eventfd(2); -1 with SDD_DELIVERY_THREAD, and for a dead handle.
 * Thread: any. Lifetime: until sdd_downloader_destroy().
 */
SDD_API int32_t sdd_downloader_event_fd(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Calls the callbacks of waiting events on the calling thread, without waiting for more.
 *
 * @param downloader NULL: the shared one.
 * @param max Most events to deliver; 0: all that wait when the call begins.
 * @param count Receives the number delivered. May be NULL.
 * @return SDD_OK, also if there were none; SDD_ERROR_WRONG_DELIVERY with SDD_DELIVERY_THREAD;
 *     SDD_ERROR_BUSY while another thread takes this downloader's events; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any, one at a time; allowed inside a callback of this downloader.
 */
SDD_API sdd_status sdd_downloader_dispatch(sdd_downloader *SDD_NULLABLE downloader, size_t max,
                                           size_t *SDD_NULLABLE count);

/**
 * Takes waiting events into an array. It calls no callback, only the user_data_free of the events
 * that the previous call took.
 *
 * @param downloader NULL: the shared one.
 * @param events An array of max records. The struct_size of the first is the size of each: set it.
 * @param max At least 1.
 * @param count Receives the number filled.
 * @return As sdd_downloader_dispatch(), and SDD_ERROR_INVALID_ARGUMENT for NULL, max 0, or a
 *     struct_size too small to reach `result`.
 * Thread: any, one at a time.
 */
SDD_API sdd_status sdd_downloader_drain(sdd_downloader *SDD_NULLABLE downloader,
                                        sdd_event *SDD_NONNULL events, size_t max,
                                        size_t *SDD_NONNULL count);

/**
 * WAITS for events, then acts as sdd_downloader_drain(), or as sdd_downloader_dispatch() if events
 * is NULL.
 *
 * @param downloader NULL: the shared one.
 * @param events As for sdd_downloader_drain(), or NULL.
 * @param max As for sdd_downloader_drain() or sdd_downloader_dispatch().
 * @param timeout_ms Longest wait; 0: none; negative: no limit.
 * @param count Receives the number delivered. May be NULL if events is.
 * @return As sdd_downloader_drain() and sdd_downloader_dispatch(); SDD_ERROR_TIMEOUT if no event
 *     came in time.
 * Thread: any, one at a time.
 */
SDD_API sdd_status sdd_downloader_wait(sdd_downloader *SDD_NULLABLE downloader,
                                       sdd_event *SDD_NULLABLE events, size_t max,
                                       int64_t timeout_ms, size_t *SDD_NULLABLE count);

SDD_END_DECLS

#endif /* SDD_EVENT_H */

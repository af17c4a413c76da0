/*
 * sdd/event.h - Events: an application that takes results on a thread of its own, and observers
 * that follow every transfer.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         printf("%s\n", sdd_status_name(result->error));
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
 *         sdd_downloader *downloader = NULL;
 *         config.delivery = SDD_DELIVERY_APPLICATION;
 *         if (sdd_downloader_create(&config, &downloader) != SDD_OK) return 1;
 *         sdd_download(downloader, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         sdd_wait_idle(downloader, 30000);
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

/** Levels of messages for sdd_downloader_set_log(). Since: 0.2.0. */
enum {
    SDD_LOG_NONE = 0,
    SDD_LOG_ERROR = 1, /* something was lost: the cookie file cannot be written */
    /* Something is less safe or less good than it should be: an unverified certificate */
    SDD_LOG_WARNING = 2,
    SDD_LOG_INFO = 3, /* one line for each transfer that failed */
    SDD_LOG_DEBUG = 4 /* one line for each transfer's start and end, each redirect */
};

/** One happening of a transfer; a notification of SDWebImage. Since: 0.2.0. */
typedef struct sdd_notice {
    size_t struct_size;
    int32_t kind;  /* SDD_EVENT_START, _RESPONSE, _STOP, _FINISH, _RETRY or _LOG */
    int32_t level; /* of a _LOG: SDD_LOG_ */
    /* Numbers transfers, as many as may share it; another one for each attempt. 0 for a message
       about none */
    uint64_t transfer;
    sdd_token token; /* the first request of the transfer */
    /* Of the transfer, without user and password; NULL for a message about none, or about one that
       nobody waits for any more */
    const char *SDD_NULLABLE url;
    int64_t time_us;                  /* CLOCK_MONOTONIC */
    int32_t http_status;              /* 0 before there is a response */
    sdd_status error;                 /* of a _STOP and a _RETRY */
    const char *SDD_NULLABLE message; /* of a _LOG: one line */
    /* Which of its request's transfers it is, from 1; 0 for a message about none */
    int32_t attempt;
    int32_t reserved;
    int64_t delay_us; /* of a _RETRY: from now until the next one may begin */
} sdd_notice;

/**
 * Told what transfers do.
 *
 * @param notice Borrowed until the callback returns.
 * Thread: as sdd_completed_fn, in one order with its events.
 */
typedef void (*sdd_observer_fn)(const sdd_notice *SDD_NONNULL notice,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Makes somebody hear of every transfer: START, RESPONSE (valid or not), FINISH (its body came
 * without error) and STOP (it is over, for whatever reason; the last), behind which there is a
 * RETRY if it has failed and will be tried again. Nobody does at first.
 *
 * @param downloader NULL: the shared one.
 * @param observer NULL: nobody any more. After the call has returned, at most one call of the
 *     observer before is still running on another thread.
 * @param user_data_free Called once, on any thread, when user_data is of no use any more: after
 *     another observer, or the downloader's end. May be NULL. Not called if this call fails, or
 *     observer is NULL.
 * @return SDD_OK; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_observer(sdd_downloader *SDD_NULLABLE downloader,
                                               sdd_observer_fn SDD_NULLABLE observer,
                                               void *SDD_NULLABLE user_data,
                                               sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/**
 * Makes somebody hear of messages up to a level: notices of kind SDD_EVENT_LOG. Nobody does at
 * first.
 *
 * @param level One of SDD_LOG_. At SDD_LOG_NONE nothing is told, and no message is made.
 * @param observer, user_data, user_data_free As for sdd_downloader_set_observer(); it may be the
 *     same observer.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another level; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_log(sdd_downloader *SDD_NULLABLE downloader, int32_t level,
                               sdd_observer_fn SDD_NULLABLE observer, void *SDD_NULLABLE user_data,
                               sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/* ----------------------------------------------------------------------------------- statistics */

/**
 * Counts of a downloader since its creation, and what there is of it now. Filled by the library.
 * Since: 0.2.0.
 */
typedef struct sdd_statistics {
    size_t struct_size;
    int64_t requests;        /* accepted */
    int64_t requests_joined; /* of those, that shared a transfer already there */
    int64_t requests_succeeded;
    int64_t requests_failed;
    int64_t requests_cancelled;
    int64_t transfers_started;
    int64_t transfers_succeeded; /* whose body came whole, whatever was made of it */
    int64_t connections_opened;
    int64_t request_bytes; /* of transfers that have ended, as in sdd_metrics */
    int64_t response_header_bytes;
    int64_t response_body_bytes;
    int64_t body_bytes;
    int64_t images_decoded;
    int64_t decode_us; /* time that decode threads have spent decoding */
    int64_t waiting;   /* now: transfers in the queue, */
    int64_t running;   /* on the network, */
    int64_t decoding;  /* and being decoded, or waiting to be */

    /* Memory, now. Beside it, while requests are under way, up to 36 MiB are kept at hand in the
       process. */

    /* Bodies on the network, as far as they have come; none that goes to a sink */
    int64_t receiving_bytes;
    /* Bodies that wait for a decode thread, or for room for their pictures */
    int64_t waiting_bytes;
    /* What results hold whose callback has not begun, or whose event nobody has taken: bodies, and
       what their images hold; what several results share counts for each */
    int64_t undelivered_bytes;
    /* Room for pictures that are being decoded or not delivered, see
       sdd_process_set_decode_memory_limit(); also those in undelivered_bytes */
    int64_t decode_memory_bytes;
} sdd_statistics;

#define SDD_STATISTICS_INIT \
    { sizeof(sdd_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * What a downloader has done, and is doing.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *     SDD_ERROR_NO_RESOURCES.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_get_statistics(sdd_downloader *SDD_NULLABLE downloader,
                                      sdd_statistics *SDD_NONNULL statistics);

/* --------------------------------------------------------------------------------------- events */

/** Kinds of sdd_event. Since: 0.1.0. */
enum {
    SDD_EVENT_PROGRESS = 1,  /* received_bytes and expected_bytes have grown */
    SDD_EVENT_COMPLETED = 2, /* the request has ended: the terminal event */

    /* For sdd_downloader_set_observer() and sdd_downloader_set_log(), which see. Since 0.2.0: */
    SDD_EVENT_START = 3,
    SDD_EVENT_RESPONSE = 4,
    SDD_EVENT_FINISH = 5,
    SDD_EVENT_STOP = 6,
    SDD_EVENT_LOG = 7,
    SDD_EVENT_PREVIEW = 8, /* image and result are what sdd_download_request.preview would get */
    SDD_EVENT_FACTS = 9,   /* facts is what sdd_download_request.facts would get */
    SDD_EVENT_RETRY = 10,  /* for sdd_downloader_set_observer(), which see */
    SDD_EVENT_CACHED = 11, /* image, bytes and result are what sdd_load_request.cached would get */
    /* a URL of a list has ended: result and index are what sdd_prefetch_list.each would get, and
       prefetch says how far the list has come */
    SDD_EVENT_PREFETCHED = 12,
    /* a list has ended: prefetch is what sdd_prefetch_list.completed would get */
    SDD_EVENT_PREFETCH_COMPLETED = 13
};

/** One event, filled by sdd_drain() or sdd_wait(). Since: 0.1.0. */
typedef struct sdd_event {
    size_t struct_size;
    sdd_token token;
    void *SDD_NULLABLE user_data;  /* the request's */
    int32_t kind;                  /* one of SDD_EVENT_ */
    sdd_status error;              /* the result's; SDD_OK for progress */
    sdd_image *SDD_NULLABLE image; /* the result's, with one reference: release it */
    sdd_bytes *SDD_NULLABLE bytes; /* the result's, with one reference: release it */
    int64_t received_bytes;        /* as in sdd_progress_fn; of a completed one, its size */
    int64_t expected_bytes;
    /* NULL for progress. Borrowed, with the strings in it, until the next sdd_drain(),
       sdd_dispatch(), sdd_wait(), sdd_wait_idle() or sdd_downloader_destroy() of the same
       downloader; that call is also what runs user_data_free */
    const sdd_result *SDD_NULLABLE result;
    /* Of kinds 3 to 7 and 10, borrowed as result is; user_data is then the observer's. Since 0.2.0
     */
    const sdd_notice *SDD_NULLABLE notice;
    /* Of SDD_EVENT_FACTS, borrowed as result is. Since 0.2.0 */
    const sdd_image_facts *SDD_NULLABLE facts;
    /* Of kinds 12 and 13, borrowed as result is. Since 0.2.0 */
    const sdd_prefetch_report *SDD_NULLABLE prefetch;
    size_t index; /* of SDD_EVENT_PREFETCHED. Since 0.2.0 */
} sdd_event;

#define SDD_EVENT_INIT \
    { sizeof(sdd_event), 0, NULL, 0, 0, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0 }

/**
 * A descriptor that is readable while events wait: for poll, epoll, GLib, libuv, asyncio.
 *
 * Level-triggered, non-blocking, closed on exec. Only watch it; the library reads and writes it.
 * @param downloader NULL: the shared one.
 * @return The descriptor, an eventfd(2); -1 with SDD_DELIVERY_THREAD, and for a dead handle.
 * Thread: any. Lifetime: until sdd_downloader_destroy(). Since: 0.1.0.
 */
SDD_API int32_t sdd_event_fd(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Calls the callbacks of events that wait, here, and returns.
 *
 * @param downloader NULL: the shared one.
 * @param max Most events to deliver; 0: all that wait when the call begins.
 * @param count Receives how many were delivered. May be NULL.
 * @return SDD_OK, also when there were none; SDD_ERROR_WRONG_DELIVERY with SDD_DELIVERY_THREAD;
 *     SDD_ERROR_BUSY while another thread takes this downloader's events; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any, one at a time. Inside a callback of this downloader: allowed. Since: 0.1.0.
 */
SDD_API sdd_status sdd_dispatch(sdd_downloader *SDD_NULLABLE downloader, size_t max,
                                size_t *SDD_NULLABLE count);

/**
 * Takes events that wait into an array, and calls nothing (but the user_data_free of what the call
 * before this one took).
 *
 * @param downloader NULL: the shared one.
 * @param events max records in a row. The struct_size of the FIRST gives the size of each: set it.
 * @param max How many there are room for, at least 1.
 * @param count Receives how many were filled.
 * @return As sdd_dispatch(), and SDD_ERROR_INVALID_ARGUMENT for NULL, max 0, or a struct_size too
 *     small to reach `result`.
 * Thread: any, one at a time. Since: 0.1.0.
 */
SDD_API sdd_status sdd_drain(sdd_downloader *SDD_NULLABLE downloader, sdd_event *SDD_NONNULL events,
                             size_t max, size_t *SDD_NONNULL count);

/**
 * WAITS for events, then does what sdd_drain() does, or, with events NULL, what sdd_dispatch()
 * does.
 *
 * @param downloader NULL: the shared one.
 * @param events As for sdd_drain(), or NULL.
 * @param max As for the one or the other.
 * @param timeout_ms Longest wait; 0: none; negative: no limit.
 * @param count Receives how many were delivered. May be NULL if events is.
 * @return As sdd_drain() and sdd_dispatch(); SDD_ERROR_TIMED_OUT when no event came in time.
 * Thread: any, one at a time. Since: 0.1.0.
 */
SDD_API sdd_status sdd_wait(sdd_downloader *SDD_NULLABLE downloader, sdd_event *SDD_NULLABLE events,
                            size_t max, int64_t timeout_ms, size_t *SDD_NULLABLE count);

SDD_END_DECLS

#endif /* SDD_EVENT_H */

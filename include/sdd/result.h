/*
 * sdd/result.h - The outcome of a request: the result that its terminal callback receives, the
 * server's response, and metrics.
 *
 * A callback borrows its result until it returns: retain the image, bytes or response to keep them
 * longer. A call that waits for a request gives a result of the caller's own, to be released.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         printf("%s %d\n", sdd_status_name(result->failure.status),
 *                (int)result->failure.http_status);
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_download(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         return sdd_downloader_idle_wait(NULL, 30000) != SDD_OK;
 *     }
 *
 * It prints: SDD_OK 200
 */
#ifndef SDD_RESULT_H
#define SDD_RESULT_H

#include "error.h"
#include "image.h"

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------------------ responses */

/**
 * Adds a reference to a response, so that it outlives the callback that lent it.
 *
 * @param response Borrowed. NULL gives NULL.
 * @return The same response, owned by the caller: release it with sdd_response_release().
 * Thread: any.
 */
SDD_API sdd_response *SDD_NULLABLE sdd_response_retain(sdd_response *SDD_NULLABLE response);

/**
 * Releases one reference to a response. Never blocks.
 *
 * @param response The reference to release. NULL does nothing.
 * Thread: any.
 */
SDD_API void sdd_response_release(sdd_response *SDD_NULLABLE response);

/**
 * Returns the URL that answered, the last one of a chain of redirects, or NULL for NULL.
 * Thread: any. Lifetime: while a reference to the response is held.
 */
SDD_API const char *SDD_NULLABLE sdd_response_url(sdd_response *SDD_NULLABLE response);

/**
 * Returns the HTTP status code (RFC 9110 section 15), or 0 for NULL and for a scheme without one.
 * Thread: any.
 */
SDD_API int32_t sdd_response_status(sdd_response *SDD_NULLABLE response);

/**
 * Returns the media type in lower case and without parameters, such as "image/jpeg" (RFC 9110
 * section 8.3.1).
 *
 * @return "" if the response names none; NULL for NULL.
 * Thread: any. Lifetime: while a reference to the response is held.
 */
SDD_API const char *SDD_NULLABLE sdd_response_mime_type(sdd_response *SDD_NULLABLE response);

/**
 * Returns the value of the first header field with a name: bytes as the server sent them, nearly
 * always ASCII.
 *
 * @param response Borrowed.
 * @param name Compared without regard to case.
 * @return NULL if there is no such field, and for NULL.
 * Thread: any. Lifetime: while a reference to the response is held.
 */
SDD_API const char *SDD_NULLABLE sdd_response_header(sdd_response *SDD_NULLABLE response,
                                                     const char *SDD_NONNULL name);

/**
 * Returns the number of header fields, or 0 for NULL.
 * Thread: any.
 */
SDD_API size_t sdd_response_header_count(sdd_response *SDD_NULLABLE response);

/**
 * Reads one header field. Fields are numbered in the order in which they arrived.
 *
 * @param response Borrowed.
 * @param index From 0 to sdd_response_header_count() - 1.
 * @param name Receives the name as the server sent it (HTTP/2 sends lower case). May be NULL.
 * @param value Receives the value, without surrounding white space. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last field; SDD_ERROR_INVALID_ARGUMENT for response
 *     NULL.
 * Thread: any. Lifetime: both strings, while a reference to the response is held.
 */
SDD_API sdd_status sdd_response_header_at(sdd_response *SDD_NULLABLE response, size_t index,
                                          const char *SDD_NULLABLE *SDD_NULLABLE name,
                                          const char *SDD_NULLABLE *SDD_NULLABLE value);

/* -------------------------------------------------------------------------------------- results */

/**
 * How long the stages of a request took, and what its transfer cost. Filled by the library.
 *
 * Durations are 0 for a stage that did not happen, such as connecting when a connection was reused.
 * After redirects, byte counts cover all hops, and lookup, connect, TLS and first byte are those of
 * the last one. Requests that shared a transfer have the same counts, but durations and `attempts`
 * of their own. A request that ends before its transfer does (cancelled, out of time, or by
 * SDD_OPTION_STOP_WHEN_COMPLETE) has transfer_us and body_bytes until then; what else is measured
 * of the transfer is 0. A response whose status is refused has what was measured until its header.
 */
typedef struct sdd_metrics {
    size_t struct_size;
    int64_t queue_us; /* from the submitting call to the start of the transfer */
    /* From the submitting call until the cache, or another process that was downloading the same
       URL, had answered. */
    int64_t cache_us;
    int64_t name_lookup_us; /* libcurl's CURLINFO_NAMELOOKUP_TIME_T */
    int64_t connect_us;     /* TCP connect alone */
    int64_t tls_us;         /* TLS handshake alone */
    /* From the request being ready to be sent to the first byte of the response. */
    int64_t first_byte_us;
    int64_t transfer_us; /* the whole transfer, all hops, from its start to its last byte */
    /* From the last byte to the picture, including the wait for a decode thread. */
    int64_t decode_us;
    /* With SDD_OPTION_WAIT_STORE_CACHE, from the picture until it was on disk. */
    int64_t store_us;
    int64_t total_us; /* from the submitting call to the end */
    /* From the end until the callback was called or sdd_downloader_drain() took the event. */
    int64_t delivery_us;
    int64_t request_bytes;         /* bytes sent, header and body */
    int64_t response_header_bytes; /* header bytes received */
    int64_t response_body_bytes;   /* body bytes received, still packed by Content-Encoding */
    int64_t body_bytes;            /* body bytes after unpacking */
    /* With SDD_OPTION_STOP_WHEN_COMPLETE, bytes of the announced body that were not waited for. */
    int64_t saved_bytes;
    /* With SDD_OPTION_RESUME, bytes of the body that an earlier, broken transfer had left. */
    int64_t resumed_bytes;
    /* "192.0.2.1" or "2001:db8::1"; "" if there was no connection. */
    const char *SDD_NONNULL remote_address;
    int32_t remote_port;
    /* 10, 11, 20 or 30: of the last response, also of one that confirms what a cache has; 0 if
       there was none. */
    int32_t http_version;
    int32_t connection_reused; /* 1: the response came without a new connection */
    int32_t redirects;         /* redirects that were followed */
    /* Transfers started for this request, see sdd_transfer_options.max_attempts. All other fields
       describe the last of them. That a GET is sent once more because its reused connection had
       been closed (RFC 9112 section 9.3.1) is a part of its transfer. */
    int32_t attempts;
    /* 1, without a failure: nothing proves that the body is complete. The response announced no
       length, and its body ended with the HTTP/1 connection (RFC 9112 section 8) or came over
       HTTP/2 or 3, where libcurl does not tell a stream that ended from one that the server reset
       with NO_ERROR (RFC 9113 section 8.1). No cache stores such a body. 0: a length, the last
       chunk, the end of packed data or the end of the picture's own format (JPEG, PNG, GIF, WebP)
       proves it. */
    int32_t end_unproven;
} sdd_metrics;

/** Where a result comes from: sdd_result.origin. */
typedef int32_t sdd_origin;

SDD_ENUM(sdd_origin) {
    SDD_ORIGIN_NONE = 0,    /* of a failed request */
    SDD_ORIGIN_NETWORK = 1, /* also a data: URL, and an application's transport */
    SDD_ORIGIN_MEMORY = 2,  /* a cache's memory */
    SDD_ORIGIN_DISK = 3,    /* a cache's disk, whatever HTTP's rules say about freshness */
    /* The HTTP cache, without asking the server (RFC 9111 section 4.2). */
    SDD_ORIGIN_HTTP_FRESH = 4,
    /* The HTTP cache, after the server confirmed it (RFC 9111 section 4.3). */
    SDD_ORIGIN_HTTP_REVALIDATED = 5,
    /* The HTTP cache, although stale: the request or the response allows it (RFC 9111 section
       4.2.4, RFC 5861), or the downloader is offline, or SDD_OPTION_FROM_CACHE_ONLY or
       SDD_OPTION_REFRESH_CACHED takes what is there. */
    SDD_ORIGIN_HTTP_STALE = 6
};

/**
 * The outcome of one URL of several: of a load with alternatives (sdd_result.sources), of a
 * prefetch list (sdd_prefetch_report.outcomes). Filled by the library. Fixed for ever: it has no
 * struct_size.
 */
typedef struct sdd_outcome {
    /* NULL if the URL was NULL or unreadable, and in a report, whose URLs the application has. */
    const char *SDD_NULLABLE url;
    sdd_failure failure;
    sdd_origin origin; /* one of SDD_ORIGIN_ */
    int32_t reserved;
} sdd_outcome;

/**
 * The outcome of a request, filled by the library. With a failure, image and bytes are NULL, except
 * where a comment says otherwise.
 *
 * A callback borrows it, with all that it has, until it returns; sdd_downloader_drain() lends it as
 * sdd_event says. A result from a call whose name ends with _wait, or from an sdd_batch_item,
 * belongs to the caller: sdd_result_release().
 */
typedef struct sdd_result {
    size_t struct_size;
    /* the token that the submitting call returned; 0 from calls that wait, and in a batch */
    sdd_token token;
    /* The URL as submitted; the key, of a query or a store of a cache; NULL if it was NULL or
       unreadable, and in a batch, whose items have an id. */
    const char *SDD_NULLABLE url;
    sdd_failure failure;                 /* failure.status is SDD_OK if there is none */
    sdd_image *SDD_NULLABLE image;       /* NULL with SDD_OPTION_BYTES_ONLY */
    sdd_bytes *SDD_NULLABLE bytes;       /* the body, also beside an image; see BYTES in loader.h */
    sdd_response *SDD_NULLABLE response; /* also with a failure; NULL if none came */
    /* The application's bytes of the cache entry, see sdd_cache_item; NULL if there are none. */
    sdd_bytes *SDD_NULLABLE extended;
    const sdd_metrics *SDD_NONNULL metrics;
    /* The source_count URLs of a load with alternatives that failed, see
       sdd_load_request.alternatives. If all failed, the last one's failure is the load's. */
    const sdd_outcome *SDD_NULLABLE sources;
    size_t source_count;
    sdd_origin origin;   /* one of SDD_ORIGIN_ */
    /* 1: the end of the request; 0: a preview, or a cached picture before it */
    int32_t is_terminal;
    /* 1: all of sdd_load_request.transforms have been applied to the image, now or before it was
       cached, even if they did not change it. 0: there are no transforms or no image, the image is
       a preview, or it is animated and SDD_OPTION_TRANSFORM_ANIMATED_IMAGE is not set. */
    int32_t is_transformed;
    /* With SDD_OPTION_WAIT_STORE_CACHE, the errno of the failure to store it on disk, such as
       ENOSPC; 0: it is stored, or there was nothing to store. */
    int32_t store_error;
} sdd_result;

/**
 * Releases a result that belongs to the caller, with its references to image, bytes, response and
 * `extended`: retain what is to live longer. Never blocks.
 *
 * @param result From a call whose name ends with _wait, or from an sdd_batch_item. NULL does
 *     nothing.
 * Thread: any.
 */
SDD_API void sdd_result_release(sdd_result *SDD_NULLABLE result);

/**
 * Receives the result of a request. Called once for each accepted request, when it has ended.
 *
 * @param result Borrowed until the callback returns, like the image and the bytes in it.
 * @param user_data The request's own.
 * Thread: where the downloader delivers, see Threads in sdd.h. Every sdd_ function may be called.
 */
typedef void (*sdd_result_fn)(const sdd_result *SDD_NONNULL result,
                                 void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Reports how much of a body has arrived: (0, -1) when the transfer starts, (0, expected) at the
 * response, then growing counts. The last call for a complete body has (expected, expected).
 *
 * Counts between the response and the end that arrive faster than they are taken are merged, and
 * the newest is delivered. No call begins after the terminal callback, nor after sdd_cancel() has
 * returned; one may still be running on another thread then.
 *
 * @param token The request's token.
 * @param received_bytes Body bytes so far, after unpacking.
 * @param expected_bytes Body bytes in all; -1 while unknown, and for a body with a Content-Encoding
 *     such as gzip.
 * @param url The URL as submitted. Borrowed until the callback returns.
 * @param user_data The request's own.
 * Thread: as sdd_result_fn.
 */
typedef void (*sdd_progress_fn)(sdd_token token, int64_t received_bytes, int64_t expected_bytes,
                                const char *SDD_NONNULL url,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Tells what kind of picture is arriving: of a JPEG or PNG usually with the first bytes of the
 * body, of another format when its coder knows, at the latest with the picture. Called at most
 * once, before any preview; never if no decoder knows the body's format.
 *
 * @param token The request's token.
 * @param info What the first bytes say. Borrowed until the callback returns.
 * @param user_data The request's own.
 * Thread: as sdd_result_fn.
 */
typedef void (*sdd_facts_fn)(sdd_token token, const sdd_image_info *SDD_NONNULL info,
                             void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

SDD_END_DECLS

#endif /* SDD_RESULT_H */

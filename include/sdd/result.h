/*
 * sdd/result.h - The outcome of a request: the result that its terminal callback receives, the
 * server's response, timings and metrics.
 *
 * A result is borrowed until the callback returns. Retain its image, bytes or response to keep them
 * longer.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         printf("%s %d\n", sdd_status_name(result->error), (int)result->http_status);
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_download(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         return sdd_wait_idle(NULL, 30000) != SDD_OK;
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
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_response *SDD_NULLABLE sdd_response_retain(sdd_response *SDD_NULLABLE response);

/**
 * Releases one reference to a response. Never blocks.
 *
 * @param response The reference to release. NULL does nothing.
 * Thread: any. Since: 0.2.0.
 */
SDD_API void sdd_response_release(sdd_response *SDD_NULLABLE response);

/**
 * Returns the URL that answered, the last one of a chain of redirects, or NULL for NULL.
 * Thread: any. Lifetime: while a reference to the response is held. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_response_url(sdd_response *SDD_NULLABLE response);

/**
 * Returns the HTTP status code (RFC 9110 section 15), or 0 for NULL and for a scheme without one.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_response_status(sdd_response *SDD_NULLABLE response);

/**
 * Returns the media type in lower case and without parameters, such as "image/jpeg" (RFC 9110
 * section 8.3.1).
 *
 * @return "" if the response names none; NULL for NULL.
 * Thread: any. Lifetime: while a reference to the response is held. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_response_mime_type(sdd_response *SDD_NULLABLE response);

/**
 * Returns the value of the first header field with a name: bytes as the server sent them, nearly
 * always ASCII.
 *
 * @param response Borrowed.
 * @param name Compared without regard to case.
 * @return NULL if there is no such field, and for NULL.
 * Thread: any. Lifetime: while a reference to the response is held. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_response_header(sdd_response *SDD_NULLABLE response,
                                                     const char *SDD_NONNULL name);

/**
 * Returns the number of header fields, or 0 for NULL.
 * Thread: any. Since: 0.2.0.
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
 * Thread: any. Lifetime: both strings, while a reference to the response is held. Since: 0.2.0.
 */
SDD_API sdd_status sdd_response_header_at(sdd_response *SDD_NULLABLE response, size_t index,
                                          const char *SDD_NULLABLE *SDD_NULLABLE name,
                                          const char *SDD_NULLABLE *SDD_NULLABLE value);

/* -------------------------------------------------------------------------------------- results */

/**
 * The duration of each stage of a request, in microseconds; 0 for a stage that did not happen, such
 * as connecting when a connection was reused. After redirects, the lookup, connect, TLS and first
 * byte times are those of the last hop. Filled by the library. Since: 0.1.0.
 */
typedef struct sdd_timings {
    size_t struct_size;
    int64_t queue_us;       /* from the submitting call to the start of the transfer */
    int64_t name_lookup_us; /* libcurl's CURLINFO_NAMELOOKUP_TIME_T */
    int64_t connect_us;     /* TCP connect alone */
    int64_t tls_us;         /* TLS handshake alone */
    /* From the request being ready to be sent to the first byte of the response. */
    int64_t first_byte_us;
    int64_t transfer_us; /* the whole transfer, all hops, from its start to its last byte */
    /* From the last byte to the picture, including the wait for a decode thread. */
    int64_t decode_us;
    int64_t total_us; /* from the submitting call to the end */
    /* From the end until the callback was called or sdd_drain() took the event. Since: 0.2.0. */
    int64_t delivery_us;
    /* From the submitting call until the cache, or another process that was downloading the same
       URL, had answered. Since: 0.2.0. */
    int64_t cache_us;
    /* With SDD_OPTION_WAIT_STORE_CACHE, from the picture until it was on disk. Since: 0.2.0. */
    int64_t store_us;
} sdd_timings;

/**
 * The cost of one transfer. It is the same for all requests that shared the transfer, except for
 * `attempts`. After redirects, byte counts cover all hops and the rest describes the last one.
 * Filled by the library. Since: 0.2.0.
 */
typedef struct sdd_metrics {
    size_t struct_size;
    int64_t request_bytes;         /* bytes sent, header and body */
    int64_t response_header_bytes; /* header bytes received */
    int64_t response_body_bytes;   /* body bytes received, still packed by Content-Encoding */
    int64_t body_bytes;            /* body bytes after unpacking */
    int32_t http_version;          /* 10, 11, 20 or 30; 0 if there was no response */
    int32_t connection_reused;     /* 1: no new connection was made */
    int32_t redirects;             /* redirects that were followed */
    /* Transfers started for this request, see sdd_download_request.max_attempts. All other fields
       describe the last of them. */
    int32_t attempts;
    int32_t remote_port;
    int32_t reserved;
    /* "192.0.2.1" or "2001:db8::1"; "" if there was no connection. */
    const char *SDD_NONNULL remote_address;
    /* With SDD_OPTION_STOP_WHEN_COMPLETE, bytes of the announced body that were not waited for. */
    int64_t saved_bytes;
    /* With SDD_OPTION_RESUME, bytes of the body that an earlier, broken transfer had left. */
    int64_t resumed_bytes;
} sdd_metrics;

/** Where a result comes from: sdd_result.origin. Since: 0.2.0. */
SDD_ENUM(int32_t) {
    SDD_ORIGIN_NETWORK = 0, /* the network; also the origin of a failed request */
    SDD_ORIGIN_MEMORY = 1,  /* a cache's memory */
    SDD_ORIGIN_DISK = 2,    /* a cache's disk, whatever HTTP's rules say about freshness */
    /* The HTTP cache, without asking the server (RFC 9111 section 4.2). */
    SDD_ORIGIN_HTTP_FRESH = 3,
    /* The HTTP cache, after the server confirmed it (RFC 9111 section 4.3). */
    SDD_ORIGIN_HTTP_REVALIDATED = 4,
    /* The HTTP cache, although stale: the request or the response allows it (RFC 9111 section
       4.2.4, RFC 5861), or the downloader is offline. */
    SDD_ORIGIN_HTTP_STALE = 5
};

/**
 * The outcome of a request, filled by the library. On an error, image and bytes are NULL.
 * Lifetime: until the callback returns; from sdd_drain(), as sdd_event says. Since: 0.1.0.
 */
typedef struct sdd_result {
    size_t struct_size;
    sdd_token token;               /* the token that the submitting call returned */
    const char *SDD_NULLABLE url;  /* the URL as submitted; NULL if that was NULL or unreadable */
    sdd_image *SDD_NULLABLE image; /* borrowed; NULL with SDD_OPTION_BYTES_ONLY */
    /* Borrowed. The body, also when image is set. For loads see BYTES in loader.h. */
    sdd_bytes *SDD_NULLABLE bytes;
    sdd_status error; /* SDD_OK or the reason for the failure */
    int32_t detail;   /* one of SDD_DETAIL_ */
    /* Status of the last response, after the response modifier; 0 if there was none. */
    int32_t http_status;
    int32_t curl_code;               /* libcurl's CURLcode; 0 if it reported no error */
    int32_t system_error;            /* errno of the failed system call where known, else 0 */
    int32_t finished;                /* 1 in a terminal callback, 0 in a preview */
    const char *SDD_NONNULL message; /* one sentence on the error; "" for SDD_OK */
    const sdd_timings *SDD_NONNULL timings;

    /* Since 0.2.0: */
    sdd_response *SDD_NULLABLE response; /* borrowed, also with an error; NULL if none came */
    const sdd_metrics *SDD_NONNULL metrics;
    int32_t error_class; /* one of SDD_CLASS_ */
    int32_t stage;       /* one of SDD_STAGE_: where the request failed */
    int32_t retryable;   /* 1: the same request may well succeed later */
    int32_t origin;      /* one of SDD_ORIGIN_ */
    /* Borrowed. The application's bytes of the cache entry, see sdd_cache_item; NULL if there are
       none. */
    sdd_bytes *SDD_NULLABLE extended;
    /* The source_count URLs of a load that failed, see sdd_load_request.alternatives. If all
       failed, the last one's error is the load's error. */
    const struct sdd_source_error *SDD_NULLABLE sources;
    size_t source_count; /* 0 for a load without alternatives */
    /* 1, with SDD_OK: nothing proves that the body is complete. The response announced no length,
       and its body ended with the HTTP/1 connection (RFC 9112 section 8) or came over HTTP/2, where
       libcurl does not tell a stream that ended from one that the server reset with NO_ERROR (RFC
       9113 section 8.1). No cache stores such a body. 0: a length, the last chunk, the end of
       packed data or the end of the picture's own format (JPEG, PNG, GIF, WebP) proves it. */
    int32_t end_unproven;
    int32_t reserved;

    /* Since 0.3.0: */

    /* 1: all of sdd_load_request.transforms have been applied to the image, now or before it was
       cached, even if they did not change it. 0: there are no transforms or no image, the image is
       a preview, or it is animated and SDD_OPTION_TRANSFORM_ANIMATED_IMAGE is not set. */
    int32_t transformed;
    int32_t reserved2;
} sdd_result;

/**
 * Receives the result of a request. Called once for each accepted request, when it has ended.
 *
 * @param result Borrowed until the callback returns, like the image and the bytes in it.
 * @param user_data The request's own.
 * Thread: where the downloader delivers, see Threads in sdd.h. Every sdd_ function may be called.
 */
typedef void (*sdd_completed_fn)(const sdd_result *SDD_NONNULL result,
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
 * Thread: as sdd_completed_fn.
 */
typedef void (*sdd_progress_fn)(sdd_token token, int64_t received_bytes, int64_t expected_bytes,
                                const char *SDD_NONNULL url,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Reports what kind of picture is arriving: of a JPEG or PNG usually with the first bytes of the
 * body, of another format when its coder knows, at the latest with the picture. Called at most
 * once, before any preview; never if no decoder knows the body's format.
 *
 * @param token The request's token.
 * @param facts Borrowed until the callback returns.
 * @param user_data The request's own.
 * Thread: as sdd_completed_fn. Since: 0.2.0.
 */
typedef void (*sdd_facts_fn)(sdd_token token, const sdd_image_facts *SDD_NONNULL facts,
                             void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Frees a request's user data. Called once, after the terminal callback has returned.
 * Thread: as sdd_completed_fn.
 */
typedef void (*sdd_user_data_free_fn)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/* ---------------------------------------------------------------------------------------- loads */

/** One URL of a load that failed: sdd_result.sources. Since: 0.2.0. */
typedef struct sdd_source_error {
    size_t struct_size;           /* bytes from one record to the next */
    const char *SDD_NULLABLE url; /* NULL if the URL was NULL or unreadable */
    sdd_status error;
    int32_t detail;      /* one of SDD_DETAIL_ */
    int32_t http_status; /* 0 if there was no response */
    int32_t retryable;   /* as in sdd_result */
    const char *SDD_NONNULL message;
} sdd_source_error;

SDD_END_DECLS

#endif /* SDD_RESULT_H */

/*
 * sdd/result.h - What a request came to: the result of its terminal callback, the server's
 * response, timings and metrics.
 *
 * The result is borrowed until the callback returns. Retain its image, bytes or response to keep
 * them.
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
 * Adds one reference to a response, so that it outlives the callback that lent it.
 *
 * @param response Borrowed. NULL gives NULL.
 * @return The same response, owned by the caller: release with sdd_response_release().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_response *SDD_NULLABLE sdd_response_retain(sdd_response *SDD_NULLABLE response);

/**
 * Gives one reference back. Never blocks.
 *
 * @param response The reference to give back. NULL does nothing.
 * Thread: any. Since: 0.2.0.
 */
SDD_API void sdd_response_release(sdd_response *SDD_NULLABLE response);

/**
 * The URL that answered: the last one of a chain of redirects.
 *
 * @return NULL for NULL.
 * Thread: any. Lifetime: while a reference to the response is held. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_response_url(sdd_response *SDD_NULLABLE response);

/**
 * The HTTP status (RFC 9110 section 15); 0 for NULL and for a scheme that has none.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_response_status(sdd_response *SDD_NULLABLE response);

/**
 * The media type in lower case and without parameters, "image/jpeg" (RFC 9110 section 8.3.1).
 *
 * @return "" when the response names none; NULL for NULL.
 * Thread: any. Lifetime: while a reference to the response is held. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_response_mime_type(sdd_response *SDD_NULLABLE response);

/**
 * The value of the first header field of that name: bytes as the server sent them, nearly always
 * ASCII.
 *
 * @param response Borrowed.
 * @param name Compared without regard to case.
 * @return NULL when there is none, and for NULL.
 * Thread: any. Lifetime: while a reference to the response is held. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_response_header(sdd_response *SDD_NULLABLE response,
                                                     const char *SDD_NONNULL name);

/**
 * How many header fields there are; 0 for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API size_t sdd_response_header_count(sdd_response *SDD_NULLABLE response);

/**
 * One header field, in the order of their arrival.
 *
 * @param response Borrowed.
 * @param index From 0 to sdd_response_header_count() - 1.
 * @param name Receives the name as it was sent (in lower case with HTTP/2). May be NULL.
 * @param value Receives the value, without white space around it. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT for response
 *     NULL.
 * Thread: any. Lifetime: of both, while a reference to the response is held. Since: 0.2.0.
 */
SDD_API sdd_status sdd_response_header_at(sdd_response *SDD_NULLABLE response, size_t index,
                                          const char *SDD_NULLABLE *SDD_NULLABLE name,
                                          const char *SDD_NULLABLE *SDD_NULLABLE value);

/* -------------------------------------------------------------------------------------- results */

/**
 * How long each stage of a request took, in microseconds; 0 for a stage that did not happen, such
 * as a connect on a connection used again. Filled by the library. Since: 0.1.0.
 */
typedef struct sdd_timings {
    size_t struct_size;
    int64_t queue_us;       /* from the submitting call to the start of the transfer */
    int64_t name_lookup_us; /* libcurl's CURLINFO_NAMELOOKUP_TIME_T */
    int64_t connect_us;     /* TCP alone */
    int64_t tls_us;         /* TLS handshake alone */
    /* From the request being ready to be sent to the first byte of the answer */
    int64_t first_byte_us;
    int64_t transfer_us; /* the whole transfer, from its start to its last byte */
    int64_t decode_us; /* from the last byte to the picture, waiting for a decode thread included */
    int64_t total_us; /* from the submitting call to the end */
    /* From the end until the callback was called, or sdd_drain() took it; since 0.2.0 */
    int64_t delivery_us;
    /* From the submitting call until the cache had answered, or another process; since 0.2.0 */
    int64_t cache_us;
    /* Of SDD_OPTION_WAIT_STORE_CACHE: from the picture until it was on disk; since 0.2.0 */
    int64_t store_us;
} sdd_timings;

/**
 * What one transfer cost, the same for all who shared it but for `attempts`. Of a chain of
 * redirects it tells of the last hop, but for the counts of bytes and redirects. Filled by the
 * library. Since: 0.2.0.
 */
typedef struct sdd_metrics {
    size_t struct_size;
    int64_t request_bytes;         /* sent: header and body */
    int64_t response_header_bytes; /* received */
    int64_t response_body_bytes;   /* received, as packed by Content-Encoding */
    int64_t body_bytes;            /* handed out: unpacked */
    int32_t http_version;          /* 10, 11, 20, 30; 0 if there was no response */
    int32_t connection_reused;     /* 1: no new connection was made */
    int32_t redirects;             /* hops that were followed */
    /* Transfers that have begun for this request, see sdd_download_request.max_attempts; the rest
       is of the last one */
    int32_t attempts;
    int32_t remote_port;
    int32_t reserved;
    /* "192.0.2.1", "2001:db8::1"; "" if there was no connection */
    const char *SDD_NONNULL remote_address;
    int64_t saved_bytes; /* of the announced body, not waited for: SDD_OPTION_STOP_WHEN_COMPLETE */
    /* Of the body, kept from a transfer that had broken off: SDD_OPTION_RESUME */
    int64_t resumed_bytes;
} sdd_metrics;

/** Where a result comes from: sdd_result.origin. Since: 0.2.0. */
enum {
    SDD_ORIGIN_NETWORK = 0, /* also of a request that failed */
    SDD_ORIGIN_MEMORY = 1,  /* the memory of a cache */
    SDD_ORIGIN_DISK = 2,    /* the disk of a cache, whatever HTTP says of it */
    /* The HTTP cache, without asking the server (RFC 9111 section 4.2) */
    SDD_ORIGIN_HTTP_FRESH = 3,
    /* The HTTP cache, after the server has said that it is still right (section 4.3) */
    SDD_ORIGIN_HTTP_REVALIDATED = 4,
    /* The HTTP cache, though not fresh: the request or the response allows it (section 4.2.4; RFC
       5861), or the downloader is offline */
    SDD_ORIGIN_HTTP_STALE = 5
};

/**
 * What a request came to; made by the library. On an error, image and bytes are NULL.
 * Lifetime: until the callback returns, or, from sdd_drain(), as sdd_event says. Since: 0.1.0.
 */
typedef struct sdd_result {
    size_t struct_size;
    sdd_token token;               /* what the submitting call returned */
    const char *SDD_NULLABLE url;  /* as asked for, NULL if that was NULL or unreadable */
    sdd_image *SDD_NULLABLE image; /* borrowed; NULL with SDD_OPTION_BYTES_ONLY */
    /* Borrowed; the body, also when image is set; of a load see "BYTES" at sdd_load() */
    sdd_bytes *SDD_NULLABLE bytes;
    sdd_status error; /* SDD_OK or what went wrong */
    int32_t detail;   /* one of SDD_DETAIL_ */
    /* Of the last response, as a response modifier has changed it; 0 if there was none */
    int32_t http_status;
    int32_t curl_code;               /* libcurl's CURLcode; 0 if it reported no error */
    int32_t system_error;            /* errno of the failing system call where known, else 0 */
    int32_t finished;                /* 1 in a terminal callback, 0 in a preview */
    const char *SDD_NONNULL message; /* one sentence on the error; "" for SDD_OK */
    const sdd_timings *SDD_NONNULL timings;

    /* Since 0.2.0: */
    sdd_response *SDD_NULLABLE response; /* borrowed; NULL if none came. Also with an error */
    const sdd_metrics *SDD_NONNULL metrics;
    int32_t error_class; /* one of SDD_CLASS_ */
    int32_t stage;       /* one of SDD_STAGE_: where it failed */
    int32_t retryable;   /* 1: the same request may well succeed later */
    int32_t origin;      /* one of SDD_ORIGIN_ */
    /* Borrowed; the host's bytes of the cache's entry, see sdd_cache_item; or NULL */
    sdd_bytes *SDD_NULLABLE extended;
    /* Of a load: source_count URLs that came to nothing, see sdd_load_request.alternatives; of one
       that failed all of them, the last one's error being the load's */
    const struct sdd_source_error *SDD_NULLABLE sources;
    size_t source_count; /* 0 of a load without alternatives */
    /* 1, with SDD_OK: the bytes are what came, but nothing proves that they are all: the response
       announced no length, and over HTTP/1 its body ended with the connection (RFC 9112 section 8),
       or over HTTP/2 libcurl before 8.1 does not tell a stream that was ended from one that was
       given up (RFC 9113 section 8.1). No cache stores such a body. 0 where a length, the last
       chunk, the end of packed data or that of the picture's own format (JPEG, PNG, GIF, WebP)
       proves it */
    int32_t end_unproven;
    int32_t reserved;
} sdd_result;

/**
 * Called once for each accepted request, when it has ended.
 *
 * @param result Borrowed until the callback returns; so are the image and the bytes in it.
 * @param user_data The request's own.
 * Thread: where the downloader delivers, see "Threads" above. Every sdd_ function may be called.
 */
typedef void (*sdd_completed_fn)(const sdd_result *SDD_NONNULL result,
                                 void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Called as a body arrives: (0, -1) when the transfer starts, (0, expected) at the response, then
 * growing counts, the last of a complete body being (expected, expected).
 *
 * Counts that come faster than they are taken are merged: of those between the response and the end
 * the newest is delivered. None comes after the request's terminal callback, nor after sdd_cancel()
 * of it has returned, but for the one that may be running on another thread just then.
 * @param token The request's.
 * @param received_bytes Body bytes so far, after unpacking.
 * @param expected_bytes Body bytes in all; -1 while unknown, and for a packed body (gzip and the
 *     like).
 * @param url As asked for. Borrowed until the callback returns.
 * @param user_data The request's own.
 * Thread: as sdd_completed_fn.
 */
typedef void (*sdd_progress_fn)(sdd_token token, int64_t received_bytes, int64_t expected_bytes,
                                const char *SDD_NONNULL url,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Called when it is known what the picture is, mostly with the first bytes of the body: once,
 * before any preview, or never, if the body is none of a format that sdd_image_probe() knows.
 *
 * @param token The request's.
 * @param facts Borrowed until the callback returns.
 * @param user_data The request's own.
 * Thread: as sdd_completed_fn. Since: 0.2.0.
 */
typedef void (*sdd_facts_fn)(sdd_token token, const sdd_image_facts *SDD_NONNULL facts,
                             void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Called once with a request's user data, after its terminal callback has returned.
 *
 * Thread: as sdd_completed_fn.
 */
typedef void (*sdd_user_data_free_fn)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/* ---------------------------------------------------------------------------------------- loads */

/** One URL of a load that came to nothing: sdd_result.sources. Since: 0.2.0. */
typedef struct sdd_source_error {
    size_t struct_size;           /* from one record to the next */
    const char *SDD_NULLABLE url; /* NULL if that was NULL or unreadable */
    sdd_status error;
    int32_t detail;      /* one of SDD_DETAIL_ */
    int32_t http_status; /* 0 if there was no response */
    int32_t retryable;   /* as in sdd_result */
    const char *SDD_NONNULL message;
} sdd_source_error;

SDD_END_DECLS

#endif /* SDD_RESULT_H */

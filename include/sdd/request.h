/*
 * sdd/request.h - Requests: their options and fields, and how they are submitted, queried and
 * cancelled.
 *
 * A request ends with exactly one terminal callback. Its token names it until then.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         printf("%d pixels wide\n", (int)sdd_image_width(result->image));
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
 *         request.url = "https://example.org/a.jpg";
 *         request.priority = SDD_PRIORITY_HIGH;
 *         request.completed = completed;
 *         if (sdd_downloader_submit(NULL, &request) == 0) return 1;
 *         return sdd_downloader_idle_wait(NULL, 30000) != SDD_OK;
 *     }
 *
 * It prints: 37 pixels wide
 */
#ifndef SDD_REQUEST_H
#define SDD_REQUEST_H

#include "codec.h"
#include "modifier.h"
#include "result.h"

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------------------- requests */

/**
 * Option bits: one set for downloads, loads, prefetch lists, batches and cache queries. The letters
 * after a bit say where it has a meaning; a bit without letters has one everywhere.
 *
 * - D: downloads: sdd_download(), sdd_get(), sdd_downloader_submit(), batches without a loader.
 * - L: loads: sdd_load(), sdd_loader_submit().
 * - P: prefetch lists.
 * - B: batches with a loader.
 *
 * No bit is ever ignored. A download or load with a bit that has no meaning there, or that this
 * version does not know, ends with SDD_ERROR_INVALID_DOWNLOAD_OPERATION and
 * SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS, and the message names the bit. A prefetch list, batch or
 * query is refused with SDD_ERROR_INVALID_ARGUMENT for a bit that has no meaning there, and with
 * SDD_ERROR_UNSUPPORTED for one that this version does not know.
 */
typedef uint64_t sdd_options;

SDD_ENUM(sdd_options) {
    /* Transfer. */

    /* D L P B: sends the downloader's cookies beside those of the request's headers, and keeps. */
    SDD_OPTION_HANDLE_COOKIES = 1 << 0,
    /* D L P B: accepts any certificate from the servers of this request. */
    SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES = 1 << 1,
    /* D L P B: continues during the grace time of sdd_downloader_enter_background(). */
    SDD_OPTION_CONTINUE_IN_BACKGROUND = 1 << 2,
    /* D L P B: keeps in the cache the received part of a body that breaks off, or whose request is
       cancelled. The next request with this bit asks for the rest (RFC 9110 section 14.2, with
       If-Range). Only for GET without Range, and not with a sink. */
    SDD_OPTION_RESUME = 1 << 3,
    /* D L P B: the transfer may stop when the picture is complete at the wanted size: a progressive
       JPEG that is made smaller need not deliver detail that is not shown. The result then has no
       bytes; sdd_metrics.saved_bytes counts the rest. Only if all requests that share the transfer
       have this bit. */
    SDD_OPTION_STOP_WHEN_COMPLETE = 1 << 4,
    /* D L P B: leaves the body as the server sends it. The request says "Accept-Encoding: identity"
       (RFC 9110 section 12.5.3) unless its headers say otherwise, and no Content-Encoding is
       unpacked: the bytes delivered, checked, decoded and stored are the server's. The stored
       entries are found only by requests with this bit. */
    SDD_OPTION_BODY_AS_SENT = 1 << 5,

    /* Delivery. A callback asks for what it is given: `preview`, `progress` and `facts` need no
       bit. The bits ask for the same as events, where sdd_downloader_drain() takes them: only with
       SDD_DELIVERY_APPLICATION, and not for calls that wait or batches. */

    SDD_OPTION_PREVIEW_EVENTS = 1 << 6,  /* D L: SDD_EVENT_PREVIEW, although `preview` is NULL */
    SDD_OPTION_PROGRESS_EVENTS = 1 << 7, /* D L: SDD_EVENT_PROGRESS, although `progress` is NULL */
    SDD_OPTION_FACTS_EVENTS = 1 << 8,    /* D L: SDD_EVENT_FACTS, although `facts` is NULL */
    SDD_OPTION_BYTES_ONLY = 1 << 9, /* D L B: does not decode; the result has bytes and no image */

    /* Decoding. */

    /* The image has its size, format, orientation and bytes; its pixels are decoded on first use,
       see sdd_image_decode_pixels(). Not together with sdd_decode_options.pixels or transforms. */
    SDD_OPTION_AVOID_DECODE_IMAGE = 1 << 10,
    /* Makes a still picture of an animated one, from the pixels that sdd_image_pixels() shows, even
       if memory has it with all frames. Overrides PRELOAD_ALL_FRAMES. */
    SDD_OPTION_DECODE_FIRST_FRAME_ONLY = 1 << 11,
    /* Decodes and keeps all frames before the request ends, so that sdd_image_frame() costs almost
       nothing. All frames together may have max_pixels and take max_decode_bytes. */
    SDD_OPTION_PRELOAD_ALL_FRAMES = 1 << 12,
    /* L P B: transforms animated pictures too, which makes them still. Without it they stay as they
       are. */
    SDD_OPTION_TRANSFORM_ANIMATED_IMAGE = 1 << 13,

    /* Caches. */

    /* D L P B: follows RFC 9111, see THE HTTP CACHE in cache.h. */
    SDD_OPTION_USE_HTTP_CACHE = 1 << 14,
    /* D: uses the HTTP cache, like USE_HTTP_CACHE, but does not deliver its entry. If the entry is
       still valid, or the same bytes arrive, the request ends with SDD_ERROR_NOT_MODIFIED. */
    SDD_OPTION_IGNORE_CACHED_RESPONSE = 1 << 15,
    /* L P B: loads a URL that failed lately (FAILED URLS in loader.h); a success unblocks it. */
    SDD_OPTION_RETRY_FAILED = 1 << 16,
    /* L P B: delivers the cached picture at once (sdd_load_request.cached, SDD_EVENT_CACHED) and
       asks the server whether it is still valid, however fresh it is, by its validators or else by
       comparing bytes; a cache without a disk has neither, and the load then ends with the picture
       that arrives. With the HTTP cache the cached picture is its entry, fresh or stale. The load
       ends with the new picture, with SDD_ERROR_NOT_MODIFIED if the cached one is valid, or with
       the error of the refresh: the result then has no picture (but see sdd_loader_submit_wait()),
       and the cached one stays in the cache. If the URL is blocked (FAILED URLS in loader.h), or
       offline mode keeps it from the server, it ends with the cached picture; so does an item of a
       batch if that is valid. Not together with sdd_decode_options.pixels. */
    SDD_OPTION_REFRESH_CACHED = 1 << 17,
    /* L P B: never uses the network, also with REFRESH_CACHED: ends with the cached picture, or
       with SDD_ERROR_NOT_CACHED. The HTTP cache answers as in offline mode, however stale. */
    SDD_OPTION_FROM_CACHE_ONLY = 1 << 18,
    /* L P B: does not read the cache, but stores what arrives. */
    SDD_OPTION_FROM_LOADER_ONLY = 1 << 19,
    /* L P B: ends when its entries are on disk, or could not be stored: sdd_result.store_error. */
    SDD_OPTION_WAIT_STORE_CACHE = 1 << 20,
    /* L: for a picture in memory, also reads its encoded bytes from disk, see BYTES in loader.h. */
    SDD_OPTION_QUERY_MEMORY_DATA = 1 << 21
};

/**
 * Treatment of redirects, responses with status 301, 302, 303, 307 or 308 and a Location (RFC 9110
 * section 15.4): sdd_transfer_options.redirects. The application's own transports never follow
 * redirects; their responses are delivered as they are.
 */
typedef int32_t sdd_redirect_mode;

SDD_ENUM(sdd_redirect_mode) {
    /* Followed, up to max_redirects, by the rules of the downloader (allow_downgrade). */
    SDD_REDIRECT_FOLLOW = 0,
    /* Delivered like any other response, with status, header fields and body. By default
       accepted_status_codes rejects it: the request ends with
       SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, and the "Location" field of sdd_result.response names
       the target. With "200-399" it ends with SDD_OK and the body. */
    SDD_REDIRECT_HAND_OUT = 1,
    /* Refused: the request ends with SDD_ERROR_REDIRECT_REFUSED and SDD_DETAIL_REDIRECT_UNWANTED.
       The message names the target URL without user and password; the response is there, without
       its body. */
    SDD_REDIRECT_REFUSE = 2
};

/**
 * Where the body of a request goes. SDD_SINK_FD and SDD_SINK_DISCARD never keep it whole: such a
 * request shares no transfer, and its result has neither bytes nor image; sdd_metrics.body_bytes
 * has the size.
 */
typedef int32_t sdd_sink_kind;

SDD_ENUM(sdd_sink_kind) {
    SDD_SINK_MEMORY = 0,
    /* Written to sink_fd as it arrives, if status and media type are accepted. Bytes written before
       an error stay. A pipe, socket or terminal that is full holds up only this transfer until it
       is read; over HTTP/2 the body still arrives and waits in memory. If the descriptor takes no
       byte for download_timeout_ms, the request ends with SDD_DETAIL_SINK_BLOCKED. The descriptor's
       flags are not changed. */
    SDD_SINK_FD = 1,
    SDD_SINK_DISCARD = 2 /* dropped: to check a link, or to warm a server's cache */
};

/** Authentication schemes: sdd_credential.schemes. */
typedef uint64_t sdd_auth_schemes;

SDD_ENUM(sdd_auth_schemes) {
    SDD_AUTH_BASIC = 1 << 0,     /* RFC 7617 */
    SDD_AUTH_DIGEST = 1 << 1,    /* RFC 7616 */
    SDD_AUTH_NEGOTIATE = 1 << 2, /* RFC 4559; only if libcurl was built with it */
    SDD_AUTH_NTLM = 1 << 3       /* only if libcurl was built with it */
};

/**
 * Credentials for one server, the one that the request's URL names. A redirect to another host,
 * port or scheme ends their use, also for all later hops.
 *
 * User and password are sent once, in answer to a challenge (status 401). If the server rejects
 * them, the request ends with SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE and http_status 401. Where a
 * server has accepted them, later requests of the same downloader with the same user, password and
 * schemes are sent with them at once: by Basic at or below the folder of that URL (RFC 7617 section
 * 2.2), by Digest in the server's domain with the same nonce (RFC 7616 section 3.6). A bearer token
 * is sent at once, without a challenge. A credential with nothing set means none: in a request it
 * overrides the downloader's.
 */
typedef struct sdd_credential {
    size_t struct_size;
    const char *SDD_NULLABLE username; /* with password: both or none */
    const char *SDD_NULLABLE password;
    /* SDD_AUTH_ bits that may be used. 0: all that libcurl has; the strongest that the server
       offers is used. */
    sdd_auth_schemes schemes;
    const char *SDD_NULLABLE bearer_token; /* RFC 6750; not together with username */
    const char *SDD_NULLABLE client_certificate; /* PEM file, for TLS */
    const char *SDD_NULLABLE client_key; /* PEM file of its key; NULL: in client_certificate */
    const char *SDD_NULLABLE client_key_password;
} sdd_credential;

#define SDD_CREDENTIAL_INIT \
    { sizeof(sdd_credential), NULL, NULL, 0, NULL, NULL, NULL, NULL }

/**
 * How to transfer: for a download, a load, each URL of a prefetch list, and each item of a batch.
 * All 0: as the downloader's config says. Begin with SDD_TRANSFER_OPTIONS_INIT. It is copied, with
 * everything that it points to.
 */
typedef struct sdd_transfer_options {
    size_t struct_size;

    /* The header_count header fields to send. They replace the downloader's fields by name; a name
       given more than once is sent as often, in order. */
    const sdd_header *SDD_NULLABLE headers;
    size_t header_count;
    /* The Referer header field (RFC 9110 section 10.1.3); one in `headers` overrides it. */
    const char *SDD_NULLABLE referrer;
    const sdd_credential *SDD_NULLABLE credential; /* NULL: the downloader's */
    const sdd_modifiers *SDD_NULLABLE modifiers;   /* NULL: the downloader's */

    /* The response. NULL or 0: as the config says. Cache entries that a request with `redirects` or
       `ca_file` stores are found only by requests with the same value. */

    const char *SDD_NULLABLE accepted_status_codes;
    const char *SDD_NULLABLE accepted_content_types;
    /* Largest body, after unpacking if it is unpacked. May be above the config's limit. A larger
       entry in the HTTP cache counts as missing; entries of a loader's cache are not checked. */
    int64_t max_body_bytes;
    int32_t max_redirects;       /* most redirects to follow, at most 1000 */
    sdd_redirect_mode redirects; /* one of SDD_REDIRECT_ */
    /* Transfers for one request, the first included, at most 1000; for a load of each of its URLs.
       0: as the config says, for a load at least 2. See sdd_retry_options. */
    int32_t max_attempts;
    /* PEM file of trusted certificates, for all hops, in place of the config's ca_file and ca_path.
       Read when a connection is made, and kept for up to 24 hours. Connections and TLS sessions are
       never shared with requests that have another file. If it cannot be read: SDD_ERROR_TLS and
       SDD_DETAIL_TLS_CA_FILE. */
    const char *SDD_NULLABLE ca_file;

    /* Time limits in milliseconds, see sdd_limits. 0: as the config says; SDD_NO_LIMIT: none. */

    int64_t queue_timeout_ms;
    int64_t connect_timeout_ms; /* 0: also download_timeout_ms, if sdd_limits has none either */
    int64_t first_byte_timeout_ms;
    int64_t download_timeout_ms;
    /* All stages together, from submitting to the end; of a load with its caches, attempts and
       alternatives, but without the final wait for the disk. */
    int64_t total_timeout_ms;
    int64_t low_speed_limit; /* bytes a second; 0: as the config says */
    int64_t low_speed_time_ms;
} sdd_transfer_options;

#define SDD_TRANSFER_OPTIONS_INIT \
    { sizeof(sdd_transfer_options), NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, \
      0, 0, 0, 0, 0, 0, 0 }

/**
 * A download with all its settings. Begin with SDD_DOWNLOAD_REQUEST_INIT and set `url` and
 * `completed`. It is copied, with everything that it points to.
 *
 * Requests that are under way at the same time share one transfer if they would send the same in
 * the same way: equal method (GET or HEAD), URL, headers, credential, certificate option, CA file,
 * cookie option and cookies, modifiers, redirect settings, SDD_OPTION_BODY_AS_SENT, and limits on
 * connecting, first byte, silence, slowness and the body. Each keeps its own callbacks, priority,
 * queue and total limit, accepted statuses and types, decode options, and its own end.
 */
typedef struct sdd_download_request {
    size_t struct_size;
    const char *SDD_NULLABLE url;
    sdd_options options;   /* SDD_OPTION_ bits marked D */
    sdd_priority priority; /* one of SDD_PRIORITY_ */
    sdd_sink_kind sink;    /* one of SDD_SINK_ */
    /* The descriptor for SDD_SINK_FD, written from its current position. The call duplicates it;
       the application may then close its own. */
    int32_t sink_fd;
    /* NULL: as the downloader's config says. */
    const sdd_transfer_options *SDD_NULLABLE transfer;
    /* NULL: the downloader's, see sdd_downloader_set_decode_options(). */
    const sdd_decode_options *SDD_NULLABLE decode;

    /* Callbacks. Those of a call that waits must be NULL, and user_data_free too. */

    /* Required, except with SDD_DELIVERY_APPLICATION and sdd_downloader_drain(). */
    sdd_result_fn SDD_NULLABLE completed;
    sdd_progress_fn SDD_NULLABLE progress;
    /* Asks for previews while the picture arrives: results whose is_terminal is 0 and whose image
       shows what has arrived so far. The image keeps its content for as long as it is held. A
       progressive JPEG improves scan by scan, an interlaced PNG pass by pass; others grow row by
       row, with zero bytes below (see sdd_image_info.good_rows). A JPEG with one scan for each
       component has all rows from its first scan on. A JPEG with arithmetic coding is shown scan by
       scan, and not at all if it has only one. A preview that is not taken in time is replaced by
       the next. None arrives with or after the terminal callback, nor where modifiers change the
       response or body, nor with SDD_OPTION_BYTES_ONLY or SDD_OPTION_AVOID_DECODE_IMAGE. */
    sdd_result_fn SDD_NULLABLE preview;
    sdd_facts_fn SDD_NULLABLE facts;
    void *SDD_NULLABLE user_data; /* of all callbacks */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;

    /* The request that is sent, and the body that must come. */

    const char *SDD_NULLABLE method; /* NULL: "GET" */
    const void *SDD_NULLABLE body;   /* body to send, body_size bytes; not with GET or HEAD */
    size_t body_size;
    /* Bytes wanted: "0-1023", "1024-" or "-512" (RFC 9110 section 14.1.2). A partial response has
       status 206, and is an error unless it is of the range that was asked for. With the HTTP cache
       it may come from there. */
    const char *SDD_NULLABLE range;
    /* "sha256-" and the SHA-256 that the body must have, in base64 (W3C Subresource Integrity) or
       64 hexadecimal digits: of the body after unpacking and before a body transform. If it
       differs, the request ends with SDD_DETAIL_IMAGE_INTEGRITY, and nothing of the body is
       decoded, delivered or stored. The body is checked whole, so there are no previews. Not with a
       sink. NULL: no check. */
    const char *SDD_NULLABLE integrity;
    int64_t expected_bytes; /* the size that the body must have, checked like `integrity`; 0: any */
} sdd_download_request;

#define SDD_DOWNLOAD_REQUEST_INIT \
    { sizeof(sdd_download_request), NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
      NULL, NULL, NULL, 0, NULL, NULL, 0 }

/* ----------------------------------------------------------------------------------- submitting */

/**
 * Submits a GET request. Returns at once; `completed` is called exactly once, later. With
 * SDD_DELIVERY_THREAD that may happen before this call returns: use the token in the result there.
 *
 * @param downloader NULL: the shared one.
 * @param url An absolute http or https URL of at most 65,536 bytes. Bytes over 0x7f in path, query
 *     or fragment are percent-encoded; a host name in UTF-8 gets its ASCII form (UTS 46, if libcurl
 *     has libidn2). `completed` gets an error in the URL. Or a data: URL (RFC 2397, parsed as
 *     browsers do) of up to max_body_bytes of content, only for GET and without a sink. Its content
 *     is the body, delivered without queue, network or cache, with http_status 0, its media type as
 *     Content-Type, and SDD_ORIGIN_NETWORK; request header fields and a range have no effect.
 * @param options SDD_OPTION_ bits marked D.
 * @param progress May be NULL.
 * @param completed Required, except on a downloader with SDD_DELIVERY_APPLICATION.
 * @param user_data Passed to both callbacks.
 * @return The token. 0, and nothing will be called, if `completed` is missing, the downloader is
 *     destroyed or forked, or the shared one cannot be made; sdd_last_error() tells which.
 * Thread: any.
 */
SDD_API sdd_token sdd_download(sdd_downloader *SDD_NULLABLE downloader,
                               const char *SDD_NULLABLE url, sdd_options options,
                               sdd_progress_fn SDD_NULLABLE progress,
                               sdd_result_fn SDD_NULLABLE completed,
                               void *SDD_NULLABLE user_data);

/**
 * Submits a download with all its settings. Otherwise as sdd_download().
 *
 * @param downloader NULL: the shared one.
 * @param request Copied.
 * @return The token. 0: nothing will be called, not even user_data_free. sdd_last_error() says why:
 *     SDD_ERROR_INVALID_ARGUMENT (request NULL, `completed` missing), SDD_ERROR_UNSUPPORTED,
 *     SDD_ERROR_CLOSED, SDD_ERROR_FORKED, SDD_ERROR_NO_RESOURCES.
 * Thread: any.
 */
SDD_API sdd_token sdd_downloader_submit(sdd_downloader *SDD_NULLABLE downloader,
                                        const sdd_download_request *SDD_NONNULL request);

/**
 * Submits a download and WAITS for its end. Works in both delivery modes and inside callbacks,
 * since it delivers no events.
 *
 * @param downloader NULL: the shared one.
 * @param request As for sdd_downloader_submit(), but without callbacks.
 * @param timeout_ms Limit on the whole call; negative: only those of the request.
 * @param out Receives the result, also of a request that failed, owned by the caller: release it
 *     with sdd_result_release(). NULL if the call was refused. May be NULL.
 * @return The status of the result (SDD_ERROR_TIMEOUT and SDD_DETAIL_TIMEOUT_TOTAL when timeout_ms
 *     has passed), or the reason for refusing the call, as of sdd_downloader_submit().
 * Thread: any, but not in a modifier or filter.
 */
SDD_API sdd_status sdd_downloader_submit_wait(sdd_downloader *SDD_NULLABLE downloader,
                                              const sdd_download_request *SDD_NONNULL request,
                                              int64_t timeout_ms,
                                              sdd_result *SDD_NULLABLE *SDD_NULLABLE out);

/**
 * Cancels a request. Its terminal callback reports SDD_ERROR_CANCELLED. Other requests that share
 * its transfer go on; a transfer that no request waits for is ended.
 *
 * The token of a prefetch list cancels all its loads, begun or not. After the call has returned,
 * `each` and `progress` of sdd_prefetch_list are not called again, except for a call that is
 * running on another thread. The list's `completed` reports SDD_ERROR_CANCELLED and what had ended
 * before.
 *
 * @param token The token of a download, a load, a prefetch list, or a query or store of a cache.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the request has ended (its result may still be on its way
 *     to the callback), if its downloader or loader was destroyed, for the token of a parent
 *     process, and for any number that is no token of this process.
 * Thread: any.
 */
SDD_API sdd_status sdd_cancel(sdd_token token);

/**
 * Changes the priority of a request. A transfer has the highest priority of the requests that wait
 * for it, at every stage: in the queue, on the network (HTTP/2 weight) and for a decode thread. The
 * priority of a prefetch list, at first SDD_PRIORITY_VERY_LOW, is that of its loads, running and to
 * come.
 *
 * @param priority One of SDD_PRIORITY_, except SDD_PRIORITY_DEFAULT.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another number; otherwise as sdd_cancel().
 * Thread: any.
 */
SDD_API sdd_status sdd_set_priority(sdd_token token, sdd_priority priority);

/** The stage a request is at: sdd_token_info.state. */
typedef int32_t sdd_request_state;

SDD_ENUM(sdd_request_state) {
    SDD_STATE_WAITING = 1,
    SDD_STATE_RUNNING = 2,  /* on the network */
    SDD_STATE_RECEIVED = 3, /* the body is complete and waits for a decode thread */
    SDD_STATE_DECODING = 4
};

/** The state of a request that is under way. Filled by the library. */
typedef struct sdd_token_info {
    size_t struct_size;
    sdd_request_state state;    /* one of SDD_STATE_ */
    sdd_priority priority; /* the priority of this request */
    /* The priority of its transfer, with ageing as of the last time that a slot was free. */
    sdd_priority effective_priority;
    int32_t http_status;    /* 0 before there is a response */
    int64_t received_bytes; /* as in sdd_progress_fn */
    int64_t expected_bytes;
    int64_t waiting_us; /* from submission to the start of the transfer, or until now */
    int64_t running_us; /* from the start of the transfer to its end, or until now; 0 before */
} sdd_token_info;

#define SDD_TOKEN_INFO_INIT \
    { sizeof(sdd_token_info), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Reads the state of a request that is under way. Once it has ended, its result has all of this.
 * For a prefetch list only state and priority are known.
 *
 * @param info Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; otherwise as sdd_cancel().
 * Thread: any.
 */
SDD_API sdd_status sdd_token_get_info(sdd_token token, sdd_token_info *SDD_NONNULL info);

/**
 * Reads the URL of a request that is under way, as its request modifier has left it.
 *
 * @param buffer, capacity, length As for sdd_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_NOT_FOUND also
 *     for a prefetch list; otherwise as sdd_cancel().
 * Thread: any.
 */
SDD_API sdd_status sdd_token_get_url(sdd_token token, char *SDD_NULLABLE buffer, size_t capacity,
                                     size_t *SDD_NULLABLE length);

/**
 * Gives the response of a request that is under way, once its header has arrived.
 *
 * @param out Receives the response, owned by the caller: release it with sdd_response_release().
 *     NULL on an error.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND also while there is no response; SDD_ERROR_INVALID_ARGUMENT;
 *     otherwise as sdd_cancel().
 * Thread: any.
 */
SDD_API sdd_status sdd_token_get_response(sdd_token token,
                                          sdd_response *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Downloads one URL and WAITS for it: the short form of sdd_downloader_submit_wait(), for scripts
 * and tools.
 *
 * @param downloader NULL: the shared one.
 * @param url, options As for sdd_download().
 * @param timeout_ms Limit on the whole call; negative: only the downloader's own limits.
 * @param image Receives the picture, owned by the caller; NULL on an error and with
 *     SDD_OPTION_BYTES_ONLY. May be NULL, which implies SDD_OPTION_BYTES_ONLY.
 * @param bytes Receives the body, owned by the caller; NULL on an error. May be NULL.
 * @param response Receives the response, owned by the caller, also on an error; NULL if none came.
 *     May be NULL.
 * @return As sdd_downloader_submit_wait().
 * Thread: any, but not in a modifier or filter.
 */
SDD_API sdd_status sdd_get(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NULLABLE url,
                           sdd_options options, int64_t timeout_ms,
                           sdd_image *SDD_NULLABLE *SDD_NULLABLE image,
                           sdd_bytes *SDD_NULLABLE *SDD_NULLABLE bytes,
                           sdd_response *SDD_NULLABLE *SDD_NULLABLE response);

SDD_END_DECLS

#endif /* SDD_REQUEST_H */

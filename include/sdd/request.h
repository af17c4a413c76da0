/*
 * sdd/request.h - Requests: their options and fields, how they are submitted, asked about and
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
 *         if (sdd_downloader_submit(NULL, &request, NULL) == 0) return 1;
 *         return sdd_wait_idle(NULL, 30000) != SDD_OK;
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
 * Option bits, for a uint64_t: one set for downloads, loads, lists to prefetch, batches and queries
 * of a cache. Behind each stands where it means something, if that is not everywhere: D in
 * downloads (sdd_download(), sdd_get(), sdd_downloader_submit(), batches without a loader), L in
 * loads (sdd_load(), sdd_loader_submit()), P in lists to prefetch, B in batches with a loader, Q in
 * queries of a cache.
 *
 * A bit is never ignored. A download or load with one that means nothing to it, or that this
 * version does not know, ends with SDD_ERROR_INVALID_DOWNLOAD_OPERATION and
 * SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS, and the result's message names the bit. A list, a batch or
 * a query is not taken: SDD_ERROR_INVALID_ARGUMENT for a bit that means nothing to it,
 * SDD_ERROR_UNSUPPORTED for one that this version does not know. Since: 0.3.0.
 */
enum {
    /* How urgent it is. Of both, HIGH counts. */
    SDD_OPTION_LOW_PRIORITY = 1 << 0,  /* D L B Q: after requests of normal priority */
    SDD_OPTION_HIGH_PRIORITY = 1 << 1, /* D L B Q: before requests of normal priority */

    /* How it is asked for. */
    SDD_OPTION_HANDLE_COOKIES = 1 << 2, /* D L P B: sends and keeps the downloader's cookies */
    /* D L P B: this request's servers may show any certificate */
    SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES = 1 << 3,
    /* D L P B: goes on during the grace time of sdd_downloader_enter_background() */
    SDD_OPTION_CONTINUE_IN_BACKGROUND = 1 << 4,
    /* D L P B: a body that breaks off, or whose request is cancelled, is kept in the cache as far
       as it has come; the next request with this bit asks for the rest (RFC 9110 section 14.2, with
       If-Range). A GET without Range alone */
    SDD_OPTION_RESUME = 1 << 5,
    /* D L P B: the download may stop when the picture is complete at the size that is asked for: of
       a progressive JPEG made smaller, the detail that it does not have need not come. The result
       then has no bytes, and sdd_metrics.saved_bytes. Only if all who share the transfer want it so
     */
    SDD_OPTION_STOP_WHEN_COMPLETE = 1 << 6,

    /* What is delivered. */

    /* D L, but not sdd_get() and batches: previews, what can be seen of the picture while it comes,
       to `preview`, or as SDD_EVENT_PREVIEW. Previews of loads are not stored, nor transformed */
    SDD_OPTION_PROGRESSIVE_LOAD = 1 << 7,
    /* likewise: SDD_EVENT_PROGRESS for sdd_drain(), though `progress` is NULL */
    SDD_OPTION_PROGRESS_EVENTS = 1 << 8,
    /* likewise: SDD_EVENT_FACTS for sdd_drain(), though `facts` is NULL */
    SDD_OPTION_FACTS_EVENTS = 1 << 9,
    SDD_OPTION_BYTES_ONLY = 1 << 10, /* D L B: does not decode; the result has bytes and no image */

    /* How it is decoded. */

    /* As sdd_decode_options.scale_down_limit_bytes of 60 MiB, if that is 0 */
    SDD_OPTION_SCALE_DOWN_LARGE_IMAGES = 1 << 11,
    /* The image has size, format, orientation and bytes, and its pixels are decoded when they are
       asked for: see sdd_image_decode_pixels(). Not with sdd_decode_options.pixels, nor with
       transforms */
    SDD_OPTION_AVOID_DECODE_IMAGE = 1 << 12,
    /* An animated picture becomes a still one, of what sdd_image_pixels() has of it anyway; beats
       PRELOAD_ALL_FRAMES. Also of a picture that memory has with all its frames */
    SDD_OPTION_DECODE_FIRST_FRAME_ONLY = 1 << 13,
    /* All frames are decoded, and kept, before the request ends, so that sdd_image_frame() costs
       next to nothing. In all they may have max_pixels, and take max_decode_bytes */
    SDD_OPTION_PRELOAD_ALL_FRAMES = 1 << 14,
    /* L: transforms also animated pictures, which become still ones; without it they stay as they
       are */
    SDD_OPTION_TRANSFORM_ANIMATED_IMAGE = 1 << 15,

    /* Caches. */

    /* D L P B: by the rules of RFC 9111: see "the HTTP cache" below */
    SDD_OPTION_USE_HTTP_CACHE = 1 << 16,
    /* D, with USE_HTTP_CACHE: what the HTTP cache has is not delivered; if it is still right, or
       the same bytes come, the request ends with SDD_ERROR_NOT_MODIFIED */
    SDD_OPTION_IGNORE_CACHED_RESPONSE = 1 << 17,
    /* L P B: though it has failed lately; a success takes it from the list */
    SDD_OPTION_RETRY_FAILED = 1 << 18,
    /* L P B: what the cache has is told at once (sdd_load_request.cached, SDD_EVENT_CACHED), and
       the server is asked whether it is still right, by its validators, or else by comparing bytes.
       The load ends with the new picture; with SDD_ERROR_NOT_MODIFIED, when what was told is right;
       or with the error of the refresh, and what was told stays in the cache */
    SDD_OPTION_REFRESH_CACHED = 1 << 19,
    SDD_OPTION_FROM_CACHE_ONLY = 1 << 20,  /* L P B: never to the network: SDD_ERROR_NOT_CACHED */
    SDD_OPTION_FROM_LOADER_ONLY = 1 << 21, /* L P B: never from the cache; what comes is stored */
    SDD_OPTION_WAIT_STORE_CACHE = 1 << 22, /* L P B: ends when what it stores is on disk */
    /* L: the encoded bytes too, from the disk, where the picture is in memory: see "BYTES" of
       sdd_load() */
    SDD_OPTION_QUERY_MEMORY_DATA = 1 << 23,
    /* L: the same, and sdd_load() WAITS for the disk: what the cache has is queued for delivery
       when it returns */
    SDD_OPTION_QUERY_MEMORY_DATA_SYNC = 1 << 24,
    /* L: the same of the disk: sdd_load() WAITS for reading and decoding, which it does on the
       calling thread */
    SDD_OPTION_QUERY_DISK_DATA_SYNC = 1 << 25,

    /* Again, how it is asked for. */

    /* D L P B: the body stays as the server sends it. The request says "Accept-Encoding: identity"
       (RFC 9110 section 12.5.3), unless its headers say something else; nothing is unpacked,
       whatever the response's Content-Encoding says, and the bytes that are handed out, checked,
       decoded and stored are those of the server. What is stored of it is found by requests with
       this bit alone */
    SDD_OPTION_BODY_AS_SENT = 1 << 26
};

/**
 * What is done about a redirect, a response with status 301, 302, 303, 307 or 308 and a Location
 * (RFC 9110 section 15.4): sdd_download_request.redirects. Transports of the application's follow
 * none in any case, and hand out what they answer. Since: 0.3.0.
 */
enum {
    /* As many as max_redirects, by the rules of the downloader (allow_downgrade) */
    SDD_REDIRECT_FOLLOW = 0,
    /* It is the answer, as any other response, with its status, header fields and body.
       accepted_status_codes decide about it, too: by default they do not take it, and the request
       ends with SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE and a sdd_result.response whose field
       "Location" says where it leads; with "200-399" it ends with SDD_OK and the body */
    SDD_REDIRECT_HAND_OUT = 1,
    /* The request ends with SDD_ERROR_REDIRECT_REFUSED and SDD_DETAIL_REDIRECT_UNWANTED. The
       message names the URL that it leads to, without user and password; the response is there,
       without its body */
    SDD_REDIRECT_REFUSE = 2
};

/** How urgent a request is. Since: 0.2.0. */
enum {
    SDD_PRIORITY_DEFAULT = 0, /* of a request: as its option bits say */
    SDD_PRIORITY_VERY_LOW = 1,
    SDD_PRIORITY_LOW = 2,    /* SDD_OPTION_LOW_PRIORITY */
    SDD_PRIORITY_NORMAL = 3, /* neither bit */
    SDD_PRIORITY_HIGH = 4,   /* SDD_OPTION_HIGH_PRIORITY */
    SDD_PRIORITY_VERY_HIGH = 5
};

/**
 * Where the body of a request goes. Not to memory, it is never kept whole: such a request shares no
 * transfer, its result has neither bytes nor image, sdd_metrics.body_bytes says how much there was.
 * Since: 0.2.0.
 */
enum {
    SDD_SINK_MEMORY = 0,
    /* To sink_fd, as it comes, if status and media type are accepted. What was written before an
       error stays. A pipe, socket or terminal that takes nothing just now holds up this transfer
       alone, until it is read, as it should be with one that plays what comes; over HTTP/2 the body
       comes meanwhile, and waits in memory. If it takes not a byte for download_timeout_ms, the
       request ends with SDD_DETAIL_SINK_BLOCKED. The descriptor's flags are left as they are */
    SDD_SINK_FD = 1,
    SDD_SINK_DISCARD = 2 /* nowhere: to warm a cache, to check a link */
};

/** Ways to prove who one is: sdd_credential.schemes. Since: 0.2.0. */
enum {
    SDD_AUTH_BASIC = 1 << 0,     /* RFC 7617 */
    SDD_AUTH_DIGEST = 1 << 1,    /* RFC 7616 */
    SDD_AUTH_NEGOTIATE = 1 << 2, /* RFC 4559; only if libcurl was built with it */
    SDD_AUTH_NTLM = 1 << 3       /* only if libcurl was built with it */
};

/**
 * Who the caller is, for one server: that of the request's URL. After a redirect to another host,
 * port or scheme nothing of it is used any more, on no later hop either. Since: 0.2.0.
 *
 * User and password answer a challenge (status 401), and are sent only then, once: if the server
 * does not take them, the request ends with SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE and http_status
 * 401. A bearer token is sent at once, without being asked for. One in which nothing is set is
 * none: in a request it takes the downloader's away.
 */
typedef struct sdd_credential {
    size_t struct_size;
    const char *SDD_NULLABLE username; /* with password: both or none */
    const char *SDD_NULLABLE password;
    /* SDD_AUTH_ bits that may be used; 0: all libcurl has, the strongest that the server offers */
    uint64_t schemes;
    const char *SDD_NULLABLE bearer_token; /* RFC 6750; not together with username */
    const char *SDD_NULLABLE client_certificate; /* PEM file, for TLS */
    const char *SDD_NULLABLE client_key; /* PEM file of its key; NULL: in client_certificate */
    const char *SDD_NULLABLE client_key_password;
} sdd_credential;

#define SDD_CREDENTIAL_INIT \
    { sizeof(sdd_credential), NULL, NULL, 0, NULL, NULL, NULL, NULL }

/**
 * Everything a request can have. Begin with SDD_DOWNLOAD_REQUEST_INIT, set `url` and `completed`.
 * Everything in it is copied by sdd_downloader_submit(). Since: 0.1.0.
 *
 * Requests that are under way at the same time share one transfer if what is sent is the same, and
 * how: the method (GET or HEAD), the URL, the headers, credential, certificate option, CA file,
 * cookie option and cookies, modifiers, redirects, whether the body stays as it was sent, and the
 * limits on connecting, first byte, silence, slowness and the body. Each keeps its own callbacks,
 * priority, queue and total limit, accepted statuses and types, decode options, and its own end.
 */
typedef struct sdd_download_request {
    size_t struct_size;
    const char *SDD_NULLABLE url;
    uint64_t options;                /* SDD_OPTION_ bits */
    const char *SDD_NULLABLE method; /* NULL: "GET" */
    /* header_count of them; they replace the downloader's by name. A name that comes more than once
       is sent as often, in their order */
    const sdd_header *SDD_NULLABLE headers;
    size_t header_count;
    const void *SDD_NULLABLE body; /* body_size bytes to send; not with GET or HEAD */
    size_t body_size;
    sdd_progress_fn SDD_NULLABLE progress;
    /* May be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain() */
    sdd_completed_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;

    /* Since 0.2.0: */

    /* The Referer header (RFC 9110 section 10.1.3); `headers` win */
    const char *SDD_NULLABLE referrer;
    /* Bytes wanted, as "0-1023", "1024-" or "-512" (RFC 9110 section 14.1.2); an answer with a part
       has status 206, and is an error where no part was asked for */
    const char *SDD_NULLABLE range;
    int32_t priority; /* one of SDD_PRIORITY_; 0: as `options` say */
    int32_t reserved; /* 0 */

    /* Time limits: 0 as the downloader has it, SDD_NO_TIMEOUT none. See sdd_limits. */
    int64_t queue_timeout_ms;
    int64_t connect_timeout_ms;
    int64_t first_byte_timeout_ms;
    int64_t download_timeout_ms;
    int64_t total_timeout_ms;
    const char *SDD_NULLABLE accepted_status_codes;  /* as in the config; NULL: the config's */
    const char *SDD_NULLABLE accepted_content_types; /* as in the config; NULL: the config's */
    const sdd_credential *SDD_NULLABLE credential;   /* NULL: the downloader's */
    const sdd_modifiers *SDD_NULLABLE modifiers;     /* NULL: the downloader's */
    int32_t sink;                                    /* one of SDD_SINK_ */
    /* For SDD_SINK_FD, duplicated by sdd_downloader_submit(): it may be closed then. Written from
       where it stands */
    int32_t sink_fd;
    /* NULL: the downloader's, see sdd_downloader_set_decode_options() */
    const sdd_decode_options *SDD_NULLABLE decode;
    /* With SDD_OPTION_PROGRESSIVE_LOAD: called with results whose `finished` is 0 and whose image
       is what can be seen so far, in growing quality: of a progressive JPEG scan by scan, of an
       interlaced PNG pass by pass, of others row by row, with nothing (all bytes 0) below, see
       sdd_image_good_rows(); of a JPEG with a scan for each component, all rows once the first scan
       is there; of one in arithmetic coding scan by scan, or none if it has only one. Each image
       keeps what it shows for as long as it is held. None comes with or after the terminal
       callback, and none where modifiers change the response or body. Previews that are not taken
       in time are replaced by the next */
    sdd_completed_fn SDD_NULLABLE preview;
    sdd_facts_fn SDD_NULLABLE facts; /* may be NULL */
    /* "sha256-" with the SHA-256 that the body must have, unpacked and before a body transform, in
       base64 (W3C Subresource Integrity) or 64 hexadecimal digits. Else the request ends with
       SDD_DETAIL_IMAGE_INTEGRITY, and nothing of the body is decoded, handed out or stored. It is
       read to its end first, so that there are no previews; not with a sink. NULL: any */
    const char *SDD_NULLABLE integrity;
    int64_t expected_bytes; /* the size that the body must have, likewise; 0: any */
    /* Transfers for this request, the first included, at most 1000; 0: as the config says. See
       "what is tried again" there */
    int32_t max_attempts;
    int32_t reserved2;         /* 0 */
    int64_t low_speed_limit;   /* bytes a second, 0 as the config says */
    int64_t low_speed_time_ms; /* likewise; SDD_NO_TIMEOUT: as slow as it may be */

    /* Since 0.3.0. What is stored in a cache of a request that has `redirects` or `ca_file` is
       found by requests that have the same alone. */

    int32_t redirects;     /* one of SDD_REDIRECT_ */
    int32_t max_redirects; /* how many are followed; 0: as the config says */
    /* Largest body, in place of the config's, which it may be above; after unpacking, if it is
       unpacked. What the HTTP cache has and is larger is as if it were not there; what a loader's
       cache has is not measured. 0: as the config says */
    int64_t max_body_bytes;
    /* PEM file of the certificates that are trusted, on all hops, in place of the config's ca_file
       and ca_path. Read when a connection is made, and kept for up to 24 hours. Connections and TLS
       sessions are never shared with requests that have another one. One that cannot be read:
       SDD_ERROR_TLS and SDD_DETAIL_TLS_CA_FILE. NULL: the config's */
    const char *SDD_NULLABLE ca_file;
} sdd_download_request;

#define SDD_DOWNLOAD_REQUEST_INIT \
    { sizeof(sdd_download_request), NULL, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, \
      NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, \
      0, 0, 0, 0, 0, 0, 0, 0, NULL }

/* ----------------------------------------------------------------------------------- submitting */

/**
 * Submits a GET request. Returns at once; `completed` is called exactly once, later.
 *
 * With SDD_DELIVERY_THREAD that may be before this call has returned, on the other thread: use the
 * token in the result there.
 * @param downloader NULL: the shared one.
 * @param url Absolute: http or https. At most 65,536 bytes. Bytes over 0x7f in path, query or
 *     fragment are percent-encoded; in a host name write punycode. Anything wrong with it arrives
 *     by `completed`. Or data: (RFC 2397, read as browsers do; since 0.2.0), with up to
 *     max_body_bytes in it. What is in it is the body: without the queue, the network or a cache,
 *     with http_status 0, the media type as Content-Type and SDD_ORIGIN_NETWORK. Only for GET, and
 *     for no sink; header fields, also a range, are passed over.
 * @param options SDD_OPTION_ bits.
 * @param progress May be NULL.
 * @param completed May be NULL only on a downloader with SDD_DELIVERY_APPLICATION.
 * @param user_data Handed to both.
 * @return The token. 0, and nothing will be called, if `completed` is missing, the downloader is
 *     destroyed or forked, or the shared one cannot be made: sdd_downloader_submit() says which.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_token sdd_download(sdd_downloader *SDD_NULLABLE downloader,
                               const char *SDD_NULLABLE url, uint64_t options,
                               sdd_progress_fn SDD_NULLABLE progress,
                               sdd_completed_fn SDD_NULLABLE completed,
                               void *SDD_NULLABLE user_data);

/**
 * Submits a request with everything it can have. Otherwise as sdd_download().
 *
 * @param downloader NULL: the shared one.
 * @param request Copied, with all that it points to.
 * @param status Receives SDD_OK with a token, and with 0 the reason: SDD_ERROR_INVALID_ARGUMENT
 *     (request NULL, struct_size too small to reach `completed`, `completed` missing),
 *     SDD_ERROR_UNSUPPORTED (a request from a newer header), SDD_ERROR_CLOSED, SDD_ERROR_FORKED,
 *     SDD_ERROR_NO_RESOURCES. May be NULL.
 * @return The token, or 0: then nothing will be called, user_data_free neither.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_token sdd_downloader_submit(sdd_downloader *SDD_NULLABLE downloader,
                                       const sdd_download_request *SDD_NONNULL request,
                                       sdd_status *SDD_NULLABLE status);

/**
 * Cancels one request; others that share its transfer go on. Its terminal callback comes with
 * SDD_ERROR_CANCELLED.
 *
 * A transfer that nobody waits for any more is ended.
 *
 * The token of a list to prefetch cancels its loads, and those that have not begun: `each` and
 * `progress` of sdd_prefetch_list are not called any more when this has returned, but for a call
 * that is running on another thread; its `completed` is, with SDD_ERROR_CANCELLED and what had
 * ended before.
 *
 * @param token What the submitting call returned: of a download, a load, a query or store of a
 *     cache, or a list.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the request has ended (its result may still be on its way
 *     to the callback), if its downloader or loader was destroyed, for the token of a parent
 *     process, and for any number that is no token of this process.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_cancel(sdd_token token);

/**
 * Changes how urgent one request is. Its transfer has the priority of the most urgent request that
 * waits for it, at any time: in the queue, on the network (HTTP/2 weight) and for a decode thread.
 * That of a list to prefetch is the priority of its loads, those that run and those to come; it
 * begins as SDD_PRIORITY_VERY_LOW.
 *
 * @param priority One of SDD_PRIORITY_, but SDD_PRIORITY_DEFAULT.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another number; and as sdd_cancel().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_set_priority(sdd_token token, int32_t priority);

/** Where a request is: sdd_token_info.state. Since: 0.2.0. */
enum {
    SDD_STATE_WAITING = 1,
    SDD_STATE_RUNNING = 2,  /* on the network */
    SDD_STATE_RECEIVED = 3, /* the whole body is there, and waits for a decode thread */
    SDD_STATE_DECODING = 4
};

/** What is known of a request under way. Filled by the library. Since: 0.2.0. */
typedef struct sdd_token_info {
    size_t struct_size;
    int32_t state;    /* one of SDD_STATE_ */
    int32_t priority; /* of this request */
    /* Of its transfer, with the ageing of the last time a place was free */
    int32_t effective_priority;
    int32_t http_status;    /* 0 before there is a response */
    int64_t received_bytes; /* as in sdd_progress_fn */
    int64_t expected_bytes;
    int64_t waiting_us; /* from submitting to the start of the transfer, or till now */
    int64_t running_us; /* from the start of the transfer to its end, or till now; 0 before */
} sdd_token_info;

#define SDD_TOKEN_INFO_INIT \
    { sizeof(sdd_token_info), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * What is known of a request under way. One that has ended tells it all in its result. Of a list to
 * prefetch only state and priority are known.
 *
 * @param info Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; and as sdd_cancel().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_token_get_info(sdd_token token, sdd_token_info *SDD_NONNULL info);

/**
 * The URL a request under way was submitted with, after its request modifier.
 *
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_NOT_FOUND also
 *     for a list to prefetch; and as sdd_cancel().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_token_get_url(sdd_token token, char *SDD_NULLABLE buffer, size_t capacity,
                                     size_t *SDD_NULLABLE length);

/**
 * The response of a request under way, once its header is there.
 *
 * @param out Receives the response, owned by the caller: release with sdd_response_release(); NULL
 *     on an error.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND also while there is none; SDD_ERROR_INVALID_ARGUMENT; and as
 *     sdd_cancel().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_token_get_response(sdd_token token,
                                          sdd_response *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Downloads one URL and WAITS for it: for scripts and tools.
 *
 * Works in both delivery modes and inside callbacks, since nothing of it is delivered there.
 * @param downloader NULL: the shared one.
 * @param url, options As for sdd_download().
 * @param timeout_ms Of the whole; negative: none but the downloader's own limits.
 * @param image Receives the picture, owned by the caller; NULL on an error and with
 *     SDD_OPTION_BYTES_ONLY. May be NULL: then with SDD_OPTION_BYTES_ONLY implied.
 * @param bytes Receives the body, owned by the caller; NULL on an error. May be NULL.
 * @param response Receives the response, owned by the caller, also on an error; NULL if none came.
 *     May be NULL.
 * @return SDD_OK; what the request ended with (SDD_ERROR_TIMEOUT when timeout_ms was over); and the
 *     reasons for a token 0 of sdd_downloader_submit().
 * Thread: any, but not in a modifier or filter. Since: 0.2.0.
 */
SDD_API sdd_status sdd_get(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NULLABLE url,
                           uint64_t options, int64_t timeout_ms,
                           sdd_image *SDD_NULLABLE *SDD_NULLABLE image,
                           sdd_bytes *SDD_NULLABLE *SDD_NULLABLE bytes,
                           sdd_response *SDD_NULLABLE *SDD_NULLABLE response);

SDD_END_DECLS

#endif /* SDD_REQUEST_H */

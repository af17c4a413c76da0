/*
 * sdd.h - libsdd: asynchronous image downloads for C, C++ and everything that can call C.
 *
 * THE SHORT WAY IN: three calls make a first program.
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         if (result->error != SDD_OK) { fprintf(stderr, "%s\n", result->message); return; }
 *         printf("%s: %d x %d\n", result->url, (int)sdd_image_width(result->image),
 *                (int)sdd_image_height(result->image));
 *     }
 *
 *     sdd_set_header(NULL, "Referer", "https://example.org/");
 *     sdd_token token = sdd_download(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *     sdd_wait_idle(NULL, 10000);       // or sdd_cancel(NULL, token)
 *
 * THE FULL WAY: fill an sdd_request, give it to sdd_download_request(); make downloaders of your own
 * with sdd_downloader_create(); take events on a thread of yours with sdd_event_fd() and sdd_drain().
 *
 * THE RULES, which hold for every function below unless its comment says otherwise.
 *
 * Downloaders  A `sdd_downloader *` is a handle, never a memory address. NULL stands for the shared
 *              downloader, made on first use. A handle that was destroyed is recognised: the call
 *              gives SDD_ERROR_CLOSED and does nothing.
 * Requests     Every accepted request ends with exactly ONE terminal callback (success, error, cancel,
 *              destroy), never inside the call that submitted it, never after sdd_downloader_destroy()
 *              has returned. Its `user_data_free` follows, once.
 * Tokens       An sdd_token is a 64-bit id, never reused in a process, 0 meaning none. Every call with
 *              the token of a request that has ended is harmless and gives SDD_ERROR_NOT_FOUND.
 * Threads      Every function may be called from any thread at any time, also inside a callback.
 *              Nothing blocks but sdd_wait(), sdd_wait_idle() and sdd_downloader_destroy(). Callbacks
 *              run with no lock of the library held: on one long-lived thread of the downloader
 *              (SDD_DELIVERY_THREAD), or inside sdd_dispatch(), sdd_wait(), sdd_wait_idle() and
 *              sdd_downloader_destroy() (SDD_DELIVERY_HOST).
 * Callbacks    must not throw a C++ exception, longjmp, or call pthread_exit: nothing above them
 *              could clean up. From C++17 on their types are noexcept.
 * Strings      are UTF-8 and end with NUL. What you pass in is copied before the call returns. What
 *              you are given is borrowed, until the time its comment names.
 * Structs      begin with `struct_size`, set by the SDD_..._INIT macro or the ..._init() function.
 *              Later versions only append fields, and 0 or NULL always means the default. A shorter
 *              struct (from an older header) is read with the missing fields as zero; a longer one is
 *              accepted when the part this version does not know is all zero, else refused with
 *              SDD_ERROR_UNSUPPORTED. A struct the library fills is never written past struct_size.
 * Errors       Functions that can fail return an sdd_status. Outputs are written only on success,
 *              unless a comment says otherwise. A NULL that is not allowed gives
 *              SDD_ERROR_INVALID_ARGUMENT, never a crash.
 * fork         In the child of a fork() every handle of the parent, the shared downloader included,
 *              is dead: calls give SDD_ERROR_FORKED, take no lock, and touch nothing; no callback runs
 *              there. Images and bytes the child holds stay readable. The child may create downloaders
 *              of its own.
 * exit         A process may exit at any time: what is under way is dropped, without its callbacks, after
 *              a wait of a few milliseconds for the network threads. Destroy a downloader first if its
 *              callbacks matter.
 * Signals      The library installs no signal handler, raises no SIGPIPE, and its threads have every
 *              signal blocked.
 * Memory       Bodies and pixels, whose size a server decides, are allocated with a check, under
 *              limits that come first. Small allocations that fail end the process, as in any
 *              program in Swift.
 *
 * Durations are int64_t milliseconds, measured times int64_t microseconds, sizes bytes or pixels.
 * Numbers in this file never change their meaning, and are never used again for another.
 */
#ifndef SDD_SDD_H
#define SDD_SDD_H

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragmas"
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wnullability-extension"
#define SDD_NULLABLE _Nullable
#if defined(__swift__)
#define SDD_NONNULL _Nullable /* the library itself checks: a caller's NULL must be seen, not assumed away */
#else
#define SDD_NONNULL _Nonnull
#endif
#else
#define SDD_NULLABLE
#define SDD_NONNULL
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SDD_API __attribute__((visibility("default")))
#else
#define SDD_API
#endif

#if defined(__cplusplus) && __cplusplus >= 201703L
#define SDD_NOEXCEPT noexcept
#else
#define SDD_NOEXCEPT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ version */

#define SDD_VERSION_MAJOR 0
#define SDD_VERSION_MINOR 1
#define SDD_VERSION_PATCH 0
#define SDD_VERSION_STRING "0.1.0"

/**
 * Version of the library that is loaded, as major * 1000000 + minor * 1000 + patch.
 *
 * Compare it with the SDD_VERSION_ macros, which tell the header compiled against.
 * @return For example 1000 for 0.1.0.
 * Thread: any. Since: 0.1.0.
 */
SDD_API uint32_t sdd_version(void);

/**
 * Version of the library that is loaded, as text: "0.1.0".
 *
 * @return A static string.
 * Thread: any. Lifetime: for ever. Since: 0.1.0.
 */
SDD_API const char *SDD_NONNULL sdd_version_string(void);

/* ------------------------------------------------------------------------------------- errors */

/** What a call or a request came to: SDD_OK or one of the SDD_ERROR_ numbers. Since: 0.1.0. */
typedef int32_t sdd_status;

enum {
    SDD_OK = 0,

    /* 1000-1999: the address and the picture. */
    SDD_ERROR_INVALID_URL = 1000,    /* NULL, empty, malformed, too long, or of a scheme not allowed */
    SDD_ERROR_BAD_IMAGE_DATA = 1001, /* no data, not a picture, corrupt, cut, or over the pixel limit */

    /* 2000-2999: the download. */
    SDD_ERROR_INVALID_DOWNLOAD_OPERATION = 2000,   /* the request could not be made: see the detail */
    SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE = 2001, /* HTTP status outside 200-299: see http_status */
    SDD_ERROR_CANCELLED = 2002,                    /* cancelled, or its downloader was destroyed */

    /* 3000-3999: the transport. The result's curl_code has libcurl's own number. */
    SDD_ERROR_TRANSPORT = 3000,          /* a failure with no class of its own */
    SDD_ERROR_RESOLVE = 3001,            /* the host's (or the proxy's) name has no address */
    SDD_ERROR_CONNECT = 3002,            /* no connection: refused, unreachable */
    SDD_ERROR_TLS = 3003,                /* handshake or certificate: see the detail */
    SDD_ERROR_TIMEOUT = 3004,            /* a clock ran out: see the detail for which */
    SDD_ERROR_CONNECTION_LOST = 3005,    /* the connection broke while sending or receiving */
    SDD_ERROR_TOO_MANY_REDIRECTS = 3006, /* more hops than max_redirects */
    SDD_ERROR_PROTOCOL = 3007,           /* what the server sent is not HTTP */
    SDD_ERROR_BODY_TOO_LARGE = 3008,     /* more body than max_body_bytes */
    SDD_ERROR_TRUNCATED_BODY = 3009,     /* the body ended before its announced end */
    SDD_ERROR_REDIRECT_REFUSED = 3010,   /* a redirect to a scheme that is not allowed */
    SDD_ERROR_CONTENT_ENCODING = 3011,   /* gzip, brotli or zstd data that does not unpack */
    SDD_ERROR_FILE_NOT_READABLE = 3012,  /* file: only: no such file, or no permission */

    /* 4000-4999: calls. */
    SDD_ERROR_INVALID_ARGUMENT = 4000, /* a NULL, number or text that this call does not take */
    SDD_ERROR_UNSUPPORTED = 4001,      /* a struct or flag from a newer version of the header */
    SDD_ERROR_NOT_FOUND = 4002,        /* no such request (it has ended), no such header */
    SDD_ERROR_CLOSED = 4003,           /* the downloader was destroyed */
    SDD_ERROR_FORKED = 4004,           /* the handle belongs to the parent of this process */
    SDD_ERROR_WRONG_DELIVERY = 4005,   /* the call belongs to the other delivery mode */
    SDD_ERROR_BUSY = 4006,             /* another thread is taking this downloader's events */
    SDD_ERROR_WOULD_DEADLOCK = 4007,   /* a wait on the very thread that is being waited for */
    SDD_ERROR_TIMED_OUT = 4008,        /* the time limit of a waiting call is over */
    SDD_ERROR_NO_RESOURCES = 4009,     /* the system gave no thread, descriptor or memory */
    SDD_ERROR_BUFFER_TOO_SMALL = 4010  /* the caller's buffer does not hold the answer */
};

/**
 * Sub-codes: the result's `detail`. Each belongs to one status: detail / 100 == status. 0 means that
 * there is nothing to add. Since: 0.1.0.
 */
enum {
    SDD_DETAIL_NONE = 0,

    SDD_DETAIL_URL_NULL = 100001,
    SDD_DETAIL_URL_EMPTY = 100002,
    SDD_DETAIL_URL_TOO_LONG = 100003,  /* over 65,536 bytes */
    SDD_DETAIL_URL_NOT_UTF8 = 100004,
    SDD_DETAIL_URL_MALFORMED = 100005, /* no scheme, no host, a space or control character, a bad port */
    SDD_DETAIL_URL_SCHEME = 100006,    /* not http or https (or file, where it is allowed) */

    SDD_DETAIL_IMAGE_EMPTY = 100101,           /* a body of no bytes */
    SDD_DETAIL_IMAGE_UNKNOWN_FORMAT = 100102,  /* does not begin as JPEG or PNG: an HTML page, perhaps */
    SDD_DETAIL_IMAGE_CORRUPT = 100103,         /* the decoder met data that cannot be */
    SDD_DETAIL_IMAGE_TRUNCATED = 100104,       /* the picture's data ends too early */
    SDD_DETAIL_IMAGE_ZERO_PIXELS = 100105,     /* a width or height of 0 */
    SDD_DETAIL_IMAGE_TOO_MANY_PIXELS = 100106, /* over max_pixels, known before any pixel memory is taken */
    SDD_DETAIL_IMAGE_UNSUPPORTED = 100107,     /* a kind of JPEG or PNG the decoders do not do */
    SDD_DETAIL_IMAGE_NO_MEMORY = 100108,       /* no memory for the pixels */
    SDD_DETAIL_IMAGE_TOO_MANY_SCANS = 100109,  /* a progressive JPEG with over 500 scans */

    SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS = 200002, /* option bits this version does not know */
    SDD_DETAIL_OPERATION_BAD_HEADER = 200003,      /* a header name or value that HTTP does not allow */
    SDD_DETAIL_OPERATION_BAD_METHOD = 200004,      /* a method that is not an HTTP token */
    SDD_DETAIL_OPERATION_BAD_BODY = 200005,        /* body NULL with a size, or with GET or HEAD */
    SDD_DETAIL_OPERATION_NO_TRANSFER = 200006,     /* libcurl could not make the transfer */

    SDD_DETAIL_CANCELLED_WAITING = 200201,  /* before it was sent */
    SDD_DETAIL_CANCELLED_SENDING = 200202,  /* while it was on the network */
    SDD_DETAIL_CANCELLED_DECODING = 200203, /* while the picture was being decoded */

    SDD_DETAIL_TLS_HANDSHAKE = 300301,
    SDD_DETAIL_TLS_EXPIRED = 300302,        /* the certificate is past its end, or before its start */
    SDD_DETAIL_TLS_WRONG_HOST = 300303,     /* the certificate names another host */
    SDD_DETAIL_TLS_SELF_SIGNED = 300304,    /* signed by itself */
    SDD_DETAIL_TLS_UNKNOWN_ISSUER = 300305, /* signed by nobody whom the CA file or path knows */
    SDD_DETAIL_TLS_BAD_CERTIFICATE = 300306,
    SDD_DETAIL_TLS_CA_FILE = 300307,        /* ca_file or ca_path cannot be read */

    SDD_DETAIL_TIMEOUT_CONNECT = 300401, /* name lookup, connect and TLS handshake */
    SDD_DETAIL_TIMEOUT_STALL = 300402    /* connected, and then not a byte for download_timeout_ms */
};

/**
 * The spelling of a status: "SDD_ERROR_TLS" for 3003.
 *
 * @param status Any number.
 * @return A static string; "SDD_ERROR_UNKNOWN" for a number that is no status.
 * Thread: any. Lifetime: for ever. Since: 0.1.0.
 */
SDD_API const char *SDD_NONNULL sdd_status_name(sdd_status status);

/**
 * One English sentence on a status, the same for every failure with that number.
 *
 * What happened to one request stands in its result's `message`.
 * @param status Any number.
 * @return A static string.
 * Thread: any. Lifetime: for ever. Since: 0.1.0.
 */
SDD_API const char *SDD_NONNULL sdd_status_message(sdd_status status);

/* ------------------------------------------------------------------------------------ objects */

/** A downloader: a queue, a connection pool, default headers. A handle, see "Downloaders" above. */
typedef struct sdd_downloader sdd_downloader;

/** A picture, immutable and reference counted. */
typedef struct sdd_image sdd_image;

/** A body as it came from the server, unpacked, immutable and reference counted. */
typedef struct sdd_bytes sdd_bytes;

/** The id of one request. 0 is none. */
typedef uint64_t sdd_token;

/* ------------------------------------------------------------------------------------- images */

/** How pixels lie in memory: sdd_image_pixel_format(). Since: 0.1.0. */
enum {
    SDD_PIXEL_FORMAT_RGBA8 = 1 /* 4 bytes a pixel: red, green, blue, alpha; alpha not multiplied in */
};

/** What the encoded picture was: sdd_image_format(). Since: 0.1.0. */
enum {
    SDD_IMAGE_FORMAT_JPEG = 1,
    SDD_IMAGE_FORMAT_PNG = 2
};

/**
 * Adds one reference to an image, so that it outlives the callback that lent it.
 *
 * @param image Borrowed. NULL gives NULL.
 * @return The same image, owned by the caller: release with sdd_image_release().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_image_retain(sdd_image *SDD_NULLABLE image);

/**
 * Gives one reference back; the last one frees pixels and bytes. Never blocks.
 *
 * @param image The reference to give back. NULL does nothing.
 * Thread: any. Since: 0.1.0.
 */
SDD_API void sdd_image_release(sdd_image *SDD_NULLABLE image);

/**
 * Width in pixels, at least 1; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_width(sdd_image *SDD_NULLABLE image);

/**
 * Height in pixels, at least 1; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_height(sdd_image *SDD_NULLABLE image);

/**
 * Bytes from the start of one row of pixels to the start of the next; 0 for NULL.
 *
 * At least width * 4; use it, rows may be padded in later versions.
 * Thread: any. Since: 0.1.0.
 */
SDD_API size_t sdd_image_stride(sdd_image *SDD_NULLABLE image);

/**
 * One of SDD_PIXEL_FORMAT_; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_pixel_format(sdd_image *SDD_NULLABLE image);

/**
 * What the encoded bytes are, one of SDD_IMAGE_FORMAT_; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_format(sdd_image *SDD_NULLABLE image);

/**
 * The pixels: height rows of sdd_image_stride() bytes, the top row first.
 *
 * Colours are as the file has them: no colour profile and no gamma is applied.
 * @param image Borrowed.
 * @return The first byte of the top row; NULL for NULL.
 * Thread: any. Lifetime: while a reference to the image is held. Since: 0.1.0.
 */
SDD_API const uint8_t *SDD_NULLABLE sdd_image_pixels(sdd_image *SDD_NULLABLE image);

/**
 * The encoded bytes the image was decoded from.
 *
 * @param image Borrowed.
 * @return Borrowed: retain it to keep it longer than the image; NULL for NULL.
 * Thread: any. Lifetime: while a reference to the image is held. Since: 0.1.0.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_image_bytes(sdd_image *SDD_NULLABLE image);

/**
 * Adds one reference to bytes, so that they outlive the callback that lent them. Copies nothing.
 *
 * @param bytes Borrowed. NULL gives NULL.
 * @return The same bytes, owned by the caller: release with sdd_bytes_release().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_bytes_retain(sdd_bytes *SDD_NULLABLE bytes);

/**
 * Gives one reference back; the last one frees the bytes. Never blocks.
 *
 * @param bytes The reference to give back. NULL does nothing.
 * Thread: any. Since: 0.1.0.
 */
SDD_API void sdd_bytes_release(sdd_bytes *SDD_NULLABLE bytes);

/**
 * The first byte.
 *
 * @param bytes Borrowed.
 * @return sdd_bytes_size() readable bytes; NULL for NULL or when there are none.
 * Thread: any. Lifetime: while a reference to the bytes is held. Since: 0.1.0.
 */
SDD_API const uint8_t *SDD_NULLABLE sdd_bytes_data(sdd_bytes *SDD_NULLABLE bytes);

/**
 * How many bytes there are; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API size_t sdd_bytes_size(sdd_bytes *SDD_NULLABLE bytes);

/* ------------------------------------------------------------------------------------ results */

/**
 * How long each stage of a request took, in microseconds; 0 for a stage that did not happen, such as
 * a connect on a connection used again. Filled by the library. Since: 0.1.0.
 */
typedef struct sdd_timings {
    size_t struct_size;
    int64_t queue_us;       /* from the submitting call to the start of the transfer */
    int64_t name_lookup_us; /* libcurl's CURLINFO_NAMELOOKUP_TIME_T */
    int64_t connect_us;     /* TCP alone */
    int64_t tls_us;         /* TLS handshake alone */
    int64_t first_byte_us;  /* from the request being ready to be sent to the first byte of the answer */
    int64_t transfer_us;    /* the whole transfer, from its start to its last byte */
    int64_t decode_us;      /* from the last byte to the picture, waiting for a decode thread included */
    int64_t total_us;       /* from the submitting call to the end */
} sdd_timings;

/**
 * What a request came to; made by the library. On an error, image and bytes are NULL.
 * Lifetime: until the callback returns, or, from sdd_drain(), as sdd_event says. Since: 0.1.0.
 */
typedef struct sdd_result {
    size_t struct_size;
    sdd_token token;                  /* what the submitting call returned */
    const char *SDD_NULLABLE url;     /* as asked for, NULL if that was NULL or unreadable */
    sdd_image *SDD_NULLABLE image;    /* borrowed; NULL with SDD_OPTION_BYTES_ONLY */
    sdd_bytes *SDD_NULLABLE bytes;    /* borrowed; the body, also when image is set */
    sdd_status error;                 /* SDD_OK or what went wrong */
    int32_t detail;                   /* one of SDD_DETAIL_ */
    int32_t http_status;              /* of the last response; 0 if there was none */
    int32_t curl_code;                /* libcurl's CURLcode; 0 if it reported no error */
    int32_t system_error;             /* errno of the failing system call where known, else 0 */
    int32_t finished;                 /* 1 in a terminal callback: always, in this version */
    const char *SDD_NONNULL message;  /* one sentence on the error; "" for SDD_OK */
    const sdd_timings *SDD_NONNULL timings;
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
 * Counts that come faster than they are taken are merged: of those between the response and the end the
 * newest is delivered. None comes
 * after the request's terminal callback, nor after sdd_cancel() of it has returned, but for the one
 * that may be running on another thread just then.
 * @param token The request's.
 * @param received_bytes Body bytes so far, after unpacking.
 * @param expected_bytes Body bytes in all; -1 while unknown, and for a packed body (gzip and the like).
 * @param url As asked for. Borrowed until the callback returns.
 * @param user_data The request's own.
 * Thread: as sdd_completed_fn.
 */
typedef void (*sdd_progress_fn)(sdd_token token, int64_t received_bytes, int64_t expected_bytes,
                                const char *SDD_NONNULL url, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Called once with a request's user data, after its terminal callback has returned.
 *
 * Thread: as sdd_completed_fn.
 */
typedef void (*sdd_user_data_free_fn)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/* ----------------------------------------------------------------------------------- requests */

/**
 * Option bits of a request, for a uint64_t. Bits 0 to 12 are numbered as in SDWebImage 5, the
 * library's own begin at bit 24. A bit that is not listed here is refused: the request ends with
 * SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS. Since: 0.1.0.
 */
enum {
    SDD_OPTION_LOW_PRIORITY = 1 << 0,                   /* after requests of normal priority */
    SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES = 1 << 6, /* this request's server may show any certificate */
    SDD_OPTION_HIGH_PRIORITY = 1 << 7,                  /* before requests of normal priority; beats bit 0 */
    SDD_OPTION_BYTES_ONLY = 1 << 24,                    /* do not decode: the result has bytes and no image */
    SDD_OPTION_PROGRESS_EVENTS = 1 << 25                /* SDD_EVENT_PROGRESS for sdd_drain(), though `progress`
                                                           is NULL */
};

/** One header field of a request. Fixed for ever: it has no struct_size. Since: 0.1.0. */
typedef struct sdd_header {
    const char *SDD_NULLABLE name;  /* an HTTP token, RFC 9110 section 5.1 */
    const char *SDD_NULLABLE value; /* no CR, LF or NUL; NULL removes the downloader's header of that name */
} sdd_header;

/**
 * Everything a request can have. Begin with SDD_REQUEST_INIT or sdd_request_init(), set `url` and
 * `completed`. Everything in it is copied by sdd_download_request(). Since: 0.1.0.
 *
 * Two requests with the same method (GET or HEAD), URL, headers and certificate option that are under
 * way at the same time share one transfer, each with its own callbacks and its own end.
 */
typedef struct sdd_request {
    size_t struct_size;
    const char *SDD_NULLABLE url;
    uint64_t options;                       /* SDD_OPTION_ bits */
    const char *SDD_NULLABLE method;        /* NULL: "GET" */
    const sdd_header *SDD_NULLABLE headers; /* header_count of them; they replace the downloader's by name */
    size_t header_count;
    const void *SDD_NULLABLE body;          /* body_size bytes to send; not with GET or HEAD */
    size_t body_size;
    sdd_progress_fn SDD_NULLABLE progress;
    sdd_completed_fn SDD_NULLABLE completed; /* may be NULL only with SDD_DELIVERY_HOST and sdd_drain() */
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_request;

#define SDD_REQUEST_INIT \
    { sizeof(sdd_request), NULL, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL }

/**
 * Does what SDD_REQUEST_INIT does, for languages without macros.
 *
 * @param request Filled with zeros, but for struct_size.
 * @param struct_size sizeof(sdd_request), as the caller knows it.
 * @return SDD_OK, or SDD_ERROR_INVALID_ARGUMENT for NULL or a size too small to hold struct_size.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_request_init(sdd_request *SDD_NONNULL request, size_t struct_size);

/* -------------------------------------------------------------------------------- downloaders */

/** Where callbacks run: sdd_downloader_config.delivery. Since: 0.1.0. */
enum {
    SDD_DELIVERY_THREAD = 0, /* on one long-lived thread of the downloader, named sdd-callback */
    SDD_DELIVERY_HOST = 1    /* events wait for sdd_dispatch(), sdd_drain() or sdd_wait() */
};

/**
 * How a downloader is to be. Begin with SDD_DOWNLOADER_CONFIG_INIT or sdd_downloader_config_init();
 * sdd_downloader_create() copies it. 0 or NULL in a field is its default; a negative number is
 * refused. Since: 0.1.0.
 */
typedef struct sdd_downloader_config {
    size_t struct_size;
    int32_t delivery;                 /* one of SDD_DELIVERY_; default SDD_DELIVERY_THREAD */
    int32_t max_concurrent_downloads; /* transfers at a time; default 6 */
    int64_t download_timeout_ms;      /* longest time without a byte, from the start of the transfer on;
                                         default 15000. Time spent waiting in the queue does not count */
    int64_t max_body_bytes;           /* largest body, after unpacking; default 64 MiB */
    int64_t max_pixels;               /* largest width * height; default 128 Mi (134,217,728) */
    int32_t max_redirects;            /* default 10 */
    int32_t decode_threads;           /* default: the processors this process may use, at most 8 */
    int32_t allow_file_urls;          /* 1: file: URLs are read too (never after a redirect); default 0 */
    int32_t reserved;                 /* 0 */
    const char *SDD_NULLABLE ca_file; /* PEM file of trusted certificates; NULL: the system's */
    const char *SDD_NULLABLE ca_path; /* directory of such files, hashed by `openssl rehash` */
    void (*SDD_NULLABLE on_thread_start)(void *SDD_NULLABLE thread_user_data) SDD_NOEXCEPT;
    void (*SDD_NULLABLE on_thread_stop)(void *SDD_NULLABLE thread_user_data) SDD_NOEXCEPT;
                                      /* first and last on the thread of SDD_DELIVERY_THREAD, so that a
                                         language binding can attach it once */
    void *SDD_NULLABLE thread_user_data;
} sdd_downloader_config;

#define SDD_DOWNLOADER_CONFIG_INIT \
    { sizeof(sdd_downloader_config), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Does what SDD_DOWNLOADER_CONFIG_INIT does, for languages without macros.
 *
 * @param config Filled with zeros, but for struct_size.
 * @param struct_size sizeof(sdd_downloader_config), as the caller knows it.
 * @return SDD_OK, or SDD_ERROR_INVALID_ARGUMENT for NULL or a size too small to hold struct_size.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_config_init(sdd_downloader_config *SDD_NONNULL config, size_t struct_size);

/**
 * Makes a downloader with connections, headers, limits and threads of its own.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_downloader_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a field out of range or out NULL;
 *         SDD_ERROR_UNSUPPORTED for a config from a newer header; SDD_ERROR_NO_RESOURCES when the
 *         system gives no thread or descriptor.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_create(const sdd_downloader_config *SDD_NULLABLE config,
                                         sdd_downloader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what is under way, delivers every terminal callback that is owed, ends the threads. WAITS
 * for all of that, within the time a callback of yours and one decoding step take.
 *
 * With SDD_DELIVERY_HOST the callbacks owed are called here, on the calling thread. Called inside a
 * callback of this downloader it does not wait: the handle is dead at once, and the rest happens
 * when that callback has returned. Images and bytes live on by their own references.
 * @param downloader Dead from now on. NULL and the shared downloader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT for the shared
 *         downloader; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_destroy(sdd_downloader *SDD_NULLABLE downloader);

/**
 * The shared downloader, which NULL stands for in every call: defaults throughout, SDD_DELIVERY_THREAD.
 *
 * Made on first use; it cannot be destroyed.
 * @return Its handle; NULL if it cannot be made (no thread), and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.1.0.
 */
SDD_API sdd_downloader *SDD_NULLABLE sdd_shared(void);

/**
 * Sets a header field for all requests submitted from now on.
 *
 * A new downloader accepts any content type and prefers images (sdd_get_header() shows its "Accept"),
 * and has "User-Agent: libsdd/0.1.0 (Linux; x86_64) curl/7.88.1", with the versions and machine at hand.
 * @param downloader NULL: the shared one.
 * @param name An HTTP token (RFC 9110 section 5.1), compared without regard to case. Copied.
 * @param value Text without control characters, TAB excepted (RFC 9110 section 5.5). Copied. NULL
 *        removes the field: it is then not sent.
 * @return SDD_OK, also when there was nothing to remove; SDD_ERROR_INVALID_ARGUMENT for a name or
 *         value that HTTP does not allow; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_NO_RESOURCES
 *         when the shared downloader cannot be made.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_set_header(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NONNULL name,
                                  const char *SDD_NULLABLE value);

/**
 * Reads a header field that requests submitted now would carry.
 *
 * @param downloader NULL: the shared one.
 * @param name Compared without regard to case.
 * @param buffer Receives the value and a NUL. May be NULL if capacity is 0, to ask for the length.
 * @param capacity Size of buffer, in bytes.
 * @param length Receives the value's length without the NUL, also with SDD_ERROR_BUFFER_TOO_SMALL.
 *        May be NULL.
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL (length + 1 bytes are needed, nothing is written to
 *         buffer); SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT; and as sdd_set_header().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_get_header(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NONNULL name,
                                  char *SDD_NULLABLE buffer, size_t capacity, size_t *SDD_NULLABLE length);

/**
 * Changes how many transfers may run at a time. Raising it starts waiting requests at once; lowering
 * it stops none that runs.
 *
 * @param downloader NULL: the shared one.
 * @param count At least 1.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for 0 or less; and as sdd_set_header().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_set_max_concurrent_downloads(sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/* --------------------------------------------------------------------------------- downloading */

/**
 * Submits a GET request. Returns at once; `completed` is called exactly once, later.
 *
 * With SDD_DELIVERY_THREAD that may be before this call has returned, on the other thread: use the
 * token in the result there.
 * @param downloader NULL: the shared one.
 * @param url Absolute: http or https. At most 65,536 bytes. Bytes over 0x7f in path, query or
 *        fragment are percent-encoded; in a host name write punycode. Anything wrong with it arrives
 *        by `completed`.
 * @param options SDD_OPTION_ bits.
 * @param progress May be NULL.
 * @param completed May be NULL only on a downloader with SDD_DELIVERY_HOST.
 * @param user_data Handed to both.
 * @return The token. 0, and nothing will be called, if `completed` is missing, the downloader is
 *         destroyed or forked, or the shared one cannot be made: sdd_download_request() says which.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_token sdd_download(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NULLABLE url,
                               uint64_t options, sdd_progress_fn SDD_NULLABLE progress,
                               sdd_completed_fn SDD_NULLABLE completed, void *SDD_NULLABLE user_data);

/**
 * Submits a request with everything it can have. Otherwise as sdd_download().
 *
 * @param downloader NULL: the shared one.
 * @param request Copied, with all that it points to.
 * @param status Receives SDD_OK with a token, and with 0 the reason: SDD_ERROR_INVALID_ARGUMENT
 *        (request NULL, struct_size too small to reach `completed`, `completed` missing),
 *        SDD_ERROR_UNSUPPORTED (a request from a newer header), SDD_ERROR_CLOSED, SDD_ERROR_FORKED,
 *        SDD_ERROR_NO_RESOURCES. May be NULL.
 * @return The token, or 0: then nothing will be called, user_data_free neither.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_token sdd_download_request(sdd_downloader *SDD_NULLABLE downloader,
                                       const sdd_request *SDD_NONNULL request,
                                       sdd_status *SDD_NULLABLE status);

/**
 * Cancels one request; others that share its transfer go on. Its terminal callback comes with
 * SDD_ERROR_CANCELLED.
 *
 * A transfer that nobody waits for any more is ended.
 * @param downloader The one it was submitted to. NULL: the shared one.
 * @param token What the submitting call returned.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the request has ended (its result may still be on its way to
 *         the callback); SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_cancel(sdd_downloader *SDD_NULLABLE downloader, sdd_token token);

/**
 * Cancels every request of a downloader, as sdd_cancel() would.
 *
 * @param downloader NULL: the shared one.
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_cancel_all(sdd_downloader *SDD_NULLABLE downloader);

/**
 * WAITS until every request of a downloader has ended and its terminal callback has returned.
 *
 * With SDD_DELIVERY_HOST it calls the callbacks meanwhile, here. Requests that others submit while it
 * waits are waited for too.
 * @param downloader NULL: the shared one.
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT; SDD_ERROR_WOULD_DEADLOCK inside a callback of this downloader;
 *         SDD_ERROR_BUSY if another thread is taking its events; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any but the downloader's own callback thread. Since: 0.1.0.
 */
SDD_API sdd_status sdd_wait_idle(sdd_downloader *SDD_NULLABLE downloader, int64_t timeout_ms);

/* ------------------------------------------- events on a thread of the host's: SDD_DELIVERY_HOST */

/** Kinds of sdd_event. Since: 0.1.0. */
enum {
    SDD_EVENT_PROGRESS = 1, /* received_bytes and expected_bytes have grown */
    SDD_EVENT_COMPLETED = 2 /* the request has ended: the terminal event */
};

/** One event, filled by sdd_drain() or sdd_wait(). Since: 0.1.0. */
typedef struct sdd_event {
    size_t struct_size;
    sdd_token token;
    void *SDD_NULLABLE user_data;           /* the request's */
    int32_t kind;                           /* one of SDD_EVENT_ */
    sdd_status error;                       /* the result's; SDD_OK for progress */
    sdd_image *SDD_NULLABLE image;          /* the result's, with one reference: release it */
    sdd_bytes *SDD_NULLABLE bytes;          /* the result's, with one reference: release it */
    int64_t received_bytes;                 /* as in sdd_progress_fn; of a completed one, its size */
    int64_t expected_bytes;
    const sdd_result *SDD_NULLABLE result;  /* NULL for progress. Borrowed, with the strings in it, until
                                               the next sdd_drain(), sdd_dispatch(), sdd_wait(),
                                               sdd_wait_idle() or sdd_downloader_destroy() of the same
                                               downloader; that call is also what runs user_data_free */
} sdd_event;

#define SDD_EVENT_INIT \
    { sizeof(sdd_event), 0, NULL, 0, 0, NULL, NULL, 0, 0, NULL }

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
 *         SDD_ERROR_BUSY while another thread takes this downloader's events; SDD_ERROR_CLOSED;
 *         SDD_ERROR_FORKED.
 * Thread: any, one at a time. Inside a callback of this downloader: allowed. Since: 0.1.0.
 */
SDD_API sdd_status sdd_dispatch(sdd_downloader *SDD_NULLABLE downloader, size_t max, size_t *SDD_NULLABLE count);

/**
 * Takes events that wait into an array, and calls nothing (but the user_data_free of what the call
 * before this one took).
 *
 * @param downloader NULL: the shared one.
 * @param events max records in a row. The struct_size of the FIRST gives the size of each: set it.
 * @param max How many there are room for, at least 1.
 * @param count Receives how many were filled.
 * @return As sdd_dispatch(), and SDD_ERROR_INVALID_ARGUMENT for NULL, max 0, or a struct_size too
 *         small to reach `result`.
 * Thread: any, one at a time. Since: 0.1.0.
 */
SDD_API sdd_status sdd_drain(sdd_downloader *SDD_NULLABLE downloader, sdd_event *SDD_NONNULL events, size_t max,
                             size_t *SDD_NONNULL count);

/**
 * WAITS for events, then does what sdd_drain() does, or, with events NULL, what sdd_dispatch() does.
 *
 * @param downloader NULL: the shared one.
 * @param events As for sdd_drain(), or NULL.
 * @param max As for the one or the other.
 * @param timeout_ms Longest wait; 0: none; negative: no limit.
 * @param count Receives how many were delivered. May be NULL if events is.
 * @return As sdd_drain() and sdd_dispatch(); SDD_ERROR_TIMED_OUT when no event came in time.
 * Thread: any, one at a time. Since: 0.1.0.
 */
SDD_API sdd_status sdd_wait(sdd_downloader *SDD_NULLABLE downloader, sdd_event *SDD_NULLABLE events, size_t max,
                            int64_t timeout_ms, size_t *SDD_NULLABLE count);

#ifdef __cplusplus
}
#endif

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif /* SDD_SDD_H */

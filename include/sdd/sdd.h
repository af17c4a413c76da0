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
 *     sdd_token token = sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *     sdd_wait_idle(NULL, 10000);       // or sdd_cancel(token)
 *
 * THE FULL WAY: fill an sdd_load_request, give it to sdd_loader_submit(); or, where no cache is to have a
 * part in it, an sdd_download_request to sdd_downloader_submit(); make downloaders, caches and loaders of your own
 * with sdd_downloader_create() and the like; take events on a thread of yours with sdd_event_fd() and
 * sdd_drain().
 *
 * THE RULES, which hold for every function below unless its comment says otherwise.
 *
 * Downloaders  A `sdd_downloader *` is a handle, never a memory address. NULL stands for the shared
 *              downloader, made on first use. A handle that was destroyed is recognised: the call
 *              gives SDD_ERROR_CLOSED and does nothing. The same goes for an `sdd_cache *`,
 *              an `sdd_loader *` and an `sdd_batch *`.
 * Requests     Every accepted request ends with exactly ONE terminal callback (success, error, cancel,
 *              destroy), never inside the call that submitted it, never after sdd_downloader_destroy()
 *              has returned. Its `user_data_free` follows, once.
 * Tokens       An sdd_token is a 64-bit id, never reused in a process, 0 meaning none. Every call with
 *              the token of a request that has ended is harmless and gives SDD_ERROR_NOT_FOUND.
 * Threads      Every function may be called from any thread at any time, also inside a callback.
 *              A function blocks only where its comment says WAITS, and for what it says; all others
 *              take locks for a moment and do no I/O. The first use of the shared downloader, loader
 *              or cache creates it: that starts threads, and opens the cache's directory. Functions
 *              that WAIT for requests (sdd_wait(), sdd_wait_idle(), sdd_get(), sdd_batch_wait(),
 *              sdd_downloader_destroy(), sdd_batch_destroy()) must not be called on sdd-net (functions
 *              of an sdd_transport, address_filter) nor on decode threads (response modifier, body
 *              transform, functions of an sdd_coder): there they would wait for themselves.
 *              Callbacks run with no lock of the library held: on one long-lived thread of the
 *              downloader (SDD_DELIVERY_THREAD), or inside sdd_dispatch(), sdd_wait(), sdd_wait_idle()
 *              and sdd_downloader_destroy() (SDD_DELIVERY_APPLICATION).
 * Callbacks    must not throw a C++ exception, longjmp, or call pthread_exit: nothing above them
 *              could clean up. From C++17 on their types are noexcept.
 * Strings      are UTF-8 and end with NUL. What you pass in is copied before the call returns. What
 *              you are given is borrowed, until the time its comment names.
 * Structs      begin with `struct_size`, set by the SDD_..._INIT macro, or by hand in a struct of zeros.
 *              Later versions only append fields, and 0 or NULL always means the default. A size that
 *              is no multiple of the struct's alignment gives SDD_ERROR_INVALID_ARGUMENT. A shorter
 *              struct (from an older header) is read with the missing fields as zero; a longer one is
 *              accepted when the part this version does not know is all zero, else refused with
 *              SDD_ERROR_UNSUPPORTED. A struct the library fills is never written past struct_size.
 * Errors       Functions that can fail return an sdd_status. Outputs are written only on success,
 *              unless a comment says otherwise. A NULL that is not allowed gives
 *              SDD_ERROR_INVALID_ARGUMENT, never a crash.
 * fork         In the child of a fork() every handle of the parent, the shared downloader included,
 *              is dead: calls give SDD_ERROR_FORKED, take no lock, and touch nothing; what is asked of its
 *              tokens and transfers is SDD_ERROR_NOT_FOUND; no callback runs
 *              there. A child forked inside a callback ends, if it returns from it on sdd-callback.
 *              Images and bytes the child holds stay readable. The child may create downloaders
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
#define SDD_VERSION_MINOR 2
#define SDD_VERSION_PATCH 0
#define SDD_VERSION_STRING "0.2.0"

/**
 * Version of the library that is loaded, as major * 1000000 + minor * 1000 + patch.
 *
 * Compare it with the SDD_VERSION_ macros, which tell the header compiled against.
 * @return For example 2000 for 0.2.0.
 * Thread: any. Since: 0.1.0.
 */
SDD_API uint32_t sdd_version(void);

/**
 * Version of the library that is loaded, as text: "0.2.0".
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
    SDD_ERROR_NOT_MODIFIED = 1002,   /* HTTP 304: the caller's conditional header holds, and no body came; or, with
                                        SDD_OPTION_IGNORE_CACHED_RESPONSE, what the HTTP cache has is still right */
    SDD_ERROR_BLOCKED = 1003,        /* the URL has failed lately: see sdd_load(). Since: 0.2.0 */
    SDD_ERROR_NOT_CACHED = 1004,     /* no cache has it, and the network was not to be asked. Since: 0.2.0 */

    /* 2000-2999: the download. */
    SDD_ERROR_INVALID_DOWNLOAD_OPERATION = 2000,   /* the request could not be made: see the detail */
    SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE = 2001, /* HTTP status outside accepted_status_codes */
    SDD_ERROR_CANCELLED = 2002,                    /* cancelled, or its downloader was closed or destroyed */
    SDD_ERROR_INVALID_DOWNLOAD_RESPONSE = 2003,    /* the response modifier refused it */
    SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE = 2004, /* media type outside accepted_content_types */

    /* 3000-3999: the transport. The result's curl_code has libcurl's own number. */
    SDD_ERROR_TRANSPORT = 3000,          /* a failure with no class of its own */
    SDD_ERROR_RESOLVE = 3001,            /* the host's (or the proxy's) name has no address */
    SDD_ERROR_CONNECT = 3002,            /* no connection: refused, unreachable */
    SDD_ERROR_TLS = 3003,                /* handshake or certificate: see the detail */
    SDD_ERROR_TIMEOUT = 3004,            /* a clock ran out: see the detail for which */
    SDD_ERROR_CONNECTION_LOST = 3005,    /* the connection broke while sending or receiving */
    SDD_ERROR_TOO_MANY_REDIRECTS = 3006, /* more hops than max_redirects */
    SDD_ERROR_PROTOCOL = 3007,           /* what the server sent is not HTTP, or no answer to the request */
    SDD_ERROR_BODY_TOO_LARGE = 3008,     /* more body than max_body_bytes */
    SDD_ERROR_TRUNCATED_BODY = 3009,     /* the body ended before its announced end */
    SDD_ERROR_REDIRECT_REFUSED = 3010,   /* a redirect that is not followed: see the detail */
    SDD_ERROR_CONTENT_ENCODING = 3011,   /* packed data that does not unpack, goes on behind its end, or is packed more
                                            than once */
    SDD_ERROR_FILE_NOT_READABLE = 3012,  /* file: only: no such file, or no permission */
    SDD_ERROR_ADDRESS_REFUSED = 3013,    /* address_policy or address_filter refused where it would connect */
    SDD_ERROR_HEADERS_TOO_LARGE = 3014,  /* more header than max_header_bytes or max_header_count */
    SDD_ERROR_PROXY = 3015,              /* the proxy refused to help */
    SDD_ERROR_SINK = 3016,               /* the body could not be written to sink_fd: see system_error */

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
    SDD_ERROR_BUFFER_TOO_SMALL = 4010, /* the caller's buffer does not hold the answer */
    SDD_ERROR_INCOMPLETE = 4011,       /* the bytes end before what was asked for: call again with more */
    SDD_ERROR_DOES_NOT_FIT = 4012,     /* a picture into a limit of bytes, a JPEG's 65,500 pixels a side, or a crop */
    SDD_ERROR_CACHE = 4013             /* a disk cache could not do what it was asked to: see the detail. Since: 0.2.0 */
};

/**
 * Sub-codes: the result's `detail`. Each belongs to one status: detail / 100 == status. 0 means that
 * there is nothing to add. Since: 0.1.0.
 */
enum {
    SDD_DETAIL_NONE = 0,

    SDD_DETAIL_URL_NULL = 100001,
    SDD_DETAIL_URL_EMPTY = 100002,
    SDD_DETAIL_URL_TOO_LONG = 100003,  /* over 65,536 bytes; a data: URL: over 4/3 of max_body_bytes and 1,024 */
    SDD_DETAIL_URL_NOT_UTF8 = 100004,
    SDD_DETAIL_URL_MALFORMED = 100005, /* no scheme, no host, a space or control character, a bad port; a data: URL
                                          without a comma, or with what is no base64 */
    SDD_DETAIL_URL_SCHEME = 100006,    /* not http, https or data (or file, where it is allowed), and none that a
                                          transport of the host's takes */

    SDD_DETAIL_IMAGE_EMPTY = 100101,           /* a body of no bytes */
    SDD_DETAIL_IMAGE_UNKNOWN_FORMAT = 100102,  /* no JPEG or PNG, and no coder takes it: an HTML page, perhaps */
    SDD_DETAIL_IMAGE_CORRUPT = 100103,         /* the decoder met data that cannot be */
    SDD_DETAIL_IMAGE_TRUNCATED = 100104,       /* the picture's data ends too early */
    SDD_DETAIL_IMAGE_ZERO_PIXELS = 100105,     /* a width or height of 0 */
    SDD_DETAIL_IMAGE_TOO_MANY_PIXELS = 100106, /* over max_pixels, as stored or as it would be enlarged: known before any
                                                  pixel memory is taken */
    SDD_DETAIL_IMAGE_UNSUPPORTED = 100107,     /* a kind of JPEG or PNG the decoders do not do */
    SDD_DETAIL_IMAGE_NO_MEMORY = 100108,       /* no memory for the pixels */
    SDD_DETAIL_IMAGE_TOO_MANY_SCANS = 100109,  /* a progressive JPEG with over 500 scans */
    SDD_DETAIL_IMAGE_TRANSFORM = 100110,       /* the body transform gave nothing, or a transform of the picture did:
                                                  a crop of what is not there */
    SDD_DETAIL_IMAGE_TOO_SLOW = 100111,        /* decoding took longer than decode_time_ms allows */
    SDD_DETAIL_IMAGE_TOO_MANY_FRAMES = 100112, /* over 10,000; or to be kept all at once, and over max_pixels in all */
    SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE = 100113, /* metadata of over 8 MiB when unpacked */
    SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY = 100114, /* it would take more than max_decode_bytes, or, for so small a body, than
                                                  max_decode_ratio allows; known before it is taken */
    SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL = 100115, /* sdd_decode_options.pixels_size or pixels_stride: the message says what
                                                   is needed. Since: 0.2.0 */
    SDD_DETAIL_IMAGE_CODER = 100116,           /* a coder of the host's failed, or gave a frame that cannot be */
    SDD_DETAIL_IMAGE_INTEGRITY = 100117,       /* the body is not what sdd_download_request.integrity or expected_bytes say.
                                                  Since: 0.2.0 */

    SDD_DETAIL_OPERATION_CLOSED = 200001,          /* submitted after sdd_downloader_close() */
    SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS = 200002, /* an option bit that means nothing to the call, or that this
                                                      version does not know: the message names it */
    SDD_DETAIL_OPERATION_BAD_HEADER = 200003,      /* a header name or value that HTTP does not allow */
    SDD_DETAIL_OPERATION_BAD_METHOD = 200004,      /* a method that is not an HTTP token */
    SDD_DETAIL_OPERATION_BAD_BODY = 200005,        /* body NULL with a size, or with GET or HEAD */
    SDD_DETAIL_OPERATION_NO_TRANSFER = 200006,     /* libcurl could not make the transfer, or there was no
                                                      descriptor left for a copy of sink_fd */
    SDD_DETAIL_OPERATION_MODIFIER = 200007,        /* the request modifier refused it */
    SDD_DETAIL_OPERATION_BAD_ACCEPT = 200008,      /* accepted_status_codes or accepted_content_types */
    SDD_DETAIL_OPERATION_BAD_CREDENTIAL = 200009,  /* a credential that cannot be: a part missing, or CR, LF */
    SDD_DETAIL_OPERATION_BAD_RANGE = 200010,       /* not "first-last", "first-" or "-count" */
    SDD_DETAIL_OPERATION_BAD_NUMBER = 200011,      /* a priority or time limit that does not exist */
    SDD_DETAIL_OPERATION_BAD_SINK = 200012,        /* sink_fd is no open descriptor, or a response modifier or
                                                      body transform is set too */
    SDD_DETAIL_OPERATION_BAD_DECODE = 200013,      /* decode options that do not exist */
    SDD_DETAIL_OPERATION_BAD_INTEGRITY = 200014,   /* integrity or expected_bytes that cannot be. Since: 0.2.0 */

    SDD_DETAIL_CANCELLED_WAITING = 200201,  /* before it was sent */
    SDD_DETAIL_CANCELLED_SENDING = 200202,  /* while it was on the network */
    SDD_DETAIL_CANCELLED_DECODING = 200203, /* while the picture was being decoded */
    SDD_DETAIL_CANCELLED_BACKGROUND = 200204, /* the grace time of sdd_downloader_enter_background() was over */
    SDD_DETAIL_CANCELLED_CACHE = 200205,      /* while a cache was being asked. Since: 0.2.0 */

    SDD_DETAIL_TLS_HANDSHAKE = 300301,
    SDD_DETAIL_TLS_EXPIRED = 300302,        /* the certificate is past its end, or before its start */
    SDD_DETAIL_TLS_WRONG_HOST = 300303,     /* the certificate names another host */
    SDD_DETAIL_TLS_SELF_SIGNED = 300304,    /* signed by itself */
    SDD_DETAIL_TLS_UNKNOWN_ISSUER = 300305, /* signed by nobody whom the CA file or path knows */
    SDD_DETAIL_TLS_BAD_CERTIFICATE = 300306,
    SDD_DETAIL_TLS_CA_FILE = 300307,        /* ca_file or ca_path cannot be read */
    SDD_DETAIL_TLS_CLIENT_CERTIFICATE = 300308, /* the client certificate or its key cannot be used */

    SDD_DETAIL_TIMEOUT_CONNECT = 300401,    /* connect_timeout_ms: name lookup, connect and TLS handshake */
    SDD_DETAIL_TIMEOUT_STALL = 300402,      /* download_timeout_ms: connected, and then not a byte */
    SDD_DETAIL_TIMEOUT_QUEUE = 300403,      /* queue_timeout_ms: it never came to be sent */
    SDD_DETAIL_TIMEOUT_FIRST_BYTE = 300404, /* first_byte_timeout_ms: sent, and no answer */
    SDD_DETAIL_TIMEOUT_TOTAL = 300405,      /* total_timeout_ms: of all stages together */
    SDD_DETAIL_TIMEOUT_SLOW = 300406,       /* low_speed_limit: fewer bytes a second, for low_speed_time_ms.
                                               Since: 0.2.0 */

    SDD_DETAIL_CONNECTION_NOT_PROCESSED = 300501, /* the host refused to process it (HTTP/2: GOAWAY, REFUSED_STREAM), each
                                               time it was asked again on another connection. Since: 0.2.0 */

    SDD_DETAIL_PROTOCOL_FLOOD = 300701,     /* the host sent frames without content, faster than they could be read, and
                                               its connection was shut. Since: 0.2.0 */

    SDD_DETAIL_REDIRECT_SCHEME = 301001,    /* to something else than http or https */
    SDD_DETAIL_REDIRECT_DOWNGRADE = 301002, /* from https to http: allow_downgrade is 0 */
    SDD_DETAIL_REDIRECT_MALFORMED = 301003, /* to what is no URL */

    SDD_DETAIL_SINK_BLOCKED = 301601, /* sink_fd took not a byte for download_timeout_ms: nobody reads the pipe or
                                         socket. Since: 0.2.0 */

    SDD_DETAIL_CACHE_DIRECTORY = 401301, /* the directory cannot be made or opened, or is none */
    SDD_DETAIL_CACHE_UNSAFE = 401302,    /* the directory belongs to another user, or its group or others may write to it */
    SDD_DETAIL_CACHE_WRITE = 401303,     /* an entry could not be written: system_error and last_error have the errno */
    SDD_DETAIL_CACHE_READ = 401304,      /* an entry could not be read, likewise */
    SDD_DETAIL_CACHE_TOO_LARGE = 401305, /* larger than the whole cache may be */
    SDD_DETAIL_CACHE_NOTHING = 401306,   /* there is nothing to store: no bytes, and no image that can be encoded */
    SDD_DETAIL_CACHE_DROPPED = 401307    /* an entry was not written: its cache was destroyed, and the time was over */
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

/** What kind of thing went wrong: sdd_result.error_class. Since: 0.2.0. */
enum {
    SDD_CLASS_NONE = 0,
    SDD_CLASS_REQUEST = 1,   /* the caller's: URL, headers, options, buffer, a modifier's refusal */
    SDD_CLASS_CANCELLED = 2, /* the caller wanted it so */
    SDD_CLASS_RESPONSE = 3,  /* the server's answer: its status, its type, a redirect that is not followed */
    SDD_CLASS_IMAGE = 4,     /* the body is not a picture that can be decoded */
    SDD_CLASS_NETWORK = 5,   /* name lookup, connection, protocol, a body that broke off */
    SDD_CLASS_TLS = 6,       /* handshake and certificates */
    SDD_CLASS_TIMEOUT = 7,   /* a clock ran out */
    SDD_CLASS_LIMIT = 8,     /* more than a limit of the config allows; an address that is refused */
    SDD_CLASS_SYSTEM = 9     /* this machine: no memory, descriptor or thread; an unreadable file */
};

/** How far a request had come when it failed: sdd_result.stage. Since: 0.2.0. */
enum {
    SDD_STAGE_NONE = 0,     /* it did not fail */
    SDD_STAGE_SUBMIT = 1,   /* the submitting call */
    SDD_STAGE_QUEUE = 2,    /* waiting for its turn, or for a cache's answer */
    SDD_STAGE_CONNECT = 3,  /* name lookup, connect, TLS */
    SDD_STAGE_RESPONSE = 4, /* sent, and the response's header not yet complete */
    SDD_STAGE_BODY = 5,     /* the body */
    SDD_STAGE_DECODE = 6    /* the whole body is there: modifiers, decoding */
};

/* ------------------------------------------------------------------------------------ objects */

/** A downloader: a queue, a connection pool, default headers. A handle, see "Downloaders" above. */
typedef struct sdd_downloader sdd_downloader;

/** A cache of pictures, in memory and on disk. A handle, see "Downloaders" above. Since: 0.2.0. */
typedef struct sdd_cache sdd_cache;

/** A loader: a cache in front of a downloader. A handle, see "Downloaders" above. Since: 0.2.0. */
typedef struct sdd_loader sdd_loader;

/** A picture, immutable and reference counted. */
typedef struct sdd_image sdd_image;

/** A body as it came from the server, unpacked, immutable and reference counted. */
typedef struct sdd_bytes sdd_bytes;

/** A response's status, URL and header fields, immutable and reference counted. Since: 0.2.0. */
typedef struct sdd_response sdd_response;

/** The cookies a downloader had at one moment. Since: 0.2.0. */
typedef struct sdd_cookies sdd_cookies;

/** A request that a request modifier is looking at. Since: 0.2.0. */
typedef struct sdd_draft sdd_draft;

/**
 * The id of one request, or of one list to prefetch. It is used once in a process, whichever downloader or loader it is of;
 * later ones are larger. 0 is none.
 */
typedef uint64_t sdd_token;

/** The id of one transfer of a transport of the host's, see sdd_transport: used once, too, and no token. 0 is none.
 *  Since: 0.2.0. */
typedef uint64_t sdd_transfer;

/* ------------------------------------------------------------------------------------- images */

/** How pixels lie in memory: sdd_image_pixel_format(). Since: 0.1.0. */
enum {
    SDD_PIXEL_FORMAT_RGBA8 = 1,               /* 4 bytes a pixel: red, green, blue, alpha; alpha not multiplied in */
    SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED = 2, /* the colours multiplied by alpha / 255, rounded. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_BGRA8 = 3,               /* 4 bytes: blue, green, red, alpha. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED = 4, /* Cairo's ARGB32 on a little-endian machine. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGB8 = 5,                /* 3 bytes: red, green, blue, over a background. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_GREY8 = 6,               /* 1 byte: of the same (299 red + 587 green + 114 blue) / 1000, ITU-R
                                                 BT.601. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGBA16 = 7,              /* 4 uint16_t in the machine's byte order: red, green, blue, alpha; alpha
                                                 not multiplied in. What is stored with 16 bits keeps them, of 8 bits
                                                 it is the value times 257. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED = 8, /* the colours of that multiplied by alpha / 65535, rounded.
                                                  Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGB8_PLANAR = 9          /* the bytes of _RGB8 in three planes: all red ones, all green, all blue,
                                                 each of height rows of sdd_image_stride() bytes, one plane right behind
                                                 the other. Since: 0.2.0 */
};

/**
 * What the encoded picture was: sdd_image_format(). The library decodes JPEG and PNG; the others are for coders of the
 * host's, see sdd_coder. Since: 0.1.0.
 */
enum {
    SDD_IMAGE_FORMAT_JPEG = 1,
    SDD_IMAGE_FORMAT_PNG = 2,
    /* Since 0.2.0: */
    SDD_IMAGE_FORMAT_GIF = 3,
    SDD_IMAGE_FORMAT_WEBP = 4,
    SDD_IMAGE_FORMAT_AVIF = 5,
    SDD_IMAGE_FORMAT_HEIF = 6,
    SDD_IMAGE_FORMAT_TIFF = 7,
    SDD_IMAGE_FORMAT_BMP = 8,
    SDD_IMAGE_FORMAT_PDF = 9,
    SDD_IMAGE_FORMAT_SVG = 10,
    SDD_IMAGE_FORMAT_HOST = 1000 /* the first of the host's own numbers */
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
 * Width times the bytes of a pixel, see SDD_PIXEL_FORMAT_, or more: use it. Of SDD_PIXEL_FORMAT_RGB8_PLANAR the rows
 * of one plane; to the next plane it is height times as far.
 * Thread: any. Since: 0.1.0.
 */
SDD_API size_t sdd_image_stride(sdd_image *SDD_NULLABLE image);

/**
 * One of SDD_PIXEL_FORMAT_; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_pixel_format(sdd_image *SDD_NULLABLE image);

/**
 * What the encoded bytes are, or were before a transform, one of SDD_IMAGE_FORMAT_; 0 for NULL, and for an image from
 * sdd_image_create().
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_format(sdd_image *SDD_NULLABLE image);

/**
 * The pixels: height rows of sdd_image_stride() bytes, the top row first.
 *
 * Colours are as the file has them: no colour profile and no gamma is applied.
 * @param image Borrowed.
 * @return The first byte of the top row; sdd_decode_options.pixels, where that was given; NULL for NULL.
 * Thread: any. Lifetime: while a reference to the image is held. Since: 0.1.0.
 */
SDD_API const uint8_t *SDD_NULLABLE sdd_image_pixels(sdd_image *SDD_NULLABLE image);

/**
 * Decodes the pixels of an image that came with SDD_OPTION_AVOID_DECODE_IMAGE, once, and WAITS for it. sdd_image_pixels(),
 * sdd_image_stride() and sdd_image_pixels_size() do so too, and give NULL or 0 where it fails; so do encoding and
 * transforms. Of any other image, and of one that has been decoded, it does nothing.
 *
 * @param image Borrowed.
 * @param detail Receives one of SDD_DETAIL_: what is wrong with the picture; 0 for anything else. May be NULL.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA, each time it is asked; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any; of several that ask at once one decodes. In the child of a fork only what had been decoded before.
 *     Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_decode_pixels(sdd_image *SDD_NULLABLE image, int32_t *SDD_NULLABLE detail);

/**
 * How many rows of pixels, from the top, are good: all of a picture, fewer of a preview or of a damaged one that was
 * read leniently. Counted before the picture was turned as Exif says.
 *
 * In a preview of a progressive JPEG or an interlaced PNG all rows count, and each preview makes them better. In any other
 * preview the good rows are those that no byte still to come changes. A JPEG that is not progressive but has a scan for
 * each of its components has none before the last of those scans: 0, although there is something to see in all rows.
 *
 * @param image Borrowed.
 * @return At most the height, or the width of a picture that was turned by a quarter; 0 for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_good_rows(sdd_image *SDD_NULLABLE image);

/**
 * Whether an image is a preview: more of it was still to come. 1 or 0; 0 for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_is_preview(sdd_image *SDD_NULLABLE image);

/**
 * How many bytes there are from sdd_image_pixels() on: all rows of all planes; 0 for NULL.
 *
 * In sdd_decode_options.pixels it ends with the last pixel; else what pads the last row is counted, too.
 * Thread: any. Since: 0.2.0.
 */
SDD_API size_t sdd_image_pixels_size(sdd_image *SDD_NULLABLE image);

/** What an image is, and what it was made of: sdd_image_get_info(). Since: 0.2.0. */
typedef struct sdd_image_info {
    size_t struct_size;
    size_t stride;         /* sdd_image_stride() */
    size_t pixels_size;    /* sdd_image_pixels_size() */
    int32_t width;         /* of the pixels there are */
    int32_t height;
    int32_t pixel_format;  /* one of SDD_PIXEL_FORMAT_ */
    int32_t format;        /* sdd_image_format() */
    int32_t stored_width;  /* of the encoded picture, before `orientation` is applied; 0 if it is not known */
    int32_t stored_height;
    int32_t orientation;   /* Exif's, 1 to 8, as the encoded picture has it, whether or not it was applied */
    int32_t depth;         /* bits a channel, as stored: see sdd_image_facts */
    int32_t has_alpha;     /* 1: the encoded picture has an alpha channel, or colours that are transparent */
    int32_t is_scaled;     /* 1: made smaller, larger or cut, by sdd_decode_options */
    int32_t good_rows;     /* sdd_image_good_rows() */
    int32_t is_preview;    /* sdd_image_is_preview() */
    int32_t is_partial;    /* 1: it is of a body that is cut or damaged, and all there will be; 0 for a whole picture */
    int32_t is_decoded;    /* 0: its pixels have not been asked for, SDD_OPTION_AVOID_DECODE_IMAGE; then stride and
                              pixels_size are 0 here */
} sdd_image_info;

#define SDD_IMAGE_INFO_INIT \
    { sizeof(sdd_image_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells in one call what an image is.
 *
 * @param image Borrowed.
 * @param info Receives it; set struct_size before (SDD_IMAGE_INFO_INIT).
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_get_info(sdd_image *SDD_NULLABLE image, sdd_image_info *SDD_NONNULL info);

/**
 * The encoded bytes the image was decoded from.
 *
 * @param image Borrowed.
 * @return Borrowed: retain it to keep it longer than the image; NULL for NULL, and for a picture that was made of no
 *     whole body: a preview, with SDD_OPTION_STOP_WHEN_COMPLETE, from sdd_image_create(), sdd_image_transform() or
 *     sdd_image_frame(). Of what a load or a query of a cache made to a size or transformed NULL, too, wherever it came
 *     from: the original's bytes are not those of the picture, and would take more memory than it.
 * Thread: any. Lifetime: while a reference to the image is held. Since: 0.1.0.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_image_bytes(sdd_image *SDD_NULLABLE image);

/**
 * What encoded bytes say of a picture in front of its first pixel: see sdd_image_probe().
 *
 * A JPEG's are in its frame header and the Exif segment before it (ITU-T T.81, annex B); a PNG's in IHDR, tRNS,
 * acTL and eXIf before the first IDAT (PNG, Third Edition, section 11). Since: 0.2.0.
 */
typedef struct sdd_image_facts {
    size_t struct_size;
    int32_t format;         /* one of SDD_IMAGE_FORMAT_ */
    int32_t width;          /* pixels, at least 1, as stored: before `orientation` is applied */
    int32_t height;
    int32_t channels;       /* 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha, or four inks in a JPEG */
    int32_t depth;          /* bits a channel, as stored: 1, 2, 4, 8, 12 or 16; 8 for a palette's colours */
    int32_t is_progressive; /* 1: a progressive JPEG, an interlaced PNG */
    int32_t is_animated;    /* 1: frame_count is more than 1 */
    int32_t frame_count;    /* as announced; 1 for a still picture */
    int32_t loop_count;     /* how often the frames are to be shown; 0: for ever; 1 for a still picture */
    int32_t orientation;    /* Exif's, 1 to 8: what is to be done to the pixels; 1: nothing, or nothing is said */
} sdd_image_facts;

#define SDD_IMAGE_FACTS_INIT \
    { sizeof(sdd_image_facts), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells what a picture is without decoding it: from the whole of it, or from its beginning.
 *
 * Reads up to where the pixels begin and decodes nothing, so that it costs microseconds, and no memory, however
 * large the picture claims to be. That there are facts does not mean that the pixels are good.
 *
 * @param bytes Borrowed for the call: the first `size` bytes of a JPEG or PNG. May be NULL if size is 0.
 * @param size How many there are.
 * @param facts Receives the facts; set struct_size before (SDD_IMAGE_FACTS_INIT). All 0 with any status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_INCOMPLETE: the pixels begin further on; SDD_ERROR_BAD_IMAGE_DATA: these bytes cannot
 *     become a picture; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_probe(const void *SDD_NULLABLE bytes, size_t size, sdd_image_facts *SDD_NULLABLE facts);

/**
 * Tells a format by all of its magic number, never by one byte or two; also those that the library does not decode.
 * An SVG's is all that stands before its first element, within 65,536 bytes. Whether the bytes behind it are good is
 * another question.
 *
 * @param bytes Borrowed for the call: the first `size` bytes of a file. May be NULL if size is 0.
 * @return One of SDD_IMAGE_FORMAT_; 0 for any other, and for too few bytes to tell.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_sniff(const void *SDD_NULLABLE bytes, size_t size);

/**
 * What the encoded bytes of an image say of it: as sdd_image_probe() of sdd_image_bytes(), but already known.
 *
 * @param image Borrowed.
 * @param facts Receives the facts; set struct_size before (SDD_IMAGE_FACTS_INIT). All 0 with any status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND where there are none: of a frame, say; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_get_facts(sdd_image *SDD_NULLABLE image, sdd_image_facts *SDD_NULLABLE facts);

/* ------------------------------------------------------------------------------------- frames */

/**
 * How many frames an animated picture has; 1 for a still one, 0 for NULL.
 *
 * Frames are those of an animated PNG (PNG, Third Edition, 4.9 and 11.3.6). One whose chunks break the rules is a still
 * picture, and so is any with SDD_OPTION_DECODE_FIRST_FRAME_ONLY. The pixels of the image itself are those of the still
 * picture in the file, which may or may not be the first frame. A preview has the frames that have come so far. A coder
 * of the host's has the frames that it says.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_frame_count(sdd_image *SDD_NULLABLE image);

/**
 * How often the frames are to be shown, one after the other; 0: for ever. 1 for a still picture and for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_loop_count(sdd_image *SDD_NULLABLE image);

/**
 * How long a frame is to be shown, in microseconds, rounded down: as the file has it, which may be 0.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_frame_count() - 1.
 * @return 0 also for a still picture, for a frame that does not exist, and for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int64_t sdd_image_frame_duration_us(sdd_image *SDD_NULLABLE image, int32_t index);

/**
 * One frame as it is shown, with what is left of those before it: a picture of its own, in the pixel format, size and
 * orientation that `image` has, and in memory of the same kind; where that was the caller's own, in the library's.
 *
 * WAITS for decoding, on the calling thread. Frames may be asked for in any order, and by several threads at a
 * time; in their order each is decoded once. Any other takes the decoding of those between it and the nearest one that
 * is kept: some of them are, up to 32 MiB an image, and at least the one made last. With SDD_OPTION_PRELOAD_ALL_FRAMES
 * nothing is decoded here.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_frame_count() - 1.
 * @param frame Receives the frame, owned by the caller: release with sdd_image_release(). A still picture, without
 *        sdd_image_bytes(); of a still picture the picture itself, with one more reference. NULL with any status but
 *        SDD_OK.
 * @param detail Receives one of SDD_DETAIL_IMAGE_, 0 with SDD_OK. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is no such frame; SDD_ERROR_BAD_IMAGE_DATA: the frame, or one before it,
 *         is damaged, there are too many, it takes too long, or there is no memory: see `detail`;
 *         SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_frame(sdd_image *SDD_NULLABLE image, int32_t index,
                                   sdd_image *SDD_NULLABLE *SDD_NULLABLE frame, int32_t *SDD_NULLABLE detail);

/* ----------------------------------------------------------------------------------- metadata */

/**
 * What pictures carry beside their pixels: sdd_image_metadata(). The library hands it out as it is: no profile is
 * applied to pixels, and of Exif only the orientation is looked at. Since: 0.2.0.
 */
enum {
    SDD_METADATA_ICC = 1,  /* a colour profile (ICC.1): of a JPEG its APP2 segments put together, of a PNG iCCP
                              if libpng takes it for a profile of such a picture */
    SDD_METADATA_EXIF = 2, /* Exif's block, which begins with "II" or "MM" (CIPA DC-008): of a JPEG its APP1 segment
                              without "Exif\0\0", of a PNG eXIf */
    SDD_METADATA_XMP = 3   /* an XMP packet, UTF-8 (ISO 16684-1): of a JPEG its APP1 segment, of a PNG the iTXt of
                              "XML:com.adobe.xmp" */
};

/**
 * One kind of metadata of a picture, as bytes.
 *
 * Read from sdd_image_bytes() at the first question about metadata, once. A JPEG's is looked for in front of its first
 * scan, a PNG's everywhere; of several of a kind the first counts.
 *
 * @param image Borrowed.
 * @param kind One of SDD_METADATA_.
 * @param data Receives the first byte; NULL with any status but SDD_OK, and where there are no bytes in it.
 * @param size Receives how many there are.
 * @param detail Receives one of SDD_DETAIL_IMAGE_, 0 with SDD_OK. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is none, or the image has no bytes; SDD_ERROR_BAD_IMAGE_DATA: it is
 *         damaged (SDD_DETAIL_IMAGE_CORRUPT), over 8 MiB when unpacked (SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE), or there is
 *         no memory; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: of the bytes, while a reference to the image is held. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_metadata(sdd_image *SDD_NULLABLE image, int32_t kind,
                                      const void *SDD_NULLABLE *SDD_NULLABLE data, size_t *SDD_NULLABLE size,
                                      int32_t *SDD_NULLABLE detail);

/**
 * A text in a picture: of a PNG a tEXt, zTXt or iTXt chunk, of a JPEG a comment. Since: 0.2.0.
 *
 * All are UTF-8 with a NUL at the end. What a file has in Latin-1, or says to be UTF-8 and is not, is converted from
 * Latin-1.
 */
typedef struct sdd_image_text {
    size_t struct_size;
    const char *SDD_NULLABLE keyword;            /* "Title", "Author" and so on; of a JPEG's comment "Comment" */
    const char *SDD_NULLABLE text;
    size_t text_size;                            /* without the NUL; a damaged text may have others in it */
    const char *SDD_NULLABLE language;           /* of the text (RFC 5646); "" if it is not said */
    const char *SDD_NULLABLE translated_keyword; /* in that language; "" if there is none */
} sdd_image_text;

#define SDD_IMAGE_TEXT_INIT \
    { sizeof(sdd_image_text), NULL, NULL, 0, NULL, NULL }

/**
 * How many texts a picture has; 0 for NULL.
 *
 * Left out are those that are damaged, those of over 8 MiB when unpacked, and those behind the first 128, or behind the
 * first 64 MiB in all.
 * Thread: any. Since: 0.2.0.
 */
SDD_API size_t sdd_image_text_count(sdd_image *SDD_NULLABLE image);

/**
 * One text of a picture, in the order of the file.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_text_count() - 1.
 * @param text Receives the text; set struct_size before (SDD_IMAGE_TEXT_INIT). All 0 with any status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: of what it points to, while a reference to the image is held. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_text_at(sdd_image *SDD_NULLABLE image, size_t index, sdd_image_text *SDD_NULLABLE text);

/* -------------------------------------------------------------------------------------- bytes */

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

/**
 * Makes bytes of the caller's own, for a body transform to return.
 *
 * @param data Copied.
 * @param size How many; 0 makes empty bytes, and data may then be NULL.
 * @return Owned by the caller: release with sdd_bytes_release(); NULL when there is no memory, or data is
 *         NULL with a size.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_bytes_create(const void *SDD_NULLABLE data, size_t size);

/* ---------------------------------------------------------------------------------- responses */

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
 * The value of the first header field of that name: bytes as the server sent them, nearly always ASCII.
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
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT for response NULL.
 * Thread: any. Lifetime: of both, while a reference to the response is held. Since: 0.2.0.
 */
SDD_API sdd_status sdd_response_header_at(sdd_response *SDD_NULLABLE response, size_t index,
                                          const char *SDD_NULLABLE *SDD_NULLABLE name,
                                          const char *SDD_NULLABLE *SDD_NULLABLE value);

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
    int64_t delivery_us;    /* from the end until the callback was called, or sdd_drain() took it; since 0.2.0 */
    int64_t cache_us;       /* from the submitting call until the cache had answered, or another process; since 0.2.0 */
    int64_t store_us;       /* of SDD_OPTION_WAIT_STORE_CACHE: from the picture until it was on disk; since 0.2.0 */
} sdd_timings;

/**
 * What one transfer cost, the same for all who shared it but for `attempts`. Of a chain of redirects it tells of the last
 * hop, but for the counts of bytes and redirects. Filled by the library. Since: 0.2.0.
 */
typedef struct sdd_metrics {
    size_t struct_size;
    int64_t request_bytes;           /* sent: header and body */
    int64_t response_header_bytes;   /* received */
    int64_t response_body_bytes;     /* received, as packed by Content-Encoding */
    int64_t body_bytes;              /* handed out: unpacked */
    int32_t http_version;            /* 10, 11, 20, 30; 0 if there was no response */
    int32_t connection_reused;       /* 1: no new connection was made */
    int32_t redirects;               /* hops that were followed */
    int32_t attempts;                /* transfers that have begun for this request, see sdd_download_request.max_attempts; the
                                        rest is of the last one */
    int32_t remote_port;
    int32_t reserved;
    const char *SDD_NONNULL remote_address; /* "192.0.2.1", "2001:db8::1"; "" if there was no connection */
    int64_t saved_bytes;             /* of the announced body, not waited for: SDD_OPTION_STOP_WHEN_COMPLETE */
    int64_t resumed_bytes;           /* of the body, kept from a transfer that had broken off: SDD_OPTION_RESUME */
} sdd_metrics;

/** Where a result comes from: sdd_result.origin. Since: 0.2.0. */
enum {
    SDD_ORIGIN_NETWORK = 0,          /* also of a request that failed */
    SDD_ORIGIN_MEMORY = 1,           /* the memory of a cache */
    SDD_ORIGIN_DISK = 2,             /* the disk of a cache, whatever HTTP says of it */
    SDD_ORIGIN_HTTP_FRESH = 3,       /* the HTTP cache, without asking the server (RFC 9111 section 4.2) */
    SDD_ORIGIN_HTTP_REVALIDATED = 4, /* the HTTP cache, after the server has said that it is still right (section 4.3) */
    SDD_ORIGIN_HTTP_STALE = 5        /* the HTTP cache, though not fresh: the request or the response allows it
                                        (section 4.2.4; RFC 5861), or the downloader is offline */
};

/**
 * What a request came to; made by the library. On an error, image and bytes are NULL.
 * Lifetime: until the callback returns, or, from sdd_drain(), as sdd_event says. Since: 0.1.0.
 */
typedef struct sdd_result {
    size_t struct_size;
    sdd_token token;                  /* what the submitting call returned */
    const char *SDD_NULLABLE url;     /* as asked for, NULL if that was NULL or unreadable */
    sdd_image *SDD_NULLABLE image;    /* borrowed; NULL with SDD_OPTION_BYTES_ONLY */
    sdd_bytes *SDD_NULLABLE bytes;    /* borrowed; the body, also when image is set; of a load see "BYTES" at sdd_load() */
    sdd_status error;                 /* SDD_OK or what went wrong */
    int32_t detail;                   /* one of SDD_DETAIL_ */
    int32_t http_status;              /* of the last response, as a response modifier has changed it; 0 if there was none */
    int32_t curl_code;                /* libcurl's CURLcode; 0 if it reported no error */
    int32_t system_error;             /* errno of the failing system call where known, else 0 */
    int32_t finished;                 /* 1 in a terminal callback, 0 in a preview */
    const char *SDD_NONNULL message;  /* one sentence on the error; "" for SDD_OK */
    const sdd_timings *SDD_NONNULL timings;
    /* Since 0.2.0: */
    sdd_response *SDD_NULLABLE response;     /* borrowed; NULL if none came. Also with an error */
    const sdd_metrics *SDD_NONNULL metrics;
    int32_t error_class;              /* one of SDD_CLASS_ */
    int32_t stage;                    /* one of SDD_STAGE_: where it failed */
    int32_t retryable;                /* 1: the same request may well succeed later */
    int32_t origin;                   /* one of SDD_ORIGIN_ */
    sdd_bytes *SDD_NULLABLE extended; /* borrowed; the host's bytes of the cache's entry, see sdd_cache_item; or NULL */
    const struct sdd_source_error *SDD_NULLABLE sources; /* of a load: source_count URLs that came to nothing, see
                                         sdd_load_request.alternatives; of one that failed all of them, the last one's
                                         error being the load's */
    size_t source_count;              /* 0 of a load without alternatives */
    int32_t end_unproven;             /* 1, with SDD_OK: the bytes are what came, but nothing proves that they are all:
                                         the response announced no length, and over HTTP/1 its body ended with the
                                         connection (RFC 9112 section 8), or over HTTP/2 libcurl before 8.1 does not tell a
                                         stream that was ended from one that was given up (RFC 9113 section 8.1). No
                                         cache stores such a body. 0 where a length, the last chunk, the end of packed
                                         data or that of the picture's own format (JPEG, PNG, GIF, WebP) proves it */
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
 * Called when it is known what the picture is, mostly with the first bytes of the body: once, before any preview, or
 * never, if the body is none of a format that sdd_image_probe() knows.
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

/* ----------------------------------------------------------------------------------- requests */

/**
 * Option bits, for a uint64_t: one set for downloads, loads, lists to prefetch, batches and queries of a cache. Behind each
 * stands where it means something, if that is not everywhere: D in downloads (sdd_download(), sdd_get(),
 * sdd_downloader_submit(), batches without a loader), L in loads (sdd_load(), sdd_loader_submit()), P in lists to prefetch,
 * B in batches with a loader, Q in queries of a cache.
 *
 * A bit is never ignored. A download or load with one that means nothing to it, or that this version does not know, ends
 * with SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS, and the result's message names the
 * bit. A list, a batch or a query is not taken: SDD_ERROR_INVALID_ARGUMENT for a bit that means nothing to it,
 * SDD_ERROR_UNSUPPORTED for one that this version does not know. Since: 0.3.0.
 */
enum {
    /* How urgent it is. Of both, HIGH counts. */
    SDD_OPTION_LOW_PRIORITY = 1 << 0,  /* D L B Q: after requests of normal priority */
    SDD_OPTION_HIGH_PRIORITY = 1 << 1, /* D L B Q: before requests of normal priority */

    /* How it is asked for. */
    SDD_OPTION_HANDLE_COOKIES = 1 << 2,                 /* D L P B: sends and keeps the downloader's cookies */
    SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES = 1 << 3, /* D L P B: this request's servers may show any certificate */
    SDD_OPTION_CONTINUE_IN_BACKGROUND = 1 << 4,         /* D L P B: goes on during the grace time of
                                                           sdd_downloader_enter_background() */
    SDD_OPTION_RESUME = 1 << 5,                         /* D L P B: a body that breaks off, or whose request is cancelled,
                                                           is kept in the cache as far as it has come; the next request
                                                           with this bit asks for the rest (RFC 9110 section 14.2, with
                                                           If-Range). A GET without Range alone */
    SDD_OPTION_STOP_WHEN_COMPLETE = 1 << 6,             /* D L P B: the download may stop when the picture is complete at
                                                           the size that is asked for: of a progressive JPEG made
                                                           smaller, the detail that it does not have need not come. The
                                                           result then has no bytes, and sdd_metrics.saved_bytes. Only
                                                           if all who share the transfer want it so */

    /* What is delivered. */
    SDD_OPTION_PROGRESSIVE_LOAD = 1 << 7, /* D L, but not sdd_get() and batches: previews, what can be seen of the picture
                                             while it comes, to `preview`, or as SDD_EVENT_PREVIEW. Previews of loads are
                                             not stored, nor transformed */
    SDD_OPTION_PROGRESS_EVENTS = 1 << 8,  /* likewise: SDD_EVENT_PROGRESS for sdd_drain(), though `progress` is NULL */
    SDD_OPTION_FACTS_EVENTS = 1 << 9,     /* likewise: SDD_EVENT_FACTS for sdd_drain(), though `facts` is NULL */
    SDD_OPTION_BYTES_ONLY = 1 << 10,      /* D L B: does not decode; the result has bytes and no image */

    /* How it is decoded. */
    SDD_OPTION_SCALE_DOWN_LARGE_IMAGES = 1 << 11, /* as sdd_decode_options.scale_down_limit_bytes of 60 MiB, if that is 0 */
    SDD_OPTION_AVOID_DECODE_IMAGE = 1 << 12,      /* the image has size, format, orientation and bytes, and its pixels are
                                                     decoded when they are asked for: see sdd_image_decode_pixels(). Not
                                                     with sdd_decode_options.pixels, nor with transforms */
    SDD_OPTION_DECODE_FIRST_FRAME_ONLY = 1 << 13, /* an animated picture becomes a still one, of what sdd_image_pixels()
                                                     has of it anyway; beats PRELOAD_ALL_FRAMES. Also of a picture that
                                                     memory has with all its frames */
    SDD_OPTION_PRELOAD_ALL_FRAMES = 1 << 14,      /* all frames are decoded, and kept, before the request ends, so that
                                                     sdd_image_frame() costs next to nothing. In all they may have
                                                     max_pixels, and take max_decode_bytes */
    SDD_OPTION_TRANSFORM_ANIMATED_IMAGE = 1 << 15, /* L: transforms also animated pictures, which become still ones; without
                                                      it they stay as they are */

    /* Caches. */
    SDD_OPTION_USE_HTTP_CACHE = 1 << 16,         /* D L P B: by the rules of RFC 9111: see "the HTTP cache" below */
    SDD_OPTION_IGNORE_CACHED_RESPONSE = 1 << 17, /* D, with USE_HTTP_CACHE: what the HTTP cache has is not delivered; if it
                                                    is still right, or the same bytes come, the request ends with
                                                    SDD_ERROR_NOT_MODIFIED */
    SDD_OPTION_RETRY_FAILED = 1 << 18,           /* L P B: though it has failed lately; a success takes it from the list */
    SDD_OPTION_REFRESH_CACHED = 1 << 19,         /* L P B: what the cache has is told at once (sdd_load_request.cached,
                                                    SDD_EVENT_CACHED), and the server is asked whether it is still right,
                                                    by its validators, or else by comparing bytes. The load ends with the
                                                    new picture; with SDD_ERROR_NOT_MODIFIED, when what was told is right;
                                                    or with the error of the refresh, and what was told stays in the
                                                    cache */
    SDD_OPTION_FROM_CACHE_ONLY = 1 << 20,        /* L P B: never to the network: SDD_ERROR_NOT_CACHED */
    SDD_OPTION_FROM_LOADER_ONLY = 1 << 21,       /* L P B: never from the cache; what comes is stored */
    SDD_OPTION_WAIT_STORE_CACHE = 1 << 22,       /* L P B: ends when what it stores is on disk */
    SDD_OPTION_QUERY_MEMORY_DATA = 1 << 23,      /* L: the encoded bytes too, from the disk, where the picture is in memory:
                                                    see "BYTES" of sdd_load() */
    SDD_OPTION_QUERY_MEMORY_DATA_SYNC = 1 << 24, /* L: the same, and sdd_load() WAITS for the disk: what the cache has is
                                                    queued for delivery when it returns */
    SDD_OPTION_QUERY_DISK_DATA_SYNC = 1 << 25    /* L: the same of the disk: sdd_load() WAITS for reading and decoding,
                                                    which it does on the calling thread */
};

/** One header field of a request. Fixed for ever: it has no struct_size. Since: 0.1.0. */
typedef struct sdd_header {
    const char *SDD_NULLABLE name;  /* an HTTP token, RFC 9110 section 5.1 */
    const char *SDD_NULLABLE value; /* no CR, LF or NUL; NULL removes the downloader's header of that name */
} sdd_header;

/** How urgent a request is. Since: 0.2.0. */
enum {
    SDD_PRIORITY_DEFAULT = 0, /* of a request: as its option bits say */
    SDD_PRIORITY_VERY_LOW = 1,
    SDD_PRIORITY_LOW = 2,     /* SDD_OPTION_LOW_PRIORITY */
    SDD_PRIORITY_NORMAL = 3,  /* neither bit */
    SDD_PRIORITY_HIGH = 4,    /* SDD_OPTION_HIGH_PRIORITY */
    SDD_PRIORITY_VERY_HIGH = 5
};

/**
 * Where the body of a request goes. Not to memory, it is never kept whole: such a request shares no transfer,
 * its result has neither bytes nor image, sdd_metrics.body_bytes says how much there was. Since: 0.2.0.
 */
enum {
    SDD_SINK_MEMORY = 0,
    SDD_SINK_FD = 1,     /* to sink_fd, as it comes, if status and media type are accepted. What was written before
                            an error stays. A pipe, socket or terminal that takes nothing just now holds up this
                            transfer alone, until it is read, as it should be with one that plays what comes; over
                            HTTP/2 the body comes meanwhile, and waits in memory. If it takes not a byte for
                            download_timeout_ms, the request ends with SDD_DETAIL_SINK_BLOCKED. The descriptor's flags
                            are left as they are */
    SDD_SINK_DISCARD = 2 /* nowhere: to warm a cache, to check a link */
};

/** A time limit of a request that is to have none, though the downloader's config sets one. */
#define SDD_NO_TIMEOUT ((int64_t)-1)

/** Ways to prove who one is: sdd_credential.schemes. Since: 0.2.0. */
enum {
    SDD_AUTH_BASIC = 1 << 0,     /* RFC 7617 */
    SDD_AUTH_DIGEST = 1 << 1,    /* RFC 7616 */
    SDD_AUTH_NEGOTIATE = 1 << 2, /* RFC 4559; only if libcurl was built with it */
    SDD_AUTH_NTLM = 1 << 3       /* only if libcurl was built with it */
};

/**
 * Who the caller is, for one server: that of the request's URL. After a redirect to another host, port or
 * scheme nothing of it is used any more, on no later hop either. Since: 0.2.0.
 *
 * User and password answer a challenge (status 401), and are sent only then, once: if the server does not
 * take them, the request ends with SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE and http_status 401. A bearer
 * token is sent at once, without being asked for. One in which nothing is set is none: in a request it takes the
 * downloader's away.
 */
typedef struct sdd_credential {
    size_t struct_size;
    const char *SDD_NULLABLE username;           /* with password: both or none */
    const char *SDD_NULLABLE password;
    uint64_t schemes;                            /* SDD_AUTH_ bits that may be used; 0: all libcurl has, the
                                                    strongest that the server offers */
    const char *SDD_NULLABLE bearer_token;       /* RFC 6750; not together with username */
    const char *SDD_NULLABLE client_certificate; /* PEM file, for TLS */
    const char *SDD_NULLABLE client_key;         /* PEM file of its key; NULL: in client_certificate */
    const char *SDD_NULLABLE client_key_password;
} sdd_credential;

#define SDD_CREDENTIAL_INIT \
    { sizeof(sdd_credential), NULL, NULL, 0, NULL, NULL, NULL, NULL }

/**
 * Looks at a request before it is queued, and may change it through the sdd_draft_ functions. What it
 * leaves is what is sent, and what other requests are compared with for sharing a transfer.
 *
 * @param draft Borrowed until the callback returns.
 * @param user_data That of the sdd_modifiers.
 * @return SDD_OK to go on; anything else refuses: the request ends with
 *         SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_MODIFIER.
 * Thread: the submitting one, inside the submitting call.
 */
typedef sdd_status (*sdd_request_modifier_fn)(sdd_draft *SDD_NONNULL draft,
                                              void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * What a response modifier makes of a response. The library fills it with what the server said. Since: 0.2.0.
 */
typedef struct sdd_response_change {
    size_t struct_size;
    int32_t http_status;                /* the status to go on with */
    int32_t reserved;
    const char *SDD_NULLABLE mime_type; /* the media type to go on with; copied when the callback returns */
} sdd_response_change;

/**
 * Looks at a response before its status and type are judged, and may change both. With one, a body is read
 * to its end before it is judged.
 *
 * @param response As the server gave it. Borrowed until the callback returns.
 * @param change Status and type to go on with; may be changed.
 * @param user_data As for sdd_request_modifier_fn.
 * @return SDD_OK to go on; anything else refuses: SDD_ERROR_INVALID_DOWNLOAD_RESPONSE.
 * Thread: a decode thread; several at a time for different requests. It may take its time, and call any
 *         sdd_ function that does not wait.
 */
typedef sdd_status (*sdd_response_modifier_fn)(sdd_response *SDD_NONNULL response,
                                               sdd_response_change *SDD_NONNULL change,
                                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Makes other bytes of a body, before it is decoded and handed out: decryption, say. No previews of a
 * picture are made where there is one.
 *
 * @param body The whole body. Borrowed until the callback returns; may be retained.
 * @param response Borrowed until the callback returns.
 * @param user_data As for sdd_request_modifier_fn.
 * @return Bytes with one reference, which the library takes over: from sdd_bytes_create(), or `body` itself
 *         retained. NULL: the request ends with SDD_ERROR_BAD_IMAGE_DATA and SDD_DETAIL_IMAGE_TRANSFORM.
 * Thread: as sdd_response_modifier_fn.
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_body_transform_fn)(sdd_bytes *SDD_NONNULL body,
                                                         sdd_response *SDD_NONNULL response,
                                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Callbacks that change requests and responses. Of a request's own and the downloader's, the request's win,
 * one by one; only requests with the same ones share a transfer. Since: 0.2.0.
 */
typedef struct sdd_modifiers {
    size_t struct_size;
    sdd_request_modifier_fn SDD_NULLABLE request_modifier;
    sdd_response_modifier_fn SDD_NULLABLE response_modifier;
    sdd_body_transform_fn SDD_NULLABLE body_transform;
    void *SDD_NULLABLE user_data;           /* for all three; used until user_data_free is called, also for a while
                                               after the request has ended */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
                                            /* called once, on any thread, when user_data is of no use any
                                               more; never if the submitting call returned 0 */
} sdd_modifiers;

#define SDD_MODIFIERS_INIT \
    { sizeof(sdd_modifiers), NULL, NULL, NULL, NULL, NULL }

/**
 * Where pixels come from and go to: the host's own memory, a pool, memory that a device sees.
 *
 * The functions are called on decode threads, on the thread of sdd_image_decode(), and, to give back, wherever the last
 * reference to an image goes; with no lock of the library held, several at a time. They must not call the library.
 * Since: 0.2.0.
 */
typedef struct sdd_pixel_allocator {
    size_t struct_size;
    void *SDD_NULLABLE (*SDD_NULLABLE allocate)(size_t size, size_t alignment,
                                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
                                     /* `size` bytes at a multiple of `alignment`, which is a power of two, at least 16;
                                        NULL, or memory that lies otherwise: SDD_DETAIL_IMAGE_NO_MEMORY. Needed */
    void (*SDD_NULLABLE release)(void *SDD_NONNULL pixels, size_t size, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
                                     /* once for each that `allocate` has given, also of a picture that failed. Needed */
    void *SDD_NULLABLE user_data;    /* must stay good as long as there are images, and requests that ask for them */
} sdd_pixel_allocator;

#define SDD_PIXEL_ALLOCATOR_INIT \
    { sizeof(sdd_pixel_allocator), NULL, NULL, NULL }

/** What becomes of a picture that is larger than it is to be: sdd_decode_options.fit. Since: 0.2.0. */
enum {
    SDD_FIT_INSIDE = 0, /* made as large as fits into target_width x target_height; its sides keep their ratio,
                           rounded to whole pixels, at least 1 */
    SDD_FIT_FILL = 1,   /* made just as large as covers that, and what sticks out is cut off, as much on either side;
                           with one side 0: as SDD_FIT_INSIDE */
    SDD_FIT_STRETCH = 2 /* made just as large as that, each side by itself */
};

/**
 * What becomes of a picture that is cut or damaged: sdd_decode_options.integrity. Since: 0.2.0.
 *
 * Damage is what loses pixels. Of a JPEG, of libjpeg's warnings those on data that does not decode, on markers within
 * it, and on restarts that do not fit (JWRN_HUFF_BAD_CODE, JWRN_HIT_MARKER, JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION,
 * JWRN_ARITH_BAD_CODE), and scans that are missing; of a PNG, wrong check sums of chunks that make pixels, data that
 * does not unpack, too few rows, a missing end. All else is passed over: bytes between segments and behind the end,
 * damaged texts and profiles, a JPEG's missing end marker.
 */
enum {
    SDD_INTEGRITY_STRICT = 0, /* it is an error: SDD_ERROR_BAD_IMAGE_DATA */
    SDD_INTEGRITY_LENIENT = 1 /* what is good of it is a picture: the rows above the damage, see sdd_image_good_rows(), with
                                 nothing (all bytes 0) below; of a JPEG in scans, what there is of all of them. An error
                                 still, if nothing is */
};

/** How a picture is made smaller: sdd_decode_options.scaling. Since: 0.2.0. */
enum {
    SDD_SCALING_FAST = 0, /* a JPEG first by libjpeg, to the smallest of 1/8, 1/4 and 1/2 that is not too small, whose pixels
                             are means of 8 x 8, 4 x 4 and 2 x 2; then the mean of the area, of those. What is wanted larger
                             than a half is exact */
    SDD_SCALING_EXACT = 1 /* the mean of the area, of all pixels as stored, to within the rounding of the result */
};

/**
 * How pixels are made of a body. All 0: RGBA8, turned as Exif says, as large as it is. Begin with
 * SDD_DECODE_OPTIONS_INIT.
 *
 * Pictures are made smaller while they are decoded, row by row, so that but for an interlaced PNG the whole of one is never
 * in memory. Each new pixel is the mean of the area that it covers, with colours weighted by alpha: of a PNG always the
 * exact one, of a JPEG unless `scaling` says so that of pixels which libjpeg has made smaller by halves. Where the borders
 * of a new pixel fall between theirs, it has a share of what is beside its area: photographs of 12 megapixels made 512
 * pixels wide differ from the exact mean by 0.8 of 255 on average, at hard edges by up to 45. The exact way takes half as
 * much time again. Larger they are made only with allow_enlarging, and by max_pixels at most.
 *
 * Pixels lie in memory of the library's, of `allocator`, or at `pixels`. Where the decoder can write the format as it
 * is wanted, and nobody else wants another one of the same body, it writes there at once.
 *
 * Requests that share a transfer may each have their own: the body is decoded once for all of them. Those whose options
 * are equal, allocator and pixels included, share one image. Since: 0.2.0.
 */
typedef struct sdd_decode_options {
    size_t struct_size;
    int32_t pixel_format;     /* one of SDD_PIXEL_FORMAT_; 0: SDD_PIXEL_FORMAT_RGBA8 */
    int32_t keep_orientation; /* 1: pixels as stored; 0: turned and mirrored as Exif's orientation says, 0x0112 of its
                                 first directory (CIPA DC-008, 4.6.4), so that sdd_image_width() and the height may
                                 be those of the file the other way round; sdd_image_probe() tells the orientation */
    uint32_t background;      /* 0xRRGGBB, what shows through alpha in formats that have none; 0: black */
    int32_t fit;              /* one of SDD_FIT_ */
    int32_t target_width;     /* pixels, of the picture as it is turned; 0: any */
    int32_t target_height;
    int64_t scale_down_limit_bytes; /* a picture of more pixels than fit into so many bytes, at 4 bytes a pixel, is made
                                       to fit: floor(sqrt(limit / 4 * width / height)) pixels wide, and as high as its
                                       ratio says, rounded down, at least 1 x 1. Beats target_width, target_height and
                                       fit. 0: no limit, or 62914560 with SDD_OPTION_SCALE_DOWN_LARGE_IMAGES */
    int32_t row_alignment;    /* bytes, a power of two up to 4096: every row begins at a multiple of it, and so does
                                 sdd_image_stride() come to one; 0: 1, rows without padding */
    int32_t allow_enlarging;  /* 1: a picture smaller than target_width and target_height say is made larger, as `fit`
                                 says; each new pixel is linear between the four around it (bilinear), with colours
                                 weighted by alpha. 0: it stays as it is */
    const sdd_pixel_allocator *SDD_NULLABLE allocator; /* copied with the options. NULL: the library's own memory */
    void *SDD_NULLABLE pixels;/* where the pixels of this one picture are written: not with an allocator, nor in
                                 sdd_downloader_set_decode_options(). The caller's: it must stay, and be left alone, until the
                                 request has ended and its image, if there is one, is released. After an error what it
                                 holds is worth nothing. A request that is cancelled while a decode thread writes there
                                 ends when it has done so. NULL: not so */
    size_t pixels_size;       /* bytes there are at `pixels`: at least pixels_stride times the rows of all planes, but
                                 for what pads the last. Else SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL */
    size_t pixels_stride;     /* bytes from row to row at `pixels`, those between rows are not touched; 0: as
                                 row_alignment says. `pixels` and this must be multiples of row_alignment */
    int32_t integrity;        /* one of SDD_INTEGRITY_ */
    int32_t format_hint;      /* what a body is taken for if nobody knows its first bytes, for formats without a magic
                                 number: one of SDD_IMAGE_FORMAT_, of an sdd_coder; 0: nothing */
    int32_t scaling;          /* one of SDD_SCALING_ */
    int32_t reserved;         /* 0 */
} sdd_decode_options;

#define SDD_DECODE_OPTIONS_INIT \
    { sizeof(sdd_decode_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/**
 * Decodes bytes that are in memory, on the calling thread, which WAITS: for tools, tests and bindings.
 *
 * No downloader is needed, and no thread is made. A picture may have up to 134,217,728 pixels (128 Mi).
 * @param bytes Borrowed for the call, a whole JPEG or PNG. The image keeps a copy: sdd_image_bytes().
 * @param size How many there are.
 * @param options How pixels are made. NULL: RGBA8, turned as Exif says, as large as it is.
 * @param image Receives the picture, owned by the caller: release with sdd_image_release(). NULL on an error.
 * @param detail Receives one of SDD_DETAIL_: what is wrong with the picture; 0 for anything else. May be NULL.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA, and `detail` says why; SDD_ERROR_INVALID_ARGUMENT: also a number in
 *     `options` that does not exist; SDD_ERROR_UNSUPPORTED; SDD_ERROR_NO_RESOURCES: no memory for the copy.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_decode(const void *SDD_NULLABLE bytes, size_t size,
                                    const sdd_decode_options *SDD_NULLABLE options,
                                    sdd_image *SDD_NULLABLE *SDD_NONNULL image, int32_t *SDD_NULLABLE detail);

/**
 * Everything a request can have. Begin with SDD_DOWNLOAD_REQUEST_INIT, set `url` and
 * `completed`. Everything in it is copied by sdd_downloader_submit(). Since: 0.1.0.
 *
 * Requests that are under way at the same time share one transfer if what is sent is the same, and how: the
 * method (GET or HEAD), the URL, the headers, credential, certificate option, cookie option and cookies, modifiers,
 * and the limits on connecting, first byte, silence and slowness. Each keeps its own callbacks, priority, queue and total
 * limit, accepted statuses and types, decode options, and its own end.
 */
typedef struct sdd_download_request {
    size_t struct_size;
    const char *SDD_NULLABLE url;
    uint64_t options;                       /* SDD_OPTION_ bits */
    const char *SDD_NULLABLE method;        /* NULL: "GET" */
    const sdd_header *SDD_NULLABLE headers; /* header_count of them; they replace the downloader's by name */
    size_t header_count;
    const void *SDD_NULLABLE body;          /* body_size bytes to send; not with GET or HEAD */
    size_t body_size;
    sdd_progress_fn SDD_NULLABLE progress;
    sdd_completed_fn SDD_NULLABLE completed; /* may be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain() */
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    /* Since 0.2.0: */
    const char *SDD_NULLABLE referrer; /* the Referer header (RFC 9110 section 10.1.3); `headers` win */
    const char *SDD_NULLABLE range;    /* bytes wanted, as "0-1023", "1024-" or "-512" (RFC 9110 section 14.1.2);
                                          an answer with a part has status 206, and is an error where no part
                                          was asked for */
    int32_t priority;                  /* one of SDD_PRIORITY_; 0: as `options` say */
    int32_t reserved;                  /* 0 */
    /* Time limits: 0 as the config says, SDD_NO_TIMEOUT none. See sdd_downloader_config. */
    int64_t queue_timeout_ms;
    int64_t connect_timeout_ms;
    int64_t first_byte_timeout_ms;
    int64_t download_timeout_ms;
    int64_t total_timeout_ms;
    const char *SDD_NULLABLE accepted_status_codes;  /* as in the config; NULL: the config's */
    const char *SDD_NULLABLE accepted_content_types; /* as in the config; NULL: the config's */
    const sdd_credential *SDD_NULLABLE credential;   /* NULL: the downloader's */
    const sdd_modifiers *SDD_NULLABLE modifiers;     /* NULL: the downloader's */
    int32_t sink;                      /* one of SDD_SINK_ */
    int32_t sink_fd;                   /* for SDD_SINK_FD, duplicated by sdd_downloader_submit(): it may be closed
                                          then. Written from where it stands */
    const sdd_decode_options *SDD_NULLABLE decode; /* NULL: the downloader's, see sdd_downloader_set_decode_options() */
    sdd_completed_fn SDD_NULLABLE preview; /* with SDD_OPTION_PROGRESSIVE_LOAD: called with results whose `finished` is
                                          0 and whose image is what can be seen so far, in growing quality: of a
                                          progressive JPEG scan by scan, of an interlaced PNG pass by pass, of others
                                          row by row, with nothing (all bytes 0) below, see sdd_image_good_rows(); of a
                                          JPEG with a scan for each component, all rows once the first scan is there; of
                                          one in arithmetic coding scan by scan, or none if it has only one. Each
                                          image keeps what it shows for as long as it is held. None comes with or after
                                          the terminal callback, and none where modifiers change the response or body.
                                          Previews that are not taken in time are replaced by the next */
    sdd_facts_fn SDD_NULLABLE facts;   /* may be NULL */
    const char *SDD_NULLABLE integrity; /* "sha256-" with the SHA-256 that the body must have, unpacked and before a
                                          body transform, in base64 (W3C Subresource Integrity) or 64 hexadecimal
                                          digits. Else the request ends with SDD_DETAIL_IMAGE_INTEGRITY, and nothing of
                                          the body is decoded, handed out or stored. It is read to its end first, so
                                          that there are no previews; not with a sink. NULL: any */
    int64_t expected_bytes;            /* the size that the body must have, likewise; 0: any */
    int32_t max_attempts;              /* transfers for this request, the first included, at most 1000; 0: as the
                                          config says. See "what is tried again" there */
    int32_t reserved2;                 /* 0 */
    int64_t low_speed_limit;           /* bytes a second, 0 as the config says */
    int64_t low_speed_time_ms;         /* likewise; SDD_NO_TIMEOUT: as slow as it may be */
} sdd_download_request;

#define SDD_DOWNLOAD_REQUEST_INIT \
    { sizeof(sdd_download_request), NULL, 0, NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, \
      NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, \
      0, 0 }

/**
 * The URL of a draft.
 *
 * @param draft What the request modifier was given.
 * @return Never NULL, but for draft NULL.
 * Thread: the modifier's. Lifetime: until it is changed, or the modifier returns. Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_url(sdd_draft *SDD_NULLABLE draft);

/**
 * The method of a draft, "GET". Otherwise as sdd_draft_url(). Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_method(sdd_draft *SDD_NULLABLE draft);

/**
 * The value of a header field of a draft; NULL when there is none. Otherwise as sdd_draft_url().
 *
 * @param name Compared without regard to case.
 * Since: 0.2.0.
 */
SDD_API const char *SDD_NULLABLE sdd_draft_header(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL name);

/**
 * Changes the URL of a draft.
 *
 * @param url Copied. The rules of sdd_download() hold.
 * @return SDD_OK; SDD_ERROR_INVALID_URL, and the draft is as before; SDD_ERROR_INVALID_ARGUMENT for draft NULL.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_url(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL url);

/**
 * Changes the method of a draft. To GET or HEAD, a body is dropped.
 *
 * @param method An HTTP token. Copied.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_method(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL method);

/**
 * Sets a header field of a draft, or, with value NULL, removes it.
 *
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a name or value that HTTP does not allow.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_header(sdd_draft *SDD_NULLABLE draft, const char *SDD_NONNULL name,
                                        const char *SDD_NULLABLE value);

/**
 * Replaces the body of a draft; its method must not be GET or HEAD.
 *
 * @param data Copied. NULL with size 0 removes the body.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_NO_RESOURCES when there is no memory for a copy.
 * Thread: the modifier's. Since: 0.2.0.
 */
SDD_API sdd_status sdd_draft_set_body(sdd_draft *SDD_NULLABLE draft, const void *SDD_NULLABLE data,
                                      size_t size);

/* -------------------------------------------------------------------------------- downloaders */

/** Where callbacks run: sdd_downloader_config.delivery. Since: 0.1.0. */
enum {
    SDD_DELIVERY_THREAD = 0, /* on one long-lived thread of the downloader, named sdd-callback */
    SDD_DELIVERY_APPLICATION = 1    /* events wait for sdd_dispatch(), sdd_drain() or sdd_wait() */
};

/** In which order requests of the same priority begin: sdd_downloader_config.execution_order. Since: 0.2.0. */
enum {
    SDD_ORDER_FIFO = 0, /* the one that was submitted first */
    SDD_ORDER_LIFO = 1  /* the one that was submitted last */
};

/** Where a downloader may connect to: sdd_downloader_config.address_policy. Since: 0.2.0. */
enum {
    SDD_ADDRESS_ANY = 0,
    SDD_ADDRESS_PUBLIC_ONLY = 1 /* for URLs that others give: refuses loopback, private, link-local, shared,
                                   multicast, reserved and unique-local addresses, also within IPv4-mapped,
                                   NAT64 and 6to4 ones. No proxy is used, not even the environment's */
};

/** Which IP versions are used: sdd_downloader_config.ip_version. Since: 0.2.0. */
enum {
    SDD_IP_ANY = 0,
    SDD_IP_V4 = 4,
    SDD_IP_V6 = 6
};

/** sdd_downloader_config.http_version. Since: 0.2.0. */
enum {
    SDD_HTTP_DEFAULT = 0, /* HTTP/2 over TLS where the server has it, else HTTP/1.1 */
    SDD_HTTP_1_0 = 10,
    SDD_HTTP_1_1 = 11,
    SDD_HTTP_2 = 20,               /* also over plain TCP, by Upgrade */
    SDD_HTTP_2_PRIOR_KNOWLEDGE = 21 /* over plain TCP without asking: the server is known to have it */
};

/** sdd_downloader_config.min_tls_version. Since: 0.2.0. */
enum {
    SDD_TLS_DEFAULT = 0, /* 1.2 */
    SDD_TLS_1_0 = 10,
    SDD_TLS_1_1 = 11,
    SDD_TLS_1_2 = 12,
    SDD_TLS_1_3 = 13
};

/** sdd_downloader_config.proxy_mode. Since: 0.2.0. */
enum {
    SDD_PROXY_ENVIRONMENT = 0, /* http_proxy, https_proxy, all_proxy, no_proxy, by the rules of libcurl's
                                  CURLOPT_PROXY, as they are when the downloader is created; `proxy` wins if
                                  it is set */
    SDD_PROXY_NONE = 1         /* no proxy, whatever the environment says */
};

/**
 * Decides on an address before a connection to it is opened, for every hop of a redirect and every address
 * of a name.
 *
 * @param address "192.0.2.1" or "2001:db8::1". Borrowed until the callback returns.
 * @param port TCP port.
 * @param user_data The config's address_filter_user_data.
 * @return 1 to connect, 0 to refuse.
 * Thread: sdd-net, which waits for it: be quick, and call no sdd_ function.
 */
typedef int32_t (*sdd_address_filter_fn)(const char *SDD_NONNULL address, int32_t port,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * How a downloader is to be. Begin with SDD_DOWNLOADER_CONFIG_INIT;
 * sdd_downloader_create() copies it. 0 or NULL in a field is its default; a negative number is
 * refused, but where -1 is said to mean something. Since: 0.1.0.
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
    /* Since 0.2.0. What runs when: */
    int32_t max_concurrent_per_host;  /* transfers at a time to one host and port; default 6 */
    int32_t reserved_urgent_slots;    /* of max_concurrent_downloads, kept free for SDD_PRIORITY_HIGH and
                                         above; less than it; default 0 */
    int32_t execution_order;          /* one of SDD_ORDER_ */
    int32_t reserved2;                /* 0 */
    int64_t ageing_ms;                /* a request that has waited so long counts as one priority higher, then
                                         waits so long again; default 0: never */
    /* Time limits, each from the start of its stage. Those of a request win. */
    int64_t queue_timeout_ms;         /* from submitting to the start of the transfer; default none */
    int64_t connect_timeout_ms;       /* name lookup, connect, TLS; default download_timeout_ms */
    int64_t first_byte_timeout_ms;    /* from the request being sent to the first byte; default none */
    int64_t total_timeout_ms;         /* from submitting to the end; default none */
    /* Progress: a count is left out if it brings less, or comes sooner, than these since the last one told;
       the last of a body never is. */
    double min_progress_interval;     /* fraction of the whole, 0 to 1; default 0. Ignored for unknown lengths */
    int64_t min_progress_interval_ms; /* default 0 */
    /* What is accepted: */
    const char *SDD_NULLABLE accepted_status_codes;  /* "200-299,304"; "*": all. Default "200-299" */
    const char *SDD_NULLABLE accepted_content_types; /* "image/jpeg,image/png", "image/" + "*" for all images;
                                                        "*": all, also none. Default "*" */
    const sdd_credential *SDD_NULLABLE credential;   /* for requests without one of their own, to whatever host
                                                        they go: only for a downloader of one server */
    const sdd_modifiers *SDD_NULLABLE modifiers;     /* for requests without ones of their own */
    int64_t max_header_bytes;         /* of all headers of a request's responses, 1xx included; default 256 KiB */
    int32_t max_header_count;         /* lines, likewise; default 1000 */
    int32_t allow_downgrade;          /* 1: redirects from https to http are followed; default 0 */
    /* Where to: */
    int32_t address_policy;           /* one of SDD_ADDRESS_ */
    int32_t ip_version;               /* one of SDD_IP_ */
    sdd_address_filter_fn SDD_NULLABLE address_filter; /* asked after address_policy. With one, no proxy is
                                         used, not even the environment's */
    void *SDD_NULLABLE address_filter_user_data;
    const char *SDD_NULLABLE proxy;   /* "http://user:password@host:port", also https, socks4, socks4a, socks5,
                                         socks5h; CURLOPT_PROXY. Not with SDD_ADDRESS_PUBLIC_ONLY or address_filter */
    const char *SDD_NULLABLE no_proxy; /* hosts that `proxy` is not for: "localhost,.example.org"; CURLOPT_NOPROXY */
    int32_t proxy_mode;               /* one of SDD_PROXY_ */
    int32_t http_version;             /* one of SDD_HTTP_ */
    int32_t min_tls_version;          /* one of SDD_TLS_ */
    int32_t tcp_keepalive_s;          /* seconds of silence before the kernel asks whether the other end is
                                         still there; default 60; -1: never */
    const char *SDD_NULLABLE network_interface; /* "eth0", "192.0.2.7", "host!name"; CURLOPT_INTERFACE */
    const char *SDD_NULLABLE unix_socket_path;  /* connects there in place of TCP. Not with SDD_ADDRESS_PUBLIC_ONLY */
    const char *SDD_NULLABLE const *SDD_NULLABLE resolve; /* resolve_count of "host:port:address[,address]", used
                                         in place of a lookup; CURLOPT_RESOLVE */
    size_t resolve_count;
    const char *SDD_NULLABLE dns_servers; /* "192.0.2.53,192.0.2.54:5353"; only with a libcurl built with
                                         c-ares, else SDD_ERROR_UNSUPPORTED */
    int64_t dns_cache_ms;             /* how long looked up names are kept; default 60000; -1: for ever */
    int32_t max_connections;          /* open at a time, in use or idle; default: no limit of its own */
    int32_t max_connections_per_host; /* likewise */
    int32_t max_idle_connections;     /* kept for later requests; default: as many as bursts have needed, at most 512 */
    int32_t receive_buffer_bytes;     /* 1024 to 524288; default 65536 */
    const char *SDD_NULLABLE cookie_file; /* Netscape format: read at creation (it need not exist), written
                                         when the downloader is destroyed, in one step, mode 0600 */
    /* What decoding may cost, see also max_pixels: */
    int64_t decode_time_ms;           /* processor time for one picture, and again for all its frames or one
                                         that is asked for; default 5000; -1: no limit */
    int64_t decode_time_ms_per_mib;   /* and so much more for each MiB of its body; default 1000; -1: none */
    int64_t max_decode_bytes;         /* memory for one picture while it is decoded, pixels and what its format needs
                                         besides, as estimated from its header; default 1 GiB; -1: no limit. How much
                                         several may take together: sdd_process_set_decode_memory_limit() */
    int32_t max_scans;                /* of a progressive JPEG; default 500 */
    /* Previews: one is left out if it comes sooner, or shows less more, than these since the last one. Making them
       never takes more than about a fifth of a decode thread's time. */
    int32_t min_preview_scans;        /* scans of a JPEG, passes of a PNG; default 1 */
    int64_t min_preview_interval_ms;  /* default 100; -1: none */
    int64_t min_preview_bytes;        /* of the body; default 0 */
    /* Caching: see "the HTTP cache" below. */
    sdd_cache *SDD_NULLABLE cache;    /* for SDD_OPTION_USE_HTTP_CACHE and SDD_OPTION_RESUME. May be destroyed before
                                         the downloader: it then has nothing. NULL: the shared cache */
    int32_t http_cache;               /* 1: all requests use the HTTP cache; default 0: those with
                                         SDD_OPTION_USE_HTTP_CACHE */
    int32_t resume;                   /* 1: all requests have SDD_OPTION_RESUME; default 0 */
    /* What is tried again: a transfer whose failure may pass (`retryable`: HTTP status 408, 425, 429, 500, 502, 503
       and 504 where they are not accepted, names not resolved, connections not made or lost, bodies cut off, limits on
       connecting, first byte, silence and slowness), by a method that may be sent twice (GET, HEAD, PUT, DELETE, OPTIONS,
       TRACE:
       RFC 9110 section 9.2.2), or of which nothing was sent. Not where a part of its body has gone to a sink, nor for
       who has been shown facts or a preview of it; nor a picture that does not decode. The request keeps its token and
       waits, without a place among the transfers; its queue limit does not run again, its total limit does. With
       SDD_OPTION_RESUME the next transfer goes on where the last broke off. Progress begins again, with (0, -1). */
    int32_t max_attempts;             /* transfers for one request, the first included, at most 1000; default 1 */
    int32_t retry_budget;             /* retries that a host and port may have in hand; each takes one, and five
                                         transfers that succeed bring one back; default 10; -1: no limit */
    int64_t retry_delay_ms;           /* before the second transfer; doubled before each further one, and shortened by
                                         chance to no less than half, so that not all come at once; default 500. A
                                         Retry-After of the response (RFC 9110 section 10.2.3) takes its place */
    int64_t max_retry_delay_ms;       /* longest; where Retry-After asks for more there is no retry; default 30000 */
    int64_t min_host_interval_ms;     /* from the start of one transfer to that of the next to the same host and port,
                                         retries too, but not redirects; others begin meanwhile; default 0 */
    /* Slowness: a transfer whose header and body, or whose request's body, come with fewer bytes a second than
       low_speed_limit on the average of low_speed_time_ms ends with SDD_DETAIL_TIMEOUT_SLOW. Looked at once every
       low_speed_time_ms, in bytes as they are sent and received, packed. Time does not count while the server has yet
       to answer (see first_byte_timeout_ms), while the library itself takes nothing (in the background, where decoding
       lags behind, where a sink takes nothing), nor between transfers. The default ends a server that holds a place
       with a byte now and then; six transfers that share a line of 5 kbit/s are faster. */
    int64_t low_speed_limit;          /* bytes a second; default 100 */
    int64_t low_speed_time_ms;        /* default 60000; -1: as slow as it may be */
    /* More of what decoding may cost: */
    int64_t max_decode_ratio;         /* a picture that takes more than 128 MiB while it is decoded, as for
                                         max_decode_bytes, must have a body of at least one byte in so many of that;
                                         else it is refused, for a small file could ask for much memory that way; default
                                         512, which photographs, screen shots and diagrams stay well below; -1: no
                                         limit */
} sdd_downloader_config;

#define SDD_DOWNLOADER_CONFIG_INIT \
    { sizeof(sdd_downloader_config), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, \
      0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Makes a downloader with connections, headers, limits and threads of its own.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_downloader_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a field out of range, fields that exclude each other, or
 *         out NULL; SDD_ERROR_UNSUPPORTED for a config from a newer header, or a feature that libcurl was
 *         built without; SDD_ERROR_NO_RESOURCES when the system gives no thread or descriptor.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_create(const sdd_downloader_config *SDD_NULLABLE config,
                                         sdd_downloader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what is under way, delivers every terminal callback that is owed, ends the threads. WAITS
 * for all of that, within the time a callback of yours and one decoding step take.
 *
 * With SDD_DELIVERY_APPLICATION the callbacks owed are called here, on the calling thread. Called inside a
 * callback of this downloader it does not wait: the handle is dead at once, and the rest happens
 * when that callback has returned. Images and bytes live on by their own references.
 * @param downloader Dead from now on. NULL and the shared downloader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT for the shared
 *         downloader; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_destroy(sdd_downloader *SDD_NULLABLE downloader);

/** How sdd_downloader_close() ends what is under way. Since: 0.2.0. */
enum {
    SDD_CLOSE_CANCEL = 0, /* cancels it */
    SDD_CLOSE_DRAIN = 1   /* lets it end, what waits included */
};

/**
 * Takes no more requests. Does not wait: sdd_wait_idle() does, and sdd_downloader_destroy() still follows.
 *
 * Every request that is under way ends with its one terminal callback. A request submitted from now on
 * ends with SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_CLOSED. A drained downloader may
 * be closed again with SDD_CLOSE_CANCEL.
 * @param downloader Not the shared one.
 * @param mode One of SDD_CLOSE_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for the shared downloader, NULL, or another mode;
 *         SDD_ERROR_CLOSED if it is destroyed; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_close(sdd_downloader *SDD_NULLABLE downloader, int32_t mode);

/**
 * The shared downloader, which NULL stands for in every call: defaults throughout, SDD_DELIVERY_THREAD.
 *
 * Made on first use; it cannot be destroyed.
 * @return Its handle; NULL if it cannot be made (no thread), and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.1.0.
 */
SDD_API sdd_downloader *SDD_NULLABLE sdd_downloader_shared(void);

/**
 * Sets a header field for all requests submitted from now on.
 *
 * A new downloader accepts any content type and prefers images (sdd_downloader_get_header() shows its "Accept"),
 * and has "User-Agent: libsdd/0.2.0 (Linux; x86_64) curl/7.88.1", with the versions and machine at hand.
 * @param downloader NULL: the shared one.
 * @param name An HTTP token (RFC 9110 section 5.1), compared without regard to case. Copied.
 * @param value Text without control characters, TAB excepted (RFC 9110 section 5.5). Copied. NULL
 *        removes what was set: the field is then not sent, except for two that requests have by
 *        themselves: "Host" (RFC 9110 section 7.2: every request must have it) is then that of the URL,
 *        and "Accept-Encoding" names the codings that the library unpacks. To ask for a body that is not
 *        packed, set "Accept-Encoding" to "identity".
 * @return SDD_OK, also when there was nothing to remove; SDD_ERROR_INVALID_ARGUMENT for a name or
 *         value that HTTP does not allow; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_NO_RESOURCES
 *         when the shared downloader cannot be made.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_set_header(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NONNULL name,
                                  const char *SDD_NULLABLE value);

/**
 * Reads a header field that was set for all requests, by sdd_set_header() or as a default of the downloader.
 *
 * A request may carry more: its own fields, "Host", "Accept-Encoding", a cookie, a credential, a range.
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
SDD_API sdd_status sdd_downloader_get_header(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NONNULL name,
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
SDD_API sdd_status sdd_downloader_set_max_concurrent_downloads(sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes how many transfers may run at a time to one host and port. As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_max_concurrent_per_host(sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes min_host_interval_ms, see sdd_downloader_config: after the starts to come, and for hosts whose time is not over
 * yet, from the last start on.
 *
 * @param milliseconds 0 or more, up to 34 years; 0: none.
 * @return As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_min_host_interval(sdd_downloader *SDD_NULLABLE downloader, int64_t milliseconds);

/**
 * Changes reserved_urgent_slots, see sdd_downloader_config. While it is not less than
 * max_concurrent_downloads, one place is left for the others.
 *
 * @param count 0 or more.
 * @return As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_reserved_urgent_slots(sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes the order in which requests of the same priority begin, also for those that wait already.
 *
 * @param order One of SDD_ORDER_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another number; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_execution_order(sdd_downloader *SDD_NULLABLE downloader, int32_t order);

/**
 * Changes download_timeout_ms for requests submitted from now on.
 *
 * @param timeout_ms 0: the default, 15000.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a negative number; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_download_timeout(sdd_downloader *SDD_NULLABLE downloader, int64_t timeout_ms);

/**
 * Changes the credential of requests submitted from now on that have none of their own.
 *
 * @param credential Copied. NULL: none.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for one that cannot be (a part missing, control characters);
 *         SDD_ERROR_UNSUPPORTED for one from a newer header; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_credential(sdd_downloader *SDD_NULLABLE downloader,
                                      const sdd_credential *SDD_NULLABLE credential);

/**
 * Changes the modifiers of requests submitted from now on that have none of their own.
 *
 * @param modifiers Copied. NULL: none. On an error its user_data_free is not called.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_modifiers(sdd_downloader *SDD_NULLABLE downloader,
                                     const sdd_modifiers *SDD_NULLABLE modifiers);

/**
 * How the pixels of later requests are made, where a request does not say it itself.
 *
 * @param downloader NULL: the shared one.
 * @param options Borrowed for the call, copied, with its allocator. Without `pixels`, which are of one picture only.
 *     NULL: RGBA8, turned as Exif says, as at the start.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: a format or number that does not exist; SDD_ERROR_UNSUPPORTED;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_decode_options(sdd_downloader *SDD_NULLABLE downloader,
                                          const sdd_decode_options *SDD_NULLABLE options);

/**
 * Changes how much memory the pictures of this process may take that are being decoded, or wait to be delivered.
 *
 * Where there is no room, bodies wait for it, the most urgent first, and over 8 MiB of them no new transfers are started;
 * nothing fails, and no thread waits. Pictures that are decoded while they arrive give their room up as soon as a complete
 * body waits for some, and are decoded when they are complete: no picture waits for a slow server of another. A downloader
 * that has no picture in hand decodes its next one in any case: so that a picture larger than the limit has its turn
 * alone, and an application that does not take its results holds up no other downloader's. What is handed to the
 * application does not count, from the beginning of the callback that hands it over.
 *
 * sdd_get() and batches never wait for results that nobody takes: the pictures of requests that are told their end at once
 * have room of their own in each downloader, and count only while they are decoded; transfers for them start, and go on,
 * whatever else waits. So both may be called inside a callback, while results without number wait behind it.
 * @param bytes At least 1; 0: the default, 192 MiB.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a negative number.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_process_set_decode_memory_limit(int64_t bytes);

/**
 * The config as it is now: what was given at creation, defaults filled in, live changes included.
 *
 * Strings and what else it points to belong to the downloader; credential, modifiers and resolve are NULL.
 * @param downloader NULL: the shared one.
 * @param config Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_NO_RESOURCES.
 * Thread: any. Lifetime: of the strings, until sdd_downloader_destroy(). Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_get_config(sdd_downloader *SDD_NULLABLE downloader, sdd_downloader_config *SDD_NONNULL config);

/**
 * Starts no more transfers. Those that run go on. Waiting requests keep their places, and can be cancelled.
 *
 * @return SDD_OK, also when it was suspended before; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_suspend(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Starts transfers again, after sdd_downloader_suspend().
 *
 * @return As sdd_downloader_suspend().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_resume(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Whether sdd_downloader_suspend() holds: 1 or 0; 0 for a dead handle.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_downloader_is_suspended(sdd_downloader *SDD_NULLABLE downloader);

/**
 * The host has gone into the background: starts no more transfers, and pauses those that run.
 *
 * Transfers that a request with SDD_OPTION_CONTINUE_IN_BACKGROUND waits for go on during the grace time.
 * When it is over they are cancelled: SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_BACKGROUND. The limits on
 * connecting, first byte, silence and slowness rest while a transfer is paused, the queue and the total limit do not.
 * @param downloader NULL: the shared one.
 * Over HTTP/2, where libcurl can stop one transfer only together with those that share its connection, what comes
 * is kept unseen, up to max_body_bytes, until the foreground.
 * @param grace_ms From now; 0: none; negative: no end.
 * @return SDD_OK; called again, the new grace time counts; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_enter_background(sdd_downloader *SDD_NULLABLE downloader, int64_t grace_ms);

/**
 * The host is back: everything goes on, the most urgent first.
 *
 * @return SDD_OK, also without sdd_downloader_enter_background() before; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_enter_foreground(sdd_downloader *SDD_NULLABLE downloader);

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
 *        Or data: (RFC 2397, read as browsers do; since 0.2.0), with up to max_body_bytes in it. What is in it is the
 *        body: without the queue, the network or a cache, with http_status 0, the media type as Content-Type and
 *        SDD_ORIGIN_NETWORK. Only for GET, and for no sink; header fields, also a range, are passed over.
 * @param options SDD_OPTION_ bits.
 * @param progress May be NULL.
 * @param completed May be NULL only on a downloader with SDD_DELIVERY_APPLICATION.
 * @param user_data Handed to both.
 * @return The token. 0, and nothing will be called, if `completed` is missing, the downloader is
 *         destroyed or forked, or the shared one cannot be made: sdd_downloader_submit() says which.
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
SDD_API sdd_token sdd_downloader_submit(sdd_downloader *SDD_NULLABLE downloader,
                                       const sdd_download_request *SDD_NONNULL request,
                                       sdd_status *SDD_NULLABLE status);

/**
 * Cancels one request; others that share its transfer go on. Its terminal callback comes with
 * SDD_ERROR_CANCELLED.
 *
 * A transfer that nobody waits for any more is ended.
 *
 * The token of a list to prefetch cancels its loads, and those that have not begun: `each` and `progress` of
 * sdd_prefetch_list are not called any more when this has returned, but for a call that is running on another thread;
 * its `completed` is, with SDD_ERROR_CANCELLED and what had ended before.
 *
 * @param token What the submitting call returned: of a download, a load, a query or store of a cache, or a list.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the request has ended (its result may still be on its way to the callback),
 *         if its downloader or loader was destroyed, for the token of a parent process, and for any number that is no
 *         token of this process.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_cancel(sdd_token token);

/**
 * Changes how urgent one request is. Its transfer has the priority of the most urgent request that waits for it, at any
 * time: in the queue, on the network (HTTP/2 weight) and for a decode thread. That of a list to prefetch is the priority
 * of its loads, those that run and those to come; it begins as SDD_PRIORITY_VERY_LOW.
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
    int32_t state;              /* one of SDD_STATE_ */
    int32_t priority;           /* of this request */
    int32_t effective_priority; /* of its transfer, with the ageing of the last time a place was free */
    int32_t http_status;        /* 0 before there is a response */
    int64_t received_bytes;     /* as in sdd_progress_fn */
    int64_t expected_bytes;
    int64_t waiting_us;         /* from submitting to the start of the transfer, or till now */
    int64_t running_us;         /* from the start of the transfer to its end, or till now; 0 before */
} sdd_token_info;

#define SDD_TOKEN_INFO_INIT \
    { sizeof(sdd_token_info), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * What is known of a request under way. One that has ended tells it all in its result. Of a list to prefetch only state
 * and priority are known.
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
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_NOT_FOUND also for a list to prefetch;
 *         and as sdd_cancel().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_token_get_url(sdd_token token, char *SDD_NULLABLE buffer, size_t capacity,
                                     size_t *SDD_NULLABLE length);

/**
 * The response of a request under way, once its header is there.
 *
 * @param out Receives the response, owned by the caller: release with sdd_response_release(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND also while there is none; SDD_ERROR_INVALID_ARGUMENT; and as sdd_cancel().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_token_get_response(sdd_token token, sdd_response *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels every request of a downloader, as sdd_cancel() would.
 *
 * @param downloader NULL: the shared one.
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_cancel_all(sdd_downloader *SDD_NULLABLE downloader);

/**
 * WAITS until every request of a downloader has ended and its terminal callback has returned.
 *
 * With SDD_DELIVERY_APPLICATION it calls the callbacks meanwhile, here. Requests that others submit while it
 * waits are waited for too.
 * @param downloader NULL: the shared one.
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT; SDD_ERROR_WOULD_DEADLOCK inside a callback of this downloader;
 *         SDD_ERROR_BUSY if another thread is taking its events; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any but the downloader's own callback thread. Since: 0.1.0.
 */
SDD_API sdd_status sdd_wait_idle(sdd_downloader *SDD_NULLABLE downloader, int64_t timeout_ms);

/**
 * Downloads one URL and WAITS for it: for scripts and tools.
 *
 * Works in both delivery modes and inside callbacks, since nothing of it is delivered there.
 * @param downloader NULL: the shared one.
 * @param url, options As for sdd_download().
 * @param timeout_ms Of the whole; negative: none but the downloader's own limits.
 * @param image Receives the picture, owned by the caller; NULL on an error and with SDD_OPTION_BYTES_ONLY.
 *        May be NULL: then with SDD_OPTION_BYTES_ONLY implied.
 * @param bytes Receives the body, owned by the caller; NULL on an error. May be NULL.
 * @param response Receives the response, owned by the caller, also on an error; NULL if none came. May be NULL.
 * @return SDD_OK; what the request ended with (SDD_ERROR_TIMEOUT when timeout_ms was over); and the
 *         reasons for a token 0 of sdd_downloader_submit().
 * Thread: any, but not in a modifier or filter. Since: 0.2.0.
 */
SDD_API sdd_status sdd_get(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NULLABLE url, uint64_t options,
                           int64_t timeout_ms, sdd_image *SDD_NULLABLE *SDD_NULLABLE image,
                           sdd_bytes *SDD_NULLABLE *SDD_NULLABLE bytes,
                           sdd_response *SDD_NULLABLE *SDD_NULLABLE response);

/**
 * How many transfers wait or run. Requests that share one count once; what is being decoded does not count.
 *
 * @return 0 for a dead handle.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int64_t sdd_downloader_current_download_count(sdd_downloader *SDD_NULLABLE downloader);

/** Counts of a downloader since its creation, and what there is of it now. Filled by the library. Since: 0.2.0. */
typedef struct sdd_statistics {
    size_t struct_size;
    int64_t requests;              /* accepted */
    int64_t requests_joined;       /* of those, that shared a transfer already there */
    int64_t requests_succeeded;
    int64_t requests_failed;
    int64_t requests_cancelled;
    int64_t transfers_started;
    int64_t transfers_succeeded;   /* whose body came whole, whatever was made of it */
    int64_t connections_opened;
    int64_t request_bytes;         /* of transfers that have ended, as in sdd_metrics */
    int64_t response_header_bytes;
    int64_t response_body_bytes;
    int64_t body_bytes;
    int64_t images_decoded;
    int64_t decode_us;             /* time that decode threads have spent decoding */
    int64_t waiting;               /* now: transfers in the queue, */
    int64_t running;               /*      on the network, */
    int64_t decoding;              /*      and being decoded, or waiting to be */
    /* Memory, now. Beside it, while requests are under way, up to 36 MiB are kept at hand in the process. */
    int64_t receiving_bytes;       /* bodies on the network, as far as they have come; none that goes to a sink */
    int64_t waiting_bytes;         /* bodies that wait for a decode thread, or for room for their pictures */
    int64_t undelivered_bytes;     /* what results hold whose callback has not begun, or whose event nobody has taken: bodies,
                                      and what their images hold; what several results share counts for each */
    int64_t decode_memory_bytes;   /* room for pictures that are being decoded or not delivered, see
                                      sdd_process_set_decode_memory_limit(); also those in undelivered_bytes */
} sdd_statistics;

#define SDD_STATISTICS_INIT \
    { sizeof(sdd_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * What a downloader has done, and is doing.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_NO_RESOURCES.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_get_statistics(sdd_downloader *SDD_NULLABLE downloader,
                                      sdd_statistics *SDD_NONNULL statistics);

/* ------------------------------------------------------------------------------------ cookies */

/** One cookie, RFC 6265. Since: 0.2.0. */
typedef struct sdd_cookie {
    size_t struct_size;
    const char *SDD_NULLABLE name;
    const char *SDD_NULLABLE value;
    const char *SDD_NULLABLE domain;  /* "example.org" */
    const char *SDD_NULLABLE path;    /* NULL: "/" */
    int64_t expires;                  /* seconds since 1970; 0: when the downloader is destroyed */
    int32_t include_subdomains;       /* 1: also for hosts below domain */
    int32_t secure;                   /* 1: over https alone */
    int32_t http_only;                /* 1: kept from scripts; means nothing here but is kept */
    int32_t reserved;                 /* 0 */
} sdd_cookie;

#define SDD_COOKIE_INIT \
    { sizeof(sdd_cookie), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 }

/**
 * Adds a cookie to those of a downloader, or replaces the one of that name, domain and path. Requests with
 * SDD_OPTION_HANDLE_COOKIES send it, and keep in the same place what servers set.
 *
 * @param cookie Copied. name, value and domain are needed.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a part that is missing, has control characters or ";", or is
 *         over 4096 bytes, and for a public suffix with include_subdomains; SDD_ERROR_UNSUPPORTED; and as
 *         sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_cookie(sdd_downloader *SDD_NULLABLE downloader, const sdd_cookie *SDD_NONNULL cookie);

/**
 * The cookies of a downloader as they are now.
 *
 * @param out Receives them, owned by the caller: release with sdd_cookies_release(); NULL on an error.
 * @return SDD_OK, also when there are none; SDD_ERROR_INVALID_ARGUMENT; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_get_cookies(sdd_downloader *SDD_NULLABLE downloader,
                                   sdd_cookies *SDD_NULLABLE *SDD_NONNULL out);

/**
 * How many there are; 0 for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API size_t sdd_cookies_count(sdd_cookies *SDD_NULLABLE cookies);

/**
 * One of them.
 *
 * @param index From 0 to sdd_cookies_count() - 1.
 * @param cookie Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: of the strings, until sdd_cookies_release(). Since: 0.2.0.
 */
SDD_API sdd_status sdd_cookies_at(sdd_cookies *SDD_NULLABLE cookies, size_t index, sdd_cookie *SDD_NONNULL cookie);

/**
 * Gives cookies back. NULL does nothing.
 * Thread: any. Since: 0.2.0.
 */
SDD_API void sdd_cookies_release(sdd_cookies *SDD_NULLABLE cookies);

/**
 * Forgets cookies of a downloader.
 *
 * @param domain Those of this domain and of the domains below it. NULL: all.
 * @return SDD_OK, also when there were none; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_clear_cookies(sdd_downloader *SDD_NULLABLE downloader, const char *SDD_NULLABLE domain);

/* ------------------------------------------------------------------------- what is going on */

/** Levels of messages for sdd_downloader_set_log(). Since: 0.2.0. */
enum {
    SDD_LOG_NONE = 0,
    SDD_LOG_ERROR = 1,   /* something was lost: the cookie file cannot be written */
    SDD_LOG_WARNING = 2, /* something is less safe or less good than it should be: an unverified certificate */
    SDD_LOG_INFO = 3,    /* one line for each transfer that failed */
    SDD_LOG_DEBUG = 4    /* one line for each transfer's start and end, each redirect */
};

/** One happening of a transfer; a notification of SDWebImage. Since: 0.2.0. */
typedef struct sdd_notice {
    size_t struct_size;
    int32_t kind;                  /* SDD_EVENT_START, _RESPONSE, _STOP, _FINISH, _RETRY or _LOG */
    int32_t level;                 /* of a _LOG: SDD_LOG_ */
    uint64_t transfer;             /* numbers transfers, as many as may share it; another one for each attempt. 0 for
                                      a message about none */
    sdd_token token;               /* the first request of the transfer */
    const char *SDD_NULLABLE url;  /* of the transfer, without user and password; NULL for a message about none, or
                                      about one that nobody waits for any more */
    int64_t time_us;               /* CLOCK_MONOTONIC */
    int32_t http_status;           /* 0 before there is a response */
    sdd_status error;              /* of a _STOP and a _RETRY */
    const char *SDD_NULLABLE message; /* of a _LOG: one line */
    int32_t attempt;               /* which of its request's transfers it is, from 1; 0 for a message about none */
    int32_t reserved;
    int64_t delay_us;              /* of a _RETRY: from now until the next one may begin */
} sdd_notice;

/**
 * Told what transfers do.
 *
 * @param notice Borrowed until the callback returns.
 * Thread: as sdd_completed_fn, in one order with its events.
 */
typedef void (*sdd_observer_fn)(const sdd_notice *SDD_NONNULL notice, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Makes somebody hear of every transfer: START, RESPONSE (valid or not), FINISH (its body came without
 * error) and STOP (it is over, for whatever reason; the last), behind which there is a RETRY if it has failed and will
 * be tried again. Nobody does at first.
 *
 * @param downloader NULL: the shared one.
 * @param observer NULL: nobody any more. After the call has returned, at most one call of the observer
 *        before is still running on another thread.
 * @param user_data_free Called once, on any thread, when user_data is of no use any more: after another observer,
 *        or the downloader's end. May be NULL. Not called if this call fails, or observer is NULL.
 * @return SDD_OK; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_observer(sdd_downloader *SDD_NULLABLE downloader, sdd_observer_fn SDD_NULLABLE observer,
                                    void *SDD_NULLABLE user_data, sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/**
 * Makes somebody hear of messages up to a level: notices of kind SDD_EVENT_LOG. Nobody does at first.
 *
 * @param level One of SDD_LOG_. At SDD_LOG_NONE nothing is told, and no message is made.
 * @param observer, user_data, user_data_free As for sdd_downloader_set_observer(); it may be the same observer.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another level; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_log(sdd_downloader *SDD_NULLABLE downloader, int32_t level,
                               sdd_observer_fn SDD_NULLABLE observer, void *SDD_NULLABLE user_data,
                               sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/* -------------------------------------------------------------------- transports of the host's */

/** What a transport of the host's is asked for. Borrowed until `start` returns. Since: 0.2.0. */
typedef struct sdd_transfer_request {
    size_t struct_size;
    const char *SDD_NONNULL url;
    const char *SDD_NONNULL method;
    const sdd_header *SDD_NULLABLE headers; /* header_count of them */
    size_t header_count;
    const void *SDD_NULLABLE body;          /* body_size bytes; good until the transfer has ended */
    size_t body_size;
    int32_t priority;                       /* one of SDD_PRIORITY_ */
    int32_t reserved;
} sdd_transfer_request;

/**
 * How URLs are fetched by the host: those of its own archive, a test's. Since: 0.2.0.
 *
 * The functions are called on sdd-net, one at a time, and must not block; `can_load` on the thread that submits, also on
 * several at once; `cancel` for what is left when the
 * downloader ends, on the thread that ends it. Neither is called for a request that is cancelled before sdd-net has
 * come to it. The answer is given with
 * sdd_transfer_respond(), sdd_transfer_write() and sdd_transfer_finish(), from any thread, also from
 * inside `start`. Queue, limits, priorities, time limits, sharing, modifiers and decoding are as for HTTP.
 */
typedef struct sdd_transport {
    size_t struct_size;
    const char *SDD_NULLABLE scheme; /* "archive"; also "http", "https" or "data", in place of the library's own; "*":
                                        any, and can_load is needed. Needed */
    void (*SDD_NULLABLE start)(sdd_transfer transfer, const sdd_transfer_request *SDD_NONNULL request,
                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* Needed */
    void (*SDD_NULLABLE cancel)(sdd_transfer transfer,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* nothing more is wanted. Needed */
    void (*SDD_NULLABLE set_priority)(sdd_transfer transfer, int32_t priority,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* may be NULL */
    void *SDD_NULLABLE user_data;
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
                                     /* called once, when the downloader has ended */
    int32_t (*SDD_NULLABLE can_load)(const char *SDD_NONNULL url, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
                                     /* 1: this transport fetches it; 0: the next one is asked. Borrowed for the call;
                                        must not block. NULL: all URLs of the scheme */
} sdd_transport;

#define SDD_TRANSPORT_INIT \
    { sizeof(sdd_transport), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Gives a downloader another transport. Of those that are for a URL's scheme, or for "*", the last one added is asked
 * first. Where none takes the URL, the library fetches it; a scheme that it does not know ends the request with
 * SDD_ERROR_INVALID_URL and SDD_DETAIL_URL_SCHEME. Redirects of the library's own transport lead to none of these.
 *
 * @param downloader NULL: the shared one.
 * @param transport Copied.
 * @param missing Receives the name of the member that is missing or wrong ("start"), a static string; NULL
 *        if none is. May be NULL.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT, and then user_data_free is not called; SDD_ERROR_UNSUPPORTED;
 *         and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_add_transport(sdd_downloader *SDD_NULLABLE downloader,
                                     const sdd_transport *SDD_NONNULL transport,
                                     const char *SDD_NULLABLE *SDD_NULLABLE missing);

/**
 * The header of a transfer's answer is there. Once, before data; may be left out: then 200, no fields.
 *
 * @param transfer What `start` was given.
 * @param http_status 0 if the scheme has none: then no status is judged.
 * @param headers header_count of them. Copied.
 * @param expected_bytes Size of the body; -1: unknown. With more or fewer bytes than that the request fails, with
 *        SDD_ERROR_PROTOCOL or SDD_ERROR_TRUNCATED_BODY; but for HEAD and status 304, which have none.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the transfer has ended, its downloader was destroyed, or a parent process has
 *         it; SDD_ERROR_INVALID_ARGUMENT for a field that HTTP does not allow, and after data.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transfer_respond(sdd_transfer transfer, int32_t http_status,
                                        const sdd_header *SDD_NULLABLE headers, size_t header_count,
                                        int64_t expected_bytes);

/**
 * More of a transfer's body.
 *
 * @param data Copied.
 * @return As sdd_transfer_respond(); SDD_ERROR_BODY_TOO_LARGE over max_body_bytes or expected_bytes, and the
 *         transfer has ended.
 * Thread: any, one at a time for one transfer. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transfer_write(sdd_transfer transfer, const void *SDD_NULLABLE data, size_t size);

/**
 * A transfer is over.
 *
 * @param error SDD_OK, or one of the 3000s: anything else counts as SDD_ERROR_TRANSPORT.
 * @param message One sentence on the error. Copied. NULL: the status's own.
 * @return As sdd_transfer_respond().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transfer_finish(sdd_transfer transfer, sdd_status error, const char *SDD_NULLABLE message);

/* ------------------------------------------------------------------------ coders of the host's */

/** What a coder is to decode. Borrowed until `open` returns. Since: 0.2.0. */
typedef struct sdd_coder_task {
    size_t struct_size;
    int64_t max_pixels;  /* a picture of more is refused anyway: a coder that checks first saves the memory */
    int32_t wanted_side; /* 0: frames as large as the picture. Else a coder that can do so cheaply may make them
                            smaller, both sides still at least so long: the library does the rest */
    int32_t reserved;
} sdd_coder_task;

/**
 * One picture, or one frame of an animated one, as it is to be shown: composed, where a format keeps differences.
 * All 0 when the library hands it to `next`, but for struct_size. Since: 0.2.0.
 */
typedef struct sdd_coder_frame {
    size_t struct_size;
    const void *SDD_NULLABLE pixels; /* height rows, the top one first */
    size_t stride;          /* bytes from one row to the next, at least width times the bytes of a pixel */
    int32_t width;
    int32_t height;
    int32_t pixel_format;   /* one of SDD_PIXEL_FORMAT_ with 8 bits a channel, not planar */
    int32_t orientation;    /* Exif's, 1 to 8: what the library is to do to the pixels; 0: nothing */
    int32_t picture_width;  /* of a frame that was made smaller: how large the whole is. Both 0: as the frame */
    int32_t picture_height;
    int32_t frame_count;    /* of the picture, the same in each frame; 0 or 1: it is a still one */
    int32_t loop_count;     /* how often the frames are to be shown; 0: for ever */
    int64_t duration_us;    /* how long this one is shown */
} sdd_coder_frame;

/**
 * Takes what `encode` makes, piece by piece.
 *
 * @param context That of the call of `encode`.
 * @param bytes Copied.
 * @return SDD_OK; SDD_ERROR_NO_RESOURCES: there is no memory; SDD_ERROR_INVALID_ARGUMENT.
 */
typedef sdd_status (*sdd_coder_write_fn)(void *SDD_NULLABLE context, const void *SDD_NULLABLE bytes,
                                         size_t size) SDD_NOEXCEPT;

/**
 * A format that the host decodes, and perhaps encodes: what the library does not know, or knows less well.
 *
 * For each body the coders are asked, those of the downloader before those of the process, of each the newest first,
 * and the library's own JPEG and PNG last: the first that takes it decodes it; if nobody does, the first of the format
 * that sdd_decode_options.format_hint names. What it gives is then turned, made smaller and put into the pixel format
 * of each request as any picture.
 *
 * A body goes through `open`, then `feed` until is_last, `next` for the first frame, and `close`. A further frame is
 * read by `next` until it comes, or by all of that once more. After a failure only `close` follows.
 *
 * What `open`, `feed`, `next` and `encode` return is SDD_OK, or what is wrong: SDD_ERROR_BAD_IMAGE_DATA for damage, or
 * one of SDD_DETAIL_IMAGE_ to say it more exactly (SDD_DETAIL_IMAGE_TOO_MANY_PIXELS, _UNSUPPORTED, ...),
 * SDD_ERROR_INCOMPLETE: the body ends too early, SDD_ERROR_UNSUPPORTED, SDD_ERROR_NO_RESOURCES: no memory. Any other
 * number, and a frame that cannot be, ends the request with SDD_ERROR_BAD_IMAGE_DATA and SDD_DETAIL_IMAGE_CODER: every
 * number of a frame is checked before it is used. That its pixels are as many as it says cannot be checked.
 *
 * Thread: decode threads (and who asks for a frame), several at a time; one at a time for one decoder. The functions
 * may take their time, and may add and take back coders. docs/coders.md says how to write one. Since: 0.2.0.
 */
typedef struct sdd_coder {
    size_t struct_size;
    const char *SDD_NULLABLE name;      /* "webp": letters, digits and the like (RFC 9110 section 5.6.2), for messages
                                           and sdd_coder_unregister(). Needed */
    const char *SDD_NULLABLE mime_type; /* "image/webp"; may be NULL */
    int32_t format;                     /* one of SDD_IMAGE_FORMAT_, also _JPEG and _PNG, in place of the library's own;
                                           or any number from SDD_IMAGE_FORMAT_HOST on. Needed */
    int32_t reserved;
    int32_t (*SDD_NULLABLE can_decode)(const void *SDD_NULLABLE bytes, size_t size,
                                       void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* whether it takes a body with these first bytes: 1 yes, 0 no, -1 too few to tell; sdd_image_sniff() may be all
           that is to be asked. Cheap, since it is asked about every body. Needed */
    sdd_status (*SDD_NULLABLE open)(const sdd_coder_task *SDD_NONNULL task, void *SDD_NULLABLE *SDD_NONNULL decoder,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* begins a picture: *decoder receives what the coder keeps of it, anything but NULL. Needed */
    sdd_status (*SDD_NULLABLE feed)(void *SDD_NONNULL decoder, const void *SDD_NULLABLE bytes, size_t size,
                                    int32_t is_last, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* the body, piece after piece. Borrowed for the call; but if the first piece is the last one, it is the whole
           body, and stays until `close`: so it is always in this version. Needed */
    sdd_status (*SDD_NULLABLE next)(void *SDD_NONNULL decoder, sdd_coder_frame *SDD_NONNULL frame,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* the next frame. Its pixels are the coder's, and stay until the next call for this decoder. Also returns
           SDD_ERROR_INCOMPLETE: not before there are more bytes, and SDD_ERROR_NOT_FOUND: there are no more frames.
           Needed */
    void (*SDD_NULLABLE close)(void *SDD_NONNULL decoder, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* once for each decoder that `open` has made. Needed */
    sdd_status (*SDD_NULLABLE encode)(const sdd_coder_frame *SDD_NONNULL picture, int32_t quality,
                                      sdd_coder_write_fn SDD_NONNULL write, void *SDD_NULLABLE context,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* `picture`, SDD_PIXEL_FORMAT_RGBA8 and borrowed for the call, as bytes for `write`; quality 1 to 100. May be
           NULL */
    void *SDD_NULLABLE user_data;
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
        /* called once, on any thread, when the coder has been taken back, or its downloader has ended, and no decoder
           and no animated picture of it is left */
} sdd_coder;

#define SDD_CODER_INIT \
    { sizeof(sdd_coder), NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Gives every downloader of the process a coder, those there are and those to come, and the children of a fork.
 *
 * @param coder Copied.
 * @param missing Receives the name of the member that is missing or wrong ("open"), a static string; NULL if none is.
 *        May be NULL.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT, and then user_data_free is not called; SDD_ERROR_UNSUPPORTED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_coder_register(const sdd_coder *SDD_NONNULL coder,
                                      const char *SDD_NULLABLE *SDD_NULLABLE missing);

/**
 * Takes back what sdd_coder_register() or sdd_coder_load() has given. Pictures that are being decoded by it go on.
 *
 * @param name Of several coders with this name the newest is taken back.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_coder_unregister(const char *SDD_NONNULL name);

/**
 * Gives a downloader a coder, until its end.
 *
 * @param downloader NULL: the shared one.
 * @param coder, missing As for sdd_coder_register().
 * @return As sdd_coder_register(); and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_add_coder(sdd_downloader *SDD_NULLABLE downloader, const sdd_coder *SDD_NONNULL coder,
                                 const char *SDD_NULLABLE *SDD_NULLABLE missing);

/**
 * What the symbol "sdd_coder_main" of a shared object with a coder is.
 *
 * @return A coder that is valid for ever; NULL: there is none, the version of the library or the machine will not do.
 * Thread: the one that calls sdd_coder_load().
 */
typedef const sdd_coder *SDD_NULLABLE (*sdd_coder_main_fn)(void) SDD_NOEXCEPT;

/**
 * Loads a shared object, and gives every downloader of the process the coder in it: dlopen(3) with RTLD_NOW and
 * RTLD_LOCAL, then its sdd_coder_main(). The object stays loaded for ever. WAITS for the disk. Each call registers the
 * coder anew; sdd_coder_unregister() takes it back.
 *
 * @param path As for dlopen(3): with a "/" in it, or it is looked for where libraries are. Whoever can write to that
 *        file runs code in this process.
 * @param message Receives one sentence on an error, cut to capacity, "" on success. May be NULL.
 * @param capacity Bytes there are for it, with its NUL.
 * @return SDD_OK; SDD_ERROR_FILE_NOT_READABLE: no such file, or the system cannot load it; SDD_ERROR_NOT_FOUND: it has
 *         no sdd_coder_main(), or that gave NULL; SDD_ERROR_INVALID_ARGUMENT: path NULL, or a coder with a member
 *         missing or wrong; SDD_ERROR_UNSUPPORTED: a coder of a newer version of this header.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_coder_load(const char *SDD_NONNULL path, char *SDD_NULLABLE message, size_t capacity);

/* ----------------------------------------------------------------------------------- encoding */

/** How much of the colours a JPEG keeps apart from the light: sdd_encode_options.chroma. Since: 0.2.0. */
enum {
    SDD_CHROMA_420 = 0, /* half of them in both directions: for photographs */
    SDD_CHROMA_422 = 1, /* half of them in each row */
    SDD_CHROMA_444 = 2  /* all: for drawings and text */
};

/**
 * What is to be made of an image. All 0: the whole of it, as good as can be. Begin with SDD_ENCODE_OPTIONS_INIT.
 *
 * A PNG keeps every pixel; alpha that was multiplied in is taken out again, and is not stored where nothing is
 * transparent. A JPEG is what libjpeg's defaults make, with tables of 8 bits at any quality. Since: 0.2.0.
 */
typedef struct sdd_encode_options {
    size_t struct_size;
    int32_t format;      /* one of SDD_IMAGE_FORMAT_; 0: PNG if any pixel is transparent or a side is over 65,500, else
                            JPEG. A coder of sdd_coder_register() that encodes it comes first */
    int32_t quality;     /* of a JPEG: libjpeg's, 1 to 100; 0: 100. Of a coder's: what that makes of it */
    int32_t max_width;   /* pixels: a larger picture is made to fit inside, as with SDD_FIT_INSIDE; 0: any */
    int32_t max_height;
    int64_t max_bytes;   /* 0: any number. A JPEG, and what a coder of the host's encodes, gets the highest quality
                            that fits, up to `quality`, found by halving;
                            a PNG is made smaller, by 5 % a side or more each time, until it fits, down to one pixel */
    uint32_t background; /* 0xRRGGBB, what shows through alpha in a JPEG; 0: black */
    int32_t progressive; /* 1: a progressive JPEG */
    int32_t chroma;      /* of a JPEG: one of SDD_CHROMA_ */
    int32_t reserved;    /* 0 */
} sdd_encode_options;

#define SDD_ENCODE_OPTIONS_INIT \
    { sizeof(sdd_encode_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Makes a JPEG or PNG of an image's pixels, or what a coder of the process's encodes: see sdd_coder.
 *
 * WAITS for the work, on the calling thread. But for a few rows the pixels are not copied, unless they are made
 * smaller.
 *
 * @param image Borrowed for the call. Its pixels count, not the bytes it came from.
 * @param options Copied. NULL: the defaults.
 * @param out Receives the bytes, owned by the caller: release with sdd_bytes_release(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_DOES_NOT_FIT: into max_bytes at any quality or size, or a JPEG with a side over 65,500;
 *         SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED: nobody encodes that
 *         format, or its coder would not.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_encode(sdd_image *SDD_NONNULL image, const sdd_encode_options *SDD_NULLABLE options,
                                    sdd_bytes *SDD_NULLABLE *SDD_NONNULL out);

/**
 * As sdd_image_encode(), to a file descriptor. WAITS for the work and for the writes, on the calling thread.
 *
 * Nothing is written before all is encoded. A pipe that nobody reads any more gives an error, and no SIGPIPE.
 *
 * @param fd Written to from where it stands, and left open.
 * @param system_error Receives the errno of SDD_ERROR_SINK, else 0. May be NULL.
 * @return As sdd_image_encode(); SDD_ERROR_SINK: not all could be written, but a part may be; a non-blocking
 *         descriptor that is full is one of those.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_encode_fd(sdd_image *SDD_NONNULL image, const sdd_encode_options *SDD_NULLABLE options,
                                       int32_t fd, int32_t *SDD_NULLABLE system_error);

/* --------------------------------------------------------------------------------- transforms */

/**
 * Makes an image of the caller's own pixels: for a transform to return, or to encode.
 *
 * @param width, height At least 1.
 * @param pixel_format One of SDD_PIXEL_FORMAT_.
 * @param pixels Copied: height rows, the top one first; of SDD_PIXEL_FORMAT_RGB8_PLANAR as many of each plane.
 * @param stride Bytes from the start of one row to the start of the next; 0: rows without anything between them.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(); NULL on an error. It has no
 *        encoded bytes: its sdd_image_format() is 0, its sdd_image_bytes() NULL.
 * @return SDD_OK; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT, also for a stride that is too short.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_create(int32_t width, int32_t height, int32_t pixel_format,
                                    const void *SDD_NONNULL pixels, size_t stride,
                                    sdd_image *SDD_NULLABLE *SDD_NONNULL out);

/** Kinds of sdd_transform, with their keys: see sdd_transform_key(). Since: 0.2.0. */
enum {
    SDD_TRANSFORM_RESIZE = 1,       /* width, height, fit as in sdd_decode_options: made smaller, never larger.
                                       "resize(100,80,fill)"; "inside", "stretch" */
    SDD_TRANSFORM_CROP = 2,         /* the part of the picture within x, y, width, height. "crop(10,0,64,64)" */
    SDD_TRANSFORM_FLIP = 3,         /* flip: SDD_FLIP_ bits. "flip(horizontal)"; "vertical", "both" */
    SDD_TRANSFORM_ROTATE = 4,       /* degrees: 90, 180 or 270, clockwise. "rotate(90)" */
    SDD_TRANSFORM_ROUND_CORNERS = 5, /* radius, corners: what is outside of quarter circles becomes transparent, with
                                       soft edges. "round(8,15)": the radius and the bits of the corners */
    SDD_TRANSFORM_CALLBACK = 6      /* what `callback` makes of it. Its key is `key` */
};

/** Bits of sdd_transform.flip. Since: 0.2.0. */
enum {
    SDD_FLIP_HORIZONTAL = 1 << 0, /* left and right change places */
    SDD_FLIP_VERTICAL = 1 << 1    /* top and bottom do */
};

/** Bits of sdd_transform.corners. Since: 0.2.0. */
enum {
    SDD_CORNER_TOP_LEFT = 1 << 0,
    SDD_CORNER_TOP_RIGHT = 1 << 1,
    SDD_CORNER_BOTTOM_LEFT = 1 << 2,
    SDD_CORNER_BOTTOM_RIGHT = 1 << 3
};

/**
 * A transform of the host's.
 *
 * @param image Borrowed until the callback returns: what the transforms before it have made. It has pixels, but
 *        no encoded bytes.
 * @return An image with one reference, which the library takes over: from sdd_image_create(), or `image` itself
 *         after sdd_image_retain(). NULL: it failed.
 * Thread: that which transforms.
 */
typedef sdd_image *SDD_NULLABLE (*sdd_transform_fn)(sdd_image *SDD_NONNULL image,
                                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * One thing to be done to an image. `kind` says which of the fields count; the others are not looked at. Begin with
 * SDD_TRANSFORM_INIT. Since: 0.2.0.
 */
typedef struct sdd_transform {
    size_t struct_size;
    int32_t kind;    /* one of SDD_TRANSFORM_. Needed */
    int32_t fit;     /* of a resize: one of SDD_FIT_ */
    int32_t x;       /* of a crop: pixels from the left and from the top; may be outside */
    int32_t y;
    int32_t width;   /* of a resize: pixels, 0: any, but not both; of a crop: at least 1 */
    int32_t height;
    int32_t flip;    /* of a flip: SDD_FLIP_, at least one */
    int32_t degrees; /* of a rotation */
    int32_t radius;  /* of round corners: pixels; more than half the shorter side counts as that half */
    int32_t corners; /* of round corners: SDD_CORNER_; 0: all four */
    const char *SDD_NULLABLE key;          /* of a callback: not empty, without control characters, and never the
                                              same for two that do different things. Needed */
    sdd_transform_fn SDD_NULLABLE callback; /* of a callback. Needed */
    void *SDD_NULLABLE user_data;          /* the callback's */
} sdd_transform;

#define SDD_TRANSFORM_INIT \
    { sizeof(sdd_transform), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/**
 * Makes another image of an image: each transform of what the one before has made.
 *
 * WAITS for the work, on the calling thread. Images are never changed: where nothing is to be done, `out` is
 * `image` with one more reference. What is made keeps sdd_image_format() and the pixel format (but round corners
 * of one without alpha give RGBA8), and has no sdd_image_bytes().
 *
 * @param image Borrowed for the call.
 * @param list count records in a row, copied. The struct_size of the FIRST gives the size of each. May be NULL if
 *        count is 0.
 * @param count At most 256.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_DOES_NOT_FIT: a crop that has nothing of the picture; SDD_ERROR_BAD_IMAGE_DATA: a callback
 *         returned NULL; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_transform(sdd_image *SDD_NONNULL image, const sdd_transform *SDD_NULLABLE list,
                                       size_t count, sdd_image *SDD_NULLABLE *SDD_NONNULL out);

/**
 * A text that tells transforms from all others: for names of what they have made. The keys of SDD_TRANSFORM_, joined
 * by "-": "resize(100,80,fill)-rotate(90)"; "" for none. It will be the same in every version.
 *
 * @param list, count As for sdd_image_transform().
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transform_key(const sdd_transform *SDD_NULLABLE list, size_t count, char *SDD_NULLABLE buffer,
                                     size_t capacity, size_t *SDD_NULLABLE length);

/* ------------------------------------------------------------------------------------- caches */

/*
 * A cache keeps pictures in memory, ready to be shown, and their encoded bytes on disk. Each has one directory, which
 * any number of processes may share, and which is good again after any of them was killed at any moment. NULL stands
 * for the shared cache, made on first use with the defaults.
 *
 * KEYS. An entry has a key, any text of 1 to 65,536 bytes of UTF-8. That of a URL is its absolute text without user and
 * password, or what the cache's filter makes of it; that of a smaller or other form of it says so: sdd_cache_key()
 * gives all of them. The filter is asked by that call and by the HTTP cache; every other call takes a key as it is given.
 * A file's name is the MD5 of the key, and the extension of the URL's path, with letters and digits that are escaped
 * there put in, whatever the bytes are.
 *
 * FILES. An entry is one file: the encoded bytes, so that viewers open it, and behind them what the cache knows of
 * it. New directories have mode 0700, files 0600. What is damaged, cut, of another key or of another version is a miss,
 * never an error.
 *
 * WHO ASKS. What was sent to one caller is not for another. Requests and loads that say who they are have entries of
 * their own, under keys that sdd_cache_key() does not give: by the headers Authorization, Cookie and
 * Proxy-Authorization, a credential, user and password of the URL, cookies of the downloader that go to its host, the
 * user and password of sdd_downloader_config.proxy, and unverified certificates. What else a response depends on its
 * server names by Vary (RFC 9110 section 12.5.5); who differs in that does not find it. What comes although cookies
 * were sent that the downloader did not have when the request was made is not kept. No file has such a secret in it:
 * marks stand for them, made with 32 random bytes in the file `key` of the directory, mode 0600.
 *
 * Calls with NULL give SDD_ERROR_NO_RESOURCES where the shared cache cannot be made. A level that a cache does not have
 * is passed over.
 *
 * THE HTTP CACHE is that of a downloader whose config says so, or of a request with SDD_OPTION_USE_HTTP_CACHE: GET
 * requests are answered from the disk of the downloader's cache, and their responses kept there, by the rules of a
 * private cache: RFC 9111, RFC 5861 (stale-while-revalidate, stale-if-error), RFC 8246 (immutable). The entry is the
 * same as that of the picture cache: bytes are on disk once. What a fresh response answers needs no place in the queue,
 * and no network. If several processes want a URL at once, one downloads it, and the others wait for it.
 * A request with a Range or a condition of its own (If-None-Match, If-Modified-Since and the like) goes past it. Set
 * Cache-Control in a request's headers for less or more than the rules say: "no-cache", "no-store", "max-stale=3600",
 * "only-if-cached" (SDD_ERROR_NOT_CACHED if there is nothing). sdd_result.origin tells what happened.
 */

/** Levels of a cache. Since: 0.2.0. */
enum {
    SDD_CACHE_DEFAULT = 0, /* both */
    SDD_CACHE_MEMORY = 1,
    SDD_CACHE_DISK = 2,
    SDD_CACHE_ALL = 3,
    SDD_CACHE_NONE = -1 /* of a load: neither */
};

/** What is written through to the medium, and when: sdd_cache_config.sync. Since: 0.2.0. */
enum {
    SDD_SYNC_NONE = 0, /* as the system sees fit. A killed process loses nothing whole; a power cut may, and what it
                          has torn is a miss */
    SDD_SYNC_DATA = 1, /* an entry's bytes, before the entry appears: fdatasync(2) */
    SDD_SYNC_FULL = 2  /* and the directory, after it */
};

/** Which date of an entry counts, for its age and for what goes first: sdd_cache_config.disk_date. Since: 0.2.0. */
enum {
    SDD_DATE_ACCESS = 0,      /* when it was last used: the file's access time, set by the library itself */
    SDD_DATE_MODIFICATION = 1 /* when it was stored: the file's modification time */
};

/**
 * Makes the key of a URL.
 *
 * @param url Absolute. Borrowed until the callback returns.
 * @param user_data The config's.
 * @return Bytes with one reference, which the library takes over, from sdd_bytes_create(): 1 to 65,536 of UTF-8. NULL,
 *         and what is no such text: the URL itself.
 * Thread: any that submits a request or calls sdd_cache_key(); several at a time. It must not call the library, but for
 *         sdd_bytes_create().
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_cache_key_fn)(const char *SDD_NONNULL url,
                                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Makes the bytes that go to disk of what is stored.
 *
 * @param image NULL if the item has none. Borrowed until the callback returns.
 * @param bytes NULL if the item has none. Borrowed likewise; may be retained and returned.
 * @param key The entry's.
 * @param user_data The config's.
 * @return Bytes with one reference, which the library takes over; NULL: nothing goes to disk, and what was there of the
 *         key is removed.
 * Thread: sdd-disk, one at a time. It may take its time, and call any sdd_ function that does not wait for this cache.
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_cache_serializer_fn)(sdd_image *SDD_NULLABLE image,
                                                           sdd_bytes *SDD_NULLABLE bytes, const char *SDD_NONNULL key,
                                                           void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** sdd_cache_config.max_disk_age_ms of a cache whose entries are all too old. Since: 0.2.0. */
#define SDD_AGE_NOTHING ((int64_t)-2)

/**
 * How a cache is to be. Begin with SDD_CACHE_CONFIG_INIT. 0 or NULL in a field is its default.
 * Since: 0.2.0.
 */
typedef struct sdd_cache_config {
    size_t struct_size;
    const char *SDD_NULLABLE name;      /* a directory's name, without "/": $XDG_CACHE_HOME/sdd/NAME, or
                                           $HOME/.cache/sdd/NAME; default "default". The environment is read once, when
                                           the cache is created */
    const char *SDD_NULLABLE directory; /* this very directory, in place of that; made if it is not there */
    const char *SDD_NULLABLE const *SDD_NULLABLE read_only_directories; /* read_only_count of them, of caches: asked in
                                           this order for what `directory` does not have, and never changed */
    size_t read_only_count;
    int32_t levels;                     /* one of SDD_CACHE_ */
    int32_t no_live_images;             /* 1: a picture that is not kept any more is not found again, though the host
                                           still holds it; default 0: it is */
    int64_t max_memory_cost;            /* bytes that all pictures in memory hold together: pixels, also those that are
                                           still to be decoded; encoded bytes, sdd_image_bytes(), or what pixels and frames
                                           are still to be made of; frames decoded with the picture or kept by
                                           sdd_image_frame(); metadata that has been asked for. What is kept later counts
                                           from then on, and may drive others out. Beside it, while requests are under way,
                                           up to 36 MiB are kept at hand for the next bodies and pixels. Default: an eighth of the machine's memory, or of the cgroup's limit if that is less,
                                           within 16 MiB and 512 MiB; -1: no limit */
    int64_t max_memory_count;           /* pictures; default, and -1: no limit */
    int32_t watch_memory_pressure;      /* 1: what sdd_cache_trim_memory() does is done when the kernel tells of memory
                                           pressure (PSI, Linux 4.20); on a system without it nothing is */
    int32_t sync;                       /* one of SDD_SYNC_ */
    int64_t max_disk_bytes;             /* of all files, as allocated; default 512 MiB; -1: no limit */
    int64_t max_disk_age_ms;            /* entries older than that are misses; default 7 days; -1: none ever is;
                                           SDD_AGE_NOTHING: all are */
    int32_t disk_date;                  /* one of SDD_DATE_ */
    int32_t low_water_percent;          /* over max_disk_bytes the oldest entries go until no more than so much of it is
                                           left; 1 to 100; default 50 */
    int64_t trim_interval_ms;           /* old entries are looked for when the cache is created and destroyed, and then
                                           about so often, by one process of all that share the directory; default 10
                                           minutes; -1: only when max_disk_bytes is exceeded */
    int64_t map_from_bytes;             /* encoded bytes of entries so large or larger are mapped, mmap(2), not read:
                                           nobody may cut the files meanwhile; default: none are */
    int64_t share_wait_ms;              /* longest wait for another process that downloads the same; default 30000; -1:
                                           no process waits for, or looks for, another */
    int64_t max_part_bytes;             /* of bodies kept for SDD_OPTION_RESUME; default 256 MiB; -1: no limit */
    int64_t max_part_age_ms;            /* default 1 day; -1: no limit */
    const char *SDD_NULLABLE ignored_query_parameters; /* "token,Expires,X-Amz-*": names, or beginnings of them, of what
                                           is cut out of a URL's query when its key is made; the fragment is cut off */
    sdd_cache_key_fn SDD_NULLABLE key_filter;           /* asked after that */
    sdd_cache_serializer_fn SDD_NULLABLE serializer;    /* asked whenever something is stored by sdd_cache_put_async(),
                                                           sdd_cache_put() or a load, originals and what is made of them
                                                           alike */
    void *SDD_NULLABLE user_data;                       /* of both */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* called once, on any thread, when
                                           user_data is of no use any more; never if sdd_cache_create() failed */
    int64_t max_queued_bytes;           /* bytes that entries may hold in memory until they are written. Over it the
                                           oldest that nobody waits for are not written, and counted in
                                           writes_dropped; sdd_cache_put(), sdd_cache_put_async(), sdd_cache_flush() and
                                           SDD_OPTION_WAIT_STORE_CACHE wait. Default 128 MiB; -1: no limit */
    int64_t destroy_timeout_ms;         /* longest time that sdd_cache_destroy() writes; what is left then is dropped,
                                           and counted likewise. Default 10000; -1: no limit */
} sdd_cache_config;

#define SDD_CACHE_CONFIG_INIT \
    { sizeof(sdd_cache_config), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, \
      NULL, NULL, 0, 0 }

/**
 * Opens a cache, and starts its threads, sdd-disk. WAITS for the directory to be made and opened. Its entries are not
 * looked at: where the file with their sums is missing, a thread of the cache counts them beside all else.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_cache_destroy(); NULL on an error.
 * @param detail Receives one of SDD_DETAIL_CACHE_, 0 for anything else. May be NULL.
 * @return SDD_OK; SDD_ERROR_CACHE: the directory cannot be used; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED;
 *         SDD_ERROR_NO_RESOURCES: no thread.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_create(const sdd_cache_config *SDD_NULLABLE config,
                                    sdd_cache *SDD_NULLABLE *SDD_NONNULL out, int32_t *SDD_NULLABLE detail);

/**
 * Writes what has been stored, trims, ends the threads. WAITS for that, for destroy_timeout_ms of the config and not much
 * longer: a thread that a disk keeps waiting in a call to the system ends later, by itself. Requests that use the cache
 * find nothing any more; images and bytes live on by their own references.
 *
 * @param cache Dead from now on. NULL and the shared cache are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_FORKED;
 *         SDD_ERROR_WOULD_DEADLOCK in its serializer.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_destroy(sdd_cache *SDD_NULLABLE cache);

/**
 * The shared cache, which NULL stands for in every call: defaults throughout; memory alone where its directory cannot be
 * used, which sdd_cache_statistics.last_error then tells. It cannot be destroyed.
 *
 * @return Its handle; NULL if it cannot be made (no thread), and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.2.0.
 */
SDD_API sdd_cache *SDD_NULLABLE sdd_cache_shared(void);

/**
 * What is to be stored. Begin with SDD_CACHE_ITEM_INIT. Since: 0.2.0.
 *
 * To memory goes the image; without one, what memory has of the key goes. To disk go the bytes; without them those the
 * image was decoded from, if it is as large as they have it; else it is encoded, in its own format if that is one of
 * those that can be, else as a PNG if any pixel is transparent, else as a JPEG, of an animated one the still picture;
 * the quality is sdd_image_encode()'s.
 */
typedef struct sdd_cache_item {
    size_t struct_size;
    const char *SDD_NULLABLE key;       /* copied. Needed */
    sdd_image *SDD_NULLABLE image;      /* retained. NULL: nothing goes to memory */
    sdd_bytes *SDD_NULLABLE bytes;      /* retained, not looked at */
    sdd_bytes *SDD_NULLABLE extended;   /* the host's own, kept beside the entry on disk: sdd_result.extended */
    int32_t levels;                     /* one of SDD_CACHE_ */
    int32_t reserved;                   /* 0 */
    sdd_completed_fn SDD_NULLABLE completed; /* of sdd_cache_put_async(): when it is on disk, or could not be. May be NULL */
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_cache_item;

#define SDD_CACHE_ITEM_INIT \
    { sizeof(sdd_cache_item), NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL }

/**
 * Stores: in memory at once, on disk soon. Found by queries of this cache from now on, on disk too.
 *
 * @param downloader Where the terminal event is delivered. NULL: the shared one.
 * @param cache NULL: the shared one.
 * @param item Copied.
 * @param status Receives why 0 was returned. May be NULL.
 * @return The token of a request that ends when the entry is on disk, or with SDD_ERROR_CACHE; the result's url is the
 *         key, its origin 0. Cancelling it does not take back what is stored. 0: nothing was stored, and nothing will
 *         be called.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_cache_put_async(sdd_cache *SDD_NULLABLE cache, sdd_downloader *SDD_NULLABLE downloader,
                                  const sdd_cache_item *SDD_NONNULL item, sdd_status *SDD_NULLABLE status);

/**
 * Stores, and WAITS until it is on disk.
 *
 * @param detail Receives one of SDD_DETAIL_CACHE_, 0 for anything else. May be NULL.
 * @return SDD_OK; SDD_ERROR_CACHE, and what goes to memory is there all the same; SDD_ERROR_INVALID_ARGUMENT;
 *         SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. `completed`, `user_data` and `user_data_free` are not looked at. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_put(sdd_cache *SDD_NULLABLE cache, const sdd_cache_item *SDD_NONNULL item,
                                 int32_t *SDD_NULLABLE detail);

/** What is wanted of an entry: sdd_query.wants. Since: 0.2.0. */
enum {
    SDD_WANT_IMAGE = 1,
    SDD_WANT_BYTES = 2, /* the encoded bytes, and `extended`: from the disk, also where the image is in memory */
    SDD_WANT_BOTH = 3
};

/** What is looked for. Begin with SDD_QUERY_INIT. Since: 0.2.0. */
typedef struct sdd_query {
    size_t struct_size;
    const char *SDD_NULLABLE key;      /* of the original: that of its URL. Copied. Needed */
    int32_t levels;                    /* one of SDD_CACHE_ */
    int32_t wants;                     /* one of SDD_WANT_; 0: the image */
    const sdd_decode_options *SDD_NULLABLE decode; /* how the image is to be: one of another form is none. The form's
                                          own entry is looked for, in memory and on disk, then the original on disk,
                                          of which it is made, and kept in memory; with `pixels` or an allocator only
                                          the original, and it is not kept. NULL: the downloader's, see
                                          sdd_downloader_set_decode_options(); for sdd_cache_query() RGBA8, as large as it is */
    uint64_t options;                  /* SDD_OPTION_ bits of queries, as for a request */
    sdd_completed_fn SDD_NULLABLE completed; /* may be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain() */
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_query;

#define SDD_QUERY_INIT \
    { sizeof(sdd_query), NULL, 0, 0, NULL, 0, NULL, NULL, NULL }

/**
 * Looks for an entry: a request like those of sdd_downloader_submit() that never goes to the network. Queries for the same
 * share the reading and the decoding.
 *
 * @param downloader Whose decode threads are used, by its limits, and where the event is delivered. NULL: the shared one.
 * @param cache NULL: the shared one.
 * @param query Copied.
 * @param status Receives why 0 was returned. May be NULL.
 * @return A token, for sdd_cancel() and the like. The request ends with SDD_OK, and origin SDD_ORIGIN_MEMORY or _DISK,
 *         which is that of the image, if one is wanted; with SDD_ERROR_NOT_CACHED on a miss; with
 *         SDD_ERROR_BAD_IMAGE_DATA where the entry is no picture. The result's url is the key; its bytes are also there
 *         for an image that was decoded of them. 0: nothing will be called; also for option bits that are not for a
 *         query (SDD_ERROR_INVALID_ARGUMENT), or that this version does not know (SDD_ERROR_UNSUPPORTED).
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_cache_query_async(sdd_cache *SDD_NULLABLE cache, sdd_downloader *SDD_NULLABLE downloader,
                                        const sdd_query *SDD_NONNULL query, sdd_status *SDD_NULLABLE status);

/**
 * Looks for an entry, and WAITS: reads and decodes on the calling thread.
 *
 * @param query Its completed, user_data and user_data_free are not looked at.
 * @param image Receives it, owned by the caller: release with sdd_image_release(); NULL if there is none, or it is not
 *        wanted. May be NULL.
 * @param bytes, extended Receive them, owned by the caller: release with sdd_bytes_release(); NULL if there are none. May
 *        be NULL.
 * @param origin Receives one of SDD_ORIGIN_. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_BAD_IMAGE_DATA; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED;
 *         SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_query(sdd_cache *SDD_NULLABLE cache, const sdd_query *SDD_NONNULL query,
                                 sdd_image *SDD_NULLABLE *SDD_NULLABLE image,
                                 sdd_bytes *SDD_NULLABLE *SDD_NULLABLE bytes,
                                 sdd_bytes *SDD_NULLABLE *SDD_NULLABLE extended, int32_t *SDD_NULLABLE origin);

/**
 * The picture that memory has of a key, or the host still holds. Never waits, and allocates nothing.
 *
 * @param key That of the form that is wanted: sdd_cache_key().
 * @return Owned by the caller: release with sdd_image_release(). NULL: there is none, or the handle is dead.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_cache_memory_image(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key);

/**
 * Which of the levels have an entry of this very key: SDD_CACHE_ bits; 0 for none, and for what is no key, no level or
 * a dead handle. WAITS for the disk.
 *
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_cache_contains(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key, int32_t levels);

/**
 * Removes the entry of a key: no query of this cache finds it any more, unless a read-only directory has it, too. With
 * the disk among the levels it WAITS until the file is gone, which is done in front of all that waits to be written;
 * not in the cache's serializer, where the file goes soon after. What was made of it under keys of its own stays.
 *
 * @param levels One of SDD_CACHE_.
 * @return SDD_OK, also if there was none; SDD_ERROR_CACHE: the file could not be removed, for the reason that
 *         sdd_cache_statistics.last_error tells: this cache does not find it all the same, but other processes do, and
 *         this one after it has been opened again; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_remove(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key, int32_t levels);

/**
 * Removes all entries, likewise, after what was asked for before. Who reads one at that moment, in this process or
 * another, reads it to its end. Where some cannot be removed, the others are, and those that are left are found again.
 *
 * Files that are none of a cache's stay where they are. Otherwise as sdd_cache_remove(). Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_clear(sdd_cache *SDD_NULLABLE cache, int32_t levels);

/**
 * WAITS until what was stored, removed and cleared before is done on disk.
 *
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT; SDD_ERROR_WOULD_DEADLOCK in the cache's serializer; SDD_ERROR_CLOSED;
 *         SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_flush(sdd_cache *SDD_NULLABLE cache, int64_t timeout_ms);

/**
 * The key of a URL, or of a smaller or other form of it. The same in every version.
 *
 * "https://host/name-Thumbnail({200.000000,100.000000},1).jpg" is that of https://host/name.jpg made to fit into so many
 * pixels, as SDWebImage has it, with 0 for SDD_FIT_STRETCH; "name-flip(vertical)-rotate(90).jpg" has been transformed,
 * see sdd_transform_key(). What else changes pixels is told as in "name-Form({fill,format=3}).jpg". Query and fragment
 * stay behind it; without an extension it stands at the end. Braces of the URL are escaped.
 *
 * @param cache Whose filter is asked. NULL: the shared one.
 * @param url Absolute, or any other key: what cannot be a URL is taken as it is.
 * @param decode, transforms, transform_count What is made of it. NULL, 0: the original. Not with `pixels`.
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED;
 *         SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_key(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL url,
                                 const sdd_decode_options *SDD_NULLABLE decode,
                                 const sdd_transform *SDD_NULLABLE transforms, size_t transform_count,
                                 char *SDD_NULLABLE buffer, size_t capacity, size_t *SDD_NULLABLE length);

/**
 * Where the file of a key is, or would be.
 *
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_NOT_FOUND: the cache has no disk; SDD_ERROR_INVALID_ARGUMENT;
 *         SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_path(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                  char *SDD_NULLABLE buffer, size_t capacity, size_t *SDD_NULLABLE length);

/**
 * Opens the file of a key, to be read, mapped or handed on without a copy. WAITS for the disk, and for the check of the
 * whole entry.
 *
 * @param fd Receives a descriptor, O_RDONLY, O_CLOEXEC: the caller's, to be closed. -1 on an error. It stays good when
 *        the entry is removed or replaced.
 * @param size Receives how many bytes from the file's start on are the encoded picture: what follows is the cache's.
 * @return SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_open(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                  int32_t *SDD_NONNULL fd, int64_t *SDD_NONNULL size);

/** How much of the memory level goes: sdd_cache_trim_memory(). Since: 0.2.0. */
enum {
    SDD_TRIM_HALF = 1, /* the half that was used longest ago */
    SDD_TRIM_ALL = 2   /* all of it; what the host holds is still found */
};

/**
 * Lets go of pictures in memory.
 *
 * @param level One of SDD_TRIM_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_trim_memory(sdd_cache *SDD_NULLABLE cache, int32_t level);

/**
 * Removes entries that are too old or too many from the disk, and WAITS for it. Leaves it to another process, if one is
 * just at it.
 *
 * @return SDD_OK; SDD_ERROR_CACHE: the directory could not be read, or something could not be removed; SDD_ERROR_CLOSED;
 *         SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_trim_disk(sdd_cache *SDD_NULLABLE cache);

/**
 * Changes the limits of the memory level. They hold at once.
 *
 * Both limits are replaced by each call.
 * @param max_cost Bytes, as max_memory_cost of sdd_cache_config; 0: its default for this machine; -1: no limit.
 * @param max_count Pictures, as max_memory_count of sdd_cache_config; 0 or -1: no limit.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_set_memory_limits(sdd_cache *SDD_NULLABLE cache, int64_t max_cost, int64_t max_count);

/**
 * Changes the limits of the disk level. They hold from now on; a trim follows.
 *
 * @param max_bytes, max_age_ms As in sdd_cache_config; 0: the default.
 * @return As sdd_cache_set_memory_limits().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_set_disk_limits(sdd_cache *SDD_NULLABLE cache, int64_t max_bytes, int64_t max_age_ms);

/** What a cache has done since it was created, and what there is of it. Filled by the library. Since: 0.2.0. */
typedef struct sdd_cache_statistics {
    size_t struct_size;
    int64_t memory_hits;
    int64_t memory_misses;
    int64_t disk_hits;
    int64_t disk_misses;
    int64_t disk_read_bytes;     /* of entries' bodies */
    int64_t disk_written_bytes;
    int64_t entries_written;
    int64_t entries_damaged;     /* found damaged, and removed */
    int64_t errors;              /* calls to the system that failed; that there is no such file is none */
    int64_t trims;               /* by this process */
    int64_t entries_trimmed;
    int64_t trimmed_bytes;
    int64_t memory_evictions;
    int64_t http_fresh;          /* requests answered by SDD_ORIGIN_HTTP_FRESH, */
    int64_t http_revalidated;    /* by _HTTP_REVALIDATED, */
    int64_t http_stale;          /* by _HTTP_STALE, */
    int64_t http_misses;         /* and those that went to the network with nothing */
    int64_t shared_downloads;    /* waits for another process's download that came to something */
    int64_t resumed_downloads;
    int64_t resumed_bytes;
    int64_t memory_cost;         /* now, see sdd_cache_config.max_memory_cost */
    int64_t memory_count;
    int64_t max_memory_cost;     /* the limit; -1: none */
    int64_t disk_bytes;          /* now, of all processes: allocated */
    int64_t disk_count;
    int32_t last_error;          /* the last one's errno; 0: none */
    int32_t reserved;
    int64_t writes_dropped;      /* entries that were not written, for max_queued_bytes or destroy_timeout_ms */
    int64_t queued_bytes;        /* now: what entries hold that wait to be written */
} sdd_cache_statistics;

#define SDD_CACHE_STATISTICS_INIT \
    { sizeof(sdd_cache_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0 }

/**
 * Tells what a cache has done, and how much there is in it. WAITS for the disk, which has a file with the sums; where
 * that is missing, until the entries have been counted.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_get_statistics(sdd_cache *SDD_NULLABLE cache,
                                            sdd_cache_statistics *SDD_NONNULL statistics);

/**
 * Whether the HTTP cache of a downloader is all there is: requests that use it are then answered by what it has, however
 * stale, and end with SDD_ERROR_NOT_CACHED if that is nothing. Other requests go to the network as ever.
 *
 * @param downloader NULL: the shared one.
 * @param is_offline 1 or 0; 0 at first.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_offline(sdd_downloader *SDD_NULLABLE downloader, int32_t is_offline);

/* -------------------------------------------------------------------------------------- loads */

/*
 * A load asks a cache, goes to the network only for what that does not have, decodes to size, transforms, stores, and ends
 * once. It is what most programs want:
 *
 *     sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *
 * A loader joins a downloader and a cache. NULL stands for the shared loader, over the shared downloader and the shared
 * cache. The stages, each shared by all loads that want the same of it:
 *
 *   1. A URL that has failed lately ends with SDD_ERROR_BLOCKED: see "FAILED URLS" below.
 *   2. The cache: memory, the disk, the original on disk, of which it is made. sdd_result.origin is then _MEMORY or _DISK.
 *   3. should_download. If nothing may be fetched: SDD_ERROR_NOT_CACHED.
 *   4. The download, of two attempts where that helps (sdd_downloader_config.max_attempts), then of alternative URLs. Of
 *      several processes that load a URL into one directory one downloads it; the others wait (share_wait_ms), and find it.
 *   5. Decoding to the size and form that is wanted, and transforms, on decode threads.
 *   6. What came goes to the cache: the original's bytes, and what was made of them. What is made of an original that the
 *      cache had is stored by the same rules.
 *
 * What the cache has is good for as long as the cache keeps it (max_disk_age_ms), whatever HTTP says, as in SDWebImage. With
 * SDD_OPTION_USE_HTTP_CACHE, or http_cache of the downloader, HTTP's rules count instead: stage 2 is left to the HTTP
 * cache, which keeps encoded bytes alone. SDD_OPTION_REFRESH_CACHED shows what there is, and asks the server meanwhile.
 *
 * One token stands for all stages. It is one of the loader's downloader: sdd_cancel(), sdd_set_priority(),
 * sdd_token_get_info() and the like take it there, and events are delivered there. (Between two stages, while the host is
 * being asked or something is being stored, there is no request to be told of: SDD_ERROR_NOT_FOUND.) What a load of another
 * form, or with another token, wants is never touched by them. Requests that say who they are have
 * entries of their own in the cache: see "WHO ASKS" there.
 *
 * BYTES. A picture as it is stored has its encoded bytes, in sdd_result.bytes and sdd_image_bytes(), wherever it comes from:
 * the network, memory or the disk. One that is made to a size, or with transforms, has none, and no metadata, wherever it
 * comes from; only with SDD_OPTION_QUERY_MEMORY_DATA are sdd_result.bytes what the cache has on disk of it, if it has it. What
 * the picture is made of is had by a load without size and transforms, or of SDD_OPTION_BYTES_ONLY.
 *
 * FAILED URLS. A loader remembers up to 4096 URLs that have failed for a reason that will last: the status, the picture, the
 * address, not the connection. They are blocked for 1 second, and each time they fail again for twice as long, up to 5
 * minutes; with status 404 and 410 from 1 minute to 1 hour; where the server says Retry-After, for as long (RFC 9110
 * section 10.2.3), at most a day. Any success ends it. A failure is that of the URL for who asked: another caller, or
 * one with other headers where the response's Vary names them, is let through. So is who accepts the status that came,
 * or reads pictures in another way. What only this load did not take is not remembered: integrity, expected_bytes,
 * accepted_content_types, and accepted_status_codes that leave out a success (200 to 299).
 */

/** One URL of a load that came to nothing: sdd_result.sources. Since: 0.2.0. */
typedef struct sdd_source_error {
    size_t struct_size;               /* from one record to the next */
    const char *SDD_NULLABLE url;     /* NULL if that was NULL or unreadable */
    sdd_status error;
    int32_t detail;                   /* one of SDD_DETAIL_ */
    int32_t http_status;              /* 0 if there was no response */
    int32_t retryable;                /* as in sdd_result */
    const char *SDD_NONNULL message;
} sdd_source_error;

/**
 * A picture that is wanted of a loader. Begin with SDD_LOAD_REQUEST_INIT, set `url` and
 * `completed`. Everything in it is copied by sdd_loader_submit(). Since: 0.2.0.
 */
typedef struct sdd_load_request {
    size_t struct_size;
    const char *SDD_NULLABLE url;           /* as for sdd_download(); also "data:" (RFC 2397) */
    uint64_t options;                       /* SDD_OPTION_ bits */
    sdd_progress_fn SDD_NULLABLE progress;  /* of the download; not called for what the cache has. Begins anew, with
                                               (0, -1), with each attempt and each alternative */
    sdd_completed_fn SDD_NULLABLE completed; /* may be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain() */
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    const sdd_decode_options *SDD_NULLABLE decode; /* NULL: the downloader's, see sdd_downloader_set_decode_options(). With `pixels`
                                               or an allocator the picture itself is neither looked for in the cache nor
                                               stored there, but its original is */
    const sdd_transform *SDD_NULLABLE transforms; /* transform_count of them, as for sdd_image_transform(); their user_data
                                               must stay good until the load has ended. What they make has an entry of its
                                               own in the cache, by their keys. Not with `pixels` */
    size_t transform_count;
    const char *SDD_NULLABLE const *SDD_NULLABLE alternatives; /* alternative_count URLs of the same picture, tried in this
                                               order when `url` has failed; the first success wins, and is stored as
                                               `url`. sdd_result.sources tells of the others */
    size_t alternative_count;               /* at most 64 */
    const char *SDD_NULLABLE cache_key;     /* what the picture is called in the cache; NULL: what the cache's filter makes
                                               of `url`, see sdd_cache_key() */
    /* Levels of the cache, each one of SDD_CACHE_: for the picture in the form that is wanted, and for its original, where
       that is another. SDD_CACHE_NONE: not at all. */
    int32_t query;                          /* default SDD_CACHE_ALL */
    int32_t store;                          /* default SDD_CACHE_ALL. To disk goes, of a smaller or transformed picture,
                                               what sdd_cache_item says of an image without bytes */
    int32_t original_query;                 /* default SDD_CACHE_DISK */
    int32_t original_store;                 /* default SDD_CACHE_DISK. In memory the original is as it would be with
                                               SDD_OPTION_AVOID_DECODE_IMAGE, unless somebody wanted it decoded; one of a
                                               format of the application's is there only then */
    int32_t priority;                       /* one of SDD_PRIORITY_; 0: as `options` say */
    int32_t reserved;                       /* 0 */
    int64_t total_timeout_ms;               /* of all stages together, but for waiting for the disk at the end; 0 as the
                                               downloader has it, SDD_NO_TIMEOUT none */
    const sdd_download_request *SDD_NULLABLE download; /* what else the download is to have: its headers, credential, time limits,
                                               modifiers, integrity, max_attempts (0: 2, or the downloader's if that is
                                               more). Its `options` must be 0: those of the load count. Not looked at:
                                               url, method, body, range, priority, sink, total_timeout_ms, decode,
                                               callbacks and user_data. NULL: nothing else */
    sdd_completed_fn SDD_NULLABLE preview;  /* with SDD_OPTION_PROGRESSIVE_LOAD: as
                                               sdd_download_request.preview */
    sdd_facts_fn SDD_NULLABLE facts;
    sdd_completed_fn SDD_NULLABLE cached;   /* with SDD_OPTION_REFRESH_CACHED: called once with what the cache has, before the terminal
                                               callback; sdd_result.finished is 0 */
} sdd_load_request;

#define SDD_LOAD_REQUEST_INIT \
    { sizeof(sdd_load_request), NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, \
      NULL, NULL, NULL }

/** Which failures a loader remembers: sdd_loader_config.fail_policy. Since: 0.2.0. */
enum {
    SDD_FAIL_POLICY_BACK_OFF = 0,   /* those that last, for a time: see "FAILED URLS" above */
    SDD_FAIL_POLICY_SDWEBIMAGE = 1, /* for ever, as SDWebImage 5: SDD_ERROR_INVALID_URL and _BAD_IMAGE_DATA, and of the
                                       3000s all but _RESOLVE, _CONNECT, _TIMEOUT, _CONNECTION_LOST, _TRUNCATED_BODY and
                                       _PROXY */
    SDD_FAIL_POLICY_NONE = 2        /* none */
};

/**
 * Asked whether a URL that the cache does not have may be downloaded.
 *
 * @param url Of the load. Borrowed until the callback returns.
 * @param user_data The loader's.
 * @return 1 to go on; 0: the load ends with SDD_ERROR_NOT_CACHED.
 * Thread: any of the library's, or the submitting one. Be quick; any sdd_ function that does not wait may be called.
 */
typedef int32_t (*sdd_should_download_fn)(const char *SDD_NONNULL url, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Asked whether a URL that has just failed is to be remembered as failed, in place of the loader's fail_policy.
 *
 * @param url The one that failed: of the load, or one of its alternatives. Borrowed until the callback returns.
 * @param error, detail, http_status As in sdd_result.
 * @param user_data The loader's.
 * @return 1 to block it, 0 not to, -1 as the fail_policy says.
 * Thread: as sdd_should_download_fn.
 */
typedef int32_t (*sdd_should_block_fn)(const char *SDD_NONNULL url, sdd_status error, int32_t detail,
                                       int32_t http_status, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Looks at a load before anything else does, and may change it: the options processor of SDWebImage.
 *
 * @param request A copy of what was submitted, of the size that the library knows. What it is made to point to must stay
 *        good until the submitting call has returned. user_data, user_data_free and `completed` stay as they were.
 * @param user_data The loader's.
 * Thread: the submitting one, inside the submitting call.
 */
typedef void (*sdd_options_processor_fn)(sdd_load_request *SDD_NONNULL request,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * How a loader is to be. Begin with SDD_LOADER_CONFIG_INIT. Since: 0.2.0.
 */
typedef struct sdd_loader_config {
    size_t struct_size;
    sdd_downloader *SDD_NULLABLE downloader;  /* NULL: the shared one. To be destroyed after the loader, or before: loads
                                                 then end with SDD_ERROR_CANCELLED */
    sdd_cache *SDD_NULLABLE cache;            /* NULL: the shared one. A destroyed one has nothing, and keeps nothing */
    sdd_cache *SDD_NULLABLE original_cache;   /* for originals of what is wanted in another form; NULL: `cache` */
    int32_t no_cache;                         /* 1: no cache at all */
    int32_t fail_policy;                      /* one of SDD_FAIL_POLICY_ */
    sdd_should_download_fn SDD_NULLABLE should_download;
    sdd_should_block_fn SDD_NULLABLE should_block_failed_url;
    sdd_options_processor_fn SDD_NULLABLE options_processor;
    void *SDD_NULLABLE user_data;             /* of all three */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* called once, on any thread, when
                                                 user_data is of no use any more; never if sdd_loader_create() failed */
} sdd_loader_config;

#define SDD_LOADER_CONFIG_INIT \
    { sizeof(sdd_loader_config), NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }

/**
 * Makes a loader. It has no thread of its own.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_loader_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED or _FORKED: the downloader or a cache
 *         is dead; SDD_ERROR_NO_RESOURCES.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_create(const sdd_loader_config *SDD_NULLABLE config,
                                     sdd_loader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what the loader has under way, and ends it. Its loads end with SDD_ERROR_CANCELLED, where and when its downloader
 * delivers: perhaps after this call has returned.
 *
 * @param loader Dead from now on. NULL and the shared loader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_destroy(sdd_loader *SDD_NULLABLE loader);

/**
 * The shared loader, which NULL stands for in every call: over the shared downloader and the shared cache, or no cache where
 * that cannot be made. It cannot be destroyed.
 *
 * @return Its handle; NULL if it cannot be made, and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.2.0.
 */
SDD_API sdd_loader *SDD_NULLABLE sdd_loader_shared(void);

/**
 * Loads a picture: from the cache, or from the network. Returns at once; `completed` is called exactly once, later.
 *
 * @param loader NULL: the shared one.
 * @param url As for sdd_download().
 * @param options SDD_OPTION_ bits.
 * @param progress, completed, user_data As for sdd_download().
 * @return The token, one of the loader's downloader. 0, and nothing will be called: as for sdd_download().
 * Thread: any; with SDD_OPTION_QUERY_MEMORY_DATA_SYNC and _DISK_DATA_SYNC it WAITS for the disk. Since: 0.2.0.
 */
SDD_API sdd_token sdd_load(sdd_loader *SDD_NULLABLE loader, const char *SDD_NULLABLE url, uint64_t options,
                           sdd_progress_fn SDD_NULLABLE progress, sdd_completed_fn SDD_NULLABLE completed,
                           void *SDD_NULLABLE user_data);

/**
 * Loads a picture with everything a load can have. Otherwise as sdd_load().
 *
 * @param request Copied, with all that it points to.
 * @param status Receives SDD_OK with a token, and with 0 the reason: as for sdd_downloader_submit(), and
 *        SDD_ERROR_INVALID_ARGUMENT for levels, alternatives, transforms or a key that cannot be. May be NULL.
 * @return The token, or 0: then nothing will be called, user_data_free neither.
 * Thread: as sdd_load(). Since: 0.2.0.
 */
SDD_API sdd_token sdd_loader_submit(sdd_loader *SDD_NULLABLE loader, const sdd_load_request *SDD_NONNULL request,
                                   sdd_status *SDD_NULLABLE status);

/**
 * How many loads have not ended; 0 for a dead handle. While that is more than 0, the loader is running.
 *
 * Thread: any. Since: 0.2.0.
 */
SDD_API int64_t sdd_loader_running_count(sdd_loader *SDD_NULLABLE loader);

/**
 * Cancels every load of a loader that is under way, as sdd_cancel() would; other requests of its downloader go on.
 *
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_cancel_all(sdd_loader *SDD_NULLABLE loader);

/**
 * Takes a URL from those that have failed, whoever asked for it.
 *
 * @return SDD_OK, also if it was none; SDD_ERROR_INVALID_ARGUMENT for NULL; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_remove_failed_url(sdd_loader *SDD_NULLABLE loader, const char *SDD_NONNULL url);

/**
 * Takes all of them. Otherwise as sdd_loader_remove_failed_url(). Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_remove_all_failed_urls(sdd_loader *SDD_NULLABLE loader);

/**
 * Whether a URL is blocked at this moment for anybody who has asked for it: 1 or 0; 0 for NULL or a dead handle.
 *
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_loader_is_blocked(sdd_loader *SDD_NULLABLE loader, const char *SDD_NONNULL url);

/* -------------------------------------------------------------------------------- prefetching */

/** Where the URLs of a list are to be: sdd_prefetch_list.to. Since: 0.2.0. */
enum {
    SDD_PREFETCH_MEMORY = 0, /* decoded, in memory, and the bytes on disk */
    SDD_PREFETCH_DISK = 1    /* the bytes on disk, not decoded: what is no picture is kept as well */
};

/** What one URL of a list came to; as in sdd_result. Filled by the library. Since: 0.2.0. */
typedef struct sdd_prefetch_outcome {
    sdd_status error;    /* SDD_OK, or why it is not there; SDD_ERROR_CANCELLED: the list was cancelled before */
    int32_t detail;      /* one of SDD_DETAIL_ */
    int32_t http_status; /* 0 if there was no response */
    int32_t origin;      /* one of SDD_ORIGIN_: from a cache, it was there already */
} sdd_prefetch_outcome;

/** How far a list has come, or what it came to. Filled by the library. Since: 0.2.0. */
typedef struct sdd_prefetch_report {
    size_t struct_size;
    sdd_token token;
    sdd_status error;   /* SDD_OK: all URLs have ended, however they did; SDD_ERROR_CANCELLED: the list was cancelled */
    int32_t reserved;   /* 0 */
    size_t total;       /* URLs */
    size_t finished;    /* URLs that have ended, those that failed included */
    size_t skipped;     /* URLs that failed */
    size_t cancelled;   /* URLs that had not ended when the list was cancelled: in the end finished + cancelled is total */
    const sdd_prefetch_outcome *SDD_NULLABLE outcomes; /* `total` of them, in the order of the URLs; NULL for a list
                                           without URLs, and as long as it has not ended */
    size_t outcome_size; /* bytes from one to the next: a later version may have longer ones */
} sdd_prefetch_report;

/**
 * One URL of a list has ended.
 *
 * @param token The list's.
 * @param index Of the URL in the list, from 0.
 * @param result Borrowed until the callback returns. Its token is the list's, its image and bytes are NULL: they are
 *        where they were wanted.
 * @param user_data The list's own.
 * Thread: as sdd_completed_fn. Since: 0.2.0.
 */
typedef void (*sdd_prefetch_each_fn)(sdd_token token, size_t index, const sdd_result *SDD_NONNULL result,
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
typedef void (*sdd_prefetch_progress_fn)(sdd_token token, size_t finished, size_t skipped, size_t total,
                                         void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

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
    const char *SDD_NULLABLE const *SDD_NULLABLE urls; /* `count` of them, copied. One that is no URL fails alone, with
                                       SDD_ERROR_INVALID_URL; one that comes twice is asked for twice */
    size_t count;                   /* at most 1,048,576; 0: the list ends at once, with SDD_OK */
    uint64_t options;               /* of each load: SDD_OPTION_ bits of lists */
    int32_t to;                     /* one of SDD_PREFETCH_ */
    int32_t reserved;               /* 0 */
    const sdd_decode_options *SDD_NULLABLE decode; /* how the images in memory are to be: what is loaded later must ask
                                       for the same to find them. Without `pixels`. NULL: the downloader's, see
                                       sdd_downloader_set_decode_options() */
    sdd_prefetch_each_fn SDD_NULLABLE each;
    sdd_prefetch_progress_fn SDD_NULLABLE progress;
    sdd_prefetched_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free; /* called once, after the end, if a token was returned */
} sdd_prefetch_list;

#define SDD_PREFETCH_LIST_INIT \
    { sizeof(sdd_prefetch_list), NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Begins to load a list. The callbacks run, or the events are drained, where the loader's downloader delivers: `each` and
 * then `progress` for each URL that ends, in the order in which they end; `completed` once, as the last.
 *
 * Not thread-hungry and not in the way: at most 3 URLs at once over all lists of a loader, those of the list that came
 * first before the others; each a load with SDD_PRIORITY_VERY_LOW, until sdd_set_priority() says otherwise. It shares what
 * other loads and downloads have under way, and then is as urgent as those. The host's options_processor sees each load as
 * it begins, on whichever thread that is. What is in memory already is counted off inside the call.
 *
 * sdd_loader_cancel_all() and sdd_loader_destroy() cancel all lists of a loader. The sdd_downloader_cancel_all() of its
 * downloader ends the loads of lists that are under way, and the lists go on with the next.
 *
 * @param loader NULL: the shared one.
 * @param list Copied, with all that it points to.
 * @param status Receives SDD_OK with a token, and with 0 the reason: SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED;
 *        SDD_ERROR_CLOSED: the loader, or its downloader, was destroyed; SDD_ERROR_FORKED. May be NULL.
 * @return A token of the list, for sdd_cancel() and the like; 0: nothing will be called, user_data_free neither.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_prefetch(sdd_loader *SDD_NULLABLE loader, const sdd_prefetch_list *SDD_NONNULL list,
                               sdd_status *SDD_NULLABLE status);

/**
 * Changes how many URLs of lists may be loaded at once. Raising it begins more at once; lowering it stops none.
 *
 * @param loader NULL: the shared one.
 * @param count At least 1; 3 at first.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for 0 or less; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_loader_set_max_concurrent_prefetches(sdd_loader *SDD_NULLABLE loader, int32_t count);

/* ------------------------------------------------------------------------------------ batches */

/**
 * Many pictures for a program that learns from them, or keeps them: n URLs go in, from an array or a function, few of
 * them are under way at a time, and each comes out once with what it came to; pixels of one size lie in memory of the
 * host's, as NumPy and the like have it. One bad item never stops the others.
 *
 * How fast it goes, and what a host bears, are rules of the downloader: max_concurrent_downloads,
 * max_concurrent_per_host, min_host_interval_ms and decode_threads of its sdd_downloader_config. A batch has no thread
 * of its own. Since: 0.2.0.
 */
typedef struct sdd_batch sdd_batch;

/** In which order items are taken: sdd_batch_config.order. Since: 0.2.0. */
enum {
    SDD_BATCH_AS_COMPLETED = 0,
    SDD_BATCH_ORDERED = 1       /* as they were given: a slow one holds up those behind it */
};

/** How the channels of a pixel lie in a tensor: sdd_tensor.layout. Since: 0.2.0. */
enum {
    SDD_TENSOR_HWC = 0, /* beside one another: [n, height, width, channels] */
    SDD_TENSOR_CHW = 1  /* each a picture of its own: [n, channels, height, width] */
};

/** What becomes of a picture of another shape: sdd_tensor.fit. Smaller ones are made larger. Since: 0.2.0. */
enum {
    SDD_TENSOR_FILL = 0,    /* its middle, what sticks out cut off: SDD_FIT_FILL */
    SDD_TENSOR_STRETCH = 1, /* its sides apart: SDD_FIT_STRETCH */
    SDD_TENSOR_INSIDE = 2   /* all of it, at the top left, zeros beside or below it: SDD_FIT_INSIDE */
};

/** Which slot of a tensor an item gets: sdd_tensor.slots. Since: 0.2.0. */
enum {
    SDD_TENSOR_SLOT_OF_INDEX = 0, /* item i has slot i. With a function it is asked for slot_count items at most */
    SDD_TENSOR_NEXT_SLOT = 1      /* a free one, when it is taken; until sdd_batch_release_slot(). While none is free,
                                     items that have pixels wait */
};

/** Memory of the host's for pictures of one size, 8 bits a channel. Begin with SDD_TENSOR_INIT. Since: 0.2.0. */
typedef struct sdd_tensor {
    size_t struct_size;
    void *SDD_NULLABLE pixels; /* the first byte of slot 0; needed. The caller's: it must stay until sdd_batch_destroy()
                                  has returned. A slot may be read once its item has been taken, a SLOT_OF_INDEX at
                                  any time after, else until it is released; the other slots are to be left alone */
    size_t slot_count;         /* at least 1; with SDD_TENSOR_SLOT_OF_INDEX at least sdd_batch_config.count */
    size_t slot_stride;        /* bytes from one slot to the next; 0: width x height x channels, which is the least */
    int32_t width;             /* pixels, at least 1. Rows have nothing between them */
    int32_t height;
    int32_t pixel_format;      /* SDD_PIXEL_FORMAT_RGB8 (also 0), _RGBA8 or _GREY8 */
    int32_t layout;            /* one of SDD_TENSOR_HWC, _CHW; _CHW only of RGB8 */
    int32_t fit;               /* one of SDD_TENSOR_FILL, _STRETCH, _INSIDE */
    int32_t slots;             /* one of SDD_TENSOR_SLOT_OF_INDEX, _NEXT_SLOT */
    uint32_t background;       /* what shows through where a picture is transparent, and the format has no alpha:
                                  0xRRGGBB */
    int32_t reserved;          /* 0 */
} sdd_tensor;

#define SDD_TENSOR_INIT \
    { sizeof(sdd_tensor), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** One item, for an sdd_batch_next_fn to fill; all 0 before, but for struct_size. Since: 0.2.0. */
typedef struct sdd_batch_source {
    size_t struct_size;
    const char *SDD_NULLABLE url; /* copied when the function has returned */
    uint64_t id;                  /* the host's own */
} sdd_batch_source;

/**
 * Gives a batch one item more. Called inside sdd_batch_create() and sdd_batch_wait() and nowhere else, on the thread
 * that is in there, one call at a time; both take the time that it takes.
 *
 * @param item To be filled.
 * @param user_data sdd_batch_config.user_data.
 * @return 1: there is an item; 0: there are no more, and it is not called again.
 * Calls with the same batch: sdd_batch_wait() and sdd_batch_destroy() give SDD_ERROR_WOULD_DEADLOCK. Since: 0.2.0.
 */
typedef int32_t (*sdd_batch_next_fn)(sdd_batch_source *SDD_NONNULL item, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** What a batch is to do. Begin with SDD_BATCH_CONFIG_INIT. Since: 0.2.0. */
typedef struct sdd_batch_config {
    size_t struct_size;
    sdd_downloader *SDD_NULLABLE downloader; /* who fetches the items: its headers, limits and modifiers hold. NULL: the
                                          shared one. Destroyed before the batch, it cancels what is under way, and the
                                          rest ends with SDD_DETAIL_OPERATION_CLOSED */
    sdd_loader *SDD_NULLABLE loader;   /* items are loads of this one, in place of `downloader`: what its cache has needs no
                                          network, and what comes is stored there: see sdd_load(). With a tensor, or an
                                          allocator, that is the original. NULL: they are downloads */
    const char *SDD_NULLABLE const *SDD_NULLABLE urls; /* count of them, copied. One that is NULL or otherwise bad is an
                                          item that fails. NULL, with count 0: none, or see `next` */
    const uint64_t *SDD_NULLABLE ids;  /* count of them, copied: the host's own. NULL: the index is the id */
    size_t count;
    sdd_batch_next_fn SDD_NULLABLE next; /* in place of urls: for more items than there is memory for */
    void *SDD_NULLABLE user_data;      /* of `next`; of use until sdd_batch_destroy() */
    const sdd_tensor *SDD_NULLABLE tensor; /* copied: where the pixels go. NULL: items have images, or with
                                          SDD_OPTION_BYTES_ONLY bytes */
    const sdd_decode_options *SDD_NULLABLE decode; /* copied: how images are made; not with `pixels`, nor with a tensor.
                                          NULL: the downloader's, see sdd_downloader_set_decode_options() */
    uint64_t options;                  /* SDD_OPTION_ bits, as of a request: what they say of pixels does not hold for a
                                          tensor; SDD_OPTION_BYTES_ONLY is not for one */
    int64_t deadline_ms;               /* for the whole, from sdd_batch_create() on: what has not ended by then ends
                                          with SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL. 0: none */
    int32_t look_ahead;                /* most items that are under way or wait to be taken; 0: 64. At most 65,536.
                                          What has come for them is in memory */
    int32_t order;                     /* SDD_BATCH_AS_COMPLETED or _ORDERED */
    int32_t max_attempts;              /* as sdd_download_request.max_attempts: transfers for one item, at most 1000; 0: as the
                                          downloader has it */
    int32_t reserved;                  /* 0 */
} sdd_batch_config;

#define SDD_BATCH_CONFIG_INIT \
    { sizeof(sdd_batch_config), NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/**
 * Makes a batch, and begins with its first items.
 *
 * @param config Copied.
 * @param out Receives the handle, to be given back with sdd_batch_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: a number that cannot be, urls and next both, a tensor with fewer slots
 *         than there are items, option bits that are not for a batch; SDD_ERROR_UNSUPPORTED: also option bits of a
 *         newer header; SDD_ERROR_NO_RESOURCES: no descriptor; SDD_ERROR_CLOSED and SDD_ERROR_FORKED: the downloader.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_create(const sdd_batch_config *SDD_NONNULL config,
                                    sdd_batch *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what is under way, and WAITS for it, and for calls of sdd_batch_wait() on other threads, which return with
 * SDD_ERROR_CLOSED. After it nothing is written to the tensor. Images and bytes live on by their own references.
 *
 * @param batch Dead from now on.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT for NULL; SDD_ERROR_FORKED;
 *         SDD_ERROR_WOULD_DEADLOCK in its `next`.
 * Thread: any, but not sdd-net and decode threads. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_destroy(sdd_batch *SDD_NULLABLE batch);

/** One item that was taken, filled by sdd_batch_wait(). Since: 0.2.0. */
typedef struct sdd_batch_item {
    size_t struct_size;
    uint64_t id;                   /* sdd_batch_config.ids, or sdd_batch_source.id */
    int64_t index;                 /* from 0, in the order in which items were given */
    int64_t slot;                  /* of the tensor; -1: none. A failed item has one only with SDD_TENSOR_SLOT_OF_INDEX,
                                      and its slot is all zero */
    sdd_status error;              /* SDD_OK: it has what was wanted */
    int32_t detail;                /* one of SDD_DETAIL_ */
    int32_t http_status;           /* 0: no response came, or none was needed */
    int32_t origin;                /* one of SDD_ORIGIN_ */
    int32_t width;                 /* of the pixels; 0: there are none. Less than a slot's with SDD_TENSOR_INSIDE */
    int32_t height;
    sdd_image *SDD_NULLABLE image; /* owned by the caller: release with sdd_image_release(). NULL with a tensor */
    sdd_bytes *SDD_NULLABLE bytes; /* owned by the caller: release with sdd_bytes_release(). Only with
                                      SDD_OPTION_BYTES_ONLY; those of an image are sdd_image_bytes() */
    int64_t time_us;               /* from its submission to its end */
} sdd_batch_item;

#define SDD_BATCH_ITEM_INIT \
    { sizeof(sdd_batch_item), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0 }

/**
 * WAITS until items can be taken, takes them, and begins others in their place.
 *
 * Every item is taken once, whatever happens. After sdd_batch_cancel() and the deadline those that have not ended do so
 * at once; of an array that is all the rest, of a function what it has given.
 *
 * @param items max records in a row. The struct_size of the FIRST gives the size of each: set it.
 * @param max How many there are room for, at least 1.
 * @param timeout_ms Longest wait, beside the time of `next`; 0: none; negative: no limit. Take care: with all slots in
 *        use it can only end if another thread releases one.
 * @param count Receives how many were filled; 0 with SDD_OK: all items have been taken.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT when none could be taken in time; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *         SDD_ERROR_WOULD_DEADLOCK in its `next`; SDD_ERROR_INVALID_ARGUMENT: NULL, max 0, a struct_size too small to
 *         reach `bytes`.
 * Thread: any, several at a time, but not sdd-net and decode threads. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_wait(sdd_batch *SDD_NULLABLE batch, sdd_batch_item *SDD_NONNULL items, size_t max,
                                  int64_t timeout_ms, size_t *SDD_NONNULL count);

/**
 * Gives back a slot of SDD_TENSOR_NEXT_SLOT: from now on it may be filled again.
 *
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: it is not in use, or the batch has no such slots; SDD_ERROR_CLOSED;
 *         SDD_ERROR_FORKED; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_release_slot(sdd_batch *SDD_NULLABLE batch, int64_t slot);

/**
 * Ends all items that have not ended, with SDD_ERROR_CANCELLED. They are still to be taken. A function is not asked for
 * more.
 *
 * @return SDD_OK, also the second time; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_cancel(sdd_batch *SDD_NULLABLE batch);

/**
 * A descriptor that is readable while items can be taken, and when all have been: for poll, epoll, asyncio.
 *
 * Level-triggered, non-blocking, closed on exec. Only watch it; the library reads and writes it.
 * @return The descriptor, an eventfd(2); -1 for a dead handle and for NULL.
 * Thread: any. Lifetime: until sdd_batch_destroy(). Since: 0.2.0.
 */
SDD_API int32_t sdd_batch_event_fd(sdd_batch *SDD_NULLABLE batch);

/** What has become of a batch so far. Filled by the library. Since: 0.2.0. */
typedef struct sdd_batch_statistics {
    size_t struct_size;
    int64_t items;           /* that have ended, taken or not: the sum of the next three */
    int64_t succeeded;
    int64_t failed;
    int64_t cancelled;
    int64_t bytes;           /* of bodies */
    int64_t pixels;          /* as decoded */
    int64_t elapsed_us;      /* since sdd_batch_create(); to the end of the last item, once all have been taken */
    double items_per_second; /* of elapsed_us */
    double bytes_per_second;
} sdd_batch_statistics;

#define SDD_BATCH_STATISTICS_INIT \
    { sizeof(sdd_batch_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells what has become of a batch so far.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_get_statistics(sdd_batch *SDD_NULLABLE batch,
                                            sdd_batch_statistics *SDD_NONNULL statistics);

/** One way in which items have ended, and how many did. Filled by the library. Since: 0.2.0. */
typedef struct sdd_batch_status {
    size_t struct_size;
    int64_t items;
    sdd_status error;
    int32_t detail;
    int32_t http_status;
    int32_t reserved;
} sdd_batch_status;

#define SDD_BATCH_STATUS_INIT \
    { sizeof(sdd_batch_status), 0, 0, 0, 0, 0 }

/**
 * Tells in which ways items have ended so far: error, detail and HTTP status.
 *
 * @param index From 0, in the order in which the first of each ended.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there are not so many; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED;
 *         SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_get_status(sdd_batch *SDD_NULLABLE batch, size_t index,
                                      sdd_batch_status *SDD_NONNULL status);

/** What has become of the items of one host. Filled by the library. Since: 0.2.0. */
typedef struct sdd_batch_host {
    size_t struct_size;
    int64_t items;   /* that have ended */
    int64_t failed;  /* of those, also by being cancelled */
    int64_t bytes;   /* of bodies */
    int64_t time_us; /* the sum of all their time_us */
    char host[256];  /* the URL's, in lower case, with the port that stands there; ends with NUL, cut if it is longer.
                        "" of what has none; "(other)" of all hosts behind the first 1,000 */
} sdd_batch_host;

#define SDD_BATCH_HOST_INIT \
    { sizeof(sdd_batch_host), 0, 0, 0, 0, "" }

/**
 * Tells what has become of the items of each host so far.
 *
 * @param index From 0, in the order in which the first of each ended.
 * @return As sdd_batch_get_status().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_get_host(sdd_batch *SDD_NULLABLE batch, size_t index, sdd_batch_host *SDD_NONNULL host);

/* ------------------------------------------- events on a thread of the host's: SDD_DELIVERY_APPLICATION */

/** Kinds of sdd_event. Since: 0.1.0. */
enum {
    SDD_EVENT_PROGRESS = 1, /* received_bytes and expected_bytes have grown */
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
    SDD_EVENT_PREFETCHED = 12, /* a URL of a list has ended: result and index are what sdd_prefetch_list.each would get,
                                  and prefetch says how far the list has come */
    SDD_EVENT_PREFETCH_COMPLETED = 13 /* a list has ended: prefetch is what sdd_prefetch_list.completed would get */
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
    const sdd_notice *SDD_NULLABLE notice;  /* of kinds 3 to 7 and 10, borrowed as result is; user_data is then the
                                               observer's. Since 0.2.0 */
    const sdd_image_facts *SDD_NULLABLE facts; /* of SDD_EVENT_FACTS, borrowed as result is. Since 0.2.0 */
    const sdd_prefetch_report *SDD_NULLABLE prefetch; /* of kinds 12 and 13, borrowed as result is. Since 0.2.0 */
    size_t index;                           /* of SDD_EVENT_PREFETCHED. Since 0.2.0 */
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

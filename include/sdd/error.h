/*
 * sdd/error.h - Status numbers, their details, and the text that explains them.
 *
 * A call returns an sdd_status; a request ends with an sdd_failure, in its result. The status says
 * which kind of failure it is, the detail says what exactly happened, the message says it in words.
 * sdd_last_error() gives the sdd_failure of the calling thread's last failed call.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         sdd_image *image = NULL;
 *         sdd_failure failure;
 *         if (sdd_image_decode("no picture", 10, NULL, &image) == SDD_OK) return 1;
 *         printf("%s, ", sdd_status_name(sdd_last_error(&failure)));
 *         printf("detail %d\n", (int)failure.detail);
 *         return 0;
 *     }
 *
 * It prints: SDD_ERROR_BAD_IMAGE_DATA, detail 100102
 */
#ifndef SDD_ERROR_H
#define SDD_ERROR_H

#include "base.h"

SDD_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- errors */

/** The outcome of a call or a request: SDD_OK or one of the SDD_ERROR_ numbers. */
typedef int32_t sdd_status;

SDD_ENUM(sdd_status) {
    SDD_OK = 0,

    /* 1000-1999: the URL and the picture. */
    /* NULL, empty, malformed, too long, or its scheme is not allowed. */
    SDD_ERROR_INVALID_URL = 1000,
    /* No data, not a picture, corrupt, truncated, or over the pixel limit. */
    SDD_ERROR_BAD_IMAGE_DATA = 1001,
    /* HTTP 304: the server confirmed the condition in the application's header field, and sent no
       body; or, with SDD_OPTION_IGNORE_CACHED_RESPONSE, the HTTP cache's entry is still valid; or,
       with SDD_OPTION_REFRESH_CACHED, the cached picture is. http_status is 304 if the server said
       so. */
    SDD_ERROR_NOT_MODIFIED = 1002,
    /* The URL failed recently, see FAILED URLS in loader.h. http_status is that of the failure,
       retryable is 1 if the block ends by itself, and the message says when. */
    SDD_ERROR_BLOCKED = 1003,
    /* No cache has it, and the network was not allowed. */
    SDD_ERROR_NOT_CACHED = 1004,

    /* 2000-2999: the download. */
    SDD_ERROR_INVALID_DOWNLOAD_OPERATION = 2000, /* the request could not be made: see the detail */
    SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE = 2001, /* HTTP status outside accepted_status_codes */
    SDD_ERROR_CANCELLED = 2002, /* cancelled, or its downloader was closed or destroyed */
    SDD_ERROR_INVALID_DOWNLOAD_RESPONSE = 2003, /* the response modifier refused it */
    SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE = 2004, /* media type outside accepted_content_types */

    /* 3000-3999: the transport. sdd_failure.curl_code has libcurl's own number. */
    SDD_ERROR_TRANSPORT = 3000, /* a failure without a number of its own */
    SDD_ERROR_RESOLVE = 3001, /* the name of the host or proxy has no address */
    SDD_ERROR_CONNECT = 3002, /* no connection: refused or unreachable */
    SDD_ERROR_TLS = 3003, /* handshake or certificate: see the detail */
    SDD_ERROR_TIMEOUT = 3004, /* a time limit of a request or a call has passed: see the detail */
    SDD_ERROR_CONNECTION_LOST = 3005, /* the connection broke while sending or receiving */
    SDD_ERROR_TOO_MANY_REDIRECTS = 3006, /* more redirects than max_redirects */
    SDD_ERROR_PROTOCOL = 3007, /* the response is not HTTP, or does not answer the request */
    SDD_ERROR_BODY_TOO_LARGE = 3008, /* the body is larger than max_body_bytes */
    SDD_ERROR_TRUNCATED_BODY = 3009, /* the body ended before its announced length */
    SDD_ERROR_REDIRECT_REFUSED = 3010, /* a redirect that is not followed: see the detail */
    /* Packed data that cannot be unpacked, continues after its end, or is packed more than once. */
    SDD_ERROR_CONTENT_ENCODING = 3011,
    SDD_ERROR_FILE_NOT_READABLE = 3012, /* a file: URL or a coder's file cannot be read */
    /* address_policy or address_filter refused the address to connect to. */
    SDD_ERROR_ADDRESS_REFUSED = 3013,
    /* The header exceeds max_header_bytes or max_header_count. */
    SDD_ERROR_HEADERS_TOO_LARGE = 3014,
    SDD_ERROR_PROXY = 3015, /* the proxy refused the request */
    SDD_ERROR_SINK = 3016,  /* the body could not be written to sink_fd: see system_error */

    /* 4000-4999: calls. */
    SDD_ERROR_INVALID_ARGUMENT = 4000, /* a NULL, number or text that the call does not accept */
    /* A struct or option bit of a newer header, or a missing feature. */
    SDD_ERROR_UNSUPPORTED = 4001,
    SDD_ERROR_NOT_FOUND = 4002,        /* no such request (it has ended), header field or entry */
    SDD_ERROR_CLOSED = 4003,           /* the handle's object was destroyed */
    SDD_ERROR_FORKED = 4004,           /* the handle belongs to the parent process */
    SDD_ERROR_WRONG_DELIVERY = 4005,   /* the call belongs to the other delivery mode */
    SDD_ERROR_BUSY = 4006,             /* another thread is taking the events of this downloader */
    SDD_ERROR_WOULD_DEADLOCK = 4007,   /* the thread would wait for itself */
    SDD_ERROR_NO_RESOURCES = 4009,     /* the system gave no thread, descriptor or memory */
    SDD_ERROR_BUFFER_TOO_SMALL = 4010, /* the caller's buffer is too small for the answer */
    SDD_ERROR_INCOMPLETE = 4011,       /* the bytes end too early: call again with more */
    /* The picture does not fit: into a byte limit, a JPEG's 65,500 pixels a side, or a crop. */
    SDD_ERROR_DOES_NOT_FIT = 4012,
    /* A disk cache operation failed: see the detail. */
    SDD_ERROR_CACHE = 4013
};

/**
 * Details of a failure: sdd_failure.detail. Each belongs to one status: detail / 100 == status.
 */
typedef int32_t sdd_detail;

SDD_ENUM(sdd_detail) {
    SDD_DETAIL_NONE = 0, /* nothing to add */
    SDD_DETAIL_URL_NULL = 100001,
    SDD_DETAIL_URL_EMPTY = 100002,
    /* Over 65,536 bytes; a data: URL over 4/3 of max_body_bytes plus 1,024 bytes. */
    SDD_DETAIL_URL_TOO_LONG = 100003,
    SDD_DETAIL_URL_NOT_UTF8 = 100004,
    /* No scheme, no host, a space or control character, or a bad port; for a data: URL, no comma or
       invalid base64. */
    SDD_DETAIL_URL_MALFORMED = 100005,
    /* Not http, https, data (unless no_data_urls) or file (if allow_file_urls), and no transport of
       the application takes it. */
    SDD_DETAIL_URL_SCHEME = 100006,
    SDD_DETAIL_IMAGE_EMPTY = 100101, /* an empty body */
    /* Not JPEG or PNG, and no coder takes it: perhaps an HTML page. */
    SDD_DETAIL_IMAGE_UNKNOWN_FORMAT = 100102,
    SDD_DETAIL_IMAGE_CORRUPT = 100103,     /* the decoder met invalid data */
    SDD_DETAIL_IMAGE_TRUNCATED = 100104,   /* the picture's data ends too early */
    SDD_DETAIL_IMAGE_ZERO_PIXELS = 100105, /* width or height is 0 */
    /* Over max_pixels, as stored or as it would be enlarged. Checked before pixels are
       allocated. */
    SDD_DETAIL_IMAGE_TOO_MANY_PIXELS = 100106,
    /* A kind of JPEG or PNG that the decoders do not support. */
    SDD_DETAIL_IMAGE_UNSUPPORTED = 100107,
    SDD_DETAIL_IMAGE_NO_MEMORY = 100108, /* no memory for the pixels */
    /* A progressive JPEG with more scans than max_scans. */
    SDD_DETAIL_IMAGE_TOO_MANY_SCANS = 100109,
    /* The body transform or a transform of the picture gave nothing, such as a crop outside the
       picture. */
    SDD_DETAIL_IMAGE_TRANSFORM = 100110,
    SDD_DETAIL_IMAGE_TOO_SLOW = 100111, /* decoding took longer than decode_time_ms allows */
    /* Over 10,000 frames; or all frames are to be kept, and together exceed max_pixels. */
    SDD_DETAIL_IMAGE_TOO_MANY_FRAMES = 100112,
    SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE = 100113, /* metadata over 8 MiB when unpacked */
    /* Decoding would take more than max_decode_bytes, or more than max_decode_ratio allows for so
       small a body. Checked before memory is allocated. */
    SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY = 100114,
    /* sdd_decode_options.pixels_size or pixels_stride is too small: the message says what is
       needed. */
    SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL = 100115,
    /* A coder of the application failed, or gave an invalid frame. */
    SDD_DETAIL_IMAGE_CODER = 100116,
    /* The body does not match sdd_download_request.integrity or expected_bytes. */
    SDD_DETAIL_IMAGE_INTEGRITY = 100117,
    /* The process of SDD_DECODE_ISOLATED ended before it answered. */
    SDD_DETAIL_IMAGE_DECODER = 100118,
    SDD_DETAIL_OPERATION_CLOSED = 200001, /* submitted after sdd_downloader_close() */
    /* An option bit that has no meaning to the call, or is unknown: the message names it. */
    SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS = 200002,
    /* A header name or value that HTTP does not allow, or a name that sdd_header excludes. */
    SDD_DETAIL_OPERATION_BAD_HEADER = 200003,
    SDD_DETAIL_OPERATION_BAD_METHOD = 200004, /* the method is not an HTTP token */
    SDD_DETAIL_OPERATION_BAD_BODY = 200005, /* body NULL with a size, or a body with GET or HEAD */
    /* libcurl could not create the transfer, or no descriptor was left for a copy of sink_fd. */
    SDD_DETAIL_OPERATION_NO_TRANSFER = 200006,
    SDD_DETAIL_OPERATION_MODIFIER = 200007, /* the request modifier refused it */
    /* Invalid accepted_status_codes or accepted_content_types. */
    SDD_DETAIL_OPERATION_BAD_ACCEPT = 200008,
    /* An invalid credential or ca_file: a part is missing, empty, or has CR or LF. */
    SDD_DETAIL_OPERATION_BAD_CREDENTIAL = 200009,
    SDD_DETAIL_OPERATION_BAD_RANGE = 200010,  /* not "first-last", "first-" or "-count" */
    SDD_DETAIL_OPERATION_BAD_NUMBER = 200011, /* a priority, limit or other number out of range */
    /* sink_fd is not an open descriptor, or a response modifier or body transform is set too. */
    SDD_DETAIL_OPERATION_BAD_SINK = 200012,
    SDD_DETAIL_OPERATION_BAD_DECODE = 200013, /* invalid decode options */
    /* Invalid integrity or expected_bytes. */
    SDD_DETAIL_OPERATION_BAD_INTEGRITY = 200014,
    SDD_DETAIL_CANCELLED_WAITING = 200201,  /* before it was sent */
    SDD_DETAIL_CANCELLED_SENDING = 200202,  /* while it was on the network */
    SDD_DETAIL_CANCELLED_DECODING = 200203, /* while the picture was being decoded */
    /* After the grace time of sdd_downloader_enter_background(). */
    SDD_DETAIL_CANCELLED_BACKGROUND = 200204,
    /* While a cache was being read. */
    SDD_DETAIL_CANCELLED_CACHE = 200205,
    SDD_DETAIL_TLS_HANDSHAKE = 300301,
    SDD_DETAIL_TLS_EXPIRED = 300302,     /* the certificate has expired or is not yet valid */
    SDD_DETAIL_TLS_WRONG_HOST = 300303,  /* the certificate is for another host */
    SDD_DETAIL_TLS_SELF_SIGNED = 300304, /* the certificate is self-signed */
    /* The issuer is not among those of the CA file or path. */
    SDD_DETAIL_TLS_UNKNOWN_ISSUER = 300305,
    SDD_DETAIL_TLS_BAD_CERTIFICATE = 300306,
    SDD_DETAIL_TLS_CA_FILE = 300307, /* ca_file or ca_path cannot be read */
    /* The client certificate or its key cannot be used. */
    SDD_DETAIL_TLS_CLIENT_CERTIFICATE = 300308,
    /* connect_timeout_ms: name lookup, connect and TLS handshake */
    SDD_DETAIL_TIMEOUT_CONNECT = 300401,
    SDD_DETAIL_TIMEOUT_STALL = 300402, /* download_timeout_ms: connected, then no byte arrived */
    SDD_DETAIL_TIMEOUT_QUEUE = 300403, /* queue_timeout_ms: the request was never sent */
    SDD_DETAIL_TIMEOUT_FIRST_BYTE = 300404, /* first_byte_timeout_ms: sent, and no response */
    SDD_DETAIL_TIMEOUT_TOTAL = 300405, /* total_timeout_ms: all stages together */
    /* Slower than low_speed_limit for low_speed_time_ms. */
    SDD_DETAIL_TIMEOUT_SLOW = 300406,
    SDD_DETAIL_TIMEOUT_WAIT = 300407, /* timeout_ms of a call that waits for no request */
    /* The server refused to process it (HTTP/2 GOAWAY or REFUSED_STREAM), on each connection that
       was tried. */
    SDD_DETAIL_CONNECTION_NOT_PROCESSED = 300501,
    /* The server sent frames without content faster than they could be read, and its connection was
       closed. */
    SDD_DETAIL_PROTOCOL_FLOOD = 300701,
    SDD_DETAIL_REDIRECT_SCHEME = 301001,    /* to a scheme other than http or https */
    SDD_DETAIL_REDIRECT_DOWNGRADE = 301002, /* from https to http: allow_downgrade is 0 */
    SDD_DETAIL_REDIRECT_MALFORMED = 301003, /* to an invalid URL */
    /* The request has SDD_REDIRECT_REFUSE. */
    SDD_DETAIL_REDIRECT_UNWANTED = 301004,
    /* sink_fd took no byte for download_timeout_ms: no process reads the pipe or socket.
       */
    SDD_DETAIL_SINK_BLOCKED = 301601,
    /* The process of SDD_DECODE_ISOLATED could not be started, or something other than the picture
       has ended it, such as a lack of memory: about this machine, and not about the URL.
       system_error may have the errno. */
    SDD_DETAIL_RESOURCES_DECODER = 400901,
    /* The directory cannot be created or opened, or is not one. */
    SDD_DETAIL_CACHE_DIRECTORY = 401301,
    /* The directory belongs to another user, or its group or others may write to it. */
    SDD_DETAIL_CACHE_UNSAFE = 401302,
    /* An entry could not be written: system_error and last_error have the errno. */
    SDD_DETAIL_CACHE_WRITE = 401303,
    /* An entry could not be read: system_error and last_error have the errno. */
    SDD_DETAIL_CACHE_READ = 401304,
    SDD_DETAIL_CACHE_TOO_LARGE = 401305, /* the entry is larger than the whole cache may be */
    /* There is nothing to store: no bytes, and no image that can be encoded. */
    SDD_DETAIL_CACHE_NOTHING = 401306,
    /* An entry was not written: its cache was destroyed and destroy_timeout_ms had passed. */
    SDD_DETAIL_CACHE_DROPPED = 401307,
    /* The directory is of another program: it has a file that is named like an entry, by 32 digits,
       but is none, and no cache has been there. */
    SDD_DETAIL_CACHE_FOREIGN = 401308
};

/**
 * Returns the name of a status, such as "SDD_ERROR_TLS" for 3003.
 *
 * @param status Any number.
 * @return A static string; "SDD_ERROR_UNKNOWN" for a number that is no status.
 * Thread: any. Lifetime: for ever.
 */
SDD_API const char *SDD_NONNULL sdd_status_name(sdd_status status);

/**
 * Returns one English sentence on a status, the same for every failure with that number. The
 * `message` of a result describes the one failure.
 *
 * @param status Any number.
 * @return A static string.
 * Thread: any. Lifetime: for ever.
 */
SDD_API const char *SDD_NONNULL sdd_status_message(sdd_status status);

/** The kind of failure: sdd_failure.error_class. */
typedef int32_t sdd_error_class;

SDD_ENUM(sdd_error_class) {
    SDD_CLASS_NONE = 0,
    /* The application's input: URL, headers, options, buffer, a modifier's refusal. */
    SDD_CLASS_REQUEST = 1,
    SDD_CLASS_CANCELLED = 2, /* the application cancelled it */
    /* The server's response: its status or media type, a redirect that is not followed. */
    SDD_CLASS_RESPONSE = 3,
    SDD_CLASS_IMAGE = 4,   /* the body is not a picture that can be decoded */
    SDD_CLASS_NETWORK = 5, /* name lookup, connection, protocol, a body that broke off */
    SDD_CLASS_TLS = 6,     /* handshake and certificates */
    SDD_CLASS_TIMEOUT = 7, /* a time limit has passed */
    SDD_CLASS_LIMIT = 8,   /* over a limit of the config, or a refused address */
    SDD_CLASS_SYSTEM = 9   /* this machine: no memory, descriptor or thread, an unreadable file */
};

/** The stage at which a request failed: sdd_failure.stage. */
typedef int32_t sdd_stage;

SDD_ENUM(sdd_stage) {
    SDD_STAGE_NONE = 0,     /* it did not fail */
    SDD_STAGE_SUBMIT = 1,   /* the submitting call */
    SDD_STAGE_QUEUE = 2,    /* waiting for its turn, or for a cache */
    SDD_STAGE_CONNECT = 3,  /* name lookup, connect, TLS */
    SDD_STAGE_RESPONSE = 4, /* sent, with the response header not yet complete */
    SDD_STAGE_BODY = 5,     /* receiving the body */
    SDD_STAGE_DECODE = 6    /* the body is complete: modifiers, decoding, storing */
};

/**
 * A failure and its reason: part of each result and of whatever else tells of a failure. Filled by
 * the library. Fixed for ever: it has no struct_size. Without a failure it has SDD_OK and the HTTP
 * status, if there is one; all else is 0, and the message "".
 */
typedef struct sdd_failure {
    sdd_status status;           /* SDD_OK or the reason for the failure */
    sdd_error_class error_class; /* one of SDD_CLASS_ */
    sdd_stage stage;             /* one of SDD_STAGE_: how far the request had come */
    sdd_detail detail;           /* one of SDD_DETAIL_ */
    /* Status of the last response, after the response modifier; 0 if there was none. */
    int32_t http_status;
    int32_t curl_code;    /* libcurl's CURLcode; 0 if it reported no error */
    int32_t system_error; /* errno of the failed system call where known, else 0 */
    int32_t retryable;    /* 1: the same request may well succeed later */
    /* One sentence for people. Borrowed for as long as the struct's source: a result until it is
       gone, sdd_last_error() until the thread's next failed call. */
    const char *SDD_NONNULL message;
    int64_t reserved[3];
} sdd_failure;

/**
 * Gives the reason why the calling thread's last failed call failed.
 *
 * A call has failed if it returns a status other than SDD_OK, or 0, NULL or a negative number
 * instead of a result. (A picture that is not in memory, a missing header field or a count of 0 is
 * a result and not a failure.) For a call that waits for a request, such as sdd_get(), it is the
 * request's own failure. Successful calls leave it unchanged, so read it only after a failure;
 * calls in callbacks on the same thread count, too.
 *
 * The message of a call that was refused names the argument or the field, its value, and the values
 * that are allowed:
 *
 *     sdd_limits.max_pixels: -1 is not 0 to 1099511627776.
 *     sdd_set_priority: priority: 9 is not one of SDD_PRIORITY_.
 *
 * It never contains possible secrets: passwords, tokens, cookies, values of header fields, and the
 * user information and query of a URL. Only the beginning of a long value is shown, and bytes that
 * are not printable appear as \xNN. The wording may change in the next version: programs should
 * compare statuses and details.
 *
 * @param failure Receives it. May be NULL.
 * @return sdd_failure.status; SDD_OK if no call of this thread has failed yet.
 * Thread: any; each thread has its own. The child of a fork() has that of the forking thread.
 * Lifetime: the message, until the next failed call of this thread, or its end.
 */
SDD_API sdd_status sdd_last_error(sdd_failure *SDD_NULLABLE failure);

/**
 * Returns sdd_failure.message of sdd_last_error(): its short form.
 *
 * @return Never NULL; "" if no call of this thread has failed yet.
 * Thread, lifetime: as sdd_last_error().
 */
SDD_API const char *SDD_NONNULL sdd_last_error_message(void);

SDD_END_DECLS

#endif /* SDD_ERROR_H */

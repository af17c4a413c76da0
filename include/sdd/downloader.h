/*
 * sdd/downloader.h - Downloaders: a queue of requests, a pool of connections, default headers,
 * cookies, threads.
 *
 * NULL stands for the shared downloader in every call.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         sdd_statistics statistics = SDD_STATISTICS_INIT;
 *         if (sdd_set_header(NULL, "Referer", "https://example.org/") != SDD_OK) return 1;
 *         sdd_get(NULL, "https://example.org/a.jpg", 0, 30000, NULL, NULL, NULL);
 *         if (sdd_downloader_get_statistics(NULL, &statistics) != SDD_OK) return 1;
 *         printf("%d succeeded\n", (int)statistics.requests_succeeded);
 *         return 0;
 *     }
 *
 * It prints: 1 succeeded
 */
#ifndef SDD_DOWNLOADER_H
#define SDD_DOWNLOADER_H

#include "config.h"
#include "request.h"

SDD_BEGIN_DECLS

/* ---------------------------------------------------------------------------------- downloaders */

/**
 * Creates a downloader with its own connections, headers, limits and threads.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle: destroy it with sdd_downloader_destroy(). NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a field out of range, fields that exclude each
 *     other, or out NULL; SDD_ERROR_UNSUPPORTED for a config of a newer header, or a feature that
 *     libcurl was built without; SDD_ERROR_NO_RESOURCES if the system gives no thread or
 *     descriptor.
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_create(const sdd_downloader_config *SDD_NULLABLE config,
                                         sdd_downloader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels all running requests, delivers every outstanding terminal callback and ends the threads.
 * WAITS for all of that, about as long as a callback of the application and one decoding step take.
 *
 * With SDD_DELIVERY_APPLICATION the outstanding callbacks are called here, on the calling thread.
 * Inside a callback of this downloader the call does not wait: the handle is dead at once, and the
 * rest happens after that callback has returned. The same holds on the network and decode threads
 * of this downloader, for instance in a body transform or a user_data_free: there the outstanding
 * callbacks come on its callback thread, or with SDD_DELIVERY_APPLICATION on its last decode
 * thread. Images and bytes live on by their own references.
 *
 * @param downloader Dead from now on. NULL and the shared downloader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if already destroyed; SDD_ERROR_INVALID_ARGUMENT for the shared
 *     downloader; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_destroy(sdd_downloader *SDD_NULLABLE downloader);

/** Treatment of running requests by sdd_downloader_close(). */
typedef int32_t sdd_close_mode;

SDD_ENUM(sdd_close_mode) {
    SDD_CLOSE_CANCEL = 0, /* cancels them */
    SDD_CLOSE_DRAIN = 1   /* lets them end, including waiting requests */
};

/**
 * Stops accepting requests, without waiting: use sdd_downloader_idle_wait() for that.
 * sdd_downloader_destroy() must still follow.
 *
 * Every request under way ends with its one terminal callback. Later requests end with
 * SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_CLOSED. A drained downloader may be
 * closed again with SDD_CLOSE_CANCEL.
 *
 * @param downloader Not the shared one.
 * @param mode One of SDD_CLOSE_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for the shared downloader, NULL, or another mode;
 *     SDD_ERROR_CLOSED if destroyed; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_close(sdd_downloader *SDD_NULLABLE downloader,
                                        sdd_close_mode mode);

/**
 * Returns the shared downloader, which NULL stands for: all defaults, SDD_DELIVERY_THREAD. It is
 * created on first use and cannot be destroyed.
 *
 * @return Its handle; NULL if it cannot be created (no thread). The child of a fork has another
 *     one.
 * Thread: any. Lifetime: as long as the process.
 */
SDD_API sdd_downloader *SDD_NULLABLE sdd_downloader_shared(void);

/**
 * Sets a header field for all requests submitted from now on.
 *
 * A new downloader has "User-Agent: libsdd/0.4.0 (Linux; x86_64) curl/7.88.1", with the actual
 * versions and machine. Its "Accept" allows any content type and prefers what can be decoded:
 * image/jpeg, image/png, and the sdd_coder.mime_type of each coder of the process and of the
 * downloader at the time a request is submitted, until it is set or removed here
 * (sdd_get_header() shows it).
 *
 * @param downloader NULL: the shared one.
 * @param name An HTTP token (RFC 9110 section 5.1), compared without regard to case. Copied. Not
 *     "Content-Length" or "Transfer-Encoding": the library sends the one that fits the body.
 * @param value Text without control characters other than TAB (RFC 9110 section 5.5). Copied. NULL
 *     removes the field, and it is no longer sent, except "Host" (RFC 9110 section 7.2), which is
 *     then the URL's, and "Accept-Encoding", which then lists the codings that the library unpacks.
 *     Set "Accept-Encoding" to "identity" to ask for a body that is not packed; see also
 *     SDD_OPTION_BODY_AS_SENT.
 * @return SDD_OK, also if there was nothing to remove; SDD_ERROR_INVALID_ARGUMENT for a name or
 *     value that is not allowed; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_NO_RESOURCES if the
 *     shared downloader cannot be created.
 * Thread: any.
 */
SDD_API sdd_status sdd_set_header(sdd_downloader *SDD_NULLABLE downloader,
                                  const char *SDD_NONNULL name, const char *SDD_NULLABLE value);

/**
 * Reads a header field that sdd_set_header() or the downloader's defaults set for all requests. A
 * request may carry more: its own fields, "Host", "Accept-Encoding", a cookie, a credential, a
 * range.
 *
 * @param downloader NULL: the shared one.
 * @param name Compared without regard to case.
 * @param buffer Receives the value and a NUL. May be NULL if capacity is 0, to ask for the length.
 * @param capacity Size of buffer, in bytes.
 * @param length Receives the value's length without the NUL, also with SDD_ERROR_BUFFER_TOO_SMALL.
 *     May be NULL.
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL (length + 1 bytes are needed, buffer is not written);
 *     SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_get_header(sdd_downloader *SDD_NULLABLE downloader,
                                  const char *SDD_NONNULL name, char *SDD_NULLABLE buffer,
                                  size_t capacity, size_t *SDD_NULLABLE length);

/**
 * Changes how many transfers may run at a time. Raising it starts waiting requests at once;
 * lowering it stops no running transfer.
 *
 * @param downloader NULL: the shared one.
 * @param count At least 1.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for 0 or less; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_max_concurrent_downloads(
    sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes how many transfers may run at a time to one host and port. Otherwise as
 * sdd_downloader_set_max_concurrent_downloads().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_max_concurrent_per_host(
    sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes sdd_downloader_config.min_host_interval_ms. It applies after later starts, and for a host
 * whose interval has not yet passed, from its last start.
 *
 * @param milliseconds 0 (no interval) up to 34 years.
 * @return As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_min_host_interval(sdd_downloader *SDD_NULLABLE downloader,
                                                        int64_t milliseconds);

/**
 * Changes sdd_downloader_config.reserved_urgent_slots. While it is not less than
 * max_concurrent_downloads, one slot is left for other requests.
 *
 * @param count 0 or more.
 * @return As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_reserved_urgent_slots(
    sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes the order in which requests of the same priority begin, also for those already waiting.
 *
 * @param order One of SDD_ORDER_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another number; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_execution_order(sdd_downloader *SDD_NULLABLE downloader,
                                                      sdd_execution_order order);

/**
 * Changes download_timeout_ms for requests submitted from now on.
 *
 * @param timeout_ms 0: the default, 15000.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a negative number; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_download_timeout(sdd_downloader *SDD_NULLABLE downloader,
                                                       int64_t timeout_ms);

/**
 * Changes the credential for requests submitted from now on without one of their own.
 *
 * @param credential Copied. NULL: none.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for an invalid one (a part missing, control
 *     characters); SDD_ERROR_UNSUPPORTED; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_credential(sdd_downloader *SDD_NULLABLE downloader,
                                                 const sdd_credential *SDD_NULLABLE credential);

/**
 * Changes the modifiers for requests submitted from now on without modifiers of their own.
 *
 * @param modifiers Copied. NULL: none. On an error its user_data_free is not called.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_modifiers(sdd_downloader *SDD_NULLABLE downloader,
                                                const sdd_modifiers *SDD_NULLABLE modifiers);

/**
 * Changes the decode options for requests submitted from now on without options of their own.
 *
 * @param downloader NULL: the shared one.
 * @param options Copied, with the allocator. Without `pixels`, which are for one picture. NULL: the
 *     initial ones, RGBA8, turned by the Exif orientation.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for an invalid format or number;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_decode_options(
    sdd_downloader *SDD_NULLABLE downloader, const sdd_decode_options *SDD_NULLABLE options);

/**
 * Limits the memory of all pictures in the process that are being decoded or wait to be delivered.
 *
 * If there is no room, bodies wait for it, the most urgent first; with more than 8 MiB of waiting
 * bodies no new transfer starts. Nothing fails, and no thread waits. A picture that is decoded
 * while it arrives gives up its room as soon as a complete body needs it, and is decoded when it is
 * complete, so that no picture waits for another's slow server. A downloader that holds no picture
 * decodes its next one in any case: a picture larger than the limit gets its turn, and an
 * application that does not take its results blocks no other downloader. Memory stops counting when
 * the callback that delivers it begins.
 *
 * sdd_get() and batches never wait for results that are not taken: their pictures have room of
 * their own in each downloader and count only while they are decoded, and their transfers always
 * start and go on. Both may thus be called inside a callback, whatever waits behind it.
 *
 * @param bytes At least 1; 0: the default, 192 MiB.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a negative number.
 * Thread: any.
 */
SDD_API sdd_status sdd_process_set_decode_memory_limit(int64_t bytes);

/**
 * The main function of a process that decodes for SDD_DECODE_ISOLATED, for an application that
 * brings a program of its own in place of sdd-decoder, because it is linked statically or has no
 * such file; SDD_DECODER then names it. The program does nothing before this call:
 *
 *     int main(int argc, char **argv) { return sdd_decoder_main(argc, argv); }
 *
 * It decodes what the application's process sends, and returns when that destroys its downloader;
 * the process is killed when the application ends. It closes all other descriptors and gives up the
 * right to open files, to connect, and to start processes and threads.
 *
 * @param argc, argv Those of main().
 * @return The exit status: 0; 1: a coder cannot be loaded; 2: the system lacks seccomp(2); 64: the
 *     program was not started by the library, and nothing was done.
 * Thread: the main thread, as the only one.
 */
SDD_API int sdd_decoder_main(int argc, char *SDD_NULLABLE *SDD_NULLABLE argv);

/**
 * Reads the current configuration: the one given at creation, with defaults filled in and later
 * changes included.
 *
 * @param downloader NULL: the shared one.
 * @param config Its struct_size says how much is wanted. Its groups and strings belong to the
 *     downloader; credential, modifiers, resolve and address_exceptions are NULL, and `proxy` is
 *     without user and password.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *     SDD_ERROR_NO_RESOURCES.
 * Thread: any. Lifetime: groups and strings, until sdd_downloader_destroy().
 */
SDD_API sdd_status sdd_downloader_get_config(sdd_downloader *SDD_NULLABLE downloader,
                                             sdd_downloader_config *SDD_NONNULL config);

/**
 * Stops starting transfers. Running ones go on; waiting requests keep their places and can be
 * cancelled.
 *
 * @return SDD_OK, also if already suspended; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_suspend(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Starts transfers again, after sdd_downloader_suspend().
 *
 * @return As sdd_downloader_suspend().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_resume(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Returns 1 after sdd_downloader_suspend(), else 0, also for a dead handle.
 * Thread: any.
 */
SDD_API int32_t sdd_downloader_is_suspended(sdd_downloader *SDD_NULLABLE downloader);

/**
 * Tells the downloader that the application is in the background: no transfer starts, and running
 * ones are paused.
 *
 * Transfers that a request with SDD_OPTION_CONTINUE_IN_BACKGROUND waits for go on during the grace
 * time; at its end they are cancelled, with SDD_ERROR_CANCELLED and
 * SDD_DETAIL_CANCELLED_BACKGROUND. While a transfer is paused, its limits on connecting, first
 * byte, silence and slowness rest; the queue and total limits do not. Over HTTP/2, where libcurl
 * can only pause all transfers of a connection together, data that arrives for a paused transfer is
 * kept, up to max_body_bytes, until the foreground.
 *
 * @param downloader NULL: the shared one.
 * @param grace_ms From now; 0: none; negative: no end. A later call replaces it.
 * @return SDD_OK; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_enter_background(sdd_downloader *SDD_NULLABLE downloader,
                                                   int64_t grace_ms);

/**
 * Tells the downloader that the application is back: everything goes on, the most urgent first.
 *
 * @return SDD_OK, also without sdd_downloader_enter_background() before; otherwise as
 *     sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_enter_foreground(sdd_downloader *SDD_NULLABLE downloader);

/* ----------------------------------------------------------------------------------- submitting */

/**
 * Cancels every request of a downloader, as sdd_cancel() would.
 *
 * @param downloader NULL: the shared one.
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_cancel_all(sdd_downloader *SDD_NULLABLE downloader);

/**
 * WAITS until every request of a downloader has ended and its terminal callback has returned,
 * including requests that are submitted meanwhile. With SDD_DELIVERY_APPLICATION it calls the
 * callbacks itself.
 *
 * @param downloader NULL: the shared one.
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMEOUT; SDD_ERROR_WOULD_DEADLOCK inside a callback of this
 *     downloader; SDD_ERROR_BUSY if another thread is taking its events; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any except the downloader's own callback thread.
 */
SDD_API sdd_status sdd_downloader_idle_wait(sdd_downloader *SDD_NULLABLE downloader,
                                            int64_t timeout_ms);

/**
 * Encodes an image like sdd_image_encode(), on a decode thread and without waiting. It is a request
 * like others: its token can be cancelled, and it ends exactly once.
 *
 * @param downloader The downloader whose decode threads encode, after bodies of higher priority,
 *     and that delivers the end. NULL: the shared one.
 * @param image Retained until the end; pixels in memory that sdd_decode_options.pixels has lent are
 *     copied. Its pixels are encoded; the bytes it came from are not used.
 * @param options Copied. NULL: the defaults.
 * @param completed Receives a result with the encoded bytes (no image, no url, no response), or
 *     with the failure that sdd_image_encode() would give. May be NULL only with
 *     SDD_DELIVERY_APPLICATION.
 * @param user_data Passed to `completed`.
 * @param user_data_free Called once, after the end. May be NULL.
 * @return The token. 0: nothing will be called; sdd_last_error() says why.
 * Thread: any.
 */
SDD_API sdd_token sdd_downloader_encode(sdd_downloader *SDD_NULLABLE downloader,
                                        sdd_image *SDD_NONNULL image,
                                        const sdd_encode_options *SDD_NULLABLE options,
                                        sdd_result_fn SDD_NULLABLE completed,
                                        void *SDD_NULLABLE user_data,
                                        sdd_user_data_free_fn SDD_NULLABLE user_data_free);

/* -------------------------------------------------------------------------------------- cookies */

/** A cookie (RFC 6265). */
typedef struct sdd_cookie {
    size_t struct_size;
    const char *SDD_NULLABLE name;
    const char *SDD_NULLABLE value;
    const char *SDD_NULLABLE domain; /* "example.org" */
    const char *SDD_NULLABLE path;   /* NULL: "/" */
    int32_t include_subdomains;      /* 1: also for hosts in subdomains of domain */
    int32_t secure; /* 1: only over https, and to 127.0.0.1, ::1 and localhost also over http */
    int32_t http_only;               /* 1: hidden from scripts; stored, but without effect here */
    int64_t expires_ms; /* milliseconds since 1970; 0: when the downloader is destroyed */
} sdd_cookie;

#define SDD_COOKIE_INIT \
    { sizeof(sdd_cookie), NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/**
 * Adds a cookie to a downloader, or replaces the one with the same name, domain and path. Requests
 * with SDD_OPTION_HANDLE_COOKIES send the downloader's cookies and add those that servers set. For
 * libcurl up to 7.88 names that differ only in the case of their letters are the same name.
 *
 * @param cookie Copied. name, value and domain are required.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a part that is missing, has control characters or
 *     ";", or is over 4096 bytes, for name and value that together are (RFC 6265 section 6.1), and
 *     for a public suffix with include_subdomains; for a name with "__Secure-" or "__Host-" without
 *     `secure`, and for one with "__Host-" with include_subdomains or another path than "/";
 *     SDD_ERROR_UNSUPPORTED; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_cookie(sdd_downloader *SDD_NULLABLE downloader,
                                             const sdd_cookie *SDD_NONNULL cookie);

/**
 * Takes a snapshot of a downloader's cookies. A byte of a cookie that is not UTF-8 is one of the
 * characters U+10FF80 to U+10FFFF, which sdd_downloader_set_cookie() makes that byte again.
 *
 * @param out Receives the cookies, owned by the caller: release with sdd_cookies_release(). NULL on
 *     an error.
 * @return SDD_OK, also if there are none; SDD_ERROR_INVALID_ARGUMENT; otherwise as
 *     sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_get_cookies(sdd_downloader *SDD_NULLABLE downloader,
                                              sdd_cookies *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Returns the number of cookies, or 0 for NULL.
 * Thread: any.
 */
SDD_API size_t sdd_cookies_count(sdd_cookies *SDD_NULLABLE cookies);

/**
 * Reads one cookie.
 *
 * @param index From 0 to sdd_cookies_count() - 1.
 * @param cookie Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: the strings, until sdd_cookies_release().
 */
SDD_API sdd_status sdd_cookies_at(sdd_cookies *SDD_NULLABLE cookies, size_t index,
                                  sdd_cookie *SDD_NONNULL cookie);

/**
 * Releases cookies. NULL does nothing.
 * Thread: any.
 */
SDD_API void sdd_cookies_release(sdd_cookies *SDD_NULLABLE cookies);

/**
 * Removes cookies of a downloader.
 *
 * @param domain Removes those of this domain and its subdomains. NULL: all.
 * @return SDD_OK, also if there were none; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_clear_cookies(sdd_downloader *SDD_NULLABLE downloader,
                                                const char *SDD_NULLABLE domain);

/* --------------------------------------------------------------------------------------- caches */

/**
 * Switches a downloader to offline mode. Requests that use the HTTP cache are then answered from
 * it, however stale, and end with SDD_ERROR_NOT_CACHED if it has nothing. Other requests still use
 * the network.
 *
 * @param downloader NULL: the shared one.
 * @param is_offline 1 or 0; initially 0.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_set_offline(sdd_downloader *SDD_NULLABLE downloader,
                                              int32_t is_offline);

SDD_END_DECLS

#endif /* SDD_DOWNLOADER_H */

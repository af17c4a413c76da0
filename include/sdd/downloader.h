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
 * Makes a downloader with connections, headers, limits and threads of its own.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_downloader_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a field out of range, fields that exclude each
 *     other, or out NULL; SDD_ERROR_UNSUPPORTED for a config from a newer header, or a feature that
 *     libcurl was built without; SDD_ERROR_NO_RESOURCES when the system gives no thread or
 *     descriptor.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_create(const sdd_downloader_config *SDD_NULLABLE config,
                                         sdd_downloader *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what is under way, delivers every terminal callback that is owed, ends the threads. WAITS
 * for all of that, within the time a callback of yours and one decoding step take.
 *
 * With SDD_DELIVERY_APPLICATION the callbacks owed are called here, on the calling thread. Called
 * inside a callback of this downloader it does not wait: the handle is dead at once, and the rest
 * happens when that callback has returned. Images and bytes live on by their own references.
 * @param downloader Dead from now on. NULL and the shared downloader are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT for the
 *     shared downloader; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_destroy(sdd_downloader *SDD_NULLABLE downloader);

/** How sdd_downloader_close() ends what is under way. Since: 0.2.0. */
enum {
    SDD_CLOSE_CANCEL = 0, /* cancels it */
    SDD_CLOSE_DRAIN = 1   /* lets it end, what waits included */
};

/**
 * Takes no more requests. Does not wait: sdd_wait_idle() does, and sdd_downloader_destroy() still
 * follows.
 *
 * Every request that is under way ends with its one terminal callback. A request submitted from now
 * on ends with SDD_ERROR_INVALID_DOWNLOAD_OPERATION and SDD_DETAIL_OPERATION_CLOSED. A drained
 * downloader may be closed again with SDD_CLOSE_CANCEL.
 * @param downloader Not the shared one.
 * @param mode One of SDD_CLOSE_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for the shared downloader, NULL, or another mode;
 *     SDD_ERROR_CLOSED if it is destroyed; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_close(sdd_downloader *SDD_NULLABLE downloader, int32_t mode);

/**
 * The shared downloader, which NULL stands for in every call: defaults throughout,
 * SDD_DELIVERY_THREAD.
 *
 * Made on first use; it cannot be destroyed.
 * @return Its handle; NULL if it cannot be made (no thread), and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.1.0.
 */
SDD_API sdd_downloader *SDD_NULLABLE sdd_downloader_shared(void);

/**
 * Sets a header field for all requests submitted from now on.
 *
 * A new downloader has "User-Agent: libsdd/0.2.0 (Linux; x86_64) curl/7.88.1", with the versions
 * and machine at hand. Its "Accept" takes any content type, and prefers what can be decoded:
 * image/jpeg, image/png, and the sdd_coder.mime_type of the coders of the process and of the
 * downloader that are there when a request is submitted; until it is set, or removed, here
 * (sdd_downloader_get_header() shows it).
 * @param downloader NULL: the shared one.
 * @param name An HTTP token (RFC 9110 section 5.1), compared without regard to case. Copied.
 * @param value Text without control characters, TAB excepted (RFC 9110 section 5.5). Copied. NULL
 *     removes what was set: the field is then not sent, except for two that requests have by
 *     themselves: "Host" (RFC 9110 section 7.2: every request must have it) is then that of the
 *     URL, and "Accept-Encoding" names the codings that the library unpacks. To ask for a body that
 *     is not packed, set "Accept-Encoding" to "identity"; see also SDD_OPTION_BODY_AS_SENT.
 * @return SDD_OK, also when there was nothing to remove; SDD_ERROR_INVALID_ARGUMENT for a name or
 *     value that HTTP does not allow; SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_NO_RESOURCES
 *     when the shared downloader cannot be made.
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_set_header(sdd_downloader *SDD_NULLABLE downloader,
                                  const char *SDD_NONNULL name, const char *SDD_NULLABLE value);

/**
 * Reads a header field that was set for all requests, by sdd_set_header() or as a default of the
 * downloader.
 *
 * A request may carry more: its own fields, "Host", "Accept-Encoding", a cookie, a credential, a
 * range.
 * @param downloader NULL: the shared one.
 * @param name Compared without regard to case.
 * @param buffer Receives the value and a NUL. May be NULL if capacity is 0, to ask for the length.
 * @param capacity Size of buffer, in bytes.
 * @param length Receives the value's length without the NUL, also with SDD_ERROR_BUFFER_TOO_SMALL.
 *     May be NULL.
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL (length + 1 bytes are needed, nothing is written to
 *     buffer); SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT; and as sdd_set_header().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_get_header(sdd_downloader *SDD_NULLABLE downloader,
                                             const char *SDD_NONNULL name,
                                             char *SDD_NULLABLE buffer, size_t capacity,
                                             size_t *SDD_NULLABLE length);

/**
 * Changes how many transfers may run at a time. Raising it starts waiting requests at once;
 * lowering it stops none that runs.
 *
 * @param downloader NULL: the shared one.
 * @param count At least 1.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for 0 or less; and as sdd_set_header().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_status sdd_downloader_set_max_concurrent_downloads(
    sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes how many transfers may run at a time to one host and port. As
 * sdd_downloader_set_max_concurrent_downloads().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_max_concurrent_per_host(
    sdd_downloader *SDD_NULLABLE downloader, int32_t count);

/**
 * Changes min_host_interval_ms, see sdd_downloader_config: after the starts to come, and for hosts
 * whose time is not over yet, from the last start on.
 *
 * @param milliseconds 0 or more, up to 34 years; 0: none.
 * @return As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_min_host_interval(sdd_downloader *SDD_NULLABLE downloader,
                                                        int64_t milliseconds);

/**
 * Changes reserved_urgent_slots, see sdd_downloader_config. While it is not less than
 * max_concurrent_downloads, one place is left for the others.
 *
 * @param count 0 or more.
 * @return As sdd_downloader_set_max_concurrent_downloads().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_reserved_urgent_slots(sdd_downloader *SDD_NULLABLE downloader,
                                                            int32_t count);

/**
 * Changes the order in which requests of the same priority begin, also for those that wait already.
 *
 * @param order One of SDD_ORDER_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for another number; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_execution_order(sdd_downloader *SDD_NULLABLE downloader,
                                                      int32_t order);

/**
 * Changes download_timeout_ms for requests submitted from now on.
 *
 * @param timeout_ms 0: the default, 15000.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a negative number; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_download_timeout(sdd_downloader *SDD_NULLABLE downloader,
                                                       int64_t timeout_ms);

/**
 * Changes the credential of requests submitted from now on that have none of their own.
 *
 * @param credential Copied. NULL: none.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for one that cannot be (a part missing, control
 *     characters); SDD_ERROR_UNSUPPORTED for one from a newer header; and as sdd_set_header().
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
 * @param options Borrowed for the call, copied, with its allocator. Without `pixels`, which are of
 *     one picture only. NULL: RGBA8, turned as Exif says, as at the start.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: a format or number that does not exist;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_decode_options(sdd_downloader *SDD_NULLABLE downloader,
                                          const sdd_decode_options *SDD_NULLABLE options);

/**
 * Changes how much memory the pictures of this process may take that are being decoded, or wait to
 * be delivered.
 *
 * Where there is no room, bodies wait for it, the most urgent first, and over 8 MiB of them no new
 * transfers are started; nothing fails, and no thread waits. Pictures that are decoded while they
 * arrive give their room up as soon as a complete body waits for some, and are decoded when they
 * are complete: no picture waits for a slow server of another. A downloader that has no picture in
 * hand decodes its next one in any case: so that a picture larger than the limit has its turn
 * alone, and an application that does not take its results holds up no other downloader's. What is
 * handed to the application does not count, from the beginning of the callback that hands it over.
 *
 * sdd_get() and batches never wait for results that nobody takes: the pictures of requests that are
 * told their end at once have room of their own in each downloader, and count only while they are
 * decoded; transfers for them start, and go on, whatever else waits. So both may be called inside a
 * callback, while results without number wait behind it.
 * @param bytes At least 1; 0: the default, 192 MiB.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a negative number.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_process_set_decode_memory_limit(int64_t bytes);

/**
 * The configuration as it is now: what was given at creation, with the defaults filled in and live
 * changes included.
 *
 * @param downloader NULL: the shared one.
 * @param config Its struct_size says how much is wanted. Its groups and strings belong to the
 *     downloader; credential, modifiers, resolve and address_exceptions are NULL.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *     SDD_ERROR_NO_RESOURCES.
 * Thread: any. Lifetime: of the groups and strings, until sdd_downloader_destroy(). Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_get_config(sdd_downloader *SDD_NULLABLE downloader,
                                             sdd_downloader_config *SDD_NONNULL config);

/**
 * Starts no more transfers. Those that run go on. Waiting requests keep their places, and can be
 * cancelled.
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
 * Transfers that a request with SDD_OPTION_CONTINUE_IN_BACKGROUND waits for go on during the grace
 * time. When it is over they are cancelled: SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_BACKGROUND.
 * The limits on connecting, first byte, silence and slowness rest while a transfer is paused, the
 * queue and the total limit do not.
 * @param downloader NULL: the shared one. Over HTTP/2, where libcurl can stop one transfer only
 *     together with those that share its connection, what comes is kept unseen, up to
 *     max_body_bytes, until the foreground.
 * @param grace_ms From now; 0: none; negative: no end.
 * @return SDD_OK; called again, the new grace time counts; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_enter_background(sdd_downloader *SDD_NULLABLE downloader,
                                                   int64_t grace_ms);

/**
 * The host is back: everything goes on, the most urgent first.
 *
 * @return SDD_OK, also without sdd_downloader_enter_background() before; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_enter_foreground(sdd_downloader *SDD_NULLABLE downloader);

/* ----------------------------------------------------------------------------------- submitting */

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
 * With SDD_DELIVERY_APPLICATION it calls the callbacks meanwhile, here. Requests that others submit
 * while it waits are waited for too.
 * @param downloader NULL: the shared one.
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT; SDD_ERROR_WOULD_DEADLOCK inside a callback of this
 *     downloader; SDD_ERROR_BUSY if another thread is taking its events; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any but the downloader's own callback thread. Since: 0.1.0.
 */
SDD_API sdd_status sdd_wait_idle(sdd_downloader *SDD_NULLABLE downloader, int64_t timeout_ms);

/**
 * How many transfers wait or run. Requests that share one count once; what is being decoded does
 * not count.
 *
 * @return 0 for a dead handle.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int64_t sdd_downloader_current_download_count(sdd_downloader *SDD_NULLABLE downloader);

/* -------------------------------------------------------------------------------------- cookies */

/** One cookie, RFC 6265. Since: 0.2.0. */
typedef struct sdd_cookie {
    size_t struct_size;
    const char *SDD_NULLABLE name;
    const char *SDD_NULLABLE value;
    const char *SDD_NULLABLE domain; /* "example.org" */
    const char *SDD_NULLABLE path;   /* NULL: "/" */
    int64_t expires;                 /* seconds since 1970; 0: when the downloader is destroyed */
    int32_t include_subdomains;      /* 1: also for hosts below domain */
    int32_t secure;                  /* 1: over https alone */
    int32_t http_only;               /* 1: kept from scripts; means nothing here but is kept */
    int32_t reserved;                /* 0 */
} sdd_cookie;

#define SDD_COOKIE_INIT \
    { sizeof(sdd_cookie), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 }

/**
 * Adds a cookie to those of a downloader, or replaces the one of that name, domain and path.
 * Requests with SDD_OPTION_HANDLE_COOKIES send it, and keep in the same place what servers set.
 *
 * @param cookie Copied. name, value and domain are needed.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT for a part that is missing, has control characters or
 *     ";", or is over 4096 bytes, and for a public suffix with include_subdomains;
 *     SDD_ERROR_UNSUPPORTED; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_cookie(sdd_downloader *SDD_NULLABLE downloader,
                                             const sdd_cookie *SDD_NONNULL cookie);

/**
 * The cookies of a downloader as they are now.
 *
 * @param out Receives them, owned by the caller: release with sdd_cookies_release(); NULL on an
 *     error.
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
SDD_API sdd_status sdd_cookies_at(sdd_cookies *SDD_NULLABLE cookies, size_t index,
                                  sdd_cookie *SDD_NONNULL cookie);

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
SDD_API sdd_status sdd_downloader_clear_cookies(sdd_downloader *SDD_NULLABLE downloader,
                                                const char *SDD_NULLABLE domain);

/* --------------------------------------------------------------------------------------- caches */

/**
 * Whether the HTTP cache of a downloader is all there is: requests that use it are then answered by
 * what it has, however stale, and end with SDD_ERROR_NOT_CACHED if that is nothing. Other requests
 * go to the network as ever.
 *
 * @param downloader NULL: the shared one.
 * @param is_offline 1 or 0; 0 at first.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_set_offline(sdd_downloader *SDD_NULLABLE downloader,
                                              int32_t is_offline);

SDD_END_DECLS

#endif /* SDD_DOWNLOADER_H */

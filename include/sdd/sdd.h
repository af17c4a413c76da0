/*
 * sdd/sdd.h - libsdd: asynchronous image downloads for C, C++ and everything that can call C.
 *
 * This is the one header to include. A first program:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void completed(const sdd_result *result, void *user_data)
 *     {
 *         (void)user_data;
 *         if (result->failure.status != SDD_OK) fprintf(stderr, "%s\n", result->failure.message);
 *         else printf("%d x %d\n", (int)sdd_image_width(result->image),
 *                     (int)sdd_image_height(result->image));
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         return sdd_downloader_idle_wait(NULL, 30000) != SDD_OK;
 *     }
 *
 * It prints: 37 x 29
 *
 * For everything that a load can have, fill an sdd_load_request and give it to sdd_loader_submit();
 * where no cache is wanted, an sdd_download_request to sdd_downloader_submit().
 * sdd_downloader_create(), sdd_cache_create() and sdd_loader_create() create separate objects in
 * place of the shared ones; sdd_downloader_event_fd() and sdd_downloader_drain() deliver events to
 * a thread of the application.
 *
 * CHAPTERS
 *
 *     base.h        versions, handles, tokens, byte buffers
 *     error.h       status numbers, details, failures
 *     image.h       pixels, frames, metadata, what is known of a picture
 *     codec.h       decoding, encoding, transforms, placeholders
 *     gainmap.h     gain maps, for displays for HDR
 *     result.h      results, responses, metrics
 *     modifier.h    modifiers of requests, responses and bodies
 *     extend.h      transports and coders of the application
 *     request.h     options, requests, submitting, tokens
 *     config.h      the configuration of a downloader
 *     downloader.h  downloaders, their settings, cookies
 *     cache.h       caches in memory and on disk, the HTTP cache
 *     entry.h       entries of a cache: storing, querying, removing, keys
 *     loader.h      loaders, failed URLs, prefetching
 *     batch.h       batches and tensors
 *     event.h       observers, logs, statistics, events on a thread of the application
 *
 * THE RULES, which hold for every function unless its comment says otherwise. The application is
 * the program that calls the library; a host is a server, as in HTTP.
 *
 * Names      are sdd_<object>_<verb>, or what a getter gives in place of the verb. Eight calls that
 *            most programs make have short ones: sdd_load, sdd_download, sdd_prefetch, sdd_get,
 *            sdd_cancel, sdd_set_priority, sdd_set_header and sdd_get_header.
 * Waiting    A function waits for the network or the disk only if its name ends with _wait, or is
 *            sdd_get() or one that creates or destroys an object (the first use of a shared one
 *            creates it). Where there are two forms, such as sdd_loader_submit() and
 *            sdd_loader_submit_wait(), both take the same struct. What else WAITS does so for work
 *            on the calling thread, and its comment says so.
 * Handles    An `sdd_downloader *`, `sdd_cache *`, `sdd_loader *` or `sdd_batch *` is a handle,
 *            never a memory address. NULL stands for the shared object of that kind, made on first
 *            use (batches have none). A handle that was destroyed is recognised: the call gives
 *            SDD_ERROR_CLOSED and does nothing.
 * Requests   Every accepted request ends with exactly ONE terminal callback (success, error, cancel
 *            or destroy), never inside the call that submitted it, never after
 *            sdd_downloader_destroy() has returned (except where a callback calls that). Its
 *            `user_data_free` follows, once, when none of its callbacks runs any more.
 * Tokens     An sdd_token is a 64-bit id, never used twice in a process; 0 is none. A call with the
 *            token of a request that has ended does nothing and gives SDD_ERROR_NOT_FOUND.
 * Threads    Every function may be called from any thread at any time, also inside a callback. A
 *            function that does not wait takes locks for a moment and does no I/O. The first use of
 *            a shared object creates it, which starts threads and opens the cache's directory.
 *            Functions that wait for requests must not be called on sdd-net (functions of an
 *            sdd_transport, address_filter) nor on decode threads (response modifier, body
 *            transform, functions of an sdd_coder): they would wait for themselves. Callbacks run
 *            with no lock of the library held: on one long-lived thread of the downloader
 *            (SDD_DELIVERY_THREAD), or inside sdd_downloader_dispatch(), sdd_downloader_wait(),
 *            sdd_downloader_idle_wait() and sdd_downloader_destroy() (SDD_DELIVERY_APPLICATION).
 *            A thread that calls the library needs a stack of 128 KiB, and of 256 KiB if it decodes
 *            or encodes itself with coders (sdd_image_decode(), sdd_image_encode()), beside what
 *            its callbacks take.
 * Callbacks  must not throw a C++ exception, longjmp, or call pthread_exit: nothing above them
 *            could clean up. With SDD_NOEXCEPT_CALLBACKS their types are noexcept.
 * Strings    are UTF-8 and end with NUL. The library copies strings that it is given before the
 *            call returns. Strings that it gives are borrowed until the time that their comment
 *            names.
 * Structs    begin with `struct_size`, set by the SDD_..._INIT macro, or by hand in a zeroed
 *            struct. 0 or NULL in any other field always means its default. Later versions only
 *            append fields: a shorter struct (from an older header) is read with the missing fields
 *            as zero; a longer one is accepted if the part that this version does not know is all
 *            zero, and otherwise refused with SDD_ERROR_UNSUPPORTED. A size that is no multiple of
 *            the struct's alignment, or that cuts a field in two, gives SDD_ERROR_INVALID_ARGUMENT.
 *            A struct that the library fills is never written past struct_size.
 * Numbers    In a field 0 is the default, and SDD_NO_LIMIT in one that sets a limit: no limit. In
 *            what the library fills, -1 is a number that is not known. Durations are int64_t
 *            milliseconds, measured times int64_t microseconds, sizes bytes or pixels: names end
 *            with _ms, _us, _bytes. Numbers in these headers never change their meaning, and are
 *            never reused. Every list of numbers has a type of its own: int32_t, or uint64_t for
 *            option bits and authentication schemes.
 * Errors     Functions that can fail return an sdd_status, or a token or pointer that is then 0 or
 *            NULL. Outputs are written only on success, unless a comment says otherwise. A NULL
 *            that is not allowed gives SDD_ERROR_INVALID_ARGUMENT, never a crash. sdd_last_error()
 *            tells all about the last failure of the calling thread, sdd_last_error_message() in a
 *            sentence. What failed later, in a request, is sdd_result.failure.
 * Ends       Destroy batches before their loader, loaders before their downloader, and the caches
 *            last. Any other order is safe: what a dead object would have done ends with an error.
 * fork       In the child of a fork() every handle of the parent is dead, also those of its shared
 *            objects: calls give SDD_ERROR_FORKED, take no lock and change nothing; calls with its
 *            tokens and transfers give SDD_ERROR_NOT_FOUND; none of its callbacks runs there. A
 *            child that was forked inside a callback ends if it returns from it on sdd-callback.
 *            Images and bytes that the child holds stay readable. The child may create objects of
 *            its own, and NULL stands for new shared objects there, made on first use with all
 *            defaults: they do not inherit header fields, cookies and limits that were set on the
 *            parent's shared objects. Settings of the process stay: the coders of
 *            sdd_process_add_coder(), and sdd_process_set_decode_memory_limit(). A child that ends
 *            by _exit(), as the children of Python's process pools do, must call
 *            sdd_cache_flush_wait() first to have its stored entries on disk. A process may fork at
 *            any time, also while other threads use the library for the first time: the fork waits
 *            for a moment until no other thread holds a lock that the child needs, of the library
 *            or of the Swift runtime in it. It does not wait for locks of other libraries, such as
 *            the TLS library. A fork in the constructor of a shared object (dlopen(3)) waits for at
 *            most two seconds for a thread that is loading a coder or initializing libcurl: if that
 *            has not ended then, the child is without that coder, or must not create a downloader.
 * exec       All descriptors of the library are close-on-exec; two of libcurl before 8.8.0 for each
 *            network thread, and for each name that is being looked up, are not. A process that
 *            replaces itself (execve(2)) destroys its downloaders first, or closes what is above 2,
 *            by close_range(3, ~0U, 0); otherwise they stay open in it.
 * exit       A process may exit at any time: running requests are dropped, without their callbacks,
 *            after a wait of a few milliseconds for the network threads. Destroy a downloader first
 *            if its callbacks matter. Caches write what they have still to write, as in
 *            sdd_cache_destroy(). With SDD_LOG=warning a line reports the number of unfinished
 *            requests.
 * Signals    The library installs no signal handler, raises no SIGPIPE, and its threads have every
 *            signal blocked.
 * Memory     Bodies and pixels, whose size a server decides, are allocated after their limits have
 *            been checked, and a failure is an error. Small allocations that fail end the process,
 *            as in any program in Swift.
 */
#ifndef SDD_SDD_H
#define SDD_SDD_H

#include "base.h"
#include "error.h"
#include "image.h"
#include "codec.h"
#include "gainmap.h"
#include "result.h"
#include "modifier.h"
#include "extend.h"
#include "request.h"
#include "config.h"
#include "downloader.h"
#include "cache.h"
#include "entry.h"
#include "loader.h"
#include "batch.h"
#include "event.h"

#endif /* SDD_SDD_H */

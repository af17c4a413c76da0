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
 *         if (result->error != SDD_OK) fprintf(stderr, "%s\n", result->message);
 *         else printf("%d x %d\n", (int)sdd_image_width(result->image),
 *                     (int)sdd_image_height(result->image));
 *     }
 *
 *     int main(void)
 *     {
 *         sdd_load(NULL, "https://example.org/a.jpg", 0, NULL, completed, NULL);
 *         return sdd_wait_idle(NULL, 30000) != SDD_OK;
 *     }
 *
 * It prints: 37 x 29
 *
 * For everything that a load can have, fill an sdd_load_request and give it to
 * sdd_loader_submit(); where no cache is wanted, an sdd_download_request to
 * sdd_downloader_submit(). sdd_downloader_create(), sdd_cache_create() and sdd_loader_create()
 * create separate objects in place of the shared ones; sdd_event_fd() and sdd_drain() deliver
 * events to a thread of the application.
 *
 * CHAPTERS
 *
 *     base.h        versions, handles, tokens, byte buffers
 *     error.h       status numbers, details, messages
 *     image.h       pixels, frames, metadata, facts about encoded pictures
 *     codec.h       decoding, encoding, transforms
 *     result.h      results, responses, timings, metrics
 *     modifier.h    modifiers of requests, responses and bodies
 *     extend.h      transports and coders of the application
 *     request.h     options, requests, submitting, tokens
 *     config.h      the configuration of a downloader
 *     downloader.h  downloaders, their settings, cookies
 *     cache.h       caches in memory and on disk, the HTTP cache
 *     entry.h       entries of a cache: storing, querying, removing, keys
 *     loader.h      loaders, failed URLs, prefetching
 *     batch.h       batches and tensors (may still change before 1.0)
 *     event.h       observers, logs, statistics, events on a thread of the application
 *
 * THE RULES, which hold for every function unless its comment says otherwise. The application is
 * the program that calls the library; a host is a server, as in HTTP.
 *
 * Handles    An `sdd_downloader *`, `sdd_cache *`, `sdd_loader *` or `sdd_batch *` is a handle,
 *            never a memory address. NULL stands for the shared object of that kind, made on first
 *            use (batches have none). A handle that was destroyed is recognised: the call gives
 *            SDD_ERROR_CLOSED and does nothing.
 * Requests   Every accepted request ends with exactly ONE terminal callback (success, error, cancel
 *            or destroy), never inside the call that submitted it, never after
 *            sdd_downloader_destroy() has returned. Its `user_data_free` follows, once.
 * Tokens     An sdd_token is a 64-bit id, never used twice in a process; 0 is none. A call with the
 *            token of a request that has ended does nothing and gives SDD_ERROR_NOT_FOUND.
 * Threads    Every function may be called from any thread at any time, also inside a callback. A
 *            function blocks only where its comment says WAITS, and only for what the comment
 *            names; all others take locks for a moment and do no I/O. The first use of a shared
 *            object creates it, which starts threads and opens the cache's directory. Functions
 *            that WAIT for requests must not be called on sdd-net (functions of an sdd_transport,
 *            address_filter) nor on decode threads (response modifier, body transform, functions of
 *            an sdd_coder): they would wait for themselves. Callbacks run with no lock of the
 *            library held: on one long-lived thread of the downloader (SDD_DELIVERY_THREAD), or
 *            inside sdd_dispatch(), sdd_wait(), sdd_wait_idle() and sdd_downloader_destroy()
 *            (SDD_DELIVERY_APPLICATION).
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
 * Errors     Functions that can fail return an sdd_status. Outputs are written only on success,
 *            unless a comment says otherwise. A NULL that is not allowed gives
 *            SDD_ERROR_INVALID_ARGUMENT, never a crash. sdd_last_error_message() returns a sentence
 *            on why a call failed, or gave 0 or NULL.
 * fork       In the child of a fork() every handle of the parent is dead, also those of its shared
 *            objects: calls give SDD_ERROR_FORKED, take no lock and change nothing; calls with its
 *            tokens and transfers give SDD_ERROR_NOT_FOUND; none of its callbacks runs there. A
 *            child that was forked inside a callback ends if it returns from it on sdd-callback.
 *            Images and bytes that the child holds stay readable. The child may create objects of
 *            its own, and NULL stands for new shared objects there, made on first use with all
 *            defaults: they do not inherit header fields, cookies and limits that were set on the
 *            parent's shared objects. Settings of the process stay: the coders of
 *            sdd_coder_register(), and sdd_process_set_decode_memory_limit(). A child that ends by
 *            _exit(), as the children of Python's process pools do, must call sdd_cache_flush()
 *            first to have its stored entries on disk. A process may fork at any time, also while
 *            other threads use the library for the first time: the fork waits for a moment until no
 *            other thread holds a lock that the child needs, of the library or of the Swift runtime
 *            in it. It does not wait for locks of other libraries, such as the TLS library. A fork
 *            in the constructor of a shared object (dlopen(3)) waits for at most two seconds for a
 *            thread that is loading a coder or initializing libcurl: if that has not ended then,
 *            the child is without that coder, or must not create a downloader.
 * exit       A process may exit at any time: running requests are dropped, without their callbacks,
 *            after a wait of a few milliseconds for the network threads. Destroy a downloader first
 *            if its callbacks matter. With SDD_LOG=warning a line reports the number of unfinished
 *            requests.
 * Signals    The library installs no signal handler, raises no SIGPIPE, and its threads have every
 *            signal blocked.
 * Memory     Bodies and pixels, whose size a server decides, are allocated after their limits have
 *            been checked, and a failure is an error. Small allocations that fail end the process,
 *            as in any program in Swift.
 *
 * Durations are int64_t milliseconds, measured times int64_t microseconds, sizes bytes or pixels.
 * Numbers in these headers never change their meaning, and are never reused.
 */
#ifndef SDD_SDD_H
#define SDD_SDD_H

#include "base.h"
#include "error.h"
#include "image.h"
#include "codec.h"
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

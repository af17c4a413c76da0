/*
 * sdd/sdd.hpp - libsdd in C++17: owners of the C objects, lambdas as callbacks, results, futures,
 * and coroutines where the compiler has them (C++20). Header only. A first program:
 *
 *     #include <sdd/sdd.hpp>
 *     #include <iostream>
 *
 *     int main()
 *     {
 *         sdd::loader loader = sdd::loader::shared();
 *         const auto small = sdd::decode_options::to_size(20, 20);
 *         sdd::load_request request;
 *         request.url = "https://example.org/a.jpg";
 *         request.decode = small;
 *         sdd::result<sdd::loaded> loaded = loader.load(request).get();
 *         if (!loaded) {
 *             std::cerr << loaded.error().what() << '\n';
 *             return 1;
 *         }
 *         std::cout << loaded->image.width() << " x " << loaded->image.height() << '\n';
 *     }
 *
 * It prints: 20 x 16
 *
 * CHAPTERS, each a file of sdd/cpp
 *
 *     base.hpp        views of memory, references, owners, bytes, exceptions in callbacks
 *     error.hpp       errors, results
 *     image.hpp       images, pixels, decoding, encoding, transforms
 *     result.hpp      responses, outcomes of requests
 *     pending.hpp     requests under way: waiting, futures, coroutines
 *     modifier.hpp    modifiers of requests, responses and bodies
 *     stores.hpp      levels of a cache that the application keeps
 *     settings.hpp    types of the fields in options.hpp: functions, limits, tensors
 *     options.hpp     settings of requests, downloaders, caches and batches
 *     event.hpp       events, observers, cookies
 *     extend.hpp      transports and coders of the application
 *     downloader.hpp  downloaders
 *     cache.hpp       caches
 *     loader.hpp      loaders, prefetching
 *     batch.hpp       batches
 *
 * THE RULES, beside those of sdd.h, which hold here too.
 *
 * Names      are those of the C header without sdd_, of callbacks with on_; numbers
 *            (SDD_PRIORITY_HIGH), and structs that the library fills, are C's own. The comments of
 *            the C header describe fields and functions; those here say what differs. All that has
 *            no wrapper is reached by get(), which lends the C handle.
 * Waiting    download() and load() give a pending, submit() a token, submit_wait() the result.
 * Ownership  image, bytes and response are references that can be copied: counted. downloader,
 *            cache, loader, batch and cookies own their object, can be moved and not copied: owned.
 *            pending owns a request, and cancels it when it is destroyed.
 * Moved from objects have nothing: a reference is empty, an owner's functions give
 *            SDD_ERROR_CLOSED, a pending has ended.
 * Errors     Functions that can fail return a result: test it, or call value(), which throws
 *            sdd::error: an sdd_failure, and of a request all of its result, by report().
 *            Constructors throw; create() does the same with a result.
 * Exceptions in callbacks never reach the library. One in a callback of a request cancels the
 *            request, and its pending ends with it: get().value() throws it. All others go to the
 *            handler of set_exception_handler().
 * Threads    As in sdd.h. Callbacks run where the downloader delivers: on its thread sdd-callback,
 *            or in dispatch() and wait() with SDD_DELIVERY_APPLICATION. Coroutines are resumed
 *            there, or where pending::on() says.
 * Options    are structs whose fields have the C defaults; in C++20 they take designated
 *            initialisers: loader.load({.url = url, .priority = SDD_PRIORITY_HIGH}). Not within a
 *            co_await expression, where g++ 12 destroys such a temporary twice: name the pending
 *            first, auto pending = loader.load({.url = url}); then co_await pending.
 * Compilers  C++17 or later, also with -fno-exceptions: what would throw then ends the process.
 */
#ifndef SDD_SDD_HPP
#define SDD_SDD_HPP

#if defined(_MSVC_LANG) || __cplusplus < 201703L
#error "sdd/sdd.hpp needs C++17; sdd/sdd.h is for older standards."
#endif

#include "cpp/batch.hpp"

#endif /* SDD_SDD_HPP */

/*
 * sdd/base.h - Versions, handles, tokens and byte buffers, which every other chapter uses.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         sdd_bytes *bytes = sdd_bytes_create("abc", 3);
 *         printf("%d bytes\n", (int)sdd_bytes_size(bytes));
 *         sdd_bytes_release(bytes);
 *         return 0;
 *     }
 *
 * It prints: 3 bytes
 */
#ifndef SDD_BASE_H
#define SDD_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define SDD_NULLABLE _Nullable
#if defined(__swift__)
#define SDD_NONNULL _Nullable /* the library's own code checks for a caller's NULL */
#else
#define SDD_NONNULL _Nonnull
#endif
#else
#define SDD_NULLABLE
#define SDD_NONNULL
#endif

/* Define SDD_API before the first include for other linkage, such as static. */
#ifndef SDD_API
#if defined(__GNUC__) || defined(__clang__)
#define SDD_API __attribute__((visibility("default")))
#else
#define SDD_API
#endif
#endif

/*
 * Define SDD_NOEXCEPT_CALLBACKS before the first include to make callback types noexcept, from
 * C++17 on: the compiler then rejects functions that could throw through the library.
 */
#if defined(SDD_NOEXCEPT_CALLBACKS) && defined(__cplusplus) && __cplusplus >= 201703L
#define SDD_NOEXCEPT noexcept
#else
#define SDD_NOEXCEPT
#endif

/* SDD_ENUM(type) begins a list of named numbers. Where the language allows it they have the type of
   the fields that they are for, so that in the output of tools such as bindgen a field can be
   compared with them. When Swift reads the header, as the library itself does, they have none. */
#if (defined(__cplusplus) && __cplusplus >= 201103L && !defined(SWIG)) || \
    (defined(__clang__) && !defined(__swift__)) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define SDD_ENUM(type) enum : type
#else
#define SDD_ENUM(type) enum
#endif

/* SDD_BEGIN_DECLS and SDD_END_DECLS enclose the declarations of each chapter. */
#ifdef __cplusplus
#define SDD_EXTERN_C_BEGIN extern "C" {
#define SDD_EXTERN_C_END }
#else
#define SDD_EXTERN_C_BEGIN
#define SDD_EXTERN_C_END
#endif
#if defined(__clang__)
#define SDD_BEGIN_DECLS \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpragmas\"") \
        _Pragma("clang diagnostic ignored \"-Wunknown-warning-option\"") \
            _Pragma("clang diagnostic ignored \"-Wnullability-extension\"") \
                _Pragma("clang diagnostic ignored \"-Wfixed-enum-extension\"") \
                    _Pragma("clang diagnostic ignored \"-Wc23-extensions\"") SDD_EXTERN_C_BEGIN
#define SDD_END_DECLS SDD_EXTERN_C_END _Pragma("clang diagnostic pop")
#else
#define SDD_BEGIN_DECLS SDD_EXTERN_C_BEGIN
#define SDD_END_DECLS SDD_EXTERN_C_END
#endif

SDD_BEGIN_DECLS

/* -------------------------------------------------------------------------------------- version */

#define SDD_VERSION_MAJOR 0
#define SDD_VERSION_MINOR 4
#define SDD_VERSION_PATCH 0
#define SDD_VERSION_STRING "0.4.0"

/**
 * Returns the version of the loaded library, as major * 1000000 + minor * 1000 + patch: 4000 for
 * 0.4.0. The SDD_VERSION_ macros are the version of the header.
 * Thread: any.
 */
SDD_API uint32_t sdd_version(void);

/**
 * Returns the version of the loaded library as text, such as "0.4.0": a static string.
 * Thread: any. Lifetime: for ever.
 */
SDD_API const char *SDD_NONNULL sdd_version_string(void);

/* -------------------------------------------------------------------------------------- objects */

/** A downloader: a queue, a connection pool, default headers. A handle, see Handles in sdd.h. */
typedef struct sdd_downloader sdd_downloader;

/** A cache of pictures, in memory and on disk. A handle, see Handles in sdd.h. */
typedef struct sdd_cache sdd_cache;

/** A loader: a cache in front of a downloader. A handle, see Handles in sdd.h. */
typedef struct sdd_loader sdd_loader;

/** A picture. Immutable and reference counted. */
typedef struct sdd_image sdd_image;

/** A byte buffer, such as an unpacked response body. Immutable and reference counted. */
typedef struct sdd_bytes sdd_bytes;

/**
 * The status, URL and header fields of a response. Immutable and reference counted.
 */
typedef struct sdd_response sdd_response;

/** A snapshot of a downloader's cookies. */
typedef struct sdd_cookies sdd_cookies;

/** A request that a request modifier may change. */
typedef struct sdd_draft sdd_draft;

/**
 * The id of one request or prefetch list. It is used once in a process, whichever downloader or
 * loader it belongs to; later ones are larger. 0 is none.
 */
typedef uint64_t sdd_token;

/**
 * The id of one transfer of an application's sdd_transport. It is used once in a process, and is
 * not a token. 0 is none.
 */
typedef uint64_t sdd_transfer;

/* ---------------------------------------------------------------------------------------- bytes */

/**
 * Adds a reference to bytes, so that they outlive the callback that lent them. Copies nothing.
 *
 * @param bytes Borrowed. NULL gives NULL.
 * @return The same bytes, owned by the caller: release with sdd_bytes_release().
 * Thread: any.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_bytes_retain(sdd_bytes *SDD_NULLABLE bytes);

/**
 * Releases one reference; the last one frees the bytes. Never blocks.
 *
 * @param bytes The reference to release. NULL does nothing.
 * Thread: any.
 */
SDD_API void sdd_bytes_release(sdd_bytes *SDD_NULLABLE bytes);

/**
 * Returns the address of the first byte.
 *
 * @param bytes Borrowed.
 * @return sdd_bytes_size() readable bytes; NULL for NULL or for empty bytes.
 * Thread: any. Lifetime: while a reference to the bytes is held.
 */
SDD_API const uint8_t *SDD_NULLABLE sdd_bytes_data(sdd_bytes *SDD_NULLABLE bytes);

/**
 * Returns the number of bytes, or 0 for NULL.
 * Thread: any.
 */
SDD_API size_t sdd_bytes_size(sdd_bytes *SDD_NULLABLE bytes);

/**
 * Makes bytes from the application's own data, for a body transform to return.
 *
 * @param data Copied. May be NULL if size is 0.
 * @param size The number of bytes; 0 makes empty bytes.
 * @return Owned by the caller: release with sdd_bytes_release(). NULL if there is no memory, or
 *     data is NULL with a size.
 * Thread: any.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_bytes_create(const void *SDD_NULLABLE data, size_t size);

/* ------------------------------------------------------------------------- limits and user data */

/**
 * No limit, in a field that sets one. It is the one negative number that limits take; 0 is the
 * default.
 */
#define SDD_NO_LIMIT (-1)

/**
 * Frees user data. Of a request: called once, after the terminal callback has returned, on the
 * thread of that callback. Of any other struct: called once, on any thread, when nothing uses
 * user_data any more. Never called if the call that was given it failed or returned a token of 0.
 */
typedef void (*sdd_user_data_free_fn)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** Priorities of requests. */
typedef int32_t sdd_priority;

SDD_ENUM(sdd_priority) {
    SDD_PRIORITY_DEFAULT = 0, /* SDD_PRIORITY_NORMAL; in a prefetch list SDD_PRIORITY_VERY_LOW */
    SDD_PRIORITY_VERY_LOW = 1,
    SDD_PRIORITY_LOW = 2,
    SDD_PRIORITY_NORMAL = 3,
    SDD_PRIORITY_HIGH = 4,
    SDD_PRIORITY_VERY_HIGH = 5
};

/* -------------------------------------------------------------------------------------- headers */

/** One header field of a request. Fixed for ever: it has no struct_size. */
typedef struct sdd_header {
    /* An HTTP token, RFC 9110 section 5.1. A request cannot set Content-Length and
       Transfer-Encoding: the library sends the one that fits the body. */
    const char *SDD_NULLABLE name;
    /* Without CR, LF or NUL; NULL removes the downloader's field of that name. */
    const char *SDD_NULLABLE value;
} sdd_header;

SDD_END_DECLS

#endif /* SDD_BASE_H */

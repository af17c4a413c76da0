/*
 * sdd/cache.h - Caches: decoded pictures in memory, encoded ones on disk. The HTTP cache.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *
 *     int main(void)
 *     {
 *         sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
 *         sdd_cache *cache = NULL;
 *         config.name = "thumbnails";
 *         config.max_disk_bytes = 100 << 20;
 *         if (sdd_cache_create(&config, &cache) != SDD_OK) return 1;
 *         return sdd_cache_destroy(cache) != SDD_OK;
 *     }
 */
#ifndef SDD_CACHE_H
#define SDD_CACHE_H

#include "image.h"
#include "error.h"

SDD_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- caches */

/*
 * A cache keeps pictures in memory, ready to be shown, and their encoded bytes on disk. Each cache
 * has one directory. Any number of processes may share it, and it stays consistent when one of them
 * is killed at any moment. Calls with NULL give SDD_ERROR_NO_RESOURCES if the shared cache cannot
 * be made. A level that a cache does not have is ignored.
 *
 * KEYS. An entry has a key: any text of 1 to 65,536 bytes of UTF-8. The key of a URL is its
 * absolute text without user and password, or what the cache's filter makes of it. The key of a
 * smaller or transformed picture names that form. sdd_cache_key() gives these keys, but for those
 * of SDD_OPTION_DECODE_FIRST_FRAME_ONLY and SDD_OPTION_PRELOAD_ALL_FRAMES, whose form has "first"
 * or "preload", as in "a-Form({first}).png"; it and the HTTP cache call the filter, every other
 * call takes a key as it is given. A file's name is the MD5 of the key and the (percent-decoded)
 * extension of the URL's path.
 *
 * FILES. An entry is one file: the encoded bytes, so that image viewers open it, followed by the
 * cache's own data. New directories have mode 0700, files 0600. A file that is damaged, cut, or of
 * another key or version is a miss, never an error.
 *
 * IDENTITY. A response to one user is not delivered to another. Requests and loads that present an
 * identity have entries of their own, under keys that sdd_cache_key() does not give. The identity
 * consists of the headers Authorization, Cookie, Host and Proxy-Authorization, a credential, user
 * and password in the URL or in sdd_network_options.proxy, cookies of the downloader for the URL's
 * host, unverified certificates and a ca_file of the request. What a downloader's configuration
 * trusts is not part of it (ca_file, ca_path, resolve, unix_socket_path, address_policy):
 * downloaders that trust more or less than others need a cache of their own. A token or cookie that
 * changes is another identity each time: what was stored for the last one is not found. The server
 * names further differences in Vary (RFC 9110 section 12.5.5). A response to cookies that were set
 * while the request was running is not stored. No file contains such a secret: it contains keyed
 * hashes instead, made with 32 random bytes in the file `key` of the directory, mode 0600.
 *
 * THE HTTP CACHE is used by downloaders with sdd_downloader_config.http_cache and by requests with
 * SDD_OPTION_USE_HTTP_CACHE. GET requests are answered from the disk of the downloader's cache, and
 * responses are kept there, by the rules of a private cache: RFC 9111, RFC 5861
 * (stale-while-revalidate, stale-if-error), RFC 8246 (immutable). An entry is the same file as in
 * the picture cache. A fresh response needs no slot in the queue and no network. If several
 * processes want a URL at once, one downloads it and the others wait for it. A request for one
 * range of bytes is answered with status 206 from a stored response, or from the parts that earlier
 * ranges brought: parts with the same strong entity tag are joined, and become a normal entry once
 * nothing is missing. Until then only requests for ranges get them, and no list shows them. A
 * request for several ranges, or with a condition (If-None-Match, If-Modified-Since and the like)
 * of its own, bypasses the HTTP cache. What goes to a sink, and what a transport of the application
 * fetches, is not kept: such a request finds nothing. A request's own Cache-Control asks for less
 * or more than the rules say: "no-cache", "no-store", "max-stale=3600", "only-if-cached"
 * (SDD_ERROR_NOT_CACHED on a miss). A stored response goes when the server, asked about it, sends
 * another one that is not stored, such as a 410 or one with "no-store", and when an unsafe request
 * for its URL succeeds (RFC 9111 section 4.4): that of the same identity, and that without one.
 * sdd_result.origin tells what happened.
 */

/** Levels of a cache. */
typedef int32_t sdd_cache_levels;

SDD_ENUM(sdd_cache_levels) {
    SDD_CACHE_DEFAULT = 0, /* both */
    SDD_CACHE_MEMORY = 1,
    SDD_CACHE_DISK = 2,
    SDD_CACHE_ALL = 3,
    SDD_CACHE_NONE = 4 /* neither; for loads */
};

/** Durability of written entries: sdd_cache_config.sync. */
typedef int32_t sdd_sync_mode;

SDD_ENUM(sdd_sync_mode) {
    /* The system decides when. A killed process loses no complete entry; a power cut may, and an
       incomplete entry is a miss. */
    SDD_SYNC_NONE = 0,
    SDD_SYNC_DATA = 1, /* fdatasync(2) on an entry's bytes before the entry appears */
    SDD_SYNC_FULL = 2  /* the same, then fsync(2) on the directory */
};

/** The date that an entry's age counts from: sdd_cache_config.disk_date. */
typedef int32_t sdd_date_kind;

SDD_ENUM(sdd_date_kind) {
    SDD_DATE_ACCESS = 0,      /* last use: the file's access time, which the library sets itself */
    SDD_DATE_MODIFICATION = 1 /* time of storing: the file's modification time */
};

/** Amounts to remove from the memory level: sdd_cache_trim_memory(). */
typedef int32_t sdd_trim_level;

SDD_ENUM(sdd_trim_level) {
    SDD_TRIM_HALF = 1, /* the half that was used longest ago */
    SDD_TRIM_ALL = 2   /* all; pictures that the application holds are still found */
};

/**
 * Makes the key of a URL.
 *
 * @param url Absolute. Borrowed until the callback returns.
 * @param user_data sdd_cache_config.user_data.
 * @return Bytes from sdd_bytes_create() with one reference, which the library takes over: 1 to
 *     65,536 bytes of UTF-8. With NULL, or other bytes, the key is the URL itself.
 * Thread: any that submits a request or calls sdd_cache_key(); several at a time. The only function
 *     of the library that it may call is sdd_bytes_create().
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_cache_key_fn)(const char *SDD_NONNULL url,
                                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Makes the bytes that are written to disk for an item.
 *
 * @param image Borrowed until the callback returns. NULL if the item has none.
 * @param bytes Likewise; may be retained and returned.
 * @param key The entry's key.
 * @param user_data sdd_cache_config.user_data.
 * @return Bytes with one reference, which the library takes over; NULL: nothing is written, and the
 *     key's entry on disk is removed.
 * Thread: sdd-disk, one call at a time. It may take long, and may call every function that does not
 *     wait for this cache.
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_cache_serializer_fn)(
    sdd_image *SDD_NULLABLE image, sdd_bytes *SDD_NULLABLE bytes, const char *SDD_NONNULL key,
    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * A memory level that the application keeps itself: sdd_cache_config.memory_store.
 *
 * Thread: any, the library's own included (sdd-net too); several at a time. The functions must be
 *     quick, and may call the sdd_image_ and sdd_bytes_ functions alone. No lock of the library is
 *     held.
 */
typedef struct sdd_memory_store {
    size_t struct_size;
    /* Returns the image of a key with one reference, which the library takes over; NULL: none.
       Required. */
    sdd_image *SDD_NULLABLE (*SDD_NULLABLE get)(const char *SDD_NONNULL key,
                                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Keeps an image in place of the one that is there. `image` is borrowed: retain it. `cost` is
       its size in bytes, as max_memory_cost counts it. An image that a server has selected by Vary
       is not put here, since a copy would lose for whom: `remove` is called instead. Required. */
    void (*SDD_NULLABLE put)(const char *SDD_NONNULL key, sdd_image *SDD_NONNULL image,
                             int64_t cost, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Removes the image of a key, if there is one. Required. */
    void (*SDD_NULLABLE remove)(const char *SDD_NONNULL key,
                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void (*SDD_NULLABLE clear)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* required */
    /* sdd_cache_trim_memory(), and memory pressure: one of SDD_TRIM_. May be NULL. */
    void (*SDD_NULLABLE trim)(sdd_trim_level level, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_memory_store;

#define SDD_MEMORY_STORE_INIT \
    { sizeof(sdd_memory_store), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Entries that the application keeps itself, in a database for instance, in place of files:
 * sdd_cache_config.entry_store.
 *
 * An entry has a key and two blobs: `body`, the encoded bytes, and `extra`, which the library makes
 * and checks: an entry that comes back changed, cut or under another key is a miss. The store
 * decides what processes share; the directory of the cache still has the locks by which one process
 * downloads a URL that several want. sdd_cache_path() gives SDD_ERROR_NOT_FOUND,
 * sdd_cache_open_wait() a memory file (memfd_create(2)).
 *
 * The functions return SDD_OK, SDD_ERROR_NOT_FOUND where there is no such entry, or any other
 * status, which counts as an error of the disk (sdd_cache_statistics.errors).
 * Thread: sdd-disk (two threads), and every thread that WAITS for the disk; several at a time. The
 *     functions may block, and may call every function that does not use this cache.
 */
typedef struct sdd_entry_store {
    size_t struct_size;
    /* Gives both blobs of a key, each with one reference, which the library takes over (see
       sdd_bytes_create()). Required. */
    sdd_status (*SDD_NULLABLE get)(const char *SDD_NONNULL key,
                                   sdd_bytes *SDD_NULLABLE *SDD_NONNULL body,
                                   sdd_bytes *SDD_NULLABLE *SDD_NONNULL extra,
                                   void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Stores both blobs, borrowed for the call, in place of those that are there, at once or not at
       all. Required. */
    sdd_status (*SDD_NULLABLE put)(const char *SDD_NONNULL key, const void *SDD_NULLABLE body,
                                   size_t body_size, const void *SDD_NULLABLE extra,
                                   size_t extra_size, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    sdd_status (*SDD_NULLABLE remove)(const char *SDD_NONNULL key,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT; /* required */
    sdd_status (*SDD_NULLABLE clear)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;  /* required */
    /* Removes entries stored more than max_age_ms ago, and then the oldest until no more than
       max_bytes are left; -1: no limit. Called by the rules of sdd_cache_config. May be NULL. */
    sdd_status (*SDD_NULLABLE trim)(int64_t max_bytes, int64_t max_age_ms,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Gives the size and the number of all entries. May be NULL: max_disk_bytes then has no effect,
       and sdd_cache_statistics has 0. */
    sdd_status (*SDD_NULLABLE usage)(int64_t *SDD_NONNULL bytes, int64_t *SDD_NONNULL count,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data;
    /* Called after sdd_cache_destroy() has written all stored entries. */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_entry_store;

#define SDD_ENTRY_STORE_INIT \
    { sizeof(sdd_entry_store), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * The configuration of a cache. Begin with SDD_CACHE_CONFIG_INIT; 0 or NULL in a field is its
 * default.
 */
typedef struct sdd_cache_config {
    size_t struct_size;

    /* Places. */

    /* A directory's name without "/": the cache is in $XDG_CACHE_HOME/sdd/NAME, or in
       $HOME/.cache/sdd/NAME. Default "default". The environment is read once, at creation, and not
       by a set-user-ID program. */
    const char *SDD_NULLABLE name;
    /* Used in place of `name`; made if it does not exist. It is for caches alone: files of other
       programs that are named like entries would be removed (SDD_DETAIL_CACHE_FOREIGN). */
    const char *SDD_NULLABLE directory;
    /* read_only_count directories of caches, searched in this order for entries that `directory`
       does not have, and never changed. */
    const char *SDD_NULLABLE const *SDD_NULLABLE read_only_directories;
    size_t read_only_count;
    sdd_cache_levels levels; /* one of SDD_CACHE_ */

    /* Memory. */

    /* 1: a picture that was evicted is not found again even while the application still holds it;
       default 0: it is found. */
    int32_t no_live_images;
    /* Bytes that all pictures in memory take together: pixels, also those not decoded yet; encoded
       bytes (sdd_image_bytes()); frames decoded with the picture or kept by sdd_image_frame();
       metadata that has been read. A picture that grows later may evict others. Default: an eighth
       of the machine's memory, or of the cgroup's limit if that is less, between 16 MiB and 512
       MiB; SDD_NO_LIMIT: none. */
    int64_t max_memory_cost;
    int64_t max_memory_count; /* pictures; default: no limit */
    /* 1: the cache trims memory as sdd_cache_trim_memory() does when the kernel reports memory
       pressure (PSI, Linux 4.20 and later); default 0. */
    int32_t watch_memory_pressure;

    /* Disk. */

    sdd_sync_mode sync;           /* one of SDD_SYNC_ */
    int64_t max_disk_bytes; /* of all files, as allocated; default 512 MiB; SDD_NO_LIMIT: none */
    /* Older entries are misses; default 7 days; SDD_NO_LIMIT: none is too old. */
    int64_t max_disk_age_ms;
    sdd_date_kind disk_date; /* one of SDD_DATE_ */
    /* Over max_disk_bytes, the oldest entries are removed until this percentage of it is left: 1 to
       100; default 50. */
    int32_t low_water_percent;
    /* 1: processes do not wait for each other: each downloads what it wants; default 0. */
    int32_t no_share_wait;
    /* Old entries are removed about this often, also while the cache is not used, by one of the
       processes that share the directory; creating and destroying a cache does it if so much time
       has passed since the last time. Default 10 minutes; SDD_NO_LIMIT: only when
       max_disk_bytes is exceeded. */
    int64_t trim_interval_ms;
    /* Entries with at least this many encoded bytes are mapped (mmap(2)) instead of read: no
       program may cut the files meanwhile. Default: none. */
    int64_t map_from_bytes;
    /* Longest wait for another process that downloads the same URL; default 30000; SDD_NO_LIMIT:
       as long as that process lives. */
    int64_t share_wait_ms;
    /* bodies kept for SDD_OPTION_RESUME; default 256 MiB; SDD_NO_LIMIT: none */
    int64_t max_part_bytes;
    int64_t max_part_age_ms; /* default 1 day; SDD_NO_LIMIT: none */

    /* Keys and bytes. */

    /* "token,Expires,X-Amz-*": names, or beginnings of names, of query parameters that are left out
       of the keys of URLs. The fragment is then left out too. */
    const char *SDD_NULLABLE ignored_query_parameters;
    sdd_cache_key_fn SDD_NULLABLE key_filter; /* called after that */
    /* Called whenever a load or a call stores something, originals included. */
    sdd_cache_serializer_fn SDD_NULLABLE serializer;
    void *SDD_NULLABLE user_data; /* of both callbacks */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;

    /* Writing. */

    /* Bytes that entries may hold in memory until they are written. Over the limit, the oldest
       entries that no caller waits for are dropped and counted in writes_dropped.
       sdd_cache_put_wait(), sdd_cache_put(), sdd_cache_flush_wait() and SDD_OPTION_WAIT_STORE_CACHE
       wait for theirs. Default 128 MiB; SDD_NO_LIMIT: none. */
    int64_t max_queued_bytes;
    /* Longest time that sdd_cache_destroy() writes; the remaining entries are dropped and counted.
       Default 10000; SDD_NO_LIMIT: none. */
    int64_t destroy_timeout_ms;

    /* Levels that the application keeps itself; the structs are copied. NULL: the library's. The
       user_data of a level that the cache has not is freed at once. */

    /* In place of the library's memory level. max_memory_cost, max_memory_count and no_live_images
       then have no effect. */
    const sdd_memory_store *SDD_NULLABLE memory_store;
    /* In place of the files of `directory`. sync, disk_date and map_from_bytes then have no effect;
       age counts from when an entry was stored. */
    const sdd_entry_store *SDD_NULLABLE entry_store;
} sdd_cache_config;

#define SDD_CACHE_CONFIG_INIT \
    { sizeof(sdd_cache_config), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL }

/**
 * Opens a cache and starts its threads (sdd-disk). WAITS for the directory to be made and opened,
 * but reads no entries: if the file with the totals is missing, a thread of the cache counts them.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be destroyed with sdd_cache_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_CACHE: the directory cannot be used; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_NO_RESOURCES: no thread.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_create(const sdd_cache_config *SDD_NULLABLE config,
                                    sdd_cache *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Writes all stored entries, trims if that is due (trim_interval_ms), and ends the threads. WAITS
 * for that, not much longer than destroy_timeout_ms: a thread that a disk holds up in a system call
 * ends later, by itself.
 * Requests that use the cache find nothing from now on. Images and bytes live on.
 *
 * @param cache NULL and the shared cache are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_FORKED;
 *     SDD_ERROR_WOULD_DEADLOCK inside its serializer.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_destroy(sdd_cache *SDD_NULLABLE cache);

/**
 * Returns the shared cache, which NULL stands for. It has all defaults, and only memory if its
 * directory cannot be used; sdd_cache_statistics.last_error then says why. It cannot be destroyed.
 *
 * @return NULL if it cannot be made (no thread). The child of a fork has another one.
 * Thread: any. Lifetime: as long as the process.
 */
SDD_API sdd_cache *SDD_NULLABLE sdd_cache_shared(void);

/* ------------------------------------------------------------------------ flushing and trimming */

/**
 * WAITS until the disk has all changes made before the call: entries stored, removed and cleared.
 * Tells the first of the stores that have failed since the last call, whoever made them.
 *
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMEOUT; SDD_ERROR_CACHE and the like: an entry could not be stored,
 *     see sdd_last_error(); SDD_ERROR_WOULD_DEADLOCK inside the cache's serializer;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_flush_wait(sdd_cache *SDD_NULLABLE cache, int64_t timeout_ms);

/**
 * Removes pictures from memory. One that is still held, by the application or for a moment by a
 * thread that delivers it, is found again, see sdd_cache_config.no_live_images;
 * sdd_cache_clear_wait() leaves none.
 *
 * @param level One of SDD_TRIM_.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_trim_memory(sdd_cache *SDD_NULLABLE cache, sdd_trim_level level);

/**
 * Removes entries that are too old, or too many, from the disk, and WAITS for it. Does nothing if
 * another process is trimming.
 *
 * @return SDD_OK; SDD_ERROR_CACHE: the directory could not be read, or an entry not removed;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_trim_disk_wait(sdd_cache *SDD_NULLABLE cache);

/**
 * Moves the entries of another cache's directory into this cache, with their dates, and WAITS for
 * it; a trim follows. If this cache has an entry under the same key, it keeps its own and the other
 * one is removed. Also removed are damaged entries, and entries of requests with an identity, whose
 * keys cannot be computed outside that directory. The directory is removed with its last entry,
 * unless another program has files in it. No cache may be open in it. A merge that failed may be
 * repeated: it continues where it ended.
 *
 * @param directory A path of a directory of this user that no other user may write to.
 * @param merged Receives the number of entries moved; 0 after a failure. May be NULL.
 * @return SDD_OK; SDD_ERROR_CACHE: the directory cannot be used, or not every entry was moved;
 *     SDD_ERROR_INVALID_ARGUMENT: also for the directory of the cache itself, and for a cache
 *     without a disk level; SDD_ERROR_WOULD_DEADLOCK: inside a function that the cache's own thread
 *     has called; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_merge_wait(sdd_cache *SDD_NULLABLE cache,
                                        const char *SDD_NONNULL directory,
                                        int64_t *SDD_NULLABLE merged);

/**
 * Replaces both limits of the memory level, with immediate effect.
 *
 * @param max_cost, max_count As in sdd_cache_config; 0: the default.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_set_memory_limits(sdd_cache *SDD_NULLABLE cache, int64_t max_cost,
                                               int64_t max_count);

/**
 * Replaces both limits of the disk level; a trim follows.
 *
 * @param max_bytes, max_age_ms As in sdd_cache_config; 0: the default.
 * @return As sdd_cache_set_memory_limits().
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_set_disk_limits(sdd_cache *SDD_NULLABLE cache, int64_t max_bytes,
                                             int64_t max_age_ms);

/* ----------------------------------------------------------------------------------- statistics */

/** Counts of a cache since its creation, and its contents now. */
typedef struct sdd_cache_statistics {
    size_t struct_size;
    int64_t memory_hits;
    int64_t memory_misses;
    int64_t disk_hits;
    int64_t disk_misses;
    int64_t disk_read_bytes; /* bytes of entries' bodies */
    int64_t disk_written_bytes;
    int64_t entries_written;
    int64_t entries_damaged; /* found damaged, and removed */
    int64_t errors;          /* system calls that failed; a missing file is no error */
    int64_t trims;           /* by this process */
    int64_t entries_trimmed;
    int64_t trimmed_bytes;
    int64_t memory_evictions;
    int64_t http_fresh;       /* requests answered with SDD_ORIGIN_HTTP_FRESH */
    int64_t http_revalidated; /* with SDD_ORIGIN_HTTP_REVALIDATED */
    int64_t http_stale;       /* with SDD_ORIGIN_HTTP_STALE */
    int64_t http_misses;      /* requests for which the HTTP cache had nothing */
    int64_t shared_downloads; /* successful waits for another process's download */
    int64_t resumed_downloads;
    int64_t resumed_bytes;
    int64_t memory_cost; /* now, see sdd_cache_config.max_memory_cost */
    int64_t memory_count;
    int64_t max_memory_cost; /* the limit; -1: none */
    int64_t disk_bytes;      /* now, of all processes, as allocated */
    int64_t disk_count;
    int64_t writes_dropped; /* entries dropped by max_queued_bytes or destroy_timeout_ms */
    int64_t queued_bytes;   /* now: bytes held by entries that wait to be written */
    int32_t last_error;     /* errno of the last error; 0: none */
} sdd_cache_statistics;

#define SDD_CACHE_STATISTICS_INIT \
    { sizeof(sdd_cache_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Fills in the statistics of a cache. WAITS for the disk; if the file with the totals is missing,
 * until the entries have been counted.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_get_statistics_wait(sdd_cache *SDD_NULLABLE cache,
                                                 sdd_cache_statistics *SDD_NONNULL statistics);

SDD_END_DECLS

#endif /* SDD_CACHE_H */

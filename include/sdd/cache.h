/*
 * sdd/cache.h - Caches: decoded pictures in memory, encoded ones on disk.
 *
 * NULL stands for the shared cache in every call.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         sdd_cache_item item = SDD_CACHE_ITEM_INIT;
 *         item.key = "greeting";
 *         item.bytes = sdd_bytes_create("hello", 5);
 *         if (sdd_cache_put(NULL, &item, NULL) != SDD_OK) return 1;
 *         printf("on disk: %d\n", sdd_cache_contains(NULL, "greeting", SDD_CACHE_DISK) != 0);
 *         sdd_bytes_release(item.bytes);
 *         return 0;
 *     }
 *
 * It prints: on disk: 1
 */
#ifndef SDD_CACHE_H
#define SDD_CACHE_H

#include "codec.h"
#include "result.h"

SDD_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- caches */

/*
 * A cache keeps pictures in memory, ready to be shown, and their encoded bytes on disk. Each has
 * one directory, which any number of processes may share, and which is good again after any of them
 * was killed at any moment. NULL stands for the shared cache, made on first use with the defaults.
 *
 * KEYS. An entry has a key, any text of 1 to 65,536 bytes of UTF-8. That of a URL is its absolute
 * text without user and password, or what the cache's filter makes of it; that of a smaller or
 * other form of it says so: sdd_cache_key() gives all of them. The filter is asked by that call and
 * by the HTTP cache; every other call takes a key as it is given. A file's name is the MD5 of the
 * key, and the extension of the URL's path, with letters and digits that are escaped there put in,
 * whatever the bytes are.
 *
 * FILES. An entry is one file: the encoded bytes, so that viewers open it, and behind them what the
 * cache knows of it. New directories have mode 0700, files 0600. What is damaged, cut, of another
 * key or of another version is a miss, never an error.
 *
 * WHO ASKS. What was sent to one caller is not for another. Requests and loads that say who they
 * are have entries of their own, under keys that sdd_cache_key() does not give: by the headers
 * Authorization, Cookie and Proxy-Authorization, a credential, user and password of the URL,
 * cookies of the downloader that go to its host, the user and password of
 * sdd_network_options.proxy, and unverified certificates. What else a response depends on its
 * server names by Vary (RFC 9110 section 12.5.5); who differs in that does not find it. What comes
 * although cookies were sent that the downloader did not have when the request was made is not
 * kept. No file has such a secret in it: marks stand for them, made with 32 random bytes in the
 * file `key` of the directory, mode 0600.
 *
 * Calls with NULL give SDD_ERROR_NO_RESOURCES where the shared cache cannot be made. A level that a
 * cache does not have is passed over.
 *
 * THE HTTP CACHE is that of a downloader whose config says so, or of a request with
 * SDD_OPTION_USE_HTTP_CACHE: GET requests are answered from the disk of the downloader's cache, and
 * their responses kept there, by the rules of a private cache: RFC 9111, RFC 5861
 * (stale-while-revalidate, stale-if-error), RFC 8246 (immutable). The entry is the same as that of
 * the picture cache: bytes are on disk once. What a fresh response answers needs no place in the
 * queue, and no network. If several processes want a URL at once, one downloads it, and the others
 * wait for it. A request with a Range or a condition of its own (If-None-Match, If-Modified-Since
 * and the like) goes past it. Set Cache-Control in a request's headers for less or more than the
 * rules say: "no-cache", "no-store", "max-stale=3600", "only-if-cached" (SDD_ERROR_NOT_CACHED if
 * there is nothing). sdd_result.origin tells what happened.
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
    /* As the system sees fit. A killed process loses nothing whole; a power cut may, and what it
       has torn is a miss */
    SDD_SYNC_NONE = 0,
    SDD_SYNC_DATA = 1, /* an entry's bytes, before the entry appears: fdatasync(2) */
    SDD_SYNC_FULL = 2  /* and the directory, after it */
};

/**
 * Which date of an entry counts, for its age and for what goes first: sdd_cache_config.disk_date.
 * Since: 0.2.0.
 */
enum {
    /* When it was last used: the file's access time, set by the library itself */
    SDD_DATE_ACCESS = 0,
    SDD_DATE_MODIFICATION = 1 /* when it was stored: the file's modification time */
};

/**
 * Makes the key of a URL.
 *
 * @param url Absolute. Borrowed until the callback returns.
 * @param user_data The config's.
 * @return Bytes with one reference, which the library takes over, from sdd_bytes_create(): 1 to
 *     65,536 of UTF-8. NULL, and what is no such text: the URL itself.
 * Thread: any that submits a request or calls sdd_cache_key(); several at a time. It must not call
 *     the library, but for sdd_bytes_create().
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
 * @return Bytes with one reference, which the library takes over; NULL: nothing goes to disk, and
 *     what was there of the key is removed.
 * Thread: sdd-disk, one at a time. It may take its time, and call any sdd_ function that does not
 *     wait for this cache.
 */
typedef sdd_bytes *SDD_NULLABLE (*sdd_cache_serializer_fn)(
    sdd_image *SDD_NULLABLE image, sdd_bytes *SDD_NULLABLE bytes, const char *SDD_NONNULL key,
    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** sdd_cache_config.max_disk_age_ms of a cache whose entries are all too old. Since: 0.2.0. */
#define SDD_AGE_NOTHING ((int64_t)-2)

/**
 * How a cache is to be. Begin with SDD_CACHE_CONFIG_INIT. 0 or NULL in a field is its default.
 * Since: 0.2.0.
 */
typedef struct sdd_cache_config {
    size_t struct_size;
    /* a directory's name, without "/": $XDG_CACHE_HOME/sdd/NAME, or $HOME/.cache/sdd/NAME; default
       "default". The environment is read once, when the cache is created */
    const char *SDD_NULLABLE name;
    /* This very directory, in place of that; made if it is not there */
    const char *SDD_NULLABLE directory;
    /* read_only_count of them, of caches: asked in this order for what `directory` does not have,
       and never changed */
    const char *SDD_NULLABLE const *SDD_NULLABLE read_only_directories;
    size_t read_only_count;
    int32_t levels; /* one of SDD_CACHE_ */
    /* 1: a picture that is not kept any more is not found again, though the host still holds it;
       default 0: it is */
    int32_t no_live_images;
    /* Bytes that all pictures in memory hold together: pixels, also those that are still to be
       decoded; encoded bytes, sdd_image_bytes(), or what pixels and frames are still to be made of;
       frames decoded with the picture or kept by sdd_image_frame(); metadata that has been asked
       for. What is kept later counts from then on, and may drive others out. Beside it, while
       requests are under way, up to 36 MiB are kept at hand for the next bodies and pixels.
       Default: an eighth of the machine's memory, or of the cgroup's limit if that is less, within
       16 MiB and 512 MiB; -1: no limit */
    int64_t max_memory_cost;
    int64_t max_memory_count; /* pictures; default, and -1: no limit */
    /* 1: what sdd_cache_trim_memory() does is done when the kernel tells of memory pressure (PSI,
       Linux 4.20); on a system without it nothing is */
    int32_t watch_memory_pressure;
    int32_t sync;           /* one of SDD_SYNC_ */
    int64_t max_disk_bytes; /* of all files, as allocated; default 512 MiB; -1: no limit */
    /* Entries older than that are misses; default 7 days; -1: none ever is; SDD_AGE_NOTHING: all
       are */
    int64_t max_disk_age_ms;
    int32_t disk_date; /* one of SDD_DATE_ */
    /* Over max_disk_bytes the oldest entries go until no more than so much of it is left; 1 to 100;
       default 50 */
    int32_t low_water_percent;
    /* Old entries are looked for when the cache is created and destroyed, and then about so often,
       by one process of all that share the directory; default 10 minutes; -1: only when
       max_disk_bytes is exceeded */
    int64_t trim_interval_ms;
    /* Encoded bytes of entries so large or larger are mapped, mmap(2), not read: nobody may cut the
       files meanwhile; default: none are */
    int64_t map_from_bytes;
    /* Longest wait for another process that downloads the same; default 30000; -1: no process waits
       for, or looks for, another */
    int64_t share_wait_ms;
    /* Of bodies kept for SDD_OPTION_RESUME; default 256 MiB; -1: no limit */
    int64_t max_part_bytes;
    int64_t max_part_age_ms; /* default 1 day; -1: no limit */
    /* "token,Expires,X-Amz-*": names, or beginnings of them, of what is cut out of a URL's query
       when its key is made; the fragment is cut off */
    const char *SDD_NULLABLE ignored_query_parameters;
    sdd_cache_key_fn SDD_NULLABLE key_filter; /* asked after that */
    /* Asked whenever something is stored by sdd_cache_put_async(), sdd_cache_put() or a load,
       originals and what is made of them alike */
    sdd_cache_serializer_fn SDD_NULLABLE serializer;
    void *SDD_NULLABLE user_data; /* of both */
    /* Called once, on any thread, when user_data is of no use any more; never if sdd_cache_create()
       failed */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Bytes that entries may hold in memory until they are written. Over it the oldest that nobody
       waits for are not written, and counted in writes_dropped; sdd_cache_put(),
       sdd_cache_put_async(), sdd_cache_flush() and SDD_OPTION_WAIT_STORE_CACHE wait. Default 128
       MiB; -1: no limit */
    int64_t max_queued_bytes;
    /* Longest time that sdd_cache_destroy() writes; what is left then is dropped, and counted
       likewise. Default 10000; -1: no limit */
    int64_t destroy_timeout_ms;
} sdd_cache_config;

#define SDD_CACHE_CONFIG_INIT \
    { sizeof(sdd_cache_config), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/**
 * Opens a cache, and starts its threads, sdd-disk. WAITS for the directory to be made and opened.
 * Its entries are not looked at: where the file with their sums is missing, a thread of the cache
 * counts them beside all else.
 *
 * @param config Copied. NULL: all defaults.
 * @param out Receives the handle, to be given back with sdd_cache_destroy(); NULL on an error.
 * @param detail Receives one of SDD_DETAIL_CACHE_, 0 for anything else. May be NULL.
 * @return SDD_OK; SDD_ERROR_CACHE: the directory cannot be used; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_NO_RESOURCES: no thread.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_create(const sdd_cache_config *SDD_NULLABLE config,
                                    sdd_cache *SDD_NULLABLE *SDD_NONNULL out,
                                    int32_t *SDD_NULLABLE detail);

/**
 * Writes what has been stored, trims, ends the threads. WAITS for that, for destroy_timeout_ms of
 * the config and not much longer: a thread that a disk keeps waiting in a call to the system ends
 * later, by itself. Requests that use the cache find nothing any more; images and bytes live on by
 * their own references.
 *
 * @param cache Dead from now on. NULL and the shared cache are refused.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_FORKED; SDD_ERROR_WOULD_DEADLOCK in its serializer.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_destroy(sdd_cache *SDD_NULLABLE cache);

/**
 * The shared cache, which NULL stands for in every call: defaults throughout; memory alone where
 * its directory cannot be used, which sdd_cache_statistics.last_error then tells. It cannot be
 * destroyed.
 *
 * @return Its handle; NULL if it cannot be made (no thread), and in the child of a fork.
 * Thread: any. Lifetime: as long as the process. Since: 0.2.0.
 */
SDD_API sdd_cache *SDD_NULLABLE sdd_cache_shared(void);

/**
 * What is to be stored. Begin with SDD_CACHE_ITEM_INIT. Since: 0.2.0.
 *
 * To memory goes the image; without one, what memory has of the key goes. To disk go the bytes;
 * without them those the image was decoded from, if it is as large as they have it; else it is
 * encoded, in its own format if that is one of those that can be, else as a PNG if any pixel is
 * transparent, else as a JPEG, of an animated one the still picture; the quality is
 * sdd_image_encode()'s.
 */
typedef struct sdd_cache_item {
    size_t struct_size;
    const char *SDD_NULLABLE key;  /* copied. Needed */
    sdd_image *SDD_NULLABLE image; /* retained. NULL: nothing goes to memory */
    sdd_bytes *SDD_NULLABLE bytes; /* retained, not looked at */
    /* The host's own, kept beside the entry on disk: sdd_result.extended */
    sdd_bytes *SDD_NULLABLE extended;
    int32_t levels;   /* one of SDD_CACHE_ */
    int32_t reserved; /* 0 */
    /* Of sdd_cache_put_async(): when it is on disk, or could not be. May be NULL */
    sdd_completed_fn SDD_NULLABLE completed;
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
 * @return The token of a request that ends when the entry is on disk, or with SDD_ERROR_CACHE; the
 *     result's url is the key, its origin 0. Cancelling it does not take back what is stored. 0:
 *     nothing was stored, and nothing will be called.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_cache_put_async(sdd_cache *SDD_NULLABLE cache,
                                      sdd_downloader *SDD_NULLABLE downloader,
                                      const sdd_cache_item *SDD_NONNULL item,
                                      sdd_status *SDD_NULLABLE status);

/**
 * Stores, and WAITS until it is on disk.
 *
 * @param detail Receives one of SDD_DETAIL_CACHE_, 0 for anything else. May be NULL.
 * @return SDD_OK; SDD_ERROR_CACHE, and what goes to memory is there all the same;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. `completed`, `user_data` and `user_data_free` are not looked at. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_put(sdd_cache *SDD_NULLABLE cache,
                                 const sdd_cache_item *SDD_NONNULL item,
                                 int32_t *SDD_NULLABLE detail);

/** What is wanted of an entry: sdd_query.wants. Since: 0.2.0. */
enum {
    SDD_WANT_IMAGE = 1,
    /* The encoded bytes, and `extended`: from the disk, also where the image is in memory */
    SDD_WANT_BYTES = 2,
    SDD_WANT_BOTH = 3
};

/** What is looked for. Begin with SDD_QUERY_INIT. Since: 0.2.0. */
typedef struct sdd_query {
    size_t struct_size;
    const char *SDD_NULLABLE key; /* of the original: that of its URL. Copied. Needed */
    int32_t levels;               /* one of SDD_CACHE_ */
    int32_t wants;                /* one of SDD_WANT_; 0: the image */
    /* How the image is to be: one of another form is none. The form's own entry is looked for, in
       memory and on disk, then the original on disk, of which it is made, and kept in memory; with
       `pixels` or an allocator only the original, and it is not kept. NULL: the downloader's, see
       sdd_downloader_set_decode_options(); for sdd_cache_query() RGBA8, as large as it is */
    const sdd_decode_options *SDD_NULLABLE decode;
    uint64_t options; /* SDD_OPTION_ bits of queries, as for a request */
    /* May be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain() */
    sdd_completed_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_query;

#define SDD_QUERY_INIT \
    { sizeof(sdd_query), NULL, 0, 0, NULL, 0, NULL, NULL, NULL }

/**
 * Looks for an entry: a request like those of sdd_downloader_submit() that never goes to the
 * network. Queries for the same share the reading and the decoding.
 *
 * @param downloader Whose decode threads are used, by its limits, and where the event is delivered.
 *     NULL: the shared one.
 * @param cache NULL: the shared one.
 * @param query Copied.
 * @param status Receives why 0 was returned. May be NULL.
 * @return A token, for sdd_cancel() and the like. The request ends with SDD_OK, and origin
 *     SDD_ORIGIN_MEMORY or _DISK, which is that of the image, if one is wanted; with
 *     SDD_ERROR_NOT_CACHED on a miss; with SDD_ERROR_BAD_IMAGE_DATA where the entry is no picture.
 *     The result's url is the key; its bytes are also there for an image that was decoded of them.
 *     0: nothing will be called; also for option bits that are not for a query
 *     (SDD_ERROR_INVALID_ARGUMENT), or that this version does not know (SDD_ERROR_UNSUPPORTED).
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_cache_query_async(sdd_cache *SDD_NULLABLE cache,
                                        sdd_downloader *SDD_NULLABLE downloader,
                                        const sdd_query *SDD_NONNULL query,
                                        sdd_status *SDD_NULLABLE status);

/**
 * Looks for an entry, and WAITS: reads and decodes on the calling thread.
 *
 * @param query Its completed, user_data and user_data_free are not looked at.
 * @param image Receives it, owned by the caller: release with sdd_image_release(); NULL if there is
 *     none, or it is not wanted. May be NULL.
 * @param bytes, extended Receive them, owned by the caller: release with sdd_bytes_release(); NULL
 *     if there are none. May be NULL.
 * @param origin Receives one of SDD_ORIGIN_. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_BAD_IMAGE_DATA; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_query(sdd_cache *SDD_NULLABLE cache,
                                   const sdd_query *SDD_NONNULL query,
                                   sdd_image *SDD_NULLABLE *SDD_NULLABLE image,
                                   sdd_bytes *SDD_NULLABLE *SDD_NULLABLE bytes,
                                   sdd_bytes *SDD_NULLABLE *SDD_NULLABLE extended,
                                   int32_t *SDD_NULLABLE origin);

/**
 * The picture that memory has of a key, or the host still holds. Never waits, and allocates
 * nothing.
 *
 * @param key That of the form that is wanted: sdd_cache_key().
 * @return Owned by the caller: release with sdd_image_release(). NULL: there is none, or the handle
 *     is dead.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_cache_memory_image(sdd_cache *SDD_NULLABLE cache,
                                                       const char *SDD_NONNULL key);

/**
 * Which of the levels have an entry of this very key: SDD_CACHE_ bits; 0 for none, and for what is
 * no key, no level or a dead handle. WAITS for the disk.
 *
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_cache_contains(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                   int32_t levels);

/**
 * Removes the entry of a key: no query of this cache finds it any more, unless a read-only
 * directory has it, too. With the disk among the levels it WAITS until the file is gone, which is
 * done in front of all that waits to be written; not in the cache's serializer, where the file goes
 * soon after. What was made of it under keys of its own stays.
 *
 * @param levels One of SDD_CACHE_.
 * @return SDD_OK, also if there was none; SDD_ERROR_CACHE: the file could not be removed, for the
 *     reason that sdd_cache_statistics.last_error tells: this cache does not find it all the same,
 *     but other processes do, and this one after it has been opened again;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_remove(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                    int32_t levels);

/**
 * Removes all entries, likewise, after what was asked for before. Who reads one at that moment, in
 * this process or another, reads it to its end. Where some cannot be removed, the others are, and
 * those that are left are found again.
 *
 * Files that are none of a cache's stay where they are. Otherwise as sdd_cache_remove(). Since:
 * 0.2.0.
 */
SDD_API sdd_status sdd_cache_clear(sdd_cache *SDD_NULLABLE cache, int32_t levels);

/**
 * WAITS until what was stored, removed and cleared before is done on disk.
 *
 * @param timeout_ms Longest wait; negative: no limit.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT; SDD_ERROR_WOULD_DEADLOCK in the cache's serializer;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_flush(sdd_cache *SDD_NULLABLE cache, int64_t timeout_ms);

/**
 * The key of a URL, or of a smaller or other form of it. The same in every version.
 *
 * "https://host/name-Thumbnail({200.000000,100.000000},1).jpg" is that of https://host/name.jpg
 * made to fit into so many pixels, as SDWebImage has it, with 0 for SDD_FIT_STRETCH;
 * "name-flip(vertical)-rotate(90).jpg" has been transformed, see sdd_transform_key(). What else
 * changes pixels is told as in "name-Form({fill,format=3}).jpg". Query and fragment stay behind it;
 * without an extension it stands at the end. Braces of the URL are escaped.
 *
 * @param cache Whose filter is asked. NULL: the shared one.
 * @param url Absolute, or any other key: what cannot be a URL is taken as it is.
 * @param decode, transforms, transform_count What is made of it. NULL, 0: the original. Not with
 *     `pixels`.
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_key(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL url,
                                 const sdd_decode_options *SDD_NULLABLE decode,
                                 const sdd_transform *SDD_NULLABLE transforms,
                                 size_t transform_count, char *SDD_NULLABLE buffer, size_t capacity,
                                 size_t *SDD_NULLABLE length);

/**
 * Where the file of a key is, or would be.
 *
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_NOT_FOUND: the cache has no disk;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_path(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                  char *SDD_NULLABLE buffer, size_t capacity,
                                  size_t *SDD_NULLABLE length);

/**
 * Opens the file of a key, to be read, mapped or handed on without a copy. WAITS for the disk, and
 * for the check of the whole entry.
 *
 * @param fd Receives a descriptor, O_RDONLY, O_CLOEXEC: the caller's, to be closed. -1 on an error.
 *     It stays good when the entry is removed or replaced.
 * @param size Receives how many bytes from the file's start on are the encoded picture: what
 *     follows is the cache's.
 * @return SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
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
 * Removes entries that are too old or too many from the disk, and WAITS for it. Leaves it to
 * another process, if one is just at it.
 *
 * @return SDD_OK; SDD_ERROR_CACHE: the directory could not be read, or something could not be
 *     removed; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_trim_disk(sdd_cache *SDD_NULLABLE cache);

/**
 * Changes the limits of the memory level. They hold at once.
 *
 * Both limits are replaced by each call.
 * @param max_cost Bytes, as max_memory_cost of sdd_cache_config; 0: its default for this machine;
 *     -1: no limit.
 * @param max_count Pictures, as max_memory_count of sdd_cache_config; 0 or -1: no limit.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_set_memory_limits(sdd_cache *SDD_NULLABLE cache, int64_t max_cost,
                                               int64_t max_count);

/**
 * Changes the limits of the disk level. They hold from now on; a trim follows.
 *
 * @param max_bytes, max_age_ms As in sdd_cache_config; 0: the default.
 * @return As sdd_cache_set_memory_limits().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_set_disk_limits(sdd_cache *SDD_NULLABLE cache, int64_t max_bytes,
                                             int64_t max_age_ms);

/**
 * What a cache has done since it was created, and what there is of it. Filled by the library.
 * Since: 0.2.0.
 */
typedef struct sdd_cache_statistics {
    size_t struct_size;
    int64_t memory_hits;
    int64_t memory_misses;
    int64_t disk_hits;
    int64_t disk_misses;
    int64_t disk_read_bytes; /* of entries' bodies */
    int64_t disk_written_bytes;
    int64_t entries_written;
    int64_t entries_damaged; /* found damaged, and removed */
    int64_t errors; /* calls to the system that failed; that there is no such file is none */
    int64_t trims; /* by this process */
    int64_t entries_trimmed;
    int64_t trimmed_bytes;
    int64_t memory_evictions;
    int64_t http_fresh;       /* requests answered by SDD_ORIGIN_HTTP_FRESH, */
    int64_t http_revalidated; /* by _HTTP_REVALIDATED, */
    int64_t http_stale;       /* by _HTTP_STALE, */
    int64_t http_misses;      /* and those that went to the network with nothing */
    int64_t shared_downloads; /* waits for another process's download that came to something */
    int64_t resumed_downloads;
    int64_t resumed_bytes;
    int64_t memory_cost; /* now, see sdd_cache_config.max_memory_cost */
    int64_t memory_count;
    int64_t max_memory_cost; /* the limit; -1: none */
    int64_t disk_bytes;      /* now, of all processes: allocated */
    int64_t disk_count;
    int32_t last_error; /* the last one's errno; 0: none */
    int32_t reserved;
    /* Entries that were not written, for max_queued_bytes or destroy_timeout_ms */
    int64_t writes_dropped;
    int64_t queued_bytes; /* now: what entries hold that wait to be written */
} sdd_cache_statistics;

#define SDD_CACHE_STATISTICS_INIT \
    { sizeof(sdd_cache_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells what a cache has done, and how much there is in it. WAITS for the disk, which has a file
 * with the sums; where that is missing, until the entries have been counted.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_get_statistics(sdd_cache *SDD_NULLABLE cache,
                                            sdd_cache_statistics *SDD_NONNULL statistics);

SDD_END_DECLS

#endif /* SDD_CACHE_H */

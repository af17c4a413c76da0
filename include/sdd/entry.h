/*
 * sdd/entry.h - Entries of a cache: storing, querying and removing them; their keys and files.
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
 *         if (sdd_cache_put_wait(NULL, &item) != SDD_OK) return 1;
 *         printf("on disk: %d\n",
 *                sdd_cache_contains_wait(NULL, "greeting", SDD_CACHE_DISK) == SDD_CACHE_DISK);
 *         sdd_bytes_release(item.bytes);
 *         return 0;
 *     }
 *
 * It prints: on disk: 1
 */
#ifndef SDD_ENTRY_H
#define SDD_ENTRY_H

#include "cache.h"
#include "codec.h"
#include "request.h"

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------- storing and querying */

/**
 * An item to store. Begin with SDD_CACHE_ITEM_INIT.
 *
 * Memory gets the image; if there is none, the key's entry in memory is removed. The disk gets the
 * bytes; without bytes, those that the image was decoded from if it has their size; else the image
 * is encoded (an animated one as a still picture) with the quality of sdd_image_encode(): in its
 * own format if that can be encoded, but what was a JPEG only if no pixel is transparent; else as
 * PNG if any pixel is transparent, else as JPEG. Its Exif orientation is kept if it was not applied
 * (keep_orientation), then always as PNG or JPEG.
 *
 * A preview and an image of which rows are missing (is_preview and is_partial of sdd_image_info)
 * are refused with SDD_ERROR_INVALID_ARGUMENT, since they would be found as complete ones.
 */
typedef struct sdd_cache_item {
    size_t struct_size;
    const char *SDD_NULLABLE key;      /* copied; required */
    /* Retained; pixels in memory that sdd_decode_options.pixels has lent are copied. NULL: nothing
       is stored in memory. */
    sdd_image *SDD_NULLABLE image;
    sdd_bytes *SDD_NULLABLE bytes;     /* retained; not checked */
    sdd_bytes *SDD_NULLABLE extended;  /* the application's own data: sdd_result.extended */
    sdd_cache_levels levels;           /* one of SDD_CACHE_ */
    /* For sdd_cache_put(): called when the entry is on disk or could not be written. May be NULL.
       */
    sdd_result_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_cache_item;

#define SDD_CACHE_ITEM_INIT \
    { sizeof(sdd_cache_item), NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL }

/**
 * Stores an item, in memory at once and on disk soon. Queries of this cache find it from now on.
 *
 * @param cache NULL: the shared one.
 * @param downloader The downloader that delivers the terminal event. NULL: the shared one.
 * @param item Copied.
 * @return The token of a request that ends when the entry is on disk, or with SDD_ERROR_CACHE; the
 *     result's url is the key. Cancelling it does not remove the entry. 0: nothing was stored, and
 *     no callback follows; sdd_last_error() says why.
 * Thread: any.
 */
SDD_API sdd_token sdd_cache_put(sdd_cache *SDD_NULLABLE cache,
                                sdd_downloader *SDD_NULLABLE downloader,
                                const sdd_cache_item *SDD_NONNULL item);

/**
 * Stores an item and WAITS until it is on disk.
 *
 * @param item As for sdd_cache_put(), but without callbacks.
 * @return SDD_OK; SDD_ERROR_CACHE: memory has the item, the disk does not;
 *     SDD_ERROR_WOULD_DEADLOCK in the cache's serializer; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_put_wait(sdd_cache *SDD_NULLABLE cache,
                                      const sdd_cache_item *SDD_NONNULL item);

/** The parts of an entry that a query wants: sdd_cache_query_options.wants. */
typedef int32_t sdd_query_wants;

SDD_ENUM(sdd_query_wants) {
    SDD_WANT_IMAGE = 1,
    SDD_WANT_BYTES = 2, /* encoded bytes and `extended`, from disk, also if memory has the image */
    SDD_WANT_BOTH = 3
};

/** A query: the entry, and the form it must have. Begin with SDD_CACHE_QUERY_OPTIONS_INIT. */
typedef struct sdd_cache_query_options {
    size_t struct_size;
    const char *SDD_NULLABLE key; /* of the original; copied; required */
    sdd_cache_levels levels;      /* one of SDD_CACHE_ */
    sdd_query_wants wants;        /* one of SDD_WANT_; 0: the image */
    sdd_options options;          /* SDD_OPTION_ bits without letters */
    /* The form that the image must have. That form is looked for in memory and on disk; then the
       original is read from disk, and the form is made of it and kept in memory. With `pixels` or
       an allocator, only the original is looked for and nothing is kept. NULL: the downloader's
       (sdd_downloader_set_decode_options()); for sdd_cache_query_wait() RGBA8 at full size. */
    const sdd_decode_options *SDD_NULLABLE decode;

    /* For sdd_cache_query(). sdd_cache_query_wait() ignores the priority and refuses the others. */

    sdd_priority priority; /* one of SDD_PRIORITY_ */
    /* May be NULL only with SDD_DELIVERY_APPLICATION and sdd_downloader_drain(). */
    sdd_result_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_cache_query_options;

#define SDD_CACHE_QUERY_OPTIONS_INIT \
    { sizeof(sdd_cache_query_options), NULL, 0, 0, 0, NULL, 0, NULL, NULL, NULL }

/**
 * Looks for an entry, as a request that never goes to the network. Equal queries share the reading
 * and the decoding.
 *
 * @param cache NULL: the shared one.
 * @param downloader The downloader whose decode threads and limits are used, and that delivers the
 *     event. NULL: the shared one.
 * @param query Copied.
 * @return The token of a request that ends with SDD_OK and the image's origin, SDD_ORIGIN_MEMORY or
 *     _DISK; without SDD_WANT_BYTES, sdd_result.bytes is as BYTES in loader.h says, and `extended`
 *     NULL; with SDD_ERROR_NOT_CACHED on a miss; with SDD_ERROR_BAD_IMAGE_DATA if the entry is no
 *     picture. The result's url is the key. 0: no callback follows; sdd_last_error() says why.
 * Thread: any.
 */
SDD_API sdd_token sdd_cache_query(sdd_cache *SDD_NULLABLE cache,
                                  sdd_downloader *SDD_NULLABLE downloader,
                                  const sdd_cache_query_options *SDD_NONNULL query);

/**
 * Looks for an entry and WAITS for the disk: reads and decodes on the calling thread. It needs no
 * downloader.
 *
 * @param query As for sdd_cache_query(), but without callbacks.
 * @param out Receives the result, also on a miss, as sdd_cache_query() would give it, owned by the
 *     caller: release it with sdd_result_release(). NULL if the call was refused. May be NULL.
 * @return The status of the result: SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_BAD_IMAGE_DATA. Or
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_query_wait(sdd_cache *SDD_NULLABLE cache,
                                        const sdd_cache_query_options *SDD_NONNULL query,
                                        sdd_result *SDD_NULLABLE *SDD_NULLABLE out);

/**
 * Returns the picture that memory has under a key, or that the application still holds. Does not
 * wait and allocates nothing.
 *
 * @param key The key of the wanted form: sdd_cache_key().
 * @return Owned by the caller: release with sdd_image_release(). NULL: none, or a dead handle.
 * Thread: any.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_cache_memory_image(sdd_cache *SDD_NULLABLE cache,
                                                       const char *SDD_NONNULL key);

/**
 * Tells which levels have an entry of exactly this key. WAITS for the disk.
 *
 * @return SDD_CACHE_ bits; 0 for none, for an invalid key or level, and for a dead handle.
 * Thread: any.
 */
SDD_API sdd_cache_levels sdd_cache_contains_wait(sdd_cache *SDD_NULLABLE cache,
                                                 const char *SDD_NONNULL key,
                                                 sdd_cache_levels levels);

/* ------------------------------------------------------------------------------------- removing */

/**
 * Removes the entry of a key. Queries of this cache no longer find it, except in a read-only
 * directory. If the disk is among the levels, WAITS until the file is removed, which goes before
 * all pending writes (inside the cache's serializer it does not wait). Pictures made from the entry
 * under keys of their own stay.
 *
 * @param levels One of SDD_CACHE_.
 * @return SDD_OK, also if there was no entry; SDD_ERROR_CACHE: the file could not be removed
 *     (sdd_cache_statistics.last_error has the errno), so that other processes still find it, and
 *     this one after the cache has been opened again; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_remove_wait(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                         sdd_cache_levels levels);

/**
 * Removes all entries that were stored before the call. A reader of an entry, in any process, reads
 * it to its end. Entries that cannot be removed are found again; files that are not the cache's
 * stay. Otherwise as sdd_cache_remove_wait().
 */
SDD_API sdd_status sdd_cache_clear_wait(sdd_cache *SDD_NULLABLE cache, sdd_cache_levels levels);

/* ------------------------------------------------------------------------------- keys and files */

/**
 * Gives the key of a URL, or of a smaller or transformed picture of it; the same in every version.
 *
 * "https://host/name-Thumbnail({200.000000,100.000000},1).jpg" is the key of https://host/name.jpg
 * made to fit into 200 x 100 pixels; 0 in place of 1 stands for SDD_FIT_STRETCH. SDWebImage has the
 * same text, with %7B and %7D for the braces if the key is a URL with an extension.
 * Transforms follow the name as in "name-Transform({flip(vertical)-rotate(90)}).jpg", see
 * sdd_transform_key(), other decode options as in "name-Form({fill,format=3}).jpg". Query and
 * fragment stay at the end.
 * Braces in the URL are escaped.
 *
 * @param cache The cache whose filter is called. NULL: the shared one.
 * @param url An absolute URL; any other text is taken as a key.
 * @param decode, transforms, transform_count The form. NULL and 0: the original. Without `pixels`.
 * @param buffer, capacity, length As for sdd_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_key(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL url,
                                 const sdd_decode_options *SDD_NULLABLE decode,
                                 const sdd_transform *SDD_NULLABLE transforms,
                                 size_t transform_count, char *SDD_NULLABLE buffer, size_t capacity,
                                 size_t *SDD_NULLABLE length);

/**
 * Gives the path that the file of a key has, or would have.
 *
 * @param buffer, capacity, length As for sdd_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_NOT_FOUND: the cache has no disk;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_path(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                  char *SDD_NULLABLE buffer, size_t capacity,
                                  size_t *SDD_NULLABLE length);

/**
 * Opens the file of a key, to be read, mapped or passed on without a copy. WAITS for the disk, and
 * for the check of the whole entry.
 *
 * @param fd Receives a descriptor (O_RDONLY, O_CLOEXEC) for the caller to close; -1 on an error. It
 *     stays valid when the entry is removed or replaced.
 * @param size Receives the number of encoded bytes at the start of the file; the rest is the
 *     cache's own data.
 * @return SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_open_wait(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                       int32_t *SDD_NONNULL fd, int64_t *SDD_NONNULL size);

/* -------------------------------------------------------------------------------------- listing */

/** States of an entry: sdd_cache_entry.state. */
typedef int32_t sdd_entry_state;

SDD_ENUM(sdd_entry_state) {
    SDD_ENTRY_GOOD = 0,    /* queries find it; its body is checked only with SDD_LIST_CHECK */
    SDD_ENTRY_EXPIRED = 1, /* older than max_disk_age_ms: a miss, removed by the next trim */
    SDD_ENTRY_DAMAGED = 2, /* cut, changed, or no entry at all: a miss, removed when read */
    SDD_ENTRY_FOREIGN = 3  /* of another version of the library, which this one leaves alone */
};

/** Bits of the flags of sdd_cache_list_wait(). */
typedef int32_t sdd_list_flags;

SDD_ENUM(sdd_list_flags) {
    SDD_LIST_CHECK = 1 /* reads every body and compares it with its checksum */
};

/** The next step for an entry: the result of an sdd_cache_list_fn. */
typedef int32_t sdd_list_step;

SDD_ENUM(sdd_list_step) {
    SDD_LIST_NEXT = 0,
    SDD_LIST_STOP = 1,  /* no further entry is listed */
    SDD_LIST_REMOVE = 2 /* the entry is removed from the disk, then the next one is listed */
};

/** An entry on disk, for an sdd_cache_list_fn. Its strings are borrowed. */
typedef struct sdd_cache_entry {
    size_t struct_size;
    const char *SDD_NULLABLE key; /* NULL if the entry is damaged or foreign */
    const char *SDD_NONNULL file; /* the name of its file, in the directory of the cache */
    int64_t body_bytes;           /* encoded bytes; -1 if the entry is damaged or foreign */
    int64_t disk_bytes;           /* what the file takes on disk */
    int64_t stored_ms;            /* milliseconds since 1970 */
    int64_t used_ms;              /* the last use that the disk knows of, likewise */
    sdd_entry_state state;                /* one of SDD_ENTRY_ */
    sdd_image_format format;               /* one of SDD_IMAGE_FORMAT_; 0: unknown */
    /* 1: for requests with credentials, cookies or an identity of the application; no other request
       gets it, and no call finds it by its key. */
    int32_t is_private;
} sdd_cache_entry;

/**
 * Called by sdd_cache_list_wait() for each entry.
 *
 * @param entry Borrowed until the callback returns.
 * @return One of SDD_LIST_; any other value counts as SDD_LIST_STOP.
 * Thread: the one that called sdd_cache_list_wait(). Every call is allowed but the cache's
 * destruction.  */
typedef sdd_list_step (*sdd_cache_list_fn)(const sdd_cache_entry *SDD_NONNULL entry,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Lists the entries in the directory of a cache, in no order, and WAITS for the disk: some 50
 * microseconds for each entry, and the time to read it with SDD_LIST_CHECK. Listing an entry is no
 * use of it. Entries that wait to be written are not listed (see sdd_cache_flush_wait()), nor are
 * those of read-only directories. Of entries that are stored or removed meanwhile, by any process,
 * some are listed and some are not. With 1,000,000 entries it needs no more memory than with 1,000.
 *
 * @param flags SDD_LIST_ bits, or 0.
 * @return SDD_OK, also after SDD_LIST_STOP; SDD_ERROR_CACHE: the directory could not be read, or an
 *     entry not be read or removed, which does not keep the others from being listed;
 *     SDD_ERROR_UNSUPPORTED: the cache has no disk level, or its entries are in an sdd_entry_store;
 *     SDD_ERROR_WOULD_DEADLOCK: inside a function that the cache's own thread has called;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_cache_list_wait(sdd_cache *SDD_NULLABLE cache, sdd_list_flags flags,
                                       sdd_cache_list_fn SDD_NONNULL entry_fn,
                                       void *SDD_NULLABLE user_data);

SDD_END_DECLS

#endif /* SDD_ENTRY_H */

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
 *         if (sdd_cache_put(NULL, &item, NULL) != SDD_OK) return 1;
 *         printf("on disk: %d\n", sdd_cache_contains(NULL, "greeting", SDD_CACHE_DISK) != 0);
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
#include "result.h"

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------- storing and querying */

/**
 * An item to store. Begin with SDD_CACHE_ITEM_INIT. Since: 0.2.0.
 *
 * Memory gets the image; if there is none, the key's entry in memory is removed. The disk gets the
 * bytes; without bytes, those that the image was decoded from if it has their size; else the image
 * is encoded (an animated one as a still picture) with the quality of sdd_image_encode(): in its
 * own format if that can be encoded, else as PNG if any pixel is transparent, else as JPEG.
 *
 * A preview (sdd_image_is_preview()) and an image of which rows are missing (sdd_image_good_rows())
 * are refused with SDD_ERROR_INVALID_ARGUMENT, since they would be found as complete ones.
 */
typedef struct sdd_cache_item {
    size_t struct_size;
    const char *SDD_NULLABLE key;      /* copied; required */
    sdd_image *SDD_NULLABLE image;     /* retained; NULL: nothing is stored in memory */
    sdd_bytes *SDD_NULLABLE bytes;     /* retained; not checked */
    sdd_bytes *SDD_NULLABLE extended;  /* the application's own data: sdd_result.extended */
    int32_t levels;                    /* one of SDD_CACHE_ */
    int32_t reserved;                  /* 0 */
    /* With sdd_cache_put_async(): called when the entry is on disk or could not be written. May be
       NULL. */
    sdd_completed_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_cache_item;

#define SDD_CACHE_ITEM_INIT \
    { sizeof(sdd_cache_item), NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL }

/**
 * Stores an item, in memory at once and on disk soon. Queries of this cache find it from now on.
 *
 * @param cache NULL: the shared one.
 * @param downloader The downloader that delivers the terminal event. NULL: the shared one.
 * @param item Copied.
 * @param status Receives the reason for a token of 0. May be NULL.
 * @return A token. The request ends when the entry is on disk, or with SDD_ERROR_CACHE; the
 *     result's url is the key. Cancelling it does not remove the entry. 0: nothing was stored, and
 *     no callback follows.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_cache_put_async(sdd_cache *SDD_NULLABLE cache,
                                      sdd_downloader *SDD_NULLABLE downloader,
                                      const sdd_cache_item *SDD_NONNULL item,
                                      sdd_status *SDD_NULLABLE status);

/**
 * Stores an item and WAITS until it is on disk. The item's callbacks and user_data are not used.
 *
 * @param detail Receives one of SDD_DETAIL_CACHE_, or 0. May be NULL.
 * @return SDD_OK; SDD_ERROR_CACHE: memory has the item, the disk does not;
 *     SDD_ERROR_WOULD_DEADLOCK in the cache's serializer; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_put(sdd_cache *SDD_NULLABLE cache,
                                 const sdd_cache_item *SDD_NONNULL item,
                                 int32_t *SDD_NULLABLE detail);

/** The parts of an entry that a query wants: sdd_query.wants. Since: 0.2.0. */
SDD_ENUM(int32_t) {
    SDD_WANT_IMAGE = 1,
    SDD_WANT_BYTES = 2, /* encoded bytes and `extended`, from disk, also if memory has the image */
    SDD_WANT_BOTH = 3
};

/** A query. Begin with SDD_QUERY_INIT. Since: 0.2.0. */
typedef struct sdd_query {
    size_t struct_size;
    const char *SDD_NULLABLE key; /* of the original; copied; required */
    int32_t levels;               /* one of SDD_CACHE_ */
    int32_t wants;                /* one of SDD_WANT_; 0: the image */
    /* The form that the image must have. That form is looked for in memory and on disk; then the
       original is read from disk, and the form is made of it and kept in memory. With `pixels` or
       an allocator, only the original is looked for and nothing is kept. NULL: the downloader's
       (sdd_downloader_set_decode_options()); for sdd_cache_query() RGBA8 at full size. */
    const sdd_decode_options *SDD_NULLABLE decode;
    uint64_t options; /* SDD_OPTION_ bits marked Q */
    /* May be NULL only with SDD_DELIVERY_APPLICATION and sdd_drain(). */
    sdd_completed_fn SDD_NULLABLE completed;
    void *SDD_NULLABLE user_data;
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_query;

#define SDD_QUERY_INIT \
    { sizeof(sdd_query), NULL, 0, 0, NULL, 0, NULL, NULL, NULL }

/**
 * Looks for an entry, as a request that never goes to the network. Equal queries share the reading
 * and the decoding.
 *
 * @param cache NULL: the shared one.
 * @param downloader The downloader whose decode threads and limits are used, and that delivers the
 *     event. NULL: the shared one.
 * @param query Copied.
 * @param status Receives the reason for a token of 0. May be NULL.
 * @return A token. The request ends with SDD_OK and the image's origin, SDD_ORIGIN_MEMORY or _DISK;
 *     without SDD_WANT_BYTES, sdd_result.bytes is as BYTES in loader.h says, and `extended` NULL;
 *     with SDD_ERROR_NOT_CACHED on a miss; with SDD_ERROR_BAD_IMAGE_DATA if the entry is no
 *     picture. The result's url is the key; its bytes are also there for an image that was decoded
 *     from them. 0: no callback follows.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_token sdd_cache_query_async(sdd_cache *SDD_NULLABLE cache,
                                        sdd_downloader *SDD_NULLABLE downloader,
                                        const sdd_query *SDD_NONNULL query,
                                        sdd_status *SDD_NULLABLE status);

/**
 * Looks for an entry and WAITS: reads and decodes on the calling thread.
 *
 * @param query Its callbacks and user_data are not used.
 * @param image Receives the image, owned by the caller: release with sdd_image_release(). NULL on a
 *     miss, or if no image is wanted. May be NULL.
 * @param bytes, extended Receive bytes, owned by the caller: release with sdd_bytes_release(). NULL
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
 * Returns the picture that memory has under a key, or that the application still holds. Does not
 * wait and allocates nothing.
 *
 * @param key The key of the wanted form: sdd_cache_key().
 * @return Owned by the caller: release with sdd_image_release(). NULL: none, or a dead handle.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_cache_memory_image(sdd_cache *SDD_NULLABLE cache,
                                                       const char *SDD_NONNULL key);

/**
 * Tells which levels have an entry of exactly this key. WAITS for the disk.
 *
 * @return SDD_CACHE_ bits; 0 for none, for an invalid key or level, and for a dead handle.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_cache_contains(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                   int32_t levels);

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
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_remove(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                    int32_t levels);

/**
 * Removes all entries that were stored before the call. A reader of an entry, in any process, reads
 * it to its end. Entries that cannot be removed are found again; files that are not the cache's
 * stay. Otherwise as sdd_cache_remove(). Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_clear(sdd_cache *SDD_NULLABLE cache, int32_t levels);

/* ------------------------------------------------------------------------------- keys and files */

/**
 * Gives the key of a URL, or of a smaller or transformed picture of it; the same in every version.
 *
 * "https://host/name-Thumbnail({200.000000,100.000000},1).jpg" is the key of https://host/name.jpg
 * made to fit into 200 x 100 pixels, as in SDWebImage; 0 in place of 1 stands for SDD_FIT_STRETCH.
 * Transforms follow the name as in "name-flip(vertical)-rotate(90).jpg", see sdd_transform_key(),
 * other decode options as in "name-Form({fill,format=3}).jpg". Query and fragment stay at the end.
 * Braces in the URL are escaped.
 *
 * @param cache The cache whose filter is called. NULL: the shared one.
 * @param url An absolute URL; any other text is taken as a key.
 * @param decode, transforms, transform_count The form. NULL and 0: the original. Without `pixels`.
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
 * Gives the path that the file of a key has, or would have.
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
 * Opens the file of a key, to be read, mapped or passed on without a copy. WAITS for the disk, and
 * for the check of the whole entry.
 *
 * @param fd Receives a descriptor (O_RDONLY, O_CLOEXEC) for the caller to close; -1 on an error. It
 *     stays valid when the entry is removed or replaced.
 * @param size Receives the number of encoded bytes at the start of the file; the rest is the
 *     cache's own data.
 * @return SDD_OK; SDD_ERROR_NOT_CACHED; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_cache_open(sdd_cache *SDD_NULLABLE cache, const char *SDD_NONNULL key,
                                  int32_t *SDD_NONNULL fd, int64_t *SDD_NONNULL size);

/* -------------------------------------------------------------------------------------- listing */

/** States of an entry: sdd_cache_entry.state. Since: 0.3.0. */
SDD_ENUM(int32_t) {
    SDD_ENTRY_GOOD = 0,    /* queries find it; its body is checked only with SDD_LIST_CHECK */
    SDD_ENTRY_EXPIRED = 1, /* older than max_disk_age_ms: a miss, removed by the next trim */
    SDD_ENTRY_DAMAGED = 2, /* cut, changed, or no entry at all: a miss, removed when read */
    SDD_ENTRY_FOREIGN = 3  /* of another version of the library, which this one leaves alone */
};

/** Bits of the flags of sdd_cache_list(). Since: 0.3.0. */
SDD_ENUM(int32_t) {
    SDD_LIST_CHECK = 1 /* reads every body and compares it with its checksum */
};

/** What follows for an entry: the result of an sdd_cache_list_fn. Since: 0.3.0. */
SDD_ENUM(int32_t) {
    SDD_LIST_NEXT = 0,
    SDD_LIST_STOP = 1,  /* no further entry is listed */
    SDD_LIST_REMOVE = 2 /* the entry is removed from the disk, then the next one is listed */
};

/** An entry on disk, for an sdd_cache_list_fn. Its strings are borrowed. Since: 0.3.0. */
typedef struct sdd_cache_entry {
    size_t struct_size;
    const char *SDD_NULLABLE key; /* NULL if the entry is damaged or foreign */
    const char *SDD_NONNULL file; /* the name of its file, in the directory of the cache */
    int64_t body_bytes;           /* encoded bytes; -1 if the entry is damaged or foreign */
    int64_t disk_bytes;           /* what the file takes on disk */
    int64_t stored_ms;            /* milliseconds since 1970 */
    int64_t used_ms;              /* the last use that the disk knows of, likewise */
    int32_t state;                /* one of SDD_ENTRY_ */
    int32_t format;               /* one of SDD_IMAGE_FORMAT_; 0: unknown */
    /* 1: for requests with credentials, cookies or an identity of the application; no other request
       gets it, and no call finds it by its key. */
    int32_t is_private;
    int32_t reserved;
} sdd_cache_entry;

/**
 * Called by sdd_cache_list() for each entry.
 *
 * @param entry Borrowed until the callback returns.
 * @return One of SDD_LIST_; any other value counts as SDD_LIST_STOP.
 * Thread: the one that called sdd_cache_list(). Every call is allowed but the cache's destruction.
 */
typedef int32_t (*sdd_cache_list_fn)(const sdd_cache_entry *SDD_NONNULL entry,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * Lists the entries in the directory of a cache, in no order, and WAITS for the disk: some 50
 * microseconds for each entry, and the time to read it with SDD_LIST_CHECK. Listing an entry is no
 * use of it. Entries that wait to be written are not listed (see sdd_cache_flush()), nor are those
 * of read-only directories. Of entries that are stored or removed meanwhile, by any process, some
 * are listed and some are not. With 1,000,000 entries it needs no more memory than with 1,000.
 *
 * @param flags SDD_LIST_ bits, or 0.
 * @return SDD_OK, also after SDD_LIST_STOP; SDD_ERROR_CACHE: the directory could not be read, or an
 *     entry not be read or removed, which does not keep the others from being listed;
 *     SDD_ERROR_UNSUPPORTED: the cache has no disk level, or its entries are in an sdd_entry_store;
 *     SDD_ERROR_WOULD_DEADLOCK: inside a function that the cache's own thread has called;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.3.0.
 */
SDD_API sdd_status sdd_cache_list(sdd_cache *SDD_NULLABLE cache, int32_t flags,
                                  sdd_cache_list_fn SDD_NONNULL entry_fn,
                                  void *SDD_NULLABLE user_data);

SDD_END_DECLS

#endif /* SDD_ENTRY_H */

/*
 * sdd/batch.h - Batches: many pictures for one program, each taken once, also straight into the
 * memory of a tensor.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         static const char *const urls[] = { "https://example.org/a.jpg",
 *                                             "https://example.org/b.png" };
 *         sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
 *         sdd_batch_item items[2] = { SDD_BATCH_ITEM_INIT, SDD_BATCH_ITEM_INIT };
 *         sdd_batch *batch = NULL;
 *         size_t count = 0;
 *         config.urls = urls;
 *         config.count = 2;
 *         if (sdd_batch_create(&config, &batch) != SDD_OK) return 1;
 *         while (sdd_batch_wait(batch, items, 2, -1, &count) == SDD_OK && count > 0)
 *             for (size_t i = 0; i < count; i++) {
 *                 printf("%d: %s\n", (int)items[i].index,
 *                        sdd_status_name(items[i].result->failure.status));
 *                 sdd_result_release(items[i].result);
 *             }
 *         return sdd_batch_destroy(batch) != SDD_OK;
 *     }
 */
#ifndef SDD_BATCH_H
#define SDD_BATCH_H

#include "downloader.h"
#include "loader.h"

SDD_BEGIN_DECLS

/* -------------------------------------------------------------------------------------- batches */

/**
 * A batch: many pictures for a program that learns from them or archives them. URLs go in, from an
 * array or a function; a few are under way at a time; and each comes out once with its outcome.
 * Pixels of one size can go straight into memory of the application, laid out as for NumPy and the
 * like. A bad item never stops the others.
 *
 * Speed, and the load on servers, are settings of the downloader: max_concurrent_downloads,
 * max_concurrent_per_host, min_host_interval_ms and decode_threads of sdd_downloader_config. A
 * batch has no thread of its own.
 */
typedef struct sdd_batch sdd_batch;

/** The order in which items are taken: sdd_batch_config.order. */
typedef int32_t sdd_batch_order;

SDD_ENUM(sdd_batch_order) {
    SDD_BATCH_AS_COMPLETED = 0,
    SDD_BATCH_ORDERED = 1 /* as they were given: a slow item holds up those after it */
};

/** The layout of channels in a tensor: sdd_tensor.layout. */
typedef int32_t sdd_tensor_layout;

SDD_ENUM(sdd_tensor_layout) {
    SDD_TENSOR_HWC = 0, /* interleaved: [n, height, width, channels] */
    SDD_TENSOR_CHW = 1  /* planar: [n, channels, height, width] */
};

/** Ways to assign slots to items: sdd_tensor.slot_choice. */
typedef int32_t sdd_tensor_slots;

SDD_ENUM(sdd_tensor_slots) {
    /* Item i gets slot i. A function is asked for at most slot_count items. */
    SDD_TENSOR_SLOT_OF_INDEX = 0,
    /* An item gets a free slot when it is taken, until sdd_batch_release_slot(). While none is
       free, items with pixels wait. */
    SDD_TENSOR_NEXT_SLOT = 1
};

/**
 * Memory of the application for pictures of one size, 8 bits a channel. Begin with SDD_TENSOR_INIT.
 */
typedef struct sdd_tensor {
    size_t struct_size;
    /* Required. The first byte of slot 0, owned by the application; must stay valid until
       sdd_batch_destroy() has returned. A slot may be read once its item is taken: with
       SDD_TENSOR_SLOT_OF_INDEX from then on, else until it is released. Other slots must be left
       alone. */
    void *SDD_NULLABLE pixels;
    /* At least 1; with SDD_TENSOR_SLOT_OF_INDEX at least sdd_batch_config.count. */
    size_t slot_count;
    int32_t width; /* pixels, at least 1; rows have no padding */
    int32_t height;
    sdd_pixel_format pixel_format; /* SDD_PIXEL_FORMAT_RGB8 (also 0), _RGBA8 or _GREY8 */
    sdd_tensor_layout layout;     /* SDD_TENSOR_HWC or _CHW; _CHW only with RGB8 */
    /* One of SDD_FIT_; smaller pictures are enlarged. Default SDD_FIT_FILL. With SDD_FIT_INSIDE the
       whole picture is at the top left, with zeros beside or below it. */
    sdd_fit fit;
    sdd_tensor_slots slot_choice; /* SDD_TENSOR_SLOT_OF_INDEX or _NEXT_SLOT */
    uint32_t background; /* 0xRRGGBB, shown through transparent pixels in formats without alpha */
    /* Bytes from one slot to the next; at least, and for 0, width x height x channels. */
    size_t slot_stride;
    /* One of SDD_COLOUR_, as sdd_decode_options.colour. Default: SDD_COLOUR_SRGB in a batch of a
       loader, SDD_COLOUR_AS_STORED in one of a downloader. sdd_batch_item.is_converted tells of
       each picture what it got. */
    sdd_colour colour;
} sdd_tensor;

#define SDD_TENSOR_INIT \
    { sizeof(sdd_tensor), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * One item, for an sdd_batch_next_fn to fill. All fields but struct_size are 0 before.
 */
typedef struct sdd_batch_source {
    size_t struct_size;
    const char *SDD_NULLABLE url; /* copied when the function has returned */
    uint64_t id;                  /* the application's own */
} sdd_batch_source;

/**
 * Gives a batch its next item. Called only inside sdd_batch_create() and sdd_batch_wait(), on the
 * calling thread, one call at a time; both take as long as it takes. Inside it, sdd_batch_wait()
 * and sdd_batch_destroy() for the same batch give SDD_ERROR_WOULD_DEADLOCK.
 *
 * @param item To be filled.
 * @param user_data sdd_batch_config.user_data.
 * @return 1: there is an item; 0: there are no more, and it is not called again.
 * Thread: that of sdd_batch_create() or sdd_batch_wait().
 */
typedef int32_t (*sdd_batch_next_fn)(sdd_batch_source *SDD_NONNULL item,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** The configuration of a batch. Begin with SDD_BATCH_CONFIG_INIT. */
typedef struct sdd_batch_config {
    size_t struct_size;
    /* Downloads the items, with its headers, limits and modifiers. NULL: the shared one. If it is
       destroyed before the batch, items under way are cancelled, and the rest end with
       SDD_DETAIL_OPERATION_CLOSED. */
    sdd_downloader *SDD_NULLABLE downloader;
    /* Loads the items through its cache, see sdd_load(); not together with `downloader`. With a
       tensor or an allocator only the originals are cached. NULL: items are downloads. */
    sdd_loader *SDD_NULLABLE loader;
    /* The `count` URLs, copied. One that is NULL or otherwise invalid is an item that fails. NULL,
       with count 0: none, or see `next`. */
    const char *SDD_NULLABLE const *SDD_NULLABLE urls;
    /* The `count` ids of the application, copied. NULL: the index is the id. */
    const uint64_t *SDD_NULLABLE ids;
    size_t count;
    /* Gives the items, in place of urls, ids and count: for more than fit into memory. */
    sdd_batch_next_fn SDD_NULLABLE next;
    void *SDD_NULLABLE user_data; /* passed to `next`; used until sdd_batch_destroy() */
    /* The memory for the pixels; the struct is copied. NULL: items have images, or bytes with
       SDD_OPTION_BYTES_ONLY. */
    const sdd_tensor *SDD_NULLABLE tensor;
    /* The decode options, copied; without `pixels`, and not with a tensor. NULL: the downloader's,
       see sdd_downloader_set_decode_options(). */
    const sdd_decode_options *SDD_NULLABLE decode;
    /* How to transfer each item. NULL: as the downloader's config says. */
    const sdd_transfer_options *SDD_NULLABLE transfer;
    /* SDD_OPTION_ bits marked D, or marked B with a loader. Those about pixels do not affect a
       tensor; SDD_OPTION_BYTES_ONLY excludes one. */
    sdd_options options;
    /* Limit on the whole batch, from sdd_batch_create() on. Items that have not ended by then end
       with SDD_ERROR_TIMEOUT and SDD_DETAIL_TIMEOUT_TOTAL. 0 and SDD_NO_LIMIT: none. */
    int64_t deadline_ms;
    /* Most items that are running or wait to be taken, at most 65,536; 0: 64. Their bodies and
       pictures are in memory. */
    int32_t look_ahead;
    sdd_priority priority; /* one of SDD_PRIORITY_, of all items */
    sdd_batch_order order; /* SDD_BATCH_AS_COMPLETED or _ORDERED */
    int32_t responses;     /* 1: results have their response; default 0 */
} sdd_batch_config;

#define SDD_BATCH_CONFIG_INIT \
    { sizeof(sdd_batch_config), NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, \
      0, 0, 0 }

/**
 * Creates a batch and starts its first items.
 *
 * @param config Copied.
 * @param out Receives the handle: destroy it with sdd_batch_destroy(). NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: an invalid number, fields that exclude each other, a
 *     tensor with fewer slots than there are items, option bits that are not for a batch;
 *     SDD_ERROR_UNSUPPORTED: also option bits of a newer header; SDD_ERROR_NO_RESOURCES: no
 *     descriptor; SDD_ERROR_CLOSED and SDD_ERROR_FORKED: the downloader or loader is dead.
 * Thread: any.
 */
SDD_API sdd_status sdd_batch_create(const sdd_batch_config *SDD_NONNULL config,
                                    sdd_batch *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels all running items and WAITS for them, and for calls of sdd_batch_wait() on other threads,
 * which return with SDD_ERROR_CLOSED. Afterwards nothing is written to the tensor. Images and bytes
 * live on by their own references.
 *
 * @param batch Dead from now on.
 * @return SDD_OK; SDD_ERROR_CLOSED if already destroyed; SDD_ERROR_INVALID_ARGUMENT for NULL;
 *     SDD_ERROR_FORKED; SDD_ERROR_WOULD_DEADLOCK in its `next`.
 * Thread: any, but not sdd-net or decode threads.
 */
SDD_API sdd_status sdd_batch_destroy(sdd_batch *SDD_NULLABLE batch);

/** A taken item, filled by sdd_batch_wait(). */
typedef struct sdd_batch_item {
    size_t struct_size;
    uint64_t id;   /* from sdd_batch_config.ids or sdd_batch_source.id */
    int64_t index; /* from 0, in the order in which items were given */
    /* Slot of the tensor; -1: none. A failed item has one only with SDD_TENSOR_SLOT_OF_INDEX, and
       the slot is then all zero. */
    int64_t slot;
    /* Pixels in the slot; 0: none. With SDD_FIT_INSIDE they may be fewer than the slot has. */
    int32_t width;
    int32_t height;
    /* Never NULL. Owned by the caller: release it with sdd_result_release(). With a tensor it has
       no image, and without SDD_OPTION_BYTES_ONLY no bytes of its own: see sdd_image_bytes(). */
    sdd_result *SDD_NULLABLE result;
    /* One of SDD_COLOUR_KIND_: what the picture says of its colours, converted or not. 0 without
       pixels. */
    sdd_colour_kind colour_kind;
    int32_t is_converted; /* 1: the pixels were converted to sRGB */
} sdd_batch_item;

#define SDD_BATCH_ITEM_INIT \
    { sizeof(sdd_batch_item), 0, 0, 0, 0, 0, NULL, 0, 0 }

/**
 * WAITS until items can be taken, takes them, and starts others in their place.
 *
 * Every item is taken once, whatever happens. After sdd_batch_cancel() or the deadline, items that
 * have not ended do so at once: all the rest of an array, or what a function has given.
 *
 * @param items An array of max records. The struct_size of the first is the size of each: set it.
 * @param max At least 1.
 * @param timeout_ms Longest wait, not counting `next`; 0: none; negative: no limit. With all slots
 *     in use, an unlimited wait ends only if another thread releases one.
 * @param count Receives the number filled; 0 with SDD_OK: all items have been taken.
 * @return SDD_OK; SDD_ERROR_TIMEOUT if none could be taken in time; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED; SDD_ERROR_WOULD_DEADLOCK in its `next`; SDD_ERROR_INVALID_ARGUMENT: NULL,
 *     max 0, a struct_size too small to reach `result`.
 * Thread: any, several at a time, but not sdd-net or decode threads.
 */
SDD_API sdd_status sdd_batch_wait(sdd_batch *SDD_NULLABLE batch, sdd_batch_item *SDD_NONNULL items,
                                  size_t max, int64_t timeout_ms, size_t *SDD_NONNULL count);

/**
 * Releases a slot of SDD_TENSOR_NEXT_SLOT: from now on it may be filled again.
 *
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: it is not in use, or the batch has no such slots;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any.
 */
SDD_API sdd_status sdd_batch_release_slot(sdd_batch *SDD_NULLABLE batch, int64_t slot);

/**
 * Ends all items that have not ended, with SDD_ERROR_CANCELLED. They must still be taken. A
 * function is not asked for more.
 *
 * @return SDD_OK, also the second time; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *     SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any.
 */
SDD_API sdd_status sdd_batch_cancel(sdd_batch *SDD_NULLABLE batch);

/**
 * Returns a descriptor that is readable while items can be taken, and when all have been: for poll,
 * epoll, asyncio. It is level-triggered, non-blocking and close-on-exec. Only watch it; the library
 * reads and writes it.
 *
 * @return The descriptor, an eventfd(2); -1 for a dead handle and for NULL.
 * Thread: any. Lifetime: until sdd_batch_destroy().
 */
SDD_API int32_t sdd_batch_event_fd(sdd_batch *SDD_NULLABLE batch);

/** Counts of a batch so far. Filled by the library. */
typedef struct sdd_batch_statistics {
    size_t struct_size;
    int64_t items; /* ended items, taken or not: the sum of the next three */
    int64_t succeeded;
    int64_t failed;
    int64_t cancelled;
    int64_t bytes;  /* bytes of bodies */
    int64_t pixels; /* decoded pixels */
    /* Since sdd_batch_create(); once all items are taken, until the last one ended. */
    int64_t elapsed_us;
    double items_per_second; /* over elapsed_us */
    double bytes_per_second;
} sdd_batch_statistics;

#define SDD_BATCH_STATISTICS_INIT \
    { sizeof(sdd_batch_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Reads the counts of a batch so far.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_batch_get_statistics(sdd_batch *SDD_NULLABLE batch,
                                            sdd_batch_statistics *SDD_NONNULL statistics);

/** A kind of outcome, and how many items had it. Filled by the library. */
typedef struct sdd_batch_status {
    size_t struct_size;
    int64_t items;
    sdd_failure failure; /* of the first of them; its message is that of sdd_status_message() */
} sdd_batch_status;

#define SDD_BATCH_STATUS_INIT \
    { sizeof(sdd_batch_status), 0, { 0, 0, 0, 0, 0, 0, 0, 0, NULL, { 0, 0, 0 } } }

/**
 * Reads one kind of outcome so far: a combination of status, detail and HTTP status.
 *
 * @param index From 0, in the order in which each kind first occurred.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any.
 */
SDD_API sdd_status sdd_batch_get_status(sdd_batch *SDD_NULLABLE batch, size_t index,
                                        sdd_batch_status *SDD_NONNULL status);

/** Counts of the items of one host. Filled by the library. */
typedef struct sdd_batch_host {
    size_t struct_size;
    int64_t items;   /* ended items */
    int64_t failed;  /* failed and cancelled items */
    int64_t bytes;   /* bytes of bodies */
    int64_t time_us; /* the sum of the items' sdd_metrics.total_us */
    /* The host of the URL in lower case, with the port if the URL has one. Ends with NUL, and is
       cut if too long. "" for a URL without host; "(other)" for all hosts after the first 1,000. */
    char host[256];
} sdd_batch_host;

#define SDD_BATCH_HOST_INIT \
    { sizeof(sdd_batch_host), 0, 0, 0, 0, "" }

/**
 * Reads the counts of one host so far.
 *
 * @param index From 0, in the order in which an item of each host first ended.
 * @return As sdd_batch_get_status().
 * Thread: any.
 */
SDD_API sdd_status sdd_batch_get_host(sdd_batch *SDD_NULLABLE batch, size_t index,
                                      sdd_batch_host *SDD_NONNULL host);

SDD_END_DECLS

#endif /* SDD_BATCH_H */

/*
 * sdd/batch.h - Batches: many pictures for one program, each taken once, also straight into the
 * memory of a tensor.
 *
 * This chapter is the part of the interface that may still change before version 1.0.
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
 *                 printf("%d: %s\n", (int)items[i].index, sdd_status_name(items[i].error));
 *                 sdd_image_release(items[i].image);
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
 * Many pictures for a program that learns from them, or keeps them: n URLs go in, from an array or
 * a function, few of them are under way at a time, and each comes out once with what it came to;
 * pixels of one size lie in memory of the host's, as NumPy and the like have it. One bad item never
 * stops the others.
 *
 * How fast it goes, and what a host bears, are rules of the downloader: max_concurrent_downloads,
 * max_concurrent_per_host, min_host_interval_ms and decode_threads of its sdd_downloader_config. A
 * batch has no thread of its own. Since: 0.2.0.
 */
typedef struct sdd_batch sdd_batch;

/** In which order items are taken: sdd_batch_config.order. Since: 0.2.0. */
enum {
    SDD_BATCH_AS_COMPLETED = 0,
    SDD_BATCH_ORDERED = 1 /* as they were given: a slow one holds up those behind it */
};

/** How the channels of a pixel lie in a tensor: sdd_tensor.layout. Since: 0.2.0. */
enum {
    SDD_TENSOR_HWC = 0, /* beside one another: [n, height, width, channels] */
    SDD_TENSOR_CHW = 1  /* each a picture of its own: [n, channels, height, width] */
};

/**
 * What becomes of a picture of another shape: sdd_tensor.fit. Smaller ones are made larger. Since:
 * 0.2.0.
 */
enum {
    SDD_TENSOR_FILL = 0, /* its middle, what sticks out cut off: SDD_FIT_FILL */
    SDD_TENSOR_STRETCH = 1, /* its sides apart: SDD_FIT_STRETCH */
    SDD_TENSOR_INSIDE = 2 /* all of it, at the top left, zeros beside or below it: SDD_FIT_INSIDE */
};

/** Which slot of a tensor an item gets: sdd_tensor.slots. Since: 0.2.0. */
enum {
    /* Item i has slot i. With a function it is asked for slot_count items at most */
    SDD_TENSOR_SLOT_OF_INDEX = 0,
    /* a free one, when it is taken; until sdd_batch_release_slot(). While none is free, items that
       have pixels wait */
    SDD_TENSOR_NEXT_SLOT = 1
};

/**
 * Memory of the host's for pictures of one size, 8 bits a channel. Begin with SDD_TENSOR_INIT.
 * Since: 0.2.0.
 */
typedef struct sdd_tensor {
    size_t struct_size;
    /* The first byte of slot 0; needed. The caller's: it must stay until sdd_batch_destroy() has
       returned. A slot may be read once its item has been taken, a SLOT_OF_INDEX at any time after,
       else until it is released; the other slots are to be left alone */
    void *SDD_NULLABLE pixels;
    /* At least 1; with SDD_TENSOR_SLOT_OF_INDEX at least sdd_batch_config.count */
    size_t slot_count;
    /* Bytes from one slot to the next; 0: width x height x channels, which is the least */
    size_t slot_stride;
    int32_t width; /* pixels, at least 1. Rows have nothing between them */
    int32_t height;
    int32_t pixel_format; /* SDD_PIXEL_FORMAT_RGB8 (also 0), _RGBA8 or _GREY8 */
    int32_t layout;       /* one of SDD_TENSOR_HWC, _CHW; _CHW only of RGB8 */
    int32_t fit;          /* one of SDD_TENSOR_FILL, _STRETCH, _INSIDE */
    int32_t slots;        /* one of SDD_TENSOR_SLOT_OF_INDEX, _NEXT_SLOT */
    /* What shows through where a picture is transparent, and the format has no alpha: 0xRRGGBB */
    uint32_t background;
    int32_t reserved; /* 0 */
} sdd_tensor;

#define SDD_TENSOR_INIT \
    { sizeof(sdd_tensor), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** One item, for an sdd_batch_next_fn to fill; all 0 before, but for struct_size. Since: 0.2.0. */
typedef struct sdd_batch_source {
    size_t struct_size;
    const char *SDD_NULLABLE url; /* copied when the function has returned */
    uint64_t id;                  /* the host's own */
} sdd_batch_source;

/**
 * Gives a batch one item more. Called inside sdd_batch_create() and sdd_batch_wait() and nowhere
 * else, on the thread that is in there, one call at a time; both take the time that it takes.
 *
 * @param item To be filled.
 * @param user_data sdd_batch_config.user_data.
 * @return 1: there is an item; 0: there are no more, and it is not called again.
 * Calls with the same batch: sdd_batch_wait() and sdd_batch_destroy() give
 * SDD_ERROR_WOULD_DEADLOCK. Since: 0.2.0.
 */
typedef int32_t (*sdd_batch_next_fn)(sdd_batch_source *SDD_NONNULL item,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/** What a batch is to do. Begin with SDD_BATCH_CONFIG_INIT. Since: 0.2.0. */
typedef struct sdd_batch_config {
    size_t struct_size;
    /* Who fetches the items: its headers, limits and modifiers hold. NULL: the shared one.
       Destroyed before the batch, it cancels what is under way, and the rest ends with
       SDD_DETAIL_OPERATION_CLOSED */
    sdd_downloader *SDD_NULLABLE downloader;
    /* Items are loads of this one, in place of `downloader`: what its cache has needs no network,
       and what comes is stored there: see sdd_load(). With a tensor, or an allocator, that is the
       original. NULL: they are downloads */
    sdd_loader *SDD_NULLABLE loader;
    /* Count of them, copied. One that is NULL or otherwise bad is an item that fails. NULL, with
       count 0: none, or see `next` */
    const char *SDD_NULLABLE const *SDD_NULLABLE urls;
    /* Count of them, copied: the host's own. NULL: the index is the id */
    const uint64_t *SDD_NULLABLE ids;
    size_t count;
    /* In place of urls: for more items than there is memory for */
    sdd_batch_next_fn SDD_NULLABLE next;
    void *SDD_NULLABLE user_data; /* of `next`; of use until sdd_batch_destroy() */
    /* Copied: where the pixels go. NULL: items have images, or with SDD_OPTION_BYTES_ONLY bytes */
    const sdd_tensor *SDD_NULLABLE tensor;
    /* Copied: how images are made; not with `pixels`, nor with a tensor. NULL: the downloader's,
       see sdd_downloader_set_decode_options() */
    const sdd_decode_options *SDD_NULLABLE decode;
    /* SDD_OPTION_ bits, as of a request: what they say of pixels does not hold for a tensor;
       SDD_OPTION_BYTES_ONLY is not for one */
    uint64_t options;
    /* For the whole, from sdd_batch_create() on: what has not ended by then ends with
       SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL. 0: none */
    int64_t deadline_ms;
    /* Most items that are under way or wait to be taken; 0: 64. At most 65,536. What has come for
       them is in memory */
    int32_t look_ahead;
    int32_t order; /* SDD_BATCH_AS_COMPLETED or _ORDERED */
    /* As sdd_download_request.max_attempts: transfers for one item, at most 1000; 0: as the
       downloader has it */
    int32_t max_attempts;
    int32_t reserved; /* 0 */
} sdd_batch_config;

#define SDD_BATCH_CONFIG_INIT \
    { sizeof(sdd_batch_config), NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, \
      0, 0 }

/**
 * Makes a batch, and begins with its first items.
 *
 * @param config Copied.
 * @param out Receives the handle, to be given back with sdd_batch_destroy(); NULL on an error.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: a number that cannot be, urls and next both, a tensor
 *     with fewer slots than there are items, option bits that are not for a batch;
 *     SDD_ERROR_UNSUPPORTED: also option bits of a newer header; SDD_ERROR_NO_RESOURCES: no
 *     descriptor; SDD_ERROR_CLOSED and SDD_ERROR_FORKED: the downloader.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_create(const sdd_batch_config *SDD_NONNULL config,
                                    sdd_batch *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Cancels what is under way, and WAITS for it, and for calls of sdd_batch_wait() on other threads,
 * which return with SDD_ERROR_CLOSED. After it nothing is written to the tensor. Images and bytes
 * live on by their own references.
 *
 * @param batch Dead from now on.
 * @return SDD_OK; SDD_ERROR_CLOSED if that was done before; SDD_ERROR_INVALID_ARGUMENT for NULL;
 *     SDD_ERROR_FORKED; SDD_ERROR_WOULD_DEADLOCK in its `next`.
 * Thread: any, but not sdd-net and decode threads. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_destroy(sdd_batch *SDD_NULLABLE batch);

/** One item that was taken, filled by sdd_batch_wait(). Since: 0.2.0. */
typedef struct sdd_batch_item {
    size_t struct_size;
    uint64_t id;   /* sdd_batch_config.ids, or sdd_batch_source.id */
    int64_t index; /* from 0, in the order in which items were given */
    /* Of the tensor; -1: none. A failed item has one only with SDD_TENSOR_SLOT_OF_INDEX, and its
       slot is all zero */
    int64_t slot;
    sdd_status error; /* SDD_OK: it has what was wanted */
    int32_t detail; /* one of SDD_DETAIL_ */
    int32_t http_status; /* 0: no response came, or none was needed */
    int32_t origin; /* one of SDD_ORIGIN_ */
    int32_t width; /* of the pixels; 0: there are none. Less than a slot's with SDD_TENSOR_INSIDE */
    int32_t height;
    /* Owned by the caller: release with sdd_image_release(). NULL with a tensor */
    sdd_image *SDD_NULLABLE image;
    /* Owned by the caller: release with sdd_bytes_release(). Only with SDD_OPTION_BYTES_ONLY; those
       of an image are sdd_image_bytes() */
    sdd_bytes *SDD_NULLABLE bytes;
    int64_t time_us; /* from its submission to its end */
} sdd_batch_item;

#define SDD_BATCH_ITEM_INIT \
    { sizeof(sdd_batch_item), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0 }

/**
 * WAITS until items can be taken, takes them, and begins others in their place.
 *
 * Every item is taken once, whatever happens. After sdd_batch_cancel() and the deadline those that
 * have not ended do so at once; of an array that is all the rest, of a function what it has given.
 *
 * @param items max records in a row. The struct_size of the FIRST gives the size of each: set it.
 * @param max How many there are room for, at least 1.
 * @param timeout_ms Longest wait, beside the time of `next`; 0: none; negative: no limit. Take
 *     care: with all slots in use it can only end if another thread releases one.
 * @param count Receives how many were filled; 0 with SDD_OK: all items have been taken.
 * @return SDD_OK; SDD_ERROR_TIMED_OUT when none could be taken in time; SDD_ERROR_CLOSED;
 *     SDD_ERROR_FORKED; SDD_ERROR_WOULD_DEADLOCK in its `next`; SDD_ERROR_INVALID_ARGUMENT: NULL,
 *     max 0, a struct_size too small to reach `bytes`.
 * Thread: any, several at a time, but not sdd-net and decode threads. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_wait(sdd_batch *SDD_NULLABLE batch, sdd_batch_item *SDD_NONNULL items,
                                  size_t max, int64_t timeout_ms, size_t *SDD_NONNULL count);

/**
 * Gives back a slot of SDD_TENSOR_NEXT_SLOT: from now on it may be filled again.
 *
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: it is not in use, or the batch has no such slots;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_release_slot(sdd_batch *SDD_NULLABLE batch, int64_t slot);

/**
 * Ends all items that have not ended, with SDD_ERROR_CANCELLED. They are still to be taken. A
 * function is not asked for more.
 *
 * @return SDD_OK, also the second time; SDD_ERROR_CLOSED; SDD_ERROR_FORKED;
 *     SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_cancel(sdd_batch *SDD_NULLABLE batch);

/**
 * A descriptor that is readable while items can be taken, and when all have been: for poll, epoll,
 * asyncio.
 *
 * Level-triggered, non-blocking, closed on exec. Only watch it; the library reads and writes it.
 * @return The descriptor, an eventfd(2); -1 for a dead handle and for NULL.
 * Thread: any. Lifetime: until sdd_batch_destroy(). Since: 0.2.0.
 */
SDD_API int32_t sdd_batch_event_fd(sdd_batch *SDD_NULLABLE batch);

/** What has become of a batch so far. Filled by the library. Since: 0.2.0. */
typedef struct sdd_batch_statistics {
    size_t struct_size;
    int64_t items; /* that have ended, taken or not: the sum of the next three */
    int64_t succeeded;
    int64_t failed;
    int64_t cancelled;
    int64_t bytes;  /* of bodies */
    int64_t pixels; /* as decoded */
    /* Since sdd_batch_create(); to the end of the last item, once all have been taken */
    int64_t elapsed_us;
    double items_per_second; /* of elapsed_us */
    double bytes_per_second;
} sdd_batch_statistics;

#define SDD_BATCH_STATISTICS_INIT \
    { sizeof(sdd_batch_statistics), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells what has become of a batch so far.
 *
 * @param statistics Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_get_statistics(sdd_batch *SDD_NULLABLE batch,
                                            sdd_batch_statistics *SDD_NONNULL statistics);

/** One way in which items have ended, and how many did. Filled by the library. Since: 0.2.0. */
typedef struct sdd_batch_status {
    size_t struct_size;
    int64_t items;
    sdd_status error;
    int32_t detail;
    int32_t http_status;
    int32_t reserved;
} sdd_batch_status;

#define SDD_BATCH_STATUS_INIT \
    { sizeof(sdd_batch_status), 0, 0, 0, 0, 0 }

/**
 * Tells in which ways items have ended so far: error, detail and HTTP status.
 *
 * @param index From 0, in the order in which the first of each ended.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there are not so many; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_CLOSED; SDD_ERROR_FORKED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_get_status(sdd_batch *SDD_NULLABLE batch, size_t index,
                                      sdd_batch_status *SDD_NONNULL status);

/** What has become of the items of one host. Filled by the library. Since: 0.2.0. */
typedef struct sdd_batch_host {
    size_t struct_size;
    int64_t items;   /* that have ended */
    int64_t failed;  /* of those, also by being cancelled */
    int64_t bytes;   /* of bodies */
    int64_t time_us; /* the sum of all their time_us */
    /* The URL's, in lower case, with the port that stands there; ends with NUL, cut if it is
       longer. "" of what has none; "(other)" of all hosts behind the first 1,000 */
    char host[256];
} sdd_batch_host;

#define SDD_BATCH_HOST_INIT \
    { sizeof(sdd_batch_host), 0, 0, 0, 0, "" }

/**
 * Tells what has become of the items of each host so far.
 *
 * @param index From 0, in the order in which the first of each ended.
 * @return As sdd_batch_get_status().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_batch_get_host(sdd_batch *SDD_NULLABLE batch, size_t index,
                                      sdd_batch_host *SDD_NONNULL host);

SDD_END_DECLS

#endif /* SDD_BATCH_H */

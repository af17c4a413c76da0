/*
 * Declarations that the parts of the baseline share.
 *
 * The baseline does the work of each workload by hand: one thread with libcurl's multi interface, and threads that
 * decode with libjpeg and libpng. It has no queue of priorities, no sharing, retries, limits or callbacks, so that its
 * time shows what the three libraries cost by themselves.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include <stddef.h>
#include <stdint.h>

struct arguments {
    const char *workload, *urls, *ca_file, *cache, *pictures;
    int inflight, threads, verify, sink, prefill;
    int decodes;        /* the workload's bodies are decoded */
    int largest_side;   /* of the decoded pictures; 0: as they are */
    int makes_previews; /* while the body arrives */
};

/* Set once, before any thread starts. */
extern struct arguments arguments;

/* A body, in memory from malloc() or aligned_alloc(). `index` is that of its URL. */
struct body {
    uint8_t *bytes;
    size_t size, index;
};

/* RGBA8, alpha not premultiplied, without gaps between rows; memory from malloc(). */
struct picture {
    uint8_t *pixels;
    int width, height;
};

/* Counts the end of a URL, whose picture is NULL if it was not to be decoded. Borrows both. Callable from any thread. */
void count_ok(const struct body *body, const struct picture *picture);
void count_failed(const char *url, const char *why);
/* Notes the time of the first preview. Thread: the network thread. */
void count_preview(void);

/* Ends the process with status 2. */
_Noreturn void give_up(const char *why);

/* ---- network.c: the thread that calls these is the network thread */

/* Fetches all URLs, and decodes their bodies. With --prefill it stores them in --cache instead. */
void fetch_all(char **urls, size_t count);
/* Makes the network thread start more transfers. Callable from any thread. */
void wake_network(void);

/* ---- cache.c: a folder with a file for each URL */

void store_in_cache(const char *url, const struct body *body);
/* Reads the bodies of all URLs, and decodes them. */
void read_all(char **urls, size_t count);

/* ---- decode_threads.c */

void start_decoding(void);
/* Takes the body over. Waits for nothing. Thread: one thread. */
void decode_later(struct body body, const char *url);
/* Returns 1 if enough bodies are waiting; when one has been taken, wake_network() is called. Thread: as decode_later. */
int has_enough_to_decode(void);
/* Returns after the last body has been decoded; at once if start_decoding() was not called. */
void finish_decoding(void);

/* ---- jpeg.c, png.c, reduce.c: all return 0, or -1 for a damaged file */

struct jpeg_decoder;
struct jpeg_decoder *make_jpeg_decoder(void);
void free_jpeg_decoder(struct jpeg_decoder *decoder);
/* Decodes to fit into arguments.largest_side. */
int decode_jpeg(struct jpeg_decoder *decoder, const struct body *body, struct picture *picture);
int decode_png(const struct body *body, struct picture *picture);

/* Makes a smaller picture from rows: each pixel is the mean of the area that it covers. */
struct reducer;
struct reducer *make_reducer(int width, int height, struct picture *target);
void reduce_row(struct reducer *reducer, const uint8_t *row);
void free_reducer(struct reducer *reducer);

/* ---- previews.c: decodes a progressive JPEG while it arrives. Thread: the network thread */

struct preview_decoder;
struct preview_decoder *make_preview_decoder(void);
/* Takes all that has arrived; the bytes may have moved since the last call. */
void feed_preview_decoder(struct preview_decoder *decoder, const uint8_t *bytes, size_t size);
/* Makes the last picture and frees the decoder. Returns -1 if the file is damaged or cut. */
int finish_preview_decoder(struct preview_decoder *decoder, struct picture *picture);

#endif

/*
 * CPNG.h - libpng for Swift.
 *
 * This shim exists because libpng reports an error by longjmp, which must not cross a Swift frame. It can be removed
 * once Swift can call libpng without that.
 *
 * A decoder turns one PNG after another into pixels as the bytes arrive: call sddp_open(), then sddp_give() and
 * sddp_read_header() until the header is complete, then sddp_give() and sddp_decode() until the picture is complete.
 * A whole body is given in one call and never needs more. The shim makes no decisions except whether a picture is
 * damaged, allocates no pixel memory and prints nothing. A decoder may be used from any thread, by one thread at a
 * time.
 */
#ifndef SDD_CPNG_H
#define SDD_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sddp_decoder sddp_decoder;

typedef enum sddp_status {
    SDDP_OK = 0,
    SDDP_NEEDS_MORE,  /* give more bytes and repeat the call */
    SDDP_CORRUPT,     /* invalid data, or a wrong checksum where pixels depend on it */
    SDDP_TRUNCATED,   /* the data ends before the end of the IEND chunk */
    SDDP_ZERO_PIXELS, /* a width or height of 0 in the header */
    SDDP_UNSUPPORTED, /* a critical chunk that libpng does not know */
    SDDP_TOO_SLOW,    /* took longer than sddp_open() allows */
    SDDP_NO_MEMORY,
    SDDP_TOO_LARGE /* more bytes than sddp_unpack() may unpack */
} sddp_status;

typedef struct sddp_header {
    uint32_t width;
    uint32_t height;
    bool is_interlaced;
    bool is_grey;   /* greyscale, with or without alpha */
    bool has_alpha; /* also true if a colour or grey level is transparent (tRNS) */
} sddp_header;

/* Layouts of the pixels that the decoder writes. Alpha is not premultiplied. */
typedef enum sddp_layout {
    SDDP_RGBA = 0,
    SDDP_BGRA,
    SDDP_RGB,   /* only for a picture without alpha */
    SDDP_GREY,  /* only for a greyscale picture without alpha */
    SDDP_RGBA16 /* 2 bytes per channel, in native byte order */
} sddp_layout;

/* Returns NULL when out of memory. */
sddp_decoder *sddp_create(void);

/* Does nothing if `decoder` is NULL. */
void sddp_destroy(sddp_decoder *decoder);

/*
 * Begins a picture and ends the previous one.
 *
 * max_microseconds limits the thread's CPU time; 0 means no limit. microseconds_per_mib is added to that limit for
 * each MiB of input.
 */
void sddp_open(sddp_decoder *decoder, int64_t max_microseconds, int64_t microseconds_per_mib);

/*
 * Passes all bytes of the picture so far, from the first one on: those of the previous call, and perhaps more. They
 * must stay valid until the next sddp_give() or sddp_end(). `is_last` says that no more bytes will come.
 */
void sddp_give(sddp_decoder *decoder, const void *bytes, size_t size, bool is_last);

/* Fills `header` on SDDP_OK. */
sddp_status sddp_read_header(sddp_decoder *decoder, sddp_header *header);

/*
 * Writes the picture: header.height rows of header.width pixels in `layout`, `stride` bytes apart. After
 * SDDP_NEEDS_MORE the next call continues, with the same memory. After an error the first sddp_rows() rows are good.
 *
 * The memory of an interlaced picture always shows the whole picture, in blocks that become smaller from pass to
 * pass.
 */
sddp_status sddp_decode(sddp_decoder *decoder, void *pixels, size_t stride, sddp_layout layout);

/* Receives the rows of pixels one by one, from the top. `row` is valid only during the call. */
typedef void (*sddp_take_row)(void *context, const uint8_t *row);

/* Like sddp_decode(), but passes the rows to `take`, which must return normally. Not for an interlaced picture. */
sddp_status sddp_decode_rows(sddp_decoder *decoder, sddp_layout layout, sddp_take_row take, void *context);

/* Returns how many rows are complete. In an interlaced picture this is 0 until its last pass. */
uint32_t sddp_rows(const sddp_decoder *decoder);

/* Returns how many passes of an interlaced picture are complete: 0 to 7. */
uint32_t sddp_passes(const sddp_decoder *decoder);

/* Frees what the picture holds. May be called at any time and more than once. */
void sddp_end(sddp_decoder *decoder);

/* Returns the error message, or "". Valid until the next sddp_open() or sddp_destroy(). */
const char *sddp_message(const sddp_decoder *decoder);

#include "CPNGEncoder.h" /* this header and the next are part of the module */
#include "CPNGMetadata.h"

#endif

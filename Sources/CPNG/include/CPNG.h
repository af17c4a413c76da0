/*
 * CPNG.h - libpng for Swift.
 *
 * Why it exists: libpng leaves an error by longjmp, which must not cross a Swift frame. When it may go:
 * when Swift can call libpng without that.
 *
 * A decoder turns one PNG after another into pixels, as its bytes come: sddp_open(), then sddp_give() and
 * sddp_read_header() until the header is there, then sddp_give() and sddp_decode() until the picture is. A whole body
 * is given at once, and never needs more. It decides nothing but what a damaged picture is, allocates no pixels,
 * prints nothing. Any thread, one at a time.
 */
#ifndef SDD_CPNG_H
#define SDD_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sddp_decoder sddp_decoder;

typedef enum sddp_status {
    SDDP_OK = 0,
    SDDP_NEEDS_MORE,  /* give more bytes, and call again as before */
    SDDP_CORRUPT,     /* data that cannot be, or a wrong check sum where pixels depend on it */
    SDDP_TRUNCATED,   /* the data ends before the end of the IEND chunk */
    SDDP_ZERO_PIXELS, /* a width or height of 0 in the header */
    SDDP_UNSUPPORTED, /* a critical chunk that libpng does not know */
    SDDP_TOO_SLOW,    /* longer at work than sddp_open() was told */
    SDDP_NO_MEMORY,
    SDDP_TOO_LARGE    /* more bytes than sddp_unpack() may unpack */
} sddp_status;

typedef struct sddp_header {
    uint32_t width;
    uint32_t height;
    bool is_interlaced;
    bool is_grey;   /* without colours, with alpha or without */
    bool has_alpha; /* or colours, or a grey, that are transparent */
} sddp_header;

/* How pixels are written. Alpha is not multiplied in. */
typedef enum sddp_layout {
    SDDP_RGBA = 0,
    SDDP_BGRA,
    SDDP_RGB,   /* not of a picture that has alpha */
    SDDP_GREY,  /* of one that is grey and has none */
    SDDP_RGBA16 /* 2 bytes a channel, in the machine's order */
} sddp_layout;

/* NULL: no memory. */
sddp_decoder *sddp_create(void);

/* NULL does nothing. */
void sddp_destroy(sddp_decoder *decoder);

/*
 * Begins a picture, ending the one before.
 *
 * max_microseconds: of the thread's own processor time that it may take; 0: any. microseconds_per_mib: more of them for
 * each MiB that is given.
 */
void sddp_open(sddp_decoder *decoder, int64_t max_microseconds, int64_t microseconds_per_mib);

/*
 * The picture's bytes so far, from its first one: those of the call before, and perhaps more. They must stay until
 * sddp_give() or sddp_end(). With `is_last` they are all there will be.
 */
void sddp_give(sddp_decoder *decoder, const void *bytes, size_t size, bool is_last);

/* Fills `header` on SDDP_OK. */
sddp_status sddp_read_header(sddp_decoder *decoder, sddp_header *header);

/*
 * Writes the picture: header.height rows of header.width pixels of that layout, `stride` bytes apart. After
 * SDDP_NEEDS_MORE the next call goes on, with the same memory. After an error the rows of sddp_rows() are good.
 *
 * An interlaced picture is at any time there as a whole, in blocks that become smaller from pass to pass.
 */
sddp_status sddp_decode(sddp_decoder *decoder, void *pixels, size_t stride, sddp_layout layout);

/* Gets one row of pixels after the other, the top one first; it lies where it is until the call returns. */
typedef void (*sddp_take_row)(void *context, const uint8_t *row);

/* As sddp_decode(), but for the memory: row by row. Not of an interlaced picture. `take` must return. */
sddp_status sddp_decode_rows(sddp_decoder *decoder, sddp_layout layout, sddp_take_row take, void *context);

/* Rows that are there in full; of an interlaced picture none before its last pass. */
uint32_t sddp_rows(const sddp_decoder *decoder);

/* Passes of an interlaced picture that are complete: 0 to 7. */
uint32_t sddp_passes(const sddp_decoder *decoder);

/* Gives back what the picture took. May be called at any time, any number of times. */
void sddp_end(sddp_decoder *decoder);

/* What was wrong, or "". Valid until the next sddp_open() or sddp_destroy(). */
const char *sddp_message(const sddp_decoder *decoder);

#include "CPNGEncoder.h" /* part of the module, as the next */
#include "CPNGMetadata.h"

#endif

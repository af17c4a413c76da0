/*
 * CPNG.h - libpng for Swift.
 *
 * Why it exists: libpng leaves an error by longjmp, which must not cross a Swift frame. When it may go:
 * when Swift can call libpng without that.
 *
 * A decoder turns one PNG after another into pixels: sddp_start() reads the header, sddp_decode() the
 * pixels, sddp_end() gives the memory back. It decides nothing but what a damaged picture is, allocates
 * no pixels, prints nothing. Any thread, one at a time.
 */
#ifndef SDD_CPNG_H
#define SDD_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sddp_decoder sddp_decoder;

typedef enum sddp_status {
    SDDP_OK = 0,
    SDDP_CORRUPT,     /* data that cannot be, or a wrong check sum where pixels depend on it */
    SDDP_TRUNCATED,   /* the data ends before the end of the IEND chunk */
    SDDP_ZERO_PIXELS, /* a width or height of 0 in the header */
    SDDP_UNSUPPORTED, /* a critical chunk that libpng does not know */
    SDDP_NO_MEMORY
} sddp_status;

typedef struct sddp_header {
    uint32_t width;
    uint32_t height;
    bool is_interlaced;
} sddp_header;

/* NULL: no memory. */
sddp_decoder *sddp_create(void);

/* NULL does nothing. */
void sddp_destroy(sddp_decoder *decoder);

/*
 * Begins a picture, ending the one before. Fills `header` on SDDP_OK. `bytes` must stay until sddp_end().
 */
sddp_status sddp_start(sddp_decoder *decoder, const void *bytes, size_t size, sddp_header *header);

/*
 * Writes the picture: header.height rows of header.width * 4 bytes, red, green, blue (or the other way round,
 * if `is_bgra`), alpha (not multiplied in), `stride` bytes apart. Once, after a sddp_start() that gave SDDP_OK.
 * After an error the pixels are worth nothing.
 */
sddp_status sddp_decode(sddp_decoder *decoder, void *pixels, size_t stride, bool is_bgra);

/* Gets one row of RGBA after the other, the top one first; it lies where it is until the call returns. */
typedef void (*sddp_take_row)(void *context, const uint8_t *row);

/* As sddp_decode(), but for the memory: row by row. Not of an interlaced picture. `take` must return. */
sddp_status sddp_decode_rows(sddp_decoder *decoder, sddp_take_row take, void *context);

/* Gives back what the picture took. May be called at any time, any number of times. */
void sddp_end(sddp_decoder *decoder);

/* What was wrong, or "". Valid until the next sddp_start() or sddp_destroy(). */
const char *sddp_message(const sddp_decoder *decoder);

#endif

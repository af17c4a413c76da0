/*
 * CJPEG.h - libjpeg-turbo for Swift.
 *
 * Why it exists: libjpeg leaves an error by longjmp, which must not cross a Swift frame. When it may go:
 * when Swift can call libjpeg without that.
 *
 * A decoder turns one JPEG after another into pixels: sddj_start() reads the header, sddj_decode() the
 * pixels, sddj_end() gives the memory back. It decides nothing but what a damaged picture is, allocates
 * no pixels, prints nothing. Any thread, one at a time.
 */
#ifndef SDD_CJPEG_H
#define SDD_CJPEG_H

#include <stddef.h>
#include <stdint.h>

typedef struct sddj_decoder sddj_decoder;

typedef enum sddj_status {
    SDDJ_OK = 0,
    SDDJ_CORRUPT,       /* data that cannot be; pixels are lost */
    SDDJ_TRUNCATED,     /* the data ends before the last pixel */
    SDDJ_ZERO_PIXELS,   /* a width or height of 0 in the header */
    SDDJ_UNSUPPORTED,   /* not 8 bits, arithmetic coding, lossless, odd colours, a side over 65,500 */
    SDDJ_TOO_MANY_SCANS,
    SDDJ_NO_MEMORY
} sddj_status;

typedef enum sddj_colours { SDDJ_GREY, SDDJ_COLOUR, SDDJ_INKS } sddj_colours;

typedef struct sddj_header {
    uint32_t width;
    uint32_t height;
    sddj_colours colours;
} sddj_header;

/* How pixels are written. Alpha is 255. */
typedef enum sddj_layout {
    SDDJ_RGBA = 0,
    SDDJ_BGRA, /* not of inks */
    SDDJ_RGB,  /* not of inks */
    SDDJ_Y     /* of grey alone */
} sddj_layout;

/* NULL: no memory. */
sddj_decoder *sddj_create(void);

/* NULL does nothing. */
void sddj_destroy(sddj_decoder *decoder);

/*
 * Begins a picture, ending the one before. Fills `header` on SDDJ_OK. `bytes` must stay until sddj_end().
 */
sddj_status sddj_start(sddj_decoder *decoder, const void *bytes, size_t size, sddj_header *header);

/*
 * From here on the picture is made `eighths` eighths as large in both directions, 1 to 8, rounded up: `width` and
 * `height` receive its size. Between sddj_start() and the decoding; else it is as large as the header says.
 */
sddj_status sddj_scale(sddj_decoder *decoder, uint32_t eighths, uint32_t *width, uint32_t *height);

/* Gets one row of pixels after the other, the top one first; it lies where it is until the call returns. */
typedef void (*sddj_take_row)(void *context, const uint8_t *row);

/* As sddj_decode(), but for the memory: RGBA, row by row. `take` must return. */
sddj_status sddj_decode_rows(sddj_decoder *decoder, sddj_take_row take, void *context);

/*
 * Writes the picture: header.height rows of header.width pixels of that layout, `stride` bytes apart. Once, after
 * a sddj_start() that gave SDDJ_OK. After an error the pixels are worth nothing.
 */
sddj_status sddj_decode(sddj_decoder *decoder, void *pixels, size_t stride, sddj_layout layout);

/* Gives back what the picture took. May be called at any time, any number of times. */
void sddj_end(sddj_decoder *decoder);

/* What was wrong, or "". Valid until the next sddj_start() or sddj_destroy(). */
const char *sddj_message(const sddj_decoder *decoder);

/* How many warnings libjpeg gave on the picture, the harmless ones included. */
int32_t sddj_warning_count(const sddj_decoder *decoder);

#endif

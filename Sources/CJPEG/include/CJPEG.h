/*
 * CJPEG.h - libjpeg-turbo for Swift.
 *
 * Why it exists: libjpeg leaves an error by longjmp, which must not cross a Swift frame. When it may go:
 * when Swift can call libjpeg without that.
 *
 * A decoder turns one JPEG after another into pixels, as its bytes come: sddj_open(), then sddj_give() and
 * sddj_read_header() until the header is there, perhaps sddj_scale(), then sddj_give() and sddj_decode() until the
 * picture is. A whole body is given at once, and never needs more. It decides nothing but what a damaged picture is,
 * allocates no pixels, prints nothing. Any thread, one at a time.
 */
#ifndef SDD_CJPEG_H
#define SDD_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sddj_decoder sddj_decoder;

typedef enum sddj_status {
    SDDJ_OK = 0,
    SDDJ_NEEDS_MORE,    /* give more bytes, and call again as before */
    SDDJ_CORRUPT,       /* data that cannot be; pixels are lost */
    SDDJ_TRUNCATED,     /* the data ends before the last pixel */
    SDDJ_ZERO_PIXELS,   /* a width or height of 0 in the header */
    SDDJ_UNSUPPORTED,   /* not 8 bits, lossless, odd colours, a side over 65,500 */
    SDDJ_TOO_MANY_SCANS,
    SDDJ_TOO_SLOW,      /* longer at work than sddj_rules allows */
    SDDJ_NO_MEMORY
} sddj_status;

typedef enum sddj_colours { SDDJ_GREY, SDDJ_COLOUR, SDDJ_INKS } sddj_colours;

typedef struct sddj_rules {
    uint32_t max_scans;        /* each costs a walk over all coefficients */
    int64_t max_microseconds;  /* of the thread's own processor time; 0: any */
    int64_t microseconds_per_mib; /* more of them for each MiB that is given */
    bool is_lenient;           /* of a picture in several scans, what there is will do */
} sddj_rules;

typedef struct sddj_header {
    uint32_t width;
    uint32_t height;
    sddj_colours colours;
    bool has_scans; /* several of them: each makes the whole picture better */
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

/* Begins a picture, ending the one before. */
void sddj_open(sddj_decoder *decoder, const sddj_rules *rules);

/*
 * The picture's bytes so far, from its first one: those of the call before, and perhaps more. They must stay until
 * sddj_give() or sddj_end(). With `is_last` they are all there will be.
 */
void sddj_give(sddj_decoder *decoder, const void *bytes, size_t size, bool is_last);

/* Fills `header` on SDDJ_OK. */
sddj_status sddj_read_header(sddj_decoder *decoder, sddj_header *header);

/*
 * From here on the picture is made `eighths` eighths as large in both directions, 1 to 8, rounded up: `width` and
 * `height` receive its size. Between sddj_read_header() and the decoding; else it is as large as the header says.
 * What only a larger picture needs is not read: of a picture in scans, those with nothing but fine detail. A whole body
 * must have its end all the same, or all of it is read to find out what is missing.
 */
sddj_status sddj_scale(sddj_decoder *decoder, uint32_t eighths, uint32_t *width, uint32_t *height);

/* Gets one row of pixels after the other, the top one first; it lies where it is until the call returns. */
typedef void (*sddj_take_row)(void *context, const uint8_t *row);

/*
 * Writes the picture: rows of pixels of that layout, `stride` bytes apart. After SDDJ_NEEDS_MORE the next call goes
 * on, with the same memory. After an error the rows of sddj_rows() are good.
 */
sddj_status sddj_decode(sddj_decoder *decoder, void *pixels, size_t stride, sddj_layout layout);

/* As sddj_decode(), but for the memory: RGBA, row by row. `take` must return. */
sddj_status sddj_decode_rows(sddj_decoder *decoder, sddj_take_row take, void *context);

/* Rows written so far; of a picture in scans none before the last scan it needs. */
uint32_t sddj_rows(const sddj_decoder *decoder);

/* Scans that are complete, of a picture in scans. */
uint32_t sddj_scans(const sddj_decoder *decoder);

/*
 * Writes a picture in scans as it is so far, all rows, layout and size as sddj_decode() or sddj_decode_rows() make
 * them, which has given SDDJ_NEEDS_MORE and goes on afterwards. SDDJ_NEEDS_MORE: there is no scan that has not been
 * shown, or it is not complete: the next call goes on, with the same memory.
 */
sddj_status sddj_preview(sddj_decoder *decoder, void *pixels, size_t stride);
sddj_status sddj_preview_rows(sddj_decoder *decoder, sddj_take_row take, void *context);

/*
 * Of the preview that was begun last, rows from the top that nothing still to come changes. In a progressive picture each
 * scan makes all rows better: all of them count. In one that is not, with a scan for each component, none count before the
 * last scan.
 */
uint32_t sddj_final_preview_rows(const sddj_decoder *decoder);

/*
 * Of a picture that was done before its last byte: whether the whole body, which is there now, goes on to the picture's
 * end. True for one that was not.
 */
bool sddj_is_ended(const sddj_decoder *decoder, const void *bytes, size_t size);

/* Whether something was lost: with is_lenient, SDDJ_OK does not say that nothing was. */
bool sddj_is_partial(const sddj_decoder *decoder);

/* Gives back what the picture took. May be called at any time, any number of times. */
void sddj_end(sddj_decoder *decoder);

/* What was wrong, or "". Valid until the next sddj_open() or sddj_destroy(). */
const char *sddj_message(const sddj_decoder *decoder);

/* How many warnings libjpeg gave on the picture, the harmless ones included. */
int32_t sddj_warning_count(const sddj_decoder *decoder);

#include "CJPEGEncoder.h" /* part of the module */

#endif

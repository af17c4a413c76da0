/*
 * CJPEG.h - libjpeg-turbo for Swift.
 *
 * This shim exists because libjpeg reports an error by longjmp, which must not cross a Swift frame. It can be removed
 * once Swift can call libjpeg without that.
 *
 * A decoder turns one JPEG after another into pixels as the bytes arrive: call sddj_open(), then sddj_give() and
 * sddj_read_header() until the header is complete, optionally sddj_scale(), then sddj_give() and sddj_decode() until
 * the picture is complete. A whole body is given in one call and never needs more. The shim makes no decisions except
 * whether a picture is damaged, allocates no pixel memory and prints nothing. A decoder may be used from any thread,
 * by one thread at a time.
 */
#ifndef SDD_CJPEG_H
#define SDD_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sddj_decoder sddj_decoder;

typedef enum sddj_status {
    SDDJ_OK = 0,
    SDDJ_NEEDS_MORE,  /* give more bytes and repeat the call */
    SDDJ_CORRUPT,     /* invalid data; pixels are lost */
    SDDJ_TRUNCATED,   /* the data ends before the last pixel */
    SDDJ_ZERO_PIXELS, /* a width or height of 0 in the header */
    SDDJ_UNSUPPORTED, /* not 8 bits, lossless, unknown colour space, or a side over 65,500 */
    SDDJ_TOO_MANY_SCANS,
    SDDJ_TOO_SLOW, /* took longer than sddj_rules allows */
    SDDJ_NO_MEMORY
} sddj_status;

typedef enum sddj_colours { SDDJ_GREY, SDDJ_COLOUR, SDDJ_INKS } sddj_colours;

/* Memory for the coefficients of a picture with several scans. Both functions are called on the decoder's thread. */
typedef struct sddj_memory {
    /* Returns at least `size` bytes, and their number in `taken`; NULL if there are none. */
    void *(*take)(size_t size, size_t *taken);
    void (*give_back)(void *memory, size_t taken);
} sddj_memory;

typedef struct sddj_rules {
    uint32_t max_scans;           /* each scan costs a pass over all coefficients */
    int64_t max_microseconds;     /* limit on the thread's CPU time; 0 means no limit */
    int64_t microseconds_per_mib; /* added to that limit for each MiB of input */
    bool is_lenient;              /* accept a picture with several scans although some are missing or damaged */
    bool keeps_inks;              /* pixels of SDDJ_INKS stay four inks, of which 255 is none */
    bool drops_scans;             /* the caller has found that sddj_is_regular() is true for the whole body */
    sddj_memory memory;
} sddj_rules;

typedef struct sddj_header {
    uint32_t width;
    uint32_t height;
    sddj_colours colours;
    bool has_scans; /* it has several scans, each of which improves the whole picture */
} sddj_header;

/* Layouts of the pixels that the decoder writes. Alpha is 255. */
typedef enum sddj_layout {
    SDDJ_RGBA = 0,
    SDDJ_BGRA, /* not for SDDJ_INKS */
    SDDJ_RGB,  /* not for SDDJ_INKS */
    SDDJ_Y     /* only for SDDJ_GREY */
} sddj_layout;

/* Returns NULL when out of memory. */
sddj_decoder *sddj_create(void);

/* Does nothing if `decoder` is NULL. */
void sddj_destroy(sddj_decoder *decoder);

/* Begins a picture and ends the previous one. */
void sddj_open(sddj_decoder *decoder, const sddj_rules *rules);

/*
 * Passes all bytes of the picture so far, from the first one on: those of the previous call, and perhaps more. They
 * must stay valid until the next sddj_give() or sddj_end(). `is_last` says that no more bytes will come.
 */
void sddj_give(sddj_decoder *decoder, const void *bytes, size_t size, bool is_last);

/* Fills `header` on SDDJ_OK. */
sddj_status sddj_read_header(sddj_decoder *decoder, sddj_header *header);

/*
 * Whether a whole body is a progressive picture with a regular sequence of scans up to its end marker. Only then
 * sddj_scale() leaves scans out, and needs less memory for coefficients.
 */
bool sddj_is_regular(const void *bytes, size_t size);

/*
 * Sets the output size to `eighths` eighths (1 to 8) of the stored size in both directions, rounded up, and stores it
 * in `width` and `height`. Call it between sddj_read_header() and decoding; otherwise the picture keeps the size in
 * its header. Data that only a larger size needs is not read: scans of a progressive picture that add only fine
 * detail are skipped. A whole body must have its end marker all the same; otherwise all of it is read, to find out
 * what is missing.
 */
sddj_status sddj_scale(sddj_decoder *decoder, uint32_t eighths, uint32_t *width, uint32_t *height);

/* Receives the rows of pixels one by one, from the top. `row` is valid only during the call. */
typedef void (*sddj_take_row)(void *context, const uint8_t *row);

/*
 * Decodes up to the point where sddj_decode() writes the first row, with the same `layout`. Optional: it allows the
 * caller to take memory for the rows only then.
 */
sddj_status sddj_begin(sddj_decoder *decoder, sddj_layout layout);

/*
 * Writes the picture as rows of pixels in `layout`, `stride` bytes apart. After SDDJ_NEEDS_MORE the next call
 * continues, with the same memory. After an error there are sddj_rows() rows, of which sddj_good_rows() are good.
 */
sddj_status sddj_decode(sddj_decoder *decoder, void *pixels, size_t stride, sddj_layout layout);

/* Like sddj_decode(), but passes RGBA rows to `take`, which must return normally. */
sddj_status sddj_decode_rows(sddj_decoder *decoder, sddj_take_row take, void *context);

/* Returns how many rows have been written so far. In a picture with several scans this is 0 until the last scan it
   needs. */
uint32_t sddj_rows(const sddj_decoder *decoder);

/* Returns how many of these rows are above the first loss of pixels, if the picture has one scan. */
uint32_t sddj_good_rows(const sddj_decoder *decoder);

/* Returns how many scans of a picture with several scans are complete. */
uint32_t sddj_scans(const sddj_decoder *decoder);

/*
 * Writes a picture with several scans as it looks so far: all rows, in the layout and size of sddj_decode() or
 * sddj_decode_rows(), which must have returned SDDJ_NEEDS_MORE and which continue afterwards. Returns SDDJ_NEEDS_MORE
 * if every scan so far has been shown, or if the scan is incomplete; the next call then continues, with the same
 * memory.
 */
sddj_status sddj_preview(sddj_decoder *decoder, void *pixels, size_t stride);
sddj_status sddj_preview_rows(sddj_decoder *decoder, sddj_take_row take, void *context);

/*
 * Returns how many rows of the most recently begun preview, from the top, count as final. In a progressive picture,
 * where each scan refines every row, all rows count. In a sequential picture with one scan per component only rows
 * that no later data changes count: none before the last scan.
 */
uint32_t sddj_final_preview_rows(const sddj_decoder *decoder);

/*
 * Whether the whole body, which is present now, continues to the picture's end, for a picture that was complete
 * before its last byte. True for any other picture.
 */
bool sddj_is_ended(const sddj_decoder *decoder, const void *bytes, size_t size);

/* Whether pixels were lost. With is_lenient, SDDJ_OK does not rule that out. */
bool sddj_is_partial(const sddj_decoder *decoder);

/* Frees what the picture holds. May be called at any time and more than once. */
void sddj_end(sddj_decoder *decoder);

/* Returns the error message, or "". Valid until the next sddj_open() or sddj_destroy(). */
const char *sddj_message(const sddj_decoder *decoder);

/* Returns how many warnings libjpeg gave for the picture, including the harmless ones. */
int32_t sddj_warning_count(const sddj_decoder *decoder);

#include "CJPEGEncoder.h" /* part of the module */

#endif

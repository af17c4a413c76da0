/*
 * CJPEGEncoder.h - libjpeg-turbo's encoder for Swift: why it exists, and when it may go, see CJPEG.h.
 *
 * An encoder makes one JPEG after another: sddj_encode_start(), the rows from the top in as many calls of
 * sddj_encode_rows() as you like, sddj_encode_finish(). It decides nothing, keeps no pixels, prints nothing. Any
 * thread, one at a time.
 */
#ifndef SDD_CJPEG_ENCODER_H
#define SDD_CJPEG_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CJPEG.h"

typedef struct sddj_encoder sddj_encoder;

typedef enum sddj_encoded {
    SDDJ_ENCODED = 0,
    SDDJ_NOT_TAKEN,        /* `take` said no */
    SDDJ_ENCODE_TOO_LARGE, /* a side over 65,500 */
    SDDJ_ENCODE_NO_MEMORY,
    SDDJ_ENCODE_FAILED
} sddj_encoded;

typedef enum sddj_chroma { SDDJ_CHROMA_420, SDDJ_CHROMA_422, SDDJ_CHROMA_444 } sddj_chroma;

typedef struct sddj_picture {
    uint32_t width;
    uint32_t height;
    sddj_layout layout; /* of the rows that come; alpha is not looked at */
    int32_t quality;    /* 1 to 100 */
    sddj_chroma chroma; /* of no meaning for grey */
    bool is_progressive;
} sddj_picture;

/* Gets the encoded bytes, part by part; they lie where they are until the call returns. Must return: false ends it. */
typedef bool (*sddj_take_bytes)(void *context, const uint8_t *bytes, size_t count);

/* NULL: no memory. */
sddj_encoder *sddj_encoder_create(void);

/* NULL does nothing. */
void sddj_encoder_destroy(sddj_encoder *encoder);

/* Begins a picture, ending the one before. */
sddj_encoded sddj_encode_start(
    sddj_encoder *encoder, const sddj_picture *picture, sddj_take_bytes take, void *context);

/* The next `count` rows, `stride` bytes apart. After an error, or past the last row: SDDJ_ENCODE_FAILED. */
sddj_encoded sddj_encode_rows(sddj_encoder *encoder, const void *first, size_t stride, uint32_t count);

/* After the last row: what is left of the bytes. Too early, or after an error: SDDJ_ENCODE_FAILED. */
sddj_encoded sddj_encode_finish(sddj_encoder *encoder);

#endif

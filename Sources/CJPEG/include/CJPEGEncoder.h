/*
 * CJPEGEncoder.h - libjpeg-turbo's encoder for Swift. CJPEG.h says why it exists and when it can be removed.
 *
 * An encoder makes one JPEG after another: call sddj_encode_start(), pass the rows from the top in any number of
 * calls of sddj_encode_rows(), then call sddj_encode_finish(). The shim makes no decisions, keeps no pixels and
 * prints nothing. An encoder may be used from any thread, by one thread at a time.
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
    SDDJ_NOT_TAKEN,        /* `take` returned false */
    SDDJ_ENCODE_TOO_LARGE, /* a side over 65,500 */
    SDDJ_ENCODE_NO_MEMORY,
    SDDJ_ENCODE_FAILED
} sddj_encoded;

typedef enum sddj_chroma { SDDJ_CHROMA_420, SDDJ_CHROMA_422, SDDJ_CHROMA_444 } sddj_chroma;

typedef struct sddj_picture {
    uint32_t width;
    uint32_t height;
    sddj_layout layout; /* layout of the input rows; alpha is ignored */
    int32_t quality;    /* 1 to 100 */
    sddj_chroma chroma; /* ignored for grey */
    bool is_progressive;
    const void *profile; /* a colour profile (ICC.1); NULL for none */
    size_t profile_size;
    const void *note; /* stored in segments APP2 named "libsdd colour"; NULL for none */
    size_t note_size;
} sddj_picture;

/* Receives the encoded bytes piece by piece; `bytes` is valid only during the call. Must return normally; false
   ends the encoding. */
typedef bool (*sddj_take_bytes)(void *context, const uint8_t *bytes, size_t count);

/* Returns NULL when out of memory. */
sddj_encoder *sddj_encoder_create(void);

/* Does nothing if `encoder` is NULL. */
void sddj_encoder_destroy(sddj_encoder *encoder);

/* Begins a picture and ends the previous one. */
sddj_encoded sddj_encode_start(sddj_encoder *encoder, const sddj_picture *picture, sddj_take_bytes take, void *context);

/* Encodes the next `count` rows, `stride` bytes apart. Returns SDDJ_ENCODE_FAILED after an error or past the last
   row. */
sddj_encoded sddj_encode_rows(sddj_encoder *encoder, const void *first, size_t stride, uint32_t count);

/* Writes the remaining bytes after the last row. Returns SDDJ_ENCODE_FAILED if rows are missing or after an error. */
sddj_encoded sddj_encode_finish(sddj_encoder *encoder);

#endif

/*
 * CPNGEncoder.h - libpng's encoder for Swift. CPNG.h says why it exists and when it can be removed.
 *
 * An encoder makes one PNG after another: call sddp_encode_start(), pass the rows from the top in any number of calls
 * of sddp_encode_rows(), then call sddp_encode_finish(). The shim makes no decisions, keeps no pixels and prints
 * nothing. An encoder may be used from any thread, by one thread at a time.
 */
#ifndef SDD_CPNG_ENCODER_H
#define SDD_CPNG_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CPNG.h"

typedef struct sddp_encoder sddp_encoder;

typedef enum sddp_encoded {
    SDDP_ENCODED = 0,
    SDDP_NOT_TAKEN, /* `take` returned false */
    SDDP_ENCODE_NO_MEMORY,
    SDDP_PROFILE_REFUSED, /* libpng does not read the profile in such a picture, or does not write it */
    SDDP_ENCODE_FAILED    /* also for a size that PNG does not support */
} sddp_encoded;

/* A chunk that is written before the pixels as it is. */
typedef struct sddp_chunk {
    uint32_t name; /* its four letters, the first one in the highest byte */
    const void *data;
    size_t size;
} sddp_chunk;

typedef struct sddp_picture {
    uint32_t width;
    uint32_t height;
    sddp_layout layout;  /* layout of the input rows; the PNG has as many bits per channel */
    bool drops_alpha;    /* true if the fourth channel of such a layout is not stored */
    const void *profile; /* a colour profile (ICC.1); NULL for none */
    size_t profile_size;
    const sddp_chunk *chunks;
    size_t chunk_count;
} sddp_picture;

/* Receives the encoded bytes piece by piece; `bytes` is valid only during the call. Must return normally; false
   ends the encoding. */
typedef bool (*sddp_take_bytes)(void *context, const uint8_t *bytes, size_t count);

/* Returns NULL when out of memory. */
sddp_encoder *sddp_encoder_create(void);

/* Does nothing if `encoder` is NULL. */
void sddp_encoder_destroy(sddp_encoder *encoder);

/* Begins a picture and ends the previous one. */
sddp_encoded sddp_encode_start(sddp_encoder *encoder, const sddp_picture *picture, sddp_take_bytes take, void *context);

/* Encodes the next `count` rows, `stride` bytes apart. Returns SDDP_ENCODE_FAILED after an error or past the last
   row. */
sddp_encoded sddp_encode_rows(sddp_encoder *encoder, const void *first, size_t stride, uint32_t count);

/* Writes the remaining bytes after the last row. Returns SDDP_ENCODE_FAILED if rows are missing or after an error. */
sddp_encoded sddp_encode_finish(sddp_encoder *encoder);

#endif

/*
 * CPNGEncoder.h - libpng's encoder for Swift: why it exists, and when it may go, see CPNG.h.
 *
 * An encoder makes one PNG after another: sddp_encode_start(), the rows from the top in as many calls of
 * sddp_encode_rows() as you like, sddp_encode_finish(). It decides nothing, keeps no pixels, prints nothing. Any
 * thread, one at a time.
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
    SDDP_NOT_TAKEN, /* `take` said no */
    SDDP_ENCODE_NO_MEMORY,
    SDDP_ENCODE_FAILED /* also a size that PNG does not have */
} sddp_encoded;

typedef struct sddp_picture {
    uint32_t width;
    uint32_t height;
    sddp_layout layout; /* how the rows lie that come: 8 bits a channel */
    bool drops_alpha; /* of 4 bytes a pixel the last one is not stored */
} sddp_picture;

/* Gets the encoded bytes, part by part; they lie where they are until the call returns. Must return: false ends it. */
typedef bool (*sddp_take_bytes)(void *context, const uint8_t *bytes, size_t count);

/* NULL: no memory. */
sddp_encoder *sddp_encoder_create(void);

/* NULL does nothing. */
void sddp_encoder_destroy(sddp_encoder *encoder);

/* Begins a picture, ending the one before. */
sddp_encoded sddp_encode_start(
    sddp_encoder *encoder, const sddp_picture *picture, sddp_take_bytes take, void *context);

/* The next `count` rows, `stride` bytes apart. After an error, or past the last row: SDDP_ENCODE_FAILED. */
sddp_encoded sddp_encode_rows(sddp_encoder *encoder, const void *first, size_t stride, uint32_t count);

/* After the last row: what is left of the bytes. Too early, or after an error: SDDP_ENCODE_FAILED. */
sddp_encoded sddp_encode_finish(sddp_encoder *encoder);

#endif

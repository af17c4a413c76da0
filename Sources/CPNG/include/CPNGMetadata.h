/*
 * CPNGMetadata.h - unpacks a PNG's zlib-compressed metadata, texts and colour profiles, by means of libpng. CPNG.h
 * says why this is C code and when it can be removed.
 */
#ifndef SDD_CPNG_METADATA_H
#define SDD_CPNG_METADATA_H

#include "CPNG.h"

typedef enum sddp_packed_kind {
    SDDP_TEXT,           /* the text of a zTXt or iTXt chunk, up to its first NUL; a valid text has none */
    SDDP_COLOUR_PROFILE, /* the iCCP profile of a colour PNG; fails unless libpng accepts it for such a PNG */
    SDDP_GREY_PROFILE    /* the iCCP profile of a greyscale PNG */
} sddp_packed_kind;

/*
 * Unpacks compressed metadata. Needs no decoder; callable from any thread. On SDDP_OK sets `unpacked`, which the
 * caller frees with free() and which is NULL if there are no bytes, and `unpacked_size`. Returns SDDP_TOO_LARGE if
 * the data has more than `limit` bytes, packed or unpacked, and detects that without allocating memory for them.
 */
sddp_status sddp_unpack(sddp_packed_kind kind, const void *packed, size_t size, size_t limit, void **unpacked,
                        size_t *unpacked_size);

#endif

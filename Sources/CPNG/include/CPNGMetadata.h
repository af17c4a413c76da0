/*
 * CPNGMetadata.h - what a PNG carries beside its pixels, packed by zlib: texts and profiles. libpng unpacks them; why
 * that is in C, and when it may go, see CPNG.h.
 */
#ifndef SDD_CPNG_METADATA_H
#define SDD_CPNG_METADATA_H

#include "CPNG.h"

typedef enum sddp_packed_kind {
    SDDP_TEXT,           /* of zTXt and iTXt: up to its first NUL, of which there should be none */
    SDDP_COLOUR_PROFILE, /* of iCCP in a PNG with colours: only what libpng takes for a profile of such a PNG */
    SDDP_GREY_PROFILE    /* in a grey one */
} sddp_packed_kind;

/*
 * Unpacks such data. Without a decoder; any thread. Fills `unpacked` and `unpacked_size` on SDDP_OK: malloc'ed, to be
 * freed with free(), NULL if there are no bytes. More than `limit` bytes, packed or unpacked, are SDDP_TOO_LARGE, found
 * out without memory for them.
 */
sddp_status sddp_unpack(
    sddp_packed_kind kind, const void *packed, size_t size, size_t limit, void **unpacked, size_t *unpacked_size);

#endif

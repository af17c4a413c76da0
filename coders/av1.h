/*
 * av1.h - how many frames an AV1 stream has (AV1 specification, 5.3): a decoder may keep each of them for the next.
 */
#ifndef AV1_H
#define AV1_H

#include "boxes.h"

/* Returns the number of frames in an item of type "av01", at most 9: a decoder keeps 8 beside the one that it makes. */
static inline unsigned count_av1_frames(const struct item *item)
{
    struct span data = span_of(item->bytes, item->size);
    unsigned frames = 0;
    while (data.at < data.size && frames < 9) {
        unsigned head = (unsigned)span_number(&data, 1), type = head >> 3 & 15, shift = 0;
        uint64_t size = 0, byte = 0x80;
        if (head & 4) span_skip(&data, 1);
        if (type == 6 || type == 3) frames++; /* a frame, or its header alone */
        if (!(head & 2)) break;               /* the unit has no size: it is the last one */
        for (; byte & 0x80 && shift < 56; shift += 7) {
            byte = span_number(&data, 1);
            size |= (byte & 0x7f) << shift;
        }
        span_skip(&data, size);
    }
    return frames > 0 ? frames : 1;
}

#endif

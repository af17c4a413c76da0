/*
 * codestream.h - whether the first frame of a JPEG XL is coded by blocks (ISO/IEC 18181-1, annexes D and F), which
 * takes a third of the memory of the other way. libjxl does not tell. What is not understood here counts as the other
 * way.
 */
#ifndef CODESTREAM_H
#define CODESTREAM_H

#include "boxes.h"

/* Bits from the least significant one of each byte on. */
struct low_bits {
    struct span bytes;
    size_t at;
    int is_over; /* the end was reached, or something that is not understood here */
};

static inline uint32_t low_bits_take(struct low_bits *bits, unsigned count)
{
    uint32_t made = 0;
    for (unsigned i = 0; i < count; i++, bits->at++) {
        if (bits->at / 8 >= bits->bytes.size) {
            bits->is_over = 1;
            return 0;
        }
        made |= (uint32_t)(bits->bytes.bytes[bits->at / 8] >> bits->at % 8 & 1) << i;
    }
    return made;
}

/* Skips a number with one of four lengths. */
static inline void skip_number(struct low_bits *bits, unsigned a, unsigned b, unsigned c, unsigned d)
{
    const unsigned lengths[4] = { a, b, c, d };
    low_bits_take(bits, lengths[low_bits_take(bits, 2)]);
}

static inline void skip_size(struct low_bits *bits)
{
    int is_small = (int)low_bits_take(bits, 1);
    for (int side = 0; side < 2; side++) {
        if (is_small)
            low_bits_take(bits, 5);
        else
            skip_number(bits, 9, 13, 18, 30);
        if (side == 0 && low_bits_take(bits, 3) != 0) return; /* the width follows from the height */
    }
}

/* Skips one of the enumerations, and returns it. */
static inline uint32_t take_choice(struct low_bits *bits)
{
    static const unsigned lengths[4] = { 0, 0, 4, 6 }, first[4] = { 0, 1, 2, 18 };
    unsigned which = low_bits_take(bits, 2);
    return first[which] + low_bits_take(bits, lengths[which]);
}

static inline void skip_colours(struct low_bits *bits)
{
    uint32_t space;
    if (low_bits_take(bits, 1)) return;
    if (low_bits_take(bits, 1)) { /* an ICC profile, which follows in compressed form */
        bits->is_over = 1;
        return;
    }
    space = take_choice(bits);
    if (space > 1) bits->is_over = 1;                            /* neither RGB nor grey */
    if (take_choice(bits) == 2) bits->is_over = 1;               /* a white point of its own */
    if (space == 0 && take_choice(bits) == 2) bits->is_over = 1; /* primaries of its own */
    if (low_bits_take(bits, 1))
        low_bits_take(bits, 24); /* gamma */
    else
        take_choice(bits);
    take_choice(bits); /* rendering intent */
}

static inline void skip_metadata(struct low_bits *bits)
{
    int has_more;
    if (low_bits_take(bits, 1)) return;
    has_more = (int)low_bits_take(bits, 1);
    if (has_more) {
        low_bits_take(bits, 3); /* orientation */
        if (low_bits_take(bits, 1)) skip_size(bits);
        if (low_bits_take(bits, 2) != 0) bits->is_over = 1; /* a preview, or an animation */
    }
    if (low_bits_take(bits, 1)) {
        skip_number(bits, 0, 0, 0, 6);
        low_bits_take(bits, 4);
    } else {
        skip_number(bits, 0, 0, 0, 6);
    }
    low_bits_take(bits, 1);
    if (low_bits_take(bits, 2) != 0) bits->is_over = 1; /* extra channels */
    low_bits_take(bits, 1);
    skip_colours(bits);
    if (has_more && !low_bits_take(bits, 1)) low_bits_take(bits, 16 + 16 + 1 + 16); /* tone mapping */
    if (low_bits_take(bits, 2) != 0) bits->is_over = 1;                             /* extensions */
}

/* Whether a codestream begins with a frame that is coded by blocks and shown. */
static inline int begins_with_blocks(struct span codestream)
{
    struct low_bits bits = { codestream, 16, 0 };
    skip_size(&bits);
    skip_metadata(&bits);
    if (!low_bits_take(&bits, 1)) return 0; /* a transform of its own */
    bits.at = (bits.at + 7) & ~(size_t)7;
    if (low_bits_take(&bits, 1)) return !bits.is_over;
    return low_bits_take(&bits, 3) == 0 && !bits.is_over; /* a regular frame, and its encoding */
}

/* The same for a file, which may have the codestream in a box, or in several. */
static inline int is_coded_by_blocks(const struct body *body)
{
    struct span file = span_of(body->bytes, body->size), box;
    uint32_t type;
    if (body->size >= 2 && body->bytes[0] == 0xff) return begins_with_blocks(file);
    while ((type = next_box(&file, &box)) != 0) {
        if (type == BOX('j', 'x', 'l', 'c')) return begins_with_blocks(box);
        if (type != BOX('j', 'x', 'l', 'p')) continue;
        return box.size > 4 && begins_with_blocks(span_of(box.bytes + 4, box.size - 4));
    }
    return 0;
}

#endif

/*
 * hevc.h - what an HEVC stream states about its pictures (ITU-T H.265, 7.3.2.2): their size and samples, from the
 * sequence parameter sets, and how many there are. Only what is needed to tell the memory that a decoder takes.
 */
#ifndef HEVC_H
#define HEVC_H

#include "boxes.h"

struct hevc {
    uint32_t width, height; /* the largest */
    unsigned depth;         /* the largest of luma and chroma */
    unsigned chroma;        /* the largest: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4 */
    unsigned pictures;
    int has_size;
};

/* The bits of a NAL unit, without the bytes that only keep it from looking like a start code (7.3.1.1). */
struct bits {
    const unsigned char *bytes;
    size_t size, at;
    unsigned zeros, left;
    unsigned char byte;
    int is_over;
};

static inline unsigned next_bit(struct bits *bits)
{
    if (bits->left == 0) {
        if (bits->zeros >= 2 && bits->at < bits->size && bits->bytes[bits->at] == 3) {
            bits->at++;
            bits->zeros = 0;
        }
        if (bits->at >= bits->size) {
            bits->is_over = 1;
            return 0;
        }
        bits->byte = bits->bytes[bits->at++];
        bits->zeros = bits->byte == 0 ? bits->zeros + 1 : 0;
        bits->left = 8;
    }
    return bits->byte >> --bits->left & 1;
}

static inline uint32_t next_bits(struct bits *bits, unsigned count)
{
    uint32_t made = 0;
    while (count-- > 0) made = made << 1 | next_bit(bits);
    return made;
}

/* Reads an Exp-Golomb code (9.2). */
static inline uint32_t next_code(struct bits *bits)
{
    unsigned zeros = 0;
    while (!next_bit(bits) && !bits->is_over) zeros++;
    if (zeros > 31) bits->is_over = 1;
    return bits->is_over ? 0 : (uint32_t)((((uint64_t)1 << zeros) | next_bits(bits, zeros)) - 1);
}

/* Skips profile, tier and level (7.3.3). */
static inline void skip_profile(struct bits *bits, unsigned layers)
{
    uint32_t flags[8] = { 0 };
    for (int i = 0; i < 12; i++) next_bits(bits, 8);
    for (unsigned i = 0; i + 1 < layers; i++) flags[i] = next_bits(bits, 2);
    if (layers > 1)
        for (unsigned i = layers - 1; i < 8; i++) next_bits(bits, 2);
    for (unsigned i = 0; i + 1 < layers; i++) {
        for (int k = 0; k < 11 && flags[i] & 2; k++) next_bits(bits, 8);
        if (flags[i] & 1) next_bits(bits, 8);
    }
}

static inline void read_parameter_set(struct hevc *hevc, const unsigned char *bytes, size_t size)
{
    struct bits bits = { bytes, size, 2, 0, 0, 0, 0 };
    uint32_t layers, chroma, width, height, luma_depth, chroma_depth;
    next_bits(&bits, 4);
    layers = next_bits(&bits, 3) + 1;
    next_bit(&bits);
    skip_profile(&bits, layers);
    next_code(&bits);
    chroma = next_code(&bits);
    if (chroma == 3) next_bit(&bits);
    width = next_code(&bits);
    height = next_code(&bits);
    if (next_bit(&bits))
        for (int i = 0; i < 4; i++) next_code(&bits);
    luma_depth = next_code(&bits) + 8;
    chroma_depth = next_code(&bits) + 8;
    if (bits.is_over || chroma > 3 || luma_depth > 16 || chroma_depth > 16) return; /* no decoder takes it either */
    hevc->has_size = 1;
    if (width > hevc->width) hevc->width = width;
    if (height > hevc->height) hevc->height = height;
    if (chroma > hevc->chroma) hevc->chroma = chroma;
    if (luma_depth > hevc->depth) hevc->depth = luma_depth;
    if (chroma_depth > hevc->depth) hevc->depth = chroma_depth;
}

static inline void read_unit(struct hevc *hevc, const unsigned char *bytes, size_t size)
{
    unsigned type = size < 3 ? 63 : bytes[0] >> 1 & 63;
    int is_base = size >= 3 && (bytes[0] & 1) == 0 && bytes[1] >> 3 == 0; /* decoders leave out further layers */
    if (!is_base) return;
    if (type == 33) read_parameter_set(hevc, bytes, size);
    if (type < 32 && bytes[2] & 0x80 && hevc->pictures < 64) hevc->pictures++; /* the first slice of a picture */
}

/* Reads the parameter sets in a decoder's settings (ISO/IEC 14496-15, 8.3.3.1). */
static inline void read_settings(struct hevc *hevc, struct span config)
{
    uint64_t arrays;
    span_skip(&config, 22);
    for (arrays = span_number(&config, 1); arrays > 0; arrays--) {
        uint64_t units;
        span_skip(&config, 1);
        for (units = span_number(&config, 2); units > 0 && !config.is_over; units--) {
            size_t size = (size_t)span_number(&config, 2), at = config.at;
            span_skip(&config, size);
            if (!config.is_over) read_unit(hevc, config.bytes + at, size);
        }
    }
}

/* Reads an item of type "hvc1": its settings, and its units, each behind its length in 4 bytes, as libheif takes
   them. */
static inline void read_stream(struct hevc *hevc, const struct item *item)
{
    struct span data = span_of(item->bytes, item->size);
    read_settings(hevc, item->config);
    while (data.size - data.at > 4) {
        size_t size = (size_t)span_number(&data, 4), at = data.at;
        span_skip(&data, size);
        if (data.is_over) return; /* libheif refuses the item */
        read_unit(hevc, data.bytes + at, size);
    }
}

#endif

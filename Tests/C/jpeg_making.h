/*
 * jpeg_making.h - makes grey JPEGs of any size without an encoder: each block takes two bits.
 */
#ifndef JPEG_MAKING_H
#define JPEG_MAKING_H

#include "check.h"

/* Makes a JPEG of three 8-bit components with the same sampling. With `has_scans` each component has its own scan, so
   that a decoder keeps all coefficients of the picture until the last one. Comment segments take at least `pad` bytes.
   The caller frees the result. */
static inline uint8_t *grey_jpeg(int width, int height, int has_scans, size_t pad, size_t *size)
{
    /* Each Huffman table has one code of one bit: a difference of 0, and the end of a block. */
    static const uint8_t tables[] = { 0xff, 0xc4, 0, 38, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                      0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    size_t blocks = ((size_t)width + 7) / 8 * (((size_t)height + 7) / 8), comments = pad / 65533 + 1;
    uint8_t *made = malloc(blocks * 3 / 4 + comments * 65537 + 1000), *place = made;
    memcpy(place, "\xff\xd8\xff\xdb\0\x43\0", 7), memset(place + 7, 1, 64), place += 71;
    for (size_t i = 0; i < comments; i++) {
        memcpy(place, "\xff\xfe\xff\xff", 4), memset(place + 4, ' ', 65533);
        place += 65537;
    }
    const uint8_t frame[] = { 0xff, 0xc0, 0, 17, 8, (uint8_t)(height >> 8), (uint8_t)height, (uint8_t)(width >> 8),
                              (uint8_t)width, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0 };
    memcpy(place, frame, sizeof frame), place += sizeof frame;
    memcpy(place, tables, sizeof tables), place += sizeof tables;
    for (int scan = 0; scan < (has_scans ? 3 : 1); scan++) {
        int count = has_scans ? 1 : 3;
        memcpy(place, "\xff\xda\0", 3), place += 3;
        *place++ = (uint8_t)(6 + 2 * count), *place++ = (uint8_t)count;
        for (int i = 0; i < count; i++) *place++ = (uint8_t)(1 + scan + i), *place++ = 0;
        *place++ = 0, *place++ = 63, *place++ = 0;
        size_t bits = blocks * (size_t)count * 2;
        memset(place, 0, bits / 8), place += bits / 8;
        if (bits % 8) *place++ = (uint8_t)(0xff >> bits % 8);
    }
    *place++ = 0xff, *place++ = 0xd9;
    *size = (size_t)(place - made);
    return made;
}

#endif

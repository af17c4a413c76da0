/*
 * png_making.h - makes PNGs of noise, which does not compress, animated ones, and ones with extra chunks or trailing
 * bytes.
 */
#ifndef PNG_MAKING_H
#define PNG_MAKING_H

#include "check.h"

static inline uint32_t png_sum(const uint8_t *bytes, size_t size)
{
    uint32_t sum = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (0xedb88320 & (0 - (sum & 1)));
    }
    return ~sum;
}

static inline uint8_t *put32(uint8_t *place, uint32_t number)
{
    for (int i = 0; i < 4; i++) place[i] = (uint8_t)(number >> (24 - 8 * i));
    return place + 4;
}

static inline size_t get32(const uint8_t *place)
{
    return (size_t)place[0] << 24 | (size_t)place[1] << 16 | (size_t)place[2] << 8 | place[3];
}

/* Writes a chunk, with `number` in front of its data unless it is negative. Returns the position after it. */
static inline uint8_t *put_chunk(uint8_t *place, const char *name, int64_t number, const uint8_t *data, size_t size)
{
    size_t length = size + (number < 0 ? 0 : 4);
    put32(place, (uint32_t)length);
    memcpy(place + 4, name, 4);
    uint8_t *start = number < 0 ? place + 8 : put32(place + 8, (uint32_t)number);
    if (size > 0) memcpy(start, data, size);
    put32(place + 8 + length, png_sum(place + 4, length + 4));
    return place + 12 + length;
}

/* Makes a PNG of noise. The caller frees it. */
static inline uint8_t *noisy_png(int width, int height, size_t *size)
{
    size_t length = (size_t)width * (size_t)height * 4;
    uint8_t *pixels = malloc(length);
    uint64_t seed = 7;
    for (size_t i = 0; i < length; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        pixels[i] = i % 4 == 3 ? 255 : (uint8_t)(seed >> 56);
    }
    sdd_image *image = NULL;
    sdd_bytes *bytes = NULL;
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    options.format = SDD_IMAGE_FORMAT_PNG;
    CHECK_STATUS(sdd_image_create(width, height, SDD_PIXEL_FORMAT_RGBA8, pixels, (size_t)width * 4, &image), SDD_OK);
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    *size = sdd_bytes_size(bytes);
    uint8_t *made = malloc(*size);
    memcpy(made, sdd_bytes_data(bytes), *size);
    sdd_bytes_release(bytes);
    sdd_image_release(image);
    free(pixels);
    return made;
}

enum { PNG_HEAD = 33 }; /* signature and IHDR */

/* Returns the data of all IDAT chunks. The caller frees it. */
static inline uint8_t *png_data(const uint8_t *file, size_t size, size_t *length)
{
    uint8_t *data = malloc(size);
    *length = 0;
    for (size_t at = PNG_HEAD; at + 12 <= size; at += 12 + get32(file + at)) {
        if (memcmp(file + at + 4, "IDAT", 4) != 0) continue;
        memcpy(data + *length, file + at + 8, get32(file + at));
        *length += get32(file + at);
    }
    CHECK(*length > 0);
    return data;
}

/* Makes an animated PNG of so many equal frames of noise. The caller frees it. */
static inline uint8_t *moving_png(int width, int height, int frames, size_t *size)
{
    size_t still, length;
    uint8_t *file = noisy_png(width, height, &still), *data = png_data(file, still, &length);
    uint8_t *made = malloc((length + 100) * (size_t)frames + 100), *place = made + PNG_HEAD, control[22], counts[8];
    uint32_t number = 0;
    memcpy(made, file, PNG_HEAD);
    put32(put32(counts, (uint32_t)frames), 0);
    place = put_chunk(place, "acTL", -1, counts, sizeof counts);
    memset(control, 0, sizeof control);
    put32(put32(control, (uint32_t)width), (uint32_t)height);
    control[17] = control[19] = 10; /* 10/10 s */
    for (int i = 0; i < frames; i++) {
        place = put_chunk(place, "fcTL", number++, control, sizeof control);
        if (i == 0) place = put_chunk(place, "IDAT", -1, data, length);
        else place = put_chunk(place, "fdAT", number++, data, length);
    }
    place = put_chunk(place, "IEND", -1, NULL, 0);
    *size = (size_t)(place - made);
    free(file);
    free(data);
    return made;
}

/* Returns a copy of a picture with an Exif block of that size. The caller frees it. */
static inline uint8_t *with_exif(const uint8_t *file, size_t size, size_t exif, size_t *made_size)
{
    uint8_t *made = malloc(size + exif + 12), *block = calloc(1, exif);
    memcpy(block, "MM\0*\0\0\0\x08\0\0", 10);
    memcpy(made, file, PNG_HEAD);
    uint8_t *place = put_chunk(made + PNG_HEAD, "eXIf", -1, block, exif);
    memcpy(place, file + PNG_HEAD, size - PNG_HEAD);
    *made_size = size + exif + 12;
    free(block);
    return made;
}

/* Returns a copy of a file with so many bytes appended. The caller frees it. */
static inline uint8_t *padded(const uint8_t *file, size_t size, size_t more, size_t *made_size)
{
    uint8_t *made = malloc(size + more);
    memcpy(made, file, size);
    memset(made + size, 0x5a, more);
    *made_size = size + more;
    return made;
}

#endif

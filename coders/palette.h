/*
 * palette.h - the colours of a picture as a table of at most 256: its own if they are so few, else by median cut, with
 * the error of each pixel spread over its neighbours (Heckbert 1982; Floyd and Steinberg 1976).
 */
#ifndef PALETTE_H
#define PALETTE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 1 << 15 }; /* 5 bits of each channel */

struct table {
    unsigned char colours[256][3];
    int count;
    int transparent; /* the index that stands for transparent pixels; -1: there are none */
};

/* Pixels with less than half of their alpha are transparent: a GIF has no other transparency. */
static inline int is_clear(const unsigned char *pixel) { return pixel[3] < 128; }

/* ---- few colours */

/* Places of colours in a table, by their values; 0 is free, else the index and 1. */
struct index {
    uint32_t keys[1024];
    uint16_t places[1024];
};

static inline uint32_t key_of(const unsigned char *pixel)
{
    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* Returns the slot of a colour, or a free one for it. */
static inline unsigned slot_of(const struct index *index, uint32_t key)
{
    unsigned slot = key * 2654435761u >> 22;
    while (index->places[slot] != 0 && index->keys[slot] != key) slot = (slot + 1) % 1024;
    return slot;
}

/* Gives each pixel the index of its own colour. Returns 0 if there are more than 256, with the transparent one. */
static inline int take_own(const unsigned char *pixels, size_t count, struct table *table, unsigned char *indices)
{
    struct index index;
    memset(&index, 0, sizeof index);
    table->count = 0;
    table->transparent = -1;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        unsigned slot;
        if (is_clear(pixels)) {
            if (table->transparent < 0) {
                if (table->count == 256) return 0;
                memset(table->colours[table->count], 0, 3);
                table->transparent = table->count++;
            }
            indices[i] = (unsigned char)table->transparent;
            continue;
        }
        slot = slot_of(&index, key_of(pixels));
        if (index.places[slot] == 0) {
            if (table->count == 256) return 0;
            memcpy(table->colours[table->count], pixels, 3);
            index.keys[slot] = key_of(pixels);
            index.places[slot] = (uint16_t)++table->count;
        }
        indices[i] = (unsigned char)(index.places[slot] - 1);
    }
    return 1;
}

/* ---- many colours */

struct cutter {
    uint32_t counts[BINS];
    uint64_t sums[BINS][3];
    uint16_t bins[BINS]; /* the bins that have pixels, those of each box together */
    int16_t nearest[BINS];
    struct box {
        int begin, end, axis;
        uint64_t weight; /* pixels, times the longest side */
    } boxes[256];
};

static inline int bin_of(int red, int green, int blue) { return red >> 3 << 10 | green >> 3 << 5 | blue >> 3; }
static inline int side_of(int bin, int axis) { return bin >> (10 - 5 * axis) & 31; }

static inline void measure(const struct cutter *cutter, struct box *box)
{
    uint64_t pixels = 0;
    int longest = 0;
    for (int axis = 0; axis < 3; axis++) {
        int least = 31, most = 0;
        for (int i = box->begin; i < box->end; i++) {
            int side = side_of(cutter->bins[i], axis);
            if (side < least) least = side;
            if (side > most) most = side;
        }
        if (most - least >= longest) longest = most - least, box->axis = axis;
    }
    for (int i = box->begin; i < box->end; i++) pixels += cutter->counts[cutter->bins[i]];
    box->weight = pixels * (uint64_t)longest;
}

/* Sorts the bins of a box along its axis, and returns where half of its pixels are on either side. */
static inline int cut(struct cutter *cutter, const struct box *box)
{
    uint16_t *sorted = malloc((size_t)(box->end - box->begin) * sizeof *sorted);
    uint64_t pixels = 0, half = 0;
    int made = 0, at = box->begin;
    if (sorted == NULL) return -1;
    for (int side = 0; side < 32; side++)
        for (int i = box->begin; i < box->end; i++)
            if (side_of(cutter->bins[i], box->axis) == side) sorted[made++] = cutter->bins[i];
    memcpy(cutter->bins + box->begin, sorted, (size_t)made * sizeof *sorted);
    free(sorted);
    for (int i = box->begin; i < box->end; i++) pixels += cutter->counts[cutter->bins[i]];
    while (at < box->end - 2 && half + cutter->counts[cutter->bins[at]] <= pixels / 2)
        half += cutter->counts[cutter->bins[at++]];
    return at + 1;
}

static inline void add_colour(const struct cutter *cutter, const struct box *box, struct table *table)
{
    uint64_t sums[3] = { 0, 0, 0 }, pixels = 0;
    for (int i = box->begin; i < box->end; i++) {
        pixels += cutter->counts[cutter->bins[i]];
        for (int axis = 0; axis < 3; axis++) sums[axis] += cutter->sums[cutter->bins[i]][axis];
    }
    for (int axis = 0; axis < 3; axis++)
        table->colours[table->count][axis] = (unsigned char)((sums[axis] + pixels / 2) / pixels);
    table->count++;
}

/* Chooses up to `most` colours. Returns 0 without memory. */
static inline int choose_colours(struct cutter *cutter, const unsigned char *pixels, size_t count, int most,
                                 struct table *table)
{
    int boxes = 1;
    for (size_t i = 0; i < count; i++, pixels += 4) {
        int bin = bin_of(pixels[0], pixels[1], pixels[2]);
        if (is_clear(pixels)) continue;
        cutter->counts[bin]++;
        for (int axis = 0; axis < 3; axis++) cutter->sums[bin][axis] += pixels[axis];
    }
    for (int bin = 0; bin < BINS; bin++)
        if (cutter->counts[bin] > 0) cutter->bins[cutter->boxes[0].end++] = (uint16_t)bin;
    measure(cutter, &cutter->boxes[0]);
    while (boxes < most) {
        struct box *largest = &cutter->boxes[0], *other = &cutter->boxes[boxes];
        for (int i = 1; i < boxes; i++)
            if (cutter->boxes[i].weight > largest->weight) largest = &cutter->boxes[i];
        if (largest->weight == 0) break; /* each box has one bin */
        other->begin = cut(cutter, largest);
        if (other->begin < 0) return 0;
        other->end = largest->end;
        largest->end = other->begin;
        measure(cutter, largest);
        measure(cutter, other);
        boxes++;
    }
    for (int i = 0; i < boxes; i++) add_colour(cutter, &cutter->boxes[i], table);
    return 1;
}

static inline int nearest(struct cutter *cutter, const struct table *table, const int *colour)
{
    int bin = bin_of(colour[0], colour[1], colour[2]), best = 0;
    int64_t least = INT64_MAX;
    if (cutter->nearest[bin] > 0) return cutter->nearest[bin] - 1;
    for (int i = 0; i < table->count; i++) {
        int64_t distance = 0;
        if (i == table->transparent) continue;
        for (int axis = 0; axis < 3; axis++) {
            int64_t step = table->colours[i][axis] - (side_of(bin, axis) * 8 + 4);
            distance += step * step;
        }
        if (distance < least) least = distance, best = i;
    }
    cutter->nearest[bin] = (int16_t)(best + 1);
    return best;
}

/* Gives each pixel an index, and spreads its error to the right and to the next row. `errors` has room for two rows, of
   3 numbers for each pixel and one more on either side. */
static inline void spread(struct cutter *cutter, const unsigned char *pixels, int width, int height,
                          const struct table *table, unsigned char *indices, int *errors)
{
    const size_t row = 3 * ((size_t)width + 2);
    for (int y = 0; y < height; y++) {
        int *here = errors + (y % 2 ? row : 0) + 3, *below = errors + (y % 2 ? 0 : row) + 3;
        memset(below - 3, 0, row * sizeof *below);
        for (int x = 0; x < width; x++, pixels += 4, here += 3, below += 3) {
            int colour[3], index;
            if (is_clear(pixels)) {
                *indices++ = (unsigned char)table->transparent;
                continue;
            }
            for (int axis = 0; axis < 3; axis++) {
                int value = pixels[axis] + here[axis] / 16;
                colour[axis] = value < 0 ? 0 : value > 255 ? 255 : value;
            }
            *indices++ = (unsigned char)(index = nearest(cutter, table, colour));
            for (int axis = 0; axis < 3; axis++) {
                int error = colour[axis] - table->colours[index][axis];
                here[axis + 3] += 7 * error;
                below[axis - 3] += 3 * error;
                below[axis] += 5 * error;
                below[axis + 3] += error;
            }
        }
    }
}

static inline int take_chosen(const unsigned char *pixels, int width, int height, struct table *table,
                              unsigned char *indices)
{
    const size_t count = (size_t)width * (size_t)height;
    struct cutter *cutter = calloc(1, sizeof *cutter);
    int *errors = calloc(6 * ((size_t)width + 2), sizeof *errors), is_made = 0;
    table->count = 0;
    table->transparent = -1;
    for (size_t i = 0; i < count && table->transparent < 0; i++)
        if (is_clear(pixels + 4 * i)) {
            memset(table->colours[0], 0, 3);
            table->transparent = table->count++;
        }
    if (cutter != NULL && errors != NULL && choose_colours(cutter, pixels, count, 256 - table->count, table)) {
        spread(cutter, pixels, width, height, table, indices, errors);
        is_made = 1;
    }
    free(cutter);
    free(errors);
    return is_made;
}

/* Chooses a table for RGBA pixels in rows without padding, and an index for each of them. Returns 0 without memory. */
static inline int palette_choose(const unsigned char *pixels, int width, int height, struct table *table,
                                 unsigned char *indices)
{
    return take_own(pixels, (size_t)width * (size_t)height, table, indices) ||
           take_chosen(pixels, width, height, table, indices);
}

#endif

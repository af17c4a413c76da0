/* Sixels (DEC VT340): six rows of pixels at a time, colour by colour. */
#include "show.h"

#include <stdlib.h>
#include <string.h>

enum { LEVELS = 6, COLOURS = LEVELS * LEVELS * LEVELS };

/* The colour of a cube of 216 that is nearest after the error of the neighbours was added (Floyd and Steinberg). */
static void quantize(const uint8_t *pixels, int width, int height, uint8_t *indexes)
{
    int row_size = (width + 2) * 3;
    int *errors = need(calloc((size_t)row_size * 2, sizeof *errors));
    for (int y = 0; y < height; y++) {
        int *now = errors + (y % 2) * row_size, *next = errors + (1 - y % 2) * row_size;
        memset(next, 0, (size_t)row_size * sizeof *next);
        for (int x = 0; x < width; x++) {
            int index = 0;
            for (int c = 0; c < 3; c++) {
                int at = (x + 1) * 3 + c,
                    value = pixels[((size_t)y * (size_t)width + (size_t)x) * 3 + (size_t)c] * 16 + now[at];
                int level = (value * (LEVELS - 1) + 255 * 8) / (255 * 16);
                if (level < 0) level = 0;
                if (level >= LEVELS) level = LEVELS - 1;
                int error = value / 16 - level * 255 / (LEVELS - 1);
                now[at + 3] += error * 7, next[at - 3] += error * 3, next[at] += error * 5, next[at + 3] += error;
                index = index * LEVELS + level;
            }
            indexes[(size_t)y * (size_t)width + (size_t)x] = (uint8_t)index;
        }
    }
    free(errors);
}

static void add_run(struct text *page, char sixel, int count)
{
    if (count > 3)
        text_printf(page, "!%d%c", count, sixel);
    else
        for (; count > 0; count--) text_putc(page, sixel);
}

/* One band of up to six rows, in one colour. */
static void add_colour_of_band(struct text *page, const uint8_t *band, int width, int rows, int colour)
{
    char last = 0;
    int run = 0;
    text_printf(page, "#%d", colour);
    for (int x = 0; x < width; x++) {
        int bits = 0;
        for (int row = 0; row < rows; row++)
            if (band[(size_t)row * (size_t)width + (size_t)x] == colour) bits |= 1 << row;
        char sixel = (char)(63 + bits);
        if (sixel != last && run > 0) add_run(page, last, run);
        if (sixel != last) run = 0;
        last = sixel;
        run++;
    }
    if (last != 63) add_run(page, last, run);
    text_putc(page, '$');
}

void sixel_add(struct text *page, const uint8_t *pixels, int width, int height)
{
    uint8_t *indexes = need(malloc((size_t)width * (size_t)height));
    quantize(pixels, width, height, indexes);
    text_printf(page, "\033Pq\"1;1;%d;%d", width, height);
    for (int colour = 0; colour < COLOURS; colour++)
        text_printf(page, "#%d;2;%d;%d;%d", colour, colour / (LEVELS * LEVELS) * 100 / (LEVELS - 1),
                    colour / LEVELS % LEVELS * 100 / (LEVELS - 1), colour % LEVELS * 100 / (LEVELS - 1));
    for (int y = 0; y < height; y += 6) {
        int rows = height - y < 6 ? height - y : 6;
        const uint8_t *band = indexes + (size_t)y * (size_t)width;
        bool used[COLOURS] = { false };
        for (size_t i = 0; i < (size_t)rows * (size_t)width; i++) used[band[i]] = true;
        for (int colour = 0; colour < COLOURS; colour++)
            if (used[colour]) add_colour_of_band(page, band, width, rows, colour);
        text_putc(page, '-');
    }
    text_puts(page, "\033\\");
    free(indexes);
}

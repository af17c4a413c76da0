/*
 * Reduces an opaque RGBA8 picture while its rows arrive: each new pixel is the mean of the area that it covers, where
 * pixels at the borders count with the part that is covered. It sums the rows first and the columns then, in floats, in
 * the order in which libsdd does, so that the results round in the same way and checksums can be compared.
 */
#include "baseline.h"
#include <math.h>
#include <stdlib.h>

/* The old pixels, from first to last, that a new pixel covers in one direction, and their shares of it. */
struct span {
    int first, last;
    float first_share, inner_share, last_share;
};

struct reducer {
    struct picture *target;
    int width;
    struct span *columns, *rows;
    float *sums; /* of the rows of the next new row: four for each old column */
    int row, new_row;
};

static struct span *make_spans(int old, int wanted)
{
    struct span *spans = malloc((size_t)wanted * sizeof *spans);
    const double step = (double)old / wanted;
    for (int i = 0; spans && i < wanted; i++) {
        const double start = i * step, end = start + step;
        struct span *span = &spans[i];
        span->first = start < old - 1 ? (int)start : old - 1;
        span->last = ceil(end) < old ? (int)ceil(end) - 1 : old - 1;
        if (span->last < span->first) span->last = span->first;
        span->first_share = span->first == span->last ? 1 : (float)((span->first + 1 - start) / (end - start));
        span->inner_share = (float)(1 / (end - start));
        span->last_share = (float)((end - span->last) / (end - start));
    }
    return spans;
}

struct reducer *make_reducer(int width, int height, struct picture *target)
{
    struct reducer *reducer = calloc(1, sizeof *reducer);
    if (!reducer) give_up("no memory");
    reducer->target = target;
    reducer->width = width;
    reducer->columns = make_spans(width, target->width);
    reducer->rows = make_spans(height, target->height);
    reducer->sums = malloc((size_t)width * 4 * sizeof *reducer->sums);
    target->pixels = malloc((size_t)target->width * (size_t)target->height * 4);
    if (!reducer->columns || !reducer->rows || !reducer->sums || !target->pixels) give_up("no memory");
    return reducer;
}

static void add_row(struct reducer *reducer, const uint8_t *row, float share, int is_first)
{
    float *sums = reducer->sums;
    const int count = reducer->width * 4;
    if (is_first) {
        for (int i = 0; i < count; i++) sums[i] = (float)row[i] * share;
    } else {
        for (int i = 0; i < count; i++) sums[i] += (float)row[i] * share;
    }
}

static void write_row(struct reducer *reducer)
{
    uint8_t *pixel = reducer->target->pixels + (size_t)reducer->new_row * (size_t)reducer->target->width * 4;
    for (int x = 0; x < reducer->target->width; x++, pixel += 4) {
        const struct span *span = &reducer->columns[x];
        const float *first = reducer->sums + span->first * 4, *last = reducer->sums + span->last * 4;
        float mean[4], inner[4] = { 0 };
        for (int i = 0; i < 4; i++) mean[i] = first[i] * span->first_share;
        if (last > first) {
            for (const float *sum = first + 4; sum < last; sum += 4) {
                for (int i = 0; i < 4; i++) inner[i] += sum[i];
            }
            for (int i = 0; i < 4; i++) mean[i] += inner[i] * span->inner_share + last[i] * span->last_share;
        }
        for (int i = 0; i < 4; i++) {
            const long value = lrintf(mean[i]);
            pixel[i] = (uint8_t)(value < 255 ? value : 255);
        }
        pixel[3] = 255; /* the shares may add up to a little less than 1 */
    }
}

void reduce_row(struct reducer *reducer, const uint8_t *row)
{
    /* The last old row of one new row is often the first one of the next. */
    while (reducer->new_row < reducer->target->height) {
        const struct span *span = &reducer->rows[reducer->new_row];
        if (reducer->row < span->first) break;
        const int is_first = reducer->row == span->first, is_last = reducer->row == span->last;
        add_row(reducer, row, is_first ? span->first_share : is_last ? span->last_share : span->inner_share, is_first);
        if (!is_last) break;
        write_row(reducer);
        reducer->new_row++;
    }
    reducer->row++;
}

void free_reducer(struct reducer *reducer)
{
    if (!reducer) return;
    free(reducer->columns);
    free(reducer->rows);
    free(reducer->sums);
    free(reducer);
}

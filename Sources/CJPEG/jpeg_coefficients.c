/*
 * jpeg_coefficients.c - memory for the coefficients of a picture with several scans.
 *
 * libjpeg asks its memory manager for an array of blocks for each component, and for a few rows of it at a time. These
 * functions replace those of the memory manager. The arrays come from the caller's memory, which can be reused for the
 * next picture. Where the output size uses only the mean of each block, and no scan with more is read, only the means
 * are kept, which take a 64th of the memory; the rows that libjpeg works on are blocks in a window.
 */
#include "jpeg_decoder.h"

#include <string.h>

/* Small code matters more than fast code. */
#define COLD __attribute__((cold, noinline))

/* libjpeg's vector code needs aligned blocks. */
enum { ALIGNMENT = 32 };

/* libjpeg gets its address as a jvirt_barray_ptr. Allocated from libjpeg's image pool. */
struct sddj_array {
    JDIMENSION columns, rows; /* blocks */
    JBLOCKROW *places;        /* by row; of a window, by row in the window */
    JCOEF *means;             /* by row and column; NULL if whole blocks are kept */
    JDIMENSION first, held;   /* rows in the window */
    JDIMENSION most;          /* rows that the window has */
    bool is_changed;          /* libjpeg may have written to the window */
    bool has_detail;          /* more than the means may have been written, which only damaged data do */
};

static void *take_small(j_common_ptr jpeg, size_t size)
{
    void *memory = jpeg->mem->alloc_large(jpeg, JPOOL_IMAGE, size);
    memset(memory, 0, size);
    return memory;
}

COLD static jvirt_barray_ptr request(j_common_ptr jpeg, int pool, boolean is_zeroed, JDIMENSION columns,
                                     JDIMENSION rows, JDIMENSION most)
{
    sddj_decoder *d = jpeg->client_data;
    (void)pool;
    (void)is_zeroed; /* always */
    if (d->array_count == MAX_COMPONENTS) sddj_leave(d, SDDJ_UNSUPPORTED, "more arrays than components");
    struct sddj_array *array = take_small(jpeg, sizeof *array);
    array->columns = columns;
    array->rows = rows;
    array->most = most < rows ? most : rows;
    if ((d->means_only >> d->array_count & 1) != 0) {
        array->means = take_small(jpeg, (size_t)columns * rows * sizeof(JCOEF));
        JBLOCKROW window = take_small(jpeg, (size_t)columns * array->most * sizeof(JBLOCK));
        array->places = take_small(jpeg, array->most * sizeof *array->places);
        for (JDIMENSION y = 0; y < array->most; y++) array->places[y] = window + (size_t)y * columns;
    }
    d->arrays[d->array_count++] = array;
    return (jvirt_barray_ptr)(void *)array;
}

/* Takes the memory of all arrays of whole blocks together. */
COLD static void realize(j_common_ptr jpeg)
{
    sddj_decoder *d = jpeg->client_data;
    d->realize(jpeg);
    size_t blocks = 0;
    /* This does not overflow: a side has at most 8,192 blocks. */
    for (int i = 0; i < d->array_count; i++) {
        if (d->arrays[i]->means == NULL) blocks += (size_t)d->arrays[i]->columns * d->arrays[i]->rows;
    }
    if (blocks == 0 || d->coefficients != NULL) return;
    const size_t size = blocks * sizeof(JBLOCK);
    d->coefficients = d->rules.memory.take(size + ALIGNMENT, &d->coefficients_size);
    if (d->coefficients == NULL) sddj_leave(d, SDDJ_NO_MEMORY, "no memory for coefficients");
    JBLOCKROW next = (JBLOCKROW)(((uintptr_t)d->coefficients + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    memset(next, 0, size);
    for (int i = 0; i < d->array_count; i++) {
        struct sddj_array *array = d->arrays[i];
        if (array->means != NULL) continue;
        array->places = take_small(jpeg, array->rows * sizeof *array->places);
        for (JDIMENSION y = 0; y < array->rows; y++, next += array->columns) array->places[y] = next;
    }
}

/* Saves the means in the window, if libjpeg may have changed them. */
COLD static void save(struct sddj_array *array)
{
    for (JDIMENSION y = 0; array->is_changed && y < array->held; y++) {
        JCOEF *means = array->means + (size_t)(array->first + y) * array->columns;
        for (JDIMENSION x = 0; x < array->columns; x++) means[x] = array->places[y][x][0];
        if (array->has_detail) memset(array->places[y], 0, array->columns * sizeof(JBLOCK));
    }
    array->is_changed = array->has_detail = false;
}

COLD static void load(struct sddj_array *array, JDIMENSION first, JDIMENSION count)
{
    array->first = first;
    array->held = count;
    for (JDIMENSION y = 0; y < count; y++) {
        const JCOEF *means = array->means + (size_t)(first + y) * array->columns;
        for (JDIMENSION x = 0; x < array->columns; x++) array->places[y][x][0] = means[x];
    }
}

static JBLOCKARRAY access_rows(j_common_ptr jpeg, jvirt_barray_ptr place, JDIMENSION first, JDIMENSION count,
                               boolean is_writable)
{
    sddj_decoder *d = jpeg->client_data;
    struct sddj_array *array = (struct sddj_array *)(void *)place;
    if (first > array->rows || count > array->rows - first || (array->means != NULL && count > array->most)) {
        sddj_leave(d, SDDJ_CORRUPT, "no such rows of coefficients");
    }
    if (array->means == NULL) return array->places + first;
    if (first < array->first || first + count > array->first + array->held) {
        save(array);
        load(array, first, count);
    }
    if (is_writable) {
        array->is_changed = true;
        if (d->jpeg.Ss != 0) array->has_detail = true;
    }
    return array->places + (first - array->first);
}

void sddj_manage_coefficients(sddj_decoder *d)
{
    struct jpeg_memory_mgr *memory = d->jpeg.mem;
    d->realize = memory->realize_virt_arrays;
    memory->request_virt_barray = request;
    memory->realize_virt_arrays = realize;
    memory->access_virt_barray = access_rows;
}

void sddj_free_coefficients(sddj_decoder *d)
{
    if (d->coefficients != NULL) d->rules.memory.give_back(d->coefficients, d->coefficients_size);
    d->coefficients = NULL;
}

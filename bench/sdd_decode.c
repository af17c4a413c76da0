/*
 * sdd_decode - decodes with libsdd and with libjpeg and libpng directly, alternately, and prints the ratio of processor
 * time.
 *
 *     make bench-programs         builds build/sdd-decode; bench/README.md describes the figures
 *     build/sdd-decode [--rounds N] [--size N] FILE...
 *
 * Pixels are RGBA8, in memory from malloc. With --size only libsdd decodes, to fit into N x N, and the growth of peak
 * resident memory since the first picture is printed, too. Prints one line of JSON for all files together.
 */
#define _POSIX_C_SOURCE 200809L
#include <sdd/sdd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "png_rgba8.h"
#include <jpeglib.h> /* requires stdio.h */

enum { MOST_ROUNDS = 199 };

struct file {
    const char *path;
    uint8_t *bytes;
    size_t size;
};

static double processor_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static long peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void fail(const char *path, const char *what)
{
    fprintf(stderr, "sdd-decode: %s: %s\n", path, what);
    exit(1);
}

static struct file read_file(const char *path)
{
    struct file file = { path, NULL, 0 };
    FILE *stream = fopen(path, "rb");
    if (!stream) fail(path, "cannot be read");
    fseek(stream, 0, SEEK_END);
    file.size = (size_t)ftell(stream);
    rewind(stream);
    file.bytes = malloc(file.size + 1);
    if (!file.bytes || fread(file.bytes, 1, file.size, stream) != file.size) fail(path, "cannot be read");
    fclose(stream);
    return file;
}

/* ---- with libjpeg and libpng */

static void decode_jpeg(const struct file *file)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file->bytes, file->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&jpeg);
    const size_t stride = (size_t)jpeg.output_width * 4;
    uint8_t *pixels = malloc(stride * jpeg.output_height);
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW rows[4];
        for (JDIMENSION i = 0; i < 4; i++) rows[i] = pixels + (jpeg.output_scanline + i) * stride;
        const JDIMENSION left = jpeg.output_height - jpeg.output_scanline;
        jpeg_read_scanlines(&jpeg, rows, left < 4 ? left : 4);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(pixels);
}

static void decode_png(const struct file *file)
{
    struct rgba8 picture;
    if (png_to_rgba8(file->bytes, file->size, &picture)) fail(file->path, "libpng does not take it");
    free(picture.pixels);
}

static void decode_directly(const struct file *file)
{
    if (file->size > 1 && file->bytes[0] == 0x89)
        decode_png(file);
    else
        decode_jpeg(file);
}

/* ---- with libsdd: the bytes are not copied for the first picture, as in a download */

static void decode(const struct file *file, int side)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    options.target_width = options.target_height = side;
    if (sdd_image_decode(file->bytes, file->size, &options, &image) != SDD_OK)
        fail(file->path, "libsdd does not take it");
    sdd_image_release(image);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, int count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, by_size);
    return numbers[count / 2];
}

int main(int argc, char **argv)
{
    int rounds = 9, side = 0, first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (!strcmp(argv[first], "--rounds"))
            rounds = atoi(argv[first + 1]);
        else if (!strcmp(argv[first], "--size"))
            side = atoi(argv[first + 1]);
    }
    if (first >= argc || rounds < 1 || rounds > MOST_ROUNDS || side < 0) {
        fprintf(stderr, "usage: sdd-decode [--rounds N] [--size N] FILE...\n");
        return 2;
    }
    const int count = argc - first;
    struct file *files = calloc((size_t)count, sizeof *files);
    for (int i = 0; i < count; i++) files[i] = read_file(argv[first + i]);
    const long before = peak_kb();
    double ours[MOST_ROUNDS], direct[MOST_ROUNDS], ratios[MOST_ROUNDS];
    for (int round = 0; round < rounds; round++) {
        double start = processor_ms();
        for (int i = 0; i < count; i++) decode(&files[i], side);
        ours[round] = processor_ms() - start;
        start = processor_ms();
        for (int i = 0; side == 0 && i < count; i++) decode_directly(&files[i]);
        direct[round] = processor_ms() - start;
        ratios[round] = side == 0 ? ours[round] / direct[round] : 0;
    }
    printf("{\"files\":%d,\"size\":%d,\"ours_ms\":%.3f,\"direct_ms\":%.3f,\"ratio\":%.4f,\"grown_kb\":%ld}\n", count,
           side, median(ours, rounds), median(direct, rounds), median(ratios, rounds), peak_kb() - before);
    for (int i = 0; i < count; i++) free(files[i].bytes);
    free(files);
    return 0;
}

/* cc -std=c99 -O2 make_pictures.c -ljpeg -lpng -lm -o make_pictures
 *
 * make_pictures: draws six pictures in all variants that libsdd reads, for the demo and the tests.
 *
 *     make_pictures DIR [REFERENCE_DIR]
 *
 * It writes the pictures to DIR, and to REFERENCE_DIR, as NAME.ppm or NAME.pam, the pixels that a decoder must
 * produce for each: for a PNG the pixels that were drawn, for a JPEG those that libjpeg reads back.
 */
#include <math.h>
#include <stdio.h> /* required before jpeglib.h */
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <png.h>

#define PI 3.14159265358979

enum kind { JPEG_BASELINE, JPEG_PROGRESSIVE, JPEG_GREY, PNG_RGB, PNG_RGBA, PNG_PALETTE };

typedef void (*painter)(double x, double y, double shape, unsigned char rgba[4]);

static unsigned char level(double value) /* from 0 to 1 */
{
    return (unsigned char)(value <= 0 ? 0 : value >= 1 ? 255 : value * 255 + 0.5);
}

/* The painting functions: x and y run from 0 to 1; shape is width / height. */

static void plasma(double x, double y, double shape, unsigned char rgba[4])
{
    double u = x * shape * 7, v = y * 7;
    double sum = sin(u) + sin(v * 1.3 + 1) + sin((u + v) * 0.7) + sin(hypot(u - 4, v - 3) * 1.9);

    for (int i = 0; i < 3; i++) rgba[i] = level(0.5 + 0.5 * sin(sum * 1.2 + i * 2 * PI / 3));
}

static void circles(double x, double y, double shape, unsigned char rgba[4])
{
    double u = x * shape * 5, v = y * 5;
    double distance = hypot(u - floor(u) - 0.5, v - floor(v) - 0.5);
    double ring = 0.5 + 0.5 * cos(distance * 34 - floor(u) - floor(v));

    rgba[0] = level(ring * (0.3 + 0.7 * x));
    rgba[1] = level(ring * (0.9 - 0.6 * y));
    rgba[2] = level(0.25 + 0.75 * ring * (1 - x));
}

static void ripples(double x, double y, double shape, unsigned char rgba[4])
{
    double near = hypot((x - 0.3) * shape, y - 0.4), far = hypot((x - 0.8) * shape, y - 0.7);

    memset(rgba, level(0.5 + 0.25 * cos(near * 70) + 0.25 * cos(far * 50)), 3);
}

static void mandelbrot(double x, double y, double shape, unsigned char rgba[4])
{
    double a = (x - 0.7) * 2.4 * shape, b = (y - 0.5) * 2.4, u = 0, v = 0, smooth;
    int step = 0;

    for (; step < 200 && u * u + v * v < 64; step++) {
        double next = u * u - v * v + a;
        v = 2 * u * v + b;
        u = next;
    }
    if (step == 200) {
        memset(rgba, 0, 3);
        return;
    }
    smooth = step + 1 - log2(log2(u * u + v * v));
    for (int i = 0; i < 3; i++) rgba[i] = level(0.5 - 0.5 * cos(0.25 * smooth + 0.6 * i));
}

static void glass(double x, double y, double shape, unsigned char rgba[4])
{
    double distance = hypot((x - 0.5) * shape, y - 0.5) * 2;

    rgba[0] = level(x);
    rgba[1] = level(y);
    rgba[2] = level(1 - x * y);
    rgba[3] = level((1 - distance) * 4); /* a disc with a soft edge; nothing outside */
}

static void tiles(double x, double y, double shape, unsigned char rgba[4])
{
    int column = (int)(x * shape * 8), row = (int)(y * 8), dark = (column + row) % 2;

    rgba[0] = (unsigned char)(dark ? 40 : 160 + 10 * column);
    rgba[1] = (unsigned char)(dark ? 60 : 160 + 10 * row);
    rgba[2] = dark ? 110 : 200;
}

static FILE *create(const char *directory, const char *name, const char *suffix)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s%s", directory, name, suffix);
    if ((file = fopen(path, "w+b")) == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void close_written(FILE *file)
{
    if (ferror(file) || fclose(file) != 0) {
        perror("make_pictures");
        exit(1);
    }
}

/* The default error handlers of libjpeg and libpng end the program with a message, which is sufficient here. */
static void write_jpeg(FILE *file, enum kind kind, const unsigned char *rgba, int width, int height)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    int samples = kind == JPEG_GREY ? 1 : 3;
    unsigned char *row = malloc((size_t)width * 3);

    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = samples;
    jpeg.in_color_space = samples == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 90, TRUE);
    if (kind == JPEG_PROGRESSIVE) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        for (int x = 0; x < width; x++, rgba += 4) memcpy(row + x * samples, rgba, (size_t)samples);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    free(row);
}

/* Replaces the drawn pixels with those that libjpeg decodes from the file. */
static void read_jpeg(FILE *file, unsigned char *rgba)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *row;

    rewind(file);
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_stdio_src(&jpeg, file);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    row = malloc((size_t)jpeg.output_width * 3);
    while (jpeg.output_scanline < jpeg.output_height) {
        jpeg_read_scanlines(&jpeg, &row, 1);
        for (JDIMENSION x = 0; x < jpeg.output_width; x++, rgba += 4) memcpy(rgba, row + x * 3, 3);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    free(row);
}

/* Returns the index of a colour in the palette, and adds a new colour. */
static unsigned char find_colour(png_color palette[256], int *count, const unsigned char *rgb)
{
    int i = 0;

    while (i < *count && memcmp(&palette[i], rgb, 3) != 0) i++;
    if (i == *count && *count < 256) memcpy(&palette[(*count)++], rgb, 3);
    return (unsigned char)i;
}

static void write_png(FILE *file, enum kind kind, const unsigned char *rgba, int width, int height)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    size_t samples = kind == PNG_RGBA ? 4 : kind == PNG_RGB ? 3 : 1, count = (size_t)width * (size_t)height;
    unsigned char *packed = malloc(count * samples);
    png_color palette[256];
    int colours = 0;

    for (size_t i = 0; i < count; i++) {
        if (samples == 1)
            packed[i] = find_colour(palette, &colours, rgba + i * 4);
        else
            memcpy(packed + i * samples, rgba + i * 4, samples);
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
                 samples == 4   ? PNG_COLOR_TYPE_RGBA
                 : samples == 3 ? PNG_COLOR_TYPE_RGB
                                : PNG_COLOR_TYPE_PALETTE,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (samples == 1) png_set_PLTE(png, info, palette, colours);
    png_write_info(png, info);
    for (int y = 0; y < height; y++) png_write_row(png, packed + (size_t)y * (size_t)width * samples);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(packed);
}

static void write_reference(FILE *file, int with_alpha, const unsigned char *rgba, int width, int height)
{
    if (with_alpha)
        fprintf(file, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", width, height);
    else
        fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (long i = 0; i < (long)width * height; i++, rgba += 4) fwrite(rgba, 1, with_alpha ? 4 : 3, file);
}

static void make(char **directories, const char *name, enum kind kind, painter paint, int width, int height)
{
    unsigned char *rgba = malloc((size_t)width * (size_t)height * 4), *pixel = rgba;
    FILE *file = create(directories[0], name, "");

    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++, pixel += 4) {
            pixel[3] = 255;
            paint((x + 0.5) / width, (y + 0.5) / height, (double)width / height, pixel);
        }
    }
    if (kind <= JPEG_GREY) {
        write_jpeg(file, kind, rgba, width, height);
        read_jpeg(file, rgba);
    } else {
        write_png(file, kind, rgba, width, height);
    }
    close_written(file);
    if (directories[1] != NULL) {
        file = create(directories[1], name, kind == PNG_RGBA ? ".pam" : ".ppm");
        write_reference(file, kind == PNG_RGBA, rgba, width, height);
        close_written(file);
    }
    free(rgba);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: make_pictures DIR [REFERENCE_DIR]\n");
        return 2;
    }
    make(argv + 1, "plasma.jpg", JPEG_BASELINE, plasma, 1600, 1200);
    make(argv + 1, "circles.jpg", JPEG_PROGRESSIVE, circles, 1023, 767); /* no multiple of the block size */
    make(argv + 1, "ripples.jpg", JPEG_GREY, ripples, 800, 600);
    make(argv + 1, "mandelbrot.png", PNG_RGB, mandelbrot, 1200, 900);
    make(argv + 1, "glass.png", PNG_RGBA, glass, 512, 512);
    make(argv + 1, "tiles.png", PNG_PALETTE, tiles, 64, 64);
    return 0;
}

/* cc -std=c99 -O2 contact_sheet.c $(pkg-config --cflags --libs sdd) -o contact_sheet
 *
 * contact_sheet: many pictures on one sheet. Each is decoded to the size of its cell, straight into the sheet.
 *
 *     contact_sheet [-i FILE] [-o SHEET] [-s WIDTHxHEIGHT] [-n COLUMNS] [-f] [-d DIRECTORY] [-j COUNT] [URL...]
 *
 * -i reads more URLs, one a line. SHEET (default contact-sheet.jpg) is a PNG if its name ends in .png, else a JPEG. Its
 * cells of 160x120 stand in COLUMNS columns, or in as many as make it about square. Pictures keep their aspect ratio
 * and lie in the middle of their cells; with -f they fill the cells and are cropped. The cell of a picture that failed
 * is grey. The originals are stored in DIRECTORY ($XDG_CACHE_HOME/sdd/contact-sheet), so that the next sheet of them,
 * of any size, needs no network. -j: number of downloads at a time (6). Exit status 0: success.
 */
#define _POSIX_C_SOURCE 200809L /* getline, getopt, strdup */
#include <errno.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GREY = 0x80, PIXEL = 3 /* bytes, of SDD_PIXEL_FORMAT_RGB8 */ };

struct cell {
    char *url;
    int32_t width, height; /* size of the picture in the cell; 0: there is none */
    sdd_origin origin;
};

struct sheet {
    struct cell *cells;
    size_t count, columns, rows;
    size_t cell_width, cell_height, stride;
    uint8_t *pixels;
};

static int say(const char *what, const char *why)
{
    fprintf(stderr, "contact_sheet: %s: %s\n", what, why);
    return 1;
}

static int add_url(struct sheet *sheet, const char *url)
{
    struct cell *cells = realloc(sheet->cells, (sheet->count + 1) * sizeof *cells), *cell;

    if (cells == NULL) return 0;
    sheet->cells = cells;
    cell = &cells[sheet->count];
    memset(cell, 0, sizeof *cell);
    if ((cell->url = strdup(url)) == NULL) return 0;
    sheet->count++;
    return 1;
}

static int add_urls_of_file(struct sheet *sheet, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    int good = file != NULL;

    if (!good) return !say(path, strerror(errno));
    while (good && getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        good = line[0] == '\0' || add_url(sheet, line);
    }
    free(line);
    fclose(file);
    return good;
}

static uint8_t *corner_of(const struct sheet *sheet, size_t index)
{
    size_t row = index / sheet->columns, column = index % sheet->columns;
    return sheet->pixels + row * sheet->cell_height * sheet->stride + column * sheet->cell_width * PIXEL;
}

/* Makes a grey sheet. The sides have been checked: no product of them is too large for 64 bits. */
static int lay_out(struct sheet *sheet, size_t columns)
{
    if (columns == 0)
        while (columns * columns < sheet->count) columns++;
    sheet->columns = columns < sheet->count ? columns : sheet->count;
    sheet->rows = (sheet->count + sheet->columns - 1) / sheet->columns;
    sheet->stride = sheet->columns * sheet->cell_width * PIXEL;
    sheet->pixels = malloc(sheet->stride * sheet->cell_height * sheet->rows);
    if (sheet->pixels != NULL) memset(sheet->pixels, GREY, sheet->stride * sheet->cell_height * sheet->rows);
    return sheet->pixels != NULL;
}

/* Runs on a thread of the library. The pixels of the picture are in its cell. */
static void completed(const sdd_result *result, void *user_data)
{
    struct cell *cell = user_data;

    if (result->failure.status != SDD_OK) {
        printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
        return;
    }
    cell->width = sdd_image_width(result->image);
    cell->height = sdd_image_height(result->image);
    cell->origin = result->origin;
}

static int submit(sdd_loader *loader, const struct sheet *sheet, size_t index, int fills)
{
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;

    decode.pixel_format = SDD_PIXEL_FORMAT_RGB8;
    decode.background = GREY << 16 | GREY << 8 | GREY;
    decode.fit = fills ? SDD_FIT_FILL : SDD_FIT_INSIDE;
    decode.allow_enlarging = fills;
    decode.target_width = (int32_t)sheet->cell_width;
    decode.target_height = (int32_t)sheet->cell_height;
    decode.pixels = corner_of(sheet, index); /* rows of the sheet; bytes between the cell's rows are not touched */
    decode.pixels_stride = sheet->stride;
    decode.pixels_size = (sheet->cell_height - 1) * sheet->stride + sheet->cell_width * PIXEL;
    request.url = sheet->cells[index].url;
    request.decode = &decode; /* copied with the request */
    request.completed = completed;
    request.user_data = &sheet->cells[index];
    if (sdd_loader_submit(loader, &request) == 0) return !say(request.url, sdd_last_error_message());
    return 1;
}

/* Loads all pictures, and waits. If this fails, destroying the downloader ends the loads before the sheet is freed. */
static int load_all(const struct sheet *sheet, const char *directory, int32_t downloads, int fills)
{
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_loader_config loader_config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *loader = NULL;
    int good = 0;

    cache_config.name = "contact-sheet";
    cache_config.directory = directory;
    config.max_concurrent_downloads = config.max_concurrent_per_host = downloads;
    sdd_status status = sdd_cache_create(&cache_config, &loader_config.cache);
    if (status == SDD_OK) status = sdd_downloader_create(&config, &loader_config.downloader);
    if (status == SDD_OK) status = sdd_loader_create(&loader_config, &loader);
    if (status == SDD_OK) {
        good = 1;
        for (size_t i = 0; i < sheet->count && good; i++) good = submit(loader, sheet, i, fills);
        if (good) status = sdd_downloader_idle_wait(loader_config.downloader, -1);
    }
    if (status != SDD_OK) good = !say("cannot load", sdd_last_error_message());
    sdd_loader_destroy(loader); /* refuses NULL, if it could not be made */
    sdd_downloader_destroy(loader_config.downloader);
    sdd_cache_destroy(loader_config.cache); /* writes all entries that are not on disk yet */
    return good;
}

/* Moves a picture from the corner of its cell, where it was decoded, to the middle. */
static void centre(const struct sheet *sheet, size_t index)
{
    const struct cell *cell = &sheet->cells[index];
    size_t width = (size_t)cell->width, height = (size_t)cell->height;
    size_t left = (sheet->cell_width - width) / 2, top = (sheet->cell_height - height) / 2;

    for (size_t y = height; y-- > 0;) { /* from below, so that no row is overwritten before it has moved */
        uint8_t *from = corner_of(sheet, index) + y * sheet->stride;
        memmove(from + top * sheet->stride + left * PIXEL, from, width * PIXEL);
        memset(from, GREY, (top > 0 ? width : left) * PIXEL);
    }
}

/* Clears a cell: after an error its pixels are undefined. */
static void make_grey(const struct sheet *sheet, size_t index)
{
    for (size_t y = 0; y < sheet->cell_height; y++)
        memset(corner_of(sheet, index) + y * sheet->stride, GREY, sheet->cell_width * PIXEL);
}

static int write_file(const char *path, sdd_bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    size_t size = sdd_bytes_size(bytes);
    int good = file != NULL && fwrite(sdd_bytes_data(bytes), 1, size, file) == size;
    return file != NULL && fclose(file) == 0 && good;
}

static int write_sheet(const struct sheet *sheet, const char *path)
{
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    const char *extension = strrchr(path, '.');
    sdd_image *image;
    sdd_bytes *bytes = NULL;
    sdd_status status = sdd_image_create((int32_t)(sheet->columns * sheet->cell_width),
                                         (int32_t)(sheet->rows * sheet->cell_height), SDD_PIXEL_FORMAT_RGB8,
                                         sheet->pixels, sheet->stride, &image);
    if (status != SDD_OK) return !say(path, sdd_last_error_message());
    options.format = extension && strcmp(extension, ".png") == 0 ? SDD_IMAGE_FORMAT_PNG : SDD_IMAGE_FORMAT_JPEG;
    options.quality = 90;
    status = sdd_image_encode(image, &options, &bytes);
    sdd_image_release(image);
    if (status != SDD_OK) return !say(path, sdd_last_error_message());
    int good = write_file(path, bytes);
    sdd_bytes_release(bytes);
    return good || !say(path, strerror(errno));
}

/* Centres the pictures and prints a summary. Returns the number of missing pictures. */
static size_t finish(const struct sheet *sheet)
{
    size_t missing = 0, stored = 0;

    for (size_t i = 0; i < sheet->count; i++) {
        const struct cell *cell = &sheet->cells[i];
        if (cell->width > 0)
            centre(sheet, i);
        else
            make_grey(sheet, i);
        missing += cell->width == 0;
        stored += cell->origin == SDD_ORIGIN_DISK;
    }
    printf("%zu pictures, %zu of them from the disk, %zu missing\n", sheet->count - missing, stored, missing);
    return missing;
}

int main(int argc, char **argv)
{
    struct sheet sheet = { NULL, 0, 0, 0, 160, 120, 0, NULL };
    const char *path = "contact-sheet.jpg", *directory = NULL;
    unsigned width = 160, height = 120;
    int columns = 0, downloads = 6, fills = 0, option, good = 1;

    while (good && (option = getopt(argc, argv, "i:o:s:n:fd:j:")) != -1) {
        switch (option) {
        case 'i': good = add_urls_of_file(&sheet, optarg); break;
        case 'o': path = optarg; break;
        case 's': good = sscanf(optarg, "%ux%u", &width, &height) == 2; break;
        case 'n': good = (columns = atoi(optarg)) > 0; break;
        case 'f': fills = 1; break;
        case 'd': directory = optarg; break;
        case 'j': good = (downloads = atoi(optarg)) > 0; break;
        default: good = 0;
        }
    }
    for (; good && optind < argc; optind++) good = add_url(&sheet, argv[optind]);
    if (!good || sheet.count == 0 || sheet.count > 10000 || width < 1 || width > 1000 || height < 1 || height > 1000) {
        fprintf(stderr, "usage: contact_sheet [-i FILE] [-o SHEET] [-s WIDTHxHEIGHT] [-n COLUMNS] [-f] [-d DIRECTORY] "
                        "[-j COUNT] [URL...]\n");
        return 2;
    }
    sheet.cell_width = width;
    sheet.cell_height = height;
    if (!lay_out(&sheet, (size_t)columns)) return say("no memory for the sheet", strerror(errno));
    good = load_all(&sheet, directory, downloads, fills);
    if (good) {
        size_t missing = finish(&sheet);
        good = write_sheet(&sheet, path) && missing == 0;
    }
    for (size_t i = 0; i < sheet.count; i++) free(sheet.cells[i].url);
    free(sheet.cells);
    free(sheet.pixels);
    return good ? 0 : 1;
}

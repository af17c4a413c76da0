/* cc -std=c99 -O2 gallery.c $(pkg-config --cflags --libs sdd) -o gallery
 *
 * gallery: downloads a list of pictures in a program with one thread and a poll(2) loop of its own,
 * and puts them side by side on one sheet.
 *
 *     gallery [-i FILE] [-o SHEET] [-c CA_FILE] [-j COUNT] [URL...]
 *
 * -i reads more URLs, one a line. -c trusts the certificates in CA_FILE instead of the system's; -j sets the number
 * of downloads at a time, by default six. SHEET (default gallery.ppm) is a PPM file with six pictures a row, in the
 * order of the URLs; the place of a picture that failed stays grey. Exit status 0: success.
 */
#define _POSIX_C_SOURCE 200809L /* getline, getopt, isatty, poll, strdup */
#include <ctype.h>
#include <poll.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_WIDTH = 160, CELL_HEIGHT = 120, COLUMNS = 6, BAR = 40 };

enum stage { WAITING, RUNNING, ENDED };

struct item {
    char *url;
    char name[32];
    enum stage stage;
    int64_t received, expected;
    sdd_image *image; /* one reference, or NULL */
};

static struct item *items;
static size_t item_count, ended_count;
static int bars_drawn, on_terminal;

static void add_item(const char *url)
{
    const char *end = url + strcspn(url, "?#"), *from = end;
    struct item *item;
    size_t size = 0;

    if ((items = realloc(items, (item_count + 1) * sizeof *items)) == NULL) exit(1);
    item = &items[item_count++];
    memset(item, 0, sizeof *item);
    if ((item->url = strdup(url)) == NULL) exit(1);
    while (from > url && from[-1] != '/') from--;
    for (; from < end && size + 1 < sizeof item->name; from++) /* only characters that are safe for a terminal */
        item->name[size++] = isalnum((unsigned char)*from) || strchr("._-", *from) ? *from : '_';
}

static int add_items_of_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;

    if (file == NULL) {
        perror(path);
        return 0;
    }
    while (getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0') add_item(line);
    }
    free(line);
    fclose(file);
    return 1;
}

/* Erases the progress bars, which stand below the lines of ended downloads, before such a line is printed. */
static void wipe_bars(void)
{
    if (bars_drawn > 0) printf("\033[%dA\033[J", bars_drawn);
    bars_drawn = 0;
}

static void draw_bars(void)
{
    if (!on_terminal) return;
    wipe_bars();
    for (size_t i = 0; i < item_count; i++) {
        const struct item *item = &items[i];
        int filled = item->expected > 0 ? (int)(item->received * BAR / item->expected) : 0;
        if (item->stage != RUNNING) continue;
        printf("%-24.24s [%.*s%*s] %lld\n", item->name, filled,
               "========================================", BAR - filled, "", (long long)item->received);
        bars_drawn++;
    }
    printf("%zu of %zu\n", ended_count, item_count);
    bars_drawn++;
    fflush(stdout);
}

/* The callbacks run inside sdd_downloader_dispatch(), on the thread of main(). */

static void progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    struct item *item = user_data;

    (void)token, (void)url;
    item->stage = RUNNING;
    item->received = received;
    item->expected = expected;
}

static void completed(const sdd_result *result, void *user_data)
{
    struct item *item = user_data;

    item->stage = ENDED;
    item->image = sdd_image_retain(result->image); /* borrowed by the callback: keep it for the sheet */
    ended_count++;
    wipe_bars();
    if (result->failure.status != SDD_OK)
        printf("%-24s %s: %s\n", item->name, sdd_status_name(result->failure.status), result->failure.message);
    else
        printf("%-24s %d x %d\n", item->name, (int)sdd_image_width(item->image), (int)sdd_image_height(item->image));
}

/* Scales a picture to fit into its cell by picking pixels, with the grey shown through transparent ones. */
static void paste(uint8_t *sheet, size_t sheet_width, size_t number, sdd_image *image)
{
    int64_t width = sdd_image_width(image), height = sdd_image_height(image);
    int64_t fit_width = CELL_WIDTH, fit_height = height * CELL_WIDTH / width;
    const uint8_t *pixels = sdd_image_pixels(image);
    size_t stride = sdd_image_stride(image);
    uint8_t *corner = sheet + (number / COLUMNS * CELL_HEIGHT * sheet_width + number % COLUMNS * CELL_WIDTH) * 3;

    if (fit_height > CELL_HEIGHT) {
        fit_width = width * CELL_HEIGHT / height;
        fit_height = CELL_HEIGHT;
    }
    for (int64_t y = 0; y < fit_height; y++) {
        const uint8_t *row = pixels + (size_t)(y * height / fit_height) * stride;
        for (int64_t x = 0; x < fit_width; x++) {
            const uint8_t *from = row + (size_t)(x * width / fit_width) * 4;
            uint8_t *to = corner + ((size_t)y * sheet_width + (size_t)x) * 3;
            for (int i = 0; i < 3; i++) to[i] = (uint8_t)((from[i] * from[3] + to[i] * (255 - from[3])) / 255);
        }
    }
}

static int write_sheet(const char *path)
{
    size_t columns = item_count < COLUMNS ? item_count : COLUMNS, rows = (item_count + COLUMNS - 1) / COLUMNS;
    size_t width = columns * CELL_WIDTH, height = rows * CELL_HEIGHT;
    uint8_t *sheet = malloc(width * height * 3);
    FILE *file = fopen(path, "wb");
    int good;

    if (sheet == NULL || file == NULL) {
        perror(path);
        exit(1);
    }
    memset(sheet, 128, width * height * 3);
    for (size_t i = 0; i < item_count; i++)
        if (items[i].image != NULL) paste(sheet, width, i, items[i].image);
    fprintf(file, "P6\n%zu %zu\n255\n", width, height);
    good = fwrite(sheet, 3, width * height, file) == width * height;
    free(sheet);
    return fclose(file) == 0 && good;
}

static int run_loop(sdd_downloader *downloader)
{
    /* A real program also has other descriptors and timers in its poll() loop. */
    struct pollfd watched = { sdd_downloader_event_fd(downloader), POLLIN, 0 };

    while (ended_count < item_count) {
        draw_bars();
        if (poll(&watched, 1, -1) < 0) continue; /* interrupted by a signal */
        if (sdd_downloader_dispatch(downloader, 0, NULL) != SDD_OK) return 0;
    }
    wipe_bars();
    return 1;
}

int main(int argc, char **argv)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    sdd_downloader *downloader;
    const char *sheet = "gallery.ppm";
    int option, good;

    while ((option = getopt(argc, argv, "i:o:c:j:")) != -1) {
        if (option == 'o')
            sheet = optarg;
        else if (option == 'c')
            network.ca_file = optarg;
        else if (option == 'j')
            config.max_concurrent_downloads = atoi(optarg);
        else if (option != 'i' || !add_items_of_file(optarg))
            return 2;
    }
    for (; optind < argc; optind++) add_item(argv[optind]);
    if (item_count == 0) {
        fprintf(stderr, "usage: gallery [-i FILE] [-o SHEET] [-c CA_FILE] [-j COUNT] [URL...]\n");
        return 2;
    }
    on_terminal = isatty(STDOUT_FILENO);

    config.delivery = SDD_DELIVERY_APPLICATION; /* callbacks run only inside sdd_downloader_dispatch() */
    if (sdd_downloader_create(&config, &downloader) != SDD_OK) return 1;
    for (size_t i = 0; i < item_count; i++)
        if (sdd_download(downloader, items[i].url, 0, progress, completed, &items[i]) == 0) return 1;
    good = run_loop(downloader);
    sdd_downloader_destroy(downloader); /* images stay valid */

    good = write_sheet(sheet) && good;
    for (size_t i = 0; i < item_count; i++) {
        good = good && items[i].image != NULL;
        sdd_image_release(items[i].image);
        free(items[i].url);
    }
    free(items);
    return good ? 0 : 1;
}

/*
 * sdd_guard - does one kind of work again and again, for bench/guard.py, which counts its instructions with callgrind.
 *
 *     build/sdd-guard WORK COUNT PLACE
 *
 * The kinds of work; COUNT is a multiple of 50 for `request` and `memory`:
 *
 *   request     downloads over a transport that responds at once
 *   http        downloads of the URL PLACE and a number, one at a time
 *   memory      loads that find their picture in memory; the folder PLACE is for the cache, and must be empty
 *   disk        such loads that find it on disk, one at a time
 *   cold        such loads that find nothing, and store nothing, one at a time
 *   decode      decodes the file PLACE on the main thread
 *   pictures    writes baseline.jpg, progressive.jpg and picture.png to the folder PLACE, for `decode`
 *
 * The threads work one after another, so that the number of wake-ups, and with it the number of instructions, does not
 * depend on the time at which each of them runs. guard.py knows the threads by the functions main(), respond() and
 * completed().
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 50, SIDE = 512 };

static sdd_downloader *downloader;
static sdd_cache *cache;
static sdd_loader *loader;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "sdd-guard: %s: %s\n", what, why);
    exit(1);
}

static void check(sdd_status status, const char *what)
{
    if (status != SDD_OK) fail(what, sdd_last_error_message());
}

/* ---- gates, which make the threads work one after another */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    long submitted, arrived, responded, completed; /* requests; arrived: at a gate, one of each group */
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Requests that are submitted before any of them is answered or completed; 1: without gates. */
static long group = 1;
static int has_transport; /* all requests of a group are answered by respond() before any is completed */

/* Adds one to a number of `progress`, and opens a gate if this is the last one of a group. */
static void count(long *number)
{
    pthread_mutex_lock(&progress.lock);
    ++*number;
    if (number == &progress.arrived || *number % group == 0) pthread_cond_broadcast(&progress.changed);
    pthread_mutex_unlock(&progress.lock);
}

static void wait_until(const long *number, long value)
{
    pthread_mutex_lock(&progress.lock);
    while (*number < value) pthread_cond_wait(&progress.changed, &progress.lock);
    pthread_mutex_unlock(&progress.lock);
}

/*
 * Returns at once, unless a request is the first of its group: then after the whole group has reached `number`. `done`
 * is the number of requests before it.
 */
static void pass_gate(long done, const long *number)
{
    if (group == 1 || done % group) return;
    if (number == &progress.submitted) count(&progress.arrived);
    wait_until(number, done + group);
}

/* ---- the transport */

static const unsigned char pixel[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00,
    0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0x0f, 0x00, 0x01, 0x01, 0x01, 0x00,
    0xb1, 0x38, 0xf6, 0x14, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

/* Thread: sdd-net. */
static void respond(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request;
    (void)user_data;
    pass_gate(progress.responded, &progress.submitted);
    sdd_transfer_write(transfer, pixel, sizeof pixel);
    sdd_transfer_finish(transfer, SDD_OK, NULL);
    count(&progress.responded);
}

static void cancel(sdd_transfer transfer, void *user_data)
{
    (void)transfer;
    (void)user_data;
}

/* Thread: the callback thread. */
static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->failure.status != SDD_OK) fail(result->url, result->failure.message);
    pass_gate(progress.completed, has_transport ? &progress.responded : &progress.submitted);
    count(&progress.completed);
}

/* ---- kinds of work */

/* What submit() does with a URL. */
static enum { DOWNLOAD, LOAD } call;
static int32_t query, store;

static void submit(const char *url)
{
    if (call == DOWNLOAD) {
        if (!sdd_download(downloader, url, SDD_OPTION_BYTES_ONLY, NULL, completed, NULL))
            fail(url, sdd_last_error_message());
    } else {
        sdd_load_request request = SDD_LOAD_REQUEST_INIT;
        request.url = url;
        request.completed = completed;
        request.query = query;
        request.store = request.original_store = store;
        if (!sdd_loader_submit(loader, &request)) fail(url, sdd_last_error_message());
    }
    count(&progress.submitted);
}

/* Submits requests, and returns when the last group has been completed. `format` makes a URL of a number. */
static void submit_all(const char *format, long requests, long different)
{
    char url[256];
    if (requests % group) fail("COUNT", "not a multiple of 50");
    for (long i = 0; i < requests; i++) {
        snprintf(url, sizeof url, format, i % different);
        submit(url);
        /* The other requests find their thread awake, always. */
        if (group > 1 && i % group == 0) wait_until(&progress.arrived, i / group + 1);
        if ((i + 1) % group == 0) check(sdd_downloader_idle_wait(downloader, -1), "sdd_downloader_idle_wait");
    }
}

static void open_downloader(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    config.decode_threads = 1;
    check(sdd_downloader_create(&config, &downloader), "sdd_downloader_create");
    transport.scheme = "instant";
    transport.start = respond;
    transport.cancel = cancel;
    check(sdd_downloader_add_transport(downloader, &transport), "sdd_downloader_add_transport");
}

static void open_loader(const char *directory)
{
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    cache_config.directory = directory;
    check(sdd_cache_create(&cache_config, &cache), directory);
    config.downloader = downloader;
    config.cache = cache;
    check(sdd_loader_create(&config, &loader), "sdd_loader_create");
}

static void request(long requests, const char *unused)
{
    (void)unused;
    group = GROUP;
    has_transport = 1;
    submit_all("instant:%ld", requests, requests);
}

/* The URLs differ in the number at their ends. */
static void http(long requests, const char *url)
{
    char format[200];
    snprintf(format, sizeof format, "%.180s%%ld", url);
    submit_all(format, requests, requests);
}

static void load(const char *directory, int32_t level, long requests)
{
    open_loader(directory);
    call = LOAD;
    if (level != SDD_CACHE_NONE) {
        store = level;
        submit_all("instant:%ld", GROUP, GROUP);
        check(sdd_cache_flush_wait(cache, -1), "sdd_cache_flush_wait");
        store = SDD_CACHE_NONE;
        query = level;
        group = level == SDD_CACHE_MEMORY ? GROUP : 1;
    } else {
        query = SDD_CACHE_ALL;
    }
    submit_all("instant:%ld", requests, level == SDD_CACHE_NONE ? requests : GROUP);
    check(sdd_loader_destroy(loader), "sdd_loader_destroy");
    check(sdd_cache_destroy(cache), "sdd_cache_destroy");
}

static void memory(long requests, const char *directory) { load(directory, SDD_CACHE_MEMORY, requests); }
static void disk(long requests, const char *directory) { load(directory, SDD_CACHE_DISK, requests); }
static void cold(long requests, const char *directory) { load(directory, SDD_CACHE_NONE, requests); }

static void decode(long times, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail(path, "cannot be read");
    const size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size);
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size) fail(path, "cannot be read");
    fclose(file);
    for (long i = 0; i < times; i++) {
        sdd_image *image = NULL;
        check(sdd_image_decode(bytes, size, NULL, &image), path);
        sdd_image_release(image);
    }
    free(bytes);
}

/* ---- pictures */

/* Returns a picture of gradients, edges and a little noise, which is always the same. */
static sdd_image *make_picture(void)
{
    static uint8_t pixels[SIDE][SIDE][3];
    uint32_t noise = 1;
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            const uint32_t edge = (x / 37 + y / 53) % 2 * 60;
            noise = noise * 1664525 + 1013904223;
            for (uint32_t i = 0; i < 3; i++)
                pixels[y][x][i] = (uint8_t)((x * (i + 1) + y * (3 - i)) / 12 + edge + (noise >> (24 + i)) % 8);
        }
    }
    sdd_image *image = NULL;
    check(sdd_image_create(SIDE, SIDE, SDD_PIXEL_FORMAT_RGB8, pixels, 0, &image), "sdd_image_create");
    return image;
}

static void write_picture(sdd_image *image, const char *directory, const char *name, int32_t format, int progressive)
{
    char path[4096];
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    sdd_bytes *bytes = NULL;
    options.format = format;
    options.progressive = progressive;
    check(sdd_image_encode(image, &options, &bytes), name);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    const size_t size = sdd_bytes_size(bytes);
    if (!file || fwrite(sdd_bytes_data(bytes), 1, size, file) != size || fclose(file)) fail(path, "cannot be written");
    sdd_bytes_release(bytes);
}

static void pictures(long unused, const char *directory)
{
    (void)unused;
    sdd_image *image = make_picture();
    write_picture(image, directory, "baseline.jpg", SDD_IMAGE_FORMAT_JPEG, 0);
    write_picture(image, directory, "progressive.jpg", SDD_IMAGE_FORMAT_JPEG, 1);
    write_picture(image, directory, "picture.png", SDD_IMAGE_FORMAT_PNG, 0);
    sdd_image_release(image);
}

static const struct work {
    const char *name;
    void (*run)(long count, const char *place);
} works[] = {
    { "request", request }, { "http", http },     { "memory", memory },     { "disk", disk },
    { "cold", cold },       { "decode", decode }, { "pictures", pictures },
};

int main(int argc, char **argv)
{
    const struct work *work = works, *end = works + sizeof works / sizeof *works;
    const long count = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    while (argc == 4 && work < end && strcmp(work->name, argv[1]) != 0) work++;
    if (argc != 4 || work == end || count < 0) {
        fprintf(stderr, "usage: sdd-guard request|http|memory|disk|cold|decode|pictures COUNT PLACE\n");
        return 2;
    }
    open_downloader();
    work->run(count, argv[3]);
    check(sdd_downloader_destroy(downloader), "sdd_downloader_destroy");
    return 0;
}

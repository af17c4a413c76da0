/*
 * Compares the memory that a cache reports with that of the process: for every kind of entry, with many of each kind. A
 * figure that does not grow with the entries would be a leak that no limit stops. Rows I13, I15.
 */
#include "loads.h"
#include "png_making.h"

#include <malloc.h>

/* Each kind is stored so often that the process's other memory does not matter. */
enum { ENOUGH = 24 << 20 };

/* Returns the process's resident bytes that do not belong to files. */
static int64_t resident(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long long kilobytes = -1;
    malloc_trim(0);
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) sscanf(line, "Anonymous: %lld kB", &kilobytes);
    fclose(file);
    CHECK(kilobytes > 0);
    return kilobytes * 1024;
}

/* True if only the program itself takes memory: sanitizers and valgrind have much of their own. */
static int is_plain(void) { return scaled(1000) == 1000; }

typedef struct kind {
    const char *name;
    uint8_t *file;
    size_t size;
    sdd_decode_options decode;
    void (*use)(sdd_image *image); /* use of the image by the application while the cache has it */
} kind;

static sdd_image *decoded(const kind *k)
{
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_decode(k->file, k->size, &k->decode, &image), SDD_OK);
    return image;
}

static void check_told(const char *name, int64_t told, int64_t taken)
{
    if (!is_plain()) return;
    if (told > taken + taken * 15 / 100 || told < taken - taken * 15 / 100)
        FAIL("%s: %lld bytes are reported, %lld used", name, (long long)told, (long long)taken);
}

/* Returns the key for a number. Valid until the next call. */
static const char *key_number(int number)
{
    static char key[64];
    snprintf(key, sizeof key, "https://host.example/%d.png", number);
    return key;
}

/* Stores many images of a kind in memory and uses each of them. */
static void told_of(const kind *k)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_memory_cost = -1;
    OWNED_CACHE c = open_cache(config);
    int64_t before = 0;
    int count = 1, first = 2; /* one-time allocations of the first images are not counted */
    for (int i = 0; i < first + count; i++) {
        if (i == first) {
            int64_t one = counts_of(c.cache).memory_cost / first;
            count = scaled((int)(ENOUGH / (one > 4096 ? one : 4096)));
            before = resident() - counts_of(c.cache).memory_cost;
        }
        OWNED_IMAGE image = decoded(k);
        sdd_cache_item item = item_of(key_number(i), image, NULL, SDD_CACHE_MEMORY);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
        if (k->use) k->use(image);
    }
    check_told(k->name, counts_of(c.cache).memory_cost, resident() - before);
    CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_MEMORY), SDD_OK);
    CHECK_EQUAL(counts_of(c.cache).memory_cost, 0);
}

static void play(sdd_image *image)
{
    CHECK(image_info(image).frame_count > 2);
    for (int32_t i = 0; i < image_info(image).frame_count; i++) {
        OWNED_IMAGE frame = NULL;
        CHECK_STATUS(sdd_image_frame(image, i, &frame), SDD_OK);
    }
}

static void ask_for_metadata(sdd_image *image)
{
    const void *data;
    size_t size;
    CHECK_STATUS(sdd_image_metadata(image, SDD_METADATA_EXIF, &data, &size), SDD_OK);
    CHECK(size > 100000);
}

static void look_at_pixels(sdd_image *image) { CHECK(sdd_image_pixels(image) != NULL); }

CASE(i13_held_memory_is_reported)
{
    const sdd_decode_options plain = SDD_DECODE_OPTIONS_INIT;
    kind kinds[6];
    size_t size, pixels;
    memset(kinds, 0, sizeof kinds);
    for (int i = 0; i < 6; i++) kinds[i].decode = plain;
    kinds[0] = (kind){ "pictures", noisy_png(200, 200, &size), size, plain, look_at_pixels };
    kinds[1] = (kind){ "pictures of 16 bits a channel", noisy_png(200, 200, &size), size, plain, NULL };
    kinds[1].decode.pixel_format = SDD_PIXEL_FORMAT_RGBA16;
    kinds[2] = (kind){ "animated pictures that are played", moving_png(100, 100, 5, &size), size, plain, play };
    kinds[3] = (kind){ "animated pictures", moving_png(100, 100, 5, &size), size, plain, NULL };
    uint8_t *file = noisy_png(64, 64, &pixels);
    kinds[4] = (kind){ "pictures with metadata", with_exif(file, pixels, 150000, &size), size, plain, ask_for_metadata };
    free(file);
    file = noisy_png(1, 1, &pixels);
    kinds[5] = (kind){ "pictures with more behind their end", padded(file, pixels, 2 << 20, &size), size, plain, NULL };
    free(file);
    for (int i = 0; i < 6; i++) {
        if (kinds[i].size == 0) FAIL("%s: no file", kinds[i].name);
        told_of(&kinds[i]);
        free(kinds[i].file);
    }
}

/* Stores images over the application's own pixels; no two share them. */
CASE(i13_pixels_of_the_application)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_memory_cost = -1;
    OWNED_CACHE c = open_cache(config);
    int count = scaled(ENOUGH / (256 * 256 * 4));
    uint8_t *pixels = malloc(256 * 256 * 4);
    memset(pixels, 77, 256 * 256 * 4);
    int64_t before = resident();
    for (int i = 0; i < count; i++) {
        OWNED_IMAGE image = NULL;
        CHECK_STATUS(sdd_image_create(256, 256, SDD_PIXEL_FORMAT_RGBA8, pixels, 256 * 4, &image), SDD_OK);
        sdd_cache_item item = item_of(key_number(i), image, NULL, SDD_CACHE_MEMORY);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    }
    check_told("the application's pixels", counts_of(c.cache).memory_cost, resident() - before);
    free(pixels);
}

/* Thumbnails that loads make of large files do not count the files. They come from a folder, so that they are not on
   the cache's disk. */
CASE(i13_thumbnails_of_large_files)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_memory_cost = -1;
    config_groups groups;
    sdd_downloader_config downloader = quick_retries(&groups);
    groups.network.allow_file_urls = 1;
    OWNED_LOADER l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &downloader, config);
    record r = RECORD_INIT;
    size_t size;
    uint8_t *file = noisy_png(300, 300, &size);
    char path[600];
    snprintf(path, sizeof path, "file://%s/large.png", new_folder());
    write_whole(path + strlen("file://"), file, size);
    free(file);
    sdd_decode_options decode = inside(100);
    int64_t before = 0, told = 0;
    int count = scaled(200);
    for (int i = 0; i < 10 + count; i++) {
        if (i == 10) {
            before = resident();
            told = counts_of(l.cache.cache).memory_cost;
        }
        char key[64];
        snprintf(key, sizeof key, "thumbnail-%d", i);
        sdd_load_request request = record_load(&r, path, 0);
        request.decode = &decode;
        request.cache_key = key;
        load_from(&l, &request, SDD_ORIGIN_NETWORK);
        CHECK(sdd_image_bytes(r.image) == NULL && r.bytes == NULL && sdd_image_width(r.image) == 100);
        record_clear(&r);
    }
    told = counts_of(l.cache.cache).memory_cost - told;
    CHECK_EQUAL(told, (int64_t)count * 100 * 100 * 4);
    /* Resident memory includes bodies and pixels that the library keeps for the next request, at most 36 MiB. */
    if (is_plain()) CHECK(resident() - before < told * 115 / 100 + (4 << 20));
}

/* The limit also counts what an image takes later: an animated one that plays evicts the others. */
CASE(i13_an_image_that_grows_evicts_others)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    size_t size;
    uint8_t *file = moving_png(100, 100, 8, &size);
    config.max_memory_cost = 6 * (100 * 100 * 4 + (int64_t)size);
    config.no_live_images = 1;
    OWNED_CACHE c = open_cache(config);
    sdd_image *last = NULL;
    for (int i = 0; i < 6; i++) {
        sdd_image_release(last);
        CHECK_STATUS(sdd_image_decode(file, size, NULL, &last), SDD_OK);
        sdd_cache_item item = item_of(key_number(i), last, NULL, SDD_CACHE_MEMORY);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    }
    CHECK_EQUAL(counts_of(c.cache).memory_count, 6);
    play(last);
    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.memory_count < 6 && counts.memory_count > 0 && counts.memory_evictions > 0);
    CHECK(counts.memory_cost <= config.max_memory_cost && counts.memory_cost > 100 * 100 * 4 * 4);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, key_number(5), SDD_CACHE_MEMORY), SDD_CACHE_MEMORY);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, key_number(0), SDD_CACHE_MEMORY), 0);
    sdd_image_release(last);
    free(file);
}

/* The memory level is for pictures, so entries of bytes alone are held only by the queue of writes. */
CASE(i13_bytes_alone_are_not_kept_in_memory)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_memory_cost = -1;
    OWNED_CACHE c = open_cache(config);
    size_t size = 256 << 10;
    uint8_t *body = malloc(size);
    memset(body, 0x5a, size);
    int count = scaled((int)(ENOUGH / size));
    int64_t before = resident();
    for (int i = 0; i < count; i++) {
        OWNED_BYTES bytes = sdd_bytes_create(body, size);
        sdd_cache_item item = item_of(key_number(i), NULL, bytes, SDD_CACHE_ALL);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    }
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.memory_cost == 0 && counts.queued_bytes == 0 && counts.disk_count == count);
    if (is_plain()) CHECK(resident() - before < ENOUGH * 15 / 100);
    free(body);
}

/* -------------------------------------------------------------------- pools, queues and budgets */

/* Every transfer belongs to the application, which sends a file on demand. */
typedef struct sender {
    uint8_t *file;
    size_t size;
    int count;
    sdd_transfer transfers[64];
    pthread_mutex_t lock;
    pthread_cond_t changed;
} sender;

static void note_transfer(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    sender *s = user_data;
    (void)request;
    pthread_mutex_lock(&s->lock);
    CHECK(s->count < 64);
    s->transfers[s->count++] = transfer;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void forget_transfer(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

/* Submits so many requests, whose results wait to be taken. */
static sdd_downloader *ask_sender(sender *s, int count, uint64_t options)
{
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    sdd_transport transport = SDD_TRANSPORT_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    config.max_concurrent_downloads = config.max_concurrent_per_host = 64;
    limits.decode_time_ms = -1;
    sdd_downloader *downloader = make_downloader(&config);
    transport.scheme = "given";
    transport.start = note_transfer;
    transport.cancel = forget_transfer;
    transport.user_data = s;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    for (int i = 0; i < count; i++) {
        char url[32];
        snprintf(url, sizeof url, "given:%d", i);
        CHECK(sdd_download(downloader, url, options, NULL, NULL, NULL) != 0);
    }
    pthread_mutex_lock(&s->lock);
    while (s->count < count) pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return downloader;
}

static sdd_statistics statistics_of(sdd_downloader *downloader)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    return statistics;
}

/* Takes all results and checks that nothing is held any more. */
static void take_all(sdd_downloader *downloader, int count)
{
    sdd_event event = { .struct_size = sizeof event };
    for (int taken = 0; taken < count;) {
        size_t one = 0;
        event.struct_size = sizeof event;
        CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, -1, &one), SDD_OK);
        if (one == 0 || event.kind != SDD_EVENT_COMPLETED) continue;
        CHECK_STATUS(event.result->failure.status, SDD_OK);
        taken++;
    }
    sdd_statistics s = statistics_of(downloader);
    CHECK(s.receiving_bytes == 0 && s.waiting_bytes == 0 && s.undelivered_bytes == 0);
    destroy(downloader);
}

/* Bodies are half received, and then wait as results; as bytes, and as pictures. */
CASE(i13_a_downloaders_memory_is_reported)
{
    for (int is_picture = 0; is_picture < 2; is_picture++) {
        sender s = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
        int side = scaled(700) < 70 ? 70 : scaled(700), count = 16;
        s.file = noisy_png(side, side, &s.size);
        sdd_downloader *downloader = ask_sender(&s, count, is_picture ? 0 : SDD_OPTION_BYTES_ONLY);
        int64_t before = resident();
        for (int i = 0; i < count; i++)
            CHECK_STATUS(sdd_transfer_write(s.transfers[i], s.file, s.size / 2), SDD_OK);
        while (statistics_of(downloader).receiving_bytes < (int64_t)(s.size / 2) * count) sched_yield();
        CHECK_EQUAL(statistics_of(downloader).receiving_bytes, (int64_t)(s.size / 2) * count);
        if (!is_picture) check_told("bodies that are arriving", statistics_of(downloader).receiving_bytes, resident() - before);
        for (int i = 0; i < count; i++) {
            CHECK_STATUS(sdd_transfer_write(s.transfers[i], s.file + s.size / 2, s.size - s.size / 2), SDD_OK);
            CHECK_STATUS(sdd_transfer_finish(s.transfers[i], SDD_OK, NULL), SDD_OK);
        }
        int64_t pixels = is_picture ? (int64_t)side * side * 4 : 0;
        while (statistics_of(downloader).undelivered_bytes < ((int64_t)s.size + pixels) * count) sched_yield();
        sdd_statistics statistics = statistics_of(downloader);
        CHECK_EQUAL(statistics.undelivered_bytes, ((int64_t)s.size + pixels) * count);
        CHECK_EQUAL(statistics.decode_memory_bytes, pixels * count);
        CHECK(statistics.receiving_bytes == 0 && statistics.waiting_bytes == 0);
        check_told(is_picture ? "pictures that nobody has taken" : "bodies that nobody has taken",
                   statistics.undelivered_bytes, resident() - before);
        take_all(downloader, count);
        free(s.file);
    }
}

int main(void) { return run_cases(); }

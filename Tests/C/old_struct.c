/* Checks that every layout that was ever released stays valid: programs compiled against an old header keep passing
 * these structs to the library. Compiled as C and as C++; entries in this file are added, never changed.
 *
 * The structs of each release are defined here and in layout_*.h under names of their own, with pointers as plain
 * words. The compiler compares them with today's header, and the program passes them to the library, each at the end of
 * readable memory, so that a byte read or written beyond struct_size ends the program. */
#define _GNU_SOURCE 1
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
#define ASSERT(name, condition) static_assert(condition, #name)
#elif __STDC_VERSION__ >= 201112L
#define ASSERT(name, condition) _Static_assert(condition, #name)
#else
#define ASSERT(name, condition) typedef char assert_##name[(condition) ? 1 : -1]
#endif

/* The field has the offset and the size that it had in that release. */
#define SAME(type, release, field) \
    ASSERT(type##_##release##_##field, \
           offsetof(type, field) == offsetof(struct type##_##release, field) \
               && sizeof(((type *)0)->field) == sizeof(((struct type##_##release *)0)->field))
/* The current struct is at least as large as that release's. */
#define GROWN(type, release) ASSERT(type##_##release##_grown, sizeof(type) >= sizeof(struct type##_##release))

/* ---- 0.3.0: the first release with a promised layout */

typedef void (*pointer_0)(void); /* as large as any pointer */

#include "layout_0_3_0.h"

/* These structs can never change: they have no struct_size. */
ASSERT(sdd_header_fixed, sizeof(sdd_header) == sizeof(struct sdd_header_0_3_0));
ASSERT(sdd_prefetch_outcome_fixed, sizeof(sdd_prefetch_outcome) == sizeof(struct sdd_prefetch_outcome_0_3_0));

/* ---- the same structs, passed to the library */

static void expect(int condition, const char *what, size_t size)
{
    if (condition)
        return;
    fprintf(stderr, "old_struct.c: %s, struct_size %zu\n", what, size);
    exit(1);
}

/* Returns `size` bytes of zeros with struct_size set, which end where readable memory ends. Only one block exists at a
   time. */
static void *at_the_edge(size_t size)
{
    static unsigned char *pages;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (pages == NULL) {
        void *mapped = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        expect(mapped != MAP_FAILED && mprotect((unsigned char *)mapped + page, page, PROT_NONE) == 0, "no memory", size);
        pages = (unsigned char *)mapped;
    }
    memset(pages, 0xa5, page);
    memset(pages + page - size, 0, size);
    memcpy(pages + page - size, &size, sizeof size);
    return pages + page - size;
}

static void config_is_accepted(size_t size)
{
    sdd_downloader *downloader = NULL;
    expect(sdd_downloader_create((const sdd_downloader_config *)at_the_edge(size), &downloader) == SDD_OK,
           "sdd_downloader_create() refuses an old config", size);
    expect(sdd_downloader_destroy(downloader) == SDD_OK, "no destroy", size);
}

static void config_is_refused(size_t size, size_t offset)
{
    sdd_downloader *downloader = NULL;
    unsigned char *config = (unsigned char *)at_the_edge(size);
    config[offset] = 1;
    expect(sdd_downloader_create((const sdd_downloader_config *)(void *)config, &downloader) == SDD_ERROR_UNSUPPORTED,
           "a field of a newer header is overlooked", size);
    expect(downloader == NULL, "an error gives a handle", size);
}

static int completions;

static void completed(const sdd_result *result, void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
    completions += result->error == SDD_ERROR_INVALID_URL;
    expect(result->struct_size >= sizeof(struct sdd_result_0_3_0), "a result smaller than it was", result->struct_size);
    expect(result->timings->struct_size >= sizeof(struct sdd_timings_0_3_0), "timings smaller than they were",
           result->timings->struct_size);
}

static void request_is_accepted(sdd_downloader *downloader, size_t size)
{
    struct sdd_download_request_0_3_0 *request = (struct sdd_download_request_0_3_0 *)at_the_edge(size);
    sdd_status status = SDD_ERROR_UNSUPPORTED;
    int before = completions;
    request->url = "";
    request->completed = completed;
    expect(sdd_downloader_submit(downloader, (const sdd_download_request *)(const void *)request, &status) != 0 && status == SDD_OK,
           "sdd_downloader_submit() refuses an old request", size);
    expect(sdd_downloader_idle_wait(downloader, 30000) == SDD_OK && completions == before + 1, "no completion", size);
}

static void events_are_filled(sdd_downloader *downloader, size_t size)
{
    enum { COUNT = 3 };
    unsigned char *events = (unsigned char *)at_the_edge(COUNT * size);
    size_t got = 0, count = 0;
    memcpy(events, &size, sizeof size);
    for (int i = 0; i < COUNT; i++)
        expect(sdd_download(downloader, "", 0, NULL, NULL, NULL) != 0, "no request without a callback", size);
    for (; got < COUNT; got += count) {
        unsigned char *free_ones = events + got * size;
        memcpy(free_ones, &size, sizeof size);
        expect(sdd_downloader_wait(downloader, (sdd_event *)(void *)free_ones, COUNT - got, 30000, &count) == SDD_OK && count > 0,
               "sdd_downloader_wait() refuses an old event", size);
        for (size_t i = 0; i < count; i++) {
            struct sdd_event_0_3_0 event;
            memcpy(&event, free_ones + i * size, sizeof event);
            expect(event.token != 0 && event.kind == SDD_EVENT_COMPLETED && event.error == SDD_ERROR_INVALID_URL
                       && event.result != NULL,
                   "an event is not where it should be", size);
        }
    }
}

/* ---- structs that the library fills, and structs that it reads */

/* A struct that the library fills: it fills as much as fits, keeps struct_size, and zeroes the fields that it does not
   know. */
typedef sdd_status (*fill_fn)(sdd_downloader *downloader, void *target);

static sdd_status fill_config(sdd_downloader *downloader, void *target)
{
    return sdd_downloader_get_config(downloader, (sdd_downloader_config *)target);
}

static sdd_status fill_statistics(sdd_downloader *downloader, void *target)
{
    return sdd_downloader_get_statistics(downloader, (sdd_statistics *)target);
}

static sdd_status fill_facts(sdd_downloader *downloader, void *target)
{
    /* A grey JPEG of 3 x 2, up to its frame header. */
    static const unsigned char jpeg[] = { 0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0 };
    (void)downloader;
    return sdd_image_probe(jpeg, sizeof jpeg, (sdd_image_facts *)target);
}

static sdd_image *small_image(void)
{
    /* A grey PNG of 1 x 1, white. */
    static const unsigned char png[] = {
        0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0,
        0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, 'I', 'D', 'A', 'T', 0x78, 0x9c, 0x63, 0xf8, 0x0f, 0x00, 0x01, 0x01,
        0x01, 0x00, 0xb1, 0x38, 0xf6, 0x14, 0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82
    };
    sdd_image *image = NULL;
    expect(sdd_image_decode(png, sizeof png, NULL, &image, NULL) == SDD_OK, "no picture", 0);
    return image;
}

static sdd_status fill_image_info(sdd_downloader *downloader, void *target)
{
    sdd_image *image = small_image();
    sdd_status status = sdd_image_get_info(image, (sdd_image_info *)target);
    (void)downloader;
    sdd_image_release(image);
    return status;
}

static sdd_image *image_with_text;

/* A PNG of one pixel, with the title "one". */
static void get_image_with_text(void)
{
    static const unsigned char png[] = {
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1,
        0, 0, 0, 1, 8, 0, 0, 0, 0, 58, 126, 155, 85, 0, 0, 0, 9, 116, 69, 88,
        116, 84, 105, 116, 108, 101, 0, 111, 110, 101, 179, 210, 190, 222, 0, 0, 0, 10, 73, 68,
        65, 84, 120, 156, 99, 104, 0, 0, 0, 130, 0, 129, 119, 205, 114, 182, 0, 0, 0, 0,
        73, 69, 78, 68, 174, 66, 96, 130 };
    expect(sdd_image_decode(png, sizeof png, NULL, &image_with_text, NULL) == SDD_OK, "no picture", 0);
}

static sdd_status fill_text(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_image_text_at(image_with_text, 0, (sdd_image_text *)target);
}

static sdd_status fill_facts_of_image(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_image_get_facts(image_with_text, (sdd_image_facts *)target);
}

static sdd_token waiting_request; /* a request of a suspended downloader */
static sdd_cookies *cookies;

static sdd_status fill_info(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_token_get_info(waiting_request, (sdd_token_info *)target);
}

static sdd_status fill_cookie(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_cookies_at(cookies, 0, (sdd_cookie *)target);
}

static void is_filled(sdd_downloader *downloader, fill_fn fill, size_t size, size_t known)
{
    unsigned char whole[4096], *target;
    size_t sizes[4], length;
    int i;
    memset(whole, 0, sizeof whole);
    memcpy(whole, &size, sizeof size);
    expect(fill(downloader, whole) == SDD_OK, "no struct of the size released is filled", size);
    sizes[0] = sizeof(size_t);
    sizes[1] = 2 * sizeof(size_t);
    sizes[2] = size;
    sizes[3] = known + 24;
    for (i = 0; i < 4; i++) {
        target = (unsigned char *)at_the_edge(sizes[i]);
        memset(target + sizeof(size_t), 0xa5, sizes[i] - sizeof(size_t));
        expect(fill(downloader, target) == SDD_OK, "a struct of another size is not filled", sizes[i]);
        memcpy(&length, target, sizeof length);
        expect(length == sizes[i], "struct_size is not kept", sizes[i]);
        if (sizes[i] <= size) {
            /* Elapsed times differ between calls, so only the first fields are compared. */
            length = sizes[i] < 24 ? sizes[i] : 24;
            expect(memcmp(target + sizeof(size_t), whole + sizeof(size_t), length - sizeof(size_t)) == 0,
                   "the fields are others", sizes[i]);
        } else {
            for (length = known; length < sizes[i]; length++)
                expect(target[length] == 0, "what is not known is not zero", sizes[i]);
        }
    }
    target = (unsigned char *)at_the_edge(sizeof(size_t));
    length = sizeof(size_t) - 1;
    memcpy(target, &length, sizeof length);
    expect(fill(downloader, target) == SDD_ERROR_INVALID_ARGUMENT, "a struct without struct_size is filled", length);
    target = (unsigned char *)at_the_edge(size);
    length = size - 4;
    memcpy(target, &length, sizeof length);
    expect(fill(downloader, target) == SDD_ERROR_INVALID_ARGUMENT, "a pointer is cut in two", length);
}

/* A struct that the library reads: it accepts shorter ones, and longer ones whose tail is zero. */
typedef sdd_status (*read_fn)(sdd_downloader *downloader, const void *source);

static sdd_status read_credential(sdd_downloader *downloader, const void *source)
{
    return sdd_downloader_set_credential(downloader, (const sdd_credential *)source);
}

static sdd_status read_modifiers(sdd_downloader *downloader, const void *source)
{
    return sdd_downloader_set_modifiers(downloader, (const sdd_modifiers *)source);
}

static sdd_status read_decode(sdd_downloader *downloader, const void *source)
{
    return sdd_downloader_set_decode_options(downloader, (const sdd_decode_options *)source);
}

static void *no_pixels(size_t size, size_t alignment, void *user_data) SDD_NOEXCEPT
{
    (void)size, (void)alignment, (void)user_data;
    return NULL;
}

static void never_released(void *pixels, size_t size, void *user_data) SDD_NOEXCEPT
{
    (void)pixels, (void)size, (void)user_data;
}

static sdd_status read_allocator(sdd_downloader *downloader, const void *source)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.allocator = (const sdd_pixel_allocator *)source;
    return sdd_downloader_set_decode_options(downloader, &options);
}

static sdd_status read_cookie(sdd_downloader *downloader, const void *source)
{
    return sdd_downloader_set_cookie(downloader, (const sdd_cookie *)source);
}

static sdd_status read_transport(sdd_downloader *downloader, const void *source)
{
    return sdd_downloader_add_transport(downloader, (const sdd_transport *)source, NULL);
}

static sdd_status read_encode(sdd_downloader *downloader, const void *source)
{
    static const unsigned char pixel[3] = { 1, 2, 3 };
    sdd_image *image = NULL;
    sdd_bytes *bytes = NULL;
    sdd_status status;
    (void)downloader;
    expect(sdd_image_create(1, 1, SDD_PIXEL_FORMAT_RGB8, pixel, 0, &image) == SDD_OK, "no image", 0);
    status = sdd_image_encode(image, (const sdd_encode_options *)source, &bytes);
    sdd_bytes_release(bytes);
    sdd_image_release(image);
    return status;
}

static sdd_status read_transform(sdd_downloader *downloader, const void *source)
{
    char key[32];
    (void)downloader;
    return sdd_transform_key((const sdd_transform *)source, 1, key, sizeof key, NULL);
}

/* Passes two records in a row, the second at the end of readable memory; their distance is the struct_size of the
   first. */
static void transforms_are_read(size_t size)
{
    unsigned char *records = (unsigned char *)at_the_edge(2 * size);
    sdd_transform flip = SDD_TRANSFORM_INIT;
    char key[64];
    flip.struct_size = size;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    memcpy(records, &flip, size < sizeof flip ? size : sizeof flip);
    memcpy(records + size, &flip, size < sizeof flip ? size : sizeof flip);
    expect(sdd_transform_key((const sdd_transform *)(const void *)records, 2, key, sizeof key, NULL) == SDD_OK
               && strcmp(key, "flip(vertical)-flip(vertical)") == 0,
           "an array of another size is not read", size);
}

/* The cache has memory alone: with the shortest struct it would be the user's own cache on disk. */
static sdd_cache *cache;

static sdd_status read_cache_config(sdd_downloader *downloader, const void *source)
{
    sdd_cache *made = NULL;
    sdd_status status = sdd_cache_create((const sdd_cache_config *)source, &made, NULL);
    (void)downloader;
    expect((made != NULL) == (status == SDD_OK), "a cache with an error, or none without", 0);
    if (made) expect(sdd_cache_destroy(made) == SDD_OK, "no destroy", 0);
    return status;
}

static sdd_status read_cache_item(sdd_downloader *downloader, const void *source)
{
    (void)downloader;
    return sdd_cache_put_wait(cache, (const sdd_cache_item *)source, NULL);
}

static sdd_status read_cache_query(sdd_downloader *downloader, const void *source)
{
    (void)downloader;
    return sdd_cache_query_wait(cache, (const sdd_cache_query_options *)source, NULL, NULL, NULL, NULL);
}

static sdd_status fill_cache_statistics(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_cache_get_statistics_wait(cache, (sdd_cache_statistics *)target);
}

static sdd_status read_coder(sdd_downloader *downloader, const void *source)
{
    return sdd_downloader_add_coder(downloader, (const sdd_coder *)source, NULL);
}

static sdd_status read_coder_of_process(sdd_downloader *downloader, const void *source)
{
    sdd_status status = sdd_process_add_coder((const sdd_coder *)source, NULL);
    (void)downloader;
    if (status == SDD_OK) expect(sdd_process_remove_coder("old") == SDD_OK, "no such coder", 0);
    return status;
}

/* The first `size` bytes of `given` are enough; `known` is the current size. */
static void is_read(sdd_downloader *downloader, read_fn give, const void *given, size_t size, size_t known)
{
    size_t longer = known + 24, i;
    unsigned char *source = NULL;
    size = (size + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t); /* as C rounds the size of a struct */
    for (i = 0; i < 2; i++) {
        size_t made = i == 0 ? size : longer;
        source = (unsigned char *)at_the_edge(made);
        memcpy(source + sizeof(size_t), (const unsigned char *)given + sizeof(size_t), size - sizeof(size_t));
        expect(give(downloader, source) == SDD_OK, "a struct of another size is refused", made);
    }
    source[known + 23] = 1;
    expect(give(downloader, source) == SDD_ERROR_UNSUPPORTED, "a field of a newer header is overlooked", longer);
    source = (unsigned char *)at_the_edge(sizeof(size_t));
    longer = sizeof(size_t) - 1;
    memcpy(source, &longer, sizeof longer);
    expect(give(downloader, source) == SDD_ERROR_INVALID_ARGUMENT, "a struct without struct_size is read", longer);
    source = (unsigned char *)at_the_edge(size + sizeof(size_t));
    longer = size + 4;
    memcpy(source, &longer, sizeof longer);
    expect(give(downloader, source) == SDD_ERROR_INVALID_ARGUMENT, "a field is cut in two", longer);
}

static void structs_of_caches_of_0_3_0(sdd_downloader *downloader)
{
    static const unsigned char pixel[4] = { 1, 2, 3, 255 };
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    config.levels = SDD_CACHE_MEMORY;
    item.key = query.key = "old";
    expect(sdd_image_create(1, 1, SDD_PIXEL_FORMAT_RGBA8, pixel, 0, &item.image) == SDD_OK, "no image", 0);
    expect(sdd_cache_create(&config, &cache, NULL) == SDD_OK, "no cache", 0);
    is_read(downloader, read_cache_config, &config, sizeof(struct sdd_cache_config_0_3_0), sizeof config);
    is_read(downloader, read_cache_config, &config, offsetof(sdd_cache_config, no_live_images), sizeof config);
    is_read(downloader, read_cache_item, &item, sizeof(struct sdd_cache_item_0_3_0), sizeof item);
    is_read(downloader, read_cache_item, &item, offsetof(sdd_cache_item, bytes), sizeof item);
    is_read(downloader, read_cache_query, &query, sizeof(struct sdd_query_0_3_0), sizeof query);
    is_read(downloader, read_cache_query, &query, offsetof(sdd_cache_query_options, levels), sizeof query);
    is_filled(downloader, fill_cache_statistics, sizeof(struct sdd_cache_statistics_0_3_0),
              sizeof(sdd_cache_statistics));
    sdd_image_release(item.image);
    expect(sdd_cache_destroy(cache) == SDD_OK, "no destroy", 0);
}

/* A load without a URL ends at once. The library owns the result, which has the current size. */
static void loaded(const sdd_result *result, void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
    expect(result->error == SDD_ERROR_INVALID_URL && result->source_count == 0, "another end", 0);
}

static sdd_loader *loader;

static sdd_status read_loader_config(sdd_downloader *downloader, const void *source)
{
    sdd_loader *made = NULL;
    sdd_status status = sdd_loader_create((const sdd_loader_config *)source, &made);
    (void)downloader;
    expect((made != NULL) == (status == SDD_OK), "a loader with an error, or none without", 0);
    if (made) expect(sdd_loader_destroy(made) == SDD_OK, "no destroy", 0);
    return status;
}

static sdd_status read_image_request(sdd_downloader *downloader, const void *source)
{
    sdd_status status = SDD_OK;
    size_t count = 0;
    if (sdd_loader_submit(loader, (const sdd_load_request *)source, &status) == 0) return status;
    while (count == 0) expect(sdd_downloader_wait(downloader, NULL, 0, 30000, &count) == SDD_OK, "no end", 0);
    return status;
}

/* Passes the download request inside a load request. */
static sdd_status read_download_of_load(sdd_downloader *downloader, const void *source)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.completed = loaded;
    request.download = (const sdd_download_request *)source;
    return read_image_request(downloader, &request);
}

static void structs_of_loads_of_0_3_0(sdd_downloader *downloader)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_download_request download = SDD_DOWNLOAD_REQUEST_INIT;
    config.downloader = downloader;
    config.no_cache = 1;
    request.completed = loaded;
    expect(sdd_loader_create(&config, &loader) == SDD_OK, "no loader", 0);
    is_read(downloader, read_loader_config, &config, sizeof(struct sdd_loader_config_0_3_0), sizeof config);
    is_read(downloader, read_loader_config, &config, offsetof(sdd_loader_config, should_download), sizeof config);
    is_read(downloader, read_image_request, &request, sizeof(struct sdd_load_request_0_3_0), sizeof request);
    is_read(downloader, read_image_request, &request, offsetof(sdd_load_request, user_data), sizeof request);
    is_read(downloader, read_download_of_load, &download, sizeof(struct sdd_download_request_0_3_0), sizeof download);
    is_read(downloader, read_download_of_load, &download, offsetof(sdd_download_request, options), sizeof download);
    expect(sdd_loader_destroy(loader) == SDD_OK, "no destroy", 0);
}

static sdd_batch *batch;

static sdd_status read_batch_config(sdd_downloader *downloader, const void *source)
{
    sdd_batch *made = NULL;
    sdd_status status = sdd_batch_create((const sdd_batch_config *)source, &made);
    (void)downloader;
    expect((made != NULL) == (status == SDD_OK), "a batch with an error, or none without", 0);
    if (made) expect(sdd_batch_destroy(made) == SDD_OK, "no destroy", 0);
    return status;
}

static sdd_status read_tensor(sdd_downloader *downloader, const void *source)
{
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    config.tensor = (const sdd_tensor *)source;
    return read_batch_config(downloader, &config);
}

static sdd_status fill_batch_statistics(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_batch_get_statistics(batch, (sdd_batch_statistics *)target);
}

static sdd_status fill_batch_status(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_batch_get_status(batch, 0, (sdd_batch_status *)target);
}

static sdd_status fill_batch_host(sdd_downloader *downloader, void *target)
{
    (void)downloader;
    return sdd_batch_get_host(batch, 0, (sdd_batch_host *)target);
}

/* Passes two records in a row, the second at the end of readable memory. */
static void batch_items_are_filled(size_t size)
{
    unsigned char *records = (unsigned char *)at_the_edge(2 * size);
    size_t count = 0;
    int32_t error = 0;
    memcpy(records, &size, sizeof size);
    expect(sdd_batch_wait(batch, (sdd_batch_item *)(void *)records, 2, -1, &count) == SDD_OK && count == 2,
           "items of another size are not filled", size);
    memcpy(&error, records + size + offsetof(struct sdd_batch_item_0_3_0, error), sizeof error);
    expect(error == SDD_ERROR_INVALID_URL, "the second item is at another place", size);
}

static void structs_of_batches_of_0_3_0(sdd_downloader *downloader)
{
    static const char *const urls[] = { NULL, NULL, NULL, NULL };
    static unsigned char pixels[3];
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_tensor tensor = SDD_TENSOR_INIT;
    config.downloader = downloader;
    config.urls = urls;
    config.count = 4;
    tensor.pixels = pixels;
    tensor.slot_count = 1;
    tensor.width = tensor.height = 1;
    expect(sdd_batch_create(&config, &batch) == SDD_OK, "no batch", 0);
    is_read(downloader, read_batch_config, &config, sizeof(struct sdd_batch_config_0_3_0), sizeof config);
    is_read(downloader, read_batch_config, &config, offsetof(sdd_batch_config, next), sizeof config);
    is_read(downloader, read_tensor, &tensor, sizeof(struct sdd_tensor_0_3_0), sizeof tensor);
    is_read(downloader, read_tensor, &tensor, offsetof(sdd_tensor, pixel_format), sizeof tensor);
    is_filled(downloader, fill_batch_statistics, sizeof(struct sdd_batch_statistics_0_3_0),
              sizeof(sdd_batch_statistics));
    is_filled(downloader, fill_batch_status, sizeof(struct sdd_batch_status_0_3_0), sizeof(sdd_batch_status));
    is_filled(downloader, fill_batch_host, sizeof(struct sdd_batch_host_0_3_0), sizeof(sdd_batch_host));
    batch_items_are_filled(sizeof(struct sdd_batch_item_0_3_0));
    batch_items_are_filled(sizeof(sdd_batch_item) + 8);
    expect(sdd_batch_destroy(batch) == SDD_OK, "no destroy", 0);
}

static void no_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data) SDD_NOEXCEPT
{
    (void)transfer, (void)request, (void)user_data;
}

static void no_cancel(sdd_transfer transfer, void *user_data) SDD_NOEXCEPT
{
    (void)transfer, (void)user_data;
}

static int32_t never_takes(const void *bytes, size_t size, void *user_data) SDD_NOEXCEPT
{
    (void)bytes, (void)size, (void)user_data;
    return 0;
}

static sdd_status no_open(const sdd_coder_task *task, void **decoder, void *user_data) SDD_NOEXCEPT
{
    (void)task, (void)decoder, (void)user_data;
    return SDD_ERROR_UNSUPPORTED;
}

static sdd_status no_feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data) SDD_NOEXCEPT
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    return SDD_ERROR_UNSUPPORTED;
}

static sdd_status no_next(void *decoder, sdd_coder_frame *frame, void *user_data) SDD_NOEXCEPT
{
    (void)decoder, (void)frame, (void)user_data;
    return SDD_ERROR_UNSUPPORTED;
}

static void no_close(void *decoder, void *user_data) SDD_NOEXCEPT
{
    (void)decoder, (void)user_data;
}

static void structs_of_0_3_0(sdd_downloader *downloader)
{
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_pixel_allocator allocator = SDD_PIXEL_ALLOCATOR_INIT;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_encode_options encode = SDD_ENCODE_OPTIONS_INIT;
    sdd_transform transform = SDD_TRANSFORM_INIT;
    transform.kind = SDD_TRANSFORM_RESIZE;
    transform.width = 9;
    sdd_coder coder = SDD_CODER_INIT;
    credential.username = "user";
    credential.password = "secret";
    cookie.name = "name";
    cookie.value = "value";
    cookie.domain = "example.org";
    transport.scheme = "archive";
    transport.start = no_start;
    transport.cancel = no_cancel;
    allocator.allocate = no_pixels;
    allocator.release = never_released;
    coder.name = "old";
    coder.format = SDD_IMAGE_FORMAT_APPLICATION;
    coder.can_decode = never_takes;
    coder.open = no_open;
    coder.feed = no_feed;
    coder.next = no_next;
    coder.close = no_close;
    /* Each struct is passed as released, and with the fewest fields that make sense: a later release may not require
       more. */
    is_read(downloader, read_credential, &credential, sizeof(struct sdd_credential_0_3_0), sizeof credential);
    is_read(downloader, read_credential, &credential, offsetof(sdd_credential, schemes), sizeof credential);
    is_read(downloader, read_decode, &decode, sizeof(struct sdd_decode_options_0_3_0), sizeof decode);
    is_read(downloader, read_decode, &decode, offsetof(sdd_decode_options, background), sizeof decode);
    is_read(downloader, read_allocator, &allocator, sizeof(struct sdd_pixel_allocator_0_3_0), sizeof allocator);
    is_read(downloader, read_allocator, &allocator, offsetof(sdd_pixel_allocator, user_data), sizeof allocator);
    is_read(downloader, read_modifiers, &modifiers, sizeof(struct sdd_modifiers_0_3_0), sizeof modifiers);
    is_read(downloader, read_cookie, &cookie, sizeof(struct sdd_cookie_0_3_0), sizeof cookie);
    is_read(downloader, read_cookie, &cookie, offsetof(sdd_cookie, path), sizeof cookie);
    is_read(downloader, read_transport, &transport, sizeof(struct sdd_transport_0_3_0), sizeof transport);
    is_read(downloader, read_transport, &transport, offsetof(sdd_transport, set_priority), sizeof transport);
    is_read(downloader, read_encode, &encode, sizeof(struct sdd_encode_options_0_3_0), sizeof encode);
    is_read(downloader, read_encode, &encode, offsetof(sdd_encode_options, quality), sizeof encode);
    is_read(downloader, read_transform, &transform, sizeof(struct sdd_transform_0_3_0), sizeof transform);
    is_read(downloader, read_transform, &transform, offsetof(sdd_transform, flip), sizeof transform);
    transforms_are_read(sizeof(struct sdd_transform_0_3_0));
    transforms_are_read(offsetof(sdd_transform, degrees) + 4);
    transforms_are_read(sizeof transform + 24);
    is_read(downloader, read_coder, &coder, sizeof(struct sdd_coder_0_3_0), sizeof coder);
    is_read(downloader, read_coder, &coder, offsetof(sdd_coder, encode), sizeof coder);
    is_read(downloader, read_coder_of_process, &coder, offsetof(sdd_coder, encode), sizeof coder);

    expect(sdd_downloader_get_cookies(downloader, &cookies) == SDD_OK && sdd_cookies_count(cookies) == 1, "no cookie", 0);
    expect(sdd_downloader_suspend(downloader) == SDD_OK, "no suspend", 0);
    waiting_request = sdd_download(downloader, "http://127.0.0.1:1/", 0, NULL, NULL, NULL);
    is_filled(downloader, fill_config, sizeof(struct sdd_downloader_config_0_3_0), sizeof(sdd_downloader_config));
    is_filled(downloader, fill_statistics, sizeof(struct sdd_statistics_0_3_0), sizeof(sdd_statistics));
    is_filled(downloader, fill_facts, sizeof(struct sdd_image_facts_0_3_0), sizeof(sdd_image_facts));
    is_filled(downloader, fill_image_info, sizeof(struct sdd_image_info_0_3_0), sizeof(sdd_image_info));
    get_image_with_text();
    is_filled(downloader, fill_facts_of_image, sizeof(struct sdd_image_facts_0_3_0), sizeof(sdd_image_facts));
    is_filled(downloader, fill_text, sizeof(struct sdd_image_text_0_3_0), sizeof(sdd_image_text));
    sdd_image_release(image_with_text);
    is_filled(downloader, fill_info, sizeof(struct sdd_token_info_0_3_0), sizeof(sdd_token_info));
    is_filled(downloader, fill_cookie, sizeof(struct sdd_cookie_0_3_0), sizeof(sdd_cookie));
    sdd_cookies_release(cookies);
    expect(sdd_cancel(waiting_request) == SDD_OK && sdd_downloader_resume(downloader) == SDD_OK, "no cancel", 0);
    expect(sdd_downloader_idle_wait(downloader, 30000) == SDD_OK, "no end", 0);
}

/* A notice is delivered even into a record of 0.1.0, which has no field for it. */
static void noticed(const sdd_notice *notice, void *user_data) SDD_NOEXCEPT
{
    (void)notice, (void)user_data;
}

static void notices_in_old_events(sdd_downloader *downloader)
{
    size_t size = sizeof(struct sdd_event_0_3_0), count = 0;
    int kinds[8] = {0}, i;
    expect(sdd_downloader_set_observer(downloader, noticed, &kinds, NULL) == SDD_OK, "no observer", 0);
    expect(sdd_download(downloader, "http://127.0.0.1:1/", 0, NULL, NULL, NULL) != 0, "no request", 0);
    while (kinds[SDD_EVENT_COMPLETED] == 0) {
        struct sdd_event_0_3_0 event;
        void *place = at_the_edge(size);
        expect(sdd_downloader_wait(downloader, (sdd_event *)place, 1, 30000, &count) == SDD_OK && count == 1, "no event", size);
        memcpy(&event, place, sizeof event);
        expect(event.kind > 0 && event.kind < 8 && event.token != 0, "no kind", size);
        if (event.kind >= SDD_EVENT_START) expect(event.user_data == kinds && event.result == NULL, "a notice", size);
        kinds[event.kind]++;
    }
    expect(sdd_downloader_set_observer(downloader, NULL, NULL, NULL) == SDD_OK, "no end of observing", 0);
    for (i = SDD_EVENT_START; i <= SDD_EVENT_STOP; i++)
        expect(kinds[i] == (i == SDD_EVENT_START || i == SDD_EVENT_STOP), "another number of notices", size);
}

int main(void)
{
    /* Passed as released, as short as possible, and from a newer header whose extra fields are zero. */
    config_is_accepted(sizeof(struct sdd_downloader_config_0_3_0));
    config_is_accepted(sizeof(size_t));
    config_is_accepted(offsetof(struct sdd_downloader_config_0_3_0, ageing_ms));
    config_is_accepted(sizeof(sdd_downloader_config) + 40);
    config_is_refused(sizeof(sdd_downloader_config) + 40, sizeof(sdd_downloader_config));
    config_is_refused(sizeof(sdd_downloader_config) + 40, sizeof(sdd_downloader_config) + 39);

    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    config.delivery = SDD_DELIVERY_APPLICATION;
    expect(sdd_downloader_create(&config, &downloader) == SDD_OK, "no downloader", 0);
    request_is_accepted(downloader, sizeof(struct sdd_download_request_0_3_0));
    request_is_accepted(downloader, offsetof(struct sdd_download_request_0_3_0, user_data));
    request_is_accepted(downloader, offsetof(sdd_download_request, max_attempts));
    request_is_accepted(downloader, sizeof(sdd_download_request) + 8);
    events_are_filled(downloader, sizeof(struct sdd_event_0_3_0));
    events_are_filled(downloader, sizeof(sdd_event) + 16);
    notices_in_old_events(downloader);
    structs_of_0_3_0(downloader);
    structs_of_caches_of_0_3_0(downloader);
    structs_of_loads_of_0_3_0(downloader);
    structs_of_batches_of_0_3_0(downloader);
    expect(sdd_downloader_destroy(downloader) == SDD_OK, "no destroy", 0);
    puts("ok old_struct.c");
    return 0;
}

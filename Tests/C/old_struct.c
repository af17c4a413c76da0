/* Checks that programs of older and newer headers can use the library: every struct that an application declares, those
 * with an initialiser SDD_..._INIT, is passed at each size that a header may have given it. Each ends where readable
 * memory ends, so that a byte read or written beyond struct_size ends the program. Compiled as C and as C++.
 *
 * That fields never move is checked by Tests/abi/check-abi.sh. */
#define _GNU_SOURCE 1
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sdd_downloader *downloader; /* the program takes its events */
static sdd_cache *cache;           /* in memory alone */
static sdd_loader *loader;
static sdd_batch *batch;
static sdd_image *image;
static sdd_cookies *cookies;
static sdd_token waiting_request;
static const char *what; /* the struct under test */

static void expect(int condition, const char *message, size_t size)
{
    if (condition)
        return;
    fprintf(stderr, "old_struct.c: %s: %s, size %zu: %s\n", what, message, size, sdd_last_error_message());
    exit(1);
}

static void expect_ok(sdd_status status, const char *call)
{
    expect(status == SDD_OK, call, 0);
}
#define OK(call) expect_ok(call, #call)

/* Returns `size` zero bytes with struct_size set, which end where readable memory ends. Only one block exists at a
   time. */
static unsigned char *at_the_edge(size_t size)
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

/* ------------------------------------------------------------------- structs that the library reads */

typedef sdd_status (*read_fn)(const void *source);

/* Defines read_NAME, which passes `given` to the library. */
#define READER(type, ...) \
    static sdd_status read_##type(const void *source) \
    { \
        const type *given = (const type *)source; \
        __VA_ARGS__ \
    }

/* Passes `given` at each size from `least`, the fewest fields that make sense, to `known`, and beyond. */
static void is_read(read_fn give, const void *given, size_t least, size_t known)
{
    static const size_t wrong[] = { sizeof(size_t) - 1, sizeof(size_t) + 4 };
    size_t size, i, longer = known + 24;
    unsigned char *source;
    for (size = (least + sizeof(size_t) - 1) / sizeof(size_t) * sizeof(size_t); size <= known; size += sizeof(size_t)) {
        source = at_the_edge(size);
        memcpy(source + sizeof(size_t), (const unsigned char *)given + sizeof(size_t), size - sizeof(size_t));
        expect(give(source) == SDD_OK, "the struct of an older header is refused", size);
    }
    for (i = 0; i < 3; i++) {
        source = at_the_edge(longer);
        memcpy(source + sizeof(size_t), (const unsigned char *)given + sizeof(size_t), known - sizeof(size_t));
        if (i > 0) source[i == 1 ? known : longer - 1] = 1;
        expect(give(source) == (i == 0 ? SDD_OK : SDD_ERROR_UNSUPPORTED),
               i == 0 ? "the struct of a newer header is refused" : "a field of a newer header is overlooked", longer);
    }
    for (i = 0; i < 2; i++) {
        source = at_the_edge(2 * sizeof(size_t));
        memcpy(source, &wrong[i], sizeof wrong[i]);
        expect(give(source) == SDD_ERROR_INVALID_ARGUMENT, "a size that no header has is accepted", wrong[i]);
    }
}
#define IS_READ(type, given, least) (what = #type, is_read(read_##type, &(given), least, sizeof(type)))

READER(sdd_downloader_config, {
    sdd_downloader *made = NULL;
    sdd_status status = sdd_downloader_create(given, &made);
    expect((made != NULL) == (status == SDD_OK), "a downloader with an error, or none without", 0);
    if (made) OK(sdd_downloader_destroy(made));
    return status;
})

#define GROUP_READER(type, group) \
    READER(type, { \
        sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT; \
        config.group = given; \
        return read_sdd_downloader_config(&config); \
    })
GROUP_READER(sdd_callback_options, callbacks)
GROUP_READER(sdd_network_options, network)
GROUP_READER(sdd_limits, limits)
GROUP_READER(sdd_retry_options, retry)
READER(sdd_credential, return sdd_downloader_set_credential(downloader, given);)
READER(sdd_modifiers, return sdd_downloader_set_modifiers(downloader, given);)
READER(sdd_decode_options, return sdd_downloader_set_decode_options(downloader, given);)
READER(sdd_cookie, return sdd_downloader_set_cookie(downloader, given);)
READER(sdd_transport, return sdd_downloader_add_transport(downloader, given);)
READER(sdd_cache_item, return sdd_cache_put_wait(cache, given);)
READER(sdd_cache_query_options, return sdd_cache_query_wait(cache, given, NULL);)

READER(sdd_transform, {
    char key[32];
    return sdd_transform_key(given, 1, key, sizeof key, NULL);
})

READER(sdd_pixel_allocator, {
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.allocator = given;
    return sdd_downloader_set_decode_options(downloader, &options);
})

READER(sdd_encode_options, {
    sdd_bytes *bytes = NULL;
    sdd_status status = sdd_image_encode(image, given, &bytes);
    sdd_bytes_release(bytes);
    return status;
})

READER(sdd_coder, {
    sdd_status status = sdd_process_add_coder(given);
    if (status == SDD_OK) OK(sdd_process_remove_coder("old"));
    expect(sdd_downloader_add_coder(downloader, given) == status, "another status from the downloader", 0);
    return status;
})

READER(sdd_cache_config, {
    sdd_cache *made = NULL;
    sdd_status status = sdd_cache_create(given, &made);
    expect((made != NULL) == (status == SDD_OK), "a cache with an error, or none without", 0);
    if (made) OK(sdd_cache_destroy(made));
    return status;
})

READER(sdd_memory_store, {
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.levels = SDD_CACHE_MEMORY;
    config.memory_store = given;
    return read_sdd_cache_config(&config);
})

/* A directory that cannot be used shows that the struct has been accepted, and leaves nothing on the disk. */
READER(sdd_entry_store, {
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_status status;
    config.directory = "/dev/null";
    config.entry_store = given;
    status = read_sdd_cache_config(&config);
    return status == SDD_ERROR_CACHE ? SDD_OK : status;
})

READER(sdd_loader_config, {
    sdd_loader *made = NULL;
    sdd_status status = sdd_loader_create(given, &made);
    expect((made != NULL) == (status == SDD_OK), "a loader with an error, or none without", 0);
    if (made) OK(sdd_loader_destroy(made));
    return status;
})

READER(sdd_batch_config, {
    sdd_batch *made = NULL;
    sdd_status status = sdd_batch_create(given, &made);
    expect((made != NULL) == (status == SDD_OK), "a batch with an error, or none without", 0);
    if (made) OK(sdd_batch_destroy(made));
    return status;
})

READER(sdd_tensor, {
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    config.downloader = downloader;
    config.tensor = given;
    return read_sdd_batch_config(&config);
})

/* Requests have no URL, and end at once. */
static int completions;

static void completed(const sdd_result *result, void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
    completions += result->failure.status == SDD_ERROR_INVALID_URL;
    expect(result->struct_size == sizeof *result && result->metrics->struct_size == sizeof *result->metrics,
           "a result of another size", result->struct_size);
}

/* Waits for the end of a request, which calls `completed` if the library has seen it. */
static sdd_status ended(sdd_token token, int has_completed)
{
    int before = completions;
    if (token == 0) return sdd_last_error(NULL);
    OK(sdd_downloader_idle_wait(downloader, 30000));
    expect(completions == before + has_completed, "another number of callbacks", 0);
    return SDD_OK;
}
#define HAS_COMPLETED(type) (given->struct_size > offsetof(type, completed) && given->completed != NULL)

READER(sdd_download_request,
       return ended(sdd_downloader_submit(downloader, given), HAS_COMPLETED(sdd_download_request));)
READER(sdd_load_request, return ended(sdd_loader_submit(loader, given), HAS_COMPLETED(sdd_load_request));)
READER(sdd_prefetch_list, return ended(sdd_prefetch(loader, given), 0);)
READER(sdd_transfer_options, {
    sdd_load_request load = SDD_LOAD_REQUEST_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    load.transfer = request.transfer = given;
    load.completed = request.completed = completed;
    expect(read_sdd_load_request(&load) == read_sdd_download_request(&request), "a load is refused, or a download", 0);
    return read_sdd_download_request(&request);
})

/* Functions that vtables require. Nothing calls them. */
static void *no_pixels(size_t size, size_t alignment, void *user_data) SDD_NOEXCEPT
{
    (void)size, (void)alignment, (void)user_data;
    return NULL;
}

static void no_release(void *pixels, size_t size, void *user_data) SDD_NOEXCEPT
{
    (void)pixels, (void)size, (void)user_data;
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

static sdd_image *no_image(const char *key, void *user_data) SDD_NOEXCEPT
{
    (void)key, (void)user_data;
    return NULL;
}

static void no_put(const char *key, sdd_image *one, int64_t cost, void *user_data) SDD_NOEXCEPT
{
    (void)key, (void)one, (void)cost, (void)user_data;
}

static void no_remove(const char *key, void *user_data) SDD_NOEXCEPT
{
    (void)key, (void)user_data;
}

static void no_clear(void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
}

static sdd_status no_entry(const char *key, sdd_bytes **body, sdd_bytes **extra, void *user_data) SDD_NOEXCEPT
{
    (void)key, (void)body, (void)extra, (void)user_data;
    return SDD_ERROR_NOT_FOUND;
}

static sdd_status no_put_entry(const char *key, const void *body, size_t body_size, const void *extra, size_t extra_size,
                               void *user_data) SDD_NOEXCEPT
{
    (void)key, (void)body, (void)body_size, (void)extra, (void)extra_size, (void)user_data;
    return SDD_OK;
}

static sdd_status no_remove_entry(const char *key, void *user_data) SDD_NOEXCEPT
{
    (void)key, (void)user_data;
    return SDD_OK;
}

static sdd_status no_clear_entries(void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
    return SDD_OK;
}

/* Structs of which any part makes sense. */
static void plain_structs_are_read(void)
{
    const size_t least = sizeof(size_t);
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_encode_options encode = SDD_ENCODE_OPTIONS_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request download = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_load_request load = SDD_LOAD_REQUEST_INIT;
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    download.completed = load.completed = completed;
    IS_READ(sdd_downloader_config, config, least);
    IS_READ(sdd_callback_options, callbacks, least);
    IS_READ(sdd_network_options, network, least);
    IS_READ(sdd_limits, limits, least);
    IS_READ(sdd_retry_options, retry, least);
    IS_READ(sdd_modifiers, modifiers, least);
    IS_READ(sdd_decode_options, decode, least);
    IS_READ(sdd_encode_options, encode, least);
    IS_READ(sdd_transfer_options, transfer, least);
    IS_READ(sdd_download_request, download, least);
    IS_READ(sdd_load_request, load, least);
    IS_READ(sdd_prefetch_list, list, least);
}

/* Structs with required fields. A later release may not require more. */
static void structs_of_a_downloader_are_read(void)
{
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    sdd_pixel_allocator allocator = SDD_PIXEL_ALLOCATOR_INIT;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_transform transform = SDD_TRANSFORM_INIT;
    sdd_coder coder = SDD_CODER_INIT;
    credential.username = "user";
    credential.password = "secret";
    allocator.allocate = no_pixels;
    allocator.release = no_release;
    cookie.name = "name";
    cookie.value = "value";
    cookie.domain = "example.org";
    transport.scheme = "archive";
    transport.start = no_start;
    transport.cancel = no_cancel;
    transform.kind = SDD_TRANSFORM_RESIZE;
    transform.width = 9;
    coder.name = "old";
    coder.format = SDD_IMAGE_FORMAT_APPLICATION;
    coder.can_decode = never_takes;
    coder.open = no_open;
    coder.feed = no_feed;
    coder.next = no_next;
    coder.close = no_close;
    IS_READ(sdd_credential, credential, offsetof(sdd_credential, schemes));
    IS_READ(sdd_pixel_allocator, allocator, offsetof(sdd_pixel_allocator, user_data));
    IS_READ(sdd_cookie, cookie, offsetof(sdd_cookie, path));
    IS_READ(sdd_transport, transport, offsetof(sdd_transport, set_priority));
    IS_READ(sdd_transform, transform, offsetof(sdd_transform, flip));
    IS_READ(sdd_coder, coder, offsetof(sdd_coder, encode));
}

static void other_structs_are_read(void)
{
    static const char *const urls[] = { NULL, NULL };
    static unsigned char pixels[6];
    sdd_cache_config in_memory = SDD_CACHE_CONFIG_INIT;
    sdd_memory_store memory = SDD_MEMORY_STORE_INIT;
    sdd_entry_store entries = SDD_ENTRY_STORE_INIT;
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    sdd_batch_config many = SDD_BATCH_CONFIG_INIT;
    sdd_tensor tensor = SDD_TENSOR_INIT;
    in_memory.levels = SDD_CACHE_MEMORY; /* else it would be the user's own cache on disk */
    memory.get = no_image;
    memory.put = no_put;
    memory.remove = no_remove;
    memory.clear = no_clear;
    entries.get = no_entry;
    entries.put = no_put_entry;
    entries.remove = no_remove_entry;
    entries.clear = no_clear_entries;
    item.key = query.key = "old";
    item.image = image;
    loading.downloader = many.downloader = downloader;
    loading.no_cache = 1;
    many.urls = urls;
    many.count = 2;
    tensor.pixels = pixels;
    tensor.slot_count = 2;
    tensor.width = tensor.height = 1;
    IS_READ(sdd_cache_config, in_memory, offsetof(sdd_cache_config, no_live_images));
    IS_READ(sdd_memory_store, memory, offsetof(sdd_memory_store, trim));
    IS_READ(sdd_entry_store, entries, offsetof(sdd_entry_store, trim));
    IS_READ(sdd_cache_item, item, offsetof(sdd_cache_item, bytes));
    IS_READ(sdd_cache_query_options, query, offsetof(sdd_cache_query_options, levels));
    IS_READ(sdd_loader_config, loading, offsetof(sdd_loader_config, should_download));
    IS_READ(sdd_batch_config, many, offsetof(sdd_batch_config, next));
    IS_READ(sdd_tensor, tensor, offsetof(sdd_tensor, pixel_format));
}

/* Passes two transforms in a row; their distance is the struct_size of the first. */
static void transforms_are_read(size_t size)
{
    unsigned char *records = at_the_edge(2 * size);
    sdd_transform flip = SDD_TRANSFORM_INIT;
    char key[64];
    what = "sdd_transform";
    flip.struct_size = size;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    memcpy(records, &flip, size < sizeof flip ? size : sizeof flip);
    memcpy(records + size, &flip, size < sizeof flip ? size : sizeof flip);
    expect(sdd_transform_key((const sdd_transform *)(const void *)records, 2, key, sizeof key, NULL) == SDD_OK
               && strcmp(key, "flip(vertical)-flip(vertical)") == 0,
           "an array of another size is not read", size);
}

/* ------------------------------------------------------------------ structs that the library fills */

/* It fills as much as fits, keeps struct_size, and zeroes the fields that it does not know. */
typedef sdd_status (*fill_fn)(void *target);

#define FILLER(name, call) \
    static sdd_status fill_##name(void *target) { return call; }
FILLER(config, sdd_downloader_get_config(downloader, (sdd_downloader_config *)target))
FILLER(statistics, sdd_downloader_get_statistics(downloader, (sdd_statistics *)target))
FILLER(process, sdd_process_get_statistics((sdd_process_statistics *)target))
FILLER(info, sdd_image_get_info(image, (sdd_image_info *)target))
FILLER(text, sdd_image_text_at(image, 0, (sdd_image_text *)target))
FILLER(token_info, sdd_token_get_info(waiting_request, (sdd_token_info *)target))
FILLER(cookie, sdd_cookies_at(cookies, 0, (sdd_cookie *)target))
FILLER(cache, sdd_cache_get_statistics_wait(cache, (sdd_cache_statistics *)target))
FILLER(batch, sdd_batch_get_statistics(batch, (sdd_batch_statistics *)target))
FILLER(batch_status, sdd_batch_get_status(batch, 0, (sdd_batch_status *)target))
FILLER(batch_host, sdd_batch_get_host(batch, 0, (sdd_batch_host *)target))

/* A PNG of one pixel, with the title "one". */
static const unsigned char png[] = { 137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0,
    0, 1, 8, 0, 0, 0, 0, 58, 126, 155, 85, 0, 0, 0, 9, 116, 69, 88, 116, 84, 105, 116, 108, 101, 0, 111, 110, 101, 179,
    210, 190, 222, 0, 0, 0, 10, 73, 68, 65, 84, 120, 156, 99, 104, 0, 0, 0, 130, 0, 129, 119, 205, 114, 182, 0, 0, 0, 0,
    73, 69, 78, 68, 174, 66, 96, 130 };
FILLER(probed, sdd_image_probe(png, sizeof png, (sdd_image_info *)target))

static void is_filled(const char *type, fill_fn fill, const void *initialiser, size_t known)
{
    static const size_t wrong[] = { sizeof(size_t) - 1, sizeof(size_t) + 4 };
    unsigned char whole[4096], *target;
    size_t size, length;
    int i;
    what = type;
    memcpy(whole, initialiser, known);
    expect(fill(whole) == SDD_OK, "not filled", known);
    for (size = sizeof(size_t); size <= known + 24; size += sizeof(size_t)) {
        target = at_the_edge(size);
        memset(target + sizeof(size_t), 0xa5, size - sizeof(size_t));
        expect(fill(target) == SDD_OK, "a struct of another size is not filled", size);
        memcpy(&length, target, sizeof length);
        expect(length == size, "struct_size is not kept", size);
        /* Elapsed times differ between calls, so only the first fields are compared. */
        length = size < 24 ? size : 24;
        expect(memcmp(target + sizeof(size_t), whole + sizeof(size_t), length - sizeof(size_t)) == 0,
               "the fields are others", size);
        for (length = known; length < size; length++)
            expect(target[length] == 0, "what is not known is not zero", size);
    }
    for (i = 0; i < 2; i++) {
        target = at_the_edge(2 * sizeof(size_t));
        memcpy(target, &wrong[i], sizeof wrong[i]);
        expect(fill(target) == SDD_ERROR_INVALID_ARGUMENT, "a size that no header has is accepted", wrong[i]);
    }
}
#define IS_FILLED(type, INIT, name) \
    do { \
        type initialiser = INIT; \
        is_filled(#type, fill_##name, &initialiser, sizeof initialiser); \
    } while (0)

static void structs_are_filled(void)
{
    OK(sdd_downloader_get_cookies(downloader, &cookies));
    OK(sdd_downloader_suspend(downloader));
    waiting_request = sdd_download(downloader, "http://127.0.0.1:1/", 0, NULL, NULL, NULL);
    IS_FILLED(sdd_downloader_config, SDD_DOWNLOADER_CONFIG_INIT, config);
    IS_FILLED(sdd_statistics, SDD_STATISTICS_INIT, statistics);
    IS_FILLED(sdd_process_statistics, SDD_PROCESS_STATISTICS_INIT, process);
    IS_FILLED(sdd_image_info, SDD_IMAGE_INFO_INIT, info);
    IS_FILLED(sdd_image_info, SDD_IMAGE_INFO_INIT, probed);
    IS_FILLED(sdd_image_text, SDD_IMAGE_TEXT_INIT, text);
    IS_FILLED(sdd_token_info, SDD_TOKEN_INFO_INIT, token_info);
    IS_FILLED(sdd_cookie, SDD_COOKIE_INIT, cookie);
    IS_FILLED(sdd_cache_statistics, SDD_CACHE_STATISTICS_INIT, cache);
    IS_FILLED(sdd_batch_statistics, SDD_BATCH_STATISTICS_INIT, batch);
    IS_FILLED(sdd_batch_status, SDD_BATCH_STATUS_INIT, batch_status);
    IS_FILLED(sdd_batch_host, SDD_BATCH_HOST_INIT, batch_host);
    sdd_cookies_release(cookies);
    OK(sdd_cancel(waiting_request));
    OK(sdd_downloader_resume(downloader));
    OK(sdd_downloader_idle_wait(downloader, 30000));
}

/* Takes two items in a row into records of this size, the second at the end of readable memory. */
static void batch_items_are_filled(size_t size)
{
    unsigned char *records = at_the_edge(2 * size);
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    size_t count = 0, i;
    what = "sdd_batch_item";
    memcpy(records, &size, sizeof size);
    expect(sdd_batch_wait(batch, (sdd_batch_item *)(void *)records, 2, -1, &count) == SDD_OK && count == 2,
           "items of another size are not filled", size);
    for (i = 0; i < count; i++) {
        memcpy(&item, records + i * size, sizeof item);
        expect(item.result->failure.status == SDD_ERROR_INVALID_URL, "an item is at another place", size);
        sdd_result_release(item.result);
    }
}

/* Takes three events into records of this size. */
static void events_are_filled(size_t size)
{
    unsigned char *events = at_the_edge(3 * size);
    sdd_event event = SDD_EVENT_INIT;
    size_t got = 0, count = 0, i;
    what = "sdd_event";
    for (i = 0; i < 3; i++)
        expect(sdd_download(downloader, "", 0, NULL, NULL, NULL) != 0, "no request without a callback", size);
    for (; got < 3; got += count) {
        unsigned char *free_ones = events + got * size;
        memcpy(free_ones, &size, sizeof size);
        expect(sdd_downloader_wait(downloader, (sdd_event *)(void *)free_ones, 3 - got, 30000, &count) == SDD_OK && count > 0,
               "an event of another size is refused", size);
        for (i = 0; i < count; i++) {
            memcpy(&event, free_ones + i * size, size < sizeof event ? size : sizeof event);
            expect(event.token != 0 && event.kind == SDD_EVENT_COMPLETED
                       && event.result->failure.status == SDD_ERROR_INVALID_URL,
                   "an event is not where it should be", size);
        }
    }
}

/* A notice is delivered even into a record that has no field for it. */
static void noticed(const sdd_notice *notice, void *user_data) SDD_NOEXCEPT
{
    (void)notice, (void)user_data;
}

static void notices_in_old_events(size_t size)
{
    size_t count = 0;
    int kinds[SDD_EVENT_LOG + 1] = { 0 }, i;
    OK(sdd_downloader_set_observer(downloader, noticed, &kinds, NULL));
    expect(sdd_download(downloader, "http://127.0.0.1:1/", 0, NULL, NULL, NULL) != 0, "no request", 0);
    while (kinds[SDD_EVENT_COMPLETED] == 0) {
        sdd_event event = SDD_EVENT_INIT;
        void *place = at_the_edge(size);
        expect(sdd_downloader_wait(downloader, (sdd_event *)place, 1, 30000, &count) == SDD_OK && count == 1, "no event", size);
        memcpy(&event, place, size);
        expect(event.kind > 0 && event.kind <= SDD_EVENT_LOG && event.token != 0, "no kind", size);
        if (event.kind >= SDD_EVENT_START) expect(event.user_data == kinds && event.result == NULL, "a notice", size);
        kinds[event.kind]++;
    }
    OK(sdd_downloader_set_observer(downloader, NULL, NULL, NULL));
    for (i = SDD_EVENT_START; i <= SDD_EVENT_STOP; i++)
        expect(kinds[i] == (i == SDD_EVENT_START || i == SDD_EVENT_STOP), "another number of notices", size);
}

static void make_objects(void)
{
    static const char *const urls[] = { NULL, NULL, NULL, NULL };
    sdd_downloader_config delivering = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_cache_config in_memory = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    sdd_batch_config many = SDD_BATCH_CONFIG_INIT;
    what = "objects";
    delivering.delivery = SDD_DELIVERY_APPLICATION;
    OK(sdd_downloader_create(&delivering, &downloader));
    in_memory.levels = SDD_CACHE_MEMORY;
    OK(sdd_cache_create(&in_memory, &cache));
    loading.downloader = many.downloader = downloader;
    loading.no_cache = 1;
    OK(sdd_loader_create(&loading, &loader));
    many.urls = urls;
    many.count = 4;
    OK(sdd_batch_create(&many, &batch));
    OK(sdd_image_decode(png, sizeof png, NULL, &image));
}

int main(void)
{
    make_objects();
    batch_items_are_filled(sizeof(sdd_batch_item));
    batch_items_are_filled(sizeof(sdd_batch_item) + 8);
    events_are_filled(offsetof(sdd_event, info));
    events_are_filled(sizeof(sdd_event));
    events_are_filled(sizeof(sdd_event) + 16);
    notices_in_old_events(offsetof(sdd_event, info));
    plain_structs_are_read();
    structs_of_a_downloader_are_read();
    other_structs_are_read();
    transforms_are_read(offsetof(sdd_transform, degrees) + 4);
    transforms_are_read(sizeof(sdd_transform));
    transforms_are_read(sizeof(sdd_transform) + 24);
    structs_are_filled();
    OK(sdd_batch_destroy(batch));
    OK(sdd_loader_destroy(loader));
    OK(sdd_downloader_destroy(downloader));
    OK(sdd_cache_destroy(cache));
    sdd_image_release(image);
    puts("ok old_struct.c");
    return 0;
}

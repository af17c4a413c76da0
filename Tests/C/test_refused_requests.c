/* Every field of every struct that the application fills gets a value that it cannot have: the call fails, its message
   names the field, and nothing has changed. This program has requests, caches, loads and batches; test_refused_fields.c
   has the others. At the end the fields are compared with the header, so that a new one needs an entry here. */
#include "every_call.h"
#include "record.h"
#include "refused_fields.h"
#include "server.h"

static sdd_downloader *downloader;
static sdd_cache *cache;
static sdd_loader *loader;
static char text_of_70000[70001];

/* ------------------------------------------------------------------------------------- requests */

/* Checks that a request ends before anything is sent, with a message in the same words. */
static void check_ends(const sdd_download_request *given, int32_t detail, const char *owner, const char *field)
{
    record r = RECORD_INIT;
    sdd_download_request request = *given;
    request.user_data = &r;
    submit(downloader, &request);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, detail);
    check_named(r.message, owner, field);
    record_clear(&r);
}

#define ENDS(detail, field, ...) \
    do { \
        sdd_download_request given = record_request(NULL, "http://127.0.0.1:1/"); \
        given.field = __VA_ARGS__; \
        check_ends(&given, SDD_DETAIL_OPERATION_##detail, "sdd_download_request", #field); \
    } while (0)
#define TRANSFER_ENDS(detail, field, ...) \
    do { \
        sdd_download_request request = record_request(NULL, "http://127.0.0.1:1/"); \
        sdd_transfer_options given = SDD_TRANSFER_OPTIONS_INIT; \
        given.field = __VA_ARGS__; \
        request.transfer = &given; \
        check_ends(&request, SDD_DETAIL_OPERATION_##detail, "sdd_transfer_options", #field); \
    } while (0)
#define STARTS_NO_DOWNLOAD(expected, field, ...) \
    do { \
        sdd_download_request given = record_request(NULL, "http://127.0.0.1:1/"); \
        given.completed = never_sdd_result_fn; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_download_request", #field, expected, \
                     (CHECK_EQUAL_(sdd_downloader_submit(downloader, &given), 0), sdd_last_error(NULL))); \
    } while (0)

static void requests(void)
{
    const sdd_transfer_options short_one = { .struct_size = 9 };
    sdd_download_request with_short_one = record_request(NULL, "http://127.0.0.1:1/");
    with_short_one.transfer = &short_one;
    CALL_REFUSES("sdd_transfer_options", "struct_size", INVALID,
                 (CHECK_EQUAL_(sdd_downloader_submit(downloader, &with_short_one), 0), sdd_last_error(NULL)));
    static const sdd_header no_name = { "a b", "c" }, no_value = { "a", "\n" };
    STARTS_NO_DOWNLOAD(INVALID, struct_size, 9);
    STARTS_NO_DOWNLOAD(INVALID, completed, NULL);
    ENDS(UNKNOWN_OPTIONS, options, UINT64_C(1) << 63);
    ENDS(UNKNOWN_OPTIONS, options, SDD_OPTION_RETRY_FAILED);
    ENDS(BAD_METHOD, method, "G T");
    TRANSFER_ENDS(BAD_HEADER, headers, NULL, given.header_count = 1);
    TRANSFER_ENDS(BAD_HEADER, headers, &no_name, given.header_count = 1);
    TRANSFER_ENDS(BAD_HEADER, headers, &no_value, given.header_count = 1);
    TRANSFER_ENDS(BAD_HEADER, header_count, 1001, given.headers = &no_name);
    ENDS(BAD_BODY, body, NULL, given.body_size = 1, given.method = "POST");
    ENDS(BAD_BODY, body, "x", given.body_size = 1);
    ENDS(BAD_BODY, body_size, SIZE_MAX, given.body = "x", given.method = "POST");
    TRANSFER_ENDS(BAD_HEADER, referrer, "\n");
    ENDS(BAD_RANGE, range, "5-3");
    ENDS(BAD_NUMBER, priority, 6);
    TRANSFER_ENDS(BAD_NUMBER, queue_timeout_ms, -2);
    TRANSFER_ENDS(BAD_NUMBER, connect_timeout_ms, -2);
    TRANSFER_ENDS(BAD_NUMBER, first_byte_timeout_ms, -2);
    TRANSFER_ENDS(BAD_NUMBER, download_timeout_ms, INT64_MAX);
    TRANSFER_ENDS(BAD_NUMBER, total_timeout_ms, INT64_MIN);
    TRANSFER_ENDS(BAD_ACCEPT, accepted_status_codes, "all");
    TRANSFER_ENDS(BAD_ACCEPT, accepted_content_types, "image");
    ENDS(BAD_SINK, sink, 9);
    ENDS(BAD_SINK, sink_fd, 987654, given.sink = SDD_SINK_FD);
    ENDS(BAD_INTEGRITY, integrity, "md5-x");
    ENDS(BAD_INTEGRITY, expected_bytes, -1);
    TRANSFER_ENDS(BAD_NUMBER, max_attempts, -1);
    TRANSFER_ENDS(BAD_NUMBER, low_speed_limit, -1);
    TRANSFER_ENDS(BAD_NUMBER, low_speed_time_ms, -2);
    TRANSFER_ENDS(BAD_NUMBER, redirects, 9);
    TRANSFER_ENDS(BAD_NUMBER, max_redirects, -1);
    TRANSFER_ENDS(BAD_NUMBER, max_body_bytes, -1);
    TRANSFER_ENDS(BAD_CREDENTIAL, ca_file, "");
}

/* The message names the field of the inner struct. */
static void structs_in_requests(void)
{
    sdd_credential half = SDD_CREDENTIAL_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    record r = RECORD_INIT;
    half.username = "a";
    decode.fit = 9;
    for (int i = 0; i < 2; i++) {
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&r, "http://127.0.0.1:1/");
        request.transfer = &transfer;
        if (i == 0) transfer.credential = &half;
        if (i == 1) request.decode = &decode;
        submit(downloader, &request);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION,
                    i == 0 ? SDD_DETAIL_OPERATION_BAD_CREDENTIAL : SDD_DETAIL_OPERATION_BAD_DECODE);
        if (i == 0) check_named(r.message, "sdd_credential", "password");
        if (i == 1) check_named(r.message, "sdd_decode_options", "fit");
        record_clear(&r);
    }
}

/* -------------------------------------------------------------------------------- caches, loads */

/* Without the callbacks, which these calls refuse. */
static sdd_status put_and_wait(const sdd_cache_item *given)
{
    sdd_cache_item item = *given;
    if (item.struct_size == sizeof item) item.completed = NULL, item.user_data_free = NULL;
    return sdd_cache_put_wait(cache, &item);
}

static sdd_status query_wait(const sdd_cache_query_options *given)
{
    sdd_cache_query_options query = *given;
    if (query.struct_size == sizeof query) query.completed = NULL, query.user_data_free = NULL;
    return sdd_cache_query_wait(cache, &query, NULL);
}

#define CACHE(field, ...) \
    do { \
        sdd_cache_config given = SDD_CACHE_CONFIG_INIT; \
        sdd_cache *made_ = (sdd_cache *)&given; \
        given.directory = "/nowhere"; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_cache_config", #field, INVALID, sdd_cache_create(&given, &made_)); \
        CHECK(made_ == NULL); \
    } while (0)
#define ITEM_AS(expected, field, ...) \
    do { \
        sdd_cache_item given = SDD_CACHE_ITEM_INIT; \
        given.key = "key"; \
        given.levels = SDD_CACHE_MEMORY; \
        given.completed = never_sdd_result_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_cache_item", #field, expected, put_and_wait(&given)); \
        CALL_REFUSES("sdd_cache_item", #field, expected, \
                     (CHECK_EQUAL_(sdd_cache_put(cache, downloader, &given), 0), sdd_last_error(NULL))); \
    } while (0)
#define QUERY_AS(expected, field, ...) \
    do { \
        sdd_cache_query_options given = SDD_CACHE_QUERY_OPTIONS_INIT; \
        given.key = "key"; \
        given.completed = never_sdd_result_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_cache_query_options", #field, expected, query_wait(&given)); \
        CALL_REFUSES("sdd_cache_query_options", #field, expected, \
                     (CHECK_EQUAL_(sdd_cache_query(cache, downloader, &given), 0), sdd_last_error(NULL))); \
    } while (0)

static sdd_image *never_got(const char *key, void *user_data)
{
    (void)user_data;
    FAIL("%s is asked for", key);
}

static void never_put(const char *key, sdd_image *given, int64_t cost, void *user_data)
{
    (void)given, (void)cost, (void)user_data;
    FAIL("%s is given", key);
}

static void never_removed(const char *key, void *user_data)
{
    (void)user_data;
    FAIL("%s is taken away", key);
}

static void never_cleared(void *user_data)
{
    (void)user_data;
    FAIL("all is taken away");
}

static sdd_status no_entry(const char *key, sdd_bytes **body, sdd_bytes **extra, void *user_data)
{
    (void)body, (void)extra, (void)user_data;
    FAIL("%s is asked for", key);
}

static sdd_status no_entry_put(
    const char *key, const void *body, size_t body_size, const void *extra, size_t extra_size, void *user_data)
{
    (void)body, (void)body_size, (void)extra, (void)extra_size, (void)user_data;
    FAIL("%s is given", key);
}

static sdd_status no_entry_removed(const char *key, void *user_data)
{
    (void)user_data;
    FAIL("%s is taken away", key);
}

static sdd_status no_entries_cleared(void *user_data)
{
    (void)user_data;
    FAIL("all is taken away");
}

/* Stores of a cache that the application provides. */
static sdd_status create_over(const sdd_memory_store *memory, const sdd_entry_store *entries)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *made = (sdd_cache *)&config;
    config.directory = "/nowhere";
    config.memory_store = memory;
    config.entry_store = entries;
    sdd_status status = sdd_cache_create(&config, &made);
    CHECK(made == NULL);
    return status;
}

#define MEMORY_STORE(field, ...) \
    do { \
        sdd_memory_store given = { sizeof given, never_got, never_put, never_removed, never_cleared, NULL, NULL, NULL }; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_memory_store", #field, INVALID, create_over(&given, NULL)); \
    } while (0)
#define ENTRY_STORE(field, ...) \
    do { \
        sdd_entry_store given = { sizeof given, no_entry, no_entry_put, no_entry_removed, no_entries_cleared, NULL, \
                                  NULL, NULL, NULL }; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_entry_store", #field, INVALID, create_over(NULL, &given)); \
    } while (0)

static void stores(void)
{
    MEMORY_STORE(struct_size, 9);
    MEMORY_STORE(get, NULL);
    MEMORY_STORE(put, NULL);
    MEMORY_STORE(remove, NULL);
    MEMORY_STORE(clear, NULL);
    ENTRY_STORE(struct_size, 9);
    ENTRY_STORE(get, NULL);
    ENTRY_STORE(put, NULL);
    ENTRY_STORE(remove, NULL);
    ENTRY_STORE(clear, NULL);
}

static void caches(void)
{
    static const char *const none[] = { NULL };
    CACHE(struct_size, 9);
    CACHE(name, "a/b");
    CACHE(name, "");
    CACHE(directory, "");
    CACHE(read_only_directories, none, given.read_only_count = 1);
    CACHE(read_only_directories, NULL, given.read_only_count = 1);
    CACHE(read_only_count, 10001, given.read_only_directories = none);
    CACHE(levels, 9);
    CACHE(no_live_images, 2);
    CACHE(max_memory_cost, -2);
    CACHE(max_memory_count, -2);
    CACHE(watch_memory_pressure, -1);
    CACHE(sync, 9);
    CACHE(max_disk_bytes, -2);
    CACHE(max_disk_age_ms, -3);
    CACHE(disk_date, 9);
    CACHE(low_water_percent, 101);
    CACHE(trim_interval_ms, -2);
    CACHE(map_from_bytes, -1);
    CACHE(no_share_wait, 2);
    CACHE(share_wait_ms, -2);
    CACHE(max_part_bytes, -2);
    CACHE(max_part_age_ms, -2);
    CACHE(ignored_query_parameters, "a,,b");
    CACHE(max_queued_bytes, -2);
    CACHE(destroy_timeout_ms, -2);
    ITEM_AS(INVALID, struct_size, 9);
    ITEM_AS(INVALID, key, NULL);
    ITEM_AS(INVALID, key, "");
    ITEM_AS(INVALID, levels, 9);
    QUERY_AS(INVALID, struct_size, 9);
    QUERY_AS(INVALID, key, text_of_70000);
    QUERY_AS(INVALID, levels, -1);
    QUERY_AS(INVALID, wants, 9);
    QUERY_AS(UNSUPPORTED, options, UINT64_C(1) << 63);
    QUERY_AS(INVALID, options, SDD_OPTION_BYTES_ONLY);
    QUERY_AS(INVALID, priority, 6);
}

#define LOADER(expected, field, ...) \
    do { \
        sdd_loader_config given = SDD_LOADER_CONFIG_INIT; \
        sdd_loader *made_ = (sdd_loader *)&given; \
        given.downloader = downloader; \
        given.cache = cache; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_loader_config", #field, expected, sdd_loader_create(&given, &made_)); \
        CHECK(made_ == NULL); \
    } while (0)
#define LOAD(field, ...) \
    do { \
        sdd_load_request given = SDD_LOAD_REQUEST_INIT; \
        given.url = "http://127.0.0.1:1/"; \
        given.completed = never_sdd_result_fn; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_load_request", #field, INVALID, \
                     (CHECK_EQUAL_(sdd_loader_submit(loader, &given), 0), sdd_last_error(NULL))); \
    } while (0)
#define PREFETCH_AS(expected, field, ...) \
    do { \
        sdd_prefetch_list given = SDD_PREFETCH_LIST_INIT; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_prefetch_list", #field, expected, \
                     (CHECK_EQUAL_(sdd_prefetch(loader, &given), 0), sdd_last_error(NULL))); \
    } while (0)

/* Checks that a load ends before any lookup. */
static void load_ends(int i)
{
    record r = RECORD_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = "http://127.0.0.1:1/";
    request.completed = record_completed;
    request.user_data_free = record_freed;
    request.user_data = &r;
    if (i == 0) request.options = UINT64_C(1) << 63;
    if (i == 1) request.priority = 6;
    if (i == 2) request.integrity = "md5-x";
    if (i == 3) request.expected_bytes = -1;
    CHECK(sdd_loader_submit(loader, &request) != 0);
    record_wait(&r);
    CHECK_STATUS(r.error, SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
    static const char *const fields[] = { "options", "priority", "integrity", "expected_bytes" };
    check_named(r.message, "sdd_load_request", fields[i]);
    record_clear(&r);
}

static void loads(void)
{
    static const char *const urls[65] = { "http://127.0.0.1/" };
    static const sdd_transform none = SDD_TRANSFORM_INIT;
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    LOADER(INVALID, struct_size, 9);
    LOADER(SDD_ERROR_CLOSED, downloader, (sdd_downloader *)cache);
    LOADER(SDD_ERROR_CLOSED, cache, (sdd_cache *)downloader);
    LOADER(SDD_ERROR_CLOSED, original_cache, (sdd_cache *)downloader);
    LOADER(INVALID, no_cache, 2);
    LOADER(INVALID, fail_policy, 3);
    config.downloader = downloader;
    config.cache = cache;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    LOAD(struct_size, 9);
    LOAD(completed, NULL);
    LOAD(transforms, NULL, given.transform_count = 1);
    LOAD(transform_count, 257, given.transforms = &none);
    LOAD(alternatives, NULL, given.alternative_count = 1);
    LOAD(alternative_count, 65, given.alternatives = urls);
    LOAD(cache_key, "");
    LOAD(query, 5);
    LOAD(store, -2);
    LOAD(original_query, INT32_MAX);
    LOAD(original_store, INT32_MIN);
    for (int i = 0; i < 4; i++) load_ends(i);
    PREFETCH_AS(INVALID, struct_size, 9);
    PREFETCH_AS(INVALID, urls, NULL, given.count = 1);
    PREFETCH_AS(INVALID, count, SIZE_MAX, given.urls = urls);
    PREFETCH_AS(UNSUPPORTED, options, UINT64_C(1) << 63);
    PREFETCH_AS(INVALID, options, SDD_OPTION_BYTES_ONLY);
    PREFETCH_AS(INVALID, priority, 6);
    PREFETCH_AS(INVALID, to, 9);
}

#define BATCH_AS(expected, owner, group, field, ...) \
    do { \
        sdd_batch_config config = SDD_BATCH_CONFIG_INIT; \
        sdd_tensor tensor = SDD_TENSOR_INIT; \
        sdd_batch *made_ = (sdd_batch *)&config; \
        config.downloader = downloader; \
        tensor.pixels = pixels; \
        tensor.slot_count = 1; \
        tensor.width = tensor.height = 2; \
        if (strcmp(owner, "sdd_tensor") == 0) config.tensor = &tensor; \
        group.field = __VA_ARGS__; \
        CALL_REFUSES(owner, #field, expected, sdd_batch_create(&config, &made_)); \
        CHECK(made_ == NULL); \
    } while (0)
#define BATCH(field, ...) BATCH_AS(INVALID, "sdd_batch_config", config, field, __VA_ARGS__)
#define TENSOR(field, ...) BATCH_AS(INVALID, "sdd_tensor", tensor, field, __VA_ARGS__)

static int32_t never_next_item(sdd_batch_source *item, void *user_data)
{
    (void)item, (void)user_data;
    FAIL("an item is asked for");
}

static void batches(void)
{
    static uint8_t pixels[64];
    static const char *const urls[] = { "http://127.0.0.1/", "http://127.0.0.1/" };
    static const sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    BATCH(struct_size, 9);
    BATCH(downloader, downloader, config.loader = loader);
    BATCH_AS(SDD_ERROR_CLOSED, "sdd_batch_config", config, loader, (sdd_loader *)cache);
    BATCH(urls, NULL, config.count = 1);
    BATCH(count, SIZE_MAX, config.urls = urls);
    BATCH(next, never_next_item, config.urls = urls);
    BATCH(decode, &decode, config.tensor = &tensor);
    BATCH_AS(UNSUPPORTED, "sdd_batch_config", config, options, UINT64_C(1) << 63);
    BATCH(options, SDD_OPTION_RETRY_FAILED);
    BATCH(options, SDD_OPTION_BYTES_ONLY, config.tensor = &tensor);
    BATCH(deadline_ms, -2);
    BATCH(look_ahead, 65537);
    BATCH(order, 9);
    BATCH(priority, 6);
    BATCH(responses, 2);
    TENSOR(struct_size, 9);
    TENSOR(pixels, NULL);
    TENSOR(slot_count, 0);
    TENSOR(slot_count, 1, config.urls = urls, config.count = 2);
    TENSOR(slot_stride, 3);
    TENSOR(width, 0);
    TENSOR(height, -1);
    TENSOR(pixel_format, 99);
    TENSOR(layout, 9);
    TENSOR(layout, SDD_TENSOR_CHW, tensor.pixel_format = SDD_PIXEL_FORMAT_GREY8);
    TENSOR(fit, 9);
    TENSOR(slot_choice, 9);
    TENSOR(background, 0x1000000);
}

/* ------------------------------------------------------------------------------------ all fields */

/* Structs that the application fills. */
static const char *const filled[] = {
    "sdd_entry_store", "sdd_memory_store",
    "sdd_batch_config", "sdd_cache_config", "sdd_cache_item", "sdd_download_request", "sdd_load_request",
    "sdd_loader_config", "sdd_prefetch_list", "sdd_cache_query_options", "sdd_tensor", "sdd_transfer_options",
};

/* Fields that accept any value: the application's own functions, structs and arrays whose fields are checked
   themselves, pointers to objects, and numbers without an invalid value. */
static const char *const take_all[] = {
    "sdd_cache_config.entry_store", "sdd_cache_config.memory_store", "sdd_entry_store.trim", "sdd_entry_store.usage",
    "sdd_memory_store.trim",
    "sdd_batch_config.ids", "sdd_batch_config.tensor", "sdd_cache_config.key_filter", "sdd_cache_config.serializer",
    "sdd_cache_item.bytes", "sdd_cache_item.completed", "sdd_cache_item.extended", "sdd_cache_item.image",
    "sdd_batch_config.transfer", "sdd_download_request.decode", "sdd_download_request.facts",
    "sdd_download_request.preview", "sdd_download_request.progress", "sdd_download_request.transfer",
    "sdd_download_request.url", "sdd_load_request.transfer", "sdd_prefetch_list.transfer",
    "sdd_transfer_options.credential", "sdd_transfer_options.modifiers", "sdd_load_request.cached",
    "sdd_load_request.decode", "sdd_load_request.facts", "sdd_load_request.preview", "sdd_load_request.progress",
    "sdd_load_request.url", "sdd_loader_config.options_processor", "sdd_loader_config.should_block_failed_url",
    "sdd_loader_config.should_download", "sdd_prefetch_list.completed", "sdd_prefetch_list.decode",
    "sdd_prefetch_list.each", "sdd_prefetch_list.progress", "sdd_cache_query_options.completed",
    "sdd_cache_query_options.decode",
};

static void every_field_is_refused(void)
{
    check_every_field(filled, sizeof filled / sizeof *filled, take_all, sizeof take_all / sizeof *take_all);
}

int main(void)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    start_watchdog();
    memset(text_of_70000, 'a', sizeof text_of_70000 - 1);
    downloader = make_downloader(NULL);
    config.levels = SDD_CACHE_MEMORY;
    CHECK_STATUS(sdd_cache_create(&config, &cache), SDD_OK);
    RUN(requests);
    RUN(structs_in_requests);
    RUN(stores);
    RUN(caches);
    RUN(loads);
    RUN(batches);
    RUN(every_field_is_refused);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    destroy(downloader);
    return 0;
}

/* Every call of the library that can fail is made to fail, and its message must name the argument, its value and the
   allowed values. NULL and dead handles are given to every call of the header; what else it refuses stands here. At the
   end each call must have failed. Fields of structs are in test_refused_fields.c. */
#include "every_call.h"
#include "record.h"
#include "refused_pictures.h"
#include "server.h"

static const char url[] = "http://127.0.0.1:1/";
static sdd_downloader *downloader, *hosted, *dead;
static sdd_cache *cache, *dead_cache;
static sdd_loader *loader, *dead_loader;
static sdd_batch *dead_batch;
static int forged; /* its address is not a handle */

/* Calls that cannot fail, with the reason. */
static const struct { const char *name, *reason; } never_fails[] = {
    { "sdd_bytes_release", "NULL is allowed" },
    { "sdd_bytes_retain", "gives what it was given" },
    { "sdd_cache_shared", "but in the child of a fork, see test_fork" },
    { "sdd_cookies_release", "NULL is allowed" },
    { "sdd_decoder_main", "its result is the status of a process, see test_isolated" },
    { "sdd_downloader_shared", "but in the child of a fork, see test_fork" },
    { "sdd_image_release", "NULL is allowed" },
    { "sdd_image_retain", "gives what it was given" },
    { "sdd_last_error", "tells of the others" },
    { "sdd_last_error_message", "tells of the others" },
    { "sdd_loader_shared", "but in the child of a fork, see test_fork" },
    { "sdd_response_release", "NULL is allowed" },
    { "sdd_response_retain", "gives what it was given" },
    { "sdd_result_release", "NULL is allowed" },
    { "sdd_status_message", "any number has one" },
    { "sdd_status_name", "any number has one" },
    { "sdd_version", "a number" },
    { "sdd_version_string", "a constant" },
};

static int is_known_not_to_fail(const char *name)
{
    for (size_t i = 0; i < sizeof never_fails / sizeof *never_fails; i++)
        if (strcmp(never_fails[i].name, name) == 0) return 1;
    return 0;
}

/* ----------------------------------------------------------------------------------------- NULL */

/* Whether NULL is no value for a parameter: the header marks it, or it is an object of which there is no shared one. */
static int is_never_null(const field_row *parameter)
{
    static const char *const shared[] = { "sdd_downloader", "sdd_cache", "sdd_loader" };
    if (parameter->kind != KIND_HANDLE) return parameter->is_nonnull;
    for (int i = 0; i < 3; i++)
        if (strcmp(parameter->target, shared[i]) == 0) return parameter->is_nonnull;
    return 1;
}

/* Calls a function with NULL in place of each argument that must not be. */
static void refuses_null(int number)
{
    const call_row *call = &header_calls[number];
    for (size_t i = 0; i < call->count; i++) {
        made_arguments made;
        char part[80];
        if (!is_never_null(&call->parameters[i])) continue;
        make_arguments(call, &made);
        made.values[i].pointer = NULL;
        /* NULL is a URL, or a path, that cannot be used. */
        int is_url = number == number_of_sdd_draft_set_url && i == 1;
        int is_path = number == number_of_sdd_process_load_coder_wait;
        if (is_url || is_path) strcpy(part, is_url ? "The URL is NULL" : "path: There is no path");
        else snprintf(part, sizeof part, "%s: NULL", call->parameters[i].name);
        check_call_fails(call, &made, is_url ? SDD_ERROR_INVALID_URL : INVALID);
        check_sentence(number, part, is_url);
    }
}

/* Calls those that take a draft, which there is in a request modifier alone, or all others. */
static void every_call_refuses_null(int takes_draft)
{
    for (int i = 0; i < CALL_COUNT; i++) {
        int has_draft = header_calls[i].count > 0 && strcmp(header_calls[i].parameters->target, "sdd_draft") == 0;
        if (has_draft == takes_draft && !is_known_not_to_fail(header_calls[i].name)) refuses_null(i);
    }
}

/* Gives a number that an enumeration does not have. */
static void refuses_number(int number, size_t at, int64_t value)
{
    const call_row *call = &header_calls[number];
    made_arguments made;
    char part[80];
    make_arguments(call, &made);
    made.values[at].number = value;
    snprintf(part, sizeof part, "%s: %lld ", call->parameters[at].name, (long long)value);
    check_call_fails(call, &made, INVALID);
    check_sentence(number, part, 0);
    check_sentence(number, call->parameters[at].numbers->prefix, 0);
}

/* Every number is a status. */
static void numbers_of_no_enumeration_are_refused(void)
{
    for (int i = 0; i < CALL_COUNT; i++)
        for (size_t at = 0; at < header_calls[i].count; at++) {
            const numbers_row *numbers = header_calls[i].parameters[at].numbers;
            if (header_calls[i].parameters[at].kind != KIND_ENUM || strcmp(numbers->type, "sdd_status") == 0) continue;
            refuses_number(i, at, -1);
            refuses_number(i, at, 99);
            if (!is_among(numbers, 0) && strstr(numbers->type, "flags") == NULL) refuses_number(i, at, 0);
            for (size_t one = 0; one < numbers->count; one++)
                if (!is_among(numbers, numbers->values[one] + 1)) refuses_number(i, at, numbers->values[one] + 1);
        }
}

/* --------------------------------------------------------------- responses, cookies, drafts, coders */

static void responses_and_cookies(void)
{
    record r = RECORD_INIT;
    sdd_cookies *cookies = NULL;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    const char *name, *value;
    fetch(downloader, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    REFUSES(sdd_response_header_at, (r.response, 99, &name, &value), SDD_ERROR_NOT_FOUND, "index: 99 is not below ");
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_get_cookies(downloader, &cookies), SDD_OK);
    REFUSES(sdd_cookies_at, (cookies, 0, &cookie), SDD_ERROR_NOT_FOUND, "index: 0 is not below 0, the number of cookies");
    sdd_cookies_release(cookies);
    REFUSES(sdd_downloader_clear_cookies, (downloader, "a\nb"), INVALID, "domain: \"a\\x0ab\" cannot be");
}

static sdd_status spoil_draft(sdd_draft *draft, void *user_data)
{
    *(int *)user_data += 1;
    good_draft = draft;
    every_call_refuses_null(1);
    GIVES(0, sdd_draft_header, (draft, "a b"), "name: \"a b\" is no token of HTTP");
    REFUSES_AS_REQUEST(sdd_draft_set_url, (draft, "example.org"), SDD_ERROR_INVALID_URL, "\"example.org\" is malformed");
    REFUSES(sdd_draft_set_method, (draft, "G T"), INVALID, "method: \"G T\" is no token");
    REFUSES(sdd_draft_set_header, (draft, "A:", "b"), INVALID, "name: \"A:\" is no token");
    REFUSES(sdd_draft_set_header, (draft, "A", "b\r\n"), INVALID, "value: it must be UTF-8");
    REFUSES(sdd_draft_set_header, (draft, "content-length", "3"), INVALID, "name: content-length cannot be set");
    REFUSES(sdd_draft_set_body, (draft, "x", 1), INVALID, "size: the method GET has no body");
    REFUSES(sdd_draft_set_body, (draft, NULL, 1), INVALID, "data: NULL");
    CHECK(strstr(sdd_draft_url(draft), "/ok") != NULL);
    CHECK_TEXT(sdd_draft_method(draft), "GET");
    return SDD_ERROR_UNSUPPORTED;
}

static void drafts(void)
{
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    OWNED_RECORD r = RECORD_INIT;
    int asked = 0;
    modifiers.request_modifier = spoil_draft;
    modifiers.user_data = &asked;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = record_request(&r, at("/ok"));
    request.transfer = &transfer;
    transfer.modifiers = &modifiers;
    fetch_as(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_MODIFIER);
    CHECK_EQUAL(asked, 1);
}

static void coders(void)
{
    sdd_coder coder = SDD_CODER_INIT;
    REFUSES(sdd_process_add_coder, (&coder), INVALID, "sdd_coder.name: ");
    REFUSES(sdd_downloader_add_coder, (downloader, &coder), INVALID, "sdd_coder.name: ");
    REFUSES(sdd_downloader_remove_coder, (downloader, "nobody"), SDD_ERROR_NOT_FOUND,
            "name: the downloader has no coder \"nobody\"");
    REFUSES(sdd_process_remove_coder, ("nobody"), SDD_ERROR_NOT_FOUND, "name: no coder \"nobody\" is registered");
    REFUSES(sdd_process_load_coder_wait, ("/nowhere.so"), SDD_ERROR_FILE_NOT_READABLE, "/nowhere.so");
}

/* -------------------------------------------------------------------------------- downloaders */

static void downloaders(void)
{
    REFUSES(sdd_downloader_destroy, (NULL), INVALID, "downloader: the shared downloader");
    REFUSES(sdd_downloader_destroy, ((sdd_downloader *)loader), SDD_ERROR_CLOSED, "looks like a loader");
    REFUSES(sdd_downloader_close, (NULL, SDD_CLOSE_CANCEL), INVALID, "downloader: the shared downloader");
    REFUSES(sdd_downloader_set_offline, (downloader, 2), INVALID, "is_offline: 2 is not 0 or 1");
    REFUSES(sdd_process_set_decode_memory_limit, (-1), INVALID, "bytes: -1 is not at least 0");
}

static void rules(void)
{
    char text[4] = "old";
    REFUSES(sdd_set_header, (downloader, "", "x"), INVALID, "name: \"\" is no token");
    REFUSES(sdd_set_header, (downloader, "X", "\x7f"), INVALID, "value: it must be UTF-8");
    REFUSES(sdd_set_header, (downloader, "Transfer-Encoding", "chunked"), INVALID, "name: Transfer-Encoding cannot be set");
    REFUSES(sdd_get_header, (downloader, "X", NULL, 1, NULL), INVALID, "buffer: NULL");
    REFUSES(sdd_get_header, (downloader, "X", text, 4, NULL), SDD_ERROR_NOT_FOUND, "name: ");
    REFUSES(sdd_get_header, (downloader, "Accept", text, 4, NULL), SDD_ERROR_BUFFER_TOO_SMALL,
            "capacity: 4 is too little for ");
    REFUSES(sdd_downloader_set_max_concurrent_downloads, (downloader, 0), INVALID, "count: 0 is not at least 1");
    REFUSES(sdd_downloader_set_max_concurrent_per_host, (downloader, -3), INVALID, "count: -3 is not at least 1");
    REFUSES(sdd_downloader_set_min_host_interval, (downloader, -1), INVALID, "milliseconds: -1 is not 0 to ");
    REFUSES(sdd_downloader_set_reserved_urgent_slots, (downloader, -1), INVALID, "count: -1 is not at least 0");
    REFUSES(sdd_downloader_set_download_timeout, (downloader, -1), INVALID, "timeout_ms: -1 is not 0 to ");
    CHECK_TEXT(text, "old");
}

/* ------------------------------------------------------------------------------------ requests */

static void requests(void)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    sdd_response *response = NULL;
    sdd_bytes *bytes = NULL;
    request.url = url;
    STARTS_NOT(sdd_downloader_encode, (downloader, image, NULL, NULL, NULL, never_sdd_user_data_free_fn), INVALID, "completed: NULL");
    GIVES(0, sdd_download, (downloader, url, 0, NULL, NULL, NULL), "completed: NULL is allowed with SDD_DELIVERY_APPLICATION");
    STARTS_NOT(sdd_downloader_submit, (downloader, &request), INVALID, "sdd_download_request.completed: NULL");
    request.completed = never_sdd_result_fn;
    REFUSES(sdd_downloader_submit_wait, (downloader, &request, -1, NULL), INVALID,
            "sdd_download_request.completed: it must be NULL");
    request.completed = NULL;
    request.options = SDD_OPTION_PROGRESS_EVENTS;
    REFUSES(sdd_downloader_submit_wait, (downloader, &request, -1, NULL), SDD_ERROR_INVALID_DOWNLOAD_OPERATION,
            "sdd_download_request.options: SDD_OPTION_PROGRESS_EVENTS means nothing to ");
    request.options = 0;
    REFUSES_AS_REQUEST(sdd_get, (downloader, "ftp://x/", 0, -1, NULL, &bytes, NULL), SDD_ERROR_INVALID_URL,
                       "The scheme of the URL \"ftp://x/\" is not http, https or data");
    REFUSES_AS_REQUEST(sdd_get, (downloader, NULL, 0, -1, NULL, &bytes, NULL), SDD_ERROR_INVALID_URL, "The URL is NULL");
    REFUSES_AS_REQUEST(sdd_get, (downloader, url, SDD_OPTION_RETRY_FAILED, -1, NULL, &bytes, NULL),
                       SDD_ERROR_INVALID_DOWNLOAD_OPERATION,
                       "options: SDD_OPTION_RETRY_FAILED means nothing to a download that is waited for");
    REFUSES(sdd_cancel, (0), SDD_ERROR_NOT_FOUND, "token: 0 is no token");
    REFUSES(sdd_cancel, (UINT64_MAX), SDD_ERROR_NOT_FOUND, "token: 18446744073709551615 belongs to nothing under way");
    REFUSES(sdd_set_priority, (1, SDD_PRIORITY_HIGH), SDD_ERROR_NOT_FOUND, "token: 1 ");
    REFUSES(sdd_token_get_info, (1, &info), SDD_ERROR_NOT_FOUND, "token: 1 ");
    REFUSES(sdd_token_get_url, (1, NULL, 5, NULL), INVALID, "buffer: NULL");
    REFUSES(sdd_token_get_url, (1, NULL, 0, NULL), SDD_ERROR_NOT_FOUND, "token: 1 ");
    REFUSES(sdd_token_get_response, (1, &response), SDD_ERROR_NOT_FOUND, "token: 1 ");
    CHECK(response == NULL && bytes == NULL);
}

static void events(void)
{
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 7;
    GIVES(-1, sdd_downloader_event_fd, (downloader), "downloader: its events are delivered by a thread");
    REFUSES(sdd_downloader_dispatch, (downloader, 0, &count), SDD_ERROR_WRONG_DELIVERY, "downloader: its events are delivered by a thread");
    REFUSES(sdd_downloader_drain, (hosted, &event, 0, &count), INVALID, "max: 0 is not at least 1");
    REFUSES(sdd_downloader_wait, (hosted, &event, 1, 0, NIL), INVALID, "count: NULL is allowed with events NULL alone");
    REFUSES(sdd_downloader_wait, (hosted, &event, 0, 0, &count), INVALID, "max: 0 is not at least 1");
    REFUSES(sdd_downloader_wait, (hosted, &event, 1, 0, &count), SDD_ERROR_TIMEOUT, "timeout_ms: the time is over");
    event.struct_size = 9;
    REFUSES(sdd_downloader_wait, (hosted, &event, 1, 0, &count), INVALID, "sdd_event.struct_size: 9 is ");
    CHECK_EQUAL(count, 7);
}

static void transports(void)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_header header = { "A b", "c" };
    REFUSES(sdd_downloader_add_transport, (downloader, &transport), INVALID, "sdd_transport.scheme: ");
    REFUSES(sdd_downloader_remove_transport, (downloader, "archive"), SDD_ERROR_NOT_FOUND,
            "scheme: the downloader has no transport of \"archive\"");
    REFUSES(sdd_transfer_respond, (1, 99, NULL, 0, -1), INVALID, "http_status: 99 is not 0 or 100 to 999");
    REFUSES(sdd_transfer_respond, (1, 200, NULL, 0, -2), INVALID, "expected_bytes: -2 is not at least -1");
    REFUSES(sdd_transfer_respond, (1, 200, NULL, 1, -1), INVALID, "headers: NULL");
    REFUSES(sdd_transfer_respond, (1, 200, &header, 1001, -1), INVALID, "header_count: 1001 is not 0 to 1000");
    REFUSES(sdd_transfer_respond, (1, 200, &header, 1, -1), INVALID, "headers[0].name: \"A b\" is no token");
    header.name = "A";
    header.value = "b\n";
    REFUSES(sdd_transfer_respond, (1, 200, &header, 1, -1), INVALID, "headers[0].value: it must be UTF-8");
    REFUSES(sdd_transfer_respond, (1, 200, NULL, 0, -1), SDD_ERROR_NOT_FOUND, "transfer: 1 belongs to nothing under way");
    REFUSES(sdd_transfer_write, (1, NULL, 1), INVALID, "data: NULL");
    REFUSES(sdd_transfer_write, (1, "x", 1), SDD_ERROR_NOT_FOUND, "transfer: 1 ");
    REFUSES(sdd_transfer_finish, (1, SDD_OK, NULL), SDD_ERROR_NOT_FOUND, "transfer: 1 ");
}

/* -------------------------------------------------------------------------------------- caches */

static void caches(void)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *made = NULL;
    config.directory = "/proc/self/nowhere";
    REFUSES(sdd_cache_create, (&config, &made), SDD_ERROR_CACHE,
            "sdd_cache_config.directory: \"/proc/self/nowhere\": ");
    CHECK(made == NULL && last_detail() == SDD_DETAIL_CACHE_DIRECTORY);
    REFUSES(sdd_cache_destroy, (NULL), INVALID, "cache: the shared cache");
    REFUSES(sdd_cache_list_wait, (cache, 6, never_sdd_cache_list_fn, NULL), INVALID, "flags: 6 has bits that are none of SDD_LIST_");
    REFUSES(sdd_cache_set_memory_limits, (cache, -2, 0), INVALID, "max_cost: -2 is not -1 to ");
    REFUSES(sdd_cache_set_memory_limits, (cache, 0, -2), INVALID, "max_count: -2 is not at least -1");
    REFUSES(sdd_cache_set_disk_limits, (cache, -2, 0), INVALID, "max_bytes: -2 is not -1 to ");
    REFUSES(sdd_cache_set_disk_limits, (cache, 0, -3), INVALID, "max_age_ms: -3 is not -1 to ");
}

static void entries(void)
{
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_result *found = NULL;
    char text[4] = "old";
    int32_t fd = 7;
    int64_t size;
    item.key = query.key = "key";
    item.completed = query.completed = never_sdd_result_fn;
    GIVES(0, sdd_cache_contains_wait, (cache, "", 0), "key: \"\" is no key");
    GIVES(0, sdd_cache_contains_wait, (cache, "key", SDD_CACHE_NONE), "levels: 4 is not one of SDD_CACHE_");
    REFUSES(sdd_cache_remove_wait, (cache, "key", SDD_CACHE_NONE), INVALID, "levels: 4 is not one of SDD_CACHE_");
    REFUSES(sdd_cache_clear_wait, (cache, SDD_CACHE_NONE), INVALID, "levels: 4 is not one of SDD_CACHE_");
    REFUSES(sdd_cache_remove_wait, (cache, "\xff", 0), INVALID, "key: \"\\xff\" is no key");
    REFUSES(sdd_cache_put_wait, (cache, &item), INVALID, "sdd_cache_item.completed: it must be NULL");
    item = (sdd_cache_item)SDD_CACHE_ITEM_INIT;
    item.key = "key";
    REFUSES_AS_REQUEST(sdd_cache_put_wait, (cache, &item), SDD_ERROR_CACHE, "There is nothing to store");
    REFUSES(sdd_cache_query_wait, (cache, &query, &found), INVALID,
            "sdd_cache_query_options.completed: it must be NULL");
    CHECK(found == NULL);
    query = (sdd_cache_query_options)SDD_CACHE_QUERY_OPTIONS_INIT;
    query.key = "key";
    REFUSES_AS_REQUEST(sdd_cache_query_wait, (cache, &query, &found), SDD_ERROR_NOT_CACHED, "No cache has an entry");
    CHECK_STATUS(found->failure.status, SDD_ERROR_NOT_CACHED);
    sdd_result_release(found);
    STARTS_NOT(sdd_cache_query, (cache, downloader, &query), INVALID, "sdd_cache_query_options.completed: NULL");
    REFUSES(sdd_cache_key, (cache, "key", NULL, NULL, 1, text, 4, NULL), INVALID, "transforms: NULL");
    REFUSES(sdd_cache_key, (cache, "key", NULL, NULL, 0, NULL, 4, NULL), INVALID, "buffer: NULL");
    REFUSES(sdd_cache_key, (cache, "long key", NULL, NULL, 0, text, 4, NULL), SDD_ERROR_BUFFER_TOO_SMALL, "capacity: 4 ");
    REFUSES(sdd_cache_path, (cache, "key", text, 4, NULL), SDD_ERROR_NOT_FOUND, "cache: its entries are in no files");
    REFUSES(sdd_cache_open_wait, (cache, "key", &fd, &size), SDD_ERROR_NOT_CACHED, "key: there is no entry on disk under \"key\"");
    CHECK_TEXT(text, "old");
}

/* ----------------------------------------------------------------------------- loads, batches */

static void loads(void)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.completed = never_sdd_result_fn;
    REFUSES(sdd_loader_submit_wait, (loader, &request, -1, NULL), INVALID, "sdd_load_request.completed: it must be NULL");
    request.completed = NULL;
    request.options = SDD_OPTION_PROGRESS_EVENTS;
    REFUSES(sdd_loader_submit_wait, (loader, &request, -1, NULL), SDD_ERROR_INVALID_DOWNLOAD_OPERATION,
            "sdd_load_request.options: SDD_OPTION_PROGRESS_EVENTS means nothing to ");
    request.options = 0;
    REFUSES(sdd_loader_destroy, (NULL), INVALID, "loader: the shared loader");
    GIVES(0, sdd_load, (loader, url, 0, NULL, NULL, NULL), "completed: NULL");
    STARTS_NOT(sdd_loader_submit, (loader, &request), INVALID, "sdd_load_request.completed: NULL");
    REFUSES(sdd_loader_set_max_concurrent_prefetches, (loader, 0), INVALID, "count: 0 is not at least 1");
}

static void batches(void)
{
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    sdd_batch_status kind = SDD_BATCH_STATUS_INIT;
    sdd_batch_host host = SDD_BATCH_HOST_INIT;
    sdd_batch *batch = NULL;
    size_t count = 7;
    config.downloader = downloader;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    REFUSES(sdd_batch_wait, (batch, &item, 0, 0, &count), INVALID, "max: 0 is not at least 1");
    item.struct_size = 12;
    REFUSES(sdd_batch_wait, (batch, &item, 1, 0, &count), INVALID, "sdd_batch_item.struct_size: 12 is ");
    REFUSES(sdd_batch_release_slot, (batch, 3), SDD_ERROR_NOT_FOUND, "slot: 3 is none ");
    REFUSES(sdd_batch_get_status, (batch, 5, &kind), SDD_ERROR_NOT_FOUND, "index: 5 is not below 0");
    REFUSES(sdd_batch_get_host, (batch, 5, &host), SDD_ERROR_NOT_FOUND, "index: 5 is not below 0");
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    dead_batch = batch;
    CHECK_EQUAL(count, 7);
}

/* ------------------------------------------------------------------------------------- all calls */

static void every_call_has_failed(void)
{
    int missing = 0;
    for (int i = 0; i < CALL_COUNT; i++) {
        const char *name = header_calls[i].name;
        if (has_failed[i] != is_known_not_to_fail(name)) continue;
        fprintf(stderr, has_failed[i] ? "%s fails, and is said not to\n" : "%s has not been made to fail\n", name);
        missing++;
    }
    CHECK_EQUAL(missing, 0);
}

static void make_objects(void)
{
    static const uint8_t pixels[16];
    sdd_cache_config cached = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    downloader = make_downloader(NULL);
    dead = make_downloader(NULL);
    config.delivery = SDD_DELIVERY_APPLICATION;
    hosted = make_downloader(&config);
    cached.levels = SDD_CACHE_MEMORY;
    CHECK_STATUS(sdd_cache_create(&cached, &cache), SDD_OK);
    CHECK_STATUS(sdd_cache_create(&cached, &dead_cache), SDD_OK);
    loading.downloader = downloader;
    loading.cache = cache;
    CHECK_STATUS(sdd_loader_create(&loading, &loader), SDD_OK);
    CHECK_STATUS(sdd_loader_create(&loading, &dead_loader), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(dead_loader), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(dead_cache), SDD_OK);
    destroy(dead);
    CHECK_STATUS(sdd_image_create(2, 2, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    good_downloader = downloader, good_cache = cache, good_loader = loader, good_image = image;
}

static void what_every_call_refuses(void)
{
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    good_response = r.response, good_bytes = r.bytes;
    CHECK_STATUS(sdd_downloader_get_cookies(downloader, &good_cookies), SDD_OK);
    CHECK_STATUS(sdd_batch_create(&config, &good_batch), SDD_OK);
    every_call_refuses_null(0);
    numbers_of_no_enumeration_are_refused();
    CHECK_STATUS(sdd_batch_destroy(good_batch), SDD_OK);
    sdd_cookies_release(good_cookies);
}

static void handles_that_are_not_valid(void)
{
    sdd_downloader *made_up = (sdd_downloader *)&forged;
    every_call_gives(made_up, 1, SDD_ERROR_CLOSED);
    every_cache_call_gives(downloader, (sdd_cache *)made_up, SDD_ERROR_CLOSED);
    every_load_gives((sdd_loader *)cache, SDD_ERROR_CLOSED);
    every_batch_call_gives((sdd_batch *)loader, SDD_ERROR_CLOSED);
    every_call_gives(dead, 1, SDD_ERROR_CLOSED);
    every_cache_call_gives(downloader, dead_cache, SDD_ERROR_CLOSED);
    every_load_gives(dead_loader, SDD_ERROR_CLOSED);
    every_batch_call_gives(dead_batch, SDD_ERROR_CLOSED);
    every_batch_call_gives(NULL, SDD_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    start_watchdog();
    make_objects();
    RUN(what_every_call_refuses);
    RUN(pictures);
    RUN(bytes_and_decoding);
    RUN(encoding_and_transforms);
    RUN(responses_and_cookies);
    RUN(drafts);
    RUN(coders);
    RUN(downloaders);
    RUN(rules);
    RUN(requests);
    RUN(events);
    RUN(transports);
    RUN(caches);
    RUN(entries);
    RUN(loads);
    RUN(batches);
    RUN(handles_that_are_not_valid);
    RUN(every_call_has_failed);
    sdd_image_release(image);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    destroy(hosted);
    destroy(downloader);
    return 0;
}

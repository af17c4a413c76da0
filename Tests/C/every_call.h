/*
 * every_call.h - calls every function that takes a downloader, a cache, a loader or a batch with a dead handle: one
 * that was destroyed, that belongs to the parent process, or that never existed.
 */
#ifndef EVERY_CALL_H
#define EVERY_CALL_H

#include "check.h"

/* Checks that the message names the call, its argument, and why the handle is not valid. */
static inline void check_told_dead(const char *call)
{
    const char *told = sdd_last_error_message();
    if (*call == '(') call = strchr(call, ')') + 1; /* a cast */
    size_t length = strcspn(call, "(");
    if (strncmp(told, call, length) != 0 || told[length] != ':') FAIL("the message does not name %s: %s", call, told);
    int names = strstr(told, "downloader: ") || strstr(told, "cache: ") || strstr(told, "loader: ") ||
                strstr(told, "batch: ");
    int says = strstr(told, " is no living ") || strstr(told, " of this process: it is the parent's") ||
               strstr(told, "NULL stands for the shared ") || strstr(told, "batch: NULL is not allowed");
    if (!names || !says) FAIL("the message does not explain %s: %s", call, told);
}

#define CHECK_DEAD(call, expected) \
    do { \
        CHECK_STATUS(call, expected); \
        check_told_dead(#call); \
    } while (0)

#define CHECK_DEAD_GIVES(call, expected) \
    do { \
        sdd_set_priority(0, 99); \
        CHECK_EQUAL(call, expected); \
        check_told_dead(#call); \
    } while (0)

static inline int32_t no_entries(const sdd_cache_entry *entry, void *user_data)
{
    (void)user_data;
    FAIL("an entry in %s", entry->file);
}

static inline void never_completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    FAIL("a callback for %s", result->url);
}

static inline void never_noticed(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    FAIL("a notice of kind %d", (int)notice->kind);
}

static inline void never_started(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)transfer, (void)user_data;
    FAIL("a transfer for %s", request->url);
}

static inline void never_cancelled(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
    FAIL("a cancel");
}

static inline int32_t never_asked(const void *bytes, size_t size, void *user_data)
{
    (void)bytes, (void)size, (void)user_data;
    FAIL("a coder is asked");
}

static inline sdd_status never_opened(const sdd_coder_task *task, void **decoder, void *user_data)
{
    (void)task, (void)decoder, (void)user_data;
    FAIL("a coder is opened");
}

static inline sdd_status never_fed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    FAIL("a coder is fed");
}

static inline sdd_status never_next(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    (void)decoder, (void)frame, (void)user_data;
    FAIL("a coder is asked for a frame");
}

static inline void never_closed(void *decoder, void *user_data)
{
    (void)decoder, (void)user_data;
    FAIL("a coder is closed");
}

static inline void never_freed(void *user_data)
{
    (void)user_data;
    FAIL("user data of a refused call is freed");
}

static inline sdd_cache_item never_stored(const char *key)
{
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = key;
    item.levels = SDD_CACHE_MEMORY;
    item.completed = never_completed;
    item.user_data_free = never_freed;
    return item;
}

static inline sdd_cache_query_options never_looked_for(const char *key)
{
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    query.key = key;
    query.completed = never_completed;
    query.user_data_free = never_freed;
    return query;
}

/* Calls every function that reads or sets the rules of a downloader. */
static inline void every_rule_gives(sdd_downloader *dead, sdd_status expected)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_coder coder = SDD_CODER_INIT;
    credential.bearer_token = "token";
    modifiers.user_data_free = never_freed;
    transport.scheme = "archive";
    transport.start = never_started;
    transport.cancel = never_cancelled;
    transport.user_data_free = never_freed;
    coder.name = "never";
    coder.format = SDD_IMAGE_FORMAT_APPLICATION;
    coder.can_decode = never_asked;
    coder.open = never_opened;
    coder.feed = never_fed;
    coder.next = never_next;
    coder.close = never_closed;
    coder.user_data_free = never_freed;
    CHECK_DEAD(sdd_set_header(dead, "X", "y"), expected);
    CHECK_DEAD(sdd_get_header(dead, "Accept", NULL, 0, NULL), expected);
    CHECK_DEAD(sdd_downloader_set_max_concurrent_downloads(dead, 3), expected);
    CHECK_DEAD(sdd_downloader_set_max_concurrent_per_host(dead, 3), expected);
    CHECK_DEAD(sdd_downloader_set_min_host_interval(dead, 3), expected);
    CHECK_DEAD(sdd_downloader_set_reserved_urgent_slots(dead, 1), expected);
    CHECK_DEAD(sdd_downloader_set_execution_order(dead, SDD_ORDER_LIFO), expected);
    CHECK_DEAD(sdd_downloader_set_download_timeout(dead, 1000), expected);
    CHECK_DEAD(sdd_downloader_set_credential(dead, &credential), expected);
    CHECK_DEAD(sdd_downloader_set_modifiers(dead, &modifiers), expected);
    CHECK_DEAD(sdd_downloader_set_decode_options(dead, NULL), expected);
    CHECK_DEAD(sdd_downloader_set_offline(dead, 1), expected);
    CHECK_DEAD(sdd_downloader_add_transport(dead, &transport), expected);
    CHECK_DEAD(sdd_downloader_add_coder(dead, &coder), expected);
    CHECK_DEAD(sdd_downloader_remove_transport(dead, "archive"), expected);
    CHECK_DEAD(sdd_downloader_remove_coder(dead, "never"), expected);
    CHECK_DEAD(sdd_downloader_get_config(dead, &config), expected);
    CHECK_DEAD(sdd_downloader_suspend(dead), expected);
    CHECK_DEAD(sdd_downloader_resume(dead), expected);
    CHECK_DEAD_GIVES(sdd_downloader_is_suspended(dead), 0);
    CHECK_DEAD(sdd_downloader_enter_background(dead, 0), expected);
    CHECK_DEAD(sdd_downloader_enter_foreground(dead), expected);
    CHECK_DEAD(sdd_downloader_get_statistics(dead, &statistics), expected);
    CHECK_DEAD(sdd_downloader_set_observer(dead, never_noticed, NULL, NULL), expected);
    CHECK_DEAD(sdd_downloader_set_log(dead, SDD_LOG_DEBUG, never_noticed, NULL, NULL), expected);
    CHECK(network.max_redirects == 0 && statistics.requests == 0);
}

/* Calls every function on requests, cookies, transfers and events. A token identifies its request by itself, so calls
   that take a token never report a dead handle. */
static inline void every_request_gives(sdd_downloader *dead, sdd_token token, sdd_status expected)
{
    const char *url = "http://127.0.0.1/";
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    sdd_event event = SDD_EVENT_INIT;
    sdd_cache_item item = never_stored(url);
    sdd_cache_query_options query = never_looked_for(url);
    sdd_response *response = (sdd_response *)&info;
    sdd_cookies *cookies = (sdd_cookies *)&info;
    sdd_bytes *bytes = (sdd_bytes *)&info;
    sdd_result *result = (sdd_result *)&info;
    size_t count = 7;
    request.url = url;
    request.completed = never_completed;
    cookie.name = cookie.value = "x";
    cookie.domain = "example.org";
    CHECK_DEAD_GIVES(sdd_download(dead, url, 0, NULL, never_completed, NULL), 0);
    CHECK_DEAD_GIVES(sdd_downloader_submit(dead, &request), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    CHECK_DEAD_GIVES(sdd_cache_put(NULL, dead, &item), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    CHECK_DEAD_GIVES(sdd_cache_query(NULL, dead, &query), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    CHECK_DEAD(sdd_get(dead, url, 0, -1, NULL, &bytes, NULL), expected);
    request.completed = NULL;
    CHECK_DEAD(sdd_downloader_submit_wait(dead, &request, -1, &result), expected);
    CHECK_DEAD(sdd_downloader_cancel_all(dead), expected);
    CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_HIGH), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_token_get_url(token, NULL, 0, &count), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_token_get_response(token, &response), SDD_ERROR_NOT_FOUND);
    CHECK_DEAD(sdd_downloader_idle_wait(dead, -1), expected);
    CHECK_DEAD(sdd_downloader_set_cookie(dead, &cookie), expected);
    CHECK_DEAD(sdd_downloader_get_cookies(dead, &cookies), expected);
    CHECK_DEAD(sdd_downloader_clear_cookies(dead, NULL), expected);
    CHECK_STATUS(sdd_transfer_respond(token, 200, NULL, 0, -1), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_transfer_write(token, "x", 1), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_transfer_finish(token, SDD_OK, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_DEAD_GIVES(sdd_downloader_event_fd(dead), -1);
    CHECK_DEAD(sdd_downloader_dispatch(dead, 0, NULL), expected);
    CHECK_DEAD(sdd_downloader_drain(dead, &event, 1, &count), expected);
    CHECK_DEAD(sdd_downloader_wait(dead, &event, 1, -1, &count), expected);
    CHECK(count == 7 && response == NULL && cookies == NULL && bytes == NULL && result == NULL);
}

/* Calls every function that stores or reads entries of a cache; `downloader` is alive, or NULL. */
static inline void every_entry_gives(sdd_downloader *downloader, sdd_cache *dead, sdd_status expected)
{
    const char *key = "http://127.0.0.1/";
    sdd_cache_item item = never_stored(key);
    sdd_cache_query_options query = never_looked_for(key);
    sdd_result *result = (sdd_result *)&item;
    int32_t descriptor = 7;
    int64_t size;
    CHECK_DEAD_GIVES(sdd_cache_put(dead, downloader, &item), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    CHECK_DEAD_GIVES(sdd_cache_query(dead, downloader, &query), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    CHECK_DEAD(sdd_cache_put_wait(dead, &item), expected);
    query.completed = NULL;
    query.user_data_free = NULL;
    CHECK_DEAD(sdd_cache_query_wait(dead, &query, &result), expected);
    CHECK_DEAD_GIVES((intptr_t)sdd_cache_memory_image(dead, key), 0);
    CHECK_DEAD_GIVES(sdd_cache_contains_wait(dead, key, SDD_CACHE_ALL), 0);
    CHECK_DEAD(sdd_cache_remove_wait(dead, key, SDD_CACHE_ALL), expected);
    CHECK_DEAD(sdd_cache_open_wait(dead, key, &descriptor, &size), expected);
    CHECK(descriptor == -1 && result == NULL);
}

/* Calls every function that takes a cache. NULL stands for the shared cache, which cannot be destroyed. */
static inline void every_cache_call_gives(sdd_downloader *downloader, sdd_cache *dead, sdd_status expected)
{
    const char *key = "http://127.0.0.1/";
    sdd_cache_statistics statistics = SDD_CACHE_STATISTICS_INIT;
    char text[100] = "untouched";
    size_t length = 7;
    every_entry_gives(downloader, dead, expected);
    CHECK_DEAD(sdd_cache_clear_wait(dead, SDD_CACHE_ALL), expected);
    CHECK_DEAD(sdd_cache_flush_wait(dead, -1), expected);
    CHECK_DEAD(sdd_cache_key(dead, key, NULL, NULL, 0, text, sizeof text, &length), expected);
    CHECK_DEAD(sdd_cache_path(dead, key, text, sizeof text, &length), expected);
    CHECK_DEAD(sdd_cache_trim_memory(dead, SDD_TRIM_ALL), expected);
    CHECK_DEAD(sdd_cache_trim_disk_wait(dead), expected);
    CHECK_DEAD(sdd_cache_merge_wait(dead, "/nowhere", NULL), expected);
    CHECK_DEAD(sdd_cache_list_wait(dead, 0, no_entries, NULL), expected);
    CHECK_DEAD(sdd_cache_set_memory_limits(dead, 0, 0), expected);
    CHECK_DEAD(sdd_cache_set_disk_limits(dead, 0, 0), expected);
    CHECK_DEAD(sdd_cache_get_statistics_wait(dead, &statistics), expected);
    CHECK_TEXT(text, "untouched");
    if (dead) CHECK_DEAD(sdd_cache_destroy(dead), expected);
}

/* Calls every function that takes a batch. */
static inline void every_batch_call_gives(sdd_batch *dead, sdd_status expected)
{
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    sdd_batch_statistics statistics = SDD_BATCH_STATISTICS_INIT;
    sdd_batch_status status = SDD_BATCH_STATUS_INIT;
    sdd_batch_host host = SDD_BATCH_HOST_INIT;
    size_t count = 7;
    CHECK_DEAD(sdd_batch_wait(dead, &item, 1, -1, &count), expected);
    CHECK_DEAD(sdd_batch_release_slot(dead, 0), expected);
    CHECK_DEAD(sdd_batch_cancel(dead), expected);
    CHECK_DEAD_GIVES(sdd_batch_event_fd(dead), -1);
    CHECK_DEAD(sdd_batch_get_statistics(dead, &statistics), expected);
    CHECK_DEAD(sdd_batch_get_status(dead, 0, &status), expected);
    CHECK_DEAD(sdd_batch_get_host(dead, 0, &host), expected);
    CHECK_DEAD(sdd_batch_destroy(dead), expected);
    CHECK_EQUAL(count, 7);
}

/* Calls every function that takes a loader. NULL stands for the shared loader, which cannot be destroyed. */
static inline void every_load_gives(sdd_loader *dead, sdd_status expected)
{
    const char *url = "http://127.0.0.1/";
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    request.url = url;
    request.completed = never_completed;
    request.user_data_free = never_freed;
    list.urls = &url;
    list.count = 1;
    list.user_data_free = never_freed;
    CHECK_DEAD_GIVES(sdd_prefetch(dead, &list), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    CHECK_DEAD(sdd_loader_set_max_concurrent_prefetches(dead, 3), expected);
    CHECK_DEAD_GIVES(sdd_load(dead, url, 0, NULL, never_completed, NULL), 0);
    CHECK_DEAD_GIVES(sdd_loader_submit(dead, &request), 0);
    CHECK_STATUS(sdd_last_error(NULL), expected);
    {
        sdd_load_request waited = SDD_LOAD_REQUEST_INIT;
        sdd_result *loaded = (sdd_result *)&request;
        waited.url = url;
        CHECK_DEAD(sdd_loader_submit_wait(dead, &waited, -1, &loaded), expected);
        CHECK(loaded == NULL);
    }
    CHECK_DEAD_GIVES(sdd_loader_running_count(dead), 0);
    CHECK_DEAD(sdd_loader_cancel_all(dead), expected);
    CHECK_DEAD(sdd_loader_remove_failed_url(dead, url), expected);
    CHECK_DEAD(sdd_loader_remove_all_failed_urls(dead), expected);
    CHECK_DEAD_GIVES(sdd_loader_is_blocked(dead, url), 0);
    if (dead) CHECK_DEAD(sdd_loader_destroy(dead), expected);
}

/* Calls every function that takes a downloader. NULL stands for the shared downloader, which cannot be closed or
   destroyed. */
static inline void every_call_gives(sdd_downloader *dead, sdd_token token, sdd_status expected)
{
    every_rule_gives(dead, expected);
    every_request_gives(dead, token, expected);
    if (dead == NULL) return;
    CHECK_DEAD(sdd_downloader_close(dead, SDD_CLOSE_CANCEL), expected);
    CHECK_DEAD(sdd_downloader_destroy(dead), expected);
}

#endif

/* What runs when: limits, order, priorities, suspending, closing, the background; and what a downloader tells of
   it. The names begin with the rows of the contract that they show. */
#include "record.h"
#include "server.h"

enum { MOST = 20 };

static sdd_downloader *downloader_of(int32_t most)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = most;
    return make_downloader(&config);
}

/* -------------------------------------------------------------------------- who ended, in which order */

static struct {
    pthread_mutex_t lock;
    int count, numbers[MOST];
    sdd_status errors[MOST];
} ends = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void note_end(const sdd_result *result, void *user_data)
{
    check_result(result);
    pthread_mutex_lock(&ends.lock);
    CHECK(ends.count < MOST);
    ends.numbers[ends.count] = (int)(intptr_t)user_data;
    ends.errors[ends.count++] = result->error;
    pthread_mutex_unlock(&ends.lock);
}

/* A request with a number; `path` has a %d for it. */
static sdd_token submit_number(sdd_downloader *downloader, int number, const char *url, int32_t priority)
{
    sdd_request request = SDD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY;
    request.priority = priority;
    request.completed = note_end;
    request.user_data = (void *)(intptr_t)number;
    return submit(downloader, &request);
}

static void check_order(sdd_downloader *downloader, const int *expected, int count)
{
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends.count, count);
    for (int i = 0; i < count; i++) {
        if (ends.errors[i] != SDD_OK) FAIL("%d: %s", ends.numbers[i], sdd_status_name(ends.errors[i]));
        if (ends.numbers[i] != expected[i]) FAIL("%d ended as number %d, not %d", ends.numbers[i], i + 1, expected[i]);
    }
    ends.count = 0;
}
#define CHECK_ORDER(downloader, ...) \
    do { \
        static const int expected_[] = { __VA_ARGS__ }; \
        check_order(downloader, expected_, sizeof expected_ / sizeof *expected_); \
    } while (0)

static sdd_request_info info_of(sdd_downloader *downloader, sdd_token token)
{
    sdd_request_info info = SDD_REQUEST_INFO_INIT;
    CHECK_STATUS(sdd_get_request_info(downloader, token, &info), SDD_OK);
    CHECK(info.struct_size == sizeof info && info.waiting_us >= 0 && info.running_us >= 0);
    return info;
}

static sdd_statistics statistics_of(sdd_downloader *downloader)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_get_statistics(downloader, &statistics), SDD_OK);
    return statistics;
}

/* ------------------------------------------------------------------------------- config and setters */

static sdd_downloader_config config_of(sdd_downloader *downloader)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    CHECK_STATUS(sdd_get_config(downloader, &config), SDD_OK);
    CHECK_EQUAL(config.struct_size, sizeof config);
    return config;
}

static void d15_g1_g11_the_defaults_are_the_headers(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_downloader_config config = config_of(downloader);
    CHECK_EQUAL(config.delivery, SDD_DELIVERY_THREAD);
    CHECK_EQUAL(config.max_concurrent_downloads, 6);
    CHECK_EQUAL(config.download_timeout_ms, 15000);
    CHECK_EQUAL(config.max_body_bytes, 64 << 20);
    CHECK_EQUAL(config.max_pixels, 134217728);
    CHECK_EQUAL(config.max_redirects, 10);
    CHECK(config.decode_threads >= 1 && config.decode_threads <= 8);
    CHECK(config.allow_file_urls == 0 && config.ca_file == NULL && config.ca_path == NULL);
    CHECK_EQUAL(config.max_concurrent_per_host, 6);
    CHECK(config.reserved_urgent_slots == 0 && config.execution_order == SDD_ORDER_FIFO && config.ageing_ms == 0);
    CHECK(config.queue_timeout_ms == 0 && config.first_byte_timeout_ms == 0 && config.total_timeout_ms == 0);
    CHECK_EQUAL(config.connect_timeout_ms, 15000);
    CHECK(config.min_progress_interval == 0 && config.min_progress_interval_ms == 0);
    CHECK_TEXT(config.accepted_status_codes, "200-299");
    CHECK_TEXT(config.accepted_content_types, "*");
    CHECK(config.credential == NULL && config.modifiers == NULL && config.resolve == NULL);
    CHECK_EQUAL(config.max_header_bytes, 256 << 10);
    CHECK_EQUAL(config.max_header_count, 1000);
    CHECK(config.allow_downgrade == 0 && config.address_policy == SDD_ADDRESS_ANY && config.ip_version == SDD_IP_ANY);
    CHECK(config.proxy == NULL && config.no_proxy == NULL && config.proxy_mode == SDD_PROXY_ENVIRONMENT);
    CHECK(config.http_version == SDD_HTTP_DEFAULT && config.min_tls_version == SDD_TLS_1_2);
    CHECK(config.tcp_keepalive_s == 60 && config.dns_cache_ms == 60000 && config.receive_buffer_bytes == 98304);
    CHECK(config.max_connections == 0 && config.max_connections_per_host == 0 && config.max_idle_connections == 0);
    CHECK(config.cookie_file == NULL && config.network_interface == NULL && config.unix_socket_path == NULL);
    destroy(downloader);
}

/* What a config says is what comes back, with strings of the downloader's own; and it can be given again. */
static void d2_d15_a_config_comes_back(void)
{
    char status_codes[] = "200-299,404", types[] = "image/*", ca_file[300];
    snprintf(ca_file, sizeof ca_file, "%s", setting("SDD_TEST_CA"));
    sdd_downloader_config given = SDD_DOWNLOADER_CONFIG_INIT;
    given.delivery = SDD_DELIVERY_HOST;
    given.max_concurrent_downloads = 17;
    given.download_timeout_ms = 1234;
    given.max_body_bytes = 12345;
    given.max_pixels = 54321;
    given.max_redirects = 3;
    given.decode_threads = 2;
    given.allow_file_urls = 1;
    given.ca_file = ca_file;
    given.max_concurrent_per_host = 4;
    given.reserved_urgent_slots = 5;
    given.execution_order = SDD_ORDER_LIFO;
    given.ageing_ms = 777;
    given.queue_timeout_ms = 11;
    given.connect_timeout_ms = 12;
    given.first_byte_timeout_ms = 13;
    given.total_timeout_ms = 14;
    given.min_progress_interval = 0.25;
    given.min_progress_interval_ms = 15;
    given.accepted_status_codes = status_codes;
    given.accepted_content_types = types;
    given.max_header_bytes = 4096;
    given.max_header_count = 20;
    given.allow_downgrade = 1;
    given.ip_version = SDD_IP_V4;
    given.proxy_mode = SDD_PROXY_NONE;
    given.http_version = SDD_HTTP_1_1;
    given.min_tls_version = SDD_TLS_1_3;
    given.tcp_keepalive_s = -1;
    given.dns_cache_ms = -1;
    given.max_connections = 30;
    given.max_connections_per_host = 8;
    given.max_idle_connections = 9;
    given.receive_buffer_bytes = 2048;
    sdd_downloader *downloader = make_downloader(&given);
    memset(status_codes, '#', sizeof status_codes - 1);
    memset(types, '#', sizeof types - 1);
    for (int i = 0; i < 2; i++) {
        sdd_downloader_config config = config_of(downloader);
        CHECK_TEXT(config.accepted_status_codes, "200-299,404");
        CHECK_TEXT(config.accepted_content_types, "image/*");
        CHECK_TEXT(config.ca_file, ca_file);
        /* All else byte for byte. */
        sdd_downloader_config same = config;
        same.accepted_status_codes = given.accepted_status_codes;
        same.accepted_content_types = given.accepted_content_types;
        same.ca_file = given.ca_file;
        CHECK(memcmp(&same, &given, sizeof same) == 0);
        sdd_downloader *next = make_downloader(&config);
        destroy(downloader);
        downloader = next;
    }
    destroy(downloader);
}

static void g1_g2_d7_d9_d10_setters_change_the_config_and_refuse_the_rest(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    CHECK_STATUS(sdd_set_max_concurrent_downloads(downloader, 9), SDD_OK);
    CHECK_STATUS(sdd_set_max_concurrent_per_host(downloader, 8), SDD_OK);
    CHECK_STATUS(sdd_set_reserved_urgent_slots(downloader, 7), SDD_OK);
    CHECK_STATUS(sdd_set_execution_order(downloader, SDD_ORDER_LIFO), SDD_OK);
    CHECK_STATUS(sdd_set_download_timeout(downloader, 4321), SDD_OK);
    static const int32_t bad_counts[] = { 0, -1, INT32_MIN };
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(sdd_set_max_concurrent_downloads(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_set_max_concurrent_per_host(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        if (bad_counts[i] == 0) continue;
        CHECK_STATUS(sdd_set_reserved_urgent_slots(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_set_execution_order(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_set_download_timeout(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
    }
    CHECK_STATUS(sdd_set_execution_order(downloader, 2), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_set_download_timeout(downloader, INT64_MIN), SDD_ERROR_INVALID_ARGUMENT);
    sdd_downloader_config config = config_of(downloader);
    CHECK_EQUAL(config.max_concurrent_downloads, 9);
    CHECK_EQUAL(config.max_concurrent_per_host, 8);
    CHECK_EQUAL(config.reserved_urgent_slots, 7);
    CHECK_EQUAL(config.execution_order, SDD_ORDER_LIFO);
    CHECK_EQUAL(config.download_timeout_ms, 4321);
    CHECK_EQUAL(config.connect_timeout_ms, 4321); /* its default */
    CHECK_STATUS(sdd_set_reserved_urgent_slots(downloader, 0), SDD_OK);
    CHECK_STATUS(sdd_set_download_timeout(downloader, 0), SDD_OK);
    config = config_of(downloader);
    CHECK(config.reserved_urgent_slots == 0 && config.download_timeout_ms == 15000);
    /* The new limit holds for what comes from now on. */
    record early = RECORD_INIT, late = RECORD_INIT;
    record_submit(downloader, &early, at("/hold/timeout?1"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_set_download_timeout(downloader, 500), SDD_OK);
    record_submit(downloader, &late, at("/hold/timeout?2"), SDD_OPTION_BYTES_ONLY);
    record_wait(&late);
    CHECK_ENDED(&late, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_STALL);
    release("timeout");
    record_wait(&early);
    CHECK_ENDED(&early, SDD_OK, 0);
    record_clear(&early);
    record_clear(&late);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------ suspending, closing */

static void d19_a_suspended_downloader_starts_nothing(void)
{
    sdd_downloader *downloader = downloader_of(2);
    record records[4];
    sdd_token tokens[4];
    char path[50];
    CHECK_EQUAL(sdd_is_suspended(downloader), 0);
    for (int i = 0; i < 4; i++) {
        records[i] = (record)RECORD_INIT;
        snprintf(path, sizeof path, "/hold/suspended%d", i);
        if (i == 1) CHECK_STATUS(sdd_suspend(downloader), SDD_OK);
        if (i == 1) CHECK_STATUS(sdd_suspend(downloader), SDD_OK);
        tokens[i] = record_submit(downloader, &records[i], at(path), SDD_OPTION_BYTES_ONLY);
    }
    CHECK_EQUAL(sdd_is_suspended(downloader), 1);
    CHECK_EQUAL(sdd_current_download_count(downloader), 4);
    /* What runs goes on, and its place stays empty. */
    release("suspended0");
    record_wait(&records[0]);
    CHECK_ENDED(&records[0], SDD_OK, 0);
    for (int i = 1; i < 4; i++) CHECK_EQUAL(info_of(downloader, tokens[i]).state, SDD_STATE_WAITING);
    /* X9: a request that waits can be cancelled, and leaves the queue at once. */
    CHECK_STATUS(sdd_cancel(downloader, tokens[2]), SDD_OK);
    record_wait(&records[2]);
    CHECK_ENDED(&records[2], SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_WAITING);
    CHECK_EQUAL(sdd_current_download_count(downloader), 2);
    CHECK_EQUAL(requests_of("/hold/suspended1") + requests_of("/hold/suspended2"), 0);
    CHECK_STATUS(sdd_resume(downloader), SDD_OK);
    CHECK_EQUAL(sdd_is_suspended(downloader), 0);
    wait_for_requests("/hold/suspended1", 1);
    wait_for_requests("/hold/suspended3", 1);
    release("suspended1");
    release("suspended3");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_ENDED(&records[1], SDD_OK, 0);
    CHECK_ENDED(&records[3], SDD_OK, 0);
    for (int i = 0; i < 4; i++) record_clear(&records[i]);
    CHECK_STATUS(sdd_resume(downloader), SDD_OK);
    destroy(downloader);
    CHECK_EQUAL(sdd_is_suspended(downloader), 0);
}

/* D18: what comes after the close ends, once, with its own number, and in the same way as all else. */
static void check_closed(sdd_downloader *downloader)
{
    record r = RECORD_INIT;
    for (int i = 0; i < 2; i++) {
        fetch(downloader, &r, i ? at("/ok/after-close") : "nonsense", SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_CLOSED);
        CHECK(r.completed_count == 1 && r.freed_count == 1 && r.progress_count == 0);
        CHECK(r.stage == SDD_STAGE_SUBMIT && r.response == NULL);
    }
    CHECK_EQUAL(requests_of("/ok/after-close"), 0);
    record_clear(&r);
}

static void d17_d18_close_cancels(void)
{
    sdd_downloader *downloader = downloader_of(1);
    record running = RECORD_INIT, joined = RECORD_INIT, waiting = RECORD_INIT;
    CHECK_STATUS(sdd_close(downloader, 2), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_close(downloader, -1), SDD_ERROR_INVALID_ARGUMENT);
    record_submit(downloader, &running, at("/hold/closed"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &joined, at("/hold/closed"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &waiting, at("/ok/never"), SDD_OPTION_BYTES_ONLY);
    wait_for_requests("/hold/closed", 1);
    CHECK_STATUS(sdd_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_ENDED(&running, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    CHECK_ENDED(&joined, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    CHECK_ENDED(&waiting, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_WAITING);
    check_closed(downloader);
    CHECK_STATUS(sdd_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    CHECK_EQUAL(requests_of("/ok/never"), 0);
    record_clear(&running);
    record_clear(&joined);
    record_clear(&waiting);
    destroy(downloader);
    CHECK_STATUS(sdd_close(downloader, SDD_CLOSE_CANCEL), SDD_ERROR_CLOSED);
}

static void d17_d18_close_drains(void)
{
    sdd_downloader *downloader = downloader_of(1);
    record running = RECORD_INIT, waiting = RECORD_INIT;
    record_submit(downloader, &running, at("/hold/drained"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &waiting, at("/file/png/rgb8.png?drained"), 0);
    CHECK_STATUS(sdd_close(downloader, SDD_CLOSE_DRAIN), SDD_OK);
    check_closed(downloader);
    release("drained");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_ENDED(&running, SDD_OK, 0);
    CHECK_ENDED(&waiting, SDD_OK, 0);
    CHECK_EQUAL(sdd_image_width(waiting.image), 19);
    record_clear(&running);
    record_clear(&waiting);
    destroy(downloader);

    /* One that is drained may be closed again, by cancelling. */
    downloader = downloader_of(1);
    record_submit(downloader, &running, at("/silence"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_close(downloader, SDD_CLOSE_DRAIN), SDD_OK);
    CHECK_STATUS(sdd_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    record_wait(&running);
    CHECK_STATUS(running.error, SDD_ERROR_CANCELLED);
    check_closed(downloader);
    record_clear(&running);
    destroy(downloader);
}

static void d17_the_shared_downloader_is_not_closed(void)
{
    record r = RECORD_INIT;
    for (int mode = SDD_CLOSE_CANCEL; mode <= SDD_CLOSE_DRAIN; mode++) {
        CHECK_STATUS(sdd_close(NULL, mode), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_close(sdd_shared(), mode), SDD_ERROR_INVALID_ARGUMENT);
    }
    fetch(NULL, &r, at("/ok?shared"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
}

/* D8: what waits and what runs, but not what shares, and not what is over. */
static void d8_the_count_is_of_transfers(void)
{
    sdd_downloader *downloader = downloader_of(2);
    CHECK_EQUAL(sdd_current_download_count(downloader), 0);
    for (int i = 0; i < 12; i++) submit_number(downloader, i, atf("/hold/count?%d", i / 2), 0);
    CHECK_EQUAL(sdd_current_download_count(downloader), 6);
    wait_for_requests("/hold/count", 2);
    CHECK_EQUAL(statistics_of(downloader).running, 2);
    CHECK_EQUAL(statistics_of(downloader).waiting, 4);
    CHECK_EQUAL(sdd_current_download_count(downloader), 6);
    release("count");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_EQUAL(sdd_current_download_count(downloader), 0);
    CHECK_EQUAL(sdd_current_download_count((sdd_downloader *)&ends), 0);
    ends.count = 0;
    destroy(downloader);
}

/* -------------------------------------------------------------------------------- order, priorities */

static void d11_first_in_first_out(void)
{
    sdd_downloader *downloader = downloader_of(1);
    for (int i = 1; i <= 7; i++) submit_number(downloader, i, i == 1 ? at("/hold/fifo") : atf("/ok?fifo%d", i), 0);
    release("fifo");
    CHECK_ORDER(downloader, 1, 2, 3, 4, 5, 6, 7);
    destroy(downloader);
}

/* D13: one at a time. 1 to 7 are submitted; when 7 starts, 8 to 14. The newest that waits is always the next. */
static void d10_d13_last_in_first_out(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 1;
    config.execution_order = SDD_ORDER_LIFO;
    sdd_downloader *downloader = make_downloader(&config);
    for (int i = 1; i <= 7; i++)
        submit_number(downloader, i, i == 1 || i == 7 ? atf("/hold/lifo%d", i) : atf("/ok?lifo%d", i), 0);
    release("lifo1");
    wait_for_requests("/hold/lifo7", 1);
    for (int i = 8; i <= 14; i++) submit_number(downloader, i, atf("/ok?lifo%d", i), 0);
    release("lifo7");
    CHECK_ORDER(downloader, 1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2);
    destroy(downloader);
}

/* D10: a new order holds for those that wait already. D14: priority comes before order. */
static void d10_d14_the_order_changes_while_they_wait(void)
{
    sdd_downloader *downloader = downloader_of(1);
    submit_number(downloader, 1, at("/hold/order"), 0);
    for (int i = 2; i <= 6; i++)
        submit_number(downloader, i, atf("/ok?order%d", i), i % 2 ? SDD_PRIORITY_HIGH : SDD_PRIORITY_NORMAL);
    CHECK_STATUS(sdd_set_execution_order(downloader, SDD_ORDER_LIFO), SDD_OK);
    release("order");
    CHECK_ORDER(downloader, 1, 5, 3, 6, 4, 2);
    submit_number(downloader, 1, at("/hold/order-back"), 0);
    for (int i = 2; i <= 6; i++) submit_number(downloader, i, atf("/ok?order%d", i), 0);
    CHECK_STATUS(sdd_set_execution_order(downloader, SDD_ORDER_FIFO), SDD_OK);
    release("order-back");
    CHECK_ORDER(downloader, 1, 2, 3, 4, 5, 6);
    destroy(downloader);
}

static void o0_o7_r1_r2_five_priorities(void)
{
    sdd_downloader *downloader = downloader_of(1);
    submit_number(downloader, 0, at("/hold/five"), 0);
    for (int i = 1; i <= 5; i++) submit_number(downloader, i, atf("/ok?five%d", i), SDD_PRIORITY_VERY_LOW + i - 1);
    for (int i = 6; i <= 10; i++) submit_number(downloader, i, atf("/ok?five%d", i), SDD_PRIORITY_VERY_HIGH - (i - 6));
    release("five");
    CHECK_ORDER(downloader, 0, 5, 6, 4, 7, 3, 8, 2, 9, 1, 10);

    /* The option bits stand for three of them; bit 7 beats bit 0, a priority beats both. */
    static const struct { uint64_t options; int32_t given, expected; } all[] = {
        { 0, 0, SDD_PRIORITY_NORMAL },
        { SDD_OPTION_LOW_PRIORITY, 0, SDD_PRIORITY_LOW },
        { SDD_OPTION_HIGH_PRIORITY, 0, SDD_PRIORITY_HIGH },
        { SDD_OPTION_LOW_PRIORITY | SDD_OPTION_HIGH_PRIORITY, 0, SDD_PRIORITY_HIGH },
        { SDD_OPTION_HIGH_PRIORITY, SDD_PRIORITY_VERY_LOW, SDD_PRIORITY_VERY_LOW },
        { SDD_OPTION_LOW_PRIORITY, SDD_PRIORITY_NORMAL, SDD_PRIORITY_NORMAL },
    };
    CHECK_STATUS(sdd_suspend(downloader), SDD_OK);
    for (int i = 0; i < 6; i++) {
        sdd_request request = SDD_REQUEST_INIT;
        request.url = atf("/ok?bits%d", i);
        request.options = all[i].options | SDD_OPTION_BYTES_ONLY;
        request.priority = all[i].given;
        request.completed = note_end;
        sdd_token token = submit(downloader, &request);
        CHECK_EQUAL(info_of(downloader, token).priority, all[i].expected);
        CHECK_EQUAL(info_of(downloader, token).effective_priority, all[i].expected);
    }
    destroy(downloader);
    ends.count = 0;
}

static void r3_z5_priorities_change_while_they_wait(void)
{
    sdd_downloader *downloader = downloader_of(1);
    sdd_token tokens[6];
    for (int i = 0; i < 6; i++) tokens[i] = submit_number(downloader, i, i ? atf("/ok?set%d", i) : at("/hold/set"), 0);
    CHECK_STATUS(sdd_set_priority(downloader, tokens[5], SDD_PRIORITY_VERY_HIGH), SDD_OK);
    CHECK_STATUS(sdd_set_priority(downloader, tokens[1], SDD_PRIORITY_VERY_LOW), SDD_OK);
    CHECK_STATUS(sdd_set_priority(downloader, tokens[4], SDD_PRIORITY_HIGH), SDD_OK);
    CHECK_STATUS(sdd_set_priority(downloader, tokens[0], SDD_PRIORITY_LOW), SDD_OK);
    static const int32_t bad[] = { SDD_PRIORITY_DEFAULT, -1, 6, INT32_MAX };
    for (int i = 0; i < 4; i++)
        CHECK_STATUS(sdd_set_priority(downloader, tokens[1], bad[i]), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(info_of(downloader, tokens[1]).priority, SDD_PRIORITY_VERY_LOW);
    release("set");
    CHECK_ORDER(downloader, 0, 5, 4, 2, 3, 1);
    CHECK_STATUS(sdd_set_priority(downloader, tokens[1], SDD_PRIORITY_HIGH), SDD_ERROR_NOT_FOUND);
    destroy(downloader);
}

/* R3: the most urgent of those who share counts, as long as it is there. */
static void r3_z5_a_joiner_raises_and_leaving_lowers(void)
{
    sdd_downloader *downloader = downloader_of(1);
    submit_number(downloader, 0, at("/hold/joined"), 0);
    sdd_token first = submit_number(downloader, 1, at("/ok?joined1"), SDD_PRIORITY_LOW);
    submit_number(downloader, 2, at("/ok?joined2"), SDD_PRIORITY_NORMAL);
    sdd_token third = submit_number(downloader, 3, at("/ok?joined3"), SDD_PRIORITY_LOW);
    /* Raised, for good. */
    sdd_token joiner = submit_number(downloader, 11, at("/ok?joined1"), SDD_PRIORITY_HIGH);
    CHECK_EQUAL(info_of(downloader, first).priority, SDD_PRIORITY_LOW);
    CHECK_EQUAL(info_of(downloader, first).effective_priority, SDD_PRIORITY_HIGH);
    CHECK_EQUAL(info_of(downloader, joiner).effective_priority, SDD_PRIORITY_HIGH);
    /* A joiner of less does not lower. */
    sdd_token less = submit_number(downloader, 12, at("/ok?joined1"), SDD_PRIORITY_VERY_LOW);
    CHECK_EQUAL(info_of(downloader, less).effective_priority, SDD_PRIORITY_HIGH);
    /* Raised, and lowered again when that one leaves. */
    sdd_token leaver = submit_number(downloader, 13, at("/ok?joined3"), SDD_PRIORITY_VERY_HIGH);
    CHECK_EQUAL(info_of(downloader, third).effective_priority, SDD_PRIORITY_VERY_HIGH);
    int32_t ended = 7;
    CHECK_STATUS(sdd_cancel_request(downloader, leaver, &ended), SDD_OK);
    CHECK_EQUAL(ended, 0);
    CHECK_EQUAL(info_of(downloader, third).effective_priority, SDD_PRIORITY_LOW);
    release("joined");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    static const int expected[] = { 13, 0, 1, 11, 12, 2, 3 };
    CHECK_EQUAL(ends.count, 7);
    for (int i = 0; i < 7; i++) CHECK_EQUAL(ends.numbers[i], expected[i]);
    CHECK_STATUS(ends.errors[0], SDD_ERROR_CANCELLED);
    ends.count = 0;
    destroy(downloader);
}

/* Z3: who has waited long enough counts as one higher, and once more. The waits are those of replies. */
static void z3_waiting_raises(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 1;
    config.ageing_ms = 200;
    sdd_downloader *downloader = make_downloader(&config), *clock = make_downloader(NULL);
    record r = RECORD_INIT;
    submit_number(downloader, 0, at("/hold/ageing"), 0);
    sdd_token old = submit_number(downloader, 1, at("/ok?ageing1"), SDD_PRIORITY_LOW);
    fetch(clock, &r, at("/ok?delay=450"), SDD_OPTION_BYTES_ONLY);
    submit_number(downloader, 2, at("/ok?ageing2"), SDD_PRIORITY_NORMAL);
    CHECK_EQUAL(info_of(downloader, old).priority, SDD_PRIORITY_LOW);
    release("ageing");
    CHECK_ORDER(downloader, 0, 1, 2);
    record_clear(&r);
    destroy(clock);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------------ limits */

static int running_on(sdd_downloader *downloader, const sdd_token *tokens, int count)
{
    int running = 0;
    for (int i = 0; i < count; i++) running += info_of(downloader, tokens[i]).state == SDD_STATE_RUNNING;
    return running;
}

static void g1_z3_a_host_gets_no_more_than_its_share(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 20;
    config.max_concurrent_per_host = 2;
    sdd_downloader *downloader = make_downloader(&config);
    sdd_token one[5], other[5];
    /* A host is a name with a port: two servers on two ports. */
    for (int i = 0; i < 5; i++) {
        char path[40];
        snprintf(path, sizeof path, "/hold/share?%d", i);
        one[i] = submit_number(downloader, i, at(path), 0);
        other[i] = submit_number(downloader, i, address_at("SDD_TEST_SERVER_2", path), 0);
    }
    for (int most = 2; most <= 4; most++) {
        CHECK_STATUS(sdd_set_max_concurrent_per_host(downloader, most), SDD_OK);
        CHECK_EQUAL(statistics_of(downloader).running, 2 * most);
        CHECK_EQUAL(running_on(downloader, one, 5), most);
        CHECK_EQUAL(running_on(downloader, other, 5), most);
        wait_for_requests("/hold/share", most);
    }
    /* Lowering it stops nothing; and the queue waits until there is room below it. */
    CHECK_STATUS(sdd_set_max_concurrent_per_host(downloader, 1), SDD_OK);
    CHECK_EQUAL(statistics_of(downloader).running, 8);
    CHECK_STATUS(sdd_cancel(downloader, one[0]), SDD_OK);
    CHECK_EQUAL(running_on(downloader, one + 1, 4), 3);
    CHECK_EQUAL(info_of(downloader, one[4]).state, SDD_STATE_WAITING);
    release("share");
    order_at("SDD_TEST_SERVER_2", "/release/share");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends.count, 10);
    ends.count = 0;
    destroy(downloader);
}

static void d7_the_limit_of_all_changes(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 3;
    config.max_concurrent_per_host = 20;
    sdd_downloader *downloader = make_downloader(&config);
    for (int i = 0; i < 10; i++) submit_number(downloader, i, atf("/hold/all?%d", i), 0);
    CHECK_EQUAL(statistics_of(downloader).running, 3);
    CHECK_STATUS(sdd_set_max_concurrent_downloads(downloader, 8), SDD_OK);
    CHECK_EQUAL(statistics_of(downloader).running, 8);
    CHECK_STATUS(sdd_set_max_concurrent_downloads(downloader, 1), SDD_OK);
    CHECK_EQUAL(statistics_of(downloader).running, 8);
    wait_for_requests("/hold/all", 8);
    CHECK_EQUAL(requests_of("/hold/all"), 8);
    release("all");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends.count, 10);
    ends.count = 0;
    destroy(downloader);
}

static void z3_places_are_kept_for_the_urgent(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = 4;
    config.reserved_urgent_slots = 2;
    sdd_downloader *downloader = make_downloader(&config);
    sdd_token ordinary[6], urgent[3];
    for (int i = 0; i < 6; i++) ordinary[i] = submit_number(downloader, i, atf("/hold/kept?%d", i), 0);
    CHECK_EQUAL(running_on(downloader, ordinary, 6), 2);
    for (int i = 0; i < 3; i++)
        urgent[i] = submit_number(downloader, 10 + i, atf("/hold/kept?urgent%d", i), SDD_PRIORITY_HIGH + i % 2);
    CHECK_EQUAL(running_on(downloader, urgent, 3), 2);
    CHECK_EQUAL(statistics_of(downloader).running, 4);
    /* As many as there are, or more: one place is left for the others. */
    CHECK_STATUS(sdd_set_reserved_urgent_slots(downloader, 9), SDD_OK);
    for (int i = 0; i < 6; i++) CHECK_STATUS(sdd_cancel(downloader, ordinary[i]), SDD_OK);
    for (int i = 0; i < 3; i++) CHECK_STATUS(sdd_cancel(downloader, urgent[i]), SDD_OK);
    for (int i = 0; i < 6; i++) ordinary[i] = submit_number(downloader, i, atf("/hold/kept?again%d", i), 0);
    CHECK_EQUAL(running_on(downloader, ordinary, 6), 1);
    CHECK_STATUS(sdd_set_reserved_urgent_slots(downloader, 0), SDD_OK);
    CHECK_EQUAL(running_on(downloader, ordinary, 6), 4);
    release("kept");
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends.count, 15);
    ends.count = 0;
    destroy(downloader);
}

/* -------------------------------------------------------------------------------- background */

/* A body whose first 1000 bytes come at once, and the rest after /release/NAME. */
static void submit_body(sdd_downloader *downloader, record *r, const char *name, uint64_t options)
{
    char path[100];
    *r = (record)RECORD_INIT;
    snprintf(path, sizeof path, "/hold/%s?after=1000&size=300000", name);
    record_submit(downloader, r, at(path), options | SDD_OPTION_BYTES_ONLY);
    record_wait_received(r, 1000);
}

static void o4_background_pauses_and_foreground_goes_on(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.download_timeout_ms = 400;
    sdd_downloader *downloader = make_downloader(&config), *clock = make_downloader(NULL);
    record paused, goes_on, waits = RECORD_INIT, r = RECORD_INIT;
    submit_body(downloader, &paused, "paused", 0);
    submit_body(downloader, &goes_on, "goes-on", SDD_OPTION_CONTINUE_IN_BACKGROUND);
    CHECK_STATUS(sdd_enter_background(downloader, -1), SDD_OK);
    /* Nothing new begins, with the bit or without it. */
    sdd_token token = record_submit(
        downloader, &waits, at("/ok/background"), SDD_OPTION_BYTES_ONLY | SDD_OPTION_CONTINUE_IN_BACKGROUND);
    release("goes-on");
    record_wait(&goes_on);
    CHECK_ENDED(&goes_on, SDD_OK, 0);
    CHECK_EQUAL(info_of(downloader, token).state, SDD_STATE_WAITING);
    /* What is paused reads nothing, and its limit on silence rests: twice its time goes by. */
    release("paused");
    fetch(clock, &r, at("/ok?delay=800"), SDD_OPTION_BYTES_ONLY);
    CHECK(record_is_open(&paused) && paused.last_received < 300000);
    CHECK_STATUS(sdd_enter_foreground(downloader), SDD_OK);
    record_wait(&paused);
    record_wait(&waits);
    CHECK_ENDED(&paused, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(paused.bytes), 300000);
    CHECK_ENDED(&waits, SDD_OK, 0);
    CHECK_STATUS(sdd_enter_foreground(downloader), SDD_OK);
    record_clear(&paused);
    record_clear(&goes_on);
    record_clear(&waits);
    record_clear(&r);
    destroy(clock);
    destroy(downloader);
}

static void o4_the_grace_time_ends(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    record paused, goes_on, joiner = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        submit_body(downloader, &paused, "grace-paused", 0);
        submit_body(downloader, &goes_on, "grace", SDD_OPTION_CONTINUE_IN_BACKGROUND);
        int64_t start = milliseconds_now();
        /* 0: none. Called again, the new time counts. */
        if (i == 2) CHECK_STATUS(sdd_enter_background(downloader, 60000), SDD_OK);
        CHECK_STATUS(sdd_enter_background(downloader, i == 0 ? 0 : 150), SDD_OK);
        record_wait(&goes_on);
        CHECK_ENDED(&goes_on, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_BACKGROUND);
        int64_t time = milliseconds_now() - start;
        if (i > 0 && time < 149) FAIL("the grace time ended after %lld ms", (long long)time);
        CHECK(record_is_open(&paused));
        CHECK_STATUS(sdd_enter_foreground(downloader), SDD_OK);
        release("grace-paused");
        record_wait(&paused);
        CHECK_ENDED(&paused, SDD_OK, 0);
        order("/reset-stats");
        record_clear(&paused);
        record_clear(&goes_on);
    }
    /* Whoever joins with the bit lets the transfer go on, for the other too. */
    submit_body(downloader, &paused, "grace-joined", 0);
    CHECK_STATUS(sdd_enter_background(downloader, -1), SDD_OK);
    record_submit(downloader, &joiner, at("/hold/grace-joined?after=1000&size=300000"),
                  SDD_OPTION_BYTES_ONLY | SDD_OPTION_CONTINUE_IN_BACKGROUND);
    release("grace-joined");
    record_wait(&paused);
    record_wait(&joiner);
    CHECK_ENDED(&paused, SDD_OK, 0);
    CHECK_ENDED(&joiner, SDD_OK, 0);
    record_clear(&paused);
    record_clear(&joiner);
    destroy(downloader);
}

/* A whole answer lies in the socket while its transfer goes on and is paused again, at once and more than once: then
   libcurl takes it, and hands it out later, its header's lines in one piece. */
static void o4_quick_turns_lose_nothing(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    record r = RECORD_INIT;
    char path[60];
    for (int i = 0; i < scaled(50); i++) {
        record_clear(&r);
        snprintf(path, sizeof path, "/hold/turns?size=1000&%d", i);
        record_submit(downloader, &r, at(path), SDD_OPTION_BYTES_ONLY);
        wait_for_requests("/hold/turns", 1);
        CHECK_STATUS(sdd_enter_background(downloader, -1), SDD_OK);
        release("turns");
        order("/wait-idle");
        for (int turn = 0; turn < 40; turn++) {
            CHECK_STATUS(sdd_enter_foreground(downloader), SDD_OK);
            CHECK_STATUS(sdd_enter_background(downloader, -1), SDD_OK);
        }
        CHECK_STATUS(sdd_enter_foreground(downloader), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(sdd_bytes_size(r.bytes) == 1000 && is_pattern(sdd_bytes_data(r.bytes), 1000, path));
        CHECK(sdd_response_header_count(r.response) >= 2 && sdd_response_header(r.response, "Content-Length"));
        order("/reset-stats");
    }
    record_clear(&r);
    destroy(downloader);
}

/* The total limit and the queue's go on in the background. A paused transfer can be cancelled. */
static void o4_other_limits_go_on_in_the_background(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    record total = RECORD_INIT, queue = RECORD_INIT, cancelled = RECORD_INIT;
    sdd_request request = record_request(&total, at("/hold/limits?after=10"));
    request.options = SDD_OPTION_BYTES_ONLY;
    request.total_timeout_ms = 300;
    submit(downloader, &request);
    sdd_token token = record_submit(downloader, &cancelled, at("/hold/limits?after=20"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_enter_background(downloader, 0), SDD_OK);
    request = record_request(&queue, at("/ok/limits"));
    request.queue_timeout_ms = 100;
    submit(downloader, &request);
    record_wait(&queue);
    CHECK_ENDED(&queue, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_QUEUE);
    record_wait(&total);
    CHECK_ENDED(&total, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL);
    CHECK_STATUS(sdd_cancel(downloader, token), SDD_OK);
    record_wait(&cancelled);
    CHECK_ENDED(&cancelled, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    record_clear(&total);
    record_clear(&queue);
    record_clear(&cancelled);
    destroy(downloader);
}

/* ------------------------------------------------------------------------- requests under way */

static void x7_x8_cancel_tells_whether_the_transfer_ended(void)
{
    sdd_downloader *downloader = downloader_of(1);
    record records[3];
    sdd_token tokens[3];
    /* On the network, and in the queue: the last one who leaves ends it. */
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) CHECK_STATUS(sdd_suspend(downloader), SDD_OK);
        for (int i = 0; i < 3; i++) {
            records[i] = (record)RECORD_INIT;
            tokens[i] = record_submit(downloader, &records[i], atf("/hold/ended?%d", turn), SDD_OPTION_BYTES_ONLY);
        }
        for (int i = 0; i < 3; i++) {
            int32_t ended = 7;
            CHECK_STATUS(sdd_cancel_request(downloader, tokens[i], &ended), SDD_OK);
            CHECK_EQUAL(ended, i == 2);
            CHECK_EQUAL(sdd_current_download_count(downloader), i == 2 ? 0 : 1);
            ended = 7;
            CHECK_STATUS(sdd_cancel_request(downloader, tokens[i], &ended), SDD_ERROR_NOT_FOUND);
            CHECK_EQUAL(ended, 7);
            record_wait(&records[i]);
            CHECK_ENDED(&records[i], SDD_ERROR_CANCELLED,
                        turn == 1 ? SDD_DETAIL_CANCELLED_WAITING : SDD_DETAIL_CANCELLED_SENDING);
            record_clear(&records[i]);
        }
    }
    destroy(downloader);
}

static struct {
    sem_t entered, leave;
} transform = { 0 };

static sdd_bytes *wait_in_transform(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)user_data;
    CHECK(sdd_response_status(response) == 200);
    sem_post(&transform.entered);
    take(&transform.leave);
    return sdd_bytes_retain(body);
}

static void check_state(sdd_downloader *downloader, sdd_token token, const char *url, int32_t state)
{
    char buffer[200] = "unseen";
    size_t length = 0;
    sdd_request_info info = info_of(downloader, token);
    CHECK_EQUAL(info.state, state);
    CHECK_STATUS(sdd_get_url(downloader, token, NULL, 0, &length), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_EQUAL(length, strlen(url));
    CHECK_STATUS(sdd_get_url(downloader, token, buffer, length, NULL), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_TEXT(buffer, "unseen");
    CHECK_STATUS(sdd_get_url(downloader, token, buffer, sizeof buffer, NULL), SDD_OK);
    CHECK_TEXT(buffer, url);
    sdd_response *response = NULL;
    if (state == SDD_STATE_WAITING) {
        CHECK(info.running_us == 0 && info.http_status == 0 && info.received_bytes == 0 && info.expected_bytes == -1);
        CHECK_STATUS(sdd_get_response(downloader, token, &response), SDD_ERROR_NOT_FOUND);
        CHECK(response == NULL);
    }
    if (state >= SDD_STATE_RECEIVED) {
        CHECK(info.http_status == 200 && info.received_bytes == 5000 && info.expected_bytes == 5000);
        CHECK(info.running_us > 0);
        CHECK_STATUS(sdd_get_response(downloader, token, &response), SDD_OK);
        CHECK_TEXT(sdd_response_url(response), url);
        CHECK_EQUAL(sdd_response_status(response), 200);
        sdd_response_release(response);
    }
}

static void k1_k4_x1_a_request_tells_of_itself_in_every_state(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.body_transform = wait_in_transform;
    config.decode_threads = 1;
    config.modifiers = &modifiers;
    sdd_downloader *downloader = make_downloader(&config);
    record first = RECORD_INIT, second = RECORD_INIT, third = RECORD_INIT;
    char url[3][200];
    for (int i = 0; i < 3; i++) snprintf(url[i], sizeof url[i], "%s", atf("/hold/state%d?size=5000&after=1000", i));
    sem_init(&transform.entered, 0, 0);
    sem_init(&transform.leave, 0, 0);

    CHECK_STATUS(sdd_suspend(downloader), SDD_OK);
    sdd_token token = record_submit(downloader, &first, url[0], SDD_OPTION_BYTES_ONLY);
    check_state(downloader, token, url[0], SDD_STATE_WAITING);
    CHECK_STATUS(sdd_resume(downloader), SDD_OK);
    record_wait_received(&first, 1000);
    check_state(downloader, token, url[0], SDD_STATE_RUNNING);
    sdd_request_info info = info_of(downloader, token);
    CHECK(info.http_status == 200 && info.received_bytes == 1000 && info.expected_bytes == 5000 && info.running_us > 0);
    sdd_response *kept = NULL;
    CHECK_STATUS(sdd_get_response(downloader, token, &kept), SDD_OK);

    /* The only decode thread is at the first one; the second waits for it. */
    release("state0");
    take(&transform.entered);
    check_state(downloader, token, url[0], SDD_STATE_DECODING);
    sdd_token behind = record_submit(downloader, &second, url[1], SDD_OPTION_BYTES_ONLY);
    release("state1");
    record_wait_received(&second, 5000);
    sdd_token last = record_submit(downloader, &third, url[2], SDD_OPTION_BYTES_ONLY);
    release("state2");
    record_wait_received(&third, 5000);
    check_state(downloader, behind, url[1], SDD_STATE_RECEIVED);
    check_state(downloader, last, url[2], SDD_STATE_RECEIVED);
    CHECK_EQUAL(statistics_of(downloader).decoding, 3);
    CHECK_EQUAL(sdd_current_download_count(downloader), 0);

    /* X11: cancelled there, it ends once, and what the decode thread makes is dropped. */
    CHECK_STATUS(sdd_cancel(downloader, behind), SDD_OK);
    record_wait(&second);
    CHECK_ENDED(&second, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_DECODING);
    CHECK_STATUS(sdd_cancel(downloader, token), SDD_OK);
    record_wait(&first);
    CHECK_ENDED(&first, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_DECODING);
    sem_post(&transform.leave);
    take(&transform.entered);
    sem_post(&transform.leave);
    record_wait(&third);
    CHECK_ENDED(&third, SDD_OK, 0);
    /* K3: and then there is nothing to be told. */
    size_t length = 7;
    sdd_response *response = (sdd_response *)&info;
    for (int i = 0; i < 2; i++) {
        sdd_token over = i ? last : token + 1000000;
        CHECK_STATUS(sdd_get_request_info(downloader, over, &info), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_get_url(downloader, over, NULL, 0, &length), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_get_response(downloader, over, &response), SDD_ERROR_NOT_FOUND);
        CHECK(length == 7 && response == NULL);
    }
    destroy(downloader);
    CHECK_TEXT(sdd_response_url(kept), url[0]);
    sdd_response_release(kept);
    record_clear(&first);
    record_clear(&second);
    record_clear(&third);
}

/* --------------------------------------------------------------------------------- statistics */

static void z21_statistics_add_up(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    record records[MOST];
    int count = 0;
    for (int i = 0; i < MOST; i++) records[i] = (record)RECORD_INIT;
    sdd_statistics before = statistics_of(downloader), none = SDD_STATISTICS_INIT;
    CHECK(memcmp(&before, &none, sizeof none) == 0);

    for (int i = 0; i < 4; i++) record_submit(downloader, &records[count++], at("/hold/sum?size=1000"), SDD_OPTION_BYTES_ONLY);
    release("sum");
    record_submit(downloader, &records[count++], at("/file/png/rgb8.png?sum"), 0);
    record_submit(downloader, &records[count++], at("/file/png/rgba8.png?sum"), 0);
    record_submit(downloader, &records[count++], at("/html?sum"), 0);
    record_submit(downloader, &records[count++], at("/status/404?sum"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &records[count++], at("/reset?sum"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &records[count++], "nonsense", SDD_OPTION_BYTES_ONLY);
    sdd_token token = record_submit(downloader, &records[count++], at("/silence?sum"), SDD_OPTION_BYTES_ONLY);
    order("/wait?path=/silence%3Fsum");
    CHECK_STATUS(sdd_cancel(downloader, token), SDD_OK);
    CHECK_STATUS(sdd_suspend(downloader), SDD_OK);
    token = record_submit(downloader, &records[count++], at("/ok?sum-never"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cancel(downloader, token), SDD_OK);
    CHECK_STATUS(sdd_wait_idle(downloader, -1), SDD_OK);

    sdd_statistics s = statistics_of(downloader);
    int64_t body_bytes = 0;
    for (int i = 0; i < count; i++)
        if (i == 0 || i >= 4) body_bytes += records[i].metrics.body_bytes;
    CHECK_EQUAL(s.requests, count);
    CHECK_EQUAL(s.requests_joined, 3);
    CHECK_EQUAL(s.requests_succeeded, 6);
    CHECK_EQUAL(s.requests_failed, 4);
    CHECK_EQUAL(s.requests_cancelled, 2);
    CHECK_EQUAL(s.requests, s.requests_succeeded + s.requests_failed + s.requests_cancelled);
    CHECK_EQUAL(s.transfers_started, 7); /* 4 shared one, 2 pictures, html, 404, reset, silence */
    CHECK_EQUAL(s.transfers_succeeded, 4);
    CHECK_EQUAL(s.images_decoded, 2);
    CHECK(s.decode_us > 0 && s.connections_opened >= 1 && s.connections_opened <= 7);
    CHECK(s.request_bytes > 0 && s.response_header_bytes > 0 && s.response_body_bytes >= s.body_bytes);
    CHECK_EQUAL(s.body_bytes, body_bytes);
    CHECK(s.waiting == 0 && s.running == 0 && s.decoding == 0);
    for (int i = 0; i < count; i++) record_clear(&records[i]);
    destroy(downloader);
}

/* -------------------------------------------------------------------------------- option bits */

/* O12: taken, and without meaning: it does not even keep requests apart. O13: bits of later versions are refused. */
static void o12_o13_bit_12_is_ignored_and_others_are_refused(void)
{
    record r = RECORD_INIT, joined = RECORD_INIT;
    record_submit(NULL, &r, at("/hold/bit12"), SDD_OPTION_BYTES_ONLY | SDD_OPTION_MATCH_ANIMATED_IMAGE_CLASS);
    record_submit(NULL, &joined, at("/hold/bit12"), SDD_OPTION_BYTES_ONLY);
    release("bit12");
    record_wait(&r);
    record_wait(&joined);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_ENDED(&joined, SDD_OK, 0);
    CHECK_EQUAL(requests_of("/hold/bit12"), 1);
    fetch(NULL, &r, at("/file/png/rgb8.png?bit12"), SDD_OPTION_MATCH_ANIMATED_IMAGE_CLASS);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(sdd_image_width(r.image), 19);
    static const int bits[] = { 1, 2, 3, 8, 9, 10, 11, 13, 23, 26, 31, 32, 63 };
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        fetch(NULL, &r, at("/ok?bits"), SDD_OPTION_BYTES_ONLY | UINT64_C(1) << bits[i]);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS);
        CHECK_EQUAL(r.stage, SDD_STAGE_SUBMIT);
    }
    record_clear(&r);
    record_clear(&joined);
}

int main(void)
{
    start_watchdog();
    RUN(d15_g1_g11_the_defaults_are_the_headers);
    RUN(d2_d15_a_config_comes_back);
    RUN(g1_g2_d7_d9_d10_setters_change_the_config_and_refuse_the_rest);
    RUN(d19_a_suspended_downloader_starts_nothing);
    RUN(d17_d18_close_cancels);
    RUN(d17_d18_close_drains);
    RUN(d17_the_shared_downloader_is_not_closed);
    RUN(d8_the_count_is_of_transfers);
    RUN(d11_first_in_first_out);
    RUN(d10_d13_last_in_first_out);
    RUN(d10_d14_the_order_changes_while_they_wait);
    RUN(o0_o7_r1_r2_five_priorities);
    RUN(r3_z5_priorities_change_while_they_wait);
    RUN(r3_z5_a_joiner_raises_and_leaving_lowers);
    RUN(z3_waiting_raises);
    RUN(g1_z3_a_host_gets_no_more_than_its_share);
    RUN(d7_the_limit_of_all_changes);
    RUN(z3_places_are_kept_for_the_urgent);
    RUN(o4_background_pauses_and_foreground_goes_on);
    RUN(o4_the_grace_time_ends);
    RUN(o4_quick_turns_lose_nothing);
    RUN(o4_other_limits_go_on_in_the_background);
    RUN(x7_x8_cancel_tells_whether_the_transfer_ended);
    RUN(k1_k4_x1_a_request_tells_of_itself_in_every_state);
    RUN(z21_statistics_add_up);
    RUN(o12_o13_bit_12_is_ignored_and_others_are_refused);
    return 0;
}

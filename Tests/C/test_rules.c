/* The rules of a downloader, read and changed while it lives; suspending, closing, option bits. The names begin with
   the rows of the contract. */
#include "good_values.h"
#include "rules.h"

/* ------------------------------------------------------------------------------- config and setters */

static sdd_downloader_config config_of(sdd_downloader *downloader)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    CHECK_STATUS(sdd_downloader_get_config(downloader, &config), SDD_OK);
    CHECK_EQUAL(config.struct_size, sizeof config);
    return config;
}

CASE(d15_g1_g11_the_defaults_are_the_headers)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_downloader_config config = config_of(downloader);
    CHECK_EQUAL(config.delivery, SDD_DELIVERY_THREAD);
    CHECK_EQUAL(config.max_concurrent_downloads, 6);
    CHECK_EQUAL(config.limits->download_timeout_ms, 15000);
    CHECK_EQUAL(config.limits->max_body_bytes, 64 << 20);
    CHECK_EQUAL(config.limits->max_pixels, 134217728);
    CHECK_EQUAL(config.network->max_redirects, 10);
    CHECK(config.decode_threads >= 1 && config.decode_threads <= 8);
    CHECK(config.network->allow_file_urls == 0 && config.network->ca_file == NULL && config.network->ca_path == NULL);
    CHECK_EQUAL(config.max_concurrent_per_host, 6);
    CHECK(config.reserved_urgent_slots == 0 && config.execution_order == SDD_ORDER_FIFO && config.ageing_ms == 0);
    CHECK(config.limits->queue_timeout_ms == 0 && config.limits->first_byte_timeout_ms == 0 && config.limits->total_timeout_ms == 0);
    CHECK_EQUAL(config.limits->connect_timeout_ms, 15000);
    CHECK(config.callbacks->min_progress_fraction == 0 && config.callbacks->min_progress_interval_ms == 0);
    CHECK_TEXT(config.accepted_status_codes, "200-299");
    CHECK_TEXT(config.accepted_content_types, "*");
    CHECK(config.credential == NULL && config.modifiers == NULL && config.network->resolve == NULL);
    CHECK_EQUAL(config.limits->max_header_bytes, 256 << 10);
    CHECK_EQUAL(config.limits->max_header_count, 1000);
    CHECK(config.network->allow_downgrade == 0 && config.network->address_policy == SDD_ADDRESS_ANY && config.network->ip_version == SDD_IP_ANY);
    CHECK(config.network->proxy == NULL && config.network->no_proxy == NULL && config.network->proxy_mode == SDD_PROXY_ENVIRONMENT);
    CHECK(config.network->http_version == SDD_HTTP_DEFAULT && config.network->min_tls_version == SDD_TLS_1_2);
    CHECK(config.network->tcp_keepalive_ms == 60000 && config.network->dns_cache_ms == 60000 &&
          config.network->receive_buffer_bytes == 65536);
    CHECK(config.network->max_connections == 0 && config.network->max_connections_per_host == 0 && config.network->max_idle_connections == 0);
    CHECK(config.retry->max_attempts == 1 && config.retry->budget == 10 && config.retry->delay_ms == 500);
    CHECK(config.retry->max_delay_ms == 30000 && config.min_host_interval_ms == 0);
    CHECK_EQUAL(config.limits->max_decode_ratio, 512);
    CHECK(config.limits->low_speed_limit == 100 && config.limits->low_speed_time_ms == 60000);
    CHECK(config.network->cookie_file == NULL && config.network->network_interface == NULL && config.network->unix_socket_path == NULL);
}

/* Gives every number of a struct a value that is not its default: where there may be no limit, none. */
static void set_numbers(const struct_row *row, void *given)
{
    for (size_t i = 0; i < row->count; i++) {
        const field_row *field = &row->fields[i];
        if (field->kind == KIND_FLAG) set_number(given, field, 1);
        if (field->kind == KIND_ENUM) set_number(given, field, field->numbers->values[1]);
        if (field->kind == KIND_NUMBER) set_number(given, field, field->is_limit ? SDD_NO_LIMIT : 10 + (int64_t)i);
    }
}

/* A thread that waits for the process that decodes leaves a processor to one more. */
CASE(isolated_decoding_has_one_more_thread)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.decode_mode = SDD_DECODE_ALL_IN_PROCESS;
    OWNED_DOWNLOADER here = make_downloader(&config);
    config.decode_mode = SDD_DECODE_ISOLATED;
    OWNED_DOWNLOADER isolated = make_downloader(&config);
    CHECK_EQUAL(config_of(isolated).decode_threads, config_of(here).decode_threads + 1);
}

/* A config is returned as it was given, with the downloader's own copies of strings, and can be used again. */
CASE(d2_d15_a_config_comes_back)
{
    char status_codes[] = "200-299,404", types[] = "image/*", ca_file[300];
    snprintf(ca_file, sizeof ca_file, "%s", setting("SDD_TEST_CA"));
    sdd_callback_options given_callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_network_options given_network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits given_limits = SDD_LIMITS_INIT;
    sdd_retry_options given_retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config given = SDD_DOWNLOADER_CONFIG_INIT;
    set_numbers(&row_of_sdd_callback_options, &given_callbacks);
    set_numbers(&row_of_sdd_network_options, &given_network);
    set_numbers(&row_of_sdd_limits, &given_limits);
    set_numbers(&row_of_sdd_retry_options, &given_retry);
    set_numbers(&row_of_sdd_downloader_config, &given);
    given.callbacks = &given_callbacks;
    given.network = &given_network;
    given.limits = &given_limits;
    given.retry = &given_retry;
    given.max_concurrent_downloads = 17; /* more than the urgent slots */
    given.decode_mode = SDD_DECODE_IN_PROCESS;
    given.accepted_status_codes = status_codes;
    given.accepted_content_types = types;
    given_callbacks.min_progress_fraction = 0.25;
    given_network.ca_file = ca_file;
    given_network.receive_buffer_bytes = 2048;
    given_network.network_threads = 3;
    OWNED_DOWNLOADER downloader = make_downloader(&given);
    memset(status_codes, '#', sizeof status_codes - 1);
    memset(types, '#', sizeof types - 1);
    for (int i = 0; i < 2; i++) {
        sdd_downloader_config config = config_of(downloader);
        CHECK_TEXT(config.accepted_status_codes, "200-299,404");
        CHECK_TEXT(config.accepted_content_types, "image/*");
        CHECK_TEXT(config.network->ca_file, ca_file);
        /* Everything else is equal byte for byte. */
        sdd_downloader_config same = config;
        sdd_network_options network = *config.network;
        same.accepted_status_codes = given.accepted_status_codes;
        same.accepted_content_types = given.accepted_content_types;
        same.callbacks = given.callbacks, same.network = given.network;
        same.limits = given.limits, same.retry = given.retry;
        network.ca_file = given_network.ca_file;
        CHECK(memcmp(&same, &given, sizeof same) == 0);
        CHECK(memcmp(&network, &given_network, sizeof network) == 0);
        CHECK(memcmp(config.callbacks, &given_callbacks, sizeof given_callbacks) == 0);
        CHECK(memcmp(config.limits, &given_limits, sizeof given_limits) == 0);
        CHECK(memcmp(config.retry, &given_retry, sizeof given_retry) == 0);
        sdd_downloader *next = make_downloader(&config);
        destroy(downloader);
        downloader = next;
    }
}

CASE(a_config_comes_back_without_the_proxys_password)
{
    static const char *const proxies[][2] = {
        { "http://user:secret@127.0.0.1:1/", "http://127.0.0.1:1/" },
        { "https://user:se%40cret@127.0.0.1:1", "https://127.0.0.1:1" },
        { "socks5h://user:secret@[::1]:1", "socks5h://[::1]:1" },
        { "http://127.0.0.1:1", "http://127.0.0.1:1" },
    };
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++) {
        config_groups groups;
        sdd_downloader_config config = config_over(&groups);
        groups.network.proxy = proxies[i][0];
        OWNED_DOWNLOADER downloader = make_downloader(&config);
        CHECK_TEXT(config_of(downloader).network->proxy, proxies[i][1]);
    }
}

CASE(g1_g2_d7_d9_d10_setters_change_the_config_and_refuse_the_rest)
{
    sdd_downloader *downloader = make_downloader(NULL);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(downloader, 9), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_per_host(downloader, 8), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_reserved_urgent_slots(downloader, 7), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_execution_order(downloader, SDD_ORDER_LIFO), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_download_timeout(downloader, 4321), SDD_OK);
    static const int32_t bad_counts[] = { 0, -1, INT32_MIN };
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_set_max_concurrent_per_host(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        if (bad_counts[i] == 0) continue;
        CHECK_STATUS(sdd_downloader_set_reserved_urgent_slots(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_set_execution_order(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_set_download_timeout(downloader, bad_counts[i]), SDD_ERROR_INVALID_ARGUMENT);
    }
    CHECK_STATUS(sdd_downloader_set_min_host_interval(downloader, 6), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_min_host_interval(downloader, -1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_min_host_interval(downloader, INT64_MAX), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_execution_order(downloader, 2), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_download_timeout(downloader, INT64_MIN), SDD_ERROR_INVALID_ARGUMENT);
    sdd_downloader_config config = config_of(downloader);
    CHECK_EQUAL(config.max_concurrent_downloads, 9);
    CHECK_EQUAL(config.max_concurrent_per_host, 8);
    CHECK_EQUAL(config.reserved_urgent_slots, 7);
    CHECK_EQUAL(config.min_host_interval_ms, 6);
    CHECK_EQUAL(config.execution_order, SDD_ORDER_LIFO);
    CHECK_EQUAL(config.limits->download_timeout_ms, 4321);
    CHECK_EQUAL(config.limits->connect_timeout_ms, 4321); /* its default */
    CHECK_STATUS(sdd_downloader_set_reserved_urgent_slots(downloader, 0), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_download_timeout(downloader, 0), SDD_OK);
    config = config_of(downloader);
    CHECK(config.reserved_urgent_slots == 0 && config.limits->download_timeout_ms == 15000);
    /* The new limit applies to requests submitted from now on. */
    OWNED_RECORD early = RECORD_INIT, late = RECORD_INIT;
    record_submit(downloader, &early, at("/hold/timeout?1"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_downloader_set_download_timeout(downloader, 500), SDD_OK);
    record_submit(downloader, &late, at("/hold/timeout?2"), SDD_OPTION_BYTES_ONLY);
    record_wait(&late);
    CHECK_ENDED(&late, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_STALL);
    release("timeout");
    record_wait(&early);
    CHECK_ENDED(&early, SDD_OK, 0);
    destroy(downloader);
}

/* ------------------------------------------------------------------------------ suspending, closing */

CASE(d19_a_suspended_downloader_starts_nothing)
{
    sdd_downloader *downloader = downloader_of(2);
    record records[4];
    sdd_token tokens[4];
    char path[50];
    CHECK_EQUAL(sdd_downloader_is_suspended(downloader), 0);
    for (int i = 0; i < 4; i++) {
        records[i] = (record)RECORD_INIT;
        snprintf(path, sizeof path, "/hold/suspended%d", i);
        if (i == 1) CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        if (i == 1) CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        tokens[i] = record_submit(downloader, &records[i], at(path), SDD_OPTION_BYTES_ONLY);
    }
    CHECK_EQUAL(sdd_downloader_is_suspended(downloader), 1);
    CHECK_EQUAL(transfers_of(downloader), 4);
    /* A running transfer continues, and its slot stays empty. */
    release("suspended0");
    record_wait(&records[0]);
    CHECK_ENDED(&records[0], SDD_OK, 0);
    for (int i = 1; i < 4; i++) CHECK_EQUAL(info_of(tokens[i]).state, SDD_STATE_WAITING);
    /* X9: a waiting request can be cancelled, and leaves the queue at once. */
    CHECK_STATUS(sdd_cancel(tokens[2]), SDD_OK);
    record_wait(&records[2]);
    CHECK_ENDED(&records[2], SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_WAITING);
    CHECK_EQUAL(transfers_of(downloader), 2);
    CHECK_EQUAL(requests_of("/hold/suspended1") + requests_of("/hold/suspended2"), 0);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    CHECK_EQUAL(sdd_downloader_is_suspended(downloader), 0);
    wait_for_requests("/hold/suspended1", 1);
    wait_for_requests("/hold/suspended3", 1);
    release("suspended1");
    release("suspended3");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_ENDED(&records[1], SDD_OK, 0);
    CHECK_ENDED(&records[3], SDD_OK, 0);
    for (int i = 0; i < 4; i++) record_clear(&records[i]);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    destroy(downloader);
    CHECK_EQUAL(sdd_downloader_is_suspended(downloader), 0);
}

/* D18: a request after the close ends once, with its own error code, by the usual callback. */
static void check_closed(sdd_downloader *downloader)
{
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 2; i++) {
        fetch(downloader, &r, i ? at("/ok/after-close") : "nonsense", SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_CLOSED);
        CHECK(r.completed_count == 1 && r.freed_count == 1 && r.progress_count == 0);
        CHECK(r.stage == SDD_STAGE_SUBMIT && r.response == NULL);
    }
    CHECK_EQUAL(requests_of("/ok/after-close"), 0);
}

CASE(d17_d18_close_can_cancel)
{
    sdd_downloader *downloader = downloader_of(1);
    OWNED_RECORD running = RECORD_INIT, joined = RECORD_INIT, waiting = RECORD_INIT;
    CHECK_STATUS(sdd_downloader_close(downloader, 2), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_close(downloader, -1), SDD_ERROR_INVALID_ARGUMENT);
    record_submit(downloader, &running, at("/hold/closed"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &joined, at("/hold/closed"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &waiting, at("/ok/never"), SDD_OPTION_BYTES_ONLY);
    wait_for_requests("/hold/closed", 1);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_ENDED(&running, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    CHECK_ENDED(&joined, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    CHECK_ENDED(&waiting, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_WAITING);
    check_closed(downloader);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    CHECK_EQUAL(requests_of("/ok/never"), 0);
    destroy(downloader);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_ERROR_CLOSED);
}

CASE(d17_d18_close_can_drain)
{
    OWNED_DOWNLOADER downloader = downloader_of(1);
    OWNED_RECORD running = RECORD_INIT, waiting = RECORD_INIT;
    record_submit(downloader, &running, at("/hold/drained"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &waiting, at("/file/png/rgb8.png?drained"), 0);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_DRAIN), SDD_OK);
    check_closed(downloader);
    release("drained");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_ENDED(&running, SDD_OK, 0);
    CHECK_ENDED(&waiting, SDD_OK, 0);
    CHECK_EQUAL(sdd_image_width(waiting.image), 19);
    record_clear(&running);
    record_clear(&waiting);
    destroy(downloader);

    /* A downloader that drains may be closed again, by cancelling. */
    downloader = downloader_of(1);
    record_submit(downloader, &running, at("/silence"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_DRAIN), SDD_OK);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    record_wait(&running);
    CHECK_STATUS(running.error, SDD_ERROR_CANCELLED);
    check_closed(downloader);
}

CASE(d17_the_shared_downloader_is_not_closed)
{
    OWNED_RECORD r = RECORD_INIT;
    for (int mode = SDD_CLOSE_CANCEL; mode <= SDD_CLOSE_DRAIN; mode++) {
        CHECK_STATUS(sdd_downloader_close(NULL, mode), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(sdd_downloader_close(sdd_downloader_shared(), mode), SDD_ERROR_INVALID_ARGUMENT);
    }
    fetch(NULL, &r, at("/ok?shared"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* D8: the count includes waiting and running transfers, but not requests that join one, nor those that have ended. */
CASE(d8_the_count_is_of_transfers)
{
    OWNED_DOWNLOADER downloader = downloader_of(2);
    CHECK_EQUAL(transfers_of(downloader), 0);
    for (int i = 0; i < 12; i++) submit_number(downloader, i, atf("/hold/count?%d", i / 2), 0);
    CHECK_EQUAL(transfers_of(downloader), 6);
    wait_for_requests("/hold/count", 2);
    CHECK_EQUAL(statistics_of(downloader).running, 2);
    CHECK_EQUAL(statistics_of(downloader).waiting, 4);
    CHECK_EQUAL(transfers_of(downloader), 6);
    release("count");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_EQUAL(transfers_of(downloader), 0);
    CHECK_EQUAL(transfers_of((sdd_downloader *)&ends), 0);
    ends.count = 0;
}

/* A downloader has one session for as long as it lives; who wants other settings makes another downloader, and nothing
   happens to the first. */
CASE(d16_a_second_downloader_has_a_session_of_its_own)
{
    config_groups groups;
    OWNED_DOWNLOADER first = make_downloader(NULL);
    sdd_downloader_config config = config_over(&groups);
    OWNED_RECORD held = RECORD_INIT, r = RECORD_INIT;
    record_submit(first, &held, at("/hold/first-session"), SDD_OPTION_BYTES_ONLY);
    wait_for_requests("/hold/first-session", 1);
    groups.limits.download_timeout_ms = 1234;
    sdd_downloader *second = make_downloader(&config);
    CHECK_EQUAL(config_of(second).limits->download_timeout_ms, 1234);
    CHECK_EQUAL(config_of(first).limits->download_timeout_ms, 15000);
    CHECK_STATUS(sdd_set_header(second, "X-Session", "second"), SDD_OK);
    fetch(second, &r, at("/echo?second"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "X-Session: second\r\n") && r.metrics.connection_reused == 0);
    fetch(first, &r, at("/echo?first"), SDD_OPTION_BYTES_ONLY);
    CHECK(!echoes(&r, "X-Session"));
    destroy(second);
    CHECK(record_is_open(&held));
    release("first-session");
    record_wait(&held);
    CHECK_ENDED(&held, SDD_OK, 0);
}

int main(void) { return run_cases(); }

/* When things that belong to the application end: its user data and its descriptors. */
#include "record.h"
#include "server.h"

#include <errno.h>
#include <stdatomic.h>

static sdd_downloader *make(int32_t delivery)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    config.delivery = delivery;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_OK);
    return downloader;
}

static void ignore(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
}

/* ------------------------------------------------------------- user_data_free may call the library */

static sdd_downloader *the_downloader;
static atomic_int freed, wanted;

static sdd_status accept_all(sdd_response *response, sdd_response_change *change, void *user_data)
{
    (void)response;
    (void)change;
    (void)user_data;
    return SDD_OK;
}

/* Takes every lock there is: if the caller holds one, the watchdog reports it. */
static void call_back(void *user_data)
{
    (void)user_data;
    sdd_downloader_set_observer(the_downloader, NULL, NULL, NULL);
    transfers_of(the_downloader);
    atomic_fetch_add(&freed, 1);
}

static void *submit_and_cancel(void *unused)
{
    (void)unused;
    for (int i = scaled(5000); i > 0; i--) {
        sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.transfer = &transfer;
        modifiers.response_modifier = accept_all;
        modifiers.user_data = (void *)(intptr_t)atomic_fetch_add(&wanted, 1);
        modifiers.user_data_free = call_back;
        request.url = at("/ok");
        request.completed = ignore;
        transfer.modifiers = &modifiers;
        sdd_cancel(sdd_downloader_submit(the_downloader, &request));
    }
    return NULL;
}

CASE(z1_data_is_freed_without_a_lock)
{
    pthread_t threads[8];
    the_downloader = make(SDD_DELIVERY_THREAD);
    CHECK_STATUS(sdd_downloader_suspend(the_downloader), SDD_OK);
    for (int i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, submit_and_cancel, NULL) == 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    CHECK_STATUS(sdd_downloader_idle_wait(the_downloader, -1), SDD_OK);
    CHECK_STATUS(sdd_downloader_destroy(the_downloader), SDD_OK);
    CHECK_EQUAL(freed, wanted);
}

/* --------------------------------------------------------------------- a sink whose reader is gone */

typedef _Atomic sdd_transfer atomic_sdd_transfer;

static void answer_at_once(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request;
    if (user_data) atomic_store((atomic_sdd_transfer *)user_data, transfer);
    sdd_transfer_respond(transfer, 200, NULL, 0, -1);
}

static void no_more(sdd_transfer transfer, void *user_data)
{
    (void)transfer;
    (void)user_data;
}

CASE(x27_a_closed_pipe_is_an_error_and_no_signal)
{
    int ends[2];
    atomic_sdd_transfer transfer = 0;
    sdd_downloader *downloader = make(SDD_DELIVERY_APPLICATION);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 0;
    transport.scheme = "archive";
    transport.start = answer_at_once;
    transport.cancel = no_more;
    transport.user_data = &transfer;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    sdd_downloader_set_observer(downloader, NULL, NULL, NULL);
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    request.url = "archive:a";
    request.options = SDD_OPTION_PROGRESS_EVENTS;
    request.sink = SDD_SINK_FD;
    request.sink_fd = ends[1];
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    close(ends[1]);
    CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, 30000, &count), SDD_OK); /* the transfer has begun */
    while (event.expected_bytes != -1 || transfer == 0) {
        event.struct_size = sizeof event;
        CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, 30000, &count), SDD_OK);
    }
    signal(SIGPIPE, SIG_DFL);
    sdd_transfer_write(transfer, "data", 4); /* called on the application's thread */
    do {
        event.struct_size = sizeof event;
        CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, 30000, &count), SDD_OK);
    } while (event.kind != SDD_EVENT_COMPLETED);
    CHECK_STATUS(event.result->failure.status, SDD_ERROR_SINK);
    CHECK_EQUAL(event.result->failure.system_error, EPIPE);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
}

/* --------------------------------------------------------------------- user data comes back at the end */

static _Atomic char order_of_ends[8];
static atomic_int ends;

static void forget_ends(void)
{
    for (int i = 0; i < 8; i++) order_of_ends[i] = 0;
    ends = 0;
}

static void note(char letter) { order_of_ends[atomic_fetch_add(&ends, 1)] = letter; }

static int ends_begin_with(const char *letters)
{
    for (int i = 0; letters[i]; i++)
        if (order_of_ends[i] != letters[i]) return 0;
    return 1;
}

static int has_ended(char letter)
{
    for (int i = 0; i < 8; i++)
        if (order_of_ends[i] == letter) return 1;
    return 0;
}

static void transport_is_free(void *user_data)
{
    (void)user_data;
    note('T');
}

static void modifiers_are_free(void *user_data)
{
    (void)user_data;
    note('M');
}

static void note_end(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
    note('e');
}

static void destroy_and_note(const sdd_result *result, void *user_data)
{
    (void)result;
    CHECK_STATUS(sdd_downloader_destroy(user_data), SDD_OK);
    note('d');
}

static sdd_status go_on(sdd_draft *draft, void *user_data)
{
    (void)draft;
    (void)user_data;
    return SDD_OK;
}

static sdd_downloader *make_with_data(int32_t delivery)
{
    sdd_downloader *downloader = make(delivery);
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    forget_ends();
    modifiers.request_modifier = go_on;
    modifiers.user_data_free = modifiers_are_free;
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &modifiers), SDD_OK);
    transport.scheme = "archive";
    transport.start = answer_at_once;
    transport.cancel = no_more;
    transport.user_data_free = transport_is_free;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    CHECK(sdd_download(downloader, "archive:waits", 0, NULL, note_end, NULL) != 0);
    return downloader;
}

static int are_free(void) { return has_ended('T') && has_ended('M') ? 0 : 1; }

CASE(d27_data_comes_back_after_the_last_callback)
{
    for (int32_t delivery = SDD_DELIVERY_THREAD; delivery <= SDD_DELIVERY_APPLICATION; delivery++) {
        sdd_downloader *downloader = make_with_data(delivery);
        CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
        CHECK(ends_begin_with("e"));
        CHECK(settles(are_free, 0));

        /* Destroyed inside a callback: a request with a bad URL ends at once. */
        downloader = make_with_data(delivery);
        CHECK(sdd_download(downloader, NULL, 0, NULL, destroy_and_note, downloader) != 0);
        if (delivery == SDD_DELIVERY_APPLICATION) CHECK_STATUS(sdd_downloader_dispatch(downloader, 1, NULL), SDD_OK);
        CHECK(settles(are_free, 0));
        CHECK(ends_begin_with("de"));
    }
}

static void destroy_it(void *user_data)
{
    if (user_data) CHECK_STATUS(sdd_downloader_destroy(user_data), SDD_OK);
    note('f');
}

CASE(z1_destroyed_where_drained_data_is_freed)
{
    sdd_downloader *downloader = make(SDD_DELIVERY_APPLICATION);
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 0;
    forget_ends();
    request.user_data_free = destroy_it;
    request.user_data = downloader;
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    request.user_data = NULL;
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &count), SDD_OK);
    CHECK_EQUAL(count, 1);
    event.struct_size = sizeof event;
    CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &count), SDD_OK);
    CHECK_EQUAL(count, 0); /* the end has called back the second request, as destroy does */
    CHECK(ends == 2 && ends_begin_with("ff"));
    CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &count), SDD_ERROR_CLOSED);
}

static void hear(const sdd_notice *notice, void *user_data)
{
    if (notice->level == SDD_LOG_ERROR) ++*(int *)user_data;
}

CASE(n5_an_observers_data_lives_while_it_is_lent)
{
    sdd_downloader *downloader = make(SDD_DELIVERY_APPLICATION);
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 0;
    int heard = 0;
    forget_ends();
    CHECK_STATUS(sdd_downloader_set_observer(downloader, hear, &heard, modifiers_are_free), SDD_OK);
    CHECK(sdd_download(downloader, at("/ok"), SDD_OPTION_BYTES_ONLY, NULL, NULL, NULL) != 0);
    CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, 30000, &count), SDD_OK);
    CHECK_EQUAL(event.kind, SDD_EVENT_START);
    CHECK_STATUS(sdd_downloader_set_observer(downloader, NULL, NULL, NULL), SDD_OK);
    CHECK(event.user_data == &heard);
    CHECK_EQUAL(ends, 0);
    event.struct_size = sizeof event;
    CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &count), SDD_OK);
    CHECK(settles(are_free, 1) && ends_begin_with("M"));
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
}

CASE(h8_a_cookie_file_that_cannot_be_written_is_reported)
{
    for (int i = 0; i < scaled(40); i++) {
        int heard = 0;
        sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
        sdd_downloader *downloader = NULL;
        sdd_cookie cookie = SDD_COOKIE_INIT;
        network.cookie_file = "/nonexistent/folder/cookies";
        config.delivery = i % 2;
        CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_OK);
        CHECK_STATUS(sdd_downloader_set_log(downloader, SDD_LOG_ERROR, hear, &heard, NULL), SDD_OK);
        cookie.name = "a";
        cookie.value = "b";
        cookie.domain = "host.example";
        cookie.expires_ms = INT64_C(4000000000000);
        CHECK_STATUS(sdd_downloader_set_cookie(downloader, &cookie), SDD_OK);
        CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
        CHECK_EQUAL(heard, 1);
    }
}

CASE(z18_no_proxy_hides_an_address_from_its_filter)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    sdd_downloader *downloader = NULL;
    network.proxy = "http://127.0.0.1:1";
    network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
    network.address_policy = SDD_ADDRESS_ANY;
    network.address_filter = (sdd_address_filter_fn)(void (*)(void))accept_all; /* never called */
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
}

int main(void) { return run_cases(); }

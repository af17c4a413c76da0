/* Transfers that are never silent and never end: the limit on slow transfers. */
#include "record.h"
#include "server.h"

#include <poll.h>
#include <stdatomic.h>

static int threads_before, descriptors_before;

static sdd_downloader *downloader_with(int64_t bytes_per_second, int64_t window)
{
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.low_speed_limit = bytes_per_second;
    limits.low_speed_time_ms = window;
    return make_downloader(&config);
}

static sdd_download_request bytes_of(record *r, const char *url)
{
    sdd_download_request request = record_request(r, url);
    request.options = SDD_OPTION_BYTES_ONLY;
    return request;
}

static void check_slow(record *r)
{
    record_wait(r);
    CHECK_ENDED(r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_SLOW);
    CHECK(r->error_class == SDD_CLASS_TIMEOUT && r->retryable == 1 && r->stage == SDD_STAGE_BODY);
    CHECK(strstr(r->message, "slower") != NULL && r->curl_code == 28);
}

/* Six bodies arrive a byte at a time and take all slots. The requests behind them still get their turn. */
CASE(slow_bodies_free_their_slots)
{
    static const char *const slow[] = {
        "/trickle?size=100000&every=20&a", "/trickle?size=100000&every=20&b", "/trickle?size=100000&every=20&c",
        "/trickle?size=100000&every=20&framing=chunked", "/trickle?size=100000&every=20&framing=close",
        "/redirect?to=/trickle?size=100000&every=20",
    };
    enum { SLOW = sizeof slow / sizeof *slow };
    sdd_downloader *downloader = downloader_with(1000, 500);
    record records[SLOW], behind = RECORD_INIT;
    for (int i = 0; i < SLOW; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_download_request request = bytes_of(&records[i], at(slow[i]));
        submit(downloader, &request);
    }
    sdd_download_request request = bytes_of(&behind, at("/ok?size=1000"));
    submit(downloader, &request);
    record_wait(&behind);
    CHECK_ENDED(&behind, SDD_OK, 0);
    for (int i = 0; i < SLOW; i++) {
        check_slow(&records[i]);
        record_clear(&records[i]);
    }
    record_clear(&behind);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* A request has its own limit or none; the config sets it for all. */
CASE(a_request_may_be_as_slow_as_it_likes)
{
    sdd_downloader *strict = downloader_with(1000, 300), *patient = downloader_with(0, -1);
    OWNED_RECORD without = RECORD_INIT, of_config = RECORD_INIT, own = RECORD_INIT, slow = RECORD_INIT;
    const char *path = "/trickle?size=60&every=20";
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = bytes_of(&without, at(path));
    request.transfer = &transfer;
    transfer.low_speed_time_ms = SDD_NO_LIMIT;
    submit(strict, &request);
    request = bytes_of(&of_config, at(path));
    submit(patient, &request);
    request = bytes_of(&own, at(path));
    request.transfer = reset(&transfer);
    transfer.low_speed_limit = 1;
    submit(strict, &request);
    request = bytes_of(&slow, at(path));
    request.transfer = reset(&transfer);
    transfer.low_speed_limit = 100000;
    transfer.low_speed_time_ms = 200;
    submit(patient, &request);
    record_wait(&without);
    record_wait(&of_config);
    record_wait(&own);
    check_slow(&slow);
    CHECK_ENDED(&without, SDD_OK, 0);
    CHECK_ENDED(&of_config, SDD_OK, 0);
    CHECK_ENDED(&own, SDD_OK, 0);
    destroy(strict);
    destroy(patient);
}

/* ---------------------------------------------------------------------------------------- uploads */

typedef struct server { int listener; atomic_int is_over; } server;

/* Reads a few bytes of a request at a slow pace, until the client closes the connection. */
static void *read_slowly(void *context)
{
    server *s = context;
    char bytes[100];
    int client = accept(s->listener, NULL, NULL);
    struct pollfd gone = { client, POLLRDHUP, 0 };
    while (client >= 0 && !s->is_over && read(client, bytes, sizeof bytes) > 0 && poll(&gone, 1, 10) == 0) {}
    close(client);
    return NULL;
}

CASE(uploads_count_too)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int small = 4096;
    server s = { .listener = loopback_socket(&address, 0) };
    CHECK(setsockopt(s.listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    CHECK(bind(s.listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(s.listener, 1) == 0);
    CHECK(getsockname(s.listener, (struct sockaddr *)&address, &length) == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_slowly, &s) == 0);
    sdd_downloader *downloader = downloader_with(1000000, 700);
    char url[64];
    size_t size = 16 << 20;
    void *body = calloc(1, size);
    OWNED_RECORD r = RECORD_INIT;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    sdd_download_request request = bytes_of(&r, url);
    request.method = "PUT";
    request.body = body;
    request.body_size = size;
    submit(downloader, &request);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_SLOW);
    s.is_over = 1;
    pthread_join(thread, NULL);
    close(s.listener);
    free(body);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* The limit also applies to an application's own transport. */
static void start_slowly(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    CHECK_STATUS(sdd_transfer_write(transfer, "x", 1), SDD_OK);
}

static void cancel_nothing(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

CASE(transports_count_too)
{
    OWNED_DOWNLOADER downloader = downloader_with(10, 300);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    OWNED_RECORD r = RECORD_INIT;
    transport.scheme = "given";
    transport.start = start_slowly;
    transport.cancel = cancel_nothing;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = bytes_of(&r, "given:x");
    request.transfer = &transfer;
    transfer.download_timeout_ms = SDD_NO_LIMIT;
    submit(downloader, &request);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_SLOW);
}

int main(void)
{
    start_watchdog();
    destroy(make_downloader(NULL)); /* the thread sanitizer starts a thread of its own with the first one */
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    return run_cases();
}

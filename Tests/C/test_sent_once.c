/*
 * A server that closes used connections when a request arrives: a request that may have had an effect is not sent again
 * (RFC 9110, 9.2.2), and any other is sent at most once more.
 */
#include "record.h"
#include "raw_server.h"

enum { CONNECTIONS = 6 };

static raw_reply no_reply(int number)
{
    (void)number;
    return (raw_reply){ "", 0, 1 };
}

/* Opens several connections: each request waits for the others, so that none reuses a connection. */
static void open_connections(sdd_downloader *downloader)
{
    record records[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], raw_url("/among/%d?%d", CONNECTIONS, i), SDD_OPTION_BYTES_ONLY);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
}

static int times_sent(const char *method, const char *body, int uses_connections_again)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = CONNECTIONS;
    sdd_downloader *downloader = make_downloader(&config);
    record r = RECORD_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    if (uses_connections_again) open_connections(downloader);
    int before = __atomic_load_n(&raw_server.dropped, __ATOMIC_SEQ_CST);
    request.url = raw_url("/drop");
    request.method = method;
    request.body = (const uint8_t *)body;
    request.body_size = body ? strlen(body) : 0;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_CONNECTION_LOST, 0);
    destroy(downloader);
    record_clear(&r);
    return __atomic_load_n(&raw_server.dropped, __ATOMIC_SEQ_CST) - before;
}

CASE(a_request_with_a_possible_effect_is_sent_once)
{
    static const struct { const char *method, *body; } all[] = {
        { "POST", "order=1" }, { "POST", NULL }, { "PATCH", "x" }, { "BUY", "x" }, { "BUY", NULL },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int again = 0; again < 2; again++) CHECK_EQUAL(times_sent(all[i].method, all[i].body, again), 1);
}

CASE(an_idempotent_request_is_sent_again)
{
    static const struct { const char *method, *body; } all[] = {
        { "GET", NULL }, { "HEAD", NULL }, { "PUT", "x" }, { "DELETE", NULL }, { "OPTIONS", NULL },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CHECK_EQUAL(times_sent(all[i].method, all[i].body, 0), 1);
        CHECK_EQUAL(times_sent(all[i].method, all[i].body, 1), 2);
    }
}

/* The server wants no connection that was used before: one of them is tried, and then a new one. */
CASE(a_request_is_sent_again_over_a_new_connection)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = CONNECTIONS;
    sdd_downloader *downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    int before = __atomic_load_n(&raw_server.dropped, __ATOMIC_SEQ_CST);
    open_connections(downloader);
    fetch(downloader, &r, raw_url("/first"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(__atomic_load_n(&raw_server.dropped, __ATOMIC_SEQ_CST) - before, 1);
    fetch(downloader, &r, raw_url("/good"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.metrics.connection_reused, 1);
    destroy(downloader);
}

/* Each POST gets its answer, so the next one is a new request and may use the connection again. */
CASE(a_post_over_a_used_connection)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = raw_url("/good");
        request.method = "POST";
        request.body = (const uint8_t *)"x";
        request.body_size = 1;
        fetch_request(downloader, &r, request);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.metrics.connection_reused, i > 0);
    }
    destroy(downloader);
}

int main(void)
{
    start_watchdog();
    raw_server_start(no_reply);
    run_cases();
    raw_server_stop();
    return 0;
}

/* Many requests over TLS that share connections. */
#include "chance.h"
#include "record.h"
#include "server.h"

#include <poll.h>

enum { REQUESTS = 150, ROUNDS = 24, MOST = 1000 };

/* A path that answers at once, after a while, in parts, or with a status that is no success. */
static const char *some_path(uint64_t *state, int number)
{
    static const char *const paths[] = {
        "/png/rgb8.png?%d", "/behind/ok?size=20000&%d",  "/behind/ok?size=300&delay=30&%d",
        "/missing?%d",      "/behind/ok?size=400000&%d",
    };
    static char path[100];
    snprintf(path, sizeof path, paths[chance(state, sizeof paths / sizeof *paths)], number);
    return path;
}

static sdd_token begin(sdd_downloader *downloader, record *r, const char *server, const char *path)
{
    *r = (record)RECORD_INIT;
    return record_submit(downloader, r, address_at(server, path),
                         SDD_OPTION_BYTES_ONLY | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES);
}

static sdd_downloader *some_downloader(uint64_t *state)
{
    config_groups groups;
    sdd_downloader_config config = config_over(&groups);
    groups.network.max_connections_per_host = (int32_t)chance(state, 4);
    groups.network.max_connections = chance(state, 2) ? (int32_t)chance(state, 5) : 0;
    groups.network.max_idle_connections = (int32_t)chance(state, 3) + 1;
    config.max_concurrent_downloads = config.max_concurrent_per_host = (int32_t)chance(state, 60) + 2;
    return make_downloader(&config);
}

static void storm(uint64_t seed)
{
    uint64_t state = seed;
    static record all[REQUESTS];
    static sdd_token tokens[REQUESTS];
    sdd_downloader *downloader = some_downloader(&state);
    uint32_t cancels = chance(&state, 4), both = chance(&state, 2);
    for (int i = 0; i < REQUESTS; i++) {
        const char *server = both && chance(&state, 3) == 0 ? "SDD_TEST_TLS_HTTP1" : "SDD_TEST_TLS";
        tokens[i] = begin(downloader, &all[i], server, some_path(&state, i));
        if (cancels && chance(&state, cancels) == 0) {
            int victim = i - (int)chance(&state, (uint32_t)i < 40 ? (uint32_t)i + 1 : 40);
            for (uint32_t turns = chance(&state, 200); turns > 0; turns--) sched_yield();
            (void)sdd_cancel(tokens[victim]);
        }
    }
    for (int i = 0; i < REQUESTS; i++) {
        record_wait(&all[i]);
        int is_missing = all[i].error == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE && all[i].http_status == 404;
        if (all[i].error != SDD_OK && all[i].error != SDD_ERROR_CANCELLED && !is_missing)
            FAIL("seed %llu: %s: %d %d, %s", (unsigned long long)seed, all[i].url, all[i].error, all[i].detail,
                 all[i].message);
        record_clear(&all[i]);
    }
    destroy(downloader);
}

/* Few connections, of HTTP/2 and HTTP/1.1, while requests are cancelled at any moment: libcurl keeps those back for which
   no connection is free. None of them is forgotten there, which would end it by the connect timeout. */
CASE(no_request_is_forgotten)
{
    uint64_t seed = seed_of_the_run();
    for (int round = 0; round < scaled(ROUNDS); round++) storm(seed + (uint64_t)round);
}

/* The server closes each connection after 6 requests, and leaves those that are under way there, again and again. */
CASE(connections_that_end_after_a_few_requests)
{
    static record all[MOST];
    int count = scaled(MOST);
    config_groups groups;
    sdd_downloader_config config = config_over(&groups);
    config.max_concurrent_downloads = config.max_concurrent_per_host = 64;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (int i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, i % 3 ? "/png/rgb8.png?%d" : "/behind/ok?size=300&delay=5&%d", i);
        begin(downloader, &all[i], "SDD_TEST_TLS_SHORT", path);
    }
    for (int i = 0; i < count; i++) {
        record_wait(&all[i]);
        CHECK_ENDED(&all[i], SDD_OK, 0);
        record_clear(&all[i]);
    }
}

/* Sends requests in waves, `at_a_time`, through tunnels of a proxy or not. Two waves are 10 to 35 ms apart. */
static void send_in_waves(const char *proxy, int at_a_time, const char *server, int waves, int wave)
{
    static record all[MOST];
    config_groups groups;
    uint64_t state = seed_of_the_run();
    sdd_downloader_config config = config_over(&groups);
    groups.network.proxy = proxy;
    config.max_concurrent_downloads = config.max_concurrent_per_host = at_a_time;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (int i = 0; i < waves; i++) {
        if (i > 0) (void)poll(NULL, 0, 10 + (int)chance(&state, 25));
        for (int k = 0; k < wave; k++) {
            char path[64];
            snprintf(path, sizeof path, "/png/rgb8.png?%d-%d", i, k);
            begin(downloader, &all[k], server, path);
        }
        for (int k = 0; k < wave; k++) {
            record_wait(&all[k]);
            /* What the proxy has closed libcurl may give up in the middle of a response. */
            if (proxy == NULL || all[k].http_status != 200 || !all[k].retryable) CHECK_ENDED(&all[k], SDD_OK, 0);
            record_clear(&all[k]);
        }
    }
}

/* The server closes connections that are idle for 20 ms, just as requests arrive that wait for one of them: libcurl before
   8.14 forgot some of those. */
CASE(connections_that_end_when_idle) { send_in_waves(NULL, 64, "SDD_TEST_TLS_IDLE", scaled(100), 12); }

/* libcurl 7.88 takes a connection for one that can be shared while its tunnel is being made, and then cannot send. */
CASE(tunnels_whose_connections_end_after_a_few_requests)
{
    send_in_waves(setting("SDD_TEST_TUNNELS"), 16, "SDD_TEST_TLS_SHORT", 1, scaled(MOST));
}

/* The proxy passes on only later that the server has closed connections: one request may meet several of those. */
CASE(tunnels_whose_connections_end_when_idle)
{
    send_in_waves(setting("SDD_TEST_TUNNELS"), 16, "SDD_TEST_TLS_IDLE", scaled(40), 30);
}

int main(void) { return run_cases(); }

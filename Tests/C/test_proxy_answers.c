/* Proxies that fail or refuse: which error that is, and whether a request that was never sent is tried again; https
   proxies and their certificates. */
#include "record.h"
#include "server.h"

/* ---------------------------------------------------------------------------------- the proxy */

enum { MOST_REPLIES = 2 };

/* What the proxy answers to what it reads, piece by piece; then it closes the connection. */
typedef struct script {
    struct {
        const char *bytes;
        size_t size;
    } replies[MOST_REPLIES];
} script;

#define REPLY(text) { text, sizeof text - 1 }

/* Without a reply the proxy closes the connection after what it has read. */
static struct {
    int listener, port;
    const script *script; /* atomic, for the connections from then on */
    int connections; /* atomic */
} proxy;

static void serve_one(int connection, const script *script)
{
    char text[4096];
    for (int i = 0; i < MOST_REPLIES; i++) {
        if (recv(connection, text, sizeof text, 0) <= 0 || script->replies[i].bytes == NULL) return;
        send(connection, script->replies[i].bytes, script->replies[i].size, MSG_NOSIGNAL);
    }
    recv(connection, text, sizeof text, 0);
}

static void *serve(void *nothing)
{
    for (int connection; (connection = accept4(proxy.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        __atomic_add_fetch(&proxy.connections, 1, __ATOMIC_SEQ_CST);
        serve_one(connection, __atomic_load_n(&proxy.script, __ATOMIC_SEQ_CST));
        close(connection);
    }
    return nothing;
}

static pthread_t start_proxy(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    pthread_t thread;
    proxy.listener = loopback_socket(&address, 0);
    CHECK(bind(proxy.listener, (struct sockaddr *)&address, size) == 0 && listen(proxy.listener, 64) == 0);
    CHECK(getsockname(proxy.listener, (struct sockaddr *)&address, &size) == 0);
    proxy.port = ntohs(address.sin_port);
    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
    return thread;
}

static void stop_proxy(pthread_t thread)
{
    shutdown(proxy.listener, SHUT_RDWR);
    CHECK(pthread_join(thread, NULL) == 0);
    close(proxy.listener);
}

/* --------------------------------------------------------------------------------- the requests */

static sdd_downloader *downloader_by(const char *url, const char *ca_file)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    config.retry = &retry;
    network.proxy = url;
    network.ca_file = ca_file;
    retry.delay_ms = 1;
    return make_downloader(&config);
}

/* Posts to a host that does not exist, at most twice. */
static sdd_result *post(sdd_downloader *downloader, const char *scheme)
{
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_result *result = NULL;
    char url[100];
    snprintf(url, sizeof url, "%s://somewhere.invalid/", scheme);
    transfer.max_attempts = 2;
    request.url = url;
    request.method = "POST";
    request.body = "x";
    request.body_size = 1;
    request.transfer = &transfer;
    sdd_downloader_submit_wait(downloader, &request, 60000, &result);
    CHECK(result != NULL);
    return result;
}

/* A SOCKS5 proxy that answers a request with a code: RFC 1928 section 6. */
#define SOCKS5(code) { .replies = { REPLY("\5\0"), REPLY("\5" code "\0\1\0\0\0\0\0\0") } }
#define SOCKS4(code) { .replies = { REPLY("\0" code "\0\0\0\0\0\0") } }
#define CONNECT(status) { .replies = { REPLY("HTTP/1.1 " status " X\r\nContent-Length: 0\r\n\r\n") } }

/* Returns how many connections the proxy has accepted. It may accept one after the client, which has not found the name,
   has left it. */
static int accepted(sdd_status error, int expected)
{
    int count;
    do {
        sched_yield();
        count = __atomic_load_n(&proxy.connections, __ATOMIC_SEQ_CST);
    } while (error == SDD_ERROR_RESOLVE && count < expected);
    return count;
}

/* What keeps a proxy from leading on to a host is an error like that without a proxy, and as such passes. */
CASE(proxies_that_fail_and_proxies_that_refuse)
{
    static const struct {
        const char *kind, *scheme;
        script script;
        sdd_status error;
        int32_t retryable;
        const char *words;
    } all[] = {
        { "socks5h", "http", SOCKS5("\1"), SDD_ERROR_CONNECT, 1, "has no connection to somewhere.invalid" },
        { "socks5h", "https", SOCKS5("\3"), SDD_ERROR_CONNECT, 1, "has no connection" },
        { "socks5h", "http", SOCKS5("\4"), SDD_ERROR_CONNECT, 1, "has no connection" },
        { "socks5h", "http", SOCKS5("\5"), SDD_ERROR_CONNECT, 1, "has no connection" },
        { "socks5h", "http", SOCKS5("\6"), SDD_ERROR_CONNECT, 1, "has no connection" },
        { "socks5h", "http", SOCKS5("\2"), SDD_ERROR_PROXY, 0, "refused" },
        { "socks5h", "http", SOCKS5("\7"), SDD_ERROR_PROXY, 0, "refused" },
        { "socks5h", "http", { .replies = { REPLY("\5\377") } }, SDD_ERROR_PROXY, 0, "refused" },
        { "socks5h", "http", { .replies = { { NULL, 0 } } }, SDD_ERROR_CONNECT, 1, "broke off" },
        { "socks5h", "http", { .replies = { REPLY("\5\0") } }, SDD_ERROR_CONNECT, 1, "broke off" },
        { "socks4a", "http", SOCKS4("\133"), SDD_ERROR_CONNECT, 1, "has no connection" },
        { "socks4a", "http", SOCKS4("\134"), SDD_ERROR_PROXY, 0, "refused" },
        /* These two look the name up themselves. */
        { "socks5", "http", SOCKS5("\0"), SDD_ERROR_RESOLVE, 1, "could not be resolved" },
        { "socks4", "http", SOCKS4("\132"), SDD_ERROR_RESOLVE, 1, "could not be resolved" },
        { "http", "https", CONNECT("503"), SDD_ERROR_PROXY, 1, "status 503" },
        { "http", "https", CONNECT("502"), SDD_ERROR_PROXY, 1, "status 502" },
        { "http", "https", CONNECT("403"), SDD_ERROR_PROXY, 0, "status 403" },
        { "http", "https", CONNECT("407"), SDD_ERROR_PROXY, 0, "status 407" },
        { "http", "https", { .replies = { { NULL, 0 } } }, SDD_ERROR_CONNECT, 1, "broke off" },
    };
    pthread_t thread = start_proxy();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char url[100];
        snprintf(url, sizeof url, "%s://127.0.0.1:%d", all[i].kind, proxy.port);
        __atomic_store_n(&proxy.script, &all[i].script, __ATOMIC_SEQ_CST);
        __atomic_store_n(&proxy.connections, 0, __ATOMIC_SEQ_CST);
        sdd_downloader *downloader = downloader_by(url, NULL);
        sdd_result *result = post(downloader, all[i].scheme);
        const sdd_failure *failure = &result->failure;
        int connections = accepted(failure->status, 1 + all[i].retryable);
        if (failure->status != all[i].error || failure->retryable != all[i].retryable ||
            failure->stage != SDD_STAGE_CONNECT || !strstr(failure->message, all[i].words) ||
            connections != 1 + all[i].retryable)
            FAIL("%zu: %s, retryable %d, stage %d, %d connections: %s", i, sdd_status_name(failure->status),
                 (int)failure->retryable, (int)failure->stage, connections, failure->message);
        sdd_result_release(result);
        destroy(downloader);
    }
    stop_proxy(thread);
}

/* The message names the proxy, however its address is written. */
CASE(an_unreachable_proxy_is_named)
{
    static const char *const urls[] = { "http://[::1]:1", "socks5h://[::1]:1", "http://LocalHost:1" };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        sdd_downloader *downloader = downloader_by(urls[i], NULL);
        sdd_result *result = post(downloader, "http");
        CHECK_STATUS(result->failure.status, SDD_ERROR_CONNECT);
        if (!strstr(result->failure.message, "to the proxy ")) FAIL("%s: %s", urls[i], result->failure.message);
        sdd_result_release(result);
        destroy(downloader);
    }
}

/* An https proxy has to be trusted like a server. nginx stands for the proxy. */
CASE(https_proxies_have_certificates)
{
    static const struct {
        const char *proxy;
        int has_ca;
        int32_t detail;
    } all[] = {
        { "SDD_TEST_TLS_HTTP1", 1, 0 },
        { "SDD_TEST_TLS_HTTP1", 0, SDD_DETAIL_TLS_UNKNOWN_ISSUER },
        { "SDD_TEST_TLS_EXPIRED", 1, SDD_DETAIL_TLS_EXPIRED },
        { "SDD_TEST_TLS_WRONG_HOST", 1, SDD_DETAIL_TLS_WRONG_HOST },
        { "SDD_TEST_TLS_SELF_SIGNED", 1, SDD_DETAIL_TLS_SELF_SIGNED },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_downloader *downloader =
            downloader_by(setting(all[i].proxy), all[i].has_ca ? setting("SDD_TEST_CA") : NULL);
        sdd_status error = sdd_get(downloader, "http://somewhere.invalid/protocol", 0, 60000, NULL, NULL, NULL);
        sdd_failure failure = { 0 };
        if (error != SDD_OK) sdd_last_error(&failure);
        if (failure.detail != all[i].detail || (error != SDD_OK && !strstr(failure.message, "the proxy https://")))
            FAIL("%zu: %s, detail %d: %s", i, sdd_status_name(error), (int)failure.detail, failure.message);
        destroy(downloader);
    }
}

/* Alerts that the host sends about the client's certificate: RFC 8446 section 6.2. */
CASE(a_host_that_wants_another_client_certificate)
{
#define ALERT(number) { .replies = { REPLY("\25\3\3\0\2\2" number) } }
    static const struct { script script; int32_t detail; } all[] = {
        { ALERT("\52"), SDD_DETAIL_TLS_CLIENT_CERTIFICATE },  /* bad_certificate */
        { ALERT("\55"), SDD_DETAIL_TLS_CLIENT_CERTIFICATE },  /* certificate_expired */
        { ALERT("\60"), SDD_DETAIL_TLS_CLIENT_CERTIFICATE },  /* unknown_ca */
        { ALERT("\164"), SDD_DETAIL_TLS_CLIENT_CERTIFICATE }, /* certificate_required */
        { ALERT("\50"), SDD_DETAIL_TLS_HANDSHAKE },           /* handshake_failure */
    };
    pthread_t thread = start_proxy();
    char url[100];
    snprintf(url, sizeof url, "https://localhost:%d/", proxy.port);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_failure failure;
        __atomic_store_n(&proxy.script, &all[i].script, __ATOMIC_SEQ_CST);
        CHECK_STATUS(sdd_get(NULL, url, 0, 60000, NULL, NULL, NULL), SDD_ERROR_TLS);
        sdd_last_error(&failure);
        if (failure.detail != all[i].detail) FAIL("%zu: detail %d: %s", i, (int)failure.detail, failure.message);
    }
    stop_proxy(thread);
}

int main(void) { return run_cases(); }

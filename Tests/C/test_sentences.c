/* Messages of results that help a person to act: the meaning of each HTTP status, the proxy by its name where the proxy
   failed, the address and the rule where an address was refused. */
#include "record.h"
#include "server.h"

#include <sys/socket.h>

#define CHECK_SAYS(r, part) \
    do { \
        if (strstr((r)->message, part) == NULL) FAIL("\"%s\" is not in: %s", part, (r)->message); \
        if ((r)->message[strlen((r)->message) - 1] != '.') FAIL("not a sentence: %s", (r)->message); \
    } while (0)

#define CHECK_SAYS_NOT(r, part) \
    do { \
        if (strstr((r)->message, part) != NULL) FAIL("\"%s\" is in: %s", part, (r)->message); \
    } while (0)

/* ----------------------------------------------------------------------------------- statuses */

static const struct { int status; const char *says; } statuses[] = {
    { 300, "not among the statuses that are accepted" }, { 400, "does not understand the request" }, { 401, "credentials" },
    { 402, "payment" }, { 403, "it refuses this" }, { 404, "nothing under this URL" }, { 405, "the method" },
    { 406, "Accept" }, { 407, "the proxy wants a user and password" }, { 408, "waited too long" },
    { 410, "gone for good" }, { 413, "body is too large" }, { 414, "URL is too long" }, { 418, "does not take this" },
    { 421, "not the server for this host" }, { 425, "try again" }, { 429, "too many requests come from here" },
    { 431, "header fields" }, { 451, "legal reasons" }, { 500, "no fault of the request; try again later" },
    { 501, "does not know the method" }, { 502, "a server behind it" }, { 503, "overloaded" },
    { 504, "did not answer in time" }, { 507, "no room left" }, { 511, "login" }, { 599, "it failed" },
};

CASE(each_status_says_what_it_means)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        char number[30];
        snprintf(number, sizeof number, "HTTP status %d: ", statuses[i].status);
        fetch(downloader, &r, atf("/status/%d", statuses[i].status), SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
        CHECK_SAYS(&r, number);
        CHECK_SAYS(&r, statuses[i].says);
        CHECK_SAYS_NOT(&r, "Retry-After");
    }
    for (int status = 429; status <= 503; status += 74) {
        fetch(downloader, &r, atf("/status/%d?header=Retry-After:%%20120", status), SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
        CHECK_SAYS(&r, "in 120 seconds as it says itself (Retry-After)");
        fetch(downloader, &r, atf("/status/%d?header=Retry-After:%%201", status), SDD_OPTION_BYTES_ONLY);
        CHECK_SAYS(&r, "in 1 second as it says itself (Retry-After)");
    }
}

/* ------------------------------------------------------------------------------------- proxies */

/* A proxy that answers every request with one status. */
typedef struct refusing_proxy {
    int listener, port, status;
    pthread_t thread;
} refusing_proxy;

static void *run_proxy(void *given)
{
    refusing_proxy *p = given;
    char text[4096];
    for (;;) {
        int connection = accept(p->listener, NULL, NULL);
        size_t filled = 0;
        if (connection < 0) return NULL;
        text[0] = 0;
        while (strstr(text, "\r\n\r\n") == NULL && filled < sizeof text - 1) {
            ssize_t count = recv(connection, text + filled, sizeof text - 1 - filled, 0);
            if (count <= 0) break;
            filled += (size_t)count;
            text[filled] = 0;
        }
        int length = snprintf(text, sizeof text, "HTTP/1.1 %d No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                              p->status);
        CHECK(send(connection, text, (size_t)length, MSG_NOSIGNAL) >= 0);
        shutdown(connection, SHUT_RDWR);
        close(connection);
    }
}

static void start_proxy(refusing_proxy *p, int status)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    p->status = status;
    p->listener = loopback_socket(&address, 0);
    CHECK(bind(p->listener, (struct sockaddr *)&address, size) == 0 && listen(p->listener, 16) == 0);
    CHECK(getsockname(p->listener, (struct sockaddr *)&address, &size) == 0);
    p->port = ntohs(address.sin_port);
    CHECK(pthread_create(&p->thread, NULL, run_proxy, p) == 0);
}

static void stop_proxy(refusing_proxy *p)
{
    shutdown(p->listener, SHUT_RDWR);
    CHECK(pthread_join(p->thread, NULL) == 0);
    close(p->listener);
}

static sdd_downloader *downloader_over(const char *proxy)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.proxy = proxy;
    return make_downloader(&config);
}

CASE(a_proxy_that_refuses_is_named)
{
    static const struct { int status; const char *says; } answers[] = {
        { 407, "wants a user and password, or others (status 407)" }, { 403, "does not let this through (status 403)" },
        { 502, "does not reach it (status 502): try again later" }, { 500, "refused with status 500" },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        refusing_proxy proxy;
        char url[100], name[100];
        OWNED_RECORD r = RECORD_INIT;
        start_proxy(&proxy, answers[i].status);
        snprintf(url, sizeof url, "http://user:geheim@127.0.0.1:%d", proxy.port);
        snprintf(name, sizeof name, "The proxy http://127.0.0.1:%d on the way to example.invalid ", proxy.port);
        sdd_downloader *downloader = downloader_over(url);
        fetch(downloader, &r, "https://example.invalid/picture.png", 0);
        CHECK_ENDED(&r, SDD_ERROR_PROXY, 0);
        CHECK_SAYS(&r, name);
        CHECK_SAYS(&r, answers[i].says);
        CHECK_SAYS_NOT(&r, "geheim");
        destroy(downloader);
        stop_proxy(&proxy);
    }
}

CASE(a_proxy_that_cannot_be_reached_is_named)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    char url[100], name[100];
    OWNED_RECORD r = RECORD_INIT;
    /* The port is bound, but nothing listens. */
    int taken = loopback_socket(&address, 0);
    CHECK(bind(taken, (struct sockaddr *)&address, size) == 0);
    CHECK(getsockname(taken, (struct sockaddr *)&address, &size) == 0);
    snprintf(url, sizeof url, "http://user:geheim@127.0.0.1:%d", ntohs(address.sin_port));
    snprintf(name, sizeof name, "the proxy http://127.0.0.1:%d on the way to example.invalid", ntohs(address.sin_port));
    for (int i = 0; i < 2; i++) {
        OWNED_DOWNLOADER downloader = downloader_over(url);
        fetch(downloader, &r, i ? "https://example.invalid/" : "http://example.invalid/", 0);
        CHECK_ENDED(&r, SDD_ERROR_CONNECT, 0);
        CHECK_SAYS(&r, name);
        CHECK_SAYS(&r, "check its URL, or http_proxy and https_proxy");
        CHECK_SAYS_NOT(&r, "geheim");
    }
    sdd_downloader *unknown = downloader_over("socks5h://user:geheim@proxy.invalid:3128");
    fetch(unknown, &r, "http://example.invalid/", 0);
    CHECK_ENDED(&r, SDD_ERROR_RESOLVE, 0);
    CHECK_SAYS(&r, "The name of the proxy socks5h://proxy.invalid:3128 could not be resolved");
    CHECK_SAYS_NOT(&r, "geheim");
    destroy(unknown);
    /* Without a proxy the message names the host. */
    sdd_downloader *direct = make_downloader(NULL);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    fetch(direct, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_CONNECT, 0);
    CHECK_SAYS(&r, "There is no connection to 127.0.0.1");
    CHECK_SAYS_NOT(&r, "proxy");
    destroy(direct);
    close(taken);
}

/* ----------------------------------------------------------------------------------- addresses */

static int32_t refuse_all(const char *address, int32_t port, void *user_data)
{
    (void)address, (void)port, (void)user_data;
    return 0;
}

CASE(an_address_that_is_refused_is_named_with_its_rule)
{
    static const struct { const char *url, *says; } places[] = {
        { "http://127.0.0.1:1/", "127.0.0.1 is refused, as only public addresses are allowed: it is for this machine itself" },
        { "http://10.1.2.3/", "10.1.2.3 is refused, as only public addresses are allowed: it is for a private network" },
        { "http://169.254.169.254/", "it is for one link, or the metadata of a cloud" },
        { "http://100.64.0.1/", "it is for a carrier's customers" },
        { "http://[fd00::1]/", "fd00::1" },
        { "http://[fd00::1]/", "it is for a private network" },
        { "http://[fe80::1]/", "it is for one link" },
        { "http://[::1]/", "it is for this machine itself" },
        { "http://[::ffff:192.168.1.1]/", "it is for a private network" },
        { "http://localhost:1/", ", an address of localhost, is refused, as only public" },
    };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    config.network = &network;
    network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
    sdd_downloader *strict = make_downloader(&config);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        fetch(strict, &r, places[i].url, 0);
        CHECK_ENDED(&r, SDD_ERROR_ADDRESS_REFUSED, 0);
        CHECK_SAYS(&r, places[i].says);
        CHECK_SAYS(&r, "an exception can allow it");
    }
    destroy(strict);
    network.address_policy = SDD_ADDRESS_ANY;
    network.address_filter = refuse_all;
    OWNED_DOWNLOADER filtered = make_downloader(&config);
    fetch(filtered, &r, at("/ok"), 0);
    CHECK_ENDED(&r, SDD_ERROR_ADDRESS_REFUSED, 0);
    CHECK_SAYS(&r, "127.0.0.1");
    CHECK_SAYS(&r, "is refused by the application's address_filter");
}

int main(void) { return run_cases(); }

/* The proxies of the environment, which a downloader reads when it is made. A program of its own, because no other
   thread may run while it changes the environment (getenv(3)). */
#include "record.h"
#include "server.h"

/* Requests a host that does not exist. Only a proxy can answer. */
static sdd_status get_nowhere(sdd_downloader *downloader, const char *host)
{
    char url[100];
    snprintf(url, sizeof url, "http://%s.invalid/ok", host);
    return sdd_get(downloader, url, 0, 30000, NULL, NULL, NULL);
}

static sdd_downloader *downloader_with(int32_t proxy_mode)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.proxy_mode = proxy_mode;
    return make_downloader(&config);
}

CASE(g4_proxies_are_read_once)
{
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    sdd_downloader *before = downloader_with(SDD_PROXY_ENVIRONMENT);
    setenv("http_proxy", setting("SDD_TEST_SERVER"), 1);
    setenv("no_proxy", "around.invalid", 1);
    sdd_downloader *during = downloader_with(SDD_PROXY_ENVIRONMENT), *none = downloader_with(SDD_PROXY_NONE);
    unsetenv("http_proxy");
    unsetenv("no_proxy");
    sdd_downloader *after = downloader_with(SDD_PROXY_ENVIRONMENT);
    CHECK_STATUS(get_nowhere(before, "somewhere"), SDD_ERROR_RESOLVE);
    CHECK_STATUS(get_nowhere(during, "somewhere"), SDD_OK);
    CHECK_STATUS(get_nowhere(during, "around"), SDD_ERROR_RESOLVE);
    CHECK_STATUS(get_nowhere(none, "somewhere"), SDD_ERROR_RESOLVE);
    CHECK_STATUS(get_nowhere(after, "somewhere"), SDD_ERROR_RESOLVE);
    destroy(before);
    destroy(during);
    destroy(none);
    destroy(after);
}

/* The message names the proxy, but without its user name and password. */
CASE(a_failing_proxy_is_named)
{
    setenv("http_proxy", "user:geheim@proxy.invalid:3128", 1);
    OWNED_DOWNLOADER downloader = downloader_with(SDD_PROXY_ENVIRONMENT);
    unsetenv("http_proxy");
    CHECK_STATUS(get_nowhere(downloader, "somewhere"), SDD_ERROR_RESOLVE);
    CHECK(strstr(sdd_last_error_message(), "the proxy http://proxy.invalid:3128 could not be resolved") != NULL);
    CHECK(strstr(sdd_last_error_message(), "geheim") == NULL);
}

/* Likewise where libcurl's own message has the whole URL. */
CASE(an_unusable_proxy_is_named)
{
    static const char *const urls[] = { "ftp://user:geheim@proxy.invalid:21", "socks9://user:geheim@proxy.invalid" };
    for (int i = 0; i < 2; i++) {
        setenv("http_proxy", urls[i], 1);
        OWNED_DOWNLOADER downloader = downloader_with(SDD_PROXY_ENVIRONMENT);
        unsetenv("http_proxy");
        CHECK_STATUS(get_nowhere(downloader, "somewhere"), SDD_ERROR_CONNECT);
        if (!strstr(sdd_last_error_message(), "proxy.invalid") || strstr(sdd_last_error_message(), "geheim"))
            FAIL("%s", sdd_last_error_message());
    }
}

CASE(z18_an_address_policy_uses_no_proxy)
{
    setenv("http_proxy", setting("SDD_TEST_SERVER"), 1);
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    unsetenv("http_proxy");
    CHECK_STATUS(get_nowhere(downloader, "somewhere"), SDD_ERROR_RESOLVE);
}

int main(void) { return run_cases(); }

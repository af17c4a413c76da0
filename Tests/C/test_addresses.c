/* Addresses that a downloader may connect to: exceptions to SDD_ADDRESS_PUBLIC_ONLY, on every hop; and data: URLs that
   are switched off. */
#include "loads.h"

static int port_of(const char *variable) { return atoi(strrchr(setting(variable), ':') + 1); }

/* Makes a downloader that connects only to public addresses and to these exceptions; `resolve` may be NULL. */
static sdd_downloader *public_but(const char *const *exceptions, size_t count, const char *resolve)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
    network.address_exceptions = exceptions;
    network.address_exception_count = count;
    network.resolve = &resolve;
    network.resolve_count = resolve != NULL;
    return make_downloader(&config);
}

static void check_goes(sdd_downloader *downloader, const char *url, int goes)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, goes ? SDD_OK : SDD_ERROR_ADDRESS_REFUSED, 0);
}

CASE(exceptions_match_addresses_and_ports)
{
    char with_port[60], with_other[60];
    snprintf(with_port, sizeof with_port, "127.0.0.1:%d", port_of("SDD_TEST_SERVER"));
    snprintf(with_other, sizeof with_other, "127.0.0.1:%d", port_of("SDD_TEST_SERVER_2"));
    const struct { const char *exception; int first, second; } cases[] = {
        { NULL, 0, 0 }, { "127.0.0.0/8", 1, 1 }, { "127.0.0.1", 1, 1 }, { "127.0.0.1/32", 1, 1 }, { "10.0.0.0/8", 0, 0 },
        { "fd00::/8", 0, 0 }, { with_port, 1, 0 }, { with_other, 0, 1 }, { "localhost", 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED_DOWNLOADER downloader = public_but(&cases[i].exception, cases[i].exception != NULL, NULL);
        check_goes(downloader, at("/ok"), cases[i].first);
        check_goes(downloader, address_at("SDD_TEST_SERVER_2", "/ok"), cases[i].second);
        /* The resolved address counts, however the URL writes it. */
        char odd[100];
        snprintf(odd, sizeof odd, "http://0x7f.1:%d/ok", port_of("SDD_TEST_SERVER"));
        check_goes(downloader, odd, cases[i].first);
    }
}

CASE(exceptions_match_host_names)
{
    char url[100], other[100], resolve[100], with_port[60];
    int port = port_of("SDD_TEST_SERVER");
    snprintf(url, sizeof url, "http://Intranet.test.:%d/ok", port);
    snprintf(other, sizeof other, "http://x.intranet.test:%d/ok", port);
    snprintf(resolve, sizeof resolve, "intranet.test:%d:127.0.0.1", port);
    snprintf(with_port, sizeof with_port, "INTRANET.test:%d", port);
    const struct { const char *exception; int goes; } cases[] = {
        { "intranet.test", 1 }, { with_port, 1 }, { "intranet.test:1", 0 }, { "test", 0 }, { "x.intranet.test", 0 },
    };
    snprintf(url, sizeof url, "http://Intranet.test:%d/ok", port);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sdd_downloader *downloader = public_but(&cases[i].exception, 1, resolve);
        check_goes(downloader, url, cases[i].goes);
        check_goes(downloader, at("/ok"), 0); /* the same machine by its address */
        destroy(downloader);
    }
}

/* Each hop is checked by itself, and an open connection gives no other host a way around the check. */
CASE(each_hop_is_checked)
{
    char first[60];
    OWNED_RECORD r = RECORD_INIT;
    snprintf(first, sizeof first, "127.0.0.1:%d", port_of("SDD_TEST_SERVER"));
    const char *exceptions[] = { "10.0.0.0/8", first };
    sdd_downloader *downloader = public_but(exceptions, 2, NULL);
    check_goes(downloader, at("/redirect?to=/ok"), 1);
    fetch(downloader, &r, atf("/redirect?to=%s/ok/never", setting("SDD_TEST_SERVER_2")), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_ADDRESS_REFUSED, 0);
    CHECK_EQUAL(r.http_status, 302);
    CHECK_EQUAL(order_at("SDD_TEST_SERVER_2", "/count?path=/ok/never"), 0);
    destroy(downloader);
}

/* A host name in UTF-8 is that of its ASCII form, of redirects too. */
CASE(host_names_outside_ascii_are_converted)
{
    const int port = port_of("SDD_TEST_SERVER");
    const char *exceptions[] = { "xn--bcher-kva.test", "127.0.0.1" };
    char url[100], split[100], resolve[100];
    snprintf(resolve, sizeof resolve, "xn--bcher-kva.test:%d:127.0.0.1", port);
    snprintf(url, sizeof url, "http://B\303\234cher.test:%d/ok", port);
    snprintf(split, sizeof split, "http://xn--bcher-kva.test\342\204\200:%d/ok", port);
    OWNED_DOWNLOADER downloader = public_but(exceptions, 2, resolve);
    check_goes(downloader, url, 1);
    check_goes(downloader, atf("/redirect?to=http://b%%C3%%BCcher.test:%d/ok", port), 1);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, split, SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_MALFORMED);
}

/* The filter is also asked about addresses that are exceptions. */
static int32_t refuse_all(const char *address, int32_t port, void *user_data)
{
    (void)address, (void)port;
    ++*(int *)user_data;
    return 0;
}

CASE(the_filter_is_asked_about_exceptions)
{
    int asked = 0;
    const char *exception = "127.0.0.1";
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
    network.address_exceptions = &exception;
    network.address_exception_count = 1;
    network.address_filter = refuse_all;
    network.user_data = &asked;
    sdd_downloader *downloader = make_downloader(&config);
    check_goes(downloader, at("/ok"), 0);
    destroy(downloader);
    CHECK(asked > 0);
}

CASE(exceptions_are_not_told)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    const char *good = "10.0.0.0/8";
    config.network = &network;
    network.address_policy = SDD_ADDRESS_PUBLIC_ONLY;
    network.address_exceptions = &good;
    network.address_exception_count = 1;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    CHECK_STATUS(sdd_downloader_get_config(downloader, &config), SDD_OK);
    CHECK(config.network->address_exceptions == NULL && config.network->address_exception_count == 0);
}

/* -------------------------------------------------------------------------------------------- data: */

static void archive_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    CHECK_STATUS(sdd_transfer_write(transfer, "own", 3), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void archive_cancel(sdd_transfer transfer, void *user_data) { (void)transfer, (void)user_data; }

CASE(data_urls_are_switched_off)
{
    record r = RECORD_INIT;
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.no_data_urls = 1;
    loader_in_folder l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    static const char *const urls[] = { "data:,x", "DATA:image/png;base64,AAAA", "data:text/plain,hello" };
    for (int i = 0; i < 3; i++) {
        fetch(l.downloader, &r, urls[i], SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
        CHECK(strstr(r.message, "data: URL") != NULL);
        load(&l, &r, urls[i], SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    }
    CHECK_STATUS(sdd_downloader_get_config(l.downloader, &config), SDD_OK);
    CHECK_EQUAL(config.network->no_data_urls, 1);
    fetch(l.downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    /* An application's own transport still accepts data: URLs. */
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "data";
    transport.start = archive_start;
    transport.cancel = archive_cancel;
    CHECK_STATUS(sdd_downloader_add_transport(l.downloader, &transport), SDD_OK);
    fetch(l.downloader, &r, urls[0], SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), 3);
    record_clear(&r);
    close_loader(&l);
    /* By default data: URLs are read. */
    fetch(NULL, &r, urls[2], SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    sdd_downloader *downloader = NULL;
    config = (sdd_downloader_config)SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    network.no_data_urls = 2;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
}

int main(void) { return run_cases(); }

/* Metrics of requests whose transfer is not the whole story: a response that is refused, and a 304. */
#include "loads.h"

static void fetch_bytes(sdd_downloader *downloader, record *r, const char *url)
{
    fetch(downloader, r, url, SDD_OPTION_BYTES_ONLY);
}

CASE(a_refused_response_has_metrics)
{
    static const char *const paths[] = { "/status/404", "/status/401", "/status/503" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        OWNED_RECORD r = RECORD_INIT;
        config_groups groups;
        sdd_downloader_config config = config_over(&groups);
        OWNED_DOWNLOADER downloader = make_downloader(&config);
        fetch_bytes(downloader, &r, atf("/ok?status=302&header=Location:%%20%s&text=moved", paths[i]));
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
        CHECK_EQUAL(r.metrics.redirects, 1);
        CHECK_EQUAL(r.metrics.http_version, 11);
        CHECK(r.metrics.request_bytes > 0 && r.metrics.response_header_bytes > 0);
        CHECK(r.metrics.first_byte_us > 0 && r.metrics.transfer_us > 0);
        CHECK_TEXT(r.remote_address, "127.0.0.1");
        CHECK(r.metrics.remote_port > 0);
        sdd_statistics statistics = SDD_STATISTICS_INIT;
        CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
        CHECK(statistics.connections_opened >= 1);
        CHECK_EQUAL(r.metrics.connection_reused, statistics.connections_opened == 0);
        CHECK(statistics.response_header_bytes >= r.metrics.response_header_bytes);
    }
}

CASE(a_request_without_a_connection_reuses_none)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    fetch_bytes(downloader, &r, "data:image/png;base64,iVBORw0KGgo=");
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.metrics.connection_reused, 0);
}

CASE(a_confirmed_entry_has_the_version_of_its_answer)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/tagged?file=png/rgb8.png&metrics");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_WAIT_STORE_CACHE);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load_from(&l, &request, SDD_ORIGIN_HTTP_REVALIDATED);
    CHECK_EQUAL(r.metrics.http_version, 11);
    CHECK(r.metrics.request_bytes > 0);
}

int main(void) { return run_cases(); }

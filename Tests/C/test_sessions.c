/*
 * TLS sessions, which the library keeps between libcurl's handles: a new connection may resume one that began under the
 * same conditions, and no other. (Of nginx Debian's libcurl 7.88.1 resumes none, nor does its curl program.)
 */
#include "record.h"
#include "server.h"

/* Makes a request on its own connection and returns what nginx says of its session: "r" for a resumed one, "." for a
   new one. */
static char session_of(sdd_downloader *downloader, uint64_t options)
{
    static const sdd_header closes = { "Connection", "close" };
    record r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.url = address_at("SDD_TEST_TLS_HTTP1", "/session");
    transfer.headers = &closes;
    transfer.header_count = 1;
    request.options = options;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) == 1 && r.metrics.connection_reused == 0);
    char said = *(const char *)sdd_bytes_data(r.bytes);
    record_clear(&r);
    return said;
}

CASE(no_session_resumes_under_other_conditions)
{
    static const struct { uint64_t options; int is_new; } turns[] = {
        { 0, 1 }, { 0, 0 },
        { SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES, 1 }, { SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES, 0 },
        { SDD_OPTION_HANDLE_COOKIES, 1 }, { SDD_OPTION_HANDLE_COOKIES, 0 }, { 0, 0 },
    };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        char said = session_of(downloader, turns[i].options);
        if (said != '.' && (turns[i].is_new || said != 'r')) FAIL("turn %zu: nginx says '%c'", i, said);
    }
    destroy(downloader);
    /* Another downloader has no session to resume. */
    downloader = make_downloader(&config);
    CHECK_EQUAL(session_of(downloader, 0), '.');
}

int main(void) { return run_cases(); }

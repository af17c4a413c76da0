/* Request options that concern the response: redirects, the limit on the body, a body as it was sent, the CA file,
   repeated header fields; and the Accept header that follows from the coders. */
#include "loads.h"
#include "toy_coder.h"

static sdd_download_request request_of(const char *url)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY;
    return request;
}

/* Returns a URL that redirects, with a body unless `more` says otherwise. `place` must be usable in a query as it
   is. */
static const char *to(int status, const char *place, const char *more)
{
    const char *body = strstr(more, "file=") ? "" : "&text=moved";
    return atf("/ok?status=%d&header=Location:%%20%s%s%s", status, place, body, more);
}

/* Whether the bytes contain that text. */
static int says(const record *r, const char *text)
{
    return memmem(sdd_bytes_data(r->bytes), sdd_bytes_size(r->bytes), text, strlen(text)) != NULL;
}

/* -------------------------------------------------------------------------------------- redirects */

CASE(a_redirect_is_handed_out)
{
    OWNED_RECORD r = RECORD_INIT;
    static const int statuses[] = { 301, 302, 303, 307, 308 };
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = request_of(to(statuses[i], "/ok/behind", ""));
        request.transfer = &transfer;
        transfer.redirects = SDD_REDIRECT_HAND_OUT;
        fetch_request(NULL, &r, request);
        /* By default such a status is not accepted, but the result has the response. */
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
        CHECK_EQUAL(r.http_status, statuses[i]);
        CHECK_TEXT(sdd_response_header(r.response, "Location"), "/ok/behind");
        CHECK(r.bytes == NULL && r.metrics.redirects == 0);
        transfer.accepted_status_codes = "200-399";
        fetch_request(NULL, &r, request);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(sdd_bytes_size(r.bytes), 5);
        CHECK(memcmp(sdd_bytes_data(r.bytes), "moved", 5) == 0);
        CHECK_EQUAL(sdd_response_status(r.response), statuses[i]);
        CHECK_TEXT(sdd_response_url(r.response), request.url);
    }
    CHECK_EQUAL(requests_of("/ok/behind"), 0);
    /* The body of a handed-out redirect is decoded like any other. */
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(to(302, "/ok/behind", "&file=png/rgb8.png"));
    request.transfer = &transfer;
    transfer.redirects = SDD_REDIRECT_HAND_OUT;
    transfer.accepted_status_codes = "302";
    request.options = 0;
    fetch_as(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.image != NULL);
}

CASE(a_redirect_is_refused)
{
    OWNED_RECORD r = RECORD_INIT;
    const char *place = "http://me:secret@host.example:81/there?x";
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(to(302, "http://me:secret@host.example:81/there%3Fx", ""));
    request.transfer = &transfer;
    transfer.redirects = SDD_REDIRECT_REFUSE;
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_UNWANTED);
    CHECK(strstr(r.message, "http://host.example:81/there") != NULL);
    CHECK(strstr(r.message, "?x") == NULL && strstr(r.message, "secret") == NULL);
    CHECK(r.error_class == SDD_CLASS_RESPONSE && r.retryable == 0 && r.http_status == 302 && r.bytes == NULL);
    CHECK_TEXT(sdd_response_header(r.response, "Location"), place);
    /* A relative Location is reported as the URL it leads to. */
    request = request_of(to(308, "../far", ""));
    request.transfer = reset(&transfer);
    transfer.redirects = SDD_REDIRECT_REFUSE;
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_UNWANTED);
    CHECK(strstr(r.message, at("/far")) != NULL);
    /* Without a Location there is nothing to refuse. */
    request = request_of(at("/status/302?size=10"));
    request.transfer = reset(&transfer);
    transfer.redirects = SDD_REDIRECT_REFUSE;
    transfer.accepted_status_codes = "302";
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    request = request_of(at("/ok?refusing"));
    request.transfer = reset(&transfer);
    transfer.redirects = SDD_REDIRECT_REFUSE;
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
}

CASE(as_many_redirects_as_the_request_says)
{
    static const struct { int most, hops; sdd_status error; } cases[] = {
        { 0, 3, SDD_OK }, { 0, 4, SDD_ERROR_TOO_MANY_REDIRECTS }, { 2, 3, SDD_ERROR_TOO_MANY_REDIRECTS }, { 5, 5, SDD_OK },
    };
    OWNED_RECORD r = RECORD_INIT;
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.max_redirects = 3;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = request_of(atf("/redirect-chain/%d", cases[i].hops));
        request.transfer = &transfer;
        transfer.max_redirects = cases[i].most;
        fetch_request(downloader, &r, request);
        CHECK_ENDED(&r, cases[i].error, 0);
        if (r.error == SDD_OK) CHECK_EQUAL(r.metrics.redirects, cases[i].hops);
    }
}

CASE(redirects_of_loads)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    const char *url = to(302, "/file/png/rgb8.png", "&load");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    /* A cached result of a redirect is not given to loads that refuse redirects, nor to loads that want them handed
       out. */
    request.transfer = &transfer;
    transfer.redirects = SDD_REDIRECT_REFUSE;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_REDIRECT_REFUSED, SDD_DETAIL_REDIRECT_UNWANTED);
    transfer.redirects = SDD_REDIRECT_HAND_OUT;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_TEXT(sdd_response_header(r.response, "location"), "/file/png/rgb8.png");
    transfer.redirects = SDD_REDIRECT_FOLLOW;
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
}

/* ------------------------------------------------------------------------------ limit on the body */

CASE(a_request_has_a_limit_on_its_body)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.max_body_bytes = 1000;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    static const char *const framings[] = { "length", "chunked", "close" };
    static const struct { int64_t limit; int size, fits; } cases[] = {
        { 0, 1000, 1 }, { 0, 1001, 0 }, { 500, 500, 1 }, { 500, 501, 0 }, { 2000, 2000, 1 }, { 2000, 2001, 0 },
        { INT64_C(1) << 46, 5000, 1 }, { 1, 1, 1 }, { 1, 2, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int f = 0; f < 3; f++) {
            sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
            sdd_download_request request = request_of(atf("/ok?size=%d&framing=%s", cases[i].size, framings[f]));
            request.transfer = &transfer;
            transfer.max_body_bytes = cases[i].limit;
            fetch_request(downloader, &r, request);
            CHECK_ENDED(&r, cases[i].fits ? SDD_OK : SDD_ERROR_BODY_TOO_LARGE, 0);
        }
    /* The body is within the limit as sent, but too large when decompressed. */
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/gzip?text=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    request.transfer = &transfer;
    transfer.max_body_bytes = 30;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_BODY_TOO_LARGE, 0);
    /* A data: URL has its body in it. */
    request = request_of("data:,0123456789");
    request.transfer = reset(&transfer);
    transfer.max_body_bytes = 9;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_BODY_TOO_LARGE, 0);
    transfer.max_body_bytes = 10;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
}

CASE(the_http_cache_keeps_to_the_limit)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_LOADER l = open_loader();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = l.cache.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/ok/kept?size=100&header=Cache-Control:%20max-age=1000"));
    request.transfer = &transfer;
    request.options |= SDD_OPTION_USE_HTTP_CACHE;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    fetch_request(downloader, &r, request);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_HTTP_FRESH);
    transfer.max_body_bytes = 100;
    fetch_request(downloader, &r, request);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_HTTP_FRESH);
    transfer.max_body_bytes = 99;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_BODY_TOO_LARGE, 0);
}

/* A caller with tighter limits finds URLs blocked that are not blocked for other callers. */
CASE(a_callers_limits_block_no_other_caller)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    for (int which = 0; which < 2; which++) {
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_load_request request = record_load(&r, which ? at("/redirect-chain/3?file=png/rgb8.png&own") : at("/file/png/rgb8.png?own"), 0);
        request.transfer = &transfer;
        transfer.max_body_bytes = which ? 0 : 10;
        transfer.max_redirects = which ? 2 : 0;
        load_as(&l, &r, &request);
        CHECK_ENDED(&r, which ? SDD_ERROR_TOO_MANY_REDIRECTS : SDD_ERROR_BODY_TOO_LARGE, 0);
        load_as(&l, &r, &request);
        CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
        transfer.max_body_bytes = which ? 0 : 100000;
        transfer.max_redirects = which ? 5 : 0;
        load_as(&l, &r, &request);
        CHECK_ENDED(&r, SDD_OK, 0);
    }
}

/* ------------------------------------------------------------------------------- as it was sent */

static int is_gzip(const record *r)
{
    const uint8_t *bytes = sdd_bytes_data(r->bytes);
    return sdd_bytes_size(r->bytes) > 18 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

CASE(a_body_as_it_was_sent)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/echo?sent"));
    request.transfer = &transfer;
    fetch_request(NULL, &r, request);
    CHECK(echoes(&r, "Accept-Encoding: gzip\r\n"));
    request.options |= SDD_OPTION_BODY_AS_SENT;
    fetch_request(NULL, &r, request);
    CHECK(echoes(&r, "Accept-Encoding: identity\r\n") && !says(&r, "gzip"));
    sdd_header own = { "Accept-Encoding", "br, zstd" };
    transfer.headers = &own;
    transfer.header_count = 1;
    fetch_request(NULL, &r, request);
    CHECK(echoes(&r, "Accept-Encoding: br, zstd\r\n") && !says(&r, "identity"));

    /* A body that the server compresses unasked stays compressed, also if it is compressed twice. */
    request = request_of(at("/gzip?size=5000"));
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) == 5000 && !is_gzip(&r));
    request.options |= SDD_OPTION_BODY_AS_SENT;
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(is_gzip(&r));
    CHECK_TEXT(sdd_response_header(r.response, "Content-Encoding"), "gzip");
    CHECK_EQUAL(sdd_bytes_size(r.bytes), r.metrics.response_body_bytes);
    CHECK(r.last_received == r.last_expected && r.last_received > 0); /* its length is known, as that of any body */
    request.url = at("/gzip-twice");
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(is_gzip(&r));
    request.url = at("/gzip-corrupt?where=checksum");
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    request.url = at("/cut?size=100");
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_TRUNCATED_BODY, 0);

    /* The format of a picture follows from its bytes, so a compressed one cannot be decoded. */
    request.options = SDD_OPTION_BODY_AS_SENT;
    request.url = at("/gzip?file=png/rgb8.png");
    fetch_as(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    request.options = 0;
    fetch_as(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    request.options = SDD_OPTION_BODY_AS_SENT;
    request.url = at("/file/png/rgb8.png?as-sent");
    fetch_as(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* Two requests with the same option share a transfer; two with different options never do. */
CASE(both_kinds_of_bodies_at_once)
{
    record r[4] = { RECORD_INIT, RECORD_INIT, RECORD_INIT, RECORD_INIT };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    for (int i = 0; i < 4; i++) {
        uint64_t sort = i % 2 ? SDD_OPTION_BODY_AS_SENT : 0;
        record_submit(downloader, &r[i], at("/hold/sorts?size=100"), SDD_OPTION_BYTES_ONLY | sort);
    }
    wait_for_requests("/hold/sorts", 2);
    release("sorts");
    for (int i = 0; i < 4; i++) {
        record_wait(&r[i]);
        CHECK_ENDED(&r[i], SDD_OK, 0);
        record_clear(&r[i]);
    }
    CHECK_EQUAL(requests_of("/hold/sorts"), 2);
}

CASE(caches_keep_both_kinds_apart)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_LOADER l = open_loader();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = l.cache.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    const char *url = at("/gzip?text=both-sorts&header=Cache-Control:%20max-age=1000");
    for (int round = 0; round < 2; round++)
        for (int sort = 0; sort < 2; sort++) {
            sdd_download_request request = request_of(url);
            request.options |= SDD_OPTION_USE_HTTP_CACHE | (sort ? SDD_OPTION_BODY_AS_SENT : 0);
            fetch_request(downloader, &r, request);
            CHECK_ENDED(&r, SDD_OK, 0);
            CHECK_EQUAL(r.origin, round ? SDD_ORIGIN_HTTP_FRESH : SDD_ORIGIN_NETWORK);
            CHECK_EQUAL(is_gzip(&r), sort);
            CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
        }
    for (int round = 0; round < 2; round++)
        for (int sort = 0; sort < 2; sort++) {
            uint64_t options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_WAIT_STORE_CACHE | (sort ? SDD_OPTION_BODY_AS_SENT : 0);
            load(&l, &r, at("/gzip?text=both-sorts-of-loads"), options);
            CHECK_ENDED(&r, SDD_OK, 0);
            CHECK_EQUAL(r.origin, round ? SDD_ORIGIN_DISK : SDD_ORIGIN_NETWORK);
            CHECK_EQUAL(is_gzip(&r), sort);
        }
}

/* --------------------------------------------------------------------------------------- CA files */

static void fetch_trusting(sdd_downloader *downloader, record *r, const char *url, const char *file)
{
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(url);
    request.transfer = &transfer;
    transfer.ca_file = file;
    fetch_request(downloader, r, request);
}

/* The certificate of the self-signed server serves as another authority's. */
CASE(each_request_trusts_its_own_file)
{
    static const char *const servers[] = { "SDD_TEST_TLS", "SDD_TEST_TLS_HTTP1" };
    const char *ours = setting("SDD_TEST_CA");
    char other[1000];
    snprintf(other, sizeof other, "%.*s/self_signed.pem", (int)(strrchr(ours, '/') - ours), ours);
    for (int i = 0; i < 2; i++) {
        OWNED_RECORD r = RECORD_INIT;
        OWNED_DOWNLOADER downloader = make_downloader(NULL);
        const char *url = address_at(servers[i], "/png/rgb8.png");
        fetch_trusting(downloader, &r, url, NULL);
        CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_UNKNOWN_ISSUER);
        fetch_trusting(downloader, &r, url, ours);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.metrics.connection_reused, 0);
        /* The open connection, and its resumable session, are only for requests that trust the same file. */
        fetch_trusting(downloader, &r, url, other);
        CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_UNKNOWN_ISSUER);
        fetch_trusting(downloader, &r, url, NULL);
        CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_UNKNOWN_ISSUER);
        fetch_trusting(downloader, &r, url, ours);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.metrics.connection_reused, 1);
        fetch_trusting(downloader, &r, address_at("SDD_TEST_TLS_SELF_SIGNED", "/png/rgb8.png"), other);
        CHECK_ENDED(&r, SDD_OK, 0);
        fetch_trusting(downloader, &r, url, "/nowhere/at-all.pem");
        CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_CA_FILE);
    }
}

/* A request's file replaces the config's. */
CASE(the_file_replaces_the_configs)
{
    OWNED_RECORD r = RECORD_INIT;
    const char *ours = setting("SDD_TEST_CA");
    char other[1000];
    snprintf(other, sizeof other, "%.*s/self_signed.pem", (int)(strrchr(ours, '/') - ours), ours);
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = ours;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    const char *url = address_at("SDD_TEST_TLS", "/png/rgb8.png");
    fetch_trusting(downloader, &r, url, NULL);
    CHECK_ENDED(&r, SDD_OK, 0);
    fetch_trusting(downloader, &r, url, other);
    CHECK_ENDED(&r, SDD_ERROR_TLS, SDD_DETAIL_TLS_UNKNOWN_ISSUER);
}

/* Many requests run at once; no transfer and no connection serves requests that trust different files. */
CASE(no_connection_is_shared_between_files)
{
    enum { REQUESTS = 24 };
    record r[REQUESTS];
    const char *ours = setting("SDD_TEST_CA");
    char other[1000];
    snprintf(other, sizeof other, "%.*s/self_signed.pem", (int)(strrchr(ours, '/') - ours), ours);
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = config.max_concurrent_per_host = REQUESTS;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (int i = 0; i < REQUESTS; i++) {
        r[i] = (record)RECORD_INIT;
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&r[i], address_at("SDD_TEST_TLS", "/png/rgb8.png"));
        request.transfer = &transfer;
        request.options = SDD_OPTION_BYTES_ONLY;
        transfer.ca_file = i % 3 == 0 ? ours : i % 3 == 1 ? other : NULL;
        submit(downloader, &request);
    }
    for (int i = 0; i < REQUESTS; i++) {
        record_wait(&r[i]);
        if (i % 3 == 0) {
            CHECK_ENDED(&r[i], SDD_OK, 0);
        } else {
            CHECK_ENDED(&r[i], SDD_ERROR_TLS, SDD_DETAIL_TLS_UNKNOWN_ISSUER);
        }
        record_clear(&r[i]);
    }
}

CASE(a_request_that_was_cancelled_before_its_response_holds_up_no_other)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD cancelled = RECORD_INIT;
    OWNED_RECORD next = RECORD_INIT;
    uint64_t options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES;
    const char *held = address_at("SDD_TEST_TLS", "/behind/hold/unanswered");
    sdd_token token = record_submit(downloader, &cancelled, held, options);
    wait_for_requests("/hold/unanswered", 1);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&cancelled);
    fetch(downloader, &next, address_at("SDD_TEST_TLS", "/png/rgb8.png"), options);
    CHECK_ENDED(&next, SDD_OK, 0);
    release("unanswered");
}

/* ------------------------------------------------------------------------------- repeated headers */

CASE(headers_may_be_repeated)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    CHECK_STATUS(sdd_set_header(downloader, "X-Tag", "of the downloader"), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "X-Gone", "too"), SDD_OK);
    sdd_header headers[] = {
        { "X-Tag", "one" }, { "X-Other", "between" }, { "x-tag", "two" }, { "X-TAG", "one" }, { "X-Gone", NULL },
        { "X-Tag", NULL },
    };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(at("/echo?repeated"));
    request.transfer = &transfer;
    transfer.headers = headers;
    transfer.header_count = sizeof headers / sizeof *headers;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(echoes(&r, "X-Tag: one\r\n") && echoes(&r, "X-Other: between\r\n"));
    CHECK(echoes(&r, "x-tag: two\r\nX-TAG: one\r\n"));
    CHECK(!says(&r, "of the downloader") && !echoes(&r, "X-Gone"));
    /* Fields in another order make another request. */
    record held[2] = { RECORD_INIT, RECORD_INIT };
    for (int i = 0; i < 2; i++) {
        sdd_header two[] = { { "X-Tag", i ? "b" : "a" }, { "X-Tag", i ? "a" : "b" } };
        sdd_transfer_options other_transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request other = record_request(&held[i], at("/hold/orders"));
        other.transfer = &other_transfer;
        other.options = SDD_OPTION_BYTES_ONLY;
        other_transfer.headers = two;
        other_transfer.header_count = 2;
        submit(downloader, &other);
    }
    wait_for_requests("/hold/orders", 2);
    release("orders");
    for (int i = 0; i < 2; i++) {
        record_wait(&held[i]);
        CHECK_ENDED(&held[i], SDD_OK, 0);
        record_clear(&held[i]);
    }
}

/* All fields of a name stay with the first host if one of them must: no secret in the second one reaches another
   host. */
CASE(repeated_secret_headers_stay_with_their_host)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_header headers[] = { { "Cookie", "a=secret" }, { "Cookie", "b=secret" }, { "Authorization", "secret" },
                             { "Authorization", "secret" }, { "X-Open", "1" }, { "X-Open", "2" } };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = request_of(atf("/redirect?to=%s/echo", setting("SDD_TEST_SERVER_2")));
    request.transfer = &transfer;
    transfer.headers = headers;
    transfer.header_count = 6;
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(!says(&r, "secret") && echoes(&r, "X-Open: 1\r\n") && echoes(&r, "X-Open: 2\r\n"));
}

/* A variant is selected by all values of a field (RFC 9111 section 4.1). */
CASE(variants_are_selected_by_all_values)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_LOADER l = open_loader();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = l.cache.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    static const struct { const char *second; int32_t origin; } steps[] = {
        { "b", SDD_ORIGIN_NETWORK }, { "c", SDD_ORIGIN_NETWORK }, { "b", SDD_ORIGIN_HTTP_FRESH },
        { "c", SDD_ORIGIN_HTTP_FRESH },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        sdd_header headers[] = { { "X-Kind", "a" }, { "X-Kind", steps[i].second } };
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = request_of(
            at("/ok/varied?header=Cache-Control:%20max-age=1000&header=Vary:%20X-Kind"));
        request.transfer = &transfer;
        request.options |= SDD_OPTION_USE_HTTP_CACHE;
        transfer.headers = headers;
        transfer.header_count = 2;
        fetch_request(downloader, &r, request);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, steps[i].origin);
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    }
}

/* ----------------------------------------------------------------------------------------- Accept */

static void accepts(sdd_downloader *downloader, const char *expected)
{
    char text[500], line[520];
    OWNED_RECORD r = RECORD_INIT;
    CHECK_STATUS(sdd_get_header(downloader, "accept", text, sizeof text, NULL), SDD_OK);
    CHECK_TEXT(text, expected);
    snprintf(line, sizeof line, "Accept: %s\r\n", expected);
    fetch(downloader, &r, at("/echo?accept"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, line));
}

CASE(accept_follows_from_the_coders)
{
    static toy a = { .name = "a", .magic = "TOYA" }, b = { .name = "b", .magic = "TOYB" }, c = { .name = "c", .magic = "TOYC" },
               d = { .name = "d", .magic = "TOYD" };
    sdd_downloader *downloader = make_downloader(NULL), *own = make_downloader(NULL);
    sdd_coder coder = toy_coder(&a);
    accepts(downloader, "image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5");
    CHECK_STATUS(sdd_set_header(own, "accept", "text/html"), SDD_OK);
    coder.mime_type = "image/webp";
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    accepts(downloader, "image/jpeg,image/png,image/webp,image/*;q=0.8,*/*;q=0.5");
    coder = toy_coder(&b);
    coder.mime_type = "Image/AVIF";
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    accepts(downloader, "image/jpeg,image/png,image/avif,image/webp,image/*;q=0.8,*/*;q=0.5");
    /* One coder has no type, the other a type that is listed already. */
    coder = toy_coder(&c);
    coder.mime_type = NULL;
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    accepts(downloader, "image/jpeg,image/png,image/avif,image/webp,image/*;q=0.8,*/*;q=0.5");
    CHECK_STATUS(sdd_process_remove_coder("c"), SDD_OK);
    CHECK_STATUS(sdd_process_remove_coder("a"), SDD_OK);
    accepts(downloader, "image/jpeg,image/png,image/avif,image/*;q=0.8,*/*;q=0.5");
    sdd_downloader *another = make_downloader(NULL);
    accepts(another, "image/jpeg,image/png,image/*;q=0.8,*/*;q=0.5");
    destroy(another);
    /* An Accept header that the application has set stays as it is. */
    accepts(own, "text/html");
    CHECK_STATUS(sdd_set_header(downloader, "ACCEPT", NULL), SDD_OK);
    coder = toy_coder(&d);
    coder.mime_type = "image/gif";
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/echo?accept"), SDD_OPTION_BYTES_ONLY);
    CHECK(!echoes(&r, "Accept:"));
    destroy(downloader);
    destroy(own);
    CHECK(a.freed == 1 && b.freed == 1 && c.freed == 1 && d.freed == 1);
}

int main(void) { return run_cases(); }

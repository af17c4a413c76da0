/* What a failure says of itself: class, stage, whether it is retryable, numbers of libcurl and the system. The names
   begin with rows of the contract. */
#include "loads.h"

static int32_t refuse_address(const char *address, int32_t port, void *user_data)
{
    CHECK(strcmp(address, "127.0.0.1") == 0 && port > 0 && user_data == NULL);
    return 0;
}

/* Items of a batch and outcomes of sdd_loader_submit_wait() have the same facts as the results of downloads in `given`. */
static void check_facts_elsewhere(sdd_downloader *downloader, const char *const *urls, const record *given, size_t count)
{
    sdd_batch_config batch_config = SDD_BATCH_CONFIG_INIT;
    batch_config.downloader = downloader;
    batch_config.urls = urls;
    batch_config.count = count;
    batch_config.options = SDD_OPTION_BYTES_ONLY;
    batch_config.order = SDD_BATCH_ORDERED;
    sdd_batch *batch = NULL;
    CHECK_STATUS(sdd_batch_create(&batch_config, &batch), SDD_OK);
    sdd_loader_config loader_config = SDD_LOADER_CONFIG_INIT;
    loader_config.downloader = downloader;
    loader_config.no_cache = 1;
    sdd_loader *loader = NULL;
    CHECK_STATUS(sdd_loader_create(&loader_config, &loader), SDD_OK);
    for (size_t i = 0; i < count; i++) {
        size_t taken = 0;
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &taken), SDD_OK);
        CHECK_EQUAL(taken, 1);
        sdd_load_request request = SDD_LOAD_REQUEST_INIT;
        request.url = urls[i];
        request.options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_RETRY_FAILED;
        sdd_result *loaded = NULL;
        CHECK_STATUS(sdd_loader_submit_wait(loader, &request, -1, &loaded), given[i].error);
        const sdd_failure *of_batch = &item.result->failure, *of_load = &loaded->failure;
        CHECK(of_batch->status == given[i].error && of_load->status == given[i].error);
#define CHECK_SAME(field) \
    if (of_batch->field != given[i].field || of_load->field != given[i].field) \
        FAIL(#field " of %s: %d, in a batch %d, loaded %d", urls[i], (int)given[i].field, (int)of_batch->field, \
             (int)of_load->field)
        CHECK_SAME(detail);
        CHECK_SAME(http_status);
        CHECK_SAME(error_class);
        CHECK_SAME(stage);
        CHECK_SAME(retryable);
        /* The numbers of a lost connection depend on whether an earlier request has used it. */
        if (of_batch->status != SDD_ERROR_CONNECTION_LOST) {
            CHECK_SAME(curl_code);
            CHECK_SAME(system_error);
        }
        sdd_result_release(item.result);
        sdd_result_release(loaded);
    }
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
}

CASE(e10_z16_every_error_has_class_stage_and_retryable)
{
    static const struct {
        const char *path;
        int bytes_only;
        sdd_status error;
        int32_t error_class, stage, retryable, http_status;
    } all[] = {
        { "nonsense", 1, SDD_ERROR_INVALID_URL, SDD_CLASS_REQUEST, SDD_STAGE_SUBMIT, 0, 0 },
        { "http://name.invalid:65536/", 1, SDD_ERROR_INVALID_URL, SDD_CLASS_REQUEST, SDD_STAGE_CONNECT, 0, 0 },
        { "/status/404", 1, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 0, 404 },
        { "/status/410", 0, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 0, 410 },
        { "/status/408", 1, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 1, 408 },
        { "/status/429", 1, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 1, 429 },
        { "/status/500", 1, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 1, 500 },
        { "/status/503", 1, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 1, 503 },
        { "/status/304", 1, SDD_ERROR_NOT_MODIFIED, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 0, 304 },
        { "/html", 0, SDD_ERROR_BAD_IMAGE_DATA, SDD_CLASS_IMAGE, SDD_STAGE_DECODE, 0, 200 },
        { "/empty", 0, SDD_ERROR_BAD_IMAGE_DATA, SDD_CLASS_IMAGE, SDD_STAGE_DECODE, 0, 200 },
        { "/file/png/bad/huge.png", 0, SDD_ERROR_BAD_IMAGE_DATA, SDD_CLASS_LIMIT, SDD_STAGE_DECODE, 0, 200 },
        { "/reset", 1, SDD_ERROR_CONNECTION_LOST, SDD_CLASS_NETWORK, SDD_STAGE_RESPONSE, 1, 0 },
        { "/cut-head", 1, SDD_ERROR_CONNECTION_LOST, SDD_CLASS_NETWORK, SDD_STAGE_RESPONSE, 1, 0 },
        { "/reset?size=100000&after=1000", 1, SDD_ERROR_CONNECTION_LOST, SDD_CLASS_NETWORK, SDD_STAGE_BODY, 1, 200 },
        { "/cut?size=1000", 1, SDD_ERROR_TRUNCATED_BODY, SDD_CLASS_NETWORK, SDD_STAGE_BODY, 1, 200 },
        { "/cut-chunked?size=1000", 1, SDD_ERROR_TRUNCATED_BODY, SDD_CLASS_NETWORK, SDD_STAGE_BODY, 1, 200 },
        { "/garbage", 1, SDD_ERROR_PROTOCOL, SDD_CLASS_NETWORK, SDD_STAGE_RESPONSE, 0, 0 },
        { "/bad-chunk", 1, SDD_ERROR_PROTOCOL, SDD_CLASS_NETWORK, SDD_STAGE_BODY, 0, 200 },
        { "/gzip-corrupt?size=1000", 1, SDD_ERROR_CONTENT_ENCODING, SDD_CLASS_NETWORK, SDD_STAGE_BODY, 0, 200 },
        { "/endless", 1, SDD_ERROR_BODY_TOO_LARGE, SDD_CLASS_LIMIT, SDD_STAGE_BODY, 0, 200 },
        { "/header-flood", 1, SDD_ERROR_HEADERS_TOO_LARGE, SDD_CLASS_LIMIT, SDD_STAGE_RESPONSE, 0, 0 },
        { "/redirect-loop", 1, SDD_ERROR_TOO_MANY_REDIRECTS, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 0, 302 },
        { "/redirect?to=file:///x", 1, SDD_ERROR_REDIRECT_REFUSED, SDD_CLASS_RESPONSE, SDD_STAGE_RESPONSE, 0, 302 },
        { "/silence", 1, SDD_ERROR_TIMEOUT, SDD_CLASS_TIMEOUT, SDD_STAGE_RESPONSE, 1, 0 },
        { "/stall?size=1000", 1, SDD_ERROR_TIMEOUT, SDD_CLASS_TIMEOUT, SDD_STAGE_BODY, 1, 200 },
        { "http://127.0.0.1:1/", 1, SDD_ERROR_CONNECT, SDD_CLASS_NETWORK, SDD_STAGE_CONNECT, 1, 0 },
        { "http://name.invalid/", 1, SDD_ERROR_RESOLVE, SDD_CLASS_NETWORK, SDD_STAGE_CONNECT, 1, 0 },
        { "file:///nonexistent", 1, SDD_ERROR_FILE_NOT_READABLE, SDD_CLASS_SYSTEM, SDD_STAGE_CONNECT, 0, 0 },
    };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    config.limits = &limits;
    limits.max_body_bytes = 200000;
    limits.download_timeout_ms = 700;
    limits.connect_timeout_ms = 10000;
    network.allow_file_urls = 1;
    network.ca_file = setting("SDD_TEST_CA");
    sdd_downloader *downloader = make_downloader(&config);
    record r = RECORD_INIT, kept[sizeof all / sizeof *all];
    static char urls[sizeof all / sizeof *all][300];
    const char *kept_urls[sizeof all / sizeof *all];
    size_t kept_count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *url = all[i].path[0] == '/' ? at(all[i].path) : all[i].path;
        fetch(downloader, &r, url, all[i].bytes_only ? SDD_OPTION_BYTES_ONLY : 0);
        if (r.error != all[i].error || r.error_class != all[i].error_class || r.retryable != all[i].retryable ||
            r.stage != all[i].stage || r.http_status != all[i].http_status)
            FAIL("%s: %s, class %d, stage %d, retryable %d, HTTP status %d", all[i].path, sdd_status_name(r.error),
                 (int)r.error_class, (int)r.stage, (int)r.retryable, (int)r.http_status);
        CHECK(r.response == NULL || sdd_response_status(r.response) == r.http_status);
        if (!all[i].bytes_only) continue;
        snprintf(urls[i], sizeof urls[i], "%s", url);
        kept_urls[kept_count] = urls[i];
        kept[kept_count++] = r;
    }
    check_facts_elsewhere(downloader, kept_urls, kept, kept_count);
    fetch(downloader, &r, address_at("SDD_TEST_TLS_EXPIRED", "/"), SDD_OPTION_BYTES_ONLY);
    CHECK(r.error == SDD_ERROR_TLS && r.error_class == SDD_CLASS_TLS);
    CHECK(r.stage == SDD_STAGE_CONNECT && r.retryable == 0);
    sdd_token token = record_submit(downloader, (record_clear(&r), &r), at("/silence"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&r);
    CHECK(r.error_class == SDD_CLASS_CANCELLED && r.stage == SDD_STAGE_RESPONSE && r.retryable == 0);
    destroy(downloader);
    network.address_filter = refuse_address;
    downloader = make_downloader(&config);
    fetch(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_ADDRESS_REFUSED, 0);
    CHECK(r.error_class == SDD_CLASS_LIMIT && r.stage == SDD_STAGE_CONNECT && r.retryable == 0);
    destroy(downloader);
    record_clear(&r);
}

int main(void) { return run_cases(); }

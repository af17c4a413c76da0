/* Requests that state the expected size or digest of the body: row Z12. */
#include "caches.h"
#include "record.h"
#include "server.h"

/* The size and the SHA-256 digest of png/rgb8.png, by sha256sum and openssl. */
#define SIZE 822
#define HEX "efefaaa37694554e59d247dee3ea9d2b90e7bdad540fe6de1716529c5b7afaff"
#define BASE64 "7++qo3aUVU5Z0kfe4+qdK5Dnva1UD+beFxZSnFt6+v8="

static void expect(const char *integrity, int64_t bytes, uint64_t options, sdd_status error, int32_t detail)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_download_request request = record_request(&r, atf("/file/png/rgb8.png"));
    request.options = options;
    request.integrity = integrity;
    request.expected_bytes = bytes;
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_ENDED(&r, error, detail);
    CHECK((r.bytes != NULL) == (error == SDD_OK));
    CHECK((r.image != NULL) == (error == SDD_OK && !(options & SDD_OPTION_BYTES_ONLY)));
}

CASE(a_matching_body_is_accepted)
{
    for (int i = 0; i < 2; i++) {
        uint64_t options = i ? SDD_OPTION_BYTES_ONLY : 0;
        expect("sha256-" BASE64, 0, options, SDD_OK, 0);
        expect("sha256-" HEX, SIZE, options, SDD_OK, 0);
        expect(NULL, SIZE, options, SDD_OK, 0);
    }
}

CASE(a_body_that_does_not_match_is_an_error)
{
    static const char zeros[] = "sha256-0000000000000000000000000000000000000000000000000000000000000000";
    for (int i = 0; i < 2; i++) {
        uint64_t options = i ? SDD_OPTION_BYTES_ONLY : 0;
        expect(zeros, 0, options, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_INTEGRITY);
        expect("sha256-" BASE64, SIZE - 1, options, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_INTEGRITY);
        expect(NULL, SIZE + 1, options, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_INTEGRITY);
    }
}

CASE(bad_expectations_are_refused)
{
    static const char *const texts[] = { "", "sha256", "sha256-", "sha512-" BASE64, "sha256-" HEX "0", "SHA256-" HEX,
                                         BASE64, "sha256-" BASE64 "=", "sha256-\x01", "sha256-g" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect(texts[i], 0, 0, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_BAD_INTEGRITY);
    expect(NULL, -1, 0, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_BAD_INTEGRITY);
}

/* Requests with different expectations have different transfers. */
CASE(expectations_are_not_shared)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record records[3] = { RECORD_INIT, RECORD_INIT, RECORD_INIT };
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    for (int i = 0; i < 3; i++) {
        sdd_download_request request = record_request(&records[i], atf("/file/png/rgb8.png"));
        request.integrity = i ? "sha256-" HEX : NULL;
        CHECK(sdd_downloader_submit(downloader, &request) != 0);
    }
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    CHECK_EQUAL(statistics.transfers_started, 2);
    for (int i = 0; i < 3; i++) {
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
}

CASE(a_body_that_does_not_match_is_not_stored)
{
    OWNED_CACHE c = open_default();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = c.cache;
    config.http_cache = 1;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    const char *url = at("/file/png/rgb8.png?header=Cache-Control:%20max-age=1000");
    for (int i = 0; i < 2; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_download_request request = record_request(&r, url);
        request.integrity = i ? "sha256-" HEX : NULL;
        request.expected_bytes = i ? SIZE : 1;
        CHECK(sdd_downloader_submit(downloader, &request) != 0);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        CHECK_STATUS(r.error, i ? SDD_OK : SDD_ERROR_BAD_IMAGE_DATA);
        CHECK_EQUAL(r.origin, i ? SDD_ORIGIN_NETWORK : SDD_ORIGIN_NONE);
        CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
        CHECK_EQUAL(counts_of(c.cache).disk_count, i);
    }
}

int main(void) { return run_cases(); }

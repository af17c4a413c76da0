/* data: URLs (RFC 2397), which contain their response. Row B16; the other rows are those of downloads that apply here
   too. */
#include "loads.h"

#include <malloc.h>
#include <stdatomic.h>

/* ------------------------------------------------------------------------------------------- URLs */

/* Returns "data:TYPE;base64," and the encoded bytes. The caller frees it. */
static char *base64_url(const char *type, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *url = malloc(strlen(type) + 20 + size * 4 / 3 + 4);
    size_t at = (size_t)sprintf(url, "data:%s;base64,", type);
    for (size_t i = 0; i < size; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (i + 1 < size) group |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < size) group |= bytes[i + 2];
        for (int digit = 0; digit < 4; digit++) url[at++] = digits[group >> (18 - 6 * digit) & 63];
    }
    if (size % 3 == 1) url[at - 2] = '=';
    if (size % 3) url[at - 1] = '=';
    url[at] = 0;
    return url;
}

static void check_body(const record *r, const char *expected)
{
    CHECK_ENDED(r, SDD_OK, 0);
    if (sdd_bytes_size(r->bytes) != strlen(expected) ||
        memcmp(sdd_bytes_data(r->bytes), expected, strlen(expected)) != 0)
        FAIL("%s: \"%.*s\"", r->url, (int)sdd_bytes_size(r->bytes), (const char *)sdd_bytes_data(r->bytes));
}

/* ---------------------------------------------------------------------------------------- valid URLs */

CASE(b16_a_picture_in_a_url_is_a_picture)
{
    static const char *const names[][2] = { { "png/rgb8.png", "image/png" }, { "jpeg/baseline-420.jpg", "image/jpeg" } };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    for (int i = 0; i < 2; i++) {
        size_t size;
        uint8_t *bytes = fixture(names[i][0], &size);
        char *url = base64_url(names[i][1], bytes, size);
        OWNED_RECORD r = RECORD_INIT;
        fetch(downloader, &r, url, 0);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(r.image && sdd_bytes_size(r.bytes) == size && memcmp(sdd_bytes_data(r.bytes), bytes, size) == 0);
        if (i == 0) CHECK(sdd_image_width(r.image) == 19 && sdd_image_height(r.image) == 13);
        /* The response is not an HTTP response. */
        CHECK_EQUAL(r.http_status, 0);
        CHECK_TEXT(sdd_response_mime_type(r.response), names[i][1]);
        CHECK_TEXT(sdd_response_url(r.response), url);
        CHECK(r.origin == SDD_ORIGIN_NETWORK && r.metrics.attempts == 0 && r.metrics.response_body_bytes == 0);
        CHECK_EQUAL(r.metrics.body_bytes, size);
        CHECK(r.first_received == 0 && r.first_expected == (int64_t)size && r.last_received == (int64_t)size);
        free(url);
        free(bytes);
    }
}

/* The queue, a missing network and a cache do not affect it. */
CASE(b16_it_does_not_wait)
{
    static const uint64_t caching[] = { 0, SDD_OPTION_USE_HTTP_CACHE, SDD_OPTION_USE_HTTP_CACHE | SDD_OPTION_RESUME };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_statistics before = SDD_STATISTICS_INIT, after = SDD_STATISTICS_INIT;
    OWNED_RECORD r = RECORD_INIT;
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_offline(downloader, 1), SDD_OK);
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &before), SDD_OK);
    for (int i = 0; i < 6; i++) {
        fetch(downloader, &r, "data:,x", SDD_OPTION_BYTES_ONLY | caching[i % 3]);
        check_body(&r, "x");
        CHECK_EQUAL(r.origin, SDD_ORIGIN_NETWORK);
    }
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &after), SDD_OK);
    CHECK(after.transfers_started == before.transfers_started && 
          after.requests_succeeded == before.requests_succeeded + 6);
}

CASE(b16_sdd_get_returns_one)
{
    sdd_bytes *bytes = NULL;
    sdd_response *response = NULL;
    CHECK_STATUS(sdd_get(NULL, "data:,abc", 0, -1, NULL, &bytes, &response), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(bytes), 3);
    CHECK_EQUAL(sdd_response_status(response), 0);
    sdd_bytes_release(bytes);
    sdd_response_release(response);
    CHECK_STATUS(sdd_get(NULL, "data:", 0, -1, NULL, &bytes, NULL), SDD_ERROR_INVALID_URL);
}

/* A URL may be as long as a body of max_body_bytes in base64, plus 1,024 bytes. */
CASE(z10_b16_limits)
{
    enum { LIMIT = 90000, LONGEST = LIMIT / 3 * 4 + 1024 };
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.max_body_bytes = LIMIT;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, "data:,", 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY);
    char *url = malloc(LONGEST + 2);
    for (size_t length = LONGEST; length <= LONGEST + 1; length++) {
        memset(url, ' ', length);
        memcpy(url, "data:;base64,", 13);
        memcpy(url + length - 4, "AAAA", 5);
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
        if (length == LONGEST) CHECK_EQUAL(sdd_bytes_size(r.bytes), 3);
        else CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_TOO_LONG);
    }
    memcpy(url, "data:,", 6);
    memset(url + 6, 'a', LIMIT + 1), url[LIMIT + 7] = 0;
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_BODY_TOO_LARGE, 0);
    free(url);
}

/* ----------------------------------------------------------------------- together with other features */

static sdd_status lead_to_data(sdd_draft *draft, void *user_data)
{
    (void)user_data;
    return sdd_draft_set_url(draft, "data:,from a modifier");
}

static sdd_bytes *reverse(sdd_bytes *bytes, sdd_response *response, void *user_data)
{
    uint8_t reversed[64];
    size_t size = sdd_bytes_size(bytes);
    (void)user_data;
    CHECK(size <= sizeof reversed && sdd_response_status(response) == 0);
    for (size_t i = 0; i < size; i++) reversed[i] = sdd_bytes_data(bytes)[size - 1 - i];
    return sdd_bytes_create(reversed, size);
}

CASE(b3_b16_modifiers_apply)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.request_modifier = lead_to_data;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = record_request(&r, at("/never"));
    request.transfer = &transfer;
    transfer.modifiers = &modifiers;
    fetch_request(NULL, &r, request);
    check_body(&r, "from a modifier");
    CHECK_EQUAL(requests_of("/never"), 0);
    modifiers = (sdd_modifiers)SDD_MODIFIERS_INIT;
    modifiers.body_transform = reverse;
    request = record_request(&r, "data:,abc");
    request.transfer = reset(&transfer);
    transfer.modifiers = &modifiers;
    fetch_request(NULL, &r, request);
    check_body(&r, "cba");
}

static atomic_int ends;

static void count_end(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK(result->image != NULL);
    ends++;
}

static void many(const char *picture, int count)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    char *url = malloc(strlen(picture) + 20);
    ends = 0;
    for (int i = 0; i < count; i++) {
        sprintf(url, "%s#%d", picture, i % 100);
        sdd_token token = sdd_download(downloader, url, 0, NULL, count_end, NULL);
        CHECK(token != 0);
        if (i % 64 == 63) CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends, count);
    free(url);
}

/* Returns a data: URL longer than any other URL may be. The caller frees it. */
static char *long_url(void)
{
    uint8_t *bytes = calloc(1, 100000);
    char *url = base64_url("text/plain", bytes, 100000);
    free(bytes);
    return url;
}

CASE(z14_b16_long_ones_in_a_batch)
{
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    char *url = long_url();
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    const char *urls[] = { url, "data:,short" };
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    config.downloader = downloader;
    config.urls = urls;
    config.count = 2;
    config.order = SDD_BATCH_ORDERED;
    config.options = SDD_OPTION_BYTES_ONLY;
    sdd_batch *batch = NULL;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    sdd_batch_item items[2] = { SDD_BATCH_ITEM_INIT };
    for (size_t i = 0, count; i < 2; i += count) {
        CHECK_STATUS(sdd_batch_wait(batch, items, 2 - i, -1, &count), SDD_OK);
        CHECK_STATUS(items[0].result->failure.status, SDD_OK);
        CHECK_EQUAL(sdd_bytes_size(items[0].result->bytes), i == 0 ? sdd_bytes_size(r.bytes) : 5);
        for (size_t item = 0; item < count; item++) sdd_result_release(items[item].result);
    }
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    destroy(downloader);
    free(url);
}

/* There is no server to ask for a newer one, whatever the cache has. */
CASE(m12_b16_a_refresh_has_nothing_to_ask)
{
    loader_in_folder l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    size_t size;
    uint8_t *bytes = fixture("png/rgb8.png", &size);
    char *url = base64_url("image/png", bytes, size);
    for (int i = 0; i < 2; i++) {
        load(&l, &r, url, SDD_OPTION_REFRESH_CACHED);
        CHECK_ENDED(&r, SDD_OK, 0);
        check_image(r.image, "png/rgb8.pam");
    }
    close_loader(&l);
    free(url);
    free(bytes);
}

CASE(z1_b16_many_leave_nothing)
{
    size_t size;
    uint8_t *bytes = fixture("png/rgb8.png", &size);
    char *url = base64_url("image/png", bytes, size);
    int threads = count_threads(), descriptors = count_descriptors(), count = scaled(20000);
    many(url, count);
    malloc_trim(0);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    many(url, count);
    CHECK_NOTHING_LEFT(threads, descriptors);
    malloc_trim(0);
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (after > before + (size_t)count / 2 + 16384) FAIL("%zu bytes, %zu before", after, before);
    free(url);
    free(bytes);
}

int main(void) { return run_cases(); }

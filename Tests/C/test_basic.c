/* The basic promise of the library: pictures and bytes arrive as the server has them. */
#include "record.h"
#include "server.h"

#include <sys/utsname.h>

CASE(the_version_is_the_headers)
{
    CHECK_EQUAL(sdd_version(), SDD_VERSION_MAJOR * 1000000 + SDD_VERSION_MINOR * 1000 + SDD_VERSION_PATCH);
    CHECK_TEXT(sdd_version_string(), SDD_VERSION_STRING);
}

CASE(every_status_has_its_name)
{
#define NAMED(status) { status, #status }
    static const struct { sdd_status status; const char *name; } all[] = {
        NAMED(SDD_OK), NAMED(SDD_ERROR_INVALID_URL), NAMED(SDD_ERROR_BAD_IMAGE_DATA), NAMED(SDD_ERROR_NOT_MODIFIED),
        NAMED(SDD_ERROR_BLOCKED), NAMED(SDD_ERROR_NOT_CACHED), NAMED(SDD_ERROR_CACHE),
        NAMED(SDD_ERROR_INVALID_DOWNLOAD_RESPONSE), NAMED(SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE),
        NAMED(SDD_ERROR_ADDRESS_REFUSED), NAMED(SDD_ERROR_HEADERS_TOO_LARGE), NAMED(SDD_ERROR_PROXY),
        NAMED(SDD_ERROR_SINK),
        NAMED(SDD_ERROR_INVALID_DOWNLOAD_OPERATION), NAMED(SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE),
        NAMED(SDD_ERROR_CANCELLED), NAMED(SDD_ERROR_TRANSPORT), NAMED(SDD_ERROR_RESOLVE), NAMED(SDD_ERROR_CONNECT),
        NAMED(SDD_ERROR_TLS), NAMED(SDD_ERROR_TIMEOUT), NAMED(SDD_ERROR_CONNECTION_LOST),
        NAMED(SDD_ERROR_TOO_MANY_REDIRECTS), NAMED(SDD_ERROR_PROTOCOL), NAMED(SDD_ERROR_BODY_TOO_LARGE),
        NAMED(SDD_ERROR_TRUNCATED_BODY), NAMED(SDD_ERROR_REDIRECT_REFUSED), NAMED(SDD_ERROR_CONTENT_ENCODING),
        NAMED(SDD_ERROR_FILE_NOT_READABLE), NAMED(SDD_ERROR_INVALID_ARGUMENT), NAMED(SDD_ERROR_UNSUPPORTED),
        NAMED(SDD_ERROR_NOT_FOUND), NAMED(SDD_ERROR_CLOSED), NAMED(SDD_ERROR_FORKED), NAMED(SDD_ERROR_WRONG_DELIVERY),
        NAMED(SDD_ERROR_BUSY), NAMED(SDD_ERROR_WOULD_DEADLOCK),
        NAMED(SDD_ERROR_NO_RESOURCES), NAMED(SDD_ERROR_BUFFER_TOO_SMALL),
        NAMED(SDD_ERROR_INCOMPLETE),
        NAMED(SDD_ERROR_DOES_NOT_FIT),
    };
    size_t count = sizeof all / sizeof *all, known = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK_TEXT(sdd_status_name(all[i].status), all[i].name);
        CHECK(strchr(sdd_status_message(all[i].status), '.') != NULL);
    }
    for (sdd_status status = -10; status < 6000; status++)
        if (strcmp(sdd_status_name(status), "SDD_ERROR_UNKNOWN") != 0) known++;
    CHECK_EQUAL(known, count);
    CHECK_TEXT(sdd_status_name(INT32_MIN), "SDD_ERROR_UNKNOWN");
    CHECK(*sdd_status_message(INT32_MAX) != 0);
}

/* ------------------------------------------------------------------------------------- pictures */

/* Compares the pixels with NAME.pam: RGBA, after seven lines of text. */
static void check_pixels(sdd_image *image, const char *name, int tolerance)
{
    char pam_name[200];
    size_t size;
    int width, height, offset = 0;
    snprintf(pam_name, sizeof pam_name, "%.*s.pam", (int)(strrchr(name, '.') - name), name);
    uint8_t *pam = fixture(pam_name, &size);
    CHECK(sscanf((char *)pam, "P7 WIDTH %d HEIGHT %d DEPTH 4 MAXVAL 255 TUPLTYPE RGB_ALPHA ENDHDR%n", &width, &height,
                 &offset) == 2);
    CHECK(offset > 0);
    CHECK_EQUAL(sdd_image_width(image), width);
    CHECK_EQUAL(sdd_image_height(image), height);
    CHECK_EQUAL(sdd_image_pixel_format(image), SDD_PIXEL_FORMAT_RGBA8);
    CHECK(sdd_image_stride(image) >= (size_t)width * 4);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width * 4; x++) {
            int actual = sdd_image_pixels(image)[(size_t)y * sdd_image_stride(image) + (size_t)x];
            int expected = pam[offset + 1 + y * width * 4 + x];
            if (abs(actual - expected) > tolerance)
                FAIL("%s: byte %d of row %d is %d, not %d", name, x, y, actual, expected);
        }
    free(pam);
}

static void check_picture(const record *r, const char *name)
{
    int is_jpeg = strstr(name, ".jpg") != NULL;
    size_t size;
    uint8_t *file = fixture(name, &size);
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK_EQUAL(r->http_status, 200);
    CHECK_EQUAL(sdd_bytes_size(r->bytes), size);
    CHECK(memcmp(sdd_bytes_data(r->bytes), file, size) == 0);
    CHECK(r->first_received == 0 && r->first_expected == -1);
    CHECK(r->last_received == (int64_t)size && r->last_expected == (int64_t)size);
    CHECK_EQUAL(image_info(r->image).format, is_jpeg ? SDD_IMAGE_FORMAT_JPEG : SDD_IMAGE_FORMAT_PNG);
    /* Versions of libjpeg-turbo may round differently. */
    check_pixels(r->image, name, is_jpeg ? 2 : 0);
    free(file);
}

static const char *const pictures[] = {
    "jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg", "jpeg/grey.jpg", "jpeg/cmyk-adobe.jpg", "jpeg/size-17x3.jpg",
    "png/rgb8.png", "png/rgba16-interlaced.png", "png/grey1.png", "png/palette8-trns.png", "png/size-1x1.png",
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

CASE(pictures_come_over_http_and_https)
{
    static const char *const roots[] = { "SDD_TEST_SERVER", "SDD_TEST_TLS", "SDD_TEST_TLS_HTTP1" };
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    sdd_downloader *downloader = make_downloader(&config);
    record records[3][PICTURES];
    /* All requests run at once; the results outlive the callback and the downloader. */
    for (int root = 0; root < 3; root++)
        for (int i = 0; i < PICTURES; i++) {
            char path[200];
            snprintf(path, sizeof path, "%s/%s", root == 0 ? "/file" : "", pictures[i]);
            records[root][i] = (record)RECORD_INIT;
            record_submit(downloader, &records[root][i], address_at(roots[root], path), 0);
        }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    destroy(downloader);
    for (int root = 0; root < 3; root++)
        for (int i = 0; i < PICTURES; i++) {
            check_picture(&records[root][i], pictures[i]);
            record_clear(&records[root][i]);
        }
}

CASE(https_speaks_http2_where_the_server_does)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, address_at("SDD_TEST_TLS", "/protocol"), SDD_OPTION_BYTES_ONLY);
    CHECK(sdd_bytes_size(r.bytes) == 8 && memcmp(sdd_bytes_data(r.bytes), "HTTP/2.0", 8) == 0);
    fetch(downloader, &r, address_at("SDD_TEST_TLS_HTTP1", "/protocol"), SDD_OPTION_BYTES_ONLY);
    CHECK(sdd_bytes_size(r.bytes) == 8 && memcmp(sdd_bytes_data(r.bytes), "HTTP/1.1", 8) == 0);
}

/* --------------------------------------------------------------------------------------- bytes */

static void check_pattern(const record *r, const char *target, size_t size)
{
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK(r->image == NULL);
    CHECK_EQUAL(sdd_bytes_size(r->bytes), size);
    CHECK(is_pattern(sdd_bytes_data(r->bytes), size, target));
}

CASE(bytes_come_as_they_were_sent)
{
    OWNED_RECORD r = RECORD_INIT;
    static const struct { const char *path, *target; } all[] = {
        { "/ok?size=100000", "/ok?size=100000" },
        { "/ok?size=100000&framing=chunked", "/ok?size=100000&framing=chunked" },
        { "/ok?size=100000&framing=close", "/ok?size=100000&framing=close" },
        { "/gzip?size=100000", "/gzip?size=100000" },
        { "/redirect?to=/ok?size=100000", "/ok?size=100000" },
        { "/redirect-chain/10?size=100000", "/ok?size=100000" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fetch(NULL, &r, at(all[i].path), SDD_OPTION_BYTES_ONLY);
        check_pattern(&r, all[i].target, 100000);
        CHECK(r.progress_count >= 2 && r.first_received == 0 && r.first_expected == -1);
        CHECK_EQUAL(r.last_received, 100000);
    }
    fetch(NULL, &r, at("/ok?size=1000"), SDD_OPTION_BYTES_ONLY);
    CHECK_EQUAL(r.last_expected, 1000);
    CHECK(r.metrics.total_us >= r.metrics.transfer_us && r.metrics.transfer_us > 0 && r.metrics.queue_us >= 0);
    fetch(NULL, &r, at("/empty"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) == 0 && sdd_bytes_data(r.bytes) == NULL);
}

CASE(equal_requests_share_one_transfer)
{
    record records[20];
    for (int i = 0; i < 20; i++) {
        records[i] = (record)RECORD_INIT;
        record_submit(NULL, &records[i], at("/hold/shared?size=5000"), SDD_OPTION_BYTES_ONLY);
    }
    wait_for_requests("/hold/shared", 1);
    release("shared");
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    for (int i = 0; i < 20; i++) {
        check_pattern(&records[i], "/hold/shared?size=5000", 5000);
        record_clear(&records[i]);
    }
    CHECK_EQUAL(requests_of("/hold/shared"), 1);
}

/* ------------------------------------------------------------------------------------- requests */

CASE(headers_are_set_read_and_removed)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    char buffer[8] = "unseen";
    size_t length = 99;
    CHECK_STATUS(sdd_get_header(downloader, "x-one", NULL, 0, &length), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(length, 99);
    CHECK_STATUS(sdd_set_header(downloader, "X-One", "value"), SDD_OK);
    CHECK_STATUS(sdd_get_header(downloader, "x-oNE", NULL, 0, &length), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_EQUAL(length, 5);
    CHECK_STATUS(sdd_get_header(downloader, "x-one", buffer, 5, NULL), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_TEXT(buffer, "unseen");
    CHECK_STATUS(sdd_get_header(downloader, "x-one", buffer, 6, &length), SDD_OK);
    CHECK_TEXT(buffer, "value");
    fetch(downloader, &r, at("/echo"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "X-One: value\r\n") && echoes(&r, "User-Agent: libsdd/" SDD_VERSION_STRING " (Linux; "));
    CHECK(echoes(&r, "Accept: image/"));
    CHECK_STATUS(sdd_set_header(downloader, "X-ONE", ""), SDD_OK);
    CHECK_STATUS(sdd_get_header(downloader, "x-one", buffer, 1, &length), SDD_OK);
    CHECK_EQUAL(length, 0);
    fetch(downloader, &r, at("/echo?empty"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "X-One:"));
    CHECK_STATUS(sdd_set_header(downloader, "x-one", NULL), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "user-agent", NULL), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "accept", NULL), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "never-set", NULL), SDD_OK);
    CHECK_STATUS(sdd_get_header(downloader, "X-One", NULL, 0, &length), SDD_ERROR_NOT_FOUND);
    fetch(downloader, &r, at("/echo?without"), SDD_OPTION_BYTES_ONLY);
    CHECK(!echoes(&r, "X-One") && !echoes(&r, "User-Agent") && !echoes(&r, "Accept:"));
    /* Two fields are sent by default, as the header says. */
    CHECK_STATUS(sdd_set_header(downloader, "Host", "other.example"), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "Accept-Encoding", "identity"), SDD_OK);
    fetch(downloader, &r, at("/echo?own"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "Host: other.example\r\n") && echoes(&r, "Accept-Encoding: identity\r\n"));
    CHECK_STATUS(sdd_set_header(downloader, "Host", NULL), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "Accept-Encoding", NULL), SDD_OK);
    CHECK_STATUS(sdd_get_header(downloader, "Host", NULL, 0, &length), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_get_header(downloader, "Accept-Encoding", NULL, 0, &length), SDD_ERROR_NOT_FOUND);
    fetch(downloader, &r, at("/echo?removed"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "Host: 127.0.0.1:") && echoes(&r, "Accept-Encoding: ")
        && !echoes(&r, "Accept-Encoding: identity"));
}

CASE(a_request_has_headers_method_and_body)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    char body[] = "name=value\nwhatever", name[] = "X-Two", value[] = "its own";
    sdd_header headers[] = { { name, value }, { "accept", NULL }, { "Content-Type", "text/plain" } };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = record_request(&r, at("/echo?post"));
    request.transfer = &transfer;
    CHECK_STATUS(sdd_set_header(downloader, "x-two", "the downloader's"), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "x-three", "stays"), SDD_OK);
    request.options = SDD_OPTION_BYTES_ONLY;
    request.method = "POST";
    transfer.headers = headers;
    transfer.header_count = 3;
    request.body = body;
    request.body_size = strlen(body);
    submit(downloader, &request);
    /* The library must have copied all of it. */
    memset(body, '#', sizeof body - 1);
    memset(value, '#', sizeof value - 1);
    memset(name, '#', sizeof name - 1);
    record_wait(&r);
    CHECK(echoes(&r, "POST /echo?post HTTP/1.1\r\n") && echoes(&r, "X-Two: its own\r\n"));
    CHECK(echoes(&r, "X-Three: stays\r\n") && echoes(&r, "Content-Length: 19\r\n"));
    CHECK(echoes(&r, "Content-Type: text/plain\r\n") && echoes(&r, "name=value\nwhatever"));
    CHECK(!echoes(&r, "Accept:") && !echoes(&r, "X-Two: the"));
    record_clear(&r);
    request = record_request(&r, at("/ok?size=700&head"));
    request.method = "HEAD";
    request.options = SDD_OPTION_BYTES_ONLY;
    fetch_as(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), 0);
}

/* "libsdd/0.4.0 (Linux; x86_64) curl/7.88.1": this version, this machine, some version of libcurl. */
CASE(h4_the_user_agent_names_library_machine_and_libcurl)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    struct utsname machine;
    char begin[256], value[512], line[600];
    size_t length = 0;
    CHECK(uname(&machine) == 0);
    int size = snprintf(begin, sizeof begin, "libsdd/%s (%s; %s) curl/", SDD_VERSION_STRING, machine.sysname,
                        machine.machine);
    CHECK_STATUS(sdd_get_header(downloader, "User-Agent", value, sizeof value, &length), SDD_OK);
    CHECK_EQUAL(length, strlen(value));
    if (strncmp(value, begin, (size_t)size) != 0) FAIL("%s, not %s...", value, begin);
    int major = 0, minor = 0, patch = 0, end = 0;
    CHECK(sscanf(value + size, "%d.%d.%d%n", &major, &minor, &patch, &end) == 3 && major >= 7);
    CHECK(strspn(value + size + end, "-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") ==
          strlen(value + size + end));
    for (const char *byte = value; *byte; byte++) CHECK(*byte >= ' ' && *byte <= '~');
    snprintf(line, sizeof line, "User-Agent: %s\r\n", value);
    fetch(downloader, &r, at("/echo?agent"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, line));
    CHECK_STATUS(sdd_set_header(downloader, "user-agent", "viewer/1"), SDD_OK);
    fetch(downloader, &r, at("/echo?agent=own"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "User-Agent: viewer/1\r\n") && !echoes(&r, line));
    CHECK_STATUS(sdd_set_header(downloader, "user-agent", NULL), SDD_OK);
    fetch(downloader, &r, at("/echo?agent=none"), SDD_OPTION_BYTES_ONLY);
    CHECK(!echoes(&r, "User-Agent"));
}

/* Neither 0 for what brought no picture nor the numbers of a system's network framework: 1001 and 3000 on. */
CASE(e11_no_numbers_of_older_versions)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(NULL, &r, at("/empty"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_EMPTY);
    CHECK_EQUAL(r.error, 1001);
    fetch(NULL, &r, at("/file/png/bad/zero-width.png"), 0);
    CHECK_EQUAL(r.error, 1001);
    fetch(NULL, &r, "http://127.0.0.1:1/", 0);
    CHECK_STATUS(r.error, SDD_ERROR_CONNECT);
    CHECK(r.error >= 3000 && r.error < 4000);
    for (sdd_status status = -4000; status < 1000; status++)
        if (status != SDD_OK) CHECK_TEXT(sdd_status_name(status), "SDD_ERROR_UNKNOWN");
}

int main(void) { return run_cases(); }

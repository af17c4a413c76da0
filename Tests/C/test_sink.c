/* Bodies that go to a descriptor or are discarded, and never stay in memory. Rows X27 and Z13 of the contract. */
#include "record.h"
#include "server.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int threads_before, descriptors_before;

static sdd_download_request request_to(record *r, const char *url, int32_t sink, int descriptor)
{
    sdd_download_request request = record_request(r, url);
    request.sink = sink;
    request.sink_fd = descriptor;
    return request;
}

static void fetch_to(sdd_downloader *downloader, record *r, const char *url, int32_t sink, int descriptor)
{
    record_clear(r);
    sdd_download_request request = request_to(r, url, sink, descriptor);
    submit(downloader, &request);
    record_wait(r);
    CHECK(r->image == NULL && r->bytes == NULL);
}

static int new_file(void)
{
    char path[] = "/dev/shm/sdd-sink-XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0 && unlink(path) == 0);
    return descriptor;
}

/* Checks that a file has `size` bytes of a target's pattern from `offset` on, and nothing after them. */
static void check_file(int descriptor, off_t offset, size_t size, const char *target)
{
    off_t end = lseek(descriptor, 0, SEEK_END);
    CHECK_EQUAL(end, offset + (off_t)size);
    if (size == 0) return;
    uint8_t *bytes = malloc(size);
    CHECK_EQUAL(pread(descriptor, bytes, size, offset), size);
    CHECK(is_pattern(bytes, size, target));
    free(bytes);
}

CASE(x27_z13_a_body_goes_to_a_file)
{
    static const struct { const char *path, *target; size_t size; } all[] = {
        { "/ok?size=300000", "/ok?size=300000", 300000 },
        { "/ok?size=300000&framing=chunked", "/ok?size=300000&framing=chunked", 300000 },
        { "/gzip?size=100000", "/gzip?size=100000", 100000 },
        { "/redirect?to=/ok?size=5000", "/ok?size=5000", 5000 },
        { "/empty", "", 0 },
    };
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int file = new_file();
        /* The body is written from the file's current position. */
        CHECK(write(file, "head", 4) == 4);
        fetch_to(downloader, &r, at(all[i].path), SDD_SINK_FD, file);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(r.http_status == 200 && r.response != NULL);
        CHECK_EQUAL(r.metrics.body_bytes, all[i].size);
        if (all[i].size) CHECK_EQUAL(r.last_received, all[i].size);
        check_file(file, 4, all[i].size, all[i].target);
        close(file);
    }
    /* A memfd works as well, and may be closed as soon as the call has returned. */
    int file = memfd_create("sink", MFD_CLOEXEC), copy = dup(file);
    record_clear(&r);
    sdd_download_request request = request_to(&r, at("/hold/sink?size=70000&after=100"), SDD_SINK_FD, file);
    submit(downloader, &request);
    close(file);
    release("sink");
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_file(copy, 0, 70000, "/hold/sink?size=70000&after=100");
    close(copy);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* A large body is not kept in memory; max_body_bytes still applies. */
CASE(z10_x27_nothing_stays_in_memory_and_limits_apply)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    fetch_to(downloader, &r, at("/ok?size=30000000"), SDD_SINK_DISCARD, -1);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.metrics.body_bytes == 30000000 && r.metrics.response_body_bytes == 30000000);
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    const char *scale = getenv("SDD_TEST_SCALE");
    if (scale == NULL || atof(scale) >= 1) CHECK(usage.ru_maxrss < 30000000 / 1024);
    destroy(downloader);

    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    limits.max_body_bytes = 1000;
    downloader = make_downloader(&config);
    int file = new_file();
    fetch_to(downloader, &r, at("/ok?size=1001&framing=chunked"), SDD_SINK_FD, file);
    CHECK_ENDED(&r, SDD_ERROR_BODY_TOO_LARGE, 0);
    CHECK(lseek(file, 0, SEEK_END) <= 1000);
    fetch_to(downloader, &r, at("/endless"), SDD_SINK_DISCARD, -1);
    CHECK_ENDED(&r, SDD_ERROR_BODY_TOO_LARGE, 0);
    fetch_to(downloader, &r, at("/ok?size=1000"), SDD_SINK_DISCARD, 12345);
    CHECK_ENDED(&r, SDD_OK, 0);
    close(file);
}

/* Only an accepted body is written; bytes written before an error stay. */
CASE(g8_x27_a_refused_body_is_not_written)
{
    static const struct { const char *path; sdd_status error; int written; } all[] = {
        { "/status/404?size=1000", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0 },
        { "/html", SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, 0 },
        { "/redirect?to=file:///etc/passwd", SDD_ERROR_REDIRECT_REFUSED, 0 },
        { "/reset", SDD_ERROR_CONNECTION_LOST, 0 },
        { "/cut?size=1000&after=300&type=image/x", SDD_ERROR_TRUNCATED_BODY, 300 },
        { "nonsense", SDD_ERROR_INVALID_URL, 0 },
    };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int file = new_file();
        record_clear(&r);
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = request_to(&r, all[i].path[0] == '/' ? at(all[i].path) : all[i].path, SDD_SINK_FD, file);
        request.transfer = &transfer;
        transfer.accepted_content_types = "image/*";
        submit(downloader, &request);
        record_wait(&r);
        CHECK_STATUS(r.error, all[i].error);
        CHECK_EQUAL(lseek(file, 0, SEEK_END), all[i].written);
        CHECK_EQUAL(r.metrics.body_bytes, all[i].written);
        close(file);
    }
}

/* Descriptors that accept nothing: one opened for reading, a full disk, a pipe whose reader is gone. No signal is
   raised. */
CASE(x27_errors_of_writing)
{
    int ends[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC), readable = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    CHECK(full >= 0 && readable >= 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    const struct { int descriptor, error; } bad[] = {
        { full, ENOSPC }, { readable, EBADF }, { ends[1], EPIPE },
    };
    close(ends[0]);
    for (int i = 0; i < 3; i++) {
        fetch_to(downloader, &r, at("/ok?size=2000000&type=image/x"), SDD_SINK_FD, bad[i].descriptor);
        CHECK_ENDED(&r, SDD_ERROR_SINK, 0);
        CHECK_EQUAL(r.system_error, bad[i].error);
        CHECK(r.error_class == SDD_CLASS_SYSTEM && r.stage == SDD_STAGE_BODY && r.http_status == 200);
    }
    /* The downloader continues to work. */
    fetch_to(downloader, &r, at("/ok?size=2000000"), SDD_SINK_DISCARD, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    close(full);
    close(readable);
    close(ends[1]);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* Each request with a sink has a transfer of its own. */
CASE(z4_x27_such_requests_share_nothing)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record records[4];
    int files[2] = { new_file(), new_file() };
    for (int i = 0; i < 4; i++) {
        records[i] = (record)RECORD_INIT;
        const char *url = at("/hold/alone?size=900");
        sdd_download_request request = i < 2 ? request_to(&records[i], url, SDD_SINK_FD, files[i])
                                    : request_to(&records[i], url, SDD_SINK_DISCARD, 0);
        submit(downloader, &request);
    }
    wait_for_requests("/hold/alone", 4);
    release("alone");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    for (int i = 0; i < 4; i++) {
        CHECK_ENDED(&records[i], SDD_OK, 0);
        CHECK_EQUAL(records[i].metrics.body_bytes, 900);
        if (i < 2) check_file(files[i], 0, 900, "/hold/alone?size=900");
        if (i < 2) close(files[i]);
        record_clear(&records[i]);
    }
}

/* The request is cancelled, or its downloader destroyed, in the middle: nothing more is written, and the library
   closes its descriptor. */
CASE(x10_x27_cancelled_in_the_middle)
{
    for (int destroys = 0; destroys < 2; destroys++) {
        sdd_downloader *downloader = make_downloader(NULL);
        OWNED_RECORD r = RECORD_INIT;
        int file = new_file();
        const char *path = destroys ? "/hold/middle1?size=100000&after=1000" : "/hold/middle0?size=100000&after=1000";
        sdd_download_request request = request_to(&r, at(path), SDD_SINK_FD, file);
        sdd_token token = submit(downloader, &request);
        record_wait_received(&r, 1000);
        if (!destroys) CHECK_STATUS(sdd_cancel(token), SDD_OK);
        if (!destroys) record_wait(&r);
        destroy(downloader);
        CHECK_ENDED(&r, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
        check_file(file, 0, 1000, path);
        close(file);
        release(destroys ? "middle1" : "middle0");
        CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    }
}

/* An application's transport writes to the sink, too. */
static void start_pieces(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    for (int i = 0; i < 3; i++) CHECK_STATUS(sdd_transfer_write(transfer, "piece ", 6), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void cancel_nothing(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

CASE(d27_x27_a_transports_body)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    OWNED_RECORD r = RECORD_INIT;
    char text[20] = "";
    int file = new_file();
    transport.scheme = "archive";
    transport.start = start_pieces;
    transport.cancel = cancel_nothing;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    fetch_to(downloader, &r, "archive:x", SDD_SINK_FD, file);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.metrics.body_bytes, 18);
    CHECK_EQUAL(pread(file, text, sizeof text - 1, 0), 18);
    CHECK_TEXT(text, "piece piece piece ");
    close(file);
}

int main(void)
{
    start_watchdog();
    /* The shared downloader opens its threads and descriptors before the count. */
    record r = RECORD_INIT;
    fetch(NULL, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    record_clear(&r);
    destroy(make_downloader(NULL));
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    bodies_go_elsewhere = 1;
    return run_cases();
}

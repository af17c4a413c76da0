/* Sinks whose reader does not read: they block their own transfer, and nothing else. */
#include "record.h"
#include "server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

/* Larger than any pipe or socket buffer, so that a body never fits. */
#define SIZE 3000000
#define PATH "/ok?size=3000000"

static int threads_before, descriptors_before;

typedef struct ends { int reader, writer; } ends;

static ends new_pipe(void)
{
    int both[2];
    CHECK(pipe2(both, O_CLOEXEC) == 0);
    return (ends){ both[0], both[1] };
}

static ends new_socket(void)
{
    int both[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
    return (ends){ both[0], both[1] };
}

static ends new_fifo(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s/sink.fifo", setting("SDD_TEST_FOLDER"));
    CHECK(mkfifo(path, 0600) == 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), writer = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(reader >= 0 && writer >= 0 && unlink(path) == 0);
    CHECK(fcntl(reader, F_SETFL, 0) == 0);
    return (ends){ reader, writer };
}

/* Opens a terminal in raw mode, so that the bytes arrive unchanged. */
static ends new_terminal(void)
{
    int reader = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(reader >= 0 && grantpt(reader) == 0 && unlockpt(reader) == 0);
    int writer = open(ptsname(reader), O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios mode;
    CHECK(writer >= 0 && tcgetattr(writer, &mode) == 0);
    cfmakeraw(&mode);
    CHECK(tcsetattr(writer, TCSANOW, &mode) == 0);
    return (ends){ reader, writer };
}

static const struct { const char *name; ends (*make)(void); int size; } kinds[] = {
    { "pipe", new_pipe, SIZE }, { "socket", new_socket, SIZE }, { "FIFO", new_fifo, SIZE },
    { "terminal", new_terminal, 300000 },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void close_both(ends e)
{
    if (e.reader >= 0) close(e.reader);
    if (e.writer >= 0) close(e.writer);
}

static sdd_token begin(sdd_downloader *downloader, record *r, const char *url, int writer)
{
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = record_request(r, url);
    request.transfer = &transfer;
    request.sink = SDD_SINK_FD;
    request.sink_fd = writer;
    transfer.total_timeout_ms = 0;
    return submit(downloader, &request);
}

/* Waits until the sink of the request accepts no more bytes. */
static void wait_until_full(int writer, record *r)
{
    struct pollfd entry = { writer, POLLOUT, 0 };
    while (poll(&entry, 1, 0) > 0) {
        if (record_has_ended(r)) FAIL("the request ended before its sink was full: %d, %s", r->detail, r->message);
        sched_yield();
    }
}

static void others_go_on(sdd_downloader *downloader)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_download_request request = record_request(&r, at("/ok?size=100"));
    request.sink = SDD_SINK_DISCARD;
    fetch_as(downloader, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* The request's limits keep running, and other requests of the downloader continue. */
CASE(a_sink_that_nobody_reads_ends_by_its_total_limit)
{
    for (int kind = 0; kind < KINDS; kind++) {
        sdd_downloader *downloader = make_downloader(NULL);
        ends e = kinds[kind].make();
        record r = RECORD_INIT;
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&r, atf("/ok?size=%d", kinds[kind].size));
        request.transfer = &transfer;
        request.sink = SDD_SINK_FD;
        request.sink_fd = e.writer;
        transfer.total_timeout_ms = 2000;
        submit(downloader, &request);
        wait_until_full(e.writer, &r);
        others_go_on(downloader);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL);
        record_clear(&r);
        destroy(downloader);
        close_both(e);
        CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    }
}

/* The request also ends by the stall limit, with a message of its own. */
CASE(a_sink_that_nobody_reads_is_reported)
{
    for (int kind = 0; kind < KINDS; kind++) {
        sdd_limits limits = SDD_LIMITS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
        limits.download_timeout_ms = 300;
        limits.connect_timeout_ms = 10000;
        sdd_downloader *downloader = make_downloader(&config);
        ends e = kinds[kind].make();
        record r = RECORD_INIT;
        begin(downloader, &r, atf("/ok?size=%d", kinds[kind].size), e.writer);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_SINK, SDD_DETAIL_SINK_BLOCKED);
        CHECK(r.error_class == SDD_CLASS_SYSTEM && r.http_status == 200 && strstr(r.message, "is blocked"));
        CHECK(r.metrics.body_bytes > 0 && r.metrics.body_bytes < kinds[kind].size);
        record_clear(&r);
        destroy(downloader);
        close_both(e);
    }
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

CASE(a_downloader_ends_with_sinks_that_nobody_reads)
{
    sdd_downloader *downloader = make_downloader(NULL);
    ends all[KINDS];
    record records[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        all[kind] = kinds[kind].make();
        records[kind] = (record)RECORD_INIT;
        begin(downloader, &records[kind], atf("/ok?size=%d", kinds[kind].size), all[kind].writer);
    }
    for (int kind = 0; kind < KINDS; kind++) wait_until_full(all[kind].writer, &records[kind]);
    destroy(downloader);
    for (int kind = 0; kind < KINDS; kind++) {
        CHECK_ENDED(&records[kind], SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
        record_clear(&records[kind]);
        close_both(all[kind]);
    }
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* Reads the whole body in pieces of `piece` bytes. */
static void read_all(int reader, size_t size, size_t piece, const char *target)
{
    uint8_t *bytes = malloc(size);
    for (size_t done = 0; done < size;) {
        size_t left = size - done;
        ssize_t count = read(reader, bytes + done, left < piece ? left : piece);
        CHECK(count > 0);
        done += (size_t)count;
    }
    CHECK(is_pattern(bytes, size, target));
    free(bytes);
}

/* A late reader gets every byte, also of a body that has arrived completely meanwhile, and of one that was paused. */
CASE(a_late_reader_gets_all)
{
    static const struct { const char *path; size_t size; } bodies[] = {
        { PATH, SIZE }, { PATH "&framing=chunked", SIZE }, { "/gzip?size=3000000", SIZE }, { "/ok?size=90000", 90000 },
    };
    sdd_downloader *downloader = make_downloader(NULL);
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
            if (bodies[i].size > (size_t)kinds[kind].size) continue;
            ends e = kinds[kind].make();
            record r = RECORD_INIT;
            int flags = fcntl(e.writer, F_GETFL);
            begin(downloader, &r, at(bodies[i].path), e.writer);
            if (bodies[i].size > 300000) wait_until_full(e.writer, &r);
            if (i == 1) CHECK_STATUS(sdd_downloader_enter_background(downloader, 0), SDD_OK);
            others_go_on(i == 1 ? NULL : downloader);
            if (i == 1) CHECK_STATUS(sdd_downloader_enter_foreground(downloader), SDD_OK);
            read_all(e.reader, bodies[i].size, 30000, bodies[i].path);
            record_wait(&r);
            CHECK_ENDED(&r, SDD_OK, 0);
            CHECK_EQUAL(r.metrics.body_bytes, bodies[i].size);
            CHECK_EQUAL(fcntl(e.writer, F_GETFL), flags);
            record_clear(&r);
            close_both(e);
        }
    }
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* Bytes that were in the pipe before stay first, and the reader sees the end when all writers are closed. */
CASE(a_pipe_keeps_its_order_and_its_end)
{
    sdd_downloader *downloader = make_downloader(NULL);
    ends e = new_pipe();
    record r = RECORD_INIT;
    char head[5] = "", after;
    CHECK(write(e.writer, "head", 4) == 4);
    begin(downloader, &r, at(PATH), e.writer);
    close(e.writer);
    CHECK(read(e.reader, head, 4) == 4 && strcmp(head, "head") == 0);
    read_all(e.reader, SIZE, SIZE, PATH);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(read(e.reader, &after, 1), 0);
    record_clear(&r);
    close(e.reader);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* The reader closes while the writer waits for it. No signal comes. */
CASE(a_reader_that_goes_away_ends_the_request)
{
    sdd_downloader *downloader = make_downloader(NULL);
    for (int kind = 0; kind < 3; kind++) {
        ends e = kinds[kind].make();
        record r = RECORD_INIT;
        begin(downloader, &r, at(PATH), e.writer);
        wait_until_full(e.writer, &r);
        close(e.reader);
        e.reader = -1;
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_SINK, 0);
        CHECK(r.system_error == EPIPE || r.system_error == ECONNRESET);
        others_go_on(downloader);
        record_clear(&r);
        close_both(e);
    }
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

CASE(a_request_can_be_cancelled_while_its_sink_blocks)
{
    sdd_downloader *downloader = make_downloader(NULL);
    for (int kind = 0; kind < KINDS; kind++) {
        ends e = kinds[kind].make();
        record r = RECORD_INIT;
        sdd_token token = begin(downloader, &r, atf("/ok?size=%d", kinds[kind].size), e.writer);
        wait_until_full(e.writer, &r);
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
        others_go_on(downloader);
        record_clear(&r);
        close_both(e);
    }
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* Over HTTP/2 streams share a connection, and a stream whose sink blocks must not block another. */
CASE(one_stream_does_not_block_another)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    network.ca_file = setting("SDD_TEST_CA");
    network.http_version = SDD_HTTP_2;
    sdd_downloader *downloader = make_downloader(&config);
    char url[300], fixture[300];
    snprintf(url, sizeof url, "%s/metadata/pillow.jpg", setting("SDD_TEST_TLS"));
    snprintf(fixture, sizeof fixture, "%s/metadata/pillow.jpg", setting("SDD_TEST_FIXTURES"));
    int file = open(fixture, O_RDONLY | O_CLOEXEC);
    off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    CHECK(size > 100000);
    ends e = new_pipe();
    CHECK_EQUAL(fcntl(e.writer, F_SETPIPE_SZ, 4096), sysconf(_SC_PAGESIZE)); // a page, however large
    OWNED_RECORD blocked = RECORD_INIT, other = RECORD_INIT;
    begin(downloader, &blocked, url, e.writer);
    wait_until_full(e.writer, &blocked);
    sdd_download_request request = record_request(&other, url);
    request.sink = SDD_SINK_DISCARD;
    fetch_as(downloader, &other, request);
    CHECK_ENDED(&other, SDD_OK, 0);
    uint8_t *expected = malloc((size_t)size), *got = malloc((size_t)size);
    CHECK_EQUAL(pread(file, expected, (size_t)size, 0), size);
    for (off_t done = 0; done < size;) {
        ssize_t count = read(e.reader, got + done, (size_t)(size - done));
        CHECK(count > 0);
        done += count;
    }
    CHECK(memcmp(expected, got, (size_t)size) == 0);
    record_wait(&blocked);
    CHECK_ENDED(&blocked, SDD_OK, 0);
    free(expected);
    free(got);
    close(file);
    close_both(e);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* ---------------------------------------------------------------- an application's own transport */

typedef struct giver { sdd_transfer transfer; sem_t started; } giver;

static void transport_started(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    giver *g = user_data;
    (void)request;
    g->transfer = transfer;
    sem_post(&g->started);
}

static void transport_cancelled(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

CASE(a_transport_is_never_blocked)
{
    static uint8_t piece[100000];
    for (int reads = 0; reads < 2; reads++) {
        giver g = { 0 };
        sem_init(&g.started, 0, 0);
        sdd_limits limits = SDD_LIMITS_INIT;
        sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
        limits.download_timeout_ms = reads ? 0 : 300;
        sdd_downloader *downloader = make_downloader(&config);
        sdd_transport transport = SDD_TRANSPORT_INIT;
        transport.start = transport_started;
        transport.cancel = transport_cancelled;
        transport.user_data = &g;
        transport.scheme = "given";
        CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
        ends e = new_pipe();
        record r = RECORD_INIT;
        begin(downloader, &r, "given:body", e.writer);
        sem_wait(&g.started);
        /* These are more bytes than the pipe holds. */
        for (int i = 0; i < 10; i++)
            CHECK_STATUS(sdd_transfer_write(g.transfer, piece, sizeof piece), SDD_OK);
        if (reads) CHECK_STATUS(sdd_transfer_finish(g.transfer, SDD_OK, NULL), SDD_OK);
        for (size_t done = 0; reads && done < 10 * sizeof piece;) {
            ssize_t count = read(e.reader, piece, sizeof piece);
            CHECK(count > 0);
            done += (size_t)count;
        }
        record_wait(&r);
        if (reads) CHECK_ENDED(&r, SDD_OK, 0);
        else CHECK_ENDED(&r, SDD_ERROR_SINK, SDD_DETAIL_SINK_BLOCKED);
        if (reads) CHECK_EQUAL(r.metrics.body_bytes, 10 * sizeof piece);
        record_clear(&r);
        destroy(downloader);
        close_both(e);
        sem_destroy(&g.started);
    }
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

int main(void)
{
    start_watchdog();
    bodies_go_elsewhere = 1;
    others_go_on(NULL);
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    return run_cases();
}

/* A hundred thousand waiting requests: their cost, the order in which they start, and how fast they can be dropped; and
   ten thousand requests with few descriptors. Rows Z3 and Z10 of the contract. Prints its measurements; speed and
   memory are checked only in a program without sanitizers. */
#include "record.h"
#include "server.h"

#include <malloc.h>
#include <stdatomic.h>
#include <sys/resource.h>

static int threads_before, descriptors_before, requests;

static int is_full_test(void) { return requests == 100000; }

static int64_t resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static size_t heap_bytes(void)
{
    malloc_trim(0);
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* ---------------------------------------------------------------------- a transport without a network */

static struct {
    int started, last_of[6]; /* index of the last request started, by priority */
    int32_t least;           /* the lowest priority started so far */
    atomic_int frees;
} instant;

/* Requests have their index in their URL; within a priority they start in the order of their submission. */
static void start_instantly(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    int number = atoi(strrchr(request->url, '=') + 1);
    CHECK(user_data == &instant && request->priority >= SDD_PRIORITY_VERY_LOW);
    if (request->priority > instant.least) FAIL("%d began after requests of lower priority", number);
    if (number <= instant.last_of[request->priority])
        FAIL("%d began after %d", number, instant.last_of[request->priority]);
    instant.least = request->priority;
    instant.last_of[request->priority] = number;
    instant.started++;
    CHECK_STATUS(sdd_transfer_write(transfer, &number, sizeof number), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void never_cancel(sdd_transfer transfer, void *user_data)
{
    (void)user_data;
    FAIL("transfer %llu is cancelled, but never ran", (unsigned long long)transfer);
}

static void count_free(void *user_data)
{
    CHECK(user_data == &instant);
    atomic_fetch_add(&instant.frees, 1);
}

/* --------------------------------------------------------------------------------------- requests */

static atomic_int good, cancelled, failed;
static sdd_token *tokens; /* by index */

static void count_end(const sdd_result *result, void *user_data)
{
    if (result->failure.status == SDD_OK) {
        int number = -1;
        CHECK_EQUAL(sdd_bytes_size(result->bytes), sizeof number);
        memcpy(&number, sdd_bytes_data(result->bytes), sizeof number);
        CHECK_EQUAL(number, (intptr_t)user_data);
        atomic_fetch_add(&good, 1);
    } else {
        CHECK_STATUS(result->failure.status, SDD_ERROR_CANCELLED);
        CHECK_EQUAL(result->failure.detail, SDD_DETAIL_CANCELLED_WAITING);
        atomic_fetch_add(&cancelled, 1);
    }
}

/* Makes a suspended downloader with all requests in its queue: of every priority, to a hundred hosts. */
static sdd_downloader *full_queue(void)
{
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    char url[100];
    transport.scheme = "http";
    transport.start = start_instantly;
    transport.cancel = never_cancel;
    transport.user_data = &instant;
    transport.user_data_free = count_free;
    memset(&instant, 0, sizeof instant);
    instant.least = SDD_PRIORITY_VERY_HIGH;
    good = cancelled = failed = 0;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    for (int i = 1; i <= requests; i++) {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        snprintf(url, sizeof url, "http://pictures%d.example.org/2026/november/21/large.jpg?number=%d", i % 100, i);
        request.url = url;
        request.options = SDD_OPTION_BYTES_ONLY;
        request.priority = SDD_PRIORITY_VERY_LOW + i * 7 % 5;
        request.completed = count_end;
        request.user_data = (void *)(intptr_t)i;
        tokens[i] = submit(downloader, &request);
    }
    CHECK_EQUAL(transfers_of(downloader), requests);
    return downloader;
}

/* Goal G10: each waiting request takes under 2 KB. */
CASE(z3_z10_what_a_waiting_request_costs)
{
    malloc_trim(0);
    int64_t before = resident_bytes(), start = milliseconds_now();
    sdd_downloader *downloader = full_queue();
    int64_t each = (resident_bytes() - before) / requests, time = milliseconds_now() - start;
    printf("%d requests wait: %lld bytes each, submitted in %lld ms\n", requests, (long long)each, (long long)time);
    if (is_full_test() && each >= 2048) FAIL("a waiting request costs %lld bytes", (long long)each);

    /* All requests run, the highest priority first, and in their order. */
    start = milliseconds_now();
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    printf("all of them done in %lld ms\n", (long long)(milliseconds_now() - start));
    CHECK(good == requests && instant.started == requests && instant.least == SDD_PRIORITY_VERY_LOW);
    destroy(downloader);
    CHECK_EQUAL(instant.frees, 1);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

CASE(z3_all_are_cancelled_in_no_time)
{
    OWNED_DOWNLOADER downloader = full_queue();
    int64_t start = processor_milliseconds();
    CHECK_STATUS(sdd_downloader_cancel_all(downloader), SDD_OK);
    int64_t call = processor_milliseconds() - start;
    CHECK_EQUAL(transfers_of(downloader), 0);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    int64_t all = processor_milliseconds() - start;
    printf("all of them cancelled in %lld ms, their ends delivered in %lld ms\n", (long long)call, (long long)all);
    if (is_full_test() && all >= 2000) FAIL("cancelling took %lld ms", (long long)all);
    CHECK(cancelled == requests && instant.started == 0);
}

/* Cancels every other request one by one; the rest start in their order. */
CASE(z3_each_is_cancelled_in_no_time)
{
    OWNED_DOWNLOADER downloader = full_queue();
    int64_t start = processor_milliseconds();
    for (int i = requests; i > 0; i -= 2) CHECK_STATUS(sdd_cancel(tokens[i]), SDD_OK);
    int64_t time = processor_milliseconds() - start;
    printf("half of them cancelled one by one in %lld ms\n", (long long)time);
    if (is_full_test() && time >= 2000) FAIL("cancelling took %lld ms", (long long)time);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK(cancelled == (requests + 1) / 2 && good == requests - cancelled && instant.started == good);
}

/* A downloader with a full queue is destroyed as fast. */
CASE(d31_a_full_queue_is_destroyed)
{
    sdd_downloader *downloader = full_queue();
    int64_t start = processor_milliseconds();
    destroy(downloader);
    int64_t time = processor_milliseconds() - start;
    printf("all of them destroyed in %lld ms\n", (long long)time);
    if (is_full_test() && time >= 4000) FAIL("destroying took %lld ms", (long long)time);
    CHECK(cancelled == requests && instant.started == 0 && instant.frees == 1);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

CASE(z1_nothing_is_left)
{
    size_t before = heap_bytes();
    for (int i = 0; i < 2; i++) {
        OWNED_DOWNLOADER downloader = full_queue();
        if (i == 0) CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
        if (i == 0) CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    }
    size_t after = heap_bytes();
    if (after > before + (size_t)requests + 65536) FAIL("%zu bytes on the heap, %zu before", after, before);
}

/* ------------------------------------------------------------------------------ few descriptors */

static void count_any_end(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->failure.status == SDD_OK) {
        CHECK_EQUAL(sdd_bytes_size(result->bytes), 500);
        atomic_fetch_add(&good, 1);
        return;
    }
    /* No descriptor was free for a socket, or for resolving the host. */
    if (result->failure.status != SDD_ERROR_INVALID_DOWNLOAD_OPERATION ||
        result->failure.detail != SDD_DETAIL_OPERATION_NO_TRANSFER)
        FAIL("%s: %s %d", result->url, sdd_status_name(result->failure.status), (int)result->failure.detail);
    atomic_fetch_add(&failed, 1);
}

static void load(int count, int32_t at_a_time)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = config.max_concurrent_per_host = at_a_time;
    config.decode_threads = 2;
    sdd_downloader *downloader = make_downloader(&config);
    good = failed = 0;
    for (int i = 0; i < count; i++) {
        const char *url = atf("/ok?size=500&%d", i);
        CHECK(sdd_download(downloader, url, SDD_OPTION_BYTES_ONLY, NULL, count_any_end, NULL) != 0);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_EQUAL(good + failed, count);
    destroy(downloader);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

/* Goal G11: ten thousand requests with 64 descriptors. */
CASE(z10_ten_thousand_with_64_descriptors)
{
    struct rlimit old, few;
    int count = requests / 10;
    CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    few = old;
    few.rlim_cur = 64;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    /* No more requests run at a time than there are descriptors for: all succeed. */
    load(count, 20);
    CHECK(good == count);
    /* Far more requests run: those without a descriptor end with an error and leave nothing behind. */
    load(count, 500);
    printf("%d requests with 64 descriptors: %d good, %d without a socket\n", count, good, failed);
    CHECK(good > 0);
    load(count / 10, 20);
    CHECK(good == count / 10);
    CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
}

int main(void)
{
    start_watchdog();
    requests = scaled(100000);
    tokens = malloc(sizeof *tokens * (size_t)(requests + 1));
    memset(tokens, 0xff, sizeof *tokens * (size_t)(requests + 1)); /* touches the memory before the first measurement */
    destroy(make_downloader(NULL));
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    run_cases();
    free(tokens);
    return 0;
}

/* Downloaders may be created and destroyed at any moment and on any thread, and leave nothing behind. */
#include "record.h"
#include "server.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { THREAD = SDD_DELIVERY_THREAD, HOST = SDD_DELIVERY_APPLICATION };

static int threads_before, descriptors_before;

static sdd_downloader *downloader_of(int delivery)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = delivery;
    config.max_concurrent_downloads = 4;
    config.decode_threads = 2;
    return make_downloader(&config);
}

static void many_come_and_go(void)
{
    for (int i = 0; i < scaled(200); i++) destroy(downloader_of(i % 2));
    sdd_downloader *all[20];
    for (int i = 0; i < 20; i++) all[i] = downloader_of(i % 2);
    for (int i = 0; i < 20; i++) destroy(all[i]);
}

/* When the downloader is destroyed, some requests wait, some are on the network, some are being decoded, and some have
   ended; each round destroys a little later. */
static void destroy_comes_at_any_moment(void)
{
    enum { REQUESTS = 40 };
    static const char *const paths[] = {
        "/file/png/rgb16.png?%d", "/ok?size=100000&%d", "/status/404?%d", "/hold/any?after=10&%d",
        "/file/jpeg/ycck.jpg?%d", "/redirect?to=/ok?%d", "/reset?%d", "/cut?size=100000&%d",
    };
    for (int round = 0; round < scaled(60); round++) {
        sdd_downloader *downloader = downloader_of(round % 2);
        record *records = calloc(REQUESTS, sizeof *records);
        CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(downloader, 1 + round % 12), SDD_OK);
        for (int i = 0; i < REQUESTS; i++) {
            records[i] = (record)RECORD_INIT;
            char path[100];
            snprintf(path, sizeof path, paths[i % 8], i / 16);
            const char *url = i % 13 == 12 ? "nonsense" : at(path);
            record_submit(downloader, &records[i], url, i % 8 == 1 ? SDD_OPTION_BYTES_ONLY : 0);
        }
        if (round % 2 == HOST)
            for (int i = 0; i < round / 4; i++) sdd_downloader_wait(downloader, NULL, 1, round, NULL);
        else
            sdd_downloader_idle_wait(downloader, round / 4);
        destroy(downloader);
        for (int i = 0; i < REQUESTS; i++) {
            CHECK(records[i].completed_count == 1 && records[i].freed_count == 1);
            record_clear(&records[i]);
        }
        free(records);
    }
}

/* ------------------------------------------------------------------------------ inside a callback */

static struct inside {
    sdd_downloader *downloader;
    sem_t ended; /* posted by the last user_data_free */
    atomic_int calls, ended_count;
} inside;

static void destroy_inside(const sdd_result *result, void *user_data)
{
    int is_first = atomic_fetch_add(&inside.calls, 1) == 0;
    (void)user_data;
    CHECK_STATUS(sdd_downloader_destroy(inside.downloader), is_first ? SDD_OK : SDD_ERROR_CLOSED);
    CHECK_STATUS(sdd_cancel(result->token), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(sdd_download(inside.downloader, at("/ok"), 0, NULL, destroy_inside, NULL), 0);
    CHECK_STATUS(sdd_downloader_idle_wait(inside.downloader, -1), SDD_ERROR_CLOSED);
}

static void count_end(void *user_data)
{
    if (atomic_fetch_add(&inside.ended_count, 1) == 9) sem_post(&inside.ended);
    (void)user_data;
}

static void destroyed_inside_a_callback(int delivery)
{
    inside.downloader = downloader_of(delivery);
    inside.calls = inside.ended_count = 0;
    sem_init(&inside.ended, 0, 0);
    /* The last request destroys the downloader when it ends, and gets no slot before all requests are submitted. */
    for (int i = 0; i < 10; i++) {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = i == 9 ? at("/ok?size=10") : atf("/hold/inside?%d", i);
        request.options = SDD_OPTION_BYTES_ONLY;
        request.completed = destroy_inside;
        request.user_data_free = count_end;
        submit(inside.downloader, &request);
    }
    CHECK_STATUS(sdd_downloader_set_max_concurrent_per_host(inside.downloader, 20), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(inside.downloader, 20), SDD_OK);
    if (delivery == HOST) {
        CHECK_STATUS(sdd_downloader_wait(inside.downloader, NULL, 0, -1, NULL), SDD_OK);
        CHECK_EQUAL(inside.ended_count, 10);
    } else {
        while (sem_wait(&inside.ended) != 0) continue;
    }
    CHECK_EQUAL(inside.calls, 10);
    CHECK_STATUS(sdd_downloader_destroy(inside.downloader), SDD_ERROR_CLOSED);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

static void destroy_inside_a_callback_of_its_thread(void) { destroyed_inside_a_callback(THREAD); }
static void destroy_inside_a_callback_of_the_application(void) { destroyed_inside_a_callback(HOST); }

/* ------------------------------------------------------------- on the downloader's other threads */

enum place { IN_BODY_TRANSFORM, IN_START, IN_FREE, PLACES };

static void destroy_here(void)
{
    CHECK_STATUS(sdd_downloader_destroy(inside.downloader), SDD_OK);
    CHECK_STATUS(sdd_downloader_destroy(inside.downloader), SDD_ERROR_CLOSED);
}

/* A downloader of another is waited for. */
static sdd_bytes *destroy_in_body_transform(sdd_bytes *body, sdd_response *response, void *user_data)
{
    record r = RECORD_INIT;
    sdd_downloader *other = downloader_of(THREAD);
    (void)response, (void)user_data;
    record_submit(other, &r, at("/hold/other"), SDD_OPTION_BYTES_ONLY);
    destroy(other);
    CHECK(r.completed_count == 1 && r.freed_count == 1);
    record_clear(&r);
    destroy_here();
    return sdd_bytes_retain(body);
}

static void destroy_in_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)transfer, (void)request, (void)user_data;
    destroy_here();
}

static void cancel_nothing(sdd_transfer transfer, void *user_data) { (void)transfer, (void)user_data; }

static void destroy_in_free(void *user_data)
{
    (void)user_data;
    destroy_here();
}

static sdd_bytes *keep_body(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)response, (void)user_data;
    return sdd_bytes_retain(body);
}

static void count_call(const sdd_result *result, void *user_data)
{
    (void)result, (void)user_data;
    CHECK(inside.ended_count < 10);
    atomic_fetch_add(&inside.calls, 1);
}

/* Nine requests are on the network when the last one gets so far that the downloader is destroyed. */
static void destroyed_on_its_thread(int delivery, enum place place)
{
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transfer.modifiers = &modifiers;
    modifiers.body_transform = place == IN_BODY_TRANSFORM ? destroy_in_body_transform : keep_body;
    if (place == IN_FREE) modifiers.user_data_free = destroy_in_free;
    transport.scheme = "archive", transport.start = destroy_in_start, transport.cancel = cancel_nothing;
    inside.downloader = downloader_of(delivery);
    inside.calls = inside.ended_count = 0;
    sem_init(&inside.ended, 0, 0);
    CHECK_STATUS(sdd_downloader_add_transport(inside.downloader, &transport), SDD_OK);
    for (int i = 0; i < 10; i++) {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = i < 9 ? atf("/hold/inside?%d", i) : place == IN_START ? "archive:x" : at("/ok?size=10");
        request.options = SDD_OPTION_BYTES_ONLY;
        if (i == 9 && place != IN_START) request.transfer = &transfer;
        request.completed = count_call;
        request.user_data_free = count_end;
        submit(inside.downloader, &request);
    }
    CHECK_STATUS(sdd_downloader_set_max_concurrent_per_host(inside.downloader, 20), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(inside.downloader, 20), SDD_OK);
    while (sem_wait(&inside.ended) != 0) continue;
    CHECK_EQUAL(inside.calls, 10);
    CHECK_STATUS(sdd_downloader_destroy(inside.downloader), SDD_ERROR_CLOSED);
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
}

static void destroyed_on_its_other_threads(void)
{
    for (int i = 0; i < 2 * PLACES; i++) destroyed_on_its_thread(i % 2, (enum place)(i / 2));
}

/* Calls every function inside a callback. */
static void call_everything(const sdd_result *result, void *user_data)
{
    sdd_downloader *d = inside.downloader, *other = downloader_of(THREAD);
    sdd_event event = SDD_EVENT_INIT;
    size_t count;
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK_STATUS(sdd_set_header(d, "X-One", "1"), SDD_OK);
    CHECK_STATUS(sdd_get_header(d, "X-One", NULL, 0, &count), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(d, 3), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(d, -1), SDD_ERROR_WOULD_DEADLOCK);
    CHECK_STATUS(sdd_cancel(result->token), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(sdd_downloader_event_fd(d), -1);
    CHECK_STATUS(sdd_downloader_dispatch(d, 0, NULL), SDD_ERROR_WRONG_DELIVERY);
    CHECK_STATUS(sdd_downloader_drain(d, &event, 1, &count), SDD_ERROR_WRONG_DELIVERY);
    CHECK_STATUS(sdd_downloader_wait(d, NULL, 0, -1, NULL), SDD_ERROR_WRONG_DELIVERY);
    CHECK(sdd_image_width(result->image) == 19 && sdd_downloader_shared() != NULL);
    record r = RECORD_INIT;
    fetch(other, &r, at("/ok?other"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    destroy(other);
    record_submit(d, user_data, at("/ok?from-inside"), SDD_OPTION_BYTES_ONLY);
    record_submit(d, (record *)user_data + 1, at("/hold/from-inside"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cancel(record_submit(d, (record *)user_data + 2, at("/hold/cancelled"), 0)), SDD_OK);
}

static void callbacks_may_call_every_function(void)
{
    record records[3] = { RECORD_INIT, RECORD_INIT, RECORD_INIT };
    inside.downloader = downloader_of(THREAD);
    CHECK(sdd_download(inside.downloader, at("/file/png/rgb8.png"), 0, NULL, call_everything, records) != 0);
    record_wait(&records[0]);
    record_wait(&records[2]);
    CHECK_STATUS(sdd_downloader_cancel_all(inside.downloader), SDD_OK);
    record_wait(&records[1]);
    CHECK_ENDED(&records[0], SDD_OK, 0);
    CHECK_STATUS(records[1].error, SDD_ERROR_CANCELLED);
    CHECK_STATUS(records[2].error, SDD_ERROR_CANCELLED);
    CHECK(pthread_equal(records[0].thread, records[1].thread) && pthread_equal(records[0].thread, records[2].thread));
    for (int i = 0; i < 3; i++) record_clear(&records[i]);
    destroy(inside.downloader);
}

static void cancel_inside(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)url;
    (void)expected;
    if (received == 0) return;
    CHECK_EQUAL(atomic_fetch_add((atomic_int *)user_data, 1), 0);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
}

static void expect_cancel(const sdd_result *result, void *user_data)
{
    check_result(result);
    CHECK_STATUS(result->failure.status, SDD_ERROR_CANCELLED);
    CHECK_EQUAL(result->failure.detail, SDD_DETAIL_CANCELLED_SENDING);
    CHECK_EQUAL(atomic_fetch_add((atomic_int *)user_data, 1), 1);
}

static void no_progress_after_a_cancel(void)
{
    atomic_int calls = 0;
    inside.downloader = downloader_of(THREAD);
    const char *url = at("/trickle?size=1000000&piece=1000&every=1");
    CHECK(sdd_download(inside.downloader, url, SDD_OPTION_BYTES_ONLY, cancel_inside, expect_cancel, &calls) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(inside.downloader, -1), SDD_OK);
    CHECK_EQUAL(calls, 2);
    destroy(inside.downloader);
}

/* ---------------------------------------------------------------------------------- many threads */

static pthread_barrier_t together;

static void *destroy_too(void *downloader)
{
    pthread_barrier_wait(&together);
    return (void *)(intptr_t)sdd_downloader_destroy(downloader);
}

static void two_threads_destroy_one(void)
{
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < scaled(100); i++) {
        sdd_downloader *downloader = downloader_of(i % 2);
        OWNED_RECORD r = RECORD_INIT;
        pthread_t thread;
        void *other;
        record_submit(downloader, &r, at("/hold/two"), 0);
        pthread_create(&thread, NULL, destroy_too, downloader);
        pthread_barrier_wait(&together);
        sdd_status mine = sdd_downloader_destroy(downloader);
        pthread_join(thread, &other);
        CHECK_EQUAL(mine + (sdd_status)(intptr_t)other, SDD_OK + SDD_ERROR_CLOSED);
        CHECK_EQUAL(r.freed_count, 1);
    }
}

static void *wait_too(void *downloader)
{
    pthread_barrier_wait(&together);
    sdd_status status = sdd_downloader_idle_wait(downloader, -1);
    CHECK(status == SDD_OK || status == SDD_ERROR_CLOSED || status == SDD_ERROR_BUSY);
    return NULL;
}

static void *wait_for_an_event(void *downloader)
{
    pthread_barrier_wait(&together);
    sdd_status status;
    do status = sdd_downloader_wait(downloader, NULL, 0, -1, NULL);
    while (status == SDD_OK || status == SDD_ERROR_BUSY);
    CHECK_STATUS(status, SDD_ERROR_CLOSED);
    return NULL;
}

static void destroy_ends_the_waits_of_others(void)
{
    for (int i = 0; i < scaled(100); i++) {
        sdd_downloader *downloader = downloader_of(i % 2);
        OWNED_RECORD r = RECORD_INIT;
        pthread_t thread;
        if (i % 3) record_submit(downloader, &r, at("/hold/waiting"), 0);
        pthread_create(&thread, NULL, i % 4 == 1 ? wait_for_an_event : wait_too, downloader);
        pthread_barrier_wait(&together);
        destroy(downloader);
        pthread_join(thread, NULL);
        CHECK_EQUAL(r.freed_count, i % 3 != 0);
    }
}

/* --------------------------------------------------------------------------------------- threads */

static pthread_t hook_threads[2];
static int hook_calls[2];

static void on_start(void *data)
{
    CHECK(data == hook_calls && hook_calls[0]++ == 0);
    hook_threads[0] = pthread_self();
}

static void on_stop(void *data)
{
    CHECK(data == hook_calls && hook_calls[1]++ == 0);
    hook_threads[1] = pthread_self();
}

static void hooks_run_once_on_the_callback_thread(void)
{
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .callbacks = &callbacks };
    OWNED_RECORD r = RECORD_INIT;
    callbacks.on_thread_start = on_start;
    callbacks.on_thread_stop = on_stop;
    callbacks.user_data = hook_calls;
    sdd_downloader *downloader = make_downloader(&config);
    for (int i = 0; i < 5; i++) fetch(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK(hook_calls[0] == 1 && hook_calls[1] == 0);
    destroy(downloader);
    CHECK(hook_calls[0] == 1 && hook_calls[1] == 1);
    CHECK(pthread_equal(hook_threads[0], r.thread) && pthread_equal(hook_threads[1], r.thread));
}

static void every_thread_blocks_every_signal(void)
{
    /* All of 1 to 64 except the signals that cannot be blocked (KILL, STOP) and those that the C library (32, 33) and
       valgrind (64) reserve. */
    const unsigned long long wanted =
        ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 1ull << 31 | 1ull << 32 | 1ull << 63);
    sdd_downloader *downloader = downloader_of(THREAD);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
    DIR *tasks = opendir("/proc/self/task");
    int net = 0, decode = 0, callback = 0;
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        char path[300], line[200], name[50] = "";
        unsigned long long blocked = 0;
        if (atoi(task->d_name) == 0 || atoi(task->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *status = fopen(path, "r");
        if (status == NULL) continue;
        while (fgets(line, sizeof line, status)) {
            sscanf(line, "Name: %49s", name);
            sscanf(line, "SigBlk: %llx", &blocked);
        }
        fclose(status);
        if (strncmp(name, "sdd-", 4) != 0) continue;
        if ((blocked & wanted) != wanted) FAIL("%s blocks only %llx", name, blocked);
        net += strcmp(name, "sdd-net") == 0;
        decode += strncmp(name, "sdd-decode", 10) == 0;
        callback += strcmp(name, "sdd-callback") == 0;
    }
    closedir(tasks);
    destroy(downloader);
    CHECK_EQUAL(net - callback, 0);
    CHECK(net >= 1 && decode >= 2);
}

#define RUN_CLEAN(function) \
    do { \
        RUN(function); \
        CHECK_NOTHING_LEFT(threads_before, descriptors_before); \
    } while (0)

int main(void)
{
    start_watchdog();
    /* This creates everything that a process keeps for good: the shared downloader, and what the libraries below keep
       open. */
    record r = RECORD_INIT;
    fetch(NULL, &r, at("/file/png/rgb8.png"), 0);
    record_clear(&r);
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    RUN_CLEAN(many_come_and_go);
    RUN_CLEAN(destroy_comes_at_any_moment);
    RUN_CLEAN(destroy_inside_a_callback_of_its_thread);
    RUN_CLEAN(destroy_inside_a_callback_of_the_application);
    RUN_CLEAN(destroyed_on_its_other_threads);
    RUN_CLEAN(callbacks_may_call_every_function);
    RUN_CLEAN(no_progress_after_a_cancel);
    RUN_CLEAN(two_threads_destroy_one);
    RUN_CLEAN(destroy_ends_the_waits_of_others);
    RUN_CLEAN(hooks_run_once_on_the_callback_thread);
    RUN_CLEAN(every_thread_blocks_every_signal);
    return 0;
}

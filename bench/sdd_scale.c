/*
 * sdd_scale - measures how the cost of a request in the library itself changes with the number of requests, hosts,
 * downloaders and submitting threads, and how long urgent requests take behind others. The transports respond without a
 * network. Prints a line of JSON for each measurement.
 *
 *     build/sdd-scale [PART...]
 *
 * The parts, by default all: requests same hosts downloaders threads waiting lone urgent.
 *
 * request_cpu_us is the processor time of the process for each request, submit_us the time of the calls that submit it,
 * on the submitting thread. `requests` has different URLs of one host, `same` one URL, `threads` submits on several
 * threads. `waiting` requests are submitted to a suspended downloader: waiting_bytes is the memory of each,
 * cancel_all_s the time of sdd_downloader_cancel_all(), and ended_s that until all their callbacks have returned.
 * `lone` requests come one after another; `urgent` ones come while 1000 of low priority wait, and are answered like all
 * others after a turn-around of 2 ms in one of 6 slots, with `idle_` figures for the same without others.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sdd/sdd.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clock_seconds(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds(void) { return clock_seconds(CLOCK_MONOTONIC); }

static void fail(const char *what)
{
    fprintf(stderr, "sdd-scale: %s: %s\n", what, sdd_last_error_message());
    exit(1);
}

/* ---- the transport that responds at once */

/* Thread: sdd-net. */
static void respond(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    sdd_transfer_write(transfer, "body", 4);
    sdd_transfer_finish(transfer, SDD_OK, NULL);
}

static void forget(sdd_transfer transfer, void *user_data) { (void)transfer, (void)user_data; }

static sdd_downloader *new_downloader(void (*start)(sdd_transfer, const sdd_transfer_request *, void *),
                                      void (*cancel)(sdd_transfer, void *))
{
    sdd_downloader *downloader = NULL;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "instant";
    transport.start = start;
    transport.cancel = cancel;
    if (sdd_downloader_create(NULL, &downloader) != SDD_OK) fail("sdd_downloader_create");
    if (sdd_downloader_add_transport(downloader, &transport) != SDD_OK) fail("sdd_downloader_add_transport");
    return downloader;
}

static long failed;

/* Thread: the callback threads. */
static int64_t transfers_of(sdd_downloader *downloader)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    if (sdd_downloader_get_statistics(downloader, &statistics) != SDD_OK) fail("sdd_downloader_get_statistics");
    return statistics.waiting + statistics.running;
}

static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->failure.status != SDD_OK) __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
}

/* ---- many requests */

typedef struct load {
    long requests, hosts, downloaders, threads;
    int same; /* all have one URL */
} load;

typedef struct share {
    const load *load;
    sdd_downloader **downloaders;
    long first, count;
    double submit_s;
} share;

static void *submit(void *argument)
{
    share *s = argument;
    char url[80];
    double begin = seconds();
    for (long i = s->first; i < s->first + s->count; i++) {
        snprintf(url, sizeof url, "instant://host%ld/%ld", i % s->load->hosts, s->load->same ? 0 : i);
        sdd_download(s->downloaders[i % s->load->downloaders], url, SDD_OPTION_BYTES_ONLY, NULL, completed, NULL);
    }
    s->submit_s = seconds() - begin;
    return NULL;
}

static void run(const char *part, load l)
{
    enum { MOST = 64 };
    sdd_downloader *downloaders[MOST];
    pthread_t threads[MOST];
    share shares[MOST];
    double submitting = 0;
    for (long i = 0; i < l.downloaders; i++) downloaders[i] = new_downloader(respond, forget);
    load warm = { 1000, l.hosts, l.downloaders, 1, 0 };
    submit(&(share){ &warm, downloaders, 0, warm.requests, 0 });
    for (long i = 0; i < l.downloaders; i++) sdd_downloader_idle_wait(downloaders[i], -1);
    double wall = seconds(), cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    /* Joined requests need one that is waiting. */
    if (l.same) sdd_downloader_suspend(downloaders[0]);
    for (long i = 0; i < l.threads; i++) {
        shares[i] = (share){ &l, downloaders, i * (l.requests / l.threads), l.requests / l.threads, 0 };
        if (pthread_create(&threads[i], NULL, submit, &shares[i]) != 0) fail("pthread_create");
    }
    for (long i = 0; i < l.threads; i++) {
        pthread_join(threads[i], NULL);
        submitting += shares[i].submit_s;
    }
    if (l.same) sdd_downloader_resume(downloaders[0]);
    for (long i = 0; i < l.downloaders; i++) sdd_downloader_idle_wait(downloaders[i], -1);
    wall = seconds() - wall;
    cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (long i = 0; i < l.downloaders; i++) sdd_downloader_destroy(downloaders[i]);
    printf("{\"part\":\"%s\",\"requests\":%ld,\"hosts\":%ld,\"downloaders\":%ld,\"threads\":%ld,\"request_us\":%.2f,"
           "\"request_cpu_us\":%.2f,\"submit_us\":%.2f}\n",
           part, l.requests, l.hosts, l.downloaders, l.threads, wall / (double)l.requests * 1e6,
           cpu / (double)l.requests * 1e6, submitting / (double)l.requests * 1e6);
    fflush(stdout);
}

/* ---- requests that wait, and are cancelled */

static size_t memory_in_use(void)
{
    struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd; /* the second are large blocks, with a mapping of their own */
}

static void wait_and_cancel(long count)
{
    const load l = { count, 1, 1, 1, 0 };
    sdd_downloader *downloader = new_downloader(respond, forget);
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    sdd_downloader_suspend(downloader);
    size_t before = memory_in_use();
    submit(&(share){ &l, &downloader, 0, count, 0 });
    /* The statistics include all requests that were submitted before. */
    do sdd_downloader_get_statistics(downloader, &statistics);
    while (statistics.waiting < count);
    double bytes = (double)(memory_in_use() - before) / (double)count;
    double begin = seconds();
    if (sdd_downloader_cancel_all(downloader) != SDD_OK) fail("sdd_downloader_cancel_all");
    double cancelled = seconds() - begin;
    sdd_downloader_idle_wait(downloader, -1);
    double ended_all = seconds() - begin;
    sdd_downloader_destroy(downloader);
    failed -= count; /* each was cancelled */
    printf("{\"part\":\"waiting\",\"requests\":%ld,\"waiting_bytes\":%.0f,\"cancel_all_s\":%.4f,\"ended_s\":%.4f}\n",
           count, bytes, cancelled, ended_all);
    fflush(stdout);
}

/* ---- one request at a time */

static sem_t ended;
static double end_time;

static void note_end(const sdd_result *result, void *user_data)
{
    completed(result, user_data);
    end_time = seconds();
    sem_post(&ended);
}

static int ascending(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double time_of_one(sdd_downloader *downloader, const char *url, int32_t priority)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY;
    request.priority = priority;
    request.completed = note_end;
    double begin = seconds();
    if (sdd_downloader_submit(downloader, &request) == 0) fail("sdd_downloader_submit");
    while (sem_wait(&ended) != 0) continue;
    return (end_time - begin) * 1e6;
}

static void lone(void)
{
    enum { COUNT = 20000 };
    static double times[COUNT];
    char url[80];
    sdd_downloader *downloader = new_downloader(respond, forget);
    for (int i = 0; i < COUNT; i++) {
        snprintf(url, sizeof url, "instant://host/%d", i);
        times[i] = time_of_one(downloader, url, SDD_PRIORITY_NORMAL);
    }
    sdd_downloader_destroy(downloader);
    qsort(times, COUNT, sizeof *times, ascending);
    printf("{\"part\":\"lone\",\"median_us\":%.1f,\"p95_us\":%.1f}\n", times[COUNT / 2], times[COUNT * 95 / 100]);
}

/* ---- urgent requests behind others: a transport with a turn-around of 2 ms */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct {
        sdd_transfer transfer;
        double due;
    } running[64];
    int count, ends;
} slow = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void begin_slowly(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    pthread_mutex_lock(&slow.lock);
    slow.running[slow.count].transfer = transfer;
    slow.running[slow.count++].due = seconds() + 0.002;
    pthread_cond_signal(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
}

static void cancel_slowly(sdd_transfer transfer, void *user_data)
{
    (void)user_data;
    pthread_mutex_lock(&slow.lock);
    for (int i = 0; i < slow.count; i++)
        if (slow.running[i].transfer == transfer) slow.running[i--] = slow.running[--slow.count];
    pthread_mutex_unlock(&slow.lock);
}

/* Answers each transfer when it is due. */
static void *answer(void *unused)
{
    pthread_mutex_lock(&slow.lock);
    while (!slow.ends) {
        int first = 0;
        if (slow.count == 0) {
            pthread_cond_wait(&slow.changed, &slow.lock);
            continue;
        }
        for (int i = 1; i < slow.count; i++)
            if (slow.running[i].due < slow.running[first].due) first = i;
        sdd_transfer transfer = slow.running[first].transfer;
        double left = slow.running[first].due - seconds();
        pthread_mutex_unlock(&slow.lock);
        struct timespec pause = { 0, left > 0 ? (long)(left * 1e9) : 0 };
        if (left > 0) nanosleep(&pause, NULL);
        if (left <= 0) {
            cancel_slowly(transfer, NULL); /* takes it from the list */
            sdd_transfer_write(transfer, "body", 4);
            sdd_transfer_finish(transfer, SDD_OK, NULL);
        }
        pthread_mutex_lock(&slow.lock);
    }
    pthread_mutex_unlock(&slow.lock);
    return unused;
}

static void urgent(void)
{
    enum { COUNT = 200, OTHERS = 1000 };
    double idle[COUNT], busy[COUNT];
    char url[80];
    pthread_t thread;
    sdd_downloader *downloader = new_downloader(begin_slowly, cancel_slowly);
    if (pthread_create(&thread, NULL, answer, NULL) != 0) fail("pthread_create");
    for (int i = 0; i < COUNT; i++) {
        snprintf(url, sizeof url, "instant://host/idle/%d", i);
        idle[i] = time_of_one(downloader, url, SDD_PRIORITY_VERY_HIGH);
    }
    long next = 0;
    for (int i = 0; i < COUNT; i++) {
        while (transfers_of(downloader) < OTHERS) {
            snprintf(url, sizeof url, "instant://host/other/%ld", next++);
            sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
            request.url = url;
            request.options = SDD_OPTION_BYTES_ONLY;
            request.priority = SDD_PRIORITY_LOW;
            request.completed = completed;
            if (sdd_downloader_submit(downloader, &request) == 0) fail("sdd_downloader_submit");
        }
        snprintf(url, sizeof url, "instant://host/urgent/%d", i);
        busy[i] = time_of_one(downloader, url, SDD_PRIORITY_VERY_HIGH);
    }
    sdd_downloader_idle_wait(downloader, -1);
    pthread_mutex_lock(&slow.lock);
    slow.ends = 1;
    pthread_cond_signal(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    pthread_join(thread, NULL);
    sdd_downloader_destroy(downloader);
    qsort(idle, COUNT, sizeof *idle, ascending);
    qsort(busy, COUNT, sizeof *busy, ascending);
    printf("{\"part\":\"urgent\",\"idle_median_us\":%.0f,\"idle_p95_us\":%.0f,\"median_us\":%.0f,\"p95_us\":%.0f}\n",
           idle[COUNT / 2], idle[COUNT * 95 / 100], busy[COUNT / 2], busy[COUNT * 95 / 100]);
}

/* ---- the parts */

static void requests(void)
{
    for (long n = 100; n <= 1000000; n *= 10) run("requests", (load){ n, 1, 1, 1, 0 });
}

static void same(void)
{
    for (long n = 1; n <= 100000; n *= 10) run("same", (load){ n, 1, 1, 1, 1 });
}

static void hosts(void)
{
    for (long n = 1; n <= 500; n = n == 1 ? 20 : n * 5) run("hosts", (load){ 100000, n, 1, 1, 0 });
}

static void downloaders(void)
{
    for (long n = 1; n <= 64; n *= 4) run("downloaders", (load){ 100000, 1, n, 1, 0 });
}

static void threads(void)
{
    for (long n = 1; n <= 64; n *= 4) run("threads", (load){ 100000, 1, 1, n, 0 });
}

static void waiting(void)
{
    for (long n = 1000; n <= 1000000; n *= 10) wait_and_cancel(n);
}

int main(int argc, char **argv)
{
    const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {
        { "requests", requests }, { "same", same },       { "hosts", hosts }, { "downloaders", downloaders },
        { "threads", threads },   { "waiting", waiting }, { "lone", lone },   { "urgent", urgent },
    };
    int done = 0;
    sem_init(&ended, 0, 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int is_wanted = argc == 1;
        for (int k = 1; k < argc; k++) is_wanted |= !strcmp(argv[k], parts[i].name);
        if (!is_wanted) continue;
        parts[i].run();
        fflush(stdout);
        done++;
    }
    if (done == 0)
        fprintf(stderr, "usage: sdd-scale [requests|same|hosts|downloaders|threads|waiting|lone|urgent]...\n");
    return done == 0 || failed ? 1 : 0;
}

/*
 * sdd_stream - measures the time from a picture's last byte to its pixels, when its bytes arrive slowly and at once.
 *
 *     make bench-programs         builds build/sdd-stream; bench/README.md describes the figures
 *     build/sdd-stream FILE [MEGABYTES_A_SECOND] [ROUNDS]
 *
 * A transport of the program gives the bytes, all at once and in pieces at that rate, so that no network is involved.
 * Prints one line of JSON: medians of the time from the last byte to the picture, in milliseconds, and of processor
 * time.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 16 * 1024, MOST_ROUNDS = 99 };

static struct {
    uint8_t *bytes;
    size_t size;
    double rate; /* bytes a second; 0: at once */
    double last_byte, picture;
    int failed;
} run;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *feed(void *argument)
{
    sdd_transfer transfer = *(sdd_transfer *)argument;
    free(argument);
    const double start = now(CLOCK_MONOTONIC);
    sdd_transfer_respond(transfer, 200, NULL, 0, (int64_t)run.size);
    for (size_t sent = 0; sent < run.size;) {
        const size_t most = run.rate > 0 ? PIECE : run.size;
        const size_t piece = run.size - sent < most ? run.size - sent : most;
        sent += piece;
        const double due = run.rate > 0 ? start + (double)sent / run.rate : 0;
        struct timespec until = { (time_t)due, (long)((due - (double)(time_t)due) * 1e9) };
        if (run.rate > 0) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        if (sent == run.size) run.last_byte = now(CLOCK_MONOTONIC);
        sdd_transfer_write(transfer, run.bytes + sent - piece, piece);
    }
    sdd_transfer_finish(transfer, SDD_OK, NULL);
    return NULL;
}

/* Thread: sdd-net, which must not wait. */
static void start(sdd_transfer id, const sdd_transfer_request *request, void *user_data)
{
    sdd_transfer *transfer = malloc(sizeof *transfer);
    pthread_t thread;
    (void)request;
    (void)user_data;
    *transfer = id;
    pthread_create(&thread, NULL, feed, transfer);
    pthread_detach(thread);
}

static void cancel(sdd_transfer id, void *user_data)
{
    (void)id;
    (void)user_data;
}

static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    run.picture = now(CLOCK_MONOTONIC);
    if (result->failure.status != SDD_OK) {
        fprintf(stderr, "%s\n", result->failure.message);
        run.failed = 1;
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Computes the medians over all rounds: milliseconds from the last byte to the picture, and processor time. */
static void measure(sdd_downloader *downloader, double rate, int rounds, double *wait_ms, double *cpu_ms)
{
    double waits[MOST_ROUNDS], costs[MOST_ROUNDS];
    run.rate = rate;
    for (int i = 0; i < rounds; i++) {
        const double before = now(CLOCK_PROCESS_CPUTIME_ID);
        sdd_download(downloader, "file-in-memory:picture", 0, NULL, completed, NULL);
        sdd_downloader_idle_wait(downloader, -1);
        waits[i] = (run.picture - run.last_byte) * 1e3;
        costs[i] = (now(CLOCK_PROCESS_CPUTIME_ID) - before) * 1e3;
    }
    qsort(waits, (size_t)rounds, sizeof *waits, by_size);
    qsort(costs, (size_t)rounds, sizeof *costs, by_size);
    *wait_ms = waits[rounds / 2];
    *cpu_ms = costs[rounds / 2];
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    const double rate = argc > 2 ? atof(argv[2]) * 1e6 : 8e6;
    const int rounds = argc > 3 ? atoi(argv[3]) : 5;
    if (!file || rate <= 0 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "usage: sdd-stream FILE [MEGABYTES_A_SECOND] [ROUNDS]\n");
        return 2;
    }
    fseek(file, 0, SEEK_END);
    run.size = (size_t)ftell(file);
    rewind(file);
    run.bytes = malloc(run.size);
    if (!run.bytes || fread(run.bytes, 1, run.size, file) != run.size) return 2;
    fclose(file);

    sdd_downloader *downloader = NULL;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "file-in-memory";
    transport.start = start;
    transport.cancel = cancel;
    if (sdd_downloader_create(NULL, &downloader) != SDD_OK ||
        sdd_downloader_add_transport(downloader, &transport) != SDD_OK)
        return 1;
    double at_once, at_once_cpu, streamed, streamed_cpu;
    measure(downloader, 0, rounds, &at_once, &at_once_cpu);
    measure(downloader, rate, rounds, &streamed, &streamed_cpu);
    sdd_downloader_destroy(downloader);
    printf("{\"bytes\":%zu,\"megabytes_a_second\":%.1f,\"at_once_ms\":%.3f,\"streamed_ms\":%.3f,\"ratio\":%.3f,"
           "\"at_once_cpu_ms\":%.3f,\"streamed_cpu_ms\":%.3f}\n",
           run.size, rate / 1e6, at_once, streamed, streamed / at_once, at_once_cpu, streamed_cpu);
    free(run.bytes);
    return run.failed;
}

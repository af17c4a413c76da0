/*
 * sdd_overhead - measures the cost of a request in the library itself, over a transport that responds at once, so that
 * the figures contain no network and no picture. Prints one line of JSON.
 *
 *     build/sdd-overhead [requests, default 100000]
 *
 * request_us: time from submitting to the terminal callback, for requests in a full queue.
 * queued_bytes: growth of the resident set for each waiting request. cancel_all_s: time to cancel all of them.
 */
#define _POSIX_C_SOURCE 200809L
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/* Thread: sdd-net. */
static void start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request;
    (void)user_data;
    sdd_transfer_write(transfer, "body", 4);
    sdd_transfer_finish(transfer, SDD_OK, NULL);
}

static void cancel(sdd_transfer transfer, void *user_data)
{
    (void)transfer;
    (void)user_data;
}

static struct {
    long ok, cancelled, other;
} ends;

/* Thread: the callback thread. */
static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->error == SDD_OK)
        ends.ok++;
    else if (result->error == SDD_ERROR_CANCELLED)
        ends.cancelled++;
    else
        ends.other++;
}

static void submit(sdd_downloader *downloader, long count)
{
    char url[64];
    for (long i = 0; i < count; i++) {
        snprintf(url, sizeof url, "instant:%ld", i);
        sdd_download(downloader, url, SDD_OPTION_BYTES_ONLY, NULL, completed, NULL);
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    sdd_downloader *downloader = NULL;
    sdd_status status = sdd_downloader_create(NULL, &downloader);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "instant";
    transport.start = start;
    transport.cancel = cancel;
    if (status == SDD_OK) status = sdd_downloader_add_transport(downloader, &transport, NULL);
    if (status != SDD_OK) {
        fprintf(stderr, "sdd-overhead: %s\n", sdd_last_error_message());
        return 1;
    }
    submit(downloader, 1000); /* the first requests pay for one-time initialisation */
    sdd_wait_idle(downloader, -1);

    double wall = seconds(), cpu = cpu_seconds();
    submit(downloader, count);
    sdd_wait_idle(downloader, -1);
    wall = seconds() - wall;
    cpu = cpu_seconds() - cpu;

    sdd_downloader_suspend(downloader);
    double before = resident_bytes();
    submit(downloader, count);
    double queued = (resident_bytes() - before) / (double)count;
    double cancelling = seconds();
    sdd_downloader_cancel_all(downloader);
    cancelling = seconds() - cancelling;
    sdd_wait_idle(downloader, -1);
    sdd_downloader_destroy(downloader);

    printf("{\"requests\":%ld,\"request_us\":%.3f,\"request_cpu_us\":%.3f,\"queued_bytes\":%.0f,"
           "\"cancel_all_s\":%.4f}\n",
           count, wall / (double)count * 1e6, cpu / (double)count * 1e6, queued, cancelling);
    return ends.ok == count + 1000 && ends.cancelled == count && ends.other == 0 ? 0 : 1;
}

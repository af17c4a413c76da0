/*
 * sdd_bench - fetches a list of URLs through the public API and says how long it took, as one line of JSON.
 *
 *     make bench          builds build/sdd-bench; bench/README.md says what is measured
 *
 * Everything it does a host could do: the downloader is the library's default but for the limits given.
 */
#define _POSIX_C_SOURCE 200809L
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    const char *workload, *urls, *ca_file;
    int inflight, threads, verify, host, bytes_only, sink;
} arguments = {.workload = "W1", .inflight = 6, .threads = 2};

static struct {
    uint64_t ok, failed, bytes, pixels, checksum;
    double first_frame; /* seconds; 0: none */
} total;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* FNV-1a, 64 bit. */
static uint64_t hash(const uint8_t *bytes, size_t count, uint64_t state)
{
    for (size_t i = 0; i < count; i++)
        state = (state ^ bytes[i]) * UINT64_C(1099511628211);
    return state;
}

static uint64_t hash_image(sdd_image *image)
{
    uint64_t state = UINT64_C(1469598103934665603);
    const uint8_t *row = sdd_image_pixels(image);
    for (int32_t y = 0; y < sdd_image_height(image); y++, row += sdd_image_stride(image))
        state = hash(row, (size_t)sdd_image_width(image) * 4, state);
    return state;
}

/* Thread: the callback thread, or the main thread with --host; one at a time in both. */
static void count(const sdd_result *result)
{
    if (result->error != SDD_OK) {
        if (total.failed++ == 0)
            fprintf(stderr, "%s: %s\n", result->url ? result->url : "(no URL)", result->message);
        return;
    }
    total.ok++;
    total.bytes += (uint64_t)result->metrics->body_bytes;
    if (result->image) {
        total.pixels += (uint64_t)sdd_image_width(result->image) * (uint64_t)sdd_image_height(result->image);
        if (arguments.verify)
            total.checksum ^= hash_image(result->image);
    } else if (arguments.verify) {
        total.checksum ^= hash(sdd_bytes_data(result->bytes), sdd_bytes_size(result->bytes),
                               UINT64_C(1469598103934665603));
    }
}

static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    count(result);
}

/* Thread: as completed(). */
static void previewed(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
    if (total.first_frame == 0)
        total.first_frame = seconds();
}

/* Takes events in batches, as a language binding would. */
static int drain_all(sdd_downloader *downloader, size_t expected)
{
    sdd_event events[64];
    while (expected > 0) {
        size_t taken = 0;
        events[0].struct_size = sizeof(sdd_event);
        if (sdd_wait(downloader, events, 64, -1, &taken) != SDD_OK)
            return -1;
        for (size_t i = 0; i < taken; i++) {
            if (events[i].kind != SDD_EVENT_COMPLETED)
                continue;
            count(events[i].result);
            sdd_image_release(events[i].image);
            sdd_bytes_release(events[i].bytes);
            expected--;
        }
    }
    return 0;
}

/* Reads FILE, one URL a line. */
static char **read_lines(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    char **lines = NULL, *line = NULL;
    size_t capacity = 0;
    if (!file)
        return NULL;
    for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = 0;
        if (length == 0)
            continue;
        char **grown = realloc(lines, (*count + 1) * sizeof *lines);
        if (!grown)
            exit(2);
        lines = grown;
        lines[(*count)++] = strdup(line);
    }
    free(line);
    fclose(file);
    return lines;
}

static int usage(const char *problem)
{
    fprintf(stderr,
            "sdd-bench: %s\n"
            "usage: sdd-bench --workload W1|W2|W3|W4|W5|W6|W7|W8|W8h1|W10 --urls FILE [--inflight N] [--threads N]\n"
            "                 [--cacert PEM] [--verify] [--host] [--sink]\n",
            problem);
    return 2;
}

static int parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(name, "--verify"))
            arguments.verify = 1;
        else if (!strcmp(name, "--host"))
            arguments.host = 1;
        else if (!strcmp(name, "--sink"))
            arguments.sink = 1;
        else if (!value)
            return usage("an option is unknown, or lacks its value");
        else if (!strcmp(name, "--workload"))
            arguments.workload = argv[++i];
        else if (!strcmp(name, "--urls"))
            arguments.urls = argv[++i];
        else if (!strcmp(name, "--cacert"))
            arguments.ca_file = argv[++i];
        else if (!strcmp(name, "--inflight"))
            arguments.inflight = atoi(argv[++i]);
        else if (!strcmp(name, "--threads"))
            arguments.threads = atoi(argv[++i]);
        else
            return usage("an option is unknown, or lacks its value");
    }
    if (!arguments.urls)
        return usage("--urls is missing");
    const char *w = arguments.workload;
    int decodes = !strcmp(w, "W2") || !strcmp(w, "W3") || !strcmp(w, "W4") || !strcmp(w, "W5")
                  || !strcmp(w, "W10");
    int fetches = !strcmp(w, "W1") || !strcmp(w, "W6") || !strcmp(w, "W7") || !strcmp(w, "W8") || !strcmp(w, "W8h1");
    if (!decodes && !fetches)
        return usage("this version does not do that workload");
    arguments.bytes_only = fetches;
    return 0;
}

int main(int argc, char **argv)
{
    int bad = parse(argc, argv);
    size_t url_count = 0;
    char **urls = bad ? NULL : read_lines(arguments.urls, &url_count);
    if (bad)
        return bad;
    if (!urls)
        return usage("the file of URLs cannot be read, or is empty");

    double start = seconds();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = config.max_concurrent_per_host = arguments.inflight;
    config.decode_threads = arguments.threads;
    config.ca_file = arguments.ca_file;
    config.max_body_bytes = INT64_C(1) << 30;
    config.delivery = arguments.host ? SDD_DELIVERY_HOST : SDD_DELIVERY_THREAD;
    sdd_downloader *downloader = NULL;
    sdd_status status = sdd_downloader_create(&config, &downloader);
    if (status != SDD_OK)
        return usage(sdd_status_message(status));

    uint64_t options = arguments.bytes_only ? (uint64_t)SDD_OPTION_BYTES_ONLY : 0;
    sdd_request request = SDD_REQUEST_INIT;
    request.options = options;
    request.completed = arguments.host ? NULL : completed;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    decode.target_width = decode.target_height = 512;
    request.decode = strcmp(arguments.workload, "W4") ? NULL : &decode;
    if (!strcmp(arguments.workload, "W10")) {
        request.options |= SDD_OPTION_PROGRESSIVE_LOAD;
        request.preview = arguments.host ? NULL : previewed;
    }
    request.sink = arguments.sink ? SDD_SINK_DISCARD : SDD_SINK_MEMORY;
    for (size_t i = 0; i < url_count; i++) {
        request.url = urls[i];
        sdd_download_request(downloader, &request, NULL);
    }
    if (arguments.host)
        drain_all(downloader, url_count);
    else
        sdd_wait_idle(downloader, -1);
    double wall = seconds() - start;
    sdd_downloader_destroy(downloader);

    printf("{\"workload\":\"%s\",\"ok\":%llu,\"failed\":%llu,\"bytes\":%llu,\"pixels\":%llu,\"wall_s\":%.6f,"
           "\"first_frame_ms\":%.3f,\"checksum\":\"%016llx\"}\n",
           arguments.workload, (unsigned long long)total.ok, (unsigned long long)total.failed,
           (unsigned long long)total.bytes, (unsigned long long)total.pixels, wall,
           total.first_frame == 0 ? -1 : (total.first_frame - start) * 1e3,
           (unsigned long long)total.checksum);
    for (size_t i = 0; i < url_count; i++)
        free(urls[i]);
    free(urls);
    return total.failed ? 1 : 0;
}

/*
 * sdd_bench - fetches a list of URLs through the public API, and prints the time it took as one line of JSON.
 *
 *     make bench-programs         builds build/sdd-bench; bench/README.md describes the workloads
 *
 * It does nothing that an application could not do: the downloader has all defaults except the limits given.
 */
#define _POSIX_C_SOURCE 200809L
#include "sdd_bench.h"
#include "checksum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

arguments_t arguments = { .workload = "W1", .by = "get", .inflight = 6 };

static struct {
    uint64_t ok, failed, bytes, pixels, checksum, sum;
    double first_frame; /* seconds; 0: none */
} total;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t image_checksum(sdd_image *image)
{
    uint64_t state = CHECKSUM_START;
    const uint8_t *row = sdd_image_pixels(image);
    for (int32_t y = 0; y < sdd_image_height(image); y++, row += sdd_image_stride(image))
        state = checksum(row, (size_t)sdd_image_width(image) * 4, state);
    return state;
}

void count_ok(sdd_image *image, sdd_bytes *bytes)
{
    total.ok++;
    if (bytes) total.bytes += sdd_bytes_size(bytes);
    if (image) total.pixels += (uint64_t)sdd_image_width(image) * (uint64_t)sdd_image_height(image);
    if (!arguments.verify || (!image && !bytes)) return;
    const uint64_t hash = image ? image_checksum(image)
                                : checksum(sdd_bytes_data(bytes), sdd_bytes_size(bytes), CHECKSUM_START);
    total.checksum ^= hash;
    total.sum += hash;
}

void count_failed(const char *url, const char *message)
{
    if (total.failed++ == 0) fprintf(stderr, "%s: %s\n", url ? url : "(no URL)", message);
}

/* Thread: the callback thread, or the main thread with --drain; one at a time in both. */
void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->failure.status != SDD_OK) {
        count_failed(result->url, result->failure.message);
        return;
    }
    count_ok(result->image, result->bytes);
    if (!result->bytes) /* the body went to a sink */
        total.bytes += (uint64_t)result->metrics->body_bytes;
}

/* Thread: as completed(). */
static void previewed(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
    if (total.first_frame == 0) total.first_frame = seconds();
}

/* Takes events in batches, as a language binding would. */
static int drain_all(sdd_downloader *downloader, size_t expected)
{
    sdd_event events[64];
    while (expected > 0) {
        size_t taken = 0;
        events[0].struct_size = sizeof(sdd_event);
        if (sdd_downloader_wait(downloader, events, 64, -1, &taken) != SDD_OK) return -1;
        for (size_t i = 0; i < taken; i++) {
            if (events[i].kind != SDD_EVENT_COMPLETED) continue;
            completed(events[i].result, NULL);
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
    if (!file) return NULL;
    for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
        if (length == 0) continue;
        char **grown = realloc(lines, (*count + 1) * sizeof *lines);
        if (!grown) exit(2);
        lines = grown;
        lines[(*count)++] = strdup(line);
    }
    free(line);
    fclose(file);
    return lines;
}

static int usage(const char *problem)
{
    fprintf(
        stderr,
        "sdd-bench: %s\n"
        "usage: sdd-bench --workload W1|W2|W3|W4|W5|W6|W7|W8|W8h1|W9|W9d|W10 --urls FILE [--inflight N]\n"
        "                 [--threads N] [--network-threads N] [--cacert PEM] [--verify] [--drain] [--sink] [--load] [--isolated]\n"
        "                 [--cache DIR [--prefill] [--by get|query|http|load]]\n",
        problem);
    return 2;
}

/* Sets an option, whose value is the next argument. Returns 0 for an unknown option. */
static int take_option(const char *name, const char *value)
{
    if (!strcmp(name, "--workload"))
        arguments.workload = value;
    else if (!strcmp(name, "--urls"))
        arguments.urls = value;
    else if (!strcmp(name, "--cacert"))
        arguments.ca_file = value;
    else if (!strcmp(name, "--cache"))
        arguments.cache = value;
    else if (!strcmp(name, "--by"))
        arguments.by = value;
    else if (!strcmp(name, "--inflight"))
        arguments.inflight = atoi(value);
    else if (!strcmp(name, "--threads"))
        arguments.threads = atoi(value);
    else if (!strcmp(name, "--network-threads"))
        arguments.network_threads = atoi(value);
    else
        return 0;
    return 1;
}

static int is_one_of(const char *name, const char *list)
{
    const char *found = strstr(list, name);
    size_t length = strlen(name);
    return found && length > 0 && found[length] == ' ' && (found == list || found[-1] == ' ');
}

static int parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--verify"))
            arguments.verify = 1;
        else if (!strcmp(argv[i], "--drain"))
            arguments.drain = 1;
        else if (!strcmp(argv[i], "--sink"))
            arguments.sink = 1;
        else if (!strcmp(argv[i], "--load"))
            arguments.load = 1;
        else if (!strcmp(argv[i], "--isolated"))
            arguments.is_isolated = 1;
        else if (!strcmp(argv[i], "--prefill"))
            arguments.prefill = 1;
        else if (i + 1 == argc || !take_option(argv[i], argv[i + 1]))
            return usage("an option is unknown, or lacks its value");
        else
            i++;
    }
    int is_warm = !strncmp(arguments.workload, "W9", 2);
    arguments.bytes_only = is_one_of(arguments.workload, "W1 W6 W7 W8 W8h1 W9 ");
    if (!arguments.urls) return usage("--urls is missing");
    if (!arguments.bytes_only && !is_one_of(arguments.workload, "W2 W3 W4 W5 W9d W10 "))
        return usage("this version does not do that workload");
    if (!arguments.load && is_warm != (arguments.cache != NULL))
        return usage("--cache is for W9 and W9d, and needed there, and for --load");
    if (!is_one_of(arguments.by, "get query http load ")) return usage("--by get, query, http or load");
    if (arguments.threads == 0) arguments.threads = is_warm && arguments.bytes_only ? 1 : 2;
    return 0;
}

/* Fetches all URLs from the network; with --prefill also stores them in the cache. */
static void fetch_all(sdd_downloader *downloader, char **urls, size_t count)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.options = arguments.bytes_only || arguments.prefill ? (uint64_t)SDD_OPTION_BYTES_ONLY : 0;
    if (arguments.prefill) request.options |= (uint64_t)SDD_OPTION_USE_HTTP_CACHE;
    request.completed = arguments.drain ? NULL : completed;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    decode.target_width = decode.target_height = 512;
    request.decode = strcmp(arguments.workload, "W4") ? NULL : &decode;
    if (!strcmp(arguments.workload, "W10")) {
        if (arguments.drain)
            request.options |= SDD_OPTION_PREVIEW_EVENTS;
        else
            request.preview = previewed;
    }
    request.sink = arguments.sink ? SDD_SINK_DISCARD : SDD_SINK_MEMORY;
    for (size_t i = 0; i < count; i++) {
        request.url = urls[i];
        sdd_downloader_submit(downloader, &request);
    }
    if (arguments.drain)
        drain_all(downloader, count);
    else
        sdd_downloader_idle_wait(downloader, -1);
}

static sdd_status open_cache(sdd_cache **cache)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = arguments.cache;
    return arguments.cache ? sdd_cache_create(&config, cache) : SDD_OK;
}

int main(int argc, char **argv)
{
    int bad = parse(argc, argv);
    size_t url_count = 0;
    char **urls = bad ? NULL : read_lines(arguments.urls, &url_count);
    if (bad) return bad;
    if (!urls) return usage("the file of URLs cannot be read, or is empty");

    double start = seconds();
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    config.limits = &limits;
    config.max_concurrent_downloads = config.max_concurrent_per_host = arguments.inflight;
    config.decode_threads = arguments.threads;
    config.decode_mode = arguments.is_isolated ? SDD_DECODE_ISOLATED : SDD_DECODE_IN_PROCESS;
    network.ca_file = arguments.ca_file;
    network.network_threads = arguments.network_threads;
    limits.max_body_bytes = INT64_C(1) << 30;
    config.delivery = arguments.drain ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD;
    sdd_cache *cache = NULL;
    sdd_downloader *downloader = NULL;
    sdd_status status = open_cache(&cache);
    int needs_none = cache && !arguments.prefill && !arguments.load && !strcmp(arguments.by, "get");
    config.cache = cache;
    if (status == SDD_OK && !needs_none) status = sdd_downloader_create(&config, &downloader);
    if (status != SDD_OK) return usage(sdd_last_error_message());
    if (arguments.load)
        load_all(downloader, cache, urls, url_count);
    else if (cache && !arguments.prefill)
        take_from_cache(downloader, cache, urls, url_count);
    else
        fetch_all(downloader, urls, url_count);
    double wall = seconds() - start;
    if (downloader) sdd_downloader_destroy(downloader);
    sdd_cache_destroy(cache);

    printf("{\"workload\":\"%s\",\"ok\":%llu,\"failed\":%llu,\"bytes\":%llu,\"pixels\":%llu,\"wall_s\":%.6f,"
           "\"first_frame_ms\":%.3f,\"checksum\":\"%016llx\",\"sum\":\"%016llx\"}\n",
           arguments.workload, (unsigned long long)total.ok, (unsigned long long)total.failed,
           (unsigned long long)total.bytes, (unsigned long long)total.pixels, wall,
           total.first_frame == 0 ? -1 : (total.first_frame - start) * 1e3, (unsigned long long)total.checksum,
           (unsigned long long)total.sum);
    for (size_t i = 0; i < url_count; i++) free(urls[i]);
    free(urls);
    return total.failed ? 1 : 0;
}

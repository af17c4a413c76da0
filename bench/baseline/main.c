/*
 * baseline - the work of the benchmark's workloads, written by hand over libcurl, libjpeg and libpng; see baseline.h.
 *
 *     make bench-programs         builds build/bench-baseline
 *
 * It takes the arguments of sdd-bench and prints the same line of JSON.
 */
#define _GNU_SOURCE
#include "baseline.h"
#include "../checksum.h"
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct arguments arguments = { .workload = "W1", .inflight = 6, .threads = 2 };

static struct {
    pthread_mutex_t lock;
    uint64_t ok, failed, bytes, pixels, checksum, sum;
    double start, first_preview; /* seconds; first_preview 0: none */
} total = { .lock = PTHREAD_MUTEX_INITIALIZER };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void give_up(const char *why)
{
    fprintf(stderr, "bench-baseline: %s\n", why);
    exit(2);
}

/* Writes the picture to --pictures, for a comparison that allows for differences of rounding. */
static void write_picture(size_t index, const struct picture *picture)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu-%dx%d.rgba", arguments.pictures, index, picture->width, picture->height);
    FILE *file = fopen(path, "wb");
    const size_t size = (size_t)picture->width * (size_t)picture->height * 4;
    if (!file || fwrite(picture->pixels, 1, size, file) != size || fclose(file)) give_up("--pictures is not writable");
}

void count_ok(const struct body *body, const struct picture *picture)
{
    const uint64_t pixels = picture ? (uint64_t)picture->width * (uint64_t)picture->height : 0;
    uint64_t hash = 0;
    if (arguments.verify && picture)
        hash = checksum(picture->pixels, pixels * 4, CHECKSUM_START);
    else if (arguments.verify && body->bytes)
        hash = checksum(body->bytes, body->size, CHECKSUM_START);
    if (arguments.pictures && picture) write_picture(body->index, picture);
    pthread_mutex_lock(&total.lock);
    total.ok++;
    total.bytes += body->size;
    total.pixels += pixels;
    total.checksum ^= hash;
    total.sum += hash;
    pthread_mutex_unlock(&total.lock);
}

void count_failed(const char *url, const char *why)
{
    pthread_mutex_lock(&total.lock);
    if (total.failed++ == 0) fprintf(stderr, "%s: %s\n", url, why);
    pthread_mutex_unlock(&total.lock);
}

void count_preview(void)
{
    if (total.first_preview == 0) total.first_preview = seconds();
}

/* Returns the lines of FILE without empty ones. */
static char **read_lines(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    if (!file) give_up("the file of URLs cannot be read");
    char **lines = NULL, *line = NULL;
    size_t capacity = 0;
    for (ssize_t length; (length = getline(&line, &capacity, file)) > 0;) {
        line[strcspn(line, "\r\n")] = 0;
        if (!*line) continue;
        lines = realloc(lines, (*count + 1) * sizeof *lines);
        if (!lines) give_up("no memory");
        lines[(*count)++] = strdup(line);
    }
    free(line);
    fclose(file);
    if (*count == 0) give_up("the file of URLs is empty");
    return lines;
}

static const struct {
    const char *name;
    const char **text;
    int *number;
} options[] = {
    { "--workload", &arguments.workload, NULL }, { "--urls", &arguments.urls, NULL },
    { "--cacert", &arguments.ca_file, NULL },    { "--cache", &arguments.cache, NULL },
    { "--pictures", &arguments.pictures, NULL }, { "--inflight", NULL, &arguments.inflight },
    { "--threads", NULL, &arguments.threads },
};

/* Takes an option with a value. Returns 0 if there is none of that name. */
static int take_option(const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(name, options[i].name)) continue;
        if (options[i].text)
            *options[i].text = value;
        else
            *options[i].number = atoi(value);
        return 1;
    }
    return 0;
}

static int is_workload(const char *list)
{
    char name[16];
    snprintf(name, sizeof name, " %s ", arguments.workload);
    return strstr(list, name) != NULL;
}

static void parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--verify"))
            arguments.verify = 1;
        else if (!strcmp(argv[i], "--sink"))
            arguments.sink = 1;
        else if (!strcmp(argv[i], "--prefill"))
            arguments.prefill = 1;
        else if (i + 1 == argc || !take_option(argv[i], argv[i + 1]))
            give_up("an option is unknown, or lacks its value");
        else
            i++;
    }
    if (!is_workload(" W1 W2 W3 W4 W5 W6 W7 W8 W8h1 W9 W9d W10 ")) give_up("--workload W1 to W10, W8h1 or W9d");
    if (!arguments.urls) give_up("--urls is missing");
    if (arguments.inflight < 1 || arguments.threads < 1) give_up("--inflight and --threads are at least 1");
    if (is_workload(" W9 W9d ") && !arguments.cache) give_up("--cache is missing");
    arguments.decodes = !arguments.prefill && is_workload(" W2 W3 W4 W5 W9d ");
    arguments.largest_side = is_workload(" W4 ") ? 512 : 0;
    arguments.makes_previews = is_workload(" W10 ");
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    /* Large blocks stay in the heap, so that the kernel need not clear their pages for each picture. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    size_t count = 0;
    char **urls = read_lines(arguments.urls, &count);

    total.start = seconds();
    if (arguments.decodes) start_decoding();
    if (arguments.cache && !arguments.prefill)
        read_all(urls, count);
    else
        fetch_all(urls, count);
    const double wall = seconds() - total.start;

    printf("{\"workload\":\"%s\",\"ok\":%llu,\"failed\":%llu,\"bytes\":%llu,\"pixels\":%llu,\"wall_s\":%.6f,"
           "\"first_frame_ms\":%.3f,\"checksum\":\"%016llx\",\"sum\":\"%016llx\"}\n",
           arguments.workload, (unsigned long long)total.ok, (unsigned long long)total.failed,
           (unsigned long long)total.bytes, (unsigned long long)total.pixels, wall,
           total.first_preview == 0 ? -1 : (total.first_preview - total.start) * 1e3,
           (unsigned long long)total.checksum, (unsigned long long)total.sum);
    for (size_t i = 0; i < count; i++) free(urls[i]);
    free(urls);
    return total.failed ? 1 : 0;
}

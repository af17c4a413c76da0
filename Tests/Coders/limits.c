/* Holds the decoding of hostile pictures to the limits: prints a line for each file, and fails if the process, with the
 * processes that decode for it, takes more memory or time than sdd_limits says.
 *
 *     limits here|isolated LOADS FILE...
 *
 * Each file is loaded LOADS times at once, under several names, after a small file of its format, so that libraries and
 * processes are there already. The limit on a picture and on all pictures together is 64 MiB, and a frame may take
 * 500 ms of processor time. Allowed are 15 % more, what the process keeps for reuse (see sdd_statistics), and what is not
 * pixels: ALLOWANCE, and the bodies themselves, which have limits of their own; a process that decodes has copies of two.
 *
 * A file's name is FORMAT-TRICK.EXTENSION; FORMAT-small.EXTENSION is the small one. */
#include <sdd/sdd.h>

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MIB = 1 << 20,
    LIMIT = 64 * MIB,
    THREADS = 4,
    /* What libraries make of the structure of a body, stacks, and what malloc keeps. */
    ALLOWANCE = 24 * MIB,
    KEPT = 36 * MIB,
    FRAME_MS = 500,
    /* A call of a library cannot be interrupted, so one frame may take longer; this is for a slow machine. */
    FRAME_ALLOWANCE_MS = 2500
};

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition, sdd_last_error_message()); \
            exit(1); \
        } \
    } while (0)

/* ---- memory, in bytes */

/* Returns a field of a process's status; 0 if it has ended. */
static long field(int process, const char *name)
{
    char path[64], line[256];
    long value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) value = strtol(line + strlen(name), NULL, 10);
    if (file != NULL) fclose(file);
    return value;
}

static int has_helpers;

/* Whether a process runs another program than this one. A new child shares this one's memory until it does. */
static int has_own_memory(int process)
{
    char path[64], its[4096], own[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", process);
    ssize_t length = readlink(path, its, sizeof its), own_length = readlink("/proc/self/exe", own, sizeof own);
    return length > 0 && (length != own_length || memcmp(its, own, (size_t)length) != 0);
}

/* Returns the memory of this process and of those that decode for it. What they share counts once. */
static long memory_now(void)
{
    int self = getpid();
    long own = field(self, "RssAnon:"), shared = field(self, "RssShmem:");
    DIR *processes = has_helpers ? opendir("/proc") : NULL;
    for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
        int process = atoi(entry->d_name);
        if (process <= 0 || field(process, "PPid:") != self || !has_own_memory(process)) continue;
        own += field(process, "RssAnon:");
        long mapped = field(process, "RssShmem:");
        shared = mapped > shared ? mapped : shared;
    }
    if (processes != NULL) closedir(processes);
    return (own + shared) * 1024;
}

static atomic_long highest;
static atomic_int is_watching;

static void *watch(void *data)
{
    const struct timespec pause = { 0, 2000000 };
    while (is_watching) {
        long now = memory_now();
        if (now > highest) highest = now;
        nanosleep(&pause, NULL);
    }
    return data;
}

static long cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- loads */

static _Atomic(sdd_status) last_error;
static atomic_int pictures;
static _Atomic(sdd_image *) animated;

static int32_t frame_count(sdd_image *image)
{
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_image_get_info(image, &info);
    return info.frame_count;
}

static void ended(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->image == NULL) {
        last_error = result->failure.status;
        return;
    }
    pictures++;
    if (frame_count(result->image) > 1 && animated == NULL) {
        sdd_image *none = NULL;
        sdd_image *kept = sdd_image_retain(result->image);
        if (!atomic_compare_exchange_strong(&animated, &none, kept)) sdd_image_release(kept);
    }
}

static void load(sdd_downloader *downloader, const char *file, int count)
{
    char url[4200], real[4096];
    CHECK(realpath(file, real) != NULL);
    last_error = SDD_OK;
    pictures = 0;
    for (int i = 0; i < count; i++) {
        snprintf(url, sizeof url, "file://%s?%d", real, i); /* another URL, or they would share one decode */
        CHECK(sdd_download(downloader, url, 0, NULL, ended, NULL) != 0);
    }
    CHECK(sdd_downloader_idle_wait(downloader, 600000) == SDD_OK);
}

static sdd_downloader *make(int32_t mode)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *made = NULL;
    network.allow_file_urls = 1;
    limits.max_decode_bytes = LIMIT;
    limits.decode_time_ms = FRAME_MS;
    limits.decode_time_ms_per_mib = 1;
    config.network = &network;
    config.limits = &limits;
    config.decode_mode = mode;
    config.decode_threads = mode == SDD_DECODE_ISOLATED ? 2 : THREADS;
    CHECK(sdd_downloader_create(&config, &made) == SDD_OK);
    return made;
}

/* Asks for the last frame of an animation. Returns the processor time that this took here, in milliseconds. */
static long last_frame(void)
{
    sdd_image *image = atomic_exchange(&animated, NULL), *frame = NULL;
    long begin = cpu_ms();
    if (image == NULL) return 0;
    sdd_image_frame(image, frame_count(image) - 1, &frame);
    sdd_image_release(frame);
    sdd_image_release(image);
    return cpu_ms() - begin;
}

static void small_file(const char *file, char *target, size_t size)
{
    const char *name = strrchr(file, '/') + 1, *dash = strchr(name, '-'), *dot = strrchr(name, '.');
    CHECK(dash != NULL && dot != NULL);
    snprintf(target, size, "%.*s-small%s", (int)(dash - file), file, dot);
}

static long size_of(const char *file)
{
    struct stat status;
    CHECK(stat(file, &status) == 0);
    return (long)status.st_size;
}

static int check(int32_t mode, const char *file, int loads)
{
    sdd_downloader *downloader = make(mode);
    char small[4096];
    pthread_t watcher;
    small_file(file, small, sizeof small);
    load(downloader, small, THREADS);
    CHECK(pictures == THREADS);
    sdd_image_release(atomic_exchange(&animated, NULL));
    long before = memory_now(), frame, taken;
    highest = before;
    is_watching = 1;
    CHECK(pthread_create(&watcher, NULL, watch, NULL) == 0);
    load(downloader, file, loads);
    frame = last_frame();
    is_watching = 0;
    pthread_join(watcher, NULL);
    CHECK(sdd_downloader_destroy(downloader) == SDD_OK);
    taken = highest - before;
    int is_over = taken > LIMIT / 100 * 115 + KEPT + ALLOWANCE + (loads + (has_helpers ? 4 : 0)) * size_of(file) ||
                  frame > FRAME_MS / 100 * 115 + FRAME_ALLOWANCE_MS;
    printf("%-28s %-9s %2d of %2d pictures, %-24s %5ld MiB %6ld ms%s\n", strrchr(file, '/') + 1,
           mode == SDD_DECODE_ISOLATED ? "isolated" : "here", (int)pictures, loads,
           pictures == loads ? "" : sdd_status_name(last_error), taken / MIB, frame, is_over ? "  TOO MUCH" : "");
    fflush(stdout);
    return is_over;
}

int main(int count, char **arguments)
{
    int wrong = 0, loads = count > 3 ? atoi(arguments[2]) : 0;
    CHECK(count > 3 && loads > 0);
    int32_t mode = strcmp(arguments[1], "isolated") == 0 ? SDD_DECODE_ISOLATED : SDD_DECODE_IN_PROCESS;
    CHECK(sdd_process_set_decode_memory_limit(LIMIT) == SDD_OK);
    for (int i = 3; i < count; i++) {
        /* SVG is always isolated. */
        has_helpers = mode == SDD_DECODE_ISOLATED || strstr(arguments[i], ".svg") != NULL;
        wrong += check(mode, arguments[i], loads);
    }
    return wrong > 0;
}

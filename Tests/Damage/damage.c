/*
 * damage.c - decodes good, odd and damaged pictures with libsdd, all in one process.
 *
 *     damage damaged FILE...   each as it is, cut at 16 offsets, and 8 times with up to 8 random bytes changed; at full
 *                              and at a small size
 *     damage bombs FILE...     each as it is, and its cost: at full size it must be refused within 50 ms and 16 MB, at
 *                              a small size it may be decoded
 *
 * Milliseconds are processor time. The status is 1 after a hang of 10 s, growth over 512 MB, or a bomb that cost too
 * much; a crash ends the process after naming the file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <sdd/sdd.h>

enum { CUTS = 16, FLIPS = 8, MOST_SECONDS = 10, PATIENCE_SECONDS = 60, MOST_GROWTH_KB = 512 * 1024, MEMORY_LIMIT_MB = 1024 };
enum { BOMB_MS = 50, BOMB_KB = 16 * 1024 };

static char doing[512];  /* for the signal handler */
static char scratch[64]; /* path of the file to decode */
static char scratch_url[80];
static uint64_t decodes, pictures;

/* ------------------------------------------------------------------------------------------- cost */

static long most_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Resets the peak that most_kb() returns. */
static void forget_most(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY);
    if (file < 0 || write(file, "5", 1) != 1) perror("clear_refs");
    close(file);
}

/* Returns the processor time of all threads, so that other programs on a busy machine do not count. */
static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void on_signal(int number)
{
    const char *what = number == SIGALRM ? "\nhangs: " : "\ncrash: ";
    if (write(2, what, 8) < 0 || write(2, doing, strlen(doing)) < 0 || write(2, "\n", 1) < 0) _exit(4);
    unlink(scratch);
    _exit(3);
}

/* --------------------------------------------------------------------------------------- decoding */

static sdd_downloader *make_downloader(int32_t side, int64_t max_pixels)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = &network;
    config.limits = &limits;
    network.allow_file_urls = 1;
    limits.max_pixels = max_pixels;
    sdd_downloader *downloader = NULL;
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.target_width = options.target_height = side;
    if (sdd_downloader_create(&config, &downloader) != SDD_OK || (side > 0 && sdd_downloader_set_decode_options(downloader, &options) != SDD_OK)) abort();
    return downloader;
}

static sdd_status decode(sdd_downloader *downloader)
{
    sdd_image *image = NULL;
    alarm(PATIENCE_SECONDS); /* what takes long on a busy machine is no hang */
    const sdd_status status = sdd_get(downloader, scratch_url, 0, -1, &image, NULL, NULL);
    alarm(0);
    decodes++;
    if (status == SDD_OK) pictures++;
    sdd_image_release(image);
    return status;
}

static void store(const uint8_t *bytes, size_t size)
{
    const int file = open(scratch, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes, size) != (ssize_t)size) abort();
    close(file);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    if (bytes == NULL || fread(bytes, 1, *size, file) != *size) abort();
    fclose(file);
    return bytes;
}

/* ----------------------------------------------------------------------------------------- damage */

static uint32_t next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static sdd_downloader *full, *small;

static void decode_both(const uint8_t *bytes, size_t size)
{
    store(bytes, size);
    decode(full);
    decode(small);
}

static int damage(const char *path)
{
    size_t size = 0;
    uint8_t *bytes = read_file(path, &size);
    if (bytes == NULL) return 0;
    snprintf(doing, sizeof doing, "%s", path);
    decode_both(bytes, size);
    for (int cut = 0; cut < CUTS; cut++) {
        const size_t count = size * (size_t)cut / CUTS;
        snprintf(doing, sizeof doing, "%s, its first %zu bytes", path, count);
        decode_both(bytes, count);
    }
    for (int round = 0; round < FLIPS && size > 0; round++) {
        size_t places[FLIPS];
        uint8_t old[FLIPS];
        int length = snprintf(doing, sizeof doing, "%s, changed:", path);
        for (int i = 0; i <= round; i++) {
            places[i] = next_random() % size;
            old[i] = bytes[places[i]];
            bytes[places[i]] = (uint8_t)next_random();
            if (length < (int)sizeof doing - 40) {
                length += snprintf(doing + length, 40, " %zu:%02x", places[i], bytes[places[i]]);
            }
        }
        decode_both(bytes, size);
        for (int i = round; i >= 0; i--) bytes[places[i]] = old[i];
    }
    free(bytes);
    return 1;
}

static int damage_all(int count, char **paths)
{
    full = make_downloader(0, 1 << 24);
    small = make_downloader(32, 1 << 24);
    forget_most();
    const long before = most_kb();
    const double start = processor_ms();
    int read = 0;
    for (int i = 0; i < count; i++) read += damage(paths[i]);
    const long growth = most_kb() - before;
    printf("%d files, %llu decodes, %llu pictures, %.1f s of work, %ld KB more than at first\n", read,
           (unsigned long long)decodes, (unsigned long long)pictures, (processor_ms() - start) / 1e3, growth);
    sdd_downloader_destroy(full);
    sdd_downloader_destroy(small);
    return read == count && pictures > 0 && growth <= MOST_GROWTH_KB ? 0 : 1;
}

/* ------------------------------------------------------------------------------------------ bombs */

/* The file is read once before, so that reading it does not count. */
static int bomb(const char *name, const char *how, sdd_downloader *downloader, size_t size, double most_ms, long most)
{
    sdd_bytes *bytes = NULL;
    snprintf(doing, sizeof doing, "%s, %s", name, how);
    if (sdd_get(downloader, scratch_url, SDD_OPTION_BYTES_ONLY, -1, NULL, &bytes, NULL) != SDD_OK) abort();
    sdd_bytes_release(bytes);
    forget_most();
    const long before = most_kb();
    const double start = processor_ms();
    const sdd_status status = decode(downloader);
    const double took = processor_ms() - start;
    const long growth = most_kb() - before;
    const int right = took <= most_ms && growth <= most + (long)(size / 1024);
    printf("%s: %s: %s, %.0f ms, %ld KB%s\n", name, how, sdd_status_name(status), took, growth,
           right ? "" : " - TOO MUCH");
    return right;
}

static int bombs(int count, char **paths)
{
    int wrong = 0;
    sdd_downloader *usual = make_downloader(0, 128 << 20), *thumbnails = make_downloader(64, 1LL << 33);
    for (int i = 0; i < count; i++) {
        size_t size = 0;
        uint8_t *bytes = read_file(paths[i], &size);
        if (bytes == NULL) return 1;
        store(bytes, size);
        free(bytes);
        wrong += !bomb(paths[i], "full size", usual, size, BOMB_MS, BOMB_KB);
        wrong += !bomb(paths[i], "64 x 64", thumbnails, size, MOST_SECONDS * 1e3, MOST_GROWTH_KB);
    }
    sdd_downloader_destroy(usual);
    sdd_downloader_destroy(thumbnails);
    return wrong > 0;
}

int main(int count, char **arguments)
{
    const struct rlimit limit = {(rlim_t)MEMORY_LIMIT_MB << 20, (rlim_t)MEMORY_LIMIT_MB << 20};
    const int is_bombs = count > 2 && strcmp(arguments[1], "bombs") == 0;
    if (count < 3 || (!is_bombs && strcmp(arguments[1], "damaged") != 0)) {
        fprintf(stderr, "usage: damage damaged|bombs FILE...\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    setrlimit(RLIMIT_DATA, &limit);
    const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], on_signal);
    snprintf(scratch, sizeof scratch, "/tmp/sdd-damage.%d", (int)getpid());
    snprintf(scratch_url, sizeof scratch_url, "file://%s", scratch);
    const int status = is_bombs ? bombs(count - 2, arguments + 2) : damage_all(count - 2, arguments + 2);
    unlink(scratch);
    return status;
}

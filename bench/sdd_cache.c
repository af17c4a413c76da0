/*
 * sdd_cache - measures the cost of the cache itself, compared with plain files. Prints a line of JSON for each part.
 *
 *     build/sdd-cache [--long] DIR [PART...]      parts: memory, disk, write, many; default: all
 *
 * DIR is made if it is missing, and should be empty. bench/README.md explains the figures.
 */
#define _GNU_SOURCE
#include <sdd/sdd.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENTRY = 20480, KEYS = 1000, THREADS = 8, HITS = 500000, ROUNDS = 9 };

static const char *directory;

static double clock_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void check(sdd_status status, const char *what)
{
    if (status == SDD_OK) return;
    fprintf(stderr, "sdd-cache: %s: %s\n", what, sdd_last_error_message());
    exit(1);
}

static void check_file(int result, const char *what)
{
    if (result >= 0) return;
    perror(what);
    exit(1);
}

/* ---- allocations: this program's functions replace those of the C library, for libsdd too */

static long allocations; /* by all threads, while they are counted */
static int is_counting;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void count_allocation(void)
{
    if (__atomic_load_n(&is_counting, __ATOMIC_RELAXED)) __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
    count_allocation();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    count_allocation();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    count_allocation();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = aligned_alloc(alignment, size);
    return *block ? 0 : 12; /* ENOMEM */
}

/* ---- filled caches */

static sdd_cache *open_cache(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = path;
    config.max_disk_bytes = config.max_disk_age_ms = config.trim_interval_ms = -1; /* no trims */
    sdd_cache *cache = NULL;
    check(sdd_cache_create(&config, &cache), path);
    return cache;
}

static char *key_of(int number, char *place)
{
    snprintf(place, 64, "https://images.example.org/a/path/picture-%06d.jpg", number);
    return place;
}

static sdd_bytes *make_body(size_t size)
{
    unsigned char *memory = malloc(size);
    for (size_t i = 0; i < size; i++) memory[i] = (unsigned char)(i * 2654435761u >> 13);
    sdd_bytes *bytes = sdd_bytes_create(memory, size);
    free(memory);
    return bytes;
}

/* Returns the seconds for each entry. */
static double put_all(sdd_cache *cache, size_t size)
{
    char key[64];
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = key;
    item.bytes = make_body(size);
    item.levels = SDD_CACHE_DISK;
    double start = clock_now(CLOCK_MONOTONIC);
    for (int i = 0; i < KEYS; i++) {
        key_of(i, key);
        check(sdd_cache_put_wait(cache, &item), "sdd_cache_put_wait");
    }
    start = clock_now(CLOCK_MONOTONIC) - start;
    sdd_bytes_release(item.bytes);
    return start / KEYS;
}

/* ---- parts */

/* Thread: one of THREADS. */
static void *hit(void *cache)
{
    char key[64];
    for (int i = 0; i < HITS; i++) {
        sdd_image *image = sdd_cache_memory_image(cache, key_of(i * 7 % KEYS, key));
        if (!image) exit(1);
        sdd_image_release(image);
    }
    return NULL;
}

/* The same work without the cache: the cost of making the keys. */
static double keys_alone(void)
{
    char key[64];
    unsigned sum = 0;
    double start = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < HITS; i++) sum += (unsigned)key_of(i * 7 % KEYS, key)[48];
    start = clock_now(CLOCK_PROCESS_CPUTIME_ID) - start;
    return sum == 1 ? 0 : start / HITS;
}

static void measure_memory(void)
{
    static const unsigned char pixels[16 * 16 * 4];
    char key[64];
    sdd_cache *cache = open_cache("memory");
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = key;
    item.levels = SDD_CACHE_MEMORY;
    for (int i = 0; i < KEYS; i++) {
        key_of(i, key);
        check(sdd_image_create(16, 16, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &item.image), "sdd_image_create");
        check(sdd_cache_put_wait(cache, &item), "sdd_cache_put_wait");
        sdd_image_release(item.image);
    }
    pthread_t threads[THREADS];
    double keys = keys_alone(), wall = clock_now(CLOCK_MONOTONIC), cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < THREADS; i++) check_file(-pthread_create(&threads[i], NULL, hit, cache), "pthread_create");
    __atomic_store_n(&is_counting, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    __atomic_store_n(&is_counting, 0, __ATOMIC_RELAXED);
    wall = clock_now(CLOCK_MONOTONIC) - wall;
    cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("{\"part\":\"memory\",\"threads\":%d,\"hit_us\":%.3f,\"hit_cpu_us\":%.3f,\"allocations\":%ld}\n", THREADS,
           wall / THREADS / HITS * 1e6, (cpu / THREADS / HITS - keys) * 1e6, allocations);
    sdd_cache_destroy(cache);
}

static void get_one(sdd_cache *cache, int number)
{
    char key[64];
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    query.key = key_of(number, key);
    query.wants = SDD_WANT_BYTES;
    sdd_result *result = NULL;
    check(sdd_cache_query_wait(cache, &query, &result), "sdd_cache_query_wait");
    sdd_result_release(result);
}

static void read_plain(int number)
{
    char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/plain/%d", directory, number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    check_file(file, path);
    check_file(fstat(file, &status), path);
    void *memory = malloc((size_t)status.st_size);
    if (read(file, memory, (size_t)status.st_size) != status.st_size) check_file(-1, path);
    close(file);
    free(memory);
}

static void write_plain(int number, const void *body)
{
    char path[4096], name[4096];
    snprintf(path, sizeof path, "%s/plain/.new", directory);
    snprintf(name, sizeof name, "%s/plain/%d", directory, number);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check_file(file, path);
    check_file(write(file, body, ENTRY) == ENTRY ? 0 : -1, path);
    check_file(close(file), path);
    check_file(rename(path, name), name);
}

static double write_all_plain(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/plain", directory);
    mkdir(path, 0700);
    void *body = calloc(1, ENTRY);
    double start = clock_now(CLOCK_MONOTONIC);
    for (int i = 0; i < KEYS; i++) write_plain(i, body);
    start = clock_now(CLOCK_MONOTONIC) - start;
    free(body);
    return start / KEYS;
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* Measures cache and files alternately in each round, and prints medians. */
static void measure_disk(void)
{
    sdd_cache *cache = open_cache("disk");
    put_all(cache, ENTRY);
    write_all_plain();
    double hits[ROUNDS], plain[ROUNDS], ratios[ROUNDS];
    allocations = 0;
    for (int round = -1; round < ROUNDS; round++) {
        double times[3];
        times[0] = clock_now(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < KEYS; i++) read_plain(i);
        times[1] = clock_now(CLOCK_PROCESS_CPUTIME_ID);
        __atomic_store_n(&is_counting, round == 0, __ATOMIC_RELAXED);
        for (int i = 0; i < KEYS; i++) get_one(cache, i);
        __atomic_store_n(&is_counting, 0, __ATOMIC_RELAXED);
        times[2] = clock_now(CLOCK_PROCESS_CPUTIME_ID);
        if (round < 0) /* a warm-up round */
            continue;
        plain[round] = (times[1] - times[0]) / KEYS;
        hits[round] = (times[2] - times[1]) / KEYS;
        ratios[round] = hits[round] / plain[round];
    }
    qsort(hits, ROUNDS, sizeof *hits, compare);
    qsort(plain, ROUNDS, sizeof *plain, compare);
    qsort(ratios, ROUNDS, sizeof *ratios, compare);
    printf("{\"part\":\"disk\",\"bytes\":%d,\"hit_us\":%.2f,\"plain_us\":%.2f,\"ratio\":%.2f,\"allocations\":%.1f}\n",
           ENTRY, hits[ROUNDS / 2] * 1e6, plain[ROUNDS / 2] * 1e6, ratios[ROUNDS / 2], (double)allocations / KEYS);
    sdd_cache_destroy(cache);
}

static void measure_write(void)
{
    sdd_cache *cache = open_cache("write");
    double entry = put_all(cache, ENTRY), plain = write_all_plain();
    printf("{\"part\":\"write\",\"bytes\":%d,\"put_us\":%.1f,\"plain_us\":%.1f,\"ratio\":%.2f}\n", ENTRY, entry * 1e6,
           plain * 1e6, entry / plain);
    sdd_cache_destroy(cache);
}

/* ---- many entries: those of KEYS are read, the others are only counted */

/* Makes links, some thousands to each file, because file systems limit their number. */
static void fill(const char *name, long count)
{
    char file[4096], path[4096];
    for (long i = KEYS; i < count; i++) {
        if (i % 10000 == 0 || i == KEYS) {
            snprintf(file, sizeof file, "%s/%s/%016llx%016lx", directory, name, i * 0x9e3779b97f4a7c15ull, i);
            int made = open(file, O_WRONLY | O_CREAT, 0600);
            check_file(made, file);
            close(made);
            continue;
        }
        snprintf(path, sizeof path, "%s/%s/%016llx%016lx", directory, name, i * 0x9e3779b97f4a7c15ull, i);
        if (link(file, path) != 0 && access(path, F_OK) != 0) check_file(-1, path);
    }
    /* The cache did not make these files: it counts them only by looking at every file. */
    snprintf(path, sizeof path, "%s/%s/ledger", directory, name);
    remove(path);
}

/* Returns the seconds until the cache is open and the number of its entries is known. */
static double open_and_count(const char *name, long expected, sdd_cache **cache)
{
    sdd_cache_statistics statistics = SDD_CACHE_STATISTICS_INIT;
    double start = clock_now(CLOCK_MONOTONIC);
    *cache = open_cache(name);
    check(sdd_cache_get_statistics_wait(*cache, &statistics), "sdd_cache_get_statistics_wait");
    start = clock_now(CLOCK_MONOTONIC) - start;
    if (statistics.disk_count != expected)
        fprintf(stderr, "sdd-cache: %lld entries, not %ld\n", (long long)statistics.disk_count, expected);
    return start;
}

static void measure_many(long count)
{
    char name[32];
    snprintf(name, sizeof name, "many-%ld", count);
    sdd_cache *cache = open_cache(name);
    put_all(cache, 1024);
    sdd_cache_destroy(cache);
    fill(name, count);
    double rebuilt = open_and_count(name, count, &cache);
    sdd_cache_destroy(cache);
    double opened = open_and_count(name, count, &cache), lookups[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        double start = clock_now(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < KEYS; i++) get_one(cache, i);
        if (round >= 0) lookups[round] = (clock_now(CLOCK_PROCESS_CPUTIME_ID) - start) / KEYS;
    }
    qsort(lookups, ROUNDS, sizeof *lookups, compare);
    printf("{\"part\":\"many\",\"entries\":%ld,\"open_s\":%.4f,\"rebuild_s\":%.4f,\"lookup_us\":%.2f}\n", count, opened,
           rebuilt, lookups[ROUNDS / 2] * 1e6);
    sdd_cache_destroy(cache);
}

int main(int argc, char **argv)
{
    int is_long = argc > 1 && !strcmp(argv[1], "--long");
    if (argc < 2 + is_long) {
        fprintf(stderr, "usage: sdd-cache [--long] DIR [memory|disk|write|many]...\n");
        return 2;
    }
    char **parts = argv + 2 + is_long;
    static char *all[] = { "memory", "disk", "write", "many", NULL };
    directory = parts[-1];
    mkdir(directory, 0700);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (char **part = *parts ? parts : all; *part; part++) {
        if (!strcmp(*part, "memory")) measure_memory();
        if (!strcmp(*part, "disk")) measure_disk();
        if (!strcmp(*part, "write")) measure_write();
        for (long count = 1000; !strcmp(*part, "many") && count <= (is_long ? 1000000 : 100000); count *= 10)
            measure_many(count);
    }
    return 0;
}

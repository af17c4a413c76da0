/*
 * drivers.h - for the drivers of this folder: the program starts itself again as a worker, which reads commands from
 * its standard input and reports on its standard output; and checks of the files in a cache's directory.
 */
#ifndef DRIVERS_H
#define DRIVERS_H

#include "../C/caches.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Returns `small` unless SDD_TEST_LONG is set. */
static inline int amount(int small, int large) { return getenv("SDD_TEST_LONG") ? large : small; }

static inline int64_t microseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint32_t random_state = 1;
static inline uint32_t next_random(uint32_t below)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 17, random_state ^= random_state << 5;
    return random_state % below;
}

/* ------------------------------------------------------------------------------------------ workers */

typedef struct worker {
    pid_t pid;
    int orders;
    FILE *said;
} worker;

extern char **environ;

/* Starts a worker with these arguments, which NULL ends. With `variables` of the form "NAME=VALUE", calls.so is loaded
   into it. */
static inline worker start_worker(const char *const *words, const char *const *variables)
{
    static char preload[600];
    const char *argv[16] = { "worker" }, *environment[512];
    int to[2], from[2], count = 0;
    for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
    if (variables) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", setting("SDD_TEST_CALLS"));
        environment[count++] = preload;
        for (int i = 0; variables[i]; i++) environment[count++] = variables[i];
    }
    for (int i = 0; environ[i] && count < 511; i++) environment[count++] = environ[i];
    environment[count] = NULL;
    CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0) _exit(120);
        execve("/proc/self/exe", (char *const *)argv, (char *const *)environment);
        _exit(121);
    }
    close(to[0]), close(from[1]);
    return (worker){ pid, to[1], fdopen(from[0], "r") };
}

#define START(variables, ...) start_worker((const char *const[]){ __VA_ARGS__, NULL }, variables)
#define VARIABLES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Returns the worker's next line without its line end, or NULL when the worker has ended. Valid until the next call. */
static inline const char *hear(worker *w)
{
    static char line[512];
    if (fgets(line, sizeof line, w->said) == NULL) return NULL;
    line[strcspn(line, "\n")] = 0;
    return line;
}

static inline void order_worker(worker *w, const char *text)
{
    CHECK(write(w->orders, text, strlen(text)) == (ssize_t)strlen(text) && write(w->orders, "\n", 1) == 1);
}

/* Waits until the worker has ended, and returns its status as waitpid(2) does. */
static inline int end_of(worker *w)
{
    int status;
    CHECK(waitpid(w->pid, &status, 0) == w->pid);
    close(w->orders);
    fclose(w->said);
    return status;
}

#define CHECK_ENDS_WELL(w) \
    do { \
        int ended_ = end_of(w); \
        if (ended_ != 0) FAIL("worker: status %d, signal %d", WEXITSTATUS(ended_), WTERMSIG(ended_)); \
    } while (0)

/* Used by the worker. */
static inline void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

static inline void wait_for_order(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) == NULL) _exit(122);
}

/* Returns a function of calls.so, or NULL if it is not loaded. */
static inline void (*calls_function(const char *name))(void)
{
    void (*function)(void);
    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    return function;
}

static inline void arm_calls(void)
{
    void (*arm)(void) = calls_function("calls_arm");
    if (arm) arm();
}

/* ------------------------------------------------------------------------------------ files in a folder */

typedef struct tally {
    int64_t bytes;
    int entries, temporaries;
} tally;

static inline int is_entry_name(const char *name) { return strspn(name, "0123456789abcdef") == 32; }

static inline void count_folder(const char *folder, tally *sum, int is_of_entries)
{
    DIR *directory = opendir(folder);
    if (directory == NULL) return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char path[1200];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, "new.", 4) == 0) sum->temporaries++;
        if (!is_of_entries || !is_entry_name(entry->d_name) || lstat(path, &status) != 0) continue;
        sum->entries++;
        sum->bytes += (int64_t)status.st_blocks * 512;
    }
    closedir(directory);
}

static inline tally tally_of(const char *folder)
{
    tally sum = { 0, 0, 0 };
    char parts[800];
    snprintf(parts, sizeof parts, "%s/parts", folder);
    count_folder(folder, &sum, 1);
    count_folder(parts, &sum, 0);
    return sum;
}

/* Checks that one trim removes all leftovers, and that the counts are right. */
static inline void check_trimmed(sdd_cache *cache, const char *folder)
{
    CHECK_STATUS(sdd_cache_flush_wait(cache, -1), SDD_OK);
    CHECK_STATUS(sdd_cache_trim_disk_wait(cache), SDD_OK);
    tally there = tally_of(folder);
    sdd_cache_statistics counts = counts_of(cache);
    CHECK_EQUAL(there.temporaries, 0);
    CHECK_EQUAL(counts.disk_count, there.entries);
    CHECK_EQUAL(counts.disk_bytes, there.bytes);
}

/* Returns the path of the only part of a body, or an empty string. */
static inline void path_of_part(const char *folder, char *path, size_t capacity)
{
    char parts[800];
    snprintf(parts, sizeof parts, "%s/parts", folder);
    DIR *directory = opendir(parts);
    CHECK(directory != NULL);
    *path = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        if (strstr(entry->d_name, ".part")) snprintf(path, capacity, "%s/%s", parts, entry->d_name);
    closedir(directory);
}

/* Waits for the part, which is written after the request's end without a notification. */
static inline void wait_for_part(const char *folder, char *path, size_t capacity, int64_t size)
{
    time_t end = time(NULL) + 10;
    struct stat status = { 0 };
    do {
        if (time(NULL) > end) FAIL("no part of %lld bytes, but %lld", (long long)size, (long long)status.st_size);
        sched_yield();
        path_of_part(folder, path, capacity);
    } while (*path == 0 || stat(path, &status) != 0 || status.st_size < size);
}

/* ---------------------------------------------------------------------------------- numbered entries */

enum { LONGEST_ENTRY = 300000 };

static inline const char *key_of(int number)
{
    static __thread char key[64];
    snprintf(key, sizeof key, "https://host.example/%d.png", number);
    return key;
}

/* Makes bytes that contain their number, version and size; all other bytes follow from these. */
static inline sdd_bytes *numbered_bytes(uint32_t number, uint32_t version, uint32_t size)
{
    uint32_t *words = malloc(size / 4 * 4);
    CHECK(words != NULL && size >= 12);
    words[0] = number, words[1] = version, words[2] = size;
    for (uint32_t i = 3; i < size / 4; i++) words[i] = (words[i - 1] ^ i) * 16777619u + version;
    sdd_bytes *bytes = sdd_bytes_create(words, size / 4 * 4);
    free(words);
    CHECK(bytes != NULL);
    return bytes;
}

static inline int is_numbered(sdd_bytes *bytes, uint32_t number)
{
    uint32_t words[3];
    if (sdd_bytes_size(bytes) < sizeof words) return 0;
    memcpy(words, sdd_bytes_data(bytes), sizeof words);
    if (words[0] != number || words[2] / 4 * 4 != sdd_bytes_size(bytes)) return 0;
    sdd_bytes *expected = numbered_bytes(words[0], words[1], words[2]);
    int is_same = memcmp(sdd_bytes_data(bytes), sdd_bytes_data(expected), sdd_bytes_size(bytes)) == 0;
    sdd_bytes_release(expected);
    return is_same;
}

static inline sdd_status put_numbered(sdd_cache *cache, int number, uint32_t version, uint32_t size)
{
    sdd_bytes *bytes = numbered_bytes((uint32_t)number, version, size);
    sdd_cache_item item = item_of(key_of(number), NULL, bytes, SDD_CACHE_DISK);
    sdd_status status = sdd_cache_put_wait(cache, &item);
    sdd_bytes_release(bytes);
    return status;
}

/* Returns the bytes of a key on disk, or NULL for a miss. */
static inline sdd_bytes *bytes_on_disk(sdd_cache *cache, const char *key)
{
    sdd_cache_query_options query = query_of(key, SDD_CACHE_DISK, SDD_WANT_BYTES);
    sdd_bytes *bytes = NULL;
    sdd_status status = find(cache, &query, NULL, &bytes, NULL, NULL);
    if (status != SDD_OK && status != SDD_ERROR_NOT_CACHED) FAIL("%s: %s", key, sdd_status_name(status));
    CHECK((status == SDD_OK) == (bytes != NULL));
    return bytes;
}

/* Whether the entry is there; if it is, it must be whole. */
static inline int check_numbered(sdd_cache *cache, int number)
{
    sdd_bytes *bytes = bytes_on_disk(cache, key_of(number));
    int is_there = bytes != NULL;
    if (is_there && !is_numbered(bytes, (uint32_t)number)) FAIL("entry %d has other bytes", number);
    sdd_bytes_release(bytes);
    return is_there;
}

/* Returns the target of an absolute URL, which seeds its pattern. */
static inline const char *target_of(const char *url)
{
    const char *slash = strchr(strstr(url, "://") + 3, '/');
    return slash ? slash : "/";
}

static inline int is_body_of(sdd_bytes *bytes, const char *url, size_t size)
{
    return bytes && sdd_bytes_size(bytes) == size && is_pattern(sdd_bytes_data(bytes), size, target_of(url));
}

/* Makes a downloader that uses a cache for everything. */
static inline sdd_downloader *downloader_with(sdd_cache *cache)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = cache;
    config.http_cache = 1;
    return make_downloader(&config);
}

#endif

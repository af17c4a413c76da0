/* Makes one load for `hops.py`, which follows its steps: first what must be there before, then, once all other threads
 * sleep, a line "begin" into the file SDD_TRACE, then the load.
 *
 *     walk cold|disk|memory|cancel URL DIRECTORY
 */
#include <sdd/sdd.h>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ended[2]; /* a pipe that gets the status of each end */
static int begun[2]; /* a pipe that gets a byte for each start of a transfer, and for its response */

static void completed(const sdd_result *result, void *user_data)
{
    const sdd_status status = result->failure.status;
    (void)user_data;
    if (write(ended[1], &status, sizeof status) != sizeof status) abort();
}

/* Returns the number of other threads that run. */
static int running(void)
{
    char path[300], line[300];
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) abort();
    for (struct dirent *task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *file = fopen(path, "r");
        const char *name_end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        if (name_end != NULL && name_end[2] != 'S') count++;
        if (file != NULL) fclose(file);
    }
    closedir(tasks);
    return count;
}

/* A thread that looks for work takes what was submitted on its way: the threads have to have found none before. */
static void wait_for_rest(void)
{
    for (int quiet = 0; quiet < 100; quiet++) {
        if (running() > 0) quiet = 0;
        sched_yield();
    }
}

/* Tells of the start of a transfer, with a count of 0. */
static void progressed(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)token, (void)expected, (void)url, (void)user_data;
    if (received == 0 && write(begun[1], "b", 1) != 1) abort();
}

static void begin(void)
{
    wait_for_rest();
    const char *path = getenv("SDD_TRACE");
    const int file = path ? open(path, O_WRONLY | O_APPEND) : -1;
    if (file < 0 || write(file, "begin\n", 6) != 6) abort();
    close(file);
}

static sdd_token submit(sdd_loader *loader, const char *url)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.completed = completed;
    request.progress = progressed;
    return sdd_loader_submit(loader, &request);
}

static sdd_status wait_for_end(void)
{
    sdd_status status;
    if (read(ended[0], &status, sizeof status) != sizeof status) abort();
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4 || pipe(ended) != 0 || pipe(begun) != 0) return 2;
    const char *how = argv[1], *url = argv[2];
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config loader_config = SDD_LOADER_CONFIG_INIT;
    sdd_cache *cache = NULL;
    sdd_downloader *downloader = NULL;
    sdd_loader *loader = NULL;
    cache_config.directory = argv[3];
    if (sdd_cache_create(&cache_config, &cache) != SDD_OK) return 3;
    if (sdd_downloader_create(NULL, &downloader) != SDD_OK) return 3;
    loader_config.cache = cache;
    loader_config.downloader = downloader;
    if (sdd_loader_create(&loader_config, &loader) != SDD_OK) return 3;

    sdd_status expected = SDD_OK;
    if (strcmp(how, "disk") == 0 || strcmp(how, "memory") == 0) {
        submit(loader, url);
        if (wait_for_end() != SDD_OK || sdd_cache_flush_wait(cache, -1) != SDD_OK) return 4;
        if (strcmp(how, "disk") == 0) sdd_cache_clear_wait(cache, SDD_CACHE_MEMORY);
        begin();
        submit(loader, url);
    } else if (strcmp(how, "cancel") == 0) {
        const sdd_token token = submit(loader, url);
        char byte;
        /* The server holds the response back. */
        if (read(begun[0], &byte, 1) != 1) return 4;
        begin();
        if (sdd_cancel(token) != SDD_OK) return 4;
        expected = SDD_ERROR_CANCELLED;
    } else {
        begin();
        submit(loader, url);
    }
    const sdd_status status = wait_for_end();
    if (status != expected) {
        fprintf(stderr, "walk: %s ended with %s\n", how, sdd_status_name(status));
        return 1;
    }
    sdd_loader_destroy(loader);
    sdd_downloader_destroy(downloader);
    sdd_cache_destroy(cache);
    return 0;
}

/* Many processes want one URL at once: one downloads it, whichever of them is killed or stopped meanwhile, and none
   hangs. */
#include "drivers.h"

enum { WORKERS = 16, SIZE = 60000 };

/* ------------------------------------------------------------------------------------------- workers */

/* Loads a URL and takes its bytes. */
static void load_once(sdd_downloader *downloader, sdd_cache *cache, record *r, const char *url)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.downloader = downloader;
    config.cache = cache;
    sdd_loader *loader = NULL;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    CHECK(sdd_loader_submit(loader, &request) != 0);
    record_wait(r);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
}

/* Runs one download or load, and prints "status right milliseconds". */
static void fetch_once(const char *how, const char *folder, const char *url, const char *wait_ms)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    OWNED_RECORD r = RECORD_INIT;
    char line[64];
    config.directory = folder;
    config.share_wait_ms = atoi(wait_ms);
    sdd_cache *cache = make_cache(&config);
    int is_load = strcmp(how, "load") == 0;
    sdd_downloader *downloader = is_load ? make_downloader(NULL) : downloader_with(cache);
    say("ready");
    wait_for_order();
    int64_t began = milliseconds_now();
    if (is_load)
        load_once(downloader, cache, &r, url);
    else
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    snprintf(line, sizeof line, "%d %d %d", (int)r.error, is_body_of(r.bytes, url, SIZE),
             (int)(milliseconds_now() - began));
    say(line);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

/* The workers of a case, and the folder of their caches. */
static worker workers[WORKERS];
static char folder[512];

#define RUN_IN_FOLDER(function) \
    do { \
        snprintf(folder, sizeof folder, "%s", new_folder()); \
        RUN(function); \
        remove_folder(folder); \
    } while (0)

static void start_all_to(const char *how, const char *url, const char *wait_ms)
{
    for (int i = 0; i < WORKERS; i++) workers[i] = START(NULL, how, folder, url, wait_ms);
    for (int i = 0; i < WORKERS; i++) CHECK_TEXT(hear(&workers[i]), "ready");
    for (int i = 0; i < WORKERS; i++) order_worker(&workers[i], "go");
}

static void start_all(const char *url, const char *wait_ms)
{
    start_all_to("fetch", url, wait_ms);
}

/* Checks the worker's result and returns how long it took, in milliseconds. */
static int hear_end(worker *w, int expected)
{
    const char *said = hear(w);
    int status, is_right, took;
    if (said == NULL) FAIL("a worker ended with %d", end_of(w));
    CHECK(sscanf(said, "%d %d %d", &status, &is_right, &took) == 3);
    CHECK_STATUS(status, expected);
    if (expected == SDD_OK && !is_right) FAIL("a worker got another body");
    return took;
}

static int longest_of(int expected)
{
    int longest = 0;
    for (int i = 0; i < WORKERS; i++) {
        if (workers[i].pid == 0) continue;
        int took = hear_end(&workers[i], expected);
        if (took > longest) longest = took;
        CHECK_ENDS_WELL(&workers[i]);
    }
    return longest;
}

/* Returns the process that holds the only lock. */
static pid_t owner_of_lock(void)
{
    char path[1200];
    long owner = 0;
    snprintf(path, sizeof path, "%s/locks", folder);
    DIR *directory = opendir(path);
    CHECK(directory != NULL);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        if (strstr(entry->d_name, ".lock") == NULL) continue;
        CHECK_EQUAL(owner, 0);
        snprintf(path, sizeof path, "%s/locks/%s", folder, entry->d_name);
        FILE *file = fopen(path, "r");
        CHECK(file != NULL && fscanf(file, "%ld", &owner) == 1);
        fclose(file);
    }
    closedir(directory);
    CHECK(owner > 0);
    return (pid_t)owner;
}

static long requests_to(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/hold/%s", name);
    return requests_of(path);
}

static worker *worker_with(pid_t pid)
{
    for (int i = 0; i < WORKERS; i++)
        if (workers[i].pid == pid) return &workers[i];
    FAIL("the owner, %d, is not a living worker; %ld requests", (int)pid, requests_to("killed"));
}

static void kill_owner(void)
{
    worker *owner = worker_with(owner_of_lock());
    kill(owner->pid, SIGKILL);
    end_of(owner);
    owner->pid = 0;
}

/* Returns a path on which the server pauses in the middle of the body. */
static const char *held(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "/hold/%s?after=20000&size=%d&header=Cache-Control:%%20max-age=600", name, SIZE);
    return path;
}

static void wait_for_request_to(const char *name, int count)
{
    char path[64];
    snprintf(path, sizeof path, "/hold/%s", name);
    wait_for_requests(path, count);
}

/* -------------------------------------------------------------------------------------------- cases */

static void one_downloads_for_all(void)
{
    start_all(at(held("all")), "60000");
    wait_for_request_to("all", 1);
    release("all");
    longest_of(SDD_OK);
    CHECK_EQUAL(requests_to("all"), 1);
}

/* For loads the cache's own rules apply, whatever HTTP says. */
static void one_loads_for_all(void)
{
    char url[300];
    snprintf(url, sizeof url, "%s", atf("/hold/loads?after=20000&size=%d&header=Cache-Control:%%20no-store", SIZE));
    start_all_to("load", url, "60000");
    wait_for_request_to("loads", 1);
    release("loads");
    longest_of(SDD_OK);
    CHECK_EQUAL(requests_to("loads"), 1);
}

/* Starts one process, which is alone until its load has begun, and then the others. */
static void start_one_first(const char *url, const char *request)
{
    workers[0] = START(NULL, "load", folder, url, "60000");
    CHECK_TEXT(hear(&workers[0]), "ready");
    order_worker(&workers[0], "go");
    wait_for_request_to(request, 1);
    for (int i = 1; i < WORKERS; i++) workers[i] = START(NULL, "load", folder, url, "60000");
    for (int i = 1; i < WORKERS; i++) CHECK_TEXT(hear(&workers[i]), "ready");
    for (int i = 1; i < WORKERS; i++) order_worker(&workers[i], "go");
}

/* A process that is alone takes no claim; those that come later find its download all the same. */
static void one_that_began_alone_loads_for_all(void)
{
    char url[300];
    snprintf(url, sizeof url, "%s", at(held("alone")));
    start_one_first(url, "alone");
    release("alone");
    longest_of(SDD_OK);
    CHECK_EQUAL(requests_to("alone"), 1);
}

static void the_next_process_continues_when_one_that_began_alone_is_killed(void)
{
    char url[300];
    snprintf(url, sizeof url, "%s", at(held("first")));
    start_one_first(url, "first");
    kill(workers[0].pid, SIGKILL);
    end_of(&workers[0]);
    workers[0].pid = 0;
    wait_for_request_to("first", 2);
    int64_t began = milliseconds_now();
    release("first");
    longest_of(SDD_OK);
    if (milliseconds_now() - began > 10000) FAIL("the others hung");
    CHECK_EQUAL(requests_to("first"), 2);
}

/* The others do not wait for one another when the first has nothing to store. */
static void no_process_waits_long_for_one_that_began_alone(void)
{
    start_one_first(at("/hold/gone?status=404"), "gone");
    int64_t began = milliseconds_now();
    release("gone");
    longest_of(SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    if (milliseconds_now() - began > 3000) FAIL("the others waited for one another");
    CHECK(requests_to("gone") <= WORKERS);
}

static void the_next_process_continues_when_one_is_killed(void)
{
    start_all(at(held("killed")), "60000");
    for (int i = 1; i <= 4; i++) {
        wait_for_request_to("killed", i);
        if (i < 4) kill_owner();
    }
    int64_t began = milliseconds_now();
    release("killed");
    longest_of(SDD_OK);
    if (milliseconds_now() - began > 10000) FAIL("the others hung");
    CHECK_EQUAL(requests_to("killed"), 4);
}

static void no_process_hangs_when_one_is_stopped(void)
{
    start_all(at(held("stopped")), "300");
    wait_for_request_to("stopped", 1);
    worker *owner = worker_with(owner_of_lock()), stopped = *owner;
    kill(stopped.pid, SIGSTOP);
    owner->pid = 0;
    release("stopped");
    int longest = longest_of(SDD_OK);
    if (longest > 6000) FAIL("one waited for %d ms, not 300", longest);
    kill(stopped.pid, SIGCONT);
    hear_end(&stopped, SDD_OK);
    CHECK_ENDS_WELL(&stopped);
    CHECK(requests_to("stopped") <= WORKERS);
}

/* A response that may not be stored cannot be shared: every process asks for itself, and not one after the other, which
   would take 16 * 400 ms. */
static void check_not_shared(const char *path, sdd_status expected)
{
    start_all(at(path), "60000");
    int longest = longest_of(expected);
    if (longest > 3000) FAIL("one waited for %d ms", longest);
    printf("%s: %d ms\n", path, longest);
}

static void no_process_waits_for_an_unstorable_response(void)
{
    char path[200];
    snprintf(path, sizeof path, "/ok?delay=400&size=%d&header=Cache-Control:%%20no-store", SIZE);
    check_not_shared(path, SDD_OK);
    CHECK(requests_of("/ok") <= WORKERS);
}

static void no_process_waits_for_a_missing_url(void)
{
    check_not_shared("/status/404?delay=400", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK(requests_of("/status/404") <= WORKERS);
    check_not_shared("/status/404?delay=400&header=Cache-Control:%20no-store", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    check_not_shared("/reset?delay=400", SDD_ERROR_CONNECTION_LOST);
}

int main(int count, char **words)
{
    start_watchdog();
    if (count == 5) return fetch_once(words[1], words[2], words[3], words[4]), 0;
    for (int i = 0; i < amount(1, 10); i++) {
        order("/reset-stats");
        RUN_IN_FOLDER(one_downloads_for_all);
        RUN_IN_FOLDER(one_loads_for_all);
        RUN_IN_FOLDER(one_that_began_alone_loads_for_all);
        RUN_IN_FOLDER(the_next_process_continues_when_one_that_began_alone_is_killed);
        RUN_IN_FOLDER(no_process_waits_long_for_one_that_began_alone);
        RUN_IN_FOLDER(the_next_process_continues_when_one_is_killed);
        RUN_IN_FOLDER(no_process_hangs_when_one_is_stopped);
        RUN_IN_FOLDER(no_process_waits_for_an_unstorable_response);
        RUN_IN_FOLDER(no_process_waits_for_a_missing_url);
    }
    return 0;
}

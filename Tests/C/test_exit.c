/* exit() while transfers run: the exit handlers of libcurl and OpenSSL free what the network thread uses, so the
   library must have ended that thread before. Each try is a process of its own, which exits a little later. */
#include "calendar.h"
#include "record.h"
#include "server.h"

#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

extern char **environ;

static atomic_int news;

static void heard(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)token, (void)received, (void)expected, (void)url, (void)user_data;
    atomic_fetch_add(&news, 1);
}

static void ended(const sdd_result *result, void *user_data)
{
    (void)result, (void)user_data;
    atomic_fetch_add(&news, 1);
}

/* Exits in the middle of TLS handshakes and bodies: after `wanted` callbacks, or at once. Half of the processes create a
   cache before a downloader. */
static _Noreturn void child(int wanted)
{
    if (wanted % 2) CHECK(sdd_cache_shared() != NULL);
    uint64_t options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES;
    for (int i = 0; i < 64; i++) {
        char path[64];
        snprintf(path, sizeof path, "/png/rgb8.png?%d", i);
        sdd_download(NULL, address_at("SDD_TEST_TLS_HTTP1", path), options, heard, ended, NULL);
    }
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = "stored and left";
    item.bytes = sdd_bytes_create("bytes", 5);
    for (int i = 0; i < 64; i++) sdd_cache_put(NULL, NULL, &item);
    sdd_bytes_release(item.bytes);
    while (atomic_load(&news) < wanted) sdd_downloader_idle_wait(NULL, 1);
    exit(0);
}

static int has_news(void) { return atomic_load(&news) > 0; }

static int count_watches(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks != NULL);
    for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) {
        char path[300], name[16] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) continue;
        if (fgets(name, sizeof name, file) != NULL) count += strcmp(name, "sdd-watch\n") == 0;
        fclose(file);
    }
    closedir(tasks);
    return count;
}

static void the_watch_has_ended(void)
{
    if (!settles(count_watches, 0)) _exit(9);
}

static void exit_in_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)transfer, (void)request, (void)user_data;
    CHECK(settles(count_watches, 1)); /* it gives itself its name when it first runs */
    exit(3);
}

static void cancel_nothing(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

/* Exits on sdd-net, which then cannot be waited for, nor the thread that ends after it. */
static _Noreturn void child_on_sdd_net(void)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_bytes *bytes = NULL;
    atexit(the_watch_has_ended); /* called after the library's handler, which is registered later */
    sdd_downloader *downloader = make_downloader(NULL);
    transport.scheme = "archive";
    transport.start = exit_in_start;
    transport.cancel = cancel_nothing;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    sdd_get(downloader, "archive:x", SDD_OPTION_BYTES_ONLY, -1, NULL, &bytes, NULL);
    FAIL("the process goes on");
}

static void stay_in_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)transfer, (void)request, (void)user_data;
    atomic_fetch_add(&news, 1);
    for (;;) pause();
}

/* Exits while sdd-net does not return, and the calendar is set back: the exit waits for it a few seconds all the same. */
static _Noreturn void child_set_back(void)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    transport.scheme = "archive";
    transport.start = stay_in_start;
    transport.cancel = cancel_nothing;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    sdd_download(downloader, "archive:x", SDD_OPTION_BYTES_ONLY, NULL, ended, NULL);
    CHECK(settles(has_news, 1));
    atomic_store(&calendar_is_set_back, 1);
    exit(4);
}

static void exits_with(int wanted, const char *program, const char *how)
{
    char *arguments[] = { (char *)program, (char *)how, NULL };
    pid_t process;
    int status;
    CHECK(posix_spawn(&process, program, NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(process, &status, 0) == process);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted) FAIL("%s: it ended with status %#x", how, status);
}

static void exits_cleanly_whatever_is_under_way(const char *program)
{
    for (int wanted = 0; wanted < scaled(120); wanted++) {
        char text[16];
        snprintf(text, sizeof text, "%d", wanted);
        exits_with(0, program, text);
    }
}

int main(int argc, char **argv)
{
    start_watchdog();
    /* Memory that a process has not freed when it exits in the middle is not a leak. */
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    if (argc > 1 && strcmp(argv[1], "net") == 0) child_on_sdd_net();
    if (argc > 1 && strcmp(argv[1], "set back") == 0) child_set_back();
    if (argc > 1) child(atoi(argv[1]));
    current_case = "exits_on_sdd_net";
    exits_with(3, argv[0], "net");
    current_case = "exits_in_time_when_the_calendar_is_set_back";
    exits_with(4, argv[0], "set back");
    current_case = "exits_cleanly_whatever_is_under_way";
    exits_cleanly_whatever_is_under_way(argv[0]);
    return 0;
}

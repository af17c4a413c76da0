/* SDD_LOG, for applications without a log: lines on standard error; a slow callback; an exit too early. Each case runs
   this program again as a process of its own, whose standard error keeps each write separate. */
#include "record.h"
#include "server.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { MOST_LINES = 50 };
static char lines[MOST_LINES][5000];
static int line_count;
static const char *program;

/* ---------------------------------------------------------------------------------- the processes */

/* One request succeeds; one fails, with a password and a token in its URL. */
static void one_of_two(void)
{
    OWNED_RECORD good = RECORD_INIT, bad = RECORD_INIT;
    fetch(NULL, &good, at("/file/png/rgb8.png?token=secret"), 0);
    char url[200];
    snprintf(url, sizeof url, "http://user:password@%s/status/404?token=secret", strstr(at(""), "127"));
    fetch(NULL, &bad, url, 0);
    CHECK_ENDED(&good, SDD_OK, 0);
    CHECK_EQUAL(bad.error, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
}

static atomic_int noticed;

static void count_notices(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    CHECK_EQUAL(notice->kind, SDD_EVENT_LOG);
    atomic_fetch_add(&noticed, 1);
}

static void with_a_log_of_its_own(void)
{
    CHECK_STATUS(sdd_downloader_set_log(NULL, SDD_LOG_DEBUG, count_notices, NULL, NULL), SDD_OK);
    one_of_two();
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    CHECK(noticed > 0);
    /* Now the downloader has no log, so SDD_LOG applies. */
    CHECK_STATUS(sdd_downloader_set_log(NULL, SDD_LOG_NONE, NULL, NULL, NULL), SDD_OK);
    int before = noticed;
    OWNED_RECORD bad = RECORD_INIT;
    fetch(NULL, &bad, at("/status/410"), 0);
    CHECK_EQUAL(bad.error, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK_EQUAL(noticed, before);
}

static void keep_the_thread(const sdd_result *result, void *user_data)
{
    struct timespec begin, now;
    (void)result;
    (void)user_data;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        sched_yield();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 1100);
}

static void two_slow_callbacks(void)
{
    for (int i = 0; i < 2; i++) CHECK(sdd_download(NULL, at("/ok"), SDD_OPTION_BYTES_ONLY, NULL, keep_the_thread, NULL) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
}

static char told[500];

static void keep_notice(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    CHECK(notice->kind == SDD_EVENT_LOG && notice->level == SDD_LOG_WARNING && notice->token != 0);
    CHECK_TEXT(told, "");
    snprintf(told, sizeof told, "%s", notice->failure.message);
}

static void two_slow_callbacks_with_a_log(void)
{
    CHECK_STATUS(sdd_downloader_set_log(NULL, SDD_LOG_WARNING, keep_notice, NULL, NULL), SDD_OK);
    two_slow_callbacks();
    /* The message about the slow callback is queued after the second end; this request comes after the message. */
    OWNED_RECORD r = RECORD_INIT;
    fetch(NULL, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK(strncmp(told, "A callback (completed) kept its thread for 1.", 45) == 0);
}

static void never_told(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
}

static void exit_too_early(void)
{
    sdd_downloader *own = NULL;
    CHECK_STATUS(sdd_downloader_create(NULL, &own), SDD_OK);
    CHECK(sdd_download(own, at("/hold/never"), SDD_OPTION_BYTES_ONLY, NULL, never_told, NULL) != 0);
    CHECK(sdd_load(NULL, at("/hold/never?1"), 0, NULL, never_told, NULL) != 0);
    CHECK(sdd_load(NULL, at("/hold/never?2"), 0, NULL, never_told, NULL) != 0);
}

/* A program continues when nothing reads its standard error. */
static void without_a_reader(void)
{
    int ends[2];
    signal(SIGPIPE, SIG_DFL);
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    close(ends[0]);
    close(ends[1]);
    one_of_two();
    exit_too_early();
}

/* Nor does it wait for a reader. */
static void with_a_full_pipe(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
    CHECK(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    while (write(ends[1], "x", 1) == 1) {}
    CHECK(fcntl(ends[1], F_SETFL, 0) == 0);
    one_of_two();
    exit_too_early();
}

/* A program that closes descriptor 2 finds no line of the log in what gets this number afterwards. */
static void with_a_connection_in_its_place(void)
{
    int ends[2];
    char byte;
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    CHECK(close(2) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ends[0] == 2);
    fetch(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(r.error, SDD_OK);
    CHECK(recv(ends[1], &byte, 1, MSG_DONTWAIT) < 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} processes[] = {
    { "one_of_two", one_of_two },
    { "with_a_log_of_its_own", with_a_log_of_its_own },
    { "two_slow_callbacks", two_slow_callbacks },
    { "two_slow_callbacks_with_a_log", two_slow_callbacks_with_a_log },
    { "exit_too_early", exit_too_early },
    { "without_a_reader", without_a_reader },
    { "with_a_full_pipe", with_a_full_pipe },
    { "with_a_connection_in_its_place", with_a_connection_in_its_place },
};

/* ------------------------------------------------------------------------------------- the checks */

/* Runs a process with or without SDD_LOG; `lines` gets its output, one line for each write. */
static pid_t run(const char *name, const char *level)
{
    int ends[2], status;
    CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    pid_t process = fork();
    CHECK(process >= 0);
    if (process == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        if (level) setenv("SDD_LOG", level, 1);
        else unsetenv("SDD_LOG");
        execl(program, program, name, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    ssize_t size;
    for (line_count = 0; (size = read(ends[0], lines[line_count], sizeof lines[0] - 1)) > 0; line_count++) {
        lines[line_count][size] = 0;
        CHECK(line_count + 1 < MOST_LINES && lines[line_count][size - 1] == '\n');
    }
    close(ends[0]);
    CHECK(waitpid(process, &status, 0) == process);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) FAIL("%s: wait status %d, %s", name, status, lines[0]);
    for (int i = 0; i < line_count; i++) {
        char start[40];
        snprintf(start, sizeof start, "libsdd[%d]: ", (int)process);
        if (strncmp(lines[i], start, strlen(start)) != 0) FAIL("%s: %s", name, lines[i]);
        CHECK(strchr(lines[i], '\n') == lines[i] + strlen(lines[i]) - 1);
        if (strstr(lines[i], "password") || strstr(lines[i], "secret")) FAIL("%s: a secret: %s", name, lines[i]);
    }
    return process;
}

static int lines_with(const char *text)
{
    int count = 0;
    for (int i = 0; i < line_count; i++) count += strstr(lines[i], text) != NULL;
    return count;
}

CASE(nothing_is_written_without_sdd_log)
{
    run("one_of_two", NULL);
    CHECK_EQUAL(line_count, 0);
    run("one_of_two", "");
    CHECK_EQUAL(line_count, 0);
    run("exit_too_early", NULL);
    CHECK_EQUAL(line_count, 0);
    run("two_slow_callbacks", NULL);
    CHECK_EQUAL(line_count, 0);
}

CASE(each_level_has_its_lines)
{
    run("one_of_two", "error");
    CHECK_EQUAL(line_count, 0);
    run("one_of_two", "warning");
    CHECK_EQUAL(line_count, 0);
    run("one_of_two", "info");
    CHECK_EQUAL(line_count, 1);
    CHECK(lines_with("]: info: http://127.0.0.1:") == 1 && lines_with("/status/404: Failed: ") == 1);
    run("one_of_two", "debug");
    CHECK(lines_with("]: debug: ") >= 3 && lines_with("]: info: ") == 1 && lines_with("/file/png/rgb8.png: ") >= 2);
}

CASE(an_unknown_level_is_reported_once)
{
    run("one_of_two", "all\n");
    CHECK_EQUAL(line_count, 1);
    CHECK(lines_with("SDD_LOG: \"all?\" is none of error, warning, info, debug.") == 1);
}

CASE(the_applications_log_comes_first)
{
    run("with_a_log_of_its_own", "debug");
    CHECK(lines_with("/status/404") == 0 && lines_with("rgb8") == 0 && lines_with("/status/410: ") >= 1);
}

CASE(a_slow_callback_is_reported_once)
{
    run("two_slow_callbacks", "warning");
    CHECK_EQUAL(line_count, 1);
    CHECK(lines_with("warning: A callback (completed) kept its thread for 1.") == 1);
    run("two_slow_callbacks", "error");
    CHECK_EQUAL(line_count, 0);
    run("two_slow_callbacks_with_a_log", "debug");
    CHECK_EQUAL(line_count, 0);
}

CASE(an_exit_too_early_is_reported)
{
    run("exit_too_early", "warning");
    CHECK_EQUAL(line_count, 2);
    CHECK(lines_with("warning: The process exits with 1 request still under way") == 1);
    CHECK(lines_with("warning: The process exits with 2 requests still under way") == 1);
    run("exit_too_early", "error");
    CHECK_EQUAL(line_count, 0);
}

CASE(standard_error_needs_no_reader)
{
    run("without_a_reader", "debug");
    CHECK_EQUAL(line_count, 0);
    run("with_a_full_pipe", "debug");
    CHECK_EQUAL(line_count, 0);
}

CASE(what_takes_the_place_of_standard_error_gets_no_line)
{
    run("with_a_connection_in_its_place", "debug");
}

int main(int count, char **arguments)
{
    start_watchdog();
    program = arguments[0];
    for (size_t i = 0; count == 2 && i < sizeof processes / sizeof *processes; i++) {
        if (strcmp(arguments[1], processes[i].name) != 0) continue;
        current_case = processes[i].name;
        processes[i].run();
        return 0;
    }
    return run_cases();
}

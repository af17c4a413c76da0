/* Helpers of isolated decoding whose application ends, or waits for them no longer. Whatever they do at that moment,
   nothing of them is left two seconds later. */
#include "isolated.h"
#include "misbehaving_coder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>

/* ------------------------------------------------------------------------- the processes of a program */

static char program[1100];

/* Gives a program a name of its own, by which its processes are found. */
static void set_program(const char *target)
{
    snprintf(program, sizeof program, "%s/%s", setting("SDD_TEST_OBJECTS"), "a_decoder_to_be_counted");
    (void)unlink(program);
    CHECK(symlink(target, program) == 0);
    CHECK(setenv("SDD_DECODER", program, 1) == 0);
}

static void set_real_program(void)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/../lib/sdd-decoder", setting("SDD_TEST_OBJECTS"));
    set_program(path);
}

static void set_false_program(const char *word)
{
    char target[1024], link[1100];
    snprintf(target, sizeof target, "%s/false_decoder", setting("SDD_TEST_OBJECTS"));
    snprintf(link, sizeof link, "%s_%s", target, word);
    CHECK(symlink(target, link) == 0 || errno == EEXIST);
    snprintf(program, sizeof program, "%s", link);
    CHECK(setenv("SDD_DECODER", program, 1) == 0);
}

/* Counts the processes of the program, whoever is their parent. */
static int is_of_program(pid_t pid)
{
    char path[300], text[1200] = "";
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    int is = fread(text, 1, sizeof text - 1, file) > 0 && strcmp(text, program) == 0;
    fclose(file);
    return is;
}

/* Whether the kernel is to kill a process at the end of its application: a signal is asked for on its end of the pipe. */
static int is_followed(pid_t pid)
{
    char path[300], line[200];
    unsigned flags = 0;
    /* SDDHELPER_LIFE is 4. */
    snprintf(path, sizeof path, "/proc/%d/fdinfo/4", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) (void)sscanf(line, "flags: %o", &flags);
    fclose(file);
    return (flags & O_ASYNC) != 0;
}

static int count(int follow_alone)
{
    int number = 0;
    DIR *folder = opendir("/proc");
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        number += pid > 0 && is_of_program(pid) && (!follow_alone || is_followed(pid));
    }
    closedir(folder);
    return number;
}

static int processes(void) { return count(0); }
static int followed_processes(void) { return count(1); }

/* Waits until a function counts a process of the program. */
static void await(int (*number)(void))
{
    for (int turn = 0; number() == 0; turn++) {
        CHECK(turn < 6000);
        poll(NULL, 0, 10);
    }
}

/* ----------------------------------------------------------------------------- applications that end */

enum moment { IDLE, AT_WORK, ASLEEP, STARTS, BUSY_AT_START, MOMENTS };
enum way { IS_KILLED, EXITS_AT_ONCE, RETURNS, ABORTS_ITSELF, RUNS_ANOTHER, HAS_A_CHILD, WAYS };

/* Brings a helper to a moment of its life. */
static void begin(enum moment moment, record *r)
{
    char path[1024];
    config_groups groups;
    sdd_downloader_config config = isolated(&groups);
    config.decode_threads = 1;
    groups.limits.decode_time_ms = 1000000;
    if (moment == STARTS) set_false_program("asleep");
    if (moment == BUSY_AT_START) set_false_program("busy");
    snprintf(path, sizeof path, "%s/misbehaving.so", setting("SDD_TEST_OBJECTS"));
    if (moment == AT_WORK || moment == ASLEEP) CHECK_STATUS(sdd_process_load_coder_wait(path), SDD_OK);
    sdd_downloader *downloader = make_downloader(&config);
    if (moment == IDLE) {
        fetch_good(downloader);
    } else {
        char url[64];
        snprintf(url, sizeof url, "data:,EVIL%%%02x", moment == ASLEEP ? SLEEPS : LOOPS);
        record_submit(downloader, r, moment > ASLEEP ? at("/file/png/rgb8.png") : url, 0);
    }
    /* Between its start and the request for the signal there is a moment, which is not long but may fall on an
       application that ends, and only sdd-decoder itself can make up for it. */
    await(moment == STARTS || moment == BUSY_AT_START ? followed_processes : processes);
}

/* The application: it is ready when it has written the number of the child that it leaves, or 0. */
static void be_an_application(enum moment moment, enum way way, int end)
{
    static record r = RECORD_INIT;
    pid_t child = 0;
    alarm(0);
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    begin(moment, &r);
    if (way == HAS_A_CHILD && (child = fork()) == 0) {
        (void)prctl(PR_SET_PDEATHSIG, 0);
        for (;;) pause();
    }
    CHECK(write(end, &child, sizeof child) == sizeof child);
    switch (way) {
    case EXITS_AT_ONCE: _exit(0);
    case RETURNS: exit(0);
    case ABORTS_ITSELF: signal(SIGABRT, SIG_DFL), abort();
    case RUNS_ANOTHER: execl("/bin/true", "true", (char *)NULL); _exit(1);
    default: for (;;) pause();
    }
}

static void an_application_ends_at(enum moment moment, enum way way)
{
    int ends[2], status;
    pid_t left = 0, application;
    if (moment == STARTS) set_false_program("asleep");
    else if (moment == BUSY_AT_START) set_false_program("busy");
    else set_real_program();
    CHECK(pipe(ends) == 0);
    application = fork();
    if (application == 0) be_an_application(moment, way, ends[1]);
    CHECK(application > 0 && close(ends[1]) == 0);
    if (read(ends[0], &left, sizeof left) != sizeof left) FAIL("the application failed at moment %d", moment);
    if (way == IS_KILLED || way == HAS_A_CHILD) CHECK(kill(application, SIGKILL) == 0);
    CHECK(waitpid(application, &status, 0) == application);
    int64_t begin = milliseconds_now();
    if (!settles(processes, 0)) FAIL("moment %d, way %d: %d helpers live", moment, way, processes());
    /* Two seconds on a machine that does nothing else. */
    CHECK(milliseconds_now() - begin < 10000);
    if (left > 0) CHECK(kill(left, SIGKILL) == 0);
    CHECK(close(ends[0]) == 0);
}

CASE(nothing_outlives_the_application)
{
    int count = scaled(MOMENTS * WAYS);
    for (int i = 0; i < count; i++) an_application_ends_at(i % MOMENTS, i / MOMENTS % WAYS);
}

/* A thread that has started a helper ends; the helper is another's, too, and lives on. */
static void *fetch_on_a_thread(void *downloader)
{
    fetch_good(downloader);
    return NULL;
}

CASE(the_thread_that_started_it_ends)
{
    pid_t first[MOST_HELPERS], later[MOST_HELPERS];
    pthread_t thread;
    set_real_program();
    OWNED_DOWNLOADER downloader = isolated_downloader(1);
    OWNED_RECORD r = RECORD_INIT;
    OWNED_IMAGE frame = NULL;
    fetch(downloader, &r, at("/file/frames/pillow.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(helpers(first), 1);
    CHECK(pthread_create(&thread, NULL, fetch_on_a_thread, downloader) == 0 && pthread_join(thread, NULL) == 0);
    CHECK_STATUS(sdd_image_frame(r.image, 1, &frame), SDD_OK);
    CHECK_EQUAL(helpers(later), 1);
    CHECK_EQUAL(first[0], later[0]);
}

/* ----------------------------------------------------------------------------- nobody waits any more */

/* Calls that must not wait for a helper take a moment; those that wait for it, the time in which it is killed. */
static void check_time(int64_t begin, const char *what)
{
    int64_t time = milliseconds_now() - begin;
    if (time > 15000) FAIL("%s took %lld ms", what, (long long)time);
}

/* A helper that is stopped reads nothing. Cancelling pictures that it has begun does not wait for it. */
CASE(a_stopped_helper_holds_up_nothing)
{
    enum { COUNT = 300 };
    static record records[COUNT];
    pid_t found[MOST_HELPERS];
    set_real_program();
    sdd_downloader *downloader = isolated_downloader(2);
    fetch_good(downloader);
    int count = helpers(found);
    CHECK(count >= 1);
    for (int i = 0; i < count; i++) CHECK(kill(found[i], SIGSTOP) == 0);
    for (int i = 0; i < COUNT; i++) {
        records[i] = (record)RECORD_INIT;
        const char *url = atf("/file/large/progressive.jpg?stopped=%d", i);
        submit_with_previews(downloader, &records[i], url);
    }
    int64_t begin = milliseconds_now();
    CHECK_STATUS(sdd_downloader_cancel_all(downloader), SDD_OK);
    check_time(begin, "sdd_downloader_cancel_all()");
    for (int i = 0; i < COUNT; i++) {
        record_wait(&records[i]);
        record_clear(&records[i]);
    }
    begin = milliseconds_now();
    destroy(downloader);
    check_time(begin, "sdd_downloader_destroy()");
    CHECK(settles(processes, 0));
}

/* The helper of a picture that nobody waits for ends, whatever it does, and its thread decodes the next one. */
CASE(a_cancel_ends_the_helper)
{
    static const char *const words[] = { "hangs", "naps", "loops", "asleep", "busy" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        OWNED_RECORD r = RECORD_INIT;
        set_false_program(words[i]);
        sdd_downloader *downloader = isolated_downloader(1);
        sdd_token token = record_submit(downloader, &r, at("/file/png/rgb8.png"), 0);
        await(processes);
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&r);
        CHECK_EQUAL(r.error, SDD_ERROR_CANCELLED);
        if (!settles(processes, 0)) FAIL("%s: the helper lives", words[i]);
        record_clear(&r);
        record_submit(downloader, &r, at("/file/png/rgb8.png"), 0);
        await(processes);
        int64_t begin = milliseconds_now();
        destroy(downloader);
        check_time(begin, words[i]);
        record_wait(&r);
        CHECK(settles(processes, 0));
    }
}

/* What idle helpers keep counts among the memory of all pictures, and they end when a picture waits for some. */
CASE(idle_helpers_give_way)
{
    config_groups groups;
    record records[2] = { RECORD_INIT, RECORD_INIT };
    sdd_downloader_config config = config_over(&groups);
    set_real_program();
    OWNED_DOWNLOADER isolated = isolated_downloader(1);
    fetch_good(isolated);
    CHECK_EQUAL(processes(), 1);
    CHECK_STATUS(sdd_process_set_decode_memory_limit(8 << 20), SDD_OK);
    /* Its pictures wait for their delivery, so that the second has no room. */
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_DOWNLOADER waiting = make_downloader(&config);
    for (int i = 0; i < 2; i++) record_submit(waiting, &records[i], atf("/file/png/rgb8.png?waits=%d", i), 0);
    CHECK(settles(processes, 0));
    CHECK_STATUS(sdd_downloader_idle_wait(waiting, -1), SDD_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
    fetch_good(isolated);
    CHECK_STATUS(sdd_process_set_decode_memory_limit(0), SDD_OK);
}

int main(void) { return run_cases(); }

/* Forks while another thread uses the library for the first time: the Swift runtime makes types then, with locks of its
   own, and a child must not find one of them held. Each first use needs a process of its own. */
#include "record.h"
#include "server.h"

#include <stdatomic.h>
#include <sys/wait.h>

enum { PROCESSES = 60, FORKS = 25 };

static atomic_int has_ended;

static void *use(void *context)
{
    record r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    destroy(downloader);
    atomic_store(&has_ended, 1);
    return context;
}

/* The child of a thread that uses the library, with a limit of time. */
static void begin_child(int uses)
{
    alarm((unsigned)atoi(getenv("SDD_TEST_SECONDS") ? getenv("SDD_TEST_SECONDS") : "60"));
    if (uses) (void)use(NULL);
    _exit(0);
}

/* Forks again and again while the library is used for the first time. */
static int fork_meanwhile(int turn)
{
    pid_t children[FORKS];
    int count = 0, failures = 0, status;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
    for (volatile int i = 0; i < turn * 1500; i++) {}
    while (count < FORKS && !atomic_load(&has_ended)) {
        pid_t child = fork();
        if (child == 0) begin_child(count % 5 == 0);
        CHECK(child > 0);
        children[count++] = child;
    }
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < count; i++) {
        CHECK(waitpid(children[i], &status, 0) == children[i]);
        failures += status != 0;
    }
    return failures;
}

CASE(first_uses_while_another_thread_forks)
{
    int count = scaled(PROCESSES), status;
    for (int turn = 0; turn < count; turn++) {
        pid_t child = fork();
        if (child == 0) _exit(fork_meanwhile(turn));
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        if (status != 0) FAIL("%d children hung or failed in turn %d", WEXITSTATUS(status), turn);
    }
}

int main(void) { return run_cases(); }

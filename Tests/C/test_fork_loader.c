/* Forks in the constructor of a shared object, which runs with the lock of the system's loader, while another thread uses
   the library for the first time, and thereby calls the loader. Neither waits for the other for ever, nor does the
   child. Each first use needs a process of its own. */
#include "calendar.h"
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

enum { PROCESSES = 40 };

static pthread_barrier_t together;

/* Whether the constructor forks while another thread begins libcurl, not just about then. */
static int forks_in_first_downloader;
static pthread_barrier_t both_inside;

/* Called in the constructor of forking.so. */
void fork_in_constructor(void);
void fork_in_constructor(void)
{
    int status;
    if (forks_in_first_downloader) (void)pthread_barrier_wait(&both_inside);
    pid_t child = fork();
    if (child == 0) _exit(0);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Called by libsdd in place of libcurl's, which calls the loader in some of its builds; this one always does. */
int curl_global_init_mem(long flags, void *take, void *give, void *resize, void *copy, void *clear)
{
    int (*next)(long, void *, void *, void *, void *, void *);
    if (forks_in_first_downloader) (void)pthread_barrier_wait(&both_inside);
    *(void **)&next = dlsym(RTLD_NEXT, "curl_global_init_mem");
    return next(flags, take, give, resize, copy, clear);
}

static void *load_object(void *context)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/forking.so", setting("SDD_TEST_OBJECTS"));
    (void)pthread_barrier_wait(&together);
    CHECK(dlopen(path, RTLD_NOW) != NULL);
    return context;
}

/* Decodes a WebP, for which a coder is installed. */
static void *use_installed_coder(void *context)
{
    static const char webp[] = "RIFF\0\0\0\0WEBPVP8 ";
    sdd_image *image = NULL;
    (void)pthread_barrier_wait(&together);
    CHECK_STATUS(sdd_image_decode(webp, sizeof webp - 1, NULL, &image), SDD_OK);
    sdd_image_release(image);
    return context;
}

static void *use_downloader(void *context)
{
    sdd_downloader *downloader = NULL;
    (void)pthread_barrier_wait(&together);
    CHECK_STATUS(sdd_downloader_create(NULL, &downloader), SDD_OK);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
    return context;
}

static int use_while_a_constructor_forks(void *(*use)(void *))
{
    pthread_t threads[2];
    alarm((unsigned)atoi(getenv("SDD_TEST_SECONDS") ? getenv("SDD_TEST_SECONDS") : "60"));
    CHECK(pthread_barrier_init(&together, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&both_inside, NULL, 2) == 0);
    CHECK(pthread_create(&threads[0], NULL, load_object, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, use, NULL) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}

static void run_often(void *(*use)(void *))
{
    int count = scaled(PROCESSES), status;
    for (int turn = 0; turn < count; turn++) {
        pid_t child = fork();
        if (child == 0) _exit(use_while_a_constructor_forks(use));
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        if (status != 0) FAIL("turn %d: status %d", turn, status);
    }
}

CASE(the_first_use_of_installed_coders) { run_often(use_installed_coder); }

CASE(the_first_downloader) { run_often(use_downloader); }

/* A fork waits a second for the first downloader, by a clock that nobody sets. */
CASE(the_first_downloader_when_the_calendar_is_set_back)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        forks_in_first_downloader = 1;
        atomic_store(&calendar_is_set_back, 1);
        _exit(use_while_a_constructor_forks(use_downloader));
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (status != 0) FAIL("status %d", status);
}

int main(void)
{
    char path[1024];
    start_watchdog();
    snprintf(path, sizeof path, "%s/coders", setting("SDD_TEST_OBJECTS"));
    CHECK(setenv("SDD_CODER_PATH", path, 1) == 0);
    return run_cases();
}

/* fork(): in the child NULL stands for new shared objects. The parent has used its own before, or uses them for the
   first time just then; children load a hundred pictures and fork themselves. */
#include "record.h"
#include "server.h"

#include <stdatomic.h>
#include <sys/wait.h>

enum { PICTURES = 100 };

static sdd_downloader *parents_downloader;
static sdd_loader *parents_loader;
static sdd_cache *parents_cache;
static sdd_token parents_token;

static void count_pictures(const sdd_result *result, void *user_data)
{
    if (result->failure.status != SDD_OK) FAIL("%s: %s", result->url, result->failure.message);
    CHECK_EQUAL(sdd_image_width(result->image), 19);
    atomic_fetch_add((atomic_int *)user_data, 1);
}

/* Some of the pictures are cached by then; one of three loads is for a new picture. */
static void load_pictures(int count)
{
    static atomic_int loaded;
    loaded = 0;
    for (int i = 0; i < count; i++) {
        const char *url =
            i % 3 ? atf("/file/png/rgb8.png?%d", i) : atf("/file/png/rgb8.png?%d&of=%d", i, (int)getpid());
        CHECK(sdd_load(NULL, url, 0, NULL, count_pictures, &loaded) != 0);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    CHECK_EQUAL(loaded, count);
    CHECK_STATUS(sdd_cache_flush_wait(NULL, -1), SDD_OK);
}

static void check_child(pid_t process)
{
    int status;
    CHECK(process > 0);
    while (waitpid(process, &status, 0) < 0) CHECK(errno == EINTR);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) FAIL("the child ended with wait status %d", status);
}

/* ------------------------------------------------------------------------------------ new objects */

static void remember(void)
{
    parents_downloader = sdd_downloader_shared();
    parents_loader = sdd_loader_shared();
    parents_cache = sdd_cache_shared();
    CHECK(parents_downloader != NULL && parents_loader != NULL && parents_cache != NULL);
}

static void the_parents_are_dead(void)
{
    CHECK_STATUS(sdd_set_header(parents_downloader, "X", "y"), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_downloader_idle_wait(parents_downloader, -1), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_loader_cancel_all(parents_loader), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_cache_flush_wait(parents_cache, -1), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_downloader_destroy(parents_downloader), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_loader_destroy(parents_loader), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_cache_destroy(parents_cache), SDD_ERROR_FORKED);
    CHECK_STATUS(sdd_cancel(parents_token), SDD_ERROR_NOT_FOUND);
}

/* The shared objects are made on first use, stay the same, and cannot be destroyed. */
static void nulls_are_new(void)
{
    sdd_downloader *downloader = sdd_downloader_shared();
    sdd_loader *loader = sdd_loader_shared();
    sdd_cache *cache = sdd_cache_shared();
    CHECK(downloader != NULL && downloader != parents_downloader && downloader == sdd_downloader_shared());
    CHECK(loader != NULL && loader != parents_loader && loader == sdd_loader_shared());
    CHECK(cache != NULL && cache != parents_cache && cache == sdd_cache_shared());
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_ERROR_INVALID_ARGUMENT);
}

/* Settings of the parent's shared downloader do not carry over to the child's. */
static void nothing_is_inherited(void)
{
    sdd_cookies *cookies = NULL;
    CHECK_STATUS(sdd_get_header(NULL, "X-Parent", NULL, 0, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(sdd_downloader_is_suspended(NULL), 0);
    CHECK_STATUS(sdd_downloader_get_cookies(NULL, &cookies), SDD_OK);
    CHECK_EQUAL(sdd_cookies_count(cookies), 0);
    sdd_cookies_release(cookies);
    CHECK_EQUAL(transfers_of(NULL), 0);
}

static void begin_child(void)
{
    alarm(60);
    the_parents_are_dead();
    nulls_are_new();
    nothing_is_inherited();
    load_pictures(PICTURES);
    the_parents_are_dead();
    CHECK_STATUS(sdd_set_header(NULL, "X-Child", "yes"), SDD_OK);
}

static void a_child_and_its_child(void)
{
    pid_t process = fork();
    if (process == 0) {
        begin_child();
        remember();
        parents_token = sdd_download(NULL, at("/hold/child"), 0, NULL, count_pictures, NULL);
        CHECK(parents_token != 0);
        pid_t second = fork();
        if (second == 0) {
            CHECK_STATUS(sdd_get_header(NULL, "X-Child", NULL, 0, NULL), SDD_ERROR_NOT_FOUND);
            begin_child();
            _exit(0);
        }
        check_child(second);
        exit(0); /* exit handlers see the child's objects alone */
    }
    check_child(process);
}

CASE(in_a_child_null_is_new)
{
    record held = RECORD_INIT;
    sdd_cookie cookie = SDD_COOKIE_INIT;
    load_pictures(PICTURES);
    remember();
    cookie.name = cookie.value = "x";
    cookie.domain = "example.org";
    CHECK_STATUS(sdd_set_header(NULL, "X-Parent", "yes"), SDD_OK);
    CHECK_STATUS(sdd_downloader_set_cookie(NULL, &cookie), SDD_OK);
    record_submit(NULL, &held, at("/hold/parent?size=3"), SDD_OPTION_BYTES_ONLY);
    parents_token = held.token;
    CHECK_STATUS(sdd_downloader_suspend(NULL), SDD_OK);
    a_child_and_its_child();
    a_child_and_its_child();
    CHECK_STATUS(sdd_downloader_resume(NULL), SDD_OK);
    CHECK(sdd_downloader_shared() == parents_downloader && sdd_loader_shared() == parents_loader);
    release("parent");
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    CHECK_ENDED(&held, SDD_OK, 0);
    record_clear(&held);
    load_pictures(10);
}

static void fork_inside(const sdd_result *result, void *user_data)
{
    pid_t process = fork();
    if (process == 0) {
        parents_token = result->token;
        begin_child();
        _exit(0);
    }
    check_child(process);
    count_pictures(result, user_data);
}

CASE(in_a_child_forked_inside_a_callback_too)
{
    atomic_int forked = 0;
    CHECK(sdd_load(NULL, at("/file/png/rgb8.png?inside"), 0, NULL, fork_inside, &forked) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    CHECK_EQUAL(forked, 1);
}

/* Several children share one directory at a time: each finds what it has loaded itself, and what the others have
   loaded. */
CASE(children_side_by_side)
{
    pid_t processes[4];
    for (int i = 0; i < 4; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            begin_child();
            _exit(0);
        }
    }
    load_pictures(PICTURES);
    for (int i = 0; i < 4; i++) check_child(processes[i]);
}

/* ------------------------------------------------------------------- forks in the middle of things */

static atomic_int stops;

static void *load_always(void *number)
{
    atomic_int loaded = 0;
    int count = 0;
    do {
        for (int i = 0; i < 10; i++, count++) {
            const char *url = atf("/file/png/rgb8.png?%s=%d&of=%d", (const char *)number, count, (int)getpid());
            CHECK(sdd_load(NULL, url, 0, NULL, count_pictures, &loaded) != 0);
        }
        CHECK_STATUS(sdd_downloader_idle_wait(NULL, -1), SDD_OK);
    } while (!stops);
    CHECK_EQUAL(loaded, count);
    return NULL;
}

/* No lock that a thread of the parent or of the library holds at the fork may stay locked in the child. */
static void fork_while_others_load(int forks, int turns)
{
    pthread_t threads[2];
    stops = 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, load_always, i ? "b" : "a");
    for (int i = 0; i < forks; i++) {
        for (int turn = 0; turn < turns; turn++) sched_yield();
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            load_pictures(5);
            _exit(0);
        }
        check_child(process);
    }
    stops = 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

/* Forks soon after the first use of the library: one-time initialization may still be running. */
CASE(forks_soon_after_the_first_use)
{
    for (int i = 0; i < scaled(20); i++) {
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            load_pictures(10);
            fork_while_others_load(2, i * 10);
            _exit(0);
        }
        check_child(process);
    }
}

CASE(forks_while_others_load) { fork_while_others_load(scaled(50), 1); }

int main(void) { return run_cases(); }

/* Helpers of isolated decoding that cannot be started, for want of descriptors, a program, or what a coder needs: a
   problem of this machine, which says nothing about a picture or its URL. And what a helper is started with: absolute
   paths, and the libraries of its application. */
#include "isolated.h"
#include "loads.h"
#include "misbehaving_coder.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* ------------------------------------------------------------------------------------------- files */

static const char *object_path(const char *name)
{
    static char made[16][1024];
    static unsigned turn;
    char *place = made[turn++ % 16];
    snprintf(place, sizeof made[0], "%s/%s", setting("SDD_TEST_OBJECTS"), name);
    return place;
}

static void copy(const char *from, const char *to)
{
    char buffer[1 << 16];
    size_t size;
    FILE *source = fopen(from, "re"), *target = fopen(to, "we");
    CHECK(source != NULL && target != NULL);
    while ((size = fread(buffer, 1, sizeof buffer, source)) > 0) CHECK(fwrite(buffer, 1, size, target) == size);
    CHECK(fclose(source) == 0 && fclose(target) == 0 && chmod(to, 0700) == 0);
}

/* Makes a program of our own, which can be taken away. */
static const char *own_program(void)
{
    const char *path = object_path("own_decoder");
    copy(object_path("../lib/sdd-decoder"), path);
    CHECK(setenv("SDD_DECODER", path, 1) == 0);
    return path;
}

static void check_not_started(const record *r, int system_error)
{
    CHECK_ENDED(r, SDD_ERROR_NO_RESOURCES, SDD_DETAIL_RESOURCES_DECODER);
    CHECK_EQUAL(r->error_class, SDD_CLASS_SYSTEM);
    CHECK_EQUAL(r->retryable, 1);
    /* valgrind runs vfork() as fork(), from which the child cannot tell its parent why. */
    if (!getenv("SDD_TEST_VALGRIND")) CHECK_EQUAL(r->system_error, system_error);
}

/* -------------------------------------------------------------------------------- what is missing */

/* A picture of one pixel, for which no connection is needed. */
#define ONE_PIXEL \
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

static void no_descriptors(void)
{
    struct rlimit before, few;
    OWNED_RECORD r = RECORD_INIT;
    sdd_downloader *downloader = isolated_downloader(1);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    for (int more = 0; more < 9; more++) {
        few = before;
        few.rlim_cur = (rlim_t)count_descriptors() + 3 + (rlim_t)more;
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
        fetch(downloader, &r, ONE_PIXEL, 0);
        CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
        if (r.error != SDD_OK) check_not_started(&r, EMFILE);
        else CHECK(more > 0);
    }
    fetch_good(downloader);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
}

/* An upgrade takes the program away for a moment. */
static void a_program_that_is_away(void)
{
    OWNED_RECORD r = RECORD_INIT;
    const char *path = own_program();
    OWNED_DOWNLOADER downloader = isolated_downloader(1);
    CHECK(unlink(path) == 0);
    for (int turn = 0; turn < 3; turn++) {
        fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
        check_not_started(&r, ENOENT);
        CHECK(strstr(r.message, path) != NULL);
    }
    (void)own_program();
    fetch_good(downloader);
}

/* The URL has not failed, and a picture that a cache has is not missing there. */
static void loads_without_a_program(void)
{
    config_groups groups;
    sdd_downloader_config config = isolated(&groups);
    OWNED_RECORD r = RECORD_INIT;
    groups.retry.max_attempts = 1;
    const char *path = own_program(), *url = at("/file/png/rgb8.png?kept"), *other = at("/file/png/rgb8.png?not-kept");
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    CHECK(unlink(path) == 0);
    for (int turn = 0; turn < 3; turn++) {
        load(&l, &r, other, 0);
        check_not_started(&r, ENOENT);
    }
    (void)own_program();
    get_from(&l, &r, other, 0, SDD_ORIGIN_NETWORK);
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    leave_to_disk(&l);
    pid_t found[MOST_HELPERS];
    int count = helpers(found);
    CHECK(unlink(path) == 0);
    for (int i = 0; i < count; i++) CHECK(kill(found[i], SIGKILL) == 0 && waitpid(found[i], NULL, 0) == found[i]);
    load(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY);
    check_not_started(&r, ENOENT);
    (void)own_program();
    get_from(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY, SDD_ORIGIN_DISK);
}

/* A coder whose helper cannot be started has no say in bodies that others decode. */
static void a_coder_that_is_away(void)
{
    OWNED_RECORD r = RECORD_INIT;
    const char *path = object_path("away.so");
    (void)own_program();
    copy(object_path("misbehaving.so"), path);
    CHECK_STATUS(sdd_process_load_coder_wait(path), SDD_OK);
    CHECK(unlink(path) == 0);
    sdd_downloader *downloader = isolated_downloader(1);
    for (int turn = 0; turn < 2; turn++) {
        fetch_good(downloader);
        record_clear(&r);
        submit_with_previews(downloader, &r, at("/file/large/baseline.jpg"));
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        fetch(downloader, &r, "data:,EVILx", 0);
        check_not_started(&r, 0);
        CHECK(strstr(r.message, "away.so") != NULL);
        fetch(downloader, &r, "data:,nothing", 0);
        CHECK(r.error != SDD_OK);
    }
    copy(object_path("misbehaving.so"), path);
    fetch(downloader, &r, "data:,EVILx", 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_process_remove_coder("misbehaving"), SDD_OK);
    destroy(downloader);
    CHECK_EQUAL(helper_count(), 0);
}

/* ---------------------------------------------------------------------- what a helper is started with */

/* Starts this program again. Its library is then found by a path that is relative to the folder. */
static int run_again(const char *folder, const char *libraries, const char *mode)
{
    char self[1024];
    int status;
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(size > 0);
    self[size] = 0;
    pid_t child = fork();
    if (child == 0) {
        CHECK(chdir(folder) == 0 && setenv("LD_LIBRARY_PATH", libraries, 1) == 0 && unsetenv("SDD_DECODER") == 0);
        execl(self, self, mode, (char *)NULL);
        _exit(99);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

/* Mode "relative": the library was loaded by a relative path, and the folder changes afterwards. */
static int be_somewhere_else(void)
{
    char hostile[1024];
    Dl_info info;
    snprintf(hostile, sizeof hostile, "%s", object_path("hostile"));
    CHECK(dladdr((void *)(uintptr_t)sdd_version, &info) != 0);
    if (info.dli_fname[0] == '/') return 77; /* the system has made it absolute */
    CHECK(chdir(hostile) == 0);
    sdd_downloader *downloader = isolated_downloader(1);
    fetch_good(downloader);
    destroy(downloader);
    return access("it-was-run", F_OK) == 0;
}

static void a_hostile_folder_decodes_nothing(void)
{
    char path[1100];
    FILE *file;
    snprintf(path, sizeof path, "%s", object_path("hostile"));
    CHECK(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/lib", object_path("hostile"));
    CHECK(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/lib/sdd-decoder", object_path("hostile"));
    CHECK((file = fopen(path, "we")) != NULL && fputs("#!/bin/sh\ntouch it-was-run\n", file) >= 0);
    CHECK(fclose(file) == 0 && chmod(path, 0700) == 0);
    int status = run_again(object_path(".."), "lib", "relative");
    if (status != 0 && status != 77) FAIL("status %d", status);
}

/* Mode "environment": a coder needs a library that LD_LIBRARY_PATH alone leads to. */
static int use_what_is_needed(void)
{
    record r = RECORD_INIT;
    CHECK_STATUS(sdd_process_load_coder_wait(object_path("needing.so")), SDD_OK);
    sdd_downloader *downloader = isolated_downloader(1);
    fetch(downloader, &r, "data:,EVILx", 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    destroy(downloader);
    return 0;
}

static void helpers_find_the_libraries_of_the_application(void)
{
    CHECK_EQUAL(run_again("/", object_path("needed"), "environment"), 0);
}

/* Mode "devices": there is no /dev/null, for which the message must not blame the program. */
static int be_without_devices(void)
{
    OWNED_RECORD r = RECORD_INIT;
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 77;
    if (mount("none", "/dev", "tmpfs", 0, NULL) != 0) return 77;
    sdd_downloader *downloader = isolated_downloader(1);
    fetch(downloader, &r, ONE_PIXEL, 0);
    check_not_started(&r, ENOENT);
    if (!getenv("SDD_TEST_VALGRIND")) CHECK(strstr(r.message, "/dev/null") != NULL);
    destroy(downloader);
    return 0;
}

static void a_missing_device_is_named(void)
{
    int status = run_again("/", object_path("../lib"), "devices");
    if (status != 0 && status != 77) FAIL("status %d", status);
}

static int play(const char *mode)
{
    if (strcmp(mode, "relative") == 0) return be_somewhere_else();
    return strcmp(mode, "devices") == 0 ? be_without_devices() : use_what_is_needed();
}

int main(int count, char **arguments)
{
    start_watchdog();
    if (count > 1) return play(arguments[1]);
    RUN(no_descriptors);
    RUN(a_program_that_is_away);
    RUN(loads_without_a_program);
    RUN(a_coder_that_is_away);
    RUN(a_hostile_folder_decodes_nothing);
    RUN(a_missing_device_is_named);
#ifdef __SANITIZE_ADDRESS__
    /* The decoder's program needs the sanitizer's runtime, which must be loaded before anything else. */
    (void)helpers_find_the_libraries_of_the_application;
#else
    RUN(helpers_find_the_libraries_of_the_application);
#endif
    return 0;
}

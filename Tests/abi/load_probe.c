/* Checks that loading the library changes nothing in a process.
 *
 *     load_probe LIBRARY
 *
 * Loads it, compares signal handlers, the signal mask, threads, descriptors, the working directory's and the
 * environment's state with what they were before; uses it; compares the handlers again; unloads it while its threads
 * run, and calls it once more. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <sdd/sdd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition, ...) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "load_probe.c:%d: ", __LINE__); \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr); \
            exit(1); \
        } \
    } while (0)

extern char **environ;

struct state {
    struct sigaction actions[NSIG];
    sigset_t mask;
    int threads, descriptors;
    size_t environment;
};

static int entries(const char *path)
{
    DIR *directory = opendir(path);
    CHECK(directory != NULL, "no %s", path);
    int count = 0;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static size_t environment_hash(void)
{
    size_t hash = 5381;
    for (char **entry = environ; *entry != NULL; entry++)
        for (const char *c = *entry; *c != '\0'; c++)
            hash = hash * 33 + (unsigned char)*c;
    return hash;
}

static struct state look(void)
{
    struct state state;
    memset(&state, 0, sizeof state);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &state.actions[number]); /* 32 and 33 belong to glibc: refused, and stay zero */
    sigprocmask(SIG_SETMASK, NULL, &state.mask);
    state.threads = entries("/proc/self/task");
    state.descriptors = entries("/proc/self/fd");
    state.environment = environment_hash();
    return state;
}

static void compare_signals(const struct state *before, const struct state *after, const char *when)
{
    for (int number = 1; number < NSIG; number++) {
        const struct sigaction *old = &before->actions[number], *new = &after->actions[number];
        CHECK(old->sa_handler == new->sa_handler && old->sa_flags == new->sa_flags, "%s: signal %d (%s) has another handler",
              when, number, strsignal(number));
    }
    CHECK(memcmp(&before->mask, &after->mask, sizeof before->mask) == 0, "%s: another signal mask", when);
}

static void *find(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL, "no %s: %s", name, dlerror());
    return symbol;
}

static atomic_int completions;

static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    if (result->failure.status == SDD_ERROR_INVALID_URL)
        atomic_fetch_add(&completions, 1);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2, "one argument: the library");
    struct state before = look();
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "%s", dlerror());
    struct state after = look();
    compare_signals(&before, &after, "after loading");
    CHECK(after.threads == before.threads, "loading starts %d threads", after.threads - before.threads);
    CHECK(after.descriptors == before.descriptors, "loading opens %d descriptors", after.descriptors - before.descriptors);
    CHECK(after.environment == before.environment, "loading changes the environment");

    /* ISO C has no conversion from void * to a function pointer, so the bytes are copied, as POSIX shows. */
    uint32_t (*version)(void);
    sdd_token (*download)(sdd_downloader *, const char *, uint64_t, sdd_progress_fn, sdd_result_fn, void *);
    sdd_status (*wait_idle)(sdd_downloader *, int64_t);
    *(void **)&version = find(library, "sdd_version");
    *(void **)&download = find(library, "sdd_download");
    *(void **)&wait_idle = find(library, "sdd_downloader_idle_wait");

    CHECK(version() == SDD_VERSION_MAJOR * 1000000 + SDD_VERSION_MINOR * 1000 + SDD_VERSION_PATCH,
          "the library says version %u, the header %s", (unsigned)version(), SDD_VERSION_STRING);
    after = look();
    CHECK(after.threads == before.threads, "sdd_version() starts a thread");

    CHECK(download(NULL, "", 0, NULL, completed, NULL) != 0, "the shared downloader takes no request");
    CHECK(wait_idle(NULL, 30000) == SDD_OK && atomic_load(&completions) == 1, "the request does not end");
    after = look();
    compare_signals(&before, &after, "after use");
    CHECK(after.threads > before.threads, "no thread that runs the callbacks: the next check would show nothing");

    dlclose(library);
    CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL, "dlclose() has unloaded it under its threads");
    CHECK(download(NULL, "", 0, NULL, completed, NULL) != 0, "no request after dlclose()");
    CHECK(wait_idle(NULL, 30000) == SDD_OK && atomic_load(&completions) == 2, "the second request does not end");
    puts("ok loading: no signal handler, no thread, no descriptor; survives dlclose()");
    return 0;
}

// One-time work in a process, and fork handlers. Written in C, because the handlers must be registered before any Swift
// code runs: if the first use registered them, a fork in the middle of that would leave a child without them. Work that
// must not start twice, such as the initialization of libcurl, goes through sddfork_once(), and a fork waits for its
// end.
#define _GNU_SOURCE
#include "fork.h"

#include "CFork.h"
#include "lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

// The lock of SDDFORK_FIRST_USE is taken before all other locks of the library; that of SDDFORK_FIRST_DOWNLOADER may be
// taken while they are held.
static pthread_mutex_t locks[SDDFORK_WORK_COUNT] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static atomic_int is_done[SDDFORK_WORK_COUNT];
static struct sddfork_handlers known;
// Whether the fork that is under way holds the lock of SDDFORK_FIRST_DOWNLOADER.
static int has_downloader_lock;
enum { PATIENCE_SECONDS = 1 };
unsigned sddfork_generation;

void sddfork_once(enum sddfork_work which, void (*work)(void))
{
    if (atomic_load_explicit(&is_done[which], memory_order_acquire)) return;
    sddsys_lock(&locks[which]);
    if (!atomic_load_explicit(&is_done[which], memory_order_relaxed)) {
        work();
        atomic_store_explicit(&is_done[which], 1, memory_order_release);
    }
    sddsys_unlock(&locks[which]);
}

void sddfork_set_handlers(struct sddfork_handlers handlers) { known = handlers; }

/// Waits for the first downloader, but not for ever: libcurl and its TLS library call the system's loader, which may
/// belong to this thread, if it forks in the constructor of a shared object. The child of such a fork must not make a
/// downloader: it has half of an initialized libcurl.
static void await_first_downloader(void)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += PATIENCE_SECONDS;
    has_downloader_lock = pthread_mutex_clocklock(&locks[SDDFORK_FIRST_DOWNLOADER], CLOCK_MONOTONIC, &end) == 0;
}

static void before(void)
{
    sddsys_lock(&locks[SDDFORK_FIRST_USE]);
    if (known.before) known.before();
    await_first_downloader();
    sddfork_hold_runtime();
}

static void in_parent(void)
{
    sddfork_let_runtime_go();
    if (has_downloader_lock) sddsys_unlock(&locks[SDDFORK_FIRST_DOWNLOADER]);
    if (known.in_parent) known.in_parent();
    sddsys_unlock(&locks[SDDFORK_FIRST_USE]);
}

static void in_child(void)
{
    sddfork_generation++;
    sddfork_renew_runtime();
    for (int i = 0; i < SDDFORK_WORK_COUNT; i++) locks[i] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (known.in_child) known.in_child();
}

__attribute__((constructor)) static void begin(void) { (void)pthread_atfork(before, in_parent, in_child); }

// What Swift's Glibc module leaves out: GNU extensions, and headers it does not list. Nothing is decided
// here. It may go when the module has these.
#ifndef SDD_CSYSTEM_SHIM_H
#define SDD_CSYSTEM_SHIM_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>

// Declared by <pthread.h> and <sched.h> only under _GNU_SOURCE, which belongs to whoever compiles.
extern int pthread_setname_np(unsigned long thread, const char *name);
extern int pthread_timedjoin_np(unsigned long thread, void **result, const struct timespec *until);
extern int sched_getaffinity(int pid, unsigned long size, void *mask);

// A GNU extension, and a macro that Swift cannot read.
static const int32_t sddsys_open_noatime = __O_NOATIME;
static const int64_t sddsys_utime_omit = (1 << 30) - 2; // UTIME_OMIT, see utimensat(2)

static inline int sddsys_eventfd(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

/// The name gdb, perf and top show; at most 15 bytes.
static inline void sddsys_name_this_thread(unsigned long thread, const char *name) {
    (void)pthread_setname_np(thread, name);
}

/// Waits for a thread to end, until a time of CLOCK_REALTIME. 0 when it has, else an errno.
static inline int sddsys_join_until(unsigned long thread, struct timespec until) {
    return pthread_timedjoin_np(thread, 0, &until);
}

/// Processors this process may run on; at least 1.
static inline int sddsys_processors(void) {
    uint64_t mask[128] = {0}; // 8,192 processors
    if (sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
    int count = 0;
    for (int i = 0; i < 128; i++) count += __builtin_popcountll(mask[i]);
    return count > 0 ? count : 1;
}

#endif

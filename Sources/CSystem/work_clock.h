// How long a thread may be at one thing, in processor time of its own: another program's load does not count.
#ifndef SDD_CSYSTEM_WORK_CLOCK_H
#define SDD_CSYSTEM_WORK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct sddsys_work_clock {
    int64_t left;    // microseconds; below 0: over
    int64_t each;    // more of them for a MiB of input
    int64_t began;   // of the piece of work under way
    uint32_t asked;  // looking at the clock costs a system call: not each time
    bool is_limited;
} sddsys_work_clock;

static inline int64_t sddsys_thread_microseconds(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/// - Parameters: how long, and how much longer for each MiB of input; both at most 2^40. 0 for the first: any.
static inline sddsys_work_clock sddsys_work_clock_make(int64_t microseconds, int64_t each) {
    sddsys_work_clock clock = {microseconds, each, 0, 0, microseconds > 0};
    return clock;
}

/// More input has come.
static inline void sddsys_work_grows(sddsys_work_clock *clock, size_t bytes) {
    const uint64_t more = ((uint64_t)bytes >> 10) * (uint64_t)(clock->each >> 10);
    clock->left += more < (uint64_t)1 << 50 ? (int64_t)more : (int64_t)1 << 50;
}

static inline void sddsys_work_begins(sddsys_work_clock *clock) {
    if (clock->is_limited) clock->began = sddsys_thread_microseconds();
}

static inline void sddsys_work_rests(sddsys_work_clock *clock) {
    if (clock->is_limited) clock->left -= sddsys_thread_microseconds() - clock->began;
}

/// Whether there is time left, asked between small steps of the work.
static inline bool sddsys_may_go_on(sddsys_work_clock *clock) {
    if (!clock->is_limited || ++clock->asked % 64 != 0) return true;
    return sddsys_thread_microseconds() - clock->began <= clock->left;
}

#endif

// Limits the time of a thread's work in CPU time of that thread, so that the load of other programs does not count.
#ifndef SDD_CSYSTEM_WORK_CLOCK_H
#define SDD_CSYSTEM_WORK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct sddsys_work_clock {
    int64_t left;   // microseconds that remain; negative: the limit is exceeded
    int64_t each;   // additional microseconds for each MiB of input
    int64_t began;  // thread time at which the current piece of work began
    uint32_t asked; // calls of sddsys_may_go_on(), counted because reading the clock costs a system call
    bool is_limited;
} sddsys_work_clock;

static inline int64_t sddsys_thread_microseconds(void)
{
    struct timespec now = { 0, 0 };
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/// Creates a clock that allows `microseconds`, and `each` more for each MiB of input; both are at most 2^40. With 0
/// `microseconds` there is no limit.
static inline sddsys_work_clock sddsys_work_clock_make(int64_t microseconds, int64_t each)
{
    sddsys_work_clock clock = { microseconds, each, 0, 0, microseconds > 0 };
    return clock;
}

/// Extends the limit for `bytes` of new input.
static inline void sddsys_work_grows(sddsys_work_clock *clock, size_t bytes)
{
    const uint64_t more = ((uint64_t)bytes >> 10) * (uint64_t)(clock->each >> 10);
    clock->left += more < (uint64_t)1 << 50 ? (int64_t)more : (int64_t)1 << 50;
}

static inline void sddsys_work_begins(sddsys_work_clock *clock)
{
    if (clock->is_limited) clock->began = sddsys_thread_microseconds();
}

static inline void sddsys_work_rests(sddsys_work_clock *clock)
{
    if (clock->is_limited) clock->left -= sddsys_thread_microseconds() - clock->began;
}

/// Whether time is left; called between small steps of the work. Only every 64th call reads the clock.
static inline bool sddsys_may_go_on(sddsys_work_clock *clock)
{
    if (!clock->is_limited || ++clock->asked % 64 != 0) return true;
    return sddsys_thread_microseconds() - clock->began <= clock->left;
}

#endif

// Limits the time of a thread's work in CPU time of that thread, so that the load of other programs does not count.
#ifndef SDD_CSYSTEM_WORK_CLOCK_H
#define SDD_CSYSTEM_WORK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct sddsys_work_clock {
    int64_t left;     // microseconds that remain; negative: the limit is exceeded
    int64_t each;     // additional microseconds for each MiB of input
    int64_t by_watch; // of `left`, microseconds that may be counted by elapsed time
    int64_t began;    // time at which the current piece of work began; -1: the system gave none
    uint32_t asked;   // calls of sddsys_may_go_on()
    bool is_limited;
} sddsys_work_clock;

/// Returns the time by the clock that counts the current piece of work; -1 if a sandbox refuses it.
static inline int64_t sddsys_work_now(const sddsys_work_clock *clock)
{
    struct timespec now;
    if (clock_gettime(clock->by_watch > 0 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now) != 0) return -1;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/// Creates a clock that allows `microseconds`, and `each` more for each MiB of input; both are at most 2^40. With 0
/// `microseconds` there is no limit. Up to an eighth of the limit is counted by elapsed time, which is at least the CPU
/// time, because CPU time costs a system call: most pictures are decoded within it.
static inline sddsys_work_clock sddsys_work_clock_make(int64_t microseconds, int64_t each)
{
    sddsys_work_clock clock = { .left = microseconds, .each = each, .by_watch = microseconds / 8 };
    clock.is_limited = microseconds > 0;
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
    if (clock->is_limited) clock->began = sddsys_work_now(clock);
}

/// Counts the current piece of work so far. A piece without a time at its beginning or end is not counted.
static inline void sddsys_work_rests(sddsys_work_clock *clock)
{
    if (!clock->is_limited || clock->began < 0) return;
    const int64_t now = sddsys_work_now(clock);
    int64_t spent = now < clock->began ? 0 : now - clock->began;
    if (clock->by_watch > 0) {
        // A thread that was held up for longer has not worked for so long: CPU time tells from now on.
        if (spent > clock->by_watch) spent = clock->by_watch;
        clock->by_watch -= spent;
    }
    clock->left -= spent;
}

/// Whether time is left; called between small steps of the work. Only every 64th call reads a clock.
static inline bool sddsys_may_go_on(sddsys_work_clock *clock)
{
    if (!clock->is_limited || ++clock->asked % 64 != 0) return true;
    sddsys_work_rests(clock);
    sddsys_work_begins(clock);
    return clock->left >= 0;
}

#endif

/* calendar.h - a calendar that this program sees an hour later than the kernel does, as when it is set back right after
   a look at it. What waits by such a time waits an hour too long. */
#ifndef CALENDAR_H
#define CALENDAR_H

#include "check.h"

#include <stdatomic.h>
#include <sys/syscall.h>

static atomic_int calendar_is_set_back;

/* Called in place of the C library's, by libsdd as well. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && clock == CLOCK_REALTIME && atomic_load(&calendar_is_set_back)) time->tv_sec += 3600;
    return failed;
}

#endif

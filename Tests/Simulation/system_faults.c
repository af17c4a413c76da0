/* system_faults.c - see system_faults.h. */
#include "system_faults.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "scheduler.h"

static struct chance chance;
static uint32_t failing, slow, sync_time;
static uint64_t faults;

void set_faults(uint64_t seed, uint32_t failing_calls, uint32_t slow_calls)
{
    chance.state = seed;
    failing = failing_calls;
    slow = slow_calls;
    sync_time = 0;
}

void set_slow_syncs(uint32_t milliseconds) { sync_time = milliseconds; }

static int error_of(const char *call)
{
    static const int writing[] = { ENOSPC, EIO, EDQUOT, EROFS }, reading[] = { EIO, EACCES }, opening[] = { EMFILE, ENFILE, EACCES, ENOSPC, EIO };
    if (strcmp(call, "pthread_create") == 0) return EAGAIN;
    if (strcmp(call, "openat") == 0) return opening[below(&chance, 5)];
    if (strcmp(call, "read") == 0 || strcmp(call, "pread") == 0) return reading[below(&chance, 2)];
    return writing[below(&chance, 4)];
}

int fails(const char *call)
{
    if (sync_time && strstr(call, "sync")) sleep_until(virtual_now() + sync_time * MILLISECOND);
    if (slow && below(&chance, 1000) < slow) {
        uint32_t most = one_in(&chance, 10) ? 20000 : 50; /* milliseconds */
        sleep_until(virtual_now() + below(&chance, most) * MILLISECOND);
    }
    if (failing == 0 || below(&chance, 1000) >= failing) return 0;
    errno = error_of(call);
    faults++;
    return 1;
}

int is_file(int descriptor)
{
    struct stat facts;
    return fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

uint64_t count_faults(void) { return faults; }

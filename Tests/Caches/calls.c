/*
 * calls.so - in front of the C library (LD_PRELOAD): counts the calls that change files, and fails one of them, or ends
 * the process at one, as a full disk or kill -9 would. It also sets the clock. Counts from calls_arm() on.
 *
 *     CALLS_FAIL="NAME N ERRNO"   the N-th call of that kind fails: open, mkdir, write, rename, unlink, sync, flock, cut
 *     CALLS_KILL=N                the process is gone before the N-th call of any kind
 *     CALLS_TORN=1                with that: a write is half done by then
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_armed, calls, calls_of_kind, has_failed;
static atomic_long clock_shift; /* seconds */
static int kill_at, is_torn, fail_at, fail_errno;
static char fail_kind[16];

void calls_arm(void) { atomic_store(&is_armed, 1); }
int calls_failed(void) { return atomic_load(&has_failed); }
void calls_shift_clock(long seconds) { atomic_store(&clock_shift, seconds); }

__attribute__((constructor)) static void read_settings(void)
{
    const char *text = getenv("CALLS_FAIL");
    if (text) sscanf(text, "%15s %d %d", fail_kind, &fail_at, &fail_errno);
    text = getenv("CALLS_KILL");
    if (text) kill_at = atoi(text);
    is_torn = getenv("CALLS_TORN") != NULL;
}

/* The function behind that name in the library proper. */
#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

enum { GOES_ON, FAILS, ENDS };

static int is_file(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static int next_call(const char *kind)
{
    if (!atomic_load(&is_armed)) return GOES_ON;
    if (kill_at && atomic_fetch_add(&calls, 1) + 1 == kill_at) return ENDS;
    if (fail_at && strcmp(kind, fail_kind) == 0 && atomic_fetch_add(&calls_of_kind, 1) + 1 == fail_at) {
        atomic_store(&has_failed, 1);
        return FAILS;
    }
    return GOES_ON;
}

static void end_here(void)
{
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

#define PASS(kind, result) \
    switch (next_call(kind)) { \
    case FAILS: errno = fail_errno; return result; \
    case ENDS: end_here(); \
    }

/* ------------------------------------------------------------------------------------------- names */

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) { MODE_OF(flags) REAL(open); PASS("open", -1) return real(path, flags, mode); }
int open64(const char *path, int flags, ...)
{
    MODE_OF(flags) REAL(open64); PASS("open", -1) return real(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...)
{
    MODE_OF(flags) REAL(openat); PASS("open", -1) return real(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...)
{
    MODE_OF(flags) REAL(openat64); PASS("open", -1) return real(at, path, flags, mode);
}
int mkdir(const char *path, mode_t mode) { REAL(mkdir); PASS("mkdir", -1) return real(path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { REAL(mkdirat); PASS("mkdir", -1) return real(at, path, mode); }
int rename(const char *from, const char *to) { REAL(rename); PASS("rename", -1) return real(from, to); }
int renameat(int at, const char *from, int at_new, const char *to)
{
    REAL(renameat); PASS("rename", -1) return real(at, from, at_new, to);
}
int unlink(const char *path) { REAL(unlink); PASS("unlink", -1) return real(path); }
int unlinkat(int at, const char *path, int flags) { REAL(unlinkat); PASS("unlink", -1) return real(at, path, flags); }

/* ----------------------------------------------------------------------------------------- contents */

/* Files alone: a bell that does not ring is no fault of a disk. */
#define PASS_WRITE(descriptor, half) \
    if (is_file(descriptor)) switch (next_call("write")) { \
    case FAILS: errno = fail_errno; return -1; \
    case ENDS: \
        if (is_torn && (half) < 0) end_here(); /* failed, or done by half: gone in any case */ \
        end_here(); \
    }

ssize_t write(int file, const void *bytes, size_t count)
{
    REAL(write); PASS_WRITE(file, real(file, bytes, count / 2)) return real(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
    REAL(pwrite); PASS_WRITE(file, real(file, bytes, count / 2, at)) return real(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at)
{
    REAL(pwrite64); PASS_WRITE(file, real(file, bytes, count / 2, at)) return real(file, bytes, count, at);
}
ssize_t writev(int file, const struct iovec *parts, int count)
{
    REAL(writev); PASS_WRITE(file, write(file, parts[0].iov_base, parts[0].iov_len / 2)) return real(file, parts, count);
}
int fsync(int file) { REAL(fsync); PASS("sync", -1) return real(file); }
int fdatasync(int file) { REAL(fdatasync); PASS("sync", -1) return real(file); }
int flock(int file, int kind) { REAL(flock); PASS("flock", -1) return real(file, kind); }
int ftruncate(int file, off_t size) { REAL(ftruncate); PASS("cut", -1) return real(file, size); }
int ftruncate64(int file, off64_t size) { REAL(ftruncate64); PASS("cut", -1) return real(file, size); }

/* -------------------------------------------------------------------------------------------- clock */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += atomic_load(&clock_shift);
    return result;
}

time_t time(time_t *place)
{
    struct timespec now = { 0, 0 };
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    REAL(gettimeofday);
    int result = real(now, zone);
    if (result == 0) now->tv_sec += atomic_load(&clock_shift);
    return result;
}

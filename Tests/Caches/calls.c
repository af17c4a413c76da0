/*
 * calls.so - is loaded before the C library (LD_PRELOAD). It counts system calls and calls of malloc, and makes one of
 * them fail, or ends the process at one, as a full disk or kill -9 would. It also sets the clock. It counts from
 * calls_arm() on, without the calls of the program itself.
 *
 *     CALLS_FAIL="NAME N ERRNO"   the N-th call of that kind fails; ERRNO -1: it does less than requested.
 *                                 The kinds are in callers.h
 *     CALLS_REPORT=PATH           calls_report() writes the number of calls of each kind and their places there;
 *                                 a failed call is written there at once
 *     CALLS_KILL=N                the process ends before the N-th call of any kind
 *     CALLS_TORN=1                with CALLS_KILL: a write is half done before that
 *
 * Between calls_hold() and calls_go_on() the disk hangs: no rename of an entry returns. That of the ledger does, because
 * a thread that has counted the entries may still write it. After calls_hold_removals() no removal of an entry returns.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "callers.h"

static atomic_int is_armed, calls, calls_of_kind, has_failed;
static atomic_long clock_shift; /* seconds */
static int kill_at, is_torn, fail_at, fail_errno;
static char fail_kind[16];

static pthread_mutex_t hold_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hold_changed = PTHREAD_COND_INITIALIZER;
enum { HOLD_RENAMES = 1, HOLD_REMOVALS = 2 };
static int holding, held;

static void begin_to_hold(int kind)
{
    pthread_mutex_lock(&hold_lock);
    holding |= kind;
    pthread_mutex_unlock(&hold_lock);
}

void calls_hold(void) { begin_to_hold(HOLD_RENAMES); }
void calls_hold_removals(void) { begin_to_hold(HOLD_REMOVALS); }

void calls_go_on(void)
{
    pthread_mutex_lock(&hold_lock);
    holding = 0;
    pthread_cond_broadcast(&hold_changed);
    pthread_mutex_unlock(&hold_lock);
}

/* Waits until a call hangs. */
void calls_wait_for_held(void)
{
    pthread_mutex_lock(&hold_lock);
    while (held == 0) pthread_cond_wait(&hold_changed, &hold_lock);
    pthread_mutex_unlock(&hold_lock);
}

static void wait_while_held(int kind)
{
    pthread_mutex_lock(&hold_lock);
    if (holding & kind) {
        held++;
        pthread_cond_broadcast(&hold_changed);
        while (holding & kind) pthread_cond_wait(&hold_changed, &hold_lock);
        held--;
    }
    pthread_mutex_unlock(&hold_lock);
}

void calls_arm(void)
{
    find_objects();
    atomic_store(&is_armed, 1);
}
void calls_disarm(void) { atomic_store(&is_armed, 0); }
int calls_failed(void) { return atomic_load(&has_failed); }
void calls_shift_clock(long seconds) { atomic_store(&clock_shift, seconds); }

__attribute__((constructor)) static void read_settings(void)
{
    const char *text = getenv("CALLS_FAIL");
    if (text) sscanf(text, "%15s %d %d", fail_kind, &fail_at, &fail_errno);
    text = getenv("CALLS_KILL");
    if (text) kill_at = atoi(text);
    is_torn = getenv("CALLS_TORN") != NULL;
    open_report(getenv("CALLS_REPORT"));
}

/* Looks up the next function of that name, in the C library. */
#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

enum { GOES_ON, FAILS, ENDS };

static int is_file(int descriptor)
{
    static __typeof__(&fstat) real;
    if (!real) real = (__typeof__(&fstat))dlsym(RTLD_NEXT, "fstat");
    struct stat status;
    int before = errno, result = real(descriptor, &status);
    errno = before;
    return result == 0 && S_ISREG(status.st_mode);
}

static int next_call(const char *kind, const void *caller)
{
    if (!atomic_load(&is_armed)) return GOES_ON;
    if (is_of_the_program(caller)) return GOES_ON;
    if (kill_at && changes_files(kind) && atomic_fetch_add(&calls, 1) + 1 == kill_at) return ENDS;
    count_call(kind, caller);
    if (fail_at && strcmp(kind, fail_kind) == 0 && atomic_fetch_add(&calls_of_kind, 1) + 1 == fail_at) {
        report_failure(kind, fail_at, fail_errno, caller);
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

#define CALLER __builtin_return_address(0)

#define PASS(kind, result) \
    switch (next_call(kind, CALLER)) { \
    case FAILS: errno = fail_errno; return result; \
    case ENDS: end_here(); \
    }

/* For a call that may do less than it was asked to: then `less` is done. */
#define PASS_OR_LESS(kind, less) \
    switch (next_call(kind, CALLER)) { \
    case FAILS: \
        if (fail_errno < 0) return less; \
        errno = fail_errno; \
        return -1; \
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
    REAL(renameat);
    if (strcmp(to, "ledger") != 0) wait_while_held(HOLD_RENAMES);
    PASS("rename", -1)
    return real(at, from, at_new, to);
}
int unlink(const char *path) { REAL(unlink); PASS("unlink", -1) return real(path); }
int unlinkat(int at, const char *path, int flags)
{
    REAL(unlinkat);
    if (strspn(path, "0123456789abcdef") >= 32) wait_while_held(HOLD_REMOVALS);
    PASS("unlink", -1)
    return real(at, path, flags);
}

/* ----------------------------------------------------------------------------------------- contents */

/* A failure to wake another thread through a descriptor is not a disk fault. */
#define PASS_WRITE(descriptor, less) \
    switch (next_call(is_file(descriptor) ? "write" : "bell", CALLER)) { \
    case FAILS: \
        if (fail_errno < 0) return less; \
        errno = fail_errno; \
        return -1; \
    case ENDS: \
        if (is_torn && (less) < 0) end_here(); /* failed, or half written: the process ends in any case */ \
        end_here(); \
    }

/* Half of the count, but at least 1. */
#define LESS(count) (((count) + 1) / 2)

ssize_t write(int file, const void *bytes, size_t count)
{
    REAL(write); PASS_WRITE(file, real(file, bytes, LESS(count))) return real(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at)
{
    REAL(pwrite); PASS_WRITE(file, real(file, bytes, LESS(count), at)) return real(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at)
{
    REAL(pwrite64); PASS_WRITE(file, real(file, bytes, LESS(count), at)) return real(file, bytes, count, at);
}
ssize_t writev(int file, const struct iovec *parts, int count)
{
    REAL(writev);
    __typeof__(&write) real_write = (__typeof__(&write))dlsym(RTLD_NEXT, "write");
    PASS_WRITE(file, real_write(file, parts[0].iov_base, LESS(parts[0].iov_len))) return real(file, parts, count);
}
ssize_t read(int file, void *bytes, size_t count)
{
    REAL(read); PASS_OR_LESS(is_file(file) ? "read" : "hear", real(file, bytes, LESS(count)))
    return real(file, bytes, count);
}
ssize_t pread(int file, void *bytes, size_t count, off_t at)
{
    REAL(pread); PASS_OR_LESS("read", real(file, bytes, LESS(count), at)) return real(file, bytes, count, at);
}
ssize_t pread64(int file, void *bytes, size_t count, off64_t at)
{
    REAL(pread64); PASS_OR_LESS("read", real(file, bytes, LESS(count), at)) return real(file, bytes, count, at);
}
off_t lseek(int file, off_t to, int from) { REAL(lseek); PASS("seek", -1) return real(file, to, from); }
off64_t lseek64(int file, off64_t to, int from) { REAL(lseek64); PASS("seek", -1) return real(file, to, from); }
int fsync(int file) { REAL(fsync); PASS("sync", -1) return real(file); }
int fdatasync(int file) { REAL(fdatasync); PASS("sync", -1) return real(file); }
int flock(int file, int kind) { REAL(flock); PASS("flock", -1) return real(file, kind); }
int ftruncate(int file, off_t size) { REAL(ftruncate); PASS("cut", -1) return real(file, size); }
int ftruncate64(int file, off64_t size) { REAL(ftruncate64); PASS("cut", -1) return real(file, size); }


/* ---------------------------------------------------------------------------------------- file attributes */

int stat(const char *restrict path, struct stat *restrict status)
{
    REAL(stat); PASS("stat", -1) return real(path, status);
}
int lstat(const char *restrict path, struct stat *restrict status)
{
    REAL(lstat); PASS("stat", -1) return real(path, status);
}
int fstat(int file, struct stat *status) { REAL(fstat); PASS("stat", -1) return real(file, status); }
int fstatat(int at, const char *restrict path, struct stat *restrict status, int flags)
{
    REAL(fstatat); PASS("stat", -1) return real(at, path, status, flags);
}
int futimens(int file, const struct timespec times[2]) { REAL(futimens); PASS("times", -1) return real(file, times); }
int utimensat(int at, const char *path, const struct timespec times[2], int flags)
{
    REAL(utimensat); PASS("times", -1) return real(at, path, times, flags);
}
DIR *fdopendir(int file) { REAL(fdopendir); PASS("list", NULL) return real(file); }
struct dirent *readdir(DIR *folder) { REAL(readdir); PASS("list", NULL) return real(folder); }
int fcntl(int file, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    REAL(fcntl); PASS("fcntl", -1) return real(file, command, argument);
}

/* ------------------------------------------------------------------------------------------- network */

int socket(int family, int kind, int protocol) { REAL(socket); PASS("socket", -1) return real(family, kind, protocol); }
int socketpair(int family, int kind, int protocol, int both[2])
{
    REAL(socketpair); PASS("socket", -1) return real(family, kind, protocol, both);
}
int connect(int file, const struct sockaddr *address, socklen_t size)
{
    REAL(connect); PASS("connect", -1) return real(file, address, size);
}
ssize_t send(int file, const void *bytes, size_t count, int flags)
{
    REAL(send); PASS_OR_LESS("send", real(file, bytes, LESS(count), flags)) return real(file, bytes, count, flags);
}
ssize_t recv(int file, void *bytes, size_t count, int flags)
{
    REAL(recv); PASS_OR_LESS("recv", real(file, bytes, LESS(count), flags)) return real(file, bytes, count, flags);
}
int setsockopt(int file, int level, int name, const void *value, socklen_t size)
{
    REAL(setsockopt); PASS("sockopt", -1) return real(file, level, name, value, size);
}
int getsockopt(int file, int level, int name, void *restrict value, socklen_t *restrict size)
{
    REAL(getsockopt); PASS("sockopt", -1) return real(file, level, name, value, size);
}
int getsockname(int file, struct sockaddr *restrict address, socklen_t *restrict size)
{
    REAL(getsockname); PASS("sockopt", -1) return real(file, address, size);
}
int getpeername(int file, struct sockaddr *restrict address, socklen_t *restrict size)
{
    REAL(getpeername); PASS("sockopt", -1) return real(file, address, size);
}

/* ------------------------------------------------------------------------------------ threads, waiting */

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                   void *restrict argument)
{
    REAL(pthread_create);
    if (next_call("thread", CALLER) == FAILS) return fail_errno;
    return real(thread, attributes, start, argument);
}
int poll(struct pollfd *files, nfds_t count, int timeout) { REAL(poll); PASS("poll", -1) return real(files, count, timeout); }
int eventfd(unsigned value, int flags) { REAL(eventfd); PASS("eventfd", -1) return real(value, flags); }

/* ------------------------------------------------------------------------------------------- memory */

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    REAL(mmap); PASS("mmap", MAP_FAILED) return real(at, size, protection, flags, file, offset);
}

/* The C library's internal names, because dlsym(3) may allocate memory itself. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* Blocks smaller than a page are not counted. Swift's own allocations are a kind of their own, because their failure
   ends the process. */
#define PASS_MEMORY(size) \
    if ((size) >= 4096 && atomic_load(&is_armed)) PASS(is_of_the_runtime(CALLER) ? "swift" : "malloc", NULL)

void *malloc(size_t size) { PASS_MEMORY(size) return __libc_malloc(size); }
void *calloc(size_t count, size_t size)
{
    size_t whole;
    if (!__builtin_mul_overflow(count, size, &whole)) PASS_MEMORY(whole)
    return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) { PASS_MEMORY(size) return __libc_realloc(memory, size); }
void *aligned_alloc(size_t alignment, size_t size) { PASS_MEMORY(size) return __libc_memalign(alignment, size); }
int posix_memalign(void **place, size_t alignment, size_t size)
{
    if (size >= 4096 && atomic_load(&is_armed) &&
        next_call(is_of_the_runtime(CALLER) ? "swift" : "malloc", CALLER) == FAILS)
        return ENOMEM;
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : ENOMEM;
}

/* -------------------------------------------------------------------------------------------- clock */

static int shifted_clock(clockid_t clock, struct timespec *now)
{
    REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += atomic_load(&clock_shift);
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *now) { PASS("clock", -1) return shifted_clock(clock, now); }

time_t time(time_t *place)
{
    struct timespec now = { 0, 0 };
    shifted_clock(CLOCK_REALTIME, &now);
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

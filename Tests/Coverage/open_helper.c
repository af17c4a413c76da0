/* Lets the processes that decode write which of their lines were reached, for Tests/Coverage/run.sh alone. Their sandbox
   would refuse them the file, and SIGKILL, by which they end, leaves no time to write it. It stands before the C
   library's functions: as a part of sdd-decoder, with IN_HELPER, it leaves the sandbox open; preloaded into a program
   that starts such processes, it has them end by SIGTERM. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long system_call(long, ...);

static system_call *real_syscall(void)
{
    system_call *function;
    *(void **)&function = dlsym(RTLD_NEXT, "syscall");
    return function;
}

static long answer(long number, const long *a);

long syscall(long number, ...)
{
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    return answer(number, a);
}

#ifdef IN_HELPER

static long answer(long number, const long *a)
{
    if (number == SYS_seccomp) return 0;
    return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The file of the profile is one more descriptor, and larger than pixels may be. */
int setrlimit(__rlimit_resource_t which, const struct rlimit *limit)
{
    int (*real)(__rlimit_resource_t, const struct rlimit *);
    if (which == RLIMIT_NOFILE || which == RLIMIT_FSIZE) return 0;
    *(void **)&real = dlsym(RTLD_NEXT, "setrlimit");
    return real(which, limit);
}

/* It may stand in the middle of anything, so the profile may fail, or wait for ever: SIGKILL follows. */
static void end(int signal)
{
    (void)signal;
    exit(0);
}

/* The environment of such a process is empty. Before the library is loaded, which reads the variable. */
__attribute__((constructor)) static void begin(void)
{
    (void)setenv("LLVM_PROFILE_FILE", PROFILES, 0);
    (void)signal(SIGTERM, end);
}

#else

static long answer(long number, const long *a)
{
    if (number == SYS_pidfd_send_signal && a[1] == SIGKILL &&
        real_syscall()(number, a[0], SIGTERM, 0L, 0L, 0L, 0L) == 0) {
        struct pollfd process = { .fd = (int)a[0], .events = POLLIN };
        if (poll(&process, 1, 2000) == 1) return 0;
    }
    return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif

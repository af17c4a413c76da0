// What a helper may still do once it has loaded everything: compute, take memory, read and write the descriptors that
// it has. Everything else is refused by the kernel (seccomp(2)), which a taken-over decoder cannot undo.
#define _GNU_SOURCE
#include "CHelper.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE AUDIT_ARCH_AARCH64
#endif

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

void sddhelper_close_others(void)
{
    if (syscall(SYS_close_range, SDDHELPER_LIFE + 1, ~0U, 0) == 0) return;
    struct rlimit limit;
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1 << 20 ? (int)limit.rlim_cur : 1 << 20;
    for (int descriptor = SDDHELPER_LIFE + 1; descriptor < end; descriptor++) close(descriptor);
}

/// Returns the address space that this process has, in bytes; where there is no /proc, more than libsdd needs.
static uint64_t taken(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) return (uint64_t)1 << 30;
    if (fscanf(file, "%llu", &pages) != 1) pages = (1 << 30) / (unsigned)sysconf(_SC_PAGESIZE);
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int limit_to(int which, uint64_t most)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0) return errno;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most) most = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = most;
    return setrlimit(which, &limit) == 0 ? 0 : errno;
}

static int limit_resources(const struct sddhelper_limits *limits)
{
    // Relative to what is mapped already, so that a sanitizer's shadow memory does not count. Read before the limit on
    // descriptors.
    uint64_t now = taken(), memory = now + limits->memory;
    int error = limit_to(RLIMIT_CORE, 0);
    if (error == 0) error = limit_to(RLIMIT_NOFILE, 0);
    if (error == 0 && limits->seconds != 0) error = limit_to(RLIMIT_CPU, limits->seconds);
    if (error == 0 && limits->memory != 0 && memory > now) error = limit_to(RLIMIT_AS, memory);
    if (error == 0 && limits->pixels != 0) error = limit_to(RLIMIT_FSIZE, limits->pixels);
    return error;
}

#ifdef THIS_MACHINE

// The words of struct seccomp_data. Arguments have 64 bits; both machines have the lower half first.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ARGUMENT is the lower half");
enum { NUMBER = offsetof(struct seccomp_data, nr), MACHINE = offsetof(struct seccomp_data, arch) };
#define ARGUMENT(n) ((unsigned)offsetof(struct seccomp_data, args) + 8 * (n))

#define LOAD(word) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (word))
#define END(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), END(SECCOMP_RET_ALLOW)
/// Refuses a call with an error, which its caller can live with.
#define REFUSE(name, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), END(SECCOMP_RET_ERRNO | (SECCOMP_RET_DATA & (error)))
/// Allows a call if its argument has none of some bits.
#define ALLOW_WITHOUT(name, argument, bits) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(ARGUMENT(argument)), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), END(SECCOMP_RET_ERRNO | EPERM), END(SECCOMP_RET_ALLOW)

static const struct sock_filter filter[] = {
    LOAD(MACHINE),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_MACHINE, 1, 0),
    END(SECCOMP_RET_KILL_PROCESS),
    LOAD(NUMBER),
    // The requests and replies.
    ALLOW(recvfrom),
    ALLOW(sendto),
    // Memory, none of it executable.
    ALLOW(brk),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(madvise),
    ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
    ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
    ALLOW(ftruncate),
    ALLOW(fstat),
    // Locks and time. There are no threads but those from before, as the kernel has no count of a process's threads.
    // A library that is refused one goes on without, if it knows the errors of pthread_create(3).
    ALLOW(futex),
    REFUSE(clone, EAGAIN),
    REFUSE(clone3, ENOSYS), // the C library then takes clone(2)
    ALLOW(sched_yield),
    ALLOW(sched_getaffinity),
    ALLOW(clock_gettime),
    ALLOW(clock_nanosleep),
    ALLOW(nanosleep),
    ALLOW(gettid),
    ALLOW(getpid),
    ALLOW(getrandom),
    // Its own end.
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW(rt_sigreturn),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigaction),
    ALLOW(sigaltstack),
    END(SECCOMP_RET_ERRNO | EPERM),
};

static int filter_calls(void)
{
    const struct sock_fprog program = { .len = sizeof filter / sizeof *filter, .filter = (struct sock_filter *)filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    // For all threads: the constructors of a coder may have started some.
    long other = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    return other == 0 ? 0 : other > 0 ? EBUSY : errno;
}

#else

static int filter_calls(void) { return ENOSYS; }

#endif

int32_t sddhelper_enter_sandbox(const struct sddhelper_limits *limits)
{
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    // What an idle helper keeps for the next picture has a limit, see HelperPool.own.
    (void)mallopt(M_MMAP_THRESHOLD, 2 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 8 << 20);
    // A file of pixels that may not grow is an error of ftruncate(2).
    (void)signal(SIGXFSZ, SIG_IGN);
    int error = limit_resources(limits);
    return error == 0 ? filter_calls() : error;
}

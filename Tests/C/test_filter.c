/*
 * test_filter.c - the list of system calls of a sandboxed helper, without a kernel: an interpreter runs the filter of
 * Sources/CHelper/sandbox.c over calls whose numbers are written here, for each machine that there is a sandbox for. So
 * the list is checked where no filter can be installed, as under qemu. test_isolated checks that the kernel obeys it.
 */
#include "check.h"

#include "../../Sources/CHelper/sandbox.c"

#include <errno.h>

#ifndef THIS_MACHINE
#error "there is no sandbox for this machine"
#endif

#if defined(__x86_64__)
#define NUMBER_OF(x86_64, aarch64) (x86_64)
enum { OTHER_MACHINE = AUDIT_ARCH_I386, MACHINE_WRITTEN_OUT = 0xc000003e };
#else
#define NUMBER_OF(x86_64, aarch64) (aarch64)
enum { OTHER_MACHINE = AUDIT_ARCH_ARM, MACHINE_WRITTEN_OUT = 0xc00000b7 };
#endif

enum { ALLOWED = 0, KILLED = -1 };

/* Runs the filter as the kernel does.
 * - Returns: 0 if it allows the call, the error that it gives, or KILLED. */
static int decision(struct seccomp_data call)
{
    uint32_t word = 0;
    for (size_t at = 0; at < sizeof filter / sizeof *filter; at++) {
        const struct sock_filter *step = &filter[at];
        switch (step->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            CHECK(step->k + sizeof word <= sizeof call && step->k % sizeof word == 0);
            memcpy(&word, (const char *)&call + step->k, sizeof word);
            break;
        case BPF_JMP | BPF_JEQ | BPF_K: at += word == step->k ? step->jt : step->jf; break;
        case BPF_JMP | BPF_JSET | BPF_K: at += (word & step->k) != 0 ? step->jt : step->jf; break;
        case BPF_RET | BPF_K:
            if (step->k == SECCOMP_RET_ALLOW) return ALLOWED;
            if (step->k == SECCOMP_RET_KILL_PROCESS) return KILLED;
            CHECK_EQUAL(step->k & SECCOMP_RET_ACTION_FULL, SECCOMP_RET_ERRNO);
            CHECK((step->k & SECCOMP_RET_DATA) != 0);
            return (int)(step->k & SECCOMP_RET_DATA);
        default: FAIL("the filter has a step %#x", step->code);
        }
    }
    FAIL("the filter has no end");
}

static int decision_on(int number, uint64_t third)
{
    return decision((struct seccomp_data){ .nr = number, .arch = THIS_MACHINE, .args = { ~0ULL, ~0ULL, third } });
}

/* Each number is that of the kernel's table: arch/x86/entry/syscalls/syscall_64.tbl, and scripts/syscall.tbl. */
static const struct {
    const char *name;
    int number, decision;
} calls[] = {
    { "recvfrom", NUMBER_OF(45, 207), ALLOWED },
    { "sendto", NUMBER_OF(44, 206), ALLOWED },
    { "brk", NUMBER_OF(12, 214), ALLOWED },
    { "munmap", NUMBER_OF(11, 215), ALLOWED },
    { "mremap", NUMBER_OF(25, 216), ALLOWED },
    { "madvise", NUMBER_OF(28, 233), ALLOWED },
    { "mmap", NUMBER_OF(9, 222), ALLOWED },
    { "mprotect", NUMBER_OF(10, 226), ALLOWED },
    { "ftruncate", NUMBER_OF(77, 46), ALLOWED },
    { "fstat", NUMBER_OF(5, 80), ALLOWED },
    { "futex", NUMBER_OF(202, 98), ALLOWED },
    { "sched_yield", NUMBER_OF(24, 124), ALLOWED },
    { "sched_getaffinity", NUMBER_OF(204, 123), ALLOWED },
    { "clock_gettime", NUMBER_OF(228, 113), ALLOWED },
    { "clock_nanosleep", NUMBER_OF(230, 115), ALLOWED },
    { "nanosleep", NUMBER_OF(35, 101), ALLOWED },
    { "gettid", NUMBER_OF(186, 178), ALLOWED },
    { "getpid", NUMBER_OF(39, 172), ALLOWED },
    { "getrandom", NUMBER_OF(318, 278), ALLOWED },
    { "exit", NUMBER_OF(60, 93), ALLOWED },
    { "exit_group", NUMBER_OF(231, 94), ALLOWED },
    { "rt_sigreturn", NUMBER_OF(15, 139), ALLOWED },
    { "rt_sigprocmask", NUMBER_OF(14, 135), ALLOWED },
    { "rt_sigaction", NUMBER_OF(13, 134), ALLOWED },
    { "sigaltstack", NUMBER_OF(131, 132), ALLOWED },
    { "clone", NUMBER_OF(56, 220), EAGAIN },
    { "clone3", NUMBER_OF(435, 435), ENOSYS },
};
enum { CALL_COUNT = sizeof calls / sizeof *calls, MOST = 2048 };

/* The calls of the table, and no other number, have what the table says. */
static void the_filter_is_the_table(void)
{
    int expected[MOST];
    for (int number = 0; number < MOST; number++) expected[number] = EPERM;
    for (int i = 0; i < CALL_COUNT; i++) {
        CHECK_EQUAL(expected[calls[i].number], EPERM);
        expected[calls[i].number] = calls[i].decision;
    }
    for (int number = 0; number < MOST; number++) {
        int actual = decision_on(number, 0);
        if (actual != expected[number]) FAIL("call %d: %d, not %d", number, actual, expected[number]);
    }
}

/* Memory that is mapped or changed is never executable, whatever other bits there are. */
static void no_memory_becomes_executable(void)
{
    static const int numbers[] = { NUMBER_OF(9, 222), NUMBER_OF(10, 226) };
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(decision_on(numbers[i], PROT_READ | PROT_WRITE), ALLOWED);
        CHECK_EQUAL(decision_on(numbers[i], PROT_EXEC), EPERM);
        CHECK_EQUAL(decision_on(numbers[i], PROT_READ | PROT_EXEC | 0xfff0), EPERM);
        // The half of the argument that has the bits is the one that is looked at.
        CHECK_EQUAL(decision_on(numbers[i], (uint64_t)PROT_EXEC << 32), ALLOWED);
    }
}

/* A process that calls by another machine's table is killed; the x32 calls of x86-64 are numbers that are not there. */
static void other_tables_do_not_count(void)
{
    CHECK_EQUAL((uint32_t)THIS_MACHINE, (uint32_t)MACHINE_WRITTEN_OUT);
    CHECK_EQUAL(decision((struct seccomp_data){ .nr = calls[0].number, .arch = OTHER_MACHINE }), KILLED);
    CHECK_EQUAL(decision_on(calls[0].number | 0x40000000, 0), EPERM);
    CHECK_EQUAL(decision_on(-1, 0), EPERM);
}

int main(void)
{
    RUN(the_filter_is_the_table);
    RUN(no_memory_becomes_executable);
    RUN(other_tables_do_not_count);
    return 0;
}

/*
 * simulate.c - plays stories by their seeds, each in a process of its own; see README.md.
 *
 *     simulate [--first SEED] [--seeds COUNT] [--seconds COUNT] [--jobs COUNT] [--twice] [--as-it-is]
 *     simulate --seed SEED              plays one, and tells its story
 *
 * Ends with status 1 at the first finding, after it was made smaller, unless that is to stay as it is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <execinfo.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "callers.h"
#include "system_faults.h"
#include "network.h"
#include "real.h"
#include "report.h"

enum { MOST_REAL_SECONDS = 60 };

struct report *report;
int tells_story;

/* Sums over all seeds, in memory that the jobs share. */
static struct sums {
    atomic_ullong seeds, steps, switches, virtual_ms, calls, transfers, network_faults, faults;
    atomic_int has_finding;
    atomic_uchar states[MOST_STATES / 8];
} *sums;

static char folder[64];
static int is_warming, stays_as_it_is;
static double start_time, end_time; /* no seed begins after it */

/* ---- telling */

void tell(const char *format, ...)
{
    if (!tells_story) return;
    va_list values;
    va_start(values, format);
    size_t left = sizeof report->story - report->story_size;
    int64_t us = virtual_now() / 1000;
    int size = snprintf(report->story + report->story_size, left, "%8d.%06d %2d  ", (int)(us / 1000000),
                        (int)(us % 1000000), number_of(running()));
    size += vsnprintf(report->story + report->story_size + size, left > (size_t)size ? left - (size_t)size : 0, format, values);
    va_end(values);
    if ((size_t)size + 2 > left) return;
    report->story_size += (size_t)size;
    report->story[report->story_size++] = '\n';
    report->story[report->story_size] = 0;
}

void reached(uint32_t kind, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t place = (((kind * 31 + a) * 131 + b) * 137 + c) * 2654435761u >> 18;
    report->states[place / 8] |= (unsigned char)(1 << place % 8);
}

/* ---- the folder of a job */

static void empty_folder(void)
{
    if (system("rm -rf cache") != 0 || mkdir("cache", 0700) != 0) abort();
}

static void enter_folder(int job)
{
    /* Names of one length, so that nothing depends on them. */
    snprintf(folder, sizeof folder, "/dev/shm/sdd-simulation-%08d-%02d", (int)getpid() % 100000000, job % 100);
    if (mkdir(folder, 0700) != 0 || chdir(folder) != 0) {
        perror(folder);
        exit(2);
    }
}

static void leave_folder(void)
{
    empty_folder();
    if (rmdir("cache") == 0 && chdir("/") == 0) rmdir(folder);
}

/* ---- one story, in the process that is to end with it */

static void end_report(void)
{
    report->trace = *trace_so_far();
    report->virtual_ns = virtual_now();
    report->faults = count_faults();
}

/* Ends this process, and the others of the simulation. */
static _Noreturn void end_all_processes(void)
{
    if (!is_warming) kill(0, SIGKILL);
    leave_folder();
    _exit(1);
}

static void write_finding(enum finding finding, const char *sentence)
{
    report->finding = finding;
    snprintf(report->sentence, sizeof report->sentence, "%s", sentence);
    end_report();
    if (is_warming) fprintf(stderr, "simulate: the first story: %s\n", sentence);
    if ((tells_story && finding != FOUND_WRONG) || is_warming) tell_tasks(2);
    end_all_processes();
}

static void on_crash(int number)
{
    void *places[60];
    report->finding = FOUND_CRASH;
    snprintf(report->sentence, sizeof report->sentence, "signal %d, %s", number, strsignal(number));
    end_report();
    if (is_warming) fprintf(stderr, "simulate: the first story: %s\n", report->sentence);
    if (tells_story) backtrace_symbols_fd(places, backtrace(places, 60), 2);
    end_all_processes();
}

/* Of some seeds the story is played twice in one folder: the process of the first time is killed. */
static uint64_t killed_at(uint64_t seed)
{
    struct chance chance = { seed ^ 0xdead };
    return one_in(&chance, 4) ? 100 + below(&chance, 12000) : 0;
}

static void play(uint64_t seed, const struct left_out *left_out, uint64_t last_step)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE };
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], on_crash);
    set_finding(write_finding);
    begin_simulation(seed);
    kill_at_step(0, last_step);
    play_story(seed, left_out, "cache");
    end_simulation();
    end_report();
}

/* ---- processes */

static void run_process(uint64_t seed, const struct left_out *left_out, uint64_t last_step)
{
    memset(report, 0, offsetof(struct report, story));
    report->story[0] = 0;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(MOST_REAL_SECONDS);
        signal(SIGALRM, SIG_DFL);
        play(seed, left_out, last_step);
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    /* One of its processes may have been forked as it died: it would wait for ever, and hold the output open. */
    kill(-child, SIGKILL);
    if (report->finding != FOUND_NOTHING || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return;
    report->finding = FOUND_HARNESS;
    snprintf(report->sentence, sizeof report->sentence, "the process ended with %s %d and without a word",
             WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* A file that was not synced when the power failed: its end is missing, or a part of it is empty. */
static int lose_some(const char *path, const struct stat *facts, int type, struct FTW *unused)
{
    (void)unused;
    if (type != FTW_F || facts->st_size == 0) return 0;
    struct chance chance = { (uint64_t)facts->st_size };
    for (const char *at = path; *at; at++) chance.state = chance.state * 31 + (uint8_t)*at;
    off_t from = below(&chance, (uint32_t)facts->st_size), size = below(&chance, (uint32_t)(facts->st_size - from)) + 1;
    uint32_t kind = below(&chance, 3);
    if (kind == 0) return truncate(path, from);
    int file = kind == 1 ? open(path, O_WRONLY) : -1;
    if (file < 0) return 0;
    static const char empty[1 << 16];
    if (pwrite(file, empty, (size_t)size < sizeof empty ? (size_t)size : sizeof empty, from) < 0) abort();
    return close(file);
}

/* Plays a seed, in processes of its own. */
static void run_child(uint64_t seed, const struct left_out *left_out)
{
    empty_folder();
    uint64_t last_step = killed_at(seed);
    if (last_step) run_process(seed, left_out, last_step);
    if (last_step % 3 == 1 && report->finding == FOUND_NOTHING && nftw("cache", lose_some, 16, FTW_PHYS) != 0) abort();
    if (last_step == 0 || report->finding == FOUND_NOTHING) run_process(seed, left_out, 0);
}

/* ---- making a finding smaller */

static double seconds_now(void)
{
    struct timespec now;
    real.clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether two sentences say the same but for their numbers. */
static int are_alike(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a >= '0' && *a <= '9') a++;
        while (*b >= '0' && *b <= '9') b++;
        if (*a != *b) return 0;
        if (*a == 0) return 1;
    }
}

static int is_same(uint64_t seed, const struct left_out *left_out, enum finding finding, const char *sentence)
{
    run_child(seed, left_out);
    return report->finding == finding && are_alike(report->sentence, sentence);
}

static struct left_out make_smaller(uint64_t seed, enum finding finding, const char *sentence)
{
    struct left_out smallest = { { 0 } };
    for (int size = MOST_ACTIONS; size > 0; size /= 2)
        for (int caller = 0; caller < MOST_CALLERS; caller++)
            for (int first = 0; first < count_actions(seed, caller); first += size) {
                struct left_out tried = smallest;
                tried.actions[caller] |= (uint32_t)(((uint64_t)1 << size) - 1) << first;
                if (memcmp(&tried, &smallest, sizeof tried) != 0 && is_same(seed, &tried, finding, sentence)) smallest = tried;
            }
    return smallest;
}

static const char *name_of(enum finding finding)
{
    static const char *const names[] = { "nothing", "deadlock", "no end", "wrong", "crash", "a fault of the simulation" };
    return names[finding];
}

static void tell_finding(uint64_t seed)
{
    enum finding finding = report->finding;
    char sentence[sizeof report->sentence];
    memcpy(sentence, report->sentence, sizeof sentence);
    printf("seed %llu: %s: %s (after %llu seeds, %.1f s)\n", (unsigned long long)seed, name_of(finding), sentence,
           (unsigned long long)sums->seeds, seconds_now() - start_time);
    fflush(stdout);
    if (stays_as_it_is) return;
    struct left_out smallest = make_smaller(seed, finding, sentence);
    tells_story = 1;
    run_child(seed, &smallest);
    tells_story = 0;
    int left = 0, all = 0;
    for (int caller = 0; caller < MOST_CALLERS; caller++) {
        uint32_t count = (uint32_t)count_actions(seed, caller);
        all += (int)count;
        left += __builtin_popcount(~smallest.actions[caller] & (uint32_t)(((uint64_t)1 << count) - 1));
    }
    printf("made smaller, to %d of %d actions: %s: %s\n", left, all, name_of(report->finding), report->sentence);
    printf("seconds, thread, what it does:\n%s", report->story);
    printf("replay: make simulate SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
}

/* ---- many seeds */

static void add_to_sums(void)
{
    sums->seeds++;
    sums->steps += report->trace.steps;
    sums->switches += report->trace.switches;
    sums->virtual_ms += (unsigned long long)(report->virtual_ns / 1000000);
    sums->calls += report->calls;
    sums->transfers += report->transfers;
    sums->network_faults += report->network_faults;
    sums->faults += report->faults;
    for (int i = 0; i < MOST_STATES / 8; i++)
        if (report->states[i]) atomic_fetch_or(&sums->states[i], report->states[i]);
}

static void print_sums(double seconds)
{
    int states = 0;
    for (int i = 0; i < MOST_STATES / 8; i++) states += __builtin_popcount(sums->states[i]);
    unsigned long long count = sums->seeds ? sums->seeds : 1;
    printf("%llu seeds, %.0f a second; %.1f hours of the simulation; %llu steps and %llu switches a seed; %llu calls, "
           "%llu transfers, faults: %llu of hosts, %llu of the system; %d states\n",
           (unsigned long long)sums->seeds, (double)sums->seeds / seconds, (double)sums->virtual_ms / 3.6e6,
           sums->steps / count, sums->switches / count, (unsigned long long)sums->calls,
           (unsigned long long)sums->transfers, (unsigned long long)sums->network_faults,
           (unsigned long long)sums->faults, states);
    fflush(stdout);
}

/* One thread runs at a time: handing the baton on is much faster on one processor. */
static void stay_on_one_processor(int job)
{
    static cpu_set_t allowed; /* at the beginning */
    cpu_set_t one;
    if (CPU_COUNT(&allowed) == 0 && sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    int number = job % CPU_COUNT(&allowed);
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (!CPU_ISSET(processor, &allowed) || number-- > 0) continue;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static int run_job(uint64_t first, uint64_t count, int job, int jobs, int twice)
{
    static const struct left_out nothing;
    struct report once;
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    enter_folder(job);
    stay_on_one_processor(job);
    int failed = 0;
    for (uint64_t seed = first + (uint64_t)job; seed < first + count && !sums->has_finding && seconds_now() < end_time; seed += (uint64_t)jobs) {
        run_child(seed, &nothing);
        if (report->finding != FOUND_NOTHING) {
            failed = 1;
        } else if (twice) {
            once = *report;
            run_child(seed, &nothing);
            if (memcmp(&once.trace, &report->trace, sizeof once.trace) != 0) {
                printf("seed %llu: two runs differ: %llu and %llu steps\n", (unsigned long long)seed,
                       (unsigned long long)once.trace.steps, (unsigned long long)report->trace.steps);
                sums->has_finding = failed = 1;
                break;
            }
        }
        if (failed) {
            if (atomic_exchange(&sums->has_finding, 1) == 0) tell_finding(seed);
            break;
        }
        add_to_sums();
    }
    leave_folder();
    return failed;
}

/* What the first use of the library makes is there before the stories begin, so that each of them begins alike. */
static void warm_up(void)
{
    static const struct left_out nothing;
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    enter_folder(99);
    empty_folder();
    make_pictures();
    is_warming = 1;
    play(1, &nothing, 0);
    is_warming = 0;
    leave_folder();
}

/* The same addresses and the same order of hash tables in each process. */
static void begin_alike(char **arguments)
{
    int persona = personality(0xffffffff);
    if (persona & ADDR_NO_RANDOMIZE && getenv("SWIFT_DETERMINISTIC_HASHING")) return;
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1);
    setenv("SDD_CODER_PATH", "", 1);
    if (personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0 || execv("/proc/self/exe", arguments) != 0)
        perror("simulate");
    exit(2);
}

/* Plays one seed, and tells its story. */
static int play_one(uint64_t seed)
{
    static const struct left_out nothing;
    enter_folder(0);
    tells_story = 1;
    run_child(seed, &nothing);
    printf("%s%s: %s; %llu steps, trace %016llx\n", report->story, name_of(report->finding), report->sentence,
           (unsigned long long)report->trace.steps, (unsigned long long)report->trace.hash);
    leave_folder();
    return report->finding != FOUND_NOTHING;
}

static int play_many(uint64_t first, uint64_t seeds, int jobs, int twice)
{
    double told = start_time;
    int failed = 0;
    fflush(stdout);
    for (int job = 0; job < jobs; job++)
        if (fork() == 0) exit(run_job(first, seeds, job, jobs, twice));
    for (int left = jobs; left > 0;) {
        int status;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            left--;
            failed |= status != 0;
            continue;
        }
        usleep(20000);
        if (seconds_now() - told < 10) continue;
        told = seconds_now();
        print_sums(told - start_time);
    }
    print_sums(seconds_now() - start_time);
    return failed;
}

int main(int count, char **arguments)
{
    uint64_t first = 1, seeds = 2000, one = 0;
    double seconds = 1e9;
    int jobs = (int)sysconf(_SC_NPROCESSORS_ONLN), twice = 0;
    for (int i = 1; i < count; i++) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : "";
        if (strcmp(name, "--twice") == 0) twice = 1;
        else if (strcmp(name, "--as-it-is") == 0) stays_as_it_is = 1;
        else if (strcmp(name, "--first") == 0) first = strtoull(value, NULL, 10), i++;
        else if (strcmp(name, "--seeds") == 0) seeds = strtoull(value, NULL, 10), i++;
        else if (strcmp(name, "--seconds") == 0) seconds = atof(value), i++;
        else if (strcmp(name, "--jobs") == 0) jobs = atoi(value), i++;
        else if (strcmp(name, "--seed") == 0) one = strtoull(value, NULL, 10), i++;
        else return fprintf(stderr, "simulate: %s is no option\n", name), 2;
    }
    begin_alike(arguments);
    sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    stay_on_one_processor(0);
    warm_up();
    start_time = seconds_now();
    end_time = start_time + seconds;
    if (one) return play_one(one);
    return play_many(first, seeds, jobs < 1 ? 1 : jobs, twice);
}

/* scheduler.c - see scheduler.h. */
#define _GNU_SOURCE
#include "scheduler.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "real.h"

enum { MOST_STEPS = 3000000, MOST_CHANGES = 6, STEPS_EXPECTED = 20000 };

struct task {
    int number, process, has_ended, is_in_time;
    char name[16];
    pthread_t real;
    atomic_int has_baton; /* a futex */
    enum wait_kind waits;
    const void *object;
    int64_t deadline;
    uint32_t rank; /* of those that can run, the one with the highest runs */
    void *(*body)(void *);
    void *argument, *result;
};

/* What all processes of a simulation have in common, in memory that they share. */
static struct simulation {
    struct task tasks[MOST_TASKS];
    int task_count, process_count;
    struct task *current;
    int64_t now;
    struct chance order;
    struct trace trace;
    /* How a seed chooses: by ranks that change a few times, or anew with a chance of 1 in `period` at each step. */
    int uses_ranks;
    uint32_t period;
    uint64_t changes[MOST_CHANGES];
    /* The process `victim` is killed at the step `last_step`. */
    int victim;
    uint64_t last_step;
    pid_t dying; /* the process that is about to end; its parent waits for that */
} *all;

static int process; /* the number of this one */
static int is_on;
static struct task *ending; /* of this process: its real thread has to be waited for */
static finding_fn tell_finding;
static pthread_key_t end_key;
static int steps_to = -1; /* a file for all steps, to compare two runs */

static _Noreturn void end_process(void);

/* ---- chance */

/* splitmix64 */
static uint64_t next(struct chance *chance)
{
    uint64_t z = (chance->state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint32_t below(struct chance *chance, uint32_t limit)
{
    return limit < 2 ? 0 : (uint32_t)((next(chance) >> 32) * limit >> 32);
}

uint32_t order_below(uint32_t limit) { return below(&all->order, limit); }

/* ---- the baton */

static void give(struct task *task)
{
    atomic_store(&task->has_baton, 1);
    real.syscall(SYS_futex, &task->has_baton, FUTEX_WAKE, 1, NULL, NULL, 0L);
}

static void await(struct task *task)
{
    while (!atomic_load(&task->has_baton)) real.syscall(SYS_futex, &task->has_baton, FUTEX_WAIT, 0, NULL, NULL, 0L);
    atomic_store(&task->has_baton, 0);
    if (all->dying) waitpid(all->dying, NULL, 0); /* its files and locks are gone then; nobody else lives than its parent */
    all->dying = 0;
    if (ending == NULL) return;
    /* The thread that ends gives memory back until it is gone. */
    struct task *gone = ending;
    ending = NULL;
    real.pthread_join(gone->real, NULL);
}

static void note(enum step_kind kind)
{
    if (all->current->process != process || all->current->real != real.pthread_self())
        found(FOUND_HARNESS, "a thread runs without the baton, which %s has", all->current->name);
    all->trace.hash = (all->trace.hash ^ ((uint64_t)kind << 32 | (uint64_t)all->current->number << 48 | (uint64_t)all->now)) * 0x100000001b3u;
    all->trace.steps++;
    if (steps_to < 0) return;
    Dl_info caller = { 0 };
    void *places[12];
    int count = backtrace(places, 12);
    dprintf(steps_to, "%lld %s %d", (long long)all->now, all->current->name, kind);
    for (int i = 2; i < count; i++) {
        if (dladdr(places[i], &caller) == 0) continue;
        dprintf(steps_to, " %lx", (unsigned long)((char *)places[i] - (char *)caller.dli_fbase));
    }
    dprintf(steps_to, "\n");
}

static struct task *choose_by_chance(void)
{
    struct task *able[MOST_TASKS];
    uint32_t count = 0;
    for (int i = 0; i < all->task_count; i++)
        if (all->tasks[i].waits == RUNS) able[count++] = &all->tasks[i];
    return count ? able[order_below(count)] : NULL;
}

static struct task *choose_by_rank(void)
{
    struct task *best = NULL;
    for (int i = 0; i < all->task_count; i++)
        if (all->tasks[i].waits == RUNS && (best == NULL || all->tasks[i].rank > best->rank)) best = &all->tasks[i];
    return best;
}

/* Moves the time to the next deadline. Returns 0 if there is none. */
static int jump(void)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < all->task_count; i++) {
        if (all->tasks[i].waits == RUNS || all->tasks[i].waits == HAS_ENDED || all->tasks[i].deadline < 0) continue;
        if (all->tasks[i].deadline < next) next = all->tasks[i].deadline;
    }
    if (next == INT64_MAX) return 0;
    if (next > all->now) all->now = next;
    return 1;
}

static void let_late_ones_run(void)
{
    for (int i = 0; i < all->task_count; i++) {
        struct task *task = &all->tasks[i];
        if (task->waits == RUNS || task->waits == HAS_ENDED || task->deadline < 0 || task->deadline > all->now) continue;
        task->waits = RUNS;
        task->is_in_time = 0;
    }
}

static struct task *choose(void)
{
    for (;;) {
        let_late_ones_run();
        struct task *task = all->uses_ranks ? choose_by_rank() : choose_by_chance();
        if (task) return task;
        if (!jump()) found(FOUND_DEADLOCK, "no thread can go on, and none waits for a time");
    }
}

/* Gives the baton to whom the seed chooses; returns when this thread has it again. */
static void pass(void)
{
    struct task *self = all->current, *task = choose();
    if (task == self) return;
    int has_ended = self->has_ended; /* the next one may end the whole process */
    all->trace.switches++;
    all->current = task;
    give(task);
    if (!has_ended) await(self);
}

/* Whether the order is looked at again at this step. */
static int is_change(void)
{
    if (!all->uses_ranks) return order_below(all->period) == 0;
    for (int i = 0; i < MOST_CHANGES; i++) {
        if (all->changes[i] == 0 || all->trace.steps < all->changes[i]) continue;
        all->changes[i] = 0;
        all->current->rank = (uint32_t)i; /* below those that have had no change */
        return 1;
    }
    return 0;
}

void step(enum step_kind kind)
{
    note(kind);
    all->now += 100 + order_below(400);
    if (all->trace.steps > MOST_STEPS) found(FOUND_LIVELOCK, "there was no end after %d steps", MOST_STEPS);
    if (process == all->victim && all->last_step && all->trace.steps >= all->last_step) end_process();
    /* A thread that is held up for a while, as on a busy machine; all others go on. */
    if (order_below(4096) == 0) wait_for(FOR_TIME, NULL, all->now + order_below(50) * MILLISECOND);
    else if (is_change()) pass();
}

int wait_for(enum wait_kind kind, const void *object, int64_t deadline)
{
    struct task *self = all->current;
    if (deadline >= 0 && deadline <= all->now) {
        step(STEP_WAIT);
        return 0;
    }
    note(STEP_WAIT);
    self->waits = kind;
    self->object = object;
    self->deadline = deadline;
    self->is_in_time = 1;
    pass();
    self->deadline = -1;
    self->object = NULL;
    return self->is_in_time;
}

/* Addresses mean something within one process; the end of a process is waited for by others. */
static int is_waiting(const struct task *task, enum wait_kind kind, const void *object)
{
    return task->waits == kind && task->object == object && (task->process == process || kind == FOR_END);
}

void wake_one(enum wait_kind kind, const void *object)
{
    struct task *waiting[MOST_TASKS];
    uint32_t count = 0;
    for (int i = 0; i < all->task_count; i++)
        if (is_waiting(&all->tasks[i], kind, object)) waiting[count++] = &all->tasks[i];
    if (count) waiting[order_below(count)]->waits = RUNS;
}

void wake_all(enum wait_kind kind, const void *object)
{
    for (int i = 0; i < all->task_count; i++)
        if (is_waiting(&all->tasks[i], kind, object)) all->tasks[i].waits = RUNS;
}

void look_at_waiting(enum wait_kind kind, ready_fn is_ready)
{
    for (int i = 0; i < all->task_count; i++) {
        struct task *task = &all->tasks[i];
        if (task->process == process && task->waits == kind && is_ready(task->object)) task->waits = RUNS;
    }
}

/* ---- time */

int64_t virtual_now(void) { return all->now; }

void sleep_until(int64_t time)
{
    while (all->now < time) wait_for(FOR_TIME, NULL, time);
}

/* ---- threads */

static struct task *new_task(void)
{
    if (all->task_count == MOST_TASKS) found(FOUND_HARNESS, "more than %d threads were started", MOST_TASKS);
    struct task *task = &all->tasks[all->task_count];
    memset(task, 0, sizeof *task);
    task->number = all->task_count++;
    task->deadline = -1;
    task->rank = MOST_CHANGES + order_below(1 << 20);
    task->process = process;
    return task;
}

/* The destructors of a thread's own data run before this, except in the last round. */
static void end_task(void *context)
{
    static __thread int round;
    struct task *self = context;
    if (++round < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(end_key, self);
        return;
    }
    note(STEP_END);
    self->waits = HAS_ENDED;
    self->has_ended = 1;
    wake_all(FOR_END, self);
    ending = self;
    pass();
}

static void *run_task(void *context)
{
    struct task *self = context;
    sigset_t told; /* the library's threads have all signals blocked; crashes and tell_tasks() are to be heard of */
    sigfillset(&told);
    pthread_sigmask(SIG_UNBLOCK, &told, NULL);
    pthread_setspecific(end_key, self);
    await(self);
    self->result = self->body(self->argument);
    return self->result;
}

struct task *start_task(void *(*body)(void *), void *argument)
{
    struct task *task = new_task();
    task->body = body;
    task->argument = argument;
    int error = real.pthread_create(&task->real, NULL, run_task, task);
    if (error) found(FOUND_HARNESS, "the system gives no thread: %s", strerror(error));
    snprintf(task->name, sizeof task->name, "thread-%d", task->number);
    step(STEP_START);
    return task;
}

void *join_task(struct task *task)
{
    step(STEP_JOIN);
    while (!task->has_ended) wait_for(FOR_END, task, -1);
    return task->result;
}

/* ---- processes */

/* Ends this process and all of its threads, as if it were killed. Not for the first one, which the others need. */
static _Noreturn void end_process(void)
{
    if (process == 0) _exit(0);
    for (int i = 0; i < all->task_count; i++) {
        if (all->tasks[i].process != process) continue;
        all->tasks[i].waits = HAS_ENDED;
        all->tasks[i].has_ended = 1;
        wake_all(FOR_END, &all->tasks[i]);
    }
    all->dying = getpid();
    all->current = choose();
    give(all->current);
    _exit(0);
}

/* The first thread of the child that this thread makes; of the one that is made now; and the thread that makes it. */
static __thread struct task *to_fork;
static struct task *forked, *forking;

/* The last thing before a fork: other threads may run while the library prepares itself. */
static void end_before_fork(void)
{
    forked = to_fork;
    forking = forked ? all->current : NULL;
}

/* The first thing that a child does: the handlers of the library come after it. */
static void begin_in_child(void)
{
    if (forked == NULL) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    process = forked->process;
    forked->real = real.pthread_self();
    inherit_locks(forking, forked);
    await(forked);
}

static void ask_for_forks(void) { pthread_atfork(end_before_fork, NULL, begin_in_child); }
__attribute__((section(".preinit_array"), used)) static void (*const before_all_libraries)(void) = ask_for_forks;

struct task *start_process(void (*body)(void *), void *argument)
{
    struct task *task = new_task();
    task->process = ++all->process_count;
    snprintf(task->name, sizeof task->name, "%.15s", "other process");
    task->waits = HAS_ENDED; /* until it is there */
    to_fork = task;
    pid_t child = fork();
    if (child < 0) found(FOUND_HARNESS, "the system gives no process: %s", strerror(errno));
    if (child == 0) {
        body(argument);
        end_process();
    }
    task->waits = RUNS;
    step(STEP_START);
    return task;
}

/* The system uses its own values again for later threads, so these are others. */
struct task *task_of(unsigned long thread) { return (struct task *)thread; }
unsigned long thread_of(const struct task *task) { return (unsigned long)task; }
struct task *running(void) { return all->current; }
int number_of(const struct task *task) { return task->number; }
unsigned long real_thread_of(const struct task *task) { return task->real; }

void name_task(struct task *task, const char *name) { snprintf(task->name, sizeof task->name, "%s", name); }

/* ---- the simulation */

int is_simulated(void) { return is_on; }

void begin_simulation(uint64_t seed)
{
    if (all == NULL) pthread_key_create(&end_key, end_task);
    /* New memory, so that nothing is shared with another simulation; in the same place, so that replays are exact. */
    all = mmap(all, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | (all ? MAP_FIXED : 0), -1, 0);
    if (all == MAP_FAILED) abort();
    all->trace.hash = 0xcbf29ce484222325u;
    all->order.state = seed * 2 + 1;
    ending = NULL;
    all->uses_ranks = order_below(3) == 0;
    all->period = 1u << (1 + order_below(7));
    for (int i = 0; i < MOST_CHANGES; i++) all->changes[i] = 1 + order_below(STEPS_EXPECTED);
    all->current = new_task();
    all->current->real = real.pthread_self();
    name_task(all->current, "main");
    const char *traced = getenv("SDD_SIMULATION_STEPS");
    if (traced) steps_to = open(traced, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    is_on = 1;
}

void end_simulation(void) { is_on = 0; }

void kill_at_step(int victim, uint64_t step)
{
    if (all->last_step) return;
    all->victim = victim;
    all->last_step = step;
}

static int count_living(void)
{
    int count = 0;
    for (int i = 0; i < all->task_count; i++) count += all->tasks[i].process == process && !all->tasks[i].has_ended;
    return count;
}

int await_threads(void)
{
    for (int second = 0; second < 60 && count_living() > 1; second++) sleep_until(all->now + SECOND);
    return count_living() - 1;
}

const struct trace *trace_so_far(void) { return &all->trace; }

/* ---- findings */

void set_finding(finding_fn found) { tell_finding = found; }

_Noreturn void found(enum finding finding, const char *format, ...)
{
    char sentence[500];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    is_on = 0;
    if (tell_finding) tell_finding(finding, sentence);
    _exit(1);
}

static int stacks_to;
static atomic_int stack_is_told;

static void tell_stack(int number)
{
    void *places[60];
    (void)number;
    int count = backtrace(places, 60);
    backtrace_symbols_fd(places + 2, count > 2 ? count - 2 : 0, stacks_to);
    atomic_store(&stack_is_told, 1);
}

void tell_tasks(int descriptor)
{
    static const char *const states[] = { "can run", "waits for a lock", "waits for a signal", "waits for the end of a thread",
        "waits for descriptors", "sleeps", "has ended" };
    struct sigaction action = { .sa_handler = tell_stack };
    sigaction(SIGUSR2, &action, NULL);
    stacks_to = descriptor;
    is_on = 0;
    for (int i = 0; i < all->task_count; i++) {
        struct task *task = &all->tasks[i];
        if (task->has_ended || task->process != process) continue;
        dprintf(descriptor, "%s %s%s\n", task->name, states[task->waits], task == all->current ? ", and has the baton" : "");
        if (task == all->current) {
            tell_stack(0);
            continue;
        }
        atomic_store(&stack_is_told, 0);
        if (pthread_kill(task->real, SIGUSR2) != 0) continue;
        for (int tries = 0; tries < 200 && !atomic_load(&stack_is_told); tries++) usleep(1000);
    }
}

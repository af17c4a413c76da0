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
#include <sys/syscall.h>
#include <unistd.h>

#include "real.h"

enum { MOST_STEPS = 3000000, MOST_CHANGES = 6, STEPS_EXPECTED = 20000 };

struct task {
    int number, is_joined, has_ended, is_in_time;
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

static struct task tasks[MOST_TASKS];
static int task_count, living;
static struct task *current;
static struct task *ending; /* its real thread has to be waited for */
static int is_on;
static int64_t now;
static uint64_t last_step;
static struct chance order;
static struct trace trace;
static ready_fn is_ready;
static finding_fn tell_finding;
static pthread_key_t end_key;
static int steps_to = -1; /* a file for all steps, to compare two runs */

/* How a seed chooses: with ranks that change a few times, or anew with a chance of 1 in `period` at each step. */
static int uses_ranks;
static uint32_t period;
static uint64_t changes[MOST_CHANGES];

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

uint32_t order_below(uint32_t limit) { return below(&order, limit); }

/* ---- the baton */

static void give(struct task *task)
{
    atomic_store(&task->has_baton, 1);
    real.syscall(SYS_futex, &task->has_baton, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0L);
}

static void await(struct task *task)
{
    while (!atomic_load(&task->has_baton)) real.syscall(SYS_futex, &task->has_baton, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0L);
    atomic_store(&task->has_baton, 0);
    if (ending == NULL) return;
    /* The thread that ends gives memory back until it is gone. */
    struct task *gone = ending;
    ending = NULL;
    real.pthread_join(gone->real, NULL);
}

static void note(enum step_kind kind)
{
    trace.hash = (trace.hash ^ ((uint64_t)kind << 32 | (uint64_t)current->number << 48 | (uint64_t)now)) * 0x100000001b3u;
    trace.steps++;
    trace.kinds[kind]++;
    if (steps_to < 0) return;
    Dl_info caller = { 0 };
    void *places[12];
    int count = backtrace(places, 12);
    dprintf(steps_to, "%lld %s %d", (long long)now, current->name, kind);
    for (int i = 2; i < count; i++) {
        if (dladdr(places[i], &caller) == 0) continue;
        dprintf(steps_to, " %lx", (unsigned long)((char *)places[i] - (char *)caller.dli_fbase));
    }
    dprintf(steps_to, "\n");
}

static int can_run(struct task *task)
{
    if (task->waits == FOR_DESCRIPTORS && is_ready && is_ready(task->object)) task->waits = RUNS;
    return task->waits == RUNS;
}

static struct task *choose_by_chance(void)
{
    struct task *able[MOST_TASKS];
    uint32_t count = 0;
    for (int i = 0; i < task_count; i++)
        if (can_run(&tasks[i])) able[count++] = &tasks[i];
    return count ? able[order_below(count)] : NULL;
}

static struct task *choose_by_rank(void)
{
    struct task *best = NULL;
    for (int i = 0; i < task_count; i++)
        if (can_run(&tasks[i]) && (best == NULL || tasks[i].rank > best->rank)) best = &tasks[i];
    return best;
}

/* Moves the time to the next deadline, and lets those that waited for it go on. Returns 0 if there is none. */
static int jump(void)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < task_count; i++) {
        if (tasks[i].waits == RUNS || tasks[i].waits == HAS_ENDED || tasks[i].deadline < 0) continue;
        if (tasks[i].deadline < next) next = tasks[i].deadline;
    }
    if (next == INT64_MAX) return 0;
    if (next > now) now = next;
    return 1;
}

static void let_late_ones_run(void)
{
    for (int i = 0; i < task_count; i++) {
        struct task *task = &tasks[i];
        if (task->waits == RUNS || task->waits == HAS_ENDED || task->deadline < 0 || task->deadline > now) continue;
        task->waits = RUNS;
        task->is_in_time = 0;
    }
}

static struct task *choose(void)
{
    for (;;) {
        let_late_ones_run();
        struct task *task = uses_ranks ? choose_by_rank() : choose_by_chance();
        if (task) return task;
        if (!jump()) found(FOUND_DEADLOCK, "no thread can go on, and none waits for a time");
    }
}

/* Gives the baton to whom the seed chooses; returns when this thread has it again. */
static void pass(void)
{
    struct task *self = current, *task = choose();
    if (task == self) return;
    trace.switches++;
    current = task;
    give(task);
    if (self->has_ended) return;
    await(self);
}

/* Whether the order is looked at again at this step. */
static int is_change(void)
{
    if (!uses_ranks) return order_below(period) == 0;
    for (int i = 0; i < MOST_CHANGES; i++) {
        if (changes[i] == 0 || trace.steps < changes[i]) continue;
        changes[i] = 0;
        current->rank = (uint32_t)i; /* below those that have had no change */
        return 1;
    }
    return 0;
}

void step(enum step_kind kind)
{
    note(kind);
    now += 100 + order_below(400);
    /* A thread that is held up for a while, as on a busy machine. */
    if (order_below(4096) == 0) now += (int64_t)order_below(50) * 1000000;
    if (trace.steps > MOST_STEPS) found(FOUND_LIVELOCK, "there was no end after %d steps", MOST_STEPS);
    if (trace.steps == last_step) _exit(0);
    if (is_change()) pass();
}

int wait_for(enum wait_kind kind, const void *object, int64_t deadline)
{
    struct task *self = current;
    if (deadline >= 0 && deadline <= now) {
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

void wake_one(enum wait_kind kind, const void *object)
{
    struct task *waiting[MOST_TASKS];
    uint32_t count = 0;
    for (int i = 0; i < task_count; i++)
        if (tasks[i].waits == kind && tasks[i].object == object) waiting[count++] = &tasks[i];
    if (count) waiting[order_below(count)]->waits = RUNS;
}

void wake_all(enum wait_kind kind, const void *object)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].waits == kind && tasks[i].object == object) tasks[i].waits = RUNS;
}

void set_ready(ready_fn ready) { is_ready = ready; }

/* ---- time */

int64_t virtual_now(void) { return now; }

void sleep_until(int64_t time)
{
    while (now < time) wait_for(FOR_TIME, NULL, time);
}

/* ---- threads */

static struct task *new_task(void)
{
    if (task_count == MOST_TASKS) found(FOUND_HARNESS, "more than %d threads were started", MOST_TASKS);
    struct task *task = &tasks[task_count];
    memset(task, 0, sizeof *task);
    task->number = task_count++;
    task->deadline = -1;
    task->rank = MOST_CHANGES + order_below(1 << 20);
    living++;
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
    living--;
    wake_all(FOR_END, self);
    ending = self;
    pass();
}

static void *run_task(void *context)
{
    struct task *self = context;
    sigset_t told; /* the library's threads have all signals blocked */
    sigemptyset(&told);
    sigaddset(&told, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &told, NULL);
    pthread_setspecific(end_key, self);
    await(self);
    self->result = self->body(self->argument);
    return self->result;
}

struct task *start_task(void *(*body)(void *), void *argument, int *error)
{
    struct task *task = new_task();
    task->body = body;
    task->argument = argument;
    *error = real.pthread_create(&task->real, NULL, run_task, task);
    if (*error) found(FOUND_HARNESS, "the system gives no thread: %s", strerror(*error));
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

/* The system uses its own values again for later threads, so these are others. */
struct task *task_of(unsigned long thread) { return (struct task *)thread; }
unsigned long thread_of(const struct task *task) { return (unsigned long)task; }
struct task *running(void) { return current; }
int number_of(const struct task *task) { return task->number; }
unsigned long real_thread_of(const struct task *task) { return task->real; }

void name_task(struct task *task, const char *name) { snprintf(task->name, sizeof task->name, "%s", name); }

/* ---- the simulation */

int is_simulated(void) { return is_on; }

void begin_simulation(uint64_t seed)
{
    static int has_key;
    if (!has_key) has_key = pthread_key_create(&end_key, end_task) == 0;
    memset(&trace, 0, sizeof trace);
    trace.hash = 0xcbf29ce484222325u;
    order.state = seed * 2 + 1;
    task_count = living = 0;
    now = 0;
    ending = NULL;
    uses_ranks = order_below(3) == 0;
    period = 1u << (1 + order_below(7));
    for (int i = 0; i < MOST_CHANGES; i++) changes[i] = 1 + order_below(STEPS_EXPECTED);
    current = new_task();
    current->real = real.pthread_self();
    name_task(current, "main");
    if (getenv("SDD_STEPS") && seed == (uint64_t)atoll(getenv("SDD_STEPS"))) steps_to = open("/tmp/steps", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    is_on = 1;
}

void end_simulation(void) { is_on = 0; }

void kill_at_step(uint64_t step) { last_step = step; }

int await_threads(void)
{
    for (int second = 0; second < 60 && living > 1; second++) sleep_until(now + 1000000000);
    return living - 1;
}

const struct trace *trace_so_far(void) { return &trace; }

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
    for (int i = 0; i < task_count; i++) {
        struct task *task = &tasks[i];
        if (task->has_ended) continue;
        dprintf(descriptor, "%s %s%s\n", task->name, states[task->waits], task == current ? ", and has the baton" : "");
        if (task == current) {
            tell_stack(0);
            continue;
        }
        atomic_store(&stack_is_told, 0);
        if (pthread_kill(task->real, SIGUSR2) != 0) continue;
        for (int tries = 0; tries < 200 && !atomic_load(&stack_is_told); tries++) usleep(1000);
    }
}

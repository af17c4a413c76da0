/*
 * scheduler.h - runs the threads of a process one at a time, in an order that a seed chooses, in a time of its own.
 *
 * A thread that holds the baton runs; all others wait in the kernel. The functions of interposed.c stand in front of
 * the C library's: at each lock, unlock, wait, signal, start, join, look at a clock, poll and file call the seed says who
 * goes on. If nobody can go on, the time jumps to the next deadline. If there is none, that is a deadlock.
 *
 * Several processes may be simulated: they hand the same baton on. Everything here is touched by the thread with the
 * baton alone.
 */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_TASKS = 512 };

/* What a thread waits for. */
enum wait_kind { RUNS, FOR_LOCK, FOR_SIGNAL, FOR_END, FOR_DESCRIPTORS, FOR_TIME, HAS_ENDED };

/* The kinds of steps, as they are told in a trace. */
enum step_kind {
    STEP_LOCK, STEP_UNLOCK, STEP_WAIT, STEP_SIGNAL, STEP_BROADCAST, STEP_START, STEP_JOIN, STEP_END, STEP_CLOCK,
    STEP_POLL, STEP_RING, STEP_FILE
};

/* A thread. */
struct task;

/* ---- the simulation */

/* Begins: the calling thread becomes the first task, and has the baton. */
void begin_simulation(uint64_t seed);
void end_simulation(void);
/* A process, counted from 0, ends at that step or soon after it, as if it were killed; with process 0 all end. The first
   call counts. */
void kill_at_step(int process, uint64_t step);
/* Waits until the calling thread is the only one, for a minute; returns the number of others that still live. */
int await_threads(void);
int is_simulated(void);

/* ---- chance: numbers that the seed alone decides */

/* For the order of threads. */
uint32_t order_below(uint32_t limit);

struct chance { uint64_t state; };
uint32_t below(struct chance *chance, uint32_t limit);
static inline int one_in(struct chance *chance, uint32_t count) { return below(chance, count) == 0; }

/* ---- time, in nanoseconds since the begin of the simulation */

static const int64_t MILLISECOND = 1000000, SECOND = 1000000000;

int64_t virtual_now(void);
void sleep_until(int64_t time);

/* ---- steps of the running thread */

/* Another thread may run now. */
void step(enum step_kind kind);
/* Waits until wake() for this object, or until `deadline`, if that is not negative. Returns 0 after the deadline. */
int wait_for(enum wait_kind kind, const void *object, int64_t deadline);
/* Lets the threads that wait for an object go on: one that the seed chooses, or all. */
void wake_one(enum wait_kind kind, const void *object);
void wake_all(enum wait_kind kind, const void *object);
/* Lets those go on for whose object this is true. */
typedef int (*ready_fn)(const void *object);
void look_at_waiting(enum wait_kind kind, ready_fn is_ready);

struct task *running(void);
int number_of(const struct task *task);
void name_task(struct task *task, const char *name);

/* ---- threads */

struct task *start_task(void *(*body)(void *), void *argument);
/* Waits for the end of a thread. Returns what its body has returned. */
void *join_task(struct task *task);
struct task *task_of(unsigned long thread);
unsigned long thread_of(const struct task *task);
unsigned long real_thread_of(const struct task *task);

/* ---- processes */

/* Starts another process, a fork of this one. It ends with `body`. join_task() waits. */
struct task *start_process(void (*body)(void *), void *argument);
/* In a child: its first thread has what it held in the parent. The locks of other threads stay held. */
void inherit_locks(struct task *old, struct task *new);

/* ---- the trace */

struct trace {
    uint64_t hash; /* of all steps, in their order */
    uint64_t steps, switches;
};
const struct trace *trace_so_far(void);

/* ---- findings: the process ends */

enum finding { FOUND_NOTHING, FOUND_DEADLOCK, FOUND_LIVELOCK, FOUND_WRONG, FOUND_CRASH, FOUND_HARNESS };

/* Called once with what was found; does not return. */
typedef void (*finding_fn)(enum finding finding, const char *sentence);
void set_finding(finding_fn found);
_Noreturn void found(enum finding finding, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes, for each thread, its name, what it waits for and its stack. */
void tell_tasks(int descriptor);

#endif

/*
 * interposed.c - the functions that stand in front of the C library's and libcurl's. While the simulation runs, they ask
 * the scheduler; otherwise they hand on. The library under test is the one that is shipped: it finds these by their
 * names, as it would find the C library's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_curl.h"
#include "system_faults.h"
#include "real.h"
#include "scheduler.h"

/* Some more than the stories need, however much waits for the disk. */
enum { MOST_DESCRIPTORS = 180 };

struct real real;

__attribute__((constructor)) static void find_real_functions(void)
{
#define FOUND(result, name, parameters) real.name = (result(*) parameters)dlsym(RTLD_NEXT, #name);
    INTERPOSED(FOUND)
#undef FOUND
    real.openat = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    real.syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    real.curl_easy_setopt = (CURLcode (*)(CURL *, CURLoption, ...))dlsym(RTLD_NEXT, "curl_easy_setopt");
    real.curl_easy_getinfo = (CURLcode (*)(CURL *, CURLINFO, ...))dlsym(RTLD_NEXT, "curl_easy_getinfo");
}

/* Functions that other constructors call first are found when they are needed. */
#define HAND_ON(name, ...) \
    do { \
        if (!is_simulated()) { \
            if (real.name == NULL) find_real_functions(); \
            return real.name(__VA_ARGS__); \
        } \
    } while (0)

/* ---- locks that are held: few at a time */

/* One that is inherited was held by the thread that forked; the child may give it back, or just make it anew. */
struct held { const void *lock; struct task *owner; int depth, readers, is_inherited; };
enum { MOST_HELD = 4096 };
static struct held held[MOST_HELD];

static size_t first_place(const void *lock) { return ((uintptr_t)lock >> 4) * 0x9e3779b97f4a7c15u >> 52; }

/* Returns the place of a lock in the table: its own, or a free one. */
static struct held *place_of(const void *lock)
{
    size_t at = first_place(lock);
    for (int tries = 0; tries < MOST_HELD; tries++, at = (at + 1) % MOST_HELD)
        if (held[at].lock == lock || held[at].lock == NULL) return &held[at];
    found(FOUND_HARNESS, "more than %d locks are held", MOST_HELD);
}

/* Takes a lock out of the table; those that stand behind it move up. */
static void forget(struct held *gone)
{
    size_t hole = (size_t)(gone - held), at = hole;
    for (;;) {
        held[hole].lock = NULL;
        for (;;) {
            at = (at + 1) % MOST_HELD;
            if (held[at].lock == NULL) return;
            if ((at - first_place(held[at].lock) + MOST_HELD) % MOST_HELD >= (at - hole + MOST_HELD) % MOST_HELD) break;
        }
        held[hole] = held[at];
        hole = at;
    }
}

static int is_recursive(const pthread_mutex_t *mutex) { return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE; }

/* Returns 0, or ETIMEDOUT after the deadline; -1: none. */
static int take(pthread_mutex_t *mutex, int64_t deadline)
{
    for (;;) {
        struct held *place = place_of(mutex);
        if (place->lock == NULL || (place->is_inherited && place->owner == running())) {
            *place = (struct held){ mutex, running(), 1, 0, 0 };
            return 0;
        }
        if (place->owner == running()) {
            if (!is_recursive(mutex)) found(FOUND_DEADLOCK, "a thread takes a lock that it holds");
            place->depth++;
            return 0;
        }
        if (!wait_for(FOR_LOCK, mutex, deadline)) return ETIMEDOUT;
    }
}

static int give_back(pthread_mutex_t *mutex)
{
    struct held *place = place_of(mutex);
    if (place->lock == NULL || place->owner != running()) found(FOUND_WRONG, "a lock is given back that is not held");
    if (--place->depth > 0) return 0;
    forget(place);
    wake_all(FOR_LOCK, mutex);
    return 0;
}

/* The child of a fork makes locks anew that threads of its parent may hold. */
#define MAKE_ANEW(name, parameters, lock, attributes) \
    int name parameters \
    { \
        if (is_simulated() && place_of(lock)->lock) forget(place_of(lock)); \
        if (real.name == NULL) find_real_functions(); \
        return real.name(lock, attributes); \
    }

MAKE_ANEW(pthread_mutex_init, (pthread_mutex_t *lock, const pthread_mutexattr_t *attributes), lock, attributes)
MAKE_ANEW(pthread_rwlock_init, (pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes), lock, attributes)

void inherit_locks(struct task *old, struct task *new)
{
    for (int i = 0; i < MOST_HELD; i++)
        if (held[i].lock && held[i].owner == old) held[i].owner = new, held[i].is_inherited = 1;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    HAND_ON(pthread_mutex_lock, mutex);
    step(STEP_LOCK);
    return take(mutex, -1);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    HAND_ON(pthread_mutex_trylock, mutex);
    step(STEP_LOCK);
    struct held *place = place_of(mutex);
    if (place->lock && (place->owner != running() || !is_recursive(mutex))) return EBUSY;
    return take(mutex, -1);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    HAND_ON(pthread_mutex_unlock, mutex);
    give_back(mutex);
    step(STEP_UNLOCK);
    return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    HAND_ON(pthread_rwlock_rdlock, lock);
    step(STEP_LOCK);
    for (;;) {
        struct held *place = place_of(lock);
        if (place->lock == NULL) *place = (struct held){ lock, NULL, 0, 0, 0 };
        if (place->owner == NULL) {
            place->readers++;
            return 0;
        }
        wait_for(FOR_LOCK, lock, -1);
    }
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    HAND_ON(pthread_rwlock_wrlock, lock);
    step(STEP_LOCK);
    for (;;) {
        struct held *place = place_of(lock);
        if (place->lock == NULL) {
            *place = (struct held){ lock, running(), 1, 0, 0 };
            return 0;
        }
        wait_for(FOR_LOCK, lock, -1);
    }
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    HAND_ON(pthread_rwlock_unlock, lock);
    struct held *place = place_of(lock);
    if (place->lock && (place->owner || --place->readers == 0)) {
        forget(place);
        wake_all(FOR_LOCK, lock);
    }
    step(STEP_UNLOCK);
    return 0;
}

/* Random numbers, which the seed gives; and the locks that a runtime takes with a futex of its own (FUTEX_LOCK_PI), where
   another thread holds it. */
long syscall(long number, ...)
{
    va_list values;
    long given[6];
    va_start(values, number);
    for (int i = 0; i < 6; i++) given[i] = va_arg(values, long);
    va_end(values);
    if (is_simulated() && number == SYS_getrandom) {
        for (long i = 0; i < given[1]; i++) ((uint8_t *)given[0])[i] = (uint8_t)order_below(256);
        return given[1];
    }
    if (is_simulated() && number == SYS_futex) {
        uint32_t *word = (uint32_t *)given[0];
        int operation = (int)given[1] & FUTEX_CMD_MASK;
        if (operation == FUTEX_LOCK_PI) {
            while (*word) wait_for(FOR_LOCK, word, -1);
            *word = (uint32_t)gettid();
            return 0;
        }
        if (operation == FUTEX_UNLOCK_PI) {
            *word = 0;
            wake_all(FOR_LOCK, word);
            return 0;
        }
        if (operation == FUTEX_WAIT) found(FOUND_HARNESS, "a thread waits for a futex that the simulation does not know");
    }
    if (real.syscall == NULL) find_real_functions();
    return real.syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

/* ---- time */

/* The simulation begins at this time of the calendar, in seconds since 1970. */
enum { FIRST_SECOND = 1800000000 };

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec *time)
{
    HAND_ON(clock_gettime, clock, time);
    step(STEP_CLOCK);
    int is_calendar = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    int64_t now = virtual_now();
    time->tv_sec = now / SECOND + (is_calendar ? FIRST_SECOND : 0);
    time->tv_nsec = now % SECOND;
    return 0;
}

time_t time(time_t *out)
{
    HAND_ON(time, out);
    time_t now = virtual_now() / SECOND + FIRST_SECOND;
    return out ? *out = now : now;
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    HAND_ON(pthread_mutex_clocklock, mutex, clock, until);
    step(STEP_LOCK);
    return take(mutex, nanoseconds(until));
}

/* ---- signals of a condition */

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline)
{
    give_back(mutex);
    int is_in_time = wait_for(FOR_SIGNAL, condition, deadline);
    take(mutex, -1);
    return is_in_time ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    HAND_ON(pthread_cond_wait, condition, mutex);
    return wait_on(condition, mutex, -1);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    HAND_ON(pthread_cond_timedwait, condition, mutex, until);
    return wait_on(condition, mutex, nanoseconds(until));
}

#define TELL(name, wake, kind) \
    int name(pthread_cond_t *condition) \
    { \
        HAND_ON(name, condition); \
        wake(FOR_SIGNAL, condition); \
        step(kind); \
        return 0; \
    }

TELL(pthread_cond_signal, wake_one, STEP_SIGNAL)
TELL(pthread_cond_broadcast, wake_all, STEP_BROADCAST)

/* ---- threads */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument)
{
    HAND_ON(pthread_create, thread, attributes, body, argument);
    if (fails("pthread_create")) return EAGAIN;
    *thread = thread_of(start_task(body, argument));
    return 0;
}

int pthread_join(pthread_t thread, void **result)
{
    HAND_ON(pthread_join, thread, result);
    void *made = join_task(task_of(thread));
    if (result) *result = made;
    return 0;
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
    (void)until; /* a thread that does not end is a finding */
    HAND_ON(pthread_clockjoin_np, thread, result, clock, until);
    return pthread_join(thread, result);
}

/* The scheduler waits for the real thread all the same. */
int pthread_detach(pthread_t thread)
{
    HAND_ON(pthread_detach, thread);
    return 0;
}

pthread_t pthread_self(void)
{
    HAND_ON(pthread_self);
    return thread_of(running());
}

int pthread_setname_np(pthread_t thread, const char *name)
{
    HAND_ON(pthread_setname_np, thread, name);
    name_task(task_of(thread), name);
    return real.pthread_setname_np(real_thread_of(task_of(thread)), name);
}

/* ---- descriptors: they are real, and ready when the system says so */

struct polled { struct pollfd *entries; nfds_t count; CURLM *multi; struct curl_waitfd *more; unsigned more_count; };

/* The handles that were woken, and have not been asked since. */
enum { MOST_WOKEN = 64 };
static CURLM *woken[MOST_WOKEN];

static int take_wakeup(CURLM *multi, int takes)
{
    for (int i = 0; i < MOST_WOKEN; i++) {
        if (woken[i] != multi) continue;
        if (takes) woken[i] = NULL;
        return 1;
    }
    return 0;
}

static int look(struct polled *polled)
{
    int count = polled->count ? real.poll(polled->entries, polled->count, 0) : 0;
    for (unsigned i = 0; i < polled->more_count; i++) {
        struct pollfd entry = { polled->more[i].fd, polled->more[i].events, 0 };
        count += real.poll(&entry, 1, 0) > 0;
        polled->more[i].revents = entry.revents;
    }
    return count;
}

static int is_polled_ready(const void *object)
{
    struct polled *polled = (struct polled *)(uintptr_t)object;
    int64_t answer = polled->multi ? next_by_curl(polled->multi) : -1;
    return (answer >= 0 && answer <= virtual_now()) || (polled->multi && take_wakeup(polled->multi, 0)) || look(polled) != 0;
}

void look_at_descriptors(void) { look_at_waiting(FOR_DESCRIPTORS, is_polled_ready); }

static int64_t deadline_after(int milliseconds)
{
    return milliseconds < 0 ? -1 : virtual_now() + milliseconds * MILLISECOND;
}

int poll(struct pollfd *entries, nfds_t count, int milliseconds)
{
    HAND_ON(poll, entries, count, milliseconds);
    struct polled polled = { .entries = entries, .count = count };
    step(STEP_POLL);
    int ready = look(&polled);
    if (ready != 0 || milliseconds == 0) return ready;
    wait_for(FOR_DESCRIPTORS, &polled, deadline_after(milliseconds));
    return look(&polled);
}

int eventfd_write(int descriptor, uint64_t value)
{
    HAND_ON(eventfd_write, descriptor, value);
    int result = real.eventfd_write(descriptor, value);
    look_at_descriptors();
    step(STEP_RING);
    return result;
}

/* Until a host answers, at the longest: see fake_curl.c. */
CURLMcode curl_multi_poll(CURLM *multi, struct curl_waitfd *more, unsigned count, int milliseconds, int *ready)
{
    HAND_ON(curl_multi_poll, multi, more, count, milliseconds, ready);
    struct polled polled = { .multi = multi, .more = more, .more_count = count };
    step(STEP_POLL);
    int64_t deadline = deadline_after(milliseconds), answer = next_by_curl(multi);
    if (answer >= 0 && (deadline < 0 || answer < deadline)) deadline = answer;
    if (!is_polled_ready(&polled)) wait_for(FOR_DESCRIPTORS, &polled, deadline);
    take_wakeup(multi, 1);
    int seen = look(&polled);
    if (ready) *ready = seen;
    return CURLM_OK;
}

CURLMcode curl_multi_wakeup(CURLM *multi)
{
    HAND_ON(curl_multi_wakeup, multi);
    if (fails("curl_multi_wakeup")) return CURLM_WAKEUP_FAILURE;
    for (int i = 0; !take_wakeup(multi, 0); i++) {
        if (i == MOST_WOKEN) found(FOUND_HARNESS, "more than %d handles of libcurl were woken", MOST_WOKEN);
        if (woken[i] == NULL) woken[i] = multi;
    }
    look_at_descriptors();
    step(STEP_RING);
    return CURLM_OK;
}

/* ---- files: they are real, in a folder of the simulation's; system_faults.c makes calls slow, and fails them */

#define FILE_CALL(result, name, parameters, ...) \
    result name parameters \
    { \
        HAND_ON(name, __VA_ARGS__); \
        step(STEP_FILE); \
        if (fails(#name)) return -1; \
        return real.name(__VA_ARGS__); \
    }

FILE_CALL(ssize_t, pread, (int file, void *bytes, size_t size, off_t at), file, bytes, size, at)
FILE_CALL(int, fsync, (int file), file)
FILE_CALL(int, fdatasync, (int file), file)
FILE_CALL(int, ftruncate, (int file, off_t size), file, size)
FILE_CALL(int, renameat, (int from, const char *old, int to, const char *new), from, old, to, new)
FILE_CALL(int, linkat, (int from, const char *old, int to, const char *new, int flags), from, old, to, new, flags)
FILE_CALL(int, unlinkat, (int folder, const char *name, int flags), folder, name, flags)
FILE_CALL(int, mkdirat, (int folder, const char *name, mode_t mode), folder, name, mode)

int flock(int file, int operation)
{
    HAND_ON(flock, file, operation);
    step(STEP_FILE);
    return real.flock(file, operation);
}

/* Reads and writes of descriptors that are no files are steps, and do not fail. The other end of a pipe may go on then. */
#define STREAM_CALL(name, parameters, ...) \
    ssize_t name parameters \
    { \
        HAND_ON(name, __VA_ARGS__); \
        step(STEP_FILE); \
        if (is_file(file) && fails(#name)) return -1; \
        ssize_t result = real.name(__VA_ARGS__); \
        look_at_descriptors(); \
        return result; \
    }

STREAM_CALL(read, (int file, void *bytes, size_t size), file, bytes, size)
STREAM_CALL(write, (int file, const void *bytes, size_t size), file, bytes, size)
STREAM_CALL(writev, (int file, const struct iovec *parts, int count), file, parts, count)

int close(int file)
{
    HAND_ON(close, file);
    step(STEP_FILE);
    int result = real.close(file);
    look_at_descriptors(); /* the other end of a pipe */
    return result;
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list values;
    va_start(values, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(values, mode_t) : 0;
    va_end(values);
    HAND_ON(openat, folder, name, flags, mode);
    step(STEP_FILE);
    if (fails("openat")) return -1;
    int file = real.openat(folder, name, flags, mode);
    if (file >= MOST_DESCRIPTORS) found(FOUND_WRONG, "there are more than %d descriptors", MOST_DESCRIPTORS);
    return file;
}

// The Swift runtime across a fork. The linker puts the functions `__wrap_…` of this file in the place of functions that
// the runtime calls: see `--wrap` in Package.swift. The runtime is inside the library, so no other code is affected.
// The library's own locks do not come here (CSystem/lock.h); a fork takes those it needs one by one.
//
// This relies on the following, true of Swift 6.3. Tests/abi/check-runtime.sh fails when a toolchain changes it.
// - The runtime makes a global by a call of swift::threading_impl::once_slow(), whose symbol has the mangled name
//   below. It passes a word, a function and the function's argument. The word is the first four bytes of an object that
//   is zero at the start. A negative word means that the global is made; with any other the runtime calls once_slow().
// - The locks of the runtime are pthread mutexes. It calls pthread_mutex_lock() and pthread_mutex_unlock() for them,
//   both on the same thread, and nothing else that waits but the functions named here: it never tries a lock, and has
//   no read-write locks, no spin locks, no semaphores and no futexes of its own.
// - Static locals of its C++ code are made between __cxa_guard_acquire() and __cxa_guard_release().
// - The runtime does not wait on conditions. Such a wait gives a mutex back and takes it again inside the C library, so
//   that a thread that sleeps in one would count as a holder, and a fork would wait for what wakes it.
// One more function is replaced for the size of the library: nothing asks for the names of Unicode's characters, which
// take half a megabyte.
#include "fork.h"

#include "lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

// ---- globals

// The runtime marks a global with the thread that is making it; in a child that was forked meanwhile that thread does
// not exist, and any thread that needs the global would wait for it for ever. Here the word has the generation of the
// process instead, so that a child makes a global again whose making the fork interrupted.

// States of a global's word. A third one, `sddfork_generation + 1`, means that a thread of that generation is making
// it.
enum { unmade = 0, made = -1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int begin(_Atomic(int32_t) *word, int32_t now)
{
    sddsys_lock(&lock);
    int32_t state;
    while ((state = atomic_load_explicit(word, memory_order_acquire)) == now) pthread_cond_wait(&changed, &lock);
    if (state != made) atomic_store_explicit(word, now, memory_order_relaxed);
    sddsys_unlock(&lock);
    return state != made;
}

static void end(_Atomic(int32_t) *word)
{
    sddsys_lock(&lock);
    atomic_store_explicit(word, made, memory_order_release);
    sddsys_unlock(&lock);
    pthread_cond_broadcast(&changed);
}

void __wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_(_Atomic(int32_t) *word, void (*make)(void *),
                                                                       void *context);

void __wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_(_Atomic(int32_t) *word, void (*make)(void *),
                                                                       void *context)
{
    if (!begin(word, (int32_t)sddfork_generation + 1)) return;
    make(context);
    end(word);
}

// ---- locks

// The runtime makes types when they are first used, with locks that it does not take in a fork: in a child that was
// forked meanwhile they would be held by a thread that does not exist, and the child would wait for ever for the next
// type. So a fork waits until no thread holds any of them. The guard of a static local is a lock, too: other threads
// wait while one makes the variable.

// Held for reading with each lock of the runtime, and for writing during a fork.
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER;
// Locks of the runtime that this thread holds. `in_use` is taken before the first of them, and never after.
static _Thread_local int depth;

static void will_take(void)
{
    if (depth++ == 0) pthread_rwlock_rdlock(&in_use);
}

static void has_given_back(void)
{
    if (--depth == 0) pthread_rwlock_unlock(&in_use);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    will_take();
    int error = sddsys_lock(mutex);
    if (error != 0) has_given_back();
    return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int error = sddsys_unlock(mutex);
    if (error == 0) has_given_back();
    return error;
}

int __real___cxa_guard_acquire(void *guard);
void __real___cxa_guard_release(void *guard);
int __wrap___cxa_guard_acquire(void *guard);
void __wrap___cxa_guard_release(void *guard);

// Returns 1 if the caller is to make the variable and release the guard, 0 if the variable is there.
int __wrap___cxa_guard_acquire(void *guard)
{
    will_take();
    int is_wanted = __real___cxa_guard_acquire(guard);
    if (!is_wanted) has_given_back();
    return is_wanted;
}

void __wrap___cxa_guard_release(void *guard)
{
    __real___cxa_guard_release(guard);
    has_given_back();
}

// ---- names of characters

intptr_t __wrap__swift_stdlib_getScalarName(uint32_t character, uint8_t *name, intptr_t capacity);
intptr_t __wrap__swift_stdlib_getScalarName(uint32_t character, uint8_t *name, intptr_t capacity)
{
    (void)character;
    (void)name;
    (void)capacity;
    return 0; // it has none
}

// ---- the three steps of a fork

void sddfork_hold_runtime(void)
{
    // The runtime may make a global while it holds one of its locks, so this order.
    pthread_rwlock_wrlock(&in_use);
    sddsys_lock(&lock);
}

void sddfork_let_runtime_go(void)
{
    sddsys_unlock(&lock);
    pthread_rwlock_unlock(&in_use);
}

void sddfork_renew_runtime(void)
{
    sddsys_unlock(&lock); // locked by the thread that forked, which is the child's one
    pthread_cond_init(&changed, NULL);
    // The child's one thread has another number than the one that took the lock.
    pthread_rwlock_init(&in_use, NULL);
}

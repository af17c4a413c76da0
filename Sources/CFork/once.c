// One-time initialization of Swift's globals that a fork cannot break. The Swift runtime marks a global with the thread
// that is initializing it; in a child that was forked meanwhile that thread does not exist, and any thread that needs
// the global would wait for it forever. The linker replaces the runtime's function with the one below, see
// Package.swift; the runtime is inside the library, so no other code is affected. An initialization that a fork
// interrupted starts again in the child.
#include "fork.h"

#include "lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

// States of a global's word. A third one, `sddfork_generation + 1`, means that a thread of that generation is
// initializing the global. The runtime reads the word too, and takes a negative value as initialized.
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

// Replaces swift::threading_impl::once_slow(). The word is the first four bytes of an object that is zero at the start.
void __wrap__ZN5swift14threading_impl9once_slowERNS0_6once_tEPFvPvES3_(_Atomic(int32_t) *word, void (*make)(void *),
                                                                       void *context)
{
    if (!begin(word, (int32_t)sddfork_generation + 1)) return;
    make(context);
    end(word);
}

void sddfork_hold_once(void) { sddsys_lock(&lock); }

void sddfork_let_once_go(void) { sddsys_unlock(&lock); }

void sddfork_renew_once(void)
{
    sddsys_unlock(&lock); // locked by the thread that forked, which is the child's one
    pthread_cond_init(&changed, NULL);
}

// Locks of the Swift runtime across a fork. The runtime makes types when they are first used, with locks that it does not
// take in a fork: in a child that was forked meanwhile they would be held by a thread that does not exist, and the child
// would wait for ever for the next type. The linker replaces the mutex functions that the runtime calls with those below,
// see Package.swift, so that a fork waits until none of its locks is held. The runtime is inside the library, so no other
// code is affected. The library's own locks do not come here (CSystem/lock.h); a fork takes those it needs one by one.
#include "fork.h"

#include "lock.h"

#include <pthread.h>

// Held for reading with each lock of the runtime, and for writing during a fork.
static pthread_rwlock_t in_use = PTHREAD_RWLOCK_INITIALIZER;
// Locks of the runtime that this thread holds. `in_use` is taken before the first of them, and never after.
static _Thread_local int depth;

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (depth++ == 0) pthread_rwlock_rdlock(&in_use);
    int error = sddsys_lock(mutex);
    if (error != 0 && --depth == 0) pthread_rwlock_unlock(&in_use);
    return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int error = sddsys_unlock(mutex);
    if (error == 0 && --depth == 0) pthread_rwlock_unlock(&in_use);
    return error;
}

void sddfork_hold_runtime(void) { pthread_rwlock_wrlock(&in_use); }

void sddfork_let_runtime_go(void) { pthread_rwlock_unlock(&in_use); }

// The child's one thread has another number than the one that took the lock.
void sddfork_renew_runtime(void) { pthread_rwlock_init(&in_use, NULL); }

// The lock and unlock of the library's own mutexes. In libsdd.so the linker puts functions of Sources/CFork/runtime.c
// in the place of pthread_mutex_lock() and pthread_mutex_unlock(), for the sake of the Swift runtime. To the names
// below it gives the functions of the C library, so that a call costs what it always did and nothing stands between.
#ifndef SDD_LOCK_H
#define SDD_LOCK_H

/// Locks a pthread_mutex_t, as pthread_mutex_lock() does.
int sddsys_lock(void *mutex) __asm__("__real_pthread_mutex_lock");

/// Unlocks a pthread_mutex_t, as pthread_mutex_unlock() does.
int sddsys_unlock(void *mutex) __asm__("__real_pthread_mutex_unlock");

#endif

// The functions of lock.h in programs that are linked without `--wrap`: the tests of the Swift targets. libsdd.so does
// not contain them, as its linker gives their names to the C library's functions.
#include "lock.h"

#include <pthread.h>

int sddsys_lock(void *mutex) { return pthread_mutex_lock(mutex); }

int sddsys_unlock(void *mutex) { return pthread_mutex_unlock(mutex); }

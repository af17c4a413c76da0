/* system_faults.h - what goes wrong below the library: with files, and with the start of threads. */
#ifndef SYSTEM_FAULTS_H
#define SYSTEM_FAULTS_H

#include <stdint.h>

/* Of a thousand calls that many fail, and that many are slow. */
void set_faults(uint64_t seed, uint32_t failing, uint32_t slow);
/* Until the next call of set_faults() each fsync() takes that long. */
void set_slow_syncs(uint32_t milliseconds);
/* Whether the call that is made now fails; errno says how. A slow one lets time pass first. */
int fails(const char *call);
int is_file(int descriptor);
uint64_t count_faults(void);

#endif

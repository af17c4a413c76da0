// System calls that Swift's Glibc module lacks: GNU extensions, and variadic functions. It includes no header of the C
// library but <stdint.h>, so that Swift finds the C library's types in one module alone.
#ifndef SDD_CSYSTEM_H
#define SDD_CSYSTEM_H

#include <stdint.h>

#include "lock.h"
#include "trusted.h"

// O_NOATIME and UTIME_OMIT: the first is a GNU extension, the second a macro that Swift cannot import.
extern const int32_t sddsys_open_noatime;
extern const int64_t sddsys_utime_omit;

/// Creates an eventfd that does not block and is closed on exec. Returns its descriptor, or a negative number on an
/// error, with errno set.
int sddsys_eventfd(void);

/// Gives a mapping another size, perhaps at another address, with the pages that both sizes have. Returns its address,
/// or NULL on an error, after which it is as before.
void *sddsys_resize_mapping(void *base, uint64_t old_size, uint64_t new_size);

/// Makes an eventfd readable.
void sddsys_eventfd_ring(int descriptor);

/// Makes an eventfd unreadable until it rings again.
void sddsys_eventfd_reset(int descriptor);

/// Creates a file in memory that is closed on exec. Returns its descriptor, or a negative number on an error, with
/// errno set.
int sddsys_memory_file(const char *name);

/// Sets the name of a thread that gdb, perf and top show; at most 15 bytes.
void sddsys_name_this_thread(unsigned long thread, const char *name);

/// Waits for a thread to end, with a time limit. Returns 0 if it has ended, otherwise an error number.
int sddsys_join_for(unsigned long thread, int64_t seconds);

/// Returns the number of processors that this process may run on, at least 1.
int sddsys_processors(void);

/// Takes or releases a shared lock on one byte of an open file or directory, whether it has that byte or not. The lock is
/// kept until this descriptor and all copies of it are closed. Returns 0, or -1 with errno set.
int sddsys_lock_shared(int descriptor, int64_t byte);
int sddsys_unlock_shared(int descriptor, int64_t byte);

/// Returns 1 if the file was opened a second time, by this process or another, and the byte is locked that way; 0 if it is
/// not; -1 on an error, with errno set. Never waits.
int sddsys_is_locked_elsewhere(int descriptor, int64_t byte);

/// Lets a descriptor mean what another one means, at once, and closes what it meant: dup3(2) with O_CLOEXEC. Returns a
/// negative number on an error, with errno set.
int sddsys_replace(int descriptor, int other);

/// Returns 1 if an open file is on a file system of this machine's own that needs no other machine and no other process
/// for its status and locks; 0 if not, or if that is not known.
int sddsys_is_on_local_disk(int descriptor);

/// Returns the number of received bytes that were not read yet, or a negative number on an error.
int sddsys_unread(int descriptor);

/// Returns the number of written bytes that the peer does not have yet, or a negative number on an error.
int sddsys_unsent(int descriptor);

struct sddsys_tcp_counts {
    uint64_t acknowledged;
    uint64_t received;
    uint32_t silent_ms;
};

/// Gets the number of bytes that a TCP connection has transferred so far in each direction, and for how long none has
/// been received. Returns 0, or -1 for another kind of socket.
int sddsys_count_tcp(int descriptor, struct sddsys_tcp_counts *counts);

#endif

// Declarations that Swift's Glibc module lacks: GNU extensions, and headers that it does not list. There is no logic
// here, and the file can be removed once the module has them.
#ifndef SDD_CSYSTEM_SHIM_H
#define SDD_CSYSTEM_SHIM_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

// The system's headers declare these only under _GNU_SOURCE, which the including code may not have defined.
extern int pthread_setname_np(unsigned long thread, const char *name);
extern int pthread_timedjoin_np(unsigned long thread, void **result, const struct timespec *until);
extern int memfd_create(const char *name, unsigned int flags);
extern int sched_getaffinity(int pid, unsigned long size, void *mask);

// O_NOATIME is a GNU extension, and UTIME_OMIT is a macro that Swift cannot import.
static const int32_t sddsys_open_noatime = __O_NOATIME;
static const int64_t sddsys_utime_omit = (1 << 30) - 2; // UTIME_OMIT, see utimensat(2)

static inline int sddsys_eventfd(void) {
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

/// Creates a file in memory that is closed on exec. Returns its descriptor, or a negative number on an error, with
/// errno set.
static inline int sddsys_memory_file(const char *name) {
    return memfd_create(name, 1u); // MFD_CLOEXEC
}

/// Sets the name of a thread that gdb, perf and top show; at most 15 bytes.
static inline void sddsys_name_this_thread(unsigned long thread, const char *name) {
    (void)pthread_setname_np(thread, name);
}

/// Waits for a thread to end, at most until a time of CLOCK_REALTIME. Returns 0 if it has ended, otherwise an error
/// number.
static inline int sddsys_join_until(unsigned long thread, struct timespec until) {
    return pthread_timedjoin_np(thread, 0, &until);
}

/// Returns the number of processors that this process may run on, at least 1.
static inline int sddsys_processors(void) {
    uint64_t mask[128] = {0}; // 8,192 processors
    if (sched_getaffinity(0, sizeof mask, mask) != 0) return 1;
    int count = 0;
    for (int i = 0; i < 128; i++) count += __builtin_popcountll(mask[i]);
    return count > 0 ? count : 1;
}

/// Returns the number of received bytes that were not read yet, or a negative number on an error. Wraps FIONREAD, since
/// ioctl() is variadic.
static inline int sddsys_unread(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -1;
}

/// Returns the number of written bytes that the peer does not have yet, or a negative number on an error. Wraps
/// TIOCOUTQ, since ioctl() is variadic.
static inline int sddsys_unsent(int descriptor) {
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 ? count : -1;
}

struct sddsys_tcp_counts {
    uint64_t acknowledged;
    uint64_t received;
};

/// Gets the number of bytes that a TCP connection has transferred so far in each direction. Returns 0, or -1 for
/// another kind of socket. The numbers are read at fixed offsets, since the C library's struct tcp_info ends before
/// these fields, and the kernel's header conflicts with the C library's.
static inline int sddsys_count_tcp(int descriptor, struct sddsys_tcp_counts *counts) {
    enum { ip_protocol_tcp = 6, tcp_info = 11, acknowledged = 120, received = 128 }; // <linux/tcp.h>
    unsigned char info[256];
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, ip_protocol_tcp, tcp_info, info, &length) != 0) return -1;
    if (length < received + sizeof counts->received) return -1;
    memcpy(&counts->acknowledged, info + acknowledged, sizeof counts->acknowledged);
    memcpy(&counts->received, info + received, sizeof counts->received);
    return 0;
}

#endif

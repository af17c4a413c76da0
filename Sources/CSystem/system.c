#define _GNU_SOURCE
#include "CSystem.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

const int32_t sddsys_open_noatime = O_NOATIME;
const int64_t sddsys_utime_omit = UTIME_OMIT;

int sddsys_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void *sddsys_resize_mapping(void *base, uint64_t old_size, uint64_t new_size)
{
    void *moved = mremap(base, old_size, new_size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
}

void sddsys_eventfd_ring(int descriptor) { (void)eventfd_write(descriptor, 1); }

void sddsys_eventfd_reset(int descriptor)
{
    eventfd_t count = 0;
    (void)eventfd_read(descriptor, &count);
}

int sddsys_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

void sddsys_name_this_thread(unsigned long thread, const char *name) { (void)pthread_setname_np(thread, name); }

#if __has_feature(thread_sanitizer) // which knows only the older function, by a clock that may be set
#define JOIN_CLOCK CLOCK_REALTIME
#define JOIN_UNTIL(thread, until) pthread_timedjoin_np(thread, NULL, until)
#else
#define JOIN_CLOCK CLOCK_MONOTONIC
#define JOIN_UNTIL(thread, until) pthread_clockjoin_np(thread, NULL, JOIN_CLOCK, until)
#endif

int sddsys_join_for(unsigned long thread, int64_t seconds)
{
    struct timespec until;
    clock_gettime(JOIN_CLOCK, &until);
    until.tv_sec += seconds;
    return JOIN_UNTIL(thread, &until);
}

int sddsys_processors(void)
{
    cpu_set_t set[8]; // up to 8192 processors
    memset(set, 0, sizeof set);
    if (sched_getaffinity(0, sizeof set, set) != 0) return 1;
    const int count = CPU_COUNT_S(sizeof set, set);
    return count > 0 ? count : 1;
}

// Locks of open file descriptions: those of a process would end with any descriptor of the file that it closes.
static int lock_byte(int descriptor, int command, short type, int64_t byte, struct flock *lock)
{
    *lock = (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    return fcntl(descriptor, command, lock);
}

int sddsys_lock_shared(int descriptor, int64_t byte)
{
    struct flock lock;
    return lock_byte(descriptor, F_OFD_SETLK, F_RDLCK, byte, &lock);
}

int sddsys_unlock_shared(int descriptor, int64_t byte)
{
    struct flock lock;
    return lock_byte(descriptor, F_OFD_SETLK, F_UNLCK, byte, &lock);
}

int sddsys_is_locked_elsewhere(int descriptor, int64_t byte)
{
    struct flock lock;
    if (lock_byte(descriptor, F_OFD_GETLK, F_WRLCK, byte, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

int sddsys_replace(int descriptor, int other) { return dup3(other, descriptor, O_CLOEXEC); }

int sddsys_is_on_local_disk(int descriptor)
{
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return 0;
    switch ((unsigned long)status.f_type & 0xffffffff) {
    case 0xef53:     // ext2, ext3, ext4
    case 0x58465342: // XFS
    case 0x9123683e: // Btrfs
    case 0x01021994: // tmpfs
    case 0x858458f6: // ramfs
    case 0x794c7630: // overlayfs
    case 0xf2f52010: // F2FS
    case 0x2fc12fc1: // ZFS
    case 0xca451a4e: // bcachefs
    case 0x3153464a: // JFS
    case 0x52654973: // ReiserFS
        return 1;
    default: return 0;
    }
}

int sddsys_unread(int descriptor)
{
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) == 0 ? count : -1;
}

int sddsys_unsent(int descriptor)
{
    int count = 0;
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 ? count : -1;
}

// The counts are read at fixed offsets, since the C library's struct tcp_info ends before these fields, and the kernel's
// header conflicts with the C library's.
int sddsys_count_tcp(int descriptor, struct sddsys_tcp_counts *counts)
{
    // <linux/tcp.h>
    enum { ip_protocol_tcp = 6, tcp_info = 11, last_received = 52, acknowledged = 120, received = 128 };
    unsigned char info[256];
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, ip_protocol_tcp, tcp_info, info, &length) != 0) return -1;
    if (length < received + sizeof counts->received) return -1;
    memcpy(&counts->acknowledged, info + acknowledged, sizeof counts->acknowledged);
    memcpy(&counts->received, info + received, sizeof counts->received);
    memcpy(&counts->silent_ms, info + last_received, sizeof counts->silent_ms);
    return 0;
}

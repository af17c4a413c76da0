#define _GNU_SOURCE
#include "CHelper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Above the descriptors of a helper, so that no dup2(2) of the start overwrites another's source.
enum { FIRST_DESCRIPTOR = 10 };

/// Moves a descriptor out of the way of those that the helper gets.
static int moved(int descriptor)
{
    int other = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (descriptor >= 0) {
        int error = errno;
        close(descriptor);
        errno = error;
    }
    return other;
}

/// Makes a file in memory that nobody can make smaller, as that would end a process which reads it by SIGBUS.
static int memory_file(const char *name)
{
    int file = moved(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file < 0) return -1;
    if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

static void close_one(int32_t *descriptor)
{
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
}

void sddhelper_close(struct sddhelper_process *process)
{
    close_one(&process->socket);
    close_one(&process->body);
    close_one(&process->pixels);
    close_one(&process->pidfd);
}

/// Has no signal blocked or handled, an empty environment, and a process group of its own, so that a terminal's ^C
/// reaches the application alone.
static int spawn(const char *program, char *const *arguments, const struct sddhelper_process *process, int its_socket,
                 pid_t *pid)
{
    static char *const no_environment[] = { NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigemptyset(&none);
    sigfillset(&all);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, its_socket, SDDHELPER_SOCKET);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, process->body, SDDHELPER_BODY);
    if (error == 0) error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, process->pixels, SDDHELPER_PIXELS);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (error == 0)
        error = posix_spawnattr_setflags(&attributes,
                                         POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (error == 0) error = posix_spawn(pid, program, &actions, &attributes, arguments, no_environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int32_t sddhelper_start(const char *program, const char *library, uint64_t memory, const char *object,
                        struct sddhelper_process *process)
{
    int sockets[2], error = 0;
    char number[24];
    pid_t pid = 0;
    *process = (struct sddhelper_process){ .pidfd = -1, .socket = -1, .body = -1, .pixels = -1 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return errno;
    process->socket = moved(sockets[0]);
    if (process->socket < 0) error = errno;
    int its_socket = moved(sockets[1]);
    if (its_socket < 0) error = errno;
    if (error == 0 && (process->body = memory_file("sdd body")) < 0) error = errno;
    if (error == 0 && (process->pixels = memory_file("sdd pixels")) < 0) error = errno;
    if (error == 0) {
        (void)snprintf(number, sizeof number, "%llu", (unsigned long long)memory);
        char *const arguments[] = { (char *)program, (char *)library, number, (char *)object, NULL };
        error = spawn(program, arguments, process, its_socket, &pid);
    }
    if (its_socket >= 0) close(its_socket);
    if (error != 0) {
        sddhelper_close(process);
        return error;
    }
    process->pid = (int32_t)pid;
#ifdef SYS_pidfd_open
    process->pidfd = moved((int)syscall(SYS_pidfd_open, pid, 0));
#endif
    return 0;
}

/// The application may have waited for all its children, so that the number may be another process's by now. A pidfd
/// says that this is so; without one the number is used only if the process is still this one's child.
static void kill_it(const struct sddhelper_process *process)
{
#ifdef SYS_pidfd_send_signal
    if (process->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0);
        return;
    }
#endif
    siginfo_t state;
    memset(&state, 0, sizeof state);
    if (waitid(P_PID, (id_t)process->pid, &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == 0)
        (void)kill((pid_t)process->pid, SIGKILL);
}

int32_t sddhelper_kill(struct sddhelper_process *process)
{
    siginfo_t state;
    int32_t signal = -1;
    memset(&state, 0, sizeof state);
    kill_it(process);
    while (waitid(P_PID, (id_t)process->pid, &state, WEXITED) != 0) {
        if (errno == EINTR) continue;
        state.si_pid = 0; // SIGCHLD is ignored, or the application has waited for it
        break;
    }
    if (state.si_pid == (pid_t)process->pid) signal = state.si_code == CLD_EXITED ? 0 : state.si_status;
    sddhelper_close(process);
    return signal;
}

int64_t sddhelper_cpu_time(int32_t pid)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

int32_t sddhelper_send(int32_t socket, const void *packet, uint64_t size)
{
    ssize_t sent;
    do sent = send(socket, packet, (size_t)size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno;
    return (uint64_t)sent == size ? 0 : EMSGSIZE;
}

int32_t sddhelper_set_patience(int32_t socket, int32_t milliseconds)
{
    struct timeval time = { 0 }; // for ever
    if (milliseconds >= 0) {
        time.tv_sec = milliseconds / 1000;
        time.tv_usec = milliseconds % 1000 * 1000 + 1;
    }
    return setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0 ? 0 : errno;
}

int64_t sddhelper_receive(int32_t socket, void *packet, uint64_t size)
{
    ssize_t received;
    do received = recv(socket, packet, (size_t)size, 0);
    while (received < 0 && errno == EINTR);
    if (received >= 0) return received;
    if (errno == EAGAIN) return -1;
    return errno == ECONNRESET ? 0 : -2;
}

static _Thread_local int64_t time_of_helpers;

void sddhelper_add_time(int64_t microseconds) { time_of_helpers += microseconds; }

int64_t sddhelper_time_of_helpers(void) { return time_of_helpers; }

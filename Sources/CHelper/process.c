// Helpers as the application's process sees them: their start, their end, and the packets between.
#define _GNU_SOURCE
#include "CHelper.h"

#include "lock.h"
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
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

/// Duplicates a descriptor out of the way of those that the helper gets.
static int duplicate(int descriptor)
{
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    // A limit below FIRST_DESCRIPTOR gives another error than one that is reached.
    if (other < 0 && errno == EINVAL) errno = EMFILE;
    return other;
}

static int moved(int descriptor)
{
    int other = descriptor < 0 ? -1 : duplicate(descriptor);
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

static void close_all(struct sddhelper_process *process)
{
    close_one(&process->life);
    close_one(&process->socket);
    close_one(&process->body);
    close_one(&process->pixels);
    close_one(&process->pidfd);
}

// ---- the list of all helpers

// A fork takes it after all locks of the library.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sddhelper_process *all;

/// Makes the pipe whose end keeps the helper alive. A fork does not come between, since its child would have a copy that
/// it does not know of.
/// - Returns: the helper's end; -1 on an error.
static int make_life(struct sddhelper_process *process)
{
    int ends[2], its_end = -1;
    sddsys_lock(&lock);
    process->next = all;
    all = process;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        its_end = moved(ends[0]);
        process->life = its_end >= 0 ? moved(ends[1]) : (close(ends[1]), -1);
        if (process->life < 0 && its_end >= 0) {
            int error = errno;
            close(its_end);
            errno = error;
            its_end = -1;
        }
    }
    sddsys_unlock(&lock);
    return its_end;
}

static void forget(struct sddhelper_process *process)
{
    sddsys_lock(&lock);
    for (struct sddhelper_process **place = &all; *place != NULL; place = &(*place)->next) {
        if (*place != process) continue;
        *place = process->next;
        break;
    }
    sddsys_unlock(&lock);
}

void sddhelper_lock_for_fork(void) { sddsys_lock(&lock); }

void sddhelper_unlock_in_parent(void) { sddsys_unlock(&lock); }

void sddhelper_reset_in_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (struct sddhelper_process *process = all; process != NULL; process = process->next) close_all(process);
    all = NULL;
}

void sddhelper_free(struct sddhelper_process *process)
{
    close_all(process);
    forget(process);
    free(process);
}

// ---- start

/// The descriptors of this process that a new helper inherits.
struct its_ends {
    int socket, body, life;
};

static int add_descriptors(posix_spawn_file_actions_t *actions, int pixels, const struct its_ends *its)
{
    int error = posix_spawn_file_actions_adddup2(actions, its->socket, SDDHELPER_SOCKET);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, its->body, SDDHELPER_BODY);
    if (error == 0) error = posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, pixels, SDDHELPER_PIXELS);
    if (error == 0) error = posix_spawn_file_actions_adddup2(actions, its->life, SDDHELPER_LIFE);
    return error;
}

/// Has no signal blocked or handled, and a process group of its own, so that a terminal's ^C reaches the application
/// alone.
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all_signals;
    sigemptyset(&none);
    sigfillset(&all_signals);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all_signals);
    if (error == 0)
        error = posix_spawnattr_setflags(attributes,
                                         POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

static int spawn(char *const *arguments, char *const *environment, int pixels, const struct its_ends *its, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    error = add_descriptors(&actions, pixels, its);
    if (error == 0) error = set_attributes(&attributes);
    if (error == 0) error = posix_spawn(pid, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/// Opens a file in memory for reading alone, so that a helper cannot fill it; with all rights if there is no /proc.
static int reading_end(int file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int other = moved(open(path, O_RDONLY | O_CLOEXEC));
    if (other >= 0 || errno == EMFILE || errno == ENFILE) return other;
    return duplicate(file);
}

/// Makes everything but the process itself. Neither of its sockets waits for ever in this process.
static int make_ends(struct sddhelper_process *process, struct its_ends *its)
{
    int sockets[2];
    const struct timeval turn = { .tv_usec = SDDHELPER_TURN * 1000 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return errno;
    process->socket = moved(sockets[0]);
    int error = process->socket < 0 ? errno : 0;
    if ((its->socket = moved(sockets[1])) < 0 && error == 0) error = errno;
    if (error == 0 && (setsockopt(process->socket, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn) != 0 ||
                       setsockopt(process->socket, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof turn) != 0))
        error = errno;
    if (error == 0 && (process->body = memory_file("sdd body")) < 0) error = errno;
    if (error == 0 && (process->pixels = memory_file("sdd pixels")) < 0) error = errno;
    if (error == 0 && (its->body = reading_end(process->body)) < 0) error = errno;
    if (error == 0 && (its->life = make_life(process)) < 0) error = errno;
    return error;
}

/// Has the kernel send SIGKILL to a process when the other end of a pipe is closed.
static int kill_at_end_of(int pipe_end, pid_t pid)
{
    if (fcntl(pipe_end, F_SETSIG, SIGKILL) != 0 || fcntl(pipe_end, F_SETOWN, pid) != 0) return errno;
    int flags = fcntl(pipe_end, F_GETFL);
    return flags >= 0 && fcntl(pipe_end, F_SETFL, flags | O_ASYNC) == 0 ? 0 : errno;
}

int32_t sddhelper_follow_application(void)
{
    struct pollfd end = { .fd = SDDHELPER_LIFE };
    int error = kill_at_end_of(SDDHELPER_LIFE, getpid());
    // The application may have ended before that.
    if (error == 0 && (poll(&end, 1, 0) < 0 || end.revents & (POLLHUP | POLLERR | POLLNVAL))) _exit(0);
    return error;
}

static int start(struct sddhelper_process *process, struct its_ends *its, char *const *arguments, const char *object)
{
    pid_t pid = 0;
    int error = make_ends(process, its);
    if (error != 0) return error;
    char *environment[2] = { sddhelper_preload(object), NULL };
    error = spawn(arguments, environment, process->pixels, its, &pid);
    free(environment[0]);
    if (error != 0) return error;
    process->pid = (int32_t)pid;
    // The helper does the same, in case that this process ends before it has come to it.
    (void)kill_at_end_of(its->life, pid);
#ifdef SYS_pidfd_open
    process->pidfd = moved((int)syscall(SYS_pidfd_open, pid, 0));
#endif
    return 0;
}

int32_t sddhelper_start(const char *program, const char *library, const struct sddhelper_limits *limits,
                        const char *object, struct sddhelper_process **process)
{
    struct its_ends its = { -1, -1, -1 };
    char memory[24], pixels[24], seconds[24];
    *process = malloc(sizeof **process);
    if (*process == NULL) return ENOMEM;
    **process = (struct sddhelper_process){ 0, -1, -1, -1, -1, -1, NULL };
    (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)limits->memory);
    (void)snprintf(pixels, sizeof pixels, "%llu", (unsigned long long)limits->pixels);
    (void)snprintf(seconds, sizeof seconds, "%llu", (unsigned long long)limits->seconds);
    char *const arguments[] = { (char *)program, (char *)library, memory, pixels, seconds, (char *)object, NULL };
    int error = start(*process, &its, arguments, object);
    if (its.socket >= 0) close(its.socket);
    if (its.body >= 0) close(its.body);
    if (its.life >= 0) close(its.life);
    if (error == 0) return 0;
    sddhelper_free(*process);
    *process = NULL;
    return error;
}

// ---- end

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
    close_all(process);
    return signal;
}

int64_t sddhelper_cpu_time(int32_t pid)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

// ---- packets

int32_t sddhelper_send(int32_t socket, const void *packet, uint64_t size, bool may_wait)
{
    ssize_t sent;
    do sent = send(socket, packet, (size_t)size, MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT));
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return errno;
    return (uint64_t)sent == size ? 0 : EMSGSIZE;
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

static _Thread_local const void *stop;

void sddhelper_set_stop(const void *other) { stop = other; }

const void *sddhelper_stop(void) { return stop; }

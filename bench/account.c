/*
 * account - runs a command and writes what the kernel has accounted for it, with all processes that it waited for.
 *
 *     bench-account FILE COMMAND [ARGUMENT...]
 *
 * Writes one line of JSON to FILE; standard input, output and error are the command's. It is a small program because
 * the peak memory of a process starts with that of the process which created it: started by the runner, each command
 * would seem to need as much memory as Python.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec * 1e-6; }

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;
    if (argc < 3) return fprintf(stderr, "usage: bench-account FILE COMMAND [ARGUMENT...]\n"), 2;
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the command ends when the runner kills this program */
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) return perror("bench-account"), 2;
    const double wall = now() - start;
    FILE *file = fopen(argv[1], "w");
    if (!file) return perror(argv[1]), 2;
    fprintf(file, "{\"wall_s\":%.6f,\"user_s\":%.6f,\"system_s\":%.6f,\"peak_kb\":%ld,\"status\":%d}\n", wall,
            seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return fclose(file) ? 2 : 0;
}

#include "output.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int output_error;
void (*before_complaint)(void);

void begin_output(void)
{
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) _exit(EXIT_FILES);
        if (fd == 1) output_error = EBADF;
    }
}

int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t count = write(fd, at, size > 1 << 20 ? 1 << 20 : size);
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
            struct pollfd wait = { .fd = fd, .events = POLLOUT };
            if (errno == EAGAIN) poll(&wait, 1, 1000);
            continue;
        }
        if (count < 0) return errno;
        at += count;
        size -= (size_t)count;
    }
    return 0;
}

void print_out(const char *data, size_t size)
{
    if (output_error == 0) output_error = write_all(1, data, size);
}

bool output_failed(void) { return output_error != 0; }

int finish_output(int status)
{
    if (output_error == 0) return status;
    if (output_error == EPIPE) return status >= EXIT_SIGNAL ? status : EXIT_SIGNAL + SIGPIPE;
    complain("standard output: %s", strerror(output_error));
    return status >= EXIT_SIGNAL ? status : EXIT_FILES;
}

void complain(const char *format, ...)
{
    struct text line = { 0 }, sentence = { 0 };
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&sentence, format, arguments);
    va_end(arguments);
    text_puts(&line, "sdd: ");
    text_add_clean(&line, sentence.data, sentence.size);
    text_putc(&line, '\n');
    if (before_complaint != NULL) before_complaint();
    write_all(2, line.data, line.size);
    text_free(&sentence);
    text_free(&line);
}

/* ----------------------------------------------------------------------------------------------------------- files */

void target_begin(struct target *target)
{
    struct timespec now, pause = { 0, 500000 };
    clock_gettime(CLOCK_REALTIME, &target->began);
    /* File systems date files by a clock that ticks every few milliseconds, and new ones by a finer one where it
       matters. Both tell what is written from now on from what was there, once the coarse clock has caught up. */
    do {
        if (target->force) nanosleep(&pause, NULL);
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (target->force && (now.tv_sec < target->began.tv_sec ||
                               (now.tv_sec == target->began.tv_sec && now.tv_nsec <= target->began.tv_nsec)));
}

void target_path(const struct target *target, const char *name, struct text *path)
{
    if (target->directory != NULL && name[0] != '/') text_printf(path, "%s/", target->directory);
    text_puts(path, name);
}

/* Makes the directories of a path that do not exist. */
static int make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        int error = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        *slash = '/';
        if (error != 0) return error;
    }
    return 0;
}

/* A file without its name yet. */
struct draft {
    int fd;
    struct text path; /* a temporary name; empty for a file without any name (O_TMPFILE) */
};

static int draft_open(struct draft *draft, const char *path)
{
    struct text directory = { 0 };
    const char *slash = strrchr(path, '/');
    text_add(&directory, path, slash == NULL ? 0 : (size_t)(slash - path) + 1);
    text_puts(&directory, slash == NULL ? "./" : "");
    draft->fd = open(directory.data, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    int error = draft->fd < 0 ? errno : 0;
    if (error == EOPNOTSUPP || error == EISDIR || error == EINVAL) { /* not on every file system */
        mode_t mask = umask(0);
        umask(mask);
        text_printf(&draft->path, "%s.sdd-XXXXXX", directory.data);
        draft->fd = mkostemp(draft->path.data, O_CLOEXEC);
        error = draft->fd < 0 ? errno : 0;
        if (error != 0)
            text_clear(&draft->path);
        else
            fchmod(draft->fd, 0666 & ~mask);
    }
    text_free(&directory);
    return error;
}

static int draft_link(struct draft *draft, const char *path)
{
    char number[64];
    snprintf(number, sizeof number, "/proc/self/fd/%d", draft->fd);
    const char *from = draft->path.size > 0 ? draft->path.data : number;
    if (linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0) return 0;
    if (draft->path.size == 0 || errno == EEXIST) return errno;
    /* A file system without hard links. */
    if (renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE) == 0) {
        text_clear(&draft->path);
        return 0;
    }
    return errno;
}

static int draft_replace(struct draft *draft, const char *path)
{
    if (draft->path.size == 0) {
        struct text name = { 0 };
        int error = EEXIST;
        for (unsigned attempt = 0; error == EEXIST && attempt < 100; attempt++) {
            text_clear(&name);
            text_printf(&name, "%s.sdd-%ld-%u", path, (long)getpid(), attempt);
            error = draft_link(draft, name.data);
        }
        if (error != 0) {
            text_free(&name);
            return error;
        }
        draft->path = name;
    }
    if (rename(draft->path.data, path) != 0) return errno;
    text_clear(&draft->path);
    return 0;
}

static void draft_close(struct draft *draft)
{
    if (draft->fd >= 0) close(draft->fd);
    if (draft->path.size > 0) unlink(draft->path.data);
    text_free(&draft->path);
}

/* Tells whether a file was written since this run began, probably by this run. */
static bool is_new(const struct target *target, const char *path)
{
    struct stat facts;
    if (lstat(path, &facts) != 0) return false;
    return facts.st_ctim.tv_sec > target->began.tv_sec ||
           (facts.st_ctim.tv_sec == target->began.tv_sec && facts.st_ctim.tv_nsec > target->began.tv_nsec);
}

/* The number to try next for names that were taken before: many URLs may end in the same name. A table of fixed size,
   since there may be millions of names; a lost row costs time and nothing else. */
static unsigned *next_number(const char *path)
{
    static struct {
        uint64_t hash;
        unsigned next;
    } table[4096];
    uint64_t hash = 14695981039346656037U;
    for (const char *at = path; *at != 0; at++) hash = (hash ^ (unsigned char)*at) * 1099511628211U;
    size_t row = hash % 4096;
    if (table[row].hash != hash) {
        table[row].hash = hash;
        table[row].next = 1;
    }
    return &table[row].next;
}

/* Makes "a/b.1.jpg" of "a/b.jpg" and 1. */
static void numbered(const char *path, unsigned number, struct text *result)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1, *dot = strrchr(name, '.');
    size_t stem = dot == NULL || dot == name ? strlen(path) : (size_t)(dot - path);
    text_clear(result);
    text_add(result, path, stem);
    text_printf(result, ".%u%s", number, path + stem);
}

static int draft_publish(const struct target *target, struct draft *draft, struct text *path)
{
    if (target->force && !is_new(target, path->data)) return draft_replace(draft, path->data);
    int error = draft_link(draft, path->data);
    if (error != EEXIST || target->explicit_name) return error;
    unsigned *number = next_number(path->data);
    struct text name = { 0 };
    while (error == EEXIST && *number < UINT32_MAX) {
        numbered(path->data, (*number)++, &name);
        if (target->force && !is_new(target, name.data))
            error = draft_replace(draft, name.data);
        else
            error = draft_link(draft, name.data);
    }
    if (error == 0) {
        text_clear(path);
        text_puts(path, name.data);
    }
    text_free(&name);
    return error;
}

int write_file(const struct target *target, const char *name, const void *data, size_t size, struct text *path)
{
    struct draft draft = { .fd = -1 };
    struct stat facts;
    text_clear(path);
    target_path(target, name, path);
    if (target->explicit_name && stat(path->data, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
        int fd = open(path->data, O_WRONLY | O_CLOEXEC); /* a device or a pipe */
        int error = fd < 0 ? errno : write_all(fd, data, size);
        if (fd >= 0 && close(fd) != 0 && error == 0) error = errno;
        return error;
    }
    int error = draft_open(&draft, path->data);
    if (error == ENOENT && (error = make_directories(path->data)) == 0) error = draft_open(&draft, path->data);
    if (error == 0) error = write_all(draft.fd, data, size);
    if (error == 0) error = draft_publish(target, &draft, path);
    draft_close(&draft);
    return error;
}

#include "files.h"
#include "options.h"
#include "output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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

size_t directory_size(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

void path_begin(struct file_path *path, const struct target *target, const char *head, size_t size)
{
    text_clear(&path->text);
    if (target->directory != NULL && (size == 0 || head[0] != '/')) text_printf(&path->text, "%s/", target->directory);
    text_add(&path->text, head, size);
    path->chosen = path->text.size;
}

const char *file_error(int error)
{
    if (error == EEXIST) return "it exists; --force replaces files";
    if (error == ELOOP) return "a symbolic link is where its directory would be";
    return strerror(error);
}

/* ----------------------------------------------------------------------------------------------------- directories */

/* Makes the directories of a path that ends with "/", if they do not exist. */
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

static int open_directory(int folder, const char *name, int flags, int *fd)
{
    *fd = openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    return *fd < 0 ? errno : 0;
}

/* Opens the directory that the user has chosen, and makes it if it does not exist. */
static int open_chosen(const struct file_path *path, int *fd)
{
    if (path->chosen == 0) return open_directory(AT_FDCWD, ".", 0, fd);
    char *chosen = need(strndup(path->text.data, path->chosen));
    int error = open_directory(AT_FDCWD, chosen, 0, fd);
    if (error == ENOENT && (error = make_directories(chosen)) == 0) error = open_directory(AT_FDCWD, chosen, 0, fd);
    free(chosen);
    return error;
}

/* Opens a directory in a directory, and makes it if it does not exist. Follows no link, and goes neither up nor stays. */
static int open_below(int folder, const char *name, int *fd)
{
    struct stat facts;
    *fd = -1;
    if (*name == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return EINVAL;
    int error = open_directory(folder, name, O_NOFOLLOW, fd);
    if (error == ENOENT) {
        if (mkdirat(folder, name, 0777) != 0 && errno != EEXIST) return errno;
        error = open_directory(folder, name, O_NOFOLLOW, fd);
    }
    bool is_link = error == ENOTDIR && fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISLNK(facts.st_mode);
    return is_link ? ELOOP : error;
}

/* Opens the directory of a file, part by part, so that no name and no link leads out of the directory that the user has
   chosen. openat2(2) with RESOLVE_BENEATH does the same, but not in every kernel and sandbox. */
static int open_folder(const struct file_path *path, int *folder, const char **name)
{
    char *rest = need_copy(path->text.data + path->chosen), *part = rest;
    int error = open_chosen(path, folder);
    for (char *slash = strchr(part, '/'); error == 0 && slash != NULL; slash = strchr(part, '/')) {
        int next = -1;
        *slash = 0;
        error = open_below(*folder, part, &next);
        close(*folder);
        *folder = next;
        part = slash + 1;
    }
    *name = path->text.data + path->chosen + (part - rest);
    free(rest);
    if (error == 0 && (**name == 0 || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)) error = EISDIR;
    return error;
}

/* ---------------------------------------------------------------------------------------------------------- drafts */

/* A file without its name yet, in the directory that it will be in. */
struct draft {
    int folder;
    int fd;
    char name[32];      /* a temporary name; empty for a file without any name (O_TMPFILE) */
    bool is_unlinkable; /* a file without any name cannot get one here */
};

/* Whether files without any name are of no use in this process: where /proc is missing, or a sandbox forbids it, they
   can get none. */
static bool needs_names;

static int draft_open(struct draft *draft)
{
    draft->fd = needs_names ? -1 : openat(draft->folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (draft->fd >= 0) return 0;
    if (!needs_names && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return errno;
    for (unsigned attempt = 0; attempt < 100; attempt++) { /* not on every file system */
        uint64_t number = 0;
        if (getrandom(&number, sizeof number, 0) != sizeof number) number = (uint64_t)now_us() + attempt;
        snprintf(draft->name, sizeof draft->name, ".sdd-%016" PRIx64, number);
        draft->fd = openat(draft->folder, draft->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (draft->fd >= 0) return 0;
        draft->name[0] = 0;
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

/* Gives a draft its name where neither links nor renameat2() can: its place is taken by an empty file first, which
   nothing but this program writes to. */
static int draft_take_place(struct draft *draft, const char *name)
{
    int place = openat(draft->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (place < 0) return errno;
    close(place);
    if (renameat(draft->folder, draft->name, draft->folder, name) == 0) return 0;
    int error = errno;
    unlinkat(draft->folder, name, 0);
    return error;
}

static int draft_link(struct draft *draft, const char *name)
{
    char number[64];
    snprintf(number, sizeof number, "/proc/self/fd/%d", draft->fd);
    if (draft->name[0] == 0) {
        if (linkat(AT_FDCWD, number, draft->folder, name, AT_SYMLINK_FOLLOW) == 0) return 0;
        draft->is_unlinkable = errno != EEXIST;
        return errno;
    }
    if (linkat(draft->folder, draft->name, draft->folder, name, 0) == 0) return 0;
    if (errno == EEXIST) return errno;
    /* A file system without hard links. */
    int error = renameat2(draft->folder, draft->name, draft->folder, name, RENAME_NOREPLACE) == 0 ? 0 : errno;
    if (error == EINVAL || error == ENOSYS) error = draft_take_place(draft, name);
    if (error == 0) draft->name[0] = 0;
    return error;
}

static int draft_replace(struct draft *draft, const char *name)
{
    if (draft->name[0] == 0) {
        char temporary[sizeof draft->name] = "";
        int error = EEXIST;
        for (unsigned attempt = 0; error == EEXIST && attempt < 100; attempt++) {
            snprintf(temporary, sizeof temporary, ".sdd-%ld-%u", (long)getpid(), attempt);
            error = draft_link(draft, temporary);
        }
        if (error != 0) return error;
        memcpy(draft->name, temporary, sizeof temporary);
    }
    if (renameat(draft->folder, draft->name, draft->folder, name) != 0) return errno;
    draft->name[0] = 0;
    return 0;
}

static void draft_close(struct draft *draft)
{
    if (draft->fd >= 0) close(draft->fd);
    if (draft->name[0] != 0) unlinkat(draft->folder, draft->name, 0);
}

/* ----------------------------------------------------------------------------------------------------------- names */

/* Tells whether a file was written since this run began, probably by this run. */
static bool is_new(const struct target *target, int folder, const char *name)
{
    struct stat facts;
    if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) return false;
    return facts.st_ctim.tv_sec > target->began.tv_sec ||
           (facts.st_ctim.tv_sec == target->began.tv_sec && facts.st_ctim.tv_nsec > target->began.tv_nsec);
}

static uint64_t hash_of(const char *path)
{
    uint64_t hash = 14695981039346656037U;
    for (const char *at = path; *at != 0; at++) hash = (hash ^ (unsigned char)*at) * 1099511628211U;
    return hash;
}

/* The number to try next for names that were taken before: many URLs may end in the same name. A table of fixed size,
   since there may be millions of names; a lost row costs time and nothing else. */
static unsigned *next_number(const char *path)
{
    static struct {
        uint64_t hash;
        unsigned next;
    } table[4096];
    uint64_t hash = hash_of(path);
    size_t row = hash % 4096;
    if (table[row].hash != hash) {
        table[row].hash = hash;
        table[row].next = 1;
    }
    return &table[row].next;
}

void path_add(const struct file_path *path, struct text *result)
{
    const char *whole = text_string(&path->text), *name = whole + directory_size(whole), *dot = strrchr(name, '.');
    size_t stem = dot == NULL || dot == name ? strlen(whole) : (size_t)(dot - whole);
    text_add(result, whole, stem);
    if (path->number > 0) text_printf(result, ".%u", path->number);
    text_puts(result, whole + stem);
}

/* A path that this run has claimed or written, by its hash. Two paths of one hash cost a number and nothing else. */
struct claim {
    uint64_t hash;
    unsigned next; /* the number to try next for another such path; 0: nobody has claimed it */
};

static struct claim *claims; /* a power of two of rows, at most half of them used */
static size_t claim_rows, claim_count;

/* The row of a hash, or the free one where it belongs. */
static struct claim *claim_at(uint64_t hash)
{
    size_t row = hash & (claim_rows - 1);
    while (claims[row].next != 0 && claims[row].hash != hash) row = (row + 1) & (claim_rows - 1);
    claims[row].hash = hash;
    return &claims[row];
}

static struct claim *claim_of(const char *path)
{
    if (claim_count * 2 >= claim_rows) {
        struct claim *old = claims;
        size_t old_rows = claim_rows;
        claim_rows = old_rows == 0 ? 1024 : old_rows * 2;
        claims = need(calloc(claim_rows, sizeof *claims));
        for (size_t row = 0; row < old_rows; row++)
            if (old[row].next != 0) *claim_at(old[row].hash) = old[row];
        free(old);
    }
    return claim_at(hash_of(path));
}

/* Returns false if it is claimed already. */
static bool claim(const char *path)
{
    struct claim *row = claim_of(path);
    if (row->next != 0) return false;
    row->next = 1;
    claim_count++;
    return true;
}

void path_claim(struct file_path *path)
{
    struct text other = { 0 };
    path->number = 0;
    path_add(path, &other);
    while (!claim(other.data)) {
        text_clear(&other);
        path->number = claim_of(path->text.data)->next++;
        path_add(path, &other);
    }
    text_free(&other);
}

bool is_claimed(const char *path) { return claim_of(path)->next != 0; }

void path_is_taken(const char *path) { claim(path); }

/* Gives a draft a name that is free, or that of an older file with --force. */
static int draft_name(const struct target *target, struct draft *draft, const char *name)
{
    bool replaces = target->force && !is_new(target, draft->folder, name);
    return replaces ? draft_replace(draft, name) : draft_link(draft, name);
}

/* Gives a draft the name at the end of a path, or, if that is taken, one with another number. The path then has it. */
static int draft_publish(const struct target *target, struct draft *draft, const char *name, struct file_path *path)
{
    size_t directory = (size_t)(name - path->text.data);
    struct text whole = { 0 };
    path_add(path, &whole);
    int error = draft_name(target, draft, whole.data + directory);
    unsigned *number = next_number(path->text.data);
    while (error == EEXIST && !target->explicit_name && *number < UINT32_MAX) {
        path->number = (*number)++;
        text_clear(&whole);
        path_add(path, &whole);
        error = draft_name(target, draft, whole.data + directory);
    }
    if (error == 0) claim(whole.data);
    if (error == 0) text_clear(&path->text), text_puts(&path->text, whole.data);
    text_free(&whole);
    return error;
}

/* The number of an entry of a directory of this process's descriptors, such as /proc/self/fd, or -1. */
static int entry_descriptor(const char *directory, const char *name)
{
    char whole[PATH_MAX], own[PATH_MAX];
    int64_t number = -1;
    if (!isdigit((unsigned char)*name) || !parse_number(name, 0, INT_MAX, &number)) return -1;
    if (realpath(directory, whole) == NULL || realpath("/proc/self", own) == NULL) return -1;
    size_t size = strlen(own), end = strlen(whole);
    bool is_own = strncmp(whole, own, size) == 0 && whole[size] == '/' && strcmp(whole + end - 3, "/fd") == 0;
    return is_own ? (int)number : -1;
}

int path_descriptor(const char *path)
{
    struct text at = { 0 }, next = { 0 };
    char link[PATH_MAX];
    int fd = -1;
    text_puts(&at, path);
    for (unsigned links = 0; links < 40; links++) { /* as many as Linux follows */
        size_t head = directory_size(at.data);
        text_clear(&next);
        text_add(&next, at.data, head);
        fd = entry_descriptor(head == 0 ? "." : next.data, at.data + head);
        ssize_t size = fd >= 0 ? -1 : readlink(at.data, link, sizeof link);
        if (size <= 0) break;
        if (link[0] == '/') text_clear(&next);
        text_add(&next, link, (size_t)size);
        text_clear(&at);
        text_puts(&at, next.data);
    }
    text_free(&at);
    text_free(&next);
    return fd;
}

int output_descriptor(const char *path)
{
    int fd = path_descriptor(path);
    if (fd < 0 || fcntl(fd, F_GETFD) >= 0) return fd;
    complain("%s: %s", path, strerror(errno));
    exit(EXIT_FILES);
}

static int write_device(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC), error = fd < 0 ? errno : write_all(fd, data, size);
    if (fd >= 0 && close(fd) != 0 && error == 0) error = errno;
    return error;
}

static int write_draft(const struct target *target, struct draft *draft, const char *name, struct file_path *path,
                       const void *data, size_t size)
{
    int error = draft_open(draft);
    if (error == 0) error = write_all(draft->fd, data, size);
    if (error == 0) error = draft_publish(target, draft, name, path);
    draft_close(draft);
    return error;
}

int write_file(const struct target *target, struct file_path *path, const void *data, size_t size)
{
    struct draft draft = { .folder = -1, .fd = -1 };
    struct stat facts;
    const char *name = NULL;
    int fd = target->explicit_name ? path_descriptor(path->text.data) : -1;
    if (fd >= 0) return write_all(fd, data, size);
    bool is_device = target->explicit_name && stat(path->text.data, &facts) == 0 && !S_ISREG(facts.st_mode) &&
                     !S_ISDIR(facts.st_mode);
    if (is_device) return write_device(path->text.data, data, size); /* or a pipe */
    int error = open_folder(path, &draft.folder, &name);
    if (error == 0) error = write_draft(target, &draft, name, path, data, size);
    if (draft.is_unlinkable) {
        draft = (struct draft){ .folder = draft.folder, .fd = -1 };
        needs_names = true;
        error = write_draft(target, &draft, name, path, data, size);
    }
    if (draft.folder >= 0) close(draft.folder);
    return error;
}

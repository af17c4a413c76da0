#define _GNU_SOURCE
#include "trusted.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

/// A walk along a path, one component after the other.
struct walk {
    int folder; // the folder reached so far
    int link_count;
    int is_sticky; // whether that folder is writable by others, but has the sticky bit
    char left[SDDSYS_PATH_SIZE];
    struct sddsys_trust *trust;
};

static int stop(struct walk *walk, enum sddsys_distrust distrust, int error)
{
    walk->trust->distrust = distrust;
    walk->trust->system_error = error;
    return -1;
}

static int has_trusted_owner(const struct stat *status) { return status->st_uid == 0 || status->st_uid == geteuid(); }

/// Appends a component to the path reached so far, or removes the last one for "..".
static int append(struct walk *walk, const char *name)
{
    char *path = walk->trust->path;
    size_t length = strlen(path), more = strlen(name);
    if (strcmp(name, "..") == 0) {
        char *end = strrchr(path, '/');
        if (end != NULL) *end = 0;
        return 0;
    }
    if (length + more + 2 > SDDSYS_PATH_SIZE) return stop(walk, SDDSYS_TOO_LONG, 0);
    path[length] = '/';
    memcpy(path + length + 1, name, more + 1);
    return 0;
}

/// Checks the folder reached so far.
static int check_folder(struct walk *walk)
{
    struct stat status;
    if (fstat(walk->folder, &status) != 0) return stop(walk, SDDSYS_UNREADABLE, errno);
    if (!S_ISDIR(status.st_mode)) return stop(walk, SDDSYS_NOT_A_FOLDER, 0);
    if (!has_trusted_owner(&status)) return stop(walk, SDDSYS_OTHER_OWNER, 0);
    walk->is_sticky = 0;
    if (status.st_mode & (S_IWGRP | S_IWOTH)) {
        if (!(status.st_mode & S_ISVTX)) return stop(walk, SDDSYS_WRITABLE, 0);
        walk->is_sticky = 1;
    }
    return 0;
}

/// Goes to another folder, relative to the one reached so far.
static int enter(struct walk *walk, const char *name)
{
    int next = openat(walk->folder, name, O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
    int error = errno;
    if (walk->folder >= 0) close(walk->folder);
    walk->folder = next;
    if (next < 0) return stop(walk, error == ENOENT ? SDDSYS_MISSING : SDDSYS_UNREADABLE, error);
    return check_folder(walk);
}

/// Puts the target of a symbolic link in front of what is left of the path.
static int follow(struct walk *walk, const char *name)
{
    char target[SDDSYS_PATH_SIZE];
    ssize_t length = readlinkat(walk->folder, name, target, sizeof target - 1);
    size_t left = strlen(walk->left);
    if (length < 0) return stop(walk, SDDSYS_UNREADABLE, errno);
    if (++walk->link_count > MOST_LINKS || (size_t)length + left + 2 > sizeof walk->left)
        return stop(walk, SDDSYS_TOO_LONG, 0);
    target[length] = '/';
    memcpy(target + length + 1, walk->left, left + 1);
    memcpy(walk->left, target, (size_t)length + left + 2);
    if (length == 0 || target[0] != '/') return 0;
    walk->trust->path[0] = 0;
    return enter(walk, "/");
}

/// Takes the next component.
static int step(struct walk *walk, const char *name)
{
    struct stat status;
    if (strcmp(name, ".") == 0) return 0;
    if (fstatat(walk->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        int error = errno;
        (void)append(walk, name);
        return stop(walk, error == ENOENT ? SDDSYS_MISSING : SDDSYS_UNREADABLE, error);
    }
    if (S_ISLNK(status.st_mode)) {
        if (has_trusted_owner(&status)) return follow(walk, name);
        (void)append(walk, name);
        return stop(walk, SDDSYS_OTHER_OWNER, 0);
    }
    if (append(walk, name) != 0) return -1;
    if (!S_ISDIR(status.st_mode)) return stop(walk, SDDSYS_NOT_A_FOLDER, 0);
    return enter(walk, name);
}

/// Removes the first characters of a text. memmove() would do the same, but valgrind takes its form of _FORTIFY_SOURCE for
/// that of memcpy(), and reports an overlap.
static void drop(char *text, size_t count)
{
    size_t at = 0;
    do text[at] = text[at + count];
    while (text[at++] != 0);
}

static int walk_path(struct walk *walk)
{
    if (enter(walk, "/") != 0) return -1;
    for (;;) {
        char name[SDDSYS_PATH_SIZE];
        const char *start = walk->left + strspn(walk->left, "/");
        size_t length = strcspn(start, "/");
        if (length == 0) break;
        memcpy(name, start, length);
        name[length] = 0;
        drop(walk->left, (size_t)(start - walk->left) + length);
        if (step(walk, name) != 0) return -1;
    }
    // Others may not add files to the folder itself, not even their own.
    return walk->is_sticky ? stop(walk, SDDSYS_WRITABLE, 0) : 0;
}

int sddsys_open_trusted_folder(const char *path, struct sddsys_trust *trust)
{
    struct walk walk = { .folder = -1, .trust = trust };
    size_t length = strlen(path);
    memset(trust, 0, sizeof *trust);
    if (path[0] != '/' || length >= sizeof walk.left) return stop(&walk, SDDSYS_TOO_LONG, 0);
    // Usually there is no such folder, which takes one system call to find out.
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        memcpy(trust->path, path, length + 1);
        return stop(&walk, SDDSYS_MISSING, ENOENT);
    }
    memcpy(walk.left, path, length + 1);
    if (walk_path(&walk) == 0) return walk.folder;
    if (walk.folder >= 0) close(walk.folder);
    return -1;
}

enum sddsys_distrust sddsys_check_trusted_file(int folder, const char *name, int32_t *system_error)
{
    struct stat status;
    *system_error = 0;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        *system_error = errno;
        return errno == ENOENT ? SDDSYS_MISSING : SDDSYS_UNREADABLE;
    }
    if (!S_ISREG(status.st_mode)) return SDDSYS_NOT_A_FILE;
    if (!has_trusted_owner(&status)) return SDDSYS_OTHER_OWNER;
    return status.st_mode & (S_IWGRP | S_IWOTH) ? SDDSYS_WRITABLE : SDDSYS_TRUSTED;
}

static int has_all_segments(int file, off_t size)
{
    ElfW(Ehdr) head;
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head) return 0;
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr))) return 1;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) segment;
        off_t at = (off_t)(head.e_phoff + i * sizeof segment);
        if (at < 0 || pread(file, &segment, sizeof segment, at) != (ssize_t)sizeof segment) return 0;
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_offset > (uint64_t)size || segment.p_filesz > (uint64_t)size - segment.p_offset) return 0;
    }
    return 1;
}

int sddsys_is_whole_object(int folder, const char *name)
{
    struct stat status;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), is_whole = 1;
    if (file < 0) return 1; // dlopen says why
    if (fstat(file, &status) == 0) is_whole = has_all_segments(file, status.st_size);
    close(file);
    return is_whole;
}

const char *sddsys_secure_variable(const char *name) { return secure_getenv(name); }

bool sddsys_gains_privileges(void) { return getauxval(AT_SECURE) != 0; }

// The path from which the system has loaded this object; empty if it is unknown.
static char own_path[PATH_MAX];

/// Notes the path as soon as the object is loaded: where it was loaded by a relative path, the system's name for it leads
/// somewhere else once the application has changed its directory. Nothing asks the system's loader later, whose lock the
/// thread of a fork may hold.
__attribute__((constructor)) static void note_own_path(void)
{
    Dl_info info;
    char folder[PATH_MAX];
    if (dladdr(own_path, &info) == 0 || info.dli_fname == NULL || info.dli_fname[0] == 0) return;
    const char *before = "";
    if (info.dli_fname[0] != '/') {
        if (getcwd(folder, sizeof folder) == NULL || folder[0] != '/') return;
        before = folder;
    }
    const char *between = before[0] != 0 ? "/" : "";
    int length = snprintf(own_path, sizeof own_path, "%s%s%s", before, between, info.dli_fname);
    if (length >= (int)sizeof own_path || access(own_path, F_OK) != 0) own_path[0] = 0;
}

const char *sddsys_own_path(void) { return own_path[0] == '/' ? own_path : NULL; }

/* Files that appear whole or not at all, in directories that only the user has chosen. */
#ifndef SDD_TOOL_FILES_H
#define SDD_TOOL_FILES_H

#include "text.h"

#include <time.h>

/* Where files go. */
struct target {
    const char *directory; /* NULL: the current one */
    bool force;            /* replaces files, but none of this run */
    bool explicit_name;    /* a file that exists is an error; else the name gets a number */
    struct timespec began; /* of this run: target_begin() */
};

/* The path of a file. The user has chosen its first `chosen` bytes, up to a "/"; the rest was made from URLs and answers
   of servers. Symbolic links are followed in the first part only, so that the file cannot be elsewhere. */
struct file_path {
    struct text text;
    size_t chosen;
    unsigned number; /* the file's name has this number in it; 0: none */
};

void target_begin(struct target *target);

/* The bytes of a path up to its last "/", that included. */
size_t directory_size(const char *path);

/* Begins a path in the directory of the target. Adds `head`, which the user has chosen, and which may be absolute. */
void path_begin(struct file_path *path, const struct target *target, const char *head, size_t size);

/* Adds the path with its number: "d/photo.1.jpg". */
void path_add(const struct file_path *path, struct text *result);

/* Gives a path the first number with which no path of this run is claimed, and claims it: URLs may end in the same name,
   and then the order of the list decides which has which number, also in the next run. */
void path_claim(struct file_path *path);

/* Tells whether this run has claimed a path, or has written it. */
bool is_claimed(const char *path);

/* Claims a path as it is: a file that was there before. */
void path_is_taken(const char *path);

/* Writes a file, and makes the directories of its path. Returns 0 and the path with the number that it may have got, or
   an errno and the path that could not be written. Nothing is left of a file that could not be written whole. */
int write_file(const struct target *target, struct file_path *path, const void *data, size_t size);

/* Returns the descriptor of this process that a path stands for, as /dev/stdout, /dev/fd/3 and links to them do, whatever
   is open there; or -1. */
int path_descriptor(const char *path);

/* The same, before the program opens descriptors of its own. Ends it with a sentence if nothing is open there. */
int output_descriptor(const char *path);

/* The reason why write_file() failed, as a clause: "it exists; --force replaces files". */
const char *file_error(int error);

#endif

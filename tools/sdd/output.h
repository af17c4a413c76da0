/* Standard output, messages on standard error, and files that appear whole or not at all. */
#ifndef SDD_TOOL_OUTPUT_H
#define SDD_TOOL_OUTPUT_H

#include "text.h"

#include <time.h>

/* Makes sure that descriptors 0 to 2 are open, so that no file takes their numbers. */
void begin_output(void);

/* Writes to standard output. A failure is remembered: output_failed(), finish_output(). */
void print_out(const char *data, size_t size);
bool output_failed(void);

/* Returns the exit status of the program: `status`, or another one if standard output could not be written. */
int finish_output(int status);

/* Prints "sdd: " and a sentence to standard error, with no byte that a terminal would obey. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called before complain() prints, so that progress bars can move out of the way. NULL: nothing is called. */
extern void (*before_complaint)(void);

/* Where files go. */
struct target {
    const char *directory; /* NULL: the current one */
    bool force;            /* replaces files, but none of this run */
    bool explicit_name;    /* a file that exists is an error; else the name gets a number */
    struct timespec began; /* of this run: target_begin() */
};

void target_begin(struct target *target);

/* Writes a file, whose name may contain directories, which are made. Returns 0 and its path, or an errno and the path
   that could not be written. Nothing is left of a file that could not be written whole. */
int write_file(const struct target *target, const char *name, const void *data, size_t size, struct text *path);

/* The path that a name has, without a number. */
void target_path(const struct target *target, const char *name, struct text *path);

/* Writes all bytes; returns 0 or an errno. */
int write_all(int fd, const void *data, size_t size);

#endif

/* Standard output, and messages on standard error. */
#ifndef SDD_TOOL_OUTPUT_H
#define SDD_TOOL_OUTPUT_H

#include "text.h"

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

/* Writes all bytes; returns 0 or an errno: EINTR if a signal ends the wait for a reader. */
int write_all(int fd, const void *data, size_t size);

#endif

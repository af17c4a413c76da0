/* Progress bars on a terminal: one for each running transfer, as many as fit, and one for all. */
#ifndef SDD_TOOL_BARS_H
#define SDD_TOOL_BARS_H

#include "text.h"

/* The values of one bar. */
struct bar {
    const char *name;
    int64_t received;
    int64_t expected; /* -1: unknown */
    double rate;      /* bytes a second */
};

struct bars_total {
    uint64_t ended, failed;
    uint64_t known; /* URLs so far */
    bool all_known; /* no more will come */
    int64_t bytes;
    double rate;
};

/* Tells whether bars are wanted and standard error is a terminal that can show them. */
bool bars_begin(bool wanted);
bool bars_active(void);

/* Tells whether the last drawing is old enough for another one. */
bool bars_due(void);
void bars_draw(const struct bar *bars, size_t count, size_t hidden, const struct bars_total *total);

/* Prints a line above the bars. `colour` is 0 or one of ANSI's numbers. */
void bars_line(const char *line, int colour);

/* Removes the bars from the screen. */
void bars_clear(void);

/* Gives the columns and rows of the terminal that a descriptor refers to; 80 x 24 if they are not known. */
void terminal_size(int fd, int *columns, int *rows);
bool terminal_is_utf8(void);

#endif

/* report.h - what a simulated process tells the one that has forked it, in memory that both have. */
#ifndef REPORT_H
#define REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "scheduler.h"

enum { MOST_STATES = 1 << 14 };

struct report {
    enum finding finding;
    char sentence[500];
    struct trace trace;
    int64_t virtual_ns;
    uint64_t calls, transfers, network_faults, faults;
    unsigned char states[MOST_STATES / 8]; /* one bit for each kind of moment that was seen */
    size_t story_size;
    char story[1 << 18];
};

extern struct report *report;

/* Whether the story is told: it costs time. */
extern int tells_story;
/* Adds a sentence to the story, with the time and the thread. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Notes that a moment of a kind was reached. */
void reached(uint32_t kind, uint32_t a, uint32_t b, uint32_t c);

#define WRONG(...) found(FOUND_WRONG, __VA_ARGS__)
#define EXPECT(condition, ...) do { if (!(condition)) WRONG(__VA_ARGS__); } while (0)

#endif

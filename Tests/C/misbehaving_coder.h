/*
 * misbehaving_coder.h - the letters that tell the coder of test_isolated what to do, and its pixels.
 */
#ifndef MISBEHAVING_CODER_H
#define MISBEHAVING_CODER_H

#include <sdd/sdd.h>

enum { REFUSED = 10, ALLOWED = 20 };

enum letter {
    /* Things that end the process, or never end. */
    CRASHES = 'a', ABORTS, EXITS, LOOPS, SLEEPS, OVERFLOWS, CRASHES_IN_FEED, CRASHES_IN_CAN_DECODE,
    /* Things that the system refuses. */
    READS_A_FILE, WRITES_A_FILE, CONNECTS, FORKS, RUNS_A_PROGRAM, KILLS, MAKES_CODE, HAS_DESCRIPTORS,
    MAKES_FILES_SMALLER, TAKES_MEMORY, HAS_ENVIRONMENT, GAINS_RIGHTS, HAS_THREADS, MAKES_FILES_LARGER, WRITES_THE_BODY,
    /* A thing that it allows. */
    COMPUTES,
    ANSWERS_NEGATIVE_SIZE, ANSWERS_HUGE_SIZE, ANSWERS_NO_PIXELS
};

#endif

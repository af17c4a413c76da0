/* callers.h - the application of a simulation: threads that call the library at random, and what they must be told. */
#ifndef CALLERS_H
#define CALLERS_H

#include <stdint.h>

enum { MOST_CALLERS = 5, MOST_ACTIONS = 24 };

/* The parts of a story that are left out, to make it smaller: one bit for each action of each caller. */
struct left_out { uint32_t actions[MOST_CALLERS]; };

/* Plays the story of a seed, in a folder that exists and is empty. Ends the process at a finding. */
void play_story(uint64_t seed, const struct left_out *left_out, const char *folder);
int count_actions(uint64_t seed, int caller);

#endif

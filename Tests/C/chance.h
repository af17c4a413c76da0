/* chance.h - random numbers for tests, which a seed repeats. */
#ifndef CHANCE_H
#define CHANCE_H

#include "check.h"

/* splitmix64 gives the same numbers for the same seed. */
static inline uint32_t chance(uint64_t *state, uint32_t below)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

static inline uint64_t seed_of_the_run(void)
{
    const char *given = getenv("SDD_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

#endif

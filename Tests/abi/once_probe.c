/* Makes a global as Swift code does, by the runtime of the toolchain and with the library's replacement of once_slow(),
   to see that both mean the same by a global's word: check-runtime.sh links it. Prints what differs. */
#include "../../Sources/CFork/runtime.c"

#include <stdio.h>
#include <string.h>

#ifndef MADE
#define MADE (-7) /* any negative number */
#endif

unsigned sddfork_generation = 41;

/* The runtime's, in Once.cpp. */
void swift_once(intptr_t *global, void (*make)(void *), void *context);

static struct {
    intptr_t global;
    int32_t meanwhile;
    int times;
} made_one;

static int32_t word_of(intptr_t global)
{
    int32_t word;
    memcpy(&word, &global, sizeof word);
    return word;
}

static void make(void *context)
{
    made_one.times += context == &made_one;
    made_one.meanwhile = word_of(made_one.global);
}

/* How often a global is made that begins with a word. */
static int times(int32_t word, int32_t rest)
{
    made_one.global = 0;
    made_one.times = 0;
    memcpy(&made_one.global, &word, sizeof word);
    memcpy((char *)&made_one.global + sizeof word, &rest, sizeof made_one.global - sizeof word);
    swift_once(&made_one.global, make, &made_one);
    swift_once(&made_one.global, make, &made_one);
    return made_one.times;
}

static int fails(int is_true, const char *otherwise)
{
    if (!is_true) printf("%s\n", otherwise);
    return !is_true;
}

int main(void)
{
    int failures = fails(times(0, 0) == 1, "a new global is not made once, with the argument that its maker was given");
    failures += fails(made_one.meanwhile == 42, "swift_once() does not pass the global's word to once_slow()");
    failures += fails(word_of(made_one.global) < 0, "the word of a global that was made is not negative");
    failures += fails(times(MADE, 0) == 0, "swift_once() does not take a negative word for a global that is made");
    failures += fails(times(MADE, 1) == 0, "swift_once() reads more than the first four bytes of a global");
    failures += fails(times(7, 0) == 1, "swift_once() takes a positive word for a global that is made");
    return failures != 0;
}

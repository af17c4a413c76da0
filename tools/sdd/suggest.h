/* "did you mean": the nearest of several names to one that does not exist. */
#ifndef SDD_TOOL_SUGGEST_H
#define SDD_TOOL_SUGGEST_H

#include "text.h"

/* The search for the nearest name: begin with the name that was given, and offer each that exists. */
struct suggestion {
    const char *given;
    const char *nearest; /* NULL: none is near */
    size_t distance;
};

void suggest_offer(struct suggestion *suggestion, const char *name);

/* "; did you mean get?" or "", with `before` before the name. The text is static. */
const char *suggest_words(const struct suggestion *suggestion, const char *before);

#endif

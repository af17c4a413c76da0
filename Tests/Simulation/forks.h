/* forks.h - a process that the application forks while its threads use the library. */
#ifndef FORKS_H
#define FORKS_H

#include "calls.h"

/* Forks, and waits for the child: there the parent's objects are dead, and new ones work. */
void use_child(struct chance *chance, int site);

#endif

/* --cookie-jar: whether the file can be written, and whether it was. */
#ifndef SDD_TOOL_JAR_H
#define SDD_TOOL_JAR_H

#include <stdbool.h>

/* Ends the program with a sentence if the library could not write a jar when it ends. */
void jar_begin(const char *path);

/* Checks that the jar has been written, or says that it was not: its downloader has been destroyed. */
void jar_end(const char *path);

/* Tells whether a jar could not be written, so that the run has failed. */
bool jar_is_lost(void);

#endif

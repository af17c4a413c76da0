/* Options of curl, wget and aria2 that sdd does not have: what to do instead. */
#ifndef SDD_TOOL_HINTS_H
#define SDD_TOOL_HINTS_H

/* A clause for the long option `name`, or for the letter where `name` is NULL; NULL for one that nobody asks for. These
   are no rows of the table of options, so that the beginnings of sdd's own options stay unique. */
const char *hint_for(const char *name, int letter);

#endif

/* The commands. Each gets the settings and the arguments that are no options, and returns an exit status. */
#ifndef SDD_TOOL_COMMANDS_H
#define SDD_TOOL_COMMANDS_H

#include "options.h"

int run_get(struct settings *settings, char **arguments, size_t count); /* also sdd thumbnail */
int run_info(struct settings *settings, char **arguments, size_t count);
int run_cache(struct settings *settings, char **arguments, size_t count);
int run_bench(struct settings *settings, char **arguments, size_t count);

#endif

/* Pictures in terminals: kitty's and iTerm's protocols, sixels, and half blocks, which every terminal has. */
#ifndef SDD_TOOL_SHOW_H
#define SDD_TOOL_SHOW_H

#include "options.h"

/* Ends the program with a sentence if pictures that are shown whatever standard output is would mix with its data: lines
   of --json, or a picture itself. */
void check_show(const struct settings *settings, bool to_stdout);

/* Finds out, once, how to show pictures: `wanted` is one of SHOW_. SHOW_AUTO asks the environment and the terminal,
   for at most a third of a second. Returns one of SHOW_, never SHOW_AUTO; SHOW_NONE if standard output is no terminal
   and nothing was forced. */
int show_begin(int wanted);

/* Decodes a picture and prints it to standard output, scaled to fit into the terminal. Returns false if it cannot be
   decoded. */
bool show_bytes(const void *data, size_t size, int how);

/* Adds sixels for RGB pixels without padding. */
void sixel_add(struct text *page, const uint8_t *pixels, int width, int height);

#endif

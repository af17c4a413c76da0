/* Formats that can be written on this machine: those of the library, and those of the coders that are installed. */
#ifndef SDD_TOOL_FORMATS_H
#define SDD_TOOL_FORMATS_H

#include "options.h"

/* The package that has the decoder of a format: "libsdd-coder-webp". NULL: none, or the library itself. */
const char *coder_package(int32_t format);

/* Tells whether pictures can be encoded in a format. Loads its coder, if there is one. */
bool can_encode(int32_t format);

/* Why they cannot be, as a sentence without its full stop: what is missing, and which package has it. */
void add_why_not(struct text *sentence, int32_t format);

/* Refuses options that ask for a format which cannot be made: --to, and the extension of --output. */
void check_formats(const struct settings *settings);

/* The format that files of these options have: 0 if it is that of each picture. The name of a file decides, unless --to
   says it; with FORMAT_NONE the extension is none of pictures. */
int32_t wanted_format(const struct settings *settings, const char *name);

#endif

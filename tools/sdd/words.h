/* Sentences of the library in the tool's words: its options in place of the fields of C structs. */
#ifndef SDD_TOOL_WORDS_H
#define SDD_TOOL_WORDS_H

#include "text.h"

#include <sdd/sdd.h>

/* Adds a sentence that begins with the field that it is about, as in "sdd_network_options.resolve: ...", with the name
   of the option in its place. Any other sentence is added as it is. */
void add_words(struct text *sentence, const char *message);

/* Adds the options that a failure is about, as in " See --max-size.", if there are any. */
void add_hint(struct text *sentence, const sdd_failure *failure);

#endif

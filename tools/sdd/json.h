/* One JSON object a line (RFC 8259), for programs. */
#ifndef SDD_TOOL_JSON_H
#define SDD_TOOL_JSON_H

#include "text.h"

/* Each adds a member, with a comma if it is not the first. Bytes that are not UTF-8 become U+FFFD. A string of NULL is
   left out, and so is a number that is not finite. */
void json_begin(struct text *line);
void json_string(struct text *line, const char *name, const char *value);
void json_bytes(struct text *line, const char *name, const char *value, size_t size);
void json_number(struct text *line, const char *name, int64_t value);
void json_real(struct text *line, const char *name, double value);
void json_boolean(struct text *line, const char *name, bool value);

/* Opens and closes an array or an object that is a member, or an element if name is NULL. */
void json_open(struct text *line, const char *name, char bracket);
void json_close(struct text *line, char bracket);

/* Ends the object and the line, and prints it to standard output. */
void json_end(struct text *line);

#endif

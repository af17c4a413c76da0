/* A look at the first bytes of a body that is still arriving, so that one which is no picture is not read to its end. */
#ifndef SDD_TOOL_PEEK_H
#define SDD_TOOL_PEEK_H

#include "session.h"

/* The name of the coder that takes bodies which are no pictures, as messages of the library show it. */
#define PEEK_CODER "no-picture"

/* Makes peek_begin() work for a session. */
void peek_prepare(const struct session *session);

/* A look that is under way. */
struct peek;

/* Looks at the body of a load of `url` that is under way, and calls `no_picture` if it is none: during session_wait(),
   and at most once. */
struct peek *peek_begin(const struct session *session, const char *url, void (*no_picture)(void *user_data),
                        void *user_data);

/* Ends a look, if there is one; nothing is called any more. */
void peek_end(struct peek *peek);

#endif

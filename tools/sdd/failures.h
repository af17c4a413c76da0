/* Failures of sdd get that the library takes for successes, or tells in words that do not fit here. */
#ifndef SDD_TOOL_FAILURES_H
#define SDD_TOOL_FAILURES_H

#include "job.h"

/* Tells whether a load failed because its body is no picture of any format, rather than one that nothing decodes. */
bool is_no_picture(const sdd_failure *failure);
void fail_without_picture(struct job *job, int64_t size);

/* The name of the file says a format that the picture does not have, and that nothing makes. */
void fail_with_name(struct job *job, int32_t format);

/* Tells whether a body broke off although neither HTTP nor the library says so: nothing proves that it is complete, and
   the format of its picture has an end that did not come. --any takes it, as anything else. */
bool breaks_off(const struct job *job, int32_t format);
void fail_broken_off(struct job *job, int32_t format);

#endif

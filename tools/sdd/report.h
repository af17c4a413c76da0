/* The outcome of one URL or file: as a line of JSON, a line above the bars, or a complaint. */
#ifndef SDD_TOOL_REPORT_H
#define SDD_TOOL_REPORT_H

#include "session.h"

/* The facts about an outcome. Strings may be NULL. */
struct report {
    const char *url;
    uint64_t number;
    sdd_failure failure;
    int exit_status;
    bool skipped; /* its file existed */

    const char *path;
    int64_t bytes; /* of the file */
    int64_t body_bytes;
    int32_t format, width, height;

    struct text type, final_url; /* of the response */
    sdd_origin origin;
    int32_t attempts;
    int64_t saved_bytes, resumed_bytes, total_us, first_byte_us;
    bool end_unproven;
};

/* Copies what a result says. */
void report_read(struct report *report, const sdd_result *result);
void report_free(struct report *report);

/* Sets a failure; the HTTP status stays. */
void report_fail(struct report *report, sdd_failure failure, int exit_status);

/* Prints an outcome as the options say. */
void report_print(const struct report *report, const struct settings *settings);

/* Adds "error", "code" and so on to a line of JSON. */
void json_error(struct text *line, const sdd_failure *failure, const char *message);

#endif

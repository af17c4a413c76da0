/* The job of sdd get for one URL, and its run over all of them. */
#ifndef SDD_TOOL_JOB_H
#define SDD_TOOL_JOB_H

#include "files.h"
#include "list.h"
#include "peek.h"
#include "rate.h"
#include "report.h"

struct job {
    struct job *next, *previous; /* in run->first, in the order of the list */
    struct run *run;
    struct url_item item;
    char *url;        /* that which is loaded: with its scheme, or the file: URL of a file once it is begun */
    char *first;      /* the first URL of `url`, or the name of the file, from which names are made */
    struct text base; /* the name before it gets its extension */
    int fd;           /* of a file that has no URL of its own, or -1 */
    int32_t format;   /* that the file must have; 0: that of the picture */
    bool convert;     /* the file may be made anew */
    unsigned number;  /* that its name gets, since earlier URLs of the list have the same name; 0: none */
    sdd_token token;
    int64_t peek_at; /* now_us() from which on its first bytes are looked at; 0: never, or nothing has arrived yet */
    struct peek *peek;
    bool has_peeked, is_no_picture;
    int32_t attempts; /* transfers of loads that load_again() has replaced */
    bool started;
    int64_t received, expected;
    int64_t shown_received; /* as of the last drawing */
    double rate;
    struct report report;
};

struct run {
    const struct settings *settings;
    struct session session;
    struct url_list list;
    struct target target;
    struct rate rate_limit;
    bool convert;
    bool to_stdout;
    bool stopping;
    int show;
    struct job *first, *last;
    struct job *unbegun; /* the first that jobs_begin() has not begun yet, in the same list */
    size_t under_way;
    uint64_t number, ended, failed, skipped, unfinished;
    int64_t bytes, body_bytes, shown_bytes;
    double rate;
    int64_t began, shown_at;
    int status;
    uint64_t statuses; /* failures that `status` stands for */
};

/* Makes a job, which has its name from then on, so that jobs before it in the list can tell its file from theirs. */
void job_add(struct run *run, struct url_item *item);

/* Submits the loads of the jobs that were added; ends those at once that are refused or have nothing to do. */
void jobs_begin(struct run *run);

/* Ends a job with a failure. */
void job_fail(struct job *job, sdd_failure failure, int exit_status);

/* Looks at the first bytes of bodies that take long. Returns the milliseconds after which it must be called again, or -1. */
int jobs_peek(struct run *run);

/* Most bytes of a pipe, or of a URL that is read for its facts, unless --max-size says otherwise. */
#define MOST_OF_FILE ((int64_t)64 << 20)

/* Opens a file. What is no plain file, as a pipe or "-" for standard input, is copied into memory, at most `most` bytes.
   With `size`, the first `most` bytes of a plain file are copied, too, since others may write to it, and its size is stored.
   Returns -1, with errno, if it cannot be read. */
int open_source(const char *name, int64_t most, int64_t *size);

/* Adds a file's URL, "file:///a%20b". What has none that the library can read, as a pipe, gets the URL of a descriptor,
   which the caller closes; otherwise `fd` is -1. Returns false, with errno, if there is no such file. */
bool add_file_url(struct text *url, const char *path, int64_t most, int *fd);

/* Tells whether an argument is a URL, or else the name of a file. */
bool is_url(const char *argument);

/* Adds a URL, and "http://" before it if it has no scheme: "example.org/a.jpg", "localhost:8080/a.jpg". */
void add_whole_url(struct text *url, const char *given);

/* Tells whether one of several URLs, separated by TABs, is that of a file; and the failure of those, and of files that lists
   name, with --public-only: a stranger has chosen them. Its exit status is EXIT_LIMIT. */
bool has_file_url(const char *urls);
sdd_failure file_refused(void);

/* Makes "sha256-" text of what people write: "sha256:" or "sha-256=" and 64 digits, 64 digits, or "sha256-" and
   base64. Returns false for anything else. */
bool read_checksum(const char *given, struct text *integrity);

#endif

/* A downloader, a loader and a cache, made as the options say, and the signals that end a run. */
#ifndef SDD_TOOL_SESSION_H
#define SDD_TOOL_SESSION_H

#include "options.h"

struct session {
    const struct settings *settings;
    sdd_cache *cache; /* NULL: none */
    sdd_downloader *downloader;
    sdd_loader *loader;
    sdd_credential credential;
    uint64_t options; /* SDD_OPTION_ bits of every request */
    int seen_stop;    /* the signal that session_wait() has seen */
    struct text secrets[3];
};

/* Opens everything. Ends the program with a sentence if that fails. Events are delivered by session_wait(). */
void session_open(struct session *session, const struct settings *settings);

/* Opens the cache that the options name. Ends the program with a sentence if that fails. */
sdd_cache *open_cache(const struct settings *settings);

/* Tells whether a cache has been in the directory, which open_cache() makes that of a cache. `may_be_new`: any will do. */
bool is_cache(const char *directory, bool may_be_new);

/* Closes what session_open() has opened. */
void session_close(struct session *session);

/* Fills in what the options say about transfers. */
void session_fill(const struct session *session, sdd_transfer_options *transfer);

/* Waits until a descriptor is readable, or has ended. Returns false if a signal has asked the program to stop. */
bool wait_readable(int fd);

/* Waits until a descriptor takes bytes, or has ended. Returns false if a signal has asked the program to stop, and the
   descriptor takes none for a second. */
bool wait_writable(int fd);

/* Waits up to `milliseconds` for events, for a descriptor to become readable (or -1) and for signals, and calls the
   callbacks of the events. */
void session_wait(struct session *session, int readable, int milliseconds);

/* The signal that asked the program to end (SIGINT, SIGTERM, SIGHUP), or 0. From session_open() on, signals only set
   this; another one, half a second later or more, ends the program at once. */
int stop_signal(void);

/* The failure of the library's call before. */
sdd_failure last_failure(void);

/* A failure of the tool's own. */
sdd_failure own_failure(sdd_status status, sdd_detail detail, const char *message);

/* The exit status for a failure, and how those of several URLs are combined. */
int class_status(const sdd_failure *failure);
int combine_status(int all, int one, bool first);

/* "response" for SDD_CLASS_RESPONSE, and "network" for SDD_ORIGIN_NETWORK. */
const char *class_name(sdd_error_class error_class);
const char *origin_name(sdd_origin origin);

#endif

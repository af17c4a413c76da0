/*
 * calls.h - the requests of a simulated application, and what must hold of each: one terminal callback, not inside the
 * submitting call, and nothing after it; then its data are freed, once. If sdd_cancel() succeeded, it ends as cancelled.
 * A picture is that of its URL.
 */
#ifndef CALLS_H
#define CALLS_H

#include <sdd/sdd.h>

#include "network.h"
#include "scheduler.h"

enum { MOST_CALLS = 2048, SITES = 2, URLS = 24, SLOW_URLS = 4 };

enum call_kind { DOWNLOAD, LOAD, LIST };

/* A request, load or list that was submitted. */
struct call {
    int number, site, wants_bytes, is_submitting, is_accepted, completed, freed, was_cancelled, cancelled_inside;
    sdd_status status; /* of its end */
    enum call_kind kind;
    struct place place;
    sdd_token token;
    struct task *submitter;
    struct chance chance; /* for what its callbacks do */
    size_t listed, finished;
    int64_t began;
    int has_own_key; /* under which another picture may be stored */
    struct sink *sink;
};

/* A downloader, and a loader that uses it. */
struct site {
    sdd_downloader *downloader;
    sdd_cache *cache;
    sdd_loader *loader;
    int delivers_itself;    /* SDD_DELIVERY_APPLICATION */
    int has_event_loop;     /* its thread polls the downloader's descriptor */
    int waits_until_idle;   /* its thread calls sdd_downloader_idle_wait() */
    int ends, is_destroyed; /* a caller destroys it; that has returned */
    int is_slow; /* its hosts alone are slow, in a story that is quiet but for them */
    int64_t background_since; /* 0: it is in the foreground */
};

extern struct site sites[SITES];
extern struct place urls[URLS]; /* of the story */
extern struct call calls[MOST_CALLS];
extern int call_count;
extern __thread int depth; /* of calls inside callbacks */
/* In a quiet story nothing is slow, nothing fails and callbacks do not wait: each call ends soon. */
extern int is_quiet;
/*
 * What some stories have besides. Away: the application is in the background for long. Ending: caches are destroyed in the
 * middle. Storing: entries are stored and removed all the time, while the disk fails. Syncing: quiet, but calls of fsync() take long, which reads must not wait for. Hoarding: so much is stored then,
 * while nobody waits for it, that the limits on what waits are reached.
 */
extern int is_hoarding, is_away, is_ending, is_storing, is_syncing;

void begin_calls(void);
/* Whether some calls have not ended. */
int has_open_calls(void);
/* Waits until all calls have ended; that they do not within an hour is a finding. */
void await_all_calls(void);
/* In a quiet story what has begun at that time must have ended by now. */
void expect_soon(int64_t began, const char *what, int number);
/* The same of what waits for the hosts of a site. */
void expect_soon_of(const struct site *site, int64_t began, const char *what, int number);
/* One of the URLs of the story that a site uses. */
struct place choose_url(struct chance *chance, int site);
/* Releases what the application has kept. */
void end_calls(void);
/* A cached picture that a load with a key of its own may find in place of its URL's. */
static inline int swapped(int picture) { return (picture + 1) % PICTURES; }

/* Submits a request, load or list of a seed's choice. */
void submit(struct chance *chance, int site);
/* Runs a request with sdd_get(). */
void get_one(struct chance *chance, int site);
void cancel_one(struct chance *chance);

#endif

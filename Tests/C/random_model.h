/*
 * random_model.h - for test_random_calls.c: the objects in use (downloaders, loaders, caches, batches, images, bytes),
 * and the callbacks that each token must get:
 *
 *   - one terminal callback, never inside the submitting call, never after the destruction of its downloader has
 *     returned, and no callback after it; then its user_data_free, once;
 *   - a cancelled result if sdd_cancel() succeeded, and nothing else if one of its own callbacks called that;
 *   - no callback if the submitting call gave no token;
 *   - an error with its class, its sentence and no body; on success the right bytes.
 */
#ifndef RANDOM_MODEL_H
#define RANDOM_MODEL_H

#include "random_values.h"

enum { THREADS = 8, SITES = 4, LOADERS = 3, CACHES = 3, BATCHES = 2, RECENT = 32, IMAGES = 16 };

/* The ways to take the events of a downloader. */
enum { BY_THREAD, BY_DISPATCH, BY_DRAIN };

struct call;

/* One downloader, from its creation to the end of the round. */
typedef struct site {
    sdd_downloader *downloader; /* NULL: the shared one */
    int way;
    atomic_int ends, destroyed; /* its destruction has begun; has returned */
    atomic_int changes_bodies;  /* it had its own modifiers */
    _Atomic(struct call *) recent[RECENT];
    pthread_mutex_t taking; /* held while its records are read; recursive */
    struct site *next;
} site;

/* One request, load, list, or cache call. */
typedef struct call {
    site *site;
    atomic_int is_submitting, completed, freed, was_cancelled, is_refused;
    atomic_int cancelled_inside; /* one of its own callbacks has cancelled it: only the end may follow */
    size_t finished;             /* of a list: the newest progress */
    pthread_t submitter;
    _Atomic(sdd_token) token;
    int has_completed, has_free; /* which callbacks the library was given */
    char target[64];             /* seed of a good body's pattern; "" for any body */
    size_t size;
    _Atomic sdd_status error;
    uint8_t *pixels; /* destination of the decoded pixels, or NULL */
    struct call *next;
} call;

/* A loader, cache or batch. */
typedef struct thing {
    void *handle;
    site *site;   /* for a loader: the downloader that delivers its loads */
    void *memory; /* for a batch: the memory of its tensor */
    atomic_int ends;
    struct thing *next;
} thing;

static _Atomic(site *) sites[SITES], all_sites;
static _Atomic(thing *) loaders[LOADERS], caches[CACHES], batches[BATCHES], all_things;
static _Atomic(call *) all_calls;
static site shared_site = { .taking = PTHREAD_MUTEX_INITIALIZER };
static atomic_int open_calls, accepted_calls, good_calls, cancelled_calls;
static atomic_int owed_frees; /* for observers, coders, transports and the like */
static __thread int depth;    /* depth of nested callbacks on this thread */
static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t room = PTHREAD_COND_INITIALIZER;

/* ---------------------------------------------------------------------------------- calls and ends */

static inline call *new_call(site *s)
{
    call *c = calloc(1, sizeof *c);
    c->site = s;
    c->next = atomic_load(&all_calls);
    while (!atomic_compare_exchange_weak(&all_calls, &c->next, c)) continue;
    c->submitter = pthread_self();
    atomic_store(&c->is_submitting, 1);
    return c;
}

/* Whether the round waits for this call's callbacks at its end. */
static inline int is_awaited(const call *c) { return c->has_completed || c->has_free; }

static inline void open_call(call *c)
{
    if (is_awaited(c)) atomic_fetch_add(&open_calls, 1);
}

static inline void close_call(void)
{
    pthread_mutex_lock(&room_lock);
    atomic_fetch_sub(&open_calls, 1);
    pthread_cond_broadcast(&room);
    pthread_mutex_unlock(&room_lock);
}

/* Records the token that the submitting call returned. */
static inline void submitted(call *c, sdd_token token)
{
    atomic_store(&c->is_submitting, 0);
    if (token == 0) {
        atomic_store(&c->is_refused, 1);
        CHECK(c->completed == 0 && c->freed == 0);
        if (is_awaited(c)) close_call();
        return;
    }
    CHECK(c->site != NULL);
    atomic_store(&c->token, token);
    atomic_fetch_add(&accepted_calls, 1);
    atomic_store(&c->site->recent[chance(RECENT)], c);
}

/* Checks that a callback of this call may still come, which may be its last. */
static inline void hear_any(call *c)
{
    CHECK(!c->is_refused && c->completed == 0 && c->freed == 0);
    CHECK(c->site && !c->site->destroyed);
    if (c->is_submitting && pthread_equal(c->submitter, pthread_self())) FAIL("a callback inside the submitting call");
}

/* The same for a callback that is not its last. */
static inline void hear(call *c)
{
    hear_any(c);
    CHECK(!c->cancelled_inside);
}

static inline void end_call(call *c, sdd_status error)
{
    hear_any(c);
    CHECK_EQUAL(atomic_fetch_add(&c->completed, 1), 0);
    atomic_store(&c->error, error);
    if (error == SDD_ERROR_CANCELLED) atomic_fetch_add(&cancelled_calls, 1);
    if (c->has_completed && !c->has_free) close_call();
}

static inline void free_call(void *user_data)
{
    call *c = user_data;
    if (c == NULL) return;
    CHECK(c->site && !c->site->destroyed && !c->is_refused && c->has_free);
    CHECK_EQUAL(atomic_fetch_add(&c->freed, 1), 0);
    CHECK(c->completed == 1 || !c->has_completed);
    close_call();
}

/* Checks the properties that every result has, with or without a token. */
static inline void check_outcome(const sdd_result *result, int is_end)
{
    CHECK_EQUAL(result->struct_size, sizeof *result);
    const sdd_failure *failure = &result->failure;
    CHECK_EQUAL(result->is_terminal, is_end);
    check_measured(result->metrics);
    CHECK(result->origin >= SDD_ORIGIN_NONE && result->origin <= SDD_ORIGIN_HTTP_STALE);
    CHECK_EQUAL(result->origin == SDD_ORIGIN_NONE, failure->status != SDD_OK);
    if (failure->detail) CHECK_EQUAL(failure->detail / 100, failure->status);
    CHECK_EQUAL(failure->error_class, class_of(failure->status, failure->detail));
    if (failure->status == SDD_OK) return;
    /* A transport of the application sets its own message. */
    CHECK(failure->message[0] != 0);
    CHECK(strcmp(sdd_status_name(failure->status), "SDD_ERROR_UNKNOWN") != 0);
    CHECK(result->image == NULL && result->bytes == NULL && result->extended == NULL);
    CHECK(failure->stage >= SDD_STAGE_SUBMIT && failure->stage <= SDD_STAGE_DECODE);
}

static inline void check_any_result(const sdd_result *result, int is_end)
{
    CHECK(result->token != 0);
    check_outcome(result, is_end);
}

static inline void check_end(call *c, const sdd_result *result)
{
    check_any_result(result, 1);
    end_call(c, result->failure.status);
    if (result->failure.status != SDD_OK) return;
    atomic_fetch_add(&good_calls, 1);
    if (!c->target[0] || !result->bytes || c->site->changes_bodies) return;
    CHECK_EQUAL(sdd_bytes_size(result->bytes), c->size);
    if (!is_pattern(sdd_bytes_data(result->bytes), c->size, c->target)) FAIL("wrong bytes from %s", result->url);
}

/* Checks the state of a call at the end of a round. */
static inline void check_call(const call *c)
{
    if (c->is_refused) {
        CHECK(c->completed == 0 && c->freed == 0);
        return;
    }
    if (c->has_completed) CHECK_EQUAL(c->completed, 1);
    CHECK(c->completed <= 1);
    CHECK_EQUAL(c->freed, c->has_free);
    if (c->was_cancelled && c->completed && c->error != SDD_ERROR_CANCELLED)
        FAIL("cancelled, and ended with %s", sdd_status_name(c->error));
}

/* ------------------------------------------------------------ user data that the library must free */

static inline void owed_free(void *user_data)
{
    atomic_int *count = user_data;
    CHECK_EQUAL(atomic_fetch_sub(count, 1), 1);
    atomic_fetch_sub(&owed_frees, 1);
}

/* Returns user data that the library must free once: a counter in a table that is never freed, so that a second free is
   detected. */
static inline atomic_int *owe(void)
{
    static atomic_int table[1 << 16];
    static atomic_uint turn;
    for (;;) {
        int free_place = 0;
        atomic_int *count = &table[atomic_fetch_add(&turn, 1) % (1 << 16)];
        if (!atomic_compare_exchange_strong(count, &free_place, 1)) continue;
        atomic_fetch_add(&owed_frees, 1);
        return count;
    }
}

/* The call that should have taken over the user data has refused it. */
static inline void owe_nothing(atomic_int *count)
{
    CHECK_EQUAL(atomic_exchange(count, 0), 1);
    atomic_fetch_sub(&owed_frees, 1);
}

/* ------------------------------------------------------------------------------ choosing an object */

static inline void add_thing(thing *t)
{
    t->next = atomic_load(&all_things);
    while (!atomic_compare_exchange_weak(&all_things, &t->next, t)) continue;
}

/* Returns a downloader that is or was alive; NULL stands for the shared one. *s is NULL for an invalid handle. */
static inline sdd_downloader *any_downloader(site **s)
{
    if (one_in(40)) {
        thing *other = atomic_load(&caches[chance(CACHES)]);
        *s = NULL;
        return one_in(2) && other && other->handle ? other->handle : forged();
    }
    *s = one_in(20) ? &shared_site : atomic_load(&sites[chance(SITES)]);
    return (*s)->downloader;
}

/* Returns an object of a pool that is or was alive; NULL, which stands for the shared one, if the slot is empty. */
static inline void *any_of(_Atomic(thing *) *pool, uint32_t count, thing **t)
{
    *t = NULL;
    if (one_in(40)) return one_in(2) ? forged() : (void *)atomic_load(&sites[chance(SITES)])->downloader;
    if (one_in(20)) return NULL;
    *t = atomic_load(&pool[chance(count)]);
    return *t ? (*t)->handle : NULL;
}

static inline sdd_cache *any_cache(void)
{
    thing *t;
    return any_of(caches, CACHES, &t);
}

/* Returns a loader and the downloader that delivers its loads. */
static inline sdd_loader *any_loader(site **s)
{
    thing *t;
    sdd_loader *loader = any_of(loaders, LOADERS, &t);
    *s = loader == NULL ? &shared_site : t ? t->site : NULL;
    return loader;
}

/* ----------------------------------------------------------------------------- images and bytes kept */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static sdd_image *kept_images[IMAGES];
static sdd_bytes *kept_bytes[IMAGES];
static sdd_response *kept_responses[IMAGES];

/* Returns one more reference to one of the kept objects, or NULL now and then. */
#define TAKE(kind, kept) \
    static inline kind *take_##kind(void) \
    { \
        if (one_in(20)) return NULL; \
        pthread_mutex_lock(&kept_lock); \
        kind *one = CALL(kind##_retain, kept[chance(IMAGES)]); \
        pthread_mutex_unlock(&kept_lock); \
        return one; \
    } \
    /* Keeps one object in place of another and takes over the reference. */ \
    static inline void keep_##kind(kind *one) \
    { \
        if (one == NULL) return; \
        uint32_t place = chance(IMAGES); \
        pthread_mutex_lock(&kept_lock); \
        kind *old = kept[place]; \
        kept[place] = one; \
        pthread_mutex_unlock(&kept_lock); \
        CALL(kind##_release, old); \
    }

TAKE(sdd_image, kept_images)
TAKE(sdd_bytes, kept_bytes)
TAKE(sdd_response, kept_responses)

static inline void let_go_of_all(void)
{
    for (int i = 0; i < IMAGES; i++) {
        sdd_image_release(kept_images[i]), kept_images[i] = NULL;
        sdd_bytes_release(kept_bytes[i]), kept_bytes[i] = NULL;
        sdd_response_release(kept_responses[i]), kept_responses[i] = NULL;
    }
}

#endif

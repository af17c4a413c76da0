/*
 * load_model.h - for the programs that run many loads at once: a model of the events an application may receive for one
 * load, and of their order. A `tracked` records all events of one load; an event that must not come ends the program.
 *
 *   - progress begins, and restarts, with (0, -1), and grows in between;
 *   - the cached image is delivered once, before every event of the download, and only to loads that refresh;
 *   - facts come before previews, and everything comes before the end;
 *   - after a cancel on the delivering thread has returned, only the end comes;
 *   - the load ends once, in one of the ways the model allows; then its user data is freed, once.
 */
#ifndef LOAD_MODEL_H
#define LOAD_MODEL_H

#include "chance.h"
#include "loads.h"

#include <stdatomic.h>

/* ------------------------------------------------------------------------------------ the model */

typedef struct tracked {
    sdd_token token;          /* 0 until an event or the submitting call has set it */
    sdd_status expected;      /* the result of its sources, unless the cache has it */
    int has_limit, refreshes, is_blockable, only_cached;
    int32_t width, height;    /* size of the picture in the requested form; 0 for bytes alone */
    int may_be_cancelled;     /* a cancel was tried */
    int is_silenced;          /* cancelled on the delivering thread; only that thread uses this */
    int begun, facts, previews, cached, freed;
    atomic_int completed;
    int64_t received;
    sdd_status error;
} tracked;

static inline void track_any(tracked *t, const char *what)
{
    if (t->completed || t->freed || t->is_silenced)
        FAIL("%s: completed %d, freed %d, silenced %d; begun %d, %lld bytes, %d facts, %d cached, refreshes %d", what,
             t->completed, t->freed, t->is_silenced, t->begun, (long long)t->received, t->facts, t->cached,
             t->refreshes);
}

static inline void track_progress(tracked *t, int64_t received, int64_t expected)
{
    track_any(t, "progress");
    CHECK(received >= 0 && expected >= -1 && (expected < 0 || received <= expected));
    /* A body from the HTTP cache begins with its size. */
    if (received == 0 && (expected == -1 || t->begun == 0)) {
        t->begun++;
        t->received = 0;
    }
    if (t->begun == 0 || received < t->received)
        FAIL("progress (%lld, %lld) after %lld bytes, begun %d times", (long long)received, (long long)expected,
             (long long)t->received, t->begun);
    t->received = received;
}

static inline void track_facts(tracked *t, const sdd_image_info *facts)
{
    track_any(t, "facts");
    CHECK(facts != NULL);
    t->facts++;
}

static inline void track_preview(tracked *t, const sdd_result *result)
{
    track_any(t, "preview");
    CHECK(t->facts > 0 && result->image != NULL && result->failure.status == SDD_OK && result->is_terminal == 0);
    t->previews++;
}

static inline void track_cached(tracked *t, const sdd_result *result)
{
    track_any(t, "cached");
    CHECK(t->refreshes && t->begun == 0 && t->previews == 0 && t->cached == 0);
    CHECK(result->failure.status == SDD_OK && result->is_terminal == 0);
    CHECK(result->origin == SDD_ORIGIN_MEMORY || result->origin == SDD_ORIGIN_DISK ||
          result->origin == SDD_ORIGIN_HTTP_FRESH || result->origin == SDD_ORIGIN_HTTP_STALE);
    t->cached++;
}

static inline int may_end_with(const tracked *t, const sdd_result *result)
{
    switch (result->failure.status) {
    case SDD_OK: return 1;
    case SDD_ERROR_CANCELLED: return t->is_silenced || t->may_be_cancelled;
    case SDD_ERROR_NOT_CACHED: return t->only_cached;
    case SDD_ERROR_NOT_MODIFIED: return t->cached == 1;
    case SDD_ERROR_BLOCKED: return t->is_blockable;
    case SDD_ERROR_TIMEOUT: return t->has_limit;
    default: return result->failure.status == t->expected && (t->width == 0 || t->cached == 1);
    }
}

static inline void track_end(tracked *t, const sdd_result *result)
{
    check_result(result);
    CHECK(t->completed == 0 && t->freed == 0);
    if (!may_end_with(t, result) || (t->is_silenced && result->failure.status != SDD_ERROR_CANCELLED))
        FAIL("%s ended with %s %d, expected %s: silenced %d, may be cancelled %d, cached %d, origin %d, HTTP %d: %s",
             result->url, sdd_status_name(result->failure.status), (int)result->failure.detail,
             sdd_status_name(t->expected), t->is_silenced, t->may_be_cancelled, t->cached, (int)result->origin,
             (int)result->failure.http_status, result->failure.message);
    if (result->failure.status == SDD_OK && t->width > 0) {
        CHECK(result->is_terminal == 1 && result->image != NULL);
        if (sdd_image_width(result->image) != t->width || sdd_image_height(result->image) != t->height)
            FAIL("%s is %d x %d, not %d x %d (origin %d)", result->url, (int)sdd_image_width(result->image),
                 (int)sdd_image_height(result->image), t->width, t->height, (int)result->origin);
    }
    t->error = result->failure.status;
    t->completed++;
}

static inline void track_freed(tracked *t)
{
    CHECK(t->completed == 1 && t->freed == 0);
    t->freed++;
}

/* ------------------------------------------------------------------------------- random loads */

/* One load chosen at random, with everything its request points to. Valid until it is submitted. */
typedef struct chosen {
    sdd_load_request request;
    sdd_decode_options decode;
    sdd_transform transform;
    sdd_transfer_options transfer;
    const char *others[2];
    int has_previews;
    char key[40];
} chosen;

/* Chooses a picture on the server: its number selects the file, 19 x 13 or 37 x 29. */
static inline const char *choose_picture(tracked *t, uint32_t number)
{
    static const char *const files[] = { "png/rgb8.png", "jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg" };
    t->width = number % 3 == 0 ? 19 : 37;
    t->height = number % 3 == 0 ? 13 : 29;
    return atf("/file/%s?soak%u", files[number % 3], number);
}

/* Chooses a load that fails: by 404, a reset, an HTML page, half a picture, or a server that never answers. */
static inline const char *choose_failure(tracked *t, chosen *c, uint64_t *state)
{
    uint32_t kind = chance(state, 5), number = chance(state, 12);
    t->width = t->height = 0;
    t->is_blockable = 1;
    switch (kind) {
    case 0: t->expected = SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE; return atf("/status/404?%u", number);
    case 1: t->expected = SDD_ERROR_CONNECTION_LOST; return atf("/reset?%u", number);
    case 2: t->expected = SDD_ERROR_BAD_IMAGE_DATA; return atf("/html?%u", number);
    case 3: t->expected = SDD_ERROR_TRUNCATED_BODY; return atf("/cut?file=png/rgb8.png&n=%u", number);
    default:
        t->has_limit = 1;
        c->transfer.total_timeout_ms = 1 + chance(state, 30);
        t->expected = SDD_ERROR_TIMEOUT;
        return atf("/silence?%u", number);
    }
}

/* Chooses the form of the picture: its size, transforms, or bytes alone. */
static inline void choose_form(tracked *t, chosen *c, uint64_t *state)
{
    if (chance(state, 3) == 0) {
        c->decode = (sdd_decode_options)SDD_DECODE_OPTIONS_INIT;
        c->decode.target_width = t->width == 37 ? 9 + (int32_t)chance(state, 2) * 5 : 10;
        c->decode.fit = SDD_FIT_STRETCH;
        c->decode.target_height = 7;
        c->request.decode = &c->decode;
        t->width = c->decode.target_width;
        t->height = 7;
    }
    if (chance(state, 5) == 0) {
        c->transform = (sdd_transform)SDD_TRANSFORM_INIT;
        c->transform.kind = SDD_TRANSFORM_ROTATE;
        c->transform.degrees = 90;
        c->request.transforms = &c->transform;
        c->request.transform_count = 1;
        int32_t width = t->width;
        t->width = t->height;
        t->height = width;
    }
}

static inline uint64_t choose_options(tracked *t, uint64_t *state)
{
    uint64_t options = 0;
    if (chance(state, 8) == 0) options |= SDD_OPTION_REFRESH_CACHED;
    if (chance(state, 10) == 0) options |= SDD_OPTION_WAIT_STORE_CACHE;
    if (chance(state, 20) == 0) options |= SDD_OPTION_FROM_CACHE_ONLY;
    if (chance(state, 20) == 0) options |= SDD_OPTION_FROM_LOADER_ONLY;
    if (chance(state, 3) == 0) options |= SDD_OPTION_RETRY_FAILED;
    if (chance(state, 20) == 0) options |= SDD_OPTION_QUERY_MEMORY_DATA;
    t->refreshes = (options & SDD_OPTION_REFRESH_CACHED) != 0;
    t->only_cached = (options & SDD_OPTION_FROM_CACHE_ONLY) != 0;
    return options;
}

/* Fills in everything but the callbacks. */
static inline void choose_load(tracked *t, chosen *c, uint64_t *state)
{
    uint32_t number = chance(state, 90), kind = chance(state, 100);
    *c = (chosen){ .request = SDD_LOAD_REQUEST_INIT, .transfer = SDD_TRANSFER_OPTIONS_INIT };
    c->request.transfer = &c->transfer;
    c->request.options = choose_options(t, state);
    c->has_previews = chance(state, 4) == 0;
    if (kind < 15) {
        c->request.url = choose_failure(t, c, state);
        return;
    }
    const char *url = choose_picture(t, number);
    c->request.url = url;
    if (kind < 25) { /* the picture is at another URL; only that URL may refresh what is cached as `url` */
        t->expected = SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE;
        t->is_blockable = 1;
        c->others[0] = url;
        c->request.alternatives = c->others;
        c->request.alternative_count = 1;
        c->request.url = atf("/status/%u?%u", 404 + chance(state, 2) * 6, chance(state, 10));
    }
    snprintf(c->key, sizeof c->key, "soak-%u", number);
    if (kind < 25 || kind >= 90) c->request.cache_key = c->key;
    if (kind >= 80 && kind < 85) { /* prefetch, bytes alone */
        c->request.options |= SDD_OPTION_BYTES_ONLY;
        c->request.priority = SDD_PRIORITY_VERY_LOW;
        c->has_previews = 0;
        t->width = t->height = 0;
        return;
    }
    if (kind >= 85 && kind < 88) {
        c->request.url = atf("/file/png/rgb8.png?fresh%u&header=Cache-Control:%%20max-age=60", number);
        t->width = 19, t->height = 13;
        c->request.options |= SDD_OPTION_USE_HTTP_CACHE;
    }
    if (kind == 88) { /* slow enough for previews */
        c->request.url = atf("/trickle?file=large/progressive.jpg&piece=6000&every=2&n=%u", number % 4);
        c->has_previews = 1;
        t->width = 640, t->height = 480;
    }
    if (kind < 30) c->request.store = SDD_CACHE_MEMORY;
    if (kind == 89) c->request.query = c->request.original_query = SDD_CACHE_NONE;
    choose_form(t, c, state);
    if (chance(state, 30) == 0) {
        t->has_limit = 1;
        c->transfer.total_timeout_ms = 1 + chance(state, 40);
    }
}

#endif

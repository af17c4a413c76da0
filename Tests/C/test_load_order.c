/* The order of a load's events: as callbacks on the library's thread, as callbacks that the application dispatches, and
   as records. First come loads whose events are all known, then many of all kinds at once, by load_model.h. */
#include "load_model.h"

/* The ways to receive events. */
enum { BY_THREAD, BY_DISPATCH, BY_DRAIN, WAYS };

static loader_in_folder l;
static int way;

static void open_for(int wanted)
{
    sdd_callback_options callbacks = SDD_CALLBACK_OPTIONS_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .callbacks = &callbacks };
    config.retry = &retry;
    way = wanted;
    config.delivery = way == BY_THREAD ? SDD_DELIVERY_THREAD : SDD_DELIVERY_APPLICATION;
    retry.delay_ms = 2;
    callbacks.min_preview_interval_ms = -1;
    l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
}

/* --------------------------------------------------------------------------------- one load's events */

/* One letter for each event: b(egins), s(ize), p(rogress), f(acts), v for a preview, c for a cached image, E(nd),
   F(reed). Equal letters in a row are written once. */
typedef struct story {
    tracked tracked;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char letters[200];
    int is_over;
} story;

static void tell(story *s, char letter)
{
    pthread_mutex_lock(&s->lock);
    size_t count = strlen(s->letters);
    CHECK(count < sizeof s->letters - 1);
    if (count == 0 || s->letters[count - 1] != letter) s->letters[count] = letter;
    pthread_mutex_unlock(&s->lock);
}

static void told_progress(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    story *s = user_data;
    (void)token, (void)url;
    track_progress(&s->tracked, received, expected);
    tell(s, received ? 'p' : expected < 0 ? 'b' : 's');
}

static void told_facts(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    story *s = user_data;
    (void)token;
    track_facts(&s->tracked, facts);
    tell(s, 'f');
}

static void told_preview(const sdd_result *result, void *user_data)
{
    story *s = user_data;
    track_preview(&s->tracked, result);
    tell(s, 'v');
}

static void told_cached(const sdd_result *result, void *user_data)
{
    story *s = user_data;
    track_cached(&s->tracked, result);
    tell(s, 'c');
}

static void told_end(const sdd_result *result, void *user_data)
{
    story *s = user_data;
    track_end(&s->tracked, result);
    tell(s, 'E');
}

static void told_freed(void *user_data)
{
    story *s = user_data;
    track_freed(&s->tracked);
    tell(s, 'F');
    pthread_mutex_lock(&s->lock);
    s->is_over = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Handles one record as the callbacks would. */
static void take_record(const sdd_event *event)
{
    switch (event->kind) {
    case SDD_EVENT_PROGRESS:
        told_progress(event->token, event->received_bytes, event->expected_bytes, "", event->user_data);
        break;
    case SDD_EVENT_FACTS: told_facts(event->token, event->info, event->user_data); break;
    case SDD_EVENT_PREVIEW: told_preview(event->result, event->user_data); break;
    case SDD_EVENT_CACHED: told_cached(event->result, event->user_data); break;
    case SDD_EVENT_COMPLETED: told_end(event->result, event->user_data); break;
    default: FAIL("an event of kind %d", (int)event->kind);
    }
}

/* Delivers queued events, or waits for the next ones. */
static void deliver(int64_t milliseconds)
{
    sdd_event events[2] = { SDD_EVENT_INIT, SDD_EVENT_INIT };
    size_t count = 0;
    sdd_status status = sdd_downloader_wait(l.downloader, way == BY_DRAIN ? events : NULL, 2, milliseconds, &count);
    CHECK(status == SDD_OK || status == SDD_ERROR_TIMEOUT);
    for (size_t i = 0; way == BY_DRAIN && i < count; i++) take_record(&events[i]);
}

static void wait_for_end(story *s)
{
    if (way != BY_THREAD) {
        while (!s->is_over) deliver(s->tracked.completed ? 0 : -1);
        return;
    }
    pthread_mutex_lock(&s->lock);
    while (!s->is_over) pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

static sdd_token submit_story(story *s, sdd_load_request *request)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    request->progress = told_progress;
    request->facts = told_facts;
    request->cached = request->options & SDD_OPTION_REFRESH_CACHED ? told_cached : NULL;
    request->completed = told_end;
    request->user_data = s;
    request->user_data_free = told_freed;
    return submit_load(&l, request);
}

/* Runs a load and compares its letters. Of several bodies only the last one is compared, because progress of earlier
   ones is delivered only if there is time. Returns how many bodies began. */
static int check_story(tracked model, sdd_load_request request, const char *letters)
{
    story s = { .tracked = model };
    submit_story(&s, &request);
    wait_for_end(&s);
    const char *last = letters[0] == 'b' ? strrchr(s.letters, 'b') : s.letters;
    if (last == NULL || strcmp(last, letters) != 0)
        FAIL("way %d, %s: %s, not %s", way, request.url, s.letters, letters);
    return s.tracked.begun;
}

static sdd_load_request request_of(const char *url, uint64_t options)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.options = options;
    return request;
}

static void z1_the_order_of_each_kind_of_load(void)
{
    tracked good = { .width = 37, .height = 29 }, fresh = { .width = 37, .height = 29, .refreshes = 1 };
    const char *url = at("/file/jpeg/baseline-420.jpg?order");
    check_story(good, request_of(url, 0), "bspfEF");
    check_story(good, request_of(url, 0), "EF");
    sdd_load_request request = request_of(url, 0);
    request.query = SDD_CACHE_DISK;
    check_story(good, request, "fEF"); /* decoded again, from disk */
    check_story(fresh, request_of(url, SDD_OPTION_REFRESH_CACHED), "cbspEF");
    /* The first attempt fails, the second succeeds. */
    const char *recovers = atf("/recover?file=jpeg/baseline-420.jpg&order%d", way);
    CHECK_EQUAL(check_story(good, request_of(recovers, 0), "bspfEF"), 2);
    /* The first source fails with a body, the second succeeds. */
    const char *others[] = { at("/file/jpeg/baseline-420.jpg?alternative") };
    request = request_of(at("/html?order"), 0);
    request.alternatives = others;
    request.alternative_count = 1;
    CHECK_EQUAL(check_story(good, request, "bspfEF"), 2);
    tracked missing = { .expected = SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, .is_blockable = 1, .only_cached = 1 };
    check_story(missing, request_of(at("/status/404?order"), 0), "bEF");
    check_story(missing, request_of(at("/status/404?order"), 0), "EF");
    check_story(missing, request_of(at("/ok?order"), SDD_OPTION_FROM_CACHE_ONLY), "EF");
}

static void z1_facts_then_previews_then_the_end(void)
{
    story s = { .tracked = { .width = 640, .height = 480 } };
    const char *name = atf("/steps/order%d?file=large/progressive.jpg&at=20000,30000", way);
    sdd_load_request request = request_of(name, 0);
    request.preview = told_preview;
    submit_story(&s, &request);
    for (int step = 1; step <= 2; step++) {
        /* The server continues when there is a preview of the first part. */
        if (way != BY_THREAD)
            while (s.tracked.previews == 0) deliver(-1);
        orderf("/release/order%d.%d", way, step);
    }
    wait_for_end(&s);
    char *facts = strchr(s.letters, 'f'), *preview = strchr(s.letters, 'v');
    CHECK(s.letters[0] == 'b' && s.letters[1] == 's' && facts != NULL);
    if (way != BY_THREAD) CHECK(preview != NULL && facts < preview);
    CHECK_TEXT(s.letters + strlen(s.letters) - 2, "EF");
    /* Only downloads have previews: a cached picture has none. */
    check_story((tracked){ .width = 640, .height = 480 }, request, "EF");
}

/* --------------------------------------------------------------------------------- many at once */

enum { MANY = 1500, AT_ONCE = 40 };

static uint64_t seed;

/* Where the application delivers events itself, a cancel between two deliveries is as good as one in a callback. */
static void perhaps_cancel(story *s, sdd_token token, uint64_t *state)
{
    if (way == BY_THREAD || chance(state, 8) != 0) return;
    if (sdd_cancel(token) == SDD_OK) s->tracked.is_silenced = 1;
}

static void z1_any_mix_keeps_the_order(void)
{
    int count = scaled(MANY);
    uint64_t state = seed + (uint64_t)way;
    story *all = calloc((size_t)count, sizeof *all);
    sdd_token tokens[AT_ONCE] = { 0 };
    int64_t good = 0;
    for (int i = 0; i < count; i++) {
        chosen c;
        choose_load(&all[i].tracked, &c, &state);
        if (c.has_previews) c.request.preview = told_preview;
        sdd_token token = submit_story(&all[i], &c.request);
        if (way != BY_THREAD) deliver(0);
        int before = i - (int)chance(&state, AT_ONCE);
        if (before >= 0 && before != i && all[before].tracked.completed == 0)
            perhaps_cancel(&all[before], tokens[before % AT_ONCE], &state);
        if (chance(&state, 60) == 0) sdd_cache_clear_wait(l.cache.cache, 1 + (int32_t)chance(&state, 3));
        if (i >= AT_ONCE) wait_for_end(&all[i - AT_ONCE]);
        tokens[i % AT_ONCE] = token;
    }
    for (int i = 0; i < count; i++) wait_for_end(&all[i]);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    for (int i = 0; i < count; i++) {
        CHECK(all[i].tracked.completed == 1 && all[i].tracked.freed == 1);
        good += all[i].tracked.error == SDD_OK;
    }
    CHECK(good > 0);
    free(all);
}

int main(void)
{
    start_watchdog();
    pictures_are_transformed = 1;
    seed = seed_of_the_run();
    pictures_are_transformed = 1;
    tries_again = 1;
    for (int i = 0; i < WAYS; i++) {
        open_for(i);
        RUN(z1_the_order_of_each_kind_of_load);
        RUN(z1_facts_then_previews_then_the_end);
        RUN(z1_any_mix_keeps_the_order);
        close_loader(&l);
    }
    return 0;
}

/* Prefetching lists of URLs: rows B30 and Z22. */
#include "loads.h"

#include <stdatomic.h>

/* ------------------------------------------------------------------------------------------- lists */

enum { MOST = 64 };

/* Records the callbacks of one list. */
typedef struct list_record {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int each_count, progress_count, completed_count, freed_count;
    size_t index[MOST];
    sdd_status error[MOST];
    size_t finished, skipped;
    sdd_token token;
    sdd_prefetch_report report; /* its outcomes are copied below */
    sdd_outcome outcomes[MOST];
} list_record;

#define LIST_RECORD_INIT { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static void record_each(sdd_token token, size_t index, const sdd_result *result, void *user_data)
{
    list_record *l = user_data;
    pthread_mutex_lock(&l->lock);
    CHECK(l->completed_count == 0 && l->each_count < MOST);
    CHECK(result->token == token && result->image == NULL && result->bytes == NULL && result->is_terminal == 1);
    CHECK(result->url != NULL || result->failure.status == SDD_ERROR_INVALID_URL);
    l->index[l->each_count] = index;
    l->error[l->each_count++] = result->failure.status;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void record_list_progress(sdd_token token, size_t finished, size_t skipped, size_t total, void *user_data)
{
    list_record *l = user_data;
    pthread_mutex_lock(&l->lock);
    CHECK(token != 0 && l->completed_count == 0);
    /* The progress callback comes after that of the URL it counts. */
    CHECK_EQUAL(++l->progress_count, l->each_count);
    CHECK(finished == l->finished + 1 && finished <= total && skipped >= l->skipped && skipped <= finished);
    l->finished = finished;
    l->skipped = skipped;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void record_list_end(const sdd_prefetch_report *report, void *user_data)
{
    list_record *l = user_data;
    pthread_mutex_lock(&l->lock);
    CHECK_EQUAL(l->completed_count++, 0);
    CHECK_EQUAL(report->struct_size, sizeof *report);
    CHECK(report->total <= MOST && (report->outcomes == NULL) == (report->total == 0));
    CHECK_EQUAL(report->finished + report->cancelled, report->total);
    l->report = *report;
    if (report->total > 0) memcpy(l->outcomes, report->outcomes, report->total * sizeof *report->outcomes);
    for (size_t i = 0; i < report->total; i++) {
        const sdd_outcome *outcome = &report->outcomes[i];
        CHECK(outcome->url == NULL && outcome->reserved == 0);
        CHECK_EQUAL(outcome->origin == SDD_ORIGIN_NONE, outcome->failure.status != SDD_OK);
        CHECK_EQUAL(outcome->failure.message[0] == 0, outcome->failure.status == SDD_OK);
    }
    pthread_mutex_unlock(&l->lock);
}

static void record_list_freed(void *user_data)
{
    list_record *l = user_data;
    pthread_mutex_lock(&l->lock);
    CHECK_EQUAL(l->completed_count, 1);
    l->freed_count++;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

static void wait_for_list(list_record *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->freed_count == 0) pthread_cond_wait(&l->changed, &l->lock);
    CHECK_EQUAL(l->freed_count, 1);
    CHECK_EQUAL(l->report.token, l->token);
    pthread_mutex_unlock(&l->lock);
}

static sdd_prefetch_list list_of(list_record *l, const char *const *urls, size_t count, int32_t to)
{
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    list.urls = urls;
    list.count = count;
    list.to = to;
    list.each = record_each;
    list.progress = record_list_progress;
    list.completed = record_list_end;
    list.user_data = l;
    list.user_data_free = record_list_freed;
    return list;
}

static const char *const odd_urls[] = { "bad url", "ftp://x/y", NULL, "http://\xff/", "HTTP://u:p@127.0.0.1:1/a\xc3\xa4#b" };

static void check_url(sdd_token token, size_t index, const sdd_result *result, void *user_data)
{
    int is_readable = odd_urls[index] != NULL && strchr(odd_urls[index], 0xff) == NULL;
    (void)token, (void)user_data;
    CHECK(result->failure.status != SDD_OK && (result->url != NULL) == is_readable);
    if (is_readable) CHECK_TEXT(result->url, odd_urls[index]);
}

static void check_odd_end(const sdd_prefetch_report *report, void *user_data)
{
    (void)user_data;
    CHECK_EQUAL(report->total, 5);
}

CASE(b30_a_result_has_the_url_as_submitted)
{
    OWNED_LOADER l = open_loader();
    prefetch_all(&l, odd_urls, 5, check_url, check_odd_end);
}

static void submit_list(loader_in_folder *l, list_record *r, const char *const *urls, size_t count, int32_t to)
{
    sdd_prefetch_list list = list_of(r, urls, count, to);
    /* The lock keeps the end from being handled before the token is known. */
    pthread_mutex_lock(&r->lock);
    r->token = sdd_prefetch(l->loader, &list);
    pthread_mutex_unlock(&r->lock);
    CHECK(r->token != 0);
}

/* ----------------------------------------------------------------------------------------- results */

CASE(b30_prefetched_pictures_are_in_memory_at_once)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT;
    OWNED_RECORD r = RECORD_INIT;
    const char *urls[] = { at("/file/png/rgb8.png?b30"), at("/status/503?b30"), at("/file/png/rgb16.png?b30") };
    submit_list(&l, &list, urls, 3, SDD_PREFETCH_MEMORY);
    wait_for_list(&list);
    CHECK(list.each_count == 3 && list.progress_count == 3);
    CHECK(list.report.status == SDD_OK && list.report.total == 3);
    CHECK(list.report.finished == 3 && list.report.skipped == 1 && list.report.cancelled == 0);
    CHECK(list.outcomes[0].failure.status == SDD_OK && list.outcomes[0].failure.http_status == 200);
    CHECK(list.outcomes[1].failure.status == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE &&
          list.outcomes[1].failure.http_status == 503);
    CHECK(list.outcomes[2].failure.status == SDD_OK && list.outcomes[2].origin == SDD_ORIGIN_NETWORK);
    CHECK(list.outcomes[0].failure.retryable == 0 && list.outcomes[1].failure.retryable == 1);
    load(&l, &r, urls[0], 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_MEMORY);
    check_image(r.image, "png/rgb8.pam");
    CHECK_EQUAL(hits("/file/png/rgb8.png?b30"), 1);
}

CASE(z22_to_disk_alone_nothing_is_decoded)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT, again = LIST_RECORD_INIT;
    record r = RECORD_INIT;
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    const char *urls[] = { at("/file/png/rgb8.png?z22") };
    submit_list(&l, &list, urls, 1, SDD_PREFETCH_DISK);
    wait_for_list(&list);
    CHECK(list.report.finished == 1 && list.report.skipped == 0);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK_STATUS(sdd_downloader_get_statistics(l.downloader, &statistics), SDD_OK);
    CHECK_EQUAL(statistics.images_decoded, 0);
    CHECK_EQUAL(counts_of(l.cache.cache).memory_count, 0);
    load(&l, &r, urls[0], 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_DISK);
    check_image(r.image, "png/rgb8.pam");
    record_clear(&r);
    /* Cached pictures are not downloaded again. */
    submit_list(&l, &again, urls, 1, SDD_PREFETCH_DISK);
    wait_for_list(&again);
    CHECK(again.outcomes[0].failure.status == SDD_OK && again.outcomes[0].origin == SDD_ORIGIN_DISK);
    CHECK_EQUAL(hits("/file/png/rgb8.png?z22"), 1);
}

CASE(b30_three_run_at_once_and_more_when_allowed)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT;
    const char *urls[5];
    char name[32];
    for (int i = 0; i < 5; i++) urls[i] = strdup(atf("/hold/prefetch-%d?file=png/rgb8.png", i));
    submit_list(&l, &list, urls, 5, SDD_PREFETCH_DISK);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "/hold/prefetch-%d", i);
        wait_for_requests(name, 1);
    }
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 3);
    CHECK_STATUS(sdd_loader_set_max_concurrent_prefetches(l.loader, 0), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_loader_set_max_concurrent_prefetches(l.loader, 5), SDD_OK);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 5);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "prefetch-%d", i);
        release(name);
    }
    wait_for_list(&list);
    CHECK(list.report.finished == 5 && list.report.skipped == 0);
    for (int i = 0; i < 5; i++) free((char *)urls[i]);
}

CASE(b30_a_cancelled_list_ends_once_with_its_outcomes)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT;
    const char *urls[5];
    urls[0] = strdup(at("/file/png/rgb8.png?cancelled"));
    for (int i = 1; i < 5; i++) urls[i] = strdup(atf("/hold/never-%d", i));
    submit_list(&l, &list, urls, 5, SDD_PREFETCH_DISK);
    pthread_mutex_lock(&list.lock);
    while (list.progress_count == 0) pthread_cond_wait(&list.changed, &list.lock);
    pthread_mutex_unlock(&list.lock);
    CHECK_STATUS(sdd_cancel(list.token), SDD_OK);
    CHECK_STATUS(sdd_cancel(list.token), SDD_ERROR_NOT_FOUND);
    wait_for_list(&list);
    CHECK(list.each_count == 1 && list.progress_count == 1 && list.index[0] == 0);
    CHECK(list.report.status == SDD_ERROR_CANCELLED && list.report.finished == 1 && list.report.cancelled == 4);
    for (int i = 1; i < 5; i++) CHECK_EQUAL(list.outcomes[i].failure.status, SDD_ERROR_CANCELLED);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    for (int i = 0; i < 5; i++) free((char *)urls[i]);
}

CASE(destroying_a_loader_ends_its_lists)
{
    loader_in_folder l = open_loader();
    list_record list = LIST_RECORD_INIT;
    const char *urls[] = { at("/hold/destroyed-1"), at("/hold/destroyed-2"), at("/hold/destroyed-3"), at("/ok") };
    submit_list(&l, &list, urls, 4, SDD_PREFETCH_DISK);
    close_loader(&l);
    wait_for_list(&list);
    CHECK(list.report.status == SDD_ERROR_CANCELLED && list.each_count == 0 && list.report.cancelled == 4);
}

CASE(destroying_the_downloader_ends_them_too)
{
    loader_in_folder l = open_loader();
    list_record list = LIST_RECORD_INIT;
    const char *urls[] = { at("/hold/gone-1"), at("/hold/gone-2"), at("/hold/gone-3"), at("/ok"), at("/ok") };
    submit_list(&l, &list, urls, 5, SDD_PREFETCH_DISK);
    destroy(l.downloader);
    CHECK_EQUAL(list.freed_count, 1);
    CHECK(list.report.finished == 5 && list.report.skipped == 5);
    sdd_prefetch_list late = list_of(&list, urls, 5, SDD_PREFETCH_DISK);
    CHECK_REFUSED(sdd_prefetch(l.loader, &late), SDD_ERROR_CLOSED);
    CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
    close_cache(&l.cache);
}

/* ----------------------------------------------------------------------------- bad and odd arguments */

CASE(a_bad_url_fails_alone)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT;
    const char *urls[] = { NULL, "", "no url", at("/file/png/rgb8.png?alone") };
    submit_list(&l, &list, urls, 4, SDD_PREFETCH_MEMORY);
    wait_for_list(&list);
    CHECK(list.report.finished == 4 && list.report.skipped == 3);
    CHECK_EQUAL(list.outcomes[0].failure.detail, SDD_DETAIL_URL_NULL);
    CHECK_EQUAL(list.outcomes[1].failure.detail, SDD_DETAIL_URL_EMPTY);
    CHECK_EQUAL(list.outcomes[2].failure.detail, SDD_DETAIL_URL_MALFORMED);
    CHECK_EQUAL(list.outcomes[3].failure.status, SDD_OK);
}

CASE(an_empty_list_and_one_without_callbacks)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT;
    sdd_prefetch_list silent = SDD_PREFETCH_LIST_INIT;
    const char *urls[] = { at("/file/png/rgb8.png?silent") };
    submit_list(&l, &list, NULL, 0, SDD_PREFETCH_MEMORY);
    wait_for_list(&list);
    CHECK(list.report.status == SDD_OK && list.report.finished == 0 && list.report.skipped == 0);
    CHECK_EQUAL(list.each_count, 0);
    silent.urls = urls;
    silent.count = 1;
    CHECK(sdd_prefetch(l.loader, &silent) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    CHECK_EQUAL(hits("/file/png/rgb8.png?silent"), 1);
}

/* --------------------------------------------------------------------------------- events as records */

CASE(z2_an_application_that_drains_gets_the_same)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    const char *urls[] = { at("/file/png/rgb8.png?drained"), at("/status/410?drained") };
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    int user = 0, steps = 0;
    list.urls = urls;
    list.count = 2;
    list.user_data = &user;
    sdd_token token = sdd_prefetch(l.loader, &list);
    CHECK(token != 0);
    for (int ended = 0; !ended;) {
        sdd_event event = SDD_EVENT_INIT;
        size_t count = 0;
        CHECK_STATUS(sdd_downloader_wait(l.downloader, &event, 1, -1, &count), SDD_OK);
        CHECK(count == 1 && event.token == token && event.user_data == &user && event.prefetch != NULL);
        CHECK_EQUAL(event.prefetch->total, 2);
        if (event.kind == SDD_EVENT_PREFETCHED) {
            CHECK(event.index < 2 && event.result != NULL && strcmp(event.result->url, urls[event.index]) == 0);
            CHECK_EQUAL(event.prefetch->finished, ++steps);
            CHECK(event.prefetch->outcomes == NULL);
        } else {
            CHECK_EQUAL(event.kind, SDD_EVENT_PREFETCH_COMPLETED);
            CHECK(event.result == NULL && event.prefetch->status == SDD_OK && event.prefetch->skipped == 1);
            CHECK_EQUAL(event.prefetch->outcomes[1].failure.http_status, 410);
            ended = 1;
        }
    }
    CHECK_EQUAL(steps, 2);
}

/* ---------------------------------------------------------------- callbacks that deliver and cancel */

/* A list whose `each` does something to it. */
typedef struct acting_list {
    sdd_downloader *downloader;
    int dispatches, cancels; /* what `each` does */
    int each_count, progress_count, completed_count, freed_count;
    size_t finished;
} acting_list;

static void act_in_each(sdd_token token, size_t index, const sdd_result *result, void *user_data)
{
    acting_list *l = user_data;
    (void)index, (void)result;
    CHECK_EQUAL(l->completed_count, 0);
    l->each_count++;
    if (l->dispatches) CHECK_STATUS(sdd_downloader_dispatch(l->downloader, 0, NULL), SDD_OK);
    if (l->cancels) CHECK_STATUS(sdd_cancel(token), SDD_OK);
}

static void act_in_progress(sdd_token token, size_t finished, size_t skipped, size_t total, void *user_data)
{
    acting_list *l = user_data;
    (void)token, (void)skipped, (void)total;
    if (l->cancels) FAIL("progress after a cancel");
    if (l->completed_count || l->freed_count) FAIL("progress after the end");
    CHECK(finished > l->finished);
    l->finished = finished;
    l->progress_count++;
}

static void act_at_the_end(const sdd_prefetch_report *report, void *user_data)
{
    acting_list *l = user_data;
    CHECK_EQUAL(report->status, l->cancels ? SDD_ERROR_CANCELLED : SDD_OK);
    CHECK_EQUAL(++l->completed_count, 1);
}

static void act_freed(void *user_data)
{
    acting_list *l = user_data;
    CHECK_EQUAL(++l->freed_count, 1);
}

/* Runs a list whose URLs have all ended before anything is delivered, except for the last one if `cancels`. */
static acting_list run_acting_list(int dispatches, int cancels)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    loader_in_folder l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    acting_list acting = { .downloader = l.downloader, .dispatches = dispatches, .cancels = cancels };
    const char *urls[] = { "not a url", "not one either", cancels ? at("/hold/acting") : "nor this" };
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    list.urls = urls;
    list.count = 3;
    list.each = act_in_each;
    list.progress = act_in_progress;
    list.completed = act_at_the_end;
    list.user_data = &acting;
    list.user_data_free = act_freed;
    CHECK(sdd_prefetch(l.loader, &list) != 0);
    while (acting.freed_count == 0) CHECK_STATUS(sdd_downloader_wait(l.downloader, NULL, 0, -1, NULL), SDD_OK);
    close_loader(&l);
    CHECK(acting.completed_count == 1 && acting.freed_count == 1);
    return acting;
}

CASE(b30_no_progress_after_the_end_that_each_delivered)
{
    acting_list l = run_acting_list(1, 0);
    CHECK(l.each_count == 3 && l.progress_count == 0);
}

CASE(b30_no_progress_after_a_cancel_in_each)
{
    acting_list l = run_acting_list(0, 1);
    CHECK(l.each_count == 1 && l.progress_count == 0);
}

/* ------------------------------------------------------------------------------------- a full disk */

static char logged[1000];
static atomic_int log_count;

static void keep_log(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    CHECK_EQUAL(notice->level, SDD_LOG_ERROR);
    if (atomic_fetch_add(&log_count, 1) == 0) snprintf(logged, sizeof logged, "%s", notice->failure.message);
}

static void keep_store_error(const sdd_result *result, void *user_data)
{
    CHECK(result->failure.status == SDD_OK && result->image != NULL);
    *(int32_t *)user_data = result->store_error;
}

CASE(what_could_not_be_stored_is_told)
{
    OWNED_LOADER l = open_loader();
    list_record list = LIST_RECORD_INIT;
    const char *urls[] = { at("/file/large/rows.png?listed"), at("/file/large/rows.png?loaded") };
    const char *fresh = at("/file/large/rows.png?header=Cache-Control:%20max-age=600");
    int32_t store_error = 0, http_error = 0;
    CHECK_STATUS(sdd_downloader_set_log(l.downloader, SDD_LOG_ERROR, keep_log, NULL, NULL), SDD_OK);
    struct rlimit old = forbid_large_files();
    submit_list(&l, &list, urls, 1, SDD_PREFETCH_DISK);
    wait_for_list(&list);
    CHECK(sdd_load(l.loader, urls[1], SDD_OPTION_WAIT_STORE_CACHE, NULL, keep_store_error, &store_error) != 0);
    CHECK(sdd_load(l.loader, fresh, SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_USE_HTTP_CACHE, NULL, keep_store_error,
                   &http_error) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(list.outcomes[0].failure.status == SDD_ERROR_CACHE && list.report.skipped == 1);
    CHECK_EQUAL(list.outcomes[0].failure.system_error, EFBIG);
    CHECK(store_error == EFBIG && http_error == EFBIG);
    CHECK_FAILS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_ERROR_CACHE, SDD_DETAIL_CACHE_WRITE);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    CHECK(log_count == 1 && strstr(logged, l.cache.folder) != NULL && strstr(logged, "File too large") != NULL);
}

int main(void) { return run_cases(); }

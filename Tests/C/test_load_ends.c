/* Loads between two stages, where the downloader has no request for them, while the downloader, the cache or the load
   itself ends. Rows M6, M16, B22. */
#include "loads.h"

/* The action of the application while it is asked whether a URL may be downloaded. */
static void (*meanwhile)(void);
static loader_in_folder l;
static sdd_token token;
static sem_t asked, answered;

static int32_t act(const char *url, void *user_data)
{
    (void)url, (void)user_data;
    if (meanwhile) meanwhile();
    return 1;
}

/* Waits while another thread acts, until that thread says to continue. */
static void hold(void)
{
    CHECK(sem_post(&asked) == 0);
    while (sem_wait(&answered) != 0) CHECK_EQUAL(errno, EINTR);
}

static void wait_until_asked(void)
{
    while (sem_wait(&asked) != 0) CHECK_EQUAL(errno, EINTR);
}

static sdd_block_choice hold_and_forget(const char *url, const sdd_failure *failure, void *user_data)
{
    (void)url, (void)failure, (void)user_data;
    hold();
    return SDD_DO_NOT_BLOCK;
}

static void open_acting(void (*action)(void))
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.should_download = act;
    meanwhile = action;
    l = open_loader_over(config, NULL);
}

static void drain(void) { CHECK_STATUS(sdd_downloader_close(l.downloader, SDD_CLOSE_DRAIN), SDD_OK); }
static void end_all(void) { CHECK_STATUS(sdd_downloader_close(l.downloader, SDD_CLOSE_CANCEL), SDD_OK); }
static void cancel_all(void) { CHECK_STATUS(sdd_downloader_cancel_all(l.downloader), SDD_OK); }

static void check_counts(int64_t requests, int64_t succeeded, int64_t failed, int64_t cancelled)
{
    sdd_statistics s = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(l.downloader, &s), SDD_OK);
    CHECK(s.requests == requests && s.requests_succeeded == succeeded && s.requests_failed == failed && s.requests_cancelled == cancelled);
}

CASE(a_load_goes_on_while_its_downloader_is_drained)
{
    OWNED_RECORD r = RECORD_INIT;
    open_acting(drain);
    const char *url = at("/file/png/rgb8.png?drained");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    /* Later loads are refused, even if the cache has the picture. */
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_CLOSED);
    load(&l, &r, at("/file/png/rgb8.png?late"), SDD_OPTION_FROM_LOADER_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_CLOSED);
    check_counts(3, 1, 2, 0);
    close_loader(&l);
}

CASE(a_load_is_cancelled_with_its_downloader)
{
    void (*const actions[])(void) = { end_all, cancel_all };
    for (int i = 0; i < 2; i++) {
        OWNED_RECORD r = RECORD_INIT;
        open_acting(actions[i]);
        load(&l, &r, at("/file/png/rgb8.png?cancelled"), 0);
        CHECK_STATUS(r.error, SDD_ERROR_CANCELLED);
        CHECK_EQUAL(hits("/file/png/rgb8.png?cancelled"), 0);
        check_counts(1, 0, 0, 1);
        close_loader(&l);
    }
}

static void *destroy_it(void *downloader)
{
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
    return NULL;
}

CASE(a_load_is_cancelled_where_its_downloader_is_destroyed)
{
    record r = RECORD_INIT;
    pthread_t thread;
    open_acting(hold);
    sdd_load_request request = record_load(&r, at("/stall?destroyed"), 0);
    submit_load(&l, &request);
    wait_until_asked();
    CHECK(pthread_create(&thread, NULL, destroy_it, l.downloader) == 0);
    /* The downloader's handle is dead at once. */
    while (sdd_downloader_suspend(l.downloader) != SDD_ERROR_CLOSED) sched_yield();
    CHECK(sem_post(&answered) == 0);
    record_wait(&r);
    CHECK_STATUS(r.error, SDD_ERROR_CANCELLED);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    CHECK_EQUAL(sdd_load(l.loader, at("/ok"), 0, NULL, record_completed, &r), 0);
    record_clear(&r);
    CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
    close_cache(&l.cache);
}

/* As sdd_cancel() promises, of the queued events only the end is delivered: at once, although the application is still
   being asked about the load. */
CASE(m16_a_load_cancelled_between_two_stages_is_silent)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_downloader_config host = SDD_DOWNLOADER_CONFIG_INIT;
    host.delivery = SDD_DELIVERY_APPLICATION;
    config.should_block_failed_url = hold_and_forget;
    l = open_loader_over(config, &host);
    OWNED_RECORD r = RECORD_INIT;
    sdd_load_request request = record_load(&r, at("/status/404?silent"), 0);
    token = submit_load(&l, &request);
    wait_until_asked();
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    CHECK_STATUS(sdd_downloader_dispatch(l.downloader, 0, NULL), SDD_OK);
    CHECK(r.progress_count == 0 && r.completed_count == 1);
    CHECK_STATUS(r.error, SDD_ERROR_CANCELLED);
    CHECK(sem_post(&answered) == 0);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    CHECK(r.progress_count == 0 && r.completed_count == 1);
    close_loader(&l);
}

/* A load that waits for the disk ends when its cache is destroyed. */
CASE(m21_a_destroyed_cache_keeps_no_load_waiting)
{
    meanwhile = NULL;
    l = open_loader();
    record r = RECORD_INIT;
    sdd_cache *cache = l.cache.cache;
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    load(&l, &r, at("/file/png/rgb8.png?gone"), SDD_OPTION_WAIT_STORE_CACHE);
    CHECK_ENDED(&r, SDD_OK, 0);
    load(&l, &r, at("/file/png/rgb8.png?gone"), SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_REFRESH_CACHED);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(hits("/file/png/rgb8.png?gone"), 2);
    record_clear(&r);
    CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
    destroy(l.downloader);
    remove_folder(l.cache.folder);
}

int main(void)
{
    start_watchdog();
    CHECK(sem_init(&asked, 0, 0) == 0 && sem_init(&answered, 0, 0) == 0);
    return run_cases();
}

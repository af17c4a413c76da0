/* Retries of failed transfers, and the minimum time between two transfers to a host. Names begin with rows of the
   contract: Z7 retry, Z14 politeness. Times are checked only as lower bounds. */
#include "caches.h"

enum { MOST = 60 };

/* The notices so far. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
    sdd_notice all[MOST];
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void hear(const sdd_notice *notice, void *user_data)
{
    (void)user_data;
    pthread_mutex_lock(&heard.lock);
    CHECK(heard.count < MOST && notice->attempt >= 1);
    CHECK((notice->kind == SDD_EVENT_RETRY) >= (notice->delay_us != 0));
    heard.all[heard.count++] = *notice;
    pthread_cond_broadcast(&heard.changed);
    pthread_mutex_unlock(&heard.lock);
}

/* Waits for a notice of that kind and index, from 0, and returns it. */
static sdd_notice notice_of(int32_t kind, int number)
{
    sdd_notice found = { 0 };
    pthread_mutex_lock(&heard.lock);
    while (found.kind == 0) {
        for (int i = 0, passed = 0; i < heard.count; i++)
            if (heard.all[i].kind == kind && passed++ == number) found = heard.all[i];
        if (found.kind == 0) pthread_cond_wait(&heard.changed, &heard.lock);
    }
    pthread_mutex_unlock(&heard.lock);
    return found;
}

static sdd_downloader_config config_of_retries(config_groups *groups, int32_t attempts, int64_t delay)
{
    sdd_downloader_config config = config_over(groups);
    groups->retry.max_attempts = attempts;
    groups->retry.delay_ms = delay;
    return config;
}

static sdd_downloader *make_observed(const sdd_downloader_config *config)
{
    heard.count = 0;
    sdd_downloader *downloader = make_downloader(config);
    CHECK_STATUS(sdd_downloader_set_observer(downloader, hear, NULL, NULL), SDD_OK);
    return downloader;
}

static sdd_downloader *retrying(int32_t attempts, int64_t delay)
{
    config_groups groups;
    sdd_downloader_config config = config_of_retries(&groups, attempts, delay);
    return make_observed(&config);
}

/* Checks a failure, a pause and a second transfer. */
static void recovers(const char *path, sdd_status error)
{
    OWNED_DOWNLOADER downloader = retrying(3, 20);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at(path), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(is_pattern(sdd_bytes_data(r.bytes), sdd_bytes_size(r.bytes), path));
    CHECK(r.metrics.attempts == 2 && r.begun_count == 2);
    sdd_notice retry = notice_of(SDD_EVENT_RETRY, 0), second = notice_of(SDD_EVENT_START, 1);
    CHECK_EQUAL(retry.failure.status, error);
    CHECK(retry.attempt == 1 && second.attempt == 2 && retry.token == r.token && second.token == r.token);
    CHECK(retry.transfer != second.transfer);
    CHECK(retry.delay_us >= 10000 && retry.delay_us <= 20000);
    CHECK(second.time_us - retry.time_us >= retry.delay_us);
}

CASE(z7_a_status_that_passes) { recovers("/recover?a&by=503", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE); }
CASE(z7_a_body_that_is_cut_off) { recovers("/recover?by=cut&size=3000", SDD_ERROR_TRUNCATED_BODY); }

CASE(z7_attempts_are_exhausted)
{
    OWNED_DOWNLOADER downloader = retrying(1, 1);
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.url = at("/recover?b&fails=99");
    fetch_request(downloader, &r, request);
    CHECK_EQUAL(r.metrics.attempts, 1);
    transfer.max_attempts = 4;
    fetch_request(downloader, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK(r.http_status == 503 && r.retryable == 1 && r.metrics.attempts == 4);
    CHECK_EQUAL(requests_of("/recover%3Fb%26fails=99"), 5);
}

CASE(z7_retry_after)
{
    OWNED_DOWNLOADER downloader = retrying(2, 1);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, at("/recover?by=429&failing-header=Retry-After:%201"), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    sdd_notice retry = notice_of(SDD_EVENT_RETRY, 0);
    CHECK(retry.failure.http_status == 429 && retry.delay_us == 1000000);
    CHECK(notice_of(SDD_EVENT_START, 1).time_us - retry.time_us >= 1000000);
}

/* The second transfer requests the rest. */
CASE(z7_z17_a_broken_download_is_resumed)
{
    const char *path = "/ranged?size=300000&cuts=200000";
    sdd_cache_config cached = SDD_CACHE_CONFIG_INIT;
    char folder[512];
    snprintf(folder, sizeof folder, "%s", new_folder());
    cached.directory = folder;
    sdd_cache *cache = NULL;
    CHECK_STATUS(sdd_cache_create(&cached, &cache), SDD_OK);
    config_groups groups;
    sdd_downloader_config config = config_of_retries(&groups, 2, 1);
    config.cache = cache;
    config.resume = 1;
    sdd_downloader *downloader = make_observed(&config);
    record r = RECORD_INIT;
    fetch(downloader, &r, at(path), SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) == 300000 && is_pattern(sdd_bytes_data(r.bytes), 300000, path));
    CHECK(r.metrics.attempts == 2 && r.metrics.resumed_bytes == 200000);
    record_clear(&r);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    remove_folder(folder);
}

CASE(z7_the_budget_is_spent)
{
    config_groups groups;
    sdd_downloader_config config = config_of_retries(&groups, 2, 1);
    groups.retry.budget = 2;
    OWNED_DOWNLOADER downloader = make_observed(&config);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        fetch(downloader, &r, atf("/status/503?n=%d", i), SDD_OPTION_BYTES_ONLY);
        CHECK_EQUAL(r.metrics.attempts, i < 2 ? 2 : 1);
    }
}

CASE(z14_a_minimum_time_between_two_starts)
{
    enum { COUNT = 4 };
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.min_host_interval_ms = 50;
    sdd_downloader *downloader = make_observed(&config);
    record r[COUNT] = { RECORD_INIT, RECORD_INIT, RECORD_INIT, RECORD_INIT };
    for (int i = 0; i < COUNT; i++) record_submit(downloader, &r[i], atf("/ok?polite=%d", i), SDD_OPTION_BYTES_ONLY);
    for (int i = 0; i < COUNT; i++) {
        record_wait(&r[i]);
        CHECK_ENDED(&r[i], SDD_OK, 0);
        if (i == 0) continue;
        CHECK(notice_of(SDD_EVENT_START, i).time_us - notice_of(SDD_EVENT_START, i - 1).time_us >= 50000);
    }
    destroy(downloader);
    for (int i = 0; i < COUNT; i++) record_clear(&r[i]);
}

int main(void)
{
    start_watchdog();
    tries_again = 1;
    return run_cases();
}

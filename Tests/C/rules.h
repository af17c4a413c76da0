/*
 * rules.h - for the programs that test scheduling: numbered requests, the order in which they ended, and the counts of
 * a downloader.
 */
#ifndef RULES_H
#define RULES_H

#include "record.h"
#include "server.h"

enum { MOST = 20 };

static inline sdd_downloader *downloader_of(int32_t most)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.max_concurrent_downloads = most;
    return make_downloader(&config);
}

/* -------------------------------------------------------------------- the order in which requests end */

static struct {
    pthread_mutex_t lock;
    int count, numbers[MOST];
    sdd_status errors[MOST];
} ends = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void note_end(const sdd_result *result, void *user_data)
{
    check_result(result);
    pthread_mutex_lock(&ends.lock);
    CHECK(ends.count < MOST);
    ends.numbers[ends.count] = (int)(intptr_t)user_data;
    ends.errors[ends.count++] = result->failure.status;
    pthread_mutex_unlock(&ends.lock);
}

/* Submits a request with a number; `path` has a %d for it. */
static inline sdd_token submit_number(sdd_downloader *downloader, int number, const char *url, int32_t priority)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_BYTES_ONLY;
    request.priority = priority;
    request.completed = note_end;
    request.user_data = (void *)(intptr_t)number;
    return submit(downloader, &request);
}

static inline void check_order(sdd_downloader *downloader, const int *expected, int count)
{
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends.count, count);
    for (int i = 0; i < count; i++) {
        if (ends.errors[i] != SDD_OK) FAIL("%d: %s", ends.numbers[i], sdd_status_name(ends.errors[i]));
        if (ends.numbers[i] != expected[i]) FAIL("%d ended as number %d, not %d", ends.numbers[i], i + 1, expected[i]);
    }
    ends.count = 0;
}
#define CHECK_ORDER(downloader, ...) \
    do { \
        static const int expected_[] = { __VA_ARGS__ }; \
        check_order(downloader, expected_, sizeof expected_ / sizeof *expected_); \
    } while (0)

/* Waits for all ends, in any order, and destroys the downloader. */
static inline void destroy_after_ends(sdd_downloader *downloader, int count)
{
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK_EQUAL(ends.count, count);
    ends.count = 0;
    destroy(downloader);
}

static inline sdd_token_info info_of(sdd_token token)
{
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK(info.struct_size == sizeof info && info.waiting_us >= 0 && info.running_us >= 0);
    return info;
}

static inline sdd_statistics statistics_of(sdd_downloader *downloader)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    return statistics;
}

#endif

/* In the background no transfer begins, and running ones are paused, except those that were asked to continue. Row
   O4. */
#include "rules.h"

/* -------------------------------------------------------------------------------- background */

/* Submits a request whose first 1000 bytes come at once, and the rest after /release/NAME. */
static void submit_body(sdd_downloader *downloader, record *r, const char *name, uint64_t options)
{
    char path[100];
    *r = (record)RECORD_INIT;
    snprintf(path, sizeof path, "/hold/%s?after=1000&size=300000", name);
    record_submit(downloader, r, at(path), options | SDD_OPTION_BYTES_ONLY);
    record_wait_received(r, 1000);
}

CASE(o4_background_pauses_and_foreground_goes_on)
{
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.limits = &limits;
    limits.download_timeout_ms = 1500;
    sdd_downloader *downloader = make_downloader(&config), *clock = make_downloader(NULL);
    OWNED_RECORD paused, goes_on, waits = RECORD_INIT, r = RECORD_INIT;
    submit_body(downloader, &paused, "paused", 0);
    submit_body(downloader, &goes_on, "goes-on", SDD_OPTION_CONTINUE_IN_BACKGROUND);
    CHECK_STATUS(sdd_downloader_enter_background(downloader, -1), SDD_OK);
    /* No transfer begins, with the bit or without it. */
    sdd_token token = record_submit(
        downloader, &waits, at("/ok/background"), SDD_OPTION_BYTES_ONLY | SDD_OPTION_CONTINUE_IN_BACKGROUND);
    release("goes-on");
    record_wait(&goes_on);
    CHECK_ENDED(&goes_on, SDD_OK, 0);
    CHECK_EQUAL(info_of(token).state, SDD_STATE_WAITING);
    /* A paused transfer reads nothing, and its stall timer stops: twice its time passes. */
    release("paused");
    fetch(clock, &r, at("/ok?delay=3000"), SDD_OPTION_BYTES_ONLY);
    CHECK(record_is_open(&paused) && paused.last_received < 300000);
    CHECK_STATUS(sdd_downloader_enter_foreground(downloader), SDD_OK);
    record_wait(&paused);
    record_wait(&waits);
    CHECK_ENDED(&paused, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(paused.bytes), 300000);
    CHECK_ENDED(&waits, SDD_OK, 0);
    CHECK_STATUS(sdd_downloader_enter_foreground(downloader), SDD_OK);
    record_clear(&paused);
    record_clear(&goes_on);
    destroy(clock);
    destroy(downloader);
}

CASE(o4_the_grace_time_ends)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD paused, goes_on, joiner = RECORD_INIT;
    for (int i = 0; i < 3; i++) {
        submit_body(downloader, &paused, "grace-paused", 0);
        submit_body(downloader, &goes_on, "grace", SDD_OPTION_CONTINUE_IN_BACKGROUND);
        int64_t start = milliseconds_now();
        /* 0 means no grace time. A second call replaces the time. */
        if (i == 2) CHECK_STATUS(sdd_downloader_enter_background(downloader, 60000), SDD_OK);
        CHECK_STATUS(sdd_downloader_enter_background(downloader, i == 0 ? 0 : 150), SDD_OK);
        record_wait(&goes_on);
        CHECK_ENDED(&goes_on, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_BACKGROUND);
        int64_t time = milliseconds_now() - start;
        if (i > 0 && time < 149) FAIL("the grace time ended after %lld ms", (long long)time);
        CHECK(record_is_open(&paused));
        CHECK_STATUS(sdd_downloader_enter_foreground(downloader), SDD_OK);
        release("grace-paused");
        record_wait(&paused);
        CHECK_ENDED(&paused, SDD_OK, 0);
        order("/reset-stats");
        record_clear(&paused);
        record_clear(&goes_on);
    }
    /* A request that joins with the bit lets the transfer continue, also for the other one. */
    submit_body(downloader, &paused, "grace-joined", 0);
    CHECK_STATUS(sdd_downloader_enter_background(downloader, -1), SDD_OK);
    record_submit(downloader, &joiner, at("/hold/grace-joined?after=1000&size=300000"),
                  SDD_OPTION_BYTES_ONLY | SDD_OPTION_CONTINUE_IN_BACKGROUND);
    release("grace-joined");
    record_wait(&paused);
    record_wait(&joiner);
    CHECK_ENDED(&paused, SDD_OK, 0);
    CHECK_ENDED(&joiner, SDD_OK, 0);
    record_clear(&paused);
}

/* A whole response waits in the socket while its transfer is resumed and paused again, several times in a row: libcurl
   reads it and delivers it later, with each header line in one piece. */
CASE(o4_quick_pauses_lose_nothing)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    char path[60];
    for (int i = 0; i < scaled(50); i++) {
        record_clear(&r);
        snprintf(path, sizeof path, "/hold/turns?size=1000&%d", i);
        record_submit(downloader, &r, at(path), SDD_OPTION_BYTES_ONLY);
        wait_for_requests("/hold/turns", 1);
        CHECK_STATUS(sdd_downloader_enter_background(downloader, -1), SDD_OK);
        release("turns");
        order("/wait-idle");
        for (int turn = 0; turn < 40; turn++) {
            CHECK_STATUS(sdd_downloader_enter_foreground(downloader), SDD_OK);
            CHECK_STATUS(sdd_downloader_enter_background(downloader, -1), SDD_OK);
        }
        CHECK_STATUS(sdd_downloader_enter_foreground(downloader), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(sdd_bytes_size(r.bytes) == 1000 && is_pattern(sdd_bytes_data(r.bytes), 1000, path));
        CHECK(sdd_response_header_count(r.response) >= 2 && sdd_response_header(r.response, "Content-Length"));
        order("/reset-stats");
    }
}

/* The total limit and the queue limit keep running in the background. A paused transfer can be cancelled. */
CASE(o4_other_limits_apply_in_the_background)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD total = RECORD_INIT, queue = RECORD_INIT, cancelled = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = record_request(&total, at("/hold/limits?after=10"));
    request.transfer = &transfer;
    request.options = SDD_OPTION_BYTES_ONLY;
    transfer.total_timeout_ms = 300;
    submit(downloader, &request);
    sdd_token token = record_submit(downloader, &cancelled, at("/hold/limits?after=20"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_downloader_enter_background(downloader, 0), SDD_OK);
    request = record_request(&queue, at("/ok/limits"));
    request.transfer = reset(&transfer);
    transfer.queue_timeout_ms = 100;
    submit(downloader, &request);
    record_wait(&queue);
    CHECK_ENDED(&queue, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_QUEUE);
    record_wait(&total);
    CHECK_ENDED(&total, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&cancelled);
    CHECK_ENDED(&cancelled, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
}

int main(void) { return run_cases(); }

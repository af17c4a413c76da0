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
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
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
    OWNED_RECORD goes_on;
    submit_body(downloader, &goes_on, "grace", SDD_OPTION_CONTINUE_IN_BACKGROUND);
    int64_t start = milliseconds_now();
    CHECK_STATUS(sdd_downloader_enter_background(downloader, 150), SDD_OK);
    record_wait(&goes_on);
    CHECK_ENDED(&goes_on, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_BACKGROUND);
    CHECK(milliseconds_now() - start >= 149);
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

int main(void) { return run_cases(); }

/* The clock is set back and forward while a cache is in use: nothing hangs, no age is negative, and a response that may
   not be fresh is requested again. calls.so sets the clock. */
#include "drivers.h"

enum { DAY = 86400 };

static void (*shift_clock)(long seconds);

static void fetch_right(sdd_downloader *downloader, record *r, const char *url)
{
    fetch(downloader, r, url, SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK(is_body_of(r->bytes, url, 3000));
}

/* Returns the Age field of a response, which a cache adds, or -1. */
static long age_of(const record *r)
{
    const char *text = sdd_response_header(r->response, "Age");
    CHECK(text == NULL || *text != '-');
    return text ? atol(text) : -1;
}

static void check_asked_again(long shift)
{
    const char *url = atf("/ok?size=3000&header=Cache-Control:%%20max-age=600&shift=%ld", shift);
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = downloader_with(c.cache);
    OWNED_RECORD r = RECORD_INIT;
    long before = requests_of("/ok");
    fetch_right(downloader, &r, url);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    fetch_right(downloader, &r, url);
    CHECK(r.origin == SDD_ORIGIN_HTTP_FRESH && age_of(&r) >= 0 && age_of(&r) < 60);
    shift_clock(shift);
    fetch_right(downloader, &r, url);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    fetch_right(downloader, &r, url); /* stored at the new time */
    CHECK(age_of(&r) >= 0);
    shift_clock(0);
    fetch_right(downloader, &r, url);
    CHECK(requests_of("/ok") >= before + 2);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    check_trimmed(c.cache, c.folder);
    CHECK_EQUAL(counts_of(c.cache).errors, 0);
}

CASE(a_response_is_requested_again)
{
    check_asked_again(DAY);
    check_asked_again(-DAY);
    check_asked_again(20000L * DAY);
    check_asked_again(-19000L * DAY);
}

/* An entry is kept for 7 days, the default. */
CASE(entries_age_by_the_clock_there_is)
{
    OWNED_CACHE c = open_default();
    CHECK_STATUS(put_numbered(c.cache, 1, 1, 5000), SDD_OK);
    shift_clock(-30L * DAY);
    CHECK(check_numbered(c.cache, 1)); /* an entry from the future counts as stored now */
    CHECK_STATUS(put_numbered(c.cache, 2, 1, 5000), SDD_OK);
    check_trimmed(c.cache, c.folder);
    CHECK(check_numbered(c.cache, 1) && check_numbered(c.cache, 2));
    shift_clock(-20L * DAY);
    CHECK(check_numbered(c.cache, 1) && !check_numbered(c.cache, 2));
    shift_clock(8L * DAY);
    CHECK(!check_numbered(c.cache, 1));
    check_trimmed(c.cache, c.folder);
    CHECK_EQUAL(counts_of(c.cache).disk_count, 0);
    CHECK_EQUAL(counts_of(c.cache).errors, 0);
    shift_clock(0);
}

/* What was stored while the clock was ahead neither outlives what came later, nor stays good for long. */
CASE(entries_from_the_future_age_too)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_disk_bytes = 300000;
    OWNED_CACHE c = open_cache(config);
    shift_clock(365L * DAY);
    for (int i = 0; i < 4; i++) CHECK_STATUS(put_numbered(c.cache, i, 1, 50000), SDD_OK);
    shift_clock(0);
    for (int i = 4; i < 7; i++) CHECK_STATUS(put_numbered(c.cache, i, 1, 50000), SDD_OK);
    check_trimmed(c.cache, c.folder);
    CHECK(check_numbered(c.cache, 5) && check_numbered(c.cache, 6) && !check_numbered(c.cache, 0));
    shift_clock(365L * DAY);
    CHECK_STATUS(put_numbered(c.cache, 1, 1, 50000), SDD_OK);
    shift_clock(0);
    check_trimmed(c.cache, c.folder); /* the clock has gone back: it may be the one that is wrong */
    check_trimmed(c.cache, c.folder);
    shift_clock(8L * DAY);
    CHECK(!check_numbered(c.cache, 1));
    shift_clock(0);
}

/* Waits and timers do not depend on this clock. */
CASE(no_wait_depends_on_the_clock)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.trim_interval_ms = 1;
    config.share_wait_ms = 100;
    int64_t began = milliseconds_now();
    for (long shift = -3L * DAY; shift <= 3L * DAY; shift += DAY) {
        OWNED_CACHE c = open_cache(config);
        CHECK_STATUS(put_numbered(c.cache, 1, 1, 5000), SDD_OK);
        shift_clock(shift);
        CHECK(check_numbered(c.cache, 1));
        CHECK_STATUS(sdd_cache_flush_wait(c.cache, 10000), SDD_OK);
        shift_clock(-shift);
        CHECK_STATUS(put_numbered(c.cache, 1, 2, 5000), SDD_OK);
        shift_clock(0);
    }
    if (milliseconds_now() - began > 10000) FAIL("a wait depends on the clock");
}

CASE(time_itself_has_moved)
{
    time_t before = time(NULL);
    shift_clock(DAY);
    CHECK(time(NULL) - before >= DAY);
    shift_clock(0);
}

int main(int count, char **words)
{
    (void)words;
    start_watchdog();
    if (count == 1) { /* loaded with calls.so */
        worker w = START(VARIABLES("CALLS=1"), "shifted");
        CHECK_ENDS_WELL(&w);
        return 0;
    }
    *(void **)&shift_clock = dlsym(RTLD_DEFAULT, "calls_shift_clock");
    CHECK(shift_clock != NULL);
    return run_cases();
}

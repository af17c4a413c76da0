/*
 * A process that stores, downloads, removes, clears and trims is killed at any moment: the next process finds each
 * entry whole or not at all, and after one trim no other files.
 */
#include "drivers.h"

#include <poll.h>

enum { NUMBERS = 24, TARGETS = 8 };

static sdd_cache_config small_cache(const char *folder)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = folder;
    config.max_disk_bytes = 2 << 20; /* so that trims have something to do */
    config.sync = SDD_SYNC_DATA;
    return config;
}

/* The sizes differ, so that a mixture of two bodies is detected. */
static int body_size(int target) { return 5000 + target * 9000; }

static const char *stored_url(int target)
{
    return atf("/ok?size=%d&header=Cache-Control:%%20max-age=600&n=%d", body_size(target), target);
}

static const char *broken_url(int target)
{
    return atf("/ranged?size=%d&cuts=%d&header=Cache-Control:%%20max-age=600&n=%d", body_size(target),
               body_size(target) / 2, target);
}

/* ------------------------------------------------------------------------------------------- workers */

static void store_later(sdd_downloader *downloader, sdd_cache *cache, int number, uint32_t version, uint32_t size)
{
    sdd_bytes *bytes = numbered_bytes((uint32_t)number, version, size);
    sdd_cache_item item = item_of(key_of(number), NULL, bytes, SDD_CACHE_DISK);
    CHECK(sdd_cache_put(cache, downloader, &item) != 0);
    sdd_bytes_release(bytes);
}

static void download(sdd_downloader *downloader, const char *url, size_t size)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME);
    if (r.error == SDD_OK) CHECK(is_body_of(r.bytes, url, size));
    else CHECK_STATUS(r.error, SDD_ERROR_TRUNCATED_BODY);
}

static void change_something(sdd_downloader *downloader, sdd_cache *cache)
{
    int number = (int)next_random(NUMBERS), target = (int)next_random(TARGETS);
    uint32_t version = next_random(1000), size = 12 + next_random(next_random(8) ? 30000 : LONGEST_ENTRY);
    switch (next_random(32)) {
    case 0: CHECK_STATUS(sdd_cache_clear_wait(cache, SDD_CACHE_DISK), SDD_OK); break;
    case 1: case 2: CHECK_STATUS(sdd_cache_trim_disk_wait(cache), SDD_OK); break;
    case 3: case 4: case 5: CHECK_STATUS(sdd_cache_remove_wait(cache, key_of(number), SDD_CACHE_DISK), SDD_OK); break;
    case 6: case 7: case 8: case 9: download(downloader, stored_url(target), (size_t)body_size(target)); break;
    case 10: case 11: case 12: case 13: download(downloader, broken_url(target), (size_t)body_size(target)); break;
    case 14: case 15: case 16: case 17: store_later(downloader, cache, number, version, size); break;
    default: CHECK_STATUS(put_numbered(cache, number, version, size), SDD_OK);
    }
}

/* Changes the cache until the process is killed. */
static void change_for_ever(const char *folder)
{
    sdd_cache_config config = small_cache(folder);
    sdd_cache *cache = make_cache(&config);
    sdd_downloader *downloader = downloader_with(cache);
    say("at work");
    for (;;) change_something(downloader, cache);
}

/* Makes the same changes in every run, with each kind of step at least once. */
static void change_by_plan(const char *folder)
{
    sdd_cache_config config = small_cache(folder);
    arm_calls();
    sdd_cache *cache = make_cache(&config);
    sdd_downloader *downloader = downloader_with(cache);
    for (int round = 0; round < 2; round++) {
        CHECK_STATUS(put_numbered(cache, 1, (uint32_t)round, 20000), SDD_OK);
        CHECK_STATUS(put_numbered(cache, 2, (uint32_t)round, 400), SDD_OK);
        store_later(downloader, cache, 3, (uint32_t)round, 1000);
        download(downloader, stored_url(round), (size_t)body_size(round));
        download(downloader, broken_url(2), (size_t)body_size(2));
        CHECK_STATUS(sdd_cache_remove_wait(cache, key_of(2), SDD_CACHE_DISK), SDD_OK);
        CHECK_STATUS(sdd_cache_trim_disk_wait(cache), SDD_OK);
        if (round == 0) CHECK_STATUS(sdd_cache_clear_wait(cache, SDD_CACHE_DISK), SDD_OK);
    }
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

/* -------------------------------------------------------------------------------------------- checks */

static int check_target(sdd_cache *cache, const char *url, int target)
{
    sdd_bytes *bytes = bytes_on_disk(cache, url);
    int is_there = bytes != NULL;
    if (is_there && !is_body_of(bytes, url, (size_t)body_size(target))) FAIL("%s has another body", url);
    sdd_bytes_release(bytes);
    return is_there;
}

/* Checks the entries and returns how many there are. */
static int check_what_is_left(const char *folder)
{
    sdd_cache_config config = small_cache(folder);
    int found = 0;
    int64_t began = microseconds_now();
    sdd_cache *cache = make_cache(&config);
    int64_t took = microseconds_now() - began;
    if (took > 1000000) FAIL("opening took %lld us", (long long)took);
    for (int number = 0; number < NUMBERS; number++) found += check_numbered(cache, number);
    for (int target = 0; target < TARGETS; target++)
        found += check_target(cache, stored_url(target), target) + check_target(cache, broken_url(target), target);
    check_trimmed(cache, folder);
    sdd_cache_statistics counts = counts_of(cache);
    if (counts.errors || counts.entries_damaged)
        FAIL("%d errors, the last %d; %d damaged", (int)counts.errors, (int)counts.last_error,
             (int)counts.entries_damaged);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    return found;
}

CASE(killed_at_any_moment)
{
    char folder[512];
    int found = 0, orphans = 0;
    snprintf(folder, sizeof folder, "%s", new_folder());
    for (int i = 0; i < amount(60, 1000); i++) {
        char seed[16];
        snprintf(seed, sizeof seed, "%d", i + 1);
        worker w = START(NULL, "for-ever", folder, seed);
        if (hear(&w) == NULL) FAIL("the worker ended with %d before it was at work", end_of(&w));
        /* Kills the worker at a random moment; if it ends before that, its pipe reports it. */
        struct timespec moment = { 0, (long)next_random(20000) * 1000 };
        struct pollfd ended = { fileno(w.said), POLLIN, 0 };
        CHECK(ppoll(&ended, 1, &moment, NULL) >= 0);
        kill(w.pid, SIGKILL);
        int status = end_of(&w);
        if (!WIFSIGNALED(status)) FAIL("the worker ended by itself: %d", WEXITSTATUS(status));
        orphans += tally_of(folder).temporaries;
        found += check_what_is_left(folder);
    }
    CHECK(found > 0);
    printf("killed at %d moments: %d entries found whole, %d temporary files left and removed\n", amount(60, 1000),
           found, orphans);
    remove_folder(folder);
}

/* A pass ends when the worker runs to its end. */
CASE(killed_at_every_call)
{
    for (int torn = amount(1, 0); torn < 2; torn++) {
        int call = 0, status;
        do {
            char folder[512], kill_at[32];
            snprintf(folder, sizeof folder, "%s", new_folder());
            snprintf(kill_at, sizeof kill_at, "CALLS_KILL=%d", ++call);
            worker w = START(VARIABLES(kill_at, torn ? "CALLS_TORN=1" : "CALLS=1"), "by-plan", folder);
            status = end_of(&w);
            if (status && !WIFSIGNALED(status)) FAIL("at call %d the worker ended with %d", call, WEXITSTATUS(status));
            check_what_is_left(folder);
            remove_folder(folder);
        } while (status != 0);
        CHECK(call > 50);
        printf("killed at each of %d calls%s\n", call - 1, torn ? ", a write half done" : "");
    }
}

int main(int count, char **words)
{
    start_watchdog();
    if (count == 4) random_state = (uint32_t)atoi(words[3]) * 2654435761u;
    if (count > 2 && strcmp(words[1], "for-ever") == 0) change_for_ever(words[2]);
    if (count > 2 && strcmp(words[1], "by-plan") == 0) return change_by_plan(words[2]), 0;
    return run_cases();
}

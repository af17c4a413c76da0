/*
 * A disk that hangs: the queue of writes stays within its budget, however much is stored; every waiting call gets its
 * end; the cache is destroyed in the time it has; and once the disk continues, everything is in order. A trim that
 * takes long blocks nothing.
 */
#include "drivers.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

enum { BODY = 1 << 20, BUDGET = 8 << 20 };

static void (*hold)(void), (*hold_removals)(void), (*go_on)(void), (*wait_for_held)(void);

static int64_t resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &pages, &resident) == 2);
    fclose(file);
    return (int64_t)resident * sysconf(_SC_PAGESIZE);
}

static sdd_cache *cache_with_budget(const char *folder, int64_t destroy_timeout_ms)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = folder;
    config.levels = SDD_CACHE_DISK;
    config.max_queued_bytes = BUDGET;
    config.destroy_timeout_ms = destroy_timeout_ms;
    sdd_cache *cache = make_cache(&config);
    CHECK(counts_of(cache).disk_count >= 0); /* the entries are counted */
    return cache;
}

/* Makes the first write hang in its last call. */
static void begin_to_hang(sdd_cache *cache, sdd_downloader *downloader, record *r)
{
    hold();
    sdd_bytes *bytes = numbered_bytes(0, 1, 1000);
    sdd_cache_item item = item_of(key_of(0), NULL, bytes, SDD_CACHE_DISK);
    item.completed = record_completed;
    item.user_data = r;
    item.user_data_free = record_freed;
    CHECK(sdd_cache_put(cache, downloader, &item) != 0);
    sdd_bytes_release(bytes);
    wait_for_held();
}

static void what_nobody_waits_for_is_dropped(const char *folder)
{
    sdd_cache *cache = cache_with_budget(folder, 100);
    sdd_downloader *downloader = downloader_with(cache);
    OWNED_RECORD first = RECORD_INIT, r = RECORD_INIT;
    int count = amount(150, 1500);
    begin_to_hang(cache, downloader, &first);
    int64_t before = resident_bytes(), most = 0;
    for (int i = 0; i < count; i++) {
        const char *url = atf("/ok?size=%d&header=Cache-Control:%%20max-age=600&n=%d", BODY, i);
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_OK, 0);
        record_clear(&r);
        int64_t now = resident_bytes();
        if (now > most) most = now;
    }
    sdd_cache_statistics counts = counts_of(cache);
    char line[200];
    snprintf(line, sizeof line, "%d bodies of 1 MiB: %lld MiB more at most, %lld queued, %lld dropped", count,
             (long long)(most - before) >> 20, (long long)counts.queued_bytes, (long long)counts.writes_dropped);
    say(line);
    CHECK(counts.queued_bytes <= BUDGET && counts.queued_bytes >= BUDGET / 2);
    CHECK(counts.writes_dropped >= count - BUDGET / BODY - 2);
    CHECK_EQUAL(counts.errors, 0);
    if (most - before > BUDGET + (64 << 20)) FAIL("%lld MiB more", (long long)(most - before) >> 20);
    CHECK_STATUS(sdd_cache_flush_wait(cache, 10), SDD_ERROR_TIMEOUT);
    bodies_go_elsewhere = 1; /* results of stores have no bytes */
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    go_on();
    record_wait(&first);
}

/* Every store gets its end once: those that were written, and those that could not be written. */
static void who_waits_is_told(const char *folder)
{
    enum { COUNT = 20 };
    sdd_cache *cache = cache_with_budget(folder, 100);
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record first = RECORD_INIT, records[COUNT];
    bodies_go_elsewhere = 1; /* results of stores have no bytes */
    begin_to_hang(cache, downloader, &first);
    malloc_trim(0);
    int64_t before = resident_bytes();
    for (int i = 0; i < COUNT; i++) {
        sdd_bytes *bytes = numbered_bytes((uint32_t)i + 1, 1, BODY);
        sdd_cache_item item = item_of(key_of(i + 1), NULL, bytes, SDD_CACHE_DISK);
        records[i] = (record)RECORD_INIT;
        item.completed = record_completed;
        item.user_data = &records[i];
        item.user_data_free = record_freed;
        CHECK(sdd_cache_put(cache, downloader, &item) != 0);
        sdd_bytes_release(bytes);
    }
    CHECK_EQUAL(counts_of(cache).writes_dropped, 0);
    int64_t told = counts_of(cache).queued_bytes, taken = resident_bytes() - before;
    CHECK(told > COUNT * (int64_t)BODY);
    if (told > taken + taken * 15 / 100 || told < taken - taken * 15 / 100)
        FAIL("%lld bytes are reported, %lld used", (long long)told, (long long)taken);
    int64_t began = milliseconds_now();
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    for (int i = 0; i < COUNT; i++) {
        record_wait(&records[i]);
        CHECK_STATUS(records[i].error, SDD_ERROR_CACHE);
        CHECK_EQUAL(records[i].detail, SDD_DETAIL_CACHE_DROPPED);
        record_clear(&records[i]);
    }
    char line[100];
    snprintf(line, sizeof line, "destroyed after %lld ms", (long long)(milliseconds_now() - began));
    say(line);
    go_on();
    record_wait(&first);
    CHECK_ENDED(&first, SDD_OK, 0);
    record_clear(&first);
}

/* ----------------------------------------------------------------------------------------- a slow trim */

enum { OLD_ENTRIES = 2000 };

static atomic_int is_trimmed;

static void *trim(void *cache)
{
    CHECK_STATUS(sdd_cache_trim_disk_wait(cache), SDD_OK);
    is_trimmed = 1;
    return NULL;
}

/* Creates files that a trim takes for entries. */
/* The files end like entries, or the folder would be that of another program. */
static void fill_folder(const char *folder)
{
    for (int i = 0; i < OLD_ENTRIES; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%032x", folder, (unsigned)i);
        write_whole(path, "sddentry", 8);
        make_older(path, 1000);
    }
}

/* Stores, reads and removes entries while the trim hangs. */
static void use_meanwhile(sdd_cache *cache, sdd_downloader *downloader, int first)
{
    for (int i = first; i < first + 3; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_bytes *bytes = numbered_bytes((uint32_t)i, 1, 3000);
        sdd_cache_item item = item_of(key_of(i), NULL, bytes, SDD_CACHE_DISK);
        item.completed = record_completed;
        item.user_data = &r;
        item.user_data_free = record_freed;
        CHECK(sdd_cache_put(cache, downloader, &item) != 0);
        sdd_bytes_release(bytes);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(check_numbered(cache, i));
    }
}

/* The trim is a call of the application, or starts by itself on a thread of the cache: its first removal hangs. */
static void nobody_waits_for_a_trim(const char *folder)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    pthread_t thread;
    config.directory = folder;
    config.levels = SDD_CACHE_DISK;
    config.max_disk_bytes = OLD_ENTRIES / 2 * 4096;
    config.trim_interval_ms = -1;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    bodies_go_elsewhere = 1; /* results of stores have no bytes */
    fill_folder(folder);
    hold_removals();
    sdd_cache *cache = make_cache(&config);
    CHECK(pthread_create(&thread, NULL, trim, cache) == 0);
    wait_for_held();
    use_meanwhile(cache, downloader, 1);
    CHECK(!is_trimmed);
    go_on();
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(counts_of(cache).errors, 0);
    for (int i = 1; i < 4; i++) CHECK(check_numbered(cache, i));
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

static void hang(const char *what, const char *folder)
{
    hold = calls_function("calls_hold");
    hold_removals = calls_function("calls_hold_removals");
    go_on = calls_function("calls_go_on");
    wait_for_held = calls_function("calls_wait_for_held");
    CHECK(hold && hold_removals && go_on && wait_for_held);
    if (strcmp(what, "trim") == 0) nobody_waits_for_a_trim(folder);
    else if (strcmp(what, "budget") == 0) what_nobody_waits_for_is_dropped(folder);
    else who_waits_is_told(folder);
}

static void check_with(const char *what)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", new_folder());
    worker w = START(VARIABLES("CALLS_KILL=0"), "hang", what, folder);
    const char *said = hear(&w);
    if (said) printf("%s\n", said);
    CHECK_ENDS_WELL(&w);
    sdd_cache *cache = cache_at(folder);
    /* If the downloader was destroyed first, the end of the first store was not reported. */
    if (!check_numbered(cache, 0)) CHECK(strcmp(what, "told") != 0);
    for (int i = 1; i <= 20; i++) check_numbered(cache, i);
    check_trimmed(cache, folder);
    CHECK_EQUAL(counts_of(cache).errors, 0);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    remove_folder(folder);
}

CASE(a_slow_trim_blocks_nothing) { check_with("trim"); }
CASE(a_budget_holds) { check_with("budget"); }
CASE(every_waiting_store_gets_its_end) { check_with("told"); }

int main(int count, char **words)
{
    start_watchdog();
    if (count == 4) return hang(words[2], words[3]), 0;
    return run_cases();
}

/*
 * callers.c - see callers.h. One story: downloaders, loaders over a cache, threads that use them, and their end.
 *
 * When the faults have stopped, everything ends within an hour of the simulation's time; after that nothing of the library
 * lives.
 */
#define _GNU_SOURCE
#include "callers.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "entries.h"
#include "fake_curl.h"
#include "forks.h"
#include "report.h"
#include "sinks.h"
#include "system_faults.h"

static int site_count, callers_end, may_fork;
/* One for each site, or one for all. Two of them have one directory, as those of two processes would. */
static sdd_cache *caches[SITES];
static int cache_count, has_disk, caches_end; /* a caller may have destroyed one */
static int64_t most_time, most_queued; /* for the end of a cache, and of bytes that wait to be written; 0: no limit */
/* Memory that batches had for their pixels. Afterwards it is full of one number, and nothing may write there. */
enum { SLOTS = 5, SLOT_WIDTH = 8, AFTERWARDS = 0x5a };
static uint8_t lent[MOST_CALLERS * MOST_ACTIONS][SLOTS * SLOT_WIDTH * HEIGHT * 3];
static int lent_count;

/* ---- actions */

/* Waits for the descriptor of a batch, as an event loop does. */
static void poll_batch(sdd_batch *batch, const struct site *site)
{
    struct pollfd entry = { sdd_batch_event_fd(batch), POLLIN, 0 };
    int64_t began = virtual_now();
    EXPECT(poll(&entry, 1, 3600 * 1000) == 1, "the descriptor of a batch is not readable for an hour");
    expect_soon_of(site, began, "waiting for the descriptor of a batch", 0);
}

/* Takes items of a batch of five, perhaps not all. */
static void take_items(sdd_batch *batch, const struct place *places, int wanted, int has_tensor, int has_event_loop,
                       const struct site *site)
{
    size_t count = 0;
    for (int taken = 0; taken < wanted; taken++) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        if (has_event_loop) poll_batch(batch, site);
        sdd_status status = sdd_batch_wait(batch, &item, 1, has_event_loop ? 0 : -1, &count);
        EXPECT(status == SDD_OK && count == 1, "a batch gives no item: %s", sdd_status_name(status));
        EXPECT(item.index < SLOTS, "a batch gives item %d of %d", (int)item.index, SLOTS);
        reached(6, (uint32_t)-item.result->failure.status, (uint32_t)has_tensor, (uint32_t)has_event_loop);
        if (item.result->image && !has_tensor) check_picture(item.result->image, &places[item.index]);
        sdd_result_release(item.result);
    }
    if (wanted == SLOTS && has_event_loop) poll_batch(batch, site); /* it is over */
    sdd_status status = sdd_batch_destroy(batch);
    EXPECT(status == SDD_OK, "a batch does not end: %s", sdd_status_name(status));
}

static void take_batch(struct chance *chance, int site)
{
    char texts[SLOTS][80];
    const char *listed[SLOTS];
    struct place places[SLOTS];
    uint8_t *pixels = lent[lent_count++];
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_tensor tensor = SDD_TENSOR_INIT;
    sdd_batch *batch = NULL;
    for (int i = 0; i < SLOTS; i++) {
        places[i] = choose_url(chance, site);
        write_url(texts[i], sizeof texts[i], &places[i]);
        listed[i] = texts[i];
    }
    tensor.pixels = pixels;
    tensor.slot_count = SLOTS;
    tensor.width = SLOT_WIDTH;
    tensor.height = HEIGHT;
    int uses_loader = one_in(chance, 2), has_tensor = one_in(chance, 3);
    if (uses_loader) config.loader = sites[site].loader;
    else config.downloader = sites[site].downloader;
    config.tensor = has_tensor ? &tensor : NULL;
    config.urls = listed;
    config.count = SLOTS;
    config.look_ahead = 1 + (int32_t)below(chance, SLOTS);
    config.order = (sdd_batch_order)below(chance, 2);
    if (one_in(chance, 5)) config.deadline_ms = 1 + below(chance, 5000);
    tell("takes a batch of five %s", uses_loader ? "loads" : "downloads");
    if (sdd_batch_create(&config, &batch) == SDD_OK)
        take_items(batch, places, one_in(chance, 4) ? (int)below(chance, SLOTS) : SLOTS, has_tensor, one_in(chance, 2), &sites[site]);
    memset(pixels, AFTERWARDS, sizeof *lent);
}

static int64_t room(struct chance *chance)
{
    /* Less than any picture takes, so that each waits until the one before has been delivered; or some. */
    return one_in(chance, 3) ? 1000 : (int64_t)(2 + below(chance, 12)) << 20;
}

static void go_into_background(struct chance *chance, int site)
{
    struct site *at = &sites[site];
    sleep_until(virtual_now() + below(chance, 3000) * MILLISECOND);
    int64_t end = virtual_now() + below(chance, one_in(chance, 2) ? 60000 : 4000) * MILLISECOND;
    if (at->background_since) return;
    tell("sends downloader %d into the background for a while", site);
    at->background_since = -1;
    sdd_downloader_enter_background(at->downloader, (int64_t)below(chance, 3000));
    at->background_since = virtual_now();
    put_in_background(site, at->background_since);
    sleep_until(end);
    at->background_since = 0;
    put_in_background(site, 0);
    sdd_downloader_enter_foreground(at->downloader);
}

static void change_downloader(struct chance *chance, int site)
{
    sdd_downloader *downloader = sites[site].downloader;
    switch (below(chance, 7)) {
    case 0:
        tell("suspends downloader %d for a while", site);
        sdd_downloader_suspend(downloader);
        sleep_until(virtual_now() + below(chance, 2000) * MILLISECOND);
        sdd_downloader_resume(downloader);
        break;
    case 1:
        tell("cancels all of downloader %d", site);
        sdd_downloader_cancel_all(downloader);
        break;
    case 2: case 3: go_into_background(chance, site); break;
    case 4: sdd_process_set_decode_memory_limit(room(chance)); break;
    case 5:
        tell("cancels all loads of loader %d", site);
        sdd_loader_cancel_all(sites[site].loader);
        break;
    default: sdd_loader_remove_all_failed_urls(sites[site].loader); break;
    }
}

static void check_statistics(sdd_cache *cache)
{
    sdd_cache_statistics told = SDD_CACHE_STATISTICS_INIT;
    if (sdd_cache_get_statistics_wait(cache, &told) != SDD_OK) return;
    /* The newest and the one that is being written come on top. */
    EXPECT(!is_hoarding || most_queued == 0 || told.queued_bytes <= most_queued + 2 * 4000,
           "writes of %d bytes wait, and %d are allowed", (int)told.queued_bytes, (int)most_queued);
}

static void change_cache(struct chance *chance)
{
    sdd_cache *cache = caches[below(chance, (uint32_t)cache_count)];
    int64_t began = virtual_now();
    switch (is_hoarding ? 3 : below(chance, 6)) {
    case 0: sdd_cache_trim_memory(cache, one_in(chance, 2) ? SDD_TRIM_ALL : SDD_TRIM_HALF); break;
    case 1: flush(cache, one_in(chance, 2) ? -1 : 100); break;
    case 2: tell("trims the disk"), sdd_cache_trim_disk_wait(cache); break;
    case 3: check_statistics(cache); break;
    case 4: clear(cache); break;
    default: sdd_cache_set_memory_limits(cache, (int64_t)below(chance, 4000), -1); break;
    }
    expect_soon(began, "a call of the cache", 0);
}

static void destroy_cache(int number)
{
    int64_t began = virtual_now();
    sdd_status status = sdd_cache_destroy(caches[number]);
    expect_soon(began, "the end of cache", number);
    EXPECT(virtual_now() < began + (most_time + 25000) * MILLISECOND, "the end of a cache takes %d ms, and %d are allowed",
           (int)((virtual_now() - began) / MILLISECOND), (int)most_time);
    EXPECT(status == SDD_OK || (status == SDD_ERROR_CLOSED && caches_end), "a cache does not end: %s", sdd_status_name(status));
}

/* Ends a downloader, which another caller may have done. */
static void destroy_downloader(int number)
{
    struct site *site = &sites[number];
    int64_t began = virtual_now();
    sdd_status status = sdd_downloader_destroy(site->downloader);
    expect_soon(began, "the end of downloader", number);
    EXPECT(status == SDD_OK || (status == SDD_ERROR_CLOSED && site->ends), "a downloader does not end: %s", sdd_status_name(status));
    if (status != SDD_OK) return;
    for (int i = 0; i < call_count; i++)
        EXPECT(calls[i].site != number || !calls[i].is_accepted || (calls[i].completed && calls[i].freed),
               "call %d has not ended with its downloader", i);
    site->is_destroyed = 1;
}

static void destroy_one(struct chance *chance, int site)
{
    uint32_t kind = is_quiet || is_ending ? 2 : below(chance, 3);
    if (kind == 0) {
        tell("destroys loader %d", site);
        sdd_loader_destroy(sites[site].loader);
    } else if (kind == 1) {
        tell("destroys downloader %d", site);
        sites[site].ends = 1;
        destroy_downloader(site);
    } else {
        tell("destroys the cache");
        caches_end = 1;
        clear_entries();
        destroy_cache((int)below(chance, (uint32_t)cache_count));
        clear_entries();
    }
}

static void submit_many(struct chance *chance, int site)
{
    int count = (int)below(chance, 25);
    tell("submits %d at once", count);
    for (int i = 0; i < count; i++) submit(chance, site);
}

static void act(struct chance *chance)
{
    int site = (int)below(chance, (uint32_t)site_count);
    uint32_t kind = below(chance, 22);
    if (is_quiet && kind == 5) kind = 10; /* this one holds things up */
    if (is_hoarding && kind > 16) kind = 13;
    if ((is_ending && kind > 16) || (is_storing && kind > 4)) kind = 11;
    if (is_away && kind >= 5 && kind <= 8) go_into_background(chance, site), kind = 10;
    switch (kind) {
    case 0: get_one(chance, site); break;
    case 1: case 2: cancel_one(chance); break;
    case 3:
        if (call_count) sdd_set_priority(calls[below(chance, (uint32_t)call_count)].token, (sdd_priority)below(chance, 5));
        break;
    case 4: take_batch(chance, site); break;
    case 5: change_downloader(chance, site); break;
    case 6: change_cache(chance); break;
    case 7: case 8: sleep_until(virtual_now() + below(chance, 1000) * MILLISECOND); break;
    case 9: if (is_ending || one_in(chance, 10)) destroy_one(chance, site); break;
    case 11: case 12: use_entry(chance, site, caches[below(chance, (uint32_t)cache_count)], has_disk); break;
    case 13: if (one_in(chance, 2)) submit_many(chance, site); break;
    case 14: if (may_fork && one_in(chance, 2)) use_child(chance, site); break;
    default: submit(chance, site); break;
    }
}

struct caller { uint64_t seed; int number, count; uint32_t left_out; pthread_t thread; };

static struct chance chance_of(uint64_t seed, int caller, int action)
{
    return (struct chance){ (seed * MOST_CALLERS + (uint64_t)caller) * 1000003 + (uint64_t)action * 7919 };
}

int count_actions(uint64_t seed, int caller)
{
    struct chance chance = chance_of(seed, caller, -1);
    return caller > 0 && one_in(&chance, 3) ? 0 : 1 + (int)below(&chance, MOST_ACTIONS);
}

static void *call_library(void *context)
{
    struct caller *caller = context;
    char name[16];
    snprintf(name, sizeof name, "caller-%d", caller->number);
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < caller->count; i++) {
        struct chance chance = chance_of(caller->seed, caller->number, i);
        if (caller->left_out >> i & 1) continue;
        act(&chance);
        if (is_hoarding) check_statistics(caches[i % cache_count]);
    }
    return NULL;
}

/* One turn of an event loop that has the downloader's descriptor. The limit is longer than a quiet call may take. */
static sdd_status take_as_event_loop(const struct site *site)
{
    struct pollfd entry = { sdd_downloader_event_fd(site->downloader), POLLIN, 0 };
    poll(&entry, 1, callers_end ? 100 : 8000);
    return sdd_downloader_dispatch(site->downloader, 4, NULL);
}

/* Takes events until nothing is left, and then rests. */
static sdd_status take_until_idle(const struct site *site)
{
    sdd_status status = sdd_downloader_idle_wait(site->downloader, 2 * 3600 * 1000);
    EXPECT(status != SDD_ERROR_TIMEOUT, "a downloader that gives its events away is not idle for hours");
    sleep_until(virtual_now() + 50 * MILLISECOND);
    return status;
}

/* Takes the events of a downloader that has no thread for them. */
static void *take_events(void *context)
{
    struct site *site = context;
    pthread_setname_np(pthread_self(), "events");
    depth++; /* callbacks run here */
    while (!callers_end || has_open_calls()) {
        sdd_status status = site->waits_until_idle ? take_until_idle(site)
                            : site->has_event_loop ? take_as_event_loop(site)
                                                   : sdd_downloader_wait(site->downloader, NULL, 4, 500, NULL);
        if (status == SDD_ERROR_CLOSED) break;
    }
    depth--;
    return NULL;
}

/* ---- the story */

static sdd_cache *make_cache(struct chance *chance, const char *folder)
{
    sdd_cache *cache = NULL;
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = folder;
    config.max_memory_cost = one_in(chance, 2) ? 2000 : 1 << 20;
    config.max_disk_bytes = one_in(chance, 3) && !is_quiet ? 40000 : 1 << 24;
    config.levels = has_disk ? 0 : SDD_CACHE_MEMORY;
    config.max_queued_bytes = most_queued;
    config.destroy_timeout_ms = most_time;
    config.share_wait_ms = 6000;
    /* A trim wakes the threads of the disk. */
    config.trim_interval_ms = !is_quiet ? 5000 : one_in(chance, 2) ? SDD_NO_LIMIT : 0;
    if (is_syncing) config.sync = SDD_SYNC_FULL;
    sdd_status status = sdd_cache_create(&config, &cache);
    EXPECT(status == SDD_OK, "the cache is refused: %s", sdd_status_name(status));
    return cache;
}

static void make_site(struct chance *chance, int number)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_loader_config loader = SDD_LOADER_CONFIG_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    struct site *site = &sites[number];
    memset(site, 0, sizeof *site);
    site->is_slow = is_quiet && !is_hoarding && number == 1;
    site->delivers_itself = one_in(chance, 2);
    site->has_event_loop = one_in(chance, 2);
    site->waits_until_idle = one_in(chance, 2);
    config.delivery = site->delivers_itself ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD;
    config.max_concurrent_downloads = 1 + (int32_t)below(chance, 5);
    config.max_concurrent_per_host = 1 + (int32_t)below(chance, 3);
    config.decode_threads = 1 + (int32_t)below(chance, 3);
    config.execution_order = (sdd_execution_order)below(chance, 2);
    config.min_host_interval_ms = !is_quiet && one_in(chance, 4) ? 1 + below(chance, 50) : 0;
    config.ageing_ms = one_in(chance, 4) ? 1 + below(chance, 500) : 0;
    config.no_installed_coders = 1;
    config.cache = site->cache = caches[number % cache_count];
    config.http_cache = is_hoarding || one_in(chance, 4);
    retry.max_attempts = 1 + (int32_t)below(chance, 4);
    limits.total_timeout_ms = one_in(chance, 4) ? 100 + below(chance, 20000) : 0;
    limits.queue_timeout_ms = one_in(chance, 6) ? 100 + below(chance, 2000) : 0;
    config.retry = &retry;
    config.limits = &limits;
    set_limits(number, config.max_concurrent_downloads, config.max_concurrent_per_host);
    number_next_downloader(number);
    sdd_status status = sdd_downloader_create(&config, &site->downloader);
    EXPECT(status == SDD_OK, "a downloader is refused: %s", sdd_status_name(status));
    if (!is_hoarding && one_in(chance, 2)) add_transport(site->downloader, number); /* which has no HTTP cache */
    sdd_downloader_add_coder(site->downloader, costly_coder());
    loader.downloader = site->downloader;
    loader.cache = caches[number % cache_count];
    EXPECT(sdd_loader_create(&loader, &site->loader) == SDD_OK, "a loader is refused");
}

static void check_lent_memory(void)
{
    for (int i = 0; i < lent_count; i++)
        for (size_t at = 0; at < sizeof *lent; at++)
            EXPECT(lent[i][at] == AFTERWARDS, "a batch has ended, and byte %zu of its memory was written", at);
}

static void check_that_nothing_is_left(void)
{
    sdd_process_statistics left = SDD_PROCESS_STATISTICS_INIT;
    int threads = await_threads();
    EXPECT(threads == 0, "a minute after the end of all objects %d threads are left", threads);
    sdd_process_get_statistics(&left);
    EXPECT(left.images == 0 && left.pixel_bytes == 0 && left.bytes_objects == 0 && left.prefetch_lists == 0,
           "at the end there are %d images, %d bytes of pixels, %d buffers, %d lists", (int)left.images,
           (int)left.pixel_bytes, (int)left.bytes_objects, (int)left.prefetch_lists);
}

static void await_idle(void)
{
    int64_t began = virtual_now();
    for (int i = 0; i < site_count; i++) {
        if (sites[i].delivers_itself) continue; /* its thread takes the events */
        sdd_status status = sdd_downloader_idle_wait(sites[i].downloader, 3600 * 1000);
        EXPECT(status == SDD_OK || status == SDD_ERROR_CLOSED, "downloader %d is not idle: %s", i, sdd_status_name(status));
        expect_soon_of(&sites[i], began, "waiting until nothing is left for downloader", i);
    }
}

static void end_part(void)
{
    for (int i = 0; i < site_count; i++) {
        sdd_loader_destroy(sites[i].loader);
        destroy_downloader(i);
    }
    for (int i = 0; i < cache_count; i++) destroy_cache(i);
    end_network();
    end_calls();
    end_sinks();
    check_lent_memory();
    check_that_nothing_is_left();
}

/* The part of one process. Processes have one directory and nothing else in common. */
struct part { uint64_t seed; const struct left_out *left_out; const char *folder; int process, first, last; };

static void play_part(void *context)
{
    const struct part *part = context;
    struct chance chance = { (part->seed ^ 0x5eed) + (uint64_t)part->process };
    struct caller callers[MOST_CALLERS];
    pthread_t takers[SITES];
    int is_whole = part->first == 0 && part->last == MOST_CALLERS;
    begin_calls();
    callers_end = lent_count = caches_end = 0;
    may_fork = is_whole && one_in(&chance, 6);
    begin_sinks();
    set_faults(part->seed, 0, 0);
    start_network(part->seed + (uint64_t)part->process, is_quiet);
    sdd_process_set_decode_memory_limit(room(&chance));
    site_count = is_hoarding ? SITES : 1 + (int)below(&chance, SITES);
    cache_count = is_hoarding || one_in(&chance, 2) ? site_count : 1;
    begin_entries(cache_count == 1 && is_whole);
    has_disk = is_hoarding || !one_in(&chance, 4);
    most_queued = is_hoarding ? one_in(&chance, 2) * 400 : !is_quiet && one_in(&chance, 4) ? 400 : 0;
    most_time = one_in(&chance, 3) ? 1 + below(&chance, 3000) : 10000;
    for (int i = 0; i < cache_count; i++) caches[i] = make_cache(&chance, part->folder);
    for (int i = 0; i < site_count; i++) make_site(&chance, i);
    int is_early = one_in(&chance, 4); /* the downloaders end with calls that have not */
    for (int i = 0; i < site_count; i++) {
        if (!sites[i].delivers_itself) continue;
        pthread_create(&takers[i], NULL, take_events, &sites[i]);
        is_early = 0; /* its thread waits for all calls */
    }
    for (int i = part->first; i < part->last; i++) {
        callers[i] = (struct caller){ part->seed, i, count_actions(part->seed, i), part->left_out->actions[i], 0 };
        if (callers[i].count) pthread_create(&callers[i].thread, NULL, call_library, &callers[i]);
    }
    uint32_t failing = one_in(&chance, 3) ? below(&chance, 100) : 0, slow = one_in(&chance, 3) ? below(&chance, 200) : 0;
    if (is_storing) failing = 80, slow = 100;
    if (!is_quiet) set_faults(part->seed, failing, slow);
    if (is_syncing) set_slow_syncs(6000);
    for (int i = part->first; i < part->last; i++)
        if (callers[i].count) pthread_join(callers[i].thread, NULL);
    tell("the callers have ended, and faults stop");
    set_faults(part->seed, 0, 0);
    calm_network();
    callers_end = 1;
    if (!is_early && one_in(&chance, 2)) await_idle();
    if (!is_early) await_all_calls();
    for (int i = 0; i < site_count; i++)
        if (sites[i].delivers_itself) pthread_join(takers[i], NULL);
    end_part();
}

void play_story(uint64_t seed, const struct left_out *left_out, const char *folder)
{
    enum { FIRST_OF_SECOND = 3 };
    struct chance chance = { seed ^ 0x0b1e };
    is_quiet = one_in(&chance, 4);
    uint32_t kind = below(&chance, 16);
    is_away = !is_quiet && kind < 2;
    is_ending = kind >= 2 && kind < 4;
    is_storing = !is_quiet && kind >= 4 && kind < 6;
    is_syncing = is_quiet && kind >= 4 && kind < 8;
    is_hoarding = is_syncing && kind >= 6;
    for (int i = 0; i < URLS; i++) {
        char temper = is_away ? "ohbbbbbr"[below(&chance, 8)] : "oooohhhscmrlnfub"[below(&chance, is_quiet ? 7 : 16)];
        int is_slow = is_quiet && i >= URLS - SLOW_URLS; /* with pictures that are shown as they arrive */
        urls[i] = (struct place){ (int)below(&chance, HOSTS), (int)below(&chance, PICTURES) | 2 * is_slow, is_slow ? 'd' : temper };
    }
    int are_two = !is_quiet && one_in(&chance, 3);
    struct part part = { seed, left_out, folder, 0, 0, are_two ? FIRST_OF_SECOND : MOST_CALLERS };
    struct part second_part = { seed, left_out, folder, 1, FIRST_OF_SECOND, MOST_CALLERS };
    struct task *second = NULL;
    if (are_two) {
        if (one_in(&chance, 2)) kill_at_step(1, 100 + below(&chance, 12000));
        second = start_process(play_part, &second_part);
    }
    play_part(&part);
    if (second) join_task(second);
}

/* entries.c - see entries.h. */
#include "entries.h"

#include <stdio.h>
#include <string.h>

#include "report.h"

enum { KEYS = 2 };

/*
 * What the application knows of a key. Serial numbers count the changes of all keys; that of a store is part of what is
 * stored. Of changes that overlap any may be the last: none that ended before the first of them began is found.
 */
static struct { int open, first, least, is_there; } known[KEYS];
static int serial, is_ordered, changes, clears; /* those under way */

void begin_entries(int has_one_cache)
{
    memset(known, 0, sizeof known);
    serial = changes = clears = 0;
    is_ordered = has_one_cache;
}

void clear_entries(void)
{
    changes++;
    for (int i = 0; i < KEYS; i++) known[i].is_there = 0;
}

static int begin_change(int number)
{
    int own = ++serial;
    changes++;
    if (known[number].open++ == 0) known[number].first = own;
    known[number].is_there = 0;
    return own;
}

static void end_change(int number, int is_made)
{
    known[number].open--;
    if (is_made && known[number].least < known[number].first) known[number].least = known[number].first;
}

/* Whether no other change of the key, and no clear, overlapped this one, which has ended. */
static int is_alone(int number, int own) { return clears == 0 && known[number].open == 0 && known[number].first == own; }

struct stored { int32_t serial, picture; };

static sdd_bytes *bytes_of(const void *bytes, size_t size)
{
    sdd_bytes *made = sdd_bytes_create(bytes, size);
    EXPECT(made != NULL, "there are no bytes for an entry");
    return made;
}

static void check_entry(const sdd_result *result, int number, int least)
{
    struct stored stored;
    EXPECT(result->bytes && result->extended && sdd_bytes_size(result->extended) == sizeof stored,
           "entry %d comes without its parts", number);
    memcpy(&stored, sdd_bytes_data(result->extended), sizeof stored);
    check_bytes(result->bytes, &(struct place){ 0, stored.picture, 'o' });
    EXPECT(!is_ordered || stored.serial >= least, "entry %d is that of change %d, and change %d has replaced it", number,
           (int)stored.serial, least);
}

static void store(struct chance *chance, sdd_cache *cache, int has_disk, int number, const char *key)
{
    struct stored stored = { begin_change(number), (int32_t)below(chance, PICTURES) };
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    int before = changes;
    item.key = key;
    item.bytes = body_of(stored.picture);
    item.extended = bytes_of(&stored, sizeof stored);
    tell("stores picture %d as %s, change %d", (int)stored.picture, key, (int)stored.serial);
    sdd_status status = sdd_cache_put_wait(cache, &item);
    tell("change %d: %s", (int)stored.serial, sdd_status_name(status));
    reached(7, (uint32_t)-status, 0, 0);
    end_change(number, status == SDD_OK && has_disk);
    known[number].is_there = status == SDD_OK && has_disk && changes == before && is_alone(number, stored.serial);
    sdd_bytes_release(item.bytes);
    sdd_bytes_release(item.extended);
}

/* Stores an entry, and does not wait; then perhaps for all together. Queries find it at once. */
static void store_soon(struct chance *chance, int site, sdd_cache *cache, int has_disk, int number, const char *key)
{
    for (uint32_t left = 1 + below(chance, 3); left > 0; left--) {
        struct stored stored = { begin_change(number), (int32_t)below(chance, PICTURES) };
        sdd_cache_item item = SDD_CACHE_ITEM_INIT;
        item.key = key;
        item.bytes = body_of(stored.picture);
        item.extended = bytes_of(&stored, sizeof stored);
        tell("will store picture %d as %s, change %d", (int)stored.picture, key, (int)stored.serial);
        int is_accepted = sdd_cache_put(cache, sites[site].downloader, &item) != 0;
        /* A disk that fails may keep the one before. */
        end_change(number, is_accepted && has_disk && is_quiet);
        known[number].is_there = is_accepted && has_disk && is_alone(number, stored.serial);
        sdd_bytes_release(item.bytes);
        sdd_bytes_release(item.extended);
    }
    if (!is_hoarding && one_in(chance, 2)) flush(cache, -1);
}

/* What is stored meanwhile may be there afterwards, or not. */
void clear(sdd_cache *cache)
{
    tell("clears the cache");
    clears++;
    clear_entries();
    sdd_cache_clear_wait(cache, SDD_CACHE_ALL);
    clear_entries();
    clears--;
}

void flush(sdd_cache *cache, int64_t milliseconds)
{
    tell("flushes the cache");
    sdd_status status = sdd_cache_flush_wait(cache, milliseconds);
    EXPECT(!is_quiet || is_syncing || status == SDD_OK || status == SDD_ERROR_CLOSED, "a flush ends with %s", sdd_status_name(status));
}

static void look_for(sdd_cache *cache, int number, const char *key)
{
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_result *result = NULL;
    int least = known[number].least, before = changes, is_there = is_ordered && is_quiet && known[number].is_there;
    int64_t began = virtual_now();
    query.key = key;
    query.wants = SDD_WANT_BYTES;
    sdd_status status = sdd_cache_query_wait(cache, &query, &result);
    EXPECT(!is_syncing || virtual_now() < began + 4 * SECOND, "a query for %s waits for a write", key);
    tell("looks for %s: %s", key, sdd_status_name(status));
    reached(8, (uint32_t)-status, 0, 0);
    if (status == SDD_OK && result) check_entry(result, number, least);
    else EXPECT(!is_there || changes != before || status == SDD_ERROR_CLOSED, "%s was stored, and is not found: %s", key, sdd_status_name(status));
    sdd_result_release(result);
}

static void remove_it(sdd_cache *cache, int number, const char *key)
{
    tell("removes %s", key);
    begin_change(number);
    sdd_status status = sdd_cache_remove_wait(cache, key, SDD_CACHE_ALL);
    end_change(number, status == SDD_OK || status == SDD_ERROR_NOT_FOUND);
    reached(9, (uint32_t)-status, 0, 0);
    EXPECT(status == SDD_OK || status == SDD_ERROR_CACHE || status == SDD_ERROR_NOT_FOUND || status == SDD_ERROR_CLOSED,
           "removing entry %d: %s", number, sdd_status_name(status));
}

void store_swapped(sdd_cache *cache, sdd_downloader *downloader, int picture)
{
    char key[16];
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    snprintf(key, sizeof key, "swapped-%d", picture);
    item.key = key;
    item.bytes = body_of(swapped(picture));
    tell("stores picture %d as %s", swapped(picture), key);
    sdd_cache_put(cache, downloader, &item);
    sdd_bytes_release(item.bytes);
}

void use_entry(struct chance *chance, int site, sdd_cache *cache, int has_disk)
{
    int number = (int)below(chance, KEYS);
    char key[16];
    int64_t began = virtual_now();
    snprintf(key, sizeof key, "own-%d", number);
    switch (is_hoarding ? 5 : below(chance, 6)) {
    case 0: case 1: store(chance, cache, has_disk, number, key); break;
    case 2: remove_it(cache, number, key); break;
    case 3: store_soon(chance, site, cache, has_disk, number, key); break;
    default: look_for(cache, number, key); break;
    }
    expect_soon(began, "the use of entry", number);
}

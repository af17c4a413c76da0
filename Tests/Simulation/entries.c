/* entries.c - see entries.h. */
#include "entries.h"

#include <stdio.h>
#include <string.h>

#include "report.h"

enum { KEYS = 4 };

/* What the application knows of a key. Serial numbers count the stores of all keys, and are part of what is stored. */
static struct { int open, has_overlapped, newest; } known[KEYS];
static int serial, is_ordered;

void begin_entries(int has_one_cache)
{
    memset(known, 0, sizeof known);
    serial = 0;
    is_ordered = has_one_cache;
}

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
    EXPECT(!is_ordered || stored.serial >= least, "entry %d is that of store %d, and store %d had replaced it", number,
           (int)stored.serial, least);
}

static void store(struct chance *chance, sdd_cache *cache, int number, const char *key)
{
    struct stored stored = { ++serial, (int32_t)below(chance, PICTURES) };
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = key;
    item.bytes = body_of(stored.picture);
    item.extended = bytes_of(&stored, sizeof stored);
    tell("stores picture %d as %s, store %d", (int)stored.picture, key, (int)stored.serial);
    if (known[number].open++ > 0) known[number].has_overlapped = 1;
    sdd_status status = sdd_cache_put_wait(cache, &item);
    known[number].open--;
    reached(7, (uint32_t)-status, 0, 0);
    /* Of stores that overlap either may be the later one; and a disk that fails may keep an older one, or none. */
    known[number].newest = known[number].has_overlapped || status != SDD_OK ? 0 : stored.serial;
    if (known[number].open == 0) known[number].has_overlapped = 0;
    sdd_bytes_release(item.bytes);
    sdd_bytes_release(item.extended);
}

static void look_for(sdd_cache *cache, int number, const char *key)
{
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_result *result = NULL;
    int least = known[number].open ? 0 : known[number].newest;
    query.key = key;
    query.wants = SDD_WANT_BYTES;
    sdd_status status = sdd_cache_query_wait(cache, &query, &result);
    tell("looks for %s: %s", key, sdd_status_name(status));
    reached(8, (uint32_t)-status, 0, 0);
    if (status == SDD_OK && result) check_entry(result, number, least);
    sdd_result_release(result);
}

static void remove_it(sdd_cache *cache, int number, const char *key)
{
    tell("removes %s", key);
    sdd_status status = sdd_cache_remove_wait(cache, key, SDD_CACHE_ALL);
    reached(9, (uint32_t)-status, 0, 0);
    EXPECT(status == SDD_OK || status == SDD_ERROR_CACHE || status == SDD_ERROR_NOT_FOUND || status == SDD_ERROR_CLOSED,
           "removing entry %d: %s", number, sdd_status_name(status));
}

void use_entry(struct chance *chance, sdd_cache *cache)
{
    int number = (int)below(chance, KEYS);
    char key[16];
    int64_t began = virtual_now();
    snprintf(key, sizeof key, "own-%d", number);
    switch (below(chance, 5)) {
    case 0: case 1: store(chance, cache, number, key); break;
    case 2: remove_it(cache, number, key); break;
    default: look_for(cache, number, key); break;
    }
    expect_soon(began, "the use of entry", number);
}

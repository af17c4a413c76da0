/* A cache whose levels the application keeps: images in memory, entries in a table. Everything that is stored is found
   through these stores alone, by every call that asks a cache; a damaged entry is a miss; a store that fails is
   reported as a disk error. */
#include "loads.h"

/* --------------------------------------------------------------------------------- a memory level */

enum { MOST = 64 };

typedef struct shelf {
    pthread_mutex_t lock;
    char keys[MOST][300];
    sdd_image *images[MOST];
    int64_t costs[MOST];
    int gets, puts, trims, clears, freed;
} shelf;

static int place_of(char (*keys)[300], const char *key)
{
    for (int i = 0; i < MOST; i++)
        if (strcmp(keys[i], key) == 0) return i;
    return -1;
}

static sdd_image *shelf_get(const char *key, void *user_data)
{
    shelf *s = user_data;
    pthread_mutex_lock(&s->lock);
    int i = place_of(s->keys, key);
    sdd_image *image = i < 0 ? NULL : sdd_image_retain(s->images[i]);
    s->gets++;
    pthread_mutex_unlock(&s->lock);
    return image;
}

static void shelf_take(shelf *s, int i)
{
    sdd_image_release(s->images[i]);
    s->images[i] = NULL;
    s->keys[i][0] = 0;
}

static void shelf_put(const char *key, sdd_image *image, int64_t cost, void *user_data)
{
    shelf *s = user_data;
    pthread_mutex_lock(&s->lock);
    int i = place_of(s->keys, key);
    if (i >= 0) shelf_take(s, i);
    else i = place_of(s->keys, "");
    CHECK(i >= 0 && cost > 0 && strlen(key) < sizeof s->keys[0]);
    snprintf(s->keys[i], sizeof s->keys[i], "%s", key);
    s->images[i] = sdd_image_retain(image);
    s->costs[i] = cost;
    s->puts++;
    pthread_mutex_unlock(&s->lock);
}

static void shelf_remove(const char *key, void *user_data)
{
    shelf *s = user_data;
    pthread_mutex_lock(&s->lock);
    int i = place_of(s->keys, key);
    if (i >= 0) shelf_take(s, i);
    pthread_mutex_unlock(&s->lock);
}

static void shelf_clear(void *user_data)
{
    shelf *s = user_data;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < MOST; i++) shelf_take(s, i);
    s->clears++;
    pthread_mutex_unlock(&s->lock);
}

static void shelf_trim(int32_t level, void *user_data)
{
    shelf *s = user_data;
    CHECK(level == SDD_TRIM_HALF || level == SDD_TRIM_ALL);
    s->trims++;
}

static void shelf_free(void *user_data)
{
    shelf *s = user_data;
    s->freed++;
}

static sdd_memory_store memory_of(shelf *s)
{
    sdd_memory_store store = SDD_MEMORY_STORE_INIT;
    store.get = shelf_get, store.put = shelf_put, store.remove = shelf_remove, store.clear = shelf_clear;
    store.trim = shelf_trim, store.user_data = s, store.user_data_free = shelf_free;
    return store;
}

static int count_images(shelf *s)
{
    int count = 0;
    for (int i = 0; i < MOST; i++) count += s->images[i] != NULL;
    return count;
}

/* ------------------------------------------------------------------------------------- entries */

typedef struct table {
    pthread_mutex_t lock;
    char keys[MOST][300];
    sdd_bytes *bodies[MOST], *extras[MOST];
    int fails, gets, puts, freed;
    int64_t trimmed_to, trimmed_age;
} table;

static sdd_status table_get(const char *key, sdd_bytes **body, sdd_bytes **extra, void *user_data)
{
    table *t = user_data;
    sdd_status status = SDD_ERROR_NOT_FOUND;
    pthread_mutex_lock(&t->lock);
    t->gets++;
    int i = place_of(t->keys, key);
    if (t->fails) status = SDD_ERROR_CACHE;
    else if (i >= 0) {
        *body = sdd_bytes_retain(t->bodies[i]);
        *extra = sdd_bytes_retain(t->extras[i]);
        status = SDD_OK;
    }
    pthread_mutex_unlock(&t->lock);
    return status;
}

static void table_take(table *t, int i)
{
    sdd_bytes_release(t->bodies[i]);
    sdd_bytes_release(t->extras[i]);
    t->bodies[i] = t->extras[i] = NULL;
    t->keys[i][0] = 0;
}

static sdd_status table_put(const char *key, const void *body, size_t body_size, const void *extra, size_t extra_size,
                            void *user_data)
{
    table *t = user_data;
    sdd_status status = SDD_ERROR_NO_RESOURCES;
    pthread_mutex_lock(&t->lock);
    if (!t->fails) {
        int i = place_of(t->keys, key);
        if (i >= 0) table_take(t, i);
        else i = place_of(t->keys, "");
        CHECK(i >= 0 && strlen(key) < sizeof t->keys[0] && extra_size > 0);
        snprintf(t->keys[i], sizeof t->keys[i], "%s", key);
        t->bodies[i] = sdd_bytes_create(body, body_size);
        t->extras[i] = sdd_bytes_create(extra, extra_size);
        t->puts++;
        status = SDD_OK;
    }
    pthread_mutex_unlock(&t->lock);
    return status;
}

static sdd_status table_remove(const char *key, void *user_data)
{
    table *t = user_data;
    pthread_mutex_lock(&t->lock);
    int i = place_of(t->keys, key);
    sdd_status status = t->fails ? SDD_ERROR_CACHE : i < 0 ? SDD_ERROR_NOT_FOUND : SDD_OK;
    if (status == SDD_OK) table_take(t, i);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static sdd_status table_clear(void *user_data)
{
    table *t = user_data;
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < MOST; i++) table_take(t, i);
    pthread_mutex_unlock(&t->lock);
    return SDD_OK;
}

static sdd_status table_trim(int64_t max_bytes, int64_t max_age_ms, void *user_data)
{
    table *t = user_data;
    pthread_mutex_lock(&t->lock);
    t->trimmed_to = max_bytes, t->trimmed_age = max_age_ms;
    pthread_mutex_unlock(&t->lock);
    return SDD_OK;
}

static sdd_status table_usage(int64_t *bytes, int64_t *count, void *user_data)
{
    table *t = user_data;
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < MOST; i++) {
        if (t->keys[i][0] == 0) continue;
        *bytes += (int64_t)(sdd_bytes_size(t->bodies[i]) + sdd_bytes_size(t->extras[i]));
        *count += 1;
    }
    pthread_mutex_unlock(&t->lock);
    return SDD_OK;
}

static void table_free(void *user_data)
{
    table *t = user_data;
    t->freed++;
}

static sdd_entry_store entries_of(table *t)
{
    sdd_entry_store store = SDD_ENTRY_STORE_INIT;
    store.get = table_get, store.put = table_put, store.remove = table_remove, store.clear = table_clear;
    store.trim = table_trim, store.usage = table_usage, store.user_data = t, store.user_data_free = table_free;
    return store;
}

static shelf *new_shelf(void)
{
    shelf *s = calloc(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static table *new_table(void)
{
    table *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

/* The cache asks for the usage and trims on a thread of its own whenever it likes: a case that touches the table while
   the cache is open does it with these. */
static sdd_bytes *body_or_extra(table *t, int which)
{
    pthread_mutex_lock(&t->lock);
    sdd_bytes *bytes = sdd_bytes_retain(which ? t->extras[0] : t->bodies[0]);
    pthread_mutex_unlock(&t->lock);
    return bytes;
}

static void replace_body_or_extra(table *t, int which, const void *data, size_t size)
{
    pthread_mutex_lock(&t->lock);
    sdd_bytes **place = which ? &t->extras[0] : &t->bodies[0];
    sdd_bytes_release(*place);
    *place = sdd_bytes_create(data, size);
    pthread_mutex_unlock(&t->lock);
}

static int has_key(table *t, const char *key)
{
    pthread_mutex_lock(&t->lock);
    int found = place_of(t->keys, key) >= 0;
    pthread_mutex_unlock(&t->lock);
    return found;
}

static void set_fails(table *t, int fails)
{
    pthread_mutex_lock(&t->lock);
    t->fails = fails;
    pthread_mutex_unlock(&t->lock);
}

static int was_trimmed_to(table *t, int64_t bytes, int64_t age_ms)
{
    pthread_mutex_lock(&t->lock);
    int equal = t->trimmed_to == bytes && t->trimmed_age == age_ms;
    pthread_mutex_unlock(&t->lock);
    return equal;
}

static void end_shelf(shelf *s)
{
    CHECK_EQUAL(s->freed, 1);
    shelf_clear(s);
    free(s);
}

static void end_table(table *t)
{
    CHECK_EQUAL(t->freed, 1);
    table_clear(t);
    free(t);
}

static sdd_cache_config config_over_stores(sdd_memory_store *memory, sdd_entry_store *entries)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.memory_store = memory;
    config.entry_store = entries;
    return config;
}

/* --------------------------------------------------------------------------------------- cases */

#define OPENED \
    shelf *s = new_shelf(); \
    table *t = new_table(); \
    sdd_memory_store memory = memory_of(s); \
    sdd_entry_store entries = entries_of(t); \
    sdd_cache_config config = config_over_stores(&memory, &entries)

CASE(entries_are_in_the_applications_stores_alone)
{
    OPENED;
    cache_in_folder c = open_cache(config);
    char path[700];
    int32_t fd = -1;
    int64_t size = 0;
    sdd_image *image = fixture_image("png/rgb8.png");
    size_t length = sdd_bytes_size(sdd_image_bytes(image));
    put(c.cache, KEY, image, NULL);
    CHECK_EQUAL(count_images(s), 1);
    CHECK(s->costs[place_of(s->keys, KEY)] >= (int64_t)length);
    sdd_bytes *body = body_or_extra(t, 0);
    CHECK_EQUAL(sdd_bytes_size(body), length);
    sdd_bytes_release(body);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_ALL);
    image = sdd_cache_memory_image(c.cache, KEY);
    CHECK(image != NULL);
    sdd_image_release(image);
    CHECK_STATUS(sdd_cache_path(c.cache, KEY, path, sizeof path, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cache_open_wait(c.cache, KEY, &fd, &size), SDD_OK);
    CHECK_EQUAL(size, length);
    uint8_t first[8];
    CHECK(read(fd, first, 8) == 8 && memcmp(first, "\x89PNG\r\n\x1a\n", 8) == 0 && close(fd) == 0);

    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.disk_count == 1 && counts.disk_bytes > (int64_t)length && counts.entries_written == 1);
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
    CHECK_EQUAL(s->trims, 1);
    CHECK_STATUS(sdd_cache_remove_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_OK);
    CHECK(count_images(s) == 0 && !has_key(t, KEY));
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), 0);
    put_text(c.cache, "one", "1");
    put_text(c.cache, "two", "2");
    check_text(c.cache, "two", "2");
    CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_ALL), SDD_OK);
    CHECK(s->clears == 1 && !has_key(t, "one") && !has_key(t, "two"));
    close_cache(&c);
    end_shelf(s);
    end_table(t);
}

/* A load comes from the network once, then from memory, and then, with another cache over the same table, from the
   table. */
CASE(loads_go_through_the_stores)
{
    OPENED;
    loader_in_folder l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, config);
    record r = RECORD_INIT;
    static const int32_t origins[] = { SDD_ORIGIN_NETWORK, SDD_ORIGIN_MEMORY, SDD_ORIGIN_DISK };
    for (int i = 0; i < 3; i++) {
        if (i == 2) shelf_clear(s);
        load(&l, &r, at("/file/png/rgb8.png"), SDD_OPTION_WAIT_STORE_CACHE);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, origins[i]);
        CHECK(r.image != NULL);
        record_clear(&r);
    }
    CHECK(t->puts == 1 && s->puts >= 2);
    close_loader(&l);
    CHECK_EQUAL(s->freed, 1);
    CHECK_EQUAL(t->freed, 1);

    /* The directory is another, the table the same. */
    shelf_clear(s);
    s->freed = t->freed = 0;
    l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, config);
    load(&l, &r, at("/file/png/rgb8.png"), SDD_OPTION_FROM_CACHE_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_DISK);
    record_clear(&r);
    close_loader(&l);
    end_shelf(s);
    end_table(t);
}

/* The HTTP cache serves a fresh response from the table. */
CASE(the_http_cache_is_in_the_table)
{
    OPENED;
    cache_in_folder c = open_cache(config);
    sdd_downloader_config over = SDD_DOWNLOADER_CONFIG_INIT;
    over.cache = c.cache;
    over.http_cache = 1;
    sdd_downloader *downloader = make_downloader(&over);
    record r = RECORD_INIT;
    for (int i = 0; i < 2; i++) {
        fetch(downloader, &r, at("/file/png/rgb8.png?header=Cache-Control:%20max-age=600"), SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, i == 0 ? SDD_ORIGIN_NETWORK : SDD_ORIGIN_HTTP_FRESH);
        record_clear(&r);
        CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    }
    destroy(downloader);
    close_cache(&c);
    end_shelf(s);
    end_table(t);
}

/* Each byte of both blobs is changed, and each blob is cut: every time it is a miss, and a damaged entry is removed. */
CASE(a_damaged_entry_is_a_miss)
{
    OPENED;
    config.levels = SDD_CACHE_DISK;
    cache_in_folder c = open_cache(config);
    uint8_t copy[4096];
    for (int which = 0; which < 2; which++) {
        size_t size = 1;
        for (size_t i = 0; i < size; i += which ? 7 : 1) {
            for (int cut = 0; cut < 2; cut++) {
                put_text(c.cache, KEY, "0123456789");
                sdd_bytes *blob = body_or_extra(t, which);
                size = sdd_bytes_size(blob);
                CHECK(size > i && size <= sizeof copy);
                memcpy(copy, sdd_bytes_data(blob), size);
                sdd_bytes_release(blob);
                copy[i] ^= 0x20;
                replace_body_or_extra(t, which, copy, cut ? i : size);
                check_text(c.cache, KEY, NULL);
                /* A changed extra blob may seem to have another library version or key: then it is left alone. */
                if (which == 0) CHECK(!has_key(t, KEY));
            }
        }
    }
    CHECK(counts_of(c.cache).entries_damaged > 0);
    close_cache(&c);
    CHECK_EQUAL(s->puts + s->gets, 0); /* the cache has no memory level, but has freed that store's data */
    end_shelf(s);
    end_table(t);
}

CASE(a_failing_store_is_reported)
{
    OPENED;
    cache_in_folder c = open_cache(config);
    sdd_bytes *bytes = text_bytes("lost");
    sdd_cache_item item = item_of(KEY, NULL, bytes, SDD_CACHE_DISK);
    set_fails(t, 1);
    CHECK_FAILS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_CACHE, SDD_DETAIL_CACHE_WRITE);
    check_text(c.cache, KEY, NULL);
    CHECK_STATUS(sdd_cache_remove_wait(c.cache, KEY, SDD_CACHE_DISK), SDD_ERROR_CACHE);
    CHECK(counts_of(c.cache).errors >= 3 && counts_of(c.cache).last_error != 0);
    set_fails(t, 0);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    check_text(c.cache, KEY, "lost");
    sdd_bytes_release(bytes);
    close_cache(&c);
    end_shelf(s);
    end_table(t);
}

CASE(a_trim_is_passed_to_the_table)
{
    OPENED;
    config.max_disk_bytes = 1000;
    config.max_disk_age_ms = 5000;
    cache_in_folder c = open_cache(config);
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    CHECK(was_trimmed_to(t, -1, 5000));
    static char large[900];
    memset(large, 'x', sizeof large - 1);
    put_text(c.cache, "one", large);
    put_text(c.cache, "two", large);
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    CHECK(was_trimmed_to(t, 500, 5000));
    close_cache(&c);
    end_shelf(s);
    end_table(t);
}

int main(void) { return run_cases(); }

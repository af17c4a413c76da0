/* Listing a cache: each entry once, with its facts and its state; entries are removed on the way. */
#include "loads.h"

enum { MOST = 2000 };

/* The entries that sdd_cache_list_wait() has shown, and what the callback does with them. */
typedef struct listed {
    sdd_cache_entry entries[MOST];
    char keys[MOST][64];
    int count;
    int stop_after;       /* 0: never */
    const char *unwanted; /* the key of an entry to remove */
    int32_t unwanted_state;
    sdd_cache *changed; /* its entries are changed meanwhile */
} listed;

static int32_t note_entry(const sdd_cache_entry *entry, void *user_data)
{
    listed *l = user_data;
    CHECK(l->count < MOST && entry->struct_size == sizeof *entry);
    CHECK(strlen(entry->file) >= 32 && strchr(entry->file, '/') == NULL);
    l->entries[l->count] = *entry;
    snprintf(l->keys[l->count], sizeof l->keys[0], "%s", entry->key ? entry->key : "");
    l->count++;
    if (l->changed) put_text(l->changed, entry->key, "changed");
    if (l->unwanted && entry->key && strcmp(entry->key, l->unwanted) == 0) return SDD_LIST_REMOVE;
    if (l->unwanted_state != 0 && entry->state == l->unwanted_state) return SDD_LIST_REMOVE;
    return l->count == l->stop_after ? SDD_LIST_STOP : SDD_LIST_NEXT;
}

static listed told;

static void list(sdd_cache *cache, int32_t flags)
{
    told.count = 0;
    CHECK_STATUS(sdd_cache_list_wait(cache, flags, note_entry, &told), SDD_OK);
}

static const sdd_cache_entry *entry_of(const char *key)
{
    const sdd_cache_entry *found = NULL;
    for (int i = 0; i < told.count; i++) {
        if (strcmp(told.keys[i], key) != 0) continue;
        CHECK(found == NULL);
        found = &told.entries[i];
    }
    if (found == NULL) FAIL("%s is not listed", key);
    return found;
}

static int count_of(int32_t state)
{
    int count = 0;
    for (int i = 0; i < told.count; i++) count += told.entries[i].state == state;
    return count;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void flip_byte(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET) == 0);
    int byte = getc(file);
    CHECK(byte != EOF && fseek(file, -1, SEEK_CUR) == 0 && putc(byte ^ 1, file) != EOF && fclose(file) == 0);
}

CASE(each_entry_has_its_facts)
{
    OWNED_CACHE c = open_default();
    OWNED_BYTES picture = fixture_bytes("png/rgb8.png");
    int64_t before = now_ms();
    list(c.cache, 0);
    CHECK_EQUAL(told.count, 0);
    put(c.cache, KEY, NULL, sdd_bytes_retain(picture));
    put_text(c.cache, "greeting", "hello");
    list(c.cache, SDD_LIST_CHECK);
    CHECK_EQUAL(told.count, 2);
    const sdd_cache_entry *entry = entry_of(KEY);
    CHECK(entry->state == SDD_ENTRY_GOOD && entry->format == SDD_IMAGE_FORMAT_PNG && !entry->is_private);
    CHECK_EQUAL(entry->body_bytes, sdd_bytes_size(picture));
    CHECK(entry->disk_bytes >= entry->body_bytes);
    CHECK(entry->stored_ms >= before - 1000 && entry->stored_ms <= now_ms() && entry->used_ms >= before - 1000);
    CHECK(entry_of("greeting")->body_bytes == 5 && entry_of("greeting")->format == 0);
    make_older(path_of(c.cache, KEY), 3600);
    list(c.cache, 0);
    CHECK(entry_of(KEY)->stored_ms < before - 3500000);
    int64_t used = entry_of(KEY)->used_ms;
    list(c.cache, SDD_LIST_CHECK); /* is no use of it */
    CHECK_EQUAL(entry_of(KEY)->used_ms, used);
    CHECK(counts_of(c.cache).disk_hits == 0);
}

CASE(bad_entries_say_so)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_disk_age_ms = 60000;
    config.trim_interval_ms = -1;
    OWNED_CACHE c = open_cache(config);
    char path[1024];
    put_text(c.cache, "good", "good");
    put_text(c.cache, "old", "old");
    put_text(c.cache, "body", "a changed body");
    put_text(c.cache, "trailer", "a changed trailer");
    put_text(c.cache, "moved", "under another name");
    make_older(path_of(c.cache, "old"), 3600);
    flip_byte(path_of(c.cache, "body"), 0);
    flip_byte(path_of(c.cache, "trailer"), -40);
    snprintf(path, sizeof path, "%s/0123456789abcdef0123456789abcdef", c.folder);
    CHECK(rename(path_of(c.cache, "moved"), path) == 0);
    snprintf(path, sizeof path, "%s/not an entry", c.folder);
    write_whole(path, "x", 1);
    list(c.cache, 0);
    CHECK(told.count == 5 && count_of(SDD_ENTRY_DAMAGED) == 2);
    CHECK(entry_of("body")->state == SDD_ENTRY_GOOD && entry_of("old")->state == SDD_ENTRY_EXPIRED);
    list(c.cache, SDD_LIST_CHECK);
    CHECK(told.count == 5 && count_of(SDD_ENTRY_DAMAGED) == 3 && count_of(SDD_ENTRY_GOOD) == 1);
    CHECK(entry_of("good")->state == SDD_ENTRY_GOOD);
    for (int i = 0; i < told.count; i++)
        if (told.entries[i].state == SDD_ENTRY_DAMAGED) CHECK(!told.entries[i].key && told.entries[i].body_bytes == -1);
    told.unwanted_state = SDD_ENTRY_DAMAGED;
    list(c.cache, SDD_LIST_CHECK);
    told.unwanted_state = 0;
    list(c.cache, SDD_LIST_CHECK);
    CHECK(told.count == 2 && count_of(SDD_ENTRY_DAMAGED) == 0);
    CHECK_EQUAL(counts_of(c.cache).disk_count, 2);
}

CASE(entries_are_removed_and_the_rest_stays)
{
    OWNED_CACHE c = open_default();
    char key[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        put_text(c.cache, key, key);
    }
    told.unwanted = "500";
    list(c.cache, 0);
    CHECK_EQUAL(told.count, 1000);
    told.unwanted = NULL;
    check_text(c.cache, "500", NULL);
    check_text(c.cache, "499", "499");
    CHECK_EQUAL(counts_of(c.cache).disk_count, 999);
    told.stop_after = 7;
    list(c.cache, 0);
    CHECK_EQUAL(told.count, 7);
    told.stop_after = 0;
    told.changed = c.cache;
    list(c.cache, 0);
    told.changed = NULL;
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "%d", i);
        if (i != 500) check_text(c.cache, key, "changed");
    }
}

CASE(private_entries_have_the_key_of_their_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png");
    sdd_header header = { "Authorization", "Bearer secret" };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    transfer.headers = &header;
    transfer.header_count = 1;
    request.transfer = &transfer;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    list(l.cache.cache, SDD_LIST_CHECK);
    CHECK(told.count == 2 && told.entries[0].is_private + told.entries[1].is_private == 1);
    CHECK_TEXT(told.keys[0], url);
    CHECK_TEXT(told.keys[1], url);
    told.unwanted = url;
    list(l.cache.cache, 0);
    told.unwanted = NULL;
    list(l.cache.cache, 0);
    CHECK_EQUAL(told.count, 0);
}

CASE(caches_without_files_are_refused)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.levels = SDD_CACHE_MEMORY;
    sdd_cache *memory = make_cache(&config);
    CHECK_STATUS(sdd_cache_list_wait(memory, 0, note_entry, &told), SDD_ERROR_UNSUPPORTED);
    CHECK_STATUS(sdd_cache_destroy(memory), SDD_OK);
}

int main(void) { return run_cases(); }

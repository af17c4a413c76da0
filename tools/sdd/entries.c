#include "entries.h"
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Enough for what is known of most pictures. */
enum { PROBED_BYTES = 65536 };

struct reading {
    struct entries *entries;
    size_t capacity;
    const char *directory;
    bool remove_damaged;
};

/* The file of an entry begins with the body. */
static void probe(const struct reading *reading, struct entry *entry)
{
    static unsigned char bytes[PROBED_BYTES];
    struct text path = { 0 };
    text_printf(&path, "%s/%s", reading->directory, entry->file);
    /* The access time says when an application used the entry. Only the owner of a file may leave it as it is. */
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path.data, flags | O_NOATIME);
    if (fd < 0 && errno == EPERM) fd = open(path.data, flags);
    text_free(&path);
    if (fd < 0) return;
    size_t wanted = entry->body_bytes < PROBED_BYTES ? (size_t)entry->body_bytes : PROBED_BYTES;
    ssize_t count = pread(fd, bytes, wanted, 0);
    close(fd);
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    if (count <= 0) return;
    if (entry->format == 0) entry->format = sdd_image_sniff(bytes, (size_t)count);
    if (sdd_image_probe(bytes, (size_t)count, &info) != SDD_OK) return;
    entry->width = info.stored_width;
    entry->height = info.stored_height;
}

static sdd_list_step add(const sdd_cache_entry *from, void *user_data)
{
    struct reading *reading = user_data;
    struct entries *entries = reading->entries;
    if (entries->count == reading->capacity) {
        reading->capacity = reading->capacity * 2 + 64;
        entries->items = need(realloc(entries->items, reading->capacity * sizeof *entries->items));
    }
    struct entry *entry = &entries->items[entries->count++];
    *entry = (struct entry){ .file = need_copy(from->file),
                             .key = from->key == NULL ? NULL : need_copy(from->key),
                             .state = from->state,
                             .format = from->format,
                             .is_private = from->is_private != 0,
                             .file_bytes = from->disk_bytes,
                             .body_bytes = from->body_bytes,
                             .used_ms = from->used_ms,
                             .stored_ms = from->stored_ms };
    if (entry->body_bytes > 0) probe(reading, entry);
    if (!reading->remove_damaged || entry->state != SDD_ENTRY_DAMAGED) return SDD_LIST_NEXT;
    entries->removed++;
    return SDD_LIST_REMOVE;
}

sdd_status entries_read(struct entries *entries, sdd_cache *cache, const char *directory, bool check,
                        bool remove_damaged)
{
    struct reading reading = { .entries = entries, .directory = directory, .remove_damaged = remove_damaged };
    return sdd_cache_list_wait(cache, check ? SDD_LIST_CHECK : 0, add, &reading);
}

void entries_free(struct entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->items[i].key);
        free(entries->items[i].file);
    }
    free(entries->items);
    *entries = (struct entries){ 0 };
}

static char *key_of_url(sdd_cache *cache, const char *url)
{
    size_t length = 0;
    if (sdd_cache_key(cache, url, NULL, NULL, 0, NULL, 0, &length) != SDD_ERROR_BUFFER_TOO_SMALL) return NULL;
    char *key = need(malloc(length + 1));
    sdd_cache_key(cache, url, NULL, NULL, 0, key, length + 1, NULL);
    return key;
}

char *entry_key(sdd_cache *cache, const char *argument)
{
    struct text whole = { 0 };
    add_whole_url(&whole, argument);
    char *key = key_of_url(cache, argument), *other = NULL;
    bool is_there = key != NULL && sdd_cache_contains_wait(cache, key, SDD_CACHE_DISK) != 0;
    if (!is_there && strcmp(text_string(&whole), argument) != 0 && (other = key_of_url(cache, whole.data)) != NULL) {
        free(key);
        key = other;
    }
    text_free(&whole);
    return key;
}

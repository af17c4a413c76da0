/* The entries of a cache, with the sizes of their pictures. */
#ifndef SDD_TOOL_ENTRIES_H
#define SDD_TOOL_ENTRIES_H

#include "text.h"

#include <sdd/sdd.h>

struct entry {
    char *file; /* its name in the directory */
    char *key;  /* NULL: unknown */
    int32_t state, format, width, height;
    bool is_private;
    int64_t file_bytes; /* as allocated, with the cache's own data */
    int64_t body_bytes; /* -1: unknown */
    int64_t used_ms, stored_ms;
};

struct entries {
    struct entry *items;
    size_t count;
    uint64_t removed;
};

/* Lists the entries of a cache in a directory. check: bodies are compared with their checksums; remove_damaged: damaged
   entries are removed from the disk, and still listed. */
sdd_status entries_read(struct entries *entries, sdd_cache *cache, const char *directory, bool check,
                        bool remove_damaged);

void entries_free(struct entries *entries);

/* Returns the key of a URL, also of one without its scheme, or an argument that is a key already; NULL, with the library's
   failure, if it is neither. */
char *entry_key(sdd_cache *cache, const char *argument);

#endif

/*
 * entries.h - entries that the application stores and looks for itself, and what must hold of them: body and own data
 * are those of one store, and not of one that was replaced before the query began.
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <sdd/sdd.h>

#include "calls.h"

/* Forgets what was stored. With one cache in one process, queries must find the newest. */
void begin_entries(int has_one_cache);
/* The cache ends, or has ended. */
void clear_entries(void);
void clear(sdd_cache *cache);
/* Stores an entry, removes it, or looks for one. */
void use_entry(struct chance *chance, int site, sdd_cache *cache, int has_disk);
/* Stores what loads under keys of their own may find in place of a picture. Does not wait. */
void store_swapped(sdd_cache *cache, sdd_downloader *downloader, int picture);
/* Waits until what was stored is on disk. */
void flush(sdd_cache *cache, int64_t milliseconds);

#endif

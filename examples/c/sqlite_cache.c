/* cc -std=c99 -O2 sqlite_cache.c $(pkg-config --cflags --libs sdd sqlite3) -o sqlite_cache
 *
 * sqlite_cache: loads pictures through a cache whose entries are rows of an SQLite database, in place of files.
 *
 *     sqlite_cache DIRECTORY URL...
 *
 * The database is DIRECTORY/pictures.db. Any number of these programs may run with one directory at the same time: the
 * others find what one has stored, and if several want a URL at once, one downloads it. Exit status 0: all pictures
 * were loaded.
 */
#include <sdd/sdd.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* ---- the store: one connection for all threads, which SQLite guards with a lock (SQLITE_OPEN_FULLMUTEX) */

static sdd_status status_of(int code) { return code == SQLITE_DONE || code == SQLITE_OK ? SDD_OK : SDD_ERROR_CACHE; }

/* Prepares a statement for one run, with its key bound. Several threads call it, and each has its own statements. */
static sqlite3_stmt *prepare(sqlite3 *database, const char *text, const char *key)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK) return NULL;
    if (key != NULL) sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    return statement;
}

static sdd_status run(sqlite3_stmt *statement)
{
    if (statement == NULL) return SDD_ERROR_CACHE;
    int code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return status_of(code);
}

static sdd_status get(const char *key, sdd_bytes **body, sdd_bytes **extra, void *user_data)
{
    sqlite3_stmt *found = prepare(user_data, "SELECT body, extra FROM entries WHERE key = ?", key);
    if (found == NULL) return SDD_ERROR_CACHE;
    int code = sqlite3_step(found);
    if (code == SQLITE_ROW) {
        *body = sdd_bytes_create(sqlite3_column_blob(found, 0), (size_t)sqlite3_column_bytes(found, 0));
        *extra = sdd_bytes_create(sqlite3_column_blob(found, 1), (size_t)sqlite3_column_bytes(found, 1));
    }
    sqlite3_finalize(found);
    return code == SQLITE_ROW ? SDD_OK : code == SQLITE_DONE ? SDD_ERROR_NOT_FOUND : SDD_ERROR_CACHE;
}

static sdd_status put(const char *key, const void *body, size_t body_size, const void *extra, size_t extra_size,
                      void *user_data)
{
    sqlite3_stmt *row = prepare(
        user_data, "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, CAST(strftime('%s', 'now') AS INTEGER))", key);
    if (row == NULL) return SDD_ERROR_CACHE;
    sqlite3_bind_blob64(row, 2, body_size ? body : "", body_size, SQLITE_STATIC);
    sqlite3_bind_blob64(row, 3, extra, extra_size, SQLITE_STATIC);
    return run(row);
}

static sdd_status remove_entry(const char *key, void *user_data)
{
    return run(prepare(user_data, "DELETE FROM entries WHERE key = ?", key));
}

static sdd_status clear(void *user_data) { return run(prepare(user_data, "DELETE FROM entries", NULL)); }

/* Removes entries that are too old, then the oldest until the rest is small enough. */
static sdd_status trim(int64_t max_bytes, int64_t max_age_ms, void *user_data)
{
    sdd_status status = SDD_OK;
    if (max_age_ms >= 0) {
        sqlite3_stmt *old = prepare(
            user_data, "DELETE FROM entries WHERE stored < CAST(strftime('%s', 'now') AS INTEGER) - ?", NULL);
        if (old != NULL) sqlite3_bind_int64(old, 1, max_age_ms / 1000);
        status = run(old);
    }
    if (max_bytes >= 0 && status == SDD_OK) {
        sqlite3_stmt *many = prepare(
            user_data,
            "DELETE FROM entries WHERE key IN (SELECT key FROM (SELECT key, SUM(LENGTH(body) + LENGTH(extra))"
            " OVER (ORDER BY stored DESC, key) AS sum FROM entries) WHERE sum > ?)",
            NULL);
        if (many != NULL) sqlite3_bind_int64(many, 1, max_bytes);
        status = run(many);
    }
    return status;
}

static sdd_status usage(int64_t *bytes, int64_t *count, void *user_data)
{
    sqlite3_stmt *sums = prepare(user_data,
                                 "SELECT COALESCE(SUM(LENGTH(body) + LENGTH(extra)), 0), COUNT(*) FROM entries", NULL);
    if (sums == NULL) return SDD_ERROR_CACHE;
    int code = sqlite3_step(sums);
    if (code == SQLITE_ROW) {
        *bytes = sqlite3_column_int64(sums, 0);
        *count = sqlite3_column_int64(sums, 1);
    }
    sqlite3_finalize(sums);
    return code == SQLITE_ROW ? SDD_OK : SDD_ERROR_CACHE;
}

static void close_database(void *user_data) { sqlite3_close(user_data); }

/* Opens the database. Each statement is a transaction of its own, and waits up to ten seconds for other processes. */
static sqlite3 *open_database(const char *directory)
{
    char path[4096];
    sqlite3 *database = NULL;
    int length = snprintf(path, sizeof path, "%s/pictures.db", directory);
    if (length < 0 || (size_t)length >= sizeof path) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    if (sqlite3_open_v2(path, &database, flags, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(database, 10000) == SQLITE_OK &&
        sqlite3_exec(database,
                     "PRAGMA synchronous = NORMAL;"
                     "CREATE TABLE IF NOT EXISTS entries"
                     " (key TEXT PRIMARY KEY, body BLOB, extra BLOB, stored INTEGER)",
                     NULL, NULL, NULL) == SQLITE_OK)
        return database;
    fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(database));
    sqlite3_close(database);
    return NULL;
}

/* ---- loading */

/* Runs on a thread of the library, one call at a time; main reads the count when all calls have returned. */
static void completed(const sdd_result *result, void *user_data)
{
    int *failures = user_data;
    if (result->failure.status != SDD_OK) {
        ++*failures;
        printf("%s: %s: %s\n", result->url, sdd_status_name(result->failure.status), result->failure.message);
    } else {
        const char *place = result->origin == SDD_ORIGIN_NETWORK ? "the network" : "the cache";
        printf("%s: %d x %d from %s\n", result->url, (int)sdd_image_width(result->image),
               (int)sdd_image_height(result->image), place);
    }
}

static int load_all(sdd_loader *loader, sdd_downloader *downloader, char **urls, int count)
{
    int failures = 0;
    for (int i = 0; i < count; i++)
        if (sdd_load(loader, urls[i], 0, NULL, completed, &failures) == 0) failures++;
    return sdd_downloader_idle_wait(downloader, -1) == SDD_OK && failures == 0 ? 0 : 1;
}

int main(int count, char **words)
{
    if (count < 3) {
        fprintf(stderr, "usage: sqlite_cache DIRECTORY URL...\n");
        return 2;
    }
    sdd_entry_store store = SDD_ENTRY_STORE_INIT;
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config loader_config = SDD_LOADER_CONFIG_INIT;
    sdd_cache *cache = NULL;
    sdd_downloader *downloader = NULL;
    sdd_loader *loader = NULL;
    int status = 1;

    /* The cache would make the directory, but the database in it is opened first. */
    sdd_cache_config plain = SDD_CACHE_CONFIG_INIT;
    plain.directory = words[1];
    if (sdd_cache_create(&plain, &cache) != SDD_OK || sdd_cache_destroy(cache) != SDD_OK) {
        fprintf(stderr, "%s: cannot be the directory of a cache\n", words[1]);
        return 1;
    }
    sqlite3 *database = open_database(words[1]);
    if (database == NULL) return 1;

    store.get = get;
    store.put = put;
    store.remove = remove_entry;
    store.clear = clear;
    store.trim = trim;
    store.usage = usage;
    store.user_data = database;
    store.user_data_free = close_database; /* called when the cache has written all entries */
    cache_config.directory = words[1];
    cache_config.entry_store = &store;
    if (sdd_cache_create(&cache_config, &cache) != SDD_OK) {
        fprintf(stderr, "no cache\n");
        sqlite3_close(database);
        return 1;
    }
    loader_config.cache = cache;
    if (sdd_downloader_create(NULL, &downloader) == SDD_OK) {
        loader_config.downloader = downloader;
        if (sdd_loader_create(&loader_config, &loader) == SDD_OK)
            status = load_all(loader, downloader, words + 2, count - 2);
    }
    sdd_loader_destroy(loader);
    sdd_downloader_destroy(downloader);
    sdd_cache_destroy(cache); /* waits until all entries are in the database */
    return status;
}

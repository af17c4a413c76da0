/*
 * caches.h - for the programs that test caches: opens a cache in a folder of its own, makes and reads entries in one
 * line, and lists the cache's files.
 */
#ifndef CACHES_H
#define CACHES_H

#include "pixels.h"
#include "record.h"
#include "server.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* No server has this name, so nothing is downloaded. */
#define KEY "https://host.example/pictures/cat.png"

/* ------------------------------------------------------------------------------------------ folders */

/* Makes a new, empty folder that only this user may access. The path is valid until the next call. */
static inline const char *new_folder(void)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/cache.XXXXXX", setting("SDD_TEST_FOLDER"));
    CHECK(mkdtemp(path) != NULL);
    return path;
}

static inline int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static inline void remove_folder(const char *path)
{
    CHECK(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* Returns the last component of a path. */
static inline const char *name_of(const char *path) { return strrchr(path, '/') + 1; }

static inline mode_t mode_of(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0) FAIL("%s: %s", path, strerror(errno));
    return status.st_mode & 07777;
}

/* Reads a whole file and appends a NUL. The caller frees the result. */
static inline uint8_t *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) FAIL("%s: %s", path, strerror(errno));
    uint8_t *bytes = calloc(1, (4 << 20) + 1);
    *size = fread(bytes, 1, 4 << 20, file);
    fclose(file);
    return bytes;
}

static inline void write_whole(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) FAIL("%s: %s", path, strerror(errno));
    CHECK(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

/* Sets a file's access and modification times to so many seconds ago. */
static inline void make_older(const char *path, time_t seconds)
{
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* Writing a file of more than 1000 bytes fails with EFBIG from now on. Returns the limit before. */
static inline struct rlimit forbid_large_files(void)
{
    struct rlimit old, none_more;
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    none_more = old;
    none_more.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &none_more) == 0);
    return old;
}

/* ------------------------------------------------------------------------------------------- caches */

#define OWNED_CACHE OWNED(close_cache) cache_in_folder

/* A cache with its own folder, which close_cache() removes. */
typedef struct cache_in_folder {
    sdd_cache *cache;
    char folder[512];
} cache_in_folder;

static inline sdd_cache *make_cache(const sdd_cache_config *config)
{
    sdd_cache *cache = NULL;
    if (sdd_cache_create(config, &cache) != SDD_OK) FAIL("no cache: %s", sdd_last_error_message());
    CHECK(cache != NULL);
    return cache;
}

static inline sdd_cache *cache_at(const char *folder)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = folder;
    return make_cache(&config);
}

static inline cache_in_folder open_cache(sdd_cache_config config)
{
    cache_in_folder c;
    snprintf(c.folder, sizeof c.folder, "%s", new_folder());
    config.directory = c.folder;
    c.cache = make_cache(&config);
    return c;
}

static inline cache_in_folder open_default(void) { return open_cache((sdd_cache_config)SDD_CACHE_CONFIG_INIT); }

static inline void close_cache(cache_in_folder *c)
{
    CHECK_STATUS(sdd_cache_destroy(c->cache), SDD_OK);
    remove_folder(c->folder);
}

/* Returns the path of a key's file. Valid until four more calls. */
static inline const char *path_of(sdd_cache *cache, const char *key)
{
    static char made[4][1024];
    static unsigned turn;
    char *place = made[turn++ % 4];
    size_t length = 0;
    CHECK_STATUS(sdd_cache_path(cache, key, place, sizeof made[0], &length), SDD_OK);
    CHECK_EQUAL(strlen(place), length);
    return place;
}

static inline sdd_cache_statistics counts_of(sdd_cache *cache)
{
    sdd_cache_statistics statistics = SDD_CACHE_STATISTICS_INIT;
    CHECK_STATUS(sdd_cache_get_statistics_wait(cache, &statistics), SDD_OK);
    CHECK(statistics.struct_size == sizeof statistics);
    return statistics;
}

/* ------------------------------------------------------------------------------------------ entries */

static inline sdd_bytes *fixture_bytes(const char *name)
{
    size_t size;
    uint8_t *file = fixture(name, &size);
    sdd_bytes *bytes = sdd_bytes_create(file, size);
    CHECK(bytes != NULL);
    free(file);
    return bytes;
}

static inline sdd_bytes *text_bytes(const char *text) { return sdd_bytes_create(text, strlen(text)); }

/* Returns an image as a download would deliver it: RGBA8, with its bytes. */
static inline sdd_image *fixture_image(const char *name)
{
    size_t size;
    uint8_t *file = fixture(name, &size);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_image_decode(file, size, NULL, &image), SDD_OK);
    free(file);
    return image;
}

static inline sdd_cache_item item_of(const char *key, sdd_image *image, sdd_bytes *bytes, int32_t levels)
{
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = key;
    item.image = image;
    item.bytes = bytes;
    item.levels = levels;
    return item;
}

/* Stores an entry and takes over the references. */
static inline void put(sdd_cache *cache, const char *key, sdd_image *image, sdd_bytes *bytes)
{
    sdd_cache_item item = item_of(key, image, bytes, SDD_CACHE_DEFAULT);
    CHECK_STATUS(sdd_cache_put_wait(cache, &item), SDD_OK);
    sdd_image_release(image);
    sdd_bytes_release(bytes);
}

static inline void put_text(sdd_cache *cache, const char *key, const char *text)
{
    put(cache, key, NULL, text_bytes(text));
}

static inline sdd_cache_query_options query_of(const char *key, int32_t levels, int32_t wants)
{
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    query.key = key;
    query.levels = levels;
    query.wants = wants;
    return query;
}

/* Looks up an entry. The outputs may be NULL; each is owned by the caller, and NULL after a failure, with origin
   SDD_ORIGIN_NONE. */
static inline sdd_status find(sdd_cache *cache, const sdd_cache_query_options *query, sdd_image **image,
                              sdd_bytes **bytes, sdd_bytes **extended, sdd_origin *origin)
{
    sdd_result *result = NULL;
    sdd_status status = sdd_cache_query_wait(cache, query, &result);
    if (result) {
        CHECK(result->struct_size == sizeof *result && result->token == 0 && result->is_terminal == 1);
        CHECK_STATUS(result->failure.status, status);
        CHECK_EQUAL(result->origin == SDD_ORIGIN_NONE, status != SDD_OK);
        CHECK_TEXT(result->url, query->key);
    }
    if (image) *image = result ? sdd_image_retain(result->image) : NULL;
    if (bytes) *bytes = result ? sdd_bytes_retain(result->bytes) : NULL;
    if (extended) *extended = result ? sdd_bytes_retain(result->extended) : NULL;
    if (origin) *origin = result ? result->origin : SDD_ORIGIN_NONE;
    sdd_result_release(result);
    return status;
}

static inline int is_text(sdd_bytes *bytes, const char *text)
{
    return bytes && sdd_bytes_size(bytes) == strlen(text) && memcmp(sdd_bytes_data(bytes), text, strlen(text)) == 0;
}

/* Looks up the bytes of a key on disk. NULL text stands for a miss. */
static inline void check_text(sdd_cache *cache, const char *key, const char *text)
{
    sdd_cache_query_options query = query_of(key, SDD_CACHE_DISK, SDD_WANT_BYTES);
    sdd_bytes *bytes = NULL;
    int32_t origin = -1;
    CHECK_STATUS(find(cache, &query, NULL, &bytes, NULL, &origin), text ? SDD_OK : SDD_ERROR_NOT_CACHED);
    if (text) {
        CHECK_EQUAL(origin, SDD_ORIGIN_DISK);
        CHECK(is_text(bytes, text));
    } else {
        CHECK(bytes == NULL);
    }
    sdd_bytes_release(bytes);
}

/* Looks up the image of a key on all levels. Returns one reference, or NULL for a miss. */
static inline sdd_image *find_image(sdd_cache *cache, const char *key, const sdd_decode_options *decode, int32_t origin)
{
    sdd_cache_query_options query = query_of(key, SDD_CACHE_DEFAULT, SDD_WANT_IMAGE);
    sdd_image *image = NULL;
    int32_t actual = -1;
    query.decode = decode;
    CHECK_STATUS(find(cache, &query, &image, NULL, NULL, &actual), SDD_OK);
    CHECK_EQUAL(actual, origin);
    CHECK(image != NULL);
    return image;
}

/* Whether memory or the application still holds the image of a key. */
static inline int is_in_memory(sdd_cache *cache, const char *key)
{
    sdd_image *image = sdd_cache_memory_image(cache, key);
    sdd_image_release(image);
    return image != NULL;
}

#endif

/*
 * Two versions of this library on one cache: an entry in another format version is a miss and not an error; it stays
 * unchanged until another entry is stored in its place.
 */
#include "drivers.h"

enum { VERSION_FROM_END = 12, VERSION_OF_PART = 8 }; /* offsets of the version: EntryTrailer.swift, PartFormat.swift */

/* Writes a number in network byte order into a file; negative offsets count from the end. */
static void put_version(const char *path, off_t offset, uint32_t expected, uint32_t version)
{
    int file = open(path, O_RDWR);
    uint8_t old[4], new[4] = { version >> 24, version >> 16 & 255, version >> 8 & 255, version & 255 };
    CHECK(file >= 0);
    off_t place = lseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET);
    CHECK(pread(file, old, 4, place) == 4);
    CHECK_EQUAL(old[0] << 24 | old[1] << 16 | old[2] << 8 | old[3], expected);
    CHECK(pwrite(file, new, 4, place) == 4);
    close(file);
}

static void check_untouched(const char *path, const uint8_t *before, size_t size)
{
    size_t now;
    uint8_t *after = read_whole(path, &now);
    CHECK(now == size && memcmp(before, after, size) == 0);
    free(after);
}

static void check_no_errors(sdd_cache *cache)
{
    sdd_cache_statistics counts = counts_of(cache);
    CHECK(counts.errors == 0 && counts.entries_damaged == 0 && counts.last_error == 0);
}

static void an_entry_of_another_version(uint32_t version)
{
    OWNED_CACHE c = open_default();
    CHECK_STATUS(put_numbered(c.cache, 1, 1, 5000), SDD_OK);
    CHECK_STATUS(put_numbered(c.cache, 2, 1, 5000), SDD_OK);
    const char *path = path_of(c.cache, key_of(1));
    put_version(path, -VERSION_FROM_END, 2, version);
    CHECK_STATUS(sdd_cache_destroy(c.cache), SDD_OK);
    c.cache = cache_at(c.folder);
    size_t size;
    uint8_t *before = read_whole(path, &size);
    int32_t file = -1;
    int64_t length;
    CHECK(!check_numbered(c.cache, 1) && check_numbered(c.cache, 2));
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, key_of(1), SDD_CACHE_DISK), 0);
    CHECK_STATUS(sdd_cache_open_wait(c.cache, key_of(1), &file, &length), SDD_ERROR_NOT_CACHED);
    check_trimmed(c.cache, c.folder);
    check_untouched(path, before, size);
    check_no_errors(c.cache);
    CHECK_STATUS(put_numbered(c.cache, 1, 2, 700), SDD_OK);
    CHECK(check_numbered(c.cache, 1));
    check_trimmed(c.cache, c.folder);
    check_no_errors(c.cache);
    free(before);
}

CASE(an_older_and_a_newer_entry)
{
    an_entry_of_another_version(0);
    an_entry_of_another_version(1);
    an_entry_of_another_version(3);
    an_entry_of_another_version(UINT32_MAX);
}

CASE(a_response_of_another_version_is_requested_again)
{
    const char *url = at("/ok?size=5000&header=Cache-Control:%20max-age=600");
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = downloader_with(c.cache);
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    put_version(path_of(c.cache, url), -VERSION_FROM_END, 2, 1);
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK(r.error == SDD_OK && r.origin == SDD_ORIGIN_NETWORK && is_body_of(r.bytes, url, 5000));
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    CHECK(r.error == SDD_OK && r.origin == SDD_ORIGIN_HTTP_FRESH && is_body_of(r.bytes, url, 5000));
    CHECK_EQUAL(requests_of("/ok"), 2);
    check_no_errors(c.cache);
}

CASE(a_part_of_another_version_starts_again)
{
    const char *url = at("/ranged?size=50000&cuts=20000");
    char path[1200];
    OWNED_CACHE c = open_default();
    OWNED_DOWNLOADER downloader = downloader_with(c.cache);
    OWNED_RECORD r = RECORD_INIT;
    for (int is_other = 0; is_other < 2; is_other++) {
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME);
        CHECK_ENDED(&r, SDD_ERROR_TRUNCATED_BODY, 0);
        wait_for_part(c.folder, path, sizeof path, 20000);
        if (is_other) put_version(path, VERSION_OF_PART, 2, 1);
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME);
        CHECK_ENDED(&r, is_other ? SDD_ERROR_TRUNCATED_BODY : SDD_OK, 0); /* cut again, because it started at 0 */
        if (!is_other) CHECK(is_body_of(r.bytes, url, 50000) && r.metrics.resumed_bytes == 20000);
        CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_DISK), SDD_OK);
        CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    }
    check_no_errors(c.cache);
}

int main(void)
{
    start_watchdog();
    order("/reset-stats");
    return run_cases();
}

/*
 * Each call that works on files fails once: the first, the second, and so on to the last (in the short form not all of
 * them). Downloads succeed all the same, stores succeed or report an error, and the next process that opens the cache
 * finds it valid.
 */
#include "drivers.h"

enum { NOT_REACHED = 10, NO_CACHE = 11 };

static int is_clean(sdd_status status) { return status == SDD_OK || status == SDD_ERROR_CACHE; }

/* ------------------------------------------------------------------------------------------- worker */

static void check_picture(sdd_downloader *downloader, const char *name, const char *pam, int number)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, atf("/file/png/%s?header=Cache-Control:%%20max-age=600&n=%d", name, number), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_image(r.image, pam);
}

static void check_resumed(sdd_downloader *downloader)
{
    const char *url = at("/ranged?size=30000&cuts=10000,20000");
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 6; i++) {
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME);
        if (r.error == SDD_OK) CHECK(is_body_of(r.bytes, url, 30000));
        else CHECK_STATUS(r.error, SDD_ERROR_TRUNCATED_BODY);
    }
}

static void use_cache(sdd_cache *cache)
{
    sdd_downloader *downloader = downloader_with(cache);
    check_picture(downloader, "rgb8.png", "png/rgb8.pam", 1);
    CHECK(is_clean(sdd_cache_flush_wait(cache, -1)));
    check_picture(downloader, "rgb8.png", "png/rgb8.pam", 1);
    check_picture(downloader, "rgb8.png", "png/rgb8.pam", 2);
    check_resumed(downloader);
    destroy(downloader);
    for (int number = 0; number < 4; number++) {
        sdd_status status = put_numbered(cache, number % 3, (uint32_t)number, 5000);
        CHECK(is_clean(status));
        CHECK(status == SDD_OK || last_detail() != 0);
    }
    /* A failed removal is reported, and the entry is still there. */
    sdd_status removal = sdd_cache_remove_wait(cache, key_of(2), SDD_CACHE_DISK);
    CHECK(removal == SDD_OK || removal == SDD_ERROR_CACHE);
    CHECK(removal != SDD_OK || !check_numbered(cache, 2));
    CHECK(is_clean(sdd_cache_trim_disk_wait(cache)));
    for (int number = 0; number < 3; number++) check_numbered(cache, number);
    int32_t file = -1;
    int64_t size = -1;
    sdd_status status = sdd_cache_open_wait(cache, key_of(0), &file, &size);
    CHECK((status == SDD_OK && file >= 0) || status == SDD_ERROR_NOT_CACHED);
    if (file >= 0) close(file);
}

static int use_all(const char *folder)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *cache = NULL;
    config.directory = folder;
    config.sync = SDD_SYNC_FULL;
    int (*has_failed)(void) = (int (*)(void))calls_function("calls_failed");
    CHECK(has_failed != NULL);
    arm_calls();
    sdd_status status = sdd_cache_create(&config, &cache);
    if (status == SDD_ERROR_CACHE) {
        CHECK(last_detail() / 100 == SDD_ERROR_CACHE && cache == NULL && has_failed());
        return NO_CACHE;
    }
    CHECK_STATUS(status, SDD_OK);
    use_cache(cache);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    return has_failed() ? 0 : NOT_REACHED;
}

/* --------------------------------------------------------------------------------------------- runs */

static void check_afterwards(const char *folder)
{
    sdd_cache *cache = cache_at(folder);
    for (int number = 0; number < 3; number++) check_numbered(cache, number);
    check_trimmed(cache, folder);
    CHECK_EQUAL(counts_of(cache).errors, 0);
    CHECK_STATUS(put_numbered(cache, 5, 5, 5000), SDD_OK);
    CHECK(check_numbered(cache, 5));
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

static void fail_each(const char *kind, int error)
{
    int without = 0, status, turn = 1, count = 0, step = amount(strcmp(kind, "open") == 0 ? 5 : 2, 1);
    for (;; turn += step, count++) {
        char folder[600], variable[64];
        snprintf(folder, sizeof folder, "%s/deep", new_folder());
        snprintf(variable, sizeof variable, "CALLS_FAIL=%s %d %d", kind, turn, error);
        worker w = START(VARIABLES(variable), "use", folder);
        int ended = end_of(&w);
        status = WEXITSTATUS(ended);
        without += status == NO_CACHE;
        if (WIFSIGNALED(ended) || (status != 0 && status != NOT_REACHED && status != NO_CACHE))
            FAIL("%s: the worker ended with %d, signal %d", variable, status, WTERMSIG(ended));
        check_afterwards(folder);
        *strrchr(folder, '/') = 0;
        remove_folder(folder);
        if (status == NOT_REACHED) break;
    }
    CHECK(count > 1);
    printf("%s, %s: %d calls failed, %d times the cache could not be opened\n", kind, strerror(error), count, without);
}

CASE(each_call_fails_once)
{
    static const char *const kinds[] = { "open", "mkdir", "write", "rename", "unlink", "sync", "flock", "cut" };
    static const int errors[] = { EACCES, ENOSPC, ENOSPC, EIO, EACCES, EIO, ENOLCK, EIO };
    static const int more[] = { ENOSPC, EIO, EMFILE, EACCES };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        fail_each(kinds[i], errors[i]);
        for (int j = 0; j < amount(0, 4); j++) fail_each(kinds[i], more[j]);
    }
}

int main(int count, char **words)
{
    start_watchdog();
    if (count == 3 && strcmp(words[1], "use") == 0) return use_all(words[2]);
    return run_cases();
}

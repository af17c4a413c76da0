/*
 * Disks that are full, out of inodes, read-only, or not writable for this user: pictures are delivered all the same,
 * errors are counted, and the cache works again when the disk does. Uses small file systems of its own, in a namespace
 * that run.sh makes.
 */
#include "drivers.h"

#include <sys/mount.h>

static const char *const picture = "/file/large/baseline.jpg?header=Cache-Control:%20max-age=600";

static char mounted[512], folder[600];

/* Mounts a new file system, with a folder for a cache in it. */
static void mount_new(const char *options)
{
    snprintf(mounted, sizeof mounted, "%s", new_folder());
    snprintf(folder, sizeof folder, "%s/cache", mounted);
    if (mount("tmpfs", mounted, "tmpfs", 0, options) != 0) FAIL("cannot mount a tmpfs: %s", strerror(errno));
    CHECK(chmod(mounted, 0755) == 0);
}

static void unmount(void)
{
    if (umount(mounted) != 0) FAIL("something still uses the file system: %s", strerror(errno));
    CHECK(rmdir(mounted) == 0);
}

/* Fills the disk except for so many bytes. */
static void fill_space(int64_t left)
{
    char path[600];
    static char zeros[4096];
    snprintf(path, sizeof path, "%s/ballast", mounted);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(file >= 0);
    int64_t size = 0;
    while (write(file, zeros, sizeof zeros) > 0) size += (int64_t)sizeof zeros;
    CHECK_EQUAL(errno, ENOSPC);
    CHECK(size > left && ftruncate(file, size - left) == 0);
    close(file);
}

static void free_space(void)
{
    char path[600];
    snprintf(path, sizeof path, "%s/ballast", mounted);
    CHECK(unlink(path) == 0);
}

static void check_errors(sdd_cache *cache, int expected_errno)
{
    sdd_cache_statistics counts = counts_of(cache);
    CHECK(counts.errors > 0);
    CHECK_EQUAL(counts.last_error, expected_errno);
}

/* Uses a new URL each time, so that nothing is cached. */
static void check_picture_comes(sdd_downloader *downloader, int number, int32_t origin)
{
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, atf("%s&n=%d", picture, number), SDD_OPTION_RESUME);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, origin);
    size_t size;
    uint8_t *file = fixture("large/baseline.jpg", &size);
    CHECK(r.image && sdd_bytes_size(r.bytes) == size && memcmp(sdd_bytes_data(r.bytes), file, size) == 0);
    free(file);
}

static void check_usable(sdd_cache *cache, sdd_downloader *downloader, int number)
{
    sdd_cache_flush_wait(cache, -1); /* tells what has failed before */
    check_picture_comes(downloader, number, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(sdd_cache_flush_wait(cache, -1), SDD_OK);
    check_picture_comes(downloader, number, SDD_ORIGIN_HTTP_FRESH);
    CHECK_STATUS(put_numbered(cache, 99, 1, 5000), SDD_OK);
    CHECK(check_numbered(cache, 99));
    check_trimmed(cache, folder);
}

/* ------------------------------------------------------------------------------------------- space */

CASE(a_full_disk_while_storing)
{
    int count = 0;
    mount_new("size=1m");
    sdd_cache *cache = cache_at(folder);
    sdd_downloader *downloader = downloader_with(cache);
    while (put_numbered(cache, count, 7, 50000) == SDD_OK) count++;
    CHECK_EQUAL(last_detail() / 100, SDD_ERROR_CACHE);
    CHECK(count > 10 && count < 22);
    check_errors(cache, ENOSPC);
    for (int number = 0; number < count; number++) CHECK(check_numbered(cache, number));
    CHECK(!check_numbered(cache, count));
    /* An entry that cannot be replaced goes: it is outdated. */
    CHECK_STATUS(put_numbered(cache, 3, 8, 90000), SDD_ERROR_CACHE);
    CHECK(!check_numbered(cache, 3));
    /* The memory level still stores it. */
    sdd_image *image = fixture_image("large/baseline.jpg");
    sdd_cache_item item = item_of(KEY, image, NULL, SDD_CACHE_ALL);
    fill_space(0);
    CHECK_STATUS(sdd_cache_put_wait(cache, &item), SDD_ERROR_CACHE);
    CHECK(is_in_memory(cache, KEY));
    sdd_image_release(image);
    CHECK_EQUAL(tally_of(folder).temporaries, 0);
    free_space();
    for (int number = 0; number < count / 2; number++)
        CHECK_STATUS(sdd_cache_remove_wait(cache, key_of(number), SDD_CACHE_DISK), SDD_OK);
    CHECK_STATUS(sdd_cache_flush_wait(cache, -1), SDD_ERROR_CACHE);
    check_usable(cache, downloader, 0);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    unmount();
}

CASE(a_full_disk_while_downloading)
{
    mount_new("size=1m");
    sdd_cache *cache = cache_at(folder);
    sdd_downloader *downloader = downloader_with(cache);
    for (int64_t left = 0; left <= 12288; left += 4096) {
        fill_space(left);
        check_picture_comes(downloader, (int)left, SDD_ORIGIN_NETWORK);
        CHECK_STATUS(sdd_cache_flush_wait(cache, -1), SDD_ERROR_CACHE);
        check_errors(cache, ENOSPC);
        free_space();
    }
    CHECK_EQUAL(tally_of(folder).temporaries, 0);
    check_usable(cache, downloader, 1);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    unmount();
}

CASE(a_disk_that_was_full_from_the_start)
{
    mount_new("size=1m");
    fill_space(0);
    sdd_cache *cache = cache_at(folder);
    sdd_downloader *downloader = downloader_with(cache);
    check_picture_comes(downloader, 1, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(put_numbered(cache, 1, 1, 5000), SDD_ERROR_CACHE);
    check_errors(cache, ENOSPC);
    free_space();
    check_usable(cache, downloader, 2);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    unmount();
}

/* With only a few inodes there may be no ledger: then the cache counts the files itself. */
static void check_inodes(int inodes, int least)
{
    int count = 0;
    char options[64];
    snprintf(options, sizeof options, "size=4m,nr_inodes=%d", inodes);
    mount_new(options);
    sdd_cache *cache = cache_at(folder);
    sdd_downloader *downloader = downloader_with(cache);
    while (put_numbered(cache, count, 1, 2000) == SDD_OK) count++;
    CHECK(count > least && count < inodes);
    check_errors(cache, ENOSPC);
    for (int number = 0; number < count; number++) CHECK(check_numbered(cache, number));
    check_picture_comes(downloader, 1, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(sdd_cache_clear_wait(cache, SDD_CACHE_DISK), SDD_OK);
    CHECK_STATUS(sdd_cache_flush_wait(cache, -1), SDD_ERROR_CACHE);
    check_usable(cache, downloader, 2);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    unmount();
}

CASE(no_inodes_left)
{
    check_inodes(24, 8);
    check_inodes(12, 1);
}

/* -------------------------------------------------------------------------------------- permission */

CASE(a_disk_that_has_become_read_only)
{
    mount_new("size=1m");
    sdd_cache *cache = cache_at(folder);
    CHECK_STATUS(put_numbered(cache, 1, 1, 5000), SDD_OK);
    sdd_downloader *downloader = downloader_with(cache);
    check_picture_comes(downloader, 1, SDD_ORIGIN_NETWORK);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    CHECK(mount(NULL, mounted, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    cache = cache_at(folder);
    downloader = downloader_with(cache);
    CHECK(check_numbered(cache, 1));
    check_picture_comes(downloader, 1, SDD_ORIGIN_HTTP_FRESH);
    check_picture_comes(downloader, 2, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(put_numbered(cache, 2, 1, 5000), SDD_ERROR_CACHE);
    check_errors(cache, EROFS);
    CHECK(mount(NULL, mounted, NULL, MS_REMOUNT, "size=1m") == 0);
    check_usable(cache, downloader, 3);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    unmount();
}

enum { NOBODY = 65534 };

/* Continues as another user, to whom permissions apply. */
static int be_without_permission(const char *mode)
{
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) return 77; /* the user namespace has only one user */
    sdd_cache *cache = NULL;
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = getenv("SDD_TEST_CACHE");
    sdd_status status = sdd_cache_create(&config, &cache);
    if (strcmp(mode, "closed") == 0) {
        CHECK_STATUS(status, SDD_ERROR_CACHE);
        CHECK(cache == NULL && last_detail() / 100 == SDD_ERROR_CACHE);
        return 0;
    }
    CHECK_STATUS(status, SDD_OK);
    sdd_downloader *downloader = downloader_with(cache);
    check_picture_comes(downloader, 7, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(put_numbered(cache, 1, 1, 5000), SDD_ERROR_CACHE);
    check_errors(cache, EACCES);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    return 0;
}

static void check_as_nobody(const char *mode)
{
    char variable[700];
    snprintf(variable, sizeof variable, "SDD_TEST_CACHE=%s", folder);
    worker w = START(VARIABLES(variable), "nobody", mode);
    int status = end_of(&w);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        printf("skipped: there is no second user in this namespace\n");
    else
        CHECK_EQUAL(status, 0);
}

CASE(directories_without_permission)
{
    mount_new("size=1m");
    CHECK(mkdir(folder, 0755) == 0);
    check_as_nobody("closed"); /* the folder of another user */
    char name[700];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, i ? "locks" : "parts");
        CHECK(mkdir(name, 0500) == 0);
        if (chown(name, NOBODY, NOBODY) != 0) break;
    }
    if (chown(folder, NOBODY, NOBODY) == 0) {
        CHECK(chmod(folder, 0500) == 0);
        check_as_nobody("cannot write");
        CHECK(chmod(folder, 0) == 0);
        check_as_nobody("closed");
    }
    unmount();
}

int main(int count, char **words)
{
    start_watchdog();
    if (count == 3 && strcmp(words[1], "nobody") == 0) return be_without_permission(words[2]);
    return run_cases();
}

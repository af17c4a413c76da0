/* Faults around a cache: arguments, folders, files. Each has its own error, a damaged entry is a miss, and nothing
   crashes, hangs, or writes outside the folder. */
#include "caches.h"

/* A NULL that the compiler cannot see, for arguments that must not be NULL. */
static void *volatile none = NULL;

/* --------------------------------------------------------------------------- the shared cache, first */

/* Without a usable folder the shared cache has memory alone. XDG_CACHE_HOME is read when the cache is made, so this
   case is the first. */
CASE(the_shared_cache_works_without_its_folder)
{
    char file[512], text[64];
    snprintf(file, sizeof file, "%s", new_folder());
    remove_folder(file);
    write_whole(file, "no folder", 9);
    CHECK(setenv("XDG_CACHE_HOME", file, 1) == 0);
    CHECK(sdd_cache_shared() != NULL && sdd_cache_shared() == sdd_cache_shared());
    CHECK_STATUS(sdd_cache_path(NULL, KEY, text, sizeof text, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(counts_of(NULL).last_error, ENOTDIR);
    put(NULL, KEY, fixture_image("png/rgb8.png"), NULL);
    CHECK(is_in_memory(NULL, KEY) && is_in_memory(sdd_cache_shared(), KEY));
    CHECK_STATUS(sdd_cache_clear_wait(NULL, SDD_CACHE_ALL), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cache_destroy(sdd_cache_shared()), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(unlink(file) == 0);
}

/* --------------------------------------------------------------------------------------- arguments */

CASE(m19_previews_and_partial_images_are_refused)
{
    OWNED_CACHE c = open_default();
    size_t size;
    uint8_t *whole = fixture("png/rgb8.png", &size);
    sdd_decode_options lenient = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    lenient.damage = SDD_DAMAGE_KEEP_REST;
    CHECK_STATUS(sdd_image_decode(whole, size * 7 / 10, &lenient, &image), SDD_OK);
    CHECK(image_info(image).good_rows < sdd_image_height(image));
    sdd_bytes *bytes = sdd_bytes_create(whole, size);
    for (int has_bytes = 0; has_bytes < 2; has_bytes++) {
        sdd_cache_item item = item_of(KEY, image, has_bytes ? bytes : NULL, SDD_CACHE_ALL);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_INVALID_ARGUMENT);
        CHECK(strstr(sdd_last_error_message(), "sdd_cache_item.image") != NULL);
        CHECK_REFUSED(sdd_cache_put(c.cache, NULL, &item), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), 0);
    }
    sdd_bytes_release(bytes);
    /* Nor is what was made of one. */
    sdd_transform flip = SDD_TRANSFORM_INIT;
    sdd_animation_frame frame = SDD_ANIMATION_FRAME_INIT;
    sdd_image *made[2] = { NULL, NULL };
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    frame.image = image;
    CHECK_STATUS(sdd_image_transform(image, &flip, 1, &made[0]), SDD_OK);
    CHECK_STATUS(sdd_image_create_animation(&frame, 1, 0, &made[1]), SDD_OK);
    for (int i = 0; i < 2; i++) {
        CHECK(image_info(made[i]).is_partial == 1 && image_info(made[i]).good_rows == 0);
        sdd_cache_item item = item_of(KEY, made[i], NULL, SDD_CACHE_ALL);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_INVALID_ARGUMENT);
        sdd_image_release(made[i]);
    }
    sdd_image_release(image);
    free(whole);
}

CASE(unknown_values_are_refused)
{
    OWNED_CACHE c = open_default();
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_ALL, SDD_WANT_IMAGE);
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    uint8_t pixels[64];
    put_text(c.cache, KEY, "stays");
    query.options = SDD_OPTION_USE_HTTP_CACHE; /* not an option of queries */
    CHECK(find(c.cache, &query, NULL, NULL, NULL, NULL) != SDD_OK);
    decode.fit = 9;
    CHECK_STATUS(sdd_cache_key(c.cache, KEY, &decode, NULL, 0, NULL, 0, NULL), SDD_ERROR_INVALID_ARGUMENT);
    decode.fit = 0;
    decode.pixels = pixels;
    decode.pixels_size = sizeof pixels;
    CHECK_STATUS(sdd_cache_key(c.cache, KEY, &decode, NULL, 0, NULL, 0, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cache_path(c.cache, KEY, none, 10, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cache_set_memory_limits(c.cache, 0, INT64_MIN), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_set_offline(NULL, -1), SDD_ERROR_INVALID_ARGUMENT);
    check_text(c.cache, KEY, "stays");
}

CASE(items_that_cannot_be_stored)
{
    OWNED_CACHE c = open_default();
    sdd_cache_item item = item_of(KEY, NULL, NULL, SDD_CACHE_DEFAULT);
    CHECK_FAILS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_CACHE, SDD_DETAIL_CACHE_NOTHING);
    CHECK_EQUAL(counts_of(c.cache).disk_count, 0);
}

CASE(bad_keys_are_refused_and_odd_keys_work)
{
    static const char *const bad[] = { NULL, "", "\xff", "\xc0\x80", "\xed\xa0\x80" };
    static const char *const odd[] = {
        "../../up", "/etc/passwd", "a/../../b.png", ".", "..", "https://host/a.p:n/g", "https://host/.hidden",
        "https://host/x.\x01", "name.\\", "C:\\a.png", "\n", " ", "https://host/%00.png", "https://host/a.%2e%2e%2fb",
    };
    OWNED_CACHE c = open_default();
    OWNED_BYTES bytes = text_bytes("text");
    size_t folder = strlen(c.folder);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sdd_cache_item item = item_of(bad[i], NULL, bytes, SDD_CACHE_DISK);
        sdd_cache_query_options query = query_of(bad[i], SDD_CACHE_ALL, SDD_WANT_BYTES);
        CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_INVALID_ARGUMENT);
        CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_ERROR_INVALID_ARGUMENT);
        if (bad[i]) CHECK_STATUS(sdd_cache_remove_wait(c.cache, bad[i], SDD_CACHE_ALL), SDD_ERROR_INVALID_ARGUMENT);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        put_text(c.cache, odd[i], odd[i]);
        check_text(c.cache, odd[i], odd[i]);
        const char *path = path_of(c.cache, odd[i]);
        CHECK(strncmp(path, c.folder, folder) == 0 && strstr(path + folder, "..") == NULL);
        CHECK(access(path, F_OK) == 0 && strchr(name_of(path), ':') == NULL);
    }
}

CASE(a_key_has_a_longest_length)
{
    OWNED_CACHE c = open_default();
    char *key = calloc(1, 65538);
    sdd_bytes *bytes = text_bytes("x");
    memset(key, 'k', 65537);
    sdd_cache_item item = item_of(key, NULL, bytes, SDD_CACHE_DISK);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_INVALID_ARGUMENT);
    key[65536] = 0;
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    check_text(c.cache, key, "x");
    sdd_bytes_release(bytes);
    free(key);
}

/* ----------------------------------------------------------------------------------------- configs */

static void freed_for_nothing(void *user_data)
{
    (void)user_data;
    FAIL("user data of a cache that was not made is freed");
}

CASE(a_name_is_a_folder_of_the_users_caches)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    char home[512], expected[600];
    snprintf(home, sizeof home, "%s", new_folder());
    config.name = "of a name";
    for (int i = 0; i < 2; i++) {
        if (i == 0) CHECK(setenv("XDG_CACHE_HOME", home, 1) == 0);
        if (i == 1) CHECK(unsetenv("XDG_CACHE_HOME") == 0 && setenv("HOME", home, 1) == 0);
        snprintf(expected, sizeof expected, "%s%s/sdd/of a name/", home, i ? "/.cache" : "");
        sdd_cache *cache = make_cache(&config);
        CHECK(strncmp(path_of(cache, KEY), expected, strlen(expected)) == 0);
        put_text(cache, KEY, "there");
        CHECK(access(path_of(cache, KEY), F_OK) == 0);
        CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    }
    remove_folder(home);
}

/* ----------------------------------------------------------------------------------------- folders */

static void check_no_cache(const char *folder, int32_t expected)
{
    sdd_failure failure;
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *cache = (sdd_cache *)&config;
    config.directory = folder;
    config.user_data_free = freed_for_nothing;
    CHECK_FAILS(sdd_cache_create(&config, &cache), SDD_ERROR_CACHE, expected);
    CHECK(cache == NULL && sdd_last_error(&failure) == SDD_ERROR_CACHE);
    CHECK((failure.system_error != 0) == (expected == SDD_DETAIL_CACHE_DIRECTORY));
}

CASE(bad_and_unsafe_folders_are_refused)
{
    char folder[512], inside[600];
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(inside, sizeof inside, "%s/file", folder);
    write_whole(inside, "x", 1);
    check_no_cache(inside, SDD_DETAIL_CACHE_DIRECTORY);
    CHECK(chmod(folder, 0702) == 0);
    check_no_cache(folder, SDD_DETAIL_CACHE_UNSAFE);
    CHECK_EQUAL(mode_of(folder), 0702);
    CHECK(chmod(folder, 0700) == 0);
    CHECK(unlink(inside) == 0);
    snprintf(inside, sizeof inside, "%s/0123456789abcdef0123456789abcdef.png", folder);
    write_whole(inside, "a picture", 9);
    check_no_cache(folder, SDD_DETAIL_CACHE_FOREIGN);
    CHECK(access(inside, F_OK) == 0);
    remove_folder(folder);
}

CASE(a_relative_folder_means_the_same_after_chdir)
{
    char folder[512], elsewhere[600], before[512];
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    CHECK(getcwd(before, sizeof before) != NULL && chdir(folder) == 0 && mkdir(elsewhere, 0700) == 0);
    config.levels = SDD_CACHE_DISK;
    config.directory = "cache";
    sdd_cache *c = make_cache(&config);
    CHECK(chdir(elsewhere) == 0);
    put(c, KEY, fixture_image("png/rgb8.png"), NULL);
    CHECK_STATUS(sdd_cache_trim_disk_wait(c), SDD_OK);
    CHECK_EQUAL(counts_of(c).disk_count, 1);
    CHECK(access("cache", F_OK) != 0);
    CHECK_STATUS(sdd_cache_destroy(c), SDD_OK);
    CHECK(chdir(before) == 0);
    remove_folder(folder);
}

/* ------------------------------------------------------------------------------------------- damage */

/* -------------------------------------------------------------------------- other things than files */

static void check_all_miss(sdd_cache *cache)
{
    int32_t descriptor = 7;
    int64_t size;
    check_text(cache, KEY, NULL);
    CHECK_EQUAL(sdd_cache_contains_wait(cache, KEY, SDD_CACHE_DISK), 0);
    CHECK_STATUS(sdd_cache_open_wait(cache, KEY, &descriptor, &size), SDD_ERROR_NOT_CACHED);
    CHECK_EQUAL(descriptor, -1);
}

CASE(a_damaged_byte_is_a_miss)
{
    OWNED_CACHE c = open_default();
    size_t size;
    put_text(c.cache, KEY, "of no picture");
    uint8_t *file = read_whole(path_of(c.cache, KEY), &size);
    file[3] ^= 8;
    write_whole(path_of(c.cache, KEY), file, size);
    check_all_miss(c.cache);
    CHECK(counts_of(c.cache).entries_damaged >= 1);
    free(file);
}

/* Returns the path of a key's file. Its folder may not exist yet. */
static const char *place_for(sdd_cache *cache)
{
    put_text(cache, KEY, "first");
    CHECK_STATUS(sdd_cache_remove_wait(cache, KEY, SDD_CACHE_ALL), SDD_OK);
    CHECK_STATUS(sdd_cache_flush_wait(cache, -1), SDD_OK);
    return path_of(cache, KEY);
}

CASE(a_symlink_is_not_followed)
{
    cache_in_folder c = open_default(), other = open_default();
    struct stat status;
    char target[600];
    put_text(other.cache, KEY, "elsewhere"); /* valid, but in the wrong place */
    snprintf(target, sizeof target, "%s", path_of(other.cache, KEY));
    const char *place = place_for(c.cache);
    CHECK(symlink(target, place) == 0);
    check_all_miss(c.cache);
    unlink(place); /* the library may have removed it */
    CHECK(symlink(target, place) == 0);
    put_text(c.cache, KEY, "in its place");
    check_text(c.cache, KEY, "in its place");
    CHECK(lstat(path_of(c.cache, KEY), &status) == 0 && S_ISREG(status.st_mode));
    check_text(other.cache, KEY, "elsewhere");
    close_cache(&c);
    close_cache(&other);
}

CASE(a_removed_folder_is_made_again)
{
    cache_in_folder c = open_default();
    put_text(c.cache, "before", "that");
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    /* The cache may be writing its ledger meanwhile, so files are removed until the folder stays empty. */
    for (int i = 0; access(c.folder, F_OK) == 0; i++) {
        CHECK(i < 1000);
        nftw(c.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    check_text(c.cache, "before", NULL);
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_DISK), SDD_OK);
    CHECK(access(c.folder, F_OK) != 0); /* only a store makes it again */
    put_text(c.cache, KEY, "after that");
    check_text(c.cache, KEY, "after that");
    CHECK(access(path_of(c.cache, KEY), F_OK) == 0 && mode_of(c.folder) == 0700);
    CHECK_EQUAL(counts_of(c.cache).disk_count, 1);
    sdd_cache *other = cache_at(c.folder);
    check_text(other, KEY, "after that");
    CHECK_STATUS(sdd_cache_destroy(other), SDD_OK);
    close_cache(&c);
}

/* ------------------------------------------------------------------------------------------- limits */

CASE(an_entry_that_cannot_be_written_leaves_no_older_one)
{
    OWNED_CACHE c = open_default();
    sdd_cache_item item = item_of(KEY, NULL, fixture_bytes("large/rows.png"), SDD_CACHE_DISK);
    put_text(c.cache, KEY, "the first version");
    struct rlimit old = forbid_large_files();
    sdd_status status = sdd_cache_put_wait(c.cache, &item);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_STATUS(status, SDD_ERROR_CACHE);
    check_text(c.cache, KEY, NULL);
    CHECK(access(path_of(c.cache, KEY), F_OK) != 0);
    sdd_bytes_release(item.bytes);
}

CASE(an_entry_that_cannot_be_written_is_in_memory)
{
    OWNED_CACHE c = open_default();
    sdd_cache_item item = item_of(KEY, fixture_image("large/rows.png"), NULL, SDD_CACHE_ALL);
    struct rlimit old = forbid_large_files();
    sdd_status status = sdd_cache_put_wait(c.cache, &item);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_FAILS(status, SDD_ERROR_CACHE, SDD_DETAIL_CACHE_WRITE);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_MEMORY);
    CHECK(counts_of(c.cache).errors >= 1);
    CHECK_EQUAL(counts_of(c.cache).last_error, EFBIG);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK); /* the cache continues to work */
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_ALL);
    sdd_image_release(item.image);
}

CASE(an_entry_larger_than_the_cache_is_refused)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.max_disk_bytes = 10000;
    OWNED_CACHE c = open_cache(config);
    uint8_t zeros[20000] = { 0 };
    OWNED_BYTES bytes = sdd_bytes_create(zeros, sizeof zeros);
    sdd_cache_item item = item_of(KEY, NULL, bytes, SDD_CACHE_DISK);
    CHECK_FAILS(sdd_cache_put_wait(c.cache, &item), SDD_ERROR_CACHE, SDD_DETAIL_CACHE_TOO_LARGE);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), 0);
    CHECK_STATUS(sdd_cache_set_disk_limits(c.cache, -1, 0), SDD_OK);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
}

int main(void) { return run_cases(); }

/* The basic promise of a cache: stored entries are found again, in memory and on disk, unchanged, without the
   network. */
#include "caches.h"

/* ------------------------------------------------------------------------------- stored and found */

CASE(an_image_is_found_in_memory_and_then_on_disk)
{
    OWNED_CACHE c = open_default();
    sdd_image *stored = fixture_image("png/rgb8.png");
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), 0);
    put(c.cache, KEY, sdd_image_retain(stored), NULL);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_DEFAULT), SDD_CACHE_ALL);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_MEMORY), SDD_CACHE_MEMORY);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_DISK), SDD_CACHE_DISK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY "?", SDD_CACHE_ALL), 0);
    sdd_image *found = find_image(c.cache, KEY, NULL, SDD_ORIGIN_MEMORY);
    CHECK(found == stored);
    sdd_image_release(stored);
    sdd_image_release(found);
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_DISK);
    CHECK(!is_in_memory(c.cache, KEY));
    found = find_image(c.cache, KEY, NULL, SDD_ORIGIN_DISK);
    check_image(found, "png/rgb8.pam");
    sdd_image_release(found);
    found = find_image(c.cache, KEY, NULL, SDD_ORIGIN_MEMORY); /* stored in memory again */
    check_image(found, "png/rgb8.pam");
    sdd_image_release(found);
}

CASE(the_next_cache_in_the_folder_finds_an_entry)
{
    OWNED_CACHE c = open_default();
    put_text(c.cache, KEY, "kept");
    CHECK_STATUS(sdd_cache_destroy(c.cache), SDD_OK);
    c.cache = cache_at(c.folder);
    check_text(c.cache, KEY, "kept");
    put_text(c.cache, KEY, "in its place");
    check_text(c.cache, KEY, "in its place");
    CHECK_EQUAL(counts_of(c.cache).disk_count, 1);
}

CASE(bytes_and_extended_come_as_they_were_given)
{
    OWNED_CACHE c = open_default();
    sdd_bytes *picture = fixture_bytes("jpeg/baseline-420.jpg"), *bytes = NULL, *extended = NULL;
    sdd_cache_item item = item_of(KEY, fixture_image("jpeg/baseline-420.jpg"), picture, SDD_CACHE_ALL);
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_ALL, SDD_WANT_BYTES);
    sdd_image *image = (sdd_image *)&item;
    int32_t origin = -1;
    item.extended = sdd_bytes_create("any\0bytes", 9);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    /* The bytes come from the disk although the image is in memory. */
    CHECK_STATUS(find(c.cache, &query, &image, &bytes, &extended, &origin), SDD_OK);
    CHECK(image == NULL && origin == SDD_ORIGIN_DISK && sdd_bytes_size(bytes) == sdd_bytes_size(picture));
    CHECK(memcmp(sdd_bytes_data(bytes), sdd_bytes_data(picture), sdd_bytes_size(picture)) == 0);
    CHECK(sdd_bytes_size(extended) == 9 && memcmp(sdd_bytes_data(extended), "any\0bytes", 9) == 0);
    sdd_bytes_release(bytes);
    sdd_bytes_release(extended);
    query.wants = SDD_WANT_BOTH;
    CHECK_STATUS(find(c.cache, &query, &image, &bytes, NULL, NULL), SDD_OK);
    CHECK(sdd_image_width(image) == 37 && sdd_bytes_size(bytes) == sdd_bytes_size(picture));
    sdd_image_release(image);
    sdd_bytes_release(bytes);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_OK); /* only whether the entry exists */
    put(c.cache, KEY, NULL, text_bytes("no picture, and nothing of the host's"));
    query = query_of(KEY, SDD_CACHE_DISK, SDD_WANT_BYTES);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, &extended, NULL), SDD_OK);
    CHECK(extended == NULL);
    query.wants = SDD_WANT_IMAGE;
    CHECK_STATUS(find(c.cache, &query, &image, NULL, NULL, NULL), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK(image == NULL);
    sdd_image_release(item.image);
    sdd_bytes_release(item.extended);
    sdd_bytes_release(picture);
}

/* Returns the format of a key's file, by its first bytes. */
static int32_t format_of(sdd_cache *cache, const char *key)
{
    size_t size;
    uint8_t *file = read_whole(path_of(cache, key), &size);
    int32_t format = sdd_image_sniff(file, size);
    free(file);
    return format;
}

CASE(an_image_without_bytes_is_encoded)
{
    OWNED_CACHE c = open_default();
    OWNED_BYTES picture = fixture_bytes("png/rgb8.png");
    put(c.cache, "translucent", image_of("encoded/glass.pam"), NULL);
    put(c.cache, "opaque", image_of("encoded/opaque.pam"), NULL);
    put(c.cache, "decoded", fixture_image("png/rgb8.png"), NULL);
    CHECK_EQUAL(format_of(c.cache, "translucent"), SDD_IMAGE_FORMAT_PNG);
    CHECK_EQUAL(format_of(c.cache, "opaque"), SDD_IMAGE_FORMAT_JPEG);
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
    sdd_image *image = find_image(c.cache, "translucent", NULL, SDD_ORIGIN_DISK);
    check_image(image, "encoded/glass.pam"); /* a PNG is lossless */
    sdd_image_release(image);
    /* The entry has the bytes that the image was decoded from. */
    size_t size;
    uint8_t *file = read_whole(path_of(c.cache, "decoded"), &size);
    CHECK(size >= sdd_bytes_size(picture) && memcmp(file, sdd_bytes_data(picture), sdd_bytes_size(picture)) == 0);
    free(file);
}

/* What a cache keeps outlives the memory that the application has lent for one image. */
CASE(z15_an_image_in_lent_memory_is_copied)
{
    static const sdd_pixel_format formats[] = { SDD_PIXEL_FORMAT_RGBA8, SDD_PIXEL_FORMAT_RGB8_PLANAR };
    OWNED_CACHE c = open_default();
    OWNED_BYTES picture = fixture_bytes("png/rgb8.png");
    for (int i = 0; i < 2; i++) {
        static uint8_t lent[19 * 13 * 4];
        sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
        sdd_image *expected = NULL, *image = NULL;
        decode.pixel_format = formats[i];
        decode.colour = SDD_COLOUR_SRGB;
        CHECK_STATUS(sdd_image_decode(sdd_bytes_data(picture), sdd_bytes_size(picture), &decode, &expected), SDD_OK);
        decode.pixels = lent;
        decode.pixels_size = sizeof lent;
        CHECK_STATUS(sdd_image_decode(sdd_bytes_data(picture), sdd_bytes_size(picture), &decode, &image), SDD_OK);
        CHECK(sdd_image_pixels(image) == lent);
        put(c.cache, KEY, image, NULL);
        memset(lent, 0, sizeof lent);
        image = sdd_cache_memory_image(c.cache, KEY);
        CHECK_EQUAL(image_info(image).pixels_size, image_info(expected).pixels_size);
        CHECK(memcmp(sdd_image_pixels(image), sdd_image_pixels(expected), image_info(expected).pixels_size) == 0);
        CHECK(image_info(image).format == SDD_IMAGE_FORMAT_PNG && sdd_image_bytes(image) != NULL);
        sdd_image_release(expected);
        sdd_image_release(image);
    }
}

CASE(the_levels_are_separate)
{
    OWNED_CACHE c = open_default();
    sdd_cache_item item = item_of("memory", fixture_image("png/rgb8.png"), NULL, SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    item.key = "disk";
    item.levels = SDD_CACHE_DISK;
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    sdd_image_release(item.image);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "memory", SDD_CACHE_ALL), SDD_CACHE_MEMORY);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "disk", SDD_CACHE_ALL), SDD_CACHE_DISK);
    sdd_cache_query_options query = query_of("memory", SDD_CACHE_DISK, SDD_WANT_IMAGE);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_ERROR_NOT_CACHED);
    query = query_of("disk", SDD_CACHE_MEMORY, SDD_WANT_IMAGE);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_ERROR_NOT_CACHED);
}

CASE(a_cache_of_one_level_has_no_other)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    char path[64];
    config.levels = SDD_CACHE_MEMORY;
    sdd_cache *cache = make_cache(&config);
    put(cache, KEY, fixture_image("png/rgb8.png"), NULL);
    CHECK_EQUAL(sdd_cache_contains_wait(cache, KEY, SDD_CACHE_ALL), SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_path(cache, KEY, path, sizeof path, NULL), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(counts_of(cache).disk_count, 0);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    config.levels = SDD_CACHE_DISK;
    OWNED_CACHE c = open_cache(config);
    put(c.cache, KEY, fixture_image("png/rgb8.png"), NULL);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_DISK);
    sdd_image_release(find_image(c.cache, KEY, NULL, SDD_ORIGIN_DISK));
    sdd_image_release(find_image(c.cache, KEY, NULL, SDD_ORIGIN_DISK));
}

/* ---------------------------------------------------------------------------- removed and cleared */

CASE(a_removed_image_the_application_holds_is_not_found)
{
    OWNED_CACHE c = open_default();
    OWNED_IMAGE held = fixture_image("png/rgb8.png");
    CHECK_STATUS(sdd_cache_remove_wait(c.cache, "never stored", SDD_CACHE_ALL), SDD_OK);
    put(c.cache, "a", sdd_image_retain(held), NULL);
    put(c.cache, "b", sdd_image_retain(held), NULL);
    put(c.cache, "c", sdd_image_retain(held), NULL);
    CHECK_STATUS(sdd_cache_remove_wait(c.cache, "a", SDD_CACHE_DEFAULT), SDD_OK);
    CHECK_STATUS(sdd_cache_remove_wait(c.cache, "b", SDD_CACHE_MEMORY), SDD_OK);
    CHECK_STATUS(sdd_cache_remove_wait(c.cache, "c", SDD_CACHE_DISK), SDD_OK);
    CHECK(!is_in_memory(c.cache, "a") && !is_in_memory(c.cache, "b") && is_in_memory(c.cache, "c"));
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "a", SDD_CACHE_ALL), 0);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "b", SDD_CACHE_ALL), SDD_CACHE_DISK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "c", SDD_CACHE_ALL), SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    CHECK(access(path_of(c.cache, "a"), F_OK) != 0 && access(path_of(c.cache, "b"), F_OK) == 0);
    CHECK(access(path_of(c.cache, "c"), F_OK) != 0);
    put(c.cache, "a", sdd_image_retain(held), NULL); /* stored after the removal: it stays */
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "a", SDD_CACHE_ALL), SDD_CACHE_ALL);
}

CASE(clearing_leaves_foreign_files_and_readers_alone)
{
    OWNED_CACHE c = open_default();
    char foreign[600];
    int32_t descriptor = -1;
    int64_t size = -1;
    char text[16] = "";
    snprintf(foreign, sizeof foreign, "%s/of the user's.txt", c.folder);
    write_whole(foreign, "mine", 4);
    put_text(c.cache, "read", "to the end");
    for (int i = 0; i < 20; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %d", i);
        put(c.cache, key, i % 2 ? fixture_image("png/rgb8.png") : NULL, text_bytes("any"));
    }
    CHECK_EQUAL(counts_of(c.cache).disk_count, 21);
    CHECK_STATUS(sdd_cache_open_wait(c.cache, "read", &descriptor, &size), SDD_OK);
    CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_DEFAULT), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "key 1", SDD_CACHE_ALL), 0);
    check_text(c.cache, "read", NULL);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.disk_count == 0 && counts.memory_count == 0 && counts.memory_cost == 0);
    CHECK(access(foreign, F_OK) == 0 && access(path_of(c.cache, "key 1"), F_OK) != 0);
    CHECK(size == 10 && pread(descriptor, text, 10, 0) == 10 && strcmp(text, "to the end") == 0);
    close(descriptor);
    put_text(c.cache, "after", "that");
    check_text(c.cache, "after", "that");
}

/* ------------------------------------------------------------------------------------------- files */

CASE(a_file_is_named_by_the_md5_of_its_key)
{
    static const struct { const char *key, *name; } all[] = { /* by md5sum */
        { "https://host.example/pictures/cat.jpg", "eadba58f7e47aebdd2b0307326621699.jpg" },
        { "https://host.example/picture?name=a.png", "eaaac6e020ec559ce0726539ea9b714f" },
        { "https://host.example/a.b/name", "fc48f48ba7d23eb7fcacb77392b78c9e" },
        { "any text", "ae821dc7991e1b65351446ab46f47d17" },
    };
    OWNED_CACHE c = open_default();
    size_t length = 0;
    char small[4] = "abc";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *path = path_of(c.cache, all[i].key);
        CHECK_TEXT(name_of(path), all[i].name);
        CHECK(strncmp(path, c.folder, strlen(c.folder)) == 0 && access(path, F_OK) != 0);
        put_text(c.cache, all[i].key, all[i].key);
        CHECK_EQUAL(mode_of(path), 0600);
        CHECK_STATUS(sdd_cache_path(c.cache, all[i].key, NULL, 0, &length), SDD_ERROR_BUFFER_TOO_SMALL);
        CHECK_EQUAL(length, strlen(path));
        CHECK_STATUS(sdd_cache_path(c.cache, all[i].key, small, sizeof small, NULL), SDD_ERROR_BUFFER_TOO_SMALL);
        CHECK_TEXT(small, "abc");
    }
}

static int private_to_us(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)place;
    mode_t expected = kind == FTW_D ? 0700 : 0600;
    if ((status->st_mode & 07777) != expected) FAIL("%s has mode %o", path, (unsigned)(status->st_mode & 07777));
    return 0;
}

CASE(only_the_user_may_read_files)
{
    mode_t mask = umask(0);
    char base[512], folder[600];
    snprintf(base, sizeof base, "%s", new_folder());
    snprintf(folder, sizeof folder, "%s/made/for it", base);
    sdd_cache *cache = cache_at(folder);
    put_text(cache, KEY, "private");
    CHECK_STATUS(sdd_cache_trim_disk_wait(cache), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    umask(mask);
    CHECK(nftw(base, private_to_us, 16, FTW_PHYS) == 0);
    remove_folder(base);
}

CASE(a_viewer_opens_the_file_of_an_entry)
{
    static const char *const pictures[] = { "png/rgb8.png", "jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg" };
    OWNED_CACHE c = open_default();
    for (size_t i = 0; i < 3; i++) {
        OWNED_BYTES picture = fixture_bytes(pictures[i]);
        sdd_image *image = NULL;
        int32_t descriptor = -1;
        int64_t size = 0;
        put(c.cache, pictures[i], NULL, sdd_bytes_retain(picture));
        size_t whole;
        uint8_t *file = read_whole(path_of(c.cache, pictures[i]), &whole);
        CHECK_STATUS(sdd_image_decode(file, whole, NULL, &image), SDD_OK);
        sdd_image_release(image);
        CHECK_STATUS(sdd_cache_open_wait(c.cache, pictures[i], &descriptor, &size), SDD_OK);
        CHECK_EQUAL(size, sdd_bytes_size(picture));
        CHECK(whole > (size_t)size && memcmp(file, sdd_bytes_data(picture), (size_t)size) == 0);
        CHECK(fcntl(descriptor, F_GETFD) == FD_CLOEXEC && (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY);
        CHECK_EQUAL(lseek(descriptor, 0, SEEK_CUR), 0);
        put_text(c.cache, pictures[i], "another"); /* open files keep their content */
        CHECK(pread(descriptor, file, (size_t)size, 0) == size);
        CHECK(memcmp(file, sdd_bytes_data(picture), (size_t)size) == 0);
        close(descriptor);
        free(file);
    }
}

CASE(large_entries_may_be_mapped)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.map_from_bytes = 1000;
    cache_in_folder c = open_cache(config);
    sdd_bytes *picture = fixture_bytes("large/baseline.jpg"), *bytes = NULL;
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_DISK, SDD_WANT_BYTES);
    put(c.cache, KEY, NULL, sdd_bytes_retain(picture));
    CHECK_STATUS(find(c.cache, &query, NULL, &bytes, NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_ALL), SDD_OK);
    close_cache(&c); /* the bytes outlive the cache */
    CHECK_EQUAL(sdd_bytes_size(bytes), sdd_bytes_size(picture));
    CHECK(memcmp(sdd_bytes_data(bytes), sdd_bytes_data(picture), sdd_bytes_size(bytes)) == 0);
    sdd_bytes_release(bytes);
    sdd_bytes_release(picture);
}

/* ----------------------------------------------------------------------------------- smaller forms */

CASE(b7_a_thumbnail_is_made_of_the_original_without_the_network)
{
    const char *url = at("/file/large/baseline.jpg"); /* 640 x 480 */
    OWNED_CACHE c = open_default();
    sdd_decode_options small = SDD_DECODE_OPTIONS_INIT;
    char key[1024];
    small.target_width = 200;
    small.target_height = 100;
    put(c.cache, url, NULL, fixture_bytes("large/baseline.jpg"));
    CHECK_STATUS(sdd_cache_key(c.cache, url, &small, NULL, 0, key, sizeof key, NULL), SDD_OK);
    CHECK(!is_in_memory(c.cache, key));
    sdd_image *made = find_image(c.cache, url, &small, SDD_ORIGIN_DISK);
    CHECK(sdd_image_width(made) == 133 && sdd_image_height(made) == 100);
    CHECK(is_in_memory(c.cache, key) && !is_in_memory(c.cache, url));
    sdd_image *again = find_image(c.cache, url, &small, SDD_ORIGIN_MEMORY);
    CHECK(again == made);
    sdd_image_release(again);
    sdd_image_release(made);
    /* The original is unchanged, and no other form is found in its place. */
    made = find_image(c.cache, url, NULL, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(made), 640);
    sdd_image_release(made);
    small.pixel_format = SDD_PIXEL_FORMAT_BGRA8;
    made = find_image(c.cache, url, &small, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_pixel_format(made), SDD_PIXEL_FORMAT_BGRA8);
    sdd_image_release(made);
    CHECK_EQUAL(requests_of("/file/large/baseline.jpg"), 0);
}

CASE(a_thumbnail_that_was_stored_needs_no_original)
{
    OWNED_CACHE c = open_default();
    sdd_decode_options small = SDD_DECODE_OPTIONS_INIT;
    char key[1024];
    small.target_width = 19;
    small.target_height = 13;
    CHECK_STATUS(sdd_cache_key(c.cache, KEY, &small, NULL, 0, key, sizeof key, NULL), SDD_OK);
    put(c.cache, key, NULL, fixture_bytes("png/rgb8.png"));
    sdd_image *found = find_image(c.cache, KEY, &small, SDD_ORIGIN_DISK);
    check_image(found, "png/rgb8.pam");
    sdd_image_release(found);
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_ALL, SDD_WANT_IMAGE);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_ERROR_NOT_CACHED);
}

/* --------------------------------------------------------------------------------------- in memory */

static void put_in_memory(sdd_cache *cache, const char *key)
{
    sdd_cache_item item = item_of(key, fixture_image("png/rgb8.png"), NULL, SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_put_wait(cache, &item), SDD_OK);
    sdd_image_release(item.image);
}

enum { COST = 19 * 13 * 4 + 822 }; /* of png/rgb8.png in RGBA8, and its bytes */

CASE(the_least_recently_used_is_evicted_first)
{
    OWNED_CACHE c = open_default();
    CHECK_STATUS(sdd_cache_set_memory_limits(c.cache, -1, 3), SDD_OK);
    put_in_memory(c.cache, "a");
    put_in_memory(c.cache, "b");
    put_in_memory(c.cache, "c");
    CHECK(is_in_memory(c.cache, "a")); /* used, so that "b" is older now */
    put_in_memory(c.cache, "d");
    CHECK(!is_in_memory(c.cache, "b"));
    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.memory_count == 3 && counts.memory_cost == 3 * COST && counts.max_memory_cost == -1);
    CHECK_EQUAL(counts.memory_evictions, 1);
    CHECK_STATUS(sdd_cache_set_memory_limits(c.cache, 2 * COST, 0), SDD_OK); /* applies at once */
    CHECK(!is_in_memory(c.cache, "c") && is_in_memory(c.cache, "a") && is_in_memory(c.cache, "d"));
    counts = counts_of(c.cache);
    CHECK(counts.memory_cost == 2 * COST && counts.max_memory_cost == 2 * COST && counts.memory_evictions == 2);
    CHECK_STATUS(sdd_cache_set_memory_limits(c.cache, -1, -1), SDD_OK); /* -1 means no limit */
    put_in_memory(c.cache, "e");
    CHECK(is_in_memory(c.cache, "a") && is_in_memory(c.cache, "d") && is_in_memory(c.cache, "e"));
    CHECK_STATUS(sdd_cache_set_memory_limits(c.cache, 0, 0), SDD_OK);
    counts = counts_of(c.cache);
    CHECK(counts.max_memory_cost >= 16 << 20 && counts.max_memory_cost <= 512 << 20);
}

CASE(a_trim_removes_half_or_all)
{
    static const char *const keys[] = { "a", "b", "c", "d" };
    OWNED_CACHE c = open_default();
    for (int i = 0; i < 4; i++) put_in_memory(c.cache, keys[i]);
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_HALF), SDD_OK);
    CHECK(!is_in_memory(c.cache, "a") && !is_in_memory(c.cache, "b"));
    CHECK(is_in_memory(c.cache, "c") && is_in_memory(c.cache, "d"));
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
    CHECK(!is_in_memory(c.cache, "c") && !is_in_memory(c.cache, "d"));
    CHECK_EQUAL(counts_of(c.cache).memory_cost, 0);
}

CASE(an_image_the_application_holds_is_found_after_a_trim)
{
    for (int32_t off = 0; off < 2; off++) {
        sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
        config.no_live_images = off;
        config.levels = SDD_CACHE_MEMORY;
        sdd_cache *cache = make_cache(&config);
        sdd_image *held = fixture_image("png/rgb8.png");
        put(cache, KEY, sdd_image_retain(held), NULL);
        CHECK_STATUS(sdd_cache_trim_memory(cache, SDD_TRIM_ALL), SDD_OK);
        CHECK_EQUAL(counts_of(cache).memory_cost, 0);
        sdd_image *found = sdd_cache_memory_image(cache, KEY);
        CHECK(found == (off ? NULL : held));
        sdd_image_release(found);
        CHECK_STATUS(sdd_cache_trim_memory(cache, SDD_TRIM_ALL), SDD_OK); /* it may have been stored in memory again */
        sdd_image_release(held);
        CHECK(!is_in_memory(cache, KEY));
        CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    }
}

CASE(an_image_lives_longer_than_its_cache)
{
    cache_in_folder c = open_default();
    put(c.cache, KEY, fixture_image("png/rgb8.png"), NULL);
    OWNED_IMAGE held = sdd_cache_memory_image(c.cache, KEY);
    close_cache(&c);
    check_image(held, "png/rgb8.pam");
}

/* ---------------------------------------------------------------------------- age, size, statistics */

CASE(an_old_entry_is_a_miss)
{
    static const struct { int64_t max_age_ms; time_t age; int is_there; } all[] = {
        { 0, 7 * 86400 - 600, 1 }, { 0, 7 * 86400 + 600, 0 }, { -1, 700 * 86400, 1 },
        { 60000, 30, 1 }, { 60000, 90, 0 }, { 1, 0, 0 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
        config.disk_date = SDD_DATE_MODIFICATION;
        config.max_disk_age_ms = all[i].max_age_ms;
        OWNED_CACHE c = open_cache(config);
        put_text(c.cache, KEY, "some time ago");
        /* Where nothing may stay, the trim that starts when the cache opens may already have removed the file. */
        if (all[i].age != 0) make_older(path_of(c.cache, KEY), all[i].age);
        int64_t stored = milliseconds_now();
        while (!all[i].is_there && milliseconds_now() < stored + 2) sched_yield();
        check_text(c.cache, KEY, all[i].is_there ? "some time ago" : NULL);
        CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_DISK), all[i].is_there ? SDD_CACHE_DISK : 0);
        CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
        CHECK_EQUAL(access(path_of(c.cache, KEY), F_OK) == 0, all[i].is_there);
    }
}

static char watched_path[600];
static int is_watched_there(void) { return access(watched_path, F_OK) == 0; }

CASE(p2_entries_expire_while_nobody_uses_the_cache)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.disk_date = SDD_DATE_MODIFICATION;
    config.max_disk_age_ms = 60000;
    config.trim_interval_ms = 20;
    OWNED_CACHE c = open_cache(config);
    put_text(c.cache, KEY, "some time ago");
    snprintf(watched_path, sizeof watched_path, "%s", path_of(c.cache, KEY));
    /* The first trims find nothing to remove. */
    while (counts_of(c.cache).trims < 4) sched_yield();
    make_older(watched_path, 90);
    CHECK(settles(is_watched_there, 0));
}

static void put_large(sdd_cache *cache, const char *key)
{
    static const char zeros[400000];
    put(cache, key, NULL, sdd_bytes_create(zeros, sizeof zeros));
}

CASE(over_the_limit_the_oldest_are_removed)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.disk_date = SDD_DATE_MODIFICATION;
    config.low_water_percent = 90;
    OWNED_CACHE c = open_cache(config);
    put_large(c.cache, "a");
    put_large(c.cache, "b");
    put_large(c.cache, "c");
    make_older(path_of(c.cache, "b"), 3600);
    CHECK(counts_of(c.cache).disk_bytes >= 1200000);
    CHECK_STATUS(sdd_cache_set_disk_limits(c.cache, 1100000, 0), SDD_OK);
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "b", SDD_CACHE_DISK), 0);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "a", SDD_CACHE_DISK), SDD_CACHE_DISK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "c", SDD_CACHE_DISK), SDD_CACHE_DISK);
    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.disk_count == 2 && counts.disk_bytes >= 800000 && counts.disk_bytes <= 990000);
    CHECK(counts.trims >= 1 && counts.entries_trimmed == 1 && counts.trimmed_bytes >= 400000);
}

CASE(with_access_dates_recently_used_entries_stay)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.low_water_percent = 90;
    config.max_disk_age_ms = -1;
    OWNED_CACHE c = open_cache(config);
    sdd_cache_query_options query = query_of("a", SDD_CACHE_DISK, SDD_WANT_BYTES);
    put_large(c.cache, "a");
    put_large(c.cache, "b");
    make_older(path_of(c.cache, "a"), 7200);
    make_older(path_of(c.cache, "b"), 3600);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_OK);
    CHECK_STATUS(sdd_cache_set_disk_limits(c.cache, 1100000, -1), SDD_OK);
    put_large(c.cache, "c");
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "b", SDD_CACHE_DISK), 0);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "a", SDD_CACHE_DISK), SDD_CACHE_DISK);
}

CASE(every_statistic_counts)
{
    OWNED_CACHE c = open_default();
    OWNED_BYTES picture = fixture_bytes("png/rgb8.png");
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_ALL, SDD_WANT_IMAGE);
    put(c.cache, KEY, fixture_image("png/rgb8.png"), NULL);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_OK); /* from memory */
    CHECK_STATUS(sdd_cache_trim_memory(c.cache, SDD_TRIM_ALL), SDD_OK);
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_OK); /* from disk */
    query.key = "missing";
    CHECK_STATUS(find(c.cache, &query, NULL, NULL, NULL, NULL), SDD_ERROR_NOT_CACHED);
    sdd_cache_statistics counts = counts_of(c.cache);
    CHECK(counts.memory_hits == 1 && counts.memory_misses == 2 && counts.disk_hits == 1 && counts.disk_misses == 1);
    CHECK_EQUAL(counts.disk_read_bytes, sdd_bytes_size(picture));
    CHECK(counts.disk_written_bytes >= (int64_t)sdd_bytes_size(picture) && counts.entries_written == 1);
    CHECK(counts.entries_damaged == 0 && counts.errors == 0 && counts.last_error == 0);
    CHECK(counts.memory_cost == COST && counts.memory_count == 1 && counts.disk_count == 1);
    CHECK(counts.disk_bytes >= (int64_t)sdd_bytes_size(picture) && counts.http_fresh == 0 && counts.http_misses == 0);
}

/* --------------------------------------------------------------------------------- several caches */

CASE(another_directory_is_merged)
{
    cache_in_folder c = open_default(), old = open_default();
    int64_t merged = -1;
    put_text(old.cache, "theirs", "theirs");
    put_text(old.cache, "both", "theirs");
    put_text(c.cache, "both", "ours");
    CHECK_STATUS(sdd_cache_merge_wait(c.cache, c.folder, &merged), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(merged, 0);
    CHECK_STATUS(sdd_cache_merge_wait(c.cache, "/proc/self/none", &merged), SDD_ERROR_CACHE);
    CHECK_STATUS(sdd_cache_destroy(old.cache), SDD_OK);
    CHECK_STATUS(sdd_cache_merge_wait(c.cache, old.folder, &merged), SDD_OK);
    CHECK_EQUAL(merged, 1);
    check_text(c.cache, "theirs", "theirs");
    check_text(c.cache, "both", "ours");
    CHECK_EQUAL(counts_of(c.cache).disk_count, 2);
    CHECK(access(old.folder, F_OK) != 0);
    CHECK_STATUS(sdd_cache_merge_wait(c.cache, old.folder, NULL), SDD_ERROR_CACHE); /* the first call has removed it */
    sdd_cache_config memory = SDD_CACHE_CONFIG_INIT;
    memory.levels = SDD_CACHE_MEMORY;
    sdd_cache *other = make_cache(&memory);
    CHECK_STATUS(sdd_cache_merge_wait(other, c.folder, &merged), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_cache_destroy(other), SDD_OK);
    close_cache(&c);
}

CASE(two_handles_share_a_folder)
{
    OWNED_CACHE c = open_default();
    sdd_cache *other = cache_at(c.folder);
    CHECK(other != c.cache);
    /* A handle that scans the folder does not know what another changes meanwhile, and its totals are wrong until its
       next trim: so none scans while entries are stored. */
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    CHECK_STATUS(sdd_cache_trim_disk_wait(other), SDD_OK);
    put_text(c.cache, KEY, "of the first");
    check_text(other, KEY, "of the first");
    put_text(other, KEY, "of the second");
    check_text(c.cache, KEY, "of the second");
    CHECK(counts_of(c.cache).disk_count == 1 && counts_of(other).disk_count == 1);
    CHECK_STATUS(sdd_cache_remove_wait(other, KEY, SDD_CACHE_ALL), SDD_OK);
    CHECK_STATUS(sdd_cache_flush_wait(other, -1), SDD_OK);
    check_text(c.cache, KEY, NULL);
    CHECK_EQUAL(counts_of(c.cache).disk_count, 0);
    put_text(c.cache, KEY, "again");
    CHECK_STATUS(sdd_cache_destroy(other), SDD_OK);
    check_text(c.cache, KEY, "again");
}

CASE(read_only_folders_are_read_and_never_changed)
{
    cache_in_folder first = open_default(), second = open_default();
    put_text(first.cache, "in both", "first");
    put_text(second.cache, "in both", "second");
    put_text(second.cache, "in the second", "second");
    CHECK_STATUS(sdd_cache_destroy(first.cache), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(second.cache), SDD_OK);
    CHECK(chmod(first.folder, 0500) == 0 && chmod(second.folder, 0500) == 0);
    const char *const folders[] = { first.folder, second.folder };
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.read_only_directories = folders;
    config.read_only_count = 2;
    cache_in_folder c = open_cache(config);
    check_text(c.cache, "in both", "first"); /* the first folder in the list wins */
    check_text(c.cache, "in the second", "second");
    check_text(c.cache, "in none", NULL);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, "in the second", SDD_CACHE_DISK), SDD_CACHE_DISK);
    put_text(c.cache, "in both", "own");
    check_text(c.cache, "in both", "own");
    CHECK_STATUS(sdd_cache_clear_wait(c.cache, SDD_CACHE_ALL), SDD_OK);
    close_cache(&c);
    CHECK(chmod(first.folder, 0700) == 0 && chmod(second.folder, 0700) == 0);
    first.cache = cache_at(first.folder);
    second.cache = cache_at(second.folder);
    check_text(first.cache, "in both", "first");
    check_text(second.cache, "in both", "second");
    close_cache(&first);
    close_cache(&second);
}

int main(void) { return run_cases(); }

/* Keys and bytes that the application controls: keys of URLs and of smaller forms, key filters, serializers. */
#include "caches.h"
#include "every_call.h"

/* -------------------------------------------------------------------------------------------- keys */

static void check_key(sdd_cache *cache, const char *url, const char *expected)
{
    char key[1024];
    size_t length = 0;
    CHECK_STATUS(sdd_cache_key(cache, url, NULL, NULL, 0, key, sizeof key, &length), SDD_OK);
    CHECK_TEXT(key, expected);
    CHECK_EQUAL(length, strlen(expected));
}

CASE(a_smaller_form_says_so_before_the_extension)
{
    static const struct { const char *url; int32_t width, height, fit; const char *key; } all[] = {
        { "https://host/name.jpg", 200, 100, SDD_FIT_INSIDE,
          "https://host/name-Thumbnail({200.000000,100.000000},1).jpg" },
        { "https://host/name.jpg", 0, 0, SDD_FIT_INSIDE, "https://host/name.jpg" },
    };
    OWNED_CACHE c = open_default();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
        char key[256], exact[256];
        size_t length = 0, expected = strlen(all[i].key);
        decode.target_width = all[i].width;
        decode.target_height = all[i].height;
        decode.fit = all[i].fit;
        CHECK_STATUS(sdd_cache_key(c.cache, all[i].url, &decode, NULL, 0, key, sizeof key, &length), SDD_OK);
        CHECK_TEXT(key, all[i].key);
        CHECK_EQUAL(length, expected);
        length = 0;
        CHECK_STATUS(sdd_cache_key(c.cache, all[i].url, &decode, NULL, 0, NULL, 0, &length),
                     SDD_ERROR_BUFFER_TOO_SMALL);
        CHECK_EQUAL(length, expected);
        CHECK_STATUS(sdd_cache_key(c.cache, all[i].url, &decode, NULL, 0, exact, expected, NULL),
                     SDD_ERROR_BUFFER_TOO_SMALL);
        CHECK_STATUS(sdd_cache_key(c.cache, all[i].url, &decode, NULL, 0, exact, expected + 1, NULL), SDD_OK);
        CHECK_TEXT(exact, all[i].key);
    }
}

CASE(transforms_are_part_of_a_key)
{
    sdd_transform list[2] = { SDD_TRANSFORM_INIT, SDD_TRANSFORM_INIT };
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    OWNED_CACHE c = open_default();
    char key[256];
    list[0].kind = SDD_TRANSFORM_FLIP;
    list[0].flip = SDD_FLIP_VERTICAL;
    list[1].kind = SDD_TRANSFORM_ROTATE;
    list[1].degrees = 90;
    CHECK_STATUS(sdd_cache_key(c.cache, "https://host/name.jpg", NULL, list, 2, key, sizeof key, NULL), SDD_OK);
    CHECK_TEXT(key, "https://host/name-Transform({flip(vertical)-rotate(90)}).jpg");
    decode.target_width = 5;
    decode.target_height = 4;
    CHECK_STATUS(sdd_cache_key(c.cache, "https://host/name.jpg", &decode, list, 1, key, sizeof key, NULL), SDD_OK);
    CHECK_TEXT(key, "https://host/name-Thumbnail({5.000000,4.000000},1)-Transform({flip(vertical)}).jpg");
}

CASE(a_url_is_its_own_key)
{
    OWNED_CACHE c = open_default();
    check_key(c.cache, "https://host/a%20b/c.png?token=1&x=%C3%A4", "https://host/a%20b/c.png?token=1&x=%C3%A4");
    check_key(c.cache, "any text \xc3\xa4", "any text \xc3\xa4");
}

CASE(ignored_query_parameters_are_removed)
{
    static const struct { const char *url, *key; } all[] = {
        { "https://host/a.jpg?token=1&w=2&X-Amz-Date=9&Expires=4#part", "https://host/a.jpg?w=2" },
        { "https://host/a.jpg", "https://host/a.jpg" },
    };
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.ignored_query_parameters = "token,Expires,X-Amz-*";
    OWNED_CACHE c = open_cache(config);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) check_key(c.cache, all[i].url, all[i].key);
}

/* ----------------------------------------------------------------------------------------- filters */

typedef struct filter {
    int calls, freed;
    char last_url[1024];
    size_t answer_size;
    const char *answer;
} filter;

static sdd_bytes *filter_key(const char *url, void *user_data)
{
    filter *f = user_data;
    f->calls++;
    snprintf(f->last_url, sizeof f->last_url, "%s", url);
    return f->answer ? sdd_bytes_create(f->answer, f->answer_size) : NULL;
}

static void filter_freed(void *user_data) { ((filter *)user_data)->freed++; }

CASE(a_filter_makes_the_key)
{
    const char *url = "https://host.example/a.jpg?token=1&w=2", *cut = "https://host.example/a.jpg?w=2";
    char *longest = malloc(65537), *key = malloc(65538);
    filter f = { 0 };
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.ignored_query_parameters = "token";
    config.key_filter = filter_key;
    config.user_data = &f;
    config.user_data_free = filter_freed;
    cache_in_folder c = open_cache(config);
    memset(longest, 'k', 65537);
    check_key(c.cache, url, cut); /* the filter returns NULL: the URL itself is the key */
    CHECK_TEXT(f.last_url, cut);  /* the filter sees the URL without the parameter */
    CHECK_EQUAL(f.calls, 1);
    static const struct { const char *answer; size_t size; } bad[] = {
        { "", 0 }, { "\xff", 1 }, { "\xed\xa0\x80", 3 },
    };
    for (int i = 0; i < 3; i++) {
        f.answer = bad[i].answer;
        f.answer_size = bad[i].size;
        check_key(c.cache, url, cut);
    }
    f.answer = longest;
    f.answer_size = 65537;
    check_key(c.cache, url, cut);
    f.answer_size = 65536;
    CHECK_STATUS(sdd_cache_key(c.cache, url, NULL, NULL, 0, key, 65538, NULL), SDD_OK);
    CHECK(strlen(key) == 65536 && strspn(key, "k") == 65536);
    f.answer = "short";
    f.answer_size = 5;
    check_key(c.cache, url, "short");
    CHECK_EQUAL(f.freed, 0);
    close_cache(&c);
    CHECK_EQUAL(f.freed, 1);
    free(longest);
    free(key);
}

/* Keys that the application passes are used as they are: the filter is not asked. */
CASE(a_filter_is_not_asked_about_keys)
{
    filter f = { .answer = "other", .answer_size = 5 };
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.key_filter = filter_key;
    config.user_data = &f;
    OWNED_CACHE c = open_cache(config);
    put_text(c.cache, KEY, "its own");
    check_text(c.cache, KEY, "its own");
    check_text(c.cache, "other", NULL);
    CHECK_EQUAL(f.calls, 0);
}

/* ------------------------------------------------------------------------------------- serializers */

typedef struct serializer {
    pthread_mutex_t lock;
    int calls, freed, with_image, with_bytes;
    pthread_t thread;
    char thread_name[16], key[256];
    const char *answer; /* NULL: nothing; "same": the bytes it was given */
    sdd_cache *cache;   /* if set, serialize() waits for this cache */
} serializer;

static sdd_bytes *serialize(sdd_image *image, sdd_bytes *bytes, const char *key, void *user_data)
{
    serializer *s = user_data;
    pthread_mutex_lock(&s->lock);
    s->calls++;
    s->with_image = image != NULL;
    s->with_bytes = bytes != NULL;
    s->thread = pthread_self();
    pthread_getname_np(s->thread, s->thread_name, sizeof s->thread_name);
    snprintf(s->key, sizeof s->key, "%s", key);
    if (s->cache) {
        CHECK_STATUS(sdd_cache_flush_wait(s->cache, -1), SDD_ERROR_WOULD_DEADLOCK);
        CHECK_STATUS(sdd_cache_destroy(s->cache), SDD_ERROR_WOULD_DEADLOCK);
        CHECK_STATUS(sdd_cache_list_wait(s->cache, 0, never_sdd_cache_list_fn, NULL), SDD_ERROR_WOULD_DEADLOCK);
    }
    sdd_bytes *made = s->answer == NULL                ? NULL
                      : strcmp(s->answer, "same") == 0 ? sdd_bytes_retain(bytes)
                                                       : text_bytes(s->answer);
    pthread_mutex_unlock(&s->lock);
    return made;
}

static void serializer_freed(void *user_data) { ((serializer *)user_data)->freed++; }

static cache_in_folder open_with(serializer *s)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.serializer = serialize;
    config.user_data = s;
    config.user_data_free = serializer_freed;
    return open_cache(config);
}

CASE(a_serializer_makes_what_goes_to_disk)
{
    serializer s = { .lock = PTHREAD_MUTEX_INITIALIZER, .answer = "made of it" };
    cache_in_folder c = open_with(&s);
    s.cache = c.cache;
    put(c.cache, KEY, fixture_image("png/rgb8.png"), NULL);
    CHECK(s.calls == 1 && s.with_image && !s.with_bytes && strncmp(s.thread_name, "sdd-disk", 8) == 0);
    CHECK_TEXT(s.key, KEY);
    check_text(c.cache, KEY, "made of it");
    s.answer = "same";
    put(c.cache, KEY, NULL, text_bytes("as it was given"));
    CHECK(s.calls == 2 && !s.with_image && s.with_bytes);
    check_text(c.cache, KEY, "as it was given");
    s.cache = NULL;
    CHECK_EQUAL(s.freed, 0);
    close_cache(&c);
    CHECK_EQUAL(s.freed, 1);
}

CASE(without_serialized_bytes_nothing_is_on_disk)
{
    serializer s = { .lock = PTHREAD_MUTEX_INITIALIZER };
    OWNED_CACHE c = open_with(&s);
    sdd_cache_item item = item_of(KEY, fixture_image("png/rgb8.png"), NULL, SDD_CACHE_ALL);
    sdd_cache_put_wait(c.cache, &item);
    CHECK_EQUAL(s.calls, 1);
    CHECK_EQUAL(sdd_cache_contains_wait(c.cache, KEY, SDD_CACHE_ALL), SDD_CACHE_MEMORY);
    CHECK_EQUAL(counts_of(c.cache).errors, 0);
    sdd_image_release(item.image);
}

CASE(a_store_asks_the_serializer_on_a_thread_of_the_cache)
{
    serializer s = { .lock = PTHREAD_MUTEX_INITIALIZER, .answer = "same" };
    cache_in_folder c = open_with(&s);
    sdd_downloader *downloader = make_downloader(NULL);
    for (int i = 0; i < 50; i++) {
        char key[32];
        OWNED_BYTES bytes = text_bytes("stored");
        snprintf(key, sizeof key, "key %d", i);
        sdd_cache_item item = item_of(key, NULL, bytes, SDD_CACHE_DISK);
        CHECK(sdd_cache_put(c.cache, downloader, &item) != 0);
    }
    CHECK_STATUS(sdd_cache_flush_wait(c.cache, -1), SDD_OK);
    pthread_mutex_lock(&s.lock);
    CHECK_EQUAL(s.calls, 50);
    CHECK(!pthread_equal(s.thread, pthread_self()));
    CHECK(strncmp(s.thread_name, "sdd-disk", 8) == 0);
    pthread_mutex_unlock(&s.lock);
    check_text(c.cache, "key 49", "stored");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    close_cache(&c);
    destroy(downloader);
}

/* An entry for memory alone needs no bytes. */
CASE(nothing_is_serialized_for_memory)
{
    serializer s = { .lock = PTHREAD_MUTEX_INITIALIZER, .answer = "never" };
    OWNED_CACHE c = open_with(&s);
    sdd_cache_item item = item_of(KEY, fixture_image("png/rgb8.png"), NULL, SDD_CACHE_MEMORY);
    CHECK_STATUS(sdd_cache_put_wait(c.cache, &item), SDD_OK);
    CHECK_EQUAL(s.calls, 0);
    sdd_image_release(item.image);
}

int main(void) { return run_cases(); }

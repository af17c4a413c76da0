/*
 * Two processes with three threads each do everything on one cache, and one of them also clears and trims it: no wrong
 * picture, no error.
 */
#include "drivers.h"

enum { THREADS = 3, NUMBERS = 30, PICTURES = 12 };

static sdd_cache *cache;
static sdd_downloader *downloader;
static int64_t end;
static int is_clearing;
static long long checked, missed;

typedef struct picture {
    const char *file, *pam;
} picture;

static const picture pictures[] = {
    { "png/rgb8.png", "png/rgb8.pam" }, { "png/rgba8.png", "png/rgba8.pam" }, { "png/grey8.png", "png/grey8.pam" },
};

static void check_downloaded(int number)
{
    const picture *expected = &pictures[number % 3];
    OWNED_RECORD r = RECORD_INIT;
    fetch(downloader, &r, atf("/file/%s?header=Cache-Control:%%20max-age=%d&n=%d", expected->file, number % 2, number), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_image(r.image, expected->pam);
}

static void check_kept_picture(int number)
{
    char key[64];
    sdd_image *image = NULL;
    const picture *expected = &pictures[number % 3];
    snprintf(key, sizeof key, "picture %d", number);
    sdd_cache_query_options query = query_of(key, number % 4 ? SDD_CACHE_DISK : SDD_CACHE_ALL, SDD_WANT_IMAGE);
    sdd_status status = find(cache, &query, &image, NULL, NULL, NULL);
    if (status == SDD_ERROR_NOT_CACHED) {
        put(cache, key, fixture_image(expected->file), NULL);
        __atomic_add_fetch(&missed, 1, __ATOMIC_RELAXED);
        return;
    }
    CHECK_STATUS(status, SDD_OK);
    check_image(image, expected->pam);
    sdd_image_release(image);
}

static void *work(void *seed)
{
    uint32_t state = (uint32_t)(uintptr_t)seed * 2654435761u + 1;
    while (milliseconds_now() < end) {
        state = state * 1664525u + 1013904223u;
        int number = (int)(state >> 8) % NUMBERS;
        switch ((state >> 24) % 24) {
        case 0: CHECK_STATUS(sdd_cache_remove_wait(cache, key_of(number), SDD_CACHE_ALL), SDD_OK); break;
        case 1: if (is_clearing) CHECK_STATUS(sdd_cache_clear_wait(cache, SDD_CACHE_ALL), SDD_OK); break;
        case 2: if (is_clearing) CHECK_STATUS(sdd_cache_trim_disk_wait(cache), SDD_OK); break;
        case 3: CHECK_STATUS(sdd_cache_trim_memory(cache, SDD_TRIM_HALF), SDD_OK); break;
        case 4: CHECK(counts_of(cache).disk_bytes >= 0); break;
        case 5: case 6: case 7: case 8:
            CHECK_STATUS(put_numbered(cache, number, state, 12 + (state >> 4) % 60000), SDD_OK); break;
        case 9: case 10: case 11: case 12: check_numbered(cache, number); break;
        case 13: case 14: case 15: case 16: case 17: check_kept_picture(number % PICTURES); break;
        default: check_downloaded(number % PICTURES);
        }
        __atomic_add_fetch(&checked, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void work_for(const char *folder, const char *seconds, int clears)
{
    pthread_t threads[THREADS];
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    char line[128];
    config.directory = folder;
    config.max_disk_bytes = 400000;
    config.trim_interval_ms = 50;
    cache = make_cache(&config);
    downloader = downloader_with(cache);
    is_clearing = clears;
    end = milliseconds_now() + atoi(seconds) * 1000;
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 10 * (uintptr_t)clears)) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    sdd_cache_statistics counts = counts_of(cache);
    CHECK_EQUAL(counts.last_error, 0);
    CHECK(counts.errors == 0 && counts.entries_damaged == 0);
    snprintf(line, sizeof line, "%lld steps, %lld disk hits, %lld trims, %lld entries trimmed, %lld shared downloads",
             checked, (long long)counts.disk_hits, (long long)counts.trims, (long long)counts.entries_trimmed,
             (long long)counts.shared_downloads);
    say(line);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

CASE(two_processes_at_once)
{
    char folder[512], seconds[16];
    snprintf(folder, sizeof folder, "%s", new_folder());
    snprintf(seconds, sizeof seconds, "%d", amount(4, 600));
    worker first = START(NULL, "clears", folder, seconds), second = START(NULL, "works", folder, seconds);
    for (worker *w = &first; w; w = w == &first ? &second : NULL) {
        const char *said = hear(w);
        if (said) printf("%s\n", said);
        CHECK_ENDS_WELL(w);
    }
    sdd_cache *left = cache_at(folder);
    for (int number = 0; number < NUMBERS; number++) check_numbered(left, number);
    check_trimmed(left, folder);
    CHECK_STATUS(sdd_cache_destroy(left), SDD_OK);
    remove_folder(folder);
}

int main(int count, char **words)
{
    start_watchdog();
    if (count == 4) return work_for(words[2], words[3], strcmp(words[1], "clears") == 0), 0;
    return run_cases();
}

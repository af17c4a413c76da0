/*
 * A large body arrives slowly, and the process that downloads it is killed again and again: in the end the body is
 * right, and few of the received bytes were requested again.
 */
#include "drivers.h"

static int64_t size_of(const char *path)
{
    struct stat status;
    CHECK(stat(path, &status) == 0);
    return status.st_size;
}

/* ------------------------------------------------------------------------------------------- worker */

static int64_t kill_at;

static void end_at_once(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)token, (void)expected, (void)url, (void)user_data;
    if (kill_at && received >= kill_at) kill(getpid(), SIGKILL);
}

static void check_is_large_file(sdd_bytes *bytes)
{
    size_t size = (size_t)size_of(setting("SDD_TEST_LARGE_FILE"));
    uint8_t *expected = malloc(size);
    FILE *file = fopen(setting("SDD_TEST_LARGE_FILE"), "rb");
    CHECK(file != NULL && fread(expected, 1, size, file) == size);
    fclose(file);
    CHECK_EQUAL(sdd_bytes_size(bytes), size);
    CHECK(memcmp(sdd_bytes_data(bytes), expected, size) == 0);
    free(expected);
}

static void download(const char *folder, const char *at_byte)
{
    OWNED_RECORD r = RECORD_INIT;
    char line[64];
    kill_at = atoll(at_byte);
    sdd_cache *cache = cache_at(folder);
    sdd_downloader *downloader = downloader_with(cache);
    sdd_download_request request = record_request(&r, address_at("SDD_TEST_LARGE", "/large"));
    request.options = SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME;
    request.progress = end_at_once;
    submit(downloader, &request);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_is_large_file(r.bytes);
    snprintf(line, sizeof line, "%lld", (long long)r.metrics.resumed_bytes);
    say(line);
    destroy(downloader);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

/* --------------------------------------------------------------------------------------------- runs */

static int by_size(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

/* Waits until nginx has logged so many responses, and stores the first byte of each. They are sorted, because nginx may
   notice late that a client is gone, and no process continues from an earlier offset than the one before. Returns the
   bytes that nginx has passed to the system for all of them. A killed process never saw those that were still in the
   sockets. */
static int64_t responses_of(int count, int64_t *starts)
{
    time_t end = time(NULL) + 30;
    for (;;) {
        FILE *file = fopen(setting("SDD_TEST_LARGE_LOG"), "r");
        char range[64];
        long long sum = 0, bytes;
        int i = 0;
        CHECK(file != NULL);
        for (; i < count && fscanf(file, "%lld %63s", &bytes, range) == 2; i++) {
            long long start = 0;
            if (strcmp(range, "-") != 0) CHECK(sscanf(range, "bytes=%lld-", &start) == 1);
            starts[i] = start;
            sum += bytes;
        }
        fclose(file);
        if (i == count) {
            qsort(starts, (size_t)count, sizeof *starts, by_size);
            return sum;
        }
        if (time(NULL) > end) FAIL("nginx has logged %d responses, not %d", i, count);
        sched_yield();
    }
}

CASE(killed_on_the_way)
{
    enum { MOST = 32 };
    int64_t size = size_of(setting("SDD_TEST_LARGE_FILE")), place = 0, places[MOST], starts[MOST], again = 0;
    int kills = amount(6, 20), responses = 0;
    char folder[512], at_byte[32];
    snprintf(folder, sizeof folder, "%s", new_folder());
    for (int i = 0; i < kills; i++, responses++) {
        place += 1 + next_random((uint32_t)(2 * size / (kills + 1)));
        if (place >= size) break;
        places[i] = place;
        snprintf(at_byte, sizeof at_byte, "%lld", (long long)place);
        worker w = START(NULL, "download", folder, at_byte);
        int status = end_of(&w);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) FAIL("a worker ended with %d", status);
    }
    worker w = START(NULL, "download", folder, "0");
    const char *said = hear(&w);
    CHECK(said != NULL);
    long long resumed = atoll(said);
    CHECK_ENDS_WELL(&w);
    int64_t sent = responses_of(responses + 1, starts);
    for (int i = 0; i < responses; i++) again += places[i] > starts[i + 1] ? places[i] - starts[i + 1] : 0;
    printf("killed %d times; the last one resumed from %lld of %lld bytes; %lld were received twice, %lld sent\n",
           responses, resumed, (long long)size, (long long)again, (long long)sent);
    CHECK(resumed > 0 && starts[0] == 0 && starts[responses] == resumed && sent >= size);
    if (again > size / 2) FAIL("too many bytes were received twice");
    sdd_cache *cache = cache_at(folder);
    check_trimmed(cache, folder);
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
    remove_folder(folder);
}

/* Head, body and the end of the connection arrive together. */
CASE(a_body_that_breaks_off_at_once_is_kept)
{
    const char *url = at("/ranged?size=50000&cuts=1000");
    char path[1200];
    for (int i = 0; i < amount(10, 100); i++) {
        OWNED_CACHE c = open_default();
        OWNED_DOWNLOADER downloader = downloader_with(c.cache);
        OWNED_RECORD r = RECORD_INIT;
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME);
        CHECK_ENDED(&r, SDD_ERROR_TRUNCATED_BODY, 0);
        wait_for_part(c.folder, path, sizeof path, 1000);
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_RESUME);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(is_body_of(r.bytes, url, 50000) && r.metrics.resumed_bytes == 1000);
    }
}

int main(int count, char **words)
{
    start_watchdog();
    random_state = (uint32_t)time(NULL) | 1;
    if (count == 4) return download(words[2], words[3]), 0;
    return run_cases();
}

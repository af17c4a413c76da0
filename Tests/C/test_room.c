/* Memory for decoding, which pictures share: no picture waits for another one's slow server, no call that blocks for a
   picture waits for something that waits for the caller, and a small file cannot claim much memory. Random mixes are
   played by the simulation (Tests/Simulation). */
#include "record.h"
#include "paced.h"

#include <malloc.h>

enum { MIB = 1 << 20 };

static sdd_downloader *downloader_of(int32_t delivery, int32_t threads, int32_t concurrent)
{
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    config.delivery = delivery;
    config.decode_threads = threads;
    config.max_concurrent_downloads = concurrent;
    config.max_concurrent_per_host = concurrent;
    limits.download_timeout_ms = INT32_MAX; /* the gate may stay closed for long */
    limits.decode_time_ms = -1;
    limits.low_speed_time_ms = -1;
    return make_downloader(&config);
}

/* True unless a tool takes most of the resident memory. */
static int memory_is_ours(void)
{
    const char *scale = getenv("SDD_TEST_SCALE");
    return scale == NULL || atof(scale) >= 1;
}

/* --------------------------------------------------------------- a slow picture, and others */

static sem_t previewed;

static void note_preview(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK(image_info(result->image).is_preview);
    CHECK(sem_post(&previewed) == 0);
}

/* The decoding of the large picture has begun, and its server pauses: the small ones arrive and end. */
CASE(small_pictures_do_not_wait_for_a_slow_large_one)
{
    for (int threads = 1; threads <= 2; threads++) {
        enum { SMALL = 4 };
        record large = RECORD_INIT, small[SMALL];
        sdd_downloader *downloader = downloader_of(SDD_DELIVERY_THREAD, threads, 6);
        CHECK_STATUS(sdd_process_set_decode_memory_limit(16 * MIB), SDD_OK);
        gate_set(0);
        CHECK(sem_init(&previewed, 0, 0) == 0);
        sdd_download_request request = record_request(&large, paced_url("gate", 3000, 3000, 0, 0, threads));
        request.preview = note_preview;
        CHECK(sdd_downloader_submit(downloader, &request) != 0);
        take(&previewed);
        for (int i = 0; i < SMALL; i++) {
            small[i] = (record)RECORD_INIT;
            sdd_download_request one = record_request(&small[i], paced_url("png", 1000, 1000, 0, 0, i));
            CHECK(sdd_downloader_submit(downloader, &one) != 0);
        }
        for (int i = 0; i < SMALL; i++) {
            record_wait(&small[i]);
            CHECK_ENDED(&small[i], SDD_OK, 0);
            CHECK_EQUAL(sdd_image_width(small[i].image), 1000);
            record_clear(&small[i]);
        }
        gate_set(1);
        record_wait(&large);
        CHECK_ENDED(&large, SDD_OK, 0);
        CHECK(sdd_image_width(large.image) == 3000 && image_info(large.image).good_rows == 3000);
        record_clear(&large);
        destroy(downloader);
        sem_destroy(&previewed);
    }
    CHECK_STATUS(sdd_process_set_decode_memory_limit(0), SDD_OK);
}

static sem_t of_the_large;

static void note_half(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    int *is_noted = user_data;
    (void)token, (void)url;
    if (*is_noted || expected <= 0 || received < expected / 2) return;
    *is_noted = 1;
    CHECK(sem_post(&of_the_large) == 0);
}

static void note_large(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK_EQUAL(image_info(result->image).good_rows, sdd_image_height(result->image));
    CHECK(sem_post(&of_the_large) == 0);
}

/* The defaults apply, except for two decode threads: 324 MB of pixels, of which 192 MiB are allowed, arrive from a
   server that pauses, and four small pictures come meanwhile. */
CASE(by_default_small_pictures_pass_one_that_is_larger_than_the_limit)
{
    enum { SMALL = 4 };
    int side = memory_is_ours() ? 9000 : 3000;
    int is_noted = 0;
    record small[SMALL];
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.decode_threads = 2;
    sdd_downloader *downloader = make_downloader(&config);
    if (!memory_is_ours()) CHECK_STATUS(sdd_process_set_decode_memory_limit(16 * MIB), SDD_OK);
    gate_set(0);
    CHECK(sem_init(&of_the_large, 0, 0) == 0);
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = paced_url("gate", side, side, 0, 0, 1);
    request.progress = note_half;
    request.completed = note_large;
    request.user_data = &is_noted;
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    take(&of_the_large);
    for (int i = 0; i < SMALL; i++) {
        small[i] = (record)RECORD_INIT;
        sdd_download_request one = record_request(&small[i], paced_url("png", 100, 100, 0, 0, i));
        CHECK(sdd_downloader_submit(downloader, &one) != 0);
    }
    for (int i = 0; i < SMALL; i++) {
        record_wait(&small[i]);
        CHECK_ENDED(&small[i], SDD_OK, 0);
        CHECK_EQUAL(sdd_image_width(small[i].image), 100);
        record_clear(&small[i]);
    }
    gate_set(1);
    take(&of_the_large);
    destroy(downloader);
    sem_destroy(&of_the_large);
    CHECK_STATUS(sdd_process_set_decode_memory_limit(0), SDD_OK);
}

/* ---------------------------------------------------------------- blocking calls in a callback */

enum { WAY_GET, WAY_GET_OF_ONE_THAT_WAITS, WAY_BATCH, WAY_LAZY, WAYS };
enum { OTHERS = 20 };

/* A picture whose callback makes a blocking call while the results of the others wait behind it. */
typedef struct blocker {
    sdd_downloader *downloader;
    int way, has_blocked, ended, lasts;
    long sent_before;
    sdd_image *lazy;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} blocker;

static void get_one(blocker *b, const char *url)
{
    OWNED_IMAGE image = NULL;
    CHECK_STATUS(sdd_get(b->downloader, url, 0, -1, &image, NULL, NULL), SDD_OK);
    CHECK(sdd_image_width(image) >= 1000);
}

static void take_a_batch(blocker *b)
{
    const char *urls[3] = { paced_url("png", 1000, 1000, 0, 0, 901), paced_url("png", 1000, 1100, 0, 0, 902),
                            paced_url("png", 1000, 1000, 0, 9 * MIB, 903) };
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch *batch = NULL;
    config.downloader = b->downloader;
    config.urls = urls;
    config.count = 3;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    for (int taken = 0; taken < 3;) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        size_t count = 0;
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
        CHECK_EQUAL(count, 1);
        CHECK_STATUS(item.result->failure.status, SDD_OK);
        CHECK_EQUAL(sdd_image_width(item.result->image), 1000);
        sdd_result_release(item.result);
        taken++;
    }
    sdd_batch_destroy(batch);
}

static void block(blocker *b)
{
    /* All the other bodies have arrived and wait for memory. */
    wait_for_sent(b->sent_before, b->lasts);
    switch (b->way) {
    case WAY_GET: get_one(b, paced_url("png", 1000, 1000, 0, 9 * MIB, 900)); break;
    case WAY_GET_OF_ONE_THAT_WAITS: get_one(b, paced_url("png", 1000, 1000, 0, 0, OTHERS - 1)); break;
    case WAY_BATCH: take_a_batch(b); break;
    default: CHECK(sdd_image_pixels(b->lazy) != NULL);
    }
}

static void completed_blocking(const sdd_result *result, void *user_data)
{
    blocker *b = user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK_EQUAL(sdd_image_width(result->image), 1000);
    if (!b->has_blocked) {
        b->has_blocked = 1;
        block(b);
    }
    pthread_mutex_lock(&b->lock);
    b->ended++;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

static sdd_image *lazy_image(void)
{
    sdd_downloader *downloader = downloader_of(SDD_DELIVERY_THREAD, 1, 1);
    sdd_image *image = NULL;
    CHECK_STATUS(sdd_get(downloader, paced_url("png", 1000, 1000, 0, 0, 800), SDD_OPTION_AVOID_DECODE_IMAGE, -1, &image, NULL, NULL), SDD_OK);
    destroy(downloader);
    return image;
}

CASE(calls_that_block_in_a_callback_return)
{
    CHECK_STATUS(sdd_process_set_decode_memory_limit(8 * MIB), SDD_OK);
    for (int round = 0; round < 2 * WAYS; round++) {
        blocker b = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
        int is_host = round / WAYS;
        b.way = round % WAYS;
        b.lazy = b.way == WAY_LAZY ? lazy_image() : NULL;
        b.sent_before = sent_so_far();
        /* If more than 8 MiB of bodies wait, no more transfers start: six have started before that. */
        b.lasts = 6;
        b.downloader = downloader_of(is_host ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD, 1 + round % 3, 6);
        for (int i = 0; i < OTHERS; i++) {
            sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
            request.url = paced_url("png", 1000, 1000, 0, i % 2 ? 0 : 2 * MIB, i);
            request.completed = completed_blocking;
            request.user_data = &b;
            CHECK(sdd_downloader_submit(b.downloader, &request) != 0);
        }
        if (is_host) {
            CHECK_STATUS(sdd_downloader_idle_wait(b.downloader, -1), SDD_OK);
        } else {
            pthread_mutex_lock(&b.lock);
            while (b.ended < OTHERS) pthread_cond_wait(&b.changed, &b.lock);
            pthread_mutex_unlock(&b.lock);
        }
        CHECK_EQUAL(b.ended, OTHERS);
        destroy(b.downloader);
        sdd_image_release(b.lazy);
    }
    CHECK_STATUS(sdd_process_set_decode_memory_limit(0), SDD_OK);
}

/* ------------------------------------------------------------------ a small file that needs much memory */

static long kib_of(const char *name)
{
    char line[200];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) kib = strtol(line + strlen(name), NULL, 10);
    fclose(file);
    return kib;
}

static long peak_kib(void) { return kib_of("VmHWM:"); }
static long resident_kib(void) { return kib_of("VmRSS:"); }

/* Resets the peak of resident memory. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    CHECK(file != NULL && fputs("5", file) >= 0 && fclose(file) == 0);
}

CASE(a_small_file_cannot_claim_much_memory)
{
    record r = RECORD_INIT;
    sdd_downloader *downloader = downloader_of(SDD_DELIVERY_THREAD, 2, 6);
    long before = resident_kib();
    reset_peak();
    const char *url = paced_url("flat", 11340, 11340, 0, 0, 0);
    sdd_download_request request = record_request(&r, url);
    CHECK(sdd_downloader_submit(downloader, &request) != 0);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY);
    CHECK(strstr(r.message, "so small a body") != NULL);
    record_clear(&r);
    /* Scaled down while it is decoded, it takes little memory; a tool takes minutes for 36 million pixels. */
    if (memory_is_ours()) {
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        r = (record)RECORD_INIT;
        options.target_width = 100;
        request = record_request(&r, paced_url("flat", 6000, 6000, 0, 0, 0));
        request.decode = &options;
        CHECK(sdd_downloader_submit(downloader, &request) != 0);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(sdd_image_width(r.image), 100);
        record_clear(&r);
    }
    destroy(downloader);
    if (memory_is_ours() && peak_kib() - before > 48 << 10) FAIL("a peak of %ld KiB more", peak_kib() - before);
}

CASE(max_decode_ratio_allows_more_memory)
{
    sdd_limits limits = SDD_LIMITS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .limits = &limits };
    sdd_image *image = NULL;
    limits.max_decode_ratio = -1;
    limits.decode_time_ms = -1; /* a tool takes minutes for 36 million pixels */
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    CHECK_STATUS(sdd_get(downloader, paced_url("flat", 6000, 6000, 0, 0, 1), 0, -1, &image, NULL, NULL), SDD_OK);
    CHECK_EQUAL(sdd_image_width(image), 6000);
    sdd_image_release(image);
    destroy(downloader);
    /* A file that is large enough for its pixels needs no special limit. */
    limits.max_decode_ratio = 0;
    downloader = make_downloader(&config);
    CHECK_STATUS(sdd_get(downloader, paced_url("png", 6000, 6000, 0, 0, 2), 0, -1, &image, NULL, NULL), SDD_OK);
    sdd_image_release(image);
    CHECK_STATUS(sdd_get(downloader, paced_url("flat", 5700, 5700, 0, 0, 3), 0, -1, &image, NULL, NULL), SDD_OK);
    sdd_image_release(image);
}

static sem_t scans_ended;

static void completed_scans(const sdd_result *result, void *user_data)
{
    const int *side = user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    CHECK(sdd_image_width(result->image) == *side && image_info(result->image).good_rows == *side);
    CHECK(sem_post(&scans_ended) == 0);
}

/* These JPEGs are not progressive, but have a scan for each component: their decoder keeps all coefficients, which take
   more memory than the pixels. Many arrive at once, and together they stay within the limit. */
CASE(coefficients_of_all_scans_count)
{
    enum { PICTURES = 8, LIMIT = 64 * MIB, KEPT = 36 * MIB, SLACK = 8 * MIB };
    int side = memory_is_ours() ? 2000 : 200;
    sdd_downloader *downloader = downloader_of(SDD_DELIVERY_THREAD, PICTURES, PICTURES);
    CHECK_STATUS(sdd_process_set_decode_memory_limit(LIMIT), SDD_OK);
    CHECK(sem_init(&scans_ended, 0, 0) == 0);
    gate_set(0);
    long before = resident_kib();
    reset_peak();
    for (int i = 0; i < PICTURES; i++) {
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = paced_url("scans", side, side, 0, 0, i);
        request.completed = completed_scans;
        request.user_data = &side;
        CHECK(sdd_downloader_submit(downloader, &request) != 0);
    }
    wait_for_held(PICTURES);
    gate_set(1);
    for (int i = 0; i < PICTURES; i++) take(&scans_ended);
    long more = peak_kib() - before;
    destroy(downloader);
    sem_destroy(&scans_ended);
    CHECK_STATUS(sdd_process_set_decode_memory_limit(0), SDD_OK);
    if (memory_is_ours() && more > (LIMIT + KEPT + SLACK) >> 10) FAIL("a peak of %ld KiB more", more);
}

int main(void)
{
    start_watchdog();
    mallopt(M_MMAP_THRESHOLD, MIB); /* otherwise malloc keeps freed memory for each thread */
    start_paced();
    int threads = count_threads(), descriptors = count_descriptors();
    run_cases();
    CHECK_NOTHING_LEFT(threads, descriptors);
    stop_paced();
    return 0;
}

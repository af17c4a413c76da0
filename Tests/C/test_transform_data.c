/* The user data of an application's transform: it is never used once it has been freed, and freed once. */
#include "loads.h"

#include <stdatomic.h>

/* The data of one transform. */
typedef struct data {
    atomic_int is_alive;
    loader_in_folder *of; /* used when the data is freed */
} data;

static data all[16];
static atomic_int made, freed, calls;

/* While `holds` is set, the transform waits in between. */
static atomic_int holds;
static sem_t entered, leave;

static sdd_image *turn_black(sdd_image *image, void *user_data)
{
    data *d = user_data;
    calls++;
    if (!atomic_load(&d->is_alive)) FAIL("a transform begins with data that has been freed");
    if (holds) {
        sem_post(&entered);
        take(&leave);
    }
    if (!atomic_load(&d->is_alive)) FAIL("data is freed while a transform uses it");
    const uint8_t pixels[4] = { 0, 0, 0, 255 };
    sdd_image *black = NULL;
    (void)image;
    CHECK_STATUS(sdd_image_create(1, 1, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &black), SDD_OK);
    return black;
}

/* Calls the library, which would hang if a thread of it held a lock now. */
static void free_data(void *user_data)
{
    data *d = user_data;
    if (!atomic_exchange(&d->is_alive, 0)) FAIL("data is freed twice");
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    sdd_cache_statistics of_cache = SDD_CACHE_STATISTICS_INIT;
    if (d->of != NULL && sdd_downloader_get_statistics(d->of->downloader, &statistics) == SDD_OK) {
        sdd_loader_running_count(d->of->loader);
        CHECK_STATUS(sdd_cache_get_statistics_wait(d->of->cache.cache, &of_cache), SDD_OK);
        CHECK_EQUAL(sdd_loader_is_blocked(d->of->loader, "http://127.0.0.1/"), 0);
    }
    freed++;
}

static int count_freed(void) { return freed; }

static void begin(void) { made = freed = calls = 0; }

/* Returns a transform with data of its own. */
static sdd_transform black(loader_in_folder *l)
{
    sdd_transform transform = SDD_TRANSFORM_INIT;
    data *d = &all[made++ % 16];
    d->is_alive = 1;
    d->of = l;
    transform.kind = SDD_TRANSFORM_CALLBACK;
    transform.key = "black";
    transform.callback = turn_black;
    transform.user_data = d;
    transform.user_data_free = free_data;
    return transform;
}

static sdd_load_request load_with(record *r, const char *url, const sdd_transform *transform)
{
    sdd_load_request request = record_load(r, url, 0);
    request.transforms = transform;
    request.transform_count = 1;
    return request;
}

static void check_freed(int count)
{
    if (!settles(count_freed, count)) FAIL("%d data are freed, not %d", (int)freed, count);
}

static void check_ends(int has_cache)
{
    static const struct { const char *path; sdd_status error; int calls; } ends[] = {
        { "/file/png/rgb8.png?data", SDD_OK, 1 },
        { "/status/404", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0 },
        { "/html", SDD_ERROR_BAD_IMAGE_DATA, 0 },
        { "/cut?size=1000", SDD_ERROR_TRUNCATED_BODY, 0 },
        { "nonsense", SDD_ERROR_INVALID_URL, 0 },
    };
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.no_cache = !has_cache;
    OWNED_LOADER l = open_loader_over(config, NULL);
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        begin();
        sdd_transform transform = black(&l);
        sdd_load_request request = load_with(&r, ends[i].path[0] == '/' ? at(ends[i].path) : ends[i].path, &transform);
        load_as(&l, &r, &request);
        CHECK_STATUS(r.error, ends[i].error);
        check_freed(1);
        CHECK_EQUAL(calls, ends[i].calls);
    }
    begin();
    sdd_transform transform = black(&l);
    sdd_load_request request = load_with(&r, at("/silence?data"), &transform);
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_suspend(l.downloader), SDD_OK);
    CHECK_STATUS(sdd_cancel(submit_load(&l, &request)), SDD_OK);
    record_wait(&r);
    check_freed(1);
}

CASE(each_end_frees_the_data)
{
    check_ends(1);
    check_ends(0);
}

CASE(cached_pictures_free_the_data)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/file/png/rgb8.png?cached");
    for (int i = 0; i < 4; i++) {
        begin();
        sdd_transform transform = black(&l);
        sdd_load_request request = load_with(&r, url, &transform);
        if (i >= 2) leave_to_disk(&l);
        /* At last only the original is on disk. */
        const char *key = key_of(l.cache.cache, url, NULL, &transform, 1);
        if (i == 3) CHECK_STATUS(sdd_cache_remove_wait(l.cache.cache, key, SDD_CACHE_ALL), SDD_OK);
        static const int32_t origins[] = { SDD_ORIGIN_NETWORK, SDD_ORIGIN_MEMORY, SDD_ORIGIN_DISK, SDD_ORIGIN_DISK };
        load_from(&l, &request, origins[i]);
        check_freed(1);
        CHECK_EQUAL(calls, i == 0 || i == 3);
    }
}

/* A call that is refused takes nothing; nor does one that only makes a key. */
CASE(refused_calls_leave_the_data)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT;
    begin();
    sdd_transform two[] = { black(&l), SDD_TRANSFORM_INIT };
    char key[64];
    sdd_load_request request = load_with(&r, at("/ok"), two);
    request.transform_count = 2; /* the second has no kind */
    CHECK_REFUSED(sdd_loader_submit(l.loader, &request), SDD_ERROR_INVALID_ARGUMENT);
    request.transform_count = 1;
    request.query = 99;
    CHECK_REFUSED(sdd_loader_submit(l.loader, &request), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_transform_key(two, 1, key, sizeof key, NULL), SDD_OK);
    key_of(l.cache.cache, at("/ok"), NULL, two, 1);

    sdd_load_request waiting = SDD_LOAD_REQUEST_INIT;
    sdd_result *loaded = NULL;
    waiting.url = at("/ok");
    waiting.transforms = two;
    waiting.transform_count = 1;
    waiting.query = 99;
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &waiting, -1, &loaded), SDD_ERROR_INVALID_ARGUMENT);
    sdd_failure failure;
    CHECK(loaded == NULL && sdd_last_error(&failure) == SDD_ERROR_INVALID_ARGUMENT);
    CHECK(failure.stage == SDD_STAGE_NONE && failure.error_class == SDD_CLASS_REQUEST);
    CHECK_TEXT(failure.message, sdd_last_error_message());

    sdd_image *image = NULL, *out = NULL;
    const uint8_t pixels[4] = { 9, 9, 9, 255 };
    CHECK_STATUS(sdd_image_create(1, 1, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    CHECK_STATUS(sdd_image_transform(image, two, 2, &out), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(freed, 0);
    CHECK_STATUS(sdd_image_transform(image, two, 1, &out), SDD_OK);
    CHECK_EQUAL(freed, 1);
    sdd_image_release(image);
    sdd_image_release(out);
    close_loader(&l);
    CHECK_EQUAL(freed, 1);
}

CASE(a_waiting_load_frees_the_data)
{
    static const char *const paths[] = { "/file/png/rgb8.png?waiting", "/status/404", "nonsense" };
    OWNED_LOADER l = open_loader();
    for (size_t i = 0; i < sizeof paths / sizeof *paths + 1; i++) {
        begin();
        sdd_transform transform = black(&l);
        sdd_load_request request = SDD_LOAD_REQUEST_INIT;
        sdd_result *loaded = NULL;
        request.url = i == 3 ? at("/ok") : paths[i][0] == '/' ? at(paths[i]) : paths[i];
        request.options = i == 3 ? SDD_OPTION_PREVIEW_EVENTS : 0; /* means nothing here */
        request.transforms = &transform;
        request.transform_count = 1;
        sdd_loader_submit_wait(l.loader, &request, -1, &loaded);
        CHECK((loaded->failure.status == SDD_OK) == (i == 0));
        CHECK((loaded->failure.stage == SDD_STAGE_NONE) == (i == 0));
        check_freed(1);
        sdd_result_release(loaded);
    }
}

/* A load that is cancelled ends at once, although its transform is still running. */
CASE(the_data_lives_while_a_transform_runs)
{
    for (int destroys = 0; destroys < 2; destroys++) {
        loader_in_folder l = open_loader();
        record r = RECORD_INIT;
        begin();
        holds = 1;
        sdd_transform transform = black(&l);
        sdd_load_request request = load_with(&r, at("/file/png/rgb8.png?cancel"), &transform);
        sdd_token token = submit_load(&l, &request);
        take(&entered);
        if (destroys) CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
        else CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&r);
        CHECK_STATUS(r.error, SDD_ERROR_CANCELLED);
        CHECK_EQUAL(freed, 0);
        sem_post(&leave);
        holds = 0;
        check_freed(1);
        record_clear(&r);
        if (!destroys) CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
        destroy(l.downloader);
        close_cache(&l.cache);
    }
}

/* Loads with equal keys share the work, which may be done with the data of a load that has been cancelled. */
CASE(the_data_lives_while_another_load_shares_it)
{
    OWNED_LOADER l = open_loader();
    record records[3] = { RECORD_INIT, RECORD_INIT, RECORD_INIT };
    for (int from_disk = 0; from_disk < 2; from_disk++) {
        const char *url = at("/hold/shared?file=png/rgb8.png");
        sdd_token tokens[3];
        begin();
        holds = from_disk;
        if (from_disk) {
            leave_to_disk(&l);
            sdd_transform transform = black(&l);
            CHECK_STATUS(
                sdd_cache_remove_wait(l.cache.cache, key_of(l.cache.cache, url, NULL, &transform, 1), SDD_CACHE_ALL), SDD_OK);
            begin();
        }
        for (int i = 0; i < 3; i++) {
            record_clear(&records[i]);
            sdd_transform transform = black(&l);
            sdd_load_request request = load_with(&records[i], url, &transform);
            tokens[i] = submit_load(&l, &request);
            if (from_disk && i == 0) take(&entered);
        }
        for (int i = 0; i < 2; i++) {
            CHECK_STATUS(sdd_cancel(tokens[i]), SDD_OK);
            record_wait(&records[i]);
            CHECK_STATUS(records[i].error, SDD_ERROR_CANCELLED);
        }
        if (from_disk) {
            holds = 0;
            for (int i = 0; i < 3; i++) sem_post(&leave); /* as many as may wait */
        } else {
            release("shared");
        }
        record_wait(&records[2]);
        CHECK_ENDED(&records[2], SDD_OK, 0);
        CHECK_EQUAL(sdd_image_width(records[2].image), 1);
        check_freed(3);
        CHECK(calls >= 1);
    }
    for (int i = 0; i < 3; i++) record_clear(&records[i]);
}

/* The options processor gives loads of prefetch lists and batches transforms. */
static void add_black(sdd_load_request *request, void *user_data)
{
    static _Thread_local sdd_transform transform;
    transform = black(*(loader_in_folder **)user_data);
    request->transforms = &transform;
    request->transform_count = 1;
}

CASE(lists_and_batches_free_the_data)
{
    loader_in_folder l, *later = &l;
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.options_processor = add_black;
    config.user_data = &later;
    l = open_loader_over(config, NULL);
    const char *const urls[] = { at("/file/png/rgb8.png?list"), at("/status/404?list"), "nonsense" };
    begin();
    sdd_batch *batch = NULL;
    sdd_batch_config batch_config = SDD_BATCH_CONFIG_INIT;
    batch_config.loader = l.loader;
    batch_config.urls = urls;
    batch_config.count = 3;
    CHECK_STATUS(sdd_batch_create(&batch_config, &batch), SDD_OK);
    for (size_t taken = 0, count; taken < 3; taken += count) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
        sdd_result_release(item.result);
    }
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    check_freed(made);
    CHECK(made >= 2);

    begin();
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    list.urls = urls;
    list.count = 3;
    CHECK(sdd_prefetch(l.loader, &list) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    check_freed(made);
    CHECK(made >= 2);
    close_loader(&l);
}

int main(void)
{
    start_watchdog();
    sem_init(&entered, 0, 0);
    sem_init(&leave, 0, 0);
    return run_cases();
}

/* One token covers all stages of a load, and whatever ends it: rows M6, M7, M16, X11, Z1, Z5, Z6. */
#include "loads.h"

#include <stdatomic.h>

#define PICTURE "/file/png/rgb8.png"

/* A callback of the application holds a load up in gate() until let_through(). */
static sem_t entered, may_go_on, left;

static void gate(void)
{
    sem_post(&entered);
    take(&may_go_on);
    sem_post(&left);
}

/* Waits for those that are held up to leave, since a later one would take the place of one that is slow. */
static void let_through(int count)
{
    for (int i = 0; i < count; i++) sem_post(&may_go_on);
    for (int i = 0; i < count; i++) take(&left);
}

static int32_t held_up(const char *url, void *user_data)
{
    (void)url, (void)user_data;
    gate();
    return 1;
}

static sdd_block_choice judge(const char *url, const sdd_failure *failure, void *user_data)
{
    (void)url, (void)failure, (void)user_data;
    gate();
    return SDD_BLOCK_BY_POLICY;
}

static sdd_image *transform(sdd_image *image, void *user_data)
{
    (void)user_data;
    gate();
    return sdd_image_retain(image);
}

static sdd_bytes *serialize(sdd_image *image, sdd_bytes *bytes, const char *key, void *user_data)
{
    (void)image, (void)key, (void)user_data;
    gate();
    return sdd_bytes_retain(bytes);
}

/* Cancels a load and checks that its end comes once. */
static void check_cancel(loader_in_folder *l, record *r, sdd_token token, int32_t detail)
{
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    CHECK_EQUAL(sdd_loader_running_count(l->loader), 1);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(r);
    CHECK_ENDED(r, SDD_ERROR_CANCELLED, detail ? detail : r->detail);
    CHECK(r->detail >= SDD_DETAIL_CANCELLED_WAITING && r->detail <= SDD_DETAIL_CANCELLED_CACHE);
    CHECK(r->token == token && r->image == NULL);
    CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_HIGH), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(sdd_loader_running_count(l->loader), 0);
    record_clear(r);
}

/* ------------------------------------------------------------------------------------- cancel, by stages */

CASE(m16_cancelled_while_it_waits_and_while_it_is_sent)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_load_request request = record_load(&r, at("/hold/m16?file=png/rgb8.png"), SDD_OPTION_FROM_LOADER_ONLY);
    CHECK_STATUS(sdd_downloader_suspend(l.downloader), SDD_OK);
    sdd_token token = submit_load(&l, &request);
    check_cancel(&l, &r, token, SDD_DETAIL_CANCELLED_WAITING);
    CHECK_STATUS(sdd_downloader_resume(l.downloader), SDD_OK);
    token = submit_load(&l, &request);
    wait_for_requests("/hold/m16", 1);
    check_cancel(&l, &r, token, SDD_DETAIL_CANCELLED_SENDING);
    /* If two loads share the transfer, the other one continues. */
    OWNED_RECORD other = RECORD_INIT;
    token = submit_load(&l, &request);
    wait_for_requests("/hold/m16", 2);
    request.user_data = &other;
    submit_load(&l, &request);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&r);
    CHECK_EQUAL(r.error, SDD_ERROR_CANCELLED);
    release("m16");
    record_wait(&other);
    CHECK_ENDED(&other, SDD_OK, 0);
    CHECK_EQUAL(requests_of("/hold/m16"), 2);
}

/* The load is between the cache and the network, where no request of the downloader has its token. */
CASE(m16_cancelled_while_the_application_is_asked)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.should_download = held_up;
    OWNED_LOADER l = open_loader_over(config, NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_load_request request = record_load(&r, at(PICTURE "?m16-asked"), 0);
    sdd_token token = submit_load(&l, &request);
    take(&entered);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_HIGH), SDD_OK);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    /* It ends at once, although the application has not answered yet. */
    record_wait(&r);
    CHECK_EQUAL(r.error, SDD_ERROR_CANCELLED);
    let_through(1);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    CHECK_EQUAL(hits(PICTURE "?m16-asked"), 0);
}

/* The load is between two sources. */
CASE(m16_cancelled_while_a_failure_is_judged)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.should_block_failed_url = judge;
    OWNED_LOADER l = open_loader_over(config, NULL);
    OWNED_RECORD r = RECORD_INIT;
    const char *other = at(PICTURE "?m16-judged");
    sdd_load_request request = record_load(&r, at("/status/404?m16"), 0);
    request.alternatives = &other;
    request.alternative_count = 1;
    sdd_token token = submit_load(&l, &request);
    take(&entered);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&r);
    CHECK_EQUAL(r.error, SDD_ERROR_CANCELLED);
    let_through(1);
    /* The network thread is being held in the callback: it downloads this afterwards. */
    get_from(&l, &r, at(PICTURE "?m16-after"), 0, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(hits(PICTURE "?m16-judged"), 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, at("/status/404?m16")), 1);
}

/* The load is being decoded: first from the network, then from the disk. */
CASE(m16_x11_cancelled_while_it_is_decoded)
{
    OWNED_LOADER l = open_loader();
    record r = RECORD_INIT;
    sdd_transform held = SDD_TRANSFORM_INIT;
    const char *url = at(PICTURE "?m16-decoded");
    held.kind = SDD_TRANSFORM_CALLBACK;
    held.callback = transform;
    held.key = "held";
    pictures_are_transformed = 1;
    sdd_load_request request = record_load(&r, url, 0);
    request.transforms = &held;
    request.transform_count = 1;
    for (int i = 0; i < 2; i++) {
        sdd_token token = submit_load(&l, &request);
        take(&entered);
        check_cancel(&l, &r, token, i ? 0 : SDD_DETAIL_CANCELLED_DECODING);
        let_through(1);
        /* The original is in the cache, or comes with this load. */
        get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, i ? SDD_ORIGIN_MEMORY : SDD_ORIGIN_NETWORK);
        record_clear(&r);
    }
    pictures_are_transformed = 0;
}

CASE(m16_cancelled_while_it_is_stored)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.serializer = serialize;
    loader_in_folder l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, cache);
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at(PICTURE "?m16-stored");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    sdd_token token = submit_load(&l, &request);
    take(&entered);
    check_cancel(&l, &r, token, 0);
    let_through(1);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY); /* the store is not undone */
    close_loader(&l);
}

CASE(z7_cancelled_while_it_waits_for_another_attempt)
{
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .retry = &retry };
    retry.delay_ms = 10000000;
    retry.max_delay_ms = 10000000;
    OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
    record r = RECORD_INIT;
    sdd_load_request request = record_load(&r, at("/status/503?m16"), 0);
    sdd_token token = submit_load(&l, &request);
    wait_for_hit("/status/503?m16");
    check_cancel(&l, &r, token, 0);
    CHECK_EQUAL(hits("/status/503?m16"), 1);
}

/* The loads are cancelled inside their cached callback and inside their terminal callback. */
static loader_in_folder *inner;

static void cancel_inside(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(sdd_cancel(result->token), SDD_OK);
}

static void load_inside(const sdd_result *result, void *user_data)
{
    static record again = RECORD_INIT;
    CHECK_STATUS(sdd_cancel(result->token), SDD_ERROR_NOT_FOUND);
    sdd_load_request request = record_load(&again, result->url, SDD_OPTION_FROM_CACHE_ONLY);
    submit_load(inner, &request);
    CHECK(again.completed_count == 0);
    record_completed(result, user_data);
}

CASE(k6_cancelled_inside_callbacks)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = in_turns("k6", PICTURE, "/hold/k6?file=jpeg/baseline-444.jpg");
    inner = &l;
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.completed = load_inside;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    request = record_load(&r, url, SDD_OPTION_REFRESH_CACHED);
    request.cached = cancel_inside;
    load_as(&l, &r, &request);
    CHECK_EQUAL(r.error, SDD_ERROR_CANCELLED);
    release("k6");
}

/* ---------------------------------------------------------------------------- token info and timeouts */

/* The load's priority applies to each of its stages. */
CASE(z5_priority_and_info_by_the_token)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    char url[300];
    const char *other = at("/hold/z5?file=png/rgb8.png");
    sdd_load_request request = record_load(&r, at("/hold/z5-first?status=404"), 0);
    request.alternatives = &other;
    request.alternative_count = 1;
    sdd_token token = submit_load(&l, &request);
    wait_for_requests("/hold/z5-first", 1);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK(info.state == SDD_STATE_RUNNING && info.priority == SDD_PRIORITY_NORMAL);
    CHECK_STATUS(sdd_token_get_url(token, url, sizeof url, NULL), SDD_OK);
    CHECK_TEXT(url, at("/hold/z5-first?status=404"));
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_VERY_LOW), SDD_OK);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK_EQUAL(info.priority, SDD_PRIORITY_VERY_LOW);
    release("z5-first");
    wait_for_requests("/hold/z5", 1);
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK_EQUAL(info.priority, SDD_PRIORITY_VERY_LOW);
    release("z5");
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* The limit covers all stages together: neither of the two would have reached it alone. */
CASE(z6_one_clock_over_all_stages)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *others[] = { at("/status/404?z6&delay=700"), at("/silence?z6") };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_load_request request = record_load(&r, at("/status/410?z6&delay=700"), 0);
    request.transfer = &transfer;
    request.alternatives = others;
    request.alternative_count = 2;
    transfer.total_timeout_ms = 1000;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL);
    if (r.metrics.total_us < 1000000 || r.metrics.total_us > 1390000 * (scaled(100) < 100 ? 10 : 1))
        FAIL("after %lld us", (long long)r.metrics.total_us);
    CHECK_EQUAL(hits("/silence?z6"), 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, others[0]), 0);
}

/* ----------------------------------------------------------------------------------------------- ends */

/* A load is held up at each of these stages. */
enum { ASKED, SENT, DECODED, STORED, STAGES };

typedef struct held {
    loader_in_folder l;
    record r[STAGES];
    record plain;
} held;

static int32_t hold_some(const char *url, void *user_data)
{
    return strstr(url, "asked") ? held_up(url, user_data) : 1;
}

static sdd_bytes *serialize_some(sdd_image *image, sdd_bytes *bytes, const char *key, void *user_data)
{
    return strstr(key, "stored") ? serialize(image, bytes, key, user_data) : sdd_bytes_retain(bytes);
}

static void hold_all(held *h, const char *name)
{
    static sdd_transform held_one = SDD_TRANSFORM_INIT;
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    held_one.kind = SDD_TRANSFORM_CALLBACK;
    held_one.callback = transform;
    held_one.key = "held";
    config.should_download = hold_some;
    cache.serializer = serialize_some;
    h->l = open_loader_of(config, NULL, cache);
    static const char *const paths[] = {
        PICTURE "?asked-%s", "/hold/sent-%s", PICTURE "?decoded-%s", PICTURE "?stored-%s" };
    for (int i = 0; i < STAGES; i++) {
        char path[200];
        snprintf(path, sizeof path, paths[i], name);
        h->r[i] = (record)RECORD_INIT;
        sdd_load_request request = record_load(&h->r[i], at(path), i == STORED ? SDD_OPTION_WAIT_STORE_CACHE : 0);
        request.transforms = i == DECODED ? &held_one : NULL;
        request.transform_count = i == DECODED;
        submit_load(&h->l, &request);
        if (i == SENT) wait_for_requests(path, 1);
        else take(&entered);
    }
    h->plain = (record)RECORD_INIT;
    record_submit(h->l.downloader, &h->plain, atf("/hold/plain-%s", name), SDD_OPTION_BYTES_ONLY);
    wait_for_requests(strchr(strstr(atf("/hold/plain-%s", name), "//") + 2, '/'), 1);
    CHECK_EQUAL(sdd_loader_running_count(h->l.loader), STAGES);
}

static void let_go(void) { let_through(STAGES - 1); }

static void check_ends(held *h)
{
    for (int i = 0; i < STAGES; i++) {
        record_wait(&h->r[i]);
        if (h->r[i].error != SDD_ERROR_CANCELLED) FAIL("stage %d: %s", i, sdd_status_name(h->r[i].error));
        record_clear(&h->r[i]);
    }
}

static void check_plain(held *h, const char *name, sdd_status error)
{
    char gate[100];
    snprintf(gate, sizeof gate, "plain-%s", name);
    release(gate);
    record_wait(&h->plain);
    CHECK_EQUAL(h->plain.error, error);
    record_clear(&h->plain);
}

/* Only the loads of this loader end. */
CASE(m7_cancel_all)
{
    held h;
    hold_all(&h, "all");
    CHECK_STATUS(sdd_loader_cancel_all(h.l.loader), SDD_OK);
    let_go();
    check_ends(&h);
    CHECK_EQUAL(sdd_loader_running_count(h.l.loader), 0);
    check_plain(&h, "all", SDD_OK);
    record r = RECORD_INIT;
    get_from(&h.l, &r, at(PICTURE "?m7-after"), 0, SDD_ORIGIN_NETWORK);
    record_clear(&r);
    close_loader(&h.l);
}

CASE(the_loader_is_destroyed)
{
    held h;
    hold_all(&h, "loader");
    CHECK_STATUS(sdd_loader_destroy(h.l.loader), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(h.l.loader), SDD_ERROR_CLOSED);
    let_go();
    check_ends(&h);
    check_plain(&h, "loader", SDD_OK);
    CHECK_EQUAL(sdd_load(h.l.loader, at(PICTURE), 0, NULL, record_completed, NULL), 0);
    destroy(h.l.downloader);
    close_cache(&h.l.cache);
}

static void process_held_up(sdd_load_request *request, void *user_data)
{
    (void)request, (void)user_data;
    gate();
}

static int32_t never_asked(const char *url, void *user_data)
{
    (void)user_data;
    FAIL("%s is asked for", url);
}

static record submitted;

static void *submit_meanwhile(void *loader)
{
    sdd_load_request request = record_load(&submitted, at(PICTURE "?overlap"), 0);
    CHECK(sdd_loader_submit(loader, &request) != 0);
    return NULL;
}

/* A load that is being submitted is cancelled like the others. */
CASE(the_loader_is_destroyed_during_a_submission)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.options_processor = process_held_up;
    config.should_download = never_asked;
    loader_in_folder l = open_loader_over(config, NULL);
    pthread_t thread;
    submitted = (record)RECORD_INIT;
    CHECK_EQUAL(pthread_create(&thread, NULL, submit_meanwhile, l.loader), 0);
    take(&entered);
    CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
    let_through(1);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    record_wait(&submitted);
    CHECK_ENDED(&submitted, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_WAITING);
    record_clear(&submitted);
    destroy(l.downloader);
    close_cache(&l.cache);
}

/* When destroy() returns, everything has ended. */
CASE(the_downloader_is_destroyed)
{
    held h;
    record r = RECORD_INIT;
    hold_all(&h, "downloader");
    let_go(); /* destroy() waits for these callbacks */
    destroy(h.l.downloader);
    for (int i = 0; i < STAGES; i++) CHECK(h.r[i].freed_count == 1);
    CHECK_EQUAL(h.r[SENT].error, SDD_ERROR_CANCELLED);
    for (int i = 0; i < STAGES; i++) record_clear(&h.r[i]);
    CHECK_EQUAL(h.plain.error, SDD_ERROR_CANCELLED);
    record_clear(&h.plain);
    sdd_load_request request = record_load(&r, at(PICTURE), 0);
    CHECK_REFUSED(sdd_loader_submit(h.l.loader, &request), SDD_ERROR_CLOSED);
    CHECK_EQUAL(sdd_loader_running_count(h.l.loader), 0);
    CHECK_STATUS(sdd_loader_destroy(h.l.loader), SDD_OK);
    close_cache(&h.l.cache);
}

/* A destroyed cache finds nothing and stores nothing; loads go on without it. */
CASE(the_cache_is_destroyed)
{
    loader_in_folder l = open_loader();
    record r = RECORD_INIT, waits = RECORD_INIT;
    const char *url = at(PICTURE "?cache");
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    sdd_load_request request = record_load(&waits, at("/hold/cache?file=png/rgb8.png"), SDD_OPTION_WAIT_STORE_CACHE);
    submit_load(&l, &request);
    wait_for_requests("/hold/cache", 1);
    close_cache(&l.cache);
    release("cache");
    record_wait(&waits);
    CHECK_ENDED(&waits, SDD_OK, 0);
    record_clear(&r);
    record_clear(&waits);
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    record_clear(&r);
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    load(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK_EQUAL(hits(PICTURE "?cache"), 3);
    record_clear(&r);
    CHECK_STATUS(sdd_loader_destroy(l.loader), SDD_OK);
    destroy(l.downloader);
}

/* Threads and descriptors before the loads. */
static int threads_before, descriptors_before;

CASE(nothing_is_left) { CHECK_NOTHING_LEFT(threads_before, descriptors_before); }

int main(void)
{
    start_watchdog();
    destroy(make_downloader(NULL)); /* a sanitizer may start a thread of its own with the first one */
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    sem_init(&entered, 0, 0);
    sem_init(&may_go_on, 0, 0);
    sem_init(&left, 0, 0);
    return run_cases();
}

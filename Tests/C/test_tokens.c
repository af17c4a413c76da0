/* A token alone identifies its request, whatever its kind and wherever it was submitted, for as long as the request has
   not ended. Any other number gives SDD_ERROR_NOT_FOUND and affects nothing. */
#include "loads.h"

#include <stdatomic.h>

/* ------------------------------------------------------------------------------- checks for every token */

/* Checks that a token belongs to nothing. */
static void is_none(sdd_token token)
{
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    sdd_response *response = (sdd_response *)&info;
    char url[8] = "unseen";
    size_t length = 7;
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_token_get_url(token, url, sizeof url, &length), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_token_get_response(token, &response), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_HIGH), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
    CHECK(response == NULL && length == 7 && info.state == 0 && info.priority == 0);
    CHECK_TEXT(url, "unseen");
}

static sdd_token_info info_of(sdd_token token)
{
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
    CHECK_EQUAL(info.struct_size, sizeof info);
    return info;
}

static void has_url(sdd_token token, const char *url)
{
    char text[300];
    size_t length = 0;
    CHECK_STATUS(sdd_token_get_url(token, text, sizeof text, &length), SDD_OK);
    CHECK_TEXT(text, url);
    CHECK_EQUAL(length, strlen(url));
}

static void has_no_response(sdd_token token)
{
    sdd_response *response = (sdd_response *)&token;
    CHECK_STATUS(sdd_token_get_response(token, &response), SDD_ERROR_NOT_FOUND);
    CHECK(response == NULL);
}

static void has_response(sdd_token token, const char *url)
{
    sdd_response *response = NULL;
    CHECK_STATUS(sdd_token_get_response(token, &response), SDD_OK);
    CHECK_EQUAL(sdd_response_status(response), 200);
    CHECK_TEXT(sdd_response_url(response), url);
    sdd_response_release(response);
}

static void takes_priority(sdd_token token, int32_t first)
{
    CHECK_EQUAL(info_of(token).priority, first);
    for (int32_t priority = SDD_PRIORITY_VERY_LOW; priority <= SDD_PRIORITY_VERY_HIGH; priority++) {
        CHECK_STATUS(sdd_set_priority(token, priority), SDD_OK);
        CHECK_EQUAL(info_of(token).priority, priority);
    }
    CHECK_STATUS(sdd_set_priority(token, SDD_PRIORITY_VERY_HIGH + 1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(info_of(token).priority, SDD_PRIORITY_VERY_HIGH);
}

/* Cancels a token once; then it belongs to nothing, before and after its callback. */
static void is_cancelled_once(sdd_token token, record *r)
{
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    is_none(token);
    record_wait(r);
    CHECK_STATUS(r->error, SDD_ERROR_CANCELLED);
    CHECK(r->token == token && r->completed_count == 1);
    is_none(token);
    record_clear(r);
}

/* ------------------------------------------------------------------------------------ downloads, loads */

CASE(a_download)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    sdd_token token = record_submit(downloader, &r, at("/ok?waiting"), SDD_OPTION_BYTES_ONLY);
    CHECK_EQUAL(info_of(token).state, SDD_STATE_WAITING);
    has_url(token, at("/ok?waiting"));
    has_no_response(token);
    takes_priority(token, SDD_PRIORITY_NORMAL);
    is_cancelled_once(token, &r);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);

    const char *url = at("/hold/token?size=100000&after=5000");
    token = record_submit(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
    record_wait_received(&r, 1000);
    CHECK_EQUAL(info_of(token).state, SDD_STATE_RUNNING);
    has_url(token, url);
    has_response(token, url);
    takes_priority(token, SDD_PRIORITY_NORMAL);
    is_cancelled_once(token, &r);

    /* This request ends by itself. */
    fetch(downloader, &r, at("/ok?token"), SDD_OPTION_BYTES_ONLY);
    is_none(r.token);
}

CASE(a_load)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/hold/token-load?size=100000&after=5000");
    sdd_load_request request = record_load(&r, url, 0);
    sdd_token token = submit_load(&l, &request);
    has_url(token, url);
    takes_priority(token, SDD_PRIORITY_NORMAL);
    record_wait_received(&r, 1000);
    CHECK_EQUAL(info_of(token).state, SDD_STATE_RUNNING);
    has_response(token, url);
    is_cancelled_once(token, &r);

    load(&l, &r, at("/file/png/rgb8.png?token"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    is_none(r.token);
}

/* --------------------------------------------------------------------------------------------- caches */

static sem_t entered, leave;

static void reset_gate(void)
{
    sem_init(&entered, 0, 0);
    sem_init(&leave, 0, 0);
}

/* Blocks the cache's writing thread until the test releases it. */
static sdd_bytes *wait_in_serializer(sdd_image *image, sdd_bytes *bytes, const char *key, void *user_data)
{
    (void)image, (void)key, (void)user_data;
    sem_post(&entered);
    take(&leave);
    return sdd_bytes_retain(bytes);
}

static sdd_token put_later(sdd_cache *cache, sdd_downloader *downloader, record *r, const char *key)
{
    sdd_bytes *bytes = fixture_bytes("png/rgb8.png");
    sdd_cache_item item = item_of(key, NULL, bytes, SDD_CACHE_DISK);
    item.completed = record_completed;
    item.user_data = r;
    item.user_data_free = record_freed;
    sdd_token token = sdd_cache_put(cache, downloader, &item);
    CHECK(token != 0);
    sdd_bytes_release(bytes);
    return token;
}

CASE(a_store)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    OWNED_RECORD first = RECORD_INIT, second = RECORD_INIT;
    reset_gate();
    config.serializer = wait_in_serializer;
    OWNED_CACHE c = open_cache(config);
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_token token = put_later(c.cache, downloader, &first, "one");
    take(&entered);
    sdd_token next = put_later(c.cache, downloader, &second, "two");
    has_url(token, "one");
    has_url(next, "two");
    has_no_response(token);
    takes_priority(next, SDD_PRIORITY_NORMAL);
    is_cancelled_once(next, &second);
    bodies_go_elsewhere = 1;
    for (int i = 0; i < 2; i++) sem_post(&leave);
    record_wait(&first);
    bodies_go_elsewhere = 0;
    CHECK_ENDED(&first, SDD_OK, 0);
    is_none(token);
}

/* Blocks a decode thread. */
static sdd_bytes *wait_in_transform(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)response, (void)user_data;
    sem_post(&entered);
    take(&leave);
    return sdd_bytes_retain(body);
}

/* The query waits for the only decode thread. */
CASE(a_query)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    OWNED_CACHE c = open_default();
    OWNED_RECORD holder = RECORD_INIT, r = RECORD_INIT;
    reset_gate();
    modifiers.body_transform = wait_in_transform;
    config.decode_threads = 1;
    config.modifiers = &modifiers;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    put(c.cache, KEY, NULL, fixture_bytes("png/rgb8.png"));
    record_submit(downloader, &holder, at("/ok?holder"), SDD_OPTION_BYTES_ONLY);
    take(&entered);
    sdd_cache_query_options query = query_of(KEY, SDD_CACHE_DISK, SDD_WANT_IMAGE);
    query.completed = record_completed;
    query.user_data = &r;
    query.user_data_free = record_freed;
    sdd_token token = sdd_cache_query(c.cache, downloader, &query);
    CHECK(info_of(token).state != SDD_STATE_RUNNING);
    has_url(token, KEY);
    has_no_response(token);
    takes_priority(token, SDD_PRIORITY_NORMAL);
    is_cancelled_once(token, &r);
    sem_post(&leave);
    record_wait(&holder);
    CHECK_ENDED(&holder, SDD_OK, 0);
}

/* ------------------------------------------------------------------------------------ lists to prefetch */

typedef struct list_end {
    sem_t ended;
    sdd_status error;
    int calls;
} list_end;

static void list_ended(const sdd_prefetch_report *report, void *user_data)
{
    list_end *end = user_data;
    end->error = report->status;
    end->calls++;
    sem_post(&end->ended);
}

static sdd_token submit_list(sdd_loader *loader, list_end *end, const char *const *urls, size_t count)
{
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    sem_init(&end->ended, 0, 0);
    list.urls = urls;
    list.count = count;
    list.completed = list_ended;
    list.user_data = end;
    sdd_token token = sdd_prefetch(loader, &list);
    CHECK(token != 0);
    return token;
}

/* Makes a loader without a cache: its loads reach their download as soon as they are submitted. */
static sdd_loader *loader_over(sdd_downloader *downloader)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *loader = NULL;
    config.downloader = downloader;
    config.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    return loader;
}

CASE(a_list)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_loader *loader = loader_over(downloader);
    list_end end = { .calls = 0 };
    const char *urls[] = { at("/hold/token-list-0"), at("/hold/token-list-1"), at("/hold/token-list-2") };
    size_t length = 7;
    sdd_token token = submit_list(loader, &end, urls, 3);
    sdd_token_info info = info_of(token);
    CHECK(info.state == SDD_STATE_RUNNING && info.http_status == 0 && info.received_bytes == 0);
    CHECK_STATUS(sdd_token_get_url(token, NULL, 0, &length), SDD_ERROR_NOT_FOUND);
    CHECK_EQUAL(length, 7);
    has_no_response(token);
    takes_priority(token, SDD_PRIORITY_VERY_LOW);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    is_none(token);
    take(&end.ended);
    CHECK(end.error == SDD_ERROR_CANCELLED && end.calls == 1);
    is_none(token);

    const char *quick[] = { at("/file/png/rgb8.png?token-list") };
    token = submit_list(loader, &end, quick, 1);
    take(&end.ended);
    CHECK(end.error == SDD_OK && end.calls == 2);
    is_none(token);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
}

/* Each load of the list shares a transfer with a load of the test, which shows its current priority. */
CASE(the_priority_of_a_list_is_that_of_its_loads)
{
    enum { URLS = 3 };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_loader *loader = loader_over(downloader);
    list_end end = { .calls = 0 };
    const char *urls[URLS];
    sdd_token tokens[URLS];
    record records[URLS];
    for (int i = 0; i < URLS; i++) urls[i] = strdup(atf("/file/png/rgb8.png?list-%d", i));
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    /* Two of the three loads begin. */
    CHECK_STATUS(sdd_loader_set_max_concurrent_prefetches(loader, 2), SDD_OK);
    sdd_token list = submit_list(loader, &end, urls, URLS);
    for (int i = 0; i < URLS; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_load_request request = record_load(&records[i], urls[i], 0);
        request.priority = SDD_PRIORITY_VERY_LOW;
        tokens[i] = sdd_loader_submit(loader, &request);
        CHECK_EQUAL(info_of(tokens[i]).effective_priority, SDD_PRIORITY_VERY_LOW);
    }
    CHECK_STATUS(sdd_set_priority(list, SDD_PRIORITY_HIGH), SDD_OK);
    for (int i = 0; i < URLS; i++) {
        CHECK_EQUAL(info_of(tokens[i]).priority, SDD_PRIORITY_VERY_LOW);
        CHECK_EQUAL(info_of(tokens[i]).effective_priority, i < 2 ? SDD_PRIORITY_HIGH : SDD_PRIORITY_VERY_LOW);
    }
    /* The third load begins with the list's current priority. */
    CHECK_STATUS(sdd_loader_set_max_concurrent_prefetches(loader, 3), SDD_OK);
    CHECK_EQUAL(info_of(tokens[2]).effective_priority, SDD_PRIORITY_HIGH);
    CHECK_STATUS(sdd_set_priority(list, SDD_PRIORITY_LOW), SDD_OK);
    for (int i = 0; i < URLS; i++) CHECK_EQUAL(info_of(tokens[i]).effective_priority, SDD_PRIORITY_LOW);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    take(&end.ended);
    CHECK(end.error == SDD_OK && end.calls == 1);
    for (int i = 0; i < URLS; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
        free((char *)urls[i]);
    }
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
}

/* ------------------------------------------------------------------ the owner of the token is destroyed */

CASE(tokens_of_destroyed_objects)
{
    sdd_downloader *downloader = make_downloader(NULL), *other = make_downloader(NULL);
    sdd_loader *loader = loader_over(downloader);
    list_end end = { .calls = 0 };
    OWNED_RECORD loaded = RECORD_INIT, downloaded = RECORD_INIT, lives = RECORD_INIT;
    const char *urls[] = { at("/hold/destroyed-list") };
    sdd_load_request request = record_load(&loaded, at("/hold/destroyed-load"), 0);
    sdd_token list = submit_list(loader, &end, urls, 1);
    sdd_token load = sdd_loader_submit(loader, &request);
    sdd_token download = record_submit(downloader, &downloaded, at("/hold/destroyed"), SDD_OPTION_BYTES_ONLY);
    sdd_token living = record_submit(other, &lives, at("/hold/living"), SDD_OPTION_BYTES_ONLY);
    CHECK(list < load && load < download && download < living);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    is_none(list);
    is_none(load);
    take(&end.ended);
    record_wait(&loaded);
    CHECK_STATUS(loaded.error, SDD_ERROR_CANCELLED);
    has_url(download, at("/hold/destroyed"));
    destroy(downloader);
    is_none(list);
    is_none(load);
    is_none(download);
    CHECK_STATUS(downloaded.error, SDD_ERROR_CANCELLED);
    is_cancelled_once(living, &lives);
    destroy(other);
    is_none(living);
}

/* -------------------------------------------------------------------------------------- other numbers */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

CASE(other_numbers_are_no_tokens)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record r = RECORD_INIT;
    uint64_t state = 0x9e3779b97f4a7c15;
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    sdd_token token = record_submit(downloader, &r, at("/ok?forged"), SDD_OPTION_BYTES_ONLY);
    for (int i = 0; i < 64; i++) is_none(token ^ (sdd_token)1 << i);
    for (sdd_token number = 0; number < 70000; number++)
        if (number != token) CHECK_STATUS(sdd_cancel(number), SDD_ERROR_NOT_FOUND);
    for (sdd_token number = token - 70000; number < token; number++) CHECK_STATUS(sdd_cancel(number), SDD_ERROR_NOT_FOUND);
    is_none(UINT64_MAX);
    is_none((sdd_token)(uintptr_t)downloader);
    for (int i = scaled(200000); i > 0; i--) is_none(next_random(&state));
    /* None of these numbers has affected the one request. */
    CHECK_EQUAL(info_of(token).priority, SDD_PRIORITY_NORMAL);
    CHECK_EQUAL(transfers_of(downloader), 1);
    is_cancelled_once(token, &r);
}

/* ---------------------------------------------------------------------------- eight threads at once */

enum { CALLERS = 8, SHOWN = 256 };

/* Tokens of any kind, alive or dead, that the threads share. */
static _Atomic sdd_token shown[SHOWN];
static atomic_int completions, frees;

static void count_end(const sdd_result *result, void *user_data)
{
    (void)result, (void)user_data;
    atomic_fetch_add(&completions, 1);
}

static void count_free(void *user_data)
{
    (void)user_data;
    atomic_fetch_add(&frees, 1);
}

static void ask_any(uint64_t *state)
{
    sdd_token token = next_random(state) % 8 ? atomic_load(&shown[next_random(state) % SHOWN]) : next_random(state);
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    sdd_response *response = NULL;
    char url[300];
    sdd_status status;
    switch (next_random(state) % 5) {
    case 0: status = sdd_cancel(token); break;
    case 1: status = sdd_set_priority(token, 1 + (int32_t)(next_random(state) % 5)); break;
    case 2: status = sdd_token_get_url(token, url, sizeof url, NULL); break;
    case 3:
        status = sdd_token_get_response(token, &response);
        CHECK((status == SDD_OK) == (response != NULL));
        sdd_response_release(response);
        break;
    default:
        status = sdd_token_get_info(token, &info);
        CHECK(status != SDD_OK || (info.state >= SDD_STATE_WAITING && info.state <= SDD_STATE_DECODING));
    }
    CHECK(status == SDD_OK || status == SDD_ERROR_NOT_FOUND);
}

static void *call_at_random(void *number)
{
    uint64_t state = 0x2545f4914f6cdd1d * (uint64_t)(1 + (intptr_t)number);
    atomic_int *submitted = calloc(1, sizeof *submitted);
    for (int round = scaled(40); round > 0; round--) {
        sdd_downloader *downloader = make_downloader(NULL);
        sdd_loader *loader = loader_over(downloader);
        for (int i = 0; i < 200; i++) {
            const char *url = "http://127.0.0.1:1/refused";
            sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
            sdd_load_request load = SDD_LOAD_REQUEST_INIT;
            sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
            sdd_token token = 0;
            request.url = load.url = "data:,at%20once";
            request.completed = load.completed = count_end;
            request.user_data_free = load.user_data_free = list.user_data_free = count_free;
            request.options = SDD_OPTION_BYTES_ONLY;
            list.urls = &url;
            list.count = 1;
            switch (next_random(&state) % 8) {
            case 0: token = sdd_downloader_submit(downloader, &request); break;
            case 1: token = sdd_loader_submit(loader, &load); break;
            case 2: token = sdd_prefetch(loader, &list); break;
            default: ask_any(&state); continue;
            }
            CHECK(token != 0);
            atomic_fetch_add(submitted, 1);
            atomic_store(&shown[next_random(&state) % SHOWN], token);
        }
        CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
        destroy(downloader);
    }
    return submitted;
}

CASE(eight_threads_at_once)
{
    pthread_t threads[CALLERS];
    int submitted = 0;
    for (intptr_t i = 0; i < CALLERS; i++) CHECK(pthread_create(&threads[i], NULL, call_at_random, (void *)i) == 0);
    for (int i = 0; i < CALLERS; i++) {
        void *count = NULL;
        CHECK(pthread_join(threads[i], &count) == 0);
        submitted += atomic_load((atomic_int *)count);
        free(count);
    }
    /* Each request ended once, though other threads cancelled it. */
    CHECK_EQUAL(frees, submitted);
    CHECK(completions > 0 && completions <= submitted);
    for (int i = 0; i < SHOWN; i++)
        if (shown[i] != 0) is_none(shown[i]);
}

int main(void) { return run_cases(); }

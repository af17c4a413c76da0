/* The list of failed URLs: rows F1 to F7, M5, M17, M18, M23, B11, E4, Z7. */
#include "loads.h"

static loader_in_folder open_with(int32_t policy)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.fail_policy = policy;
    return open_loader_over(config, NULL);
}

/* Checks that a load of this URL fails with `error`, and whether the URL is blocked then. */
static void fails(loader_in_folder *l, const char *url, sdd_status error, int is_blocked)
{
    OWNED_RECORD r = RECORD_INIT;
    load(l, &r, url, 0);
    if (r.error != error) FAIL("%s: %s \"%s\"", url, sdd_status_name(r.error), r.message);
    if (sdd_loader_is_blocked(l->loader, url) != is_blocked) FAIL("%s: is %sblocked", url, is_blocked ? "not " : "");
}

CASE(m5_f5_a_failed_url_ends_at_once)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/status/404?m5");
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    fails(&l, url, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    for (int i = 0; i < 3; i++) {
        load(&l, &r, url, i == 1 ? SDD_OPTION_FROM_LOADER_ONLY : i == 2 ? SDD_OPTION_REFRESH_CACHED : 0);
        CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
        CHECK(r.http_status == 404 && r.retryable == 1 && strstr(r.message, "failed with status 404 "));
        CHECK(strstr(r.message, " s ago, and it is tried again in "));
        CHECK(r.stage == SDD_STAGE_SUBMIT && r.metrics.attempts == 0);
    }
    CHECK_EQUAL(hits("/status/404?m5"), 1);
    /* Other URLs are not blocked, and plain downloads neither use the list nor add to it. */
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, at("/status/404?other")), 0);
    fetch(l.downloader, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    fetch(l.downloader, &r, at("/status/404?raw"), 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, at("/status/404?raw")), 0);
}

/* A cached picture whose refresh has failed is delivered, however it is asked for. */
static void check_cached_though_blocked(loader_in_folder *l, const char *url, int32_t origin)
{
    static const uint64_t options[] = { 0, SDD_OPTION_FROM_CACHE_ONLY, SDD_OPTION_REFRESH_CACHED };
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (origin == SDD_ORIGIN_DISK) leave_to_disk(l);
        CHECK_EQUAL(sdd_loader_is_blocked(l->loader, url), 1);
        get_from(l, &r, url, options[i], origin);
        sdd_load_request request = SDD_LOAD_REQUEST_INIT;
        sdd_result *loaded = NULL;
        request.url = url;
        request.options = options[i];
        if (origin == SDD_ORIGIN_DISK) leave_to_disk(l);
        CHECK_STATUS(sdd_loader_submit_wait(l->loader, &request, -1, &loaded), SDD_OK);
        CHECK(loaded->image != NULL && loaded->origin == origin);
        sdd_result_release(loaded);
    }
}

CASE(m5_f5_the_list_bars_the_network_and_never_the_caches)
{
    /* The policy of SDWebImage blocks a bad picture until it is told otherwise, the other one for a second. */
    static const struct { const char *name, *reply; int32_t policy; sdd_status error; } cases[] = {
        { "m5-404", "/status/404", SDD_FAIL_POLICY_BACK_OFF, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "m5-503", "/status/503?header=Retry-After:%203600", SDD_FAIL_POLICY_BACK_OFF,
          SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "m5-html", "/html", SDD_FAIL_POLICY_SDWEBIMAGE, SDD_ERROR_BAD_IMAGE_DATA },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
        config.fail_policy = cases[i].policy;
        OWNED_LOADER l = open_loader_over(config, NULL);
        OWNED_RECORD r = RECORD_INIT;
        const char *url = in_turns(cases[i].name, "/file/png/rgb8.png", cases[i].reply);
        get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
        load(&l, &r, url, SDD_OPTION_REFRESH_CACHED);
        CHECK_EQUAL(r.error, cases[i].error);
        check_cached_though_blocked(&l, url, SDD_ORIGIN_MEMORY);
        check_cached_though_blocked(&l, url, SDD_ORIGIN_DISK);
        /* A load that would have to download is still refused. */
        load(&l, &r, url, SDD_OPTION_FROM_LOADER_ONLY);
        CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
    }
}

CASE(m5_the_http_cache_answers_for_a_blocked_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = in_turns("m5-http", "/file/png/rgb8.png?header=Cache-Control:%20max-age=600", "/status/404");
    get_from(&l, &r, url, SDD_OPTION_USE_HTTP_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    load(&l, &r, url, SDD_OPTION_FROM_LOADER_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    get_from(&l, &r, url, SDD_OPTION_USE_HTTP_CACHE, SDD_ORIGIN_HTTP_FRESH);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 1);
    CHECK_STATUS(sdd_cache_clear_wait(l.cache.cache, SDD_CACHE_ALL), SDD_OK);
    load(&l, &r, url, SDD_OPTION_USE_HTTP_CACHE);
    CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
}

/* A success by an alternative is one of the load's own URL. */
CASE(m18_an_alternative_unblocks_the_own_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/status/404?own"), *other = at("/file/png/rgb8.png?own");
    sdd_load_request request = record_load(&r, url, 0);
    request.alternatives = &other;
    request.alternative_count = 1;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
}

static sdd_status say_range(sdd_response *response, sdd_response_change *change, void *user_data)
{
    (void)response, (void)user_data;
    change->http_status = 416;
    return SDD_OK;
}

/* The list uses the status that a response modifier has set: 404 is a failure of the URL, 416 is not. */
CASE(the_modified_status_is_remembered)
{
    OWNED_LOADER l = open_loader();
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.response_modifier = say_range;
    CHECK_STATUS(sdd_downloader_set_modifiers(l.downloader, &modifiers), SDD_OK);
    fails(&l, at("/status/404?modified"), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_STATUS(sdd_downloader_set_modifiers(l.downloader, NULL), SDD_OK);
    fails(&l, at("/status/404?modified"), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
}

CASE(f7_failures_of_the_url_are_remembered)
{
    OWNED_LOADER l = open_loader();
    static const struct { const char *path; sdd_status error; int is_blocked; } failures[] = {
        { "/status/404?f7", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1 },
        { "/html?f7", SDD_ERROR_BAD_IMAGE_DATA, 1 },
        /* Faults of the connection or of the request do not count against the URL. */
        { "/reset?f7", SDD_ERROR_CONNECTION_LOST, 0 },
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        fails(&l, at(failures[i].path), failures[i].error, failures[i].is_blocked);
}

/* A failure for all callers blocks the URL for all except those that accept exactly that response. */
CASE(f7_who_accepts_the_response_gets_it)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/status/404?file=png/rgb8.png&conditions");
    fails(&l, url, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    transfer.accepted_status_codes = "404";
    sdd_load_request request = record_load(&r, url, 0);
    request.transfer = &transfer;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
}

/* A 403 for a bad token blocks the URL only for requests with the same token. Removing the URL from the list unblocks
   it for all callers. */
CASE(f7_a_failure_concerns_the_caller_that_asked)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/who/token?bad=/status/403%3Fheader%3DRetry-After:%25203600&good=/file/png/rgb8.png&nobody=/file/png/rgb8.png");
    static const char *const tokens[] = { "bad", "bad", "good", NULL, "bad" };
    static const sdd_status ends[] = { SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, SDD_ERROR_BLOCKED, SDD_OK, SDD_OK,
                                       SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE };
    for (int i = 0; i < 5; i++) {
        sdd_credential credential = SDD_CREDENTIAL_INIT;
        credential.bearer_token = tokens[i];
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        if (tokens[i]) transfer.credential = &credential;
        sdd_load_request request = record_load(&r, url, 0);
        request.transfer = &transfer;
        load_as(&l, &r, &request);
        if (r.error != ends[i]) FAIL("%d: %s", i, sdd_status_name(r.error));
        if (i == 3) {
            CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 1);
            CHECK_STATUS(sdd_loader_remove_failed_url(l.loader, url), SDD_OK);
            CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
        }
    }
}

/* Retry-After takes precedence: without it a 503 would block the URL for a second. */
CASE(f7_z7_retry_after)
{
    loader_in_folder l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/status/503?f7-after&header=Retry-After:%203600");
    fails(&l, url, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    /* The delay is longer than a retry may wait, so there was one attempt. */
    CHECK_EQUAL(hits("/status/503?f7-after&header=Retry-After:%203600"), 1);
    const char *soon = at("/status/503?f7-soon&header=Retry-After:%200");
    fails(&l, soon, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    CHECK_EQUAL(hits("/status/503?f7-soon&header=Retry-After:%200"), 2);
    while (sdd_loader_is_blocked(l.loader, soon)) sched_yield();
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 1);
    close_loader(&l);
}

/* A picture removes the URL from the list, if the load was tried in spite of the block: row M18. */
CASE(f6_m18_a_success_removes_the_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = in_turns("m18", "/status/404", "/file/png/rgb8.png"), *never = at("/status/404?m18");
    fails(&l, url, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    get_from(&l, &r, url, SDD_OPTION_RETRY_FAILED, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    fails(&l, never, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    load(&l, &r, never, SDD_OPTION_RETRY_FAILED);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, never), 1);
    CHECK_EQUAL(hits("/status/404?m18"), 2);
}

/* A server that confirms the cached picture has the URL, too. */
CASE(f6_m18_a_304_removes_the_url)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at("/turns/f6-304?reply=%2Ftagged%3Ffile%3Dpng%2Frgb8.png&reply=%2Fstatus%2F404"
                         "&reply=%2Fstatus%2F304");
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    load(&l, &r, url, SDD_OPTION_REFRESH_CACHED);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 1);
    load(&l, &r, url, SDD_OPTION_REFRESH_CACHED | SDD_OPTION_RETRY_FAILED);
    CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
}

CASE(f6_b11_urls_can_be_removed_from_the_list)
{
    OWNED_LOADER l = open_loader();
    const char *urls[3];
    for (int i = 0; i < 3; i++) fails(&l, urls[i] = atf("/status/404?b11-%d", i), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    CHECK_STATUS(sdd_loader_remove_failed_url(l.loader, urls[1]), SDD_OK);
    CHECK_STATUS(sdd_loader_remove_failed_url(l.loader, urls[1]), SDD_OK);
    CHECK_STATUS(sdd_loader_remove_failed_url(l.loader, "http://host.example/never"), SDD_OK);
    CHECK_STATUS(sdd_loader_remove_failed_url(l.loader, "nonsense"), SDD_OK);
    for (int i = 0; i < 3; i++) CHECK_EQUAL(sdd_loader_is_blocked(l.loader, urls[i]), i != 1);
    fails(&l, urls[1], SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    CHECK_EQUAL(hits("/status/404?b11-1"), 2);
    CHECK_STATUS(sdd_loader_remove_all_failed_urls(l.loader), SDD_OK);
    for (int i = 0; i < 3; i++) CHECK_EQUAL(sdd_loader_is_blocked(l.loader, urls[i]), 0);
    fails(&l, urls[2], SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 1);
    CHECK_EQUAL(hits("/status/404?b11-2"), 2);
}

/* Row F4: of the library's errors 1000 and 1001 block the URL, and of the transport's all but connection errors; for
   good. */
CASE(f4_the_policy_of_sdwebimage)
{
    OWNED_LOADER l = open_with(SDD_FAIL_POLICY_SDWEBIMAGE);
    OWNED_RECORD r = RECORD_INIT;
    static const struct { const char *path; sdd_status error; int is_blocked; } failures[] = {
        { "/html?f4", SDD_ERROR_BAD_IMAGE_DATA, 1 },
        { "/status/404?f4", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0 },
        { "/reset?f4", SDD_ERROR_CONNECTION_LOST, 0 },
    };
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        fails(&l, at(failures[i].path), failures[i].error, failures[i].is_blocked);
    load(&l, &r, at("/html?f4"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
    CHECK(r.http_status == 200 && r.retryable == 0 && strstr(r.message, "it is not tried again"));
    /* A load may still ask for it: with RETRY_FAILED the first success removes the URL from the list. */
    const char *url = in_turns("f4", "/html", "/file/png/rgb8.png");
    fails(&l, url, SDD_ERROR_BAD_IMAGE_DATA, 1);
    get_from(&l, &r, url, SDD_OPTION_RETRY_FAILED, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
}

CASE(f7_the_policy_that_remembers_nothing)
{
    OWNED_LOADER l = open_with(SDD_FAIL_POLICY_NONE);
    static const char *const paths[] = { "/status/404?none", "/status/410?none", "/html?none" };
    for (int i = 0; i < 6; i++)
        fails(&l, at(paths[i / 2]), i < 4 ? SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE : SDD_ERROR_BAD_IMAGE_DATA, 0);
    CHECK(hits(paths[0]) == 2 && hits(paths[1]) == 2 && hits(paths[2]) == 2);
}

/* The arguments of the application's should_block_failed_url, and its answer. */
static struct {
    int calls, freed;
    sdd_block_choice answer;
    sdd_failure failure;
    char url[300];
} judge;

static sdd_block_choice judge_url(const char *url, const sdd_failure *failure, void *user_data)
{
    CHECK(user_data == &judge);
    judge.calls++;
    judge.failure = *failure;
    CHECK(strlen(failure->message) > 10);
    snprintf(judge.url, sizeof judge.url, "%s", url);
    return judge.answer;
}

static void free_judge(void *user_data)
{
    CHECK(user_data == &judge);
    judge.freed++;
}

CASE(m23_the_application_decides)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.should_block_failed_url = judge_url;
    config.user_data = &judge;
    config.user_data_free = free_judge;
    static const struct {
        sdd_fail_policy policy;
        sdd_block_choice answer;
        const char *path;
        int is_blocked;
    } cases[] = {
        { SDD_FAIL_POLICY_NONE, SDD_BLOCK, "/status/404?m23", 1 },
        { SDD_FAIL_POLICY_BACK_OFF, SDD_DO_NOT_BLOCK, "/status/404?m23", 0 },
        { SDD_FAIL_POLICY_BACK_OFF, SDD_BLOCK_BY_POLICY, "/status/404?m23", 1 },
        { SDD_FAIL_POLICY_BACK_OFF, SDD_BLOCK, "/cut?file=png/rgb8.png&m23", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        config.fail_policy = cases[i].policy;
        memset(&judge, 0, sizeof judge);
        judge.answer = cases[i].answer;
        loader_in_folder l = open_loader_over(config, NULL);
        OWNED_RECORD r = RECORD_INIT;
        const char *url = at(cases[i].path);
        load(&l, &r, url, 0);
        CHECK(judge.calls == 1 && judge.failure.status == r.error && judge.failure.detail == r.detail);
        CHECK(judge.failure.error_class == r.error_class && judge.failure.stage == r.stage);
        CHECK_EQUAL(judge.failure.retryable, r.retryable);
        CHECK_EQUAL(judge.failure.http_status, r.http_status);
        CHECK_TEXT(judge.url, url);
        if (sdd_loader_is_blocked(l.loader, url) != cases[i].is_blocked) FAIL("case %zu", i);
        /* The application is not asked about a load that fails before its download. The list bars only the network. */
        load(&l, &r, url, SDD_OPTION_FROM_CACHE_ONLY);
        CHECK_EQUAL(r.error, SDD_ERROR_NOT_CACHED);
        get_from(&l, &r, at("/file/png/rgb8.png?m23"), 0, SDD_ORIGIN_NETWORK);
        CHECK_EQUAL(judge.calls, 1);
        CHECK_EQUAL(judge.freed, 0);
        close_loader(&l);
        CHECK_EQUAL(judge.freed, 1);
    }
}

int main(void) { return run_cases(); }

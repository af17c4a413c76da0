/* sdd_get() waits for one URL, in both delivery modes and on any thread. Row P1 of the contract, and others. */
#include "record.h"
#include "server.h"

#include <stdatomic.h>

static sdd_downloader *downloader_of(int32_t delivery)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = delivery;
    return make_downloader(&config);
}

static void check_picture(sdd_downloader *downloader, const char *url)
{
    OWNED_IMAGE image = NULL;
    sdd_bytes *bytes = NULL;
    CHECK_STATUS(sdd_get(downloader, url, 0, -1, &image, &bytes, NULL), SDD_OK);
    CHECK(sdd_image_width(image) == 19 && sdd_image_height(image) == 13 && sdd_image_bytes(image) == bytes);
    sdd_bytes_release(bytes);
    CHECK_EQUAL(sdd_image_pixels(image)[3], 255);
}

static void check_bytes(sdd_downloader *downloader, const char *path, size_t size, int64_t timeout)
{
    OWNED_BYTES bytes = NULL;
    CHECK_STATUS(sdd_get(downloader, at(path), SDD_OPTION_BYTES_ONLY, timeout, NULL, &bytes, NULL), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(bytes), size);
    CHECK(is_pattern(sdd_bytes_data(bytes), size, path));
}

CASE(p1_a_picture_and_its_bytes)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        OWNED_DOWNLOADER downloader = downloader_of(delivery);
        sdd_image *image = (sdd_image *)&downloader;
        sdd_bytes *bytes = (sdd_bytes *)&downloader;
        check_picture(downloader, at("/file/png/rgb8.png"));
        check_bytes(downloader, "/ok?size=5000", 5000, 60000);
        check_bytes(downloader, "/ok?size=5000&framing=chunked", 5000, INT64_MAX);
        /* Asks for the picture alone, for the bytes alone, and for neither. */
        CHECK_STATUS(sdd_get(downloader, at("/file/png/rgb8.png"), 0, -1, &image, NULL, NULL), SDD_OK);
        CHECK_EQUAL(sdd_image_width(image), 19);
        sdd_image_release(image);
        /* If the caller passes no place for a picture, none is decoded. */
        CHECK_STATUS(sdd_get(downloader, at("/html"), 0, -1, NULL, &bytes, NULL), SDD_OK);
        CHECK(sdd_bytes_size(bytes) > 0);
        sdd_bytes_release(bytes);
        CHECK_STATUS(sdd_get(downloader, at("/html"), 0, -1, NULL, NULL, NULL), SDD_OK);
        /* BYTES_ONLY gives no picture, even if the caller passes a place for one. */
        const char *url = at("/file/png/rgb8.png");
        CHECK_STATUS(sdd_get(downloader, url, SDD_OPTION_BYTES_ONLY, -1, &image, &bytes, NULL), SDD_OK);
        CHECK(image == NULL && memcmp(sdd_bytes_data(bytes), "\x89PNG", 4) == 0);
        sdd_bytes_release(bytes);
        /* sdd_get() makes no events. */
        if (delivery == SDD_DELIVERY_APPLICATION) {
            size_t count = 7;
            CHECK_STATUS(sdd_downloader_dispatch(downloader, 0, &count), SDD_OK);
            CHECK_EQUAL(count, 0);
        }
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    }
    check_picture(NULL, at("/file/png/rgb8.png")); /* the shared one */
}

CASE(e1_e10_it_returns_the_error_of_the_request)
{
    static const struct { const char *path; uint64_t options; sdd_status error; } all[] = {
        { "/status/404", 0, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE },
        { "/html", 0, SDD_ERROR_BAD_IMAGE_DATA },
        { "/cut?size=1000", SDD_OPTION_BYTES_ONLY, SDD_ERROR_TRUNCATED_BODY },
        { "/reset", 0, SDD_ERROR_CONNECTION_LOST },
        { "nonsense", 0, SDD_ERROR_INVALID_URL },
        { "", 0, SDD_ERROR_INVALID_URL },
        { NULL, 0, SDD_ERROR_INVALID_URL },
        { "ftp://127.0.0.1/", 0, SDD_ERROR_INVALID_URL },
        { "/ok", UINT64_C(1) << 40, SDD_ERROR_INVALID_DOWNLOAD_OPERATION },
    };
    for (int delivery = 0; delivery < 2; delivery++) {
        sdd_downloader *downloader = downloader_of(delivery);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            sdd_image *image = (sdd_image *)&downloader;
            sdd_bytes *bytes = (sdd_bytes *)&downloader;
            const char *url = all[i].path && all[i].path[0] == '/' ? at(all[i].path) : all[i].path;
            CHECK_STATUS(sdd_get(downloader, url, all[i].options, -1, &image, &bytes, NULL), all[i].error);
            CHECK(image == NULL && bytes == NULL);
        }
        /* A closed downloader and a destroyed one return an error. */
        CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_DRAIN), SDD_OK);
        CHECK_STATUS(sdd_get(downloader, at("/ok"), 0, -1, NULL, NULL, NULL), SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
        destroy(downloader);
        sdd_bytes *bytes = (sdd_bytes *)&downloader;
        CHECK_STATUS(sdd_get(downloader, at("/ok"), 0, -1, NULL, &bytes, NULL), SDD_ERROR_CLOSED);
        CHECK(bytes == NULL);
    }
}

/* The caller gets the response on success and on an error, if one arrived at all. */
CASE(k4_the_response_comes_too)
{
    static const struct { const char *path; sdd_status error; int32_t http_status; } all[] = {
        { "/ok?header=X-Test:%20yes", SDD_OK, 200 },
        { "/status/404?header=X-Test:%20yes", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 404 },
        { "/cut?size=1000&header=X-Test:%20yes", SDD_ERROR_TRUNCATED_BODY, 200 },
        { "/redirect?to=/ok?header=X-Test:%2520yes", SDD_OK, 200 },
        { "/reset", SDD_ERROR_CONNECTION_LOST, 0 },
        { "nonsense", SDD_ERROR_INVALID_URL, 0 },
    };
    for (int delivery = 0; delivery < 2; delivery++) {
        sdd_downloader *downloader = downloader_of(delivery);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            sdd_response *response = (sdd_response *)&downloader;
            const char *url = all[i].path[0] == '/' ? at(all[i].path) : all[i].path;
            CHECK_STATUS(sdd_get(downloader, url, 0, -1, NULL, NULL, &response), all[i].error);
            CHECK_EQUAL(sdd_response_status(response), all[i].http_status);
            CHECK((response == NULL) == (all[i].http_status == 0));
            if (response) CHECK_TEXT(sdd_response_header(response, "x-test"), "yes");
            if (response) CHECK(strstr(sdd_response_url(response), i == 3 ? "/ok?header" : all[i].path));
            sdd_response_release(response);
        }
        sdd_response *response = (sdd_response *)&downloader;
        const char *stalls = at("/stall?size=100&after=10");
        /* On a busy machine, the time may be over before the response has come. */
        for (int64_t limit = 150;; limit *= 3) {
            CHECK_STATUS(sdd_get(downloader, stalls, 0, limit, NULL, NULL, &response), SDD_ERROR_TIMEOUT);
            if (response || limit > 60000) break;
        }
        CHECK_EQUAL(sdd_response_status(response), 200);
        sdd_response_release(response);
        destroy(downloader);
        response = (sdd_response *)&downloader;
        CHECK_STATUS(sdd_get(downloader, at("/ok"), 0, -1, NULL, NULL, &response), SDD_ERROR_CLOSED);
        CHECK(response == NULL);
    }
}

CASE(z6_the_timeout_covers_the_whole_call)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        OWNED_DOWNLOADER downloader = downloader_of(delivery);
        int64_t start = milliseconds_now();
        CHECK_STATUS(sdd_get(downloader, at("/silence"), 0, 120, NULL, NULL, NULL), SDD_ERROR_TIMEOUT);
        CHECK(milliseconds_now() - start >= 119);
        CHECK_STATUS(sdd_get(downloader, at("/trickle?size=100000"), 0, 120, NULL, NULL, NULL), SDD_ERROR_TIMEOUT);
        CHECK_STATUS(sdd_get(downloader, at("/silence"), 0, 0, NULL, NULL, NULL), SDD_ERROR_TIMEOUT);
        CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        CHECK_STATUS(sdd_get(downloader, at("/ok"), 0, 50, NULL, NULL, NULL), SDD_ERROR_TIMEOUT);
        CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
        /* Without a timeout the downloader's own limits apply. */
        CHECK_STATUS(sdd_downloader_set_download_timeout(downloader, 100), SDD_OK);
        CHECK_STATUS(sdd_get(downloader, at("/silence"), 0, -1, NULL, NULL, NULL), SDD_ERROR_TIMEOUT);
    }
}

/* ---------------------------------------------------------------------------------- many threads */

enum { THREADS = 16 };

static sdd_downloader *shared_by_all;

static void *get_many(void *number)
{
    for (int i = 0; i < scaled(50); i++) {
        char path[100];
        /* Some of the requests are alone, some are shared with the other threads. */
        int who = i % 2 ? (int)(intptr_t)number : 0;
        size_t size = 100 + (size_t)((i * 37) % 20000);
        snprintf(path, sizeof path, "/ok?size=%zu&who=%d", size, who);
        if (i % 5 == 4)
            check_picture(shared_by_all, at("/file/png/rgb8.png"));
        else
            check_bytes(shared_by_all, path, size, 60000);
    }
    return NULL;
}

CASE(p1_from_many_threads)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        pthread_t threads[THREADS];
        shared_by_all = downloader_of(delivery);
        for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, get_many, (void *)i);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        sdd_statistics s = SDD_STATISTICS_INIT;
        CHECK_STATUS(sdd_downloader_get_statistics(shared_by_all, &s), SDD_OK);
        CHECK_EQUAL(s.requests, THREADS * scaled(50));
        CHECK(s.requests_succeeded == s.requests && s.waiting == 0 && s.running == 0 && s.decoding == 0);
        destroy(shared_by_all);
    }
}

/* ------------------------------------------------------------------------------ inside callbacks */

static sem_t done;

static void get_inside(const sdd_result *result, void *downloader)
{
    CHECK_STATUS(result->failure.status, SDD_OK);
    check_bytes(downloader, "/ok?size=777&inside", 777, 60000);
    check_picture(downloader, at("/file/png/rgb8.png?inside"));
    CHECK_STATUS(sdd_get(downloader, "nonsense", 0, -1, NULL, NULL, NULL), SDD_ERROR_INVALID_URL);
    sem_post(&done);
}

CASE(p1_inside_a_callback)
{
    sem_init(&done, 0, 0);
    for (int delivery = 0; delivery < 2; delivery++) {
        OWNED_DOWNLOADER downloader = downloader_of(delivery);
        CHECK(sdd_download(downloader, at("/ok"), SDD_OPTION_BYTES_ONLY, NULL, get_inside, downloader) != 0);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        take(&done);
    }
}

/* It shares a transfer like any request. */
static void *get_shared(void *downloader)
{
    check_bytes(downloader, "/hold/get-shared?size=3000", 3000, -1);
    return NULL;
}

CASE(z4_it_shares_transfers)
{
    OWNED_DOWNLOADER downloader = downloader_of(SDD_DELIVERY_THREAD);
    OWNED_RECORD r = RECORD_INIT;
    pthread_t threads[3];
    record_submit(downloader, &r, at("/hold/get-shared?size=3000"), SDD_OPTION_BYTES_ONLY);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, get_shared, downloader);
    wait_for_requests("/hold/get-shared", 1);
    sdd_statistics s = SDD_STATISTICS_INIT;
    do CHECK_STATUS((sched_yield(), sdd_downloader_get_statistics(downloader, &s)), SDD_OK);
    while (s.requests < 4);
    release("get-shared");
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(requests_of("/hold/get-shared"), 1);
}

/* ---------------------------------------------------------- ended by other threads while it waits */

static void *get_silence(void *downloader)
{
    sdd_bytes *bytes = (sdd_bytes *)&done;
    sdd_status status = sdd_get(downloader, at("/silence?get"), SDD_OPTION_BYTES_ONLY, -1, NULL, &bytes, NULL);
    CHECK(bytes == NULL);
    return (void *)(intptr_t)status;
}

CASE(d17_d31_other_threads_may_end_it)
{
    for (int turn = 0; turn < 6; turn++) {
        sdd_downloader *downloader = downloader_of(turn % 2);
        pthread_t thread;
        void *status;
        order("/reset-stats");
        pthread_create(&thread, NULL, get_silence, downloader);
        wait_for_requests("/silence", 1);
        if (turn / 2 == 0) CHECK_STATUS(sdd_downloader_cancel_all(downloader), SDD_OK);
        if (turn / 2 == 1) CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
        if (turn / 2 == 2) destroy(downloader);
        pthread_join(thread, &status);
        CHECK_STATUS((sdd_status)(intptr_t)status, SDD_ERROR_CANCELLED);
        if (turn / 2 < 2) destroy(downloader);
    }
}

/* The downloader's modifiers apply to it, too. */
static sdd_status to_another(sdd_draft *draft, void *user_data)
{
    (void)user_data;
    return sdd_draft_set_url(draft, at("/ok?size=321&another"));
}

CASE(h7_modifiers_apply)
{
    OWNED_DOWNLOADER downloader = downloader_of(SDD_DELIVERY_APPLICATION);
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    OWNED_BYTES bytes = NULL;
    modifiers.request_modifier = to_another;
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &modifiers), SDD_OK);
    CHECK_STATUS(sdd_get(downloader, at("/status/404"), 0, -1, NULL, &bytes, NULL), SDD_OK);
    CHECK(sdd_bytes_size(bytes) == 321 && is_pattern(sdd_bytes_data(bytes), 321, "/ok?size=321&another"));
}

/* The long form has all settings, and gives the whole result, also of a request that failed. */
CASE(a_download_is_waited_for)
{
    record r = RECORD_INIT;
    for (int mode = 0; mode < 2; mode++) {
        sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
        config.delivery = mode ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD;
        OWNED_DOWNLOADER downloader = make_downloader(&config);
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        sdd_result *result = NULL;
        request.url = at("/file/png/rgb8.png?waited");
        CHECK_STATUS(sdd_downloader_submit_wait(downloader, &request, -1, &result), SDD_OK);
        CHECK(result->struct_size == sizeof *result && result->is_terminal == 1);
        CHECK(result->failure.status == SDD_OK && result->failure.http_status == 200);
        CHECK_TEXT(result->url, request.url);
        CHECK_EQUAL(result->origin, SDD_ORIGIN_NETWORK);
        CHECK(sdd_image_width(result->image) == 19 && result->bytes == sdd_image_bytes(result->image));
        CHECK(sdd_response_status(result->response) == 200 && result->metrics->attempts == 1);
        sdd_image *kept = sdd_image_retain(result->image);
        sdd_result_release(result);
        CHECK_EQUAL(sdd_image_width(kept), 19);
        sdd_image_release(kept);
        request.url = at("/status/404?waited");
        CHECK_STATUS(sdd_downloader_submit_wait(downloader, &request, -1, &result),
                     SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
        CHECK(result->failure.http_status == 404 && result->image == NULL && result->origin == SDD_ORIGIN_NONE);
        CHECK(strstr(result->failure.message, "404") != NULL && sdd_response_status(result->response) == 404);
        sdd_result_release(result);
        request.options = SDD_OPTION_BYTES_ONLY;
        request.transfer = &transfer;
        transfer.accepted_status_codes = "404";
        CHECK_STATUS(sdd_downloader_submit_wait(downloader, &request, -1, NULL), SDD_OK);
        request.url = at("/silence");
        CHECK_FAILS(sdd_downloader_submit_wait(downloader, &request, 50, &result), SDD_ERROR_TIMEOUT,
                    SDD_DETAIL_TIMEOUT_TOTAL);
        CHECK_STATUS(result->failure.status, SDD_ERROR_TIMEOUT);
        sdd_result_release(result);
        /* Callbacks would never be called. */
        request = record_request(&r, at("/ok"));
        CHECK_STATUS(sdd_downloader_submit_wait(downloader, &request, -1, &result), SDD_ERROR_INVALID_ARGUMENT);
        CHECK(result == NULL && r.completed_count == 0 && r.freed_count == 0);
    }
    sdd_result_release(NULL);
}

int main(void) { return run_cases(); }

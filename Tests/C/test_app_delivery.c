/* SDD_DELIVERY_APPLICATION: events wait until a thread of the application takes them, when and as it likes. */
#include "record.h"
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stddef.h>

static sdd_downloader *host_downloader(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    return make_downloader(&config);
}

static int is_readable(sdd_downloader *downloader, int milliseconds)
{
    struct pollfd watched = { .fd = sdd_downloader_event_fd(downloader), .events = POLLIN };
    CHECK(watched.fd >= 0);
    int count = poll(&watched, 1, milliseconds);
    CHECK(count >= 0 && (count == 0 || watched.revents == POLLIN));
    return count;
}

/* The descriptor is readable exactly while events wait, and callbacks run on this thread. */
CASE(the_descriptor_is_readable_while_events_wait)
{
    OWNED_DOWNLOADER downloader = host_downloader();
    OWNED_RECORD r = RECORD_INIT;
    size_t count = 9;
    CHECK(!is_readable(downloader, 0));
    CHECK_STATUS(sdd_downloader_dispatch(downloader, 0, &count), SDD_OK);
    CHECK_EQUAL(count, 0);
    record_submit(downloader, &r, at("/ok?size=1000"), SDD_OPTION_BYTES_ONLY);
    while (r.completed_count == 0) {
        CHECK(is_readable(downloader, 60000));
        CHECK_STATUS(sdd_downloader_dispatch(downloader, 1, &count), SDD_OK);
        CHECK_EQUAL(count, 1);
    }
    CHECK(r.freed_count == 1 && pthread_equal(r.thread, pthread_self()));
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(r.progress_count >= 2 && r.first_expected == -1 && r.last_received == 1000);
    CHECK(!is_readable(downloader, 0));
    record_clear(&r);

    /* An error that is known at once is queued as well, and not reported inside the submitting call. */
    record_submit(downloader, &r, "nonsense", 0);
    CHECK_EQUAL(r.completed_count, 0);
    CHECK(is_readable(downloader, 0));
    CHECK_STATUS(sdd_downloader_dispatch(downloader, 0, NULL), SDD_OK);
    CHECK(r.freed_count == 1 && !is_readable(downloader, 0));
}

/* The events of three requests are taken in portions; each event owns its references. */
CASE(drain_takes_events_in_portions)
{
    sdd_downloader *downloader = host_downloader();
    sdd_event events[2] = { SDD_EVENT_INIT, SDD_EVENT_INIT };
    sdd_image *images[3] = { NULL, NULL, NULL };
    record records[3];
    size_t count;
    int completed = 0, progressed = 0;
    for (int i = 0; i < 3; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_download_request request = record_request(&records[i], atf("/file/png/rgb8.png?%d", i));
        request.progress = NULL;
        if (i == 0) request.options = SDD_OPTION_PROGRESS_EVENTS;
        request.completed = NULL;
        request.user_data_free = NULL;
        records[i].token = submit(downloader, &request);
    }
    while (completed < 3) {
        CHECK_STATUS(sdd_downloader_wait(downloader, events, 2, -1, &count), SDD_OK);
        CHECK(count == 1 || count == 2);
        for (size_t i = 0; i < count; i++) {
            record *r = events[i].user_data;
            CHECK(events[i].struct_size == sizeof(sdd_event) && events[i].token == r->token);
            if (events[i].kind == SDD_EVENT_PROGRESS) {
                CHECK(r == &records[0] && events[i].result == NULL);
                progressed++;
                continue;
            }
            CHECK_EQUAL(events[i].kind, SDD_EVENT_COMPLETED);
            CHECK_STATUS(events[i].result->failure.status, SDD_OK);
            check_result(events[i].result);
            CHECK(strstr(events[i].result->url, "rgb8.png"));
            images[completed++] = sdd_image_retain(events[i].result->image);
        }
    }
    CHECK(progressed >= 2);
    destroy(downloader);
    for (int i = 0; i < 3; i++) {
        CHECK(sdd_image_width(images[i]) == 19 && sdd_image_pixels(images[i])[3] == 255);
        sdd_image_release(images[i]);
    }
}

/* A drained result stays valid until the next call, which also frees the user data. */
CASE(a_drained_result_is_valid_until_the_next_call)
{
    sdd_downloader *downloader = host_downloader();
    sdd_event event = SDD_EVENT_INIT;
    OWNED_RECORD r = RECORD_INIT;
    size_t count;
    for (int i = 0; i < 5; i++) {
        record_clear(&r);
        sdd_download_request request = record_request(&r, at("/status/404"));
        request.progress = NULL;
        submit(downloader, &request);
        CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, -1, &count), SDD_OK);
        CHECK(count == 1 && event.kind == SDD_EVENT_COMPLETED && event.result->image == NULL &&
              event.result->bytes == NULL);
        CHECK_STATUS(event.result->failure.status, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
        CHECK_EQUAL(r.completed_count, 0);
        check_result(event.result);
        CHECK_TEXT(event.result->url, at("/status/404"));
        /* The recorder expects the terminal callback first; here the event takes its place. */
        r.completed_count = 1;
        CHECK_EQUAL(r.freed_count, 0);
        if (i == 0) CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &count), SDD_OK);
        if (i == 1) CHECK_STATUS(sdd_downloader_dispatch(downloader, 0, NULL), SDD_OK);
        if (i == 2) CHECK_STATUS(sdd_downloader_wait(downloader, NULL, 0, 0, NULL), SDD_ERROR_TIMEOUT);
        if (i == 3) CHECK_STATUS(sdd_downloader_idle_wait(downloader, 0), SDD_OK);
        if (i == 4) destroy(downloader);
        if (r.freed_count != 1) FAIL("call %d freed nothing", i);
    }
}

CASE(events_may_be_larger_than_the_library_knows)
{
    struct { sdd_event known; uint64_t unknown; } events[3];
    OWNED_DOWNLOADER downloader = host_downloader();
    size_t count = 7;
    memset(events, 0xaa, sizeof events);
    events[0].known.struct_size = sizeof events[0];
    for (int i = 0; i < 3; i++) CHECK(sdd_download(downloader, "nonsense", 0, NULL, NULL, NULL) != 0);
    CHECK_STATUS(sdd_downloader_drain(downloader, &events[0].known, 2, &count), SDD_OK);
    CHECK_EQUAL(count, 2);
    CHECK(events[1].known.result->failure.status == SDD_ERROR_INVALID_URL &&
          events[1].known.token > events[0].known.token);
    CHECK(events[1].known.struct_size == sizeof events[0] && events[2].unknown == 0xaaaaaaaaaaaaaaaa);
    events[0].known.struct_size = offsetof(sdd_event, result); /* "result" has been part of the struct from the start */
    CHECK_STATUS(sdd_downloader_drain(downloader, &events[0].known, 2, &count), SDD_ERROR_INVALID_ARGUMENT);
    events[0].known.struct_size = sizeof(sdd_event);
    CHECK_STATUS(sdd_downloader_drain(downloader, &events[0].known, 0, &count), SDD_ERROR_INVALID_ARGUMENT);
    size_t *volatile none = NULL;
    CHECK_STATUS(sdd_downloader_drain(downloader, &events[0].known, 2, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_downloader_wait(downloader, &events[0].known, 2, 0, NULL), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(count, 2);
}

CASE(waits_end_in_time)
{
    OWNED_DOWNLOADER downloader = host_downloader();
    sdd_event event = SDD_EVENT_INIT;
    OWNED_RECORD r = RECORD_INIT;
    size_t count = 5;
    CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, 0, &count), SDD_ERROR_TIMEOUT);
    int64_t start = milliseconds_now();
    CHECK_STATUS(sdd_downloader_wait(downloader, NULL, 0, 100, NULL), SDD_ERROR_TIMEOUT);
    CHECK(milliseconds_now() - start >= 99);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, 0), SDD_OK);
    record_submit(downloader, &r, at("/hold/waits"), SDD_OPTION_BYTES_ONLY);
    start = milliseconds_now();
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, 100), SDD_ERROR_TIMEOUT);
    CHECK(milliseconds_now() - start >= 99);
    CHECK_EQUAL(r.completed_count, 0);
    release("waits");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, INT64_MAX), SDD_OK);
    CHECK(r.freed_count == 1 && pthread_equal(r.thread, pthread_self()));
    CHECK_EQUAL(count, 5);
}

/* ------------------------------------------------------------------------------ inside a callback */

static struct inside {
    sdd_downloader *downloader;
    record nested;
    sem_t entered, leave;
    int calls;
} inside;

static void dispatch_inside(const sdd_result *result, void *user_data)
{
    size_t count = 0;
    (void)result;
    (void)user_data;
    inside.calls++;
    CHECK_STATUS(sdd_downloader_idle_wait(inside.downloader, -1), SDD_ERROR_WOULD_DEADLOCK);
    CHECK_STATUS(sdd_downloader_dispatch(inside.downloader, 1, &count), SDD_OK);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(inside.nested.freed_count, 1);
}

CASE(a_callback_may_dispatch)
{
    inside.downloader = host_downloader();
    inside.nested = (record)RECORD_INIT;
    CHECK(sdd_download(inside.downloader, "", 0, NULL, dispatch_inside, NULL) != 0);
    record_submit(inside.downloader, &inside.nested, "", 0);
    CHECK_STATUS(sdd_downloader_dispatch(inside.downloader, 0, NULL), SDD_OK);
    CHECK_EQUAL(inside.calls, 1);
    record_clear(&inside.nested);
    destroy(inside.downloader);
}

static struct own_end {
    sdd_downloader *downloader;
    int is_drained, ended, freed, returned;
} own_end;

static void own_completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    own_end.ended++;
}

static void own_free(void *user_data)
{
    CHECK(user_data == &own_end);
    own_end.freed++;
}

/* Takes the end of its own request, and calls once more: then what was drained is released. */
static void take_own_end(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    sdd_event event = SDD_EVENT_INIT;
    size_t count = 0;
    (void)token, (void)received, (void)expected, (void)url, (void)user_data;
    while (own_end.ended == 0) {
        CHECK(is_readable(own_end.downloader, 60000));
        if (own_end.is_drained)
            CHECK_STATUS(sdd_downloader_drain(own_end.downloader, &event, 1, &count), SDD_OK);
        else
            CHECK_STATUS(sdd_downloader_dispatch(own_end.downloader, 1, &count), SDD_OK);
        if (count == 1 && event.kind == SDD_EVENT_COMPLETED) own_end.ended++;
    }
    CHECK_STATUS(sdd_downloader_drain(own_end.downloader, &event, 1, &count), SDD_OK);
    CHECK(own_end.ended == 1 && own_end.freed == 0 && count == 0);
    own_end.returned++;
}

/* A callback that takes the end of its own request keeps its user data until it has returned. */
CASE(user_data_outlives_its_callbacks)
{
    OWNED_DOWNLOADER downloader = host_downloader();
    for (int i = 0; i < 2; i++) {
        own_end = (struct own_end){ .downloader = downloader, .is_drained = i };
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = at("/ok/own-end");
        request.options = SDD_OPTION_BYTES_ONLY;
        request.progress = take_own_end;
        request.completed = own_completed;
        request.user_data = &own_end;
        request.user_data_free = own_free;
        submit(downloader, &request);
        while (own_end.returned == 0) CHECK_STATUS(sdd_downloader_wait(downloader, NULL, 0, -1, NULL), SDD_OK);
        CHECK(own_end.ended == 1 && own_end.freed == 1);
    }
}

static void wait_inside(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
    sem_post(&inside.entered);
    while (sem_wait(&inside.leave) != 0) CHECK(errno == EINTR);
}

static void *dispatch_elsewhere(void *unused)
{
    CHECK_STATUS(sdd_downloader_dispatch(inside.downloader, 0, NULL), SDD_OK);
    return unused;
}

CASE(two_threads_do_not_take_events_at_once)
{
    sdd_event event = SDD_EVENT_INIT;
    pthread_t thread;
    size_t count;
    inside.downloader = host_downloader();
    sem_init(&inside.entered, 0, 0);
    sem_init(&inside.leave, 0, 0);
    CHECK(sdd_download(inside.downloader, "", 0, NULL, wait_inside, NULL) != 0);
    pthread_create(&thread, NULL, dispatch_elsewhere, NULL);
    sem_wait(&inside.entered);
    CHECK_STATUS(sdd_downloader_dispatch(inside.downloader, 0, NULL), SDD_ERROR_BUSY);
    CHECK_STATUS(sdd_downloader_drain(inside.downloader, &event, 1, &count), SDD_ERROR_BUSY);
    CHECK_STATUS(sdd_downloader_idle_wait(inside.downloader, -1), SDD_ERROR_BUSY);
    sem_post(&inside.leave);
    pthread_join(thread, NULL);
    CHECK_STATUS(sdd_downloader_dispatch(inside.downloader, 0, NULL), SDD_OK);
    destroy(inside.downloader);
}

static sdd_status refuse_all(sdd_draft *draft, void *user_data)
{
    (void)draft, (void)user_data;
    return SDD_ERROR_INVALID_ARGUMENT;
}

/* D24: no URL. D25: what a modifier refuses, and what comes after closing. A token that is over, and the end later. */
CASE(d24_d25_what_cannot_begin_ends_by_its_callback)
{
    static const struct { int is_refused, is_closed; const char *url; sdd_status error; int32_t detail; } all[] = {
        { 0, 0, NULL, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_NULL },
        { 0, 0, "", SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_EMPTY },
        { 1, 0, "/ok/unmade", SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_MODIFIER },
        { 0, 1, "/ok/unmade", SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_CLOSED },
    };
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    OWNED_DOWNLOADER downloader = host_downloader();
    modifiers.request_modifier = refuse_all;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        OWNED_RECORD r = RECORD_INIT;
        sdd_token_info info = SDD_TOKEN_INFO_INIT;
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = record_request(&r, all[i].url && *all[i].url ? at(all[i].url) : all[i].url);
        request.transfer = &transfer;
        if (all[i].is_refused) transfer.modifiers = &modifiers;
        if (all[i].is_closed) CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_DRAIN), SDD_OK);
        sdd_token token = submit(downloader, &request);
        CHECK(r.completed_count == 0 && r.freed_count == 0);
        CHECK_STATUS(sdd_token_get_info(token, &info), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
        CHECK_EQUAL(transfers_of(downloader), 0);
        CHECK(is_readable(downloader, 0));
        CHECK_STATUS(sdd_downloader_dispatch(downloader, 0, NULL), SDD_OK); /* record.h sees that `finished` is 1 */
        CHECK(r.completed_count == 1 && r.freed_count == 1 && r.progress_count == 0 && r.token == token);
        CHECK_ENDED(&r, all[i].error, all[i].detail);
        CHECK_EQUAL(r.stage, SDD_STAGE_SUBMIT);
        CHECK(!is_readable(downloader, 0));
    }
    CHECK_EQUAL(requests_of("/ok/unmade"), 0);
}

int main(void) { return run_cases(); }

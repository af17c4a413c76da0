/* Pictures that are shown while they arrive: previews, facts, and transfers that end when the picture is complete. The
   names begin with rows of the contract. */
#include "pixels.h"
#include "record.h"

#include <poll.h>

enum { MOST = 16 };

/* The previews of one request. Guarded by the record's lock. */
typedef struct album {
    record r;
    int count, rows[MOST];
    sdd_image *images[MOST]; /* retained */
    int facts_count;
    sdd_image_info facts;
    sem_t *entered, *leave; /* the first preview blocks on these; NULL: it does not */
} album;

#define ALBUM_INIT { .r = RECORD_INIT }

static void check_preview(const sdd_result *result)
{
    CHECK(result->struct_size == sizeof *result && result->token != 0);
    CHECK(result->is_terminal == 0 && result->failure.status == SDD_OK && result->failure.detail == 0 &&
          result->failure.stage == SDD_STAGE_NONE);
    CHECK(result->image != NULL && result->bytes == NULL && result->response != NULL);
    CHECK_TEXT(result->failure.message, "");
    CHECK_EQUAL(result->failure.http_status, 200);
    CHECK(image_info(result->image).is_preview && sdd_image_bytes(result->image) == NULL);
    CHECK(image_info(result->image).good_rows > 0);
    CHECK(image_info(result->image).good_rows <= sdd_image_height(result->image));
}

static void keep(album *a, sdd_image *image)
{
    CHECK(a->count < MOST);
    a->rows[a->count] = image_info(image).good_rows;
    a->images[a->count++] = sdd_image_retain(image);
    pthread_cond_broadcast(&a->r.changed);
}

static void album_preview(const sdd_result *result, void *user_data)
{
    album *a = user_data;
    check_preview(result);
    if (a->entered) {
        CHECK(sem_post(a->entered) == 0);
        take(a->leave);
    }
    pthread_mutex_lock(&a->r.lock);
    CHECK(a->r.completed_count == 0 && a->r.freed_count == 0);
    keep(a, result->image);
    pthread_mutex_unlock(&a->r.lock);
}

static void album_facts(sdd_token token, const sdd_image_info *facts, void *user_data)
{
    album *a = user_data;
    pthread_mutex_lock(&a->r.lock);
    CHECK(token != 0 && a->r.completed_count == 0 && a->count == 0 && a->facts_count++ == 0);
    CHECK(facts->struct_size == sizeof *facts);
    a->facts = *facts;
    pthread_mutex_unlock(&a->r.lock);
}

/* Returns a request whose callbacks go to the album. The record is the album's first member, so that callbacks of both
   can use the same pointer. */
static sdd_download_request album_request(album *a, const char *url)
{
    sdd_download_request request = record_request(&a->r, url);
    request.preview = album_preview;
    request.facts = album_facts;
    return request;
}

static void wait_for_previews(album *a, int count)
{
    pthread_mutex_lock(&a->r.lock);
    while (a->count < count) {
        if (a->r.completed_count) FAIL("%s after %d previews, not %d", a->r.message, a->count, count);
        pthread_cond_wait(&a->r.changed, &a->r.lock);
    }
    pthread_mutex_unlock(&a->r.lock);
}

static void album_clear(album *a)
{
    for (int i = 0; i < a->count; i++) sdd_image_release(a->images[i]);
    record_clear(&a->r);
    *a = (album)ALBUM_INIT;
}

/* Returns a config with previews of every step; only a preview that comes sooner than four times the cost of the last
   one is left out. */
static sdd_downloader_config quick_config(config_groups *groups)
{
    sdd_downloader_config config = config_over(groups);
    groups->callbacks.min_preview_interval_ms = -1;
    groups->limits.download_timeout_ms = 100000; /* a tool may slow the program down */
    return config;
}

static const struct { const char *file; int width, height, format, comes_by_rows; } pictures[] = {
    { "large/baseline.jpg", 640, 480, SDD_IMAGE_FORMAT_JPEG, 1 },
    { "large/progressive.jpg", 640, 480, SDD_IMAGE_FORMAT_JPEG, 0 },
    { "large/rows.png", 320, 240, SDD_IMAGE_FORMAT_PNG, 1 },
    { "large/interlaced.png", 320, 240, SDD_IMAGE_FORMAT_PNG, 0 },
};
enum { PICTURES = sizeof pictures / sizeof *pictures };

/* Checks the previews of a picture after its end. */
static void check_album(album *a, int picture)
{
    sdd_image *last = a->r.image;
    CHECK_ENDED(&a->r, SDD_OK, 0);
    CHECK(a->r.completed_count == 1 && !image_info(last).is_preview);
    CHECK_EQUAL(image_info(last).good_rows, pictures[picture].height);
    CHECK(a->count > 0);
    for (int i = 0; i < a->count; i++) {
        CHECK_EQUAL(sdd_image_width(a->images[i]), pictures[picture].width);
        CHECK_EQUAL(sdd_image_height(a->images[i]), pictures[picture].height);
        CHECK_EQUAL(image_info(a->images[i]).format, pictures[picture].format);
        CHECK_EQUAL(a->rows[i], image_info(a->images[i]).good_rows);
        if (pictures[picture].comes_by_rows) {
            CHECK(a->rows[i] < pictures[picture].height && (i == 0 || a->rows[i] > a->rows[i - 1]));
            CHECK(same_rows(a->images[i], last, a->rows[i]) && is_empty_from(a->images[i], a->rows[i]));
        } else {
            CHECK(a->rows[i] == pictures[picture].height && !same_rows(a->images[i], last, a->rows[i]));
            CHECK(i == 0 || !same_rows(a->images[i], a->images[i - 1], a->rows[i]));
        }
    }
    CHECK_EQUAL(a->facts_count, 1);
    CHECK(a->facts.stored_width == pictures[picture].width && a->facts.stored_height == pictures[picture].height);
    CHECK_EQUAL(a->facts.format, pictures[picture].format);
    CHECK_EQUAL(a->facts.is_progressive, !pictures[picture].comes_by_rows);
}

/* C4, C5, O1, X31: each gate gives one more preview. The images outlive the request and the downloader. */
CASE(o1_c4_c5_x31_previews_come_as_the_body_does)
{
    for (int framing = 0; framing < 2; framing++) { /* X28: also where the size is not announced */
        for (int i = 0; i < PICTURES; i++) {
            config_groups groups;
            sdd_downloader_config config = quick_config(&groups);
            sdd_downloader *downloader = make_downloader(&config);
            album a = ALBUM_INIT;
            const char *url = atf("/steps/p%d%d?at=9000,18000,26000&file=%s&framing=%s", framing, i, pictures[i].file,
                                  framing ? "chunked" : "length");
            sdd_download_request request = album_request(&a, url);
            submit(downloader, &request);
            for (int step = 1; step <= 3; step++) {
                /* A preview that is left out because of its cost is not made up for: only the first one is certain. */
                if (step == 1) wait_for_previews(&a, 1);
                record_wait_received(&a.r, step == 1 ? 9000 : step == 2 ? 18000 : 26000);
                orderf("/release/p%d%d.%d", framing, i, step);
            }
            record_wait(&a.r);
            destroy(downloader);
            check_album(&a, i);
            album_clear(&a);
        }
    }
}

/* X39, Z20: over one transfer each request has previews of its own size; a request without previews gets none. */
CASE(x39_z20_each_request_has_previews_of_its_size)
{
    /* libjpeg makes halves and quarters itself; at a third, a progressive picture would be complete too soon. */
    static const int sides[] = { 0, 300, 150 };
    config_groups groups;
    sdd_downloader_config config = quick_config(&groups);
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (int i = 0; i < PICTURES; i++) {
        album albums[3];
        OWNED_RECORD silent = RECORD_INIT;
        const char *url = atf("/steps/s%d?at=20000&file=%s", i, pictures[i].file);
        for (int k = 0; k < 3; k++) {
            albums[k] = (album)ALBUM_INIT;
            sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
            options.target_width = sides[k];
            sdd_download_request request = album_request(&albums[k], url);
            request.decode = &options;
            submit(downloader, &request);
        }
        record_submit(downloader, &silent, url, 0); /* without a preview callback */
        for (int k = 0; k < 3; k++) wait_for_previews(&albums[k], 1);
        orderf("/release/s%d.1", i);
        for (int k = 0; k < 3; k++) record_wait(&albums[k].r);
        record_wait(&silent);
        CHECK_EQUAL(orderf("/count?path=/steps/s%d", i), 1);
        for (int k = 0; k < 3; k++) {
            int width = sides[k] ? sides[k] : pictures[i].width;
            sdd_image *preview = albums[k].images[0], *last = albums[k].r.image;
            CHECK_ENDED(&albums[k].r, SDD_OK, 0);
            CHECK_EQUAL(sdd_image_width(preview), width);
            CHECK(sdd_image_height(preview) == sdd_image_height(last) && sdd_image_width(last) == width);
            if (pictures[i].comes_by_rows) {
                CHECK(albums[k].rows[0] > sdd_image_height(last) / 8);
                CHECK(same_rows(preview, last, albums[k].rows[0]) && is_empty_from(preview, albums[k].rows[0]));
            }
            album_clear(&albums[k]);
        }
    }
}

static sdd_downloader *host_downloader(void)
{
    config_groups groups;
    sdd_downloader_config config = quick_config(&groups);
    config.delivery = SDD_DELIVERY_APPLICATION;
    return make_downloader(&config);
}

static void wait_for_events(sdd_downloader *downloader)
{
    struct pollfd watched = { .fd = sdd_downloader_event_fd(downloader), .events = POLLIN };
    CHECK(poll(&watched, 1, 100000) == 1);
}

CASE(x31_dispatch_brings_previews_to_this_thread)
{
    OWNED_DOWNLOADER downloader = host_downloader();
    album a = ALBUM_INIT;
    sdd_download_request request = album_request(&a, at("/steps/dispatch?at=20000&file=large/baseline.jpg"));
    submit(downloader, &request);
    while (a.r.completed_count == 0) {
        wait_for_events(downloader);
        CHECK_STATUS(sdd_downloader_dispatch(downloader, 1, NULL), SDD_OK);
        if (a.count == 1) release("dispatch.1");
    }
    check_album(&a, 0);
    album_clear(&a);
}

CASE(x31_drain_hands_previews_and_facts_out)
{
    sdd_downloader *downloader = host_downloader();
    album a = ALBUM_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = at("/steps/drain?at=20000&file=large/progressive.jpg");
    request.options = SDD_OPTION_PREVIEW_EVENTS | SDD_OPTION_FACTS_EVENTS;
    request.user_data = &a;
    sdd_token token = submit(downloader, &request);
    while (a.r.completed_count == 0) {
        sdd_event event = SDD_EVENT_INIT;
        size_t count = 0;
        wait_for_events(downloader);
        CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &count), SDD_OK);
        if (count == 0) continue;
        CHECK(event.token == token && event.user_data == &a);
        CHECK_EQUAL(event.info != NULL, event.kind == SDD_EVENT_FACTS);
        CHECK_EQUAL(event.result == NULL, event.kind == SDD_EVENT_FACTS);
        switch (event.kind) {
        case SDD_EVENT_FACTS: album_facts(event.token, event.info, &a); break;
        case SDD_EVENT_PREVIEW:
            check_preview(event.result);
            keep(&a, event.result->image);
            release("drain.1");
            break;
        case SDD_EVENT_COMPLETED:
            record_completed(event.result, &a.r);
            CHECK(event.result->image == a.r.image);
            break;
        default: FAIL("event %d", (int)event.kind);
        }
    }
    check_album(&a, 1);
    destroy(downloader);
    album_clear(&a);
}

/* X11, X30: after sdd_cancel() has returned, no preview comes except the one that was running. */
CASE(x11_x30_none_after_a_cancel)
{
    sem_t entered, leave;
    sem_init(&entered, 0, 0);
    sem_init(&leave, 0, 0);
    config_groups groups;
    sdd_downloader_config config = quick_config(&groups);
    sdd_downloader *downloader = make_downloader(&config);
    album a = ALBUM_INIT, other = ALBUM_INIT;
    const char *url = at("/steps/cancel?at=9000,20000,30000&file=large/baseline.jpg");
    sdd_download_request request = album_request(&a, url);
    a.entered = &entered;
    a.leave = &leave;
    sdd_token token = submit(downloader, &request);
    take(&entered);
    /* Another request that shares the transfer keeps it running. */
    request = album_request(&other, url);
    submit(downloader, &request);
    release("cancel.1");
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    CHECK(sem_post(&leave) == 0);
    record_wait(&a.r);
    CHECK_ENDED(&a.r, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
    release("cancel.2");
    release("cancel.3");
    record_wait(&other.r);
    CHECK_ENDED(&other.r, SDD_OK, 0);
    CHECK(a.count == 1 && a.r.completed_count == 1);
    destroy(downloader);
    /* The preview's pixels are still there. */
    CHECK(same_rows(a.images[0], other.r.image, a.rows[0]) && is_empty_from(a.images[0], a.rows[0]));
    album_clear(&a);
    album_clear(&other);
    sem_destroy(&entered);
    sem_destroy(&leave);
}

/* A downloader is destroyed while previews are being delivered. */
CASE(x30_none_after_the_end_of_a_downloader)
{
    for (int i = 0; i < PICTURES; i++) {
        config_groups groups;
        sdd_downloader_config config = quick_config(&groups);
        sdd_downloader *downloader = make_downloader(&config);
        album a = ALBUM_INIT;
        sdd_download_request request = album_request(&a, atf("/steps/destroy%d?at=9000,20000&file=%s", i, pictures[i].file));
        submit(downloader, &request);
        wait_for_previews(&a, 1);
        orderf("/release/destroy%d.1", i);
        destroy(downloader);
        CHECK(a.r.completed_count == 1 && a.r.freed_count == 1 && a.r.error == SDD_ERROR_CANCELLED);
        album_clear(&a);
    }
}

static sdd_bytes *as_it_is(sdd_bytes *bytes, sdd_response *response, void *user_data)
{
    (void)response;
    (void)user_data;
    return sdd_bytes_retain(bytes);
}

/* X30: the transformed body is not known before its end; the facts describe that body. */
CASE(x30_none_where_the_body_is_transformed)
{
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.body_transform = as_it_is;
    config_groups groups;
    sdd_downloader_config config = quick_config(&groups);
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    album a = ALBUM_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = album_request(&a, at("/steps/transform?at=20000&file=large/baseline.jpg"));
    request.transfer = &transfer;
    transfer.modifiers = &modifiers;
    submit(downloader, &request);
    record_wait_received(&a.r, 20000);
    release("transform.1");
    record_wait(&a.r);
    CHECK_ENDED(&a.r, SDD_OK, 0);
    CHECK(a.count == 0 && a.facts_count == 1);
    album_clear(&a);
}

/* Facts come before the end, also where nothing is decoded, and where the whole body comes at once. */
CASE(facts_come_with_every_picture)
{
    static const char *const urls[] = {
        "/file/png/rgb8.png", "/steps/facts?at=600&file=png/rgb8.png", "/gzip?file=png/rgb8.png", "/html", "/empty",
    };
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    release("facts.1");
    for (int i = 0; i < 5; i++) {
        for (int bytes_only = 0; bytes_only < 2; bytes_only++) {
            album a = ALBUM_INIT;
            sdd_download_request request = album_request(&a, at(urls[i]));
            request.options |= bytes_only ? SDD_OPTION_BYTES_ONLY : 0;
            submit(downloader, &request);
            record_wait(&a.r);
            CHECK_ENDED(&a.r, i < 3 || bytes_only ? SDD_OK : SDD_ERROR_BAD_IMAGE_DATA, a.r.detail);
            CHECK_EQUAL(a.facts_count, i < 3);
            if (i < 3) CHECK(a.facts.format == SDD_IMAGE_FORMAT_PNG && a.facts.channels == 3 && a.facts.depth == 8);
            album_clear(&a);
        }
    }
}

/* The last scans add nothing to a progressive JPEG that is scaled down, so the request does not wait for them. */
CASE(z11_a_request_does_not_wait_for_the_rest)
{
    const char *const url = at("/steps/stop?at=33000&file=large/progressive.jpg");
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    OWNED_RECORD early = RECORD_INIT, whole = RECORD_INIT;
    sdd_download_request request = record_request(&early, url);
    options.target_width = 40;
    request.decode = &options;
    request.options = SDD_OPTION_STOP_WHEN_COMPLETE;
    bodies_go_elsewhere = 1;
    submit(downloader, &request);
    record_wait(&early); /* and the rest was not released */
    CHECK_ENDED(&early, SDD_OK, 0);
    CHECK(early.image != NULL && early.bytes == NULL && sdd_image_bytes(early.image) == NULL);
    CHECK(!image_info(early.image).is_preview && sdd_image_width(early.image) == 40);
    size_t size;
    free(fixture("large/progressive.jpg", &size));
    CHECK(early.metrics.saved_bytes >= (int64_t)size - 33000 && early.metrics.saved_bytes < (int64_t)size);
    order("/wait-idle"); /* the server has seen the connection close */
    bodies_go_elsewhere = 0;

    /* The picture equals that of the whole file, and a request for the bytes gets all of them. */
    release("stop.1");
    request = record_request(&whole, url);
    request.decode = &options;
    fetch_as(downloader, &whole, request);
    CHECK_ENDED(&whole, SDD_OK, 0);
    CHECK(sdd_bytes_size(whole.bytes) == size && whole.metrics.saved_bytes == 0);
    CHECK(sdd_image_height(early.image) == sdd_image_height(whole.image));
    CHECK(same_rows(early.image, whole.image, sdd_image_height(whole.image)));
}

/* The limits are the number of a picture's scans, and how many more scans each preview must show. */
CASE(z20_the_limits_hold)
{
    record r = RECORD_INIT;
    config_groups groups;
    sdd_downloader_config config = config_over(&groups);
    groups.limits.max_scans = 3;
    sdd_downloader *downloader = make_downloader(&config);
    fetch(downloader, &r, at("/file/large/progressive.jpg"), 0);
    CHECK(r.error == SDD_ERROR_BAD_IMAGE_DATA && r.image == NULL);
    fetch(downloader, &r, at("/file/large/baseline.jpg"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
    record_clear(&r);
    destroy(downloader);

    /* The first preview is always shown; no other comes so many bytes, or so much time, later. */
    for (int i = 0; i < 3; i++) {
        album a = ALBUM_INIT;
        config = quick_config(&groups);
        if (i == 0) groups.callbacks.min_preview_bytes = 1 << 20;
        if (i == 1) groups.callbacks.min_preview_interval_ms = 3600 * 1000;
        if (i == 2) groups.callbacks.min_preview_scans = 1000;
        downloader = make_downloader(&config);
        sdd_download_request request =
            album_request(&a, atf("/steps/limits%d?at=9000,18000,26000&file=large/progressive.jpg", i));
        submit(downloader, &request);
        wait_for_previews(&a, 1);
        for (int step = 1; step <= 3; step++) orderf("/release/limits%d.%d", i, step);
        record_wait(&a.r);
        CHECK_EQUAL(a.count, 1);
        check_album(&a, 1);
        album_clear(&a);
        destroy(downloader);
    }
}

int main(void) { return run_cases(); }

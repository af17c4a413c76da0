/* Running requests: their reported state, how they are cancelled, and the statistics. */
#include "rules.h"

/* ------------------------------------------------------------------------- requests under way */

CASE(x7_x8_the_last_cancel_ends_the_transfer)
{
    OWNED_DOWNLOADER downloader = downloader_of(1);
    record records[3];
    sdd_token tokens[3];
    /* Requests share a transfer on the network, and in the queue: the last one that leaves ends it. */
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1) CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        for (int i = 0; i < 3; i++) {
            records[i] = (record)RECORD_INIT;
            tokens[i] = record_submit(downloader, &records[i], atf("/hold/ended?%d", turn), SDD_OPTION_BYTES_ONLY);
        }
        for (int i = 0; i < 3; i++) {
            CHECK_STATUS(sdd_cancel(tokens[i]), SDD_OK);
            CHECK_EQUAL(transfers_of(downloader), i == 2 ? 0 : 1);
            CHECK_STATUS(sdd_cancel(tokens[i]), SDD_ERROR_NOT_FOUND);
            record_wait(&records[i]);
            CHECK_ENDED(&records[i], SDD_ERROR_CANCELLED,
                        turn == 1 ? SDD_DETAIL_CANCELLED_WAITING : SDD_DETAIL_CANCELLED_SENDING);
            record_clear(&records[i]);
        }
    }
}

static struct {
    sem_t entered, leave;
} transform = { 0 };

static sdd_bytes *wait_in_transform(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)user_data;
    CHECK(sdd_response_status(response) == 200);
    sem_post(&transform.entered);
    take(&transform.leave);
    return sdd_bytes_retain(body);
}

static void check_state(sdd_token token, const char *url, int32_t state)
{
    char buffer[200] = "unseen";
    size_t length = 0;
    sdd_token_info info = info_of(token);
    CHECK_EQUAL(info.state, state);
    CHECK_STATUS(sdd_token_get_url(token, NULL, 0, &length), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_EQUAL(length, strlen(url));
    CHECK_STATUS(sdd_token_get_url(token, buffer, length, NULL), SDD_ERROR_BUFFER_TOO_SMALL);
    CHECK_TEXT(buffer, "unseen");
    CHECK_STATUS(sdd_token_get_url(token, buffer, sizeof buffer, NULL), SDD_OK);
    CHECK_TEXT(buffer, url);
    sdd_response *response = NULL;
    if (state == SDD_STATE_WAITING) {
        CHECK(info.running_us == 0 && info.http_status == 0 && info.received_bytes == 0 && info.expected_bytes == -1);
        CHECK_STATUS(sdd_token_get_response(token, &response), SDD_ERROR_NOT_FOUND);
        CHECK(response == NULL);
    }
    if (state >= SDD_STATE_RECEIVED) {
        CHECK(info.http_status == 200 && info.received_bytes == 5000 && info.expected_bytes == 5000);
        CHECK(info.running_us > 0);
        CHECK_STATUS(sdd_token_get_response(token, &response), SDD_OK);
        CHECK_TEXT(sdd_response_url(response), url);
        CHECK_EQUAL(sdd_response_status(response), 200);
        sdd_response_release(response);
    }
}

CASE(k1_k4_x1_a_request_has_info_in_every_state)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.body_transform = wait_in_transform;
    config.decode_threads = 1;
    config.modifiers = &modifiers;
    sdd_downloader *downloader = make_downloader(&config);
    OWNED_RECORD first = RECORD_INIT, second = RECORD_INIT, third = RECORD_INIT;
    char url[3][200];
    for (int i = 0; i < 3; i++) snprintf(url[i], sizeof url[i], "%s", atf("/hold/state%d?size=5000&after=1000", i));
    sem_init(&transform.entered, 0, 0);
    sem_init(&transform.leave, 0, 0);

    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    sdd_token token = record_submit(downloader, &first, url[0], SDD_OPTION_BYTES_ONLY);
    check_state(token, url[0], SDD_STATE_WAITING);
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    record_wait_received(&first, 1000);
    check_state(token, url[0], SDD_STATE_RUNNING);
    sdd_token_info info = info_of(token);
    CHECK(info.http_status == 200 && info.received_bytes == 1000 && info.expected_bytes == 5000 && info.running_us > 0);
    sdd_response *kept = NULL;
    CHECK_STATUS(sdd_token_get_response(token, &kept), SDD_OK);

    /* The only decode thread works on the first request; the second waits for it. */
    release("state0");
    take(&transform.entered);
    check_state(token, url[0], SDD_STATE_DECODING);
    sdd_token behind = record_submit(downloader, &second, url[1], SDD_OPTION_BYTES_ONLY);
    release("state1");
    record_wait_received(&second, 5000);
    sdd_token last = record_submit(downloader, &third, url[2], SDD_OPTION_BYTES_ONLY);
    release("state2");
    record_wait_received(&third, 5000);
    check_state(behind, url[1], SDD_STATE_RECEIVED);
    check_state(last, url[2], SDD_STATE_RECEIVED);
    CHECK_EQUAL(statistics_of(downloader).decoding, 3);
    CHECK_EQUAL(transfers_of(downloader), 0);

    /* X11: a request cancelled there ends once, and its decoded picture is dropped. */
    CHECK_STATUS(sdd_cancel(behind), SDD_OK);
    record_wait(&second);
    CHECK_ENDED(&second, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_DECODING);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    record_wait(&first);
    CHECK_ENDED(&first, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_DECODING);
    sem_post(&transform.leave);
    take(&transform.entered);
    sem_post(&transform.leave);
    record_wait(&third);
    CHECK_ENDED(&third, SDD_OK, 0);
    /* K3: a request that has ended has no info. */
    size_t length = 7;
    sdd_response *response = (sdd_response *)&info;
    for (int i = 0; i < 2; i++) {
        sdd_token over = i ? last : token + 1000000;
        CHECK_STATUS(sdd_token_get_info(over, &info), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_token_get_url(over, NULL, 0, &length), SDD_ERROR_NOT_FOUND);
        CHECK_STATUS(sdd_token_get_response(over, &response), SDD_ERROR_NOT_FOUND);
        CHECK(length == 7 && response == NULL);
    }
    destroy(downloader);
    CHECK_TEXT(sdd_response_url(kept), url[0]);
    sdd_response_release(kept);
}

/* --------------------------------------------------------------------------------- statistics */

CASE(z21_statistics_add_up)
{
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    record records[MOST];
    int count = 0;
    for (int i = 0; i < MOST; i++) records[i] = (record)RECORD_INIT;
    sdd_statistics before = statistics_of(downloader), none = SDD_STATISTICS_INIT;
    CHECK(memcmp(&before, &none, sizeof none) == 0);

    for (int i = 0; i < 4; i++)
        record_submit(downloader, &records[count++], at("/hold/sum?size=1000"), SDD_OPTION_BYTES_ONLY);
    release("sum");
    record_submit(downloader, &records[count++], at("/file/png/rgb8.png?sum"), 0);
    record_submit(downloader, &records[count++], at("/file/png/rgba8.png?sum"), 0);
    record_submit(downloader, &records[count++], at("/html?sum"), 0);
    record_submit(downloader, &records[count++], at("/status/404?sum"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &records[count++], at("/reset?sum"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &records[count++], "nonsense", SDD_OPTION_BYTES_ONLY);
    sdd_token token = record_submit(downloader, &records[count++], at("/silence?sum"), SDD_OPTION_BYTES_ONLY);
    order("/wait?path=/silence%3Fsum");
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    token = record_submit(downloader, &records[count++], at("/ok?sum-never"), SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);

    sdd_statistics s = statistics_of(downloader);
    int64_t body_bytes = 0;
    for (int i = 0; i < count; i++)
        if (i == 0 || i >= 4) body_bytes += records[i].metrics.body_bytes;
    CHECK_EQUAL(s.requests, count);
    CHECK_EQUAL(s.requests_joined, 3);
    CHECK_EQUAL(s.requests_succeeded, 6);
    CHECK_EQUAL(s.requests_failed, 4);
    CHECK_EQUAL(s.requests_cancelled, 2);
    CHECK_EQUAL(s.requests, s.requests_succeeded + s.requests_failed + s.requests_cancelled);
    CHECK_EQUAL(s.transfers_started, 7); /* one shared by 4, 2 pictures, html, 404, reset, silence */
    CHECK_EQUAL(s.transfers_succeeded, 4);
    CHECK_EQUAL(s.images_decoded, 2);
    CHECK(s.decode_us > 0 && s.connections_opened >= 1 && s.connections_opened <= 7);
    CHECK(s.request_bytes > 0 && s.response_header_bytes > 0 && s.response_body_bytes >= s.body_bytes);
    CHECK_EQUAL(s.body_bytes, body_bytes);
    CHECK(s.waiting == 0 && s.running == 0 && s.decoding == 0);
    for (int i = 0; i < count; i++) record_clear(&records[i]);
}

/* Six at a time, whose answers end in another order than they began: each request gets its own. */
CASE(d28_each_answer_reaches_its_own_request)
{
    enum { COUNT = 6 };
    static const int order_of_ends[COUNT] = { 3, 5, 0, 4, 2, 1 };
    OWNED_DOWNLOADER downloader = downloader_of(COUNT);
    record records[COUNT];
    char targets[COUNT][64];
    for (int i = 0; i < COUNT; i++) {
        records[i] = (record)RECORD_INIT;
        snprintf(targets[i], sizeof targets[i], "/hold/own-%d?size=%d&after=500", i, 1000 + i);
        record_submit(downloader, &records[i], at(targets[i]), SDD_OPTION_BYTES_ONLY);
    }
    for (int i = 0; i < COUNT; i++) record_wait_received(&records[i], 500);
    for (int i = 0; i < COUNT; i++) {
        int now = order_of_ends[i];
        char name[16];
        snprintf(name, sizeof name, "own-%d", now);
        release(name);
        record_wait(&records[now]);
        CHECK_ENDED(&records[now], SDD_OK, 0);
        CHECK_EQUAL(sdd_bytes_size(records[now].bytes), 1000 + now);
        CHECK(is_pattern(sdd_bytes_data(records[now].bytes), (size_t)(1000 + now), targets[now]));
        for (int later = i + 1; later < COUNT; later++) CHECK(record_is_open(&records[order_of_ends[later]]));
    }
    for (int i = 0; i < COUNT; i++) record_clear(&records[i]);
}

int main(void) { return run_cases(); }

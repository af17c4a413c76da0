/* The notices of transfers and their order, in both delivery modes, and log messages by level. The names begin with
   rows of the contract: N1 START, N2 RESPONSE, N3 STOP, N4 FINISH. */
#include "record.h"
#include "server.h"

#include <stdatomic.h>

enum { MOST = 200 };

/* The events so far, one letter each: s(tart), r(esponse), f(inish), x for a stop, P(rogress), C(ompleted), L(og). */
static struct {
    pthread_mutex_t lock;
    int count;
    char letters[MOST + 1];
    struct {
        sdd_token token;
        uint64_t transfer;
        sdd_status error;
        int32_t level, http_status;
        int64_t time;
        char url[300], message[300];
    } all[MOST];
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t drained;  /* requests of the current downloader that ended as records */
static int the_observer; /* its address is the observer's data */

static void forget(void)
{
    pthread_mutex_lock(&heard.lock);
    memset(heard.letters, 0, sizeof heard.letters);
    memset(heard.all, 0, sizeof heard.all);
    heard.count = 0;
    pthread_mutex_unlock(&heard.lock);
}

static void hear(char letter, const sdd_notice *notice, sdd_token token, sdd_status error)
{
    pthread_mutex_lock(&heard.lock);
    CHECK(heard.count < MOST);
    heard.letters[heard.count] = letter;
    heard.all[heard.count].token = token;
    heard.all[heard.count].error = error;
    if (notice) {
        heard.all[heard.count].transfer = notice->transfer;
        heard.all[heard.count].level = notice->level;
        heard.all[heard.count].http_status = notice->failure.http_status;
        heard.all[heard.count].time = notice->time_us;
        snprintf(heard.all[heard.count].url, 300, "%s", notice->url ? notice->url : "");
        snprintf(heard.all[heard.count].message, 300, "%s", notice->failure.message);
    }
    heard.count++;
    pthread_mutex_unlock(&heard.lock);
}

static void check_notice(const sdd_notice *notice)
{
    int is_log = notice->kind == SDD_EVENT_LOG;
    CHECK_EQUAL(notice->struct_size, sizeof *notice);
    CHECK(notice->kind >= SDD_EVENT_START && notice->kind <= SDD_EVENT_LOG && notice->time_us > 0);
    CHECK_EQUAL(is_log, notice->level != 0);
    /* A log message about a transfer may come after all its requests have left. */
    if (!is_log) CHECK(notice->url != NULL);
    if (notice->transfer == 0) CHECK(notice->url == NULL && notice->token == 0);
    if (is_log) {
        CHECK(notice->level >= SDD_LOG_ERROR && notice->level <= SDD_LOG_DEBUG);
        CHECK(*notice->failure.message != 0 && strchr(notice->failure.message, '\n') == NULL);
        CHECK_STATUS(notice->failure.status, SDD_OK);
    } else {
        CHECK(notice->transfer != 0 && notice->token != 0);
        CHECK(notice->failure.status == SDD_OK || notice->kind == SDD_EVENT_STOP || notice->kind == SDD_EVENT_RETRY);
        CHECK_EQUAL(notice->failure.status == SDD_OK, notice->failure.message[0] == 0);
    }
}

static void observe(const sdd_notice *notice, void *user_data)
{
    static const char letters[] = "srfx?L"; /* from SDD_EVENT_START on */
    CHECK(user_data == &the_observer);
    check_notice(notice);
    hear(letters[notice->kind - SDD_EVENT_START], notice, notice->token, notice->failure.status);
}

static void completed(const sdd_result *result, void *user_data)
{
    (void)user_data;
    check_result(result);
    hear('C', NULL, result->token, result->failure.status);
}

static sdd_downloader *downloader_of(int32_t delivery)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    config.delivery = delivery;
    network.ca_file = setting("SDD_TEST_CA");
    return make_downloader(&config);
}

static sdd_downloader *observed_downloader(int32_t delivery)
{
    sdd_downloader *downloader = downloader_of(delivery);
    CHECK_STATUS(sdd_downloader_set_observer(downloader, observe, &the_observer, NULL), SDD_OK);
    forget();
    drained = 0;
    return downloader;
}

static sdd_token start(sdd_downloader *downloader, const char *url, uint64_t options)
{
    sdd_token token = sdd_download(downloader, url, options, NULL, completed, NULL);
    CHECK(token != 0);
    return token;
}

/* Delivers all events: by callbacks or, with `drains`, as records. */
static void deliver(sdd_downloader *downloader, int drains)
{
    if (!drains) {
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        return;
    }
    sdd_statistics s = SDD_STATISTICS_INIT;
    for (;;) {
        sdd_event events[3] = { SDD_EVENT_INIT, SDD_EVENT_INIT, SDD_EVENT_INIT };
        size_t count = 0;
        CHECK_STATUS(sdd_downloader_get_statistics(downloader, &s), SDD_OK);
        sdd_status status = sdd_downloader_wait(downloader, events, 3, drained < s.requests ? -1 : 0, &count);
        if (status == SDD_ERROR_TIMEOUT) return;
        CHECK_STATUS(status, SDD_OK);
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind >= SDD_EVENT_START) {
                CHECK(events[i].notice && events[i].notice->kind == events[i].kind && events[i].result == NULL);
                CHECK_EQUAL(events[i].token, events[i].notice->token);
                observe(events[i].notice, events[i].user_data);
                continue;
            }
            CHECK(events[i].kind == SDD_EVENT_COMPLETED && events[i].notice == NULL);
            completed(events[i].result, NULL);
            drained++;
        }
    }
}

/* Returns the letters of all events but the ends of requests. */
static const char *notices(void)
{
    static char kept[MOST + 1];
    int count = 0;
    for (int i = 0; i < heard.count; i++)
        if (heard.letters[i] != 'C') kept[count++] = heard.letters[i];
    kept[count] = 0;
    return kept;
}

/* --------------------------------------------------------------------------------- one transfer */

static void check_transfer(sdd_token token, const char *url, sdd_status error)
{
    int64_t time = 0;
    uint64_t transfer = 0;
    for (int i = 0; i < heard.count; i++) {
        if (heard.letters[i] == 'C') continue;
        CHECK(heard.all[i].token == token && heard.all[i].time >= time);
        CHECK(transfer == 0 || heard.all[i].transfer == transfer);
        CHECK_TEXT(heard.all[i].url, url);
        transfer = heard.all[i].transfer;
        time = heard.all[i].time;
        if (heard.letters[i] == 's') CHECK_EQUAL(heard.all[i].http_status, 0);
        if (heard.letters[i] == 'x') CHECK_STATUS(heard.all[i].error, error);
    }
}

static void orders_of_a_transfer(int32_t delivery, int drains)
{
    static const struct {
        const char *path;
        int bytes_only;
        const char *letters;
        sdd_status error;
        int http_status;
    } all[] = {
        { "/ok?size=50000", 1, "srfx", SDD_OK, 200 },
        { "/file/png/rgb8.png", 0, "srfx", SDD_OK, 200 },
        { "/html", 0, "srfx", SDD_OK, 200 }, /* X34: the body is complete, but not a picture */
        { "/empty", 1, "srfx", SDD_OK, 200 },
        { "/status/404", 1, "srx", SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 404 },
        { "/cut?size=1000", 1, "srx", SDD_ERROR_TRUNCATED_BODY, 200 },
        { "/reset", 1, "sx", SDD_ERROR_CONNECTION_LOST, 0 },
        { "http://127.0.0.1:1/", 1, "sx", SDD_ERROR_CONNECT, 0 },
        { "nonsense", 1, "", SDD_OK, 0 },
    };
    OWNED_DOWNLOADER downloader = observed_downloader(delivery);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *url = all[i].path[0] == '/' ? at(all[i].path) : all[i].path;
        forget();
        sdd_token token = start(downloader, url, all[i].bytes_only ? SDD_OPTION_BYTES_ONLY : 0);
        deliver(downloader, drains);
        if (strcmp(notices(), all[i].letters) != 0) FAIL("%s: %s, not %s", url, notices(), all[i].letters);
        CHECK(strchr(heard.letters, 'C') && heard.count == (int)strlen(all[i].letters) + 1);
        check_transfer(token, url, all[i].error);
        for (int n = 0; n < heard.count; n++)
            if (heard.letters[n] == 'r' || heard.letters[n] == 'f')
                CHECK_EQUAL(heard.all[n].http_status, all[i].http_status);
    }
    /* Without an observer there are no notices. */
    forget();
    CHECK_STATUS(sdd_downloader_set_observer(downloader, NULL, NULL, NULL), SDD_OK);
    start(downloader, at("/ok?unheard"), SDD_OPTION_BYTES_ONLY);
    deliver(downloader, drains);
    CHECK_TEXT(heard.letters, "C");
}

CASE(n1_n4_x34_a_transfer_on_a_thread) { orders_of_a_transfer(SDD_DELIVERY_THREAD, 0); }
CASE(n1_n4_x34_a_transfer_dispatched) { orders_of_a_transfer(SDD_DELIVERY_APPLICATION, 0); }
CASE(n1_n4_x34_a_transfer_drained) { orders_of_a_transfer(SDD_DELIVERY_APPLICATION, 1); }

/* START comes before the end of the request, and so does STOP: notices share one order with the request's events. */
CASE(n1_n3_one_order_with_the_ends)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        OWNED_DOWNLOADER downloader = observed_downloader(delivery);
        CHECK_STATUS(sdd_downloader_set_max_concurrent_downloads(downloader, 1), SDD_OK);
        for (int i = 0; i < 3; i++) start(downloader, atf("/ok?order%d", i), SDD_OPTION_BYTES_ONLY);
        deliver(downloader, 0);
        CHECK_TEXT(notices(), "srfxsrfxsrfx");
        CHECK(strchr(heard.letters, 'C') > strchr(heard.letters, 'f'));
        CHECK(heard.all[0].transfer != heard.all[heard.count - 1].transfer || heard.letters[heard.count - 1] == 'C');
    }
}

CASE(n3_a_cancelled_transfer_stops)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        OWNED_DOWNLOADER downloader = observed_downloader(delivery);
        /* The transfer is cancelled on the network. */
        sdd_token token = start(downloader, atf("/silence?%d", delivery), SDD_OPTION_BYTES_ONLY);
        order("/wait?path=/silence");
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        deliver(downloader, 0);
        CHECK_TEXT(notices(), "sx");
        check_transfer(token, atf("/silence?%d", delivery), SDD_ERROR_CANCELLED);
        /* A request that is cancelled while it waits never becomes a transfer. */
        forget();
        CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        token = start(downloader, at("/ok?waits"), SDD_OPTION_BYTES_ONLY);
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        deliver(downloader, 0);
        CHECK_TEXT(heard.letters, "C");
        CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
        order("/reset-stats");
    }
}

/* Requests that share have one transfer, reported with the first one's token, even if that request has left. */
CASE(n1_n4_a_shared_transfer_is_reported_once)
{
    OWNED_DOWNLOADER downloader = observed_downloader(SDD_DELIVERY_THREAD);
    sdd_token first = start(downloader, at("/hold/observed"), SDD_OPTION_BYTES_ONLY);
    start(downloader, at("/hold/observed"), SDD_OPTION_BYTES_ONLY);
    start(downloader, at("/hold/observed"), 0);
    wait_for_requests("/hold/observed", 1);
    CHECK_STATUS(sdd_cancel(first), SDD_OK);
    release("observed");
    deliver(downloader, 0);
    CHECK_TEXT(notices(), "srfx");
    check_transfer(first, at("/hold/observed"), SDD_OK);
    CHECK_EQUAL(heard.count, 7);
}

/* STOP comes for every transfer that began, also when the downloader is destroyed or closed. */
CASE(n3_stop_always_comes)
{
    for (int turn = 0; turn < 4; turn++) {
        sdd_downloader *downloader = observed_downloader(turn % 2);
        for (int i = 0; i < 5; i++) start(downloader, atf("/hold/stops%d?%d", turn, i), SDD_OPTION_BYTES_ONLY);
        char path[40];
        snprintf(path, sizeof path, "/hold/stops%d", turn);
        wait_for_requests(path, 5);
        if (turn >= 2) CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
        destroy(downloader);
        int starts = 0, stops = 0, ends = 0;
        for (int i = 0; i < heard.count; i++) {
            starts += heard.letters[i] == 's';
            ends += heard.letters[i] == 'C';
            if (heard.letters[i] == 'x') CHECK_STATUS((stops++, heard.all[i].error), SDD_ERROR_CANCELLED);
        }
        CHECK(starts == 5 && stops == 5 && ends == 5);
    }
}

/* Notices that wait for one observer are not delivered to the next. */
static int the_other;

static void observe_other(const sdd_notice *notice, void *user_data)
{
    CHECK(user_data == &the_other);
    check_notice(notice);
    hear('o', notice, notice->token, notice->failure.status);
}

CASE(n1_a_new_observer_gets_no_old_notices)
{
    OWNED_DOWNLOADER downloader = observed_downloader(SDD_DELIVERY_APPLICATION);
    sdd_token token = start(downloader, at("/hold/another"), SDD_OPTION_BYTES_ONLY);
    wait_for_requests("/hold/another", 1);
    /* START was queued for the first observer, so the second one does not get it. */
    CHECK_STATUS(sdd_downloader_set_observer(downloader, observe_other, &the_other, NULL), SDD_OK);
    release("another");
    deliver(downloader, 0);
    CHECK_TEXT(notices(), "ooo");
    for (int i = 0; i < heard.count; i++) CHECK(heard.all[i].token == token);
}

/* ---------------------------------------------------------------------------- data is freed once */

static atomic_int frees;

static void count_free(void *user_data)
{
    CHECK(user_data == &the_observer);
    atomic_fetch_add(&frees, 1);
}

static int count_frees(void) { return frees; }

static void check_frees(int expected)
{
    if (!settles(count_frees, expected)) FAIL("freed %d times, not %d", count_frees(), expected);
}

static sdd_status set_it(sdd_downloader *downloader, int is_log, sdd_observer_fn observer)
{
    return is_log ? sdd_downloader_set_log(downloader, SDD_LOG_DEBUG, observer, &the_observer, count_free)
                  : sdd_downloader_set_observer(downloader, observer, &the_observer, count_free);
}

/* The data is freed when another observer or none is set, and with the downloader; never for a call that failed or set
   no callback. */
CASE(z1_n1_an_observers_data_is_freed_once)
{
    for (int is_log = 0; is_log < 2; is_log++)
        for (int delivery = 0; delivery < 2; delivery++) {
            sdd_downloader *downloader = downloader_of(delivery);
            frees = 0;
            CHECK_STATUS(set_it(downloader, is_log, NULL), SDD_OK);
            CHECK_STATUS(sdd_downloader_set_log(downloader, 9, observe, &the_observer, count_free), SDD_ERROR_INVALID_ARGUMENT);
            CHECK_STATUS(set_it(downloader, is_log, observe), SDD_OK);
            CHECK_EQUAL(frees, 0);
            forget();
            start(downloader, at("/ok?data"), SDD_OPTION_BYTES_ONLY);
            CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
            CHECK_EQUAL(frees, 0);
            CHECK_STATUS(set_it(downloader, is_log, observe), SDD_OK);
            check_frees(1);
            CHECK_STATUS(set_it(downloader, is_log, NULL), SDD_OK);
            check_frees(2);
            /* Queued notices do not outlive the observer's data. */
            CHECK_STATUS(set_it(downloader, is_log, observe), SDD_OK);
            start(downloader, at("/reset?data"), SDD_OPTION_BYTES_ONLY);
            destroy(downloader);
            check_frees(3);
            CHECK_STATUS(set_it(downloader, is_log, observe), SDD_ERROR_CLOSED);
            CHECK_EQUAL(frees, 3);
        }
}

static sdd_downloader *replaced;

static void replace_itself(const sdd_notice *notice, void *user_data)
{
    CHECK(user_data == &the_observer && frees == 0);
    CHECK_STATUS(sdd_downloader_set_observer(replaced, NULL, NULL, NULL), SDD_OK);
    hear('o', notice, notice->token, notice->failure.status);
}

/* An observer may remove itself; its data is freed after it has returned. */
CASE(z1_n1_an_observer_may_remove_itself)
{
    for (int delivery = 0; delivery < 2; delivery++) {
        replaced = downloader_of(delivery);
        frees = 0;
        forget();
        CHECK_STATUS(sdd_downloader_set_observer(replaced, replace_itself, &the_observer, count_free), SDD_OK);
        start(replaced, at("/ok?itself"), SDD_OPTION_BYTES_ONLY);
        CHECK_STATUS(sdd_downloader_idle_wait(replaced, -1), SDD_OK);
        CHECK_TEXT(heard.letters, "oC");
        check_frees(1);
        destroy(replaced);
    }
}

/* ------------------------------------------------------------------------------------- messages */

static int count_level(int32_t level)
{
    int count = 0;
    for (int i = 0; i < heard.count; i++) count += heard.letters[i] == 'L' && heard.all[i].level == level;
    return count;
}

CASE(n5_h13_messages_by_level)
{
    OWNED_DOWNLOADER downloader = downloader_of(SDD_DELIVERY_THREAD);
    static const int32_t bad[] = { -1, 5, INT32_MAX };
    for (int i = 0; i < 3; i++)
        CHECK_STATUS(sdd_downloader_set_log(downloader, bad[i], observe, &the_observer, NULL), SDD_ERROR_INVALID_ARGUMENT);
    /* There are no messages at first, and none at level NONE. An observer gets no messages, a log gets no START. */
    for (int32_t level = -1; level <= SDD_LOG_DEBUG; level++) {
        if (level >= 0) CHECK_STATUS(sdd_downloader_set_log(downloader, level, observe, &the_observer, NULL), SDD_OK);
        forget();
        start(downloader, at("/ok?log"), SDD_OPTION_BYTES_ONLY);
        start(downloader, at("/reset?log"), SDD_OPTION_BYTES_ONLY);
        start(downloader, at("/redirect?to=/ok?log"), SDD_OPTION_BYTES_ONLY);
        start(downloader, address_at("SDD_TEST_TLS_SELF_SIGNED", "/protocol"),
              SDD_OPTION_BYTES_ONLY | SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        CHECK(strpbrk(heard.letters, "srfx") == NULL);
        CHECK_EQUAL(count_level(SDD_LOG_ERROR), 0);
        int warnings = count_level(SDD_LOG_WARNING), infos = count_level(SDD_LOG_INFO);
        int debugs = count_level(SDD_LOG_DEBUG);
        CHECK_EQUAL(warnings, level >= SDD_LOG_WARNING);  /* one for the certificate that was not checked */
        CHECK_EQUAL(infos, level >= SDD_LOG_INFO);        /* one for the failed transfer */
        if (level < SDD_LOG_DEBUG) CHECK_EQUAL(debugs, 0);
        else CHECK(debugs >= 4 + 3 + 1);                  /* starts, ends of successful transfers, a redirect */
        for (int i = 0; i < heard.count; i++) {
            if (heard.all[i].level == SDD_LOG_WARNING) CHECK(strncmp(heard.all[i].url, "https://", 8) == 0);
            if (heard.all[i].level == SDD_LOG_INFO) CHECK(strstr(heard.all[i].url, "/reset?log"));
        }
    }
    /* Messages can be turned off by the level and by a NULL callback. */
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(sdd_downloader_set_log(downloader, SDD_LOG_DEBUG, observe, &the_observer, NULL), SDD_OK);
        CHECK_STATUS(i ? sdd_downloader_set_log(downloader, SDD_LOG_DEBUG, NULL, NULL, NULL)
                       : sdd_downloader_set_log(downloader, SDD_LOG_NONE, observe, &the_observer, NULL), SDD_OK);
        forget();
        start(downloader, at("/reset?silent"), SDD_OPTION_BYTES_ONLY);
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        CHECK_TEXT(heard.letters, "C");
    }
}

/* One function gets both, as records; no password, token or user info is ever in a message. */
CASE(n5_observer_and_log_together)
{
    OWNED_DOWNLOADER downloader = observed_downloader(SDD_DELIVERY_APPLICATION);
    sdd_credential credential = SDD_CREDENTIAL_INIT;
    CHECK_STATUS(sdd_downloader_set_log(downloader, SDD_LOG_DEBUG, observe, &the_observer, NULL), SDD_OK);
    credential.username = "user";
    credential.password = "hunter2";
    CHECK_STATUS(sdd_downloader_set_credential(downloader, &credential), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "X-Secret", "hunter2"), SDD_OK);
    start(downloader, at("/ok?status=401&header=WWW-Authenticate:%20Basic%20realm=%22x%22"), SDD_OPTION_BYTES_ONLY);
    deliver(downloader, 1);
    CHECK(strchr(heard.letters, 's') && strchr(heard.letters, 'r') && strchr(heard.letters, 'x'));
    CHECK(strchr(heard.letters, 'L') && strchr(heard.letters, 'C'));
    for (int i = 0; i < heard.count; i++) CHECK(strstr(heard.all[i].message, "hunter2") == NULL);
}

int main(void) { return run_cases(); }

/* Measures the processor time of each operation for n objects at a time: thirty times as many objects may cost hardly
   more than thirty times as much. An operation that looks at all objects costs nine hundred times as much.
   SDD_TEST_LONG=1 goes up to 100,000. With isolated decoding only what decodes pictures is measured. */
#include "loads.h"
#include "png_making.h"
#include "record.h"
#include "server.h"

#include <time.h>

enum { FEW = 1000, MANY = 30000, VERY_MANY = 100000, TRIES = 4 };

/* Allowance beyond the growth of n, for processor cache misses in larger tables and for a noisy machine. */
#define SLACK 6.0 /* more objects cause more processor cache misses; quadratic cost would be n times as much, not 6 */

static int threads_before, descriptors_before;

/* Returns the processor time of all threads in seconds. */
static double processor_time(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void ended(const sdd_result *result, void *user_data)
{
    (void)result, (void)user_data;
}

static void progressed(sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    (void)token, (void)received, (void)expected, (void)url, (void)user_data;
}

/* ------------------------------------------------------------- waiting requests, of one URL or many */

typedef struct crowd {
    sdd_downloader *downloader;
    sdd_token *tokens;
    int count;
    double submitting;
} crowd;

static const char *url_of(int number, int is_one)
{
    static char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:1/%d", is_one ? 0 : number);
    return url;
}

static crowd gather(int count, int is_one)
{
    crowd c = { make_downloader(NULL), malloc((size_t)count * sizeof(sdd_token)), count, 0 };
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.completed = ended;
    transfer.total_timeout_ms = 3600000;
    CHECK_STATUS(sdd_downloader_suspend(c.downloader), SDD_OK);
    double begin = processor_time();
    for (int i = 0; i < count; i++) {
        request.url = url_of(i, is_one);
        c.tokens[i] = submit(c.downloader, &request);
    }
    c.submitting = processor_time() - begin;
    return c;
}

static void disperse(crowd *c)
{
    if (c->downloader) destroy(c->downloader);
    free(c->tokens);
}

static double submitting(int count, int is_one)
{
    crowd c = gather(count, is_one);
    double cost = c.submitting;
    disperse(&c);
    return cost;
}

static double of_each(int count, int is_one, int is_backwards, void (*visit)(sdd_downloader *, sdd_token, int))
{
    crowd c = gather(count, is_one);
    double begin = processor_time();
    for (int i = 0; i < count; i++) visit(c.downloader, c.tokens[is_backwards ? count - 1 - i : i], i);
    double cost = processor_time() - begin;
    disperse(&c);
    return cost;
}

static void set_priority(sdd_downloader *downloader, sdd_token token, int number)
{
    (void)downloader;
    CHECK_STATUS(sdd_set_priority(token, 1 + number % 5), SDD_OK);
}

static void get_info(sdd_downloader *downloader, sdd_token token, int number)
{
    sdd_token_info info = SDD_TOKEN_INFO_INIT;
    (void)downloader, (void)number;
    CHECK_STATUS(sdd_token_get_info(token, &info), SDD_OK);
}

static void get_statistics(sdd_downloader *downloader, sdd_token token, int number)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    (void)token, (void)number;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    CHECK(statistics.waiting > 0);
}

static void cancel(sdd_downloader *downloader, sdd_token token, int number)
{
    (void)downloader, (void)number;
    CHECK_STATUS(sdd_cancel(token), SDD_OK);
}

static double submit_one_url(int n) { return submitting(n, 1); }
static double submit_urls(int n) { return submitting(n, 0); }
static double priority_one_url(int n) { return of_each(n, 1, 0, set_priority); }
static double priority_urls(int n) { return of_each(n, 0, 0, set_priority); }
static double info_one_url(int n) { return of_each(n, 1, 1, get_info); }
static double info_urls(int n) { return of_each(n, 0, 0, get_info); }
static double statistics_urls(int n) { return of_each(n, 0, 0, get_statistics); }
static double cancel_one_url(int n) { return of_each(n, 1, 0, cancel); }
static double cancel_one_url_backwards(int n) { return of_each(n, 1, 1, cancel); }
static double cancel_urls(int n) { return of_each(n, 0, 0, cancel); }

static double ending(int count, int is_one, int destroys)
{
    crowd c = gather(count, is_one);
    double begin = processor_time();
    if (!destroys) {
        CHECK_STATUS(sdd_downloader_cancel_all(c.downloader), SDD_OK);
        CHECK_STATUS(sdd_downloader_idle_wait(c.downloader, -1), SDD_OK);
    } else {
        destroy(c.downloader);
        c.downloader = NULL;
    }
    double cost = processor_time() - begin;
    disperse(&c);
    return cost;
}

static double cancel_all_one_url(int n) { return ending(n, 1, 0); }
static double cancel_all_urls(int n) { return ending(n, 0, 0); }
static double destroy_one_url(int n) { return ending(n, 1, 1); }
static double destroy_urls(int n) { return ending(n, 0, 1); }

/* ---------------------------------------------------------- transfers of a transport that answers on demand */

typedef struct giver {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sdd_transfer *transfers;
    int count, answers_at_once;
} giver;

static void transfer_started(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    giver *g = user_data;
    if (g->answers_at_once || strncmp(request->url, "given:now", 9) == 0) {
        CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
        return;
    }
    pthread_mutex_lock(&g->lock);
    g->transfers[g->count++] = transfer;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void transfer_cancelled(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

static sdd_downloader *given_by(giver *g, int most, int32_t delivery)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    sdd_limits limits = SDD_LIMITS_INIT;
    limits.download_timeout_ms = 600000; /* thousands may wait for their bytes on a busy machine */
    config.limits = &limits;
    config.max_concurrent_downloads = config.max_concurrent_per_host = 100000;
    config.delivery = delivery;
    *g = (giver){ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    g->transfers = malloc((size_t)most * sizeof *g->transfers);
    transport.scheme = "given";
    transport.start = transfer_started;
    transport.cancel = transfer_cancelled;
    transport.user_data = g;
    sdd_downloader *downloader = make_downloader(&config);
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    return downloader;
}

static void wait_for_transfers(giver *g, int count)
{
    pthread_mutex_lock(&g->lock);
    while (g->count < count) pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void ask(sdd_downloader *downloader, const char *url)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.completed = ended;
    request.progress = progressed;
    request.options = SDD_OPTION_BYTES_ONLY;
    submit(downloader, &request);
}

static void ask_all(sdd_downloader *downloader, int count, int is_one)
{
    char url[64];
    for (int i = 0; i < count; i++) {
        snprintf(url, sizeof url, "given:%d", is_one ? 0 : i);
        ask(downloader, url);
    }
}

/* Answers each transfer with a response, three pieces with progress, and the end. */
static double answering(int count, int is_one)
{
    giver g;
    sdd_downloader *downloader = given_by(&g, count, SDD_DELIVERY_THREAD);
    int transfers = is_one ? 1 : count;
    ask_all(downloader, count, is_one);
    wait_for_transfers(&g, transfers);
    double begin = processor_time();
    for (int i = 0; i < transfers; i++) {
        for (int piece = 0; piece < 3; piece++)
            CHECK_STATUS(sdd_transfer_write(g.transfers[i], "piece", 5), SDD_OK);
        CHECK_STATUS(sdd_transfer_finish(g.transfers[i], SDD_OK, NULL), SDD_OK);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    double cost = processor_time() - begin;
    destroy(downloader);
    free(g.transfers);
    return cost;
}

static double progress_and_end_one_url(int n) { return answering(n, 1); }
static double progress_and_end_urls(int n) { return answering(n, 0); }

/* Decodes one picture in n sizes from one transfer. */
static double sizes_of_one_url(int count)
{
    giver g;
    size_t size;
    uint8_t *file = noisy_png(4, 4, &size);
    sdd_downloader *downloader = given_by(&g, 1, SDD_DELIVERY_THREAD);
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    request.url = "given:0";
    request.completed = ended;
    request.decode = &options;
    double begin = processor_time();
    for (int i = 0; i < count; i++) {
        options.target_width = 10 + i % 400;
        options.target_height = 10 + i / 400;
        submit(downloader, &request);
    }
    wait_for_transfers(&g, 1);
    CHECK_STATUS(sdd_transfer_write(g.transfers[0], file, size), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(g.transfers[0], SDD_OK, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    double cost = processor_time() - begin;
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    CHECK_EQUAL(statistics.requests_succeeded, count);
    destroy(downloader);
    free(g.transfers);
    free(file);
    return cost;
}

/* Runs five hundred requests while n transfers hang, each with its timeouts. */
static double beside_hanging(int count)
{
    giver g;
    sdd_downloader *downloader = given_by(&g, count, SDD_DELIVERY_APPLICATION);
    sdd_event event;
    size_t taken;
    ask_all(downloader, count, 0);
    wait_for_transfers(&g, count);
    event.struct_size = sizeof event;
    while (sdd_downloader_wait(downloader, &event, 1, 0, &taken) == SDD_OK) {}
    double begin = processor_time();
    for (int i = 0; i < 500; i++) {
        char url[64];
        int is_over = 0;
        snprintf(url, sizeof url, "given:now%d", i);
        ask(downloader, url);
        while (!is_over) {
            event.struct_size = sizeof event;
            CHECK_STATUS(sdd_downloader_wait(downloader, &event, 1, -1, &taken), SDD_OK);
            is_over = taken == 1 && event.kind == SDD_EVENT_COMPLETED;
        }
    }
    double cost = processor_time() - begin;
    destroy(downloader);
    free(g.transfers);
    return cost;
}

/* Drains queued events one at a time. */
static double draining(int count)
{
    giver g;
    sdd_downloader *downloader = given_by(&g, count, SDD_DELIVERY_APPLICATION);
    sdd_event event;
    size_t taken = 1;
    ask_all(downloader, count, 0);
    wait_for_transfers(&g, count);
    for (int i = 0; i < count; i++)
        CHECK_STATUS(sdd_transfer_finish(g.transfers[i], SDD_OK, NULL), SDD_OK);
    double begin = processor_time();
    while (taken) {
        event.struct_size = sizeof event;
        CHECK_STATUS(sdd_downloader_drain(downloader, &event, 1, &taken), SDD_OK);
    }
    double cost = processor_time() - begin;
    destroy(downloader);
    free(g.transfers);
    return cost;
}

/* --------------------------------------------------------------------------------------- batches */

static int32_t next_item(sdd_batch_source *item, void *user_data)
{
    int *left = user_data;
    if (*left == 0) return 0;
    item->url = "given:now";
    (*left)--;
    return 1;
}

/* Takes the items of a finished batch one at a time. */
static double taking_items(int count, int32_t order)
{
    giver g;
    int left = count;
    sdd_batch *batch = NULL;
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch_statistics statistics = SDD_BATCH_STATISTICS_INIT;
    config.downloader = given_by(&g, 1, SDD_DELIVERY_THREAD);
    config.next = next_item;
    config.user_data = &left;
    config.look_ahead = count > 65536 ? 65536 : count;
    config.order = order;
    config.options = SDD_OPTION_BYTES_ONLY;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    do {
        sched_yield();
        CHECK_STATUS(sdd_batch_get_statistics(batch, &statistics), SDD_OK);
    } while (statistics.items < config.look_ahead);
    double begin = processor_time();
    for (size_t taken = 1; taken;) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &taken), SDD_OK);
        if (taken) sdd_result_release(item.result);
    }
    double cost = processor_time() - begin;
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    destroy(config.downloader);
    free(g.transfers);
    return cost;
}

static double batch_as_completed(int n) { return taking_items(n, SDD_BATCH_AS_COMPLETED); }
static double batch_ordered(int n) { return taking_items(n, SDD_BATCH_ORDERED); }

/* ----------------------------------------------------------------------------------------- loads */

/* Cancels loads of one URL one by one. */
static double cancel_loads(int count)
{
    loader_in_folder l = open_loader();
    sdd_token *tokens = malloc((size_t)count * sizeof *tokens);
    CHECK_STATUS(sdd_downloader_suspend(l.downloader), SDD_OK);
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = "http://127.0.0.1:1/one";
    request.completed = ended;
    double begin = processor_time();
    for (int i = 0; i < count; i++) {
        tokens[i] = sdd_loader_submit(l.loader, &request);
        CHECK(tokens[i] != 0);
    }
    for (int i = count - 1; i >= 0; i--) CHECK_STATUS(sdd_cancel(tokens[i]), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    double cost = processor_time() - begin;
    close_loader(&l);
    free(tokens);
    return cost;
}

/* Cancels running lists of one URL each one by one. */
static double cancel_lists(int count)
{
    loader_in_folder l = open_loader();
    sdd_token *tokens = malloc((size_t)count * sizeof *tokens);
    CHECK_STATUS(sdd_downloader_suspend(l.downloader), SDD_OK);
    CHECK_STATUS(sdd_loader_set_max_concurrent_prefetches(l.loader, 1000), SDD_OK);
    double begin = processor_time();
    for (int i = 0; i < count; i++) {
        const char *url = url_of(i, 0);
        sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
        list.urls = &url;
        list.count = 1;
        tokens[i] = sdd_prefetch(l.loader, &list);
        CHECK(tokens[i] != 0);
    }
    for (int i = 0; i < count; i++) CHECK_STATUS(sdd_cancel(tokens[i]), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
    double cost = processor_time() - begin;
    close_loader(&l);
    free(tokens);
    return cost;
}

/* --------------------------------------------------------------------------------------- cookies */

static void set_cookies(sdd_downloader *downloader, int count)
{
    for (int i = 0; i < count; i++) {
        char domain[64];
        sdd_cookie cookie = SDD_COOKIE_INIT;
        snprintf(domain, sizeof domain, "host%d.example", i);
        cookie.name = "name";
        cookie.value = "value";
        cookie.domain = domain;
        CHECK_STATUS(sdd_downloader_set_cookie(downloader, &cookie), SDD_OK);
    }
}

static double cookies_set(int count)
{
    sdd_downloader *downloader = make_downloader(NULL);
    double begin = processor_time();
    set_cookies(downloader, count);
    double cost = processor_time() - begin;
    destroy(downloader);
    return cost;
}

/* Receives three hundred responses that set a cookie, beside the cookies of other hosts: a jar holds 3,000. */
static double beside_cookies(int count)
{
    sdd_downloader *downloader = make_downloader(NULL);
    set_cookies(downloader, count / 10 > 3000 ? 3000 : count / 10);
    double begin = processor_time();
    for (int i = 0; i < 300; i++) {
        OWNED_RECORD r = RECORD_INIT;
        record_submit(downloader, &r, atf("/ok?size=10&header=Set-Cookie:%%20n%d=v", i % 40),
                      SDD_OPTION_BYTES_ONLY | SDD_OPTION_HANDLE_COOKIES);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
    }
    double cost = processor_time() - begin;
    destroy(downloader);
    return cost;
}

/* Clears the cookies of 60 domains one by one, beside those of other domains. */
static double clear_domains(int count)
{
    sdd_downloader *downloader = make_downloader(NULL);
    set_cookies(downloader, count > 3000 ? 3000 : count);
    double begin = processor_time();
    for (int i = 0; i < 60; i++) {
        char domain[64];
        snprintf(domain, sizeof domain, "host%d.example", i);
        CHECK_STATUS(sdd_downloader_clear_cookies(downloader, domain), SDD_OK);
    }
    double cost = processor_time() - begin;
    destroy(downloader);
    return cost;
}

/* -------------------------------------------------------------------------------- running transfers */

static sem_t refused;

static void note_refused(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_ERROR_CONNECT);
    CHECK(sem_post(&refused) == 0);
}

/* Starts requests of libcurl, half of which must not be sent twice. They share one connection that is never accepted,
   so that only their start costs anything. It uses a tenth of n, because libcurl looks at all of them when one ends. */
static double posts_beside_running(int count)
{
    count /= 10;
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int listener = loopback_socket(&address, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 8) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    config.retry = &retry;
    config.max_concurrent_downloads = config.max_concurrent_per_host = 2 * count + 1;
    network.max_connections_per_host = 1;
    network.receive_buffer_bytes = 1024;
    retry.delay_ms = 1;
    retry.max_attempts = 1;
    sdd_downloader *downloader = make_downloader(&config);
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.options = SDD_OPTION_BYTES_ONLY;
    CHECK(sem_init(&refused, 0, 0) == 0);
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    for (int i = 0; i < 2 * count; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://127.0.0.1:%d/%d", ntohs(address.sin_port), i);
        request.url = url;
        request.method = i < count ? "GET" : "POST";
        request.completed = ended;
        submit(downloader, &request);
    }
    request.url = "http://127.0.0.1:1/last";
    request.method = "GET";
    request.completed = note_refused;
    submit(downloader, &request);
    double begin = processor_time();
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    while (sem_wait(&refused) != 0) {}
    double cost = processor_time() - begin;
    destroy(downloader);
    close(listener);
    sem_destroy(&refused);
    return cost;
}

/* ---------------------------------------------------------------------------------------- the disk */

/* Trims n/3 entries to half. A trim uses file names and file attributes and reads no entry. */
static double trim_entries(int count)
{
    count /= 3;
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    struct stat status;
    config.levels = SDD_CACHE_DISK;
    config.max_disk_age_ms = -1;
    cache_in_folder c = open_cache(config);
    CHECK_STATUS(sdd_cache_destroy(c.cache), SDD_OK);
    for (int i = 0; i < count; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%032x", c.folder, (unsigned)i);
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        CHECK(file >= 0 && write(file, "entry", 5) == 5 && fstat(file, &status) == 0 && close(file) == 0);
    }
    config.directory = c.folder;
    config.max_disk_bytes = (int64_t)count * status.st_blocks * 512 / 2;
    c.cache = make_cache(&config);
    double begin = processor_time();
    CHECK_STATUS(sdd_cache_trim_disk_wait(c.cache), SDD_OK);
    double cost = processor_time() - begin;
    CHECK(counts_of(c.cache).disk_count <= count / 2 && counts_of(c.cache).disk_count >= count / 5);
    close_cache(&c);
    return cost;
}

/* ----------------------------------------------------------------------------------------- table */

/* libcurl searches the cookies of a domain for each cookie it gets, and the jar keeps at most 3,000: from there on each
 * cookie costs the same. */
enum { FULL_JAR = 4000 };

/* Each row: the operation, its cost for n, whether the cost must not grow with n at all, and the smallest n to
   compare. */
static const struct { const char *name; double (*cost)(int n); int is_constant, least; } rows[] = {
    { "submit, one URL", submit_one_url, 0, 0 },
    { "submit, n URLs", submit_urls, 0, 0 },
    { "priority, one URL", priority_one_url, 0, 0 },
    { "priority, n URLs", priority_urls, 0, 0 },
    { "info, one URL", info_one_url, 0, 0 },
    { "info, n URLs", info_urls, 0, 0 },
    { "statistics, beside n URLs", statistics_urls, 0, 0 },
    { "cancel, one URL", cancel_one_url, 0, 0 },
    { "cancel backwards, one URL", cancel_one_url_backwards, 0, 0 },
    { "cancel, n URLs", cancel_urls, 0, 0 },
    { "cancel all, one URL", cancel_all_one_url, 0, 0 },
    { "cancel all, n URLs", cancel_all_urls, 0, 0 },
    { "destroy, one URL", destroy_one_url, 0, 0 },
    { "destroy, n URLs", destroy_urls, 0, 0 },
    { "progress and end, one URL", progress_and_end_one_url, 0, 0 },
    { "progress and end, n URLs", progress_and_end_urls, 0, 0 },
    { "500 requests beside n clocks", beside_hanging, 1, 0 },
    { "drain", draining, 0, 0 },
    { "batch as completed", batch_as_completed, 0, 0 },
    { "batch in order", batch_ordered, 0, 0 },
    { "load and cancel, one URL", cancel_loads, 0, 0 },
    { "cancel n lists", cancel_lists, 0, 0 },
    { "set cookies", cookies_set, 0, FULL_JAR },
    { "300 responses beside n cookies", beside_cookies, 1, 0 },
    { "one URL in n sizes", sizes_of_one_url, 0, 0 },
    { "60 domains cleared, n cookies", clear_domains, 1, FULL_JAR },
    { "n/10 POSTs beside n/10 running", posts_beside_running, 0, 0 },
    { "trim a disk of n/3 entries", trim_entries, 0, 0 },
};

static int is_slow(int row, int few, int many, double *growth)
{
    double less = rows[row].cost(few), more = rows[row].cost(many);
    *growth = more / less;
    printf("%-32s %8d: %9.3f ms %8d: %9.3f ms   %6.1f\n", rows[row].name, few, less * 1e3, many, more * 1e3, *growth);
    return *growth > SLACK * (rows[row].is_constant ? 1.0 : (double)many / few);
}

static void grows_no_faster_than_n(int row, int few, int many)
{
    double growth = 0;
    /* A slow result is measured again, because another program may have used the processor's caches. */
    for (int i = 0; i < TRIES; i++)
        if (!is_slow(row, few, many, &growth)) return;
    FAIL("%s: %.1f times as much for %d as for %d", rows[row].name, growth, many, few);
}

int main(int count, char **arguments)
{
    const char *is_long = getenv("SDD_TEST_LONG");
    int is_isolated = getenv("SDD_TEST_ISOLATED") != NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    int many = scaled(is_long && *is_long == '1' ? VERY_MANY : MANY);
    start_watchdog();
    tries_again = 1;
    sdd_downloader *first = NULL; /* the thread sanitizer starts a thread of its own with the first one */
    CHECK_STATUS(sdd_downloader_create(NULL, &first), SDD_OK);
    destroy(first);
    threads_before = count_threads();
    descriptors_before = count_descriptors();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (count > 1 && strstr(rows[i].name, arguments[1]) == NULL) continue;
        if (is_isolated && rows[i].cost != sizes_of_one_url) continue;
        current_case = rows[i].name;
        int few = many > rows[i].least && rows[i].least > FEW ? rows[i].least : FEW;
        grows_no_faster_than_n((int)i, many > few ? few : many / 4, many);
    }
    CHECK_NOTHING_LEFT(threads_before, descriptors_before);
    return 0;
}

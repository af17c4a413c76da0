/* sdd_network_options.network_threads: hosts are spread over threads, and everything else is as with one thread. */
#include "loads.h"
#include "tasks.h"

#include <stdatomic.h>

enum { HOSTS = 96, THREADS = 4 };

/* "hN.test:PORT:127.0.0.1" for each host. With fewer hosts, one thread might have none of them by chance. */
static char resolve_texts[HOSTS][64];
static const char *resolve[HOSTS];

static int port(void) { return atoi(strrchr(setting("SDD_TEST_SERVER"), ':') + 1); }

static const char *host_url(int host, const char *path)
{
    static _Thread_local char url[200];
    snprintf(url, sizeof url, "http://h%d.test:%d%s", host, port(), path);
    return url;
}

static sdd_network_options spread_over(int threads)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    for (int i = 0; i < HOSTS; i++) {
        snprintf(resolve_texts[i], sizeof resolve_texts[i], "h%d.test:%d:127.0.0.1", i, port());
        resolve[i] = resolve_texts[i];
    }
    network.resolve = resolve;
    network.resolve_count = HOSTS;
    network.network_threads = threads;
    return network;
}

static sdd_downloader *downloader_with(sdd_network_options *network, int slots)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.network = network;
    config.max_concurrent_downloads = slots;
    return make_downloader(&config);
}

static int has_name(const char *task, const char *name)
{
    char text[32];
    task_line(task, "comm", text, sizeof text);
    return strcmp(text, name) == 0;
}

static int threads_named(const char *name) { return count_tasks(has_name, name); }

/* -------------------------------------------------------------------------------------- the spread */

/* Which thread has connected to which host, as the filter is told. Several threads write at a time. */
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t seen[64];
static int seen_count;

static int32_t note_thread(const char *address, int32_t to, void *user_data)
{
    (void)address, (void)to, (void)user_data;
    pthread_t self = pthread_self();
    pthread_mutex_lock(&seen_lock);
    int i = 0;
    while (i < seen_count && !pthread_equal(seen[i], self)) i++;
    if (i == seen_count && seen_count < 64) seen[seen_count++] = self;
    pthread_mutex_unlock(&seen_lock);
    return 1;
}

static void hosts_are_spread(int threads, int max_connections, int expected)
{
    static record records[HOSTS * 10];
    sdd_network_options network = spread_over(threads);
    network.address_filter = note_thread;
    network.max_connections = max_connections;
    int before = threads_named("sdd-net");
    sdd_downloader *downloader = downloader_with(&network, 64);
    seen_count = 0;
    for (int i = 0; i < HOSTS * 10; i++) {
        records[i] = (record)RECORD_INIT;
        char path[40];
        snprintf(path, sizeof path, "/ok/%d", i);
        record_submit(downloader, &records[i], host_url(i % HOSTS, path), SDD_OPTION_BYTES_ONLY);
    }
    for (int i = 0; i < HOSTS * 10; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
    CHECK_EQUAL(threads_named("sdd-net") - before, expected); /* each has given itself its name by now */
    sdd_statistics s = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &s), SDD_OK);
    CHECK_EQUAL(s.requests_succeeded, HOSTS * 10);
    CHECK_EQUAL(s.transfers_started, HOSTS * 10);
    destroy(downloader);
    CHECK_EQUAL(seen_count, expected);
}

CASE(hosts_use_all_threads)
{
    hosts_are_spread(0, 0, 1);
    hosts_are_spread(1, 0, 1);
    hosts_are_spread(THREADS, 0, THREADS);
}

/* Each thread needs a connection at least. */
CASE(there_are_no_more_threads_than_connections) { hosts_are_spread(THREADS, 2, 2); }

/* ------------------------------------------------------------------------------- what they share */

/* A cookie set by any thread's host is kept in the one jar, which is saved once all threads have ended. */
CASE(cookies_are_in_one_jar)
{
    const char *folder = new_folder();
    char file[300];
    size_t size = 0;
    snprintf(file, sizeof file, "%s/cookies", folder);
    sdd_network_options network = spread_over(THREADS);
    network.cookie_file = file;
    sdd_downloader *downloader = downloader_with(&network, 8);
    for (int i = 0; i < HOSTS; i++) {
        OWNED_RECORD r = RECORD_INIT;
        char path[100];
        snprintf(path, sizeof path, "/ok?header=Set-Cookie:%%20c%d=v;%%20Max-Age=1000", i);
        fetch(downloader, &r, host_url(i, path), SDD_OPTION_BYTES_ONLY | SDD_OPTION_HANDLE_COOKIES);
        CHECK_ENDED(&r, SDD_OK, 0);
    }
    destroy(downloader);
    uint8_t *text = read_whole(file, &size);
    for (int i = 0; i < HOSTS; i++) {
        char name[20];
        snprintf(name, sizeof name, "\tc%d\t", i);
        CHECK(memmem(text, size, name, strlen(name)) != NULL);
    }
    free(text);
    remove_folder(folder);
}

/* A transport of the application is called on one thread, whatever the hosts. */
static atomic_int in_start;

static void start_alone(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    CHECK_EQUAL(atomic_fetch_add(&in_start, 1), 0);
    note_thread(NULL, 0, NULL);
    sdd_transfer_write(transfer, "body", 4);
    sdd_transfer_finish(transfer, SDD_OK, NULL);
    atomic_fetch_sub(&in_start, 1);
}

static void cancel_nothing(sdd_transfer transfer, void *user_data) { (void)transfer, (void)user_data; }

CASE(transports_are_called_on_one_thread)
{
    static record records[200];
    sdd_network_options network = spread_over(THREADS);
    sdd_downloader *downloader = downloader_with(&network, 16);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "toy";
    transport.start = start_alone;
    transport.cancel = cancel_nothing;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    seen_count = 0;
    for (int i = 0; i < 200; i++) {
        char url[60];
        snprintf(url, sizeof url, "toy://host%d/%d", i % 50, i);
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], url, SDD_OPTION_BYTES_ONLY);
    }
    for (int i = 0; i < 200; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
    destroy(downloader);
    CHECK_EQUAL(seen_count, 1);
}

/* The limit on all transfers holds for the threads together. */
CASE(slots_count_for_all_threads)
{
    static record records[HOSTS];
    sdd_network_options network = spread_over(THREADS);
    OWNED_DOWNLOADER downloader = downloader_with(&network, 3);
    for (int i = 0; i < HOSTS; i++) {
        char path[40];
        snprintf(path, sizeof path, "/ok/slots/%d", i);
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], host_url(i, path), SDD_OPTION_BYTES_ONLY);
        sdd_statistics s = SDD_STATISTICS_INIT;
        CHECK_STATUS(sdd_downloader_get_statistics(downloader, &s), SDD_OK);
        CHECK(s.running <= 3);
    }
    for (int i = 0; i < HOSTS; i++) {
        record_wait(&records[i]);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
}

/* ------------------------------------------------------------------------------- ends at any time */

typedef struct submitter {
    sdd_downloader *downloader;
    unsigned seed;
    record *records;
    int count;
} submitter;

static void *submit_and_cancel(void *argument)
{
    submitter *s = argument;
    for (int i = 0; i < s->count; i++) {
        char path[60];
        snprintf(path, sizeof path, "/ok/%u/%d", s->seed, i % 7);
        s->records[i] = (record)RECORD_INIT;
        sdd_token token = record_submit(
            s->downloader, &s->records[i], host_url((int)(rand_r(&s->seed) % HOSTS), path), SDD_OPTION_BYTES_ONLY);
        switch (rand_r(&s->seed) % 8) {
        case 0: sdd_cancel(token); break;
        case 1: sdd_set_priority(token, 1 + (int32_t)(rand_r(&s->seed) % 5)); break;
        case 2: sdd_downloader_set_max_concurrent_downloads(s->downloader, 1 + (int32_t)(rand_r(&s->seed) % 16)); break;
        default: break;
        }
    }
    return NULL;
}

/* Every request has one end, whatever happens to it while several threads work. */
CASE(ends_come_at_any_time)
{
    enum { SUBMITTERS = 4 };
    const int each = scaled(400) < 20 ? 20 : scaled(400);
    for (int round = 0; round < 4; round++) {
        pthread_t threads[SUBMITTERS];
        submitter submitters[SUBMITTERS];
        sdd_network_options network = spread_over(THREADS);
        sdd_downloader *downloader = downloader_with(&network, 8);
        for (int i = 0; i < SUBMITTERS; i++) {
            record *records = calloc((size_t)each, sizeof *records);
            submitters[i] = (submitter){ downloader, (unsigned)(round * 100 + i + 1), records, each };
            CHECK(pthread_create(&threads[i], NULL, submit_and_cancel, &submitters[i]) == 0);
        }
        for (int i = 0; i < SUBMITTERS; i++) pthread_join(threads[i], NULL);
        if (round == 1) CHECK_STATUS(sdd_downloader_cancel_all(downloader), SDD_OK);
        if (round >= 2) CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        destroy(downloader); /* in the first rounds with transfers under way */
        for (int i = 0; i < SUBMITTERS; i++) {
            for (int k = 0; k < each; k++) {
                record *r = &submitters[i].records[k];
                record_wait(r);
                CHECK(r->error == SDD_OK || r->error == SDD_ERROR_CANCELLED);
                record_clear(r);
            }
            free(submitters[i].records);
        }
    }
}

int main(void)
{
    start_watchdog();
    destroy(make_downloader(NULL));
    int threads = count_threads(), descriptors = count_descriptors();
    run_cases();
    CHECK_NOTHING_LEFT(threads, descriptors);
    return 0;
}

/* fork(): in the child the parent's handles are dead and report so, images and bytes it held stay readable, and a new
   downloader works. The parent continues undisturbed. */
#include "every_call.h"
#include "record.h"
#include "server.h"
#include "toy_coder.h"

#include <sys/wait.h>

enum { TRANSFERS = 12 };

static sdd_downloader *threaded, *hosted;
static sdd_cache *cache;
static sdd_loader *loader;
static record held = RECORD_INIT;
static atomic_int ended_in_parent;
static pid_t parent;

static void count_in_parent(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
    CHECK(getpid() == parent);
    atomic_fetch_add(&ended_in_parent, 1);
}

/* ------------------------------------------------------------------------------------- the child */

static void the_sentence_is_the_parents_first(void)
{
    CHECK_TEXT(sdd_last_error_message(), "sdd_set_priority: priority: 99 is not one of SDD_PRIORITY_.");
    CHECK_STATUS(sdd_downloader_resume(threaded), SDD_ERROR_FORKED);
    CHECK(strstr(sdd_last_error_message(), "sdd_downloader_resume: downloader: 0x") != NULL);
    CHECK(strstr(sdd_last_error_message(), " is no downloader of this process") != NULL);
}

/* Checks that every call with an old handle reports it dead; allowed in any child, also in one forked inside a
   callback. */
static void old_handles_are_dead(sdd_token token)
{
    every_call_gives(threaded, token, SDD_ERROR_FORKED);
    every_call_gives(hosted, token, SDD_ERROR_FORKED);
    every_load_gives(loader, SDD_ERROR_FORKED);
    CHECK_EQUAL(sdd_image_width(held.image), 19);
    CHECK_EQUAL(sdd_image_pixels(held.image)[3], 255);
    CHECK(memcmp(sdd_bytes_data(held.bytes), "\x89PNG", 4) == 0);
}

/* Makes a loader over the downloader with a thread, without a cache, and starts a load that runs during the fork. */
static void make_loader(void)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.downloader = threaded;
    config.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&config, &loader), SDD_OK);
    CHECK(sdd_load(loader, at("/trickle?size=500&every=1&load"), 0, NULL, count_in_parent, NULL) != 0);
}

static void a_new_downloader_works(int delivery)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    record records[5];
    config.delivery = delivery;
    network.ca_file = setting("SDD_TEST_CA");
    sdd_downloader *downloader = make_downloader(&config);
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    sdd_loader *own = NULL;
    OWNED_RECORD loaded = RECORD_INIT;
    sdd_load_request load = SDD_LOAD_REQUEST_INIT;
    loading.downloader = downloader;
    loading.no_cache = 1;
    CHECK_STATUS(sdd_loader_create(&loading, &own), SDD_OK);
    load.url = at("/file/png/rgb8.png?load");
    load.completed = record_completed;
    load.user_data = &loaded;
    CHECK(sdd_loader_submit(own, &load) != 0);
    for (int i = 0; i < 5; i++) {
        records[i] = (record)RECORD_INIT;
        const char *url = i == 4 ? address_at("SDD_TEST_TLS", "/png/rgb8.png") : atf("/file/png/rgb8.png?%d", i);
        record_submit(downloader, &records[i], url, 0);
    }
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    for (int i = 0; i < 5; i++) {
        CHECK_ENDED(&records[i], SDD_OK, 0);
        CHECK_EQUAL(sdd_image_width(records[i].image), 19);
        record_clear(&records[i]);
    }
    CHECK_ENDED(&loaded, SDD_OK, 0);
    CHECK_STATUS(sdd_loader_destroy(own), SDD_OK);
    destroy(downloader);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_ERROR_CLOSED);
}

static void child(sdd_token token)
{
    alarm(60);
    old_handles_are_dead(token);
    for (int delivery = 0; delivery < 2; delivery++) a_new_downloader_works(delivery);
    old_handles_are_dead(token);
    record_clear(&held);
}

/* ------------------------------------------------------------------------------------ the parent */

static void check_child(pid_t process)
{
    int status;
    CHECK(process > 0);
    while (waitpid(process, &status, 0) < 0) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) FAIL("the child ended with wait status %d", status);
}

CASE(a_fork_in_the_middle_of_transfers)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    record records[TRANSFERS];
    ended_in_parent = 0;
    threaded = make_downloader(&config);
    config.delivery = SDD_DELIVERY_APPLICATION;
    hosted = make_downloader(&config);
    make_loader();
    fetch(threaded, &held, at("/file/png/rgb8.png"), 0);
    sdd_downloader *const all[] = { threaded, hosted, NULL };
    for (int i = 0; i < TRANSFERS; i++) {
        records[i] = (record)RECORD_INIT;
        sdd_download_request request = record_request(&records[i], atf("/hold/fork?size=100000&after=5000&%d", i));
        request.options = SDD_OPTION_BYTES_ONLY;
        submit(all[i % 3], &request);
        CHECK(sdd_download(all[i % 3], atf("/trickle?size=500&every=1&%d", i), 0, NULL, count_in_parent, NULL) != 0);
    }
    record_wait_received(&records[0], 1000);
    CHECK_STATUS(sdd_set_priority(records[0].token, 99), SDD_ERROR_INVALID_ARGUMENT);
    pid_t process = fork();
    if (process == 0) {
        the_sentence_is_the_parents_first();
        child(records[0].token);
        /* A child of the child: two forks away from the parent's objects, and one from the child's. */
        sdd_downloader *own = make_downloader(NULL);
        pid_t second = fork();
        if (second == 0) {
            every_call_gives(own, 1, SDD_ERROR_FORKED);
            every_call_gives(threaded, 1, SDD_ERROR_FORKED);
            a_new_downloader_works(SDD_DELIVERY_THREAD);
            _exit(0);
        }
        check_child(second);
        destroy(own);
        _exit(0);
    }
    release("fork");
    for (int i = 0; i < 3; i++) CHECK_STATUS(sdd_downloader_idle_wait(all[i], -1), SDD_OK);
    check_child(process);
    CHECK_EQUAL(ended_in_parent, TRANSFERS + 1);
    for (int i = 0; i < TRANSFERS; i++) {
        char target[100];
        snprintf(target, sizeof target, "/hold/fork?size=100000&after=5000&%d", i);
        CHECK_ENDED(&records[i], SDD_OK, 0);
        CHECK(records[i].freed_count == 1 && sdd_bytes_size(records[i].bytes) == 100000);
        CHECK(is_pattern(sdd_bytes_data(records[i].bytes), 100000, target));
        record_clear(&records[i]);
    }
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    destroy(threaded);
    destroy(hosted);
}

static void fork_inside(const sdd_result *result, void *user_data)
{
    (void)user_data;
    pid_t process = fork();
    if (process == 0) {
        child(result->token);
        _exit(0);
    }
    check_child(process);
}

CASE(a_fork_inside_a_callback)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    threaded = make_downloader(NULL);
    config.delivery = SDD_DELIVERY_APPLICATION;
    hosted = make_downloader(&config);
    make_loader();
    CHECK(sdd_download(threaded, at("/ok"), 0, NULL, fork_inside, NULL) != 0);
    CHECK(sdd_download(hosted, at("/ok"), 0, NULL, fork_inside, NULL) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(threaded, -1), SDD_OK);
    CHECK_STATUS(sdd_downloader_idle_wait(hosted, -1), SDD_OK);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
    destroy(threaded);
    destroy(hosted);
}

static atomic_int stops;

static void *submit_always(void *rounds)
{
    for (; !stops; ++*(atomic_int *)rounds) {
        OWNED_DOWNLOADER downloader = make_downloader(NULL);
        OWNED_RECORD r = RECORD_INIT;
        fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
        CHECK_ENDED(&r, SDD_OK, 0);
    }
    return NULL;
}

static void *register_always(void *rounds)
{
    static toy own; /* static, because a child may call the coder when this thread's stack is not there */
    for (; !stops; ++*(atomic_int *)rounds) {
        own = (toy){ .name = "passing", .magic = "none" };
        sdd_coder coder = toy_coder(&own);
        CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
        CHECK_STATUS(sdd_process_remove_coder("passing"), SDD_OK);
        while (own.freed == 0) sched_yield();
    }
    return NULL;
}

/* The child inherits the process's coders and may change them. */
static void coders_are_inherited(void)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = toy_downloader();
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(image_info(r.image).format, TOY_FORMAT);
    CHECK_STATUS(sdd_process_remove_coder("inherited"), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
}

/* Forks while other threads are inside the library: no lock may stay locked in the child. */
CASE(forks_while_others_call)
{
    pthread_t threads[3];
    atomic_int rounds[3] = { 0 };
    toy inherited = { .name = "inherited" };
    sdd_coder coder = toy_coder(&inherited);
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    stops = 0;
    threaded = make_downloader(NULL);
    hosted = threaded;
    /* Each thread uses its part of the library alone first: sdd.h warns against forking while that happens. */
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, i < 2 ? submit_always : register_always, &rounds[i]);
        while (rounds[i] < 3) sched_yield();
    }
    for (int i = 0; i < scaled(100); i++) {
        pid_t process = fork();
        if (process == 0) {
            child(1);
            coders_are_inherited();
            _exit(0);
        }
        check_child(process);
    }
    stops = 1;
    CHECK_STATUS(sdd_process_remove_coder("inherited"), SDD_OK);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    destroy(threaded);
}

static void check_frame(int index)
{
    OWNED_IMAGE frame = NULL;
    CHECK_STATUS(sdd_image_frame(held.image, index, &frame), SDD_OK);
    CHECK_EQUAL(sdd_image_width(frame), 14);
}

static void *play_always(void *unused)
{
    for (int turn = 0; !stops; turn++) check_frame(turn * 7 % 19);
    return unused;
}

/* The locks of a picture's frames and metadata are free in the child. */
CASE(forks_while_others_play)
{
    pthread_t threads[2];
    stops = 0;
    fetch(NULL, &held, at("/file/frames/translucent.png"), 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, play_always, NULL);
    for (int i = 0; i < scaled(100); i++) {
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            for (int index = 18; index >= 0; index -= 3) check_frame(index);
            CHECK_EQUAL(sdd_image_text_count(held.image), 0);
            record_clear(&held);
            _exit(0);
        }
        check_child(process);
    }
    stops = 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

/* ------------------------------------------------------ a child that returns from the callback */

static pid_t the_child;
static int calls;

static void fork_once(const sdd_result *result, void *user_data)
{
    (void)result;
    (void)user_data;
    if (++calls == 1) {
        the_child = fork();
        CHECK(the_child >= 0);
        if (the_child == 0) alarm(20);
    }
}

CASE(z19_a_child_forked_inside_a_callback_delivers_nothing)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    sdd_downloader *downloader = make_downloader(&config);
    int status = 0;
    size_t count = 0;
    calls = 0;
    for (int i = 0; i < 3; i++) CHECK(sdd_download(downloader, NULL, 0, NULL, fork_once, NULL) != 0);
    CHECK_STATUS(sdd_downloader_dispatch(downloader, 0, &count), SDD_OK);
    if (the_child == 0) {
        int is_good = calls == 1 && sdd_downloader_dispatch(downloader, 0, &count) == SDD_ERROR_FORKED;
        _exit(is_good ? 7 : 8);
    }
    CHECK(waitpid(the_child, &status, 0) == the_child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_EQUAL(calls, 3);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
}

/* In the child sdd-callback is the only thread: when the callback returns, the thread ends, and the process with it. */
CASE(z19_nor_does_one_forked_on_the_callback_thread)
{
    sdd_downloader *downloader = make_downloader(NULL);
    int status = 0;
    calls = 0;
    for (int i = 0; i < 3; i++) CHECK(sdd_download(downloader, NULL, 0, NULL, fork_once, NULL) != 0);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    CHECK(waitpid(the_child, &status, 0) == the_child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQUAL(calls, 3);
    CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK);
}

/* ------------------------------------------------------------------------------------------ caches */

static sdd_cache *open_cache(const char *name)
{
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    sdd_cache *opened = NULL;
    config.directory = address_at("SDD_TEST_FOLDER", name);
    CHECK_STATUS(sdd_cache_create(&config, &opened), SDD_OK);
    return opened;
}

static void put_text(sdd_cache *into, const char *key, const char *text)
{
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = key;
    item.bytes = sdd_bytes_create(text, strlen(text));
    item.levels = SDD_CACHE_DISK;
    CHECK_STATUS(sdd_cache_put_wait(into, &item), SDD_OK);
    sdd_bytes_release(item.bytes);
}

static void check_text(sdd_cache *from, const char *key, const char *text)
{
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_result *found = NULL;
    query.key = key;
    query.wants = SDD_WANT_BYTES;
    CHECK_STATUS(sdd_cache_query_wait(from, &query, &found), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(found->bytes), strlen(text));
    CHECK(memcmp(sdd_bytes_data(found->bytes), text, strlen(text)) == 0);
    sdd_result_release(found);
}

static void *store_always(void *unused)
{
    while (!stops) {
        put_text(cache, "changing", "text");
        check_text(cache, "changing", "text");
    }
    return unused;
}

static void in_the_child_a_cache_is_dead_and_its_directory_is_not(void)
{
    sdd_downloader *own = make_downloader(NULL);
    every_cache_call_gives(own, cache, SDD_ERROR_FORKED);
    destroy(own);
    sdd_cache *other = open_cache("/forked");
    check_text(other, "of the parent", "stays");
    put_text(other, "of a child", "comes");
    CHECK_STATUS(sdd_cache_destroy(other), SDD_OK);
}

CASE(forks_while_others_use_a_cache)
{
    pthread_t threads[2];
    stops = 0;
    cache = open_cache("/forked");
    CHECK(sdd_cache_shared() != NULL);
    put_text(cache, "of the parent", "stays");
    check_text(cache, "of the parent", "stays");
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, store_always, NULL);
    for (int i = 0; i < scaled(20); i++) {
        pid_t process = fork();
        if (process == 0) {
            alarm(60);
            in_the_child_a_cache_is_dead_and_its_directory_is_not();
            _exit(0);
        }
        check_child(process);
    }
    stops = 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    check_text(cache, "of a child", "comes");
    CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

CASE(z14_a_batch_is_dead_in_the_child)
{
    const char *urls[] = { at("/hold/batch?size=3") };
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    sdd_batch *batch = NULL;
    size_t count = 0;
    config.urls = urls;
    config.count = 1;
    config.options = SDD_OPTION_BYTES_ONLY;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    pid_t process = fork();
    if (process == 0) {
        alarm(60);
        every_batch_call_gives(batch, SDD_ERROR_FORKED);
        _exit(0);
    }
    check_child(process);
    release("batch");
    CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
    CHECK(count == 1 && item.result->failure.status == SDD_OK && sdd_bytes_size(item.result->bytes) == 3);
    sdd_result_release(item.result);
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
}

int main(void)
{
    start_watchdog();
    parent = getpid();
    CHECK(sdd_downloader_shared() != NULL && sdd_cache_shared() != NULL);
    run_cases();
    record_clear(&held);
    return 0;
}

/* Every function of sdd.h, called by chance: from eight threads and from callbacks, with good, wrong and extreme
   arguments, on objects that are alive, dead, of another kind, or never existed, and that are made and destroyed at any
   time. A model (random_model.h) knows the callbacks that each token must get. At the end of a round nothing may be
   left: no call without its end, no user data, no thread, no descriptor.

   The simulation (Tests/Simulation) makes valid calls alone, on one thread at a time. This is for wrong arguments and dead
   objects, and for the sanitizers.

   SDD_RANDOM_CALLS is the number of actions; SDD_RANDOM_SECONDS is how long rounds of so many continue
   (SDD_TEST_LONG=1: 60); SDD_TEST_SEED repeats a run by its printed seed, as far as threads allow. */
#include "random_actions.h"
#include "random_objects.h"

#include "caches.h"
#include "tasks.h"

/* ---------------------------------------------------------------------------- making and destroying */

static char folders[CACHES][600];

/* Sets some fields of one group or another, and some of the groups. */
static void randomize_config(sdd_downloader_config *c, config_groups *groups)
{
    static const char *const resolve[] = { "host.example:80:127.0.0.1", "nonsense" };
    RANDOMIZE(sdd_downloader_config, c, chance(3));
    RANDOMIZE(sdd_callback_options, &groups->callbacks, chance(2));
    RANDOMIZE(sdd_network_options, &groups->network, chance(3));
    RANDOMIZE(sdd_limits, &groups->limits, chance(3));
    RANDOMIZE(sdd_retry_options, &groups->retry, chance(2));
    if (one_in(20)) groups->network.proxy = one_in(2) ? "http://127.0.0.1:1" : "://";
    if (one_in(10)) groups->network.resolve = resolve, groups->network.resolve_count = chance(3);
    if (one_in(10)) groups->network.address_filter = on_address;
    if (one_in(20)) c->decode_threads = number32();
    c->callbacks = one_in(4) ? NULL : &groups->callbacks;
    c->network = one_in(4) ? NULL : &groups->network;
    c->limits = one_in(4) ? NULL : &groups->limits;
    c->retry = one_in(4) ? NULL : &groups->retry;
    if (one_in(20)) groups->limits.struct_size = chance(sizeof groups->limits);
}

static void fill_site(site *s, sdd_downloader_config *c)
{
    s->way = (int)chance(3);
    c->delivery = s->way == BY_THREAD ? SDD_DELIVERY_THREAD : SDD_DELIVERY_APPLICATION;
    c->decode_threads = 1 + (int32_t)chance(3);
    if (one_in(4)) c->decode_mode = SDD_DECODE_ISOLATED;
    thing *cache = one_in(2) ? atomic_load(&caches[chance(CACHES)]) : NULL;
    c->cache = cache ? cache->handle : NULL;
    c->http_cache = (int32_t)chance(2);
}

static site *make_site(void)
{
    PLACE(sdd_downloader_config) p = { .room = { 0 } };
    site *s = calloc(1, sizeof *s);
    config_groups groups;
    sdd_downloader_config plain = config_over(&groups);
    sdd_modifiers modifiers = random_modifiers();
    sdd_credential credential = random_credential();
    fill_site(s, &plain);
    p.s = plain;
    randomize_config(&p.s, &groups);
    if (one_in(20)) p.s.modifiers = &modifiers, s->changes_bodies = 1;
    if (one_in(20)) p.s.credential = &credential;
    p.s.struct_size = random_size(sizeof p.s, p.room);
    if (!SEES(p.s.struct_size, sdd_downloader_config, delivery)) s->way = BY_THREAD;
    sdd_status status = CALL(sdd_downloader_create, &p.s, &s->downloader);
    CHECK((status == SDD_OK) == (s->downloader != NULL));
    if (s->downloader == NULL) { /* a bad config is refused */
        plain = config_over(&groups);
        fill_site(s, &plain);
        plain.cache = NULL;
        CHECK_STATUS(CALL(sdd_downloader_create, &plain, &s->downloader), SDD_OK);
    }
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&s->taking, &recursive);
    s->next = atomic_load(&all_sites);
    while (!atomic_compare_exchange_weak(&all_sites, &s->next, s)) continue;
    return s;
}

/* Destroys a downloader, with requests in every state; not inside a callback of another one. */
static void end_site(site *s)
{
    if (one_in(3)) CALL(sdd_downloader_close, s->downloader, (int32_t)chance(2));
    if (atomic_exchange(&s->ends, 1)) {
        CALL(sdd_downloader_destroy, s->downloader); /* a second call does no harm */
        return;
    }
    int is_inside = depth > 0;
    if (s->way == BY_DRAIN) pthread_mutex_lock(&s->taking);
    depth++; /* pending callbacks run here */
    CHECK_STATUS(CALL(sdd_downloader_destroy, s->downloader), SDD_OK);
    depth--;
    if (s->way == BY_DRAIN) pthread_mutex_unlock(&s->taking);
    if (!is_inside) atomic_store(&s->destroyed, 1);
}

static thing *make_cache_thing(void)
{
    PLACE(sdd_cache_config) p = { .room = { 0 } };
    static const char *const none[] = { "/nonexistent" };
    static const char *const odd[] = { NULL, "", "relative", "/proc/none", long_text };
    thing *t = calloc(1, sizeof *t);
    p.s = (sdd_cache_config)SDD_CACHE_CONFIG_INIT;
    p.s.directory = one_in(12) ? odd[chance(5)] : folders[chance(CACHES)];
    RANDOMIZE(sdd_cache_config, &p.s, chance(6));
    if (one_in(8)) p.s.share_wait_ms = (int64_t)chance(20);
    if (one_in(8)) p.s.read_only_directories = none, p.s.read_only_count = chance(2);
    p.s.struct_size = random_size(sizeof p.s, p.room);
    if (!SEES(p.s.struct_size, sdd_cache_config, directory)) p.s.struct_size = 0;
    sdd_cache *made = NULL;
    CALL(sdd_cache_create, &p.s, one_in(60) ? NULL : &made);
    t->handle = made;
    add_thing(t);
    return t;
}

static thing *make_loader_thing(void)
{
    PLACE(sdd_loader_config) p = { .room = { 0 } };
    thing *t = calloc(1, sizeof *t), *cache = one_in(4) ? NULL : atomic_load(&caches[chance(CACHES)]);
    t->site = one_in(20) ? &shared_site : atomic_load(&sites[chance(SITES)]);
    p.s = (sdd_loader_config)SDD_LOADER_CONFIG_INIT;
    p.s.downloader = t->site->downloader;
    p.s.cache = cache ? cache->handle : NULL;
    p.s.no_cache = mostly32(cache == NULL || cache->handle == NULL);
    p.s.fail_policy = mostly32((int32_t)chance(3));
    atomic_int *count = one_in(2) ? owe() : NULL;
    p.s.user_data = count;
    p.s.user_data_free = count ? owed_free : NULL;
    sdd_loader *made = NULL;
    sdd_status status = CALL(sdd_loader_create, &p.s, &made);
    if (status != SDD_OK && count) owe_nothing(count);
    t->handle = made;
    add_thing(t);
    return t;
}

static int32_t next_source(sdd_batch_source *item, void *user_data)
{
    (void)user_data;
    item->url = any_url();
    item->id = random_bits();
    return one_in(20) ? 0 : 1;
}

static thing *make_batch_thing(void)
{
    thing *t = calloc(1, sizeof *t);
    PLACE(sdd_batch_config) p = { .room = { 0 } };
    sdd_tensor tensor = SDD_TENSOR_INIT;
    sdd_decode_options decode = random_decode(NULL);
    made_transfer transfer;
    const char *urls[8];
    site *s;
    for (int i = 0; i < 8; i++) urls[i] = any_url();
    t->memory = calloc(8, 16 * 16 * 8);
    tensor.pixels = one_in(20) ? NULL : t->memory;
    tensor.slot_count = one_in(20) ? 0 : 8;
    tensor.width = tensor.height = 16;
    tensor.layout = mostly32((int32_t)chance(2)), tensor.fit = mostly32((int32_t)chance(3));
    tensor.slot_choice = mostly32((int32_t)chance(2)), tensor.colour = mostly32((int32_t)chance(3));
    p.s = (sdd_batch_config)SDD_BATCH_CONFIG_INIT;
    if (one_in(3)) p.s.loader = any_loader(&s);
    else p.s.downloader = any_downloader(&s);
    if (one_in(2)) p.s.urls = urls, p.s.count = one_in(20) ? 0 : 1 + chance(8);
    else p.s.next = next_source;
    if (one_in(2)) p.s.tensor = &tensor;
    else if (one_in(2)) p.s.decode = &decode;
    if (one_in(3)) p.s.options = random_option();
    p.s.look_ahead = mostly32((int32_t)chance(6));
    RANDOMIZE(sdd_batch_config, &p.s, chance(4));
    p.s.transfer = random_transfer(&transfer);
    p.s.struct_size = random_size(sizeof p.s, p.room);
    sdd_batch *made = NULL;
    depth++;
    CALL(sdd_batch_create, &p.s, &made);
    depth--;
    t->handle = made;
    add_thing(t);
    return t;
}

static void end_thing(thing *t, sdd_status (*destroy_one)(void *))
{
    if (t == NULL || t->handle == NULL || atomic_exchange(&t->ends, 1)) return;
    CHECK_STATUS(destroy_one(t->handle), SDD_OK);
}

static sdd_status destroy_cache(void *handle) { return CALL(sdd_cache_destroy, handle); }
static sdd_status destroy_loader(void *handle) { return CALL(sdd_loader_destroy, handle); }
static sdd_status destroy_batch(void *handle) { return CALL(sdd_batch_destroy, handle); }

/* Replaces an object by a new one while other threads use it. */
static void do_replace(void)
{
    switch (chance(4)) {
    case 0: end_site(atomic_exchange(&sites[chance(SITES)], make_site())); break;
    case 1: end_thing(atomic_exchange(&caches[chance(CACHES)], make_cache_thing()), destroy_cache); break;
    case 2: end_thing(atomic_exchange(&loaders[chance(LOADERS)], make_loader_thing()), destroy_loader); break;
    default: end_thing(atomic_exchange(&batches[chance(BATCHES)], make_batch_thing()), destroy_batch); break;
    }
}

/* A downloader may be destroyed in its own callback; destroying another one there could wait for this one. */
static void end_inside(site *own)
{
    for (int i = 0; i < SITES; i++) {
        site *expected = own;
        if (own->way == BY_DRAIN || atomic_load(&sites[i]) != own) continue;
        site *made = make_site();
        if (atomic_compare_exchange_strong(&sites[i], &expected, made)) end_site(own);
        else end_site(made);
        return;
    }
}

static void end_a_loader(void)
{
    _Atomic(thing *) *place = &loaders[chance(LOADERS)];
    thing *made = make_loader_thing(), *old = atomic_load(place);
    /* At the end of a round there are none, and none may be added. */
    int is_kept = old && atomic_compare_exchange_strong(place, &old, made);
    end_thing(is_kept ? old : made, destroy_loader);
}

/* ---------------------------------------------------------------------------------------- actions */

static void (*const actions[])(void) = {
    do_request, do_request, do_download, do_load_request, do_load_request, do_load, do_prefetch, do_get, do_submit_and_wait, do_to_a_call,
    do_to_a_call, do_take_events, do_take_events, do_take_events, do_wait_idle, do_cookies, do_to_a_downloader,
    do_to_a_downloader, do_to_a_loader, do_decode, do_create, do_to_an_image, do_to_an_image, do_to_bytes,
    do_to_a_response, do_store, do_query, do_cache_entry, do_cache_entry, do_to_a_cache, do_to_a_batch, do_to_a_batch,
    do_coder, do_transport, do_transport, do_small_things,
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static void call_something(site *own)
{
    if (own && own != &shared_site && one_in(400)) end_inside(own);
    else actions[chance(ACTIONS)]();
}

static void call_something_quick(void)
{
    site *s;
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    sdd_downloader *downloader = any_downloader(&s);
    switch (chance(12)) {
    case 0: CALL(sdd_downloader_get_statistics, downloader, &statistics); break;
    case 1: CALL(sdd_set_header, downloader, "X-Quick", "1"); break;
    case 2: do_to_a_call(); break;
    case 3: do_download(); break;
    default: break;
    }
}

/* Undoes everything that keeps requests from ending. */
static void let_all_go_on(int is_last)
{
    for (int i = 0; i <= SITES; i++) {
        site *s = i == SITES ? &shared_site : atomic_load(&sites[i]);
        CALL(sdd_downloader_resume, s->downloader);
        CALL(sdd_downloader_enter_foreground, s->downloader);
        CALL(sdd_downloader_set_min_host_interval, s->downloader, 0);
        if (is_last) CALL(sdd_downloader_cancel_all, s->downloader);
        if (s->way != BY_THREAD && !s->ends) take_events(s);
    }
}

/* Waits until at most so many calls are open, and ends those that do not end by themselves. */
static void wait_for_room(int most)
{
    pthread_mutex_lock(&room_lock);
    for (int turn = 0; open_calls > most; turn++) {
        struct timespec soon;
        pthread_mutex_unlock(&room_lock);
        let_all_go_on(turn > 0);
        pthread_mutex_lock(&room_lock);
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 100000000;
        if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
        if (open_calls > most) pthread_cond_timedwait(&room, &room_lock, &soon);
    }
    pthread_mutex_unlock(&room_lock);
}

static atomic_int threads_at_work;

static void *act(void *count)
{
    for (intptr_t i = 0; i < (intptr_t)count; i++) {
        if (one_in(250)) do_replace();
        else actions[chance(ACTIONS)]();
        if (open_calls > THREADS * 40) wait_for_room(THREADS * 20);
    }
    atomic_fetch_sub(&threads_at_work, 1);
    return NULL;
}

/* Checks every now and then whether calls return; the main thread ends it. */
static atomic_int watch_ends;
static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&room_lock);
    while (!watch_ends) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec++;
        pthread_cond_timedwait(&room, &room_lock, &soon);
        check_no_call_hangs();
    }
    pthread_mutex_unlock(&room_lock);
    return NULL;
}

/* ----------------------------------------------------------------------------------------- rounds */

static int threads_before, files_before;

static void end_all_objects(void)
{
    for (int i = 0; i < BATCHES; i++) end_thing(atomic_exchange(&batches[i], NULL), destroy_batch);
    for (int i = 0; i < LOADERS; i++) end_thing(atomic_exchange(&loaders[i], NULL), destroy_loader);
    for (int ended = 0; !ended;) { /* callbacks may make others */
        ended = 1;
        for (site *s = atomic_load(&all_sites); s; s = s->next)
            if (!s->ends) end_site(s), ended = 0;
    }
    for (int i = 0; i < CACHES; i++) end_thing(atomic_exchange(&caches[i], NULL), destroy_cache);
    /* Calls without an awaited callback must end, too: their progress may still come. */
    for (int i = 0, is_idle = 0; i < 100 && (open_calls > 0 || !is_idle); i++) {
        CALL(sdd_downloader_resume, NULL);
        CALL(sdd_downloader_enter_foreground, NULL);
        CALL(sdd_loader_cancel_all, NULL);
        CALL(sdd_downloader_cancel_all, NULL);
        is_idle = CALL(sdd_downloader_idle_wait, NULL, 1000) == SDD_OK;
    }
    sdd_downloader_set_observer(NULL, NULL, NULL, NULL);
    sdd_downloader_set_log(NULL, SDD_LOG_NONE, NULL, NULL, NULL);
    sdd_downloader_set_modifiers(NULL, NULL);
}

static int count_open_calls(void) { return open_calls; }

/* Counts the descriptors except sockets, because the shared downloader lives on and keeps connections. */
static int look_at_files(int shows)
{
    int count = 0;
    char path[300], what[200];
    DIR *directory = opendir("/proc/self/fd");
    CHECK(directory != NULL);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, what, sizeof what - 1);
        if (length <= 0 || strncmp(what, "socket:", 7) == 0) continue;
        count++;
        what[length] = 0;
        if (shows) fprintf(stderr, "open: %s\n", what);
    }
    closedir(directory);
    return count;
}

/* Returns how many more descriptors are open than at the start. The shared cache may have closed its entry list when it
   was cleared, and the thread sanitizer opens some of its own. */
static int count_surplus_files(void)
{
    int count = look_at_files(0);
    if (count_descriptors() == 0) return 0;
    return count > files_before ? count - files_before : 0;
}

static void check_and_forget(void)
{
    if (!settles(count_open_calls, 0)) FAIL("%d calls have not ended", open_calls);
    let_go_of_all();
    if (!threads_fall_to(threads_before)) FAIL("%d threads, not %d", count_threads(), threads_before);
    if (!settles(count_surplus_files, 0)) FAIL("%d files are open, not %d", look_at_files(1), files_before);
    for (call *c = all_calls, *next; c; c = next) {
        next = c->next;
        check_call(c);
        free(c->pixels);
        free(c);
    }
    for (site *s = all_sites, *next; s; s = next) next = s->next, pthread_mutex_destroy(&s->taking), free(s);
    for (thing *t = all_things, *next; t; t = next) next = t->next, free(t->memory), free(t);
    memset(shared_site.recent, 0, sizeof shared_site.recent);
    all_calls = NULL;
    all_sites = NULL;
    all_things = NULL;
}

/* Whether a thread decodes: one at rest is in futex(2), one that valgrind holds up reads from its pipe. */
static int decodes(const char *task, const char *unused)
{
    char text[64];
    (void)unused;
    task_line(task, "comm", text, sizeof text);
    if (strncmp(text, "sdd-decode", 10) != 0) return 0;
    task_line(task, "syscall", text, sizeof text);
    return strncmp(text, "running", 7) == 0 || strncmp(text, "0 ", 2) == 0;
}

/* The shared downloader may still decode a picture that nobody wants any more; at the end of the process valgrind takes
   what such a thread has in its registers alone for lost. */
static int count_decoding_threads(void) { return count_tasks(decodes, NULL); }

static void round_of(int count)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < SITES; i++) sites[i] = make_site();
    for (int i = 0; i < CACHES; i++) caches[i] = make_cache_thing();
    for (int i = 0; i < LOADERS; i++) loaders[i] = make_loader_thing();
    for (int i = 0; i < BATCHES; i++) batches[i] = make_batch_thing();
    atomic_store(&threads_at_work, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, act, (void *)(intptr_t)(count / THREADS)) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    end_all_objects();
    check_and_forget();
}

static void begin_shared_ones(void)
{
    CHECK(sdd_downloader_shared() != NULL && sdd_cache_shared() != NULL && sdd_loader_shared() != NULL);
    CHECK_STATUS(sdd_get(NULL, at("/ok"), SDD_OPTION_BYTES_ONLY, -1, NULL, NULL, NULL), SDD_OK);
    put_text(NULL, "first", "one"); /* opens the files that stay open for good */
    CHECK_STATUS(sdd_cache_flush_wait(NULL, -1), SDD_OK);
    for (int i = 0; i < CACHES; i++) snprintf(folders[i], sizeof folders[i], "%s", new_folder());
    null_device = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(null_device >= 0);
}

int main(void)
{
    start_watchdog();
    current_case = "random calls";
    const char *given = getenv("SDD_TEST_SEED"), *wanted = getenv("SDD_RANDOM_CALLS");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    tries_again = 1;
    memset(long_text, 'l', sizeof long_text - 1);
    read_inputs();
    begin_shared_ones();
    CHECK(chdir(folders[0]) == 0); /* relative paths go there */
    pthread_t watcher;
    CHECK(pthread_create(&watcher, NULL, watch, NULL) == 0);
    threads_before = count_threads();
    files_before = look_at_files(0);
    int64_t begin = milliseconds_now(), seconds = 0;
    if (getenv("SDD_RANDOM_SECONDS")) seconds = atoi(getenv("SDD_RANDOM_SECONDS"));
    else if (getenv("SDD_TEST_LONG")) seconds = 60;
    int count = wanted ? atoi(wanted) : scaled(16000), rounds = 0;
    int wants_all = scaled(100) >= 10; /* some functions are left out where programs run very slowly */
    do round_of(count / 4), rounds++;
    while (rounds < 4 || milliseconds_now() - begin < seconds * 1000 || (wants_all && count_missing() > 0 && rounds < 200));
    atomic_store(&watch_ends, 1);
    pthread_join(watcher, NULL);
    long long calls = 0;
    for (int i = 0; i < CALL_COUNT; i++) calls += function_counts[i];
    printf("%lld calls of %d functions in %d rounds: %d tokens, %d succeeded, %d cancelled, %d kept user data\n", calls,
           (int)CALL_COUNT, rounds, accepted_calls, good_calls, cancelled_calls, owed_frees);
    if (wants_all) check_all_functions();
    CHECK(good_calls > 0 && cancelled_calls > 0);
    for (int i = 0; i < INPUTS; i++) free(inputs[i].bytes);
    CHECK(settles(count_decoding_threads, 0));
    return 0;
}

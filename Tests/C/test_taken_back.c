/* Transports and coders that are removed from a downloader, also while requests use them: these requests end as they
   would have, no other request gets to them, and their user data is freed once, when nothing uses it any more. */
#include "loads.h"
#include "toy_coder.h"

/* A NULL that the compiler cannot see, for arguments that must not be NULL. */
static void *volatile none = NULL;

#include <stdatomic.h>

/* --------------------------------------------------------------------------------------- transports */

enum { MOST = 64 };

typedef struct archive {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int started, cancelled, freed;
    sdd_transfer transfers[MOST];
    const char *text; /* the immediate answer; NULL: the test answers later */
    sdd_downloader *remover; /* the transport removes itself as it starts */
} archive;

#define ARCHIVE_INIT { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static void give(sdd_transfer transfer, const char *text)
{
    CHECK_STATUS(sdd_transfer_write(transfer, text, strlen(text)), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static void archive_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    archive *a = user_data;
    (void)request;
    pthread_mutex_lock(&a->lock);
    CHECK_EQUAL(a->freed, 0);
    a->transfers[a->started++ % MOST] = transfer;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (a->remover != NULL) CHECK_STATUS(sdd_downloader_remove_transport(a->remover, "archive"), SDD_OK);
    if (a->text != NULL) give(transfer, a->text);
}

static void archive_cancel(sdd_transfer transfer, void *user_data)
{
    archive *a = user_data;
    (void)transfer;
    pthread_mutex_lock(&a->lock);
    CHECK_EQUAL(a->freed, 0);
    a->cancelled++;
    pthread_mutex_unlock(&a->lock);
}

/* The library holds no lock when it calls this, so it may call the library. */
static void archive_free(void *user_data)
{
    archive *a = user_data;
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(NULL, &statistics), SDD_OK);
    if (a->remover != NULL) sdd_downloader_get_statistics(a->remover, &statistics);
    pthread_mutex_lock(&a->lock);
    CHECK_EQUAL(a->freed++, 0);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

static void add(sdd_downloader *downloader, const char *scheme, archive *a)
{
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = scheme;
    transport.start = archive_start;
    transport.cancel = archive_cancel;
    transport.user_data = a;
    transport.user_data_free = archive_free;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
}

static void wait_started(archive *a, int count)
{
    pthread_mutex_lock(&a->lock);
    while (a->started < count) pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

static int is_freed(archive *a)
{
    pthread_mutex_lock(&a->lock);
    int freed = a->freed;
    pthread_mutex_unlock(&a->lock);
    return freed;
}

/* The library may hold the data for a moment longer than the callback. */
static void wait_freed(archive *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->freed == 0) pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

static int says(const record *r, const char *text)
{
    return sdd_bytes_size(r->bytes) == strlen(text) && memcmp(sdd_bytes_data(r->bytes), text, strlen(text)) == 0;
}

CASE(a_transport_is_removed)
{
    archive a = ARCHIVE_INIT;
    OWNED_RECORD r = RECORD_INIT;
    a.text = "of the archive";
    sdd_downloader *downloader = make_downloader(NULL);
    add(downloader, "Archive", &a);
    fetch(downloader, &r, "archive:x", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(says(&r, a.text));
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "ARCHIVE"), SDD_OK);
    wait_freed(&a);
    fetch(downloader, &r, "archive:x", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "archive"), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "not a scheme"), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, ""), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, none), SDD_ERROR_INVALID_ARGUMENT);
    destroy(downloader);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "archive"), SDD_ERROR_CLOSED);
    CHECK_EQUAL(a.freed, 1);
}

/* The most recently added transport is asked first, and the library itself last. */
static int32_t take_all(const char *url, void *user_data) { (void)url, (void)user_data; return 1; }

CASE(the_transport_added_before_takes_over)
{
    archive a = ARCHIVE_INIT, b = ARCHIVE_INIT, any = ARCHIVE_INIT;
    record r = RECORD_INIT;
    const char *url = at("/ok?text=of-the-server");
    a.text = "a", b.text = "b", any.text = "any";
    sdd_downloader *downloader = make_downloader(NULL);
    add(downloader, "http", &a);
    add(downloader, "http", &b);
    sdd_transport all = SDD_TRANSPORT_INIT;
    all.scheme = "*";
    all.start = archive_start;
    all.cancel = archive_cancel;
    all.can_load = take_all;
    all.user_data = &any;
    all.user_data_free = archive_free;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &all), SDD_OK);
    static const struct { const char *text, *then; } steps[] = {
        { "any", "*" }, { "b", "http" }, { "a", "http" }, { "of-the-server", NULL },
    };
    for (int i = 0; i < 4; i++) {
        fetch(downloader, &r, url, SDD_OPTION_BYTES_ONLY);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(says(&r, steps[i].text));
        if (steps[i].then) CHECK_STATUS(sdd_downloader_remove_transport(downloader, steps[i].then), SDD_OK);
    }
    record_clear(&r);
    wait_freed(&a), wait_freed(&b), wait_freed(&any);
    destroy(downloader);
    CHECK(a.freed == 1 && b.freed == 1 && any.freed == 1);
}

/* Requests run, wait for a slot, and wait for another attempt. */
CASE(requests_end_with_the_transport_they_began_with)
{
    enum { REQUESTS = 5 };
    archive a = ARCHIVE_INIT, b = ARCHIVE_INIT;
    record r[REQUESTS], late = RECORD_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .retry = &retry };
    config.max_concurrent_downloads = 2;
    retry.max_attempts = 3;
    retry.delay_ms = 1;
    tries_again = 1;
    sdd_downloader *downloader = make_downloader(&config);
    add(downloader, "archive", &a);
    for (int i = 0; i < REQUESTS; i++) {
        char url[40];
        r[i] = (record)RECORD_INIT;
        snprintf(url, sizeof url, "archive:%d", i);
        record_submit(downloader, &r[i], url, SDD_OPTION_BYTES_ONLY);
    }
    wait_started(&a, 2);
    b.text = "b";
    add(downloader, "archive", &b);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "archive"), SDD_OK); /* removes the newest */
    wait_freed(&b);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "archive"), SDD_OK);
    CHECK_EQUAL(is_freed(&a), 0);
    fetch(downloader, &late, "archive:late", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&late, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    /* The first request fails and is retried with the same transport; the others follow in turn. */
    CHECK_STATUS(sdd_transfer_finish(a.transfers[0], SDD_ERROR_CONNECTION_LOST, NULL), SDD_OK);
    for (int i = 1; i <= REQUESTS; i++) {
        wait_started(&a, i + 1);
        give(a.transfers[i], "a");
    }
    for (int i = 0; i < REQUESTS; i++) {
        record_wait(&r[i]);
        CHECK_ENDED(&r[i], SDD_OK, 0);
        CHECK(says(&r[i], "a"));
        record_clear(&r[i]);
    }
    wait_freed(&a);
    CHECK(a.started == REQUESTS + 1 && a.cancelled == 0 && b.started == 0);
    record_clear(&late);
    destroy(downloader);
    tries_again = 0;
    CHECK(a.freed == 1 && b.freed == 1);
}

/* A request that the library fetches itself keeps no transport, however long it waits, nor other data of the
   downloader's that it does not use. */
CASE(a_waiting_request_keeps_only_what_it_uses)
{
    archive a = ARCHIVE_INIT, kept = ARCHIVE_INIT, idle = ARCHIVE_INIT;
    OWNED_RECORD r = RECORD_INIT, of_archive = RECORD_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    modifiers.user_data = &idle, modifiers.user_data_free = archive_free;
    a.remover = kept.remover = idle.remover = downloader;
    kept.text = "kept";
    add(downloader, "archive", &a);
    add(downloader, "kept", &kept);
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &modifiers), SDD_OK);
    CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
    record_submit(downloader, &r, at("/ok?size=10"), SDD_OPTION_BYTES_ONLY);
    record_submit(downloader, &of_archive, "kept:x", SDD_OPTION_BYTES_ONLY);
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, NULL), SDD_OK);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "archive"), SDD_OK);
    CHECK_STATUS(sdd_downloader_remove_transport(downloader, "kept"), SDD_OK);
    wait_freed(&idle), wait_freed(&a);
    CHECK_EQUAL(is_freed(&kept), 0);
    kept.remover = NULL;
    CHECK_STATUS(sdd_downloader_resume(downloader), SDD_OK);
    record_wait(&r), record_wait(&of_archive);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_ENDED(&of_archive, SDD_OK, 0);
    wait_freed(&kept);
    destroy(downloader);
}

/* Transfers are cancelled and answered nevertheless, in either order: the data is freed neither too early nor never. */
CASE(a_cancelled_transfer_frees_its_transport)
{
    for (int i = 0; i < scaled(60); i++) {
        archive a = ARCHIVE_INIT;
        OWNED_RECORD r = RECORD_INIT;
        sdd_downloader *downloader = make_downloader(NULL);
        add(downloader, "archive", &a);
        sdd_token token = record_submit(downloader, &r, "archive:x", SDD_OPTION_BYTES_ONLY);
        wait_started(&a, 1);
        CHECK_STATUS(sdd_downloader_remove_transport(downloader, "archive"), SDD_OK);
        sdd_transfer transfer = a.transfers[0];
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        switch (i % 3) {
        case 0: sdd_transfer_finish(transfer, SDD_OK, NULL); break;
        case 1: sdd_transfer_respond(transfer, 200, NULL, 0, 1); sdd_transfer_write(transfer, "too long", 8); break;
        default: break;
        }
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_SENDING);
        wait_freed(&a);
        destroy(downloader);
        CHECK_EQUAL(a.freed, 1);
    }
}

CASE(a_transport_removes_itself)
{
    archive a = ARCHIVE_INIT;
    record r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    a.text = "last words";
    a.remover = downloader;
    add(downloader, "archive", &a);
    fetch(downloader, &r, "archive:x", SDD_OPTION_BYTES_ONLY);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(says(&r, a.text));
    record_clear(&r);
    wait_freed(&a);
    destroy(downloader);
    CHECK_EQUAL(a.freed, 1);
}

/* A loader's loads use the transports, too. */
CASE(loads_end_with_their_removed_transport)
{
    archive a = ARCHIVE_INIT;
    record r = RECORD_INIT;
    loader_in_folder l = open_loader();
    add(l.downloader, "archive", &a);
    sdd_load_request request = record_load(&r, "archive:x", SDD_OPTION_BYTES_ONLY);
    submit_load(&l, &request);
    wait_started(&a, 1);
    CHECK_STATUS(sdd_downloader_remove_transport(l.downloader, "archive"), SDD_OK);
    give(a.transfers[0], "loaded");
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(says(&r, "loaded"));
    record_clear(&r);
    wait_freed(&a);
    close_loader(&l);
    CHECK_EQUAL(a.freed, 1);
}

typedef struct changer {
    sdd_downloader *downloader;
    archive *archives;
    int count;
} changer;

static void *change(void *given)
{
    changer *c = given;
    for (int i = 0; i < c->count; i++) {
        add(c->downloader, "archive", &c->archives[i]);
        CHECK_STATUS(sdd_downloader_remove_transport(c->downloader, "archive"), SDD_OK);
    }
    return NULL;
}

/* Several threads add and remove transports while others submit requests. */
CASE(transports_are_removed_by_many_threads)
{
    enum { THREADS = 3, EACH = 60 };
    static archive archives[THREADS * EACH];
    pthread_t threads[THREADS];
    changer changers[THREADS];
    record r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    for (int i = 0; i < THREADS * EACH; i++) {
        archives[i] = (archive)ARCHIVE_INIT;
        archives[i].text = "some";
    }
    int each = scaled(EACH);
    for (int i = 0; i < THREADS; i++) {
        changers[i] = (changer){ downloader, &archives[i * EACH], each };
        CHECK(pthread_create(&threads[i], NULL, change, &changers[i]) == 0);
    }
    for (int i = 0; i < scaled(100); i++) {
        fetch(downloader, &r, "archive:x", SDD_OPTION_BYTES_ONLY);
        if (r.error != SDD_OK) CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    record_clear(&r);
    destroy(downloader);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < each; k++) CHECK_EQUAL(archives[i * EACH + k].freed, 1);
}

/* ------------------------------------------------------------------------------------------- coders */

CASE(a_coder_is_removed)
{
    OWNED_RECORD r = RECORD_INIT;
    toy first = { .name = "toy" }, second = { .name = "toy" }, other = { .name = "other" };
    sdd_downloader *downloader = toy_downloader();
    toy *all[] = { &first, &second, &other };
    for (int i = 0; i < 3; i++) {
        sdd_coder coder = toy_coder(all[i]);
        CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    }
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, "none"), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, ""), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, none), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd_process_remove_coder("toy"), SDD_ERROR_NOT_FOUND); /* the process's coders are separate */
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK(r.error == SDD_OK && other.opened == 1);
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, "other"), SDD_OK);
    CHECK_EQUAL(other.freed, 1);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK(r.error == SDD_OK && second.opened == 1);
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, "toy"), SDD_OK);
    CHECK(second.freed == 1 && first.freed == 0);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK(r.error == SDD_OK && first.opened == 1);
    record_clear(&r);
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, "toy"), SDD_OK);
    CHECK_EQUAL(first.freed, 1);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    destroy(downloader);
    CHECK_STATUS(sdd_downloader_remove_coder(downloader, "toy"), SDD_ERROR_CLOSED);
    CHECK(first.freed == 1 && second.freed == 1 && other.freed == 1);
}

static sdd_downloader *removing;

static void take_back(toy *self)
{
    if (removing == NULL) return;
    CHECK_STATUS(sdd_downloader_remove_coder(removing, self->name), SDD_OK);
    removing = NULL;
    CHECK_EQUAL(self->freed, 0);
}

/* The coder is decoding on a decode thread when it is removed; an animated picture asks it for more frames later. */
CASE(a_coder_at_work_is_removed)
{
    OWNED_RECORD r = RECORD_INIT;
    toy own = { .name = "toy", .in_next = take_back };
    sdd_coder coder = toy_coder(&own);
    sdd_downloader *downloader = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    removing = downloader;
    toy_fetch(downloader, &r, toy_bytes(2, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(image_info(r.image).frame_count, 2);
    CHECK_EQUAL(own.freed, 0);
    sdd_image *frame = NULL;
    CHECK_STATUS(sdd_image_frame(r.image, 1, &frame), SDD_OK);
    sdd_image_release(frame);
    record_clear(&r);
    destroy(downloader);
    CHECK_EQUAL(own.freed, 1);
}

int main(void) { return run_cases(); }

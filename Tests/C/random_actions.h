/*
 * random_actions.h - for test_random_calls.c: the actions of a thread. Each calls one or a few functions of sdd.h with
 * random objects and values.
 */
#ifndef RANDOM_ACTIONS_H
#define RANDOM_ACTIONS_H

#include "random_structs.h"

/* ------------------------------------------------------------------------------------------ requests */

static void do_request(void)
{
    made_request m;
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    call *c = new_call(s);
    make_request(&m, c);
    sdd_token token = CALL(sdd_downloader_submit, downloader, one_in(200) ? NULL : &m.p.s);
    if (s == NULL) CHECK_EQUAL(token, 0);
    submitted(c, token);
}

static void do_download(void)
{
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    call *c = new_call(s);
    const char *address = url(c->target, &c->size);
    sdd_result_fn completed = one_in(40) ? NULL : on_completed;
    uint64_t options = one_in(2) ? SDD_OPTION_BYTES_ONLY : random_option();
    if (options & SDD_OPTION_BODY_AS_SENT) c->target[0] = 0; /* the body stays compressed */
    note_callbacks(c, 8, completed != NULL, 0);
    submitted(c, CALL(sdd_download, downloader, address, options,
                      one_in(2) ? on_progress : NULL, completed, c));
}

static void do_load_request(void)
{
    made_load m;
    site *s;
    sdd_loader *loader = any_loader(&s);
    call *c = new_call(s);
    make_load(&m, c);
    submitted(c, CALL(sdd_loader_submit, loader, one_in(200) ? NULL : &m.p.s));
}

static void do_load(void)
{
    site *s;
    char unused[64];
    size_t size;
    sdd_loader *loader = any_loader(&s);
    call *c = new_call(s);
    const char *address = url(unused, &size);
    sdd_result_fn completed = one_in(40) ? NULL : on_completed;
    note_callbacks(c, 8, completed != NULL, 0);
    submitted(c, CALL(sdd_load, loader, address, one_in(2) ? 0 : random_option(), one_in(2) ? on_progress : NULL,
                      completed, c));
}

static void do_prefetch(void)
{
    PLACE(sdd_prefetch_list) p = { .room = { 0 } };
    const char *urls[6];
    site *s;
    made_transfer transfer;
    sdd_decode_options decode = random_decode(NULL);
    sdd_loader *loader = any_loader(&s);
    call *c = new_call(s);
    for (int i = 0; i < 6; i++) urls[i] = any_url();
    p.s = (sdd_prefetch_list)SDD_PREFETCH_LIST_INIT;
    p.s.urls = one_in(60) ? NULL : urls;
    p.s.count = chance(7);
    p.s.options = one_in(2) ? 0 : random_option();
    p.s.priority = mostly32((int32_t)chance(6));
    p.s.transfer = random_transfer(&transfer);
    p.s.to = mostly32((int32_t)chance(2));
    p.s.decode = one_in(3) ? &decode : NULL;
    p.s.each = one_in(2) ? on_each : NULL;
    p.s.progress = one_in(2) ? on_list_progress : NULL;
    p.s.completed = one_in(10) ? NULL : on_list;
    p.s.user_data = c;
    p.s.user_data_free = one_in(10) ? NULL : free_call;
    size_t size = p.s.struct_size = random_size(sizeof p.s, p.room);
    int sees_data = SEES(size, sdd_prefetch_list, user_data);
    note_callbacks(c, size, p.s.completed && sees_data,
                   p.s.user_data_free && SEES(size, sdd_prefetch_list, user_data_free));
    sdd_token token = CALL(sdd_prefetch, loader, &p.s);
    submitted(c, token);
    if (one_in(3)) CALL(sdd_cancel, one_in(10) ? random_bits() : token);
}

/* Runs a request with sdd_get(), which sends no events. */
static void do_get(void)
{
    site *s;
    char target[64];
    size_t size;
    sdd_image *image = NULL;
    sdd_bytes *bytes = NULL;
    sdd_response *response = NULL;
    sdd_downloader *downloader = any_downloader(&s);
    const char *address = url(target, &size);
    sdd_status status = CALL(sdd_get, downloader, address, one_in(2) ? 0 : SDD_OPTION_BYTES_ONLY, short_wait(),
                             one_in(4) ? NULL : &image, one_in(4) ? NULL : &bytes, one_in(4) ? NULL : &response);
    CHECK(status == SDD_OK || (image == NULL && bytes == NULL));
    keep_sdd_image(image);
    keep_sdd_bytes(bytes);
    keep_sdd_response(response);
}

/* Checks the result of a request that was waited for. */
static void take_result(sdd_status status, sdd_result *result, sdd_options options)
{
    if (result) {
        CHECK_EQUAL(result->failure.status, status);
        /* A picture that could not be refreshed comes with the failure. */
        if (!(options & SDD_OPTION_REFRESH_CACHED)) check_outcome(result, 1);
    }
    release_result(result);
}

/* Runs requests with the calls that wait, which send no events. */
static void do_submit_and_wait(void)
{
    site *s;
    made_transfer transfer;
    sdd_result *result = NULL;
    sdd_process_statistics living = SDD_PROCESS_STATISTICS_INIT;
    sdd_download_request download = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_load_request load = SDD_LOAD_REQUEST_INIT;
    sdd_status status;
    download.url = load.url = any_url();
    download.options = load.options = one_in(2) ? 0 : random_option();
    download.transfer = load.transfer = random_transfer(&transfer);
    if (one_in(2))
        status = CALL(sdd_downloader_submit_wait, any_downloader(&s), one_in(40) ? NULL : &download, short_wait(),
                      one_in(6) ? NULL : &result);
    else
        status = CALL(sdd_loader_submit_wait, any_loader(&s), one_in(40) ? NULL : &load, short_wait(),
                      one_in(6) ? NULL : &result);
    take_result(status, result, load.options);
    CHECK_STATUS(CALL(sdd_process_get_statistics, &living), SDD_OK);
    CHECK(living.images >= 0 && living.pixel_bytes >= 0 && living.bytes_objects >= 0 && living.bytes_bytes >= 0);
}

static void do_to_a_call(void)
{
    site *s;
    any_downloader(&s);
    call *c = s ? atomic_load(&s->recent[chance(RECENT)]) : NULL;
    sdd_token token = c && !one_in(20) ? atomic_load(&c->token) : one_in(2) ? 0 : random_bits();
    PLACE(sdd_token_info) p = { .room = { 0 } };
    sdd_response *response = NULL;
    char address[100];
    size_t length;
    sdd_status status;
    switch (chance(5)) {
    case 0:
        status = CALL(sdd_cancel, token);
        if (status == SDD_OK && c) atomic_fetch_add(&c->was_cancelled, 1);
        break;
    case 1: CALL(sdd_set_priority, token, mostly32((int32_t)chance(6))); break;
    case 2:
        p.s.struct_size = random_size(sizeof p.s, p.room);
        CALL(sdd_token_get_info, token, one_in(40) ? NULL : &p.s);
        break;
    case 3: CALL(sdd_token_get_url, token, one_in(4) ? NULL : address, chance(100), one_in(2) ? NULL : &length); break;
    default:
        if (CALL(sdd_token_get_response, token, &response) == SDD_OK) keep_sdd_response(response);
    }
}

/* ----------------------------------------------------------------------------------- taking events */

static void look_at_event(const sdd_event *e)
{
    call *c = e->user_data;
    switch (e->kind) {
    case SDD_EVENT_COMPLETED: if (c) check_end(c, e->result); break;
    case SDD_EVENT_PREFETCH_COMPLETED: if (c) end_call(c, e->prefetch->status); break;
    case SDD_EVENT_PROGRESS:
    case SDD_EVENT_FACTS:
    case SDD_EVENT_PREVIEW:
    case SDD_EVENT_CACHED:
    case SDD_EVENT_PREFETCHED: if (c) hear(c); break;
    default: CHECK(e->kind >= SDD_EVENT_START && e->kind <= SDD_EVENT_LOG);
    }
    if (e->result) look_at_result(e->result);
}

/* Takes the events of a downloader whose application has no thread for them; lent records are valid while the lock is
   held. */
static void take_events(site *s)
{
    sdd_event events[4] = { SDD_EVENT_INIT, SDD_EVENT_INIT, SDD_EVENT_INIT, SDD_EVENT_INIT };
    size_t count = 0;
    sdd_status status;
    if (s->way == BY_DRAIN && pthread_mutex_trylock(&s->taking) != 0) return;
    depth++; /* callbacks run here */
    if (s->way != BY_DRAIN || one_in(20)) {
        if (one_in(2)) status = CALL(sdd_downloader_dispatch, s->downloader, chance(20), &count);
        else status = CALL(sdd_downloader_wait, s->downloader, NULL, chance(5), short_wait(), NULL);
    } else {
        if (one_in(2)) status = CALL(sdd_downloader_drain, s->downloader, events, chance(5), &count);
        else status = CALL(sdd_downloader_wait, s->downloader, events, chance(5), short_wait(), &count);
        for (size_t i = 0; status == SDD_OK && i < count; i++) look_at_event(&events[i]);
    }
    depth--;
    if (s->way == BY_THREAD && !s->ends) CHECK(status != SDD_OK);
    if (s->way == BY_DRAIN) pthread_mutex_unlock(&s->taking);
}

static void do_take_events(void)
{
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    size_t count = 0;
    if (s) {
        take_events(s);
        return;
    }
    sdd_event event = SDD_EVENT_INIT;
    CHECK(CALL(sdd_downloader_dispatch, downloader, 1, &count) != SDD_OK);
    CHECK(CALL(sdd_downloader_drain, downloader, &event, 1, &count) != SDD_OK);
    CHECK(CALL(sdd_downloader_wait, downloader, &event, 1, 0, &count) != SDD_OK);
}

static void do_wait_idle(void)
{
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    int locks = s && s->way == BY_DRAIN;
    if (locks && pthread_mutex_trylock(&s->taking) != 0) return;
    depth++;
    CALL(sdd_downloader_idle_wait, downloader, short_wait());
    depth--;
    CALL(sdd_downloader_event_fd, downloader);
    if (locks) pthread_mutex_unlock(&s->taking);
}

/* ------------------------------------------------------------------------------------------- rules */

static void set_a_limit(sdd_downloader *downloader)
{
    switch (chance(9)) {
    case 0: CALL(sdd_downloader_set_max_concurrent_downloads, downloader, mostly32(1 + (int32_t)chance(20))); break;
    case 1: CALL(sdd_downloader_set_max_concurrent_per_host, downloader, mostly32(1 + (int32_t)chance(20))); break;
    case 2: CALL(sdd_downloader_set_min_host_interval, downloader, one_in(30) ? number64() : (int64_t)chance(3)); break;
    case 3: CALL(sdd_downloader_set_reserved_urgent_slots, downloader, mostly32((int32_t)chance(2))); break;
    case 4: CALL(sdd_downloader_set_execution_order, downloader, mostly32((int32_t)chance(2))); break;
    case 5: CALL(sdd_downloader_set_download_timeout, downloader, mostly64(5000)); break;
    case 6: CALL(sdd_downloader_set_offline, downloader, mostly32((int32_t)one_in(6))); break;
    case 7: CALL(sdd_decoder_main, (int)chance(3), NULL); break; /* not the main function of this program */
    default: CALL(sdd_process_set_decode_memory_limit, one_in(2) ? 0 : (int64_t)(64 << 20)); break;
    }
}

static void set_a_default(sdd_downloader *downloader, site *s)
{
    sdd_credential credential = random_credential();
    sdd_modifiers modifiers = random_modifiers();
    sdd_decode_options decode = random_decode(NULL);
    char value[50];
    size_t length;
    switch (chance(5)) {
    case 0: CALL(sdd_set_header, downloader, mostly_text("X-Own"), mostly_text("1")); break;
    case 1: CALL(sdd_get_header, downloader, mostly_text("X-Own"), one_in(4) ? NULL : value, chance(50), &length); break;
    case 2: CALL(sdd_downloader_set_credential, downloader, one_in(2) ? NULL : &credential); break;
    case 3:
        if (!one_in(3)) {
            CALL(sdd_downloader_set_modifiers, downloader, NULL);
            break;
        }
        if (s) atomic_store(&s->changes_bodies, 1);
        modifiers.user_data = owe();
        modifiers.user_data_free = owed_free;
        modifiers.struct_size = one_in(20) ? chance(sizeof modifiers) : sizeof modifiers;
        int is_seen = SEES(modifiers.struct_size, sdd_modifiers, user_data_free);
        sdd_status status = CALL(sdd_downloader_set_modifiers, downloader, &modifiers);
        if (status != SDD_OK || !is_seen) owe_nothing(modifiers.user_data);
        break;
    default: CALL(sdd_downloader_set_decode_options, downloader, one_in(2) ? NULL : &decode); break;
    }
}

static void change_state(sdd_downloader *downloader)
{
    switch (chance(9)) {
    case 0: if (one_in(3)) CALL(sdd_downloader_suspend, downloader); break;
    case 1:
    case 2: CALL(sdd_downloader_resume, downloader); break;
    case 3: CALL(sdd_downloader_is_suspended, downloader); break;
    case 4: if (one_in(3)) CALL(sdd_downloader_enter_background, downloader, number64()); break;
    case 5:
    case 6: CALL(sdd_downloader_enter_foreground, downloader); break;
    case 7: if (one_in(30)) CALL(sdd_downloader_cancel_all, downloader); break;
    default:
        if (downloader && one_in(200)) CALL(sdd_downloader_close, downloader, number32());
        else if (one_in(20)) CALL(sdd_downloader_close, NULL, 0);
    }
}

static void look_at_downloader(sdd_downloader *downloader)
{
    PLACE(sdd_statistics) p = { .room = { 0 } };
    PLACE(sdd_downloader_config) q = { .room = { 0 } };
    if (one_in(2)) {
        p.s.struct_size = random_size(sizeof p.s, p.room);
        CALL(sdd_downloader_get_statistics, downloader, one_in(40) ? NULL : &p.s);
    } else {
        q.s.struct_size = random_size(sizeof q.s, q.room);
        CALL(sdd_downloader_get_config, downloader, one_in(40) ? NULL : &q.s);
    }
}

static void set_a_listener(sdd_downloader *downloader)
{
    atomic_int *count = owe();
    sdd_observer_fn observer = one_in(3) ? NULL : on_notice;
    sdd_status status = one_in(2) ? CALL(sdd_downloader_set_observer, downloader, observer, count, owed_free)
                                  : CALL(sdd_downloader_set_log, downloader, mostly32((int32_t)chance(5)), observer, count, owed_free);
    if (status != SDD_OK || observer == NULL) owe_nothing(count);
}

static void do_cookies(void)
{
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    sdd_cookie cookie = SDD_COOKIE_INIT;
    sdd_cookies *cookies = NULL;
    cookie.name = mostly_text("one"), cookie.value = mostly_text("1"), cookie.domain = mostly_text("127.0.0.1");
    cookie.path = mostly_text("/"), cookie.expires_ms = number64();
    cookie.include_subdomains = number32(), cookie.secure = number32(), cookie.http_only = number32();
    cookie.struct_size = one_in(20) ? chance(sizeof cookie) : sizeof cookie;
    CALL(sdd_downloader_set_cookie, downloader, &cookie);
    if (CALL(sdd_downloader_get_cookies, downloader, one_in(60) ? NULL : &cookies) == SDD_OK && cookies) {
        size_t count = CALL(sdd_cookies_count, cookies);
        cookie.struct_size = sizeof cookie;
        sdd_status status = CALL(sdd_cookies_at, cookies, count ? chance((uint32_t)count) : 0, &cookie);
        CHECK_STATUS(status, count ? SDD_OK : SDD_ERROR_NOT_FOUND);
        CHECK(CALL(sdd_cookies_at, cookies, count, &cookie) != SDD_OK);
    }
    CALL(sdd_cookies_release, cookies);
    if (one_in(10)) CALL(sdd_downloader_clear_cookies, downloader, text());
}

static void do_to_a_downloader(void)
{
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    switch (chance(5)) {
    case 0: set_a_limit(downloader); break;
    case 1: set_a_default(downloader, s); break;
    case 2: change_state(downloader); break;
    case 3: look_at_downloader(downloader); break;
    default: set_a_listener(downloader); break;
    }
}

/* ------------------------------------------------------------------------------------------- loaders */

static void do_to_a_loader(void)
{
    site *s;
    sdd_loader *loader = any_loader(&s);
    switch (chance(7)) {
    case 0: CALL(sdd_loader_running_count, loader); break;
    case 1: if (one_in(20)) CALL(sdd_loader_cancel_all, loader); break;
    case 2: CALL(sdd_loader_remove_failed_url, loader, any_url()); break;
    case 3: CALL(sdd_loader_remove_all_failed_urls, loader); break;
    case 4: CALL(sdd_loader_is_blocked, loader, any_url()); break;
    case 5: CALL(sdd_loader_set_max_concurrent_prefetches, loader, mostly32((int32_t)chance(5))); break;
    default: if (one_in(10)) CALL(sdd_loader_destroy, forged()); break;
    }
}

#endif

/*
 * random_structs.h - for test_random_calls.c: the structs of sdd.h, filled at random, and the callbacks in them.
 */
#ifndef RANDOM_STRUCTS_H
#define RANDOM_STRUCTS_H

#include "random_model.h"

#include <math.h>

/* Makes a call that does not block, for callbacks on threads that must not wait. */
static void call_something_quick(void);
/* Makes any call, for callbacks on the application's threads. */
static void call_something(site *own);

#define IN_CALLBACK(calls) \
    do { \
        depth++; \
        if (depth < 3) calls; \
        depth--; \
    } while (0)

/* Takes events inside a callback. */
static void take_events(site *s);

/* Destroys the downloader that calls back, or one of the loaders, and makes others in their place. */
static void end_inside(site *own);
static void end_a_loader(void);

/* What any callback about a call may do: deliver other events, cancel the call, destroy what delivers it. */
static void act_inside(call *c, sdd_token token, uint32_t rarity)
{
    if (c == NULL || !one_in(rarity)) return;
    switch (chance(8)) {
    case 0:
        if (CALL(sdd_cancel, token) != SDD_OK) break;
        atomic_store(&c->cancelled_inside, 1);
        atomic_fetch_add(&c->was_cancelled, 1);
        break;
    case 1: if (one_in(40) && c->site != &shared_site) IN_CALLBACK(end_inside(c->site)); break;
    case 2: if (one_in(20)) IN_CALLBACK(end_a_loader()); break;
    case 3:
    case 4: IN_CALLBACK(call_something(c->site)); break;
    default: IN_CALLBACK(take_events(c->site)); break;
    }
}

/* -------------------------------------------------------------------------------- callbacks of a call */

static void on_progress(sdd_token token, int64_t received, int64_t expected, const char *address, void *user_data)
{
    call *c = user_data;
    CHECK(token != 0 && received >= 0 && address != NULL);
    CHECK(expected < 0 || received <= expected);
    if (c == NULL) return;
    hear(c);
    act_inside(c, token, 30);
}

static void look_at_result(const sdd_result *result)
{
    if (result->image && one_in(4)) keep_sdd_image(CALL(sdd_image_retain, result->image));
    if (result->bytes && one_in(4)) keep_sdd_bytes(CALL(sdd_bytes_retain, result->bytes));
    if (result->response && one_in(4)) keep_sdd_response(CALL(sdd_response_retain, result->response));
}

static void on_completed(const sdd_result *result, void *user_data)
{
    call *c = user_data;
    if (c == NULL) return;
    check_end(c, result);
    CHECK(CALL(sdd_cancel, result->token) != SDD_OK);
    look_at_result(result);
    act_inside(c, result->token, 4);
}

/* Releases a result that a call has given to the application; NULL is none. */
static void release_result(sdd_result *result)
{
    if (result) {
        CHECK_EQUAL(result->token, 0);
        look_at_result(result);
    }
    CALL(sdd_result_release, result);
}

/* Receives previews, and the cached image of a load that refreshes. */
static void on_part(const sdd_result *result, void *user_data)
{
    call *c = user_data;
    check_any_result(result, 0);
    if (c == NULL) return;
    hear(c);
    look_at_result(result);
    act_inside(c, result->token, 10);
}

static void on_facts(sdd_token token, const sdd_image_info *info, void *user_data)
{
    call *c = user_data;
    CHECK(token != 0 && info->stored_width > 0 && info->stored_height > 0);
    if (c) hear(c);
    act_inside(c, token, 10);
}

static void on_each(sdd_token token, size_t index, const sdd_result *result, void *user_data)
{
    call *c = user_data;
    CHECK(token != 0 && index < 64);
    check_any_result(result, 1);
    if (c) hear(c);
    act_inside(c, token, 3);
}

static void on_list_progress(sdd_token token, size_t finished, size_t skipped, size_t total, void *user_data)
{
    call *c = user_data;
    CHECK(token != 0 && skipped <= finished && finished <= total);
    if (c == NULL) return;
    hear(c);
    CHECK(finished > c->finished);
    c->finished = finished;
    act_inside(c, token, 3);
}

static void on_list(const sdd_prefetch_report *report, void *user_data)
{
    call *c = user_data;
    CHECK(report->token != 0 && report->skipped <= report->finished);
    CHECK_EQUAL(report->finished + report->cancelled, report->total);
    if (c == NULL) return;
    end_call(c, report->status);
    act_inside(c, report->token, 4);
}

static void on_notice(const sdd_notice *notice, void *user_data)
{
    CHECK(notice->kind >= SDD_EVENT_START && (user_data == NULL || *(atomic_int *)user_data == 1));
    if (one_in(50)) IN_CALLBACK(call_something(NULL));
}

/* ----------------------------------------------------------------------------------------- modifiers */

static sdd_status on_draft(sdd_draft *draft, void *user_data)
{
    (void)user_data;
    CHECK(CALL(sdd_draft_url, draft) != NULL && CALL(sdd_draft_method, draft) != NULL);
    CALL(sdd_draft_header, draft, text());
    switch (chance(8)) {
    case 0: CALL(sdd_draft_set_url, draft, any_url()); break;
    case 1: CALL(sdd_draft_set_method, draft, text()); break;
    case 2: CALL(sdd_draft_set_header, draft, text(), text()); break;
    case 3: CALL(sdd_draft_set_body, draft, long_text, chance(1000)); break;
    case 4: return number32();
    default: break;
    }
    return SDD_OK;
}

static sdd_status on_response(sdd_response *response, sdd_response_change *change, void *user_data)
{
    (void)user_data;
    CHECK(CALL(sdd_response_url, response) != NULL);
    if (one_in(4)) change->http_status = number32();
    if (one_in(4)) change->mime_type = text();
    IN_CALLBACK(call_something_quick());
    return one_in(6) ? number32() : SDD_OK;
}

static sdd_bytes *on_body(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)response, (void)user_data;
    IN_CALLBACK(call_something_quick());
    if (one_in(8)) return NULL;
    return one_in(3) ? CALL(sdd_bytes_create, long_text, chance(500)) : CALL(sdd_bytes_retain, body);
}

static void *on_allocate(size_t size, size_t alignment, void *user_data)
{
    void *memory = NULL;
    (void)user_data;
    CHECK(size > 0 && alignment >= 16 && (alignment & (alignment - 1)) == 0);
    return one_in(10) || posix_memalign(&memory, alignment, size) != 0 ? NULL : memory;
}

static void on_release(void *pixels, size_t size, void *user_data)
{
    (void)user_data;
    CHECK(pixels != NULL && size > 0);
    free(pixels);
}

static sdd_image *on_transform(sdd_image *image, void *user_data)
{
    (void)user_data;
    CHECK(image != NULL);
    return one_in(6) ? NULL : CALL(sdd_image_retain, image);
}

static int32_t on_address(const char *address, int32_t port, void *user_data)
{
    (void)user_data;
    CHECK(address != NULL && port > 0);
    IN_CALLBACK(call_something_quick());
    return one_in(20) ? number32() : 1;
}

/* ------------------------------------------------------------------------------------ decode options */

static const sdd_pixel_allocator good_allocator = { sizeof(sdd_pixel_allocator), on_allocate, on_release, NULL };

/* `c` is the call of a request, which may supply its own pixel memory, or NULL. */
static sdd_decode_options random_decode(call *c)
{
    sdd_decode_options d = SDD_DECODE_OPTIONS_INIT;
    d.pixel_format = one_in(3) ? mostly32(1 + (int32_t)chance(9)) : 0;
    RANDOMIZE(sdd_decode_options, &d, chance(4));
    if (one_in(2)) d.target_width = mostly32((int32_t)chance(60));
    if (one_in(2)) d.target_height = mostly32((int32_t)chance(60));
    if (one_in(10)) d.row_alignment = mostly32(1 << chance(13));
    if (one_in(15)) d.allocator = &good_allocator;
    if (c && one_in(25)) {
        c->pixels = calloc(1, 65536);
        d.pixels = c->pixels;
        d.pixels_size = one_in(4) ? chance(65536) : 65536;
        d.pixels_stride = one_in(4) ? chance(1000) : 0;
    }
    return d;
}

static sdd_transform random_transform(void)
{
    sdd_transform t = SDD_TRANSFORM_INIT;
    t.kind = mostly32(1 + (int32_t)chance(9));
    t.fit = mostly32((int32_t)chance(3));
    t.x = mostly32((int32_t)chance(20)), t.y = mostly32((int32_t)chance(20));
    t.width = mostly32((int32_t)chance(50)), t.height = mostly32((int32_t)chance(50));
    t.flip = mostly32((int32_t)chance(4));
    t.degrees = one_in(2) ? 90 * (int32_t)chance(4) : one_in(20) ? NAN : ((int32_t)chance(1000000) - 500000) / 1000.0;
    t.keep_size = mostly32((int32_t)chance(2));
    t.border = mostly32((int32_t)chance(10)), t.colour = (uint32_t)random_bits();
    t.radius = mostly32((int32_t)chance(10));
    t.corners = mostly32((int32_t)chance(16));
    t.key = mostly_text("key");
    t.callback = one_in(12) ? NULL : on_transform;
    if (one_in(40)) t.struct_size = chance(sizeof t);
    return t;
}

static sdd_credential random_credential(void)
{
    sdd_credential c = SDD_CREDENTIAL_INIT;
    if (one_in(2)) c.username = mostly_text("user"), c.password = mostly_text("word");
    else c.bearer_token = mostly_text("token");
    if (one_in(8)) c.schemes = random_bits() & 31;
    if (one_in(20)) c.client_certificate = text(), c.client_key = text(), c.client_key_password = text();
    return c;
}

static sdd_modifiers random_modifiers(void)
{
    sdd_modifiers m = SDD_MODIFIERS_INIT;
    if (one_in(2)) m.request_modifier = on_draft;
    if (one_in(2)) m.response_modifier = on_response;
    if (one_in(2)) m.body_transform = on_body;
    return m;
}

/* ----------------------------------------------------------------------------------------- requests */

/* Options of a transfer with everything that they point to, valid until they are submitted. */
typedef struct made_transfer {
    PLACE(sdd_transfer_options) p;
    sdd_credential credential;
    sdd_modifiers modifiers;
    sdd_header headers[3];
} made_transfer;

static const sdd_transfer_options *random_transfer(made_transfer *m)
{
    sdd_transfer_options *t = &m->p.s;
    if (one_in(3)) return NULL;
    memset(m, 0, sizeof *m);
    *t = (sdd_transfer_options)SDD_TRANSFER_OPTIONS_INIT;
    for (int i = 0; i < 3; i++) m->headers[i] = (sdd_header){ mostly_text("X-One"), mostly_text("1") };
    if (one_in(6)) t->headers = m->headers, t->header_count = chance(4);
    if (one_in(15)) m->credential = random_credential(), t->credential = &m->credential;
    if (one_in(8)) m->modifiers = random_modifiers(), t->modifiers = &m->modifiers;
    if (one_in(3)) RANDOMIZE(sdd_transfer_options, t, 1 + chance(3));
    if (one_in(4)) t->total_timeout_ms = mostly64(1 + chance(100));
    t->struct_size = random_size(sizeof *t, m->p.room);
    return t;
}

/* A request with everything it points to, valid until it is submitted. */
typedef struct made_request {
    PLACE(sdd_download_request) p;
    made_transfer transfer;
    sdd_decode_options decode;
} made_request;

static int null_device;

static void randomize_request(made_request *m, call *c)
{
    sdd_download_request *r = &m->p.s;
    if (one_in(3)) r->options |= random_option();
    if (one_in(60)) r->options |= random_bits();
    if (one_in(6)) RANDOMIZE(sdd_download_request, r, 1 + chance(3));
    if (one_in(30)) r->body = one_in(3) ? NULL : long_text, r->body_size = chance(300);
    r->priority = mostly32((int32_t)chance(6));
    r->transfer = random_transfer(&m->transfer);
    if (one_in(25)) r->sink = mostly32((int32_t)chance(3)), r->sink_fd = one_in(4) ? wrong_descriptor() : null_device;
    if (one_in(3)) m->decode = random_decode(c), r->decode = &m->decode;
    /* These fields may change the body that the URL gives. */
    const sdd_transfer_options *t = r->transfer;
    if (r->sink || r->range || r->method || r->integrity || r->options & SDD_OPTION_BODY_AS_SENT) c->target[0] = 0;
    if (t && (t->modifiers || t->headers || t->redirects)) c->target[0] = 0;
}

/* Records for the model which callbacks the library sees. */
static void note_callbacks(call *c, size_t size, int has_completed, int has_free)
{
    c->has_completed = has_completed && size >= 8;
    c->has_free = has_free;
    open_call(c);
}

static void make_request(made_request *m, call *c)
{
    memset(m, 0, sizeof *m);
    m->p.s = (sdd_download_request)SDD_DOWNLOAD_REQUEST_INIT;
    sdd_download_request *r = &m->p.s;
    r->url = url(c->target, &c->size);
    r->options = one_in(3) ? 0 : SDD_OPTION_BYTES_ONLY;
    r->progress = one_in(2) ? on_progress : NULL;
    r->completed = one_in(40) ? NULL : on_completed;
    r->user_data = c;
    r->user_data_free = one_in(10) ? NULL : free_call;
    r->preview = one_in(2) ? on_part : NULL;
    r->facts = one_in(4) ? on_facts : NULL;
    randomize_request(m, c);
    size_t size = r->struct_size = random_size(sizeof *r, m->p.room);
    if (size < sizeof *r) c->target[0] = 0; /* fields that the library does not see change the request */
    int sees_data = SEES(size, sdd_download_request, user_data);
    note_callbacks(c, size, r->completed && sees_data, r->user_data_free && SEES(size, sdd_download_request, user_data_free));
}

/* A load with everything it points to. */
typedef struct made_load {
    PLACE(sdd_load_request) p;
    made_transfer transfer;
    sdd_decode_options decode;
    sdd_transform transforms[3];
    const char *others[3];
} made_load;

static void make_load(made_load *m, call *c)
{
    char unused[64];
    size_t size;
    memset(m, 0, sizeof *m);
    m->p.s = (sdd_load_request)SDD_LOAD_REQUEST_INIT;
    sdd_load_request *r = &m->p.s;
    r->url = url(unused, &size);
    if (one_in(2)) r->options |= random_option();
    if (one_in(2)) r->options |= random_option();
    if (one_in(60)) r->options |= random_bits();
    r->progress = one_in(2) ? on_progress : NULL;
    r->completed = one_in(40) ? NULL : on_completed;
    r->user_data = c;
    r->user_data_free = one_in(10) ? NULL : free_call;
    if (one_in(3)) m->decode = random_decode(c), r->decode = &m->decode;
    for (int i = 0; i < 3; i++) m->transforms[i] = random_transform(), m->others[i] = any_url();
    if (one_in(4)) r->transforms = m->transforms, r->transform_count = chance(4);
    if (one_in(8)) r->alternatives = m->others, r->alternative_count = chance(4);
    if (one_in(3)) RANDOMIZE(sdd_load_request, r, 1 + chance(4));
    r->priority = mostly32((int32_t)chance(6));
    r->transfer = random_transfer(&m->transfer);
    r->preview = one_in(2) ? on_part : NULL;
    r->facts = one_in(4) ? on_facts : NULL;
    /* Refused without that bit. */
    r->cached = one_in(r->options & SDD_OPTION_REFRESH_CACHED ? 2 : 60) ? on_part : NULL;
    size = r->struct_size = random_size(sizeof *r, m->p.room);
    int sees_data = SEES(size, sdd_load_request, user_data);
    note_callbacks(c, size, r->completed && sees_data,
                   r->user_data_free && SEES(size, sdd_load_request, user_data_free));
}

#endif

/* Response modifiers that set header fields: who sees these fields, and their effects. */
#include "loads.h"

#include <stdatomic.h>

/* The settings of the current modifier. */
typedef struct wanted {
    const sdd_header *headers;
    size_t count;
    const char *type;      /* NULL: unchanged */
    int32_t status;        /* 0: unchanged */
    atomic_int asked, transformed;
    char seen[100]; /* X-Own as the body transform saw it */
} wanted;

static sdd_status modify(sdd_response *response, sdd_response_change *change, void *user_data)
{
    wanted *w = user_data;
    CHECK(change->struct_size == sizeof *change && change->headers == NULL && change->header_count == 0);
    CHECK(sdd_response_header(response, "X-Own") == NULL); /* the server's response has no such field */
    change->headers = w->headers;
    change->header_count = w->count;
    if (w->type != NULL) change->mime_type = w->type;
    if (w->status != 0) change->http_status = w->status;
    w->asked++;
    return SDD_OK;
}

static sdd_bytes *look(sdd_bytes *body, sdd_response *response, void *user_data)
{
    wanted *w = user_data;
    const char *own = sdd_response_header(response, "x-own");
    snprintf(w->seen, sizeof w->seen, "%s", own ? own : "(none)");
    w->transformed++;
    return sdd_bytes_retain(body);
}

static sdd_modifiers modifiers_of(wanted *w)
{
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.response_modifier = modify;
    modifiers.body_transform = look;
    modifiers.user_data = w;
    return modifiers;
}

static void fetch_modified(sdd_downloader *downloader, record *r, const char *url, const sdd_modifiers *modifiers)
{
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.transfer = &transfer;
    transfer.modifiers = modifiers;
    fetch_request(downloader, r, request);
}

CASE(fields_are_set_replaced_and_removed)
{
    static const sdd_header headers[] = {
        { "X-Own", "one" }, { "x-server", "replaced" }, { "X-Own", "two" }, { "X-GONE", NULL }, { "X-Never", NULL },
    };
    wanted w = { .headers = headers, .count = 5 };
    sdd_modifiers modifiers = modifiers_of(&w);
    OWNED_RECORD r = RECORD_INIT;
    fetch_modified(NULL, &r, at("/ok?header=X-Server:%20a&header=X-Server:%20b&header=X-Gone:%20c&header=X-Kept:%20d"),
                   &modifiers);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(w.asked, 1);
    CHECK_TEXT(w.seen, "one");
    CHECK_TEXT(sdd_response_header(r.response, "X-Server"), "replaced");
    CHECK_TEXT(sdd_response_header(r.response, "X-Kept"), "d");
    CHECK(sdd_response_header(r.response, "X-Gone") == NULL && sdd_response_header(r.response, "X-Never") == NULL);
    int own = 0, server = 0;
    for (size_t i = 0; i < sdd_response_header_count(r.response); i++) {
        const char *name, *value;
        CHECK_STATUS(sdd_response_header_at(r.response, i, &name, &value), SDD_OK);
        own += strcmp(name, "X-Own") == 0 && strcmp(value, own ? "two" : "one") == 0;
        server += strcasecmp(name, "X-Server") == 0;
    }
    CHECK(own == 2 && server == 1);
    CHECK_EQUAL(sdd_response_status(r.response), 200);
    CHECK(strncmp(sdd_response_url(r.response), at("/ok"), strlen(at("/ok"))) == 0);
}

/* The type follows from Content-Type, unless the modifier sets one. */
CASE(the_type_follows_from_the_field)
{
    static const sdd_header png[] = { { "content-type", "Image/PNG; x=y" } }, none[] = { { "Content-Type", NULL } };
    static const struct {
        const sdd_header *headers;
        const char *type, *accepted;
        int fits;
    } cases[] = {
        { png, NULL, "image/png", 1 },     { png, NULL, "text/plain", 0 }, { png, "image/gif", "image/gif", 1 },
        { png, "image/gif", "image/png", 0 }, { none, NULL, "text/plain", 0 }, { none, "image/gif", "image/gif", 1 },
    };
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wanted w = { .headers = cases[i].headers, .count = 1, .type = cases[i].type };
        sdd_modifiers modifiers = modifiers_of(&w);
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.url = at("/ok?type=text/plain");
        request.transfer = &transfer;
        transfer.modifiers = &modifiers;
        transfer.accepted_content_types = cases[i].accepted;
        fetch_request(NULL, &r, request);
        CHECK_ENDED(&r, cases[i].fits ? SDD_OK : SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, 0);
        CHECK_TEXT(sdd_response_mime_type(r.response), cases[i].headers == png ? "image/png" : "");
    }
}

CASE(bad_fields_refuse_the_response)
{
    static const sdd_header bad[] = {
        { "X Y", "v" }, { "", "v" }, { NULL, "v" }, { "X", "a\r\nb" }, { "X", "\x01" }, { NULL, NULL }, { "X:", NULL },
    };
    OWNED_RECORD r = RECORD_INIT;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wanted w = { .headers = &bad[i], .count = 1 };
        sdd_modifiers modifiers = modifiers_of(&w);
        fetch_modified(NULL, &r, at("/ok"), &modifiers);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_RESPONSE, 0);
        CHECK_EQUAL(w.transformed, 0);
    }
    wanted w = { .headers = NULL, .count = 1 };
    sdd_modifiers modifiers = modifiers_of(&w);
    fetch_modified(NULL, &r, at("/ok"), &modifiers);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_RESPONSE, 0);
    w.headers = bad;
    w.count = 1001;
    fetch_modified(NULL, &r, at("/ok"), &modifiers);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_RESPONSE, 0);
}

/* A Retry-After from the modifier that is longer than a retry may wait prevents the retry; without it there is one. */
CASE(retry_after_counts)
{
    static const sdd_header later[] = { { "Retry-After", "100000" } };
    record r = RECORD_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .retry = &retry };
    retry.max_attempts = 2;
    retry.delay_ms = 1;
    tries_again = 1;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    for (int asks = 0; asks < 2; asks++) {
        wanted w = { .headers = later, .count = asks ? 1 : 0, .status = 503 };
        sdd_modifiers modifiers = modifiers_of(&w);
        fetch_modified(downloader, &r, atf("/ok?retry%d", asks), &modifiers);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
        CHECK_EQUAL(r.metrics.attempts, asks ? 1 : 2);
        CHECK_EQUAL(r.http_status, 503);
        if (asks) CHECK_TEXT(sdd_response_header(r.response, "retry-after"), "100000");
    }
    record_clear(&r);
    tries_again = 0;
}

/* The HTTP cache follows the server's own fields, stores these, and asks the modifier again. */
CASE(caches_keep_what_the_server_said)
{
    static const sdd_header forbids[] = { { "Cache-Control", "no-store" }, { "X-Own", "1" }, { "Vary", "*" } };
    OWNED_RECORD r = RECORD_INIT;
    OWNED_LOADER l = open_loader();
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.cache = l.cache.cache;
    OWNED_DOWNLOADER downloader = make_downloader(&config);
    wanted w = { .headers = forbids, .count = 3 };
    sdd_modifiers modifiers = modifiers_of(&w);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = at("/ok?kept&header=Cache-Control:%20max-age=1000");
    request.transfer = &transfer;
    transfer.modifiers = &modifiers;
    request.options = SDD_OPTION_USE_HTTP_CACHE;
    for (int round = 0; round < 2; round++) {
        fetch_request(downloader, &r, request);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_EQUAL(r.origin, round ? SDD_ORIGIN_HTTP_FRESH : SDD_ORIGIN_NETWORK);
        CHECK_TEXT(sdd_response_header(r.response, "Cache-Control"), "no-store");
        CHECK_TEXT(sdd_response_header(r.response, "X-Own"), "1");
        CHECK_STATUS(sdd_cache_flush_wait(l.cache.cache, -1), SDD_OK);
    }
    CHECK_EQUAL(w.asked, 2);
    transfer.modifiers = NULL;
    fetch_request(downloader, &r, request);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_HTTP_FRESH);
    CHECK_TEXT(sdd_response_header(r.response, "Cache-Control"), "max-age=1000");
    CHECK(sdd_response_header(r.response, "X-Own") == NULL);
}

/* Loads use them, too; the stored entry is found again, because the server sent no Vary. */
CASE(loads_see_modified_fields)
{
    static const sdd_header own[] = { { "X-Own", "1" }, { "Vary", "*" } };
    OWNED_RECORD r = RECORD_INIT;
    OWNED_LOADER l = open_loader();
    wanted w = { .headers = own, .count = 2 };
    sdd_modifiers modifiers = modifiers_of(&w);
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    transfer.modifiers = &modifiers;
    sdd_decode_options small = inside(5);
    sdd_load_request request = record_load(&r, at("/file/png/rgb8.png?modified"), SDD_OPTION_WAIT_STORE_CACHE);
    request.transfer = &transfer;
    request.decode = &small;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_TEXT(sdd_response_header(r.response, "X-Own"), "1");
    leave_to_disk(&l);
    load_from(&l, &request, SDD_ORIGIN_DISK);
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
}

int main(void) { return run_cases(); }

/* The application's callbacks in loads: rows M9, M22, M23, B12, B14, Z23. */
#include "loads.h"

#include <stdatomic.h>

#define PICTURE "/file/png/rgb8.png"

/* ------------------------------------------------------------------------------------- should_download */

static struct {
    atomic_int calls, freed;
    int32_t answer;
    char url[300];
} host;

static int32_t ask(const char *url, void *user_data)
{
    CHECK(user_data == &host);
    snprintf(host.url, sizeof host.url, "%s", url);
    host.calls++;
    return host.answer;
}

static void note_freed(void *user_data)
{
    CHECK(user_data == &host);
    host.freed++;
}

static loader_in_folder open_asking(int32_t answer)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    memset(&host, 0, sizeof host);
    host.answer = answer;
    config.should_download = ask;
    config.user_data = &host;
    config.user_data_free = note_freed;
    return open_loader_over(config, NULL);
}

CASE(m9_the_application_is_asked_on_a_miss_alone)
{
    loader_in_folder l = open_asking(1);
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at(PICTURE "?m9");
    get_from(&l, &r, url, 0, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(host.calls, 1);
    CHECK_TEXT(host.url, url);
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    record_clear(&r);
    leave_to_disk(&l);
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    load(&l, &r, at(PICTURE "?m9-none"), SDD_OPTION_FROM_CACHE_ONLY);
    load(&l, &r, NULL, 0);
    CHECK_EQUAL(host.calls, 1);
    /* The application is also asked about a refresh, and about a load that skips the cache. */
    load(&l, &r, url, SDD_OPTION_REFRESH_CACHED);
    CHECK_ENDED(&r, SDD_ERROR_NOT_MODIFIED, 0);
    CHECK_EQUAL(host.calls, 2);
    get_from(&l, &r, url, SDD_OPTION_FROM_LOADER_ONLY, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(host.calls, 3);
    /* The application is not asked about a blocked URL. */
    load(&l, &r, at("/status/404?m9"), 0);
    load(&l, &r, at("/status/404?m9"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
    CHECK_EQUAL(host.calls, 4);
    record_clear(&r);
    CHECK_EQUAL(host.freed, 0);
    close_loader(&l);
    CHECK_EQUAL(host.freed, 1);
}

CASE(m9_the_application_refuses)
{
    OWNED_LOADER l = open_asking(0);
    OWNED_RECORD r = RECORD_INIT;
    const char *url = at(PICTURE "?m9-no");
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    CHECK(host.calls == 1 && hits(PICTURE "?m9-no") == 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    /* Cached pictures are still delivered, and a refresh ends with the cached picture. */
    put(l.cache.cache, url, fixture_image("png/rgb8.png"), NULL);
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    load(&l, &r, url, SDD_OPTION_REFRESH_CACHED);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(r.origin, SDD_ORIGIN_MEMORY);
    CHECK(host.calls == 2 && hits(PICTURE "?m9-no") == 0);
}

/* ----------------------------------------------------------------------------------- options_processor */

static sdd_decode_options small;

/* Turns loads of "thumb" into small pictures of another URL, and keeps "private" out of the cache. */
static void process(sdd_load_request *request, void *user_data)
{
    CHECK(user_data == &host);
    CHECK_EQUAL(request->struct_size, sizeof *request);
    host.calls++;
    request->user_data = &host; /* the processor cannot change callbacks and user data */
    request->completed = NULL;
    if (request->url == NULL) return;
    if (strstr(request->url, "thumb")) {
        request->url = host.url;
        request->decode = &small;
    } else if (strstr(request->url, "private")) {
        request->store = request->original_store = SDD_CACHE_NONE;
    } else if (strstr(request->url, "offline")) {
        request->options |= SDD_OPTION_FROM_CACHE_ONLY;
    } else if (strstr(request->url, "wrong")) {
        request->query = 77;
    }
}

CASE(b14_the_processor_changes_the_request)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    memset(&host, 0, sizeof host);
    small = inside(5);
    snprintf(host.url, sizeof host.url, "%s", at(PICTURE "?b14-other"));
    config.options_processor = process;
    config.user_data = &host;
    config.user_data_free = note_freed;
    loader_in_folder l = open_loader_over(config, NULL);
    OWNED_RECORD r = RECORD_INIT;
    get_from(&l, &r, at(PICTURE "?b14-thumb"), SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK(sdd_image_width(r.image) == 5 && hits(PICTURE "?b14-thumb") == 0 && hits(PICTURE "?b14-other") == 1);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, host.url, SDD_CACHE_ALL), SDD_CACHE_DISK);
    const char *private = at(PICTURE "?b14-private");
    get_from(&l, &r, private, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, private, SDD_CACHE_ALL), 0);
    load(&l, &r, at(PICTURE "?b14-offline"), 0);
    CHECK_ENDED(&r, SDD_ERROR_NOT_CACHED, 0);
    get_from(&l, &r, at(PICTURE "?b14-as-it-is"), 0, SDD_ORIGIN_NETWORK);
    load(&l, &r, NULL, 0);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_NULL);
    CHECK_EQUAL(host.calls, 5);
    /* The processor's request is checked like one that the application submits. */
    sdd_load_request request = record_load(&r, at(PICTURE "?b14-wrong"), 0);
    CHECK_REFUSED(sdd_loader_submit(l.loader, &request), SDD_ERROR_INVALID_ARGUMENT);
    close_loader(&l);
    CHECK_EQUAL(host.freed, 1);
}

/* ----------------------------------------------------------------------------------------------- keys */

static sdd_bytes *name_alone(const char *url, void *user_data)
{
    (void)user_data;
    const char *name = strrchr(url, '/');
    return strstr(url, "filtered") ? sdd_bytes_create(name, strlen(name)) : NULL;
}

/* Two URLs with the same key share one entry; the download uses the URL. */
CASE(b12_m22_the_filter_makes_the_key)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.key_filter = name_alone;
    cache.ignored_query_parameters = "token,X-Amz-*";
    loader_in_folder l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, cache);
    OWNED_RECORD r = RECORD_INIT;
    get_from(&l, &r, at(PICTURE "?token=1&X-Amz-Date=2&size=3"), 0, SDD_ORIGIN_NETWORK);
    get_from(&l, &r, at(PICTURE "?token=2&size=3&X-Amz-Signature=4#top"), 0, SDD_ORIGIN_MEMORY);
    CHECK_EQUAL(hits(PICTURE "?token=1&X-Amz-Date=2&size=3"), 1);
    get_from(&l, &r, at(PICTURE "?token=1&size=4"), 0, SDD_ORIGIN_NETWORK);
    get_from(&l, &r, at(PICTURE "?filtered=1"), SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, "/rgb8.png?filtered=1", SDD_CACHE_ALL), SDD_CACHE_ALL);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, at(PICTURE "?filtered=1"), SDD_CACHE_ALL), 0);
    close_loader(&l);
}

/* A request's own key is used without asking the filter. The keys of its smaller forms are derived from it. */
CASE(m22_a_key_of_its_own)
{
    sdd_cache_config cache = SDD_CACHE_CONFIG_INIT;
    cache.ignored_query_parameters = "a";
    loader_in_folder l = open_loader_of((sdd_loader_config)SDD_LOADER_CONFIG_INIT, NULL, cache);
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = inside(5);
    sdd_load_request request = record_load(&r, at(PICTURE "?key=1"), SDD_OPTION_WAIT_STORE_CACHE);
    request.cache_key = "the cat?a=1.png";
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, "the cat?a=1.png", SDD_CACHE_ALL), SDD_CACHE_ALL);
    request.url = "http://nobody.invalid/of/that/name.png";
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    request.decode = &decode;
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_image_width(r.image), 5);
    get_from(&l, &r, at(PICTURE "?key=1"), 0, SDD_ORIGIN_NETWORK);
    static const char *const bad[] = { "", "\xff" };
    for (int i = 0; i < 2; i++) {
        request.cache_key = bad[i];
        CHECK_REFUSED(sdd_loader_submit(l.loader, &request), SDD_ERROR_INVALID_ARGUMENT);
    }
    close_loader(&l);
}

/* ----------------------------------------------------------------------------------------- transforms */

static atomic_int transformed;

static sdd_image *blacken(sdd_image *image, void *user_data)
{
    CHECK(user_data == &transformed);
    transformed++;
    sdd_image *made = NULL;
    size_t size = (size_t)sdd_image_width(image) * (size_t)sdd_image_height(image) * 4;
    uint8_t *pixels = calloc(1, size);
    CHECK_STATUS(sdd_image_create(sdd_image_width(image), sdd_image_height(image), SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &made),
                 SDD_OK);
    free(pixels);
    return made;
}

static sdd_image *nothing(sdd_image *image, void *user_data)
{
    (void)image, (void)user_data;
    return NULL;
}

static sdd_transform callback_of(sdd_transform_fn function, const char *key)
{
    sdd_transform transform = SDD_TRANSFORM_INIT;
    transform.kind = SDD_TRANSFORM_CALLBACK;
    transform.callback = function;
    transform.key = key;
    transform.user_data = &transformed;
    return transform;
}

/* A transform runs once for all equal loads, and its result is stored; another key, or another order, makes another
   picture. */
CASE(m24_b15_transforms_are_told_apart_by_their_keys)
{
    enum { COUNT = 6 };
    OWNED_LOADER l = open_loader();
    record r[COUNT];
    sdd_transform list[2] = { SDD_TRANSFORM_INIT, callback_of(blacken, "black") };
    const char *url = at("/hold/b15?file=png/rgb8.png");
    list[0].kind = SDD_TRANSFORM_CROP;
    list[0].width = list[0].height = 4;
    pictures_are_transformed = 1;
    /* These loads skip the cache, so that all have joined the transfer when they are submitted. */
    sdd_load_request request = record_load(NULL, url, SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_FROM_LOADER_ONLY);
    request.transforms = list;
    request.transform_count = 2;
    for (int i = 0; i < COUNT; i++) {
        r[i] = (record)RECORD_INIT;
        request.user_data = &r[i];
        submit_load(&l, &request);
    }
    wait_for_requests("/hold/b15", 1);
    release("b15");
    for (int i = 0; i < COUNT; i++) {
        record_wait(&r[i]);
        CHECK_ENDED(&r[i], SDD_OK, 0);
        CHECK(sdd_image_width(r[i].image) == 4 && sdd_image_pixels(r[i].image)[3] == 0);
        CHECK(r[i].image == r[0].image);
    }
    CHECK_EQUAL(transformed, 1);
    for (int i = 0; i < COUNT; i++) record_clear(&r[i]);
    request.user_data = &r[0];
    request.options = SDD_OPTION_WAIT_STORE_CACHE;
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    record_clear(&r[0]);
    leave_to_disk(&l);
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(transformed, 1);
    list[1].key = "blacker";
    load_from(&l, &request, SDD_ORIGIN_DISK); /* made from the original */
    CHECK_EQUAL(transformed, 2);
    CHECK_EQUAL(requests_of("/hold/b15"), 1);
    pictures_are_transformed = 0;
    record_clear(&r[0]);
}

CASE(m24_a_transform_that_fails)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transform transform = callback_of(nothing, "nothing");
    const char *url = at(PICTURE "?m24-fails");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    request.transforms = &transform;
    request.transform_count = 1;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRANSFORM);
    /* The URL is not at fault: the untransformed picture can be loaded. */
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, url), 0);
    load(&l, &r, url, 0);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* ---------------------------------------------------------------------------- options of the download */

/* Loads with credentials have entries of their own: no other caller gets their pictures. */
CASE(z4_credentials_have_entries_of_their_own)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_credential one = SDD_CREDENTIAL_INIT, other = SDD_CREDENTIAL_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    const char *url = at(PICTURE "?who");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_WAIT_STORE_CACHE);
    one.bearer_token = "one";
    other.bearer_token = "other";
    request.transfer = &transfer;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    transfer.credential = &one;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    load_from(&l, &request, SDD_ORIGIN_MEMORY);
    transfer.credential = &other;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    transfer.credential = NULL;
    sdd_header header = { "Authorization", "Bearer third" };
    transfer.headers = &header;
    transfer.header_count = 1;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    record_clear(&r);
    leave_to_disk(&l);
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK_EQUAL(hits(PICTURE "?who"), 4);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 4);
}

static sdd_status add_field(sdd_draft *draft, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(sdd_draft_set_header(draft, "X-Modified", "yes"), SDD_OK);
    return SDD_OK;
}

static sdd_bytes *reverse(sdd_bytes *bytes, sdd_response *response, void *user_data)
{
    (void)response, (void)user_data;
    size_t size = sdd_bytes_size(bytes);
    uint8_t *turned = malloc(size + 1);
    for (size_t i = 0; i < size; i++) turned[i] = sdd_bytes_data(bytes)[size - 1 - i];
    sdd_bytes *made = sdd_bytes_create(turned, size);
    free(turned);
    return made;
}

/* A body that the application has changed is stored for loads, but is not the server's response: the HTTP cache does
   not serve it. */
CASE(a_modified_body_is_no_http_response)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    const char *url = at("/ok?size=1000&header=Cache-Control:%20max-age=600");
    sdd_load_request request = record_load(&r, url, SDD_OPTION_BYTES_ONLY | SDD_OPTION_WAIT_STORE_CACHE);
    modifiers.body_transform = reverse;
    transfer.modifiers = &modifiers;
    request.transfer = &transfer;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    OWNED_BYTES made = sdd_bytes_retain(r.bytes);
    CHECK_EQUAL(counts_of(l.cache.cache).disk_count, 1);
    request.transfer = NULL;
    request.options |= SDD_OPTION_USE_HTTP_CACHE;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK(sdd_bytes_size(r.bytes) == 1000 && memcmp(sdd_bytes_data(r.bytes), sdd_bytes_data(made), 1000) != 0);
}

/* A load has the headers and modifiers of its transfer options; the cache stores the modified body. */
CASE(z23_options_of_a_transfer_apply)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    sdd_header header = { "X-Given", "too" };
    sdd_load_request request = record_load(&r, at("/echo?z23"), SDD_OPTION_WAIT_STORE_CACHE | SDD_OPTION_BYTES_ONLY);
    modifiers.request_modifier = add_field;
    transfer.headers = &header;
    transfer.header_count = 1;
    transfer.modifiers = &modifiers;
    request.transfer = &transfer;
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK(echoes(&r, "GET /echo?z23 HTTP/1.1") && echoes(&r, "X-Modified: yes") && echoes(&r, "X-Given: too"));
    modifiers.request_modifier = NULL;
    modifiers.body_transform = reverse;
    request.url = at("/ok?text=stressed");
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK(is_text(r.bytes, "desserts"));
    load_from(&l, &request, SDD_ORIGIN_DISK);
    CHECK(is_text(r.bytes, "desserts"));
    modifiers.body_transform = NULL;
    request.url = at("/ok?size=100&z23");
    request.expected_bytes = 99;
    load_as(&l, &r, &request);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_INTEGRITY);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, request.url, SDD_CACHE_ALL), 0);
    request.expected_bytes = 0;
    transfer.accepted_status_codes = "404";
    request.url = at("/status/404?size=10&z23");
    load_from(&l, &request, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(r.http_status, 404);
}

static sdd_status sign(sdd_draft *draft, void *user_data)
{
    char url[500];
    snprintf(url, sizeof url, "%s&signature=%d", sdd_draft_url(draft), ++*(int *)user_data);
    return sdd_draft_set_url(draft, url);
}

/* Caches and failed URLs know a load by the URL that it was submitted with. */
CASE(a_signature_changes_no_key)
{
    OWNED_LOADER l = open_loader();
    OWNED_RECORD r = RECORD_INIT;
    int count = 0;
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.request_modifier = sign;
    modifiers.user_data = &count;
    CHECK_STATUS(sdd_downloader_set_modifiers(l.downloader, &modifiers), SDD_OK);
    const char *url = at(PICTURE "?signed");
    get_from(&l, &r, url, SDD_OPTION_WAIT_STORE_CACHE, SDD_ORIGIN_NETWORK);
    CHECK_EQUAL(hits(PICTURE "?signed&signature=1"), 1);
    get_from(&l, &r, url, 0, SDD_ORIGIN_MEMORY);
    leave_to_disk(&l);
    get_from(&l, &r, url, 0, SDD_ORIGIN_DISK);
    CHECK_EQUAL(sdd_cache_contains_wait(l.cache.cache, url, SDD_CACHE_DISK), SDD_CACHE_DISK);
    load(&l, &r, at("/status/404?signed"), 0);
    CHECK_EQUAL(sdd_loader_is_blocked(l.loader, at("/status/404?signed")), 1);
    load(&l, &r, at("/status/404?signed"), 0);
    CHECK_ENDED(&r, SDD_ERROR_BLOCKED, 0);
}

int main(void) { return run_cases(); }

/* Callbacks that change requests, responses and bodies: what the server sees, what is checked, what is decoded; on
   which threads they run; and that their data is freed once. The names begin with rows of the contract. */
#include "record.h"
#include "server.h"

#include <stdatomic.h>

static atomic_int frees;
static void count_free(void *user_data)
{
    CHECK(user_data == &frees || user_data == NULL);
    atomic_fetch_add(&frees, 1);
}

static int count_frees(void) { return frees; }

/* The data may be freed on any thread, and a moment after the request has ended. */
static void check_frees(int expected)
{
    if (!settles(count_frees, expected)) FAIL("freed %d times, not %d", count_frees(), expected);
}

static sdd_modifiers modifiers_of(
    sdd_request_modifier_fn request, sdd_response_modifier_fn response, sdd_body_transform_fn body)
{
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    modifiers.request_modifier = request;
    modifiers.response_modifier = response;
    modifiers.body_transform = body;
    modifiers.user_data = &frees;
    modifiers.user_data_free = count_free;
    return modifiers;
}

/* Runs a request with its own modifiers, from submission to end. */
static void fetch_modified(sdd_downloader *downloader, record *r, const char *url, const sdd_modifiers *modifiers)
{
    const sdd_transfer_options transfer = { .struct_size = sizeof transfer, .modifiers = modifiers };
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    request.url = url;
    fetch_request(downloader, r, request);
}

static sdd_downloader *downloader_with(const sdd_modifiers *modifiers)
{
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    config.modifiers = modifiers;
    network.allow_file_urls = 1;
    return make_downloader(&config);
}

/* ---------------------------------------------------------------------------------------- requests */

static pthread_t submitter;
static const char *new_url;

static sdd_status change_everything(sdd_draft *draft, void *user_data)
{
    CHECK(user_data == &frees && pthread_equal(pthread_self(), submitter));
    CHECK_TEXT(sdd_draft_method(draft), "GET");
    CHECK(strstr(sdd_draft_url(draft), "/ok?original"));
    CHECK_TEXT(sdd_draft_header(draft, "x-OWN"), "mine");
    CHECK(strncmp(sdd_draft_header(draft, "user-agent"), "libsdd/", 7) == 0);
    CHECK(sdd_draft_header(draft, "X-None") == NULL);
    CHECK_STATUS(sdd_draft_set_url(draft, new_url), SDD_OK);
    CHECK_TEXT(sdd_draft_url(draft), new_url);
    CHECK_STATUS(sdd_draft_set_header(draft, "x-own", NULL), SDD_OK);
    CHECK(sdd_draft_header(draft, "X-Own") == NULL);
    CHECK_STATUS(sdd_draft_set_header(draft, "X-New", "one"), SDD_OK);
    CHECK_STATUS(sdd_draft_set_header(draft, "x-new", "two"), SDD_OK);
    CHECK_TEXT(sdd_draft_header(draft, "X-NEW"), "two");
    CHECK_STATUS(sdd_draft_set_header(draft, "Content-Type", "text/plain"), SDD_OK);
    CHECK_STATUS(sdd_draft_set_method(draft, "PUT"), SDD_OK);
    char body[] = "changed body";
    CHECK_STATUS(sdd_draft_set_body(draft, "something else", 14), SDD_OK);
    CHECK_STATUS(sdd_draft_set_body(draft, body, strlen(body)), SDD_OK);
    memset(body, '#', sizeof body - 1);
    return SDD_OK;
}

CASE(h7_a_request_modifier_changes_what_the_server_sees)
{
    sdd_modifiers modifiers = modifiers_of(change_everything, NULL, NULL);
    sdd_header headers[] = { { "X-Own", "mine" } };
    OWNED_RECORD r = RECORD_INIT;
    submitter = pthread_self();
    new_url = at("/echo?changed");
    for (int own = 0; own < 2; own++) {
        frees = 0;
        sdd_downloader *downloader = downloader_with(own ? NULL : &modifiers);
        sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.transfer = &transfer;
        request.url = at("/ok?original");
        transfer.headers = headers;
        transfer.header_count = 1;
        transfer.modifiers = own ? &modifiers : NULL;
        fetch_request(downloader, &r, request);
        CHECK(echoes(&r, "PUT /echo?changed HTTP/1.1\r\n") && echoes(&r, "X-New: two\r\n") && !echoes(&r, "X-Own"));
        CHECK(echoes(&r, "Content-Length: 12\r\n") && echoes(&r, "changed body") && !echoes(&r, "X-New: one"));
        CHECK_TEXT(r.url, at("/ok?original")); /* the original URL */
        CHECK_TEXT(sdd_response_url(r.response), new_url);
        destroy(downloader);
        check_frees(1);
    }
}

static sdd_status drop_the_body(sdd_draft *draft, void *user_data)
{
    (void)user_data;
    CHECK_TEXT(sdd_draft_method(draft), "POST");
    return sdd_draft_set_method(draft, "GET");
}

static sdd_status remove_the_body(sdd_draft *draft, void *user_data)
{
    (void)user_data;
    return sdd_draft_set_body(draft, NULL, 0);
}

CASE(h7_a_body_may_be_removed)
{
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 2; i++) {
        sdd_modifiers modifiers = modifiers_of(i ? remove_the_body : drop_the_body, NULL, NULL);
        const sdd_transfer_options transfer = { .struct_size = sizeof transfer, .modifiers = &modifiers };
        sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
        request.transfer = &transfer;
        request.url = at("/echo?body-goes");
        request.method = "POST";
        request.body = "never sent";
        request.body_size = 10;
        fetch_request(NULL, &r, request);
        CHECK(echoes(&r, i ? "POST /echo" : "GET /echo") && !echoes(&r, "never sent"));
    }
}

static sdd_status refuse(sdd_draft *draft, void *user_data)
{
    (void)draft, (void)user_data;
    return SDD_ERROR_CANCELLED; /* any status but SDD_OK refuses */
}

CASE(h7_e5_a_modifier_may_refuse)
{
    sdd_modifiers modifiers = modifiers_of(refuse, NULL, NULL);
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    frees = 0;
    for (int i = 0; i < 2; i++) {
        if (i == 1) CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &modifiers), SDD_OK);
        fetch_modified(downloader, &r, at("/ok/refused"), i ? NULL : &modifiers);
        CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_MODIFIER);
        CHECK(r.completed_count == 1 && r.freed_count == 1 && r.stage == SDD_STAGE_SUBMIT);
        check_frees(1);
    }
    CHECK_EQUAL(requests_of("/ok/refused"), 0);
    sdd_status status = sdd_get(downloader, at("/ok/refused"), 0, 10000, NULL, NULL, NULL);
    CHECK_STATUS(status, SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
    destroy(downloader);
    check_frees(2);
}

/* Removes the query, which then must not reach the server. */
static sdd_status forget_the_query(sdd_draft *draft, void *user_data)
{
    char url[300];
    (void)user_data;
    snprintf(url, sizeof url, "%s", sdd_draft_url(draft));
    char *query = strchr(url, '?');
    if (query) *query = 0;
    return sdd_draft_set_url(draft, url);
}

static sdd_status count_up(sdd_draft *draft, void *user_data)
{
    static int number;
    char text[20];
    (void)user_data;
    snprintf(text, sizeof text, "%d", number++);
    return sdd_draft_set_header(draft, "X-Number", text);
}

/* Z4: sharing depends on the modified request. */
CASE(z4_h7_requests_share_after_modification)
{
    for (int differ = 0; differ < 2; differ++) {
        sdd_modifiers modifiers = modifiers_of(differ ? count_up : forget_the_query, NULL, NULL);
        OWNED_DOWNLOADER downloader = downloader_with(&modifiers);
        record records[4];
        sdd_token token = 0;
        for (int i = 0; i < 4; i++) {
            records[i] = (record)RECORD_INIT;
            const char *url = differ ? at("/hold/modified1") : atf("/hold/modified0?%d", i);
            token = record_submit(downloader, &records[i], url, SDD_OPTION_BYTES_ONLY);
        }
        char url[200];
        CHECK_STATUS(sdd_token_get_url(token, url, sizeof url, NULL), SDD_OK);
        CHECK_TEXT(url, atf("/hold/modified%d", differ)); /* after its modifier has run */
        wait_for_requests(differ ? "/hold/modified1" : "/hold/modified0", differ ? 4 : 1);
        release(differ ? "modified1" : "modified0");
        CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
        for (int i = 0; i < 4; i++) {
            CHECK_ENDED(&records[i], SDD_OK, 0);
            record_clear(&records[i]);
        }
        CHECK_EQUAL(requests_of(differ ? "/hold/modified1" : "/hold/modified0"), differ ? 4 : 1);
    }
}

/* ------------------------------------------------------------------------------ precedence and sharing */

static char seen[8];

static sdd_status see_request(sdd_draft *draft, void *user_data)
{
    (void)draft;
    seen[0] = *(char *)user_data;
    return SDD_OK;
}

static sdd_status see_response(sdd_response *response, sdd_response_change *change, void *user_data)
{
    CHECK(response != NULL && change != NULL);
    seen[1] = *(char *)user_data;
    return SDD_OK;
}

static sdd_bytes *see_body(sdd_bytes *body, sdd_response *response, void *user_data)
{
    CHECK(response != NULL);
    seen[2] = *(char *)user_data;
    return sdd_bytes_retain(body);
}

/* Each of the request's modifiers replaces the downloader's. */
CASE(b3_z23_a_requests_own_modifiers_take_precedence)
{
    static const char *const expected[] = { "ddd", "odd", "dod", "ddo", "ooo" };
    char of_downloader[] = "d", of_request[] = "o";
    sdd_modifiers general = SDD_MODIFIERS_INIT;
    general.request_modifier = see_request;
    general.response_modifier = see_response;
    general.body_transform = see_body;
    general.user_data = of_downloader;
    OWNED_DOWNLOADER downloader = downloader_with(&general);
    OWNED_RECORD r = RECORD_INIT;
    for (int i = 0; i < 5; i++) {
        sdd_modifiers own = SDD_MODIFIERS_INIT;
        if (i == 1 || i == 4) own.request_modifier = see_request;
        if (i == 2 || i == 4) own.response_modifier = see_response;
        if (i == 3 || i == 4) own.body_transform = see_body;
        own.user_data = of_request;
        memset(seen, 0, sizeof seen);
        fetch_modified(downloader, &r, at("/ok?win"), &own);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK_TEXT(seen, expected[i]);
    }
}

/* Writes nothing, because several decode threads call it at the same time. */
static sdd_bytes *give_the_same(sdd_bytes *body, sdd_response *response, void *user_data)
{
    CHECK(response != NULL && user_data != NULL);
    return sdd_bytes_retain(body);
}

/* Only requests with the same modifiers share a transfer, and each frees its data. */
CASE(z4_b3_the_same_modifiers_share)
{
    char a[] = "a", b[] = "b";
    record records[6];
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    frees = 0;
    for (int i = 0; i < 6; i++) {
        sdd_modifiers own = SDD_MODIFIERS_INIT;
        records[i] = (record)RECORD_INIT;
        const sdd_transfer_options transfer = { .struct_size = sizeof transfer, .modifiers = i == 5 ? NULL : &own };
        sdd_download_request request = record_request(&records[i], at("/hold/same"));
        request.transfer = &transfer;
        own.body_transform = give_the_same;
        own.user_data = i < 3 ? a : b;
        request.options = SDD_OPTION_BYTES_ONLY;
        submit(downloader, &request);
    }
    wait_for_requests("/hold/same", 3);
    release("same");
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    for (int i = 0; i < 6; i++) {
        CHECK_ENDED(&records[i], SDD_OK, 0);
        record_clear(&records[i]);
    }
    CHECK_EQUAL(requests_of("/hold/same"), 3);
}

/* --------------------------------------------------------------------------------------- responses */

static int on_a_decode_thread(void)
{
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return strncmp(name, "sdd-decode", 10) == 0;
}

/* Turns a 404 with HTML into a 200 with a picture, and the other way round. */
static sdd_status turn_round(sdd_response *response, sdd_response_change *change, void *user_data)
{
    CHECK(user_data == &frees && on_a_decode_thread());
    CHECK_EQUAL(change->struct_size, sizeof *change);
    CHECK_EQUAL(change->http_status, sdd_response_status(response));
    CHECK_TEXT(change->mime_type, sdd_response_mime_type(response));
    int was_good = change->http_status == 200;
    change->http_status = was_good ? 503 : 200;
    if (sdd_response_header(response, "X-Type-Only")) change->http_status = 200;
    change->mime_type = was_good ? "Text/HTML" : "image/png";
    return SDD_OK;
}

static sdd_status refuse_response(sdd_response *response, sdd_response_change *change, void *user_data)
{
    (void)change, (void)user_data;
    CHECK_EQUAL(sdd_response_status(response), 200);
    return SDD_ERROR_NOT_FOUND;
}

CASE(b3_e8_a_response_modifier_changes_and_refuses)
{
    sdd_modifiers turns = modifiers_of(NULL, turn_round, NULL), refuses = modifiers_of(NULL, refuse_response, NULL);
    OWNED_RECORD r = RECORD_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.transfer = &transfer;
    transfer.modifiers = &turns;
    transfer.accepted_content_types = "image/*";
    request.url = at("/status/404");
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(sdd_bytes_size(r.bytes) > 10 && sdd_response_status(r.response) == 404);
    CHECK_EQUAL(r.http_status, 200);
    request.url = at("/file/png/rgb8.png");
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0);
    CHECK(r.http_status == 503 && sdd_response_status(r.response) == 200);
    request.url = at("/file/png/rgb8.png?header=X-Type-Only:%20y");
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE, 0);
    transfer.accepted_content_types = "text/html"; /* the case of the new type does not matter */
    fetch_request(NULL, &r, request);
    CHECK_ENDED(&r, SDD_OK, 0);

    fetch_modified(NULL, &r, at("/ok?refuse"), &refuses);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_RESPONSE, 0);
    CHECK(r.error_class == SDD_CLASS_RESPONSE && r.stage == SDD_STAGE_DECODE && r.http_status == 200);
    CHECK_EQUAL(sdd_response_status(r.response), 200);
    /* The body is read to its end, and the limits apply meanwhile. */
    fetch_modified(NULL, &r, at("/cut?status=404&size=1000"), &turns);
    CHECK_ENDED(&r, SDD_ERROR_TRUNCATED_BODY, 0);
}

/* ------------------------------------------------------------------------------------------ bodies */

static sdd_bytes *decrypt(sdd_bytes *body, sdd_response *response, void *user_data)
{
    size_t size = sdd_bytes_size(body);
    uint8_t *plain = malloc(size + 1);
    CHECK(user_data == &frees && on_a_decode_thread() && response != NULL);
    for (size_t i = 0; i < size; i++) plain[i] = sdd_bytes_data(body)[i] ^ 0x5a;
    sdd_bytes *made = sdd_bytes_create(plain, size);
    free(plain);
    return made;
}

static sdd_bytes *give_nothing(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)body, (void)response, (void)user_data;
    return NULL;
}

static sdd_bytes *give_empty(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)body, (void)response, (void)user_data;
    return sdd_bytes_create(NULL, 0);
}

static sdd_bytes *kept_body;
static sdd_bytes *keep(sdd_bytes *body, sdd_response *response, void *user_data)
{
    (void)response, (void)user_data;
    kept_body = sdd_bytes_retain(body);
    return sdd_bytes_retain(body);
}

static void write_encrypted(const char *path)
{
    size_t size;
    uint8_t *bytes = fixture("png/rgb8.png", &size);
    for (size_t i = 0; i < size; i++) bytes[i] ^= 0x5a;
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    free(bytes);
}

CASE(b3_z23_a_body_transform_decrypts)
{
    sdd_modifiers decrypts = modifiers_of(NULL, NULL, decrypt), nothing = modifiers_of(NULL, NULL, give_nothing);
    sdd_modifiers empty = modifiers_of(NULL, NULL, give_empty), keeps = modifiers_of(NULL, NULL, keep);
    sdd_downloader *downloader = downloader_with(&decrypts);
    record r = RECORD_INIT;
    char path[900], url[910];
    size_t size;
    uint8_t *plain = fixture("png/rgb8.png", &size);
    snprintf(path, sizeof path, "%s/encrypted", setting("SDD_TEST_FOLDER"));
    snprintf(url, sizeof url, "file://%s", path);
    write_encrypted(path);
    for (int i = 0; i < 2; i++) {
        fetch(downloader, &r, url, i ? SDD_OPTION_BYTES_ONLY : 0);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(i ? r.image == NULL : sdd_image_width(r.image) == 19 && sdd_image_height(r.image) == 13);
        CHECK(sdd_bytes_size(r.bytes) == size && memcmp(sdd_bytes_data(r.bytes), plain, size) == 0);
    }
    /* Without the transform the body is not a picture. */
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, NULL), SDD_OK);
    fetch(downloader, &r, url, 0);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);

    fetch_modified(downloader, &r, url, &nothing);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRANSFORM);
    CHECK(r.error_class == SDD_CLASS_IMAGE && r.stage == SDD_STAGE_DECODE && r.retryable == 0);
    fetch_modified(downloader, &r, url, &empty);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), 0);
    fetch_modified(downloader, &r, at("/ok?size=1000"), &keeps);
    CHECK(r.bytes == kept_body);
    destroy(downloader);
    record_clear(&r);
    CHECK(is_pattern(sdd_bytes_data(kept_body), 1000, "/ok?size=1000"));
    sdd_bytes_release(kept_body);
    unlink(path);
    free(plain);
}

/* -------------------------------------------------------------------------- data is freed once */

static struct {
    sem_t entered, leave;
} transform;

static sdd_bytes *wait_in_transform(sdd_bytes *body, sdd_response *response, void *user_data)
{
    CHECK(response != NULL && user_data == &frees && frees == 0);
    sem_post(&transform.entered);
    take(&transform.leave);
    CHECK_EQUAL(frees, 0); /* in use */
    return sdd_bytes_retain(body);
}

CASE(z1_data_of_a_request_is_freed_once)
{
    sdd_modifiers modifiers = modifiers_of(NULL, NULL, decrypt);
    const sdd_transfer_options transfer = { .struct_size = sizeof transfer, .modifiers = &modifiers };
    sdd_downloader *downloader = make_downloader(NULL);
    OWNED_RECORD r = RECORD_INIT;
    static const char *const paths[] = { "/ok", "/reset", "/status/404", "/cut?size=1000", "/html" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        frees = 0;
        fetch_modified(downloader, &r, at(paths[i]), &modifiers);
        check_frees(1);
    }
    frees = 0;
    fetch_modified(downloader, &r, "nonsense", &modifiers);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_MALFORMED);
    check_frees(1);

    /* The request is cancelled while it waits and while it is on the network; the data of a call that returned 0 is
       never freed. */
    for (int i = 0; i < 2; i++) {
        frees = 0;
        record_clear(&r);
        sdd_download_request request = record_request(&r, at("/silence?modifiers"));
        request.transfer = &transfer;
        if (i == 1) CHECK_STATUS(sdd_downloader_suspend(downloader), SDD_OK);
        sdd_token token = submit(downloader, &request);
        CHECK_EQUAL(frees, 0);
        CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&r);
        check_frees(1);
    }
    frees = 0;
    sdd_download_request refused = SDD_DOWNLOAD_REQUEST_INIT;
    refused.transfer = &transfer;
    refused.url = at("/ok");
    CHECK_REFUSED(sdd_downloader_submit(downloader, &refused), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(frees, 0);
    CHECK_STATUS(sdd_downloader_close(downloader, SDD_CLOSE_CANCEL), SDD_OK);
    fetch_modified(downloader, &r, at("/ok"), &modifiers);
    CHECK_ENDED(&r, SDD_ERROR_INVALID_DOWNLOAD_OPERATION, SDD_DETAIL_OPERATION_CLOSED);
    check_frees(1);
    destroy(downloader);
    frees = 0;
    refused.completed = record_completed;
    CHECK_REFUSED(sdd_downloader_submit(downloader, &refused), SDD_ERROR_CLOSED);
    CHECK_EQUAL(frees, 0);
}

/* The request is cancelled, or its downloader destroyed, while a transform runs: the data lives until the transform is
   done. */
static void *destroy_elsewhere(void *downloader)
{
    destroy(downloader);
    return NULL;
}

CASE(z1_x11_data_lives_while_a_transform_runs)
{
    sem_init(&transform.entered, 0, 0);
    sem_init(&transform.leave, 0, 0);
    for (int destroys = 0; destroys < 2; destroys++) {
        sdd_modifiers modifiers = modifiers_of(NULL, NULL, wait_in_transform);
        sdd_downloader *downloader = make_downloader(NULL);
        OWNED_RECORD r = RECORD_INIT;
        pthread_t thread;
        frees = 0;
        const sdd_transfer_options transfer = { .struct_size = sizeof transfer, .modifiers = &modifiers };
        sdd_download_request request = record_request(&r, at("/ok?transform"));
        request.transfer = &transfer;
        sdd_token token = submit(downloader, &request);
        take(&transform.entered);
        if (destroys)
            pthread_create(&thread, NULL, destroy_elsewhere, downloader);
        else
            CHECK_STATUS(sdd_cancel(token), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_ERROR_CANCELLED, SDD_DETAIL_CANCELLED_DECODING);
        CHECK_EQUAL(frees, 0);
        sem_post(&transform.leave);
        if (destroys)
            pthread_join(thread, NULL);
        else
            destroy(downloader);
        check_frees(1);
    }
}

CASE(z1_data_of_a_downloader_is_freed_once)
{
    struct { sdd_modifiers known; uint64_t unknown; } newer = { modifiers_of(NULL, NULL, decrypt), 1 };
    sdd_modifiers modifiers = modifiers_of(NULL, NULL, decrypt), waits = modifiers_of(NULL, NULL, wait_in_transform);
    sdd_network_options network = SDD_NETWORK_OPTIONS_INIT;
    sdd_downloader_config config = { .struct_size = sizeof config, .network = &network };
    sdd_downloader *downloader = NULL;
    OWNED_RECORD r = RECORD_INIT;
    frees = 0;
    config.modifiers = &modifiers;
    network.max_redirects = -1;
    CHECK_STATUS(sdd_downloader_create(&config, &downloader), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(frees, 0);
    newer.known.struct_size = sizeof newer;
    downloader = make_downloader(NULL);
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &newer.known), SDD_ERROR_UNSUPPORTED);
    newer.known.struct_size = sizeof(size_t) - 1;
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &newer.known), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(frees, 0);

    /* The modifiers are replaced by others, removed, and destroyed with their downloader. */
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &modifiers), SDD_OK);
        check_frees(i);
    }
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, NULL), SDD_OK);
    check_frees(3);
    destroy(downloader);
    CHECK_EQUAL(frees, 3);
    frees = 0;
    downloader = downloader_with(&modifiers);
    fetch(downloader, &r, at("/ok"), SDD_OPTION_BYTES_ONLY);
    CHECK_EQUAL(frees, 0);
    destroy(downloader);
    check_frees(1);

    /* Modifiers that are replaced while requests use them live until the last of these ends. */
    frees = 0;
    downloader = downloader_with(&waits);
    record_clear(&r);
    record_submit(downloader, &r, at("/ok?replaced"), SDD_OPTION_BYTES_ONLY);
    take(&transform.entered);
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, NULL), SDD_OK);
    CHECK_EQUAL(frees, 0);
    sem_post(&transform.leave);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    check_frees(1);
    destroy(downloader);
    CHECK_EQUAL(frees, 1);
}

/* Functions of the library may be called inside modifiers. */
static sdd_status call_inside(sdd_draft *draft, void *downloader)
{
    sdd_statistics statistics = SDD_STATISTICS_INIT;
    CHECK_STATUS(sdd_downloader_get_statistics(downloader, &statistics), SDD_OK);
    CHECK_STATUS(sdd_set_header(downloader, "X-Inside", "1"), SDD_OK);
    return sdd_draft_set_header(draft, "X-Draft", "2");
}

static sdd_bytes *submit_inside(sdd_bytes *body, sdd_response *response, void *downloader)
{
    static record nested = RECORD_INIT;
    (void)response;
    sdd_download_request request = record_request(&nested, "nonsense");
    submit(downloader, &request);
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, NULL), SDD_OK);
    return sdd_bytes_retain(body);
}

CASE(p6_functions_may_be_called_inside_modifiers)
{
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    OWNED_RECORD r = RECORD_INIT;
    modifiers.request_modifier = call_inside;
    modifiers.body_transform = submit_inside;
    modifiers.user_data = downloader;
    CHECK_STATUS(sdd_downloader_set_modifiers(downloader, &modifiers), SDD_OK);
    fetch(downloader, &r, at("/echo?inside"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "X-Draft: 2\r\n"));
    fetch(downloader, &r, at("/echo?after"), SDD_OPTION_BYTES_ONLY);
    CHECK(echoes(&r, "X-Inside: 1\r\n") && !echoes(&r, "X-Draft"));
    destroy(downloader);
}

int main(void) { return run_cases(); }

/* Asynchronous encoding, and loads with a blocking call. */
#include "loads.h"

#include <stdatomic.h>

static void *none; /* for arguments that must not be NULL */

/* ------------------------------------------------------------------------------------------ encoding */

static sdd_image *big_image(void)
{
    static uint8_t pixels[600 * 600 * 4];
    sdd_image *image = NULL;
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * 2654435761u >> 13);
    CHECK_STATUS(sdd_image_create(600, 600, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    return image;
}

static sdd_token begin_encoding(
    record *r, sdd_image *image, sdd_downloader *downloader, const sdd_encode_options *options)
{
    sdd_token token = sdd_downloader_encode(downloader, image, options, record_completed, r, record_freed);
    CHECK(token != 0);
    return token;
}

CASE(encoding_is_a_request)
{
    static const int32_t formats[] = { 0, SDD_IMAGE_FORMAT_JPEG, SDD_IMAGE_FORMAT_PNG };
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_image *image = big_image();
    for (int i = 0; i < 3; i++) {
        sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
        sdd_bytes *expected = NULL;
        options.format = formats[i];
        sdd_token token = begin_encoding(&r, image, downloader, i ? &options : NULL);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(r.token == token && r.image == NULL && r.response == NULL && !r.has_url && r.http_status == 0);
        CHECK(r.origin == SDD_ORIGIN_NETWORK && r.metrics.attempts == 0);
        CHECK_STATUS(sdd_image_encode(image, i ? &options : NULL, &expected), SDD_OK);
        CHECK_EQUAL(sdd_bytes_size(r.bytes), sdd_bytes_size(expected));
        CHECK(memcmp(sdd_bytes_data(r.bytes), sdd_bytes_data(expected), sdd_bytes_size(expected)) == 0);
        sdd_bytes_release(expected);
        CHECK_STATUS(sdd_cancel(token), SDD_ERROR_NOT_FOUND);
        record_clear(&r);
    }
    /* The library retains the image until the end. */
    begin_encoding(&r, image, downloader, NULL);
    sdd_image_release(image);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* A request may outlive the memory that the application has lent for the image. */
CASE(z15_an_image_in_lent_memory_is_encoded)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = make_downloader(NULL);
    sdd_bytes *expected = NULL, *png = NULL;
    static uint8_t lent[600 * 600 * 4];
    sdd_image *image = big_image();
    sdd_encode_options encode = SDD_ENCODE_OPTIONS_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    encode.format = SDD_IMAGE_FORMAT_PNG;
    CHECK_STATUS(sdd_image_encode(image, &encode, &png), SDD_OK);
    sdd_image_release(image);
    decode.pixels = lent;
    decode.pixels_size = sizeof lent;
    CHECK_STATUS(sdd_image_decode(sdd_bytes_data(png), sdd_bytes_size(png), &decode, &image), SDD_OK);
    CHECK_STATUS(sdd_image_encode(image, &encode, &expected), SDD_OK);
    begin_encoding(&r, image, downloader, &encode);
    sdd_image_release(image);
    memset(lent, 0, sizeof lent);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(sdd_bytes_size(r.bytes), sdd_bytes_size(expected));
    CHECK(memcmp(sdd_bytes_data(r.bytes), sdd_bytes_data(expected), sdd_bytes_size(expected)) == 0);
    sdd_bytes_release(expected);
    sdd_bytes_release(png);
}

CASE(encoding_fails_like_the_blocking_call)
{
    record r = RECORD_INIT;
    sdd_downloader *downloader = make_downloader(NULL);
    sdd_image *image = big_image(), *lazy = NULL;
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    options.format = SDD_IMAGE_FORMAT_JPEG;
    options.max_bytes = 10;
    begin_encoding(&r, image, downloader, &options);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_DOES_NOT_FIT, 0);
    CHECK(r.error_class == SDD_CLASS_REQUEST && r.retryable == 0 && r.bytes == NULL && strstr(r.message, "max_bytes"));
    record_clear(&r);
    options.max_bytes = 0;
    options.format = SDD_IMAGE_FORMAT_WEBP;
    begin_encoding(&r, image, downloader, &options);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_ERROR_UNSUPPORTED, 0);
    record_clear(&r);
    /* The pixels are decoded during the encoding. */
    fetch(downloader, &r, at("/file/png/rgb8.png?lazy"), SDD_OPTION_AVOID_DECODE_IMAGE);
    CHECK_ENDED(&r, SDD_OK, 0);
    lazy = sdd_image_retain(r.image);
    record_clear(&r);
    begin_encoding(&r, lazy, downloader, NULL);
    record_wait(&r);
    CHECK_ENDED(&r, SDD_OK, 0);
    sdd_image_release(lazy);
    record_clear(&r);

    CHECK_REFUSED(sdd_downloader_encode(downloader, none, NULL, record_completed, &r, NULL),
                  SDD_ERROR_INVALID_ARGUMENT);
    CHECK_REFUSED(sdd_downloader_encode(downloader, image, NULL, NULL, &r, NULL), SDD_ERROR_INVALID_ARGUMENT);
    options.format = 0;
    options.quality = 101;
    CHECK_REFUSED(sdd_downloader_encode(downloader, image, &options, record_completed, &r, NULL),
                  SDD_ERROR_INVALID_ARGUMENT);
    destroy(downloader);
    CHECK_REFUSED(sdd_downloader_encode(downloader, image, NULL, record_completed, &r, NULL), SDD_ERROR_CLOSED);
    sdd_image_release(image);
    CHECK(r.completed_count == 0 && r.freed_count == 0);
}

/* The application takes the events itself; many run at once, and some are cancelled. */
CASE(encoding_ends_once)
{
    enum { MANY = 40 };
    record r[MANY];
    sdd_token tokens[MANY];
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    config.decode_threads = 2;
    sdd_downloader *downloader = make_downloader(&config);
    sdd_image *image = big_image();
    for (int i = 0; i < MANY; i++) {
        r[i] = (record)RECORD_INIT;
        tokens[i] = begin_encoding(&r[i], image, downloader, NULL);
        CHECK(i == 0 || tokens[i] != tokens[i - 1]);
    }
    for (int i = 0; i < MANY; i += 3) sdd_cancel(tokens[i]);
    CHECK_STATUS(sdd_downloader_idle_wait(downloader, -1), SDD_OK);
    for (int i = 0; i < MANY; i++) {
        CHECK(r[i].completed_count == 1 && r[i].freed_count == 1);
        if (i % 3 || r[i].error == SDD_OK) CHECK_ENDED(&r[i], SDD_OK, 0);
        else CHECK_STATUS(r[i].error, SDD_ERROR_CANCELLED);
        record_clear(&r[i]);
    }
    /* The downloader is destroyed while it encodes: the end comes all the same. */
    for (int i = 0; i < 4; i++) {
        r[i] = (record)RECORD_INIT;
        begin_encoding(&r[i], image, downloader, NULL);
    }
    sdd_image_release(image);
    destroy(downloader);
    for (int i = 0; i < 4; i++) {
        CHECK(r[i].completed_count == 1 && r[i].freed_count == 1);
        record_clear(&r[i]);
    }
}

/* --------------------------------------------------------------------------------------------- loads */

static sdd_load_request load_of(const char *url, uint64_t options)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.options = options;
    return request;
}

CASE(a_load_is_waited_for)
{
    loader_in_folder l = open_loader();
    sdd_result *loaded = NULL;
    sdd_load_request request = load_of(at("/file/png/rgb8.png?waited"), SDD_OPTION_WAIT_STORE_CACHE);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_OK);
        CHECK(loaded->struct_size == sizeof *loaded && loaded->is_terminal == 1);
        CHECK(loaded->failure.status == SDD_OK && loaded->failure.detail == 0 && loaded->image != NULL &&
              loaded->bytes != NULL);
        CHECK_TEXT(loaded->url, request.url);
        CHECK_EQUAL(loaded->origin, i == 0 ? SDD_ORIGIN_NETWORK : i == 1 ? SDD_ORIGIN_MEMORY : SDD_ORIGIN_DISK);
        CHECK_TEXT(loaded->failure.message, "");
        CHECK_EQUAL(sdd_image_width(loaded->image), 19);
        CHECK_EQUAL(sdd_response_status(loaded->response), i == 0 ? 200 : 0);
        sdd_result_release(loaded);
        if (i == 1) leave_to_disk(&l);
    }
    sdd_transform flip = SDD_TRANSFORM_INIT;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    request.transforms = &flip;
    request.transform_count = 1;
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, 60000, &loaded), SDD_OK);
    CHECK_EQUAL(loaded->is_transformed, 1);
    sdd_result_release(loaded);
    /* The caller passes no place for the result. */
    request = load_of(at("/file/png/rgb8.png?unseen"), SDD_OPTION_WAIT_STORE_CACHE);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, NULL), SDD_OK);
    request.options = SDD_OPTION_FROM_CACHE_ONLY;
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_OK);
    sdd_result_release(loaded);
    CHECK_EQUAL(sdd_loader_running_count(l.loader), 0);
    close_loader(&l);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_CLOSED);
    CHECK(loaded == NULL);
}

CASE(a_failed_load_has_a_message)
{
    OWNED_LOADER l = open_loader();
    sdd_result *loaded = NULL;
    sdd_load_request request = load_of(at("/status/404?waited"), 0);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK(loaded->failure.status == SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE && loaded->failure.http_status == 404 &&
          loaded->image == NULL);
    CHECK(strstr(loaded->failure.message, "404") != NULL && sdd_response_status(loaded->response) == 404);
    sdd_result_release(loaded);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_BLOCKED);
    CHECK(loaded->failure.message[0] != 0 && loaded->response == NULL);
    sdd_result_release(loaded);
    request = load_of("nonsense", 0);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_INVALID_URL);
    CHECK_EQUAL(loaded->failure.detail, SDD_DETAIL_URL_MALFORMED);
    sdd_result_release(loaded);
    request = load_of(at("/silence"), 0);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, 50, &loaded), SDD_ERROR_TIMEOUT);
    CHECK_EQUAL(loaded->failure.detail, SDD_DETAIL_TIMEOUT_TOTAL);
    sdd_result_release(loaded);
    /* These bits are for events. */
    static const sdd_options bits[] = { SDD_OPTION_PREVIEW_EVENTS, SDD_OPTION_PROGRESS_EVENTS, SDD_OPTION_FACTS_EVENTS,
                                        UINT64_C(1) << 60 };
    for (int i = 0; i < 4; i++) {
        request = load_of(at("/ok"), bits[i]);
        CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
        CHECK_EQUAL(loaded->failure.detail, SDD_DETAIL_OPERATION_UNKNOWN_OPTIONS);
        CHECK(i == 3 || strstr(loaded->failure.message, "waited for") != NULL);
        sdd_result_release(loaded);
    }
    /* Callbacks that would never be called, and bad structs, are refused. */
    record r = RECORD_INIT;
    request = record_load(&r, at("/ok"), 0);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(loaded == NULL);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, none, -1, &loaded), SDD_ERROR_INVALID_ARGUMENT);
    CHECK(loaded == NULL);
    CHECK(r.completed_count == 0 && r.freed_count == 0);
}

/* A refresh returns the cached picture if the server has nothing new or does not answer. */
CASE(a_refresh_is_waited_for)
{
    OWNED_LOADER l = open_loader();
    sdd_result *loaded = NULL;
    sdd_load_request request = load_of(at("/tagged?file=png/rgb8.png&refreshed"), SDD_OPTION_REFRESH_CACHED | SDD_OPTION_WAIT_STORE_CACHE);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_OK);
    sdd_result_release(loaded);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_NOT_MODIFIED);
    CHECK(loaded->image != NULL && loaded->bytes != NULL && loaded->origin == SDD_ORIGIN_MEMORY &&
          loaded->failure.message[0] != 0);
    CHECK_EQUAL(sdd_image_width(loaded->image), 19);
    sdd_result_release(loaded);
    request.url = in_turns("waits", "/file/png/rgb8.png", "/status/500");
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_OK);
    sdd_result_release(loaded);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &loaded), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK(loaded->image != NULL && loaded->failure.http_status == 500);
    sdd_result_release(loaded);
}

/* A load may be waited for inside a callback, in both delivery modes. */
static loader_in_folder *inner;
static atomic_int waited;

static void load_inside(const sdd_result *result, void *user_data)
{
    (void)user_data;
    CHECK_STATUS(result->failure.status, SDD_OK);
    sdd_result *loaded = NULL;
    sdd_load_request request = load_of(at("/file/png/rgb8.png?inside"), 0);
    CHECK_STATUS(sdd_loader_submit_wait(inner->loader, &request, 60000, &loaded), SDD_OK);
    sdd_result_release(loaded);
    waited++;
}

CASE(a_callback_may_wait)
{
    for (int mode = 0; mode < 2; mode++) {
        sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
        config.delivery = mode ? SDD_DELIVERY_APPLICATION : SDD_DELIVERY_THREAD;
        OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &config);
        inner = &l;
        waited = 0;
        CHECK(sdd_load(l.loader, at("/file/png/rgb8.png?outside"), 0, NULL, load_inside, NULL) != 0);
        CHECK_STATUS(sdd_downloader_idle_wait(l.downloader, -1), SDD_OK);
        CHECK_EQUAL(waited, 1);
    }
}

int main(void) { return run_cases(); }

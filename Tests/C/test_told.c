/* Details of results and batch items besides pictures: an item's message and response, and whether a load's transforms
   were applied. */
#include "loads.h"

/* ------------------------------------------------------------------------------------ items of batches */

enum { ITEMS = 5 };

static void check_items(sdd_batch *batch, int responses)
{
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    size_t count;
    int taken = 0;
    for (;;) {
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
        if (count == 0) break;
        taken++;
        const sdd_result *result = item.result;
        CHECK(result->struct_size == sizeof *result && result->is_terminal == 1 && result->is_transformed == 0);
        if (item.index == 0) {
            CHECK_STATUS(result->failure.status, SDD_OK);
            CHECK_TEXT(result->failure.message, "");
            if (responses) CHECK_TEXT(sdd_response_header(result->response, "X-Told"), "yes");
        } else if (item.index == 1) {
            CHECK_STATUS(result->failure.status, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
            CHECK(strstr(result->failure.message, "404") != NULL);
            if (responses) CHECK_TEXT(sdd_response_header(result->response, "X-Told"), "no");
        } else if (item.index == 2) {
            CHECK_STATUS(result->failure.status, SDD_ERROR_INVALID_URL);
            CHECK(strstr(result->failure.message, "malformed") != NULL && result->response == NULL);
        } else if (item.index == 3) {
            /* A long message is not cut. */
            size_t length = strlen(result->failure.message);
            CHECK_STATUS(result->failure.status, SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE);
            CHECK(length > 400 && result->failure.message[length - 1] == '.');
        } else {
            CHECK_STATUS(result->failure.status, SDD_ERROR_BAD_IMAGE_DATA);
            CHECK(strlen(result->failure.message) > 10);
            if (responses) CHECK_EQUAL(sdd_response_status(result->response), 200);
        }
        CHECK(responses || result->response == NULL);
        sdd_result_release(item.result);
    }
    CHECK_EQUAL(taken, ITEMS);
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
}

CASE(items_have_message_and_response)
{
    char urls[ITEMS][1024];
    const char *list[ITEMS];
    snprintf(urls[0], 1024, "%s", at("/file/png/rgb8.png?header=X-Told:%20yes&type=image/png"));
    snprintf(urls[1], 1024, "%s", at("/status/404?header=X-Told:%20no"));
    snprintf(urls[2], 1024, "nonsense");
    int length = snprintf(urls[3], 1024, "%s", at("/ok?type=x/"));
    memset(urls[3] + length, 'y', 400);
    urls[3][length + 400] = 0;
    snprintf(urls[4], 1024, "%s", at("/ok?size=100&type=image/png"));
    for (int i = 0; i < ITEMS; i++) list[i] = urls[i];
    sdd_downloader_config downloading = SDD_DOWNLOADER_CONFIG_INIT;
    downloading.accepted_content_types = "image/png,text/html";
    for (int loads = 0; loads < 2; loads++) {
        OWNED_LOADER l = open_loader_over((sdd_loader_config)SDD_LOADER_CONFIG_INIT, &downloading);
        for (int responses = 0; responses < 2; responses++) {
            sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
            sdd_batch *batch = NULL;
            if (loads) config.loader = l.loader; else config.downloader = l.downloader;
            config.urls = list;
            config.count = ITEMS;
            config.responses = responses;
            config.options = loads ? SDD_OPTION_RETRY_FAILED | SDD_OPTION_FROM_LOADER_ONLY : 0;
            CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
            check_items(batch, responses);
        }
    }
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch *batch = NULL;
    config.responses = 2;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_ERROR_INVALID_ARGUMENT);
}

/* ------------------------------------------------------------------------------------------ transforms */

typedef struct told {
    record r;
    int transformed, cached_transformed, previews;
} told;

static void told_completed(const sdd_result *result, void *user_data)
{
    told *t = user_data;
    t->transformed = result->is_transformed;
    record_completed(result, &t->r);
}

static void told_cached(const sdd_result *result, void *user_data)
{
    ((told *)user_data)->cached_transformed = result->is_transformed;
}

static void told_preview(const sdd_result *result, void *user_data)
{
    ((told *)user_data)->previews++;
    CHECK_EQUAL(result->is_transformed, 0);
}

static void told_freed(void *user_data) { record_freed(&((told *)user_data)->r); }

/* Runs a load and returns `transformed` of its result or, if nothing was modified, of its cached image. */
static int load_told(loader_in_folder *l, sdd_load_request request, int32_t origin)
{
    told t = { .r = RECORD_INIT, .transformed = -1, .cached_transformed = -1 };
    request.progress = NULL;
    request.completed = told_completed;
    request.cached = request.options & SDD_OPTION_REFRESH_CACHED ? told_cached : NULL;
    request.preview = told_preview;
    request.user_data = &t;
    request.user_data_free = told_freed;
    submit_load(l, &request);
    record_wait(&t.r);
    if (t.r.error != SDD_ERROR_NOT_MODIFIED) CHECK_ENDED(&t.r, SDD_OK, 0);
    CHECK_EQUAL(t.r.origin, t.r.error == SDD_OK ? origin : SDD_ORIGIN_NONE);
    int transformed = t.r.error == SDD_OK ? t.transformed : t.cached_transformed;
    record_clear(&t.r);
    return transformed;
}

static sdd_load_request load_of(const char *url, const sdd_transform *transforms, size_t count)
{
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    request.url = url;
    request.options = SDD_OPTION_WAIT_STORE_CACHE;
    request.transforms = transforms;
    request.transform_count = count;
    return request;
}

CASE(results_report_transforms)
{
    OWNED_LOADER l = open_loader();
    sdd_transform flip = SDD_TRANSFORM_INIT, nothing = SDD_TRANSFORM_INIT;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    nothing.kind = SDD_TRANSFORM_RESIZE;
    nothing.width = nothing.height = 10000;
    const char *still = at("/file/png/rgb8.png?told"), *animated = at("/file/frames/as-pillow.png?told");

    sdd_load_request request = load_of(still, NULL, 0);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 0);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_MEMORY), 0);
    /* The picture is made from the cached original, and then stored. */
    request = load_of(still, &flip, 1);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_DISK), 1);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_MEMORY), 1);
    leave_to_disk(&l);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_DISK), 1);
    request.options |= SDD_OPTION_FROM_LOADER_ONLY;
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 1);
    request = load_of(still, &nothing, 1);
    request.options |= SDD_OPTION_FROM_LOADER_ONLY;
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 1);
    /* Bytes alone are not transformed. */
    request = load_of(still, &flip, 1);
    request.options |= SDD_OPTION_BYTES_ONLY;
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_DISK), 0);

    /* An animated picture is not transformed, unless it becomes a still one. */
    request = load_of(animated, &flip, 1);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 0);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_MEMORY), 0);
    request.options |= SDD_OPTION_TRANSFORM_ANIMATED_IMAGE | SDD_OPTION_FROM_LOADER_ONLY;
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 1);
    /* The cached image of a refresh is marked as transformed, too. */
    request = load_of(at("/tagged?file=png/rgb8.png&told"), &flip, 1);
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 1);
    request.options |= SDD_OPTION_REFRESH_CACHED;
    CHECK_EQUAL(load_told(&l, request, SDD_ORIGIN_NETWORK), 1);
}

int main(void) { return run_cases(); }

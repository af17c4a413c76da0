/* Batches of loads: cached items need no network. */
#include "loads.h"

#include <stdatomic.h>

/* Takes all items. Returns how many came from the network, or -1 if one failed. */
static int take_all(sdd_batch *batch, size_t total)
{
    size_t taken = 0, count;
    int from_network = 0;
    sdd_batch_item items[8] = { SDD_BATCH_ITEM_INIT };
    do {
        CHECK_STATUS(sdd_batch_wait(batch, items, 8, -1, &count), SDD_OK);
        for (size_t i = 0; i < count; i++) {
            CHECK_STATUS(items[i].result->failure.status, SDD_OK);
            CHECK(items[i].slot >= 0 || items[i].result->image != NULL || items[i].result->bytes != NULL);
            from_network += items[i].result->origin == SDD_ORIGIN_NETWORK;
            sdd_result_release(items[i].result);
        }
        taken += count;
    } while (count);
    CHECK_EQUAL(taken, total);
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    return from_network;
}

static const char *urls[20];

/* Makes 20 URLs of a path of the server, which a number follows. */
static void name_urls(const char *path)
{
    static char texts[20][200];
    for (int i = 0; i < 20; i++) {
        snprintf(texts[i], sizeof texts[i], "%s%d", at(path), i);
        urls[i] = texts[i];
    }
}

/* Returns a tensor of 20 pictures of 8 x 8 pixels. */
static sdd_tensor tensor_over(uint8_t *pixels)
{
    sdd_tensor tensor = SDD_TENSOR_INIT;
    tensor.pixels = pixels;
    tensor.slot_count = 20;
    tensor.width = tensor.height = 8;
    return tensor;
}

static sdd_batch *begin(loader_in_folder *l, const sdd_tensor *tensor, uint64_t options)
{
    sdd_batch *batch = NULL;
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    config.loader = l->loader;
    config.urls = urls;
    config.count = 20;
    config.tensor = tensor;
    config.options = options;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_OK);
    return batch;
}

CASE(z14_cached_items_are_not_downloaded)
{
    OWNED_LOADER l = open_loader();
    name_urls("/file/png/rgb8.png?batch=");
    static uint8_t pixels[20 * 8 * 8 * 3], again[sizeof pixels];
    sdd_tensor tensor = tensor_over(pixels);
    CHECK_EQUAL(take_all(begin(&l, &tensor, 0), 20), 20);
    CHECK_EQUAL(counts_of(l.cache.cache).memory_count, 0);
    tensor.pixels = again;
    CHECK_EQUAL(take_all(begin(&l, &tensor, 0), 20), 0);
    CHECK(memcmp(pixels, again, sizeof pixels) == 0);
    CHECK_EQUAL(take_all(begin(&l, NULL, SDD_OPTION_BYTES_ONLY), 20), 0);
    CHECK_EQUAL(take_all(begin(&l, NULL, 0), 20), 0);
    CHECK_EQUAL(counts_of(l.cache.cache).memory_count, 20);
    CHECK_EQUAL(hits("/file/png/rgb8.png"), 20);
}

/* An item is a picture, also if the server says that the cached one is still valid. */
CASE(z14_m12_unchanged_items_are_handed_out)
{
    OWNED_LOADER l = open_loader();
    name_urls("/tagged?file=png/rgb8.png&batch=");
    static uint8_t pixels[20 * 8 * 8 * 3], again[sizeof pixels];
    sdd_tensor tensor = tensor_over(pixels);
    CHECK_EQUAL(take_all(begin(&l, &tensor, SDD_OPTION_REFRESH_CACHED), 20), 20);
    tensor.pixels = again;
    CHECK_EQUAL(take_all(begin(&l, &tensor, SDD_OPTION_REFRESH_CACHED), 20), 0);
    CHECK(memcmp(pixels, again, sizeof pixels) == 0);
    CHECK_EQUAL(take_all(begin(&l, NULL, SDD_OPTION_REFRESH_CACHED), 20), 0);
    CHECK_EQUAL(hits("/tagged"), 60);
}

/* Fills a tensor with 20 pictures, each of which has Display P3, and tells how many were converted. */
static int fill_in_colours(loader_in_folder *l, sdd_colour colour, uint8_t *pixels, size_t struct_size)
{
    sdd_tensor tensor = tensor_over(pixels);
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    int converted = 0;
    size_t count;
    tensor.struct_size = struct_size;
    tensor.colour = colour;
    sdd_batch *batch = begin(l, &tensor, 0);
    while (sdd_batch_wait(batch, &item, 1, -1, &count) == SDD_OK && count) {
        CHECK_STATUS(item.result->failure.status, SDD_OK);
        CHECK_EQUAL(item.colour_kind, SDD_COLOUR_KIND_MATRIX);
        converted += item.is_converted;
        sdd_result_release(item.result);
    }
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    return converted;
}

CASE(z14_a_tensor_of_a_loader_is_in_srgb_unless_told)
{
    enum { SLOT = 8 * 8 * 3 };
    static uint8_t usual[20 * SLOT], stored[sizeof usual], pixels[sizeof usual];
    static const sdd_colour colours[] = { SDD_COLOUR_DEFAULT, SDD_COLOUR_AS_STORED, SDD_COLOUR_SRGB };
    OWNED_LOADER l = open_loader();
    name_urls("/file/colour/display-p3.jpg?batch=");
    CHECK_EQUAL(fill_in_colours(&l, SDD_COLOUR_AS_STORED, stored, sizeof(sdd_tensor)), 0); /* from the network */
    CHECK_EQUAL(fill_in_colours(&l, SDD_COLOUR_DEFAULT, usual, sizeof(sdd_tensor)), 20);
    CHECK(memcmp(usual, stored, SLOT) != 0);
    for (size_t i = 0; i < 3; i++) {
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        sdd_image *image = NULL;
        size_t size;
        uint8_t *bytes = fixture("colour/display-p3.jpg", &size);
        int is_stored = colours[i] == SDD_COLOUR_AS_STORED;
        CHECK_EQUAL(fill_in_colours(&l, colours[i], pixels, sizeof(sdd_tensor)), is_stored ? 0 : 20);
        options.pixel_format = SDD_PIXEL_FORMAT_RGB8;
        options.fit = SDD_FIT_FILL;
        options.target_width = options.target_height = 8;
        options.colour = is_stored ? SDD_COLOUR_AS_STORED : SDD_COLOUR_SRGB;
        CHECK_STATUS(sdd_image_decode(bytes, size, &options, &image), SDD_OK);
        for (int slot = 0; slot < 20; slot++)
            CHECK(memcmp(pixels + slot * SLOT, sdd_image_pixels(image), SLOT) == 0);
        sdd_image_release(image);
        free(bytes);
    }
    /* An older struct ends before the field, whatever lies there. */
    CHECK_EQUAL(fill_in_colours(&l, SDD_COLOUR_AS_STORED, pixels, offsetof(sdd_tensor, colour)), 20);
    CHECK_EQUAL(hits("/file/colour/display-p3.jpg"), 20);
}

/* ---------------------------------------------------------------- items changed by an options processor */

static atomic_int freed;

static void count_freed(void *user_data)
{
    (void)user_data;
    freed++;
}

static sdd_status modify_nothing(sdd_draft *draft, void *user_data)
{
    (void)draft, (void)user_data;
    return SDD_OK;
}

static void give_modifiers(sdd_load_request *request, void *user_data)
{
    static sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    static sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    (void)user_data;
    modifiers.request_modifier = modify_nothing;
    modifiers.user_data_free = count_freed;
    transfer.modifiers = &modifiers;
    request->transfer = &transfer;
    request->options |= SDD_OPTION_BYTES_ONLY;
}

static void spoil(sdd_load_request *request, void *user_data)
{
    (void)user_data;
    request->priority = 6;
}

static void lend_pixels(sdd_load_request *request, void *user_data)
{
    static uint8_t pixels[1 << 16];
    static sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    (void)user_data;
    decode.pixels = pixels;
    decode.pixels_size = sizeof pixels;
    request->decode = &decode;
}

static loader_in_folder open_processing(sdd_options_processor_fn processor)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    config.options_processor = processor;
    return open_loader_over(config, NULL);
}

CASE(b14_modifiers_of_a_processor_are_freed)
{
    loader_in_folder l = open_processing(give_modifiers);
    for (int i = 0; i < 20; i++) urls[i] = "data:,x";
    CHECK_EQUAL(take_all(begin(&l, NULL, SDD_OPTION_BYTES_ONLY), 20), 20);
    close_loader(&l);
    CHECK_EQUAL(freed, 20);
}

CASE(b14_a_processor_may_make_bad_requests)
{
    for (int lends = 0; lends < 2; lends++) {
        OWNED_LOADER l = open_processing(lends ? lend_pixels : spoil);
        sdd_detail detail = lends ? SDD_DETAIL_OPERATION_BAD_DECODE : SDD_DETAIL_OPERATION_BAD_NUMBER;
        sdd_batch *batch = begin(&l, NULL, 0);
        for (size_t taken = 0, count; taken < 20; taken += count) {
            sdd_batch_item item = SDD_BATCH_ITEM_INIT;
            CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
            CHECK_STATUS(item.result->failure.status, SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
            CHECK_EQUAL(item.result->failure.detail, detail);
            sdd_result_release(item.result);
        }
        CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    }
}

static void check_lent(sdd_token token, size_t index, const sdd_result *result, void *user_data)
{
    (void)token, (void)index, (void)user_data;
    CHECK_EQUAL(result->failure.detail, SDD_DETAIL_OPERATION_BAD_DECODE);
}

static void check_skipped(const sdd_prefetch_report *report, void *user_data)
{
    (void)user_data;
    CHECK(report->skipped == 20 && report->total == 20);
}

static void want_bytes(sdd_load_request *request, void *user_data)
{
    (void)user_data;
    request->options |= SDD_OPTION_BYTES_ONLY;
}

CASE(b14_z14_an_item_without_pixels_counts_as_failed)
{
    OWNED_LOADER l = open_processing(want_bytes);
    static uint8_t pixels[20 * 8 * 8 * 3];
    sdd_tensor tensor = tensor_over(pixels);
    sdd_batch_statistics counts = SDD_BATCH_STATISTICS_INIT;
    sdd_batch_status kind = SDD_BATCH_STATUS_INIT;
    sdd_batch_host host = SDD_BATCH_HOST_INIT;
    name_urls("/file/png/rgb8.png?bytes=");
    sdd_batch *batch = begin(&l, &tensor, 0);
    for (size_t taken = 0, count; taken < 20; taken += count) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        CHECK_STATUS(sdd_batch_wait(batch, &item, 1, -1, &count), SDD_OK);
        CHECK_STATUS(item.result->failure.status, SDD_ERROR_BAD_IMAGE_DATA);
        sdd_result_release(item.result);
    }
    CHECK_STATUS(sdd_batch_get_statistics(batch, &counts), SDD_OK);
    CHECK(counts.items == 20 && counts.succeeded == 0 && counts.failed == 20);
    CHECK_STATUS(sdd_batch_get_status(batch, 0, &kind), SDD_OK);
    CHECK(kind.items == 20 && kind.failure.status == SDD_ERROR_BAD_IMAGE_DATA);
    CHECK_STATUS(sdd_batch_get_status(batch, 1, &kind), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_batch_get_host(batch, 0, &host), SDD_OK);
    CHECK(host.items == 20 && host.failed == 20);
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
}

CASE(b14_z15_a_list_has_no_buffer)
{
    OWNED_LOADER l = open_processing(lend_pixels);
    for (int i = 0; i < 20; i++) urls[i] = "data:,x";
    prefetch_all(&l, urls, 20, check_lent, check_skipped);
}

CASE(a_loader_has_a_downloader_of_its_own)
{
    loader_in_folder l = open_loader();
    sdd_batch *batch = NULL;
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    config.loader = l.loader;
    config.downloader = l.downloader;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_ERROR_INVALID_ARGUMENT);
    sdd_loader *dead = l.loader;
    close_loader(&l);
    config.loader = dead;
    config.downloader = NULL;
    CHECK_STATUS(sdd_batch_create(&config, &batch), SDD_ERROR_CLOSED);
}

int main(void) { return run_cases(); }

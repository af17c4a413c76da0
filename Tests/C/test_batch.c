/* Batches: many URLs in, each item out once, and all pixels in one tensor. */
#include "record.h"
#include "server.h"

#include <poll.h>

static sdd_downloader *downloader;

static sdd_batch_config config_of(const char *const *urls, size_t count)
{
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    config.downloader = downloader;
    config.urls = urls;
    config.count = count;
    return config;
}

static sdd_batch *make_batch(const sdd_batch_config *config)
{
    sdd_batch *batch = NULL;
    CHECK_STATUS(sdd_batch_create(config, &batch), SDD_OK);
    CHECK(batch != NULL);
    return batch;
}

static void end_batch(sdd_batch *batch)
{
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_ERROR_CLOSED);
}

static void let_go(sdd_batch_item *item)
{
    sdd_result_release(item->result);
}

/* Waits for one item. Returns 0 when all have been taken. */
static int take_one(sdd_batch *batch, sdd_batch_item *item)
{
    size_t count = 7;
    *item = (sdd_batch_item)SDD_BATCH_ITEM_INIT;
    CHECK_STATUS(sdd_batch_wait(batch, item, 1, -1, &count), SDD_OK);
    CHECK(count <= 1);
    return (int)count;
}

static sdd_status take_now(sdd_batch *batch)
{
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    size_t count = 7;
    sdd_status status = sdd_batch_wait(batch, &item, 1, 0, &count);
    if (status == SDD_OK && count) let_go(&item);
    return status;
}

static int is_readable(sdd_batch *batch)
{
    struct pollfd descriptor = { sdd_batch_event_fd(batch), POLLIN, 0 };
    CHECK(descriptor.fd >= 0);
    return poll(&descriptor, 1, 0) == 1;
}

/* Waits until so many items have ended. */
static void wait_for_ends(sdd_batch *batch, int64_t count)
{
    sdd_batch_statistics statistics = SDD_BATCH_STATISTICS_INIT;
    do {
        sched_yield();
        CHECK_STATUS(sdd_batch_get_statistics(batch, &statistics), SDD_OK);
    } while (statistics.items < count);
}

/* ---------------------------------------------------------------------------------------- items */

enum { MANY = 200 };
static char made_urls[MANY][128];
static const char *many[MANY];

static void make_urls(const char *path)
{
    for (int i = 0; i < MANY; i++) {
        snprintf(made_urls[i], sizeof made_urls[i], "%s&number=%d", at(path), i);
        many[i] = made_urls[i];
    }
}

CASE(z14_each_item_is_taken_once)
{
    static uint64_t ids[MANY];
    sdd_batch_item items[7];
    int seen[MANY] = { 0 }, taken = 0;
    size_t count;
    make_urls("/ok?size=300");
    for (int i = 0; i < MANY; i++) ids[i] = 1000000000000u + (uint64_t)i * 3;
    sdd_batch_config config = config_of(many, MANY);
    config.ids = ids;
    config.options = SDD_OPTION_BYTES_ONLY;
    sdd_batch *batch = make_batch(&config);
    memset(ids, 0, sizeof ids); /* they were copied */
    memset(made_urls, 'x', sizeof made_urls);
    for (;;) {
        items[0] = (sdd_batch_item)SDD_BATCH_ITEM_INIT;
        CHECK_STATUS(sdd_batch_wait(batch, items, 7, -1, &count), SDD_OK);
        if (count == 0) break;
        for (size_t i = 0; i < count; i++) {
            int64_t index = items[i].index;
            char target[64];
            CHECK(index >= 0 && index < MANY && !seen[index]++);
            CHECK_EQUAL(items[i].id, 1000000000000 + index * 3);
            CHECK(items[i].result->failure.status == SDD_OK && items[i].result->failure.detail == 0 &&
                  items[i].result->failure.http_status == 200);
            CHECK(items[i].slot == -1 && items[i].result->image == NULL && items[i].result->metrics->total_us > 0);
            snprintf(target, sizeof target, "/ok?size=300&number=%d", (int)index);
            CHECK_EQUAL(sdd_bytes_size(items[i].result->bytes), 300);
            CHECK(is_pattern(sdd_bytes_data(items[i].result->bytes), 300, target));
            let_go(&items[i]);
            taken++;
        }
    }
    CHECK_EQUAL(taken, MANY);
    sdd_batch_statistics all = SDD_BATCH_STATISTICS_INIT;
    CHECK_STATUS(sdd_batch_get_statistics(batch, &all), SDD_OK);
    CHECK(all.items == MANY && all.succeeded == MANY && all.failed == 0 && all.cancelled == 0 && all.pixels == 0);
    CHECK(all.bytes == 300 * MANY && all.elapsed_us > 0 && all.items_per_second > 0);
    double rate = (double)all.bytes / (double)all.elapsed_us * 1e6;
    CHECK(all.bytes_per_second > rate * 0.99 && all.bytes_per_second < rate * 1.01);
    end_batch(batch);
}

CASE(z14_items_come_in_order_if_that_is_asked_for)
{
    const char *urls[] = { at("/hold/first?size=9"), at("/ok?size=8"), at("/ok?size=7") };
    sdd_batch_config config = config_of(urls, 3);
    config.options = SDD_OPTION_BYTES_ONLY;
    config.order = SDD_BATCH_ORDERED;
    sdd_batch *batch = make_batch(&config);
    sdd_batch_item item;
    wait_for_ends(batch, 2);
    CHECK_STATUS(take_now(batch), SDD_ERROR_TIMEOUT);
    CHECK(!is_readable(batch));
    release("first");
    for (int i = 0; i < 3; i++) {
        CHECK(take_one(batch, &item));
        CHECK(item.index == i && item.id == (uint64_t)i && sdd_bytes_size(item.result->bytes) == (size_t)(9 - i));
        let_go(&item);
    }
    CHECK(!take_one(batch, &item) && is_readable(batch));
    end_batch(batch);
    config.order = SDD_BATCH_AS_COMPLETED;
    urls[0] = at("/hold/last?size=9");
    batch = make_batch(&config);
    for (int i = 0; i < 2; i++) {
        CHECK(take_one(batch, &item) && item.index != 0);
        let_go(&item);
    }
    CHECK_STATUS(take_now(batch), SDD_ERROR_TIMEOUT);
    release("last");
    CHECK(take_one(batch, &item) && item.index == 0);
    let_go(&item);
    end_batch(batch);
}

/* ------------------------------------------------------------------------------- a function */

typedef struct giver {
    sdd_batch *batch;
    pthread_t thread;
    int given, count;
    char url[128]; /* copied after the function has returned */
} giver;

static int32_t give(sdd_batch_source *item, void *user_data)
{
    giver *g = user_data;
    CHECK(pthread_equal(pthread_self(), g->thread) && item->struct_size == sizeof *item);
    CHECK(item->url == NULL && item->id == 0);
    if (g->batch) {
        size_t count;
        sdd_batch_item other = SDD_BATCH_ITEM_INIT;
        CHECK_STATUS(sdd_batch_wait(g->batch, &other, 1, -1, &count), SDD_ERROR_WOULD_DEADLOCK);
        CHECK_STATUS(sdd_batch_destroy(g->batch), SDD_ERROR_WOULD_DEADLOCK);
    }
    if (g->given == g->count) return 0;
    snprintf(g->url, sizeof g->url, "%s&number=%d", at("/ok?size=20"), g->given);
    item->url = g->url;
    item->id = 500 + (uint64_t)g->given++;
    return 1;
}

CASE(z14_a_function_gives_items_to_a_waiting_application)
{
    giver g = { NULL, pthread_self(), 0, 50, "" };
    sdd_batch_config config = config_of(NULL, 0);
    sdd_batch_item item;
    int taken = 0;
    config.next = give;
    config.user_data = &g;
    config.look_ahead = 5;
    config.options = SDD_OPTION_BYTES_ONLY;
    sdd_batch *batch = make_batch(&config);
    CHECK_EQUAL(g.given, 5);
    g.batch = batch;
    while (take_one(batch, &item)) {
        CHECK(item.result->failure.status == SDD_OK && item.id == 500 + (uint64_t)item.index);
        let_go(&item);
        taken++;
        CHECK(g.given <= taken + 5);
    }
    CHECK(taken == 50 && g.given == 50);
    end_batch(batch);
}

/* --------------------------------------------------------------------------------- bad items */

static int64_t items_with(sdd_batch *batch, sdd_status error, int32_t detail, int32_t http_status)
{
    sdd_batch_status status = SDD_BATCH_STATUS_INIT;
    for (size_t i = 0; sdd_batch_get_status(batch, i, &status) == SDD_OK; i++)
        if (status.failure.status == error && status.failure.detail == detail &&
            status.failure.http_status == http_status)
            return status.items;
    return 0;
}

CASE(z14_one_bad_item_does_not_stop_the_others)
{
    const char *urls[] = { NULL, "gopher://x/", at("/status/404"), at("/html"), at("/status/404?2"),
                           at("/file/png/rgb8.png"), "", at("/cut?file=png/rgb8.png") };
    enum { COUNT = sizeof urls / sizeof *urls, SIZE = 8 * 6 * 3 };
    uint8_t *pixels = malloc(COUNT * SIZE);
    memset(pixels, 0xa5, COUNT * SIZE);
    sdd_tensor tensor = SDD_TENSOR_INIT;
    tensor.pixels = pixels;
    tensor.slot_count = COUNT;
    tensor.width = 8;
    tensor.height = 6;
    sdd_batch_config config = config_of(urls, COUNT);
    config.tensor = &tensor;
    sdd_batch *batch = make_batch(&config);
    sdd_batch_item item;
    for (int i = 0; i < COUNT; i++) {
        CHECK(take_one(batch, &item));
        CHECK(item.slot == item.index && item.result->image == NULL && item.result->bytes == NULL);
        CHECK_EQUAL(item.result->failure.status == SDD_OK, item.index == 5);
        int64_t sum = 0;
        for (int byte = 0; byte < SIZE; byte++) sum += pixels[item.slot * SIZE + byte];
        CHECK_EQUAL(sum > 0, item.index == 5);
        CHECK(item.result->failure.status || (item.width == 8 && item.height == 6));
        CHECK(!item.result->failure.status || (item.width == 0 && item.height == 0));
        CHECK(item.colour_kind == SDD_COLOUR_KIND_UNSTATED && !item.is_converted);
        let_go(&item);
    }
    CHECK(!take_one(batch, &item));
    CHECK_EQUAL(items_with(batch, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_NULL, 0), 1);
    CHECK_EQUAL(items_with(batch, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_EMPTY, 0), 1);
    CHECK_EQUAL(items_with(batch, SDD_ERROR_INVALID_URL, SDD_DETAIL_URL_SCHEME, 0), 1);
    CHECK_EQUAL(items_with(batch, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE, 0, 404), 2);
    CHECK_EQUAL(items_with(batch, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT, 200), 1);
    CHECK_EQUAL(items_with(batch, SDD_OK, 0, 200), 1);
    sdd_batch_host host = SDD_BATCH_HOST_INIT;
    int64_t items = 0, failed = 0;
    size_t hosts = 0;
    while (sdd_batch_get_host(batch, hosts, &host) == SDD_OK) {
        items += host.items;
        failed += host.failed;
        if (strcmp(host.host, strstr(setting("SDD_TEST_SERVER"), "//") + 2) == 0) CHECK_EQUAL(host.items, 5);
        hosts++;
    }
    CHECK(hosts == 3 && items == COUNT && failed == COUNT - 1); /* the server, "x", and no host */
    CHECK_STATUS(sdd_batch_get_host(batch, SIZE_MAX, &host), SDD_ERROR_NOT_FOUND);
    end_batch(batch);
    free(pixels);
}

CASE(z14_an_item_is_tried_as_often_as_is_said)
{
    const char *urls[] = { at("/status/503?again"), at("/status/404?again") };
    sdd_batch_config config = config_of(urls, 2);
    sdd_batch_item item;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    transfer.max_attempts = 2;
    config.transfer = &transfer;
    sdd_batch *batch = make_batch(&config);
    for (int i = 0; i < 2; i++) {
        CHECK(take_one(batch, &item));
        CHECK_STATUS(item.result->failure.status, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
        let_go(&item);
    }
    CHECK_EQUAL(requests_of("/status/503"), 2);
    CHECK_EQUAL(requests_of("/status/404%3Fagain"), 1);
    end_batch(batch);
}

/* ------------------------------------------------------------------------------------- tensors */

static const char *const pictures[] = { "png/rgb8.png", "jpeg/baseline-420.jpg", "jpeg/progressive-420.jpg",
                                        "facts/orientation.png", "png/grey-alpha8.png", "jpeg/size-17x3.jpg",
                                        "colour/display-p3.jpg", "colour/glass.png", "colour/srgb.png" };
enum { PICTURES = sizeof pictures / sizeof *pictures, CONVERTED = 2, GAP = 5 };

/* Decodes the same picture with sdd_image_decode(). */
static sdd_image *decoded(const char *name, const sdd_tensor *tensor)
{
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL;
    size_t size;
    uint8_t *bytes = fixture(name, &size);
    options.pixel_format = tensor->layout == SDD_TENSOR_CHW ? SDD_PIXEL_FORMAT_RGB8_PLANAR
                           : tensor->pixel_format           ? tensor->pixel_format
                                                            : SDD_PIXEL_FORMAT_RGB8;
    options.fit = tensor->fit == SDD_FIT_DEFAULT ? SDD_FIT_FILL : tensor->fit;
    options.target_width = tensor->width;
    options.target_height = tensor->height;
    options.allow_enlarging = 1;
    options.background = tensor->background;
    options.colour = tensor->colour;
    CHECK_STATUS(sdd_image_decode(bytes, size, &options, &image), SDD_OK);
    free(bytes);
    return image;
}

/* Checks that a slot has this picture at its top left, and zeros elsewhere. */
static void check_slot(const uint8_t *slot, sdd_image *image, const sdd_tensor *tensor)
{
    int planes = tensor->layout == SDD_TENSOR_CHW ? 3 : 1;
    int pixel = tensor->layout == SDD_TENSOR_CHW || tensor->pixel_format == SDD_PIXEL_FORMAT_GREY8 ? 1
                : tensor->pixel_format == SDD_PIXEL_FORMAT_RGBA8                                   ? 4
                                                                                                   : 3;
    int width = sdd_image_width(image), height = sdd_image_height(image);
    if (tensor->fit != SDD_FIT_INSIDE) CHECK(width == tensor->width && height == tensor->height);
    const uint8_t *pixels = sdd_image_pixels(image);
    for (int plane = 0; plane < planes; plane++)
        for (int y = 0; y < tensor->height; y++)
            for (int x = 0; x < tensor->width * pixel; x++) {
                int is_inside = y < height && x < width * pixel;
                uint8_t expected =
                    is_inside ? pixels[((size_t)plane * (size_t)height + (size_t)y) * sdd_image_stride(image) + (size_t)x] : 0;
                CHECK_EQUAL(slot[(plane * tensor->height + y) * tensor->width * pixel + x], expected);
            }
}

static void fill_and_compare(int32_t format, int32_t layout, int32_t fit, int32_t slots, sdd_colour colour)
{
    enum { WIDTH = 24, HEIGHT = 20, COUNT = 2 * PICTURES };
    const char *urls[COUNT];
    static char texts[COUNT][200];
    int channels = format == SDD_PIXEL_FORMAT_RGBA8 ? 4 : format == SDD_PIXEL_FORMAT_GREY8 ? 1 : 3;
    size_t slot_bytes = (size_t)(WIDTH * HEIGHT * channels), stride = slot_bytes + GAP;
    size_t slot_count = slots == SDD_TENSOR_NEXT_SLOT ? 2 : COUNT;
    uint8_t *memory = malloc(slot_count * stride);
    int in_use[COUNT] = { 0 };
    sdd_tensor tensor = SDD_TENSOR_INIT;
    memset(memory, 0xa5, slot_count * stride);
    tensor.pixels = memory;
    tensor.slot_count = slot_count;
    tensor.slot_stride = stride;
    tensor.width = WIDTH;
    tensor.height = HEIGHT;
    tensor.pixel_format = format;
    tensor.layout = layout;
    tensor.fit = fit;
    tensor.slot_choice = slots;
    tensor.background = 0x3366cc;
    tensor.colour = colour;
    for (int i = 0; i < COUNT; i++) { /* each picture twice */
        snprintf(texts[i], sizeof texts[i], "%s", atf("/file/%s", pictures[i % PICTURES]));
        urls[i] = texts[i];
    }
    sdd_batch_config config = config_of(urls, COUNT);
    config.tensor = &tensor;
    sdd_batch *batch = make_batch(&config);
    sdd_batch_item item;
    int taken = 0, converted = 0;
    for (; take_one(batch, &item); taken++) {
        CHECK_STATUS(item.result->failure.status, SDD_OK);
        CHECK(item.slot >= 0 && (size_t)item.slot < slot_count && !in_use[item.slot]++);
        if (slots == SDD_TENSOR_SLOT_OF_INDEX) CHECK_EQUAL(item.slot, item.index);
        sdd_image *image = decoded(pictures[item.index % PICTURES], &tensor);
        CHECK(item.width == sdd_image_width(image) && item.height == sdd_image_height(image));
        sdd_image_info info = SDD_IMAGE_INFO_INIT;
        CHECK_STATUS(sdd_image_get_info(image, &info), SDD_OK);
        CHECK(item.colour_kind == info.colour_kind && item.is_converted == info.is_converted);
        converted += item.is_converted;
        const uint8_t *slot = memory + (size_t)item.slot * stride;
        check_slot(slot, image, &tensor);
        for (int i = 0; i < GAP; i++) CHECK_EQUAL(slot[slot_bytes + (size_t)i], 0xa5);
        sdd_image_release(image);
        let_go(&item);
        if (slots == SDD_TENSOR_SLOT_OF_INDEX) {
            CHECK_STATUS(sdd_batch_release_slot(batch, item.slot), SDD_ERROR_NOT_FOUND);
            continue;
        }
        if (taken % 2 == 0) continue; /* from here on both slots are in use */
        CHECK(taken + 1 == COUNT || take_now(batch) == SDD_ERROR_TIMEOUT);
        for (int i = 0; i < 2; i++) {
            CHECK_STATUS(sdd_batch_release_slot(batch, i), SDD_OK);
            CHECK_STATUS(sdd_batch_release_slot(batch, i), SDD_ERROR_NOT_FOUND);
            in_use[i] = 0;
        }
    }
    CHECK_EQUAL(taken, COUNT);
    CHECK_EQUAL(converted, colour == SDD_COLOUR_SRGB ? 2 * CONVERTED : 0);
    sdd_batch_statistics all = SDD_BATCH_STATISTICS_INIT;
    CHECK_STATUS(sdd_batch_get_statistics(batch, &all), SDD_OK);
    CHECK(fit == SDD_FIT_INSIDE || all.pixels == COUNT * WIDTH * HEIGHT);
    end_batch(batch);
    free(memory);
}

CASE(z14_a_tensor_has_the_pixels_of_image_decode)
{
    static const struct {
        sdd_pixel_format format;
        sdd_tensor_layout layout;
    } forms[] = { { 0, SDD_TENSOR_HWC },
                  { SDD_PIXEL_FORMAT_RGB8, SDD_TENSOR_CHW },
                  { SDD_PIXEL_FORMAT_RGBA8, SDD_TENSOR_HWC },
                  { SDD_PIXEL_FORMAT_GREY8, SDD_TENSOR_HWC } };
    for (sdd_fit fit = SDD_FIT_DEFAULT; fit <= SDD_FIT_STRETCH; fit++)
        for (int32_t slots = SDD_TENSOR_SLOT_OF_INDEX; slots <= SDD_TENSOR_NEXT_SLOT; slots++)
            for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
                for (sdd_colour colour = SDD_COLOUR_DEFAULT; colour <= SDD_COLOUR_SRGB; colour++)
                    fill_and_compare(forms[i].format, forms[i].layout, fit, slots, colour);
}

CASE(z14_without_a_tensor_there_are_images)
{
    const char *urls[] = { at("/file/png/rgb8.png") };
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    options.pixel_format = SDD_PIXEL_FORMAT_GREY8;
    options.target_width = 5;
    sdd_batch_config config = config_of(urls, 1);
    config.decode = &options;
    sdd_batch *batch = make_batch(&config);
    sdd_batch_item item;
    options.target_width = 9; /* the options were copied */
    CHECK(take_one(batch, &item));
    CHECK(item.result->failure.status == SDD_OK && item.result->bytes == NULL && item.slot == -1 && item.width == 5);
    end_batch(batch);
    CHECK(sdd_image_width(item.result->image) == 5 &&
          sdd_image_pixel_format(item.result->image) == SDD_PIXEL_FORMAT_GREY8);
    CHECK(sdd_image_bytes(item.result->image) != NULL);
    let_go(&item);
}

/* --------------------------------------------------------------------------------- the ends */

CASE(z14_items_after_the_deadline_are_too_late)
{
    const char *urls[12];
    sdd_batch_item item;
    int late = 0, good = 0;
    for (int i = 0; i < 12; i++) urls[i] = i == 0 ? at("/ok?size=5") : atf("/silence?%d", i);
    sdd_batch_config config = config_of(urls, 12);
    config.look_ahead = 4;
    config.deadline_ms = 1000;
    config.options = SDD_OPTION_BYTES_ONLY;
    int64_t start = milliseconds_now();
    sdd_batch *batch = make_batch(&config);
    while (take_one(batch, &item)) {
        if (item.result->failure.status == SDD_OK) {
            good++;
        } else {
            CHECK(item.result->failure.status == SDD_ERROR_TIMEOUT &&
                  item.result->failure.detail == SDD_DETAIL_TIMEOUT_TOTAL);
            late++;
        }
        let_go(&item);
    }
    CHECK(good == 1 && late == 11 && milliseconds_now() - start >= 999);
    CHECK_EQUAL(items_with(batch, SDD_ERROR_TIMEOUT, SDD_DETAIL_TIMEOUT_TOTAL, 0), 11);
    end_batch(batch);
}

/* Cancels a batch after so many items were taken, while some items end, some hang, and some have not begun. */
static void cancel_after(int count, int32_t order)
{
    static uint8_t memory[40 * 12 * 10 * 3];
    const char *urls[40];
    char kept[40][128];
    int seen[40] = { 0 }, taken = 0;
    sdd_batch_item item;
    sdd_tensor tensor = SDD_TENSOR_INIT;
    tensor.pixels = memory;
    tensor.slot_count = 40;
    tensor.width = 12;
    tensor.height = 10;
    for (int i = 0; i < 40; i++) {
        snprintf(kept[i], sizeof kept[i], "%s", i % 4 < 3 ? atf("/file/jpeg/baseline-420.jpg?%d", i) : at("/silence"));
        urls[i] = kept[i];
    }
    sdd_batch_config config = config_of(urls, 40);
    config.tensor = &tensor;
    config.look_ahead = 16;
    config.order = order;
    sdd_batch *batch = make_batch(&config);
    for (; taken < count; taken++) {
        CHECK(take_one(batch, &item) && !seen[item.index]++);
        CHECK_STATUS(item.result->failure.status, SDD_OK);
        let_go(&item);
    }
    CHECK_STATUS(sdd_batch_cancel(batch), SDD_OK);
    CHECK_STATUS(sdd_batch_cancel(batch), SDD_OK);
    for (; take_one(batch, &item); taken++) {
        CHECK(!seen[item.index]++);
        CHECK(item.result->failure.status == SDD_OK || item.result->failure.status == SDD_ERROR_CANCELLED);
        if (order == SDD_BATCH_ORDERED) CHECK_EQUAL(item.index, taken);
        if (item.result->failure.status) CHECK(memory[item.slot * 360] == 0 && memory[item.slot * 360 + 359] == 0);
        let_go(&item);
    }
    CHECK_EQUAL(taken, 40);
    sdd_batch_statistics all = SDD_BATCH_STATISTICS_INIT;
    CHECK_STATUS(sdd_batch_get_statistics(batch, &all), SDD_OK);
    CHECK(all.items == 40 && all.cancelled >= 10 && all.succeeded >= count && all.failed == 0);
    end_batch(batch);
}

CASE(z14_a_cancel_ends_every_item_once_at_any_time)
{
    for (int count = 0; count <= 3; count++) cancel_after(count, SDD_BATCH_ORDERED);
    for (int count = 0; count <= 9; count += 3) cancel_after(count, SDD_BATCH_AS_COMPLETED);
}

static void *wait_for_the_end(void *batch)
{
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    size_t count = 7;
    sdd_status status = sdd_batch_wait((sdd_batch *)batch, &item, 1, -1, &count);
    CHECK(status == SDD_ERROR_CLOSED && count == 7);
    return NULL;
}

CASE(z14_a_batch_may_be_destroyed_at_any_time)
{
    for (int round = 0; round < scaled(40); round++) {
        const char *urls[32];
        char kept[32][128];
        uint8_t *memory = malloc(32 * 40 * 40 * 3);
        sdd_batch_item item;
        sdd_tensor tensor = SDD_TENSOR_INIT;
        tensor.pixels = memory;
        tensor.slot_count = 32;
        tensor.width = tensor.height = 40;
        for (int i = 0; i < 32; i++) {
            snprintf(kept[i], sizeof kept[i], "%s", atf("/file/jpeg/progressive-420.jpg?%d", i));
            urls[i] = kept[i];
        }
        sdd_batch_config config = config_of(urls, 32);
        config.tensor = &tensor;
        sdd_batch *batch = make_batch(&config);
        for (int i = 0; i < round % 20; i++) {
            CHECK(take_one(batch, &item));
            let_go(&item);
        }
        end_batch(batch);
        memset(memory, 0x5a, 32 * 40 * 40 * 3);
        for (int i = 0; i < 32 * 40 * 40 * 3; i++) CHECK_EQUAL(memory[i], 0x5a);
        free(memory);
    }
    const char *urls[] = { at("/silence") };
    sdd_batch_config config = config_of(urls, 1);
    sdd_batch *batch = make_batch(&config);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, wait_for_the_end, batch) == 0);
    wait_for_requests("/silence", 1);
    end_batch(batch);
    pthread_join(thread, NULL);
}

CASE(z14_a_downloader_may_go_before_its_batch)
{
    const char *urls[] = { at("/silence?1"), at("/silence?2"), at("/ok?size=2") };
    sdd_batch_config config = config_of(urls, 3);
    sdd_batch_item item;
    config.downloader = make_downloader(NULL);
    config.look_ahead = 2;
    sdd_batch *batch = make_batch(&config);
    destroy(config.downloader);
    for (int i = 0; i < 2; i++) {
        CHECK(take_one(batch, &item));
        CHECK_STATUS(item.result->failure.status, SDD_ERROR_CANCELLED);
        let_go(&item);
    }
    CHECK(take_one(batch, &item));
    CHECK(item.result->failure.status == SDD_ERROR_INVALID_DOWNLOAD_OPERATION &&
          item.result->failure.detail == SDD_DETAIL_OPERATION_CLOSED);
    let_go(&item);
    CHECK(!take_one(batch, &item));
    end_batch(batch);
    sdd_batch *out = (sdd_batch *)&item;
    CHECK_STATUS(sdd_batch_create(&config, &out), SDD_ERROR_CLOSED);
    CHECK(out == NULL);
}

typedef struct shared_batch {
    sdd_batch *batch;
    pthread_mutex_t lock;
    int seen[MANY];
} shared_batch;

static void *take_a_part(void *user_data)
{
    shared_batch *shared = user_data;
    sdd_batch_item item;
    while (take_one(shared->batch, &item)) {
        pthread_mutex_lock(&shared->lock);
        CHECK(!shared->seen[item.index]++);
        pthread_mutex_unlock(&shared->lock);
        let_go(&item);
    }
    return NULL;
}

CASE(z14_several_threads_share_the_items)
{
    static shared_batch shared = { NULL, PTHREAD_MUTEX_INITIALIZER, { 0 } };
    pthread_t threads[4];
    make_urls("/ok?size=50");
    sdd_batch_config config = config_of(many, MANY);
    config.options = SDD_OPTION_BYTES_ONLY;
    config.look_ahead = 10;
    shared.batch = make_batch(&config);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, take_a_part, &shared) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < MANY; i++) CHECK_EQUAL(shared.seen[i], 1);
    end_batch(shared.batch);
}

int main(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    start_watchdog();
    config.max_concurrent_downloads = config.max_concurrent_per_host = 40;
    downloader = make_downloader(&config);
    run_cases();
    destroy(downloader);
    return 0;
}

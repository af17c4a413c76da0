/*
 * random_objects.h - for test_random_calls.c: actions on images, bytes, responses, caches, batches, coders and
 * transports.
 */
#ifndef RANDOM_OBJECTS_H
#define RANDOM_OBJECTS_H

#include "random_structs.h"

/* -------------------------------------------------------------------------------------- fixed inputs */

/* Pictures and bodies that are not pictures, read once. */
static struct { uint8_t *bytes; size_t size; } inputs[12];
enum { INPUTS = sizeof inputs / sizeof *inputs };

static void read_inputs(void)
{
    static const char *const names[INPUTS] = {
        "png/rgb8.png", "png/rgba16-interlaced.png", "jpeg/progressive-420.jpg", "jpeg/cmyk-adobe.jpg",
        "frames/every-operation.png", "metadata/kinds.png", "metadata/kinds.jpg", "jpeg/exif-orientation.jpg",
        "png/rgb8.pam", "colour/display-p3.jpg", "colour/gama-chrm.png", "metadata/gain-map.jpg",
    };
    for (int i = 0; i < INPUTS; i++) inputs[i].bytes = fixture(names[i], &inputs[i].size);
}

/* ------------------------------------------------------------------------------------------- images */

static void do_decode(void)
{
    uint32_t which = chance(INPUTS);
    size_t size = one_in(6) ? chance((uint32_t)inputs[which].size) : inputs[which].size;
    sdd_decode_options decode = random_decode(NULL);
    sdd_image_info info = SDD_IMAGE_INFO_INIT;
    sdd_image *image = NULL;
    if (one_in(20)) decode.struct_size = chance(sizeof decode);
    CALL(sdd_image_sniff, one_in(20) ? NULL : inputs[which].bytes, one_in(20) ? 0 : size);
    info.struct_size = one_in(20) ? chance(sizeof info) : sizeof info;
    CALL(sdd_image_probe, inputs[which].bytes, size, one_in(40) ? NULL : &info);
    sdd_status status = CALL(sdd_image_decode, inputs[which].bytes, size, one_in(3) ? NULL : &decode, &image);
    CHECK((status == SDD_OK) == (image != NULL));
    keep_sdd_image(image);
}

static void do_create(void)
{
    static uint8_t pixels[64 * 64 * 8];
    sdd_image *image = NULL;
    int32_t width = (int32_t)chance(64), height = (int32_t)chance(64);
    int is_huge = one_in(20); /* in that case there are no readable pixels */
    sdd_status status = CALL(sdd_image_create, is_huge ? INT32_MAX : width, is_huge ? number32() : height,
                             mostly32(1 + (int32_t)chance(9)), is_huge || one_in(20) ? NULL : pixels, 0,
                             one_in(60) ? NULL : &image);
    CHECK(image == NULL || status == SDD_OK);
    keep_sdd_image(image);
}

static void look_at_image(sdd_image *image)
{
    PLACE(sdd_image_info) info = { .room = { 0 } };
    PLACE(sdd_image_colour) colour = { .room = { 0 } };
    sdd_image_info whole = SDD_IMAGE_INFO_INIT;
    sdd_image_text piece = SDD_IMAGE_TEXT_INIT;
    const void *data;
    size_t size;
    info.s.struct_size = random_size(sizeof info.s, info.room);
    CHECK(CALL(sdd_image_width, image) >= (image != NULL) && CALL(sdd_image_height, image) >= (image != NULL));
    CALL(sdd_image_get_info, image, &info.s);
    colour.s.struct_size = random_size(sizeof colour.s, colour.room);
    CALL(sdd_image_get_colour, image, one_in(40) ? NULL : &colour.s);
    CALL(sdd_image_pixel_format, image);
    CALL(sdd_image_frame_duration_us, image, mostly32((int32_t)chance(6)));
    CALL(sdd_image_metadata, image, mostly32(1 + (int32_t)chance(3)), one_in(40) ? NULL : &data, &size);
    PLACE(sdd_gain_map_info) gains = { .room = { 0 } };
    gains.s.struct_size = random_size(sizeof gains.s, gains.room);
    CALL(sdd_image_get_gain_map_info, image, one_in(40) ? NULL : &gains.s);
    size_t texts = CALL(sdd_image_text_count, image);
    CALL(sdd_image_text_at, image, one_in(10) ? SIZE_MAX : texts ? chance((uint32_t)texts) : 0, &piece);
    if (one_in(4)) keep_sdd_bytes(CALL(sdd_bytes_retain, CALL(sdd_image_bytes, image)));
    if (CALL(sdd_image_decode_pixels, image) != SDD_OK) return;
    const uint8_t *pixels = CALL(sdd_image_pixels, image);
    CHECK_STATUS(CALL(sdd_image_get_info, image, &whole), SDD_OK);
    CHECK(pixels != NULL && whole.pixels_size > 0 && CALL(sdd_image_stride, image) > 0);
    volatile uint8_t ends = (uint8_t)(pixels[0] + pixels[whole.pixels_size - 1]); /* all of it must be readable */
    (void)ends;
}

static void encode_later(sdd_image *image, const sdd_encode_options *encode)
{
    site *s;
    sdd_downloader *downloader = any_downloader(&s);
    call *c = new_call(s);
    sdd_result_fn completed = one_in(20) ? NULL : on_completed;
    sdd_user_data_free_fn freed = one_in(10) ? NULL : free_call;
    note_callbacks(c, 8, completed != NULL, freed != NULL);
    submitted(c, CALL(sdd_downloader_encode, downloader, image, one_in(3) ? NULL : encode, completed, c, freed));
}

static void make_of_image(sdd_image *image)
{
    sdd_transform list[3] = { random_transform(), random_transform(), random_transform() };
    sdd_encode_options encode = SDD_ENCODE_OPTIONS_INIT;
    sdd_image *made = NULL;
    sdd_bytes *bytes = NULL;
    char key[200];
    size_t length;
    switch (chance(6)) {
    case 4: {
        sdd_animation_frame frames[3];
        for (int i = 0; i < 3; i++)
            frames[i] = (sdd_animation_frame){ sizeof *frames, one_in(12) ? NULL : image, one_in(12) ? -1 : 40000 };
        sdd_status status = CALL(sdd_image_create_animation, frames, chance(4), mostly32((int32_t)chance(3)), &made);
        CHECK((made != NULL) == (status == SDD_OK));
        keep_sdd_image(made);
        break;
    }
    case 0:
        CALL(sdd_transform_key, list, chance(4), one_in(4) ? NULL : key, chance(200), &length);
        if (CALL(sdd_image_transform, image, list, chance(4), &made) == SDD_OK) CHECK(made != NULL);
        keep_sdd_image(made);
        break;
    case 1:
        CALL(sdd_image_frame, image, mostly32((int32_t)chance(6)), one_in(40) ? NULL : &made);
        keep_sdd_image(made);
        break;
    case 2:
        CALL(sdd_image_gain_map, image, one_in(40) ? NULL : &made);
        keep_sdd_image(made);
        break;
    case 3:
        if (CALL(sdd_image_thumbhash, image, one_in(40) ? NULL : &bytes) == SDD_OK)
            CHECK(sdd_bytes_size(bytes) >= 17 && sdd_bytes_size(bytes) <= 25);
        if (bytes == NULL || one_in(4)) keep_sdd_bytes(bytes), bytes = sdd_bytes_create(long_text, chance(30));
        CALL(sdd_image_from_thumbhash, sdd_bytes_data(bytes), sdd_bytes_size(bytes), one_in(40) ? NULL : &made);
        keep_sdd_image(made);
        keep_sdd_bytes(bytes);
        break;
    default:
        encode.format = mostly32((int32_t)chance(3)), encode.quality = mostly32((int32_t)chance(101));
        if (one_in(6)) encode.max_width = number32(), encode.max_height = number32();
        if (one_in(6)) encode.max_bytes = number64();
        encode.progressive = mostly32(0), encode.chroma = mostly32((int32_t)chance(3));
        if (one_in(20)) encode.struct_size = chance(sizeof encode);
        if (one_in(4)) encode_later(image, &encode);
        else if (CALL(sdd_image_encode, image, one_in(3) ? NULL : &encode, &bytes) == SDD_OK) CHECK(bytes != NULL);
        keep_sdd_bytes(bytes);
    }
}

static void do_to_an_image(void)
{
    sdd_image *image = take_sdd_image();
    if (one_in(2)) look_at_image(image);
    else make_of_image(image);
    CALL(sdd_image_release, image);
}

static void do_to_bytes(void)
{
    sdd_bytes *bytes = take_sdd_bytes(), *made;
    const uint8_t *data = CALL(sdd_bytes_data, bytes);
    size_t size = CALL(sdd_bytes_size, bytes);
    CHECK((data == NULL) == (size == 0));
    made = CALL(sdd_bytes_create, one_in(6) ? NULL : long_text, chance(one_in(2) ? 1 : 3000));
    keep_sdd_bytes(made);
    CALL(sdd_bytes_release, bytes);
}

static void do_to_a_response(void)
{
    sdd_response *response = take_sdd_response();
    const char *name = NULL, *value = NULL;
    CHECK((CALL(sdd_response_url, response) == NULL) == (response == NULL));
    CALL(sdd_response_status, response);
    CALL(sdd_response_mime_type, response);
    CALL(sdd_response_header, response, mostly_text("Content-Length"));
    size_t count = CALL(sdd_response_header_count, response);
    sdd_status status = CALL(sdd_response_header_at, response, one_in(6) ? SIZE_MAX : count / 2, &name, &value);
    CHECK((status == SDD_OK) == (name != NULL));
    CALL(sdd_response_release, response);
}

/* ------------------------------------------------------------------------------------------- caches */

static const char *any_key(void)
{
    static const char *const keys[] = { "one", "two", "three", "https://host.example/a.png", "" };
    return one_in(12) ? text() : keys[chance(5)];
}

static sdd_cache_item random_item(void)
{
    sdd_cache_item item = SDD_CACHE_ITEM_INIT;
    item.key = any_key();
    if (one_in(2)) item.image = take_sdd_image();
    if (one_in(2)) item.bytes = take_sdd_bytes();
    if (one_in(4)) item.extended = take_sdd_bytes();
    item.levels = mostly32((int32_t)chance(4));
    return item;
}

static void release_item(const sdd_cache_item *item)
{
    CALL(sdd_image_release, item->image);
    CALL(sdd_bytes_release, item->bytes);
    CALL(sdd_bytes_release, item->extended);
}

static void do_store(void)
{
    site *s;
    PLACE(sdd_cache_item) p = { .room = { 0 } };
    sdd_downloader *downloader = any_downloader(&s);
    call *c = new_call(s);
    p.s = random_item();
    p.s.completed = one_in(4) ? NULL : on_completed;
    p.s.user_data = c;
    p.s.user_data_free = one_in(10) ? NULL : free_call;
    sdd_cache_item copy = p.s;
    size_t size = p.s.struct_size = random_size(sizeof p.s, p.room);
    int sees_data = SEES(size, sdd_cache_item, user_data);
    note_callbacks(c, size, copy.completed && sees_data,
                   copy.user_data_free && SEES(size, sdd_cache_item, user_data_free));
    submitted(c, CALL(sdd_cache_put, any_cache(), downloader, &p.s));
    release_item(&copy);
}

static void do_query(void)
{
    site *s;
    PLACE(sdd_cache_query_options) p = { .room = { 0 } };
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_downloader *downloader = any_downloader(&s);
    call *c = new_call(s);
    decode = random_decode(c);
    p.s = (sdd_cache_query_options)SDD_CACHE_QUERY_OPTIONS_INIT;
    p.s.key = any_key();
    p.s.levels = mostly32((int32_t)chance(4));
    p.s.wants = mostly32(1 + (int32_t)chance(3));
    p.s.decode = one_in(3) ? &decode : NULL;
    p.s.options = one_in(4) ? random_option() : 0;
    p.s.priority = mostly32((int32_t)chance(6));
    p.s.completed = one_in(40) ? NULL : on_completed;
    p.s.user_data = c;
    p.s.user_data_free = one_in(10) ? NULL : free_call;
    size_t size = p.s.struct_size = random_size(sizeof p.s, p.room);
    int sees_data = SEES(size, sdd_cache_query_options, user_data);
    note_callbacks(c, size, p.s.completed && sees_data,
                   p.s.user_data_free && SEES(size, sdd_cache_query_options, user_data_free));
    submitted(c, CALL(sdd_cache_query, any_cache(), downloader, &p.s));
}

static void do_cache_entry(void)
{
    sdd_cache *cache = any_cache();
    sdd_cache_item item = random_item();
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_image *image = NULL;
    sdd_result *result = NULL;
    int32_t number = -1;
    int64_t size;
    sdd_status status;
    switch (chance(6)) {
    case 0: CALL(sdd_cache_put_wait, cache, &item); break;
    case 1:
        query.key = any_key();
        query.levels = mostly32((int32_t)chance(4)), query.wants = mostly32(1 + (int32_t)chance(3));
        status = CALL(sdd_cache_query_wait, cache, &query, one_in(8) ? NULL : &result);
        if (result) check_outcome(result, 1);
        CHECK(result == NULL || result->failure.status == status);
        release_result(result);
        break;
    case 2: image = CALL(sdd_cache_memory_image, cache, any_key()); break;
    case 3: CALL(sdd_cache_contains_wait, cache, any_key(), mostly32((int32_t)chance(4))); break;
    case 4: CALL(sdd_cache_remove_wait, cache, any_key(), mostly32((int32_t)chance(4))); break;
    default:
        if (CALL(sdd_cache_open_wait, cache, any_key(), &number, one_in(2) ? NULL : &size) == SDD_OK) close(number);
    }
    keep_sdd_image(image);
    release_item(&item);
}

static sdd_list_step answer_entry(const sdd_cache_entry *entry, void *user_data)
{
    (void)user_data;
    return entry->disk_bytes < 0 ? -1 : (int32_t)chance(20);
}

static void do_to_a_cache(void)
{
    sdd_cache *cache = any_cache();
    PLACE(sdd_cache_statistics) p = { .room = { 0 } };
    sdd_decode_options decode = random_decode(NULL);
    sdd_transform transform = random_transform();
    char buffer[300];
    size_t length;
    int64_t merged;
    switch (chance(12)) {
    case 0: if (one_in(10)) CALL(sdd_cache_clear_wait, cache, mostly32((int32_t)chance(4))); break;
    case 1: CALL(sdd_cache_flush_wait, cache, short_wait()); break;
    case 2:
        CALL(sdd_cache_key, cache, any_url(), one_in(2) ? &decode : NULL, &transform, chance(2),
             one_in(4) ? NULL : buffer, chance(300), &length);
        break;
    case 3: CALL(sdd_cache_path, cache, any_key(), one_in(4) ? NULL : buffer, chance(300), &length); break;
    case 4: CALL(sdd_cache_trim_memory, cache, mostly32(1 + (int32_t)chance(2))); break;
    case 5: CALL(sdd_cache_trim_disk_wait, cache); break;
    case 6: CALL(sdd_cache_set_memory_limits, cache, number64(), number64()); break;
    case 7: CALL(sdd_cache_set_disk_limits, cache, number64(), number64()); break;
    case 8: if (one_in(10)) CALL(sdd_cache_destroy, forged()); break;
    case 9: CALL(sdd_cache_merge_wait, cache, one_in(2) ? "/proc/self/none" : "", one_in(4) ? NULL : &merged); break;
    case 10: CALL(sdd_cache_list_wait, cache, mostly32((int32_t)chance(2)), one_in(20) ? NULL : answer_entry, NULL); break;
    default:
        p.s.struct_size = random_size(sizeof p.s, p.room);
        CALL(sdd_cache_get_statistics_wait, cache, one_in(40) ? NULL : &p.s);
    }
}

/* ------------------------------------------------------------------------------------------ batches */

static void do_to_a_batch(void)
{
    thing *t;
    sdd_batch *batch = any_of(batches, BATCHES, &t);
    sdd_batch_item items[3] = { SDD_BATCH_ITEM_INIT, SDD_BATCH_ITEM_INIT, SDD_BATCH_ITEM_INIT };
    sdd_batch_statistics statistics = SDD_BATCH_STATISTICS_INIT;
    sdd_batch_status status = SDD_BATCH_STATUS_INIT;
    sdd_batch_host host = SDD_BATCH_HOST_INIT;
    size_t count = 0;
    switch (chance(8)) {
    case 0: CALL(sdd_batch_release_slot, batch, one_in(4) ? number64() : (int64_t)chance(6)); break;
    case 1: if (one_in(6)) CALL(sdd_batch_cancel, batch); break;
    case 2: CALL(sdd_batch_event_fd, batch); break;
    case 3: CALL(sdd_batch_get_statistics, batch, one_in(40) ? NULL : &statistics); break;
    case 4: CALL(sdd_batch_get_status, batch, one_in(6) ? SIZE_MAX : chance(4), &status); break;
    case 5: CALL(sdd_batch_get_host, batch, one_in(6) ? SIZE_MAX : chance(4), &host); break;
    default:
        depth++; /* its `next` runs here */
        if (CALL(sdd_batch_wait, batch, items, chance(4), short_wait(), &count) == SDD_OK) {
            for (size_t i = 0; i < count; i++) {
                check_outcome(items[i].result, 1);
                release_result(items[i].result);
            }
        }
        depth--;
    }
}

/* ----------------------------------------------------------------------- coders, transports, inits */

static int32_t coder_asked(const void *bytes, size_t size, void *user_data)
{
    CHECK(user_data == NULL || *(atomic_int *)user_data == 1);
    return size >= 2 && ((const uint8_t *)bytes)[0] == 'P' && ((const uint8_t *)bytes)[1] == '7';
}

static sdd_status coder_opened(const sdd_coder_task *task, void **decoder, void *user_data)
{
    (void)user_data;
    CHECK(task->struct_size == sizeof *task);
    sdd_status status = one_in(20) ? number32() : SDD_OK;
    /* `close` is not called where `open` fails. */
    *decoder = status != SDD_OK || one_in(20) ? NULL : malloc(4 * 4 * 4);
    return status;
}

static sdd_status coder_fed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)user_data, (void)bytes;
    CHECK(decoder != NULL && size > 0 && is_last == 1);
    IN_CALLBACK(call_something_quick());
    return one_in(20) ? number32() : SDD_OK;
}

static sdd_status coder_next(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    (void)user_data;
    memset(decoder, 99, 4 * 4 * 4);
    frame->pixels = one_in(20) ? NULL : decoder;
    frame->stride = one_in(20) ? chance(16) : 16;
    frame->width = one_in(20) ? -(number32() % 4) : 4;
    frame->height = one_in(20) ? -1 : 4;
    frame->pixel_format = one_in(20) ? number32() : SDD_PIXEL_FORMAT_RGBA8;
    frame->orientation = mostly32(1);
    frame->frame_count = 1;
    return SDD_OK;
}

static void coder_closed(void *decoder, void *user_data)
{
    (void)user_data;
    free(decoder);
}

static void do_coder(void)
{
    site *s;
    sdd_coder coder = SDD_CODER_INIT;
    atomic_int *count = owe();
    coder.name = one_in(12) ? text() : one_in(2) ? "one" : "two";
    coder.mime_type = text();
    coder.format = one_in(6) ? number32() : SDD_IMAGE_FORMAT_APPLICATION + (int32_t)chance(3);
    coder.can_decode = coder_asked;
    coder.open = coder_opened;
    coder.feed = coder_fed;
    coder.next = one_in(20) ? NULL : coder_next;
    coder.close = coder_closed;
    coder.user_data = count;
    coder.user_data_free = owed_free;
    sdd_status status = one_in(2) ? CALL(sdd_process_add_coder, &coder)
                                  : CALL(sdd_downloader_add_coder, any_downloader(&s), &coder);
    if (status != SDD_OK) owe_nothing(count);
    CALL(sdd_process_remove_coder, one_in(6) ? text() : one_in(2) ? "one" : "two");
    CALL(sdd_downloader_remove_coder, any_downloader(&s), one_in(6) ? text() : one_in(2) ? "one" : "two");
    if (one_in(20)) CALL(sdd_process_load_coder_wait, one_in(2) ? "/etc/hostname" : text());
}

/* Transfers of the application's transport that may still be answered. */
static sdd_transfer open_transfers[16];
static pthread_mutex_t transfers_lock = PTHREAD_MUTEX_INITIALIZER;

static void answer(sdd_transfer transfer)
{
    sdd_header headers[2] = { { "Content-Type", "text/plain" }, { mostly_text("X-Two"), mostly_text("2") } };
    if (!one_in(8))
        CALL(sdd_transfer_respond, transfer, mostly32(200), headers, chance(3), one_in(2) ? -1 : number64());
    if (!one_in(8)) CALL(sdd_transfer_write, transfer, one_in(10) ? NULL : long_text, chance(3000));
    if (!one_in(8)) CALL(sdd_transfer_finish, transfer, one_in(4) ? number32() : SDD_OK, text());
}

static void transfer_started(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    CHECK(request->url != NULL && request->method != NULL && *(atomic_int *)user_data == 1);
    IN_CALLBACK(call_something_quick());
    if (one_in(2)) {
        answer(transfer);
    } else {
        pthread_mutex_lock(&transfers_lock);
        open_transfers[chance(16)] = transfer;
        pthread_mutex_unlock(&transfers_lock);
    }
}

static void transfer_cancelled(sdd_transfer transfer, void *user_data)
{
    CHECK(transfer != 0 && *(atomic_int *)user_data == 1);
}

static void do_transport(void)
{
    site *s;
    sdd_transport transport = SDD_TRANSPORT_INIT;
    if (one_in(3)) {
        atomic_int *count = owe();
        transport.scheme = one_in(8) ? text() : "archive";
        transport.start = one_in(20) ? NULL : transfer_started;
        transport.cancel = transfer_cancelled;
        transport.user_data = count;
        transport.user_data_free = owed_free;
        if (CALL(sdd_downloader_add_transport, any_downloader(&s), &transport) != SDD_OK) owe_nothing(count);
        if (one_in(2)) CALL(sdd_downloader_remove_transport, any_downloader(&s), one_in(8) ? text() : "archive");
        return;
    }
    pthread_mutex_lock(&transfers_lock);
    sdd_transfer transfer = open_transfers[chance(16)];
    pthread_mutex_unlock(&transfers_lock);
    if (one_in(10)) transfer = random_bits();
    answer(transfer);
}

static void do_small_things(void)
{
    const char *why = CALL(sdd_last_error_message);
    sdd_failure failure;
    CHECK(why != NULL && strlen(why) < 1024);
    CHECK_EQUAL(CALL(sdd_last_error, &failure), failure.status);
    CHECK_EQUAL(failure.error_class, class_of(failure.status, failure.detail));
    CHECK(strcmp(failure.message, why) == 0);
    CHECK(CALL(sdd_status_name, number32()) != NULL && CALL(sdd_status_message, number32()) != NULL);
    CHECK(CALL(sdd_version) > 0 && CALL(sdd_version_string) != NULL);
    CALL(sdd_downloader_shared);
    CALL(sdd_cache_shared);
    CALL(sdd_loader_shared);
}

#endif

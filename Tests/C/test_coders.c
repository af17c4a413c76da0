/* The application's coders: which one is asked, how its output is checked, and when its user data is freed. */
#include "server.h"
#include "toy_coder.h"

static void check_is_toy(const record *r)
{
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK_EQUAL(image_info(r->image).format, TOY_FORMAT);
    CHECK(sdd_image_width(r->image) == 3 && sdd_image_height(r->image) == 2);
    for (int y = 0; y < 2; y++)
        for (int i = 0; i < 12; i++)
            CHECK_EQUAL(sdd_image_pixels(r->image)[(size_t)y * sdd_image_stride(r->image) + i], y * 12 + i);
}

/* --------------------------------------------------------------------------- the choice of a coder */

CASE(b18_a_downloader_has_a_coder)
{
    OWNED_RECORD r = RECORD_INIT;
    toy own = { 0 };
    sdd_coder coder = toy_coder(&own);
    sdd_downloader *downloader = toy_downloader(), *other = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    check_is_toy(&r);
    CHECK(own.opened == 1 && own.closed == 1 && own.wanted_side == 0 && own.max_pixels == 134217728);
    toy_fetch(other, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    /* The body is "TOY" alone: the coder cannot decide, and no more bytes come. */
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), 3);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK(own.asked == 2 && own.freed == 0);
    destroy(downloader);
    CHECK_EQUAL(own.freed, 1);
    destroy(other);
}

CASE(b18_the_shared_downloader_may_have_one)
{
    OWNED_RECORD r = RECORD_INIT;
    static toy own = { .magic = "\x89PNG", .format = SDD_IMAGE_FORMAT_PNG };
    sdd_coder coder = toy_coder(&own);
    coder.user_data_free = NULL; /* the shared downloader never ends */
    CHECK_STATUS(sdd_downloader_add_coder(NULL, &coder), SDD_OK);
    fetch(NULL, &r, at("/file/png/rgb8.png"), 0);
    CHECK_EQUAL(own.opened, 1);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CORRUPT); /* a PNG's byte 7 is FEED_REFUSES */
    own.magic = "none";
    fetch(NULL, &r, at("/file/png/rgb8.png"), 0);
    CHECK_ENDED(&r, SDD_OK, 0);
}

/* A downloader's coders are asked before those of the process, each from the newest to the oldest, and the library's
   own last. */
CASE(c12_the_newest_is_asked_first)
{
    OWNED_RECORD r = RECORD_INIT;
    toy old = { .name = "old", .format = 1001 }, new = { .name = "new", .format = 1002 };
    toy own = { .name = "own", .format = SDD_IMAGE_FORMAT_GIF }, other = { .name = "other", .magic = "none" };
    sdd_coder coders[] = { toy_coder(&old), toy_coder(&new), toy_coder(&own), toy_coder(&other) };
    OWNED_DOWNLOADER downloader = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coders[2]), SDD_OK);
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coders[3]), SDD_OK);
    CHECK_STATUS(sdd_process_add_coder(&coders[0]), SDD_OK);
    CHECK_STATUS(sdd_process_add_coder(&coders[1]), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_EQUAL(image_info(r.image).format, SDD_IMAGE_FORMAT_GIF);
    CHECK(other.asked == 1 && own.asked == 1 && new.asked == 0 && old.asked == 0);
    destroy(downloader);
    CHECK(own.freed == 1 && other.freed == 1 && new.freed == 0);

    downloader = toy_downloader();
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK(image_info(r.image).format == 1002 && old.asked == 0);
    CHECK_STATUS(sdd_process_remove_coder("new"), SDD_OK);
    CHECK(new.freed == 1 && old.freed == 0);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_EQUAL(image_info(r.image).format, 1001);
    fetch(downloader, &r, at("/file/png/rgb8.png"), 0); /* a body that these coders do not accept */
    CHECK_EQUAL(image_info(r.image).format, SDD_IMAGE_FORMAT_PNG);
    CHECK_STATUS(sdd_process_remove_coder("new"), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_process_remove_coder("old"), SDD_OK);
    CHECK_EQUAL(old.freed, 1);
}

/* The hint selects the coder of a body that no coder recognizes; it is ignored for a body that one does. */
CASE(b27_the_hint_names_a_format_bytes_do_not_tell)
{
    OWNED_RECORD r = RECORD_INIT;
    toy raw = { .name = "raw", .format = 1234, .magic = "none" }, known = { .name = "known", .magic = "KNOW" };
    sdd_coder coders[] = { toy_coder(&raw), toy_coder(&known) };
    OWNED_DOWNLOADER downloader = toy_downloader();
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    uint8_t bytes[TOY_SIZE];
    memcpy(bytes, toy_bytes(1, NO_FAULT), TOY_SIZE);
    for (int i = 0; i < 2; i++) CHECK_STATUS(sdd_downloader_add_coder(downloader, &coders[i]), SDD_OK);
    toy_fetch(downloader, &r, bytes, TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    options.format_hint = 1234;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    toy_fetch(downloader, &r, bytes, TOY_SIZE);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_EQUAL(image_info(r.image).format, 1234);
    fetch(downloader, &r, at("/file/png/rgb8.png"), 0);
    CHECK_EQUAL(image_info(r.image).format, SDD_IMAGE_FORMAT_PNG);
    memcpy(bytes, "KNOW", 4);
    toy_fetch(downloader, &r, bytes, TOY_SIZE);
    CHECK_EQUAL(image_info(r.image).format, TOY_FORMAT);
    options.format_hint = 1235; /* no coder has this format */
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK(raw.opened == 1 && known.opened == 1);
}

/* ----------------------------------------------------------------------- frames and decode options */

CASE(z11_z15_frames_follow_the_decode_options)
{
    OWNED_RECORD r = RECORD_INIT;
    toy own = { 0 };
    sdd_coder coder = toy_coder(&own);
    OWNED_DOWNLOADER downloader = toy_downloader();
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    options.pixel_format = SDD_PIXEL_FORMAT_BGRA8;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_EQUAL(sdd_image_pixel_format(r.image), SDD_PIXEL_FORMAT_BGRA8);
    CHECK(memcmp(sdd_image_pixels(r.image), "\2\1\0\3\6\5\4\7", 8) == 0);
    options.target_width = 1;
    CHECK_STATUS(sdd_downloader_set_decode_options(downloader, &options), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK(sdd_image_width(r.image) == 1 && sdd_image_height(r.image) == 1 && own.wanted_side == 1);
}

static sdd_transfer begun_transfer;
static sem_t has_begun;

static void begin_only(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    begun_transfer = transfer;
    sem_post(&has_begun);
}

static void no_preview(const sdd_result *result, void *user_data)
{
    (void)user_data;
    FAIL("a preview of %s", result->url);
}

/* The coder is fed when all bytes are there, and not asked about each piece. If the bytes do not tell the format, the
   hint does. */
CASE(b18_a_body_that_comes_in_pieces)
{
    sem_init(&has_begun, 0, 0);
    for (int is_hinted = 0; is_hinted < 2; is_hinted++) {
        OWNED_RECORD r = RECORD_INIT;
        toy own = { .magic = is_hinted ? "none" : "TOY!" };
        sdd_coder coder = toy_coder(&own);
        OWNED_DOWNLOADER downloader = make_downloader(NULL);
        sdd_transport transport = SDD_TRANSPORT_INIT;
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
        options.format_hint = is_hinted ? TOY_FORMAT : 0;
        transport.scheme = "slow";
        transport.start = begin_only;
        transport.cancel = toy_cancel;
        CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
        CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
        sdd_download_request request = record_request(&r, "slow:body");
        request.preview = no_preview;
        request.decode = &options;
        submit(downloader, &request);
        take(&has_begun);
        for (int i = 0; i < TOY_SIZE; i++)
            CHECK_STATUS(sdd_transfer_write(begun_transfer, toy_bytes(1, NO_FAULT) + i, 1), SDD_OK);
        CHECK_STATUS(sdd_transfer_finish(begun_transfer, SDD_OK, NULL), SDD_OK);
        record_wait(&r);
        CHECK_ENDED(&r, SDD_OK, 0);
        CHECK(image_info(r.image).format == TOY_FORMAT && sdd_image_pixels(r.image)[7] == 7);
        /* At most about each of the first four bytes, then whether it shows previews, and at the end. */
        CHECK(own.opened == 1 && own.closed == 1 && own.asked <= 6);
    }
}

/* Makes the toy coder return a detail of its own. */
#define OF_DETAIL(detail) { (enum fault)(FIRST_DETAIL + (detail) - SDD_DETAIL_IMAGE_EMPTY), detail }

CASE(every_fault_is_an_error)
{
    static const struct { enum fault fault; int32_t detail; } all[] = {
        { NO_WIDTH, SDD_DETAIL_IMAGE_CODER }, { NEGATIVE_HEIGHT, SDD_DETAIL_IMAGE_CODER },
        { NO_PIXELS, SDD_DETAIL_IMAGE_CODER }, { SHORT_STRIDE, SDD_DETAIL_IMAGE_CODER },
        { HUGE_STRIDE, SDD_DETAIL_IMAGE_CODER }, { NO_FORMAT, SDD_DETAIL_IMAGE_CODER },
        { NO_ORIENTATION, SDD_DETAIL_IMAGE_CODER }, { NEGATIVE_COUNT, SDD_DETAIL_IMAGE_CODER },
        { LARGER_THAN_PICTURE, SDD_DETAIL_IMAGE_CODER }, { NO_FRAME, SDD_DETAIL_IMAGE_CODER },
        { OTHER_STATUS, SDD_DETAIL_IMAGE_CODER }, { NOTHING_AT_ALL, SDD_DETAIL_IMAGE_CODER },
        { FEED_REFUSES, SDD_DETAIL_IMAGE_CORRUPT }, { NEEDS_MORE, SDD_DETAIL_IMAGE_TRUNCATED },
        { A_DETAIL, SDD_DETAIL_IMAGE_TOO_MANY_SCANS }, { NO_MEMORY, SDD_DETAIL_IMAGE_NO_MEMORY },
        { OVER_MAX_PIXELS, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS }, { BEYOND_MAX_PIXELS, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS },
        OF_DETAIL(SDD_DETAIL_IMAGE_TOO_SLOW), OF_DETAIL(SDD_DETAIL_IMAGE_TOO_MANY_FRAMES),
        OF_DETAIL(SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE), OF_DETAIL(SDD_DETAIL_IMAGE_TOO_MUCH_MEMORY),
    };
    OWNED_RECORD r = RECORD_INIT;
    toy own = { 0 };
    sdd_coder coder = toy_coder(&own);
    sdd_downloader *downloader = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        toy_fetch(downloader, &r, toy_bytes(1, all[i].fault), TOY_SIZE);
        CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, all[i].detail);
        CHECK(strstr(r.message, "coder toy") != NULL);
        CHECK_EQUAL(own.closed, own.opened);
    }
    toy_fetch(downloader, &r, toy_bytes(1, ENDLESS), TOY_SIZE); /* the coder reads one of them */
    check_is_toy(&r);
    for (size_t size = 4; size < 8 + 24; size++) {
        toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), size);
        CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_TRUNCATED);
    }
    own.fault_of_open = OPEN_REFUSES;
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_NO_MEMORY);
    own.fault_of_open = NO_DECODER;
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_CODER);
    destroy(downloader);
    CHECK(own.freed == 1 && own.closed == own.opened);
}

/* ---------------------------------------------------------------------------------------- encoding */

CASE(b18_a_coder_of_the_process_encodes)
{
    static const uint8_t bgra[24] = { 2,  1,  0,  3,  6,  5,  4,  7,  10, 9,  8,  11,
                                      14, 13, 12, 15, 18, 17, 16, 19, 22, 21, 20, 23 };
    toy plain = { .name = "plain" }, own = { .name = "encodes" };
    toy jpeg = { .name = "jpeg", .format = SDD_IMAGE_FORMAT_JPEG, .magic = "none" };
    sdd_coder coders[] = { toy_coder(&own), toy_coder(&plain), toy_coder(&jpeg) };
    sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
    OWNED_IMAGE image = NULL;
    sdd_bytes *bytes = NULL;
    coders[0].encode = coders[2].encode = toy_encode;
    CHECK_STATUS(sdd_image_create(3, 2, SDD_PIXEL_FORMAT_BGRA8, bgra, 12, &image), SDD_OK);
    options.format = TOY_FORMAT;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_ERROR_UNSUPPORTED);
    CHECK_STATUS(sdd_process_add_coder(&coders[0]), SDD_OK);
    CHECK_STATUS(sdd_process_add_coder(&coders[1]), SDD_OK); /* a coder without an encoder */
    options.quality = 5;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(bytes), TOY_SIZE - 24 + 5);
    CHECK(memcmp(sdd_bytes_data(bytes), toy_bytes(1, NO_FAULT), TOY_SIZE - 24) == 0);
    sdd_bytes_release(bytes);
    /* A coder gets RGBA8, whatever the image has. */
    uint16_t wide[24];
    sdd_image *deep = NULL;
    for (int i = 0; i < 24; i++) wide[i] = (uint16_t)(i * 257);
    CHECK_STATUS(sdd_image_create(3, 2, SDD_PIXEL_FORMAT_RGBA16, wide, 24, &deep), SDD_OK);
    CHECK_STATUS(sdd_image_encode(deep, &options, &bytes), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(bytes), TOY_SIZE - 24 + 5);
    CHECK(memcmp(sdd_bytes_data(bytes), toy_bytes(1, NO_FAULT), TOY_SIZE - 24) == 0);
    sdd_image_release(deep);
    sdd_bytes_release(bytes);
    /* The encoder searches for the quality that fits. */
    options.quality = 0;
    options.max_bytes = 32 + 40;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    CHECK_EQUAL(sdd_bytes_size(bytes), 32 + 40);
    sdd_bytes_release(bytes);
    options.max_bytes = 0;
    options.quality = 3;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_ERROR_UNSUPPORTED);
    options.quality = 4;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_ERROR_NO_RESOURCES);
    CHECK(bytes == NULL);
    /* The application's encoder replaces the library's own. */
    options.quality = 7;
    options.format = SDD_IMAGE_FORMAT_JPEG;
    CHECK_STATUS(sdd_process_add_coder(&coders[2]), SDD_OK);
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    CHECK(sdd_bytes_size(bytes) == 32 + 7 && memcmp(sdd_bytes_data(bytes), "TOY!", 4) == 0);
    sdd_bytes_release(bytes);
    CHECK_STATUS(sdd_process_remove_coder("jpeg"), SDD_OK);
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_OK);
    CHECK_EQUAL(sdd_image_sniff(sdd_bytes_data(bytes), sdd_bytes_size(bytes)), SDD_IMAGE_FORMAT_JPEG);
    sdd_bytes_release(bytes);
    CHECK_STATUS(sdd_process_remove_coder("plain"), SDD_OK);
    CHECK_STATUS(sdd_process_remove_coder("encodes"), SDD_OK);
    CHECK(own.freed == 1 && plain.freed == 1 && jpeg.freed == 1);
    options.format = SDD_IMAGE_FORMAT_GIF;
    CHECK_STATUS(sdd_image_encode(image, &options, &bytes), SDD_ERROR_UNSUPPORTED);
}

/* ------------------------------------------------------------------------------ removal and the end */

static sem_t is_inside, may_go_on;

static void wait_in_next(toy *self)
{
    (void)self;
    sem_post(&is_inside);
    take(&may_go_on);
}

CASE(a_coder_is_removed_while_it_decodes)
{
    OWNED_RECORD r = RECORD_INIT;
    toy own = { .in_next = wait_in_next };
    sdd_coder coder = toy_coder(&own);
    sdd_downloader *downloader = toy_downloader();
    sem_init(&is_inside, 0, 0);
    sem_init(&may_go_on, 0, 0);
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    toy_body.bytes = toy_bytes(1, NO_FAULT);
    toy_body.size = TOY_SIZE;
    record_submit(downloader, &r, "toy:body", 0);
    take(&is_inside);
    CHECK_STATUS(sdd_process_remove_coder("toy"), SDD_OK);
    CHECK_EQUAL(own.freed, 0);
    sem_post(&may_go_on);
    record_wait(&r);
    check_is_toy(&r);
    destroy(downloader);
    CHECK_EQUAL(own.freed, 1);
}

static void take_itself_back(toy *self) { CHECK_STATUS(sdd_process_remove_coder(self->name), SDD_OK); }

/* No lock is held while the coder is called, so it may remove itself. */
CASE(a_coder_removes_itself)
{
    OWNED_RECORD r = RECORD_INIT;
    toy own = { .in_next = take_itself_back };
    sdd_coder coder = toy_coder(&own);
    sdd_downloader *downloader = toy_downloader();
    CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(1, NO_FAULT), TOY_SIZE);
    check_is_toy(&r);
    destroy(downloader);
    CHECK_EQUAL(own.freed, 1);
}

/* An animated picture may be asked for more frames, so its coder lives as long as the picture. */
CASE(an_animated_picture_keeps_its_coder)
{
    OWNED_RECORD r = RECORD_INIT;
    toy own = { 0 };
    sdd_coder coder = toy_coder(&own);
    sdd_downloader *downloader = toy_downloader();
    CHECK_STATUS(sdd_downloader_add_coder(downloader, &coder), SDD_OK);
    toy_fetch(downloader, &r, toy_bytes(2, NO_FAULT), TOY_SIZE);
    check_is_toy(&r);
    destroy(downloader);
    CHECK_EQUAL(own.freed, 0);
    record_clear(&r);
    CHECK_EQUAL(own.freed, 1);
}

enum { ROUNDS = 200, COMERS = 8 };
static atomic_int is_over;

static void *come_and_go(void *unused)
{
    static toy comers[COMERS];
    int count = 0;
    for (; !is_over || count < COMERS; count++) {
        toy *own = &comers[count % COMERS];
        while (own->name && own->freed == 0) sched_yield(); /* another thread still uses it */
        *own = (toy){ 0 };
        sdd_coder coder = toy_coder(own);
        CHECK_STATUS(sdd_process_add_coder(&coder), SDD_OK);
        for (int turn = 0; turn < count % 16; turn++) sched_yield();
        CHECK_STATUS(sdd_process_remove_coder("toy"), SDD_OK);
    }
    for (int i = 0; i < COMERS; i++)
        while (comers[i].freed == 0) sched_yield();
    return unused;
}

CASE(coders_come_and_go_while_pictures_are_decoded)
{
    int rounds = scaled(ROUNDS), count = 0;
    record *records = calloc((size_t)rounds, sizeof *records);
    OWNED_DOWNLOADER downloader = toy_downloader();
    pthread_t thread;
    toy_body.bytes = toy_bytes(1, NO_FAULT);
    toy_body.size = TOY_SIZE;
    is_over = 0;
    CHECK(pthread_create(&thread, NULL, come_and_go, NULL) == 0);
    for (int i = 0; i < rounds; i++) {
        char url[20];
        snprintf(url, sizeof url, "toy:%d", i);
        records[i] = (record)RECORD_INIT;
        record_submit(downloader, &records[i], url, 0);
    }
    for (int i = 0; i < rounds; i++) {
        record_wait(&records[i]);
        if (records[i].error == SDD_OK) check_is_toy(&records[i]), count++;
        else CHECK_ENDED(&records[i], SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
        record_clear(&records[i]);
    }
    is_over = 1;
    pthread_join(thread, NULL);
    printf("%d of %d pictures were decoded by a coder\n", count, rounds);
    free(records);
}

/* --------------------------------------------------------------------------------------- arguments */

/* ----------------------------------------------------------------------------------- shared objects */

/* Returns the path of a variant of loadable_coder.c, built by run.sh. */
static const char *object(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/loadable_%s.so", setting("SDD_TEST_OBJECTS"), name);
    return path;
}

static void check_load(const char *path, sdd_status expected, const char *part)
{
    CHECK_STATUS(sdd_process_load_coder_wait(path), expected);
    const char *message = sdd_last_error_message();
    if (expected != SDD_OK && (strstr(message, part) == NULL || message[strlen(message) - 1] != '.'))
        FAIL("not a sentence: %s", message);
}

CASE(a_coder_from_a_shared_object)
{
    OWNED_RECORD r = RECORD_INIT;
    OWNED_DOWNLOADER downloader = toy_downloader();
    check_load(object("good"), SDD_OK, "");
    toy_fetch(downloader, &r, (const uint8_t *)"LOAD", 4);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK(image_info(r.image).format == 2000 && sdd_image_pixels(r.image)[0] == 9);
    /* The coder is removed, and the object loaded again. */
    CHECK_STATUS(sdd_process_remove_coder("loadable"), SDD_OK);
    toy_fetch(downloader, &r, (const uint8_t *)"LOAD", 4);
    CHECK_ENDED(&r, SDD_ERROR_BAD_IMAGE_DATA, SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
    CHECK_STATUS(sdd_process_load_coder_wait(object("good")), SDD_OK);
    toy_fetch(downloader, &r, (const uint8_t *)"LOAD", 4);
    CHECK_ENDED(&r, SDD_OK, 0);
    CHECK_STATUS(sdd_process_remove_coder("loadable"), SDD_OK);
    CHECK_STATUS(sdd_process_remove_coder("loadable"), SDD_ERROR_NOT_FOUND);
}

CASE(a_shared_object_without_a_coder)
{
    const char *no_path = NULL;
    check_load(no_path, SDD_ERROR_INVALID_ARGUMENT, "path");
    check_load("", SDD_ERROR_INVALID_ARGUMENT, "path");
    check_load(object("missing"), SDD_ERROR_FILE_NOT_READABLE, "loadable_missing.so");
    check_load(address_at("SDD_TEST_FIXTURES", "png/rgb8.png"), SDD_ERROR_FILE_NOT_READABLE, "rgb8.png");
    check_load("libm.so.6", SDD_ERROR_NOT_FOUND, "sdd_coder_main");
    check_load(object("none"), SDD_ERROR_NOT_FOUND, "gives no coder");
    check_load(object("partial"), SDD_ERROR_INVALID_ARGUMENT, "next");
    check_load(object("newer"), SDD_ERROR_UNSUPPORTED, "newer");
    check_load(object("unsized"), SDD_ERROR_INVALID_ARGUMENT, "struct_size");
}

/* ----------------------------------------------------------------------------------------- formats */

CASE(b34_formats_by_their_magic_number)
{
    static const struct { const char *bytes; size_t size; int32_t format; } all[] = {
        { "\xff\xd8\xff", 3, SDD_IMAGE_FORMAT_JPEG }, { "\xff\xd8", 2, 0 },
        { "\x89PNG\r\n\x1a\n", 8, SDD_IMAGE_FORMAT_PNG }, { "\x89PNG", 4, 0 },
        { "GIF89a", 6, SDD_IMAGE_FORMAT_GIF }, { "G", 1, 0 },
        { "RIFF\1\2\3\4WEBP", 12, SDD_IMAGE_FORMAT_WEBP }, { "RIFF\1\2\3\4WAVE", 12, 0 },
        { "\0\0\0\x1c" "ftypavif\0\0\0\0mif1miaf", 24, SDD_IMAGE_FORMAT_AVIF },
        { "\0\0\0\x18" "ftypheic\0\0\0\0mif1heic", 24, SDD_IMAGE_FORMAT_HEIF }, { "\0\0\0\x18", 4, 0 },
        { "II*\0", 4, SDD_IMAGE_FORMAT_TIFF }, { "MM\0*", 4, SDD_IMAGE_FORMAT_TIFF }, { "IM*\0", 4, 0 },
        { "BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0", 18, SDD_IMAGE_FORMAT_BMP }, { "BM is no picture, I fear", 24, 0 },
        { "%PDF-1.4", 8, SDD_IMAGE_FORMAT_PDF }, { "<?xml version='1.0'?><svg>", 26, SDD_IMAGE_FORMAT_SVG },
        { "<html>", 6, 0 }, { "", 0, 0 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint8_t *copy = malloc(all[i].size + 1); /* so that a read past the end is detected */
        memcpy(copy, all[i].bytes, all[i].size);
        copy = realloc(copy, all[i].size ? all[i].size : 1);
        CHECK_EQUAL(sdd_image_sniff(copy, all[i].size), all[i].format);
        free(copy);
    }
    CHECK_EQUAL(sdd_image_sniff(NULL, 0), 0);
    CHECK_EQUAL(sdd_image_sniff(NULL, 5), 0);
    CHECK_EQUAL(sdd_image_sniff("GIF89a", SIZE_MAX), 0);
}

int main(void) { return run_cases(); }

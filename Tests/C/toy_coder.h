/*
 * toy_coder.h - a coder of a made-up format, which fails on demand, and a transport that serves its bodies.
 *
 * The format: "TOY!", then one byte each of width, height, number of frames, fault; then RGBA, frame after frame.
 */
#ifndef TOY_CODER_H
#define TOY_CODER_H

#include "record.h"

#include <stdatomic.h>

enum { TOY_FORMAT = SDD_IMAGE_FORMAT_APPLICATION + 7 };

/* The faults that a body can ask the coder for. */
enum fault {
    NO_FAULT, NO_WIDTH, NEGATIVE_HEIGHT, NO_PIXELS, SHORT_STRIDE, HUGE_STRIDE, NO_FORMAT, NO_ORIENTATION,
    NEGATIVE_COUNT, LARGER_THAN_PICTURE, FEED_REFUSES, NO_FRAME, NEEDS_MORE, OTHER_STATUS, A_DETAIL, NO_MEMORY,
    ENDLESS, OVER_MAX_PIXELS, NOTHING_AT_ALL, BEYOND_MAX_PIXELS,
    /* Faults of `open`, which has no bytes yet: set by the coder's `fault_of_open`. */
    OPEN_REFUSES, NO_DECODER,
    /* This and further ones make `next` return SDD_DETAIL_IMAGE_EMPTY and the details that follow it. */
    FIRST_DETAIL = 200
};

/* One coder; it is its own user data. */
typedef struct toy {
    const char *name;
    int32_t format;
    const char *magic; /* 4 bytes */
    atomic_int asked, opened, closed, freed, inside;
    _Atomic int32_t wanted_side;
    _Atomic int64_t max_pixels;
    enum fault fault_of_open;
    void (*in_next)(struct toy *self);
} toy;

/* A decoder, made by `open`. */
typedef struct toy_decoder {
    toy *coder;
    const uint8_t *bytes;
    size_t size;
    int frame, is_used;
} toy_decoder;

static inline int32_t toy_can_decode(const void *bytes, size_t size, void *user_data)
{
    toy *coder = user_data;
    coder->asked++;
    CHECK(coder->freed == 0);
    size_t known = size < 4 ? size : 4;
    if (memcmp(bytes, coder->magic, known) != 0) return 0;
    return known < 4 ? -1 : 1;
}

static inline sdd_status toy_open(const sdd_coder_task *task, void **out, void *user_data)
{
    toy *coder = user_data;
    CHECK(task->struct_size == sizeof *task && *out == NULL && coder->freed == 0);
    coder->wanted_side = task->wanted_side;
    coder->max_pixels = task->max_pixels;
    if (coder->fault_of_open == OPEN_REFUSES) return SDD_ERROR_NO_RESOURCES;
    if (coder->fault_of_open == NO_DECODER) return SDD_OK;
    toy_decoder *decoder = calloc(1, sizeof *decoder);
    decoder->coder = coder;
    *out = decoder;
    coder->opened++;
    return SDD_OK;
}

/* Checks that only one thread at a time uses a decoder. */
static inline void begin_use(toy_decoder *decoder, void *user_data)
{
    CHECK(decoder->coder == user_data && decoder->is_used == 0 && decoder->coder->freed == 0);
    decoder->is_used = 1;
    decoder->coder->inside++;
}

static inline sdd_status end_use(toy_decoder *decoder, sdd_status status)
{
    decoder->is_used = 0;
    decoder->coder->inside--;
    return status;
}

static inline sdd_status toy_feed(void *given, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    toy_decoder *decoder = given;
    begin_use(decoder, user_data);
    CHECK(decoder->bytes == NULL && is_last == 1); /* the whole body, which stays valid */
    decoder->bytes = bytes;
    decoder->size = size;
    if (size > 7 && decoder->bytes[7] == FEED_REFUSES) return end_use(decoder, SDD_ERROR_BAD_IMAGE_DATA);
    return end_use(decoder, SDD_OK);
}

static inline sdd_status toy_next(void *given, sdd_coder_frame *frame, void *user_data)
{
    static const sdd_coder_frame empty = { .struct_size = sizeof empty };
    toy_decoder *decoder = given;
    begin_use(decoder, user_data);
    CHECK(memcmp(frame, &empty, sizeof empty) == 0);
    if (decoder->coder->in_next) decoder->coder->in_next(decoder->coder);
    if (decoder->size < 8) return end_use(decoder, SDD_ERROR_INCOMPLETE);
    const uint8_t *head = decoder->bytes;
    size_t bytes = (size_t)head[4] * head[5] * 4, at = 8 + bytes * (size_t)decoder->frame;
    if (decoder->frame == head[6]) return end_use(decoder, SDD_ERROR_NOT_FOUND);
    if (at + bytes > decoder->size) return end_use(decoder, SDD_ERROR_INCOMPLETE);
    decoder->frame++;
    frame->pixels = head + at;
    frame->stride = (size_t)head[4] * 4;
    frame->width = head[4];
    frame->height = head[5];
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
    frame->frame_count = head[6];
    frame->duration_us = 40000;
    if (head[7] >= FIRST_DETAIL) return end_use(decoder, SDD_DETAIL_IMAGE_EMPTY + head[7] - FIRST_DETAIL);
    switch ((enum fault)head[7]) {
    case NO_WIDTH: frame->width = 0; break;
    case NEGATIVE_HEIGHT: frame->height = INT32_MIN; break;
    case NO_PIXELS: frame->pixels = NULL; break;
    case SHORT_STRIDE: frame->stride--; break;
    case HUGE_STRIDE: frame->stride = SIZE_MAX; break;
    case NO_FORMAT: frame->pixel_format = 99; break;
    case NO_ORIENTATION: frame->orientation = 9; break;
    case NEGATIVE_COUNT: frame->frame_count = -1; break;
    case LARGER_THAN_PICTURE: frame->picture_width = frame->picture_height = 1; break;
    case NO_FRAME: return end_use(decoder, SDD_ERROR_NOT_FOUND);
    case NEEDS_MORE: return end_use(decoder, SDD_ERROR_INCOMPLETE);
    case OTHER_STATUS: return end_use(decoder, -77);
    case A_DETAIL: return end_use(decoder, SDD_DETAIL_IMAGE_TOO_MANY_SCANS);
    case NO_MEMORY: return end_use(decoder, SDD_ERROR_NO_RESOURCES);
    case ENDLESS: frame->frame_count = INT32_MAX; break;
    case OVER_MAX_PIXELS: frame->width = INT32_MAX; frame->height = 1 << 29; frame->stride = (size_t)1 << 33; break;
    case BEYOND_MAX_PIXELS: return end_use(decoder, SDD_DETAIL_IMAGE_TOO_MANY_PIXELS);
    case NOTHING_AT_ALL: *frame = empty; break;
    default: break;
    }
    return end_use(decoder, SDD_OK);
}

/* Writes "TOY!", the size, one frame and the quality; then as many bytes as the quality says. */
static inline sdd_status toy_encode(
    const sdd_coder_frame *picture, int32_t quality, sdd_coder_write_fn write, void *context, void *user_data)
{
    const uint8_t head[8] = { 'T', 'O', 'Y', '!', (uint8_t)picture->width, (uint8_t)picture->height, 1, 0 };
    CHECK(((toy *)user_data)->freed == 0 && picture->struct_size == sizeof *picture);
    CHECK(picture->pixel_format == SDD_PIXEL_FORMAT_RGBA8 && picture->stride >= (size_t)picture->width * 4);
    CHECK_STATUS(write(context, NULL, 1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(write(context, head, SIZE_MAX), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(write(NULL, head, 1), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(write(context, NULL, 0), SDD_OK);
    if (quality == 3) return SDD_ERROR_BAD_IMAGE_DATA;
    if (quality == 4) return SDD_ERROR_NO_RESOURCES;
    CHECK_STATUS(write(context, head, sizeof head), SDD_OK);
    for (int y = 0; y < picture->height; y++)
        CHECK_STATUS(write(context, (const uint8_t *)picture->pixels + (size_t)y * picture->stride,
                           (size_t)picture->width * 4), SDD_OK);
    for (int i = 0; i < quality; i++) CHECK_STATUS(write(context, "+", 1), SDD_OK);
    return SDD_OK;
}

static inline void toy_close(void *given, void *user_data)
{
    toy_decoder *decoder = given;
    CHECK(decoder->coder == user_data && decoder->is_used == 0 && decoder->coder->freed == 0);
    decoder->coder->closed++;
    free(decoder);
}

static inline void toy_free(void *user_data)
{
    toy *coder = user_data;
    CHECK(coder->inside == 0 && coder->opened == coder->closed && coder->freed == 0);
    coder->freed++;
}

static inline sdd_coder toy_coder(toy *coder)
{
    sdd_coder made = SDD_CODER_INIT;
    if (coder->name == NULL) coder->name = "toy";
    if (coder->format == 0) coder->format = TOY_FORMAT;
    if (coder->magic == NULL) coder->magic = "TOY!";
    made.name = coder->name;
    made.mime_type = "image/x-toy";
    made.format = coder->format;
    made.can_decode = toy_can_decode;
    made.open = toy_open;
    made.feed = toy_feed;
    made.next = toy_next;
    made.close = toy_close;
    made.user_data = coder;
    made.user_data_free = toy_free;
    return made;
}

/* ------------------------------------------------------------------------- bodies without a network */

/* The body that every URL of the scheme "toy" gives. Set it only while no request runs. */
static struct { const uint8_t *bytes; size_t size; } toy_body;

static inline void toy_start(sdd_transfer transfer, const sdd_transfer_request *request, void *user_data)
{
    (void)request, (void)user_data;
    CHECK_STATUS(sdd_transfer_write(transfer, toy_body.bytes, toy_body.size), SDD_OK);
    CHECK_STATUS(sdd_transfer_finish(transfer, SDD_OK, NULL), SDD_OK);
}

static inline void toy_cancel(sdd_transfer transfer, void *user_data)
{
    (void)transfer, (void)user_data;
}

static inline sdd_downloader *toy_downloader_with(const sdd_downloader_config *config)
{
    sdd_downloader *downloader = make_downloader(config);
    sdd_transport transport = SDD_TRANSPORT_INIT;
    transport.scheme = "toy";
    transport.start = toy_start;
    transport.cancel = toy_cancel;
    CHECK_STATUS(sdd_downloader_add_transport(downloader, &transport), SDD_OK);
    return downloader;
}

static inline sdd_downloader *toy_downloader(void) { return toy_downloader_with(NULL); }

/* Returns a picture of 3 x 2 pixels with 2 frames: 0, 1, 2, ... */
enum { TOY_SIZE = 8 + 2 * 3 * 2 * 4 };
static inline const uint8_t *toy_bytes(int frames, enum fault fault)
{
    static uint8_t made[TOY_SIZE];
    const uint8_t head[8] = { 'T', 'O', 'Y', '!', 3, 2, (uint8_t)frames, (uint8_t)fault };
    memcpy(made, head, 8);
    for (int i = 8; i < TOY_SIZE; i++) made[i] = (uint8_t)(i - 8);
    return made;
}

/* Fetches a body and records the result in `r`. */
static inline void toy_fetch(sdd_downloader *downloader, record *r, const uint8_t *bytes, size_t size)
{
    toy_body.bytes = bytes;
    toy_body.size = size;
    fetch(downloader, r, "toy:body", 0);
}

#endif

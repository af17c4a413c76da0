/*
 * coder.h - what the coders share: the body that a coder is fed, and what every coder's frames have in common.
 */
#ifndef CODER_H
#define CODER_H

#include <sdd/sdd.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <string.h>

/* Coders are compiled with hidden symbols; this one is visible. */
#define CODER_EXPORT __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------ body */

/* The bytes that a coder is fed, in one piece. If the first piece is the whole body, nothing is copied. */
struct body {
    const unsigned char *bytes;
    size_t size;
    int is_whole;
    unsigned char *copy; /* copy of a body that came in pieces; else NULL */
    size_t room;
    int takes_much; /* see body_free() */
};

/* The `feed` of each coder: appends a piece to the body, which is the first member of its decoder. */
static inline sdd_status body_feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    struct body *body = decoder;
    (void)user_data;
    body->is_whole = is_last != 0;
    if (body->copy == NULL && is_last) {
        body->bytes = bytes;
        body->size = size;
        return SDD_OK;
    }
    if (size > body->room - body->size) {
        size_t room = body->size + size;
        unsigned char *copy;
        if (room < size || room > (size_t)-1 / 2) return SDD_ERROR_NO_RESOURCES;
        room += room / 2;
        copy = realloc(body->copy, room);
        if (copy == NULL) return SDD_ERROR_NO_RESOURCES;
        body->bytes = body->copy = copy;
        body->room = room;
    }
    if (size > 0) memcpy(body->copy + body->size, bytes, size);
    body->size += size;
    return SDD_OK;
}

/* The last of a decoder's memory to be freed. That of a large picture goes back to the system, since malloc would keep
   it for each thread, while libsdd gives the room for it to others. */
static inline void body_free(struct body *body)
{
    free(body->copy);
#ifdef __GLIBC__
    if (body->takes_much) malloc_trim(0);
#endif
}

/* Takes the next frame of an animation that is to be encoded, from the source of an `encode_frames`. */
static inline sdd_status take_frame(sdd_coder_next_fn next, void *source, sdd_coder_frame *frame)
{
    memset(frame, 0, sizeof *frame);
    frame->struct_size = sizeof *frame;
    return next(source, frame);
}

/* Whether what there is of a damaged body is to be shown. */
static inline int keeps_rest(const sdd_coder_task *task)
{
    return task->struct_size > offsetof(sdd_coder_task, damage) && task->damage == SDD_DAMAGE_KEEP_REST;
}

/* --------------------------------------------------------------------------------- first bytes */

/* Returns 1 if the bytes begin with the magic number, 0 if they do not, -1 if they are too few to tell. */
static inline int32_t begins_with(const void *bytes, size_t size, const void *magic, size_t length)
{
    if (memcmp(bytes, magic, size < length ? size : length) != 0) return 0;
    return size < length ? -1 : 1;
}

/* Returns 1 if the bytes begin with a file type box (ISO/IEC 14496-12, 4.3) that has one of the brands, of 4 bytes
   each; 0 if they do not; -1 if they are too few to tell. The compatible brands, at most 64, count only if the major
   brand allows any kind of picture. */
static inline int32_t has_brand(const void *given, size_t size, const char *brands)
{
    const unsigned char *bytes = given;
    size_t length;
    int is_any = 0;
    if (size < 16) return size < 8 || memcmp(bytes + 4, "ftyp", 4) == 0 ? -1 : 0;
    if (memcmp(bytes + 4, "ftyp", 4) != 0) return 0;
    length = (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    if (length < 16) return 0;
    if (length > 16 + 64 * 4) length = 16 + 64 * 4;
    for (size_t at = 8; at + 4 <= length; at += at == 8 ? 8 : 4) {
        if (at + 4 > size) return -1;
        for (const char *brand = brands; *brand != 0; brand += 4)
            if (memcmp(bytes + at, brand, 4) == 0) return 1;
        if (at == 8) is_any = memcmp(bytes + 8, "mif1", 4) == 0 || memcmp(bytes + 8, "msf1", 4) == 0;
        if (!is_any) return 0;
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------- frames */

/* Checks the size of a picture before memory is taken for it. */
static inline sdd_status check_size(int64_t width, int64_t height, int64_t max_pixels)
{
    if (width <= 0 || height <= 0) return SDD_DETAIL_IMAGE_ZERO_PIXELS;
    /* The limits of each side keep the product, and the bytes of a row, below the largest number. */
    if (width > INT32_MAX / 4 || height > INT32_MAX || width * height > max_pixels)
        return SDD_DETAIL_IMAGE_TOO_MANY_PIXELS;
    return SDD_OK;
}

/* Fills an estimate: a number of bytes for each pixel of the picture, and some more. */
static inline sdd_status fill_estimate(sdd_coder_estimate *estimate, struct body *body, int64_t width, int64_t height,
                                       double bytes_per_pixel, double more)
{
    double bytes = (double)width * (double)height * bytes_per_pixel + more;
    estimate->width = (int32_t)width; /* as `check_size` has checked */
    estimate->height = (int32_t)height;
    estimate->decode_bytes = bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
    body->takes_much = bytes > 8 << 20;
    return SDD_OK;
}

static inline void fill_frame(sdd_coder_frame *frame, const void *pixels, int32_t width, int32_t height)
{
    frame->pixels = pixels;
    frame->stride = (size_t)width * 4;
    frame->width = width;
    frame->height = height;
    frame->pixel_format = SDD_PIXEL_FORMAT_RGBA8;
}

/* Gives out a profile, unless it is one of greys (ICC.1, 7.2.8) for a picture of colours, which says nothing of them:
   browsers ignore it. */
static inline void fill_profile(sdd_coder_frame *frame, const void *profile, size_t size, int is_grey)
{
    if (size < 20 || (!is_grey && memcmp((const char *)profile + 16, "GRAY", 4) == 0)) return;
    frame->icc_profile = profile;
    frame->icc_profile_size = size;
}

#endif

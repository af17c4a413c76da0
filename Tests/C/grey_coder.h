/*
 * grey_coder.h - functions of a coder without state, for whom each picture is one grey pixel.
 */
#ifndef GREY_CODER_H
#define GREY_CODER_H

#include <sdd/sdd.h>

static sdd_status open_one(const sdd_coder_task *task, void **decoder, void *user_data)
{
    static char only; /* the coder has no state */
    (void)task, (void)user_data;
    *decoder = &only;
    return SDD_OK;
}

static sdd_status feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    return SDD_OK;
}

static sdd_status next(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    static const unsigned char pixel = 9;
    (void)decoder, (void)user_data;
    frame->pixels = &pixel;
    frame->stride = 1;
    frame->width = frame->height = 1;
    frame->pixel_format = SDD_PIXEL_FORMAT_GREY8;
    return SDD_OK;
}

static void close_one(void *decoder, void *user_data) { (void)decoder, (void)user_data; }

#endif

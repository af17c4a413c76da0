/*
 * body.h - joins the bytes that a coder is fed, for decoding libraries that need them in one piece. If the first piece
 * is the whole body, nothing is copied.
 */
#ifndef BODY_H
#define BODY_H

#include <sdd/sdd.h>
#include <stdlib.h>
#include <string.h>

struct body {
    const unsigned char *bytes;
    size_t size;
    int is_whole;
    unsigned char *copy; /* copy of a body that came in pieces; else NULL */
    size_t room;
};

/* The work of `feed`: appends a piece. */
static sdd_status body_add(struct body *body, const void *bytes, size_t size, int32_t is_last)
{
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

static void body_free(struct body *body) { free(body->copy); }

#endif

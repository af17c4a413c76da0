/* The facts about one picture, for sdd info. */
#ifndef SDD_TOOL_PICTURE_H
#define SDD_TOOL_PICTURE_H

#include "session.h"

struct picture {
    const char *source;
    uint64_t number;
    sdd_failure failure; /* with message NULL: one that stands for the status */
    int exit_status;

    sdd_image_info info; /* format 0: none */
    int32_t format;
    int64_t size;     /* of the whole file or body; -1: unknown */
    int64_t read;     /* bytes that were read */
    bool whole;       /* all of it was read */
    bool shown;       /* its pixels are shown, in sRGB */
    bool by_coder;    /* the facts are those of a coder, which does not know how the picture is stored */
    sdd_image *image; /* not decoded, for its metadata; NULL: none */
    sdd_bytes *hash;  /* with --thumbhash; NULL: it was not asked for, or the picture cannot be decoded */

    int32_t http_status; /* 0: a file */
    int32_t requests;
    const char *type, *final_url, *modified, *tag;
};

/* Reads facts and metadata from a descriptor with the first bytes of a picture, or all of them (picture->whole). */
void picture_read(struct picture *picture, struct session *session, int fd);

/* Tells whether the facts of a picture with these first bytes are known only when all of it is there: its format has a
   coder, which does not decode a beginning. */
bool picture_needs_all(const void *data, size_t size);

void picture_print(const struct picture *picture, const struct settings *settings);

#endif

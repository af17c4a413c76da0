/*
 * pictures.h - the pictures of the hosts: PNG, JPEG, and those of a coder of the application, which cost time and memory
 * and can be shown while they arrive.
 */
#ifndef PICTURES_H
#define PICTURES_H

#include <sdd/sdd.h>

#include "scheduler.h"

enum { PICTURES = 16, FIRST_WIDTH = 8, HEIGHT = 6 };

/* What a URL names. */
struct place { int host, picture; char temper; };

extern struct body { uint8_t *bytes; size_t size; } bodies[PICTURES];
/* Whether pictures cost no time. */
extern int draws_at_once;

/* Makes the bodies of all pictures, once in a process. */
void make_pictures(void);
const sdd_coder *costly_coder(void);

int width_of(int picture);
/* Whether an image is the picture that it should be, or smaller. */
void check_picture(sdd_image *image, const struct place *place);
void check_bytes(sdd_bytes *bytes, const struct place *place);
/* Returns a copy of a picture's body, owned by the caller. */
sdd_bytes *body_of(int picture);

#endif

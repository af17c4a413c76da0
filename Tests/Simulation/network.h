/* network.h - the hosts of a simulation: a transport of the application, and a thread that answers. */
#ifndef NETWORK_H
#define NETWORK_H

#include <sdd/sdd.h>

#include "scheduler.h"

enum { PICTURES = 16, TEMPERS = 12, HOSTS = 4, FIRST_WIDTH = 8, HEIGHT = 6 };

/* What a URL names. */
struct place { int host, picture; char temper; };

/* Makes the bodies of all pictures, once in a process. */
void make_pictures(void);
/* Returns the coder of the pictures that cost time and memory. */
const sdd_coder *costly_coder(void);

/* Hosts of a quiet network answer at once, and their pictures cost no time. */
void start_network(uint64_t seed, int is_quiet);
/* Hosts answer at once from now on, as they should. */
void calm_network(void);
/* Ends the thread. Transfers must have ended. */
void end_network(void);

/* Adds the transport to a downloader. At most that many transfers may be live at a time, in all and for each host. */
void add_transport(sdd_downloader *downloader, int number, int most, int most_per_host);

void write_url(char *out, size_t size, const struct place *place);
struct place read_url(const char *url);
const char *temper_name(char temper);
int width_of(int picture);
/* Whether an image is the picture that it should be, or smaller. */
void check_picture(sdd_image *image, const struct place *place);
void check_bytes(sdd_bytes *bytes, const struct place *place);
/* Returns a copy of a picture's body, owned by the caller. */
sdd_bytes *body_of(int picture);

#endif

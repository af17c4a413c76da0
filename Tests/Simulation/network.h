/*
 * network.h - the hosts of a simulation. They answer transfers of libcurl (see fake_curl.h), and those of a transport of
 * the application, which has a thread for it.
 */
#ifndef NETWORK_H
#define NETWORK_H

#include <sdd/sdd.h>

#include "pictures.h"
#include "scheduler.h"

enum { TEMPERS = 12, HOSTS = 4 };

/* Hosts of a quiet network answer at once, and their pictures cost no time. */
void start_network(uint64_t seed, int is_quiet);
/* Hosts answer at once from now on, as they should. */
void calm_network(void);
/* Ends the thread. Transfers must have ended. */
void end_network(void);

/* At most that many transfers of a downloader may be live at a time, in all and for each host. */
void set_limits(int number, int most, int most_per_host);
/* A downloader is in the background since then, for at most three seconds of grace; 0: it is not. */
void put_in_background(int number, int64_t since);
/* Adds the transport to a downloader, which otherwise uses libcurl. */
void add_transport(sdd_downloader *downloader, int number);

void write_url(char *out, size_t size, const struct place *place);
struct place read_url(const char *url);
const char *temper_name(char temper);

#endif

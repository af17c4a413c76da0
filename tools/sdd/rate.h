/* --limit-rate: pauses all transfers of a downloader while more bytes have arrived than the rate allows. */
#ifndef SDD_TOOL_RATE_H
#define SDD_TOOL_RATE_H

#include "text.h"

#include <sdd/sdd.h>

struct rate {
    int64_t bytes_per_second; /* 0: no limit */
    int64_t paid_until;       /* now_us() at which the bytes that have arrived are within the rate */
    bool is_paused;
};

/* The size of the buffer with which the library reads from connections, so that little arrives before transfers pause. */
int32_t rate_buffer(int64_t bytes_per_second);

/* Counts bytes that have arrived. */
void rate_count(struct rate *rate, int64_t bytes);

/* Tells whether more bytes have arrived than the rate allows, so that no transfer may begin. */
bool rate_is_over(const struct rate *rate);

/* Pauses the transfers, or lets them go on. Returns the milliseconds after which it must be called again, or -1. */
int rate_keep(struct rate *rate, sdd_downloader *downloader);

#endif

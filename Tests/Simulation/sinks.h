/*
 * sinks.h - pipes into which downloads are written. They are full at first, and a thread of the application reads them
 * slowly: so they push back. What comes out is compared with the body.
 */
#ifndef SINKS_H
#define SINKS_H

#include "network.h"

struct sink;

void begin_sinks(void);
/* Returns NULL if there can be no more. The library is given `writing`, which the caller closes afterwards. */
struct sink *open_sink(struct chance *chance, int is_quick, int32_t *writing);
/* A download into the sink has succeeded, with so many bytes. */
void check_sink(struct sink *sink, int64_t size, const struct place *place);
/* Waits for the threads that read. */
void end_sinks(void);

#endif

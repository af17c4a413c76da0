/* The checksum that all programs of the benchmark print with --verify, so that their bytes and pixels can be compared. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_START UINT64_C(1469598103934665603)

/* Returns the FNV-1a hash, 64 bit, of the bytes behind those that `state` stands for; CHECKSUM_START: of none. */
uint64_t checksum(const uint8_t *bytes, size_t count, uint64_t state);

#endif

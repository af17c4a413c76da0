/*
 * checksum - the hash of one body or picture. The programs combine the hashes of all of them in two ways that do not
 * depend on their order: by exclusive or ("checksum"), and by addition modulo 2^64 ("sum"), which also notices an even
 * number of equal mistakes. The peers in Python call this file as a shared library.
 */
#include "checksum.h"

uint64_t checksum(const uint8_t *bytes, size_t count, uint64_t state)
{
    for (size_t i = 0; i < count; i++) state = (state ^ bytes[i]) * UINT64_C(1099511628211);
    return state;
}

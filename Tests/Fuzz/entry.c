/* The function that libFuzzer calls. It calls the one target of Targets/ that -DTARGET= names. */
#include <stddef.h>
#include <stdint.h>

int TARGET(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return TARGET(bytes, size);
}

/* What libFuzzer calls, for the one target that -DTARGET= names: a function of Targets/. */
#include <stddef.h>
#include <stdint.h>

int TARGET(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return TARGET(bytes, size);
}

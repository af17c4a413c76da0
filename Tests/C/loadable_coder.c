/* Source of the shared objects for test_coders: a coder of the body "LOAD", which is one grey pixel. run.sh builds it
   in several variants, all but one of them wrong. */
#include "grey_coder.h"

#include <string.h>

static int32_t can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    return size == 4 && memcmp(bytes, "LOAD", 4) == 0;
}

/* A coder struct with a field that only a newer header has. */
static struct { sdd_coder known; void *unknown; } coder;

const sdd_coder *sdd_coder_main(void);
const sdd_coder *sdd_coder_main(void)
{
    sdd_coder made = SDD_CODER_INIT;
    made.name = "loadable";
    made.format = 2000;
    made.can_decode = can_decode;
    made.open = open_one;
    made.feed = feed;
    made.next = next;
    made.close = close_one;
#ifdef PARTIAL
    made.next = NULL;
#endif
#ifdef NEWER
    made.struct_size = sizeof coder;
    coder.unknown = &coder;
#endif
#ifdef UNSIZED
    made.struct_size = 0;
#endif
    coder.known = made;
#ifdef NONE
    return NULL;
#else
    return &coder.known;
#endif
}

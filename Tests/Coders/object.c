/* Source of shared objects that stand in the place of coders, for discovery.c: variants that are good, and wrong. They
   tell the program that loads them, and may wait for it, through its function coder_is_loaded(). */
#define _GNU_SOURCE
#include "../C/grey_coder.h"

#include <dlfcn.h>

static int32_t can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)bytes, (void)size, (void)user_data;
    return 1;
}

const sdd_coder *sdd_coder_main(void);
#ifdef NAMELESS
#define sdd_coder_main another_name
#endif
const sdd_coder *sdd_coder_main(void)
{
    static sdd_coder coder = SDD_CODER_INIT;
    void (*is_loaded)(void);
    *(void **)&is_loaded = dlsym(RTLD_DEFAULT, "coder_is_loaded");
    if (is_loaded != NULL) is_loaded();
    coder.name = "object";
    coder.format = SDD_IMAGE_FORMAT_WEBP;
    coder.can_decode = can_decode;
    coder.open = open_one;
    coder.feed = feed;
    coder.next = next;
    coder.close = close_one;
#ifdef OTHER
    coder.format = SDD_IMAGE_FORMAT_GIF;
#endif
#ifdef PARTIAL
    coder.next = NULL;
#endif
#ifdef NONE
    return NULL;
#else
    return &coder;
#endif
}

/* Source of the shared objects for test_coders: a coder of the body "LOAD", which is one grey pixel. run.sh builds it
   in several variants, all but one of them wrong. */
#include <sdd/sdd.h>
#include <string.h>

static int32_t can_decode(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    return size == 4 && memcmp(bytes, "LOAD", 4) == 0;
}

static sdd_status open_one(const sdd_coder_task *task, void **decoder, void *user_data)
{
    static char only; /* the coder has no state */
    (void)task, (void)user_data;
    *decoder = &only;
    return SDD_OK;
}

static sdd_status feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    return SDD_OK;
}

static sdd_status next(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    static const unsigned char pixel = 9;
    (void)decoder, (void)user_data;
    frame->pixels = &pixel;
    frame->stride = 1;
    frame->width = frame->height = 1;
    frame->pixel_format = SDD_PIXEL_FORMAT_GREY8;
    return SDD_OK;
}

static void close_one(void *decoder, void *user_data) { (void)decoder, (void)user_data; }

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

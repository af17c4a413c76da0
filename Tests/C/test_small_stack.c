/* Calls on a thread with the stack that sdd.h asks for: what it creates, waits for, encodes and destroys there. */
#include "loads.h"

#include <pthread.h>

/* A sanitizer's frames are several times as large. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { STACK = 1 << 20 };
#else
enum { STACK = 128 << 10 };
#endif

static void *use_everything(void *nothing)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options small = SDD_DECODE_OPTIONS_INIT;
    sdd_cache_query_options query = SDD_CACHE_QUERY_OPTIONS_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    sdd_result *result = NULL;
    sdd_bytes *bytes = NULL;
    OWNED_LOADER l = open_loader();
    small.target_width = small.target_height = 20;
    request.url = query.key = at("/file/png/rgb8.png");
    request.decode = &small;
    get_from(&l, &r, request.url, 0, SDD_ORIGIN_NETWORK);
    leave_to_disk(&l);
    CHECK_STATUS(sdd_loader_submit_wait(l.loader, &request, -1, &result), SDD_OK);
    CHECK_STATUS(sdd_image_encode(result->image, NULL, &bytes), SDD_OK);
    sdd_bytes_release(bytes);
    sdd_result_release(result);
    CHECK_STATUS(sdd_cache_query_wait(l.cache.cache, &query, &result), SDD_OK);
    sdd_result_release(result);
    return nothing;
}

static void calls_on_a_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, use_everything, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0 && pthread_attr_destroy(&attributes) == 0);
}

int main(void)
{
    start_watchdog();
    RUN(calls_on_a_small_stack);
    return 0;
}

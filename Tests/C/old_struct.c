/* Every layout that was ever released stays valid: programs compiled against an old header hand these to
 * the library for ever. Compiled as C and as C++; what is here is added to, never changed.
 *
 * The structs of each release stand here, and in layout_*.h, under names of their own, with pointers as plain words. The
 * compiler compares them with today's header, the program hands them to the library: each at the end of
 * readable memory, so that a byte read or written beyond struct_size ends the program.
 */
#define _GNU_SOURCE 1
#include <sdd/sdd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
#define ASSERT(name, condition) static_assert(condition, #name)
#elif __STDC_VERSION__ >= 201112L
#define ASSERT(name, condition) _Static_assert(condition, #name)
#else
#define ASSERT(name, condition) typedef char assert_##name[(condition) ? 1 : -1]
#endif

/* The field has the place, and the size, that it had. */
#define SAME(type, release, field) \
    ASSERT(type##_##release##_##field, \
           offsetof(type, field) == offsetof(struct type##_##release, field) \
               && sizeof(((type *)0)->field) == sizeof(((struct type##_##release *)0)->field))
/* Today's struct is at least as large as that release's. */
#define GROWN(type, release) ASSERT(type##_##release##_grown, sizeof(type) >= sizeof(struct type##_##release))

/* ---- 0.1.0 */

typedef void (*pointer_0)(void); /* as large as any pointer */

struct sdd_downloader_config_0_1_0 {
    size_t struct_size;
    int32_t delivery, max_concurrent_downloads;
    int64_t download_timeout_ms, max_body_bytes, max_pixels;
    int32_t max_redirects, decode_threads, allow_file_urls, reserved;
    const char *ca_file, *ca_path;
    pointer_0 on_thread_start, on_thread_stop;
    void *thread_user_data;
};
SAME(sdd_downloader_config, 0_1_0, struct_size);
SAME(sdd_downloader_config, 0_1_0, delivery);
SAME(sdd_downloader_config, 0_1_0, max_concurrent_downloads);
SAME(sdd_downloader_config, 0_1_0, download_timeout_ms);
SAME(sdd_downloader_config, 0_1_0, max_body_bytes);
SAME(sdd_downloader_config, 0_1_0, max_pixels);
SAME(sdd_downloader_config, 0_1_0, max_redirects);
SAME(sdd_downloader_config, 0_1_0, decode_threads);
SAME(sdd_downloader_config, 0_1_0, allow_file_urls);
SAME(sdd_downloader_config, 0_1_0, reserved);
SAME(sdd_downloader_config, 0_1_0, ca_file);
SAME(sdd_downloader_config, 0_1_0, ca_path);
SAME(sdd_downloader_config, 0_1_0, on_thread_start);
SAME(sdd_downloader_config, 0_1_0, on_thread_stop);
SAME(sdd_downloader_config, 0_1_0, thread_user_data);
GROWN(sdd_downloader_config, 0_1_0);

struct sdd_request_0_1_0 {
    size_t struct_size;
    const char *url;
    uint64_t options;
    const char *method;
    const void *headers;
    size_t header_count;
    const void *body;
    size_t body_size;
    pointer_0 progress;
    sdd_completed_fn completed;
    void *user_data;
    pointer_0 user_data_free;
};
SAME(sdd_request, 0_1_0, struct_size);
SAME(sdd_request, 0_1_0, url);
SAME(sdd_request, 0_1_0, options);
SAME(sdd_request, 0_1_0, method);
SAME(sdd_request, 0_1_0, headers);
SAME(sdd_request, 0_1_0, header_count);
SAME(sdd_request, 0_1_0, body);
SAME(sdd_request, 0_1_0, body_size);
SAME(sdd_request, 0_1_0, progress);
SAME(sdd_request, 0_1_0, completed);
SAME(sdd_request, 0_1_0, user_data);
SAME(sdd_request, 0_1_0, user_data_free);
GROWN(sdd_request, 0_1_0);

struct sdd_event_0_1_0 {
    size_t struct_size;
    uint64_t token;
    void *user_data;
    int32_t kind, error;
    void *image, *bytes;
    int64_t received_bytes, expected_bytes;
    const void *result;
};
SAME(sdd_event, 0_1_0, struct_size);
SAME(sdd_event, 0_1_0, token);
SAME(sdd_event, 0_1_0, user_data);
SAME(sdd_event, 0_1_0, kind);
SAME(sdd_event, 0_1_0, error);
SAME(sdd_event, 0_1_0, image);
SAME(sdd_event, 0_1_0, bytes);
SAME(sdd_event, 0_1_0, received_bytes);
SAME(sdd_event, 0_1_0, expected_bytes);
SAME(sdd_event, 0_1_0, result);
GROWN(sdd_event, 0_1_0);

struct sdd_result_0_1_0 {
    size_t struct_size;
    uint64_t token;
    const char *url;
    void *image, *bytes;
    int32_t error, detail, http_status, curl_code, system_error, finished;
    const char *message;
    const void *timings;
};
SAME(sdd_result, 0_1_0, struct_size);
SAME(sdd_result, 0_1_0, token);
SAME(sdd_result, 0_1_0, url);
SAME(sdd_result, 0_1_0, image);
SAME(sdd_result, 0_1_0, bytes);
SAME(sdd_result, 0_1_0, error);
SAME(sdd_result, 0_1_0, detail);
SAME(sdd_result, 0_1_0, http_status);
SAME(sdd_result, 0_1_0, curl_code);
SAME(sdd_result, 0_1_0, system_error);
SAME(sdd_result, 0_1_0, finished);
SAME(sdd_result, 0_1_0, message);
SAME(sdd_result, 0_1_0, timings);
GROWN(sdd_result, 0_1_0);

struct sdd_timings_0_1_0 {
    size_t struct_size;
    int64_t queue_us, name_lookup_us, connect_us, tls_us, first_byte_us, transfer_us, decode_us, total_us;
};
SAME(sdd_timings, 0_1_0, struct_size);
SAME(sdd_timings, 0_1_0, queue_us);
SAME(sdd_timings, 0_1_0, name_lookup_us);
SAME(sdd_timings, 0_1_0, connect_us);
SAME(sdd_timings, 0_1_0, tls_us);
SAME(sdd_timings, 0_1_0, first_byte_us);
SAME(sdd_timings, 0_1_0, transfer_us);
SAME(sdd_timings, 0_1_0, decode_us);
SAME(sdd_timings, 0_1_0, total_us);
GROWN(sdd_timings, 0_1_0);

/* Fixed for ever: it has no struct_size. */
struct sdd_header_0_1_0 {
    const char *name, *value;
};
SAME(sdd_header, 0_1_0, name);
SAME(sdd_header, 0_1_0, value);
ASSERT(sdd_header_fixed, sizeof(sdd_header) == sizeof(struct sdd_header_0_1_0));

/* And the sizes as numbers, where a pointer has 8 bytes. */
#if UINTPTR_MAX == 0xffffffffffffffffu
ASSERT(config_0_1_0_size, sizeof(struct sdd_downloader_config_0_1_0) == 96);
ASSERT(request_0_1_0_size, sizeof(struct sdd_request_0_1_0) == 96);
ASSERT(event_0_1_0_size, sizeof(struct sdd_event_0_1_0) == 72);
ASSERT(result_0_1_0_size, sizeof(struct sdd_result_0_1_0) == 80);
ASSERT(timings_0_1_0_size, sizeof(struct sdd_timings_0_1_0) == 72);
#endif

/* ---- 0.2.0 */

#include "layout_0_2_0.h"

/* ---- the same, handed to the library */

static void expect(int condition, const char *what, size_t size)
{
    if (condition)
        return;
    fprintf(stderr, "old_struct.c: %s, struct_size %zu\n", what, size);
    exit(1);
}

/* `size` bytes of zeros, struct_size set, whose end is the end of readable memory. One at a time. */
static void *at_the_edge(size_t size)
{
    static unsigned char *pages;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (pages == NULL) {
        void *mapped = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        expect(mapped != MAP_FAILED && mprotect((unsigned char *)mapped + page, page, PROT_NONE) == 0, "no memory", size);
        pages = (unsigned char *)mapped;
    }
    memset(pages, 0xa5, page);
    memset(pages + page - size, 0, size);
    memcpy(pages + page - size, &size, sizeof size);
    return pages + page - size;
}

static void config_is_accepted(size_t size)
{
    sdd_downloader *downloader = NULL;
    expect(sdd_downloader_create((const sdd_downloader_config *)at_the_edge(size), &downloader) == SDD_OK,
           "sdd_downloader_create() refuses an old config", size);
    expect(sdd_downloader_destroy(downloader) == SDD_OK, "no destroy", size);
    expect(sdd_downloader_config_init((sdd_downloader_config *)at_the_edge(size), size) == SDD_OK,
           "sdd_downloader_config_init() refuses an old size", size);
}

static void config_is_refused(size_t size, size_t offset)
{
    sdd_downloader *downloader = NULL;
    unsigned char *config = (unsigned char *)at_the_edge(size);
    config[offset] = 1;
    expect(sdd_downloader_create((const sdd_downloader_config *)(void *)config, &downloader) == SDD_ERROR_UNSUPPORTED,
           "a field of a newer header is overlooked", size);
    expect(downloader == NULL, "an error gives a handle", size);
}

static int completions;

static void completed(const sdd_result *result, void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
    completions += result->error == SDD_ERROR_INVALID_URL;
    expect(result->struct_size >= sizeof(struct sdd_result_0_1_0), "a result smaller than it was", result->struct_size);
    expect(result->timings->struct_size >= sizeof(struct sdd_timings_0_1_0), "timings smaller than they were",
           result->timings->struct_size);
}

static void request_is_accepted(sdd_downloader *downloader, size_t size)
{
    struct sdd_request_0_1_0 *request = (struct sdd_request_0_1_0 *)at_the_edge(size);
    sdd_status status = SDD_ERROR_UNSUPPORTED;
    int before = completions;
    request->url = "";
    request->completed = completed;
    expect(sdd_download_request(downloader, (const sdd_request *)(const void *)request, &status) != 0 && status == SDD_OK,
           "sdd_download_request() refuses an old request", size);
    expect(sdd_wait_idle(downloader, 30000) == SDD_OK && completions == before + 1, "no completion", size);
    expect(sdd_request_init((sdd_request *)at_the_edge(size), size) == SDD_OK,
           "sdd_request_init() refuses an old size", size);
}

static void events_are_filled(sdd_downloader *downloader, size_t size)
{
    enum { COUNT = 3 };
    unsigned char *events = (unsigned char *)at_the_edge(COUNT * size);
    size_t got = 0, count = 0;
    memcpy(events, &size, sizeof size);
    for (int i = 0; i < COUNT; i++)
        expect(sdd_download(downloader, "", 0, NULL, NULL, NULL) != 0, "no request without a callback", size);
    for (; got < COUNT; got += count) {
        unsigned char *free_ones = events + got * size;
        memcpy(free_ones, &size, sizeof size);
        expect(sdd_wait(downloader, (sdd_event *)(void *)free_ones, COUNT - got, 30000, &count) == SDD_OK && count > 0,
               "sdd_wait() refuses an old event", size);
        for (size_t i = 0; i < count; i++) {
            struct sdd_event_0_1_0 event;
            memcpy(&event, free_ones + i * size, sizeof event);
            expect(event.token != 0 && event.kind == SDD_EVENT_COMPLETED && event.error == SDD_ERROR_INVALID_URL
                       && event.result != NULL,
                   "an event is not where it should be", size);
        }
    }
}

int main(void)
{
    /* As released; as short as it may be; and from a newer header, whose fields are zero. */
    config_is_accepted(sizeof(struct sdd_downloader_config_0_1_0));
    config_is_accepted(sizeof(size_t));
    config_is_accepted(offsetof(struct sdd_downloader_config_0_1_0, ca_file));
    config_is_accepted(sizeof(sdd_downloader_config) + 40);
    config_is_refused(sizeof(sdd_downloader_config) + 40, sizeof(sdd_downloader_config));
    config_is_refused(sizeof(sdd_downloader_config) + 40, sizeof(sdd_downloader_config) + 39);

    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    config.delivery = SDD_DELIVERY_HOST;
    expect(sdd_downloader_create(&config, &downloader) == SDD_OK, "no downloader", 0);
    request_is_accepted(downloader, sizeof(struct sdd_request_0_1_0));
    request_is_accepted(downloader, offsetof(struct sdd_request_0_1_0, user_data));
    request_is_accepted(downloader, sizeof(sdd_request) + 8);
    events_are_filled(downloader, sizeof(struct sdd_event_0_1_0));
    events_are_filled(downloader, sizeof(sdd_event) + 16);
    expect(sdd_downloader_destroy(downloader) == SDD_OK, "no destroy", 0);
    puts("ok old_struct.c");
    return 0;
}

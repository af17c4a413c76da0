/* Programs of older and newer headers can use the library: every struct that an application declares, those with an
   initialiser SDD_..._INIT, is passed at each size that a header may have given it. Each ends where readable memory
   ends, so that a byte read or written beyond struct_size ends the program. That fields never move is checked by
   Tests/abi/check-abi.sh. */
#include "readers.h"
#include "server.h"

#include <sys/mman.h>

static sdd_token waiting_request;
static sdd_image *image_with_gain_map;
static const char *what; /* the struct under test */
static char is_tested[STRUCT_COUNT];

/* Notes which struct is tested. */
static void test_of(const char *name)
{
    what = name;
    for (int i = 0; i < STRUCT_COUNT; i++)
        if (strcmp(header_structs[i]->name, name) == 0) is_tested[i] = 1;
}

static void expect(int condition, const char *message, size_t size)
{
    if (!condition) FAIL("%s: %s, size %zu: %s", what, message, size, sdd_last_error_message());
}

static void expect_ok(sdd_status status, const char *call)
{
    expect(status == SDD_OK, call, 0);
}
#define OK(call) expect_ok(call, #call)

/* Returns `size` zero bytes with struct_size set, which end where readable memory ends. Only one block exists at a
   time. */
static unsigned char *at_the_edge(size_t size)
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

static _Alignas(16) unsigned char cut[4096];

/* C gives a struct a size that is a multiple of its alignment. Any other size may cut a pointer in two, and the library
   would follow the half it sees: all bytes of this struct after struct_size are 0xff. */
static unsigned char *struct_cut_at(size_t size)
{
    memset(cut, 0xff, sizeof cut);
    memcpy(cut, &size, sizeof size);
    return cut;
}

/* ------------------------------------------------------------------- structs that the library reads */

/* Requests have no URL, and end at once. */
static int completions;

static void completed(const sdd_result *result, void *user_data) SDD_NOEXCEPT
{
    (void)user_data;
    completions += result->failure.status == SDD_ERROR_INVALID_URL;
    expect(result->struct_size == sizeof *result && result->metrics->struct_size == sizeof *result->metrics,
           "a result of another size", result->struct_size);
}

/* Waits for the end of a request, which calls `completed` if the library has seen it. */
static sdd_status ended(sdd_token token, int has_completed)
{
    int before = completions;
    if (token == 0) return sdd_last_error(NULL);
    OK(sdd_downloader_idle_wait(good_downloader, 30000));
    expect(completions == before + has_completed, "another number of callbacks", 0);
    return SDD_OK;
}
#define HAS_COMPLETED(type) (given->struct_size > offsetof(type, completed) && given->completed != NULL)

READER(sdd_download_request,
       return ended(sdd_downloader_submit(good_downloader, given), HAS_COMPLETED(sdd_download_request));)
READER(sdd_load_request, return ended(sdd_loader_submit(good_loader, given), HAS_COMPLETED(sdd_load_request));)
READER(sdd_prefetch_list, return ended(sdd_prefetch(good_loader, given), 0);)
READER(sdd_transfer_options, {
    sdd_load_request load = SDD_LOAD_REQUEST_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    load.transfer = request.transfer = given;
    load.completed = request.completed = completed;
    expect(read_sdd_load_request(&load) == read_sdd_download_request(&request), "a load is refused, or a download", 0);
    return read_sdd_download_request(&request);
})

/* Passes a struct at each size from the fewest fields that make sense to all of them, and beyond. */
static void is_read(const reader *reader)
{
    unsigned char given[1024], *source;
    size_t known = reader->row->size, longer = known + 24, word = sizeof(size_t);
    CHECK(known <= sizeof given);
    test_of(reader->row->name);
    size_t least = make_good(reader->row, given);
    if (reader->row == &row_of_sdd_download_request || reader->row == &row_of_sdd_load_request) {
        sdd_result_fn function = completed;
        memcpy(given + field_named(reader->row, "completed")->offset, &function, sizeof function);
    }
    for (size_t size = (least + word - 1) / word * word; size <= known; size += word) {
        source = at_the_edge(size);
        memcpy(source + word, given + word, size - word);
        expect(reader->read(source) == SDD_OK, "the struct of an older header is refused", size);
    }
    for (int i = 0; i < 3; i++) {
        source = at_the_edge(longer);
        memcpy(source + word, given + word, known - word);
        if (i > 0) source[i == 1 ? known : longer - 1] = 1;
        expect(reader->read(source) == (i == 0 ? SDD_OK : SDD_ERROR_UNSUPPORTED),
               i == 0 ? "the struct of a newer header is refused" : "a field of a newer header is overlooked", longer);
    }
    for (size_t size = 0; size < (size_t)scaled(sizeof cut); size++)
        if (size % word != 0 || size == 0)
            expect(reader->read(struct_cut_at(size)) == INVALID, "a cut field is read", size);
}

CASE(structs_are_read)
{
    static const reader requests[] = {
        READ(sdd_download_request), READ(sdd_load_request), READ(sdd_prefetch_list), READ(sdd_transfer_options),
    };
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) is_read(&readers[i]);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) is_read(&requests[i]);
}

/* Passes two transforms in a row; their distance is the struct_size of the first. */
static void transforms_are_read(size_t size)
{
    unsigned char *records = at_the_edge(2 * size);
    sdd_transform flip = SDD_TRANSFORM_INIT;
    char key[64];
    test_of("sdd_transform");
    flip.struct_size = size;
    flip.kind = SDD_TRANSFORM_FLIP;
    flip.flip = SDD_FLIP_VERTICAL;
    memcpy(records, &flip, size < sizeof flip ? size : sizeof flip);
    memcpy(records + size, &flip, size < sizeof flip ? size : sizeof flip);
    expect(sdd_transform_key((const sdd_transform *)(const void *)records, 2, key, sizeof key, NULL) == SDD_OK
               && strcmp(key, "flip(vertical)-flip(vertical)") == 0,
           "an array of another size is not read", size);
}

/* ------------------------------------------------------------------ structs that the library fills */

/* Calls a function with this memory for the struct that it fills. */
static sdd_status fill(const call_row *call, size_t parameter, void *target)
{
    made_arguments made;
    make_arguments(call, &made);
    if (strcmp(call->parameters->type, "sdd_token") == 0) made.values[0].number = (int64_t)waiting_request;
    if (strcmp(call->parameters[parameter].target, "sdd_gain_map_info") == 0) made.values[0].pointer = image_with_gain_map;
    made.values[parameter].pointer = target;
    return (sdd_status)call->call(made.values);
}

/* It fills as much as fits, keeps struct_size, and zeroes the fields that it does not know. */
static void is_filled(const call_row *call, size_t parameter)
{
    const struct_row *row = struct_named(call->parameters[parameter].target);
    unsigned char whole[4096], *target;
    size_t size, length, known = row->size;
    test_of(row->name);
    memcpy(whole, row->init, known);
    expect(fill(call, parameter, whole) == SDD_OK, "not filled", known);
    for (size = sizeof(size_t); size <= known + 24; size += sizeof(size_t)) {
        target = at_the_edge(size);
        memset(target + sizeof(size_t), 0xa5, size - sizeof(size_t));
        expect(fill(call, parameter, target) == SDD_OK, "a struct of another size is not filled", size);
        memcpy(&length, target, sizeof length);
        expect(length == size, "struct_size is not kept", size);
        /* Elapsed times differ between calls, so only the first fields are compared. */
        length = size < 24 ? size : 24;
        expect(memcmp(target + sizeof(size_t), whole + sizeof(size_t), length - sizeof(size_t)) == 0,
               "the fields are others", size);
        for (length = known; length < size; length++)
            expect(target[length] == 0, "what is not known is not zero", size);
    }
    for (size = 0; size < (size_t)scaled(sizeof cut); size++) {
        if (size % sizeof(size_t) == 0 && size > 0) continue;
        target = struct_cut_at(size);
        expect(fill(call, parameter, target) == INVALID, "a cut field is filled", size);
        expect(target[sizeof size] == 0xff && target[sizeof cut - 1] == 0xff, "a refused struct is written", size);
    }
}

/* Tests every call that fills one struct; those that fill several have a parameter `max`. */
CASE(structs_are_filled)
{
    OK(sdd_downloader_get_cookies(good_downloader, &good_cookies));
    OK(sdd_downloader_suspend(good_downloader));
    waiting_request = sdd_download(good_downloader, "http://127.0.0.1:1/", 0, NULL, NULL, NULL);
    for (int i = 0; i < CALL_COUNT; i++) {
        const call_row *call = &header_calls[i];
        int fills_many = 0;
        for (size_t at = 0; at < call->count; at++) fills_many |= strcmp(call->parameters[at].name, "max") == 0;
        for (size_t at = 0; at < call->count && !fills_many; at++) {
            const field_row *parameter = &call->parameters[at];
            if (parameter->kind == KIND_RECORD && struct_named(parameter->target)->init) is_filled(call, at);
        }
    }
    sdd_cookies_release(good_cookies);
    OK(sdd_cancel(waiting_request));
    OK(sdd_downloader_resume(good_downloader));
    OK(sdd_downloader_idle_wait(good_downloader, 30000));
}

/* Takes two items in a row into records of this size, the second at the end of readable memory. */
static void batch_items_are_filled(size_t size)
{
    unsigned char *records = at_the_edge(2 * size);
    sdd_batch_item item = SDD_BATCH_ITEM_INIT;
    size_t count = 0, i;
    test_of("sdd_batch_item");
    memcpy(records, &size, sizeof size);
    expect(sdd_batch_wait(good_batch, (sdd_batch_item *)(void *)records, 2, -1, &count) == SDD_OK && count == 2,
           "items of another size are not filled", size);
    for (i = 0; i < count; i++) {
        memcpy(&item, records + i * size, sizeof item);
        expect(item.result->failure.status == SDD_ERROR_INVALID_URL, "an item is at another place", size);
        sdd_result_release(item.result);
    }
}

/* Takes three events into records of this size. */
static void events_are_filled(size_t size)
{
    unsigned char *events = at_the_edge(3 * size);
    sdd_event event = SDD_EVENT_INIT;
    size_t got = 0, count = 0, i;
    test_of("sdd_event");
    for (i = 0; i < 3; i++)
        expect(sdd_download(good_downloader, "", 0, NULL, NULL, NULL) != 0, "no request without a callback", size);
    for (; got < 3; got += count) {
        unsigned char *free_ones = events + got * size;
        memcpy(free_ones, &size, sizeof size);
        expect(sdd_downloader_wait(good_downloader, (sdd_event *)(void *)free_ones, 3 - got, 30000, &count) == SDD_OK && count > 0,
               "an event of another size is refused", size);
        for (i = 0; i < count; i++) {
            memcpy(&event, free_ones + i * size, size < sizeof event ? size : sizeof event);
            expect(event.token != 0 && event.kind == SDD_EVENT_COMPLETED
                       && event.result->failure.status == SDD_ERROR_INVALID_URL,
                   "an event is not where it should be", size);
        }
    }
}

/* A notice is delivered even into a record that has no field for it. */
static void noticed(const sdd_notice *notice, void *user_data) SDD_NOEXCEPT
{
    (void)notice, (void)user_data;
}

static void notices_in_old_events(size_t size)
{
    size_t count = 0;
    int kinds[SDD_EVENT_LOG + 1] = { 0 }, i;
    OK(sdd_downloader_set_observer(good_downloader, noticed, &kinds, NULL));
    expect(sdd_download(good_downloader, "http://127.0.0.1:1/", 0, NULL, NULL, NULL) != 0, "no request", 0);
    while (kinds[SDD_EVENT_COMPLETED] == 0) {
        sdd_event event = SDD_EVENT_INIT;
        void *place = at_the_edge(size);
        expect(sdd_downloader_wait(good_downloader, (sdd_event *)place, 1, 30000, &count) == SDD_OK && count == 1, "no event", size);
        memcpy(&event, place, size);
        expect(event.kind > 0 && event.kind <= SDD_EVENT_LOG && event.token != 0, "no kind", size);
        if (event.kind >= SDD_EVENT_START) expect(event.user_data == kinds && event.result == NULL, "a notice", size);
        kinds[event.kind]++;
    }
    OK(sdd_downloader_set_observer(good_downloader, NULL, NULL, NULL));
    for (i = SDD_EVENT_START; i <= SDD_EVENT_STOP; i++)
        expect(kinds[i] == (i == SDD_EVENT_START || i == SDD_EVENT_STOP), "another number of notices", size);
}

static void make_objects(void)
{
    static const char *const urls[] = { NULL, NULL, NULL, NULL };
    sdd_downloader_config delivering = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_cache_config in_memory = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config loading;
    sdd_batch_config many;
    what = "objects";
    delivering.delivery = SDD_DELIVERY_APPLICATION;
    OK(sdd_downloader_create(&delivering, &good_downloader));
    in_memory.levels = SDD_CACHE_MEMORY;
    OK(sdd_cache_create(&in_memory, &good_cache));
    make_good(&row_of_sdd_loader_config, &loading);
    OK(sdd_loader_create(&loading, &good_loader));
    make_good(&row_of_sdd_batch_config, &many);
    many.urls = urls;
    many.count = 4;
    OK(sdd_batch_create(&many, &good_batch));
    OK(sdd_image_decode(good_png, sizeof good_png, NULL, &good_image));
    size_t size;
    uint8_t *jpeg = fixture("metadata/gain-map.jpg", &size);
    OK(sdd_image_decode(jpeg, size, NULL, &image_with_gain_map));
    free(jpeg);
}

CASE(items_and_events_are_filled)
{
    batch_items_are_filled(sizeof(sdd_batch_item));
    batch_items_are_filled(sizeof(sdd_batch_item) + 8);
    events_are_filled(offsetof(sdd_event, info));
    events_are_filled(sizeof(sdd_event));
    events_are_filled(sizeof(sdd_event) + 16);
    notices_in_old_events(offsetof(sdd_event, info));
}

CASE(arrays_are_read)
{
    transforms_are_read(offsetof(sdd_transform, degrees) + 8);
    transforms_are_read(sizeof(sdd_transform));
    transforms_are_read(sizeof(sdd_transform) + 24);
}

CASE(every_struct_is_tested)
{
    for (int i = 0; i < STRUCT_COUNT; i++)
        if (header_structs[i]->init && !is_tested[i]) FAIL("nothing passes %s at other sizes", header_structs[i]->name);
}

int main(void)
{
    start_watchdog();
    make_objects();
    run_cases();
    OK(sdd_batch_destroy(good_batch));
    OK(sdd_loader_destroy(good_loader));
    OK(sdd_downloader_destroy(good_downloader));
    OK(sdd_cache_destroy(good_cache));
    sdd_image_release(good_image);
    sdd_image_release(image_with_gain_map);
    return 0;
}

/* Every field of every struct that an application gives to the library gets values that it cannot have: the call fails,
   or the request ends, the message names the field, and nothing has changed. Most of those values follow from the kind
   of a field in the tables of the header; the others stand here. At the end each field must have been refused, or be
   one that takes any value. */
#include "refused_fields.h"
#include "server.h"

static char text_of_70000[70001];

/* -------------------------------------------------------------------------------- other wrong values */

static const char *const none[] = { NULL }, *const wrong[] = { "example.org:80" }, *const odd[] = { "10.0.0.0/99" };
static const char *const urls[65] = { "http://127.0.0.1/", "http://127.0.0.1/" };
static const sdd_header no_name = { "a b", "c" }, no_value = { "a", "\n" };
static const sdd_header a_length = { "Content-Length", "3" }, a_coding = { "transfer-encoding", "chunked" };
static const sdd_transform resize = SDD_TRANSFORM_INIT;
static const sdd_transform flip = { .struct_size = sizeof flip, .kind = SDD_TRANSFORM_FLIP, .flip = SDD_FLIP_VERTICAL };
static const sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;

static void downloaders(void)
{
    WRONG(sdd_downloader_config, max_concurrent_downloads, 100001);
    WRONG(sdd_downloader_config, decode_threads, 257);
    WRONG(sdd_downloader_config, reserved_urgent_slots, 6);
    WRONG(sdd_downloader_config, accepted_status_codes, "200,2xx");
    WRONG(sdd_downloader_config, accepted_status_codes, "everything");
    WRONG(sdd_downloader_config, accepted_content_types, "image/*,pictures");
    WRONG(sdd_retry_options, max_attempts, 1001);
}

static void networks(void)
{
    WRONG(sdd_network_options, proxy, "gopher://127.0.0.1:1");
    WRONG(sdd_network_options, proxy, "http://127.0.0.1:1", given.address_policy = SDD_ADDRESS_PUBLIC_ONLY);
    WRONG(sdd_network_options, proxy, "http://127.0.0.1:1", given.proxy_mode = SDD_PROXY_NONE);
    WRONG(sdd_network_options, no_proxy, "localhost");
    WRONG(sdd_network_options, unix_socket_path, "/run/x", given.address_policy = SDD_ADDRESS_PUBLIC_ONLY);
    WRONG(sdd_network_options, unix_socket_path, text_of_70000 + 69000);
    WRONG(sdd_network_options, resolve, none, given.resolve_count = 1);
    WRONG(sdd_network_options, resolve, wrong, given.resolve_count = 1);
    WRONG(sdd_network_options, resolve_count, 10001, given.resolve = wrong);
    WRONG(sdd_network_options, receive_buffer_bytes, 1023);
    WRONG(sdd_network_options, receive_buffer_bytes, 524289);
    WRONG(sdd_network_options, network_threads, 17);
    WRONG(sdd_network_options, cookie_file, "/proc/self");
    WRONG(sdd_network_options, address_exceptions, none, given.address_exception_count = 1);
    WRONG(sdd_network_options, address_exceptions, wrong, given.address_exception_count = 1);
    WRONG(sdd_network_options, address_exceptions, odd, given.address_exception_count = 1,
          given.address_policy = SDD_ADDRESS_PUBLIC_ONLY);
}

static void credentials_cookies_and_vtables(void)
{
    sdd_cookies *kept = NULL;
    WRONG(sdd_credential, username, "a:b");
    WRONG(sdd_credential, bearer_token, "t");
    WRONG(sdd_credential, client_key, "/key.pem");
    WRONG(sdd_credential, client_key_password, "secret");
    WRONG(sdd_cookie, name, "a=b");
    WRONG(sdd_cookie, name, text_of_70000);
    WRONG(sdd_cookie, value, "a;b");
    WRONG(sdd_cookie, value, "a\tb");
    WRONG(sdd_cookie, value, "\xff");
    WRONG(sdd_cookie, domain, "com", given.include_subdomains = 1);
    WRONG(sdd_cookie, path, "a");
    WRONG(sdd_cookie, expires_ms, -1);
    CHECK_STATUS(sdd_downloader_get_cookies(good_downloader, &kept), SDD_OK);
    CHECK_EQUAL(sdd_cookies_count(kept), 0);
    sdd_cookies_release(kept);
    WRONG(sdd_transport, scheme, "a b");
    WRONG(sdd_transport, scheme, "1archive");
    WRONG(sdd_transport, scheme, "archive:");
    WRONG(sdd_transport, scheme, "**");
    WRONG(sdd_transport, can_load, NULL, given.scheme = "*");
    WRONG(sdd_coder, name, "two words");
    WRONG(sdd_coder, name, "\xc3\xa4");
    WRONG(sdd_coder, mime_type, "picture");
    WRONG(sdd_coder, mime_type, "image/webp; q=1");
    WRONG(sdd_coder, mime_type, "a/b/c");
    CHECK_STATUS(sdd_process_remove_coder("never"), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(sdd_downloader_remove_transport(good_downloader, "archive"), SDD_ERROR_NOT_FOUND);
}

static void pictures(void)
{
    static uint8_t pixels[64] __attribute__((aligned(64)));
    sdd_pixel_allocator allocator;
    make_good(&row_of_sdd_pixel_allocator, &allocator);
    WRONG(sdd_decode_options, background, 0x1000000);
    WRONG(sdd_decode_options, row_alignment, 3);
    WRONG(sdd_decode_options, row_alignment, 8192);
    WRONG(sdd_decode_options, allocator, &allocator, given.pixels = pixels);
    WRONG(sdd_decode_options, pixels, pixels + 1, given.row_alignment = 16);
    WRONG(sdd_decode_options, pixels_size, 4);
    WRONG(sdd_decode_options, pixels_size, SIZE_MAX, given.pixels = pixels);
    WRONG(sdd_decode_options, pixels_stride, 4);
    WRONG(sdd_decode_options, pixels_stride, SIZE_MAX, given.pixels = pixels, given.pixels_size = 64);
    WRONG(sdd_decode_options, pixels_stride, 5, given.pixels = pixels, given.row_alignment = 4);
    WRONG(sdd_encode_options, quality, 101);
    WRONG(sdd_encode_options, background, 0x1000000);
    WRONG(sdd_transform, kind, 0);
    WRONG(sdd_transform, width, 0, given.height = 0);
    WRONG(sdd_transform, width, -3, given.kind = SDD_TRANSFORM_CROP);
    WRONG(sdd_transform, height, 0, given.kind = SDD_TRANSFORM_CROP);
    WRONG(sdd_transform, width, 0, given.kind = SDD_TRANSFORM_CROP);
    WRONG(sdd_transform, height, -1, given.kind = SDD_TRANSFORM_CROP);
    WRONG(sdd_transform, flip, 0);
    WRONG(sdd_transform, degrees, NAN);
    WRONG(sdd_transform, degrees, -INFINITY);
    WRONG(sdd_transform, key, NULL);
    WRONG(sdd_transform, callback, NULL);
}

static void requests(void)
{
    WRONG(sdd_download_request, options, SDD_OPTION_RETRY_FAILED);
    WRONG(sdd_download_request, method, "G T");
    WRONG(sdd_download_request, method, "GET\r\n");
    WRONG(sdd_download_request, body, NULL, given.body_size = 1, given.method = "POST");
    WRONG(sdd_download_request, body, "x", given.body_size = 1);
    WRONG(sdd_download_request, body, "x", given.body_size = 1, given.method = "HEAD");
    WRONG(sdd_download_request, body_size, SIZE_MAX, given.body = "x", given.method = "POST");
    WRONG(sdd_download_request, range, "5-3");
    WRONG(sdd_download_request, sink_fd, 987654, given.sink = SDD_SINK_FD);
    WRONG(sdd_download_request, integrity, "md5-x");
    WRONG(sdd_transfer_options, headers, NULL, given.header_count = 2);
    WRONG(sdd_transfer_options, headers, &no_name, given.header_count = 1);
    WRONG(sdd_transfer_options, headers, &no_value, given.header_count = 1);
    WRONG(sdd_transfer_options, headers, &a_length, given.header_count = 1);
    WRONG(sdd_transfer_options, headers, &a_coding, given.header_count = 1);
    WRONG(sdd_transfer_options, header_count, 1001, given.headers = &no_name);
    WRONG(sdd_transfer_options, max_attempts, 1001);
    WRONG(sdd_transfer_options, max_redirects, 1001);
    WRONG(sdd_transfer_options, max_body_bytes, (INT64_C(1) << 46) + 1);
    WRONG(sdd_transfer_options, accepted_status_codes, "all");
    WRONG(sdd_transfer_options, accepted_content_types, "image");
    WRONG(sdd_load_request, integrity, "md5-x");
    WRONG(sdd_load_request, cache_key, text_of_70000);
    WRONG(sdd_load_request, transform_count, 257, given.transforms = &resize);
    WRONG(sdd_load_request, alternative_count, 65, given.alternatives = urls);
    WRONG(sdd_prefetch_list, count, (1 << 20) + 1, given.urls = urls);
    WRONG(sdd_prefetch_list, options, SDD_OPTION_BYTES_ONLY);
}

/* Its callback is required on a thread of the library, also of a struct that is too short for one. */
static void a_callback_is_required(void)
{
    sdd_load_request load;
    make_base(&row_of_sdd_load_request, "completed", &load);
    load.struct_size = offsetof(sdd_load_request, completed);
    CHECK_STATUS(read_sdd_load_request(&load), INVALID);
    WRONG(sdd_load_request, completed, NULL);
    WRONG(sdd_download_request, completed, NULL);
}

/* Pixels of the application belong to one picture: not to one with transforms, nor to several, as of a refresh. */
static void pixels_in_requests(void)
{
    static uint8_t pixels[64];
    sdd_decode_options into = SDD_DECODE_OPTIONS_INIT;
    sdd_load_request load;
    sdd_prefetch_list list = SDD_PREFETCH_LIST_INIT;
    sdd_batch_config batch;
    into.pixels = pixels;
    into.pixels_size = sizeof pixels;
    CHECK_STATUS(sdd_downloader_set_decode_options(good_downloader, &into), INVALID);
    make_base(&row_of_sdd_load_request, "transforms", &load);
    load.decode = &into;
    load.transforms = &flip;
    load.transform_count = 1;
    CHECK_STATUS(read_sdd_load_request(&load), SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
    CHECK_EQUAL(told_detail, SDD_DETAIL_OPERATION_BAD_DECODE);
    load.transform_count = 0;
    load.options = SDD_OPTION_REFRESH_CACHED;
    CHECK_STATUS(read_sdd_load_request(&load), SDD_ERROR_INVALID_DOWNLOAD_OPERATION);
    CHECK_EQUAL(told_detail, SDD_DETAIL_OPERATION_BAD_DECODE);
    list.decode = &into;
    CHECK_STATUS(read_sdd_prefetch_list(&list), INVALID);
    make_good(&row_of_sdd_batch_config, &batch);
    batch.decode = &into;
    CHECK_STATUS(read_sdd_batch_config(&batch), INVALID);
}

static void caches(void)
{
    static const char *const names[] = { ".", "..", "/", "a/", "a/b" };
    for (int i = 0; i < 5; i++) WRONG(sdd_cache_config, name, names[i]);
    WRONG(sdd_cache_config, read_only_directories, none, given.read_only_count = 1);
    WRONG(sdd_cache_config, read_only_count, 10001, given.read_only_directories = none);
    WRONG(sdd_cache_config, levels, SDD_CACHE_NONE);
    WRONG(sdd_cache_item, levels, SDD_CACHE_NONE);
    WRONG(sdd_cache_query_options, levels, SDD_CACHE_NONE);
    WRONG(sdd_cache_config, low_water_percent, 101);
    WRONG(sdd_cache_config, ignored_query_parameters, "a,,b");
    WRONG(sdd_cache_query_options, key, text_of_70000);
    WRONG(sdd_cache_query_options, options, SDD_OPTION_BYTES_ONLY);
}

static void batches(void)
{
    static const uint64_t ids[1] = { 1 };
    WRONG(sdd_batch_config, downloader, good_downloader, given.loader = good_loader);
    WRONG(sdd_batch_config, urls, NULL, given.count = 1);
    WRONG(sdd_batch_config, count, SIZE_MAX, given.urls = urls);
    WRONG(sdd_batch_config, next, never_sdd_batch_next_fn, given.urls = urls);
    WRONG(sdd_batch_config, options, SDD_OPTION_RETRY_FAILED);
    WRONG(sdd_batch_config, count, SIZE_MAX / 2, given.urls = urls);
    WRONG(sdd_batch_config, next, never_sdd_batch_next_fn, given.ids = ids, given.urls = NULL, given.count = 0);
    WRONG(sdd_batch_config, look_ahead, 65537);
    WRONG(sdd_tensor, pixels, NULL);
    WRONG(sdd_tensor, slot_count, 0);
    WRONG(sdd_tensor, slot_count, 1);
    WRONG(sdd_tensor, slot_stride, 2);
    WRONG(sdd_tensor, slot_stride, SIZE_MAX / 4, given.slot_count = 9);
    WRONG(sdd_tensor, slot_stride, 0, given.width = INT32_MAX, given.height = INT32_MAX, given.slot_count = 100);
    WRONG(sdd_tensor, pixel_format, SDD_PIXEL_FORMAT_BGRA8);
    WRONG(sdd_tensor, pixel_format, SDD_PIXEL_FORMAT_RGB8_PLANAR);
    WRONG(sdd_tensor, width, 0);
    WRONG(sdd_tensor, layout, SDD_TENSOR_CHW, given.pixel_format = SDD_PIXEL_FORMAT_GREY8);
    WRONG(sdd_tensor, background, 0x1000000);
    sdd_tensor tensor;
    make_good(&row_of_sdd_tensor, &tensor);
    WRONG(sdd_batch_config, decode, &decode, given.tensor = &tensor);
    WRONG(sdd_batch_config, options, SDD_OPTION_BYTES_ONLY, given.tensor = &tensor);
}

/* ------------------------------------------------------------------------------------ all fields */

/* Whether fields of this kind may take any value: the application's functions and data, structs whose fields are
   refused themselves, and counted objects. */
static int can_take_all(const struct_row *row, const field_row *field)
{
    if (field->kind == KIND_CALLBACK) return !is_needed(row, field);
    if (field->kind == KIND_OPTIONS) return reader_of(struct_named(field->target)) != NULL;
    return (field->kind == KIND_HANDLE && !is_checked_object(field)) || strcmp(field->name, "user_data") == 0;
}

static void every_field_is_refused(void)
{
    int wrong_fields = 0;
    for (int i = 0; i < READERS + MORE_READERS; i++) {
        const struct_row *row = reader_at(i)->row;
        for (size_t at = 0; at < row->count; at++) {
            const field_row *field = &row->fields[at];
            int is_refused = *refused_mark(row, field), takes_all = IS_LISTED(take_all);
            if (is_refused != takes_all && (is_refused || takes_all)) continue;
            if (!is_refused && can_take_all(row, field)) continue;
            fprintf(stderr, "%s.%s is %s\n", row->name, field->name,
                    is_refused ? "refused, and said to take all" : "not refused");
            wrong_fields++;
        }
    }
    CHECK_EQUAL(wrong_fields, 0);
}

static void make_objects(void)
{
    static const uint8_t pixels[16];
    sdd_cache_config in_memory = SDD_CACHE_CONFIG_INIT;
    sdd_loader_config loading = SDD_LOADER_CONFIG_INIT;
    good_downloader = make_downloader(NULL);
    in_memory.levels = SDD_CACHE_MEMORY;
    CHECK_STATUS(sdd_cache_create(&in_memory, &good_cache), SDD_OK);
    loading.downloader = good_downloader;
    loading.cache = good_cache;
    CHECK_STATUS(sdd_loader_create(&loading, &good_loader), SDD_OK);
    CHECK_STATUS(sdd_image_create(2, 2, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &good_image), SDD_OK);
}

int main(void)
{
    sdd_downloader_config before = SDD_DOWNLOADER_CONFIG_INIT, after = SDD_DOWNLOADER_CONFIG_INIT;
    start_watchdog();
    memset(text_of_70000, 'a', sizeof text_of_70000 - 1);
    make_objects();
    CHECK_STATUS(sdd_downloader_get_config(good_downloader, &before), SDD_OK);
    RUN(values_of_no_field_of_its_kind);
    RUN(downloaders);
    RUN(networks);
    RUN(credentials_cookies_and_vtables);
    RUN(pictures);
    RUN(requests);
    RUN(pixels_in_requests);
    RUN(a_callback_is_required);
    RUN(caches);
    RUN(batches);
    RUN(every_field_is_refused);
    CHECK_STATUS(sdd_downloader_get_config(good_downloader, &after), SDD_OK);
    CHECK(memcmp(&before, &after, sizeof before) == 0);
    sdd_image_release(good_image);
    CHECK_STATUS(sdd_loader_destroy(good_loader), SDD_OK);
    CHECK_STATUS(sdd_cache_destroy(good_cache), SDD_OK);
    destroy(good_downloader);
    return 0;
}

/* Every field of every struct that the application fills gets a value that it cannot have: the call fails, its message
   names the field, and nothing has changed. This program has configurations, vtables and pictures;
   test_refused_requests.c has the others. At the end the fields are compared with the header, so that a new one needs
   an entry here. */
#include "every_call.h"
#include "record.h"
#include "refused_fields.h"
#include "server.h"

#include <math.h>

static sdd_downloader *downloader;
static sdd_image *image;
static char text_of_70000[70001];

/* ------------------------------------------------------------------------ downloaders' configs */

/* A downloader's configuration with its groups. */
typedef struct settings {
    sdd_downloader_config config;
    sdd_callback_options callbacks;
    sdd_network_options network;
    sdd_limits limits;
    sdd_retry_options retry;
} settings;

static settings standard_settings(void)
{
    return (settings){ SDD_DOWNLOADER_CONFIG_INIT, SDD_CALLBACK_OPTIONS_INIT, SDD_NETWORK_OPTIONS_INIT,
                       SDD_LIMITS_INIT, SDD_RETRY_OPTIONS_INIT };
}

static sdd_status create(settings *s)
{
    sdd_downloader *made = (sdd_downloader *)s;
    s->config.callbacks = &s->callbacks;
    s->config.network = &s->network;
    s->config.limits = &s->limits;
    s->config.retry = &s->retry;
    sdd_status status = sdd_downloader_create(&s->config, &made);
    CHECK(made == NULL);
    return status;
}

#define SETTING_AS(expected, owner, group, field, ...) \
    do { \
        settings s = standard_settings(); \
        s.group.field = __VA_ARGS__; \
        CALL_REFUSES(owner, #field, expected, create(&s)); \
    } while (0)
#define CONFIG(field, ...) SETTING_AS(INVALID, "sdd_downloader_config", config, field, __VA_ARGS__)
#define NETWORK(field, ...) SETTING_AS(INVALID, "sdd_network_options", network, field, __VA_ARGS__)
#define CALLBACKS(field, ...) SETTING_AS(INVALID, "sdd_callback_options", callbacks, field, __VA_ARGS__)
#define LIMITS(field, ...) SETTING_AS(INVALID, "sdd_limits", limits, field, __VA_ARGS__)
#define RETRY(field, ...) SETTING_AS(INVALID, "sdd_retry_options", retry, field, __VA_ARGS__)

static void configs_of_downloaders(void)
{
    CONFIG(no_installed_coders, 2);
    CONFIG(no_installed_coders, -1);
    CONFIG(decode_mode, 2);
    CONFIG(decode_mode, -1);
    CONFIG(struct_size, 7);
    CONFIG(struct_size, 12);
    CONFIG(delivery, 2);
    CONFIG(max_concurrent_downloads, -1);
    CONFIG(max_concurrent_downloads, 100001);
    CONFIG(max_concurrent_per_host, -1);
    CONFIG(decode_threads, 257);
    CONFIG(execution_order, -1);
    CONFIG(reserved_urgent_slots, -1);
    CONFIG(reserved_urgent_slots, 6);
    CONFIG(ageing_ms, -1);
    CONFIG(min_host_interval_ms, INT64_MAX);
    CONFIG(accepted_status_codes, "200,2xx");
    CONFIG(accepted_status_codes, "");
    CONFIG(accepted_content_types, "image/*,pictures");
    SETTING_AS(SDD_ERROR_CLOSED, "sdd_downloader_config", config, cache, (sdd_cache *)downloader);
    CONFIG(http_cache, 2);
    CONFIG(resume, -1);
}

static void limits_and_retries(void)
{
    LIMITS(struct_size, 12);
    LIMITS(queue_timeout_ms, -1);
    LIMITS(connect_timeout_ms, -1);
    LIMITS(first_byte_timeout_ms, INT64_MIN);
    LIMITS(download_timeout_ms, -1);
    LIMITS(total_timeout_ms, INT64_MAX);
    LIMITS(low_speed_limit, -1);
    LIMITS(low_speed_time_ms, -2);
    LIMITS(max_body_bytes, -1);
    LIMITS(max_header_bytes, -1);
    LIMITS(max_header_count, -1);
    LIMITS(max_scans, -1);
    LIMITS(max_pixels, -1);
    LIMITS(decode_time_ms, -2);
    LIMITS(decode_time_ms_per_mib, -2);
    LIMITS(max_decode_bytes, -2);
    LIMITS(max_decode_ratio, -2);
    RETRY(struct_size, 9);
    RETRY(max_attempts, 1001);
    RETRY(budget, -2);
    RETRY(delay_ms, -1);
    RETRY(max_delay_ms, -1);
    CALLBACKS(struct_size, 9);
    CALLBACKS(min_progress_fraction, 1.5);
    CALLBACKS(min_progress_fraction, NAN);
    CALLBACKS(min_progress_interval_ms, -1);
    CALLBACKS(min_preview_interval_ms, -2);
    CALLBACKS(min_preview_bytes, -1);
    CALLBACKS(min_preview_scans, -1);
}

static void networks(void)
{
    static const char *const none[] = { NULL }, *const wrong[] = { "example.org:80" };
    static const char *const odd[] = { "10.0.0.0/99" };
    NETWORK(struct_size, 9);
    NETWORK(ca_file, "");
    NETWORK(ca_path, "a\nb");
    NETWORK(min_tls_version, 14);
    NETWORK(http_version, 12);
    NETWORK(max_redirects, -1);
    NETWORK(allow_downgrade, 2);
    NETWORK(allow_file_urls, -1);
    NETWORK(ip_version, 5);
    NETWORK(address_policy, 2);
    NETWORK(proxy_mode, 2);
    NETWORK(proxy, "");
    NETWORK(proxy, "gopher://127.0.0.1:1");
    NETWORK(proxy, "http://127.0.0.1:1", s.network.address_policy = SDD_ADDRESS_PUBLIC_ONLY);
    NETWORK(proxy, "http://127.0.0.1:1", s.network.proxy_mode = SDD_PROXY_NONE);
    NETWORK(no_proxy, "localhost");
    NETWORK(network_interface, "a\nb");
    NETWORK(unix_socket_path, "");
    NETWORK(unix_socket_path, "/run/x", s.network.address_policy = SDD_ADDRESS_PUBLIC_ONLY);
    NETWORK(unix_socket_path, text_of_70000 + 69000);
    NETWORK(resolve, NULL, s.network.resolve_count = 1);
    NETWORK(resolve, none, s.network.resolve_count = 1);
    NETWORK(resolve, wrong, s.network.resolve_count = 1);
    NETWORK(resolve_count, 10001, s.network.resolve = wrong);
    NETWORK(dns_servers, "");
    NETWORK(dns_cache_ms, -2);
    NETWORK(max_connections, -1);
    NETWORK(max_connections_per_host, -1);
    NETWORK(max_idle_connections, -1);
    NETWORK(tcp_keepalive_ms, -2);
    NETWORK(receive_buffer_bytes, 1023);
    NETWORK(receive_buffer_bytes, 524289);
    NETWORK(network_threads, -1);
    NETWORK(network_threads, 17);
    NETWORK(cookie_file, "");
    NETWORK(cookie_file, "/proc/self");
    NETWORK(address_exceptions, NULL, s.network.address_exception_count = 1);
    NETWORK(address_exceptions, none, s.network.address_exception_count = 1);
    NETWORK(address_exceptions, wrong, s.network.address_exception_count = 1);
    NETWORK(address_exceptions, odd, s.network.address_exception_count = 1,
            s.network.address_policy = SDD_ADDRESS_PUBLIC_ONLY);
    NETWORK(address_exception_count, SIZE_MAX, s.network.address_exceptions = wrong);
    NETWORK(no_data_urls, 2);
}

/* ----------------------------------------------------------- credentials, cookies, vtables, pixels */

/* Checks that the call leaves the downloader's configuration unchanged. */
#define UNCHANGED(...) \
    do { \
        sdd_downloader_config before_ = SDD_DOWNLOADER_CONFIG_INIT, after_ = SDD_DOWNLOADER_CONFIG_INIT; \
        CHECK_STATUS(sdd_downloader_get_config(downloader, &before_), SDD_OK); \
        __VA_ARGS__; \
        CHECK_STATUS(sdd_downloader_get_config(downloader, &after_), SDD_OK); \
        CHECK(memcmp(&before_, &after_, sizeof before_) == 0); \
    } while (0)

#define CREDENTIAL_AS(expected, field, ...) \
    do { \
        sdd_credential given = SDD_CREDENTIAL_INIT; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_credential", #field, expected, sdd_downloader_set_credential(downloader, &given)); \
    } while (0)
#define CREDENTIAL(field, ...) CREDENTIAL_AS(INVALID, field, __VA_ARGS__)

static void credentials(void)
{
    CREDENTIAL(struct_size, 9);
    CREDENTIAL(username, "a", given.password = NULL, given.username = NULL, given.password = "x");
    CREDENTIAL(username, "a:b", given.password = "x");
    CREDENTIAL(password, NULL, given.username = "a");
    CREDENTIAL(password, "\n", given.username = "a");
    CREDENTIAL_AS(UNSUPPORTED, schemes, UINT64_C(1) << 40);
    CREDENTIAL(bearer_token, "t", given.username = "a", given.password = "b");
    CREDENTIAL(client_certificate, "");
    CREDENTIAL(client_key, "/key.pem");
    CREDENTIAL(client_key_password, "secret");
}

#define COOKIE(field, ...) \
    do { \
        sdd_cookie given = SDD_COOKIE_INIT; \
        given.name = "name"; \
        given.value = "value"; \
        given.domain = "example.org"; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_cookie", #field, INVALID, sdd_downloader_set_cookie(downloader, &given)); \
    } while (0)

static void cookies(void)
{
    sdd_cookies *kept = NULL;
    COOKIE(struct_size, 9);
    COOKIE(name, NULL);
    COOKIE(name, "a=b");
    COOKIE(value, NULL);
    COOKIE(value, "a;b");
    COOKIE(domain, NULL);
    COOKIE(domain, "");
    COOKIE(domain, "com", given.include_subdomains = 1);
    COOKIE(path, "a");
    COOKIE(expires_ms, -1);
    COOKIE(include_subdomains, 2);
    COOKIE(secure, -1);
    COOKIE(http_only, 2);
    CHECK_STATUS(sdd_downloader_get_cookies(downloader, &kept), SDD_OK);
    CHECK_EQUAL(sdd_cookies_count(kept), 0);
    sdd_cookies_release(kept);
}

#define TRANSPORT(field, ...) \
    do { \
        sdd_transport given = SDD_TRANSPORT_INIT; \
        given.scheme = "archive"; \
        given.start = never_sdd_transport_start; \
        given.cancel = never_sdd_transport_cancel; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_transport", #field, INVALID, sdd_downloader_add_transport(downloader, &given)); \
    } while (0)
#define CODER(field, ...) \
    do { \
        sdd_coder given = SDD_CODER_INIT; \
        given.name = "never"; \
        given.format = SDD_IMAGE_FORMAT_APPLICATION; \
        given.can_decode = never_sdd_coder_can_decode; \
        given.open = never_sdd_coder_open; \
        given.feed = never_sdd_coder_feed; \
        given.next = never_sdd_coder_next; \
        given.close = never_sdd_coder_close; \
        given.user_data_free = never_sdd_user_data_free_fn; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_coder", #field, INVALID, sdd_process_add_coder(&given)); \
        CALL_REFUSES("sdd_coder", #field, INVALID, sdd_downloader_add_coder(downloader, &given)); \
    } while (0)

static void vtables(void)
{
    sdd_modifiers modifiers = SDD_MODIFIERS_INIT;
    TRANSPORT(struct_size, 9);
    TRANSPORT(scheme, NULL);
    TRANSPORT(scheme, "a b");
    TRANSPORT(start, NULL);
    TRANSPORT(cancel, NULL);
    TRANSPORT(can_load, NULL, given.scheme = "*");
    CODER(struct_size, 9);
    CODER(name, NULL);
    CODER(mime_type, "picture");
    CODER(format, 99);
    CODER(can_decode, NULL);
    CODER(open, NULL);
    CODER(feed, NULL);
    CODER(next, NULL);
    CODER(close, NULL);
    modifiers.struct_size = 9;
    CALL_REFUSES("sdd_modifiers", "struct_size", INVALID, sdd_downloader_set_modifiers(downloader, &modifiers));
    CHECK_STATUS(sdd_process_remove_coder("never"), SDD_ERROR_NOT_FOUND);
}

static void *never_allocated(size_t size, size_t alignment, void *user_data)
{
    (void)alignment, (void)user_data;
    FAIL("an allocator is asked for %zu bytes", size);
}

static void never_released(void *pixels, size_t size, void *user_data)
{
    (void)pixels, (void)user_data;
    FAIL("an allocator frees %zu bytes", size);
}

#define DECODE(field, ...) \
    do { \
        sdd_decode_options given = SDD_DECODE_OPTIONS_INIT; \
        sdd_image *made_ = NULL; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_decode_options", #field, INVALID, sdd_downloader_set_decode_options(downloader, &given)); \
        CALL_REFUSES("sdd_decode_options", #field, INVALID, sdd_image_decode("x", 1, &given, &made_)); \
        CHECK(made_ == NULL); \
    } while (0)
#define ALLOCATOR(field, ...) \
    do { \
        sdd_pixel_allocator given = { sizeof given, never_allocated, never_released, NULL }; \
        sdd_decode_options options = SDD_DECODE_OPTIONS_INIT; \
        options.allocator = &given; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_pixel_allocator", #field, INVALID, sdd_downloader_set_decode_options(downloader, &options)); \
    } while (0)

static void decode_options(void)
{
    static uint8_t pixels[64] __attribute__((aligned(64)));
    static const sdd_pixel_allocator allocator = { sizeof allocator, never_allocated, never_released, NULL };
    DECODE(struct_size, 9);
    DECODE(pixel_format, 99);
    DECODE(keep_orientation, 2);
    DECODE(background, 0x1000000);
    DECODE(fit, 9);
    DECODE(target_width, -1);
    DECODE(target_height, INT32_MIN);
    DECODE(scale_down_limit_bytes, -1);
    DECODE(row_alignment, 3);
    DECODE(row_alignment, 8192);
    DECODE(allow_enlarging, 2);
    DECODE(allocator, &allocator, given.pixels = pixels);
    DECODE(pixels, pixels + 1, given.row_alignment = 16);
    DECODE(pixels_size, 4);
    DECODE(pixels_size, SIZE_MAX, given.pixels = pixels);
    DECODE(pixels_stride, 4);
    DECODE(pixels_stride, 5, given.pixels = pixels, given.row_alignment = 4);
    DECODE(damage, 2);
    DECODE(format_hint, 99);
    DECODE(scaling, 2);
    ALLOCATOR(struct_size, 9);
    ALLOCATOR(allocate, NULL);
    ALLOCATOR(release, NULL);
}

#define ENCODE(field, ...) \
    do { \
        sdd_encode_options given = SDD_ENCODE_OPTIONS_INIT; \
        sdd_bytes *made_ = NULL; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_encode_options", #field, INVALID, sdd_image_encode(image, &given, &made_)); \
        CHECK(made_ == NULL); \
    } while (0)
#define TRANSFORM(kind_, field, ...) \
    do { \
        sdd_transform given = SDD_TRANSFORM_INIT; \
        sdd_image *made_ = NULL; \
        given.kind = kind_; \
        given.width = given.height = 1; \
        given.callback = never_called; \
        given.key = "never"; \
        given.field = __VA_ARGS__; \
        CALL_REFUSES("sdd_transform", #field, INVALID, sdd_image_transform(image, &given, 1, &made_)); \
        CALL_REFUSES("sdd_transform", #field, INVALID, sdd_transform_key(&given, 1, NULL, 0, NULL)); \
        CHECK(made_ == NULL); \
    } while (0)

static sdd_image *never_called(sdd_image *given, void *user_data)
{
    (void)given, (void)user_data;
    FAIL("a transform is called");
}

static void encoding_and_transforms(void)
{
    ENCODE(struct_size, 9);
    ENCODE(format, 99);
    ENCODE(quality, 101);
    ENCODE(max_width, -1);
    ENCODE(max_height, -1);
    ENCODE(max_bytes, -1);
    ENCODE(background, 0x1000000);
    ENCODE(progressive, 2);
    ENCODE(chroma, 3);
    TRANSFORM(SDD_TRANSFORM_RESIZE, struct_size, 9);
    TRANSFORM(SDD_TRANSFORM_RESIZE, allow_enlarging, 2);
    TRANSFORM(0, kind, 99);
    TRANSFORM(SDD_TRANSFORM_RESIZE, fit, 9);
    TRANSFORM(SDD_TRANSFORM_RESIZE, width, -1);
    TRANSFORM(SDD_TRANSFORM_RESIZE, width, 0, given.height = 0);
    TRANSFORM(SDD_TRANSFORM_CROP, width, 0);
    TRANSFORM(SDD_TRANSFORM_CROP, height, -1);
    TRANSFORM(SDD_TRANSFORM_FLIP, flip, 0);
    TRANSFORM(SDD_TRANSFORM_FLIP, flip, 4);
    TRANSFORM(SDD_TRANSFORM_ROTATE, degrees, 45);
    TRANSFORM(SDD_TRANSFORM_ROUND_CORNERS, radius, -1);
    TRANSFORM(SDD_TRANSFORM_ROUND_CORNERS, corners, 16);
    TRANSFORM(SDD_TRANSFORM_CALLBACK, key, NULL);
    TRANSFORM(SDD_TRANSFORM_CALLBACK, key, "");
    TRANSFORM(SDD_TRANSFORM_CALLBACK, callback, NULL);
}

/* ------------------------------------------------------------------------------------ all fields */

/* Structs that the application fills. */
static const char *const filled[] = {
    "sdd_callback_options", "sdd_coder", "sdd_cookie", "sdd_credential", "sdd_decode_options",
    "sdd_downloader_config", "sdd_encode_options", "sdd_limits", "sdd_modifiers", "sdd_network_options",
    "sdd_pixel_allocator", "sdd_retry_options", "sdd_transform", "sdd_transport",
};

/* Fields that accept any value: the application's own functions, structs and arrays whose fields are checked
   themselves, pointers to objects, and numbers without an invalid value. */
static const char *const take_all[] = {
    "sdd_callback_options.on_thread_start", "sdd_callback_options.on_thread_stop",
    "sdd_coder.encode", "sdd_coder.estimate",
    "sdd_coder.preview",
    "sdd_downloader_config.callbacks",
    "sdd_downloader_config.credential", "sdd_downloader_config.limits", "sdd_downloader_config.modifiers",
    "sdd_downloader_config.network", "sdd_downloader_config.retry", "sdd_modifiers.body_transform",
    "sdd_modifiers.request_modifier", "sdd_modifiers.response_modifier", "sdd_network_options.address_filter",
    "sdd_transform.x", "sdd_transform.y",
    "sdd_transport.set_priority",
};

static void every_field_is_refused(void)
{
    check_every_field(filled, sizeof filled / sizeof *filled, take_all, sizeof take_all / sizeof *take_all);
}

int main(void)
{
    static const uint8_t pixels[16];
    start_watchdog();
    memset(text_of_70000, 'a', sizeof text_of_70000 - 1);
    downloader = make_downloader(NULL);
    CHECK_STATUS(sdd_image_create(2, 2, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image), SDD_OK);
    RUN(configs_of_downloaders);
    RUN(limits_and_retries);
    RUN(networks);
    UNCHANGED(RUN(credentials); RUN(cookies); RUN(vtables); RUN(decode_options));
    RUN(encoding_and_transforms);
    RUN(every_field_is_refused);
    sdd_image_release(image);
    destroy(downloader);
    return 0;
}

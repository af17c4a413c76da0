/* The initialiser macros and the ..._init() functions give the same bytes. Compiled as C and as C++. */
#include <sdd/sdd.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "header_init.c: %s\n", what);
        failures++;
    }
}

/* What such a macro makes, whether or not it has a function: zeros behind the size. */
#define ONLY_ITS_SIZE(type, macro) \
    do { \
        const type made = macro; \
        unsigned char zeros[sizeof(type)]; \
        const size_t size = sizeof made; \
        memset(zeros, 0, sizeof zeros); \
        memcpy(zeros, &size, sizeof size); \
        expect(memcmp(&made, zeros, size) == 0, #macro " sets more than struct_size"); \
    } while (0)

int main(void)
{
    const sdd_downloader_config config_macro = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader_config config;
    memset(&config, 0xa5, sizeof config);
    expect(sdd_downloader_config_init(&config, sizeof config) == SDD_OK, "sdd_downloader_config_init() fails");
    expect(memcmp(&config, &config_macro, sizeof config) == 0, "sdd_downloader_config: macro and function differ");

    const sdd_request request_macro = SDD_REQUEST_INIT;
    sdd_request request;
    memset(&request, 0xa5, sizeof request);
    expect(sdd_request_init(&request, sizeof request) == SDD_OK, "sdd_request_init() fails");
    expect(memcmp(&request, &request_macro, sizeof request) == 0, "sdd_request: macro and function differ");

    const sdd_cache_config cache_macro = SDD_CACHE_CONFIG_INIT;
    sdd_cache_config cache;
    memset(&cache, 0xa5, sizeof cache);
    expect(sdd_cache_config_init(&cache, sizeof cache) == SDD_OK, "sdd_cache_config_init() fails");
    expect(memcmp(&cache, &cache_macro, sizeof cache) == 0, "sdd_cache_config: macro and function differ");

    const sdd_batch_config batch_macro = SDD_BATCH_CONFIG_INIT;
    sdd_batch_config batch;
    memset(&batch, 0xa5, sizeof batch);
    expect(sdd_batch_config_init(&batch, sizeof batch) == SDD_OK, "sdd_batch_config_init() fails");
    expect(memcmp(&batch, &batch_macro, sizeof batch) == 0, "sdd_batch_config: macro and function differ");

    const sdd_image_request load_macro = SDD_IMAGE_REQUEST_INIT;
    sdd_image_request load;
    memset(&load, 0xa5, sizeof load);
    expect(sdd_image_request_init(&load, sizeof load) == SDD_OK, "sdd_image_request_init() fails");
    expect(memcmp(&load, &load_macro, sizeof load) == 0, "sdd_image_request: macro and function differ");

    const sdd_loader_config loader_macro = SDD_LOADER_CONFIG_INIT;
    sdd_loader_config loader;
    memset(&loader, 0xa5, sizeof loader);
    expect(sdd_loader_config_init(&loader, sizeof loader) == SDD_OK, "sdd_loader_config_init() fails");
    expect(memcmp(&loader, &loader_macro, sizeof loader) == 0, "sdd_loader_config: macro and function differ");

    ONLY_ITS_SIZE(sdd_downloader_config, SDD_DOWNLOADER_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_image_request, SDD_IMAGE_REQUEST_INIT);
    ONLY_ITS_SIZE(sdd_loader_config, SDD_LOADER_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_request, SDD_REQUEST_INIT);
    ONLY_ITS_SIZE(sdd_event, SDD_EVENT_INIT);
    ONLY_ITS_SIZE(sdd_credential, SDD_CREDENTIAL_INIT);
    ONLY_ITS_SIZE(sdd_modifiers, SDD_MODIFIERS_INIT);
    ONLY_ITS_SIZE(sdd_request_info, SDD_REQUEST_INFO_INIT);
    ONLY_ITS_SIZE(sdd_statistics, SDD_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_pixel_allocator, SDD_PIXEL_ALLOCATOR_INIT);
    ONLY_ITS_SIZE(sdd_decode_options, SDD_DECODE_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_image_facts, SDD_IMAGE_FACTS_INIT);
    ONLY_ITS_SIZE(sdd_image_info, SDD_IMAGE_INFO_INIT);
    ONLY_ITS_SIZE(sdd_image_text, SDD_IMAGE_TEXT_INIT);
    ONLY_ITS_SIZE(sdd_cookie, SDD_COOKIE_INIT);
    ONLY_ITS_SIZE(sdd_transport, SDD_TRANSPORT_INIT);
    ONLY_ITS_SIZE(sdd_encode_options, SDD_ENCODE_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_transform, SDD_TRANSFORM_INIT);
    ONLY_ITS_SIZE(sdd_coder, SDD_CODER_INIT);
    ONLY_ITS_SIZE(sdd_cache_config, SDD_CACHE_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_cache_item, SDD_CACHE_ITEM_INIT);
    ONLY_ITS_SIZE(sdd_cache_query, SDD_CACHE_QUERY_INIT);
    ONLY_ITS_SIZE(sdd_cache_statistics, SDD_CACHE_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_prefetch_list, SDD_PREFETCH_LIST_INIT);

    ONLY_ITS_SIZE(sdd_tensor, SDD_TENSOR_INIT);
    ONLY_ITS_SIZE(sdd_batch_config, SDD_BATCH_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_batch_item, SDD_BATCH_ITEM_INIT);
    ONLY_ITS_SIZE(sdd_batch_statistics, SDD_BATCH_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_batch_status, SDD_BATCH_STATUS_INIT);
    ONLY_ITS_SIZE(sdd_batch_host, SDD_BATCH_HOST_INIT);

    /* What the functions refuse they do not touch. */
    unsigned char small[sizeof(size_t)];
    memset(small, 0xa5, sizeof small);
    expect(sdd_request_init((sdd_request *)(void *)small, sizeof small - 1) == SDD_ERROR_INVALID_ARGUMENT,
           "a size that does not hold struct_size is taken");
    expect(sdd_cache_config_init((sdd_cache_config *)(void *)small, sizeof small - 1) == SDD_ERROR_INVALID_ARGUMENT,
           "a cache's size that does not hold struct_size is taken");
    expect(sdd_image_request_init((sdd_image_request *)(void *)small, sizeof small - 1) == SDD_ERROR_INVALID_ARGUMENT,
           "a load's size that does not hold struct_size is taken");
    expect(sdd_loader_config_init((sdd_loader_config *)(void *)small, sizeof small - 1) == SDD_ERROR_INVALID_ARGUMENT,
           "a loader's size that does not hold struct_size is taken");
    expect(small[0] == 0xa5 && small[sizeof small - 1] == 0xa5, "a refused struct is written to");

    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", SDD_VERSION_MAJOR, SDD_VERSION_MINOR, SDD_VERSION_PATCH);
    expect(strcmp(version, SDD_VERSION_STRING) == 0, "SDD_VERSION_STRING is not the three numbers");
    expect(strcmp(sdd_version_string(), SDD_VERSION_STRING) == 0, "header and library have different versions");
    expect(sdd_version() == SDD_VERSION_MAJOR * 1000000u + SDD_VERSION_MINOR * 1000u + SDD_VERSION_PATCH,
           "sdd_version() is not the header's");

    if (failures == 0)
        puts("ok header_init.c");
    return failures != 0;
}

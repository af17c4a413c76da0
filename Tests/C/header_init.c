/* Each initialiser macro makes a struct of zeros with its struct_size. Compiled as C and as C++. */
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

/* Checks that the bytes after struct_size are zero. */
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
    ONLY_ITS_SIZE(sdd_downloader_config, SDD_DOWNLOADER_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_callback_options, SDD_CALLBACK_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_network_options, SDD_NETWORK_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_limits, SDD_LIMITS_INIT);
    ONLY_ITS_SIZE(sdd_retry_options, SDD_RETRY_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_load_request, SDD_LOAD_REQUEST_INIT);
    ONLY_ITS_SIZE(sdd_loader_config, SDD_LOADER_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_download_request, SDD_DOWNLOAD_REQUEST_INIT);
    ONLY_ITS_SIZE(sdd_event, SDD_EVENT_INIT);
    ONLY_ITS_SIZE(sdd_credential, SDD_CREDENTIAL_INIT);
    ONLY_ITS_SIZE(sdd_modifiers, SDD_MODIFIERS_INIT);
    ONLY_ITS_SIZE(sdd_token_info, SDD_TOKEN_INFO_INIT);
    ONLY_ITS_SIZE(sdd_statistics, SDD_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_process_statistics, SDD_PROCESS_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_transfer_options, SDD_TRANSFER_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_pixel_allocator, SDD_PIXEL_ALLOCATOR_INIT);
    ONLY_ITS_SIZE(sdd_decode_options, SDD_DECODE_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_image_info, SDD_IMAGE_INFO_INIT);
    ONLY_ITS_SIZE(sdd_image_text, SDD_IMAGE_TEXT_INIT);
    ONLY_ITS_SIZE(sdd_cookie, SDD_COOKIE_INIT);
    ONLY_ITS_SIZE(sdd_transport, SDD_TRANSPORT_INIT);
    ONLY_ITS_SIZE(sdd_encode_options, SDD_ENCODE_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_transform, SDD_TRANSFORM_INIT);
    ONLY_ITS_SIZE(sdd_coder, SDD_CODER_INIT);
    ONLY_ITS_SIZE(sdd_cache_config, SDD_CACHE_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_memory_store, SDD_MEMORY_STORE_INIT);
    ONLY_ITS_SIZE(sdd_entry_store, SDD_ENTRY_STORE_INIT);
    ONLY_ITS_SIZE(sdd_cache_item, SDD_CACHE_ITEM_INIT);
    ONLY_ITS_SIZE(sdd_cache_query_options, SDD_CACHE_QUERY_OPTIONS_INIT);
    ONLY_ITS_SIZE(sdd_cache_statistics, SDD_CACHE_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_prefetch_list, SDD_PREFETCH_LIST_INIT);

    ONLY_ITS_SIZE(sdd_tensor, SDD_TENSOR_INIT);
    ONLY_ITS_SIZE(sdd_batch_config, SDD_BATCH_CONFIG_INIT);
    ONLY_ITS_SIZE(sdd_batch_item, SDD_BATCH_ITEM_INIT);
    ONLY_ITS_SIZE(sdd_batch_statistics, SDD_BATCH_STATISTICS_INIT);
    ONLY_ITS_SIZE(sdd_batch_status, SDD_BATCH_STATUS_INIT);
    ONLY_ITS_SIZE(sdd_batch_host, SDD_BATCH_HOST_INIT);

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

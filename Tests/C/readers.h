/*
 * readers.h - a function for each struct that an application gives to the library; it passes the struct on as it is,
 * and returns what the library says of it. Requests end later: those functions are in the programs.
 */
#ifndef READERS_H
#define READERS_H

#include "good_values.h"

typedef sdd_status (*read_fn)(const void *given);

/* Defines read_TYPE. */
#define READER(type, ...) \
    static sdd_status read_##type(const void *source) \
    { \
        const type *given = source; \
        __VA_ARGS__ \
    }

/* A call that makes an object of the struct. */
#define MAKER(type, kind) \
    READER(type, { \
        kind *made = (kind *)&made; \
        sdd_status status = kind##_create(given, &made); \
        if ((made != NULL) != (status == SDD_OK)) FAIL("an object with an error, or none without: %d", (int)status); \
        if (made) CHECK_STATUS(kind##_destroy(made), SDD_OK); \
        return status; \
    })

/* A struct that another one points to. */
#define INNER(type, outer, field) \
    READER(type, { \
        outer around; \
        make_good(&row_of_##outer, &around); \
        around.field = given; \
        return read_##outer(&around); \
    })

MAKER(sdd_downloader_config, sdd_downloader)
INNER(sdd_callback_options, sdd_downloader_config, callbacks)
INNER(sdd_network_options, sdd_downloader_config, network)
INNER(sdd_limits, sdd_downloader_config, limits)
INNER(sdd_retry_options, sdd_downloader_config, retry)
READER(sdd_credential, return sdd_downloader_set_credential(good_downloader, given);)
READER(sdd_modifiers, return sdd_downloader_set_modifiers(good_downloader, given);)
READER(sdd_cookie, return sdd_downloader_set_cookie(good_downloader, given);)
READER(sdd_transport, return sdd_downloader_add_transport(good_downloader, given);)
READER(sdd_decode_options, return sdd_downloader_set_decode_options(good_downloader, given);)
INNER(sdd_pixel_allocator, sdd_decode_options, allocator)
MAKER(sdd_cache_config, sdd_cache)
INNER(sdd_memory_store, sdd_cache_config, memory_store)
READER(sdd_cache_item, return sdd_cache_put_wait(good_cache, given);)
READER(sdd_cache_query_options, return sdd_cache_query_wait(good_cache, given, NULL);)
MAKER(sdd_loader_config, sdd_loader)
MAKER(sdd_batch_config, sdd_batch)
INNER(sdd_tensor, sdd_batch_config, tensor)

/* A directory that cannot be used shows that the struct has been accepted, and leaves nothing on the disk. */
READER(sdd_entry_store, {
    sdd_cache_config config = SDD_CACHE_CONFIG_INIT;
    config.directory = "/dev/null";
    config.entry_store = given;
    sdd_status status = read_sdd_cache_config(&config);
    return status == SDD_ERROR_CACHE ? SDD_OK : status;
})

READER(sdd_encode_options, {
    sdd_bytes *bytes = (sdd_bytes *)&bytes;
    sdd_status status = sdd_image_encode(good_image, given, &bytes);
    CHECK((bytes != NULL) == (status == SDD_OK));
    sdd_bytes_release(bytes);
    return status;
})

READER(sdd_animation_frame, {
    sdd_image *made = (sdd_image *)&made;
    sdd_status status = sdd_image_create_animation(given, 1, 0, &made);
    CHECK((made != NULL) == (status == SDD_OK));
    sdd_image_release(made);
    return status;
})

READER(sdd_transform, {
    char key[64];
    return sdd_transform_key(given, 1, key, sizeof key, NULL);
})

READER(sdd_coder, {
    sdd_status status = sdd_process_add_coder(given);
    if (status == SDD_OK) CHECK_STATUS(sdd_process_remove_coder("never"), SDD_OK);
    return status;
})

static sdd_status read_coder_of_downloader(const void *given)
{
    return sdd_downloader_add_coder(good_downloader, given);
}

typedef struct reader {
    const struct_row *row;
    read_fn read;
} reader;

#define READ_BY(type, function) { &row_of_##type, function }
#define READ(type) READ_BY(type, read_##type)

static const reader readers[] = {
    READ(sdd_downloader_config), READ(sdd_callback_options), READ(sdd_network_options), READ(sdd_limits),
    READ(sdd_retry_options), READ(sdd_credential), READ(sdd_modifiers), READ(sdd_cookie), READ(sdd_transport),
    READ(sdd_decode_options), READ(sdd_pixel_allocator), READ(sdd_encode_options), READ(sdd_transform), READ(sdd_coder),
    READ(sdd_animation_frame),
    READ_BY(sdd_coder, read_coder_of_downloader), READ(sdd_cache_config), READ(sdd_memory_store), READ(sdd_entry_store),
    READ(sdd_cache_item),
    READ(sdd_cache_query_options), READ(sdd_loader_config), READ(sdd_batch_config), READ(sdd_tensor),
};

#endif

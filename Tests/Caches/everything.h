/*
 * everything.h - for places.c: uses every part of the library once: downloads, caches, loads, batches, decoding,
 * encoding. One system call fails meanwhile; each part then delivers the right result, or ends once with an error that
 * explains the failure.
 */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include "drivers.h"

/* ---------------------------------------------------------------------------------- expected results */

/* A picture that is decoded before anything fails, for later comparison. */
typedef struct sample {
    const char *file;
    int32_t side;  /* the size to fit into; 0: its own size */
    int32_t frame; /* -1: the still picture */
    uint64_t hash;
} sample;

static sample samples[] = {
    { "png/rgb8.png", 0, -1, 0 },          { "png/rgba16-interlaced.png", 0, -1, 0 },
    { "jpeg/progressive-420.jpg", 0, -1, 0 }, { "large/baseline.jpg", 100, -1, 0 },
    { "large/progressive.jpg", 50, -1, 0 },   { "large/rows.png", 100, -1, 0 },
    { "large/interlaced.png", 0, -1, 0 },  { "frames/every-operation.png", 0, 2, 0 },
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static uint64_t hash_of(sdd_image *image)
{
    uint64_t hash = 14695981039346656037u;
    size_t row = (size_t)sdd_image_width(image) * 4;
    for (int32_t y = 0; y < sdd_image_height(image); y++)
        for (size_t x = 0; x < row; x++)
            hash = (hash ^ sdd_image_pixels(image)[(size_t)y * sdd_image_stride(image) + x]) * 1099511628211u;
    return hash;
}

static int (*has_failed)(void);
static int fails_softly; /* the failing call is retried or does less: there must be no effect at all */

/* Whether the failing system call explains this error. */
static int is_explained(sdd_status status, int32_t detail)
{
    switch (status) {
    case SDD_ERROR_TRANSPORT:
    case SDD_ERROR_RESOLVE:
    case SDD_ERROR_CONNECT:
    case SDD_ERROR_TIMEOUT:
    case SDD_ERROR_CONNECTION_LOST:
    case SDD_ERROR_TRUNCATED_BODY:
    case SDD_ERROR_CONTENT_ENCODING: /* zlib had no memory */
    case SDD_ERROR_HEADERS_TOO_LARGE: /* libcurl reports a lack of memory while it reads a header in the same way */
    case SDD_ERROR_FILE_NOT_READABLE:
    case SDD_ERROR_SINK:
    case SDD_ERROR_NO_RESOURCES:
    case SDD_ERROR_NOT_CACHED:
    case SDD_ERROR_CACHE: return 1;
    case SDD_ERROR_BAD_IMAGE_DATA: return detail == SDD_DETAIL_IMAGE_NO_MEMORY;
    case SDD_ERROR_INVALID_DOWNLOAD_OPERATION: return detail == SDD_DETAIL_OPERATION_NO_TRANSFER;
    default: return 0;
    }
}

/* Whether a call succeeded; an error that the failing call does not explain ends the program. */
static int went_well(const char *what, sdd_status status, int32_t detail)
{
    if (status == SDD_OK) return 1;
    if (!has_failed()) FAIL("%s: %s %d, but no call has failed", what, sdd_status_name(status), (int)detail);
    if (fails_softly) FAIL("%s: %s %d, although the call can be retried", what, sdd_status_name(status), (int)detail);
    if (!is_explained(status, detail)) FAIL("%s: %s %d", what, sdd_status_name(status), (int)detail);
    return 0;
}

/* The same for a call of this thread. */
static int call_went_well(const char *what, sdd_status status)
{
    return went_well(what, status, status == SDD_OK ? 0 : last_detail());
}

/* ------------------------------------------------------------------------------------------- decoding */

static sdd_status decode_sample(const sample *s, uint64_t *hash)
{
    size_t size;
    uint8_t *file = fixture(s->file, &size);
    sdd_decode_options options = SDD_DECODE_OPTIONS_INIT;
    sdd_image *image = NULL, *frame = NULL;
    options.target_width = options.target_height = s->side;
    sdd_status status = sdd_image_decode(file, size, &options, &image);
    free(file);
    if (status == SDD_OK && s->frame >= 0) status = sdd_image_frame(image, s->frame, &frame);
    if (status == SDD_OK) *hash = hash_of(frame ? frame : image);
    sdd_image_release(image);
    sdd_image_release(frame);
    return status;
}

static void make_samples(void)
{
    for (int i = 0; i < SAMPLES; i++) CHECK_STATUS(decode_sample(&samples[i], &samples[i].hash), SDD_OK);
}

static void use_decoders(void)
{
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t hash = 0;
        sdd_status status = decode_sample(&samples[i], &hash);
        if (call_went_well(samples[i].file, status)) CHECK_EQUAL(hash, samples[i].hash);
    }
    size_t size = 0;
    const void *data = NULL;
    uint8_t *file = fixture("metadata/kinds.png", &size);
    sdd_image *image = NULL;
    sdd_status status = sdd_image_decode(file, size, NULL, &image);
    if (call_went_well("metadata", status)) {
        status = sdd_image_metadata(image, SDD_METADATA_EXIF, &data, &size);
        if (status != SDD_ERROR_NOT_FOUND) call_went_well("Exif", status);
        else CHECK(has_failed());
        CHECK(sdd_image_text_count(image) > 0 || has_failed());
    }
    sdd_image_release(image);
    free(file);
}

static void use_encoders(void)
{
    static const int32_t formats[] = { SDD_IMAGE_FORMAT_JPEG, SDD_IMAGE_FORMAT_PNG };
    sdd_image *image = NULL, *turned = NULL;
    int width, height;
    uint8_t *pixels = pam_pixels("encoded/opaque.pam", &width, &height);
    sdd_status status = sdd_image_create(width, height, SDD_PIXEL_FORMAT_RGBA8, pixels, 0, &image);
    free(pixels);
    if (!went_well("sdd_image_create", status, 0)) return;
    sdd_transform turn = SDD_TRANSFORM_INIT;
    turn.kind = SDD_TRANSFORM_ROTATE;
    turn.degrees = 90;
    went_well("transform", sdd_image_transform(image, &turn, 1, &turned), 0);
    sdd_image_release(turned);
    OWNED_BYTES hash = NULL;
    OWNED_IMAGE shown = NULL;
    if (went_well("thumbhash", sdd_image_thumbhash(image, &hash), 0))
        went_well("from_thumbhash", sdd_image_from_thumbhash(sdd_bytes_data(hash), sdd_bytes_size(hash), &shown), 0);
    for (int i = 0; i < 2; i++) {
        sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
        OWNED_BYTES bytes = NULL;
        options.format = formats[i];
        if (went_well("encode", sdd_image_encode(image, &options, &bytes), 0)) CHECK(sdd_bytes_size(bytes) > 100);
    }
    sdd_image_release(image);
}

/* ------------------------------------------------------------------------------------------- requests */

static int fetched(sdd_downloader *downloader, record *r, const sdd_download_request *given)
{
    record_clear(r);
    sdd_download_request request = *given;
    request.progress = record_progress;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    if (sdd_downloader_submit(downloader, &request) == 0) return call_went_well(given->url, sdd_last_error(NULL));
    record_wait(r);
    if (r->error != SDD_OK && has_failed() && !is_explained(r->error, r->detail))
        FAIL("%s: %s %d: %s", given->url, sdd_status_name(r->error), (int)r->detail, r->message);
    return went_well(given->url, r->error, r->detail);
}

static void fetch_pattern(sdd_downloader *downloader, const char *path, const char *target, size_t size, uint64_t options)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = at(path);
    request.options = SDD_OPTION_BYTES_ONLY | options;
    if (fetched(downloader, &r, &request))
        CHECK(sdd_bytes_size(r.bytes) == size && is_pattern(sdd_bytes_data(r.bytes), size, target));
}

static void fetch_sample(sdd_downloader *downloader, int index, const char *query, uint64_t options)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    request.url = atf("/file/%s%s", samples[index].file, query);
    request.options = options;
    decode.target_width = decode.target_height = samples[index].side;
    request.decode = &decode;
    if (fetched(downloader, &r, &request)) CHECK_EQUAL(hash_of(r.image), samples[index].hash);
}

static void fetch_to_file(sdd_downloader *downloader, const char *folder)
{
    record r = RECORD_INIT;
    char path[700];
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    snprintf(path, sizeof path, "%s/sink", folder);
    int file = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    request.url = at("/ok?size=20000");
    request.options = SDD_OPTION_BYTES_ONLY;
    request.sink = SDD_SINK_FD;
    request.sink_fd = file;
    bodies_go_elsewhere = 1;
    if (fetched(downloader, &r, &request)) {
        size_t size;
        uint8_t *written = read_whole(path, &size);
        CHECK(size == 20000 && is_pattern(written, size, "/ok?size=20000"));
        free(written);
    }
    bodies_go_elsewhere = 0;
    record_clear(&r);
    close(file);
}

static void use_downloader(sdd_downloader *downloader, const char *folder)
{
    char local[200];
    fetch_pattern(downloader, "/ok?size=30000", "/ok?size=30000", 30000, 0);
    fetch_pattern(downloader, "/gzip?size=20000", "/gzip?size=20000", 20000, 0);
    fetch_pattern(downloader, "/redirect?to=/ok?size=9000", "/ok?size=9000", 9000, 0);
    for (int i = 0; i < 2; i++) { /* the second time from the HTTP cache */
        fetch_sample(downloader, 0, "?header=Cache-Control:%20max-age=600", SDD_OPTION_USE_HTTP_CACHE);
        fetch_sample(downloader, 3, "?header=Cache-Control:%20max-age=600", SDD_OPTION_USE_HTTP_CACHE);
    }
    fetch_sample(downloader, 2, "", 0);
    fetch_sample(downloader, 5, "", 0);
    fetch_to_file(downloader, folder);
    record r = RECORD_INIT;
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    snprintf(local, sizeof local, "http://localhost:%s/ok?size=500", strrchr(setting("SDD_TEST_SERVER"), ':') + 1);
    request.url = local; /* a name that has to be resolved */
    request.options = SDD_OPTION_BYTES_ONLY;
    if (fetched(downloader, &r, &request)) CHECK(is_body_of(r.bytes, local, 500));
    record_clear(&r);
    OWNED_BYTES bytes = NULL;
    sdd_status status = sdd_get(downloader, at("/ok?size=700"), SDD_OPTION_BYTES_ONLY, -1, NULL, &bytes, NULL);
    if (call_went_well("sdd_get", status))
        CHECK(sdd_bytes_size(bytes) == 700 && is_pattern(sdd_bytes_data(bytes), 700, "/ok?size=700"));
}

/* Uses a downloader whose events the application takes. */
static void use_host_delivery(void)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    sdd_downloader *downloader = NULL;
    OWNED_RECORD r = RECORD_INIT;
    config.delivery = SDD_DELIVERY_APPLICATION;
    if (!went_well("create", sdd_downloader_create(&config, &downloader), 0)) return;
    sdd_download_request request = record_request(&r, at("/ok?size=5000"));
    request.options = SDD_OPTION_BYTES_ONLY;
    sdd_token token = sdd_downloader_submit(downloader, &request);
    if (token == 0) call_went_well("submit", sdd_last_error(NULL));
    while (token && r.freed_count == 0) CHECK_STATUS(sdd_downloader_wait(downloader, NULL, 16, -1, NULL), SDD_OK);
    if (token && went_well("host delivery", r.error, r.detail)) CHECK(is_body_of(r.bytes, at("/ok?size=5000"), 5000));
    destroy(downloader);
}

/* --------------------------------------------------------------------------------- loads and batches */

static void load_sample(sdd_loader *loader, int index, int32_t side, uint64_t hash, uint64_t options)
{
    OWNED_RECORD r = RECORD_INIT;
    sdd_decode_options decode = SDD_DECODE_OPTIONS_INIT;
    sdd_load_request request = SDD_LOAD_REQUEST_INIT;
    decode.target_width = decode.target_height = side;
    request.url = atf("/file/%s?load", samples[index].file);
    request.options = options | SDD_OPTION_RETRY_FAILED;
    request.decode = &decode;
    request.progress = record_progress;
    request.completed = record_completed;
    request.user_data = &r;
    request.user_data_free = record_freed;
    if (sdd_loader_submit(loader, &request) == 0) {
        call_went_well("sdd_loader_submit", sdd_last_error(NULL));
        return;
    }
    record_wait(&r);
    int is_as_before = r.error == SDD_ERROR_NOT_MODIFIED && (options & SDD_OPTION_REFRESH_CACHED);
    if (!is_as_before && went_well(request.url, r.error, r.detail) && hash_of(r.image) != hash)
        FAIL("%s: other pixels, %d x %d, from %d", request.url, (int)sdd_image_width(r.image),
             (int)sdd_image_height(r.image), (int)r.origin);
}

static void use_loader(sdd_downloader *downloader, sdd_cache *cache)
{
    sdd_loader_config config = SDD_LOADER_CONFIG_INIT;
    sdd_loader *loader = NULL;
    config.downloader = downloader;
    config.cache = cache;
    if (!went_well("sdd_loader_create", sdd_loader_create(&config, &loader), 0)) return;
    load_sample(loader, 5, 100, samples[5].hash, SDD_OPTION_WAIT_STORE_CACHE);
    load_sample(loader, 0, 0, samples[0].hash, SDD_OPTION_WAIT_STORE_CACHE);
    sdd_cache_trim_memory(cache, SDD_TRIM_ALL);
    load_sample(loader, 5, 100, samples[5].hash, 0);
    load_sample(loader, 0, 0, samples[0].hash, 0);
    load_sample(loader, 5, 100, samples[5].hash, SDD_OPTION_REFRESH_CACHED);
    CHECK_STATUS(sdd_loader_destroy(loader), SDD_OK);
}

static void use_batch(sdd_downloader *downloader)
{
    static uint8_t pixels[6][64 * 64 * 3];
    const char *urls[6];
    int64_t seen[6] = { 0 };
    sdd_tensor tensor = SDD_TENSOR_INIT;
    sdd_batch_config config = SDD_BATCH_CONFIG_INIT;
    sdd_batch *batch = NULL;
    for (int i = 0; i < 6; i++) urls[i] = atf("/file/%s?batch%d", samples[i % 4].file, i);
    tensor.pixels = pixels, tensor.slot_count = 6, tensor.width = tensor.height = 64;
    config.downloader = downloader, config.urls = urls, config.count = 6, config.tensor = &tensor;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    transfer.max_attempts = 1;
    config.transfer = &transfer;
    if (!went_well("sdd_batch_create", sdd_batch_create(&config, &batch), 0)) return;
    for (size_t count = 1; count > 0;) {
        sdd_batch_item item = SDD_BATCH_ITEM_INIT;
        if (!went_well("sdd_batch_wait", sdd_batch_wait(batch, &item, 1, -1, &count), 0)) break;
        if (count == 0) break;
        CHECK(item.index >= 0 && item.index < 6);
        CHECK_EQUAL(seen[item.index]++, 0);
        went_well(urls[item.index], item.result->failure.status, item.result->failure.detail);
        sdd_result_release(item.result);
    }
    for (int i = 0; i < 6; i++) CHECK(seen[i] == 1 || has_failed());
    CHECK_STATUS(sdd_batch_destroy(batch), SDD_OK);
}

/* -------------------------------------------------------------------------------------------- caches */

/* Checks that the bytes of a key are right, or missing. */
static int is_entry_good(sdd_cache *cache, int number, sdd_bytes **expected)
{
    sdd_cache_query_options query = query_of(key_of(number), SDD_CACHE_DISK, SDD_WANT_BYTES);
    sdd_bytes *bytes = NULL;
    sdd_status status = find(cache, &query, NULL, &bytes, NULL, NULL);
    if (status != SDD_ERROR_NOT_CACHED && went_well("sdd_cache_query_wait", status, 0)) {
        int version = number == 0 ? 3 : number, is_right = 0;
        for (int v = version; v >= 0; v -= 3) /* an older version, if storing the newer one failed */
            if (expected[v] && sdd_bytes_size(bytes) == sdd_bytes_size(expected[v]))
                is_right |= memcmp(sdd_bytes_data(bytes), sdd_bytes_data(expected[v]), sdd_bytes_size(bytes)) == 0;
        CHECK(is_right);
    }
    int is_there = bytes != NULL;
    sdd_bytes_release(bytes);
    return is_there;
}

static void use_entries(sdd_cache *cache)
{
    sdd_bytes *bytes[4];
    static uint8_t data[4][5000];
    for (int number = 0; number < 4; number++) {
        memset(data[number], 'a' + number, sizeof data[number]);
        bytes[number] = sdd_bytes_create(data[number], sizeof data[number]);
        CHECK(bytes[number] != NULL || (has_failed() && !fails_softly));
        if (bytes[number] == NULL) continue;
        sdd_cache_item item = item_of(key_of(number % 3), NULL, bytes[number], SDD_CACHE_DISK);
        sdd_status status = sdd_cache_put_wait(cache, &item);
        call_went_well("sdd_cache_put_wait", status);
    }
    went_well("sdd_cache_remove_wait", sdd_cache_remove_wait(cache, key_of(2), SDD_CACHE_DISK), 0);
    call_went_well("sdd_cache_flush_wait", sdd_cache_flush_wait(cache, -1));
    went_well("sdd_cache_trim_disk_wait", sdd_cache_trim_disk_wait(cache), 0);
    for (int number = 0; number < 3; number++) {
        int is_there = is_entry_good(cache, number, bytes);
        if (!has_failed() || fails_softly) CHECK_EQUAL(is_there, number < 2);
    }
    int32_t file = -1;
    int64_t size = -1;
    sdd_status status = sdd_cache_open_wait(cache, key_of(0), &file, &size);
    CHECK(went_well("sdd_cache_open_wait", status, 0) == (file >= 0));
    if (file >= 0) close(file);
    for (int number = 0; number < 4; number++) sdd_bytes_release(bytes[number]);
}

/* Uses everything, with a cache in that folder. */
static void use_everything(const char *folder)
{
    sdd_cache_config cache_config = SDD_CACHE_CONFIG_INIT;
    sdd_retry_options retry = SDD_RETRY_OPTIONS_INIT;
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    config.retry = &retry;
    sdd_cache *cache = NULL;
    sdd_downloader *downloader = NULL;
    cache_config.directory = folder;
    cache_config.sync = SDD_SYNC_FULL;
    cache_config.map_from_bytes = 16384;
    retry.max_attempts = 1;
    tries_again = 1; /* a load may retry */
    use_decoders();
    sdd_status status = sdd_cache_create(&cache_config, &cache);
    call_went_well("sdd_cache_create", status);
    config.cache = cache;
    if (went_well("sdd_downloader_create", sdd_downloader_create(&config, &downloader), 0)) {
        use_downloader(downloader, setting("SDD_TEST_OWN_FOLDER"));
        if (cache) use_loader(downloader, cache);
        use_batch(downloader);
    }
    use_host_delivery();
    if (cache) use_entries(cache);
    use_encoders();
    if (downloader) destroy(downloader);
    if (cache) CHECK_STATUS(sdd_cache_destroy(cache), SDD_OK);
}

#endif

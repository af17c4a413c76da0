/*
 * record.h - records the callbacks of one request: their arguments, how often they came, and in which order. Pass a
 * record to `record_request`; wait with `record_wait`.
 */
#ifndef RECORD_H
#define RECORD_H

#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

typedef struct record {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int progress_count, begun_count, completed_count, freed_count;
    int64_t first_received, first_expected, last_received, last_expected;
    pthread_t thread; /* the thread of the terminal callback */
    sdd_token token;
    sdd_status error;
    int32_t detail, http_status, curl_code, system_error;
    char url[1024], message[1024];
    int has_url;
    int32_t error_class, stage, retryable, origin;
    sdd_metrics metrics; /* its remote_address goes with the result: the next field */
    char remote_address[64];
    sdd_image *image;       /* retained */
    sdd_bytes *bytes;       /* retained */
    sdd_bytes *extended;    /* retained */
    sdd_response *response; /* retained */
} record;

/* Set where a request may have several transfers: each starts its progress with (0, -1). */
static int tries_again;

#define OWNED_RECORD OWNED(record_clear) record
#define RECORD_INIT { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static inline void record_progress(
    sdd_token token, int64_t received, int64_t expected, const char *url, void *user_data)
{
    record *r = user_data;
    pthread_mutex_lock(&r->lock);
    CHECK_EQUAL(r->completed_count, 0);
    CHECK(token != 0 && url != NULL);
    if (r->progress_count++ == 0) {
        r->first_received = received;
        r->first_expected = expected;
    }
    /* A body that is requested again restarts its progress. */
    if (received == 0 && expected == -1) {
        r->begun_count++;
        r->last_received = 0;
    }
    CHECK(received >= r->last_received);
    r->last_received = received;
    r->last_expected = expected;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* Returns the class of an error from its status and detail: see the comments on SDD_CLASS_. */
static inline int32_t class_of(sdd_status error, int32_t detail)
{
    switch (error) {
    case SDD_OK: return SDD_CLASS_NONE;
    case SDD_ERROR_INVALID_URL:
    case SDD_ERROR_BLOCKED:
    case SDD_ERROR_UNSUPPORTED:
    case SDD_ERROR_DOES_NOT_FIT:
    case SDD_ERROR_NOT_CACHED:
    case SDD_ERROR_INVALID_ARGUMENT:
    case SDD_ERROR_NOT_FOUND:
    case SDD_ERROR_CLOSED:
    case SDD_ERROR_FORKED:
    case SDD_ERROR_WRONG_DELIVERY:
    case SDD_ERROR_BUSY:
    case SDD_ERROR_WOULD_DEADLOCK:
    case SDD_ERROR_BUFFER_TOO_SMALL: return SDD_CLASS_REQUEST;
    case SDD_ERROR_INCOMPLETE: return SDD_CLASS_IMAGE;
    case SDD_ERROR_CACHE:
        if (detail == SDD_DETAIL_CACHE_NOTHING) return SDD_CLASS_REQUEST;
        return detail == SDD_DETAIL_CACHE_TOO_LARGE ? SDD_CLASS_LIMIT : SDD_CLASS_SYSTEM;
    case SDD_ERROR_BAD_IMAGE_DATA:
        if (detail == SDD_DETAIL_IMAGE_TOO_MANY_PIXELS || detail == SDD_DETAIL_IMAGE_TOO_MANY_FRAMES ||
            detail == SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE)
            return SDD_CLASS_LIMIT;
        if (detail == SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL) return SDD_CLASS_REQUEST;
        return detail == SDD_DETAIL_IMAGE_NO_MEMORY ? SDD_CLASS_SYSTEM : SDD_CLASS_IMAGE;
    case SDD_ERROR_INVALID_DOWNLOAD_OPERATION:
        return detail == SDD_DETAIL_OPERATION_NO_TRANSFER ? SDD_CLASS_SYSTEM : SDD_CLASS_REQUEST;
    case SDD_ERROR_CANCELLED: return SDD_CLASS_CANCELLED;
    case SDD_ERROR_NOT_MODIFIED:
    case SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE:
    case SDD_ERROR_INVALID_DOWNLOAD_RESPONSE:
    case SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE:
    case SDD_ERROR_TOO_MANY_REDIRECTS:
    case SDD_ERROR_REDIRECT_REFUSED: return SDD_CLASS_RESPONSE;
    case SDD_ERROR_TLS: return SDD_CLASS_TLS;
    case SDD_ERROR_TIMEOUT: return SDD_CLASS_TIMEOUT;
    case SDD_ERROR_BODY_TOO_LARGE:
    case SDD_ERROR_HEADERS_TOO_LARGE:
    case SDD_ERROR_ADDRESS_REFUSED: return SDD_CLASS_LIMIT;
    case SDD_ERROR_FILE_NOT_READABLE:
    case SDD_ERROR_SINK:
    case SDD_ERROR_NO_RESOURCES: return SDD_CLASS_SYSTEM;
    default: return SDD_CLASS_NETWORK;
    }
}

/* Checks the measurements that every result has. */
static inline void check_measured(const sdd_metrics *m)
{
    if (m->queue_us < 0 || m->name_lookup_us < 0 || m->connect_us < 0 || m->tls_us < 0 || m->first_byte_us < 0 ||
        m->transfer_us < 0 || m->decode_us < 0 || m->delivery_us < 0 || m->total_us < m->queue_us ||
        m->total_us < m->decode_us || m->cache_us < 0 || m->total_us < m->cache_us)
        FAIL("cache %lld, queue %lld, name %lld, connect %lld, TLS %lld, first byte %lld, transfer %lld, decode %lld, "
             "delivery %lld, total %lld us",
             (long long)m->cache_us, (long long)m->queue_us, (long long)m->name_lookup_us, (long long)m->connect_us,
             (long long)m->tls_us, (long long)m->first_byte_us, (long long)m->transfer_us, (long long)m->decode_us,
             (long long)m->delivery_us, (long long)m->total_us);
    CHECK(m->request_bytes >= 0 && m->response_header_bytes >= 0 && m->response_body_bytes >= 0);
    CHECK(m->saved_bytes >= 0 && m->resumed_bytes >= 0);
    CHECK(m->body_bytes >= 0 && m->redirects >= 0 && m->attempts >= 0);
    CHECK(m->connection_reused == 0 || m->connection_reused == 1);
    CHECK(m->remote_address != NULL && (m->end_unproven == 0 || m->end_unproven == 1));
    if (!tries_again) CHECK(m->attempts <= 1);
}

/* Set while requests have a sink, end before their bodies do, or store in a cache: then results have no bytes. */
static int bodies_go_elsewhere;

/* Set while pictures are transformed. */
static int pictures_are_transformed;

/* Checks the properties that every result has. */
static inline void check_result(const sdd_result *result)
{
    const sdd_failure *failure = &result->failure;
    CHECK(result->struct_size == sizeof *result && result->metrics->struct_size == sizeof *result->metrics);
    CHECK(result->token != 0 && result->origin >= SDD_ORIGIN_NONE && result->origin <= SDD_ORIGIN_HTTP_STALE);
    CHECK_EQUAL(result->origin == SDD_ORIGIN_NONE, failure->status != SDD_OK);
    CHECK_EQUAL(result->is_terminal, 1);
    check_measured(result->metrics);
    if (failure->detail) CHECK_EQUAL(failure->detail / 100, failure->status);
    CHECK_EQUAL(failure->error_class, class_of(failure->status, failure->detail));
    CHECK(failure->retryable == 0 || failure->retryable == 1);
    for (int i = 0; i < 3; i++) CHECK_EQUAL(failure->reserved[i], 0);
    if (failure->status == SDD_OK) {
        CHECK_TEXT(failure->message, "");
        CHECK(failure->stage == SDD_STAGE_NONE && failure->retryable == 0);
        /* A result from memory may have no bytes, or bytes from elsewhere. A load has none for a picture that was
           scaled or transformed. */
        int is_made = result->image && sdd_image_bytes(result->image) == NULL && result->bytes == NULL;
        if (result->origin == SDD_ORIGIN_NETWORK && !is_made)
            CHECK_EQUAL(result->bytes == NULL, bodies_go_elsewhere);
        CHECK((sdd_bytes_data(result->bytes) == NULL) == (sdd_bytes_size(result->bytes) == 0));
        /* A transformed picture has no bytes of its own. */
        if (result->origin != SDD_ORIGIN_MEMORY && result->image && result->bytes && !pictures_are_transformed) {
            sdd_bytes *own = sdd_image_bytes(result->image);
            CHECK(own == result->bytes || (own == NULL && result->origin == SDD_ORIGIN_DISK));
        }
    } else {
        size_t length = strlen(failure->message);
        if (length < 10 || failure->message[length - 1] != '.' || strchr(failure->message, '\n'))
            FAIL("not a sentence: \"%s\"", failure->message);
        CHECK(strncmp(sdd_status_name(failure->status), "SDD_ERROR_", 10) == 0);
        CHECK(strcmp(sdd_status_name(failure->status), "SDD_ERROR_UNKNOWN") != 0);
        CHECK(result->image == NULL && result->bytes == NULL && result->extended == NULL);
        CHECK(failure->stage >= SDD_STAGE_SUBMIT && failure->stage <= SDD_STAGE_DECODE);
    }
}

static inline void record_completed(const sdd_result *result, void *user_data)
{
    record *r = user_data;
    const sdd_failure *failure = &result->failure;
    check_result(result);
    pthread_mutex_lock(&r->lock);
    CHECK(r->freed_count == 0 && r->completed_count == 0);
    /* Progress restarts once for each attempt, once for each time a cache had to ask again, and once for each
       alternative. */
    CHECK(r->progress_count == 0 || r->begun_count <= result->metrics->attempts + 1 + 2 * (int)result->source_count);
    r->completed_count++;
    r->thread = pthread_self();
    r->token = result->token;
    r->error = failure->status;
    r->detail = failure->detail;
    r->http_status = failure->http_status;
    r->curl_code = failure->curl_code;
    r->system_error = failure->system_error;
    r->has_url = result->url != NULL;
    snprintf(r->url, sizeof r->url, "%s", result->url ? result->url : "");
    snprintf(r->message, sizeof r->message, "%s", failure->message);
    r->error_class = failure->error_class;
    r->stage = failure->stage;
    r->retryable = failure->retryable;
    r->origin = result->origin;
    r->metrics = *result->metrics;
    snprintf(r->remote_address, sizeof r->remote_address, "%s", result->metrics->remote_address);
    r->image = sdd_image_retain(result->image);
    r->bytes = sdd_bytes_retain(result->bytes);
    r->extended = sdd_bytes_retain(result->extended);
    r->response = sdd_response_retain(result->response);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static inline void record_freed(void *user_data)
{
    record *r = user_data;
    pthread_mutex_lock(&r->lock);
    CHECK(r->completed_count == 1 && r->freed_count == 0);
    r->freed_count++;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* Returns a request whose three callbacks go to `r`. */
static inline sdd_download_request record_request(record *r, const char *url)
{
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    request.url = url;
    request.progress = record_progress;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    return request;
}

static inline sdd_token submit(sdd_downloader *downloader, const sdd_download_request *request)
{
    sdd_token token = sdd_downloader_submit(downloader, request);
    if (token == 0) FAIL("not submitted: %s", sdd_last_error_message());
    return token;
}

static inline sdd_token record_submit(sdd_downloader *downloader, record *r, const char *url, uint64_t options)
{
    sdd_download_request request = record_request(r, url);
    request.options = options;
    return submit(downloader, &request);
}

/* Sets transfer options to their defaults. */
static inline const sdd_transfer_options *reset(sdd_transfer_options *transfer)
{
    *transfer = (sdd_transfer_options)SDD_TRANSFER_OPTIONS_INIT;
    return transfer;
}

/* Waits for the end of a request on a downloader with a thread of its own. */
static inline void record_wait(record *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->freed_count == 0) pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

/* Whether the request's last callback has come. */
static inline int record_has_ended(record *r)
{
    pthread_mutex_lock(&r->lock);
    int has_ended = r->freed_count > 0;
    pthread_mutex_unlock(&r->lock);
    return has_ended;
}

/* Waits until so many body bytes were reported. */
static inline void record_wait_received(record *r, int64_t received)
{
    pthread_mutex_lock(&r->lock);
    while (r->last_received < received && r->freed_count == 0) pthread_cond_wait(&r->changed, &r->lock);
    if (r->last_received < received) FAIL("%s ended before %lld bytes came: %s", r->url, (long long)received, r->message);
    pthread_mutex_unlock(&r->lock);
}

/* Releases what the record holds, and resets it. */
static inline void record_clear(record *r)
{
    sdd_image_release(r->image);
    sdd_bytes_release(r->bytes);
    sdd_bytes_release(r->extended);
    sdd_response_release(r->response);
    *r = (record)RECORD_INIT;
}

/* Whether the request has not ended yet. */
static inline int record_is_open(record *r)
{
    pthread_mutex_lock(&r->lock);
    int is_open = r->completed_count == 0;
    pthread_mutex_unlock(&r->lock);
    return is_open;
}

/* Submits a request given as a struct and waits for its end. Its callbacks go to `r`. */
static inline void fetch_as(sdd_downloader *downloader, record *r, sdd_download_request request)
{
    record_clear(r);
    request.progress = record_progress;
    request.completed = record_completed;
    request.user_data = r;
    request.user_data_free = record_freed;
    submit(downloader, &request);
    record_wait(r);
}

/* The same for a request that gets BYTES_ONLY, too. */
static inline void fetch_request(sdd_downloader *downloader, record *r, sdd_download_request request)
{
    request.options |= SDD_OPTION_BYTES_ONLY;
    fetch_as(downloader, r, request);
}

/* Submits a request for a URL and waits for its end. */
static inline void fetch(sdd_downloader *downloader, record *r, const char *url, uint64_t options)
{
    record_clear(r);
    sdd_token token = record_submit(downloader, r, url, options);
    record_wait(r);
    CHECK(r->token == token);
    if (r->has_url) CHECK(strncmp(r->url, url, sizeof r->url - 1) == 0);
}

#define CHECK_ENDED(r, code, number) \
    do { \
        if ((r)->error != (code) || (r)->detail != (number)) \
            FAIL("%s: %s %d \"%s\", not %s %d", (r)->url, sdd_status_name((r)->error), (int)(r)->detail, \
                 (r)->message, sdd_status_name(code), (int)(number)); \
    } while (0)

/* The groups of a downloader's configuration, for a test to change. */
typedef struct config_groups {
    sdd_callback_options callbacks;
    sdd_network_options network;
    sdd_limits limits;
    sdd_retry_options retry;
} config_groups;

/* Returns a configuration with these groups, all at their defaults. They must live as long as it is used. */
static inline sdd_downloader_config config_over(config_groups *groups)
{
    sdd_downloader_config config = SDD_DOWNLOADER_CONFIG_INIT;
    groups->callbacks = (sdd_callback_options)SDD_CALLBACK_OPTIONS_INIT;
    groups->network = (sdd_network_options)SDD_NETWORK_OPTIONS_INIT;
    groups->limits = (sdd_limits)SDD_LIMITS_INIT;
    groups->retry = (sdd_retry_options)SDD_RETRY_OPTIONS_INIT;
    config.callbacks = &groups->callbacks;
    config.network = &groups->network;
    config.limits = &groups->limits;
    config.retry = &groups->retry;
    return config;
}

/* Makes a downloader. run.sh runs some programs once more with SDD_TEST_ISOLATED: pictures are then decoded by other
   processes, and everything must be as before. */
static inline sdd_downloader *make_downloader(const sdd_downloader_config *config)
{
    sdd_downloader *downloader = NULL;
    sdd_downloader_config isolated = SDD_DOWNLOADER_CONFIG_INIT;
    if (getenv("SDD_TEST_ISOLATED")) {
        if (config) isolated = *config;
        isolated.decode_mode = SDD_DECODE_ISOLATED;
        config = &isolated;
    }
    CHECK_STATUS(sdd_downloader_create(config, &downloader), SDD_OK);
    CHECK(downloader != NULL);
    return downloader;
}

static inline void destroy(sdd_downloader *downloader) { CHECK_STATUS(sdd_downloader_destroy(downloader), SDD_OK); }

#define OWNED_DOWNLOADER OWNED(destroy_owned) sdd_downloader *

static inline void destroy_owned(sdd_downloader **downloader) { destroy(*downloader); }

/* ---------------------------------------------------------------------- checks of the result */

/* Whether the request that /echo returns has such a line; header names in any case. */
static inline int echoes(const record *r, const char *line)
{
    static char text[65536];
    size_t size = sdd_bytes_size(r->bytes);
    CHECK_ENDED(r, SDD_OK, 0);
    CHECK(size + 2 < sizeof text);
    text[0] = '\n';
    memcpy(text + 1, sdd_bytes_data(r->bytes), size);
    text[size + 1] = 0;
    for (char *found = text; (found = strcasestr(found, line)); found++)
        if (found[-1] == '\n') return 1;
    return 0;
}

/* ------------------------------------------------------------------------- between threads */

static inline void take(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) CHECK(errno == EINTR);
}

static inline int64_t milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Processor time of the process, for limits on work: on a busy machine the other clock says nothing of it. */
static inline int64_t processor_milliseconds(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return spent.tv_sec * 1000 + spent.tv_nsec / 1000000;
}

#endif

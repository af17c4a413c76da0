/* Fetches URLs with libcurl's multi interface, on one thread, with reused handles and connections. */
#define _GNU_SOURCE
#include "baseline.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, HUGE_BODY = 8 << 20 };

/* One of --inflight transfers, which takes one URL after another. */
struct transfer {
    CURL *curl;
    struct body body;
    size_t capacity;
    struct preview_decoder *previews;
    int is_running;
};

static struct {
    CURLM *multi;
    char **urls;
    size_t next, count;
    struct transfer *transfers;
    int running;
} network;

/* Makes room for `size` bytes; for the whole body if the server has told its length. */
static int reserve(struct transfer *transfer, size_t size)
{
    curl_off_t length = -1;
    if (size <= transfer->capacity) return 0;
    if (!transfer->body.bytes) curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    size_t capacity = length > 0 && (size_t)length >= size ? (size_t)length : size * 2;
    uint8_t *bytes;
    if (!transfer->body.bytes && capacity >= HUGE_BODY) {
        capacity = (capacity + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        bytes = aligned_alloc(HUGE_PAGE, capacity);
        if (bytes) madvise(bytes, capacity, MADV_HUGEPAGE);
    } else {
        bytes = realloc(transfer->body.bytes, capacity);
    }
    if (!bytes) return -1;
    transfer->body.bytes = bytes;
    transfer->capacity = capacity;
    return 0;
}

static size_t receive(char *bytes, size_t one, size_t count, void *user_data)
{
    (void)one; /* always 1 */
    struct transfer *transfer = user_data;
    struct body *body = &transfer->body;
    if (!arguments.sink) {
        if (reserve(transfer, body->size + count)) return 0;
        memcpy(body->bytes + body->size, bytes, count);
    }
    body->size += count;
    if (transfer->previews) feed_preview_decoder(transfer->previews, body->bytes, body->size);
    return count;
}

static CURL *make_handle(struct transfer *transfer)
{
    CURL *curl = curl_easy_init();
    if (!curl) give_up("libcurl has no memory");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L * 1024);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (arguments.ca_file) curl_easy_setopt(curl, CURLOPT_CAINFO, arguments.ca_file);
    if (!strcmp(arguments.workload, "W8")) {
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
        curl_easy_setopt(curl, CURLOPT_PIPEWAIT, 1L);
    } else {
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    }
    return curl;
}

static void start(struct transfer *transfer)
{
    transfer->body = (struct body){ .index = network.next };
    transfer->capacity = 0;
    transfer->previews = arguments.makes_previews ? make_preview_decoder() : NULL;
    curl_easy_setopt(transfer->curl, CURLOPT_URL, network.urls[network.next++]);
    if (curl_multi_add_handle(network.multi, transfer->curl) != CURLM_OK) give_up("libcurl refuses a transfer");
    transfer->is_running = 1;
    network.running++;
}

/* Starts transfers on all free handles, as long as the decode threads keep up. */
static void start_some(void)
{
    for (int i = 0; i < arguments.inflight && network.next < network.count && !has_enough_to_decode(); i++) {
        if (!network.transfers[i].is_running) start(&network.transfers[i]);
    }
}

/* Takes a whole body over. */
static void finish_body(struct transfer *transfer, const char *url)
{
    struct body body = transfer->body;
    if (arguments.prefill) store_in_cache(url, &body);
    if (arguments.decodes) {
        decode_later(body, url);
        return;
    }
    if (transfer->previews) {
        struct picture picture = { 0 };
        if (finish_preview_decoder(transfer->previews, &picture))
            count_failed(url, "the JPEG is damaged");
        else
            count_ok(&body, &picture);
        free(picture.pixels);
    } else {
        count_ok(&body, NULL);
    }
    free(body.bytes);
}

static void finish_some(void)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(network.multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *curl = message->easy_handle;
        const CURLcode result = message->data.result;
        struct transfer *transfer = NULL;
        long status = 0;
        curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&transfer);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(network.multi, curl);
        transfer->is_running = 0;
        network.running--;
        const char *url = network.urls[transfer->body.index];
        if (result == CURLE_OK && status == 200) {
            finish_body(transfer, url);
        } else {
            count_failed(url, result == CURLE_OK ? "the status is not 200" : curl_easy_strerror(result));
            free(transfer->body.bytes);
        }
        if (network.next < network.count && !has_enough_to_decode()) start(transfer);
    }
}

void wake_network(void) { curl_multi_wakeup(network.multi); }

void fetch_all(char **urls, size_t count)
{
    network.urls = urls;
    network.count = count;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    network.multi = curl_multi_init();
    network.transfers = calloc((size_t)arguments.inflight, sizeof *network.transfers);
    if (!network.multi || !network.transfers) give_up("no memory");
    curl_multi_setopt(network.multi, CURLMOPT_MAXCONNECTS, (long)arguments.inflight);
    if (!strcmp(arguments.workload, "W8")) curl_multi_setopt(network.multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    for (int i = 0; i < arguments.inflight; i++) network.transfers[i].curl = make_handle(&network.transfers[i]);
    start_some();
    while (network.running > 0 || network.next < network.count) {
        int running;
        curl_multi_perform(network.multi, &running);
        finish_some();
        if (network.running < arguments.inflight) start_some();
        if (network.running > 0 || network.next < network.count) curl_multi_poll(network.multi, NULL, 0, 1000, NULL);
    }
    for (int i = 0; i < arguments.inflight; i++) curl_easy_cleanup(network.transfers[i].curl);
    finish_decoding(); /* its threads call wake_network() */
    curl_multi_cleanup(network.multi);
    free(network.transfers);
}

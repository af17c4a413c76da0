/* fake_curl.c - see fake_curl.h. An easy handle is libcurl's own all the same, for its other functions. */
#define _GNU_SOURCE
#include "fake_curl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "real.h"
#include "report.h"

enum { MOST_EASY = 256, MOST_MULTI = 64 };

static struct easy {
    CURL *handle;
    CURLM *multi; /* NULL: it is in none */
    curl_write_callback take_body, take_header;
    curl_prereq_callback is_connected;
    void *body_to, *header_to, *connected_to;
    const struct curl_slist *fields;
    char url[120];
    long status;
    size_t header_size;
    int is_paused, is_done;
    CURLcode result;
} easies[MOST_EASY];
static struct { CURLM *multi; int downloader; } multis[MOST_MULTI];
static int multi_count, next_downloader;

void number_next_downloader(int number) { next_downloader = number; }

static struct easy *easy_of(CURL *handle)
{
    struct easy *free = NULL;
    for (int i = 0; i < MOST_EASY; i++) {
        if (easies[i].handle == handle) return &easies[i];
        if (easies[i].handle == NULL && free == NULL) free = &easies[i];
    }
    if (free == NULL) found(FOUND_HARNESS, "more than %d handles of libcurl", MOST_EASY);
    memset(free, 0, sizeof *free);
    free->handle = handle;
    return free;
}

const void *multi_of(const struct easy *easy) { return easy->multi; }
int is_paused(const struct easy *easy) { return easy->is_paused; }

/* ---- the answers */

static int take_line(struct easy *easy, const char *line)
{
    size_t size = strlen(line);
    easy->header_size += size;
    return easy->take_header((char *)line, 1, size, easy->header_to) == size;
}

static int end_with(struct easy *easy, CURLcode result)
{
    easy->is_done = 1;
    easy->result = result;
    return 0;
}

int easy_respond(struct easy *easy, int status, const sdd_header *fields, size_t count, int64_t size)
{
    char line[200];
    if (easy->is_connected(easy->connected_to, "127.0.0.1", "127.0.0.1", 80, 1) != CURL_PREREQFUNC_OK)
        return end_with(easy, CURLE_ABORTED_BY_CALLBACK);
    easy->status = status;
    snprintf(line, sizeof line, "HTTP/1.1 %d Well\r\n", status);
    int is_taken = take_line(easy, line);
    for (size_t i = 0; i < count && is_taken; i++) {
        snprintf(line, sizeof line, "%s: %s\r\n", fields[i].name, fields[i].value);
        is_taken = take_line(easy, line);
    }
    if (size >= 0) snprintf(line, sizeof line, "Content-Length: %d\r\n", (int)size);
    else snprintf(line, sizeof line, "Transfer-Encoding: chunked\r\n");
    if (is_taken && status != 304) is_taken = take_line(easy, line);
    if (is_taken) is_taken = take_line(easy, "\r\n");
    return is_taken ? 1 : end_with(easy, CURLE_WRITE_ERROR);
}

int easy_write(struct easy *easy, const void *bytes, size_t size)
{
    size_t taken = easy->take_body((char *)bytes, 1, size, easy->body_to);
    if (taken == size) return 1;
    if (taken != CURL_WRITEFUNC_PAUSE) return end_with(easy, CURLE_WRITE_ERROR);
    easy->is_paused = 1;
    return -1;
}

void easy_finish(struct easy *easy, sdd_status status)
{
    end_with(easy, status == SDD_OK ? CURLE_OK : status == SDD_ERROR_CONNECT ? CURLE_COULDNT_CONNECT
                   : status == SDD_ERROR_TRUNCATED_BODY ? CURLE_PARTIAL_FILE : CURLE_RECV_ERROR);
}

/* ---- easy handles */

CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...)
{
    va_list values;
    va_start(values, option);
    void *value = va_arg(values, void *); /* a number has the same place and size */
    va_end(values);
    if (is_simulated()) {
        struct easy *easy = easy_of(handle);
        switch (option) {
        case CURLOPT_WRITEFUNCTION: easy->take_body = (curl_write_callback)value; break;
        case CURLOPT_WRITEDATA: easy->body_to = value; break;
        case CURLOPT_HEADERFUNCTION: easy->take_header = (curl_write_callback)value; break;
        case CURLOPT_HEADERDATA: easy->header_to = value; break;
        case CURLOPT_PREREQFUNCTION: easy->is_connected = (curl_prereq_callback)value; break;
        case CURLOPT_PREREQDATA: easy->connected_to = value; break;
        case CURLOPT_HTTPHEADER: easy->fields = value; break;
        case CURLOPT_URL: snprintf(easy->url, sizeof easy->url, "%s", (char *)value); break;
        default: break;
        }
    }
    return real.curl_easy_setopt(handle, option, value);
}

CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...)
{
    va_list values;
    va_start(values, info);
    void *out = va_arg(values, void *);
    va_end(values);
    const struct easy *easy = is_simulated() ? easy_of(handle) : NULL;
    if (easy && info == CURLINFO_RESPONSE_CODE) return *(long *)out = easy->status, CURLE_OK;
    if (easy && info == CURLINFO_HEADER_SIZE) return *(long *)out = (long)easy->header_size, CURLE_OK;
    if (easy && info == CURLINFO_HTTP_VERSION) return *(long *)out = easy->status ? CURL_HTTP_VERSION_1_1 : 0, CURLE_OK;
    if (easy && info == CURLINFO_NUM_CONNECTS) return *(long *)out = 1, CURLE_OK;
    return real.curl_easy_getinfo(handle, info, out);
}

CURLcode curl_easy_pause(CURL *handle, int directions)
{
    if (!is_simulated()) return real.curl_easy_pause(handle, directions);
    easy_of(handle)->is_paused = directions != CURLPAUSE_CONT;
    return CURLE_OK;
}

void curl_easy_cleanup(CURL *handle)
{
    if (is_simulated()) easy_of(handle)->handle = NULL;
    real.curl_easy_cleanup(handle);
}

/* ---- multi handles */

CURLM *curl_multi_init(void)
{
    CURLM *multi = real.curl_multi_init();
    if (!is_simulated()) return multi;
    if (multi_count == MOST_MULTI) found(FOUND_HARNESS, "more than %d downloaders", MOST_MULTI);
    multis[multi_count].multi = multi;
    multis[multi_count++].downloader = next_downloader;
    return multi;
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *handle)
{
    if (!is_simulated()) return real.curl_multi_add_handle(multi, handle);
    struct easy *easy = easy_of(handle);
    int number = 0;
    for (int i = 0; i < multi_count; i++) /* the last one that had this address */
        if (multis[i].multi == multi) number = multis[i].downloader;
    easy->multi = multi;
    easy->status = easy->is_paused = easy->is_done = 0;
    easy->header_size = 0;
    begin_by_curl(easy, number, easy->url, easy->fields);
    return CURLM_OK;
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *handle)
{
    if (!is_simulated()) return real.curl_multi_remove_handle(multi, handle);
    struct easy *easy = easy_of(handle);
    if (easy->multi) end_by_curl(easy);
    easy->multi = NULL;
    easy->is_done = 0;
    return CURLM_OK;
}

CURLMcode curl_multi_perform(CURLM *multi, int *running)
{
    if (!is_simulated()) return real.curl_multi_perform(multi, running);
    answer_by_curl(multi);
    *running = 1; /* the library counts them itself */
    return CURLM_OK;
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *left)
{
    static CURLMsg message;
    if (!is_simulated()) return real.curl_multi_info_read(multi, left);
    *left = 0;
    for (int i = 0; i < MOST_EASY; i++) {
        if (easies[i].handle == NULL || easies[i].multi != multi || !easies[i].is_done) continue;
        easies[i].is_done = 0;
        message.msg = CURLMSG_DONE;
        message.easy_handle = easies[i].handle;
        message.data.result = easies[i].result;
        return &message;
    }
    return NULL;
}

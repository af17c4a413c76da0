#include "peek.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The library tells what a body is to a request that wants facts; but a request that has been told is not tried again
   if its body breaks off. So the look is a request of its own, which joins the transfer of the load, and ends as soon as
   it has been told. A coder tells of bodies that are no pictures: it takes all that begin like none. */

enum { ENOUGH = 4096, ENOUGH_OF_MARKUP = 65536 };

struct peek {
    sdd_token token;
    void (*no_picture)(void *user_data); /* NULL: nobody waits any more */
    void *user_data;
    int owners; /* the one who began it, and the request */
};

/* --------------------------------------------------------------------- the coder, which runs on threads of the library */

/* Tells whether a body may still be an SVG, which sdd_image_sniff() knows by its first element only. */
static bool may_be_svg(const char *bytes, size_t size)
{
    size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && strchr(" \t\r\n", bytes[at]) != NULL && bytes[at] != 0) at++;
    if (at == size) return true;
    if (bytes[at] != '<') return false;
    return size - at < 14 ||
           (strncasecmp(bytes + at, "<!doctype html", 14) != 0 && strncasecmp(bytes + at, "<html", 5) != 0);
}

static int32_t takes(const void *bytes, size_t size, void *user_data)
{
    (void)user_data;
    if (sdd_image_sniff(bytes, size) != 0) return 0;
    return size < (may_be_svg(bytes, size) ? ENOUGH_OF_MARKUP : ENOUGH) ? -1 : 1;
}

static sdd_status open_body(const sdd_coder_task *task, void **decoder, void *user_data)
{
    static char none;
    (void)task, (void)user_data;
    *decoder = &none;
    return SDD_OK;
}

static sdd_status feed(void *decoder, const void *bytes, size_t size, int32_t is_last, void *user_data)
{
    (void)decoder, (void)bytes, (void)size, (void)is_last, (void)user_data;
    return SDD_OK;
}

static sdd_status next(void *decoder, sdd_coder_frame *frame, void *user_data)
{
    (void)decoder, (void)frame, (void)user_data;
    return SDD_DETAIL_IMAGE_UNKNOWN_FORMAT;
}

/* States a size, because that makes facts, whose format says that this coder took the body. */
static sdd_status preview(void *decoder, sdd_coder_preview *preview, void *user_data)
{
    (void)decoder, (void)user_data;
    preview->frame.picture_width = preview->frame.picture_height = 1;
    return SDD_OK;
}

static void close_body(void *decoder, void *user_data) { (void)decoder, (void)user_data; }

void peek_prepare(const struct session *session)
{
    sdd_coder coder = SDD_CODER_INIT;
    coder.name = PEEK_CODER;
    coder.format = SDD_IMAGE_FORMAT_APPLICATION;
    coder.can_decode = takes, coder.open = open_body, coder.feed = feed, coder.next = next, coder.close = close_body;
    coder.preview = preview;
    sdd_downloader_add_coder(session->downloader, &coder);
}

/* -------------------------------------------------------------------------------------------------------- requests */

static void leave(void *user_data)
{
    struct peek *peek = user_data;
    if (__atomic_sub_fetch(&peek->owners, 1, __ATOMIC_ACQ_REL) == 0) free(peek);
}

static void on_facts(sdd_token token, const sdd_image_info *info, void *user_data)
{
    struct peek *peek = user_data;
    void (*no_picture)(void *user_data) = peek->no_picture;
    peek->no_picture = NULL;
    sdd_cancel(token);
    if (info->format == SDD_IMAGE_FORMAT_APPLICATION && no_picture != NULL) no_picture(peek->user_data);
}

static void on_end(const sdd_result *result, void *user_data) { (void)result, (void)user_data; }

struct peek *peek_begin(const struct session *session, const char *url, void (*no_picture)(void *user_data),
                        void *user_data)
{
    struct peek *peek = need(calloc(1, sizeof *peek));
    sdd_download_request request = SDD_DOWNLOAD_REQUEST_INIT;
    sdd_transfer_options transfer = SDD_TRANSFER_OPTIONS_INIT;
    peek->no_picture = no_picture, peek->user_data = user_data;
    peek->owners = 2;
    session_fill(session, &transfer);
    transfer.max_attempts = 1;
    request.transfer = &transfer;
    request.url = url;
    request.options = session->options | SDD_OPTION_BYTES_ONLY; /* as the load's, to join its transfer */
    if (session->settings->cache == CACHE_USE_HTTP) request.options |= SDD_OPTION_USE_HTTP_CACHE;
    request.facts = on_facts, request.completed = on_end, request.user_data = peek, request.user_data_free = leave;
    peek->token = sdd_downloader_submit(session->downloader, &request);
    if (peek->token != 0) return peek;
    free(peek);
    return NULL;
}

void peek_end(struct peek *peek)
{
    if (peek == NULL) return;
    peek->no_picture = NULL;
    sdd_cancel(peek->token);
    leave(peek);
}

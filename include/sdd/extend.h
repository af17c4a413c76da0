/*
 * sdd/extend.h - Transports and coders of the application: other ways to fetch, other formats.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     static void start(sdd_transfer transfer, const sdd_transfer_request *request, void *data)
 *     {
 *         sdd_transfer_write(transfer, request->url, 7);
 *         sdd_transfer_finish(transfer, SDD_OK, NULL);
 *         (void)data;
 *     }
 *
 *     static void cancel(sdd_transfer transfer, void *data) { (void)transfer, (void)data; }
 *
 *     int main(void)
 *     {
 *         sdd_transport transport = SDD_TRANSPORT_INIT;
 *         sdd_bytes *bytes = NULL;
 *         transport.scheme = "memo", transport.start = start, transport.cancel = cancel;
 *         if (sdd_downloader_add_transport(NULL, &transport, NULL) != SDD_OK) return 1;
 *         sdd_get(NULL, "memo:it", SDD_OPTION_BYTES_ONLY, 30000, NULL, &bytes, NULL);
 *         printf("%.*s\n", (int)sdd_bytes_size(bytes), (const char *)sdd_bytes_data(bytes));
 *         sdd_bytes_release(bytes);
 *         return 0;
 *     }
 *
 * It prints: memo:it
 */
#ifndef SDD_EXTEND_H
#define SDD_EXTEND_H

#include "result.h"

SDD_BEGIN_DECLS

/* ----------------------------------------------------------------------------------- transports */

/** What a transport of the host's is asked for. Borrowed until `start` returns. Since: 0.2.0. */
typedef struct sdd_transfer_request {
    size_t struct_size;
    const char *SDD_NONNULL url;
    const char *SDD_NONNULL method;
    const sdd_header *SDD_NULLABLE headers; /* header_count of them */
    size_t header_count;
    const void *SDD_NULLABLE body; /* body_size bytes; good until the transfer has ended */
    size_t body_size;
    int32_t priority; /* one of SDD_PRIORITY_ */
    int32_t reserved;
} sdd_transfer_request;

/**
 * How URLs are fetched by the host: those of its own archive, a test's. Since: 0.2.0.
 *
 * The functions are called on sdd-net, one at a time, and must not block; `can_load` on the thread
 * that submits, also on several at once; `cancel` for what is left when the downloader ends, on the
 * thread that ends it. Neither is called for a request that is cancelled before sdd-net has come to
 * it. The answer is given with sdd_transfer_respond(), sdd_transfer_write() and
 * sdd_transfer_finish(), from any thread, also from inside `start`. Queue, limits, priorities, time
 * limits, sharing, modifiers and decoding are as for HTTP.
 */
typedef struct sdd_transport {
    size_t struct_size;
    /* "archive"; also "http", "https" or "data", in place of the library's own; "*": any, and
       can_load is needed. Needed */
    const char *SDD_NULLABLE scheme;
    /* Needed */
    void (*SDD_NULLABLE start)(sdd_transfer transfer,
                               const sdd_transfer_request *SDD_NONNULL request,
                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Nothing more is wanted. Needed */
    void (*SDD_NULLABLE cancel)(sdd_transfer transfer, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* May be NULL */
    void (*SDD_NULLABLE set_priority)(sdd_transfer transfer, int32_t priority,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data;
    /* Called once, on any thread, when nothing uses the transport any more: the downloader has
       ended, or it was taken back and the requests that had it have ended */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* 1: this transport fetches it; 0: the next one is asked. Borrowed for the call; must not
       block. NULL: all URLs of the scheme */
    int32_t (*SDD_NULLABLE can_load)(const char *SDD_NONNULL url,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
} sdd_transport;

#define SDD_TRANSPORT_INIT \
    { sizeof(sdd_transport), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Gives a downloader another transport. Of those that are for a URL's scheme, or for "*", the last
 * one added is asked first. Where none takes the URL, the library fetches it; a scheme that it does
 * not know ends the request with SDD_ERROR_INVALID_URL and SDD_DETAIL_URL_SCHEME. Redirects of the
 * library's own transport lead to none of these.
 *
 * @param downloader NULL: the shared one.
 * @param transport Copied.
 * @param missing Receives the name of the member that is missing or wrong ("start"), a static
 *     string; NULL if none is. May be NULL.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT, and then user_data_free is not called;
 *     SDD_ERROR_UNSUPPORTED; and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_add_transport(sdd_downloader *SDD_NULLABLE downloader,
                                     const sdd_transport *SDD_NONNULL transport,
                                     const char *SDD_NULLABLE *SDD_NULLABLE missing);

/**
 * Takes a transport of a downloader back. Requests that were submitted before have it, and go on
 * with it to their ends: those that wait for their turn or are tried again, too. Later ones are
 * fetched as if it had never been there. Its user_data_free is called once, on any thread, when the
 * last of these requests has ended: perhaps before this call has returned.
 *
 * @param downloader NULL: the shared one.
 * @param scheme That with which it was added, "*" too. Of several the last one is taken back.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is none of that scheme; SDD_ERROR_INVALID_ARGUMENT for
 *     NULL; and as sdd_set_header().
 * Thread: any. Since: 0.3.0.
 */
SDD_API sdd_status sdd_downloader_remove_transport(sdd_downloader *SDD_NULLABLE downloader,
                                                   const char *SDD_NONNULL scheme);

/**
 * The header of a transfer's answer is there. Once, before data; may be left out: then 200, no
 * fields.
 *
 * @param transfer What `start` was given.
 * @param http_status 0 if the scheme has none: then no status is judged.
 * @param headers header_count of them. Copied.
 * @param expected_bytes Size of the body; -1: unknown. With more or fewer bytes than that the
 *     request fails, with SDD_ERROR_PROTOCOL or SDD_ERROR_TRUNCATED_BODY; but for HEAD and status
 *     304, which have none.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the transfer has ended, its downloader was destroyed, or a
 *     parent process has it; SDD_ERROR_INVALID_ARGUMENT for a field that HTTP does not allow, and
 *     after data.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transfer_respond(sdd_transfer transfer, int32_t http_status,
                                        const sdd_header *SDD_NULLABLE headers, size_t header_count,
                                        int64_t expected_bytes);

/**
 * More of a transfer's body.
 *
 * @param data Copied.
 * @return As sdd_transfer_respond(); SDD_ERROR_BODY_TOO_LARGE over max_body_bytes or
 *     expected_bytes, and the transfer has ended.
 * Thread: any, one at a time for one transfer. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transfer_write(sdd_transfer transfer, const void *SDD_NULLABLE data,
                                      size_t size);

/**
 * A transfer is over.
 *
 * @param error SDD_OK, or one of the 3000s: anything else counts as SDD_ERROR_TRANSPORT.
 * @param message One sentence on the error. Copied. NULL: the status's own.
 * @return As sdd_transfer_respond().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transfer_finish(sdd_transfer transfer, sdd_status error,
                                       const char *SDD_NULLABLE message);

/* --------------------------------------------------------------------------------------- coders */

/** What a coder is to decode. Borrowed until `open` returns. Since: 0.2.0. */
typedef struct sdd_coder_task {
    size_t struct_size;
    /* a picture of more is refused anyway: a coder that checks first saves the memory */
    int64_t max_pixels;
    /* 0: frames as large as the picture. Else a coder that can do so cheaply may make them smaller,
       both sides still at least so long: the library does the rest */
    int32_t wanted_side;
    int32_t reserved;
} sdd_coder_task;

/**
 * One picture, or one frame of an animated one, as it is to be shown: composed, where a format
 * keeps differences. All 0 when the library hands it to `next`, but for struct_size. Since: 0.2.0.
 */
typedef struct sdd_coder_frame {
    size_t struct_size;
    const void *SDD_NULLABLE pixels; /* height rows, the top one first */
    size_t stride; /* bytes from one row to the next, at least width times the bytes of a pixel */
    int32_t width;
    int32_t height;
    int32_t pixel_format; /* one of SDD_PIXEL_FORMAT_ with 8 bits a channel, not planar */
    int32_t orientation;  /* Exif's, 1 to 8: what the library is to do to the pixels; 0: nothing */
    /* Of a frame that was made smaller: how large the whole is. Both 0: as the frame */
    int32_t picture_width;
    int32_t picture_height;
    int32_t frame_count; /* of the picture, the same in each frame; 0 or 1: it is a still one */
    int32_t loop_count;  /* how often the frames are to be shown; 0: for ever */
    int64_t duration_us; /* how long this one is shown */
} sdd_coder_frame;

/**
 * Takes what `encode` makes, piece by piece.
 *
 * @param context That of the call of `encode`.
 * @param bytes Copied.
 * @return SDD_OK; SDD_ERROR_NO_RESOURCES: there is no memory; SDD_ERROR_INVALID_ARGUMENT.
 */
typedef sdd_status (*sdd_coder_write_fn)(void *SDD_NULLABLE context, const void *SDD_NULLABLE bytes,
                                         size_t size) SDD_NOEXCEPT;

/**
 * A format that the host decodes, and perhaps encodes: what the library does not know, or knows
 * less well.
 *
 * For each body the coders are asked, those of the downloader before those of the process, of each
 * the newest first, and the library's own JPEG and PNG last: the first that takes it decodes it; if
 * nobody does, the first of the format that sdd_decode_options.format_hint names. What it gives is
 * then turned, made smaller and put into the pixel format of each request as any picture.
 *
 * A body goes through `open`, then `feed` until is_last, `next` for the first frame, and `close`. A
 * further frame is read by `next` until it comes, or by all of that once more. After a failure only
 * `close` follows.
 *
 * What `open`, `feed`, `next` and `encode` return is SDD_OK, or what is wrong:
 * SDD_ERROR_BAD_IMAGE_DATA for damage, or one of SDD_DETAIL_IMAGE_ to say it more exactly
 * (SDD_DETAIL_IMAGE_TOO_MANY_PIXELS, _UNSUPPORTED, ...), SDD_ERROR_INCOMPLETE: the body ends too
 * early, SDD_ERROR_UNSUPPORTED, SDD_ERROR_NO_RESOURCES: no memory. Any other number, and a frame
 * that cannot be, ends the request with SDD_ERROR_BAD_IMAGE_DATA and SDD_DETAIL_IMAGE_CODER: every
 * number of a frame is checked before it is used. That its pixels are as many as it says cannot be
 * checked.
 *
 * Thread: decode threads (and who asks for a frame), several at a time; one at a time for one
 *     decoder. The functions may take their time, and may add and take back coders. docs/coders.md
 *     says how to write one. Since: 0.2.0.
 */
typedef struct sdd_coder {
    size_t struct_size;
    /* "webp": letters, digits and the like (RFC 9110 section 5.6.2), for messages and
       sdd_coder_unregister(). Needed */
    const char *SDD_NULLABLE name;
    const char *SDD_NULLABLE mime_type; /* "image/webp", for "Accept"; may be NULL */
    /* One of SDD_IMAGE_FORMAT_, also _JPEG and _PNG, in place of the library's own; or any number
       from SDD_IMAGE_FORMAT_HOST on. Needed */
    int32_t format;
    int32_t reserved;
    /* Whether it takes a body with these first bytes: 1 yes, 0 no, -1 too few to tell;
       sdd_image_sniff() may be all that is to be asked. Cheap, since it is asked about every body.
       Needed */
    int32_t (*SDD_NULLABLE can_decode)(const void *SDD_NULLABLE bytes, size_t size,
                                       void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Begins a picture: *decoder receives what the coder keeps of it, anything but NULL. Needed */
    sdd_status (*SDD_NULLABLE open)(const sdd_coder_task *SDD_NONNULL task,
                                    void *SDD_NULLABLE *SDD_NONNULL decoder,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* The body, piece after piece. Borrowed for the call; but if the first piece is the last one,
       it is the whole body, and stays until `close`: so it is always in this version. Needed */
    sdd_status (*SDD_NULLABLE feed)(void *SDD_NONNULL decoder, const void *SDD_NULLABLE bytes,
                                    size_t size, int32_t is_last,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* The next frame. Its pixels are the coder's, and stay until the next call for this decoder.
       Also returns SDD_ERROR_INCOMPLETE: not before there are more bytes, and SDD_ERROR_NOT_FOUND:
       there are no more frames. Needed */
    sdd_status (*SDD_NULLABLE next)(void *SDD_NONNULL decoder, sdd_coder_frame *SDD_NONNULL frame,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Once for each decoder that `open` has made. Needed */
    void (*SDD_NULLABLE close)(void *SDD_NONNULL decoder,
                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* `picture`, SDD_PIXEL_FORMAT_RGBA8 and borrowed for the call, as bytes for `write`; quality 1
       to 100. May be NULL */
    sdd_status (*SDD_NULLABLE encode)(const sdd_coder_frame *SDD_NONNULL picture, int32_t quality,
                                      sdd_coder_write_fn SDD_NONNULL write,
                                      void *SDD_NULLABLE context,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data;
    /* Called once, on any thread, when the coder has been taken back, or its downloader has ended,
       and no decoder and no animated picture of it is left */
    void (*SDD_NULLABLE user_data_free)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
} sdd_coder;

#define SDD_CODER_INIT \
    { sizeof(sdd_coder), NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Gives every downloader of the process a coder, those there are and those to come, and the
 * children of a fork.
 *
 * @param coder Copied.
 * @param missing Receives the name of the member that is missing or wrong ("open"), a static
 *     string; NULL if none is. May be NULL.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT, and then user_data_free is not called;
 *     SDD_ERROR_UNSUPPORTED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_coder_register(const sdd_coder *SDD_NONNULL coder,
                                      const char *SDD_NULLABLE *SDD_NULLABLE missing);

/**
 * Takes back what sdd_coder_register() or sdd_coder_load() has given. Pictures that are being
 * decoded by it go on.
 *
 * @param name Of several coders with this name the newest is taken back.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_coder_unregister(const char *SDD_NONNULL name);

/**
 * Gives a downloader a coder, until its end, or until sdd_downloader_remove_coder().
 *
 * @param downloader NULL: the shared one.
 * @param coder, missing As for sdd_coder_register().
 * @return As sdd_coder_register(); and as sdd_set_header().
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_downloader_add_coder(sdd_downloader *SDD_NULLABLE downloader,
                                            const sdd_coder *SDD_NONNULL coder,
                                            const char *SDD_NULLABLE *SDD_NULLABLE missing);

/**
 * Takes a coder of a downloader back. Bodies that are being decoded by it go on, and what it has
 * made stays; later ones are no more offered to it. Its user_data_free is called once, on any
 * thread, when the last of these pictures has been made and the last image that asks it for further
 * frames is gone: perhaps before this call has returned.
 *
 * @param downloader NULL: the shared one.
 * @param name Of several coders of the downloader with this name the newest is taken back. Those of
 *     the process are taken back by sdd_coder_unregister().
 * @return SDD_OK; SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT for NULL; and as
 *     sdd_set_header().
 * Thread: any. Since: 0.3.0.
 */
SDD_API sdd_status sdd_downloader_remove_coder(sdd_downloader *SDD_NULLABLE downloader,
                                               const char *SDD_NONNULL name);

/**
 * What the symbol "sdd_coder_main" of a shared object with a coder is.
 *
 * @return A coder that is valid for ever; NULL: there is none, the version of the library or the
 *     machine will not do.
 * Thread: the one that calls sdd_coder_load().
 */
typedef const sdd_coder *SDD_NULLABLE (*sdd_coder_main_fn)(void) SDD_NOEXCEPT;

/**
 * Loads a shared object, and gives every downloader of the process the coder in it: dlopen(3) with
 * RTLD_NOW and RTLD_LOCAL, then its sdd_coder_main(). The object stays loaded for ever. WAITS for
 * the disk. Each call registers the coder anew; sdd_coder_unregister() takes it back.
 *
 * @param path As for dlopen(3): with a "/" in it, or it is looked for where libraries are. Whoever
 *     can write to that file runs code in this process.
 * @param message Receives one sentence on an error, cut to capacity, "" on success. May be NULL.
 * @param capacity Bytes there are for it, with its NUL.
 * @return SDD_OK; SDD_ERROR_FILE_NOT_READABLE: no such file, or the system cannot load it;
 *     SDD_ERROR_NOT_FOUND: it has no sdd_coder_main(), or that gave NULL;
 *     SDD_ERROR_INVALID_ARGUMENT: path NULL, or a coder with a member missing or wrong;
 *     SDD_ERROR_UNSUPPORTED: a coder of a newer version of this header.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_coder_load(const char *SDD_NONNULL path, char *SDD_NULLABLE message,
                                  size_t capacity);

SDD_END_DECLS

#endif /* SDD_EXTEND_H */

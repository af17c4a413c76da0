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
 *         if (sdd_downloader_add_transport(NULL, &transport) != SDD_OK) return 1;
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

#include "codec.h"

SDD_BEGIN_DECLS

/* ----------------------------------------------------------------------------------- transports */

/**
 * The request that a transport of the application carries out. Borrowed until `start` returns.
 */
typedef struct sdd_transfer_request {
    size_t struct_size;
    const char *SDD_NONNULL url;
    const char *SDD_NONNULL method;
    const sdd_header *SDD_NULLABLE headers; /* the header_count header fields */
    size_t header_count;
    const void *SDD_NULLABLE body; /* body_size bytes; valid until the transfer has ended */
    size_t body_size;
    sdd_priority priority; /* one of SDD_PRIORITY_ */
} sdd_transfer_request;

/**
 * A transport of the application: it fetches URLs from an archive, for a test, and the like.
 *
 *
 * The functions are called on sdd-net, one at a time, and must not block. There are two exceptions:
 * `can_load` is called on the submitting thread, also on several at once, and `cancel`, when the
 * downloader ends, on the thread that ends it. Neither `start` nor `cancel` is called for a request
 * that is cancelled before sdd-net has reached it. The response is given with
 * sdd_transfer_respond(), sdd_transfer_write() and sdd_transfer_finish(), from any thread, also
 * inside `start`. Queue, limits, priorities, time limits, sharing, modifiers and decoding work as
 * for HTTP.
 */
typedef struct sdd_transport {
    size_t struct_size;
    /* Required. "archive"; "http", "https" or "data" replace the library's own; "*": any scheme,
       which requires can_load. */
    const char *SDD_NULLABLE scheme;
    /* Required. Starts a transfer. */
    void (*SDD_NULLABLE start)(sdd_transfer transfer,
                               const sdd_transfer_request *SDD_NONNULL request,
                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Required. Tells that the transfer is no longer wanted. */
    void (*SDD_NULLABLE cancel)(sdd_transfer transfer, void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* May be NULL. */
    void (*SDD_NULLABLE set_priority)(sdd_transfer transfer, sdd_priority priority,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data;
    /* Called once, on any thread, when the transport is no longer used: after the downloader has
       ended, or after the transport was removed and its requests have ended. */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    /* Returns 1 if this transport fetches the URL, 0 to ask the next one. The URL is borrowed for
       the call. Must not block. NULL: all URLs of the scheme. */
    int32_t (*SDD_NULLABLE can_load)(const char *SDD_NONNULL url,
                                     void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
} sdd_transport;

#define SDD_TRANSPORT_INIT \
    { sizeof(sdd_transport), NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Adds a transport to a downloader. Of the transports for a URL's scheme or for "*", the last one
 * added is asked first. If none takes the URL, the library fetches it; a scheme unknown to it ends
 * the request with SDD_ERROR_INVALID_URL and SDD_DETAIL_URL_SCHEME. Redirects of the library's own
 * transport never lead to these.
 *
 * @param downloader NULL: the shared one.
 * @param transport Copied.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: the message names the member that is missing or
 *     wrong; SDD_ERROR_UNSUPPORTED; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_add_transport(sdd_downloader *SDD_NULLABLE downloader,
                                                const sdd_transport *SDD_NONNULL transport);

/**
 * Removes a transport from a downloader. Requests submitted before keep it to their end, also those
 * that wait or are retried; later ones are fetched as if it had never been there. Its
 * user_data_free is called once, on any thread, when the last of these requests has ended, perhaps
 * before this call has returned.
 *
 * @param downloader NULL: the shared one.
 * @param scheme The scheme with which it was added, or "*". If there are several, the last one
 *     added is removed.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is none for that scheme; SDD_ERROR_INVALID_ARGUMENT
 *     for NULL; otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_remove_transport(sdd_downloader *SDD_NULLABLE downloader,
                                                   const char *SDD_NONNULL scheme);

/**
 * Gives the response header of a transfer, once, before any data. It may be left out: the response
 * is then 200 without fields.
 *
 * @param transfer The transfer that `start` received.
 * @param http_status 0 if the scheme has none: the status is then not checked.
 * @param headers The header_count fields, at most 1000. Copied.
 * @param expected_bytes Size of the body; -1: unknown. A body of another size fails with
 *     SDD_ERROR_PROTOCOL or SDD_ERROR_TRUNCATED_BODY, except for HEAD and status 304, which have no
 *     body.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND if the transfer has ended, its downloader was destroyed, or
 *     it belongs to a parent process; SDD_ERROR_INVALID_ARGUMENT for a field that HTTP does not
 *     allow, and after data; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_PROTOCOL: a 206, and no
 *     range was asked for; the transfer has ended, without a call of `cancel`.
 * Thread: any.
 */
SDD_API sdd_status sdd_transfer_respond(sdd_transfer transfer, int32_t http_status,
                                        const sdd_header *SDD_NULLABLE headers, size_t header_count,
                                        int64_t expected_bytes);

/**
 * Appends bytes to the body of a transfer.
 *
 * @param data Copied.
 * @return As sdd_transfer_respond(). The transfer has ended, without a call of `cancel`, with
 *     SDD_ERROR_BODY_TOO_LARGE: over max_body_bytes or expected_bytes; SDD_ERROR_SINK: the
 *     request's sink cannot be written; SDD_ERROR_NO_RESOURCES.
 * Thread: any, one at a time for one transfer.
 */
SDD_API sdd_status sdd_transfer_write(sdd_transfer transfer, const void *SDD_NULLABLE data,
                                      size_t size);

/**
 * Ends a transfer.
 *
 * @param error SDD_OK, or one of the 3000s: anything else counts as SDD_ERROR_TRANSPORT.
 * @param message One sentence on the error. Copied. NULL: the sentence of the status.
 * @return As sdd_transfer_respond().
 * Thread: any.
 */
SDD_API sdd_status sdd_transfer_finish(sdd_transfer transfer, sdd_status error,
                                       const char *SDD_NULLABLE message);

/* --------------------------------------------------------------------------------------- coders */

/*
 * CODERS
 *
 * Beside JPEG and PNG the library decodes what coders decode. There are two kinds. Coders of the
 * application are added by sdd_downloader_add_coder(), sdd_process_add_coder() and
 * sdd_process_load_coder_wait().
 * Installed coders are shared objects in a folder that the library knows: webp.so, avif.so, gif.so,
 * jxl.so, heif.so, bmp.so, ico.so and svg.so, each for the format of its name, and icc.so, which
 * converts colours by profiles with tables and of inks. They need no call:
 *
 * - The folder is "sdd/coders" in the directory from which libsdd.so.0 itself was loaded, or the
 *   first of those in the environment variable SDD_CODER_PATH (absolute, separated by colons) that
 *   has the object. SDD_CODER_PATH="" means none. It is read once, and ignored in a program that
 *   gains privileges (secure_getenv(3)).
 * - The library looks once which objects are there, and adds their media types to "Accept". It
 *   loads an object when the first body of its format is decoded, or when a picture is to be
 *   encoded in it, once in a process. What is wrong with an object that cannot be loaded is part of
 *   the request's error (SDD_DETAIL_IMAGE_UNKNOWN_FORMAT), and is logged once.
 * - An object is used only if no other user could have put it there: the file, its folder, and all
 *   directories above it must belong to root or to the process's effective user, and must not be
 *   writable by group or others. A directory above the folder may be writable if it has the sticky
 *   bit, like /tmp. The file itself must not be a symbolic link.
 * - sdd_downloader_config.no_installed_coders turns them off for a downloader. Calls without a
 *   downloader (sdd_image_decode(), sdd_image_encode(), queries of caches) always use them; in a
 *   process that must not, set SDD_CODER_PATH="" before the first call.
 * - SVG is decoded by the program sdd-decoder unless decode_mode is SDD_DECODE_ALL_IN_PROCESS (see
 *   `isolate` below), and not at all in a program that gains privileges.
 */

/**
 * The settings for one picture that a coder decodes. Borrowed until `open` returns.
 */
typedef struct sdd_coder_task {
    size_t struct_size;
    /* A picture with more pixels is refused anyway; a coder that checks first saves memory. */
    int64_t max_pixels;
    /* 0: frames at full size, as for SDD_SCALING_EXACT. Else a coder that can scale cheaply may
       make them smaller, as long as both sides are at least this many pixels; the library does the
       rest. A picture that is partly transparent should be scaled so only if the coder weights
       colours by alpha. */
    int32_t wanted_side;
    /* One of SDD_DAMAGE_. With SDD_DAMAGE_KEEP_REST a coder that can gives what there is of a body
       that is damaged or ends too early: the rows of its first frame that are there, and only as
       many frames as are whole. See sdd_coder_frame.good_rows. */
    sdd_damage_mode damage;
} sdd_coder_task;

/**
 * A picture, or one frame of an animation as it is shown: composed, if the format stores
 * differences. When the library passes it to `next`, all fields but struct_size are 0.
 */
typedef struct sdd_coder_frame {
    size_t struct_size;
    const void *SDD_NULLABLE pixels; /* height rows, the top one first */
    size_t stride; /* bytes from one row to the next, at least width times the bytes of a pixel */
    int32_t width;
    int32_t height;
    sdd_pixel_format pixel_format; /* one of SDD_PIXEL_FORMAT_ with 8 bits a channel, not planar */
    int32_t orientation;  /* Exif orientation, 1 to 8, for the library to apply; 0: none */
    /* Full size of the picture, if the frame was made smaller; 0: the frame's. */
    int32_t picture_width;
    int32_t picture_height;
    /* Frames of the picture, the same in each frame; 0 or 1: a still picture. */
    int32_t frame_count;
    int32_t loop_count;  /* how often the frames are shown; 0: for ever */
    int64_t duration_us; /* how long this frame is shown */
    /* What the picture says of the colours of its pixels, in the first frame and in previews; the
       library converts them if sdd_decode_options.colour asks for it. For `encode`: what is to be
       stored with the picture, whose pixels mean something else without it. */
    const void *SDD_NULLABLE icc_profile; /* a profile (ICC.1), valid as long as the pixels */
    size_t icc_profile_size;
    int32_t primaries; /* code points of ITU-T H.273, up to 255; 0: not stated */
    int32_t transfer;
    /* Of a damaged body with SDD_DAMAGE_KEEP_REST: the rows from the top that are valid, in the
       first frame; all of its rows if only later frames are damaged or missing. The rows below
       show what there is of them. 0: the body is whole. */
    int32_t good_rows;
} sdd_coder_frame;

/**
 * A preview that a coder makes of a body that is still arriving. When the library passes it to
 * `preview`, all fields but the two struct_size are 0.
 */
typedef struct sdd_coder_preview {
    size_t struct_size;
    /* Rows of the frame from the top that have pixels. The rows below are not read. */
    int32_t good_rows;
    /* 1: all rows have pixels, which later bytes improve, as in a progressive JPEG; good_rows is
       then ignored. 0: no later byte changes the good rows. */
    int32_t is_refined;
    /* The picture so far, as `next` would give it; its duration is ignored. If only its
       picture_width and picture_height are set (and perhaps orientation, frame_count and
       loop_count), the size is known, but there is nothing to show yet. */
    sdd_coder_frame frame;
} sdd_coder_preview;

/**
 * The memory that a picture takes while a coder decodes it. When the library passes it to
 * `estimate`, all fields but struct_size are 0.
 */
typedef struct sdd_coder_estimate {
    size_t struct_size;
    int32_t width; /* full size of the picture, as `next` will state it */
    int32_t height;
    /* The most memory that the decoder and the libraries below it have at a time until `close`, the
       pixels of its frames included, and the body excluded. Rather too much than too little. */
    int64_t decode_bytes;
} sdd_coder_estimate;

/**
 * Takes the encoded bytes that `encode` makes, piece by piece.
 *
 * @param context The context that `encode` received.
 * @param bytes Copied.
 * @return SDD_OK; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: that of `encode`.
 */
typedef sdd_status (*sdd_coder_write_fn)(void *SDD_NULLABLE context, const void *SDD_NULLABLE bytes,
                                         size_t size) SDD_NOEXCEPT;

/**
 * Gives the next frame of the animation that `encode_frames` encodes.
 *
 * @param source The source that `encode_frames` received.
 * @param frame Receives the frame, in SDD_PIXEL_FORMAT_RGBA8, with its duration_us, and the
 *     frame_count and loop_count of all; set struct_size before. Its pixels are borrowed until the
 *     next call.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND after the last frame; any other status: that of a frame which
 *     cannot be decoded, for `encode_frames` to return.
 * Thread: that of `encode_frames`.
 */
typedef sdd_status (*sdd_coder_next_fn)(void *SDD_NULLABLE source,
                                        sdd_coder_frame *SDD_NONNULL frame) SDD_NOEXCEPT;

/**
 * A coder of the application: it decodes, and perhaps encodes, a format that the library does not
 * know or knows less well. docs/coders.md explains how to write one.
 *
 * For each body the coders of the downloader are asked, then those of the process, each time the
 * newest first, then the library's own JPEG and PNG, and last the installed coder of the body's
 * format. The first that takes the body decodes it; if none does, the first coder of the format in
 * sdd_decode_options.format_hint. The result is turned, scaled and converted for each request like
 * any picture.
 *
 * A body goes through `open`, `feed` until is_last, `estimate`, `next` for the first frame, and
 * `close`. The library decodes no picture before there is room for it: see
 * sdd_process_set_decode_memory_limit(). A body that has to wait is closed before `next`.
 * Further frames are read by more calls of `next`, or by another decoder from the start, which is
 * not asked for its `estimate`. After a failure only `close` follows. A coder with `preview` may be
 * fed a body while it arrives, for a request that wants previews or facts: `preview` is then called
 * between the pieces. If such a decoder fails, or the body is damaged, the whole body is decoded
 * again from its start.
 *
 * `open`, `feed`, `next` and `encode` return SDD_OK or an error: SDD_ERROR_BAD_IMAGE_DATA for
 * damage, or one of SDD_DETAIL_IMAGE_ to be more exact (SDD_DETAIL_IMAGE_TOO_MANY_PIXELS,
 * _UNSUPPORTED, ...); SDD_ERROR_INCOMPLETE: the body ends too early; SDD_ERROR_UNSUPPORTED;
 * SDD_ERROR_NO_RESOURCES: no memory. Any other number, or an invalid frame, ends the request with
 * SDD_ERROR_BAD_IMAGE_DATA and SDD_DETAIL_IMAGE_CODER. Every number of a frame is checked before
 * use; whether its memory really holds that many pixels cannot be.
 *
 * Thread: decode threads, and threads that call sdd_image_frame(); several at a time, one at a time
 *     for one decoder; `close` on any thread. The functions may take their time, and may add and
 *     remove coders.
 */
typedef struct sdd_coder {
    size_t struct_size;
    /* Required. "webp": an HTTP token (RFC 9110 section 5.6.2), for messages and
       sdd_process_remove_coder(). */
    const char *SDD_NULLABLE name;
    const char *SDD_NULLABLE mime_type; /* "image/webp", for "Accept"; may be NULL */
    /* Required. One of SDD_IMAGE_FORMAT_ (_JPEG and _PNG replace the library's own), or any number
       from SDD_IMAGE_FORMAT_APPLICATION on. */
    sdd_image_format format;
    /* Required. Returns 1 if it takes a body with these first bytes, 0 if not, -1 if they are too
       few to tell; sdd_image_sniff() may be all it needs. It is called for every body and must be
       cheap. */
    int32_t (*SDD_NULLABLE can_decode)(const void *SDD_NULLABLE bytes, size_t size,
                                       void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Required. Begins a picture: *decoder receives the coder's own state, anything but NULL. */
    sdd_status (*SDD_NULLABLE open)(const sdd_coder_task *SDD_NONNULL task,
                                    void *SDD_NULLABLE *SDD_NONNULL decoder,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Required. Takes the body, piece after piece. Borrowed for the call; but if the first piece is
       also the last, it is the whole body and stays valid until `close`. That is always so for a
       coder without `preview`. The last piece may be empty. */
    sdd_status (*SDD_NULLABLE feed)(void *SDD_NONNULL decoder, const void *SDD_NULLABLE bytes,
                                    size_t size, int32_t is_last,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Required. Gives the next frame. Its pixels belong to the coder and stay valid until the next
       call for this decoder. Also returns SDD_ERROR_INCOMPLETE if more bytes are needed first, and
       SDD_ERROR_NOT_FOUND if there are no more frames. */
    sdd_status (*SDD_NULLABLE next)(void *SDD_NONNULL decoder, sdd_coder_frame *SDD_NONNULL frame,
                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Required. Called once for each decoder that `open` has made. */
    void (*SDD_NULLABLE close)(void *SDD_NONNULL decoder,
                               void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Encodes `picture`, in SDD_PIXEL_FORMAT_RGBA8 and borrowed for the call, with quality 1 to
       100, and passes the bytes to `write`. May be NULL. */
    sdd_status (*SDD_NULLABLE encode)(const sdd_coder_frame *SDD_NONNULL picture, int32_t quality,
                                      sdd_coder_write_fn SDD_NONNULL write,
                                      void *SDD_NULLABLE context,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    void *SDD_NULLABLE user_data;
    /* Called once, on any thread, when the coder was removed, or its downloader has ended, and no
       decoder or animated picture of it is left. */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
    /* Shows what the pieces so far give. The pixels stay valid until the next call for this
       decoder. Returns SDD_OK; SDD_ERROR_INCOMPLETE: nothing is known yet; SDD_ERROR_UNSUPPORTED:
       this body cannot be decoded before its end (the frame may state its size all the same). With
       that, and any other error, the decoder is closed, and the whole body is decoded once it is
       there. May be NULL. */
    sdd_status (*SDD_NULLABLE preview)(void *SDD_NONNULL decoder,
                                       sdd_coder_preview *SDD_NONNULL preview,
                                       void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Says what the picture will take, from what its header and the structure of the body state,
       before the first call of `next` or `preview`. Must itself take little memory. Returns SDD_OK;
       SDD_ERROR_INCOMPLETE: more bytes are needed first (it is then asked again after the next
       piece); any other error is the error of the picture. NULL: the library assumes 16 MiB, and
       what the picture really takes counts once `next` has given the first frame; if there is no
       room for that, the body waits, and is decoded again. */
    sdd_status (*SDD_NULLABLE estimate)(void *SDD_NONNULL decoder,
                                        sdd_coder_estimate *SDD_NONNULL estimate,
                                        void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* For a coder that draws its picture, and can do so at any size; it needs `estimate`. Sets the
       size in pixels of the frames to come: the one that is wanted, which may be larger than the
       picture. Called after the first `estimate`, which is then asked again, and states the same
       width and height. `next` gives a frame of this size, with the picture's own size in
       picture_width and picture_height. max_pixels holds for this size, not for the picture's own.
       The further frames of an animation are asked for at the picture's own size. NULL: the library
       scales. */
    sdd_status (*SDD_NULLABLE resize)(void *SDD_NONNULL decoder, int32_t width, int32_t height,
                                      void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Not NULL for a format whose pictures are programs, like SVG. If the coder comes from a shared
       object, they are decoded by the program sdd-decoder even where decode_mode is
       SDD_DECODE_IN_PROCESS, and for calls without a downloader. Called once in that process,
       before it gives up files, threads and more memory: here the coder opens what it needs of
       these. */
    void (*SDD_NULLABLE isolate)(void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Encodes an animation, for sdd_encode_options.animated: takes its frames from `next` until
       there are no more, all of one size, and passes the bytes to `write`. Without `encode` it also
       encodes a still picture whose format is asked for, as one frame. May be NULL. */
    sdd_status (*SDD_NULLABLE encode_frames)(sdd_coder_next_fn SDD_NONNULL next,
                                             void *SDD_NULLABLE source, int32_t quality,
                                             sdd_coder_write_fn SDD_NONNULL write,
                                             void *SDD_NULLABLE context,
                                             void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
} sdd_coder;

#define SDD_CODER_INIT \
    { sizeof(sdd_coder), NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
      NULL, NULL, NULL, NULL }

/**
 * Adds a coder to every downloader of the process, existing and future, and of children of a fork.
 *
 * @param coder Copied.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT: the message names the member that is missing or
 *     wrong; SDD_ERROR_UNSUPPORTED.
 * Thread: any.
 */
SDD_API sdd_status sdd_process_add_coder(const sdd_coder *SDD_NONNULL coder);

/**
 * Removes a coder that sdd_process_add_coder() or sdd_process_load_coder_wait() has added. Pictures
 * that it is decoding go on.
 *
 * @param name If several coders have this name, the newest is removed.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT for NULL.
 * Thread: any.
 */
SDD_API sdd_status sdd_process_remove_coder(const char *SDD_NONNULL name);

/**
 * Adds a coder to a downloader, until sdd_downloader_remove_coder() or the downloader's end.
 *
 * @param downloader NULL: the shared one.
 * @param coder As for sdd_process_add_coder().
 * @return As sdd_process_add_coder(); otherwise as sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_add_coder(sdd_downloader *SDD_NULLABLE downloader,
                                            const sdd_coder *SDD_NONNULL coder);

/**
 * Removes a coder from a downloader. It finishes the bodies that it is decoding, and its images
 * stay valid; it is not asked about later bodies. Its user_data_free is called once, on any thread,
 * when the last of these pictures is decoded and the last image that takes frames from it is
 * released, perhaps before this call has returned.
 *
 * @param downloader NULL: the shared one.
 * @param name If several coders of the downloader have this name, the newest is removed. Coders of
 *     the process are removed by sdd_process_remove_coder().
 * @return SDD_OK; SDD_ERROR_NOT_FOUND; SDD_ERROR_INVALID_ARGUMENT for NULL; otherwise as
 *     sdd_set_header().
 * Thread: any.
 */
SDD_API sdd_status sdd_downloader_remove_coder(sdd_downloader *SDD_NULLABLE downloader,
                                               const char *SDD_NONNULL name);

/**
 * Returns the coder of a shared object; the type of its symbol "sdd_coder_main".
 *
 * @return A coder that stays valid for ever; NULL if it cannot work with this version of the
 *     library or on this machine.
 * Thread: the one that calls sdd_process_load_coder_wait().
 */
typedef const sdd_coder *SDD_NULLABLE (*sdd_coder_main_fn)(void) SDD_NOEXCEPT;

/**
 * Loads a shared object and registers its coder as sdd_process_add_coder() does: dlopen(3) with
 * RTLD_NOW and RTLD_LOCAL, then its sdd_coder_main(). The object stays loaded for ever. WAITS for
 * the disk. Each call registers the coder again; sdd_process_remove_coder() removes it.
 *
 * @param path As for dlopen(3): without a "/" it is looked for in the library directories. Anyone
 *     who can write to that file can run code in this process.
 * @return SDD_OK; SDD_ERROR_FILE_NOT_READABLE: no such file, or the system cannot load it;
 *     SDD_ERROR_NOT_FOUND: it has no sdd_coder_main(), or that returned NULL;
 *     SDD_ERROR_INVALID_ARGUMENT: path NULL, or a coder with a member missing or wrong;
 *     SDD_ERROR_UNSUPPORTED: a coder of a newer header.
 * Thread: any.
 */
SDD_API sdd_status sdd_process_load_coder_wait(const char *SDD_NONNULL path);

SDD_END_DECLS

#endif /* SDD_EXTEND_H */

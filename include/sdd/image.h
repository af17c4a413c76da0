/*
 * sdd/image.h - Images: pixels in memory, what is known about them, frames of animations, metadata.
 *
 * An image is immutable and reference counted. Whoever is lent one in a callback retains it to keep
 * it.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         static const unsigned char red[8] = { 255, 0, 0, 255, 255, 0, 0, 255 };
 *         sdd_image *image = NULL;
 *         if (sdd_image_create(2, 1, SDD_PIXEL_FORMAT_RGBA8, red, 0, &image) != SDD_OK) return 1;
 *         printf("%d x %d\n", (int)sdd_image_width(image), (int)sdd_image_height(image));
 *         sdd_image_release(image);
 *         return 0;
 *     }
 *
 * It prints: 2 x 1
 */
#ifndef SDD_IMAGE_H
#define SDD_IMAGE_H

#include "base.h"
#include "error.h"

SDD_BEGIN_DECLS

/* --------------------------------------------------------------------------------------- images */

/** How pixels lie in memory: sdd_image_pixel_format(). Since: 0.1.0. */
enum {
    /* 4 bytes a pixel: red, green, blue, alpha; alpha not multiplied in */
    SDD_PIXEL_FORMAT_RGBA8 = 1,
    /* The colours multiplied by alpha / 255, rounded. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED = 2,
    SDD_PIXEL_FORMAT_BGRA8 = 3, /* 4 bytes: blue, green, red, alpha. Since: 0.2.0 */
    /* Cairo's ARGB32 on a little-endian machine. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED = 4,
    SDD_PIXEL_FORMAT_RGB8 = 5, /* 3 bytes: red, green, blue, over a background. Since: 0.2.0 */
    /* 1 byte: of the same (299 red + 587 green + 114 blue) / 1000, ITU-R BT.601. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_GREY8 = 6,
    /* 4 uint16_t in the machine's byte order: red, green, blue, alpha; alpha not multiplied in.
       What is stored with 16 bits keeps them, of 8 bits it is the value times 257. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGBA16 = 7,
    /* The colours of that multiplied by alpha / 65535, rounded. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED = 8,
    /* The bytes of _RGB8 in three planes: all red ones, all green, all blue, each of height rows of
       sdd_image_stride() bytes, one plane right behind the other. Since: 0.2.0 */
    SDD_PIXEL_FORMAT_RGB8_PLANAR = 9
};

/**
 * What the encoded picture was: sdd_image_format(). The library decodes JPEG and PNG; the others
 * are for coders of the host's, see sdd_coder. Since: 0.1.0.
 */
enum {
    SDD_IMAGE_FORMAT_JPEG = 1,
    SDD_IMAGE_FORMAT_PNG = 2,

    /* Since 0.2.0: */
    SDD_IMAGE_FORMAT_GIF = 3,
    SDD_IMAGE_FORMAT_WEBP = 4,
    SDD_IMAGE_FORMAT_AVIF = 5,
    SDD_IMAGE_FORMAT_HEIF = 6,
    SDD_IMAGE_FORMAT_TIFF = 7,
    SDD_IMAGE_FORMAT_BMP = 8,
    SDD_IMAGE_FORMAT_PDF = 9,
    SDD_IMAGE_FORMAT_SVG = 10,
    SDD_IMAGE_FORMAT_HOST = 1000 /* the first of the host's own numbers */
};

/**
 * Adds one reference to an image, so that it outlives the callback that lent it.
 *
 * @param image Borrowed. NULL gives NULL.
 * @return The same image, owned by the caller: release with sdd_image_release().
 * Thread: any. Since: 0.1.0.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_image_retain(sdd_image *SDD_NULLABLE image);

/**
 * Gives one reference back; the last one frees pixels and bytes. Never blocks.
 *
 * @param image The reference to give back. NULL does nothing.
 * Thread: any. Since: 0.1.0.
 */
SDD_API void sdd_image_release(sdd_image *SDD_NULLABLE image);

/**
 * Width in pixels, at least 1; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_width(sdd_image *SDD_NULLABLE image);

/**
 * Height in pixels, at least 1; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_height(sdd_image *SDD_NULLABLE image);

/**
 * Bytes from the start of one row of pixels to the start of the next; 0 for NULL.
 *
 * Width times the bytes of a pixel, see SDD_PIXEL_FORMAT_, or more: use it. Of
 * SDD_PIXEL_FORMAT_RGB8_PLANAR the rows of one plane; to the next plane it is height times as far.
 * Thread: any. Since: 0.1.0.
 */
SDD_API size_t sdd_image_stride(sdd_image *SDD_NULLABLE image);

/**
 * One of SDD_PIXEL_FORMAT_; 0 for NULL.
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_pixel_format(sdd_image *SDD_NULLABLE image);

/**
 * What the encoded bytes are, or were before a transform, one of SDD_IMAGE_FORMAT_; 0 for NULL, and
 * for an image from sdd_image_create().
 * Thread: any. Since: 0.1.0.
 */
SDD_API int32_t sdd_image_format(sdd_image *SDD_NULLABLE image);

/**
 * The pixels: height rows of sdd_image_stride() bytes, the top row first.
 *
 * Colours are as the file has them: no colour profile and no gamma is applied.
 * @param image Borrowed.
 * @return The first byte of the top row; sdd_decode_options.pixels, where that was given; NULL for
 *     NULL.
 * Thread: any. Lifetime: while a reference to the image is held. Since: 0.1.0.
 */
SDD_API const uint8_t *SDD_NULLABLE sdd_image_pixels(sdd_image *SDD_NULLABLE image);

/**
 * Decodes the pixels of an image that came with SDD_OPTION_AVOID_DECODE_IMAGE, once, and WAITS for
 * it. sdd_image_pixels(), sdd_image_stride() and sdd_image_pixels_size() do so too, and give NULL
 * or 0 where it fails; so do encoding and transforms. Of any other image, and of one that has been
 * decoded, it does nothing.
 *
 * @param image Borrowed.
 * @param detail Receives one of SDD_DETAIL_: what is wrong with the picture; 0 for anything else.
 *     May be NULL.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA, each time it is asked; SDD_ERROR_INVALID_ARGUMENT for
 *     NULL.
 * Thread: any; of several that ask at once one decodes. In the child of a fork only what had been
 *     decoded before. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_decode_pixels(sdd_image *SDD_NULLABLE image,
                                           int32_t *SDD_NULLABLE detail);

/**
 * How many rows of pixels, from the top, are good: all of a picture, fewer of a preview or of a
 * damaged one that was read leniently. Counted before the picture was turned as Exif says.
 *
 * In a preview of a progressive JPEG or an interlaced PNG all rows count, and each preview makes
 * them better. In any other preview the good rows are those that no byte still to come changes. A
 * JPEG that is not progressive but has a scan for each of its components has none before the last
 * of those scans: 0, although there is something to see in all rows.
 *
 * @param image Borrowed.
 * @return At most the height, or the width of a picture that was turned by a quarter; 0 for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_good_rows(sdd_image *SDD_NULLABLE image);

/**
 * Whether an image is a preview: more of it was still to come. 1 or 0; 0 for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_is_preview(sdd_image *SDD_NULLABLE image);

/**
 * How many bytes there are from sdd_image_pixels() on: all rows of all planes; 0 for NULL.
 *
 * In sdd_decode_options.pixels it ends with the last pixel; else what pads the last row is counted,
 * too.
 * Thread: any. Since: 0.2.0.
 */
SDD_API size_t sdd_image_pixels_size(sdd_image *SDD_NULLABLE image);

/** What an image is, and what it was made of: sdd_image_get_info(). Since: 0.2.0. */
typedef struct sdd_image_info {
    size_t struct_size;
    size_t stride;      /* sdd_image_stride() */
    size_t pixels_size; /* sdd_image_pixels_size() */
    int32_t width;      /* of the pixels there are */
    int32_t height;
    int32_t pixel_format; /* one of SDD_PIXEL_FORMAT_ */
    int32_t format;       /* sdd_image_format() */
    /* Of the encoded picture, before `orientation` is applied; 0 if it is not known */
    int32_t stored_width;
    int32_t stored_height;
    /* Exif's, 1 to 8, as the encoded picture has it, whether or not it was applied */
    int32_t orientation;
    int32_t depth; /* bits a channel, as stored: see sdd_image_facts */
    /* 1: the encoded picture has an alpha channel, or colours that are transparent */
    int32_t has_alpha;
    int32_t is_scaled;  /* 1: made smaller, larger or cut, by sdd_decode_options */
    int32_t good_rows;  /* sdd_image_good_rows() */
    int32_t is_preview; /* sdd_image_is_preview() */
    /* 1: it is of a body that is cut or damaged, and all there will be; 0 for a whole picture */
    int32_t is_partial;
    /* 0: its pixels have not been asked for, SDD_OPTION_AVOID_DECODE_IMAGE; then stride and
       pixels_size are 0 here */
    int32_t is_decoded;
} sdd_image_info;

#define SDD_IMAGE_INFO_INIT \
    { sizeof(sdd_image_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells in one call what an image is.
 *
 * @param image Borrowed.
 * @param info Receives it; set struct_size before (SDD_IMAGE_INFO_INIT).
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_get_info(sdd_image *SDD_NULLABLE image,
                                      sdd_image_info *SDD_NONNULL info);

/**
 * The encoded bytes the image was decoded from.
 *
 * @param image Borrowed.
 * @return Borrowed: retain it to keep it longer than the image; NULL for NULL, and for a picture
 *     that was made of no whole body: a preview, with SDD_OPTION_STOP_WHEN_COMPLETE, from
 *     sdd_image_create(), sdd_image_transform() or sdd_image_frame(). Of what a load or a query of
 *     a cache made to a size or transformed NULL, too, wherever it came from: the original's bytes
 *     are not those of the picture, and would take more memory than it.
 * Thread: any. Lifetime: while a reference to the image is held. Since: 0.1.0.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_image_bytes(sdd_image *SDD_NULLABLE image);

/**
 * What encoded bytes say of a picture in front of its first pixel: see sdd_image_probe().
 *
 * A JPEG's are in its frame header and the Exif segment before it (ITU-T T.81, annex B); a PNG's in
 * IHDR, tRNS, acTL and eXIf before the first IDAT (PNG, Third Edition, section 11). Since: 0.2.0.
 */
typedef struct sdd_image_facts {
    size_t struct_size;
    int32_t format; /* one of SDD_IMAGE_FORMAT_ */
    int32_t width;  /* pixels, at least 1, as stored: before `orientation` is applied */
    int32_t height;
    /* 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha, or four inks in a JPEG */
    int32_t channels;
    int32_t depth; /* bits a channel, as stored: 1, 2, 4, 8, 12 or 16; 8 for a palette's colours */
    int32_t is_progressive; /* 1: a progressive JPEG, an interlaced PNG */
    int32_t is_animated; /* 1: frame_count is more than 1 */
    int32_t frame_count; /* as announced; 1 for a still picture */
    /* How often the frames are to be shown; 0: for ever; 1 for a still picture */
    int32_t loop_count;
    /* Exif's, 1 to 8: what is to be done to the pixels; 1: nothing, or nothing is said */
    int32_t orientation;
} sdd_image_facts;

#define SDD_IMAGE_FACTS_INIT \
    { sizeof(sdd_image_facts), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells what a picture is without decoding it: from the whole of it, or from its beginning.
 *
 * Reads up to where the pixels begin and decodes nothing, so that it costs microseconds, and no
 * memory, however large the picture claims to be. That there are facts does not mean that the
 * pixels are good.
 *
 * @param bytes Borrowed for the call: the first `size` bytes of a JPEG or PNG. May be NULL if size
 *     is 0.
 * @param size How many there are.
 * @param facts Receives the facts; set struct_size before (SDD_IMAGE_FACTS_INIT). All 0 with any
 *     status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_INCOMPLETE: the pixels begin further on; SDD_ERROR_BAD_IMAGE_DATA:
 *     these bytes cannot become a picture; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_probe(const void *SDD_NULLABLE bytes, size_t size,
                                   sdd_image_facts *SDD_NULLABLE facts);

/**
 * Tells a format by all of its magic number, never by one byte or two; also those that the library
 * does not decode. An SVG's is all that stands before its first element, within 65,536 bytes.
 * Whether the bytes behind it are good is another question.
 *
 * @param bytes Borrowed for the call: the first `size` bytes of a file. May be NULL if size is 0.
 * @return One of SDD_IMAGE_FORMAT_; 0 for any other, and for too few bytes to tell.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_sniff(const void *SDD_NULLABLE bytes, size_t size);

/**
 * What the encoded bytes of an image say of it: as sdd_image_probe() of sdd_image_bytes(), but
 * already known.
 *
 * @param image Borrowed.
 * @param facts Receives the facts; set struct_size before (SDD_IMAGE_FACTS_INIT). All 0 with any
 *     status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND where there are none: of a frame, say;
 *     SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_get_facts(sdd_image *SDD_NULLABLE image,
                                       sdd_image_facts *SDD_NULLABLE facts);

/* --------------------------------------------------------------------------------------- frames */

/**
 * How many frames an animated picture has; 1 for a still one, 0 for NULL.
 *
 * Frames are those of an animated PNG (PNG, Third Edition, 4.9 and 11.3.6). One whose chunks break
 * the rules is a still picture, and so is any with SDD_OPTION_DECODE_FIRST_FRAME_ONLY. The pixels
 * of the image itself are those of the still picture in the file, which may or may not be the first
 * frame. A preview has the frames that have come so far. A coder of the host's has the frames that
 * it says.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_frame_count(sdd_image *SDD_NULLABLE image);

/**
 * How often the frames are to be shown, one after the other; 0: for ever. 1 for a still picture and
 * for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int32_t sdd_image_loop_count(sdd_image *SDD_NULLABLE image);

/**
 * How long a frame is to be shown, in microseconds, rounded down: as the file has it, which may be
 * 0.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_frame_count() - 1.
 * @return 0 also for a still picture, for a frame that does not exist, and for NULL.
 * Thread: any. Since: 0.2.0.
 */
SDD_API int64_t sdd_image_frame_duration_us(sdd_image *SDD_NULLABLE image, int32_t index);

/**
 * One frame as it is shown, with what is left of those before it: a picture of its own, in the
 * pixel format, size and orientation that `image` has, and in memory of the same kind; where that
 * was the caller's own, in the library's.
 *
 * WAITS for decoding, on the calling thread. Frames may be asked for in any order, and by several
 * threads at a time; in their order each is decoded once. Any other takes the decoding of those
 * between it and the nearest one that is kept: some of them are, up to 32 MiB an image, and at
 * least the one made last. With SDD_OPTION_PRELOAD_ALL_FRAMES nothing is decoded here.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_frame_count() - 1.
 * @param frame Receives the frame, owned by the caller: release with sdd_image_release(). A still
 *     picture, without sdd_image_bytes(); of a still picture the picture itself, with one more
 *     reference. NULL with any status but SDD_OK.
 * @param detail Receives one of SDD_DETAIL_IMAGE_, 0 with SDD_OK. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is no such frame; SDD_ERROR_BAD_IMAGE_DATA: the frame,
 *     or one before it, is damaged, there are too many, it takes too long, or there is no memory:
 *     see `detail`; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_frame(sdd_image *SDD_NULLABLE image, int32_t index,
                                   sdd_image *SDD_NULLABLE *SDD_NULLABLE frame,
                                   int32_t *SDD_NULLABLE detail);

/* ------------------------------------------------------------------------------------- metadata */

/**
 * What pictures carry beside their pixels: sdd_image_metadata(). The library hands it out as it is:
 * no profile is applied to pixels, and of Exif only the orientation is looked at. Since: 0.2.0.
 */
enum {
    /* a colour profile (ICC.1): of a JPEG its APP2 segments put together, of a PNG iCCP if libpng
       takes it for a profile of such a picture */
    SDD_METADATA_ICC = 1,
    /* Exif's block, which begins with "II" or "MM" (CIPA DC-008): of a JPEG its APP1 segment
       without "Exif\0\0", of a PNG eXIf */
    SDD_METADATA_EXIF = 2,
    /* An XMP packet, UTF-8 (ISO 16684-1): of a JPEG its APP1 segment, of a PNG the iTXt of
       "XML:com.adobe.xmp" */
    SDD_METADATA_XMP = 3
};

/**
 * One kind of metadata of a picture, as bytes.
 *
 * Read from sdd_image_bytes() at the first question about metadata, once. A JPEG's is looked for in
 * front of its first scan, a PNG's everywhere; of several of a kind the first counts.
 *
 * @param image Borrowed.
 * @param kind One of SDD_METADATA_.
 * @param data Receives the first byte; NULL with any status but SDD_OK, and where there are no
 *     bytes in it.
 * @param size Receives how many there are.
 * @param detail Receives one of SDD_DETAIL_IMAGE_, 0 with SDD_OK. May be NULL.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is none, or the image has no bytes;
 *     SDD_ERROR_BAD_IMAGE_DATA: it is damaged (SDD_DETAIL_IMAGE_CORRUPT), over 8 MiB when unpacked
 *     (SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE), or there is no memory; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: of the bytes, while a reference to the image is held. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_metadata(sdd_image *SDD_NULLABLE image, int32_t kind,
                                      const void *SDD_NULLABLE *SDD_NULLABLE data,
                                      size_t *SDD_NULLABLE size, int32_t *SDD_NULLABLE detail);

/**
 * A text in a picture: of a PNG a tEXt, zTXt or iTXt chunk, of a JPEG a comment. Since: 0.2.0.
 *
 * All are UTF-8 with a NUL at the end. What a file has in Latin-1, or says to be UTF-8 and is not,
 * is converted from Latin-1.
 */
typedef struct sdd_image_text {
    size_t struct_size;
    /* "Title", "Author" and so on; of a JPEG's comment "Comment" */
    const char *SDD_NULLABLE keyword;
    const char *SDD_NULLABLE text;
    size_t text_size; /* without the NUL; a damaged text may have others in it */
    const char *SDD_NULLABLE language; /* of the text (RFC 5646); "" if it is not said */
    const char *SDD_NULLABLE translated_keyword; /* in that language; "" if there is none */
} sdd_image_text;

#define SDD_IMAGE_TEXT_INIT \
    { sizeof(sdd_image_text), NULL, NULL, 0, NULL, NULL }

/**
 * How many texts a picture has; 0 for NULL.
 *
 * Left out are those that are damaged, those of over 8 MiB when unpacked, and those behind the
 * first 128, or behind the first 64 MiB in all.
 * Thread: any. Since: 0.2.0.
 */
SDD_API size_t sdd_image_text_count(sdd_image *SDD_NULLABLE image);

/**
 * One text of a picture, in the order of the file.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_text_count() - 1.
 * @param text Receives the text; set struct_size before (SDD_IMAGE_TEXT_INIT). All 0 with any
 *     status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: of what it points to, while a reference to the image is held. Since:
 *     0.2.0.
 */
SDD_API sdd_status sdd_image_text_at(sdd_image *SDD_NULLABLE image, size_t index,
                                     sdd_image_text *SDD_NULLABLE text);

/* ----------------------------------------------------------------------------------- transforms */

/**
 * Makes an image of the caller's own pixels: for a transform to return, or to encode.
 *
 * @param width, height At least 1.
 * @param pixel_format One of SDD_PIXEL_FORMAT_.
 * @param pixels Copied: height rows, the top one first; of SDD_PIXEL_FORMAT_RGB8_PLANAR as many of
 *     each plane.
 * @param stride Bytes from the start of one row to the start of the next; 0: rows without anything
 *     between them.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(); NULL on an
 *     error. It has no encoded bytes: its sdd_image_format() is 0, its sdd_image_bytes() NULL.
 * @return SDD_OK; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT, also for a stride
 *     that is too short.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_create(int32_t width, int32_t height, int32_t pixel_format,
                                    const void *SDD_NONNULL pixels, size_t stride,
                                    sdd_image *SDD_NULLABLE *SDD_NONNULL out);

SDD_END_DECLS

#endif /* SDD_IMAGE_H */

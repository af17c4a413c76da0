/*
 * sdd/image.h - Images: pixels in memory, facts about pictures, frames of animations, metadata.
 *
 * An image is immutable and reference counted. A callback that is lent an image retains it to keep
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

/** Layouts of pixels in memory: sdd_image_pixel_format(). */
typedef int32_t sdd_pixel_format;

SDD_ENUM(sdd_pixel_format) {
    SDD_PIXEL_FORMAT_RGBA8 = 1, /* 4 bytes: red, green, blue, alpha; alpha is not premultiplied */
    /* RGBA8 with colours multiplied by alpha / 255, rounded. */
    SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED = 2,
    /* 4 bytes: blue, green, red, alpha. */
    SDD_PIXEL_FORMAT_BGRA8 = 3,
    /* BGRA8 premultiplied: Cairo's ARGB32 on a little-endian machine. */
    SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED = 4,
    /* 3 bytes: red, green, blue, over a background. */
    SDD_PIXEL_FORMAT_RGB8 = 5,
    /* 1 byte, from RGB8: (299 red + 587 green + 114 blue) / 1000, ITU-R BT.601. */
    SDD_PIXEL_FORMAT_GREY8 = 6,
    /* 4 uint16_t in native byte order: red, green, blue, alpha; alpha is not premultiplied.
       Channels stored with 16 bits keep them; 8-bit values are multiplied by 257. */
    SDD_PIXEL_FORMAT_RGBA16 = 7,
    /* RGBA16 with colours multiplied by alpha / 65535, rounded. */
    SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED = 8,
    /* RGB8 in three planes, red, green, blue, one right after the other, each of height rows of
       sdd_image_stride() bytes. */
    SDD_PIXEL_FORMAT_RGB8_PLANAR = 9
};

/**
 * Formats of encoded pictures: sdd_image_info.format. The library decodes JPEG and PNG; the others
 * need a coder, of the application or installed beside the library: see CODERS in extend.h.
 */
typedef int32_t sdd_image_format;

SDD_ENUM(sdd_image_format) {
    SDD_IMAGE_FORMAT_JPEG = 1,
    SDD_IMAGE_FORMAT_PNG = 2,
    SDD_IMAGE_FORMAT_GIF = 3,
    SDD_IMAGE_FORMAT_WEBP = 4,
    SDD_IMAGE_FORMAT_AVIF = 5,
    SDD_IMAGE_FORMAT_HEIF = 6,
    SDD_IMAGE_FORMAT_TIFF = 7,
    SDD_IMAGE_FORMAT_BMP = 8,
    SDD_IMAGE_FORMAT_PDF = 9,
    SDD_IMAGE_FORMAT_SVG = 10,
    SDD_IMAGE_FORMAT_JXL = 11, /* JPEG XL */
    SDD_IMAGE_FORMAT_ICO = 12, /* ICO and CUR, icons and cursors of Windows */
    SDD_IMAGE_FORMAT_ICC = 13, /* pixels with a profile, for libsdd-icc: no picture has it */
    SDD_IMAGE_FORMAT_APPLICATION = 1000 /* the first of the application's own numbers */
};

/**
 * Adds a reference to an image, so that it outlives the callback that lent it.
 *
 * @param image Borrowed. NULL gives NULL.
 * @return The same image, owned by the caller: release with sdd_image_release().
 * Thread: any.
 */
SDD_API sdd_image *SDD_NULLABLE sdd_image_retain(sdd_image *SDD_NULLABLE image);

/**
 * Releases one reference; the last one frees pixels and bytes. Never blocks.
 *
 * @param image The reference to release. NULL does nothing.
 * Thread: any.
 */
SDD_API void sdd_image_release(sdd_image *SDD_NULLABLE image);

/**
 * Returns the width in pixels, at least 1, or 0 for NULL.
 * Thread: any.
 */
SDD_API int32_t sdd_image_width(sdd_image *SDD_NULLABLE image);

/**
 * Returns the height in pixels, at least 1, or 0 for NULL.
 * Thread: any.
 */
SDD_API int32_t sdd_image_height(sdd_image *SDD_NULLABLE image);

/**
 * Returns the number of bytes from the start of one row of pixels to the start of the next, or 0
 * for NULL. It is at least the width times the bytes of a pixel (SDD_PIXEL_FORMAT_). For
 * SDD_PIXEL_FORMAT_RGB8_PLANAR it is that of one plane; planes are height times the stride apart.
 * Decodes like sdd_image_decode_pixels().
 * Thread: any.
 */
SDD_API size_t sdd_image_stride(sdd_image *SDD_NULLABLE image);

/**
 * Returns the layout of the pixels, one of SDD_PIXEL_FORMAT_, or 0 for NULL.
 * Thread: any.
 */
SDD_API sdd_pixel_format sdd_image_pixel_format(sdd_image *SDD_NULLABLE image);

/**
 * Returns the pixels: height rows of sdd_image_stride() bytes, the top row first. Their colours are
 * those of the file, or converted to sRGB, as sdd_decode_options.colour says. Decodes like
 * sdd_image_decode_pixels().
 *
 * @param image Borrowed.
 * @return The first byte of the top row (sdd_decode_options.pixels, if that was set); NULL for
 *     NULL, and if decoding fails.
 * Thread: any. Lifetime: while a reference to the image is held.
 */
SDD_API const uint8_t *SDD_NULLABLE sdd_image_pixels(sdd_image *SDD_NULLABLE image);

/**
 * Decodes the pixels of an image that came with SDD_OPTION_AVOID_DECODE_IMAGE, once, and WAITS for
 * it. For other images, and if the pixels are already decoded, it does nothing. sdd_image_pixels(),
 * sdd_image_stride(), encoding and transforms do the same implicitly; on failure the first two give
 * NULL and 0.
 *
 * @param image Borrowed.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA, again on each call; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any; of several threads that call at once, one decodes. In the child of a fork only
 *     pixels decoded before the fork are there.
 */
SDD_API sdd_status sdd_image_decode_pixels(sdd_image *SDD_NULLABLE image);

/** Kinds of colours: sdd_image_info.colour_kind. */
typedef int32_t sdd_colour_kind;

SDD_ENUM(sdd_colour_kind) {
    /* The picture does not say, or in a way that cannot be used. Browsers take it for sRGB. */
    SDD_COLOUR_KIND_UNSTATED = 0,
    SDD_COLOUR_KIND_SRGB = 1, /* sRGB, or at most one level of 255 from it */
    /* Curves and a matrix, such as Display P3 and Adobe RGB: from a profile, from code points, or
       from gAMA and cHRM. */
    SDD_COLOUR_KIND_MATRIX = 2,
    SDD_COLOUR_KIND_GREY = 3, /* a curve for greys */
    /* A profile with tables (A2B0), which is read if libsdd-icc is installed. If it is not, and the
       profile has curves and a matrix as well, the picture is converted by those. */
    SDD_COLOUR_KIND_TABLES = 4,
    SDD_COLOUR_KIND_INKS = 5, /* a profile of four inks, which is read if libsdd-icc is installed */
    SDD_COLOUR_KIND_HDR = 6   /* PQ or HLG (ITU-R BT.2100), which are not converted */
};

/**
 * The facts of a picture, beside its pixels. Filled by the library: by sdd_image_get_info() for
 * an image; by sdd_image_probe() and an sdd_facts_fn for encoded bytes, where the part on pixels is
 * all 0.
 */
typedef struct sdd_image_info {
    size_t struct_size;

    /* The encoded picture; all 0 for an image without one, such as from sdd_image_create(). What
       coders decode has what its first frame says. */

    sdd_image_format format; /* one of SDD_IMAGE_FORMAT_ */
    /* Pixels, as stored: before `orientation` is applied, and before scaling. */
    int32_t stored_width;
    int32_t stored_height;
    /* 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha, or four inks in a JPEG. Transparent
       colours count as alpha. A coder does not say what is stored: of its pictures this is what the
       pixel format of its frames has, for the installed coders always 4. */
    int32_t channels;
    /* Bits a channel, as stored: 1, 2, 4, 8, 12 or 16; 8 for the colours of a palette. */
    int32_t depth;
    int32_t orientation;    /* Exif orientation, 1 to 8, whether or not it was applied */
    /* 1: a progressive JPEG, an interlaced PNG, or a preview that its coder improves (JPEG XL). */
    int32_t is_progressive;
    /* Frames: as announced for encoded bytes; for an image those that it has, so 1 with
       SDD_OPTION_DECODE_FIRST_FRAME_ONLY, and of a preview those that have arrived. 1: a still
       picture, also if the animation breaks the rules of its format. */
    int32_t frame_count;
    int32_t loop_count; /* how often the frames are to be shown; 0: for ever; 1: a still picture */

    /* The pixels of an image. Width, height, layout and address have functions of their own. */

    /* Bytes from sdd_image_pixels() on, for all rows of all planes. The padding of the last row
       counts, except in sdd_decode_options.pixels. 0: they have not been decoded yet, see
       SDD_OPTION_AVOID_DECODE_IMAGE. */
    size_t pixels_size;
    /* Rows from the top that are valid: all rows of a complete picture, fewer of a preview or of a
       damaged picture that was decoded leniently; counted before the picture was turned by its
       orientation. In a preview with is_progressive all rows count, and each one improves them. In
       any other no later byte changes the valid rows. A sequential JPEG with one scan for each
       component has none before its last scan, although all rows show something. */
    int32_t good_rows;
    int32_t is_preview; /* 1: made before the whole picture had arrived */
    /* 1: the body was truncated or damaged, and no more will come; also of a picture made of such a
       one. 0: a complete picture, or one that has not been decoded yet. */
    int32_t is_partial;
    /* 1: scaled or cropped by sdd_decode_options. 0 from a cache's disk if it was stored so: the
       encoded picture, with stored_width and stored_height, is then the scaled one. */
    int32_t is_scaled;
    /* One of SDD_COLOUR_KIND_: what the picture says of its colours, converted or not. */
    sdd_colour_kind colour_kind;
    int32_t is_converted; /* 1: the pixels were converted to sRGB */
} sdd_image_info;

#define SDD_IMAGE_INFO_INIT \
    { sizeof(sdd_image_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Reads what is known of an image. Never decodes.
 *
 * @param image Borrowed.
 * @param info Its struct_size says how much is wanted.
 * @return SDD_OK; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_get_info(sdd_image *SDD_NULLABLE image,
                                      sdd_image_info *SDD_NONNULL info);

/**
 * What a picture says of its colours, as it lies in the file: also if the pixels were scaled,
 * transformed or converted since.
 */
typedef struct sdd_image_colour {
    size_t struct_size;
    sdd_colour_kind kind; /* one of SDD_COLOUR_KIND_ */
    int32_t is_converted; /* 1: the pixels were converted to sRGB */
    /* "Display P3": the description in the profile, or the name of the code points. UTF-8 without
       control characters; "" if there is none. */
    const char *SDD_NULLABLE name;
    const void *SDD_NULLABLE icc_profile; /* a profile (ICC.1); NULL if there is none */
    size_t icc_profile_size;
    /* Code points of ITU-T H.273, from cICP of a PNG or nclx of an AVIF or HEIF; 0: not stated. */
    int32_t primaries;
    int32_t transfer;
    /* gAMA of a PNG, times 100,000: the exponent from light to stored values. 0: not stated. */
    int32_t gamma;
    /* cHRM of a PNG, times 100,000: x and y of white, red, green and blue. All 0: not stated. */
    int32_t chromaticities[8];
} sdd_image_colour;

#define SDD_IMAGE_COLOUR_INIT \
    { sizeof(sdd_image_colour), 0, 0, NULL, NULL, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, 0 } }

/**
 * Reads what a picture says of its colours. Never decodes.
 *
 * @param image Borrowed.
 * @param colour Its struct_size says how much is wanted.
 * @return SDD_OK, also for a picture that says nothing; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: name and profile, while a reference to the image is held.
 */
SDD_API sdd_status sdd_image_get_colour(sdd_image *SDD_NULLABLE image,
                                        sdd_image_colour *SDD_NONNULL colour);

/**
 * Returns the encoded bytes that the image was decoded from.
 *
 * @param image Borrowed.
 * @return Borrowed: retain it to keep it longer than the image. NULL for NULL; for a picture not
 *     made from a whole body (a preview, with SDD_OPTION_STOP_WHEN_COMPLETE, or from
 *     sdd_image_create(), sdd_image_transform() or sdd_image_frame()); and for a picture that a
 *     load or a cache query scaled or transformed, since the original's bytes are not those of that
 *     picture and would take more memory than it.
 * Thread: any. Lifetime: while a reference to the image is held.
 */
SDD_API sdd_bytes *SDD_NULLABLE sdd_image_bytes(sdd_image *SDD_NULLABLE image);

/**
 * Reads what the first bytes of an encoded picture say of it, without decoding it: for a JPEG its
 * frame header and the Exif segment before it (ITU-T T.81, annex B), for a PNG the chunks before
 * the first IDAT (PNG, Third Edition, section 11).
 *
 * It takes microseconds and no memory, however large the picture claims to be. Nothing proves that
 * the pixels are valid. It knows JPEG and PNG only: coders, installed ones too, are not asked. For
 * a GIF, WebP, AVIF, HEIF, JPEG XL or SVG it returns SDD_ERROR_BAD_IMAGE_DATA: sdd_image_sniff()
 * names these formats, and their pictures have an info when they have been decoded.
 *
 * @param bytes Borrowed for the call: the first `size` bytes of a JPEG or PNG. May be NULL if size
 *     is 0.
 * @param size The number of bytes.
 * @param info Its struct_size says how much is wanted. All 0 with any status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_INCOMPLETE: the pixels begin further on; SDD_ERROR_BAD_IMAGE_DATA:
 *     these bytes cannot become a JPEG or PNG; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_probe(const void *SDD_NULLABLE bytes, size_t size,
                                   sdd_image_info *SDD_NULLABLE info);

/**
 * Recognises a format by its whole magic number, also formats that the library does not decode. An
 * SVG is recognised by everything before its first element, within 65,536 bytes. The bytes that
 * follow are not checked.
 *
 * @param bytes Borrowed for the call: the first `size` bytes of a file. May be NULL if size is 0.
 * @return One of SDD_IMAGE_FORMAT_; 0 for an unknown format and for too few bytes to tell.
 * Thread: any.
 */
SDD_API sdd_image_format sdd_image_sniff(const void *SDD_NULLABLE bytes, size_t size);

/* --------------------------------------------------------------------------------------- frames */

/*
 * FRAMES. An animated picture has sdd_image_info.frame_count frames: those of an animated PNG (PNG,
 * Third Edition, 4.9 and 11.3.6), or those that a coder reports. The pixels of the image itself are
 * those of the first frame, as browsers show it.
 *
 * An animated PNG may hide its still picture from the animation: no fcTL is before the first IDAT.
 * Its first frame, which is there even if acTL says one frame, is then composed at its size, and a
 * preview shows it once all of it has arrived. sdd_decode_options.still gives the still picture. It
 * is also shown if the animation breaks the rules of its format (which may follow a preview of the
 * frame), or has too many frames.
 */

/**
 * Returns how long a frame is to be shown, in microseconds, rounded down. The value is that of the
 * file, which may be 0. Of a picture that a coder decodes, WAITS for the frames up to this one, as
 * sdd_image_frame() does, unless they have been decoded before.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_info.frame_count - 1.
 * @return 0 also for a still picture, for a frame that is damaged or does not exist, and for NULL.
 * Thread: any.
 */
SDD_API int64_t sdd_image_frame_duration_us(sdd_image *SDD_NULLABLE image, int32_t index);

/**
 * Makes a picture of one frame as it is shown, composed with those before it. It has the pixel
 * format, size and orientation of `image`, and the same kind of memory, except that the library's
 * own memory takes the place of sdd_decode_options.pixels.
 *
 * WAITS for decoding, on the calling thread. Frames may be taken in any order, and by several
 * threads at a time. In order, each frame is decoded once; for any other, the frames since the
 * nearest kept one are decoded again. An image keeps up to 32 MiB of frames, at least the last one
 * made. With SDD_OPTION_PRELOAD_ALL_FRAMES nothing is decoded here.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_info.frame_count - 1.
 * @param frame Receives the frame, owned by the caller: release with sdd_image_release(). It is a
 *     still picture without sdd_image_bytes(); for a still `image` it is `image` itself, with one
 *     more reference. NULL with any status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is no such frame; SDD_ERROR_BAD_IMAGE_DATA: the frame
 *     or one before it is damaged, there are too many, it takes too long, or there is no memory:
 *     the detail says which; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_frame(sdd_image *SDD_NULLABLE image, int32_t index,
                                   sdd_image *SDD_NULLABLE *SDD_NULLABLE frame);

/* ------------------------------------------------------------------------------------- metadata */

/**
 * Kinds of metadata: sdd_image_metadata(). The library passes them on unchanged. It uses the
 * profile, see sdd_decode_options.colour, and the orientation in Exif.
 */
typedef int32_t sdd_metadata_kind;

SDD_ENUM(sdd_metadata_kind) {
    /* A colour profile (ICC.1): the joined APP2 segments of a JPEG; the iCCP of a PNG, if libpng
       accepts it for such a picture. */
    SDD_METADATA_ICC = 1,
    /* The Exif block, beginning with "II" or "MM" (CIPA DC-008): the APP1 segment of a JPEG,
       without "Exif\0\0"; the eXIf of a PNG. */
    SDD_METADATA_EXIF = 2,
    /* An XMP packet, UTF-8 (ISO 16684-1): the APP1 segment of a JPEG; the iTXt "XML:com.adobe.xmp"
       of a PNG. */
    SDD_METADATA_XMP = 3
};

/**
 * Gives one kind of metadata of a picture, as bytes.
 *
 * Metadata is read from sdd_image_bytes() once, on the first call for any metadata: in a JPEG up to
 * its first scan, in a PNG everywhere. If there are several of a kind, the first is used.
 *
 * @param image Borrowed.
 * @param kind One of SDD_METADATA_.
 * @param data Receives the first byte; NULL with any status but SDD_OK, and if the metadata is
 *     empty.
 * @param size Receives the number of bytes.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND: there is none, or the image has no bytes;
 *     SDD_ERROR_BAD_IMAGE_DATA: it is damaged (SDD_DETAIL_IMAGE_CORRUPT), over 8 MiB when unpacked
 *     (SDD_DETAIL_IMAGE_CHUNK_TOO_LARGE), or there is no memory; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: the bytes, while a reference to the image is held.
 */
SDD_API sdd_status sdd_image_metadata(sdd_image *SDD_NULLABLE image, sdd_metadata_kind kind,
                                      const void *SDD_NULLABLE *SDD_NULLABLE data,
                                      size_t *SDD_NULLABLE size);

/**
 * A text in a picture: a tEXt, zTXt or iTXt chunk of a PNG, a comment of a JPEG. All strings are
 * UTF-8 and end with NUL; Latin-1, and text that is marked as UTF-8 but is not, is converted from
 * Latin-1.
 */
typedef struct sdd_image_text {
    size_t struct_size;
    /* "Title", "Author" and so on; "Comment" for the comment of a JPEG. */
    const char *SDD_NULLABLE keyword;
    const char *SDD_NULLABLE text;
    size_t text_size; /* without the final NUL; a damaged text may contain others */
    const char *SDD_NULLABLE language; /* language of the text (RFC 5646); "" if unknown */
    /* The keyword in that language; "" if there is none. */
    const char *SDD_NULLABLE translated_keyword;
} sdd_image_text;

#define SDD_IMAGE_TEXT_INIT \
    { sizeof(sdd_image_text), NULL, NULL, 0, NULL, NULL }

/**
 * Returns the number of texts in a picture, or 0 for NULL. Texts that are damaged or over 8 MiB
 * when unpacked are left out, and so are those after the first 128 or the first 64 MiB in all.
 * Thread: any.
 */
SDD_API size_t sdd_image_text_count(sdd_image *SDD_NULLABLE image);

/**
 * Reads one text of a picture, in file order.
 *
 * @param image Borrowed.
 * @param index From 0 to sdd_image_text_count() - 1.
 * @param text Receives the text; set struct_size before (SDD_IMAGE_TEXT_INIT). All 0 with any
 *     status but SDD_OK.
 * @return SDD_OK; SDD_ERROR_NOT_FOUND past the last one; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any. Lifetime: its strings, while a reference to the image is held.
 */
SDD_API sdd_status sdd_image_text_at(sdd_image *SDD_NULLABLE image, size_t index,
                                     sdd_image_text *SDD_NULLABLE text);

/* ----------------------------------------------------------------------------------- transforms */

/**
 * Makes an image from the application's own pixels, for a transform to return or to encode.
 *
 * @param width, height At least 1.
 * @param pixel_format One of SDD_PIXEL_FORMAT_.
 * @param pixels Copied: height rows, the top one first; for SDD_PIXEL_FORMAT_RGB8_PLANAR, height
 *     rows of each plane.
 * @param stride Bytes from the start of one row to the start of the next; 0: rows without padding.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(). NULL on an
 *     error. It has no sdd_image_bytes().
 * @return SDD_OK; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT, also for a stride
 *     that is too short.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_create(int32_t width, int32_t height, sdd_pixel_format pixel_format,
                                    const void *SDD_NONNULL pixels, size_t stride,
                                    sdd_image *SDD_NULLABLE *SDD_NONNULL out);

/** One frame of sdd_image_create_animation(). */
typedef struct sdd_animation_frame {
    size_t struct_size;
    /* Required. Borrowed for the call; of an animated image its own pixels, the first frame. */
    sdd_image *SDD_NULLABLE image;
    int64_t duration_us; /* how long it is to be shown, at least 0 */
} sdd_animation_frame;

#define SDD_ANIMATION_FRAME_INIT \
    { sizeof(sdd_animation_frame), NULL, 0 }

/**
 * Makes an animated image of frames, to encode it with sdd_encode_options.animated, or to show it.
 * It shares the pixels of the frames, except those in memory of sdd_decode_options.pixels, and
 * those that are not yet decoded, or in another format than the first frame's. These it decodes and
 * copies: WAITS for it.
 *
 * @param frames An array of count records, copied. The struct_size of the first is the size of
 *     each. The images must have one size.
 * @param count 1 to 10,000; 1: a still picture.
 * @param loop_count How often the frames are to be shown; 0: for ever.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(). NULL on an
 *     error. It has no sdd_image_bytes(), and the colours of the first frame (sdd_image_colour).
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA: an image came with SDD_OPTION_AVOID_DECODE_IMAGE and
 *     cannot be decoded; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT, also for
 *     images of different sizes.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_create_animation(const sdd_animation_frame *SDD_NULLABLE frames,
                                              size_t count, int32_t loop_count,
                                              sdd_image *SDD_NULLABLE *SDD_NONNULL out);

SDD_END_DECLS

#endif /* SDD_IMAGE_H */

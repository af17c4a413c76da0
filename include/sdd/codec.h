/*
 * sdd/codec.h - Decoding, encoding and transforming images in memory, placeholders, and the options
 * by which a request decodes its picture.
 *
 * A program, which the tests of the library compile and run:
 *
 *     #include <sdd/sdd.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         static const unsigned char grey[4] = { 0, 85, 170, 255 };
 *         sdd_image *image = NULL;
 *         sdd_bytes *png = NULL;
 *         sdd_encode_options options = SDD_ENCODE_OPTIONS_INIT;
 *         options.format = SDD_IMAGE_FORMAT_PNG;
 *         if (sdd_image_create(2, 2, SDD_PIXEL_FORMAT_GREY8, grey, 0, &image) != SDD_OK) return 1;
 *         if (sdd_image_encode(image, &options, &png) != SDD_OK) return 1;
 *         printf("format %d\n", (int)sdd_image_sniff(sdd_bytes_data(png), sdd_bytes_size(png)));
 *         sdd_bytes_release(png);
 *         sdd_image_release(image);
 *         return 0;
 *     }
 *
 * It prints: format 2
 */
#ifndef SDD_CODEC_H
#define SDD_CODEC_H

#include "image.h"
#include "result.h"

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------------------- requests */

/**
 * An allocator for pixels: the application's own memory, a pool, memory that a device can read.
 *
 * The functions are called on decode threads, on the thread of sdd_image_decode(), and, to release,
 * on the thread that drops the last reference to an image; with no lock of the library held,
 * several at a time. They must not call the library.
 */
typedef struct sdd_pixel_allocator {
    size_t struct_size;
    /* Required. Returns `size` bytes at a multiple of `alignment`, a power of two of at least 16.
       NULL or memory with another alignment: SDD_DETAIL_IMAGE_NO_MEMORY. */
    void *SDD_NULLABLE (*SDD_NULLABLE allocate)(size_t size, size_t alignment,
                                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Required. Called once for each allocation, also for a picture that failed. */
    void (*SDD_NULLABLE release)(void *SDD_NONNULL pixels, size_t size,
                                 void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Must stay valid as long as images exist, and requests that ask for them. */
    void *SDD_NULLABLE user_data;
} sdd_pixel_allocator;

#define SDD_PIXEL_ALLOCATOR_INIT \
    { sizeof(sdd_pixel_allocator), NULL, NULL, NULL }

/** Ways to fit a picture into a width and a height: sdd_decode_options.fit and others. */
typedef int32_t sdd_fit;

SDD_ENUM(sdd_fit) {
    SDD_FIT_DEFAULT = 0, /* SDD_FIT_INSIDE, unless a comment names another */
    /* As large as fits inside. The aspect ratio is kept, rounded to whole pixels, at least 1. */
    SDD_FIT_INSIDE = 1,
    /* Just large enough to cover the target; the excess is cropped equally on both sides. If one
       target side is 0: as SDD_FIT_INSIDE. */
    SDD_FIT_FILL = 2,
    SDD_FIT_STRETCH = 3 /* exactly the target size; each side is scaled by itself */
};

/**
 * Handling of truncated and damaged pictures: sdd_decode_options.damage.
 *
 * Damage is what loses pixels. In a JPEG: libjpeg's warnings on data that does not decode, on
 * markers within it and on restarts that do not fit (JWRN_HUFF_BAD_CODE, JWRN_HIT_MARKER,
 * JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION, JWRN_ARITH_BAD_CODE), and missing scans. In a PNG:
 * wrong checksums of chunks that make pixels, data that does not unpack, too few rows, a missing
 * end. All else is ignored: bytes between segments and after the end, damaged texts and profiles, a
 * missing end marker of a JPEG.
 */
typedef int32_t sdd_damage_mode;

SDD_ENUM(sdd_damage_mode) {
    SDD_DAMAGE_REFUSE = 0, /* it is an error: SDD_ERROR_BAD_IMAGE_DATA */
    /* What there is of the picture is decoded. sdd_image_info.good_rows are the rows above the
       damage; a wrong checksum is seen at the end of its chunk, so that the rows of that chunk
       count, although they may be spoilt. Below it, a JPEG goes on as libjpeg does, up to where its
       data ends, and a JPEG in several scans has what there is of all of them; a PNG has zero
       bytes. What a coder decodes has the rows and the frames that the coder still gives: of a cut
       AVIF that is a grid those of its tiles, but nothing of one in one piece, nor of a HEIF. If
       there is nothing, it is an error. */
    SDD_DAMAGE_KEEP_REST = 1
};

/** Methods of scaling a picture down: sdd_decode_options.scaling. */
typedef int32_t sdd_scaling;

SDD_ENUM(sdd_scaling) {
    /* A JPEG is first scaled by libjpeg, to the smallest of 1/8, 1/4 and 1/2 that is large enough,
       whose pixels are means of 8 x 8, 4 x 4 or 2 x 2; the area means are taken of those. Above one
       half the result is exact. */
    SDD_SCALING_FAST = 0,
    /* Area means of all pixels as stored, exact to within the rounding of the result. */
    SDD_SCALING_EXACT = 1
};

/** Colours of decoded pixels: sdd_decode_options.colour. */
typedef int32_t sdd_colour;

SDD_ENUM(sdd_colour) {
    /* SDD_COLOUR_SRGB for loads and prefetch lists, and for cache queries, which find what loads
       have stored; SDD_COLOUR_AS_STORED for everything else. */
    SDD_COLOUR_DEFAULT = 0,
    /* The numbers of the file: sdd_image_get_colour() tells what they mean. */
    SDD_COLOUR_AS_STORED = 1,
    /* Converted to sRGB, as browsers do it: by the curves and the matrix of a profile (ICC.1), by
       code points (ITU-T H.273), or by gAMA and cHRM of a PNG. Colours that sRGB lacks are clipped.
       A picture that says nothing of its colours, or is within one level of sRGB, or cannot be
       converted (see SDD_COLOUR_KIND_), stays as stored. */
    SDD_COLOUR_SRGB = 2
};

/**
 * Options for decoding a body to pixels. All 0: RGBA8, turned by its Exif orientation, at full
 * size. Begin with SDD_DECODE_OPTIONS_INIT.
 *
 * Pictures are scaled down row by row while they are decoded, so that the full-size picture is
 * never in memory (except that of an interlaced PNG). Each new pixel is the mean of the area it
 * covers, with colours weighted by alpha. For a PNG the mean is exact; for a JPEG, and for what a
 * coder scales itself, `scaling` decides. With SDD_SCALING_FAST, pixels at the border of an area
 * may include neighbours: 12 megapixel photographs scaled to 512 pixels wide differ from the exact
 * mean by 0.8 of 255 on average, and by up to 45 at hard edges. SDD_SCALING_EXACT takes half as
 * much time again.
 *
 * Pictures are enlarged only with allow_enlarging, up to max_pixels. Pixels lie in memory of the
 * library, of `allocator`, or at `pixels`; where possible the decoder writes them there directly.
 *
 * Requests that share a transfer may have different options: the body is decoded once for all of
 * them. Requests with equal options, allocator and pixels included, share one image.
 */
typedef struct sdd_decode_options {
    size_t struct_size;
    sdd_pixel_format pixel_format; /* one of SDD_PIXEL_FORMAT_; 0: SDD_PIXEL_FORMAT_RGBA8 */
    /* 1: pixels as stored. 0: turned and mirrored by the Exif orientation (0x0112 of the first
       directory, CIPA DC-008, 4.6.4), which may swap width and height; sdd_image_probe() gives the
       orientation. */
    int32_t keep_orientation;
    uint32_t background;  /* 0xRRGGBB, shown through alpha in formats without alpha; 0: black */
    sdd_fit fit;          /* one of SDD_FIT_ */
    int32_t target_width; /* pixels, of the picture after turning; 0: any */
    int32_t target_height;
    /* A picture that takes more bytes, at 4 bytes a pixel, is scaled down to floor(sqrt(limit / 4 *
       width / height)) pixels wide and, by its aspect ratio rounded down, high; at least 1 x 1.
       Overrides target_width, target_height and fit. With SDD_OPTION_PRELOAD_ALL_FRAMES the limit
       is divided by the number of frames; without, it is for each frame. 0: no limit. SDWebImage's
       scaleDownLargeImages has 62914560. */
    int64_t scale_down_limit_bytes;
    /* Bytes, a power of two up to 4096: every row begins at a multiple of it, and
       sdd_image_stride() is a multiple of it. 0: 1, rows without padding. */
    int32_t row_alignment;
    /* 1: a picture smaller than the target size is enlarged as `fit` says, by bilinear
       interpolation with colours weighted by alpha. 0: it keeps its size. */
    int32_t allow_enlarging;
    sdd_damage_mode damage; /* one of SDD_DAMAGE_ */
    /* The format of a body whose first bytes are not recognised, for formats without a magic
       number: one of SDD_IMAGE_FORMAT_, of an sdd_coder; 0: none. */
    sdd_image_format format_hint;
    sdd_scaling scaling; /* one of SDD_SCALING_ */
    /* Copied with the options. Not with transforms of a load. NULL: the library's own memory. */
    const sdd_pixel_allocator *SDD_NULLABLE allocator;
    /* The memory for the pixels of this one picture, owned by the application; not with an
       allocator, nor in sdd_downloader_set_decode_options(). It must stay valid and untouched until
       the request has ended and its image, if any, is released. After an error its content is
       undefined. A cancelled request ends only after a decode thread has stopped writing there.
       NULL: not used. */
    void *SDD_NULLABLE pixels;
    /* Bytes at `pixels`: at least pixels_stride times the rows of all planes, less the padding of
       the last row. If too small: SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL. */
    size_t pixels_size;
    /* Bytes from row to row at `pixels`; those between rows are not touched. 0: as row_alignment
       says. `pixels` and pixels_stride must be multiples of row_alignment. */
    size_t pixels_stride;
    sdd_colour colour; /* one of SDD_COLOUR_ */
    /* 1: of an animated picture only the still picture, as programs show it that know no
       animations: that of the file for an animated PNG whose first frame it is not, see FRAMES in
       image.h, else the first frame. Overrides SDD_OPTION_PRELOAD_ALL_FRAMES and
       SDD_OPTION_DECODE_FIRST_FRAME_ONLY. */
    int32_t still;
} sdd_decode_options;

#define SDD_DECODE_OPTIONS_INIT \
    { sizeof(sdd_decode_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0 }

/**
 * Decodes a picture in memory, on the calling thread, which WAITS: for tools, tests and bindings.
 * It needs no downloader and starts no thread, but a process for a picture that is a program, like
 * SVG (sdd_decode_mode). A picture may have up to 134,217,728 pixels (128 Mi).
 *
 * @param bytes Borrowed for the call: a whole picture. The image keeps a copy, see
 *     sdd_image_bytes().
 * @param size The number of bytes.
 * @param options The decode options. NULL: RGBA8, turned by its Exif orientation, at full size.
 * @param image Receives the picture, owned by the caller: release with sdd_image_release(). NULL on
 *     an error.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA: the detail of sdd_last_error() says why;
 *     SDD_ERROR_INVALID_ARGUMENT, also for an invalid option; SDD_ERROR_UNSUPPORTED;
 *     SDD_ERROR_NO_RESOURCES: no memory for the copy, or no process.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_decode(const void *SDD_NULLABLE bytes, size_t size,
                                    const sdd_decode_options *SDD_NULLABLE options,
                                    sdd_image *SDD_NULLABLE *SDD_NONNULL image);

/* ------------------------------------------------------------------------------------- encoding */

/** Chroma subsampling of a JPEG: sdd_encode_options.chroma. */
typedef int32_t sdd_chroma;

SDD_ENUM(sdd_chroma) {
    SDD_CHROMA_420 = 0, /* half the colour resolution in both directions: for photographs */
    SDD_CHROMA_422 = 1, /* half the colour resolution in each row */
    SDD_CHROMA_444 = 2  /* full colour resolution: for drawings and text */
};

/**
 * Options for encoding an image. All 0: the whole image, in a format chosen from its pixels. Begin
 * with SDD_ENCODE_OPTIONS_INIT.
 *
 * A PNG keeps every pixel, and 16 bits a channel where the pixels have them (its animations have
 * 8); premultiplied alpha is divided out, and an alpha channel without transparency is not stored.
 * Other formats have 8 bits a channel. A JPEG is encoded with libjpeg's defaults, with 8-bit tables
 * at any quality.
 */
typedef struct sdd_encode_options {
    size_t struct_size;
    /* One of SDD_IMAGE_FORMAT_; 0: PNG if any pixel is transparent or a side is over 65,500, else
       JPEG. A coder of sdd_process_add_coder() that encodes the format takes precedence. */
    sdd_image_format format;
    int32_t quality; /* for a JPEG libjpeg's, 1 to 100; for a coder, as it defines it. 0: 90 */
    /* Pixels: a larger picture is scaled down to fit, as with SDD_FIT_INSIDE; 0: any. */
    int32_t max_width;
    int32_t max_height;
    uint32_t background; /* 0xRRGGBB, shown through alpha in a JPEG; 0: black */
    int32_t progressive; /* 1: a progressive JPEG */
    sdd_chroma chroma;   /* for a JPEG: one of SDD_CHROMA_ */
    /* Largest size of the result; 0: any. A JPEG, or a format of a coder, is encoded with the
       highest quality up to `quality` that fits, found by bisection. A PNG is scaled down, by at
       least 5 % a side each time, until it fits, down to one pixel. */
    int64_t max_bytes;
    /* 1: an animated image with all its frames, in a format that has them: an animated PNG, also
       for a format of 0, or that of a coder with encode_frames. max_bytes then makes no PNG
       smaller. 0: its own pixels, the first frame. */
    int32_t animated;
} sdd_encode_options;

#define SDD_ENCODE_OPTIONS_INIT \
    { sizeof(sdd_encode_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Encodes the pixels of an image as JPEG or PNG, or in a format that a coder of the process
 * encodes, see sdd_coder. WAITS for the work, on the calling thread. The pixels are not copied,
 * except for a few rows, unless they are scaled.
 *
 * @param image Borrowed for the call. Its pixels are encoded; the bytes it came from are not used,
 *     except for frames that are decoded when they are needed.
 * @param options Copied. NULL: the defaults.
 * @param out Receives the bytes, owned by the caller: release with sdd_bytes_release(). NULL on an
 *     error.
 * @return SDD_OK; SDD_ERROR_DOES_NOT_FIT: over max_bytes at any quality or size, or a JPEG with a
 *     side over 65,500; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED: no coder for that format, or its coder refused;
 *     SDD_ERROR_BAD_IMAGE_DATA: the image came with SDD_OPTION_AVOID_DECODE_IMAGE and cannot be
 *     decoded, or a frame cannot.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_encode(sdd_image *SDD_NONNULL image,
                                    const sdd_encode_options *SDD_NULLABLE options,
                                    sdd_bytes *SDD_NULLABLE *SDD_NONNULL out);

/* ----------------------------------------------------------------------------------- transforms */

/**
 * Kinds of sdd_transform, the fields they use, and their keys: see sdd_transform_key().
 */
typedef int32_t sdd_transform_kind;

SDD_ENUM(sdd_transform_kind) {
    /* width, height, fit: scales down as in sdd_decode_options, and up only with `allow_enlarging`.
       "resize(100,80,fill)"; "inside", "stretch"; "resize(100,80,fill,enlarge)". */
    SDD_TRANSFORM_RESIZE = 1,
    /* x, y, width, height: keeps that part of the picture. "crop(10,0,64,64)". */
    SDD_TRANSFORM_CROP = 2,
    SDD_TRANSFORM_FLIP = 3,   /* flip: SDD_FLIP_ bits. "flip(horizontal)"; "vertical", "both" */
    /* degrees, keep_size: turns clockwise. What the picture does not reach is transparent, with
       soft edges; quarter turns that cut nothing off only move pixels. "rotate(90)";
       "rotate(12.5,keep)". */
    SDD_TRANSFORM_ROTATE = 4,
    /* radius, corners: makes the outside of quarter circles transparent, with soft edges.
       "round(8,15)": the radius and the corner bits. */
    SDD_TRANSFORM_ROUND_CORNERS = 5,
    /* callback, user_data, key: calls the application. Its key is `key`. */
    SDD_TRANSFORM_CALLBACK = 6,
    /* border, colour, radius, corners: draws a line along the inside of the edges, and of the
       quarter circles that SDD_TRANSFORM_ROUND_CORNERS leaves with the same radius and corners.
       "border(2,ff336699,8,15)". */
    SDD_TRANSFORM_BORDER = 7,
    /* colour: mixes the colours with it, as far as it is opaque. "tint(80ff0000)". */
    SDD_TRANSFORM_TINT = 8,
    /* radius: blurs; the standard deviation, as of blur() in CSS, at most the longer side of the
       picture. "blur(4)". */
    SDD_TRANSFORM_BLUR = 9
};

/** Bits of sdd_transform.flip. */
typedef int32_t sdd_flip;

SDD_ENUM(sdd_flip) {
    SDD_FLIP_HORIZONTAL = 1 << 0, /* swaps left and right */
    SDD_FLIP_VERTICAL = 1 << 1    /* swaps top and bottom */
};

/** Bits of sdd_transform.corners. */
typedef int32_t sdd_corners;

SDD_ENUM(sdd_corners) {
    SDD_CORNER_TOP_LEFT = 1 << 0,
    SDD_CORNER_TOP_RIGHT = 1 << 1,
    SDD_CORNER_BOTTOM_LEFT = 1 << 2,
    SDD_CORNER_BOTTOM_RIGHT = 1 << 3
};

/**
 * Transforms an image on behalf of the application.
 *
 * @param image Borrowed until the callback returns: the result of the transforms before it. It has
 *     pixels but no encoded bytes.
 * @return An image with one reference, which the library takes over: from sdd_image_create(), or
 *     `image` itself after sdd_image_retain(). NULL: it failed.
 * Thread: the one that transforms: a decode thread, or that of sdd_image_transform().
 */
typedef sdd_image *SDD_NULLABLE (*sdd_transform_fn)(sdd_image *SDD_NONNULL image,
                                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * One transform of an image. `kind` says which fields are used; the others are ignored. Begin with
 * SDD_TRANSFORM_INIT.
 */
typedef struct sdd_transform {
    size_t struct_size;
    sdd_transform_kind kind;  /* one of SDD_TRANSFORM_; required */
    sdd_fit fit;   /* resize: one of SDD_FIT_ */
    int32_t x;     /* crop: pixels from the left; may be outside the picture */
    int32_t y;     /* crop: pixels from the top; may be outside the picture */
    int32_t width; /* resize: pixels, 0 in one of the two: any; crop: at least 1 */
    int32_t height;
    sdd_flip flip;    /* flip: SDD_FLIP_ bits, at least one */
    /* Rotate: 1: the result is as large as the picture, and its corners are cut off; 0: the result
       is as large as the turned picture, in a load at most max_pixels. */
    int32_t keep_size;
    double degrees;  /* rotate: any number, rounded to thousandths */
    /* Round corners, border: pixels, clamped to half the shorter side. Blur: pixels. */
    int32_t radius;
    sdd_corners corners; /* round corners, border: SDD_CORNER_ bits; 0: all four */
    int32_t border;      /* border: its width in pixels, at most to the middle */
    uint32_t colour;     /* border, tint: 0xAARRGGBB; not multiplied by alpha */
    /* Resize: 1: a smaller picture is enlarged, by interpolation between neighbouring pixels. In a
       load the result may have at most max_pixels (SDD_DETAIL_IMAGE_TOO_MANY_PIXELS), and its
       memory counts as decode memory. */
    int32_t allow_enlarging;
    /* Callback: required. Not empty, without control characters, and never the same for two
       callbacks that do different things. */
    const char *SDD_NULLABLE key;
    sdd_transform_fn SDD_NULLABLE callback; /* callback: required */
    /* Passed to the callback. Used until user_data_free is called, which may be after the load has
       ended: a load that is cancelled does not wait for the callback, and loads of one URL whose
       transforms have equal keys share the work, done with the user_data of any of them. */
    void *SDD_NULLABLE user_data;
    /* Also not called for a call that only makes a key. */
    sdd_user_data_free_fn SDD_NULLABLE user_data_free;
} sdd_transform;

#define SDD_TRANSFORM_INIT \
    { sizeof(sdd_transform), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/**
 * Applies transforms to an image, one after the other, and makes another image. WAITS for the work,
 * on the calling thread.
 *
 * The image itself never changes; if the transforms have no effect, `out` is `image` with one more
 * reference. The result keeps its format and pixel format (of a format without alpha, round corners
 * and rotations that do more than move pixels give RGBA8), and has no sdd_image_bytes().
 *
 * @param image Borrowed for the call.
 * @param list An array of count records, copied. The struct_size of the first is the size of each.
 *     May be NULL if count is 0.
 * @param count At most 256.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(). NULL on an
 *     error.
 * @return SDD_OK; SDD_ERROR_DOES_NOT_FIT: a crop outside the picture, or a side longer than an
 *     int32_t can hold; SDD_ERROR_BAD_IMAGE_DATA: a callback returned NULL, or the image came with
 *     SDD_OPTION_AVOID_DECODE_IMAGE and cannot be decoded; SDD_ERROR_NO_RESOURCES: no memory;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_transform(sdd_image *SDD_NONNULL image,
                                       const sdd_transform *SDD_NULLABLE list, size_t count,
                                       sdd_image *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Writes the text that identifies a list of transforms, for names of their results: the keys of
 * SDD_TRANSFORM_ joined by "-", as in "resize(100,80,fill)-rotate(90)"; "" for none. It is the same
 * in every version.
 *
 * @param list, count As for sdd_image_transform().
 * @param buffer, capacity, length As for sdd_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED.
 * Thread: any.
 */
SDD_API sdd_status sdd_transform_key(const sdd_transform *SDD_NULLABLE list, size_t count,
                                     char *SDD_NULLABLE buffer, size_t capacity,
                                     size_t *SDD_NULLABLE length);

/* --------------------------------------------------------------------------------- placeholders */

/**
 * Makes the ThumbHash of an image (https://evanw.github.io/thumbhash/): at most 25 bytes that a
 * site sends along with the URL of a picture, and of which sdd_image_from_thumbhash() makes what is
 * shown until the picture comes. WAITS for decoding, like sdd_image_decode_pixels().
 *
 * The hash is made of the pixels as they are, 8 bits a channel. A picture with a side over 100
 * pixels is scaled down to 100 first; one with fewer than 7 counts as one of larger pixels. Equal
 * pixels have the same hash on every machine.
 *
 * @param image Borrowed.
 * @param out Receives the hash, 17 to 25 bytes, owned by the caller: release with
 *     sdd_bytes_release(). NULL on an error.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA: there is no memory, or the image came with
 *     SDD_OPTION_AVOID_DECODE_IMAGE and cannot be decoded; SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_thumbhash(sdd_image *SDD_NONNULL image,
                                       sdd_bytes *SDD_NULLABLE *SDD_NONNULL out);

/**
 * Makes a small blurred picture of a ThumbHash, to be shown enlarged. Takes far less than a
 * millisecond.
 *
 * @param hash Borrowed for the call: the bytes of sdd_image_thumbhash(), or of another
 *     implementation. Any bytes may be given.
 * @param size The number of bytes.
 * @param out Receives the picture, owned by the caller: release with sdd_image_release(). It has
 *     SDD_PIXEL_FORMAT_RGBA8, a longer side of 32 pixels, a shorter one of 5 to 32 by the aspect
 *     ratio of the original, which a hash has only roughly, and no sdd_image_bytes(). NULL on an
 *     error.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA: these bytes are no ThumbHash, or there is no memory;
 *     SDD_ERROR_INVALID_ARGUMENT.
 * Thread: any.
 */
SDD_API sdd_status sdd_image_from_thumbhash(const void *SDD_NULLABLE hash, size_t size,
                                            sdd_image *SDD_NULLABLE *SDD_NONNULL out);

SDD_END_DECLS

#endif /* SDD_CODEC_H */

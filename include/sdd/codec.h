/*
 * sdd/codec.h - Decoding, encoding and transforming images that are in memory; how a request's
 * picture is decoded.
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

SDD_BEGIN_DECLS

/* ------------------------------------------------------------------------------------- requests */

/**
 * Where pixels come from and go to: the host's own memory, a pool, memory that a device sees.
 *
 * The functions are called on decode threads, on the thread of sdd_image_decode(), and, to give
 * back, wherever the last reference to an image goes; with no lock of the library held, several at
 * a time. They must not call the library.
 * Since: 0.2.0.
 */
typedef struct sdd_pixel_allocator {
    size_t struct_size;
    /* `size` bytes at a multiple of `alignment`, which is a power of two, at least 16; NULL, or
       memory that lies otherwise: SDD_DETAIL_IMAGE_NO_MEMORY. Needed */
    void *SDD_NULLABLE (*SDD_NULLABLE allocate)(size_t size, size_t alignment,
                                                void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Once for each that `allocate` has given, also of a picture that failed. Needed */
    void (*SDD_NULLABLE release)(void *SDD_NONNULL pixels, size_t size,
                                 void *SDD_NULLABLE user_data) SDD_NOEXCEPT;
    /* Must stay good as long as there are images, and requests that ask for them */
    void *SDD_NULLABLE user_data;
} sdd_pixel_allocator;

#define SDD_PIXEL_ALLOCATOR_INIT \
    { sizeof(sdd_pixel_allocator), NULL, NULL, NULL }

/**
 * What becomes of a picture that is larger than it is to be: sdd_decode_options.fit. Since: 0.2.0.
 */
enum {
    /* Made as large as fits into target_width x target_height; its sides keep their ratio, rounded
       to whole pixels, at least 1 */
    SDD_FIT_INSIDE = 0,
    /* Made just as large as covers that, and what sticks out is cut off, as much on either side;
       with one side 0: as SDD_FIT_INSIDE */
    SDD_FIT_FILL = 1,
    SDD_FIT_STRETCH = 2 /* made just as large as that, each side by itself */
};

/**
 * What becomes of a picture that is cut or damaged: sdd_decode_options.integrity. Since: 0.2.0.
 *
 * Damage is what loses pixels. Of a JPEG, of libjpeg's warnings those on data that does not decode,
 * on markers within it, and on restarts that do not fit (JWRN_HUFF_BAD_CODE, JWRN_HIT_MARKER,
 * JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION, JWRN_ARITH_BAD_CODE), and scans that are missing; of a
 * PNG, wrong check sums of chunks that make pixels, data that does not unpack, too few rows, a
 * missing end. All else is passed over: bytes between segments and behind the end, damaged texts
 * and profiles, a JPEG's missing end marker.
 */
enum {
    SDD_INTEGRITY_STRICT = 0, /* it is an error: SDD_ERROR_BAD_IMAGE_DATA */
    /* What is good of it is a picture: the rows above the damage, see sdd_image_good_rows(), with
       nothing (all bytes 0) below; of a JPEG in scans, what there is of all of them. An error
       still, if nothing is */
    SDD_INTEGRITY_LENIENT = 1
};

/** How a picture is made smaller: sdd_decode_options.scaling. Since: 0.2.0. */
enum {
    /* a JPEG first by libjpeg, to the smallest of 1/8, 1/4 and 1/2 that is not too small, whose
       pixels are means of 8 x 8, 4 x 4 and 2 x 2; then the mean of the area, of those. What is
       wanted larger than a half is exact */
    SDD_SCALING_FAST = 0,
    /* The mean of the area, of all pixels as stored, to within the rounding of the result */
    SDD_SCALING_EXACT = 1
};

/**
 * How pixels are made of a body. All 0: RGBA8, turned as Exif says, as large as it is. Begin with
 * SDD_DECODE_OPTIONS_INIT.
 *
 * Pictures are made smaller while they are decoded, row by row, so that but for an interlaced PNG
 * the whole of one is never in memory. Each new pixel is the mean of the area that it covers, with
 * colours weighted by alpha: of a PNG always the exact one, of a JPEG unless `scaling` says so that
 * of pixels which libjpeg has made smaller by halves. Where the borders of a new pixel fall between
 * theirs, it has a share of what is beside its area: photographs of 12 megapixels made 512 pixels
 * wide differ from the exact mean by 0.8 of 255 on average, at hard edges by up to 45. The exact
 * way takes half as much time again. Larger they are made only with allow_enlarging, and by
 * max_pixels at most.
 *
 * Pixels lie in memory of the library's, of `allocator`, or at `pixels`. Where the decoder can
 * write the format as it is wanted, and nobody else wants another one of the same body, it writes
 * there at once.
 *
 * Requests that share a transfer may each have their own: the body is decoded once for all of them.
 * Those whose options are equal, allocator and pixels included, share one image. Since: 0.2.0.
 */
typedef struct sdd_decode_options {
    size_t struct_size;
    int32_t pixel_format; /* one of SDD_PIXEL_FORMAT_; 0: SDD_PIXEL_FORMAT_RGBA8 */
    /* 1: pixels as stored; 0: turned and mirrored as Exif's orientation says, 0x0112 of its first
       directory (CIPA DC-008, 4.6.4), so that sdd_image_width() and the height may be those of the
       file the other way round; sdd_image_probe() tells the orientation */
    int32_t keep_orientation;
    /* 0xRRGGBB, what shows through alpha in formats that have none; 0: black */
    uint32_t background;
    int32_t fit;          /* one of SDD_FIT_ */
    int32_t target_width; /* pixels, of the picture as it is turned; 0: any */
    int32_t target_height;
    /* a picture of more pixels than fit into so many bytes, at 4 bytes a pixel, is made to fit:
       floor(sqrt(limit / 4 * width / height)) pixels wide, and as high as its ratio says, rounded
       down, at least 1 x 1. Beats target_width, target_height and fit. 0: no limit, or 62914560
       with SDD_OPTION_SCALE_DOWN_LARGE_IMAGES */
    int64_t scale_down_limit_bytes;
    /* Bytes, a power of two up to 4096: every row begins at a multiple of it, and so does
       sdd_image_stride() come to one; 0: 1, rows without padding */
    int32_t row_alignment;
    /* 1: a picture smaller than target_width and target_height say is made larger, as `fit` says;
       each new pixel is linear between the four around it (bilinear), with colours weighted by
       alpha. 0: it stays as it is */
    int32_t allow_enlarging;
    /* Copied with the options. NULL: the library's own memory */
    const sdd_pixel_allocator *SDD_NULLABLE allocator;
    /* Where the pixels of this one picture are written: not with an allocator, nor in
       sdd_downloader_set_decode_options(). The caller's: it must stay, and be left alone, until the
       request has ended and its image, if there is one, is released. After an error what it holds
       is worth nothing. A request that is cancelled while a decode thread writes there ends when it
       has done so. NULL: not so */
    void *SDD_NULLABLE pixels;
    /* Bytes there are at `pixels`: at least pixels_stride times the rows of all planes, but for
       what pads the last. Else SDD_DETAIL_IMAGE_BUFFER_TOO_SMALL */
    size_t pixels_size;
    /* Bytes from row to row at `pixels`, those between rows are not touched; 0: as row_alignment
       says. `pixels` and this must be multiples of row_alignment */
    size_t pixels_stride;
    int32_t integrity; /* one of SDD_INTEGRITY_ */
    /* What a body is taken for if nobody knows its first bytes, for formats without a magic number:
       one of SDD_IMAGE_FORMAT_, of an sdd_coder; 0: nothing */
    int32_t format_hint;
    int32_t scaling;  /* one of SDD_SCALING_ */
    int32_t reserved; /* 0 */
} sdd_decode_options;

#define SDD_DECODE_OPTIONS_INIT \
    { sizeof(sdd_decode_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/**
 * Decodes bytes that are in memory, on the calling thread, which WAITS: for tools, tests and
 * bindings.
 *
 * No downloader is needed, and no thread is made. A picture may have up to 134,217,728 pixels (128
 * Mi).
 * @param bytes Borrowed for the call, a whole JPEG or PNG. The image keeps a copy:
 *     sdd_image_bytes().
 * @param size How many there are.
 * @param options How pixels are made. NULL: RGBA8, turned as Exif says, as large as it is.
 * @param image Receives the picture, owned by the caller: release with sdd_image_release(). NULL on
 *     an error.
 * @param detail Receives one of SDD_DETAIL_: what is wrong with the picture; 0 for anything else.
 *     May be NULL.
 * @return SDD_OK; SDD_ERROR_BAD_IMAGE_DATA, and `detail` says why; SDD_ERROR_INVALID_ARGUMENT: also
 *     a number in `options` that does not exist; SDD_ERROR_UNSUPPORTED; SDD_ERROR_NO_RESOURCES: no
 *     memory for the copy.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_decode(const void *SDD_NULLABLE bytes, size_t size,
                                    const sdd_decode_options *SDD_NULLABLE options,
                                    sdd_image *SDD_NULLABLE *SDD_NONNULL image,
                                    int32_t *SDD_NULLABLE detail);

/* ------------------------------------------------------------------------------------- encoding */

/**
 * How much of the colours a JPEG keeps apart from the light: sdd_encode_options.chroma. Since:
 * 0.2.0.
 */
enum {
    SDD_CHROMA_420 = 0, /* half of them in both directions: for photographs */
    SDD_CHROMA_422 = 1, /* half of them in each row */
    SDD_CHROMA_444 = 2  /* all: for drawings and text */
};

/**
 * What is to be made of an image. All 0: the whole of it, as good as can be. Begin with
 * SDD_ENCODE_OPTIONS_INIT.
 *
 * A PNG keeps every pixel; alpha that was multiplied in is taken out again, and is not stored where
 * nothing is transparent. A JPEG is what libjpeg's defaults make, with tables of 8 bits at any
 * quality. Since: 0.2.0.
 */
typedef struct sdd_encode_options {
    size_t struct_size;
    /* One of SDD_IMAGE_FORMAT_; 0: PNG if any pixel is transparent or a side is over 65,500, else
       JPEG. A coder of sdd_coder_register() that encodes it comes first */
    int32_t format;
    /* Of a JPEG: libjpeg's, 1 to 100; 0: 90. Of a coder's: what that makes of it */
    int32_t quality;
    /* Pixels: a larger picture is made to fit inside, as with SDD_FIT_INSIDE; 0: any */
    int32_t max_width;
    int32_t max_height;
    /* 0: any number. A JPEG, and what a coder of the host's encodes, gets the highest quality that
       fits, up to `quality`, found by halving; a PNG is made smaller, by 5 % a side or more each
       time, until it fits, down to one pixel */
    int64_t max_bytes;
    uint32_t background; /* 0xRRGGBB, what shows through alpha in a JPEG; 0: black */
    int32_t progressive; /* 1: a progressive JPEG */
    int32_t chroma;      /* of a JPEG: one of SDD_CHROMA_ */
    int32_t reserved;    /* 0 */
} sdd_encode_options;

#define SDD_ENCODE_OPTIONS_INIT \
    { sizeof(sdd_encode_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Makes a JPEG or PNG of an image's pixels, or what a coder of the process's encodes: see
 * sdd_coder.
 *
 * WAITS for the work, on the calling thread. But for a few rows the pixels are not copied, unless
 * they are made smaller.
 *
 * @param image Borrowed for the call. Its pixels count, not the bytes it came from.
 * @param options Copied. NULL: the defaults.
 * @param out Receives the bytes, owned by the caller: release with sdd_bytes_release(); NULL on an
 *     error.
 * @return SDD_OK; SDD_ERROR_DOES_NOT_FIT: into max_bytes at any quality or size, or a JPEG with a
 *     side over 65,500; SDD_ERROR_NO_RESOURCES: no memory; SDD_ERROR_INVALID_ARGUMENT;
 *     SDD_ERROR_UNSUPPORTED: nobody encodes that format, or its coder would not.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_encode(sdd_image *SDD_NONNULL image,
                                    const sdd_encode_options *SDD_NULLABLE options,
                                    sdd_bytes *SDD_NULLABLE *SDD_NONNULL out);

/**
 * As sdd_image_encode(), to a file descriptor. WAITS for the work and for the writes, on the
 * calling thread.
 *
 * Nothing is written before all is encoded. A pipe that nobody reads any more gives an error, and
 * no SIGPIPE.
 *
 * @param fd Written to from where it stands, and left open.
 * @param system_error Receives the errno of SDD_ERROR_SINK, else 0. May be NULL.
 * @return As sdd_image_encode(); SDD_ERROR_SINK: not all could be written, but a part may be; a
 *     non-blocking descriptor that is full is one of those.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_encode_fd(sdd_image *SDD_NONNULL image,
                                       const sdd_encode_options *SDD_NULLABLE options, int32_t fd,
                                       int32_t *SDD_NULLABLE system_error);

/* ----------------------------------------------------------------------------------- transforms */

/** Kinds of sdd_transform, with their keys: see sdd_transform_key(). Since: 0.2.0. */
enum {
    /* Width, height, fit as in sdd_decode_options: made smaller, never larger.
       "resize(100,80,fill)"; "inside", "stretch" */
    SDD_TRANSFORM_RESIZE = 1,
    /* The part of the picture within x, y, width, height. "crop(10,0,64,64)" */
    SDD_TRANSFORM_CROP = 2,
    SDD_TRANSFORM_FLIP = 3,   /* flip: SDD_FLIP_ bits. "flip(horizontal)"; "vertical", "both" */
    SDD_TRANSFORM_ROTATE = 4, /* degrees: 90, 180 or 270, clockwise. "rotate(90)" */
    /* Radius, corners: what is outside of quarter circles becomes transparent, with soft edges.
       "round(8,15)": the radius and the bits of the corners */
    SDD_TRANSFORM_ROUND_CORNERS = 5,
    SDD_TRANSFORM_CALLBACK = 6 /* what `callback` makes of it. Its key is `key` */
};

/** Bits of sdd_transform.flip. Since: 0.2.0. */
enum {
    SDD_FLIP_HORIZONTAL = 1 << 0, /* left and right change places */
    SDD_FLIP_VERTICAL = 1 << 1    /* top and bottom do */
};

/** Bits of sdd_transform.corners. Since: 0.2.0. */
enum {
    SDD_CORNER_TOP_LEFT = 1 << 0,
    SDD_CORNER_TOP_RIGHT = 1 << 1,
    SDD_CORNER_BOTTOM_LEFT = 1 << 2,
    SDD_CORNER_BOTTOM_RIGHT = 1 << 3
};

/**
 * A transform of the host's.
 *
 * @param image Borrowed until the callback returns: what the transforms before it have made. It has
 *     pixels, but no encoded bytes.
 * @return An image with one reference, which the library takes over: from sdd_image_create(), or
 *     `image` itself after sdd_image_retain(). NULL: it failed.
 * Thread: that which transforms.
 */
typedef sdd_image *SDD_NULLABLE (*sdd_transform_fn)(sdd_image *SDD_NONNULL image,
                                                    void *SDD_NULLABLE user_data) SDD_NOEXCEPT;

/**
 * One thing to be done to an image. `kind` says which of the fields count; the others are not
 * looked at. Begin with SDD_TRANSFORM_INIT. Since: 0.2.0.
 */
typedef struct sdd_transform {
    size_t struct_size;
    int32_t kind; /* one of SDD_TRANSFORM_. Needed */
    int32_t fit;  /* of a resize: one of SDD_FIT_ */
    int32_t x;    /* of a crop: pixels from the left and from the top; may be outside */
    int32_t y;
    int32_t width; /* of a resize: pixels, 0: any, but not both; of a crop: at least 1 */
    int32_t height;
    int32_t flip;    /* of a flip: SDD_FLIP_, at least one */
    int32_t degrees; /* of a rotation */
    /* Of round corners: pixels; more than half the shorter side counts as that half */
    int32_t radius;
    int32_t corners; /* of round corners: SDD_CORNER_; 0: all four */
    /* Of a callback: not empty, without control characters, and never the same for two that do
       different things. Needed */
    const char *SDD_NULLABLE key;
    sdd_transform_fn SDD_NULLABLE callback; /* of a callback. Needed */
    void *SDD_NULLABLE user_data;           /* the callback's */
} sdd_transform;

#define SDD_TRANSFORM_INIT \
    { sizeof(sdd_transform), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/**
 * Makes another image of an image: each transform of what the one before has made.
 *
 * WAITS for the work, on the calling thread. Images are never changed: where nothing is to be done,
 * `out` is `image` with one more reference. What is made keeps sdd_image_format() and the pixel
 * format (but round corners of one without alpha give RGBA8), and has no sdd_image_bytes().
 *
 * @param image Borrowed for the call.
 * @param list count records in a row, copied. The struct_size of the FIRST gives the size of each.
 *     May be NULL if count is 0.
 * @param count At most 256.
 * @param out Receives the image, owned by the caller: release with sdd_image_release(); NULL on an
 *     error.
 * @return SDD_OK; SDD_ERROR_DOES_NOT_FIT: a crop that has nothing of the picture;
 *     SDD_ERROR_BAD_IMAGE_DATA: a callback returned NULL; SDD_ERROR_NO_RESOURCES: no memory;
 *     SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_image_transform(sdd_image *SDD_NONNULL image,
                                       const sdd_transform *SDD_NULLABLE list, size_t count,
                                       sdd_image *SDD_NULLABLE *SDD_NONNULL out);

/**
 * A text that tells transforms from all others: for names of what they have made. The keys of
 * SDD_TRANSFORM_, joined by "-": "resize(100,80,fill)-rotate(90)"; "" for none. It will be the same
 * in every version.
 *
 * @param list, count As for sdd_image_transform().
 * @param buffer, capacity, length As for sdd_downloader_get_header().
 * @return SDD_OK; SDD_ERROR_BUFFER_TOO_SMALL; SDD_ERROR_INVALID_ARGUMENT; SDD_ERROR_UNSUPPORTED.
 * Thread: any. Since: 0.2.0.
 */
SDD_API sdd_status sdd_transform_key(const sdd_transform *SDD_NULLABLE list, size_t count,
                                     char *SDD_NULLABLE buffer, size_t capacity,
                                     size_t *SDD_NULLABLE length);

SDD_END_DECLS

#endif /* SDD_CODEC_H */

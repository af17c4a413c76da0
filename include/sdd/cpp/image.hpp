/*
 * sdd/cpp/image.hpp - Images and their pixels; decoding, encoding and transforming in memory.
 */
#ifndef SDD_CPP_IMAGE_HPP
#define SDD_CPP_IMAGE_HPP

#include "error.hpp"

#include <chrono>
#include <vector>

SDD_CPP_BEGIN

/** Bytes of one pixel in one plane: 3 for SDD_PIXEL_FORMAT_RGB8, 1 for its planar form; 0 for a
    number that is no SDD_PIXEL_FORMAT_. */
constexpr std::size_t bytes_per_pixel(sdd_pixel_format pixel_format) noexcept {
    switch (pixel_format) {
    case SDD_PIXEL_FORMAT_RGBA8:
    case SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED:
    case SDD_PIXEL_FORMAT_BGRA8:
    case SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED: return 4;
    case SDD_PIXEL_FORMAT_RGB8: return 3;
    case SDD_PIXEL_FORMAT_GREY8:
    case SDD_PIXEL_FORMAT_RGB8_PLANAR: return 1;
    case SDD_PIXEL_FORMAT_RGBA16:
    case SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED: return 8;
    default: return 0;
    }
}

/**
 * Pixels in memory that belongs to something else: an image, or the application.
 * Lifetime: that of the memory; for image::pixels(), while a reference to the image is held.
 */
struct pixel_view {
    byte_view bytes; /* all rows of all planes, the top row first; the last one may lack padding */
    int32_t width = 0;
    int32_t height = 0;
    std::size_t stride = 0; /* bytes from the start of one row to the next; 0: without padding */
    sdd_pixel_format format = 0;

    bool empty() const noexcept { return bytes.empty(); }
    /** One row without its padding. y must be from 0 to height - 1; plane is 0, or for
        SDD_PIXEL_FORMAT_RGB8_PLANAR 0 to 2 for red, green, blue. */
    byte_view row(int32_t y, int32_t plane = 0) const noexcept {
        const auto rows = static_cast<std::size_t>(plane) * static_cast<std::size_t>(height) +
                          static_cast<std::size_t>(y);
        return bytes.subspan(rows * step(), row_bytes());
    }
    /** The bytes of one pixel in its row. */
    byte_view at(int32_t x, int32_t y, int32_t plane = 0) const noexcept {
        const std::size_t size = bytes_per_pixel(format);
        return row(y, plane).subspan(static_cast<std::size_t>(x) * size, size);
    }
    /** Bytes that such a picture takes at least. */
    std::size_t needed() const noexcept {
        const std::size_t planes = format == SDD_PIXEL_FORMAT_RGB8_PLANAR ? 3 : 1;
        if (width <= 0 || height <= 0) return 0;
        return (planes * static_cast<std::size_t>(height) - 1) * step() + row_bytes();
    }

private:
    std::size_t row_bytes() const noexcept {
        return static_cast<std::size_t>(width) * bytes_per_pixel(format);
    }
    std::size_t step() const noexcept { return stride != 0 ? stride : row_bytes(); }
};

/**
 * The application's own memory for pixels: derive from it, and point sdd_decode_options.allocator
 * (decode_options has that field) to get().
 *
 * The functions must not call the library. An exception in allocate() is handed on
 * (set_exception_handler()) and counts as no memory.
 * Lifetime: the object must exist as long as images made with it, and requests that ask for it.
 * Thread: decode threads, that of image::decode(), and those that drop an image's last reference;
 *     several at a time.
 */
class pixel_allocator {
public:
    pixel_allocator() noexcept {
        c_.allocate = [](std::size_t size, std::size_t alignment, void *self) noexcept {
            return detail::guarded("pixel_allocator.allocate", static_cast<void *>(nullptr), [&] {
                return static_cast<pixel_allocator *>(self)->allocate(size, alignment);
            });
        };
        c_.release = [](void *pixels, std::size_t size, void *self) noexcept {
            static_cast<pixel_allocator *>(self)->release(pixels, size);
        };
        c_.user_data = this;
    }
    pixel_allocator(const pixel_allocator &) = delete;
    pixel_allocator &operator=(const pixel_allocator &) = delete;
    virtual ~pixel_allocator() = default;

    /** `size` bytes at a multiple of `alignment`, a power of two of at least 16; NULL: none. */
    virtual void *allocate(std::size_t size, std::size_t alignment) = 0;
    virtual void release(void *pixels, std::size_t size) noexcept = 0;

    const sdd_pixel_allocator *get() const noexcept { return &c_; }

private:
    sdd_pixel_allocator c_ = SDD_PIXEL_ALLOCATOR_INIT;
};

/* Options with all fields of the C struct, which begin with its defaults. */
struct decode_options : sdd_decode_options {
    decode_options() noexcept : sdd_decode_options SDD_DECODE_OPTIONS_INIT {}
    /** Scales down to fit into, or to fill, a size in pixels; 0: any. */
    static decode_options to_size(int32_t width, int32_t height, sdd_fit fit = SDD_FIT_INSIDE) {
        decode_options made;
        made.target_width = width;
        made.target_height = height;
        made.fit = fit;
        return made;
    }
};
struct encode_options : sdd_encode_options {
    encode_options() noexcept : sdd_encode_options SDD_ENCODE_OPTIONS_INIT {}
};

/** Facts about a picture, beside its pixels. */
using image_info = sdd_image_info;

/** Where a gain map lies, and what its values mean. */
using gain_map_info = sdd_gain_map_info;

/**
 * What a picture says of its colours.
 * Lifetime: its name and profile, while a reference to the image is held.
 */
struct image_colour : sdd_image_colour {
    image_colour() noexcept : sdd_image_colour SDD_IMAGE_COLOUR_INIT {}
    /** The profile (ICC.1); empty: there is none. */
    byte_view profile() const noexcept {
        return {static_cast<const std::uint8_t *>(icc_profile), icc_profile_size};
    }
};

class transform;
struct animation_frame;

/**
 * A picture: one reference to it, see counted. Immutable; copies share the pixels. It outlives the
 * downloader, loader and cache that it came from.
 * Thread: any. Functions that decode wait for it: pixels(), decode_pixels(), frame(), encode(),
 *     gain_map(), thumbhash(), transformed(). Errors: as results; numbers are 0 where there is no
 *     image.
 */
class image : public counted<sdd_image, sdd_image_retain, sdd_image_release> {
public:
    using counted::counted;

    /** Copies pixels of the application: sdd_image_create(). */
    static result<image> create(const pixel_view &pixels) {
        if (pixels.bytes.size() < pixels.needed())
            return error(SDD_ERROR_INVALID_ARGUMENT, "sdd::image: fewer bytes than pixels.");
        return detail::owner<image, sdd_image>([&](sdd_image **made) {
            return sdd_image_create(pixels.width, pixels.height, pixels.format,
                                    pixels.bytes.data(), pixels.stride, made);
        });
    }
    /** Makes an animated image of frames of one size, which are shown `loop_count` times; 0: for
        ever: sdd_image_create_animation(). */
    static result<image> animation(const std::vector<animation_frame> &frames,
                                   int32_t loop_count = 0);
    /** Decodes a picture in memory and waits for it: sdd_image_decode(). */
    static result<image> decode(byte_view encoded, const decode_options &options = {}) {
        return detail::owner<image, sdd_image>([&](sdd_image **made) {
            return sdd_image_decode(encoded.data(), encoded.size(), &options, made);
        });
    }
    /** Makes a small blurred picture of a ThumbHash: sdd_image_from_thumbhash(). */
    static result<image> from_thumbhash(byte_view hash) {
        return detail::owner<image, sdd_image>([&](sdd_image **made) {
            return sdd_image_from_thumbhash(hash.data(), hash.size(), made);
        });
    }
    /** Reads the facts in the first bytes of a JPEG or PNG: sdd_image_probe(). */
    static result<image_info> probe(byte_view first_bytes) {
        return detail::filled(image_info SDD_IMAGE_INFO_INIT, [&](auto *filled) {
            return sdd_image_probe(first_bytes.data(), first_bytes.size(), filled);
        });
    }
    /** The format of encoded bytes; 0: unknown. */
    static sdd_image_format sniff(byte_view first_bytes) noexcept {
        return sdd_image_sniff(first_bytes.data(), first_bytes.size());
    }

    int32_t width() const noexcept { return sdd_image_width(get()); }
    int32_t height() const noexcept { return sdd_image_height(get()); }
    sdd_pixel_format pixel_format() const noexcept { return sdd_image_pixel_format(get()); }
    /** The pixels, decoded now if they were not; empty if that fails. */
    pixel_view pixels() const noexcept {
        pixel_view made{{}, width(), height(), sdd_image_stride(get()), pixel_format()};
        const std::uint8_t *first = sdd_image_pixels(get()); /* makes their size known */
        if (first != nullptr) made.bytes = {first, info().pixels_size};
        return made;
    }
    /** Decodes the pixels of an image that came with SDD_OPTION_AVOID_DECODE_IMAGE. */
    result<void> decode_pixels() const { return detail::checked(sdd_image_decode_pixels(get())); }
    /** Its format, its frames and more. Never decodes. */
    image_info info() const noexcept {
        image_info made = SDD_IMAGE_INFO_INIT;
        (void)sdd_image_get_info(get(), &made);
        return made;
    }
    /** What the picture says of its colours, also if the pixels were converted. Never decodes. */
    image_colour colour() const noexcept {
        image_colour made;
        (void)sdd_image_get_colour(get(), &made);
        return made;
    }
    /** The encoded bytes that it was decoded from; none: see sdd_image_bytes(). */
    sdd::bytes bytes() const noexcept { return {sdd_image_bytes(get()), retain}; }

    /* Frames of an animation: image_info::frame_count. */

    std::chrono::microseconds frame_duration(int32_t index) const noexcept {
        return std::chrono::microseconds(sdd_image_frame_duration_us(get(), index));
    }
    result<image> frame(int32_t index) const {
        return detail::owner<image, sdd_image>(
            [&](sdd_image **made) { return sdd_image_frame(get(), index, made); });
    }

    /* Metadata. Lifetime: while a reference to the image is held. */

    /** SDD_ERROR_NOT_FOUND: there is none of that kind. */
    result<byte_view> metadata(sdd_metadata_kind kind) const {
        const void *data = nullptr;
        std::size_t size = 0;
        if (sdd_image_metadata(get(), kind, &data, &size) != SDD_OK) return error::of_last_call();
        return byte_view(static_cast<const std::uint8_t *>(data), size);
    }
    std::size_t text_count() const noexcept { return sdd_image_text_count(get()); }
    result<sdd_image_text> text(std::size_t index) const {
        return detail::filled(sdd_image_text SDD_IMAGE_TEXT_INIT, [&](auto *filled) {
            return sdd_image_text_at(get(), index, filled);
        });
    }

    /* The gain map of a JPEG, AVIF or HEIF. SDD_ERROR_NOT_FOUND: there is none. */

    /** Where it lies, and what its values mean: sdd_image_get_gain_map_info(). */
    result<gain_map_info> get_gain_map_info() const {
        return detail::filled(gain_map_info SDD_GAIN_MAP_INFO_INIT, [&](auto *filled) {
            return sdd_image_get_gain_map_info(get(), filled);
        });
    }
    /** Decodes it: sdd_image_gain_map(). */
    result<image> gain_map() const {
        return detail::owner<image, sdd_image>(
            [&](sdd_image **made) { return sdd_image_gain_map(get(), made); });
    }

    /* Encoding and transforming, on the calling thread; downloader::encode() does not wait. */

    result<sdd::bytes> encode(const encode_options &options = {}) const {
        return detail::owner<sdd::bytes, sdd_bytes>(
            [&](sdd_bytes **made) { return sdd_image_encode(get(), &options, made); });
    }
    /** Its ThumbHash, 17 to 25 bytes: sdd_image_thumbhash(). */
    result<sdd::bytes> thumbhash() const {
        return detail::owner<sdd::bytes, sdd_bytes>(
            [&](sdd_bytes **made) { return sdd_image_thumbhash(get(), made); });
    }
    result<image> transformed(const std::vector<transform> &transforms) const;
};

/**
 * One transform of a picture. Copies share the callback.
 * Thread: any. Lifetime: requests keep their transforms until they have ended. Errors: what uses
 * the transform refuses wrong numbers.
 */
class transform {
public:
    /** Makes an image of the result of the transforms before it; none (false): it failed. */
    using function = std::function<image(const image &picture)>;

    static transform resize(int32_t width, int32_t height, sdd_fit fit = SDD_FIT_INSIDE,
                            bool allow_enlarging = false) {
        transform made(SDD_TRANSFORM_RESIZE);
        made.c_.width = width;
        made.c_.height = height;
        made.c_.fit = fit;
        made.c_.allow_enlarging = allow_enlarging;
        return made;
    }
    static transform crop(int32_t x, int32_t y, int32_t width, int32_t height) {
        transform made(SDD_TRANSFORM_CROP);
        made.c_.x = x;
        made.c_.y = y;
        made.c_.width = width;
        made.c_.height = height;
        return made;
    }
    /** flip: SDD_FLIP_ bits. */
    static transform flip(sdd_flip flip) {
        transform made(SDD_TRANSFORM_FLIP);
        made.c_.flip = flip;
        return made;
    }
    /** degrees: clockwise. keep_size: the result is as large as the picture; corners are cut. */
    static transform rotate(double degrees, bool keep_size = false) {
        transform made(SDD_TRANSFORM_ROTATE);
        made.c_.degrees = degrees;
        made.c_.keep_size = keep_size;
        return made;
    }
    /** corners: SDD_CORNER_ bits; 0: all. */
    static transform round_corners(int32_t radius, sdd_corners corners = 0) {
        transform made(SDD_TRANSFORM_ROUND_CORNERS);
        made.c_.radius = radius;
        made.c_.corners = corners;
        return made;
    }
    /** colour: 0xAARRGGBB. radius, corners: those of round_corners(), which the line follows. */
    static transform border(int32_t width, uint32_t colour, int32_t radius = 0,
                            sdd_corners corners = 0) {
        transform made(SDD_TRANSFORM_BORDER);
        made.c_.border = width;
        made.c_.colour = colour;
        made.c_.radius = radius;
        made.c_.corners = corners;
        return made;
    }
    /** Mixes the colours with a colour, 0xAARRGGBB, as far as it is opaque. */
    static transform tint(uint32_t colour) {
        transform made(SDD_TRANSFORM_TINT);
        made.c_.colour = colour;
        return made;
    }
    /** radius: the standard deviation in pixels, as of blur() in CSS. */
    static transform blur(int32_t radius) {
        transform made(SDD_TRANSFORM_BLUR);
        made.c_.radius = radius;
        return made;
    }
    /**
     * Calls the application, on decode threads, several at a time. An exception is handed on
     * (set_exception_handler()), and the transform has failed.
     *
     * @param key Names the result in caches: never the same for functions that do different things.
     */
    static transform callback(std::string key, function call) {
        transform made(SDD_TRANSFORM_CALLBACK);
        made.called_ = std::make_shared<const called>(called{std::move(key), std::move(call)});
        made.c_.key = made.called_->key.c_str();
        made.c_.callback = [](sdd_image *picture, void *user_data) noexcept {
            return detail::guarded("transform", static_cast<sdd_image *>(nullptr), [&] {
                return (*static_cast<kept *>(user_data))->call(image(picture, retain)).release();
            });
        };
        return made;
    }

    /** The C struct, for a call that waits: it borrows the function. */
    sdd_transform get() const noexcept {
        sdd_transform made = c_;
        if (called_) made.user_data = const_cast<kept *>(&called_);
        return made;
    }
    /** The C struct with a reference to the function, which its user_data_free gives back. */
    sdd_transform lend() const {
        sdd_transform made = c_;
        if (called_) {
            made.user_data = new kept(called_);
            made.user_data_free = detail::free_user_data<kept>;
        }
        return made;
    }

private:
    struct called {
        std::string key;
        function call;
    };
    using kept = std::shared_ptr<const called>;
    explicit transform(sdd_transform_kind kind) noexcept { c_.kind = kind; }

    sdd_transform c_ = SDD_TRANSFORM_INIT;
    kept called_;
};

namespace detail {

inline std::vector<sdd_transform> c_transforms(const std::vector<transform> &transforms) {
    std::vector<sdd_transform> made;
    made.reserve(transforms.size());
    for (const transform &each : transforms) made.push_back(each.get());
    return made;
}

/* The transforms of a load in C structs: gives their functions back unless the library has taken
   them. */
class lent_transforms {
public:
    lent_transforms() noexcept = default;
    explicit lent_transforms(const std::vector<transform> &transforms) : lent_transforms() {
        list_.reserve(transforms.size());
        for (const transform &each : transforms) list_.push_back(each.lend());
    }
    ~lent_transforms() {
        if (!is_taken_)
            for (const sdd_transform &each : list_)
                if (each.user_data_free != nullptr) each.user_data_free(each.user_data);
    }
    lent_transforms(const lent_transforms &) = delete;
    lent_transforms &operator=(const lent_transforms &) = delete;

    const sdd_transform *data() const noexcept { return list_.data(); }
    std::size_t size() const noexcept { return list_.size(); }
    void taken() noexcept { is_taken_ = true; }

private:
    std::vector<sdd_transform> list_;
    bool is_taken_ = false;
};

} // namespace detail

/** One frame of image::animation(). */
struct animation_frame {
    image picture;
    std::chrono::microseconds duration{0};
};

inline result<image> image::animation(const std::vector<animation_frame> &frames,
                                      int32_t loop_count) {
    std::vector<sdd_animation_frame> list;
    for (const animation_frame &frame : frames) {
        sdd_animation_frame made = SDD_ANIMATION_FRAME_INIT;
        made.image = frame.picture.get();
        made.duration_us = frame.duration.count();
        list.push_back(made);
    }
    return detail::owner<image, sdd_image>([&](sdd_image **made) {
        return sdd_image_create_animation(list.data(), list.size(), loop_count, made);
    });
}

inline result<image> image::transformed(const std::vector<transform> &transforms) const {
    const auto list = detail::c_transforms(transforms);
    return detail::owner<image, sdd_image>([&](sdd_image **made) {
        return sdd_image_transform(get(), list.data(), list.size(), made);
    });
}

/** The text that identifies transforms: sdd_transform_key(). */
inline result<std::string> transform_key(const std::vector<transform> &transforms) {
    const auto list = detail::c_transforms(transforms);
    return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
        return sdd_transform_key(list.data(), list.size(), buffer, capacity, length);
    });
}

SDD_CPP_END

#endif /* SDD_CPP_IMAGE_HPP */

// Images in memory: pixels and their views, decoding, encoding, transforms, allocators, metadata.
#include "check.hpp"

#include <cstring>
#include <set>
#include <unistd.h>

namespace {

CASE(views_of_memory)
{
    const std::string text = "abcd";
    const sdd::byte_view view = sdd::as_bytes(text);
    CHECK(view.size() == 4 && view[3] == 'd' && view.subspan(1, 2).size() == 2 && view.first(1)[0] == 'a');
    const std::vector<uint8_t> bytes = { 1, 2, 3 };
    const sdd::byte_view of_vector = bytes;
    const uint8_t array[2] = { 7, 8 };
    const sdd::byte_view of_array = array;
    int sum = 0;
    for (const uint8_t each : of_vector) sum += each;
    CHECK(sum == 6 && of_array.size() == 2 && sdd::byte_view().empty());
}

CASE(pixels_have_rows_and_planes)
{
    // 3 x 2, rows of 4 bytes, three planes.
    const uint8_t planar[24] = { 1, 2, 3, 0, 4, 5, 6, 0, 11, 12, 13, 0, 14, 15, 16, 0, 21, 22, 23, 0, 24, 25, 26, 0 };
    const sdd::pixel_view view{ planar, 3, 2, 4, SDD_PIXEL_FORMAT_RGB8_PLANAR };
    CHECK_EQUAL(view.needed(), 23);
    CHECK(view.at(2, 1, 2)[0] == 26 && view.row(1, 1)[0] == 14);
    const sdd::image image = sdd::image::create(view).value();
    const sdd::pixel_view kept = image.pixels();
    for (int32_t plane = 0; plane < 3; plane++)
        for (int32_t y = 0; y < 2; y++)
            CHECK(std::memcmp(kept.row(y, plane).data(), view.row(y, plane).data(), 3) == 0);
    const sdd::pixel_view shorter{ view.bytes.first(22), 3, 2, 4, SDD_PIXEL_FORMAT_RGB8_PLANAR };
    CHECK_STATUS(sdd::image::create(shorter).status(), SDD_ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(sdd::image::create({}).status(), SDD_ERROR_INVALID_ARGUMENT);
    // A stride of 0, which a view has that says nothing of it: rows without padding.
    sdd::pixel_view packed{ view.bytes.first(17), 3, 2, 0, SDD_PIXEL_FORMAT_RGB8_PLANAR };
    CHECK_EQUAL(packed.needed(), 18);
    CHECK_STATUS(sdd::image::create(packed).status(), SDD_ERROR_INVALID_ARGUMENT);
    packed.bytes = view.bytes.first(18);
    CHECK(packed.row(1, 2).data() == planar + 15 && packed.at(1, 1, 2)[0] == planar[16]);
    const sdd::image unpadded = sdd::image::create(packed).value();
    CHECK(std::memcmp(unpadded.pixels().bytes.data(), planar, 18) == 0);
    for (const sdd_pixel_format format : { SDD_PIXEL_FORMAT_RGBA8, SDD_PIXEL_FORMAT_RGBA16, SDD_PIXEL_FORMAT_RGB8,
                                  SDD_PIXEL_FORMAT_GREY8, SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED }) {
        sdd::decode_options options;
        options.pixel_format = format;
        const auto made = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options).value();
        CHECK_EQUAL(made.pixels().stride, 19 * sdd::bytes_per_pixel(format));
        CHECK_EQUAL(made.pixels().bytes.size(), made.pixels().needed());
    }
}

CASE(decoding_and_encoding)
{
    const std::string png = fixture_of("png/rgb8.png");
    const sdd::image image = sdd::image::decode(sdd::as_bytes(png)).value();
    const sdd::image_info info = image.info();
    CHECK(image.width() == 19 && info.format == SDD_IMAGE_FORMAT_PNG && !info.is_preview);
    CHECK(image.bytes().text() == png && info.good_rows == 13);
    CHECK(info.channels == 3 && sdd::image::probe(sdd::as_bytes(png)).value().stored_width == 19);
    CHECK_STATUS(sdd::image::probe(sdd::as_bytes(png).first(9)).status(), SDD_ERROR_INCOMPLETE);
    CHECK(sdd::image().info().frame_count == 0 && sdd::image().info().pixels_size == 0);
    const auto damaged = sdd::image::decode(sdd::as_bytes(png).first(60));
    CHECK(damaged.error().detail() == SDD_DETAIL_IMAGE_TRUNCATED && damaged.error().error_class() == SDD_CLASS_IMAGE);
    CHECK(damaged.error().retryable());

    const sdd::bytes again = image.encode().value();
    CHECK(sdd::image::decode(again.view()).value().width() == 19);
    sdd::encode_options small;
    small.max_bytes = 1;
    CHECK_STATUS(image.encode(small).status(), SDD_ERROR_DOES_NOT_FIT);
    CHECK(image.decode_pixels());
}

CASE(colours)
{
    const std::string jpeg = fixture_of("colour/display-p3.jpg");
    sdd::decode_options options;
    options.colour = SDD_COLOUR_SRGB;
    const sdd::image stored = sdd::image::decode(sdd::as_bytes(jpeg)).value();
    const sdd::image converted = sdd::image::decode(sdd::as_bytes(jpeg), options).value();
    const sdd::image_colour colour = converted.colour();
    CHECK(colour.kind == SDD_COLOUR_KIND_MATRIX && colour.is_converted && !stored.colour().is_converted);
    CHECK(std::string(colour.name) == "Display P3" && stored.info().colour_kind == SDD_COLOUR_KIND_MATRIX);
    CHECK(converted.info().is_converted && !stored.info().is_converted);
    const sdd::byte_view profile = colour.profile(), same = stored.metadata(SDD_METADATA_ICC).value();
    CHECK(profile.size() > 128 && profile.size() == same.size());
    CHECK(std::memcmp(profile.data(), same.data(), same.size()) == 0);
    CHECK(std::memcmp(stored.pixels().bytes.data(), converted.pixels().bytes.data(), 400) != 0);
    const sdd::image points = sdd::image::decode(sdd::as_bytes(fixture_of("colour/gama-chrm.png"))).value();
    CHECK(points.colour().gamma == 55556 && points.colour().chromaticities[0] == 31270);
    CHECK(points.colour().profile().empty());
    CHECK(sdd::image().colour().kind == SDD_COLOUR_KIND_UNSTATED && sdd::image().colour().profile().empty());
}

CASE(gain_maps)
{
    const sdd::image image = sdd::image::decode(sdd::as_bytes(fixture_of("metadata/gain-map.jpg"))).value();
    const sdd::gain_map_info info = image.get_gain_map_info().value();
    CHECK(info.kind == SDD_GAIN_MAP_ULTRA_HDR && info.max_boost[2] == 2.5);
    CHECK(info.offset + info.size == image.bytes().size());
    CHECK(image.gain_map().value().width() == 12);
    const sdd::image none = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value();
    CHECK_STATUS(none.get_gain_map_info().status(), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(none.gain_map().status(), SDD_ERROR_NOT_FOUND);
}

CASE(placeholders)
{
    const sdd::image image = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value();
    const sdd::bytes hash = image.thumbhash().value();
    const sdd::image shown = sdd::image::from_thumbhash(hash.view()).value();
    CHECK(shown.width() == 32 && shown.height() == 23 && shown.pixel_format() == SDD_PIXEL_FORMAT_RGBA8);
    CHECK_STATUS(sdd::image::from_thumbhash(hash.view().first(9)).status(), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK_STATUS(sdd::image::from_thumbhash({}).status(), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK_STATUS(sdd::image().thumbhash().status(), SDD_ERROR_INVALID_ARGUMENT);
}

CASE(transforms)
{
    const sdd::image image = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value();
    CHECK(image.transformed({}).value() == image);
    const sdd::image turned = image.transformed({ sdd::transform::rotate(90) }).value();
    CHECK(turned.width() == 13 && turned.height() == 19);
    CHECK(std::memcmp(turned.pixels().at(12, 0).data(), image.pixels().at(0, 0).data(), 4) == 0);
    CHECK_EQUAL(image.transformed({ sdd::transform::resize(38, 0, SDD_FIT_INSIDE, true) }).value().height(), 26);
    CHECK_STATUS(image.transformed({ sdd::transform::crop(100, 0, 1, 1) }).status(), SDD_ERROR_DOES_NOT_FIT);
    const auto corners =
        image.transformed({ sdd::transform::flip(SDD_FLIP_VERTICAL), sdd::transform::round_corners(5) });
    CHECK_EQUAL(corners.value().pixels().at(0, 0)[3], 0);
    CHECK_EQUAL(image.transformed({ sdd::transform::rotate(45) }).value().width(), 23);
    CHECK_EQUAL(image.transformed({ sdd::transform::rotate(-1.5, true) }).value().width(), 19);
    const auto drawn = image.transformed({ sdd::transform::blur(1), sdd::transform::tint(0xff000000),
                                           sdd::transform::border(1, 0xff010203, 4, SDD_CORNER_TOP_LEFT) });
    CHECK_EQUAL(drawn.value().pixels().at(18, 0)[2], 3);
    CHECK_EQUAL(drawn.value().pixels().at(0, 0)[2], 0);
    CHECK_EQUAL(drawn.value().pixels().at(9, 6)[0], 0);

    Thrown thrown;
    auto alive = std::make_shared<int>(0);
    {
        const auto made = sdd::transform::callback("own", [alive](const sdd::image &picture) {
            if (picture.width() != 19) throw std::runtime_error("too small");
            return picture.width() == 19 ? picture : sdd::image();
        });
        const std::vector<sdd::transform> twice = { made, sdd::transform::crop(0, 0, 5, 5), made };
        CHECK(image.transformed({ made }).value() == image);
        CHECK_STATUS(image.transformed(twice).status(), SDD_ERROR_BAD_IMAGE_DATA);
        CHECK_THROWN(thrown, "transform: too small");
    }
    CHECK_EQUAL(alive.use_count(), 1);
}

// Memory of the application, which counts.
class Pool : public sdd::pixel_allocator {
public:
    void *allocate(std::size_t size, std::size_t alignment) override
    {
        if (is_full) throw std::bad_alloc();
        void *made = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
        allocated++;
        return made;
    }
    void release(void *pixels, std::size_t) noexcept override
    {
        std::free(pixels);
        allocated--;
    }

    bool is_full = false;
    int allocated = 0;
};

CASE(an_allocator)
{
    Thrown thrown;
    Pool pool;
    sdd::decode_options options;
    options.allocator = pool.get();
    sdd::image image = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options).value();
    CHECK_EQUAL(pool.allocated, 1);
    image = {};
    CHECK_EQUAL(pool.allocated, 0);
    pool.is_full = true;
    const auto failed = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options);
    CHECK_EQUAL(failed.error().detail(), SDD_DETAIL_IMAGE_NO_MEMORY);
    CHECK_THROWN(thrown, "pixel_allocator.allocate: std::bad_alloc");
}

CASE(pixels_in_memory_of_the_application)
{
    std::vector<uint8_t> memory(13 * 80, 7);
    sdd::decode_options options;
    options.pixels = memory.data();
    options.pixels_size = memory.size();
    options.pixels_stride = 80;
    const auto image = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options).value();
    CHECK(image.pixels().bytes.data() == memory.data() && image.pixels().stride == 80 && memory[79] == 7);
    CHECK(image.pixels().row(12).data() == memory.data() + 12 * 80);
}

CASE(metadata_and_frames)
{
    const sdd::image animated = sdd::image::decode(sdd::as_bytes(fixture_of("facts/animated.png"))).value();
    CHECK_EQUAL(animated.info().frame_count, 3);
    CHECK_EQUAL(animated.frame(1).value().width(), 12);
    CHECK_STATUS(animated.frame(7).status(), SDD_ERROR_NOT_FOUND);
    CHECK_STATUS(animated.metadata(SDD_METADATA_ICC).status(), SDD_ERROR_NOT_FOUND);
    const sdd::image turned = sdd::image::decode(sdd::as_bytes(fixture_of("facts/orientation.png"))).value();
    const sdd::byte_view exif = turned.metadata(SDD_METADATA_EXIF).value();
    CHECK(exif[0] == exif[1] && (exif[0] == 'M' || exif[0] == 'I'));
    CHECK_EQUAL(turned.info().orientation, 5);
    CHECK(turned.text_count() == 0 && turned.text(0).status() == SDD_ERROR_NOT_FOUND);
}

} // namespace

int main() { return run_cases(); }

// Checks the functions of examples/qt/sdd_qt.hpp: a QImage shares the pixels of its image, and keeps them.
#include "check.hpp"

#include "../../examples/qt/sdd_qt.hpp"

namespace {

int64_t images() { return sdd::process_statistics().value().images; }

CASE(a_qimage_shares_pixels)
{
    sdd::image image = sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value();
    const sdd::pixel_view pixels = image.pixels();
    QImage first = qt_image(image);
    CHECK(first.constBits() == pixels.bytes.data() && first.width() == 19 && first.height() == 13);
    CHECK(first.bytesPerLine() == static_cast<qsizetype>(pixels.stride));
    const QColor corner = first.pixelColor(18, 12);
    CHECK(corner.red() == pixels.at(18, 12)[0] && corner.blue() == pixels.at(18, 12)[2]);
    image = {};
    CHECK_EQUAL(images(), 1);
    QImage second = first;
    first = {};
    CHECK(second.constBits() == pixels.bytes.data() && second.pixelColor(18, 12) == corner);
    QImage changed = second;
    changed.setPixel(0, 0, 0); // of a copy that Qt makes
    CHECK(changed.constBits() != pixels.bytes.data() && second.constBits() == pixels.bytes.data());
    second = {};
    CHECK_EQUAL(images(), 0);
}

CASE(every_format_has_the_same_colours)
{
    const QColor expected = qt_image(sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png"))).value())
                                .pixelColor(3, 4);
    for (const sdd_pixel_format format :
         { SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED, SDD_PIXEL_FORMAT_BGRA8, SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED,
           SDD_PIXEL_FORMAT_RGB8, SDD_PIXEL_FORMAT_RGBA16, SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED }) {
        sdd::decode_options options;
        options.pixel_format = format;
        const QImage made = qt_image(sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options).value());
        if (made.pixelColor(3, 4).rgba() != expected.rgba()) FAIL("format %d has other colours", format);
    }
    sdd::decode_options options;
    options.pixel_format = SDD_PIXEL_FORMAT_RGB8_PLANAR;
    CHECK(qt_image(sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options).value()).isNull());
    CHECK(qt_image(sdd::image()).isNull());
    CHECK_EQUAL(images(), 0);
}

} // namespace

int main() { return run_cases(); }

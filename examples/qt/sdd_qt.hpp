// sdd_qt.hpp: pictures of libsdd as QImage without a copy, and events of libsdd in Qt's event loop.
#ifndef SDD_QT_HPP
#define SDD_QT_HPP

#include <sdd/sdd.hpp>

#include <QImage>
#include <QSocketNotifier>

// The QImage format of pixels of libsdd; Format_Invalid for those that Qt has no format for.
inline QImage::Format qt_format(sdd_pixel_format pixel_format)
{
    switch (pixel_format) {
    case SDD_PIXEL_FORMAT_RGBA8: return QImage::Format_RGBA8888;
    case SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED: return QImage::Format_RGBA8888_Premultiplied;
    case SDD_PIXEL_FORMAT_RGB8: return QImage::Format_RGB888;
    case SDD_PIXEL_FORMAT_GREY8: return QImage::Format_Grayscale8;
    case SDD_PIXEL_FORMAT_RGBA16: return QImage::Format_RGBA64;
    case SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED: return QImage::Format_RGBA64_Premultiplied;
#if Q_BYTE_ORDER == Q_LITTLE_ENDIAN // Qt's ARGB32 is a number, whose lowest byte is blue
    case SDD_PIXEL_FORMAT_BGRA8: return QImage::Format_ARGB32;
    case SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED: return QImage::Format_ARGB32_Premultiplied;
#endif
    default: return QImage::Format_Invalid;
    }
}

// Makes a QImage over the pixels of an image, without copying them. It holds a reference, which the last copy of the
// QImage gives back, on any thread. The pixels are read-only: Qt copies them when something writes to the QImage.
// Decode to SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED for what QPainter draws fastest. Null for a format that Qt lacks.
inline QImage qt_image(const sdd::image &image)
{
    const sdd::pixel_view pixels = image.pixels();
    const QImage::Format format = qt_format(pixels.format);
    if (pixels.empty() || format == QImage::Format_Invalid) return {};
    return QImage(pixels.bytes.data(), pixels.width, pixels.height, static_cast<qsizetype>(pixels.stride), format,
                  [](void *reference) { delete static_cast<sdd::image *>(reference); }, new sdd::image(image));
}

// Delivers the events of a downloader with SDD_DELIVERY_APPLICATION in the event loop of the calling thread, while the
// object exists: callbacks run there, and may use widgets. A few at a time, so that the loop stays responsive: the
// descriptor stays readable while there are more. The downloader must live longer.
class EventDelivery : public QSocketNotifier {
public:
    explicit EventDelivery(sdd::downloader &downloader, QObject *parent = nullptr)
        : QSocketNotifier(downloader.event_fd(), QSocketNotifier::Read, parent)
    {
        QObject::connect(this, &QSocketNotifier::activated, this, [&downloader] { (void)downloader.dispatch(32); });
    }
};

#endif

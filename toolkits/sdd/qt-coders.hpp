/*
 * sdd/qt-coders.hpp - Coders over Qt's image plugins, so that a downloader gives a program in Qt
 * the formats that its QImage reads: GIF, WebP, SVG, the icons of web sites and others. sdd/qt.hpp
 * includes it.
 *
 *     sdd::downloader downloader;
 *     sdd::qt::add_coders(downloader, { "gif", "ico", "webp" }).value();
 *
 * They are coders of the application: SDD_DECODE_ISOLATED does not apply to them, and they come
 * before the coders that are installed beside the library.
 */
#ifndef SDD_QT_CODERS_HPP
#define SDD_QT_CODERS_HPP

#include <sdd/qt.hpp>

#include <QBuffer>
#include <QImageReader>
#include <climits>
#include <map>

SDD_CPP_BEGIN
namespace qt {

namespace detail {

/* Decodes a body, which stays valid as long as it does, by one plugin. */
class plugin_decoder : public decoder {
public:
    explicit plugin_decoder(const QByteArray &format) { reader_.setFormat(format); }

    sdd_status feed(byte_view bytes, bool) override {
        if (bytes.size() > INT_MAX) return SDD_DETAIL_IMAGE_UNSUPPORTED; /* the most in Qt 5 */
        buffer_.setData(QByteArray::fromRawData(reinterpret_cast<const char *>(bytes.data()),
                                                static_cast<int>(bytes.size())));
        buffer_.open(QIODevice::ReadOnly);
        reader_.setDevice(&buffer_);
        reader_.setAutoTransform(true);
        return SDD_OK;
    }
    /* A plugin that cannot tell the size before it decodes is not trusted with the picture. */
    sdd_status estimate(sdd_coder_estimate &estimate) override {
        if (!reader_.canRead()) return SDD_ERROR_BAD_IMAGE_DATA;
        QSize size = reader_.size();
        if (size.isEmpty()) return SDD_DETAIL_IMAGE_UNSUPPORTED;
        if (reader_.transformation().testFlag(QImageIOHandler::TransformationRotate90))
            size.transpose();
        estimate.width = size.width();
        estimate.height = size.height();
        /* Three pictures of four bytes a pixel: the plugin's canvas, its frame and what is made of
           that. */
        estimate.decode_bytes = int64_t{12} * size.width() * size.height() + (1 << 20);
        return SDD_OK;
    }
    sdd_status next(sdd_coder_frame &frame) override {
        const int count = reader_.supportsAnimation() ? std::max(reader_.imageCount(), 1) : 1;
        if (given_ == count) return SDD_ERROR_NOT_FOUND;
        if (!reader_.read(&frame_)) return SDD_ERROR_BAD_IMAGE_DATA;
        given_++;
        frame_ = std::move(frame_).convertToFormat(format_of(native_format));
        if (frame_.isNull()) return SDD_ERROR_NO_RESOURCES;
        frame.pixels = frame_.constBits();
        frame.stride = static_cast<std::size_t>(frame_.bytesPerLine());
        frame.width = frame_.width();
        frame.height = frame_.height();
        frame.pixel_format = native_format;
        profile_ = frame_.colorSpace().iccProfile(); /* empty: the plugin does not say */
        frame.icc_profile = profile_.isEmpty() ? nullptr : profile_.constData();
        frame.icc_profile_size = static_cast<std::size_t>(profile_.size());
        if (count > 1) {
            frame.frame_count = count;
            frame.loop_count = reader_.loopCount() + 1; /* Qt: how often again; -1: for ever */
            frame.duration_us = int64_t{1000} * reader_.nextImageDelay();
        }
        return SDD_OK;
    }

private:
    QBuffer buffer_;
    QImageReader reader_;
    QImage frame_;
    QByteArray profile_;
    int given_ = 0; /* frames */
};

class plugin_coder : public coder {
public:
    explicit plugin_coder(QByteArray format) : format_(std::move(format)) {}

    std::string name() const override { return "qt-" + format_.toStdString(); }
    std::string mime_type() const override {
        for (const QByteArray &type : QImageReader::supportedMimeTypes())
            if (QImageReader::imageFormatsForMimeType(type).contains(format_))
                return type.toStdString();
        return {};
    }
    sdd_image_format format() const override {
        static const std::map<QByteArray, sdd_image_format> known = {
            { "gif", SDD_IMAGE_FORMAT_GIF },   { "webp", SDD_IMAGE_FORMAT_WEBP },
            { "avif", SDD_IMAGE_FORMAT_AVIF }, { "heif", SDD_IMAGE_FORMAT_HEIF },
            { "heic", SDD_IMAGE_FORMAT_HEIF }, { "tiff", SDD_IMAGE_FORMAT_TIFF },
            { "tif", SDD_IMAGE_FORMAT_TIFF },  { "bmp", SDD_IMAGE_FORMAT_BMP },
            { "svg", SDD_IMAGE_FORMAT_SVG },   { "jxl", SDD_IMAGE_FORMAT_JXL },
            { "ico", SDD_IMAGE_FORMAT_ICO },   { "cur", SDD_IMAGE_FORMAT_ICO }
        };
        const auto found = known.find(format_);
        return found != known.end() ? found->second : SDD_IMAGE_FORMAT_APPLICATION;
    }
    int32_t can_decode(byte_view first) override {
        const sdd_image_format sniffed = image::sniff(first);
        if (sniffed == SDD_IMAGE_FORMAT_JPEG || sniffed == SDD_IMAGE_FORMAT_PNG) return 0;
        if (sniffed != 0 && sniffed == format()) return 1;
        QBuffer buffer;
        buffer.setData(QByteArray::fromRawData(
            reinterpret_cast<const char *>(first.data()),
            static_cast<int>(std::min(first.size(), std::size_t{1} << 16))));
        buffer.open(QIODevice::ReadOnly);
        if (QImageReader(&buffer, format_).canRead()) return 1;
        return first.size() < 64 ? -1 : 0;
    }
    bool has_estimates() const override { return true; }
    std::unique_ptr<decoder> open(const sdd_coder_task &) override {
        return std::make_unique<plugin_decoder>(format_);
    }

private:
    const QByteArray format_;
};

} // namespace detail

/**
 * Adds a coder to a downloader for each of these formats, as QImageReader names them, that has a
 * plugin; except for JPEG and PNG, which the library decodes. Where strangers choose the pictures,
 * name the formats that are needed: each plugin is code that decodes in this process.
 *
 * @return SDD_OK, also if there is no plugin for some; as downloader::add_coder().
 * Thread: any, with a QCoreApplication, which knows where plugins are.
 */
inline result<void> add_coders(
    downloader &to, const QList<QByteArray> &formats = QImageReader::supportedImageFormats()) {
    const QList<QByteArray> supported = QImageReader::supportedImageFormats();
    for (const QByteArray &format : formats) {
        if (format == "jpeg" || format == "jpg" || format == "png") continue;
        if (!supported.contains(format)) continue;
        auto added = to.add_coder(std::make_shared<detail::plugin_coder>(format));
        if (!added) return added;
    }
    return {};
}

} // namespace qt
SDD_CPP_END

#endif /* SDD_QT_CODERS_HPP */

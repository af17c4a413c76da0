/*
 * sdd/qt.hpp - Pictures in Qt 6 and 5.15: an image provider for QML, a list model with thumbnails,
 * a widget, coders over Qt's image plugins, and QImage and QPixmap over the pixels of libsdd.
 *
 * Header only, C++17: it needs Qt Gui and libsdd, and sdd.hpp does not include it. The image
 * provider is there with Qt Quick, the widget with Qt Widgets, proxies with Qt Network: where
 * QT_QUICK_LIB, QT_WIDGETS_LIB and QT_NETWORK_LIB are defined, as Qt's CMake targets and .pc files
 * do. The classes have no Q_OBJECT, since moc does not run on installed headers: functions take the
 * place of new signals.
 *
 *     QQmlApplicationEngine engine;
 *     engine.addImageProvider("sdd", new sdd::qt::image_provider);   // C++
 *     Image { source: "image://sdd/" + url; sourceSize: "120x120" }  // QML
 *
 * Sizes      Pictures are decoded to the size at which they are shown, in device pixels.
 * Threads    An object of this header lives on the thread that made it, which has an event loop.
 *            Its functions are called there, and its callbacks come there, wherever the downloader
 *            delivers. to_image() may be called on any thread, to_pixmap() where Qt allows pixmaps.
 * Loaders    nullptr is the shared loader; sdd::loader::get() gives another, with headers, limits
 *            and transforms of the application (sdd::loader_config::options_processor). It may be
 *            destroyed at any time: loads then fail with SDD_ERROR_CLOSED or SDD_ERROR_CANCELLED.
 *            With SDD_DELIVERY_APPLICATION an event_delivery takes its downloader's events.
 * Lifetime   A load is cancelled when its object starts another, is cleared or destroyed. Nothing
 *            is called for it after that.
 * Errors     A load that fails has state::failed and an sdd::error. Starting the same URL again
 *            tries again, with SDD_OPTION_RETRY_FAILED: also while the loader blocks it.
 */
#ifndef SDD_QT_HPP
#define SDD_QT_HPP

#include <sdd/sdd.hpp>

#include <QAbstractListModel>
#include <QColorSpace>
#include <QImage>
#include <QPixmap>
#include <QPointer>
#include <QSocketNotifier>
#include <QThread>
#include <QUrl>
#include <unordered_map>
#ifdef QT_NETWORK_LIB
#include <QNetworkProxy>
#endif

SDD_CPP_BEGIN
namespace qt {

/* ---------------------------------------------------------------------------- pixels and events */

namespace detail {
inline QImage::Format format_of(sdd_pixel_format pixel_format) noexcept {
    switch (pixel_format) {
    case SDD_PIXEL_FORMAT_RGBA8: return QImage::Format_RGBA8888;
    case SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED: return QImage::Format_RGBA8888_Premultiplied;
    case SDD_PIXEL_FORMAT_RGB8: return QImage::Format_RGB888;
    case SDD_PIXEL_FORMAT_GREY8: return QImage::Format_Grayscale8;
    case SDD_PIXEL_FORMAT_RGBA16: return QImage::Format_RGBA64;
    case SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED: return QImage::Format_RGBA64_Premultiplied;
#if Q_BYTE_ORDER == Q_LITTLE_ENDIAN /* Qt's ARGB32 is a number, whose lowest byte is blue */
    case SDD_PIXEL_FORMAT_BGRA8: return QImage::Format_ARGB32;
    case SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED: return QImage::Format_ARGB32_Premultiplied;
#endif
    default: return QImage::Format_Invalid;
    }
}

/* The colours of code points (ITU-T H.273). Films mean a gamma of 2.4 in a PNG, sRGB elsewhere. */
inline QColorSpace colour_space_of(const sdd_image_colour &colour, bool is_png) {
    using transfer = QColorSpace::TransferFunction;
    transfer curve = transfer::Gamma;
    float gamma = 0;
    switch (colour.transfer) {
    case 1: case 6: case 11: case 14: case 15:
        if (is_png) gamma = 2.4F;
        else curve = transfer::SRgb;
        break;
    case 4: gamma = 2.2F; break;
    case 5: gamma = 2.8F; break;
    case 8: curve = transfer::Linear; break;
    case 13: curve = transfer::SRgb; break;
    default: return {};
    }
    switch (colour.primaries) {
    case 1: return { QColorSpace::Primaries::SRgb, curve, gamma };
    case 9:
        return { QPointF(0.3127, 0.3290), QPointF(0.708, 0.292), QPointF(0.170, 0.797),
                 QPointF(0.131, 0.046), curve, gamma };
    case 12: return { QColorSpace::Primaries::DciP3D65, curve, gamma };
    default: return {};
    }
}

/* The colours of gAMA and cHRM of a PNG, which says white, red, green and blue. */
inline QColorSpace colour_space_of_gamma(const sdd_image_colour &colour) {
    const float gamma = 100000.0F / static_cast<float>(colour.gamma);
    const auto point = [&](int i) {
        return QPointF(colour.chromaticities[2 * i], colour.chromaticities[2 * i + 1]) / 100000;
    };
    if (point(0).isNull()) return { QColorSpace::Primaries::SRgb, gamma };
    return { point(0), point(1), point(2), point(3), QColorSpace::TransferFunction::Gamma, gamma };
}

/* The colour space that Qt is told; an invalid one if there is nothing to tell. */
inline QColorSpace colour_space_of(const image &from) {
    const image_colour colour = from.colour();
    if (colour.is_converted || colour.kind == SDD_COLOUR_KIND_SRGB) return QColorSpace::SRgb;
    if (colour.kind == SDD_COLOUR_KIND_HDR) return {};
    const QColorSpace stated = colour_space_of(colour, from.info().format == SDD_IMAGE_FORMAT_PNG);
    if (stated.isValid()) return stated; /* code points come before a profile */
    const byte_view profile = colour.profile();
    if (profile.empty()) return colour.gamma != 0 ? colour_space_of_gamma(colour) : QColorSpace();
    return QColorSpace::fromIccProfile(QByteArray(reinterpret_cast<const char *>(profile.data()),
                                                  static_cast<int>(profile.size())));
}
} // namespace detail

/** The pixel format that QPainter and QPixmap take as it is. */
inline constexpr sdd_pixel_format native_format = Q_BYTE_ORDER == Q_LITTLE_ENDIAN
                                                      ? SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED
                                                      : SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED;

/**
 * Makes a QImage over the pixels of an image, without copying them. It holds a reference, which its
 * last copy gives back, on any thread. The pixels are read-only: Qt copies them when something
 * writes to the QImage. Its QColorSpace is sRGB for colours that were converted, as those of loads
 * are. For colours as stored it is that of the profile, of the code points (with the primaries of
 * BT.709, BT.2020 or P3), or of gAMA and cHRM; it is invalid where Qt has none, as for HDR, and for
 * a picture that says nothing. Null for no image, and for SDD_PIXEL_FORMAT_RGB8_PLANAR.
 */
inline QImage to_image(const image &from) {
    const pixel_view pixels = from.pixels();
    const QImage::Format format = detail::format_of(pixels.format);
    if (pixels.empty() || format == QImage::Format_Invalid) return {};
    QImage made(
        pixels.bytes.data(), pixels.width, pixels.height, static_cast<int>(pixels.stride), format,
        [](void *held) { delete static_cast<image *>(held); }, new image(from));
    made.setColorSpace(detail::colour_space_of(from)); /* copies nothing: no one else has it yet */
    return made;
}

/** Makes the small blurred QImage of a ThumbHash. Null for bytes that are none. */
inline QImage to_image(const QByteArray &thumbhash) {
    if (thumbhash.isEmpty()) return {};
    const auto made = image::from_thumbhash(
        { reinterpret_cast<const std::uint8_t *>(thumbhash.constData()),
          static_cast<std::size_t>(thumbhash.size()) });
    return made ? to_image(*made) : QImage();
}

/** Makes a QPixmap of an image; without a copy if the image has native_format and the platform
    draws in memory, as xcb, wayland and offscreen do. Null as to_image(). */
inline QPixmap to_pixmap(const image &from) {
    return QPixmap::fromImage(to_image(from), Qt::NoOpaqueDetection);
}

/**
 * Delivers the events of a downloader with SDD_DELIVERY_APPLICATION in the event loop of the thread
 * that makes it, while it exists; a few at a time, so that the loop stays responsive. Destroy it
 * before the downloader.
 */
class event_delivery : public QSocketNotifier {
public:
    explicit event_delivery(downloader &of, QObject *parent = nullptr)
        : QSocketNotifier(of.event_fd(), QSocketNotifier::Read, parent) {
        connect(this, &QSocketNotifier::activated, this,
                [handle = of.get()] { (void)sdd_downloader_dispatch(handle, 32, nullptr); });
    }
};

#ifdef QT_NETWORK_LIB
/** The network settings for a proxy: DefaultProxy is that of the environment, NoProxy is none, as
    the caching proxies of FTP are. A SOCKS5 proxy looks names up unless it lacks the capability. */
inline network_options to_network_options(const QNetworkProxy &proxy) {
    network_options made;
    const QNetworkProxy::ProxyType type = proxy.type();
    if (type == QNetworkProxy::DefaultProxy) return made;
    if (type == QNetworkProxy::NoProxy || type == QNetworkProxy::FtpCachingProxy) {
        made.proxy_mode = SDD_PROXY_NONE;
        return made;
    }
    QUrl url;
    const bool looks_up = proxy.capabilities().testFlag(QNetworkProxy::HostNameLookupCapability);
    url.setScheme(QLatin1String(type != QNetworkProxy::Socks5Proxy ? "http"
                                : looks_up                         ? "socks5h"
                                                                   : "socks5"));
    url.setHost(proxy.hostName());
    url.setPort(proxy.port());
    url.setUserName(proxy.user());
    url.setPassword(proxy.password());
    made.proxy = url.toEncoded().toStdString();
    return made;
}
#endif

/* ---------------------------------------------------------------------------------------- loads */

/** The states of a URL. */
enum class state { empty, loading, loaded, failed };

/** The picture that a load is to give. */
struct wish {
    QUrl url{};
    QSize size{};               /* device pixels; 0 or less: any. Pictures are never enlarged */
    sdd_fit fit = SDD_FIT_FILL; /* one of SDD_FIT_ */
    bool previews = true;       /* also shows parts of pictures while they arrive */
    /* Header fields, limits, options, cache levels, other URLs of the picture and the like. Its url
       and its callbacks are not used, nor size, fit and pixel format of its decode options. With
       SDD_OPTION_REFRESH_CACHED the cached picture is shown while the server is asked, and stays if
       that confirms it or fails. */
    load_request request{};
    /* A ThumbHash (sdd::image::thumbhash()), which is shown until there is something of the picture.
       Empty, or bytes that are no hash: nothing is. */
    QByteArray thumbhash{};
};

namespace detail {

/* A load, shared by its owner and its request. Its mutex guards receiver, which is null once the
   load is cancelled or its owner is gone. */
struct load {
    std::mutex mutex;
    QObject *receiver = nullptr;
    std::function<void(result<loaded> outcome, bool is_last)> arrived;
};

/* Runs on the receiver's thread, on which alone loads are cancelled. */
inline void arrive(const std::shared_ptr<load> &load, result<loaded> outcome, bool is_last) {
    {
        const std::lock_guard<std::mutex> lock(load->mutex);
        if (load->receiver == nullptr) return;
    }
    const auto arrived = load->arrived; /* which may destroy the owner */
    arrived(std::move(outcome), is_last);
}

/* Runs where the downloader delivers. The receiver lives while the mutex is locked, and an event
   that was posted to it goes with it. */
inline void hand_over(const sdd_result *from, void *user_data) noexcept {
    const auto load = *static_cast<std::shared_ptr<detail::load> *>(user_data);
    auto outcome = sdd::detail::outcome_of<loaded>(*from);
    const bool is_last = from->is_terminal != 0;
    {
        const std::lock_guard<std::mutex> lock(load->mutex);
        if (load->receiver == nullptr) return;
        if (load->receiver->thread() != QThread::currentThread()) {
            QMetaObject::invokeMethod(
                load->receiver, [load, outcome, is_last] { arrive(load, outcome, is_last); },
                Qt::QueuedConnection);
            return;
        }
    }
    arrive(load, std::move(outcome), is_last);
}

} // namespace detail

/**
 * One picture that is loaded, for views of the application's own: the others of this header use it.
 * Starting it again replaces the load before, which is cancelled.
 * Ownership: not to be copied or moved. Thread: that of `receiver`.
 */
class picture {
public:
    /** receiver: must live as long; its thread runs on_change. loader: nullptr: the shared one. */
    explicit picture(QObject *receiver, sdd_loader *loader = nullptr)
        : receiver_(receiver), loader_(loader) {}
    ~picture() { cancel(); }
    picture(const picture &) = delete;
    picture &operator=(const picture &) = delete;

    /** Called after each change of state and image; it may destroy the picture. */
    std::function<void()> on_change{};

    /** Starts a load. If the URL is that of the picture shown, it stays until the new one is there.
        If it has failed, it is tried again. An empty URL: as clear(). */
    void start(const wish &wanted) {
        const bool is_again = state_ == state::failed && wanted.url == url_;
        cancel();
        error_.reset();
        if (wanted.url != url_ || url_.isEmpty()) show({}), is_whole_ = false;
        url_ = wanted.url;
        if (url_.isEmpty()) return change(state::empty);
        if (image_.isNull()) show(to_image(wanted.thumbhash), true);
        wanted_ = wanted;
        submit(is_again ? sdd_options{ SDD_OPTION_RETRY_FAILED } : 0);
    }
    void clear() { start({}); }

    qt::state state() const noexcept { return state_; }
    /** The image to show: that of wish::thumbhash, a preview or the picture. Null if there is none. */
    const QImage &image() const noexcept { return image_; }
    /** True while the image is that of wish::thumbhash: small, and to be shown enlarged. */
    bool is_placeholder() const noexcept { return is_placeholder_; }
    const QUrl &url() const noexcept { return url_; }
    /** Why the load failed; nothing unless the state is failed. */
    const std::optional<sdd::error> &error() const noexcept { return error_; }

private:
    void submit(sdd_options more_options) {
        load_ = std::make_shared<detail::load>();
        load_->receiver = receiver_;
        load_->arrived = [this](result<loaded> outcome, bool is_last) {
            arrive(std::move(outcome), is_last);
        };
        load_request wanted_request = wanted_.request;
        wanted_request.url = wanted_.url.toEncoded().toStdString();
        wanted_request.options |= more_options;
        if (!wanted_request.decode) wanted_request.decode.emplace();
        wanted_request.decode->target_width = std::max(wanted_.size.width(), 0);
        wanted_request.decode->target_height = std::max(wanted_.size.height(), 0);
        wanted_request.decode->fit = wanted_.fit;
        wanted_request.decode->pixel_format = native_format;
        sdd::detail::c_load request(wanted_request);
        auto kept = std::make_unique<std::shared_ptr<detail::load>>(load_);
        request.c.completed = detail::hand_over;
        if (wanted_.previews) request.c.preview = detail::hand_over;
        const bool refreshes = (wanted_request.options & SDD_OPTION_REFRESH_CACHED) != 0;
        if (refreshes) request.c.cached = detail::hand_over;
        request.c.user_data = kept.get();
        request.c.user_data_free = sdd::detail::free_user_data<std::shared_ptr<detail::load>>;
        token_ = sdd_loader_submit(loader_, &request.c);
        if (token_ == 0) {
            auto reason = sdd::error::of_last_call();
            cancel();
            return fail(std::move(reason));
        }
        request.taken();
        (void)kept.release();
        change(is_whole_ ? state::loaded : state::loading);
    }
    void cancel() {
        if (!load_) return;
        {
            const std::lock_guard<std::mutex> lock(load_->mutex);
            load_->receiver = nullptr;
        }
        load_.reset();
        (void)sdd_cancel(token_);
    }
    void arrive(result<loaded> outcome, bool is_last) {
        const QImage arrived = outcome ? to_image(outcome->image) : QImage();
        const bool is_preview = !is_last && outcome && outcome->image.info().is_preview != 0;
        if (is_last) cancel();
        if (!arrived.isNull() && (!is_preview || !is_whole_)) {
            show(arrived);
            is_whole_ = !is_preview;
        }
        if (!is_last) return change(state_);
        if (is_whole_) return change(state::loaded); /* also a smaller one than was wanted now */
        if (!outcome && outcome.error().status() == SDD_ERROR_NOT_MODIFIED)
            return submit(SDD_OPTION_FROM_CACHE_ONLY); /* the server has confirmed what is there */
        fail(outcome ? sdd::error(SDD_ERROR_BAD_IMAGE_DATA, "The picture has no pixels.")
                     : outcome.error());
    }
    void show(const QImage &next, bool is_placeholder = false) {
        image_ = next;
        is_placeholder_ = is_placeholder && !next.isNull();
    }
    void fail(sdd::error reason) {
        show({}), is_whole_ = false;
        error_ = std::move(reason);
        change(state::failed);
    }
    void change(qt::state next) {
        state_ = next;
        const auto changed = on_change; /* which may destroy this */
        if (changed) changed();
    }

    QObject *const receiver_;
    sdd_loader *const loader_;
    std::shared_ptr<detail::load> load_;
    sdd_token token_ = 0;
    wish wanted_; /* of the load */
    QUrl url_;
    QImage image_;
    bool is_placeholder_ = false;
    bool is_whole_ = false; /* image_ is a whole picture, not a preview */
    qt::state state_ = state::empty;
    std::optional<sdd::error> error_;
};

} // namespace qt
SDD_CPP_END

#include <sdd/qt-coders.hpp>
#include <sdd/qt-views.hpp>

#endif /* SDD_QT_HPP */

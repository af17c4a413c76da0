// Checks sdd/qt.hpp: images and pixmaps share pixels; pictures, the list model, the widget and the image provider for
// QML load at their size, cancel and fail as they say.
//
//     toolkit_qt thread|application       where the downloader delivers
#include "check.hpp"

#include <sdd/qt.hpp>

#include <QApplication>
#include <QElapsedTimer>
#include <QListView>
#include <QPixmapCache>
#include <QQmlApplicationEngine>
#include <QQuickItem>
#include <QQuickWindow>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <unistd.h>

namespace {

constexpr QSize cell(160, 120);
constexpr int rows = 600;

sdd::downloader *downloader;
sdd::loader *loader;

int64_t images() { return sdd::process_statistics().value().images; }
sdd_statistics counts() { return downloader->statistics().value(); }

// Runs the event loop until the condition holds; the watchdog ends a test that waits for ever.
template <class Condition> void run_until(Condition condition)
{
    while (!condition()) {
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 5);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        usleep(1000);
    }
}

void run_until_idle()
{
    run_until([] {
        QPixmapCache::clear(); // where views keep pixmaps that they have drawn
        const sdd_statistics now = counts();
        return now.running + now.waiting + now.decoding == 0 && loader->running_count() == 0 && images() == 0;
    });
}

QUrl file(const char *name) { return QUrl(QString::fromStdString(url_of(std::string("/file/") + name))); }
QUrl missing() { return QUrl(QString::fromStdString(url_of("/status/404"))); }

// A URL that is held back, after so many bytes, until let_go() of that name. The server keeps names.
QUrl held_back(const std::string &name, const char *file, int after = 0)
{
    return QUrl(QString::fromStdString(
        url_of("/hold/" + name + std::to_string(getpid()) + "?file=" + file + "&after=" + std::to_string(after))));
}
void let_go(const std::string &name) { orderf("/release/%s%d", name.c_str(), static_cast<int>(getpid())); }

// Whether an image shows plain.png, which has four colours.
bool is_plain(const QImage &image)
{
    const int right = image.width() * 3 / 4, low = image.height() * 3 / 4;
    const int left = image.width() / 4, high = image.height() / 4;
    return image.pixelColor(left, high).rgb() == 0xffff0000 && image.pixelColor(right, high).rgb() == 0xff00c800 &&
           image.pixelColor(left, low).rgb() == 0xff0000ff && image.pixelColor(right, low).rgb() == 0xffffffff;
}

// ---- pixels

sdd::image decoded(sdd_pixel_format format)
{
    sdd::decode_options options;
    options.pixel_format = format;
    return sdd::image::decode(sdd::as_bytes(fixture_of("png/rgb8.png")), options).value();
}

void a_qimage_shares_pixels()
{
    sdd::image image = decoded(0);
    const sdd::pixel_view pixels = image.pixels();
    QImage first = sdd::qt::to_image(image);
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

void a_qpixmap_shares_pixels()
{
    sdd::image image = decoded(sdd::qt::native_format);
    const uint8_t *pixels = image.pixels().bytes.data();
    QPixmap pixmap = sdd::qt::to_pixmap(image);
    image = {};
    CHECK(pixmap.toImage().constBits() == pixels);
    pixmap = {};
    CHECK_EQUAL(images(), 0);
}

void every_format_has_the_same_colours()
{
    const QColor expected = sdd::qt::to_image(decoded(0)).pixelColor(3, 4);
    for (const sdd_pixel_format format :
         { SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED, SDD_PIXEL_FORMAT_BGRA8, SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED,
           SDD_PIXEL_FORMAT_RGB8, SDD_PIXEL_FORMAT_RGBA16, SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED }) {
        const QImage made = sdd::qt::to_image(decoded(format));
        if (made.pixelColor(3, 4).rgba() != expected.rgba()) FAIL("format %d has other colours", format);
    }
    CHECK(sdd::qt::to_image(decoded(SDD_PIXEL_FORMAT_RGB8_PLANAR)).isNull());
    CHECK(sdd::qt::to_image(sdd::image()).isNull());
    CHECK_EQUAL(images(), 0);
}

// Checks that Qt's conversion of the colours as stored gives those of the library, but for its rounding.
QColorSpace checked_colours(const char *name)
{
    const std::string file = fixture_of(name);
    sdd::decode_options options;
    sdd::image image = sdd::image::decode(sdd::as_bytes(file), options).value();
    const QImage stored = sdd::qt::to_image(image);
    CHECK(stored.constBits() == image.pixels().bytes.data() && stored.colorSpace().isValid());
    options.colour = SDD_COLOUR_SRGB;
    image = sdd::image::decode(sdd::as_bytes(file), options).value();
    const QImage converted = sdd::qt::to_image(image);
    CHECK(converted.constBits() == image.pixels().bytes.data());
    CHECK(converted.colorSpace() == QColorSpace(QColorSpace::SRgb));
    const QImage by_qt = stored.convertedToColorSpace(QColorSpace::SRgb);
    for (int y = 0; y < by_qt.height(); y++)
        for (int x = 0; x < by_qt.width(); x++) {
            const QColor ours = converted.pixelColor(x, y), theirs = by_qt.pixelColor(x, y);
            if (std::abs(ours.red() - theirs.red()) > 3 || std::abs(ours.green() - theirs.green()) > 3 ||
                std::abs(ours.blue() - theirs.blue()) > 3)
                FAIL("%s: %06x at %d, %d, not %06x", name, theirs.rgb(), x, y, ours.rgb());
        }
    return stored.colorSpace();
}

void a_qimage_knows_its_colours()
{
    const QColorSpace profile = checked_colours("colour/display-p3.jpg");
    CHECK(profile.primaries() == QColorSpace::Primaries::DciP3D65);
    CHECK(profile.transferFunction() == QColorSpace::TransferFunction::SRgb);
    CHECK(checked_colours("colour/cicp-p3.png") == QColorSpace(QColorSpace::DisplayP3));
    (void)checked_colours("colour/cicp-2020.png");
    (void)checked_colours("colour/gama-10.png");
    (void)checked_colours("colour/gama-chrm.png");
    for (const char *name : { "colour/cicp-pq.png", "colour/unstated.png", "colour/chrm-alone.png" }) {
        const auto image = sdd::image::decode(sdd::as_bytes(fixture_of(name))).value();
        CHECK(!sdd::qt::to_image(image).colorSpace().isValid());
    }
    const auto srgb = sdd::image::decode(sdd::as_bytes(fixture_of("colour/srgb.png"))).value();
    CHECK(sdd::qt::to_image(srgb).colorSpace() == QColorSpace(QColorSpace::SRgb));
}

// ---- settings

// Whether a downloader with the proxy fetches a name that nothing but a proxy can look up.
bool fetches_by(const QNetworkProxy &proxy)
{
    sdd::downloader_config config;
    config.network = sdd::qt::to_network_options(proxy);
    sdd::downloader own(config);
    return own.submit_wait("http://unknown.invalid/file/plain.png").has_value();
}

void a_proxy_of_qt_is_used()
{
    const QUrl server = file("plain.png");
    const auto port = static_cast<quint16>(server.port());
    CHECK(!fetches_by(QNetworkProxy::NoProxy));
    CHECK(fetches_by(QNetworkProxy(QNetworkProxy::HttpProxy, server.host(), port)));
    const QNetworkProxy socks(QNetworkProxy::Socks5Proxy, QStringLiteral("::1"), 1080, QStringLiteral("a@b"),
                              QStringLiteral("c:d/e"));
    CHECK(sdd::qt::to_network_options(socks).proxy == "socks5h://a%40b:c:d%2Fe@[::1]:1080");
    CHECK_EQUAL(sdd::qt::to_network_options(QNetworkProxy::DefaultProxy).proxy_mode, SDD_PROXY_ENVIRONMENT);
}

// ---- one picture

void a_picture_shows_previews()
{
    QObject receiver;
    sdd::qt::picture picture(&receiver, loader->get());
    std::vector<sdd::qt::state> states;
    picture.on_change = [&] { states.push_back(picture.state()); };
    picture.start({ held_back("late", "late.jpg", 60000), { 240, 240 }, SDD_FIT_INSIDE, true });
    run_until([&] { return !picture.image().isNull(); });
    CHECK(picture.state() == sdd::qt::state::loading && picture.image().size() == QSize(240, 180));
    let_go("late");
    run_until([&] { return picture.state() == sdd::qt::state::loaded; });
    CHECK(states.size() >= 3 && states.front() == sdd::qt::state::loading);
    picture.clear();
    CHECK(states.back() == sdd::qt::state::empty && picture.image().isNull());
    run_until_idle();
}

// The ThumbHash of a red picture.
QByteArray red_hash()
{
    static const uint8_t red[8] = { 255, 0, 0, 255, 255, 0, 0, 255 };
    const auto image = sdd::image::create({ { red, sizeof red }, 2, 1, 8, SDD_PIXEL_FORMAT_RGBA8 });
    const sdd::bytes hash = image.value().thumbhash().value();
    return { reinterpret_cast<const char *>(hash.data()), static_cast<int>(hash.size()) };
}

bool is_red(const QImage &image)
{
    const QColor middle = image.pixelColor(image.width() / 2, image.height() / 2);
    return middle.red() > 240 && middle.green() < 16 && middle.blue() < 16;
}

void a_hash_is_shown_until_the_picture_comes()
{
    QObject receiver;
    sdd::qt::picture picture(&receiver, loader->get());
    sdd::qt::wish wanted{ held_back("hash", "plain.png"), { 80, 60 } };
    wanted.thumbhash = red_hash();
    picture.start(wanted);
    CHECK(picture.state() == sdd::qt::state::loading && picture.is_placeholder() && is_red(picture.image()));
    let_go("hash");
    run_until([&] { return picture.state() == sdd::qt::state::loaded; });
    CHECK(!picture.is_placeholder() && is_plain(picture.image()));
    picture.start(wanted); // the picture stays
    CHECK(is_plain(picture.image()));
    wanted.url = missing();
    picture.start(wanted);
    CHECK(picture.is_placeholder());
    run_until([&] { return picture.state() == sdd::qt::state::failed; });
    CHECK(!picture.is_placeholder() && picture.image().isNull());
    CHECK(sdd::qt::to_image(QByteArray("no hash")).isNull() && sdd::qt::to_image(QByteArray()).isNull());

    sdd::qt::picture_widget widget(nullptr, loader->get());
    widget.resize(cell);
    widget.show();
    widget.set_url(held_back("hash2", "plain.png"), red_hash());
    run_until([&] { return is_red(widget.grab().toImage()); });
    widget.set_url({});

    sdd::qt::thumbnail_model model(cell, loader->get());
    model.set_urls({ held_back("hash3", "plain.png"), held_back("hash4", "plain.png") }, { red_hash() });
    const QPixmap shown = model.data(model.index(0), Qt::DecorationRole).value<QPixmap>();
    CHECK(shown.size() == cell && is_red(shown.toImage()));
    CHECK(model.data(model.index(1), Qt::DecorationRole).value<QPixmap>().isNull());
    model.set_urls({});
    run_until_idle();
}

void a_wish_has_settings_of_a_request()
{
    QObject receiver;
    sdd::qt::picture picture(&receiver, loader->get());
    sdd::qt::wish wanted;
    wanted.url = missing();
    wanted.size = { 80, 60 };
    wanted.request.alternatives = { file("plain.png").toString().toStdString() };
    wanted.request.decode.emplace().target_width = 10; // in place of which `size` is used
    picture.start(wanted);
    run_until([&] { return picture.state() != sdd::qt::state::loading; });
    CHECK(picture.state() == sdd::qt::state::loaded && is_plain(picture.image()) && picture.image().width() == 80);
    picture.clear();
    wanted.request.decode->scale_down_limit_bytes = 4 * 40 * 30;
    picture.start(wanted);
    run_until([&] { return picture.state() != sdd::qt::state::loading; });
    CHECK_EQUAL(picture.image().width(), 40);
    picture.clear();
    wanted.request.options = SDD_OPTION_FROM_CACHE_ONLY; // and there is no cache
    picture.start(wanted);
    run_until([&] { return picture.state() != sdd::qt::state::loading; });
    CHECK_STATUS(picture.error()->status(), SDD_ERROR_NOT_CACHED);
    // A picture that was there is not, once a request for it was refused.
    wanted.request.options = 0;
    picture.start(wanted);
    run_until([&] { return picture.state() == sdd::qt::state::loaded; });
    wanted.request.transforms = { sdd::transform::crop(0, 0, 0, 0) };
    picture.start(wanted);
    CHECK(picture.state() == sdd::qt::state::failed && picture.image().isNull());
    wanted.request.transforms.clear();
    wanted.request.options = SDD_OPTION_FROM_CACHE_ONLY;
    picture.start(wanted);
    CHECK(picture.state() == sdd::qt::state::loading);
    run_until([&] { return picture.state() != sdd::qt::state::loading; });
    CHECK(picture.state() == sdd::qt::state::failed && picture.image().isNull());
    run_until_idle();
}

void a_dead_loader_is_a_failure()
{
    QObject receiver;
    sdd::loader_config config;
    config.downloader = downloader->get();
    sdd::loader dead(config);
    sdd::qt::picture picture(&receiver, dead.get());
    dead.destroy();
    picture.start({ file("plain.png") });
    CHECK(picture.state() == sdd::qt::state::failed);
    CHECK_STATUS(picture.error()->status(), SDD_ERROR_CLOSED);
}

void results_on_their_way_are_dropped()
{
    QObject receiver; // which lives on, with the events that were posted to it
    for (int i = 0; i < 50; i++) {
        sdd::qt::picture picture(&receiver, loader->get());
        picture.on_change = [&] { CHECK(picture.state() == sdd::qt::state::loading); };
        const int64_t before = counts().requests_succeeded;
        picture.start({ file("plain.png"), { 100 + i, 0 } });
        while (counts().requests_succeeded == before) usleep(200); // it arrives, and nothing takes it
        usleep(200);
    }
    run_until_idle();
}

void a_callback_destroys_its_picture()
{
    QObject receiver;
    auto picture = std::make_unique<sdd::qt::picture>(&receiver, loader->get());
    picture->on_change = [&] {
        if (picture->state() == sdd::qt::state::loaded) picture.reset();
    };
    picture->start({ file("plain.png") });
    run_until([&] { return !picture; });
    run_until_idle();
}

void a_url_that_failed_is_tried_again()
{
    const auto has_status = [](const sdd::qt::picture &picture, sdd_status status) {
        run_until([&] { return picture.state() != sdd::qt::state::loading; });
        CHECK_STATUS(picture.error()->status(), status);
    };
    sdd::loader_config config;
    config.downloader = downloader->get();
    config.no_cache = true;
    sdd::loader blocking(config);
    QObject receiver;
    sdd::qt::picture picture(&receiver, blocking.get()), other(&receiver, blocking.get());
    for (int i = 0; i < 2; i++) {
        picture.start({ missing() });
        has_status(picture, SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    }
    other.start({ missing() });
    has_status(other, SDD_ERROR_BLOCKED);

    sdd::qt::picture_widget widget(nullptr, blocking.get());
    widget.resize(cell);
    widget.show();
    widget.set_url(missing());
    has_status(widget.shown(), SDD_ERROR_BLOCKED);
    widget.resize(2 * cell); // which is no wish of a person
    CHECK(widget.state() == sdd::qt::state::failed);
    widget.set_url(missing());
    has_status(widget.shown(), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);

    sdd::qt::thumbnail_model model(cell, blocking.get());
    model.set_urls({ missing() });
    const QModelIndex row = model.index(0);
    const auto error = [&] {
        (void)row.data(Qt::DecorationRole);
        run_until([&] { return model.loading_count() == 0; });
        return row.data(sdd::qt::thumbnail_model::error_role).toString();
    };
    const QString blocked = error();
    model.retry(0);
    CHECK(error().contains(QStringLiteral("404")) && error() != blocked);

    sdd::qt::image_provider provider(blocking.get());
    for (const QString &prefix : { QString(), QStringLiteral("retry:") }) {
        const std::unique_ptr<QQuickImageResponse> response(
            provider.requestImageResponse(prefix + missing().toString(), {}));
        bool is_finished = false;
        QObject::connect(response.get(), &QQuickImageResponse::finished, &receiver, [&] { is_finished = true; });
        run_until([&] { return is_finished; });
        CHECK((response->errorString() == blocked) == prefix.isEmpty());
    }
    run_until_idle();
}

void a_confirmed_picture_is_loaded()
{
    sdd::cache_config keeping;
    keeping.name = "toolkit-qt" + std::to_string(getpid());
    sdd::cache cache(keeping);
    sdd::loader_config config;
    config.downloader = downloader->get();
    config.cache = cache.get();
    sdd::loader refreshing(config);
    QObject receiver;
    for (int i = 0; i < 2; i++) {
        sdd::qt::picture picture(&receiver, refreshing.get());
        bool was_shown = false;
        picture.on_change = [&] {
            if (picture.state() == sdd::qt::state::loading && !picture.image().isNull()) was_shown = true;
        };
        sdd::qt::wish wanted{ file("plain.png"), cell, SDD_FIT_FILL, false };
        wanted.request.options = SDD_OPTION_REFRESH_CACHED;
        picture.start(wanted);
        run_until([&] { return picture.state() != sdd::qt::state::loading; });
        CHECK(picture.state() == sdd::qt::state::loaded && is_plain(picture.image()));
        CHECK(was_shown == (i == 1));
        picture.clear();
        CHECK(cache.flush_wait().has_value());
    }
}

// ---- coders over Qt's plugins

// The end of a download of the bytes by a downloader of its own, with the coders of the formats.
sdd::result<sdd::loaded> decoded_by_plugins(const QByteArray &bytes, const QList<QByteArray> &formats)
{
    sdd::downloader_config config;
    config.no_installed_coders = true;
    sdd::downloader own(config);
    CHECK(sdd::qt::add_coders(own, formats).has_value());
    sdd::download_request request;
    request.url = "data:," + bytes.toPercentEncoding().toStdString();
    return own.submit_wait(request);
}

QByteArray encoded(const QImage &image, const char *format)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    CHECK(buffer.open(QIODevice::WriteOnly) && image.save(&buffer, format));
    return bytes;
}

void plugins_of_qt_decode()
{
    QImage drawn(48, 36, QImage::Format_RGB32);
    drawn.fill(QColor(10, 200, 30));
    drawn.setPixelColor(47, 0, QColor(250, 5, 120));
    for (const char *format : { "bmp", "ico", "ppm" }) {
        const QByteArray bytes = encoded(drawn, format);
        CHECK_STATUS(decoded_by_plugins(bytes, {}).error().status(), SDD_ERROR_BAD_IMAGE_DATA);
        const auto loaded = decoded_by_plugins(bytes, { "jpeg", "unknown", format });
        if (!loaded) FAIL("%s: %s", format, loaded.error().what());
        CHECK(sdd::qt::to_image(loaded->image).convertToFormat(QImage::Format_RGB32) == drawn);
        const sdd_image_format expected =
            QByteArray(format) == "bmp"   ? SDD_IMAGE_FORMAT_BMP
            : QByteArray(format) == "ico" ? SDD_IMAGE_FORMAT_ICO
                                          : SDD_IMAGE_FORMAT_APPLICATION;
        CHECK_EQUAL(loaded->image.info().format, expected);
    }
    CHECK(decoded_by_plugins(encoded(drawn, "png"), QImageReader::supportedImageFormats())->image.info().format ==
          SDD_IMAGE_FORMAT_PNG);
    drawn.setColorSpace(QColorSpace::DisplayP3);
    for (const char *format : { "webp", "tiff" }) {
        if (!QImageReader::supportedImageFormats().contains(format)) continue;
        const auto loaded = decoded_by_plugins(encoded(drawn, format), { format });
        CHECK(loaded && loaded->image.colour().kind == SDD_COLOUR_KIND_MATRIX);
        CHECK(sdd::qt::to_image(loaded->image).colorSpace().primaries() == QColorSpace::Primaries::DciP3D65);
    }
    const QByteArray cut = encoded(drawn, "ppm").left(200);
    CHECK_STATUS(decoded_by_plugins(cut, { "ppm" }).error().status(), SDD_ERROR_BAD_IMAGE_DATA);
    CHECK_EQUAL(images(), 0);
}

void plugins_of_qt_decode_animations()
{
    const std::string file = fixture_of("coders/moving.gif");
    const auto loaded = decoded_by_plugins(QByteArray::fromStdString(file), { "gif" });
    CHECK(loaded.has_value() && loaded->image.info().format == SDD_IMAGE_FORMAT_GIF);
    QByteArray bytes = QByteArray::fromStdString(file);
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::ReadOnly);
    QImageReader reader(&buffer, "gif");
    const int frames = reader.imageCount();
    CHECK(frames > 1 && loaded->image.info().frame_count == frames);
    for (int i = 0; i < frames; i++) {
        const QImage expected = reader.read().convertToFormat(QImage::Format_ARGB32_Premultiplied);
        const QImage frame = sdd::qt::to_image(loaded->image.frame(i).value());
        CHECK(frame.convertToFormat(QImage::Format_ARGB32_Premultiplied) == expected);
        CHECK(loaded->image.frame_duration(i) == std::chrono::milliseconds(reader.nextImageDelay()));
    }
}

// ---- the widget

void a_widget_loads_at_its_size()
{
    sdd::qt::picture_widget widget(nullptr, loader->get());
    widget.resize(cell);
    widget.set_url(file("plain.png"));
    CHECK(widget.state() == sdd::qt::state::loading && loader->running_count() == 0); // it is not shown yet
    widget.show();
    run_until([&] { return widget.state() == sdd::qt::state::loaded; });
    CHECK(widget.shown().image().size() == cell * widget.devicePixelRatioF());
    CHECK(is_plain(widget.grab().toImage()));
    widget.set_url(file("large.png"));
    run_until([&] { return widget.state() == sdd::qt::state::loaded; });
    widget.resize(2 * cell);
    run_until([&] { return widget.shown().image().width() >= 2 * cell.width() * widget.devicePixelRatioF(); });
    CHECK(widget.state() == sdd::qt::state::loaded); // it showed the small one meanwhile
}

void a_widget_shows_placeholder_and_failure()
{
    sdd::qt::picture_widget widget(nullptr, loader->get());
    QPixmap placeholder(4, 4), failure(4, 4);
    placeholder.fill(Qt::gray);
    failure.fill(Qt::magenta);
    widget.set_placeholder(placeholder);
    widget.set_failure(failure);
    widget.set_fit(SDD_FIT_STRETCH);
    widget.resize(cell);
    widget.show();
    widget.set_url(held_back("widget", "plain.png"));
    CHECK(widget.grab().toImage().pixelColor(80, 60) == QColor(Qt::gray));
    widget.set_url(missing());
    run_until([&] { return widget.state() != sdd::qt::state::loading; });
    CHECK(widget.state() == sdd::qt::state::failed);
    CHECK_STATUS(widget.shown().error()->status(), SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE);
    CHECK(widget.grab().toImage().pixelColor(80, 60) == QColor(Qt::magenta));
    widget.set_url({});
    CHECK(widget.state() == sdd::qt::state::empty);
    run_until_idle();
}

void a_window_goes_in_mid_load()
{
    const int64_t before = counts().requests_cancelled;
    auto widget = std::make_unique<sdd::qt::picture_widget>(nullptr, loader->get());
    widget->resize(cell);
    widget->show();
    widget->set_url(held_back("gone", "late.jpg", 60000));
    run_until([] { return counts().running == 1; });
    widget.reset();
    run_until([&] { return counts().requests_cancelled == before + 1; });
    run_until_idle();
}

void a_callback_destroys_its_widget_in_set_url()
{
    for (const sdd::qt::state last : { sdd::qt::state::empty, sdd::qt::state::loading }) {
        auto *widget = new sdd::qt::picture_widget(nullptr, loader->get());
        widget->resize(cell);
        widget->show();
        if (last == sdd::qt::state::empty) widget->set_url(file("plain.png"));
        bool is_gone = false;
        widget->on_change = [&is_gone, widget, last] {
            if (is_gone || widget->state() != last) return;
            is_gone = true;
            delete widget;
        };
        widget->set_url(last == sdd::qt::state::empty ? QUrl() : file("plain.png"));
        CHECK(is_gone);
    }
    run_until_idle();
}

void a_widget_that_grows_loads_seldom()
{
    sdd::qt::picture_widget widget(nullptr, loader->get());
    widget.resize(cell);
    widget.set_url(file("large.png"));
    widget.show();
    run_until([&] { return widget.state() == sdd::qt::state::loaded; });
    const int64_t before = counts().requests;
    for (int i = 1; i <= 30; i++) {
        widget.resize(cell + QSize(i, i));
        run_until([&] { return widget.shown().image().width() >= widget.width() * widget.devicePixelRatioF(); });
    }
    CHECK_EQUAL(counts().requests - before, 1);
}

// A view on a screen whose device pixels a test chooses.
template <class View> class on_screen : public View {
public:
    using View::View;
    qreal ratio = 1;

protected:
    int metric(QPaintDevice::PaintDeviceMetric metric) const override
    {
        if (metric == QPaintDevice::PdmDevicePixelRatio) return qRound(ratio);
        if (metric == QPaintDevice::PdmDevicePixelRatioScaled)
            return static_cast<int>(ratio * QPaintDevice::devicePixelRatioFScale());
        return View::metric(metric);
    }
};

void views_come_to_another_screen()
{
    on_screen<sdd::qt::picture_widget> widget(nullptr, loader->get());
    widget.resize(cell);
    widget.set_url(file("large.png"));
    widget.show();
    run_until([&] { return widget.shown().image().size() == cell; });
    widget.ratio = 2;
    widget.update(); // as the window system asks for
    run_until([&] { return widget.shown().image().width() >= 2 * cell.width(); });

    on_screen<QListView> view;
    sdd::qt::thumbnail_model model(cell, loader->get());
    model.set_urls({ file("large.png") });
    model.attach(&view);
    view.show();
    const auto thumbnail = [&] { return model.index(0).data(Qt::DecorationRole).value<QPixmap>(); };
    run_until([&] { return thumbnail().size() == cell; });
    view.ratio = 2;
    view.viewport()->update();
    run_until([&] { return thumbnail().size() == 2 * cell; });
}

// ---- the list model

void a_view_shows_thumbnails_and_failures()
{
    QListView view;
    sdd::qt::thumbnail_model model(cell, loader->get());
    model.set_urls({ file("plain.png"), missing() });
    model.attach(&view);
    view.resize(480, 360);
    view.show();
    const auto state_of = [&](int row) {
        return static_cast<sdd::qt::state>(model.index(row).data(model.state_role).toInt());
    };
    run_until([&] { return state_of(0) == sdd::qt::state::loaded && state_of(1) == sdd::qt::state::failed; });
    const QPixmap thumbnail = model.index(0).data(Qt::DecorationRole).value<QPixmap>();
    CHECK(thumbnail.size() == cell * view.devicePixelRatioF() && is_plain(thumbnail.toImage()));
    CHECK(model.index(1).data(model.error_role).toString().contains(QStringLiteral("404")));
    const QRect drawn(view.visualRect(model.index(0)));
    const QImage shown = view.viewport()->grab(drawn).toImage();
    CHECK(shown.pixelColor(shown.width() / 8, shown.height() / 4).rgb() == 0xffff0000);
    CHECK_EQUAL(model.held_count(), 2);
    model.set_urls({});
    CHECK_EQUAL(model.held_count(), 0);
}

void scrolling_a_view_cancels()
{
    const sdd_statistics before = counts();
    auto view = std::make_unique<QListView>();
    auto model = std::make_unique<sdd::qt::thumbnail_model>(cell, loader->get());
    QList<QUrl> urls;
    for (int i = 0; i < rows; i++) urls.append(held_back("row" + std::to_string(i), "plain.png"));
    model->set_urls(urls);
    model->attach(view.get());
    view->resize(480, 360);
    view->show();
    run_until([] { return counts().running > 0; });
    CHECK(model->loading_count() > 0 && model->loading_count() < 20); // only rows in sight
    view->scrollToBottom();
    run_until([&] { return counts().requests_cancelled > before.requests_cancelled; });
    run_until([&] { return model->index(rows - 1).data(model->state_role).toInt() != 0; });
    CHECK(model->index(0).data(model->state_role).toInt() == 0 && model->held_count() < 20);
    view.reset();
    model.reset();
    run_until_idle();
    CHECK_EQUAL(counts().requests_succeeded, before.requests_succeeded);
}

void rows_in_sight_of_any_view_stay()
{
    QListView first, second;
    sdd::qt::thumbnail_model model(cell, loader->get());
    QList<QUrl> urls;
    for (int i = 0; i < rows; i++) urls.append(held_back("both" + std::to_string(i), "plain.png"));
    model.set_urls(urls);
    for (QListView *view : { &first, &second }) {
        view->resize(480, 360);
        model.attach(view);
        view->show();
    }
    const auto state_of = [&](int row) { return model.index(row).data(model.state_role).toInt(); };
    run_until([&] { return state_of(0) != 0; });
    run_until([&] { return second.verticalScrollBar()->maximum() > 0; });
    second.scrollToBottom();
    CHECK(state_of(0) != 0); // the first view is not drawn in between
    run_until([&] { return state_of(rows - 1) != 0; });
    CHECK(state_of(0) != 0);
    first.scrollToBottom();
    run_until([&] { return state_of(0) == 0; });
}

void a_proxy_model_stays()
{
    QListView view;
    sdd::qt::thumbnail_model model(cell, loader->get());
    QList<QUrl> urls;
    for (int i = 0; i < rows; i++) urls.append(held_back("proxy" + std::to_string(i), "plain.png"));
    model.set_urls(urls);
    QSortFilterProxyModel filter;
    filter.setSourceModel(&model);
    filter.setFilterRole(sdd::qt::thumbnail_model::url_role);
    filter.setFilterRegularExpression(QString::fromStdString("[02468]" + std::to_string(getpid()) + "\\?"));
    view.setModel(&filter);
    model.attach(&view);
    CHECK(view.model() == &filter && filter.rowCount() == rows / 2);
    view.resize(480, 360);
    view.show();
    run_until([&] { return model.held_count() > 0; });
    view.scrollToBottom();
    run_until([&] { return model.index(rows - 2).data(model.state_role).toInt() != 0; });
    CHECK(model.index(0).data(model.state_role).toInt() == 0 && model.held_count() < 20);
}

// ---- QML

// An engine that shows a scene with the provider, whose root has the properties that the tests set.
class Scene {
public:
    Scene()
    {
        engine.addImageProvider(QStringLiteral("sdd"), new sdd::qt::image_provider(loader->get()));
        engine.loadData(R"(
import QtQuick 2.15
import QtQuick.Window 2.15
Window {
    property var urls: []
    property alias at: grid.contentY
    property int failed: 0
    width: 480; height: 360; visible: true
    GridView {
        id: grid
        anchors.fill: parent
        cellWidth: 160; cellHeight: 120
        model: urls
        delegate: Image {
            width: 160; height: 120; sourceSize: "160x120"; cache: false
            source: "image://sdd/" + modelData
            onStatusChanged: if (status === Image.Error) failed++
        }
    }
})");
        CHECK_EQUAL(engine.rootObjects().size(), 1);
        window = qobject_cast<QQuickWindow *>(engine.rootObjects().first());
    }
    void show(const QStringList &urls) { window->setProperty("urls", urls); }

    QQmlApplicationEngine engine;
    QQuickWindow *window;
};

void qml_shows_pictures_and_failures()
{
    Scene scene;
    scene.show({ file("plain.png").toString(), missing().toString(), file("a b%2F?x=1&y=%20#z").toString() });
    const int side = static_cast<int>(160 * scene.window->effectiveDevicePixelRatio());
    run_until([&] { return is_plain(scene.window->grabWindow().copy(0, 0, side, side * 3 / 4)); });
    run_until([&] { return scene.window->property("failed").toInt() == 2; });
}

void scrolling_qml_cancels()
{
    const sdd_statistics before = counts();
    auto scene = std::make_unique<Scene>();
    QStringList urls;
    for (int i = 0; i < rows; i++) urls += held_back("qml" + std::to_string(i), "plain.png").toString();
    scene->show(urls);
    run_until([] { return counts().running > 0; });
    CHECK(loader->running_count() < rows / 2);
    run_until([&] { // scrolls by a page, as a user does
        scene->window->setProperty("at", scene->window->property("at").toDouble() + scene->window->height());
        return counts().requests_cancelled > before.requests_cancelled;
    });
    run_until([&] { return counts().running > 0; });
    scene.reset(); // in mid-load
    run_until_idle();
    CHECK_EQUAL(counts().requests_succeeded, before.requests_succeeded);
}

} // namespace

int main(int argc, char **argv)
{
    start_watchdog();
    CHECK_EQUAL(argc, 2);
    QApplication application(argc, argv);
    QApplication::setQuitOnLastWindowClosed(false);
    sdd::downloader_config config;
    const bool in_thread = std::string(argv[1]) == "thread";
    config.delivery = in_thread ? SDD_DELIVERY_THREAD : SDD_DELIVERY_APPLICATION;
    sdd::downloader own_downloader(config);
    downloader = &own_downloader;
    std::unique_ptr<sdd::qt::event_delivery> delivery;
    if (!in_thread) delivery = std::make_unique<sdd::qt::event_delivery>(own_downloader);
    sdd::loader_config loading;
    loading.downloader = own_downloader.get();
    loading.no_cache = true;
    loading.fail_policy = SDD_FAIL_POLICY_NONE;
    sdd::loader own_loader(loading);
    loader = &own_loader;

    RUN(a_qimage_shares_pixels);
    RUN(a_qpixmap_shares_pixels);
    RUN(every_format_has_the_same_colours);
    RUN(a_qimage_knows_its_colours);
    RUN(a_proxy_of_qt_is_used);
    RUN(a_picture_shows_previews);
    RUN(a_hash_is_shown_until_the_picture_comes);
    RUN(a_wish_has_settings_of_a_request);
    RUN(a_dead_loader_is_a_failure);
    RUN(results_on_their_way_are_dropped);
    RUN(a_callback_destroys_its_picture);
    RUN(a_url_that_failed_is_tried_again);
    RUN(a_confirmed_picture_is_loaded);
    RUN(plugins_of_qt_decode);
    RUN(plugins_of_qt_decode_animations);
    RUN(a_widget_loads_at_its_size);
    RUN(a_widget_shows_placeholder_and_failure);
    RUN(a_window_goes_in_mid_load);
    RUN(a_callback_destroys_its_widget_in_set_url);
    RUN(a_widget_that_grows_loads_seldom);
    RUN(views_come_to_another_screen);
    RUN(a_view_shows_thumbnails_and_failures);
    RUN(scrolling_a_view_cancels);
    RUN(rows_in_sight_of_any_view_stay);
    RUN(a_proxy_model_stays);
    RUN(qml_shows_pictures_and_failures);
    RUN(scrolling_qml_cancels);
    delivery.reset();
    return 0;
}

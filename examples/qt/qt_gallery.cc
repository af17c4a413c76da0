// qt_gallery: pictures in a window of Qt 6, shown while they arrive. Their pixels are painted from libsdd's memory, and
// all callbacks run in Qt's event loop.
//
//     qt_gallery [-q] URL...
//
//     -q   quits when all pictures have been shown; exit status 0: each URL ended with a picture
//
// Prints a line for each change: "preview URL", "picture URL X Y WIDTH HEIGHT" (its place on the screen, in pixels),
// "failed URL: REASON", and at last "complete".
#include "sdd_qt.hpp"

#include <QApplication>
#include <QPaintEvent>
#include <QPainter>
#include <QTimer>
#include <QWidget>
#include <cstdio>
#include <vector>

static constexpr int side = 240, margin = 8, columns = 3; // pixels

class Gallery : public QWidget {
public:
    Gallery(sdd::loader &loader, const QStringList &urls, bool quits) : loader_(loader), quits_(quits)
    {
        const int rows = (static_cast<int>(urls.size()) + columns - 1) / columns;
        setFixedSize(columns * (side + margin) + margin, rows * (side + margin) + margin);
        for (const QString &url : urls) cells_.push_back({ url.toStdString(), {}, {} });
        for (std::size_t i = 0; i < cells_.size(); i++) begin(i);
    }

protected:
    void paintEvent(QPaintEvent *event) override
    {
        QPainter painter(this);
        painter.fillRect(event->rect(), Qt::black);
        for (std::size_t i = 0; i < cells_.size(); i++)
            if (!cells_[i].image.isNull() && place(i).intersects(event->rect()))
                painter.drawImage(place(i).topLeft(), cells_[i].image);
    }

private:
    struct Cell {
        std::string url;
        QImage image;
        sdd::pending<sdd::loaded> load; // cancelled with the window
    };

    void begin(std::size_t i)
    {
        sdd::load_request request;
        request.url = cells_[i].url;
        request.decode = sdd::decode_options::to_size(side, side);
        request.decode->pixel_format = SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED;
        request.on_preview = [this, i](const sdd::loaded &preview) {
            show_image(i, preview.image);
            std::printf("preview %s\n", cells_[i].url.c_str());
        };
        request.on_completed = [this, i](const sdd::result<sdd::loaded> &loaded) { end(i, loaded); };
        cells_[i].load = loader_.load(request);
    }

    void show_image(std::size_t i, const sdd::image &image)
    {
        cells_[i].image = qt_image(image);
        update(QRect(place(i).topLeft(), QSize(side, side)));
    }

    void end(std::size_t i, const sdd::result<sdd::loaded> &loaded)
    {
        if (loaded) {
            show_image(i, loaded->image);
            const QRect on_screen(mapToGlobal(place(i).topLeft()), cells_[i].image.size());
            std::printf("picture %s %d %d %d %d\n", cells_[i].url.c_str(), on_screen.x(), on_screen.y(),
                        on_screen.width(), on_screen.height());
            pictures_++;
        } else {
            std::printf("failed %s: %s\n", cells_[i].url.c_str(), loaded.error().what());
        }
        if (++ended_ < cells_.size()) return;
        std::printf("complete\n");
        if (quits_) QTimer::singleShot(0, this, [this] { QApplication::exit(pictures_ == cells_.size() ? 0 : 1); });
    }

    // The place of a picture in the window: at the top left of its cell.
    QRect place(std::size_t i) const
    {
        const int cell = static_cast<int>(i);
        const QSize size = cells_[i].image.size();
        const QPoint corner(margin + cell % columns * (side + margin), margin + cell / columns * (side + margin));
        return QRect(corner, size.isEmpty() ? QSize(side, side) : size);
    }

    sdd::loader &loader_;
    const bool quits_;
    std::vector<Cell> cells_;
    std::size_t ended_ = 0, pictures_ = 0;
};

int main(int argc, char **argv)
try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    QApplication application(argc, argv);
    QStringList urls = application.arguments().mid(1);
    const bool quits = urls.removeAll(QStringLiteral("-q")) > 0;
    if (urls.isEmpty()) {
        std::fprintf(stderr, "usage: qt_gallery [-q] URL...\n");
        return 2;
    }
    sdd::downloader_config config;
    config.delivery = SDD_DELIVERY_APPLICATION;
    sdd::downloader downloader(config);
    sdd::loader_config loading;
    loading.downloader = downloader.get();
    sdd::loader loader(loading);
    const EventDelivery delivery(downloader);
    Gallery gallery(loader, urls, quits);
    gallery.show();
    return QApplication::exec();
} catch (const sdd::error &error) {
    std::fprintf(stderr, "qt_gallery: %s\n", error.what());
    return 1;
}

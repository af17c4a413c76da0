// Runs the classes of RSS Guard that fetch pictures, before and after the port, for try.sh.
//
//     try show BASE WINDOWS      an article in so many viewers: prints the size and the colour of each picture
//     try again BASE             shows an article twice in one viewer
//     try close BASE             closes a viewer while a picture arrives
//     try change BASE            shows another article while a picture arrives
//     try large BASE             a picture of 48 MiB
//     try icons BASE             ten icons of feeds, twice, and one whose first URL is missing
#include "gui/webviewers/qtextbrowser/textbrowserviewer.h"
#include "miscellaneous/application.h"
#include "miscellaneous/iconfactory.h"
#include "network-web/networkfactory.h"

#include <QElapsedTimer>
#include <QScrollBar>

#include <cstdio>
#include <memory>
#include <vector>

namespace {

QString base;

// The names in the article; the test of try.sh knows what they are.
const QStringList names = { QStringLiteral("picture/red.png"),    QStringLiteral("picture/green.jpg"),
                            QStringLiteral("picture/blue.gif"),   QStringLiteral("picture/cyan.bmp"),
                            QStringLiteral("picture/wide.jpg"),   QStringLiteral("picture/red.png?a=1&b=2"),
                            QStringLiteral("moved/green.jpg"),    QStringLiteral("picture/magenta.ico"),
                            QStringLiteral("picture/damaged.jpg"), QStringLiteral("missing") };

QString article()
{
    QString html = QStringLiteral("<html><body>");
    for (const QString &name : names)
        html += QStringLiteral("<p><img src=\"%1\"></p>").arg(QString(base + name).toHtmlEscaped());
    return html + QStringLiteral("</body></html>");
}

template <class Condition> bool run_until(Condition condition, int limit_ms = 60000)
{
    QElapsedTimer time;
    time.start();
    while (!condition()) {
        if (time.elapsed() > limit_ms) return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
        QThread::msleep(5);
    }
    return true;
}

void run_for(int milliseconds)
{
    run_until([] { return false; }, milliseconds);
}

QImage shown(TextBrowserViewer &viewer, const QString &name)
{
    const QVariant given = viewer.loadOneResource(QTextDocument::ImageResource, QUrl(base + name));
    return given.userType() == QMetaType::QPixmap ? given.value<QPixmap>().toImage() : given.value<QImage>();
}

bool is_loading(TextBrowserViewer &viewer, const QString &name)
{
    return shown(viewer, name) == qApp->icons()->miscPixmap(QStringLiteral("image-placeholder")).toImage();
}

std::unique_ptr<TextBrowserViewer> make_viewer()
{
    auto viewer = std::make_unique<TextBrowserViewer>();
    viewer->setResourcesEnabled(true);
    viewer->resize(600, 500);
    viewer->show();
    run_for(100);
    return viewer;
}

void print(const QString &name, const QImage &image)
{
    const QImage failure = qApp->icons()->miscPixmap(QStringLiteral("image-placeholder-error")).toImage();
    // The old code gives an image without pixels for what cannot be decoded, which is drawn as a sign of failure, too.
    if (image.isNull() || image == failure) std::printf("%s: failure\n", qPrintable(name));
    else {
        const QColor colour = image.pixelColor(image.width() / 2, image.height() / 2);
        std::printf("%s: %d x %d %s%s%s\n", qPrintable(name), image.width(), image.height(),
                    colour.red() > 128 ? "r" : "-", colour.green() > 100 ? "g" : "-", colour.blue() > 128 ? "b" : "-");
    }
}

bool wait_for_all(TextBrowserViewer &viewer)
{
    const bool all = run_until([&] {
        for (const QString &name : names)
            if (is_loading(viewer, name)) return false;
        return true;
    });
    run_for(300); // the document is laid out again
    return all;
}

// Whether the top of the window shows the first picture, which is red.
bool is_drawn(TextBrowserViewer &viewer)
{
    const QImage window = viewer.viewport()->grab().toImage();
    int red = 0;
    for (int y = 0; y < window.height(); y++)
        for (int x = 0; x < window.width(); x++) red += window.pixelColor(x, y) == QColor(255, 0, 0);
    return red > 1000;
}

int show(int windows)
{
    std::vector<std::unique_ptr<TextBrowserViewer>> viewers;
    for (int i = 0; i < windows; i++) {
        viewers.push_back(make_viewer());
        viewers.back()->setHtml(article(), QUrl(base));
    }
    for (auto &viewer : viewers)
        if (!wait_for_all(*viewer)) return 1;
    for (const QString &name : names) print(name, shown(*viewers.front(), name));
    for (auto &viewer : viewers)
        if (!is_drawn(*viewer)) return 1;
    return 0;
}

int again()
{
    auto viewer = make_viewer();
    for (int i = 0; i < 2; i++) {
        viewer->setHtml(article(), QUrl(base));
        if (!wait_for_all(*viewer)) return 1;
        viewer->setHtml(QStringLiteral("<p>Another article.</p>"), QUrl(base));
        run_for(100);
    }
    return 0;
}

int leave(bool closes)
{
    auto viewer = make_viewer();
    viewer->setHtml(QStringLiteral("<img src=\"%1drip\">").arg(base), QUrl(base));
    run_for(1000);
    if (closes) viewer.reset();
    else viewer->setHtml(QStringLiteral("<p>Another article.</p>"), QUrl(base));
    run_for(2000);
    QByteArray counts; // while this program still runs
    (void)NetworkFactory::performNetworkOperation(base + QStringLiteral("counts"), 5000, QByteArray(), counts,
                                                  QNetworkAccessManager::GetOperation);
    std::printf("%s", counts.constData());
    return 0;
}

int large()
{
    auto viewer = make_viewer();
    viewer->setHtml(QStringLiteral("<img src=\"%1large\">").arg(base), QUrl(base));
    if (!run_until([&] { return !is_loading(*viewer, QStringLiteral("large")); })) return 1;
    print(QStringLiteral("large"), shown(*viewer, QStringLiteral("large")));
    return 0;
}

int icons()
{
    const QString icon = base + QStringLiteral("icon/magenta.ico");
    for (int i = 0; i < 20; i++) {
        QPixmap given;
        if (NetworkFactory::downloadIcon({ { icon + QStringLiteral("?%1").arg(i % 10), true } }, 5000, given, {}) !=
            QNetworkReply::NetworkError::NoError)
            return 1;
        if (i == 0) print(QStringLiteral("icon"), given.toImage());
    }
    QPixmap given;
    (void)NetworkFactory::downloadIcon({ { base + QStringLiteral("missing"), true }, { icon, true } }, 5000, given, {});
    print(QStringLiteral("the second location"), given.toImage());
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    const QString what = QString::fromLocal8Bit(argv[1]);
    base = QString::fromLocal8Bit(argv[2]);
    QCoreApplication::setApplicationName(QStringLiteral("rssguard-try"));
    Application application(QStringLiteral("rssguard-try"), argc, argv, { QString::fromLocal8Bit(argv[0]) });
    qInstallMessageHandler([](QtMsgType, const QMessageLogContext &, const QString &) {});
    qRegisterMetaType<QNetworkAccessManager::Operation>("QNetworkAccessManager::Operation");
    if (what == QLatin1String("show")) return show(argc > 3 ? atoi(argv[3]) : 1);
    if (what == QLatin1String("again")) return again();
    if (what == QLatin1String("close")) return leave(true);
    if (what == QLatin1String("change")) return leave(false);
    if (what == QLatin1String("large")) return large();
    if (what == QLatin1String("icons")) return icons();
    return 2;
}

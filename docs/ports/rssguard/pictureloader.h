#ifndef PICTURELOADER_H
#define PICTURELOADER_H

#include <sdd/sdd.hpp>

#include <QMutex>
#include <QNetworkProxy>
#include <QObject>

#include <list>

// Loads pictures of articles and feeds with libsdd, which has the queue, the limits and the cache of all of them.
// All methods can be called from any thread.
class PictureLoader : public QObject {
    Q_OBJECT

  public:
    explicit PictureLoader(QObject* parent = nullptr);

    // Returns loader for given proxy, DefaultProxy means the one from settings of application.
    // The loader lives as long as this object.
    sdd_loader* loader(const QNetworkProxy& proxy = QNetworkProxy::ProxyType::DefaultProxy);

    // Returns what the request for picture needs beside its URL.
    sdd::load_request request(const QUrl& url, int timeout) const;

  private:
    struct Route {
        QNetworkProxy m_proxy;
        sdd::downloader m_downloader;
        sdd::loader m_loader;
    };

    QMutex m_mutex;
    std::optional<sdd::cache> m_cache;
    std::list<Route> m_routes;
};

#endif // PICTURELOADER_H

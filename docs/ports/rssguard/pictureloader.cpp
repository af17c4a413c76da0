#include "network-web/pictureloader.h"

#include "miscellaneous/application.h"
#include "miscellaneous/settings.h"
#include "network-web/cookiejar.h"
#include "network-web/webfactory.h"

#include <sdd/qt.hpp>

#define PICTURE_CACHE_BYTES  (256 * 1024 * 1024)
#define PICTURE_MEMORY_BYTES (64 * 1024 * 1024)
#define PICTURE_MAX_BYTES    (32 * 1024 * 1024)

PictureLoader::PictureLoader(QObject* parent) : QObject(parent) {
  sdd::cache_config config;

  config.directory = QFile::encodeName(qApp->cacheFolder() + QSL("/pictures")).toStdString();
  config.max_disk_bytes = PICTURE_CACHE_BYTES;
  config.max_memory_cost = PICTURE_MEMORY_BYTES;

  if (auto cache = sdd::cache::create(config)) {
    m_cache.emplace(std::move(*cache));
  }
  else {
    qWarningNN << LOGSEC_NETWORK << "Pictures are not cached:" << QUOTE_W_SPACE_DOT(cache.error().what());
  }
}

sdd_loader* PictureLoader::loader(const QNetworkProxy& proxy) {
  const int proxy_setting = qApp->settings()->value(GROUP(Proxy), SETTING(Proxy::Type)).toInt();
  const auto used_proxy = proxy == QNetworkProxy() && proxy_setting != QNetworkProxy::ProxyType::DefaultProxy
                            ? QNetworkProxy::applicationProxy()
                            : proxy;
  const QMutexLocker lock(&m_mutex);

  for (const Route& route : m_routes) {
    if (route.m_proxy == used_proxy) {
      return route.m_loader.get();
    }
  }

  const bool http2 = qApp->settings()->value(GROUP(Network), SETTING(Network::EnableHttp2)).toBool();
  sdd::downloader_config config;
  sdd::loader_config loader_config;

  config.decode_mode = SDD_DECODE_ISOLATED;
  config.limits.emplace().max_body_bytes = PICTURE_MAX_BYTES;
  config.network = sdd::qt::to_network_options(used_proxy);
  config.network->http_version = http2 ? SDD_HTTP_DEFAULT : SDD_HTTP_1_1;
  config.network->max_redirects = MAX_NUMBER_OF_REDIRECTIONS;

  auto downloader = sdd::downloader::create(config);

  if (!downloader) {
    qWarningNN << LOGSEC_NETWORK << "Pictures are decoded here:" << QUOTE_W_SPACE_DOT(downloader.error().what());
    config.decode_mode = SDD_DECODE_IN_PROCESS;
    downloader = sdd::downloader::create(config);
  }

  (void)sdd::qt::add_coders(*downloader, {"avif", "bmp", "gif", "ico", "jxl", "svg", "webp"});

  loader_config.downloader = downloader->get();
  loader_config.no_cache = !m_cache;
  loader_config.cache = m_cache ? m_cache->get() : nullptr;
  m_routes.push_back({used_proxy, std::move(*downloader), sdd::loader(loader_config)});

  return m_routes.back().m_loader.get();
}

sdd::load_request PictureLoader::request(const QUrl& url, int timeout) const {
  sdd::load_request request;
  QByteArray user_agent = qApp->web()->customUserAgent().toLocal8Bit();
  QByteArrayList cookies;

  if (user_agent.isEmpty()) {
    user_agent = HTTP_COMPLETE_USERAGENT;
  }

  for (const QNetworkCookie& cookie : qApp->web()->cookieJar()->cookiesForUrl(url)) {
    cookies.append(cookie.toRawForm(QNetworkCookie::RawForm::NameAndValueOnly));
  }

  request.options = SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES | SDD_OPTION_DECODE_FIRST_FRAME_ONLY;
  request.store = SDD_CACHE_MEMORY; // Disk has the original only, not each size of it.
  request.decode.emplace().damage = SDD_DAMAGE_KEEP_REST;
  request.transfer.download_timeout_ms = timeout;
  request.transfer.headers.push_back({HTTP_HEADERS_USER_AGENT, user_agent.toStdString()});

  if (!cookies.isEmpty()) {
    request.transfer.headers.push_back({HTTP_HEADERS_COOKIE, cookies.join("; ").toStdString()});
  }

  return request;
}

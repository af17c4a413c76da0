/*
 * sdd/qt-views.hpp - The views of sdd/qt.hpp, which includes it: a list model with thumbnails, a
 * widget, an image provider for QML.
 */
#ifndef SDD_QT_VIEWS_HPP
#define SDD_QT_VIEWS_HPP

#include <sdd/qt.hpp>

#ifdef QT_WIDGETS_LIB
#include <QAbstractItemView>
#include <QAbstractProxyModel>
#include <QPainter>
#include <QScrollBar>
#include <QWidget>
#endif
#ifdef QT_QUICK_LIB
#include <QQuickAsyncImageProvider>
#endif

SDD_CPP_BEGIN
namespace qt {

/**
 * A list model of URLs whose Qt::DecorationRole is a thumbnail, as QPixmap: for QListView and the
 * like. A row loads when a view first asks for its thumbnail; dataChanged() tells that it is there.
 * Rows that the views given to attach() have scrolled away are cancelled and forgotten; the
 * loader's memory cache has their pictures when they come back. retry() loads a row again that has
 * failed.
 *
 * Qt::SizeHintRole is the thumbnail's size, so that views need not load rows to lay them out.
 * Ownership: of its loads; views are borrowed, and may be destroyed before the model or after it.
 */
class thumbnail_model : public QAbstractListModel {
public:
    enum roles { url_role = Qt::UserRole + 1, state_role, error_role };

    /** size: of a thumbnail, in Qt's units; pictures are cropped to it. nullptr: shared loader. */
    explicit thumbnail_model(QSize size, sdd_loader *loader = nullptr, QObject *parent = nullptr)
        : QAbstractListModel(parent), size_(size), loader_(loader) {}

    /** Replaces all rows: the loads of those before are cancelled. thumbhashes: those of the
        pictures in the same order, shown while rows load; there may be fewer. */
    void set_urls(const QList<QUrl> &urls, const QList<QByteArray> &thumbhashes = {}) {
        beginResetModel();
        rows_.clear();
        urls_ = urls;
        hashes_ = thumbhashes;
        endResetModel();
    }
    /** Pixmaps shown while a row loads, and after a failure. */
    void set_placeholder(const QPixmap &placeholder) { placeholder_ = placeholder; }
    void set_failure(const QPixmap &failure) { failure_ = failure; }
    /** Device pixels of one of Qt's units; the model follows that of attached views, the largest.
        Rows load again if it changes. A pixmap for a ratio other than 1 is a copy, since Qt copies
        read-only pixels when it sets one. */
    void set_device_pixel_ratio(qreal ratio) {
        if (ratio == ratio_) return;
        ratio_ = ratio;
        rows_.clear();
        if (urls_.isEmpty()) return;
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), { Qt::DecorationRole, state_role });
    }

    /** Loads a row again that has failed, also while the loader blocks its URL. */
    void retry(int row) {
        const auto held = rows_.find(row);
        if (held == rows_.end() || held->second->state() != state::failed) return;
        held->second->start(wish_of(row));
    }
    /** Cancels and forgets the rows outside of a range. */
    void keep_only(int first, int last) {
        forget([=](int row) { return row < first || row > last; });
    }
    /** Rows that are loading or have a picture, and those that are loading. */
    int held_count() const noexcept { return static_cast<int>(rows_.size()); }
    int loading_count() const noexcept {
        return static_cast<int>(std::count_if(rows_.begin(), rows_.end(), [](const auto &row) {
            return row.second->state() == state::loading;
        }));
    }

#ifdef QT_WIDGETS_LIB
    /** Shows the model in a view, unless the view shows it already, also by a proxy model. From now
        on only rows within a page of the viewport of an attached view are kept. */
    void attach(QAbstractItemView *view) {
        if (std::find(views_.begin(), views_.end(), view) != views_.end()) return;
        if (!is_shown_by(view->model())) view->setModel(this);
        views_.emplace_back(view);
        follow_ratio();
        view->viewport()->installEventFilter(this);
        const auto scrolled = [this] { forget_hidden(); };
        connect(view->verticalScrollBar(), &QScrollBar::valueChanged, this, scrolled);
        connect(view->horizontalScrollBar(), &QScrollBar::valueChanged, this, scrolled);
    }

    /* A view that came to another screen is painted. */
    bool eventFilter(QObject *watched, QEvent *event) override {
        if (event->type() == QEvent::Paint && ratio_of_views() != ratio_)
            QMetaObject::invokeMethod(this, [this] { follow_ratio(); }, Qt::QueuedConnection);
        return QAbstractListModel::eventFilter(watched, event);
    }
#endif

    int rowCount(const QModelIndex &parent = {}) const override {
        return parent.isValid() ? 0 : static_cast<int>(urls_.size());
    }
    QVariant data(const QModelIndex &at, int role = Qt::DisplayRole) const override {
        if (!checkIndex(at, CheckIndexOption::IndexIsValid)) return {};
        const auto held = rows_.find(at.row());
        switch (role) {
        case Qt::DecorationRole: return thumbnail(at.row());
        case Qt::SizeHintRole: return size_;
        case Qt::ToolTipRole: return urls_.at(at.row()).toDisplayString();
        case url_role: return urls_.at(at.row());
        case state_role:
            return static_cast<int>(held == rows_.end() ? state::empty : held->second->state());
        case error_role:
            if (held == rows_.end() || !held->second->error()) return {};
            return QString::fromStdString(held->second->error()->message());
        default: return {};
        }
    }
    QHash<int, QByteArray> roleNames() const override {
        QHash<int, QByteArray> names = QAbstractListModel::roleNames();
        names.insert(url_role, "url");
        names.insert(state_role, "state");
        names.insert(error_role, "error");
        return names;
    }

private:
    /* Views ask through a const function: rows_ is filled as a cache is. */
    QPixmap thumbnail(int row) const {
        auto &held = rows_[row];
        if (!held) {
            auto *model = const_cast<thumbnail_model *>(this);
            held = std::make_unique<picture>(model, loader_);
            picture &made = *held;
            made.on_change = [model, row] {
                const QModelIndex at = model->index(row);
                Q_EMIT model->dataChanged(at, at, { Qt::DecorationRole, state_role, error_role });
            };
            made.start(wish_of(row));
        }
        const auto shown = rows_.find(row); /* dataChanged() may have made a view forget it */
        if (shown == rows_.end()) return placeholder_;
        if (shown->second->state() == state::failed) return failure_;
        QImage image = shown->second->image();
        if (image.isNull()) return placeholder_;
        if (shown->second->is_placeholder()) image = filling(image);
        auto made = QPixmap::fromImage(image, Qt::NoOpaqueDetection);
        if (ratio_ != 1) made.setDevicePixelRatio(ratio_);
        return made;
    }
    wish wish_of(int row) const {
        wish wanted{ urls_.at(row), size_ * ratio_, SDD_FIT_FILL, true };
        if (row < hashes_.size()) wanted.thumbhash = hashes_.at(row);
        return wanted;
    }
    /* A small image as large as a thumbnail, which it covers. */
    QImage filling(const QImage &image) const {
        const QSize size = (QSizeF(size_) * ratio_).toSize();
        QRect middle({}, size);
        const QImage large =
            image.scaled(size, Qt::KeepAspectRatioByExpanding, Qt::SmoothTransformation);
        middle.moveCenter(large.rect().center());
        return large.copy(middle);
    }
    template <class Condition> void forget(Condition is_unwanted) {
        for (auto row = rows_.begin(); row != rows_.end();)
            row = is_unwanted(row->first) ? rows_.erase(row) : std::next(row);
    }
#ifdef QT_WIDGETS_LIB
    bool is_shown_by(const QAbstractItemModel *model) const {
        const auto *proxy = qobject_cast<const QAbstractProxyModel *>(model);
        return model == this || (proxy != nullptr && is_shown_by(proxy->sourceModel()));
    }
    /* The index of a row in a view's model; invalid if that does not show it. */
    QModelIndex index_in(const QAbstractItemModel *model, int row) const {
        if (model == this) return index(row);
        const auto *proxy = qobject_cast<const QAbstractProxyModel *>(model);
        return proxy ? proxy->mapFromSource(index_in(proxy->sourceModel(), row)) : QModelIndex();
    }
    bool is_near(const QAbstractItemView &view, int row) const {
        const QRect shown = view.viewport()->rect();
        const QRect kept = shown.adjusted(-shown.width(), -shown.height(), shown.width(),
                                          shown.height());
        return view.visualRect(index_in(view.model(), row)).intersects(kept);
    }
    void forget_hidden() {
        forget([this](int row) {
            return std::none_of(views_.begin(), views_.end(), [&](const auto &view) {
                return view && is_near(*view, row);
            });
        });
    }
    qreal ratio_of_views() const {
        qreal largest = 0;
        for (const auto &view : views_)
            if (view) largest = std::max(largest, view->devicePixelRatioF());
        return largest > 0 ? largest : ratio_;
    }
    void follow_ratio() { set_device_pixel_ratio(ratio_of_views()); }
#endif

    const QSize size_;
    sdd_loader *const loader_;
    qreal ratio_ = 1;
    QList<QUrl> urls_;
    QList<QByteArray> hashes_;
    QPixmap placeholder_, failure_;
    mutable std::unordered_map<int, std::unique_ptr<picture>> rows_;
#ifdef QT_WIDGETS_LIB
    std::vector<QPointer<QAbstractItemView>> views_; /* null: destroyed */
#endif
};

#ifdef QT_WIDGETS_LIB
/**
 * A widget that shows the picture of a URL, from libsdd's memory. It loads when it has a size and
 * is visible, also where a QScrollArea has it out of sight; and again, for a quarter more than it
 * needs, when it becomes larger or comes to a screen with more device pixels, unless it has failed.
 * It takes the size that it is given.
 */
class picture_widget : public QWidget {
public:
    /** loader: nullptr is the shared one. */
    explicit picture_widget(QWidget *parent = nullptr, sdd_loader *loader = nullptr)
        : QWidget(parent), picture_(this, loader) {
        picture_.on_change = [this] {
            update();
            const auto changed = on_change; /* which may destroy this */
            if (changed) changed();
        };
    }

    /** Called after each change of state and picture, on the widget's thread; inside set_url() too.
        It may destroy the widget, unless it is called by an event of the widget. */
    std::function<void()> on_change{};

    /** Loads a URL in place of the one before, whose load is cancelled. The same URL loads again
        only after a failure. An empty URL: the widget is empty. thumbhash: shown until there is
        something of the picture, from when the widget has a size. */
    void set_url(const QUrl &url, const QByteArray &thumbhash = {}) {
        if (url == url_ && state() != qt::state::failed) return;
        is_again_ = url == url_;
        url_ = url;
        hash_ = thumbhash;
        asked_ = {};
        const QPointer<QObject> alive(this);
        picture_.clear();
        if (alive) load();
    }
    const QUrl &url() const noexcept { return url_; }
    /** Pixmaps shown before the picture, and after a failure. */
    void set_placeholder(const QPixmap &placeholder) { placeholder_ = placeholder, update(); }
    void set_failure(const QPixmap &failure) { failure_ = failure, update(); }
    /** How the picture fills the widget: one of SDD_FIT_; initially SDD_FIT_FILL. */
    void set_fit(sdd_fit fit) {
        fit_ = fit;
        asked_ = {};
        load();
    }

    qt::state state() const noexcept {
        const qt::state state = picture_.state();
        return state == qt::state::empty && !url_.isEmpty() ? qt::state::loading : state;
    }
    /** The picture that loads, for its error and image. */
    const qt::picture &shown() const noexcept { return picture_; }

protected:
    void resizeEvent(QResizeEvent *event) override {
        QWidget::resizeEvent(event);
        load();
    }
    void showEvent(QShowEvent *event) override {
        QWidget::showEvent(event);
        load();
    }
    void paintEvent(QPaintEvent *) override {
        if (needs_load()) /* it came to another screen */
            QMetaObject::invokeMethod(this, [this] { load(); }, Qt::QueuedConnection);
        QPainter painter(this);
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        if (!picture_.image().isNull())
            painter.drawImage(place(picture_.image().size()), picture_.image());
        else if (const QPixmap &other = state() == qt::state::failed ? failure_ : placeholder_;
                 !other.isNull())
            painter.drawPixmap(place(other.size()), other, QRectF(other.rect()));
    }

private:
    QSize wanted_size() const { return size() * devicePixelRatioF(); }
    bool needs_load() const {
        const QSize wanted = wanted_size();
        if (url_.isEmpty() || wanted.isEmpty() || !isVisible()) return false;
        if (!asked_.isValid()) return true;
        return state() != qt::state::failed && wanted.expandedTo(asked_) != asked_;
    }
    void load() {
        if (!needs_load()) return;
        /* With room for growth, so that a window that is drawn larger does not load each time. */
        asked_ = asked_.isValid() ? (wanted_size() * 1.25).expandedTo(asked_) : wanted_size();
        wish picture{ url_, asked_, fit_, true };
        picture.thumbhash = hash_;
        if (is_again_) picture.request.options = SDD_OPTION_RETRY_FAILED;
        is_again_ = false;
        picture_.start(picture);
    }
    /* Where something of a size is drawn; what exceeds the widget is clipped. */
    QRectF place(QSizeF drawn) const {
        const auto mode = fit_ == SDD_FIT_FILL     ? Qt::KeepAspectRatioByExpanding
                          : fit_ == SDD_FIT_INSIDE ? Qt::KeepAspectRatio
                                                   : Qt::IgnoreAspectRatio;
        QRectF made(QPointF(), drawn.scaled(QSizeF(size()), mode));
        made.moveCenter(QRectF(rect()).center());
        return made;
    }

    QUrl url_;
    QByteArray hash_;
    QSize asked_; /* of the load, in device pixels; invalid: none was begun */
    bool is_again_ = false; /* the next load is of a URL that failed, and was set again */
    sdd_fit fit_ = SDD_FIT_FILL;
    QPixmap placeholder_, failure_;
    qt::picture picture_;
};
#endif

#ifdef QT_QUICK_LIB
/**
 * The image provider for QML's Image and BorderImage: "image://NAME/" and the URL of a picture,
 * where NAME is that of QQmlEngine::addImageProvider(), which takes the provider over. Before the
 * URL, "retry:" loads a picture that has failed again, also while the loader blocks its URL.
 *
 * sourceSize is the size in QML's units; the picture covers it, unless `fit` says otherwise.
 * Without one a picture has all its pixels. Bindings on Image.status show placeholders and
 * failures. A delegate that a view destroys or reuses cancels its load. `cache: false` of the
 * Image saves a second memory cache beside that of the loader. An engine that is destroyed cancels
 * its loads; Qt (6.4) then loses the few bytes of each response, but no pixels.
 * Thread: its functions are called by Qt.
 */
class image_provider : public QQuickAsyncImageProvider {
public:
    /** loader: nullptr is the shared one. fit: one of SDD_FIT_. */
    explicit image_provider(sdd_loader *loader = nullptr, sdd_fit fit = SDD_FIT_FILL)
        : loader_(loader), fit_(fit) {}

    QQuickImageResponse *requestImageResponse(const QString &id, const QSize &size) override {
        const QString retry = QStringLiteral("retry:");
        const bool is_again = id.startsWith(retry);
        wish wanted{ QUrl(is_again ? id.mid(retry.size()) : id), size, fit_, false };
        if (is_again) wanted.request.options = SDD_OPTION_RETRY_FAILED;
        return new response(loader_, wanted);
    }

private:
    class response : public QQuickImageResponse {
    public:
        response(sdd_loader *loader, const wish &wanted) : picture_(this, loader) {
            picture_.on_change = [this] {
                if (picture_.state() != state::loading) finish();
            };
            picture_.start(wanted);
        }
        QQuickTextureFactory *textureFactory() const override {
            return QQuickTextureFactory::textureFactoryForImage(picture_.image());
        }
        QString errorString() const override {
            if (picture_.error()) return QString::fromStdString(picture_.error()->message());
            return picture_.image().isNull() ? QStringLiteral("cancelled") : QString();
        }
        void cancel() override {
            if (picture_.state() == state::loading) picture_.clear();
        }

    private:
        /* Queued, since Qt connects the signal after it has got the response. */
        void finish() {
            QMetaObject::invokeMethod(this, [this] { Q_EMIT finished(); }, Qt::QueuedConnection);
        }
        picture picture_;
    };

    sdd_loader *const loader_;
    const sdd_fit fit_;
};
#endif

} // namespace qt
SDD_CPP_END

#endif /* SDD_QT_VIEWS_HPP */

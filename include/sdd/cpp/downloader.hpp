/*
 * sdd/cpp/downloader.hpp - Downloaders.
 */
#ifndef SDD_CPP_DOWNLOADER_HPP
#define SDD_CPP_DOWNLOADER_HPP

#include "config.hpp"
#include "event.hpp"
#include "extend.hpp"

SDD_CPP_BEGIN

/**
 * A downloader: a queue, a connection pool, default headers; or the shared one.
 *
 * Ownership: see owned. Destroying it cancels its requests, delivers their ends, and WAITS for that
 * (sdd_downloader_destroy()). Loaders and batches that use it may outlive it. Images, bytes,
 * responses and pendings always may.
 * Thread: any. Errors: as results; the constructor throws sdd::error.
 */
class downloader : public owned<sdd_downloader, sdd_downloader_destroy> {
public:
    /** Makes a downloader. SDD_ERROR_INVALID_ARGUMENT for a field out of range, and so on: see
        sdd_downloader_create(). */
    static result<downloader> create(const downloader_config &config = {}) {
        detail::c_config made(config);
        auto created = detail::owner<downloader, sdd_downloader>(
            [&](sdd_downloader **handle) { return sdd_downloader_create(&made.c, handle); });
        if (created) made.taken();
        return created;
    }
    /** The same, or throws. */
    explicit downloader(const downloader_config &config = {})
        : downloader(create(config).value()) {}
    /** A name for the shared downloader, which is made on first use and never destroyed. */
    static downloader shared() noexcept { return downloader(shared_t{}); }
    using owned::owned;

    /* ---- requests */

    /** Downloads a URL. */
    template <class Url, class = detail::if_text<Url>>
    pending<loaded> download(const Url &url, sdd_options options = 0) {
        return download(detail::request_of<download_request>(url, options));
    }
    pending<loaded> download(const download_request &request) {
        return detail::begun<detail::c_download>(
            request, get(), [&](auto *c) { return sdd_downloader_submit(get(), c); });
    }
    /**
     * Submits a download that only its callbacks tell of. An exception in one is handed on (see
     * set_exception_handler()) and does not end the request. Without on_completed the downloader
     * must have SDD_DELIVERY_APPLICATION, and drain() gives the end.
     *
     * @return The token, for sdd_cancel() and the like.
     */
    result<sdd_token> submit(const download_request &request) {
        return detail::submitted<detail::c_download>(
            request, get(), nullptr, [&](auto *c) { return sdd_downloader_submit(get(), c); });
    }
    /** Submits a download and WAITS for its end: sdd_downloader_submit_wait(). Works inside
        callbacks too. The request's callbacks are not called. The timeout is in milliseconds;
        negative: only the limits of the request. */
    result<loaded> submit_wait(const download_request &request, int64_t timeout_ms = -1) {
        return detail::waited<detail::c_download>(request, [&](auto *c, auto *given) {
            return sdd_downloader_submit_wait(get(), c, timeout_ms, given);
        });
    }
    template <class Url, class = detail::if_text<Url>>
    result<loaded> submit_wait(const Url &url, sdd_options options = 0, int64_t timeout_ms = -1) {
        return submit_wait(detail::request_of<download_request>(url, options), timeout_ms);
    }
    /** Encodes an image on a decode thread: sdd_downloader_encode(). */
    pending<bytes> encode(const image &picture, const encode_options &options = {}) {
        using listener = detail::listener<bytes>;
        auto end = std::make_shared<detail::ending<bytes>>(get());
        return detail::started(end, std::make_unique<listener>(get(), end), [&](listener *given) {
            return sdd_downloader_encode(get(), picture.get(), &options, listener::completed,
                                         given, listener::free_as<listener>);
        });
    }
    result<void> cancel_all() { return checked(sdd_downloader_cancel_all(get())); }
    /** WAITS until every request has ended and its callbacks have returned. */
    result<void> idle_wait(int64_t timeout_ms = -1) {
        return checked(sdd_downloader_idle_wait(get(), timeout_ms));
    }
    /** Accepts no more requests. */
    result<void> close(sdd_close_mode mode = SDD_CLOSE_CANCEL) {
        return checked(sdd_downloader_close(get(), mode));
    }

    /* ---- events, with SDD_DELIVERY_APPLICATION */

    /** A descriptor that is readable while events wait, for the application's loop; -1: none. */
    int32_t event_fd() const noexcept { return sdd_downloader_event_fd(get()); }
    /** Calls the callbacks of waiting events, at most max; 0: all. The number delivered. */
    result<std::size_t> dispatch(std::size_t max = 0) {
        return detail::filled(std::size_t{0}, [&](std::size_t *count) {
            return sdd_downloader_dispatch(get(), max, count);
        });
    }
    /** WAITS for events, and then as dispatch(). SDD_ERROR_TIMEOUT: none came. */
    result<std::size_t> wait(int64_t timeout_ms = -1, std::size_t max = 0) {
        return detail::filled(std::size_t{0}, [&](std::size_t *count) {
            return sdd_downloader_wait(get(), nullptr, max, timeout_ms, count);
        });
    }
    /** Takes waiting events and calls nothing: for requests without callbacks, of submit(). A
        pending whose event is taken so ends with SDD_ERROR_WRONG_DELIVERY. With a timeout other
        than 0 it WAITS for events, and gives SDD_ERROR_TIMEOUT if none came. */
    result<std::vector<event>> drain(std::size_t max = 64, int64_t timeout_ms = 0) {
        static_assert(sizeof(event) == sizeof(sdd_event), "the library fills an array of these");
        std::vector<event> taken(max);
        std::size_t count = 0;
        const sdd_status status =
            timeout_ms == 0 ? sdd_downloader_drain(get(), taken.data(), max, &count)
                            : sdd_downloader_wait(get(), taken.data(), max, timeout_ms, &count);
        if (status != SDD_OK) return error::of_last_call();
        taken.resize(count);
        return taken;
    }
    /** Sets the observer of transfers; empty: none. */
    result<void> set_observer(observer call) {
        return detail::observed(std::move(call), get(), [&](auto... function) {
            return sdd_downloader_set_observer(get(), function...);
        });
    }
    /** Sets the observer of log messages up to a level. */
    result<void> set_log(sdd_log_level level, observer call) {
        return detail::observed(std::move(call), get(), [&](auto... function) {
            return sdd_downloader_set_log(get(), level, function...);
        });
    }
    result<sdd_statistics> statistics() const {
        return detail::filled(sdd_statistics SDD_STATISTICS_INIT, [&](auto *filled) {
            return sdd_downloader_get_statistics(get(), filled);
        });
    }

    /* ---- settings, for requests submitted from now on where nothing else is said */

    result<void> set_header(const std::string &name, const std::string &value) {
        return checked(sdd_set_header(get(), name.c_str(), value.c_str()));
    }
    result<void> remove_header(const std::string &name) {
        return checked(sdd_set_header(get(), name.c_str(), nullptr));
    }
    result<std::string> header(const std::string &name) const {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return sdd_get_header(get(), name.c_str(), buffer, capacity, length);
        });
    }
    result<void> set_credential(const std::optional<credential> &credential) {
        const auto c = detail::c_credential(credential.value_or(sdd::credential{}));
        return checked(sdd_downloader_set_credential(get(), credential ? &c : nullptr));
    }
    result<void> set_modifiers(const std::optional<modifiers> &modifiers) {
        detail::lent_modifiers lent(modifiers);
        const sdd_status status = sdd_downloader_set_modifiers(get(), lent.get());
        if (status == SDD_OK) lent.taken();
        return checked(status);
    }
    result<void> set_decode_options(const std::optional<decode_options> &options) {
        return checked(sdd_downloader_set_decode_options(get(), options ? &*options : nullptr));
    }
    result<void> set_download_timeout(int64_t timeout_ms) {
        return checked(sdd_downloader_set_download_timeout(get(), timeout_ms));
    }
    result<void> set_offline(bool is_offline) {
        return checked(sdd_downloader_set_offline(get(), is_offline));
    }
    /** The current configuration. Lifetime: its texts and groups, that of the downloader. */
    result<sdd_downloader_config> config() const {
        return detail::filled(
            sdd_downloader_config SDD_DOWNLOADER_CONFIG_INIT,
            [&](auto *filled) { return sdd_downloader_get_config(get(), filled); });
    }

    /* ---- settings with immediate effect */

    result<void> set_max_concurrent_downloads(int32_t count) {
        return checked(sdd_downloader_set_max_concurrent_downloads(get(), count));
    }
    result<void> set_max_concurrent_per_host(int32_t count) {
        return checked(sdd_downloader_set_max_concurrent_per_host(get(), count));
    }
    result<void> set_min_host_interval(int64_t milliseconds) {
        return checked(sdd_downloader_set_min_host_interval(get(), milliseconds));
    }
    result<void> set_reserved_urgent_slots(int32_t count) {
        return checked(sdd_downloader_set_reserved_urgent_slots(get(), count));
    }
    result<void> set_execution_order(sdd_execution_order order) {
        return checked(sdd_downloader_set_execution_order(get(), order));
    }
    result<void> suspend() { return checked(sdd_downloader_suspend(get())); }
    result<void> resume() { return checked(sdd_downloader_resume(get())); }
    bool is_suspended() const noexcept { return sdd_downloader_is_suspended(get()) != 0; }
    result<void> enter_background(int64_t grace_ms) {
        return checked(sdd_downloader_enter_background(get(), grace_ms));
    }
    result<void> enter_foreground() { return checked(sdd_downloader_enter_foreground(get())); }

    /* ---- cookies */

    result<void> set_cookie(const cookie &from) {
        sdd_cookie c = SDD_COOKIE_INIT;
        c.name = from.name.c_str();
        c.value = from.value.c_str();
        c.domain = from.domain.c_str();
        c.path = detail::or_null(from.path);
        c.include_subdomains = from.include_subdomains;
        c.secure = from.secure;
        c.http_only = from.http_only;
        c.expires_ms = from.expires_ms;
        return checked(sdd_downloader_set_cookie(get(), &c));
    }
    /** A snapshot of the cookies. */
    result<sdd::cookies> cookies() const {
        return detail::owner<sdd::cookies, sdd_cookies>(
            [&](sdd_cookies **snapshot) { return sdd_downloader_get_cookies(get(), snapshot); });
    }
    /** domain: with its subdomains; "": all cookies. */
    result<void> clear_cookies(const std::string &domain = {}) {
        return checked(sdd_downloader_clear_cookies(get(), detail::or_null(domain)));
    }

    /* ---- transports and coders of the application */

    /** scheme: "archive"; "http" and the like replace the library's own; "*": any. */
    result<void> add_transport(const std::string &scheme, std::shared_ptr<transport> transport) {
        if (!transport) return error(SDD_ERROR_INVALID_ARGUMENT, "sdd::transport: there is none.");
        auto kept = std::make_unique<detail::kept_transport>(std::move(transport));
        sdd_transport c = detail::c_transport();
        c.scheme = scheme.c_str();
        c.user_data = kept.get();
        auto added = checked(sdd_downloader_add_transport(get(), &c));
        if (added) (void)kept.release();
        return added;
    }
    result<void> remove_transport(const std::string &scheme) {
        return checked(sdd_downloader_remove_transport(get(), scheme.c_str()));
    }
    result<void> add_coder(std::shared_ptr<coder> coder) {
        return detail::added(std::move(coder), [&](const sdd_coder *c) {
            return sdd_downloader_add_coder(get(), c);
        });
    }
    result<void> remove_coder(const std::string &name) {
        return checked(sdd_downloader_remove_coder(get(), name.c_str()));
    }

private:
    explicit downloader(shared_t) noexcept : owned(shared_t{}) {}
    static result<void> checked(sdd_status status) { return detail::checked(status); }
};

/** Limits the memory of pictures that are being decoded: sdd_process_set_decode_memory_limit(). */
inline result<void> process_set_decode_memory_limit(int64_t bytes) {
    return detail::checked(sdd_process_set_decode_memory_limit(bytes));
}

/** Counts the objects of the process: sdd_process_get_statistics(). */
inline result<sdd_process_statistics> process_statistics() {
    return detail::filled(sdd_process_statistics SDD_PROCESS_STATISTICS_INIT,
                          [](auto *filled) { return sdd_process_get_statistics(filled); });
}

SDD_CPP_END

#endif /* SDD_CPP_DOWNLOADER_HPP */

/*
 * sdd/cpp/event.hpp - Events, observers and cookies of a downloader.
 */
#ifndef SDD_CPP_EVENT_HPP
#define SDD_CPP_EVENT_HPP

#include "request.hpp"

SDD_CPP_BEGIN

/** Receives notices about transfers, or log messages, which are borrowed until it returns. Thread:
    where the downloader delivers. An exception is handed on, see set_exception_handler(). */
using observer = std::function<void(const sdd_notice &notice)>;

/**
 * An event taken by downloader::drain(): sdd_event, with its fields.
 * Lifetime: what it points to, until the next call that takes events of that downloader, or
 * destroys it. outcome() can be kept.
 */
struct event : sdd_event {
    event() noexcept : sdd_event SDD_EVENT_INIT {}
    /** The outcome of an event with a result (SDD_EVENT_COMPLETED and the like). */
    sdd::result<loaded> outcome() const {
        if (sdd_event::result == nullptr)
            return error(SDD_ERROR_NOT_FOUND, "sdd::event: the event has no result.");
        return detail::outcome_of<loaded>(*sdd_event::result);
    }
};

/** A cookie: sdd_cookie. */
struct cookie {
    std::string name{};
    std::string value{};
    std::string domain{};
    std::string path{}; /* "": "/" */
    bool include_subdomains = false;
    bool secure = false;
    bool http_only = false;
    int64_t expires_ms = 0; /* milliseconds since 1970; 0: when the downloader is destroyed */
};

/**
 * A snapshot of a downloader's cookies. It can be moved and not copied; a moved-from one is empty.
 * Thread: any. Lifetime: that of the object, whatever becomes of the downloader.
 */
class cookies {
public:
    cookies(sdd_cookies *snapshot, adopt_t) noexcept : snapshot_(snapshot) {}

    std::size_t size() const noexcept { return sdd_cookies_count(get()); }
    bool empty() const noexcept { return size() == 0; }
    /** A copy of one cookie. */
    result<cookie> at(std::size_t index) const {
        sdd_cookie c = SDD_COOKIE_INIT;
        if (sdd_cookies_at(get(), index, &c) != SDD_OK) return error::of_last_call();
        cookie made;
        made.name = detail::view_of(c.name);
        made.value = detail::view_of(c.value);
        made.domain = detail::view_of(c.domain);
        made.path = detail::view_of(c.path);
        made.include_subdomains = c.include_subdomains != 0;
        made.secure = c.secure != 0;
        made.http_only = c.http_only != 0;
        made.expires_ms = c.expires_ms;
        return made;
    }
    sdd_cookies *get() const noexcept { return snapshot_.get(); }

private:
    struct release {
        void operator()(sdd_cookies *snapshot) const noexcept { sdd_cookies_release(snapshot); }
    };
    std::unique_ptr<sdd_cookies, release> snapshot_;
};

namespace detail {

/* An observer as user data, with what tells it that it runs on the thread that delivers. */
struct kept_observer {
    observer call;
    sdd_downloader *downloader;

    static void notice(const sdd_notice *notice, void *user_data) noexcept {
        const auto &self = *static_cast<kept_observer *>(user_data);
        const delivering now(self.downloader);
        guarded("observer", [&] { self.call(*notice); });
    }
};

/* Sets an observer by a C function: set(function, user_data, user_data_free). */
template <class Set>
result<void> observed(observer call, sdd_downloader *downloader, Set &&set) {
    if (!call) return checked(set(nullptr, nullptr, nullptr));
    auto kept = std::make_unique<kept_observer>(kept_observer{std::move(call), downloader});
    auto done = checked(set(kept_observer::notice, kept.get(), free_user_data<kept_observer>));
    if (done) (void)kept.release();
    return done;
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_EVENT_HPP */

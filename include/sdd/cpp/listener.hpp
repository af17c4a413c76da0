/*
 * sdd/cpp/listener.hpp - The callbacks of requests, as the library's user data. For these headers
 * alone.
 */
#ifndef SDD_CPP_LISTENER_HPP
#define SDD_CPP_LISTENER_HPP

#include "pending.hpp"

SDD_CPP_BEGIN

namespace detail {

/*
 * The user data of a request: made by the submitting thread, used by the one that delivers, and
 * deleted by the user_data_free of the C struct.
 */
template <class Value> class listener {
public:
    /* ending: none for submit(), whose callbacks hand their exceptions on. */
    listener(sdd_downloader *downloader, std::shared_ptr<ending<Value>> end) noexcept
        : downloader_(downloader), ending_(std::move(end)) {}
    listener(const listener &) = delete;
    listener &operator=(const listener &) = delete;
    ~listener() {
        /* Its event was taken by sdd_downloader_drain(), which calls no callback. */
        if (ending_ && !ending_->has_ended())
            guarded("pending", [&] {
                ending_->end(error(SDD_ERROR_WRONG_DELIVERY,
                                   "sdd_downloader_drain() has taken the event of this request."));
            });
    }

    static listener &of(void *user_data) noexcept { return *static_cast<listener *>(user_data); }

    /* The user_data_free of the class that derives from it, or of itself. What its callbacks have
       captured may wait, too. */
    template <class Listener> static void free_as(void *user_data) noexcept {
        auto *const self = static_cast<Listener *>(&of(user_data));
        const delivering now(self->downloader_);
        delete self;
    }

    /* Runs a callback of the application. */
    template <class Function>
    void call(const char *name, sdd_token token, Function &&function) noexcept {
        const delivering now(downloader_);
        if (!ending_) return guarded(name, std::forward<Function>(function));
#if SDD_CPP_EXCEPTIONS
        if (thrown_) return;
        try {
            function();
        } catch (...) {
            thrown_ = std::current_exception();
            (void)sdd_cancel(token);
        }
#else
        (void)token;
        function();
#endif
    }

    /* Ends the pending. */
    template <class Make> void end(Make &&outcome) noexcept {
        const delivering now(downloader_);
        if (!ending_) return;
        guarded("pending", [&] {
            ending_->end(thrown_ ? result<Value>(error_of(thrown_)) : outcome());
        });
    }

    std::function<void(const result<Value> &)> on_completed;

    static void completed(const sdd_result *result, void *user_data) noexcept {
        auto &self = of(user_data);
        if (self.on_completed)
            self.call("on_completed", result->token,
                      [&] { self.on_completed(outcome_of<Value>(*result)); });
        self.end([&] { return outcome_of<Value>(*result); });
    }

private:
    sdd_downloader *const downloader_;
    const std::shared_ptr<ending<Value>> ending_;
    std::exception_ptr thrown_;
};

/*
 * Submits a request whose user data is a listener: submit(listener) calls the C function. The
 * library deletes the listener if that returns a token.
 */
template <class Listener, class Submit>
result<sdd_token> accepted(std::unique_ptr<Listener> &listener, Submit &&submit) {
    Listener *const given = listener.release(); /* it may be deleted before submit returns */
    const sdd_token token = submit(given);
    if (token != 0) return token;
    auto failed = error::of_last_call();
    listener.reset(given);
    return failed;
}

/* The pending of a listener with that ending. */
template <class Value, class Listener, class Submit>
pending<Value> started(std::shared_ptr<ending<Value>> end, std::unique_ptr<Listener> listener,
                       Submit &&submit) {
    auto token = accepted(listener, std::forward<Submit>(submit));
    if (token) return {std::move(end), *token};
    end->end(token.error());
    return {std::move(end), 0};
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_LISTENER_HPP */

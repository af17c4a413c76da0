/*
 * sdd/cpp/pending.hpp - Requests under way: waiting, futures, coroutines, cancelling.
 */
#ifndef SDD_CPP_PENDING_HPP
#define SDD_CPP_PENDING_HPP

#include "result.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <unistd.h>
#include <vector>

#if defined(__cpp_impl_coroutine) && defined(__has_include)
#if __has_include(<coroutine>)
#include <coroutine>
#define SDD_CPP_COROUTINES 1
#endif
#endif
#ifndef SDD_CPP_COROUTINES
#define SDD_CPP_COROUTINES 0
#endif

SDD_CPP_BEGIN

/**
 * Chooses the thread on which a coroutine is resumed or the function of then() runs: it receives a
 * job and runs it once, later, on any thread: by the post function of an event loop or thread pool.
 * It is called on the thread that delivers. If it throws, the exception is handed on
 * (set_exception_handler()) and the job runs at once, on that thread.
 */
using executor = std::function<void(std::function<void()> job)>;

namespace detail {

/* While a callback of a downloader runs on this thread: refuses waiting for that downloader. */
class delivering {
public:
    explicit delivering(sdd_downloader *downloader) noexcept
        : downloader_(downloader), outer_(std::exchange(innermost(), this)) {}
    ~delivering() { innermost() = outer_; }
    delivering(const delivering &) = delete;
    delivering &operator=(const delivering &) = delete;

    /* Whether one runs, however many deliveries of others run inside it. */
    static bool is_running(const sdd_downloader *downloader) noexcept {
        const delivering *place = innermost();
        while (place != nullptr && named(place->downloader_) != named(downloader))
            place = place->outer_;
        return place != nullptr;
    }

private:
    /* The shared downloader has two names: NULL and its handle. */
    static const sdd_downloader *named(const sdd_downloader *downloader) noexcept {
        return downloader == nullptr ? sdd_downloader_shared() : downloader;
    }
    static const delivering *&innermost() noexcept {
        static thread_local const delivering *place = nullptr;
        return place;
    }

    sdd_downloader *const downloader_;
    const delivering *const outer_;
};

/* The end of a request, shared by its callbacks and by the pending that waits for it. */
template <class Value> class ending : public std::enable_shared_from_this<ending<Value>> {
public:
    explicit ending(sdd_downloader *downloader) noexcept : downloader_(downloader) {}

    void end(result<Value> outcome) {
        executor run_on;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (outcome_) return;
            outcome_.emplace(std::move(outcome));
            ended_.notify_all();
            if (next_.empty()) return;
            run_on = executor_;
        }
        run_next_on(run_on);
    }

    bool has_ended() const {
        if (is_forked()) return true;
        const std::lock_guard<std::mutex> lock(mutex_);
        return outcome_.has_value();
    }

    result<Value> wait() const {
        if (is_forked())
            return error(SDD_ERROR_FORKED,
                         "sdd::pending: the request belongs to the parent process.");
        std::unique_lock<std::mutex> lock(mutex_);
        if (!outcome_ && would_deadlock())
            return error(SDD_ERROR_WOULD_DEADLOCK,
                         "sdd::pending: the thread delivers the events of that downloader.");
        ended_.wait(lock, [&] { return outcome_.has_value(); });
        return *outcome_;
    }

    bool wait_for(std::chrono::milliseconds limit) const {
        if (is_forked()) return true;
        std::unique_lock<std::mutex> lock(mutex_);
        if (!outcome_ && would_deadlock()) return false;
        return ended_.wait_for(lock, limit, [&] { return outcome_.has_value(); });
    }

    void set_executor(executor run_on) {
        if (is_forked()) return;
        const std::lock_guard<std::mutex> lock(mutex_);
        executor_ = std::move(run_on);
    }

    /* Adds what runs at the end, for `owner`; false if it has ended, and then nothing is added. */
    bool add_next(std::function<void()> next, const void *owner = nullptr) {
        if (is_forked()) return false;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (outcome_) return false;
        next_.push_back({owner, std::move(next)});
        return true;
    }

    /* Runs a job as if the request ended now. */
    void run(std::function<void()> job) {
        if (is_forked()) return guarded("pending.then", job);
        executor run_on;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            next_.push_back({nullptr, std::move(job)});
            run_on = executor_;
        }
        run_next_on(run_on);
    }

    /* Drops what was added for `owner`, unless it has run. */
    void drop_next(const void *owner) noexcept {
        if (is_forked()) return;
        std::function<void()> dropped; /* destroyed without the lock */
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto place = std::find_if(next_.begin(), next_.end(),
                                        [&](const step &next) { return next.owner == owner; });
        if (place == next_.end()) return;
        dropped.swap(place->run);
        next_.erase(place);
    }

private:
    /* A coroutine to resume, or a function to call. */
    struct step {
        const void *owner;
        std::function<void()> run;
    };

    /* In the child of a fork the request never ends, and the mutex may be locked for ever. */
    bool is_forked() const noexcept { return process_ != getpid(); }

    bool would_deadlock() const noexcept { return delivering::is_running(downloader_); }

    void run_next_on(const executor &run_on) {
        if (!run_on) return run_next();
        const bool is_posted = guarded("executor", false, [&] {
            run_on([self = this->shared_from_this()] { self->run_next(); });
            return true;
        });
        if (!is_posted) run_next();
    }

    /* Runs what was added, unless it has run or was dropped meanwhile. */
    void run_next() noexcept {
        const auto self = this->shared_from_this();
        for (;;) {
            std::function<void()> next;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                if (next_.empty()) return;
                next.swap(next_.front().run);
                next_.erase(next_.begin());
            }
            guarded("pending.then", [&] { next(); });
        }
    }

    mutable std::mutex mutex_;
    mutable std::condition_variable ended_;
    std::optional<result<Value>> outcome_;
    std::vector<step> next_;
    executor executor_;
    sdd_downloader *const downloader_;
    const pid_t process_ = getpid();
};

} // namespace detail

/**
 * A request under way, which ends with a result: get() waits for it, then() calls a function,
 * future() gives a std::future, and co_await suspends a coroutine.
 *
 * Ownership: can be moved and not copied. Destroying it, or assigning to it, cancels the request,
 * unless it has ended or detach(), then() or future() was called; coroutines that await it are
 * resumed all the same. It may outlive its downloader and loader: destroying those ends it with
 * SDD_ERROR_CANCELLED. A moved-from or default-made one has ended, with SDD_ERROR_NOT_FOUND.
 * Errors: a request that could not be submitted has ended at once, with the reason. If a callback
 * of the request throws, the request is cancelled and its result is an error with that exception as
 * cause(); result::value() throws it.
 * Thread: any; not one object on several at once, except for ready() and get().
 * Fork: in the child a request of the parent has ended, with SDD_ERROR_FORKED. A std::future made
 *     of it is never ready there.
 * Delivery: with SDD_DELIVERY_APPLICATION the request ends only when a thread takes the events:
 *     downloader::dispatch(), wait() or idle_wait(). On the thread that delivers get() does not
 *     wait, and gives SDD_ERROR_WOULD_DEADLOCK.
 */
template <class Value> class [[nodiscard]] pending {
public:
    pending() noexcept = default;
    pending(pending &&other) noexcept
        : ending_(std::move(other.ending_)), token_(std::exchange(other.token_, 0)) {}
    pending &operator=(pending &&other) noexcept {
        if (this != &other) {
            abandon();
            ending_ = std::move(other.ending_);
            token_ = std::exchange(other.token_, 0);
        }
        return *this;
    }
    ~pending() { abandon(); }

    /** The request's token; 0 if it could not be submitted. */
    sdd_token token() const noexcept { return token_; }
    bool ready() const { return !ending_ || ending_->has_ended(); }
    /** WAITS for the end. The result can be read any number of times. */
    result<Value> get() const {
        if (!ending_) return error(SDD_ERROR_NOT_FOUND, "sdd::pending: there is no request.");
        return ending_->wait();
    }
    /** WAITS up to a time for the end: whether it has ended. */
    bool wait_for(std::chrono::milliseconds limit) const {
        return !ending_ || ending_->wait_for(limit);
    }

    /** Cancels the request, which still ends with a result: SDD_ERROR_CANCELLED, or the one that
        was already on its way. */
    result<void> cancel() const { return detail::checked(sdd_cancel(token_)); }
    result<void> set_priority(sdd_priority priority) const {
        return detail::checked(sdd_set_priority(token_, priority));
    }
    result<sdd_token_info> info() const {
        return detail::filled(sdd_token_info SDD_TOKEN_INFO_INIT,
                              [&](auto *filled) { return sdd_token_get_info(token_, filled); });
    }
    /** The URL, as the request modifier has left it. */
    result<std::string> url() const {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return sdd_token_get_url(token_, buffer, capacity, length);
        });
    }
    /** The response, once its header has arrived; SDD_ERROR_NOT_FOUND before. */
    result<sdd::response> response() const {
        return detail::owner<sdd::response, sdd_response>(
            [&](sdd_response **given) { return sdd_token_get_response(token_, given); });
    }

    /** Sets the executor of co_await and then(). Without one the coroutine is resumed, and the
        function called, on the thread that delivers: sdd-callback, or the one that dispatches. If
        the request has already ended, co_await does not suspend, and then() calls at once or by the
        executor. */
    pending &on(executor run_on) & {
        if (ending_) ending_->set_executor(std::move(run_on));
        return *this;
    }
    pending &&on(executor run_on) && { return std::move(on(std::move(run_on))); }

    /** Gives the request up without cancelling it: it ends by itself. */
    sdd_token detach() && noexcept {
        ending_.reset();
        return std::exchange(token_, 0);
    }
    /**
     * Calls a function with the result, once, and gives the request up without cancelling it. An
     * exception of the function is handed on, see set_exception_handler().
     *
     * @param call void (sdd::result<Value>). Nothing is called for a moved-from pending.
     * @return The token, for sdd_cancel().
     */
    template <class Function> sdd_token then(Function call) && {
        if (auto ending = std::move(ending_)) {
            /* Shared: std::function copies what it holds, and a function need not be copyable. */
            auto kept = std::make_shared<Function>(std::move(call));
            std::weak_ptr<detail::ending<Value>> weak = ending; /* it holds the job itself */
            auto job = [weak, kept] {
                if (auto ended = weak.lock()) (*kept)(ended->wait());
            };
            if (!ending->add_next(job)) ending->run(job);
        }
        return std::exchange(token_, 0);
    }
    /** A future of the result; the request is given up without cancelling it. */
    std::future<result<Value>> future() && {
        auto promise = std::make_shared<std::promise<result<Value>>>();
        auto made = promise->get_future();
        if (!ending_)
            promise->set_value(get());
        else
            std::move(*this).then([promise](result<Value> outcome) {
                promise->set_value(std::move(outcome));
            });
        return made;
    }

#if SDD_CPP_COROUTINES
    /** Suspends the coroutine until the end, and gives result<Value>. Any number of coroutines may
        await one pending: each is resumed. They go on, with SDD_ERROR_CANCELLED, after a pending
        that is destroyed before the end: they must not use then what ends with it.

        g++ 12 makes wrong programs of temporaries beside co_await. Name the options or the pending
        before, and the result: const auto loaded = co_await pending; if (loaded) ... */
    class awaiter {
    public:
        explicit awaiter(pending &&awaited) noexcept
            : own_(std::move(awaited)), ending_(own_.ending_) {}
        explicit awaiter(pending &awaited) noexcept : ending_(awaited.ending_) {}
        ~awaiter() {
            if (ending_) ending_->drop_next(this);
        }
        awaiter(const awaiter &) = delete;
        awaiter &operator=(const awaiter &) = delete;

        bool await_ready() const { return !ending_ || ending_->has_ended(); }
        bool await_suspend(std::coroutine_handle<> waiting) const {
            return ending_->add_next([waiting] { waiting.resume(); }, this);
        }
        result<Value> await_resume() const { return ending_ ? ending_->wait() : own_.get(); }

    private:
        pending own_; /* cancels the request if the coroutine is destroyed before its end */
        std::shared_ptr<detail::ending<Value>> ending_;
    };
    /** A coroutine that is destroyed while it waits is not resumed, and cancels the request unless
        the pending lives on elsewhere. It may be destroyed only where it would be resumed, on the
        executor's thread or on the one that delivers, or while nothing is delivered. */
    awaiter operator co_await() && noexcept { return awaiter(std::move(*this)); }
    awaiter operator co_await() & noexcept { return awaiter(*this); }
#endif

    /* For the classes of these headers. */
    pending(std::shared_ptr<detail::ending<Value>> ending, sdd_token token) noexcept
        : ending_(std::move(ending)), token_(token) {}

private:
    void abandon() noexcept {
        if (!ending_) return;
        if (!ending_->has_ended()) (void)sdd_cancel(token_);
        ending_.reset();
    }

    std::shared_ptr<detail::ending<Value>> ending_;
    sdd_token token_ = 0;
};

SDD_CPP_END

#endif /* SDD_CPP_PENDING_HPP */

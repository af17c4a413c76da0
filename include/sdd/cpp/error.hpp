/*
 * sdd/cpp/error.hpp - Errors, and results that are a value or an error.
 */
#ifndef SDD_CPP_ERROR_HPP
#define SDD_CPP_ERROR_HPP

#include "base.hpp"

#include <cassert>
#include <optional>
#include <variant>

SDD_CPP_BEGIN

namespace detail {

/* A failure that these headers tell of. Lifetime: that of the message. */
inline sdd_failure failure_of(sdd_status status, sdd_error_class error_class,
                              const std::string &message) noexcept {
    sdd_failure made{};
    made.status = status;
    made.error_class = error_class;
    made.message = message.c_str();
    return made;
}

} // namespace detail

/**
 * Why a call or a request failed: a copy of an sdd_failure. Copies of an error are cheap and share
 * their texts.
 * Thread: any.
 */
class error : public std::exception {
public:
    /** Copies a failure. */
    explicit error(const sdd_failure &failure, std::exception_ptr cause = nullptr,
                   std::shared_ptr<const sdd_result> report = nullptr)
        : kept_(keep(failure, std::move(cause), std::move(report))) {}
    error(sdd_status status, const std::string &message)
        : error(detail::failure_of(status, SDD_CLASS_REQUEST, message)) {}
    /** The error of the call of the library that has just failed on this thread. */
    static error of_last_call() {
        sdd_failure failure;
        (void)sdd_last_error(&failure);
        return error(failure);
    }
    error(const error &) = default; /* also where one is moved: there is no empty error */
    error &operator=(const error &) = default;

    /** All that is known. Lifetime: that of this error and of its copies. */
    const sdd_failure &failure() const noexcept { return kept_->failure; }
    sdd_status status() const noexcept { return failure().status; }
    /** "SDD_ERROR_TLS". */
    const char *name() const noexcept { return sdd_status_name(status()); }
    sdd_detail detail() const noexcept { return failure().detail; }
    sdd_error_class error_class() const noexcept { return failure().error_class; }
    /** SDD_STAGE_NONE for an error of a call. */
    sdd_stage stage() const noexcept { return failure().stage; }
    int32_t http_status() const noexcept { return failure().http_status; }
    int32_t curl_code() const noexcept { return failure().curl_code; }
    int32_t system_error() const noexcept { return failure().system_error; }
    /** Whether the same request may well succeed later. */
    bool retryable() const noexcept { return failure().retryable != 0; }
    /** One English sentence for people. */
    const std::string &message() const noexcept { return kept_->message; }
    /** The status's name and the sentence. */
    const char *what() const noexcept override { return kept_->text.c_str(); }
    /** The exception of a callback that ended the request; else null. */
    std::exception_ptr cause() const noexcept { return kept_->cause; }
    /** URL, response and metrics of the request that failed; null for a call that is no request.
        Lifetime: that of this error and of its copies. */
    const sdd_result *report() const noexcept { return kept_->report.get(); }

    /** Throws the cause if there is one, else this error; ends the process with -fno-exceptions. */
    [[noreturn]] void raise() const {
#if SDD_CPP_EXCEPTIONS
        if (cause()) std::rethrow_exception(cause());
        throw *this;
#else
        std::fprintf(stderr, "sdd: %s\n", what());
        std::abort();
#endif
    }

private:
    struct kept {
        sdd_failure failure;
        std::string message;
        std::string text;
        std::exception_ptr cause;
        std::shared_ptr<const sdd_result> report;
    };

    static std::shared_ptr<const kept> keep(const sdd_failure &failure, std::exception_ptr cause,
                                            std::shared_ptr<const sdd_result> report) {
        std::string text = sdd_status_name(failure.status);
        if (*failure.message != '\0') text += std::string(": ") + failure.message;
        auto made = std::make_shared<kept>(kept{failure, failure.message, std::move(text),
                                                std::move(cause), std::move(report)});
        made->failure.message = made->message.c_str();
        return made;
    }

    std::shared_ptr<const kept> kept_;
};

/**
 * A value or an error. Test it and use `*` and `->`, or call value(), which throws the error; an
 * exception of the application's own callback is thrown as it was. With -fno-exceptions value()
 * ends the process in place of throwing; everything else works as it does elsewhere.
 */
template <class Value> class [[nodiscard]] result {
public:
    using value_type = Value;
    using error_type = sdd::error;

    result(Value value) : held_(std::in_place_index<0>, std::move(value)) {}
    result(sdd::error error) : held_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return held_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    /** SDD_OK or the error's status. */
    sdd_status status() const noexcept {
        return has_value() ? sdd_status{SDD_OK} : error().status();
    }
    /** The error. There must be one. */
    const sdd::error &error() const noexcept {
        assert(!has_value());
        return *std::get_if<1>(&held_);
    }
    /* The value. There must be one. */
    Value &operator*() & noexcept { return *held(); }
    const Value &operator*() const & noexcept { return *held(); }
    Value operator*() && noexcept { return std::move(*held()); }
    Value *operator->() noexcept { return held(); }
    const Value *operator->() const noexcept { return held(); }
    /* The value, or throws. */
    Value &value() & {
        check();
        return *held();
    }
    const Value &value() const & {
        check();
        return *held();
    }
    Value value() && { /* not a reference into what ends with the statement */
        check();
        return std::move(*held());
    }
    template <class Other> Value value_or(Other &&other) const & {
        return has_value() ? **this : static_cast<Value>(std::forward<Other>(other));
    }
    template <class Other> Value value_or(Other &&other) && {
        return has_value() ? std::move(*held()) : static_cast<Value>(std::forward<Other>(other));
    }

private:
    Value *held() noexcept {
        assert(has_value());
        return std::get_if<0>(&held_);
    }
    const Value *held() const noexcept {
        assert(has_value());
        return std::get_if<0>(&held_);
    }
    void check() const {
        if (!has_value()) error().raise();
    }

    std::variant<Value, sdd::error> held_;
};

/** Success or an error. */
template <> class [[nodiscard]] result<void> {
public:
    using value_type = void;
    using error_type = sdd::error;

    result() noexcept = default;
    result(sdd::error error) : error_(std::move(error)) {}

    bool has_value() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    sdd_status status() const noexcept { return error_ ? error_->status() : sdd_status{SDD_OK}; }
    const sdd::error &error() const noexcept {
        assert(error_.has_value());
        return *error_;
    }
    void value() const {
        if (error_) error_->raise();
    }

private:
    std::optional<sdd::error> error_;
};

namespace detail {

/* The result of a C function that returns only a status. */
inline result<void> checked(sdd_status status) {
    if (status == SDD_OK) return {};
    return error::of_last_call();
}

/* The result of a C function that fills a struct or gives a number: fill(&made). */
template <class Made, class Fill> result<Made> filled(Made made, Fill &&fill) {
    if (fill(&made) != SDD_OK) return error::of_last_call();
    return made;
}

/* The result of a C function that gives an object, which the result then owns: make(&object). */
template <class Owner, class Object, class Make> result<Owner> owner(Make &&make) {
    Object *made = nullptr;
    if (make(&made) != SDD_OK) return error::of_last_call();
    return Owner(made, adopt);
}

/* The text that a C function writes into a buffer: fill(buffer, capacity, &length). */
template <class Fill> result<std::string> text(Fill &&fill) {
    std::string made(200, '\0');
    std::size_t length = 0;
    sdd_status status = fill(made.data(), made.size() + 1, &length);
    while (status == SDD_ERROR_BUFFER_TOO_SMALL) {
        made.resize(length);
        status = fill(made.data(), made.size() + 1, &length);
    }
    if (status != SDD_OK) return error::of_last_call();
    made.resize(length);
    return made;
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_ERROR_HPP */

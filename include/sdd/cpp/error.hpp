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

struct report;

/**
 * Why a call or a request failed. Copies are cheap and share their texts.
 * Thread: any.
 */
class error : public std::exception {
public:
    /* The facts of an error. `error_class`, `stage` and `retryable` are those of sdd_result; of a
       call that gives only a status, `retryable` is made from status, detail and HTTP status, as
       the library makes it. */
    struct facts {
        sdd_status status = SDD_OK;
        int32_t detail = SDD_DETAIL_NONE; /* one of SDD_DETAIL_ */
        int32_t http_status = 0;          /* 0: there was no response */
        int32_t error_class = SDD_CLASS_NONE;
        int32_t stage = SDD_STAGE_NONE;
        int32_t curl_code = 0;
        int32_t system_error = 0; /* errno */
        bool retryable = false;
        std::string message;      /* one sentence */
        std::exception_ptr cause; /* thrown by a callback of the application */
        std::shared_ptr<const sdd::report> report;
    };

    explicit error(facts about) {
        std::string text = sdd_status_name(about.status);
        if (!about.message.empty()) text += ": " + about.message;
        kept_ = std::make_shared<const kept>(kept{std::move(about), std::move(text)});
    }
    error(sdd_status status, std::string message, int32_t detail = 0, int32_t http_status = 0)
        : error(of_call(status, std::move(message), detail, http_status)) {}
    /** The error of the call of the library that has just failed on this thread. */
    static error of_last_call(sdd_status status, int32_t detail = 0, int32_t http_status = 0) {
        return error(status, sdd_last_error_message(), detail, http_status);
    }
    error(const error &) = default; /* also where one is moved: there is no empty error */
    error &operator=(const error &) = default;

    /** One of SDD_ERROR_. */
    sdd_status status() const noexcept { return all().status; }
    /** "SDD_ERROR_TLS". */
    const char *name() const noexcept { return sdd_status_name(status()); }
    /** One of SDD_DETAIL_. */
    int32_t detail() const noexcept { return all().detail; }
    /** One of SDD_CLASS_. */
    int32_t error_class() const noexcept { return all().error_class; }
    /** One of SDD_STAGE_; SDD_STAGE_NONE for an error of a call. */
    int32_t stage() const noexcept { return all().stage; }
    int32_t http_status() const noexcept { return all().http_status; }
    int32_t curl_code() const noexcept { return all().curl_code; }
    int32_t system_error() const noexcept { return all().system_error; }
    /** Whether the same request may well succeed later. */
    bool retryable() const noexcept { return all().retryable; }
    /** One English sentence for people. */
    const std::string &message() const noexcept { return all().message; }
    /** The status's name and the sentence. */
    const char *what() const noexcept override { return kept_->text.c_str(); }
    /** The exception of a callback that ended the request; else null. */
    std::exception_ptr cause() const noexcept { return all().cause; }
    /** URL, response, timings and metrics of the request that failed; null for a call. */
    const sdd::report *report() const noexcept { return all().report.get(); }
    const facts &all() const noexcept { return kept_->about; }

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
        facts about;
        std::string text;
    };

    static facts of_call(sdd_status status, std::string message, int32_t detail,
                         int32_t http_status) {
        facts made;
        made.status = status;
        made.detail = detail;
        made.http_status = http_status;
        made.message = std::move(message);
        made.error_class = sdd_status_class(status, detail);
        made.retryable = is_retryable(status, detail, http_status);
        return made;
    }
    static bool is_retryable(sdd_status status, int32_t detail, int32_t http_status) noexcept;

    std::shared_ptr<const kept> kept_;
};

inline bool error::is_retryable(sdd_status status, int32_t detail, int32_t http_status) noexcept {
    switch (status) {
    case SDD_ERROR_RESOLVE:
    case SDD_ERROR_CONNECT:
    case SDD_ERROR_TIMEOUT:
    case SDD_ERROR_CONNECTION_LOST:
    case SDD_ERROR_TRUNCATED_BODY:
    case SDD_ERROR_NO_RESOURCES: return true;
    case SDD_ERROR_INVALID_DOWNLOAD_OPERATION: return detail == SDD_DETAIL_OPERATION_NO_TRANSFER;
    case SDD_ERROR_TLS: return detail == SDD_DETAIL_TLS_HANDSHAKE;
    case SDD_ERROR_BAD_IMAGE_DATA:
        return detail == SDD_DETAIL_IMAGE_NO_MEMORY || detail == SDD_DETAIL_IMAGE_TRUNCATED;
    case SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE:
        return http_status == 408 || http_status == 425 || http_status == 429 ||
               http_status == 500 || (http_status >= 502 && http_status <= 504);
    default: return false;
    }
}

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

/* The error of a struct that has the facts of one: sdd_loaded, sdd_batch_item. */
template <class Struct> error error_from(const Struct &from) {
    error::facts about;
    about.status = from.error;
    about.detail = from.detail;
    about.http_status = from.http_status;
    about.error_class = from.error_class;
    about.stage = from.stage;
    about.retryable = from.retryable != 0;
    about.curl_code = from.curl_code;
    about.system_error = from.system_error;
    about.message = from.message;
    return error(std::move(about));
}

/* The result of a C function that returns only a status. */
inline result<void> checked(sdd_status status, int32_t detail = 0) {
    if (status == SDD_OK) return {};
    return error::of_last_call(status, detail);
}

/* The result of a C function that fills a struct. */
template <class Struct, class Fill> result<Struct> filled(Struct made, Fill &&fill) {
    const sdd_status status = fill(&made);
    if (status != SDD_OK) return error::of_last_call(status);
    return made;
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
    if (status != SDD_OK) return error::of_last_call(status);
    made.resize(length);
    return made;
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_ERROR_HPP */

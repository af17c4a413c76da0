/*
 * sdd/cpp/result.hpp - Responses, and what a request ends with.
 */
#ifndef SDD_CPP_RESULT_HPP
#define SDD_CPP_RESULT_HPP

#include "image.hpp"

#include <forward_list>

SDD_CPP_BEGIN

/**
 * The status, URL and header fields of a response: one reference, see counted. Immutable.
 * Thread: any. Lifetime: texts, while a reference to the response is held. Errors: where there is
 * no response, numbers are 0 and texts empty.
 */
class response : public counted<sdd_response, sdd_response_retain, sdd_response_release> {
public:
    using counted::counted;

    std::string_view url() const noexcept { return detail::view_of(sdd_response_url(get())); }
    /** The HTTP status; 0 for a scheme without one. */
    int32_t status() const noexcept { return sdd_response_status(get()); }
    /** "image/jpeg"; "" if the response names none. */
    std::string_view mime_type() const noexcept {
        return detail::view_of(sdd_response_mime_type(get()));
    }
    /** The first field of that name, compared without regard to case. */
    std::optional<std::string_view> header(const std::string &name) const {
        const char *value = sdd_response_header(get(), name.c_str());
        if (value == nullptr) return std::nullopt;
        return value;
    }
    std::size_t header_count() const noexcept { return sdd_response_header_count(get()); }
    /** Name and value of one field, in the order in which they arrived; empty past the last one. */
    std::pair<std::string_view, std::string_view> header_at(std::size_t index) const noexcept {
        const char *name = nullptr, *value = nullptr;
        (void)sdd_response_header_at(get(), index, &name, &value);
        return {detail::view_of(name), detail::view_of(value)};
    }
};

/**
 * The outcome of a download, a load or a cache query that succeeded.
 * Lifetime: that of the object: all members are references or copies.
 */
struct loaded {
    sdd::image image;    /* none with SDD_OPTION_BYTES_ONLY and with a sink */
    sdd::bytes bytes;    /* the encoded bytes, where there are some: BYTES in loader.h */
    sdd::bytes extended; /* the application's bytes of a cache entry */
    sdd::response response;
    sdd_origin origin = SDD_ORIGIN_NONE;
    bool is_transformed = false;
    /* After loader::submit_wait() with SDD_OPTION_REFRESH_CACHED: why this is still the cached
       picture; SDD_ERROR_NOT_MODIFIED: the server says that it is valid. */
    std::optional<sdd::error> refresh_error;
    /* All fields of the result, among them its URL, HTTP status and metrics. Null only in an object
       that the application has made. */
    std::shared_ptr<const sdd_result> report;
};

/** The outcome of one URL of a prefetch list: sdd_outcome. */
struct outcome {
    std::optional<sdd::error> error;
    sdd_origin origin = SDD_ORIGIN_NONE;
};

namespace detail {

using kept_result = std::shared_ptr<const sdd_result>;

/* A copy of a result that the library lends for a call, with all that it points to. */
class result_copy {
public:
    explicit result_copy(const sdd_result &from)
        : c(from), image_(from.image, retain), bytes_(from.bytes, retain),
          extended_(from.extended, retain), response_(from.response, retain),
          metrics_(*from.metrics), sources_(from.sources, from.sources + from.source_count) {
        c.struct_size = sizeof c;
        c.url = keep(from.url);
        c.failure.message = keep(from.failure.message);
        metrics_.struct_size = sizeof metrics_;
        metrics_.remote_address = keep(from.metrics->remote_address);
        c.metrics = &metrics_;
        for (sdd_outcome &each : sources_) {
            each.url = keep(each.url);
            each.failure.message = keep(each.failure.message);
        }
        c.sources = sources_.empty() ? nullptr : sources_.data();
    }
    result_copy(const result_copy &) = delete;
    result_copy &operator=(const result_copy &) = delete;

    static kept_result of(const sdd_result &from) {
        auto made = std::make_shared<result_copy>(from);
        return {made, &made->c};
    }

    sdd_result c;

private:
    const char *keep(const char *text) {
        return text == nullptr ? nullptr : texts_.emplace_front(text).c_str();
    }

    image image_;
    bytes bytes_, extended_;
    response response_;
    sdd_metrics metrics_;
    std::vector<sdd_outcome> sources_;
    std::forward_list<std::string> texts_;
};

/* The outcome of a request. A failed one that has a picture all the same is a refresh. */
inline result<loaded> outcome_of(kept_result from) {
    std::optional<error> failed;
    if (from->failure.status != SDD_OK) {
        failed.emplace(from->failure, nullptr, from);
        if (from->image == nullptr && from->bytes == nullptr) return *failed;
    }
    return loaded{image(from->image, retain), bytes(from->bytes, retain),
                  bytes(from->extended, retain), response(from->response, retain),
                  from->origin, from->is_transformed != 0, std::move(failed), std::move(from)};
}

/* The outcome of a call that gives a result to be released; NULL: the call was refused. */
inline result<loaded> outcome_of(sdd_result *given) {
    if (given == nullptr) return error::of_last_call();
    return outcome_of(kept_result(given, sdd_result_release));
}

inline loaded loaded_of(const sdd_result &lent) { return *outcome_of(result_copy::of(lent)); }

/* The error of a request that an exception of a callback has ended. */
inline error error_of(std::exception_ptr thrown) {
    const std::string message = "A callback of the application threw: " + describe(thrown);
    return error(failure_of(SDD_ERROR_CANCELLED, SDD_CLASS_CANCELLED, message), std::move(thrown));
}

/* The outcome of a request whose result the library lends. */
template <class Value> result<Value> outcome_of(const sdd_result &lent) {
    if constexpr (std::is_same_v<Value, loaded>) {
        return outcome_of(result_copy::of(lent));
    } else {
        if (lent.failure.status != SDD_OK)
            return error(lent.failure, nullptr, result_copy::of(lent));
        if constexpr (std::is_void_v<Value>)
            return {};
        else
            return Value(lent.bytes, retain);
    }
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_RESULT_HPP */

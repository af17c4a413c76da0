/*
 * sdd/cpp/result.hpp - Responses, and what a request ends with.
 */
#ifndef SDD_CPP_RESULT_HPP
#define SDD_CPP_RESULT_HPP

#include "image.hpp"

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

/** One URL of a load that failed, see load_request::alternatives. */
struct source_error {
    std::string url;
    sdd::error error;
};

/** What is known of a request that has ended, with success or not: sdd_result's fields. */
struct report {
    sdd_token token = 0;
    std::string url; /* as submitted; for requests of a cache, the key */
    int32_t http_status = 0;
    int32_t origin = SDD_ORIGIN_NETWORK; /* one of SDD_ORIGIN_ */
    bool finished = true;                /* false in a preview and for a cached picture */
    bool end_unproven = false;
    bool transformed = false;
    sdd::response response;              /* none: no response came */
    sdd_timings timings{};
    sdd_metrics metrics{};               /* its remote_address is the text below */
    std::string remote_address;
    std::vector<source_error> sources;

    report() = default;
    report(const report &) = delete; /* metrics points into it */
    report &operator=(const report &) = delete;
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
    int32_t http_status = 0;
    int32_t origin = SDD_ORIGIN_NETWORK; /* one of SDD_ORIGIN_ */
    bool transformed = false;
    /* After loader::fetch() with SDD_OPTION_REFRESH_CACHED: why this is still the cached picture;
       SDD_ERROR_NOT_MODIFIED: the server says that it is valid. */
    std::optional<sdd::error> refresh_error;
    /* Null after a call that waits: loader::fetch() and the like. */
    std::shared_ptr<const sdd::report> report;
};

namespace detail {

inline std::shared_ptr<const report> report_of(const sdd_result &result) {
    auto made = std::make_shared<report>();
    made->token = result.token;
    made->url = view_of(result.url);
    made->http_status = result.http_status;
    made->origin = result.origin;
    made->finished = result.finished != 0;
    made->end_unproven = result.end_unproven != 0;
    made->transformed = result.transformed != 0;
    made->response = response(result.response, retain);
    made->timings = *result.timings;
    made->metrics = *result.metrics;
    made->remote_address = view_of(result.metrics->remote_address);
    made->metrics.remote_address = made->remote_address.c_str();
    auto source = reinterpret_cast<const char *>(result.sources);
    for (std::size_t i = 0; i < result.source_count; i++) {
        const sdd_source_error &failed = *reinterpret_cast<const sdd_source_error *>(source);
        error::facts about = error(failed.error, failed.message, failed.detail,
                                   failed.http_status).all();
        about.retryable = failed.retryable != 0;
        made->sources.push_back({std::string(view_of(failed.url)), error(std::move(about))});
        source += failed.struct_size;
    }
    return made;
}

inline loaded loaded_of(const sdd_result &result) {
    loaded made;
    made.image = image(result.image, retain);
    made.bytes = bytes(result.bytes, retain);
    made.extended = bytes(result.extended, retain);
    made.response = response(result.response, retain);
    made.http_status = result.http_status;
    made.origin = result.origin;
    made.transformed = result.transformed != 0;
    made.report = report_of(result);
    return made;
}

inline error error_of(const sdd_result &result) {
    error::facts about;
    about.status = result.error;
    about.detail = result.detail;
    about.http_status = result.http_status;
    about.error_class = result.error_class;
    about.stage = result.stage;
    about.curl_code = result.curl_code;
    about.system_error = result.system_error;
    about.retryable = result.retryable != 0;
    about.message = result.message;
    about.report = report_of(result);
    return error(std::move(about));
}

/* The error of a request that an exception of a callback has ended. */
inline error error_of(std::exception_ptr thrown) {
    error::facts about;
    about.status = SDD_ERROR_CANCELLED;
    about.error_class = SDD_CLASS_CANCELLED;
    about.message = "A callback of the application threw: " + describe(thrown);
    about.cause = std::move(thrown);
    return error(std::move(about));
}

/* Makes the value of a request that succeeded. */
template <class Value> Value value_of(const sdd_result &result);
template <> inline loaded value_of<loaded>(const sdd_result &result) { return loaded_of(result); }
template <> inline bytes value_of<bytes>(const sdd_result &result) {
    return bytes(result.bytes, retain);
}
template <> inline void value_of<void>(const sdd_result &) {}

template <class Value> result<Value> outcome_of(const sdd_result &result) {
    if (result.error != SDD_OK) return error_of(result);
    if constexpr (std::is_void_v<Value>)
        return {};
    else
        return value_of<Value>(result);
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_RESULT_HPP */

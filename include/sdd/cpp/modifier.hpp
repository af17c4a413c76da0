/*
 * sdd/cpp/modifier.hpp - Modifiers of requests, responses and bodies.
 */
#ifndef SDD_CPP_MODIFIER_HPP
#define SDD_CPP_MODIFIER_HPP

#include "result.hpp"

#include <atomic>

SDD_CPP_BEGIN

/** A header field: a name and a value. Without a value it removes the field of that name. */
struct header {
    std::string name{};
    std::optional<std::string> value{};
};

namespace detail {

inline std::vector<sdd_header> c_headers(const std::vector<header> &headers) {
    std::vector<sdd_header> made{};
    made.reserve(headers.size());
    for (const header &each : headers)
        made.push_back({each.name.c_str(), each.value ? each.value->c_str() : nullptr});
    return made;
}

} // namespace detail

/**
 * A request that a request modifier may change.
 * Ownership: the library's. Thread: the modifier's. Lifetime: until the modifier returns; texts,
 * until the draft is changed. Errors: as results; the draft is then as it was.
 */
class draft {
public:
    explicit draft(sdd_draft *lent) noexcept : draft_(lent) {}
    draft(const draft &) = delete;
    draft &operator=(const draft &) = delete;

    std::string_view url() const noexcept { return detail::view_of(sdd_draft_url(draft_)); }
    std::string_view method() const noexcept { return detail::view_of(sdd_draft_method(draft_)); }
    std::optional<std::string_view> header(const std::string &name) const {
        const char *value = sdd_draft_header(draft_, name.c_str());
        if (value == nullptr) return std::nullopt;
        return value;
    }
    result<void> set_url(const std::string &url) {
        return detail::checked(sdd_draft_set_url(draft_, url.c_str()));
    }
    result<void> set_method(const std::string &method) {
        return detail::checked(sdd_draft_set_method(draft_, method.c_str()));
    }
    result<void> set_header(const std::string &name, const std::string &value) {
        return detail::checked(sdd_draft_set_header(draft_, name.c_str(), value.c_str()));
    }
    result<void> remove_header(const std::string &name) {
        return detail::checked(sdd_draft_set_header(draft_, name.c_str(), nullptr));
    }
    result<void> set_body(byte_view body) {
        return detail::checked(sdd_draft_set_body(draft_, body.data(), body.size()));
    }
    sdd_draft *get() const noexcept { return draft_; }

private:
    sdd_draft *const draft_;
};

/** The changes that a response modifier makes; see sdd_response_change for the rules. */
struct response_change {
    int32_t http_status = 0;                /* at first the server's */
    std::optional<std::string> mime_type{};   /* empty: as it is */
    std::vector<sdd::header> headers{};       /* fields to replace, and to remove */
};

/**
 * Functions that change requests and responses. An exception in one is handed on
 * (set_exception_handler()) and refuses: the request ends as if the function had returned false.
 */
struct modifier_functions {
    /* Returns whether to go on. Thread: the submitting one, inside the submitting call. */
    std::function<bool(draft &request)> request;
    /* Returns whether to go on. Thread: decode threads, several at a time. */
    std::function<bool(const response &answer, response_change &change)> response;
    /* Returns the body to go on with, perhaps `body` itself; none (false) refuses. Thread: as
       `response`. */
    std::function<bytes(const bytes &body, const sdd::response &answer)> body;
};

/**
 * Modifiers of a downloader or of requests. Copies share their functions. Only requests with the
 * same modifiers, copies of one object, share a transfer.
 * Thread: any. Lifetime: the functions live until the last copy is destroyed and no request uses
 * them.
 */
class modifiers {
public:
    explicit modifiers(modifier_functions functions)
        : shared_(new shared{std::move(functions), {1}}) {}
    modifiers(const modifiers &other) noexcept : shared_(other.shared_) { shared_->retain(); }
    modifiers &operator=(const modifiers &other) noexcept {
        other.shared_->retain();
        shared_->release();
        shared_ = other.shared_;
        return *this;
    }
    ~modifiers() { shared_->release(); }

    /** The C struct. Its user_data_free gives back one reference, which lend() has added: the
        library calls it if it accepts the struct. */
    sdd_modifiers lend() const noexcept {
        shared_->retain();
        sdd_modifiers made = SDD_MODIFIERS_INIT;
        if (shared_->functions.request) made.request_modifier = change_request;
        if (shared_->functions.response) made.response_modifier = change_response;
        if (shared_->functions.body) made.body_transform = transform_body;
        made.user_data = shared_;
        made.user_data_free = take_back;
        return made;
    }
    /** Gives back the reference of a struct that the library has not accepted. */
    static void take_back(void *user_data) noexcept {
        static_cast<shared *>(user_data)->release();
    }

private:
    struct shared {
        modifier_functions functions;
        std::atomic<int> references;

        void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
        void release() noexcept {
            if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
        }
    };
    static const modifier_functions &of(void *user_data) noexcept {
        return static_cast<shared *>(user_data)->functions;
    }

    static sdd_status change_request(sdd_draft *lent, void *user_data) noexcept {
        return detail::guarded("modifiers.request", refused, [&] {
            draft request(lent);
            return of(user_data).request(request) ? sdd_status{SDD_OK} : refused;
        });
    }
    static sdd_status change_response(sdd_response *lent, sdd_response_change *change,
                                      void *user_data) noexcept {
        return detail::guarded("modifiers.response", refused, [&] {
            /* The library copies the texts after this function has returned. */
            static thread_local response_change made;
            static thread_local std::vector<sdd_header> fields;
            made = response_change{};
            made.http_status = change->http_status;
            if (!of(user_data).response(sdd::response(lent, retain), made)) return refused;
            change->http_status = made.http_status;
            if (made.mime_type) change->mime_type = made.mime_type->c_str();
            fields = detail::c_headers(made.headers);
            change->headers = fields.data();
            change->header_count = fields.size();
            return sdd_status{SDD_OK};
        });
    }
    static sdd_bytes *transform_body(sdd_bytes *body, sdd_response *lent,
                                     void *user_data) noexcept {
        return detail::guarded("modifiers.body", static_cast<sdd_bytes *>(nullptr), [&] {
            return of(user_data)
                .body(bytes(body, retain), sdd::response(lent, retain))
                .release();
        });
    }

    static constexpr sdd_status refused = SDD_ERROR_INVALID_ARGUMENT;
    shared *shared_;
};

SDD_CPP_END

#endif /* SDD_CPP_MODIFIER_HPP */

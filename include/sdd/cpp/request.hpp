/*
 * sdd/cpp/request.hpp - Downloads and loads with all their settings.
 */
#ifndef SDD_CPP_REQUEST_HPP
#define SDD_CPP_REQUEST_HPP

#include "listener.hpp"
#include "modifier.hpp"

SDD_CPP_BEGIN

/** Credentials for one server: sdd_credential. An empty text is a part that is not set. */
struct credential {
    std::string username{};
    std::string password{};
    sdd_auth_schemes schemes = 0; /* SDD_AUTH_ bits; 0: all */
    std::string bearer_token{};
    std::string client_certificate{};
    std::string client_key{};
    std::string client_key_password{};
};

/*
 * Callbacks of a request. They run where the downloader delivers: on its thread sdd-callback, or in
 * dispatch() and wait() with SDD_DELIVERY_APPLICATION; one at a time for each downloader. If one
 * throws, see pending; no later one of that request is called then. They must be copyable, as for
 * std::function; the request's copies are destroyed on that thread after it has ended.
 */
using progress_function = std::function<void(int64_t received_bytes, int64_t expected_bytes)>;
using facts_function = std::function<void(const image_info &info)>;
using loaded_function = std::function<void(const loaded &what)>;
using completed_function = std::function<void(const result<loaded> &outcome)>;

/**
 * How to transfer, for downloads, loads, prefetch lists and batches: sdd_transfer_options, whose
 * comments describe the fields. Texts that are empty, numbers that are 0, and values that are not
 * set are as the downloader's configuration says.
 */
struct transfer_options {
    std::vector<header> headers{};
    std::string referrer{};
    std::optional<sdd::credential> credential{};
    std::optional<sdd::modifiers> modifiers{};
    std::string accepted_status_codes{};
    std::string accepted_content_types{};
    int64_t max_body_bytes = 0;
    int32_t max_redirects = 0;
    sdd_redirect_mode redirects = SDD_REDIRECT_FOLLOW;
    int32_t max_attempts = 0;
    std::string ca_file{};
    int64_t queue_timeout_ms = 0;
    int64_t connect_timeout_ms = 0;
    int64_t first_byte_timeout_ms = 0;
    int64_t download_timeout_ms = 0;
    int64_t total_timeout_ms = 0;
    int64_t low_speed_limit = 0;
    int64_t low_speed_time_ms = 0;
};

/**
 * A download with all its settings: sdd_download_request, whose comments describe the fields.
 * Texts that are empty, numbers that are 0, and values that are not set have their defaults.
 * Lifetime: copied by the submitting call, except for the memory at decode->pixels and the
 * allocator.
 */
struct download_request {
    std::string url{};
    sdd_options options = 0;
    sdd_priority priority = SDD_PRIORITY_DEFAULT;
    sdd_sink_kind sink = SDD_SINK_MEMORY;
    int32_t sink_fd = 0; /* duplicated by the submitting call */
    transfer_options transfer{};
    std::optional<decode_options> decode{};
    completed_function on_completed{};
    progress_function on_progress{};
    loaded_function on_preview{};
    facts_function on_facts{};
    std::string method{}; /* "": GET */
    std::string body{};
    std::string range{};
    std::string integrity{};
    int64_t expected_bytes = 0;
};

/** A load with all its settings: sdd_load_request. Otherwise as download_request. */
struct load_request {
    std::string url{};
    sdd_options options = 0;
    sdd_priority priority = SDD_PRIORITY_DEFAULT;
    sdd_cache_levels query = SDD_CACHE_DEFAULT;
    sdd_cache_levels store = SDD_CACHE_DEFAULT;
    sdd_cache_levels original_query = SDD_CACHE_DEFAULT;
    sdd_cache_levels original_store = SDD_CACHE_DEFAULT;
    std::string cache_key{};
    transfer_options transfer{};
    std::optional<decode_options> decode{};
    std::vector<transform> transforms{};
    std::vector<std::string> alternatives{}; /* other URLs of the same picture */
    completed_function on_completed{};
    progress_function on_progress{};
    loaded_function on_preview{};
    facts_function on_facts{};
    loaded_function on_cached{}; /* with SDD_OPTION_REFRESH_CACHED */
    std::string integrity{};
    int64_t expected_bytes = 0;
};

namespace detail {

inline sdd_credential c_credential(const credential &from) noexcept {
    sdd_credential made = SDD_CREDENTIAL_INIT;
    made.username = or_null(from.username);
    made.password = or_null(from.password);
    made.schemes = from.schemes;
    made.bearer_token = or_null(from.bearer_token);
    made.client_certificate = or_null(from.client_certificate);
    made.client_key = or_null(from.client_key);
    made.client_key_password = or_null(from.client_key_password);
    return made;
}

inline std::vector<const char *> c_texts(const std::vector<std::string> &texts) {
    std::vector<const char *> made;
    made.reserve(texts.size());
    for (const std::string &each : texts) made.push_back(each.c_str());
    return made;
}

/* The modifiers in a C struct: gives their reference back unless the library has taken them. */
class lent_modifiers {
public:
    lent_modifiers() noexcept = default;
    explicit lent_modifiers(const std::optional<modifiers> &from) noexcept
        : c_(from ? from->lend() : sdd_modifiers SDD_MODIFIERS_INIT), is_set_(from.has_value()) {}
    ~lent_modifiers() {
        if (is_set_ && !is_taken_) modifiers::take_back(c_.user_data);
    }
    lent_modifiers(const lent_modifiers &) = delete;
    lent_modifiers &operator=(const lent_modifiers &) = delete;

    const sdd_modifiers *get() const noexcept { return is_set_ ? &c_ : nullptr; }
    void taken() noexcept { is_taken_ = true; }

private:
    sdd_modifiers c_ = SDD_MODIFIERS_INIT;
    bool is_set_ = false, is_taken_ = false;
};

/* The C struct of transfer options, with everything that it points to. */
class c_transfer {
public:
    explicit c_transfer(const transfer_options &from)
        : headers_(c_headers(from.headers)), modifiers_(from.modifiers) {
        if (from.credential) credential_ = c_credential(*from.credential);
        c.headers = headers_.data();
        c.header_count = headers_.size();
        c.referrer = or_null(from.referrer);
        c.credential = from.credential ? &credential_ : nullptr;
        c.modifiers = modifiers_.get();
        c.accepted_status_codes = or_null(from.accepted_status_codes);
        c.accepted_content_types = or_null(from.accepted_content_types);
        c.max_body_bytes = from.max_body_bytes;
        c.max_redirects = from.max_redirects;
        c.redirects = from.redirects;
        c.max_attempts = from.max_attempts;
        c.ca_file = or_null(from.ca_file);
        c.queue_timeout_ms = from.queue_timeout_ms;
        c.connect_timeout_ms = from.connect_timeout_ms;
        c.first_byte_timeout_ms = from.first_byte_timeout_ms;
        c.download_timeout_ms = from.download_timeout_ms;
        c.total_timeout_ms = from.total_timeout_ms;
        c.low_speed_limit = from.low_speed_limit;
        c.low_speed_time_ms = from.low_speed_time_ms;
    }

    /* The library has accepted the struct. */
    void taken() noexcept { modifiers_.taken(); }

    sdd_transfer_options c = SDD_TRANSFER_OPTIONS_INIT;

private:
    std::vector<sdd_header> headers_;
    lent_modifiers modifiers_;
    sdd_credential credential_ = SDD_CREDENTIAL_INIT;
};

/* The C struct of a download, with everything that it points to. */
class c_download {
public:
    explicit c_download(const download_request &from) : transfer_(from.transfer) {
        c.url = from.url.c_str();
        c.options = from.options;
        c.priority = from.priority;
        c.sink = from.sink;
        c.sink_fd = from.sink_fd;
        c.transfer = &transfer_.c;
        c.decode = from.decode ? &*from.decode : nullptr;
        c.method = or_null(from.method);
        c.body = from.body.empty() ? nullptr : from.body.data();
        c.body_size = from.body.size();
        c.range = or_null(from.range);
        c.integrity = or_null(from.integrity);
        c.expected_bytes = from.expected_bytes;
    }

    void taken() noexcept { transfer_.taken(); }

    sdd_download_request c = SDD_DOWNLOAD_REQUEST_INIT;

private:
    c_transfer transfer_;
};

/* The C struct of a load, with everything that it points to. */
class c_load {
public:
    explicit c_load(const load_request &from)
        : transfer_(from.transfer), transforms_(from.transforms),
          alternatives_(c_texts(from.alternatives)) {
        c.url = from.url.c_str();
        c.options = from.options;
        c.priority = from.priority;
        c.query = from.query;
        c.store = from.store;
        c.original_query = from.original_query;
        c.original_store = from.original_store;
        c.cache_key = or_null(from.cache_key);
        c.transfer = &transfer_.c;
        c.decode = from.decode ? &*from.decode : nullptr;
        c.transforms = transforms_.data();
        c.transform_count = transforms_.size();
        c.alternatives = alternatives_.data();
        c.alternative_count = alternatives_.size();
        c.integrity = or_null(from.integrity);
        c.expected_bytes = from.expected_bytes;
    }

    void taken() noexcept {
        transfer_.taken();
        transforms_.taken();
    }

    sdd_load_request c = SDD_LOAD_REQUEST_INIT;

private:
    c_transfer transfer_;
    lent_transforms transforms_;
    std::vector<const char *> alternatives_;
};

/* The listener of a download or load. */
class load_listener : public listener<loaded> {
public:
    template <class Request>
    load_listener(const Request &from, sdd_downloader *downloader,
                  std::shared_ptr<ending<loaded>> end)
        : listener(downloader, std::move(end)), on_progress_(from.on_progress),
          on_facts_(from.on_facts), on_preview_(from.on_preview) {
        on_completed = from.on_completed;
        if constexpr (std::is_same_v<Request, load_request>) on_cached_ = from.on_cached;
    }

    /* Sets the callbacks in a C struct, those alone that the application wants. */
    template <class Request> void fill(Request &c, bool is_awaited) {
        if (on_progress_) c.progress = progress;
        if (on_facts_) c.facts = facts;
        if (on_preview_) c.preview = preview;
        if constexpr (std::is_same_v<Request, sdd_load_request>)
            if (on_cached_) c.cached = cached;
        if (is_awaited || on_completed) c.completed = completed;
        c.user_data = static_cast<listener<loaded> *>(this);
        c.user_data_free = [](void *user_data) noexcept {
            delete static_cast<load_listener *>(static_cast<listener<loaded> *>(user_data));
        };
    }

private:
    static load_listener &of(void *user_data) noexcept {
        return static_cast<load_listener &>(listener::of(user_data));
    }
    static void progress(sdd_token token, int64_t received_bytes, int64_t expected_bytes,
                         const char *, void *user_data) noexcept {
        auto &self = of(user_data);
        self.call("on_progress", token, [&] { self.on_progress_(received_bytes, expected_bytes); });
    }
    static void facts(sdd_token token, const sdd_image_info *info, void *user_data) noexcept {
        auto &self = of(user_data);
        self.call("on_facts", token, [&] { self.on_facts_(*info); });
    }
    static void preview(const sdd_result *result, void *user_data) noexcept {
        auto &self = of(user_data);
        self.call("on_preview", result->token, [&] { self.on_preview_(loaded_of(*result)); });
    }
    static void cached(const sdd_result *result, void *user_data) noexcept {
        auto &self = of(user_data);
        self.call("on_cached", result->token, [&] { self.on_cached_(loaded_of(*result)); });
    }

    progress_function on_progress_;
    facts_function on_facts_;
    loaded_function on_preview_, on_cached_;
};

/* Submits a download or load: submit(&request) calls the C function. */
template <class Made, class Request, class Submit>
result<sdd_token> submitted(const Request &request, sdd_downloader *downloader,
                            const std::shared_ptr<ending<loaded>> &end, Submit &&submit) {
    Made made(request);
    auto listener = std::make_unique<load_listener>(request, downloader, end);
    listener->fill(made.c, end != nullptr);
    auto token = accepted(listener, [&](load_listener *) { return submit(&made.c); });
    if (token) made.taken();
    if (!token && end) end->end(token.error()); /* before the listener is destroyed */
    return token;
}

template <class Made, class Request, class Submit>
pending<loaded> begun(const Request &request, sdd_downloader *downloader, Submit &&submit) {
    auto end = std::make_shared<ending<loaded>>(downloader);
    auto token = submitted<Made>(request, downloader, end, std::forward<Submit>(submit));
    return {std::move(end), token ? *token : 0};
}

/* Submits a download or load and waits for it: submit(&request, &result) calls the C function. */
template <class Made, class Request, class Submit>
result<loaded> waited(const Request &request, Submit &&submit) {
    Made made(request);
    sdd_result *given = nullptr;
    (void)submit(&made.c, &given);
    if (given != nullptr) made.taken();
    return outcome_of(given);
}

/* A download or load of a URL. */
template <class Request, class Url> Request request_of(const Url &url, sdd_options options) {
    Request made;
    made.url = std::string_view(url);
    made.options = options;
    return made;
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_REQUEST_HPP */

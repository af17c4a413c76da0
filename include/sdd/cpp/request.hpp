/*
 * sdd/cpp/request.hpp - The C structs of downloads and loads. For these headers alone.
 */
#ifndef SDD_CPP_REQUEST_HPP
#define SDD_CPP_REQUEST_HPP

#include "listener.hpp"
#include "options.hpp"

SDD_CPP_BEGIN

namespace detail {

inline sdd_credential c_credential(const credential &from) noexcept {
    sdd_credential made = SDD_CREDENTIAL_INIT;
    set_plain(made, from);
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
        set_plain(c, from);
        c.headers = headers_.data();
        c.header_count = headers_.size();
        c.credential = from.credential ? &credential_ : nullptr;
        c.modifiers = modifiers_.get();
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
        set_plain(c, from);
        c.transfer = &transfer_.c;
        c.body = from.body.empty() ? nullptr : from.body.data();
        c.body_size = from.body.size();
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
        set_plain(c, from);
        c.transfer = &transfer_.c;
        c.transforms = transforms_.data();
        c.transform_count = transforms_.size();
        c.alternatives = alternatives_.data();
        c.alternative_count = alternatives_.size();
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
        c.user_data_free = free_as<load_listener>;
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

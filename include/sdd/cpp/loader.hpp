/*
 * sdd/cpp/loader.hpp - Loaders: a cache in front of a downloader; prefetching.
 */
#ifndef SDD_CPP_LOADER_HPP
#define SDD_CPP_LOADER_HPP

#include "cache.hpp"

SDD_CPP_BEGIN

/**
 * The configuration of a loader: sdd_loader_config. An exception in a function is handed on
 * (set_exception_handler()) and counts as the answer that the comment of its field names.
 * Lifetime: copied by the constructor of loader. Downloader and caches may be destroyed before the
 * loader: its loads then end with SDD_ERROR_CANCELLED, or find nothing.
 */
struct loader_config {
    sdd_downloader *downloader = nullptr; /* downloader::get(); NULL: the shared one */
    sdd_cache *cache = nullptr;           /* cache::get(); NULL: the shared one */
    sdd_cache *original_cache = nullptr;  /* NULL: `cache` */
    bool no_cache = false;
    sdd_fail_policy fail_policy = SDD_FAIL_POLICY_BACK_OFF;
    /* Whether a URL that is not cached may be downloaded; an exception: no. */
    std::function<bool(std::string_view url)> should_download{};
    /* Whether a URL that has just failed is blocked; an exception: SDD_BLOCK_BY_POLICY. */
    std::function<sdd_block_choice(std::string_view url, const sdd_failure &failure)>
        should_block_failed_url{};
    /* May change a load before anything else is done; what it points to must stay valid until the
       submitting call has returned. An exception: the load goes on as it is then. */
    std::function<void(sdd_load_request &request)> options_processor{};
};

/** The end of a prefetch list: sdd_prefetch_report. The list that was cancelled ends with an error;
    its `each` has told of the URLs that had ended. */
struct prefetch_report {
    sdd_token token = 0;
    std::size_t total = 0;
    std::size_t finished = 0;
    std::size_t skipped = 0;
    std::size_t cancelled = 0;
    std::vector<outcome> outcomes; /* in the order of the URLs */
};

/** A list of URLs to load ahead of time: sdd_prefetch_list. Callbacks as in load_request. */
struct prefetch_list {
    std::vector<std::string> urls{};
    sdd_options options = 0;
    sdd_priority priority = SDD_PRIORITY_DEFAULT; /* SDD_PRIORITY_VERY_LOW */
    sdd_prefetch_target to = SDD_PREFETCH_MEMORY;
    transfer_options transfer{};
    std::optional<decode_options> decode{};
    std::function<void(std::size_t index, const result<loaded> &outcome)> on_each{};
    std::function<void(std::size_t finished, std::size_t skipped, std::size_t total)> on_progress{};
};

namespace detail {

struct loader_functions {
    decltype(loader_config::should_download) should_download;
    decltype(loader_config::should_block_failed_url) should_block;
    decltype(loader_config::options_processor) options_processor;

    static loader_functions &of(void *user_data) noexcept {
        return *static_cast<loader_functions *>(user_data);
    }
    static int32_t download(const char *url, void *user_data) noexcept {
        return guarded("loader.should_download", int32_t{0},
                       [&] { return int32_t{of(user_data).should_download(url)}; });
    }
    static sdd_block_choice block(const char *url, const sdd_failure *failure,
                                  void *user_data) noexcept {
        return guarded("loader.should_block_failed_url", sdd_block_choice{SDD_BLOCK_BY_POLICY},
                       [&] { return of(user_data).should_block(url, *failure); });
    }
    static void process(sdd_load_request *request, void *user_data) noexcept {
        guarded("loader.options_processor", [&] { of(user_data).options_processor(*request); });
    }
};

class prefetch_listener : public listener<prefetch_report> {
public:
    prefetch_listener(const prefetch_list &from, sdd_downloader *downloader,
                      std::shared_ptr<ending<prefetch_report>> end)
        : listener(downloader, std::move(end)), on_each_(from.on_each),
          on_progress_(from.on_progress) {}

    void fill(sdd_prefetch_list &c) noexcept {
        if (on_each_) c.each = each;
        if (on_progress_) c.progress = progress;
        c.completed = ended;
        c.user_data = static_cast<listener<prefetch_report> *>(this);
        c.user_data_free = free_as<prefetch_listener>;
    }

private:
    static prefetch_listener &of(void *user_data) noexcept {
        return static_cast<prefetch_listener &>(listener::of(user_data));
    }
    static void each(sdd_token token, std::size_t index, const sdd_result *outcome,
                     void *user_data) noexcept {
        auto &self = of(user_data);
        self.call("on_each", token, [&] { self.on_each_(index, outcome_of<loaded>(*outcome)); });
    }
    static void progress(sdd_token token, std::size_t finished, std::size_t skipped,
                         std::size_t total, void *user_data) noexcept {
        auto &self = of(user_data);
        self.call("on_progress", token, [&] { self.on_progress_(finished, skipped, total); });
    }
    static void ended(const sdd_prefetch_report *from, void *user_data) noexcept {
        of(user_data).end([&]() -> result<prefetch_report> {
            if (from->status != SDD_OK)
                return error(from->status, sdd_status_message(from->status));
            prefetch_report made;
            made.token = from->token;
            made.total = from->total;
            made.finished = from->finished;
            made.skipped = from->skipped;
            made.cancelled = from->cancelled;
            for (std::size_t i = 0; from->outcomes != nullptr && i < from->total; i++) {
                const sdd_outcome &each = from->outcomes[i];
                auto &added = made.outcomes.emplace_back();
                added.origin = each.origin;
                if (each.failure.status != SDD_OK) added.error.emplace(each.failure);
            }
            return made;
        });
    }

    decltype(prefetch_list::on_each) on_each_;
    decltype(prefetch_list::on_progress) on_progress_;
};

} // namespace detail

/**
 * A loader: a cache in front of a downloader; or the shared one.
 *
 * Ownership: see owned. Destroying it cancels its loads, which end with SDD_ERROR_CANCELLED as
 * their downloader delivers that. Images, bytes, responses and pendings may outlive it.
 * Thread: any. Errors: as results; the constructor throws sdd::error.
 */
class loader : public owned<sdd_loader, sdd_loader_destroy> {
public:
    static result<loader> create(const loader_config &config = {}) {
        sdd_loader_config c = SDD_LOADER_CONFIG_INIT;
        auto functions = std::make_unique<detail::loader_functions>(detail::loader_functions{
            config.should_download, config.should_block_failed_url, config.options_processor});
        c.downloader = config.downloader;
        c.cache = config.cache;
        c.original_cache = config.original_cache;
        c.no_cache = config.no_cache;
        c.fail_policy = config.fail_policy;
        if (config.should_download) c.should_download = functions->download;
        if (config.should_block_failed_url) c.should_block_failed_url = functions->block;
        if (config.options_processor) c.options_processor = functions->process;
        c.user_data = functions.get();
        c.user_data_free = detail::free_user_data<detail::loader_functions>;
        sdd_loader *handle = nullptr;
        if (sdd_loader_create(&c, &handle) != SDD_OK) return error::of_last_call();
        (void)functions.release();
        return loader(handle, config.downloader);
    }
    /** The same, or throws. */
    explicit loader(const loader_config &config = {}) : loader(create(config).value()) {}
    /** A name for the shared loader, which is made on first use and never destroyed. */
    static loader shared() noexcept { return loader(shared_t{}); }
    /** Takes over a C handle. downloader: the one that it uses; NULL: the shared one. */
    loader(sdd_loader *handle, sdd_downloader *downloader) noexcept
        : owned(handle, adopt), downloader_(downloader) {}

    /** Loads a picture from the cache or the network. */
    template <class Url, class = detail::if_text<Url>>
    pending<loaded> load(const Url &url, sdd_options options = 0) {
        return load(detail::request_of<load_request>(url, options));
    }
    pending<loaded> load(const load_request &request) {
        return detail::begun<detail::c_load>(
            request, downloader_, [&](auto *c) { return sdd_loader_submit(get(), c); });
    }
    /** Submits a load that only its callbacks tell of: as downloader::submit(). */
    result<sdd_token> submit(const load_request &request) {
        return detail::submitted<detail::c_load>(
            request, downloader_, nullptr, [&](auto *c) { return sdd_loader_submit(get(), c); });
    }
    /** Submits a load and WAITS for its end: as downloader::submit_wait(). A refresh that gives the
        cached picture is a success, too: see loaded::refresh_error. */
    result<loaded> submit_wait(const load_request &request, int64_t timeout_ms = -1) {
        return detail::waited<detail::c_load>(request, [&](auto *c, auto *given) {
            return sdd_loader_submit_wait(get(), c, timeout_ms, given);
        });
    }
    template <class Url, class = detail::if_text<Url>>
    result<loaded> submit_wait(const Url &url, sdd_options options = 0, int64_t timeout_ms = -1) {
        return submit_wait(detail::request_of<load_request>(url, options), timeout_ms);
    }
    /** Loads a list ahead of time: sdd_prefetch(). */
    pending<prefetch_report> prefetch(const prefetch_list &list) {
        using listener = detail::prefetch_listener;
        const auto urls = detail::c_texts(list.urls);
        detail::c_transfer transfer(list.transfer);
        auto end = std::make_shared<detail::ending<prefetch_report>>(downloader_);
        auto made = std::make_unique<listener>(list, downloader_, end);
        return detail::started(end, std::move(made), [&](listener *given) {
            sdd_prefetch_list c = SDD_PREFETCH_LIST_INIT;
            c.urls = urls.data();
            c.count = urls.size();
            c.options = list.options;
            c.priority = list.priority;
            c.to = list.to;
            c.transfer = &transfer.c;
            c.decode = list.decode ? &*list.decode : nullptr;
            given->fill(c);
            const sdd_token token = sdd_prefetch(get(), &c);
            if (token != 0) transfer.taken();
            return token;
        });
    }
    result<void> set_max_concurrent_prefetches(int32_t count) {
        return detail::checked(sdd_loader_set_max_concurrent_prefetches(get(), count));
    }

    /** Loads that have not ended. */
    int64_t running_count() const noexcept { return sdd_loader_running_count(get()); }
    result<void> cancel_all() { return detail::checked(sdd_loader_cancel_all(get())); }
    result<void> remove_failed_url(const std::string &url) {
        return detail::checked(sdd_loader_remove_failed_url(get(), url.c_str()));
    }
    result<void> remove_all_failed_urls() {
        return detail::checked(sdd_loader_remove_all_failed_urls(get()));
    }
    bool is_blocked(const std::string &url) const noexcept {
        return sdd_loader_is_blocked(get(), url.c_str()) != 0;
    }

private:
    explicit loader(shared_t) noexcept : owned(shared_t{}) {}

    sdd_downloader *downloader_ = nullptr; /* delivers the events */
};

SDD_CPP_END

#endif /* SDD_CPP_LOADER_HPP */

/*
 * sdd/cpp/batch.hpp - Batches: many pictures, each taken once, also into the memory of a tensor.
 */
#ifndef SDD_CPP_BATCH_HPP
#define SDD_CPP_BATCH_HPP

#include "loader.hpp"

SDD_CPP_BEGIN

/** A taken item: sdd_batch_item. */
struct batch_item {
    uint64_t id = 0;
    int64_t index = 0;
    int64_t slot = -1; /* -1: none */
    int32_t width = 0;
    int32_t height = 0;
    sdd::result<loaded> result; /* with a tensor without an image */
    sdd_colour_kind colour_kind = SDD_COLOUR_KIND_UNSTATED; /* 0 without pixels */
    bool is_converted = false;                              /* to sRGB */
};

/**
 * A batch. Ownership: see owned. Destroying it cancels its items and WAITS for them; nothing is
 * then written to the tensor. Images and bytes live on.
 * Thread: any, but not sdd-net or decode threads; not inside its `next`.
 * Errors: as results; those of items are in the items. The constructor throws sdd::error.
 */
class batch : public owned<sdd_batch, sdd_batch_destroy> {
public:
    static result<batch> create(const batch_config &config) {
        auto kept = std::make_unique<kept_next>();
        kept->next = config.next;
        const auto urls = detail::c_texts(config.urls);
        if (!config.ids.empty() && config.ids.size() != urls.size())
            return error(SDD_ERROR_INVALID_ARGUMENT, "sdd::batch: not as many ids as URLs.");
        sdd_batch_config c = SDD_BATCH_CONFIG_INIT;
        detail::set_plain(c, config);
        c.urls = urls.empty() ? nullptr : urls.data();
        c.ids = config.ids.empty() ? nullptr : config.ids.data();
        c.count = urls.size();
        if (config.next) c.next = next_of;
        c.user_data = kept.get();
        detail::c_transfer transfer(config.transfer);
        c.transfer = &transfer.c;
        sdd_batch *handle = nullptr;
        if (sdd_batch_create(&c, &handle) != SDD_OK) return error::of_last_call();
        transfer.taken();
        batch made(handle, std::move(kept));
        if (auto thrown = made.kept_->take()) return detail::error_of(thrown);
        return made;
    }
    /** The same, or throws. */
    explicit batch(const batch_config &config) : batch(create(config).value()) {}
    batch(batch &&) noexcept = default;
    batch &operator=(batch &&other) noexcept {
        if (this != &other) {
            owned::operator=(std::move(other)); /* the old batch no longer uses `next` after this */
            kept_ = std::move(other.kept_);
        }
        return *this;
    }
    ~batch() { (void)destroy(); }

    /** WAITS until items can be taken, and takes at most max. An empty vector: all were taken;
        SDD_ERROR_TIMEOUT: none came in time. */
    result<std::vector<batch_item>> wait(std::size_t max = 64, int64_t timeout_ms = -1) {
        std::vector<sdd_batch_item> taken(max, sdd_batch_item SDD_BATCH_ITEM_INIT);
        std::size_t count = 0;
        const sdd_status status = sdd_batch_wait(get(), taken.data(), max, timeout_ms, &count);
        std::vector<batch_item> items;
        items.reserve(count);
        std::optional<error> failed;
        if (status != SDD_OK)
            failed.emplace(error::of_last_call());
        else
            for (std::size_t i = 0; i < count; i++) items.push_back(item_of(taken[i]));
        if (kept_)
            if (auto thrown = kept_->take()) {
                kept_->put_back(std::move(items));
                return detail::error_of(thrown);
            }
        if (failed) return *failed;
        if (kept_) kept_->add_kept(items);
        return items;
    }
    result<void> release_slot(int64_t slot) {
        return detail::checked(sdd_batch_release_slot(get(), slot));
    }
    result<void> cancel() { return detail::checked(sdd_batch_cancel(get())); }
    /** A descriptor that is readable while items can be taken, and when all have been. */
    int32_t event_fd() const noexcept { return sdd_batch_event_fd(get()); }
    result<sdd_batch_statistics> statistics() const {
        return detail::filled(sdd_batch_statistics SDD_BATCH_STATISTICS_INIT, [&](auto *filled) {
            return sdd_batch_get_statistics(get(), filled);
        });
    }
    /** One kind of outcome so far; SDD_ERROR_NOT_FOUND past the last one. */
    result<sdd_batch_status> outcome(std::size_t index) const {
        return detail::filled(sdd_batch_status SDD_BATCH_STATUS_INIT, [&](auto *filled) {
            return sdd_batch_get_status(get(), index, filled);
        });
    }
    /** The counts of one host so far. */
    result<sdd_batch_host> host(std::size_t index) const {
        return detail::filled(sdd_batch_host SDD_BATCH_HOST_INIT, [&](auto *filled) {
            return sdd_batch_get_host(get(), index, filled);
        });
    }

private:
    /* `next`, with the URL that it gave last and the exception that it threw. */
    struct kept_next {
        next_function next;
        std::string url;
        std::mutex mutex;
        std::exception_ptr thrown;
        std::vector<batch_item> items; /* taken by the call that failed */

        std::exception_ptr take() {
            const std::lock_guard<std::mutex> lock(mutex);
            return std::exchange(thrown, nullptr);
        }
        void put_back(std::vector<batch_item> taken) {
            const std::lock_guard<std::mutex> lock(mutex);
            for (batch_item &each : taken) items.push_back(std::move(each));
        }
        void add_kept(std::vector<batch_item> &to) {
            const std::lock_guard<std::mutex> lock(mutex);
            for (batch_item &each : items) to.push_back(std::move(each));
            items.clear();
        }
    };

    batch(sdd_batch *handle, std::unique_ptr<kept_next> kept) noexcept
        : owned(handle, adopt), kept_(std::move(kept)) {}

    static int32_t next_of(sdd_batch_source *item, void *user_data) noexcept {
        auto &kept = *static_cast<kept_next *>(user_data);
        const auto give = [&] {
            auto source = kept.next();
            if (!source) return int32_t{0};
            kept.url = std::move(source->url); /* the library copies it after the return */
            item->url = kept.url.c_str();
            item->id = source->id;
            return int32_t{1};
        };
#if SDD_CPP_EXCEPTIONS
        try {
            return give();
        } catch (...) {
            const std::lock_guard<std::mutex> lock(kept.mutex);
            kept.thrown = std::current_exception();
            return 0;
        }
#else
        return give();
#endif
    }

    static batch_item item_of(const sdd_batch_item &from) {
        return {from.id,          from.index,
                from.slot,        from.width,
                from.height,      detail::outcome_of(from.result),
                from.colour_kind, from.is_converted != 0};
    }

    std::unique_ptr<kept_next> kept_;
};

SDD_CPP_END

#endif /* SDD_CPP_BATCH_HPP */

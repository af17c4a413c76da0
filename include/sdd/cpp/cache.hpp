/*
 * sdd/cpp/cache.hpp - Caches: storing, querying and removing entries.
 */
#ifndef SDD_CPP_CACHE_HPP
#define SDD_CPP_CACHE_HPP

#include "downloader.hpp"

#include <unistd.h>

SDD_CPP_BEGIN

/** An item to store: sdd_cache_item. */
struct cache_item {
    std::string key{};
    sdd::image image{};    /* none: nothing is stored in memory */
    sdd::bytes bytes{};    /* none: see sdd_cache_item */
    sdd::bytes extended{}; /* the application's own data */
    sdd_cache_levels levels = SDD_CACHE_DEFAULT;
};

/** A query: sdd_cache_query_options. */
struct cache_query_options {
    std::string key{}; /* of the original */
    sdd_cache_levels levels = SDD_CACHE_DEFAULT;
    sdd_query_wants wants = 0; /* 0: the image */
    sdd_options options = 0;
    std::optional<decode_options> decode{};
    sdd_priority priority = SDD_PRIORITY_DEFAULT; /* not for query_wait() */
};

/** The open file of an entry: closed with the object, which can be moved and not copied. It stays
    valid when the entry is removed or replaced. */
class entry_file {
public:
    entry_file(int32_t fd, int64_t size) noexcept : fd_(fd), size_(size) {}
    entry_file(entry_file &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}
    entry_file &operator=(entry_file &&other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~entry_file() {
        if (fd_ >= 0) (void)::close(fd_);
    }
    /** The descriptor; -1 once moved from. */
    int32_t fd() const noexcept { return fd_; }
    /** Encoded bytes at the start of the file; the rest is the cache's own data. */
    int64_t size() const noexcept { return size_; }
    int32_t release() noexcept { return std::exchange(fd_, -1); }

private:
    int32_t fd_;
    int64_t size_;
};

/**
 * A cache in memory and on disk; or the shared one.
 *
 * Ownership: see owned. Destroying it writes all stored entries and WAITS for that
 * (sdd_cache_destroy()). Loaders and downloaders that use it may outlive it: they find nothing.
 * Thread: any. Functions that read or write the disk wait for it, see the C functions. Errors: as
 *     results; the constructor throws sdd::error.
 */
class cache : public owned<sdd_cache, sdd_cache_destroy> {
public:
    /** Opens a cache. SDD_ERROR_CACHE: the directory cannot be used, error::detail() says why. */
    static result<cache> create(const cache_config &config = {});
    /** The same, or throws. */
    explicit cache(const cache_config &config = {}) : cache(create(config).value()) {}
    /** A name for the shared cache. */
    static cache shared() noexcept { return cache(shared_t{}); }
    using owned::owned;

    /** Stores an item; the pending ends when it is on disk. The downloader delivers that, NULL: the
        shared one. */
    pending<void> put(const cache_item &item, sdd_downloader *downloader = nullptr) {
        return begun<void>(downloader, c_item(item), [&](const sdd_cache_item *c) {
            return sdd_cache_put(get(), downloader, c);
        });
    }
    /** Stores an item and WAITS until it is on disk. */
    result<void> put_wait(const cache_item &item) {
        const sdd_cache_item c = c_item(item);
        return detail::checked(sdd_cache_put_wait(get(), &c));
    }
    /** Looks for an entry; the pending ends with SDD_ERROR_NOT_CACHED if there is none. */
    pending<loaded> query(const cache_query_options &query, sdd_downloader *downloader = nullptr) {
        return begun<loaded>(downloader, c_query(query), [&](const sdd_cache_query_options *c) {
            return sdd_cache_query(get(), downloader, c);
        });
    }
    /** Looks for an entry, and WAITS for the disk. */
    result<loaded> query_wait(const cache_query_options &query) const {
        const sdd_cache_query_options c = c_query(query);
        sdd_result *given = nullptr;
        (void)sdd_cache_query_wait(get(), &c, &given);
        return detail::outcome_of(given);
    }
    /** The picture in memory under a key; none (false). Does not wait. */
    image memory_image(const std::string &key) const noexcept {
        return {sdd_cache_memory_image(get(), key.c_str()), adopt};
    }
    /** SDD_CACHE_ bits of the levels that have an entry. WAITS for the disk. */
    sdd_cache_levels contains_wait(const std::string &key,
                                   sdd_cache_levels levels = SDD_CACHE_ALL) const noexcept {
        return sdd_cache_contains_wait(get(), key.c_str(), levels);
    }
    result<void> remove_wait(const std::string &key, sdd_cache_levels levels = SDD_CACHE_ALL) {
        return detail::checked(sdd_cache_remove_wait(get(), key.c_str(), levels));
    }
    result<void> clear_wait(sdd_cache_levels levels = SDD_CACHE_ALL) {
        return detail::checked(sdd_cache_clear_wait(get(), levels));
    }

    /** The key of a URL, or of a form of it. */
    result<std::string> key(const std::string &url,
                            const std::optional<decode_options> &decode = {},
                            const std::vector<transform> &transforms = {}) const {
        const auto list = detail::c_transforms(transforms);
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return sdd_cache_key(get(), url.c_str(), decode ? &*decode : nullptr, list.data(),
                                 list.size(), buffer, capacity, length);
        });
    }
    /** The path that the file of a key has, or would have. */
    result<std::string> path(const std::string &key) const {
        return detail::text([&](char *buffer, std::size_t capacity, std::size_t *length) {
            return sdd_cache_path(get(), key.c_str(), buffer, capacity, length);
        });
    }
    result<entry_file> open_wait(const std::string &key) const {
        int32_t fd = -1;
        int64_t size = 0;
        if (sdd_cache_open_wait(get(), key.c_str(), &fd, &size) != SDD_OK)
            return error::of_last_call();
        return entry_file(fd, size);
    }

    /** WAITS until the disk has all changes made before. */
    result<void> flush_wait(int64_t timeout_ms = -1) {
        return detail::checked(sdd_cache_flush_wait(get(), timeout_ms));
    }
    result<void> trim_memory(sdd_trim_level level) {
        return detail::checked(sdd_cache_trim_memory(get(), level));
    }
    result<void> trim_disk_wait() { return detail::checked(sdd_cache_trim_disk_wait(get())); }
    /** Moves the entries of another directory here: how many. */
    result<int64_t> merge_wait(const std::string &directory) {
        return detail::filled(int64_t{0}, [&](int64_t *merged) {
            return sdd_cache_merge_wait(get(), directory.c_str(), merged);
        });
    }
    /**
     * Lists the entries on disk: sdd_cache_list_wait(), with SDD_LIST_ bits in flags. `each` is
     * called with a const sdd_cache_entry & and returns one of SDD_LIST_. An exception of it ends
     * the list and leaves this call.
     */
    template <class Each> result<void> list_wait(Each each, sdd_list_flags flags = 0) {
        listing<Each> kept{std::move(each), nullptr};
        const auto listed =
            detail::checked(sdd_cache_list_wait(get(), flags, &listing<Each>::call, &kept));
#if SDD_CPP_EXCEPTIONS
        if (kept.thrown) std::rethrow_exception(kept.thrown);
#endif
        return listed;
    }
    result<void> set_memory_limits(int64_t max_cost, int64_t max_count) {
        return detail::checked(sdd_cache_set_memory_limits(get(), max_cost, max_count));
    }
    result<void> set_disk_limits(int64_t max_bytes, int64_t max_age_ms) {
        return detail::checked(sdd_cache_set_disk_limits(get(), max_bytes, max_age_ms));
    }
    result<sdd_cache_statistics> statistics_wait() const {
        return detail::filled(sdd_cache_statistics SDD_CACHE_STATISTICS_INIT, [&](auto *filled) {
            return sdd_cache_get_statistics_wait(get(), filled);
        });
    }

private:
    template <class Each> struct listing {
        Each each;
        std::exception_ptr thrown;

        static sdd_list_step call(const sdd_cache_entry *entry, void *user_data) noexcept {
            listing &kept = *static_cast<listing *>(user_data);
#if SDD_CPP_EXCEPTIONS
            try {
                return kept.each(*entry);
            } catch (...) {
                kept.thrown = std::current_exception();
                return SDD_LIST_STOP;
            }
#else
            return kept.each(*entry);
#endif
        }
    };

    static sdd_cache_item c_item(const cache_item &from) noexcept {
        sdd_cache_item made = SDD_CACHE_ITEM_INIT;
        made.key = from.key.c_str();
        made.image = from.image.get();
        made.bytes = from.bytes.get();
        made.extended = from.extended.get();
        made.levels = from.levels;
        return made;
    }
    static sdd_cache_query_options c_query(const cache_query_options &from) noexcept {
        sdd_cache_query_options made = SDD_CACHE_QUERY_OPTIONS_INIT;
        made.key = from.key.c_str();
        made.levels = from.levels;
        made.wants = from.wants;
        made.options = from.options;
        made.decode = from.decode ? &*from.decode : nullptr;
        made.priority = from.priority;
        return made;
    }
    /* Begins a request of the cache: submit(&c) calls the C function. */
    template <class Value, class Struct, class Submit>
    static pending<Value> begun(sdd_downloader *downloader, Struct c, Submit &&submit) {
        using listener = detail::listener<Value>;
        auto end = std::make_shared<detail::ending<Value>>(downloader);
        auto made = std::make_unique<listener>(downloader, end);
        return detail::started(end, std::move(made), [&](listener *given) {
            c.completed = listener::completed;
            c.user_data = given;
            c.user_data_free = listener::template free_as<listener>;
            return submit(&c);
        });
    }
};

namespace detail {

struct cache_functions {
    key_function key_filter;
    serializer_function serializer;

    static sdd_bytes *make_key(const char *url, void *user_data) noexcept {
        return guarded("cache.key_filter", static_cast<sdd_bytes *>(nullptr), [&] {
            const auto made = static_cast<cache_functions *>(user_data)->key_filter(url);
            return sdd_bytes_create(made.data(), made.size());
        });
    }
    static sdd_bytes *serialize(sdd_image *picture, sdd_bytes *encoded, const char *key,
                                void *user_data) noexcept {
        return guarded("cache.serializer", static_cast<sdd_bytes *>(nullptr), [&] {
            return static_cast<cache_functions *>(user_data)
                ->serializer(image(picture, retain), bytes(encoded, retain), key)
                .release();
        });
    }
};

} // namespace detail

inline result<cache> cache::create(const cache_config &config) {
    sdd_cache_config c = SDD_CACHE_CONFIG_INIT;
    const auto read_only = detail::c_texts(config.read_only_directories);
    auto functions = std::make_unique<detail::cache_functions>();
    auto memory = std::make_unique<detail::kept_memory_store>(config.memory_store);
    auto entries = std::make_unique<detail::kept_entry_store>(config.entry_store);
    const sdd_memory_store memory_store = detail::c_memory_store(memory.get());
    const sdd_entry_store entry_store = detail::c_entry_store(entries.get());
    detail::set_plain(c, config);
    c.read_only_directories = read_only.data();
    c.read_only_count = read_only.size();
    functions->key_filter = config.key_filter;
    functions->serializer = config.serializer;
    if (config.key_filter) c.key_filter = detail::cache_functions::make_key;
    if (config.serializer) c.serializer = detail::cache_functions::serialize;
    c.user_data = functions.get();
    c.user_data_free = detail::free_user_data<detail::cache_functions>;
    if (config.memory_store) c.memory_store = &memory_store;
    if (config.entry_store) c.entry_store = &entry_store;
    sdd_cache *handle = nullptr;
    if (sdd_cache_create(&c, &handle) != SDD_OK) return error::of_last_call();
    (void)functions.release(); /* freed by the user_data_free of each */
    if (config.memory_store) (void)memory.release();
    if (config.entry_store) (void)entries.release();
    return cache(handle, adopt);
}

SDD_CPP_END

#endif /* SDD_CPP_CACHE_HPP */

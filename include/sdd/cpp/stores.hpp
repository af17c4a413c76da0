/*
 * sdd/cpp/stores.hpp - Levels of a cache that the application keeps itself, as classes to derive
 * from.
 */
#ifndef SDD_CPP_STORES_HPP
#define SDD_CPP_STORES_HPP

#include "result.hpp"

SDD_CPP_BEGIN

/**
 * A memory level that the application keeps itself: sdd_memory_store.
 *
 * Ownership: the cache keeps the shared_ptr of its configuration until nothing uses it any more.
 * Errors: an exception is handed on (set_exception_handler()), and the function has no effect.
 * Thread: any, the library's own included; several at a time. The functions must be quick, and may
 *     use images and bytes alone.
 */
class memory_store {
public:
    memory_store() = default;
    memory_store(const memory_store &) = delete;
    memory_store &operator=(const memory_store &) = delete;
    virtual ~memory_store() = default;

    /** The image of a key; none (false): there is none. */
    virtual image get(const std::string &key) = 0;
    /** Keeps an image in place of the one that is there. cost: its size in bytes. */
    virtual void put(const std::string &key, image picture, int64_t cost) = 0;
    virtual void remove(const std::string &key) = 0;
    virtual void clear() = 0;
    virtual void trim(sdd_trim_level level) { (void)level; }
};

/**
 * Entries that the application keeps itself, in a database for instance: sdd_entry_store.
 *
 * Ownership: as memory_store.
 * Errors: the functions return SDD_OK, SDD_ERROR_NOT_FOUND where there is no such entry, or another
 * status, which counts as an error of the disk. An exception is handed on and counts as
 * SDD_ERROR_CACHE.
 * Thread: sdd-disk, and threads that wait for the disk; several at a time. The functions may block.
 */
class entry_store {
public:
    entry_store() = default;
    entry_store(const entry_store &) = delete;
    entry_store &operator=(const entry_store &) = delete;
    virtual ~entry_store() = default;

    virtual sdd_status get(const std::string &key, bytes &body, bytes &extra) = 0;
    /** Stores both blobs at once, or neither. */
    virtual sdd_status put(const std::string &key, byte_view body, byte_view extra) = 0;
    virtual sdd_status remove(const std::string &key) = 0;
    virtual sdd_status clear() = 0;
    /** Removes entries stored longer ago than that, and then the oldest until no more than
        max_bytes are left; -1: no limit. */
    virtual sdd_status trim(int64_t max_bytes, int64_t max_age_ms) {
        (void)max_bytes, (void)max_age_ms;
        return SDD_OK;
    }
    /** The size and the number of all entries. */
    virtual sdd_status usage(int64_t &bytes, int64_t &count) {
        bytes = count = 0;
        return SDD_OK;
    }
};

namespace detail {

using kept_memory_store = std::shared_ptr<memory_store>;
using kept_entry_store = std::shared_ptr<entry_store>;

inline sdd_memory_store c_memory_store(kept_memory_store *kept) noexcept {
    sdd_memory_store made = SDD_MEMORY_STORE_INIT;
    made.get = [](const char *key, void *user_data) noexcept {
        return guarded("memory_store.get", static_cast<sdd_image *>(nullptr), [&] {
            return (*static_cast<kept_memory_store *>(user_data))->get(key).release();
        });
    };
    made.put = [](const char *key, sdd_image *lent, int64_t cost, void *user_data) noexcept {
        guarded("memory_store.put", [&] {
            (*static_cast<kept_memory_store *>(user_data))->put(key, image(lent, retain), cost);
        });
    };
    made.remove = [](const char *key, void *user_data) noexcept {
        guarded("memory_store.remove",
                [&] { (*static_cast<kept_memory_store *>(user_data))->remove(key); });
    };
    made.clear = [](void *user_data) noexcept {
        guarded("memory_store.clear",
                [&] { (*static_cast<kept_memory_store *>(user_data))->clear(); });
    };
    made.trim = [](sdd_trim_level level, void *user_data) noexcept {
        guarded("memory_store.trim",
                [&] { (*static_cast<kept_memory_store *>(user_data))->trim(level); });
    };
    made.user_data = kept;
    made.user_data_free = free_user_data<kept_memory_store>;
    return made;
}

/* Calls a store of entries: call(store) returns a status. */
template <class Call>
sdd_status with_entries(const char *name, void *user_data, Call &&call) noexcept {
    return guarded(name, sdd_status{SDD_ERROR_CACHE},
                   [&] { return call(**static_cast<kept_entry_store *>(user_data)); });
}

inline sdd_entry_store c_entry_store(kept_entry_store *kept) noexcept {
    sdd_entry_store made = SDD_ENTRY_STORE_INIT;
    made.get = [](const char *key, sdd_bytes **body, sdd_bytes **extra, void *user_data) noexcept {
        return with_entries("entry_store.get", user_data, [&](entry_store &store) {
            bytes found_body, found_extra;
            const sdd_status status = store.get(key, found_body, found_extra);
            if (status == SDD_OK) {
                *body = found_body.release();
                *extra = found_extra.release();
            }
            return status;
        });
    };
    made.put = [](const char *key, const void *body, std::size_t body_size, const void *extra,
                  std::size_t extra_size, void *user_data) noexcept {
        return with_entries("entry_store.put", user_data, [&](entry_store &store) {
            return store.put(key, {static_cast<const std::uint8_t *>(body), body_size},
                             {static_cast<const std::uint8_t *>(extra), extra_size});
        });
    };
    made.remove = [](const char *key, void *user_data) noexcept {
        return with_entries("entry_store.remove", user_data,
                            [&](entry_store &store) { return store.remove(key); });
    };
    made.clear = [](void *user_data) noexcept {
        return with_entries("entry_store.clear", user_data,
                            [](entry_store &store) { return store.clear(); });
    };
    made.trim = [](int64_t max_bytes, int64_t max_age_ms, void *user_data) noexcept {
        return with_entries("entry_store.trim", user_data, [&](entry_store &store) {
            return store.trim(max_bytes, max_age_ms);
        });
    };
    made.usage = [](int64_t *size, int64_t *count, void *user_data) noexcept {
        return with_entries("entry_store.usage", user_data,
                            [&](entry_store &store) { return store.usage(*size, *count); });
    };
    made.user_data = kept;
    made.user_data_free = free_user_data<kept_entry_store>;
    return made;
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_STORES_HPP */

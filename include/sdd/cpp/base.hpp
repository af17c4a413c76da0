/*
 * sdd/cpp/base.hpp - Views of memory, owners of C objects, byte buffers, exceptions in callbacks.
 *
 * Included by sdd.hpp, whose first comment has the rules.
 */
#ifndef SDD_CPP_BASE_HPP
#define SDD_CPP_BASE_HPP

#include "../sdd.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/* SDD_CPP_EXCEPTIONS is 1 where the compiler has exceptions, and 0 with -fno-exceptions. */
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define SDD_CPP_EXCEPTIONS 1
#else
#define SDD_CPP_EXCEPTIONS 0
#endif

#if __cplusplus >= 202002L && defined(__has_include)
#if __has_include(<span>)
#include <span>
#endif
#endif

/* All names are in an inline namespace that names the language, so that translation units in C++17
   and C++20, or with and without exceptions, may be linked into one program. */
#if defined(__cpp_lib_span)
#define SDD_CPP_LANGUAGE_(mode) cxx20_##mode
#else
#define SDD_CPP_LANGUAGE_(mode) cxx17_##mode
#endif
#if SDD_CPP_EXCEPTIONS
#define SDD_CPP_BEGIN namespace sdd { inline namespace SDD_CPP_LANGUAGE_(throws) {
#else
#define SDD_CPP_BEGIN namespace sdd { inline namespace SDD_CPP_LANGUAGE_(aborts) {
#endif
#define SDD_CPP_END } }

SDD_CPP_BEGIN

/* ---------------------------------------------------------------------------------------- views */

#if defined(__cpp_lib_span)
/** A view of memory that belongs to something else: std::span, where the library has it. */
template <class Type> using span = std::span<Type>;
#else
/** A view of memory that belongs to something else: the part of std::span that C++17 lacks. */
template <class Type> class span {
public:
    using element_type = Type;
    using value_type = std::remove_cv_t<Type>;

    constexpr span() noexcept = default;
    constexpr span(Type *first, std::size_t count) noexcept : first_(first), count_(count) {}
    template <std::size_t Count>
    constexpr span(Type (&array)[Count]) noexcept : first_(array), count_(Count) {}
    template <class Container,
              class = std::enable_if_t<std::is_convertible<
                  std::remove_pointer_t<decltype(std::declval<Container &>().data())> (*)[],
                  Type (*)[]>::value>>
    constexpr span(Container &&container) noexcept
        : first_(container.data()), count_(container.size()) {}

    constexpr Type *data() const noexcept { return first_; }
    constexpr std::size_t size() const noexcept { return count_; }
    constexpr std::size_t size_bytes() const noexcept { return count_ * sizeof(Type); }
    constexpr bool empty() const noexcept { return count_ == 0; }
    constexpr Type &operator[](std::size_t index) const noexcept { return first_[index]; }
    constexpr Type *begin() const noexcept { return first_; }
    constexpr Type *end() const noexcept { return first_ + count_; }
    constexpr span first(std::size_t count) const noexcept { return {first_, count}; }
    constexpr span subspan(std::size_t offset) const noexcept {
        return {first_ + offset, count_ - offset};
    }
    constexpr span subspan(std::size_t offset, std::size_t count) const noexcept {
        return {first_ + offset, count};
    }

private:
    Type *first_ = nullptr;
    std::size_t count_ = 0;
};
#endif

/** Bytes that belong to something else. */
using byte_view = span<const std::uint8_t>;

/** Views text as bytes. */
inline byte_view as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

/* ------------------------------------------------------------------------------------ ownership */

/** Says that an object takes over the reference that a C function has given. */
struct adopt_t { explicit adopt_t() = default; };
inline constexpr adopt_t adopt{};

/** Says that an object adds a reference of its own to what a C function has lent. */
struct retain_t { explicit retain_t() = default; };
inline constexpr retain_t retain{};

/**
 * One reference to an object of the library that counts its references; or none. A copy is another
 * reference to the same object. A moved-from one has none: functions then give 0, NULL or an error,
 * as in C. Base of image, bytes and response.
 * Thread: any; one reference must not be assigned on two threads at once, as with std::shared_ptr.
 */
template <class Object, Object *(*Retain)(Object *), void (*Release)(Object *)> class counted {
public:
    counted() noexcept = default;
    counted(Object *owned, adopt_t) noexcept : object_(owned) {}
    counted(Object *lent, retain_t) noexcept : object_(Retain(lent)) {}
    counted(const counted &other) noexcept : object_(Retain(other.object_)) {}
    counted(counted &&other) noexcept : object_(other.release()) {}
    counted &operator=(counted other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~counted() { Release(object_); }

    /** The C object, lent; NULL if there is none. */
    Object *get() const noexcept { return object_; }
    /** Gives the reference away: the caller releases it. */
    Object *release() noexcept { return std::exchange(object_, nullptr); }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    /** Whether both refer to the same object. */
    friend bool operator==(const counted &a, const counted &b) noexcept {
        return a.object_ == b.object_;
    }
    friend bool operator!=(const counted &a, const counted &b) noexcept { return !(a == b); }

private:
    Object *object_ = nullptr;
};

/**
 * The owner of a downloader, cache, loader or batch; or a name for a shared one. It can be moved
 * and not copied, and destroys what it owns.
 *
 * A moved-from owner has a dead handle: its functions give SDD_ERROR_CLOSED. It never stands for
 * the shared object.
 * Thread: as the C handle, any; but moving and destroying it must not overlap with other calls.
 */
template <class Object, sdd_status (*Destroy)(Object *)> class owned {
public:
    owned(Object *handle, adopt_t) noexcept : handle_(handle), owns_(true) {}
    owned(owned &&other) noexcept
        : handle_(std::exchange(other.handle_, dead())), owns_(std::exchange(other.owns_, false)) {}
    owned &operator=(owned &&other) noexcept {
        if (this != &other) {
            destroy();
            handle_ = std::exchange(other.handle_, dead());
            owns_ = std::exchange(other.owns_, false);
        }
        return *this;
    }
    ~owned() { destroy(); }

    /** The C handle, lent; NULL: the shared object. */
    Object *get() const noexcept { return handle_; }
    /** Gives the handle away: the caller destroys it. This owner is then as a moved-from one. */
    Object *release() noexcept {
        owns_ = false;
        return std::exchange(handle_, dead());
    }
    /** Destroys what it owns, as the destructor does: the status of the C function. */
    sdd_status destroy() noexcept {
        Object *handle = std::exchange(handle_, dead());
        return std::exchange(owns_, false) ? Destroy(handle) : sdd_status{SDD_OK};
    }

protected:
    struct shared_t {};
    explicit owned(shared_t) noexcept {}

private:
    /* Handles are numbers, and the library never gives 1 to an object. */
    static Object *dead() noexcept { return reinterpret_cast<Object *>(std::uintptr_t{1}); }

    Object *handle_ = nullptr;
    bool owns_ = false;
};

/**
 * A byte buffer: a body, encoded pictures. Immutable.
 * Ownership and thread: see counted. Lifetime: data(), view() and text(), while a reference to the
 * bytes is held. Errors: copy_of() without memory gives none (false).
 */
class bytes : public counted<sdd_bytes, sdd_bytes_retain, sdd_bytes_release> {
public:
    using counted::counted;
    /** Copies data; without memory for it there are no bytes (false). */
    static bytes copy_of(byte_view data) noexcept {
        return {sdd_bytes_create(data.data(), data.size()), adopt};
    }
    static bytes copy_of(std::string_view text) noexcept {
        return {sdd_bytes_create(text.data(), text.size()), adopt};
    }

    const std::uint8_t *data() const noexcept { return sdd_bytes_data(get()); }
    std::size_t size() const noexcept { return sdd_bytes_size(get()); }
    byte_view view() const noexcept { return {data(), size()}; }
    std::string_view text() const noexcept {
        return {reinterpret_cast<const char *>(data()), size()};
    }
};

/* ---------------------------------------------------------------------- exceptions in callbacks */

/**
 * Receives exceptions of callbacks that belong to no single request. The name says which callback
 * it was ("transport.start"). It must not throw: that ends the process.
 */
using exception_handler = std::function<void(std::exception_ptr thrown, const char *callback)>;

namespace detail {

struct handler_place {
    std::mutex mutex;
    std::shared_ptr<const exception_handler> handler;

    /* It is never destroyed, because callbacks may run while the process exits. */
    static handler_place &shared() {
        static handler_place *const place = new handler_place;
        return *place;
    }
};

/* A sentence on an exception. */
inline std::string describe(const std::exception_ptr &thrown) {
#if SDD_CPP_EXCEPTIONS
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception &exception) {
        return exception.what();
    } catch (...) {
        return "an exception that is no std::exception";
    }
#else
    return thrown ? "an exception" : "no exception";
#endif
}

inline void hand_on(const std::exception_ptr &thrown, const char *callback) noexcept {
    std::shared_ptr<const exception_handler> handler;
    {
        const std::lock_guard<std::mutex> lock(handler_place::shared().mutex);
        handler = handler_place::shared().handler;
    }
    if (handler && *handler)
        (*handler)(thrown, callback);
    else
        std::fprintf(stderr, "sdd: %s threw: %s\n", callback, describe(thrown).c_str());
}

/* Calls a function of the application from C. An exception is handed on, and gives `otherwise`. */
template <class Answer, class Function>
Answer guarded(const char *callback, Answer otherwise, Function &&function) noexcept {
#if SDD_CPP_EXCEPTIONS
    try {
        return function();
    } catch (...) {
        hand_on(std::current_exception(), callback);
        return otherwise;
    }
#else
    (void)callback, (void)otherwise;
    return function();
#endif
}

template <class Function> void guarded(const char *callback, Function &&function) noexcept {
    guarded(callback, 0, [&] { return function(), 0; });
}

/* The same, and returns the exception, or none. */
template <class Function>
std::exception_ptr thrown_by(const char *callback, Function &&function) noexcept {
#if SDD_CPP_EXCEPTIONS
    try {
        function();
    } catch (...) {
        hand_on(std::current_exception(), callback);
        return std::current_exception();
    }
#else
    (void)callback;
    function();
#endif
    return nullptr;
}

/* Frees user data of type Type. */
template <class Type> void free_user_data(void *user_data) noexcept {
    delete static_cast<Type *>(user_data);
}

/* Enables an overload for URLs as text, which braces cannot mean. */
template <class Text>
using if_text = std::enable_if_t<std::is_convertible_v<const Text &, std::string_view>>;

inline const char *or_null(const std::string &text) noexcept {
    return text.empty() ? nullptr : text.c_str();
}

inline std::string_view view_of(const char *text) noexcept {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

} // namespace detail

/**
 * Sets the handler of exceptions that no request can take: those of modifiers, transforms,
 * transports, coders, stores, observers, filters and executors, and of the callbacks of submit().
 * The C function then returns what means failure. Without a handler a line goes to standard error.
 * Exceptions in callbacks of a request that has a pending end in that, see pending.
 *
 * @param handler Called on the thread of the callback; several at a time. Empty: no handler.
 * Thread: any.
 */
inline void set_exception_handler(exception_handler handler) {
    auto made = std::make_shared<const exception_handler>(std::move(handler));
    const std::lock_guard<std::mutex> lock(detail::handler_place::shared().mutex);
    detail::handler_place::shared().handler.swap(made);
}

SDD_CPP_END

#endif /* SDD_CPP_BASE_HPP */

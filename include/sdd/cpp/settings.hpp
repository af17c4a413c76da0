/*
 * sdd/cpp/settings.hpp - Types of the fields in options.hpp: functions, limits, tensors.
 */
#ifndef SDD_CPP_SETTINGS_HPP
#define SDD_CPP_SETTINGS_HPP

#include "modifier.hpp"
#include "stores.hpp"

SDD_CPP_BEGIN

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

/** Decides on an address before a connection to it is opened. Thread: sdd-net: be quick, and call
    no function of the library. An exception is handed on and refuses. */
using address_filter = std::function<bool(std::string_view address, int32_t port)>;

/** Makes the key of a URL; "": the URL itself. Thread: any, several at a time; it must call no
    function of the library. */
using key_function = std::function<std::string(std::string_view url)>;
/** Makes the bytes to write for an item, whose image or bytes may be missing; none (false): nothing
    is written. Thread: sdd-disk, one call at a time. */
using serializer_function =
    std::function<bytes(const image &picture, const bytes &encoded, std::string_view key)>;

/* Groups with all fields of the C structs, which begin with their defaults. */
struct limits : sdd_limits {
    limits() noexcept : sdd_limits SDD_LIMITS_INIT {}
};
struct retry_options : sdd_retry_options {
    retry_options() noexcept : sdd_retry_options SDD_RETRY_OPTIONS_INIT {}
};

/** Memory of the application for pictures of one size: sdd_tensor, with its defaults. It must stay
    valid until the batch is destroyed. */
struct tensor : sdd_tensor {
    tensor() noexcept : sdd_tensor SDD_TENSOR_INIT {}
};

/** A URL of a batch, with a number of the application. */
struct batch_source {
    std::string url{};
    uint64_t id = 0;
};

/** Gives the items of a batch; nothing: there are no more. Called inside the constructor and
    wait(), on the calling thread. If it throws, there are no more, and the call ends with an error
    with that exception as cause(); items under way can still be taken. */
using next_function = std::function<std::optional<batch_source>()>;

SDD_CPP_END

#endif /* SDD_CPP_SETTINGS_HPP */

/*
 * sdd/cpp/config.hpp - The configuration of a downloader.
 */
#ifndef SDD_CPP_CONFIG_HPP
#define SDD_CPP_CONFIG_HPP

#include "request.hpp"

SDD_CPP_BEGIN

/* Groups with all fields of the C structs, which begin with their defaults. */
struct limits : sdd_limits {
    limits() noexcept : sdd_limits SDD_LIMITS_INIT {}
};
struct retry_options : sdd_retry_options {
    retry_options() noexcept : sdd_retry_options SDD_RETRY_OPTIONS_INIT {}
};

/** Settings of callbacks: sdd_callback_options. An exception in a function is handed on. */
struct callback_options {
    /* Called first and last on the thread of SDD_DELIVERY_THREAD. */
    std::function<void()> on_thread_start{};
    std::function<void()> on_thread_stop{};
    double min_progress_fraction = 0;
    int64_t min_progress_interval_ms = 0;
    int64_t min_preview_interval_ms = 0;
    int64_t min_preview_bytes = 0;
    int64_t min_preview_scans = 0;
};

/** Decides on an address before a connection to it is opened. Thread: sdd-net: be quick, and call
    no function of the library. An exception is handed on and refuses. */
using address_filter = std::function<bool(std::string_view address, int32_t port)>;

/** Network settings: sdd_network_options, whose comments describe the fields. */
struct network_options {
    std::string ca_file{};
    std::string ca_path{};
    sdd_tls_version min_tls_version = SDD_TLS_DEFAULT;
    sdd_http_version http_version = SDD_HTTP_DEFAULT;
    int32_t max_redirects = 0;
    bool allow_downgrade = false;
    bool allow_file_urls = false;
    bool no_data_urls = false;
    sdd_ip_version ip_version = SDD_IP_ANY;
    sdd_address_policy address_policy = SDD_ADDRESS_ANY;
    sdd_proxy_mode proxy_mode = SDD_PROXY_ENVIRONMENT;
    sdd::address_filter address_filter{};
    std::vector<std::string> address_exceptions{};
    std::string proxy{};
    std::string no_proxy{};
    std::string network_interface{};
    std::string unix_socket_path{};
    std::vector<std::string> resolve{};
    std::string dns_servers{};
    int64_t dns_cache_ms = 0;
    int32_t max_connections = 0;
    int32_t max_connections_per_host = 0;
    int32_t max_idle_connections = 0;
    int64_t tcp_keepalive_ms = 0;
    int32_t receive_buffer_bytes = 0;
    int32_t network_threads = 0;
    std::string cookie_file{};
};

/**
 * The configuration of a downloader: sdd_downloader_config, whose comments describe the fields. 0
 * and "" mean their defaults.
 * Lifetime: copied by the constructor of downloader; the functions live until nothing uses them.
 * The cache may be destroyed at any time.
 */
struct downloader_config {
    sdd_delivery_mode delivery = SDD_DELIVERY_THREAD;
    int32_t max_concurrent_downloads = 0;
    int32_t max_concurrent_per_host = 0;
    int32_t decode_threads = 0;
    sdd_execution_order execution_order = SDD_ORDER_FIFO;
    int32_t reserved_urgent_slots = 0;
    int64_t ageing_ms = 0;
    int64_t min_host_interval_ms = 0;
    std::string accepted_status_codes{};
    std::string accepted_content_types{};
    std::optional<sdd::credential> credential{};
    std::optional<sdd::modifiers> modifiers{};
    sdd_cache *cache = nullptr; /* cache::get(); NULL: the shared one */
    bool http_cache = false;
    bool resume = false;
    std::optional<callback_options> callbacks{};
    std::optional<network_options> network{};
    std::optional<sdd::limits> limits{};
    std::optional<retry_options> retry{};
    bool no_installed_coders = false;
    sdd_decode_mode decode_mode = SDD_DECODE_IN_PROCESS;
};

namespace detail {

/* The functions of callback_options. */
struct thread_functions {
    std::function<void()> start, stop;
};

/* The C struct of a configuration, with everything that it points to. */
class c_config {
public:
    explicit c_config(const downloader_config &from) : modifiers_(from.modifiers) {
        c.delivery = from.delivery;
        c.max_concurrent_downloads = from.max_concurrent_downloads;
        c.max_concurrent_per_host = from.max_concurrent_per_host;
        c.decode_threads = from.decode_threads;
        c.execution_order = from.execution_order;
        c.reserved_urgent_slots = from.reserved_urgent_slots;
        c.ageing_ms = from.ageing_ms;
        c.min_host_interval_ms = from.min_host_interval_ms;
        c.accepted_status_codes = or_null(from.accepted_status_codes);
        c.accepted_content_types = or_null(from.accepted_content_types);
        if (from.credential) {
            credential_ = c_credential(*from.credential);
            c.credential = &credential_;
        }
        c.modifiers = modifiers_.get();
        c.cache = from.cache;
        c.http_cache = from.http_cache;
        c.resume = from.resume;
        if (from.callbacks) fill_callbacks(*from.callbacks);
        if (from.network) fill_network(*from.network);
        if (from.limits) c.limits = &*from.limits;
        if (from.retry) c.retry = &*from.retry;
        c.no_installed_coders = from.no_installed_coders;
        c.decode_mode = from.decode_mode;
    }

    /* The library has accepted the struct, and frees the functions. */
    void taken() noexcept {
        modifiers_.taken();
        (void)functions_.release();
        (void)filter_.release();
    }

    sdd_downloader_config c = SDD_DOWNLOADER_CONFIG_INIT;

private:
    void fill_callbacks(const callback_options &from) {
        if (from.on_thread_start)
            callbacks_.on_thread_start = [](void *user_data) noexcept {
                guarded("on_thread_start", static_cast<thread_functions *>(user_data)->start);
            };
        if (from.on_thread_stop)
            callbacks_.on_thread_stop = [](void *user_data) noexcept {
                guarded("on_thread_stop", static_cast<thread_functions *>(user_data)->stop);
            };
        functions_.reset(new thread_functions{from.on_thread_start, from.on_thread_stop});
        callbacks_.user_data = functions_.get();
        callbacks_.user_data_free = free_user_data<thread_functions>;
        callbacks_.min_progress_fraction = from.min_progress_fraction;
        callbacks_.min_progress_interval_ms = from.min_progress_interval_ms;
        callbacks_.min_preview_interval_ms = from.min_preview_interval_ms;
        callbacks_.min_preview_bytes = from.min_preview_bytes;
        callbacks_.min_preview_scans = from.min_preview_scans;
        c.callbacks = &callbacks_;
    }

    void fill_network(const network_options &from) {
        network_.ca_file = or_null(from.ca_file);
        network_.ca_path = or_null(from.ca_path);
        network_.min_tls_version = from.min_tls_version;
        network_.http_version = from.http_version;
        network_.max_redirects = from.max_redirects;
        network_.allow_downgrade = from.allow_downgrade;
        network_.allow_file_urls = from.allow_file_urls;
        network_.no_data_urls = from.no_data_urls;
        network_.ip_version = from.ip_version;
        network_.address_policy = from.address_policy;
        network_.proxy_mode = from.proxy_mode;
        if (from.address_filter) {
            filter_ = std::make_unique<address_filter>(from.address_filter);
            network_.address_filter = [](const char *address, int32_t port,
                                         void *user_data) noexcept {
                return guarded("address_filter", int32_t{0}, [&] {
                    return int32_t{(*static_cast<address_filter *>(user_data))(address, port)};
                });
            };
            network_.user_data = filter_.get();
            network_.user_data_free = free_user_data<address_filter>;
        }
        exceptions_ = c_texts(from.address_exceptions);
        network_.address_exceptions = exceptions_.data();
        network_.address_exception_count = exceptions_.size();
        network_.proxy = or_null(from.proxy);
        network_.no_proxy = or_null(from.no_proxy);
        network_.network_interface = or_null(from.network_interface);
        network_.unix_socket_path = or_null(from.unix_socket_path);
        resolve_ = c_texts(from.resolve);
        network_.resolve = resolve_.data();
        network_.resolve_count = resolve_.size();
        network_.dns_servers = or_null(from.dns_servers);
        network_.dns_cache_ms = from.dns_cache_ms;
        network_.max_connections = from.max_connections;
        network_.max_connections_per_host = from.max_connections_per_host;
        network_.max_idle_connections = from.max_idle_connections;
        network_.tcp_keepalive_ms = from.tcp_keepalive_ms;
        network_.receive_buffer_bytes = from.receive_buffer_bytes;
        network_.network_threads = from.network_threads;
        network_.cookie_file = or_null(from.cookie_file);
        c.network = &network_;
    }

    lent_modifiers modifiers_;
    sdd_credential credential_ = SDD_CREDENTIAL_INIT;
    sdd_callback_options callbacks_ = SDD_CALLBACK_OPTIONS_INIT;
    sdd_network_options network_ = SDD_NETWORK_OPTIONS_INIT;
    std::vector<const char *> resolve_, exceptions_;
    std::unique_ptr<thread_functions> functions_;
    std::unique_ptr<address_filter> filter_;
};

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_CONFIG_HPP */

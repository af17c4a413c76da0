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
    int32_t min_preview_scans = 0;
};

/** Decides on an address before a connection to it is opened. Thread: sdd-net: be quick, and call
    no function of the library. An exception is handed on and refuses. */
using address_filter = std::function<bool(std::string_view address, int32_t port)>;

/** Network settings: sdd_network_options, whose comments describe the fields. */
struct network_options {
    std::string ca_file{};
    std::string ca_path{};
    int32_t min_tls_version = SDD_TLS_DEFAULT;
    int32_t http_version = SDD_HTTP_DEFAULT;
    int32_t max_redirects = 0;
    bool allow_downgrade = false;
    bool allow_file_urls = false;
    int32_t ip_version = SDD_IP_ANY;
    int32_t address_policy = SDD_ADDRESS_ANY;
    int32_t proxy_mode = SDD_PROXY_ENVIRONMENT;
    sdd::address_filter address_filter{};
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
    int32_t tcp_keepalive_s = 0;
    int32_t receive_buffer_bytes = 0;
    int32_t network_threads = 0;
    std::string cookie_file{};
    std::vector<std::string> address_exceptions{};
    bool no_data_urls = false;
};

/**
 * The configuration of a downloader: sdd_downloader_config, whose comments describe the fields. 0
 * and "" mean their defaults.
 * Lifetime: copied by the constructor of downloader. The cache may be destroyed at any time.
 */
struct downloader_config {
    int32_t delivery = SDD_DELIVERY_THREAD;
    int32_t max_concurrent_downloads = 0;
    int32_t max_concurrent_per_host = 0;
    int32_t decode_threads = 0;
    int32_t execution_order = SDD_ORDER_FIFO;
    int32_t reserved_urgent_slots = 0;
    int64_t ageing_ms = 0;
    int64_t min_host_interval_ms = 0;
    std::string accepted_status_codes{};
    std::string accepted_content_types{};
    std::optional<sdd::credential> credential{};
    std::optional<sdd::modifiers> modifiers{};
    sdd_cache *cache = nullptr; /* cache::get(); NULL: the shared one */
    bool http_cache = false;
    bool no_installed_coders = false;
    bool isolated_decoding = false; /* other processes decode: SDD_DECODE_ISOLATED */
    bool resume = false;
    std::optional<callback_options> callbacks{};
    std::optional<network_options> network{};
    std::optional<sdd::limits> limits{};
    std::optional<retry_options> retry{};
};

namespace detail {

/* Functions of a downloader's configuration, which the C struct has no function to free for. */
struct config_functions {
    std::function<void()> on_thread_start, on_thread_stop;
    address_filter filter;

    bool has_any() const noexcept { return on_thread_start || on_thread_stop || filter; }

    /* Keeps functions as long as the process: nothing tells when the library stops using them. */
    static void keep(std::unique_ptr<config_functions> functions) {
        static std::mutex mutex;
        static auto *const kept = new std::vector<std::unique_ptr<config_functions>>;
        const std::lock_guard<std::mutex> lock(mutex);
        kept->push_back(std::move(functions));
    }
};

/* The C struct of a configuration, with everything that it points to. */
class c_config {
public:
    /* functions: those of the configuration. The caller keeps them while the downloader lives. */
    c_config(const downloader_config &from, config_functions &functions)
        : modifiers_(from.modifiers) {
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
        c.no_installed_coders = from.no_installed_coders;
        c.decode_mode = from.isolated_decoding ? SDD_DECODE_ISOLATED : SDD_DECODE_IN_PROCESS;
        c.resume = from.resume;
        if (from.callbacks) fill_callbacks(*from.callbacks, functions);
        if (from.network) fill_network(*from.network, functions);
        if (from.limits) c.limits = &*from.limits;
        if (from.retry) c.retry = &*from.retry;
    }

    /* The library has accepted the struct. */
    void taken() noexcept { modifiers_.taken(); }

    sdd_downloader_config c = SDD_DOWNLOADER_CONFIG_INIT;

private:
    void fill_callbacks(const callback_options &from, config_functions &functions) {
        functions.on_thread_start = from.on_thread_start;
        functions.on_thread_stop = from.on_thread_stop;
        if (functions.on_thread_start)
            callbacks_.on_thread_start = [](void *data) noexcept {
                guarded("on_thread_start", static_cast<config_functions *>(data)->on_thread_start);
            };
        if (functions.on_thread_stop)
            callbacks_.on_thread_stop = [](void *data) noexcept {
                guarded("on_thread_stop", static_cast<config_functions *>(data)->on_thread_stop);
            };
        callbacks_.thread_user_data = &functions;
        callbacks_.min_progress_fraction = from.min_progress_fraction;
        callbacks_.min_progress_interval_ms = from.min_progress_interval_ms;
        callbacks_.min_preview_interval_ms = from.min_preview_interval_ms;
        callbacks_.min_preview_bytes = from.min_preview_bytes;
        callbacks_.min_preview_scans = from.min_preview_scans;
        c.callbacks = &callbacks_;
    }

    void fill_network(const network_options &from, config_functions &functions) {
        network_.ca_file = or_null(from.ca_file);
        network_.ca_path = or_null(from.ca_path);
        network_.min_tls_version = from.min_tls_version;
        network_.http_version = from.http_version;
        network_.max_redirects = from.max_redirects;
        network_.allow_downgrade = from.allow_downgrade;
        network_.allow_file_urls = from.allow_file_urls;
        network_.ip_version = from.ip_version;
        network_.address_policy = from.address_policy;
        network_.proxy_mode = from.proxy_mode;
        functions.filter = from.address_filter;
        if (functions.filter)
            network_.address_filter = [](const char *address, int32_t port, void *data) noexcept {
                return guarded("address_filter", int32_t{0}, [&] {
                    const auto &filter = static_cast<config_functions *>(data)->filter;
                    return int32_t{filter(address, port)};
                });
            };
        network_.address_filter_user_data = functions.filter ? &functions : nullptr;
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
        network_.tcp_keepalive_s = from.tcp_keepalive_s;
        network_.receive_buffer_bytes = from.receive_buffer_bytes;
        network_.network_threads = from.network_threads;
        network_.cookie_file = or_null(from.cookie_file);
        exceptions_ = c_texts(from.address_exceptions);
        network_.address_exceptions = exceptions_.data();
        network_.address_exception_count = exceptions_.size();
        network_.no_data_urls = from.no_data_urls;
        c.network = &network_;
    }

    lent_modifiers modifiers_;
    sdd_credential credential_ = SDD_CREDENTIAL_INIT;
    sdd_callback_options callbacks_ = SDD_CALLBACK_OPTIONS_INIT;
    sdd_network_options network_ = SDD_NETWORK_OPTIONS_INIT;
    std::vector<const char *> resolve_, exceptions_;
};

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_CONFIG_HPP */

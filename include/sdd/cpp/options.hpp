/* Made from the C header by tools/make_cxx.py: `make bindings` makes it anew. */
/*
 * sdd/cpp/options.hpp - The settings of requests, downloaders, caches and batches. The comments of
 * the C structs describe the fields. Texts that are empty, numbers that are 0, and values that are
 * not set have their defaults.
 */
#ifndef SDD_CPP_OPTIONS_HPP
#define SDD_CPP_OPTIONS_HPP

#include "settings.hpp"

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

namespace detail {

inline void set_plain(sdd_credential &c, const credential &from) noexcept {
    c.username = or_null(from.username);
    c.password = or_null(from.password);
    c.schemes = from.schemes;
    c.bearer_token = or_null(from.bearer_token);
    c.client_certificate = or_null(from.client_certificate);
    c.client_key = or_null(from.client_key);
    c.client_key_password = or_null(from.client_key_password);
}

} // namespace detail

/**
 * How to transfer, for downloads, loads, prefetch lists and batches: sdd_transfer_options. What is
 * not set is as the downloader's configuration says.
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

namespace detail {

inline void set_plain(sdd_transfer_options &c, const transfer_options &from) noexcept {
    c.referrer = or_null(from.referrer);
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

} // namespace detail

/**
 * A download with all its settings: sdd_download_request.
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
    std::optional<sdd::decode_options> decode{};
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

namespace detail {

inline void set_plain(sdd_download_request &c, const download_request &from) noexcept {
    c.url = from.url.c_str();
    c.options = from.options;
    c.priority = from.priority;
    c.sink = from.sink;
    c.sink_fd = from.sink_fd;
    c.decode = from.decode ? &*from.decode : nullptr;
    c.method = or_null(from.method);
    c.range = or_null(from.range);
    c.integrity = or_null(from.integrity);
    c.expected_bytes = from.expected_bytes;
}

} // namespace detail

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
    std::optional<sdd::decode_options> decode{};
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

inline void set_plain(sdd_load_request &c, const load_request &from) noexcept {
    c.url = from.url.c_str();
    c.options = from.options;
    c.priority = from.priority;
    c.query = from.query;
    c.store = from.store;
    c.original_query = from.original_query;
    c.original_store = from.original_store;
    c.cache_key = or_null(from.cache_key);
    c.decode = from.decode ? &*from.decode : nullptr;
    c.integrity = or_null(from.integrity);
    c.expected_bytes = from.expected_bytes;
}

} // namespace detail

/** Settings of callbacks: sdd_callback_options. An exception in a function is handed on. */
struct callback_options {
    std::function<void()> on_thread_start{}; /* first on the thread of SDD_DELIVERY_THREAD */
    std::function<void()> on_thread_stop{}; /* last there */
    double min_progress_fraction = 0;
    int64_t min_progress_interval_ms = 0;
    int64_t min_preview_interval_ms = 0;
    int64_t min_preview_bytes = 0;
    int64_t min_preview_scans = 0;
};

namespace detail {

inline void set_plain(sdd_callback_options &c, const callback_options &from) noexcept {
    c.min_progress_fraction = from.min_progress_fraction;
    c.min_progress_interval_ms = from.min_progress_interval_ms;
    c.min_preview_interval_ms = from.min_preview_interval_ms;
    c.min_preview_bytes = from.min_preview_bytes;
    c.min_preview_scans = from.min_preview_scans;
}

} // namespace detail

/** Network settings: sdd_network_options. */
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

namespace detail {

inline void set_plain(sdd_network_options &c, const network_options &from) noexcept {
    c.ca_file = or_null(from.ca_file);
    c.ca_path = or_null(from.ca_path);
    c.min_tls_version = from.min_tls_version;
    c.http_version = from.http_version;
    c.max_redirects = from.max_redirects;
    c.allow_downgrade = from.allow_downgrade;
    c.allow_file_urls = from.allow_file_urls;
    c.no_data_urls = from.no_data_urls;
    c.ip_version = from.ip_version;
    c.address_policy = from.address_policy;
    c.proxy_mode = from.proxy_mode;
    c.proxy = or_null(from.proxy);
    c.no_proxy = or_null(from.no_proxy);
    c.network_interface = or_null(from.network_interface);
    c.unix_socket_path = or_null(from.unix_socket_path);
    c.dns_servers = or_null(from.dns_servers);
    c.dns_cache_ms = from.dns_cache_ms;
    c.max_connections = from.max_connections;
    c.max_connections_per_host = from.max_connections_per_host;
    c.max_idle_connections = from.max_idle_connections;
    c.tcp_keepalive_ms = from.tcp_keepalive_ms;
    c.receive_buffer_bytes = from.receive_buffer_bytes;
    c.network_threads = from.network_threads;
    c.cookie_file = or_null(from.cookie_file);
}

} // namespace detail

/**
 * The configuration of a downloader: sdd_downloader_config.
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
    std::optional<sdd::callback_options> callbacks{};
    std::optional<sdd::network_options> network{};
    std::optional<sdd::limits> limits{};
    std::optional<sdd::retry_options> retry{};
    bool no_installed_coders = false;
    sdd_decode_mode decode_mode = SDD_DECODE_IN_PROCESS;
};

namespace detail {

inline void set_plain(sdd_downloader_config &c, const downloader_config &from) noexcept {
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
    c.cache = from.cache;
    c.http_cache = from.http_cache;
    c.resume = from.resume;
    c.limits = from.limits ? &*from.limits : nullptr;
    c.retry = from.retry ? &*from.retry : nullptr;
    c.no_installed_coders = from.no_installed_coders;
    c.decode_mode = from.decode_mode;
}

} // namespace detail

/**
 * The configuration of a cache: sdd_cache_config. An exception in a function is handed on
 * (set_exception_handler()).
 * Lifetime: copied by the constructor of cache; the functions live until nothing uses them.
 */
struct cache_config {
    std::string name{};
    std::string directory{};
    std::vector<std::string> read_only_directories{};
    sdd_cache_levels levels = SDD_CACHE_DEFAULT;
    bool no_live_images = false;
    int64_t max_memory_cost = 0;
    int64_t max_memory_count = 0;
    bool watch_memory_pressure = false;
    sdd_sync_mode sync = SDD_SYNC_NONE;
    int64_t max_disk_bytes = 0;
    int64_t max_disk_age_ms = 0;
    sdd_date_kind disk_date = SDD_DATE_ACCESS;
    int32_t low_water_percent = 0;
    bool no_share_wait = false;
    int64_t trim_interval_ms = 0;
    int64_t map_from_bytes = 0;
    int64_t share_wait_ms = 0;
    int64_t max_part_bytes = 0;
    int64_t max_part_age_ms = 0;
    std::string ignored_query_parameters{};
    key_function key_filter{};
    serializer_function serializer{};
    int64_t max_queued_bytes = 0;
    int64_t destroy_timeout_ms = 0;
    std::shared_ptr<sdd::memory_store> memory_store{};
    std::shared_ptr<sdd::entry_store> entry_store{};
};

namespace detail {

inline void set_plain(sdd_cache_config &c, const cache_config &from) noexcept {
    c.name = or_null(from.name);
    c.directory = or_null(from.directory);
    c.levels = from.levels;
    c.no_live_images = from.no_live_images;
    c.max_memory_cost = from.max_memory_cost;
    c.max_memory_count = from.max_memory_count;
    c.watch_memory_pressure = from.watch_memory_pressure;
    c.sync = from.sync;
    c.max_disk_bytes = from.max_disk_bytes;
    c.max_disk_age_ms = from.max_disk_age_ms;
    c.disk_date = from.disk_date;
    c.low_water_percent = from.low_water_percent;
    c.no_share_wait = from.no_share_wait;
    c.trim_interval_ms = from.trim_interval_ms;
    c.map_from_bytes = from.map_from_bytes;
    c.share_wait_ms = from.share_wait_ms;
    c.max_part_bytes = from.max_part_bytes;
    c.max_part_age_ms = from.max_part_age_ms;
    c.ignored_query_parameters = or_null(from.ignored_query_parameters);
    c.max_queued_bytes = from.max_queued_bytes;
    c.destroy_timeout_ms = from.destroy_timeout_ms;
}

} // namespace detail

/**
 * The configuration of a batch: sdd_batch_config.
 * Lifetime: copied by the constructor of batch.
 */
struct batch_config {
    sdd_downloader *downloader = nullptr; /* downloader::get(); NULL: the shared one */
    sdd_loader *loader = nullptr; /* loader::get(); not together with `downloader` */
    std::vector<std::string> urls{};
    std::vector<uint64_t> ids{}; /* one for each URL, or none: the index */
    next_function next{}; /* in place of urls */
    std::optional<sdd::tensor> tensor{};
    std::optional<sdd::decode_options> decode{};
    transfer_options transfer{};
    sdd_options options = 0;
    int64_t deadline_ms = 0;
    int32_t look_ahead = 0;
    sdd_priority priority = SDD_PRIORITY_DEFAULT;
    sdd_batch_order order = SDD_BATCH_AS_COMPLETED;
    bool responses = false;
};

namespace detail {

inline void set_plain(sdd_batch_config &c, const batch_config &from) noexcept {
    c.downloader = from.downloader;
    c.loader = from.loader;
    c.tensor = from.tensor ? &*from.tensor : nullptr;
    c.decode = from.decode ? &*from.decode : nullptr;
    c.options = from.options;
    c.deadline_ms = from.deadline_ms;
    c.look_ahead = from.look_ahead;
    c.priority = from.priority;
    c.order = from.order;
    c.responses = from.responses;
}

} // namespace detail

SDD_CPP_END

#endif /* SDD_CPP_OPTIONS_HPP */

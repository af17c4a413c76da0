//! The C interface of libsdd, as far as these programs use it: sdd/sdd.h by hand. What the fields and functions do
//! stands there.

use std::ffi::{c_char, c_int, c_void};

/// `sdd_downloader`, `sdd_image` and the like are handles: only pointers to them exist.
#[repr(C)]
pub struct Opaque {
    _private: [u8; 0],
}

pub const OK: i32 = 0;
pub const ERROR_INVALID_ARGUMENT: i32 = 4000;
pub const OPTION_HANDLE_COOKIES: u64 = 1 << 2;
pub const OPTION_BYTES_ONLY: u64 = 1 << 10;
pub const OPTION_RETRY_FAILED: u64 = 1 << 18;
pub const OPTION_FROM_CACHE_ONLY: u64 = 1 << 20;
pub const OPTION_FROM_LOADER_ONLY: u64 = 1 << 21;
pub const OPTION_WAIT_STORE_CACHE: u64 = 1 << 22;

#[repr(C)]
pub struct Timings {
    pub struct_size: usize,
    pub queue_us: i64,
    pub name_lookup_us: i64,
    pub connect_us: i64,
    pub tls_us: i64,
    pub first_byte_us: i64,
    pub transfer_us: i64,
    pub decode_us: i64,
    pub total_us: i64,
    pub delivery_us: i64,
    pub cache_us: i64,
    pub store_us: i64,
}

#[repr(C)]
pub struct Metrics {
    pub struct_size: usize,
    pub request_bytes: i64,
    pub response_header_bytes: i64,
    pub response_body_bytes: i64,
    pub body_bytes: i64,
    pub http_version: i32,
    pub connection_reused: i32,
    pub redirects: i32,
    pub attempts: i32,
    pub remote_port: i32,
    pub reserved: i32,
    pub remote_address: *const c_char,
    pub saved_bytes: i64,
    pub resumed_bytes: i64,
}

#[repr(C)]
pub struct SourceError {
    pub struct_size: usize,
    pub url: *const c_char,
    pub error: i32,
    pub detail: i32,
    pub http_status: i32,
    pub retryable: i32,
    pub message: *const c_char,
}

#[repr(C)]
pub struct Result {
    pub struct_size: usize,
    pub token: u64,
    pub url: *const c_char,
    pub image: *mut Opaque,
    pub bytes: *mut Opaque,
    pub error: i32,
    pub detail: i32,
    pub http_status: i32,
    pub curl_code: i32,
    pub system_error: i32,
    pub finished: i32,
    pub message: *const c_char,
    pub timings: *const Timings,
    pub response: *mut Opaque,
    pub metrics: *const Metrics,
    pub error_class: i32,
    pub stage: i32,
    pub retryable: i32,
    pub origin: i32,
    pub extended: *mut Opaque,
    pub sources: *const SourceError,
    pub source_count: usize,
    pub end_unproven: i32,
    pub reserved: i32,
    pub transformed: i32,
    pub reserved2: i32,
}

pub type ProgressFn = unsafe extern "C" fn(u64, i64, i64, *const c_char, *mut c_void);
pub type CompletedFn = unsafe extern "C" fn(*const Result, *mut c_void);
pub type UserDataFreeFn = unsafe extern "C" fn(*mut c_void);
pub type ObserverFn = unsafe extern "C" fn(*const Notice, *mut c_void);
pub type AddressFilterFn = unsafe extern "C" fn(*const c_char, i32, *mut c_void) -> i32;

#[repr(C)]
pub struct Header {
    pub name: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
pub struct Credential {
    pub struct_size: usize,
    pub username: *const c_char,
    pub password: *const c_char,
    pub schemes: u64,
    pub bearer_token: *const c_char,
    pub client_certificate: *const c_char,
    pub client_key: *const c_char,
    pub client_key_password: *const c_char,
}

#[repr(C)]
pub struct DecodeOptions {
    pub struct_size: usize,
    pub pixel_format: i32,
    pub keep_orientation: i32,
    pub background: u32,
    pub fit: i32,
    pub target_width: i32,
    pub target_height: i32,
    pub scale_down_limit_bytes: i64,
    pub row_alignment: i32,
    pub allow_enlarging: i32,
    pub allocator: *const c_void,
    pub pixels: *mut c_void,
    pub pixels_size: usize,
    pub pixels_stride: usize,
    pub integrity: i32,
    pub format_hint: i32,
    pub scaling: i32,
    pub reserved: i32,
}

#[repr(C)]
pub struct DownloadRequest {
    pub struct_size: usize,
    pub url: *const c_char,
    pub options: u64,
    pub method: *const c_char,
    pub headers: *const Header,
    pub header_count: usize,
    pub body: *const c_void,
    pub body_size: usize,
    pub progress: Option<ProgressFn>,
    pub completed: Option<CompletedFn>,
    pub user_data: *mut c_void,
    pub user_data_free: Option<UserDataFreeFn>,
    pub referrer: *const c_char,
    pub range: *const c_char,
    pub priority: i32,
    pub reserved: i32,
    pub queue_timeout_ms: i64,
    pub connect_timeout_ms: i64,
    pub first_byte_timeout_ms: i64,
    pub download_timeout_ms: i64,
    pub total_timeout_ms: i64,
    pub accepted_status_codes: *const c_char,
    pub accepted_content_types: *const c_char,
    pub credential: *const Credential,
    pub modifiers: *const c_void,
    pub sink: i32,
    pub sink_fd: i32,
    pub decode: *const DecodeOptions,
    pub preview: Option<CompletedFn>,
    pub facts: *const c_void,
    pub integrity: *const c_char,
    pub expected_bytes: i64,
    pub max_attempts: i32,
    pub reserved2: i32,
    pub low_speed_limit: i64,
    pub low_speed_time_ms: i64,
    pub redirects: i32,
    pub max_redirects: i32,
    pub max_body_bytes: i64,
    pub ca_file: *const c_char,
}

#[repr(C)]
pub struct CallbackOptions {
    pub struct_size: usize,
    pub on_thread_start: Option<UserDataFreeFn>,
    pub on_thread_stop: Option<UserDataFreeFn>,
    pub thread_user_data: *mut c_void,
    pub min_progress_interval: f64,
    pub min_progress_interval_ms: i64,
    pub min_preview_interval_ms: i64,
    pub min_preview_bytes: i64,
    pub min_preview_scans: i32,
    pub reserved: i32,
}

#[repr(C)]
pub struct NetworkOptions {
    pub struct_size: usize,
    pub ca_file: *const c_char,
    pub ca_path: *const c_char,
    pub min_tls_version: i32,
    pub http_version: i32,
    pub max_redirects: i32,
    pub allow_downgrade: i32,
    pub allow_file_urls: i32,
    pub ip_version: i32,
    pub address_policy: i32,
    pub proxy_mode: i32,
    pub address_filter: Option<AddressFilterFn>,
    pub address_filter_user_data: *mut c_void,
    pub proxy: *const c_char,
    pub no_proxy: *const c_char,
    pub network_interface: *const c_char,
    pub unix_socket_path: *const c_char,
    pub resolve: *const *const c_char,
    pub resolve_count: usize,
    pub dns_servers: *const c_char,
    pub dns_cache_ms: i64,
    pub max_connections: i32,
    pub max_connections_per_host: i32,
    pub max_idle_connections: i32,
    pub tcp_keepalive_s: i32,
    pub receive_buffer_bytes: i32,
    pub reserved: i32,
    pub cookie_file: *const c_char,
    pub address_exceptions: *const *const c_char,
    pub address_exception_count: usize,
    pub no_data_urls: i32,
    pub reserved2: i32,
}

#[repr(C)]
pub struct Limits {
    pub struct_size: usize,
    pub queue_timeout_ms: i64,
    pub connect_timeout_ms: i64,
    pub first_byte_timeout_ms: i64,
    pub download_timeout_ms: i64,
    pub total_timeout_ms: i64,
    pub low_speed_limit: i64,
    pub low_speed_time_ms: i64,
    pub max_body_bytes: i64,
    pub max_header_bytes: i64,
    pub max_header_count: i32,
    pub max_scans: i32,
    pub max_pixels: i64,
    pub decode_time_ms: i64,
    pub decode_time_ms_per_mib: i64,
    pub max_decode_bytes: i64,
    pub max_decode_ratio: i64,
}

#[repr(C)]
pub struct RetryOptions {
    pub struct_size: usize,
    pub max_attempts: i32,
    pub budget: i32,
    pub delay_ms: i64,
    pub max_delay_ms: i64,
}

#[repr(C)]
pub struct Config {
    pub struct_size: usize,
    pub delivery: i32,
    pub max_concurrent_downloads: i32,
    pub max_concurrent_per_host: i32,
    pub decode_threads: i32,
    pub execution_order: i32,
    pub reserved_urgent_slots: i32,
    pub ageing_ms: i64,
    pub min_host_interval_ms: i64,
    pub accepted_status_codes: *const c_char,
    pub accepted_content_types: *const c_char,
    pub credential: *const Credential,
    pub modifiers: *const c_void,
    pub cache: *mut Opaque,
    pub http_cache: i32,
    pub resume: i32,
    pub callbacks: *const CallbackOptions,
    pub network: *const NetworkOptions,
    pub limits: *const Limits,
    pub retry: *const RetryOptions,
}

/// Also what [`crate::sdd::Downloader::statistics`] gives: what a downloader has done, and is doing.
#[repr(C)]
#[derive(Clone, Debug)]
pub struct Statistics {
    pub(super) struct_size: usize,
    pub requests: i64,
    pub requests_joined: i64,
    pub requests_succeeded: i64,
    pub requests_failed: i64,
    pub requests_cancelled: i64,
    pub transfers_started: i64,
    pub transfers_succeeded: i64,
    pub connections_opened: i64,
    pub request_bytes: i64,
    pub response_header_bytes: i64,
    pub response_body_bytes: i64,
    pub body_bytes: i64,
    pub images_decoded: i64,
    pub decode_us: i64,
    pub waiting: i64,
    pub running: i64,
    pub decoding: i64,
    pub receiving_bytes: i64,
    pub waiting_bytes: i64,
    pub undelivered_bytes: i64,
    pub decode_memory_bytes: i64,
}

#[repr(C)]
pub struct Cookie {
    pub struct_size: usize,
    pub name: *const c_char,
    pub value: *const c_char,
    pub domain: *const c_char,
    pub path: *const c_char,
    pub expires: i64,
    pub include_subdomains: i32,
    pub secure: i32,
    pub http_only: i32,
    pub reserved: i32,
}

#[repr(C)]
pub struct CacheConfig {
    pub struct_size: usize,
    pub name: *const c_char,
    pub directory: *const c_char,
    pub read_only_directories: *const *const c_char,
    pub read_only_count: usize,
    pub levels: i32,
    pub no_live_images: i32,
    pub max_memory_cost: i64,
    pub max_memory_count: i64,
    pub watch_memory_pressure: i32,
    pub sync: i32,
    pub max_disk_bytes: i64,
    pub max_disk_age_ms: i64,
    pub disk_date: i32,
    pub low_water_percent: i32,
    pub trim_interval_ms: i64,
    pub map_from_bytes: i64,
    pub share_wait_ms: i64,
    pub max_part_bytes: i64,
    pub max_part_age_ms: i64,
    pub ignored_query_parameters: *const c_char,
    pub key_filter: *const c_void,
    pub serializer: *const c_void,
    pub user_data: *mut c_void,
    pub user_data_free: Option<UserDataFreeFn>,
    pub max_queued_bytes: i64,
    pub destroy_timeout_ms: i64,
    pub memory_store: *const c_void,
    pub entry_store: *const c_void,
}

#[repr(C)]
pub struct LoadRequest {
    pub struct_size: usize,
    pub url: *const c_char,
    pub options: u64,
    pub progress: Option<ProgressFn>,
    pub completed: Option<CompletedFn>,
    pub user_data: *mut c_void,
    pub user_data_free: Option<UserDataFreeFn>,
    pub decode: *const DecodeOptions,
    pub transforms: *const c_void,
    pub transform_count: usize,
    pub alternatives: *const *const c_char,
    pub alternative_count: usize,
    pub cache_key: *const c_char,
    pub query: i32,
    pub store: i32,
    pub original_query: i32,
    pub original_store: i32,
    pub priority: i32,
    pub reserved: i32,
    pub total_timeout_ms: i64,
    pub download: *const DownloadRequest,
    pub preview: Option<CompletedFn>,
    pub facts: *const c_void,
    pub cached: Option<CompletedFn>,
}

#[repr(C)]
pub struct LoaderConfig {
    pub struct_size: usize,
    pub downloader: *mut Opaque,
    pub cache: *mut Opaque,
    pub original_cache: *mut Opaque,
    pub no_cache: i32,
    pub fail_policy: i32,
    pub should_download: *const c_void,
    pub should_block_failed_url: *const c_void,
    pub options_processor: *const c_void,
    pub user_data: *mut c_void,
    pub user_data_free: Option<UserDataFreeFn>,
}

#[repr(C)]
pub struct Notice {
    pub struct_size: usize,
    pub kind: i32,
    pub level: i32,
    pub transfer: u64,
    pub token: u64,
    pub url: *const c_char,
    pub time_us: i64,
    pub http_status: i32,
    pub error: i32,
    pub message: *const c_char,
    pub attempt: i32,
    pub reserved: i32,
    pub delay_us: i64,
}

// Linked by what build.rs prints.
extern "C" {
    pub fn sdd_status_name(status: c_int) -> *const c_char;
    pub fn sdd_status_message(status: c_int) -> *const c_char;
    pub fn sdd_last_error_message() -> *const c_char;

    pub fn sdd_image_retain(image: *mut Opaque) -> *mut Opaque;
    pub fn sdd_image_release(image: *mut Opaque);
    pub fn sdd_image_width(image: *mut Opaque) -> i32;
    pub fn sdd_image_height(image: *mut Opaque) -> i32;
    pub fn sdd_image_stride(image: *mut Opaque) -> usize;
    pub fn sdd_image_pixels(image: *mut Opaque) -> *const u8;
    pub fn sdd_bytes_release(bytes: *mut Opaque);
    pub fn sdd_bytes_data(bytes: *mut Opaque) -> *const u8;
    pub fn sdd_bytes_size(bytes: *mut Opaque) -> usize;
    pub fn sdd_response_retain(response: *mut Opaque) -> *mut Opaque;
    pub fn sdd_response_release(response: *mut Opaque);
    pub fn sdd_response_status(response: *mut Opaque) -> i32;
    pub fn sdd_response_mime_type(response: *mut Opaque) -> *const c_char;
    pub fn sdd_response_header(response: *mut Opaque, name: *const c_char) -> *const c_char;
    pub fn sdd_response_header_at(
        response: *mut Opaque,
        index: usize,
        name: *mut *const c_char,
        value: *mut *const c_char,
    ) -> i32;

    pub fn sdd_downloader_create(config: *const Config, out: *mut *mut Opaque) -> i32;
    pub fn sdd_downloader_destroy(downloader: *mut Opaque) -> i32;
    pub fn sdd_set_header(downloader: *mut Opaque, name: *const c_char, value: *const c_char) -> i32;
    pub fn sdd_downloader_set_max_concurrent_downloads(downloader: *mut Opaque, count: i32) -> i32;
    pub fn sdd_downloader_set_observer(
        downloader: *mut Opaque,
        observer: Option<ObserverFn>,
        user_data: *mut c_void,
        user_data_free: Option<UserDataFreeFn>,
    ) -> i32;
    pub fn sdd_downloader_get_statistics(downloader: *mut Opaque, statistics: *mut Statistics) -> i32;

    pub fn sdd_downloader_submit(downloader: *mut Opaque, request: *const DownloadRequest, status: *mut i32) -> u64;
    pub fn sdd_cancel(token: u64) -> i32;
    pub fn sdd_set_priority(token: u64, priority: i32) -> i32;
    pub fn sdd_get(
        downloader: *mut Opaque,
        url: *const c_char,
        options: u64,
        timeout_ms: i64,
        image: *mut *mut Opaque,
        bytes: *mut *mut Opaque,
        response: *mut *mut Opaque,
    ) -> i32;

    pub fn sdd_downloader_set_cookie(downloader: *mut Opaque, cookie: *const Cookie) -> i32;
    pub fn sdd_downloader_get_cookies(downloader: *mut Opaque, out: *mut *mut Opaque) -> i32;
    pub fn sdd_cookies_at(cookies: *mut Opaque, index: usize, cookie: *mut Cookie) -> i32;
    pub fn sdd_cookies_release(cookies: *mut Opaque);
    pub fn sdd_downloader_clear_cookies(downloader: *mut Opaque, domain: *const c_char) -> i32;

    pub fn sdd_cache_create(config: *const CacheConfig, out: *mut *mut Opaque, detail: *mut i32) -> i32;
    pub fn sdd_cache_destroy(cache: *mut Opaque) -> i32;

    pub fn sdd_loader_create(config: *const LoaderConfig, out: *mut *mut Opaque) -> i32;
    pub fn sdd_loader_destroy(loader: *mut Opaque) -> i32;
    pub fn sdd_loader_submit(loader: *mut Opaque, request: *const LoadRequest, status: *mut i32) -> u64;
    pub fn sdd_loader_running_count(loader: *mut Opaque) -> i64;
    pub fn sdd_loader_cancel_all(loader: *mut Opaque) -> i32;
    pub fn sdd_loader_remove_failed_url(loader: *mut Opaque, url: *const c_char) -> i32;
    pub fn sdd_loader_remove_all_failed_urls(loader: *mut Opaque) -> i32;
    pub fn sdd_loader_is_blocked(loader: *mut Opaque, url: *const c_char) -> i32;
}

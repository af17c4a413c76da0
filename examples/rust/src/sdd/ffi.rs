//! The C interface of libsdd, as far as this program uses it: sdd/sdd.h by hand.

use std::ffi::{c_char, c_int, c_void};

/// `sdd_downloader` and `sdd_image` are handles: only pointers to them exist.
#[repr(C)]
pub struct Opaque {
    _private: [u8; 0],
}

pub const OK: i32 = 0;
pub const ERROR_INVALID_ARGUMENT: i32 = 4000;

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
}

pub type ProgressFn = unsafe extern "C" fn(u64, i64, i64, *const c_char, *mut c_void);
pub type CompletedFn = unsafe extern "C" fn(*const Result, *mut c_void);
pub type UserDataFreeFn = unsafe extern "C" fn(*mut c_void);

#[repr(C)]
pub struct Request {
    pub struct_size: usize,
    pub url: *const c_char,
    pub options: u64,
    pub method: *const c_char,
    pub headers: *const c_void,
    pub header_count: usize,
    pub body: *const c_void,
    pub body_size: usize,
    pub progress: Option<ProgressFn>,
    pub completed: Option<CompletedFn>,
    pub user_data: *mut c_void,
    pub user_data_free: Option<UserDataFreeFn>,
}

#[repr(C)]
pub struct Config {
    pub struct_size: usize,
    pub delivery: i32,
    pub max_concurrent_downloads: i32,
    pub download_timeout_ms: i64,
    pub max_body_bytes: i64,
    pub max_pixels: i64,
    pub max_redirects: i32,
    pub decode_threads: i32,
    pub allow_file_urls: i32,
    pub reserved: i32,
    pub ca_file: *const c_char,
    pub ca_path: *const c_char,
    pub on_thread_start: Option<UserDataFreeFn>,
    pub on_thread_stop: Option<UserDataFreeFn>,
    pub thread_user_data: *mut c_void,
}

// Linked by what build.rs prints.
extern "C" {
    pub fn sdd_status_name(status: c_int) -> *const c_char;
    pub fn sdd_status_message(status: c_int) -> *const c_char;

    pub fn sdd_image_retain(image: *mut Opaque) -> *mut Opaque;
    pub fn sdd_image_release(image: *mut Opaque);
    pub fn sdd_image_width(image: *mut Opaque) -> i32;
    pub fn sdd_image_height(image: *mut Opaque) -> i32;
    pub fn sdd_image_stride(image: *mut Opaque) -> usize;
    pub fn sdd_image_pixels(image: *mut Opaque) -> *const u8;
    pub fn sdd_bytes_size(bytes: *mut Opaque) -> usize;

    pub fn sdd_downloader_config_init(config: *mut Config, struct_size: usize) -> i32;
    pub fn sdd_downloader_create(config: *const Config, out: *mut *mut Opaque) -> i32;
    pub fn sdd_downloader_destroy(downloader: *mut Opaque) -> i32;
    pub fn sdd_set_header(downloader: *mut Opaque, name: *const c_char, value: *const c_char) -> i32;
    pub fn sdd_set_max_concurrent_downloads(downloader: *mut Opaque, count: i32) -> i32;
    pub fn sdd_request_init(request: *mut Request, struct_size: usize) -> i32;
    pub fn sdd_download_request(downloader: *mut Opaque, request: *const Request, status: *mut i32) -> u64;
    pub fn sdd_cancel(downloader: *mut Opaque, token: u64) -> i32;
}

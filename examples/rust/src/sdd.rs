//! A small safe layer over libsdd: a [`Downloader`] and a [`Loader`] send [`Event`]s into channels, and an [`Image`]
//! frees itself. All `unsafe` of these programs is here and in the modules below.

#![allow(dead_code)] // a layer to copy: not every program needs all of it

/// A struct of the header that begins with struct_size, with all defaults: sized!(sdd_download_request).
macro_rules! sized {
    ($name:ident) => {
        ffi::$name { struct_size: std::mem::size_of::<ffi::$name>(), ..Default::default() }
    };
}

mod cookies;
mod events;
mod ffi; // the whole header, made by bindgen
mod loader;
mod observer;
mod picture;
mod request;

// Each program uses some of these names.
#[allow(unused_imports)]
pub use {
    cookies::Cookie,
    events::Event,
    ffi::sdd_statistics as Statistics,
    loader::{Load, Loader, LoaderConfig},
    observer::{Notice, NoticeKind},
    picture::{Image, Origin, Picture, Response},
    request::{Credential, Priority, Request},
};

use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_char;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::mpsc::{channel, Sender};
use std::time::Duration;

/// An error; `status` is one of SDD_ERROR_.
#[derive(Clone, Debug)]
pub struct Error {
    pub status: i32,
    pub message: String,
    /// The HTTP status of the response; 0 if there was none.
    pub http_status: i32,
}

impl Error {
    /// The spelling of the status: "SDD_ERROR_TLS" for 3003.
    pub fn name(&self) -> &'static str {
        // SAFETY: the library gives a static ASCII string for every number.
        unsafe { CStr::from_ptr(ffi::sdd_status_name(self.status)) }.to_str().unwrap_or("")
    }

    fn of(status: i32) -> Self {
        // SAFETY: the library gives a static string for every number.
        let message = unsafe { text(ffi::sdd_status_message(status)) };
        Error { status, message, http_status: 0 }
    }

    /// Returns the error of the call that has just failed on this thread, with the library's sentence about it.
    fn of_call(status: i32) -> Self {
        // SAFETY: the library gives a string that stays until the next call of this thread that fails.
        let message = unsafe { text(ffi::sdd_last_error_message()) };
        Error { status, message, http_status: 0 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.name(), self.message)
    }
}

impl std::error::Error for Error {}

/// Turns the status of the call just made on this thread into a result.
fn check(status: i32) -> Result<(), Error> {
    if status == ffi::SDD_OK {
        Ok(())
    } else {
        Err(Error::of_call(status))
    }
}

/// A Rust string as a C one, which cannot have a NUL inside.
fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::of(ffi::SDD_ERROR_INVALID_ARGUMENT))
}

fn c_path(path: Option<&Path>) -> Result<Option<CString>, Error> {
    path.map(|path| c_string(&path.to_string_lossy())).transpose()
}

/// Returns NULL for `None`. The pointer is valid while `text` lives.
fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

/// SAFETY: NULL, or a string that ends with NUL.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        String::new()
    } else {
        CStr::from_ptr(pointer).to_string_lossy().into_owned()
    }
}

/// The configuration of a [`Downloader`]; each default is the library's.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Certificates to trust, in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// The file in which cookies are kept from one downloader to the next.
    pub cookie_file: Option<PathBuf>,
    /// The default is six.
    pub max_concurrent_downloads: Option<i32>,
    /// Starts the newest of the waiting requests of one priority first.
    pub newest_first: bool,
}

/// A connection pool, a queue, cookies and default headers. Dropping it cancels its requests, and waits for their ends.
pub struct Downloader {
    handle: NonNull<ffi::sdd_downloader>,
}

// SAFETY: a handle, never an address; every function may be called from any thread at any time.
unsafe impl Send for Downloader {}
unsafe impl Sync for Downloader {}

impl Downloader {
    /// Creates one with all defaults.
    pub fn new() -> Result<Self, Error> {
        Self::with_config(&Config::default())
    }

    pub fn with_config(config: &Config) -> Result<Self, Error> {
        let ca_file = c_path(config.ca_file.as_deref())?;
        let cookie_file = c_path(config.cookie_file.as_deref())?;
        let mut handle = ptr::null_mut();
        let network = ffi::sdd_network_options {
            ca_file: pointer(&ca_file),
            cookie_file: pointer(&cookie_file),
            ..sized!(sdd_network_options)
        };
        let given = ffi::sdd_downloader_config {
            network: &network,
            max_concurrent_downloads: config.max_concurrent_downloads.unwrap_or(0),
            execution_order: if config.newest_first { ffi::SDD_ORDER_LIFO } else { ffi::SDD_ORDER_FIFO },
            ..sized!(sdd_downloader_config)
        };
        // SAFETY: create copies the config, its group and the paths.
        check(unsafe { ffi::sdd_downloader_create(&given, &mut handle) })?;
        let handle = NonNull::new(handle).ok_or_else(|| Error::of(ffi::SDD_ERROR_INVALID_ARGUMENT))?;
        Ok(Downloader { handle })
    }

    fn raw(&self) -> *mut ffi::sdd_downloader {
        self.handle.as_ptr()
    }

    /// Sets a header field for all downloads that start from now on.
    pub fn set_header(&self, name: &str, value: &str) -> Result<(), Error> {
        let (name, value) = (c_string(name)?, c_string(value)?);
        // SAFETY: both strings are copied before the call returns.
        check(unsafe { ffi::sdd_set_header(self.raw(), name.as_ptr(), value.as_ptr()) })
    }

    /// Changes how many downloads run at a time; the others wait.
    pub fn set_max_concurrent_downloads(&self, count: i32) -> Result<(), Error> {
        // SAFETY: no memory is passed.
        check(unsafe { ffi::sdd_downloader_set_max_concurrent_downloads(self.raw(), count) })
    }

    /// Starts a download and returns its token. Its events go into the channel.
    pub fn start(&self, url: &str, events: Sender<Event>) -> Result<u64, Error> {
        self.submit(&Request::new(url), events)
    }

    /// Downloads one picture, and waits for it.
    pub fn get(&self, url: &str) -> Result<Picture, Error> {
        self.fetch(&Request::new(url))
    }

    /// Downloads one picture as the request says, and waits for it.
    pub fn fetch(&self, request: &Request) -> Result<Picture, Error> {
        let (sender, events) = channel();
        self.submit(request, sender)?;
        for event in events {
            if let Event::Completed { result, .. } = event {
                return result;
            }
        }
        unreachable!("each download ends with exactly one Completed")
    }

    /// Downloads any body and waits for it, with cookies if wanted. `None` means no time limit of its own.
    pub fn get_bytes(&self, url: &str, cookies: bool, limit: Option<Duration>) -> Result<Vec<u8>, Error> {
        let url = c_string(url)?;
        let options = ffi::SDD_OPTION_BYTES_ONLY | if cookies { ffi::SDD_OPTION_HANDLE_COOKIES } else { 0 };
        let limit = limit.map_or(-1, |limit| i64::try_from(limit.as_millis()).unwrap_or(i64::MAX));
        let mut bytes = ptr::null_mut();
        // SAFETY: the URL is copied; on success `bytes` is ours, and what it points to does not change until the release.
        unsafe {
            check(ffi::sdd_get(self.raw(), url.as_ptr(), options, limit, ptr::null_mut(), &mut bytes, ptr::null_mut()))?;
            let (data, size) = (ffi::sdd_bytes_data(bytes), ffi::sdd_bytes_size(bytes));
            let copy = if size == 0 { Vec::new() } else { std::slice::from_raw_parts(data, size).to_vec() };
            ffi::sdd_bytes_release(bytes);
            Ok(copy)
        }
    }

    /// Cancels one download, which then ends with SDD_ERROR_CANCELLED; an error if it has ended.
    pub fn cancel(&self, token: u64) -> Result<(), Error> {
        check(unsafe { ffi::sdd_cancel(token) }) // SAFETY: any number is allowed
    }

    /// Changes the priority of a download, waiting or running; an error if it has ended.
    pub fn set_priority(&self, token: u64, priority: Priority) -> Result<(), Error> {
        // SAFETY: as above.
        check(unsafe { ffi::sdd_set_priority(token, priority as i32) })
    }

    /// Returns the counters of the downloader.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let mut statistics = sized!(sdd_statistics);
        // SAFETY: the library fills as much as struct_size says.
        check(unsafe { ffi::sdd_downloader_get_statistics(self.raw(), &mut statistics) })?;
        Ok(statistics)
    }
}

impl Drop for Downloader {
    fn drop(&mut self) {
        // SAFETY: called once by the only owner; no callback runs foreign code, so this is inside none of them.
        unsafe { ffi::sdd_downloader_destroy(self.raw()) };
    }
}

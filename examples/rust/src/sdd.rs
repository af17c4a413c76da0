//! A small safe layer over libsdd: a [`Downloader`] sends its [`Event`]s into channels, and an [`Image`]
//! frees itself. All `unsafe` of this program is here.

#![allow(dead_code)] // a layer to take along: not every program needs all of it

mod ffi;

use std::ffi::{c_char, c_void, CStr, CString};
use std::fmt;
use std::mem::{size_of, MaybeUninit};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::mpsc::{channel, Sender};

/// What went wrong: `status` is one of SDD_ERROR_.
#[derive(Clone, Debug)]
pub struct Error {
    pub status: i32,
    pub message: String,
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
        Error { status, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.name(), self.message)
    }
}

impl std::error::Error for Error {}

fn check(status: i32) -> Result<(), Error> {
    if status == ffi::OK {
        Ok(())
    } else {
        Err(Error::of(status))
    }
}

/// A Rust string as a C one, which cannot have a NUL inside.
fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::of(ffi::ERROR_INVALID_ARGUMENT))
}

/// SAFETY: NULL, or a string that ends with NUL.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        String::new()
    } else {
        CStr::from_ptr(pointer).to_string_lossy().into_owned()
    }
}

/// A picture: immutable, shared by its clones, freed with the last of them.
pub struct Image(NonNull<ffi::Opaque>);

// SAFETY: the header says that images are immutable and that every function may be called on any thread.
unsafe impl Send for Image {}
unsafe impl Sync for Image {}

impl Image {
    pub fn width(&self) -> usize {
        unsafe { ffi::sdd_image_width(self.0.as_ptr()) as usize } // SAFETY: we hold a reference
    }

    pub fn height(&self) -> usize {
        unsafe { ffi::sdd_image_height(self.0.as_ptr()) as usize } // SAFETY: as above
    }

    /// The rows from the top, each of `width()` pixels of 4 bytes: red, green, blue, alpha.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        // SAFETY: there are height * stride bytes, which live and do not change while `self` does.
        let (pixels, stride) = unsafe {
            let stride = ffi::sdd_image_stride(self.0.as_ptr());
            let start = ffi::sdd_image_pixels(self.0.as_ptr());
            (std::slice::from_raw_parts(start, stride * self.height()), stride)
        };
        let width = self.width();
        pixels.chunks_exact(stride).map(move |row| &row[..width * 4])
    }
}

impl Clone for Image {
    fn clone(&self) -> Self {
        unsafe { ffi::sdd_image_retain(self.0.as_ptr()) }; // SAFETY: we hold a reference
        Image(self.0)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        unsafe { ffi::sdd_image_release(self.0.as_ptr()) } // SAFETY: this gives back our reference
    }
}

/// A download that worked.
pub struct Picture {
    pub image: Image,
    pub encoded_bytes: usize,
    pub http_status: i32,
    pub milliseconds: i64,
}

/// What is told about a download. `Completed` comes last, exactly once.
pub enum Event {
    Progress { token: u64, received: i64, expected: Option<i64> },
    Completed { token: u64, url: String, result: Result<Picture, Error> },
}

/// A connection pool, a queue and default headers. Dropping it cancels what is under way, and waits for that.
pub struct Downloader(NonNull<ffi::Opaque>);

// SAFETY: a handle, never an address; every function may be called from any thread at any time.
unsafe impl Send for Downloader {}
unsafe impl Sync for Downloader {}

impl Downloader {
    /// With all defaults.
    pub fn new() -> Result<Self, Error> {
        Self::with_ca_file(None)
    }

    /// Trusts the certificates of a PEM file in place of the system's.
    pub fn with_ca_file(ca_file: Option<&Path>) -> Result<Self, Error> {
        let ca_file = ca_file.map(|path| c_string(&path.to_string_lossy())).transpose()?;
        let mut config = MaybeUninit::<ffi::Config>::uninit();
        let mut handle = ptr::null_mut();
        // SAFETY: init fills the whole struct (zeros are a valid one); create copies it and the path.
        unsafe {
            check(ffi::sdd_downloader_config_init(config.as_mut_ptr(), size_of::<ffi::Config>()))?;
            let mut config = config.assume_init();
            config.ca_file = ca_file.as_ref().map_or(ptr::null(), |path| path.as_ptr());
            check(ffi::sdd_downloader_create(&config, &mut handle))?;
        }
        NonNull::new(handle).map(Downloader).ok_or_else(|| Error::of(ffi::ERROR_INVALID_ARGUMENT))
    }

    /// Sets a header field for all downloads that start from now on.
    pub fn set_header(&self, name: &str, value: &str) -> Result<(), Error> {
        let (name, value) = (c_string(name)?, c_string(value)?);
        // SAFETY: both strings are copied before the call returns.
        check(unsafe { ffi::sdd_set_header(self.0.as_ptr(), name.as_ptr(), value.as_ptr()) })
    }

    /// Changes how many downloads run at a time; the others wait.
    pub fn set_max_concurrent_downloads(&self, count: i32) -> Result<(), Error> {
        // SAFETY: takes no memory of ours.
        check(unsafe { ffi::sdd_set_max_concurrent_downloads(self.0.as_ptr(), count) })
    }

    /// Starts a download and returns its token. What happens to it goes into the channel.
    pub fn start(&self, url: &str, events: Sender<Event>) -> Result<u64, Error> {
        let url = c_string(url)?;
        let user_data = Box::into_raw(Box::new(events)); // freed by user_data_free, after the last callback
        let mut request = MaybeUninit::<ffi::Request>::uninit();
        let mut status = ffi::OK;
        // SAFETY: init fills the whole struct (zeros are a valid one); all that it points to is copied.
        let token = unsafe {
            ffi::sdd_request_init(request.as_mut_ptr(), size_of::<ffi::Request>());
            let mut request = request.assume_init();
            request.url = url.as_ptr();
            request.progress = Some(on_progress);
            request.completed = Some(on_completed);
            request.user_data = user_data.cast();
            request.user_data_free = Some(free_sender);
            ffi::sdd_download_request(self.0.as_ptr(), &request, &mut status)
        };
        if token == 0 {
            drop(unsafe { Box::from_raw(user_data) }); // SAFETY: not accepted, so it stayed ours
            return Err(Error::of(status));
        }
        Ok(token)
    }

    /// Downloads one picture, and waits for it.
    pub fn get(&self, url: &str) -> Result<Picture, Error> {
        let (sender, events) = channel();
        self.start(url, sender)?;
        for event in events {
            if let Event::Completed { result, .. } = event {
                return result;
            }
        }
        unreachable!("each download ends with exactly one Completed")
    }

    /// Cancels one download, which then ends with SDD_ERROR_CANCELLED; an error if it has ended.
    pub fn cancel(&self, token: u64) -> Result<(), Error> {
        check(unsafe { ffi::sdd_cancel(self.0.as_ptr(), token) }) // SAFETY: any number is allowed
    }
}

impl Drop for Downloader {
    fn drop(&mut self) {
        unsafe { ffi::sdd_downloader_destroy(self.0.as_ptr()) }; // SAFETY: once; nobody else has the handle
    }
}

// The callbacks, on the library's thread. Nothing may unwind into the library: hence catch_unwind. A
// receiver that is gone is no error: nobody wants the events any more.

unsafe extern "C" fn on_progress(token: u64, received: i64, expected: i64, _: *const c_char, user_data: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: user_data is the box of `start`, which lives until free_sender.
        let events = unsafe { &*user_data.cast::<Sender<Event>>() };
        let expected = (expected >= 0).then_some(expected);
        let _ = events.send(Event::Progress { token, received, expected });
    }));
}

unsafe extern "C" fn on_completed(result: *const ffi::Result, user_data: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the result and all in it are ours to read until we return; user_data as above.
        let (result, events) = unsafe { (&*result, &*user_data.cast::<Sender<Event>>()) };
        let url = unsafe { text(result.url) };
        let _ = events.send(Event::Completed { token: result.token, url, result: picture_of(result) });
    }));
}

unsafe extern "C" fn free_sender(user_data: *mut c_void) {
    // SAFETY: called once, after the last callback of the request.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(user_data.cast::<Sender<Event>>()) })));
}

fn picture_of(result: &ffi::Result) -> Result<Picture, Error> {
    // SAFETY: a result that a callback was given. The image is only lent, so we take a reference.
    unsafe {
        match NonNull::new(ffi::sdd_image_retain(result.image)) {
            Some(image) if result.error == ffi::OK => Ok(Picture {
                image: Image(image),
                encoded_bytes: ffi::sdd_bytes_size(result.bytes),
                http_status: result.http_status,
                milliseconds: (*result.timings).total_us / 1000,
            }),
            _ => Err(Error { status: result.error, message: text(result.message) }),
        }
    }
}

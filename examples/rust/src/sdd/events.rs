//! The events of downloads and loads, sent into channels.

use super::{ffi, text, Downloader, Error, Image, Origin, Picture, Request, Response};
use std::ffi::c_void;
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::Sender;

/// An event of a download or a load. `Completed` comes last, exactly once.
pub enum Event {
    Progress { token: u64, received: i64, expected: Option<i64> },
    Completed { token: u64, url: String, result: Result<Picture, Error> },
}

impl Downloader {
    /// Starts a download as the request says, like [`Downloader::start`].
    pub fn submit(&self, request: &Request, events: Sender<Event>) -> Result<u64, Error> {
        let user_data = Box::into_raw(Box::new(events)); // freed by user_data_free, after the last callback
        let mut status = ffi::SDD_ERROR_INVALID_ARGUMENT;
        let token = request.lend(|request| {
            request.progress = Some(on_progress);
            request.completed = Some(on_completed);
            request.user_data = user_data.cast();
            request.user_data_free = Some(free_sender);
            // SAFETY: the request, with all that it points to, is copied before the call returns.
            unsafe { ffi::sdd_downloader_submit(self.raw(), request, &mut status) }
        });
        match token {
            Ok(token) if token != 0 => Ok(token),
            refused => {
                drop(unsafe { Box::from_raw(user_data) }); // SAFETY: not accepted, so it stayed ours
                Err(refused.err().unwrap_or_else(|| Error::of_call(status)))
            }
        }
    }
}

// The callbacks, on the library's thread. Nothing may unwind into the library: hence catch_unwind. A
// closed channel is no error: its events are not wanted any more.

pub(super) unsafe extern "C" fn on_progress(
    token: u64,
    received: i64,
    expected: i64,
    _: *const c_char,
    user_data: *mut c_void,
) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: user_data is the box of `submit`, which lives until free_sender.
        let events = unsafe { &*user_data.cast::<Sender<Event>>() };
        let expected = (expected >= 0).then_some(expected);
        let _ = events.send(Event::Progress { token, received, expected });
    }));
}

pub(super) unsafe extern "C" fn on_completed(result: *const ffi::sdd_result, user_data: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the result and all in it are ours to read until we return; user_data as above.
        let (result, events) = unsafe { (&*result, &*user_data.cast::<Sender<Event>>()) };
        let url = unsafe { text(result.url) };
        let _ = events.send(Event::Completed { token: result.token, url, result: picture_of(result) });
    }));
}

pub(super) unsafe extern "C" fn free_sender(user_data: *mut c_void) {
    // SAFETY: called once, after the last callback of the request.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(user_data.cast::<Sender<Event>>()) })));
}

fn picture_of(result: &ffi::sdd_result) -> Result<Picture, Error> {
    // SAFETY: a result that a callback was given. Image and response are only lent, so we take references.
    unsafe {
        match Image::retain(result.image) {
            Some(image) if result.error == ffi::SDD_OK => Ok(Picture {
                image,
                origin: Origin::new(result.origin),
                encoded_bytes: ffi::sdd_bytes_size(result.bytes),
                http_status: result.http_status,
                milliseconds: (*result.timings).total_us / 1000,
                response: Response::retain(result.response),
            }),
            _ => Err(Error { status: result.error, message: text(result.message), http_status: result.http_status }),
        }
    }
}

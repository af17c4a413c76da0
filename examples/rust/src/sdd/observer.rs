//! Notices about every transfer of a downloader.

use super::{check, ffi, text, Downloader, Error};
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::Sender;

/// A kind of notice. `Finish` means that the body came without an error, `Stop` that the transfer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    Start,
    Response,
    Finish,
    Stop,
}

/// One notice about a transfer.
#[derive(Clone, Debug)]
pub struct Notice {
    pub kind: NoticeKind,
    pub transfer: u64,
    pub url: String,
    pub http_status: i32,
}

impl Downloader {
    /// Sends the notices of all transfers into the channel from now on, until the downloader ends.
    pub fn observe(&self, notices: Sender<Notice>) -> Result<(), Error> {
        let user_data = Box::into_raw(Box::new(notices)).cast(); // freed by free_sender, once no call needs it
        // SAFETY: on_notice and free_sender take it for what it is.
        let status = unsafe { ffi::sdd_downloader_set_observer(self.raw(), Some(on_notice), user_data, Some(free_sender)) };
        if status != ffi::SDD_OK {
            unsafe { free_sender(user_data) }; // SAFETY: it was not taken
        }
        check(status)
    }
}

unsafe extern "C" fn free_sender(user_data: *mut c_void) {
    drop(unsafe { Box::from_raw(user_data.cast::<Sender<Notice>>()) }); // SAFETY: the box of `observe`, given back once
}

unsafe extern "C" fn on_notice(notice: *const ffi::sdd_notice, user_data: *mut c_void) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the notice is ours to read until we return; user_data is a box of `observe`.
        let (notice, notices) = unsafe { (&*notice, &*user_data.cast::<Sender<Notice>>()) };
        let kind = match notice.kind {
            ffi::SDD_EVENT_START => NoticeKind::Start,
            ffi::SDD_EVENT_RESPONSE => NoticeKind::Response,
            ffi::SDD_EVENT_FINISH => NoticeKind::Finish,
            ffi::SDD_EVENT_STOP => NoticeKind::Stop,
            _ => return,
        };
        let url = unsafe { text(notice.url) }; // SAFETY: as above
        let _ = notices.send(Notice { kind, transfer: notice.transfer, url, http_status: notice.http_status });
    }));
}

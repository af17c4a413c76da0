//! Notices about transfers, and log messages.

use crate::border::{guard, used_by_any_thread};
use crate::error::check;
use crate::numbers::{microseconds, numbers};
use crate::{sys, text, Downloader, Error};
use std::os::raw::c_void;
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

numbers! {
    /// The importance of log messages.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let downloader = sdd::Downloader::new()?;
    /// let (sender, lines) = std::sync::mpsc::channel();
    /// downloader.set_log(sdd::LogLevel::Info, move |notice| drop(sender.send(notice.message)))?;
    /// assert!(downloader.download(server.url("/missing")).wait().is_err());
    /// assert!(lines.recv().unwrap().contains("404"));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    LogLevel: None {
        /// No messages.
        None = SDD_LOG_NONE,
        /// Something was lost.
        Error = SDD_LOG_ERROR,
        /// Something is less safe or less good than it should be.
        Warning = SDD_LOG_WARNING,
        /// One line for each failed transfer.
        Info = SDD_LOG_INFO,
        /// One line for each start and end of a transfer, and each redirect.
        Debug = SDD_LOG_DEBUG,
    }
}

numbers! {
    /// The kind of a notice.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let downloader = sdd::Downloader::new()?;
    /// let (sender, kinds) = std::sync::mpsc::channel();
    /// downloader.set_observer(move |notice| drop(sender.send(notice.kind)))?;
    /// assert!(downloader.download(server.url("/missing")).wait().is_err());
    /// assert_eq!(kinds.recv().unwrap(), sdd::NoticeKind::Start);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    NoticeKind: Log {
        /// A transfer has started.
        Start = SDD_EVENT_START,
        /// A response has arrived, valid or not.
        Response = SDD_EVENT_RESPONSE,
        /// The body came without error.
        Finish = SDD_EVENT_FINISH,
        /// The transfer is over, for whatever reason.
        Stop = SDD_EVENT_STOP,
        /// The transfer failed and will be retried.
        Retry = SDD_EVENT_RETRY,
        /// A log message.
        Log = SDD_EVENT_LOG,
    }
}

/// A notice about a transfer, or a log message.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let downloader = sdd::Downloader::new()?;
/// let (sender, notices) = std::sync::mpsc::channel();
/// downloader.set_observer(move |notice| drop(sender.send(notice)))?;
/// let request = downloader.download(server.url("/a.png"));
/// let notice = notices.recv().unwrap();
/// assert_eq!((notice.token, notice.attempt, notice.url), (request.token(), 1, server.url("/a.png")));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notice {
    /// The kind.
    pub kind: NoticeKind,
    /// The level of a log message.
    pub level: LogLevel,
    /// The number of the transfer, which each attempt has anew; 0 for a message about none.
    pub transfer: u64,
    /// The first request of the transfer, as [`Request::token`](crate::Request::token) gives it.
    pub token: u64,
    /// The URL of the transfer, without user and password; "" if there is none.
    pub url: String,
    /// The time of CLOCK_MONOTONIC.
    pub time: Duration,
    /// The HTTP status; 0 before there is a response.
    pub http_status: i32,
    /// The failure, for `Stop` and `Retry`.
    pub error: Option<Error>,
    /// The line of a log message; otherwise that of the failure.
    pub message: String,
    /// The number of the attempt, from 1.
    pub attempt: i32,
    /// For `Retry`, from now until the next attempt may begin.
    pub delay: Duration,
}

type Observer = Mutex<Box<dyn FnMut(Notice) + Send>>;

impl Downloader {
    /// Follows every transfer of the downloader, on its callback thread. It replaces the observer before, which may
    /// still be called once. After a panic it is not called again.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// # let url = server.url("/a.png");
    /// use sdd::{Downloader, NoticeKind};
    ///
    /// let downloader = Downloader::new()?;
    /// let (sender, notices) = std::sync::mpsc::channel();
    /// downloader.set_observer(move |notice| drop(sender.send(notice.kind)))?;
    /// downloader.download(url).wait()?;
    /// let kinds: Vec<_> = notices.iter().take(4).collect();
    /// assert_eq!(kinds, [NoticeKind::Start, NoticeKind::Response, NoticeKind::Finish, NoticeKind::Stop]);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn set_observer(&self, observer: impl FnMut(Notice) + Send + 'static) -> Result<(), Error> {
        lend(observer, |function, user_data, free| {
            // SAFETY: the library frees the observer when it is no longer called, if it has accepted it.
            unsafe { sys::sdd_downloader_set_observer(self.raw(), function, user_data, free) }
        })
    }

    /// Removes the observer.
    pub fn remove_observer(&self) -> Result<(), Error> {
        // SAFETY: no memory is passed.
        check(unsafe { sys::sdd_downloader_set_observer(self.raw(), None, ptr::null_mut(), None) })
    }

    /// Receives log messages up to a level, otherwise like [`set_observer`](Downloader::set_observer).
    pub fn set_log(&self, level: LogLevel, observer: impl FnMut(Notice) + Send + 'static) -> Result<(), Error> {
        lend(observer, |function, user_data, free| {
            // SAFETY: as above.
            unsafe { sys::sdd_downloader_set_log(self.raw(), level as i32, function, user_data, free) }
        })
    }

    /// Makes no more log messages.
    pub fn remove_log(&self) -> Result<(), Error> {
        // SAFETY: no memory is passed.
        check(unsafe { sys::sdd_downloader_set_log(self.raw(), sys::SDD_LOG_NONE, None, ptr::null_mut(), None) })
    }
}

fn lend(
    observer: impl FnMut(Notice) + Send + 'static,
    call: impl FnOnce(sys::sdd_observer_fn, *mut c_void, sys::sdd_user_data_free_fn) -> sys::sdd_status,
) -> Result<(), Error> {
    let observer: Box<Observer> = Box::new(Mutex::new(Box::new(observer)));
    let observer = Box::into_raw(observer);
    check(call(Some(observed), observer.cast(), Some(free))).map_err(|error| {
        drop(unsafe { Box::from_raw(observer) }); // SAFETY: not accepted, so it stayed ours
        error
    })
}

const _: () = used_by_any_thread::<Observer>();

unsafe extern "C" fn observed(notice: *const sys::sdd_notice, observer: *mut c_void) {
    let _ = guard(|| {
        // SAFETY: the notice is lent until we return; the observer lives until `free`.
        let (notice, observer) = unsafe { (read(&*notice), &*observer.cast::<Observer>()) };
        // A mutex that is poisoned is that of an observer that has panicked.
        if let Ok(mut observer) = observer.try_lock() {
            observer(notice);
        }
    });
}

unsafe extern "C" fn free(observer: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Box::from_raw(observer.cast::<Observer>()) }));
}

/// SAFETY: a notice that a callback was given.
unsafe fn read(notice: &sys::sdd_notice) -> Notice {
    // SAFETY: its strings are lent until the callback returns.
    let (url, message, error) =
        unsafe { (text::owned(notice.url), text::owned(notice.failure.message), Error::found(&notice.failure)) };
    Notice {
        kind: NoticeKind::of(notice.kind).unwrap_or_default(),
        level: LogLevel::of(notice.level).unwrap_or_default(),
        transfer: notice.transfer,
        token: notice.token,
        url,
        time: microseconds(notice.time_us),
        http_status: notice.failure.http_status,
        error,
        message,
        attempt: notice.attempt,
        delay: microseconds(notice.delay_us),
    }
}

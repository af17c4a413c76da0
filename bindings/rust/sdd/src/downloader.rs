//! Downloaders: a queue, a connection pool, default headers, threads.

use crate::border::{is_inside_callback, outside_callbacks};
use crate::callbacks::{Callbacks, Task};
use crate::error::check;
use crate::modifiers::LentModifiers;
use crate::numbers::{clamped_i32, milliseconds, milliseconds_or_none, numbers};
use crate::report::Output;
use crate::request::{submit, Owner};
use crate::text::{c_string, Texts};
use crate::{
    sys, text, Body, Cache, Credential, DecodeOptions, Delivery, DownloadRequest, DownloaderBuilder, Error, Events,
    Modifiers, Picture, Report, Request, Results,
};
use std::fmt;
use std::mem::ManuallyDrop;
use std::os::unix::io::{AsFd, AsRawFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

numbers! {
    /// The order in which requests of the same priority begin.
    ///
    /// ```
    /// let downloader = sdd::Downloader::builder().execution_order(sdd::Order::Lifo).build()?;
    /// downloader.set_execution_order(sdd::Order::Fifo)?;
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Order: Fifo {
        /// The one that was submitted first.
        Fifo = SDD_ORDER_FIFO,
        /// The one that was submitted last.
        Lifo = SDD_ORDER_LIFO,
    }
}

/// Downloads URLs: a queue, a pool of connections, default headers, cookies, and threads that decode. Its clones are
/// the same downloader.
///
/// It lives as long as a clone of it, or a request that is held. Dropping the last cancels its requests and waits for
/// their ends, about as long as a callback of the application and one decoding step take. Inside a callback of the
/// library it does not wait: a thread of its own does.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/a.png");
/// use sdd::Downloader;
///
/// let downloader = Downloader::builder().max_concurrent_downloads(12).build()?;
/// downloader.set_header("Referer", Some("https://example.org/"))?;
/// let picture = downloader.download(url).wait()?;
/// println!("{} x {}", picture.image.width(), picture.image.height());
/// assert_eq!(downloader.statistics()?.requests_succeeded, 1);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone)]
pub struct Downloader(Option<Arc<Handle>>); // None: the shared one

/// A handle that is destroyed with its last reference.
struct Handle {
    raw: NonNull<sys::sdd_downloader>,
    kept: Option<Kept>,
}

/// Objects that the downloader uses until it is destroyed.
pub(crate) struct Kept {
    pub(crate) delivery: Delivery,
    pub(crate) _cache: Option<Cache>,
}

// SAFETY: a handle, never an address; the header allows every call on any thread.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // Without a thread to destroy it, the closed downloader stays, and all that it may use stays with it.
        let (end, kept) = (End(self.raw.as_ptr()), ManuallyDrop::new(self.kept.take()));
        if is_inside_callback() {
            unsafe { sys::sdd_downloader_close(end.0, sys::SDD_CLOSE_CANCEL) }; // SAFETY: any handle is allowed
        }
        outside_callbacks(move || {
            end.destroy();
            drop(ManuallyDrop::into_inner(kept));
        });
    }
}

/// A handle to be destroyed.
struct End(*mut sys::sdd_downloader);

// SAFETY: as for Handle.
unsafe impl Send for End {}

impl End {
    fn destroy(&self) {
        unsafe { sys::sdd_downloader_destroy(self.0) }; // SAFETY: any handle is allowed
    }
}

impl Downloader {
    /// Creates a downloader with all defaults.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns the settings of a downloader to be created.
    pub fn builder() -> DownloaderBuilder {
        DownloaderBuilder::default()
    }

    /// Returns the downloader that all parts of the process share, with all defaults. It is created on first use, and
    /// lives as long as the process.
    pub fn shared() -> Self {
        Downloader(None)
    }

    pub(crate) fn owning(raw: *mut sys::sdd_downloader, kept: Kept) -> Result<Self, Error> {
        let raw = NonNull::new(raw).ok_or_else(|| Error::of_status(sys::SDD_ERROR_NO_RESOURCES))?;
        Ok(Downloader(Some(Arc::new(Handle { raw, kept: Some(kept) }))))
    }

    /// NULL for the shared one.
    pub(crate) fn raw(&self) -> *mut sys::sdd_downloader {
        self.0.as_ref().map_or(ptr::null_mut(), |handle| handle.raw.as_ptr())
    }

    pub(crate) fn delivery(&self) -> Delivery {
        let kept = self.0.as_ref().and_then(|handle| handle.kept.as_ref());
        kept.map_or(Delivery::Thread, |kept| kept.delivery)
    }

    pub(crate) fn owner(&self) -> Owner {
        self.0.clone().map(|handle| handle as _)
    }

    // Requests.

    /// Downloads a picture.
    pub fn download(&self, request: impl Into<DownloadRequest>) -> Request<Picture> {
        self.submit(&request.into(), Task::default(), |_| {})
    }

    /// Downloads a picture, with closures that follow it.
    pub fn download_with(&self, request: impl Into<DownloadRequest>, callbacks: Callbacks) -> Request<Picture> {
        self.submit(&request.into(), Task::new(callbacks), |_| {})
    }

    /// Downloads a picture, as a stream of events.
    pub fn events(&self, request: impl Into<DownloadRequest>) -> Events<Picture> {
        Events::of(self.submit(&request.into(), Task::with_events(false), |_| {}))
    }

    /// Downloads a picture, as a stream of events, with images of what has arrived so far.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// use sdd::Event;
    ///
    /// for event in sdd::Downloader::shared().events_with_previews(server.url("/a.png")) {
    ///     match event {
    ///         Event::Preview(image) => println!("{} rows so far", image.info().good_rows),
    ///         Event::Completed(outcome) => assert_eq!(outcome?.image.info().good_rows, 3),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn events_with_previews(&self, request: impl Into<DownloadRequest>) -> Events<Picture> {
        Events::of(self.submit(&request.into(), Task::with_events(true), |_| {}))
    }

    /// Downloads pictures, a few at a time: see [`Results`].
    pub fn download_all<I>(&self, requests: I) -> Results<Picture>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        I::Item: Into<DownloadRequest>,
    {
        let (downloader, mut requests) = (self.clone(), requests.into_iter());
        Results::of(self, move || requests.next().map(|request| downloader.download(request)))
    }

    /// Downloads a body of any kind, without decoding it.
    pub fn download_bytes(&self, request: impl Into<DownloadRequest>) -> Request<Body> {
        self.submit(&request.into(), Task::default(), |request| request.options |= sys::SDD_OPTION_BYTES_ONLY)
    }

    /// Downloads a body of any kind into a file, pipe or socket, from its current position, as it arrives. The
    /// descriptor is duplicated. Bytes that were written before an error stay.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// # let url = server.url("/a.png");
    /// # let path = std::env::temp_dir().join(format!("sdd-download-{}.png", std::process::id()));
    /// let report = sdd::Downloader::shared().download_to(url, std::fs::File::create(&path)?).wait()?;
    /// assert_eq!(std::fs::metadata(&path)?.len(), report.metrics.body_bytes as u64);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn download_to(&self, request: impl Into<DownloadRequest>, file: impl AsFd) -> Request<Report> {
        let fd = file.as_fd().as_raw_fd();
        self.submit(&request.into(), Task::default(), |request: &mut sys::sdd_download_request| {
            (request.sink, request.sink_fd) = (sys::SDD_SINK_FD, fd);
            request.options |= sys::SDD_OPTION_BYTES_ONLY;
        })
    }

    /// Downloads a body and drops it: to warm a cache, or to check a link.
    pub fn discard(&self, request: impl Into<DownloadRequest>) -> Request<Report> {
        self.submit(&request.into(), Task::default(), |request: &mut sys::sdd_download_request| {
            request.sink = sys::SDD_SINK_DISCARD;
            request.options |= sys::SDD_OPTION_BYTES_ONLY;
        })
    }

    fn submit<T: Output>(
        &self,
        request: &DownloadRequest,
        mut task: Task,
        change: impl FnOnce(&mut sys::sdd_download_request),
    ) -> Request<T> {
        let (progress, facts, preview) = (task.progress_fn(), task.facts_fn(), task.preview_fn());
        submit(task, self, [self.owner(), None], |task| {
            request.lend(|request: &mut sys::sdd_download_request| {
                (request.progress, request.facts, request.preview) = (progress, facts, preview);
                request.completed = Some(Task::on_completed);
                request.user_data = task;
                request.user_data_free = Some(Task::free);
                change(request);
                // SAFETY: the request is copied, with all that it points to; the library frees the task after its end.
                unsafe { sys::sdd_downloader_submit(self.raw(), request) }
            })
        })
    }

    /// Cancels every request of this downloader.
    pub fn cancel_all(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_cancel_all(self.raw()) }) // SAFETY: any handle is allowed
    }

    /// Waits until every request has ended and its callbacks have returned; `None`: without time limit.
    pub fn wait_idle(&self, limit: impl Into<Option<Duration>>) -> Result<(), Error> {
        if is_inside_callback() {
            return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
        }
        let limit = milliseconds_or_none(limit.into());
        check(unsafe { sys::sdd_downloader_idle_wait(self.raw(), limit) }) // SAFETY: any handle is allowed
    }

    // Settings.

    /// Sets a header field for all requests submitted from now on; `None` removes it.
    pub fn set_header(&self, name: &str, value: Option<&str>) -> Result<(), Error> {
        let (name, value) = (c_string(name)?, value.map(c_string).transpose()?);
        let value = value.as_ref().map_or(ptr::null(), |value| value.as_ptr());
        check(unsafe { sys::sdd_set_header(self.raw(), name.as_ptr(), value) }) // SAFETY: both are copied
    }

    /// Returns a header field of all requests; `None` if there is no such field.
    pub fn header(&self, name: &str) -> Result<Option<String>, Error> {
        let name = c_string(name)?;
        // SAFETY: the name is read, and at most `capacity` bytes are written, before the call returns.
        let value = text::read(|buffer, capacity, length| unsafe {
            sys::sdd_get_header(self.raw(), name.as_ptr(), buffer, capacity, length)
        });
        match value {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.status().number() == sys::SDD_ERROR_NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes how many transfers may run at a time.
    pub fn set_max_concurrent_downloads(&self, count: u32) -> Result<(), Error> {
        let count = clamped_i32(count);
        check(unsafe { sys::sdd_downloader_set_max_concurrent_downloads(self.raw(), count) })
        // SAFETY: any number
    }

    /// Changes how many transfers may run at a time to one host and port.
    pub fn set_max_concurrent_per_host(&self, count: u32) -> Result<(), Error> {
        let count = clamped_i32(count);
        check(unsafe { sys::sdd_downloader_set_max_concurrent_per_host(self.raw(), count) })
        // SAFETY: as above
    }

    /// Changes the least time from one start of a transfer to the next to the same host; zero for none.
    pub fn set_min_host_interval(&self, interval: Duration) -> Result<(), Error> {
        let interval = if interval.is_zero() { 0 } else { milliseconds(interval) };
        check(unsafe { sys::sdd_downloader_set_min_host_interval(self.raw(), interval) })
        // SAFETY: as above
    }

    /// Changes how many slots are kept for urgent requests.
    pub fn set_reserved_urgent_slots(&self, count: u32) -> Result<(), Error> {
        let count = clamped_i32(count);
        check(unsafe { sys::sdd_downloader_set_reserved_urgent_slots(self.raw(), count) })
        // SAFETY: as above
    }

    /// Changes the order in which requests of the same priority begin.
    pub fn set_execution_order(&self, order: Order) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_set_execution_order(self.raw(), order as i32) })
        // SAFETY: as above
    }

    /// Changes the limit on the time without a byte, for requests submitted from now on.
    pub fn set_download_timeout(&self, limit: Duration) -> Result<(), Error> {
        let limit = milliseconds(limit);
        check(unsafe { sys::sdd_downloader_set_download_timeout(self.raw(), limit) })
        // SAFETY: as above
    }

    /// Changes the credential of requests submitted from now on without one of their own.
    pub fn set_credential(&self, credential: Option<&Credential>) -> Result<(), Error> {
        let mut texts = Texts::default();
        let lent = credential.map(|credential| credential.lend(&mut texts)).transpose()?;
        let lent = lent.as_ref().map_or(ptr::null(), |lent| lent as *const _);
        check(unsafe { sys::sdd_downloader_set_credential(self.raw(), lent) }) // SAFETY: copied
    }

    /// Changes the modifiers of requests submitted from now on without modifiers of their own.
    pub fn set_modifiers(&self, modifiers: Option<&Modifiers>) -> Result<(), Error> {
        let lent = modifiers.map(Modifiers::lend);
        // SAFETY: copied, with a reference that the library releases, unless the call fails.
        let result = check(unsafe { sys::sdd_downloader_set_modifiers(self.raw(), LentModifiers::pointer(&lent)) });
        if result.is_err() {
            LentModifiers::take_back(lent);
        }
        result
    }

    /// Changes the decode options of requests submitted from now on without options of their own.
    pub fn set_decode_options(&self, options: &DecodeOptions) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_set_decode_options(self.raw(), &options.lend()) })
        // SAFETY: copied
    }

    // State.

    /// Stops starting transfers; running ones go on.
    pub fn suspend(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_suspend(self.raw()) }) // SAFETY: any handle is allowed
    }

    /// Starts transfers again.
    pub fn resume(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_resume(self.raw()) }) // SAFETY: as above
    }

    /// Returns true after [`suspend`](Downloader::suspend).
    pub fn is_suspended(&self) -> bool {
        unsafe { sys::sdd_downloader_is_suspended(self.raw()) == 1 } // SAFETY: as above
    }

    /// Pauses transfers while the application is in the background. Requests with
    /// [`Options::CONTINUE_IN_BACKGROUND`](crate::Options::CONTINUE_IN_BACKGROUND) go on during the grace time, which
    /// has no end with `None`.
    pub fn enter_background(&self, grace: impl Into<Option<Duration>>) -> Result<(), Error> {
        let grace = match grace.into() {
            Some(time) if time.is_zero() => 0,
            time => milliseconds_or_none(time),
        };
        check(unsafe { sys::sdd_downloader_enter_background(self.raw(), grace) })
        // SAFETY: as above
    }

    /// Lets everything go on.
    pub fn enter_foreground(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_enter_foreground(self.raw()) }) // SAFETY: as above
    }

    /// Answers requests that use the HTTP cache from it alone.
    pub fn set_offline(&self, is_offline: bool) -> Result<(), Error> {
        check(unsafe { sys::sdd_downloader_set_offline(self.raw(), is_offline.into()) })
        // SAFETY: as above
    }

    /// Accepts no more requests, and lets those under way end; with `cancel` they end at once. The asynchronous calls
    /// that use this downloader, such as [`Image::encode_async`](crate::Image::encode_async), are refused too.
    pub fn close(&self, cancel: bool) -> Result<(), Error> {
        let mode = if cancel { sys::SDD_CLOSE_CANCEL } else { sys::SDD_CLOSE_DRAIN };
        check(unsafe { sys::sdd_downloader_close(self.raw(), mode) }) // SAFETY: as above
    }
}

impl fmt::Debug for Downloader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Downloader" } else { "Downloader::shared()" })
    }
}

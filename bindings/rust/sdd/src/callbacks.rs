//! Closures that follow one request, and the C functions that call them.

use crate::border::{guard, used_by_any_thread};
use crate::report::Delivered;
use crate::shared::{Arrived, Shared};
use crate::{sys, Error, Image, ImageInfo, Picture, PrefetchProgress, Report};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::sync::{Arc, Mutex};

/// How much of a body has arrived.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let (sender, progress) = std::sync::mpsc::channel();
/// let callbacks = sdd::Callbacks::new().progress(move |progress| sender.send(progress).unwrap());
/// let picture = sdd::Loader::without_cache()?.load_with(server.url("/a.png"), callbacks).wait()?;
/// let last = progress.iter().last().unwrap();
/// assert_eq!((last.received, last.expected), (picture.bytes.unwrap().len() as u64, Some(last.received)));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes so far, after unpacking.
    pub received: u64,
    /// Bytes in all; `None` while unknown, and for a packed body.
    pub expected: Option<u64>,
}

/// Closures that follow one request until its end, for
/// [`Loader::load_with`](crate::Loader::load_with) and [`Downloader::download_with`](crate::Downloader::download_with).
///
/// They run on the callback thread of the downloader, one at a time, and must be quick: other requests wait for them.
/// If one panics, it is cancelled, no other closure of the request is called, and the request ends with
/// [`Error::Panicked`]. A closure that calls [`Downloader::dispatch`](crate::Downloader::dispatch) is not told of what
/// that delivers for its own request.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/a.png");
/// use sdd::{Callbacks, Loader};
/// use std::sync::mpsc::channel;
///
/// let loader = Loader::without_cache()?;
/// let (sender, sizes) = channel();
/// let callbacks = Callbacks::new().facts(move |info| sender.send((info.stored_width, info.stored_height)).unwrap());
/// let picture = loader.load_with(url, callbacks).wait()?;
/// assert_eq!(sizes.recv(), Ok((picture.image.width(), picture.image.height())));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Default)]
pub struct Callbacks {
    progress: Option<Box<dyn FnMut(Progress) + Send>>,
    facts: Option<Box<dyn FnMut(ImageInfo) + Send>>,
    preview: Option<Box<dyn FnMut(Image) + Send>>,
    cached: Option<Box<dyn FnMut(Picture) + Send>>,
    prefetched: Option<PrefetchFn>,
    each: Option<EachFn>,
}

pub(crate) type PrefetchFn = Box<dyn FnMut(PrefetchProgress) + Send>;
pub(crate) type EachFn = Box<dyn FnMut(usize, Result<Report, Error>) + Send>;

impl Callbacks {
    /// Returns no closures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports how much of the body has arrived. It begins anew with each attempt.
    pub fn progress(mut self, function: impl FnMut(Progress) + Send + 'static) -> Self {
        self.progress = Some(Box::new(function));
        self
    }

    /// Reports what kind of picture is arriving: once, before any preview.
    pub fn facts(mut self, function: impl FnMut(ImageInfo) + Send + 'static) -> Self {
        self.facts = Some(Box::new(function));
        self
    }

    /// Delivers images of what has arrived so far, which are made only if they are asked for so.
    pub fn preview(mut self, function: impl FnMut(Image) + Send + 'static) -> Self {
        self.preview = Some(Box::new(function));
        self
    }

    /// For a load with [`Options::REFRESH_CACHED`](crate::Options::REFRESH_CACHED), and refused by any other request:
    /// delivers the cached picture, before the end.
    pub fn cached(mut self, function: impl FnMut(Picture) + Send + 'static) -> Self {
        self.cached = Some(Box::new(function));
        self
    }

    pub(crate) fn prefetching(prefetched: Option<PrefetchFn>, each: Option<EachFn>) -> Self {
        Callbacks { prefetched, each, ..Self::default() }
    }
}

const _: () = used_by_any_thread::<Task>();

/// The user data of one request, which the library owns from its submission until its end.
#[derive(Default)]
pub(crate) struct Task {
    pub(crate) shared: Arc<Shared>,
    callbacks: Mutex<Callbacks>,
    takes_events: bool,
    takes_previews: bool,
}

impl Task {
    pub(crate) fn new(callbacks: Callbacks) -> Self {
        Task { callbacks: Mutex::new(callbacks), ..Task::default() }
    }

    /// A task whose events are kept for the application to take.
    pub(crate) fn with_events(takes_previews: bool) -> Self {
        Task { shared: Arc::new(Shared::with_events()), takes_events: true, takes_previews, ..Task::default() }
    }

    // The callbacks of the task, or None for those that nothing is to be called for.

    pub(crate) fn progress_fn(&mut self) -> sys::sdd_progress_fn {
        (self.takes_events || self.closures().progress.is_some()).then_some(Task::on_progress)
    }

    pub(crate) fn facts_fn(&mut self) -> sys::sdd_facts_fn {
        (self.takes_events || self.closures().facts.is_some()).then_some(Task::on_facts)
    }

    pub(crate) fn preview_fn(&mut self) -> sys::sdd_result_fn {
        (self.takes_previews || self.closures().preview.is_some()).then_some(Task::on_preview)
    }

    pub(crate) fn cached_fn(&mut self, refreshes: bool) -> sys::sdd_result_fn {
        (self.takes_events && refreshes || self.closures().cached.is_some()).then_some(Task::on_cached)
    }

    fn closures(&mut self) -> &mut Callbacks {
        self.callbacks.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    // The functions that the library calls, on its callback thread, with a task as user data.

    unsafe extern "C" fn on_progress(
        token: sys::sdd_token,
        received: i64,
        expected: i64,
        _: *const c_char,
        task: *mut c_void,
    ) {
        let called = |task: &Task| {
            let received = u64::try_from(received).unwrap_or(0);
            let progress = Progress { received, expected: u64::try_from(expected).ok() };
            task.shared.arrived(Arrived::Progress(progress));
            task.call(|closures| closures.progress.as_mut().map(|function| function(progress)));
        };
        unsafe { Self::called(task, token, called) } // SAFETY: the library frees the task after its last callback
    }

    unsafe extern "C" fn on_facts(token: sys::sdd_token, info: *const sys::sdd_image_info, task: *mut c_void) {
        let called = |task: &Task| {
            let info = ImageInfo::read(unsafe { &*info }); // SAFETY: lent until we return
            task.shared.arrived(Arrived::Facts(info));
            task.call(|closures| closures.facts.as_mut().map(|function| function(info)));
        };
        unsafe { Self::called(task, token, called) } // SAFETY: as above
    }

    unsafe extern "C" fn on_preview(result: *const sys::sdd_result, task: *mut c_void) {
        let result = unsafe { &*result }; // SAFETY: lent until we return
        let called = |task: &Task| {
            // SAFETY: as the result.
            if let Some(image) = unsafe { Image::retained(result.image) } {
                task.call(|closures| closures.preview.as_mut().map(|function| function(image.clone())));
                task.shared.arrived(Arrived::Preview(image));
            }
        };
        unsafe { Self::called(task, result.token, called) } // SAFETY: as above
    }

    unsafe extern "C" fn on_cached(result: *const sys::sdd_result, task: *mut c_void) {
        let result = unsafe { &*result }; // SAFETY: lent until we return
        let called = |task: &Task| {
            let outcome = || unsafe { Delivered::read(result) }; // SAFETY: as the result
            task.call(|closures| match outcome().and_then(Delivered::into_picture) {
                Ok(picture) => closures.cached.as_mut().map(|function| function(picture)),
                Err(_) => None,
            });
            if let Ok(outcome) = outcome() {
                task.shared.arrived(Arrived::Cached(outcome));
            }
        };
        unsafe { Self::called(task, result.token, called) } // SAFETY: as above
    }

    pub(crate) unsafe extern "C" fn on_completed(result: *const sys::sdd_result, task: *mut c_void) {
        let result = unsafe { &*result }; // SAFETY: lent until we return
        let called = |task: &Task| task.shared.end(unsafe { Delivered::read(result) }); // SAFETY: as the result
        unsafe { Self::called(task, result.token, called) } // SAFETY: as above
    }

    /// Frees the task, after its last callback.
    pub(crate) unsafe extern "C" fn free(task: *mut c_void) {
        let _ = guard(|| {
            // SAFETY: called once; the box is ours again.
            let task = unsafe { Box::from_raw(task.cast::<Task>()) };
            // Does nothing, unless the terminal callback has failed to end the request.
            task.shared.end(Err(Error::of_status(sys::SDD_ERROR_CANCELLED)));
        });
    }

    /// SAFETY: `task` is a box that has not been freed.
    pub(crate) unsafe fn called(task: *mut c_void, token: sys::sdd_token, body: impl FnOnce(&Task)) {
        let task = unsafe { &*task.cast::<Task>() };
        if let Err(message) = guard(|| body(task)) {
            task.shared.panicked(message);
            unsafe { sys::sdd_cancel(token) }; // SAFETY: any number is allowed
        }
    }

    pub(crate) fn prefetched(&self, progress: PrefetchProgress) {
        self.call(|closures| closures.prefetched.as_mut().map(|function| function(progress)));
    }

    pub(crate) fn prefetched_one(&self, index: usize, outcome: Result<Report, Error>) {
        self.call(|closures| closures.each.as_mut().map(|function| function(index, outcome)));
    }

    /// Calls a closure. A mutex that is locked or poisoned is that of a closure that is running, or has panicked.
    fn call(&self, body: impl FnOnce(&mut Callbacks) -> Option<()>) {
        if let Ok(mut closures) = self.callbacks.try_lock() {
            if !self.shared.has_panicked() {
                body(&mut closures);
            }
        }
    }
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callbacks(…)")
    }
}

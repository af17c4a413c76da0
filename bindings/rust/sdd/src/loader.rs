//! Loaders: a cache in front of a downloader.

use crate::callbacks::{Callbacks, Task};
use crate::error::check;
use crate::numbers::clamped_i32;
use crate::report::Output;
use crate::request::{submit, Owner};
use crate::text::c_string;
use crate::{sys, Body, Cache, Downloader, Error, Events, LoadRequest, LoaderBuilder, Picture, Request, Results};
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Loads pictures: looks in a cache first, downloads what it does not have, decodes, transforms, and stores. Its clones
/// are the same loader.
///
/// It lives as long as a clone of it, or a request that is held. Dropping the last cancels its loads, which end with
/// [`Error::Cancelled`], and does not wait for them.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/a.png");
/// # let directory = std::env::temp_dir().join(format!("sdd-loader-{}", std::process::id()));
/// use sdd::{Cache, Loader, Origin};
///
/// let cache = Cache::builder().directory(&directory).build()?;
/// let loader = Loader::builder().cache(&cache).build()?;
/// assert_eq!(loader.load(url.as_str()).wait()?.report.origin, Origin::Network);
/// assert_eq!(loader.load(url.as_str()).wait()?.report.origin, Origin::Memory);
/// # drop((loader, cache));
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone)]
pub struct Loader(Option<Arc<Handle>>); // None: the shared one

/// A handle that is destroyed with its last reference.
struct Handle {
    raw: NonNull<sys::sdd_loader>,
    // The loads of the loader end when one of these is destroyed, so they live as long.
    kept: Kept,
}

pub(crate) struct Kept {
    pub(crate) downloader: Downloader,
    pub(crate) _caches: [Option<Cache>; 2],
}

// SAFETY: a handle, never an address; the header allows every call on any thread.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { sys::sdd_loader_destroy(self.raw.as_ptr()) }; // SAFETY: any handle is allowed; it does not wait
    }
}

impl Loader {
    /// Creates a loader of the shared downloader and the shared cache, with a list of failed URLs of its own.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Creates a loader of the shared downloader, without any cache.
    pub fn without_cache() -> Result<Self, Error> {
        Self::builder().no_cache().build()
    }

    /// Returns the settings of a loader to be created.
    pub fn builder() -> LoaderBuilder {
        LoaderBuilder::default()
    }

    /// Returns the loader that all parts of the process share. It is created on first use, and lives as long as the
    /// process.
    pub fn shared() -> Self {
        Loader(None)
    }

    pub(crate) fn owning(raw: *mut sys::sdd_loader, kept: Kept) -> Result<Self, Error> {
        let raw = NonNull::new(raw).ok_or_else(|| Error::of_status(sys::SDD_ERROR_NO_RESOURCES))?;
        Ok(Loader(Some(Arc::new(Handle { raw, kept }))))
    }

    /// NULL for the shared one.
    pub(crate) fn raw(&self) -> *mut sys::sdd_loader {
        self.0.as_ref().map_or(ptr::null_mut(), |handle| handle.raw.as_ptr())
    }

    pub(crate) fn owner(&self) -> Owner {
        self.0.clone().map(|handle| handle as _)
    }

    /// Returns the downloader of the loads, for header fields and statistics.
    pub fn downloader(&self) -> Downloader {
        self.0.as_ref().map_or_else(Downloader::shared, |handle| handle.kept.downloader.clone())
    }

    // Loads.

    /// Loads a picture from the cache or the network.
    pub fn load(&self, request: impl Into<LoadRequest>) -> Request<Picture> {
        self.submit(&request.into(), Task::default(), 0)
    }

    /// Loads a picture, with closures that follow it.
    pub fn load_with(&self, request: impl Into<LoadRequest>, callbacks: Callbacks) -> Request<Picture> {
        self.submit(&request.into(), Task::new(callbacks), 0)
    }

    /// Loads a picture, as a stream of events.
    pub fn events(&self, request: impl Into<LoadRequest>) -> Events<Picture> {
        Events::of(self.submit(&request.into(), Task::with_events(false), 0))
    }

    /// Loads a picture, as a stream of events, with images of what has arrived so far.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let events = sdd::Loader::without_cache()?.events_with_previews(server.url("/a.png"));
    /// let previews = events.filter(|event| matches!(event, sdd::Event::Preview(_)));
    /// println!("{} previews", previews.count()); // as many as there was time for
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn events_with_previews(&self, request: impl Into<LoadRequest>) -> Events<Picture> {
        Events::of(self.submit(&request.into(), Task::with_events(true), 0))
    }

    /// Loads pictures, a few at a time: see [`Results`].
    pub fn load_all<I>(&self, requests: I) -> Results<Picture>
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        I::Item: Into<LoadRequest>,
    {
        let (loader, mut requests) = (self.clone(), requests.into_iter());
        Results::of(&self.downloader(), move || requests.next().map(|request| loader.load(request)))
    }

    /// Loads the encoded bytes of a picture, or any body, without decoding it.
    pub fn load_bytes(&self, request: impl Into<LoadRequest>) -> Request<Body> {
        self.submit(&request.into(), Task::default(), sys::SDD_OPTION_BYTES_ONLY)
    }

    fn submit<T: Output>(&self, request: &LoadRequest, mut task: Task, options: u64) -> Request<T> {
        let (progress, facts) = (task.progress_fn(), task.facts_fn());
        let (preview, cached) = (task.preview_fn(), task.cached_fn(request.refreshes_cached()));
        submit(task, &self.downloader(), [self.owner(), None], |task| {
            request.lend(|request: &mut sys::sdd_load_request| {
                request.options |= options;
                (request.progress, request.facts) = (progress, facts);
                (request.preview, request.cached) = (preview, cached);
                request.completed = Some(Task::on_completed);
                request.user_data = task;
                request.user_data_free = Some(Task::free);
                // SAFETY: the request is copied, with all that it points to; the library frees the task after its end.
                unsafe { sys::sdd_loader_submit(self.raw(), request) }
            })
        })
    }

    /// Returns the number of loads that have not ended.
    pub fn running_count(&self) -> u64 {
        let count = unsafe { sys::sdd_loader_running_count(self.raw()) }; // SAFETY: any handle is allowed
        u64::try_from(count).unwrap_or(0)
    }

    /// Cancels every load of this loader, and its prefetch lists.
    pub fn cancel_all(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_loader_cancel_all(self.raw()) }) // SAFETY: as above
    }

    /// Changes how many URLs of prefetch lists are loaded at once, at first 3.
    pub fn set_max_concurrent_prefetches(&self, count: u32) -> Result<(), Error> {
        let count = clamped_i32(count);
        check(unsafe { sys::sdd_loader_set_max_concurrent_prefetches(self.raw(), count) })
        // SAFETY: as above
    }

    // Failed URLs.

    /// Returns true if a load of this URL would fail at once, since it failed recently.
    pub fn is_blocked(&self, url: &str) -> bool {
        // SAFETY: the URL is read before the call returns.
        matches!(c_string(url), Ok(url) if unsafe { sys::sdd_loader_is_blocked(self.raw(), url.as_ptr()) } == 1)
    }

    /// Removes a URL from the failed ones.
    pub fn remove_failed_url(&self, url: &str) -> Result<(), Error> {
        let url = c_string(url)?;
        check(unsafe { sys::sdd_loader_remove_failed_url(self.raw(), url.as_ptr()) })
        // SAFETY: as above
    }

    /// Removes all failed URLs.
    pub fn remove_all_failed_urls(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_loader_remove_all_failed_urls(self.raw()) }) // SAFETY: any handle is allowed
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Loader" } else { "Loader::shared()" })
    }
}

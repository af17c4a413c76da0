//! Loads: pictures from a cache, or from the network.

use super::request::milliseconds;
use super::{c_path, c_string, check, events, ffi, pointer};
use super::{Config, Downloader, Error, Event, Picture, Priority};
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::sync::mpsc::{channel, Sender};
use std::time::Duration;

/// The configuration of a [`Loader`]; each default is the library's.
#[derive(Clone, Debug, Default)]
pub struct LoaderConfig {
    pub downloader: Config,
    /// The directory of the cache, which is created if it is missing. `None` means one in $XDG_CACHE_HOME.
    pub directory: Option<PathBuf>,
    /// The default is 512 MiB.
    pub max_disk_bytes: Option<i64>,
}

/// One load: `Load::new(url).inside(200, 200).or_from(mirror)`.
#[derive(Clone, Default)]
pub struct Load {
    url: String,
    alternatives: Vec<String>,
    size: Option<(i32, i32)>,
    options: u64,
    priority: Option<Priority>,
    total_timeout: Option<Duration>,
}

impl Load {
    pub fn new(url: &str) -> Self {
        Load { url: url.into(), ..Default::default() }
    }

    /// Scales the picture down so that it fits into so many pixels.
    pub fn inside(mut self, width: i32, height: i32) -> Self {
        self.size = Some((width, height));
        self
    }

    /// Adds another URL of the same picture, tried when the ones before it have failed.
    pub fn or_from(mut self, url: &str) -> Self {
        self.alternatives.push(url.into());
        self
    }

    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Limits the time of all stages together.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.total_timeout = Some(limit);
        self
    }

    pub fn with_cookies(self) -> Self {
        self.option(ffi::SDD_OPTION_HANDLE_COOKIES)
    }

    /// Tries the URL although it has failed lately.
    pub fn retry_failed(self) -> Self {
        self.option(ffi::SDD_OPTION_RETRY_FAILED)
    }

    /// Uses the cache alone: a miss ends with SDD_ERROR_NOT_CACHED.
    pub fn cache_only(self) -> Self {
        self.option(ffi::SDD_OPTION_FROM_CACHE_ONLY)
    }

    /// Skips the cache lookup; the download is stored all the same.
    pub fn loader_only(self) -> Self {
        self.option(ffi::SDD_OPTION_FROM_LOADER_ONLY)
    }

    /// Delays the end until the picture is on disk.
    pub fn wait_for_store(self) -> Self {
        self.option(ffi::SDD_OPTION_WAIT_STORE_CACHE)
    }

    fn option(mut self, bit: u64) -> Self {
        self.options |= bit;
        self
    }

    /// Passes the load to `body` as a C struct, which lives until `body` returns, with all that it points to.
    fn lend<T>(&self, body: impl FnOnce(&mut ffi::sdd_load_request) -> T) -> Result<T, Error> {
        let url = c_string(&self.url)?;
        let alternatives = self.alternatives.iter().map(|url| c_string(url)).collect::<Result<Vec<_>, Error>>()?;
        let alternatives: Vec<_> = alternatives.iter().map(|url| url.as_ptr()).collect();
        let (mut request, mut decode) = (sized!(sdd_load_request), sized!(sdd_decode_options));
        request.url = url.as_ptr();
        request.options = self.options;
        if let Some((width, height)) = self.size {
            (decode.target_width, decode.target_height) = (width, height);
            request.decode = &decode;
        }
        request.alternatives = alternatives.as_ptr();
        request.alternative_count = alternatives.len();
        request.priority = self.priority.map_or(0, |priority| priority as i32);
        request.total_timeout_ms = self.total_timeout.map_or(0, milliseconds);
        Ok(body(&mut request))
    }
}

/// A cache and a downloader of its own. Dropping it cancels its loads, and waits for their ends.
pub struct Loader {
    // The fields are dropped in this order.
    handle: Handle,
    downloader: Downloader,
    _cache: Cache,
}

struct Handle(NonNull<ffi::sdd_loader>);
struct Cache(NonNull<ffi::sdd_cache>);

// SAFETY: as for Downloader.
unsafe impl Send for Loader {}
unsafe impl Sync for Loader {}

impl Loader {
    /// Creates one with all defaults.
    pub fn new() -> Result<Self, Error> {
        Self::with_config(&LoaderConfig::default())
    }

    pub fn with_config(config: &LoaderConfig) -> Result<Self, Error> {
        let cache = Cache::new(config)?;
        let downloader = Downloader::with_config(&config.downloader)?;
        let mut handle = ptr::null_mut();
        let given = ffi::sdd_loader_config {
            downloader: downloader.raw(),
            cache: cache.0.as_ptr(),
            ..sized!(sdd_loader_config)
        };
        check(unsafe { ffi::sdd_loader_create(&given, &mut handle) })?; // SAFETY: create copies the config
        let handle = Handle(NonNull::new(handle).ok_or_else(|| Error::of(ffi::SDD_ERROR_INVALID_ARGUMENT))?);
        Ok(Loader { handle, downloader, _cache: cache })
    }

    /// The downloader of its loads, for header fields and statistics.
    pub fn downloader(&self) -> &Downloader {
        &self.downloader
    }

    /// Loads one picture, and waits for it.
    pub fn load(&self, load: &Load) -> Result<Picture, Error> {
        let (sender, events) = channel();
        self.submit(load, sender)?;
        for event in events {
            if let Event::Completed { result, .. } = event {
                return result;
            }
        }
        unreachable!("each load ends with exactly one Completed")
    }

    /// Starts a load and returns its token, one of the downloader's. Its events go into the channel.
    pub fn submit(&self, load: &Load, events: Sender<Event>) -> Result<u64, Error> {
        let user_data = Box::into_raw(Box::new(events)); // freed by user_data_free, after the last callback
        let mut status = ffi::SDD_ERROR_INVALID_ARGUMENT;
        let token = load.lend(|request| {
            request.progress = Some(events::on_progress);
            request.completed = Some(events::on_completed);
            request.user_data = user_data.cast();
            request.user_data_free = Some(events::free_sender);
            // SAFETY: the request, with all that it points to, is copied before the call returns.
            unsafe { ffi::sdd_loader_submit(self.raw(), request, &mut status) }
        });
        match token {
            Ok(token) if token != 0 => Ok(token),
            refused => {
                drop(unsafe { Box::from_raw(user_data) }); // SAFETY: not accepted, so it stayed ours
                Err(refused.err().unwrap_or_else(|| Error::of_call(status)))
            }
        }
    }

    /// Cancels one load, which then ends with SDD_ERROR_CANCELLED; an error if it has ended.
    pub fn cancel(&self, token: u64) -> Result<(), Error> {
        self.downloader.cancel(token)
    }

    pub fn cancel_all(&self) -> Result<(), Error> {
        check(unsafe { ffi::sdd_loader_cancel_all(self.raw()) }) // SAFETY: no memory is passed
    }

    /// Returns the number of loads that have not ended.
    pub fn running_count(&self) -> i64 {
        unsafe { ffi::sdd_loader_running_count(self.raw()) } // SAFETY: as above
    }

    /// Returns whether a load of this URL would fail at once, since it has failed lately.
    pub fn is_blocked(&self, url: &str) -> bool {
        // SAFETY: the URL is looked at during the call only.
        matches!(c_string(url), Ok(url) if unsafe { ffi::sdd_loader_is_blocked(self.raw(), url.as_ptr()) } == 1)
    }

    /// Removes a URL from the list of failed URLs.
    pub fn forgive(&self, url: &str) -> Result<(), Error> {
        let url = c_string(url)?;
        // SAFETY: as above.
        check(unsafe { ffi::sdd_loader_remove_failed_url(self.raw(), url.as_ptr()) })
    }

    /// Removes all URLs from that list.
    pub fn forgive_all(&self) -> Result<(), Error> {
        check(unsafe { ffi::sdd_loader_remove_all_failed_urls(self.raw()) }) // SAFETY: no memory is passed
    }

    fn raw(&self) -> *mut ffi::sdd_loader {
        self.handle.0.as_ptr()
    }
}

impl Cache {
    fn new(config: &LoaderConfig) -> Result<Self, Error> {
        let directory = c_path(config.directory.as_deref())?;
        let mut handle = ptr::null_mut();
        let given = ffi::sdd_cache_config {
            directory: pointer(&directory),
            max_disk_bytes: config.max_disk_bytes.unwrap_or(0),
            ..sized!(sdd_cache_config)
        };
        // SAFETY: as for the loader. The directory is copied.
        check(unsafe { ffi::sdd_cache_create(&given, &mut handle, ptr::null_mut()) })?;
        NonNull::new(handle).map(Cache).ok_or_else(|| Error::of(ffi::SDD_ERROR_INVALID_ARGUMENT))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { ffi::sdd_loader_destroy(self.0.as_ptr()) }; // SAFETY: called once, and no other owner has the handle
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        unsafe { ffi::sdd_cache_destroy(self.0.as_ptr()) }; // SAFETY: as above
    }
}

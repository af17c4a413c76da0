//! The configuration of a loader.

use crate::border::{guard, used_by_any_thread};
use crate::error::check;
use crate::loader::Kept;
use crate::numbers::numbers;
use crate::{sys, text, Cache, Downloader, Error, Loader, Options};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

numbers! {
    /// The failures that a loader remembers.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let loader = sdd::Loader::builder().no_cache().fail_policy(sdd::FailPolicy::None).build()?;
    /// let url = server.url("/missing");
    /// assert!(loader.load(&*url).wait().is_err());
    /// assert!(!loader.is_blocked(&url));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    FailPolicy: BackOff {
        /// Lasting ones, for a time that grows.
        BackOff = SDD_FAIL_POLICY_BACK_OFF,
        /// For ever, as in SDWebImage 5.
        SdWebImage = SDD_FAIL_POLICY_SDWEBIMAGE,
        /// None.
        None = SDD_FAIL_POLICY_NONE,
    }
}

type ShouldDownload = dyn Fn(&str) -> bool + Send + Sync;
type ShouldBlock = dyn Fn(&str, &Error) -> Option<bool> + Send + Sync;
type OptionsProcessor = dyn Fn(&str, Options) -> Options + Send + Sync;

#[derive(Clone, Default)]
struct Functions {
    should_download: Option<Arc<ShouldDownload>>,
    should_block: Option<Arc<ShouldBlock>>,
    options: Option<Arc<OptionsProcessor>>,
}

/// The settings of a loader to be created. What is not set has the library's default.
///
/// ```
/// use sdd::{Loader, LoadRequest, Status};
///
/// let loader = Loader::builder().no_cache().should_download(|url| url.starts_with("https:")).build()?;
/// let error = loader.load("http://example.org/a.jpg").wait().unwrap_err();
/// assert_eq!(error.status(), Status::NOT_CACHED);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "build() creates the loader"]
pub struct LoaderBuilder {
    downloader: Option<Downloader>,
    cache: Option<Cache>,
    original_cache: Option<Cache>,
    no_cache: bool,
    fail_policy: FailPolicy,
    functions: Functions,
}

impl LoaderBuilder {
    /// Sets the downloader; the default is the shared one.
    pub fn downloader(mut self, downloader: &Downloader) -> Self {
        self.downloader = Some(downloader.clone());
        self
    }

    /// Sets the cache; the default is the shared one.
    pub fn cache(mut self, cache: &Cache) -> Self {
        self.cache = Some(cache.clone());
        self
    }

    /// Sets the cache for the originals of scaled or transformed pictures; the default is the cache.
    pub fn original_cache(mut self, cache: &Cache) -> Self {
        self.original_cache = Some(cache.clone());
        self
    }

    /// Uses no cache at all.
    pub fn no_cache(mut self) -> Self {
        self.no_cache = true;
        self
    }

    /// Sets which failures are remembered.
    pub fn fail_policy(mut self, policy: FailPolicy) -> Self {
        self.fail_policy = policy;
        self
    }

    /// Decides whether a URL that is not cached may be downloaded, on any thread. A panic counts as no.
    pub fn should_download(mut self, function: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.functions.should_download = Some(Arc::new(function));
        self
    }

    /// Decides whether a URL that has just failed, the load's or one of its alternatives, is blocked, on any thread;
    /// `None`, or a panic: as the policy says.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let builder = sdd::Loader::builder().no_cache();
    /// let loader = builder.should_block_failed_url(|_, error| Some(error.http_status() == Some(410))).build()?;
    /// let url = server.url("/missing");
    /// assert!(loader.load(&*url).wait().is_err());
    /// assert!(!loader.is_blocked(&url)); // it was 404
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn should_block_failed_url(
        mut self,
        function: impl Fn(&str, &Error) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        self.functions.should_block = Some(Arc::new(function));
        self
    }

    /// Changes the option bits of each load, by its URL and its options, on the submitting thread. After a panic the
    /// options stay.
    pub fn options_processor(mut self, function: impl Fn(&str, Options) -> Options + Send + Sync + 'static) -> Self {
        self.functions.options = Some(Arc::new(function));
        self
    }

    /// Creates the loader, which has no thread of its own.
    pub fn build(&self) -> Result<Loader, Error> {
        let downloader = self.downloader.clone().unwrap_or_else(Downloader::shared);
        let mut config = sys::sized!(sdd_loader_config);
        config.downloader = downloader.raw();
        config.cache = self.cache.as_ref().map_or(ptr::null_mut(), Cache::raw);
        config.original_cache = self.original_cache.as_ref().map_or(ptr::null_mut(), Cache::raw);
        config.no_cache = self.no_cache.into();
        config.fail_policy = self.fail_policy as i32;
        config.should_download = self.functions.should_download.as_ref().and(Some(should_download));
        config.should_block_failed_url = self.functions.should_block.as_ref().and(Some(should_block));
        config.options_processor = self.functions.options.as_ref().and(Some(process_options));
        let functions = Box::into_raw(Box::new(self.functions.clone()));
        config.user_data = functions.cast();
        config.user_data_free = Some(free);
        let mut handle = ptr::null_mut();
        // SAFETY: the config is copied, and frees the functions; on success the handle is ours.
        if let Err(error) = check(unsafe { sys::sdd_loader_create(&config, &mut handle) }) {
            drop(unsafe { Box::from_raw(functions) }); // SAFETY: not accepted, so they stayed ours
            return Err(error);
        }
        Loader::owning(handle, Kept { downloader, _caches: [self.cache.clone(), self.original_cache.clone()] })
    }
}

impl fmt::Debug for LoaderBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("LoaderBuilder");
        fields.field("downloader", &self.downloader).field("cache", &self.cache).finish_non_exhaustive()
    }
}

const _: () = used_by_any_thread::<Functions>();

/// SAFETY: the user data of a loader that has not freed it.
unsafe fn functions<'a>(user_data: *mut c_void) -> &'a Functions {
    unsafe { &*user_data.cast::<Functions>() }
}

unsafe extern "C" fn should_download(url: *const c_char, user_data: *mut c_void) -> i32 {
    let answer = guard(|| {
        // SAFETY: the URL is lent until we return.
        let (functions, url) = unsafe { (functions(user_data), text::borrowed(url)) };
        functions.should_download.as_ref().map_or(true, |function| function(url))
    });
    answer.map_or(0, i32::from)
}

unsafe extern "C" fn should_block(
    url: *const c_char,
    failure: *const sys::sdd_failure,
    user_data: *mut c_void,
) -> sys::sdd_block_choice {
    let answer = guard(|| {
        // SAFETY: URL and failure are lent until we return.
        let (functions, url, error) =
            unsafe { (functions(user_data), text::borrowed(url), Error::of(&*failure, None)) };
        functions.should_block.as_ref()?(url, &error)
    });
    match answer {
        Ok(Some(true)) => sys::SDD_BLOCK,
        Ok(Some(false)) => sys::SDD_DO_NOT_BLOCK,
        _ => sys::SDD_BLOCK_BY_POLICY,
    }
}

unsafe extern "C" fn process_options(request: *mut sys::sdd_load_request, user_data: *mut c_void) {
    let _ = guard(|| {
        // SAFETY: lent until we return.
        let (functions, request) = unsafe { (functions(user_data), &mut *request) };
        let url = unsafe { text::borrowed(request.url) };
        if let Some(function) = &functions.options {
            // Which of image and bytes comes back is the type of the request, so that bit stays as it is.
            let kept = sys::SDD_OPTION_BYTES_ONLY;
            let changed = function(url, Options(request.options & !kept)).0;
            request.options = (request.options & kept) | (changed & !kept);
            if request.options & sys::SDD_OPTION_REFRESH_CACHED == 0 {
                request.cached = None; // without the bit it is refused
            }
        }
    });
}

unsafe extern "C" fn free(user_data: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Box::from_raw(user_data.cast::<Functions>()) }));
}

//! Prefetching: lists of URLs that are loaded ahead of time.

use crate::callbacks::{EachFn, PrefetchFn, Task};
use crate::credential::pointer;
use crate::report::{Outcome, Output, Sealed};
use crate::request::submit;
use crate::text::Texts;
use crate::{sys, Callbacks, DecodeOptions, Error, Loader, Options, Origin, Report, Request, Status};
use std::fmt;
use std::os::raw::c_void;

/// A list of URLs to load ahead of time, into memory and disk, at the lowest priority.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let directory = std::env::temp_dir().join(format!("sdd-prefetch-{}", std::process::id()));
/// # let cache = sdd::Cache::builder().directory(&directory).build()?;
/// use sdd::{Loader, Origin, PrefetchList};
///
/// let loader = Loader::builder().cache(&cache).build()?;
/// let report = loader.prefetch(PrefetchList::new([server.url("/a.png"), server.url("/missing")])).wait()?;
/// assert_eq!((report.finished, report.skipped), (2, 1));
/// assert_eq!(report.outcomes[1].http_status, 404);
/// assert_eq!(loader.load(server.url("/a.png")).wait()?.report.origin, Origin::Memory);
/// # drop((loader, cache));
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Default)]
pub struct PrefetchList {
    urls: Vec<String>,
    options: Options,
    to_disk: bool,
    decode: Option<DecodeOptions>,
    progress: Option<PrefetchFn>,
    each: Option<EachFn>,
}

/// The progress of a prefetch list.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let (sender, progress) = std::sync::mpsc::channel();
/// let list = sdd::PrefetchList::new([server.url("/a.png")]).progress(move |progress| sender.send(progress).unwrap());
/// sdd::Loader::without_cache()?.prefetch(list).wait()?;
/// assert_eq!(progress.recv().unwrap().total, 1);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrefetchProgress {
    /// URLs that have ended, including failed ones.
    pub finished: usize,
    /// URLs that failed.
    pub skipped: usize,
    /// URLs in the list.
    pub total: usize,
}

/// The outcome of a prefetch list.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let list = sdd::PrefetchList::new([server.url("/a.png"), server.url("/missing")]);
/// let report = sdd::Loader::without_cache()?.prefetch(list).wait()?;
/// assert_eq!((report.finished, report.skipped, report.outcomes.len()), (2, 1, 2));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PrefetchReport {
    /// URLs that have ended, including failed ones.
    pub finished: usize,
    /// URLs that failed.
    pub skipped: usize,
    /// The outcomes, in the order of the URLs.
    pub outcomes: Vec<PrefetchOutcome>,
}

/// The outcome of one URL of a prefetch list.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let list = sdd::PrefetchList::new([server.url("/missing")]);
/// let report = sdd::Loader::without_cache()?.prefetch(list).wait()?;
/// assert_eq!(report.outcomes[0].error, Some(sdd::Status::INVALID_DOWNLOAD_STATUS_CODE));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PrefetchOutcome {
    /// Why it failed; `None`: it is in the cache.
    pub error: Option<Status>,
    /// One of `SDD_DETAIL_`, or 0.
    pub detail: i32,
    /// The HTTP status; 0 if there was no response.
    pub http_status: i32,
    /// Where it came from: if from a cache, it was there already.
    pub origin: Origin,
    /// True if another attempt may succeed later.
    pub retryable: bool,
}

impl PrefetchList {
    /// Returns a list of URLs, at most 1,048,576.
    pub fn new<I>(urls: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        PrefetchList { urls: urls.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds option bits for each load, those marked P.
    pub fn options(mut self, options: Options) -> Self {
        self.options |= options;
        self
    }

    /// Stores the bytes on disk alone, without decoding.
    pub fn to_disk(mut self) -> Self {
        self.to_disk = true;
        self
    }

    /// Sets the form of the pictures in memory; later loads find them only if they ask for the same.
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = Some(options);
        self
    }

    /// Reports the progress after each URL, on the callback thread of the downloader. A panic cancels the list.
    pub fn progress(mut self, function: impl FnMut(PrefetchProgress) + Send + 'static) -> Self {
        self.progress = Some(Box::new(function));
        self
    }

    /// Reports the outcome of each URL, by its index in the list, on the callback thread of the downloader. A panic
    /// cancels the list.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let (sender, ends) = std::sync::mpsc::channel();
    /// let list = sdd::PrefetchList::new([server.url("/missing")])
    ///     .each(move |index, outcome| sender.send((index, outcome.map_err(|error| error.http_status()))).unwrap());
    /// sdd::Loader::without_cache()?.prefetch(list).wait()?;
    /// assert!(matches!(ends.recv(), Ok((0, Err(Some(404))))));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn each(mut self, function: impl FnMut(usize, Result<Report, Error>) + Send + 'static) -> Self {
        self.each = Some(Box::new(function));
        self
    }
}

impl fmt::Debug for PrefetchList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PrefetchList({} URLs)", self.urls.len())
    }
}

impl Loader {
    /// Starts loading a list. All lists of a loader together load at most 3 URLs at once. Dropping the request cancels
    /// the list; [`Request::detach`] lets it go on.
    pub fn prefetch(&self, list: PrefetchList) -> Request<PrefetchReport> {
        let (has_progress, has_each) = (list.progress.is_some(), list.each.is_some());
        let task = Task::new(Callbacks::prefetching(list.progress, list.each));
        submit(task, &self.downloader(), [self.owner(), None], |task, status| {
            let mut texts = Texts::default();
            let urls = texts.add_list(&list.urls)?;
            let decode = list.decode.as_ref().map(DecodeOptions::lend);
            let lent = sys::sdd_prefetch_list {
                urls: urls.as_ptr(),
                count: urls.len(),
                options: list.options.0,
                to: if list.to_disk { sys::SDD_PREFETCH_DISK } else { sys::SDD_PREFETCH_MEMORY },
                decode: pointer(&decode),
                each: has_each.then_some(on_each),
                progress: has_progress.then_some(on_progress),
                completed: Some(on_completed),
                user_data: task,
                user_data_free: Some(Task::free),
                ..sys::sized!(sdd_prefetch_list)
            };
            // SAFETY: the list is copied, with all that it points to; the library frees the task after its end.
            Ok(unsafe { sys::sdd_prefetch(self.raw(), &lent, status) })
        })
    }
}

unsafe extern "C" fn on_progress(
    token: sys::sdd_token,
    finished: usize,
    skipped: usize,
    total: usize,
    task: *mut c_void,
) {
    let called = |task: &Task| task.prefetched(PrefetchProgress { finished, skipped, total });
    unsafe { Task::called(task, token, called) } // SAFETY: the library frees the task after its last callback
}

unsafe extern "C" fn on_each(token: sys::sdd_token, index: usize, result: *const sys::sdd_result, task: *mut c_void) {
    let called = |task: &Task| {
        let outcome = unsafe { Outcome::read(&*result) }; // SAFETY: lent until we return
        task.prefetched_one(index, outcome.map(|outcome| *outcome.report));
    };
    unsafe { Task::called(task, token, called) } // SAFETY: as above
}

unsafe extern "C" fn on_completed(report: *const sys::sdd_prefetch_report, task: *mut c_void) {
    let report = unsafe { &*report }; // SAFETY: lent until we return
    let called = |task: &Task| {
        task.shared.end(if report.error == sys::SDD_OK {
            let prefetch = Some(unsafe { read(report) }); // SAFETY: as the report
            Ok(Outcome { image: None, bytes: None, report: Box::default(), prefetch })
        } else {
            Err(Error::of_status(report.error))
        });
    };
    unsafe { Task::called(task, report.token, called) } // SAFETY: as above
}

/// SAFETY: a report that a callback was given.
unsafe fn read(report: &sys::sdd_prefetch_report) -> PrefetchReport {
    let outcome = |index| {
        // Records are outcome_size bytes apart, which may be more than this crate knows.
        let first = report.outcomes.cast::<u8>();
        let outcome = unsafe { &*first.add(index * report.outcome_size).cast::<sys::sdd_prefetch_outcome>() };
        PrefetchOutcome {
            error: (outcome.error != sys::SDD_OK).then_some(Status(outcome.error)),
            detail: outcome.detail,
            http_status: outcome.http_status,
            origin: Origin::of(outcome.origin).unwrap_or_default(),
            retryable: outcome.retryable == 1,
        }
    };
    let count = if report.outcomes.is_null() { 0 } else { report.total };
    PrefetchReport { finished: report.finished, skipped: report.skipped, outcomes: (0..count).map(outcome).collect() }
}

impl Output for PrefetchReport {
    fn of(outcome: Sealed) -> Result<Self, Error> {
        Ok(outcome.0.prefetch.unwrap_or_default())
    }
}

//! Prefetching: lists of URLs that are loaded ahead of time.

use crate::callbacks::{EachFn, PrefetchFn, Task};
use crate::credential::pointer;
use crate::error::accepted;
use crate::report::{Delivered, Output, Sealed};
use crate::request::submit;
use crate::text::Texts;
use crate::transfer::transfer_setters;
use crate::{
    sys, Callbacks, DecodeOptions, Error, Loader, Options, Outcome, Priority, Report, Request, TransferOptions,
};
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
    priority: Priority,
    to_disk: bool,
    transfer: TransferOptions,
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
    pub outcomes: Vec<Outcome>,
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

    /// Sets the priority of its loads, [`Priority::VeryLow`] by default.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
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

    transfer_setters!(transfer);

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
        submit(task, &self.downloader(), [self.owner(), None], |task| {
            let mut texts = Texts::default();
            let urls = texts.add_list(&list.urls)?;
            let decode = list.decode.as_ref().map(DecodeOptions::lend);
            let mut lent = sys::sdd_prefetch_list {
                urls: urls.as_ptr(),
                count: urls.len(),
                options: list.options.0,
                priority: list.priority as i32,
                to: if list.to_disk { sys::SDD_PREFETCH_DISK } else { sys::SDD_PREFETCH_MEMORY },
                decode: pointer(&decode),
                each: has_each.then_some(on_each),
                progress: has_progress.then_some(on_progress),
                completed: Some(on_completed),
                user_data: task,
                user_data_free: Some(Task::free),
                ..sys::sized!(sdd_prefetch_list)
            };
            list.transfer.lend(&mut texts, |transfer| {
                lent.transfer = transfer;
                // SAFETY: the list is copied, with all that it points to; the library frees the task after its end.
                accepted(unsafe { sys::sdd_prefetch(self.raw(), &lent) })
            })
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
        let delivered = unsafe { Delivered::read(&*result) }; // SAFETY: lent until we return
        task.prefetched_one(index, delivered.map(|delivered| *delivered.report));
    };
    unsafe { Task::called(task, token, called) } // SAFETY: as above
}

unsafe extern "C" fn on_completed(report: *const sys::sdd_prefetch_report, task: *mut c_void) {
    let report = unsafe { &*report }; // SAFETY: lent until we return
    let called = |task: &Task| {
        task.shared.end(if report.status == sys::SDD_OK {
            let outcomes = unsafe { Outcome::read_all(report.outcomes, report.total) }; // SAFETY: as the report
            let prefetch = Some(PrefetchReport { finished: report.finished, skipped: report.skipped, outcomes });
            Ok(Delivered { image: None, bytes: None, report: Box::default(), prefetch })
        } else {
            Err(Error::of_status(report.status))
        });
    };
    unsafe { Task::called(task, report.token, called) } // SAFETY: as above
}

impl Output for PrefetchReport {
    fn of(delivered: Sealed) -> Result<Self, Error> {
        Ok(delivered.0.prefetch.unwrap_or_default())
    }
}

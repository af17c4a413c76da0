//! Counts of a batch: in all, by outcome, and by host.

use crate::batch::Batch;
use crate::error::check;
use crate::numbers::microseconds;
use crate::{sys, text, Error, Status};
use std::time::Duration;

/// Counts of a batch so far: [`Batch::statistics`].
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let mut batch = sdd::Downloader::shared().batch([server.url("/a.png"), server.url("/none")]).images()?;
/// assert_eq!(batch.by_ref().count(), 2);
/// let statistics = batch.statistics()?;
/// assert_eq!((statistics.items, statistics.succeeded, statistics.failed, statistics.pixels), (2, 1, 1, 12));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchStatistics {
    /// Ended items, taken or not: the sum of the next three.
    pub items: i64,
    /// Items that succeeded.
    pub succeeded: i64,
    /// Items that failed.
    pub failed: i64,
    /// Items that were cancelled.
    pub cancelled: i64,
    /// Bytes of bodies.
    pub bytes: i64,
    /// Decoded pixels.
    pub pixels: i64,
    /// Since the start; once all items are taken, until the last one ended.
    pub elapsed: Duration,
    /// Items a second, in that time.
    pub items_per_second: f64,
    /// Bytes a second, in that time.
    pub bytes_per_second: f64,
}

/// A kind of outcome, and how many items had it: [`Batch::outcomes`].
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let urls = [server.url("/none"), server.url("/nothing"), server.url("/a.png")];
/// let mut batch = sdd::Downloader::shared().batch(urls).ordered().images()?;
/// assert_eq!(batch.by_ref().count(), 3);
/// let outcomes = batch.outcomes()?;
/// let failed = outcomes.iter().find(|outcome| outcome.error.is_some()).unwrap();
/// assert_eq!((failed.items, failed.http_status, outcomes.len()), (2, 404, 2));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchOutcome {
    /// Items with this outcome: with the same status, detail and HTTP status.
    pub items: i64,
    /// The failure of the first of them, with the sentence of its status; `None` for success.
    pub error: Option<Error>,
    /// The HTTP status.
    pub http_status: i32,
}

/// Counts of the items of one host: [`Batch::hosts`].
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let mut batch = sdd::Downloader::shared().batch([server.url("/a.png"), server.url("/none")]).images()?;
/// assert_eq!(batch.by_ref().count(), 2);
/// let host = &batch.hosts()?[0];
/// assert_eq!((host.items, host.failed), (2, 1));
/// assert!(host.host.starts_with("127.0.0.1:"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchHost {
    /// The host in lower case, with the port if the URL has one; "" for a URL without host, and "(other)" for all hosts
    /// after the first 1,000.
    pub host: String,
    /// Ended items.
    pub items: i64,
    /// Failed and cancelled items.
    pub failed: i64,
    /// Bytes of bodies.
    pub bytes: i64,
    /// The sum of the items' times.
    pub time: Duration,
}

impl<T> Batch<T> {
    /// Reads the counts so far.
    pub fn statistics(&self) -> Result<BatchStatistics, Error> {
        let mut counts = sys::sized!(sdd_batch_statistics);
        // SAFETY: filled as struct_size says.
        check(unsafe { sys::sdd_batch_get_statistics(self.core.raw(), &mut counts) })?;
        Ok(BatchStatistics {
            items: counts.items,
            succeeded: counts.succeeded,
            failed: counts.failed,
            cancelled: counts.cancelled,
            bytes: counts.bytes,
            pixels: counts.pixels,
            elapsed: microseconds(counts.elapsed_us),
            items_per_second: counts.items_per_second,
            bytes_per_second: counts.bytes_per_second,
        })
    }

    /// Reads the kinds of outcomes so far, in the order in which each first occurred.
    pub fn outcomes(&self) -> Result<Vec<BatchOutcome>, Error> {
        read_all(|index| {
            let mut counts = sys::sized!(sdd_batch_status);
            // SAFETY: filled as struct_size says.
            check(unsafe { sys::sdd_batch_get_status(self.core.raw(), index, &mut counts) })?;
            Ok(BatchOutcome {
                items: counts.items,
                error: unsafe { Error::found(&counts.failure) }, // SAFETY: just filled; a static sentence
                http_status: counts.failure.http_status,
            })
        })
    }

    /// Reads the counts of each host so far, in the order in which an item of each first ended.
    pub fn hosts(&self) -> Result<Vec<BatchHost>, Error> {
        read_all(|index| {
            let mut counts = sys::sized!(sdd_batch_host);
            // SAFETY: filled as struct_size says.
            check(unsafe { sys::sdd_batch_get_host(self.core.raw(), index, &mut counts) })?;
            Ok(BatchHost {
                host: unsafe { text::owned(counts.host.as_ptr()) }, // SAFETY: it ends with NUL
                items: counts.items,
                failed: counts.failed,
                bytes: counts.bytes,
                time: microseconds(counts.time_us),
            })
        })
    }
}

/// Reads records until there are no more.
fn read_all<T>(read: impl Fn(usize) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let mut records = Vec::new();
    loop {
        match read(records.len()) {
            Ok(record) => records.push(record),
            Err(error) if error.status() == Status::NOT_FOUND => return Ok(records),
            Err(error) => return Err(error),
        }
    }
}

//! Outcomes of requests: pictures, bodies, and reports of how they came.

use crate::numbers::microseconds;
use crate::{sys, text, Bytes, Error, Image, Origin, PrefetchReport, Response};
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;
use std::time::Duration;

/// A picture that a request has delivered.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let picture = sdd::Downloader::shared().download(server.url("/a.png")).wait()?;
/// assert_eq!((picture.image.width(), picture.report.origin), (4, sdd::Origin::Network));
/// assert_eq!(sdd::ImageFormat::sniff(&picture.bytes.unwrap()), Some(sdd::ImageFormat::PNG));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Picture {
    /// The image with its pixels.
    pub image: Image,
    /// The encoded bytes. There are none for a scaled or transformed picture of a load, and after
    /// [`Options::STOP_WHEN_COMPLETE`](crate::Options::STOP_WHEN_COMPLETE).
    pub bytes: Option<Bytes>,
    /// Where it came from, and what it cost.
    pub report: Box<Report>,
}

/// The body of a response, not decoded.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let body = sdd::Downloader::shared().download_bytes(server.url("/echo")).wait()?;
/// assert!(body.bytes.starts_with(b"GET /echo HTTP/1.1"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Body {
    /// The bytes; empty if the request had another place for them.
    pub bytes: Bytes,
    /// Where they came from, and what they cost.
    pub report: Box<Report>,
}

/// How a request went.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let report = sdd::Downloader::shared().discard(server.url("/a.png")).wait()?;
/// assert_eq!((report.http_status, report.metrics.end_unproven), (200, false));
/// assert_eq!(report.url, server.url("/a.png"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The URL as submitted; the key of a cache query.
    pub url: String,
    /// Where the result comes from.
    pub origin: Origin,
    /// The HTTP status of the last response; 0 if there was none.
    pub http_status: i32,
    /// The response with its header fields, also of a request that failed.
    pub response: Option<Response>,
    /// The application's own bytes of the cache entry.
    pub extended: Option<Bytes>,
    /// The URLs of a load that failed, before one succeeded or all failed.
    pub sources: Vec<Outcome>,
    /// True if all transforms of the load have been applied.
    pub is_transformed: bool,
    /// The errno of the failure to store it on disk, with [`Options::WAIT_STORE_CACHE`](crate::Options::WAIT_STORE_CACHE);
    /// 0: it is stored, or there was nothing to store.
    pub store_error: i32,
    /// How long each stage took, and what the transfer cost.
    pub metrics: Metrics,
}

/// The outcome of one URL of several: of a load with alternatives, of a prefetch list.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let request = sdd::LoadRequest::new(server.url("/missing")).alternative(&server.url("/a.png"));
/// let picture = sdd::Loader::without_cache()?.load(request).wait()?;
/// let failed = &picture.report.sources[0];
/// assert_eq!((&failed.url, failed.http_status), (&server.url("/missing"), 404));
/// assert!(matches!(failed.error, Some(sdd::Error::Response(_))));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The URL; "" if it was unreadable, and in a [`PrefetchReport`], whose URLs the application has.
    pub url: String,
    /// Why it failed; `None`: it did not.
    pub error: Option<Error>,
    /// The HTTP status; 0 if there was no response.
    pub http_status: i32,
    /// Where it came from: if from a cache, it was there already.
    pub origin: Origin,
}

/// How long the stages of a request took, and what its transfer cost. Durations are zero for a stage that did not
/// happen.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let metrics = sdd::Downloader::shared().discard(server.url("/a.png")).wait()?.metrics;
/// assert!(metrics.total >= metrics.queue && metrics.transfer > std::time::Duration::ZERO);
/// assert_eq!((metrics.remote_address.as_str(), metrics.attempts, metrics.http_version), ("127.0.0.1", 1, 11));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// From submitting to the start of the transfer.
    pub queue: Duration,
    /// From submitting until the cache, or another process that was downloading the same URL, had answered.
    pub cache: Duration,
    /// Name lookup.
    pub name_lookup: Duration,
    /// TCP connect alone.
    pub connect: Duration,
    /// TLS handshake alone.
    pub tls: Duration,
    /// From the request being ready to be sent to the first byte of the response.
    pub first_byte: Duration,
    /// The whole transfer.
    pub transfer: Duration,
    /// From the last byte to the picture.
    pub decode: Duration,
    /// With [`Options::WAIT_STORE_CACHE`](crate::Options::WAIT_STORE_CACHE), until the picture was on disk.
    pub store: Duration,
    /// From submitting to the end.
    pub total: Duration,
    /// From the end until the completion callback of this crate was called.
    pub delivery: Duration,
    /// Bytes sent, header and body.
    pub request_bytes: i64,
    /// Header bytes received.
    pub response_header_bytes: i64,
    /// Body bytes received, still packed.
    pub response_body_bytes: i64,
    /// Body bytes after unpacking.
    pub body_bytes: i64,
    /// Bytes that were not waited for.
    pub saved_bytes: i64,
    /// Bytes that an earlier, broken transfer had left.
    pub resumed_bytes: i64,
    /// The server's address; "" if there was no connection.
    pub remote_address: String,
    /// The server's port.
    pub remote_port: i32,
    /// 10, 11, 20 or 30; 0 if there was no response.
    pub http_version: i32,
    /// True if no new connection was made.
    pub connection_reused: bool,
    /// Redirects that were followed.
    pub redirects: i32,
    /// Transfers started for this request.
    pub attempts: i32,
    /// True if nothing proves that the body is complete: it ended with the connection.
    pub end_unproven: bool,
}

/// A result that the library has given to this crate, until it is dropped.
pub(crate) struct Owned(NonNull<sys::sdd_result>);

impl Owned {
    /// SAFETY: NULL, or a result that is the caller's.
    pub(crate) unsafe fn of(result: *mut sys::sdd_result) -> Option<Self> {
        NonNull::new(result).map(Owned)
    }
}

impl Deref for Owned {
    type Target = sys::sdd_result;

    fn deref(&self) -> &sys::sdd_result {
        unsafe { self.0.as_ref() } // SAFETY: ours, and not released yet
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { sys::sdd_result_release(self.0.as_ptr()) } // SAFETY: ours, and released once
    }
}

/// What a request has delivered, with references of its own.
pub(crate) struct Delivered {
    pub(crate) image: Option<Image>,
    pub(crate) bytes: Option<Bytes>,
    pub(crate) report: Box<Report>,
    pub(crate) prefetch: Option<PrefetchReport>,
}

impl Delivered {
    /// SAFETY: a result that is ours, or lent to a callback that has not returned.
    pub(crate) unsafe fn read(result: &sys::sdd_result) -> Result<Self, Error> {
        unsafe {
            let report = Report::read(result);
            if result.failure.status != sys::SDD_OK {
                return Err(Error::of(&result.failure, Some(report)));
            }
            let (image, bytes) = (Image::retained(result.image), Bytes::retained(result.bytes));
            Ok(Delivered { image, bytes, report: Box::new(report), prefetch: None })
        }
    }

    pub(crate) fn into_picture(self) -> Result<Picture, Error> {
        match self.image {
            Some(image) => Ok(Picture { image, bytes: self.bytes, report: self.report }),
            None => Err(Error::made(sys::SDD_ERROR_NOT_FOUND, "The result has no image.")),
        }
    }
}

impl Report {
    /// SAFETY: as [`Delivered::read`].
    pub(crate) unsafe fn read(result: &sys::sdd_result) -> Self {
        unsafe {
            Report {
                url: text::owned(result.url),
                origin: Origin::of(result.origin).unwrap_or_default(),
                http_status: result.failure.http_status,
                response: Response::retained(result.response),
                extended: Bytes::retained(result.extended),
                sources: Outcome::read_all(result.sources, result.source_count),
                is_transformed: result.is_transformed == 1,
                store_error: result.store_error,
                metrics: result.metrics.as_ref().map(|metrics| Metrics::read(metrics)).unwrap_or_default(),
            }
        }
    }
}

impl Outcome {
    /// SAFETY: NULL, or so many outcomes of a result or report that is as for [`Delivered::read`].
    pub(crate) unsafe fn read_all(first: *const sys::sdd_outcome, count: usize) -> Vec<Self> {
        if first.is_null() {
            return Vec::new();
        }
        let read = |outcome: &sys::sdd_outcome| unsafe {
            Outcome {
                url: text::owned(outcome.url),
                error: Error::found(&outcome.failure),
                http_status: outcome.failure.http_status,
                origin: Origin::of(outcome.origin).unwrap_or_default(),
            }
        };
        unsafe { slice::from_raw_parts(first, count) }.iter().map(read).collect()
    }
}

impl Metrics {
    /// SAFETY: as [`Delivered::read`].
    unsafe fn read(metrics: &sys::sdd_metrics) -> Self {
        Metrics {
            queue: microseconds(metrics.queue_us),
            cache: microseconds(metrics.cache_us),
            name_lookup: microseconds(metrics.name_lookup_us),
            connect: microseconds(metrics.connect_us),
            tls: microseconds(metrics.tls_us),
            first_byte: microseconds(metrics.first_byte_us),
            transfer: microseconds(metrics.transfer_us),
            decode: microseconds(metrics.decode_us),
            store: microseconds(metrics.store_us),
            total: microseconds(metrics.total_us),
            delivery: microseconds(metrics.delivery_us),
            request_bytes: metrics.request_bytes,
            response_header_bytes: metrics.response_header_bytes,
            response_body_bytes: metrics.response_body_bytes,
            body_bytes: metrics.body_bytes,
            saved_bytes: metrics.saved_bytes,
            resumed_bytes: metrics.resumed_bytes,
            remote_address: unsafe { text::owned(metrics.remote_address) }, // SAFETY: as the caller promises
            remote_port: metrics.remote_port,
            http_version: metrics.http_version,
            connection_reused: metrics.connection_reused == 1,
            redirects: metrics.redirects,
            attempts: metrics.attempts,
            end_unproven: metrics.end_unproven == 1,
        }
    }
}

/// A type that a request delivers. Sealed: the types of this crate alone.
///
/// ```
/// fn is_output<T: sdd::Output>() {}
/// is_output::<sdd::Picture>();
/// is_output::<sdd::Body>();
/// ```
pub trait Output: Sized + Send + 'static {
    #[doc(hidden)]
    fn of(delivered: Sealed) -> Result<Self, Error>;
}

#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub struct Sealed(pub(crate) Delivered);

impl Output for Picture {
    fn of(delivered: Sealed) -> Result<Self, Error> {
        delivered.0.into_picture()
    }
}

impl Output for Body {
    fn of(delivered: Sealed) -> Result<Self, Error> {
        Ok(Body { bytes: delivered.0.bytes.unwrap_or_else(Bytes::empty), report: delivered.0.report })
    }
}

impl Output for Bytes {
    fn of(delivered: Sealed) -> Result<Self, Error> {
        Ok(delivered.0.bytes.unwrap_or_else(Bytes::empty))
    }
}

impl Output for Report {
    fn of(delivered: Sealed) -> Result<Self, Error> {
        Ok(*delivered.0.report)
    }
}

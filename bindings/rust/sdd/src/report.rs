//! Outcomes of requests: pictures, bodies, and reports of how they came.

use crate::numbers::microseconds;
use crate::{sys, text, Bytes, Error, Failure, Image, Origin, PrefetchReport, Response, Stage, Status};
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
/// assert_eq!((report.http_status, report.end_unproven), (200, false));
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
    pub sources: Vec<SourceError>,
    /// True if nothing proves that the body is complete: it ended with the connection.
    pub end_unproven: bool,
    /// True if all transforms of the load have been applied.
    pub transformed: bool,
    /// The duration of each stage.
    pub timings: Timings,
    /// The cost of the transfer.
    pub metrics: Metrics,
}

/// One URL of a load that failed.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let request = sdd::LoadRequest::new(server.url("/missing")).alternative(&server.url("/a.png"));
/// let picture = sdd::Loader::without_cache()?.load(request).wait()?;
/// assert_eq!(picture.report.sources[0].url, server.url("/missing"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SourceError {
    /// The URL, or "" if it was unreadable.
    pub url: String,
    /// The kind of failure.
    pub status: Status,
    /// One of `SDD_DETAIL_`, or 0.
    pub detail: i32,
    /// The HTTP status; 0 if there was no response.
    pub http_status: i32,
    /// True if another attempt may succeed later.
    pub retryable: bool,
    /// One English sentence.
    pub message: String,
}

/// The duration of each stage of a request; zero for a stage that did not happen.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let timings = sdd::Downloader::shared().discard(server.url("/a.png")).wait()?.timings;
/// assert!(timings.total >= timings.queue && timings.transfer > std::time::Duration::ZERO);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timings {
    /// From submitting to the start of the transfer.
    pub queue: Duration,
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
    /// From submitting until the cache had answered.
    pub cache: Duration,
    /// With [`Options::WAIT_STORE_CACHE`](crate::Options::WAIT_STORE_CACHE), until the picture was on disk.
    pub store: Duration,
    /// From the end until the completion callback of this crate was called.
    pub delivery: Duration,
    /// From submitting to the end.
    pub total: Duration,
}

/// The cost of one transfer.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let metrics = sdd::Downloader::shared().discard(server.url("/a.png")).wait()?.metrics;
/// assert_eq!((metrics.remote_address.as_str(), metrics.attempts, metrics.http_version), ("127.0.0.1", 1, 11));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Bytes sent, header and body.
    pub request_bytes: i64,
    /// Header bytes received.
    pub response_header_bytes: i64,
    /// Body bytes received, still packed.
    pub response_body_bytes: i64,
    /// Body bytes after unpacking.
    pub body_bytes: i64,
    /// 10, 11, 20 or 30; 0 if there was no response.
    pub http_version: i32,
    /// True if no new connection was made.
    pub connection_reused: bool,
    /// Redirects that were followed.
    pub redirects: i32,
    /// Transfers started for this request.
    pub attempts: i32,
    /// The server's address; "" if there was no connection.
    pub remote_address: String,
    /// The server's port.
    pub remote_port: i32,
    /// Bytes that were not waited for.
    pub saved_bytes: i64,
    /// Bytes that an earlier, broken transfer had left.
    pub resumed_bytes: i64,
}

/// Everything that the terminal callback of a request is given, with references of its own.
pub(crate) struct Outcome {
    pub(crate) image: Option<Image>,
    pub(crate) bytes: Option<Bytes>,
    pub(crate) report: Box<Report>,
    pub(crate) prefetch: Option<PrefetchReport>,
}

impl Outcome {
    /// SAFETY: a result that a callback was given and that has not returned.
    pub(crate) unsafe fn read(result: &sys::sdd_result) -> Result<Self, Error> {
        unsafe {
            let report = Report::read(result);
            if result.error != sys::SDD_OK {
                return Err(Error::in_class(result.error_class, failure(result, report)));
            }
            let (image, bytes) = (Image::retained(result.image), Bytes::retained(result.bytes));
            Ok(Outcome { image, bytes, report: Box::new(report), prefetch: None })
        }
    }

    pub(crate) fn into_picture(self) -> Result<Picture, Error> {
        match self.image {
            Some(image) => Ok(Picture { image, bytes: self.bytes, report: self.report }),
            None => Err(Error::made(sys::SDD_ERROR_NOT_FOUND, 0, "The result has no image.".into())),
        }
    }
}

/// SAFETY: as [`Outcome::read`].
unsafe fn failure(result: &sys::sdd_result, report: Report) -> Failure {
    Failure {
        status: Status(result.error),
        detail: result.detail,
        http_status: result.http_status,
        curl_code: result.curl_code,
        system_error: result.system_error,
        stage: Stage::of(result.stage).unwrap_or_default(),
        retryable: result.retryable == 1,
        message: unsafe { text::owned(result.message) }, // SAFETY: as the caller promises
        report: Some(report),
    }
}

impl Report {
    /// SAFETY: as [`Outcome::read`].
    unsafe fn read(result: &sys::sdd_result) -> Self {
        let source_count = if result.sources.is_null() { 0 } else { result.source_count };
        unsafe {
            Report {
                url: text::owned(result.url),
                origin: Origin::of(result.origin).unwrap_or_default(),
                http_status: result.http_status,
                response: Response::retained(result.response),
                extended: Bytes::retained(result.extended),
                sources: (0..source_count).map(|index| SourceError::read(result.sources, index)).collect(),
                end_unproven: result.end_unproven == 1,
                transformed: result.transformed == 1,
                timings: result.timings.as_ref().map(Timings::read).unwrap_or_default(),
                metrics: result.metrics.as_ref().map(|metrics| Metrics::read(metrics)).unwrap_or_default(),
            }
        }
    }
}

impl SourceError {
    /// SAFETY: as [`Outcome::read`]; the result has that source.
    unsafe fn read(first: *const sys::sdd_source_error, index: usize) -> Self {
        unsafe {
            // Records are struct_size bytes apart, which may be more than this crate knows.
            let source = &*first.cast::<u8>().add(index * (*first).struct_size).cast::<sys::sdd_source_error>();
            SourceError {
                url: text::owned(source.url),
                status: Status(source.error),
                detail: source.detail,
                http_status: source.http_status,
                retryable: source.retryable == 1,
                message: text::owned(source.message),
            }
        }
    }
}

impl Timings {
    fn read(timings: &sys::sdd_timings) -> Self {
        Timings {
            queue: microseconds(timings.queue_us),
            name_lookup: microseconds(timings.name_lookup_us),
            connect: microseconds(timings.connect_us),
            tls: microseconds(timings.tls_us),
            first_byte: microseconds(timings.first_byte_us),
            transfer: microseconds(timings.transfer_us),
            decode: microseconds(timings.decode_us),
            cache: microseconds(timings.cache_us),
            store: microseconds(timings.store_us),
            delivery: microseconds(timings.delivery_us),
            total: microseconds(timings.total_us),
        }
    }
}

impl Metrics {
    /// SAFETY: as [`Outcome::read`].
    unsafe fn read(metrics: &sys::sdd_metrics) -> Self {
        Metrics {
            request_bytes: metrics.request_bytes,
            response_header_bytes: metrics.response_header_bytes,
            response_body_bytes: metrics.response_body_bytes,
            body_bytes: metrics.body_bytes,
            http_version: metrics.http_version,
            connection_reused: metrics.connection_reused == 1,
            redirects: metrics.redirects,
            attempts: metrics.attempts,
            remote_address: unsafe { text::owned(metrics.remote_address) }, // SAFETY: as the caller promises
            remote_port: metrics.remote_port,
            saved_bytes: metrics.saved_bytes,
            resumed_bytes: metrics.resumed_bytes,
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
    fn of(outcome: Sealed) -> Result<Self, Error>;
}

#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub struct Sealed(pub(crate) Outcome);

impl Output for Picture {
    fn of(outcome: Sealed) -> Result<Self, Error> {
        outcome.0.into_picture()
    }
}

impl Output for Body {
    fn of(outcome: Sealed) -> Result<Self, Error> {
        Ok(Body { bytes: outcome.0.bytes.unwrap_or_else(Bytes::empty), report: outcome.0.report })
    }
}

impl Output for Bytes {
    fn of(outcome: Sealed) -> Result<Self, Error> {
        Ok(outcome.0.bytes.unwrap_or_else(Bytes::empty))
    }
}

impl Output for Report {
    fn of(outcome: Sealed) -> Result<Self, Error> {
        Ok(*outcome.0.report)
    }
}

//! Errors, one variant for each class of failure.

use crate::sys::{self, sdd_status};
use crate::{text, Report, Stage, Status};
use std::fmt;

/// Why a call or a request failed. The variant is the class; each has a [`Failure`] with the rest.
///
/// ```
/// use sdd::{Error, Image, Status};
///
/// let error = Image::decode(b"<!doctype html>").unwrap_err();
/// assert!(matches!(error, Error::Image(_)));
/// assert_eq!(error.status(), Status::BAD_IMAGE_DATA);
/// assert_eq!(error.detail(), sdd::sys::SDD_DETAIL_IMAGE_UNKNOWN_FORMAT);
/// assert!(!error.is_retryable());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The application's input: a URL, header, option or number, or a modifier's refusal. Also a URL that is blocked
    /// or not cached.
    Request(Box<Failure>),
    /// The application cancelled the request, or dropped the object that served it.
    Cancelled(Box<Failure>),
    /// The server's response: its status or media type, a redirect that is not followed.
    Response(Box<Failure>),
    /// The body is not a picture that can be decoded.
    Image(Box<Failure>),
    /// Name lookup, connection, protocol, a body that broke off.
    Network(Box<Failure>),
    /// TLS handshake and certificates.
    Tls(Box<Failure>),
    /// A time limit has passed.
    Timeout(Box<Failure>),
    /// Over a limit of the configuration, or a refused address.
    Limit(Box<Failure>),
    /// This machine: no memory, descriptor or thread, an unreadable file.
    System(Box<Failure>),
    /// A closure that the application gave to the request has panicked, and the request was cancelled. The message
    /// contains that of the panic.
    Panicked(Box<Failure>),
}

/// The particulars of a failure. Fields that are unknown, as most are for a failed call, are 0 or `None`.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let error = sdd::Downloader::shared().download(server.url("/missing")).wait().unwrap_err();
/// let failure = error.failure();
/// assert_eq!((failure.http_status, failure.retryable), (404, false));
/// assert_eq!(failure.report.as_ref().unwrap().response.as_ref().unwrap().mime_type(), "text/html");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of failure.
    pub status: Status,
    /// What exactly happened: one of `SDD_DETAIL_` in [`sys`](crate::sys), or 0.
    pub detail: i32,
    /// The HTTP status of the last response; 0 if there was none.
    pub http_status: i32,
    /// libcurl's CURLcode; 0 if it reported no error.
    pub curl_code: i32,
    /// The errno of the failed system call where known; otherwise 0.
    pub system_error: i32,
    /// The stage at which the request failed.
    pub stage: Stage,
    /// True if the same request may well succeed later.
    pub retryable: bool,
    /// One English sentence for people, without secrets.
    pub message: String,
    /// The response, the failed alternatives, durations and costs; `None` for a failed call.
    pub report: Option<Report>,
}

impl Error {
    /// Returns the particulars of the failure.
    pub fn failure(&self) -> &Failure {
        match self {
            Error::Request(failure)
            | Error::Cancelled(failure)
            | Error::Response(failure)
            | Error::Image(failure)
            | Error::Network(failure)
            | Error::Tls(failure)
            | Error::Timeout(failure)
            | Error::Limit(failure)
            | Error::System(failure)
            | Error::Panicked(failure) => failure,
        }
    }

    /// Returns the kind of failure.
    pub fn status(&self) -> Status {
        self.failure().status
    }

    /// Returns what exactly happened: one of `SDD_DETAIL_` in [`sys`](crate::sys), or 0.
    pub fn detail(&self) -> i32 {
        self.failure().detail
    }

    /// Returns the HTTP status of the response, or `None` if there was no response.
    pub fn http_status(&self) -> Option<i32> {
        Some(self.failure().http_status).filter(|&status| status != 0)
    }

    /// Returns true if the same request may well succeed later.
    pub fn is_retryable(&self) -> bool {
        self.failure().retryable
    }

    /// Returns one English sentence about this failure.
    pub fn message(&self) -> &str {
        &self.failure().message
    }

    /// Returns the error of the call that has just failed on this thread.
    pub(crate) fn last() -> Self {
        let mut failure = sys::sdd_failure::default();
        // SAFETY: it is filled, and its message stays until the next call of this thread that fails.
        unsafe {
            sys::sdd_last_error(&mut failure);
            Self::of(&failure, None)
        }
    }

    /// Returns the error that a struct of the library tells of; `None` if that tells of none.
    ///
    /// SAFETY: the struct has been filled by the library, and its message is still there.
    pub(crate) unsafe fn found(failure: &sys::sdd_failure) -> Option<Self> {
        (failure.status != sys::SDD_OK).then(|| unsafe { Self::of(failure, None) })
    }

    /// SAFETY: as [`Error::found`].
    pub(crate) unsafe fn of(failure: &sys::sdd_failure, report: Option<Report>) -> Self {
        let made = Failure {
            status: Status(failure.status),
            detail: failure.detail,
            http_status: failure.http_status,
            curl_code: failure.curl_code,
            system_error: failure.system_error,
            stage: Stage::of(failure.stage).unwrap_or_default(),
            retryable: failure.retryable == 1,
            message: unsafe { text::owned(failure.message) },
            report,
        };
        Self::in_class(failure.error_class, Box::new(made))
    }

    /// Returns the error of an argument that this crate refuses itself.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::made(sys::SDD_ERROR_INVALID_ARGUMENT, message)
    }

    pub(crate) fn of_status(status: sdd_status) -> Self {
        Self::made(status, Status(status).sentence())
    }

    /// Returns an error of this crate.
    pub(crate) fn made(status: sdd_status, message: impl Into<String>) -> Self {
        let failure = Failure {
            status: Status(status),
            detail: 0,
            http_status: 0,
            curl_code: 0,
            system_error: 0,
            stage: Stage::None,
            retryable: false,
            message: message.into(),
            report: None,
        };
        let class = match status {
            sys::SDD_ERROR_CANCELLED => sys::SDD_CLASS_CANCELLED,
            sys::SDD_ERROR_BAD_IMAGE_DATA => sys::SDD_CLASS_IMAGE,
            sys::SDD_ERROR_TIMEOUT => sys::SDD_CLASS_TIMEOUT,
            sys::SDD_ERROR_NO_RESOURCES => sys::SDD_CLASS_SYSTEM,
            _ => sys::SDD_CLASS_REQUEST,
        };
        Self::in_class(class, Box::new(failure))
    }

    pub(crate) fn panicked(message: &str) -> Self {
        let message = format!("A closure of the request has panicked: {message}");
        match Self::made(sys::SDD_ERROR_CANCELLED, message) {
            Error::Cancelled(failure) => Error::Panicked(failure),
            other => other,
        }
    }

    fn in_class(class: sys::sdd_error_class, failure: Box<Failure>) -> Self {
        match class {
            sys::SDD_CLASS_CANCELLED => Error::Cancelled(failure),
            sys::SDD_CLASS_RESPONSE => Error::Response(failure),
            sys::SDD_CLASS_IMAGE => Error::Image(failure),
            sys::SDD_CLASS_NETWORK => Error::Network(failure),
            sys::SDD_CLASS_TLS => Error::Tls(failure),
            sys::SDD_CLASS_TIMEOUT => Error::Timeout(failure),
            sys::SDD_CLASS_LIMIT => Error::Limit(failure),
            sys::SDD_CLASS_SYSTEM => Error::System(failure),
            _ => Error::Request(failure),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failure = self.failure();
        if failure.message.is_empty() {
            formatter.write_str(failure.status.sentence())
        } else {
            formatter.write_str(&failure.message)
        }
    }
}

impl std::error::Error for Error {}

/// Turns the status of the call just made on this thread into a result.
pub(crate) fn check(status: sdd_status) -> Result<(), Error> {
    if status == sys::SDD_OK {
        Ok(())
    } else {
        Err(Error::last())
    }
}

/// Turns the token of the call just made on this thread into a result.
pub(crate) fn accepted(token: sys::sdd_token) -> Result<sys::sdd_token, Error> {
    if token != 0 {
        Ok(token)
    } else {
        Err(Error::last())
    }
}

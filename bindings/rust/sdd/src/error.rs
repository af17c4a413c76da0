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
    /// The response, the failed alternatives, timings and costs; `None` for a failed call.
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

    /// Returns the error of a call that has just failed on this thread.
    pub(crate) fn of_call(status: sdd_status) -> Self {
        Self::of_call_with_detail(status, 0)
    }

    pub(crate) fn of_call_with_detail(status: sdd_status, detail: i32) -> Self {
        // SAFETY: a string that stays until the next call of this thread that fails.
        let message = unsafe { text::owned(sys::sdd_last_error_message()) };
        Self::made(status, detail, message)
    }

    /// Returns the error of an argument that this crate refuses itself.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::made(sys::SDD_ERROR_INVALID_ARGUMENT, 0, message.into())
    }

    pub(crate) fn of_status(status: sdd_status) -> Self {
        Self::made(status, 0, Status(status).sentence().to_owned())
    }

    pub(crate) fn made(status: sdd_status, detail: i32, message: String) -> Self {
        let failure = Failure {
            status: Status(status),
            detail,
            http_status: 0,
            curl_code: 0,
            system_error: 0,
            stage: Stage::None,
            retryable: false,
            message,
            report: None,
        };
        Self::in_class(class_of(status, detail), failure)
    }

    pub(crate) fn panicked(message: &str) -> Self {
        let message = format!("A closure of the request has panicked: {message}");
        match Self::made(sys::SDD_ERROR_CANCELLED, 0, message) {
            Error::Cancelled(failure) => Error::Panicked(failure),
            other => other,
        }
    }

    pub(crate) fn in_class(class: i32, failure: Failure) -> Self {
        let failure = Box::new(failure);
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
    check_with_detail(status, 0)
}

pub(crate) fn check_with_detail(status: sdd_status, detail: i32) -> Result<(), Error> {
    if status == sys::SDD_OK {
        Ok(())
    } else {
        Err(Error::of_call_with_detail(status, detail))
    }
}

fn class_of(status: sdd_status, detail: i32) -> i32 {
    unsafe { sys::sdd_status_class(status, detail) } // SAFETY: any numbers are allowed
}

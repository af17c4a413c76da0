//! The numbers of failures, and their names.

use crate::{sys, text};
use std::fmt;

/// The kind of a failure: one of `SDD_ERROR_` of the C header.
///
/// ```
/// use sdd::Status;
///
/// assert_eq!(Status::TLS.name(), "SDD_ERROR_TLS");
/// assert_eq!(Status::TLS.number(), 3003);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(pub(crate) i32);

impl Status {
    /// Returns the number, such as 3003.
    pub fn number(self) -> i32 {
        self.0
    }

    /// Returns the name in C, such as `SDD_ERROR_TLS`.
    pub fn name(self) -> &'static str {
        unsafe { text::borrowed(sys::sdd_status_name(self.0)) } // SAFETY: a static string for every number
    }

    /// Returns one sentence that is the same for every failure with this number.
    pub fn sentence(self) -> &'static str {
        unsafe { text::borrowed(sys::sdd_status_message(self.0)) } // SAFETY: as above
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name(), self.0)
    }
}

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $number:ident;)*) => {
        impl Status {
            $($(#[$doc])* pub const $name: Status = Status(sys::$number);)*
        }
    };
}

statuses! {
    /// The URL is empty, malformed or too long, or its scheme is not allowed.
    INVALID_URL = SDD_ERROR_INVALID_URL;
    /// The body is no picture, or is damaged, cut off, or over a limit.
    BAD_IMAGE_DATA = SDD_ERROR_BAD_IMAGE_DATA;
    /// The server, or the cache, confirms that what the application has is still valid.
    NOT_MODIFIED = SDD_ERROR_NOT_MODIFIED;
    /// The URL failed recently, and is not tried again for a while.
    BLOCKED = SDD_ERROR_BLOCKED;
    /// No cache has it, and the network was not allowed.
    NOT_CACHED = SDD_ERROR_NOT_CACHED;
    /// The request could not be made; the detail says why.
    INVALID_DOWNLOAD_OPERATION = SDD_ERROR_INVALID_DOWNLOAD_OPERATION;
    /// The HTTP status is not among the accepted ones.
    INVALID_DOWNLOAD_STATUS_CODE = SDD_ERROR_INVALID_DOWNLOAD_STATUS_CODE;
    /// The request was cancelled, or its downloader or loader was dropped.
    CANCELLED = SDD_ERROR_CANCELLED;
    /// The response modifier refused the response.
    INVALID_DOWNLOAD_RESPONSE = SDD_ERROR_INVALID_DOWNLOAD_RESPONSE;
    /// The media type is not among the accepted ones.
    INVALID_DOWNLOAD_CONTENT_TYPE = SDD_ERROR_INVALID_DOWNLOAD_CONTENT_TYPE;
    /// A failure of the transport without a number of its own.
    TRANSPORT = SDD_ERROR_TRANSPORT;
    /// The name of the host or proxy has no address.
    RESOLVE = SDD_ERROR_RESOLVE;
    /// No connection: refused or unreachable.
    CONNECT = SDD_ERROR_CONNECT;
    /// TLS handshake or certificate.
    TLS = SDD_ERROR_TLS;
    /// A time limit of the request, or of a call that waits, has passed; the detail says which.
    TIMEOUT = SDD_ERROR_TIMEOUT;
    /// The connection broke while sending or receiving.
    CONNECTION_LOST = SDD_ERROR_CONNECTION_LOST;
    /// More redirects than allowed.
    TOO_MANY_REDIRECTS = SDD_ERROR_TOO_MANY_REDIRECTS;
    /// The response is not HTTP, or does not answer the request.
    PROTOCOL = SDD_ERROR_PROTOCOL;
    /// The body is larger than allowed.
    BODY_TOO_LARGE = SDD_ERROR_BODY_TOO_LARGE;
    /// The body ended before its announced length.
    TRUNCATED_BODY = SDD_ERROR_TRUNCATED_BODY;
    /// A redirect that is not followed.
    REDIRECT_REFUSED = SDD_ERROR_REDIRECT_REFUSED;
    /// A packed body that cannot be unpacked.
    CONTENT_ENCODING = SDD_ERROR_CONTENT_ENCODING;
    /// A file cannot be read.
    FILE_NOT_READABLE = SDD_ERROR_FILE_NOT_READABLE;
    /// The address policy or filter refused the address to connect to.
    ADDRESS_REFUSED = SDD_ERROR_ADDRESS_REFUSED;
    /// The response header is larger than allowed.
    HEADERS_TOO_LARGE = SDD_ERROR_HEADERS_TOO_LARGE;
    /// The proxy refused the request.
    PROXY = SDD_ERROR_PROXY;
    /// The body could not be written to the descriptor.
    SINK = SDD_ERROR_SINK;
    /// A number or text that the call does not accept.
    INVALID_ARGUMENT = SDD_ERROR_INVALID_ARGUMENT;
    /// A feature that the library, or libcurl, does not have.
    UNSUPPORTED = SDD_ERROR_UNSUPPORTED;
    /// No such request (it has ended), header field or entry.
    NOT_FOUND = SDD_ERROR_NOT_FOUND;
    /// The object was destroyed.
    CLOSED = SDD_ERROR_CLOSED;
    /// The object belongs to the parent process.
    FORKED = SDD_ERROR_FORKED;
    /// The call is one for the other [`Delivery`](crate::Delivery).
    WRONG_DELIVERY = SDD_ERROR_WRONG_DELIVERY;
    /// Another thread is taking the events of the downloader.
    BUSY = SDD_ERROR_BUSY;
    /// The thread would wait for itself.
    WOULD_DEADLOCK = SDD_ERROR_WOULD_DEADLOCK;
    /// The system gave no thread, descriptor or memory.
    NO_RESOURCES = SDD_ERROR_NO_RESOURCES;
    /// The bytes end too early: more are needed.
    INCOMPLETE = SDD_ERROR_INCOMPLETE;
    /// The picture does not fit into a byte limit, a format's size limit, or a crop.
    DOES_NOT_FIT = SDD_ERROR_DOES_NOT_FIT;
    /// A disk operation of a cache failed; the detail says which.
    CACHE = SDD_ERROR_CACHE;
}

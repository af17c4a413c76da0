//! Downloads: requests for one URL without a loader's cache.

use crate::credential::pointer;
use crate::error::accepted;
use crate::numbers::clamped;
use crate::text::Texts;
use crate::transfer::transfer_setters;
use crate::{sys, DecodeOptions, Error, Options, Priority, TransferOptions};
use std::fmt;
use std::sync::Arc;

/// A download with its settings. A URL alone is one, too: methods that take a download take `&str` and `String`.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/echo");
/// use sdd::{DownloadRequest, Downloader, Priority};
/// use std::time::Duration;
///
/// let request = DownloadRequest::new(url)
///     .method("POST", b"hello")
///     .header("X-Number", "7")
///     .priority(Priority::High)
///     .total_timeout(Duration::from_secs(30));
/// let body = Downloader::new()?.download_bytes(request).wait()?;
/// let text = String::from_utf8_lossy(&body.bytes);
/// assert!(text.starts_with("POST /echo") && text.contains("X-Number: 7") && text.ends_with("hello"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct DownloadRequest {
    url: String,
    options: Options,
    method: Option<String>,
    body: Option<Arc<[u8]>>,
    range: Option<String>,
    priority: Priority,
    decode: Option<DecodeOptions>,
    transfer: TransferOptions,
    integrity: Option<String>,
    expected_bytes: u64,
}

impl DownloadRequest {
    /// Returns a GET request for a URL without any setting.
    pub fn new(url: impl Into<String>) -> Self {
        DownloadRequest { url: url.into(), ..Default::default() }
    }

    /// Adds option bits.
    pub fn options(mut self, options: Options) -> Self {
        self.options |= options;
        self
    }

    /// Sets the method, and the body to send, which is empty for GET and HEAD.
    pub fn method(mut self, method: &str, body: &[u8]) -> Self {
        self.method = Some(method.into());
        self.body = if body.is_empty() { None } else { Some(body.into()) };
        self
    }

    /// Asks for a range of bytes: "0-1023", "1024-" or "-512".
    pub fn range(mut self, range: &str) -> Self {
        self.range = Some(range.into());
        self
    }

    /// Sets the priority.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the form in which the picture is wanted.
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = Some(options);
        self
    }

    /// Requires a SHA-256 of the body: "sha256-" and base64 or 64 hexadecimal digits.
    pub fn integrity(mut self, hash: &str) -> Self {
        self.integrity = Some(hash.into());
        self
    }

    /// Requires a size of the body.
    pub fn expected_bytes(mut self, count: u64) -> Self {
        self.expected_bytes = count;
        self
    }

    transfer_setters!(transfer);

    /// Passes the request to `body` as a C struct, which lives until `body` returns, with all that it points to.
    /// `body` returns the token.
    pub(crate) fn lend(
        &self,
        body: impl FnOnce(&mut sys::sdd_download_request) -> sys::sdd_token,
    ) -> Result<sys::sdd_token, Error> {
        let mut texts = Texts::default();
        let mut request = sys::sized!(sdd_download_request);
        request.url = texts.add(&self.url)?;
        request.options = self.options.0;
        request.method = texts.add_optional(&self.method)?;
        if let Some(body) = &self.body {
            (request.body, request.body_size) = (body.as_ptr().cast(), body.len());
        }
        request.range = texts.add_optional(&self.range)?;
        request.priority = self.priority as i32;
        request.integrity = texts.add_optional(&self.integrity)?;
        request.expected_bytes = clamped(self.expected_bytes);
        let decode = self.decode.as_ref().map(DecodeOptions::lend);
        request.decode = pointer(&decode);
        self.transfer.lend(&mut texts, |transfer| {
            request.transfer = transfer;
            accepted(body(&mut request))
        })
    }
}

impl From<&str> for DownloadRequest {
    fn from(url: &str) -> Self {
        DownloadRequest::new(url)
    }
}

impl From<String> for DownloadRequest {
    fn from(url: String) -> Self {
        DownloadRequest::new(url)
    }
}

impl From<&DownloadRequest> for DownloadRequest {
    fn from(request: &DownloadRequest) -> Self {
        request.clone()
    }
}

impl fmt::Debug for DownloadRequest {
    /// Shows no more, since URL and header fields may contain secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DownloadRequest(…)")
    }
}

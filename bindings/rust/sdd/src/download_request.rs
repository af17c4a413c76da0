//! Downloads: requests for one URL without a loader's cache.

use crate::credential::pointer;
use crate::error::accepted;
use crate::plain::PlainDownloadRequest;
use crate::text::Texts;
use crate::transfer::transfer_setters;
use crate::{sys, DecodeOptions, Error, Options, TransferOptions};
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
    pub(crate) plain: PlainDownloadRequest,
    url: String,
    options: Options,
    method: Option<String>,
    body: Option<Arc<[u8]>>,
    decode: Option<DecodeOptions>,
    transfer: TransferOptions,
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

    /// Sets the form in which the picture is wanted.
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = Some(options);
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
        let mut request: sys::sdd_download_request = self.plain.lend(&mut texts)?;
        request.url = texts.add(&self.url)?;
        request.options = self.options.0;
        request.method = texts.add_optional(&self.method)?;
        if let Some(body) = &self.body {
            (request.body, request.body_size) = (body.as_ptr().cast(), body.len());
        }
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

//! Settings of transfers, which all kinds of requests have in common.

use crate::credential::pointer;
use crate::modifiers::LentModifiers;
use crate::numbers::{clamped, clamped_i32};
use crate::text::Texts;
use crate::{sys, Credential, Error, Modifiers, Redirects};
use std::fmt;
use std::path::PathBuf;

/// How to transfer: for a download, a load, each URL of a prefetch list, and each item of a batch. What is not set is
/// as the downloader says.
///
/// [`DownloadRequest`](crate::DownloadRequest), [`LoadRequest`](crate::LoadRequest),
/// [`PrefetchList`](crate::PrefetchList) and [`BatchBuilder`](crate::BatchBuilder) have the same setters, for one of
/// their own, and `transfer` for one that several of them share.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// use sdd::{Loader, LoadRequest, TransferOptions};
/// use std::time::Duration;
///
/// let transfer = TransferOptions::new().header("X-Number", "7").total_timeout(Duration::from_secs(30));
/// let loader = Loader::without_cache()?;
/// let url = server.url("/echo");
/// let body = loader.load_bytes(LoadRequest::new(&*url).transfer(&transfer)).wait()?;
/// assert!(String::from_utf8_lossy(&body.bytes).contains("X-Number: 7"));
/// for item in loader.batch([url]).transfer(&transfer).header("X-Other", "8").bytes()? {
///     let bytes = item?.outcome?;
///     let text = String::from_utf8_lossy(&bytes);
///     assert!(text.contains("X-Number: 7") && text.contains("X-Other: 8"));
/// }
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct TransferOptions {
    pub(crate) headers: Vec<(String, Option<String>)>,
    pub(crate) referrer: Option<String>,
    pub(crate) queue_timeout: i64,
    pub(crate) connect_timeout: i64,
    pub(crate) first_byte_timeout: i64,
    pub(crate) download_timeout: i64,
    pub(crate) total_timeout: i64,
    pub(crate) accepted_status_codes: Option<String>,
    pub(crate) accepted_content_types: Option<String>,
    pub(crate) credential: Option<Credential>,
    pub(crate) modifiers: Option<Modifiers>,
    pub(crate) max_attempts: u32,
    pub(crate) low_speed: (u64, i64),
    pub(crate) redirects: Redirects,
    pub(crate) max_redirects: u32,
    pub(crate) max_body_bytes: u64,
    pub(crate) ca_file: Option<PathBuf>,
}

impl TransferOptions {
    /// Returns options without any setting.
    pub fn new() -> Self {
        Self::default()
    }

    transfer_setters!();

    /// Passes the options to `body` as a C struct, which lives until `body` returns, with all that it points to. An
    /// error says that the library has not accepted them.
    pub(crate) fn lend<T>(
        &self,
        texts: &mut Texts,
        body: impl FnOnce(&sys::sdd_transfer_options) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let headers = texts.add_headers(&self.headers)?;
        let credential = self.credential.as_ref().map(|credential| credential.lend(texts)).transpose()?;
        let mut lent = sys::sized!(sdd_transfer_options);
        (lent.headers, lent.header_count) = (headers.as_ptr(), headers.len());
        lent.referrer = texts.add_optional(&self.referrer)?;
        lent.credential = pointer(&credential);
        lent.accepted_status_codes = texts.add_optional(&self.accepted_status_codes)?;
        lent.accepted_content_types = texts.add_optional(&self.accepted_content_types)?;
        lent.max_body_bytes = clamped(self.max_body_bytes);
        lent.max_redirects = clamped_i32(self.max_redirects);
        lent.redirects = self.redirects as i32;
        lent.max_attempts = clamped_i32(self.max_attempts);
        lent.ca_file = texts.add_path(self.ca_file.as_deref())?;
        lent.queue_timeout_ms = self.queue_timeout;
        lent.connect_timeout_ms = self.connect_timeout;
        lent.first_byte_timeout_ms = self.first_byte_timeout;
        lent.download_timeout_ms = self.download_timeout;
        lent.total_timeout_ms = self.total_timeout;
        (lent.low_speed_limit, lent.low_speed_time_ms) = (clamped(self.low_speed.0), self.low_speed.1);
        let modifiers = self.modifiers.as_ref().map(Modifiers::lend);
        lent.modifiers = LentModifiers::pointer(&modifiers);
        let accepted = body(&lent);
        if accepted.is_err() {
            LentModifiers::take_back(modifiers);
        }
        accepted
    }
}

impl From<&TransferOptions> for TransferOptions {
    fn from(options: &TransferOptions) -> Self {
        options.clone()
    }
}

impl fmt::Debug for TransferOptions {
    /// Shows no more, since header fields may contain secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TransferOptions(…)")
    }
}

/// Declares the setters of [`TransferOptions`], of a builder that has them as `transfer`, or of themselves.
macro_rules! transfer_setters {
    ($($transfer:ident)?) => {
        $(
            /// Sets how to transfer, in place of all settings of the transfer so far.
            pub fn transfer(mut self, options: impl Into<$crate::TransferOptions>) -> Self {
                self.$transfer = options.into();
                self
            }
        )?

        /// Adds a header field, in place of the downloader's fields of that name. A name that is given more than once
        /// is sent as often.
        pub fn header(mut self, name: &str, value: &str) -> Self {
            self$(.$transfer)?.headers.push((name.into(), Some(value.into())));
            self
        }

        /// Leaves the downloader's header fields of that name out.
        pub fn without_header(mut self, name: &str) -> Self {
            self$(.$transfer)?.headers.push((name.into(), None));
            self
        }

        /// Sets the Referer header field.
        pub fn referrer(mut self, url: &str) -> Self {
            self$(.$transfer)?.referrer = Some(url.into());
            self
        }

        /// Limits the time from submitting to the start of the transfer; `None`: no limit.
        pub fn queue_timeout(mut self, limit: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.queue_timeout = $crate::numbers::milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time for name lookup, connect and TLS; `None`: no limit.
        pub fn connect_timeout(mut self, limit: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.connect_timeout = $crate::numbers::milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time from the request being sent to the first byte of the response; `None`: no limit.
        pub fn first_byte_timeout(mut self, limit: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.first_byte_timeout = $crate::numbers::milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time of all stages together, from submitting to the end; `None`: no limit.
        pub fn total_timeout(mut self, limit: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.total_timeout = $crate::numbers::milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time without a byte; `None`: no limit.
        pub fn download_timeout(mut self, limit: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.download_timeout = $crate::numbers::milliseconds_or_none(limit.into());
            self
        }

        /// Ends a transfer that moves fewer bytes a second than `bytes`, averaged over `time`; `None`: no such limit.
        pub fn low_speed(mut self, bytes: u64, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.low_speed = (bytes, $crate::numbers::milliseconds_or_none(time.into()));
            self
        }

        /// Sets the accepted HTTP status codes: "200-299,304", or "*" for all.
        pub fn accepted_status_codes(mut self, codes: &str) -> Self {
            self$(.$transfer)?.accepted_status_codes = Some(codes.into());
            self
        }

        /// Sets the accepted media types: "image/jpeg,image/png", "image/*", or "*" for all.
        pub fn accepted_content_types(mut self, types: &str) -> Self {
            self$(.$transfer)?.accepted_content_types = Some(types.into());
            self
        }

        /// Sets the credential, in place of the downloader's.
        pub fn credential(mut self, credential: $crate::Credential) -> Self {
            self$(.$transfer)?.credential = Some(credential);
            self
        }

        /// Sets the modifiers; each closure takes the place of the downloader's.
        pub fn modifiers(mut self, modifiers: &$crate::Modifiers) -> Self {
            self$(.$transfer)?.modifiers = Some(modifiers.clone());
            self
        }

        /// Sets the number of transfers for one request, the first included, at most 1000.
        pub fn max_attempts(mut self, count: u32) -> Self {
            self$(.$transfer)?.max_attempts = count;
            self
        }

        /// Says what becomes of redirects.
        pub fn redirects(mut self, redirects: $crate::Redirects) -> Self {
            self$(.$transfer)?.redirects = redirects;
            self
        }

        /// Limits the number of redirects that are followed.
        pub fn max_redirects(mut self, count: u32) -> Self {
            self$(.$transfer)?.max_redirects = count;
            self
        }

        /// Limits the size of the body, in place of the downloader's limit.
        pub fn max_body_bytes(mut self, count: u64) -> Self {
            self$(.$transfer)?.max_body_bytes = count;
            self
        }

        /// Trusts the certificates in a PEM file, in place of the downloader's.
        pub fn ca_file(mut self, file: impl Into<std::path::PathBuf>) -> Self {
            self$(.$transfer)?.ca_file = Some(file.into());
            self
        }
    };
}
pub(crate) use transfer_setters;

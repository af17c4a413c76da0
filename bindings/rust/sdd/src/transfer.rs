//! Settings of transfers, which all kinds of requests have in common.

use crate::credential::pointer;
use crate::modifiers::LentModifiers;
use crate::numbers::clamped;
use crate::plain::PlainTransferOptions;
use crate::text::Texts;
use crate::{sys, Credential, Error, Modifiers};
use std::fmt;

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
    pub(crate) plain: PlainTransferOptions,
    pub(crate) headers: Vec<(String, Option<String>)>,
    pub(crate) credential: Option<Credential>,
    pub(crate) modifiers: Option<Modifiers>,
    pub(crate) low_speed: (u64, i64),
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
        let mut lent: sys::sdd_transfer_options = self.plain.lend(texts)?;
        (lent.headers, lent.header_count) = (headers.as_ptr(), headers.len());
        lent.credential = pointer(&credential);
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

        /// Ends a transfer that moves fewer bytes a second than `bytes`, averaged over `time`; `None`: no such limit.
        pub fn low_speed(mut self, bytes: u64, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.low_speed = (bytes, $crate::numbers::milliseconds_or_none(time.into()));
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

        $crate::plain::plain_transfer_setters!($($transfer)?);
    };
}
pub(crate) use transfer_setters;

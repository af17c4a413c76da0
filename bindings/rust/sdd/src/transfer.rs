//! Settings of a transfer, which downloads and loads have in common.

use crate::numbers::{clamped, clamped_i32};
use crate::text::Texts;
use crate::{sys, Credential, Error, Modifiers, Redirects};
use std::path::PathBuf;

/// Settings of a transfer. 0, "" and `None` stand for the downloader's.
#[derive(Clone, Default)]
pub(crate) struct Transfer {
    pub(crate) headers: Vec<(String, Option<String>)>,
    pub(crate) referrer: Option<String>,
    pub(crate) queue_timeout: i64,
    pub(crate) connect_timeout: i64,
    pub(crate) first_byte_timeout: i64,
    pub(crate) download_timeout: i64,
    pub(crate) accepted_status_codes: Option<String>,
    pub(crate) accepted_content_types: Option<String>,
    pub(crate) credential: Option<Credential>,
    pub(crate) modifiers: Option<Modifiers>,
    pub(crate) integrity: Option<String>,
    pub(crate) expected_bytes: u64,
    pub(crate) max_attempts: u32,
    pub(crate) low_speed: (u64, i64),
    pub(crate) redirects: Redirects,
    pub(crate) max_redirects: u32,
    pub(crate) max_body_bytes: u64,
    pub(crate) ca_file: Option<PathBuf>,
}

impl Transfer {
    /// Fills a C struct, all but headers, credential and modifiers, which the caller keeps.
    pub(crate) fn fill(&self, request: &mut sys::sdd_download_request, texts: &mut Texts) -> Result<(), Error> {
        request.referrer = texts.add_optional(&self.referrer)?;
        request.queue_timeout_ms = self.queue_timeout;
        request.connect_timeout_ms = self.connect_timeout;
        request.first_byte_timeout_ms = self.first_byte_timeout;
        request.download_timeout_ms = self.download_timeout;
        request.accepted_status_codes = texts.add_optional(&self.accepted_status_codes)?;
        request.accepted_content_types = texts.add_optional(&self.accepted_content_types)?;
        request.integrity = texts.add_optional(&self.integrity)?;
        request.expected_bytes = clamped(self.expected_bytes);
        request.max_attempts = clamped_i32(self.max_attempts);
        request.low_speed_limit = clamped(self.low_speed.0);
        request.low_speed_time_ms = self.low_speed.1;
        request.redirects = self.redirects as i32;
        request.max_redirects = clamped_i32(self.max_redirects);
        request.max_body_bytes = clamped(self.max_body_bytes);
        request.ca_file = texts.add_path(self.ca_file.as_deref())?;
        Ok(())
    }
}

/// Declares the setters of a builder that has a `transfer`.
macro_rules! transfer_setters {
    () => {
        /// Adds a header field, in place of the downloader's fields of that name. A name that is given more than once
        /// is sent as often.
        pub fn header(mut self, name: &str, value: &str) -> Self {
            self.transfer.headers.push((name.into(), Some(value.into())));
            self
        }

        /// Removes the downloader's header fields of that name from this request.
        pub fn without_header(mut self, name: &str) -> Self {
            self.transfer.headers.push((name.into(), None));
            self
        }

        /// Sets the Referer header field.
        pub fn referrer(mut self, url: &str) -> Self {
            self.transfer.referrer = Some(url.into());
            self
        }

        /// Limits the time from submitting to the start of the transfer; `None`: no limit.
        pub fn queue_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
            self.transfer.queue_timeout = milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time for name lookup, connect and TLS; `None`: no limit.
        pub fn connect_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
            self.transfer.connect_timeout = milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time from the request being sent to the first byte of the response; `None`: no limit.
        pub fn first_byte_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
            self.transfer.first_byte_timeout = milliseconds_or_none(limit.into());
            self
        }

        /// Limits the time without a byte; `None`: no limit.
        pub fn download_timeout(mut self, limit: impl Into<Option<Duration>>) -> Self {
            self.transfer.download_timeout = milliseconds_or_none(limit.into());
            self
        }

        /// Ends a transfer that moves fewer bytes a second than `bytes`, averaged over `time`; `None`: no such limit.
        pub fn low_speed(mut self, bytes: u64, time: impl Into<Option<Duration>>) -> Self {
            self.transfer.low_speed = (bytes, milliseconds_or_none(time.into()));
            self
        }

        /// Sets the accepted HTTP status codes: "200-299,304", or "*" for all.
        pub fn accepted_status_codes(mut self, codes: &str) -> Self {
            self.transfer.accepted_status_codes = Some(codes.into());
            self
        }

        /// Sets the accepted media types: "image/jpeg,image/png", "image/*", or "*" for all.
        pub fn accepted_content_types(mut self, types: &str) -> Self {
            self.transfer.accepted_content_types = Some(types.into());
            self
        }

        /// Sets the credential, in place of the downloader's.
        pub fn credential(mut self, credential: Credential) -> Self {
            self.transfer.credential = Some(credential);
            self
        }

        /// Sets the modifiers; each closure takes the place of the downloader's.
        pub fn modifiers(mut self, modifiers: &Modifiers) -> Self {
            self.transfer.modifiers = Some(modifiers.clone());
            self
        }

        /// Requires a SHA-256 of the body: "sha256-" and base64 or 64 hexadecimal digits.
        pub fn integrity(mut self, hash: &str) -> Self {
            self.transfer.integrity = Some(hash.into());
            self
        }

        /// Requires a size of the body.
        pub fn expected_bytes(mut self, count: u64) -> Self {
            self.transfer.expected_bytes = count;
            self
        }

        /// Sets the number of transfers for this request, the first included, at most 1000.
        pub fn max_attempts(mut self, count: u32) -> Self {
            self.transfer.max_attempts = count;
            self
        }

        /// Says what becomes of redirects.
        pub fn redirects(mut self, redirects: Redirects) -> Self {
            self.transfer.redirects = redirects;
            self
        }

        /// Limits the number of redirects that are followed.
        pub fn max_redirects(mut self, count: u32) -> Self {
            self.transfer.max_redirects = count;
            self
        }

        /// Limits the size of the body, in place of the downloader's limit.
        pub fn max_body_bytes(mut self, count: u64) -> Self {
            self.transfer.max_body_bytes = count;
            self
        }

        /// Trusts the certificates in a PEM file, in place of the downloader's.
        pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
            self.transfer.ca_file = Some(file.into());
            self
        }
    };
}
pub(crate) use transfer_setters;

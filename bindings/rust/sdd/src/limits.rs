//! Limits on the time, size and decoding of requests.

use crate::numbers::{clamped, clamped_i32, milliseconds, milliseconds_or_none};
use crate::sys;
use std::time::Duration;

/// Limits of all requests of a downloader. What is not set has the library's default.
///
/// ```
/// let limits = sdd::Limits::new().max_pixels(64 << 20).max_body_bytes(32 << 20);
/// # let _ = sdd::Downloader::builder().limits(limits).build()?;
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Limits(sys::sdd_limits);

impl Limits {
    /// Returns the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the time from submitting to the start of the transfer; without limit by default.
    pub fn queue_timeout(mut self, limit: Duration) -> Self {
        self.0.queue_timeout_ms = milliseconds(limit);
        self
    }

    /// Limits the time for name lookup, connect and TLS; by default like the time without a byte.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.0.connect_timeout_ms = milliseconds(limit);
        self
    }

    /// Limits the time from the request being sent to the first byte of the response; without limit by default.
    pub fn first_byte_timeout(mut self, limit: Duration) -> Self {
        self.0.first_byte_timeout_ms = milliseconds(limit);
        self
    }

    /// Limits the time without a byte; 15 seconds by default.
    pub fn download_timeout(mut self, limit: Duration) -> Self {
        self.0.download_timeout_ms = milliseconds(limit);
        self
    }

    /// Limits the time from submitting to the end; without limit by default.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.0.total_timeout_ms = milliseconds(limit);
        self
    }

    /// Ends transfers that move fewer bytes a second, averaged over a time; 100 bytes over 60 seconds by default.
    /// `None`: no such limit.
    pub fn low_speed(mut self, bytes: u64, time: impl Into<Option<Duration>>) -> Self {
        (self.0.low_speed_limit, self.0.low_speed_time_ms) = (clamped(bytes), milliseconds_or_none(time.into()));
        self
    }

    /// Limits the size of a body after unpacking; 64 MiB by default.
    pub fn max_body_bytes(mut self, bytes: u64) -> Self {
        self.0.max_body_bytes = clamped(bytes);
        self
    }

    /// Limits the header of all responses of a request, in bytes and lines; 256 KiB and 1000 by default.
    pub fn max_header(mut self, bytes: u64, lines: u32) -> Self {
        (self.0.max_header_bytes, self.0.max_header_count) = (clamped(bytes), clamped_i32(lines));
        self
    }

    /// Limits the scans of a progressive JPEG; 500 by default.
    pub fn max_scans(mut self, count: u32) -> Self {
        self.0.max_scans = clamped_i32(count);
        self
    }

    /// Limits width times height; 134,217,728 by default.
    pub fn max_pixels(mut self, count: u64) -> Self {
        self.0.max_pixels = clamped(count);
        self
    }

    /// Limits the processor time for one picture, and the time added for each MiB of its body; 5 seconds and 1 second
    /// by default. `None`: no limit, and no added time.
    pub fn decode_time(mut self, time: Option<Duration>, per_mib: Option<Duration>) -> Self {
        self.0.decode_time_ms = milliseconds_or_none(time);
        self.0.decode_time_ms_per_mib = milliseconds_or_none(per_mib);
        self
    }

    /// Limits the memory for one picture while it is decoded; 1 GiB by default. `None`: no limit.
    pub fn max_decode_bytes(mut self, bytes: Option<u64>) -> Self {
        self.0.max_decode_bytes = bytes.map_or(-1, clamped);
        self
    }

    /// Limits the memory for a picture of over 128 MiB, as a multiple of its body's size; 512 by default. `None`: no
    /// limit.
    pub fn max_decode_ratio(mut self, ratio: Option<u64>) -> Self {
        self.0.max_decode_ratio = ratio.map_or(-1, clamped);
        self
    }

    pub(crate) fn lend(&self) -> sys::sdd_limits {
        sys::sdd_limits { struct_size: std::mem::size_of::<sys::sdd_limits>(), ..self.0 }
    }
}

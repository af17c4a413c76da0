//! Limits on the time, size and decoding of requests.

use crate::numbers::{clamped, clamped_i32, milliseconds_or_none};
use crate::plain::PlainLimits;
use std::time::Duration;

/// Limits of all requests of a downloader. What is not set has the library's default.
///
/// ```
/// let limits = sdd::Limits::new().max_pixels(64 << 20).max_body_bytes(32 << 20);
/// # let _ = sdd::Downloader::builder().limits(limits).build()?;
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Limits {
    pub(crate) plain: PlainLimits,
}

impl Limits {
    /// Returns the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends transfers that move fewer bytes a second, averaged over a time; 100 bytes over 60 seconds by default.
    /// `None`: no such limit.
    pub fn low_speed(mut self, bytes: u64, time: impl Into<Option<Duration>>) -> Self {
        (self.plain.c.low_speed_limit, self.plain.c.low_speed_time_ms) =
            (clamped(bytes), milliseconds_or_none(time.into()));
        self
    }

    /// Limits the header of all responses of a request, in bytes and lines; 256 KiB and 1000 by default.
    pub fn max_header(mut self, bytes: u64, lines: u32) -> Self {
        (self.plain.c.max_header_bytes, self.plain.c.max_header_count) = (clamped(bytes), clamped_i32(lines));
        self
    }

    /// Limits the processor time for one picture, and the time added for each MiB of its body; 5 seconds and 1 second
    /// by default. `None`: no limit, and no added time.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let limits = sdd::Limits::new().decode_time(Some(Duration::from_secs(1)), None);
    /// # let _ = sdd::Downloader::builder().limits(limits).build()?;
    /// # let endless = sdd::Limits::new().decode_time(None, None);
    /// # let _ = sdd::Downloader::builder().limits(endless).build()?;
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn decode_time(mut self, time: Option<Duration>, per_mib: Option<Duration>) -> Self {
        self.plain.c.decode_time_ms = milliseconds_or_none(time);
        self.plain.c.decode_time_ms_per_mib = milliseconds_or_none(per_mib);
        self
    }
}

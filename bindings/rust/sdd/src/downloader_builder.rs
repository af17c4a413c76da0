//! The configuration of a downloader.

use crate::downloader::Kept;
use crate::error::check;
use crate::modifiers::LentModifiers;
use crate::numbers::{clamped, clamped_i32, milliseconds};
use crate::plain::PlainDownloaderConfig;
use crate::text::Texts;
use crate::{sys, Cache, Credential, Delivery, Downloader, Error, Limits, Modifiers, Network};
use std::ptr;
use std::time::Duration;

/// The settings of a downloader to be created. What is not set has the library's default.
///
/// ```
/// use sdd::{Downloader, Limits, Network};
/// use std::time::Duration;
///
/// let downloader = Downloader::builder()
///     .max_concurrent_downloads(12)
///     .limits(Limits::new().max_body_bytes(16 << 20).total_timeout(Duration::from_secs(60)))
///     .network(Network::new().public_addresses_only(&["intranet:8080"]))
///     .retries(3)
///     .build()?;
/// # drop(downloader);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "build() creates the downloader"]
pub struct DownloaderBuilder {
    pub(crate) plain: PlainDownloaderConfig,
    delivery: Delivery,
    credential: Option<Credential>,
    modifiers: Option<Modifiers>,
    cache: Option<Cache>,
    decode_mode: sys::sdd_decode_mode,
    min_progress: (f64, i64),
    min_preview: (i64, u64, u32),
    network: Network,
    limits: Limits,
    retry: sys::sdd_retry_options,
}

impl DownloaderBuilder {
    /// Sets where closures are called and tasks are woken.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Sets the credential of requests without one of their own, whatever their host.
    pub fn credential(mut self, credential: Credential) -> Self {
        self.credential = Some(credential);
        self
    }

    /// Sets the modifiers of requests without modifiers of their own.
    pub fn modifiers(mut self, modifiers: &Modifiers) -> Self {
        self.modifiers = Some(modifiers.clone());
        self
    }

    /// Sets the cache of the HTTP cache and of resumed downloads; the default is the shared one.
    pub fn cache(mut self, cache: &Cache) -> Self {
        self.cache = Some(cache.clone());
        self
    }

    /// Decodes pictures in processes of their own, which have no files and no network: `SDD_DECODE_ISOLATED`. A fault of
    /// a decoder then ends one request, not the program. [`build()`](Self::build) fails if the program sdd-decoder is
    /// not installed with the library.
    pub fn isolated_decoding(mut self) -> Self {
        self.decode_mode = sys::SDD_DECODE_ISOLATED as _;
        self
    }

    /// Decodes all pictures in this process, also those that are programs, like SVG, which otherwise are decoded in
    /// processes of their own: `SDD_DECODE_ALL_IN_PROCESS`.
    pub fn all_decoding_in_process(mut self) -> Self {
        self.decode_mode = sys::SDD_DECODE_ALL_IN_PROCESS as _;
        self
    }

    /// Thins out progress: no report before this fraction of the body, and this time, have passed since the last.
    pub fn min_progress_fraction(mut self, fraction: f64, time: Duration) -> Self {
        self.min_progress = (fraction, milliseconds(time));
        self
    }

    /// Thins out previews: none before this time, these bytes, and these scans have passed since the last.
    pub fn min_preview_interval(mut self, time: Duration, bytes: u64, scans: u32) -> Self {
        self.min_preview = (if time.is_zero() { -1 } else { milliseconds(time) }, bytes, scans);
        self
    }

    /// Sets how connections are made.
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets limits on time, size and decoding.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the number of transfers for one request, the first included; the default is 1. A load has at least
    /// 2, also with 1 here, unless it has a [`max_attempts`](crate::LoadRequest::max_attempts) of its own.
    pub fn retries(mut self, max_attempts: u32) -> Self {
        self.retry.max_attempts = clamped_i32(max_attempts);
        self
    }

    /// Sets the retries that are available for each host and port, 10 by default; `None`: no limit.
    pub fn retry_budget(mut self, budget: Option<u32>) -> Self {
        self.retry.budget = budget.map_or(-1, clamped_i32);
        self
    }

    /// Sets the delay before the second transfer, and the longest delay.
    pub fn retry_delay(mut self, delay: Duration, longest: Duration) -> Self {
        (self.retry.delay_ms, self.retry.max_delay_ms) = (milliseconds(delay), milliseconds(longest));
        self
    }

    /// Creates the downloader, with threads of its own.
    pub fn build(&self) -> Result<Downloader, Error> {
        let mut texts = Texts::default();
        let callbacks = sys::sdd_callback_options {
            min_progress_fraction: self.min_progress.0,
            min_progress_interval_ms: self.min_progress.1,
            min_preview_interval_ms: self.min_preview.0,
            min_preview_bytes: clamped(self.min_preview.1),
            min_preview_scans: self.min_preview.2.into(),
            ..sys::sized!(sdd_callback_options)
        };
        let retry = sys::sdd_retry_options { struct_size: std::mem::size_of::<sys::sdd_retry_options>(), ..self.retry };
        let credential = self.credential.as_ref().map(|credential| credential.lend(&mut texts)).transpose()?;
        let limits = self.limits.plain.lend();
        let mut config: sys::sdd_downloader_config = self.plain.lend(&mut texts)?;
        config.delivery = self.delivery as i32;
        config.credential = crate::credential::pointer(&credential);
        config.cache = self.cache.as_ref().map_or(ptr::null_mut(), Cache::raw);
        config.decode_mode = self.decode_mode;
        (config.callbacks, config.limits, config.retry) = (&callbacks, &limits, &retry);
        self.network.lend(&mut texts, |network| {
            config.network = network;
            self.create(&mut config)
        })
    }

    fn create(&self, config: &mut sys::sdd_downloader_config) -> Result<Downloader, Error> {
        let modifiers = self.modifiers.as_ref().map(Modifiers::lend);
        config.modifiers = LentModifiers::pointer(&modifiers);
        let mut handle = ptr::null_mut();
        // SAFETY: the config is copied, with all that it points to; on success the handle is ours.
        match check(unsafe { sys::sdd_downloader_create(config, &mut handle) }) {
            Ok(()) => Downloader::owning(handle, Kept { delivery: self.delivery, _cache: self.cache.clone() }),
            Err(error) => {
                LentModifiers::take_back(modifiers);
                Err(error)
            }
        }
    }
}

//! Enums for the numbers of the C header, and option bits.

use crate::sys;
use std::ops::{BitOr, BitOrAssign};
use std::time::Duration;

/// Declares an enum whose values are numbers of the header.
macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident: $default:ident { $($(#[$item_doc:meta])* $item:ident = $number:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(i32)]
        pub enum $name { $($(#[$item_doc])* $item = sys::$number,)* }

        impl Default for $name {
            fn default() -> Self {
                $name::$default
            }
        }

        impl $name {
            /// Returns `None` for a number that this version does not know.
            #[allow(dead_code)] // some are only given to the library
            pub(crate) fn of(number: i32) -> Option<Self> {
                match number {
                    $(sys::$number => Some($name::$item),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use numbers;

numbers! {
    /// The stage at which a request failed.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let error = sdd::Downloader::shared().download(server.url("/missing")).wait().unwrap_err();
    /// assert_eq!(error.failure().stage, sdd::Stage::Response);
    /// ```
    Stage: None {
        /// It did not fail.
        None = SDD_STAGE_NONE,
        /// The submitting call.
        Submit = SDD_STAGE_SUBMIT,
        /// Waiting for its turn, or for a cache.
        Queue = SDD_STAGE_QUEUE,
        /// Name lookup, connect, TLS.
        Connect = SDD_STAGE_CONNECT,
        /// Sent, with the response header not yet complete.
        Response = SDD_STAGE_RESPONSE,
        /// Receiving the body.
        Body = SDD_STAGE_BODY,
        /// The body is complete: modifiers, decoding.
        Decode = SDD_STAGE_DECODE,
    }
}

numbers! {
    /// Where a result comes from.
    ///
    /// ```
    /// let loader = sdd::Loader::without_cache()?;
    /// assert_eq!(loader.load_bytes("data:,text").wait()?.report.origin, sdd::Origin::Network);
    /// let error = loader.load("data:,text").wait().unwrap_err();
    /// assert_eq!(error.failure().report.as_ref().unwrap().origin, sdd::Origin::None);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Origin: None {
        /// The request has failed.
        None = SDD_ORIGIN_NONE,
        /// The network, a `data:` URL, or a transport of the application.
        Network = SDD_ORIGIN_NETWORK,
        /// A cache's memory.
        Memory = SDD_ORIGIN_MEMORY,
        /// A cache's disk, whatever HTTP's rules say about freshness.
        Disk = SDD_ORIGIN_DISK,
        /// The HTTP cache, without asking the server.
        HttpFresh = SDD_ORIGIN_HTTP_FRESH,
        /// The HTTP cache, after the server confirmed it.
        HttpRevalidated = SDD_ORIGIN_HTTP_REVALIDATED,
        /// The HTTP cache, although stale.
        HttpStale = SDD_ORIGIN_HTTP_STALE,
    }
}

numbers! {
    /// The urgency of a request.
    ///
    /// ```
    /// use sdd::{LoadRequest, Priority};
    ///
    /// let urgent = LoadRequest::new("https://example.org/a.jpg").priority(Priority::VeryHigh);
    /// assert!(Priority::VeryHigh > Priority::Normal);
    /// # let _ = urgent;
    /// ```
    Priority: Default {
        /// `Normal`; in a prefetch list `VeryLow`.
        Default = SDD_PRIORITY_DEFAULT,
        /// After all others.
        VeryLow = SDD_PRIORITY_VERY_LOW,
        /// After normal requests.
        Low = SDD_PRIORITY_LOW,
        /// In the middle.
        Normal = SDD_PRIORITY_NORMAL,
        /// Before normal requests.
        High = SDD_PRIORITY_HIGH,
        /// Before all others.
        VeryHigh = SDD_PRIORITY_VERY_HIGH,
    }
}

numbers! {
    /// What becomes of redirects.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// use sdd::{DownloadRequest, Redirects};
    ///
    /// let request = DownloadRequest::new(server.url("/a.png")).redirects(Redirects::Refuse);
    /// assert!(sdd::Downloader::shared().download(request).wait().is_ok()); // it was no redirect
    /// ```
    Redirects: Follow {
        /// Followed, up to the greatest number allowed.
        Follow = SDD_REDIRECT_FOLLOW,
        /// Delivered like any other response.
        HandOut = SDD_REDIRECT_HAND_OUT,
        /// Refused: the request fails with [`Status::REDIRECT_REFUSED`](crate::Status::REDIRECT_REFUSED).
        Refuse = SDD_REDIRECT_REFUSE,
    }
}

numbers! {
    /// Levels of a cache.
    ///
    /// ```
    /// use sdd::{Cache, Levels, Query};
    ///
    /// let cache = Cache::builder().levels(Levels::Memory).build()?;
    /// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[1], 1)?;
    /// cache.store(&sdd::CacheItem::new("key").image(&image))?;
    /// assert_eq!(cache.contains("key", Levels::All), Levels::Memory);
    /// assert!(cache.query(Query::new("key").levels(Levels::Disk))?.is_none());
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Levels: All {
        /// Neither memory nor disk; for loads.
        None = SDD_CACHE_NONE,
        /// Memory alone.
        Memory = SDD_CACHE_MEMORY,
        /// Disk alone.
        Disk = SDD_CACHE_DISK,
        /// Memory and disk.
        All = SDD_CACHE_ALL,
    }
}

/// Option bits of requests, combined with `|`.
///
/// A request with a bit that has no meaning for it fails; no bit is ignored. The letters say where a bit has a
/// meaning: D downloads, and batches of a downloader, L loads, P prefetch lists, B batches of a loader; without letters
/// everywhere, also in cache queries. The header `sdd/request.h` describes each.
///
/// ```
/// use sdd::{LoadRequest, Options};
///
/// let request = LoadRequest::new("https://example.org/a.jpg").options(Options::RETRY_FAILED | Options::RESUME);
/// # let _ = request;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options(pub(crate) u64);

impl BitOr for Options {
    type Output = Options;

    fn bitor(self, other: Options) -> Options {
        Options(self.0 | other.0)
    }
}

impl BitOrAssign for Options {
    fn bitor_assign(&mut self, other: Options) {
        self.0 |= other.0;
    }
}

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident = $number:ident;)*) => {
        impl Options {
            $($(#[$doc])* pub const $name: Options = Options(sys::$number);)*
        }
    };
}

options! {
    /// D L P B: sends and keeps the downloader's cookies.
    HANDLE_COOKIES = SDD_OPTION_HANDLE_COOKIES;
    /// D L P B: accepts any certificate from the servers of this request.
    ALLOW_INVALID_SSL_CERTIFICATES = SDD_OPTION_ALLOW_INVALID_SSL_CERTIFICATES;
    /// D L P B: continues during the grace time of [`Downloader::enter_background`](crate::Downloader::enter_background).
    CONTINUE_IN_BACKGROUND = SDD_OPTION_CONTINUE_IN_BACKGROUND;
    /// D L P B: keeps the received part of a body that breaks off in the cache, and continues there.
    RESUME = SDD_OPTION_RESUME;
    /// D L P B: the transfer may stop when the picture is complete at the wanted size.
    STOP_WHEN_COMPLETE = SDD_OPTION_STOP_WHEN_COMPLETE;
    /// The pixels are decoded when they are first used.
    AVOID_DECODE_IMAGE = SDD_OPTION_AVOID_DECODE_IMAGE;
    /// Makes a still picture of an animated one.
    DECODE_FIRST_FRAME_ONLY = SDD_OPTION_DECODE_FIRST_FRAME_ONLY;
    /// Decodes all frames before the request ends.
    PRELOAD_ALL_FRAMES = SDD_OPTION_PRELOAD_ALL_FRAMES;
    /// L P B: transforms animated pictures too, which makes them still.
    TRANSFORM_ANIMATED_IMAGE = SDD_OPTION_TRANSFORM_ANIMATED_IMAGE;
    /// D L P B: follows the rules of HTTP caches, RFC 9111.
    USE_HTTP_CACHE = SDD_OPTION_USE_HTTP_CACHE;
    /// D, with `USE_HTTP_CACHE`: fails with `NOT_MODIFIED` if the HTTP cache's entry is still valid.
    IGNORE_CACHED_RESPONSE = SDD_OPTION_IGNORE_CACHED_RESPONSE;
    /// L P B: loads the URL although it failed recently.
    RETRY_FAILED = SDD_OPTION_RETRY_FAILED;
    /// L P B: delivers the cached picture at once, and asks the server whether it is still valid.
    REFRESH_CACHED = SDD_OPTION_REFRESH_CACHED;
    /// L P B: never uses the network.
    FROM_CACHE_ONLY = SDD_OPTION_FROM_CACHE_ONLY;
    /// L P B: does not read the cache, but stores what arrives.
    FROM_LOADER_ONLY = SDD_OPTION_FROM_LOADER_ONLY;
    /// L P B: ends when its entries are on disk.
    WAIT_STORE_CACHE = SDD_OPTION_WAIT_STORE_CACHE;
    /// L: for a picture in memory, also reads its encoded bytes from disk.
    QUERY_MEMORY_DATA = SDD_OPTION_QUERY_MEMORY_DATA;
    /// D L P B: leaves the body as the server sends it, packed or not.
    BODY_AS_SENT = SDD_OPTION_BODY_AS_SENT;
}

/// Returns whole milliseconds, rounded up, and at least 1, since 0 stands for the default in C. A longer time than C has
/// for a limit, some 34 years, counts as that.
pub(crate) fn milliseconds(time: Duration) -> i64 {
    i64::try_from((time.as_nanos() + 999_999) / 1_000_000).map_or(1 << 40, |time| time.clamp(1, 1 << 40))
}

/// A limit of the application, or `None` for no limit.
pub(crate) fn milliseconds_or_none(limit: Option<Duration>) -> i64 {
    limit.map_or(-1, milliseconds)
}

pub(crate) fn microseconds(time: i64) -> Duration {
    Duration::from_micros(u64::try_from(time).unwrap_or(0))
}

/// A number for a field of C; one that is too large is refused there, by its range.
pub(crate) fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn clamped_i32(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

//! Counts: of downloaders, caches and the process.

use crate::error::check;
use crate::{sys, Cache, Downloader, Error};

/// The type of a number: `i64` unless it is named.
macro_rules! type_of_count {
    () => {
        i64
    };
    ($type:ty) => {
        $type
    };
}

/// Declares a struct of counts, which a C struct has under the same names.
macro_rules! counts {
    ($(#[$doc:meta])* $name:ident from $struct:ident { $($(#[$field_doc:meta])* $field:ident $(: $type:ty)?,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name { $($(#[$field_doc])* pub $field: type_of_count!($($type)?),)* }

        impl $name {
            fn read(counts: &sys::$struct) -> Self {
                $name { $($field: counts.$field,)* }
            }
        }
    };
}

counts! {
    /// Counts of a downloader since its creation, and its state now: [`Downloader::statistics`].
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let downloader = sdd::Downloader::new()?;
    /// downloader.download(server.url("/a.png")).wait()?;
    /// let statistics = downloader.statistics()?;
    /// assert_eq!((statistics.transfers_started, statistics.images_decoded), (1, 1));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Statistics from sdd_statistics {
        /// Accepted requests.
        requests,
        /// Accepted requests that joined an existing transfer.
        requests_joined,
        /// Requests that succeeded.
        requests_succeeded,
        /// Requests that failed.
        requests_failed,
        /// Requests that were cancelled.
        requests_cancelled,
        /// Transfers that were started.
        transfers_started,
        /// Transfers whose body arrived whole.
        transfers_succeeded,
        /// Connections that were opened.
        connections_opened,
        /// Bytes sent.
        request_bytes,
        /// Header bytes received.
        response_header_bytes,
        /// Body bytes received, still packed.
        response_body_bytes,
        /// Body bytes after unpacking.
        body_bytes,
        /// Pictures that were decoded.
        images_decoded,
        /// Microseconds that decode threads have spent decoding.
        decode_us,
        /// Now: transfers in the queue.
        waiting,
        /// Now: transfers on the network.
        running,
        /// Now: transfers being decoded, or waiting for it.
        decoding,
        /// Now: bytes of bodies on the network.
        receiving_bytes,
        /// Now: bytes of bodies that wait to be decoded.
        waiting_bytes,
        /// Now: bytes of results whose callback has not begun.
        undelivered_bytes,
        /// Now: bytes of pictures that are being decoded or not yet delivered.
        decode_memory_bytes,
    }
}

counts! {
    /// Counts of a cache since its creation, and its contents now: [`Cache::statistics`].
    ///
    /// ```
    /// let cache = sdd::Cache::builder().levels(sdd::Levels::Memory).build()?;
    /// assert!(cache.query("key")?.is_none());
    /// assert_eq!(cache.statistics()?.memory_misses, 1);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    CacheStatistics from sdd_cache_statistics {
        /// Queries that memory answered.
        memory_hits,
        /// Queries that memory did not answer.
        memory_misses,
        /// Queries that the disk answered.
        disk_hits,
        /// Queries that the disk did not answer.
        disk_misses,
        /// Bytes of bodies that were read.
        disk_read_bytes,
        /// Bytes that were written.
        disk_written_bytes,
        /// Entries that were written.
        entries_written,
        /// Entries that were found damaged, and removed.
        entries_damaged,
        /// System calls that failed.
        errors,
        /// Trims by this process.
        trims,
        /// Entries that trims removed.
        entries_trimmed,
        /// Bytes that trims removed.
        trimmed_bytes,
        /// Pictures that memory evicted.
        memory_evictions,
        /// Requests that a fresh response answered.
        http_fresh,
        /// Requests that a revalidated response answered.
        http_revalidated,
        /// Requests that a stale response answered.
        http_stale,
        /// Requests for which the HTTP cache had nothing.
        http_misses,
        /// Successful waits for another process's download.
        shared_downloads,
        /// Downloads that were continued.
        resumed_downloads,
        /// Bytes that earlier, broken downloads had left.
        resumed_bytes,
        /// Now: bytes in memory.
        memory_cost,
        /// Now: pictures in memory.
        memory_count,
        /// The limit on bytes in memory; -1: none.
        max_memory_cost,
        /// Now: bytes on disk, of all processes.
        disk_bytes,
        /// Now: entries on disk.
        disk_count,
        /// Entries that were dropped and not written.
        writes_dropped,
        /// Now: bytes of entries that wait to be written.
        queued_bytes,
        /// The `errno` of the last system call that failed; 0: none.
        last_error: i32,
    }
}

counts! {
    /// Objects that exist in the process now, whichever code made or holds them.
    ///
    /// ```
    /// let before = sdd::ProcessStatistics::now()?.images;
    /// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[0], 1)?;
    /// assert_eq!(sdd::ProcessStatistics::now()?.images, before + 1);
    /// drop(image);
    /// assert_eq!(sdd::ProcessStatistics::now()?.images, before);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    ProcessStatistics from sdd_process_statistics {
        /// Images, those in caches and results included.
        images,
        /// Bytes of pixels.
        pixel_bytes,
        /// Byte buffers.
        bytes_objects,
        /// Bytes that they hold.
        bytes_bytes,
        /// Prefetch lists that have not ended.
        prefetch_lists,
    }
}

impl ProcessStatistics {
    /// Reads the counts, at little cost.
    pub fn now() -> Result<Self, Error> {
        let mut counts = sys::sized!(sdd_process_statistics);
        check(unsafe { sys::sdd_process_get_statistics(&mut counts) })?; // SAFETY: filled as struct_size says
        Ok(Self::read(&counts))
    }
}

impl Downloader {
    /// Reads the counts of this downloader.
    pub fn statistics(&self) -> Result<Statistics, Error> {
        let mut counts = sys::sized!(sdd_statistics);
        // SAFETY: filled as struct_size says.
        check(unsafe { sys::sdd_downloader_get_statistics(self.raw(), &mut counts) })?;
        Ok(Statistics::read(&counts))
    }
}

impl Cache {
    /// Reads the counts of this cache. Waits for the disk.
    pub fn statistics(&self) -> Result<CacheStatistics, Error> {
        let mut counts = sys::sized!(sdd_cache_statistics);
        // SAFETY: filled as struct_size says.
        check(unsafe { sys::sdd_cache_get_statistics_wait(self.raw(), &mut counts) })?;
        Ok(CacheStatistics::read(&counts))
    }
}

/// Limits the memory of all pictures in the process that are being decoded or wait to be delivered; 0 for the default,
/// 192 MiB. Nothing fails for it: bodies wait for room.
///
/// ```
/// sdd::set_decode_memory_limit(64 << 20)?;
/// # sdd::set_decode_memory_limit(0)?;
/// # Ok::<(), sdd::Error>(())
/// ```
pub fn set_decode_memory_limit(bytes: u64) -> Result<(), Error> {
    let bytes = crate::numbers::clamped(bytes);
    check(unsafe { sys::sdd_process_set_decode_memory_limit(bytes) }) // SAFETY: any number is allowed
}

//! Caches: decoded pictures in memory, encoded ones on disk.

use crate::border::outside_callbacks;
use crate::error::check;
use crate::numbers::{clamped, milliseconds_or_none, numbers};
use crate::request::Owner;
use crate::text::{c_string, path_text, Texts};
use crate::{sys, text, CacheBuilder, DecodeOptions, Error, Image, Levels, Transform};
use std::fmt;
use std::fs::File;
use std::os::unix::io::FromRawFd;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Duration;

numbers! {
    /// How much [`Cache::trim_memory`] removes.
    ///
    /// ```
    /// let cache = sdd::Cache::builder().levels(sdd::Levels::Memory).build()?;
    /// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[1], 1)?;
    /// cache.store(&sdd::CacheItem::new("key").image(&image))?;
    /// drop(image);
    /// cache.trim_memory(sdd::Trim::All)?;
    /// assert!(cache.memory_image("key").is_none());
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Trim: Half {
        /// The half that was used longest ago.
        Half = SDD_TRIM_HALF,
        /// All; pictures that the application holds are still found.
        All = SDD_TRIM_ALL,
    }
}

/// A cache of pictures: decoded in memory, encoded on disk, in a directory that several processes may share. Its clones
/// are the same cache.
///
/// Dropping the last clone writes all stored entries, and waits for that. Inside a callback of the library it does not
/// wait: a thread of its own does.
///
/// ```
/// use sdd::{Cache, CacheItem, Image, Levels, PixelFormat};
///
/// # let directory = std::env::temp_dir().join(format!("sdd-cache-{}", std::process::id()));
/// let cache = Cache::builder().directory(&directory).build()?;
/// let image = Image::from_pixels(2, 2, PixelFormat::Grey8, &[1, 2, 3, 4], 2)?;
/// cache.store(&CacheItem::new("key").image(&image))?;
/// let picture = cache.query("key")?.expect("it was stored");
/// assert_eq!(picture.image.width(), 2);
/// assert_eq!(cache.statistics()?.memory_hits, 1);
/// cache.remove("key", Levels::All)?;
/// assert!(cache.query("key")?.is_none());
/// # drop(cache);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone)]
pub struct Cache(Option<Arc<Handle>>); // None: the shared one

/// A handle that is destroyed with its last reference.
struct Handle(NonNull<sys::sdd_cache>);

// SAFETY: a handle, never an address; the header allows every call on any thread.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        let end = End(self.0.as_ptr());
        outside_callbacks(move || end.destroy());
    }
}

/// A handle to be destroyed.
struct End(*mut sys::sdd_cache);

// SAFETY: as for Handle.
unsafe impl Send for End {}

impl End {
    fn destroy(&self) {
        unsafe { sys::sdd_cache_destroy(self.0) }; // SAFETY: any handle is allowed
    }
}

impl Cache {
    /// Returns the settings of a cache to be opened.
    pub fn builder() -> CacheBuilder {
        CacheBuilder::default()
    }

    /// Returns the cache that all parts of the process share, in `~/.cache/sdd/default`. It is opened on first use, and
    /// lives as long as the process.
    pub fn shared() -> Self {
        Cache(None)
    }

    pub(crate) fn owning(handle: *mut sys::sdd_cache) -> Result<Self, Error> {
        let handle = NonNull::new(handle).ok_or_else(|| Error::of_status(sys::SDD_ERROR_NO_RESOURCES))?;
        Ok(Cache(Some(Arc::new(Handle(handle)))))
    }

    /// NULL for the shared one.
    pub(crate) fn raw(&self) -> *mut sys::sdd_cache {
        self.0.as_ref().map_or(ptr::null_mut(), |handle| handle.0.as_ptr())
    }

    pub(crate) fn owner(&self) -> Owner {
        self.0.clone().map(|handle| handle as _)
    }

    // Entries.

    /// Returns the picture that memory has under a key, at once; or that the application still holds.
    pub fn memory_image(&self, key: &str) -> Option<Image> {
        let key = c_string(key).ok()?;
        unsafe { Image::owned(sys::sdd_cache_memory_image(self.raw(), key.as_ptr())) }
        // SAFETY: ours, if there is one
    }

    /// Returns the levels among `levels` that have an entry of exactly this key. Waits for the disk.
    pub fn contains(&self, key: &str, levels: Levels) -> Levels {
        let found = c_string(key).map_or(0, |key| {
            // SAFETY: the key is read before the call returns.
            unsafe { sys::sdd_cache_contains_wait(self.raw(), key.as_ptr(), levels as i32) }
        });
        if found == 0 {
            Levels::None
        } else {
            Levels::of(found).unwrap_or(Levels::None)
        }
    }

    /// Removes the entry of a key; no error if there is none. If the disk is among the levels, waits for it.
    pub fn remove(&self, key: &str, levels: Levels) -> Result<(), Error> {
        let key = c_string(key)?;
        // SAFETY: the key is read before the call returns.
        check(unsafe { sys::sdd_cache_remove_wait(self.raw(), key.as_ptr(), levels as i32) })
    }

    /// Removes all entries. If the disk is among the levels, waits for it.
    pub fn clear(&self, levels: Levels) -> Result<(), Error> {
        check(unsafe { sys::sdd_cache_clear_wait(self.raw(), levels as i32) }) // SAFETY: any handle is allowed
    }

    /// Opens the file of a key, and returns the number of encoded bytes at its start; the rest is the cache's own.
    /// Waits for the disk.
    pub fn open(&self, key: &str) -> Result<(File, u64), Error> {
        let key = c_string(key)?;
        let (mut fd, mut size) = (-1, 0);
        // SAFETY: the key is read before the call returns; on success the descriptor is ours.
        unsafe {
            check(sys::sdd_cache_open_wait(self.raw(), key.as_ptr(), &mut fd, &mut size))?;
            Ok((File::from_raw_fd(fd), u64::try_from(size).unwrap_or(0)))
        }
    }

    // Keys.

    /// Returns the key of a URL, or of a smaller or transformed picture of it.
    ///
    /// ```
    /// use sdd::{Cache, DecodeOptions};
    ///
    /// let key = Cache::shared().key("https://host/name.jpg", &DecodeOptions::new().inside(200, 100), &[])?;
    /// assert_eq!(key, "https://host/name-Thumbnail({200.000000,100.000000},1).jpg");
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn key(&self, url: &str, decode: &DecodeOptions, transforms: &[Transform]) -> Result<String, Error> {
        let mut texts = Texts::default();
        let (url, decode) = (c_string(url)?, decode.lend());
        let list = Transform::lend_all(transforms, &mut texts)?;
        // SAFETY: all is read, and at most `capacity` bytes are written, before the call returns.
        text::read(|buffer, capacity, length| unsafe {
            let (url, list, count) = (url.as_ptr(), list.as_ptr(), list.len());
            sys::sdd_cache_key(self.raw(), url, &decode, list, count, buffer, capacity, length)
        })
    }

    /// Returns the path that the file of a key has, or would have.
    pub fn path(&self, key: &str) -> Result<PathBuf, Error> {
        let key = c_string(key)?;
        // SAFETY: as above.
        let path = text::read(|buffer, capacity, length| unsafe {
            sys::sdd_cache_path(self.raw(), key.as_ptr(), buffer, capacity, length)
        });
        path.map(PathBuf::from)
    }

    // The cache as a whole.

    /// Waits until all changes are on disk; `None`: without time limit.
    pub fn flush(&self, limit: impl Into<Option<Duration>>) -> Result<(), Error> {
        let limit = milliseconds_or_none(limit.into());
        check(unsafe { sys::sdd_cache_flush_wait(self.raw(), limit) }) // SAFETY: any handle is allowed
    }

    /// Removes pictures from memory.
    pub fn trim_memory(&self, trim: Trim) -> Result<(), Error> {
        check(unsafe { sys::sdd_cache_trim_memory(self.raw(), trim as i32) }) // SAFETY: as above
    }

    /// Removes entries that are too old, or too many, from the disk, and waits for it.
    pub fn trim_disk(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_cache_trim_disk_wait(self.raw()) }) // SAFETY: as above
    }

    /// Moves the entries of another cache's directory into this one, and waits for it. It returns their number.
    pub fn merge(&self, directory: &Path) -> Result<u64, Error> {
        let directory = c_string(path_text(directory)?)?;
        let mut merged = 0;
        // SAFETY: the path is read, and the number written, before the call returns.
        check(unsafe { sys::sdd_cache_merge_wait(self.raw(), directory.as_ptr(), &mut merged) })?;
        Ok(u64::try_from(merged).unwrap_or(0))
    }

    /// Replaces the limits of the memory level, in bytes and pictures; 0 for the default, `None` for no limit.
    pub fn set_memory_limits(&self, bytes: Option<u64>, count: Option<u64>) -> Result<(), Error> {
        let (bytes, count) = (bytes.map_or(-1, clamped), count.map_or(-1, clamped));
        check(unsafe { sys::sdd_cache_set_memory_limits(self.raw(), bytes, count) })
        // SAFETY: as above
    }

    /// Replaces the limits of the disk level; 0 bytes for the default, `None` for no limit.
    pub fn set_disk_limits(&self, bytes: Option<u64>, age: Option<Duration>) -> Result<(), Error> {
        let (bytes, age) = (bytes.map_or(-1, clamped), milliseconds_or_none(age));
        check(unsafe { sys::sdd_cache_set_disk_limits(self.raw(), bytes, age) })
        // SAFETY: as above
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "Cache" } else { "Cache::shared()" })
    }
}

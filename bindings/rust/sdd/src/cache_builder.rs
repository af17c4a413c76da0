//! The configuration of a cache.

use crate::border::{guard, used_by_any_thread};
use crate::error::check;
use crate::numbers::{clamped, milliseconds, numbers};
use crate::plain::PlainCacheConfig;
use crate::stores::{entry_table, memory_table, EntryTable, MemoryTable};
use crate::text::Texts;
use crate::{sys, text, Bytes, Cache, EntryStore, Error, Image, MemoryStore};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

numbers! {
    /// How durable written entries are.
    ///
    /// ```
    /// # let directory = std::env::temp_dir().join(format!("sdd-durability-{}", std::process::id()));
    /// let cache = sdd::Cache::builder().directory(&directory).durability(sdd::Durability::Full).build()?;
    /// cache.store(&sdd::CacheItem::new("key").bytes(&sdd::Bytes::new(b"on disk")?))?;
    /// # drop(cache);
    /// # std::fs::remove_dir_all(directory).unwrap();
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Durability: System {
        /// The system decides when. A killed process loses no complete entry; a power cut may.
        System = SDD_SYNC_NONE,
        /// fdatasync(2) on an entry's bytes before the entry appears.
        Data = SDD_SYNC_DATA,
        /// The same, then fsync(2) on the directory.
        Full = SDD_SYNC_FULL,
    }
}

type KeyFilter = dyn Fn(&str) -> Option<String> + Send + Sync;
type Serializer = dyn Fn(Option<&Image>, Option<&Bytes>, &str) -> Option<Bytes> + Send + Sync;

#[derive(Clone, Default)]
struct Functions {
    key_filter: Option<Arc<KeyFilter>>,
    serializer: Option<Arc<Serializer>>,
}

/// The settings of a cache to be opened. What is not set has the library's default.
///
/// ```
/// use sdd::Cache;
/// use std::time::Duration;
///
/// # let directory = std::env::temp_dir().join(format!("sdd-builder-{}", std::process::id()));
/// let cache = Cache::builder()
///     .directory(&directory)
///     .max_disk_bytes(Some(100 << 20))
///     .max_disk_age(Some(Duration::from_secs(86_400)))
///     .key_filter(|url| url.split('?').next().map(String::from))
///     .build()?;
/// assert_eq!(cache.key("https://host/a.jpg?token=7", &Default::default(), &[])?, "https://host/a.jpg");
/// # drop(cache);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
#[must_use = "build() opens the cache"]
pub struct CacheBuilder {
    pub(crate) plain: PlainCacheConfig,
    read_only_directories: Vec<PathBuf>,
    age_by_modification: bool,
    map_from_bytes: u64,
    share_wait: i64,
    no_share_wait: bool,
    max_parts: (i64, i64),
    functions: Functions,
    memory_store: Option<MemoryTable>,
    entry_store: Option<EntryTable>,
}

impl CacheBuilder {
    /// Adds a directory of another cache, for entries that this one does not have. It is never changed.
    pub fn read_only_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.read_only_directories.push(directory.into());
        self
    }

    /// Counts an entry's age from when it was stored, in place of its last use.
    pub fn age_by_modification(mut self) -> Self {
        self.age_by_modification = true;
        self
    }

    /// Maps entries with at least this many encoded bytes, in place of reading them.
    ///
    /// # Safety
    ///
    /// While the cache or any bytes of its entries exist, no program may cut or change the files of its directory: the
    /// slices of mapped [`Bytes`] would change, or end the process with SIGBUS.
    pub unsafe fn map_from_bytes(mut self, bytes: u64) -> Self {
        self.map_from_bytes = bytes;
        self
    }

    /// Limits the wait for another process that downloads the same URL; 30 seconds by default. `None`: processes do not
    /// wait for each other.
    pub fn share_wait(mut self, time: Option<Duration>) -> Self {
        (self.share_wait, self.no_share_wait) = (time.map_or(0, milliseconds), time.is_none());
        self
    }

    /// Limits bytes and age of bodies kept to be resumed; 256 MiB and a day by default. `None`: no limit.
    pub fn max_parts(mut self, bytes: Option<u64>, age: Option<Duration>) -> Self {
        self.max_parts = (bytes.map_or(-1, clamped), age.map_or(-1, milliseconds));
        self
    }

    /// Makes the key of a URL, on any thread that submits a request. With `None`, or after a panic, the key is the URL
    /// itself. It must not use the library.
    pub fn key_filter(mut self, function: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.functions.key_filter = Some(Arc::new(function));
        self
    }

    /// Makes the bytes that are written to disk, from the image, the bytes and the key of an item, on a thread of the
    /// cache. With `None`, or after a panic, nothing is written. It must not wait for this cache.
    pub fn serializer(
        mut self,
        function: impl Fn(Option<&Image>, Option<&Bytes>, &str) -> Option<Bytes> + Send + Sync + 'static,
    ) -> Self {
        self.functions.serializer = Some(Arc::new(function));
        self
    }

    /// Keeps the memory level in a store of the application. The limits on memory then have no effect.
    pub fn memory_store(mut self, store: impl MemoryStore) -> Self {
        self.memory_store = Some(memory_table(store));
        self
    }

    /// Keeps entries in a store of the application, in place of files. Durability, mapping, and the choice of date then
    /// have no effect.
    pub fn entry_store(mut self, store: impl EntryStore) -> Self {
        self.entry_store = Some(entry_table(store));
        self
    }

    /// Opens the cache. Waits for the directory to be made and opened.
    pub fn build(&self) -> Result<Cache, Error> {
        let mut texts = Texts::default();
        let directories = self.read_only_directories.iter().map(|directory| texts.add_path(Some(directory)));
        let directories = directories.collect::<Result<Vec<_>, Error>>()?;
        let mut config: sys::sdd_cache_config = self.plain.lend(&mut texts)?;
        (config.read_only_directories, config.read_only_count) = (directories.as_ptr(), directories.len());
        config.disk_date = if self.age_by_modification { sys::SDD_DATE_MODIFICATION } else { sys::SDD_DATE_ACCESS };
        config.map_from_bytes = clamped(self.map_from_bytes);
        (config.share_wait_ms, config.no_share_wait) = (self.share_wait, self.no_share_wait.into());
        (config.max_part_bytes, config.max_part_age_ms) = self.max_parts;
        config.key_filter = self.functions.key_filter.as_ref().and(Some(filter_key));
        config.serializer = self.functions.serializer.as_ref().and(Some(serialize));
        config.memory_store = self.memory_store.as_ref().map_or(ptr::null(), MemoryTable::pointer);
        config.entry_store = self.entry_store.as_ref().map_or(ptr::null(), EntryTable::pointer);
        let functions = Box::into_raw(Box::new(self.functions.clone()));
        config.user_data = functions.cast();
        config.user_data_free = Some(free);
        let mut handle = ptr::null_mut();
        // SAFETY: the config is copied, and frees the functions; on success the handle is ours.
        if let Err(error) = check(unsafe { sys::sdd_cache_create(&config, &mut handle) }) {
            drop(unsafe { Box::from_raw(functions) }); // SAFETY: not accepted, so they stayed ours
            return Err(error);
        }
        self.memory_store.iter().for_each(MemoryTable::keep);
        self.entry_store.iter().for_each(EntryTable::keep);
        Cache::owning(handle)
    }
}

impl fmt::Debug for CacheBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("CacheBuilder");
        fields.field("name", &self.plain.name).field("directory", &self.plain.directory).finish_non_exhaustive()
    }
}

const _: () = used_by_any_thread::<Functions>();

/// SAFETY: the user data of a cache that has not freed it.
unsafe fn functions<'a>(user_data: *mut c_void) -> &'a Functions {
    unsafe { &*user_data.cast::<Functions>() }
}

unsafe extern "C" fn filter_key(url: *const c_char, user_data: *mut c_void) -> *mut sys::sdd_bytes {
    let made = guard(|| {
        // SAFETY: the URL is lent until we return.
        let key = unsafe { functions(user_data) }.key_filter.as_ref()?(unsafe { text::borrowed(url) })?;
        Bytes::new(key.as_bytes()).ok().map(Bytes::into_raw)
    });
    made.ok().flatten().unwrap_or(ptr::null_mut())
}

unsafe extern "C" fn serialize(
    image: *mut sys::sdd_image,
    bytes: *mut sys::sdd_bytes,
    key: *const c_char,
    user_data: *mut c_void,
) -> *mut sys::sdd_bytes {
    let made = guard(|| {
        // SAFETY: all is lent until we return.
        let (image, bytes, key) = unsafe { (Image::retained(image), Bytes::retained(bytes), text::borrowed(key)) };
        let made = unsafe { functions(user_data) }.serializer.as_ref()?(image.as_ref(), bytes.as_ref(), key)?;
        Some(made.into_raw())
    });
    made.ok().flatten().unwrap_or(ptr::null_mut())
}

unsafe extern "C" fn free(user_data: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Box::from_raw(user_data.cast::<Functions>()) }));
}

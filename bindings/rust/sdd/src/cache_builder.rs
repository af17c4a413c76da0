//! The configuration of a cache.

use crate::border::{guard, used_by_any_thread};
use crate::error::check;
use crate::numbers::{clamped, clamped_i32, milliseconds, numbers};
use crate::stores::{entry_table, memory_table, EntryTable, MemoryTable};
use crate::text::Texts;
use crate::{sys, text, Bytes, Cache, EntryStore, Error, Image, Levels, MemoryStore};
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
    name: Option<String>,
    directory: Option<PathBuf>,
    read_only_directories: Vec<PathBuf>,
    levels: Levels,
    no_live_images: bool,
    max_memory: (i64, i64),
    watch_memory_pressure: bool,
    durability: Durability,
    max_disk_bytes: i64,
    max_disk_age: i64,
    age_by_modification: bool,
    low_water_percent: u32,
    trim_interval: i64,
    map_from_bytes: u64,
    share_wait: i64,
    no_share_wait: bool,
    max_parts: (i64, i64),
    ignored_query_parameters: Option<String>,
    functions: Functions,
    memory_store: Option<MemoryTable>,
    entry_store: Option<EntryTable>,
    max_queued_bytes: i64,
    destroy_timeout: i64,
}

impl CacheBuilder {
    /// Sets the name of a directory in `~/.cache/sdd`; the default is "default".
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the directory, in place of a name. It is made if it does not exist.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Adds a directory of another cache, for entries that this one does not have. It is never changed.
    pub fn read_only_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.read_only_directories.push(directory.into());
        self
    }

    /// Sets the levels that the cache has.
    pub fn levels(mut self, levels: Levels) -> Self {
        self.levels = levels;
        self
    }

    /// Does not find evicted pictures while the application still holds them.
    pub fn no_live_images(mut self) -> Self {
        self.no_live_images = true;
        self
    }

    /// Limits the bytes of all pictures in memory; by default an eighth of the machine's memory, at most 512 MiB.
    /// `None`: no limit.
    pub fn max_memory_cost(mut self, bytes: Option<u64>) -> Self {
        self.max_memory.0 = bytes.map_or(-1, clamped);
        self
    }

    /// Limits the number of pictures in memory.
    pub fn max_memory_count(mut self, count: u64) -> Self {
        self.max_memory.1 = clamped(count);
        self
    }

    /// Trims memory when the kernel reports memory pressure.
    pub fn watch_memory_pressure(mut self) -> Self {
        self.watch_memory_pressure = true;
        self
    }

    /// Sets how durable written entries are.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Limits the bytes of all files; 512 MiB by default. `None`: no limit.
    pub fn max_disk_bytes(mut self, bytes: Option<u64>) -> Self {
        self.max_disk_bytes = bytes.map_or(-1, clamped);
        self
    }

    /// Limits the age of entries; 7 days by default. `None`: no limit.
    pub fn max_disk_age(mut self, age: Option<Duration>) -> Self {
        self.max_disk_age = age.map_or(-1, milliseconds);
        self
    }

    /// Counts an entry's age from when it was stored, in place of its last use.
    pub fn age_by_modification(mut self) -> Self {
        self.age_by_modification = true;
        self
    }

    /// Sets the percentage of the largest size that a trim leaves; 50 by default.
    pub fn low_water_percent(mut self, percent: u32) -> Self {
        self.low_water_percent = percent;
        self
    }

    /// Sets how often old entries are looked for; 10 minutes by default. `None`: only when the cache is too large.
    pub fn trim_interval(mut self, interval: Option<Duration>) -> Self {
        self.trim_interval = interval.map_or(-1, milliseconds);
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

    /// Leaves query parameters out of the keys of URLs: "token,Expires,X-Amz-*".
    pub fn ignored_query_parameters(mut self, names: &str) -> Self {
        self.ignored_query_parameters = Some(names.into());
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

    /// Limits the bytes of entries that wait to be written; 128 MiB by default. `None`: no limit.
    pub fn max_queued_bytes(mut self, bytes: Option<u64>) -> Self {
        self.max_queued_bytes = bytes.map_or(-1, clamped);
        self
    }

    /// Limits the time that dropping the cache takes for writing; 10 seconds by default. `None`: no limit.
    pub fn destroy_timeout(mut self, limit: Option<Duration>) -> Self {
        self.destroy_timeout = limit.map_or(-1, milliseconds);
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
        let mut config = sys::sized!(sdd_cache_config);
        config.name = texts.add_optional(&self.name)?;
        config.directory = texts.add_path(self.directory.as_deref())?;
        (config.read_only_directories, config.read_only_count) = (directories.as_ptr(), directories.len());
        config.levels = self.levels as i32;
        config.no_live_images = self.no_live_images.into();
        (config.max_memory_cost, config.max_memory_count) = self.max_memory;
        config.watch_memory_pressure = self.watch_memory_pressure.into();
        config.sync = self.durability as i32;
        config.max_disk_bytes = self.max_disk_bytes;
        config.max_disk_age_ms = self.max_disk_age;
        config.disk_date = if self.age_by_modification { sys::SDD_DATE_MODIFICATION } else { sys::SDD_DATE_ACCESS };
        config.low_water_percent = clamped_i32(self.low_water_percent);
        config.trim_interval_ms = self.trim_interval;
        config.map_from_bytes = clamped(self.map_from_bytes);
        (config.share_wait_ms, config.no_share_wait) = (self.share_wait, self.no_share_wait.into());
        (config.max_part_bytes, config.max_part_age_ms) = self.max_parts;
        config.ignored_query_parameters = texts.add_optional(&self.ignored_query_parameters)?;
        config.max_queued_bytes = self.max_queued_bytes;
        config.destroy_timeout_ms = self.destroy_timeout;
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
        fields.field("name", &self.name).field("directory", &self.directory).finish_non_exhaustive()
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

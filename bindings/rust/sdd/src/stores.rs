//! Levels of a cache that the application keeps itself.

use crate::border::guard;
use crate::numbers::clamped;
use crate::{sys, text, Bytes, Image, Trim};
use std::any::Any;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::slice;
use std::sync::Arc;
use std::time::Duration;

/// A memory level that the application keeps itself: [`CacheBuilder::memory_store`](crate::CacheBuilder::memory_store).
///
/// Its methods are called on any thread, several at a time. They must be quick, and must use nothing of the library but
/// images and bytes. After a panic the method has had no effect.
///
/// ```
/// use sdd::{Cache, CacheItem, Image, MemoryStore, PixelFormat};
/// use std::{collections::HashMap, sync::Mutex};
///
/// #[derive(Default)]
/// struct Shelf(Mutex<HashMap<String, Image>>);
///
/// impl MemoryStore for Shelf {
///     fn get(&self, key: &str) -> Option<Image> {
///         self.0.lock().unwrap().get(key).cloned()
///     }
///     fn put(&self, key: &str, image: Image, _: u64) {
///         self.0.lock().unwrap().insert(key.into(), image);
///     }
///     fn remove(&self, key: &str) {
///         self.0.lock().unwrap().remove(key);
///     }
///     fn clear(&self) {
///         self.0.lock().unwrap().clear();
///     }
/// }
///
/// let cache = Cache::builder().levels(sdd::Levels::Memory).memory_store(Shelf::default()).build()?;
/// let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[7], 1)?;
/// cache.store(&CacheItem::new("key").image(&image))?;
/// assert_eq!(cache.memory_image("key").unwrap().width(), 1);
/// cache.clear(sdd::Levels::Memory)?;
/// assert!(cache.memory_image("key").is_none());
/// # Ok::<(), sdd::Error>(())
/// ```
pub trait MemoryStore: Send + Sync + 'static {
    /// Returns the image of a key.
    fn get(&self, key: &str) -> Option<Image>;

    /// Keeps an image in place of the one that is there. The cost is its size in bytes.
    fn put(&self, key: &str, image: Image, cost: u64);

    /// Removes the image of a key, if there is one.
    fn remove(&self, key: &str);

    /// Removes all images.
    fn clear(&self);

    /// Removes some or all images: [`Cache::trim_memory`](crate::Cache::trim_memory), and memory pressure.
    fn trim(&self, trim: Trim) {
        let _ = trim;
    }
}

/// The error of a method of an [`EntryStore`], which counts as an error of the disk. Every error of a library of storage
/// may become one: `map_err(|_| StoreError)`.
///
/// ```
/// fn read(file: &str) -> Result<Vec<u8>, sdd::StoreError> {
///     Ok(std::fs::read(file)?)
/// }
///
/// assert_eq!(read("/does/not/exist"), Err(sdd::StoreError));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreError;

impl From<std::io::Error> for StoreError {
    fn from(_: std::io::Error) -> Self {
        StoreError
    }
}

/// Entries that the application keeps itself, such as in a database, in place of files:
/// [`CacheBuilder::entry_store`](crate::CacheBuilder::entry_store).
///
/// An entry has a key and two blobs: the body, which is the encoded bytes, and an extra part, which the library makes and
/// checks. Methods are called on threads of the cache, and on those that wait for the disk, several at a time. They may
/// wait, and may use all that does not use this cache. A panic is a [`StoreError`].
///
/// ```
/// use sdd::{Bytes, Cache, CacheItem, EntryStore, Query, StoreError};
/// use std::{collections::HashMap, sync::Mutex};
///
/// #[derive(Default)]
/// struct Table(Mutex<HashMap<String, (Vec<u8>, Vec<u8>)>>);
///
/// impl EntryStore for Table {
///     fn get(&self, key: &str) -> Result<Option<(Bytes, Bytes)>, StoreError> {
///         let copy = |bytes: &[u8]| Bytes::new(bytes).map_err(|_| StoreError);
///         self.0.lock().unwrap().get(key).map(|(body, extra)| Ok((copy(body)?, copy(extra)?))).transpose()
///     }
///     fn put(&self, key: &str, body: &[u8], extra: &[u8]) -> Result<(), StoreError> {
///         self.0.lock().unwrap().insert(key.into(), (body.into(), extra.into()));
///         Ok(())
///     }
///     fn remove(&self, key: &str) -> Result<(), StoreError> {
///         self.0.lock().unwrap().remove(key);
///         Ok(())
///     }
///     fn clear(&self) -> Result<(), StoreError> {
///         self.0.lock().unwrap().clear();
///         Ok(())
///     }
/// }
///
/// # let directory = std::env::temp_dir().join(format!("sdd-table-{}", std::process::id()));
/// let cache = Cache::builder().directory(&directory).entry_store(Table::default()).build()?;
/// cache.store(&CacheItem::new("key").bytes(&Bytes::new(b"any bytes")?))?;
/// assert_eq!(&cache.query_bytes(&Query::new("key"))?.unwrap().0[..], b"any bytes");
/// # drop(cache);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
pub trait EntryStore: Send + Sync + 'static {
    /// Returns body and extra part of a key; `None`: there is no such entry.
    fn get(&self, key: &str) -> Result<Option<(Bytes, Bytes)>, StoreError>;

    /// Stores both, in place of those that are there, at once or not at all.
    fn put(&self, key: &str, body: &[u8], extra: &[u8]) -> Result<(), StoreError>;

    /// Removes the entry of a key, if there is one.
    fn remove(&self, key: &str) -> Result<(), StoreError>;

    /// Removes all entries.
    fn clear(&self) -> Result<(), StoreError>;

    /// Removes entries stored longer ago than `max_age`, and then the oldest until no more than `max_bytes` are left;
    /// `None`: no limit.
    fn trim(&self, max_bytes: Option<u64>, max_age: Option<Duration>) -> Result<(), StoreError> {
        let _ = (max_bytes, max_age);
        Ok(())
    }

    /// True for a store whose [`usage`](EntryStore::usage) is to be called. Without it the limit on bytes has no effect.
    const HAS_USAGE: bool = false;

    /// Returns the size and the number of all entries.
    fn usage(&self) -> Result<(u64, u64), StoreError> {
        Err(StoreError)
    }
}

/// The C functions of a store, which is the user data, in an `Arc`.
struct Calls<S>(PhantomData<S>);

/// A store with its functions as a C struct.
#[derive(Clone)]
pub(crate) struct Table<T> {
    functions: T,
    store: Arc<dyn Any + Send + Sync>,
}

// SAFETY: the pointer in the struct is that of the store, which any thread may use.
unsafe impl<T> Send for Table<T> {}
unsafe impl<T> Sync for Table<T> {}

pub(crate) type MemoryTable = Table<sys::sdd_memory_store>;
pub(crate) type EntryTable = Table<sys::sdd_entry_store>;

impl<T> Table<T> {
    pub(crate) fn pointer(&self) -> *const T {
        &self.functions
    }

    /// Adds a reference to the store, which the library gives back by [`Calls::free`].
    pub(crate) fn keep(&self) {
        let _ = Arc::into_raw(self.store.clone());
    }
}

pub(crate) fn memory_table<S: MemoryStore>(store: S) -> MemoryTable {
    let store = Arc::new(store);
    let functions = sys::sdd_memory_store {
        get: Some(Calls::<S>::get_image),
        put: Some(Calls::<S>::put_image),
        remove: Some(Calls::<S>::remove_image),
        clear: Some(Calls::<S>::clear_images),
        trim: Some(Calls::<S>::trim_images),
        user_data: Arc::as_ptr(&store) as *mut c_void,
        user_data_free: Some(Calls::<S>::free),
        ..sys::sized!(sdd_memory_store)
    };
    Table { functions, store }
}

pub(crate) fn entry_table<S: EntryStore>(store: S) -> EntryTable {
    let store = Arc::new(store);
    let functions = sys::sdd_entry_store {
        get: Some(Calls::<S>::get_entry),
        put: Some(Calls::<S>::put_entry),
        remove: Some(Calls::<S>::remove_entry),
        clear: Some(Calls::<S>::clear_entries),
        trim: Some(Calls::<S>::trim_entries),
        usage: S::HAS_USAGE.then_some(Calls::<S>::usage),
        user_data: Arc::as_ptr(&store) as *mut c_void,
        user_data_free: Some(Calls::<S>::free),
        ..sys::sized!(sdd_entry_store)
    };
    Table { functions, store }
}

impl<S: Send + Sync + 'static> Calls<S> {
    /// SAFETY: the user data of a store that has not been freed.
    unsafe fn store<'a>(user_data: *mut c_void) -> &'a S {
        unsafe { &*user_data.cast::<S>() }
    }

    unsafe extern "C" fn free(user_data: *mut c_void) {
        // SAFETY: the reference that `Table::keep` has added, given back once.
        let _ = guard(|| drop(unsafe { Arc::from_raw(user_data as *const S) }));
    }
}

// In the functions below keys, images and blobs are lent until they return.

impl<S: MemoryStore> Calls<S> {
    unsafe extern "C" fn get_image(key: *const c_char, user_data: *mut c_void) -> *mut sys::sdd_image {
        // SAFETY: as above.
        let found = guard(|| unsafe { Self::store(user_data).get(&text::owned(key)) });
        found.ok().flatten().map_or(std::ptr::null_mut(), Image::into_raw)
    }

    unsafe extern "C" fn put_image(key: *const c_char, image: *mut sys::sdd_image, cost: i64, user_data: *mut c_void) {
        let _ = guard(|| {
            // SAFETY: as above.
            let (store, key, image) = unsafe { (Self::store(user_data), text::owned(key), Image::retained(image)) };
            if let Some(image) = image {
                store.put(&key, image, u64::try_from(cost).unwrap_or(0));
            }
        });
    }

    unsafe extern "C" fn remove_image(key: *const c_char, user_data: *mut c_void) {
        let _ = guard(|| unsafe { Self::store(user_data).remove(&text::owned(key)) });
        // SAFETY: as above
    }

    unsafe extern "C" fn clear_images(user_data: *mut c_void) {
        let _ = guard(|| unsafe { Self::store(user_data) }.clear()); // SAFETY: as above
    }

    unsafe extern "C" fn trim_images(level: i32, user_data: *mut c_void) {
        let trim = Trim::of(level).unwrap_or(Trim::All);
        let _ = guard(|| unsafe { Self::store(user_data) }.trim(trim)); // SAFETY: as above
    }
}

impl<S: EntryStore> Calls<S> {
    unsafe extern "C" fn get_entry(
        key: *const c_char,
        body: *mut *mut sys::sdd_bytes,
        extra: *mut *mut sys::sdd_bytes,
        user_data: *mut c_void,
    ) -> sys::sdd_status {
        // SAFETY: as above.
        let found = guard(|| unsafe { Self::store(user_data).get(&text::owned(key)) });
        match found {
            Ok(Ok(Some((found_body, found_extra)))) => {
                // SAFETY: both are ours to write until we return.
                unsafe { (*body, *extra) = (found_body.into_raw(), found_extra.into_raw()) };
                sys::SDD_OK
            }
            Ok(Ok(None)) => sys::SDD_ERROR_NOT_FOUND,
            _ => sys::SDD_ERROR_CACHE,
        }
    }

    unsafe extern "C" fn put_entry(
        key: *const c_char,
        body: *const c_void,
        body_size: usize,
        extra: *const c_void,
        extra_size: usize,
        user_data: *mut c_void,
    ) -> sys::sdd_status {
        // SAFETY: as above.
        status(|| unsafe {
            Self::store(user_data).put(&text::owned(key), bytes(body, body_size), bytes(extra, extra_size))
        })
    }

    unsafe extern "C" fn remove_entry(key: *const c_char, user_data: *mut c_void) -> sys::sdd_status {
        status(|| unsafe { Self::store(user_data).remove(&text::owned(key)) }) // SAFETY: as above
    }

    unsafe extern "C" fn clear_entries(user_data: *mut c_void) -> sys::sdd_status {
        status(|| unsafe { Self::store(user_data) }.clear()) // SAFETY: as above
    }

    unsafe extern "C" fn trim_entries(max_bytes: i64, max_age: i64, user_data: *mut c_void) -> sys::sdd_status {
        let max_age = u64::try_from(max_age).ok().map(Duration::from_millis);
        // SAFETY: as above.
        status(|| unsafe { Self::store(user_data) }.trim(u64::try_from(max_bytes).ok(), max_age))
    }

    unsafe extern "C" fn usage(bytes: *mut i64, count: *mut i64, user_data: *mut c_void) -> sys::sdd_status {
        status(|| {
            let (used, entries) = unsafe { Self::store(user_data) }.usage()?; // SAFETY: as above
            unsafe { (*bytes, *count) = (clamped(used), clamped(entries)) }; // SAFETY: ours to write until we return
            Ok(())
        })
    }
}

fn status(body: impl FnOnce() -> Result<(), StoreError>) -> sys::sdd_status {
    match guard(body) {
        Ok(Ok(())) => sys::SDD_OK,
        _ => sys::SDD_ERROR_CACHE,
    }
}

/// SAFETY: NULL, or so many bytes that are lent for 'a.
unsafe fn bytes<'a>(first: *const c_void, size: usize) -> &'a [u8] {
    if first.is_null() || size == 0 {
        &[]
    } else {
        unsafe { slice::from_raw_parts(first.cast(), size) }
    }
}

//! Listing the entries of a cache.

use crate::border::catch;
use crate::error::check;
use crate::numbers::numbers;
use crate::text::borrowed_bytes;
use crate::{sys, Cache, Error, ImageFormat};
use std::any::Any;
use std::borrow::Cow;
use std::os::raw::c_void;
use std::panic::resume_unwind;
use std::time::{Duration, SystemTime};

numbers! {
    /// The state of an entry on disk.
    ///
    /// ```
    /// assert_eq!(sdd::EntryState::default(), sdd::EntryState::Good);
    /// ```
    EntryState: Good {
        /// Queries find it; its body is checked only if [`Cache::list`] is told to.
        Good = SDD_ENTRY_GOOD,
        /// Too old: a miss, removed by the next trim.
        Expired = SDD_ENTRY_EXPIRED,
        /// Cut or changed: a miss.
        Damaged = SDD_ENTRY_DAMAGED,
        /// Another version of the library has written it; this one leaves it alone.
        Foreign = SDD_ENTRY_FOREIGN,
    }
}

numbers! {
    /// The answer of the closure of [`Cache::list`]: what happens after an entry.
    ///
    /// ```
    /// assert_eq!(sdd::Listing::default(), sdd::Listing::Next);
    /// ```
    Listing: Next {
        /// The next entry.
        Next = SDD_LIST_NEXT,
        /// No further entry.
        Stop = SDD_LIST_STOP,
        /// The entry is removed from the disk, then the next one follows.
        Remove = SDD_LIST_REMOVE,
    }
}

/// An entry on disk, shown by [`Cache::list`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CacheEntry<'a> {
    /// `None` if the entry is damaged or foreign.
    pub key: Option<Cow<'a, str>>,
    /// The name of the file, in the directory of the cache.
    pub file: Cow<'a, str>,
    /// The number of encoded bytes; `None` if the entry is damaged or foreign.
    pub body_bytes: Option<u64>,
    /// The bytes that the file takes on disk.
    pub disk_bytes: u64,
    /// When it was stored.
    pub stored: SystemTime,
    /// The last use that the disk knows of.
    pub used: SystemTime,
    /// Whether queries find it.
    pub state: EntryState,
    /// `None` if it is unknown.
    pub format: Option<ImageFormat>,
    /// True for an entry of requests with credentials, cookies or an identity, which no other request gets.
    pub is_private: bool,
}

impl<'a> CacheEntry<'a> {
    /// # Safety
    /// The entry and its texts must stay valid for `'a`.
    unsafe fn of(entry: &'a sys::sdd_cache_entry) -> Self {
        // SAFETY: the caller's promise
        let (key, file) = unsafe { (borrowed_bytes(entry.key), borrowed_bytes(entry.file)) };
        let since = |ms: i64| SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0));
        CacheEntry {
            key: key.map(String::from_utf8_lossy),
            file: String::from_utf8_lossy(file.unwrap_or_default()),
            body_bytes: u64::try_from(entry.body_bytes).ok(),
            disk_bytes: u64::try_from(entry.disk_bytes).unwrap_or(0),
            stored: since(entry.stored_ms),
            used: since(entry.used_ms),
            state: EntryState::of(entry.state).unwrap_or(EntryState::Foreign),
            format: ImageFormat::of(entry.format),
            is_private: entry.is_private != 0,
        }
    }
}

/// The closure of a call of [`Cache::list`], and its panic.
struct Visitor<F> {
    each: F,
    panic: Option<Box<dyn Any + Send>>,
}

impl<F: FnMut(&CacheEntry<'_>) -> Listing> Visitor<F> {
    unsafe extern "C" fn call(entry: *const sys::sdd_cache_entry, visitor: *mut c_void) -> i32 {
        // SAFETY: both are lent until we return; the calls come one after the other on the thread of Cache::list().
        let (entry, visitor) = unsafe { (CacheEntry::of(&*entry), &mut *visitor.cast::<Self>()) };
        match catch(|| (visitor.each)(&entry)) {
            Ok(step) => step as i32,
            Err(panic) => {
                visitor.panic = Some(panic);
                sys::SDD_LIST_STOP
            }
        }
    }
}

impl Cache {
    /// Lists the entries in the directory of the cache, in no order, and waits for the disk. With `check` each body is
    /// read and compared with its checksum. Entries that wait to be written are not listed: see [`Cache::flush`].
    ///
    /// ```
    /// # let directory = std::env::temp_dir().join(format!("sdd-list-{}", std::process::id()));
    /// # let cache = sdd::Cache::builder().directory(&directory).build()?;
    /// use sdd::{Bytes, CacheItem, Listing};
    ///
    /// cache.store(&CacheItem::new("notes").bytes(&Bytes::new(b"any bytes")?))?;
    /// let mut keys = Vec::new();
    /// cache.list(true, |entry| {
    ///     assert_eq!((entry.state, entry.body_bytes), (sdd::EntryState::Good, Some(9)));
    ///     keys.extend(entry.key.as_deref().map(str::to_owned));
    ///     Listing::Remove
    /// })?;
    /// assert_eq!(keys, ["notes"]);
    /// cache.list(false, |_| panic!("it is removed"))?;
    /// # drop(cache);
    /// # std::fs::remove_dir_all(directory).unwrap();
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn list<F: FnMut(&CacheEntry<'_>) -> Listing>(&self, check_bodies: bool, each: F) -> Result<(), Error> {
        let mut visitor = Visitor { each, panic: None };
        let flags = if check_bodies { sys::SDD_LIST_CHECK } else { 0 };
        let data = (&mut visitor as *mut Visitor<F>).cast();
        // SAFETY: the visitor outlives the call, which uses it on this thread alone.
        let status = unsafe { sys::sdd_cache_list_wait(self.raw(), flags, Some(Visitor::<F>::call), data) };
        if let Some(panic) = visitor.panic {
            resume_unwind(panic);
        }
        check(status)
    }
}

//! Storing and querying entries of a cache.

use crate::callbacks::Task;
use crate::credential::pointer;
use crate::error::{accepted, check};
use crate::numbers::numbers;
use crate::report::{Delivered, Owned};
use crate::request::submit;
use crate::text::Texts;
use crate::{
    sys, Bytes, Cache, DecodeOptions, Downloader, Error, Image, Levels, Options, Picture, Priority, Report, Request,
    Status,
};
use std::ptr;

/// An item to store in a cache, under a key. Memory gets the image; the disk gets the bytes, or those that the image
/// was decoded from, or the image encoded.
///
/// ```
/// # let directory = std::env::temp_dir().join(format!("sdd-item-{}", std::process::id()));
/// # let cache = sdd::Cache::builder().directory(&directory).build()?;
/// use sdd::{Bytes, CacheItem, Levels, Query};
///
/// let item = CacheItem::new("notes").bytes(&Bytes::new(b"any bytes")?).extended(&Bytes::new(b"mine")?);
/// cache.store(&item)?;
/// let found = cache.query_bytes(&Query::new("notes"))?.unwrap();
/// assert_eq!((&found.0[..], &found.1.unwrap()[..]), (&b"any bytes"[..], &b"mine"[..]));
/// # drop(cache);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CacheItem {
    key: String,
    image: Option<Image>,
    bytes: Option<Bytes>,
    extended: Option<Bytes>,
    levels: Levels,
}

impl CacheItem {
    /// Returns an item for all levels, still without content.
    pub fn new(key: &str) -> Self {
        CacheItem { key: key.into(), image: None, bytes: None, extended: None, levels: Levels::All }
    }

    /// Sets the image.
    pub fn image(mut self, image: &Image) -> Self {
        self.image = Some(image.clone());
        self
    }

    /// Sets the encoded bytes, which are not checked.
    pub fn bytes(mut self, bytes: &Bytes) -> Self {
        self.bytes = Some(bytes.clone());
        self
    }

    /// Adds data of the application: [`Report::extended`](crate::Report::extended).
    pub fn extended(mut self, bytes: &Bytes) -> Self {
        self.extended = Some(bytes.clone());
        self
    }

    /// Sets the levels that store it.
    pub fn levels(mut self, levels: Levels) -> Self {
        self.levels = levels;
        self
    }

    fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_cache_item, Error> {
        Ok(sys::sdd_cache_item {
            key: texts.add(&self.key)?,
            image: self.image.as_ref().map_or(ptr::null_mut(), Image::raw),
            bytes: self.bytes.as_ref().map_or(ptr::null_mut(), Bytes::raw),
            extended: self.extended.as_ref().map_or(ptr::null_mut(), Bytes::raw),
            levels: self.levels as i32,
            ..sys::sized!(sdd_cache_item)
        })
    }
}

numbers! {
    /// The parts of an entry that [`Cache::query_async`] wants.
    ///
    /// ```
    /// # let directory = std::env::temp_dir().join(format!("sdd-wants-{}", std::process::id()));
    /// # let cache = sdd::Cache::builder().directory(&directory).build()?;
    /// use sdd::{CacheItem, Image, PixelFormat, Query, Wants};
    ///
    /// let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[1], 1)?;
    /// cache.store(&CacheItem::new("key").image(&image))?;
    /// assert!(cache.query("key")?.unwrap().bytes.is_none()); // from memory
    /// assert!(cache.query(Query::new("key").wants(Wants::Both))?.unwrap().bytes.is_some());
    /// # drop(cache);
    /// # std::fs::remove_dir_all(directory).unwrap();
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Wants: Image {
        /// The image.
        Image = SDD_WANT_IMAGE,
        /// The image and, from disk, the encoded bytes and the application's own.
        Both = SDD_WANT_BOTH,
    }
}

/// A query of a cache. A key alone is one, too.
///
/// ```
/// # let directory = std::env::temp_dir().join(format!("sdd-a-query-{}", std::process::id()));
/// # let cache = sdd::Cache::builder().directory(&directory).build()?;
/// use sdd::{CacheItem, DecodeOptions, Image, PixelFormat, Query};
///
/// let image = Image::from_pixels(4, 2, PixelFormat::Grey8, &[1; 8], 4)?;
/// cache.store(&CacheItem::new("key").image(&image))?;
/// let small = cache.query(Query::new("key").decode(DecodeOptions::new().inside(2, 2)))?.unwrap();
/// assert_eq!((small.image.width(), small.image.height()), (2, 1));
/// # drop(cache);
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Query {
    key: String,
    levels: Levels,
    wants: Wants,
    decode: Option<DecodeOptions>,
    options: Options,
    priority: Priority,
}

impl Query {
    /// Returns a query of all levels for the image of an entry, by the key of its original.
    pub fn new(key: &str) -> Self {
        let (options, priority) = (Options::default(), Priority::default());
        Query { key: key.into(), levels: Levels::All, wants: Wants::Image, decode: None, options, priority }
    }

    /// Sets the levels that are asked.
    pub fn levels(mut self, levels: Levels) -> Self {
        self.levels = levels;
        self
    }

    /// Sets the parts that are wanted.
    pub fn wants(mut self, wants: Wants) -> Self {
        self.wants = wants;
        self
    }

    /// Sets the form that the image must have.
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = Some(options);
        self
    }

    /// Sets the priority, for [`Cache::query_async`] alone.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Adds option bits, those without letters.
    pub fn options(mut self, options: Options) -> Self {
        self.options |= options;
        self
    }

    /// Passes the query to `body` as a C struct, which lives until `body` returns, with all that it points to.
    fn lend<T>(&self, wants: i32, body: impl FnOnce(&mut sys::sdd_cache_query_options) -> T) -> Result<T, Error> {
        let mut texts = Texts::default();
        let decode = self.decode.as_ref().map(DecodeOptions::lend);
        Ok(body(&mut sys::sdd_cache_query_options {
            key: texts.add(&self.key)?,
            levels: self.levels as i32,
            wants,
            decode: pointer(&decode),
            options: self.options.0,
            priority: self.priority as i32,
            ..sys::sized!(sdd_cache_query_options)
        }))
    }
}

impl From<&str> for Query {
    fn from(key: &str) -> Self {
        Query::new(key)
    }
}

impl Cache {
    /// Stores an item, and waits until it is on disk.
    pub fn store(&self, item: &CacheItem) -> Result<(), Error> {
        let mut texts = Texts::default();
        let item = item.lend(&mut texts)?;
        // SAFETY: the item is copied, and its objects are retained, before the call returns.
        check(unsafe { sys::sdd_cache_put_wait(self.raw(), &item) })
    }

    /// Stores an item, in memory at once and on disk soon. The request ends when it is on disk; dropping the request
    /// does not remove the entry. The downloader delivers the end.
    pub fn store_async(&self, downloader: &Downloader, item: &CacheItem) -> Request<Report> {
        submit(Task::default(), downloader, [downloader.owner(), self.owner()], |task| {
            let mut texts = Texts::default();
            let mut item: sys::sdd_cache_item = item.lend(&mut texts)?;
            item.completed = Some(Task::on_completed);
            item.user_data = task;
            item.user_data_free = Some(Task::free);
            // SAFETY: as above; the library frees the task after its end.
            accepted(unsafe { sys::sdd_cache_put(self.raw(), downloader.raw(), &item) })
        })
    }

    /// Looks for a picture, and reads and decodes it on this thread; `None`: there is no such entry.
    pub fn query(&self, query: impl Into<Query>) -> Result<Option<Picture>, Error> {
        let query = query.into();
        self.look_up(&query, query.wants as i32)?.map(Delivered::into_picture).transpose()
    }

    /// Looks for an entry, and reads its encoded bytes and the application's own from disk, on this thread; `None`:
    /// there is no such entry.
    pub fn query_bytes(&self, query: &Query) -> Result<Option<(Bytes, Option<Bytes>)>, Error> {
        let found = self.look_up(query, sys::SDD_WANT_BYTES)?;
        Ok(found.map(|found| (found.bytes.unwrap_or_else(Bytes::empty), found.report.extended)))
    }

    /// Looks for a picture, as a request that never goes to the network. The downloader reads, decodes and delivers.
    /// Without such an entry it fails with [`Status::NOT_CACHED`](crate::Status::NOT_CACHED).
    ///
    /// ```
    /// # let directory = std::env::temp_dir().join(format!("sdd-query-{}", std::process::id()));
    /// # let cache = sdd::Cache::builder().directory(&directory).build()?;
    /// # let downloader = sdd::Downloader::new()?;
    /// let error = cache.query_async(&downloader, "https://host/never.jpg").wait().unwrap_err();
    /// assert_eq!(error.status(), sdd::Status::NOT_CACHED);
    /// # drop(cache);
    /// # std::fs::remove_dir_all(directory).unwrap();
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn query_async(&self, downloader: &Downloader, query: impl Into<Query>) -> Request<Picture> {
        let query = query.into();
        submit(Task::default(), downloader, [downloader.owner(), self.owner()], |task| {
            query.lend(query.wants as i32, |query: &mut sys::sdd_cache_query_options| {
                query.completed = Some(Task::on_completed);
                query.user_data = task;
                query.user_data_free = Some(Task::free);
                // SAFETY: the query is copied; the library frees the task after its end.
                accepted(unsafe { sys::sdd_cache_query(self.raw(), downloader.raw(), query) })
            })?
        })
    }

    fn look_up(&self, query: &Query, wants: i32) -> Result<Option<Delivered>, Error> {
        let mut result = ptr::null_mut();
        // SAFETY: the query is copied; the result is ours.
        let (status, result) = query.lend(wants, |query| unsafe {
            (sys::sdd_cache_query_wait(self.raw(), query, &mut result), Owned::of(result))
        })?;
        match result {
            None => check(status).map(|()| None), // the call was refused
            Some(result) => match unsafe { Delivered::read(&result) } {
                Err(error) if error.status() == Status::NOT_CACHED => Ok(None),
                found => found.map(Some), // SAFETY: as above
            },
        }
    }
}

//! The configuration of a batch.

use crate::batch::{Batch, BatchOutput, Core, Held};
use crate::border::{catch, is_inside_callback};
use crate::credential::pointer;
use crate::error::check;
use crate::numbers::milliseconds;
use crate::plain::PlainBatchConfig;
use crate::tensor::{Memory, Tensor, TensorBatch};
use crate::text::Texts;
use crate::transfer::transfer_setters;
use crate::{sys, Bytes, DecodeOptions, Downloader, Error, Image, Loader, Options, TransferOptions};
use std::any::Any;
use std::ffi::CString;
use std::fmt;
use std::os::raw::c_void;
use std::panic::resume_unwind;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// A URL of a batch. A URL alone is one, too, and so is a pair of a URL and a number.
///
/// ```
/// let source: sdd::BatchSource = ("https://example.org/a.jpg", 7).into();
/// assert_eq!((source.url.as_str(), source.id), ("https://example.org/a.jpg", Some(7)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchSource {
    /// The URL. One that is invalid is an item that fails.
    pub url: String,
    /// The application's own number, for [`BatchItem::id`](crate::BatchItem); `None`: the index of the item.
    pub id: Option<u64>,
}

impl From<String> for BatchSource {
    fn from(url: String) -> Self {
        BatchSource { url, id: None }
    }
}

impl From<&str> for BatchSource {
    fn from(url: &str) -> Self {
        BatchSource { url: url.into(), id: None }
    }
}

impl<U: Into<String>> From<(U, u64)> for BatchSource {
    fn from((url, id): (U, u64)) -> Self {
        BatchSource { url: url.into(), id: Some(id) }
    }
}

/// The settings of a [`Batch`] to be started. What is not set has the library's default.
///
/// The URLs come from an iterator, of which only a few are asked for at a time: it may be longer than memory. It runs on
/// the thread that takes items, inside the calls that start the batch and take items. A panic of it goes on there.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// use sdd::{DecodeOptions, Loader};
///
/// let urls = (0..).map(move |number| server.url(&format!("/{number}.png"))); // without an end
/// let loader = Loader::without_cache()?;
/// let batch = loader.batch(urls).decode(DecodeOptions::new().inside(2, 2)).images()?;
/// let widths: Vec<_> = batch.take(50).map(|item| Ok(item?.outcome?.width())).collect::<Result<_, sdd::Error>>()?;
/// assert_eq!(widths, [2; 50]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[must_use = "images(), bytes(), tensor() or fill() starts the batch"]
pub struct BatchBuilder {
    pub(crate) plain: PlainBatchConfig,
    sources: Box<dyn Iterator<Item = BatchSource> + Send>,
    downloader: Option<Downloader>,
    loader: Option<Loader>,
    decode: Option<DecodeOptions>,
    transfer: TransferOptions,
    options: Options,
    deadline: i64,
    is_ordered: bool,
}

impl Downloader {
    /// Returns the settings of a batch of downloads.
    pub fn batch<I>(&self, sources: I) -> BatchBuilder
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        I::Item: Into<BatchSource>,
    {
        BatchBuilder::of(sources, Some(self.clone()), None)
    }
}

impl Loader {
    /// Returns the settings of a batch of loads, through the cache of this loader. With a tensor or an allocator only
    /// the originals are cached.
    pub fn batch<I>(&self, sources: I) -> BatchBuilder
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        I::Item: Into<BatchSource>,
    {
        BatchBuilder::of(sources, None, Some(self.clone()))
    }
}

impl BatchBuilder {
    fn of<I>(sources: I, downloader: Option<Downloader>, loader: Option<Loader>) -> Self
    where
        I: IntoIterator,
        I::IntoIter: Send + 'static,
        I::Item: Into<BatchSource>,
    {
        BatchBuilder {
            sources: Box::new(Sources(sources.into_iter())),
            downloader,
            loader,
            decode: None,
            transfer: TransferOptions::default(),
            plain: PlainBatchConfig::default(),
            options: Options::default(),
            deadline: 0,
            is_ordered: false,
        }
    }

    /// Sets the form in which images are wanted; not for a tensor, which says it itself.
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = Some(options);
        self
    }

    /// Adds option bits.
    pub fn options(mut self, options: Options) -> Self {
        self.options |= options;
        self
    }

    transfer_setters!(transfer);

    /// Limits the time of the whole batch. Items that have not ended by then end with
    /// [`Error::Timeout`](crate::Error::Timeout).
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = milliseconds(limit);
        self
    }

    /// Gives the items in the order of their URLs: a slow one holds up those after it.
    pub fn ordered(mut self) -> Self {
        self.is_ordered = true;
        self
    }

    /// Starts the batch, whose items are images.
    pub fn images(self) -> Result<Batch<Image>, Error> {
        self.start(0)
    }

    /// Starts the batch, whose items are encoded bytes, not decoded.
    pub fn bytes(self) -> Result<Batch<Bytes>, Error> {
        self.start(sys::SDD_OPTION_BYTES_ONLY)
    }

    fn start<T: BatchOutput>(mut self, bits: u64) -> Result<Batch<T>, Error> {
        self.options.0 |= bits;
        Ok(Batch::of(self.create(None, None)?, 32))
    }

    /// Starts the batch, whose pictures go into memory that it owns until
    /// [`TensorBatch::into_pixels`](crate::TensorBatch::into_pixels) gives it back. There are as many slots as fit into
    /// the memory.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// use sdd::{Downloader, Tensor};
    ///
    /// let tensor = Tensor::new(4, 3); // RGB
    /// let urls = [server.url("/a.png"), server.url("/none"), server.url("/b.png")];
    /// let mut batch = Downloader::shared().batch(urls).tensor(&tensor, vec![0; 3 * tensor.slot_bytes()])?;
    /// let mut failed = 0;
    /// while let Some(item) = batch.next() {
    ///     failed += u32::from(item?.outcome.is_err());
    /// }
    /// let pixels = batch.into_pixels()?;
    /// assert_eq!(failed, 1);
    /// assert_eq!(pixels[36..72], [0; 36]); // the slot of the item that failed
    /// assert_ne!(pixels[..36], [0; 36]);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn tensor(self, tensor: &Tensor, pixels: impl Into<Box<[u8]>>) -> Result<TensorBatch<'static>, Error> {
        let memory = Memory::owned(pixels.into());
        // SAFETY: the batch owns the memory, and frees it when it has ended.
        unsafe { self.with_slots(tensor, memory.first(), memory.len(), Some(memory)) }
    }

    /// Starts a batch whose pictures go into a slice of the caller, passes it to `body`, and ends it. There are as many
    /// slots as fit into the slice. Inside a callback of the library it fails with
    /// [`Status::WOULD_DEADLOCK`](crate::Status::WOULD_DEADLOCK).
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// use sdd::{Downloader, Tensor};
    ///
    /// let tensor = Tensor::new(2, 2).planar();
    /// let mut pixels = [0; 24]; // [n, channels, height, width]
    /// let urls = [server.url("/a.png"), server.url("/b.png")];
    /// let count = Downloader::shared().batch(urls).fill(&tensor, &mut pixels, |batch| {
    ///     batch.filter(|item| matches!(item, Ok(item) if item.outcome.is_ok())).count()
    /// })?;
    /// assert_eq!(count, 2);
    /// assert_ne!(pixels, [0; 24]);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn fill<R>(
        self,
        tensor: &Tensor,
        pixels: &mut [u8],
        body: impl for<'a> FnOnce(&mut TensorBatch<'a>) -> R,
    ) -> Result<R, Error> {
        if is_inside_callback() {
            return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
        }
        // SAFETY: the batch stays in this frame, whose end destroys it, and waits for that, also after a panic: the
        // lifetime of its type is that of this call alone, so that `body` cannot exchange it for another one.
        let mut batch = unsafe { self.with_slots(tensor, pixels.as_mut_ptr(), pixels.len(), None)? };
        Ok(body(&mut batch))
    }

    /// SAFETY: nothing else uses the memory until the batch has ended.
    unsafe fn with_slots<'a>(
        self,
        tensor: &Tensor,
        first: *mut u8,
        size: usize,
        memory: Option<Memory>,
    ) -> Result<TensorBatch<'a>, Error> {
        let lent = tensor.lend(first, size)?;
        if !tensor.reuses_slots() && self.sources.size_hint().0 > lent.slot_count {
            return Err(Error::invalid(format!("{} slots are too few for the URLs.", lent.slot_count)));
        }
        let at_once = if tensor.reuses_slots() { 1 } else { 32 };
        let batch = Batch::of(self.create(Some(&lent), memory)?, at_once);
        Ok(TensorBatch::of(batch, &lent, tensor.reuses_slots()))
    }

    fn create(self, tensor: Option<&sys::sdd_tensor>, memory: Option<Memory>) -> Result<Core, Error> {
        let mut config: sys::sdd_batch_config = self.plain.lend();
        let source = Box::new(Source { sources: self.sources, url: None, given: 0, panic: None });
        let source = Box::into_raw(source);
        let decode = self.decode.as_ref().map(DecodeOptions::lend);
        config.downloader = self.downloader.as_ref().map_or(ptr::null_mut(), Downloader::raw);
        config.loader = match &self.loader {
            // NULL stands for no loader here, and not for the shared one.
            Some(loader) if loader.raw().is_null() => unsafe { sys::sdd_loader_shared() }, // SAFETY: any thread
            Some(loader) => loader.raw(),
            None => ptr::null_mut(),
        };
        config.next = Some(Source::next);
        config.user_data = source.cast();
        config.tensor = tensor.map_or(ptr::null(), |tensor| tensor);
        config.decode = pointer(&decode);
        config.options = self.options.0;
        config.deadline_ms = self.deadline;
        config.order = if self.is_ordered { sys::SDD_BATCH_ORDERED } else { sys::SDD_BATCH_AS_COMPLETED };
        let mut handle = ptr::null_mut();
        let made = self.transfer.lend(&mut Texts::default(), |transfer| {
            config.transfer = transfer;
            // SAFETY: the config is copied; source and memory live until the batch is destroyed. On success it is ours.
            check(unsafe { sys::sdd_batch_create(&config, &mut handle) })?;
            let made = NonNull::new(handle).zip(NonNull::new(source));
            made.ok_or_else(|| Error::of_status(sys::SDD_ERROR_NO_RESOURCES))
        });
        let (raw, mut source) = made.map_err(|error| {
            drop(unsafe { Box::from_raw(source) }); // SAFETY: there is no batch, so it stayed ours
            error
        })?;
        let core = Core::new(Held { raw, source, memory, _downloader: self.downloader, _loader: self.loader });
        // SAFETY: the library uses the source only inside calls, and this one has returned.
        if let Some(panic) = unsafe { source.as_mut() }.panic.take() {
            resume_unwind(panic);
        }
        Ok(core)
    }
}

impl fmt::Debug for BatchBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("BatchBuilder");
        fields.field("downloader", &self.downloader).field("loader", &self.loader).finish_non_exhaustive()
    }
}

/// Makes the items of an iterator sources of a batch.
struct Sources<I>(I);

impl<I: Iterator> Iterator for Sources<I>
where
    I::Item: Into<BatchSource>,
{
    type Item = BatchSource;

    fn next(&mut self) -> Option<BatchSource> {
        self.0.next().map(Into::into)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// What gives a batch its items.
pub(crate) struct Source {
    sources: Box<dyn Iterator<Item = BatchSource> + Send>,
    /// The last URL, which the library copies after the call.
    url: Option<CString>,
    given: u64,
    /// The panic of the iterator, for the call inside which it happened.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

impl Source {
    unsafe extern "C" fn next(item: *mut sys::sdd_batch_source, source: *mut c_void) -> i32 {
        // SAFETY: lent until we return; the library calls for one batch on one thread at a time.
        let (item, source) = unsafe { (&mut *item, &mut *source.cast::<Source>()) };
        // The thread is the application's, so it may wait in here, unlike in a callback.
        match catch(|| source.sources.next()) {
            Ok(Some(given)) => {
                source.url = CString::new(given.url).ok(); // without one the item fails
                item.url = source.url.as_ref().map_or(ptr::null(), |url| url.as_ptr());
                item.id = given.id.unwrap_or(source.given);
                source.given += 1;
                1
            }
            Ok(None) => 0,
            Err(panic) => {
                source.panic = Some(panic);
                0
            }
        }
    }
}

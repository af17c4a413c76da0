//! Batches: many pictures, each taken once, as an iterator or a stream.

use crate::batch_builder::Source;
use crate::border::{is_inside_callback, outside_callbacks};
use crate::error::check;
use crate::numbers::milliseconds;
use crate::readiness::Readiness;
use crate::report::Owned;
use crate::tensor::Memory;
use crate::{sys, Bytes, ColourKind, Downloader, Error, Image, Loader, Report, Status};
use std::collections::VecDeque;
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::task::{Context, Poll};
use std::time::Duration;

/// Many pictures, a few under way at a time, each of which comes out once with its outcome: an iterator that waits, or
/// a stream. [`Loader::batch`] and [`Downloader::batch`] make one. A batch is made for programs that learn from
/// pictures or archive them: it has no thread of its own, and costs less for each picture than
/// [`Results`](crate::Results).
///
/// Items are images, [`Bytes`], or slots of a [`Tensor`](crate::Tensor). A failed item does not stop the others. An
/// error in place of an item is one of the batch itself, and is the last that the iterator gives. Dropping a batch
/// cancels its items and waits for them; inside a callback of the library a thread of its own does.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let urls: Vec<_> = (0..20).map(|number| server.url(&format!("/{number}.png"))).chain([server.url("/none")]).collect();
/// let mut failed = Vec::new();
/// for item in sdd::Downloader::shared().batch(urls).look_ahead(8).images()? {
///     let item = item?;
///     match item.outcome {
///         Ok(image) => assert_eq!(image.width(), 4),
///         Err(error) => failed.push((item.index, error.http_status())),
///     }
/// }
/// assert_eq!(failed, [(20, Some(404))]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[must_use = "the items are cancelled when the batch is dropped"]
pub struct Batch<T> {
    // Before the core: the descriptor that it watches ends with the batch.
    readiness: Option<Readiness>,
    pub(crate) core: Core,
    taken: VecDeque<BatchItem<T>>,
    /// The most that is taken at once.
    at_once: usize,
    is_over: bool,
}

/// An item that was taken from a [`Batch`].
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let sources = [(server.url("/a.png"), 70), (server.url("/b.png"), 80)];
/// let mut batch = sdd::Downloader::shared().batch(sources).ordered().images()?;
/// let item = batch.next().unwrap()?;
/// assert_eq!((item.index, item.id, item.outcome?.height()), (0, 70, 3));
/// assert_eq!(batch.next().unwrap()?.id, 80);
/// assert!(batch.next().is_none());
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct BatchItem<T> {
    /// The place among the items as they were given, from 0.
    pub index: u64,
    /// The application's own number: [`BatchSource::id`](crate::BatchSource); by default the index.
    pub id: u64,
    /// What has come, or why nothing has.
    pub outcome: Result<T, Error>,
    /// Where it came from, and what it cost, also of an item that failed. It has the response with
    /// [`BatchBuilder::responses`](crate::BatchBuilder::responses), and no URL, which `index` tells.
    pub report: Box<Report>,
}

/// The handle of a batch, with all that the library uses until it is destroyed.
pub(crate) struct Core(ManuallyDrop<Held>);

pub(crate) struct Held {
    pub(crate) raw: NonNull<sys::sdd_batch>,
    /// From a box: the library calls for it inside `next`.
    pub(crate) source: NonNull<Source>,
    pub(crate) memory: Option<Memory>,
    pub(crate) _downloader: Option<Downloader>,
    pub(crate) _loader: Option<Loader>,
}

// SAFETY: a handle, which any thread may use; the source is `Send`, and only calls with `&mut` use it.
unsafe impl Send for Held {}
unsafe impl Sync for Held {}

impl Held {
    /// Destroys the batch, and waits for that. Afterwards the library uses nothing of it.
    fn end(self) -> Option<Memory> {
        // SAFETY: any handle is allowed. It gives an error only in the child of a fork, where no thread uses it.
        unsafe { sys::sdd_batch_destroy(self.raw.as_ptr()) };
        drop(unsafe { Box::from_raw(self.source.as_ptr()) }); // SAFETY: from into_raw; the batch has ended
        self.memory
    }
}

impl Core {
    pub(crate) fn new(held: Held) -> Self {
        Core(ManuallyDrop::new(held))
    }

    pub(crate) fn raw(&self) -> *mut sys::sdd_batch {
        self.0.raw.as_ptr()
    }

    /// Waits for items and takes at most `max`; none after the last one. A panic of the source goes on here.
    fn take(&mut self, max: usize, limit: Option<Duration>, mut each: impl FnMut(Taken)) -> Result<usize, Error> {
        let limit = limit.map_or(-1, |limit| if limit.is_zero() { 0 } else { milliseconds(limit) });
        let mut items = vec![sys::sized!(sdd_batch_item); max];
        let mut count = 0;
        // SAFETY: there is room for `max` items; their objects are ours from now on.
        let status = unsafe { sys::sdd_batch_wait(self.raw(), items.as_mut_ptr(), max, limit, &mut count) };
        if status == sys::SDD_OK {
            // SAFETY: the first `count` have been filled, and each is read once.
            items[..count].iter().filter_map(|item| unsafe { Taken::read(item) }).for_each(&mut each);
        }
        // SAFETY: the library uses the source only inside calls, of which `&mut self` allows one at a time.
        if let Some(panic) = unsafe { self.0.source.as_mut() }.panic.take() {
            resume_unwind(panic);
        }
        check(status).map(|()| count)
    }

    /// Ends the batch on this thread, and returns the memory of its tensor.
    pub(crate) fn into_memory(self) -> Option<Memory> {
        let mut core = ManuallyDrop::new(self);
        unsafe { ManuallyDrop::take(&mut core.0) }.end() // SAFETY: once, since the destructor does not run
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // Without a thread to destroy it, the batch stays, and all that it may use stays with it.
        let held = ManuallyDrop::new(unsafe { ManuallyDrop::take(&mut self.0) }); // SAFETY: once
        if is_inside_callback() {
            unsafe { sys::sdd_batch_cancel(held.raw.as_ptr()) }; // SAFETY: any handle is allowed
        }
        outside_callbacks(move || drop(ManuallyDrop::into_inner(held).end()));
    }
}

/// What the library has given for one item.
pub(crate) struct Taken {
    output: SealedItem,
    item: BatchItem<()>,
}

impl Taken {
    /// Returns `None` for an item without a result, which there is not.
    ///
    /// SAFETY: an item that has been filled, and whose result is the caller's.
    unsafe fn read(item: &sys::sdd_batch_item) -> Option<Self> {
        // SAFETY: as the caller promises.
        let (error, report, image, bytes) = unsafe {
            let result = Owned::of(item.result)?;
            let (image, bytes) = (Image::retained(result.image), Bytes::retained(result.bytes));
            (Error::found(&result.failure), Box::new(Report::read(&result)), image, bytes)
        };
        let output = SealedItem {
            image,
            bytes,
            slot: item.slot,
            size: (item.width as u32, item.height as u32),
            colour_kind: ColourKind::of(item.colour_kind).unwrap_or_default(),
            is_converted: item.is_converted != 0,
        };
        let (index, outcome) = (u64::try_from(item.index).unwrap_or(0), error.map_or(Ok(()), Err));
        Some(Taken { output, item: BatchItem { index, id: item.id, outcome, report } })
    }

    fn into_item<T: BatchOutput>(self) -> BatchItem<T> {
        let Taken { output, item } = self;
        let outcome = item.outcome.and_then(|()| T::of(output));
        BatchItem { index: item.index, id: item.id, outcome, report: item.report }
    }
}

impl<T: BatchOutput> Batch<T> {
    pub(crate) fn of(core: Core, at_once: usize) -> Self {
        Batch { readiness: None, core, taken: VecDeque::new(), at_once, is_over: false }
    }

    /// Waits at most so long for the next item; `None` after the last one. An error with
    /// [`Status::TIMEOUT`](crate::Status::TIMEOUT) if none came in time: the batch goes on.
    pub fn next_within(&mut self, limit: Duration) -> Result<Option<BatchItem<T>>, Error> {
        self.next_or_error(Some(limit))
    }

    pub(crate) fn next_or_error(&mut self, limit: Option<Duration>) -> Result<Option<BatchItem<T>>, Error> {
        if self.taken.is_empty() && !self.is_over {
            // Inside a callback the batch could wait for this thread.
            let is_inside = is_inside_callback();
            match self.fill(if is_inside { Some(Duration::ZERO) } else { limit }) {
                Err(error) if is_inside && error.status() == Status::TIMEOUT => {
                    return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
                }
                Err(error) => return Err(error),
                Ok(()) => {}
            }
        }
        Ok(self.taken.pop_front())
    }

    fn fill(&mut self, limit: Option<Duration>) -> Result<(), Error> {
        let Batch { core, taken, at_once, .. } = self;
        if core.take(*at_once, limit, |item| taken.push_back(item.into_item()))? == 0 {
            self.is_over = true;
        }
        Ok(())
    }

    /// Takes the next item; `None` after the last one. Like the iterator, it calls the iterator of the URLs.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<BatchItem<T>, Error>>> {
        match self.next_or_error(Some(Duration::ZERO)) {
            Err(error) if matches!(error.status(), Status::TIMEOUT | Status::WOULD_DEADLOCK) => {
                match self.watch(context) {
                    Ok(()) => Poll::Pending,
                    Err(error) => Poll::Ready(self.ended_by(error)),
                }
            }
            Err(error) => Poll::Ready(self.ended_by(error)),
            Ok(item) => Poll::Ready(item.map(Ok)),
        }
    }

    /// Lets the task be woken when an item can be taken, at once if one can be taken already.
    fn watch(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        let readiness = match &mut self.readiness {
            Some(readiness) => readiness,
            none => {
                // SAFETY: any handle is allowed. The descriptor is open until the core is dropped, which is later.
                let fd = unsafe { sys::sdd_batch_event_fd(self.core.raw()) };
                none.insert(unsafe { Readiness::of(fd) })
            }
        };
        readiness.wake(context.waker().clone())
    }

    fn ended_by(&mut self, error: Error) -> Option<Result<BatchItem<T>, Error>> {
        self.is_over = true;
        Some(Err(error))
    }

    pub(crate) fn into_core(self) -> Core {
        drop(self.readiness);
        self.core
    }

    /// Ends all items that have not ended, with [`Error::Cancelled`]. They are still to be taken.
    pub fn cancel(&self) -> Result<(), Error> {
        check(unsafe { sys::sdd_batch_cancel(self.core.raw()) }) // SAFETY: any handle is allowed
    }
}

impl<T: BatchOutput> Iterator for Batch<T> {
    type Item = Result<BatchItem<T>, Error>;

    /// Waits for the next item. Inside a callback of the library, where it could wait for itself, an item that is not
    /// there yet is an error, [`Status::WOULD_DEADLOCK`](crate::Status::WOULD_DEADLOCK).
    fn next(&mut self) -> Option<Self::Item> {
        match self.next_or_error(None) {
            Ok(item) => item.map(Ok),
            Err(error) => self.ended_by(error),
        }
    }
}

#[cfg(feature = "futures-core")]
impl<T: BatchOutput> futures_core::Stream for Batch<T> {
    type Item = Result<BatchItem<T>, Error>;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Batch::poll_next(self.get_mut(), context)
    }
}

impl<T> fmt::Debug for Batch<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Batch({} taken)", self.taken.len())
    }
}

/// A type that the items of a [`Batch`] have. Sealed: [`Image`], [`Bytes`] and [`Slot`](crate::Slot).
///
/// ```
/// fn is_output<T: sdd::BatchOutput>() {}
/// is_output::<sdd::Image>();
/// is_output::<sdd::Slot>();
/// ```
pub trait BatchOutput: Sized + Send + Unpin + 'static {
    #[doc(hidden)]
    fn of(item: SealedItem) -> Result<Self, Error>;
}

#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub struct SealedItem {
    pub(crate) image: Option<Image>,
    pub(crate) bytes: Option<Bytes>,
    pub(crate) slot: i64,
    pub(crate) size: (u32, u32),
    pub(crate) colour_kind: ColourKind,
    pub(crate) is_converted: bool,
}

impl BatchOutput for Image {
    fn of(item: SealedItem) -> Result<Self, Error> {
        item.image.ok_or_else(|| Error::made(sys::SDD_ERROR_NOT_FOUND, "The item has no image."))
    }
}

impl BatchOutput for Bytes {
    fn of(item: SealedItem) -> Result<Self, Error> {
        Ok(item.bytes.unwrap_or_else(Bytes::empty))
    }
}

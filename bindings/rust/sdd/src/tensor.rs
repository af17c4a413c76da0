//! Tensors: memory for many pictures of one size.

use crate::batch::{Batch, BatchItem, BatchOutput, SealedItem};
use crate::border::is_inside_callback;
use crate::error::check;
use crate::numbers::clamped_i32;
use crate::{sys, Colour, ColourKind, Error, Fit, PixelFormat, Status};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;
use std::task::{Context, Poll};
use std::time::Duration;

/// The shape of memory for pictures of one size, 8 bits a channel, one slot after the other: `[n, height, width,
/// channels]`, or `[n, channels, height, width]` with [`planar`](Tensor::planar). See
/// [`BatchBuilder::tensor`](crate::BatchBuilder::tensor) and [`BatchBuilder::fill`](crate::BatchBuilder::fill).
///
/// ```
/// use sdd::{PixelFormat, Tensor};
///
/// assert_eq!(Tensor::new(224, 224).slot_bytes(), 224 * 224 * 3);
/// assert_eq!(Tensor::new(10, 10).pixel_format(PixelFormat::Grey8).stride(128).slot_bytes(), 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    size: (u32, u32),
    format: PixelFormat,
    is_planar: bool,
    fit: Fit,
    background: u32,
    colour: Colour,
    stride: usize,
    reuses_slots: bool,
}

impl Tensor {
    /// Returns slots of RGB pixels, interleaved.
    pub fn new(width: u32, height: u32) -> Self {
        Tensor {
            size: (width, height),
            format: PixelFormat::Rgb8,
            is_planar: false,
            fit: Fit::Fill,
            background: 0,
            colour: Colour::Default,
            stride: 0,
            reuses_slots: false,
        }
    }

    /// Sets the layout of a pixel: `Rgb8`, `Rgba8` or `Grey8`.
    pub fn pixel_format(mut self, format: PixelFormat) -> Self {
        self.format = format;
        self
    }

    /// Stores one channel after the other; only with `Rgb8`.
    pub fn planar(mut self) -> Self {
        self.is_planar = true;
        self
    }

    /// Sets how pictures are fitted into their slots, which smaller ones are enlarged for; [`Fit::Fill`] by default. With
    /// [`Fit::Inside`] the whole picture is at the top left, with zeros beside or below it.
    pub fn fit(mut self, fit: Fit) -> Self {
        self.fit = fit;
        self
    }

    /// Sets the colour, 0xRRGGBB, that shows through alpha in formats without alpha.
    pub fn background(mut self, colour: u32) -> Self {
        self.background = colour;
        self
    }

    /// Sets the colours of the pixels; by default [`Colour::Srgb`] in a batch of a loader, [`Colour::Stored`] in one of
    /// a downloader. [`Slot::is_converted`] tells it of each picture.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// Sets the bytes from one slot to the next, at least those of its pixels.
    pub fn stride(mut self, bytes: usize) -> Self {
        self.stride = bytes;
        self
    }

    /// Uses each slot again after [`TensorBatch::release`], for more pictures than fit into memory. Without it, item i
    /// gets slot i.
    pub fn reuse_slots(mut self) -> Self {
        self.reuses_slots = true;
        self
    }

    /// Returns the bytes from one slot to the next.
    pub fn slot_bytes(&self) -> usize {
        self.stride.max(self.pixel_bytes().unwrap_or(usize::MAX))
    }

    pub(crate) fn reuses_slots(&self) -> bool {
        self.reuses_slots
    }

    fn pixel_bytes(&self) -> Option<usize> {
        let pixels = (self.size.0 as usize).checked_mul(self.size.1 as usize)?;
        pixels.checked_mul(self.format.bytes_per_pixel() * self.format.planes())
    }

    /// Returns the shape as a C struct, for memory of `size` bytes.
    pub(crate) fn lend(&self, first: *mut u8, size: usize) -> Result<sys::sdd_tensor, Error> {
        let pixel_bytes = self.pixel_bytes().filter(|&bytes| bytes > 0 && bytes <= size);
        let pixel_bytes = pixel_bytes.ok_or_else(|| {
            let (width, height) = self.size;
            Error::invalid(format!("{size} bytes have no slot of {width} x {height} pixels."))
        })?;
        let stride = self.slot_bytes();
        Ok(sys::sdd_tensor {
            pixels: first.cast(),
            slot_count: (size - pixel_bytes) / stride + 1,
            slot_stride: stride,
            width: clamped_i32(self.size.0),
            height: clamped_i32(self.size.1),
            pixel_format: self.format as i32,
            layout: if self.is_planar { sys::SDD_TENSOR_CHW } else { sys::SDD_TENSOR_HWC },
            fit: self.fit as i32,
            slot_choice: if self.reuses_slots { sys::SDD_TENSOR_NEXT_SLOT } else { sys::SDD_TENSOR_SLOT_OF_INDEX },
            background: self.background,
            colour: self.colour as i32,
            ..sys::sized!(sdd_tensor)
        })
    }
}

/// A slot of a tensor with a picture in it, as an item of a [`TensorBatch`] has it.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// use sdd::{Downloader, Tensor, Fit};
///
/// let tensor = Tensor::new(8, 8).fit(Fit::Inside);
/// let mut batch = Downloader::shared().batch([server.url("/a.png")]).tensor(&tensor, vec![0; tensor.slot_bytes()])?;
/// let slot = batch.next().unwrap()?.outcome?;
/// assert_eq!((slot.index(), slot.width(), slot.height()), (0, 8, 6)); // of a picture of 4 x 3
/// assert_eq!(batch.pixels(&slot)[6 * 24..], [0; 48]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Debug)]
pub struct Slot {
    index: usize,
    size: (u32, u32),
    colour_kind: ColourKind,
    is_converted: bool,
    /// The handle of its batch, which no other batch of the process ever has.
    batch: usize,
}

impl Slot {
    /// Returns the number of the slot in the tensor.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the width of the picture, which may be less than that of the slot with [`Fit::Inside`].
    pub fn width(&self) -> u32 {
        self.size.0
    }

    /// Returns the height of the picture.
    pub fn height(&self) -> u32 {
        self.size.1
    }

    /// Returns what the picture says of its colours, converted or not.
    pub fn colour_kind(&self) -> ColourKind {
        self.colour_kind
    }

    /// Returns whether the pixels were converted to sRGB.
    pub fn is_converted(&self) -> bool {
        self.is_converted
    }
}

impl BatchOutput for Slot {
    fn of(item: SealedItem) -> Result<Self, Error> {
        match usize::try_from(item.slot) {
            Ok(index) => {
                let SealedItem { size, colour_kind, is_converted, .. } = item;
                Ok(Slot { index, size, colour_kind, is_converted, batch: 0 })
            }
            Err(_) => Err(Error::made(sys::SDD_ERROR_NOT_FOUND, "The item has no slot.")),
        }
    }
}

/// A [`Batch`] whose pictures go straight into the slots of a [`Tensor`]: an iterator that waits, or a stream.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// use sdd::{Downloader, Tensor};
///
/// // 100 pictures through the memory of 4.
/// let tensor = Tensor::new(4, 3).reuse_slots();
/// let urls: Vec<_> = (0..100).map(|number| server.url(&format!("/{number}.png"))).collect();
/// let mut batch = Downloader::shared().batch(urls).tensor(&tensor, vec![0; 4 * tensor.slot_bytes()])?;
/// let mut sums = Vec::new();
/// while let Some(item) = batch.next() {
///     let slot = item?.outcome?;
///     sums.push(batch.pixels(&slot).iter().map(|&value| u32::from(value)).sum::<u32>());
///     batch.release(slot)?;
/// }
/// assert_eq!(sums.len(), 100);
/// # Ok::<(), sdd::Error>(())
/// ```
#[must_use = "the items are cancelled when the batch is dropped"]
pub struct TensorBatch<'a> {
    batch: Batch<Slot>,
    first: *mut u8,
    pixel_bytes: usize,
    stride: usize,
    slot_count: usize,
    reuses_slots: bool,
    /// Slots that have been taken and not released.
    in_use: usize,
    /// The iterator has given its error, and nothing follows for now.
    is_stuck: bool,
    /// Invariant: batches of two lifetimes cannot be exchanged.
    memory: PhantomData<fn(&'a ()) -> &'a ()>,
}

// SAFETY: the memory is the batch's alone, and slots are read only after the library has written them.
unsafe impl Send for TensorBatch<'_> {}
unsafe impl Sync for TensorBatch<'_> {}

impl TensorBatch<'_> {
    pub(crate) fn of(batch: Batch<Slot>, tensor: &sys::sdd_tensor, reuses_slots: bool) -> Self {
        let format = PixelFormat::of(tensor.pixel_format).unwrap_or(PixelFormat::Rgb8);
        TensorBatch {
            batch,
            first: tensor.pixels.cast(),
            pixel_bytes: tensor.width as usize * tensor.height as usize * format.bytes_per_pixel(),
            stride: tensor.slot_stride,
            slot_count: tensor.slot_count,
            reuses_slots,
            in_use: 0,
            is_stuck: false,
            memory: PhantomData,
        }
    }

    /// Returns the number of slots.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// Returns the pixels of a slot. Like indexing a slice, it panics for a slot of another batch.
    pub fn pixels(&self, slot: &Slot) -> &[u8] {
        assert!(slot.batch == self.id() && slot.index < self.slot_count, "a slot of another batch");
        // SAFETY: the slot is inside the memory, which lives as long as the batch. The library has written it, and
        // leaves it alone until it is released, for which there must be no borrow.
        unsafe { slice::from_raw_parts(self.first.add(slot.index * self.stride), self.pixel_bytes) }
    }

    /// Gives a slot back, with [`Tensor::reuse_slots`]: it may be filled again. An error without that setting.
    pub fn release(&mut self, slot: Slot) -> Result<(), Error> {
        if slot.batch != self.id() {
            return Err(Error::invalid("The slot is one of another batch."));
        }
        // SAFETY: any number is allowed.
        check(unsafe { sys::sdd_batch_release_slot(self.batch.core.raw(), slot.index as i64) })?;
        (self.in_use, self.is_stuck) = (self.in_use - 1, false);
        Ok(())
    }

    /// Waits at most so long for the next item, as [`Batch::next_within`].
    pub fn next_within(&mut self, limit: Duration) -> Result<Option<BatchItem<Slot>>, Error> {
        self.next_or_error(Some(limit))
    }

    /// Takes the next item, as [`Batch::poll_next`].
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<BatchItem<Slot>, Error>>> {
        if self.is_full() {
            return Poll::Ready(self.next()); // nothing would wake the task
        }
        let polled = self.batch.poll_next(context);
        polled.map(|item| item.map(|item| item.map(|item| self.taken(item))))
    }

    /// Returns the batch, to cancel it and for its counts.
    pub fn batch(&self) -> &Batch<Slot> {
        &self.batch
    }

    fn next_or_error(&mut self, limit: Option<Duration>) -> Result<Option<BatchItem<Slot>>, Error> {
        // With all slots in use no picture can come before one is released, which takes this thread.
        let is_full = self.is_full();
        match self.batch.next_or_error(if is_full { Some(Duration::ZERO) } else { limit }) {
            Err(error) if is_full && error.status() == Status::TIMEOUT => {
                Err(Error::made(sys::SDD_ERROR_WOULD_DEADLOCK, "All slots are in use: release one."))
            }
            item => item.map(|item| item.map(|item| self.taken(item))),
        }
    }

    fn is_full(&self) -> bool {
        self.reuses_slots && self.in_use == self.slot_count
    }

    fn taken(&mut self, mut item: BatchItem<Slot>) -> BatchItem<Slot> {
        if let Ok(slot) = &mut item.outcome {
            slot.batch = self.id();
            self.in_use += 1;
        }
        item
    }

    fn id(&self) -> usize {
        self.batch.core.raw() as usize
    }
}

impl TensorBatch<'static> {
    /// Ends the batch, waits for that, and returns its memory. Inside a callback of the library, where it could wait
    /// for itself, it fails with [`Status::WOULD_DEADLOCK`], and the memory is lost.
    pub fn into_pixels(self) -> Result<Box<[u8]>, Error> {
        if is_inside_callback() {
            return Err(Error::of_status(sys::SDD_ERROR_WOULD_DEADLOCK));
        }
        let memory = self.batch.into_core().into_memory();
        Ok(memory.map_or_else(Box::default, Memory::into_box))
    }
}

impl Iterator for TensorBatch<'_> {
    type Item = Result<BatchItem<Slot>, Error>;

    /// Waits for the next item, as [`Batch`] does. With all slots in use, which no thread could then release, it gives
    /// an error, [`Status::WOULD_DEADLOCK`], and then `None` until one is released.
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_stuck {
            return None;
        }
        let next = self.next_or_error(None).transpose();
        self.is_stuck = matches!(next, Some(Err(_)));
        next
    }
}

#[cfg(feature = "futures-core")]
impl futures_core::Stream for TensorBatch<'_> {
    type Item = Result<BatchItem<Slot>, Error>;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        TensorBatch::poll_next(self.get_mut(), context)
    }
}

impl fmt::Debug for TensorBatch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TensorBatch({} slots)", self.slot_count)
    }
}

/// Memory of a tensor that belongs to its batch, which the library writes to: no reference to it exists meanwhile.
pub(crate) struct Memory(NonNull<[u8]>);

// SAFETY: as for the box of which it was made.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn owned(pixels: Box<[u8]>) -> Self {
        Memory(NonNull::from(Box::leak(pixels)))
    }

    pub(crate) fn first(&self) -> *mut u8 {
        self.0.as_ptr().cast()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn into_box(self) -> Box<[u8]> {
        let memory = std::mem::ManuallyDrop::new(self);
        unsafe { Box::from_raw(memory.0.as_ptr()) } // SAFETY: from a box; the destructor does not run
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.0.as_ptr()) }); // SAFETY: from a box; the batch has ended
    }
}

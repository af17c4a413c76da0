//! Pixels of an image, borrowed.

use crate::{sys, Image, PixelFormat};
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

/// The pixels of an [`Image`], borrowed from it: rows from the top, [`stride`](Pixels::stride) bytes apart, in the
/// order of channels that [`format`](Pixels::format) names.
///
/// ```
/// use sdd::{Image, PixelFormat};
///
/// let image = Image::from_pixels(1, 2, PixelFormat::Grey8, &[10, 20], 1)?;
/// let pixels = image.pixels()?;
/// assert_eq!((pixels.width(), pixels.height(), pixels.stride()), (1, 2, 1));
/// assert_eq!(pixels.bytes(), Some(&[10, 20][..]));
/// assert_eq!(pixels.rows().map(|row| row[0]).collect::<Vec<_>>(), [10, 20]);
/// # Ok::<(), sdd::Error>(())
/// ```
///
/// They cannot live longer than the image:
///
/// ```compile_fail,E0505
/// use sdd::{Image, PixelFormat};
///
/// let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[10], 1).unwrap();
/// let row = image.pixels().unwrap().row(0);
/// drop(image);
/// println!("{}", row[0]);
/// ```
#[derive(Clone, Copy)]
pub struct Pixels<'a> {
    first: *const u8,
    size: usize,
    stride: usize,
    row_bytes: usize,
    width: u32,
    height: u32,
    format: PixelFormat,
    image: PhantomData<&'a Image>,
}

// SAFETY: a shared borrow of memory that does not change while the image lives.
unsafe impl Send for Pixels<'_> {}
unsafe impl Sync for Pixels<'_> {}

impl<'a> Pixels<'a> {
    /// Returns `None` for an image whose pixels cannot be decoded.
    pub(crate) fn of(image: &'a Image) -> Option<Self> {
        let raw = image.raw();
        // SAFETY: the image is borrowed, and so is alive.
        let (first, stride) = unsafe { (sys::sdd_image_pixels(raw), sys::sdd_image_stride(raw)) };
        let size = image.info().pixels_size;
        let (width, height, format) = (image.width(), image.height(), image.pixel_format());
        let row_bytes = width as usize * format.bytes_per_pixel();
        let rows = height as usize * format.planes();
        // Every row() is inside the memory that the library has stated.
        let is_inside = !first.is_null() && rows > 0 && stride >= row_bytes && stride * (rows - 1) + row_bytes <= size;
        is_inside.then_some(Pixels { first, size, stride, row_bytes, width, height, format, image: PhantomData })
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the bytes from the start of one row to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the layout of a pixel.
    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// Returns all rows of all planes, one right after the other; `None` if there is padding between rows, which there
    /// is only with [`DecodeOptions::row_alignment`](crate::DecodeOptions::row_alignment).
    pub fn bytes(&self) -> Option<&'a [u8]> {
        let rows = self.height as usize * self.format.planes();
        // SAFETY: these bytes are pixels, which the library has written, and which live while the image is borrowed.
        (self.stride == self.row_bytes).then(|| unsafe { slice::from_raw_parts(self.first, self.row_bytes * rows) })
    }

    /// Returns all rows with the padding between them, which may be uninitialised memory: for calls that take a pointer
    /// and a stride.
    pub fn padded_bytes(&self) -> &'a [MaybeUninit<u8>] {
        // SAFETY: the library has stated that there are so many bytes; they live while the image is borrowed.
        unsafe { slice::from_raw_parts(self.first.cast(), self.size) }
    }

    /// Returns the bytes of one row, without padding. Of [`PixelFormat::Rgb8Planar`], rows from `height()` on are those
    /// of the second and third plane. Like indexing a slice, it panics for a row that does not exist.
    pub fn row(&self, row: usize) -> &'a [u8] {
        let rows = self.height as usize * self.format.planes();
        assert!(row < rows, "row {row} of {rows}");
        // SAFETY: inside, as `of` has checked; pixels live while the image is borrowed.
        unsafe { slice::from_raw_parts(self.first.add(row * self.stride), self.row_bytes) }
    }

    /// Returns the bytes of each row, from the top, without padding; for planes, one plane after the other.
    pub fn rows(&self) -> impl Iterator<Item = &'a [u8]> {
        let pixels = *self;
        (0..self.height as usize * self.format.planes()).map(move |row| pixels.row(row))
    }
}

impl fmt::Debug for Pixels<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Pixels({} x {}, {:?}, stride {})", self.width, self.height, self.format, self.stride)
    }
}

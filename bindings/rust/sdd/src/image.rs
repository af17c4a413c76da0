//! Images: reference counted pictures, and their pixels.

use crate::error::check;
use crate::numbers::{clamped_i32, numbers};
use crate::{sys, Bytes, DecodeOptions, Error, Pixels};
use std::fmt;
use std::ptr::{self, NonNull};
use std::time::Duration;

numbers! {
    /// The layout of pixels in memory.
    ///
    /// ```
    /// use sdd::PixelFormat;
    ///
    /// assert_eq!((PixelFormat::Rgba16.bytes_per_pixel(), PixelFormat::Rgba16.planes()), (8, 1));
    /// assert_eq!((PixelFormat::Rgb8Planar.bytes_per_pixel(), PixelFormat::Rgb8Planar.planes()), (1, 3));
    /// ```
    PixelFormat: Rgba8 {
        /// 4 bytes: red, green, blue, alpha; alpha is not premultiplied.
        Rgba8 = SDD_PIXEL_FORMAT_RGBA8,
        /// As `Rgba8`, with colours multiplied by alpha.
        Rgba8Premultiplied = SDD_PIXEL_FORMAT_RGBA8_PREMULTIPLIED,
        /// 4 bytes: blue, green, red, alpha.
        Bgra8 = SDD_PIXEL_FORMAT_BGRA8,
        /// As `Bgra8`, with colours multiplied by alpha: Cairo's ARGB32 on a little-endian machine.
        Bgra8Premultiplied = SDD_PIXEL_FORMAT_BGRA8_PREMULTIPLIED,
        /// 3 bytes: red, green, blue.
        Rgb8 = SDD_PIXEL_FORMAT_RGB8,
        /// 1 byte.
        Grey8 = SDD_PIXEL_FORMAT_GREY8,
        /// 4 `u16` in native byte order: red, green, blue, alpha; alpha is not premultiplied.
        Rgba16 = SDD_PIXEL_FORMAT_RGBA16,
        /// As `Rgba16`, with colours multiplied by alpha.
        Rgba16Premultiplied = SDD_PIXEL_FORMAT_RGBA16_PREMULTIPLIED,
        /// Three planes of 1 byte a pixel: all red, then all green, then all blue.
        Rgb8Planar = SDD_PIXEL_FORMAT_RGB8_PLANAR,
    }
}

impl PixelFormat {
    /// Returns the bytes of one pixel, in one plane.
    pub fn bytes_per_pixel(self) -> usize {
        match self {
            PixelFormat::Grey8 | PixelFormat::Rgb8Planar => 1,
            PixelFormat::Rgb8 => 3,
            PixelFormat::Rgba16 | PixelFormat::Rgba16Premultiplied => 8,
            _ => 4,
        }
    }

    /// Returns the number of planes: 3 for `Rgb8Planar`, 1 for all others.
    pub fn planes(self) -> usize {
        if self == PixelFormat::Rgb8Planar {
            3
        } else {
            1
        }
    }
}

/// A format of encoded pictures. The library decodes and encodes JPEG and PNG; others need a [`Coder`](crate::Coder).
///
/// ```
/// assert_eq!(sdd::ImageFormat::sniff(b"\x89PNG\r\n\x1a\n"), Some(sdd::ImageFormat::PNG));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageFormat(pub(crate) i32);

impl ImageFormat {
    /// JPEG.
    pub const JPEG: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_JPEG);
    /// PNG, animated or not.
    pub const PNG: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_PNG);
    /// GIF.
    pub const GIF: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_GIF);
    /// WebP.
    pub const WEBP: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_WEBP);
    /// AVIF.
    pub const AVIF: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_AVIF);
    /// HEIF.
    pub const HEIF: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_HEIF);
    /// TIFF.
    pub const TIFF: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_TIFF);
    /// BMP.
    pub const BMP: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_BMP);
    /// PDF.
    pub const PDF: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_PDF);
    /// SVG.
    pub const SVG: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_SVG);
    /// JPEG XL.
    pub const JXL: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_JXL);
    /// ICO and CUR, icons and cursors of Windows.
    pub const ICO: ImageFormat = ImageFormat(sys::SDD_IMAGE_FORMAT_ICO);

    /// Returns a format of the application's own, for its coders: `number` counts from 0.
    pub const fn application(number: u16) -> ImageFormat {
        ImageFormat(sys::SDD_IMAGE_FORMAT_APPLICATION + number as i32)
    }

    /// Recognises a format by the first bytes of a file; `None` for an unknown format, and for too few bytes to tell.
    ///
    /// ```
    /// assert_eq!(sdd::ImageFormat::sniff(b"GIF89a"), Some(sdd::ImageFormat::GIF));
    /// ```
    pub fn sniff(bytes: &[u8]) -> Option<ImageFormat> {
        // SAFETY: the bytes are read before the call returns.
        Self::of(unsafe { sys::sdd_image_sniff(bytes.as_ptr().cast(), bytes.len()) })
    }

    pub(crate) fn of(number: i32) -> Option<Self> {
        (number != 0).then_some(ImageFormat(number))
    }
}

/// A picture: it never changes, its clones share it, and the last clone frees it. Cloning copies no pixels.
///
/// ```
/// use sdd::{Image, PixelFormat};
///
/// let image = Image::from_pixels(2, 1, PixelFormat::Rgb8, &[255, 0, 0, 0, 0, 255], 6)?;
/// assert_eq!((image.width(), image.height()), (2, 1));
/// assert_eq!(image.pixels()?.row(0), [255, 0, 0, 0, 0, 255]);
/// # Ok::<(), sdd::Error>(())
/// ```
pub struct Image(NonNull<sys::sdd_image>);

// SAFETY: images are immutable and reference counted, and the header allows every call on any thread.
unsafe impl Send for Image {}
unsafe impl Sync for Image {}

impl Image {
    /// Decodes a picture, as RGBA8, turned by its Exif orientation, on this thread.
    pub fn decode(bytes: &[u8]) -> Result<Image, Error> {
        Self::decode_with(bytes, &DecodeOptions::new())
    }

    /// Decodes a picture in the form that the options describe, on this thread.
    ///
    /// ```
    /// use sdd::{DecodeOptions, Image, PixelFormat};
    ///
    /// let grey = Image::from_pixels(8, 8, PixelFormat::Grey8, &[7; 64], 8)?.encode(&Default::default())?;
    /// let small = Image::decode_with(&grey, &DecodeOptions::new().inside(4, 4).pixel_format(PixelFormat::Rgb8))?;
    /// assert_eq!((small.width(), small.height(), small.pixel_format()), (4, 4, PixelFormat::Rgb8));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn decode_with(bytes: &[u8], options: &DecodeOptions) -> Result<Image, Error> {
        let mut image = ptr::null_mut();
        // SAFETY: bytes and options are read before the call returns; on success the image is ours.
        unsafe {
            let options = options.lend();
            check(sys::sdd_image_decode(bytes.as_ptr().cast(), bytes.len(), &options, &mut image))?;
            Self::made(image)
        }
    }

    /// Decodes a picture into memory of the caller, in rows without padding, or with the row alignment of the options.
    /// It returns width and height. After an error the content of `pixels` is unspecified.
    ///
    /// ```
    /// use sdd::{DecodeOptions, EncodeOptions, Image, ImageFormat, PixelFormat};
    ///
    /// let options = EncodeOptions::new().format(ImageFormat::PNG);
    /// let png = Image::from_pixels(2, 1, PixelFormat::Grey8, &[9, 200], 2)?.encode(&options)?;
    /// let mut slot = [0; 2];
    /// let size = Image::decode_into(&png, &DecodeOptions::new().pixel_format(PixelFormat::Grey8), &mut slot)?;
    /// assert_eq!((size, slot), ((2, 1), [9, 200]));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn decode_into(bytes: &[u8], options: &DecodeOptions, pixels: &mut [u8]) -> Result<(u32, u32), Error> {
        let mut image = ptr::null_mut();
        // SAFETY: as above. The image, which refers to `pixels`, ends with this call.
        unsafe {
            let mut options: sys::sdd_decode_options = options.lend();
            (options.pixels, options.pixels_size) = (pixels.as_mut_ptr().cast(), pixels.len());
            check(sys::sdd_image_decode(bytes.as_ptr().cast(), bytes.len(), &options, &mut image))?;
            let image = Self::made(image)?;
            Ok((image.width(), image.height()))
        }
    }

    /// Makes an image of pixels, which are copied: `height` rows, the top one first, `stride` bytes apart. The last
    /// row must have its padding too.
    pub fn from_pixels(
        width: u32,
        height: u32,
        format: PixelFormat,
        pixels: &[u8],
        stride: usize,
    ) -> Result<Image, Error> {
        let needed = stride.checked_mul(height as usize).and_then(|plane| plane.checked_mul(format.planes()));
        if stride == 0 || needed.map_or(true, |needed| pixels.len() < needed) {
            return Err(Error::invalid(format!(
                "{} bytes of pixels are too few for {width} x {height} pixels in rows of {stride} bytes.",
                pixels.len()
            )));
        }
        let (width, height) = (clamped_i32(width), clamped_i32(height));
        let mut image = ptr::null_mut();
        // SAFETY: there are as many bytes as are read, before the call returns; on success the image is ours.
        unsafe {
            let pixels = pixels.as_ptr().cast();
            check(sys::sdd_image_create(width, height, format as i32, pixels, stride, &mut image))?;
            Self::made(image)
        }
    }

    /// Makes an animated image of frames of one size, each with the time for which it is to be shown. They are shown
    /// `loop_count` times; 0: for ever.
    pub fn animation(frames: &[(&Image, Duration)], loop_count: u32) -> Result<Image, Error> {
        let lent: Vec<_> = frames
            .iter()
            .map(|(image, duration)| sys::sdd_animation_frame {
                image: image.raw(),
                duration_us: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX),
                ..sys::sized!(sdd_animation_frame)
            })
            .collect();
        let mut image = ptr::null_mut();
        // SAFETY: the frames are borrowed for the call; on success the image is ours.
        unsafe {
            check(sys::sdd_image_create_animation(lent.as_ptr(), lent.len(), clamped_i32(loop_count), &mut image))?;
            Self::made(image)
        }
    }

    /// Makes a small blurred picture of a ThumbHash, to be shown enlarged until the picture itself is there.
    pub fn from_thumbhash(hash: &[u8]) -> Result<Image, Error> {
        let mut image = ptr::null_mut();
        // SAFETY: the hash is borrowed for the call; on success the image is ours.
        unsafe {
            check(sys::sdd_image_from_thumbhash(hash.as_ptr().cast(), hash.len(), &mut image))?;
            Self::made(image)
        }
    }

    /// Returns the width in pixels.
    pub fn width(&self) -> u32 {
        unsafe { sys::sdd_image_width(self.raw()) as u32 } // SAFETY: we hold a reference
    }

    /// Returns the height in pixels.
    pub fn height(&self) -> u32 {
        unsafe { sys::sdd_image_height(self.raw()) as u32 } // SAFETY: as above
    }

    /// Returns the layout of the pixels.
    pub fn pixel_format(&self) -> PixelFormat {
        // SAFETY: as above.
        PixelFormat::of(unsafe { sys::sdd_image_pixel_format(self.raw()) }).unwrap_or_default()
    }

    /// Returns the pixels. With [`Options::AVOID_DECODE_IMAGE`](crate::Options::AVOID_DECODE_IMAGE) they are decoded
    /// here, once, on this thread; otherwise this costs nothing and does not fail.
    pub fn pixels(&self) -> Result<Pixels<'_>, Error> {
        check(unsafe { sys::sdd_image_decode_pixels(self.raw()) })?; // SAFETY: as above
        Pixels::of(self).ok_or_else(|| Error::of_status(sys::SDD_ERROR_BAD_IMAGE_DATA))
    }

    /// Returns the encoded bytes of which the image was decoded, if it was made of a whole body at full size.
    pub fn bytes(&self) -> Option<Bytes> {
        unsafe { Bytes::retained(sys::sdd_image_bytes(self.raw())) } // SAFETY: lent while we hold a reference
    }

    pub(crate) fn raw(&self) -> *mut sys::sdd_image {
        self.0.as_ptr()
    }

    /// Gives up the reference, for the library to take over.
    pub(crate) fn into_raw(self) -> *mut sys::sdd_image {
        let raw = self.raw();
        std::mem::forget(self);
        raw
    }

    /// Takes over one reference.
    ///
    /// SAFETY: NULL, or an image with a reference that is the caller's.
    pub(crate) unsafe fn owned(image: *mut sys::sdd_image) -> Option<Self> {
        NonNull::new(image).map(Image)
    }

    /// Adds a reference.
    ///
    /// SAFETY: NULL, or an image that is at least lent to the caller.
    pub(crate) unsafe fn retained(image: *mut sys::sdd_image) -> Option<Self> {
        unsafe { Self::owned(sys::sdd_image_retain(image)) }
    }

    /// SAFETY: as [`Image::owned`], after a call that succeeded.
    pub(crate) unsafe fn made(image: *mut sys::sdd_image) -> Result<Self, Error> {
        unsafe { Self::owned(image) }.ok_or_else(|| Error::of_status(sys::SDD_ERROR_NO_RESOURCES))
    }
}

impl Clone for Image {
    fn clone(&self) -> Self {
        unsafe { sys::sdd_image_retain(self.raw()) }; // SAFETY: we hold a reference
        Image(self.0)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        unsafe { sys::sdd_image_release(self.raw()) } // SAFETY: this gives back our reference
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Image({} x {}, {:?})", self.width(), self.height(), self.pixel_format())
    }
}

//! Encoding images as JPEG, PNG, or in a format of a coder.

use crate::callbacks::Task;
use crate::error::{accepted, check};
use crate::numbers::{clamped, clamped_i32, numbers};
use crate::request::submit;
use crate::{sys, Bytes, Downloader, Error, Image, ImageFormat, Request};
use std::ptr;

numbers! {
    /// Chroma subsampling of a JPEG.
    ///
    /// ```
    /// use sdd::{Chroma, EncodeOptions, Image, ImageFormat, PixelFormat};
    ///
    /// let image = Image::from_pixels(1, 1, PixelFormat::Rgb8, &[200, 0, 0], 3)?;
    /// let jpeg = image.encode(&EncodeOptions::new().format(ImageFormat::JPEG).chroma(Chroma::Full))?;
    /// assert_eq!(ImageFormat::sniff(&jpeg), Some(ImageFormat::JPEG));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Chroma: Half {
        /// 4:2:0, half the colour resolution in both directions: for photographs.
        Half = SDD_CHROMA_420,
        /// 4:2:2, half the colour resolution in each row.
        HalfRow = SDD_CHROMA_422,
        /// 4:4:4, full colour resolution: for drawings and text.
        Full = SDD_CHROMA_444,
    }
}

/// How an image is encoded. Without any setting: as PNG if a pixel is transparent, else as JPEG with quality 90.
///
/// ```
/// use sdd::{EncodeOptions, Image, ImageFormat, PixelFormat};
///
/// let image = Image::from_pixels(1, 1, PixelFormat::Rgb8, &[1, 2, 3], 3)?;
/// let png = image.encode(&EncodeOptions::new().format(ImageFormat::PNG))?;
/// assert_eq!(ImageFormat::sniff(&png), Some(ImageFormat::PNG));
/// assert_eq!(Image::decode(&png)?.pixels()?.row(0), [1, 2, 3, 255]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EncodeOptions {
    format: Option<ImageFormat>,
    quality: u32,
    max: (u32, u32),
    max_bytes: u64,
    background: u32,
    progressive: bool,
    chroma: Chroma,
    animated: bool,
}

impl EncodeOptions {
    /// Returns options without any setting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the format.
    pub fn format(mut self, format: ImageFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets the quality, 1 to 100.
    pub fn quality(mut self, quality: u32) -> Self {
        self.quality = quality;
        self
    }

    /// Scales a larger image down to fit inside so many pixels; 0 stands for any number.
    pub fn inside(mut self, width: u32, height: u32) -> Self {
        self.max = (width, height);
        self
    }

    /// Lowers the quality, or the size of a PNG, until the result has no more bytes.
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the colour, 0xRRGGBB, that shows through alpha in a JPEG.
    pub fn background(mut self, colour: u32) -> Self {
        self.background = colour;
        self
    }

    /// Makes a progressive JPEG.
    pub fn progressive(mut self) -> Self {
        self.progressive = true;
        self
    }

    /// Sets the chroma subsampling of a JPEG.
    pub fn chroma(mut self, chroma: Chroma) -> Self {
        self.chroma = chroma;
        self
    }

    /// Encodes an animated image with all its frames: as an animated PNG, or in a format whose coder encodes animations.
    ///
    /// ```
    /// use sdd::{EncodeOptions, Image, ImageFormat, PixelFormat};
    /// use std::time::Duration;
    ///
    /// let red = Image::from_pixels(1, 1, PixelFormat::Rgb8, &[255, 0, 0], 3)?;
    /// let blue = Image::from_pixels(1, 1, PixelFormat::Rgb8, &[0, 0, 255], 3)?;
    /// let frames = [(&red, Duration::from_millis(40)), (&blue, Duration::from_millis(80))];
    /// let blinking = Image::animation(&frames, 0)?;
    /// let png = blinking.encode(&EncodeOptions::new().animated())?;
    /// let again = Image::decode(&png)?;
    /// assert_eq!(again.info().frame_count, 2);
    /// assert_eq!(again.frame(1)?.pixels()?.row(0), [0, 0, 255, 255]);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn animated(mut self) -> Self {
        self.animated = true;
        self
    }

    fn lend(&self) -> sys::sdd_encode_options {
        sys::sdd_encode_options {
            format: self.format.map_or(0, |format| format.0),
            quality: clamped_i32(self.quality),
            max_width: clamped_i32(self.max.0),
            max_height: clamped_i32(self.max.1),
            max_bytes: clamped(self.max_bytes),
            background: self.background,
            progressive: self.progressive.into(),
            chroma: self.chroma as i32,
            animated: self.animated.into(),
            ..sys::sized!(sdd_encode_options)
        }
    }
}

impl Image {
    /// Encodes the pixels, on this thread.
    pub fn encode(&self, options: &EncodeOptions) -> Result<Bytes, Error> {
        let mut bytes = ptr::null_mut();
        // SAFETY: image and options are borrowed for the call; on success the bytes are ours.
        unsafe {
            check(sys::sdd_image_encode(self.raw(), &options.lend(), &mut bytes))?;
            Ok(Bytes::owned(bytes).unwrap_or_else(Bytes::empty))
        }
    }

    /// Makes the ThumbHash of the picture, 17 to 25 bytes, on this thread: [`Image::from_thumbhash`] makes of it what is
    /// shown until the picture itself is there. Equal pixels have the same hash on every machine.
    ///
    /// ```
    /// # use sdd::{Image, PixelFormat};
    /// let image = Image::from_pixels(2, 1, PixelFormat::Rgb8, &[255, 0, 0, 0, 0, 255], 6)?;
    /// let placeholder = Image::from_thumbhash(&image.thumbhash()?)?;
    /// assert_eq!((placeholder.width(), placeholder.height()), (32, 18));
    /// assert!(Image::from_thumbhash(&[1, 2, 3]).is_err());
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn thumbhash(&self) -> Result<Bytes, Error> {
        let mut bytes = ptr::null_mut();
        // SAFETY: the image is borrowed for the call; on success the bytes are ours.
        unsafe {
            check(sys::sdd_image_thumbhash(self.raw(), &mut bytes))?;
            Ok(Bytes::owned(bytes).unwrap_or_else(Bytes::empty))
        }
    }

    /// Encodes the pixels on a decode thread of a downloader, which must not be closed.
    ///
    /// ```
    /// # use sdd::{Downloader, Image, PixelFormat};
    /// let image = Image::from_pixels(1, 1, PixelFormat::Rgb8, &[1, 2, 3], 3)?;
    /// let bytes = image.encode_async(&Downloader::shared(), &Default::default()).wait()?;
    /// assert_eq!(Image::decode(&bytes)?.width(), 1);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn encode_async(&self, downloader: &Downloader, options: &EncodeOptions) -> Request<Bytes> {
        let options = options.lend();
        submit(Task::default(), downloader, [downloader.owner(), None], |task| {
            // SAFETY: image and options are borrowed for the call; the library frees the task after the end.
            accepted(unsafe {
                sys::sdd_downloader_encode(
                    downloader.raw(),
                    self.raw(),
                    &options,
                    Some(Task::on_completed),
                    task,
                    Some(Task::free),
                )
            })
        })
    }
}

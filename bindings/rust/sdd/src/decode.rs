//! Options by which a body is decoded to pixels.

use crate::numbers::{clamped, clamped_i32, numbers};
use crate::{sys, Allocator, Colour, ImageFormat, PixelFormat};
use std::ptr;

numbers! {
    /// How a picture is scaled to the target size of [`DecodeOptions`] or [`Transform::Resize`](crate::Transform).
    ///
    /// ```
    /// use sdd::{DecodeOptions, EncodeOptions, Fit, Image, PixelFormat};
    ///
    /// let wide = Image::from_pixels(8, 4, PixelFormat::Grey8, &[0; 32], 8)?.encode(&EncodeOptions::new())?;
    /// let size = |fit| {
    ///     let image = Image::decode_with(&wide, &DecodeOptions::new().target(2, 2, fit))?;
    ///     Ok::<_, sdd::Error>((image.width(), image.height()))
    /// };
    /// assert_eq!(size(Fit::Inside)?, (2, 1));
    /// assert_eq!(size(Fit::Fill)?, (2, 2));
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Fit: Inside {
        /// As large as fits inside; the aspect ratio is kept.
        Inside = SDD_FIT_INSIDE,
        /// Just large enough to cover the target; the excess is cropped equally on both sides.
        Fill = SDD_FIT_FILL,
        /// Exactly the target size; each side is scaled by itself.
        Stretch = SDD_FIT_STRETCH,
    }
}

numbers! {
    /// How a JPEG is scaled down.
    ///
    /// ```
    /// use sdd::{DecodeOptions, Image, PixelFormat, Scaling};
    ///
    /// let jpeg = Image::from_pixels(8, 8, PixelFormat::Grey8, &[90; 64], 8)?.encode(&Default::default())?;
    /// let exact = Image::decode_with(&jpeg, &DecodeOptions::new().inside(1, 1).scaling(Scaling::Exact))?;
    /// assert_eq!(exact.pixels()?.row(0), [90, 90, 90, 255]);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    Scaling: Fast {
        /// First by libjpeg, to 1/8, 1/4 or 1/2.
        Fast = SDD_SCALING_FAST,
        /// By the means of all pixels as stored; takes half as much time again.
        Exact = SDD_SCALING_EXACT,
    }
}

/// The form in which a picture is wanted. Without any setting: RGBA8, turned by its Exif orientation, at full size.
///
/// ```
/// use sdd::{DecodeOptions, PixelFormat};
///
/// let options = DecodeOptions::new().inside(200, 200).pixel_format(PixelFormat::Bgra8Premultiplied).row_alignment(64);
/// # let _ = options;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    pixel_format: PixelFormat,
    keep_orientation: bool,
    background: u32,
    fit: Fit,
    target: (u32, u32),
    scale_down_limit_bytes: u64,
    row_alignment: u32,
    allow_enlarging: bool,
    lenient: bool,
    format_hint: Option<ImageFormat>,
    scaling: Scaling,
    allocator: Option<Allocator>,
    colour: Colour,
    still: bool,
}

impl DecodeOptions {
    /// Returns options without any setting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the layout of the pixels.
    pub fn pixel_format(mut self, format: PixelFormat) -> Self {
        self.pixel_format = format;
        self
    }

    /// Leaves the pixels as stored, and does not turn them by the Exif orientation.
    pub fn keep_orientation(mut self) -> Self {
        self.keep_orientation = true;
        self
    }

    /// Sets the colour, 0xRRGGBB, that shows through alpha in formats without alpha.
    pub fn background(mut self, colour: u32) -> Self {
        self.background = colour;
        self
    }

    /// Scales down to fit inside so many pixels; 0 stands for any number.
    pub fn inside(self, width: u32, height: u32) -> Self {
        self.target(width, height, Fit::Inside)
    }

    /// Scales down to so many pixels, as `fit` says; 0 stands for any number.
    pub fn target(mut self, width: u32, height: u32, fit: Fit) -> Self {
        (self.target, self.fit) = ((width, height), fit);
        self
    }

    /// Scales a picture of more than so many bytes, at 4 bytes a pixel, down to them. It overrides the target.
    pub fn scale_down_limit_bytes(mut self, bytes: u64) -> Self {
        self.scale_down_limit_bytes = bytes;
        self
    }

    /// Lets every row begin at a multiple of so many bytes, a power of two up to 4096. The rows then have padding.
    pub fn row_alignment(mut self, bytes: u32) -> Self {
        self.row_alignment = bytes;
        self
    }

    /// Enlarges a picture that is smaller than the target.
    pub fn allow_enlarging(mut self) -> Self {
        self.allow_enlarging = true;
        self
    }

    /// Decodes the valid part of a truncated or damaged picture, in place of an error.
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Decodes of an animated picture only the still picture that programs show which know no animations: that of the
    /// file for an animated PNG whose first frame it is not, else the first frame.
    pub fn still(mut self) -> Self {
        self.still = true;
        self
    }

    /// Sets the format of a body whose first bytes are not recognised.
    pub fn format_hint(mut self, format: ImageFormat) -> Self {
        self.format_hint = Some(format);
        self
    }

    /// Sets the method of scaling a JPEG down.
    pub fn scaling(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// Sets the colours of the pixels: those of the file, or converted to sRGB.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.colour = colour;
        self
    }

    /// Puts the pixels into memory of the application. A loader then caches the original alone.
    pub fn allocator(mut self, allocator: Allocator) -> Self {
        self.allocator = Some(allocator);
        self
    }

    pub(crate) fn lend(&self) -> sys::sdd_decode_options {
        sys::sdd_decode_options {
            pixel_format: self.pixel_format as i32,
            keep_orientation: self.keep_orientation.into(),
            background: self.background,
            fit: self.fit as i32,
            target_width: clamped_i32(self.target.0),
            target_height: clamped_i32(self.target.1),
            scale_down_limit_bytes: clamped(self.scale_down_limit_bytes),
            row_alignment: clamped_i32(self.row_alignment),
            allow_enlarging: self.allow_enlarging.into(),
            damage: if self.lenient { sys::SDD_DAMAGE_KEEP_REST } else { sys::SDD_DAMAGE_REFUSE },
            format_hint: self.format_hint.map_or(0, |format| format.0),
            scaling: self.scaling as i32,
            still: self.still.into(),
            allocator: self.allocator.as_ref().map_or(ptr::null(), Allocator::pointer),
            colour: self.colour as i32,
            ..sys::sized!(sdd_decode_options)
        }
    }
}

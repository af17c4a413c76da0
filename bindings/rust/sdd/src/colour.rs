//! Colours of pictures: what is asked for, and what a picture says of them.

use crate::numbers::numbers;
use crate::{sys, text, Image};
use std::slice;

numbers! {
    /// The colours of decoded pixels: [`DecodeOptions::colour`](crate::DecodeOptions::colour).
    ///
    /// ```
    /// use sdd::{Colour, DecodeOptions, LoadRequest};
    ///
    /// let as_stored = DecodeOptions::new().colour(Colour::Stored);
    /// let request = LoadRequest::new("https://example.org/a.jpg").decode(as_stored);
    /// # let _ = request;
    /// ```
    Colour: Default {
        /// `Srgb` for loads, prefetch lists and cache queries; `Stored` for everything else.
        Default = SDD_COLOUR_DEFAULT,
        /// The numbers of the file.
        Stored = SDD_COLOUR_AS_STORED,
        /// Converted to sRGB, as browsers do it.
        Srgb = SDD_COLOUR_SRGB,
    }
}

numbers! {
    /// What kind of colours a picture says that it has: [`ImageColour::kind`].
    ///
    /// ```
    /// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[1], 1)?;
    /// assert_eq!(image.info().colour_kind, sdd::ColourKind::Unstated);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    ColourKind: Unstated {
        /// It does not say, or in a way that cannot be used.
        Unstated = SDD_COLOUR_KIND_UNSTATED,
        /// sRGB, or at most one level of 255 from it.
        Srgb = SDD_COLOUR_KIND_SRGB,
        /// Curves and a matrix, such as Display P3 and Adobe RGB.
        Matrix = SDD_COLOUR_KIND_MATRIX,
        /// A curve for greys.
        Grey = SDD_COLOUR_KIND_GREY,
        /// A profile with tables, which are not read.
        Tables = SDD_COLOUR_KIND_TABLES,
        /// A profile of four inks, which is not read.
        Inks = SDD_COLOUR_KIND_INKS,
        /// PQ or HLG (ITU-R BT.2100), which are not converted.
        Hdr = SDD_COLOUR_KIND_HDR,
    }
}

/// What a picture says of its colours, borrowed from the image: [`Image::colour`]. It is as in the file, also if the
/// pixels were scaled, transformed or converted since.
///
/// ```
/// use sdd::{Colour, ColourKind, DecodeOptions, Image};
///
/// // A PNG of one pixel, whose gAMA says that its numbers are light.
/// let png = [
///     b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55".as_slice(),
///     b"\0\0\0\x04gAMA\0\x01\x86\xa0\x31\xe8\x96\x5f",
///     b"\0\0\0\x0aIDAT\x78\x9c\x63\x60\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xae\x42\x60\x82",
/// ]
/// .concat();
/// let image = Image::decode_with(&png, &DecodeOptions::new().colour(Colour::Srgb))?;
/// let colour = image.colour();
/// assert_eq!((colour.kind, colour.name, colour.is_converted), (ColourKind::Matrix, "gamma 1.0", true));
/// assert_eq!((colour.gamma, colour.icc_profile), (100_000, None));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageColour<'a> {
    /// What kind of colours they are.
    pub kind: ColourKind,
    /// True if the pixels were converted to sRGB.
    pub is_converted: bool,
    /// The description in the profile, or the name of the code points, such as "Display P3"; "" if there is none.
    pub name: &'a str,
    /// The profile (ICC.1).
    pub icc_profile: Option<&'a [u8]>,
    /// The code point of the primaries (ITU-T H.273), such as 12 for Display P3; 0: not stated.
    pub primaries: u32,
    /// The code point of the curve from light to stored values, such as 16 for PQ; 0: not stated.
    pub transfer: u32,
    /// The gAMA chunk of a PNG, times 100,000: the exponent from light to stored values; 0: not stated.
    pub gamma: u32,
    /// The cHRM chunk of a PNG, times 100,000: x and y of white, red, green and blue; all 0: not stated.
    pub chromaticities: [i32; 8],
}

impl Image {
    /// Returns what the picture says of its colours. Never decodes.
    pub fn colour(&self) -> ImageColour<'_> {
        let mut found = sys::sized!(sdd_image_colour);
        // SAFETY: we hold a reference; name and profile live, and do not change, while we do.
        unsafe {
            sys::sdd_image_get_colour(self.raw(), &mut found);
            let profile = found.icc_profile.cast::<u8>();
            ImageColour {
                kind: ColourKind::of(found.kind).unwrap_or_default(),
                is_converted: found.is_converted == 1,
                name: text::borrowed(found.name),
                icc_profile: (!profile.is_null()).then(|| slice::from_raw_parts(profile, found.icc_profile_size)),
                primaries: found.primaries as u32,
                transfer: found.transfer as u32,
                gamma: found.gamma as u32,
                chromaticities: found.chromaticities,
            }
        }
    }
}

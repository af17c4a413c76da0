//! Facts about pictures, frames of animations, metadata.

use crate::error::{check, check_with_detail};
use crate::numbers::microseconds;
use crate::{sys, text, Error, Image, ImageFormat};
use std::os::raw::c_void;
use std::ptr;
use std::slice;
use std::time::Duration;

/// Facts that stand before the first pixel of a picture.
///
/// ```
/// use sdd::{EncodeOptions, Image, ImageFacts, ImageFormat, PixelFormat};
///
/// let image = Image::from_pixels(3, 2, PixelFormat::Grey8, &[0; 6], 3)?;
/// let png = image.encode(&EncodeOptions::new().format(ImageFormat::PNG))?;
/// let facts = ImageFacts::probe(&png)?;
/// assert_eq!((facts.width, facts.height, facts.format), (3, 2, ImageFormat::PNG));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageFacts {
    /// The format of the encoded picture.
    pub format: ImageFormat,
    /// Pixels as stored, before the orientation is applied.
    pub width: u32,
    /// Pixels as stored, before the orientation is applied.
    pub height: u32,
    /// 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha, or four inks in a JPEG.
    pub channels: u32,
    /// Bits a channel, as stored.
    pub depth: u32,
    /// True for a progressive JPEG or an interlaced PNG.
    pub is_progressive: bool,
    /// The announced number of frames; 1 for a still picture.
    pub frame_count: u32,
    /// How often the frames are shown; 0: for ever.
    pub loop_count: u32,
    /// The Exif orientation, 1 to 8.
    pub orientation: u32,
}

impl ImageFacts {
    /// Reads the facts from the first bytes of a JPEG or PNG, without decoding. With too few bytes the status is
    /// [`Status::INCOMPLETE`](crate::Status::INCOMPLETE).
    pub fn probe(bytes: &[u8]) -> Result<ImageFacts, Error> {
        let mut facts = sys::sized!(sdd_image_facts);
        // SAFETY: the bytes are read, and the facts written, before the call returns.
        check(unsafe { sys::sdd_image_probe(bytes.as_ptr().cast(), bytes.len(), &mut facts) })?;
        Ok(Self::read(&facts))
    }

    pub(crate) fn read(facts: &sys::sdd_image_facts) -> Self {
        ImageFacts {
            format: ImageFormat(facts.format),
            width: facts.width as u32,
            height: facts.height as u32,
            channels: facts.channels as u32,
            depth: facts.depth as u32,
            is_progressive: facts.is_progressive == 1,
            frame_count: facts.frame_count as u32,
            loop_count: facts.loop_count as u32,
            orientation: facts.orientation as u32,
        }
    }
}

/// Properties of an image and of its source: [`Image::info`].
///
/// ```
/// use sdd::{DecodeOptions, Image, PixelFormat};
///
/// let jpeg = Image::from_pixels(8, 8, PixelFormat::Grey8, &[90; 64], 8)?.encode(&Default::default())?;
/// let info = Image::decode_with(&jpeg, &DecodeOptions::new().inside(4, 4))?.info()?;
/// assert_eq!((info.stored_width, info.is_scaled, info.is_partial), (8, true, false));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageInfo {
    /// Width of the encoded picture, before the orientation is applied; 0 if unknown.
    pub stored_width: u32,
    /// Height of the encoded picture, before the orientation is applied; 0 if unknown.
    pub stored_height: u32,
    /// The Exif orientation of the encoded picture, 1 to 8, whether or not it was applied.
    pub orientation: u32,
    /// Bits a channel, as stored.
    pub depth: u32,
    /// True if the encoded picture has an alpha channel or transparent colours.
    pub has_alpha: bool,
    /// True if the decode options scaled or cropped it.
    pub is_scaled: bool,
    /// Valid rows from the top, fewer than all in some previews and damaged pictures.
    pub good_rows: u32,
    /// True if the body was truncated or damaged, and decoded leniently.
    pub is_partial: bool,
    /// False while the pixels have not been decoded yet.
    pub is_decoded: bool,
}

/// A kind of metadata: [`Image::metadata`].
///
/// ```
/// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[1], 1)?;
/// assert_eq!(image.metadata(sdd::Metadata::Exif)?, None);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Metadata {
    /// A colour profile.
    Icc = sys::SDD_METADATA_ICC,
    /// The Exif block, beginning with "II" or "MM".
    Exif = sys::SDD_METADATA_EXIF,
    /// An XMP packet, UTF-8.
    Xmp = sys::SDD_METADATA_XMP,
}

/// A text in a picture, borrowed from the image: a text chunk of a PNG, a comment of a JPEG.
///
/// ```
/// // A PNG of one pixel with the text "Title": "Dot".
/// let png = [
///     b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55".as_slice(),
///     b"\0\0\0\x09tEXtTitle\0Dot\xf4\x61\x06\x6c",
///     b"\0\0\0\x0aIDAT\x78\x9c\x63\x60\0\0\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xae\x42\x60\x82",
/// ]
/// .concat();
/// let image = sdd::Image::decode(&png)?;
/// let texts: Vec<_> = image.texts().map(|text| (text.keyword, text.text)).collect();
/// assert_eq!(texts, [("Title", "Dot")]);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageText<'a> {
    /// "Title", "Author" and so on; "Comment" for the comment of a JPEG.
    pub keyword: &'a str,
    /// The text itself.
    pub text: &'a str,
    /// The language of the text (RFC 5646); "" if unknown.
    pub language: &'a str,
    /// The keyword in that language; "" if there is none.
    pub translated_keyword: &'a str,
}

impl Image {
    /// Returns properties of the image and of its source.
    pub fn info(&self) -> Result<ImageInfo, Error> {
        let mut info = sys::sized!(sdd_image_info);
        check(unsafe { sys::sdd_image_get_info(self.raw(), &mut info) })?; // SAFETY: we hold a reference
        Ok(ImageInfo {
            stored_width: info.stored_width as u32,
            stored_height: info.stored_height as u32,
            orientation: info.orientation as u32,
            depth: info.depth as u32,
            has_alpha: info.has_alpha == 1,
            is_scaled: info.is_scaled == 1,
            good_rows: info.good_rows as u32,
            is_partial: info.is_partial == 1,
            is_decoded: info.is_decoded == 1,
        })
    }

    /// Returns the facts that [`ImageFacts::probe`] gives for the encoded bytes; `None` if there are none.
    pub fn facts(&self) -> Option<ImageFacts> {
        let mut facts = sys::sized!(sdd_image_facts);
        // SAFETY: we hold a reference.
        let status = unsafe { sys::sdd_image_get_facts(self.raw(), &mut facts) };
        (status == sys::SDD_OK).then(|| ImageFacts::read(&facts))
    }

    /// Returns the number of frames of an animated picture; 1 for a still one.
    pub fn frame_count(&self) -> u32 {
        unsafe { sys::sdd_image_frame_count(self.raw()) as u32 } // SAFETY: as above
    }

    /// Returns how often the frames are to be shown; 0: for ever.
    pub fn loop_count(&self) -> u32 {
        unsafe { sys::sdd_image_loop_count(self.raw()) as u32 } // SAFETY: as above
    }

    /// Returns how long a frame is to be shown, as the file says, which may be zero.
    pub fn frame_duration(&self, index: u32) -> Duration {
        let index = i32::try_from(index).unwrap_or(-1);
        microseconds(unsafe { sys::sdd_image_frame_duration_us(self.raw(), index) })
        // SAFETY: as above
    }

    /// Makes a picture of one frame as it is shown, on this thread. The frame of a still picture is the image itself.
    pub fn frame(&self, index: u32) -> Result<Image, Error> {
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let (mut frame, mut detail) = (ptr::null_mut(), 0);
        // SAFETY: as above; on success the frame is ours.
        unsafe {
            check_with_detail(sys::sdd_image_frame(self.raw(), index, &mut frame, &mut detail), detail)?;
            Image::made(frame)
        }
    }

    /// Returns one kind of metadata, unchanged; `None` if the picture has none of that kind.
    pub fn metadata(&self, kind: Metadata) -> Result<Option<&[u8]>, Error> {
        let (mut data, mut size, mut detail): (*const c_void, _, _) = (ptr::null(), 0, 0);
        // SAFETY: we hold a reference; the bytes live, and do not change, while we do.
        unsafe {
            match sys::sdd_image_metadata(self.raw(), kind as i32, &mut data, &mut size, &mut detail) {
                sys::SDD_ERROR_NOT_FOUND => Ok(None),
                status => {
                    check_with_detail(status, detail)?;
                    let is_empty = data.is_null() || size == 0;
                    Ok(Some(if is_empty { &[] } else { slice::from_raw_parts(data.cast(), size) }))
                }
            }
        }
    }

    /// Returns the texts in the picture, in file order.
    pub fn texts(&self) -> impl Iterator<Item = ImageText<'_>> {
        let count = unsafe { sys::sdd_image_text_count(self.raw()) }; // SAFETY: as above
        (0..count).filter_map(move |index| {
            let mut found = sys::sized!(sdd_image_text);
            // SAFETY: as above; the strings live while we hold the reference.
            unsafe {
                let status = sys::sdd_image_text_at(self.raw(), index, &mut found);
                (status == sys::SDD_OK).then(|| ImageText {
                    keyword: text::borrowed(found.keyword),
                    text: text::sized(found.text, found.text_size),
                    language: text::borrowed(found.language),
                    translated_keyword: text::borrowed(found.translated_keyword),
                })
            }
        })
    }
}

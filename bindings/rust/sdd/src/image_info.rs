//! What is known of pictures, frames of animations, metadata.

use crate::error::check;
use crate::numbers::microseconds;
use crate::{sys, text, ColourKind, Error, Image, ImageFormat};
use std::os::raw::c_void;
use std::ptr;
use std::slice;
use std::time::Duration;

/// What is known of a picture, beside its pixels: [`Image::info`], [`ImageInfo::probe`].
///
/// ```
/// use sdd::{DecodeOptions, EncodeOptions, Image, ImageFormat, ImageInfo, PixelFormat};
///
/// let image = Image::from_pixels(8, 6, PixelFormat::Grey8, &[90; 48], 8)?;
/// let png = image.encode(&EncodeOptions::new().format(ImageFormat::PNG))?;
/// let info = ImageInfo::probe(&png)?;
/// assert_eq!((info.stored_width, info.stored_height, info.format), (8, 6, Some(ImageFormat::PNG)));
/// let info = Image::decode_with(&png, &DecodeOptions::new().inside(4, 4))?.info();
/// assert_eq!((info.stored_width, info.is_scaled, info.is_partial), (8, true, false));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImageInfo {
    // The encoded picture; all 0 for an image without one.
    /// The format of the encoded picture; `None` for an image that was made of pixels.
    pub format: Option<ImageFormat>,
    /// Width of the encoded picture, before the orientation is applied; 0 if unknown.
    pub stored_width: u32,
    /// Height of the encoded picture, before the orientation is applied; 0 if unknown.
    pub stored_height: u32,
    /// 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha, or four inks in a JPEG. Transparent colours count as
    /// alpha.
    pub channels: u32,
    /// Bits a channel, as stored.
    pub depth: u32,
    /// The Exif orientation of the encoded picture, 1 to 8, whether or not it was applied.
    pub orientation: u32,
    /// True for a progressive JPEG or an interlaced PNG.
    pub is_progressive: bool,
    /// Frames: those that an image has, or as announced before there is one; 1 for a still picture.
    pub frame_count: u32,
    /// How often the frames are to be shown; 0: for ever.
    pub loop_count: u32,
    // The pixels of an image; all 0 before there is one.
    /// Bytes of all pixels, with the padding of rows; 0 while they have not been decoded yet.
    pub pixels_size: usize,
    /// Valid rows from the top, fewer than all in some previews and damaged pictures.
    pub good_rows: u32,
    /// True for an image that shows what had arrived of a picture so far.
    pub is_preview: bool,
    /// True if the body was truncated or damaged, and decoded leniently.
    pub is_partial: bool,
    /// True if the decode options scaled or cropped it.
    pub is_scaled: bool,
    /// What the picture says of its colours, also if they were converted: [`Image::colour`] tells more.
    pub colour_kind: ColourKind,
    /// True if the pixels were converted to sRGB.
    pub is_converted: bool,
}

impl ImageInfo {
    /// Reads what the first bytes of a JPEG or PNG say of it, without decoding. With too few bytes the status is
    /// [`Status::INCOMPLETE`](crate::Status::INCOMPLETE).
    pub fn probe(bytes: &[u8]) -> Result<ImageInfo, Error> {
        let mut info = sys::sized!(sdd_image_info);
        // SAFETY: the bytes are read, and the info is written, before the call returns.
        check(unsafe { sys::sdd_image_probe(bytes.as_ptr().cast(), bytes.len(), &mut info) })?;
        Ok(Self::read(&info))
    }

    pub(crate) fn read(info: &sys::sdd_image_info) -> Self {
        ImageInfo {
            format: ImageFormat::of(info.format),
            stored_width: info.stored_width as u32,
            stored_height: info.stored_height as u32,
            channels: info.channels as u32,
            depth: info.depth as u32,
            orientation: info.orientation as u32,
            is_progressive: info.is_progressive == 1,
            frame_count: info.frame_count as u32,
            loop_count: info.loop_count as u32,
            pixels_size: info.pixels_size,
            good_rows: info.good_rows as u32,
            is_preview: info.is_preview == 1,
            is_partial: info.is_partial == 1,
            is_scaled: info.is_scaled == 1,
            colour_kind: ColourKind::of(info.colour_kind).unwrap_or_default(),
            is_converted: info.is_converted == 1,
        }
    }
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
    /// Returns what is known of the image and of its source. Never decodes.
    pub fn info(&self) -> ImageInfo {
        let mut info = sys::sized!(sdd_image_info);
        unsafe { sys::sdd_image_get_info(self.raw(), &mut info) }; // SAFETY: we hold a reference
        ImageInfo::read(&info)
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
        let mut frame = ptr::null_mut();
        // SAFETY: as above; on success the frame is ours.
        unsafe {
            check(sys::sdd_image_frame(self.raw(), index, &mut frame))?;
            Image::made(frame)
        }
    }

    /// Returns one kind of metadata, unchanged; `None` if the picture has none of that kind.
    pub fn metadata(&self, kind: Metadata) -> Result<Option<&[u8]>, Error> {
        let (mut data, mut size): (*const c_void, _) = (ptr::null(), 0);
        // SAFETY: we hold a reference; the bytes live, and do not change, while we do.
        unsafe {
            match sys::sdd_image_metadata(self.raw(), kind as i32, &mut data, &mut size) {
                sys::SDD_ERROR_NOT_FOUND => Ok(None),
                status => {
                    check(status)?;
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

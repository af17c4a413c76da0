//! Coders of the application: other formats of pictures.

use crate::coder_calls::Calls;
use crate::error::check;
use crate::text::{c_string, path_text, Texts};
use crate::{sys, Downloader, Error, ImageFormat, PixelFormat};
use std::path::Path;
use std::time::Duration;

/// A coder's answer to the first bytes of a body: [`Coder::can_decode`].
///
/// ```
/// use sdd::CanDecode;
///
/// fn begins_with_magic_number(first: &[u8]) -> CanDecode {
///     match first {
///         [b'D', b'O', b'T', ..] => CanDecode::Yes,
///         _ if b"DOT".starts_with(first) => CanDecode::NeedsMore,
///         _ => CanDecode::No,
///     }
/// }
///
/// assert_eq!(begins_with_magic_number(b"DO"), CanDecode::NeedsMore);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanDecode {
    /// It takes the body.
    Yes,
    /// It does not.
    No,
    /// These are too few bytes to tell.
    NeedsMore,
}

/// Why a coder cannot decode or encode.
///
/// ```
/// use sdd::CoderError;
///
/// fn side(body: &[u8]) -> Result<u8, CoderError> {
///     match body.get(4) {
///         None => Err(CoderError::Truncated),
///         Some(0) => Err(CoderError::Corrupt),
///         Some(&side) => Ok(side),
///     }
/// }
///
/// assert_eq!(side(b"DOT"), Err(CoderError::Truncated));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoderError {
    /// The body is damaged.
    Corrupt,
    /// The body ends too early.
    Truncated,
    /// A kind of picture that the coder does not support.
    Unsupported,
    /// More pixels than [`CoderTask::max_pixels`].
    TooManyPixels,
    /// No memory.
    NoMemory,
    /// Any other failure.
    Other,
}

/// The settings for one picture that a coder decodes.
///
/// ```
/// use sdd::{CoderError, CoderTask};
///
/// fn check(task: &CoderTask, width: u32, height: u32) -> Result<(), CoderError> {
///     if u64::from(width) * u64::from(height) > task.max_pixels {
///         return Err(CoderError::TooManyPixels);
///     }
///     Ok(())
/// }
/// # let _ = check;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CoderTask {
    /// A picture with more pixels is refused anyway; a coder that checks first saves memory.
    pub max_pixels: u64,
    /// If set, a coder that can scale cheaply may make frames smaller, as long as both sides are at least so long.
    pub wanted_side: Option<u32>,
    /// Whether a coder that can gives what there is of a damaged body: see [`Frame::good_rows`].
    pub keeps_rest: bool,
}

/// A picture, or one frame of an animation as it is shown. [`Frame::new`] makes a still picture.
///
/// ```
/// use sdd::{Frame, PixelFormat};
///
/// let pixels = [0; 12];
/// let mut frame = Frame::new(2, 2, PixelFormat::Rgb8, &pixels);
/// assert_eq!((frame.stride, frame.frame_count), (6, 1));
/// frame.duration = std::time::Duration::from_millis(40); // for an animation
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Frame<'a> {
    /// Rows from the top, `stride` bytes apart.
    pub pixels: &'a [u8],
    /// Bytes from one row to the next.
    pub stride: usize,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// A format with 8 bits a channel, not planar.
    pub format: PixelFormat,
    /// The Exif orientation, 1 to 8, for the library to apply; 0: none.
    pub orientation: u32,
    /// Width and height of the picture, if the frame was made smaller.
    pub picture_size: Option<(u32, u32)>,
    /// Frames of the picture, the same in each frame; 1 for a still picture.
    pub frame_count: u32,
    /// How often the frames are shown; 0: for ever.
    pub loop_count: u32,
    /// How long this frame is shown.
    pub duration: Duration,
    /// The profile (ICC.1) of the colours, in the first frame and in previews; for encoding, what is to be stored.
    pub icc_profile: Option<&'a [u8]>,
    /// In the same way, the code points (ITU-T H.273) of the primaries and of the curve from light to stored values.
    pub code_points: Option<(u8, u8)>,
    /// Of a damaged body with [`CoderTask::keeps_rest`]: the valid rows of the first frame, from the top; all of them if
    /// only later frames are damaged. 0: the body is whole.
    pub good_rows: u32,
}

impl<'a> Frame<'a> {
    /// Returns a still picture in rows without padding.
    pub fn new(width: u32, height: u32, format: PixelFormat, pixels: &'a [u8]) -> Self {
        let stride = width as usize * format.bytes_per_pixel();
        Frame {
            pixels,
            stride,
            width,
            height,
            format,
            orientation: 0,
            picture_size: None,
            frame_count: 1,
            loop_count: 0,
            duration: Duration::ZERO,
            icc_profile: None,
            code_points: None,
            good_rows: 0,
        }
    }
}

/// The picture of a body that is still arriving, as far as [`Decoder::preview`] can show it.
///
/// ```
/// use sdd::{Frame, PixelFormat, Preview};
///
/// /// Shows the rows of a grey picture of which `arrived` pixels are there.
/// fn preview(width: u32, height: u32, pixels: &[u8], arrived: usize) -> Preview<'_> {
///     let frame = Frame::new(width, height, PixelFormat::Grey8, pixels);
///     Preview::Rows { frame, good_rows: arrived as u32 / width }
/// }
/// # let _ = preview;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Preview<'a> {
    /// Nothing is known yet.
    Nothing,
    /// The size of the picture is known.
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// Rows from the top have their pixels, which no later byte changes; those below are not read.
    Rows {
        /// The picture so far.
        frame: Frame<'a>,
        /// The number of rows that have pixels.
        good_rows: u32,
    },
    /// All rows have pixels, which later bytes improve.
    Refined(Frame<'a>),
}

/// What a picture takes while a coder decodes it: [`Decoder::estimate`].
///
/// ```
/// // A picture of 640 x 480 pixels, whose decoder keeps one frame of 4 bytes a pixel, and 64 KiB.
/// let made = sdd::Estimate { width: 640, height: 480, decode_bytes: 640 * 480 * 4 + 65536 };
/// assert_eq!(made.decode_bytes, 1_294_336);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Full width of the picture in pixels.
    pub width: u32,
    /// Full height of the picture in pixels.
    pub height: u32,
    /// The most memory that the decoder has at a time, the pixels of its frames included, and the body excluded.
    pub decode_bytes: u64,
}

/// A coder of the application: it decodes, and perhaps encodes, a format that the library does not know. Its methods
/// run on decode threads, several at a time, and may take their time. A panic ends the request with
/// [`Status::BAD_IMAGE_DATA`](crate::Status::BAD_IMAGE_DATA) and `SDD_DETAIL_IMAGE_CODER`.
///
/// ```
/// use sdd::{CanDecode, Coder, CoderError, CoderTask, Decoder, Downloader, Frame, ImageFormat, PixelFormat};
///
/// /// "GREY", width, height, pixels.
/// struct Grey;
/// struct GreyDecoder(Vec<u8>);
///
/// impl Coder for Grey {
///     type Decoder = GreyDecoder;
///
///     fn can_decode(&self, first: &[u8]) -> CanDecode {
///         if first.starts_with(b"GREY") { CanDecode::Yes } else { CanDecode::No }
///     }
///
///     fn open(&self, _: &CoderTask) -> Result<GreyDecoder, CoderError> {
///         Ok(GreyDecoder(Vec::new()))
///     }
/// }
///
/// impl Decoder for GreyDecoder {
///     fn feed(&mut self, bytes: &[u8], _: bool) -> Result<(), CoderError> {
///         self.0.extend_from_slice(bytes);
///         Ok(())
///     }
///
///     fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
///         let [width, height] = [self.0[4].into(), self.0[5].into()];
///         Ok(Some(Frame::new(width, height, PixelFormat::Grey8, &self.0[6..])))
///     }
/// }
///
/// let downloader = Downloader::new()?;
/// downloader.add_coder("grey", ImageFormat::application(0), None, Grey)?;
/// let picture = downloader.download("data:image/x-grey,GREY%02%01ab").wait()?;
/// assert_eq!((picture.image.width(), picture.image.height()), (2, 1));
/// assert_eq!(picture.image.pixels()?.row(0), [b'a', b'a', b'a', 255, b'b', b'b', b'b', 255]);
/// # Ok::<(), sdd::Error>(())
/// ```
pub trait Coder: Send + Sync + 'static {
    /// The state of one picture that is being decoded.
    type Decoder: Decoder;

    /// Tells whether it takes a body with these first bytes. Called for every body; must be cheap.
    fn can_decode(&self, first: &[u8]) -> CanDecode;

    /// Begins a picture.
    fn open(&self, task: &CoderTask) -> Result<Self::Decoder, CoderError>;

    /// True for a coder whose decoders are to be fed a body while it arrives, with calls of [`Decoder::preview`] between
    /// the pieces, for requests that want previews or facts.
    const CAN_PREVIEW: bool = false;

    /// True for a coder whose decoders say what a picture will take: [`Decoder::estimate`].
    const CAN_ESTIMATE: bool = false;

    /// True for a coder that draws frames of any size: [`Decoder::resize`]. It needs [`Coder::CAN_ESTIMATE`].
    const CAN_RESIZE: bool = false;

    /// True for a coder whose [`encode`](Coder::encode) is to be called.
    const CAN_ENCODE: bool = false;

    /// Encodes a picture in [`PixelFormat::Rgba8`], with quality 1 to 100, and passes the bytes to `write`.
    fn encode(
        &self,
        picture: &Frame<'_>,
        quality: u32,
        write: &mut dyn FnMut(&[u8]) -> Result<(), CoderError>,
    ) -> Result<(), CoderError> {
        let _ = (picture, quality, write);
        Err(CoderError::Unsupported)
    }

    /// True for a coder whose [`encode_frames`](Coder::encode_frames) is to be called.
    const CAN_ENCODE_FRAMES: bool = false;

    /// Encodes an animation: takes its frames until there are no more, in [`PixelFormat::Rgba8`] and of one size, and
    /// passes the bytes to `write`.
    fn encode_frames(
        &self,
        frames: &mut dyn Frames,
        quality: u32,
        write: &mut dyn FnMut(&[u8]) -> Result<(), CoderError>,
    ) -> Result<(), CoderError> {
        let _ = (frames, quality, write);
        Err(CoderError::Unsupported)
    }
}

/// The frames of an animation that a coder encodes: [`Coder::encode_frames`].
///
/// ```
/// use sdd::{CoderError, Frames};
/// use std::time::Duration;
///
/// /// How long all frames are shown.
/// fn length(frames: &mut dyn Frames) -> Result<Duration, CoderError> {
///     let mut sum = Duration::ZERO;
///     while let Some(frame) = frames.next()? {
///         sum += frame.duration;
///     }
///     Ok(sum)
/// }
/// # let _ = length;
/// ```
pub trait Frames {
    /// Gives the next frame; `None` if there are no more. An error is to be returned.
    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError>;
}

/// The state of one picture that is being decoded: [`Coder::open`].
///
/// ```
/// use sdd::{CoderError, Decoder, Frame, PixelFormat};
///
/// /// Frames of one grey pixel, each a byte of the body.
/// struct Blinking { body: Vec<u8>, next: usize }
///
/// impl Decoder for Blinking {
///     fn feed(&mut self, bytes: &[u8], _: bool) -> Result<(), CoderError> {
///         self.body.extend_from_slice(bytes);
///         Ok(())
///     }
///
///     fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
///         self.next += 1;
///         Ok(self.body.get(self.next - 1..self.next).map(|pixel| Frame::new(1, 1, PixelFormat::Grey8, pixel)))
///     }
/// }
///
/// let mut decoder = Blinking { body: Vec::new(), next: 0 };
/// decoder.feed(&[7, 9], true).unwrap();
/// assert_eq!(decoder.next().unwrap().unwrap().pixels, [7]);
/// assert_eq!(decoder.next().unwrap().unwrap().pixels, [9]);
/// assert!(decoder.next().unwrap().is_none());
/// ```
pub trait Decoder: Send + 'static {
    /// Takes the body, piece after piece.
    fn feed(&mut self, bytes: &[u8], is_last: bool) -> Result<(), CoderError>;

    /// Gives the next frame, after the last piece; `None` if there are no more.
    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError>;

    /// Says what the picture will take, before the first call of `next` or `preview`, if [`Coder::CAN_ESTIMATE`]: the
    /// library decodes it once there is room for that. `None`: more bytes are needed.
    fn estimate(&mut self) -> Result<Option<Estimate>, CoderError> {
        Err(CoderError::Unsupported)
    }

    /// Sets the size of the frames to come, if [`Coder::CAN_RESIZE`]: the one that is wanted, which may be larger than
    /// the picture. Called after the first [`estimate`](Decoder::estimate), which is then asked again, and states the
    /// picture's own size as before.
    fn resize(&mut self, width: u32, height: u32) -> Result<(), CoderError> {
        let _ = (width, height);
        Err(CoderError::Unsupported)
    }

    /// Shows what the pieces so far give, if [`Coder::CAN_PREVIEW`]. After an error, such as
    /// [`CoderError::Unsupported`] for a body that cannot be shown before its end, the decoder is dropped, and another
    /// one decodes the whole body.
    fn preview(&mut self) -> Result<Preview<'_>, CoderError> {
        Err(CoderError::Unsupported)
    }
}

impl Downloader {
    /// Adds a coder to this downloader. The name is for messages and [`remove_coder`](Downloader::remove_coder); the
    /// media type, such as "image/webp", for the Accept header field.
    pub fn add_coder<C: Coder>(
        &self,
        name: &str,
        format: ImageFormat,
        mime_type: Option<&str>,
        coder: C,
    ) -> Result<(), Error> {
        add(name, format, mime_type, coder, |lent| {
            // SAFETY: the struct is copied; the library frees the coder, if it has accepted it.
            unsafe { sys::sdd_downloader_add_coder(self.raw(), lent) }
        })
    }

    /// Removes the coder that was last added under a name. Pictures that it is decoding go on.
    pub fn remove_coder(&self, name: &str) -> Result<(), Error> {
        let name = c_string(name)?;
        // SAFETY: the name is read before the call returns.
        check(unsafe { sys::sdd_downloader_remove_coder(self.raw(), name.as_ptr()) })
    }
}

/// Adds a coder to every downloader of the process, otherwise like [`Downloader::add_coder`]. It also serves
/// [`Image::decode`](crate::Image::decode) and [`Image::encode`](crate::Image::encode).
pub fn register_coder<C: Coder>(
    name: &str,
    format: ImageFormat,
    mime_type: Option<&str>,
    coder: C,
) -> Result<(), Error> {
    add(name, format, mime_type, coder, |lent| {
        // SAFETY: as above.
        unsafe { sys::sdd_process_add_coder(lent) }
    })
}

/// Removes the coder of the process that was last added under a name.
pub fn unregister_coder(name: &str) -> Result<(), Error> {
    let name = c_string(name)?;
    check(unsafe { sys::sdd_process_remove_coder(name.as_ptr()) }) // SAFETY: the name is read before the call returns
}

/// Loads a shared object and registers its coder.
///
/// # Safety
///
/// The object's code runs in this process, and must be a coder that keeps the contract of the C header.
pub unsafe fn load_coder(path: &Path) -> Result<(), Error> {
    let path = c_string(path_text(path)?)?;
    // SAFETY: as the caller promises; the path is read before the call returns.
    check(unsafe { sys::sdd_process_load_coder_wait(path.as_ptr()) })
}

fn add<C: Coder>(
    name: &str,
    format: ImageFormat,
    mime_type: Option<&str>,
    coder: C,
    call: impl FnOnce(&sys::sdd_coder) -> sys::sdd_status,
) -> Result<(), Error> {
    let mut texts = Texts::default();
    let mut lent: sys::sdd_coder = Calls::<C>::table();
    (lent.name, lent.format) = (texts.add(name)?, format.0);
    lent.mime_type = texts.add_optional(&mime_type.map(String::from))?;
    let coder = Box::into_raw(Box::new(coder));
    lent.user_data = coder.cast();
    check(call(&lent)).map_err(|error| {
        drop(unsafe { Box::from_raw(coder) }); // SAFETY: not accepted, so it stayed ours
        error
    })
}

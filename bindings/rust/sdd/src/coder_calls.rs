//! The C functions of a coder of the application.

use crate::border::guard;
use crate::coder::{CanDecode, Coder, CoderError, CoderTask, Decoder, Estimate, Frame, Frames, Preview};
use crate::numbers::clamped_i32;
use crate::{sys, PixelFormat};
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::slice;
use std::time::Duration;

/// The functions that the library calls with a coder as user data.
pub(crate) struct Calls<C>(PhantomData<C>);

impl<C: Coder> Calls<C> {
    pub(crate) fn table() -> sys::sdd_coder {
        sys::sdd_coder {
            can_decode: Some(Self::can_decode),
            open: Some(Self::open),
            feed: Some(Self::feed),
            next: Some(Self::next),
            close: Some(Self::close),
            preview: C::CAN_PREVIEW.then_some(Self::preview),
            estimate: C::CAN_ESTIMATE.then_some(Self::estimate),
            resize: C::CAN_RESIZE.then_some(Self::resize),
            encode: C::CAN_ENCODE.then_some(Self::encode),
            encode_frames: C::CAN_ENCODE_FRAMES.then_some(Self::encode_frames),
            user_data_free: Some(Self::free),
            ..sys::sized!(sdd_coder)
        }
    }

    /// SAFETY: the user data of a coder that is not free.
    unsafe fn coder<'a>(user_data: *mut c_void) -> &'a C {
        unsafe { &*user_data.cast::<C>() }
    }

    unsafe extern "C" fn can_decode(first: *const c_void, size: usize, user_data: *mut c_void) -> i32 {
        let answer = guard(|| {
            // SAFETY: the bytes are lent until we return.
            let (coder, first) = unsafe { (Self::coder(user_data), bytes(first, size)) };
            coder.can_decode(first)
        });
        match answer {
            Ok(CanDecode::Yes) => 1,
            Ok(CanDecode::NeedsMore) => -1,
            Ok(CanDecode::No) | Err(_) => 0,
        }
    }

    unsafe extern "C" fn open(
        task: *const sys::sdd_coder_task,
        decoder: *mut *mut c_void,
        user_data: *mut c_void,
    ) -> sys::sdd_status {
        answer(|| {
            // SAFETY: the task is lent until we return.
            let (coder, task) = unsafe { (Self::coder(user_data), &*task) };
            let wanted_side = u32::try_from(task.wanted_side).ok().filter(|&side| side > 0);
            let keeps_rest = task.damage == sys::SDD_DAMAGE_KEEP_REST;
            let max_pixels = u64::try_from(task.max_pixels).unwrap_or(0);
            let task = CoderTask { max_pixels, wanted_side, keeps_rest };
            let opened = Box::new(coder.open(&task)?);
            unsafe { *decoder = Box::into_raw(opened).cast() }; // SAFETY: ours to write until we return
            Ok(())
        })
    }

    unsafe extern "C" fn feed(
        decoder: *mut c_void,
        piece: *const c_void,
        size: usize,
        is_last: i32,
        _: *mut c_void,
    ) -> sys::sdd_status {
        answer(|| {
            // SAFETY: from `open`; the library calls for one decoder on one thread at a time. The piece is lent.
            let (opened, piece) = unsafe { (&mut *decoder.cast::<C::Decoder>(), bytes(piece, size)) };
            opened.feed(piece, is_last == 1)
        })
    }

    unsafe extern "C" fn next(
        decoder: *mut c_void,
        frame: *mut sys::sdd_coder_frame,
        _: *mut c_void,
    ) -> sys::sdd_status {
        let mut is_end = false;
        let status = answer(|| {
            // SAFETY: as above. The pixels stay borrowed from the decoder until its next call.
            let (opened, out) = unsafe { (&mut *decoder.cast::<C::Decoder>(), &mut *frame) };
            match opened.next()? {
                Some(frame) => write(&frame, out),
                None => {
                    is_end = true;
                    Ok(())
                }
            }
        });
        if is_end {
            sys::SDD_ERROR_NOT_FOUND
        } else {
            status
        }
    }

    unsafe extern "C" fn preview(
        decoder: *mut c_void,
        preview: *mut sys::sdd_coder_preview,
        _: *mut c_void,
    ) -> sys::sdd_status {
        let mut is_early = false;
        let status = answer(|| {
            // SAFETY: as above.
            let (opened, out) = unsafe { (&mut *decoder.cast::<C::Decoder>(), &mut *preview) };
            is_early = !write_preview(&opened.preview()?, out)?;
            Ok(())
        });
        if is_early {
            sys::SDD_ERROR_INCOMPLETE
        } else {
            status
        }
    }

    unsafe extern "C" fn estimate(
        decoder: *mut c_void,
        estimate: *mut sys::sdd_coder_estimate,
        _: *mut c_void,
    ) -> sys::sdd_status {
        let mut is_early = false;
        let status = answer(|| {
            // SAFETY: as above.
            let (opened, out) = unsafe { (&mut *decoder.cast::<C::Decoder>(), &mut *estimate) };
            match opened.estimate()? {
                Some(made) => write_estimate(made, out),
                None => is_early = true,
            }
            Ok(())
        });
        if is_early {
            sys::SDD_ERROR_INCOMPLETE
        } else {
            status
        }
    }

    unsafe extern "C" fn resize(decoder: *mut c_void, width: i32, height: i32, _: *mut c_void) -> sys::sdd_status {
        answer(|| {
            // SAFETY: as above.
            let opened = unsafe { &mut *decoder.cast::<C::Decoder>() };
            opened.resize(width.unsigned_abs(), height.unsigned_abs())
        })
    }

    unsafe extern "C" fn close(decoder: *mut c_void, _: *mut c_void) {
        // SAFETY: from `open`, and called once.
        let _ = guard(|| drop(unsafe { Box::from_raw(decoder.cast::<C::Decoder>()) }));
    }

    unsafe extern "C" fn encode(
        picture: *const sys::sdd_coder_frame,
        quality: i32,
        write: sys::sdd_coder_write_fn,
        context: *mut c_void,
        user_data: *mut c_void,
    ) -> sys::sdd_status {
        answer(|| {
            // SAFETY: the picture is lent until we return.
            let (coder, picture) = unsafe { (Self::coder(user_data), read(&*picture).ok_or(CoderError::Other)?) };
            let quality = u32::try_from(quality).unwrap_or(0);
            // SAFETY: `write` may be called on this thread until we return.
            coder.encode(&picture, quality, &mut |bytes| unsafe { pass_on(bytes, write, context) })
        })
    }

    unsafe extern "C" fn encode_frames(
        next: sys::sdd_coder_next_fn,
        source: *mut c_void,
        quality: i32,
        write: sys::sdd_coder_write_fn,
        context: *mut c_void,
        user_data: *mut c_void,
    ) -> sys::sdd_status {
        let mut failure = sys::SDD_OK;
        let status = answer(|| {
            // SAFETY: the coder is not free before we return.
            let coder = unsafe { Self::coder(user_data) };
            let mut frames = LentFrames { next: next.ok_or(CoderError::Other)?, source, failure: &mut failure };
            let quality = u32::try_from(quality).unwrap_or(0);
            // SAFETY: `write` may be called on this thread until we return.
            coder.encode_frames(&mut frames, quality, &mut |bytes| unsafe { pass_on(bytes, write, context) })
        });
        if failure == sys::SDD_OK {
            status
        } else {
            failure
        }
    }

    unsafe extern "C" fn free(user_data: *mut c_void) {
        // SAFETY: from into_raw, and called once.
        let _ = guard(|| drop(unsafe { Box::from_raw(user_data.cast::<C>()) }));
    }
}

/// Returns the status of a call; that of a panic is a failure of the coder.
fn answer(body: impl FnOnce() -> Result<(), CoderError>) -> sys::sdd_status {
    match guard(body) {
        Ok(Ok(())) => sys::SDD_OK,
        Ok(Err(error)) => match error {
            CoderError::Corrupt => sys::SDD_ERROR_BAD_IMAGE_DATA,
            CoderError::Truncated => sys::SDD_DETAIL_IMAGE_TRUNCATED,
            CoderError::Unsupported => sys::SDD_ERROR_UNSUPPORTED,
            CoderError::TooManyPixels => sys::SDD_DETAIL_IMAGE_TOO_MANY_PIXELS,
            CoderError::NoMemory => sys::SDD_ERROR_NO_RESOURCES,
            CoderError::Other => sys::SDD_DETAIL_IMAGE_CODER,
        },
        Err(_) => sys::SDD_DETAIL_IMAGE_CODER,
    }
}

/// The frames of an animation that a coder encodes, while its function has not returned.
struct LentFrames<'a> {
    next: unsafe extern "C" fn(*mut c_void, *mut sys::sdd_coder_frame) -> sys::sdd_status,
    source: *mut c_void,
    /// The status of a frame that cannot be decoded.
    failure: &'a mut sys::sdd_status,
}

impl Frames for LentFrames<'_> {
    fn next(&mut self) -> Result<Option<Frame<'_>>, CoderError> {
        let mut frame = sys::sized!(sdd_coder_frame);
        // SAFETY: `next` may be called on this thread. The pixels are lent until its next call.
        let lent = match unsafe { (self.next)(self.source, &mut frame) } {
            sys::SDD_OK => unsafe { read(&frame) },
            sys::SDD_ERROR_NOT_FOUND => return Ok(None),
            status => {
                *self.failure = status;
                return Err(CoderError::Other);
            }
        };
        let mut lent = lent.ok_or(CoderError::Other)?;
        lent.frame_count = u32::try_from(frame.frame_count).unwrap_or(1);
        lent.loop_count = u32::try_from(frame.loop_count).unwrap_or(0);
        lent.duration = Duration::from_micros(u64::try_from(frame.duration_us).unwrap_or(0));
        Ok(Some(lent))
    }
}

/// Passes encoded bytes to the library, which copies them.
///
/// SAFETY: `write` may be called with `context` now.
unsafe fn pass_on(bytes: &[u8], write: sys::sdd_coder_write_fn, context: *mut c_void) -> Result<(), CoderError> {
    let write = write.ok_or(CoderError::Other)?;
    match unsafe { write(context, bytes.as_ptr().cast(), bytes.len()) } {
        sys::SDD_OK => Ok(()),
        sys::SDD_ERROR_NO_RESOURCES => Err(CoderError::NoMemory),
        _ => Err(CoderError::Other),
    }
}

/// SAFETY: NULL, or so many bytes that are lent for 'a.
unsafe fn bytes<'a>(first: *const c_void, size: usize) -> &'a [u8] {
    if first.is_null() || size == 0 {
        &[]
    } else {
        unsafe { slice::from_raw_parts(first.cast(), size) }
    }
}

/// Bytes from the first pixel to the last; `None` if the numbers do not fit together.
fn needed(width: u32, height: u32, format: PixelFormat, stride: usize) -> Option<usize> {
    let row = (width as usize).checked_mul(format.bytes_per_pixel())?;
    let before = stride.checked_mul((height as usize).checked_sub(1)?)?;
    (stride >= row && format.planes() == 1).then_some(())?;
    before.checked_add(row)
}

/// Passes a frame to the library, if its memory holds all of its pixels: the library cannot check that.
fn write(frame: &Frame<'_>, out: &mut sys::sdd_coder_frame) -> Result<(), CoderError> {
    match needed(frame.width, frame.height, frame.format, frame.stride) {
        Some(needed) if needed <= frame.pixels.len() => {}
        _ => return Err(CoderError::Other),
    }
    out.pixels = frame.pixels.as_ptr().cast();
    out.stride = frame.stride;
    (out.width, out.height) = (clamped_i32(frame.width), clamped_i32(frame.height));
    out.pixel_format = frame.format as i32;
    out.orientation = clamped_i32(frame.orientation);
    if let Some((width, height)) = frame.picture_size {
        (out.picture_width, out.picture_height) = (clamped_i32(width), clamped_i32(height));
    }
    (out.frame_count, out.loop_count) = (clamped_i32(frame.frame_count), clamped_i32(frame.loop_count));
    out.duration_us = i64::try_from(frame.duration.as_micros()).unwrap_or(i64::MAX);
    if let Some(profile) = frame.icc_profile {
        (out.icc_profile, out.icc_profile_size) = (profile.as_ptr().cast(), profile.len());
    }
    if let Some((primaries, transfer)) = frame.code_points {
        (out.primaries, out.transfer) = (primaries.into(), transfer.into());
    }
    out.good_rows = clamped_i32(frame.good_rows);
    Ok(())
}

/// Passes an estimate to the library.
fn write_estimate(made: Estimate, out: &mut sys::sdd_coder_estimate) {
    out.width = clamped_i32(made.width);
    out.height = clamped_i32(made.height);
    out.decode_bytes = i64::try_from(made.decode_bytes).unwrap_or(i64::MAX);
}

/// Passes a preview to the library. Returns false if there is none yet.
fn write_preview(preview: &Preview<'_>, out: &mut sys::sdd_coder_preview) -> Result<bool, CoderError> {
    match preview {
        Preview::Nothing => return Ok(false),
        Preview::Size { width, height } => {
            (out.frame.picture_width, out.frame.picture_height) = (clamped_i32(*width), clamped_i32(*height));
        }
        Preview::Rows { frame, good_rows } => {
            write(frame, &mut out.frame)?;
            out.good_rows = clamped_i32(*good_rows);
        }
        Preview::Refined(frame) => {
            write(frame, &mut out.frame)?;
            out.is_refined = 1;
        }
    }
    Ok(true)
}

/// SAFETY: a picture that is lent for 'a.
unsafe fn read<'a>(picture: &sys::sdd_coder_frame) -> Option<Frame<'a>> {
    let (width, height) = (u32::try_from(picture.width).ok()?, u32::try_from(picture.height).ok()?);
    let format = PixelFormat::of(picture.pixel_format)?;
    let size = needed(width, height, format, picture.stride)?;
    let mut frame = Frame::new(width, height, format, unsafe { bytes(picture.pixels, size) });
    frame.stride = picture.stride;
    frame.duration = Duration::ZERO;
    if !picture.icc_profile.is_null() && picture.icc_profile_size > 0 {
        frame.icc_profile = Some(unsafe { bytes(picture.icc_profile, picture.icc_profile_size) });
    }
    if let (Ok(primaries), Ok(transfer)) = (u8::try_from(picture.primaries), u8::try_from(picture.transfer)) {
        frame.code_points = (primaries > 0 || transfer > 0).then_some((primaries, transfer));
    }
    Some(frame)
}

//! Transforms of decoded pictures.

use crate::border::{guard, used_by_any_thread};
use crate::error::check;
use crate::numbers::clamped_i32;
use crate::text::Texts;
use crate::{sys, text, Error, Fit, Image};
use std::fmt;
use std::ops::BitOr;
use std::os::raw::c_void;
use std::ptr;
use std::sync::Arc;

/// A change of a decoded picture. A load's result has a cache entry of its own, named by the keys of its transforms.
///
/// ```
/// use sdd::{Image, PixelFormat, Transform};
///
/// let image = Image::from_pixels(2, 1, PixelFormat::Grey8, &[10, 20], 2)?;
/// let turned = image.transform(&[Transform::Rotate(90), Transform::flip_vertical()])?;
/// assert_eq!((turned.width(), turned.height()), (1, 2));
/// assert_eq!(turned.pixels()?.bytes(), Some(&[20, 10][..]));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Transform {
    /// Scales down to a size, and up only if that is said.
    Resize {
        /// Pixels; 0 for any number.
        width: u32,
        /// Pixels; 0 for any number.
        height: u32,
        /// How the picture is fitted into the size.
        fit: Fit,
        /// True to enlarge a smaller picture.
        enlarge: bool,
    },
    /// Keeps a part of the picture, which may lie outside of it in part.
    Crop {
        /// Pixels from the left.
        x: i32,
        /// Pixels from the top.
        y: i32,
        /// Pixels, at least 1.
        width: u32,
        /// Pixels, at least 1.
        height: u32,
    },
    /// Mirrors the picture.
    Flip {
        /// True to swap left and right.
        horizontal: bool,
        /// True to swap top and bottom.
        vertical: bool,
    },
    /// Rotates clockwise by 90, 180 or 270 degrees, which only moves pixels; other angles as `Turn`.
    Rotate(u32),
    /// Rotates clockwise by any angle. What the picture does not reach is transparent.
    Turn {
        /// Any finite number; it is rounded to thousandths.
        degrees: f64,
        /// True to cut corners off, so that the result is as large as the picture.
        keep_size: bool,
    },
    /// Makes the outside of quarter circles transparent.
    RoundCorners {
        /// Pixels, at most half of the shorter side.
        radius: u32,
        /// Which corners.
        corners: Corners,
    },
    /// Draws a line along the inside of the edges, and of the quarter circles that `RoundCorners` leaves.
    Border {
        /// Pixels, at most to the middle.
        width: u32,
        /// `0xAARRGGBB`, not multiplied by alpha.
        colour: u32,
        /// Pixels; 0 for corners that are not round.
        radius: u32,
        /// Which corners are round.
        corners: Corners,
    },
    /// Mixes the colours with one, `0xAARRGGBB`, as far as it is opaque.
    Tint(u32),
    /// Blurs; the standard deviation in pixels, as of `blur()` in CSS.
    Blur(u32),
    /// Calls a closure of the application: see [`Transform::custom`].
    Custom(CustomTransform),
}

/// Corners of a picture, combined with `|`.
///
/// ```
/// use sdd::{Corners, Transform};
///
/// let top = Transform::RoundCorners { radius: 8, corners: Corners::TOP_LEFT | Corners::TOP_RIGHT };
/// assert_eq!(Transform::key(&[top])?, "round(8,3)");
/// assert_eq!(Transform::key(&[Transform::RoundCorners { radius: 8, corners: Corners::ALL }])?, "round(8,15)");
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corners(i32);

impl Corners {
    /// The top left one.
    pub const TOP_LEFT: Corners = Corners(sys::SDD_CORNER_TOP_LEFT);
    /// The top right one.
    pub const TOP_RIGHT: Corners = Corners(sys::SDD_CORNER_TOP_RIGHT);
    /// The bottom left one.
    pub const BOTTOM_LEFT: Corners = Corners(sys::SDD_CORNER_BOTTOM_LEFT);
    /// The bottom right one.
    pub const BOTTOM_RIGHT: Corners = Corners(sys::SDD_CORNER_BOTTOM_RIGHT);
    /// All four.
    pub const ALL: Corners = Corners(0);
}

impl BitOr for Corners {
    type Output = Corners;

    fn bitor(self, other: Corners) -> Corners {
        if self == Corners::ALL || other == Corners::ALL {
            Corners::ALL
        } else {
            Corners(self.0 | other.0)
        }
    }
}

impl Default for Corners {
    fn default() -> Self {
        Corners::ALL
    }
}

impl Transform {
    /// Swaps left and right.
    pub fn flip_horizontal() -> Self {
        Transform::Flip { horizontal: true, vertical: false }
    }

    /// Swaps top and bottom.
    pub fn flip_vertical() -> Self {
        Transform::Flip { horizontal: false, vertical: true }
    }

    /// Calls a closure, on a decode thread or on that of [`Image::transform`]. `None`, or a panic, makes the request
    /// fail.
    ///
    /// The key names the result in caches. It is not empty, has no control characters, and is never the same for two
    /// closures that do different things: loads with equal keys share one result, made by the closure of either.
    ///
    /// ```
    /// use sdd::{Image, PixelFormat, Transform};
    ///
    /// let invert = Transform::custom("invert", |image| {
    ///     let pixels = image.pixels().ok()?;
    ///     let inverted: Vec<u8> = pixels.bytes()?.iter().map(|&value| 255 - value).collect();
    ///     Image::from_pixels(pixels.width(), pixels.height(), pixels.format(), &inverted, pixels.stride()).ok()
    /// });
    /// let image = Image::from_pixels(1, 1, PixelFormat::Grey8, &[1], 1)?;
    /// assert_eq!(image.transform(&[invert])?.pixels()?.row(0), [254]);
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn custom(key: &str, function: impl Fn(&Image) -> Option<Image> + Send + Sync + 'static) -> Self {
        Transform::Custom(CustomTransform(Arc::new(Custom { key: key.to_owned(), function: Box::new(function) })))
    }

    fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_transform, Error> {
        let mut lent = sys::sized!(sdd_transform);
        match self {
            &Transform::Resize { width, height, fit, enlarge } => {
                (lent.kind, lent.fit, lent.allow_enlarging) = (sys::SDD_TRANSFORM_RESIZE, fit as i32, enlarge.into());
                (lent.width, lent.height) = (clamped_i32(width), clamped_i32(height));
            }
            &Transform::Crop { x, y, width, height } => {
                (lent.kind, lent.x, lent.y) = (sys::SDD_TRANSFORM_CROP, x, y);
                (lent.width, lent.height) = (clamped_i32(width), clamped_i32(height));
            }
            &Transform::Flip { horizontal, vertical } => {
                lent.kind = sys::SDD_TRANSFORM_FLIP;
                lent.flip = if horizontal { sys::SDD_FLIP_HORIZONTAL } else { 0 }
                    | if vertical { sys::SDD_FLIP_VERTICAL } else { 0 };
            }
            &Transform::Rotate(degrees) => {
                (lent.kind, lent.degrees) = (sys::SDD_TRANSFORM_ROTATE, degrees.into());
            }
            &Transform::Turn { degrees, keep_size } => {
                lent.kind = sys::SDD_TRANSFORM_ROTATE;
                (lent.degrees, lent.keep_size) = (degrees, keep_size.into());
            }
            &Transform::RoundCorners { radius, corners } => {
                lent.kind = sys::SDD_TRANSFORM_ROUND_CORNERS;
                (lent.radius, lent.corners) = (clamped_i32(radius), corners.0);
            }
            &Transform::Border { width, colour, radius, corners } => {
                (lent.kind, lent.border, lent.colour) = (sys::SDD_TRANSFORM_BORDER, clamped_i32(width), colour);
                (lent.radius, lent.corners) = (clamped_i32(radius), corners.0);
            }
            &Transform::Tint(colour) => (lent.kind, lent.colour) = (sys::SDD_TRANSFORM_TINT, colour),
            &Transform::Blur(radius) => (lent.kind, lent.radius) = (sys::SDD_TRANSFORM_BLUR, clamped_i32(radius)),
            Transform::Custom(custom) => {
                (lent.kind, lent.key) = (sys::SDD_TRANSFORM_CALLBACK, texts.add(&custom.0.key)?);
                lent.callback = Some(call);
                lent.user_data = Arc::as_ptr(&custom.0) as *mut c_void;
            }
        }
        Ok(lent)
    }

    /// Returns transforms as C structs, which are valid while `texts` and `list` live.
    pub(crate) fn lend_all(list: &[Transform], texts: &mut Texts) -> Result<Vec<sys::sdd_transform>, Error> {
        list.iter().map(|transform| transform.lend(texts)).collect()
    }

    /// Returns the text that names the transforms in the keys of caches, such as `resize(100,80,fill)-rotate(90)`.
    ///
    /// ```
    /// use sdd::Transform;
    ///
    /// assert_eq!(Transform::key(&[Transform::Rotate(90)])?, "rotate(90)");
    /// let tilted = Transform::Turn { degrees: -7.25, keep_size: true };
    /// assert_eq!(Transform::key(&[tilted, Transform::Tint(0x80ff0000)])?, "rotate(352.75,keep)-tint(80ff0000)");
    /// # Ok::<(), sdd::Error>(())
    /// ```
    pub fn key(list: &[Transform]) -> Result<String, Error> {
        let mut texts = Texts::default();
        let lent = Self::lend_all(list, &mut texts)?;
        // SAFETY: the list is read, and at most `capacity` bytes are written, before the call returns.
        text::read(|buffer, capacity, length| unsafe {
            sys::sdd_transform_key(lent.as_ptr(), lent.len(), buffer, capacity, length)
        })
    }
}

impl Image {
    /// Applies transforms, one after the other, on this thread. If they have no effect, the result is the image itself.
    pub fn transform(&self, list: &[Transform]) -> Result<Image, Error> {
        let mut texts = Texts::default();
        let lent = Transform::lend_all(list, &mut texts)?;
        let mut image = ptr::null_mut();
        // SAFETY: the list is copied; `list` and its closures outlive the call. On success the image is ours.
        unsafe {
            check(sys::sdd_image_transform(self.raw(), lent.as_ptr(), lent.len(), &mut image))?;
            Image::made(image)
        }
    }
}

type Function = dyn Fn(&Image) -> Option<Image> + Send + Sync;

/// A closure that transforms images, with its key: see [`Transform::custom`].
///
/// ```
/// let same = sdd::Transform::custom("same", |image| Some(image.clone()));
/// assert_eq!(format!("{same:?}"), "Custom(CustomTransform(\"same\"))");
/// ```
#[derive(Clone)]
pub struct CustomTransform(Arc<Custom>);

struct Custom {
    key: String,
    function: Box<Function>,
}

impl fmt::Debug for CustomTransform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CustomTransform({:?})", self.0.key)
    }
}

/// Transforms as C structs for a load, with references of their own to their closures. The library gives these back; or
/// this object, unless the library has taken them.
pub(crate) struct LentTransforms {
    list: Vec<sys::sdd_transform>,
    is_taken: bool,
}

impl LentTransforms {
    /// They are valid while `texts` lives.
    pub(crate) fn new(list: &[Transform], texts: &mut Texts) -> Result<Self, Error> {
        let mut lent = LentTransforms { list: Transform::lend_all(list, texts)?, is_taken: false };
        for (each, transform) in lent.list.iter_mut().zip(list) {
            if let Transform::Custom(custom) = transform {
                let lent: &mut sys::sdd_transform = each;
                lent.user_data = Arc::into_raw(custom.0.clone()) as *mut c_void;
                lent.user_data_free = Some(free);
            }
        }
        Ok(lent)
    }

    pub(crate) fn list(&self) -> &[sys::sdd_transform] {
        &self.list
    }

    /// Says that a call has accepted them.
    pub(crate) fn taken(&mut self) {
        self.is_taken = true;
    }
}

impl Drop for LentTransforms {
    fn drop(&mut self) {
        if !self.is_taken {
            for lent in self.list.iter().filter(|lent| lent.user_data_free.is_some()) {
                unsafe { free(lent.user_data) } // SAFETY: from `new`; the library has not taken it
            }
        }
    }
}

const _: () = used_by_any_thread::<Custom>();

unsafe extern "C" fn free(user_data: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Arc::from_raw(user_data as *const Custom) }));
}

unsafe extern "C" fn call(image: *mut sys::sdd_image, user_data: *mut c_void) -> *mut sys::sdd_image {
    let made = guard(|| {
        // SAFETY: the image is lent until we return; the closure lives until `free`, or as long as the call.
        let (custom, image) = unsafe { (&*user_data.cast::<Custom>(), Image::retained(image)?) };
        (custom.function)(&image)
    });
    made.ok().flatten().map_or(ptr::null_mut(), Image::into_raw)
}

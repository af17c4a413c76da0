//! Gain maps: where they lie in a picture, and what their values mean.

use crate::error::check;
use crate::{sys, Error, Image};
use std::ptr;

/// The kind of a gain map: [`GainMapInfo::kind`].
///
/// ```
/// assert!(sdd::GainMapKind::Iso != sdd::GainMapKind::Apple);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GainMapKind {
    /// ISO 21496-1.
    Iso,
    /// Ultra HDR 1.0 of Android, which is Adobe's gain map 1.0.
    UltraHdr,
    /// Apple's HDRGainMap.
    Apple,
}

/// Where a gain map lies, and what its values mean: [`Image::gain_map_info`]. Arrays have red, green and blue.
///
/// For a value `v` of the map, from 0 to 1, the boost is `2^(min + (max - min) * v^(1 / gamma))` on a display whose
/// headroom is `capacity_max` or more. `sdd/gainmap.h` has the formula of Apple's maps.
///
/// ```
/// let image = sdd::Image::from_pixels(1, 1, sdd::PixelFormat::Grey8, &[1], 1)?;
/// assert!(image.gain_map_info()?.is_none() && image.gain_map()?.is_none());
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GainMapInfo {
    /// What describes the map.
    pub kind: GainMapKind,
    /// True if the image is the rendition for HDR, and the map makes the one for SDR.
    pub is_base_hdr: bool,
    /// Where the map begins in the encoded bytes: a JPEG of its own, or in AVIF and HEIF the data of its item.
    pub offset: usize,
    /// Bytes of the map; 0, like the offset, if it is in several pieces.
    pub size: usize,
    /// The least boost, as log2.
    pub min_boost: [f64; 3],
    /// The largest boost, as log2.
    pub max_boost: [f64; 3],
    /// The exponent of the values.
    pub gamma: [f64; 3],
    /// What is added to linear SDR values before they are multiplied.
    pub offset_sdr: [f64; 3],
    /// What is taken from linear HDR values after that.
    pub offset_hdr: [f64; 3],
    /// The log2 of the headroom of a display up to which the map has no effect.
    pub capacity_min: f64,
    /// The log2 of the headroom from which on it has all of its effect.
    pub capacity_max: f64,
}

impl Image {
    /// Finds the gain map of a JPEG, AVIF or HEIF, without decoding it; `None` if there is none.
    pub fn gain_map_info(&self) -> Result<Option<GainMapInfo>, Error> {
        let mut info = sys::sized!(sdd_gain_map_info);
        // SAFETY: we hold a reference; the info is written before the call returns.
        match unsafe { sys::sdd_image_get_gain_map_info(self.raw(), &mut info) } {
            sys::SDD_ERROR_NOT_FOUND => return Ok(None),
            status => check(status)?,
        }
        Ok(Some(GainMapInfo {
            kind: match info.kind {
                sys::SDD_GAIN_MAP_ISO => GainMapKind::Iso,
                sys::SDD_GAIN_MAP_ULTRA_HDR => GainMapKind::UltraHdr,
                _ => GainMapKind::Apple,
            },
            is_base_hdr: info.is_base_hdr == 1,
            offset: info.offset,
            size: info.size,
            min_boost: info.min_boost,
            max_boost: info.max_boost,
            gamma: info.gamma,
            offset_sdr: info.offset_sdr,
            offset_hdr: info.offset_hdr,
            capacity_min: info.capacity_min,
            capacity_max: info.capacity_max,
        }))
    }

    /// Decodes the gain map, on this thread, to `Rgba8`, turned as the image is; `None` if there is none.
    pub fn gain_map(&self) -> Result<Option<Image>, Error> {
        let mut map = ptr::null_mut();
        // SAFETY: we hold a reference; on success the map is ours.
        unsafe {
            match sys::sdd_image_gain_map(self.raw(), &mut map) {
                sys::SDD_ERROR_NOT_FOUND => Ok(None),
                status => {
                    check(status)?;
                    Image::made(map).map(Some)
                }
            }
        }
    }
}

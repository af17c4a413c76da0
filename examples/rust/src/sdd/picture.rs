//! Results of downloads: the pixels, and the header of the response.

use super::{c_string, ffi, text};
use std::ptr::{self, NonNull};

/// A picture: immutable, shared by its clones, freed with the last of them.
pub struct Image(NonNull<ffi::sdd_image>);

// SAFETY: the header says that images are immutable and that every function may be called on any thread.
unsafe impl Send for Image {}
unsafe impl Sync for Image {}

impl Image {
    /// SAFETY: NULL, or an image that is at least lent to the caller. Takes a reference of its own.
    pub(super) unsafe fn retain(lent: *mut ffi::sdd_image) -> Option<Self> {
        NonNull::new(ffi::sdd_image_retain(lent)).map(Image)
    }

    pub fn width(&self) -> usize {
        unsafe { ffi::sdd_image_width(self.0.as_ptr()) as usize } // SAFETY: we hold a reference
    }

    pub fn height(&self) -> usize {
        unsafe { ffi::sdd_image_height(self.0.as_ptr()) as usize } // SAFETY: as above
    }

    /// The rows from the top, each of `width()` pixels of 4 bytes: red, green, blue, alpha.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        // SAFETY: there are height * stride bytes, which live and do not change while `self` does.
        let (pixels, stride) = unsafe {
            let stride = ffi::sdd_image_stride(self.0.as_ptr());
            let start = ffi::sdd_image_pixels(self.0.as_ptr());
            (std::slice::from_raw_parts(start, stride * self.height()), stride)
        };
        let width = self.width();
        pixels.chunks_exact(stride).map(move |row| &row[..width * 4])
    }
}

impl Clone for Image {
    fn clone(&self) -> Self {
        unsafe { ffi::sdd_image_retain(self.0.as_ptr()) }; // SAFETY: we hold a reference
        Image(self.0)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        unsafe { ffi::sdd_image_release(self.0.as_ptr()) } // SAFETY: this gives back our reference
    }
}

/// The header of a response.
pub struct Response(NonNull<ffi::sdd_response>);

// SAFETY: as for images.
unsafe impl Send for Response {}
unsafe impl Sync for Response {}

impl Response {
    /// SAFETY: NULL, or a response that is at least lent to the caller. Takes a reference of its own.
    pub(super) unsafe fn retain(lent: *mut ffi::sdd_response) -> Option<Self> {
        NonNull::new(ffi::sdd_response_retain(lent)).map(Response)
    }

    /// The media type, such as "image/png"; "" if the server names none.
    pub fn mime_type(&self) -> String {
        unsafe { text(ffi::sdd_response_mime_type(self.0.as_ptr())) } // SAFETY: we hold a reference
    }

    /// Returns the value of the first field with that name; the case of its letters does not matter.
    pub fn header(&self, name: &str) -> Option<String> {
        let name = c_string(name).ok()?;
        // SAFETY: as above; the name is looked at during the call only.
        let value = unsafe { ffi::sdd_response_header(self.0.as_ptr(), name.as_ptr()) };
        (!value.is_null()).then(|| unsafe { text(value) }) // SAFETY: it lives while we hold the reference
    }

    /// Returns all fields in the order of their arrival.
    pub fn headers(&self) -> impl Iterator<Item = (String, String)> + '_ {
        (0..).map_while(|index| {
            let (mut name, mut value) = (ptr::null(), ptr::null());
            // SAFETY: as above; both are written on success.
            unsafe {
                let status = ffi::sdd_response_header_at(self.0.as_ptr(), index, &mut name, &mut value);
                (status == ffi::SDD_OK).then(|| (text(name), text(value)))
            }
        })
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        unsafe { ffi::sdd_response_release(self.0.as_ptr()) } // SAFETY: this gives back our reference
    }
}

/// The origin of a picture; in C, one of SDD_ORIGIN_.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Network,
    Memory,
    Disk,
    /// The HTTP cache: fresh, revalidated, or stale.
    Http,
}

impl Origin {
    pub(super) fn new(number: i32) -> Self {
        match number {
            ffi::SDD_ORIGIN_NETWORK => Origin::Network,
            ffi::SDD_ORIGIN_MEMORY => Origin::Memory,
            ffi::SDD_ORIGIN_DISK => Origin::Disk,
            _ => Origin::Http,
        }
    }
}

/// The result of a download or a load that succeeded.
pub struct Picture {
    pub image: Image,
    pub origin: Origin,
    pub encoded_bytes: usize,
    pub http_status: i32,
    pub milliseconds: i64,
    pub response: Option<Response>,
}

//! Byte buffers of the library, such as the body of a response.

use crate::{sys, Error};
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;

/// Bytes that do not change, shared by their clones: the body of a response, an encoded picture. Cloning copies no
/// bytes, and the last clone frees them.
///
/// ```
/// use sdd::Bytes;
///
/// let bytes = Bytes::new(b"abc")?;
/// let same = bytes.clone();
/// drop(bytes);
/// assert_eq!(&same[..], b"abc");
/// # Ok::<(), sdd::Error>(())
/// ```
///
/// A slice of them cannot live longer than they:
///
/// ```compile_fail,E0505
/// let bytes = sdd::Bytes::new(b"abc").unwrap();
/// let slice: &[u8] = &bytes;
/// drop(bytes);
/// println!("{}", slice.len());
/// ```
pub struct Bytes(Option<NonNull<sys::sdd_bytes>>); // None: no bytes

// SAFETY: the bytes are immutable and reference counted, and the header allows every call on any thread.
unsafe impl Send for Bytes {}
unsafe impl Sync for Bytes {}

impl Bytes {
    /// Copies bytes. It fails only if there is no memory.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        // SAFETY: the bytes are copied before the call returns.
        let made = unsafe { sys::sdd_bytes_create(bytes.as_ptr().cast(), bytes.len()) };
        match NonNull::new(made) {
            Some(made) => Ok(Bytes(Some(made))),
            None => Err(Error::last()),
        }
    }

    pub(crate) fn empty() -> Self {
        Bytes(None)
    }

    /// Takes over one reference.
    ///
    /// SAFETY: NULL, or bytes with a reference that is the caller's.
    pub(crate) unsafe fn owned(bytes: *mut sys::sdd_bytes) -> Option<Self> {
        NonNull::new(bytes).map(|bytes| Bytes(Some(bytes)))
    }

    /// Adds a reference.
    ///
    /// SAFETY: NULL, or bytes that are at least lent to the caller.
    pub(crate) unsafe fn retained(bytes: *mut sys::sdd_bytes) -> Option<Self> {
        unsafe { Self::owned(sys::sdd_bytes_retain(bytes)) }
    }

    /// The pointer is valid while `self` lives; NULL for no bytes.
    pub(crate) fn raw(&self) -> *mut sys::sdd_bytes {
        self.0.map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }

    /// Gives up the reference, for the library to take over.
    pub(crate) fn into_raw(self) -> *mut sys::sdd_bytes {
        let raw = self.raw();
        std::mem::forget(self);
        raw
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: we hold a reference, and the bytes do not change. NULL stands for no bytes.
        unsafe {
            let (data, size) = (sys::sdd_bytes_data(self.raw()), sys::sdd_bytes_size(self.raw()));
            if data.is_null() {
                &[]
            } else {
                slice::from_raw_parts(data, size)
            }
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Self {
        unsafe { sys::sdd_bytes_retain(self.raw()) }; // SAFETY: we hold a reference, or it is NULL
        Bytes(self.0)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        unsafe { sys::sdd_bytes_release(self.raw()) } // SAFETY: this gives back our reference
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Bytes({} bytes)", self.len())
    }
}

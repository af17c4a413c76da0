//! Strings on their way to C and back.

use crate::sys::{self, sdd_status};
use crate::Error;
use std::ffi::{CStr, CString};
use std::os::raw::c_char;
use std::path::Path;
use std::ptr;
use std::slice;

/// Strings that a C struct points to. They are freed with this object, and do not move before.
#[derive(Default)]
pub(crate) struct Texts(Vec<*mut c_char>);

impl Texts {
    /// Returns a copy that ends with NUL.
    pub(crate) fn add(&mut self, text: &str) -> Result<*const c_char, Error> {
        self.0.push(c_string(text)?.into_raw());
        Ok(self.0[self.0.len() - 1])
    }

    /// Returns NULL for `None`.
    pub(crate) fn add_optional(&mut self, text: &Option<String>) -> Result<*const c_char, Error> {
        text.as_deref().map_or(Ok(ptr::null()), |text| self.add(text))
    }

    /// Returns NULL for `None`.
    pub(crate) fn add_path(&mut self, path: Option<&Path>) -> Result<*const c_char, Error> {
        path.map_or(Ok(ptr::null()), |path| self.add(path_text(path)?))
    }

    /// Returns the pointers to copies of all texts; the vector is for the caller to keep.
    pub(crate) fn add_list(&mut self, texts: &[String]) -> Result<Vec<*const c_char>, Error> {
        texts.iter().map(|text| self.add(text)).collect()
    }

    /// Returns header fields for the caller to keep; a field without value is one to remove.
    pub(crate) fn add_headers(&mut self, fields: &[(String, Option<String>)]) -> Result<Vec<sys::sdd_header>, Error> {
        let header = |(name, value): &(String, Option<String>)| {
            Ok(sys::sdd_header { name: self.add(name)?, value: self.add_optional(value)? })
        };
        fields.iter().map(header).collect()
    }
}

impl Drop for Texts {
    fn drop(&mut self) {
        for &text in &self.0 {
            drop(unsafe { CString::from_raw(text) }); // SAFETY: from into_raw, and given back once
        }
    }
}

/// Returns a copy that ends with NUL; a text with a NUL inside is refused.
pub(crate) fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::invalid(format!("{text:?} has a NUL inside.")))
}

pub(crate) fn path_text(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| Error::invalid(format!("{path:?} is not UTF-8.")))
}

/// SAFETY: NULL, or a string that ends with NUL.
pub(crate) unsafe fn owned(text: *const c_char) -> String {
    unsafe { borrowed_bytes(text) }.map_or_else(String::new, |text| String::from_utf8_lossy(text).into_owned())
}

/// SAFETY: as [`owned`]; the string lives, and does not change, for 'a.
pub(crate) unsafe fn borrowed<'a>(text: *const c_char) -> &'a str {
    unsafe { borrowed_bytes(text) }.and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("")
}

/// SAFETY: as [`borrowed`].
pub(crate) unsafe fn borrowed_bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The same for a text of a known size, which may have a NUL inside.
///
/// SAFETY: as [`borrowed`]; there are so many bytes.
pub(crate) unsafe fn sized<'a>(text: *const c_char, size: usize) -> &'a str {
    let bytes = if text.is_null() { &[] } else { unsafe { slice::from_raw_parts(text.cast(), size) } };
    std::str::from_utf8(bytes).unwrap_or("")
}

/// Reads a text by a call that writes it into a buffer, such as sdd_cache_key(): buffer, capacity, length.
pub(crate) fn read(mut call: impl FnMut(*mut c_char, usize, *mut usize) -> sdd_status) -> Result<String, Error> {
    let mut buffer = vec![0_u8; 256];
    loop {
        let mut length = 0;
        match call(buffer.as_mut_ptr().cast(), buffer.len(), &mut length) {
            sys::SDD_OK => {
                buffer.truncate(length);
                return Ok(String::from_utf8_lossy(&buffer).into_owned());
            }
            // The text may have become longer between two calls.
            sys::SDD_ERROR_BUFFER_TOO_SMALL if length < usize::MAX => buffer.resize(buffer.len().max(length + 1), 0),
            _ => return Err(Error::last()),
        }
    }
}

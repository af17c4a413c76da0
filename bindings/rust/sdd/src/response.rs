//! The header of a response.

use crate::{sys, text};
use std::fmt;
use std::ptr::{self, NonNull};

/// The status, URL and header fields of a response. It never changes, and its clones share it.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let loader = sdd::Loader::without_cache()?;
/// # let url = server.url("/a.png");
/// let picture = loader.load(url).wait()?;
/// let response = picture.report.response.unwrap();
/// assert_eq!(response.status(), 200);
/// assert_eq!(response.header("content-type"), Some("image/png".into()));
/// # Ok::<(), sdd::Error>(())
/// ```
pub struct Response(NonNull<sys::sdd_response>);

// SAFETY: responses are immutable and reference counted, and the header allows every call on any thread.
unsafe impl Send for Response {}
unsafe impl Sync for Response {}

impl Response {
    /// Adds a reference.
    ///
    /// SAFETY: NULL, or a response that is at least lent to the caller.
    pub(crate) unsafe fn retained(response: *mut sys::sdd_response) -> Option<Self> {
        unsafe { Self::owned(sys::sdd_response_retain(response)) }
    }

    /// Takes over one reference.
    ///
    /// SAFETY: NULL, or a response with a reference that is the caller's.
    pub(crate) unsafe fn owned(response: *mut sys::sdd_response) -> Option<Self> {
        NonNull::new(response).map(Response)
    }

    fn raw(&self) -> *mut sys::sdd_response {
        self.0.as_ptr()
    }

    /// Returns the URL that answered, the last one of a chain of redirects.
    pub fn url(&self) -> &str {
        unsafe { text::borrowed(sys::sdd_response_url(self.raw())) } // SAFETY: it lives while we hold the reference
    }

    /// Returns the HTTP status; 0 for a scheme without one.
    pub fn status(&self) -> i32 {
        unsafe { sys::sdd_response_status(self.raw()) } // SAFETY: we hold a reference
    }

    /// Returns the media type in lower case, without parameters; "" if there is none.
    pub fn mime_type(&self) -> &str {
        unsafe { text::borrowed(sys::sdd_response_mime_type(self.raw())) } // SAFETY: as for the URL
    }

    /// Returns the value of the first field with a name, whose case does not matter. Bytes that are not UTF-8 become
    /// replacement characters.
    pub fn header(&self, name: &str) -> Option<String> {
        let name = text::c_string(name).ok()?;
        // SAFETY: the name is read before the call returns; the value lives while we hold the reference.
        let value = unsafe { text::borrowed_bytes(sys::sdd_response_header(self.raw(), name.as_ptr())) }?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// Returns the names and values of all fields, in the order in which they arrived.
    pub fn headers(&self) -> impl Iterator<Item = (String, String)> + '_ {
        (0..).map_while(move |index| {
            let (mut name, mut value) = (ptr::null(), ptr::null());
            // SAFETY: both are written on success, and live while we hold the reference.
            unsafe {
                let status = sys::sdd_response_header_at(self.raw(), index, &mut name, &mut value);
                (status == sys::SDD_OK).then(|| (text::owned(name), text::owned(value)))
            }
        })
    }
}

impl Clone for Response {
    fn clone(&self) -> Self {
        unsafe { sys::sdd_response_retain(self.raw()) }; // SAFETY: we hold a reference
        Response(self.0)
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        unsafe { sys::sdd_response_release(self.raw()) } // SAFETY: this gives back our reference
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Response({} from {})", self.status(), self.url())
    }
}

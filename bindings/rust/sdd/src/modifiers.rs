//! Modifiers of requests, responses and bodies.

use crate::border::{guard, used_by_any_thread};
use crate::error::check;
use crate::text::{c_string, Texts};
use crate::{sys, text, Bytes, Error, Response};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr;
use std::sync::Arc;

/// A modifier's answer that ends a request.
///
/// ```
/// use sdd::{DownloadRequest, Modifiers, Refused};
///
/// let secure = |draft: &mut sdd::Draft<'_>| if draft.url().starts_with("https:") { Ok(()) } else { Err(Refused) };
/// let refusing = Modifiers::new().request(secure);
/// let request = DownloadRequest::new("http://example.org/a.jpg").modifiers(&refusing);
/// let error = sdd::Downloader::shared().download(request).wait().unwrap_err();
/// assert_eq!(error.status(), sdd::Status::INVALID_DOWNLOAD_OPERATION);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

type RequestModifier = dyn Fn(&mut Draft<'_>) -> Result<(), Refused> + Send + Sync;
type ResponseModifier = dyn Fn(&Response, &mut ResponseChange) -> Result<(), Refused> + Send + Sync;
type BodyTransform = dyn Fn(&Bytes, &Response) -> Option<Bytes> + Send + Sync;

/// Closures that inspect and change requests, responses and bodies. A panic counts as a refusal.
///
/// Only requests with the same modifiers, or with clones of them, share a transfer.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/echo");
/// use sdd::{Downloader, DownloadRequest, Modifiers};
///
/// let sign = Modifiers::new().request(|draft| {
///     draft.set_header("X-Signature", Some("secret")).map_err(|_| sdd::Refused)
/// });
/// let request = DownloadRequest::new(url).modifiers(&sign);
/// let body = Downloader::new()?.download_bytes(request).wait()?;
/// assert!(String::from_utf8_lossy(&body.bytes).contains("X-Signature: secret"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Modifiers(Arc<Functions>);

#[derive(Clone, Default)]
struct Functions {
    request: Option<Arc<RequestModifier>>,
    response: Option<Arc<ResponseModifier>>,
    body: Option<Arc<BodyTransform>>,
}

impl Modifiers {
    /// Returns no closures.
    pub fn new() -> Self {
        Self::default()
    }

    /// Inspects a request before it is queued, on the submitting thread, inside the submitting call.
    pub fn request(mut self, function: impl Fn(&mut Draft<'_>) -> Result<(), Refused> + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.0).request = Some(Arc::new(function));
        self
    }

    /// Inspects a response before its status and media type are checked, on a decode thread.
    pub fn response(
        mut self,
        function: impl Fn(&Response, &mut ResponseChange) -> Result<(), Refused> + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.0).response = Some(Arc::new(function));
        self
    }

    /// Converts a body before it is decoded and delivered, on a decode thread. `None` ends the request with
    /// [`Status::BAD_IMAGE_DATA`](crate::Status::BAD_IMAGE_DATA).
    pub fn body(mut self, function: impl Fn(&Bytes, &Response) -> Option<Bytes> + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.0).body = Some(Arc::new(function));
        self
    }

    /// Returns a C struct with a reference of its own, which the library releases; or [`LentModifiers::take_back`], if
    /// the call fails.
    pub(crate) fn lend(&self) -> LentModifiers {
        LentModifiers(sys::sdd_modifiers {
            request_modifier: self.0.request.as_ref().and(Some(on_request)),
            response_modifier: self.0.response.as_ref().and(Some(on_response)),
            body_transform: self.0.body.as_ref().and(Some(on_body)),
            user_data: Arc::into_raw(self.0.clone()) as *mut c_void,
            user_data_free: Some(free),
            ..sys::sized!(sdd_modifiers)
        })
    }
}

impl fmt::Debug for Modifiers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Modifiers(…)")
    }
}

pub(crate) struct LentModifiers(sys::sdd_modifiers);

impl LentModifiers {
    pub(crate) fn pointer(lent: &Option<Self>) -> *const sys::sdd_modifiers {
        lent.as_ref().map_or(ptr::null(), |lent| &lent.0)
    }

    /// Releases the reference, after a call that has refused the struct.
    pub(crate) fn take_back(lent: Option<Self>) {
        if let Some(lent) = lent {
            unsafe { free(lent.0.user_data) } // SAFETY: from `lend`; the library has not taken it
        }
    }
}

/// A request that a modifier may change.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let (from, to) = (server.url("/old"), server.url("/a.png"));
/// let moved = sdd::Modifiers::new().request(move |draft| {
///     assert_eq!((draft.method(), draft.header("x-none")), ("GET", None));
///     draft.set_url(&draft.url().replace("/old", "/a.png")).map_err(|_| sdd::Refused)
/// });
/// let request = sdd::DownloadRequest::new(from).modifiers(&moved);
/// let picture = sdd::Downloader::shared().download(request).wait()?;
/// assert_eq!(picture.report.response.unwrap().url(), to);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Debug)]
pub struct Draft<'a> {
    raw: *mut sys::sdd_draft,
    borrowed: PhantomData<&'a mut ()>,
}

impl Draft<'_> {
    /// Returns the URL.
    pub fn url(&self) -> &str {
        unsafe { text::borrowed(sys::sdd_draft_url(self.raw)) } // SAFETY: it lives until the draft is changed
    }

    /// Returns the method, such as "GET".
    pub fn method(&self) -> &str {
        unsafe { text::borrowed(sys::sdd_draft_method(self.raw)) } // SAFETY: as above
    }

    /// Returns the value of the first header field with a name, whose case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = c_string(name).ok()?;
        // SAFETY: as above; the name is read before the call returns.
        unsafe { text::borrowed_bytes(sys::sdd_draft_header(self.raw, name.as_ptr())) }
            .and_then(|value| std::str::from_utf8(value).ok())
    }

    /// Changes the URL.
    pub fn set_url(&mut self, url: &str) -> Result<(), Error> {
        let url = c_string(url)?;
        check(unsafe { sys::sdd_draft_set_url(self.raw, url.as_ptr()) }) // SAFETY: copied by the call
    }

    /// Changes the method. GET and HEAD drop the body.
    pub fn set_method(&mut self, method: &str) -> Result<(), Error> {
        let method = c_string(method)?;
        check(unsafe { sys::sdd_draft_set_method(self.raw, method.as_ptr()) }) // SAFETY: copied by the call
    }

    /// Sets a header field in place of all with that name; `None` removes them.
    pub fn set_header(&mut self, name: &str, value: Option<&str>) -> Result<(), Error> {
        let (name, value) = (c_string(name)?, value.map(c_string).transpose()?);
        let value = value.as_ref().map_or(ptr::null(), |value| value.as_ptr());
        check(unsafe { sys::sdd_draft_set_header(self.raw, name.as_ptr(), value) })
        // SAFETY: copied by the call
    }

    /// Replaces the body of a request whose method is not GET or HEAD.
    pub fn set_body(&mut self, body: &[u8]) -> Result<(), Error> {
        // SAFETY: copied by the call.
        check(unsafe { sys::sdd_draft_set_body(self.raw, body.as_ptr().cast(), body.len()) })
    }
}

/// The changes that a response modifier makes.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// let lenient = sdd::Modifiers::new().response(|_, change| {
///     change.http_status = 200;
///     Ok(())
/// });
/// let request = sdd::DownloadRequest::new(server.url("/missing")).modifiers(&lenient);
/// let body = sdd::Downloader::shared().download_bytes(request).wait()?;
/// assert!(body.bytes.starts_with(b"<!doctype html>"));
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ResponseChange {
    /// The HTTP status to go on with.
    pub http_status: i32,
    /// The media type to go on with; `None`: as it is.
    pub mime_type: Option<String>,
    /// Header fields that replace those of the response by name; `None` removes a field.
    pub headers: Vec<(String, Option<String>)>,
}

const _: () = used_by_any_thread::<Functions>();

/// SAFETY: the user data of modifiers that are not free.
unsafe fn functions<'a>(user_data: *mut c_void) -> &'a Functions {
    unsafe { &*user_data.cast::<Functions>() }
}

unsafe extern "C" fn on_request(draft: *mut sys::sdd_draft, user_data: *mut c_void) -> sys::sdd_status {
    let answer = guard(|| match &unsafe { functions(user_data) }.request {
        Some(function) => function(&mut Draft { raw: draft, borrowed: PhantomData }),
        None => Ok(()),
    });
    match answer {
        Ok(Ok(())) => sys::SDD_OK,
        _ => sys::SDD_ERROR_INVALID_DOWNLOAD_OPERATION,
    }
}

thread_local! {
    /// The texts of the last change on this thread, which the library copies after the modifier has returned.
    static CHANGED: RefCell<Option<(Texts, Vec<sys::sdd_header>)>> = const { RefCell::new(None) };
}

unsafe extern "C" fn on_response(
    response: *mut sys::sdd_response,
    change: *mut sys::sdd_response_change,
    user_data: *mut c_void,
) -> sys::sdd_status {
    let answer = guard(|| {
        // SAFETY: both are lent until we return.
        let response = unsafe { Response::retained(response) };
        let lent: &mut sys::sdd_response_change = unsafe { &mut *change };
        let (response, function) = match (response, &unsafe { functions(user_data) }.response) {
            (Some(response), Some(function)) => (response, function),
            _ => return Ok(()),
        };
        let mut change = ResponseChange { http_status: lent.http_status, ..Default::default() };
        function(&response, &mut change)?;
        let mut texts = Texts::default();
        if change.mime_type.is_some() {
            lent.mime_type = texts.add_optional(&change.mime_type).map_err(|_| Refused)?;
        }
        let headers = texts.add_headers(&change.headers).map_err(|_| Refused)?;
        lent.http_status = change.http_status;
        (lent.headers, lent.header_count) = (headers.as_ptr(), headers.len());
        let previous = CHANGED.try_with(|changed| changed.replace(Some((texts, headers))));
        previous.map(drop).map_err(|_| Refused)
    });
    match answer {
        Ok(Ok(())) => sys::SDD_OK,
        _ => sys::SDD_ERROR_INVALID_DOWNLOAD_RESPONSE,
    }
}

unsafe extern "C" fn on_body(
    body: *mut sys::sdd_bytes,
    response: *mut sys::sdd_response,
    user_data: *mut c_void,
) -> *mut sys::sdd_bytes {
    let made = guard(|| {
        // SAFETY: lent until we return.
        let (body, response) = unsafe { (Bytes::retained(body)?, Response::retained(response)?) };
        let made = unsafe { functions(user_data) }.body.as_ref()?(&body, &response)?;
        // NULL would be a failure, so empty bytes need an object.
        let made = if made.raw().is_null() { Bytes::new(&[]).ok()? } else { made };
        Some(made.into_raw())
    });
    made.ok().flatten().unwrap_or(ptr::null_mut())
}

unsafe extern "C" fn free(user_data: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Arc::from_raw(user_data.cast::<Functions>() as *const Functions) }));
}

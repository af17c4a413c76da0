//! Transports of the application: other ways to fetch.

use crate::border::guard;
use crate::error::check;
use crate::text::{c_string, Texts};
use crate::{sys, text, Downloader, Error, Priority, Status};
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::slice;

/// A transport of the application: it fetches URLs from an archive, for a test, and the like. Queue, priorities,
/// limits, sharing, modifiers and decoding work as for HTTP.
///
/// ```
/// use sdd::{Downloader, Transfer, TransferRequest, Transport};
///
/// struct Echo;
///
/// impl Transport for Echo {
///     fn start(&self, mut transfer: Transfer, request: &TransferRequest<'_>) {
///         let _ = transfer.write(request.url.as_bytes());
///         transfer.finish();
///     }
/// }
///
/// let downloader = Downloader::new()?;
/// downloader.add_transport("echo", Echo)?;
/// assert_eq!(&downloader.download_bytes("echo:it").wait()?.bytes[..], b"echo:it");
/// # Ok::<(), sdd::Error>(())
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Starts a transfer, on the network thread, which waits: it must not block. The response may be given here, or
    /// later and on any thread. A transfer that is dropped, as by a panic here, fails.
    fn start(&self, transfer: Transfer, request: &TransferRequest<'_>);

    /// Tells that a transfer, by its [`Transfer::id`], is no longer wanted. Calls for it fail from now on.
    fn cancel(&self, id: u64) {
        let _ = id;
    }

    /// Tells that the priority of a transfer has changed.
    fn set_priority(&self, id: u64, priority: Priority) {
        let _ = (id, priority);
    }

    /// Returns true if this transport fetches a URL of its scheme; on any thread that submits requests.
    fn can_load(&self, url: &str) -> bool {
        let _ = url;
        true
    }
}

/// The request that a transport carries out.
///
/// ```
/// use sdd::{Downloader, Transfer, TransferRequest, Transport};
///
/// struct Method;
///
/// impl Transport for Method {
///     fn start(&self, mut transfer: Transfer, request: &TransferRequest<'_>) {
///         let _ = transfer.write(request.method.as_bytes());
///         transfer.finish();
///     }
/// }
///
/// let downloader = Downloader::new()?;
/// downloader.add_transport("method", Method)?;
/// assert_eq!(&downloader.download_bytes("method:it").wait()?.bytes[..], b"GET");
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransferRequest<'a> {
    /// The URL.
    pub url: &'a str,
    /// The method, such as "GET".
    pub method: &'a str,
    /// The names and values of the header fields.
    pub headers: Vec<(&'a str, &'a str)>,
    /// The body to send.
    pub body: &'a [u8],
    /// The priority.
    pub priority: Priority,
}

/// A transfer under way, through which a transport gives the response. If it is dropped before
/// [`finish`](Transfer::finish), the request fails with [`Status::TRANSPORT`].
///
/// ```
/// use sdd::{Downloader, Status, Transfer, TransferRequest, Transport};
///
/// /// An archive that answers on a thread of its own.
/// struct Archive;
///
/// impl Transport for Archive {
///     fn start(&self, mut transfer: Transfer, request: &TransferRequest<'_>) {
///         let is_there = request.url.ends_with("there");
///         std::thread::spawn(move || {
///             if is_there {
///                 let _ = transfer.respond(200, &[("Content-Type", "text/plain")], Some(4));
///                 let _ = transfer.write(b"text");
///                 transfer.finish();
///             } else {
///                 transfer.fail(Status::RESOLVE, "The archive does not have it.");
///             }
///         });
///     }
/// }
///
/// let downloader = Downloader::new()?;
/// downloader.add_transport("archive", Archive)?;
/// assert_eq!(&downloader.download_bytes("archive:there").wait()?.bytes[..], b"text");
/// assert_eq!(downloader.download_bytes("archive:lost").wait().unwrap_err().status(), Status::RESOLVE);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Debug)]
pub struct Transfer {
    id: sys::sdd_transfer,
    is_over: bool,
}

impl Transfer {
    /// Returns the number of the transfer, which is used once in a process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Gives the header of the response, once, before any data. Without it the response is 200 without fields.
    pub fn respond(&mut self, status: i32, headers: &[(&str, &str)], expected: Option<u64>) -> Result<(), Error> {
        let mut texts = Texts::default();
        let fields: Vec<_> = headers.iter().map(|&(name, value)| (name.into(), Some(value.into()))).collect();
        let fields = texts.add_headers(&fields)?;
        let expected = expected.map_or(-1, crate::numbers::clamped);
        // SAFETY: the fields are copied.
        check(unsafe { sys::sdd_transfer_respond(self.id, status, fields.as_ptr(), fields.len(), expected) })
    }

    /// Appends bytes to the body. It fails if the transfer is no longer wanted, or the body too large.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the bytes are copied.
        check(unsafe { sys::sdd_transfer_write(self.id, bytes.as_ptr().cast(), bytes.len()) })
    }

    /// Ends the transfer: the body is complete.
    pub fn finish(mut self) {
        self.end(sys::SDD_OK, None);
    }

    /// Ends the transfer with a failure: one of the statuses from [`Status::TRANSPORT`] on, and a sentence about it.
    pub fn fail(mut self, status: Status, message: &str) {
        self.end(status.0, Some(message));
    }

    fn end(&mut self, status: sys::sdd_status, message: Option<&str>) {
        if !std::mem::replace(&mut self.is_over, true) {
            let message = message.and_then(|message| c_string(message).ok());
            let message = message.as_ref().map_or(ptr::null(), |message| message.as_ptr());
            // SAFETY: the message is copied; a transfer that has ended is ignored.
            unsafe { sys::sdd_transfer_finish(self.id, status, message) };
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.end(sys::SDD_ERROR_TRANSPORT, Some("The transport has dropped the transfer."));
    }
}

impl Downloader {
    /// Adds a transport for the URLs of a scheme, or of any with "*". The last one added is asked first.
    pub fn add_transport(&self, scheme: &str, transport: impl Transport) -> Result<(), Error> {
        let scheme = c_string(scheme)?;
        let transport: Box<Box<dyn Transport>> = Box::new(Box::new(transport));
        let user_data = Box::into_raw(transport);
        let lent = sys::sdd_transport {
            scheme: scheme.as_ptr(),
            start: Some(start),
            cancel: Some(cancel),
            set_priority: Some(set_priority),
            user_data: user_data.cast(),
            user_data_free: Some(free),
            can_load: Some(can_load),
            ..sys::sized!(sdd_transport)
        };
        // SAFETY: the struct is copied; the library frees the transport, if it has accepted it.
        check(unsafe { sys::sdd_downloader_add_transport(self.raw(), &lent) }).map_err(|error| {
            drop(unsafe { Box::from_raw(user_data) }); // SAFETY: not accepted, so it stayed ours
            error
        })
    }

    /// Removes the transport that was last added for a scheme. Requests submitted before keep it to their end.
    pub fn remove_transport(&self, scheme: &str) -> Result<(), Error> {
        let scheme = c_string(scheme)?;
        // SAFETY: the scheme is read before the call returns.
        check(unsafe { sys::sdd_downloader_remove_transport(self.raw(), scheme.as_ptr()) })
    }
}

/// SAFETY: the user data of a transport that is not free.
unsafe fn transport<'a>(user_data: *mut c_void) -> &'a dyn Transport {
    unsafe { &**user_data.cast::<Box<dyn Transport>>() }
}

unsafe extern "C" fn start(id: sys::sdd_transfer, request: *const sys::sdd_transfer_request, user_data: *mut c_void) {
    let mut transfer = Some(Transfer { id, is_over: false });
    let started = guard(|| {
        // SAFETY: the request is lent until we return, and so is its body.
        let (transport, request) = unsafe { (transport(user_data), read(&*request)) };
        if let Some(transfer) = transfer.take() {
            transport.start(transfer, &request);
        }
    });
    // A panic has dropped the transfer, which has failed.
    drop(started);
}

unsafe extern "C" fn cancel(id: sys::sdd_transfer, user_data: *mut c_void) {
    let _ = guard(|| unsafe { transport(user_data) }.cancel(id)); // SAFETY: it lives until `free`
}

unsafe extern "C" fn set_priority(id: sys::sdd_transfer, priority: i32, user_data: *mut c_void) {
    let priority = Priority::of(priority).unwrap_or_default();
    // SAFETY: as above.
    let _ = guard(|| unsafe { transport(user_data) }.set_priority(id, priority));
}

unsafe extern "C" fn can_load(url: *const c_char, user_data: *mut c_void) -> i32 {
    // SAFETY: the URL is lent until we return.
    guard(|| unsafe { transport(user_data).can_load(text::borrowed(url)) }).map_or(0, i32::from)
}

unsafe extern "C" fn free(user_data: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Box::from_raw(user_data.cast::<Box<dyn Transport>>()) }));
}

/// SAFETY: a request that a callback was given, and that is borrowed for 'a.
unsafe fn read<'a>(request: &'a sys::sdd_transfer_request) -> TransferRequest<'a> {
    let count = if request.headers.is_null() { 0 } else { request.header_count };
    let has_body = !request.body.is_null() && request.body_size > 0;
    unsafe {
        let header = |index| {
            let header: &'a sys::sdd_header = &*request.headers.add(index);
            (text::borrowed(header.name), text::borrowed(header.value))
        };
        TransferRequest {
            url: text::borrowed(request.url),
            method: text::borrowed(request.method),
            headers: (0..count).map(header).collect(),
            body: if has_body { slice::from_raw_parts(request.body.cast(), request.body_size) } else { &[] },
            priority: Priority::of(request.priority).unwrap_or_default(),
        }
    }
}

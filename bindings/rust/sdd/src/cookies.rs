//! Cookies of a downloader.

use crate::error::check;
use crate::numbers::milliseconds;
use crate::text::{c_string, Texts};
use crate::{sys, text, Downloader, Error};
use std::ptr;
use std::time::{Duration, SystemTime};

/// A cookie (RFC 6265). Requests with [`Options::HANDLE_COOKIES`](crate::Options::HANDLE_COOKIES) send the
/// downloader's cookies, and add those that servers set.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/echo");
/// use sdd::{Cookie, DownloadRequest, Downloader, Options};
///
/// let downloader = Downloader::new()?;
/// downloader.set_cookie(&Cookie::new("session", "7", "127.0.0.1"))?;
/// let body = downloader.download_bytes(DownloadRequest::new(url).options(Options::HANDLE_COOKIES)).wait()?;
/// assert!(String::from_utf8_lossy(&body.bytes).contains("Cookie: session=7"));
/// assert_eq!(downloader.cookies()?[0].value, "7");
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// "example.org".
    pub domain: String,
    /// "/" or a path below it.
    pub path: String,
    /// `None`: when the downloader is dropped.
    pub expires: Option<SystemTime>,
    /// True if it is also for hosts in subdomains of the domain.
    pub include_subdomains: bool,
    /// True if it is only sent over https.
    pub secure: bool,
    /// True if it is hidden from scripts; without effect here.
    pub http_only: bool,
}

impl Cookie {
    /// Returns a cookie for all paths of one host, until the downloader is dropped.
    pub fn new(name: &str, value: &str, domain: &str) -> Self {
        Cookie { name: name.into(), value: value.into(), domain: domain.into(), path: "/".into(), ..Self::default() }
    }
}

impl Downloader {
    /// Adds a cookie, or replaces the one with the same name, domain and path.
    pub fn set_cookie(&self, cookie: &Cookie) -> Result<(), Error> {
        let mut texts = Texts::default();
        let lent = sys::sdd_cookie {
            name: texts.add(&cookie.name)?,
            value: texts.add(&cookie.value)?,
            domain: texts.add(&cookie.domain)?,
            path: if cookie.path.is_empty() { ptr::null() } else { texts.add(&cookie.path)? },
            expires_ms: cookie.expires.map_or(0, since_1970),
            include_subdomains: cookie.include_subdomains.into(),
            secure: cookie.secure.into(),
            http_only: cookie.http_only.into(),
            ..sys::sized!(sdd_cookie)
        };
        check(unsafe { sys::sdd_downloader_set_cookie(self.raw(), &lent) }) // SAFETY: copied, with its strings
    }

    /// Returns the cookies as they are now.
    pub fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        let mut list = ptr::null_mut();
        // SAFETY: on success the list is ours, and its strings live until it is released.
        unsafe {
            check(sys::sdd_downloader_get_cookies(self.raw(), &mut list))?;
            let mut cookies = Vec::new();
            for index in 0..sys::sdd_cookies_count(list) {
                let mut cookie = sys::sized!(sdd_cookie);
                if sys::sdd_cookies_at(list, index, &mut cookie) == sys::SDD_OK {
                    cookies.push(Cookie {
                        name: text::owned(cookie.name),
                        value: text::owned(cookie.value),
                        domain: text::owned(cookie.domain),
                        path: text::owned(cookie.path),
                        expires: u64::try_from(cookie.expires_ms).ok().filter(|&ms| ms > 0).map(at),
                        include_subdomains: cookie.include_subdomains == 1,
                        secure: cookie.secure == 1,
                        http_only: cookie.http_only == 1,
                    });
                }
            }
            sys::sdd_cookies_release(list);
            Ok(cookies)
        }
    }

    /// Removes the cookies of a domain and its subdomains, or all.
    pub fn clear_cookies(&self, domain: Option<&str>) -> Result<(), Error> {
        let domain = domain.map(c_string).transpose()?;
        let domain = domain.as_ref().map_or(ptr::null(), |domain| domain.as_ptr());
        check(unsafe { sys::sdd_downloader_clear_cookies(self.raw(), domain) }) // SAFETY: read by the call
    }
}

/// Returns milliseconds; at least 1, since 0 stands for no time in C.
fn since_1970(time: SystemTime) -> i64 {
    milliseconds(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

fn at(milliseconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds)
}

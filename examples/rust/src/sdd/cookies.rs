//! The cookies of a downloader. Requests made [`super::Request::with_cookies`] send and keep them.

use super::{c_string, check, ffi, text, Downloader, Error};
use std::ptr;

/// One cookie. `expires` is in seconds since 1970; with `None` it ends with the downloader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: String,
    pub path: String,
    pub expires: Option<i64>,
    pub secure: bool,
}

impl Cookie {
    /// Creates a session cookie for a whole host.
    pub fn new(domain: &str, name: &str, value: &str) -> Self {
        let (name, value, domain) = (name.into(), value.into(), domain.into());
        Cookie { name, value, domain, path: "/".into(), expires: None, secure: false }
    }

    /// SAFETY: filled by the library, and its strings still live.
    unsafe fn of(cookie: &ffi::sdd_cookie) -> Self {
        Cookie {
            name: text(cookie.name),
            value: text(cookie.value),
            domain: text(cookie.domain),
            path: text(cookie.path),
            expires: (cookie.expires != 0).then_some(cookie.expires),
            secure: cookie.secure != 0,
        }
    }
}

impl Downloader {
    pub fn set_cookie(&self, cookie: &Cookie) -> Result<(), Error> {
        let (name, value) = (c_string(&cookie.name)?, c_string(&cookie.value)?);
        let (domain, path) = (c_string(&cookie.domain)?, c_string(&cookie.path)?);
        let given = ffi::sdd_cookie {
            name: name.as_ptr(),
            value: value.as_ptr(),
            domain: domain.as_ptr(),
            path: path.as_ptr(),
            expires: cookie.expires.unwrap_or(0),
            secure: i32::from(cookie.secure),
            ..sized!(sdd_cookie)
        };
        check(unsafe { ffi::sdd_downloader_set_cookie(self.raw(), &given) }) // SAFETY: copied before the call returns
    }

    /// Returns the current cookies.
    pub fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        let mut handle = ptr::null_mut();
        let mut found = Vec::new();
        // SAFETY: on success the handle is ours, and its strings live until the release.
        unsafe {
            check(ffi::sdd_downloader_get_cookies(self.raw(), &mut handle))?;
            let mut cookie = sized!(sdd_cookie);
            while ffi::sdd_cookies_at(handle, found.len(), &mut cookie) == ffi::SDD_OK {
                found.push(Cookie::of(&cookie));
            }
            ffi::sdd_cookies_release(handle);
        }
        Ok(found)
    }

    /// Removes the cookies of a domain and its subdomains, or all.
    pub fn clear_cookies(&self, domain: Option<&str>) -> Result<(), Error> {
        let domain = domain.map(c_string).transpose()?;
        // SAFETY: the domain is looked at during the call only.
        check(unsafe { ffi::sdd_downloader_clear_cookies(self.raw(), super::pointer(&domain)) })
    }
}

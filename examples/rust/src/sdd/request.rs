//! Requests for downloads, with their options.

use super::{c_string, ffi, pointer, Error};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The priority of a download; in C, one of SDD_PRIORITY_.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Priority {
    VeryLow = ffi::SDD_PRIORITY_VERY_LOW,
    Low = ffi::SDD_PRIORITY_LOW,
    #[default]
    Normal = ffi::SDD_PRIORITY_NORMAL,
    High = ffi::SDD_PRIORITY_HIGH,
    VeryHigh = ffi::SDD_PRIORITY_VERY_HIGH,
}

/// The credential of a request, sent to the host of its URL only.
#[derive(Clone)]
pub enum Credential {
    /// Sent once, when the server asks for it.
    Password { user: String, password: String },
    /// Sent with the request.
    Bearer(String),
    /// PEM files of a client certificate; without `key`, the key is in `certificate`.
    Certificate { certificate: PathBuf, key: Option<PathBuf> },
}

/// One download: `Request::new(url).priority(Priority::High).with_cookies()`.
#[derive(Clone, Default)]
pub struct Request {
    url: String,
    headers: Vec<(String, String)>,
    priority: Priority,
    cookies: bool,
    referrer: Option<String>,
    range: Option<String>,
    total_timeout: Option<Duration>,
    credential: Option<Credential>,
}

impl Request {
    pub fn new(url: &str) -> Self {
        Request { url: url.into(), ..Default::default() }
    }

    /// Sets a header field, in place of the downloader's field of that name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Sends the downloader's cookies, and keeps what the server sets.
    pub fn with_cookies(mut self) -> Self {
        self.cookies = true;
        self
    }

    pub fn referrer(mut self, url: &str) -> Self {
        self.referrer = Some(url.into());
        self
    }

    /// Requests a range of bytes: "0-1023", "1024-" or "-512".
    pub fn range(mut self, bytes: &str) -> Self {
        self.range = Some(bytes.into());
        self
    }

    /// Limits the time of all stages together, the queue included.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.total_timeout = Some(limit);
        self
    }

    pub fn credential(mut self, credential: Credential) -> Self {
        self.credential = Some(credential);
        self
    }

    /// Passes the request to `body` as a C struct, which lives until `body` returns, with all that it points to.
    pub(super) fn lend<T>(&self, body: impl FnOnce(&mut ffi::sdd_download_request) -> T) -> Result<T, Error> {
        let optional = |text: &Option<String>| text.as_deref().map(c_string).transpose();
        let (url, referrer, range) = (c_string(&self.url)?, optional(&self.referrer)?, optional(&self.range)?);
        let fields = self.headers.iter().map(|(name, value)| Ok((c_string(name)?, c_string(value)?)));
        let fields = fields.collect::<Result<Vec<_>, Error>>()?;
        let header =
            |(name, value): &(CString, CString)| ffi::sdd_header { name: name.as_ptr(), value: value.as_ptr() };
        let headers: Vec<_> = fields.iter().map(header).collect();
        let credential = self.credential.as_ref().map(CredentialTexts::new).transpose()?;
        let credential = credential.as_ref().map(CredentialTexts::as_struct);
        let mut request = sized!(sdd_download_request);
        request.url = url.as_ptr();
        request.options = if self.cookies { ffi::SDD_OPTION_HANDLE_COOKIES } else { 0 };
        request.headers = headers.as_ptr();
        request.header_count = headers.len();
        request.priority = self.priority as i32;
        request.referrer = pointer(&referrer);
        request.range = pointer(&range);
        request.total_timeout_ms = self.total_timeout.map_or(0, milliseconds);
        request.credential = credential.as_ref().map_or(std::ptr::null(), |credential| credential);
        Ok(body(&mut request))
    }
}

pub(super) fn milliseconds(limit: Duration) -> i64 {
    i64::try_from(limit.as_millis()).unwrap_or(i64::MAX).max(1)
}

/// The parts of a credential as C strings.
#[derive(Default)]
struct CredentialTexts {
    username: Option<CString>,
    password: Option<CString>,
    bearer_token: Option<CString>,
    certificate: Option<CString>,
    key: Option<CString>,
}

impl CredentialTexts {
    fn new(credential: &Credential) -> Result<Self, Error> {
        let path = |path: &Path| c_string(&path.to_string_lossy());
        let mut texts = Self::default();
        match credential {
            Credential::Password { user, password } => {
                texts.username = Some(c_string(user)?);
                texts.password = Some(c_string(password)?);
            }
            Credential::Bearer(token) => texts.bearer_token = Some(c_string(token)?),
            Credential::Certificate { certificate, key } => {
                texts.certificate = Some(path(certificate)?);
                texts.key = key.as_deref().map(path).transpose()?;
            }
        }
        Ok(texts)
    }

    /// Returns a C struct that is valid while `self` lives.
    fn as_struct(&self) -> ffi::sdd_credential {
        ffi::sdd_credential {
            username: pointer(&self.username),
            password: pointer(&self.password),
            bearer_token: pointer(&self.bearer_token),
            client_certificate: pointer(&self.certificate),
            client_key: pointer(&self.key),
            ..sized!(sdd_credential)
        }
    }
}

//! Credentials of requests.

use crate::text::Texts;
use crate::{sys, Error};
use std::ops::BitOr;
use std::path::PathBuf;
use std::{fmt, ptr};

/// Authentication schemes, combined with `|`: see [`Credential::schemes`].
///
/// ```
/// use sdd::{AuthSchemes, Credential};
///
/// let credential = Credential::password("user", "secret").schemes(AuthSchemes::DIGEST | AuthSchemes::NEGOTIATE);
/// let request = sdd::DownloadRequest::new("https://example.org/a.jpg").credential(credential);
/// # let _ = request;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSchemes(u64);

impl AuthSchemes {
    /// RFC 7617.
    pub const BASIC: AuthSchemes = AuthSchemes(sys::SDD_AUTH_BASIC);
    /// RFC 7616.
    pub const DIGEST: AuthSchemes = AuthSchemes(sys::SDD_AUTH_DIGEST);
    /// RFC 4559, if libcurl has it.
    pub const NEGOTIATE: AuthSchemes = AuthSchemes(sys::SDD_AUTH_NEGOTIATE);
    /// If libcurl has it.
    pub const NTLM: AuthSchemes = AuthSchemes(sys::SDD_AUTH_NTLM);
}

impl BitOr for AuthSchemes {
    type Output = AuthSchemes;

    fn bitor(self, other: AuthSchemes) -> AuthSchemes {
        AuthSchemes(self.0 | other.0)
    }
}

/// A credential for the one server that a request's URL names. A redirect to another host, port or scheme ends its use.
///
/// ```
/// use sdd::{AuthSchemes, Credential};
///
/// let credential = Credential::password("user", "secret").schemes(AuthSchemes::DIGEST);
/// assert!(!format!("{credential:?}").contains("secret"));
/// ```
#[derive(Clone, Default)]
pub struct Credential {
    username: Option<String>,
    password: Option<String>,
    schemes: u64,
    bearer_token: Option<String>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    key_password: Option<String>,
}

impl Credential {
    /// Returns no credential, which overrides that of the downloader.
    pub fn none() -> Self {
        Self::default()
    }

    /// User and password, sent once, in answer to a challenge.
    pub fn password(username: &str, password: &str) -> Self {
        Credential { username: Some(username.into()), password: Some(password.into()), ..Self::default() }
    }

    /// A bearer token (RFC 6750), sent with the request.
    pub fn bearer(token: &str) -> Self {
        Credential { bearer_token: Some(token.into()), ..Self::default() }
    }

    /// A client certificate for TLS, a PEM file, in which the key is too unless [`key`](Credential::key) names it.
    pub fn certificate(file: impl Into<PathBuf>) -> Self {
        Credential { certificate: Some(file.into()), ..Self::default() }
    }

    /// Sets the schemes that may be used with a password; without it all that libcurl has.
    pub fn schemes(mut self, schemes: AuthSchemes) -> Self {
        self.schemes = schemes.0;
        self
    }

    /// Sets the PEM file of the certificate's key, and the key's password, if it has one.
    pub fn key(mut self, file: impl Into<PathBuf>, password: Option<&str>) -> Self {
        (self.key, self.key_password) = (Some(file.into()), password.map(String::from));
        self
    }

    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_credential, Error> {
        Ok(sys::sdd_credential {
            username: texts.add_optional(&self.username)?,
            password: texts.add_optional(&self.password)?,
            schemes: self.schemes,
            bearer_token: texts.add_optional(&self.bearer_token)?,
            client_certificate: texts.add_path(self.certificate.as_deref())?,
            client_key: texts.add_path(self.key.as_deref())?,
            client_key_password: texts.add_optional(&self.key_password)?,
            ..sys::sized!(sdd_credential)
        })
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(…)")
    }
}

/// Returns NULL for `None`.
pub(crate) fn pointer<T>(value: &Option<T>) -> *const T {
    value.as_ref().map_or(ptr::null(), |value| value)
}

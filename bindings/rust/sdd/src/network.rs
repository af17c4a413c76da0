//! How a downloader makes connections.

use crate::border::{guard, used_by_any_thread};
use crate::numbers::{clamped_i32, numbers};
use crate::plain::PlainNetworkOptions;
use crate::text::Texts;
use crate::{sys, text, Error};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::sync::Arc;

numbers! {
    /// The version of HTTP that is requested.
    ///
    /// ```
    /// let network = sdd::Network::new().http_version(sdd::HttpVersion::Http11);
    /// sdd::Downloader::builder().network(network).build()?;
    /// # Ok::<(), sdd::Error>(())
    /// ```
    HttpVersion: Default {
        /// HTTP/2 over TLS where the server supports it, else HTTP/1.1.
        Default = SDD_HTTP_DEFAULT,
        /// HTTP/1.0.
        Http10 = SDD_HTTP_1_0,
        /// HTTP/1.1.
        Http11 = SDD_HTTP_1_1,
        /// HTTP/2, also over plain TCP, by Upgrade.
        Http2 = SDD_HTTP_2,
        /// HTTP/2 over plain TCP without negotiation.
        Http2PriorKnowledge = SDD_HTTP_2_PRIOR_KNOWLEDGE,
        /// As the default, and HTTP/3 with hosts that offer it in an Alt-Svc field. Needs a libcurl that has it.
        Http3 = SDD_HTTP_3,
    }
}

numbers! {
    /// The lowest version of TLS.
    ///
    /// ```
    /// let network = sdd::Network::new().min_tls_version(sdd::TlsVersion::Tls13);
    /// sdd::Downloader::builder().network(network).build()?;
    /// # Ok::<(), sdd::Error>(())
    /// ```
    TlsVersion: Default {
        /// TLS 1.2.
        Default = SDD_TLS_DEFAULT,
        /// TLS 1.0.
        Tls10 = SDD_TLS_1_0,
        /// TLS 1.1.
        Tls11 = SDD_TLS_1_1,
        /// TLS 1.2.
        Tls12 = SDD_TLS_1_2,
        /// TLS 1.3.
        Tls13 = SDD_TLS_1_3,
    }
}

numbers! {
    /// IP versions to use.
    ///
    /// ```
    /// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
    /// # let server = server::Server::new();
    /// let network = sdd::Network::new().ip_version(sdd::IpVersion::V6);
    /// let downloader = sdd::Downloader::builder().network(network).build()?;
    /// assert!(downloader.download(server.url("/a.png")).wait().is_err()); // on 127.0.0.1
    /// # Ok::<(), sdd::Error>(())
    /// ```
    IpVersion: Any {
        /// Both.
        Any = SDD_IP_ANY,
        /// IPv4 alone.
        V4 = SDD_IP_V4,
        /// IPv6 alone.
        V6 = SDD_IP_V6,
    }
}

type AddressFilter = dyn Fn(&str, u16) -> bool + Send + Sync;

/// How a downloader makes connections. What is not set has the library's default.
///
/// ```
/// # mod server { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server/mod.rs")); }
/// # let server = server::Server::new();
/// # let url = server.url("/a.png");
/// use sdd::{Downloader, Network, Status};
///
/// // For URLs from users: nothing on this machine or in private networks.
/// let downloader = Downloader::builder().network(Network::new().public_addresses_only(&[])).build()?;
/// let error = downloader.download(url).wait().unwrap_err(); // on 127.0.0.1
/// assert_eq!(error.status(), Status::ADDRESS_REFUSED);
/// # Ok::<(), sdd::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Network {
    pub(crate) plain: PlainNetworkOptions,
    resolve: Vec<String>,
    address_exceptions: Vec<String>,
    filter: Option<Arc<Box<AddressFilter>>>,
}

impl Network {
    /// Returns the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// For untrusted URLs: refuses private, local and reserved addresses, except those that the list names: blocks
    /// ("10.1.0.0/16"), addresses ("10.1.2.3:8080") and hosts ("intranet").
    pub fn public_addresses_only(mut self, exceptions: &[&str]) -> Self {
        self.plain.c.address_policy = sys::SDD_ADDRESS_PUBLIC_ONLY;
        self.address_exceptions = exceptions.iter().map(|&exception| exception.into()).collect();
        self
    }

    /// Decides on each address before a connection to it is opened, on the network thread, which waits: the closure
    /// must be quick. A panic refuses the address.
    pub fn address_filter(mut self, filter: impl Fn(&str, u16) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(Box::new(filter)));
        self
    }

    /// Uses no proxy, whatever the environment says.
    pub fn without_proxy(mut self) -> Self {
        self.plain.c.proxy_mode = sys::SDD_PROXY_NONE;
        self
    }

    /// Adds an address that is used in place of a lookup: "host:port:address".
    pub fn resolve(mut self, entry: &str) -> Self {
        self.resolve.push(entry.into());
        self
    }

    /// Sets how many connections may be open at a time: in all, and to one host; 0 for no limit.
    pub fn max_connections(mut self, count: u32, per_host: u32) -> Self {
        self.plain.c.max_connections = clamped_i32(count);
        self.plain.c.max_connections_per_host = clamped_i32(per_host);
        self
    }

    /// Passes the settings to `body` as a C struct, which lives until `body` returns, with all that it points to. An
    /// error says that the library has not accepted them.
    pub(crate) fn lend<T>(
        &self,
        texts: &mut Texts,
        body: impl FnOnce(&sys::sdd_network_options) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let resolve = texts.add_list(&self.resolve)?;
        let exceptions = texts.add_list(&self.address_exceptions)?;
        let mut lent: sys::sdd_network_options = self.plain.lend(texts)?;
        (lent.resolve, lent.resolve_count) = (resolve.as_ptr(), resolve.len());
        (lent.address_exceptions, lent.address_exception_count) = (exceptions.as_ptr(), exceptions.len());
        if let Some(filter) = &self.filter {
            lent.address_filter = Some(call_filter);
            lent.user_data = Arc::into_raw(filter.clone()) as *mut c_void;
            lent.user_data_free = Some(free_filter);
        }
        let accepted = body(&lent);
        if accepted.is_err() && self.filter.is_some() {
            unsafe { free_filter(lent.user_data) } // SAFETY: not accepted, so it stayed ours
        }
        accepted
    }
}

const _: () = used_by_any_thread::<Arc<Box<AddressFilter>>>();

unsafe extern "C" fn call_filter(address: *const c_char, port: i32, filter: *mut c_void) -> i32 {
    let answer = guard(|| {
        // SAFETY: the filter lives until `free_filter`; the address is lent until we return.
        let (filter, address) = unsafe { (&*filter.cast::<Box<AddressFilter>>(), text::borrowed(address)) };
        filter(address, u16::try_from(port).unwrap_or(0))
    });
    answer.map_or(0, i32::from)
}

unsafe extern "C" fn free_filter(filter: *mut c_void) {
    // SAFETY: from into_raw, and called once.
    let _ = guard(|| drop(unsafe { Arc::from_raw(filter as *const Box<AddressFilter>) }));
}

impl fmt::Debug for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the proxy, which may contain a password.
        formatter.debug_struct("Network").field("ca_file", &self.plain.ca_file).finish_non_exhaustive()
    }
}

//! How a downloader makes connections.

use crate::border::{guard, used_by_any_thread};
use crate::numbers::{clamped_i32, milliseconds, numbers};
use crate::text::Texts;
use crate::{sys, text, Error};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

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
    /// Numbers; its pointers stay NULL.
    numbers: sys::sdd_network_options,
    ca_file: Option<PathBuf>,
    ca_path: Option<PathBuf>,
    proxy: Option<String>,
    no_proxy: Option<String>,
    interface: Option<String>,
    unix_socket: Option<PathBuf>,
    resolve: Vec<String>,
    dns_servers: Option<String>,
    cookie_file: Option<PathBuf>,
    address_exceptions: Vec<String>,
    filter: Option<Arc<Box<AddressFilter>>>,
}

// SAFETY: the pointers in `numbers` stay NULL.
unsafe impl Send for Network {}
unsafe impl Sync for Network {}

impl Network {
    /// Returns the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the certificates in a PEM file, in place of the system's.
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(file.into());
        self
    }

    /// Trusts the certificates in a directory that `openssl rehash` has prepared.
    pub fn ca_path(mut self, directory: impl Into<PathBuf>) -> Self {
        self.ca_path = Some(directory.into());
        self
    }

    /// Sets the lowest version of TLS.
    pub fn min_tls_version(mut self, version: TlsVersion) -> Self {
        self.numbers.min_tls_version = version as i32;
        self
    }

    /// Sets the version of HTTP that is requested.
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.numbers.http_version = version as i32;
        self
    }

    /// Sets how many redirects are followed; the default is 10.
    pub fn max_redirects(mut self, count: u32) -> Self {
        self.numbers.max_redirects = clamped_i32(count);
        self
    }

    /// Follows redirects from https to http.
    pub fn allow_downgrade(mut self) -> Self {
        self.numbers.allow_downgrade = 1;
        self
    }

    /// Reads file: URLs, but never after a redirect.
    pub fn allow_file_urls(mut self) -> Self {
        self.numbers.allow_file_urls = 1;
        self
    }

    /// Refuses data: URLs.
    pub fn no_data_urls(mut self) -> Self {
        self.numbers.no_data_urls = 1;
        self
    }

    /// Sets the IP versions to use.
    pub fn ip_version(mut self, version: IpVersion) -> Self {
        self.numbers.ip_version = version as i32;
        self
    }

    /// For untrusted URLs: refuses private, local and reserved addresses, except those that the list names: blocks
    /// ("10.1.0.0/16"), addresses ("10.1.2.3:8080") and hosts ("intranet").
    pub fn public_addresses_only(mut self, exceptions: &[&str]) -> Self {
        self.numbers.address_policy = sys::SDD_ADDRESS_PUBLIC_ONLY;
        self.address_exceptions = exceptions.iter().map(|&exception| exception.into()).collect();
        self
    }

    /// Decides on each address before a connection to it is opened, on the network thread, which waits: the closure
    /// must be quick. A panic refuses the address.
    pub fn address_filter(mut self, filter: impl Fn(&str, u16) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(Box::new(filter)));
        self
    }

    /// Uses a proxy: "http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h.
    pub fn proxy(mut self, url: &str) -> Self {
        self.proxy = Some(url.into());
        self
    }

    /// Reaches these hosts without the proxy: "localhost,.example.org".
    pub fn no_proxy_for(mut self, hosts: &str) -> Self {
        self.no_proxy = Some(hosts.into());
        self
    }

    /// Uses no proxy, whatever the environment says.
    pub fn without_proxy(mut self) -> Self {
        self.numbers.proxy_mode = sys::SDD_PROXY_NONE;
        self
    }

    /// Connects from an interface or address: "eth0", "192.0.2.7".
    pub fn interface(mut self, name: &str) -> Self {
        self.interface = Some(name.into());
        self
    }

    /// Connects to a Unix socket in place of TCP.
    pub fn unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.unix_socket = Some(path.into());
        self
    }

    /// Adds an address that is used in place of a lookup: "host:port:address".
    pub fn resolve(mut self, entry: &str) -> Self {
        self.resolve.push(entry.into());
        self
    }

    /// Sets the DNS servers, if libcurl was built for it.
    pub fn dns_servers(mut self, servers: &str) -> Self {
        self.dns_servers = Some(servers.into());
        self
    }

    /// Sets how long looked up names are kept; 60 seconds by default. `None`: for ever.
    pub fn dns_cache(mut self, time: Option<Duration>) -> Self {
        self.numbers.dns_cache_ms = time.map_or(-1, milliseconds);
        self
    }

    /// Sets how many connections may be open at a time: in all, and to one host; 0 for no limit.
    pub fn max_connections(mut self, count: u32, per_host: u32) -> Self {
        self.numbers.max_connections = clamped_i32(count);
        self.numbers.max_connections_per_host = clamped_i32(per_host);
        self
    }

    /// Sets how many idle connections are kept.
    pub fn max_idle_connections(mut self, count: u32) -> Self {
        self.numbers.max_idle_connections = clamped_i32(count);
        self
    }

    /// Sets the silence before the kernel probes the other end, rounded up to seconds; 60 seconds by default. `None`:
    /// never.
    pub fn tcp_keepalive(mut self, silence: Option<Duration>) -> Self {
        self.numbers.tcp_keepalive_ms = silence.map_or(-1, milliseconds);
        self
    }

    /// Sets the size of the receive buffer, 1024 to 524288; 65536 by default.
    pub fn receive_buffer_bytes(mut self, bytes: u32) -> Self {
        self.numbers.receive_buffer_bytes = clamped_i32(bytes);
        self
    }

    /// Sets how many threads use the network, 1 to 16; 1 by default. Hosts are spread over them, so more than one helps
    /// only with several hosts, and where one thread is busy all the time: with some 25,000 small requests or 900 MB a
    /// second over TLS. The address filter is then called by several threads at a time.
    pub fn network_threads(mut self, count: u32) -> Self {
        self.numbers.network_threads = clamped_i32(count);
        self
    }

    /// Keeps cookies in a file from one downloader to the next.
    pub fn cookie_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.cookie_file = Some(file.into());
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
        let mut lent: sys::sdd_network_options = sys::sdd_network_options {
            struct_size: std::mem::size_of::<sys::sdd_network_options>(),
            ca_file: texts.add_path(self.ca_file.as_deref())?,
            ca_path: texts.add_path(self.ca_path.as_deref())?,
            proxy: texts.add_optional(&self.proxy)?,
            no_proxy: texts.add_optional(&self.no_proxy)?,
            network_interface: texts.add_optional(&self.interface)?,
            unix_socket_path: texts.add_path(self.unix_socket.as_deref())?,
            resolve: resolve.as_ptr(),
            resolve_count: resolve.len(),
            dns_servers: texts.add_optional(&self.dns_servers)?,
            cookie_file: texts.add_path(self.cookie_file.as_deref())?,
            address_exceptions: exceptions.as_ptr(),
            address_exception_count: exceptions.len(),
            ..self.numbers
        };
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
        formatter.debug_struct("Network").field("ca_file", &self.ca_file).finish_non_exhaustive()
    }
}

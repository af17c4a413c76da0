// Made from include/sdd/*.h by tools/make_rust.py: `make bindings` makes it anew. Nothing is changed by hand.
//! Settings that builders hand on as they are: what keeps them, and their setters.

use crate::text::Texts;
use crate::{sys, Error};
use std::path::PathBuf;

/// Settings of [`TransferOptions`](crate::TransferOptions).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainTransferOptions {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_transfer_options,
    pub(crate) referrer: Option<String>,
    pub(crate) accepted_status_codes: Option<String>,
    pub(crate) accepted_content_types: Option<String>,
    pub(crate) ca_file: Option<PathBuf>,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainTransferOptions {}
unsafe impl Sync for PlainTransferOptions {}

impl PlainTransferOptions {
    /// Returns the C struct, with texts that live as long as `texts`.
    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_transfer_options, Error> {
        Ok(sys::sdd_transfer_options {
            struct_size: std::mem::size_of::<sys::sdd_transfer_options>(),
            referrer: texts.add_optional(&self.referrer)?,
            accepted_status_codes: texts.add_optional(&self.accepted_status_codes)?,
            accepted_content_types: texts.add_optional(&self.accepted_content_types)?,
            ca_file: texts.add_path(self.ca_file.as_deref())?,
            ..self.c
        })
    }
}

/// Declares the plain setters of [`TransferOptions`](crate::TransferOptions): see `transfer_setters`.
macro_rules! plain_transfer_setters {
    ($($transfer:ident)?) => {
        /// Sets the Referer header field.
        pub fn referrer(mut self, text: &str) -> Self {
            self$(.$transfer)?.plain.referrer = Some(text.into());
            self
        }

        /// Sets the accepted HTTP status codes: "200-299,304", or "*" for all.
        pub fn accepted_status_codes(mut self, text: &str) -> Self {
            self$(.$transfer)?.plain.accepted_status_codes = Some(text.into());
            self
        }

        /// Sets the accepted media types: "image/jpeg,image/png", "image/*", or "*" for all.
        pub fn accepted_content_types(mut self, text: &str) -> Self {
            self$(.$transfer)?.plain.accepted_content_types = Some(text.into());
            self
        }

        /// Limits the size of the body, in place of the downloader's limit, which 0 leaves.
        pub fn max_body_bytes(mut self, bytes: u64) -> Self {
            self$(.$transfer)?.plain.c.max_body_bytes = $crate::numbers::clamped(bytes);
            self
        }

        /// Limits the number of redirects; 0: as the downloader does. `redirects` has none followed.
        pub fn max_redirects(mut self, count: u32) -> Self {
            self$(.$transfer)?.plain.c.max_redirects = $crate::numbers::clamped_i32(count);
            self
        }

        /// Says what becomes of redirects.
        pub fn redirects(mut self, value: $crate::Redirects) -> Self {
            self$(.$transfer)?.plain.c.redirects = value as i32;
            self
        }

        /// Sets the number of transfers for one request, at most 1000; 0: as the downloader does, for a load at least 2.
        pub fn max_attempts(mut self, count: u32) -> Self {
            self$(.$transfer)?.plain.c.max_attempts = $crate::numbers::clamped_i32(count);
            self
        }

        /// Trusts the certificates in a PEM file, in place of the downloader's.
        pub fn ca_file(mut self, path: impl Into<std::path::PathBuf>) -> Self {
            self$(.$transfer)?.plain.ca_file = Some(path.into());
            self
        }

        /// Limits the time from submitting to the start of the transfer; `None`: no limit.
        pub fn queue_timeout(mut self, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.plain.c.queue_timeout_ms = $crate::numbers::milliseconds_or_none(time.into());
            self
        }

        /// Limits the time for name lookup, connect and TLS; `None`: no limit.
        pub fn connect_timeout(mut self, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.plain.c.connect_timeout_ms = $crate::numbers::milliseconds_or_none(time.into());
            self
        }

        /// Limits the time from the request being sent to the first byte of the response; `None`: no limit.
        pub fn first_byte_timeout(mut self, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.plain.c.first_byte_timeout_ms = $crate::numbers::milliseconds_or_none(time.into());
            self
        }

        /// Limits the time without a byte; `None`: no limit.
        pub fn download_timeout(mut self, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.plain.c.download_timeout_ms = $crate::numbers::milliseconds_or_none(time.into());
            self
        }

        /// Limits the time of all stages together, from submitting to the end; `None`: no limit.
        pub fn total_timeout(mut self, time: impl Into<Option<std::time::Duration>>) -> Self {
            self$(.$transfer)?.plain.c.total_timeout_ms = $crate::numbers::milliseconds_or_none(time.into());
            self
        }
    };
}
pub(crate) use plain_transfer_setters;

/// Settings of [`DownloadRequest`](crate::DownloadRequest).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainDownloadRequest {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_download_request,
    pub(crate) range: Option<String>,
    pub(crate) integrity: Option<String>,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainDownloadRequest {}
unsafe impl Sync for PlainDownloadRequest {}

impl PlainDownloadRequest {
    /// Returns the C struct, with texts that live as long as `texts`.
    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_download_request, Error> {
        Ok(sys::sdd_download_request {
            struct_size: std::mem::size_of::<sys::sdd_download_request>(),
            range: texts.add_optional(&self.range)?,
            integrity: texts.add_optional(&self.integrity)?,
            ..self.c
        })
    }
}

impl crate::DownloadRequest {
    /// Sets the priority.
    pub fn priority(mut self, value: crate::Priority) -> Self {
        self.plain.c.priority = value as i32;
        self
    }

    /// Asks for a range of bytes: "0-1023", "1024-" or "-512".
    pub fn range(mut self, text: &str) -> Self {
        self.plain.range = Some(text.into());
        self
    }

    /// Requires a SHA-256 of the body: "sha256-" and base64 or 64 hexadecimal digits.
    pub fn integrity(mut self, text: &str) -> Self {
        self.plain.integrity = Some(text.into());
        self
    }

    /// Requires a size of the body.
    pub fn expected_bytes(mut self, bytes: u64) -> Self {
        self.plain.c.expected_bytes = crate::numbers::clamped(bytes);
        self
    }
}

/// Settings of [`LoadRequest`](crate::LoadRequest).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainLoadRequest {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_load_request,
    pub(crate) cache_key: Option<String>,
    pub(crate) integrity: Option<String>,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainLoadRequest {}
unsafe impl Sync for PlainLoadRequest {}

impl PlainLoadRequest {
    /// Returns the C struct, with texts that live as long as `texts`.
    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_load_request, Error> {
        Ok(sys::sdd_load_request {
            struct_size: std::mem::size_of::<sys::sdd_load_request>(),
            cache_key: texts.add_optional(&self.cache_key)?,
            integrity: texts.add_optional(&self.integrity)?,
            ..self.c
        })
    }
}

impl crate::LoadRequest {
    /// Sets the priority.
    pub fn priority(mut self, value: crate::Priority) -> Self {
        self.plain.c.priority = value as i32;
        self
    }

    /// Sets the key in the cache, in place of one made from the URL.
    pub fn cache_key(mut self, text: &str) -> Self {
        self.plain.cache_key = Some(text.into());
        self
    }

    /// Requires a SHA-256 of the body: "sha256-" and base64 or 64 hexadecimal digits.
    pub fn integrity(mut self, text: &str) -> Self {
        self.plain.integrity = Some(text.into());
        self
    }

    /// Requires a size of the body.
    pub fn expected_bytes(mut self, bytes: u64) -> Self {
        self.plain.c.expected_bytes = crate::numbers::clamped(bytes);
        self
    }
}

/// Settings of [`Network`](crate::Network).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainNetworkOptions {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_network_options,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) ca_path: Option<PathBuf>,
    pub(crate) proxy: Option<String>,
    pub(crate) no_proxy: Option<String>,
    pub(crate) network_interface: Option<String>,
    pub(crate) unix_socket_path: Option<PathBuf>,
    pub(crate) dns_servers: Option<String>,
    pub(crate) cookie_file: Option<PathBuf>,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainNetworkOptions {}
unsafe impl Sync for PlainNetworkOptions {}

impl PlainNetworkOptions {
    /// Returns the C struct, with texts that live as long as `texts`.
    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_network_options, Error> {
        Ok(sys::sdd_network_options {
            struct_size: std::mem::size_of::<sys::sdd_network_options>(),
            ca_file: texts.add_path(self.ca_file.as_deref())?,
            ca_path: texts.add_path(self.ca_path.as_deref())?,
            proxy: texts.add_optional(&self.proxy)?,
            no_proxy: texts.add_optional(&self.no_proxy)?,
            network_interface: texts.add_optional(&self.network_interface)?,
            unix_socket_path: texts.add_path(self.unix_socket_path.as_deref())?,
            dns_servers: texts.add_optional(&self.dns_servers)?,
            cookie_file: texts.add_path(self.cookie_file.as_deref())?,
            ..self.c
        })
    }
}

impl crate::Network {
    /// Trusts the certificates in a PEM file, in place of the system's.
    pub fn ca_file(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.plain.ca_file = Some(path.into());
        self
    }

    /// Trusts the certificates in a directory that `openssl rehash` has prepared.
    pub fn ca_path(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.plain.ca_path = Some(path.into());
        self
    }

    /// Sets the lowest version of TLS.
    pub fn min_tls_version(mut self, value: crate::TlsVersion) -> Self {
        self.plain.c.min_tls_version = value as i32;
        self
    }

    /// Sets the version of HTTP that is requested.
    pub fn http_version(mut self, value: crate::HttpVersion) -> Self {
        self.plain.c.http_version = value as i32;
        self
    }

    /// Sets how many redirects are followed; the default is 10.
    pub fn max_redirects(mut self, count: u32) -> Self {
        self.plain.c.max_redirects = crate::numbers::clamped_i32(count);
        self
    }

    /// Follows redirects from https to http.
    pub fn allow_downgrade(mut self) -> Self {
        self.plain.c.allow_downgrade = 1;
        self
    }

    /// Reads file: URLs, but never after a redirect.
    pub fn allow_file_urls(mut self) -> Self {
        self.plain.c.allow_file_urls = 1;
        self
    }

    /// Refuses data: URLs.
    pub fn no_data_urls(mut self) -> Self {
        self.plain.c.no_data_urls = 1;
        self
    }

    /// Sets the IP versions to use.
    pub fn ip_version(mut self, value: crate::IpVersion) -> Self {
        self.plain.c.ip_version = value as i32;
        self
    }

    /// Uses a proxy: "http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h.
    pub fn proxy(mut self, text: &str) -> Self {
        self.plain.proxy = Some(text.into());
        self
    }

    /// Reaches these hosts without the proxy: "localhost,.example.org".
    pub fn no_proxy_for(mut self, text: &str) -> Self {
        self.plain.no_proxy = Some(text.into());
        self
    }

    /// Connects from an interface or address: "eth0", "192.0.2.7".
    pub fn interface(mut self, text: &str) -> Self {
        self.plain.network_interface = Some(text.into());
        self
    }

    /// Connects to a Unix socket in place of TCP.
    pub fn unix_socket(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.plain.unix_socket_path = Some(path.into());
        self
    }

    /// Sets the DNS servers, if libcurl was built for it.
    pub fn dns_servers(mut self, text: &str) -> Self {
        self.plain.dns_servers = Some(text.into());
        self
    }

    /// Sets how long looked up names are kept; 60 seconds by default. `None`: for ever.
    pub fn dns_cache(mut self, time: Option<std::time::Duration>) -> Self {
        self.plain.c.dns_cache_ms = crate::numbers::milliseconds_or_none(time);
        self
    }

    /// Sets how many idle connections are kept.
    pub fn max_idle_connections(mut self, count: u32) -> Self {
        self.plain.c.max_idle_connections = crate::numbers::clamped_i32(count);
        self
    }

    /// Sets the silence before the kernel probes the other end, rounded up to seconds; 60 seconds by default. `None`:
    /// never.
    pub fn tcp_keepalive(mut self, time: Option<std::time::Duration>) -> Self {
        self.plain.c.tcp_keepalive_ms = crate::numbers::milliseconds_or_none(time);
        self
    }

    /// Sets the size of the receive buffer, 1024 to 524288; 65536 by default.
    pub fn receive_buffer_bytes(mut self, bytes: u32) -> Self {
        self.plain.c.receive_buffer_bytes = crate::numbers::clamped_i32(bytes);
        self
    }

    /// Sets how many threads use the network, 1 to 16; 1 by default. Hosts are spread over them, so more than one helps
    /// only with several hosts, and where one thread is busy all the time: with some 25,000 small requests or 900 MB a
    /// second over TLS. The address filter is then called by several threads at a time.
    pub fn network_threads(mut self, count: u32) -> Self {
        self.plain.c.network_threads = crate::numbers::clamped_i32(count);
        self
    }

    /// Keeps cookies in a file from one downloader to the next.
    pub fn cookie_file(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.plain.cookie_file = Some(path.into());
        self
    }
}

/// Settings of [`Limits`](crate::Limits).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainLimits {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_limits,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainLimits {}
unsafe impl Sync for PlainLimits {}

impl PlainLimits {
    pub(crate) fn lend(&self) -> sys::sdd_limits {
        sys::sdd_limits { struct_size: std::mem::size_of::<sys::sdd_limits>(), ..self.c }
    }
}

impl crate::Limits {
    /// Limits the time from submitting to the start of the transfer; without limit by default.
    pub fn queue_timeout(mut self, time: std::time::Duration) -> Self {
        self.plain.c.queue_timeout_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Limits the time for name lookup, connect and TLS; by default like the time without a byte.
    pub fn connect_timeout(mut self, time: std::time::Duration) -> Self {
        self.plain.c.connect_timeout_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Limits the time from the request being sent to the first byte of the response; without limit by default.
    pub fn first_byte_timeout(mut self, time: std::time::Duration) -> Self {
        self.plain.c.first_byte_timeout_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Limits the time without a byte; 15 seconds by default.
    pub fn download_timeout(mut self, time: std::time::Duration) -> Self {
        self.plain.c.download_timeout_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Limits the time from submitting to the end; without limit by default.
    pub fn total_timeout(mut self, time: std::time::Duration) -> Self {
        self.plain.c.total_timeout_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Limits the size of a body after unpacking; 64 MiB by default.
    pub fn max_body_bytes(mut self, bytes: u64) -> Self {
        self.plain.c.max_body_bytes = crate::numbers::clamped(bytes);
        self
    }

    /// Limits the scans of a progressive JPEG; 500 by default.
    pub fn max_scans(mut self, count: u32) -> Self {
        self.plain.c.max_scans = crate::numbers::clamped_i32(count);
        self
    }

    /// Limits width times height; 134,217,728 by default.
    pub fn max_pixels(mut self, count: u64) -> Self {
        self.plain.c.max_pixels = crate::numbers::clamped(count);
        self
    }

    /// Limits the memory for one picture while it is decoded; 1 GiB by default. `None`: no limit.
    pub fn max_decode_bytes(mut self, bytes: Option<u64>) -> Self {
        self.plain.c.max_decode_bytes = bytes.map_or(-1, crate::numbers::clamped);
        self
    }

    /// Limits the memory for a picture of over 128 MiB, as a multiple of its body's size; 512 by default. `None`: no
    /// limit.
    pub fn max_decode_ratio(mut self, count: Option<u64>) -> Self {
        self.plain.c.max_decode_ratio = count.map_or(-1, crate::numbers::clamped);
        self
    }
}

/// Settings of [`DownloaderBuilder`](crate::DownloaderBuilder).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainDownloaderConfig {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_downloader_config,
    pub(crate) accepted_status_codes: Option<String>,
    pub(crate) accepted_content_types: Option<String>,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainDownloaderConfig {}
unsafe impl Sync for PlainDownloaderConfig {}

impl PlainDownloaderConfig {
    /// Returns the C struct, with texts that live as long as `texts`.
    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_downloader_config, Error> {
        Ok(sys::sdd_downloader_config {
            struct_size: std::mem::size_of::<sys::sdd_downloader_config>(),
            accepted_status_codes: texts.add_optional(&self.accepted_status_codes)?,
            accepted_content_types: texts.add_optional(&self.accepted_content_types)?,
            ..self.c
        })
    }
}

impl crate::DownloaderBuilder {
    /// Sets how many transfers run at a time; the default is 6.
    pub fn max_concurrent_downloads(mut self, count: u32) -> Self {
        self.plain.c.max_concurrent_downloads = crate::numbers::clamped_i32(count);
        self
    }

    /// Sets how many transfers run at a time to one host and port; the default is 6.
    pub fn max_concurrent_per_host(mut self, count: u32) -> Self {
        self.plain.c.max_concurrent_per_host = crate::numbers::clamped_i32(count);
        self
    }

    /// Sets the number of decode threads; the default is that of the processors, at most 8.
    pub fn decode_threads(mut self, count: u32) -> Self {
        self.plain.c.decode_threads = crate::numbers::clamped_i32(count);
        self
    }

    /// Sets the order in which requests of the same priority begin.
    pub fn execution_order(mut self, value: crate::Order) -> Self {
        self.plain.c.execution_order = value as i32;
        self
    }

    /// Keeps slots for requests of high priority.
    pub fn reserved_urgent_slots(mut self, count: u32) -> Self {
        self.plain.c.reserved_urgent_slots = crate::numbers::clamped_i32(count);
        self
    }

    /// Counts a request that has waited this long as one priority higher, and again each time this much longer.
    pub fn ageing(mut self, time: std::time::Duration) -> Self {
        self.plain.c.ageing_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Sets the least time from one start of a transfer to the next to the same host and port.
    pub fn min_host_interval(mut self, time: std::time::Duration) -> Self {
        self.plain.c.min_host_interval_ms = crate::numbers::milliseconds(time);
        self
    }

    /// Sets the accepted HTTP status codes of requests that do not say.
    pub fn accepted_status_codes(mut self, text: &str) -> Self {
        self.plain.accepted_status_codes = Some(text.into());
        self
    }

    /// Sets the accepted media types of requests that do not say.
    pub fn accepted_content_types(mut self, text: &str) -> Self {
        self.plain.accepted_content_types = Some(text.into());
        self
    }

    /// Lets all requests use the HTTP cache.
    pub fn http_cache(mut self) -> Self {
        self.plain.c.http_cache = 1;
        self
    }

    /// Lets all requests keep and continue bodies that break off.
    pub fn resume(mut self) -> Self {
        self.plain.c.resume = 1;
        self
    }

    /// Decodes without the coders that are installed beside the library, and does not ask servers for their formats.
    pub fn no_installed_coders(mut self) -> Self {
        self.plain.c.no_installed_coders = 1;
        self
    }
}

/// Settings of [`CacheBuilder`](crate::CacheBuilder).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainCacheConfig {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_cache_config,
    pub(crate) name: Option<String>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) ignored_query_parameters: Option<String>,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainCacheConfig {}
unsafe impl Sync for PlainCacheConfig {}

impl PlainCacheConfig {
    /// Returns the C struct, with texts that live as long as `texts`.
    pub(crate) fn lend(&self, texts: &mut Texts) -> Result<sys::sdd_cache_config, Error> {
        Ok(sys::sdd_cache_config {
            struct_size: std::mem::size_of::<sys::sdd_cache_config>(),
            name: texts.add_optional(&self.name)?,
            directory: texts.add_path(self.directory.as_deref())?,
            ignored_query_parameters: texts.add_optional(&self.ignored_query_parameters)?,
            ..self.c
        })
    }
}

impl crate::CacheBuilder {
    /// Sets the name of a directory in `~/.cache/sdd`; the default is "default".
    pub fn name(mut self, text: &str) -> Self {
        self.plain.name = Some(text.into());
        self
    }

    /// Sets the directory, in place of a name. It is made if it does not exist.
    pub fn directory(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.plain.directory = Some(path.into());
        self
    }

    /// Sets the levels that the cache has.
    pub fn levels(mut self, value: crate::Levels) -> Self {
        self.plain.c.levels = value as i32;
        self
    }

    /// Does not find evicted pictures while the application still holds them.
    pub fn no_live_images(mut self) -> Self {
        self.plain.c.no_live_images = 1;
        self
    }

    /// Limits the bytes of all pictures in memory; by default an eighth of the machine's memory, at most 512 MiB.
    /// `None`: no limit.
    pub fn max_memory_cost(mut self, count: Option<u64>) -> Self {
        self.plain.c.max_memory_cost = count.map_or(-1, crate::numbers::clamped);
        self
    }

    /// Limits the number of pictures in memory.
    pub fn max_memory_count(mut self, count: u64) -> Self {
        self.plain.c.max_memory_count = crate::numbers::clamped(count);
        self
    }

    /// Trims memory when the kernel reports memory pressure.
    pub fn watch_memory_pressure(mut self) -> Self {
        self.plain.c.watch_memory_pressure = 1;
        self
    }

    /// Sets how durable written entries are.
    pub fn durability(mut self, value: crate::Durability) -> Self {
        self.plain.c.sync = value as i32;
        self
    }

    /// Limits the bytes of all files; 512 MiB by default. `None`: no limit.
    pub fn max_disk_bytes(mut self, bytes: Option<u64>) -> Self {
        self.plain.c.max_disk_bytes = bytes.map_or(-1, crate::numbers::clamped);
        self
    }

    /// Limits the age of entries; 7 days by default. `None`: no limit.
    pub fn max_disk_age(mut self, time: Option<std::time::Duration>) -> Self {
        self.plain.c.max_disk_age_ms = crate::numbers::milliseconds_or_none(time);
        self
    }

    /// Sets the percentage of the largest size that a trim leaves; 50 by default.
    pub fn low_water_percent(mut self, count: u32) -> Self {
        self.plain.c.low_water_percent = crate::numbers::clamped_i32(count);
        self
    }

    /// Sets how often old entries are looked for; 10 minutes by default. `None`: only when the cache is too large.
    pub fn trim_interval(mut self, time: Option<std::time::Duration>) -> Self {
        self.plain.c.trim_interval_ms = crate::numbers::milliseconds_or_none(time);
        self
    }

    /// Leaves query parameters out of the keys of URLs: "token,Expires,X-Amz-*".
    pub fn ignored_query_parameters(mut self, text: &str) -> Self {
        self.plain.ignored_query_parameters = Some(text.into());
        self
    }

    /// Limits the bytes of entries that wait to be written; 128 MiB by default. `None`: no limit.
    pub fn max_queued_bytes(mut self, bytes: Option<u64>) -> Self {
        self.plain.c.max_queued_bytes = bytes.map_or(-1, crate::numbers::clamped);
        self
    }

    /// Limits the time that dropping the cache takes for writing; 10 seconds by default. `None`: no limit.
    pub fn destroy_timeout(mut self, time: Option<std::time::Duration>) -> Self {
        self.plain.c.destroy_timeout_ms = crate::numbers::milliseconds_or_none(time);
        self
    }
}

/// Settings of [`BatchBuilder`](crate::BatchBuilder).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainBatchConfig {
    /// Its pointers stay NULL.
    pub(crate) c: sys::sdd_batch_config,
}

// SAFETY: the pointers in `c` stay NULL.
unsafe impl Send for PlainBatchConfig {}
unsafe impl Sync for PlainBatchConfig {}

impl PlainBatchConfig {
    pub(crate) fn lend(&self) -> sys::sdd_batch_config {
        sys::sdd_batch_config { struct_size: std::mem::size_of::<sys::sdd_batch_config>(), ..self.c }
    }
}

impl crate::BatchBuilder {
    /// Sets how many items may be under way or wait to be taken; 64 by default, at most 65,536.
    pub fn look_ahead(mut self, count: u32) -> Self {
        self.plain.c.look_ahead = crate::numbers::clamped_i32(count);
        self
    }

    /// Sets the priority of all items.
    pub fn priority(mut self, value: crate::Priority) -> Self {
        self.plain.c.priority = value as i32;
        self
    }

    /// Gives the reports of items their response: [`Report::response`](crate::Report).
    pub fn responses(mut self) -> Self {
        self.plain.c.responses = 1;
        self
    }
}

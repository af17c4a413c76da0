# Made from include/sdd/*.h by tools/make_python_options.py: `make bindings` makes it anew. Nothing is changed by hand.
"""The descriptions of all options, for help()."""

OPTIONS: dict[str, str] = {
    "PictureOptions": """\
pixel_format: The layout of the pixels, a PixelFormat or its name; default "rgba8".
keep_orientation: Whether the picture stays as stored, and is not turned by its Exif orientation;
    default: False.
background: 0xRRGGBB, shown through alpha in formats without alpha. Default 0: black.
fit: "inside": the whole picture within `size`; "fill": covers it, cropped; "stretch": each side by
    itself. Default "inside".
size: Pixels that the picture is scaled down to: (width, height), or one number for both; 0 in one
    of them: any. Default: its own size.
scale_down_limit_bytes: A picture that takes more bytes, at 4 bytes a pixel, is scaled down to fit,
    whatever `size` and `fit` say. 0: no limit. Default 0.
row_alignment: Bytes, a power of two up to 4096: every row begins at a multiple of it. Default 1:
    rows without padding.
enlarge: Whether a smaller picture is enlarged to `size`, as `fit` says; default: False.
lenient: Whether the valid part of a damaged picture is delivered, in place of an error; default:
    False.
exact: Whether scaling takes exact area means, for half as much time again; default: False.
colour: Colours of the pixels: "srgb": converted from what the picture says of them, as browsers do
    it; "stored": as in the file, see `Image.colour`. Default: "srgb" for loads, "stored" for
    everything else.
still: Of an animated picture only the still picture, as programs show it that know no animations:
    that of the file for an animated PNG whose first frame it is not. Overrides preload_all_frames
    and first_frame_only. Default: False.
""",
    "TransferOptions": """\
headers: Header fields of this request, which replace the downloader's by name; None removes the
    downloader's. Default: none.
referrer: The Referer header field; one in `headers` overrides it. Default: none.
credential: User and password, a token or a certificate. Default: the downloader's.
accepted_status_codes: Status codes that are no error: "200-299,304"; "*": all. Default: the
    downloader's.
accepted_content_types: Media types that are no error: "image/jpeg,image/png"; "image/" and "*" for
    all images; "*": all, also none. Default: the downloader's.
max_body_bytes: Largest body, after unpacking; may be above the downloader's limit. 0: the
    downloader's, by default 64 MiB. Default 0.
max_redirects: Most redirects to follow, at most 1000. 0: the downloader's limit, by default 10.
    Default 0.
redirects: "follow", "hand_out": a redirect is the response, "refuse": it is an error. Default
    "follow".
max_attempts: Transfers for this request, the first included, at most 1000. 0: as the downloader has
    it, for loads at least 2. Default 0.
ca_file: PEM file of trusted certificates, in place of the downloader's. Connections are not shared
    with requests that have another file. Default: the downloader's.
queue_timeout: From submitting to the start of the transfer, in seconds. 0: the downloader's limit;
    -1: none. Default 0.
connect_timeout: Name lookup, connect and TLS, in seconds. 0: the downloader's limit; -1: none.
    Default 0.
first_byte_timeout: From the request being sent to the first byte of the response, in seconds. 0:
    the downloader's limit; -1: none. Default 0.
download_timeout: Longest time without a byte, in seconds. 0: the downloader's limit, by default 15
    seconds; -1: none. Default 0.
timeout: Limit on all stages together, in seconds. 0: the downloader's `total_timeout`; -1: none.
    Default 0.
low_speed_limit: Bytes a second: a slower transfer ends after `low_speed_time`. 0: the downloader's
    limit. Default 0.
low_speed_time: Time over which the speed is averaged, in seconds. 0: the downloader's; -1: no lower
    limit on speed. Default 0.
cookies: Sends the downloader's cookies beside those of the request's headers, and keeps. Default:
    False.
allow_invalid_certificates: Accepts any certificate from the servers of this request. Default:
    False.
continue_in_background: Goes on during the grace time after the low layer's
    sdd_downloader_enter_background(). Default: False.
resume: Keeps in the cache the received part of a body that breaks off, or whose request is
    cancelled. The next request with this option asks for the rest (RFC 9110 section 14.2, with
    If-Range). Only for GET without Range, and not with a sink. Default: False.
stop_when_complete: The transfer may stop when the picture is complete at the wanted size: a
    progressive JPEG that is made smaller need not deliver detail that is not shown. The result then
    has no bytes; Metrics.saved_bytes counts the rest. Only if all requests that share the transfer
    have this option. Default: False.
body_as_sent: Leaves the body as the server sends it. The request says "Accept-Encoding: identity"
    (RFC 9110 section 12.5.3) unless its headers say otherwise, and no Content-Encoding is unpacked:
    the bytes delivered, checked, decoded and stored are the server's. The stored entries are found
    only by requests with this option. Default: False.
http_cache: Follows the rules of HTTP caches, RFC 9111: see `http_cache_in`. Default: False.
priority: A Priority or its name, "very_low" to "very_high". Default "normal", of prefetching
    "very_low".
""",
    "StoreOptions": """\
from_cache_only: Never uses the network: a picture that no cache has ends with NotCached. Default:
    False.
from_loader_only: Does not read the cache, but stores what arrives. Default: False.
retry_failed: Loads the URL although it failed recently. Default: False.
wait_store_cache: Ends when its entries are on disk, or could not be stored: Result.store_error.
    Default: False.
""",
    "RequestOptions": """\
first_frame_only: Makes a still picture of an animated one. Overrides `preload_all_frames`. Default:
    False.
preload_all_frames: Decodes and keeps all frames before the request ends, so that Image.frame()
    costs almost nothing. All frames together may have max_pixels and take max_decode_bytes.
    Default: False.
integrity: "sha256-" and the SHA-256 that the body must have, in base64 or 64 hexadecimal digits. If
    it differs, the request ends with Detail.IMAGE_INTEGRITY. There are no previews. Default: no
    check.
expected_bytes: The size that the body must have. Default 0: any.
""",
    "DownloadOptions": """\
method: The method of HTTP. Default "GET".
body: The body to send; not with GET or HEAD. Default: none.
range: Bytes wanted: "0-1023", "1024-" or "-512". The response has status 206. Default: all.
ignore_cached_response: With `http_cache`: does not deliver the HTTP cache's entry. If it is still
    valid, or the same bytes arrive, the request ends with NotModified. Default: False.
""",
    "LoadOptions": """\
query: Cache levels in which the picture is looked for: "all", "memory", "disk" or "none". Default
    "all".
store: Cache levels in which the picture is stored: "all", "memory", "disk" or "none". Default
    "all".
original_query: Cache levels in which the original of a smaller or transformed picture is looked
    for: "all", "memory", "disk" or "none". Default "disk".
original_store: Cache levels in which the original of a smaller or transformed picture is stored:
    "all", "memory", "disk" or "none". Default "disk".
cache_key: The key in the cache. Default: made of the URL, see `Cache.key()`.
transforms: Transforms, one after the other: `resize()`, `crop()`, `flip()`, `rotate()`,
    `round_corners()`, `border()`, `tint()`, `blur()`. The result has a cache entry of its own.
    Default: none.
alternatives: At most 64 URLs of the same picture, tried in order if the first fails. The first
    success is stored under the URL of the load. Default: none.
transform_animated_image: Transforms animated pictures too, which makes them still. Default: False:
    they stay as they are.
refresh: Asks the server whether the cached picture is still valid. If it is, or has not changed,
    the load gives that. Default: False.
""",
    "PrefetchOptions": """\
first_frame_only: Makes still pictures of animated ones. Default: False.
preload_all_frames: Decodes and keeps all frames before the request ends, so that Image.frame()
    costs almost nothing. All frames together may have max_pixels and take max_decode_bytes.
    Default: False.
""",
    "RowOptions": """\
deadline: Limit on the whole batch, in seconds. Items that have not ended by then end with
    RequestTimeout. Default 0: none.
look_ahead: Most items that are running or wait to be taken, at most 65,536; their bodies and
    pictures are in memory. Default 64.
ordered: Items come in the order of the URLs; a slow one holds up those after it. Default: False: as
    they are completed.
responses: Whether items have their `response`, with its header fields. Default: False.
""",
    "BatchOptions": """\
first_frame_only: Makes still pictures of animated ones. Default: False.
preload_all_frames: Decodes and keeps all frames before the request ends, so that Image.frame()
    costs almost nothing. All frames together may have max_pixels and take max_decode_bytes.
    Default: False.
""",
    "Credential": """\
username: The user, with `password`: both or none.
password: The password of `username`; "" for an empty one.
bearer_token: A token (RFC 6750), which is sent at once; not together with `username`.
client_certificate: PEM file of a certificate, for TLS.
client_key: PEM file of its key; None: it is in `client_certificate`.
client_key_password: The password of the key; None: it has none.
""",
    "NetworkOptions": """\
ca_file: PEM file of trusted certificates. Default: the system's.
ca_path: Directory of such files, hashed by `openssl rehash`. Default: the system's.
min_tls_version: Lowest version of TLS, "1.0" to "1.3". Default "1.2".
http_version: "1.0", "1.1", "2", "2-prior-knowledge": over plain TCP without negotiation, or "3":
    HTTP/3 where a host offers it. Default: HTTP/2 over TLS where the server has it, else 1.1.
max_redirects: Most redirects of a request that are followed. Default 10.
allow_downgrade: Follows redirects from https to http. Default: False.
allow_file_urls: Reads file: URLs, but never after a redirect. Default: False.
no_data_urls: Refuses data: URLs. Default: False.
ip_version: 4 or 6: connects to such addresses alone. Default: both.
public_addresses_only: Refuses private, loopback and similar addresses, and uses no proxy: for URLs
    that are not trusted. Default: False.
ignore_proxy_environment: Uses no proxy, whatever http_proxy and the like say. Default: False.
address_exceptions: What `public_addresses_only` does not refuse: blocks of addresses
    ("10.1.0.0/16"), addresses ("10.1.2.3") or hosts ("intranet"); the last two also with a port
    ("intranet:8080"). Default: none.
proxy: "http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h. Not with
    `public_addresses_only`. Default: the environment's.
no_proxy: Hosts that are reached without `proxy`: "localhost,.example.org". Default: none.
network_interface: The interface or address to connect from: "eth0", "192.0.2.7". Default: any.
unix_socket_path: A Unix socket that is connected to in place of TCP; not with
    `public_addresses_only`. Default: none.
resolve: "host:port:address[,address]", used in place of name lookups. Default: none.
dns_servers: "192.0.2.53,192.0.2.54:5353"; needs a libcurl that is built with c-ares. Default: the
    system's.
dns_cache: How long looked up names are kept; default 60 seconds; -1: for ever.
max_connections: Connections open at a time, in use or idle. Default: no limit.
max_connections_per_host: Connections open at a time to one host. Default: no limit.
max_idle_connections: Idle connections kept for later requests; default: as many as bursts of
    requests have needed, at most 512.
tcp_keepalive: Time of silence before the kernel probes whether the other end still responds, in
    seconds; -1: never. Default 60 seconds.
receive_buffer_bytes: Size of the buffer that bodies are received in, 1024 to 524288. Default 65536.
network_threads: Threads that use the network, at most 16, over which hosts are spread. Default 1,
    which does some 25,000 small requests or 900 MB a second.
cookie_file: A file in Netscape's format, read at creation (it need not exist) and written at the
    end, with mode 0600. Default: cookies are not kept.
""",
    "LimitOptions": """\
queue_timeout: From submitting to the start of the transfer; default: none; in seconds.
connect_timeout: Name lookup, connect, TLS; default: download_timeout; in seconds.
first_byte_timeout: From the request being sent to the first byte of the response; default: none; in
    seconds.
download_timeout: Longest time without a byte, from the start of the transfer on; default 15
    seconds. Time spent waiting in the queue does not count.
total_timeout: From submitting to the end; default: none; in seconds.
low_speed_limit: Bytes a second: a transfer that is slower, averaged over `low_speed_time`, ends
    with Detail.TIMEOUT_SLOW. Default 100.
low_speed_time: Time over which the speed is averaged; -1: no lower limit on speed. Default 60
    seconds.
max_body_bytes: Largest body, after unpacking; default 64 MiB.
max_header_bytes: Bytes of the header fields of all responses of a request. Default 256 KiB.
max_header_count: Header fields of all responses of a request. Default 1000.
max_scans: Scans of a progressive JPEG. Default 500.
max_pixels: Largest width * height. Default 128 Mi (134,217,728).
decode_time: Processor time for one picture, and again for its frames: for all that are preloaded,
    or for one that is requested; default 5 seconds; -1: none.
max_decode_bytes: Memory for one picture while it is decoded, for its pixels and the decoder's own
    data, as estimated from its header; default 1 GiB; -1: none. Requests that share a transfer but
    want different pixels count one by one. For the limit on all pictures together see
    set_decode_memory_limit().
max_decode_ratio: A picture that takes more than 128 MiB while it is decoded must have at least one
    byte of body for each max_decode_ratio bytes of memory; otherwise a small file could take much
    memory. Default 512: photographs, screen shots and diagrams stay well below; -1: none. Of what a
    coder (extend.h) takes a quarter counts, or the pixels made from it if they are more.
""",
    "RetryOptions": """\
max_attempts: Transfers for one request, first one included; default 1, max. 1000. A load has at
    least 2, unless its own max_attempts says otherwise.
retry_budget: Retries available for each host and port; each retry uses one up, and every five
    successful transfers restore one; default 10; -1: none.
retry_delay: Delay before the second transfer; it doubles before each further one, and is shortened
    at random to no less than half, so that retries are spread; default 0.5 seconds. A Retry-After
    of the response (RFC 9110 section 10.2.3) replaces it.
max_retry_delay: Longest delay; no retry after a longer Retry-After; default 30 seconds.
""",
    "ReportOptions": """\
min_progress_fraction: Least part of the whole body between two calls of `progress`, 0 to 1. Default
    0.
min_progress_interval: Least time between two calls of `progress`, in seconds. Default 0.
min_preview_interval: Least time between two previews; -1: none. Default 0.1 seconds.
min_preview_bytes: Least bytes of the body between two previews. Default 0.
min_preview_scans: Least scans of a JPEG, or passes of a PNG, between two previews. Default 1.
""",
    "DownloaderOptions": """\
max_concurrent_downloads: Transfers at a time; default 6.
max_concurrent_per_host: Transfers at a time to one host and port; default 6.
decode_threads: Threads that decode. Default: the processors that the process may use, at most 8.
execution_order: Which of the requests of one priority begins first: "fifo", the one that was
    submitted first, or "lifo", the last one. Default "fifo".
reserved_urgent_slots: Slots of max_concurrent_downloads kept free for requests of Priority.HIGH and
    above; must be less than max_concurrent_downloads; default 0.
ageing: A request that has waited this long counts as one priority higher, and again each time this
    much longer; default 0: never; in seconds.
min_host_interval: Least time from the start of one transfer to the start of the next to the same
    host and port, for retries too, but not for redirects; transfers to other hosts begin meanwhile;
    default 0; in seconds.
accepted_status_codes: Status codes that are no error: "200-299,304"; "*": all. Default "200-299".
accepted_content_types: Media types that are no error: "image/jpeg,image/png"; "image/" and "*" for
    all images; "*": all, also none. Default "*".
credential: For requests without a credential of their own, whatever their host: set it only for a
    downloader that is used with one server. Default: none.
http_cache_in: The cache for `http_cache` and `resume`. Default: the shared one.
http_cache: Whether all requests follow the rules of HTTP caches, RFC 9111. Default: False.
resume: Whether all requests have `resume`. Default: False.
no_installed_coders: Decodes without the coders that are installed beside the library. Default:
    False.
isolated_decoding: True: decodes pictures in processes of their own, without files and network;
    False: in this one. Default: in this one, but for pictures that are programs, like SVG.
headers: Header fields of all requests. Default: none.
log_level: Level of `logging` up to which messages go to the logger "sdd"; None: none. Default: that
    logger's level.
""",
    "CacheOptions": """\
name: The cache is in $XDG_CACHE_HOME/sdd/NAME, or in ~/.cache/sdd/NAME. Default "default".
directory: The directory, in place of `name`; made if it does not exist. Default: see `name`.
read_only_directories: Directories of caches, searched in this order for entries that `directory`
    does not have, and never changed. Default: none.
levels: Levels that the cache has: "all", "memory" or "disk". Default "all".
no_live_images: Does not find a picture again that was evicted, even while the application holds it.
    Default: False.
max_memory_cost: Bytes that all pictures in memory take together; -1: no limit. Default: an eighth
    of the machine's memory, or of the cgroup's limit if that is less, between 16 MiB and 512 MiB.
max_memory_count: Pictures in memory. Default: no limit.
watch_memory_pressure: Trims memory, as `trim_memory()` does, when the kernel reports memory
    pressure. Default: False.
sync: Durability of written entries: "none": the system decides; "data": an entry's bytes are on
    disk before it appears; "full": so is the directory. Default "none".
max_disk_bytes: Bytes of all files, as allocated; -1: no limit. Default 512 MiB.
max_disk_age: Older entries are misses; in seconds, -1: no limit. Default 7 days.
disk_date: The date that an entry's age counts from: "access", its last use, or "modification", when
    it was stored. Default "access".
low_water_percent: Over max_disk_bytes, the oldest entries are removed until this percentage of it
    is left: 1 to 100; default 50.
no_share_wait: Does not wait for other processes: each downloads what it wants. Default: False.
trim_interval: How often old entries are looked for, in seconds; -1: only when `max_disk_bytes` is
    exceeded. Default 10 minutes.
map_from_bytes: Entries with at least this many encoded bytes are mapped (mmap(2)) instead of read:
    no program may cut the files meanwhile. Default: none.
share_wait: Longest wait for another process that downloads the same URL. Default 30 seconds.
max_part_bytes: Bytes of parts that are kept for `resume`; -1: no limit. Default 256 MiB.
max_part_age: Age of parts that are kept for `resume`, in seconds; -1: no limit. Default 1 day.
ignored_query_parameters: "token,Expires,X-Amz-*": names, or beginnings of names, of query
    parameters that are left out of the keys of URLs; the fragment is then left out too. Default:
    none.
max_queued_bytes: Bytes that entries may hold in memory until they are written; over it, the oldest
    that no caller waits for are dropped. -1: no limit. Default 128 MiB.
destroy_timeout: Longest time for which `close()` writes; -1: no limit. Default 10 seconds.
""",
}
"""Of each class its own options."""

CHAINS: dict[str, tuple[str, ...]] = {
    "PictureOptions": ("PictureOptions",),
    "TransferOptions": ("TransferOptions",),
    "StoreOptions": ("StoreOptions",),
    "RequestOptions": ("PictureOptions", "TransferOptions", "RequestOptions",),
    "DownloadOptions": ("PictureOptions", "TransferOptions", "RequestOptions", "DownloadOptions",),
    "LoadOptions": ("PictureOptions", "TransferOptions", "RequestOptions", "StoreOptions", "LoadOptions",),
    "PrefetchOptions": ("PictureOptions", "TransferOptions", "StoreOptions", "PrefetchOptions",),
    "RowOptions": ("TransferOptions", "StoreOptions", "RowOptions",),
    "BatchOptions": ("PictureOptions", "TransferOptions", "StoreOptions", "RowOptions", "BatchOptions",),
    "Credential": ("Credential",),
    "NetworkOptions": ("NetworkOptions",),
    "LimitOptions": ("LimitOptions",),
    "RetryOptions": ("RetryOptions",),
    "ReportOptions": ("ReportOptions",),
    "DownloaderOptions": ("NetworkOptions", "LimitOptions", "RetryOptions", "ReportOptions", "DownloaderOptions",),
    "CacheOptions": ("CacheOptions",),
}
"""Of each class the classes whose options it has."""

# Made from include/sdd/*.h by tools/make_python_options.py: `make bindings` makes it anew. Nothing is changed by hand.
"""Keyword options of requests, downloaders and caches. The header describes each in full, under the same name.

Times are seconds, sizes bytes, sides pixels. What is left out has the header's default; -1 is "no limit" where the
header says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from . import _constants as c
from ._constants import PixelFormat, Priority
from ._help import takes
from ._transforms import Fit, Transform

if TYPE_CHECKING:
    from ._cache import Cache

PixelFormatName = Literal[
    "rgba8", "rgba8_premultiplied", "bgra8", "bgra8_premultiplied", "rgb8", "grey8", "rgba16",
    "rgba16_premultiplied", "rgb8_planar",
]  # fmt: skip
PriorityName = Literal["very_low", "low", "normal", "high", "very_high"]
FormatName = Literal["jpeg", "jpg", "png", "webp", "avif", "jxl"]
Levels = Literal["all", "memory", "disk", "none"]


@takes("PictureOptions")
class PictureOptions(TypedDict, total=False):
    """The form of a picture: sdd_decode_options."""

    pixel_format: PixelFormat | PixelFormatName
    """The layout of the pixels, a PixelFormat or its name; default "rgba8"."""
    keep_orientation: bool
    """Whether the picture stays as stored, and is not turned by its Exif orientation; default: False."""
    background: int
    """0xRRGGBB, shown through alpha in formats without alpha. Default 0: black."""
    fit: Fit
    """"inside": the whole picture within `size`; "fill": covers it, cropped; "stretch": each side by itself. Default
    "inside"."""
    size: tuple[int, int] | int | None
    """Pixels that the picture is scaled down to: (width, height), or one number for both; 0 in one of them: any.
    Default: its own size."""
    scale_down_limit_bytes: int
    """A picture that takes more bytes, at 4 bytes a pixel, is scaled down to fit, whatever `size` and `fit` say. 0: no
    limit. Default 0."""
    row_alignment: int
    """Bytes, a power of two up to 4096: every row begins at a multiple of it. Default 1: rows without padding."""
    enlarge: bool
    """Whether a smaller picture is enlarged to `size`, as `fit` says; default: False."""
    lenient: bool
    """Whether the valid part of a damaged picture is delivered, in place of an error; default: False."""
    exact: bool
    """Whether scaling takes exact area means, for half as much time again; default: False."""
    colour: Literal["srgb", "stored"]
    """Colours of the pixels: "srgb": converted from what the picture says of them, as browsers do it; "stored": as in
    the file, see `Image.colour`. Default: "srgb" for loads, "stored" for everything else."""
    still: bool
    """Of an animated picture only the still picture, as programs show it that know no animations: that of the file for
    an animated PNG whose first frame it is not. Overrides preload_all_frames and first_frame_only. Default: False."""


@takes("TransferOptions")
class TransferOptions(TypedDict, total=False):
    """How to transfer, for every kind of request: sdd_transfer_options, and SDD_OPTION_ bits."""

    headers: Mapping[str, str | None]
    """Header fields of this request, which replace the downloader's by name; None removes the downloader's. Default:
    none."""
    referrer: str
    """The Referer header field; one in `headers` overrides it. Default: none."""
    credential: Credential
    """User and password, a token or a certificate. Default: the downloader's."""
    accepted_status_codes: str
    """Status codes that are no error: "200-299,304"; "*": all. Default: the downloader's."""
    accepted_content_types: str
    """Media types that are no error: "image/jpeg,image/png"; "image/" and "*" for all images; "*": all, also none.
    Default: the downloader's."""
    max_body_bytes: int
    """Largest body, after unpacking; may be above the downloader's limit. 0: the downloader's, by default 64 MiB.
    Default 0."""
    max_redirects: int
    """Most redirects to follow, at most 1000. 0: the downloader's limit, by default 10. Default 0."""
    redirects: Literal["follow", "hand_out", "refuse"]
    """"follow", "hand_out": a redirect is the response, "refuse": it is an error. Default "follow"."""
    max_attempts: int
    """Transfers for this request, the first included, at most 1000. 0: as the downloader has it, for loads at least 2.
    Default 0."""
    ca_file: str | os.PathLike[str]
    """PEM file of trusted certificates, in place of the downloader's. Connections are not shared with requests that
    have another file. Default: the downloader's."""
    queue_timeout: float
    """From submitting to the start of the transfer, in seconds. 0: the downloader's limit; -1: none. Default 0."""
    connect_timeout: float
    """Name lookup, connect and TLS, in seconds. 0: the downloader's limit; -1: none. Default 0."""
    first_byte_timeout: float
    """From the request being sent to the first byte of the response, in seconds. 0: the downloader's limit; -1: none.
    Default 0."""
    download_timeout: float
    """Longest time without a byte, in seconds. 0: the downloader's limit, by default 15 seconds; -1: none. Default
    0."""
    timeout: float
    """Limit on all stages together, in seconds. 0: the downloader's `total_timeout`; -1: none. Default 0."""
    low_speed_limit: int
    """Bytes a second: a slower transfer ends after `low_speed_time`. 0: the downloader's limit. Default 0."""
    low_speed_time: float
    """Time over which the speed is averaged, in seconds. 0: the downloader's; -1: no lower limit on speed. Default
    0."""
    cookies: bool
    """Sends the downloader's cookies beside those of the request's headers, and keeps. Default: False."""
    allow_invalid_certificates: bool
    """Accepts any certificate from the servers of this request. Default: False."""
    continue_in_background: bool
    """Goes on during the grace time after the low layer's sdd_downloader_enter_background(). Default: False."""
    resume: bool
    """Keeps in the cache the received part of a body that breaks off, or whose request is cancelled. The next request
    with this option asks for the rest (RFC 9110 section 14.2, with If-Range). Only for GET without Range, and not with
    a sink. Default: False."""
    stop_when_complete: bool
    """The transfer may stop when the picture is complete at the wanted size: a progressive JPEG that is made smaller
    need not deliver detail that is not shown. The result then has no bytes; Metrics.saved_bytes counts the rest. Only
    if all requests that share the transfer have this option. Default: False."""
    body_as_sent: bool
    """Leaves the body as the server sends it. The request says "Accept-Encoding: identity" (RFC 9110 section 12.5.3)
    unless its headers say otherwise, and no Content-Encoding is unpacked: the bytes delivered, checked, decoded and
    stored are the server's. The stored entries are found only by requests with this option. Default: False."""
    http_cache: bool
    """Follows the rules of HTTP caches, RFC 9111: see `http_cache_in`. Default: False."""
    priority: Priority | PriorityName
    """A Priority or its name, "very_low" to "very_high". Default "normal", of prefetching "very_low"."""


@takes("StoreOptions")
class StoreOptions(TypedDict, total=False):
    """What loads do with their caches and with URLs that failed: SDD_OPTION_ bits."""

    from_cache_only: bool
    """Never uses the network: a picture that no cache has ends with NotCached. Default: False."""
    from_loader_only: bool
    """Does not read the cache, but stores what arrives. Default: False."""
    retry_failed: bool
    """Loads the URL although it failed recently. Default: False."""
    wait_store_cache: bool
    """Ends when its entries are on disk, or could not be stored: Result.store_error. Default: False."""


@takes("RequestOptions")
class RequestOptions(PictureOptions, TransferOptions, total=False):
    """Options of downloads and loads: sdd_download_request, and SDD_OPTION_ bits."""

    first_frame_only: bool
    """Makes a still picture of an animated one. Overrides `preload_all_frames`. Default: False."""
    preload_all_frames: bool
    """Decodes and keeps all frames before the request ends, so that Image.frame() costs almost nothing. All frames
    together may have max_pixels and take max_decode_bytes. Default: False."""
    integrity: str
    """"sha256-" and the SHA-256 that the body must have, in base64 or 64 hexadecimal digits. If it differs, the request
    ends with Detail.IMAGE_INTEGRITY. There are no previews. Default: no check."""
    expected_bytes: int
    """The size that the body must have. Default 0: any."""


@takes("DownloadOptions")
class DownloadOptions(RequestOptions, total=False):
    """Options of `Downloader`'s requests: sdd_download_request."""

    method: str
    """The method of HTTP. Default "GET"."""
    body: bytes
    """The body to send; not with GET or HEAD. Default: none."""
    range: str
    """Bytes wanted: "0-1023", "1024-" or "-512". The response has status 206. Default: all."""
    ignore_cached_response: bool
    """With `http_cache`: does not deliver the HTTP cache's entry. If it is still valid, or the same bytes arrive, the
    request ends with NotModified. Default: False."""


@takes("LoadOptions")
class LoadOptions(RequestOptions, StoreOptions, total=False):
    """Options of `Loader`'s requests: sdd_load_request."""

    query: Levels
    """Cache levels in which the picture is looked for: "all", "memory", "disk" or "none". Default "all"."""
    store: Levels
    """Cache levels in which the picture is stored: "all", "memory", "disk" or "none". Default "all"."""
    original_query: Levels
    """Cache levels in which the original of a smaller or transformed picture is looked for: "all", "memory", "disk" or
    "none". Default "disk"."""
    original_store: Levels
    """Cache levels in which the original of a smaller or transformed picture is stored: "all", "memory", "disk" or
    "none". Default "disk"."""
    cache_key: str
    """The key in the cache. Default: made of the URL, see `Cache.key()`."""
    transforms: Sequence[Transform]
    """Transforms, one after the other: `resize()`, `crop()`, `flip()`, `rotate()`, `round_corners()`, `border()`,
    `tint()`, `blur()`. The result has a cache entry of its own. Default: none."""
    alternatives: Sequence[str]
    """At most 64 URLs of the same picture, tried in order if the first fails. The first success is stored under the URL
    of the load. Default: none."""
    transform_animated_image: bool
    """Transforms animated pictures too, which makes them still. Default: False: they stay as they are."""
    refresh: bool
    """Asks the server whether the cached picture is still valid. If it is, or has not changed, the load gives that.
    Default: False."""


@takes("PrefetchOptions")
class PrefetchOptions(PictureOptions, TransferOptions, StoreOptions, total=False):
    """Options of `Loader.prefetch()`: sdd_prefetch_list."""

    first_frame_only: bool
    """Makes still pictures of animated ones. Default: False."""
    preload_all_frames: bool
    """Decodes and keeps all frames before the request ends, so that Image.frame() costs almost nothing. All frames
    together may have max_pixels and take max_decode_bytes. Default: False."""


@takes("RowOptions")
class RowOptions(TransferOptions, StoreOptions, total=False):
    """Options of `batch()`: sdd_batch_config. Those of `StoreOptions` need a loader."""

    deadline: float
    """Limit on the whole batch, in seconds. Items that have not ended by then end with RequestTimeout. Default 0:
    none."""
    look_ahead: int
    """Most items that are running or wait to be taken, at most 65,536; their bodies and pictures are in memory. Default
    64."""
    ordered: bool
    """Items come in the order of the URLs; a slow one holds up those after it. Default: False: as they are
    completed."""
    responses: bool
    """Whether items have their `response`, with its header fields. Default: False."""


@takes("BatchOptions")
class BatchOptions(PictureOptions, RowOptions, total=False):
    """Options of `load_many()` and the like: sdd_batch_config."""

    first_frame_only: bool
    """Makes still pictures of animated ones. Default: False."""
    preload_all_frames: bool
    """Decodes and keeps all frames before the request ends, so that Image.frame() costs almost nothing. All frames
    together may have max_pixels and take max_decode_bytes. Default: False."""


@dataclass(frozen=True)
class Credential:
    """Credentials for one server: sdd_credential."""

    username: str | None = None
    """The user, with `password`: both or none."""
    password: str | None = None
    """The password of `username`; "" for an empty one."""
    bearer_token: str | None = None
    """A token (RFC 6750), which is sent at once; not together with `username`."""
    client_certificate: str | os.PathLike[str] | None = None
    """PEM file of a certificate, for TLS."""
    client_key: str | os.PathLike[str] | None = None
    """PEM file of its key; None: it is in `client_certificate`."""
    client_key_password: str | None = None
    """The password of the key; None: it has none."""

    def __repr__(self) -> str:
        return "Credential(...)"  # no secret in a log


@takes("NetworkOptions")
class NetworkOptions(TypedDict, total=False):
    """Network settings of a downloader: sdd_network_options."""

    ca_file: str | os.PathLike[str]
    """PEM file of trusted certificates. Default: the system's."""
    ca_path: str | os.PathLike[str]
    """Directory of such files, hashed by `openssl rehash`. Default: the system's."""
    min_tls_version: Literal["1.0", "1.1", "1.2", "1.3"]
    """Lowest version of TLS, "1.0" to "1.3". Default "1.2"."""
    http_version: Literal["1.0", "1.1", "2", "2-prior-knowledge", "3"]
    """"1.0", "1.1", "2", "2-prior-knowledge": over plain TCP without negotiation, or "3": HTTP/3 where a host offers
    it. Default: HTTP/2 over TLS where the server has it, else 1.1."""
    max_redirects: int
    """Most redirects of a request that are followed. Default 10."""
    allow_downgrade: bool
    """Follows redirects from https to http. Default: False."""
    allow_file_urls: bool
    """Reads file: URLs, but never after a redirect. Default: False."""
    no_data_urls: bool
    """Refuses data: URLs. Default: False."""
    ip_version: Literal[4, 6]
    """4 or 6: connects to such addresses alone. Default: both."""
    public_addresses_only: bool
    """Refuses private, loopback and similar addresses, and uses no proxy: for URLs that are not trusted. Default:
    False."""
    ignore_proxy_environment: bool
    """Uses no proxy, whatever http_proxy and the like say. Default: False."""
    address_exceptions: Sequence[str]
    """What `public_addresses_only` does not refuse: blocks of addresses ("10.1.0.0/16"), addresses ("10.1.2.3") or
    hosts ("intranet"); the last two also with a port ("intranet:8080"). Default: none."""
    proxy: str
    """"http://user:password@host:port", also https, socks4, socks4a, socks5, socks5h. Not with `public_addresses_only`.
    Default: the environment's."""
    no_proxy: str
    """Hosts that are reached without `proxy`: "localhost,.example.org". Default: none."""
    network_interface: str
    """The interface or address to connect from: "eth0", "192.0.2.7". Default: any."""
    unix_socket_path: str | os.PathLike[str]
    """A Unix socket that is connected to in place of TCP; not with `public_addresses_only`. Default: none."""
    resolve: Sequence[str]
    """"host:port:address[,address]", used in place of name lookups. Default: none."""
    dns_servers: str
    """"192.0.2.53,192.0.2.54:5353"; needs a libcurl that is built with c-ares. Default: the system's."""
    dns_cache: float
    """How long looked up names are kept; default 60 seconds; -1: for ever."""
    max_connections: int
    """Connections open at a time, in use or idle. Default: no limit."""
    max_connections_per_host: int
    """Connections open at a time to one host. Default: no limit."""
    max_idle_connections: int
    """Idle connections kept for later requests; default: as many as bursts of requests have needed, at most 512."""
    tcp_keepalive: float
    """Time of silence before the kernel probes whether the other end still responds, in seconds; -1: never. Default 60
    seconds."""
    receive_buffer_bytes: int
    """Size of the buffer that bodies are received in, 1024 to 524288. Default 65536."""
    network_threads: int
    """Threads that use the network, at most 16, over which hosts are spread. Default 1, which does some 25,000 small
    requests or 900 MB a second."""
    cookie_file: str | os.PathLike[str]
    """A file in Netscape's format, read at creation (it need not exist) and written at the end, with mode 0600.
    Default: cookies are not kept."""


@takes("LimitOptions")
class LimitOptions(TypedDict, total=False):
    """Limits on each request of a downloader: sdd_limits."""

    queue_timeout: float
    """From submitting to the start of the transfer; default: none; in seconds."""
    connect_timeout: float
    """Name lookup, connect, TLS; default: download_timeout; in seconds."""
    first_byte_timeout: float
    """From the request being sent to the first byte of the response; default: none; in seconds."""
    download_timeout: float
    """Longest time without a byte, from the start of the transfer on; default 15 seconds. Time spent waiting in the
    queue does not count."""
    total_timeout: float
    """From submitting to the end; default: none; in seconds."""
    low_speed_limit: int
    """Bytes a second: a transfer that is slower, averaged over `low_speed_time`, ends with Detail.TIMEOUT_SLOW. Default
    100."""
    low_speed_time: float
    """Time over which the speed is averaged; -1: no lower limit on speed. Default 60 seconds."""
    max_body_bytes: int
    """Largest body, after unpacking; default 64 MiB."""
    max_header_bytes: int
    """Bytes of the header fields of all responses of a request. Default 256 KiB."""
    max_header_count: int
    """Header fields of all responses of a request. Default 1000."""
    max_scans: int
    """Scans of a progressive JPEG. Default 500."""
    max_pixels: int
    """Largest width * height. Default 128 Mi (134,217,728)."""
    decode_time: float
    """Processor time for one picture, and again for its frames: for all that are preloaded, or for one that is
    requested; default 5 seconds; -1: none."""
    max_decode_bytes: int
    """Memory for one picture while it is decoded, for its pixels and the decoder's own data, as estimated from its
    header; default 1 GiB; -1: none. Requests that share a transfer but want different pixels count one by one. For the
    limit on all pictures together see set_decode_memory_limit()."""
    max_decode_ratio: int
    """A picture that takes more than 128 MiB while it is decoded must have at least one byte of body for each
    max_decode_ratio bytes of memory; otherwise a small file could take much memory. Default 512: photographs, screen
    shots and diagrams stay well below; -1: none. Of what a coder (extend.h) takes a quarter counts, or the pixels made
    from it if they are more."""


@takes("RetryOptions")
class RetryOptions(TypedDict, total=False):
    """Retries of a downloader: sdd_retry_options."""

    max_attempts: int
    """Transfers for one request, first one included; default 1, max. 1000. A load has at least 2, unless its own
    max_attempts says otherwise."""
    retry_budget: int
    """Retries available for each host and port; each retry uses one up, and every five successful transfers restore
    one; default 10; -1: none."""
    retry_delay: float
    """Delay before the second transfer; it doubles before each further one, and is shortened at random to no less than
    half, so that retries are spread; default 0.5 seconds. A Retry-After of the response (RFC 9110 section 10.2.3)
    replaces it."""
    max_retry_delay: float
    """Longest delay; no retry after a longer Retry-After; default 30 seconds."""


@takes("ReportOptions")
class ReportOptions(TypedDict, total=False):
    """How often progress and previews are reported: sdd_callback_options."""

    min_progress_fraction: float
    """Least part of the whole body between two calls of `progress`, 0 to 1. Default 0."""
    min_progress_interval: float
    """Least time between two calls of `progress`, in seconds. Default 0."""
    min_preview_interval: float
    """Least time between two previews; -1: none. Default 0.1 seconds."""
    min_preview_bytes: int
    """Least bytes of the body between two previews. Default 0."""
    min_preview_scans: int
    """Least scans of a JPEG, or passes of a PNG, between two previews. Default 1."""


@takes("DownloaderOptions")
class DownloaderOptions(NetworkOptions, LimitOptions, RetryOptions, ReportOptions, total=False):
    """Options of `Downloader` and of `Loader`: sdd_downloader_config and its groups."""

    max_concurrent_downloads: int
    """Transfers at a time; default 6."""
    max_concurrent_per_host: int
    """Transfers at a time to one host and port; default 6."""
    decode_threads: int
    """Threads that decode. Default: the processors that the process may use, at most 8."""
    execution_order: Literal["fifo", "lifo"]
    """Which of the requests of one priority begins first: "fifo", the one that was submitted first, or "lifo", the last
    one. Default "fifo"."""
    reserved_urgent_slots: int
    """Slots of max_concurrent_downloads kept free for requests of Priority.HIGH and above; must be less than
    max_concurrent_downloads; default 0."""
    ageing: float
    """A request that has waited this long counts as one priority higher, and again each time this much longer; default
    0: never; in seconds."""
    min_host_interval: float
    """Least time from the start of one transfer to the start of the next to the same host and port, for retries too,
    but not for redirects; transfers to other hosts begin meanwhile; default 0; in seconds."""
    accepted_status_codes: str
    """Status codes that are no error: "200-299,304"; "*": all. Default "200-299"."""
    accepted_content_types: str
    """Media types that are no error: "image/jpeg,image/png"; "image/" and "*" for all images; "*": all, also none.
    Default "*"."""
    credential: Credential
    """For requests without a credential of their own, whatever their host: set it only for a downloader that is used
    with one server. Default: none."""
    http_cache_in: Cache
    """The cache for `http_cache` and `resume`. Default: the shared one."""
    http_cache: bool
    """Whether all requests follow the rules of HTTP caches, RFC 9111. Default: False."""
    resume: bool
    """Whether all requests have `resume`. Default: False."""
    no_installed_coders: bool
    """Decodes without the coders that are installed beside the library. Default: False."""
    isolated_decoding: bool
    """True: decodes pictures in processes of their own, without files and network; False: in this one. Default: in this
    one, but for pictures that are programs, like SVG."""
    headers: Mapping[str, str | None]
    """Header fields of all requests. Default: none."""
    log_level: int | None
    """Level of `logging` up to which messages go to the logger "sdd"; None: none. Default: that logger's level."""


@takes("CacheOptions")
class CacheOptions(TypedDict, total=False):
    """Options of `Cache`: sdd_cache_config."""

    name: str
    """The cache is in $XDG_CACHE_HOME/sdd/NAME, or in ~/.cache/sdd/NAME. Default "default"."""
    directory: str | os.PathLike[str]
    """The directory, in place of `name`; made if it does not exist. Default: see `name`."""
    read_only_directories: Sequence[str | os.PathLike[str]]
    """Directories of caches, searched in this order for entries that `directory` does not have, and never changed.
    Default: none."""
    levels: Levels
    """Levels that the cache has: "all", "memory" or "disk". Default "all"."""
    no_live_images: bool
    """Does not find a picture again that was evicted, even while the application holds it. Default: False."""
    max_memory_cost: int
    """Bytes that all pictures in memory take together; -1: no limit. Default: an eighth of the machine's memory, or of
    the cgroup's limit if that is less, between 16 MiB and 512 MiB."""
    max_memory_count: int
    """Pictures in memory. Default: no limit."""
    watch_memory_pressure: bool
    """Trims memory, as `trim_memory()` does, when the kernel reports memory pressure. Default: False."""
    sync: Literal["none", "data", "full"]
    """Durability of written entries: "none": the system decides; "data": an entry's bytes are on disk before it
    appears; "full": so is the directory. Default "none"."""
    max_disk_bytes: int
    """Bytes of all files, as allocated; -1: no limit. Default 512 MiB."""
    max_disk_age: float
    """Older entries are misses; in seconds, -1: no limit. Default 7 days."""
    disk_date: Literal["access", "modification"]
    """The date that an entry's age counts from: "access", its last use, or "modification", when it was stored. Default
    "access"."""
    low_water_percent: int
    """Over max_disk_bytes, the oldest entries are removed until this percentage of it is left: 1 to 100; default 50."""
    no_share_wait: bool
    """Does not wait for other processes: each downloads what it wants. Default: False."""
    trim_interval: float
    """How often old entries are looked for, in seconds; -1: only when `max_disk_bytes` is exceeded. Default 10
    minutes."""
    map_from_bytes: int
    """Entries with at least this many encoded bytes are mapped (mmap(2)) instead of read: no program may cut the files
    meanwhile. Default: none."""
    share_wait: float
    """Longest wait for another process that downloads the same URL. Default 30 seconds."""
    max_part_bytes: int
    """Bytes of parts that are kept for `resume`; -1: no limit. Default 256 MiB."""
    max_part_age: float
    """Age of parts that are kept for `resume`, in seconds; -1: no limit. Default 1 day."""
    ignored_query_parameters: str
    """"token,Expires,X-Amz-*": names, or beginnings of names, of query parameters that are left out of the keys of
    URLs; the fragment is then left out too. Default: none."""
    max_queued_bytes: int
    """Bytes that entries may hold in memory until they are written; over it, the oldest that no caller waits for are
    dropped. -1: no limit. Default 128 MiB."""
    destroy_timeout: float
    """Longest time for which `close()` writes; -1: no limit. Default 10 seconds."""


BITS: dict[str, int] = {
    "cookies": c.OPTION_HANDLE_COOKIES,
    "allow_invalid_certificates": c.OPTION_ALLOW_INVALID_SSL_CERTIFICATES,
    "continue_in_background": c.OPTION_CONTINUE_IN_BACKGROUND,
    "resume": c.OPTION_RESUME,
    "stop_when_complete": c.OPTION_STOP_WHEN_COMPLETE,
    "body_as_sent": c.OPTION_BODY_AS_SENT,
    "http_cache": c.OPTION_USE_HTTP_CACHE,
    "first_frame_only": c.OPTION_DECODE_FIRST_FRAME_ONLY,
    "preload_all_frames": c.OPTION_PRELOAD_ALL_FRAMES,
    "ignore_cached_response": c.OPTION_IGNORE_CACHED_RESPONSE,
    "transform_animated_image": c.OPTION_TRANSFORM_ANIMATED_IMAGE,
    "refresh": c.OPTION_REFRESH_CACHED,
    "from_cache_only": c.OPTION_FROM_CACHE_ONLY,
    "from_loader_only": c.OPTION_FROM_LOADER_ONLY,
    "retry_failed": c.OPTION_RETRY_FAILED,
    "wait_store_cache": c.OPTION_WAIT_STORE_CACHE,
}
"""Options that are bits of the header."""

"""Keyword options of requests, downloaders and caches. The header describes each in full, under the same name.

Times are seconds, sizes bytes, sides pixels. What is left out has the header's default; -1 is "no limit" where the
header says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from ._constants import PixelFormat, Priority
from ._transforms import Fit, Transform

if TYPE_CHECKING:
    from ._cache import Cache

PixelFormatName = Literal[
    "rgba8", "rgba8_premultiplied", "bgra8", "bgra8_premultiplied", "rgb8", "grey8", "rgba16",
    "rgba16_premultiplied", "rgb8_planar",
]  # fmt: skip
PriorityName = Literal["very_low", "low", "normal", "high", "very_high"]
Levels = Literal["all", "memory", "disk", "none"]


class PictureOptions(TypedDict, total=False):
    """The form of a picture: sdd_decode_options."""

    size: tuple[int, int] | None
    """Width and height that the picture is scaled down to; 0 in one of them: any."""
    fit: Fit
    """"inside" (default): the whole picture within `size`; "fill": covers it, cropped; "stretch"."""
    enlarge: bool
    """Whether smaller pictures are enlarged to `size`."""
    pixel_format: PixelFormat | PixelFormatName
    """Default "rgba8"."""
    keep_orientation: bool
    """Whether the picture stays as stored, not turned by its Exif orientation."""
    background: int
    """0xRRGGBB, shown through alpha in formats without alpha."""
    exact: bool
    """Exact area means when scaling, which take half as much time again."""
    lenient: bool
    """Whether the valid part of a damaged picture is delivered, in place of an error."""
    scale_down_limit_bytes: int
    row_alignment: int


class RequestOptions(PictureOptions, total=False):
    """Options of downloads and loads: sdd_download_request and SDD_OPTION_ bits."""

    timeout: float
    """Limit on all stages together."""
    queue_timeout: float
    connect_timeout: float
    first_byte_timeout: float
    download_timeout: float
    """Longest time without a byte; default 15."""
    low_speed_limit: int
    low_speed_time: float
    priority: Priority | PriorityName
    headers: Mapping[str, str | None]
    """Header fields of this request; None removes the downloader's."""
    referrer: str
    credential: Credential
    max_attempts: int
    """Transfers, the first included."""
    accepted_status_codes: str
    accepted_content_types: str
    integrity: str
    """"sha256-" and the SHA-256 of the body."""
    expected_bytes: int
    max_body_bytes: int
    redirects: Literal["follow", "hand_out", "refuse"]
    max_redirects: int
    ca_file: str
    first_frame_only: bool
    preload_all_frames: bool
    scale_down_large_images: bool
    http_cache: bool
    """Follows RFC 9111."""
    resume: bool
    cookies: bool
    """Sends and keeps the downloader's cookies."""
    allow_invalid_certificates: bool
    continue_in_background: bool
    stop_when_complete: bool
    body_as_sent: bool


class DownloadOptions(RequestOptions, total=False):
    """Options of `Downloader`'s requests."""

    method: str
    body: bytes
    range: str
    """"0-1023", "1024-" or "-512"."""
    ignore_cached_response: bool


class LoadOptions(RequestOptions, total=False):
    """Options of `Loader`'s requests: sdd_load_request."""

    transforms: Sequence[Transform]
    alternatives: Sequence[str]
    """URLs of the same picture, tried in order if the first fails."""
    cache_key: str
    query: Levels
    """Cache levels in which the picture is looked for."""
    store: Levels
    original_query: Levels
    original_store: Levels
    from_cache_only: bool
    from_loader_only: bool
    """Does not read the cache, but stores what arrives."""
    refresh: bool
    """Asks the server whether the cached picture is still valid. If it is, or has not changed, the load gives that."""
    retry_failed: bool
    """Loads the URL although it failed recently."""
    wait_store_cache: bool
    """Ends when the entries are on disk."""
    transform_animated_image: bool


class BatchOptions(PictureOptions, total=False):
    """Options of `load_many()` and the like: sdd_batch_config."""

    ordered: bool
    """Items come in the order of the URLs; a slow one holds up those after it. Default: as they are completed."""
    look_ahead: int
    """Most items that are running or wait to be taken; default 64. Their pictures are in memory."""
    deadline: float
    """Limit on the whole batch."""
    max_attempts: int
    responses: bool
    """Whether items have their `response`, with its header fields."""
    first_frame_only: bool
    http_cache: bool
    resume: bool
    cookies: bool
    from_cache_only: bool
    from_loader_only: bool
    retry_failed: bool
    wait_store_cache: bool
    low_priority: bool
    high_priority: bool


@dataclass(frozen=True)
class Credential:
    """Credentials for one server: sdd_credential."""

    username: str | None = None
    password: str | None = None
    bearer_token: str | None = None
    client_certificate: str | None = None
    """PEM file."""
    client_key: str | None = None
    client_key_password: str | None = None

    def __repr__(self) -> str:
        return "Credential(...)"  # no secret in a log


class NetworkOptions(TypedDict, total=False):
    """Network settings of a downloader: sdd_network_options."""

    ca_file: str
    """PEM file of trusted certificates."""
    ca_path: str
    min_tls_version: Literal["1.0", "1.1", "1.2", "1.3"]
    http_version: Literal["1.0", "1.1", "2", "2-prior-knowledge"]
    max_redirects: int
    allow_downgrade: bool
    allow_file_urls: bool
    no_data_urls: bool
    ip_version: Literal[4, 6]
    public_addresses_only: bool
    """Refuses private, loopback and similar addresses: for URLs that are not trusted."""
    address_exceptions: Sequence[str]
    proxy: str
    no_proxy: str
    ignore_proxy_environment: bool
    network_interface: str
    unix_socket_path: str
    resolve: Sequence[str]
    """"host:port:address", used in place of a name lookup."""
    dns_servers: str
    dns_cache: float
    max_connections: int
    max_connections_per_host: int
    max_idle_connections: int
    tcp_keepalive: float
    receive_buffer_bytes: int
    network_threads: int
    cookie_file: str


class LimitOptions(TypedDict, total=False):
    """Limits on each request of a downloader: sdd_limits."""

    queue_timeout: float
    connect_timeout: float
    first_byte_timeout: float
    download_timeout: float
    total_timeout: float
    low_speed_limit: int
    low_speed_time: float
    max_body_bytes: int
    max_header_bytes: int
    max_header_count: int
    max_scans: int
    max_pixels: int
    decode_time: float
    max_decode_bytes: int
    max_decode_ratio: int


class RetryOptions(TypedDict, total=False):
    """Retries of a downloader: sdd_retry_options."""

    max_attempts: int
    retry_budget: int
    retry_delay: float
    max_retry_delay: float


class ReportOptions(TypedDict, total=False):
    """How often progress and previews are reported: sdd_callback_options."""

    min_progress_interval: float
    """Seconds."""
    min_progress_fraction: float
    """A fraction of the whole body, 0 to 1."""
    min_preview_interval: float
    min_preview_bytes: int
    min_preview_scans: int


class DownloaderOptions(NetworkOptions, LimitOptions, RetryOptions, ReportOptions, total=False):
    """Options of `Downloader` and of `Loader`: sdd_downloader_config and its groups."""

    max_concurrent_downloads: int
    """Transfers at a time; default 6."""
    max_concurrent_per_host: int
    decode_threads: int
    execution_order: Literal["fifo", "lifo"]
    reserved_urgent_slots: int
    ageing: float
    min_host_interval: float
    accepted_status_codes: str
    """"200-299,304"; "*": all."""
    accepted_content_types: str
    credential: Credential
    headers: Mapping[str, str | None]
    """Header fields of all requests."""
    http_cache: bool
    resume: bool
    http_cache_in: Cache
    """The cache for `http_cache` and `resume`; default: the shared one."""
    no_installed_coders: bool
    """Decodes without the coders that are installed beside the library."""
    isolated_decoding: bool
    """Decodes pictures in processes of their own, without files and network: SDD_DECODE_ISOLATED."""
    log_level: int | None
    """Level of `logging` up to which messages go to the logger "sdd"; default: that logger's level. None: none."""


class CacheOptions(TypedDict, total=False):
    """Options of `Cache`: sdd_cache_config."""

    name: str
    directory: str
    read_only_directories: Sequence[str]
    levels: Levels
    no_live_images: bool
    max_memory_cost: int
    max_memory_count: int
    watch_memory_pressure: bool
    sync: Literal["none", "data", "full"]
    max_disk_bytes: int
    max_disk_age: float
    disk_date: Literal["access", "modification"]
    low_water_percent: int
    trim_interval: float
    map_from_bytes: int
    share_wait: float
    max_part_bytes: int
    max_part_age: float
    ignored_query_parameters: str
    max_queued_bytes: int
    destroy_timeout: float

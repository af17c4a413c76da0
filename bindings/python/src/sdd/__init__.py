"""Pictures from URLs: downloads, caches, decodes to size, and shares the pixels with NumPy and Pillow.

    image = await sdd.load("https://example.org/a.jpg", size=(256, 256))

Functions that wait have two forms: `load()` is awaited, `load_sync()` waits in a plain thread. `load_many()` and
`previews()` are for `async for` as well as `for`. bindings/python/README.md has examples; the header of libsdd,
include/sdd/sdd.h, describes every option in full. Times are seconds, sizes bytes, sides pixels.
"""

from ._batch import Batch
from ._cache import Cache, CacheEntry
from ._colour import Colour
from ._constants import (
    VERSION_STRING,
    ColourKind,
    Detail,
    EntryState,
    ErrorClass,
    ImageFormat,
    Origin,
    PixelFormat,
    Priority,
    Stage,
    Status,
)
from ._defaults import batch, default_loader, fetch, fetch_sync, load, load_many, load_sync, previews
from ._downloader import Downloader
from ._errors import (
    Blocked,
    CallError,
    ClosedError,
    Error,
    ForkedError,
    ImageError,
    InvalidArgument,
    LimitError,
    NetworkError,
    NotCached,
    NotModified,
    RequestCancelled,
    RequestError,
    RequestTimeout,
    ResourceError,
    ResponseError,
    TLSError,
)
from ._gain_map import GainMapInfo
from ._image import Image, probe
from ._items import BytesItem, FailedItem, Item, PictureItem, RowItem
from ._loader import Loader
from ._metrics import Metrics
from ._native import library_file
from ._options import (
    BatchOptions,
    CacheOptions,
    Credential,
    DownloaderOptions,
    DownloadOptions,
    LoadOptions,
    PictureOptions,
    PrefetchOptions,
    RequestOptions,
    RowOptions,
    StoreOptions,
    TransferOptions,
)
from ._prefetch import PrefetchOutcome, PrefetchReport
from ._previews import Previews
from ._process import library_version, process_statistics, set_decode_memory_limit
from ._results import Response, Result
from ._transforms import Transform, blur, border, crop, flip, resize, rotate, round_corners, tint

__version__: str = VERSION_STRING
"""The version of this package. `library_version()` is that of the loaded library, which may be newer."""

__all__ = [
    "Batch", "BatchOptions", "Blocked", "BytesItem", "Cache", "CacheEntry", "CacheOptions", "CallError",
    "ClosedError", "Colour", "ColourKind", "Credential", "Detail", "DownloadOptions", "Downloader",
    "DownloaderOptions", "EntryState", "Error", "ErrorClass", "FailedItem", "ForkedError", "GainMapInfo", "Image",
    "ImageError", "ImageFormat", "InvalidArgument", "Item", "LimitError", "LoadOptions", "Loader", "Metrics",
    "NetworkError", "NotCached", "NotModified", "Origin", "PictureItem", "PictureOptions", "PixelFormat",
    "PrefetchOptions", "PrefetchOutcome", "PrefetchReport", "Previews", "Priority", "RequestCancelled",
    "RequestError", "RequestOptions", "RequestTimeout", "ResourceError", "Response", "ResponseError", "Result",
    "RowItem", "RowOptions", "Stage", "Status", "StoreOptions", "TLSError", "TransferOptions", "Transform", "batch",
    "blur", "border", "crop", "default_loader", "fetch", "fetch_sync", "flip", "library_file", "library_version",
    "load", "load_many", "load_sync", "previews", "probe", "process_statistics", "resize", "rotate", "round_corners",
    "set_decode_memory_limit", "tint",
]  # fmt: skip

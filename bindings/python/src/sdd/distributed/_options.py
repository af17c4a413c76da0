"""The options of a job: one picklable value with the names that users of img2dataset know."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from .._config import downloader_config
from .._constants import VERSION_MAJOR, VERSION_MINOR
from .._options import DownloaderOptions
from .._plans import names_of
from .._values import no_option

ResizeMode = Literal["no", "border", "keep_ratio", "keep_ratio_largest", "center_crop"]
OutputFormat = Literal["files", "webdataset", "parquet", "dummy"]
InputFormat = Literal["txt", "csv", "tsv", "json", "jsonl", "parquet"]
EncodeFormat = Literal["jpg", "png"]
IncrementalMode = Literal["incremental", "overwrite"]

CHOICES: dict[str, tuple[str, ...]] = {
    "resize_mode": get_args(ResizeMode), "output_format": get_args(OutputFormat),
    "input_format": get_args(InputFormat), "encode_format": get_args(EncodeFormat),
    "incremental_mode": get_args(IncrementalMode),
}  # fmt: skip
_HASHES = hashlib.algorithms_guaranteed - {"shake_128", "shake_256"}
_TEXTS = ("url_list", "output_folder", "url_col")
_PATHS = ("url_list", "output_folder")
_OPTIONAL_TEXTS = ("caption_col", "compute_hash", "user_agent_token")
_LISTS = ("save_additional_columns", "disallowed_header_directives", "verify_hash")
_LEAST = {
    "image_size": 1, "processes_count": 1, "encode_quality": 0, "thread_count": 1, "number_sample_per_shard": 1,
    "oom_shard_count": 1, "retries": 0, "min_image_size": 0, "max_shard_retry": 0, "max_concurrent_per_host": 1,
    "lanes": 0, "host_lanes": 1, "transform_threads": 1, "max_body_bytes": 1, "look_ahead": 0,
}  # fmt: skip
_MOST_DIGITS = 18
_NUMBERS = {"timeout": 0.0, "max_image_area": 0.0, "max_aspect_ratio": 0.0, "min_host_interval": 0.0}
_SWITCHES = ("resize_only_if_bigger", "skip_reencode", "disable_all_reencoding", "extract_exif", "keep_orientation",
             "lenient", "error_columns")  # fmt: skip
_RESERVED = ("url", "key", "status", "error_message", "width", "height", "original_width", "original_height", "exif",
             "jpg", "png", "error_class", "error_code", "error_detail", "http_status", "attempts")  # fmt: skip
_AREA = ("url_list", "input_format", "url_col", "caption_col", "save_additional_columns", "verify_hash",
         "number_sample_per_shard", "oom_shard_count", "lanes", "host_lanes")  # fmt: skip
_FORM = ("image_size", "resize_mode", "resize_only_if_bigger", "encode_quality", "encode_format", "skip_reencode",
         "disable_all_reencoding", "output_format", "extract_exif", "compute_hash", "min_image_size",
         "max_image_area", "max_aspect_ratio", "keep_orientation", "lenient", "error_columns")  # fmt: skip

NOT_SUPPORTED: dict[str, tuple[Any, str]] = {
    "upscale_interpolation": ("lanczos", "leave it out; pictures are enlarged by bilinear interpolation"),
    "downscale_interpolation": ("area", "leave it out; pictures are scaled down by area means"),
    "bbox_col": (None, "keep the column by save_additional_columns, and blur the pictures afterwards"),
    "enable_wandb": (False, "leave it out, and report what download() gives the function `progress`"),
    "wandb_project": ("img2dataset", "leave it out, and report what download() gives the function `progress`"),
    "distributor": ("multiprocessing", "call a ShardWorker from the engine: see the examples"),
    "subjob_size": (1000, "leave it out; lanes take its place"),
    "ignore_ssl_certificate": (False, "name a file with the authorities to trust, as in downloader={'ca_file': FILE}"),
}
"""Options of img2dataset that this module does not have: the value that is accepted all the same, and why."""


@dataclass(frozen=True)
class JobOptions:
    """What a job does. Picklable, and checked when it is made: TypeError and ValueError name the option.

    The first group has the names and meanings of img2dataset's options.
    """

    url_list: str
    """A file, or a folder of files whose names end with the input format."""
    output_folder: str = "images"
    """A folder that all workers see."""
    image_size: int = 256
    """Pixels of the side that resize_mode says."""
    resize_mode: ResizeMode = "border"
    """How a picture gets its size."""
    resize_only_if_bigger: bool = False
    """Keeps the size of small pictures."""
    encode_quality: int = 95
    """Of a JPEG, 1 to 100. A PNG has none."""
    encode_format: EncodeFormat = "jpg"
    """The format of the pictures that are written."""
    skip_reencode: bool = False
    """Keeps the bytes of pictures that are not resized."""
    disable_all_reencoding: bool = False
    """Keeps all bodies as they are, unseen."""
    output_format: OutputFormat = "files"
    """Folders of files, tar files, Parquet files, or the statistics alone."""
    input_format: InputFormat = "txt"
    """A file may also be packed, and end with ".gz"; not Parquet."""
    url_col: str = "url"
    """The column with the URLs."""
    caption_col: str | None = None
    """The column with the captions, which are texts."""
    save_additional_columns: Sequence[str] = ()
    """Further columns of the list that the output has."""
    number_sample_per_shard: int = 10000
    """Most URLs of a shard."""
    oom_shard_count: int = 5
    """Digits of a shard's number in names of files."""
    processes_count: int = 1
    """Processes of this machine. Engines have workers of their own."""
    thread_count: int = 256
    """Transfers at a time in a process."""
    timeout: float = 10
    """Seconds without progress: to connect, to the first byte, and from one byte to the next."""
    retries: int = 0
    """Further attempts at each URL, after failures that may pass. The budget of `sdd.Downloader` for each host, 10
    retries, does not limit them, unless `downloader` has a "retry_budget"."""
    extract_exif: bool = True
    """Whether there is a column exif."""
    compute_hash: str | None = "sha256"
    """The hash of each body, and the name of its column; None for none."""
    verify_hash: Sequence[str] = ()
    """A column and the kind of its hash, such as ["md5", "md5"]."""
    min_image_size: int = 0
    """Pictures with a shorter side are refused."""
    max_image_area: float = math.inf
    """Pictures of more pixels are refused."""
    max_aspect_ratio: float = math.inf
    """Pictures whose long side is more times the short one are refused."""
    incremental_mode: IncrementalMode = "incremental"
    """Whether the job goes on, or first removes what there is."""
    max_shard_retry: int = 1
    """Further attempts at a lane that failed or whose process died; an engine has attempts of its own."""
    user_agent_token: str | None = None
    """A word that User-Agent has besides."""
    disallowed_header_directives: Sequence[str] = ("noai", "noimageai", "noindex", "noimageindex")
    """Of X-Robots-Tag, where "none" means noindex and nofollow; [] accepts all."""

    max_concurrent_per_host: int = 6
    """Transfers at a time to one host, in the whole job."""
    min_host_interval: float = 0
    """Seconds from one start to the next on one host, in the whole job."""
    lanes: int = 0
    """Units of work; 0: four for each of processes_count, but no more than shards."""
    host_lanes: int = 1
    """Most lanes that a host with more than a lane's share of the URLs is spread over. Each has the host's limits."""
    transform_threads: int = 2
    """Threads of a process that decode and encode."""
    look_ahead: int = 0
    """URLs under way or waiting for a transform, in a lane; 0: twice thread_count."""
    max_body_bytes: int = 64 << 20
    """Most bytes of a body."""
    keep_orientation: bool = False
    """Whether pictures stay as stored, not turned by their Exif orientation."""
    lenient: bool = False
    """Whether the valid part of a damaged picture counts as a picture."""
    error_columns: bool = True
    """Whether the Parquet files have the columns error_class, error_code, error_detail, http_status and attempts."""
    downloader: Mapping[str, Any] = field(default_factory=dict)
    """Further options of `sdd.Downloader`, such as {"total_timeout": 60}."""

    def __post_init__(self) -> None:
        for name in _LISTS:
            self._make_tuple(name)
        for entry in fields(self):
            _check(entry.name, getattr(self, entry.name))
        if self.look_ahead > 65536:
            raise ValueError(f"look_ahead is {self.look_ahead}; it must be at most 65536")
        for name in self.save_additional_columns:
            if name in _RESERVED or name == self.compute_hash or (self.caption_col and name == "caption"):
                raise ValueError(f"save_additional_columns has {name!r}, which the output has already")
        if len(self.verify_hash) not in (0, 2):
            raise ValueError("verify_hash has a column and the kind of its hash")
        for kind in (self.compute_hash, *self.verify_hash[1:]):
            if kind is not None and kind not in _HASHES:
                raise ValueError(f"{kind!r} is no hash of hashlib, or none of a fixed length")
        if self.oom_shard_count > _MOST_DIGITS:
            raise ValueError(f"oom_shard_count is {self.oom_shard_count}; it is 1 to {_MOST_DIGITS}")
        if self.encode_format == "jpg" and not 1 <= self.encode_quality <= 100:
            raise ValueError(f"encode_quality is {self.encode_quality}; for a JPEG it is 1 to 100")
        if self.encode_format == "jpg" and self.resize_mode != "no" and self.image_size > 65500:
            raise ValueError(f"image_size is {self.image_size}; a JPEG has at most 65,500 pixels a side")
        _check_downloader(self)

    def _make_tuple(self, name: str) -> None:
        given = getattr(self, name)
        if given is None:
            given = type(self).__dataclass_fields__[name].default
        if isinstance(given, str) or not isinstance(given, (list, tuple)) or not all(
            isinstance(text, str) for text in given
        ):
            raise TypeError(f"{name} must be a list of texts, not {given!r}")
        object.__setattr__(self, name, tuple(given))

    @staticmethod
    def from_img2dataset(**options: Any) -> JobOptions:
        """Takes the arguments of img2dataset's download(). Raises ValueError for what is not supported.

        >>> JobOptions.from_img2dataset(url_list="urls.txt", resize_mode="keep_ratio", distributor="pyspark")
        Traceback (most recent call last):
        ...
        ValueError: distributor='pyspark' is not supported: call a ShardWorker from the engine: see the examples
        """
        for name in [name for name in options if name in NOT_SUPPORTED]:
            given, (accepted, reason) = options.pop(name), NOT_SUPPORTED[name]
            if given != accepted:
                raise ValueError(f"{name}={given!r} is not supported: {reason}")
        if str(options.get("input_format")).endswith(".gz"):
            options["input_format"] = options["input_format"][: -len(".gz")]
        known = JobOptions.__dataclass_fields__
        for name in options:
            if name not in known:
                raise no_option(name, [*known, *NOT_SUPPORTED], "of a job")
        return JobOptions(**options)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the list that are read besides the URL, as in the output."""
        wanted = [*self.save_additional_columns, *self.verify_hash[:1]]
        if self.caption_col:
            wanted.append(self.caption_col)
        return tuple(dict.fromkeys(wanted))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the list that are texts, whatever they look like."""
        names = (self.url_col, self.caption_col, *self.verify_hash[:1])
        return tuple(name for name in names if name)

    def plan_key(self) -> dict[str, Any]:
        """What must not change between the start of a job and its end."""
        return {name: _plain(getattr(self, name)) for name in (*_AREA[1:], *_FORM)}

    def downloader_options(self) -> DownloaderOptions:
        """The options of the one downloader of a process."""
        token = f"; {self.user_agent_token}" if self.user_agent_token else ""
        agent = f"Mozilla/5.0 (compatible; libsdd/{VERSION_MAJOR}.{VERSION_MINOR}{token})"
        made: dict[str, Any] = {
            "max_concurrent_downloads": self.thread_count, "max_concurrent_per_host": self.max_concurrent_per_host,
            "min_host_interval": self.min_host_interval, "connect_timeout": self.timeout,
            "first_byte_timeout": self.timeout, "download_timeout": self.timeout, "max_attempts": self.retries + 1,
            "max_body_bytes": self.max_body_bytes, "decode_threads": 1,
        }  # fmt: skip
        if self.retries:  # of each URL, however many URLs of its host fail
            made["retry_budget"] = -1
        made.update(self.downloader)
        made["headers"] = {"User-Agent": agent, **(self.downloader.get("headers") or {})}
        return made  # type: ignore[return-value]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return None if value == math.inf else value


def _check(name: str, value: Any) -> None:
    if name in _TEXTS or name in CHOICES:
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a text, not {value!r}")
        if name in CHOICES and value not in CHOICES[name]:
            raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(CHOICES[name])}")
        if not value:
            raise ValueError(f"{name} is empty")
        if name in _PATHS and "://" in value:
            raise ValueError(f"{name} is {value!r}, a URL; give a path, for example of the store where it is mounted")
    elif name in _OPTIONAL_TEXTS:
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a text or None, not {value!r}")
    elif name in _LEAST:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} must be an integer, not {value!r}")
        if value < _LEAST[name]:
            raise ValueError(f"{name} is {value}; it must be at least {_LEAST[name]}")
    elif name in _NUMBERS:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise TypeError(f"{name} must be a number, not {value!r}")
        if not value >= _NUMBERS[name]:
            raise ValueError(f"{name} is {value}; it must be at least {_NUMBERS[name]:g}")
    elif name in _SWITCHES:
        if not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, not {value!r}")


def _check_downloader(options: JobOptions) -> None:
    given = options.downloader
    if not isinstance(given, Mapping):
        raise TypeError(f"downloader must be a mapping of options of sdd.Downloader, not {given!r}")
    known = names_of(DownloaderOptions)
    for name, value in given.items():
        if name not in known:
            raise TypeError(f"{name!r} is not an option of sdd.Downloader")
        if name not in ("headers", "log_level"):
            try:
                downloader_config({name: value})
            except KeyError:
                raise ValueError(f"{value!r} is no value of downloader[{name!r}]") from None
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"{value!r} is no value of downloader[{name!r}]: {error}") from None

"""Calls that concern the whole process."""

from __future__ import annotations

from ._downloader import statistics_of
from ._errors import check
from ._native import lib, text
from ._values import in_range


def library_version() -> str:
    """The version of the loaded library, such as "0.4.0"."""
    return text(lib.sdd_version_string())


def process_statistics() -> dict[str, int]:
    """Objects of the library that exist in the process: images, pixel_bytes, bytes_objects, bytes_bytes,
    prefetch_lists."""
    return statistics_of("sdd_process_statistics", lib.sdd_process_get_statistics)


def set_decode_memory_limit(size: int) -> None:
    """Limits the memory of all pictures in the process that are being decoded or wait to be delivered; 0: 192 MiB."""
    check(lib.sdd_process_set_decode_memory_limit(in_range("size", size)))

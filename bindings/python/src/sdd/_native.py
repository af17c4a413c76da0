"""Loads the library, and converts texts and numbers between Python and C."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from ._constants import VERSION_MAJOR, VERSION_MINOR
from ._ffi import ffi

__all__ = ["ffi", "lib", "library_file", "milliseconds", "text"]

_OLDEST = VERSION_MAJOR * 1000000 + VERSION_MINOR * 1000


def _file() -> str:
    """SDD_LIBRARY of the environment, the copy inside the package, or the installed library, in this order."""
    named = os.environ.get("SDD_LIBRARY")
    if named:
        return named
    inside = Path(__file__).with_name("libsdd.so.0")
    return str(inside) if inside.exists() else "libsdd.so.0"


def _load(file: str) -> Any:
    try:
        # NODELETE: the library's threads still run when Python drops its modules at exit.
        loaded = ffi.dlopen(file, ffi.RTLD_NOW | ffi.RTLD_NODELETE)
    except OSError as error:
        raise ImportError(
            f"libsdd cannot be loaded: {error}. Install it, or name its file by SDD_LIBRARY, "
            "as in SDD_LIBRARY=build/libsdd.so."
        ) from error
    if loaded.sdd_version() < _OLDEST:
        version = ffi.string(loaded.sdd_version_string()).decode()
        raise ImportError(f"{file} is libsdd {version}; this package needs {VERSION_MAJOR}.{VERSION_MINOR} or later.")
    return loaded


library_file = _file()
lib: Any = _load(library_file)


def text(pointer: Any) -> str:
    """Copies a string of the library; "" for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def milliseconds(seconds: float) -> int:
    """Converts a time limit. Infinity and negative numbers are -1: "no limit"."""
    if seconds < 0 or seconds == math.inf:
        return -1
    if math.isnan(seconds):
        raise ValueError("a time limit must be a number, not NaN")
    return max(1, round(seconds * 1000)) if seconds > 0 else 0

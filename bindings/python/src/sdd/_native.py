"""Loads the library."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._constants import VERSION_MAJOR, VERSION_MINOR
from ._ffi import ffi

__all__ = ["ffi", "lib", "library_file", "owned", "text"]

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
        raise ImportError(f"libsdd cannot be loaded: {error}. {_advice()}") from error
    try:
        number = loaded.sdd_version()
    except (AttributeError, ffi.error):
        raise ImportError(f"{file} is not libsdd. {_advice()}") from None
    if number < _OLDEST:
        version = ffi.string(loaded.sdd_version_string()).decode()
        raise ImportError(f"{file} is libsdd {version}; this package needs {VERSION_MAJOR}.{VERSION_MINOR} or later.")
    return loaded


def _advice() -> str:
    """What to do where there is no library."""
    if os.environ.get("SDD_LIBRARY"):
        return "SDD_LIBRARY names this file: set it to a built library, such as build/libsdd.so, or unset it."
    return (
        "Install it (Debian: libsdd0; in a checkout: `make install`), or name its file by SDD_LIBRARY, as in "
        "SDD_LIBRARY=build/libsdd.so."
    )


library_file = _file()
lib: Any = _load(library_file)


def text(pointer: Any) -> str:
    """Copies a string of the library; "" for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def owned(pointer: Any, retain: Any, release: Any) -> Any:
    """A new reference to an object of the library, with its owner.

    One call of C makes both, so that no signal handler comes between them.
    """
    return next(map(ffi.gc, map(retain, (pointer,)), (release,)))

"""What the application gives, as C takes it. A value of a wrong type is refused with a sentence that names it."""

from __future__ import annotations

import difflib
import math
import operator
import os
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from ._native import ffi


def shown(value: object) -> str:
    """A value in a sentence."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def number(name: str, value: object) -> int:
    """A whole number, or True or False."""
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        kind = "a whole number" if isinstance(value, Real) else "a number"
        raise TypeError(f"{name} must be {kind}, not {shown(value)}") from None


def in_range(name: str, value: object, bits: int = 64) -> int:
    """A whole number that an argument of C holds."""
    made = number(name, value)
    if not -(1 << bits - 1) <= made < 1 << bits - 1:
        raise OverflowError(f"{name} is too large: {shown(value)}")
    return made


def real(name: str, value: object) -> float:
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    return float(value)


def flag(name: str, value: object) -> int:
    """1 or 0 for True or False."""
    if isinstance(value, (bool, int)) or type(value).__name__ in ("bool", "bool_"):  # also NumPy's
        return int(bool(value))
    raise TypeError(f"{name} must be True or False, not {shown(value)}")


def milliseconds(name: str, value: object) -> int:
    """A time in seconds. Infinity and negative numbers are -1: "no limit"."""
    if not isinstance(value, Real):
        raise TypeError(f"{name} must be a number of seconds, not {shown(value)}")
    seconds = float(value)
    if math.isnan(seconds):
        raise ValueError(f"{name} must be a number of seconds, not NaN")
    if seconds < 0 or seconds == math.inf:
        return -1
    return max(1, round(seconds * 1000)) if seconds > 0 else 0


def sides(name: str, value: object) -> tuple[int, int]:
    """Width and height: two numbers of pixels, or one for both."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if len(value) != 2:
            raise ValueError(f"{name} must be (width, height) or one number, not {shown(value)}")
        return number(f"the width of {name}", value[0]), number(f"the height of {name}", value[1])
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be (width, height) in pixels, or one number for both, not {shown(value)}")
    return number(name, value), number(name, value)


def put(struct: Any, field: str, name: str, value: float) -> None:
    """Sets a field to a number, which may be too large for it."""
    try:
        setattr(struct, field, value)
    except OverflowError:
        raise OverflowError(f"{name} is too large, or below zero: {shown(value)}") from None


def c_text(value: object, name: str = "a text") -> Any:
    """A text as memory of C that ends with NUL."""
    if not isinstance(value, str):
        what = "a text is needed" if name == "a text" else f"{name} must be a text"
        raise TypeError(f"{what}, not {shown(value)}")
    encoded = value.encode()
    if b"\0" in encoded:
        raise ValueError(f"{name} has a NUL character in it")
    return ffi.new("char[]", encoded)


def c_path(value: object, name: str) -> Any:
    """The name of a file, a text or a Path, as memory of C that ends with NUL."""
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(given, str):
        raise TypeError(f"{name} must be a text or a Path, not {shown(value)}")
    return c_text(given, name)


def fits_c(text: str) -> bool:
    """Whether `c_text()` takes a text: it has no NUL character, and no half of a surrogate pair."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return "\0" not in text


def texts(name: str, values: object) -> list[str]:
    """A list of texts, or another iterable."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list of texts, not {shown(values)}")
    return list(values)


def buffer(name: str, value: object) -> memoryview:
    """The memory of bytes, or of another object of its kind."""
    try:
        return memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be bytes or another buffer, not {shown(value)}") from None


def no_option(name: str, names: Iterable[str], of: str = "") -> TypeError:
    """The exception for an option that does not exist."""
    like = difflib.get_close_matches(name, list(names), 1)
    hint = f"; did you mean {like[0]!r}?" if like else ""
    return TypeError(f"{name!r} is not an option {of or 'here'}{hint}")

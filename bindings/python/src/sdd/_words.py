"""The library's messages, in the words of Python: they name fields, bits and calls of C."""

from __future__ import annotations

import re

from ._names import NAMES, WORDS

_OF_C = re.compile(r"\b(?:sdd_|SDD_|NULL\b)")
_CALL = re.compile(r"^sdd_\w+: (?=\w+: )")
"""The call that refuses an argument, which follows: whoever reads the message has made another call."""
_DEAD = re.compile(r"^(?:\w+: )*0x[0-9a-f]+ is no living (\w+): .*$")
"""The number of an object is not seen in Python, and one that is no longer living was closed."""
_QUOTED = re.compile(r'("[^"]*")')
_NAME = re.compile(r"\bSDD_[A-Z0-9_]+|\bsdd_(\w+)(\.\w+|\(\))?")
_WORDS = [(re.compile(pattern), replacement) for pattern, replacement in WORDS]
PACKAGES = {"WebP": "libsdd-coder-webp", "AVIF": "libsdd-coder-avif", "GIF": "libsdd-coder-gif",
            "JPEG XL": "libsdd-coder-jxl", "HEIF": "libsdd-coder-heif", "BMP": "libsdd-coder-bmp",
            "ICO": "libsdd-coder-bmp", "SVG": "libsdd-coder-svg"}  # fmt: skip
"""The packages of Debian with the coders that libsdd has."""


def in_python(message: str) -> str:
    """A message with Python's names of options and calls. What is quoted, such as a URL, stays as it is."""
    if _OF_C.search(message):
        message = _CALL.sub("", message)
        parts = _QUOTED.split(message)
        parts[::2] = [_translated(part) for part in parts[::2]]
        message = "".join(parts)
    return _DEAD.sub(r"The \1 is closed.", message)


def _translated(text: str) -> str:
    for pattern, replacement in _WORDS:
        text = pattern.sub(replacement, text)
    return _NAME.sub(_name, text)


def _name(match: re.Match[str]) -> str:
    name = match[0]
    known = NAMES.get(name)
    if known is not None:
        if name.endswith("_ms"):
            return f"{known}, in milliseconds"
        return f"{known}=True" if name.startswith("SDD_OPTION_") and known.isidentifier() else known
    field = match[2]
    return field[1:] if field and field[0] == "." else name

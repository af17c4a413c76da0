"""The options of functions, for help()."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ._descriptions import CHAINS, OPTIONS

Documented = TypeVar("Documented", bound="Callable[..., object] | type")


def options_text(kind: str) -> str:
    """The options of a class, with those that it inherits."""
    return "".join(OPTIONS[part] for part in CHAINS[kind])


def takes(kind: str) -> Callable[[Documented], Documented]:
    """Appends the options of a class to the docstring of a function that takes them, or to the class's own."""

    def append(function: Documented) -> Documented:
        head = (function.__doc__ or "").rstrip()
        indent = "    " if "\n" in head else ""  # as the lines of the docstring have it, for inspect.cleandoc()
        lines = ["", "", "Options:", "", *options_text(kind).rstrip().split("\n")]
        function.__doc__ = head + "\n".join(indent * _depth(head) + line if line else "" for line in lines)
        return function

    return append


def _depth(text: str) -> int:
    """How many times four spaces the lines after the first are indented."""
    rest = [line for line in text.split("\n")[1:] if line.strip()]
    return min((len(line) - len(line.lstrip()) for line in rest), default=0) // 4

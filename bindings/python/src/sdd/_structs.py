"""Structs of the header as Python fills them: by names of fields, with seconds, texts and other structs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Dict

from ._native import ffi, milliseconds


class Choices(Dict[str, int]):
    """The numbers of the header for the words that an option may be."""

    def __init__(self, what: str, **numbers: int) -> None:
        super().__init__(numbers)
        self._what = what

    def __missing__(self, word: object) -> int:
        if not isinstance(word, str):
            raise TypeError(f"{self._what} must be a text, not {type(word).__name__}")
        raise ValueError(f"{self._what} must be one of {', '.join(self)}, not {word!r}")


def c_text(value: str) -> Any:
    """A text as memory of C that ends with NUL."""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    encoded = value.encode()
    if b"\0" in encoded:
        raise ValueError("a text has a NUL character in it")
    return ffi.new("char[]", encoded)


@functools.lru_cache(maxsize=None)
def _type_of(name: str) -> tuple[Any, int, frozenset[str], frozenset[str]]:
    """The type of a pointer to the struct, the size of the struct, its fields, and those of them that are numbers."""
    fields = {field: about.type.kind for field, about in ffi.typeof(name).fields}
    numbers = frozenset(field for field, kind in fields.items() if kind in ("primitive", "enum"))
    return ffi.typeof(f"{name} *"), ffi.sizeof(name), frozenset(fields), numbers


class Struct:
    """A struct with its struct_size set, and the memory that its fields point to. `c` is its address."""

    __slots__ = ("c", "_fields", "_numbers", "_kept")

    def __init__(self, name: str) -> None:
        pointer, size, self._fields, self._numbers = _type_of(name)
        self.c: Any = ffi.new(pointer)
        self._kept: list[Any] = []
        if "struct_size" in self._fields:
            self.c.struct_size = size

    def keep(self, memory: Any) -> Any:
        self._kept.append(memory)
        return memory

    def set(self, name: str, value: Any) -> None:
        """Sets a field. Without its suffix _ms or _s a field takes seconds; None leaves the default."""
        if value is None:
            return
        if name in self._fields:
            if isinstance(value, str):
                if name in self._numbers:
                    raise TypeError(f"{name} must be a number, not {value!r}")
                value = self.keep(c_text(value))
            elif isinstance(value, Struct):
                value = self.keep(value).c
            elif isinstance(value, bool):
                value = int(value)
            setattr(self.c, name, value)
        elif f"{name}_ms" in self._fields:
            setattr(self.c, f"{name}_ms", milliseconds(value))
        elif f"{name}_s" in self._fields:
            setattr(self.c, f"{name}_s", -1 if value < 0 else round(value))
        else:
            raise TypeError(f"{name!r} is not an option here")

    def set_all(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.set(name, value)

    def set_texts(self, name: str, count: str, values: Iterable[str] | None) -> None:
        """Sets an array of texts and the field with their number."""
        texts = [self.keep(c_text(value)) for value in values or ()]
        if texts:
            setattr(self.c, name, self.keep(ffi.new("const char *[]", texts)))
            setattr(self.c, count, len(texts))

"""Structs of the header as Python fills them: by names of fields, with seconds, texts and other structs."""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping
from typing import Any, Dict

from ._names import PATHS
from ._native import ffi
from ._values import c_path, c_text, milliseconds, number, put, real, shown, texts


class Choices(Dict[str, int]):
    """The numbers of the header for the words that an option may be."""

    def __init__(self, what: str, **numbers: int) -> None:
        super().__init__(numbers)
        self._what = what

    def __missing__(self, word: object) -> int:
        return self.of(word)

    def of(self, word: object) -> int:
        """The number of a word, of any type."""
        if not isinstance(word, str):
            raise TypeError(f"{self._what} must be a text, one of {', '.join(self)}, not {shown(word)}")
        if word not in self:
            raise ValueError(f"{self._what} must be one of {', '.join(self)}, not {word!r}")
        return self[word]


def _kind_of(kind: Any) -> str:
    if kind.kind in ("primitive", "enum"):
        return "real" if kind.cname in ("double", "float") else "number"
    return "text" if kind.cname == "char *" else "other"


_CODES = {4: "i", 8: "q"}


@functools.lru_cache(maxsize=None)
def _type_of(name: str) -> tuple[Any, int, dict[str, str]]:
    """The type of a pointer to the struct, the size of the struct, and the kinds of its fields."""
    fields = {field: _kind_of(about.type) for field, about in ffi.typeof(name).fields}
    return ffi.typeof(f"{name} *"), ffi.sizeof(name), fields


def layout_of(name: str, *fields: str) -> struct.Struct:
    """Reads some fields of the structs of an array, numbers or pointers, all at once and without an object of cffi."""
    form, end = "=", 0
    about = dict(ffi.typeof(name).fields)
    for field in fields:
        size, offset = ffi.sizeof(about[field].type), about[field].offset
        form += f"{offset - end}x{_CODES[size]}"
        end = offset + size
    return struct.Struct(f"{form}{ffi.sizeof(name) - end}x")


class Struct:
    """A struct with its struct_size set, and the memory that its fields point to. `c` is its address."""

    __slots__ = ("c", "_fields", "_kept")

    def __init__(self, name: str) -> None:
        pointer, size, self._fields = _type_of(name)
        self.c: Any = ffi.new(pointer)
        self._kept: list[Any] = []
        if "struct_size" in self._fields:
            self.c.struct_size = size

    def keep(self, memory: Any) -> Any:
        self._kept.append(memory)
        return memory

    def set(self, field: str, value: Any, option: str = "") -> None:
        """Sets a field. Without its suffix _ms a field takes seconds; None leaves the default.

        `option` is the name that the application knows, if that is another.
        """
        if value is None:
            return
        name = option or field
        kind = self._fields.get(field)
        if kind == "number":
            put(self.c, field, name, number(name, value))
        elif kind == "real":
            setattr(self.c, field, real(name, value))
        elif kind == "text":
            setattr(self.c, field, self.keep((c_path if field in PATHS else c_text)(value, name)))
        elif kind == "other":
            setattr(self.c, field, self.keep(value).c if isinstance(value, Struct) else value)
        elif f"{field}_ms" in self._fields:
            put(self.c, f"{field}_ms", name, milliseconds(name, value))
        else:
            raise TypeError(f"{name!r} is not an option here")

    def set_all(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.set(name, value)

    def set_texts(self, name: str, count: str, values: object) -> None:
        """Sets an array of texts and the field with their number."""
        of_item = c_path if name in PATHS else c_text
        memory = [self.keep(of_item(value, f"an item of {name}")) for value in texts(name, values or ())]
        if memory:
            setattr(self.c, name, self.keep(ffi.new("const char *[]", memory)))
            setattr(self.c, count, len(memory))

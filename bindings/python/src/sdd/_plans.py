"""Turns keyword options into requests of the header. A plan is made once for equal options and used for many URLs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from . import _constants as c
from ._constants import PixelFormat, Priority
from ._native import ffi
from ._options import BITS, Credential, DownloadOptions, LoadOptions, PictureOptions, TransferOptions
from ._structs import Choices, Struct
from ._transforms import FITS, transforms_of
from ._values import buffer, c_text, flag, no_option, number, put, shown, sides

LEVELS = Choices("a level", all=c.CACHE_ALL, memory=c.CACHE_MEMORY, disk=c.CACHE_DISK, none=c.CACHE_NONE)
_REDIRECTS = Choices("redirects", follow=c.REDIRECT_FOLLOW, hand_out=c.REDIRECT_HAND_OUT, refuse=c.REDIRECT_REFUSE)
COLOURS = Choices("colour", srgb=c.COLOUR_SRGB, stored=c.COLOUR_AS_STORED)
_PIXEL_FORMATS = Choices("pixel_format", **{member.name.lower(): member.value for member in PixelFormat})
_PRIORITIES = Choices("priority", **{member.name.lower(): member.value for member in Priority
                                    if member is not Priority.DEFAULT})  # fmt: skip

# Fields of sdd_decode_options under the names that options have.
_FORM_FLAGS = {"keep_orientation": "keep_orientation", "enlarge": "allow_enlarging", "exact": "scaling",
               "lenient": "damage"}  # fmt: skip
_FORM_NAMES = frozenset(PictureOptions.__annotations__)
_LEVEL_NAMES = frozenset(("query", "store", "original_query", "original_store"))


def take_bits(options: dict[str, Any]) -> int:
    """Removes the options that are bits, and joins them."""
    bits = 0
    for name in [name for name in options if name in BITS]:
        if flag(name, options.pop(name) or 0):
            bits |= BITS[name]
    return bits


def decode_options(options: dict[str, Any]) -> Struct | None:
    """Removes the options of the form of a picture. None if there are none."""
    form = Struct("sdd_decode_options")
    is_set = False
    for name in list(options):
        if name not in _FORM_NAMES:
            continue
        value = options.pop(name)
        if value is None:
            continue
        if name == "size":
            width, height = sides(name, value)
            put(form.c, "target_width", name, width)
            put(form.c, "target_height", name, height)
        elif name == "fit":
            form.c.fit = FITS.of(value)
        elif name == "pixel_format":
            form.c.pixel_format = pixel_format(value)
        elif name == "colour":
            form.c.colour = COLOURS.of(value)
        elif name in _FORM_FLAGS:
            setattr(form.c, _FORM_FLAGS[name], flag(name, value))
        else:
            put(form.c, name, name, number(name, value))
        is_set = True
    return form if is_set else None


def pixel_format(given: object) -> int:
    return _PIXEL_FORMATS[given] if isinstance(given, str) else number("pixel_format", given)


def credential_struct(credential: object) -> Struct:
    if not isinstance(credential, Credential):
        raise TypeError(f"credential must be a Credential, not {shown(credential)}")
    made = Struct("sdd_credential")
    made.set_all({field.name: getattr(credential, field.name) for field in fields(credential)})
    return made


def header_array(struct: Struct, headers: object) -> None:
    """Sets `headers` and `header_count` of sdd_transfer_options."""
    if not isinstance(headers, Mapping):
        raise TypeError(f"headers must be a dict of texts, not {shown(headers)}")
    array = struct.keep(ffi.new("sdd_header[]", len(headers)))
    for field, (name, value) in zip(array, headers.items()):
        field.name = struct.keep(c_text(name, "the name of a header field"))
        field.value = ffi.NULL if value is None else struct.keep(c_text(value, f"the header field {name}"))
    struct.c.headers, struct.c.header_count = array, len(headers)


_new, _cast, _POINTER = ffi.new, ffi.cast, ffi.typeof("void *")


class Plan:
    """A request without its URL."""

    __slots__ = ("struct", "_kind", "_c", "_bits", "_has_url")

    def __init__(self, struct: Struct, bits: int, has_url: bool = True) -> None:
        self.struct = struct
        self._kind = ffi.typeof(struct.c)
        self._c = struct.c[0]
        self._bits = bits
        self._has_url = has_url

    def request(self, url: str, bits: int, key: int) -> tuple[Any, Any]:
        """The request to submit, with the key as its user_data, and the memory of its URL."""
        request = _new(self._kind, self._c)
        request.user_data = _cast(_POINTER, key)
        if not self._has_url:
            return request, None
        request.options = self._bits | bits
        memory = request.url = c_text(url, "url")
        return request, memory


def names_of(options: Any) -> frozenset[str]:
    """The names that a TypedDict has."""
    return frozenset(options.__required_keys__ | options.__optional_keys__)


_TRANSFER_NAMES = names_of(TransferOptions) - BITS.keys() - {"priority"}
_DOWNLOAD_NAMES = names_of(DownloadOptions)
_LOAD_NAMES = names_of(LoadOptions)
_DOWNLOADS_ONLY = ("method", "body", "range")


def transfer_options(options: dict[str, Any]) -> Struct | None:
    """Removes the options of a transfer. None if there are none."""
    transfer = Struct("sdd_transfer_options")
    is_set = False
    for name in [name for name in options if name in _TRANSFER_NAMES]:
        value = options.pop(name)
        if value is None:
            continue
        if name == "timeout":
            transfer.set("total_timeout", value, name)
        elif name == "headers":
            header_array(transfer, value)
        elif name == "credential":
            transfer.set(name, credential_struct(value))
        elif name == "redirects":
            transfer.c.redirects = _REDIRECTS.of(value)
        else:
            transfer.set(name, value)
        is_set = True
    return transfer if is_set else None


def priority_of(given: object) -> int:
    if isinstance(given, str):
        return _PRIORITIES[given]
    return 0 if given is None else number("priority", given)


def take_request(request: Struct, options: dict[str, Any], has_decode: bool = True) -> int:
    """Removes the options that every kind of request has, and sets them. Returns those that are bits."""
    bits = take_bits(options)
    if has_decode:
        request.set("decode", decode_options(options))
    request.set("transfer", transfer_options(options))
    put(request.c, "priority", "priority", priority_of(options.pop("priority", 0)))
    return bits


def download_plan(options: dict[str, Any]) -> Plan:
    request = Struct("sdd_download_request")
    bits = take_request(request, options)
    for name, value in options.items():
        if name not in _DOWNLOAD_NAMES:
            raise no_option(name, _DOWNLOAD_NAMES)
        if name == "body" and value is not None:
            view = buffer(name, value)
            request.c.body, request.c.body_size = request.keep(ffi.from_buffer(view)), view.nbytes
        else:
            request.set(name, value)
    return Plan(request, bits)


def load_plan(options: dict[str, Any]) -> Plan:
    load = Struct("sdd_load_request")
    bits = take_request(load, options)
    for name, value in options.items():
        if name in _DOWNLOADS_ONLY:
            raise TypeError(f"{name!r} is an option of downloads, not of loads")
        if name not in _LOAD_NAMES:
            raise no_option(name, _LOAD_NAMES)
        if name in _LEVEL_NAMES:
            if value is not None:
                setattr(load.c, name, LEVELS.of(value))
        elif name == "alternatives":
            load.set_texts(name, "alternative_count", value)
        elif name == "transforms":
            transforms = transforms_of(value or ())
            load.c.transforms, load.c.transform_count = load.keep(transforms.array), transforms.number
        else:
            load.set(name, value)
    return Plan(load, bits)


class Plans:
    """The plans of one loader or downloader: equal options, if they can be compared by hash, share one."""

    _LIMIT = 64

    def __init__(self, make: Callable[[dict[str, Any]], Plan]) -> None:
        self._make = make
        self._plain = make({})
        self._kept: dict[tuple[tuple[str, object], ...], Plan] = {}

    def get(self, options: Mapping[str, object]) -> Plan:
        if not options:
            return self._plain
        if "body" in options:  # may be large, and is rarely sent twice
            return self._make(dict(options))
        key = tuple(options.items())
        try:
            plan = self._kept.get(key)
        except (TypeError, ValueError):  # headers, for instance, are not hashable, nor are views that can be written to
            return self._make(dict(options))
        if plan is None:
            if len(self._kept) >= self._LIMIT:
                self._kept.clear()
            plan = self._kept[key] = self._make(dict(options))
        return plan

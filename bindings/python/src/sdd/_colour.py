"""What a picture says of its colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._constants import ColourKind
from ._errors import check
from ._native import ffi, lib, text
from ._structs import Struct


@dataclass(frozen=True)
class Colour:
    """What a picture says of its colours, as it lies in the file, also if the pixels were scaled, transformed or
    converted since."""

    kind: ColourKind
    """What the picture says: nothing, sRGB, other colours that are converted, or some that are not."""
    name: str
    """The name of the colours, such as "Display P3"; "" if they have none."""
    is_converted: bool
    """Whether the pixels were converted to sRGB."""
    icc_profile: bytes | None
    """The profile (ICC.1)."""
    primaries: int
    """The code point of the primaries (ITU-T H.273), such as 12 for Display P3; 0: not stated."""
    transfer: int
    """The code point of the curve from light to stored values (ITU-T H.273), such as 16 for PQ; 0: not stated."""
    gamma: float | None
    """The exponent from light to stored values, from gAMA of a PNG, such as 0.45455."""
    chromaticities: tuple[tuple[float, float], ...] | None
    """x and y of white, red, green and blue, from cHRM of a PNG."""


def colour_of(handle: Any) -> Colour:
    """What an sdd_image says of its colours."""
    found = Struct("sdd_image_colour")
    check(lib.sdd_image_get_colour(handle, found.c))
    colour, points = found.c, [number / 100_000 for number in found.c.chromaticities]
    profile = bytes(ffi.buffer(colour.icc_profile, colour.icc_profile_size)) if colour.icc_profile else None
    return Colour(
        ColourKind(colour.kind), text(colour.name), bool(colour.is_converted), profile, colour.primaries,
        colour.transfer, colour.gamma / 100_000 if colour.gamma else None,
        tuple(zip(points[::2], points[1::2])) if any(points) else None,
    )  # fmt: skip

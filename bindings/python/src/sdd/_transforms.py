"""Transforms of pictures: `resize`, `crop`, `flip`, `rotate`, `round_corners`, `border`, `tint`, `blur`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from . import _constants as c
from ._native import ffi
from ._structs import Choices
from ._values import number, put, real, shown

Fit = Literal["inside", "fill", "stretch"]

FITS = Choices("fit", inside=c.FIT_INSIDE, fill=c.FIT_FILL, stretch=c.FIT_STRETCH)
_FLIPS = Choices("direction", horizontal=c.FLIP_HORIZONTAL, vertical=c.FLIP_VERTICAL,
                 both=c.FLIP_HORIZONTAL | c.FLIP_VERTICAL)  # fmt: skip


@dataclass(frozen=True)
class Transform:
    """A change of a decoded picture, for `Image.transform()` and the `transforms` of a load."""

    fields: tuple[tuple[str, float], ...]
    """Fields of sdd_transform."""


def _transform(kind: int, **fields: object) -> Transform:
    return Transform((("kind", kind), *((name, number(name, value)) for name, value in fields.items())))


def resize(width: int, height: int, fit: Fit = "inside", *, enlarge: bool = False) -> Transform:
    """Scales down to a size in pixels, and up only with `enlarge`. 0 in one of the two: any."""
    return _transform(c.TRANSFORM_RESIZE, width=width, height=height, fit=FITS.of(fit), allow_enlarging=int(enlarge))


def crop(x: int, y: int, width: int, height: int) -> Transform:
    """Keeps a part of the picture, in pixels from its top left corner."""
    return _transform(c.TRANSFORM_CROP, x=x, y=y, width=width, height=height)


def flip(direction: Literal["horizontal", "vertical", "both"]) -> Transform:
    """Swaps left and right, top and bottom, or both."""
    return _transform(c.TRANSFORM_FLIP, flip=_FLIPS.of(direction))


def rotate(degrees: float, *, keep_size: bool = False) -> Transform:
    """Turns clockwise, by any angle. What the picture does not reach is transparent; quarter turns only move pixels.

    With `keep_size` the result is as large as the picture, and its corners are cut off.
    """
    kept = {"keep_size": 1} if keep_size else {}
    return Transform((*_transform(c.TRANSFORM_ROTATE, **kept).fields, ("degrees", real("degrees", degrees))))


def round_corners(radius: int) -> Transform:
    """Makes the outside of quarter circles at all corners transparent."""
    return _transform(c.TRANSFORM_ROUND_CORNERS, radius=radius)


def border(width: int, colour: int, *, radius: int = 0) -> Transform:
    """Draws a line along the inside of the edges, and of corners that `round_corners()` has made with that radius.

    `colour` is 0xAARRGGBB.
    """
    return _transform(c.TRANSFORM_BORDER, border=width, colour=colour, radius=radius)


def tint(colour: int) -> Transform:
    """Mixes the colours with one, 0xAARRGGBB, as far as it is opaque."""
    return _transform(c.TRANSFORM_TINT, colour=colour)


def blur(radius: int) -> Transform:
    """Blurs; `radius` is the standard deviation in pixels, as of blur() in CSS."""
    return _transform(c.TRANSFORM_BLUR, radius=radius)


class Transforms(NamedTuple):
    """An array of sdd_transform."""

    array: Any
    number: int


def transforms_of(transforms: Sequence[Transform]) -> Transforms:
    if not isinstance(transforms, Sequence):
        raise TypeError(f"transforms must be a list, such as [sdd.rotate(90)], not {shown(transforms)}")
    array = ffi.new("sdd_transform[]", len(transforms))
    for record, transform in zip(array, transforms):
        record.struct_size = ffi.sizeof("sdd_transform")
        if not isinstance(transform, Transform):
            raise TypeError(f"a Transform is needed, such as sdd.rotate(90), not {shown(transform)}")
        for name, value in transform.fields:
            put(record, name, name, value)
    return Transforms(array, len(transforms))

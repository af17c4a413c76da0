"""Pictures straight into the rows of an array."""

from __future__ import annotations

from typing import Any, Literal

from . import _constants as c
from ._constants import PixelFormat
from ._native import ffi
from ._plans import COLOURS
from ._structs import Choices, Struct
from ._transforms import FITS, Fit
from ._values import buffer

_LAYOUTS = Choices("layout", hwc=c.TENSOR_HWC, chw=c.TENSOR_CHW)
_FORMATS = {1: PixelFormat.GREY8, 3: PixelFormat.RGB8, 4: PixelFormat.RGBA8}


def tensor_of(
    out: Any, layout: Literal["hwc", "chw"], fit: Fit, background: int, colour: Literal["srgb", "stored"] | None
) -> tuple[Struct, memoryview]:
    """The sdd_tensor of an array, and a view that keeps its memory where it is."""
    view = buffer("out", out)
    if view.readonly or view.format != "B" or view.ndim not in (3, 4):
        raise ValueError(
            "out must be a writable array of uint8: (n, height, width, channels), (n, height, width) for grey, "
            "or with layout='chw' (n, 3, height, width)"
        )
    assert view.shape is not None and view.strides is not None
    rows, *shape = view.shape
    if layout == "chw":
        channels, height, width = shape if len(shape) == 3 else (0, 0, 0)
    else:
        height, width, channels = shape if len(shape) == 3 else (*shape, 1)
    if channels not in _FORMATS or (layout == "chw" and channels != 3):
        raise ValueError(f"{channels} channels are not possible; 1, 3 or 4 are, and 3 with layout='chw'")
    if rows == 0:
        raise ValueError("out has no rows")
    first = view[0:1]  # one row must be without gaps; rows may have gaps between them
    if not first.c_contiguous:
        raise ValueError("the pixels of a row of out must be contiguous")
    if rows > 1 and view.strides[0] < first.nbytes:  # as broadcast arrays have it, and reversed ones
        raise ValueError("the rows of out must be in order, and must not overlap")
    tensor = Struct("sdd_tensor")
    tensor.c.pixels = tensor.keep(ffi.from_buffer(first, require_writable=True))
    tensor.c.slot_count = rows
    tensor.c.slot_stride = view.strides[0] if rows > 1 else 0  # that of a single row means nothing
    tensor.c.width, tensor.c.height = width, height
    tensor.c.pixel_format = _FORMATS[channels]
    tensor.c.layout = _LAYOUTS.of(layout)
    tensor.c.fit = FITS.of(fit)
    tensor.set("background", background)
    if colour is not None:
        tensor.c.colour = COLOURS.of(colour)
    return tensor, view

"""Layouts of pixels, and their counterparts in NumPy and Pillow."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from ._constants import PixelFormat


class Layout(NamedTuple):
    """The layout of one pixel format."""

    channels: int
    """Channels of a pixel, of each plane for planar formats."""
    depth: int
    """Bytes of a channel."""
    planes: int
    mode: str
    """Pillow's mode; "" if Pillow has none."""
    raw_mode: str
    """Pillow's name for the layout in memory."""


_ENDIAN = "L" if sys.byteorder == "little" else "B"

LAYOUTS: dict[int, Layout] = {
    PixelFormat.RGBA8: Layout(4, 1, 1, "RGBA", "RGBA"),
    PixelFormat.RGBA8_PREMULTIPLIED: Layout(4, 1, 1, "RGBa", "RGBa"),
    PixelFormat.BGRA8: Layout(4, 1, 1, "RGBA", "BGRA"),
    PixelFormat.BGRA8_PREMULTIPLIED: Layout(4, 1, 1, "RGBa", "BGRa"),
    PixelFormat.RGB8: Layout(3, 1, 1, "RGB", "RGB"),
    PixelFormat.GREY8: Layout(1, 1, 1, "L", "L"),
    PixelFormat.RGBA16: Layout(4, 2, 1, "RGBA", "RGBA;16" + _ENDIAN),
    PixelFormat.RGBA16_PREMULTIPLIED: Layout(4, 2, 1, "", ""),
    PixelFormat.RGB8_PLANAR: Layout(1, 1, 3, "RGB", ""),
}


def shape_of(layout: Layout, width: int, height: int) -> tuple[int, ...]:
    """(height, width, channels); (height, width) for grey; (3, height, width) for planes."""
    if layout.planes > 1:
        return layout.planes, height, width
    return (height, width, layout.channels) if layout.channels > 1 else (height, width)


def strides_of(layout: Layout, height: int, stride: int) -> tuple[int, ...]:
    """Bytes from one element to the next, for each axis of `shape_of`."""
    if layout.planes > 1:
        return stride * height, stride, layout.depth
    pixel = layout.channels * layout.depth
    return (stride, pixel, layout.depth) if layout.channels > 1 else (stride, pixel)


def without_padding(pixels: memoryview, rows: int, stride: int, length: int) -> bytes:
    """Copies `length` bytes of each row."""
    if stride == length:
        return bytes(pixels[: rows * length])
    return b"".join(pixels[row * stride : row * stride + length] for row in range(rows))


def to_pil(pixels: Any, layout: Layout, size: tuple[int, int], stride: int) -> Any:
    """Makes a picture of Pillow. Where Pillow has the same layout (RGBA8, GREY8) nothing is copied."""
    from PIL import Image as Pillow

    if layout.planes > 1:
        plane = stride * size[1]
        planes: list[Any] = [pixels[number * plane : (number + 1) * plane] for number in range(layout.planes)]
        return Pillow.merge("RGB", [Pillow.frombuffer("L", size, part, "raw", "L", stride, 1) for part in planes])
    if not layout.mode:
        raise ValueError("Pillow has no premultiplied pixels of 16 bits; load the picture as RGBA16 or RGBA8.")
    try:
        return Pillow.frombuffer(layout.mode, size, pixels, "raw", layout.raw_mode, stride, 1)
    except TypeError:  # Pillow 9.4 takes only bytes for the formats that it copies
        return Pillow.frombuffer(layout.mode, size, bytes(pixels), "raw", layout.raw_mode, stride, 1)

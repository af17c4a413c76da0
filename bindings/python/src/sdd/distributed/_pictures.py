"""Turns a body into the picture that a job keeps. The work is done by the library, with the GIL released."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _constants as c
from .._constants import ImageFormat, PixelFormat
from .._errors import ImageError
from .._image import Image, probe
from ._exif import exif_json
from ._failures import Rejected
from ._options import JobOptions

if TYPE_CHECKING:
    from .._options import PictureOptions

_WHITE = 0xFFFFFF
_LONGEST = 65500
"""Pixels of a side that a JPEG can have."""
_FORMATS = {"jpg": ImageFormat.JPEG, "png": ImageFormat.PNG}


@dataclass(frozen=True)
class Picture:
    data: bytes | memoryview
    width: int | None
    height: int | None
    original_width: int | None
    original_height: int | None
    exif: str | None
    digest: str | None


def convert(body: memoryview, options: JobOptions, expected_digest: str | None = None) -> Picture:
    """Raises ImageError for a body that is no picture, and Rejected for one that the options refuse."""
    if options.verify_hash and hashlib.new(options.verify_hash[1], body).hexdigest() != expected_digest:
        raise Rejected("HASH_DIFFERS", "The body has another hash than the list says.", "failed_to_download")
    digest = hashlib.new(options.compute_hash, body).hexdigest() if options.compute_hash else None
    exif = "{}" if options.extract_exif else None
    if options.disable_all_reencoding:
        return Picture(bytes(body), None, None, None, None, exif, digest)
    facts = _facts(body)
    width, height = facts["stored_width"], facts["stored_height"]
    if facts["orientation"] >= 5 and not options.keep_orientation:  # turned by a quarter
        width, height = height, width
    _check(width, height, options)
    form = _form(width, height, options)
    if form is None and options.skip_reencode:
        if exif and facts["format"] == ImageFormat.JPEG:
            exif = exif_json(body)
        return Picture(bytes(body), width, height, width, height, exif, digest)
    wanted: PictureOptions = {"pixel_format": "rgb8", "background": _WHITE, "lenient": options.lenient,
                              "keep_orientation": options.keep_orientation}  # fmt: skip
    if form:
        wanted.update(form)
    with Image.decode(body, **wanted) as image:
        if exif and facts["format"] == ImageFormat.JPEG:
            exif = exif_json(body)
        kept = _bordered(image, options.image_size) if form and options.resize_mode == "border" else image
        quality = options.encode_quality if options.encode_format == "jpg" else 0
        data = kept.encode(_FORMATS[options.encode_format], quality=quality)
        return Picture(data, kept.width, kept.height, width, height, exif, digest)


def _facts(body: memoryview) -> dict[str, int]:
    facts = None
    with contextlib.suppress(ImageError):
        facts = probe(body)
    if facts is None:
        Image.decode(body)  # says exactly what is wrong
        raise ImageError("The body ends before the picture's size.", status=c.ERROR_BAD_IMAGE_DATA,
                         detail=c.DETAIL_IMAGE_TRUNCATED)  # fmt: skip
    return facts


def _check(width: int, height: int, options: JobOptions) -> None:
    if min(width, height) < options.min_image_size:
        raise Rejected("IMAGE_TOO_SMALL", "image too small")
    if width * height > options.max_image_area:
        raise Rejected("IMAGE_AREA_TOO_LARGE", "image area too large")
    if max(width, height) > options.max_aspect_ratio * min(width, height):
        raise Rejected("ASPECT_RATIO_TOO_LARGE", "aspect ratio too large")


def _form(width: int, height: int, options: JobOptions) -> PictureOptions | None:
    """The size and fit to decode with; None for a picture that keeps its size."""
    mode, side = options.resize_mode, options.image_size
    if mode == "no":
        return None
    by_smallest = mode in ("keep_ratio", "center_crop")
    if options.resize_only_if_bigger and (min if by_smallest else max)(width, height) <= side:
        return None
    if mode == "keep_ratio":
        if side * max(width, height) > _LONGEST * min(width, height):
            raise Rejected("ASPECT_RATIO_TOO_LARGE", f"The picture would have a side over {_LONGEST} pixels.")
        return {"size": (side, 0) if width < height else (0, side), "enlarge": True}
    return {"size": (side, side), "fit": "fill" if mode == "center_crop" else "inside", "enlarge": True}


def _bordered(image: Image, side: int) -> Image:
    """The picture in the middle of a white square."""
    width, height = image.size
    if width == height == side:
        return image
    pixels, view, stride = bytearray(b"\xff") * (3 * side * side), image.memoryview(), image.stride
    target = 3 * (side * ((side - height) // 2) + (side - width) // 2)
    if width == side and stride == 3 * width:
        pixels[target : target + stride * height] = view[: stride * height]
    else:
        for row in range(height):
            begin = target + 3 * side * row
            pixels[begin : begin + 3 * width] = view[stride * row : stride * row + 3 * width]
    return Image.from_pixels(pixels, side, side, PixelFormat.RGB8)

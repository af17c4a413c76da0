"""Turns a body into the picture that a job keeps. The work is done by the library, with the GIL released."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from .. import _constants as c
from .._constants import ImageFormat, PixelFormat
from .._errors import ImageError
from .._image import Image, probe
from .._transforms import resize
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
    base: PictureOptions = {"pixel_format": "rgb8", "background": _WHITE, "lenient": options.lenient,
                            "keep_orientation": options.keep_orientation}  # fmt: skip
    facts, whole = _facts(body, base)
    width, height = facts.width, facts.height
    if facts.orientation >= 5 and not options.keep_orientation:  # turned by a quarter
        width, height = height, width
    _check(width, height, options)
    form = _form(width, height, options)
    if form is None and options.skip_reencode:
        if exif and facts.format == ImageFormat.JPEG:
            exif = exif_json(body)
        return Picture(bytes(body), width, height, width, height, exif, digest)
    with _formed(body, whole, base, form) as image:
        if exif and facts.format == ImageFormat.JPEG:
            exif = exif_json(body)
        kept = _bordered(image, options.image_size) if form and options.resize_mode == "border" else image
        quality = options.encode_quality if options.encode_format == "jpg" else 0
        data = kept.encode(_FORMATS[options.encode_format], quality=quality)
        return Picture(data, kept.width, kept.height, width, height, exif, digest)


class _Facts(NamedTuple):
    """What is stored, before it is turned by its orientation."""

    format: int
    width: int
    height: int
    orientation: int


def _facts(body: memoryview, base: PictureOptions) -> tuple[_Facts, Image | None]:
    """The facts of a body; and its picture, if the facts of its format are known only when it is decoded."""
    try:
        facts = probe(body)
    except ImageError:  # neither JPEG nor PNG: for a coder
        wanted = base.copy()
        wanted["still"] = True
        image = Image.decode(body, **wanted)
        return _Facts(image.format, *image.stored_size, image.orientation), image
    if facts is None:
        Image.decode(body)  # says exactly what is wrong
        raise ImageError("The body ends before the picture's size.", status=c.ERROR_BAD_IMAGE_DATA,
                         detail=c.DETAIL_IMAGE_TRUNCATED)  # fmt: skip
    return _Facts(facts["format"], facts["stored_width"], facts["stored_height"], facts["orientation"]), None


def _formed(body: memoryview, whole: Image | None, base: PictureOptions, form: _Form | None) -> Image:
    """The picture in its size, made of the whole one if there is that."""
    if whole is None:
        wanted = base.copy()
        if form:
            wanted.update({"size": form.size, "fit": form.fit, "enlarge": True})
        return Image.decode(body, **wanted)
    return whole.transform(resize(*form.size, form.fit, enlarge=True)) if form else whole


def _check(width: int, height: int, options: JobOptions) -> None:
    if min(width, height) < options.min_image_size:
        raise Rejected("IMAGE_TOO_SMALL", "image too small")
    if width * height > options.max_image_area:
        raise Rejected("IMAGE_AREA_TOO_LARGE", "image area too large")
    if max(width, height) > options.max_aspect_ratio * min(width, height):
        raise Rejected("ASPECT_RATIO_TOO_LARGE", "aspect ratio too large")


class _Form(NamedTuple):
    size: tuple[int, int]
    fit: Literal["inside", "fill"]


def _form(width: int, height: int, options: JobOptions) -> _Form | None:
    """The size of the picture; None for one that keeps its own."""
    mode, side = options.resize_mode, options.image_size
    if mode == "no":
        return None
    by_smallest = mode in ("keep_ratio", "center_crop")
    if options.resize_only_if_bigger and (min if by_smallest else max)(width, height) <= side:
        return None
    if mode == "keep_ratio":
        if side * max(width, height) > _LONGEST * min(width, height):
            raise Rejected("ASPECT_RATIO_TOO_LARGE", f"The picture would have a side over {_LONGEST} pixels.")
        return _Form((side, 0) if width < height else (0, side), "inside")
    return _Form((side, side), "fill" if mode == "center_crop" else "inside")


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

"""The Exif tags of a JPEG as JSON. The names of tags are those of the Exif standard, after that of their directory."""

from __future__ import annotations

import json
import struct
from typing import Any

_SIZES = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 6: "b", 7: "s", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d"}
_EXIF, _GPS = 0x8769, 0x8825
_MOST_TAGS, _MOST_VALUES, _LONGEST = 256, 16, 256
_IMAGE = {
    0x010E: "ImageDescription", 0x010F: "Make", 0x0110: "Model", 0x0112: "Orientation", 0x011A: "XResolution",
    0x011B: "YResolution", 0x0128: "ResolutionUnit", 0x0131: "Software", 0x0132: "DateTime", 0x013B: "Artist",
    0x0213: "YCbCrPositioning", 0x8298: "Copyright",
}  # fmt: skip
_CAMERA = {
    0x829A: "ExposureTime", 0x829D: "FNumber", 0x8822: "ExposureProgram", 0x8827: "ISOSpeedRatings",
    0x9000: "ExifVersion", 0x9003: "DateTimeOriginal", 0x9004: "DateTimeDigitized", 0x9201: "ShutterSpeedValue",
    0x9202: "ApertureValue", 0x9204: "ExposureBiasValue", 0x9207: "MeteringMode", 0x9209: "Flash",
    0x920A: "FocalLength", 0xA001: "ColorSpace", 0xA002: "ExifImageWidth", 0xA003: "ExifImageLength",
    0xA402: "ExposureMode", 0xA403: "WhiteBalance", 0xA405: "FocalLengthIn35mmFilm", 0xA434: "LensModel",
}  # fmt: skip
_PLACE = {
    0x0001: "GPSLatitudeRef", 0x0002: "GPSLatitude", 0x0003: "GPSLongitudeRef", 0x0004: "GPSLongitude",
    0x0005: "GPSAltitudeRef", 0x0006: "GPSAltitude", 0x0007: "GPSTimeStamp", 0x001D: "GPSDate",
}  # fmt: skip


def exif_json(body: bytes | memoryview) -> str:
    """A JSON object of texts; "{}" for a picture without Exif, or with an Exif block that cannot be read."""
    block = _block(body)
    if block is None:
        return "{}"
    found: dict[str, str] = {}
    try:
        order = {b"II": "<", b"MM": ">"}[block[:2]]
        _read(block, order, struct.unpack_from(order + "I", block, 4)[0], "Image", _IMAGE, found)
    except (KeyError, struct.error):
        pass
    return json.dumps(found)


def _block(body: bytes | memoryview) -> bytes | None:
    """The TIFF block of the first APP1 segment with Exif."""
    at, size = 2, len(body)
    while at + 4 <= size and body[at] == 0xFF and body[at + 1] not in (0xDA, 0xD9):
        length = body[at + 2] << 8 | body[at + 3]
        if body[at + 1] == 0xE1 and bytes(body[at + 4 : at + 10]) == b"Exif\0\0":
            return bytes(body[at + 10 : at + 2 + length])
        at += 2 + length
    return None


def _read(block: bytes, order: str, at: int, folder: str, names: dict[int, str], found: dict[str, str]) -> None:
    count = min(struct.unpack_from(order + "H", block, at)[0], _MOST_TAGS)
    for number in range(count):
        tag, kind, values, offset = struct.unpack_from(order + "HHII", block, at + 2 + 12 * number)
        if tag in (_EXIF, _GPS) and folder == "Image":
            inner = ("EXIF", _CAMERA) if tag == _EXIF else ("GPS", _PLACE)
            try:
                _read(block, order, offset, *inner, found)
            except struct.error:  # the directory ends early; what was read of it counts
                pass
        elif tag in names and kind in _SIZES:
            text = _text(block, order, kind, values, at + 2 + 12 * number + 8, offset)
            if text is not None:
                found[f"{folder} {names[tag]}"] = text


def _text(block: bytes, order: str, kind: int, count: int, inline: int, offset: int) -> str | None:
    """The value of a tag as a text; None if it lies outside the block."""
    unit = struct.calcsize(order + _SIZES[kind])
    start = inline if unit * count <= 4 else offset
    if start + unit * count > len(block):
        return None
    if _SIZES[kind] == "s":
        return block[start : start + min(count, _LONGEST)].split(b"\0")[0].decode("latin-1").strip()
    values: list[Any] = [
        struct.unpack_from(order + _SIZES[kind], block, start + unit * index)
        for index in range(min(count, _MOST_VALUES))
    ]
    texts = ["/".join(str(part) for part in value) if len(value) == 1 or value[1] != 1 else str(value[0])
             for value in values]  # fmt: skip
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"

"""Gain maps: where they lie in a picture, and what their values mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from . import _constants as c

_KINDS: dict[int, Literal["iso", "ultra_hdr", "apple"]] = {
    c.GAIN_MAP_ISO: "iso", c.GAIN_MAP_ULTRA_HDR: "ultra_hdr", c.GAIN_MAP_APPLE: "apple",
}  # fmt: skip

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class GainMapInfo:
    """Where a gain map lies in `Image.encoded`, and what its values mean: red, green and blue, boosts as log2.

    For a value v of the map, from 0 to 1, the boost is 2 ** (min + (max - min) * v ** (1 / gamma)), on a display whose
    headroom is `capacity_max` or more. The header of libsdd, sdd/gainmap.h, has the formula of Apple's maps.
    """

    kind: Literal["iso", "ultra_hdr", "apple"]
    """ISO 21496-1, Ultra HDR 1.0, or Apple's."""
    is_base_hdr: bool
    """True if the picture is the rendition for HDR, and the map makes the one for SDR."""
    offset: int
    """Where the map begins in `Image.encoded`: a JPEG of its own, or in AVIF and HEIF the data of its item."""
    size: int
    """Bytes of the map; 0, like the offset, if it is in several pieces."""
    min_boost: Triple
    """The least boost, as log2."""
    max_boost: Triple
    """The largest boost, as log2."""
    gamma: Triple
    """The exponent of the values."""
    offset_sdr: Triple
    """Is added to linear SDR values before they are multiplied."""
    offset_hdr: Triple
    """Is taken from linear HDR values after that."""
    capacity_min: float
    """log2 of the headroom of a display up to which the map has no effect."""
    capacity_max: float
    """log2 of the headroom from which on it has all of its effect."""


def gain_map_info_of(info: Any) -> GainMapInfo:
    """Makes the object for an sdd_gain_map_info."""

    def triple(name: str) -> Triple:
        values = getattr(info, name)
        return values[0], values[1], values[2]

    return GainMapInfo(
        _KINDS[info.kind], info.is_base_hdr == 1, info.offset, info.size, triple("min_boost"), triple("max_boost"),
        triple("gamma"), triple("offset_sdr"), triple("offset_hdr"), info.capacity_min, info.capacity_max,
    )  # fmt: skip

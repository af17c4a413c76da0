"""What pictures say of their colours, and their conversion to sRGB."""

from __future__ import annotations

import dataclasses
import io
import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from conftest import FIXTURES, Run, Server, gradient
from PIL import Image as Pillow

import sdd

COLOURS = FIXTURES / "colour"


def picture(name: str) -> bytes:
    return (COLOURS / name).read_bytes()


def profile_of(name: str) -> bytes | None:
    """The profile, as Pillow reads it."""
    profile: bytes | None = Pillow.open(COLOURS / name).info.get("icc_profile")
    return profile


def in_srgb(name: str) -> np.ndarray:
    """The pixels as lcms2 converts them, from a PAM of four channels."""
    data = (COLOURS / name).with_suffix(".pam").read_bytes()
    header, pixels = data.split(b"ENDHDR\n", 1)
    width, height = (int(line.split()[1]) for line in header.splitlines()[1:3])
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 4)


def differ(image: sdd.Image, name: str) -> int:
    return int(abs(image.to_numpy().astype(int) - in_srgb(name)).max())


KINDS = [
    ("display-p3.jpg", sdd.ColourKind.MATRIX, "Display P3", True),
    ("adobe-rgb.jpg", sdd.ColourKind.MATRIX, "Adobe RGB (1998)", True),
    ("glass.png", sdd.ColourKind.MATRIX, "Display P3", True),
    ("grey.jpg", sdd.ColourKind.GREY, "dot gain 20%", True),
    ("cicp-p3.png", sdd.ColourKind.MATRIX, "Display P3", True),
    ("gama-chrm.png", sdd.ColourKind.MATRIX, "gamma 1.8", True),
    ("srgb.png", sdd.ColourKind.SRGB, "sRGB", False),
    ("cicp-pq.png", sdd.ColourKind.HDR, "BT.2020", False),
    ("tables.png", sdd.ColourKind.TABLES, "", False),
    ("unstated.png", sdd.ColourKind.UNSTATED, "", False),
]


@pytest.mark.parametrize(("name", "kind", "called", "is_converted"), KINDS)
def test_a_picture_says_what_it_is(name: str, kind: sdd.ColourKind, called: str, is_converted: bool) -> None:
    for size in (None, (9, 9)):
        stored = sdd.Image.decode(picture(name), size=size)
        converted = sdd.Image.decode(picture(name), size=size, colour="srgb")
        colour = converted.colour
        assert (colour.kind, colour.name, colour.is_converted) == (kind, called, is_converted)
        assert stored.colour == dataclasses.replace(colour, is_converted=False)
        assert stored.icc_profile == converted.icc_profile == colour.icc_profile == profile_of(name)
        assert (stored.tobytes() != converted.tobytes()) == is_converted
    assert differ(sdd.Image.decode(picture(name), colour="srgb"), name) <= 1
    assert sdd.Image.decode(picture(name), colour="stored").tobytes() == sdd.Image.decode(picture(name)).tobytes()


def test_numbers_of_png_chunks() -> None:
    points, chunks, nothing = (sdd.Image.decode(picture(f"{name}.png")).colour
                               for name in ("cicp-p3", "gama-chrm", "unstated"))  # fmt: skip
    assert (points.primaries, points.transfer, points.gamma, points.chromaticities) == (12, 13, None, None)
    assert (chunks.primaries, chunks.transfer, chunks.gamma) == (0, 0, 0.55556)
    assert chunks.chromaticities == ((0.3127, 0.329), (0.68, 0.32), (0.265, 0.69), (0.15, 0.06))
    assert nothing == sdd.Colour(sdd.ColourKind.UNSTATED, "", False, None, 0, 0, None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        nothing.name = "sRGB"  # type: ignore[misc]


def test_pillow_gets_the_profile_of_stored_colours() -> None:
    for size in (None, 10):
        stored = sdd.Image.decode(picture("display-p3.jpg"), size=size).to_pil()
        assert stored.info["icc_profile"] == profile_of("display-p3.jpg")
        converted = sdd.Image.decode(picture("display-p3.jpg"), size=size, colour="srgb").to_pil()
        assert "icc_profile" not in converted.info
    assert "icc_profile" not in sdd.Image.decode(picture("unstated.png")).to_pil().info


def test_a_profile_that_is_not_used_is_still_metadata() -> None:
    image = sdd.Image.decode(picture("grey-for-colours.jpg"))
    assert image.colour.kind is sdd.ColourKind.UNSTATED and image.colour.icc_profile is None
    assert image.icc_profile == profile_of("grey-for-colours.jpg") is not None
    assert "icc_profile" not in image.to_pil().info


def test_an_encoded_picture_keeps_its_profile() -> None:
    formats: tuple[Literal["jpeg", "png"], ...] = ("jpeg", "png")
    for name in formats:
        stored = sdd.Image.decode(picture("adobe-rgb.jpg"), size=12).encode(name)
        assert Pillow.open(io.BytesIO(stored)).info["icc_profile"] == profile_of("adobe-rgb.jpg")
        converted = sdd.Image.decode(picture("adobe-rgb.jpg"), size=12, colour="srgb")
        assert "icc_profile" not in Pillow.open(io.BytesIO(converted.encode(name))).info


def test_a_closed_image_has_no_colour() -> None:
    image = gradient(2, 2)
    image.close()
    with pytest.raises(ValueError, match="closed"):
        image.colour  # noqa: B018


def test_loads_convert_and_downloads_do_not(tmp_path: Path, server: Server, run: Run) -> None:
    name = "display-p3.jpg"
    shutil.copy(COLOURS / name, server.folder / name)
    url = server.url(f"file/{name}")
    stored = sdd.Image.decode(picture(name)).tobytes()

    async def main() -> None:
        async with sdd.Cache(directory=str(tmp_path / "cache")) as cache, sdd.Loader(cache=cache) as loader:
            for origin in (sdd.Origin.NETWORK, sdd.Origin.MEMORY, sdd.Origin.DISK):
                result = await loader.fetch(url)
                assert result.origin is origin and result.image is not None
                assert differ(result.image, name) <= 1 and result.image.colour.is_converted
                assert result.image.icc_profile == profile_of(name)
                if origin is sdd.Origin.MEMORY:
                    result.image.close()
                    del result
                    await cache.flush()
                    await cache.clear("memory")  # a trim leaves what the delivering thread may still hold
            as_stored = await loader.load(url, colour="stored")
            assert as_stored.tobytes() == stored and not as_stored.colour.is_converted
            found = await cache.get(url)
            assert found is not None and found.colour.is_converted
            assert cache.key(url, size=5) == cache.key(url, size=5, colour="srgb") != cache.key(
                url, size=5, colour="stored")  # fmt: skip
        async with sdd.Downloader() as downloader:
            downloaded = await downloader.fetch(url)
            assert downloaded.image is not None and downloaded.image.tobytes() == stored
            asked = await downloader.fetch(url, colour="srgb")
            assert asked.image is not None and differ(asked.image, name) <= 1

    run(main())


def test_many(loader: sdd.Loader, downloader: sdd.Downloader, server: Server) -> None:
    name = "adobe-rgb.jpg"
    shutil.copy(COLOURS / name, server.folder / name)
    urls = [server.url(f"file/{name}")]
    for options, is_converted in (({}, True), ({"colour": "srgb"}, True), ({"colour": "stored"}, False)):
        for item in loader.load_many(urls, **options):  # type: ignore[arg-type]
            assert isinstance(item, sdd.PictureItem) and item.image.colour.is_converted == is_converted


def test_rows_of_an_array(loader: sdd.Loader, downloader: sdd.Downloader, server: Server) -> None:
    name = "adobe-rgb.jpg"
    shutil.copy(COLOURS / name, server.folder / name)
    urls = [server.url(f"file/{name}")]
    stored = sdd.Image.decode(picture(name), pixel_format="rgb8").to_numpy()
    converted = sdd.Image.decode(picture(name), pixel_format="rgb8", colour="srgb").to_numpy()
    assert abs(converted.astype(int) - in_srgb(name)[:, :, :3]).max() <= 1
    rows = np.zeros((1, *stored.shape), np.uint8)
    sources: list[tuple[dict[str, Any], bool]] = [({"downloader": downloader}, False), ({"loader": loader}, True)]
    for source, usual in sources:
        wishes: list[tuple[dict[str, Any], bool]] = [
            ({}, usual), ({"colour": None}, usual), ({"colour": "srgb"}, True), ({"colour": "stored"}, False),
        ]  # fmt: skip
        for options, is_converted in wishes:
            rows[:] = 0
            (item,) = sdd.batch(urls, rows, **options, **source).wait()
            assert isinstance(item, sdd.RowItem)
            assert (item.is_converted, item.colour_kind) == (is_converted, sdd.ColourKind.MATRIX)
            assert (rows[0] == (converted if is_converted else stored)).all()
    planes = np.zeros((1, 3, *stored.shape[:2]), np.uint8)
    sdd.batch(urls, planes, layout="chw", colour="srgb", downloader=downloader).wait()
    assert (planes[0].transpose(1, 2, 0) == converted).all()
    with pytest.raises(ValueError, match="colour must be one of srgb, stored, not 'p3'"):
        sdd.batch(urls, rows, colour="p3")  # type: ignore[arg-type]


def test_words_that_do_not_exist_are_refused(loader: sdd.Loader) -> None:
    with pytest.raises(ValueError, match="colour must be one of srgb, stored, not 'p3'"):
        sdd.Image.decode(b"", colour="p3")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="colour must be a text, one of srgb, stored, not 2"):
        loader.load_sync("data:,", colour=2)  # type: ignore[arg-type]

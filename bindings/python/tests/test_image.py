"""Images: their pixels, and what shares them."""

from __future__ import annotations

import gc
import io
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import FIXTURES, gradient, run_script
from PIL import Image as Pillow

import sdd
from sdd.lowlevel import ffi, lib

FORMATS = list(sdd.PixelFormat)


def address(buffer: object) -> int:
    return int(ffi.cast("uintptr_t", ffi.from_buffer(buffer)))


def test_pixels_are_those_of_pillow() -> None:
    data = gradient(30, 20).encode(sdd.ImageFormat.PNG)
    expected = np.asarray(Pillow.open(io.BytesIO(data)).convert("RGBA"))
    assert (sdd.Image.decode(data).to_numpy() == expected).all()


@pytest.mark.parametrize("pixel_format", FORMATS)
def test_every_format_has_its_shape(pixel_format: sdd.PixelFormat) -> None:
    data = gradient(31, 20).encode(sdd.ImageFormat.PNG)
    image = sdd.Image.decode(data, pixel_format=pixel_format, row_alignment=64)
    array, rgb = image.to_numpy(), np.asarray(gradient(31, 20))
    if pixel_format == sdd.PixelFormat.GREY8:
        assert array.shape == (20, 31)
    elif pixel_format == sdd.PixelFormat.RGB8_PLANAR:
        assert array.shape == (3, 20, 31) and (array == rgb.transpose(2, 0, 1)).all()
    else:
        order = [2, 1, 0] if "BGRA" in pixel_format.name else [0, 1, 2]
        factor = 257 if array.dtype == np.uint16 else 1
        assert (array[:, :, order] == rgb * np.uint16(factor)).all()
    assert (np.asarray(image) == array).all()
    assert image.stride % 64 == 0
    assert image.tobytes() == array.tobytes()


def test_numpy_shares_the_pixels() -> None:
    image = gradient(8, 4)
    pixels = address(image.memoryview())
    assert image.to_numpy().ctypes.data == pixels
    assert np.asarray(image).ctypes.data == pixels
    assert not image.to_numpy().flags.writeable
    assert not np.asarray(image).flags.writeable
    with pytest.raises(ValueError):
        image.to_numpy()[0, 0, 0] = 1
    with pytest.raises(TypeError):
        image.memoryview()[0] = 1


@pytest.mark.parametrize("pixel_format", list(sdd.PixelFormat), ids=lambda member: member.name)
def test_no_array_of_pixels_becomes_writable(pixel_format: sdd.PixelFormat) -> None:
    """Images in the memory cache are shared by all that load them."""
    image = sdd.Image.decode(gradient(31, 20).encode(sdd.ImageFormat.PNG), pixel_format=pixel_format)
    for array in (image.to_numpy(), np.asarray(image), np.frombuffer(image.memoryview(), np.uint8)):
        with pytest.raises(ValueError):
            array.flags.writeable = True


def test_pillow_shares_rgba_and_grey() -> None:
    for pixel_format in (sdd.PixelFormat.RGBA8, sdd.PixelFormat.GREY8):
        image = gradient(16, 9, pixel_format)
        picture = image.to_pil()
        assert picture.readonly  # Pillow's mark for memory that is not its own
        expected = image.tobytes()
        assert picture.tobytes() == expected
        picture.putpixel((0, 0), 77 if picture.mode == "L" else (7, 7, 7, 7))  # Pillow copies before it writes
        assert picture.tobytes() != expected
        assert image.tobytes() == expected


@pytest.mark.parametrize("pixel_format", set(FORMATS) - {sdd.PixelFormat.RGBA16_PREMULTIPLIED})
def test_pillow_has_the_same_picture(pixel_format: sdd.PixelFormat) -> None:
    data = gradient(31, 20).encode(sdd.ImageFormat.PNG)
    picture = sdd.Image.decode(data, pixel_format=pixel_format, row_alignment=16).to_pil()
    if pixel_format == sdd.PixelFormat.GREY8:
        assert picture.mode == "L"
    else:
        assert (np.asarray(picture.convert("RGBA"))[:, :, :3] == np.asarray(gradient(31, 20))).all()


def test_pillow_has_no_16_bits_premultiplied() -> None:
    image = sdd.Image.decode(gradient(3, 2).encode(), pixel_format="rgba16_premultiplied")
    with pytest.raises(ValueError, match="RGBA16 or RGBA8"):
        image.to_pil()


def test_memory_stays_while_views_live() -> None:
    before = sdd.process_statistics()["images"]
    image = gradient(64, 64)
    expected = image.tobytes()
    views: list[Any] = [image.memoryview(), image.to_numpy(), np.asarray(image), image.to_pil()]
    image.close()
    del image
    gc.collect()
    assert sdd.process_statistics()["images"] == before + 1
    assert all(view.tobytes() == expected for view in views)
    del views
    gc.collect()
    assert sdd.process_statistics()["images"] == before


def test_a_closed_image_refuses() -> None:
    image = gradient(4, 4)
    with image:
        pass
    assert image.closed
    assert repr(image) == "<sdd.Image, closed>"
    image.close()
    for use in (lambda: image.width, image.memoryview, image.to_numpy, image.to_pil, image.encode, image.tobytes,
                lambda: image.frame(0), lambda: image.transform(sdd.rotate(90)), lambda: image.encoded,
                lambda: np.asarray(image), lambda: image.exif):  # fmt: skip
        with pytest.raises(ValueError, match="closed"):
            use()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes of Python have no buffers before 3.12")
def test_an_image_is_a_buffer() -> None:
    image = gradient(8, 4)
    view = memoryview(image)
    assert view.tobytes() == image.tobytes() and view.shape == (4, 8, 3) and view.readonly
    padded = sdd.Image.decode(image.encode(), row_alignment=64)
    with pytest.raises(BufferError, match="padding"):
        memoryview(padded)
    assert memoryview(sdd.Image.decode(image.encode(), pixel_format="rgba16")).format == "H"


def test_images_are_not_made_by_hand_nor_pickled() -> None:
    with pytest.raises(TypeError, match="loads"):
        sdd.Image()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(gradient(2, 2))


def test_thumbhash() -> None:
    pixels = np.full((50, 100, 3), 60, np.uint8)
    pixels[..., 0] = np.arange(0, 200, 2)
    hash = sdd.Image.from_pixels(pixels, 100, 50, "rgb8").thumbhash()
    assert isinstance(hash, bytes) and 17 <= len(hash) <= 25
    shown = sdd.Image.from_thumbhash(hash)
    assert shown.size == (32, 18)
    large = np.asarray(shown.transform(sdd.resize(100, 50, "stretch", enlarge=True))).astype(int)
    assert abs(large[..., :3] - pixels).mean() < 12
    for wrong in (b"", hash[:-1], hash + b"x", b"\xff" * 40):
        with pytest.raises(sdd.ImageError) as caught:
            sdd.Image.from_thumbhash(wrong)
        assert caught.value.status == sdd.Status.BAD_IMAGE_DATA
    with pytest.raises(TypeError):
        sdd.Image.from_thumbhash("text")  # type: ignore[arg-type]


def test_gain_map() -> None:
    data = (FIXTURES / "metadata/gain-map.jpg").read_bytes()
    image = sdd.Image.decode(data)
    info = image.gain_map_info
    assert info is not None and info.kind == "ultra_hdr" and not info.is_base_hdr
    assert info.max_boost == (2.5, 2.5, 2.5) and info.offset_hdr == (1 / 64,) * 3 and info.capacity_max == 2.5
    assert data[info.offset :].startswith(b"\xff\xd8") and info.offset + info.size == len(data)
    map = image.gain_map()
    assert map is not None and map.size == (12, 8) and image.size == (24, 16)
    assert gradient(4, 4).gain_map_info is None and gradient(4, 4).gain_map() is None


def test_encode_and_save(tmp_path: Path) -> None:
    image = gradient(100, 50)
    image.save(tmp_path / "a.png")
    assert (np.asarray(Pillow.open(tmp_path / "a.png")) == np.asarray(image)).all()
    image.save(tmp_path / "a.jpg", quality=50, max_size=(20, 20))
    assert Pillow.open(tmp_path / "a.jpg").size == (20, 10)
    assert len(image.encode(sdd.ImageFormat.JPEG, max_bytes=1500)) <= 1500
    with pytest.raises(sdd.RequestError) as caught:
        image.encode(sdd.ImageFormat.JPEG, max_bytes=10)
    assert caught.value.status == sdd.Status.DOES_NOT_FIT
    with pytest.raises(OSError):
        image.save(tmp_path / "none" / "a.jpg")


def test_the_name_of_a_file_decides_on_its_format(tmp_path: Path) -> None:
    image = gradient(40, 20)
    for name, kind in (("a.JPG", "JPEG"), ("a.jpeg", "JPEG"), ("a.png", "PNG"), ("b.jfif", "JPEG")):
        image.save(tmp_path / name)
        assert Pillow.open(tmp_path / name).format == kind
    image.save(str(tmp_path / "named"), "png")
    image.save(tmp_path / "other.jpg", format=sdd.ImageFormat.PNG)
    assert Pillow.open(tmp_path / "named").format == Pillow.open(tmp_path / "other.jpg").format == "PNG"
    for name, words in (("a.tif", "does not write TIFF"), ("a.bmp", "does not write BMP"), ("a.doc", "ends with .doc"),
                        ("png", "has no extension"), (".png", "has no extension")):  # fmt: skip
        with pytest.raises(sdd.RequestError, match=words) as caught:
            image.save(tmp_path / name)
        assert str(caught.value).endswith(".") and not (tmp_path / name).exists(), name


def test_animations_are_made_and_encoded() -> None:
    frames = [sdd.Image.from_pixels(bytes((value, 7, 9, 255)) * 96, 12, 8) for value in (0, 200, 31)]
    made = sdd.Image.animation(frames, [0.04, 0.1, 1 / 3], loop_count=2)
    assert made.frame_count == 3 and made.loop_count == 2 and made.frame_duration(1) == 0.1
    again = sdd.Image.decode(made.encode(animated=True))
    assert again.format is sdd.ImageFormat.PNG and again.frame_count == 3 and again.loop_count == 2
    assert [round(again.frame_duration(index), 4) for index in range(3)] == [0.04, 0.1, 0.3333]
    for index, frame in enumerate(frames):
        assert again.frame(index).tobytes() == frame.tobytes()
    assert sdd.Image.decode(made.encode("png")).frame_count == 1
    assert sdd.Image.animation(iter(frames), 0.5).frame_duration(2) == 0.5
    with pytest.raises(sdd.Error, match="3 frames, and 1 durations"):
        sdd.Image.animation(frames, [1.0])
    with pytest.raises(sdd.Error, match="size"):
        sdd.Image.animation([*frames, gradient(12, 9)], 1)
    with pytest.raises(sdd.Error):
        sdd.Image.animation([], 1)
    with pytest.raises(sdd.Error):
        made.encode("jpeg", animated=True)


def test_a_coder_writes_its_format(tmp_path: Path) -> None:
    """The coders of a build are beside its library; an installed one, or that of a wheel, finds its own."""
    program = """
import sys, sdd
image = sdd.Image.from_pixels(bytes(range(48)), 4, 4, "rgb8")
for suffix in ("webp", "avif"):
    try:
        image.save(f"{sys.argv[1]}/a.{suffix}")
        print(suffix, sdd.Image.decode(image.encode(suffix)).format.name, sdd.Image.decode(image.encode(suffix)).size)
    except sdd.RequestError as error:
        print(error)
"""
    built = Path(sdd.library_file).resolve().parent / "coders"
    is_built = (built / "webp.so").exists()
    done = run_script(program, str(tmp_path), environment={"SDD_CODER_PATH": str(built)} if is_built else {})
    assert done.returncode == 0, done.stderr
    is_in_wheel = (built.parent / "sdd" / "coders" / "webp.so").exists()
    if is_built or is_in_wheel or "webp WEBP" in done.stdout:
        assert done.stdout == "webp WEBP (4, 4)\navif AVIF (4, 4)\n"
        assert (tmp_path / "a.webp").read_bytes()[8:12] == b"WEBP"
    else:
        assert "Debian: libsdd-coder-webp" in done.stdout and not (tmp_path / "a.webp").exists()


def test_a_notebook_shows_a_picture() -> None:
    image = gradient(2000, 10)
    shown = image._repr_png_()
    assert shown is not None and Pillow.open(io.BytesIO(shown)).size == (1024, 5)
    image.close()
    assert image._repr_png_() is None


def test_sizes_as_one_number() -> None:
    data = gradient(100, 50).encode("png")
    assert sdd.Image.decode(data, size=20).size == sdd.Image.decode(data, size=(20, 20)).size == (20, 10)
    assert Pillow.open(io.BytesIO(gradient(100, 50).encode("png", max_size=20))).size == (20, 10)


def test_transforms() -> None:
    image = gradient(10, 6)
    pixels = np.asarray(image)
    assert (np.asarray(image.transform(sdd.flip("horizontal"))) == pixels[:, ::-1]).all()
    assert (np.asarray(image.transform(sdd.rotate(90))) == np.rot90(pixels, -1)).all()
    assert (np.asarray(image.transform(sdd.crop(2, 1, 4, 3))) == pixels[1:4, 2:6]).all()
    assert image.transform(sdd.resize(5, 0), sdd.rotate(90)).size == (3, 5)
    assert image.transform(sdd.resize(20, 12, enlarge=True)).size == (20, 12)
    assert image.transform(sdd.round_corners(3)).pixel_format == sdd.PixelFormat.RGBA8
    assert image.transform(sdd.rotate(30)).size == (12, 11)
    assert image.transform(sdd.rotate(-7.5, keep_size=True)).size == image.size
    assert (np.asarray(image.transform(sdd.border(1, 0xFF336699)))[0, :, :3] == (0x33, 0x66, 0x99)).all()
    assert (np.asarray(image.transform(sdd.tint(0xFF010203)))[..., :3] == (1, 2, 3)).all()
    assert np.asarray(image.transform(sdd.blur(50))).std(axis=(0, 1)).max() < pixels.std(axis=(0, 1)).min() / 4
    with pytest.raises(sdd.RequestError):
        image.transform(sdd.crop(100, 100, 1, 1))
    with pytest.raises(TypeError, match="degrees must be a number, not 'right'"):
        sdd.rotate("right")  # type: ignore[arg-type]


def test_frames() -> None:
    image = sdd.Image.decode((FIXTURES / "facts" / "animated.png").read_bytes())
    assert image.frame_count == 3
    assert image.frame(2).size == image.size
    assert image.frame_duration(0) >= 0
    with pytest.raises(IndexError):
        image.frame(3)


def test_metadata() -> None:
    data = gradient(4, 4).encode(sdd.ImageFormat.JPEG)
    image = sdd.Image.decode(data)
    assert (image.icc_profile, image.exif, image.xmp, image.texts) == (None, None, None, [])
    assert image.encoded == data
    assert image.stored_size == (4, 4) and image.orientation == 1 and not image.has_alpha
    assert image.format is sdd.ImageFormat.JPEG


def test_probe() -> None:
    data = bytes(gradient(12, 7).encode(sdd.ImageFormat.PNG))
    facts = sdd.probe(data)
    assert facts and (facts["stored_width"], facts["stored_height"], facts["format"]) == (12, 7, sdd.ImageFormat.PNG)
    assert sdd.probe(data[:10]) is None
    with pytest.raises(sdd.Error):
        sdd.probe(b"not a picture, whatever follows")


def test_bad_data_is_an_error() -> None:
    with pytest.raises(sdd.ImageError) as caught:
        sdd.Image.decode(b"no picture")
    assert caught.value.status is sdd.Status.BAD_IMAGE_DATA
    assert caught.value.detail is sdd.Detail.IMAGE_UNKNOWN_FORMAT
    with pytest.raises(TypeError, match="tone"):
        sdd.Image.decode(b"", tone=1)  # type: ignore[call-arg]
    with pytest.raises(sdd.InvalidArgument):
        sdd.Image.decode(b"no picture", size=(-1, 5))


def test_bad_pixels_are_refused() -> None:
    with pytest.raises(sdd.InvalidArgument, match="has 3 bytes; these pixels take 16"):
        sdd.Image.from_pixels(b"123", 2, 2)
    for width, height, stride in ((0, 1, 0), (1, -1, 0), (1, 1, -4)):
        with pytest.raises(sdd.InvalidArgument):
            sdd.Image.from_pixels(bytes(100), width, height, stride=stride)
    with pytest.raises(OverflowError):
        lib.sdd_image_create(1 << 40, 1, 1, ffi.NULL, 0, ffi.NULL)


@pytest.mark.parametrize("kind", ["float64", "float32", "int32", "uint16", "int16"])
def test_arrays_of_other_numbers_are_no_pixels(kind: str) -> None:
    array = np.full((2, 2, 4), 1, kind)
    for pixel_format in (sdd.PixelFormat.RGBA8, sdd.PixelFormat.RGBA16):
        if (kind, pixel_format) == ("uint16", sdd.PixelFormat.RGBA16):
            assert (sdd.Image.from_pixels(array, 2, 2, pixel_format).to_numpy() == array).all()
        else:
            with pytest.raises(TypeError, match="pixels must be bytes or an array of uint"):
                sdd.Image.from_pixels(array, 2, 2, pixel_format)
    swapped = np.full((2, 2, 4), 1, ">u2" if sys.byteorder == "little" else "<u2")
    with pytest.raises(TypeError, match="array of uint16, not items"):
        sdd.Image.from_pixels(swapped, 2, 2, sdd.PixelFormat.RGBA16)
    assert sdd.Image.from_pixels(np.ones((2, 2, 4), np.uint8).view(np.int8), 2, 2).size == (2, 2)


def test_an_older_array_interface() -> None:
    interface = gradient(5, 3).__array_interface__
    assert interface["shape"] == (3, 5, 3) and interface["strides"] is None and interface["version"] == 3

"""Decoders of the peers in Python. Each returns the pixels that the baseline makes, in the quality that it uses."""

from __future__ import annotations

import io

from program import Decode, Pixels


def pillow() -> Decode:
    from PIL import Image
    Image.MAX_IMAGE_PIXELS = None

    def decode(data: bytes, side: int) -> Pixels:
        image: Image.Image = Image.open(io.BytesIO(data))
        if side:
            scale = min(1.0, side / max(image.size))
            size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
            image.draft("RGB", size)  # libjpeg reduces it as far as it can
            image = image.resize(size, Image.Resampling.HAMMING)  # Pillow's nearest to the mean of the area
        image = image.convert("RGBA")
        return Pixels(image.width, image.height, image.tobytes)

    return decode


def simplejpeg() -> Decode:
    from simplejpeg import decode_jpeg

    def decode(data: bytes, side: int) -> Pixels:
        if side:
            raise ValueError("simplejpeg reduces to a few sizes only, which is not the same work")
        pixels = decode_jpeg(data, colorspace="RGBA")
        return Pixels(pixels.shape[1], pixels.shape[0], pixels.tobytes)

    return decode


def pyvips() -> Decode:
    import pyvips

    def decode(data: bytes, side: int) -> Pixels:
        if side:
            image = pyvips.Image.thumbnail_buffer(data, side, height=side, size="down")
        else:
            image = pyvips.Image.new_from_buffer(data, "", access="sequential")
        if image.interpretation != "srgb" or image.format != "uchar":
            image = image.colourspace("srgb").cast("uchar")
        if not image.hasalpha():
            image = image.addalpha()
        pixels = image.write_to_memory()
        return Pixels(image.width, image.height, lambda: bytes(pixels))

    return decode


def make(name: str) -> Decode:
    """Imports a decoder and returns it."""
    return {"pillow": pillow, "simplejpeg": simplejpeg, "pyvips": pyvips}[name]()

#!/usr/bin/env python3
"""Makes the pictures of coders/, for the example coders: see README.md for what each is.

    python3 -m pip install pillow; apt-get install libavif-bin; python3 make_coders.py

Beside each NAME.EXT there is NAME.EXT.pams: what a decoder must give, frame after frame, each as a PAM. They come from
Pillow; those of the GIFs are composed here, as the specification and browsers have it, and compared with Pillow's.
"""

import io
import os
import struct
import subprocess
import tempfile

from PIL import Image, ImageOps, ImageSequence

from make_fixtures import HERE, noise, pam, photo, save


def encoded(pictures, kind, **options):
    out = io.BytesIO()
    if len(pictures) > 1:
        options.update(save_all=True, append_images=pictures[1:])
    pictures[0].save(out, kind, **options)
    return out.getvalue()


def frames_of(data):
    with Image.open(io.BytesIO(data)) as picture:
        return [frame.convert("RGBA") for frame in ImageSequence.Iterator(picture)]


def save_with_frames(name, data, frames=None):
    frames = frames or frames_of(data)
    save(f"coders/{name}", data)
    save(f"coders/{name}.pams", b"".join(pam(*frame.size, frame.tobytes()) for frame in frames))


def glass(width, height, seed):
    """Colours that show through, all there are of some alphas."""
    values = noise(seed)
    picture = Image.new("RGBA", (width, height))
    picture.putdata([(next(values), next(values), next(values), (x * 37) % 256) for x in range(width * height)])
    return picture


def without_hidden_colours(picture):
    """Of what is transparent there is no colour to compare."""
    empty = Image.new("RGBA", picture.size)
    return Image.composite(picture, empty, picture.getchannel("A").point(lambda alpha: 255 if alpha else 0))


# ---------------------------------------------------------------------------------------- WebP


def make_webp():
    save_with_frames("lossless.webp", encoded([without_hidden_colours(glass(23, 17, 5))], "WEBP", lossless=True))
    save_with_frames("photo.webp", encoded([photo(37, 29)], "WEBP", quality=70))
    pictures = []
    for step in range(4):
        picture = photo(24, 16).convert("RGBA")
        picture.paste((0, 0, 0, 0), (step * 5, 3, step * 5 + 8, 12))
        pictures.append(picture)
    data = encoded(pictures, "WEBP", lossless=True, duration=[40, 70, 100, 250], loop=3)
    save_with_frames("moving.webp", data)


# ----------------------------------------------------------------------------------------- GIF


def lzw(indices, bits):
    """As GIF packs them, but with a clear code so often that codes never grow: nothing becomes smaller."""
    codes = []
    for place, index in enumerate(indices):
        if place % (2**bits - 2) == 0:
            codes.append(2**bits)
        codes.append(index)
    codes.append(2**bits + 1)
    number = sum(code << (place * (bits + 1)) for place, code in enumerate(codes))
    return number.to_bytes((len(codes) * (bits + 1) + 7) // 8, "little")


def parts(data):
    return b"".join(bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255)) + b"\0"


BITS = 3
COLOURS = [(10, 20, 30), (250, 0, 0), (0, 240, 0), (0, 0, 230), (220, 220, 0), (0, 210, 210), (200, 0, 200), (9, 9, 9)]


def rows_in_order(height, interlaced):
    if not interlaced:
        return range(height)
    return [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, height, step)]


class Frame:
    def __init__(self, left, top, width, height, disposal=0, transparent=None, delay=5, local=None, interlaced=False):
        values = noise(left * 31 + top * 7 + width)
        self.box = (left, top, width, height)
        self.indices = [next(values) % 2**BITS for _ in range(width * height)]
        self.disposal, self.transparent, self.delay = disposal, transparent, delay
        self.local, self.interlaced = local, interlaced

    def block(self):
        flags = self.disposal << 2 | (self.transparent is not None)
        control = b"!\xf9\4" + struct.pack("<BHBB", flags, self.delay, self.transparent or 0, 0)
        width, height = self.box[2:]
        table = b"".join(map(bytes, self.local)) if self.local else b""
        flags = (0x80 | BITS - 1 if self.local else 0) | self.interlaced << 6
        rows = [self.indices[y * width : (y + 1) * width] for y in rows_in_order(height, self.interlaced)]
        return control + b"," + struct.pack("<HHHHB", *self.box, flags) + table + bytes([BITS]) + parts(
            lzw(sum(rows, []), BITS))


def gif(width, height, frames, loop=None):
    data = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80 | BITS - 1, 0, 0) + b"".join(map(bytes, COLOURS))
    if loop is not None:
        data += b"!\xff\x0bNETSCAPE2.0\3\1" + struct.pack("<H", loop) + b"\0"
    return data + b"".join(frame.block() for frame in frames) + b";"


def composed(width, height, frames):
    """Disposal to the background is to what is transparent."""
    canvas, made = Image.new("RGBA", (width, height)), []
    for frame in frames:
        before = canvas.copy()
        left, top, across, down = frame.box
        for place, index in enumerate(frame.indices):
            x, y = left + place % across, top + place // across
            if index != frame.transparent and x < width and y < height:
                canvas.putpixel((x, y), (frame.local or COLOURS)[index] + (255,))
        made.append(canvas.copy())
        if frame.disposal == 2:
            canvas.paste((0, 0, 0, 0), (left, top, left + across, top + down))
        elif frame.disposal == 3:
            canvas = before
    return made


def save_gif(name, width, height, frames, loop=None, like_pillows=None):
    """As many frames as `like_pillows` says, or all, are Pillow's."""
    data, made = gif(width, height, frames, loop), composed(width, height, frames)
    for ours, pillows in list(zip(made, frames_of(data), strict=True))[:like_pillows]:
        assert without_hidden_colours(pillows).tobytes() == ours.tobytes(), name
    save_with_frames(name, data, made)


def make_gif():
    save_gif("still.gif", 19, 13, [Frame(0, 0, 19, 13)])
    save_gif("interlaced.gif", 19, 21, [Frame(0, 0, 19, 21, interlaced=True)])
    local = [(255 - red, green // 2, blue) for red, green, blue in COLOURS]
    moving = [
        Frame(0, 0, 16, 12, 1, 7, delay=4),
        Frame(3, 2, 6, 5, 2, 6, delay=10, local=local),
        Frame(5, 4, 7, 6, 3, 5, delay=0, interlaced=True),
        Frame(2, 1, 9, 9, 0, 4, delay=100),
        Frame(1, 6, 5, 5, 3, 3),
        Frame(8, 0, 8, 12, 2, 2),
        Frame(0, 0, 3, 3, 1, 1),
    ]
    # Pillow forgets what a frame without disposal has drawn, if the one before was to be taken back. ImageMagick's
    # "convert -coalesce" composes all of them as here.
    save_gif("moving.gif", 16, 12, moving, loop=0, like_pillows=4)
    save_gif("twice.gif", 16, 12, moving[:2], loop=1)
    # Partly outside: Pillow makes its canvas larger, browsers cut.
    save_gif("outside.gif", 10, 8, [Frame(6, 5, 8, 8), Frame(20, 20, 4, 4)], like_pillows=0)


# ---------------------------------------------------------------------------------------- AVIF


def avifenc(picture, *options):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.png"), os.path.join(folder, "a.avif")
        picture.save(source)
        subprocess.run(["avifenc", "--lossless", "-s", "6", *options, source, target], check=True,
                       stdout=subprocess.DEVNULL)
        with open(target, "rb") as file:
            return file.read()


def make_avif():
    picture = without_hidden_colours(glass(23, 17, 9))
    data = avifenc(picture)
    assert frames_of(data)[0].tobytes() == picture.tobytes()
    save_with_frames("lossless.avif", data)
    for name, options in (("turned", ["--irot", "1"]), ("mirrored", ["--irot", "3", "--imir", "0"])):
        data = avifenc(photo(12, 8), *options)
        save_with_frames(f"{name}.avif", data)
        with Image.open(io.BytesIO(data)) as picture:
            upright = ImageOps.exif_transpose(picture).convert("RGBA")
        save(f"coders/{name}.avif.upright.pam", pam(*upright.size, upright.tobytes()))
    save_with_frames("photo.avif", encoded([photo(37, 29)], "AVIF", quality=80, subsampling="4:4:4"))
    pictures = [photo(24, 16).rotate(angle) for angle in (0, 90, 180)]
    save_with_frames("moving.avif", encoded(pictures, "AVIF", quality=90, subsampling="4:4:4", duration=[40, 80, 120]))


if __name__ == "__main__":
    make_webp()
    make_gif()
    make_avif()

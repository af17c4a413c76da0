"""Makes the pictures that are compared with a browser: pictures.py FOLDER.

pictures.json says of each its format, and the row of the table of colours that it belongs to, or "" for none.
"""

import io
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy
from PIL import Image

import minipng
from profiles import (
    SPACES, SRGB, faded, gamma, grey_profile, matrix_profile, parametric, printed, table, table_profile,
)  # fmt: skip

SIDE = 192
PICTURES: dict[str, dict[str, str]] = {}
FOLDER = Path()


def photo() -> Image.Image:
    """Colours from all over the cube: smooth ones, greys and noise."""
    y, x = numpy.mgrid[0:SIDE, 0:SIDE]
    made = numpy.stack([x * 255 // (SIDE - 1), y * 255 // (SIDE - 1), (x // 12 * 16 + y // 12 * 5) % 256], -1)
    noise = numpy.random.RandomState(1).randint(0, 256, (SIDE, SIDE, 3))
    made[SIDE // 2 :, SIDE // 2 :] = noise[SIDE // 2 :, SIDE // 2 :]
    made[:12] = (numpy.arange(SIDE) * 255 // (SIDE - 1))[None, :, None]
    return Image.fromarray(made.astype(numpy.uint8))


def glass(picture: Image.Image) -> Image.Image:
    made = picture.convert("RGBA")
    made.putalpha(Image.linear_gradient("L").resize(made.size))
    return made


def encoded(picture: Image.Image, kind: str, **options) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def write(name: str, data: bytes, colour: str = "", damage: str = "") -> None:
    (FOLDER / name).write_bytes(data)
    ending = name.rpartition(".")[2]
    kind = {"jpg": "JPEG", "png": "PNG", "apng": "APNG", "webp": "WebP"}.get(ending, ending.upper())
    PICTURES[name] = {"format": kind, "colour": colour, "damage": damage}


PROFILES = {
    "Display P3": matrix_profile("p3", SRGB, "Display P3"),
    "Adobe RGB (1998)": matrix_profile("adobe", gamma(563 / 256), "Adobe RGB (1998)", 2),
    "Rec. 2020": matrix_profile(
        "rec2020", parametric(3, 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081), "Rec. 2020"),
    "ProPhoto RGB": matrix_profile("prophoto", parametric(3, 1.8, 1, 0, 1 / 16, 1 / 32), "ProPhoto RGB"),
    "gamma 1.8": matrix_profile("srgb", gamma(1.8), "gamma 1.8", 2),
    "red and green exchanged": matrix_profile("swapped", SRGB, "swapped"),
    "a table of 1,024": matrix_profile("p3", table(lambda x: x**2.1 * 0.9 + x * 0.1), "table", 2),
    "sRGB by a profile": matrix_profile("srgb", SRGB, "sRGB"),
}  # fmt: skip


def with_chunks(chunks: list[tuple[bytes, bytes]], picture: Image.Image) -> bytes:
    data = encoded(picture, "PNG")
    return data[:33] + b"".join(minipng.chunk(name, content) for name, content in chunks) + data[33:]


def chrm(space: str) -> tuple[bytes, bytes]:
    points = (SPACES[space][3], *SPACES[space][:3])
    return b"cHRM", b"".join(struct.pack(">II", round(x * 1e5), round(y * 1e5)) for x, y in points)


def gama(exponent: float) -> tuple[bytes, bytes]:
    return b"gAMA", struct.pack(">I", round(1e5 / exponent))


def bitmap(picture: Image.Image, kind: int, profile: bytes = b"") -> bytes:
    """A BMP with a header of 124 bytes: the kind of its colours, endpoints of Display P3 with a gamma of 1.8, a profile."""
    pixels = numpy.asarray(picture)[::-1, :, ::-1].tobytes()
    points = [x for point in SPACES["p3"][:3] for x in (*point, 1 - sum(point))]
    header = struct.pack("<IiiHHIIiiII16xI", 124, *picture.size, 1, 24, 0, 0, 0, 0, 0, 0, kind)
    header += struct.pack("<9i3I", *(round(x * 2**30) for x in points), *[round(1.8 * 65536)] * 3)
    header += struct.pack("<4I", 4, 124 + len(pixels) if profile else 0, len(profile), 0)
    return b"BM" + struct.pack("<IHHI", 138 + len(pixels) + len(profile), 0, 0, 138) + header + pixels + profile


def colours() -> None:
    picture = photo()
    for number, (name, icc) in enumerate(PROFILES.items()):
        write(f"profile-{number}.jpg", encoded(picture, "JPEG", quality=95, subsampling=0, icc_profile=icc), name)
        write(f"profile-{number}.png", encoded(picture, "PNG", icc_profile=icc), name)
        write(f"profile-{number}.webp", encoded(picture, "WEBP", lossless=True, icc_profile=icc), name)
        write(f"profile-{number}.bmp", bitmap(picture, 0x4D424544, icc), name)
        write(f"profile-{number}.avif", encoded(picture, "AVIF", quality=100, subsampling="4:4:4", icc_profile=icc), name)
    p3 = PROFILES["Display P3"]
    write("scaled-later.png", encoded(glass(picture), "PNG", icc_profile=p3), "Display P3")
    grey = picture.convert("L")
    for number, curve in enumerate((gamma(2.2), table(lambda x: x**1.75), gamma(1))):
        icc = grey_profile(curve, "grey")
        write(f"grey-{number}.jpg", encoded(grey, "JPEG", quality=95, icc_profile=icc), "greys by a profile")
        write(f"grey-{number}.png", encoded(grey, "PNG", icc_profile=icc), "greys by a profile")
        write(f"grey-{number}.avif", encoded(grey, "AVIF", quality=100, subsampling="4:0:0", icc_profile=icc), "greys by a profile")
        colours = "colours with a profile of greys"
        write(f"grey-for-colours-{number}.jpg", encoded(picture, "JPEG", quality=95, icc_profile=icc), colours)
        write(f"grey-for-colours-{number}.png", encoded(picture, "PNG", icc_profile=icc), colours)
        write(f"grey-for-colours-{number}.webp", encoded(picture, "WEBP", lossless=True, icc_profile=icc), colours)
    write("points.bmp", bitmap(picture, 0), "endpoints in a BMP")
    for primaries, transfer in ((12, 13), (9, 13), (9, 14), (1, 1), (1, 13), (1, 8), (1, 4), (4, 4), (5, 5), (6, 6), (11, 17)):
        points = (b"cICP", bytes([primaries, transfer, 0, 1]))
        write(f"cicp-{primaries}-{transfer}.png", with_chunks([points], picture), "cICP")
    for transfer in (16, 18):
        write(f"cicp-9-{transfer}.png", with_chunks([(b"cICP", bytes([9, transfer, 0, 1]))], picture), "PQ and HLG")
    for exponent in (1, 1.8, 2.2, 2.6):
        write(f"gama-{exponent}.png", with_chunks([gama(exponent)], picture), "gAMA")
        write(f"gama-chrm-{exponent}.png", with_chunks([gama(exponent), chrm("p3")], picture), "gAMA and cHRM")
    write("chrm.png", with_chunks([chrm("p3")], picture), "cHRM alone")
    deep = minipng_16(picture)
    write("deep.png", deep[:33] + minipng.chunk(b"iCCP", b"x\0\0" + zlib.compress(p3)) + deep[33:], "16 bits, Display P3")
    film = table_profile(b"RGB ", 3, 17, faded, "faded film")
    write("film.jpg", encoded(picture, "JPEG", quality=95, subsampling=0, icc_profile=film), "a profile with tables")
    write("film.png", encoded(picture, "PNG", icc_profile=film), "a profile with tables")
    press = table_profile(b"CMYK", 4, 9, printed, "a press")
    inks = encoded(picture.convert("CMYK"), "JPEG", quality=95, icc_profile=press)
    write("press.jpg", inks, "inks by a profile")
    write("inks.jpg", encoded(picture.convert("CMYK"), "JPEG", quality=95), "inks without a profile")


def minipng_16(picture: Image.Image) -> bytes:
    samples = numpy.asarray(picture).astype(numpy.uint16) * 257
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in samples)
    return (minipng.SIGNATURE + minipng.header(SIDE, SIDE, 16, minipng.RGB) +
            minipng.chunk(b"IDAT", zlib.compress(rows)) + minipng.chunk(b"IEND", b""))  # fmt: skip


def formats() -> None:
    picture, clear = photo(), glass(photo())
    for subsampling in ("4:4:4", "4:2:2", "4:2:0"):
        for progressive in (False, True):
            name = f"plain-{subsampling.replace(':', '')}{'-progressive' if progressive else ''}.jpg"
            write(name, encoded(picture, "JPEG", quality=85, subsampling=subsampling, progressive=progressive))
    write("grey.jpg", encoded(picture.convert("L"), "JPEG"))
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        wide = picture.crop((0, 0, SIDE, SIDE // 2))
        write(f"turned-{orientation}.jpg", encoded(wide, "JPEG", quality=95, subsampling=0, exif=exif))
    modes = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
    for mode in modes:
        shown = clear if mode in ("LA", "RGBA") else picture
        converted = shown.convert("L").convert("I;16") if mode == "I;16" else shown.convert(mode)
        write(f"plain-{mode.replace(';', '')}.png", encoded(converted, "PNG"))
    frames = [Image.new("RGB", (SIDE, SIDE), colour) for colour in ("red", "lime", "blue")]
    write("frames.png", encoded(picture, "PNG", save_all=True, append_images=frames, duration=100))
    write("hidden-still.png", encoded(picture, "PNG", save_all=True, append_images=frames, default_image=True))
    write("one-frame-hidden-still.png", encoded(picture, "PNG", save_all=True, append_images=frames[:1], default_image=True))
    write("plain.gif", encoded(picture.convert("P", palette=Image.Palette.ADAPTIVE), "GIF"))
    write("frames.gif", encoded(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=100, loop=0))
    for name, options in {"lossy": {"quality": 80}, "lossless": {"lossless": True}}.items():
        write(f"plain-{name}.webp", encoded(picture, "WEBP", **options))
        write(f"clear-{name}.webp", encoded(clear, "WEBP", **options))
    write("frames.webp", encoded(picture, "WEBP", save_all=True, append_images=frames, duration=100))
    for subsampling in ("4:4:4", "4:2:2", "4:2:0", "4:0:0"):
        write(f"plain-{subsampling.replace(':', '')}.avif", encoded(picture, "AVIF", quality=80, subsampling=subsampling))
    write("clear.avif", encoded(clear, "AVIF", quality=90))
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        write(f"plain-{mode}.bmp", encoded((clear if mode == "RGBA" else picture).convert(mode), "BMP"))
    write("icon.ico", encoded(clear, "ICO", sizes=[(16, 16), (48, 48), (128, 128)]))
    write("icon-bmp.ico", encoded(clear, "ICO", sizes=[(32, 32)], bitmap_format="bmp"))


def damaged() -> None:
    picture = photo()
    jpeg = encoded(picture, "JPEG", quality=85)
    progressive = encoded(picture, "JPEG", quality=85, progressive=True)
    png = encoded(picture, "PNG")
    gif = encoded(picture.convert("P", palette=Image.Palette.ADAPTIVE), "GIF")
    webp = encoded(picture, "WEBP", quality=80)
    avif = encoded(picture, "AVIF", quality=80)
    files = {"a.jpg": jpeg, "b.jpg": progressive, "c.png": png, "d.gif": gif, "e.webp": webp, "f.avif": avif}
    for name, data in files.items():
        write(f"cut-{name}", data[: len(data) * 2 // 3], damage="cut")
        middle = len(data) // 2
        spoilt = data[:middle] + bytes(byte ^ 0x55 for byte in data[middle : middle + 8]) + data[middle + 8 :]
        write(f"spoilt-{name}", spoilt, damage="spoilt")


def main() -> None:
    global FOLDER
    FOLDER = Path(sys.argv[1])
    colours()
    formats()
    damaged()
    (FOLDER / "pictures.json").write_text(json.dumps(PICTURES, indent=1))


if __name__ == "__main__":
    main()

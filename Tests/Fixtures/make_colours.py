#!/usr/bin/env python3
"""Makes the pictures of colour/, each with what it is in sRGB: see README.md.

    python3 make_colours.py

NAME.pam beside each picture has its RGBA pixels in sRGB. They come from lcms2, by way of Pillow, which has read none
of this project's code: of a JPEG from the pixels that Pillow decodes, with the profile in the file, and of a PNG with
code points or gAMA from a profile that says the same.
"""

import io
import struct
import zlib
from pathlib import Path

from PIL import Image, ImageCms

import minipng
from make_fixtures import pam
from profiles import (
    SPACES, SRGB, faded, gamma, grey_profile, matrix_profile, parametric, printed, profile, table, table_profile, with_floats,
)  # fmt: skip

HERE = Path(__file__).parent / "colour"
SIDE = 24


def cube(side=SIDE):
    """Colours from all over the cube, greys in the first row."""
    rows = [[(x * 255 // (side - 1),) * 3 for x in range(side)]]
    for y in range(1, side):
        rows.append([(x * 255 // (side - 1), y * 255 // (side - 1), (x * 7 + y * 13) * 11 % 256) for x in range(side)])
    return rows


def picture(rows=None):
    rows = rows or cube()
    made = Image.new("RGB", (len(rows[0]), len(rows)))
    made.putdata([pixel for row in rows for pixel in row])
    return made


def in_srgb(decoded, icc, intent=ImageCms.Intent.RELATIVE_COLORIMETRIC):
    """Converts as lcms2 does without its shortcuts for 8 bits."""
    converted = ImageCms.profileToProfile(
        decoded, ImageCms.ImageCmsProfile(io.BytesIO(icc)), ImageCms.createProfile("sRGB"),
        renderingIntent=intent, outputMode="RGB", flags=ImageCms.Flags.NOOPTIMIZE,
    )  # fmt: skip
    return converted.convert("RGBA")


def write(name, data, expected):
    (HERE / name).write_bytes(data)
    width, height = expected.size
    (HERE / f"{name.rpartition('.')[0]}.pam").write_bytes(pam(width, height, expected.tobytes()))


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def png(chunks, image=None):
    """A PNG with chunks before its pixels."""
    image = image or picture()
    data = encoded(image, "PNG")
    header = data[:33]  # the signature and IHDR
    return header + b"".join(minipng.chunk(name, content) for name, content in chunks) + data[33:]


def iccp(icc):
    return b"iCCP", b"made here\0\0" + zlib.compress(icc)


def chrm(space):
    white, *primaries = SPACES[space][3], *SPACES[space][:3]
    return b"cHRM", b"".join(struct.pack(">II", round(x * 1e5), round(y * 1e5)) for x, y in (white, *primaries))


def gama(exponent):
    return b"gAMA", struct.pack(">I", round(1e5 / exponent))


REC2020 = parametric(3, 1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081)
PROFILES = {
    "display-p3": matrix_profile("p3", SRGB, "Display P3"),
    "adobe-rgb": matrix_profile("adobe", gamma(563 / 256), "Adobe RGB (1998)", 2),
    "rec2020": matrix_profile("rec2020", REC2020, "Rec. 2020"),
    "prophoto": matrix_profile("prophoto", parametric(3, 1.8, 1, 0, 1 / 16, 1 / 32), "ProPhoto RGB"),
    "gamma18": matrix_profile("srgb", gamma(1.8), "gamma 1.8", 2),
    "swapped": matrix_profile("swapped", SRGB, "red and green exchanged"),
    "table": matrix_profile("p3", table(lambda x: x**2.1 * 0.9 + x * 0.1), "a table of 1024", 2),
}


def main():
    HERE.mkdir(exist_ok=True)
    for name, icc in PROFILES.items():
        jpeg = encoded(picture(), "JPEG", quality=95, subsampling=0, icc_profile=icc)
        write(f"{name}.jpg", jpeg, in_srgb(Image.open(io.BytesIO(jpeg)).convert("RGB"), icc))
    deep = PROFILES["adobe-rgb"]
    write("adobe-rgb-png.png", png([iccp(deep)]), in_srgb(picture(), deep))
    # What has no conversion: sRGB in two ways, nothing at all.
    write("srgb.png", png([iccp(matrix_profile("srgb", SRGB, "sRGB"))]), picture().convert("RGBA"))
    write("srgb-chunk.png", png([(b"sRGB", b"\0"), gama(1)]), picture().convert("RGBA"))
    write("gama-22.png", png([gama(2.2)]), picture().convert("RGBA"))
    write("chrm-alone.png", png([chrm("p3")]), picture().convert("RGBA"))
    write("unstated.png", png([]), picture().convert("RGBA"))
    # Chunks of a PNG. The first that counts wins: cICP, iCCP, sRGB, gAMA.
    p3 = PROFILES["display-p3"]
    write("cicp-p3.png", png([(b"cICP", bytes([12, 13, 0, 1])), iccp(PROFILES["prophoto"])]), in_srgb(picture(), p3))
    bt709 = matrix_profile("rec2020", gamma(2.3984375), "")
    write("cicp-2020.png", png([(b"cICP", bytes([9, 14, 0, 1]))]), in_srgb(picture(), bt709))
    write("cicp-narrow.png", png([(b"cICP", bytes([9, 14, 0, 0]))]), picture().convert("RGBA"))
    write("cicp-pq.png", png([(b"cICP", bytes([9, 16, 0, 1]))]), picture().convert("RGBA"))
    linear = matrix_profile("srgb", gamma(1), "")
    write("gama-10.png", png([gama(1)]), in_srgb(picture(), linear))
    write("gama-chrm.png", png([gama(1.8), chrm("p3")]), in_srgb(picture(), matrix_profile("p3", gamma(1.80078125), "")))
    # Greys.
    grey = picture().convert("L")
    curve = grey_profile(table(lambda x: x**1.75), "dot gain 20%")
    jpeg = encoded(grey, "JPEG", quality=95, icc_profile=curve)
    decoded = Image.open(io.BytesIO(jpeg))
    write("grey.jpg", jpeg, in_srgb(decoded, curve))
    # Profiles that are not used: with tables and nothing else, of inks, of greys for colours.
    # libpng refuses a chunk that is too well compressed.
    tables = profile(b"RGB ", [(b"A2B0", b"mft2" + bytes(i * i * 37 % 251 for i in range(400)))], connection=b"Lab ")
    write("tables.png", png([iccp(tables)]), picture().convert("RGBA"))
    greys = encoded(picture(), "JPEG", quality=95, subsampling=0, icc_profile=curve)
    write("grey-for-colours.jpg", greys, Image.open(io.BytesIO(greys)).convert("RGBA"))
    # 16 bits a channel, dark ones among them.
    rows = [[(x * 2730 // 2 + y, y * 1500, (x * 7 + y * 13) * 251 % 8192) for x in range(SIDE)] for y in range(SIDE)]
    data = minipng.encode((SIDE, SIDE, rows), 16, minipng.RGB, before=minipng.chunk(*iccp(deep)))
    (HERE / "deep.png").write_bytes(data)
    # Profiles with tables, which libsdd-icc reads.
    film = table_profile(b"RGB ", 3, 9, faded, "faded film")
    write("film.png", png([iccp(film)]), in_srgb(picture(), film))
    # Floating-point numbers, which browsers do not read: some kilobytes, and minutes of work.
    write("film-floats.png", png([iccp(with_floats(film, 50_000))]), in_srgb(picture(), film))
    film_jpeg = encoded(picture(), "JPEG", quality=95, subsampling=0, icc_profile=film)
    write("film-jpeg.jpg", film_jpeg, in_srgb(Image.open(io.BytesIO(film_jpeg)).convert("RGB"), film))
    press = table_profile(b"CMYK", 4, 5, printed, "a press")
    inks = Image.merge("CMYK", [*picture().convert("CMYK").split()[:3], picture().convert("L").point(lambda x: 120 - x // 3)])
    inks_jpeg = encoded(inks, "JPEG", quality=95, icc_profile=press)
    write("inks.jpg", inks_jpeg, in_srgb(Image.open(io.BytesIO(inks_jpeg)), press))
    # What libpng refuses and a JPEG may have: bytes behind the profile's end, an intent that there is not.
    for name, odd in {"trailing": p3 + b"more", "intent": p3[:64] + b"\0\1\0\0" + p3[68:]}.items():
        jpeg = encoded(picture(), "JPEG", quality=95, subsampling=0, icc_profile=odd)
        write(f"{name}.jpg", jpeg, in_srgb(Image.open(io.BytesIO(jpeg)).convert("RGB"), p3))
    # A curve that is none: a power of 0.
    none = encoded(picture(), "JPEG", quality=95, subsampling=0, icc_profile=matrix_profile("p3", gamma(0), "none", 2))
    write("no-curve.jpg", none, Image.open(io.BytesIO(none)).convert("RGBA"))
    # Of two profiles the first one counts, though it is damaged.
    damaged = (b"iCCP", iccp(p3)[1][:-9])
    write("two-profiles.png", png([damaged, iccp(p3)]), picture().convert("RGBA"))
    # Transparency stays as it is.
    glass = picture().convert("RGBA")
    glass.putalpha(Image.linear_gradient("L").resize((SIDE, SIDE)))
    expected = in_srgb(glass.convert("RGB"), p3)
    expected.putalpha(glass.getchannel("A"))
    write("glass.png", png([iccp(p3)], glass), expected)


if __name__ == "__main__":
    main()

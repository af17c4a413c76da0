"""Tests what the coders hand over of colours: what the headers of BMPs say, and profiles of greys.

    colours.py KIND FOLDER FORMAT...

KIND is the program kind.c, FOLDER is for files. Fixtures/profiles.py makes the profiles."""
import pathlib
import struct
import subprocess
import sys

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Fixtures"))
from profiles import SRGB, gamma, grey_profile, inverse, matrix_profile, multiply, to_xyz  # noqa: E402

KIND, FOLDER, FORMATS = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
COLOUR = (200, 60, 120)
UNSTATED, IS_SRGB, MATRIX, GREY = 0, 1, 2, 3
P3, GREYS = matrix_profile("p3", SRGB, "Display P3"), grey_profile(gamma(1), "grey")
# Kinds of colours in the header of a BMP: bV4CSType.
EMBEDDED, LINKED, NAMED, WINDOWS, CALIBRATED = 0x4D424544, 0x4C494E4B, 0x73524742, 0x57696E20, 0
wanted = []  # files, and what is to be said of each


def light(value):
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def stored(value):
    value = min(max(value, 0), 1)
    return round(255 * (value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055))


def of_p3(colour):
    """A colour of Display P3, in sRGB."""
    linear = multiply(multiply(inverse(to_xyz("srgb")), to_xyz("p3")), [[light(value / 255)] for value in colour])
    return tuple(stored(value) for (value,) in linear)


def expect(name, kind, colour, tolerance=1):
    wanted.append((FOLDER / name, kind, colour, tolerance))


def write(name, data, kind, colour=COLOUR):
    (FOLDER / name).write_bytes(data)
    expect(name, kind, colour)


# ---- BMP

def bmp(kind, profile=b"", place=None, size=None, length=124, points=False, bits=24, in_front=False):
    """16 pixels of one colour. The profile lies at the end, or in front of the pixels."""
    blue_first = bytes(reversed(COLOUR))
    palette = blue_first + b"\0" if bits == 8 else b""
    pixels = bytes(16) if bits == 8 else 16 * blue_first
    header = struct.pack("<IiiHHIIiiII", length, 4, 4, 1, bits, 0, 0, 0, 0, len(palette) // 4, 0) + bytes(16)
    header += struct.pack("<I", kind)
    # The endpoints of Display P3 in 30 bits behind the point, and a gamma of 1.8 in 16.
    for x, y in ((0.68, 0.32), (0.265, 0.69), (0.15, 0.06)):
        header += struct.pack("<3i", *(round(value * 2**30) for value in (x, y, 1 - x - y))) if points else bytes(12)
    header += struct.pack("<3I", *[round(1.8 * 65536) if points else 0] * 3)
    parts = [palette, profile, pixels] if in_front else [palette, pixels, profile]
    found = length + len(palette) + (0 if in_front else len(pixels))
    header += struct.pack("<4I", 4, found if place is None else place, len(profile) if size is None else size, 0)
    begin = 14 + length + len(palette) + (len(profile) if in_front else 0)
    rest = b"".join(parts)
    return b"BM" + struct.pack("<IHHI", 14 + length + len(rest), 0, 0, begin) + header[:length] + rest


def make_bmp():
    converted = of_p3(COLOUR)
    write("embedded.bmp", bmp(EMBEDDED, P3), MATRIX, converted)
    write("in-front.bmp", bmp(EMBEDDED, P3, in_front=True), MATRIX, converted)
    write("palette.bmp", bmp(EMBEDDED, P3, bits=8), MATRIX, converted)
    write("longer.bmp", bmp(EMBEDDED, P3 + bytes(9)), MATRIX, converted)
    write("points-too.bmp", bmp(EMBEDDED, P3, points=True), MATRIX, converted)
    write("named.bmp", bmp(NAMED, points=True), IS_SRGB)
    write("windows.bmp", bmp(WINDOWS), IS_SRGB)
    write("named-v4.bmp", bmp(NAMED, length=108), IS_SRGB)
    nothing = {
        "calibrated": bmp(CALIBRATED, points=True), "calibrated-v4": bmp(CALIBRATED, length=108, points=True),
        "linked": bmp(LINKED, b"C:\\p3.icc\0"), "embedded-v4": bmp(EMBEDDED, P3, length=108),
        "unknown": bmp(0x12345678, P3), "no-size": bmp(EMBEDDED, P3, size=0), "no-place": bmp(EMBEDDED, P3, place=0),
        "behind": bmp(EMBEDDED, P3, size=len(P3) + 1), "far": bmp(EMBEDDED, P3, place=0xFFFFFFF0),
        "largest": bmp(EMBEDDED, P3, size=0xFFFFFFFF), "cut": bmp(EMBEDDED, P3)[:-1], "short": bmp(EMBEDDED, P3[:-1]),
        "none": bmp(EMBEDDED), "bytes": bmp(EMBEDDED, b"x" * 500), "one": bmp(EMBEDDED, b"x"),
        "greys": bmp(EMBEDDED, GREYS),
    }  # fmt: skip
    for name, data in nothing.items():
        write(f"{name}.bmp", data, UNSTATED)


# ---- profiles of greys: browsers ignore them for pictures of colours

def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_webp():
    Image.new("RGB", (16, 16), COLOUR).save(FOLDER / "greys.webp", lossless=True, icc_profile=GREYS)
    expect("greys.webp", UNSTATED, COLOUR)


def make_avif():
    profile, colours, greys = FOLDER / "grey.icc", FOLDER / "colours.png", FOLDER / "greys.png"
    profile.write_bytes(GREYS)
    Image.new("RGB", (16, 16), COLOUR).save(colours)
    Image.new("L", (16, 16), 100).save(greys)
    run("avifenc", "-s", "10", "--lossless", "--icc", profile, colours, FOLDER / "greys-for-colours.avif")
    run("avifenc", "-s", "10", "-y", "400", "--min", "0", "--max", "0", "--icc", profile, greys, FOLDER / "greys.avif")
    expect("greys-for-colours.avif", UNSTATED, COLOUR)
    expect("greys.avif", GREY, (stored(100 / 255),) * 3, 3)


def make_heif():
    for name, picture, kind, colour in (
        ("greys-for-colours", Image.new("RGB", (64, 64), COLOUR), UNSTATED, COLOUR),
        ("greys", Image.new("L", (64, 64), 100), GREY, (stored(100 / 255),) * 3),
    ):
        picture.save(FOLDER / f"{name}.jpg", quality=100, subsampling=0, icc_profile=GREYS)
        run("heif-enc", "-q", "100", "-p", "chroma=444", FOLDER / f"{name}.jpg", "-o", FOLDER / f"{name}.heic")
        expect(f"{name}.heic", kind, colour, 5)


for name, make in (("bmp", make_bmp), ("webp", make_webp), ("avif", make_avif), ("heif", make_heif)):
    if name in FORMATS:
        make()
said = subprocess.run([KIND, *(path for path, *_ in wanted)], capture_output=True, text=True, check=True).stdout
lines, failures = said.splitlines(), 0
for (path, kind, colour, tolerance), line in zip(wanted, lines, strict=True):
    words = line.split()
    numbers = [int(word) for word in words] if all(word.isdigit() for word in words) else []
    is_converted = kind in (MATRIX, GREY)
    if numbers[:2] == [kind, is_converted] and all(abs(a - b) <= tolerance for a, b in zip(numbers[2:], colour)):
        continue
    failures += 1
    print(f"{path.name}: {line}, not kind {kind} and {colour}", file=sys.stderr)
print(f"{len(wanted)} pictures")
sys.exit(failures > 0)

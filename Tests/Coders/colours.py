"""Tests what the coders hand over of colours: profiles of greys.

    colours.py KIND FOLDER FORMAT...

KIND is the program kind.c, FOLDER is for files. Fixtures/profiles.py makes the profiles."""
import pathlib
import subprocess
import sys

from PIL import Image

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Fixtures"))
from profiles import gamma, grey_profile  # noqa: E402

KIND, FOLDER, FORMATS = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
COLOUR = (200, 60, 120)
UNSTATED, GREY = 0, 3
GREYS = grey_profile(gamma(1), "grey")
wanted = []  # files, and what is to be said of each


def stored(value):
    return round(255 * (value * 12.92 if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055))


def expect(name, kind, colour, tolerance=1):
    wanted.append((FOLDER / name, kind, colour, tolerance))


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


for name, make in (("webp", make_webp), ("avif", make_avif), ("heif", make_heif)):
    if name in FORMATS:
        make()
said = subprocess.run([KIND, *(path for path, *_ in wanted)], capture_output=True, text=True, check=True).stdout
lines, failures = said.splitlines(), 0
for (path, kind, colour, tolerance), line in zip(wanted, lines, strict=True):
    words = line.split()
    numbers = [int(word) for word in words] if all(word.isdigit() for word in words) else []
    is_converted = kind == GREY
    if numbers[:2] == [kind, is_converted] and all(abs(a - b) <= tolerance for a, b in zip(numbers[2:], colour)):
        continue
    failures += 1
    print(f"{path.name}: {line}, not kind {kind} and {colour}", file=sys.stderr)
print(f"{len(wanted)} pictures")
sys.exit(failures > 0)

"""Tests other sizes of what the coders decode: larger ones, and smaller ones of what is partly transparent.

    sizes.py SHOW FOLDER PICTURES FORMAT...

SHOW is the program show.c, FOLDER is for files, PICTURES has those of make_pictures.sh."""
import pathlib
import subprocess
import sys

import numpy as np
from PIL import Image

SHOW, FOLDER, PICTURES, FORMATS = sys.argv[1], *map(pathlib.Path, sys.argv[2:4]), sys.argv[4:]
INSIDE, FILL, STRETCH = 1, 2, 3  # sdd_fit
done, failures = 0, []


def shown(path, *size):
    """The pixels, in a size with its fit and whether it is enlarged."""
    command = [SHOW, "call", path, *map(str, size)]
    made = subprocess.run(command, capture_output=True, check=True)
    if not made.stdout:
        failures.append(f"{path.name} {size}: {made.stderr.decode().strip()}")
        return None
    head, pixels = made.stdout.split(b"ENDHDR\n", 1)
    words = head.split()
    sides = [int(words[words.index(name) + 1]) for name in (b"HEIGHT", b"WIDTH")]
    return np.frombuffer(pixels, np.uint8).reshape(*sides, 4).astype(int)


def expect(condition, message):
    global done
    done += 1
    if not condition:
        failures.append(message)


def enlarged(name):
    """Twice as large, cut and enlarged, and wider but lower."""
    path = PICTURES / f"small.{name}"
    whole = shown(path, 0, 0, INSIDE, 0)
    if whole is None:
        return
    height, width = whole.shape[:2]
    for size in (2 * width, 2 * height, INSIDE, 1), (60, 60, FILL, 1), (2 * width, height // 2, STRETCH, 1):
        pixels = shown(path, *size)
        if pixels is None:
            continue
        expect(pixels.shape[:2] == (size[1], size[0]), f"{path.name} {size}: {pixels.shape}")
        away = np.abs(pixels.mean((0, 1)) - whole.mean((0, 1))).max()
        # Edges within pixels of a drawing are shown otherwise in each size.
        expect(size[2] == FILL or name == "svg" or away < 2, f"{path.name} {size}: colours that are {away} away")


def means(pixels, count):
    """The means of areas of so many pixels, colours weighted by alpha."""
    areas = pixels.reshape(pixels.shape[0] // count, count, pixels.shape[1] // count, count, 4)
    alpha = areas[..., 3:]
    weighted = (areas[..., :3] * alpha).sum((1, 3)) / np.maximum(alpha.sum((1, 3)), 1)
    return np.dstack([weighted, alpha.mean((1, 3))])


def stripes(name, **options):
    """Opaque blue between what was red and is transparent: it does not become redder in a smaller picture."""
    picture = np.zeros((96, 96, 4), np.uint8)
    picture[:, :, :] = (255, 0, 0, 0)
    picture[:, 5::9, :] = picture[4::7, :, :] = (0, 0, 255, 255)
    path = FOLDER / f"stripes-{name}"
    Image.fromarray(picture, "RGBA").save(path, exact=True, **options)
    whole = shown(path, 0, 0, INSIDE, 0)
    for count in (2, 3, 4, 6):
        pixels = shown(path, 96 // count, 96 // count, INSIDE, 0)
        if whole is not None and pixels is not None:
            expected = means(whole, count)
            away = np.abs(pixels - expected)[expected[..., 3] > 20].max()
            expect(away <= 1, f"{path.name}: {away} away at {96 // count} pixels")


for name in FORMATS:
    if (PICTURES / f"small.{name}").exists():
        enlarged(name)
if "webp" in FORMATS:
    stripes("lossy.webp", quality=95)
    stripes("lossless.webp", lossless=True)
print(f"{done} sizes")
print("\n".join(failures), file=sys.stderr)
sys.exit(bool(failures) or done == 0)

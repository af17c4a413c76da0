"""Checks animations that the library encodes, with Pillow and libwebp's tools as oracles.

    animations.py ANIMATE FOLDER FIXTURES FORMAT...

ANIMATE is Tests/Coders/animate.c, compiled. FOLDER has pictures, and receives files. The formats are png, gif, webp."""
import os
import re
import subprocess
import sys

import numpy as np
from PIL import Image, ImageSequence

animate, folder, fixtures, formats = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
NUMBERS = {"png": 2, "gif": 3, "webp": 4}


def path(name):
    return os.path.join(folder, name)


def run(format, name, *words, quality=100):
    target = path(f"{name}.{format}")
    subprocess.run([animate, str(NUMBERS[format]), str(quality), target, *map(str, words)], check=True)
    return target


def shown(file):
    """Frames as RGBA in which hidden colours are 0, and durations in milliseconds."""
    with Image.open(file) as picture:
        made, durations = [], []
        for frame in ImageSequence.Iterator(picture):
            durations.append(frame.info.get("duration", 0))
            pixels = np.array(frame.convert("RGBA"))
            pixels[pixels[:, :, 3] == 0] = 0
            made.append(pixels)
        return made, durations, picture.info.get("loop", 1)


def same(ours, wanted, what, most=0):
    assert len(ours) == len(wanted), f"{what}: {len(ours)} frames in place of {len(wanted)}"
    for number, (one, other) in enumerate(zip(ours, wanted)):
        assert one.shape == other.shape, f"{what}: frame {number} has another size"
        far = np.abs(one.astype(int) - other.astype(int)).max()
        assert far <= most, f"{what}: frame {number} differs by {far}"


def noisy(side, colours, seed, clear=False):
    """Pictures of so many colours, at most."""
    random = np.random.default_rng(seed)
    table = random.integers(0, 256, (colours, 4), dtype=np.uint8)
    table[:, 3] = 255
    if clear:
        table[0] = 0
    return table[random.integers(0, colours, (side, side + 3))]


def save(pictures, stem):
    names = []
    for number, pixels in enumerate(pictures):
        names.append(path(f"{stem}-{number}.png"))
        Image.fromarray(pixels).save(names[-1])
    return names


def loops_of(file, format, found):
    """How often the frames are shown, as the library counts."""
    if format == "webp":
        said = subprocess.run(["webpmux", "-info", file], check=True, capture_output=True, text=True).stdout
        return int(re.search(r"Loop Count : (\d+)", said)[1])
    if format == "gif":
        return found + 1 if b"NETSCAPE2.0" in open(file, "rb").read() and found > 0 else found
    return found


def durations_of(file, format, found):
    if format != "webp":
        return found
    said = subprocess.run(["webpmux", "-info", file], check=True, capture_output=True, text=True).stdout
    return [int(line.split()[6]) for line in said.splitlines() if re.match(r"\s*\d+:", line)]


checked = 0
for format in formats:
    # Few colours: pixels are exact, in each format.
    for colours, clear in ((2, False), (3, True), (16, False), (255, True), (256, False)):
        pictures = [noisy(37, colours, seed, clear) for seed in range(4)]
        names = save(pictures, "few")
        for loops in (0, 1, 2, 7):
            file = run(format, f"few-{colours}-{loops}", loops, 70, *names)
            ours, durations, found = shown(file)
            same(ours, pictures, file)
            assert durations_of(file, format, durations) == [70] * 4, f"{file}: {durations}"
            assert loops_of(file, format, found) == loops, f"{file}: {loops_of(file, format, found)} loops"
            checked += 1
    # Many colours: a GIF is near, the others are exact.
    pictures = []
    for seed in range(3):
        y, x = np.mgrid[0:90, 0:120]
        red, green, blue = x * 2 + seed * 5, y * 2, (x + y) + seed * 9
        pictures.append(np.dstack([red % 256, green % 256, blue % 256, np.full_like(x, 255)]).astype(np.uint8))
    file = run(format, "many", 0, 40, *save(pictures, "many"))
    ours, _, _ = shown(file)
    if format == "gif":
        assert len(ours) == 3
        for one, other in zip(ours, pictures):
            # Means of 4 x 4 pixels are what an eye sees of dithered ones.
            near = [array[:88, :120].astype(float).reshape(22, 4, 30, 4, 4).mean((1, 3)) for array in (one, other)]
            assert np.abs(near[0] - near[1]).mean() < 2, f"{file}: {np.abs(near[0] - near[1]).mean()}"
            assert np.abs(one.astype(int) - other).mean() < 6
    else:
        same(ours, pictures, file)
    checked += 1
    # Animations that are decoded, with frames that are made of those before.
    for source in ("coders/moving.gif", "frames/pillow.png", "frames/translucent.png"):
        if format == "gif" and source.endswith("translucent.png"):
            continue
        file = run(format, "again", os.path.join(fixtures, source))
        back = run("png", "back", file)
        first = run("png", "first", os.path.join(fixtures, source))
        if format == "webp":  # equal frames become one there
            assert shown(back)[0][0].tobytes() == shown(first)[0][0].tobytes(), file
        else:
            same(shown(back)[0], shown(first)[0], file)
        checked += 1
    # Lossy: smaller, and near.
    if format == "webp":
        lossy = run(format, "lossy", 0, 40, *[path(f"many-{number}.png") for number in range(3)], quality=50)
        assert os.path.getsize(lossy) < os.path.getsize(path("many.webp")) * 2
        ours, durations, _ = shown(lossy)
        same(ours[:1], pictures[:1], lossy, most=60)
        assert sum(durations_of(lossy, format, durations)) == 120, f"{lossy}: {durations}"  # near frames become one
        checked += 1
print(f"{checked} animations")

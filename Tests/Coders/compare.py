#!/usr/bin/env python3
"""Compares what the library decodes with what the format's own tool and Pillow decode.

    compare.py TO_PAM FOLDER

TO_PAM is examples/coders/to_pam, which decodes a file with the installed coders; FOLDER has the pictures. Prints a line
for each file: the tool, and the largest difference of a channel. The exit status is 1 if any differs where it must not.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageOps


# avifdec rounds 10 bits to 8 in another way.
TOLERATED = {"deep.avif": 2}
# cairo keeps colours multiplied by alpha, and both ways back are rounded.
TOLERATED |= {f"{name}.svg": 1 for name in ("large", "small-alpha")}
# Pillow leaves out the lower 8 of 16 bits, and widens 5 bits in another way.
TOLERATED |= {f"deep-{name}.ico": 1 for name in ("grey", "alpha", "colours")} | {"unused-bit.bmp": 1}


def read_pam(data):
    head, pixels = data.split(b"ENDHDR\n", 1)
    fields = dict(line.split(b" ", 1) for line in head.splitlines()[1:] if b" " in line)
    shape = int(fields[b"HEIGHT"]), int(fields[b"WIDTH"]), 4
    return np.frombuffer(pixels, np.uint8).reshape(shape)


def of_tool(path, folder):
    """Returns the pixels of the format's own decoder, or None if it is not installed."""
    made = pathlib.Path(folder) / "made.png"
    command = {
        ".webp": ["dwebp", "-quiet", path, "-o", made],
        ".avif": ["avifdec", "-j", "1", "-d", "8", path, made],
        ".jxl": ["djxl", "--quiet", "--num_threads=0", path, made],
        ".heif": ["heif-convert", path, made],
        ".svg": ["rsvg-convert", path, "-o", made],
    }.get(path.suffix)
    if command is None or shutil.which(command[0]) is None:
        return None
    made.unlink(missing_ok=True)
    run = subprocess.run([str(part) for part in command], capture_output=True)
    if run.returncode != 0 or not made.exists():
        return None
    with Image.open(made) as image:
        pixels = np.asarray(image.convert("RGBA"))
    # avifdec before 1.4 does not turn: first by a quarter to the left, then top and bottom are exchanged.
    is_lying = path.name == "turned.avif" and pixels.shape[1] > pixels.shape[0]
    return np.flipud(np.rot90(pixels)) if is_lying else pixels


def of_pillow(path):
    """Returns the pixels of Pillow, upright, or None if it does not know the format."""
    try:
        with Image.open(path) as image:
            return np.asarray(ImageOps.exif_transpose(image).convert("RGBA"))
    except OSError:
        return None


def main():
    to_pam, pictures = sys.argv[1], pathlib.Path(sys.argv[2])
    failures = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(pictures.iterdir()):
            if path.suffix not in (".webp", ".avif", ".gif", ".jxl", ".heif", ".bmp", ".ico", ".svg"):
                continue
            run = subprocess.run([to_pam, str(path)], capture_output=True)
            if run.returncode != 0:
                print(f"{path.name}: {run.stderr.decode()}")
                failures += 1
                continue
            made = read_pam(run.stdout)
            # The tools show a WebP's picture as it is stored, and an animation not at all.
            references = {"Pillow": of_pillow(path)}
            if path.stem not in ("turned", "moving", "turned-moving") or path.suffix not in (".webp",):
                references["tool"] = of_tool(path, folder)
            for name, reference in references.items():
                if reference is None:
                    continue
                compared += 1
                if reference.shape != made.shape:
                    print(f"{path.name}: {made.shape}, but {name} has {reference.shape}")
                    failures += 1
                    continue
                shown = (made[..., 3] > 0) | (reference[..., 3] > 0)
                difference = np.abs(made.astype(int) - reference)[shown].max(initial=0)
                print(f"{path.name}: {name}: {difference}")
                # libjxl computes with fractions, which another machine than the tool's may round otherwise.
                is_rounded = path.suffix == ".jxl" and "SDD_TEST_RUNNER" in os.environ
                if difference > TOLERATED.get(path.name, int(is_rounded)):
                    failures += 1
    print(f"{compared} comparisons, {failures} failures")
    return failures > 0 or compared == 0


sys.exit(main())

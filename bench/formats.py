#!/usr/bin/env python3
"""Compares the formats that libsdd and its installed coders decode with Pillow: pixels, and processor time.

    formats.py PROGRAM FOLDER REPORT

PROGRAM is formats.c; FOLDER gets the pictures; REPORT is the Markdown that is written, a part of docs/benchmarks.md. `make bench-formats` runs it with
Pillow and its plugins for HEIF and JPEG XL. Both decode the same files to RGBA8, in turns, so that a busy machine slows
both; each number is the median of several turns. Times are those of all threads of a process.
"""
import io
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import textwrap
import time

import numpy as np
import PIL
from PIL import Image, features

TURNS = 7
SMALL = 256
LINE = 120

INTRODUCTION = f"""## Formats

`make bench-formats` has measured this: a picture with detail at all scales, in each format, decoded to RGBA8 from memory
by `sdd_image_decode()` and by Pillow with its plugins; at full size, and scaled to {SMALL} pixels wide (Pillow:
`draft()` where it has an effect, then `resize()` with `BOX`). The two take turns, and each number is the median of
{TURNS} turns. Times are milliseconds of processor time, of all threads. *Pixels* compares the full size with Pillow's.
The coders use the system's libraries, Pillow those inside its packages, which are newer: a difference of pixels or time
may be theirs."""

NOTE = ("**Note:** Other programs ran on the machine during this run (load average before it: {load:.1f}). They slow both "
        "sides alike; judge by the ratios. A run on a quiet machine will replace this one.")  # fmt: skip

plugins = []
try:
    import pillow_heif

    pillow_heif.register_heif_opener()
    plugins.append(f"pillow-heif {pillow_heif.__version__} (libheif {pillow_heif.libheif_version()})")
except ImportError:
    pass
try:
    import pillow_jxl

    plugins.append("pillow-jxl-plugin")
except ImportError:
    pass


def photograph(width, height, seed):
    """Makes a picture with detail at all scales, as a photograph has."""
    random = np.random.default_rng(seed)
    pixels = np.zeros((height, width, 3))
    cell = 256
    while cell >= 2:
        noise = random.normal(0, 1, (height // cell + 2, width // cell + 2, 3)).astype(np.float32)
        layer = np.stack([np.asarray(Image.fromarray(noise[..., c]).resize((width, height), Image.BICUBIC))
                          for c in range(3)], axis=-1)  # fmt: skip
        pixels += layer * cell**0.7
        cell //= 2
    pixels = 128 + pixels * 40 / pixels.std()
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def make_pictures(folder):
    folder.mkdir(parents=True, exist_ok=True)
    photo = folder / "photo.png"
    if not photo.exists():
        photograph(1600, 1200, 1).save(photo)
    image = Image.open(photo)

    def run(*command):
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    made = {
        "photo.jpg": lambda to: image.save(to, quality=85),
        "photo.webp": lambda to: run("cwebp", "-q", 80, photo, "-o", to),
        "lossless.webp": lambda to: run("cwebp", "-lossless", photo, "-o", to),
        "photo.avif": lambda to: run("avifenc", "-s", 8, "--min", 20, "--max", 30, photo, to),
        "photo.jxl": lambda to: run("cjxl", "-d", 1, "-e", 4, photo, to),
        "photo.heif": lambda to: run("heif-enc", "-q", 60, photo, "-o", to),
        "photo.gif": lambda to: image.convert("P", palette=Image.Palette.ADAPTIVE).save(to),
    }
    for name, make in made.items():
        if not (folder / name).exists():
            make(folder / name)
    return [photo.name, *made]


def of_pillow(data, width):
    with Image.open(io.BytesIO(data)) as image:
        if width:
            image.draft("RGB", (width, width * image.height // image.width))
        image = image.convert("RGBA")
        if width:
            image = image.resize((width, round(image.height * width / image.width)), Image.BOX)
        return image


def time_pillow(data, count, width):
    of_pillow(data, width)
    began = time.process_time_ns()
    for _ in range(count):
        of_pillow(data, width)
    return (time.process_time_ns() - began) / 1000 / count


def time_sdd(program, path, count, width):
    run = subprocess.run([program, path, str(count), str(width)], check=True, capture_output=True, text=True)
    return float(run.stdout)


def difference(program, path, data):
    run = subprocess.run([program, path, "pixels"], check=True, capture_output=True)
    reference = np.asarray(of_pillow(data, 0))
    made = np.frombuffer(run.stdout, np.uint8)
    if made.size != reference.size:
        return "another size"
    apart = np.abs(made.reshape(reference.shape).astype(int) - reference)
    return "equal" if apart.max() == 0 else f"at most {apart.max()}, {apart.mean():.2f} on average"


def row(program, path):
    data = path.read_bytes()
    cells = [path.name, f"{len(data) // 1024:,}"]
    try:
        of_pillow(data, 0)
        is_known = True
    except OSError:
        is_known = False
    cells.append(difference(program, str(path), data) if is_known else "Pillow cannot decode it")
    for width in (0, SMALL):
        once = time_sdd(program, path, 1, width)
        count = max(1, int(300_000 / once))
        own, other = [], []
        for _ in range(TURNS):
            own.append(time_sdd(program, path, count, width))
            if is_known:
                other.append(time_pillow(data, count, width))
        mine = statistics.median(own)
        cells.append(f"{mine / 1000:.1f}")
        theirs = statistics.median(other) if other else None
        cells.append(f"{theirs / 1000:.1f}" if theirs else "-")
        cells.append(f"{mine / theirs:.2f}" if theirs else "-")
    return cells


def main():
    program, folder, report = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    load = os.getloadavg()[0]
    names = make_pictures(folder)
    lines = [INTRODUCTION, "", f"| file (1600 x 1200) | KiB | pixels | libsdd | Pillow | ratio | libsdd, {SMALL} wide | Pillow | ratio |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for name in names:
        lines.append("| " + " | ".join(row(program, folder / name)) + " |")
        print(lines[-1], flush=True)
    versions = [f"{name} {features.version(name)}" for name in ("webp", "avif") if features.check(name)]
    facts = (f"Measured on {platform.system()} {platform.release().split('-')[0]}; Pillow {PIL.__version__} "
             f"({', '.join(versions)}){''.join(', ' + plugin for plugin in plugins)}; load average before the run: "
             f"{load:.1f}.")  # fmt: skip
    lines += ["", *([textwrap.fill(NOTE.format(load=load), LINE), ""] if load > 1 else []), textwrap.fill(facts, LINE)]
    report.write_text("\n".join(lines) + "\n")


main()

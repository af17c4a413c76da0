#!/usr/bin/env python3
"""Makes the pictures of the benchmark from photographs, wallpapers and icons that Debian packages contain.

    corpus.py WORK [PART...]       makes the parts that are missing in WORK/corpus; all, if none is named

    small    2,000 JPEGs of 256 x 256, cut from photographs at several scales, of about 14 KB
    photo    500 JPEGs of 1 to 2 megapixels, a third of them progressive
    large    40 JPEGs of 12, 24 and 48 megapixels, a quarter of them progressive
    icon     1,000 PNGs of 1 to 10 KB, as the packages contain them
    png      100 PNGs of 0.5 to 1 megapixel, cut from photographs
    stream   one progressive JPEG of 3.8 megapixels and about 1 MB
    body     one file of 200 MiB that cannot be compressed

Each picture is made with random numbers of its own, whose seed is its part and number. The same packages and the same
Pillow therefore make the same files; WORK/corpus/PART.sha256 lists them, and tells that the part is complete. The
pictures have the licences of the packages that they come from.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import hashlib
import io
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from PIL import Image, ImageFile

PHOTO_PACKAGES = ("gnome-backgrounds", "lomiri-wallpapers-16.04", "lomiri-wallpapers-20.04", "mate-backgrounds",
                  "plasma-workspace-wallpapers", "ukui-wallpapers")
ICON_PACKAGES = ("gnome-icon-theme", "oxygen-icon-theme")
COUNTS = {"small": 2000, "photo": 500, "large": 40, "icon": 1000, "png": 100, "stream": 1, "body": 1}
LARGE_SIZES = ((4000, 3000), (6000, 4000), (4000, 3000), (8000, 6000), (6000, 4000))
PHOTO_SIZES = ((1280, 800), (1280, 960), (1440, 960), (1600, 1067), (1600, 1200))
BODY_MIB = 200
BIT_DEPTH = 24  # its place in a PNG

Image.MAX_IMAGE_PIXELS = None
# Pillow writes an optimised JPEG into one buffer of this size.
ImageFile.MAXBLOCK = 1 << 27


# ---- sources


def unpack(work: Path, package: str) -> Path:
    """Returns the folder with the files of a package, which is downloaded with apt-get if it is missing."""
    folder = work / "sources" / package
    if folder.is_dir():
        return folder
    downloads = work / "packages"
    downloads.mkdir(parents=True, exist_ok=True)
    if not list(downloads.glob(f"{package}_*.deb")):
        print(f"downloading {package}", flush=True)
        subprocess.run(["apt-get", "-qq", "download", package], cwd=downloads, check=True, stderr=subprocess.DEVNULL)
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-x", next(downloads.glob(f"{package}_*.deb")), unfinished], check=True)
    unfinished.rename(folder)
    return folder


def files_of(work: Path, packages: tuple[str, ...], suffixes: tuple[str, ...]) -> list[Path]:
    found: list[Path] = []
    for package in packages:
        for file in sorted(unpack(work, package).rglob("*")):
            if file.suffix.lower() in suffixes and file.is_file() and not file.is_symlink():
                found.append(file)
    return found


def is_photograph(file: Path) -> bool:
    """Tells photographs and paintings from flat drawings, which need fewer bytes a pixel."""
    with Image.open(file) as image:
        width, height = image.size
    texture = file.stat().st_size / (width * height)
    return width >= 1200 and height >= 800 and texture >= (0.7 if file.suffix.lower() == ".png" else 0.1)


# ---- pictures


def jpeg(image: Image.Image, quality: int, progressive: bool, chance: random.Random) -> bytes:
    """Encodes with halved colour, as most JPEGs have, or sometimes with full colour."""
    subsampling = 0 if chance.random() < 0.15 else 2
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality, progressive=progressive, optimize=progressive, subsampling=subsampling)
    return file.getvalue()


def cut(source: Image.Image, width: int, height: int, scale: float, chance: random.Random) -> Image.Image:
    """Cuts a part at random that is `width` x `height` after it has been scaled; 1 keeps the source's pixels."""
    scale = min(1.0, max(scale, width / source.width, height / source.height))
    part_width = min(source.width, round(width / scale))
    part_height = min(source.height, round(height / scale))
    x = chance.randint(0, source.width - part_width)
    y = chance.randint(0, source.height - part_height)
    box = (x, y, x + part_width, y + part_height)
    return source.resize((width, height), Image.Resampling.LANCZOS, box=box)


def make_small(source: Image.Image, chance: random.Random) -> bytes:
    """Cuts until there is enough to see for 8 KB, and then chooses a quality that leads to at most 20 KB."""
    data = b""
    for _ in range(8):
        part = cut(source, 256, 256, chance.uniform(0.2, 0.8), chance)
        progressive = chance.random() < 0.2
        for quality in (85, 92, 75, 65):
            data = jpeg(part, quality, progressive, chance)
            if 8_000 <= len(data) <= 20_000:
                return data
    return data


def make_photo(source: Image.Image, chance: random.Random) -> bytes:
    width, height = chance.choice(PHOTO_SIZES)
    if chance.random() < 0.3:
        width, height = height, width
    part = cut(source, width, height, chance.uniform(0.4, 1), chance)
    return jpeg(part, chance.choice((80, 85, 90)), chance.random() < 0.35, chance)


def mirrored(source: Image.Image, width: int, height: int) -> Image.Image:
    """Continues a picture beyond its borders by mirroring it. Enlarging it would make an unusually smooth JPEG."""
    whole = Image.new("RGB", (width, height))
    for row in range(-(-height // source.height)):
        for column in range(-(-width // source.width)):
            tile = source.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if column % 2 else source
            tile = tile.transpose(Image.Transpose.FLIP_TOP_BOTTOM) if row % 2 else tile
            whole.paste(tile, (column * source.width, row * source.height))
    return whole


def make_large(source: Image.Image, chance: random.Random, number: int) -> bytes:
    width, height = LARGE_SIZES[number % len(LARGE_SIZES)]
    return jpeg(mirrored(source, width, height), chance.choice((85, 90)), number % 4 == 3, chance)


def make_png(source: Image.Image, chance: random.Random) -> bytes:
    width, height = chance.choice(((800, 600), (1024, 768), (1280, 800)))
    file = io.BytesIO()
    cut(source, width, height, 1, chance).save(file, "PNG", compress_level=6)
    return file.getvalue()


def make_stream(source: Image.Image, chance: random.Random) -> bytes:
    """Chooses the quality that leads to the largest file of at most 1 MB."""
    part = cut(source, 2400, 1600, 1, chance)
    files = (jpeg(part, quality, True, random.Random(0)) for quality in range(96, 30, -3))
    return next(file for file in files if len(file) <= 1_000_000)


@dataclasses.dataclass(frozen=True)
class Source:
    """A photograph, and the pictures that are made from it: their part and number."""

    file: Path
    pictures: tuple[tuple[str, int], ...]


def make_pictures(source: Source) -> list[tuple[str, int, bytes]]:
    """Makes all pictures of a photograph, which is decoded once. Runs in a process of its own."""
    with Image.open(source.file) as image:
        photograph = image.convert("RGB")
    made = []
    for part, number in source.pictures:
        chance = random.Random(f"{part} {number}")
        if part == "large":
            data = make_large(photograph, chance, number)
        else:
            make: dict[str, Callable[[Image.Image, random.Random], bytes]] = {
                "small": make_small, "photo": make_photo, "png": make_png, "stream": make_stream}
            data = make[part](photograph, chance)
        made.append((part, number, data))
    return made


# ---- parts


def shared_out(work: Path, parts: list[str]) -> list[Source]:
    """Shares the pictures of the parts out among the photographs."""
    files = [file for file in files_of(work, PHOTO_PACKAGES, (".jpg", ".jpeg", ".png", ".webp")) if is_photograph(file)]
    if not files:
        sys.exit("corpus.py: the packages contain no photographs")
    with_sizes = []
    for file in files:
        with Image.open(file) as image:
            with_sizes.append((image.width * image.height, file))
    biggest = [file for size, file in sorted(with_sizes, reverse=True)][:16]
    pictures: dict[Path, list[tuple[str, int]]] = {file: [] for file in files}
    for part in parts:
        choice = biggest if part in ("large", "stream") else files
        for number in range(COUNTS[part]):
            pictures[choice[number % len(choice)]].append((part, number))
    return [Source(file, tuple(list_)) for file, list_ in pictures.items() if list_]


def cut_pictures(work: Path, parts: list[str]) -> Iterator[tuple[str, str, bytes]]:
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for made in pool.map(make_pictures, shared_out(work, parts)):
            for part, number, data in made:
                yield part, f"{number:04}.{'png' if part == 'png' else 'jpg'}", data


def icons(work: Path) -> Iterator[tuple[str, str, bytes]]:
    """Chooses icons with at most 8 bits a channel. Decoders round 16 bits to 8 in different ways."""
    different: dict[bytes, bytes] = {}
    for file in files_of(work, ICON_PACKAGES, (".png",)):
        data = file.read_bytes() if 1_000 <= file.stat().st_size <= 10_000 else b""
        if data and data[BIT_DEPTH] <= 8:
            different.setdefault(hashlib.sha256(data).digest(), data)
    chosen = random.Random("icon").sample(list(different.values()), COUNTS["icon"])
    for number, data in enumerate(chosen):
        yield "icon", f"{number:04}.png", data


def body() -> bytes:
    chance = random.Random("body")
    return b"".join(chance.randbytes(1 << 20) for _ in range(BODY_MIB))


def write(corpus: Path, parts: list[str], files: Iterator[tuple[str, str, bytes]]) -> None:
    """Writes the files of parts and, when they are complete, the list of each part."""
    lists: dict[str, list[str]] = {part: [] for part in parts}
    for part in parts:
        shutil.rmtree(corpus / part, ignore_errors=True)
        (corpus / part).mkdir(parents=True)
    for part, name, data in files:
        (corpus / part / name).write_bytes(data)
        lists[part].append(f"{hashlib.sha256(data).hexdigest()}  {part}/{name}\n")
    for part, lines in lists.items():
        if len(lines) != COUNTS[part]:
            sys.exit(f"corpus.py: {part} has {len(lines)} files, not {COUNTS[part]}")
        (corpus / f"{part}.sha256").write_text("".join(sorted(lines, key=lambda line: line[66:])))


def make_corpus(work: Path, wanted: list[str]) -> None:
    """Makes the parts that are missing."""
    corpus = work / "corpus"
    missing = [part for part in wanted if not (corpus / f"{part}.sha256").exists()]
    cuts = [part for part in missing if part not in ("icon", "body")]
    if missing:
        print("making the corpus:", ", ".join(missing), flush=True)
    if "body" in missing:
        write(corpus, ["body"], iter([("body", "0000.bin", body())]))
    if "icon" in missing:
        write(corpus, ["icon"], icons(work))
    if cuts:
        write(corpus, cuts, cut_pictures(work, cuts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("parts", nargs="*", metavar="part", choices=[[], *COUNTS])
    arguments = parser.parse_args()
    make_corpus(arguments.work, arguments.parts or list(COUNTS))


if __name__ == "__main__":
    main()

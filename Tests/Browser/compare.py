"""Compares what libsdd decodes with what Chromium has shown: compare.py FOLDER DOCUMENT.

Writes the tables between the marks of the document, and docs/pictures/colours.png. The status is 1 if a picture
differs by more than LIMITS and LEVELS say it may.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy
import sdd
from PIL import Image, ImageDraw

# Delta E 2000 of the pictures of a row: mean, 99 of 100 pixels, all pixels.
LIMITS = (0.1, 1.0, 1.8)
OWN_LIMITS = {
    # The browser takes a function that is near to a table.
    "a table of 1,024": (0.2, 1.0, 2.5),
    # Tables are interpolated in several ways.
    "a profile with tables": (0.7, 1.5, 3.0),
    "inks by a profile": (0.8, 3.0, 4.0),
    # The browser maps their light to that of the screen.
    "PQ and HLG": None,
}
LEVELS = 2  # of 255, of colours multiplied by alpha
# The browser's transparency is off by up to 20 levels; avifdec's is that of libsdd.
KNOWN = {"clear.avif"}


def decoded(name: str, data: bytes, **options) -> tuple[numpy.ndarray | None, sdd.Image | None]:
    try:
        image = sdd.Image.decode(data, colour="srgb", keep_orientation=name.endswith(".webp"), **options)
    except sdd.Error:
        return None, None
    return image.to_numpy(), image


def premultiplied(pixels: numpy.ndarray) -> numpy.ndarray:
    made = pixels.astype(float)
    made[..., :3] *= made[..., 3:] / 255
    return made


def levels(a: numpy.ndarray, b: numpy.ndarray) -> float:
    return float(numpy.abs(premultiplied(a) - premultiplied(b)).max())


# ---- Delta E 2000 (ISO/CIE 11664-6)


def lab(pixels: numpy.ndarray) -> numpy.ndarray:
    stored = pixels[..., :3].astype(float) / 255
    light = numpy.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    matrix = numpy.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                          [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip
    xyz = light @ matrix.T / numpy.array([0.95047, 1, 1.08883])
    f = numpy.where(xyz > 216 / 24389, numpy.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return numpy.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def delta_e(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    (l1, a1, b1), (l2, a2, b2) = (numpy.moveaxis(lab(x), -1, 0) for x in (a, b))
    chroma = (numpy.hypot(a1, b1) + numpy.hypot(a2, b2)) / 2
    g = 0.5 * (1 - numpy.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = numpy.hypot(a1, b1), numpy.hypot(a2, b2)
    h1, h2 = numpy.degrees(numpy.arctan2(b1, a1)) % 360, numpy.degrees(numpy.arctan2(b2, a2)) % 360
    is_grey = c1 * c2 == 0
    turn = numpy.where(is_grey, 0, (h2 - h1 + 180) % 360 - 180)
    dl, dc, dh = l2 - l1, c2 - c1, 2 * numpy.sqrt(c1 * c2) * numpy.sin(numpy.radians(turn) / 2)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    hue = numpy.where(is_grey, h1 + h2, (h1 + turn / 2) % 360)
    cosine = lambda factor, shift: numpy.cos(numpy.radians(factor * hue + shift))  # noqa: E731
    t = 1 - 0.17 * cosine(1, -30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, 6) - 0.2 * cosine(4, -63)
    sl = 1 + 0.015 * (lightness - 50) ** 2 / numpy.sqrt(20 + (lightness - 50) ** 2)
    sc, sh = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    rotation = -2 * numpy.sqrt(chroma**7 / (chroma**7 + 25.0**7)) * numpy.sin(
        numpy.radians(60 * numpy.exp(-(((hue - 275) / 25) ** 2))))  # fmt: skip
    x, y, z = dl / sl, dc / sc, dh / sh
    return numpy.sqrt(numpy.maximum(x * x + y * y + z * z + rotation * y * z, 0))


# ---- tables


class Comparison:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures = json.loads((folder / "pictures.json").read_text())
        record = json.loads((folder / "shown.json").read_text())
        self.browser, self.shown = record["version"], record["pictures"]
        self.faults: list[str] = []

    def browsers(self, name: str) -> numpy.ndarray | None:
        size = self.shown[name]
        if "error" in size:
            return None
        pixels = numpy.fromfile(self.folder / f"{name}.shown", numpy.uint8)
        return pixels.reshape(int(size["height"]), int(size["width"]), 4)

    def pair(self, name: str, **options):
        own, image = decoded(name, (self.folder / name).read_bytes(), **options)
        return own, self.browsers(name), image

    def formats(self) -> list[str]:
        rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for name, picture in self.pictures.items():
            if picture["colour"] or picture["damage"]:
                continue
            own, browsers, _ = self.pair(name)
            row = rows[picture["format"]]
            row[0] += 1
            row[1] += browsers is not None
            row[2] += own is not None
            if own is None or browsers is None:
                if browsers is not None:
                    self.faults.append(f"{name} is not decoded")
            elif own.shape != browsers.shape or levels(own, browsers) > LEVELS:
                how = levels(own, browsers) if own.shape == browsers.shape else f"{own.shape} and {browsers.shape}"
                if name not in KNOWN:
                    self.faults.append(f"{name} differs: {how}")
            else:
                row[3] += 1
        table = [f"| format | pictures | Chromium shows | libsdd decodes | equal within {LEVELS} levels |"]
        table += ["| --- | ---: | ---: | ---: | ---: |"]
        return table + [f"| {kind} | {' | '.join(map(str, row))} |" for kind, row in sorted(rows.items())]

    def colours(self) -> list[str]:
        errors: dict[str, list[numpy.ndarray]] = defaultdict(list)
        kinds: dict[str, set[str]] = defaultdict(set)
        converted: dict[str, set[bool]] = defaultdict(set)
        for name, picture in self.pictures.items():
            group = picture["colour"]
            if not group:
                continue
            own, browsers, image = self.pair(name)
            if own is None or browsers is None or own.shape != browsers.shape:
                self.faults.append(f"{name} cannot be compared")
                continue
            opaque = own[..., 3] > 250
            errors[group].append(delta_e(own[opaque], browsers[opaque]))
            kinds[group].add(image.colour.kind.name.lower().replace("_", " "))
            converted[group].add(image.colour.is_converted)
        table = ["| colours | pictures | told as | converted | mean | 99 % | largest |"]
        table += ["| --- | ---: | --- | --- | ---: | ---: | ---: |"]
        for group, found in errors.items():
            every = numpy.concatenate(found)
            figures = (every.mean(), numpy.percentile(every, 99), every.max())
            limits = OWN_LIMITS.get(group, LIMITS)
            if limits and any(figure > limit for figure, limit in zip(figures, limits)):
                self.faults.append(f"{group} differs: {[round(float(x), 2) for x in figures]}, at most {limits}")
            is_converted = " and ".join("yes" if x else "no" for x in sorted(converted[group], reverse=True))
            told = ", ".join(sorted(kinds[group]))
            numbers = " | ".join(f"{figure:.2f}" for figure in figures)
            table.append(f"| {group} | {len(found)} | {told} | {is_converted} | {numbers} |")
        return table

    def damage(self) -> list[str]:
        table = ["| picture | Chromium shows | libsdd, strict | libsdd, `SDD_DAMAGE_KEEP_REST` | rows equal |"]
        table += ["| --- | --- | --- | --- | ---: |"]
        for name, picture in self.pictures.items():
            if not picture["damage"]:
                continue
            strict, browsers, _ = self.pair(name)
            own, _, image = self.pair(name, lenient=True)
            equal = "-"
            if own is not None and browsers is not None and browsers.any() and own.shape == browsers.shape:
                difference = numpy.abs(premultiplied(own) - premultiplied(browsers)).max((1, 2)) <= LEVELS
                equal = f"{int(difference.sum())} of {len(difference)}"
            kept = "an error" if own is None else f"{image.good_rows} rows are good" if image.is_partial else "all of it"
            shown = "an error" if browsers is None else "a picture" if browsers.any() else "nothing"
            refused = "an error" if strict is None else "a picture"
            table.append(f"| {picture['format']}, {picture['damage']} (`{name}`) | {shown} | {refused} | {kept} | {equal} |")
        return table

    def sheet(self, path: Path) -> None:
        """Pictures side by side: as stored, as libsdd converts them, as the browser shows them."""
        names = [name for name in self.pictures if re.fullmatch(r"profile-[0-6]\.jpg|gama-1\.png|cicp-9-14\.png", name)]
        side, gap, head = 96, 8, 20
        sheet = Image.new("RGB", (3 * (side + gap) + gap + 150, len(names) * (side + gap) + gap + head), "white")
        draw = ImageDraw.Draw(sheet)
        for column, title in enumerate(("as stored", "libsdd", "Chromium")):
            draw.text((gap + column * (side + gap), 4), title, "black")
        for row, name in enumerate(names):
            stored = sdd.Image.decode((self.folder / name).read_bytes(), colour="stored").to_numpy()
            own, browsers, _ = self.pair(name)
            top = head + gap + row * (side + gap)
            for column, pixels in enumerate((stored, own, browsers)):
                tile = Image.fromarray(numpy.ascontiguousarray(pixels[..., :3])).resize((side, side))
                sheet.paste(tile, (gap + column * (side + gap), top))
            draw.text((3 * (side + gap) + gap, top + 4), self.pictures[name]["colour"], "black")
        sheet.quantize(255).save(path, optimize=True)


def main() -> None:
    folder, document = Path(sys.argv[1]), Path(sys.argv[2])
    comparison = Comparison(folder)
    text = document.read_text()
    tables = {"formats": comparison.formats(), "colours": comparison.colours(), "damage": comparison.damage()}
    tables["versions"] = [f"Chromium {comparison.browser}, {len(comparison.pictures)} pictures."]
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: by make test-browser -->\n", f"<!-- end of {name} -->"
        before, middle, rest = text.partition(begin)
        if not middle or end not in rest:
            sys.exit(f"compare.py: {document} has no marks for {name}")
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]
        print("\n".join(lines) + "\n")
    document.write_text(text)
    comparison.sheet(document.parent / "pictures" / "colours.png")
    for fault in comparison.faults:
        print(f"compare.py: {fault}", file=sys.stderr)
    sys.exit(bool(comparison.faults))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes the pictures of the guides with libsdd itself: docs/pictures/previews.jpg and docs/pictures/fits.jpg.

    docs/site/pictures.py         after `make`; needs cffi, NumPy and Pillow

A landscape is drawn with NumPy, since a photograph of somebody would need a licence. A server of this script sends a
part of it, and holds the rest; what libsdd then shows as its last preview is what the picture has. Run it again when
that changes.
"""

from __future__ import annotations

import asyncio
import io
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("SDD_LIBRARY", str(ROOT / "build" / "libsdd.so"))
sys.path.insert(0, str(ROOT / "bindings" / "python" / "src"))
import sdd  # noqa: E402

FOLDER = ROOT / "docs" / "pictures"
SHARES = (20, 40, 70, 100)  # percent of the bytes
TILE = (270, 180)
PAPER, INK = (246, 247, 248), (70, 76, 84)
QUIET = 0.7  # seconds without a further preview, after which the last one counts


def ridge(width: int, seed: int, roughness: float) -> np.ndarray:
    """The outline of a mountain range, between -1 and 1: sums of noise at several scales."""
    random = np.random.default_rng(seed)
    line, height = np.zeros(width), 1.0
    for octave in range(2, 9):
        points = random.uniform(-1, 1, 2**octave + 1)
        line += height * np.interp(np.linspace(0, 2**octave, width), np.arange(2**octave + 1), points)
        height *= roughness
    return line / np.abs(line).max()


def landscape(width: int = 1500, height: int = 1000) -> Image.Image:
    """Mountains in the haze, with the sun above a lake."""
    x, y = np.meshgrid(np.linspace(0, 1, width), np.linspace(0, 1, height))
    top, low = np.array([62, 96, 150]), np.array([252, 203, 152])
    blend = np.clip(y / 0.55, 0, 1)[..., None] ** 0.8
    pixels = top * (1 - blend) + low * blend
    distance = np.hypot((x - 0.68) * 1.5, y - 0.36)
    pixels += np.exp(-((distance / 0.16) ** 2))[..., None] * [70, 55, 25] + (distance < 0.045)[..., None] * [60, 50, 40]
    shore = int(height * 0.70)
    for layer in range(4):
        base = 0.44 + 0.075 * layer
        outline = (base + ridge(width, 11 + layer, 0.52) * (0.12 - 0.018 * layer)) * height
        depth = np.clip((y * height - outline) / (0.16 * height), 0, 1)[..., None]
        near = np.array([[120, 128, 158], [84, 100, 126], [52, 78, 92], [28, 52, 54]][layer])
        haze = np.array([226, 190, 164]) * (1 - layer / 5) + near * (layer / 5)
        texture = np.random.default_rng(50 + layer).normal(0, 5, (height, width))[..., None]
        inside = (y * height >= outline)[..., None]
        pixels = np.where(inside, near * (1 - depth * 0.5) + haze * depth * 0.5 + texture, pixels)
    # The lake mirrors what is above the shore, darker and in waves.
    rows = np.arange(shore, height)
    waves = (np.sin(rows[:, None] * 0.9 + x[shore:] * 60) * (rows[:, None] - shore) / 26).astype(int)
    source = np.clip(2 * shore - rows[:, None] + waves, 0, shore - 1)
    pixels[shore:] = pixels[source, np.arange(width)[None, :]] * 0.72 + np.array([10, 22, 34])
    # Firs on the near shore.
    random = np.random.default_rng(5)
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(170):
        at = int(random.beta(0.45, 0.5) * width)
        foot = height * 0.985 + random.uniform(0, 0.03) * height
        tall = random.uniform(0.10, 0.30) * height * (0.35 + abs(at / width - 0.5) * 1.5)
        shade = int(random.uniform(14, 34))
        for part in range(5):
            wide = tall * 0.17 * (0.35 + 0.16 * part)
            peak = foot - tall + tall * 0.17 * part
            draw.polygon(
                [(at, peak), (at - wide, peak + tall * 0.3), (at + wide, peak + tall * 0.3)],
                fill=(shade, shade + 16, shade + 12),
            )
    return image


# ---- a server that sends a part


class Handler(BaseHTTPRequestHandler):
    bodies: dict[str, bytes] = {}
    end = threading.Event()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:  # /NAME/PERCENT
        _, name, percent = self.path.split("/")
        body = self.bodies[name]
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) * int(percent) // 100])
        self.wfile.flush()
        if int(percent) < 100:
            self.end.wait()


async def last_preview(loader: sdd.Loader, url: str) -> sdd.Image:
    """Returns what a request shows when no more of the picture arrives."""
    shown = None
    images = loader.previews(url, size=TILE).__aiter__()
    coming = asyncio.ensure_future(images.__anext__())
    try:
        while True:
            done, _ = await asyncio.wait({coming}, timeout=QUIET if shown else 30)
            if not done:
                break
            shown = coming.result()
            coming = asyncio.ensure_future(images.__anext__())
    except StopAsyncIteration:
        pass
    coming.cancel()
    if shown is None:
        raise SystemExit(f"{url}: no preview")
    return shown


# ---- the sheets


def font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    try:
        return ImageFont.truetype("DejaVuSans.ttf", size)
    except OSError:
        return ImageFont.load_default()


def previews_sheet(base: str) -> Image.Image:
    gap, side, head = 12, 120, 34
    sheet = Image.new("RGB", (side + len(SHARES) * (TILE[0] + gap) + gap, head + 2 * (TILE[1] + gap) + gap), PAPER)
    draw = ImageDraw.Draw(sheet)
    for column, percent in enumerate(SHARES):
        draw.text((side + gap + column * (TILE[0] + gap), 9), f"{percent} % of the bytes", INK, font(16))

    async def fill() -> None:
        async with sdd.Loader(no_cache=True, min_preview_interval=0.001) as loader:
            for row, name in enumerate(("progressive", "baseline")):
                y = head + row * (TILE[1] + gap)
                draw.text((gap, y + TILE[1] // 2 - 10), name, INK, font(16))
                for column, percent in enumerate(SHARES):
                    image = await last_preview(loader, f"{base}/{name}/{percent}")
                    picture = image.to_pil().convert("RGB")
                    rows = image.good_rows if image.is_preview else picture.height
                    if rows < picture.height:  # nothing has arrived below
                        ImageDraw.Draw(picture).rectangle((0, rows, picture.width, picture.height), (214, 218, 222))
                    sheet.paste(picture, (side + gap + column * (TILE[0] + gap), y))

    asyncio.run(fill())
    return sheet


def fits_sheet(base: str) -> Image.Image:
    gap, head, target, wide = 26, 56, 240, 360
    second = gap + wide + gap
    places = {"inside": (second, head), "fill": (gap, 2 * head + target), "stretch": (second, 2 * head + target)}
    sheet = Image.new("RGB", (second + target + gap, 2 * (head + target) + gap), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((gap, 8), "the picture", INK, font(17))
    draw.text((gap, 31), "3 to 2", INK, font(14))
    with sdd.Loader(no_cache=True) as loader:
        url = f"{base}/large/100"
        sheet.paste(loader.load_sync(url, size=(wide, target)).to_pil().convert("RGB"), (gap, head))
        for fit, (x, y) in places.items():
            picture = loader.load_sync(url, size=(target, target), fit=fit).to_pil().convert("RGB")
            draw.text((x, y - 48), f"SDD_FIT_{fit.upper()}", INK, font(17))
            draw.text((x, y - 25), f"{picture.width} × {picture.height}, target {target} × {target}", INK, font(14))
            draw.rectangle((x, y, x + target - 1, y + target - 1), (228, 231, 234))
            sheet.paste(picture, (x, y + (target - picture.height) // 2))
            draw.rectangle((x - 2, y - 2, x + target + 1, y + target + 1), outline=(178, 60, 60), width=2)
    return sheet


def main() -> None:
    large = landscape()
    small = large.resize(
        (2 * TILE[0], 2 * TILE[1]), Image.LANCZOS
    )  # so that the first scans look as blurred as they are
    for name, progressive in (("progressive", True), ("baseline", False), ("large", False)):
        body = io.BytesIO()
        (large if name == "large" else small).save(body, "JPEG", quality=85, progressive=progressive)
        Handler.bodies[name] = body.getvalue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    FOLDER.mkdir(exist_ok=True)
    previews_sheet(base).save(FOLDER / "previews.jpg", quality=82, optimize=True)
    fits_sheet(base).save(FOLDER / "fits.jpg", quality=82, optimize=True)
    Handler.end.set()
    server.shutdown()
    for path in sorted(FOLDER.glob("*.jpg")):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Loads pictures through the cache and puts them on one sheet, with Pillow. The pixels are not copied on the way.

contact_sheet.py SHEET URL...
"""

from __future__ import annotations

import asyncio
import sys

import sdd
from PIL import Image

CELL, COLUMNS = 160, 6


async def main(path: str, urls: list[str]) -> int:
    rows = (len(urls) + COLUMNS - 1) // COLUMNS
    sheet = Image.new("RGB", (min(len(urls), COLUMNS) * CELL, rows * CELL), "grey")
    failed = 0
    async with sdd.Loader() as loader, loader.load_many(urls, size=(CELL, CELL)) as items:
        async for item in items:
            if item.image is None:
                failed += 1
                print(f"{item.url}: {item.error}")
                continue
            picture = item.image.to_pil()
            sheet.paste(picture, (item.index % COLUMNS * CELL, item.index // COLUMNS * CELL), picture)
    sheet.save(path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1], sys.argv[2:])))

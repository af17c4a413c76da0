#!/usr/bin/env python3
"""Downloads URLs into a folder, with a bar for each (tqdm, if it is installed, else a line).

tqdm_progress.py FOLDER URL...
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import sdd


def make_bar(name: str) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(desc=name, unit="B", unit_scale=True)


class Bar:
    """The progress of one download. It is called on the thread of the event loop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bar = make_bar(name)

    def __call__(self, received: int, expected: int | None) -> None:
        if self.bar is not None:
            self.bar.total = expected
            self.bar.update(received - self.bar.n)

    def close(self, what: str) -> None:
        if self.bar is not None:
            self.bar.close()
        print(f"{self.name}: {what}")


async def download(downloader: sdd.Downloader, url: str, folder: Path) -> bool:
    name = Path(urlsplit(url).path).name or "index"
    bar = Bar(name)
    try:
        result = await downloader.fetch_bytes(url, progress=bar)
    except sdd.Error as error:
        bar.close(str(error))
        return False
    data = result.data or b""
    (folder / name).write_bytes(data)
    bar.close(f"{len(data)} bytes")
    return True


async def main(folder: Path, urls: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    async with sdd.Downloader(min_progress_interval=0.05) as downloader:
        worked = await asyncio.gather(*(download(downloader, url, folder) for url in urls))
    return 0 if all(worked) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]), sys.argv[2:])))

#!/usr/bin/env python3
"""Loads pictures again and again in all ways, and checks that memory, descriptors and threads stay flat.

    soak.py [--loads N] [--origin URL]      URL is where small-0.jpg to small-19.jpg are, e.g. of nginx

By hand with 200,000 loads; the suite runs 2,000. Without --origin it starts server.py. It prints a line for each
tenth, and ends with status 1 if the second half of the run has grown by more than the limits below.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from conftest import Server, gradient  # noqa: E402

import sdd  # noqa: E402

MEMORY_LIMIT = 8 << 20
TENTHS = 10


class Size(NamedTuple):
    memory: int
    descriptors: int
    threads: int
    images: int
    objects: int


def measure() -> Size:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    tasks = len(os.listdir("/proc/self/task"))
    return Size(pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd")), tasks,
                sdd.process_statistics()["images"], len(gc.get_objects()))  # fmt: skip


class Soak:
    def __init__(self, origin: str, cache: str) -> None:
        self._origin = origin
        # A memory level that is full soon, and pictures of few sizes.
        self._cache = sdd.Cache(directory=cache, max_memory_cost=1 << 20, max_disk_bytes=8 << 20)
        self.done = 0
        self.cancelled = 0

    def url(self, number: int) -> str:
        return f"{self._origin}/small-{number % 20}.jpg"

    async def awaited(self, count: int) -> None:
        async with sdd.Loader(cache=self._cache) as loader:
            numbers = iter(range(count))

            async def work() -> None:
                for number in numbers:
                    options: sdd.LoadOptions = {"size": (8 + number % 7, 0), "from_loader_only": number % 3 == 0}
                    task = asyncio.ensure_future(loader.load(self.url(number), **options))
                    if number % 10 == 0:
                        await asyncio.sleep(0)
                        task.cancel()
                    try:
                        assert (await task).width == 8 + number % 7
                    except asyncio.CancelledError:
                        self.cancelled += 1
                    self.done += 1

            await asyncio.gather(*(work() for _ in range(32)))

    async def taken(self, count: int) -> None:
        async with sdd.Downloader() as downloader:
            urls = (self.url(number) for number in range(count))
            async for item in downloader.fetch_many(urls, size=(20, 20)):
                assert item.result().to_numpy().any()
                self.done += 1

    def waited(self, count: int) -> None:
        with sdd.Loader(cache=self._cache, max_concurrent_per_host=4) as loader:

            def work(numbers: range) -> None:
                for number in numbers:
                    loader.load_sync(self.url(number), pixel_format="grey8").memoryview()
                    self.done += 1

            threads = [threading.Thread(target=work, args=(range(first, count, 4),)) for first in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def rows(self, count: int) -> None:
        out = np.zeros((100, 16, 16, 3), np.uint8)
        with sdd.Downloader() as downloader:
            for first in range(0, count, 100):
                urls = [self.url(number) for number in range(first, min(first + 100, count))]
                assert all(row.ok for row in sdd.batch(urls, out=out, downloader=downloader).wait())
                self.done += len(urls)

    def turn(self, count: int) -> None:
        quarter = max(count // 4, 1)
        asyncio.run(self.awaited(quarter))
        asyncio.run(self.taken(quarter))
        self.waited(quarter)
        self.rows(quarter)

    def close(self) -> None:
        self._cache.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loads", type=int, default=200_000)
    parser.add_argument("--origin")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sdd-soak-"))
    server = None
    if not arguments.origin:
        for number in range(20):
            gradient(40 + number, 30).save(folder / f"small-{number}.jpg")
        server = Server(folder)
    soak = Soak(arguments.origin or server.url("file"), str(folder / "cache"))  # type: ignore[union-attr]
    sizes = []
    for _ in range(TENTHS):
        soak.turn(arguments.loads // TENTHS)
        sizes.append(measure())
        print(f"{soak.done} loads, {soak.cancelled} cancelled: {sizes[-1]}", flush=True)
    if server:
        server.stop()
    soak.close()  # it writes what loads have stored
    shutil.rmtree(folder)
    middle, last = sizes[TENTHS // 2 - 1], sizes[-1]
    # A loop, a connection or a thread may be about to end; a leak would leave one for each of many loaders.
    is_flat = (last.memory - middle.memory < MEMORY_LIMIT and last.descriptors <= middle.descriptors + 4
               and last.threads <= middle.threads + 4 and last.images <= middle.images + 60
               and last.objects <= middle.objects + 500)  # fmt: skip
    print("flat" if is_flat else "NOT FLAT")
    return 0 if is_flat else 1


if __name__ == "__main__":
    sys.exit(main())

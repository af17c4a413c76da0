#!/usr/bin/env python3
"""Runs a workload of the benchmark with this package under asyncio, and prints the line of JSON of bench/peers.

    candidate.py --workload W1 --urls FILE [--inflight N] [--threads N] [--cacert PEM] [--verify] [--pictures DIR]
                 [--by many|tasks] [--uvloop]

`--by many` (the default) takes items from `Downloader.fetch_many()`, `--by tasks` awaits each URL in one of as many
tasks as requests may be in flight. The time in the JSON is without that of Python's start and of the imports; the
library has the settings of bench/sdd_bench.c.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import sdd

DECODING = ("W2", "W3", "W4", "W5")
CHECKSUM_START = 1469598103934665603
CHECKSUM_LIBRARY = Path(__file__).resolve().parents[3] / "build" / "bench-checksum.so"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--urls", required=True, type=Path)
    parser.add_argument("--inflight", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cacert")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--by", choices=("many", "tasks"), default="many")
    parser.add_argument("--uvloop", action="store_true")
    return parser.parse_args()


def checksum_function() -> Callable[[bytes], int]:
    function = ctypes.CDLL(str(CHECKSUM_LIBRARY)).checksum
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    function.restype = ctypes.c_uint64
    return lambda data: int(function(data, len(data), CHECKSUM_START))


class Run:
    """Counts what arrives."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.urls: list[str] = arguments.urls.read_text().split()
        self.decodes = arguments.workload in DECODING
        self._hash = checksum_function() if arguments.verify else None
        self.ok = self.failed = self.bytes = self.pixels = self.checksum = self.sum = 0

    def body(self, data: memoryview) -> None:
        self.ok += 1
        self.bytes += len(data)
        if self._hash:
            self._add(self._hash(bytes(data)))

    def image(self, index: int, image: sdd.Image) -> None:
        width, height = image.size
        self.ok += 1
        self.bytes += len(image.encoded or b"")
        self.pixels += width * height
        if self._hash:
            self._add(self._hash(image.tobytes()))
        if self.arguments.pictures:
            (self.arguments.pictures / f"{index}-{width}x{height}.rgba").write_bytes(image.tobytes())

    def failure(self, url: str, error: object) -> None:
        self.failed += 1
        if self.failed == 1:
            print(f"{url}: {error}", file=sys.stderr)

    def _add(self, hash_: int) -> None:
        self.checksum ^= hash_
        self.sum = (self.sum + hash_) % (1 << 64)


async def take_items(run: Run, downloader: sdd.Downloader) -> None:
    size = (512, 512) if run.arguments.workload == "W4" else None
    ahead = 16 * run.arguments.inflight  # queued in the library: most of them have not begun
    items: sdd.Batch[sdd.Item]
    if run.decodes:
        items = downloader.fetch_many(run.urls, size=size, look_ahead=ahead)
    else:
        items = downloader.fetch_many_bytes(run.urls, look_ahead=ahead)
    async for item in items:
        if item.error is not None:
            run.failure(item.url, item.error)
        elif item.image is not None:
            run.image(item.index, item.image)
        else:
            run.body(item.data or memoryview(b""))


async def await_each(run: Run, downloader: sdd.Downloader) -> None:
    size = (512, 512) if run.arguments.workload == "W4" else None
    indexes = iter(range(len(run.urls)))

    async def fetch_some() -> None:
        for index in indexes:
            url = run.urls[index]
            try:
                if run.decodes:
                    image = (await downloader.fetch(url, size=size)).image
                    assert image is not None
                    run.image(index, image)
                else:
                    run.body((await downloader.fetch_bytes(url)).data or memoryview(b""))
            except sdd.Error as error:
                run.failure(url, error)

    await asyncio.gather(*(fetch_some() for _ in range(2 * run.arguments.inflight)))


async def fetch_all(run: Run) -> None:
    arguments = run.arguments
    options: sdd.DownloaderOptions = {
        "max_concurrent_downloads": arguments.inflight, "max_concurrent_per_host": arguments.inflight,
        "decode_threads": arguments.threads, "max_body_bytes": 1 << 30,
    }  # fmt: skip
    if arguments.cacert:
        options["ca_file"] = arguments.cacert
    async with sdd.Downloader(**options) as downloader:
        await (take_items if arguments.by == "many" else await_each)(run, downloader)


def start(arguments: argparse.Namespace, main: Coroutine[Any, Any, None]) -> None:
    if arguments.uvloop:
        import uvloop

        uvloop.install()
    asyncio.run(main)


def main() -> int:
    arguments = parse()
    begin = time.perf_counter()
    run = Run(arguments)
    start(arguments, fetch_all(run))
    wall = time.perf_counter() - begin
    print(json.dumps({
        "workload": arguments.workload, "ok": run.ok, "failed": run.failed, "bytes": run.bytes, "pixels": run.pixels,
        "wall_s": round(wall, 6), "first_frame_ms": -1, "checksum": f"{run.checksum:016x}", "sum": f"{run.sum:016x}",
    }))  # fmt: skip
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())

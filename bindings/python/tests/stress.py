#!/usr/bin/env python3
"""Uses everything at random in several threads and loops, and closes and drops it under each other's feet.

    stress.py [--seconds N] [--seed N]      the suite runs 3 seconds; by hand longer

Any exception but those that the package documents, a crash and a hang are failures.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from conftest import Server, gradient  # noqa: E402

import sdd  # noqa: E402

THREADS = 6
EXPECTED = (sdd.RequestCancelled, sdd.ClosedError, sdd.RequestTimeout, asyncio.CancelledError, asyncio.TimeoutError)


class Stress:
    def __init__(self, server: Server, folder: Path, seed: int) -> None:
        self._server = server
        self._folder = folder
        self._seed = seed
        self._lock = threading.Lock()
        self._objects: dict[type, list[Any]] = {sdd.Loader: [], sdd.Downloader: [], sdd.Cache: [], sdd.Batch: []}
        self.counts: dict[str, int] = {}
        self.failures: list[BaseException] = []

    def _any(self, kind: type, random: random.Random) -> Any:
        """One of the shared objects, which another thread may be closing; sometimes a new one."""
        with self._lock:
            objects = self._objects[kind]
            if len(objects) > 4 or (objects and random.random() < 0.8):
                return random.choice(objects)
        made: Any
        if kind is sdd.Cache:
            made = sdd.Cache(directory=str(self._folder / f"cache-{random.randrange(2)}"), max_memory_cost=1 << 20)
        elif kind is sdd.Downloader:
            made = sdd.Downloader(max_concurrent_downloads=random.randrange(1, 12))
        elif kind is sdd.Loader and random.random() < 0.5:
            made = sdd.Loader(no_cache=True)
        elif kind is sdd.Loader:
            made = sdd.Loader(downloader=self._any(sdd.Downloader, random), cache=self._any(sdd.Cache, random))
        else:
            urls = [self._url(random) for _ in range(random.randrange(20))]
            made = self._any(sdd.Loader, random).load_many(urls, size=(16, 16), deadline=0.5)
        with self._lock:
            objects.append(made)
        return made

    def _url(self, random: random.Random) -> str:
        if random.random() < 0.1:
            return self._server.url("late/never/a.jpg")
        return self._server.url(f"file/small-{random.randrange(20)}.jpg")

    # ---- actions

    def load(self, random: random.Random) -> None:
        options: sdd.LoadOptions = {"size": (random.randrange(1, 50), 0), "timeout": random.choice((0.05, 1))}
        image = self._any(sdd.Loader, random).load_sync(self._url(random), **options)
        array = image.to_numpy()
        image.close()
        assert array.any()

    def fetch(self, random: random.Random) -> None:
        assert self._any(sdd.Downloader, random).fetch_sync(self._url(random), timeout=0.3).image.width >= 40

    def gather(self, random: random.Random) -> None:
        async def one(loader: sdd.Loader) -> None:
            load = loader.load(self._url(random), timeout=1)
            await (asyncio.wait_for(load, 0.02) if random.random() < 0.3 else load)

        async def main() -> None:
            loaders = [self._any(sdd.Loader, random) for _ in range(8)]
            for end in await asyncio.gather(*(one(loader) for loader in loaders), return_exceptions=True):
                if isinstance(end, BaseException) and not isinstance(end, EXPECTED):
                    raise end

        asyncio.run(main())

    def previews(self, random: random.Random) -> None:
        for image in self._any(sdd.Loader, random).previews(self._url(random), timeout=0.2):
            if random.random() < 0.2:
                break
            assert image.width

    def items(self, random: random.Random) -> None:
        for number, item in enumerate(self._any(sdd.Batch, random)):
            assert item.ok or isinstance(item.error, EXPECTED)
            if number > random.randrange(30):
                break

    def rows(self, random: random.Random) -> None:
        out = np.zeros((10, 8, 8, 3), np.uint8)
        batch = sdd.batch([self._url(random) for _ in range(10)], out=out, downloader=self._any(sdd.Downloader, random),
                          deadline=0.3)  # fmt: skip
        if random.random() < 0.5:
            batch.wait()

    def cache(self, random: random.Random) -> None:
        cache, key = self._any(sdd.Cache, random), f"key-{random.randrange(5)}"
        cache.put_sync(key, gradient(10, 10))
        image = cache.get_sync(key)
        assert image is None or image.size == (10, 10)
        cache.remove_sync(key)

    def cancel(self, random: random.Random) -> None:
        self._any(random.choice((sdd.Loader, sdd.Downloader)), random).cancel_all()
        self._any(sdd.Batch, random).cancel()

    def close(self, random: random.Random) -> None:
        """Closes an object, or only drops it."""
        kind = random.choice((sdd.Loader, sdd.Downloader, sdd.Cache, sdd.Batch, sdd.Batch, sdd.Loader))
        thing = self._any(kind, random)
        with self._lock:
            if thing in self._objects[kind]:
                self._objects[kind].remove(thing)
        if random.random() < 0.5:
            thing.close()
        elif random.random() < 0.1:
            del thing
            gc.collect()

    # ---- running

    def run(self, number: int, end: float) -> None:
        chance = random.Random(self._seed * 1000 + number)
        actions: list[Callable[[random.Random], None]] = [
            self.load, self.load, self.fetch, self.gather, self.previews, self.items, self.items, self.rows, self.cache,
            self.cancel, self.close,
        ]  # fmt: skip
        while time.monotonic() < end and not self.failures:
            action = chance.choice(actions)
            try:
                action(chance)
            except EXPECTED:
                pass
            except BaseException as error:
                self.failures.append(error)
                raise
            with self._lock:
                self.counts[action.__name__] = self.counts.get(action.__name__, 0) + 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sdd-stress-"))
    gradient(100, 80).save(folder / "a.jpg")
    for number in range(20):
        gradient(40 + number, 30).save(folder / f"small-{number}.jpg")
    server = Server(folder)
    stress = Stress(server, folder, arguments.seed)
    end = time.monotonic() + arguments.seconds
    threads = [threading.Thread(target=stress.run, args=(number, end), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(arguments.seconds + 60)
    hung = [thread for thread in threads if thread.is_alive()]
    print(f"seed {arguments.seed}: {stress.counts}, {len(stress.failures)} failures, {len(hung)} hang")
    if hung:
        import faulthandler

        faulthandler.dump_traceback(all_threads=True)
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return 1 if hung or stress.failures else 0


if __name__ == "__main__":
    sys.exit(main())

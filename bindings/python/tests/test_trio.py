"""The package under trio, and under anyio with both of its loops."""

from __future__ import annotations

import gc
import itertools
import logging
import threading
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import LIMIT, Server, gradient, in_thread, run_script
from test_waiting import Steps, wait_for_no_requests

import sdd

trio = pytest.importorskip("trio")

NUMBERS = itertools.count()


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    async def limited() -> Any:
        with trio.fail_after(LIMIT):
            return await main()

    return trio.run(limited)


async def gather(calls: list[Callable[[], Awaitable[Any]]]) -> list[Any]:
    outcomes: list[Any] = [None] * len(calls)

    async def work(index: int) -> None:
        try:
            outcomes[index] = await calls[index]()
        except sdd.Error as error:
            outcomes[index] = error

    async with trio.open_nursery() as nursery:
        for index in range(len(calls)):
            nursery.start_soon(work, index)
    return outcomes


def test_loads(loader: sdd.Loader, server: Server) -> None:
    async def main() -> None:
        urls = [server.url(f"file/small-{n % 20}.jpg?{n}") for n in range(100)] + [server.url("status/404")]
        calls: list[Any] = [lambda url=url: loader.load(url, retry_failed=True) for url in urls]
        *images, error = await gather(calls)
        assert [image.width for image in images] == [40 + n % 20 for n in range(100)]
        assert isinstance(error, sdd.ResponseError) and error.http_status == 404
        assert (await sdd.fetch(server.url("file/a.jpg"))).image is not None
        assert (await loader.prefetch(urls[:3])).failed == 0

    run(main)
    run(main)  # in another loop


def test_progress_and_previews(server: Server) -> None:
    threads = set()

    async def main() -> None:
        steps, images = Steps(server), []

        def progress(received: int, expected: int | None) -> None:
            threads.add(threading.current_thread())
            steps.progress(received, expected)

        async with sdd.Loader(min_preview_interval=0.001, no_cache=True) as loader:
            async for image in loader.previews(steps.url, progress=progress):
                images.append(image)
                steps.preview()
            with pytest.raises(sdd.ResponseError):
                async for _ in loader.previews(server.url("status/404")):
                    pass
        assert len(images) >= 2 and all(image.is_preview for image in images[:-1]) and not images[-1].is_preview

    run(main)
    assert threads == {threading.current_thread()}


def test_many(loader: sdd.Loader, server: Server) -> None:
    out = np.zeros((20, 8, 8, 3), np.uint8)

    async def main() -> None:
        urls = [server.url(f"file/small-{n % 20}.jpg?{n}") for n in range(300)]
        assert sorted([item.index async for item in loader.load_many(urls)]) == list(range(300))
        items = await sdd.batch(urls[:20], out=out, downloader=loader.downloader)
        assert all(item.ok for item in items) and out.any(axis=(1, 2, 3)).all()
        batch = loader.load_many([server.url(f"late/trio-{next(NUMBERS)}/a.jpg")])
        with trio.move_on_after(0.1) as scope:
            await batch
        assert scope.cancelled_caught
        await batch.aclose()

    run(main)


def test_cancelling_a_task_cancels_its_request(downloader: sdd.Downloader, server: Server) -> None:
    async def main() -> None:
        path = f"late/trio-{next(NUMBERS)}/a.jpg"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(downloader.fetch, server.url(path))
            await trio.to_thread.run_sync(server.wait_for, path)
            nursery.cancel_scope.cancel()
        await trio.to_thread.run_sync(wait_for_no_requests, downloader)
        with pytest.raises(trio.TooSlowError), trio.fail_after(0.1):
            async for _ in downloader.previews(server.url(path)):
                pass
        assert (await downloader.fetch(server.url("file/a.jpg"))).image is not None

    run(main)


def test_closing_ends_what_waits(server: Server) -> None:
    async def main() -> None:
        downloader = sdd.Downloader()
        paths = [f"late/trio-{next(NUMBERS)}/a.jpg" for _ in range(3)]

        async def close() -> None:
            await trio.to_thread.run_sync(server.wait_for, paths[0])
            await downloader.aclose()

        calls: list[Any] = [lambda path=path: downloader.fetch(server.url(path)) for path in paths]
        *ends, _ = await gather([*calls, close])
        assert {type(end) for end in ends} == {sdd.RequestCancelled}
        with pytest.raises(sdd.ClosedError):
            await downloader.fetch(server.url("file/a.jpg"))

    run(main)


def test_objects_are_closed_in_a_task_that_is_cancelled() -> None:
    async def main() -> None:
        with trio.CancelScope() as scope:
            async with sdd.Downloader() as downloader:
                scope.cancel()
                await trio.sleep(0)
        assert downloader.closed

    run(main)


def test_caches(tmp_path: Path) -> None:
    async def main() -> None:
        async with sdd.Cache(directory=str(tmp_path / "trio")) as cache:
            await cache.put("key", gradient(20, 10))
            image = await cache.get("key")
            assert image is not None and image.size == (20, 10) and await cache.contains("key")
            assert await cache.get("none") is None

    run(main)


def test_trio_asyncio_and_threads_share_a_loader(loader: sdd.Loader, server: Server) -> None:
    import asyncio

    urls = [server.url(f"file/small-{n % 20}.jpg?{n}") for n in range(150)]
    expected = [40 + n % 20 for n in range(150)]

    async def with_trio() -> list[int]:
        calls: list[Any] = [lambda url=url: loader.load(url) for url in urls]
        return [image.width for image in await gather(calls)]

    async def with_asyncio() -> list[int]:
        return [image.width for image in await asyncio.gather(*(loader.load(url) for url in urls))]

    threads = [in_thread(work) for work in (
        lambda: run(with_trio), lambda: run(with_trio), lambda: asyncio.run(with_asyncio()),
        lambda: [loader.load_sync(url).width for url in urls],
    )]  # fmt: skip
    for thread, outcome in threads:
        thread.join(LIMIT)
        assert outcome == [expected]


def test_a_handler_that_raises_ends_only_the_message(server: Server) -> None:
    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("of the application")

    async def main() -> None:
        async with sdd.Downloader(log_level=logging.DEBUG) as downloader:
            await downloader.fetch_bytes(server.url("file/page.html"))

    handler, logger = Handler(), logging.getLogger("sdd")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        run(main)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def test_a_downloader_is_collected(server: Server) -> None:
    async def main() -> None:
        downloader = sdd.Downloader()
        await downloader.fetch(server.url("file/a.jpg"))
        gone = weakref.ref(downloader._pump)
        del downloader
        gc.collect()
        assert gone() is None

    run(main)


def test_a_run_and_the_process_end_with_loads_under_way(server: Server) -> None:
    script = """
import sys, trio, sdd
file, held = sys.argv[1:]
loader = sdd.Loader()
async def main():
    async with trio.open_nursery() as nursery:
        for n in range(5):
            nursery.start_soon(loader.load, f"{held}/{n}")
        await trio.sleep(0.05)
        raise KeyError("of the application")
for turn in range(3):
    try:
        trio.run(main, strict_exception_groups=False)
    except KeyError:
        pass
assert trio.run(loader.load, file).width == loader.load_sync(file).width == 320
print("end")
"""
    done = run_script(script, server.url("file/a.jpg"), server.url("late/trio-end"))
    assert done.returncode == 0 and "end" in done.stdout and "Exception ignored" not in done.stderr, done.stderr


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_anyio(loader: sdd.Loader, server: Server, backend: str) -> None:
    anyio = pytest.importorskip("anyio")

    async def main() -> None:
        assert (await loader.load(server.url("file/a.jpg"))).size == (320, 240)
        with anyio.move_on_after(0.1) as scope:
            await loader.load(server.url(f"late/anyio-{next(NUMBERS)}/a.jpg"))
        assert getattr(scope, "cancelled_caught", scope.cancel_called)  # anyio 3 has only the latter
        urls = [server.url(f"file/small-{n}.jpg") for n in range(20)]
        with anyio.fail_after(LIMIT):
            assert len(await loader.load_many(urls)) == 20

    anyio.run(main, backend=backend)

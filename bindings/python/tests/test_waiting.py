"""Progress, previews, cancelling, closing; loops and threads that wait at the same time."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import itertools
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import LIMIT, Run, Server, in_thread

import sdd
from sdd._closing import Closing
from sdd._fork import generation

NUMBERS = itertools.count()


def test_progress(loader: sdd.Loader, server: Server, run: Run) -> None:
    size = (server.folder / "a.jpg").stat().st_size
    calls: list[tuple[int, int | None]] = []
    threads = set()

    def progress(received: int, expected: int | None) -> None:
        calls.append((received, expected))
        threads.add(threading.current_thread())

    run(loader.load(server.url("file/a.jpg?progress"), progress=progress))
    assert calls[-1] == (size, size)
    loader.load_sync(server.url("file/a.jpg?sync"), progress=progress)
    assert calls[-1] == (size, size) and threads == {threading.current_thread()}


def test_progress_that_raises_harms_nothing(loader: sdd.Loader, server: Server, run: Run,
                                            caplog: pytest.LogCaptureFixture) -> None:  # fmt: skip
    def progress(received: int, expected: int | None) -> None:
        raise RuntimeError("of the application")

    assert run(loader.load(server.url("file/a.jpg?raises"), progress=progress)).size == (320, 240)
    assert "of the application" in caplog.text


def test_progress_may_use_the_loader(loader: sdd.Loader, server: Server) -> None:
    found: list[sdd.Image] = []

    def progress(received: int, expected: int | None) -> None:
        if not found:
            found.append(loader.load_sync(server.url("file/b.png")))

    loader.load_sync(server.url("file/a.jpg?uses"), progress=progress)
    assert found[0].size == (64, 48)


class Steps:
    """Lets the server go on: by one part for each progress, and to the end when there is a preview."""

    def __init__(self, server: Server) -> None:
        self.name = f"steps-{next(NUMBERS)}"
        self.url = server.url(f"steps/{self.name}/progressive.jpg")
        self._server = server
        self._released = 0

    def progress(self, received: int, expected: int | None) -> None:
        if self._released < 6:
            self._released += 1
            self._server.release(self.name)

    def preview(self) -> None:
        while self._released < 7:
            self._released += 1
            self._server.release(self.name)


def test_previews(server: Server, run: Run) -> None:
    async def main() -> None:
        steps, images = Steps(server), []
        async with sdd.Loader(min_preview_interval=0.001, no_cache=True) as loader:
            async for image in loader.previews(steps.url, size=(200, 200), progress=steps.progress):
                images.append(image)
                steps.preview()
        assert len(images) >= 2 and {image.size for image in images} == {(200, 150)}
        assert all(image.is_preview for image in images[:-1]) and not images[-1].is_preview

    run(main())


VARIABLE: contextvars.ContextVar[object] = contextvars.ContextVar("of a task", default=None)


class Value:
    pass


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_functions_are_called_in_the_context_of_their_task(server: Server, backend: str) -> None:
    """And the loop does not keep that of the task that used it first."""
    anyio = pytest.importorskip("anyio")
    seen: dict[str, set[object]] = {"one": set(), "two": set()}

    async def load(loader: sdd.Loader, name: str) -> None:
        VARIABLE.set(name)
        steps = Steps(server)

        def progress(received: int, expected: int | None) -> None:
            seen[name].add(VARIABLE.get())
            steps.progress(received, expected)

        def preview(image: sdd.Image) -> None:
            seen[name].add(VARIABLE.get())
            steps.preview()

        await loader.load(steps.url, progress=progress, preview=preview)

    async def first(loader: sdd.Loader, kept: list[weakref.ref[Value]]) -> None:
        value = Value()
        VARIABLE.set(value)
        kept.append(weakref.ref(value))
        await loader.load(server.url("file/a.jpg"))

    async def main() -> None:
        kept: list[weakref.ref[Value]] = []
        async with sdd.Loader(min_preview_interval=0.001, no_cache=True) as loader:
            async with anyio.create_task_group() as group:
                group.start_soon(first, loader, kept)
            await anyio.sleep(0)
            gc.collect()
            assert kept[0]() is None
            async with anyio.create_task_group() as group:
                for name in seen:
                    group.start_soon(load, loader, name)

    anyio.run(main, backend=backend)
    assert seen == {"one": {"one"}, "two": {"two"}}


def test_previews_in_a_thread(server: Server) -> None:
    steps, images = Steps(server), []
    with sdd.Downloader(min_preview_interval=0.001) as downloader:
        for image in downloader.previews(steps.url, progress=steps.progress):
            images.append(image)
            steps.preview()
    assert len(images) >= 2 and images[-1].size == (400, 300)
    assert all(image.is_preview for image in images[:-1]) and not images[-1].is_preview


def test_a_callback_for_previews(server: Server, run: Run) -> None:
    threads = set()

    async def main() -> None:
        steps, images = Steps(server), []

        def preview(image: sdd.Image) -> None:
            threads.add(threading.current_thread())
            images.append(image)
            steps.preview()

        async with sdd.Loader(min_preview_interval=0.001, no_cache=True) as loader:
            image = await loader.load(steps.url, progress=steps.progress, preview=preview)
        assert images and all(image.is_preview for image in images) and not image.is_preview

    run(main())
    assert threads == {threading.current_thread()}


def test_a_callback_for_previews_in_a_thread(server: Server) -> None:
    steps, images = Steps(server), []

    def preview(image: sdd.Image) -> None:
        images.append(image)
        steps.preview()

    with sdd.Downloader(min_preview_interval=0.001) as downloader:
        result = downloader.fetch_sync(steps.url, progress=steps.progress, preview=preview)
    assert images and all(image.is_preview for image in images)
    assert result.image is not None and not result.image.is_preview


def test_leaving_previews_cancels(downloader: sdd.Downloader, server: Server, run: Run) -> None:
    async def main() -> None:
        previews = downloader.previews(server.url(f"hold/leave-{next(NUMBERS)}/progressive.jpg")).__aiter__()
        async for image in previews:
            assert image.is_preview
            break
        await previews.aclose()  # type: ignore[attr-defined]
        await asyncio.to_thread(wait_for_no_requests, downloader)

    run(main())


def wait_for_no_requests(downloader: sdd.Downloader) -> None:
    """Waits until a request has been cancelled."""
    event = threading.Event()
    for _ in range(LIMIT * 100):
        if downloader.statistics()["requests_cancelled"]:
            return
        event.wait(0.01)
    raise AssertionError("nothing was cancelled")


def test_cancelling_the_task_cancels_the_request(downloader: sdd.Downloader, server: Server, run: Run) -> None:
    async def main() -> None:
        path = f"late/task-{next(NUMBERS)}/a.jpg"
        task = asyncio.ensure_future(downloader.fetch(server.url(path)))
        await asyncio.to_thread(server.wait_for, path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(wait_for_no_requests, downloader)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(downloader.fetch(server.url(path)), 0.1)
        assert (await downloader.fetch(server.url("file/a.jpg"))).image is not None

    run(main())


def test_cancel_all_is_an_error_of_the_request(downloader: sdd.Downloader, server: Server, run: Run) -> None:
    async def main() -> None:
        path = f"late/all-{next(NUMBERS)}/a.jpg"
        task = asyncio.ensure_future(downloader.fetch(server.url(path)))
        await asyncio.to_thread(server.wait_for, path)
        downloader.cancel_all()
        with pytest.raises(sdd.RequestCancelled):
            await task

    run(main())


def test_closing_ends_what_waits(server: Server, run: Run) -> None:
    async def main() -> None:
        async with sdd.Downloader() as downloader:
            paths = [f"late/close-{next(NUMBERS)}/a.jpg" for _ in range(9)]
            tasks = [asyncio.ensure_future(downloader.fetch(server.url(path))) for path in paths]
            await asyncio.to_thread(server.wait_for, paths[0])
            thread, outcome = in_thread(lambda: downloader.fetch_sync(server.url("late/close/a.jpg")))
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(end) for end in ends} == {sdd.RequestCancelled}
        await asyncio.to_thread(thread.join, LIMIT)
        assert isinstance(outcome[0], (sdd.RequestCancelled, sdd.ClosedError))
        with pytest.raises(sdd.ClosedError):
            await downloader.fetch(server.url("file/a.jpg"))

    run(main())


class Slow(Closing):
    """Something whose end another thread allows."""

    def __init__(self) -> None:
        self._made_in = generation()
        self.begun, self.goes_on, self.is_closed = threading.Event(), threading.Event(), False

    def close(self) -> None:
        self.begun.set()
        assert self.goes_on.wait(LIMIT)
        self.is_closed = True


@pytest.mark.parametrize("times", [1, 3])
def test_a_block_is_left_when_its_object_is_closed(run: Run, times: int) -> None:
    """Also if the task is cancelled again meanwhile, and the default executor is full."""

    async def main() -> None:
        loop, slow, full = asyncio.get_running_loop(), Slow(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        waiting = loop.run_in_executor(None, full.wait, LIMIT)

        async def work() -> None:
            async with slow:
                await asyncio.Event().wait()

        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        for _ in range(times):
            task.cancel()
            while not slow.begun.is_set():
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not task.done()
        slow.goes_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slow.is_closed
        full.set()
        assert await waiting

    run(main())


def test_closing_raises_what_close_raises(run: Run) -> None:
    class Broken(Closing):
        _made_in = generation()

        def close(self) -> None:
            raise KeyError("close")

    async def main() -> None:
        with pytest.raises(KeyError):
            async with Broken():
                pass

    run(main())


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_scope_of_anyio_waits_for_the_end(backend: str) -> None:
    anyio = pytest.importorskip("anyio")
    slow = Slow()

    def allow() -> None:
        assert slow.begun.wait(LIMIT)
        slow.goes_on.set()

    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with slow:
                scope.cancel()
                thread, _ = in_thread(allow)
                await anyio.sleep_forever()
        assert slow.is_closed
        thread.join()

    anyio.run(main, backend=backend)


def test_many_threads_and_a_loop_share_a_loader(loader: sdd.Loader, server: Server, run: Run) -> None:
    def work(number: int) -> int:
        total = 0
        for turn in range(25):
            total += loader.load_sync(server.url(f"file/small-{turn % 20}.jpg?{number}"), size=(10 + turn % 3, 0)).width
        return total

    async def main() -> None:
        urls = [server.url(f"file/small-{n % 20}.jpg?{n}") for n in range(200)]
        images = await asyncio.gather(*(loader.load(url) for url in urls))
        assert [image.width for image in images] == [40 + n % 20 for n in range(200)]

    threads = [in_thread(lambda number=number: work(number)) for number in range(8)]  # type: ignore[misc]
    run(main())
    for thread, outcome in threads:
        thread.join(LIMIT)
        assert outcome == [sum(10 + turn % 3 for turn in range(25))]


def test_a_loop_may_take_the_event_of_a_thread(downloader: sdd.Downloader, server: Server, run: Run) -> None:
    url = server.url("file/small-1.jpg")

    async def main() -> None:
        await downloader.fetch(url)  # from now on the loop watches
        for _ in range(300):
            thread, outcome = in_thread(lambda: downloader.fetch_sync(url))
            while thread.is_alive():
                await asyncio.sleep(0)
            assert isinstance(outcome[0], sdd.Result)

    run(main())


def test_one_loader_in_two_loops(loader: sdd.Loader, server: Server) -> None:
    async def main(start: int) -> list[int]:
        urls = [server.url(f"file/small-{n % 20}.jpg?{start}{n}") for n in range(100)]
        images = await asyncio.gather(*(loader.load(url) for url in urls))
        return [image.width for image in images]

    threads = [in_thread(lambda start=start: asyncio.run(main(start))) for start in range(3)]  # type: ignore[misc]
    for thread, outcome in threads:
        thread.join(LIMIT)
        assert outcome == [[40 + n % 20 for n in range(100)]]
    assert asyncio.run(main(9)) == [40 + n % 20 for n in range(100)]

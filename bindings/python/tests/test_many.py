"""Batches, and pictures in the rows of arrays."""

from __future__ import annotations

import asyncio
import base64
import gc
import itertools
import json
import math
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from conftest import LIMIT, Run, Server, in_thread

import sdd
from sdd import _constants
from sdd._closing import Owned
from sdd.lowlevel import ffi

NUMBERS = itertools.count()


def test_items_as_completed_and_ordered(loader: sdd.Loader, server: Server, run: Run) -> None:
    name = f"order-{next(NUMBERS)}"
    urls = [server.url(f"late/{name}/a.jpg"), server.url("file/small-1.jpg"), server.url("file/small-2.jpg")]

    async def main(ordered: bool) -> list[int]:
        indexes = []
        async for item in loader.load_many(urls, ordered=ordered, from_loader_only=True):
            indexes.append(item.index)
            assert item.url == urls[item.index] and item.ok and item.seconds > 0
            if len(indexes) == 2:
                server.release(name)
        return indexes

    first = run(main(ordered=False))
    assert first[-1] == 0 and sorted(first) == [0, 1, 2]
    server.release(name)
    assert run(main(ordered=True)) == [0, 1, 2]


def test_sync_items(loader: sdd.Loader, server: Server) -> None:
    urls = [server.url(f"file/small-{n}.jpg") for n in range(20)]
    assert [item.result().width for item in loader.load_many(urls, ordered=True)] == [40 + n for n in range(20)]
    assert [item.size for item in loader.load_many(urls, size=(8, 8), fit="fill").wait()] == [(8, 8)] * 20


def test_bytes(downloader: sdd.Downloader, server: Server, run: Run) -> None:
    async def main() -> list[sdd.BytesItem | sdd.FailedItem]:
        return await downloader.fetch_many_bytes([server.url("file/b.png"), server.url("status/500")])

    good, bad = run(main())
    assert bytes(good.data) == (server.folder / "b.png").read_bytes() and good.image is None
    assert bad.error.http_status == 500 and bad.data is None and bad.error.retryable
    with pytest.raises(sdd.ResponseError):
        bad.result()
    with pytest.raises(ValueError):
        good.result()


def test_an_endless_iterable_takes_bounded_memory(loader: sdd.Loader, server: Server, run: Run) -> None:
    asked = itertools.count()
    threads = set()

    def urls() -> Iterator[str]:
        while True:
            threads.add(threading.current_thread())
            yield server.url(f"file/small-{next(asked) % 20}.jpg")

    async def main() -> None:
        async with loader.load_many(urls(), look_ahead=10) as items:
            taken = 0
            async for item in items:
                assert item.ok
                taken += 1
                if taken == 100:
                    break
        assert next(asked) <= 100 + 10 + 64

    run(main())
    assert threads == {threading.current_thread()}


def test_cancel_and_deadline(loader: sdd.Loader, server: Server) -> None:
    urls = [server.url(f"late/many-{next(NUMBERS)}/a.jpg") for _ in range(10)]
    batch = loader.load_many(urls)
    batch.cancel()
    assert {type(item.error) for item in batch.wait()} == {sdd.RequestCancelled}
    assert batch.statistics()["cancelled"] == 10
    items = loader.load_many(urls, deadline=0.1).wait()
    assert {item.error.detail for item in items if item.error} == {sdd.Detail.TIMEOUT_TOTAL}
    assert list(loader.load_many([])) == []


def test_options_of_the_transfer(loader: sdd.Loader, server: Server) -> None:
    """Headers, limits and priority hold for each item of a batch, and for each URL of a list to prefetch."""
    (good,) = loader.downloader.fetch_many_bytes([server.url("echo")], headers={"X-One": "1"}, priority="high").wait()
    assert isinstance(good, sdd.BytesItem) and ["X-One", "1"] in json.loads(bytes(good.data))
    assert good.metrics.total == good.seconds > 0 and good.metrics.body_bytes == len(good.data)
    late = server.url(f"late/transfer-{next(NUMBERS)}/a.jpg")
    out = np.zeros((1, 8, 8, 3), np.uint8)
    errors = [
        loader.load_many([late], timeout=0.1).wait()[0].error,
        sdd.batch([late], out, downloader=loader.downloader, first_byte_timeout=0.1, priority="low").wait()[0].error,
        loader.prefetch_sync([late], timeout=0.1, priority=sdd.Priority.NORMAL).outcomes[0].error,
    ]
    assert [type(error) for error in errors] == [sdd.RequestTimeout] * 3
    assert [error.detail for error in errors if error] == [
        sdd.Detail.TIMEOUT_TOTAL, sdd.Detail.TIMEOUT_FIRST_BYTE, sdd.Detail.TIMEOUT_TOTAL,
    ]  # fmt: skip
    for call in (loader.load_many, loader.prefetch_sync):
        with pytest.raises(sdd.InvalidArgument, match="max_redirects"):
            call([late], max_redirects=2000)


def test_hosts(downloader: sdd.Downloader, server: Server) -> None:
    batch = downloader.fetch_many([server.url("file/a.jpg"), server.url("status/404")])
    batch.wait()
    (counts,) = batch.hosts().values()
    assert counts["items"] == 2 and counts["failed"] == 1


def expected_row(server: Server, number: int, size: tuple[int, int], **options: Any) -> Any:
    data = (server.folder / f"small-{number}.jpg").read_bytes()
    return sdd.Image.decode(data, size=size, fit="fill", enlarge=True, **options).to_numpy()


@pytest.mark.parametrize(
    ("shape", "layout", "pixel_format"),
    [((16, 12, 3), "hwc", "rgb8"), ((16, 12, 4), "hwc", "rgba8"), ((16, 12, 1), "hwc", "grey8"),
     ((16, 12), "hwc", "grey8"), ((3, 16, 12), "chw", "rgb8_planar")],
)  # fmt: skip
def test_rows(server: Server, run: Run, shape: tuple[int, ...], layout: Any, pixel_format: str) -> None:
    urls = [server.url(f"file/small-{n}.jpg") for n in range(20)]
    out = np.full((20, *shape), 99, np.uint8)
    with sdd.Downloader() as downloader:

        async def main() -> list[sdd.RowItem | sdd.FailedItem]:
            return await sdd.batch(urls, out=out, layout=layout, downloader=downloader)

        items = run(main())
        assert [item.row for item in items] == list(range(20)) and all(item.ok for item in items)
        for number in range(20):
            expected = expected_row(server, number, (12, 16), pixel_format=pixel_format)
            assert (out[number] == expected.reshape(shape)).all()


def test_rows_of_failed_items_are_zero(server: Server) -> None:
    urls = [server.url("file/a.jpg"), server.url("status/404"), "no URL", server.url("file/page.html")]
    out = np.full((4, 8, 8, 3), 99, np.uint8)
    rows = sdd.batch(urls, out=out).wait()
    assert [type(row.error) for row in rows] == [type(None), sdd.ResponseError, sdd.RequestError, sdd.ImageError]
    assert out[0].any() and not out[1:].any() and rows[0].size == (8, 8)


def test_rows_with_gaps_and_more_rows_than_urls(server: Server) -> None:
    out = np.full((10, 8, 8, 3), 99, np.uint8)
    rows = sdd.batch([server.url("file/a.jpg")] * 3, out=out[::2], fit="inside").wait()
    assert [row.size for row in rows] == [(8, 6)] * 3
    assert (out[1::2] == 99).all() and (out[6:] == 99).all()
    assert (out[0, :6] != 0).any() and not out[0, 6:].any()


def test_rows_from_an_iterator_and_a_loader(loader: sdd.Loader, server: Server) -> None:
    out = np.zeros((5, 8, 8, 3), np.uint8)
    urls = (server.url(f"file/small-{n}.jpg") for n in itertools.count())
    rows = sdd.batch(urls, out=out, loader=loader).wait()
    assert len(rows) == 5 and out.any(axis=(1, 2, 3)).all()


def test_rows_as_they_come(server: Server, run: Run) -> None:
    out = np.zeros((20, 8, 8, 3), np.uint8)

    async def main() -> None:
        async for row in sdd.batch([server.url(f"file/small-{n}.jpg") for n in range(20)], out=out):
            assert row.row == row.index and out[row.row].any()

    run(main())


def strided(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    return np.lib.stride_tricks.as_strided(np.full(1000, 99, np.uint8), shape, strides, writeable=True)


@pytest.mark.parametrize("step", [0, 1, 47, -48])
def test_rows_that_overlap_are_refused(step: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        sdd.batch([], out=strided((20, 4, 4, 3), (step, 12, 3, 1)))
    with pytest.raises(ValueError, match="overlap"):
        sdd.batch([], out=strided((20, 3, 4, 4), (step, 16, 4, 1)), layout="chw")


@pytest.mark.parametrize("strides", [(48, 0, 3, 1), (48, 12, 0, 1), (48, 12, 3, 0), (48, 11, 3, 1), (48, 24, 3, 1)])
def test_pixels_that_are_not_contiguous_are_refused(strides: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="contiguous"):
        sdd.batch([], out=strided((2, 4, 4, 3), strides))
    with pytest.raises(ValueError, match="contiguous"):
        sdd.batch([], out=strided((2, 3, 4, 4), (48, 0, 4, 1)), layout="chw")


@pytest.mark.parametrize("step", [0, 1, -48])
def test_the_stride_of_a_single_row_means_nothing(server: Server, step: int) -> None:
    out = strided((1, 4, 4, 3), (step, 12, 3, 1))
    assert sdd.batch([server.url("file/a.jpg")], out).wait()[0].ok and not (out == 99).all()


def test_bad_arrays_are_refused() -> None:
    good = np.zeros((2, 4, 4, 3), np.uint8)
    read_only = good.copy()
    read_only.flags.writeable = False
    for bad in (good.astype(np.float32), good[:, :, ::-1], good[:, :, :, :2], np.zeros((2, 4), np.uint8), read_only,
                good.transpose(0, 3, 1, 2), good[::-1], np.zeros((0, 4, 4, 3), np.uint8), bytearray(10)):  # fmt: skip
        with pytest.raises(ValueError):
            sdd.batch([], out=bad)
    with pytest.raises(ValueError):
        sdd.batch([], out=good, layout="chw")
    with pytest.raises((TypeError, BufferError)):
        sdd.batch([], out=[1, 2])
    with pytest.raises(sdd.InvalidArgument):
        sdd.batch(["a", "b", "c"], out=good)
    with sdd.Downloader() as downloader, sdd.Loader(downloader=downloader) as loader, pytest.raises(TypeError):
        sdd.batch([], out=good, downloader=downloader, loader=loader)


def test_two_tasks_share_a_batch(loader: sdd.Loader, server: Server, run: Run) -> None:
    async def main() -> None:
        batch = loader.load_many([server.url(f"file/small-{n % 20}.jpg?{n}") for n in range(200)])
        taken: list[int] = []

        async def take() -> None:
            async for item in batch:
                taken.append(item.index)
                await asyncio.sleep(0)

        await asyncio.gather(take(), take(), take())
        assert sorted(taken) == list(range(200))

    run(main())


def test_a_timeout_leaves_the_items(loader: sdd.Loader, server: Server, run: Run) -> None:
    name = f"timeout-{next(NUMBERS)}"
    urls = [server.url("file/small-1.jpg"), server.url("file/small-2.jpg"), server.url(f"late/{name}/a.jpg")]

    async def main() -> None:
        batch = loader.load_many(urls)
        task = asyncio.ensure_future(batch)
        while batch.statistics()["items"] < 2:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        server.release(name)
        assert [item.index for item in await batch] == [0, 1, 2]

    run(main())


def test_threads_share_a_batch() -> None:
    pixel = sdd.Image.from_pixels(bytes(4), 1, 1, sdd.PixelFormat.RGBA8).encode(sdd.ImageFormat.PNG)
    url = "data:image/png;base64," + base64.b64encode(pixel).decode()
    taken: list[int] = []
    errors: list[BaseException] = []
    with sdd.Loader(no_cache=True) as loader:
        batch = loader.load_many([url] * 3000, look_ahead=200)

        def take() -> None:
            try:
                taken.extend(item.index for item in batch)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=take) for _ in range(8)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # threads change places between any two steps
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert errors == []
    assert sorted(taken) == list(range(3000))


def test_a_batch_that_its_own_iterator_closes(downloader: sdd.Downloader, server: Server) -> None:
    """It ends when the iterator has returned, and then nothing is written to the array any more."""
    out, name = np.zeros((20, 8, 8, 3), np.uint8), f"own-{next(NUMBERS)}"
    references = sys.getrefcount(out)

    def urls() -> Iterator[str]:
        yield server.url(f"late/{name}/a.jpg")
        yield server.url("file/a.jpg")
        batch.close()
        batch.close()
        assert batch.closed
        assert sys.getrefcount(out) > references  # the batch keeps it
        yield server.url("file/a.jpg")

    batch = sdd.batch(urls(), out, downloader=downloader, look_ahead=2)
    server.wait_for(f"late/{name}/a.jpg")
    with pytest.raises(sdd.ClosedError):
        list(batch)
    assert batch.closed and downloader.statistics()["running"] == 0
    assert sys.getrefcount(out) == references
    server.release(name)


def test_two_threads_close_a_batch() -> None:
    """What the library uses is kept until the one that waits has returned, whatever the other does."""
    begun, goes_on = threading.Event(), threading.Event()
    answers = iter([_constants.OK, _constants.ERROR_CLOSED])

    def destroy(handle: Any) -> int:
        answer = next(answers)
        if answer == _constants.OK:
            begun.set()
            assert goes_on.wait(LIMIT)
        return answer

    class Array:
        pass

    batch, array = Array(), Array()
    owned, kept = Owned(batch, "sdd_batch", destroy, array), weakref.ref(array)
    owned.place[0] = ffi.cast("sdd_batch *", 1)
    del array
    thread, outcome = in_thread(owned.end)
    assert begun.wait(LIMIT)
    owned.end()
    assert owned.is_over and kept() is not None
    goes_on.set()
    thread.join()
    assert outcome == [None] and kept() is None


def test_what_is_under_way_keeps_its_loader(server: Server, run: Run) -> None:
    """A loader, its downloader and their caches are kept while a batch or previews of theirs are."""
    name = f"kept-{next(NUMBERS)}"
    late, out = server.url(f"late/{name}/a.jpg"), np.zeros((1, 8, 8, 3), np.uint8)
    cache = sdd.Cache(name=name)
    gone = weakref.ref(cache)
    batches = [
        sdd.Loader(cache=cache).load_many([late]), sdd.batch([late], out, loader=sdd.Loader(no_cache=True)),
        sdd.Downloader(http_cache=True, http_cache_in=cache).fetch_many([late]),
        sdd.Downloader().fetch_many_bytes([late]),
    ]  # fmt: skip
    several = [sdd.Loader(no_cache=True).previews(late), sdd.Downloader().previews(late)]
    del cache
    gc.collect()
    assert gone() is not None
    server.release(name)
    assert [[item.error for item in batch.wait()] for batch in batches] == [[None]] * 4
    assert [[image.size for image in previews][-1] for previews in several] == [(320, 240)] * 2

    async def main() -> None:
        assert [item.error async for item in sdd.Loader(no_cache=True).load_many([late])] == [None]
        assert [image.size async for image in sdd.Loader(no_cache=True).previews(late)][-1] == (320, 240)

    run(main())
    del batches, several
    gc.collect()
    assert gone() is None


def test_failed_urls_are_loaded_again(loader: sdd.Loader, server: Server) -> None:
    url = server.url(f"status/404?failed-{next(NUMBERS)}")
    statuses = [item.http_status for item in loader.load_many([url, url], look_ahead=1)]
    assert statuses == [404, 404]
    (blocked,) = loader.load_many([url]).wait()
    assert isinstance(blocked.error, sdd.Blocked)
    assert "retry_failed=True" in str(blocked.error) and 'fail_policy="none"' in str(blocked.error)
    assert [item.http_status for item in loader.load_many([url], retry_failed=True)] == [404]
    with sdd.Loader(no_cache=True, fail_policy="none") as other:
        assert [item.http_status for item in other.load_many([url] * 3, look_ahead=1)] == [404] * 3


def test_images_of_items_are_released(loader: sdd.Loader, server: Server) -> None:
    before = sdd.process_statistics()["images"]
    images = [item.result() for item in loader.load_many([server.url("file/a.jpg")] * 5)]
    assert len(images) == 5 and sdd.process_statistics()["images"] > before
    del images
    assert sdd.process_statistics()["images"] <= before + 1  # that of the cache


@pytest.mark.parametrize("kind", [list, iter])
def test_a_text_that_is_no_url_is_a_failed_item(server: Server, kind: Callable[[Any], Any]) -> None:
    good = server.url("echo")
    not_there = [None, math.nan, np.float64("nan"), type("NAType", (), {})()]  # the last one is pandas.NA
    urls: list[Any] = [good, *not_there, "http://a\0b/", "\ud800", "", good]
    with sdd.Downloader() as downloader:
        items = downloader.fetch_many_bytes(kind(urls), ordered=True).wait()
    assert all(item.url is url for item, url in zip(items, urls)) and len(items) == len(urls)
    assert [item.error is None for item in items] == [True, *[False] * (len(urls) - 2), True]
    assert {item.error.status for item in items if item.error} == {sdd.Status.INVALID_URL}

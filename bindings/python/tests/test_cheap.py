"""What makes many small requests cheap: views of results, ends that are told together, threads that are left asleep."""

from __future__ import annotations

import asyncio
import copy
import gc
import itertools
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from conftest import LIMIT, Server, in_thread

import sdd
from sdd._batch import _texts
from sdd._interrupts import Bell
from sdd._plans import download_plan
from sdd._structs import layout_of
from sdd.lowlevel import ffi

NUMBERS = itertools.count()


# ---- items and results are views


def objects() -> int:
    gc.collect()
    return sdd.process_statistics()["bytes_objects"]


def test_a_body_is_released_with_its_item_or_its_view(downloader: sdd.Downloader) -> None:
    before = objects()
    items = downloader.fetch_many_bytes([f"data:,body-{number}" for number in range(100)], ordered=True).wait()
    assert objects() >= before + 100
    first, last = items[0], items[99]
    assert isinstance(first, sdd.BytesItem) and isinstance(last, sdd.BytesItem)
    view = first.data
    assert first.data is view
    del items, first
    assert objects() <= before + 4  # two bodies, and their header fields: others of the same taking are gone
    assert bytes(view) == b"body-0" and bytes(last.data) == b"body-99"
    del view, last
    assert objects() == before


def test_a_picture_outlives_its_item(downloader: sdd.Downloader, server: Server) -> None:
    (item,) = downloader.fetch_many([server.url("file/b.png")]).wait()
    assert isinstance(item, sdd.PictureItem)
    image = item.image
    assert item.image is image is item.result() and item.size == (64, 48) and item.http_status == 200
    assert item.origin is sdd.Origin.NETWORK and item.metrics.total == item.seconds
    assert item.metrics.remote_address == "127.0.0.1" and item.response is None
    del item
    assert image.to_numpy().shape == (48, 64, 4)


def test_the_response_of_an_item(downloader: sdd.Downloader, server: Server) -> None:
    good, bad = downloader.fetch_many_bytes(
        [server.url("file/b.png"), server.url("status/404")], responses=True, ordered=True
    ).wait()
    assert good.response is not None and good.response.mime_type == "image/png"
    assert bad.response is not None and bad.response.status == 404 == bad.http_status


def test_items_without_memory_of_the_library_can_be_pickled(downloader: sdd.Downloader, server: Server) -> None:
    out = np.zeros((2, 8, 8, 3), np.uint8)
    for item in sdd.batch([server.url("file/b.png"), "no URL"], out, downloader=downloader).wait():
        other = pickle.loads(pickle.dumps(item))
        assert type(other) is type(item) and other.metrics == item.metrics and repr(other) == repr(item)


def test_a_batch_is_not_copied(downloader: sdd.Downloader, server: Server) -> None:
    with downloader.fetch_many([server.url("file/b.png")]) as batch:
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="a Batch cannot be copied or pickled"):
                make(batch)
        assert len(batch.wait()) == 1


def test_parts_of_a_result_are_made_once(downloader: sdd.Downloader, server: Server) -> None:
    before = objects()
    result = downloader.fetch_sync(server.url("file/b.png"))
    assert result.image is result.image and result.data is result.data and result.response is result.response
    data, response = result.data, result.response
    del result
    assert data is not None and bytes(data) == (server.folder / "b.png").read_bytes()
    assert response is not None and response.mime_type == "image/png"
    del data, response
    assert objects() == before


# ---- what goes to the library, and what comes from it


@pytest.mark.parametrize("urls", [(), ("",), ("a",), ("a", "", "bc"), ("a", "\u00fc\u20ac", "\U0001f600", "z")])
def test_texts_in_one_memory(urls: tuple[str, ...]) -> None:
    memory, begins = _texts(urls)
    texts = [ffi.string(ffi.cast("char *", begins[number])).decode() for number in range(len(urls))]
    assert texts == list(urls)
    del memory


def test_what_is_no_text_is_no_url(downloader: sdd.Downloader) -> None:
    urls: Any = ["data:,a", 5]
    with pytest.raises(TypeError, match="a URL must be a text, not 5"):
        downloader.fetch_many_bytes(urls)


@pytest.mark.parametrize(("struct", "fields"), [
    ("sdd_batch_item", ("index", "slot", "width", "height", "colour_kind", "is_converted")),
    ("sdd_event", ("kind", "received_bytes")),
])  # fmt: skip
def test_numbers_read_from_memory(struct: str, fields: tuple[str, ...]) -> None:
    array = ffi.new(f"{struct}[]", 3)
    expected = [tuple(100 * number + place for place in range(len(fields))) for number in range(3)]
    for given, values in zip(array, expected):
        for name, value in zip(fields, values):
            setattr(given, name, value)
    assert list(layout_of(struct, *fields).iter_unpack(ffi.buffer(array))) == expected


def test_requests_of_one_plan_are_apart() -> None:
    """A signal handler, or another thread, may submit one while another is being made."""
    plan = download_plan({"range": "bytes=0-1"})
    (first, memory), (second, _) = plan.request("a", 1, 7), plan.request("b", 2, 8)
    assert ffi.string(first.url) == b"a" and ffi.string(second.url) == b"b" and memory is not None
    assert (first.options, second.options) == (1, 2) and ffi.string(first.range) == b"bytes=0-1"


# ---- one wake-up for many


def test_another_loop_is_told_of_many_ends_at_once(server: Server) -> None:
    """The thread that takes the events wakes the loop of other tasks once."""
    name, count = f"cheap-{next(NUMBERS)}", 4
    may_go_on, wake_ups = threading.Event(), []
    with sdd.Downloader(max_concurrent_downloads=count, max_concurrent_per_host=count) as downloader:

        async def main() -> list[sdd.Result]:
            loop = asyncio.get_running_loop()
            urls = [server.url(f"late/{name}/a.jpg?{number}") for number in range(count)]
            tasks = [asyncio.ensure_future(downloader.fetch_bytes(url)) for url in urls]
            await asyncio.sleep(0)
            wake = loop.call_soon_threadsafe

            def counted(*arguments: Any, **options: Any) -> Any:
                wake_ups.append(arguments)
                return wake(*arguments, **options)

            setattr(loop, "call_soon_threadsafe", counted)
            server.wait_for(f"late/{name}/a.jpg")
            server.release(name)
            assert may_go_on.wait(LIMIT)  # the loop's thread does nothing meanwhile
            results = await asyncio.gather(*tasks)
            delattr(loop, "call_soon_threadsafe")
            return list(results)

        thread, outcomes = in_thread(lambda: asyncio.run(main()))
        never = threading.Event()
        for _ in range(LIMIT * 100):
            if downloader.statistics()["requests_succeeded"] == count:
                break
            never.wait(0.01)
        downloader.fetch_bytes_sync("data:,x")
        may_go_on.set()
        thread.join(LIMIT)
    (results,) = outcomes
    assert [len(result.data or b"") for result in results] == [(server.folder / "a.jpg").stat().st_size] * count
    assert len(wake_ups) == 1


def test_threads_that_have_nothing_to_do_sleep(
    downloader: sdd.Downloader, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread is rung for its own end, and when it is its turn to poll: not each time that another one ends."""
    rung: list[Bell] = []
    ring = Bell.ring

    def counted(bell: Bell) -> None:
        rung.append(bell)
        ring(bell)

    name, loads, body = f"cheap-{next(NUMBERS)}", 200, server.url("file/a.jpg")
    sleeping = [in_thread(lambda: downloader.fetch_bytes_sync(server.url(f"late/{name}/a.jpg"))) for _ in range(4)]
    server.wait_for(f"late/{name}/a.jpg")
    monkeypatch.setattr(Bell, "ring", counted)
    for _ in range(loads):
        downloader.fetch_bytes_sync(body)
    assert len(rung) <= 1.5 * loads
    server.release(name)
    for thread, outcomes in sleeping:
        thread.join(LIMIT)
        assert [type(outcome) for outcome in outcomes] == [sdd.Result]

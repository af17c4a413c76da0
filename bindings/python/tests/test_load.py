"""Loads and downloads, awaited and in plain threads."""

from __future__ import annotations

import asyncio
import itertools
import json
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import LIMIT, Run, Server, gradient, in_thread

import sdd

NUMBERS = itertools.count()


def test_load(loader: sdd.Loader, server: Server, run: Run) -> None:
    image = run(loader.load(server.url("file/b.png"), pixel_format="rgba8"))
    assert (np.asarray(image) == np.asarray(gradient(64, 48, sdd.PixelFormat.RGBA8))).all()


def test_load_to_size(loader: sdd.Loader, server: Server, run: Run) -> None:
    async def main() -> None:
        url = server.url("file/a.jpg")
        assert (await loader.load(url, size=(32, 32))).size == (32, 24)
        assert (await loader.load(url, size=(32, 32), fit="fill")).size == (32, 32)
        assert (await loader.load(url, size=(32, 24), fit="stretch")).size == (32, 24)

    run(main())


def test_load_sync(loader: sdd.Loader, server: Server) -> None:
    assert loader.load_sync(server.url("file/a.jpg"), size=(0, 60)).size == (80, 60)


def test_functions_of_the_package(server: Server, run: Run) -> None:
    url = server.url("file/a.jpg")

    async def main() -> None:
        assert (await sdd.load(url, size=(256, 256))).size == (256, 192)
        assert (await sdd.fetch(url)).http_status in (0, 200)
        assert [item.result().size async for item in sdd.load_many([url, url])] == [(320, 240)] * 2
        assert [image.size async for image in sdd.previews(url)][-1] == (320, 240)

    run(main())
    assert sdd.load_sync(url).size == (320, 240)
    assert sdd.fetch_sync(url).origin in (sdd.Origin.MEMORY, sdd.Origin.DISK)


def test_a_result_says_how_it_came(loader: sdd.Loader, server: Server, run: Run) -> None:
    url = server.url("file/a.jpg")
    result = run(loader.fetch(url))
    assert result.origin is sdd.Origin.NETWORK and result.http_status == 200 and result.url == url
    assert result.response.header("content-type") == "image/jpeg" and result.response.mime_type == "image/jpeg"
    assert ("Content-Type", "image/jpeg") in result.response.headers and result.response.url == url
    assert bytes(result.data) == (server.folder / "a.jpg").read_bytes() == bytes(result.image.encoded)
    assert result.timings.total > 0 and result.timings.transfer > 0
    assert result.metrics.body_bytes == len(result.data) and result.metrics.remote_address == "127.0.0.1"
    again = run(loader.fetch(url))
    assert again.origin is sdd.Origin.MEMORY and again.response is None


def test_bytes_alone(downloader: sdd.Downloader, server: Server, run: Run) -> None:
    result = run(downloader.fetch_bytes(server.url("file/page.html")))
    assert result.image is None and bytes(result.data) == b"<html>no picture</html>"
    assert bytes(downloader.fetch_bytes_sync(server.url("file/page.html")).data or b"") == bytes(result.data)


def test_header_fields(server: Server) -> None:
    with sdd.Downloader(headers={"X-All": "1", "Referer": "https://example.org/"}) as downloader:
        url = server.url("echo")
        assert downloader.header("x-all") == "1" and downloader.header("x-none") is None
        data = downloader.fetch_bytes_sync(url, headers={"X-One": "2", "Referer": None}).data
        assert data is not None
        fields = dict(json.loads(bytes(data)))
        assert fields["X-All"] == "1" and fields["X-One"] == "2" and "Referer" not in fields


def test_a_post(downloader: sdd.Downloader, server: Server) -> None:
    with pytest.raises(sdd.ResponseError) as caught:
        downloader.fetch_bytes_sync(server.url("echo"), method="POST", body=b"body")
    assert caught.value.http_status == 501


@pytest.mark.parametrize(
    ("path", "kind", "code", "status", "retryable"),
    [
        ("status/404", sdd.ResponseError, sdd.Status.INVALID_DOWNLOAD_STATUS_CODE, 404, False),
        ("status/503", sdd.ResponseError, sdd.Status.INVALID_DOWNLOAD_STATUS_CODE, 503, True),
        ("file/page.html", sdd.ImageError, sdd.Status.BAD_IMAGE_DATA, 200, False),
        ("cut/a.jpg", sdd.NetworkError, sdd.Status.TRUNCATED_BODY, 200, True),
    ],
)
def test_errors(server: Server, run: Run, path: str, kind: type[sdd.Error], code: int, status: int,
                retryable: bool) -> None:  # fmt: skip
    with sdd.Downloader() as downloader:
        with pytest.raises(kind) as caught:
            run(downloader.fetch(server.url(path)))
        error = caught.value
        assert (error.code, error.http_status, error.retryable) == (code, status, retryable)
        assert error.url == server.url(path) and str(error).endswith(".") and error.name.startswith("SDD_ERROR_")
        item = downloader.fetch_many([server.url(path)]).wait()[0]
        assert item.error is not None and type(item.error) is type(error)
        assert item.error.retryable == retryable
        assert (item.error.code, item.error.detail, str(item.error)) == (error.code, error.detail, str(error))
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error) and copy.__dict__ == error.__dict__ and str(copy) == str(error)


def test_errors_before_a_response(loader: sdd.Loader) -> None:
    with pytest.raises(sdd.NetworkError) as caught:
        loader.load_sync("http://127.0.0.1:1/", max_attempts=1)
    assert caught.value.stage is sdd.Stage.CONNECT and caught.value.system_error == 111
    with pytest.raises(sdd.RequestError) as refused:
        loader.load_sync("no URL")
    assert refused.value.detail is sdd.Detail.URL_MALFORMED
    with pytest.raises(sdd.NotCached):
        loader.load_sync("http://127.0.0.1:1/", from_cache_only=True)


def test_failed_urls_are_blocked(loader: sdd.Loader, server: Server) -> None:
    url = server.url("status/410")
    with pytest.raises(sdd.ResponseError):
        loader.load_sync(url)
    with pytest.raises(sdd.Blocked):
        loader.load_sync(url)
    assert loader.is_blocked(url) and server.count("status/410") == 1
    loader.remove_failed_url(url)
    assert not loader.is_blocked(url)
    with pytest.raises(sdd.ResponseError):
        loader.load_sync(url)
    loader.remove_all_failed_urls()
    assert not loader.is_blocked(url)


def test_a_time_limit_is_a_timeout(loader: sdd.Loader, server: Server) -> None:
    with pytest.raises(TimeoutError) as caught:
        loader.load_sync(server.url("late/time-limit/a.jpg"), timeout=0.2)
    assert isinstance(caught.value, sdd.RequestTimeout) and caught.value.detail is sdd.Detail.TIMEOUT_TOTAL


def test_unknown_options_are_refused(loader: sdd.Loader, downloader: sdd.Downloader) -> None:
    for call in (
        lambda: loader.load_sync("data:,", colour=1),  # type: ignore[call-arg]
        lambda: loader.load_sync("data:,", method="GET"),  # type: ignore[call-arg]
        lambda: downloader.fetch_sync("data:,", completed=1),  # type: ignore[call-arg]
        lambda: sdd.Downloader(colour=1),  # type: ignore[call-arg]
        lambda: downloader.fetch_sync("data:,", user_data=None),  # type: ignore[call-arg]
        lambda: sdd.Cache(colour=1),  # type: ignore[call-arg]
        lambda: sdd.Cache(key_filter=None),  # type: ignore[call-arg]
        lambda: loader.load_many([], colour=1),  # type: ignore[call-arg]
        lambda: loader.load_many("http://one.text/"),
        lambda: sdd.Loader(downloader=downloader, max_concurrent_downloads=3),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(sdd.InvalidArgument, match="max_concurrent_downloads"):
        sdd.Downloader(max_concurrent_downloads=-1)
    with pytest.raises(ValueError, match="NUL"):
        loader.load_sync("http://a\0b/")


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


def test_previews_in_a_thread(server: Server) -> None:
    steps, images = Steps(server), []
    with sdd.Downloader(min_preview_interval=0.001) as downloader:
        for image in downloader.previews(steps.url, progress=steps.progress):
            images.append(image)
            steps.preview()
    assert len(images) >= 2 and images[-1].size == (400, 300)
    assert all(image.is_preview for image in images[:-1]) and not images[-1].is_preview


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


def test_transforms_and_alternatives(loader: sdd.Loader, server: Server, run: Run) -> None:
    image = run(loader.load(server.url("status/404"), alternatives=[server.url("file/a.jpg")], retry_failed=True,
                            transforms=[sdd.crop(0, 0, 50, 40), sdd.rotate(90)]))  # fmt: skip
    assert image.size == (40, 50)


def test_refresh(loader: sdd.Loader, server: Server, run: Run) -> None:
    name = f"changing-{next(NUMBERS)}.jpg"
    (server.folder / name).write_bytes(gradient(20, 10).encode(sdd.ImageFormat.JPEG))
    url = server.url(f"file/{name}")
    assert run(loader.load(url)).size == (20, 10)
    assert run(loader.load(url, refresh=True)).size == (20, 10)
    assert server.count(f"file/{name}") == 2
    (server.folder / name).write_bytes(gradient(30, 10).encode(sdd.ImageFormat.JPEG))
    assert loader.load_sync(url).size == (20, 10)
    assert loader.load_sync(url, refresh=True).size == (30, 10)


def test_prefetch(loader: sdd.Loader, server: Server, run: Run) -> None:
    urls = [server.url(f"file/small-{n}.jpg") for n in range(5)] + [server.url("status/404")]
    calls: list[tuple[int, int | None]] = []
    report = run(loader.prefetch(urls, to="disk", progress=lambda done, total: calls.append((done, total))))
    assert (report.total, report.failed) == (6, 1) and calls[-1] == (6, 6)
    assert [outcome.http_status for outcome in report.outcomes] == [200] * 5 + [404]
    assert loader.fetch_sync(urls[0]).origin is sdd.Origin.DISK
    again = loader.prefetch_sync(urls[:5])
    assert again.failed == 0 and {outcome.origin for outcome in again.outcomes} <= {sdd.Origin.DISK, sdd.Origin.MEMORY}


def test_settings_of_a_downloader(tmp_path: Path, server: Server) -> None:
    with sdd.Cache(directory=str(tmp_path / "http")) as cache, sdd.Downloader(
        max_concurrent_downloads=3, execution_order="lifo", http_version="1.1", min_tls_version="1.3",
        public_addresses_only=True, address_exceptions=["127.0.0.1"], http_cache=True, http_cache_in=cache,
        credential=sdd.Credential("user", "password"), ignore_proxy_environment=True, resolve=["a.test:80:127.0.0.1"],
        retry_delay=0.1, min_progress_interval=0.1, ageing=1.5, decode_time=3, log_level=None,
    ) as downloader:  # fmt: skip
        url = server.url("file/a.jpg?settings")
        assert downloader.fetch_sync(url).http_status == 200
        downloader.set_max_concurrent_downloads(4)
        downloader.set_max_concurrent_per_host(4)
        downloader.suspend()
        downloader.resume()
        downloader.set_cookie("a", "b", "127.0.0.1")
        data = downloader.fetch_bytes_sync(server.url("echo"), cookies=True).data
        assert data is not None and dict(json.loads(bytes(data)))["Cookie"] == "a=b"
        downloader.clear_cookies()
        assert downloader.statistics()["requests_succeeded"] == 2
    assert "password" not in repr(sdd.Credential("user", "password"))

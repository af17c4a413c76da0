"""Loads and downloads, awaited and in plain threads."""

from __future__ import annotations

import gc
import itertools
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run, Server, gradient

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


def test_a_body_is_not_kept(downloader: sdd.Downloader, server: Server) -> None:
    body = bytes(bytearray(100_000))
    references = sys.getrefcount(body)
    with pytest.raises(sdd.ResponseError):
        downloader.fetch_bytes_sync(server.url("file/a.jpg"), method="POST", body=body)
    gc.collect()
    assert sys.getrefcount(body) == references


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
    assert result.metrics.total > 0 and result.metrics.transfer > 0 and not result.metrics.is_end_unproven
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


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda body: memoryview(bytearray(body)),
                                  lambda body: memoryview(body).cast("H")])  # fmt: skip
def test_a_post(downloader: sdd.Downloader, server: Server, kind: Callable[[bytes], Any]) -> None:
    with pytest.raises(sdd.ResponseError) as caught:
        downloader.fetch_bytes_sync(server.url("echo"), method="POST", body=kind(b"body"))
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
        assert (error.status, error.http_status, error.retryable) == (code, status, retryable)
        assert error.url == server.url(path) and str(error).endswith(".") and error.name.startswith("SDD_ERROR_")
        item = downloader.fetch_many([server.url(path)]).wait()[0]
        assert item.error is not None and type(item.error) is type(error)
        assert item.error.__dict__ == error.__dict__ and str(item.error) == str(error)
        assert isinstance(error.error_class, sdd.ErrorClass) and error.stage
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
        lambda: loader.load_sync("data:,", tone=1),  # type: ignore[call-arg]
        lambda: loader.load_sync("data:,", method="GET"),  # type: ignore[call-arg]
        lambda: downloader.fetch_sync("data:,", completed=1),  # type: ignore[call-arg]
        lambda: sdd.Downloader(tone=1),  # type: ignore[call-arg]
        lambda: downloader.fetch_sync("data:,", user_data=None),  # type: ignore[call-arg]
        lambda: sdd.Cache(tone=1),  # type: ignore[call-arg]
        lambda: sdd.Cache(key_filter=None),  # type: ignore[call-arg]
        lambda: loader.load_many([], tone=1),  # type: ignore[call-arg]
        lambda: loader.load_many("http://one.text/"),
        lambda: sdd.Loader(downloader=downloader, max_concurrent_downloads=3),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(sdd.InvalidArgument, match="max_concurrent_downloads"):
        sdd.Downloader(max_concurrent_downloads=-1)
    with pytest.raises(ValueError, match="NUL"):
        loader.load_sync("http://a\0b/")


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
    assert [outcome.ok for outcome in report.outcomes] == [True] * 5 + [False]
    error = report.outcomes[-1].error
    assert isinstance(error, sdd.ResponseError) and not error.retryable and error.url == urls[-1]
    error = loader.prefetch_sync([server.url("status/503")]).outcomes[0].error
    assert error is not None and error.retryable and error.message == str(error) and "503" in error.message
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

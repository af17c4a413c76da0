"""Caches."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import Run, Server, gradient

import sdd


def test_entries(tmp_path: Path, run: Run) -> None:
    image = gradient(20, 10)
    data = bytes(image.encode(sdd.ImageFormat.PNG))

    async def main() -> None:
        async with sdd.Cache(directory=str(tmp_path / "cache"), max_disk_bytes=1 << 20, max_disk_age=60) as cache:
            await cache.put("one", image, data, extended=b"more")
            assert await cache.contains("one") and not await cache.contains("two")
            found = await cache.get("one", size=(10, 0))
            assert found is not None and found.size == (10, 5)
            assert bytes(await cache.get_bytes("one") or b"") == data
            assert Path(cache.path("one")).read_bytes().startswith(data)
            assert await cache.get("two") is None and await cache.get_bytes("two") is None
            await cache.flush()
            assert (await cache.statistics())["disk_count"] == 1
            cache.trim_memory(all=True)
            await cache.trim_disk()
            await cache.remove("one")
            assert await cache.get("one") is None
            cache.put_sync("three", data=data)
            await cache.clear()
            assert not cache.contains_sync("three")

    run(main())


def test_a_cache_closes_with_everything_on_disk(tmp_path: Path) -> None:
    with sdd.Cache(directory=str(tmp_path)) as cache:
        cache.put_sync("key", gradient(5, 5))
    with sdd.Cache(directory=str(tmp_path), levels="disk") as cache:
        image = cache.get_sync("key")
        assert image is not None and image.size == (5, 5)


def test_entries_are_listed_and_removed(run: Run, tmp_path: Path) -> None:
    with sdd.Cache(directory=str(tmp_path)) as cache:
        for key in ("one", "two"):
            cache.put_sync(key, data=key.encode())
        Path(cache.path("two")).write_bytes(b"no entry")
        one, two = sorted(cache.entries_sync(check_bodies=True), key=lambda entry: entry.key or "~")
        assert (one.key, one.body_bytes, one.state, one.is_private) == ("one", 3, sdd.EntryState.GOOD, False)
        assert (two.key, two.body_bytes, two.state) == (None, None, sdd.EntryState.DAMAGED)
        assert Path(cache.path("two")).name == two.file and abs(time.time() - one.stored) < 3600

        def fail(entry: sdd.CacheEntry) -> bool:
            raise KeyError(entry.file)

        with pytest.raises(KeyError):
            cache.entries_sync(remove=fail)
        run(cache.entries(remove=lambda entry: entry.state == sdd.EntryState.DAMAGED))
        assert [entry.key for entry in cache.entries_sync()] == ["one"]


def test_keys(tmp_path: Path) -> None:
    with sdd.Cache(directory=str(tmp_path), ignored_query_parameters="token") as cache:
        assert cache.key("https://h.example/a.jpg?token=1&b=2") == "https://h.example/a.jpg?b=2"
        assert "Thumbnail({10.000000,20.000000},1)" in cache.key("https://h.example/a.jpg", size=(10, 20))
        assert "rotate(90)" in cache.key("https://h.example/a.jpg", transforms=[sdd.rotate(90)])


def test_two_loaders_share_a_cache(tmp_path: Path, server: Server) -> None:
    url = server.url("file/a.jpg?shared")
    with sdd.Cache(directory=str(tmp_path)) as cache, sdd.Loader(cache=cache) as one, sdd.Loader(cache=cache) as two:
        assert one.fetch_sync(url).origin is sdd.Origin.NETWORK
        assert two.fetch_sync(url).origin is sdd.Origin.MEMORY


def test_files_are_named_by_texts_or_paths(tmp_path: Path) -> None:
    with sdd.Cache(directory=tmp_path / "one") as cache:
        cache.put_sync("key", data=b"body")
    with sdd.Cache(directory=str(tmp_path / "two"), read_only_directories=[tmp_path / "one"]) as cache:
        assert bytes(cache.get_bytes_sync("key") or b"") == b"body"
    sdd.Downloader(ca_file=tmp_path / "all.pem", ca_path=tmp_path).close()
    certificate = tmp_path / "certificate.pem"
    with sdd.Downloader(cookie_file=tmp_path / "cookies", unix_socket_path=tmp_path / "socket") as downloader:
        downloader.set_cookie("name", "value", "a.test", expires=time.time() + 1000)
        with pytest.raises(sdd.NetworkError):
            downloader.fetch_bytes_sync("http://a.test/", credential=sdd.Credential(client_certificate=certificate))
    assert "a.test" in (tmp_path / "cookies").read_text()
    with pytest.raises(TypeError, match="directory must be a text or a Path, not 5"):
        sdd.Cache(directory=5)  # type: ignore[arg-type]


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(sdd.ResourceError) as caught:
        sdd.Cache(directory=str(tmp_path / "file"))
    assert caught.value.status is sdd.Status.CACHE and caught.value.detail is sdd.Detail.CACHE_DIRECTORY


def test_bad_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(sdd.InvalidArgument, match="low_water_percent"):
        sdd.Cache(directory=str(tmp_path), low_water_percent=101)
    with pytest.raises(ValueError, match="memory, disk"):
        sdd.Cache(levels="some")  # type: ignore[arg-type]
    with sdd.Cache(directory=str(tmp_path)) as cache, pytest.raises(sdd.InvalidArgument):
        cache.put_sync("", gradient(1, 1))


def test_the_shared_cache() -> None:
    cache = sdd.Cache.shared()
    cache.put_sync("shared", gradient(3, 3))
    cache.close()
    image = sdd.Cache.shared().get_sync("shared")
    assert image is not None and image.size == (3, 3)

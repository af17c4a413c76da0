"""A server with pictures, event loops, and subprocesses for the tests."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

# Before the shared cache is made: no test uses the cache of the user.
_scratch = tempfile.TemporaryDirectory(prefix="sdd-tests-")
os.environ["XDG_CACHE_HOME"] = _scratch.name

import sdd  # noqa: E402

TESTS = Path(__file__).parent
FIXTURES = TESTS.parents[2] / "Tests" / "Fixtures"
LIMIT = 60
"""Seconds after which a test that hangs fails."""


def gradient(width: int, height: int, pixel_format: sdd.PixelFormat = sdd.PixelFormat.RGB8) -> sdd.Image:
    """A picture whose pixels all differ from their neighbours."""
    channels = {sdd.PixelFormat.RGB8: 3, sdd.PixelFormat.RGBA8: 4, sdd.PixelFormat.GREY8: 1}[pixel_format]
    pixels = bytes((x * 3 + y * 5 + channel * 40) % 256 for y in range(height) for x in range(width)
                   for channel in range(channels))  # fmt: skip
    return sdd.Image.from_pixels(pixels, width, height, pixel_format)


class Server:
    """The server, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, str(TESTS / "server.py"), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout
        self.origin = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def url(self, path: str) -> str:
        return f"{self.origin}/{path}"

    def order(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url(path), timeout=LIMIT) as response:
            return bytes(response.read())

    def release(self, name: str) -> None:
        self.order(f"release/{name}")

    def count(self, path: str) -> int:
        return int(self.order(f"count/{path}"))

    def wait_for(self, path: str) -> None:
        """Waits until the path has been requested."""
        self.order(f"wait/{path}")

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(LIMIT)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("files")
    gradient(320, 240).save(folder / "a.jpg")
    gradient(64, 48, sdd.PixelFormat.RGBA8).save(folder / "b.png")
    gradient(400, 300).save(folder / "progressive.jpg", progressive=True, quality=95)
    (folder / "page.html").write_text("<html>no picture</html>")
    for number in range(20):
        gradient(40 + number, 30).save(folder / f"small-{number}.jpg")
    server = Server(folder)
    yield server
    server.stop()


Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine with a limit, in a loop of asyncio's and in one of uvloop's."""
    if request.param == "uvloop":
        make = pytest.importorskip("uvloop").new_event_loop
    else:
        make = asyncio.new_event_loop

    def run_in_loop(main: Coroutine[Any, Any, Any]) -> Any:
        loop = make()
        try:
            return loop.run_until_complete(asyncio.wait_for(main, LIMIT))
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    return run_in_loop


@pytest.fixture
def loader(tmp_path: Path) -> Iterator[sdd.Loader]:
    with sdd.Cache(directory=str(tmp_path / "cache")) as cache, sdd.Loader(cache=cache) as loader:
        yield loader


@pytest.fixture
def downloader() -> Iterator[sdd.Downloader]:
    with sdd.Downloader() as downloader:
        yield downloader


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Starts a thread. The list receives what the function returns or raises."""
    outcome: list[Any] = []

    def target() -> None:
        try:
            outcome.append(function())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=target)
    thread.start()
    return thread, outcome


def run_script(
    script: str, *arguments: str, timeout: float = LIMIT, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program of Python in a process of its own, where crashes show."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script, *arguments], capture_output=True, text=True,
        timeout=timeout, env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
    )  # fmt: skip

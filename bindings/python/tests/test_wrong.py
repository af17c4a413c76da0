"""Arguments of wrong types and with wrong values: errors of the language, or of the package, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import math
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from conftest import run_script

import sdd

URL = "data:,"
PNG = "data:image/png;base64," + base64.b64encode(
    sdd.Image.from_pixels(bytes(3), 1, 1, sdd.PixelFormat.RGB8).encode("png")
).decode()


class Things:
    """Objects to call. They have no types, since what the tests do is refused by type checkers."""

    def __init__(self) -> None:
        self.loader: Any = sdd.Loader(no_cache=True)
        self.downloader: Any = self.loader.downloader
        self.cache: Any = sdd.Cache(name="wrong")
        self.image: Any = sdd.Image.from_pixels(bytes(12), 2, 2, sdd.PixelFormat.RGB8)
        self.out = np.zeros((1, 4, 4, 3), np.uint8)
        self.sdd: Any = sdd

    def load(self, url: Any = URL, **options: Any) -> Any:
        return self.loader.load_sync(url, **options)

    def batch(self, **options: Any) -> Any:
        return self.sdd.batch([URL], out=self.out, downloader=self.downloader, **options)


@pytest.fixture(scope="module")
def things() -> Iterator[Things]:
    things = Things()
    yield things
    things.loader.close()
    things.cache.close()


WRONG_TYPES: list[Callable[[Things], Any]] = [
    lambda t: t.load(5), lambda t: t.load(None), lambda t: t.load(b"data:,"), lambda t: t.load(size="5"),
    lambda t: t.load(size=(1.5, 2)), lambda t: t.load(priority=[]), lambda t: t.load(headers=5),
    lambda t: t.load(headers={1: 2}), lambda t: t.load(timeout="1"), lambda t: t.load(transforms=[5]),
    lambda t: t.load(transforms=5), lambda t: t.load(alternatives=[5]), lambda t: t.load(progress=5),
    lambda t: t.load(preview=5), lambda t: t.loader.load_many([URL], headers=5),
    lambda t: t.loader.prefetch_sync([URL], timeout="x"), lambda t: t.batch(priority=[]),
    lambda t: t.load(credential="user"), lambda t: t.load(query=5), lambda t: asyncio.run(t.loader.load(5)),
    lambda t: list(t.loader.load_many([1, 2])), lambda t: list(t.loader.load_many(5)),
    lambda t: list(t.loader.load_many(iter([1]))), lambda t: t.loader.load_many([URL], look_ahead="x"),
    lambda t: list(t.loader.previews(5)), lambda t: t.loader.prefetch_sync([5]), lambda t: t.loader.prefetch_sync(5),
    lambda t: t.loader.is_blocked(5), lambda t: t.downloader.fetch_sync(URL, method=5),
    lambda t: t.downloader.fetch_sync(URL, body="text"), lambda t: t.downloader.fetch_sync(URL, body=5),
    lambda t: t.downloader.set_header(1, 2), lambda t: t.downloader.header(5),
    lambda t: t.downloader.set_cookie("a", "b", "c.test", expires="x"), lambda t: t.cache.put_sync(5),
    lambda t: t.cache.put_sync("key", 5), lambda t: t.cache.put_sync("key", data="text"), lambda t: t.cache.key(5),
    lambda t: t.cache.flush_sync("x"), lambda t: t.sdd.Image.decode("text"), lambda t: t.sdd.Image.decode(5),
    lambda t: t.sdd.Image.from_pixels("text", 1, 1), lambda t: t.sdd.Image.from_pixels(bytes(4), "a", 1),
    lambda t: t.sdd.Image(), lambda t: t.image.encode([]), lambda t: t.image.encode(max_size="5"),
    lambda t: t.image.save(5), lambda t: t.image.frame("a"), lambda t: t.image.transform(5),
    lambda t: t.image.transform(sdd.crop("a", 1, 1, 1)),  # type: ignore[arg-type]
    lambda t: t.sdd.batch([URL], out=None), lambda t: t.sdd.batch(URL, out=t.out),
    lambda t: t.sdd.Downloader(max_concurrent_downloads="x"), lambda t: t.sdd.Downloader(headers=5),
    lambda t: t.sdd.Downloader(log_level="INFO"), lambda t: t.sdd.Downloader(resolve=5),
    lambda t: t.sdd.Downloader(http_cache_in=5), lambda t: t.sdd.Cache(directory=5), lambda t: t.sdd.Loader(cache=5),
    lambda t: t.load(lenient="yes"), lambda t: t.load(http_cache="yes"), lambda t: t.load(background="red"),
    lambda t: t.load(alternatives="data:,"), lambda t: t.load(pixel_format=[]), lambda t: t.load(nonsense=5),
    lambda t: t.loader.load_many([URL], ordered="x"), lambda t: t.loader.load_many([URL], deadline="x"),
    lambda t: t.sdd.Downloader(min_progress_interval="x"), lambda t: t.sdd.Downloader(isolated_decoding="x"),
    lambda t: t.sdd.Downloader(ca_file=5), lambda t: t.sdd.Downloader(tcp_keepalive="x"),
    lambda t: t.sdd.Downloader(http_version=2), lambda t: t.sdd.Cache(levels=5),
    lambda t: t.cache.get_sync("a", levels=[]),
    lambda t: t.sdd.resize("a", 1), lambda t: t.sdd.flip(5), lambda t: t.sdd.Loader(fail_policy=[]),
    lambda t: t.sdd.Loader(downloader=5), lambda t: t.sdd.probe("x"), lambda t: t.sdd.set_decode_memory_limit("x"),
    lambda t: t.sdd.batch([URL], t.out, loader=1), lambda t: t.sdd.batch([URL], t.out, loader=t.downloader),
    lambda t: t.sdd.batch([URL], t.out, downloader=t.loader), lambda t: t.sdd.batch([URL], t.out, downloader=t.sdd.Loader),
    lambda t: t.batch(loader=t.loader), lambda t: t.sdd.Image.animation([1], [1]),
    lambda t: t.sdd.Image.animation([t.image], ["x"]), lambda t: t.sdd.Image.animation([t.image], None),
    lambda t: t.cache.entries_sync(remove=1), lambda t: pickle.dumps(t.loader.load_many([PNG]).wait()[0]),
    lambda t: pickle.dumps(t.downloader.fetch_many_bytes([PNG]).wait()[0]),
    lambda t: pickle.dumps(t.loader.fetch_sync(PNG)), lambda t: pickle.dumps(t.sdd.Response.__new__(t.sdd.Response)),
]  # fmt: skip

# InvalidArgument is a ValueError, too.
WRONG_VALUES: list[Callable[[Things], Any]] = [
    lambda t: t.load("http://a\0b/"), lambda t: t.load("\ud800"), lambda t: t.load(size=(1,)),
    lambda t: t.load(priority="urgent"), lambda t: t.load(fit="best"), lambda t: t.load(pixel_format="cmyk"),
    lambda t: t.load(timeout=math.nan), lambda t: t.load(query="tape"), lambda t: t.load(redirects="both"),
    lambda t: t.loader.load_many([URL], look_ahead=-5), lambda t: t.loader.prefetch_sync([URL], to="tape"),
    lambda t: t.cache.put_sync("key", levels="x"), lambda t: t.sdd.Image.from_pixels(bytes(4), 1, 1, "rgba9"),
    lambda t: t.image.encode("bpm"), lambda t: t.image.encode(99), lambda t: t.image.save("/tmp/without"),
    lambda t: t.image.save("/tmp/a.bpm"),
    lambda t: t.image.encode(chroma="410"), lambda t: t.image.encode(quality=500), lambda t: t.sdd.flip("inside out"),
    lambda t: t.image.transform(t.sdd.rotate(math.nan)), lambda t: t.image.transform(sdd.resize(-1, 5)),
    lambda t: t.downloader.set_header("a b", "c"), lambda t: t.batch(fit="best"),
    lambda t: t.loader.load_many([URL], priority="default"), lambda t: t.loader.prefetch_sync([URL], redirects="both"),
    lambda t: t.batch(layout="whc"),
    lambda t: t.sdd.Downloader(http_version="9"), lambda t: t.sdd.Downloader(execution_order="random"),
    lambda t: t.sdd.Downloader(max_concurrent_downloads=-1), lambda t: t.sdd.Cache(levels="x"),
    lambda t: t.sdd.Loader(fail_policy="x"), lambda t: t.sdd.set_decode_memory_limit(-1),
    lambda t: t.sdd.batch([URL] * 2, t.out, downloader=t.downloader),
]  # fmt: skip

TOO_LARGE: list[Callable[[Things], Any]] = [
    lambda t: t.load(size=(2**40, 2)), lambda t: t.load(timeout=1e30), lambda t: t.image.frame_duration(2**70),
    lambda t: t.sdd.Image.from_pixels(bytes(4), 2**40, 1),
    lambda t: t.sdd.Downloader(max_concurrent_downloads=2**70), lambda t: t.sdd.Cache(max_disk_bytes=2**70),
]  # fmt: skip

OUT_OF_RANGE: list[Callable[[Things], Any]] = [lambda t: t.image.frame(7), lambda t: t.image.frame(-1)]


# Words of cffi, of Python's operators, and names of C, which say nothing to who gave the value.
NO_SENTENCE = re.compile(
    r"ctype|cdata|initializer|an integer is required|not supported between|object of type|cannot unpack|unpack \(|"
    r"convert|unhashable|__\w+__|\b(?:sdd_|SDD_)|\bNULL\b|^\S*$"
)


@pytest.mark.parametrize(
    ("calls", "kind"),
    [(WRONG_TYPES, TypeError), (WRONG_VALUES, ValueError), (TOO_LARGE, OverflowError), (OUT_OF_RANGE, IndexError)],
    ids=["types", "values", "too-large", "out-of-range"],
)
def test_errors_of_the_language(things: Things, calls: list[Callable[[Things], Any]], kind: type[Exception]) -> None:
    for number, call in enumerate(calls):
        try:
            call(things)
        except kind as error:
            assert not NO_SENTENCE.search(str(error)), f"call {number} raises {error!r}"
            continue
        except Exception as error:
            pytest.fail(f"call {number} raises {error!r}, no {kind.__name__}")
        pytest.fail(f"call {number} raises no {kind.__name__}")


def test_requests_are_refused_with_an_error_of_the_package(things: Things) -> None:
    for options in ({"size": (-1, 2)}, {"priority": 99}, {"pixel_format": 77}, {"headers": {"a": "b\nc"}}):
        with pytest.raises(sdd.RequestError) as caught:
            things.load(**options)
        assert caught.value.error_class is sdd.ErrorClass.REQUEST and str(caught.value).endswith(".")
    assert things.downloader.fetch_bytes_sync("data:,a", timeout=math.inf).data == b"a"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": "5"}, "size must be (width, height) in pixels, or one number for both, not '5'"),
        ({"size": (1.5, 2)}, "the width of size must be a whole number, not 1.5"),
        ({"timeout": "1"}, "timeout must be a number of seconds, not '1'"),
        ({"lenient": "yes"}, "lenient must be True or False, not 'yes'"),
        ({"fit": 5}, "fit must be a text, one of inside, fill, stretch, not 5"),
        ({"headers": 5}, "headers must be a dict of texts, not 5"),
        ({"alternatives": "a"}, "alternatives must be a list of texts, not 'a'"),
        ({"form_cache_only": True}, "'form_cache_only' is not an option here; did you mean 'from_cache_only'?"),
    ],
)
def test_sentences(things: Things, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TypeError) as caught:
        things.load(**options)
    assert str(caught.value) == sentence


def test_the_library_s_messages_have_python_s_names(things: Things) -> None:
    """They name fields and calls of C. What is quoted, a URL for instance, stays as it is."""
    found: list[str] = []
    calls: list[Callable[[], Any]] = [
        lambda: things.load(size=(-1, 2)), lambda: things.sdd.Downloader(retry_budget=-9),
        lambda: things.sdd.Downloader(proxy="http://a.test", public_addresses_only=True),
        lambda: things.sdd.Downloader(ageing=1e15), lambda: things.load("x:SDD_OPTION_RESUME/sdd_load()"),
        lambda: things.load("data:,none"), lambda: things.image.encode("tiff"),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(sdd.Error) as caught:
            call()
        found.append(str(caught.value))
    assert found[0] == "size: -1 is not at least 0."
    assert found[1].startswith("retry_budget: -9 is not ") and found[3].startswith("ageing, in milliseconds: ")
    assert found[2].startswith("proxy: it must be None with public_addresses_only")
    assert '"x:SDD_OPTION_RESUME/sdd_load()"' in found[4]
    assert "no coder takes it" in found[5] and found[6].startswith("libsdd does not write TIFF")
    for message in found:
        assert not re.search(r"\b(?:sdd_|SDD_(?!LOG=))|\bNULL\b", re.sub(r'"[^"]*"', "", message)), message


def test_a_coder_that_is_missing_is_named() -> None:
    program = """
import sdd
image = sdd.Image.from_pixels(bytes(16), 2, 2)
for call in (lambda: image.encode("webp"), lambda: sdd.Image.decode(b"RIFF\\x10\\0\\0\\0WEBPVP8 ")):
    try:
        call()
    except sdd.Error as error:
        print("libsdd-coder-webp" in str(error), error)
"""
    done = run_script(program, environment={"SDD_CODER_PATH": ""})
    assert [line[:5] for line in done.stdout.splitlines()] == ["True ", "True "], done.stdout + done.stderr


def test_a_wrong_type_of_a_number_names_the_option() -> None:
    options: Any = {"network_threads": "two"}
    with pytest.raises(TypeError, match="network_threads must be a number, not 'two'"):
        sdd.Downloader(**options)

"""The functions of the package that need no object: they use one loader for the whole process."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from ._batch import Batch
from ._cache import Cache
from ._constants import ERROR_INVALID_ARGUMENT
from ._downloader import Downloader
from ._errors import InvalidArgument
from ._help import takes
from ._image import Image
from ._interrupts import Lock
from ._items import PictureItem, RowItem
from ._loader import Loader
from ._previews import Previews
from ._results import Result
from ._rows import tensor_of
from ._transforms import Fit
from ._values import shown
from ._waiters import Preview, Progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import BatchOptions, LoadOptions, RowOptions


class _Default:
    """The default loader of this process; the child of a fork makes another."""

    def __init__(self) -> None:
        self._begin()
        # A thread of the parent, which the child lacks, may hold the lock.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = Lock()
        self._loader: Loader | None = None

    def get(self) -> Loader:
        return self._lock.held(self._open_one)

    def _open_one(self) -> Loader:
        if self._loader is None or self._loader.closed:
            self._loader = Loader(cache=Cache.shared())
        return self._loader


_default = _Default()


def default_loader() -> Loader:
    """The loader that `load()` and the like use: all defaults, with the shared cache in ~/.cache/sdd/default."""
    return _default.get()


@takes("LoadOptions")
async def load(url: str, *, progress: Progress | None = None, preview: Preview | None = None,
               **options: Unpack[LoadOptions]) -> Image:  # fmt: skip
    """Loads a picture from the cache or the network. Cancelling the task cancels the load.

    `progress(received, expected)` is called on the loop's thread; `expected` is None while it is unknown. So is
    `preview(image)`, with each preview while the picture arrives.
    """
    return await _default.get().load(url, progress=progress, preview=preview, **options)


@takes("LoadOptions")
def load_sync(url: str, *, progress: Progress | None = None, preview: Preview | None = None,
              **options: Unpack[LoadOptions]) -> Image:  # fmt: skip
    """`load()` for plain threads: blocks until the end."""
    return _default.get().load_sync(url, progress=progress, preview=preview, **options)


@takes("LoadOptions")
async def fetch(url: str, *, progress: Progress | None = None, preview: Preview | None = None,
                **options: Unpack[LoadOptions]) -> Result:  # fmt: skip
    """Loads a picture, and gives it with its bytes, response, metrics and origin."""
    return await _default.get().fetch(url, progress=progress, preview=preview, **options)


@takes("LoadOptions")
def fetch_sync(url: str, *, progress: Progress | None = None, preview: Preview | None = None,
               **options: Unpack[LoadOptions]) -> Result:  # fmt: skip
    """`fetch()` for plain threads: blocks until the end."""
    return _default.get().fetch_sync(url, progress=progress, preview=preview, **options)


@takes("LoadOptions")
def previews(url: str, *, progress: Progress | None = None, **options: Unpack[LoadOptions]) -> Previews:
    """Loads a picture, and gives previews while it arrives, then the picture: for `async for` or `for`."""
    return _default.get().previews(url, progress=progress, **options)


@takes("BatchOptions")
def load_many(urls: Iterable[str], **options: Unpack[BatchOptions]) -> Batch[PictureItem]:
    """Loads any number of pictures, a few at a time: for `async for` or `for`. `urls` may be endless."""
    return _default.get().load_many(urls, **options)


@takes("RowOptions")
def batch(
    urls: Iterable[str], out: Any, *, layout: Literal["hwc", "chw"] = "hwc",
    fit: Fit = "fill", background: int = 0, colour: Literal["srgb", "stored"] | None = None,
    loader: Loader | None = None, downloader: Downloader | None = None, **options: Unpack[RowOptions],
) -> Batch[RowItem]:  # fmt: skip
    """Writes pictures into rows of an array, one row for each URL, without a copy.

    `out` is a NumPy array or another buffer of uint8: (n, height, width, channels) with 1, 3 or 4 channels, (n,
    height, width) for grey, or with layout="chw" (n, 3, height, width). `fit` "fill" covers a row and crops the
    excess, "stretch" scales each side by itself, "inside" shows the whole picture at the top left with zeros beside or
    below it. `background` is 0xRRGGBB, shown through transparent pixels.

    `batch(urls, out=array).wait()` and `await batch(urls, out=array)` give the items in the order of the URLs; `for`
    and `async for` give each as its row is complete. A row may be read once its item is taken. The array must be left
    alone otherwise until the batch is over or closed; the batch keeps its memory where it is.

    The pictures are downloads, of `downloader` or the default loader's; with `loader` they come through its cache.
    `colour` "srgb" converts them to sRGB, "stored" leaves them in the colours of their files; by default they are
    converted with `loader` only. `RowItem.is_converted` tells it of each.
    """
    for name, given, kind in (("loader", loader, Loader), ("downloader", downloader, Downloader)):
        if given is not None and not isinstance(given, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, not {shown(given)}")
    tensor, view = tensor_of(out, layout, fit, background, colour)
    rows = int(tensor.c.slot_count)
    if isinstance(urls, (list, tuple)) and len(urls) > rows:
        sentence = f"out has {rows} rows for {len(urls)} URLs; it needs one for each."
        raise InvalidArgument(sentence, status=ERROR_INVALID_ARGUMENT)
    if loader is not None:
        if downloader is not None:
            raise TypeError("either loader or downloader can be given, not both")
        return Batch(urls, dict(options), loader, out=view, tensor=tensor)
    return Batch(urls, dict(options), downloader or _default.get().downloader, out=view, tensor=tensor)

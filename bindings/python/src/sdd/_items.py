"""The items of batches. A type checker knows what an item has once its `ok` or `error` has been looked at."""

# pyright: reportIncompatibleVariableOverride=false

from __future__ import annotations

from typing import Literal, NoReturn

from ._constants import ColourKind, Origin
from ._errors import Error
from ._image import Image
from ._metrics import Metrics
from ._results import Response, metrics_of


class Item:
    """One picture of a batch, or the reason why there is none.

    It is a `FailedItem`, or one of `PictureItem`, `BytesItem` and `RowItem`, by what was asked for.
    """

    __slots__ = ("index", "url", "size", "origin", "http_status", "seconds", "response", "_metrics", "_address")

    ok: bool
    """Whether there is a picture: `error` is None."""
    index: int
    """From 0, in the order of the URLs."""
    url: str
    """The URL as given."""
    image: Image | None
    """None with an error, for bytes, and for an array."""
    data: memoryview | None
    """The body, of a batch of bytes."""
    row: int | None
    """The row of the array; None without an array. The row of a failed item is all zero."""
    size: tuple[int, int]
    """Width and height of the pixels; (0, 0) if there are none."""
    origin: Origin
    """The network or a cache."""
    http_status: int
    """The status of the response; 0 if there was none."""
    seconds: float
    """From its submission to its end: `metrics.total`."""
    error: Error | None
    """The exception of an item that failed, else None."""
    response: Response | None
    """With `responses`, also of an item that failed; None if there was no response."""

    _metrics: bytes
    """A copy of the sdd_metrics."""
    _address: str

    @property
    def metrics(self) -> Metrics:
        """How long the stages took, and what the transfer cost, also of an item that failed."""
        return metrics_of(self._metrics, self._address)

    def result(self) -> Image:
        """The image; raises the error of an item that failed."""
        if self.error is not None:
            raise self.error
        if self.image is None:
            raise ValueError("The item has no image of its own: its pixels are in the array, or it has bytes alone.")
        return self.image

    def __repr__(self) -> str:
        what = self.error if self.error is not None else f"{self.size[0]} x {self.size[1]}"
        return f"<sdd.{type(self).__name__} {self.index} {self.url}: {what}>"


class FailedItem(Item):
    """An item without a picture."""

    __slots__ = ("error", "row")

    ok: Literal[False] = False
    error: Error
    image: None = None
    data: None = None

    def result(self) -> NoReturn:
        """Raises the error."""
        raise self.error


class PictureItem(Item):
    """An item of `load_many()` or `fetch_many()`."""

    __slots__ = ("image",)

    ok: Literal[True] = True
    error: None = None
    image: Image
    data: None = None
    row: None = None


class BytesItem(Item):
    """An item of `fetch_many_bytes()`."""

    __slots__ = ("data",)

    ok: Literal[True] = True
    error: None = None
    image: None = None
    data: memoryview
    row: None = None

    def __repr__(self) -> str:
        return f"<sdd.BytesItem {self.index} {self.url}: {len(self.data)} bytes>"


class RowItem(Item):
    """An item of `batch()`: its pixels are in a row of the array."""

    __slots__ = ("row", "_colour_kind", "is_converted")

    ok: Literal[True] = True
    error: None = None
    image: None = None
    data: None = None
    row: int
    is_converted: bool
    """Whether the pixels were converted to sRGB."""

    _colour_kind: int

    @property
    def colour_kind(self) -> ColourKind:
        """What the picture says of its colours, converted or not."""
        return ColourKind(self._colour_kind)

"""The items of batches. A type checker knows what an item has once its `ok` or `error` has been looked at."""

# pyright: reportIncompatibleVariableOverride=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NoReturn, Tuple

from ._constants import ColourKind, Origin
from ._errors import Error, error_of
from ._image import Image, view_of_bytes
from ._metrics import Metrics
from ._native import text
from ._results import Response, copy_of, image_of, metrics_of, metrics_of_copy, origin_of, response_of

Numbers = Tuple[int, int, int, int, int, int]
"""Those of an sdd_batch_item: index, slot, width, height, kind of colours, whether they were converted."""


class Item:
    """One picture of a batch, or the reason why there is none.

    It is a `FailedItem`, or one of `PictureItem`, `BytesItem` and `RowItem`, by what was asked for.
    """

    # A view: it reads from the sdd_result, which belongs to it, what somebody asks for.
    __slots__ = ("index", "url", "_result", "_numbers", "_made")

    ok: bool
    """Whether there is a picture: `error` is None."""
    index: int
    """From 0, in the order of the URLs."""
    url: str
    """The URL as given."""
    row: int | None
    """The row of the array; None without an array. The row of a failed item is all zero."""
    error: Error | None
    """The exception of an item that failed, else None."""

    _result: Any
    """The sdd_result, with its owner."""
    _numbers: Numbers
    _made: Any
    """The image or the data, when somebody has asked for it."""

    @property
    def image(self) -> Image | None:
        """None with an error, for bytes, and for an array."""
        return None

    @property
    def data(self) -> memoryview | None:
        """The body, of a batch of bytes."""
        return None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pixels; (0, 0) if there are none."""
        _, _, width, height, _, _ = self._numbers
        return width, height

    @property
    def origin(self) -> Origin:
        """The network or a cache."""
        return origin_of(self._result.origin)

    @property
    def http_status(self) -> int:
        """The status of the response; 0 if there was none."""
        return self._result.failure.http_status  # type: ignore[no-any-return]

    @property
    def seconds(self) -> float:
        """From its submission to its end: `metrics.total`."""
        return self._result.metrics.total_us / 1e6  # type: ignore[no-any-return]

    @property
    def response(self) -> Response | None:
        """With `responses`, also of an item that failed; None if there was no response."""
        return response_of(self._result)

    @property
    def metrics(self) -> Metrics:
        """How long the stages took, and what the transfer cost, also of an item that failed."""
        metrics = self._result.metrics
        return metrics_of(metrics, text(metrics.remote_address))

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


class PictureItem(Item):
    """An item of `load_many()` or `fetch_many()`."""

    __slots__ = ()

    ok: Literal[True] = True
    error: None = None
    data: None = None
    row: None = None

    @property
    def image(self) -> Image:
        """The picture."""
        image: Image | None = self._made
        if image is None:
            self._made = image = image_of(self._result)
        return image

    def __reduce__(self) -> NoReturn:
        raise TypeError("a PictureItem cannot be pickled; send item.image.encode(), or a copy of item.image.to_numpy()")


class BytesItem(Item):
    """An item of `fetch_many_bytes()`."""

    __slots__ = ()

    ok: Literal[True] = True
    error: None = None
    image: None = None
    row: None = None

    @property
    def data(self) -> memoryview:
        """The body, read-only, without a copy."""
        data: memoryview | None = self._made
        if data is None:
            self._made = data = view_of_bytes(self._result.bytes, self._result)
        return data

    def __repr__(self) -> str:
        return f"<sdd.BytesItem {self.index} {self.url}: {len(self.data)} bytes>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a BytesItem cannot be pickled; send bytes(item.data)")


class _CopiedItem(Item):
    """An item without anything of the library's: its sdd_result is released when it has been made."""

    __slots__ = ("size", "origin", "http_status", "seconds", "response", "row", "_metrics", "_address")

    image: None = None
    data: None = None
    size: tuple[int, int]
    origin: Origin
    http_status: int
    seconds: float
    response: Response | None
    _metrics: bytes
    """A copy of the sdd_metrics."""
    _address: str

    @property
    def metrics(self) -> Metrics:
        """How long the stages took, and what the transfer cost, also of an item that failed."""
        return metrics_of_copy(self._metrics, self._address)

    def _copy(self, result: Any, numbers: Numbers) -> None:
        _, slot, width, height, _, _ = numbers
        self.size = (width, height)
        self.origin = origin_of(result.origin)
        self.http_status = result.failure.http_status
        self.seconds = result.metrics.total_us / 1e6
        self.response = response_of(result)
        self._metrics = copy_of(result.metrics)
        self._address = text(result.metrics.remote_address)


class FailedItem(_CopiedItem):
    """An item without a picture."""

    __slots__ = ("error",)

    ok: Literal[False] = False
    row: int | None
    error: Error

    def result(self) -> NoReturn:
        """Raises the error."""
        raise self.error


class RowItem(_CopiedItem):
    """An item of `batch()`: its pixels are in a row of the array."""

    __slots__ = ("_colour_kind", "is_converted")

    ok: Literal[True] = True
    error: None = None
    row: int
    is_converted: bool
    """Whether the pixels were converted to sRGB."""

    _colour_kind: int

    @property
    def colour_kind(self) -> ColourKind:
        """What the picture says of its colours, converted or not."""
        return ColourKind(self._colour_kind)


def items_of(
    kind: type[Item], results: Iterable[Any], numbers: Iterable[Numbers], url_of: Callable[[int], str]
) -> list[Any]:
    """The items of one taking: of a kind, or failed. The results have owners."""
    made: list[Any] = []
    for result, record in zip(results, numbers):
        index = record[0]
        item: Any
        if result.failure.status:
            item = FailedItem()
            item.url = url = url_of(index)
            item.error = error_of(result.failure, url)
            item.row = record[1] if kind is RowItem and record[1] >= 0 else None
            item._copy(result, record)
        elif kind is RowItem:
            item = RowItem()
            item.url = url_of(index)
            item.row = record[1] if record[1] >= 0 else None
            item._colour_kind, item.is_converted = record[4], bool(record[5])
            item._copy(result, record)
        else:
            item = kind()
            item.url = url_of(index)
            item._result = result
            item._numbers = record
            item._made = None
        item.index = index
        made.append(item)
    return made

"""Batches: any number of pictures, a few at a time, each taken once; also straight into rows of an array."""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _constants as c
from ._closing import Closing
from ._errors import ClosedError, Error, check
from ._fork import check_generation, generation
from ._image import Image, bytes_view
from ._loops import sleep
from ._native import ffi, lib, milliseconds, text
from ._plans import decode_options, take_bits
from ._results import Response, failure_of, origin_of
from ._signal import Signal
from ._structs import Struct, c_text

if TYPE_CHECKING:
    from ._pump import Pump

_TAKEN = 64
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.004
"""Seconds between two takings in a batch whose items come quickly: each wake costs more than several items."""
_ITEMS, _COUNT = ffi.typeof(f"sdd_batch_item[{_TAKEN}]"), ffi.typeof("size_t *")
_ITEM_SIZE = ffi.sizeof("sdd_batch_item")


class Item:
    """One picture of a batch, or the reason why there is none."""

    __slots__ = ("index", "url", "image", "data", "row", "size", "origin", "http_status", "seconds", "error",
                 "response")  # fmt: skip

    index: int
    """From 0, in the order of the URLs."""
    url: str
    image: Image | None
    """None with an error, for bytes, and for an array."""
    data: memoryview | None
    """The body, of a batch of bytes."""
    row: int | None
    """The row of the array; None without an array. The row of a failed item is all zero."""
    size: tuple[int, int]
    """Width and height of the pixels; (0, 0) if there are none."""
    origin: int
    """An `Origin`."""
    http_status: int
    seconds: float
    """From its submission to its end."""
    error: Error | None
    response: Response | None
    """With `responses`, also of an item that failed; None if there was no response."""

    @property
    def ok(self) -> bool:
        return self.error is None

    def result(self) -> Image:
        """The image; raises the error of an item that failed."""
        if self.error is not None:
            raise self.error
        if self.image is None:
            raise ValueError("the item has no image of its own")
        return self.image

    def __repr__(self) -> str:
        what = self.error if self.error is not None else f"{self.size[0]} x {self.size[1]}"
        return f"<sdd.Item {self.index} {self.url}: {what}>"


class _Source:
    """The URLs of a batch: a sequence, which the library copies, or an iterator, which it asks for one at a time."""

    def __init__(self, urls: Iterable[str], config: Struct) -> None:
        self.error: BaseException | None = None
        self._sequence: Sequence[str] | None = None
        self._given: dict[int, str] = {}
        if isinstance(urls, str):
            raise TypeError("urls must be a list or another iterable of texts, not one text")
        if isinstance(urls, (list, tuple)):
            self._sequence = tuple(urls)
            config.set_texts("urls", "count", self._sequence)
        else:
            self._iterator = iter(urls)
            self._count = 0
            self._memory: Any = None
            self._callback = ffi.callback("sdd_batch_next_fn", self._next)
            config.c.next = self._callback

    def _next(self, item: Any, user_data: Any) -> int:
        """Called by the library on the thread that takes items. An exception is raised when all items are taken."""
        try:
            url = next(self._iterator)
            self._memory = c_text(url)  # until the next call: the library copies it after this one
        except StopIteration:
            return 0
        except BaseException as error:
            self.error = error
            return 0
        item.url = self._memory
        self._given[self._count] = url
        self._count += 1
        return 1

    def take_url(self, index: int) -> str:
        return self._sequence[index] if self._sequence is not None else self._given.pop(index)


class Batch(Closing):
    """Any number of pictures for one `async for` or `for`, or several, each of which gets a part of the items.

    `await batch` and `wait()` give the list of all items. Leaving a loop early does not end the batch: closing it, by
    `with`, `async with`, `close()` or garbage collection, cancels the rest. A bad item never stops the others; an
    exception of the iterable of URLs is raised when all items before it are taken. Items that come quickly are taken
    together, a few milliseconds late at most.
    """

    def __init__(self, urls: Iterable[str], options: dict[str, Any], *, pump: Pump, loader: Any = None, bits: int = 0,
                 out: Any = None, tensor: Struct | None = None) -> None:  # fmt: skip
        pump.check_usable()
        self._pump = pump  # kept open
        config = Struct("sdd_batch_config")
        bits |= take_bits(options)
        config.c.options = bits
        if tensor is not None:
            config.set("tensor", tensor)
        else:
            config.set("decode", decode_options(options))
        config.c.order = c.BATCH_ORDERED if options.pop("ordered", False) else c.BATCH_AS_COMPLETED
        config.c.responses = int(bool(options.pop("responses", False)))
        config.c.deadline_ms = milliseconds(options.pop("deadline", 0))
        for name in ("look_ahead", "max_attempts"):
            config.set(name, options.pop(name, None))
        # With fewer items under way, a pause would leave connections without work.
        self._is_paced = not 0 < config.c.look_ahead < _TAKEN
        self._taken = 0
        self._pause = _SHORTEST_PAUSE
        self._next_take = 0.0
        if options:
            raise TypeError(f"not options of a batch: {', '.join(options)}")
        if loader is None:
            config.c.downloader = pump.handle
        else:
            config.c.loader = loader
        self._source = _Source(urls, config)
        self._items: deque[Item] = deque()
        self._has_rows = tensor is not None
        self._is_over = False
        handle = ffi.new("sdd_batch **")
        check(lib.sdd_batch_create(config.c, handle))
        self._handle = handle[0]
        self._generation = generation()
        # The array and the source are kept until nothing is written there, and nobody asks for URLs.
        self._end = weakref.finalize(self, _destroy, self._handle, generation(), self._source, out)
        self._signal = Signal(lib.sdd_batch_event_fd(self._handle))

    # ---- taking items

    def _take(self) -> bool:
        """Takes items that have ended, without waiting. False: there are none yet."""
        check_generation(self._generation, "batch")
        if not self._end.alive:
            raise ClosedError("The batch is closed.", code=c.ERROR_CLOSED)
        items, count = ffi.new(_ITEMS), ffi.new(_COUNT)
        items[0].struct_size = _ITEM_SIZE
        status = lib.sdd_batch_wait(self._handle, items, _TAKEN, 0, count)
        error = self._source.error
        if status == c.ERROR_TIMED_OUT:
            if error is not None and not isinstance(error, Exception):  # Ctrl-C, for instance, waits for nothing
                raise error
            return False
        check(status)
        number = count[0]
        self._items.extend([self._item(items[index]) for index in range(number)])
        self._taken += number
        if self._is_paced and self._taken > _TAKEN:
            self._set_pause(number)
        if number == 0:
            self._is_over = True
            if error is not None:
                raise error
        return True

    def _set_pause(self, number: int) -> None:
        """Lets half of the look-ahead come together, so that the other half keeps the connections busy meanwhile."""
        if number < _TAKEN // 2:
            self._pause = min(self._pause * 1.5, _LONGEST_PAUSE)
        else:
            self._pause = max(self._pause / 2, _SHORTEST_PAUSE)
        if number < _TAKEN:
            self._next_take = time.monotonic() + self._pause

    def _item(self, taken: Any) -> Item:
        made = Item()
        made.index = index = taken.index
        made.url = url = self._source.take_url(index)
        made.image = Image._take(taken.image) if taken.image else None
        made.data = bytes_view(taken.bytes) if taken.bytes else None
        made.row = taken.slot if self._has_rows and taken.slot >= 0 else None
        made.size = (taken.width, taken.height)
        made.origin = origin_of(taken.origin)
        made.http_status = taken.http_status
        made.seconds = taken.time_us / 1e6
        made.error = failure_of(taken, text(taken.message), url) if taken.error else None
        made.response = Response(ffi.gc(taken.response, lib.sdd_response_release)) if taken.response else None
        return made

    def _ready(self) -> Iterator[Item]:
        """The items that are taken already, some of which another thread may take first."""
        while True:
            try:
                item = self._items.popleft()
            except IndexError:
                return
            yield item

    async def __aiter__(self) -> AsyncIterator[Item]:
        while True:
            for item in self._ready():
                yield item
            if self._is_over:
                return
            pause = self._next_take - time.monotonic()
            if pause > 0:
                await sleep(pause)
            if not self._take():
                await self._signal.wait()

    def __iter__(self) -> Iterator[Item]:
        while True:
            yield from self._ready()
            if self._is_over:
                return
            pause = self._next_take - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            if not self._take():
                self._signal.wait_sync()

    def __await__(self) -> Generator[Any, None, list[Item]]:
        return self._all().__await__()

    async def _all(self) -> list[Item]:
        return sorted([item async for item in self], key=_index_of)

    def wait(self) -> list[Item]:
        """Waits for all items in a plain thread, and returns them in the order of the URLs."""
        return sorted(self, key=_index_of)

    # ---- control

    def cancel(self) -> None:
        """Ends all items that have not ended, with RequestCancelled. They can still be taken."""
        check_generation(self._generation, "batch")
        check(lib.sdd_batch_cancel(self._handle))

    def statistics(self) -> dict[str, Any]:
        """Counts so far: the fields of sdd_batch_statistics."""
        from ._downloader import statistics_of

        check_generation(self._generation, "batch")
        return statistics_of("sdd_batch_statistics", lib.sdd_batch_get_statistics, self._handle)

    def hosts(self) -> dict[str, dict[str, int]]:
        """Counts of each host: items, failed, bytes, time_us."""
        check_generation(self._generation, "batch")
        record = Struct("sdd_batch_host")
        found: dict[str, dict[str, int]] = {}
        while lib.sdd_batch_get_host(self._handle, len(found), record.c) == c.OK:
            name = text(record.c.host)
            found[name] = {field: getattr(record.c, field) for field in ("items", "failed", "bytes", "time_us")}
        return found

    def close(self) -> None:
        """Cancels what has not ended, and waits until nothing is written to the array any more."""
        check_generation(self._generation, "batch")
        if self._end.alive:
            self._end()
            self._signal.wake()

    @property
    def closed(self) -> bool:
        return not self._end.alive


def _index_of(item: Item) -> int:
    return item.index


def _destroy(handle: Any, made_in: int, *_kept: object) -> None:
    if made_in == generation():
        lib.sdd_batch_destroy(handle)

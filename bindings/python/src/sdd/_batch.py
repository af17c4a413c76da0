"""Batches: any number of pictures, a few at a time, each taken once; also straight into rows of an array."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from itertools import repeat
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from . import _constants as c
from ._closing import Closing, Owned
from ._errors import CallError, ClosedError, check
from ._fork import check_generation, generation
from ._interrupts import in_any_case
from ._loops import sleep
from ._items import BytesItem, FailedItem, Item, PictureItem, RowItem, items_of
from ._native import ffi, lib, text
from ._options import BatchOptions, RowOptions
from ._plans import names_of, take_request
from ._signal import Signal
from ._structs import Struct, layout_of
from ._values import c_text, fits_c, flag, no_option, shown

if TYPE_CHECKING:
    from ._downloader import Downloader
    from ._loader import Loader

Good = TypeVar("Good", bound=Item, covariant=True)
"""What the items are that did not fail."""

_TAKEN = 64
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.004
"""Seconds between two takings in a batch whose items come quickly: each wake costs more than several items."""
_ITEMS, _COUNT = ffi.typeof(f"sdd_batch_item[{_TAKEN}]"), ffi.typeof("size_t *")
_ITEM_SIZE = ffi.sizeof("sdd_batch_item")
_result_of = attrgetter("result")
_NUMBERS = layout_of("sdd_batch_item", "index", "slot", "width", "height", "colour_kind", "is_converted")


def _is_missing(url: object) -> bool:
    """Whether it is what a table has where there is no text: None, or NaN, pandas.NaT or pandas.NA."""
    return url is None or isinstance(url, float) and url != url or type(url).__name__ in ("NAType", "NaTType")


def _shown_to_c(url: str | None) -> str:
    """What C is given for a URL. A missing one, or a text that cannot be one, is an empty one: only its item fails."""
    if _is_missing(url) or isinstance(url, str) and not fits_c(url):
        return ""
    if not isinstance(url, str):
        raise TypeError(f"a URL must be a text, not {shown(url)}")
    return url


def _joined(urls: tuple[str, ...]) -> str | None:
    """Texts, each with a NUL at its end. None if one is no text that C takes."""
    try:
        joined = "\0".join(itertools.chain(urls, ("",)))
    except TypeError:
        return None
    return joined if joined.count("\0") == len(urls) and (joined.isascii() or all(map(fits_c, urls))) else None


def _texts(urls: tuple[str, ...]) -> tuple[bytes, Any]:
    """Texts in one memory, each with a NUL at its end, and the array of their addresses: nothing is made for each."""
    joined = _joined(urls)
    if joined is None:
        urls = tuple(map(_shown_to_c, urls))
        joined = _joined(urls)
        assert joined is not None
    memory = joined.encode()
    lengths: Iterable[int] = map(len, urls if joined.isascii() else memory.split(b"\0")[:-1])
    begin = int(ffi.cast("uintptr_t", ffi.from_buffer(memory)))
    begins = map(add, itertools.accumulate(lengths, initial=begin), itertools.count())
    return memory, ffi.new("uintptr_t[]", list(begins))


class _Source:
    """The URLs of a batch: a sequence, which the library copies, or an iterator, which it asks for one at a time."""

    def __init__(self, urls: Iterable[str], config: Struct) -> None:
        self.error: BaseException | None = None
        self._given: dict[int, str] = {}
        """URLs of an iterator whose items have not been taken, by their index."""
        self.url_of: Callable[[int], str]
        """Gives the URL with an index, until that is forgotten."""
        if isinstance(urls, (str, bytes)) or not isinstance(urls, Iterable):
            raise TypeError(f"urls must be a list or another iterable of texts, not {shown(urls)}")
        if isinstance(urls, (list, tuple)):
            sequence = tuple(urls)
            if sequence:
                memory, begins = map(config.keep, _texts(sequence))
                config.c.urls, config.c.count = ffi.cast("const char *const *", begins), len(sequence)
            self.url_of = sequence.__getitem__
        else:
            self._iterator = iter(urls)
            self._count = 0
            self._memory: Any = None
            self.url_of = self._given.__getitem__
            self._callback = ffi.callback("sdd_batch_next_fn", self._next, error=0, onerror=self._fail)
            config.c.next = self._callback

    def forget(self, indexes: Iterable[int]) -> None:
        """Forgets URLs whose items have been taken. Can be called again if it is interrupted."""
        if self._given:
            for index in indexes:
                self._given.pop(index, None)

    def _next(self, item: Any, user_data: Any) -> int:
        """Called by the library on the thread that takes items."""
        try:
            url = next(self._iterator)
        except StopIteration:
            return 0
        self._memory = c_text(_shown_to_c(url), "a URL")  # until the next call: the library copies it after this one
        item.url = self._memory
        self._given[self._count] = url
        self._count += 1
        return 1

    def _fail(self, kind: Any, error: BaseException, trace: Any) -> None:
        """Keeps what ended `_next()`, also before its first line: there a signal handler may raise an exception.

        It is raised when all items are taken.
        """
        self.error = error.with_traceback(trace)


class _Taking:
    """The items of one call, which are kept here until they are where the loops find them."""

    __slots__ = ("items", "count", "status", "owners", "made")

    def __init__(self) -> None:
        self.items, self.count = ffi.new(_ITEMS), ffi.new(_COUNT)
        self.items[0].struct_size = _ITEM_SIZE
        self.status: int = c.OK
        self.owners: list[Any] = []
        """The results, each with its owner: made in one call of C."""
        self.made: list[Any] | None = None
        """None, then the items that are not there yet, the last one first."""


class Batch(Closing, Generic[Good]):
    """Any number of pictures for one `async for` or `for`, or several, each of which gets a part of the items.

    `await batch` and `wait()` give the list of all items. Leaving a loop early does not end the batch: closing it, by
    `with`, `async with`, `close()` or garbage collection, cancels the rest. A bad item never stops the others; an
    exception of the iterable of URLs is raised when all items before it are taken. Items that come quickly are taken
    together, a few milliseconds late at most.
    """

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Batch cannot be copied or pickled; make one in each process")

    def __init__(self, urls: Iterable[str], options: dict[str, Any], owner: Loader | Downloader, *, bits: int = 0,
                 out: Any = None, tensor: Struct | None = None) -> None:  # fmt: skip
        handle = owner._usable()
        self._owner = owner  # kept open, with its caches
        config = Struct("sdd_batch_config")
        bits |= take_request(config, options, has_decode=tensor is None)
        config.c.options = bits
        config.set("tensor", tensor)
        is_ordered = flag("ordered", options.pop("ordered", None) or 0)
        config.c.order = c.BATCH_ORDERED if is_ordered else c.BATCH_AS_COMPLETED
        config.c.responses = flag("responses", options.pop("responses", None) or 0)
        for name in ("deadline", "look_ahead"):
            config.set(name, options.pop(name, None))
        # With fewer items under way, a pause would leave connections without work.
        self._is_paced = not 0 < config.c.look_ahead < _TAKEN
        self._taken = 0
        self._pause = _SHORTEST_PAUSE
        self._next_take = 0.0
        for name in options:
            raise no_option(name, names_of(BatchOptions if tensor is None else RowOptions), "of a batch")
        setattr(config.c, owner._KIND, handle)
        self._source = _Source(urls, config)
        self._items: deque[Good | FailedItem] = deque()
        self._kind: type[Item] = BytesItem if bits & c.OPTION_BYTES_ONLY else PictureItem
        if tensor is not None:
            self._kind = RowItem
        self._is_over = self._is_closing = False
        self._made_in = generation()
        # The array and the source are kept until nothing is written there, and nobody asks for URLs.
        self._owned = Owned(self, "sdd_batch", lib.sdd_batch_destroy, self._source, out)
        check(lib.sdd_batch_create(config.c, self._owned.place))
        self._handle = self._owned.place[0]
        self._signal = Signal(lib.sdd_batch_event_fd(self._handle))

    def _usable(self) -> Any:
        check_generation(self._made_in, "batch")
        if self.closed:
            raise ClosedError("The batch is closed.", status=c.ERROR_CLOSED)
        return self._handle

    # ---- taking items

    def _take(self) -> bool:
        """Takes items that have ended, without waiting. False: there are none yet."""
        self._owner._pump.drain_log()  # no loop watches the descriptor of events while only batches run
        taking = _Taking()
        in_any_case(self._take_into, self._usable(), taking)
        number = taking.count[0]
        if self._is_closing:  # by the iterator of the URLs
            in_any_case(self._close)
            self._usable()
        error = self._source.error
        if taking.status == c.ERROR_TIMEOUT:
            if error is not None and not isinstance(error, Exception):  # Ctrl-C, for instance, waits for nothing
                raise error
            return False
        check(taking.status)
        self._taken += number
        if self._is_paced and self._taken > _TAKEN:
            self._set_pause(number)
        if number == 0:
            self._is_over = True
            if error is not None:
                raise error
        return True

    def _take_into(self, handle: Any, taking: _Taking) -> None:
        """Takes items, and puts them where the loops find them. Can be called again, with the same object, if an
        exception out of a signal handler interrupts it: each step is one call of C, or can be made twice."""
        if not taking.count[0]:
            taking.status = lib.sdd_batch_wait(handle, taking.items, _TAKEN, 0, taking.count)
        number = taking.count[0]
        if not number:
            return
        taking.status = c.OK
        if not taking.owners:
            results = map(_result_of, taking.items[0:number])
            taking.owners.extend(map(ffi.gc, results, repeat(lib.sdd_result_release)))
        numbers = list(_NUMBERS.iter_unpack(ffi.buffer(taking.items, number * _ITEM_SIZE)))
        if taking.made is None:
            made = items_of(self._kind, taking.owners, numbers, self._source.url_of)
            taking.made = [None, *reversed(made)]
        if taking.made:  # not put there yet
            self._items.extend(iter(taking.made.pop, None))
        self._source.forget(record[0] for record in numbers)

    def _set_pause(self, number: int) -> None:
        """Lets half of the look-ahead come together, so that the other half keeps the connections busy meanwhile."""
        if number < _TAKEN // 2:
            self._pause = min(self._pause * 1.5, _LONGEST_PAUSE)
        else:
            self._pause = max(self._pause / 2, _SHORTEST_PAUSE)
        if number < _TAKEN:
            self._next_take = time.monotonic() + self._pause

    def _ready(self) -> Iterator[Good | FailedItem]:
        """Items that have been taken; IndexError at their end. A loop has one without a call of Python's, after which a
        signal handler might come."""
        return iter(self._items.popleft, None)

    async def __aiter__(self) -> AsyncIterator[Good | FailedItem]:
        while True:
            try:
                for item in self._ready():
                    yield item
            except IndexError:  # or another task has taken the last
                pass
            if self._is_over:
                return
            pause = self._next_take - time.monotonic()
            if pause > 0:
                await sleep(pause)
            if not self._take():
                await self._signal.wait()

    def __iter__(self) -> Iterator[Good | FailedItem]:
        while True:
            try:
                for item in self._ready():
                    yield item
            except IndexError:  # or another thread has taken the last
                pass
            if self._is_over:
                return
            pause = self._next_take - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            if not self._take():
                self._signal.wait_sync()

    def __await__(self) -> Generator[Any, None, list[Good | FailedItem]]:
        return self._all().__await__()

    async def _all(self) -> list[Good | FailedItem]:
        taken: list[Any] = [None]
        try:
            async for item in self:
                taken.append(item)
            return sorted(taken[1:], key=_index_of)
        except BaseException:
            in_any_case(self._put_back, taken)
            raise

    def wait(self) -> list[Good | FailedItem]:
        """Waits for all items in a plain thread, and returns them in the order of the URLs.

        What ends it early, such as Ctrl-C, leaves the items for the next one. So does a timeout of `await batch`.
        """
        taken: list[Any] = [None]
        try:
            taken.extend(self)
            return sorted(taken[1:], key=_index_of)
        except BaseException:
            in_any_case(self._put_back, taken)
            raise

    def _put_back(self, taken: list[Any]) -> None:
        """Puts items that nobody gets in front of the others, in one call of C. Ends at the None before them."""
        if taken:
            self._items.extendleft(iter(taken.pop, None))

    # ---- control

    def cancel(self) -> None:
        """Ends all items that have not ended, with RequestCancelled. They can still be taken."""
        check(lib.sdd_batch_cancel(self._usable()))

    def statistics(self) -> dict[str, Any]:
        """Counts so far: the fields of sdd_batch_statistics."""
        from ._downloader import statistics_of

        return statistics_of("sdd_batch_statistics", lib.sdd_batch_get_statistics, self._usable())

    def hosts(self) -> dict[str, dict[str, int]]:
        """Counts of each host: items, failed, bytes, time_us."""
        handle, record = self._usable(), Struct("sdd_batch_host")
        found: dict[str, dict[str, int]] = {}
        while lib.sdd_batch_get_host(handle, len(found), record.c) == c.OK:
            name = text(record.c.host)
            found[name] = {field: getattr(record.c, field) for field in ("items", "failed", "bytes", "time_us")}
        return found

    def close(self) -> None:
        """Cancels what has not ended, and waits until nothing is written to the array any more.

        Inside the iterator of the URLs it does not wait: the batch ends when the iterator has returned.
        """
        check_generation(self._made_in, "batch")
        if not self.closed:
            in_any_case(self._close)

    def _close(self) -> None:
        self._is_closing = True
        try:
            self._owned.end()
        except CallError:  # inside the iterator: `_take()` ends it
            lib.sdd_batch_cancel(self._handle)
        else:
            self._signal.wake()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._is_closing or self._owned.is_over

    def _state(self) -> str:
        return "closed" if self.closed else "over" if self._is_over else f"{self._taken} taken"


def _index_of(item: Item) -> int:
    return item.index

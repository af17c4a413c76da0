"""What waits for a request: a future of an event loop, or a plain thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

Progress = Callable[[int, "int | None"], object]
"""Called with the bytes of the body so far, and with all of them, or None while that is unknown."""

_log = logging.getLogger("sdd")


class Waiter(Protocol):
    """The receiver of a request's events. Its methods are called on any thread, one at a time."""

    make: Callable[[Any], Any]
    """Copies what is wanted from a terminal event without an error."""

    def report(self, loop: asyncio.AbstractEventLoop | None, call: Callable[[], object]) -> None:
        """Makes a call of the application's, for progress or a preview, where it belongs."""

    def finish(self, loop: asyncio.AbstractEventLoop | None, value: Any, error: BaseException | None) -> None: ...


def _report(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        _log.exception("A function for progress or previews raised an exception")


class LoopWaiter:
    """A future. Everything happens on the thread of its loop; `loop` is the loop whose thread calls, or None."""

    __slots__ = ("make", "future", "_loop")

    def __init__(self, make: Callable[[Any], Any], loop: asyncio.AbstractEventLoop) -> None:
        self.make = make
        self._loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def report(self, loop: asyncio.AbstractEventLoop | None, call: Callable[[], object]) -> None:
        if self.future.done():
            return
        if loop is self._loop:
            _report(call)
        else:
            self._from_outside(_report, call)

    def finish(self, loop: asyncio.AbstractEventLoop | None, value: Any, error: BaseException | None) -> None:
        if loop is self._loop:
            self._set(value, error)
        else:
            self._from_outside(self._set, value, error)

    def _from_outside(self, function: Callable[..., object], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed: nobody waits
            pass

    def _set(self, value: Any, error: BaseException | None) -> None:
        if self.future.done():  # its task was cancelled
            return
        if error is None:
            self.future.set_result(value)
        else:
            self.future.set_exception(error)


class ThreadWaiter:
    """A plain thread. It makes the calls for progress and previews itself."""

    __slots__ = ("make", "ready", "is_done", "value", "error", "_calls")

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make
        self.ready = threading.Event()
        """Set when there is something to do for the thread."""
        self.is_done = False
        self.value: Any = None
        self.error: BaseException | None = None
        self._calls: deque[Callable[[], object]] = deque()

    def report(self, loop: asyncio.AbstractEventLoop | None, call: Callable[[], object]) -> None:
        self._calls.append(call)
        self.ready.set()

    def finish(self, loop: asyncio.AbstractEventLoop | None, value: Any, error: BaseException | None) -> None:
        self.value, self.error = value, error
        self.is_done = True
        self.ready.set()

    def run_calls(self) -> None:
        while self._calls:
            _report(self._calls.popleft())

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value

"""The two that may wait for a request: a future of an event loop, and a plain thread.

`report()` makes a call of the application's, for progress or a preview, where it belongs; `finish()` ends the wait.
Both may be called on any thread. Their first argument is the loop whose thread calls, or None.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Union

Progress = Callable[[int, "int | None"], object]
"""Called with the bytes of the body so far, and with all of them, or None while that is unknown."""

_log = logging.getLogger("sdd")


def _report(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        _log.exception("A function for progress or previews raised an exception")


class LoopWaiter:
    """A future. Everything happens on the thread of its loop."""

    __slots__ = ("future", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
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

    __slots__ = ("ready", "is_done", "value", "error", "_calls")

    def __init__(self) -> None:
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


Waiter = Union[LoopWaiter, ThreadWaiter]

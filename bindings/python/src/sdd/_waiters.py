"""Requests under way, each with those that wait for it: a task of asyncio or of trio, or a plain thread.

`report()` and `finish()` may be called on any thread. Their first argument is the loop whose thread calls, or None.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from . import _constants as c
from ._image import Image
from ._interrupts import Bell
from ._loops import LoopWatch, TrioWatch, Watch, running_trio
from ._values import shown

Progress = Callable[[int, "int | None"], object]
"""Called with the bytes of the body so far, and with all of them, or None while that is unknown."""

Preview = Callable[[Image], object]
"""Called with each preview while the picture arrives."""

Make = Callable[[Any, str], Any]
"""Copies what is wanted from the sdd_result of a request, or the sdd_prefetch_report of a list, that has not failed.
The second argument is the URL."""

_log = logging.getLogger("sdd")
_running_loop = asyncio.get_running_loop
_modules = sys.modules


def _report(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        _log.exception("A function for progress or previews raised an exception")


class Listener:
    """The reports that an application wants about one request, besides its end."""

    __slots__ = ("progress", "preview", "bits", "context")

    def __init__(self, progress: Progress | None = None, preview: Preview | None = None) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function, not {shown(progress)}")
        if preview is not None and not callable(preview):
            raise TypeError(f"preview must be a function, not {shown(preview)}")
        self.progress = progress
        self.preview = preview
        self.context = contextvars.copy_context()
        self.bits = (c.OPTION_PROGRESS_EVENTS if progress else 0) | (c.OPTION_PREVIEW_EVENTS if preview else 0)


_NOBODY = Listener()


def listener_of(progress: Progress | None, preview: Preview | None = None) -> Listener:
    """The listener of a request, which most share because nobody listens."""
    return _NOBODY if progress is None and preview is None else Listener(progress, preview)


class Waiter(ABC):
    """A request under way."""

    __slots__ = ("url", "make", "listener", "cached", "loop", "token")

    def __init__(self, url: str, make: Make, listener: Listener) -> None:
        self.url = url
        self.make = make
        self.listener = listener
        self.cached: Any = None
        """With `refresh`: the outcome made from the cached picture."""
        self.loop: Any = None
        """The object that identifies the loop, as in `_loops`; None for a plain thread."""
        self.token = 0
        """0 until the request is submitted."""

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether the request has ended, or was given up."""

    @abstractmethod
    def report(self, loop: Any, call: Callable[[], object]) -> None:
        """Makes a call of the application's, for progress or a preview, where it belongs."""

    @abstractmethod
    def finish(self, value: Any, error: BaseException | None) -> None:
        """Ends the wait; a task's only on the thread of its loop. Only the first end counts."""


class TaskWaiter(Waiter):
    """A task of an event loop. All but the constructor, `report()` and `finish_all()` happens on the loop's thread."""

    __slots__ = ()

    @abstractmethod
    def wait(self) -> Awaitable[Any]:
        """Waits for the end; gives the value, or raises the error."""

    @abstractmethod
    def when_done(self, call: Callable[[], object]) -> None:
        """Sets a function that is called at the end."""

    @abstractmethod
    def give_up(self) -> None:
        """Nobody waits from now on, and the application is no longer called. Does nothing after the end."""

    @abstractmethod
    def watch(self, fd: int, function: Callable[[Any], bool]) -> Watch:
        """Watches a descriptor in the loop."""

    @abstractmethod
    def _soon(self, function: Callable[..., object], *arguments: Any) -> object:
        """Calls a function on the thread of the loop, from any thread. Raises RuntimeError if the loop is closed."""

    def report(self, loop: Any, call: Callable[[], object]) -> None:
        if self.is_done:
            return
        run = self.listener.context.run  # of the task that submitted the request
        if loop is self.loop:
            run(_report, call)
        else:
            self._from_outside(run, _report, call)

    def finish_all(self, ends: Iterable[tuple[TaskWaiter, Any, BaseException | None]]) -> None:
        """Ends the waits of tasks of one loop, each with its value or error, with one wake-up: from any thread."""
        self._from_outside(_finish_all, ends)

    def _from_outside(self, function: Callable[..., object], *arguments: Any) -> None:
        try:
            self._soon(function, *arguments)
        except RuntimeError:  # the loop is closed: nobody waits
            pass


def _finish_all(ends: Iterable[tuple[TaskWaiter, Any, BaseException | None]]) -> None:
    for waiter, value, error in ends:
        waiter.finish(value, error)


class LoopWaiter(TaskWaiter):
    """A task of asyncio, with a future."""

    __slots__ = ("_future",)

    def __init__(self, url: str, make: Make, listener: Listener, loop: asyncio.AbstractEventLoop) -> None:
        # Without that of the base class: this is done for every request.
        self.url = url
        self.make = make
        self.listener = listener
        self.cached = None
        self.loop = loop
        self.token = 0
        self._future: asyncio.Future[Any] = loop.create_future()

    @property
    def is_done(self) -> bool:
        return self._future.done()

    def wait(self) -> Awaitable[Any]:
        return self._future

    def when_done(self, call: Callable[[], object]) -> None:
        self._future.add_done_callback(lambda _: call())

    def give_up(self) -> None:
        if self._future.done():
            if not self._future.cancelled():
                self._future.exception()  # asyncio reports errors that nobody has asked for
        elif not self.loop.is_closed():
            self._future.cancel()

    def watch(self, fd: int, function: Callable[[Any], bool]) -> Watch:
        return LoopWatch(self.loop, fd, function)

    def _soon(self, function: Callable[..., object], *arguments: Any) -> object:
        return self.loop.call_soon_threadsafe(function, *arguments)

    def finish(self, value: Any, error: BaseException | None) -> None:
        future = self._future
        if future.done():  # its task was cancelled
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


class TrioWaiter(TaskWaiter):
    """A task of trio, with an event."""

    __slots__ = ("_trio", "_event", "_value", "_error", "_call")

    def __init__(self, url: str, make: Make, listener: Listener, trio: Any) -> None:
        super().__init__(url, make, listener)
        self.loop = trio.lowlevel.current_trio_token()
        self._trio = trio
        self._event = trio.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self._call: Callable[[], object] | None = None

    @property
    def is_done(self) -> bool:
        return bool(self._event.is_set())

    async def wait(self) -> Any:
        await self._event.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def when_done(self, call: Callable[[], object]) -> None:
        self._call = call

    def give_up(self) -> None:
        self._event.set()

    def watch(self, fd: int, function: Callable[[Any], bool]) -> Watch:
        return TrioWatch(self._trio, fd, function)

    def _soon(self, function: Callable[..., object], *arguments: Any) -> object:
        return self.loop.run_sync_soon(function, *arguments)

    def finish(self, value: Any, error: BaseException | None) -> None:
        if self.is_done:  # its task was cancelled
            return
        self._value, self._error = value, error
        self._event.set()
        if self._call is not None:
            self._call()


def waiter_of_task(url: str, make: Make, listener: Listener) -> TaskWaiter:
    """The waiter for the task that runs. Raises RuntimeError without an event loop."""
    if "trio" in _modules:
        trio = running_trio()
        if trio is not None:
            return TrioWaiter(url, make, listener, trio)
    return LoopWaiter(url, make, listener, _running_loop())


class ThreadWaiter(Waiter):
    """A plain thread. It makes the calls for progress and previews itself."""

    __slots__ = ("bell", "_end", "_calls")

    def __init__(self, url: str, make: Make, listener: Listener) -> None:
        super().__init__(url, make, listener)
        self.bell = Bell()
        """Rings when there is something to do for the thread."""
        self._end: tuple[Any, BaseException | None] | None = None
        self._calls: deque[Callable[[], object]] = deque()

    @property
    def is_done(self) -> bool:
        return self._end is not None

    def report(self, loop: Any, call: Callable[[], object]) -> None:
        self._calls.append(call)
        self.bell.ring()

    def finish(self, value: Any, error: BaseException | None) -> None:
        if self._end is None:
            self._end = value, error
        self.bell.ring()

    def run_calls(self) -> None:
        while self._calls:
            _report(self._calls.popleft())

    def outcome(self) -> Any:
        assert self._end is not None
        value, error = self._end
        if error is not None:
            raise error
        return value

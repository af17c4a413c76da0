"""Those that may wait for a request: a task of asyncio or of trio, and a plain thread.

`report()` makes a call of the application's, for progress or a preview, where it belongs; `finish()` ends the wait.
Both may be called on any thread, and `finish()` more than once. Their first argument is the loop whose thread calls, or
None.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Union

from ._image import Image
from ._interrupts import Bell
from ._loops import LoopWatch, TrioWatch, Watch, running_trio

Progress = Callable[[int, "int | None"], object]
"""Called with the bytes of the body so far, and with all of them, or None while that is unknown."""

Preview = Callable[[Image], object]
"""Called with each preview while the picture arrives."""

_log = logging.getLogger("sdd")


def _report(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:
        _log.exception("A function for progress or previews raised an exception")


class TaskWaiter(ABC):
    """A task of an event loop. All but the constructor happens on the thread of the loop."""

    __slots__ = ("loop",)

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        """The object that identifies the loop, as in `_loops`."""

    @property
    @abstractmethod
    def is_done(self) -> bool:
        """Whether the request has ended, or was given up."""

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

    @abstractmethod
    def _set(self, value: Any, error: BaseException | None) -> None:
        """Ends the wait."""

    def report(self, loop: Any, call: Callable[[], object]) -> None:
        if self.is_done:
            return
        if loop is self.loop:
            _report(call)
        else:
            self._from_outside(_report, call)

    def finish(self, loop: Any, value: Any, error: BaseException | None) -> None:
        if loop is self.loop:
            self._set(value, error)
        else:
            self._from_outside(self._set, value, error)

    def _from_outside(self, function: Callable[..., object], *arguments: Any) -> None:
        try:
            self._soon(function, *arguments)
        except RuntimeError:  # the loop is closed: nobody waits
            pass


class LoopWaiter(TaskWaiter):
    """A task of asyncio, with a future."""

    __slots__ = ("_future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
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

    def _set(self, value: Any, error: BaseException | None) -> None:
        if self._future.done():  # its task was cancelled
            return
        if error is None:
            self._future.set_result(value)
        else:
            self._future.set_exception(error)


class TrioWaiter(TaskWaiter):
    """A task of trio, with an event."""

    __slots__ = ("_trio", "_event", "_value", "_error", "_call")

    def __init__(self, trio: Any) -> None:
        super().__init__(trio.lowlevel.current_trio_token())
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

    def _set(self, value: Any, error: BaseException | None) -> None:
        if self.is_done:  # its task was cancelled
            return
        self._value, self._error = value, error
        self._event.set()
        if self._call is not None:
            self._call()


def waiter_of_task() -> TaskWaiter:
    """The waiter for the task that runs. Raises RuntimeError without an event loop."""
    trio = running_trio()
    return LoopWaiter(asyncio.get_running_loop()) if trio is None else TrioWaiter(trio)


class ThreadWaiter:
    """A plain thread. It makes the calls for progress and previews itself."""

    __slots__ = ("bell", "_end", "_calls")

    def __init__(self) -> None:
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

    def finish(self, loop: Any, value: Any, error: BaseException | None) -> None:
        """Ends the wait. Only the first end counts."""
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


Waiter = Union[TaskWaiter, ThreadWaiter]

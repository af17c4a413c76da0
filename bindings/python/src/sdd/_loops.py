"""What the package needs of an event loop: asyncio with any loop of its kind, and trio, if the program has imported it.

The loop of a task is identified by an object: asyncio's loop, or trio's token.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import logging
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ._errors import descriptor_error

Value = TypeVar("Value")

_log = logging.getLogger("sdd")


def running_trio() -> Any:
    """The module `trio` in a task of trio; else None."""
    trio = sys.modules.get("trio")
    if trio is None:
        return None
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return None
    return trio


async def sleep(seconds: float) -> None:
    trio = running_trio()
    await (asyncio.sleep(seconds) if trio is None else trio.sleep(seconds))


async def to_thread(function: Callable[..., Value], *arguments: Any, **options: Any) -> Value:
    """Calls a function in a worker thread."""
    trio = running_trio()
    if trio is None:
        return await asyncio.to_thread(function, *arguments, **options)
    value: Value = await trio.to_thread.run_sync(functools.partial(function, *arguments, **options))
    return value


async def to_thread_in_any_case(function: Callable[[], object]) -> None:
    """Calls a function in a thread of its own, and waits for its end also in a task that is cancelled meanwhile."""
    trio = running_trio()
    if trio is None:
        await _to_own_thread(function)
        return
    with trio.CancelScope(shield=True):  # trio would not even begin otherwise
        await trio.to_thread.run_sync(function, limiter=trio.CapacityLimiter(1))


async def _to_own_thread(function: Callable[[], object]) -> None:
    """With asyncio. Its default executor may be full of calls that wait for this one."""
    loop, executor = asyncio.get_running_loop(), ThreadPoolExecutor(1, "sdd-close")
    future = loop.run_in_executor(executor, contextvars.copy_context().run, function)
    executor.shutdown(wait=False)
    cancelled: BaseException | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:  # anyio cancels a task again and again until it ends
            cancelled = error
    failed = future.exception()
    try:
        if cancelled is not None or failed is not None:
            raise cancelled or failed  # type: ignore[misc]
    finally:
        cancelled = failed = None  # their tracebacks have this frame


async def readable(fd: int) -> None:
    """Waits until a descriptor is readable. Each wait needs a descriptor of its own."""
    trio = running_trio()
    if trio is not None:
        await trio.lowlevel.wait_readable(fd)
        return
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.add_reader(fd, _resolve, future)
    try:
        await future
    finally:
        if not loop.is_closed():
            loop.remove_reader(fd)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Flag:
    """Something that happens again and again, and one task that waits for it."""

    __slots__ = ("_event", "_make")

    def __init__(self) -> None:
        trio = running_trio()
        self._make: Callable[[], Any] = asyncio.Event if trio is None else trio.Event
        self._event = self._make()

    def set(self) -> None:
        """Only on the thread of the loop."""
        self._event.set()

    async def wait(self) -> None:
        await self._event.wait()
        self._event = self._make()


class Watch(ABC):
    """Calls a function whenever a descriptor is readable, on the thread of the loop, until it returns False."""

    __slots__ = ("_fd", "__weakref__")

    def __init__(self, fd: int) -> None:
        self._fd = -1
        try:
            self._fd = os.dup(fd)  # a loop has one watcher for a descriptor
        except OSError as error:
            raise descriptor_error(error) from error

    @abstractmethod
    def stop(self) -> None:
        """Ends it, from any thread."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether the loop is closed."""

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        if self._fd >= 0:
            close(self._fd)


class LoopWatch(Watch):
    """With asyncio. To be made on the thread of the loop."""

    __slots__ = ("_loop",)

    def __init__(self, loop: asyncio.AbstractEventLoop, fd: int, function: Callable[[Any], bool]) -> None:
        super().__init__(fd)
        self._loop = loop
        # It outlives the task that runs now, whose context variables are not those of others.
        contextvars.Context().run(loop.add_reader, self._fd, _call, loop, self._fd, function)

    def stop(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._remove)
        except RuntimeError:  # the loop is closed
            pass

    def _remove(self) -> None:
        self._loop.remove_reader(self._fd)

    @property
    def is_over(self) -> bool:
        return self._loop.is_closed()


def _call(loop: asyncio.AbstractEventLoop, fd: int, function: Callable[[Any], bool]) -> None:
    if not function(loop):
        loop.remove_reader(fd)


class TrioWatch(Watch):
    """With trio: a task of the system's, which ends with the run. To be made in a task."""

    __slots__ = ("_token", "_scope", "_has_ended")

    def __init__(self, trio: Any, fd: int, function: Callable[[Any], bool]) -> None:
        super().__init__(fd)
        self._token = trio.lowlevel.current_trio_token()
        self._scope = trio.CancelScope()
        self._has_ended = False
        trio.lowlevel.spawn_system_task(self._run, trio, function)

    async def _run(self, trio: Any, function: Callable[[Any], bool]) -> None:
        try:
            with self._scope:
                while True:
                    await trio.lowlevel.wait_readable(self._fd)
                    try:
                        if not function(self._token):
                            return
                    except Exception:  # it would end the whole run
                        with contextlib.suppress(Exception):  # it may have come from the logger itself
                            _log.exception("A function of the application raised an exception")
        finally:
            self._has_ended = True

    def stop(self) -> None:
        try:
            self._token.run_sync_soon(self._scope.cancel)
        except RuntimeError:  # the run is over
            pass

    @property
    def is_over(self) -> bool:
        return self._has_ended

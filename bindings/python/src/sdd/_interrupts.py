"""Work that others wait for, in a thread that signal handlers interrupt.

Python calls signal handlers in the main thread between any two steps of a program. An exception that a handler raises,
as Ctrl-C does, leaves the work half done. Work that can be repeated without harm is therefore repeated, and the
exception is raised after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

Value = TypeVar("Value")

_ATTEMPTS = 100
"""Each exception needs one. Work that fails by itself ends after them."""


def in_any_case(work: Callable[..., object], *arguments: object) -> None:
    """Calls `work` again and again until no exception interrupts it, and then raises the last exception."""
    last: BaseException | None = None
    attempts = iter(range(_ATTEMPTS))
    # Python looks for signals after a call, and when a loop goes back: then the next exception comes outside of the
    # inner `try`. Between `except` and a further `try` it does not look.
    try:
        for _ in attempts:
            try:
                work(*arguments)
                break
            except BaseException as error:
                last = error
    except BaseException as error:
        last = error
        try:
            for _ in attempts:
                try:
                    work(*arguments)
                    break
                except BaseException as error:
                    last = error
        except BaseException as error:
            last = error
            for _ in attempts:
                try:
                    work(*arguments)
                    break
                except BaseException as error:
                    last = error
    if last is not None:
        try:
            raise last
        finally:
            last = None  # its traceback has this frame, which would keep it, and what the work has made


class Lock:
    """A lock that an exception out of a signal handler cannot leave locked.

    `with` does: from Python 3.14 on, a handler may be called when `__enter__` has acquired a lock, and the block has not
    begun yet. Then no other thread would ever get it.
    """

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.RLock()  # which knows its thread

    def held(self, work: Callable[..., Value], *arguments: object) -> Value:
        """Calls `work`, and no other thread's meanwhile."""
        try:
            self._lock.acquire()
            value = work(*arguments)
            self._lock.release()
            return value
        except BaseException:
            try:
                in_any_case(self._give_back)
            finally:  # another handler may have raised an exception before the call
                self._give_back()
            raise

    def _give_back(self) -> None:
        """Releases it, if this thread has it."""
        try:
            while True:
                self._lock.release()
        except RuntimeError:
            pass


class Bell:
    """As `threading.Event`, but an exception out of a signal handler cannot leave it locked: each step is one of C."""

    __slots__ = ("_rings",)

    def __init__(self) -> None:
        self._rings: SimpleQueue[None] = SimpleQueue()

    def ring(self) -> None:
        self._rings.put(None)

    @property
    def has_rung(self) -> bool:
        return not self._rings.empty()

    def wait(self) -> None:
        """Waits until it rings."""
        self._rings.get()
        self._rings.put(None)

    def clear(self) -> None:
        try:
            while True:
                self._rings.get_nowait()
        except Empty:
            pass

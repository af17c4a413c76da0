"""Waiting for a descriptor of the library, on an event loop or in a plain thread."""

from __future__ import annotations

import os
import select
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from ._errors import descriptor_error
from ._loops import readable


class _Descriptors:
    """Descriptors that are closed with this object; not at exit, when other threads may still wait for them.

    Making and keeping one is one call of C, and so is closing all: no exception out of a signal handler comes between.
    """

    _kept: Any = ()

    def __init__(self) -> None:
        self._kept = [None]
        setattr(weakref.finalize(self, _close_all, self._kept), "atexit", False)  # older type stubs lack it

    def make(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Calls a function that makes a descriptor."""
        self._keep(map(function, *((argument,) for argument in arguments)))

    def make_several(self, function: Callable[..., Iterable[int]], *arguments: Any) -> None:
        """Calls a function that makes several."""
        self._keep(chain.from_iterable(map(function, *((argument,) for argument in arguments))))

    def _keep(self, made: Iterable[int]) -> None:
        try:
            self._kept.extend(made)
        except OSError as error:
            raise descriptor_error(error) from error

    def __getitem__(self, index: int) -> int:
        return self._kept[index + 1]  # type: ignore[no-any-return]

    def close(self) -> None:
        _close_all(self._kept)

    def __del__(self) -> None:
        if not sys.is_finalizing():  # what interrupts this does not interrupt the finalizer
            _close_all(self._kept)


def _close_all(kept: Any) -> None:
    """Closes descriptors, the last one first, up to the None before them."""
    if kept:
        deque(map(os.close, iter(kept.pop, None)), 0)


class Signal:
    """A copy of an eventfd of the library, which stays open while anything watches it.

    A wait in a plain thread lets go of the GIL, and Ctrl-C interrupts it.
    """

    def __init__(self, fd: int) -> None:
        self._descriptors = _Descriptors()
        self._descriptors.make(os.dup, fd)
        self.fd = self._descriptors[0]

    def wake(self) -> None:
        """Ends all waits, now and later. Only for a descriptor that the library no longer uses."""
        os.write(self.fd, (1).to_bytes(8, "little"))

    def wait_sync(self, nudge: Nudge | None = None) -> None:
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        if nudge is not None:
            poll.register(nudge.fd, select.POLLIN)
        poll.poll()
        if nudge is not None:
            nudge.clear()

    async def wait(self) -> None:
        # A loop has one callback for a descriptor, so that each wait needs its own.
        own = _Descriptors()
        try:
            own.make(os.dup, self.fd)
            await readable(own[0])
        finally:
            own.close()


class Nudge:
    """Ends a `Signal.wait_sync()` in another thread."""

    def __init__(self) -> None:
        self._descriptors = _Descriptors()
        self._descriptors.make_several(os.pipe2, os.O_NONBLOCK | os.O_CLOEXEC)
        self.fd, self._writing = self._descriptors[0], self._descriptors[1]

    def send(self) -> None:
        try:
            os.write(self._writing, b"!")
        except BlockingIOError:  # there are many already
            pass

    def clear(self) -> None:
        try:
            os.read(self.fd, 4096)
        except BlockingIOError:
            pass

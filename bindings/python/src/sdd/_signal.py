"""Waiting for a descriptor of the library, on an event loop or in a plain thread."""

from __future__ import annotations

import os
import select
import weakref

from ._loops import readable


def _close_with(owner: object, fd: int) -> None:
    """Closes a descriptor with its owner; not at exit, when other threads may still wait for it."""
    setattr(weakref.finalize(owner, os.close, fd), "atexit", False)  # older type stubs lack it


class Signal:
    """A copy of an eventfd of the library, which stays open while anything watches it.

    A wait in a plain thread lets go of the GIL, and Ctrl-C interrupts it.
    """

    def __init__(self, fd: int) -> None:
        self.fd = os.dup(fd)
        _close_with(self, self.fd)

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
        fd = os.dup(self.fd)
        try:
            await readable(fd)
        finally:
            os.close(fd)


class Nudge:
    """Ends a `Signal.wait_sync()` in another thread."""

    def __init__(self) -> None:
        self.fd, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        _close_with(self, self.fd)
        _close_with(self, self._writing)

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

"""Events of a downloader, taken from the library in batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, NamedTuple

from ._native import ffi, lib

_BATCH = 64


class Event(NamedTuple):
    """One event. The references to its image and bytes belong to `image` and `body`, which cannot lose them."""

    c: Any
    """The sdd_event."""
    image: Any
    """The sdd_image, NULL if there is none."""
    body: Any
    """The sdd_bytes, NULL if there are none."""


class EventQueue:
    """The events that were taken last. A thread at a time uses it.

    An exception out of a signal handler may interrupt every step. Then the same step, called again, goes on with the
    event that was being handled: each change is one call of C, or can be made twice.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._events = ffi.new("sdd_event[]", _BATCH)
        self._events[0].struct_size = ffi.sizeof("sdd_event")
        self._count = ffi.new("size_t *")
        self._next = 0
        """The first event that is not handled yet."""
        self._images: list[Any] = []
        self._bodies: list[Any] = []

    def take(self) -> None:
        """Takes the events that wait. Does nothing while some of the last time are left."""
        if self._next >= self._count[0]:
            self._forget()
            self._count[0] = 0
            self._next = 0
            lib.sdd_drain(self._handle, self._events, _BATCH, self._count)
        self._own(self._images, "image", lib.sdd_image_release)
        self._own(self._bodies, "bytes", lib.sdd_bytes_release)

    def _own(self, owners: list[Any], field: str, release: Any) -> None:
        """Makes owners of the references that the events have, all in one call of C."""
        if not owners:
            pointers = [getattr(self._events[index], field) for index in range(self._count[0])]
            owners.extend(map(ffi.gc, pointers, repeat(release)))

    def __iter__(self) -> Iterator[Event]:
        """The events that are left. One is handled when the next is asked for."""
        for index in range(self._next, self._count[0]):
            yield Event(self._events[index], self._images[index], self._bodies[index])
            self._next = index + 1
        self._forget()

    def _forget(self) -> None:
        """Lets go of what was not used. The events must all be handled."""
        self._images.clear()
        self._bodies.clear()

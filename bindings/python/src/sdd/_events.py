"""Events of a downloader, taken from the library in batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, Tuple

from ._native import ffi, lib

_BATCH = 64


Event = Tuple[Any, Any, Any]
"""An sdd_event, its sdd_image and its sdd_bytes, NULL if it has none. The references belong to these two objects."""


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
            lib.sdd_downloader_drain(self._handle, self._events, _BATCH, self._count)
        self._own(self._images, "image", lib.sdd_image_release)
        self._own(self._bodies, "bytes", lib.sdd_bytes_release)

    def _own(self, owners: list[Any], field: str, release: Any) -> None:
        """Makes owners of the references that the events have, all in one call of C."""
        if not owners:
            pointers = [getattr(self._events[index], field) for index in range(self._count[0])]
            if any(pointers):
                owners.extend(map(ffi.gc, pointers, repeat(release)))

    def __iter__(self) -> Iterator[Event]:
        """The events that are left. One is handled when the next is asked for."""
        events, images, bodies = self._events, self._images, self._bodies
        for index in range(self._next, self._count[0]):
            yield events[index], images[index] if images else ffi.NULL, bodies[index] if bodies else ffi.NULL
            self._next = index + 1
        self._forget()

    def _forget(self) -> None:
        """Lets go of what was not used. The events must all be handled."""
        self._images.clear()
        self._bodies.clear()

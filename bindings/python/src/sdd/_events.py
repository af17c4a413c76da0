"""Events of a downloader, taken from the library in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._native import ffi, lib
from ._structs import layout_of

_BATCH = 64
_SIZE = ffi.sizeof("sdd_event")
_NUMBERS = layout_of("sdd_event", "kind", "user_data")

Event = Any
"""An sdd_event. What it points to is the library's, until events are taken again."""


class EventQueue:
    """The events that were taken last. A thread at a time uses it.

    An exception out of a signal handler may interrupt every step. Then the same step, called again, goes on with the
    event that was being handled: each change is one call of C, or can be made twice.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._events = ffi.new("sdd_event[]", _BATCH)
        self._events[0].struct_size = _SIZE
        self._memory = ffi.buffer(self._events)
        self._count = ffi.new("size_t *")
        self._next = 0
        """The first event that is not handled yet."""

    def take(self) -> bool:
        """Takes the events that wait; False: there are none. Does nothing while some of the last time are left.

        The library frees what events have when it is asked for others: ask until there are none.
        """
        if self._next >= self._count[0]:
            self._count[0] = 0
            self._next = 0
            lib.sdd_downloader_drain(self._handle, self._events, _BATCH, self._count)
        return bool(self._count[0])

    def __iter__(self) -> Iterator[tuple[int, int, Event]]:
        """The kind, the key and the event of those that are left. One is handled when the next is asked for."""
        first, events = self._next, self._events
        left = self._memory[first * _SIZE : self._count[0] * _SIZE]
        for index, (kind, key) in enumerate(_NUMBERS.iter_unpack(left), first):
            yield kind, key, events[index]
            self._next = index + 1

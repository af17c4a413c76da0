"""What all objects with an end have in common."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._constants import ERROR_WOULD_DEADLOCK, OK
from ._errors import call_error
from ._fork import generation
from ._loops import to_thread_in_any_case
from ._native import ffi

if TYPE_CHECKING:
    from typing_extensions import Self


class Closing(ABC):
    """Something that `with` and `async with` close, except in the child of a fork: it belongs to the parent."""

    _made_in: int
    """The generation of the process that made it."""

    @abstractmethod
    def close(self) -> None:
        """Waits for the end."""

    async def aclose(self) -> None:
        """`close()` for event loops: waits in a worker thread."""
        await to_thread_in_any_case(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._made_in == generation():
            self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._made_in == generation():
            await self.aclose()

    def _state(self) -> str:
        """What `repr()` says of it; not in the child of a fork."""
        return ""

    def __repr__(self) -> str:
        state = self._state() if self._made_in == generation() else "of the parent process"
        return f"<sdd.{type(self).__name__}{state and ', '}{state}>"


class Owned:
    """An object of the library, and its end: when it is closed, when its owner is collected, or at exit.

    Its finalizer is there before it is made, into `place`: so no exception out of a signal handler can come between the
    two, and leave an object with its threads behind. What interrupts the finalizer itself does not interrupt `__del__`.
    """

    _place: Any = None

    def __init__(self, owner: object, kind: str, destroy: Callable[[Any], int], *kept: object) -> None:
        self._made_in = generation()
        self._destroy = destroy
        self._kept = kept
        self._place = ffi.new(f"{kind} **")
        weakref.finalize(owner, self.end)

    @property
    def place(self) -> Any:
        """The address for the call that makes the object."""
        return self._place

    @property
    def is_over(self) -> bool:
        return not self._place[0]

    def end(self) -> None:
        """Destroys the object, and waits as that call does. Does nothing in the child of a fork. Can be called again if
        an exception interrupts it: no handle is used twice, and destroying what is destroyed does nothing.

        Raises CallError where it would wait for itself: the object lives on then, with what it uses."""
        handle, status = self._place[0], OK
        if handle and self._made_in == generation():
            status = self._destroy(handle)
            if status == ERROR_WOULD_DEADLOCK:
                raise call_error()
        self._place[0] = ffi.NULL
        if status == OK:  # otherwise another thread destroys it, and still waits
            self._kept = ()

    def __del__(self) -> None:
        if self._place is not None:
            self.end()

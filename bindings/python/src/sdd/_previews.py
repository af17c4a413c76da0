"""Previews of a picture while it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from ._image import Image
from ._loops import Flag
from ._plans import Plan
from ._pump import Submit
from ._waiters import Listener, Make, Progress

if TYPE_CHECKING:
    from ._downloader import Downloader
    from ._loader import Loader


class Previews:
    """Gives previews (`image.is_preview`), each more complete than the last, and at last the picture.

    For one `async for` or `for`. A preview that is not taken in time is replaced by the next. An error of the request
    is raised in place of the picture. Leaving the loop early cancels the request.
    """

    def __init__(self, owner: Loader | Downloader, submit: Submit, plan: Plan, url: str, make: Make,
                 progress: Progress | None) -> None:  # fmt: skip
        self._owner = owner  # kept open, with its caches
        self._start = (submit, plan, url, make, progress)

    async def __aiter__(self) -> AsyncIterator[Image]:
        pump, (submit, plan, url, make, progress) = self._owner._pump, self._start
        newest: list[Image] = []
        changed = Flag()

        def show(image: Image) -> None:
            newest[:] = [image]
            changed.set()

        listener = Listener(progress, show)
        token, waiter = pump.start(submit, self._owner._usable(), plan, url, listener.bits, make, listener)
        waiter.when_done(changed.set)
        try:
            while not waiter.is_done:
                await changed.wait()
                if newest and not waiter.is_done:
                    yield newest.pop()
        finally:  # does nothing after the end
            pump.cancel(token)
            waiter.give_up()
        yield await waiter.wait()

    def __iter__(self) -> Iterator[Image]:
        pump, (submit, plan, url, make, progress) = self._owner._pump, self._start
        newest: list[Image] = []

        def show(image: Image) -> None:
            newest[:] = [image]

        listener = Listener(progress, show)
        token, waiter = pump.start_sync(submit, self._owner._usable(), plan, url, listener.bits, make, listener)
        try:
            for _ in pump.steps(token, waiter):
                if newest:
                    yield newest.pop()
        finally:
            pump.cancel(token)
        yield waiter.outcome()

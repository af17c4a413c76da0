"""A downloader of the library, and the taking of its events in batches, without callbacks from its threads.

The library queues events behind a descriptor. An event loop watches it; a plain thread polls it. Whoever finds it
readable takes all events that wait, and hands each to what waits for it, in whichever loop or thread that is.
"""

from __future__ import annotations

import functools
import logging
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from . import _constants as c
from ._errors import ClosedError, RequestCancelled, call_error, check
from ._fork import check_generation, generation
from ._image import Image
from ._loops import Watch
from ._native import ffi, lib, text
from ._plans import Plan
from ._results import error_of, release
from ._signal import Nudge, Signal
from ._structs import Struct, c_text
from ._waiters import Progress, TaskWaiter, ThreadWaiter, Waiter, waiter_of_task

Value = TypeVar("Value")

_log = logging.getLogger("sdd")
_BATCH = 64
_LEVELS = {c.LOG_ERROR: logging.ERROR, c.LOG_WARNING: logging.WARNING, c.LOG_INFO: logging.INFO,
           c.LOG_DEBUG: logging.DEBUG}  # fmt: skip

Submit = Callable[[Any, Any], int]
"""Submits a request: takes the address of the request and that of a status, returns the token."""

Make = Callable[[Any], Any]
"""Copies what is wanted from a terminal event without an error, and takes over or releases its references."""


def _ignore_notice(notice: Any, user_data: Any) -> None:
    """The observer of log messages. Messages are taken as events; only sdd_downloader_destroy() calls it."""


_OBSERVER = ffi.callback("sdd_observer_fn", _ignore_notice)


class Listener:
    """The reports that an application wants about one request, besides its end."""

    __slots__ = ("progress", "preview")

    def __init__(self, progress: Progress | None = None, preview: Callable[[Image], object] | None = None) -> None:
        if progress is not None and not callable(progress):
            raise TypeError("progress must be a function")
        self.progress = progress
        self.preview = preview

    @property
    def bits(self) -> int:
        return (c.OPTION_PROGRESS_EVENTS if self.progress else 0) | (c.OPTION_PROGRESSIVE_LOAD if self.preview else 0)


class _Request:
    """A request under way."""

    __slots__ = ("waiter", "make", "listener", "cached")

    def __init__(self, waiter: Waiter, make: Make, listener: Listener) -> None:
        self.waiter = waiter
        self.make = make
        self.listener = listener
        self.cached: Any = None
        """With `refresh`: the outcome made from the cached picture."""


class _Resources:
    """The things to end when a pump is closed or collected, or when the interpreter exits."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.made_in = generation()
        self.watches: dict[Any, Watch] = {}
        """The loops that watch the descriptor."""

    def end(self) -> None:
        """Destroys the downloader and waits for that, with the GIL released. Does nothing in the child of a fork."""
        if self.made_in != generation():
            return
        for watch in list(self.watches.values()):
            watch.stop()
        self.watches.clear()
        lib.sdd_downloader_destroy(self.handle)


def _readable(weak: weakref.ref[Pump], loop: Any) -> bool:
    pump = weak()
    if pump is None or pump.is_closed:
        return False
    pump.drain(loop)
    return True


class Pump:
    def __init__(self, config: Struct, log_level: int | None) -> None:
        config.c.delivery = c.DELIVERY_APPLICATION
        out = ffi.new("sdd_downloader **")
        check(lib.sdd_downloader_create(config.c, out))
        self.handle = out[0]
        self.made_in = generation()
        self._resources = _Resources(self.handle)
        self._end = weakref.finalize(self, self._resources.end)
        self._signal = Signal(lib.sdd_event_fd(self.handle))
        self.is_closed = False
        self._requests: dict[int, _Request] = {}
        self._lock = threading.Lock()
        """Held while requests are submitted and events are taken, so that no end overtakes its token."""
        self._leads = threading.RLock()
        """Held by the plain thread that polls for all others. A handler of `logging` may wait on that thread, too."""
        self._nudge = Nudge()
        """For the thread that polls, when a loop has taken its event."""
        self._followers: dict[int, ThreadWaiter] = {}
        self._events = ffi.new("sdd_event[]", _BATCH)
        self._events[0].struct_size = ffi.sizeof("sdd_event")
        self._count = ffi.new("size_t *")
        self._status = ffi.new("sdd_status *")
        if log_level:
            check(lib.sdd_downloader_set_log(self.handle, log_level, _OBSERVER, ffi.NULL, ffi.NULL))

    def check_usable(self) -> None:
        check_generation(self.made_in, "loader or downloader")
        if self.is_closed:
            raise ClosedError("The loader or downloader is closed.", code=c.ERROR_CLOSED)

    # ---- requests

    def _submit(self, submit: Submit, plan: Plan, url: str, bits: int, waiter: Waiter, make: Make,
                listener: Listener) -> int:  # fmt: skip
        memory = c_text(url) if plan.has_url else ffi.NULL
        request = plan.c
        with self._lock:
            if self.is_closed:
                raise ClosedError("The loader or downloader is closed.", code=c.ERROR_CLOSED)
            if plan.has_url:
                request.url = memory
                request.options = plan.bits | bits
            token = submit(request, self._status)
            if token:
                self._requests[token] = _Request(waiter, make, listener)
                return token
            raise call_error(self._status[0])

    async def run(self, submit: Submit, plan: Plan, url: str, bits: int, make: Callable[[Any], Value],
                  listener: Listener) -> Value:  # fmt: skip
        """Submits a request and awaits its end. Cancelling the task cancels the request."""
        self.check_usable()
        token, waiter = self.start(submit, plan, url, bits, make, listener)
        try:
            value: Value = await waiter.wait()
            return value
        except BaseException:
            self.cancel(token)
            waiter.give_up()
            raise

    def start(self, submit: Submit, plan: Plan, url: str, bits: int, make: Make,
              listener: Listener) -> tuple[int, TaskWaiter]:  # fmt: skip
        """Submits a request for a task, which then waits, or cancels the request."""
        waiter = waiter_of_task()
        if waiter.loop not in self._resources.watches:
            self._watch(waiter)
        return self._submit(submit, plan, url, bits, waiter, make, listener), waiter

    def run_sync(self, submit: Submit, plan: Plan, url: str, bits: int, make: Callable[[Any], Value],
                 listener: Listener) -> Value:  # fmt: skip
        """Submits a request and waits for its end. An exception in this thread, as of Ctrl-C, cancels the request."""
        token, waiter = self.start_sync(submit, plan, url, bits, make, listener)
        try:
            for _ in self.steps(token, waiter):
                pass
        except BaseException:
            self.cancel(token)
            raise
        value: Value = waiter.outcome()
        return value

    def start_sync(self, submit: Submit, plan: Plan, url: str, bits: int, make: Make,
                   listener: Listener) -> tuple[int, ThreadWaiter]:  # fmt: skip
        """Submits a request for a plain thread, which then goes through `steps()`."""
        self.check_usable()
        waiter = ThreadWaiter()
        return self._submit(submit, plan, url, bits, waiter, make, listener), waiter

    @staticmethod
    def cancel(token: int) -> None:
        """Cancels a request; does nothing if it has ended."""
        lib.sdd_cancel(token)

    def steps(self, token: int, waiter: ThreadWaiter) -> Iterator[None]:
        """Waits for the end of a request. Each step but the first comes after something has happened."""
        while True:
            waiter.ready.clear()
            waiter.run_calls()
            if waiter.is_done:
                waiter.run_calls()  # those that came before the end
                return
            yield
            self._wait(token, waiter)

    def _wait(self, token: int, waiter: ThreadWaiter) -> None:
        """Waits until there is something to do for the thread. One of the threads polls, for all of them."""
        self._followers[token] = waiter
        try:
            while not waiter.ready.is_set():
                if self._leads.acquire(blocking=False):
                    try:
                        while not waiter.ready.is_set():
                            self._signal.wait_sync(self._nudge)
                            self.drain(None)
                    finally:
                        self._leads.release()
                else:
                    waiter.ready.wait()
        finally:
            del self._followers[token]
            # Another thread must poll from now on. It was a follower before it found that one led.
            for follower in list(self._followers.values()):
                follower.ready.set()
                break

    # ---- events

    def _watch(self, waiter: TaskWaiter) -> None:
        watches = self._resources.watches
        for loop, other in list(watches.items()):  # other threads may do the same
            if other.is_over:
                watches.pop(loop, None)
        watch = waiter.watch(self._signal.fd, functools.partial(_readable, weakref.ref(self)))
        watches[waiter.loop] = watch
        if self.is_closed:  # meanwhile, by another thread, which may not have seen this watch
            watch.stop()
            watches.pop(waiter.loop, None)

    def drain(self, loop: Any) -> None:
        """Takes the events that wait, and hands them out. `loop` is the loop whose thread this is, or None."""
        with self._lock:
            if self.is_closed:
                return
            status = lib.sdd_drain(self.handle, self._events, _BATCH, self._count)
            if status != c.OK:
                return
            actions: list[tuple[Any, ...]] = []
            events = [self._events[index] for index in range(self._count[0])]
            _call_all([(self._take, event, actions) for event in events])
        # Without the lock, since functions of the application may use this downloader.
        _call_all([(function, loop, *arguments) for function, *arguments in actions])
        if loop is not None and self._followers:
            self._nudge.send()

    def _take(self, event: Any, actions: list[tuple[Any, ...]]) -> None:
        """Copies what is wanted of an event. Appends functions of waiters, whose first argument is the loop."""
        kind, token = event.kind, event.token
        if kind == c.EVENT_LOG:
            actions.append((_write_log, *_log_message(event.notice)))
            return
        if kind == c.EVENT_COMPLETED or kind == c.EVENT_PREFETCH_COMPLETED:
            request = self._requests.pop(token, None)
            if request is None:
                release(event)
            else:
                actions.append((request.waiter.finish, *_outcome(request, event)))
            return
        request = self._requests.get(token)
        if request is None:
            release(event)
            return
        listener = request.listener
        if kind == c.EVENT_CACHED:
            request.cached = request.make(event)
        elif kind == c.EVENT_PROGRESS and listener.progress:
            progress, received, expected = listener.progress, event.received_bytes, event.expected_bytes
            actions.append((request.waiter.report, lambda: progress(received, None if expected < 0 else expected)))
        elif kind == c.EVENT_PREVIEW and listener.preview and event.image:
            preview, image = listener.preview, Image._take(event.image)
            event.image = ffi.NULL
            release(event)
            actions.append((request.waiter.report, lambda: preview(image)))
        elif kind == c.EVENT_PREFETCHED and listener.progress:
            progress, finished, total = listener.progress, event.prefetch.finished, event.prefetch.total
            actions.append((request.waiter.report, lambda: progress(finished, total)))
        else:
            release(event)

    # ---- the end

    def close(self) -> None:
        """Cancels all requests and WAITS for the end of the downloader. What waits for a request gets an exception."""
        check_generation(self.made_in, "loader or downloader")
        if self.is_closed:
            return
        self.drain(None)
        with self._lock:
            if self.is_closed:
                return
            self.is_closed = True
        self._end()
        left = list(self._requests.values())
        self._requests.clear()
        self._signal.wake()
        for request in left:
            error = RequestCancelled(
                "The request was cancelled, because its loader or downloader was closed.", code=c.ERROR_CANCELLED
            )
            request.waiter.finish(None, None, error)


def _call_all(calls: list[tuple[Any, ...]]) -> None:
    """Makes all calls, also after one was interrupted, as by Ctrl-C: others wait for the events. Raises the last."""
    interruption: BaseException | None = None
    for function, *arguments in calls:
        try:
            function(*arguments)
        except BaseException as error:
            interruption = error
    if interruption is not None:
        raise interruption


def _outcome(request: _Request, event: Any) -> tuple[Any, BaseException | None]:
    """The value or the exception of a request that has ended."""
    if event.error == c.OK:
        try:
            return request.make(event), None
        except BaseException as error:  # no memory, or Ctrl-C
            return None, error
    if event.error == c.ERROR_NOT_MODIFIED and request.cached is not None:
        release(event)
        return request.cached, None
    failure = error_of(event.result) if event.result else call_error(event.error)
    release(event)
    return None, failure


def _log_message(notice: Any) -> tuple[int, str, dict[str, object]]:
    """The level and text of a log message, and attributes of its record."""
    extra = {"sdd_url": text(notice.url) or None, "sdd_transfer": notice.transfer, "sdd_attempt": notice.attempt}
    return _LEVELS.get(notice.level, logging.DEBUG), text(notice.message), extra


def _write_log(loop: object, level: int, message: str, extra: dict[str, object]) -> None:
    _log.log(level, "%s", message, extra=extra)

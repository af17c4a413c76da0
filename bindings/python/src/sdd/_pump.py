"""A downloader of the library, and the taking of its events in batches, without callbacks from its threads.

The library queues events behind a descriptor. An event loop watches it; a plain thread polls it. Whoever finds it
readable takes all events that wait, and hands each to what waits for it, in whichever loop or thread that is.
"""

from __future__ import annotations

import functools
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from . import _constants as c
from ._errors import ClosedError, RequestCancelled, call_error, check
from ._events import Event, EventQueue
from ._fork import check_generation, generation
from ._interrupts import Lock, in_any_case
from ._loops import Watch
from ._native import ffi, lib, text
from ._plans import Plan
from ._results import error_of, image_of
from ._signal import Nudge, Signal
from ._structs import Struct
from ._values import c_text, shown
from ._words import in_python
from ._waiters import Preview, Progress, TaskWaiter, ThreadWaiter, Waiter, waiter_of_task

Value = TypeVar("Value")

_log = logging.getLogger("sdd")
_LEVELS = {c.LOG_ERROR: logging.ERROR, c.LOG_WARNING: logging.WARNING, c.LOG_INFO: logging.INFO,
           c.LOG_DEBUG: logging.DEBUG}  # fmt: skip

_ENDS = (c.EVENT_COMPLETED, c.EVENT_PREFETCH_COMPLETED)
_TAKINGS = 16
"""Most times that events are taken before what follows from them is done."""

Submit = Callable[[Any], int]
"""Submits a request: takes its address, returns the token, or 0 after a failed call."""

Make = Callable[[Any], Any]
"""Copies what is wanted from the sdd_result of a request, or the sdd_prefetch_report of a list, that has not failed."""

Action = Callable[[Any], object]
"""Something to do after events were taken. Its argument is the loop whose thread does it, or None."""


def _ignore_notice(notice: Any, user_data: Any) -> None:
    """The observer of log messages. Messages are taken as events; only sdd_downloader_destroy() calls it."""


_OBSERVER = ffi.callback("sdd_observer_fn", _ignore_notice)


class Listener:
    """The reports that an application wants about one request, besides its end."""

    __slots__ = ("progress", "preview")

    def __init__(self, progress: Progress | None = None, preview: Preview | None = None) -> None:
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function, not {shown(progress)}")
        if preview is not None and not callable(preview):
            raise TypeError(f"preview must be a function, not {shown(preview)}")
        self.progress = progress
        self.preview = preview

    @property
    def bits(self) -> int:
        return (c.OPTION_PROGRESS_EVENTS if self.progress else 0) | (c.OPTION_PREVIEW_EVENTS if self.preview else 0)


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


class _Reader:
    """What a loop calls when the descriptor is readable. A loop that is closed forgets it."""

    __slots__ = ("_pump", "_loop")

    def __init__(self, pump: Pump, loop: Any) -> None:
        self._pump = weakref.ref(pump)
        self._loop = loop

    def __call__(self, loop: Any) -> bool:
        pump = self._pump()
        if pump is None or pump.is_closed:
            return False
        pump.drain(loop)
        return True

    def __del__(self) -> None:
        pump = self._pump()
        if pump is not None:
            pump.cancel_those_of(self._loop)


class Pump:
    def __init__(self, config: Struct, log_level: int | None) -> None:
        config.c.delivery = c.DELIVERY_APPLICATION
        out = ffi.new("sdd_downloader **")
        check(lib.sdd_downloader_create(config.c, out))
        self.handle = out[0]
        self.made_in = generation()
        self._resources = _Resources(self.handle)
        self._end = weakref.finalize(self, self._resources.end)
        self._signal = Signal(lib.sdd_downloader_event_fd(self.handle))
        self.is_closed = False
        self._requests: dict[int, _Request] = {}
        self._lock = Lock()
        """Held while requests are submitted and events are taken, so that no end overtakes its token."""
        self._leader: dict[str, int] = {}
        """The plain thread that polls for all others: {"thread": its identity}, or nothing."""
        self._nudge = Nudge()
        """For the thread that polls, when a loop has taken its event."""
        self._followers: dict[int, ThreadWaiter] = {}
        self._events = EventQueue(self.handle)
        if log_level:
            check(lib.sdd_downloader_set_log(self.handle, log_level, _OBSERVER, ffi.NULL, ffi.NULL))

    def check_usable(self) -> None:
        check_generation(self.made_in, "loader or downloader")
        if self.is_closed:
            raise ClosedError("The loader or downloader is closed.", status=c.ERROR_CLOSED)

    # ---- requests

    def _submit(self, submit: Submit, plan: Plan, url: str, bits: int, waiter: Waiter, make: Make,
                listener: Listener) -> int:  # fmt: skip
        memory = c_text(url, "url") if plan.has_url else ffi.NULL
        return self._lock.held(self._submit_now, submit, plan, memory, bits, _Request(waiter, make, listener))

    def _submit_now(self, submit: Submit, plan: Plan, url: Any, bits: int, waiting: _Request) -> int:
        if self.is_closed:
            raise ClosedError("The loader or downloader is closed.", status=c.ERROR_CLOSED)
        request = plan.c
        if plan.has_url:
            request.url = url
            request.options = plan.bits | bits
        token = submit(request)
        if token:
            self._requests[token] = waiting
            return token
        raise call_error()

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
        token = 0
        try:
            token, waiter = self.start_sync(submit, plan, url, bits, make, listener)
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

    def cancel_those_of(self, loop: Any) -> None:
        """Cancels the requests of a loop that is closed: their tasks never go on."""
        for token, request in list(self._requests.items()):
            if isinstance(request.waiter, TaskWaiter) and request.waiter.loop is loop:
                self.cancel(token)

    def steps(self, token: int, waiter: ThreadWaiter) -> Iterator[None]:
        """Waits for the end of a request. Each step but the first comes after something has happened."""
        while True:
            waiter.bell.clear()
            waiter.run_calls()
            if waiter.is_done:
                waiter.run_calls()  # those that came before the end
                return
            yield
            self._wait(token, waiter)

    def _wait(self, token: int, waiter: ThreadWaiter) -> None:
        """Waits until there is something to do for the thread. One of the threads polls, for all of them."""
        thread = threading.get_ident()
        led_before = self._leader.get("thread") == thread  # a handler of `logging` waits on the thread that leads
        try:
            try:
                try:
                    self._followers[token] = waiter
                    self._lead_or_follow(waiter, thread)
                finally:
                    in_any_case(self._stop_waiting, token, led_before)
            finally:  # a signal handler may have raised an exception before the call
                if token in self._followers:
                    in_any_case(self._stop_waiting, token, led_before)
        finally:
            if token in self._followers:
                in_any_case(self._stop_waiting, token, led_before)

    def _lead_or_follow(self, waiter: ThreadWaiter, thread: int) -> None:
        while not waiter.bell.has_rung:
            if self._leader.setdefault("thread", thread) == thread:
                self._signal.wait_sync(self._nudge)
                self.drain(None)
            else:
                waiter.bell.wait()

    def _stop_waiting(self, token: int, led_before: bool) -> None:
        if token not in self._followers:
            return
        if not led_before and self._leader.get("thread") == threading.get_ident():
            self._leader.pop("thread", None)
        # Another thread must poll from now on. It was a follower before it found that one led.
        for other, follower in list(self._followers.items()):
            if other != token:
                follower.bell.ring()
                break
        self._followers.pop(token, None)

    # ---- events

    def _watch(self, waiter: TaskWaiter) -> None:
        watches = self._resources.watches
        for loop, other in list(watches.items()):  # other threads may do the same
            if other.is_over:
                watches.pop(loop, None)
        watch = waiter.watch(self._signal.fd, _Reader(self, waiter.loop))
        watches[waiter.loop] = watch
        if self.is_closed:  # meanwhile, by another thread, which may not have seen this watch
            watch.stop()
            watches.pop(waiter.loop, None)

    def drain(self, loop: Any) -> None:
        """Takes the events that wait, and hands them out. `loop` is the loop whose thread this is, or None."""
        in_any_case(self._hand_out, loop, deque())

    def _hand_out(self, loop: Any, actions: deque[tuple[bool, Action]]) -> None:
        """Takes events and does what follows from them. Can be called again, with the same actions, if it fails."""
        self._lock.held(self._take_events, actions)
        # Without the lock, since functions of the application may use this downloader.
        while actions:
            is_end, action = actions[0]
            if not is_end:  # is not done twice
                actions.popleft()
            action(loop)
            if is_end:  # is not left out
                actions.popleft()
        if loop is not None and self._followers:
            self._nudge.send()

    def _take_events(self, actions: deque[tuple[bool, Action]]) -> None:
        if self.is_closed:
            return
        # The last time finds none, unless they come without end: then the descriptor stays readable.
        for _ in range(_TAKINGS):
            if not self._events.take():
                break
            self._take_actions(actions)

    def _take_actions(self, actions: deque[tuple[bool, Action]]) -> None:
        for event in self._events:
            token, kind = event.token, event.kind
            request = self._requests.get(token)
            if kind in _ENDS and request is not None:
                value, error = _outcome(request, event)
                actions.append((True, functools.partial(self._tell, token, request, value, error)))
            elif kind == c.EVENT_LOG:
                actions.append((False, _log_message(event.notice)))
            elif request is None:
                pass
            elif kind == c.EVENT_CACHED:
                request.cached = request.make(event.result)
            elif report := _report_of(request.listener, kind, event):
                actions.append((False, _report_to(request.waiter, report)))

    def _tell(self, token: int, request: _Request, value: Any, error: BaseException | None, loop: Any) -> None:
        request.waiter.finish(loop, value, error)
        self._requests.pop(token, None)

    # ---- the end

    def close(self) -> None:
        """Cancels all requests and WAITS for the end of the downloader. What waits for a request gets an exception."""
        check_generation(self.made_in, "loader or downloader")
        if not self.is_closed:
            self.drain(None)
            self._lock.held(setattr, self, "is_closed", True)
        self._end()
        in_any_case(self._end_all)

    def _end_all(self) -> None:
        self._signal.wake()
        for token, request in list(self._requests.items()):
            error = RequestCancelled(
                "The request was cancelled, because its loader or downloader was closed.", status=c.ERROR_CANCELLED
            )
            request.waiter.finish(None, None, error)
            self._requests.pop(token, None)


def _outcome(request: _Request, event: Event) -> tuple[Any, BaseException | None]:
    """The value or the exception of a request that has ended."""
    is_list = event.kind == c.EVENT_PREFETCH_COMPLETED
    status = event.prefetch.status if is_list else event.result.failure.status
    if status == c.OK:
        try:
            return request.make(event.prefetch if is_list else event.result), None
        except MemoryError as error:
            return None, error
    if is_list:
        return None, RequestCancelled("The list was cancelled.", status=status)
    if status == c.ERROR_NOT_MODIFIED and request.cached is not None:
        return request.cached, None
    return None, error_of(event.result)


def _report_of(listener: Listener, kind: int, event: Event) -> Callable[[], object] | None:
    """The call of the application's for an event that ends nothing; None if it wants none."""
    if kind == c.EVENT_PROGRESS and listener.progress:
        progress, received, expected = listener.progress, event.received_bytes, event.expected_bytes
        return lambda: progress(received, None if expected < 0 else expected)
    if kind == c.EVENT_PREVIEW and listener.preview:
        preview, image = listener.preview, image_of(event.result)
        return lambda: preview(image)
    if kind == c.EVENT_PREFETCHED and listener.progress:
        progress, finished, total = listener.progress, event.prefetch.finished, event.prefetch.total
        return lambda: progress(finished, total)
    return None


def _report_to(waiter: Waiter, report: Callable[[], object]) -> Action:
    return lambda loop: waiter.report(loop, report)


def _log_message(notice: Any) -> Action:
    """Writes a log message, with attributes of its record."""
    level, message = _LEVELS.get(notice.level, logging.DEBUG), in_python(text(notice.failure.message))
    extra = {"sdd_url": text(notice.url) or None, "sdd_transfer": notice.transfer, "sdd_attempt": notice.attempt}
    return lambda loop: _log.log(level, "%s", message, extra=extra)

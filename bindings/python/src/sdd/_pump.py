"""A downloader of the library, and the taking of its events in batches, without callbacks from its threads.

The library queues events behind a descriptor. An event loop watches it; a plain thread polls it. Whoever finds it
readable takes all events that wait, and hands each to what waits for it, in whichever loop or thread that is.
"""

from __future__ import annotations

import itertools
import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from . import _constants as c
from ._closing import Owned
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
from ._values import c_text
from ._words import in_python
from ._waiters import Listener, Make, TaskWaiter, ThreadWaiter, Waiter, waiter_of_task

Value = TypeVar("Value")

_log = logging.getLogger("sdd")
_LEVELS = {c.LOG_ERROR: logging.ERROR, c.LOG_WARNING: logging.WARNING, c.LOG_INFO: logging.INFO,
           c.LOG_DEBUG: logging.DEBUG}  # fmt: skip

_COMPLETED, _LIST_COMPLETED = c.EVENT_COMPLETED, c.EVENT_PREFETCH_COMPLETED
_OK = c.OK
_TAKINGS = 16
"""Most times that events are taken before what follows from them is done."""

Submit = Callable[[Any, Any], int]
"""Submits a request: takes its object and the address of the request, returns the token, or 0 after a failed call."""

Call = Callable[[Any], object]
"""A call of the application's. Its argument is the loop whose thread makes it, or None."""


def _write_notice(notice: Any, user_data: Any) -> None:
    """The observer of log messages. Messages are taken as events; only sdd_downloader_destroy() calls it, with those that
    are left, on the thread that calls it."""
    _log_message(notice)(None)


_OBSERVER = ffi.callback("sdd_observer_fn", _write_notice)
_NO_LOOP = object()


class _Taken:
    """What follows from events that were taken, in their order. Nothing leaves it before it is done."""

    __slots__ = ("steps", "elsewhere")

    def __init__(self) -> None:
        self.steps: deque[tuple[int, Any, Any, Any]] = deque()
        """An end: its key, waiter, value and error. A call of the application's: 0, the call, None and None."""
        self.elsewhere: dict[Any, list[tuple[TaskWaiter, Any, BaseException | None]]] = {}
        """The ends of tasks of other loops, by their loop, which are told of all of them together."""


class _Resources(Owned):
    """The things to end when a pump is closed or collected, or when the interpreter exits."""

    def __init__(self, owner: object) -> None:
        self.watches: dict[Any, Watch] = {}
        """The loops that watch the descriptor."""
        super().__init__(owner, "sdd_downloader", lib.sdd_downloader_destroy)

    def end(self) -> None:
        """Destroys the downloader and waits for that, with the GIL released. Does nothing in the child of a fork."""
        if self._made_in != generation():
            return
        for watch in list(self.watches.values()):
            watch.stop()
        self.watches.clear()
        super().end()


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
        self.made_in = generation()
        self._resources = _Resources(self)
        check(lib.sdd_downloader_create(config.c, self._resources.place))
        self.handle = self._resources.place[0]
        self._watches = self._resources.watches
        self._signal = Signal(lib.sdd_downloader_event_fd(self.handle))
        self.is_closed = False
        self._keys = itertools.count(1)
        self._requests: dict[int, Waiter] = {}
        """Those under way, by the keys that are their user_data."""
        self._lock = Lock()
        """Held while events are taken."""
        self._leader: dict[str, int] = {}
        """The plain thread that polls for all others: {"thread": its identity}, or nothing."""
        self._nudge = Nudge()
        """For the thread that polls, when a loop has taken its event."""
        self._followers: dict[int, ThreadWaiter] = {}
        self._events = EventQueue(self.handle)
        self._has_log = bool(log_level)
        if log_level:
            check(lib.sdd_downloader_set_log(self.handle, log_level, _OBSERVER, ffi.NULL, ffi.NULL))

    def check_usable(self) -> None:
        check_generation(self.made_in, "loader or downloader")
        if self.is_closed:
            raise ClosedError("The loader or downloader is closed.", status=c.ERROR_CLOSED)

    # ---- requests

    def _submit(self, submit: Submit, target: Any, plan: Plan, bits: int, waiter: Waiter) -> int:
        """Submits a request. What waits for it is known by a key before, so that no end overtakes it."""
        key = next(self._keys)
        request, memory = plan.request(waiter.url, bits, key)
        try:
            self._requests[key] = waiter
            token = waiter.token = submit(target, request)
            if token:
                return token
            raise call_error()
        except BaseException:  # also out of a signal handler, after the call
            self._requests.pop(key, None)
            self.cancel(waiter.token)
            raise

    async def run(self, submit: Submit, target: Any, plan: Plan, url: str, bits: int, make: Callable[[Any, str], Value],
                  listener: Listener) -> Value:  # fmt: skip
        """Submits a request and awaits its end. Cancelling the task cancels the request."""
        token, waiter = self.start(submit, target, plan, url, bits, make, listener)
        try:
            value: Value = await waiter.wait()
            return value
        except BaseException:
            self.cancel(token)
            waiter.give_up()
            raise

    def start(self, submit: Submit, target: Any, plan: Plan, url: str, bits: int, make: Make,
              listener: Listener) -> tuple[int, TaskWaiter]:  # fmt: skip
        """Submits a request for a task, which then waits, or cancels the request."""
        self.check_usable()
        waiter = waiter_of_task(url, make, listener)
        if waiter.loop not in self._watches:
            self._watch(waiter)
        return self._submit(submit, target, plan, bits, waiter), waiter

    def run_sync(self, submit: Submit, target: Any, plan: Plan, url: str, bits: int,
                 make: Callable[[Any, str], Value], listener: Listener) -> Value:  # fmt: skip
        """Submits a request and waits for its end. An exception in this thread, as of Ctrl-C, cancels the request."""
        token = 0
        try:
            token, waiter = self.start_sync(submit, target, plan, url, bits, make, listener)
            for _ in self.steps(token, waiter):
                pass
        except BaseException:
            self.cancel(token)
            raise
        value: Value = waiter.outcome()
        return value

    def start_sync(self, submit: Submit, target: Any, plan: Plan, url: str, bits: int, make: Make,
                   listener: Listener) -> tuple[int, ThreadWaiter]:  # fmt: skip
        """Submits a request for a plain thread, which then goes through `steps()`."""
        self.check_usable()
        waiter = ThreadWaiter(url, make, listener)
        return self._submit(submit, target, plan, bits, waiter), waiter

    @staticmethod
    def cancel(token: int) -> None:
        """Cancels a request; does nothing if it has ended."""
        lib.sdd_cancel(token)

    def cancel_those_of(self, loop: Any) -> None:
        """Cancels the requests of a loop that is closed: their tasks never go on."""
        for waiter in list(self._requests.values()):
            if waiter.loop is loop:
                self.cancel(waiter.token)

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
        """Another thread must poll from now on, unless one does. Can be called again if it fails."""
        if not led_before and self._leader.get("thread") == threading.get_ident():
            self._leader.pop("thread", None)
        self._followers.pop(token, None)
        # A thread that found one that led was a follower before. One that is rung and goes does the same for the next.
        if not self._leader:
            for follower in list(self._followers.values()):
                follower.bell.ring()
                break

    # ---- events

    def _watch(self, waiter: TaskWaiter) -> None:
        watches = self._watches
        for loop, other in list(watches.items()):  # other threads may do the same
            if other.is_over:
                watches.pop(loop, None)
        watch = waiter.watch(self._signal.fd, _Reader(self, waiter.loop))
        watches[waiter.loop] = watch
        if self.is_closed:  # meanwhile, by another thread, which may not have seen this watch
            watch.stop()
            watches.pop(waiter.loop, None)

    def drain(self, loop: Any) -> None:
        """Takes the events that wait, and hands them out. `loop` is the loop whose thread this is, or None for the thread
        that polls."""
        in_any_case(self._hand_out, loop, _Taken())

    def drain_log(self) -> None:
        """For threads that wait for something else than events: writes the log messages that wait."""
        if self._has_log:
            self.drain(_NO_LOOP)

    def _hand_out(self, loop: Any, taken: _Taken) -> None:
        """Takes events and does what follows from them. Can be called again, with the same object, if it fails."""
        self._lock.held(self._take_events, taken)
        # Without the lock, since functions of the application may use this downloader.
        steps, requests = taken.steps, self._requests
        while steps:
            key, subject, value, error = steps[0]
            if not key:  # is not done twice
                steps.popleft()
                self._tell_elsewhere(taken)
                subject(loop)
                continue
            waiter: Any = subject
            if waiter.loop is loop or waiter.loop is None:
                waiter.finish(value, error)
            else:  # a task's
                taken.elsewhere.setdefault(waiter.loop, []).append((waiter, value, error))
            requests.pop(key, None)
            steps.popleft()  # is not left out
        self._tell_elsewhere(taken)
        if loop is not None and self._followers:
            self._nudge.send()

    @staticmethod
    def _tell_elsewhere(taken: _Taken) -> None:
        for loop, ends in list(taken.elsewhere.items()):
            ends[0][0].finish_all(ends)
            taken.elsewhere.pop(loop, None)

    def _take_events(self, taken: _Taken) -> None:
        if self.is_closed:
            return
        # The last time finds none, unless they come without end: then the descriptor stays readable.
        for _ in range(_TAKINGS):
            if not self._events.take():
                break
            self._take_steps(taken.steps)

    def _take_steps(self, steps: deque[tuple[int, Any, Any, Any]]) -> None:
        requests = self._requests
        for kind, key, event in self._events:
            waiter = requests.get(key)
            if waiter is None:
                if kind == c.EVENT_LOG:
                    steps.append((0, _log_message(event.notice), None, None))
            elif kind == _COMPLETED or kind == _LIST_COMPLETED:
                steps.append((key, waiter, *_outcome(waiter, kind, event)))
            elif kind == c.EVENT_CACHED:
                waiter.cached = waiter.make(event.result, waiter.url)
            elif report := _report_of(waiter.listener, kind, event):
                steps.append((0, _report_to(waiter, report), None, None))

    # ---- the end

    def close(self) -> None:
        """Cancels all requests and WAITS for the end of the downloader. What waits for a request gets an exception."""
        check_generation(self.made_in, "loader or downloader")
        if not self.is_closed:
            self.drain(None)
            self._lock.held(setattr, self, "is_closed", True)
        in_any_case(self._resources.end)
        in_any_case(self._end_all)

    def _end_all(self) -> None:
        self._signal.wake()
        for key, waiter in list(self._requests.items()):
            error = RequestCancelled(
                "The request was cancelled, because its loader or downloader was closed.", status=c.ERROR_CANCELLED
            )
            if isinstance(waiter, TaskWaiter):
                waiter.finish_all([(waiter, None, error)])
            else:
                waiter.finish(None, error)
            self._requests.pop(key, None)


def _outcome(waiter: Waiter, kind: int, event: Event) -> tuple[Any, BaseException | None]:
    """The value or the exception of a request that has ended."""
    given: Any
    if kind == _LIST_COMPLETED:
        given = event.prefetch
        status = given.status
    else:
        given = event.result
        status = given.failure.status
    if status == _OK:
        try:
            return waiter.make(given, waiter.url), None
        except MemoryError as error:
            return None, error
    if kind == _LIST_COMPLETED:
        return None, RequestCancelled("The list was cancelled.", status=status)
    if status == c.ERROR_NOT_MODIFIED and waiter.cached is not None:
        return waiter.cached, None
    return None, error_of(given)


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


def _report_to(waiter: Waiter, report: Callable[[], object]) -> Call:
    return lambda loop: waiter.report(loop, report)


def _log_message(notice: Any) -> Call:
    """Writes a log message, with attributes of its record."""
    level, message = _LEVELS.get(notice.level, logging.DEBUG), in_python(text(notice.failure.message))
    extra = {"sdd_url": text(notice.url) or None, "sdd_transfer": notice.transfer, "sdd_attempt": notice.attempt}
    return lambda loop: _log.log(level, "%s", message, extra=extra)

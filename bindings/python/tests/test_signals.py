"""Exceptions out of signal handlers, in the thread that takes events for others: nobody may wait for ever."""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import LIMIT, Run, Server, in_thread, run_script

import sdd
from sdd import _batch, _downloader
from sdd._events import EventQueue
from sdd._interrupts import Lock
from sdd._pump import Pump
from sdd._waiters import ThreadWaiter
from sdd.lowlevel import lib

NUMBERS = itertools.count()

# Four threads load while the main thread, which also loads, is interrupted by SIGALRM at any moment: once in a load, or
# again and again. All loads of the threads must end, with their bodies.
RANDOM = """
import random, signal, sys, threading
import sdd

ALARMS, LIMIT = int(sys.argv[1]), float(sys.argv[2])
chance = random.Random(sys.argv[3])
armed = repeated = False

class Alarm(Exception):
    pass

def ring(*_):
    global armed
    if armed:
        armed = repeated
        if repeated:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 1e-3))
        raise Alarm

signal.signal(signal.SIGALRM, ring)
is_over = threading.Event()
wrong = []
alarms = 0

def work(downloader):
    while not is_over.is_set():
        try:
            if bytes(downloader.fetch_bytes_sync("data:,body").data) != b"body":
                wrong.append("another body")
        except BaseException as error:
            wrong.append(repr(error))

with sdd.Downloader() as downloader:
    threads = [threading.Thread(target=work, args=(downloader,), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    number = 0
    while alarms < ALARMS:
        try:
            try:
                number += 1
                repeated = number % 2 == 1
                armed = True
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 2e-3))
                for _ in range(10):
                    downloader.fetch_bytes_sync("data:,body")
            finally:
                armed = False
        except Alarm:
            armed = False
            alarms += 1
    is_over.set()
    for thread in threads:
        thread.join(LIMIT)
    stuck = sum(thread.is_alive() for thread in threads)
    print(f"{stuck} threads wait for ever, wrong: {wrong[:3]}", flush=True)
    if stuck:
        import os
        os._exit(1)
"""


@pytest.mark.parametrize("seed", range(2))
def test_alarms_at_any_moment(seed: int) -> None:
    done = run_script(RANDOM, "100", str(LIMIT / 4), str(seed), timeout=2 * LIMIT)
    assert done.stdout == "0 threads wait for ever, wrong: []\n", done.stderr


# Raises an exception in the main thread at each line of the package, one in each round, while the main thread, whose
# own load does not begin, takes the ends of other threads' loads.
AT_EACH_LINE = """
import linecache, os, sys, threading
import sdd
from sdd import _events, _interrupts, _pump, _waiters

FILES = {module.__file__ for module in (_events, _interrupts, _pump, _waiters)}
LIMIT = float(sys.argv[1])
never = threading.Event()

class Alarm(Exception):
    pass

class Countdown:
    def __init__(self, lines):
        self.lines = lines
        self.where = None

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename not in FILES:
            return None
        if event == "line" and self.where is None:
            self.lines -= 1
            if self.lines == 0:
                self.where = frame.f_code.co_name, linecache.getline(frame.f_code.co_filename, frame.f_lineno)
                raise Alarm
        return self

def load(outcome):
    try:
        outcome.append(bytes(downloader.fetch_bytes_sync("data:,other").data))
    except BaseException as error:
        outcome.append(error)

def others(is_over, countdown):
    while not downloader._pump._leader and not is_over.is_set():
        never.wait(0.0005)
    outcomes = [[], [], []]
    threads = [threading.Thread(target=load, args=(outcome,), daemon=True) for outcome in outcomes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    if outcomes != [[b"other"]] * 3:
        print("after an exception at", countdown.where, outcomes, flush=True)
        os._exit(1)
    downloader.cancel_all()

downloader = sdd.Downloader()
downloader.suspend()
number = 0
while True:
    number += 1
    countdown, is_over = Countdown(number), threading.Event()
    thread = threading.Thread(target=others, args=(is_over, countdown), daemon=True)
    thread.start()
    sys.settrace(countdown)
    try:
        downloader.fetch_bytes_sync("http://127.0.0.1:9/")
    except (Alarm, sdd.RequestCancelled):
        pass
    finally:
        sys.settrace(None)
    is_over.set()
    thread.join()
    if countdown.where is None:
        break
downloader.close()
print("lines:", number > 100)
"""


def test_an_exception_at_each_line() -> None:
    done = run_script(AT_EACH_LINE, str(LIMIT / 4), timeout=2 * LIMIT)
    assert done.stdout == "lines: True\n", done.stdout + done.stderr


class Alarm(Exception):
    pass


def raising_once(function: Callable[..., Any], raised: list[Alarm], after: bool) -> Callable[..., Any]:
    """The function, which raises an exception the first time, before or after its work."""

    def called(*arguments: Any) -> Any:
        if not raised and not after:
            raised.append(Alarm())
            raise raised[0]
        value = function(*arguments)
        if not raised:
            raised.append(Alarm())
            raise raised[0]
        return value

    return called


class InterruptedLock:
    """A lock of which one method is interrupted: after its work, as signal handlers are called."""

    def __init__(self, name: str) -> None:
        self._lock, self._name = threading.RLock(), name

    def acquire(self) -> None:
        self._lock.acquire()
        self._interrupt("acquire")

    def release(self) -> None:
        self._lock.release()
        self._interrupt("release")

    def _interrupt(self, name: str) -> None:
        if name == self._name:
            self._name = ""
            raise Alarm


@pytest.mark.parametrize("name", ["acquire", "release"])
def test_a_lock_is_given_back(name: str) -> None:
    lock = Lock()
    setattr(lock, "_lock", InterruptedLock(name))
    with pytest.raises(Alarm):
        lock.held(lambda: None)
    thread, outcomes = in_thread(lambda: lock.held(lambda: "free"))
    thread.join(LIMIT)
    assert not thread.is_alive() and outcomes == ["free"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [(ThreadWaiter, "finish"), (EventQueue, "take"), (Pump, "_take_steps"), (Pump, "_stop_waiting")],
    ids=lambda part: part if isinstance(part, str) else part.__name__,
)
def test_an_exception_in_a_delivery(
    server: Server, monkeypatch: pytest.MonkeyPatch, kind: type, name: str, after: bool
) -> None:
    """The thread that is interrupted gets the exception, after all others have got their ends."""
    path = f"late/signal-{next(NUMBERS)}"
    raised: list[Alarm] = []
    with sdd.Downloader() as downloader:
        waiting = [in_thread(lambda: downloader.fetch_bytes_sync(server.url(f"{path}/b.png"))) for _ in range(4)]
        server.wait_for(f"{path}/b.png")
        monkeypatch.setattr(kind, name, raising_once(getattr(kind, name), raised, after))
        server.release(path.partition("/")[2])
        for thread, _ in waiting:
            thread.join(LIMIT)
            assert not thread.is_alive()
    outcomes = [outcome for _, (outcome,) in waiting]
    bodies = [bytes(outcome.data) for outcome in outcomes if isinstance(outcome, sdd.Result) and outcome.data]
    assert raised and outcomes.count(raised[0]) == 1
    assert bodies == [(server.folder / "b.png").read_bytes()] * 3


def test_an_exception_while_closing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[Alarm] = []
    downloader = sdd.Downloader()
    path = f"late/closing-{next(NUMBERS)}/a.jpg"
    waiting = [in_thread(lambda: downloader.fetch_sync(server.url(path))) for _ in range(3)]
    never = threading.Event()
    for _ in range(LIMIT * 100):
        if downloader.statistics()["requests"] == 3:
            break
        never.wait(0.01)
    monkeypatch.setattr(Pump, "_end_all", raising_once(getattr(Pump, "_end_all"), raised, False))
    with pytest.raises(Alarm):
        downloader.close()
    for thread, _ in waiting:
        thread.join(LIMIT)
    assert [type(outcome[0]) for _, outcome in waiting] == [sdd.RequestCancelled] * 3


def test_loads_of_a_closed_loop_are_cancelled(server: Server, run: Run) -> None:
    """Nobody waits for them: their tasks do not go on."""
    path = f"late/closed-{next(NUMBERS)}/a.jpg"
    with sdd.Downloader() as downloader:

        async def main() -> asyncio.Task[sdd.Result]:
            task = asyncio.ensure_future(downloader.fetch(server.url(path)))
            await asyncio.to_thread(server.wait_for, path)
            return task

        task = run(main())
        assert not task.done()
        never = threading.Event()
        for _ in range(LIMIT * 100):
            if downloader.statistics()["requests_cancelled"]:
                break
            never.wait(0.01)
        assert downloader.statistics()["requests_cancelled"] == 1
        setattr(task, "_log_destroy_pending", False)  # asyncio would complain of a task that never went on
        assert bytes(downloader.fetch_bytes_sync("data:,alive").data or b"") == b"alive"


def test_a_handler_that_loads_while_a_request_is_submitted(
    downloader: sdd.Downloader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two requests has its own URL, although their options are the same."""
    submit = _downloader._submit
    bodies: list[bytes] = []

    def interrupted(target: Any, request: Any) -> Any:
        if not bodies:
            bodies.append(b"")
            bodies[0] = bytes(downloader.fetch_bytes_sync("data:,of-the-handler").data or b"")
        return submit(target, request)

    monkeypatch.setattr(_downloader, "_submit", interrupted)
    bodies.append(bytes(downloader.fetch_bytes_sync("data:,interrupted").data or b""))
    assert bodies == [b"of-the-handler", b"interrupted"]


def raising_at_the_call_of(name: str) -> Callable[..., Any]:
    """A trace function that raises an exception as a function of that name begins: so do handlers of signals."""

    def trace(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name == name:
            raise Alarm

    return trace


def test_an_exception_as_a_batch_asks_for_a_url(downloader: sdd.Downloader) -> None:
    """The batch does not end as if there were no more URLs."""
    number = 0

    def urls() -> Iterator[str]:
        nonlocal number
        for number in range(1000):
            if number == 500:
                sys.settrace(raising_at_the_call_of("_next"))
            yield f"data:,{number}"

    try:
        with pytest.raises(Alarm):
            downloader.fetch_many_bytes(urls()).wait()
    finally:
        sys.settrace(None)
    assert number == 500


class Interrupted:
    """The library, whose sdd_batch_wait() is interrupted once: when it returns with items, as signal handlers are."""

    def __init__(self, library: Any) -> None:
        self._library, self._is_armed = library, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def sdd_batch_wait(self, *arguments: Any) -> Any:
        status = self._library.sdd_batch_wait(*arguments)
        if self._is_armed and arguments[-1][0]:
            self._is_armed = False
            raise Alarm
        return status


@pytest.mark.parametrize("kind", [list, iter])
def test_an_exception_as_items_are_taken(
    downloader: sdd.Downloader, monkeypatch: pytest.MonkeyPatch, kind: Callable[[list[str]], Any]
) -> None:
    """The items are given by the next loop, each once, and what they have is released."""
    gc.collect()
    bodies = sdd.process_statistics()["bytes_objects"]
    urls = [f"data:,{number}" for number in range(100)]
    with downloader.fetch_many_bytes(kind(urls)) as batch:
        monkeypatch.setattr(_batch, "lib", Interrupted(lib))
        given: list[str] = []
        with pytest.raises(Alarm):
            given.extend(item.url for item in batch)
        given.extend(item.url for item in batch)
    assert sorted(given) == sorted(urls)
    del batch
    assert sdd.process_statistics()["bytes_objects"] == bodies


def test_an_exception_at_each_line_of_a_batch(downloader: sdd.Downloader) -> None:
    """All items are there afterwards, each once."""
    urls = [f"data:,{number}" for number in range(3)]
    names = ("_take", "_take_into", "in_any_case", "items_of", "forget", "wait", "_put_back")
    raised = number = left = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left, raised
        if frame.f_code.co_name not in names:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                raised += 1
                raise Alarm
        return trace

    while raised == number:
        number, left = number + 1, number + 1
        batch = downloader.fetch_many_bytes(iter(urls))
        sys.settrace(trace)
        try:
            batch.wait()
        except Alarm:
            sys.settrace(None)
            assert [item.url for item in batch.wait()] == urls, number
        finally:
            sys.settrace(None)
        batch.close()
    assert number > 50


def test_an_exception_as_a_cache_lists_an_entry(tmp_path: Path) -> None:
    """No list without that entry is given, and nothing behind it is removed."""
    with sdd.Cache(directory=str(tmp_path)) as cache:
        for key in ("one", "two", "three"):
            cache.put_sync(key, data=key.encode())
        sys.settrace(raising_at_the_call_of("visit"))
        try:
            with pytest.raises(Alarm):
                cache.entries_sync(remove=lambda entry: True)
        finally:
            sys.settrace(None)
        assert len(cache.entries_sync()) == 3


# Raises an exception in the main thread at each opcode of the package, one in each round, while objects are made, used
# and closed. None may be left behind with its threads and descriptors, nor the bodies of items.
AT_EACH_OPCODE = """
import gc, os, sys
import sdd
from sdd import _batch, _cache, _closing, _downloader, _items, _loader, _pump, _signal

MODULES = (_batch, _cache, _closing, _downloader, _items, _loader, _pump, _signal)
FILES = {module.__file__ for module in MODULES}

class Alarm(Exception):
    pass

class Countdown:
    def __init__(self, opcodes):
        self.opcodes = opcodes

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename not in FILES:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and self.opcodes:
            self.opcodes -= 1
            if not self.opcodes:
                raise Alarm
        return self

def use():
    with sdd.Cache(directory=sys.argv[1], levels="memory"):
        pass
    with sdd.Loader(no_cache=True) as loader, loader.downloader.fetch_many_bytes(["data:,a"]) as items:
        for item in items:
            pass

def left():
    gc.collect()
    bodies = sdd.process_statistics()["bytes_objects"]
    return [len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), bodies]

sys.unraisablehook = lambda unraisable: None  # of an exception in a finalizer
use()
before, number, countdown = left(), 0, None
while countdown is None or not countdown.opcodes:
    number += 1
    countdown = Countdown(number)
    sys.settrace(countdown)
    try:
        use()
    except Alarm:
        pass
    finally:
        sys.settrace(None)
    after = left()
    if any(new > old for new, old in zip(after, before)):
        print("threads, descriptors or bodies are left after opcode", number, before, after)
        break
print("opcodes:", number > 500)
"""


def test_an_exception_at_each_opcode_leaves_nothing(tmp_path: Path) -> None:
    done = run_script(AT_EACH_OPCODE, str(tmp_path), timeout=3 * LIMIT)
    assert done.stdout == "opcodes: True\n", done.stdout + done.stderr

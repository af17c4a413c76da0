"""Runs a job in processes of this machine, without an engine."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from ._options import JobOptions
from ._plan import Plan, make_plan
from ._progress import INTERVAL, Meter, Progress, Tally
from ._report import JobReport, ShardReport
from ._shards import is_done, remove_leftovers_of, stats_file
from ._worker import make_lane

_log = logging.getLogger("sdd.distributed")


class LaneFailed(RuntimeError):
    """A lane has failed as often as max_shard_retry allows. What it has done is kept; the job can be started again."""


def download(
    options: JobOptions | None = None, *, progress: Callable[[Progress], object] | None = None, **given: Any
) -> JobReport:
    """Runs a whole job in `processes_count` processes, or what is left of it, and returns the report.

    Takes a `JobOptions`, or the arguments of img2dataset's download(). The processes are spawned: a script calls this
    under `if __name__ == "__main__":`. They end with this process, also if it is killed. `progress` is called in this
    thread, about four times a second.
    """
    if options is None:
        options = JobOptions.from_img2dataset(**given)
    elif given:
        raise TypeError("give either a JobOptions, or single options")
    plan = make_plan(options)
    run_plan(plan, options, progress)
    return report_of(plan, options)


def run_plan(plan: Plan, options: JobOptions, progress: Callable[[Progress], object] | None = None) -> None:
    """Makes the lanes of a plan that are not done."""
    lanes = deque(lane for lane in plan.lanes if not all(is_done(shard, options) for shard in plan.shards_of(lane)))
    meter = None
    if progress is not None:
        done = [shard for lane in set(plan.lanes).difference(lanes) for shard in plan.shards_of(lane)]
        meter = Meter(plan.rows, progress, (ShardReport.read(stats_file(shard, options)) for shard in done))
    if lanes:
        _Pool(options, lanes, meter).run()


def report_of(plan: Plan, options: JobOptions) -> JobReport:
    """The sum of all shards that are done, whoever has made them."""
    done = [shard for shard in plan.shards if is_done(shard, options)]
    reports = [ShardReport.read(stats_file(shard, options)) for shard in done]
    return JobReport.of(reports, sorted(set(plan.shards) - set(done)))


class _Process:
    """A worker process, and the lane that it has."""

    def __init__(self, options: JobOptions, tally: Tally | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._options, self.tally = options, tally
        self.connection, theirs = context.Pipe()
        life, self._life = context.Pipe(duplex=False)
        self.process: SpawnProcess = context.Process(target=_serve, args=(options, theirs, life, tally), daemon=True)
        with _interrupts_blocked():
            self.process.start()
        theirs.close()
        life.close()
        self.lane: int | None = None

    def begin(self, lane: int) -> None:
        self.lane = lane
        with contextlib.suppress(OSError):  # the process has died, which wait() reports
            self.connection.send(lane)

    def end(self) -> None:
        self.connection.close()
        self._life.close()
        self.process.join()
        assert self.process.pid is not None
        remove_leftovers_of(self.process.pid, self._options)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """A process that is started meanwhile never gets Ctrl-C: the one that has started it does, and ends it."""
    resource_tracker.ensure_running()  # otherwise it is started with the process, and then unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(options: JobOptions, connection: Connection, life: Connection, tally: Tally | None) -> None:
    """The main function of a worker process: takes lanes until the connection is closed.

    The other process can close it at any time, also while an answer is sent or waits to be read: an OSError here.
    """
    threading.Thread(target=_watch, args=(life,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            lane = connection.recv()
            connection.send(_answer(options, lane, tally))


def _answer(options: JobOptions, lane: int, tally: Tally | None) -> list[ShardReport] | str:
    """The reports of a lane, or why it failed."""
    try:
        return make_lane(options, lane, tally)
    except Exception as error:
        _log.exception("lane %d", lane)
        return f"{type(error).__name__}: {error}"


def _watch(life: Connection) -> None:
    """Ends this process when the one that started it is gone, in whatever way. What it has not finished is left."""
    try:
        life.recv()
    except EOFError:
        os._exit(1)


class _Pool:
    def __init__(self, options: JobOptions, lanes: deque[int], meter: Meter | None) -> None:
        self._options, self._lanes, self._meter = options, lanes, meter
        self._attempts: dict[int, int] = {}
        self._failed: list[str] = []

    def run(self) -> None:
        workers: list[_Process] = []
        try:
            for _ in range(min(self._options.processes_count, len(self._lanes))):
                workers.append(self._start())
            for worker in workers:
                worker.begin(self._lanes.popleft())
            while busy := {worker.connection: worker for worker in workers if worker.lane is not None}:
                for ready in wait(list(busy), INTERVAL if self._meter else None):
                    self._answered(workers, busy[ready])  # type: ignore[index]
                if self._meter:
                    self._meter.show(worker.tally for worker in workers if worker.tally)
        finally:
            for worker in workers:
                worker.end()
        if self._failed:
            raise LaneFailed("; ".join(self._failed))

    def _start(self) -> _Process:
        return _Process(self._options, Tally() if self._meter else None)

    def _answered(self, workers: list[_Process], worker: _Process) -> None:
        lane = worker.lane
        assert lane is not None
        worker.lane = None
        try:
            answer = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join()
            answer = f"the process ended with status {worker.process.exitcode}"
            workers.remove(worker)
            worker.end()
            worker = self._start()
            workers.append(worker)
        if worker.tally:
            worker.tally.clear()
        if isinstance(answer, str):
            self._attempts[lane] = self._attempts.get(lane, 0) + 1
            if self._attempts[lane] <= self._options.max_shard_retry:
                self._lanes.append(lane)
            else:
                self._failed.append(f"lane {lane}: {answer}")
        else:
            if self._meter:
                self._meter.add(answer)
            _log.info("lane %d: %s", lane, JobReport.of(answer))
        if self._lanes:
            worker.begin(self._lanes.popleft())

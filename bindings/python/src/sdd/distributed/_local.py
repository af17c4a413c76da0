"""Runs a job in processes of this machine, without an engine."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import threading
from collections import deque
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from ._options import JobOptions
from ._plan import Plan, make_plan
from ._report import JobReport, ShardReport
from ._shards import is_done, stats_file
from ._worker import ShardWorker

_log = logging.getLogger("sdd.distributed")


class LaneFailed(RuntimeError):
    """A lane has failed as often as max_shard_retry allows. What it has done is kept; the job can be started again."""


def download(options: JobOptions | None = None, **given: Any) -> JobReport:
    """Runs a whole job in `processes_count` processes, or what is left of it, and returns the report.

    Takes a `JobOptions`, or the arguments of img2dataset's download(). The processes are spawned: a script calls this
    under `if __name__ == "__main__":`. They end with this process, also if it is killed.
    """
    if options is None:
        options = JobOptions.from_img2dataset(**given)
    elif given:
        raise TypeError("give either a JobOptions, or single options")
    plan = make_plan(options)
    lanes = deque(lane for lane in plan.lanes if not all(is_done(shard, options) for shard in plan.shards_of(lane)))
    if lanes:
        _Pool(options, lanes).run()
    return report_of(plan, options)


def report_of(plan: Plan, options: JobOptions) -> JobReport:
    """The sum of all shards that are done, whoever has made them."""
    done = [shard for shard in plan.shards if is_done(shard, options)]
    reports = [ShardReport.read(stats_file(shard, options)) for shard in done]
    return JobReport.of(reports, sorted(set(plan.shards) - set(done)))


class _Process:
    """A worker process, and the lane that it has."""

    def __init__(self, options: JobOptions) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        life, self._life = context.Pipe(duplex=False)
        self.process: SpawnProcess = context.Process(target=_serve, args=(options, theirs, life), daemon=True)
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


def _serve(options: JobOptions, connection: Connection, life: Connection) -> None:
    """The main function of a worker process: takes lanes until the connection is closed."""
    threading.Thread(target=_watch, args=(life,), daemon=True).start()
    worker = ShardWorker(options)
    while True:
        try:
            lane = connection.recv()
        except EOFError:
            return
        try:
            answer: Any = worker(lane)
        except Exception as error:
            _log.exception("lane %d", lane)
            answer = f"{type(error).__name__}: {error}"
        connection.send(answer)


def _watch(life: Connection) -> None:
    """Ends this process when the one that started it is gone, in whatever way. What it has not finished is left."""
    try:
        life.recv()
    except EOFError:
        os._exit(1)


class _Pool:
    def __init__(self, options: JobOptions, lanes: deque[int]) -> None:
        self._options, self._lanes = options, lanes
        self._attempts: dict[int, int] = {}
        self._failed: list[str] = []

    def run(self) -> None:
        workers = [_Process(self._options) for _ in range(min(self._options.processes_count, len(self._lanes)))]
        try:
            for worker in workers:
                worker.begin(self._lanes.popleft())
            while any(worker.lane is not None for worker in workers):
                busy = {worker.connection: worker for worker in workers if worker.lane is not None}
                for ready in wait(list(busy)):
                    self._answered(workers, busy[ready])  # type: ignore[index]
        finally:
            for worker in workers:
                worker.end()
        if self._failed:
            raise LaneFailed("; ".join(self._failed))

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
            worker = _Process(self._options)
            workers.append(worker)
        if isinstance(answer, str):
            self._attempts[lane] = self._attempts.get(lane, 0) + 1
            if self._attempts[lane] <= self._options.max_shard_retry:
                self._lanes.append(lane)
            else:
                self._failed.append(f"lane {lane}: {answer}")
        else:
            _log.info("lane %d: %s", lane, JobReport.of(answer))
        if self._lanes:
            worker.begin(self._lanes.popleft())

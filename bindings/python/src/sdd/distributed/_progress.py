"""How far a job is. Worker processes count rows in memory that the process which has started them reads."""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ._report import JobReport, ShardReport

INTERVAL = 0.25
"""Seconds from one call of the application's function to the next."""


@dataclass(frozen=True)
class Progress:
    """What `download()` gives its function `progress`: URLs of the whole job, with those of earlier runs."""

    total: int
    done: int
    failed: int
    """How many of those that are done gave no picture."""
    bytes: int
    """Bytes of the bodies of the pictures that succeeded."""


class Tally:
    """The rows of the lane that a process works on. It writes, and the process that has started it reads."""

    def __init__(self) -> None:
        self._counts = multiprocessing.get_context("spawn").RawArray(ctypes.c_longlong, 3)

    def count_row(self, is_failed: bool = False, body_bytes: int = 0) -> None:
        """Called by one thread at a time."""
        self._counts[0] += 1
        self._counts[1] += is_failed
        self._counts[2] += body_bytes

    def add(self, report: JobReport) -> None:
        self._counts[:] = [sum(pair) for pair in zip(self._counts, _counts_of(report))]

    def clear(self) -> None:
        """Called while no process works on a lane."""
        self._counts[:] = [0, 0, 0]

    @property
    def counts(self) -> list[int]:
        return list(self._counts)


def _counts_of(report: JobReport) -> tuple[int, int, int]:
    return report.count, report.count - report.successes, report.bytes


class Meter:
    """Adds up the lanes that are done and the tallies of those that are not."""

    def __init__(self, total: int, show: Callable[[Progress], object], done: Iterable[ShardReport]) -> None:
        self._total, self._show = total, show
        self._done = _counts_of(JobReport.of(done))
        self.show(())

    def add(self, lane: Iterable[ShardReport]) -> None:
        """A lane is done."""
        done, failed, size = _counts_of(JobReport.of(lane))
        self._done = self._done[0] + done, self._done[1] + failed, self._done[2] + size

    def show(self, tallies: Iterable[Tally]) -> None:
        self._show(Progress(self._total, *map(sum, zip(self._done, *(tally.counts for tally in tallies)))))

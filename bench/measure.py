"""Runs the programs of a workload in turns, compares what they have delivered, and records the times."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import clients
from clients import Answer, Client, Job
from workloads import Workload, write_urls

TIME_LIMIT = 600


class WrongResult(Exception):
    """A program has failed, or its bytes or pixels are not those of the baseline."""


@dataclasses.dataclass(frozen=True)
class Run:
    """What the kernel has accounted for a run, and what the program said."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    answer: Answer

    def record(self) -> dict[str, Any]:
        return {"wall_s": self.wall_s, "cpu_s": self.cpu_s, "peak_mb": self.peak_mb, "work_s": self.answer.wall_s,
                "first_frame_ms": self.answer.first_frame_ms}


class Measurement:
    """One workload with one number of requests in flight."""

    def __init__(self, work: Path, workload: Workload, in_flight: int, ca_file: Path, results: TextIO) -> None:
        self._work = work
        self._results = results
        self.workload = workload
        self.in_flight = in_flight
        self._job = Job(workload, in_flight, write_urls(work, workload), ca_file, work,
                        work / "cache" / workload.name if workload.is_cached else None)

    def run(self, client: Client, is_prefill: bool = False) -> Run:
        """Runs a program once, as it is measured. Raises WrongResult if it fails, or some URL does."""
        with scratch_folder() as scratch:
            job = dataclasses.replace(self._job, scratch=scratch, is_prefill=is_prefill)
            run = self._run(client, job)
        if run.answer.failed or run.answer.ok == 0:
            raise WrongResult(f"{self.title}: {client.name}: {run.answer.failed} URLs failed, {run.answer.ok} did not")
        return run

    def _run(self, client: Client, job: Job) -> Run:
        account = job.scratch / "account"
        command = [str(clients.BUILD / "bench-account"), str(account), *client.command(job)]
        try:
            process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                     errors="replace", timeout=TIME_LIMIT, env=environment())
        except subprocess.TimeoutExpired as error:
            raise WrongResult(f"{self.title}: {client.name}: no end after {TIME_LIMIT} s") from error
        usage = json.loads(account.read_text())
        answer = client.answer(job, process.stdout)
        if usage["status"] != 0 or answer is None:
            raise WrongResult(f"{self.title}: {client.name}: status {usage['status']}: {process.stderr.strip()[-500:]}")
        return Run(usage["wall_s"], usage["user_s"] + usage["system_s"], usage["peak_kb"] / 1024, answer)

    @property
    def title(self) -> str:
        return f"{self.workload.name}, {self.in_flight} in flight"

    def _record(self, kind: str, client: Client, **values: Any) -> None:
        record = {"kind": kind, "workload": self.workload.name, "in_flight": self.in_flight, "client": client.name}
        self._results.write(json.dumps(record | values) + "\n")
        self._results.flush()

    def fill_caches(self, programs: list[Client]) -> None:
        """Fills the disk cache of each program, new from the network."""
        if self._job.cache:
            shutil.rmtree(self._job.cache, ignore_errors=True)
            self._job.cache.mkdir(parents=True)
            for program in programs:
                self.run(program, is_prefill=True)

    @contextmanager
    def checks(self, baseline: Client) -> Iterator[Callable[[Client], None]]:
        """Yields a function that compares the bytes or pixels of a program with those of the baseline."""
        with tempfile.TemporaryDirectory(dir=self._work) as folder:
            pictures = Path(folder)
            expected = self._checked(baseline, pictures / "expected")
            self._record("check", baseline, **dataclasses.asdict(expected))

            def check(program: Client) -> None:
                shutil.rmtree(pictures / "pictures", ignore_errors=True)
                answer = self._checked(program, pictures / "pictures")
                difference = self._compare(program, expected, answer, pictures)
                self._record("check", program, **dataclasses.asdict(answer), difference=difference)

            yield check

    def _checked(self, client: Client, pictures: Path) -> Answer:
        """Runs a program with checksums. Pictures that it writes are in the folder then."""
        pictures.mkdir()
        job = dataclasses.replace(self._job, scratch=pictures, is_check=True)
        return self._run(client, job).answer

    def _compare(self, client: Client, expected: Answer, answer: Answer, pictures: Path) -> float:
        """Returns the mean difference of the pixels in levels of 255. Raises WrongResult if it is too large."""
        what = f"{self.title}: {client.name}"
        self._compare_counts(client, answer, expected)
        if client.discards or (answer.checksum, answer.sum) == (expected.checksum, expected.sum):
            return 0
        tolerance = 0 if client.name in clients.EXACT else self.workload.tolerance
        if not tolerance:
            raise WrongResult(f"{what}: checksum {answer.checksum}, sum {answer.sum}; "
                              f"the baseline's are {expected.checksum}, {expected.sum}")
        difference = mean_difference(pictures / "expected", pictures / "pictures")
        if difference > tolerance:
            raise WrongResult(f"{what}: pixels differ by {difference:.2f} levels on average, {tolerance} are allowed")
        return difference

    def measure(self, programs: list[Client], rounds: int) -> None:
        """Runs each program directly before or after the baseline, which is the first one, in each round."""
        baseline = programs[0]
        for round_ in range(rounds):
            for program in programs[1:]:
                order = (baseline, program) if round_ % 2 == 0 else (program, baseline)
                runs = {client.name: self.run(client) for client in order}
                self._compare_counts(program, runs[program.name].answer, runs[baseline.name].answer)
                self._record("pair", program, round=round_, own=runs[program.name].record(),
                             baseline=runs[baseline.name].record())

    def _compare_counts(self, client: Client, answer: Answer, expected: Answer) -> None:
        for name in ("ok", "failed", "bytes", "pixels"):
            value, right = getattr(answer, name), getattr(expected, name)
            if value is not None and value != right:
                raise WrongResult(f"{self.title}: {client.name}: {name} is {value}, the baseline's is {right}")


def mean_difference(expected: Path, pictures: Path) -> float:
    """Compares pictures in RGBA by name; returns the largest mean difference of a picture, in levels of 255."""
    names = {file.name for file in expected.glob("*.rgba")}
    if not names or names != {file.name for file in pictures.glob("*.rgba")}:
        raise WrongResult("the pictures have other sizes than the baseline's")
    import numpy  # of the benchmark's own Python; everything else runs with any
    largest = 0.0
    for name in names:
        one, other = (numpy.fromfile(folder / name, numpy.uint8).astype(numpy.int16) for folder in (expected, pictures))
        largest = max(largest, float(numpy.abs(one - other).mean()))
    return largest


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Makes an empty folder, in memory if the system has such a place."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def environment() -> dict[str, str]:
    """The environment of the programs: without proxies, and one thread for each picture that libvips decodes."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent", "VIPS_CONCURRENCY": "1"}

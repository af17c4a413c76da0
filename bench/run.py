#!/usr/bin/env python3
"""Compares libsdd with a baseline in C and with other clients; `make bench` and `make bench-quick` call it.

    run.py [--work DIR] [--quick] [--workload NAME]... [--rounds N] [--no-peers] [--note TEXT]
           [--continue]
    run.py [--work DIR] --report [FILE]

A run of all workloads writes docs/benchmarks.md, its charts and the headline of the README. Any other run, and one in
which a program failed, only writes WORK/report.md. The records of each run are in WORK/results, a line of JSON for each
pair of runs; --continue adds the workloads that the newest file lacks, and --report writes the pages again from a file.

It ends with status 1 if a program fails, or if its bytes or pixels are not those of the baseline.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from pathlib import Path
from typing import TextIO

import clients
import corpus
import environment
import report
import servers
from clients import Client
from measure import Measurement, WrongResult
from results import read_results
from workloads import QUICK, WORKLOADS, Workload

ROUNDS, QUICK_ROUNDS = 5, 2
SHORT_S, SHORT_FACTOR = 0.5, 3
NEWEST = Path("newest")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=clients.BUILD / "bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--workload", action="append", choices=list(WORKLOADS))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--note", default="")
    parser.add_argument("--continue", dest="continues", action="store_true")
    parser.add_argument("--report", nargs="?", type=Path, const=NEWEST)
    arguments = parser.parse_args()
    arguments.work = arguments.work.resolve()
    arguments.rounds = arguments.rounds or default_rounds(arguments)
    return arguments


def default_rounds(arguments: argparse.Namespace) -> int:
    return QUICK_ROUNDS if arguments.quick else ROUNDS


def newest_results(work: Path) -> Path:
    files = sorted((work / "results").glob("*.jsonl"))
    if not files:
        sys.exit(f"run.py: no results in {work / 'results'}")
    return files[-1]


def chosen(arguments: argparse.Namespace) -> list[Workload]:
    names = arguments.workload or (QUICK if arguments.quick else list(WORKLOADS))
    return [WORKLOADS[name] for name in names]


def measured(file: Path) -> set[tuple[str, int]]:
    """Returns the workloads and numbers in flight that a file of results has completely."""
    records = [json.loads(line) for line in file.read_text().splitlines()]
    return {(record["workload"], record["in_flight"]) for record in records if record["kind"] == "end"}


class Benchmark:
    def __init__(self, arguments: argparse.Namespace, results: TextIO) -> None:
        self._arguments = arguments
        self._results = results
        self._ca_file = servers.certificate(arguments.work)
        self.failures: list[str] = []

    def _write(self, **record: object) -> None:
        self._results.write(json.dumps(record) + "\n")
        self._results.flush()

    def _without_failing(self, measurement: Measurement, programs: list[Client]) -> list[Client]:
        """Checks all programs. Returns those that do the same work as the baseline; the candidate must be one."""
        baseline, candidate, *peers = programs
        checked = [baseline, candidate]
        with measurement.checks(baseline) as check:
            check(candidate)
            for peer in peers:
                try:
                    check(peer)
                    checked.append(peer)
                except WrongResult as failure:
                    self.failures.append(str(failure))
                    self._write(kind="failure", reason=str(failure))
                    print(f"run.py: FAILED: {failure}", file=sys.stderr, flush=True)
        return checked

    def measure(self, workload: Workload, in_flight: int) -> None:
        """Measures one workload. Raises WrongResult if libsdd or the baseline fails, or a peer after its check."""
        begin = time.monotonic()
        print(f"{workload.name}, {in_flight} in flight: {workload.text} ...", flush=True)
        measurement = Measurement(self._arguments.work, workload, in_flight, self._ca_file, self._results)
        programs: list[Client] = [clients.baseline, clients.candidate]
        measurement.fill_caches(programs)
        if not self._arguments.no_peers:
            programs += clients.peers_of(workload, self._arguments.work)
        programs = self._without_failing(measurement, programs)
        is_short = measurement.run(clients.baseline).wall_s < SHORT_S
        measurement.measure(programs, self._arguments.rounds * (SHORT_FACTOR if is_short else 1))
        self._write(kind="end", workload=workload.name, in_flight=in_flight)
        print(f"    {len(programs)} programs, {time.monotonic() - begin:.0f} s", flush=True)


def run(arguments: argparse.Namespace) -> tuple[Path, list[str]]:
    """Measures all chosen workloads. Returns the file of results, and what failed."""
    workloads = chosen(arguments)
    parts = {part for workload in workloads for part in workload.parts}
    corpus.make_corpus(arguments.work, sorted(parts))
    folder = arguments.work / "results"
    folder.mkdir(exist_ok=True)
    name = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S.jsonl")
    file = newest_results(arguments.work) if arguments.continues else folder / name
    done = measured(file) if arguments.continues else set()
    with file.open("a") as results, servers.running(arguments.work):
        benchmark = Benchmark(arguments, results)
        if not arguments.continues:
            facts = environment.facts(arguments.work, command(arguments), arguments.note, arguments.rounds, parts)
            results.write(json.dumps(facts | {"has_peers": not arguments.no_peers}) + "\n")
        for workload in workloads:
            for in_flight in workload.in_flight[-1:] if arguments.quick else workload.in_flight:
                if (workload.name, in_flight) not in done:
                    benchmark.measure(workload, in_flight)
    return file, benchmark.failures


def command(arguments: argparse.Namespace) -> str:
    """Returns the command that a reader would repeat."""
    options = ["--rounds", str(arguments.rounds)] if arguments.rounds != default_rounds(arguments) else []
    options += [word for name in arguments.workload or [] for word in ("--workload", name)]
    options += ["--no-peers"] if arguments.no_peers else []
    target = "make bench-quick" if arguments.quick else "make bench"
    return f"{target} BENCH_OPTIONS='{' '.join(options)}'" if options else target


def write_report(arguments: argparse.Namespace, file: Path) -> None:
    """Writes the pages of the repository if the results are whole; otherwise prints a page of its own."""
    results = read_results(file)
    everything = {(workload.name, number) for workload in WORKLOADS.values() for number in workload.in_flight}
    if measured(file) == everything and results.facts["has_peers"] and not results.failures:
        report.publish(results)
        print("written: docs/benchmarks.md, docs/benchmarks/*.svg and the headline of README.md")
    else:
        page = arguments.work / "report.md"
        report.write_page(results, page)
        print(page.read_text())
        print(f"written: {page} and {arguments.work}/report/*.svg; the records: {file}")


def main() -> int:
    arguments = parse()
    if arguments.report:
        write_report(arguments, newest_results(arguments.work) if arguments.report == NEWEST else arguments.report)
        return 0
    try:
        file, failures = run(arguments)
    except WrongResult as failure:
        print(f"run.py: FAILED: {failure}", file=sys.stderr)
        return 1
    write_report(arguments, file)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Reads the records of a run of the benchmark, and computes its figures."""

from __future__ import annotations

import dataclasses
import json
import statistics
from pathlib import Path
from typing import Any

from clients import BASELINE, CANDIDATE
from workloads import WORKLOADS, Workload


@dataclasses.dataclass(frozen=True)
class Spread:
    """The median of several values, and the quartiles, between which half of them lie."""

    median: float
    lower: float
    upper: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        return cls(*(statistics.quantiles(values, n=4, method="inclusive")[index] for index in (1, 0, 2)))


@dataclasses.dataclass(frozen=True)
class Row:
    """The figures of one program in one workload. Ratios are those to the baseline's run beside it."""

    client: str
    runs: int
    cpu_ratio: Spread
    wall_ratio: Spread
    work_ratio: Spread | None
    """The ratio of the times by the programs' own clocks."""
    cpu_s: float
    wall_s: float
    work_s: float | None
    """Median time by the program's own clock, without its start and end."""
    peak_mb: float
    first_frame_ms: float | None
    difference: float
    """Mean difference to the baseline's pixels, in levels of 255."""


@dataclasses.dataclass(frozen=True)
class Table:
    workload: Workload
    in_flight: int
    amount: dict[str, int]
    """`ok`, `bytes` and `pixels` of the baseline."""
    rows: tuple[Row, ...]
    """Baseline and candidate first."""

    def row(self, client: str) -> Row | None:
        return next((row for row in self.rows if row.client == client), None)


@dataclasses.dataclass(frozen=True)
class Results:
    facts: dict[str, Any]
    """Of the machine, the versions and the command."""
    tables: tuple[Table, ...]
    failures: tuple[str, ...]
    """Programs that were left out because they failed, with the reason."""

    def table(self, workload: str, in_flight: int) -> Table | None:
        return next((table for table in self.tables if (table.workload.name, table.in_flight) == (workload, in_flight)),
                    None)


def median_of(runs: list[dict[str, Any]], name: str) -> float | None:
    values = [run[name] for run in runs if run[name] is not None]
    return statistics.median(values) if values else None


def make_row(client: str, runs: list[dict[str, Any]], beside: list[dict[str, Any]], difference: float) -> Row:
    def ratio(name: str) -> Spread:
        return Spread.of([run[name] / max(other[name], 1e-3) for run, other in zip(runs, beside, strict=True)])

    has_work = all(run["work_s"] is not None for run in [*runs, *beside])
    return Row(client, len(runs), ratio("cpu_s"), ratio("wall_s"), ratio("work_s") if has_work else None,
               median_of(runs, "cpu_s") or 0,
               median_of(runs, "wall_s") or 0, median_of(runs, "work_s"), median_of(runs, "peak_mb") or 0,
               median_of(runs, "first_frame_ms"), difference)


def make_table(workload: Workload, in_flight: int, records: list[dict[str, Any]]) -> Table | None:
    """Makes the table of one workload; None without a pair of runs."""
    pairs: dict[str, list[dict[str, Any]]] = {}
    checks: dict[str, dict[str, Any]] = {}
    for record in records:
        if record["kind"] == "pair":
            pairs.setdefault(record["client"], []).append(record)
        elif record["kind"] == "check":
            checks[record["client"]] = record
    if not pairs or BASELINE not in checks:
        return None
    baseline = [record["baseline"] for records_ in pairs.values() for record in records_]
    rows = [make_row(BASELINE, baseline, baseline, 0)]
    for client in sorted(pairs, key=lambda name: name != CANDIDATE):
        rows.append(make_row(client, [pair["own"] for pair in pairs[client]],
                             [pair["baseline"] for pair in pairs[client]], checks[client].get("difference", 0)))
    amount = {name: checks[BASELINE][name] or 0 for name in ("ok", "bytes", "pixels")}
    return Table(workload, in_flight, amount, tuple(rows))


def read_results(file: Path) -> Results:
    """Reads a file of records, one a line of JSON."""
    records = [json.loads(line) for line in file.read_text().splitlines()]
    tables = []
    for workload in WORKLOADS.values():
        for in_flight in workload.in_flight:
            own = [record for record in records if record.get("workload") == workload.name
                   and record.get("in_flight") == in_flight]
            if table := make_table(workload, in_flight, own):
                tables.append(table)
    facts = next(record for record in records if record["kind"] == "facts")
    return Results(facts, tuple(tables), tuple(record["reason"] for record in records if record["kind"] == "failure"))

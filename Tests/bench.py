#!/usr/bin/env python3
"""Checks that the benchmark accepts equal results and refuses all others: make bench-programs && Tests/bench.py

The programs that it runs are commands that print a result, and fetch nothing.
"""

from __future__ import annotations

import io
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
from clients import BASELINE, Program  # noqa: E402
from measure import Measurement, WrongResult  # noqa: E402
from workloads import Workload  # noqa: E402

RIGHT = {"ok": 2, "failed": 0, "bytes": 10, "pixels": 4, "wall_s": 0.1, "checksum": "0f", "sum": "1f"}
WRONG = ({"ok": 1}, {"failed": 1}, {"bytes": 11}, {"pixels": 5}, {"checksum": "0e"}, {"sum": "1e"})


def program(name: str, command: str) -> Program:
    """Returns a program that runs a command of the shell; the arguments of sdd-bench have no effect on it."""
    return Program(name, ("/bin/sh", "-c", command, "sh"))


def prints(name: str, result: dict[str, object]) -> Program:
    return program(name, f"echo '{json.dumps(result)}'")


def is_refused(measurement: Measurement, other: Program) -> bool:
    try:
        with measurement.checks(prints(BASELINE, RIGHT)) as check:
            check(other)
        measurement.measure([prints(BASELINE, RIGHT), other], 1)
    except WrongResult as reason:
        print(f"    refused: {reason}")
        return True
    return False


def main() -> None:
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        measurement = Measurement(work, Workload("W2", "test", (), (1,), decodes=True), 1, work / "none", io.StringIO())
        if is_refused(measurement, prints("equal", RIGHT)):
            failed.append("an equal result is refused")
        others = [prints(f"other {name}", RIGHT | wrong) for wrong in WRONG for name in wrong]
        others += [program("silent", "true"), program("failing", f"echo '{json.dumps(RIGHT)}'; exit 1")]
        failed += [f"{other.name}: is accepted" for other in others if not is_refused(measurement, other)]
    for line in failed:
        print(f"bench.py: {line}", file=sys.stderr)
    if failed:
        sys.exit(1)
    print(f"ok bench: {len(others)} wrong results are refused")


main()

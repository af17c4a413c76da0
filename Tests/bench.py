#!/usr/bin/env python3
"""Checks that the benchmark accepts equal results and refuses all others, and that the guard against slow changes
refuses larger figures: make bench-programs && Tests/bench.py

The programs that it runs are commands that print a result, and fetch nothing. The guard's figures are invented.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
import callgrind  # noqa: E402
from clients import BASELINE, Program  # noqa: E402
from guard_record import Record, judge  # noqa: E402
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


def record(submit: float = 1000, retains: float = 50, **facts: str) -> Record:
    return Record({"libcurl": "1.0"} | facts, {"a.png": "0f"},
                  {"submit": {"instructions": submit}, "memory hit": {"instructions": 1000, "retains": retains}})


RECORD = record()
# For each measurement: whether the guard accepts it, and a part of the sentence that it prints.
MEASURED = (
    (RECORD, True, "ok guard: 3 figures"),
    (record(submit=1010), True, "ok guard: 3 figures"),
    (record(submit=1030), False, "submit takes 1,030 instructions, the record is 1,000"),
    (record(retains=55), True, "ok guard: 3 figures"),
    (record(retains=57), False, "memory hit takes 57 retains, the record is 50"),
    (record(submit=970), True, "warning: submit takes 970 instructions, the record is 1,000: renew the record"),
    (dataclasses.replace(RECORD, figures={"submit": {"instructions": 1000}}), False,
     "memory hit, instructions, is missing in the measurement"),
    (dataclasses.replace(RECORD, pictures={"a.png": "1f"}), False, "a.png is 1f, the record's is 0f"),
    (record(submit=1030, libcurl="2.0"), True, "NOTHING IS GUARDED: libcurl is 2.0, the record's is 1.0"),
)

# The start of a thread, main(), which calls work(), which calls malloc().
COUNTED = """\
ob=/usr/lib/libc.so.6
fn=start
0 5
cob=/build/program
cfn=main
calls=1 0
0 95
ob=/build/program
fn=main
0 10
cfn=work
calls=2 0
0 85
fn=work
0 25
cob=/usr/lib/libc.so.6
cfn=malloc
calls=1 0
0 60
ob=/usr/lib/libc.so.6
fn=malloc
0 60
"""


def wrong_judgements() -> list[str]:
    wrong = []
    for measured, is_accepted, sentence in MEASURED:
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            passed = judge(RECORD, measured)
        if passed != is_accepted or sentence not in output.getvalue():
            wrong.append(f"the guard {'accepts' if passed else 'refuses'} {measured}: {output.getvalue()}")
    return wrong


def wrong_counts(file: pathlib.Path) -> list[str]:
    file.write_text(COUNTED)
    thread = callgrind.read(file)
    found = (thread.name, thread.total, thread.called["work"], thread.own["program", "work"],
             thread.calls["main", "work"])
    return [] if found == ("main", 100, 85, 25, 2) else [f"the counts of a thread are {found}"]


def main() -> None:
    failed = wrong_judgements()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        measurement = Measurement(work, Workload("W2", "test", (), (1,), decodes=True), 1, work / "none", io.StringIO())
        if is_refused(measurement, prints("equal", RIGHT)):
            failed.append("an equal result is refused")
        others = [prints(f"other {name}", RIGHT | wrong) for wrong in WRONG for name in wrong]
        others += [program("silent", "true"), program("failing", f"echo '{json.dumps(RIGHT)}'; exit 1")]
        failed += wrong_counts(work / "counts")
        failed += [f"{other.name}: is accepted" for other in others if not is_refused(measurement, other)]
    for line in failed:
        print(f"bench.py: {line}", file=sys.stderr)
    if failed:
        sys.exit(1)
    print(f"ok bench: {len(others)} wrong results are refused, and the guard judges {len(MEASURED)} records")


main()

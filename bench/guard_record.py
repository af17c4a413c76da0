"""The records of the guard: what the library's work takes, and the facts that this depends on."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from clients import ROOT

RECORDS = ROOT / "bench" / "guard"
LIMIT = 0.02
# What a figure may be above that: threads that meet at other moments make more turns, each of which counts references.
MORE = {"instructions": 0, "allocations": 0.1, "retains": 5, "wake-ups": 1}

Figures = dict[str, dict[str, float]]
"""By kind of work: instructions, allocations, retains and wake-ups of one."""
Facts = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Record:
    facts: Facts
    """Everything but the library's own code that the figures depend on."""
    pictures: Facts
    """Checksums of the pictures, which the library has encoded itself."""
    figures: Figures

    @classmethod
    def read(cls, file: Path) -> Record:
        return cls(**json.loads(file.read_text()))

    def write(self, file: Path) -> None:
        new = file.with_name(file.name + ".new")
        new.write_text(json.dumps(dataclasses.asdict(self), indent=4) + "\n")
        new.replace(file)


@dataclasses.dataclass
class Verdict:
    lines: list[str] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    is_guarding: bool = True


def differences(old: Facts, new: Facts) -> list[str]:
    return [f"{name} is {new.get(name, 'missing')}, the record's is {old.get(name, 'missing')}"
            for name in sorted({*old, *new}) if old.get(name) != new.get(name)]


def is_above(unit: str, new: float, old: float) -> bool:
    """Whether a figure is above its record."""
    return new > old * (1 + LIMIT) + MORE[unit]


def compare(record: Record, measured: Record) -> Verdict:
    """Judges figures by the record. They fail only if both were made with the same versions of everything else."""
    verdict = Verdict()
    others = differences(record.facts, measured.facts)
    old_ones, new_ones = ({(name, unit): figure for name, units in one.figures.items() for unit, figure in units.items()}
                          for one in (record, measured))
    for key in dict.fromkeys([*new_ones, *old_ones]):
        name, unit = key
        old, new = old_ones.get(key), new_ones.get(key)
        if old is None or new is None:
            verdict.failures.append(f"{name}, {unit}, is missing in the {'record' if old is None else 'measurement'}")
            continue
        change = new / old - 1 if old else 0.0
        verdict.lines.append(f"{name:24} {unit:12} {new:12,} {old:12,} {change:+8.2%}")
        if is_above(unit, new, old):
            verdict.failures.append(f"{name} takes {new:,} {unit}, the record is {old:,}")
        elif is_above(unit, old, new):
            verdict.warnings.append(f"{name} takes {new:,} {unit}, the record is {old:,}: renew the record with "
                                    "`make bench-guard-renew`")
    verdict.failures += [f"the encoder makes another picture than the record's: {line}"
                         for line in differences(record.pictures, measured.pictures)]
    if others:
        verdict.is_guarding = False
        verdict.warnings += verdict.failures + [f"NOTHING IS GUARDED: {line}" for line in others]
        verdict.failures = []
    return verdict


def judge(record: Record, measured: Record) -> bool:
    """Prints the comparison. Returns whether it has passed."""
    verdict = compare(record, measured)
    print(f"{'work':24} {'of one':12} {'now':>12} {'record':>12} {'change':>8}")
    print("\n".join(verdict.lines), flush=True)
    for kind, lines in (("", verdict.failures), ("warning: ", verdict.warnings)):
        for line in lines:
            print(f"guard.py: {kind}{line}", file=sys.stderr)
    if verdict.is_guarding and not verdict.failures:
        print(f"ok guard: {len(verdict.lines)} figures are not above their record")
    return not verdict.failures

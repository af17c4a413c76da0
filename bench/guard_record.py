"""The record of the guard: instructions of the library's work, and the facts that they depend on."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from clients import ROOT

RECORD = ROOT / "bench" / "guard.json"
LIMIT = 0.02

Figures = dict[str, int]
Facts = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Record:
    facts: Facts
    """Everything but the library's own code that the figures depend on."""
    pictures: Facts
    """Checksums of the pictures, which the library has encoded itself."""
    figures: Figures

    @classmethod
    def read(cls) -> Record:
        return cls(**json.loads(RECORD.read_text()))

    def write(self) -> None:
        new = RECORD.with_name(RECORD.name + ".new")
        new.write_text(json.dumps(dataclasses.asdict(self), indent=4) + "\n")
        new.replace(RECORD)


@dataclasses.dataclass
class Verdict:
    lines: list[str] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    is_guarding: bool = True


def differences(old: Facts, new: Facts) -> list[str]:
    return [f"{name} is {new.get(name, 'missing')}, the record's is {old.get(name, 'missing')}"
            for name in sorted({*old, *new}) if old.get(name) != new.get(name)]


def compare(record: Record, measured: Record) -> Verdict:
    """Judges figures by the record. They fail only if both were made with the same versions of everything else."""
    verdict = Verdict()
    others = differences(record.facts, measured.facts)
    for name in sorted({*record.figures, *measured.figures}, key=[*measured.figures, *record.figures].index):
        old, new = record.figures.get(name), measured.figures.get(name)
        if old is None or new is None:
            verdict.failures.append(f"{name} is missing in the {'record' if old is None else 'measurement'}")
            continue
        change = new / old - 1
        verdict.lines.append(f"{name:24} {new:12,} {old:12,} {change:+8.2%}")
        if change > LIMIT:
            verdict.failures.append(f"{name} takes {new:,} instructions, {change:.2%} more than the record of {old:,}; "
                                    f"the limit is {LIMIT:.0%}")
        elif change < -LIMIT:
            verdict.warnings.append(f"{name} takes {new:,} instructions, {-change:.2%} less than the record of "
                                    f"{old:,}: renew the record with `make bench-guard-renew`")
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
    print(f"{'instructions':24} {'now':>12} {'record':>12} {'change':>8}")
    print("\n".join(verdict.lines), flush=True)
    for kind, lines in (("", verdict.failures), ("warning: ", verdict.warnings)):
        for line in lines:
            print(f"guard.py: {kind}{line}", file=sys.stderr)
    if verdict.is_guarding and not verdict.failures:
        print(f"ok guard: {len(measured.figures)} figures are at most {LIMIT:.0%} above their record")
    return not verdict.failures

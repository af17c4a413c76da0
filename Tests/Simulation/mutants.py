#!/usr/bin/env python3
"""Shows that the simulation finds faults: puts faults into copies of the sources, one at a time, and plays seeds.

    mutants.py [--seconds N] [--only TEXT]

Each line of the library that wakes a thread is a fault when the waking is left out; FAULTS has others. It works in the
folder that it is started in, which it changes and puts back: start it in a clone of its own. The library is built with
the tests' settings. Prints a line for each fault: how many seeds and seconds it took, and what was found.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("Sources/SDDBase/Threads", "Sources/SDDCaches", "Sources/SDDEngine", "Sources/SDDTransport")
WAKING = re.compile(r"[\w.?\[\]]*\.(?:signal|broadcast|ring)\(\)|(?:[\w.?\[\]]*\.)?\bwake\([^()]*\)")


class Mutant(NamedTuple):
    name: str
    file: Path
    old: str
    new: str


# Files below Sources, what is there, and what stands in its place: faults that the library has had, and the like.
FAULTS: tuple[tuple[str, str, str, str], ...] = (
    ("one transfer too many at a time", "SDDEngine/Scheduling/TransferSlots.swift",
     "running < maxConcurrent, case .no", "running <= maxConcurrent, case .no"),
    ("a slot that is never freed when a transfer ends in the background", "SDDEngine/Scheduling/TransferSlots.swift",
     "        running -= 1\n", "        if case .no = background { running -= 1 }\n"),
    ("a suspended downloader that stays so", "SDDEngine/Scheduling/TransferSlots.swift",
     "self.isSuspended = isSuspended }", "if isSuspended { self.isSuspended = true } }"),
    ("room for pictures that is not given back", "SDDEngine/Decoding/RoomLedger.swift",
     "account.held = max(0, account.held - bytes)", "account.held = max(0, account.held - bytes / 2)"),
    ("a picture that waits for room, and is told to nobody", "SDDEngine/Scheduling/DownloadTable+Room.swift",
     "        updateHold()\n        // Memory may have become free meanwhile, before anything asked for it.\n        outbox.addWork()\n",
     "        updateHold()\n"),
    ("room that is taken for one job of two", "SDDEngine/Scheduling/DownloadTable+Room.swift",
     "            if decoding.lacksRoom { outbox.addWork() }\n", ""),
    ("a retry that forgets that it was paused", "SDDEngine/Scheduling/DownloadTable+Retrying.swift",
     "(job.body, job.judged, job.isPaused) = (nil, nil, false)", "(job.body, job.judged) = (nil, nil)"),
    ("a retry that keeps the first answer", "SDDEngine/Scheduling/DownloadTable+Retrying.swift",
     "(job.started, job.head, job.responded, job.end, job.finished) = (0, nil, 0, nil, 0)",
     "(job.started, job.responded, job.finished) = (0, 0, 0)"),
    ("a retry that no clock ends", "SDDEngine/Scheduling/DownloadTable+Retrying.swift",
     "        retries.insert(job.id.number, for: duration, from: now)\n", "        if job.attempts < 3 { retries.insert(job.id.number, for: duration, from: now) }\n"),
    ("a change of a stopped cache that is told to nobody", "SDDCaches/Work/DiskCache+Changing.swift",
     "        // A stopped cache stores nothing, and that is not an error.\n        if isTaken { queue.signal() } else { then?(nil) }",
     "        if isTaken { queue.signal() }"),
    ("a dropped change that is told to nobody", "SDDCaches/Work/DiskCache+Changing.swift",
     "        changes.tell()\n", ""),
    ("a flush that waits for one change too many", "SDDCaches/Work/DiskCache+Changing.swift",
     "{ $0.done >= last ? true : nil }", "{ $0.done > last ? true : nil }"),
)


def silent_ones() -> list[Mutant]:
    made = []
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.swift")):
            lines = file.read_text().splitlines(keepends=True)
            for number, line in enumerate(lines):
                found = WAKING.search(line)
                if not found or "func " in line or line.lstrip().startswith("//"):
                    continue
                put = "" if f"return {found[0]}" in line else "_ = 0"
                text = "".join(lines)
                changed = "".join([*lines[:number], line.replace(found[0], put, 1), *lines[number + 1:]])
                made.append(Mutant(f"{file.relative_to(ROOT / 'Sources')}:{number + 1}: {line.strip()}", file, text, changed))
    return made


def given_ones() -> list[Mutant]:
    made = []
    for name, path, old, new in FAULTS:
        file = ROOT / "Sources" / path
        text = file.read_text()
        if text.count(old) != 1:
            sys.exit(f"mutants.py: {path} has {text.count(old)} times: {old}")
        made.append(Mutant(name, file, text, text.replace(old, new)))
    return made


def play(seconds: int) -> str:
    """Plays seeds until a finding. Returns what was found and after how long."""
    libraries = ROOT / "build" / "simulation" / "mutant"
    libraries.mkdir(parents=True, exist_ok=True)
    link = libraries / "libsdd.so.0"
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT / ".build" / "debug" / "libsdd.so")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    start = time.monotonic()
    command = [str(ROOT / "build" / "simulation" / "simulate"), "--seconds", str(seconds), "--seeds", "1000000"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    took = time.monotonic() - start
    found = re.search(r"^seed (\d+): (.*)$", done.stdout, re.M)
    if found:
        return f"seed {found[1]}: {found[2]}"
    if first := re.search(r"^simulate: the first story: (.*)$", done.stderr, re.M):
        return f"the first story: {first[1]}"
    told = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return f"NOT FOUND in {took:.0f} s: {told[-1] if told else done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    missed = tried = 0
    for mutant in [*given_ones(), *silent_ones()]:
        if given.only not in mutant.name:
            continue
        mutant.file.write_text(mutant.new)
        try:
            built = subprocess.run(["swift", "build", "--product", "sdd"], cwd=ROOT, capture_output=True, text=True)
            result = play(given.seconds) if built.returncode == 0 else "does not build"
        finally:
            mutant.file.write_text(mutant.old)
        tried += built.returncode == 0
        missed += result.startswith("NOT FOUND")
        print(f"{mutant.name}\n    {result}", flush=True)
    print(f"{tried - missed} of {tried} found")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Shows that the simulation finds faults: puts them into the library, one at a time, and plays seeds until a finding.

    mutants.py [--seconds N] [--only PATTERN] [--table FILE]

Each line of the library that wakes a thread is a fault when the waking is left out; faults.py has others. A copy of the
sources has all of them at once, and the variable SDD_MUTANT says which one is there: so the library is built once.
Prints, for each fault, the seed, how many seeds and seconds it took, and what was found; --table writes that as a table
into a document, between the lines that begin with <!-- mutants.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from faults import EQUAL, FAULTS

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "simulation" / "mutants"
FOLDERS = ("SDDBase/Threads", "SDDCaches", "SDDEngine", "SDDTransport")
WAKING = re.compile(r"[\w.?\[\]]*\.(?:signal|broadcast|ring)\(\)|(?:[\w.?\[\]]*\.)?\bwake\([^()]*\)")
SWITCH = """internal import Glibc

/// The fault that this build has now; none by default.
package enum Mutant {
    package static let number = getenv("SDD_MUTANT").map { Int(atoi($0)) } ?? -1
}
"""


class Result(NamedTuple):
    name: str
    seed: str = ""
    seeds: str = ""
    seconds: float = 0
    sentence: str = ""


class Copy:
    """The texts of the sources with all faults. In them \\x01 and \\x02 enclose the number of a waking until the end."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.names: list[str] = []
        self.wakings: list[tuple[str, str]] = []  # what is called, and where
        for folder in FOLDERS:
            for file in sorted((ROOT / "Sources" / folder).rglob("*.swift")):
                self.mark_wakings(str(file.relative_to(ROOT / "Sources")), file.read_text())
        for path, text in EQUAL:
            self.replace(path, text, lambda _: text)
        for name, path, old, new in FAULTS:
            self.replace(path, old, lambda found, name=name, old=old, new=new: self.with_fault(name, found, old, new))
        for path, text in self.texts.items():
            self.texts[path] = re.sub(r"(return )?\x01(\d+)\x02", self.with_silence, text)

    def mark_wakings(self, path: str, text: str) -> None:
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines):
            found = WAKING.search(line)
            if found and "func " not in line and not line.lstrip().startswith("//"):
                lines[number] = line.replace(found[0], f"\x01{len(self.wakings)}\x02", 1)
                self.wakings.append((found[0], f"{Path(path).name}:{number + 1}: {line.strip()}"))
        self.texts[path] = "".join(lines)

    def replace(self, path: str, old: str, new: Callable[[str], str]) -> None:
        """Puts another text into the place of one, in which wakings may be marked."""
        parts = "".join(r"\x01\d+\x02" if i % 2 else re.escape(part) for i, part in enumerate(re.split(f"({WAKING.pattern})", old)))
        text, count = re.subn(parts, lambda found: new(found[0]), self.texts[path])
        if count != 1:
            sys.exit(f"mutants.py: {path} has {count} times: {old}")
        self.texts[path] = text

    def with_fault(self, name: str, found: str, old: str, new: str) -> str:
        if name not in self.names:
            self.names.append(name)
        has_it = f"Mutant.number == {len(self.names)}"
        if "MUTANT" in new:
            return new.replace("MUTANT", f"({has_it})")
        if old.endswith("\n"):
            return f"if {has_it} {{\n{new}}} else {{\n{found}}}\n"
        return f"({has_it} ? ({new}) : ({found}))"

    def with_silence(self, found: re.Match[str]) -> str:
        call, name = self.wakings[int(found[2])]
        self.names.append(name)
        has_it = f"Mutant.number == {len(self.names)}"
        return f"if {has_it} {{ return }}; return {call}" if found[1] else f"if {has_it} {{}} else {{ {call} }}"

    def write(self) -> None:
        for kept in ("include", "Tests", "Package.swift"):
            link = COPY / kept
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(ROOT / kept)
        files = {str(f.relative_to(ROOT / "Sources")) for f in (ROOT / "Sources").rglob("*") if f.is_file()}
        for path in files:
            text = self.texts.get(path)
            if text is None:
                data = (ROOT / "Sources" / path).read_bytes()
            else:
                if "import SDDBase" not in text and not path.startswith("SDDBase"):
                    text = f"import SDDBase\n{text}"
                data = text.encode()
            put(COPY / "Sources" / path, data)
        put(COPY / "Sources" / "SDDBase" / "Threads" / "Mutant.swift", SWITCH.encode())


def put(file: Path, data: bytes) -> None:
    """Writes a file unless it is the same: what is not changed is not built again."""
    if not file.exists() or file.read_bytes() != data:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def build() -> Path:
    """Returns the folder of the library."""
    command = ["swift", "build", "-c", "release", "--product", "sdd", "--disable-local-rpath"]
    done = subprocess.run(["nice", *command], cwd=COPY, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"mutants.py: the library does not build:\n{done.stdout}{done.stderr}")
    folder = COPY / "library"
    folder.mkdir(exist_ok=True)
    link = folder / "libsdd.so.0"
    link.unlink(missing_ok=True)
    link.symlink_to(COPY / ".build" / "release" / "libsdd.so")
    return folder


def play(number: int, name: str, folder: Path, seconds: int) -> Result:
    """Plays seeds until a finding."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "SDD_MUTANT": str(number)}
    start = time.monotonic()
    command = [str(ROOT / "build" / "simulation" / "simulate"), "--seconds", str(seconds), "--seeds", "1000000", "--as-it-is"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    took = time.monotonic() - start
    if found := re.search(r"^seed (\d+): (.*) \(after (\d+) seeds, ([\d.]+) s\)$", done.stdout, re.M):
        return Result(name, found[1], str(int(found[3]) + 1), float(found[4]), found[2])
    if first := re.search(r"^simulate: the first story: (.*)$", done.stderr, re.M):
        return Result(name, "1", "1", took, first[1])
    told = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return Result(name, seeds=(told[-1] if told else str(done.returncode)).split(",")[0], seconds=took)


def table_of(results: list[Result]) -> str:
    rows = ["| fault | seed | seeds | s | what was found |", "| --- | ---: | ---: | ---: | --- |"]
    for one in results:
        name = f"`{one.name}`" if ".swift:" in one.name else one.name
        found = one.sentence.replace("|", "\\|") or "nothing"
        rows.append(f"| {name} | {one.seed} | {one.seeds} | {one.seconds:.1f} | {found} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--table", type=Path)
    given = parser.parse_args()
    copy = Copy()
    copy.write()
    folder = build()
    # What tests it is built as it is for the library itself.
    subprocess.run([str(ROOT / "Tests/Simulation/run.sh"), "--seeds", "0"], check=True, capture_output=True)
    results = []
    for number, name in enumerate(copy.names, 1):
        if not re.search(given.only, f"{number} {name}"):
            continue
        one = play(number, name, folder, given.seconds)
        results.append(one)
        said = f"seed {one.seed}, after {one.seeds} seeds, {one.seconds:.1f} s: {one.sentence}" if one.seed else "NOT FOUND"
        print(f"{number} {name}\n    {said}", flush=True)
    found = sum(bool(one.seed) for one in results)
    print(f"{found} of {len(results)} found")
    if given.table:
        text = given.table.read_text()
        table = f"{found} of {len(results)} are found.\n\n{table_of(results)}\n"
        given.table.write_text(re.sub(r"(<!-- mutants[^\n]*\n).*?(<!-- mutants)", lambda m: m[1] + table + m[2], text, flags=re.S))
    return 0


if __name__ == "__main__":
    sys.exit(main())

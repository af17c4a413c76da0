#!/usr/bin/env python3
"""Holds docs/requirements.md, docs/threat-model.md and the tests together. Fails if

- a test's name or comment has the id of a row that is not there,
- a file or function in the last column does not exist,
- a required row or a threat has no test, or an id comes twice.

    Tests/house/requirements.py
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from sources import ROOT  # noqa: E402

PAGE = ROOT / "docs" / "requirements.md"
THREATS = ROOT / "docs" / "threat-model.md"
SUFFIXES = {".c", ".h", ".cc", ".swift", ".sh", ".py"}

ID = r"[A-Z]\d{1,2}"
LIST = rf"{ID}(?:(?:, | and | to |-| ){ID})*"
NAMES = re.compile(r"\b(?:CASE\(|void\s+|func\s+)((?:[a-z]\d{1,2}_)+)[a-zA-Z]")  # CASE(x7_x8_the_last), h8_scope()
TITLES = re.compile(rf'@Test\(\s*"({LIST})\b[^":]*:')  # @Test("D7 G1: six at a time")
ROWS = re.compile(rf"\b[Rr]ows?\s+(?:\*\s+)?({LIST})\b")  # "rows D10 and D13" in a comment
BEGINNINGS = re.compile(rf"(?:///?|/\*+|^\s*\*|^\s*#)\s*({LIST}):", re.MULTILINE)  # /* D13: one at a time
FUNCTIONS = re.compile(r"\b(?:CASE\(|(?:func|void|def)\s+)(\w+)(?:\s*\(|\)(?=\s))")


def faults_of(named, texts, functions):
    """Returns what is wrong with the names of tests: functions, or files of Tests."""
    for name in named:
        if "." not in name:
            if name not in functions:
                yield f"no test has a function {name}"
            continue
        found = [path for path in texts if path.endswith("/" + name)]
        if len(found) > 1:
            yield f"{name} is {' or '.join(found)}"
        elif not found and not (ROOT / name).is_file():
            yield f"there is no {name} in Tests"


def main():
    texts = {}
    for path in sorted((ROOT / "Tests").rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and path != pathlib.Path(__file__).resolve():
            texts[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    functions = {name for text in texts.values() for name in FUNCTIONS.findall(text)}
    wrong = []

    rows = {}
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if not re.match(rf"\| {ID} \|", line):
            continue
        place = f"{PAGE.relative_to(ROOT)}:{number}"
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3:
            wrong.append(f"{place}: {len(cells)} columns, not 3")
            continue
        row, required, tests = cells
        if row in rows:
            wrong.append(f"{place}: {row} was there before")
        rows[row] = place
        named = re.findall(r"`([^`]+)`", tests)
        if not named and not required.startswith("Not required"):
            wrong.append(f"{place}: {row} has no test")
        wrong += [f"{place}: {fault}" for fault in faults_of(named, texts, functions)]
    for number, line in enumerate(THREATS.read_text(encoding="utf-8").splitlines(), 1):
        cells = line.strip().strip("|").split("|")
        if not line.startswith("| ") or cells[0].strip() in ("Threat", "---"):
            continue
        place = f"{THREATS.relative_to(ROOT)}:{number}"
        named = re.findall(r"`([^`]+)`", cells[-1])
        if len(cells) != 3 or not named:
            wrong.append(f"{place}: a threat, what stops it, and tests are needed")
        wrong += [f"{place}: {fault}" for fault in faults_of(named, texts, functions)]

    for path, text in texts.items():
        for pattern in (NAMES, TITLES, ROWS, BEGINNINGS):
            for match in pattern.finditer(text):
                for row in re.findall(r"[A-Za-z]\d{1,2}", match[1]):
                    if row.upper() not in rows:
                        number = text.count("\n", 0, match.start(1)) + 1
                        wrong.append(f"{path}:{number}: {PAGE.name} has no row {row.upper()}")

    for line in wrong:
        print(line, file=sys.stderr)
    if not rows:
        sys.exit(f"{PAGE.name} has no rows")
    if wrong:
        sys.exit(1)
    print(f"ok requirements: {len(rows)} rows")


main()

#!/usr/bin/env python3
"""Checks that the sentences of failures speak of things, not of names of C: people who use the tool, Python or Rust read
them, too. Fails if a string of the library has an SDD_ constant, a call, or the name of a limit's field. Sentences about a
field of a struct that a caller has filled in wrongly name it: they begin with "sdd_STRUCT.FIELD:".

    Tests/house/sentences.py
"""
import re
import sys

sys.dont_write_bytecode = True
from sources import ROOT  # noqa: E402

FOLDERS = ("SDDEngine", "SDDTransport", "SDDCoders", "SDDCaches")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAME = re.compile(r"\bSDD_[A-Z]\w+|\bsdd_\w+\(\)|\b(?:max|min|queue|total|decode|connect|allow|no|accepted)_[a-z_]+\b")
# Strings that are no sentences about a failure, or that only programmers in C see.
NOT_CHECKED = {
    "SDDEngine/Requests/RequestOptions.swift": "names of options, for refused bits",
    "SDDEngine/Downloading/Downloader+Log.swift": "a warning to the programmer",
    "SDDEngine/Delivery/StandardErrorLog.swift": "a variable of the environment",
}
FIELD = re.compile(r"^(?:sdd_\w+\.|\\\(field)")


def main():
    wrong, checked, unused = [], 0, set(NOT_CHECKED)
    for folder in FOLDERS:
        for path in sorted((ROOT / "Sources" / folder).rglob("*.swift")):
            name = str(path.relative_to(ROOT / "Sources"))
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if line.lstrip().startswith("//"):
                    continue
                for text in STRING.findall(line):
                    checked += 1
                    found = NAME.search(text)
                    if not found or " " not in text and found[0] != text or FIELD.match(text):
                        continue
                    if name in NOT_CHECKED:
                        unused.discard(name)
                    elif " " in text:
                        wrong.append(f"{name}:{number}: {found[0]}: {text}")
    wrong += [f"{name} needs no exception" for name in sorted(unused)]
    for line in wrong:
        print(f"sentences.py: {line}")
    if wrong:
        sys.exit(1)
    print(f"ok sentences: {checked} strings")


main()

#!/usr/bin/env python3
"""Prints the lengths of files and functions in Sources and include: median, 90th and 99th percentile, longest.

    Tests/house/lengths.py
"""
import sys

sys.dont_write_bytecode = True
from sources import ROOT, functions  # noqa: E402


def row(name, lengths):
    ordered = sorted(lengths)
    values = [ordered[min(len(ordered) - 1, len(ordered) * part // 100)] for part in (50, 90, 99, 100)]
    print(f"{name}: " + " / ".join(str(value) for value in values) + " lines")


def main():
    for folder, suffixes in (("Sources", (".swift",)), ("Sources", (".c",)), ("include", (".h",))):
        files, bodies = [], []
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in suffixes:
                continue
            text = path.read_text(encoding="utf-8")
            files.append(text.count("\n"))
            bodies += [text.count("\n", start, end) + 1 for _, start, end in functions(path, text)]
        row(f"{folder} *{suffixes[0]}, files", files)
        if bodies:
            row(f"{folder} *{suffixes[0]}, functions", bodies)


main()
